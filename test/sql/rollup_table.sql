-- Aggregate queries of a hypertable that rollups answer: the same rows as without, in every state of rows, archive and snapshot.
SET timezone = 'UTC';
SET strata.report_compression = off;
\set VERBOSITY terse
CREATE TABLE rot (time timestamptz NOT NULL, host text, usage float8, n int, price numeric, area float8);
SELECT FROM create_hypertable('rot', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE rot SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO rot SELECT '2026-01-01'::timestamptz + i * interval '1 minute', nullif('h' || h, 'h3'), i % 100, nullif(i, 77), i / 10.0, h / 2 FROM generate_series(0, 5759) i, generate_series(1, 3) h;
SELECT count(compress_chunk(c)) FROM show_chunks('rot', older_than => '2026-01-04'::timestamptz) c;
INSERT INTO rot SELECT t, 'h1', 7, 1, 1, 0 FROM generate_series('2026-01-01 00:30:30'::timestamptz, '2026-01-03', '5 hours') t;
CREATE MATERIALIZED VIEW rot_hour WITH (strata.continuous) AS
	SELECT time_bucket('1 hour', time) AS bucket, host, avg(usage), max(usage) AS top, min(host) AS mh, count(*), sum(n), avg(n) AS an, avg(price) AS ap, count(n) AS cn, stddev(n), last(n, time), count(DISTINCT n) AS d,
		sum(price) FILTER (WHERE n > 100) AS f, bool_and(n > 3) AS b FROM rot GROUP BY 1, 2;
CREATE MATERIALIZED VIEW rot_day WITH (strata.continuous) AS SELECT time_bucket('1 day', time) AS day, count(*), sum(usage) AS s FROM rot WHERE n > 5 GROUP BY 1 HAVING count(*) > 100;
CREATE MATERIALIZED VIEW rot_area WITH (strata.continuous) AS SELECT time_bucket('6 hours', time) AS b, area, count(*), max(time) AS t FROM rot GROUP BY 1, 2;
CREATE FUNCTION rot_check(query text, ordered bool DEFAULT false, OUT rows bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TEMP TABLE rot_with AS SELECT row_number() OVER () AS no, q::text FROM (%s) q', query);
	SET LOCAL strata.enable_archive_rewrite = off;
	EXECUTE format('CREATE TEMP TABLE rot_without AS SELECT row_number() OVER () AS no, q::text FROM (%s) q', query);
	SET LOCAL strata.enable_archive_rewrite = on;
	IF NOT ordered THEN
		UPDATE rot_with SET no = 0;
		UPDATE rot_without SET no = 0;
	END IF;
	SELECT count(*) FROM rot_without INTO rows;
	SELECT count(*) FROM ((TABLE rot_with EXCEPT ALL TABLE rot_without) UNION ALL (TABLE rot_without EXCEPT ALL TABLE rot_with)) x INTO differences;
	DROP TABLE rot_with, rot_without;
END $$;
CREATE FUNCTION rot_all() RETURNS TABLE (query text, rows bigint, differences bigint) LANGUAGE sql AS $$
	SELECT q, (rot_check(q, q ~ 'ORDER BY')).* FROM unnest(ARRAY[
		-- the rollup's groups
		'SELECT time_bucket(''1 hour'', time), host, avg(usage), stddev(n), last(n, time), count(DISTINCT n) FROM rot GROUP BY 1, 2 HAVING max(usage) > 50 ORDER BY 1 DESC, 2 LIMIT 20',
		'SELECT host, time_bucket(''60 minutes'', time) AS b, time_bucket(''1 hour'', time) + interval ''1 s'' AS c, length(host), count(*) + 1 AS n FROM rot WHERE time >= ''2026-01-01 10:10'' AND time <= ''2026-01-03 20:00'' GROUP BY host, b, c',
		-- wider, fewer, none
		'SELECT time_bucket(''1 day'', time) AS b, avg(usage), max(usage), count(*), sum(n), avg(n), avg(price), count(n), sum(price) FILTER (WHERE n > 100), bool_and(n > 3), min(host) FROM rot GROUP BY b',
		'SELECT time_bucket(''3 hours'', time, ''2026-01-01 01:00''::timestamptz) AS b, host, count(*) FROM rot WHERE host IN (''h1'', ''h2'') AND length(host) = 2 GROUP BY b, host',
		'SELECT time_bucket(''1 month'', time), sum(n) FROM rot GROUP BY 1',
		'SELECT time_bucket(''1 day'', time, ''Asia/Kathmandu''), sum(n) FROM rot GROUP BY 1', 'SELECT time_bucket(''1 day'', time, ''Europe/Prague''), sum(n), host IS NULL FROM rot GROUP BY 1, 3',
		'SELECT host, count(*), max(usage) FROM rot WHERE time > ''2026-01-02 03:04:05'' GROUP BY host', 'SELECT count(*), sum(n), avg(price), max(usage) FROM rot',
		'SELECT count(*), sum(n), avg(price), max(usage) FROM rot WHERE host = ''none''', 'SELECT count(*), max(usage) FROM rot WHERE time > ''2027-01-01'' HAVING count(*) > 0',
		'SELECT upper(host) AS u, count(*) FROM rot WHERE time BETWEEN ''2026-01-01 00:30'' AND ''2026-01-04 12:00'' GROUP BY u ORDER BY u',
		'SELECT time_bucket(''1 day'', time), host, rank() OVER (PARTITION BY host ORDER BY sum(n)) FROM rot GROUP BY 1, 2',
		'SELECT DISTINCT count(*) FROM rot GROUP BY time_bucket(''1 hour'', time), host', 'SELECT host FROM rot GROUP BY host',
		'SELECT time_bucket_gapfill(''12 hours'', time) AS b, host, locf(avg(usage)) FROM rot WHERE time >= ''2025-12-31'' AND time < ''2026-01-06'' GROUP BY 1, 2',
		-- the other rollup: its condition is the query's, too
		'SELECT time_bucket(''2 days'', time), count(*), sum(usage) FROM rot WHERE n > 5 GROUP BY 1', 'SELECT time_bucket(''2 days'', time), count(*), sum(usage) FROM rot WHERE n > 5 AND host IS NOT NULL GROUP BY 1',
		-- bounds that are no constants
		'SELECT host, count(*) FROM rot WHERE time > now() - interval ''500 years'' AND time < clock_timestamp() GROUP BY 1', 'SELECT host, count(*) FROM rot WHERE time > now() - interval ''500 years'' AND time <= ''2026-01-04 01:00''::text::timestamptz GROUP BY 1',
		'SELECT count(*) FROM rot WHERE time > NULL', 'SELECT count(*) FROM rot WHERE time < ''infinity'' AND time >= ''-infinity''', 'SELECT count(*) FROM rot WHERE time = ''2026-01-01''', 'SELECT count(*) FROM rot WHERE time > ''2026-01-02''::date',
		'SELECT time_bucket(''1 hour'', time), count(*) FROM rot WHERE time_bucket(''1 day'', time) = ''2026-01-02'' GROUP BY 1',
		-- in other queries
		'SELECT * FROM (SELECT time_bucket(''1 day'', time) AS b, sum(n) AS s FROM rot GROUP BY b) x WHERE b > ''2026-01-01''', 'SELECT (SELECT sum(n) FROM rot WHERE host = ''h'' || g) FROM generate_series(1, 4) g',
		'WITH c AS MATERIALIZED (SELECT host, sum(n) AS s FROM rot GROUP BY host) SELECT * FROM c UNION ALL SELECT host, sum(n) FROM rot WHERE time < ''2026-01-02'' GROUP BY host',
		-- what a rollup does not have
		'SELECT time_bucket(''90 minutes'', time), count(*) FROM rot GROUP BY 1', 'SELECT time_bucket(''30 minutes'', time), count(*) FROM rot GROUP BY 1', 'SELECT time_bucket(''1 day'', time), stddev(n) FROM rot GROUP BY 1',
		'SELECT host, sum(usage * 2) FROM rot GROUP BY 1', 'SELECT host, count(*) FROM rot WHERE n > 7 GROUP BY 1', 'SELECT area, count(*) FROM rot GROUP BY 1', 'SELECT count(*) FROM rot WHERE extract(hour FROM time) = 3',
		'SELECT host, usage, count(*) FROM rot GROUP BY 1, 2', 'SELECT host, count(*) FROM rot GROUP BY ROLLUP (1)', 'SELECT tableoid::regclass, count(*) FROM rot GROUP BY 1']) q
$$;
SELECT * FROM rot_all();
-- late rows, changed and deleted ones, by this transaction and after it
BEGIN;
INSERT INTO rot VALUES ('2026-01-01 05:10:10', 'h1', 1000, 1000, 1000);
SELECT max(usage), count(*) FROM rot WHERE time < '2026-01-02' AND host = 'h1';
SAVEPOINT s;
DELETE FROM rot WHERE time >= '2026-01-02 03:00' AND time < '2026-01-02 06:30';
UPDATE rot SET time = time + interval '1 day', host = 'h9' WHERE time = '2026-01-01 07:07';
SELECT sum(differences) FROM rot_all();
ROLLBACK TO s;
SELECT sum(differences) FROM rot_all();
COMMIT;
SELECT sum(differences) FROM rot_all();
DELETE FROM rot WHERE time >= '2026-01-02 03:00' AND time < '2026-01-02 06:30';
SELECT sum(differences) FROM rot_all();
CALL refresh_continuous_aggregate('rot_hour', '2026-01-02', '2026-01-03');
SELECT sum(differences) FROM rot_all();
-- more ranges than a plan takes
INSERT INTO rot SELECT t, 'h1', 7, 1, 1 FROM generate_series('2026-01-01 00:20:20'::timestamptz, '2026-01-04 23:00', '2 hours') t;
SELECT sum(differences) FROM rot_all();

-- plans that are kept
SET plan_cache_mode = force_generic_plan;
PREPARE rot_p (timestamptz) AS SELECT sum(n), max(usage), count(*) FROM rot WHERE time >= $1;
PREPARE rot_n AS SELECT sum(n), max(usage), count(*) FROM rot WHERE time < now() AND host = 'h1';
EXECUTE rot_p('2026-01-01');
EXECUTE rot_p('2026-01-03 05:05');
EXECUTE rot_n;
INSERT INTO rot VALUES ('2026-01-01 09:10:10', 'h1', 2000, 1000, 1000), ('2026-03-01 09:10:10', 'h1', 3000, 1000, 1000);
EXECUTE rot_p('2026-01-01');
EXECUTE rot_n;
CALL refresh_continuous_aggregate('rot_hour', NULL, NULL);
INSERT INTO rot VALUES ('2026-03-01 09:10:10', 'h1', 4000, 1000, 1000);
EXECUTE rot_p('2026-02-01');
EXECUTE rot_n;
SET plan_cache_mode = force_custom_plan;
EXECUTE rot_p('2026-01-01');
EXECUTE rot_p('2026-01-03 05:05');
EXECUTE rot_p(NULL);
-- a bound that moves: the plan holds as long as its ranges are inside
CREATE FUNCTION rot_since() RETURNS timestamptz STABLE LANGUAGE sql AS $$ SELECT current_setting('rot.since')::timestamptz $$;
SET plan_cache_mode = force_generic_plan;
SET rot.since = '2026-01-01 10:30';
PREPARE rot_s AS SELECT sum(n), count(*) FROM rot WHERE time >= rot_since() AND host = 'h2';
EXECUTE rot_s;
SET rot.since = '2026-01-01 10:59';
EXECUTE rot_s;
SET rot.since = '2026-01-01 11:01';
EXECUTE rot_s;
SELECT sum(n), count(*) FROM (SELECT * FROM rot OFFSET 0) x WHERE time >= rot_since() AND host = 'h2';
SET rot.since = '2025-01-01 11:01';
EXECUTE rot_s;
SELECT sum(n), count(*) FROM (SELECT * FROM rot OFFSET 0) x WHERE time >= rot_since() AND host = 'h2';
DEALLOCATE ALL;
RESET plan_cache_mode;
-- rights: those of the query; columns, too
CREATE ROLE rot_reader;
GRANT rot_reader TO CURRENT_USER;
GRANT SELECT (time, host) ON rot TO rot_reader;
SET ROLE rot_reader;
SELECT host, count(*) FROM rot GROUP BY host ORDER BY 1;
SELECT host, max(usage) FROM rot GROUP BY host;
RESET ROLE;
ALTER TABLE rot ENABLE ROW LEVEL SECURITY;
CREATE POLICY rot_own ON rot USING (host = 'h1');
SET ROLE rot_reader;
SELECT host, count(*) FROM rot GROUP BY host ORDER BY 1;
RESET ROLE;
SELECT sum(differences) FROM rot_all();
ALTER TABLE rot DISABLE ROW LEVEL SECURITY;
-- an archive that somebody has written to does not come back by a forced refresh from itself
SET strata.enable_archive_rewrite = on;
UPDATE rot_hour_archive SET count = 7;
CALL refresh_continuous_aggregate('rot_hour', NULL, NULL, force => true);
SELECT sum(differences) FROM rot_all();
RESET strata.enable_archive_rewrite;
DROP TABLE rot CASCADE;
DROP FUNCTION rot_check, rot_all, rot_since;
DROP ROLE rot_reader;
-- an archive that a view was made of is a table of its own: what is above has columns of the view
CREATE TABLE roz (time timestamptz NOT NULL, h text, v float8);
SELECT FROM create_hypertable('roz', 'time', chunk_time_interval => interval '1 day');
INSERT INTO roz SELECT '2024-01-01'::timestamptz + g * interval '10 min', chr(97 + g % 3), g % 17 FROM generate_series(0, 1000) g;
CREATE MATERIALIZED VIEW roz_hour WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, h, count(*) AS n FROM roz GROUP BY 1, 2 HAVING count(*) > 1;
CREATE MATERIALIZED VIEW roz_day WITH (strata.continuous) AS SELECT time_bucket('1 day', b) AS b, count(*) AS n FROM roz_hour GROUP BY 1;
CREATE MATERIALIZED VIEW roz_avg WITH (strata.continuous) AS SELECT time_bucket('1 hour', time) AS b, avg(v) AS a, count(*) AS n FROM roz GROUP BY 1;
CREATE MATERIALIZED VIEW roz_avg_day WITH (strata.continuous) AS SELECT time_bucket('1 day', b) AS b, max(a) AS m, sum(n) AS n FROM roz_avg GROUP BY 1;
INSERT INTO roz VALUES ('2024-01-03 00:05', 'a', 100);
DO $$
DECLARE
	q text;
	yes text;
	nay text;
BEGIN
	FOREACH q IN ARRAY ARRAY['SELECT count(*) FROM roz_hour_archive', 'SELECT time_bucket(''1 day'', b) AS b, count(*) FROM roz_hour_archive GROUP BY 1', 'SELECT time_bucket(''1 day'', b) AS b, max(sum_v) FROM roz_avg_archive GROUP BY 1',
		'SELECT time_bucket(''1 day'', b) AS b, max(a), sum(n) FROM roz_avg GROUP BY 1', 'SELECT time_bucket(''1 day'', b) AS b, count(*) FROM roz_hour GROUP BY 1', 'TABLE roz_day', 'TABLE roz_avg_day'] LOOP
		EXECUTE format('SELECT md5(string_agg(q::text, '','' ORDER BY q::text)) FROM (%s) q', q) INTO yes;
		SET LOCAL strata.enable_archive_rewrite = off;
		EXECUTE format('SELECT md5(string_agg(q::text, '','' ORDER BY q::text)) FROM (%s) q', q) INTO nay;
		RESET strata.enable_archive_rewrite;
		IF yes IS DISTINCT FROM nay THEN
			RAISE NOTICE 'differs: %', q;
		END IF;
	END LOOP;
END $$;
SELECT count(*) > 200 FROM roz_hour_archive;
SELECT max(sum_v) > 50 FROM roz_avg_archive;
DROP TABLE roz CASCADE;
