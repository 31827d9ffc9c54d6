-- COPY into strata_dedup: pages are filled in memory, and hold what a heap's do.
SET strata.enable_deduplication = on;
CREATE TABLE dl_h (id int, customer text GENERATED ALWAYS AS ('customer number ' || id % 10) STORED, city text DEFAULT 'San Francisco',
				   large text GENERATED ALWAYS AS (CASE WHEN id % 997 = 0 THEN repeat(md5(id::text), 300) WHEN id % 500 = 0 THEN repeat(md5(id::text), 90) END) STORED);
ALTER TABLE dl_h ALTER COLUMN large SET STORAGE EXTERNAL;
CREATE TABLE dl_d (LIKE dl_h INCLUDING ALL) USING strata_dedup;
CREATE UNIQUE INDEX ON dl_h (id);
CREATE UNIQUE INDEX ON dl_d (id);
CREATE FUNCTION dl_same() RETURNS text LANGUAGE sql AS $$
	SELECT count(*) || ' rows, ' || (SELECT count(*) FROM ((TABLE dl_d EXCEPT ALL TABLE dl_h) UNION ALL (TABLE dl_h EXCEPT ALL TABLE dl_d)) x) || ' differ' FROM dl_d;
$$;
CREATE FUNCTION dl_pages(t regclass) RETURNS TABLE (symbols boolean, smaller boolean) LANGUAGE sql AS $$
	SELECT pages_with_symbols > 0.9 * pages, pg_relation_size(t) < 0.8 * pg_relation_size('dl_h') FROM strata.dedup_stats(t);
$$;
\copy dl_h (id) FROM PROGRAM 'seq 1 6000'
\copy dl_d (id) FROM PROGRAM 'seq 1 6000'
SELECT dl_same();
SELECT * FROM dl_pages('dl_d');
SET enable_seqscan = off;
SELECT count(*), sum(id) FROM dl_d WHERE id BETWEEN 2000 AND 3999;
SELECT count(*) FROM generate_series(1, 6000, 7) i, LATERAL (SELECT * FROM dl_d WHERE id = i OFFSET 0) d WHERE d.customer <> 'customer number ' || i % 10;
RESET enable_seqscan;
SELECT count(DISTINCT xmin::text) AS xmin, count(DISTINCT cmin::text) AS cmin, count(*) FILTER (WHERE tableoid <> 'dl_d'::regclass), count(DISTINCT ctid) FROM dl_d;

-- what fails leaves nothing, whatever was filled before
\copy dl_d (id) FROM PROGRAM 'seq 6001 9000; echo 5'
SELECT dl_same();
\copy dl_d (id) FROM PROGRAM 'seq 6001 9000; echo x'
SELECT dl_same();
\copy dl_h (id) FROM PROGRAM 'seq 6001 9000'
\copy dl_d (id) FROM PROGRAM 'seq 6001 9000'
SELECT dl_same();
-- savepoints, and a cursor that was open before
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM dl_d;
\copy dl_d (id) FROM PROGRAM 'seq 9001 11000'
SAVEPOINT a;
\copy dl_d (id) FROM PROGRAM 'seq 11001 13000'
ROLLBACK TO a;
\copy dl_d (id) FROM PROGRAM 'seq 11001 12000'
FETCH ALL FROM c;
UPDATE dl_d SET city = NULL WHERE id = 11500;
COMMIT;
\copy dl_h (id) FROM PROGRAM 'seq 9001 12000'
UPDATE dl_h SET city = NULL WHERE id = 11500;
SELECT dl_same();

-- room in earlier pages is used
SELECT pg_relation_size('dl_d') AS size \gset
DELETE FROM dl_d WHERE id % 10 > 0;
VACUUM (TRUNCATE off) dl_d;
\copy dl_d (id) FROM PROGRAM 'seq 20001 28000'
SELECT pg_relation_size('dl_d') <= :size AS used_again;
DELETE FROM dl_h WHERE id % 10 > 0;
\copy dl_h (id) FROM PROGRAM 'seq 20001 28000'
SELECT dl_same();
-- the room of COPY's last page is used by the next row
TRUNCATE dl_d, dl_h;
\copy dl_d (id) FROM PROGRAM 'seq 1 2020'
SELECT pg_relation_size('dl_d') AS size \gset
INSERT INTO dl_d (id) VALUES (100000);
SELECT pg_relation_size('dl_d') = :size AS same_page;
-- a load that goes on after a savepoint, beside a reader of its last page
TRUNCATE dl_d;
BEGIN;
\copy dl_d (id) FROM PROGRAM 'seq 1 1500'
SAVEPOINT a;
\copy dl_d (id) FROM PROGRAM 'seq 5001 6500'
ROLLBACK TO a;
DECLARE c CURSOR FOR SELECT id FROM dl_d WHERE id > 1496;
FETCH 1 FROM c;
\copy dl_d (id) FROM PROGRAM 'seq 1501 3000'
FETCH 100 FROM c;
COMMIT;
\copy dl_h (id) FROM PROGRAM 'seq 1 3000'
SELECT dl_same();
TRUNCATE dl_d, dl_h;

