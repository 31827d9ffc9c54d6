-- Pages of strata_dedup: what gets a symbol, what does not, and what functions
-- say of it.
SET strata.enable_deduplication = on;
-- the example: with every value that occurs twice, three names are symbols, one of them in two columns
CREATE TABLE dp_names (first text, last text) USING strata_dedup;
SET strata.dedup_rule = 'any';
INSERT INTO dp_names VALUES ('Jack', 'Smith'), ('Kirk', 'Smith'), ('Jack', 'Kirk'), ('Ava', 'Jones');
SELECT * FROM strata.page_symbols('dp_names', 0);
VACUUM FULL dp_names;
-- a page that is not full is left alone
SELECT * FROM strata.page_symbols('dp_names', 0);
INSERT INTO dp_names SELECT f, l FROM (VALUES ('Jack', 'Smith'), ('Kirk', 'Smith'), ('Jack', 'Kirk'), ('Ava', 'Jones')) n(f, l), generate_series(1, 300);
SELECT value, columns, uses > 10 AS often FROM strata.page_symbols('dp_names', 0) ORDER BY value;
RESET strata.dedup_rule;
-- the rule: (m - 1)(n - 2) > 6, n with a varlena's header
CREATE TABLE dp_rule (id int, v text) USING strata_dedup;
SET strata.dedup_min_gain = 1;
INSERT INTO dp_rule SELECT i, CASE WHEN i % 10 IN (1, 2) THEN repeat('of two: ', 3) || i / 10 WHEN i % 10 < 5 THEN left(md5((i / 10)::text), 1) ELSE md5(i::text) || md5((-i)::text) END FROM generate_series(100, 3000) i;
SELECT count(*) > 0 AS symbols, bool_and((uses - 1) * (bytes - 2) > 6) AS rule FROM generate_series(0, pg_relation_size('dp_rule') / 8192 - 1) p, strata.page_symbols('dp_rule', p);
RESET strata.dedup_min_gain;

-- no gain: all pages are as a heap's
CREATE TABLE dp_inventory (itemid varchar(10), qty int) USING strata_dedup;
CREATE TABLE dp_inventory_heap (LIKE dp_inventory) USING heap;
INSERT INTO dp_inventory SELECT 'EST-' || i, 10000 - i % 100 FROM generate_series(1, 5000) i;
INSERT INTO dp_inventory_heap SELECT * FROM dp_inventory;
SELECT pages_with_symbols, symbols, bytes_saved, ratio FROM strata.dedup_stats('dp_inventory');
SELECT pg_relation_size('dp_inventory') = pg_relation_size('dp_inventory_heap') AS as_heap;
VACUUM FULL dp_inventory;
SELECT pages_with_symbols, symbols, bytes_saved, ratio FROM strata.dedup_stats('dp_inventory');

-- of orders of ten customers
CREATE TABLE dp_orders (id int PRIMARY KEY, customer text, address text, city text, day date) USING strata_dedup;
INSERT INTO dp_orders SELECT i, 'customer number ' || i % 10, i % 10 || ' San Antonio Road, Building ' || i % 10, 'San Francisco', '2026-01-01'::date + i / 100 FROM generate_series(1, 3000) i;
SELECT pages, pages_with_symbols, row_versions, row_versions_with_symbols > 2500 AS most, symbols > 0 AS symbols, symbol_bytes > 0 AS in_tables, bytes_saved > bytes / 2 AS saved, ratio > 1.5 AS ratio
FROM strata.dedup_stats('dp_orders');
SELECT pg_get_compression_ratio('dp_orders') = (SELECT ratio FROM strata.dedup_stats('dp_orders')) AS same;
-- identity columns stay where they are
SELECT count(*) FROM generate_series(0, pg_relation_size('dp_orders') / 8192 - 1) p, strata.page_symbols('dp_orders', p) WHERE 'id' = ANY (columns);
-- an estimate, before and after; and of a heap
CREATE TABLE dp_heap (LIKE dp_orders) USING heap;
INSERT INTO dp_heap SELECT * FROM dp_orders;
SELECT bytes = pg_relation_size('dp_heap') AS bytes, abs(heap_bytes::float8 / bytes - 1) < 0.05 AS heap, ratio > 1.5 AS ratio, sampled FROM strata.estimate_dedup('dp_heap');
SELECT abs(e.dedup_bytes::float8 / d.dedup_bytes - 1) < 0.1 AS near FROM strata.estimate_dedup('dp_heap') e, strata.estimate_dedup('dp_orders') d;
ALTER TABLE dp_heap SET ACCESS METHOD strata_dedup;
VACUUM FULL dp_heap;
SELECT abs(dedup_bytes::float8 / pg_relation_size('dp_heap') - 1) < 0.1 AS as_estimated FROM strata.estimate_dedup('dp_heap');
SELECT ratio, sampled FROM strata.estimate_dedup('dp_inventory_heap');

