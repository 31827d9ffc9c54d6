-- What was rolled back stays in pages of strata_dedup until it is pruned, and nobody looks at it.
SET strata.enable_deduplication = on;
-- columns that have gone again, and others in their place
CREATE TABLE dr_columns (id int NOT NULL, a text) USING strata_dedup WITH (autovacuum_enabled = off);
INSERT INTO dr_columns SELECT i, 'city name number ' || i % 3 FROM generate_series(1, 500) i;
BEGIN;
ALTER TABLE dr_columns ADD x bytea;
-- a varbit that says that it has 800,000 bits
INSERT INTO dr_columns SELECT i, 'city name number 1', '\x00350c0041414141414141414141414141414141' FROM generate_series(501, 1500) i;
ROLLBACK;
SELECT count(*), count(DISTINCT a) FROM dr_columns;
SELECT row_versions, row_versions_with_symbols > 300 AS symbols FROM strata.dedup_stats('dr_columns');
SELECT pg_get_compression_ratio('dr_columns') > 1.2 AS ratio;
ALTER TABLE dr_columns ADD x varbit;
SELECT count(*), max(length(value)) < 100 AS short, bool_or(columns && '{x}') AS x
  FROM generate_series(0, pg_relation_size('dr_columns') / 8192 - 1) block, strata.page_symbols('dr_columns', block);
ALTER TABLE dr_columns ADD PRIMARY KEY (id);
UPDATE dr_columns SET x = B'101' WHERE id <= 10;
SELECT count(*), count(x) FROM dr_columns;
-- under a savepoint, seen by the transaction itself
BEGIN;
SAVEPOINT s;
ALTER TABLE dr_columns ADD y bytea;
INSERT INTO dr_columns SELECT i, 'city name number 1', NULL, '\x00350c0041414141414141414141414141414141' FROM generate_series(2001, 3000) i;
SELECT row_versions >= 1500 AS all_rows FROM strata.dedup_stats('dr_columns');
ROLLBACK TO s;
ALTER TABLE dr_columns ADD y varbit;
SELECT max(length(value)) < 100 AS short, bool_or(columns && '{y}') AS y
  FROM generate_series(0, pg_relation_size('dr_columns') / 8192 - 1) block, strata.page_symbols('dr_columns', block);
COMMIT;
SELECT count(*), count(y) FROM dr_columns;
-- the same of a heap that is estimated
CREATE TABLE dr_heap (id int NOT NULL, a text) USING heap WITH (autovacuum_enabled = off);
INSERT INTO dr_heap SELECT i, 'city name number ' || i % 3 FROM generate_series(1, 500) i;
BEGIN;
ALTER TABLE dr_heap ADD x int;
INSERT INTO dr_heap SELECT i, 'city name number 1', 7 FROM generate_series(501, 520) i;
ROLLBACK;
SELECT count(*) FROM strata.estimate_dedup('dr_heap');
SELECT count(*) > 0 AS advice FROM advise_compression('dr_heap');

-- relations of ours that nobody publishes
CREATE TABLE dr_batches (id int, k text) USING strata;
INSERT INTO dr_batches SELECT i, 'k' || i % 10 FROM generate_series(1, 10000) i;
SELECT compress_chunk('dr_batches');
SELECT strata.batch_relation('dr_batches') AS companion \gset
SET ROLE postgres;
SELECT count(*) >= 0 AS answered FROM strata.estimate_dedup(:'companion');
RESET ROLE;
DROP TABLE dr_batches;

-- a replica identity that has gone, and is there again: its columns are no symbols
CREATE TABLE dr_identity (tenant text, id int, v text, PRIMARY KEY (tenant, id)) USING strata_dedup;
CREATE FUNCTION dr_key_symbols() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM generate_series(0, pg_relation_size('dr_identity') / 8192 - 1) block, strata.page_symbols('dr_identity', block) WHERE columns && '{tenant}';
$$;
INSERT INTO dr_identity SELECT 'tenant number one', i, 'some value that is not short' FROM generate_series(1, 120) i;
BEGIN;
ALTER TABLE dr_identity REPLICA IDENTITY NOTHING;
INSERT INTO dr_identity SELECT 'tenant number one', i, 'some value that is not short' FROM generate_series(1000, 1400) i;
\copy dr_identity FROM PROGRAM 'for i in $(seq 3000 4000); do echo "tenant number one	$i	some value that is not short"; done'
ROLLBACK;
SELECT dr_key_symbols();
BEGIN;
SAVEPOINT s;
ALTER TABLE dr_identity DROP CONSTRAINT dr_identity_pkey;
INSERT INTO dr_identity SELECT 'tenant number one', i, 'some value that is not short' FROM generate_series(1000, 1400) i;
ROLLBACK TO s;
INSERT INTO dr_identity SELECT 'tenant number one', i, 'some value that is not short' FROM generate_series(1000, 1400) i;
COMMIT;
SELECT dr_key_symbols();
UPDATE dr_identity SET v = 'another value' WHERE id % 2 = 0;
DELETE FROM dr_identity WHERE id % 3 = 0;
SELECT count(*), count(DISTINCT v) FROM dr_identity;
-- a file of this transaction's own is deduplicated
BEGIN;
TRUNCATE dr_identity;
INSERT INTO dr_identity SELECT 'tenant number one', i, 'some value that is not short' FROM generate_series(1, 1400) i;
SELECT pages_with_symbols > 0 AS symbols FROM strata.dedup_stats('dr_identity');
COMMIT;
SELECT dr_key_symbols();
DROP TABLE dr_columns, dr_heap, dr_identity;
DROP FUNCTION dr_key_symbols();
