-- time_bucket against a reference in SQL, its edge cases, and comparisons of buckets.
SET timezone = 'America/New_York';
SET datestyle = 'ISO, YMD';
-- documented examples and default origins
SELECT time_bucket('5 minutes', timestamp '2018-01-01 10:07:42'),
	time_bucket('1 week', timestamp '2018-01-03'), time_bucket('1 month', timestamptz '2018-03-31 23:00+00') AT TIME ZONE 'UTC',
	time_bucket('3 months', date '1999-12-31'), time_bucket('1 day', timestamptz '2018-01-01 23:00') AT TIME ZONE 'UTC';
SELECT time_bucket(10, 43), time_bucket(10, -43), time_bucket(10::smallint, 43::smallint, 5::smallint),
	time_bucket(10::bigint, -43::bigint, 3::bigint), time_bucket(5, 43, -2);
SELECT time_bucket('1 week', timestamp '2018-01-03', timestamp '2000-01-01'),
	time_bucket('5 minutes', timestamp '2018-01-01 10:07:42', interval '2 min'),
	time_bucket('1 day', date '2018-01-03', date '2018-01-02'), time_bucket('7 days', date '2018-01-03', interval '-1 day'),
	time_bucket('1 month', timestamp '2018-01-03', interval '4 days'), time_bucket('2 months', date '2018-02-03', date '2018-01-01');
SELECT time_bucket('1 year', date '2018-03-31', interval '3 months'), time_bucket('1 year', timestamp '2018-04-01', "offset" => interval '3 months'),
	time_bucket('6 months', timestamptz '2018-01-15 04:00+00', "offset" => '-1 month 14 days 4 hours');
SELECT time_bucket('1 day', timestamptz '2018-06-01 03:00+00', 'America/New_York'),
	time_bucket('1 month', timestamptz '2018-06-01 03:00+00', 'America/New_York', origin => '2000-01-01 00:00 America/New_York'),
	time_bucket('1 day', timestamptz '2018-06-01 03:00+00', timezone => 'Asia/Kolkata', "offset" => '6 hours');
-- NULL
SELECT time_bucket(NULL, now()), time_bucket('1 day', NULL::date), time_bucket('1 day', now(), NULL::text), time_bucket(NULL, 1) IS NULL;
-- infinity is its own bucket
SELECT time_bucket('1 day', timestamp 'infinity'), time_bucket('1 month', timestamptz '-infinity'), time_bucket('1 year', date 'infinity'),
	time_bucket('1 day', timestamptz 'infinity', 'Europe/Berlin');
-- wrong widths, origins, offsets
SELECT time_bucket('0 days', now());
SELECT time_bucket('-1 day', now());
SELECT time_bucket('-1 month', now());
SELECT time_bucket(0, 5);
SELECT time_bucket(-1::bigint, 5::bigint);
SELECT time_bucket('1 month 1 day', now());
SELECT time_bucket('1 hour', date '2000-01-01');
SELECT time_bucket('1 month', timestamp '2026-11-22', timestamp '2000-01-02');
SELECT time_bucket('1 day', now()::timestamp, timestamp 'infinity');
SELECT time_bucket('1 day', now(), interval '1 month');
SELECT time_bucket('1 day', date '2000-01-01', interval '1 hour');
SELECT time_bucket('1 day', now(), 'Nowhere/Land');
-- the ends of each type
SELECT time_bucket(32767::smallint, (-32767)::smallint), time_bucket(2147483647, 2147483647), time_bucket(9223372036854775807, 9223372036854775807);
SELECT time_bucket(10::smallint, (-32768)::smallint);
SELECT time_bucket(10, -2147483648);
SELECT time_bucket(10, (-9223372036854775808)::bigint);
SELECT time_bucket(10::bigint, (-9223372036854775807)::bigint, (-9223372036854775808)::bigint), time_bucket(9223372036854775807, 5, 9223372036854775807);
SELECT time_bucket('1 day', timestamp '294276-12-31 23:59:59.999999'), time_bucket('1000 years', date '5874897-12-31');
SELECT time_bucket('1 week', timestamp '4714-11-24 00:00 BC');
SELECT time_bucket('1 month', timestamp '4714-11-24 00:00 BC');
SELECT time_bucket('1 day', timestamp '4714-11-24 00:00 BC'), time_bucket('100000000 days', date '2000-01-10');
SELECT time_bucket('2147483647 days', date '5874897-12-31', date '1900-01-01');
SELECT time_bucket('178956970 years', timestamp '2000-02-01'), time_bucket('106751991 days', timestamp '2000-02-01');
SELECT time_bucket('106751992 days', timestamp '2000-02-01');
-- time:U2: properties of the functions
SELECT DISTINCT provolatile, proparallel FROM pg_proc WHERE proname = 'time_bucket';
-- Random times, from 4700 BC to 200000 AD, against date_bin and calendar arithmetic.
-- Where a bin begins before the origin, date_bin of PostgreSQL 15.6 and 16.2 is a bin too early.
CREATE FUNCTION bin(w interval, ts timestamp, origin timestamp) RETURNS timestamp LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN b + w = ts THEN ts ELSE b END FROM date_bin(w, ts, origin) b
$$;
SELECT setseed(0.4);
CREATE TABLE times AS
	SELECT timestamp '2000-01-01' + interval '1 microsecond' * ((CASE i % 3 WHEN 0 THEN 2e17 WHEN 1 THEN 1e15 ELSE 6e18 END * (random() - CASE WHEN i % 3 = 2 THEN 0.02 ELSE 0.5 END))::bigint) AS ts, i
	FROM generate_series(1, 3000) i;
