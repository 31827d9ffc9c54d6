-- Every form of ALTER TABLE, and what else can be said of a table: what chunks have of it, those that are there and those to come, beside PostgreSQL's own partitions.
SET client_min_messages = warning;
CREATE ROLE hyper_follow_owner;
GRANT hyper_follow_owner TO CURRENT_USER;
GRANT hyper_follow_owner TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO hyper_follow_owner;
SET ROLE postgres;
SET ROLE postgres;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE hyper_follow_space LOCATION '';
GRANT CREATE ON TABLESPACE hyper_follow_space TO hyper_follow_owner;
RESET ROLE;
RESET ROLE;
SET ROLE hyper_follow_owner;
CREATE FUNCTION hf_noop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TABLE hf (t int NOT NULL, d int NOT NULL, v text, x float8);
CREATE UNIQUE INDEX hf_key ON hf (t, d);
CREATE INDEX hf_expr ON hf ((d + 1));
CREATE TRIGGER one BEFORE INSERT ON hf FOR EACH ROW EXECUTE FUNCTION hf_noop();
CREATE TRIGGER two BEFORE INSERT ON hf FOR EACH ROW EXECUTE FUNCTION hf_noop();
SELECT FROM create_hypertable('hf', 't', chunk_time_interval => 1000);
INSERT INTO hf SELECT g, g % 5, g, g FROM generate_series(0, 999) g;
SELECT compress_chunk('hf');
INSERT INTO hf SELECT g, 7, g, g FROM generate_series(0, 99) g;
-- all that can be seen of a table and its indexes, by kind
CREATE FUNCTION looks(rel regclass) RETURNS TABLE (what text, value text) LANGUAGE sql AS $$
	SELECT x.* FROM pg_class c, LATERAL (VALUES ('replica identity', c.relreplident::text), ('persistence', c.relpersistence::text), ('tablespace', (SELECT spcname::text FROM pg_tablespace s WHERE s.oid = c.reltablespace)),
		('owner', pg_get_userbyid(c.relowner)::text), ('row security', c.relrowsecurity || ' ' || c.relforcerowsecurity), ('privileges', replace(c.relacl::text, 'Dxtm/', 'Dxt/')), ('comment', obj_description(c.oid)),
		('storage options', (SELECT string_agg(o, ' ' ORDER BY o) FROM unnest(c.reloptions) o WHERE o NOT LIKE 'strata.%'))) x (what, value) WHERE c.oid = rel
	UNION ALL
	SELECT 'column ' || a.attname, concat_ws(' ', nullif(a.attstattarget, -1), a.attstorage, a.attcompression, (SELECT string_agg(o, ' ' ORDER BY o) FROM unnest(a.attoptions) o WHERE o LIKE 'n_distinct%'), pg_get_expr(f.adbin, f.adrelid), a.attnotnull)
	FROM pg_attribute a LEFT JOIN pg_attrdef f ON f.adrelid = a.attrelid AND f.adnum = a.attnum WHERE a.attrelid = rel AND a.attnum > 0 AND NOT a.attisdropped
	UNION ALL
	SELECT 'index ' || pg_get_indexdef(i.indexrelid, 1, false), concat_ws(' ', i.indisreplident, c.relpersistence, (SELECT spcname FROM pg_tablespace s WHERE s.oid = c.reltablespace), nullif(a.attstattarget, -1), (SELECT string_agg(o, ' ') FROM unnest(c.reloptions) o))
	FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1 WHERE i.indrelid = rel
	UNION ALL
	SELECT 'trigger ' || tgname, tgenabled::text FROM pg_trigger WHERE tgrelid = rel AND NOT tgisinternal AND tgname IN ('one', 'two')
	UNION ALL
	SELECT 'constraint ' || conname, convalidated::text FROM pg_constraint WHERE conrelid = rel AND contype <> 'n'
	UNION ALL
	SELECT 'statistics', count(*)::text FROM pg_statistic_ext WHERE stxrelid = rel
