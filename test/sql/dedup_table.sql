-- A table of strata_dedup and a heap with the same rows: whatever is done to
-- both, they are equal, read in each way there is.
SET client_min_messages = warning;
SET strata.enable_deduplication = on;
CREATE TABLE dt_h (id int PRIMARY KEY, name text, city varchar(40), state char(2), n numeric, f float8, at timestamptz, tags text[], doc jsonb, big text) USING heap;
CREATE TABLE dt_d (LIKE dt_h INCLUDING ALL) USING strata_dedup;
CREATE FUNCTION dt_rows(i int, j int) RETURNS SETOF dt_h LANGUAGE sql AS $$
	SELECT i, 'customer number ' || i % 7, (ARRAY['San Francisco', 'Los Angeles', NULL, 'San Francisco', 'X'])[1 + i % 5], CASE WHEN i % 2 = 0 THEN 'CA' END,
		   (ARRAY['NaN', '1.50', '1.5', '-0.0', '12345678901234567890.12'])[1 + i % 5]::numeric,
		   (ARRAY['NaN', '-0', '0', 'Infinity', '-Infinity'])[1 + i % 5]::float8,
		   '2026-01-01 00:00+00'::timestamptz + (i % 3) * interval '1 day',
		   CASE i % 4 WHEN 0 THEN ARRAY['red', NULL, 'blue'] WHEN 1 THEN '{}' END,
		   CASE WHEN i % 3 = 0 THEN jsonb_build_object('kind', 'order', 'n', i % 2) END,
		   CASE i % 50 WHEN 0 THEN repeat('long text ', 400) WHEN 1 THEN (SELECT string_agg(md5((i + k)::text), '') FROM generate_series(1, 100) k) END
	FROM generate_series(i, j) i $$;
INSERT INTO dt_h SELECT * FROM dt_rows(1, 4000);
INSERT INTO dt_d SELECT * FROM dt_h;
SELECT pg_relation_size('dt_d') < 0.8 * pg_relation_size('dt_h') AS smaller;
-- text, since NaN is equal to NaN, and -0 to 0
CREATE VIEW dt_differ AS
	SELECT 'heap' AS of, t.id, t::text FROM dt_h t FULL JOIN dt_d u USING (id) WHERE t::text IS DISTINCT FROM u::text
	UNION ALL SELECT 'dedup', u.id, u::text FROM dt_h t FULL JOIN dt_d u USING (id) WHERE t::text IS DISTINCT FROM u::text;
TABLE dt_differ;

-- the ways to read
CREATE FUNCTION dt_same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	h text;
	d text;
BEGIN
	EXECUTE 'SELECT string_agg(q::text, chr(10) ORDER BY q::text) FROM (' || replace(query, '@', 'dt_h') || ') q' INTO h;
	EXECUTE 'SELECT string_agg(q::text, chr(10) ORDER BY q::text) FROM (' || replace(query, '@', 'dt_d') || ') q' INTO d;
	RETURN CASE WHEN h IS NOT DISTINCT FROM d THEN 'same' ELSE format('heap %s dedup %s', left(h, 300), left(d, 300)) END;
END $$;
CREATE VIEW dt_queries(query) AS VALUES
	('SELECT count(*) FROM @'),
	('SELECT count(*), count(city), count(big), sum(length(big)) FROM @'),
	('SELECT city, state, count(*), sum(n), min(at), max(f) FROM @ GROUP BY 1, 2'),
	('SELECT * FROM @ WHERE city = ''San Francisco'''),
	('SELECT id, name FROM @ WHERE city IS NULL AND state = ''CA'''),
	('SELECT name FROM @ WHERE id IN (1, 17, 17, 4000, 5000)'),
	('SELECT * FROM @ WHERE id BETWEEN 100 AND 140'),
	('SELECT a.id, b.id FROM @ a JOIN @ b ON a.id = b.id + 1 AND a.city = b.city'),
	('SELECT id, xmin IS NULL, tableoid IS NULL, cmin IS NULL FROM @ WHERE id < 50'),
	('SELECT id FROM @ TABLESAMPLE BERNOULLI (100)'),
	('SELECT id FROM @ TABLESAMPLE SYSTEM (100)'),
	('SELECT tags[3], doc ->> ''kind'', big FROM @ WHERE id % 97 < 3'),
	('SELECT t FROM @ t WHERE id < 20'),
	('SELECT (t).city, to_jsonb(t) FROM @ t WHERE id < 20'),
	('SELECT id FROM (SELECT * FROM @ ORDER BY city, id LIMIT 100 OFFSET 50) x'),
	('SELECT DISTINCT name, doc FROM @'),
	('SELECT * FROM @ WHERE ctid IN (SELECT ctid FROM @ WHERE id % 500 = 3)'),
	('SELECT id FROM @ WHERE ctid >= ''(0,1)'' AND ctid < ''(1000000,1)''');