-- switched off, new pages are a heap's; VACUUM FULL makes all of them so
SET strata.enable_deduplication = off;
VACUUM FULL dp_orders;
SELECT pages_with_symbols, bytes_saved FROM strata.dedup_stats('dp_orders');
SET strata.enable_deduplication = on;
-- a table whose replica identity is the whole row has no symbols
VACUUM FULL dp_orders;
ALTER TABLE dp_orders REPLICA IDENTITY FULL;
VACUUM FULL dp_orders;
SELECT pages_with_symbols FROM strata.dedup_stats('dp_orders');
ALTER TABLE dp_orders REPLICA IDENTITY DEFAULT;
VACUUM FULL dp_orders;
SELECT pages_with_symbols > 0 AS again FROM strata.dedup_stats('dp_orders');

-- what VACUUM empties has no table of symbols afterwards, and is used again
SELECT pg_relation_size('dp_orders') AS size \gset
DELETE FROM dp_orders WHERE id < 2900;
VACUUM (TRUNCATE off) dp_orders;
SELECT pages = :size / 8192 AS pages, pages_with_symbols <= 2 AS emptied FROM strata.dedup_stats('dp_orders');
INSERT INTO dp_orders SELECT -i, 'customer number ' || i % 10, i % 10 || ' San Antonio Road, Building ' || i % 10, 'San Francisco', '2026-01-01' FROM generate_series(1, 2000) i;
SELECT pg_relation_size('dp_orders') <= :size AS used_again, count(*), count(DISTINCT address) FROM dp_orders;
-- fillfactor is heeded
CREATE TABLE dp_fill (LIKE dp_orders) USING strata_dedup WITH (fillfactor = 50);
INSERT INTO dp_fill SELECT * FROM dp_orders;
SELECT pages_with_symbols > 0 AS symbols, bytes::float8 / (pages * 8192) < 0.6 AS half FROM strata.dedup_stats('dp_fill');

