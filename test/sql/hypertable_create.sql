-- create_hypertable: what is kept, what is refused, both forms.
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET intervalstyle = 'postgres';
CREATE TABLE devices (id int PRIMARY KEY, name text);
INSERT INTO devices SELECT g, 'd' || g FROM generate_series(1, 5) g;
CREATE TABLE m (gone int, time timestamptz, device int REFERENCES devices, v float8 DEFAULT 1.5 CHECK (v < 1e6),
	id bigserial, twice float8 GENERATED ALWAYS AS (v * 2) STORED, note text, PRIMARY KEY (device, time)) WITH (fillfactor = 80);
ALTER TABLE m DROP COLUMN gone;
CREATE INDEX m_v ON m (v) WHERE v > 5;
CREATE VIEW m_view AS SELECT device, count(*), sum(v) FROM m GROUP BY device;
COMMENT ON TABLE m IS 'measurements';
COMMENT ON INDEX m_v IS 'high values';
CREATE ROLE hyper_reader;
GRANT hyper_reader TO CURRENT_USER;
GRANT SELECT ON m TO hyper_reader;
CREATE FUNCTION m_trigger() RETURNS trigger LANGUAGE plpgsql AS
	$$ BEGIN NEW.note := coalesce(NEW.note, '') || ' triggered'; RETURN NEW; END $$;
INSERT INTO m (time, device, v, note) SELECT '2026-01-01'::timestamptz + g * interval '3 hours', 1 + g % 5, g,
	CASE WHEN g = 7 THEN repeat('long ', 5000) END FROM generate_series(1, 200) g;
CREATE TRIGGER m_before BEFORE INSERT ON m FOR EACH ROW EXECUTE FUNCTION m_trigger();
CREATE TABLE m_copy AS SELECT * FROM m;
CREATE TEMP TABLE before AS SELECT 'm'::regclass::oid AS m, 'm_v'::regclass::oid AS v, 'm_pkey'::regclass::oid AS pkey;
SELECT create_hypertable('m', 'time');
SELECT schema_name, table_name, created FROM create_hypertable('m', 'time', migrate_data => true, chunk_time_interval => interval '10 days');
SELECT m = 'm'::regclass AS same_table, v = 'm_v'::regclass AS same_index, pkey = 'm_pkey'::regclass AS same_pkey FROM before;
\d m
SELECT c.relname, pg_get_expr(c.relpartbound, c.oid), a.amname, r.reloptions
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_am a ON a.oid = c.relam
CROSS JOIN LATERAL (SELECT array_agg(o) AS reloptions FROM unnest(c.reloptions) o WHERE o NOT LIKE '%created%') r
WHERE i.inhparent = 'm'::regclass ORDER BY c.relname;
SELECT obj_description('m'::regclass), obj_description('m_v'::regclass), has_table_privilege('hyper_reader', 'm', 'SELECT');
SELECT count(*) FROM (TABLE m EXCEPT ALL TABLE m_copy) x;
SELECT count(*) FROM (TABLE m_copy EXCEPT ALL TABLE m) x;
SELECT * FROM m_view ORDER BY device;
-- everything still works
INSERT INTO m (time, device, v) VALUES ('2026-03-01', 2, 3) RETURNING tableoid::regclass, device, v, twice, note, id > 200 AS later;
INSERT INTO m (time, device, v) VALUES ('2026-03-01', 2, 3);
INSERT INTO m (time, device, v) VALUES ('2026-03-01', 9, 3);
INSERT INTO m (time, device, v) VALUES ('2026-03-01', 3, 1e7);
INSERT INTO m (time, device) VALUES (NULL, 3);
DELETE FROM devices WHERE id = 2;
SET client_min_messages = warning;	-- which chunks have one block only, so are not worth it, differs
SELECT compress_chunk('m');
RESET client_min_messages;
SELECT count(*), sum(v) FROM m;
SELECT create_hypertable('m', 'time');
SELECT table_name, created FROM create_hypertable('m', 'time', if_not_exists => true);
DROP TABLE m CASCADE;
SELECT count(*) FROM pg_class WHERE relname LIKE 'm\_%chunk';

-- refused, each with what to do
CREATE TABLE r (time timestamptz NOT NULL, k int PRIMARY KEY, during tstzrange, EXCLUDE USING gist (during WITH &&));
SELECT create_hypertable('r', 'time');
ALTER TABLE r DROP CONSTRAINT r_pkey;
SELECT create_hypertable('r', 'time');
ALTER TABLE r DROP CONSTRAINT r_during_excl;
SELECT create_hypertable('r', 'nothing');
SELECT create_hypertable('r', 'during');
BEGIN;
SELECT created FROM create_hypertable('r', 'k');
SELECT integer_interval FROM strata.dimensions WHERE hypertable_name = 'r';
ROLLBACK;
SELECT create_hypertable('r', 'time', 'k');
SELECT create_hypertable('r', 'time', chunk_time_interval => interval '-1 day');
SELECT create_hypertable('r', 'time', chunk_time_interval => 1.5);
SELECT create_hypertable('r', 'k', chunk_time_interval => interval '1 day');
SELECT create_hypertable(NULL, 'time');
SELECT create_hypertable('r', NULL::name);
SELECT create_hypertable('r', by_hash('k', 2));
CREATE TEMP TABLE t (time timestamptz NOT NULL);
SELECT create_hypertable('t', 'time');
CREATE TABLE child () INHERITS (r);
SELECT create_hypertable('r', 'time');
DROP TABLE child;
SET ROLE hyper_reader;
SELECT create_hypertable('r', 'time');
RESET ROLE;
SELECT add_dimension('r', by_hash('k', 4));
-- a default index unless one begins with time; bigint means microseconds
SELECT created FROM create_hypertable('r', 'time', 'k', 1, chunk_time_interval => 86400000000);
SELECT add_dimension('r', by_hash('k', 4));
SELECT add_dimension('r', 'k', number_partitions => 4, if_not_exists => true);
\d r
DROP TABLE r;