SELECT query, dt_same(query) FROM dt_queries WHERE dt_same(query) <> 'same';
CREATE INDEX ON dt_h (city); CREATE INDEX ON dt_d (city);
CREATE INDEX ON dt_h (lower(name), state) WHERE city IS NOT NULL; CREATE INDEX ON dt_d (lower(name), state) WHERE city IS NOT NULL;
CREATE INDEX ON dt_h USING gin (tags); CREATE INDEX ON dt_d USING gin (tags);
CREATE INDEX ON dt_h USING brin (at); CREATE INDEX ON dt_d USING brin (at);
CREATE INDEX ON dt_h USING hash (state); CREATE INDEX ON dt_d USING hash (state);
CREATE VIEW dt_by_index(query) AS VALUES
	('SELECT * FROM @ WHERE city = ''Los Angeles'''),
	('SELECT id FROM @ WHERE city IS NULL'),
	('SELECT count(*) FROM @ WHERE lower(name) = ''customer number 3'' AND city IS NOT NULL'),
	('SELECT id FROM @ WHERE tags && ''{blue}'''),
	('SELECT id FROM @ WHERE at = ''2026-01-02 00:00+00'''),
	('SELECT id FROM @ WHERE state = ''CA''');
SET enable_seqscan = off;
SELECT query, dt_same(query) FROM (TABLE dt_queries UNION ALL TABLE dt_by_index) q WHERE dt_same(query) <> 'same';
SET enable_indexscan = off;
SELECT query, dt_same(query) FROM (TABLE dt_queries UNION ALL TABLE dt_by_index) q WHERE dt_same(query) <> 'same';
RESET enable_seqscan;
RESET enable_indexscan;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT query, dt_same(query) FROM dt_queries WHERE dt_same(query) <> 'same';
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size;

-- cursors both ways, and changes under them
BEGIN;
DECLARE dc SCROLL CURSOR FOR SELECT id, city, name FROM dt_d WHERE id <= 12;
FETCH FORWARD 5 FROM dc;
FETCH BACKWARD 2 FROM dc;
MOVE LAST FROM dc;
FETCH BACKWARD 3 FROM dc;
UPDATE dt_d SET city = 'moved' WHERE CURRENT OF dc;
DELETE FROM dt_d WHERE city = 'moved';
ROLLBACK;