-- updates are HOT as on heap, whatever the indexed column was and becomes
CREATE TABLE dp_hot (id int PRIMARY KEY, city text, state text, n int) USING strata_dedup WITH (fillfactor = 30);
CREATE TABLE dp_hot_heap (LIKE dp_hot) USING heap WITH (fillfactor = 30);
INSERT INTO dp_hot SELECT i, (ARRAY['San Francisco', 'Los Angeles', 'San Antonio'])[1 + i % 3], (ARRAY['California', 'Texas']) [1 + i % 2], i FROM generate_series(1, 1000) i;
INSERT INTO dp_hot_heap SELECT * FROM dp_hot;
VACUUM FULL dp_hot; VACUUM FULL dp_hot_heap;
CREATE INDEX dp_hot_city ON dp_hot (city);
CREATE INDEX dp_hot_part ON dp_hot (n) WHERE state = 'California';
CREATE INDEX ON dp_hot_heap (city);
CREATE INDEX ON dp_hot_heap (n) WHERE state = 'California';
ALTER TABLE dp_hot_heap ADD PRIMARY KEY (id);
SELECT row_versions_with_symbols FROM strata.dedup_stats('dp_hot');
CREATE FUNCTION dp_hot_updates(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	d0 bigint := pg_stat_get_xact_tuples_hot_updated('dp_hot'::regclass);
	h0 bigint := pg_stat_get_xact_tuples_hot_updated('dp_hot_heap'::regclass);
	d bigint;
	h bigint;
BEGIN
	EXECUTE replace(command, '@', 'dp_hot');
	EXECUTE replace(command, '@', 'dp_hot_heap');
	d := pg_stat_get_xact_tuples_hot_updated('dp_hot'::regclass) - d0;
	h := pg_stat_get_xact_tuples_hot_updated('dp_hot_heap'::regclass) - h0;
	RETURN CASE WHEN d = h THEN d::text ELSE format('dedup %s heap %s', d, h) END;
END $$;
BEGIN;
SELECT dp_hot_updates('UPDATE @ SET city = city WHERE id % 100 = 1');
SELECT dp_hot_updates('UPDATE @ SET city = ''San Francisco'' WHERE id % 100 IN (2, 3, 4)');
SELECT dp_hot_updates('UPDATE @ SET city = NULL WHERE id % 100 IN (5, 6, 7)');
SELECT dp_hot_updates('UPDATE @ SET city = NULL WHERE city IS NULL');
SELECT dp_hot_updates('UPDATE @ SET state = NULL WHERE id % 100 IN (8, 9, 10)');
SELECT dp_hot_updates('UPDATE @ SET state = ''California'' WHERE id % 100 IN (11, 12, 13)');
SELECT dp_hot_updates('UPDATE @ SET id = id, state = state || '''' WHERE id % 100 IN (14, 15, 16)');
SELECT dp_hot_updates('UPDATE @ SET n = n WHERE id % 100 IN (17, 18, 19)');
SELECT dp_hot_updates('UPDATE @ SET city = ''elsewhere'' WHERE id % 100 IN (20, 21, 22)');
COMMIT;
SET enable_seqscan = off;
SELECT (SELECT array_agg(id ORDER BY id) FROM dp_hot WHERE city IS NULL) = (SELECT array_agg(id ORDER BY id) FROM dp_hot_heap WHERE city IS NULL) AS nulls,
	   (SELECT array_agg(id ORDER BY id) FROM dp_hot WHERE city = 'San Francisco') = (SELECT array_agg(id ORDER BY id) FROM dp_hot_heap WHERE city = 'San Francisco') AS city,
	   (SELECT array_agg(id ORDER BY id) FROM dp_hot WHERE n > 0 AND state = 'California') = (SELECT array_agg(id ORDER BY id) FROM dp_hot_heap WHERE n > 0 AND state = 'California') AS part;
RESET enable_seqscan;
SELECT count(*) FROM (TABLE dp_hot EXCEPT ALL TABLE dp_hot_heap) x;

-- an index whose function reads the table itself finds the rows as they are
CREATE FUNCTION dp_cities(int) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT $1 + count(DISTINCT city) FROM public.dp_hot';
CREATE INDEX CONCURRENTLY dp_hot_self ON dp_hot (dp_cities(id)) WHERE id <= 20;
SET enable_seqscan = off;
SELECT id FROM dp_hot WHERE dp_cities(id) = (SELECT count(DISTINCT city) FROM dp_hot) + 15 AND id <= 20;
RESET enable_seqscan;
DROP INDEX dp_hot_self;
-- and one that fails leaves the table as it was
CREATE INDEX ON dp_hot ((1 / (n - 500)));
SELECT count(*), count(city) FROM dp_hot;
CREATE UNIQUE INDEX CONCURRENTLY dp_fails ON dp_hot (state);
SELECT count(*), count(city) FROM dp_hot;
DROP INDEX dp_fails;

-- rows of the same table while it is read
BEGIN;
INSERT INTO dp_hot SELECT id + 10000, city, state, n FROM dp_hot;
INSERT INTO dp_hot SELECT id + 20000, city, state, n FROM dp_hot;
SELECT count(*), count(DISTINCT city), count(city) FROM dp_hot;
ROLLBACK;

-- VACUUM deduplicates full pages that were missed, and those alone; rows go on into the room
SET strata.enable_deduplication = off;
CREATE TABLE dp_missed (LIKE dp_orders) USING strata_dedup WITH (autovacuum_enabled = off);
INSERT INTO dp_missed SELECT i, 'customer number ' || i % 10, i % 10 || ' San Antonio Road, Building ' || i % 10, 'San Francisco', '2026-01-01'::date + i / 100 FROM generate_series(1, 3000) i;
VACUUM dp_missed;
SELECT pages_with_symbols FROM strata.dedup_stats('dp_missed');
SET strata.enable_deduplication = on;
-- nothing has changed since, so nothing is read
VACUUM dp_missed;
SELECT pages_with_symbols FROM strata.dedup_stats('dp_missed');
UPDATE dp_missed SET day = day + 1;
VACUUM dp_missed;
SELECT pages_with_symbols > pages / 3 AS symbols FROM strata.dedup_stats('dp_missed');
SELECT pg_relation_size('dp_missed') AS size \gset
SELECT count(*), count(DISTINCT address) FROM dp_missed;
INSERT INTO dp_missed SELECT id + 10000, customer, address, city, day FROM dp_orders LIMIT 500;
SELECT pages = :size / 8192 AS no_longer FROM strata.dedup_stats('dp_missed');
-- a table that gains nothing stays as it is
UPDATE dp_inventory SET qty = qty + 1;
VACUUM dp_inventory;
SELECT pages_with_symbols FROM strata.dedup_stats('dp_inventory');

-- scans by keys of C code see the rows, as here of a table of the extension
SET client_min_messages = warning;
SET ROLE postgres;
ALTER TABLE _strata.rollup_source SET ACCESS METHOD strata_dedup;
SET strata.torture = on;
RESET ROLE;
CREATE TABLE dp_source1 (time timestamptz NOT NULL, v int);
CREATE TABLE dp_source2 (LIKE dp_source1);
SELECT count(h) FROM unnest('{dp_source1, dp_source2}'::regclass[]) t, create_hypertable(t, 'time', chunk_time_interval => interval '1 day') h;
CREATE MATERIALIZED VIEW dp_day1 WITH (strata.continuous) AS SELECT time_bucket('1 day', time) AS day, sum(v) FROM dp_source1 GROUP BY 1 WITH NO DATA;
CREATE MATERIALIZED VIEW dp_day2 WITH (strata.continuous) AS SELECT time_bucket('1 day', time) AS day, sum(v) FROM dp_source2 GROUP BY 1 WITH NO DATA;
INSERT INTO dp_source1 SELECT '2026-01-01'::timestamptz + i * interval '1 hour', i FROM generate_series(1, 40) i;
INSERT INTO dp_source2 SELECT '2026-02-01'::timestamptz + i * interval '1 hour', i FROM generate_series(1, 40) i;
CALL refresh_continuous_aggregate('dp_day1', NULL, NULL);
CALL refresh_continuous_aggregate('dp_day2', NULL, NULL);
INSERT INTO dp_source1 SELECT '2026-01-02'::timestamptz + i * interval '1 hour', i FROM generate_series(1, 10) i;
CALL refresh_continuous_aggregate('dp_day1', NULL, NULL);
SELECT * FROM dp_day1 ORDER BY day;
SET ROLE postgres;
SELECT row_versions_with_symbols, row_versions FROM strata.dedup_stats('_strata.rollup_source');
SET strata.torture = off;
DROP TABLE dp_source1 CASCADE;
SELECT count(*) FROM _strata.rollup_source WHERE hypertable::regclass::text LIKE 'dp_source%';
DROP TABLE dp_source2 CASCADE;
ALTER TABLE _strata.rollup_source SET ACCESS METHOD heap;
RESET ROLE;
RESET client_min_messages;

-- who may see it
CREATE ROLE dp_stranger;
GRANT dp_stranger TO CURRENT_USER;
GRANT SELECT ON dp_hot TO dp_stranger;
SET ROLE dp_stranger;
SELECT count(*) FROM dp_hot;
SELECT count(*) FROM strata.page_symbols('dp_hot', 0);
SELECT * FROM strata.dedup_stats('dp_hot');
SELECT * FROM strata.estimate_dedup('dp_hot');
RESET ROLE;
REVOKE ALL ON dp_hot FROM dp_stranger;
DROP ROLE dp_stranger;
SELECT * FROM strata.page_symbols('dp_hot', -1);
SELECT * FROM strata.page_symbols('dp_hot', 100000);
SELECT * FROM strata.page_symbols('dp_hot_heap', 0);
SELECT * FROM strata.page_symbols('dp_hot_city', 0);
SELECT * FROM strata.page_symbols(0, 0);
SELECT * FROM strata.estimate_dedup('dp_hot_city');
DROP FUNCTION dp_hot_updates, dp_cities;
DROP TABLE dp_names, dp_rule, dp_inventory, dp_inventory_heap, dp_orders, dp_heap, dp_fill, dp_hot, dp_hot_heap;