CREATE TABLE widths AS SELECT w::interval FROM unnest(ARRAY['1 microsecond', '7 ms', '1 s', '17 min', '1 h', '23:59', '1 day', '1 day -00:00:01', '1 week', '30 days', '10000 days']) w;
SELECT count(*) FROM times, widths WHERE time_bucket(w, ts) IS DISTINCT FROM bin(w, ts, '2000-01-03')
	OR time_bucket(w, ts AT TIME ZONE 'UTC') IS DISTINCT FROM bin(w, ts, '2000-01-03') AT TIME ZONE 'UTC'
	OR time_bucket(w, ts, timestamp '2011-11-11 11:11') IS DISTINCT FROM bin(w, ts, '2011-11-11 11:11')
	OR time_bucket(w, ts, interval '-1 day 7 s') IS DISTINCT FROM bin(w, ts - interval '-1 day 7 s', '2000-01-03') + interval '-1 day 7 s';
CREATE FUNCTION m(ts timestamp) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT ((extract(year FROM ts) + CASE WHEN extract(year FROM ts) < 0 THEN 1 ELSE 0 END) * 12 + extract(month FROM ts))::int
$$;
CREATE FUNCTION month_bucket(n int, ts timestamp, origin timestamp DEFAULT '2000-01-01') RETURNS timestamp LANGUAGE sql IMMUTABLE AS $$
	SELECT origin + make_interval(months => (floor((m(ts) - m(origin))::numeric / n) * n)::int)
$$;
SELECT count(*) FROM times, unnest(ARRAY[1, 2, 3, 5, 12, 120, 1200]) n
	WHERE time_bucket(make_interval(months => n), ts) IS DISTINCT FROM month_bucket(n, ts)
	OR time_bucket(make_interval(months => n), ts, timestamp '2013-05-01') IS DISTINCT FROM month_bucket(n, ts, '2013-05-01')
	OR time_bucket(make_interval(months => n), ts, interval '3 days 01:00') IS DISTINCT FROM month_bucket(n, ts - interval '3 days 01:00') + interval '3 days 01:00'
	OR time_bucket(make_interval(months => n), ts::date) IS DISTINCT FROM month_bucket(n, ts)::date;
SELECT count(*) FROM times, unnest(ARRAY[1, 7, 30, 365]) n
	WHERE time_bucket(make_interval(days => n), ts::date) IS DISTINCT FROM bin(make_interval(days => n), ts::date::timestamp, timestamp '2000-01-03')::date;
-- zones: the wall clock's bucket, around both changes of the clock and elsewhere, where that does not begin later than its time (time_zone)
CREATE TABLE zoned AS
	SELECT t AS ts FROM generate_series(timestamptz '2021-03-27 00:00+00', '2021-03-29', '10 min') t
	UNION ALL SELECT t FROM generate_series(timestamptz '2021-10-30 00:00+00', '2021-11-08', '10 min') t
	UNION ALL SELECT ts AT TIME ZONE 'UTC' FROM times WHERE ts BETWEEN '1850-01-01' AND '2100-01-01';
SELECT count(*) > 2000, count(*) FILTER (WHERE b IS NULL OR time_bucket(w, ts, z) <> b AND b <= ts)
	FROM zoned, (VALUES ('15 min'::interval, ''), ('1 h', ''), ('6 h', ''), ('1 day', ''), ('1 week', ''), ('1 month', 'month'), ('1 year', 'year')) w(w, u),
		unnest(ARRAY['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Pacific/Apia', '+03:30']) z,
		LATERAL (SELECT CASE WHEN w >= '1 month' THEN date_trunc(u, ts AT TIME ZONE z) ELSE bin(w, ts AT TIME ZONE z, '2000-01-03') END AT TIME ZONE z AS b OFFSET 0) b;