-- changes
CREATE PROCEDURE dt_both(command text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE replace(command, '@', 'dt_h');
	EXECUTE replace(command, '@', 'dt_d');
END $$;
CALL dt_both('UPDATE @ SET city = NULL WHERE id % 10 = 3');
CALL dt_both('UPDATE @ SET city = ''Los Angeles'', n = n + 1 WHERE id % 10 = 4');
CALL dt_both('UPDATE @ SET big = big || ''x'' WHERE id % 25 = 0');
CALL dt_both('UPDATE @ SET id = -id WHERE id % 40 = 7');
CALL dt_both('DELETE FROM @ WHERE id % 6 = 1');
CALL dt_both('INSERT INTO @ SELECT * FROM dt_rows(3990, 4300) ON CONFLICT (id) DO UPDATE SET name = excluded.name || @.city, state = NULL');
CALL dt_both('INSERT INTO @ SELECT -100000 - id, name, city, state, n, f, at, tags, doc, big FROM @ WHERE id % 3 = 0');
CALL dt_both('MERGE INTO @ t USING (SELECT g AS id FROM generate_series(1, 100) g) s ON t.id = s.id WHEN MATCHED AND t.id % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET city = ''merged'' WHEN NOT MATCHED THEN INSERT (id, city) VALUES (s.id, ''new'')');
TABLE dt_differ;
SET enable_seqscan = off;
SELECT query, dt_same(query) FROM (TABLE dt_queries UNION ALL TABLE dt_by_index) q WHERE dt_same(query) <> 'same';
RESET enable_seqscan;
BEGIN;
CALL dt_both('UPDATE @ SET name = ''undone'', city = ''undone''');
SAVEPOINT s;
CALL dt_both('DELETE FROM @ WHERE id > 0');
ROLLBACK TO s;
TABLE dt_differ;
ROLLBACK;
SELECT id, city FROM dt_d WHERE id IN (9, 12) ORDER BY id FOR UPDATE;
SELECT id, city FROM dt_d WHERE id IN (9, 12) ORDER BY id FOR KEY SHARE;
WITH u AS (UPDATE dt_d SET city = city WHERE id < 20 RETURNING *), v AS (UPDATE dt_h SET city = city WHERE id < 20 RETURNING *)
SELECT count(*) FROM (SELECT u::text FROM u EXCEPT ALL SELECT v::text FROM v) x;

-- maintenance
VACUUM dt_h; VACUUM dt_d;
CALL dt_both('INSERT INTO @ SELECT * FROM dt_rows(10000, 11000)');
TABLE dt_differ;
ANALYZE dt_h; ANALYZE dt_d;
SELECT attname, h.null_frac, d.null_frac, h.n_distinct, d.n_distinct, h.most_common_vals::text, d.most_common_vals::text
FROM pg_stats h JOIN pg_stats d USING (attname)
WHERE h.tablename = 'dt_h' AND d.tablename = 'dt_d' AND (abs(h.null_frac - d.null_frac) > 0.001 OR h.n_distinct <> d.n_distinct OR h.most_common_vals::text <> d.most_common_vals::text);
VACUUM FULL dt_h; VACUUM FULL dt_d;
TABLE dt_differ;
SELECT pg_relation_size('dt_d') < 0.7 * pg_relation_size('dt_h') AS smaller;
CLUSTER dt_h USING dt_h_city_idx; CLUSTER dt_d USING dt_d_city_idx;
TABLE dt_differ;
SET enable_sort = off;
CLUSTER dt_d USING dt_d_pkey;
RESET enable_sort;
TABLE dt_differ;
REINDEX TABLE dt_d;
REINDEX TABLE CONCURRENTLY dt_d;
CREATE INDEX CONCURRENTLY dt_d_late ON dt_d ((name || coalesce(city, ''))) WHERE state = 'CA';
SET enable_seqscan = off;
SELECT query, dt_same(query) FROM (TABLE dt_queries UNION ALL TABLE dt_by_index) q WHERE dt_same(query) <> 'same';
SELECT dt_same('SELECT id FROM @ WHERE name || coalesce(city, '''') = ''customer number 2Los Angeles'' AND state = ''CA''');
RESET enable_seqscan;
VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) dt_d;
TABLE dt_differ;

-- columns come and go
CALL dt_both('ALTER TABLE @ ADD COLUMN added text DEFAULT ''by default''');
CALL dt_both('ALTER TABLE @ DROP COLUMN state CASCADE');
CALL dt_both('UPDATE @ SET city = ''after'' WHERE id % 9 = 2');
CALL dt_both('INSERT INTO @ (id, name, city) SELECT i, ''later than the others'', ''Los Angeles'' FROM generate_series(20000, 20500) i');
TABLE dt_differ;
VACUUM FULL dt_d;
TABLE dt_differ;

-- to heap and back
ALTER TABLE dt_d SET ACCESS METHOD heap;
TABLE dt_differ;
SELECT strata.dedup_stats('dt_d');
SET strata.enable_deduplication = on;
ALTER TABLE dt_d SET ACCESS METHOD strata_dedup;
TABLE dt_differ;
SELECT pages_with_symbols > pages / 2 AS most, row_versions_with_symbols > row_versions / 2 AS most FROM strata.dedup_stats('dt_d');
SELECT pg_get_compression_ratio('dt_d') > 1.2 AS ratio;

