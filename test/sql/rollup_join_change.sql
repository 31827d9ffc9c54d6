-- Continuous aggregates that join: rows the join leaves out, roles, row security, and ALTER of what is joined.
SET timezone = 'UTC';
SET strata.report_compression = off;
\set VERBOSITY terse
CREATE FUNCTION rjc_differ(a text, b text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
	d bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM %s', a) INTO n;
	EXECUTE format('SELECT count(*) FROM ((SELECT q::text FROM %1$s q EXCEPT ALL SELECT q::text FROM %2$s q) UNION ALL (SELECT q::text FROM %2$s q EXCEPT ALL SELECT q::text FROM %1$s q)) x', a, b) INTO d;
	RETURN format('%s rows, %s differences', n, d);
END $$;
CREATE TABLE rjc (time timestamptz NOT NULL, dev int, x int, v float8);
SELECT FROM create_hypertable('rjc', 'time', chunk_time_interval => interval '1 day');
INSERT INTO rjc SELECT '2026-01-01'::timestamptz + i * interval '11 minutes', i % 7, 1 + i % 9, i % 40 FROM generate_series(0, 599) i;
CREATE TABLE rjc_dim (id int, name text, w int, spare text);
INSERT INTO rjc_dim SELECT i, 'd' || i, i * 10 FROM generate_series(1, 5) i;

-- an expression is computed for rows that the join leaves, as ever; a refresh needs all of them
\set def 'SELECT time_bucket(''6 hours'', time) AS b, d.name, sum(100 / x) AS s, count(*) AS n FROM rjc JOIN rjc_dim d ON d.id = dev GROUP BY 1, 2'
CREATE VIEW rjc_v AS :def;
CREATE MATERIALIZED VIEW rjc_m WITH (strata.continuous) AS :def;
SELECT rjc_differ('rjc_v', 'rjc_m');
INSERT INTO rjc SELECT time, 6, 0, 0 FROM rjc WHERE dev = 1 AND time < '2026-01-03';
INSERT INTO rjc SELECT '2026-01-20'::timestamptz + i * interval '11 minutes', i % 7, i % 6, 1 FROM generate_series(0, 90) i WHERE i % 6 > 0 OR i % 7 IN (0, 6);
SELECT rjc_differ('rjc_v', 'rjc_m');
CALL refresh_continuous_aggregate('rjc_m', NULL, NULL);
SELECT rjc_differ('rjc_v', 'rjc_m');
SELECT count(*) FROM strata.verify('rjc_m');
INSERT INTO rjc_dim VALUES (6, 'd6', 60);
SELECT count(s) FROM rjc_v;
SELECT count(s) FROM rjc_m;
DELETE FROM rjc_dim WHERE id = 6;
DELETE FROM rjc WHERE x = 0;
CALL refresh_continuous_aggregate('rjc_m', NULL, NULL);
SELECT rjc_differ('rjc_v', 'rjc_m');

-- kept of the hypertable are keys alone; and what a view is ordered by need not be seen
\set def 'SELECT time_bucket(''6 hours'', time) AS b, min(d.w) AS w, count(DISTINCT d.name) AS c FROM rjc JOIN rjc_dim d ON d.id = dev GROUP BY 1 ORDER BY max(d.name), count(DISTINCT d.w), 1 DESC'
CREATE VIEW rjc_kv AS :def;
CREATE MATERIALIZED VIEW rjc_k WITH (strata.continuous) AS :def;
SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'rjc_k_archive'::regclass AND attnum > 0;
SELECT rjc_differ('rjc_kv', 'rjc_k');
\set def 'SELECT dev, max(x), sum(v) FROM rjc GROUP BY time_bucket(''6 hours'', time), dev ORDER BY sum(x) DESC, dev, time_bucket(''6 hours'', time)'
CREATE VIEW rjc_ov AS :def;
CREATE MATERIALIZED VIEW rjc_o WITH (strata.continuous) AS :def;
SELECT rjc_differ('rjc_ov', 'rjc_o');
SELECT (SELECT array_agg(o) FROM rjc_o o) = (SELECT array_agg(ROW(v.*)::rjc_o) FROM rjc_ov v) AS in_order, (SELECT count(*) FROM rjc_o o WHERE o.dev > 3) = (SELECT count(*) FROM rjc_ov v WHERE v.dev > 3) AS same;
SELECT * FROM rjc_o LIMIT 3;
INSERT INTO rjc VALUES ('2026-01-01 01:00', 2, 3, 4);
SELECT rjc_differ('rjc_kv', 'rjc_k'), rjc_differ('rjc_ov', 'rjc_o');
SET strata.enable_archive_rewrite = off;
SELECT rjc_differ('rjc_kv', 'rjc_k'), rjc_differ('rjc_ov', 'rjc_o');
RESET strata.enable_archive_rewrite;

-- what is joined changes its shape: as under any view
ALTER TABLE rjc_dim RENAME COLUMN name TO label;
ALTER TABLE rjc_dim RENAME TO rjc_dimension;
ALTER TABLE rjc RENAME COLUMN dev TO device;
ALTER TABLE rjc RENAME COLUMN x TO xx;
ALTER TABLE rjc_dimension DROP COLUMN spare;
ALTER TABLE rjc_dimension ADD COLUMN later int DEFAULT 3, ALTER COLUMN label SET DEFAULT 'new';
SELECT rjc_differ('rjc_v', 'rjc_m'), rjc_differ('rjc_kv', 'rjc_k');
INSERT INTO rjc VALUES ('2026-01-01 01:00', 3, 3, 4);
CALL refresh_continuous_aggregate('rjc_m', NULL, NULL);
SELECT rjc_differ('rjc_v', 'rjc_m'), rjc_differ('rjc_kv', 'rjc_k');
CREATE FUNCTION rjc_state(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE;
END $$;
SELECT c, rjc_state(c) FROM unnest(ARRAY['ALTER TABLE rjc_dimension DROP COLUMN label', 'ALTER TABLE rjc_dimension ALTER COLUMN id TYPE bigint', 'ALTER TABLE rjc ALTER COLUMN device TYPE bigint', 'ALTER TABLE rjc DROP COLUMN xx', 'DROP TABLE rjc_dimension']) c;
ALTER TABLE rjc RENAME COLUMN device TO dev;
ALTER TABLE rjc RENAME COLUMN xx TO x;
ALTER TABLE rjc_dimension RENAME COLUMN label TO name;
ALTER TABLE rjc_dimension RENAME TO rjc_dim;

-- its owner is nobody special, and may not read what is joined any more
CREATE ROLE regress_rjc_owner;
CREATE ROLE regress_rjc_reader;
GRANT regress_rjc_owner, regress_rjc_reader TO CURRENT_USER;
SET ROLE postgres;
GRANT CREATE ON SCHEMA public TO regress_rjc_owner;
RESET ROLE;
ALTER TABLE rjc OWNER TO regress_rjc_owner;
GRANT SELECT ON rjc_dim TO regress_rjc_owner;
SET ROLE regress_rjc_owner;
CREATE VIEW rjc_rv AS SELECT time_bucket('1 day', time) AS b, d.name, avg(v), count(*) AS n FROM rjc JOIN rjc_dim d ON d.id = dev GROUP BY 1, 2;
CREATE MATERIALIZED VIEW rjc_r WITH (strata.continuous) AS SELECT time_bucket('1 day', time) AS b, d.name, avg(v), count(*) AS n FROM rjc JOIN rjc_dim d ON d.id = dev GROUP BY 1, 2;
GRANT SELECT ON rjc_rv, rjc_r TO regress_rjc_reader;
SELECT rjc_differ('rjc_rv', 'rjc_r');
SET ROLE regress_rjc_reader;
SELECT rjc_differ('rjc_rv', 'rjc_r');
RESET ROLE;
REVOKE SELECT ON rjc_dim FROM regress_rjc_owner;
SET ROLE regress_rjc_reader;
SELECT rjc_state('SELECT FROM rjc_rv'), rjc_state('SELECT FROM rjc_r'), rjc_state('SELECT FROM rjc_dim');
SET ROLE regress_rjc_owner;
SELECT rjc_state('SELECT FROM rjc_rv'), rjc_state('SELECT FROM rjc_r');
-- what is kept needs no such right
INSERT INTO rjc VALUES ('2026-01-01 01:00', 3, 3, 4), ('2026-01-02 01:00', 4, 3, 4);
CALL refresh_continuous_aggregate('rjc_r', NULL, NULL);
RESET ROLE;
GRANT SELECT (id, name) ON rjc_dim TO regress_rjc_owner;
SET ROLE regress_rjc_reader;
SELECT rjc_differ('rjc_rv', 'rjc_r');
RESET ROLE;
-- row security there is that of the view's owner, whatever it asks for
ALTER TABLE rjc_dim ADD COLUMN who name DEFAULT 'regress_rjc_owner';
UPDATE rjc_dim SET who = 'regress_rjc_reader' WHERE id > 3;
CREATE TABLE rjc_seen (id int);
INSERT INTO rjc_seen VALUES (1), (2), (4), (5);
GRANT SELECT ON rjc_seen TO regress_rjc_owner, regress_rjc_reader;
ALTER TABLE rjc_dim ENABLE ROW LEVEL SECURITY;
CREATE POLICY rjc_policy ON rjc_dim USING (who = current_user AND id IN (SELECT s.id FROM rjc_seen s));
PREPARE rjc_p AS SELECT count(*), sum(n) FROM rjc_r;
SET ROLE regress_rjc_owner;
SELECT rjc_differ('rjc_rv', 'rjc_r'), (SELECT string_agg(DISTINCT name, ' ') FROM rjc_r);
EXECUTE rjc_p;
SET ROLE regress_rjc_reader;
SELECT rjc_differ('rjc_rv', 'rjc_r'), (SELECT string_agg(DISTINCT name, ' ') FROM rjc_r);
EXECUTE rjc_p;
SET ROLE regress_rjc_owner;
EXECUTE rjc_p;
INSERT INTO rjc VALUES ('2026-01-01 01:00', 1, 3, 4), ('2026-01-02 01:00', 4, 3, 4);
SELECT rjc_differ('rjc_rv', 'rjc_r');
CALL refresh_continuous_aggregate('rjc_r', NULL, NULL);
SELECT rjc_differ('rjc_rv', 'rjc_r');
-- chunks go: what is joined is still asked
CREATE TABLE rjc_was AS TABLE rjc_rv;
SELECT count(drop_chunks) FROM drop_chunks('rjc', '2026-01-03'::timestamptz);
SELECT rjc_differ('rjc_was', 'rjc_r');
DROP TABLE rjc_was;
RESET ROLE;
DROP POLICY rjc_policy ON rjc_dim;
ALTER TABLE rjc_dim DISABLE ROW LEVEL SECURITY;
DELETE FROM rjc_dim WHERE id = 1;
SELECT count(*) FROM rjc_r WHERE name = 'd1';
INSERT INTO rjc_dim VALUES (1, 'one');
SELECT count(*) > 2 AS back FROM rjc_r WHERE name = 'one';
DEALLOCATE rjc_p;
DROP VIEW rjc_rv;
DROP MATERIALIZED VIEW rjc_r;
DROP VIEW rjc_v, rjc_kv, rjc_ov;
DROP MATERIALIZED VIEW rjc_m, rjc_k, rjc_o;

-- other hypertables and continuous aggregates may be joined: the one whose time makes the buckets is aggregated
CREATE TABLE rjc_events (time timestamptz NOT NULL, dev int, what text);
SELECT FROM create_hypertable('rjc_events', 'time', chunk_time_interval => interval '1 day');
INSERT INTO rjc_events SELECT '2026-01-01'::timestamptz + i * interval '1 hour', i % 5, 'e' || i % 2 FROM generate_series(0, 99) i;
\set def 'SELECT time_bucket(''6 hours'', r.time) AS b, e.what, count(*) AS n, min(e.time) AS first, avg(v) FROM rjc_events e JOIN rjc r USING (dev) GROUP BY 1, 2'
CREATE VIEW rjc_ev AS :def;
CREATE MATERIALIZED VIEW rjc_e WITH (strata.continuous) AS :def;
SELECT source, rjc_differ('rjc_ev', 'rjc_e') FROM strata.rollups WHERE view = 'rjc_e'::regclass;
INSERT INTO rjc_events VALUES ('2026-01-02', 1, 'e3');
INSERT INTO rjc VALUES ('2026-01-05 01:00', 1, 3, 4);
SELECT rjc_differ('rjc_ev', 'rjc_e');
CREATE MATERIALIZED VIEW rjc_daily WITH (strata.continuous) AS SELECT time_bucket('1 day', time) AS b, dev, count(*) AS events FROM rjc_events GROUP BY 1, 2;
\set def 'SELECT time_bucket(''1 day'', r.time) AS b, c.dev, c.events, count(*) AS n FROM rjc r JOIN rjc_daily c ON c.b = time_bucket(''1 day'', r.time) AND c.dev = r.dev GROUP BY 1, 2, 3'
CREATE VIEW rjc_cv AS :def;
CREATE MATERIALIZED VIEW rjc_c WITH (strata.continuous) AS :def;
SELECT source, rjc_differ('rjc_cv', 'rjc_c') FROM strata.rollups WHERE view = 'rjc_c'::regclass;
INSERT INTO rjc_events VALUES ('2026-01-05', 1, 'e3');
SELECT rjc_differ('rjc_cv', 'rjc_c');
CREATE MATERIALIZED VIEW rjc_x WITH (strata.continuous) AS SELECT date_trunc('day', now()) AS b, count(*) FROM rjc r JOIN rjc_events e USING (dev) GROUP BY 1;
-- rows of theirs that are gone are asked for as in any query
ALTER TABLE rjc_events SET (strata.read_archives);
SELECT count(drop_chunks) FROM drop_chunks('rjc_events', '2026-01-03'::timestamptz);
SELECT rjc_state('SELECT FROM rjc_ev'), rjc_state('SELECT FROM rjc_e'), rjc_state('SELECT FROM rjc_c');
ALTER TABLE rjc_events SET (strata.read_archives = false);
SELECT rjc_differ('rjc_ev', 'rjc_e'), rjc_differ('rjc_cv', 'rjc_c');
DROP TABLE rjc_events, rjc_dim, rjc_seen CASCADE;
SELECT count(*) FROM strata.rollups WHERE source = 'rjc'::regclass;
DROP TABLE rjc CASCADE;
SET ROLE postgres;
REVOKE CREATE ON SCHEMA public FROM regress_rjc_owner;
RESET ROLE;
DROP ROLE regress_rjc_owner, regress_rjc_reader;
DROP FUNCTION rjc_differ, rjc_state;