-- integers
SELECT count(*) FROM generate_series(-300, 300) i, generate_series(1, 40, 3) w, generate_series(-50, 50, 7) o
	WHERE time_bucket(w, i, o) <> floor((i - o)::numeric / w) * w + o OR time_bucket(w::bigint, i::bigint, o::bigint) <> time_bucket(w, i, o)
	OR time_bucket(w::int2, i::int2, o::int2) <> time_bucket(w, i, o);
-- time:U3: Comparisons of a bucket select the same rows however they are executed.
CREATE TABLE cmp (ts timestamptz, t timestamp, d date, i4 int, i8 bigint);
INSERT INTO cmp SELECT x, x AT TIME ZONE 'UTC', (x AT TIME ZONE 'UTC')::date, extract(epoch FROM x)::bigint % 100000, extract(epoch FROM x)::bigint
	FROM generate_series(timestamptz '2020-12-15 00:00+00', '2021-02-15', '37 min') x;
INSERT INTO cmp VALUES (NULL, NULL, NULL, NULL, NULL), ('infinity', 'infinity', 'infinity', 2147483647, 9223372036854775807),
	('-infinity', '-infinity', '-infinity', 0, 0);
CREATE INDEX ON cmp (ts);
CREATE FUNCTION count_cmp(col text, call text, typ text, op text, c text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE a bigint; b bigint; n bigint; p bigint;
BEGIN
	-- as written; hidden from the rewriting; negated (three-valued); c not constant
	EXECUTE format('SELECT count(*) FROM cmp WHERE %s %s %L::%s', call, op, c, typ) INTO a;
	EXECUTE format('SELECT count(*) FROM (SELECT %s AS b FROM cmp OFFSET 0) s WHERE b %s %L::%s', call, op, c, typ) INTO b;
	EXECUTE format('SELECT count(*) FROM cmp WHERE NOT (%s %s %L::%s)', call, op, c, typ) INTO n;
	EXECUTE format('SELECT count(*) FROM cmp, (VALUES (%L::%s)) v(c) WHERE %s %s c', c, typ, call, op) INTO p;
	IF a <> b OR a <> p OR a + n <> (SELECT count(*) FROM cmp) - 1 THEN
		RETURN format('%s %s %s: %s instead of %s (variable %s, negated %s)', call, op, c, a, b, p, n);
	END IF;
	RETURN NULL;
END $$;
SELECT r FROM (VALUES
		('ts', 'time_bucket(''1 day'', ts)', 'timestamptz'), ('ts', 'time_bucket(''7 h'', ts, timestamptz ''2020-01-01 00:17+00'')', 'timestamptz'),
		('ts', 'time_bucket(''1 day'', ts, interval ''5 h'')', 'timestamptz'), ('ts', 'time_bucket(''1 month'', ts)', 'timestamptz'),
		('ts', 'time_bucket(''1 month'', ts, interval ''-3 days'')', 'timestamptz'),
		('t', 'time_bucket(''1 day'', t)', 'timestamp'), ('t', 'time_bucket(''2 months'', t, timestamp ''2020-12-01'')', 'timestamp'),
		('d', 'time_bucket(''5 days'', d)', 'date'), ('d', 'time_bucket(''1 month'', d, interval ''10 days'')', 'date')) q(col, call, typ),
	unnest(ARRAY['<', '<=', '=', '>=', '>', '<>']) op,
	unnest(ARRAY['2021-01-01 00:00+00', '2021-01-01 12:34+00', '2020-12-18 05:00+00', '2021-01-11 00:00+00', '2020-12-29 00:00+00', '1990-01-01', '2030-01-01', 'infinity', '-infinity']) c,
	LATERAL count_cmp(col, call, typ, op, c) r WHERE r IS NOT NULL;
SELECT r FROM (VALUES ('i4', 'time_bucket(1000, i4)', 'int'), ('i4', 'time_bucket(7, i4, 3)', 'int'), ('i8', 'time_bucket(86400::bigint, i8)', 'bigint'), ('i8', 'time_bucket(3600::bigint, i8)', 'int')) q(col, call, typ),
	unnest(ARRAY['<', '<=', '=', '>=', '>']) op, unnest(ARRAY['0', '1000', '1001', '1608163200', '1609459200', '2147483647', '-2147483648']) c,
	LATERAL count_cmp(col, call, typ, op, c) r WHERE r IS NOT NULL;
-- the other way round, BETWEEN, prepared, in a join, in a subquery, wrong widths
SELECT count(*) FROM cmp WHERE '2021-01-01 00:00+00' <= time_bucket('1 day', ts) AND time_bucket('1 day', ts) BETWEEN '2021-01-01 00:00+00' AND '2021-01-02 00:00+00';
SET plan_cache_mode = force_generic_plan;
PREPARE p(interval, timestamptz) AS SELECT count(*) FROM cmp WHERE time_bucket($1, ts) = $2;
EXECUTE p('1 day', '2021-01-01 00:00+00');
EXECUTE p('1 day', '2021-01-01 01:00+00');
EXECUTE p('1 day', NULL);
EXECUTE p('0 days', '2021-01-01 01:00+00');
RESET plan_cache_mode;
SELECT count(*) FROM cmp a LEFT JOIN cmp b ON time_bucket('1 day', b.ts) = a.ts AND b.d IS NOT NULL;
SELECT count(*) FROM (SELECT a.ts FROM cmp a LEFT JOIN cmp b ON (SELECT time_bucket('1 day', b.ts) + interval '0') = a.ts AND b.d IS NOT NULL) s;
SELECT count(*) FROM cmp WHERE EXISTS (SELECT 1 FROM cmp b WHERE time_bucket('1 h', b.ts) = cmp.ts);
SELECT count(*) FROM cmp WHERE time_bucket('1 month 1 day', ts) > '2021-01-01';
SELECT time_bucket('1 month', d) AS b, count(*) FROM cmp GROUP BY 1 HAVING time_bucket('1 month', d) >= '2021-01-01' ORDER BY 1;
-- edges at the ends of the type
CREATE TABLE ends AS SELECT x::timestamp AS t FROM unnest(ARRAY['infinity', '-infinity', '294276-12-31 23:59:59.999999', '294276-12-28', '294276-01-01']) x;
SELECT op, count_ends FROM unnest(ARRAY['<', '<=', '=', '>=', '>']) op, unnest(ARRAY['294276-12-31 23:59:59.999999', '294276-12-30', 'infinity']) c,
	LATERAL (SELECT (xpath('/row/c/text()', query_to_xml(format(
		'SELECT (SELECT count(*) FROM ends WHERE time_bucket(''7 days'', t) %1$s %2$L) - (SELECT count(*) FROM (SELECT time_bucket(''7 days'', t) b FROM ends OFFSET 0) s WHERE b %1$s %2$L) AS c',
		op, c), false, true, '')))[1]::text AS count_ends) x WHERE count_ends <> '0';
-- named arguments, in any order
CREATE TABLE named AS SELECT timestamptz '2026-03-28 00:00Z' + i * interval '17 min' AS t FROM generate_series(1, 400) i;
SELECT count(*) FILTER (WHERE time_bucket('1 h', t) >= '2026-03-29 00:00Z') AS plain,
    (SELECT count(*) FROM named WHERE time_bucket('1 h', ts => t) >= '2026-03-29 00:00Z') AS second,
    (SELECT count(*) FROM named WHERE time_bucket(ts => t, bucket_width => '1 h') >= '2026-03-29 00:00Z') AS turned,
    (SELECT count(*) FROM named WHERE '2026-03-29 00:00Z' <= time_bucket(ts => t, bucket_width => '1 h')) AS swapped,
    (SELECT count(*) FROM named WHERE time_bucket('1 h', ts => t, "offset" => interval '0') >= '2026-03-29 00:00Z') AS with_offset,
    (SELECT count(*) FROM named WHERE time_bucket('1 h', ts => t, origin => timestamptz '2026-03-01 00:00Z') >= '2026-03-29 00:00Z') AS with_origin,
    (SELECT count(*) FROM named WHERE time_bucket('1 h', ts => t, timezone => 'UTC') >= '2026-03-29 00:00Z') AS zoned,
    (SELECT count(*) FROM named WHERE time_bucket(timezone => 'UTC', ts => t, bucket_width => '1 h') >= '2026-03-29 00:00Z') AS zoned_turned FROM named;
SELECT count(*), sum(n) FROM (SELECT time_bucket('1 h', ts => t) AS b, count(*) AS n FROM named GROUP BY 1) s WHERE b >= '2026-03-29 00:00Z';
SELECT count(*), sum(n) FROM (SELECT time_bucket('1 h', ts => t) AS b, count(*) AS n FROM named GROUP BY 1) s WHERE b = '2026-03-29 00:00Z';
DROP TABLE times, widths, zoned, cmp, ends, named;
DROP FUNCTION month_bucket, m, count_cmp;