-- other kinds of tables
CREATE TEMP TABLE dt_temp USING strata_dedup AS SELECT * FROM dt_h;
CREATE UNLOGGED TABLE dt_unlogged USING strata_dedup AS SELECT * FROM dt_h;
CREATE MATERIALIZED VIEW dt_view USING strata_dedup AS SELECT * FROM dt_h;
CREATE TABLE dt_parted (LIKE dt_h) PARTITION BY RANGE (id);
CREATE TABLE dt_part_1 PARTITION OF dt_parted FOR VALUES FROM (MINVALUE) TO (1000) USING strata_dedup;
CREATE TABLE dt_part_2 PARTITION OF dt_parted FOR VALUES FROM (1000) TO (MAXVALUE) USING heap;
INSERT INTO dt_parted SELECT * FROM dt_h;
UPDATE dt_parted SET id = id + 900 WHERE id BETWEEN 500 AND 1200;
UPDATE dt_parted SET id = id - 900 WHERE id BETWEEN 1400 AND 2100;
SELECT r, (SELECT count(*) FROM (TABLE dt_h EXCEPT ALL TABLE dt_temp) x),
	   (SELECT count(*) FROM (TABLE dt_h EXCEPT ALL TABLE dt_unlogged) x),
	   (SELECT count(*) FROM (TABLE dt_h EXCEPT ALL TABLE dt_view) x),
	   (SELECT count(*) FROM (TABLE dt_h EXCEPT ALL TABLE dt_parted) x) = (SELECT count(*) FROM (TABLE dt_parted EXCEPT ALL TABLE dt_h) x) AS parted
FROM generate_series(1, 1) r;
REFRESH MATERIALIZED VIEW dt_view;
SELECT count(*) FROM (TABLE dt_h EXCEPT ALL TABLE dt_view) x;
SELECT relname, pages_with_symbols > 0 AS deduplicated
FROM pg_class, strata.dedup_stats(oid) WHERE relname IN ('dt_temp', 'dt_unlogged', 'dt_view', 'dt_part_1') ORDER BY 1;

-- triggers, and foreign keys both ways
CREATE TABLE dt_city (city text PRIMARY KEY, note text) USING strata_dedup;
INSERT INTO dt_city SELECT 'city ' || i, 'the same for all' FROM generate_series(1, 500) i;
CREATE TABLE dt_ref (id int, city text REFERENCES dt_city ON UPDATE CASCADE ON DELETE SET NULL) USING strata_dedup;
INSERT INTO dt_ref SELECT i, 'city ' || i % 5 + 1 FROM generate_series(1, 2000) i;
CREATE INDEX ON dt_ref (city);
CREATE FUNCTION dt_tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE '% % -> %', TG_OP, (SELECT count(*) FROM olds WHERE city IS NOT NULL), (SELECT count(*) FROM news WHERE city IS NOT NULL);
	RETURN NULL;
END $$;
CREATE TRIGGER dt_tell AFTER UPDATE ON dt_ref REFERENCING OLD TABLE AS olds NEW TABLE AS news FOR EACH STATEMENT EXECUTE FUNCTION dt_tell();
SET client_min_messages = notice;
UPDATE dt_city SET city = 'renamed' WHERE city = 'city 2';
DELETE FROM dt_city WHERE city = 'city 3';
SET client_min_messages = warning;
SELECT city, count(*) FROM dt_ref GROUP BY 1 ORDER BY 1;
INSERT INTO dt_ref VALUES (1, 'nowhere');

-- COPY out of one and into another
CREATE TABLE dt_copy (LIKE dt_h) USING strata_dedup;
INSERT INTO dt_copy SELECT * FROM dt_d ORDER BY id;
BEGIN;
TRUNCATE dt_copy;
INSERT INTO dt_copy SELECT * FROM dt_d WHERE id % 2 = 0;
ROLLBACK;
SELECT count(*) FROM (TABLE dt_copy EXCEPT ALL TABLE dt_h) x;
BEGIN;
TRUNCATE dt_copy;
INSERT INTO dt_copy SELECT * FROM dt_d WHERE id % 2 = 0;
COMMIT;
SELECT count(*) FROM (TABLE dt_copy EXCEPT ALL SELECT * FROM dt_h WHERE id % 2 = 0) x;
ALTER TABLE dt_copy ALTER COLUMN id TYPE bigint, ALTER COLUMN city TYPE text;
SELECT count(*) FROM (TABLE dt_copy EXCEPT ALL SELECT * FROM dt_h WHERE id % 2 = 0) x;
DROP FUNCTION dt_rows;
DROP TABLE dt_h, dt_d, dt_parted, dt_ref, dt_city, dt_copy, dt_unlogged, dt_temp CASCADE;
DROP FUNCTION dt_same, dt_tell;
DROP PROCEDURE dt_both;
