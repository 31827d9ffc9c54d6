-- Buckets of a time zone's wall clock, around changes of the clock in 40 zones and
-- with 20 widths: b <= t, b is its own bucket, b never falls, b is not far from t.  These
-- together say that buckets neither overlap nor leave gaps.  Gap filling gives the same
-- buckets.  PGOPTIONS='-c strata_test.zone_changes=6 -c strata_test.zone_from=1968-01-01' has more changes a zone, since then.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SELECT coalesce(nullif(current_setting('strata_test.zone_changes', true), ''), '1') AS nchanges,
	coalesce(nullif(current_setting('strata_test.zone_from', true), ''), '2004-01-01') AS from \gset
CREATE TABLE zone_name (zone text);
INSERT INTO zone_name SELECT unnest(ARRAY['Africa/Cairo', 'Africa/Casablanca', 'Africa/El_Aaiun', 'Africa/Monrovia', 'America/Adak', 'America/Asuncion',
	'America/Caracas', 'America/Chicago', 'America/Havana', 'America/New_York', 'America/Nuuk', 'America/Santiago', 'America/Sao_Paulo',
	'America/Scoresbysund', 'America/St_Johns', 'Antarctica/Troll', 'Asia/Amman', 'Asia/Beirut', 'Asia/Damascus', 'Asia/Gaza', 'Asia/Kathmandu',
	'Asia/Kolkata', 'Asia/Pyongyang', 'Asia/Tehran', 'Atlantic/Azores', 'Australia/Adelaide', 'Australia/Lord_Howe', 'Australia/Sydney',
	'Europe/Berlin', 'Europe/Dublin', 'Europe/London', 'Europe/Moscow', 'Pacific/Apia', 'Pacific/Chatham', 'Pacific/Kiritimati', 'Pacific/Kwajalein',
	'Pacific/Norfolk', 'MSK', 'EST5EDT', '+03:30']);
CREATE TABLE width (w interval, origin timestamptz);
INSERT INTO width SELECT w::interval, '2020-02-17 00:30+00' FROM unnest(ARRAY['7 s', '1 min', '5 min', '15 min', '20 min', '30 min', '40 min', '45 min', '1 hour', '90 min', '2 hours', '3 hours',
	'6 hours', '7 hours', '12 hours', '1 day', '2 days', '1 week', '1 month', '1 year']) w;
-- Where the clock changes: to the hour by days, then to the minute.
CREATE FUNCTION utc_offset(t timestamptz, zone text) RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT t AT TIME ZONE zone - t AT TIME ZONE 'UTC' $$;
CREATE TABLE change AS
	WITH day AS (SELECT zone, d, utc_offset(d, zone) AS o, lead(utc_offset(d, zone)) OVER (PARTITION BY zone ORDER BY d) AS next
			FROM zone_name, generate_series(timestamptz :'from', date :'from' + 4500 * :nchanges, '1 day') d),
		picked AS (SELECT zone, d, o, row_number() OVER (PARTITION BY zone ORDER BY md5(zone || d)) AS n FROM day WHERE o <> next)
	SELECT zone, min(m) AS at FROM picked, generate_series(d, d + interval '1 day', '1 min') m WHERE n <= :nchanges AND utc_offset(m, zone) <> o GROUP BY zone, d;
SELECT count(DISTINCT zone) > 30 AS many FROM change;
CREATE TABLE moment AS
	SELECT zone, t FROM change, generate_series(-60, 60) i, LATERAL (SELECT at + i * interval '3 min 17 s' AS t) t
	UNION SELECT zone, at + i * interval '30 min' + j * interval '1 us' FROM change, generate_series(-60, 60) i, generate_series(-1, 0) j
	UNION SELECT zone, timestamptz '1850-01-01' + i * interval '498 days 05:07:11.3' FROM zone_name, generate_series(1, 200) i;
