-- Several widths of one continuous aggregate, strata.archives: its tiers, what its job does to them, and what is refused.
SET timezone = 'UTC';
SET strata.report_compression = off;
CREATE TABLE roa_clock (now bigint);
INSERT INTO roa_clock VALUES (1000);
CREATE FUNCTION roa_now() RETURNS bigint LANGUAGE sql STABLE SET search_path = public AS 'SELECT now FROM roa_clock';
CREATE TABLE roa (t bigint NOT NULL, dev int, v int);
SELECT FROM create_hypertable('roa', 't', chunk_time_interval => 100);
SELECT set_integer_now_func('roa', 'roa_now');
ALTER TABLE roa SET (strata.orderby = 't');
CREATE TABLE roa_ledger (LIKE roa);
INSERT INTO roa_ledger SELECT i / 8, i % 40, i FROM generate_series(0, 7999) i;
INSERT INTO roa SELECT * FROM roa_ledger;

-- nonsense, by SQLSTATE and words
\set VERBOSITY terse
CREATE FUNCTION roa_try(archives text, width text DEFAULT '10', what text DEFAULT 'count(*), avg(v)') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	EXECUTE format('CREATE MATERIALIZED VIEW roa_x WITH (strata.continuous, strata.archives = %L) AS SELECT time_bucket(%s, t) AS b, dev, %s FROM roa GROUP BY 1, 2 WITH NO DATA',
		archives, width, what);
	RAISE EXCEPTION 'made';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS said = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || SQLERRM || coalesce(': ' || nullif(said, ''), '');
END $$;
SELECT a, roa_try(a) FROM unnest(ARRAY['10', 'raw for 100, 10 for 200, 50 for 300, 100', 'RAW FOR 5,10', '', ',', '10,', '10 for', '10 for ten', 'ten', 'raw', 'raw for 10', 'raw, 10',
	'10, raw for 5', '10 for 100, 20 for 90', '10, 20', '10 for 100, 10 for 200', '10 for 100, 5', '20', '10 for 100, 25', '10 for 5, 20', '0', '-10', '10 for -1', '10 as', '10 for 100 as a b',
	'10 for 100, 20 as "roa A"', '10 for 100, 20 as roa', 'raw as x for 5, 10', '10 hours', '10 for 99999999999999999999', 'raw for 100, 10 for 200 forever', '10 for 100, 20 for 200, 1000000000000']) a;
SELECT roa_try('raw for 100, 10', what => 'array_agg(v)'), roa_try('10 for 100, 20', what => 'array_agg(v)'), roa_try('raw for 100, 10', what => 'count(DISTINCT v)'), roa_try('raw for 100, 10', what => 'stddev(v)');
CREATE MATERIALIZED VIEW roa_x WITH (strata.continuous, strata.tier_of = 'roa') AS SELECT time_bucket(10, t) AS b, count(*) FROM roa GROUP BY 1;
SELECT count(*) FROM strata.archives;

-- made, filled
SELECT setval('_strata.job_id_seq', 6000, false);
CREATE MATERIALIZED VIEW roa_ten (bucket, dev, n, s, a, top) WITH (strata.continuous, strata.segmentby = 'dev', strata.archives = 'raw for 300, 10 for 500, 50 for 700 as roa_fifty, 100') AS
	SELECT time_bucket(10, t), dev, count(*), sum(v), avg(v), max(v) FROM roa GROUP BY 1, 2;
SELECT * FROM strata.archives;
SELECT view_name, materialization_hypertable_name FROM strata.continuous_aggregates ORDER BY 1;
SELECT view, source, covered_from, covered_to, marks FROM strata.rollups ORDER BY view::text;
SELECT job_id, application_name, schedule_interval, proc_schema, proc_name, config, hypertable_name FROM strata.jobs WHERE job_id >= 6000;
\d roa_ten_100
\d roa_fifty_archive
SELECT relname, reloptions FROM pg_class WHERE relname IN ('roa_ten', 'roa_fifty', 'roa_ten_100') ORDER BY 1;

