-- Comparisons of time_bucket with a time zone: chunks are pruned, answers stay.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;
CREATE TABLE zone (ts timestamptz, v int);
SELECT created FROM create_hypertable('zone', 'ts', chunk_time_interval => interval '7 days');
INSERT INTO zone SELECT t, 1 FROM generate_series(timestamptz '2024-09-12', '2024-11-20', '20 min') t;
INSERT INTO zone SELECT t, 1 FROM generate_series(timestamptz '2011-12-28', '2012-01-02', '1 hour') t;
ANALYZE zone;
EXPLAIN (COSTS OFF) SELECT count(*) FROM zone WHERE time_bucket('1 day', ts, 'Europe/Berlin') = '2024-10-15 00:00 Europe/Berlin';
EXPLAIN (COSTS OFF) SELECT count(*) FROM zone WHERE '2024-11-12' < time_bucket('1 day', ts, 'Europe/Berlin');
EXPLAIN (COSTS OFF) SELECT count(*) FROM zone WHERE time_bucket('1 month', ts, timezone => 'Europe/Berlin') <= '2011-12-01' AND v = 1;
-- time:U5: not under NOT, where NULL and false differ, and not with what is not constant
EXPLAIN (COSTS OFF) SELECT count(*) FROM zone WHERE NOT (time_bucket('1 day', ts, NULL::text) >= '2030-01-01') AND ts < '2012-01-01';
CREATE FUNCTION zone_check(width interval, zone text, c timestamptz, OUT selected text, OUT same bool) LANGUAGE plpgsql AS $$
DECLARE
	op text;
	pruned bigint;
	whole bigint;
BEGIN
	same := true;
	FOREACH op IN ARRAY '{<,<=,=,>=,>}'::text[] LOOP
		PERFORM set_config('strata.enable_time_pruning', 'on', true);
		EXECUTE format('SELECT count(*) FROM zone WHERE time_bucket(%L::interval, ts, %L) %s %L', width, zone, op, c) INTO pruned;
		PERFORM set_config('strata.enable_time_pruning', 'off', true);
		EXECUTE format('SELECT count(*) FROM zone WHERE time_bucket(%L::interval, ts, %L) %s %L', width, zone, op, c) INTO whole;
		same := same AND pruned = whole;
		selected := concat_ws(' ', selected, pruned);
	END LOOP;
END $$;
SELECT width, zone, c, r.* FROM (VALUES ('1 hour'::interval), ('90 min'), ('1 day'), ('1 month')) w(width),
	(VALUES ('Europe/Berlin', timestamptz '2024-10-27 01:00+00'), ('America/New_York', '2024-11-03 04:00+00'), ('Pacific/Apia', '2011-12-30 10:00+00'), ('Pacific/Apia', '2011-12-01 10:00+00'), ('Asia/Kolkata', 'infinity')) z(zone, c),
	zone_check(width, zone, c) r;
DROP FUNCTION zone_check;
DROP TABLE zone;