$$;
ALTER TABLE hf REPLICA IDENTITY USING INDEX hf_key;
ALTER TABLE hf ALTER v SET COMPRESSION pglz, ALTER d SET (n_distinct = 5, n_distinct_inherited = -0.25);
ALTER TABLE hf ALTER v SET STORAGE external;
ALTER TABLE hf ALTER v SET STATISTICS 77;
ALTER INDEX hf_expr ALTER COLUMN 1 SET STATISTICS 55;
ALTER TABLE hf SET (fillfactor = 70, autovacuum_enabled = off, toast.autovacuum_enabled = off);
ALTER INDEX hf_expr SET TABLESPACE hyper_follow_space;
ALTER TABLE hf SET UNLOGGED;
ALTER TABLE hf ENABLE ROW LEVEL SECURITY;
ALTER TABLE hf FORCE ROW LEVEL SECURITY;
ALTER TABLE hf DISABLE TRIGGER one;
ALTER TABLE hf ENABLE ALWAYS TRIGGER two;
ALTER TABLE hf ALTER d SET DEFAULT 7;
ALTER TABLE hf ADD CONSTRAINT small CHECK (d < 100) NOT VALID;
ALTER TABLE hf VALIDATE CONSTRAINT small;
ALTER INDEX hf_key RENAME TO hf_unique;
CREATE STATISTICS hf_stat ON d, v FROM hf;
COMMENT ON TABLE hf IS 'of the hypertable';
GRANT SELECT ON hf TO PUBLIC;
CREATE POLICY all_rows ON hf USING (true);
-- refused by PostgreSQL for partitioned tables
ALTER INDEX hf_unique SET (fillfactor = 55);
ALTER TABLE hf CLUSTER ON hf_unique;
ALTER TABLE hf SET WITHOUT CLUSTER;
INSERT INTO hf (t, v, x) SELECT g, g, g FROM generate_series(1000, 1999) g;
CREATE FUNCTION follow() RETURNS TABLE (what text, hypertable text, first_chunk text, new_chunk text) LANGUAGE sql AS $$
	SELECT coalesce(h.what, a.what, b.what), h.value, a.value, b.value
	FROM looks('hf') h FULL JOIN looks('hf_0_chunk') a USING (what) FULL JOIN looks('hf_1000_chunk') b ON b.what = coalesce(h.what, a.what) ORDER BY 1 $$;
SELECT * FROM follow() WHERE what <> 'tablespace';
-- both halves are where they were
SELECT count(*), sum(x) FROM hf;
SELECT count(*), sum(nrows) FROM strata.batches('hf');
SELECT DISTINCT c.relpersistence FROM show_chunks('hf') s (oid) JOIN pg_class c ON c.oid IN (s.oid, strata.batch_relation(s.oid));
SELECT * FROM strata.verify('hf');
-- and the way back
ALTER TABLE hf SET LOGGED;
ALTER TABLE hf REPLICA IDENTITY FULL, ALTER v SET COMPRESSION default, ALTER d RESET (n_distinct, n_distinct_inherited);
ALTER INDEX hf_expr SET TABLESPACE pg_default;
INSERT INTO hf (t, d, v, x) SELECT g, 60, g, g FROM generate_series(0, 3999, 100) g;
SELECT what, count(DISTINCT coalesce(value, '')) FROM (SELECT what, unnest(ARRAY[hypertable, first_chunk, new_chunk]) FROM follow()) v (what, value) WHERE what IN ('replica identity', 'persistence', 'column v', 'column d', 'index t', 'index ((d + 1))') GROUP BY what ORDER BY 1;
SELECT count(*), sum(x) FROM hf;
ALTER TABLE hf REPLICA IDENTITY NOTHING;
ALTER TABLE hf SET (fillfactor = 80), REPLICA IDENTITY DEFAULT;
SELECT DISTINCT relreplident FROM pg_class WHERE relname ~ '^hf(_\d+_chunk)?$';
-- the hypertable alone
ALTER TABLE ONLY hf REPLICA IDENTITY FULL;
SELECT relname, relreplident FROM pg_class WHERE relname ~ '^hf(_\d+_chunk)?$' ORDER BY 1;
-- chunks made in the same transaction, by a split, ahead, and out of rows
BEGIN;
ALTER TABLE hf REPLICA IDENTITY USING INDEX hf_unique;
INSERT INTO hf (t, v, x) VALUES (7500, 'a', 0);
COMMIT;
CALL split_chunk('hf_1000_chunk', 1500);
SELECT relname, relreplident FROM pg_class WHERE relname ~ '^hf(_\d+_chunk)?$' ORDER BY 1;
CREATE TABLE hg (t int NOT NULL, d int);
ALTER TABLE hg REPLICA IDENTITY FULL;
ALTER TABLE hg ALTER d SET STATISTICS 33;
INSERT INTO hg SELECT g, g FROM generate_series(0, 999) g;
SELECT FROM create_hypertable('hg', 't', chunk_time_interval => 500, migrate_data => true);
SELECT c.relname, c.relreplident, a.attstattarget FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'd' WHERE relname ~ '^hg(_\d+_chunk)?$' ORDER BY 1;
DROP TABLE hf, hg;
DROP FUNCTION follow(), looks(regclass), hf_noop();
RESET ROLE;
SET ROLE postgres;
SET ROLE postgres;
DROP TABLESPACE hyper_follow_space;
RESET ROLE;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM hyper_follow_owner;
DROP ROLE hyper_follow_owner;
