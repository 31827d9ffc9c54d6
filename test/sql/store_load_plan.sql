-- strata.direct_load: when rows become batches, when not, and what EXPLAIN says.
SET timezone = 'UTC';
CREATE TABLE d (t int, host text, v int) USING strata WITH (strata.segmentby = 'host', strata.orderby = 't', strata.direct_load);
CREATE FUNCTION volatile_one() RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN 1; END';
CREATE FUNCTION halves(r regclass, OUT batches bigint, OUT batch_rows numeric, OUT others bigint) LANGUAGE plpgsql AS $$
BEGIN
	SELECT count(*), coalesce(sum(nrows), 0) INTO batches, batch_rows FROM strata.batches(r);
	EXECUTE format('SELECT count(*) - %s FROM %s', batch_rows, r) INTO others;
END $$;
EXPLAIN (COSTS OFF) INSERT INTO d SELECT i, 'a', i FROM generate_series(1, 10) AS i;
EXPLAIN (COSTS OFF) INSERT INTO d VALUES (1, 'a', 1);
EXPLAIN (COSTS OFF) INSERT INTO d SELECT i, 'a', i FROM generate_series(1, 10) AS i RETURNING t;
EXPLAIN (COSTS OFF) INSERT INTO d SELECT i, 'a', volatile_one() FROM generate_series(1, 10) AS i;
EXPLAIN (COSTS OFF) INSERT INTO d SELECT i, 'a', i FROM generate_series(1, 10) AS i ON CONFLICT DO NOTHING;
CREATE UNIQUE INDEX u ON d (t, host);
EXPLAIN (COSTS OFF) INSERT INTO d SELECT i, 'a', i FROM generate_series(1, 10) AS i;
DROP INDEX u;
SET strata.enable_direct_load = off;
EXPLAIN (COSTS OFF) INSERT INTO d SELECT i, 'a', i FROM generate_series(1, 10) AS i;
RESET strata.enable_direct_load;
BEGIN ISOLATION LEVEL SERIALIZABLE;
EXPLAIN (COSTS OFF) INSERT INTO d SELECT i, 'a', i FROM generate_series(1, 10) AS i;
ROLLBACK;
CREATE FUNCTION explain_analyze(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		-- 18 counts rows in hundredths
		RETURN NEXT regexp_replace(line, 'rows=(\d+)\.00', 'rows=\1');
	END LOOP;
END $$;
SELECT explain_analyze($$INSERT INTO d SELECT i, 'a', i FROM generate_series(1, 10000) AS i$$);
SELECT * FROM halves('d');
-- few rows do not become batches, nor do segments that are left with few
INSERT INTO d SELECT i, 'a', i FROM generate_series(1, 999) AS i;
INSERT INTO d SELECT i, 'host ' || i % 20, i FROM generate_series(1, 1600) AS i;
SELECT * FROM halves('d');
-- more of them do; what is short of a batch is a batch
INSERT INTO d SELECT i, 'host ' || i % 20, i FROM generate_series(1, 30000) AS i;
SELECT * FROM halves('d');
COPY d FROM PROGRAM 'seq 1 50000 | awk ''{print $1 "\tb" $1 % 10 "\t" $1}''';
SELECT * FROM halves('d');
-- the rest of a segment that has got a batch is one, however small; also where it has late rows, or all is sorted
TRUNCATE d;
INSERT INTO d SELECT i, 'host ' || i % 8, i FROM generate_series(1, 8 * 4004) AS i;
SELECT * FROM halves('d');
SELECT nrows, count(*) FROM strata.batches('d') GROUP BY nrows ORDER BY nrows;
TRUNCATE d;
INSERT INTO d SELECT CASE WHEN i > 32000 THEN i - 20000 ELSE i END, 'host ' || i % 8, i FROM generate_series(1, 32032) AS i;
INSERT INTO d SELECT i, 'new ' || i % 8, i FROM generate_series(1, 400) AS i UNION ALL SELECT i, 'host 1', i FROM generate_series(20000, 1, -1) AS i;
SELECT * FROM halves('d');
SET maintenance_work_mem = '1MB';
INSERT INTO d SELECT i, 'host ' || i % 3, i FROM generate_series(1, 6000) AS i UNION ALL SELECT i, 'later ' || i % 1000, i FROM generate_series(1, 50000) AS i UNION ALL SELECT i, 'host ' || i % 3, i FROM generate_series(6001, 6030) AS i;
RESET maintenance_work_mem;
SELECT * FROM halves('d');
SELECT host, count(*) FROM ONLY d WHERE host LIKE 'host%' GROUP BY host ORDER BY host;
TRUNCATE d;
COPY d FROM PROGRAM 'seq 1 50000 | awk ''{print $1 "\tb" $1 % 10 "\t" $1}''';
-- batches are those that compression makes
CREATE TABLE c (LIKE d) USING strata WITH (strata.segmentby = 'host', strata.orderby = 't');
INSERT INTO c SELECT * FROM d WHERE host LIKE 'b%';
SELECT compress_chunk('c');
SELECT count(*) FROM ((SELECT nrows, segment, min_orderby, max_orderby FROM strata.batches('d') WHERE segment[1] LIKE 'b%')
	EXCEPT ALL SELECT nrows, segment, min_orderby, max_orderby FROM strata.batches('c')) AS x;
-- little memory: what does not fit is sorted on disk
TRUNCATE d;
SET maintenance_work_mem = '1MB';
INSERT INTO d SELECT i, 'host ' || i % 500, i FROM generate_series(1, 100000) AS i;
RESET maintenance_work_mem;
SELECT * FROM halves('d');
SELECT count(*), sum(t), sum(v), count(DISTINCT host) FROM d;
-- triggers, foreign keys
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER a AFTER INSERT ON d FOR EACH ROW EXECUTE FUNCTION nothing();
EXPLAIN (COSTS OFF) INSERT INTO d SELECT i, 'a', i FROM generate_series(1, 10) AS i;
DROP TABLE c, d;
-- a hypertable; PostgreSQL's own partitions are as good
CREATE TABLE d (t int NOT NULL, host text, v int);
SELECT created FROM create_hypertable('d', 't', chunk_time_interval => 10000);
ALTER TABLE d SET (strata.segmentby = 'host', strata.orderby = 't', strata.direct_load);
EXPLAIN (COSTS OFF) INSERT INTO d SELECT i, 'a', i FROM generate_series(1, 10) AS i;
INSERT INTO d SELECT i, 'host ' || i % 3, i FROM generate_series(0, 29999) AS i;
COPY d FROM PROGRAM 'seq 0 29999 | awk ''{print $1 "\tb\t" $1}''';
SELECT (halves(c)).* FROM show_chunks('d') AS c;
DROP TABLE d;
DROP FUNCTION nothing, volatile_one, halves;
