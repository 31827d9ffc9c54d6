-- Changes of the source, the view and the archive of a continuous aggregate.
SET timezone = 'UTC';
SET strata.report_compression = off;
SET client_min_messages = warning;
\set VERBOSITY sqlstate
CREATE TABLE rodd (time timestamptz NOT NULL, host text, v int, w float8, unused int);
SELECT FROM create_hypertable('rodd', 'time', chunk_time_interval => interval '1 day');
ALTER TABLE rodd SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO rodd SELECT '2026-01-01'::timestamptz + i * interval '10 minutes', 'h' || i % 3, i, i FROM generate_series(0, 719) i;
SELECT count(compress_chunk(c)) FROM show_chunks('rodd', older_than => timestamptz '2026-01-04') c;
CREATE MATERIALIZED VIEW rodd_h WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, host, sum(v) AS s, avg(w) AS a, max(v) AS m FROM rodd GROUP BY 1, 2;
-- rows that differ from those of a heap, and whether an archive is read
CREATE TABLE rodd_heap AS SELECT * FROM rodd;
ALTER TABLE rodd_heap DROP COLUMN unused;
CREATE VIEW rodd_twin AS SELECT time_bucket('1 hour', time) AS b, host, sum(v) AS s, avg(w) AS a, max(v) AS m FROM rodd_heap GROUP BY 1, 2;
CREATE FUNCTION rodd_check() RETURNS text LANGUAGE plpgsql SET strata.enable_archive_rewrite = on AS $$
DECLARE differ bigint; marks bigint; plan text; line text;
BEGIN
	SELECT count(*) INTO differ FROM (SELECT * FROM rodd_twin EXCEPT ALL SELECT * FROM rodd_h) d;
	FOR line IN EXECUTE 'EXPLAIN SELECT * FROM rodd_h' LOOP
		plan := coalesce(plan, substring(line FROM '^ *(Archive: rodd_h, [0-9]+ buckets)'));
	END LOOP;
	SELECT r.marks INTO marks FROM strata.rollups r WHERE r.view = 'rodd_h'::regclass;
	RETURN format('%s differ, %s marks, %s', differ, marks, CASE WHEN plan IS NULL THEN 'no archive' ELSE 'archive' END);
END $$;
SELECT rodd_check();

-- the source: columns that the view does not use come and go, others not; names do not matter
ALTER TABLE rodd DROP COLUMN unused;
ALTER TABLE rodd ADD COLUMN more int DEFAULT 5;
ALTER TABLE rodd ALTER COLUMN more TYPE bigint;
SELECT rodd_check();
ALTER TABLE rodd DROP COLUMN v;
ALTER TABLE rodd ALTER COLUMN v TYPE bigint;
ALTER TABLE rodd RENAME COLUMN v TO value;
ALTER TABLE rodd RENAME COLUMN time TO at;
ALTER TABLE rodd RENAME TO rodd_renamed;
CREATE SCHEMA rodd_schema;
ALTER TABLE rodd_renamed SET SCHEMA rodd_schema;
INSERT INTO rodd_schema.rodd_renamed VALUES ('2026-01-02 05:05', 'h1', 7, 7);
INSERT INTO rodd_heap VALUES ('2026-01-02 05:05', 'h1', 7, 7);
SELECT rodd_check();
CALL refresh_continuous_aggregate('rodd_h', NULL, NULL);
SELECT rodd_check();
ALTER TABLE rodd_schema.rodd_renamed SET SCHEMA public;
ALTER TABLE rodd_renamed RENAME TO rodd;
ALTER TABLE rodd RENAME COLUMN at TO time;
ALTER TABLE rodd RENAME COLUMN value TO v;
DROP TABLE rodd;

-- chunks that do not survive a crash, or that are heaps: no archive has them
SELECT c AS chunk FROM show_chunks('rodd', older_than => timestamptz '2026-01-02') c \gset
ALTER TABLE :chunk SET UNLOGGED;
SELECT rodd_check();
CALL refresh_continuous_aggregate('rodd_h', NULL, NULL);
SELECT count(*) FROM _strata.rollup_clean('rodd_h') WHERE _strata.time_text('rodd'::regclass, lo)::timestamptz < '2026-01-02';
ALTER TABLE :chunk SET LOGGED;
CALL refresh_continuous_aggregate('rodd_h', NULL, NULL);
SELECT count(*) FROM _strata.rollup_clean('rodd_h') WHERE _strata.time_text('rodd'::regclass, lo)::timestamptz < '2026-01-02';
SELECT rodd_check();

-- the view: names, schema, owner; it is an ordinary one
ALTER MATERIALIZED VIEW rodd_h RENAME COLUMN s TO total;
ALTER VIEW rodd_h RENAME COLUMN b TO bucket;
COMMENT ON MATERIALIZED VIEW rodd_h IS 'a comment';
SELECT obj_description('rodd_h'::regclass);
INSERT INTO rodd VALUES ('2026-01-02 06:05', 'h1', 7, 7);
INSERT INTO rodd_heap VALUES ('2026-01-02 06:05', 'h1', 7, 7);
SELECT rodd_check();
CALL refresh_continuous_aggregate('rodd_h', NULL, NULL);
SELECT rodd_check();
CREATE ROLE rodd_owner;
GRANT rodd_owner TO CURRENT_USER;
GRANT CREATE, USAGE ON SCHEMA public, rodd_schema TO rodd_owner;
ALTER MATERIALIZED VIEW rodd_h OWNER TO rodd_owner;
SELECT relname, pg_get_userbyid(relowner) FROM pg_class WHERE relname IN ('rodd_h', 'rodd_h_archive') ORDER BY 1;
-- the view's owner may not read the table: neither by rows nor by the archive
SELECT count(*) FROM rodd_h;
CALL refresh_continuous_aggregate('rodd_h', NULL, NULL, true);
GRANT SELECT ON rodd TO rodd_owner;
CALL refresh_continuous_aggregate('rodd_h', NULL, NULL, true);
SELECT rodd_check();
ALTER MATERIALIZED VIEW rodd_h SET SCHEMA rodd_schema;
SELECT relname, relnamespace::regnamespace FROM pg_class WHERE relname IN ('rodd_h', 'rodd_h_archive') ORDER BY 1;
ALTER SCHEMA rodd_schema RENAME TO rodd_other;
CALL refresh_continuous_aggregate('rodd_other.rodd_h', NULL, NULL, true);
ALTER MATERIALIZED VIEW rodd_other.rodd_h SET SCHEMA public;
SELECT rodd_check();