CREATE FUNCTION bucket(variant int, w interval, t timestamptz, zone text, origin timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE variant WHEN 0 THEN time_bucket(w, t, zone) WHEN 1 THEN time_bucket(w, t, zone, origin => origin)
		WHEN 2 THEN time_bucket(w, t, zone, "offset" => interval '-1 hour -45 min') ELSE time_bucket(w, t, zone, origin, interval '1 day 00:15') END
$$;
CREATE FUNCTION check_zone(z text, OUT n bigint, OUT later bigint, OUT unstable bigint, OUT falls bigint, OUT far bigint) LANGUAGE sql AS $$
	SELECT count(*), count(*) FILTER (WHERE b > t), count(*) FILTER (WHERE bucket(variant, w, b, z, origin) <> b),
		count(*) FILTER (WHERE b < before),
		count(*) FILTER (WHERE t >= b + w + greatest(least(w, interval '1 day'), interval '0') + CASE WHEN w > '27 days' THEN interval '4 days' ELSE '0' END)
	FROM (SELECT variant, w, origin, t, b, lag(b) OVER (PARTITION BY variant, w ORDER BY t) AS before
		FROM moment, width, generate_series(0, 3) variant, LATERAL (SELECT bucket(variant, w, t, z, origin) AS b OFFSET 0) b WHERE zone = z) s
$$;
SELECT count(*), sum(n) > 1000000 AS many, sum(later) AS later, sum(unstable) AS unstable, sum(falls) AS falls, sum(far) AS far FROM zone_name, check_zone(zone);
-- Gap filling: the buckets of every minute.
CREATE FUNCTION check_fill(z text, from_time timestamptz, to_time timestamptz, OUT nwidths bigint, OUT nbuckets bigint, OUT ndifferent bigint) LANGUAGE sql AS $$
	SELECT count(DISTINCT w), count(*), count(*) FILTER (WHERE given.b IS NULL OR filled.b IS NULL)
	FROM (SELECT DISTINCT w, time_bucket(w, t, z) AS b FROM width, generate_series(from_time, to_time - interval '1 min', '1 min') t WHERE w >= '1 min') given
	FULL JOIN (SELECT w, f.b FROM width, LATERAL (
			SELECT time_bucket_gapfill(width.w, t, z, from_time, to_time) AS b, count(*) FROM (VALUES (from_time)) v(t) GROUP BY 1) f WHERE w >= '1 min') filled USING (w, b)
$$;
SELECT sum(nwidths) > 300 AS many, sum(nbuckets) > 10000 AS many_buckets, sum(ndifferent) AS different
	FROM change, LATERAL (SELECT at - interval '4 h' AS f, at + interval '5 h' AS t) r, check_fill(zone, f, t)
	WHERE mod(extract(epoch FROM at AT TIME ZONE zone)::bigint, 60) = 0 AND at >= '1972-06-01' ;
-- The same of the variants without a zone, at random times and near the edges of buckets.
SELECT setseed(0.5);
CREATE FUNCTION check_plain(w interval, OUT n bigint, OUT wrong bigint) LANGUAGE sql AS $$
	WITH t AS (SELECT timestamp '2000-01-01' + i * interval '1 us' AS t FROM (SELECT ((random() - 0.5) * 1e17)::bigint AS i FROM generate_series(1, 100)) r
			UNION ALL SELECT timestamp '1999-11-30' + i * interval '11 h 59 min 59.999999 s' FROM generate_series(0, 200) i UNION ALL SELECT timestamp '2024-02-27' + i * interval '6 h' FROM generate_series(0, 40) i),
		b(variant, t, b, again) AS (
			SELECT 1, t, time_bucket(w, t), time_bucket(w, time_bucket(w, t)) FROM t
			UNION ALL SELECT 2, t, time_bucket(w, t, timestamp '2011-05-31 17:01'), time_bucket(w, time_bucket(w, t, timestamp '2011-05-31 17:01'), timestamp '2011-05-31 17:01') FROM t
			UNION ALL SELECT 3, t, time_bucket(w, t, interval '-100 days 01:01'), time_bucket(w, time_bucket(w, t, interval '-100 days 01:01'), interval '-100 days 01:01') FROM t
			UNION ALL SELECT 4, t, time_bucket(w, t AT TIME ZONE 'UTC', timestamptz '2011-05-31 17:01+00') AT TIME ZONE 'UTC', time_bucket(w, t, timestamp '2011-05-31 17:01') FROM t
			UNION ALL SELECT 5, t, time_bucket(w, t AT TIME ZONE 'UTC', 'UTC', "offset" => interval '1 day 3 h') AT TIME ZONE 'UTC', time_bucket(w, t, interval '1 day 3 h') FROM t
			UNION ALL SELECT 6, t::date, time_bucket(w, t::date), time_bucket(w, time_bucket(w, t::date)) FROM t WHERE w >= '1 day'
			UNION ALL SELECT 7, t::date, time_bucket(w, t::date, date '2011-05-31'), time_bucket(w, time_bucket(w, t::date, date '2011-05-31'), date '2011-05-31') FROM t WHERE w >= '1 day'
			UNION ALL SELECT 8, t::date, time_bucket(w, t::date, interval '-40 days'), time_bucket(w, time_bucket(w, t::date, interval '-40 days'), interval '-40 days') FROM t WHERE w >= '1 day'
			UNION ALL SELECT 9, t, time_bucket(w, t, interval '5 months 40 days'), time_bucket(w, time_bucket(w, t, interval '5 months 40 days'), interval '5 months 40 days') FROM t WHERE extract(month FROM w) + extract(year FROM w) > 0)
	SELECT count(*), count(*) FILTER (WHERE b > t OR b <> again OR b < before OR t >= b + w + CASE WHEN w >= '1 month' THEN interval '3 days' ELSE '0' END)
		FROM (SELECT *, lag(b) OVER (PARTITION BY variant ORDER BY t) AS before FROM b) s
$$;
SELECT count(*), sum(n) > 30000 AS many, sum(wrong) AS wrong FROM unnest(ARRAY['7 us', '1 s', '7 s', '1 min', '5 min', '7 min', '15 min', '1 hour', '90 min', '5 hours', '12 hours', '1 day', '2 days', '1 week', '10 days', '37 days',
	'1 month', '2 months', '5 months', '1 year', '10 years']::interval[]) w, check_plain(w);
DROP FUNCTION check_plain;
-- What TimescaleDB answers since 2.25: each of the two hours is a bucket, an offset is a length of time.
SELECT t, time_bucket('1 hour', t, 'America/New_York', '2000-01-01 00:00 America/New_York'::timestamptz) AS hour,
	time_bucket('2 hours', t, 'America/New_York') AS two_hours, time_bucket('1 day', t, 'America/New_York') AS day
	FROM generate_series(timestamptz '2024-11-03 03:30+00', '2024-11-03 08:30+00', '1 hour') t;
SELECT t, time_bucket('1 hour', t, 'America/New_York', "offset" => '30 min') AS hour, time_bucket('2 hours', t, 'America/New_York') AS two_hours
	FROM generate_series(timestamptz '2024-03-10 05:15+00', '2024-03-10 09:15+00', '1 hour') t;
SELECT t AT TIME ZONE 'Asia/Amman' AS local, time_bucket('1 day', t, 'Asia/Amman', "offset" => '15 min') AT TIME ZONE 'Asia/Amman' AS day
	FROM generate_series(timestamptz '2021-03-25 21:30+00', '2021-03-25 22:30+00', '15 min') t;
SELECT t, time_bucket('30 s', t, 'Europe/Berlin', "offset" => '-15 s') AS half_minute
	FROM unnest(ARRAY['2025-10-26 01:59:50+02', '2025-10-26 02:00:20+02', '2025-10-26 02:59:50+02', '2025-10-26 02:00:10+01']::timestamptz[]) t;
-- a midnight that comes twice or never, a day that never was, and the day of a local date
SELECT z, count(*) AS hours, min(t) AT TIME ZONE z AS first_hour, b AT TIME ZONE z AS day FROM (VALUES ('Atlantic/Azores', timestamptz '2024-10-26'), ('America/Sao_Paulo', '2018-11-03'), ('Pacific/Apia', '2011-12-29')) v(z, s),
	generate_series(s + interval '12 h', s + interval '2 days 12 h', '1 hour') t, LATERAL time_bucket('1 day', t, z) b GROUP BY z, b ORDER BY z, b;
SELECT count(*) FROM generate_series(timestamptz '2004-01-01', '2030-01-01', '1 h') t, unnest(ARRAY['Atlantic/Azores', 'America/Sao_Paulo', 'Pacific/Apia', 'America/Havana', 'Asia/Beirut', 'Europe/Berlin']) z
	WHERE (time_bucket('1 day', t, z) AT TIME ZONE z)::date <> (t AT TIME ZONE z)::date;
-- months start on their first day, wherever in a month the origin is
SELECT time_bucket('2 months', timestamptz '2024-04-15', 'Europe/Berlin', origin => '2024-02-17 13:00+00') AT TIME ZONE 'Europe/Berlin' AS zoned,
	time_bucket('2 months', timestamp '2024-04-15', timestamp '2024-03-17 13:00'), time_bucket('1 year', date '2024-04-15', date '2000-06-30');
SELECT time_bucket('1 day', now(), 'Nowhere/Land');
SELECT time_bucket('1 day', timestamptz '294276-12-31 23:59:59+00', 'Asia/Tokyo');
SELECT time_bucket('1 day', timestamptz '4714-11-24 00:00+00 BC', 'America/Chicago');
SELECT time_bucket('1 hour', timestamptz '294276-12-30 23:59:59+00', 'Europe/Berlin'), time_bucket('200000 years', timestamptz '2024-01-01', 'Europe/Berlin');
-- Groups, conditions and gaps over heap, and over a hypertable with rows in both halves.
CREATE TABLE zone_heap (ts timestamptz NOT NULL, host int, v int);
INSERT INTO zone_heap SELECT t, i % 3, i FROM (SELECT t, row_number() OVER () AS i FROM (SELECT generate_series(timestamptz '2024-10-20', '2024-11-10', '7 min')
	UNION ALL SELECT generate_series(timestamptz '2024-03-25', '2024-04-10', '11 min')) s(t)) s;
CREATE TABLE zone_hyper (LIKE zone_heap);
SELECT created FROM create_hypertable('zone_hyper', 'ts', chunk_time_interval => interval '5 days');
ALTER TABLE zone_hyper SET (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO zone_hyper SELECT * FROM zone_heap WHERE v % 5 <> 0;
SELECT count(compress_chunk(c)) > 5 AS compressed FROM show_chunks('zone_hyper') c;
INSERT INTO zone_hyper SELECT * FROM zone_heap WHERE v % 5 = 0;
CREATE FUNCTION same(query text, OUT rows bigint, OUT different bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('SELECT count(*), count(*) FILTER (WHERE h IS NULL OR s IS NULL) FROM (SELECT h::text, row_number() OVER (PARTITION BY h::text) n FROM (%s) h) h FULL JOIN (SELECT s::text, row_number() OVER (PARTITION BY s::text) n FROM (%s) s) s ON h::text = s::text AND h.n = s.n',
		format(query, 'zone_heap'), format(query, 'zone_hyper')) INTO rows, different;
END $$;
SELECT count(*), min(rows) > 0 AS some, sum(different) AS different FROM unnest(ARRAY['UTC', 'Europe/Berlin', 'America/New_York', 'Atlantic/Azores', 'Australia/Lord_Howe', 'Asia/Beirut']) z, unnest(ARRAY['30 min', '1 hour', '90 min', '2 hours', '1 day', '1 week', '1 month']) w,
	unnest(ARRAY['', ', "offset" => interval ''45 min''', ', origin => timestamptz ''2020-01-03 00:30+00''']) rest,
	LATERAL (SELECT format('time_bucket(%L, ts, timezone => %L%s)', w, z, rest) AS b) b,
	unnest(ARRAY[
		'SELECT ' || b || ' AS b, count(*), sum(v), min(ts), max(ts), last(v, ts) FROM %s GROUP BY 1 ORDER BY 1',
		'SELECT host, ' || b || ' AS b, count(*), avg(v) FROM %s GROUP BY 1, 2 ORDER BY 2 DESC, 1 LIMIT 20',
		'SELECT count(*), sum(v) FROM %s WHERE ' || b || ' >= timestamptz ''2024-10-27 00:00+00''',
		'SELECT count(*), sum(v) FROM %s WHERE ' || b || ' < timestamptz ''2024-11-03 06:00+00'' AND ' || b || ' > timestamptz ''2024-03-31 00:00+00''',
		'SELECT count(*), sum(v) FROM %s WHERE ' || b || ' = timestamptz ''2024-10-27 00:00+00''  OR ' || b || ' <= timestamptz ''2024-03-31 01:00+00''']) q, same(q);
SELECT count(*), min(rows) > 0 AS some, sum(different) AS different FROM unnest(ARRAY['Europe/Berlin', 'America/New_York', 'Atlantic/Azores', 'Australia/Lord_Howe', 'Asia/Beirut']) z, unnest(ARRAY['30 min', '90 min', '1 day', '1 month']) w,
	same(format('SELECT host, time_bucket_gapfill(%L, ts, %L) AS b, count(*), locf(max(v)) FROM %%s WHERE ts >= ''2024-10-26 12:00+00'' AND ts < ''2024-11-05 00:00+00'' AND v %%%% 7 < 2 GROUP BY 1, 2', w, z));
DROP TABLE zone_name, width, change, moment, zone_heap, zone_hyper;
DROP FUNCTION utc_offset, bucket, check_zone, check_fill, same;
