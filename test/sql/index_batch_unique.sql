-- Unique keys without the segment find their batches by the batch index: as heap, with it and without.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 50;
SET strata.index_pages = 0;
CREATE TABLE h (ts timestamptz NOT NULL, dev int, trace uuid, num bigint, f float8, tag text, v int);
CREATE FUNCTION made(a int, b int, v int) RETURNS SETOF h LANGUAGE sql AS $$
	SELECT '2026-01-01'::timestamptz + i * interval '20 s', i % 25, md5(i::text)::uuid, (i::bigint * 7919) % 1000003, CASE i WHEN 7 THEN 'NaN' WHEN 8 THEN '-0' WHEN 9 THEN 'infinity' ELSE i / 7.0 END, CASE WHEN i % 13 > 0 THEN 'Tag' || i END, v
	FROM generate_series(a, b) AS i $$;
-- rows of one table that the other has not, and problems of batches
CREATE FUNCTION differing(t regclass) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM ((SELECT * FROM %1$s EXCEPT ALL SELECT * FROM h) UNION ALL (SELECT * FROM h EXCEPT ALL SELECT * FROM %1$s)) AS d', t) INTO n;
	RETURN n + (SELECT count(*) FROM strata.verify(t));
END $$;
-- the same on both; an error is told by its state
CREATE FUNCTION on_both(t regclass, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text[] := '{}';
	n bigint;
	target text;
BEGIN
	FOREACH target IN ARRAY ARRAY[t::text, 'h'] LOOP
		BEGIN
			EXECUTE format(statement, target);
			GET DIAGNOSTICS n = ROW_COUNT;
			said := said || n::text;
		EXCEPTION WHEN OTHERS THEN
			said := said || SQLSTATE;
		END;
	END LOOP;
	RETURN CASE WHEN said[1] = said[2] THEN said[1] ELSE said::text END;
END $$;
CREATE FUNCTION look_ups() RETURNS boolean LANGUAGE sql AS $$
	SELECT sum(pg_stat_get_xact_numscans(i.indexrelid)) > 0 FROM pg_class AS c JOIN pg_index AS i ON i.indrelid = c.oid WHERE c.relname LIKE 'batch\_index\_%' $$;

-- chunks: a key of the time and another column
CREATE TABLE t (LIKE h) PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE UNIQUE INDEX t_key ON t (trace, ts);
CREATE UNIQUE INDEX h_key ON h (trace, ts);
INSERT INTO t SELECT * FROM made(1, 4000, 0);
INSERT INTO h SELECT * FROM made(1, 4000, 0);
SELECT count(compress_chunk(c)) > 1 AS some FROM show_chunks('t') AS c;
-- one row in twenty comes late
SELECT on_both('t', 'INSERT INTO %s SELECT ts - interval ''19 s'', dev, trace, num, f, tag, 1 FROM made(4001, 4200, 0)');
-- by the index, unless that is switched off
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(1230, 1230, 1)');
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(1234, 1234, 1)');
SELECT look_ups() = current_setting('strata.enable_batch_index')::boolean AS as_expected;
COMMIT;
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(1234, 1234, 1) ON CONFLICT DO NOTHING');
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(1200, 1260, 2) ON CONFLICT (trace, ts) DO UPDATE SET v = EXCLUDED.v');
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(3990, 4300, 3) ON CONFLICT (trace, ts) DO UPDATE SET v = EXCLUDED.v');
SELECT on_both('t', 'DELETE FROM %s WHERE trace = md5(''77'')::uuid');
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(77, 77, 4)');
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(77, 77, 5)');
SELECT on_both('t', 'UPDATE %s SET trace = md5(''80'')::uuid, ts = ''2026-01-01''::timestamptz + 80 * interval ''20 s'' WHERE trace = md5(''79'')::uuid');
SELECT on_both('t', 'UPDATE %s SET dev = 3 WHERE trace = md5(''79'')::uuid');
SELECT on_both('t', 'INSERT INTO %s SELECT ts, dev, NULL, num, f, tag, 6 FROM made(500, 510, 0)');
SELECT differing('t');
-- batches that are new, and gone
SELECT count(compress_chunk(c)) > 1 AS some FROM show_chunks('t') AS c;
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(4100, 4310, 7) ON CONFLICT (trace, ts) DO UPDATE SET v = EXCLUDED.v');
SELECT on_both('t', 'DELETE FROM %s WHERE ts < ''2026-01-01 06:00''');
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(1, 700, 8)');
SELECT count(compress_chunk(c, recompress => true)) > 1 AS some FROM show_chunks('t') AS c;
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(1, 4310, 9) ON CONFLICT DO NOTHING');
SELECT differing('t');
REINDEX INDEX t_key;
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(301, 400, 10) ON CONFLICT (trace, ts) DO UPDATE SET v = EXCLUDED.v');
BEGIN;
DELETE FROM t;
SELECT count(compress_chunk(c, recompress => true)) > 1 AS some FROM show_chunks('t') AS c;
INSERT INTO t SELECT * FROM made(1, 100, 11);
ROLLBACK;
SELECT on_both('t', 'INSERT INTO %s SELECT * FROM made(90, 90, 12)');
SELECT differing('t');
DROP TABLE t;

-- a table that is not partitioned: keys of one column, in no order
TRUNCATE h;
DROP INDEX h_key;
CREATE TABLE p (LIKE h) USING strata WITH (strata.segmentby = 'dev', strata.orderby = 'ts');
SELECT on_both('p', 'CREATE UNIQUE INDEX ON %s (num)');
SELECT on_both('p', 'CREATE UNIQUE INDEX ON %s (f)');
SELECT on_both('p', 'CREATE UNIQUE INDEX ON %s (tag) NULLS NOT DISTINCT WHERE v < 100');
SELECT on_both('p', 'CREATE UNIQUE INDEX ON %s (trace, lower(tag))');
INSERT INTO h SELECT * FROM made(1, 3000, 0) WHERE tag IS NOT NULL;
INSERT INTO p SELECT * FROM h;
SELECT compress_chunk('p');
SELECT on_both('p', 'INSERT INTO %s SELECT * FROM made(1230, 1230, 1)');
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT on_both('p', 'INSERT INTO %s SELECT * FROM made(1234, 1234, 1)');
SELECT look_ups() = current_setting('strata.enable_batch_index')::boolean AS as_expected;
COMMIT;
SELECT on_both('p', 'INSERT INTO %s VALUES (''2026-01-01'', 3, NULL, 1000001, 0, ''zero'', 1)');
SELECT on_both('p', 'INSERT INTO %s VALUES (''2026-01-01'', 3, NULL, 1000001, ''NaN'', ''nan'', 1)');
SELECT on_both('p', 'INSERT INTO %s VALUES (''2026-01-01'', 3, NULL, 1000001, ''infinity'', ''inf'', 1)');
SELECT on_both('p', 'INSERT INTO %s VALUES (''2026-01-01'', 3, NULL, 1000001, 3::float4, ''three'', 1)');
SELECT on_both('p', 'INSERT INTO %s VALUES (''2026-01-01'', 3, NULL, NULL, NULL, ''Tag5'', 1)');
SELECT on_both('p', 'INSERT INTO %s VALUES (''2026-01-01'', 3, NULL, NULL, NULL, ''Tag5'', 100)');
SELECT on_both('p', 'INSERT INTO %s VALUES (''2026-01-01'', 3, NULL, NULL, NULL, NULL, 1)');
SELECT on_both('p', 'INSERT INTO %s VALUES (''2026-01-01'', 3, NULL, NULL, NULL, NULL, 2)');
SELECT on_both('p', 'INSERT INTO %s VALUES (''2026-01-01'', 3, md5(''5'')::uuid, NULL, NULL, ''tAG5'', 1)');
SELECT on_both('p', 'INSERT INTO %s SELECT ts, dev, trace, num, f, tag, v + 10 FROM made(900, 950, 0) WHERE tag IS NOT NULL ON CONFLICT (num) DO UPDATE SET v = EXCLUDED.v');
SELECT on_both('p', 'UPDATE %s SET num = num + 7919 WHERE num = 7919');
SELECT on_both('p', 'UPDATE %s SET num = num + 2000000 WHERE num < 8000');
SELECT on_both('p', 'INSERT INTO %s SELECT * FROM made(1, 3, 13)');
SELECT differing('p');
-- what nobody else may see yet
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) > 0 AS some FROM p;
SELECT on_both('p', 'INSERT INTO %s SELECT * FROM made(2000, 2000, 1)');
COMMIT;
-- a directory that is too large: all batches are looked at
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT on_both('p', 'INSERT INTO %s SELECT * FROM made(2000, 2000, 1)');
SELECT on_both('p', 'INSERT INTO %s SELECT ts, dev, trace, num, f, tag, v + 20 FROM made(100, 400, 0) WHERE tag IS NOT NULL ON CONFLICT (num) DO UPDATE SET v = EXCLUDED.v');
SELECT differing('p');
RESET work_mem;
RESET hash_mem_multiplier;
-- checked at the end
ALTER TABLE p ADD COLUMN late bigint;
UPDATE p SET late = num;
ALTER TABLE p ADD UNIQUE (late) DEFERRABLE INITIALLY DEFERRED;
SELECT compress_chunk('p', recompress => true);
BEGIN;
INSERT INTO p (ts, dev, late, tag) SELECT ts, dev, late, 'again' FROM p WHERE trace = md5('700')::uuid;
COMMIT;
BEGIN;
INSERT INTO p (ts, dev, late, tag) SELECT ts, dev, late, 'again' FROM p WHERE trace = md5('700')::uuid;
DELETE FROM p WHERE trace = md5('700')::uuid;
COMMIT;
SELECT count(*), count(DISTINCT late) FROM p WHERE late IS NOT NULL;
-- keys that are added to compressed chunks lead to batches at once; the option takes them away
SET strata.batch_rows = 10;
CREATE TABLE q (LIKE h) PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
INSERT INTO q SELECT * FROM made(1, 4000, 0);
ANALYZE q;
SELECT count(compress_chunk(c)) > 1 AS some FROM show_chunks('q') AS c;
CREATE FUNCTION looks(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line LIKE '%Batch Index:%' THEN RETURN current_setting('strata.enable_batch_index'); END IF;
	END LOOP;
	RETURN 'off';
END $$;
SELECT looks('SELECT v FROM q WHERE trace = md5(''1000'')::uuid') = 'off' AS none;
ALTER TABLE q ADD CONSTRAINT later CHECK (v < 1000), ADD PRIMARY KEY (trace, ts);
SELECT looks('SELECT v FROM q WHERE trace = md5(''1000'')::uuid') = current_setting('strata.enable_batch_index') AS as_expected;
SELECT v FROM q WHERE trace = md5('1000')::uuid;
INSERT INTO q SELECT * FROM made(1, 1, 1);
ALTER TABLE q SET (strata.batch_index = off);
SELECT looks('SELECT v FROM q WHERE trace = md5(''1000'')::uuid') = 'off' AS none;
ALTER TABLE q RESET (strata.batch_index);
SELECT looks('SELECT v FROM q WHERE trace = md5(''1000'')::uuid') = current_setting('strata.enable_batch_index') AS as_expected;
CREATE TABLE r (LIKE h) USING strata WITH (strata.segmentby = 'dev', strata.orderby = 'ts');
INSERT INTO r SELECT ts + interval '10 years', dev, trace, num, f, tag, v FROM made(1, 1500, 0);
ANALYZE r;
SELECT compress_chunk('r');
ALTER TABLE r ALTER trace SET NOT NULL, ADD CONSTRAINT later CHECK (v < 1000);
ALTER TABLE q ATTACH PARTITION r FOR VALUES FROM ('2036-01-01') TO ('2036-01-01 12:00');
SELECT looks('SELECT v FROM r WHERE trace = md5(''1000'')::uuid') = current_setting('strata.enable_batch_index') AS as_expected;
SELECT count(*) FROM q WHERE trace = md5('1000')::uuid;
SELECT count(*) FROM strata.verify('q');
-- what it takes is counted
SELECT kind, count(*) > 0 AS some, sum(bytes) > 0 AS bytes FROM strata.relation_sizes WHERE of_hypertable = 'q'::regclass AND kind LIKE '%batch index' GROUP BY kind ORDER BY kind;
SELECT sum(s.bytes) = (SELECT sum(total_bytes) FROM chunks_detailed_size('q')) AS same, sum(s.bytes) = (SELECT sum(row_store_bytes + index_bytes + batch_bytes) FROM strata.tables WHERE relation IN (SELECT show_chunks('q'))) AS and_here,
	sum(s.bytes) = (SELECT sum(after_compression_total_bytes) FROM chunk_compression_stats('q')) AS and_there
FROM strata.relation_sizes AS s WHERE of_hypertable = 'q'::regclass;
DROP TABLE q;
DROP FUNCTION looks;
DROP TABLE p, h CASCADE;
DROP FUNCTION made, differing, on_both, look_ups;