-- what is stored is the archive: indexes, statistics, space, all rows
CREATE INDEX rodd_index ON rodd_h (host, bucket DESC) INCLUDE (m);
SELECT pg_get_indexdef('rodd_index'::regclass);
CREATE UNIQUE INDEX ON rodd_h (host);
CREATE INDEX ON rodd_h (a);
CREATE INDEX ON rodd_h ((m + 1));
CREATE INDEX ON rodd_h (m) WHERE m > 1;
CREATE INDEX ON rodd_h (nothing);
ANALYZE rodd_h (host, m);
VACUUM ANALYZE rodd_h;
SELECT approximate_row_count('rodd_h') = (SELECT count(*) FROM rodd_h_archive) AS known;
TRUNCATE rodd_h;
SELECT count(*) FROM rodd_h_archive;
SELECT rodd_check();
CALL refresh_continuous_aggregate('rodd_h', NULL, NULL);
SELECT rodd_check();

-- refused: what it does not survive, and what it is not
ALTER TABLE rodd_h_archive DROP COLUMN s;
ALTER TABLE rodd_h_archive ADD COLUMN z int;
ALTER TABLE rodd_h_archive ALTER COLUMN s TYPE numeric;
ALTER TABLE rodd_h_archive SET UNLOGGED;
SELECT c AS achunk FROM show_chunks('rodd_h') c LIMIT 1 \gset
ALTER TABLE :achunk SET UNLOGGED;
CREATE FUNCTION rodd_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER t BEFORE INSERT ON rodd_h_archive FOR EACH ROW EXECUTE FUNCTION rodd_trigger();
CREATE TRIGGER t BEFORE INSERT ON :achunk FOR EACH ROW EXECUTE FUNCTION rodd_trigger();
CREATE TRIGGER t BEFORE INSERT ON rodd_h_archive FOR EACH ROW EXECUTE FUNCTION _strata.divide_note();
CREATE TRIGGER t INSTEAD OF INSERT ON rodd_h FOR EACH ROW EXECUTE FUNCTION rodd_trigger();
CREATE RULE r AS ON INSERT TO rodd_h_archive DO INSTEAD NOTHING;
CREATE RULE r AS ON INSERT TO rodd_h DO INSTEAD NOTHING;
DROP TABLE rodd_h_archive;
DROP VIEW rodd_h;
INSERT INTO rodd_h VALUES (now());
DELETE FROM rodd_h;
UPDATE rodd_h SET m = 1;
SELECT * FROM rodd_h FOR UPDATE;
REFRESH MATERIALIZED VIEW rodd_h;
ALTER MATERIALIZED VIEW rodd_h SET (strata.create_group_indexes = false);
ALTER MATERIALIZED VIEW rodd_h SET (fillfactor = 50);
ALTER VIEW rodd_h SET (security_barrier);
CREATE OR REPLACE VIEW rodd_h AS SELECT 1;
-- columns of the archive may be called something else
ALTER TABLE rodd_h_archive RENAME COLUMN s TO other;
ALTER TABLE rodd_h_archive RENAME TO rodd_other_archive;
CALL refresh_continuous_aggregate('rodd_h', NULL, NULL, true);
SELECT rodd_check();

-- row security that comes later: rows for everybody by himself, no refresh, no chunk is dropped; all can be dropped
ALTER TABLE rodd ENABLE ROW LEVEL SECURITY;
CALL refresh_continuous_aggregate('rodd_h', NULL, NULL);
SELECT drop_chunks('rodd', older_than => timestamptz '2026-01-02');
ALTER TABLE rodd DISABLE ROW LEVEL SECURITY;
-- so it is with a function that says less than it did
CREATE FUNCTION rodd_f(int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1 % 2; END';
CREATE MATERIALIZED VIEW rodd_i WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, rodd_f(v) AS f, count(*) AS n FROM rodd GROUP BY 1, 2;
ALTER FUNCTION rodd_f STABLE;
SELECT sum(n) FROM rodd_i;
CALL refresh_continuous_aggregate('rodd_i', NULL, NULL);
SELECT drop_chunks('rodd', older_than => timestamptz '2026-01-02');
ALTER FUNCTION rodd_f IMMUTABLE;
CALL refresh_continuous_aggregate('rodd_i', NULL, NULL);
ALTER FUNCTION rodd_f STABLE;
DROP MATERIALIZED VIEW rodd_i;
ALTER TABLE rodd ENABLE ROW LEVEL SECURITY;
DROP VIEW rodd_twin;
DROP FUNCTION rodd_check, rodd_f, rodd_trigger;
DROP TABLE rodd CASCADE;
DROP TABLE rodd_heap;
DROP SCHEMA rodd_other;
REVOKE ALL ON SCHEMA public FROM rodd_owner;
DROP ROLE rodd_owner;
SELECT count(*) FROM pg_class WHERE relname LIKE 'rodd%';