-- each tier is what a ledger of all rows there ever were says
CREATE FUNCTION roa_check() RETURNS TABLE (tier text, n bigint, differences bigint) LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT a.tier AS name, a.width FROM strata.archives a WHERE a.width IS NOT NULL ORDER BY a.level LOOP
		RETURN QUERY EXECUTE format('WITH l AS (SELECT time_bucket(%s::bigint, t), dev, count(*), sum(v), avg(v), max(v) FROM roa_ledger GROUP BY 1, 2)
			SELECT %L, (SELECT count(*) FROM %2$s), count(*) FROM ((TABLE l EXCEPT ALL TABLE %2$s) UNION ALL (TABLE %2$s EXCEPT ALL TABLE l)) x', r.width, r.name);
	END LOOP;
END $$;
SELECT * FROM roa_check();
-- one run: rows go, and the oldest tens; what is left of the others is all there ever was
CALL run_job(6000);
SELECT min(t) FROM roa;
SELECT tier, chunks FROM strata.archives ORDER BY level;
SELECT min(bucket) FROM roa_ten;
SELECT * FROM roa_check() WHERE tier <> 'roa_ten';
SELECT count(*) FILTER (WHERE is_compressed), count(*) FROM strata.chunks WHERE hypertable_name = 'roa_fifty_archive';
CALL run_job(6000);
-- late rows, before and after what rows there are; time goes on
INSERT INTO roa VALUES (5, 1, 7), (555, 2, 8), (705, 1, -5), (999, 4, 100000), (1205, 1, 1), (1210, 2, 2);
INSERT INTO roa_ledger VALUES (5, 1, 7), (555, 2, 8), (705, 1, -5), (999, 4, 100000), (1205, 1, 1), (1210, 2, 2);
SELECT * FROM roa_check() WHERE tier <> 'roa_ten';
UPDATE roa_clock SET now = 1300;
CALL run_job(6000);
SELECT min(t), count(*) FROM roa;
SELECT * FROM roa_check() WHERE tier = 'roa_ten_100';
SELECT tier, chunks FROM strata.archives ORDER BY level;

-- a tier that cannot be refreshed: nothing is dropped, nowhere; then all is
CREATE FUNCTION roa_no() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'no rows of 50 today'; END $$;
ALTER TABLE roa_fifty_archive ADD CONSTRAINT roa_no CHECK (roa_no()) NOT VALID;
INSERT INTO roa SELECT i, 1, i FROM generate_series(1300, 1799) i;
INSERT INTO roa_ledger SELECT i, 1, i FROM generate_series(1300, 1799) i;
UPDATE roa_clock SET now = 1800;
CREATE TEMP TABLE roa_before AS SELECT c FROM show_chunks('roa') c UNION ALL SELECT c FROM strata.archives a, show_chunks(a.hypertable) c WHERE a.level > 0;
CALL run_job(6000);
SELECT count(*) AS dropped FROM roa_before WHERE to_regclass(c::text) IS NULL;
SELECT * FROM roa_check() WHERE tier = 'roa_ten_100';
ALTER TABLE roa_fifty_archive DROP CONSTRAINT roa_no;
CALL run_job(6000);
SELECT min(t) FROM roa;
SELECT * FROM roa_check() WHERE tier = 'roa_ten_100';
-- rows that nothing can be made of stay, and so do archives
CREATE MATERIALIZED VIEW roa_last WITH (strata.continuous) AS SELECT time_bucket(10, t) AS b, array_agg(v) FROM roa GROUP BY 1;
TRUNCATE roa_before;
INSERT INTO roa_before SELECT c FROM show_chunks('roa') c UNION ALL SELECT c FROM strata.archives a, show_chunks(a.hypertable) c WHERE a.level > 0;
UPDATE roa_clock SET now = 2300;
CALL run_job(6000);
SELECT count(*) AS dropped FROM roa_before WHERE to_regclass(c::text) IS NULL;
SELECT problem, object FROM strata.problems WHERE object IN ('roa', 'roa_ten');
DROP MATERIALIZED VIEW roa_last;
CALL run_job(6000);
SELECT count(*) FROM roa;
SELECT * FROM roa_check() WHERE tier = 'roa_ten_100';

-- other tiers: one that is added has what the finer one keeps
SELECT min(bucket) FROM roa_fifty;
ALTER MATERIALIZED VIEW roa_ten SET (strata.archives = 'raw for 300, 10 for 500, 50 for 900, 100 for 2000, 200');
SELECT * FROM strata.archives;
SELECT * FROM roa_check() WHERE tier IN ('roa_ten_100', 'roa_ten_200');
SELECT covered_from, kept_before FROM strata.rollups WHERE view = 'roa_ten_200'::regclass;
CALL run_job(6000);
SELECT * FROM roa_check() WHERE tier IN ('roa_ten_100', 'roa_ten_200');
-- one that is taken away; not while somebody needs it
CREATE VIEW roa_user AS SELECT sum(n) FROM roa_fifty;
ALTER MATERIALIZED VIEW roa_ten SET (strata.archives = 'raw for 300, 10 for 500, 100 for 2000, 200');
DROP VIEW roa_user;
ALTER MATERIALIZED VIEW roa_ten SET (strata.archives = 'raw for 300, 10 for 500, 100 for 2000, 200');
SELECT tier, width, keep FROM strata.archives;
SELECT to_regclass('roa_fifty'), to_regclass('roa_fifty_archive');
ALTER MATERIALIZED VIEW roa_ten SET (strata.archives = 'raw for 300, 10 for 500, 100 for 2000, 200 as other');
ALTER MATERIALIZED VIEW roa_ten SET (strata.archives = 'raw for 300, 20');
ALTER MATERIALIZED VIEW roa_ten SET (strata.archives = 'raw for 300, 10 for 500, 15');
ALTER MATERIALIZED VIEW roa_ten_100 SET (strata.archives = '100');
ALTER MATERIALIZED VIEW roa_ten SET (strata.tier_of = 'x');
DROP MATERIALIZED VIEW roa_ten_100;
CALL run_job(6000);
SELECT * FROM roa_check() WHERE tier IN ('roa_ten_100', 'roa_ten_200');

-- names, schemas and owners go along
CREATE SCHEMA roa_other;
CREATE ROLE roa_owner;
GRANT roa_owner TO CURRENT_USER;
GRANT CREATE, USAGE ON SCHEMA roa_other TO roa_owner;
ALTER MATERIALIZED VIEW roa_ten RENAME TO roa_tens;
ALTER MATERIALIZED VIEW roa_ten_100 SET SCHEMA roa_other;
ALTER MATERIALIZED VIEW roa_tens SET SCHEMA roa_other;
ALTER MATERIALIZED VIEW roa_other.roa_tens OWNER TO roa_owner;
SELECT relname, relkind, relnamespace::regnamespace, pg_get_userbyid(relowner) = 'roa_owner' AS owned FROM pg_class WHERE relname ~ '^roa_ten.*_archive$' OR relname ~ '^roa_ten' AND relkind = 'v' ORDER BY 1;
SELECT tier FROM strata.archives;

-- gone, all of it; not under others' views
CREATE VIEW roa_user AS SELECT sum(n) FROM roa_other.roa_ten_200;
DROP MATERIALIZED VIEW roa_other.roa_tens;
DROP VIEW roa_user;
DROP MATERIALIZED VIEW roa_other.roa_tens;
SELECT relname FROM pg_class WHERE relname ~ '^roa_(ten|fifty)';
SELECT count(*) FROM strata.rollups;
SELECT count(*) FROM strata.jobs WHERE proc_name = 'policy_archives' AND hypertable_name IS NOT NULL;

-- who owns the view and not the table does not have its rows dropped, nor does a job that was added before
CREATE TABLE roa_mine (t bigint NOT NULL, v int);
SELECT FROM create_hypertable('roa_mine', 't', chunk_time_interval => 100);
SELECT set_integer_now_func('roa_mine', 'roa_now');
INSERT INTO roa_mine SELECT i, i FROM generate_series(0, 999) i;
CREATE MATERIALIZED VIEW roa_other.roa_theirs WITH (strata.continuous, strata.archives = '10') AS SELECT time_bucket(10, t) AS b, count(*) AS n FROM roa_mine GROUP BY 1;
SELECT job_id AS roa_job FROM strata.jobs WHERE proc_name = 'policy_archives' AND hypertable_name IN ('roa_theirs', 'roa_theirs_archive') \gset
GRANT SELECT ON roa_mine, roa_clock TO roa_owner;
ALTER MATERIALIZED VIEW roa_other.roa_theirs OWNER TO roa_owner;
SET ROLE roa_owner;
ALTER MATERIALIZED VIEW roa_other.roa_theirs SET (strata.archives = 'raw for 300, 10');
ALTER MATERIALIZED VIEW roa_other.roa_theirs SET (strata.archives = '10 for 9000');
SELECT drop_chunks('roa_mine', 500);
SELECT drop_chunks('roa_other.roa_theirs', -1);
RESET ROLE;
ALTER MATERIALIZED VIEW roa_other.roa_theirs SET (strata.archives = 'raw for 300, 10');
CALL run_job(:roa_job);
SET ROLE roa_owner;
CALL run_job(:roa_job);
RESET ROLE;
SELECT count(*) FROM show_chunks('roa_mine');
SELECT sum(n) FROM roa_other.roa_theirs;
ALTER MATERIALIZED VIEW roa_other.roa_theirs OWNER TO CURRENT_USER;
CALL run_job(:roa_job);
SELECT count(*) FROM show_chunks('roa_mine');
SELECT sum(n) FROM roa_other.roa_theirs;
DROP TABLE roa_mine CASCADE;

-- intervals, zones, months
CREATE TABLE roa_time (time timestamptz NOT NULL, host text, usage float8);
SELECT FROM create_hypertable('roa_time', 'time', chunk_time_interval => interval '1 day');
INSERT INTO roa_time SELECT '2026-03-01 00:00:30'::timestamptz + i * interval '10 minutes', 'h' || i % 3, i FROM generate_series(0, 4499) i;
CREATE FUNCTION roa_try_time(archives text, bucket text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
BEGIN
	EXECUTE format('CREATE MATERIALIZED VIEW roa_x WITH (strata.continuous, strata.archives = %L) AS SELECT %s AS b, host, count(*) FROM roa_time GROUP BY 1, 2 WITH NO DATA',
		archives, bucket);
	RAISE EXCEPTION 'made: %', (SELECT string_agg(tier::text, ', ' ORDER BY level) FROM strata.archives);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS said = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ' ' || SQLERRM || coalesce(': ' || nullif(said, ''), '');
END $$;
SELECT b, a, roa_try_time(a, b) FROM (VALUES
	('raw for 7 days, 1 minute for 90 days, 1 hour for 5 years, 1 day', 'time_bucket(''1 minute'', time)'),
	('60 minutes for 90 days, 1 day for 3 years, 1 week', 'time_bucket(''1 hour'', time)'),
	('1 hour for 90 days, 1 day for 3 years, 1 month for 10 years, 1 year', 'time_bucket(''1 hour'', time, ''Europe/Prague'')'),
	('1 day for 90 days, 1 week for 1 year, 1 month', 'time_bucket(''1 day'', time)'),
	('1 hour for 90 days, 90 minutes', 'time_bucket(''1 hour'', time)'),
	('1 fortnight', 'time_bucket(''14 days'', time)'),
	('5 for 7 days', 'time_bucket(''5 seconds'', time)'),
	('1 hour for infinity, 1 day', 'time_bucket(''1 hour'', time)'),
	('1 day for 90 days, 1 month', 'date_trunc(''day'', time AT TIME ZONE ''UTC'')')) x (a, b);
CREATE MATERIALIZED VIEW roa_hours WITH (strata.continuous, strata.archives = '1 hour for 10 years, 1 day for 20 years as roa_days, 1 month for 100 years as "roa Months"') AS
	SELECT time_bucket('1 hour', time, 'Europe/Prague') AS b, host, avg(usage), min(usage) FROM roa_time GROUP BY 1, 2 HAVING count(*) > 1 ORDER BY 1;
SELECT count(*) FROM ((TABLE roa_days EXCEPT ALL SELECT time_bucket('1 day', time, 'Europe/Prague'), host, avg(usage), min(usage) FROM roa_time GROUP BY 1, 2 HAVING count(*) > 1)
	UNION ALL (SELECT time_bucket('1 month', time, 'Europe/Prague'), host, avg(usage), min(usage) FROM roa_time GROUP BY 1, 2 HAVING count(*) > 1 EXCEPT ALL TABLE "roa Months")) x;
SELECT count(*) > 0 FROM roa_days;
SELECT drop_chunks('roa_time', timestamptz '2026-03-15');
ALTER MATERIALIZED VIEW roa_hours SET (strata.archives = '1 hour for 10 years, 1 day for 20 years, 1 week for 30 years, 1 month for 100 years');
ALTER MATERIALIZED VIEW roa_hours SET (strata.archives = '1 hour for 10 years, 1 day for 20 years, 1 month for 100 years, 3 months');
SELECT count(*) FROM (SELECT host, sum(n) FROM (SELECT host, count(*) AS n, b FROM "roa Months" GROUP BY 1, 3) m GROUP BY 1) x;
SELECT b, host, min FROM "roa_hours_3_months" ORDER BY 1, 2;
-- names as they are quoted elsewhere
CREATE MATERIALIZED VIEW roa_quoted WITH (strata.continuous, strata.archives = '1 hour for 10 years, 1 day for 20 years as "roa ""x"", as y", 1 month as """"') AS SELECT time_bucket('1 hour', time) AS b, count(*) FROM roa_time GROUP BY 1 WITH NO DATA;
SELECT tier FROM strata.archives WHERE continuous_aggregate = 'roa_quoted'::regclass ORDER BY level;
DROP MATERIALIZED VIEW roa_quoted;
SELECT x, roa_try_time('1 hour for 10 years, 1 day as ' || x, 'time_bucket(''1 hour'', time)') FROM unnest(ARRAY['""', '"', '"a', '"a"b"', '"a""', '"a" "b"', 'a"b']) x;
-- an archive whose option was reset is no hypertable any more
CREATE MATERIALIZED VIEW roa_plain WITH (strata.continuous) AS SELECT time_bucket(10, t) AS b, count(*) FROM roa GROUP BY 1;
ALTER TABLE roa_plain_archive RESET (strata.chunk_interval);
ALTER MATERIALIZED VIEW roa_plain SET (strata.archives = '10 for 1000, 100 for 10000');
SELECT add_continuous_aggregate_policy('roa_plain', NULL, 10, interval '1 hour');
DROP MATERIALIZED VIEW roa_plain;
DROP TABLE roa_time CASCADE;
DROP TABLE roa CASCADE;
DROP TABLE roa_ledger, roa_clock;
DROP FUNCTION roa_now, roa_check, roa_try, roa_try_time, roa_no;
DROP SCHEMA roa_other;
DROP ROLE roa_owner;