-- the other form, other types of time
CREATE TABLE d (day date, k int);
SELECT created FROM create_hypertable('d', by_range('day', interval '1 month'), create_default_indexes => false);
INSERT INTO d VALUES ('2026-02-28', 1), ('-infinity', 2), ('infinity', 3), ('0044-03-15 BC', 4), ('5874897-12-31', 5);
SELECT tableoid::regclass, * FROM d ORDER BY k;
SELECT create_hypertable('m_copy', by_range('device'));
CREATE TABLE i (t smallint NOT NULL, v int);
SELECT created FROM create_hypertable('i', by_range('t', 10000));
INSERT INTO i VALUES (-32768, 1), (32767, 2), (0, 3), (-1, 4);
SELECT i.tableoid::regclass, pg_get_expr(relpartbound, i.tableoid), i.* FROM i JOIN pg_class c ON c.oid = i.tableoid ORDER BY v;
CREATE TABLE ts (t timestamp NOT NULL, v int);
SELECT created FROM create_hypertable('ts', by_range('t', interval '1 hour'));
SET timezone = 'Asia/Kolkata';
INSERT INTO ts VALUES ('2026-02-28 05:30', 1), ('-infinity', 2), ('infinity', 3), ('4713-01-01 BC', 4), ('294276-12-31 23:59', 5);
SELECT ts.tableoid::regclass, pg_get_expr(relpartbound, ts.tableoid), ts.* FROM ts JOIN pg_class c ON c.oid = ts.tableoid ORDER BY v;
CREATE TABLE tz (t timestamptz NOT NULL, v int);
SELECT created FROM create_hypertable('tz', by_range('t', 3600000000));
INSERT INTO tz VALUES ('2026-02-28 05:30', 1), ('-infinity', 2), ('infinity', 3);
SELECT tz.tableoid::regclass, pg_get_expr(relpartbound, tz.tableoid), tz.* FROM tz JOIN pg_class c ON c.oid = tz.tableoid ORDER BY v;
SET timezone = 'UTC';

-- a partitioning function
CREATE FUNCTION seconds(text) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT substr($1, 2)::int $$;
CREATE TABLE f (id varchar(20) PRIMARY KEY, v int);
SELECT created FROM create_hypertable('f', 'id', chunk_time_interval => 100, time_partitioning_func => 'seconds');
INSERT INTO f SELECT 'x' || g, g FROM generate_series(1, 500, 50) g;
INSERT INTO f VALUES ('x1', 3);
SELECT tableoid::regclass, * FROM f ORDER BY v;

-- a table that is partitioned already
CREATE TABLE p (t int NOT NULL, v int) PARTITION BY RANGE (t);
CREATE TABLE p_own PARTITION OF p FOR VALUES FROM (5) TO (25);
SELECT created FROM create_hypertable('p', 't', chunk_time_interval => 10);
INSERT INTO p SELECT g, g FROM generate_series(-15, 45, 3) g;
SELECT p.tableoid::regclass, pg_get_expr(relpartbound, p.tableoid), count(*) FROM p JOIN pg_class c ON c.oid = p.tableoid GROUP BY 1, 2 ORDER BY min(p.t);
SELECT set_chunk_time_interval('p', 100);
INSERT INTO p VALUES (60, 0), (1000, 0), (-20, 0);
SELECT p.tableoid::regclass, pg_get_expr(relpartbound, p.tableoid) FROM p JOIN pg_class c ON c.oid = p.tableoid GROUP BY 1, 2 ORDER BY min(p.t);
ALTER TABLE p SET (strata.chunk_interval = '0');
ALTER TABLE m_copy SET (strata.chunk_interval = '7');
SELECT set_integer_now_func('p', 'seconds');

-- a constraint that children are not to have, of which a partitioned table can have none
CREATE TABLE own (t int NOT NULL, v int, CONSTRAINT own_v CHECK (v > 0) NO INHERIT);
CREATE INDEX ON own (t);
SELECT created FROM create_hypertable('own', 't', chunk_time_interval => 10);
CALL strata.convert('own', 't', '10');
ALTER TABLE own DROP CONSTRAINT own_v;
ALTER TABLE own ADD CONSTRAINT own_v CHECK (v > 0);
SELECT created FROM create_hypertable('own', 't', chunk_time_interval => 10);
INSERT INTO own VALUES (1, 0);
\set VERBOSITY sqlstate
ALTER TABLE own ADD CONSTRAINT own_w CHECK (v > 1) NO INHERIT;
\set VERBOSITY default
DROP TABLE own;
DROP TABLE d, i, ts, tz, f, p, m_copy, devices;
DROP FUNCTION seconds, m_trigger;
DROP ROLE hyper_reader;