-- in a transaction that made the table, frozen, with room left, of other persistence
BEGIN;
TRUNCATE dl_d;
\copy dl_d (id) FROM PROGRAM 'seq 1 3000' (FREEZE)
COMMIT;
BEGIN;
TRUNCATE dl_d;
\copy dl_d (id) FROM PROGRAM 'seq 1 3000'
COMMIT;
\copy dl_h (id) FROM PROGRAM 'seq 1 3000'
SELECT dl_same();
SELECT * FROM dl_pages('dl_d');
CREATE TABLE dl_fill (LIKE dl_d INCLUDING ALL) USING strata_dedup WITH (fillfactor = 40);
\copy dl_fill (id) FROM PROGRAM 'seq 1 3000'
SELECT pages_with_symbols > 0 AS symbols, bytes::float8 / (pages * 8192) < 0.5 AS part FROM strata.dedup_stats('dl_fill');
CREATE TEMP TABLE dl_temp (LIKE dl_d INCLUDING ALL) USING strata_dedup;
\copy dl_temp (id) FROM PROGRAM 'seq 1 3000'
CREATE UNLOGGED TABLE dl_unlogged (LIKE dl_d INCLUDING ALL) USING strata_dedup;
\copy dl_unlogged (id) FROM PROGRAM 'seq 1 3000'
SELECT count(*) FROM ((TABLE dl_temp EXCEPT ALL TABLE dl_h) UNION ALL (TABLE dl_h EXCEPT ALL TABLE dl_unlogged) UNION ALL (TABLE dl_fill EXCEPT ALL TABLE dl_h)) x;
SELECT * FROM dl_pages('dl_temp') UNION ALL SELECT * FROM dl_pages('dl_unlogged');

-- triggers see the rows, and partitions get theirs
CREATE TABLE dl_log (id int, customer text);
CREATE FUNCTION dl_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF TG_LEVEL = 'ROW' THEN
		INSERT INTO dl_log VALUES (NEW.id, NEW.customer);
	ELSE
		INSERT INTO dl_log SELECT -id, customer FROM news;
	END IF;
	RETURN NULL;
END $$;
CREATE TABLE dl_parted (LIKE dl_d INCLUDING GENERATED INCLUDING DEFAULTS) PARTITION BY RANGE (id);
CREATE TABLE dl_part1 PARTITION OF dl_parted FOR VALUES FROM (0) TO (1500) USING strata_dedup;
CREATE TABLE dl_part2 PARTITION OF dl_parted FOR VALUES FROM (1500) TO (9000) USING strata_dedup;
CREATE TRIGGER dl_row AFTER INSERT ON dl_parted FOR EACH ROW EXECUTE FUNCTION dl_tell();
\copy dl_parted (id) FROM PROGRAM 'seq 1 2900'
SELECT count(*), count(*) FILTER (WHERE customer <> 'customer number ' || id % 10), sum(id) FROM dl_log;
DROP TRIGGER dl_row ON dl_parted;
CREATE TRIGGER dl_statement AFTER INSERT ON dl_parted REFERENCING NEW TABLE AS news FOR EACH STATEMENT EXECUTE FUNCTION dl_tell();
\copy dl_parted (id) FROM PROGRAM 'seq 2901 3000'
SELECT count(*), count(*) FILTER (WHERE customer <> 'customer number ' || abs(id) % 10), sum(id) FROM dl_log;
SELECT count(*) FROM ((TABLE dl_parted EXCEPT ALL TABLE dl_h) UNION ALL (TABLE dl_h EXCEPT ALL TABLE dl_parted)) x;
SELECT symbols FROM dl_pages('dl_part1');

-- no pages in memory: no gain, switched off, an identity that is the whole row
CREATE TABLE dl_numbers (a int, b int DEFAULT 1) USING strata_dedup;
CREATE TABLE dl_numbers_heap (LIKE dl_numbers INCLUDING ALL);
\copy dl_numbers (a) FROM PROGRAM 'seq 1 20000'
\copy dl_numbers_heap (a) FROM PROGRAM 'seq 1 20000'
-- (from 16 on tables are extended by more than is needed: pages with rows are counted)
SELECT (SELECT count(DISTINCT (ctid::text::point)[0]) FROM dl_numbers) = (SELECT count(DISTINCT (ctid::text::point)[0]) FROM dl_numbers_heap) AS as_heap, pages_with_symbols
  FROM strata.dedup_stats('dl_numbers');
TRUNCATE dl_d;
SET strata.enable_deduplication = off;
\copy dl_d (id) FROM PROGRAM 'seq 1 3000'
SELECT dl_same(), pages_with_symbols FROM strata.dedup_stats('dl_d');
TRUNCATE dl_d;
SET strata.enable_deduplication = on;
ALTER TABLE dl_d REPLICA IDENTITY FULL;
\copy dl_d (id) FROM PROGRAM 'seq 1 3000'
SELECT dl_same(), pages_with_symbols FROM strata.dedup_stats('dl_d');
DROP TABLE dl_d, dl_h, dl_fill, dl_temp, dl_unlogged, dl_parted, dl_log, dl_numbers, dl_numbers_heap;
DROP FUNCTION dl_same, dl_pages, dl_tell;
