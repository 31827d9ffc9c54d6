-- Functions of a time at the clock of a zone that the query names, by ranges of time in which they are the same: answers are heap's around changes of clocks.
SET client_min_messages = error;
SET timezone = 'America/St_Johns';
SET datestyle = 'ISO, YMD';
CREATE TABLE st (ts timestamptz, l timestamp, host int, v int) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE st_heap (LIKE st) USING heap;
-- around changes of 2006 and 2024, at odd offsets, and far away
INSERT INTO st_heap SELECT t, t AT TIME ZONE 'UTC', i % 5, i FROM generate_series(0, 5999) i, LATERAL (SELECT CASE i % 6 WHEN 0 THEN timestamptz '2006-10-28 20:00+00' WHEN 1 THEN '2024-03-09 22:00+00' WHEN 2 THEN '2024-03-30 12:00+00'
	WHEN 3 THEN '2024-10-26 22:00+00' WHEN 4 THEN '2024-04-06 08:00+00' ELSE '2011-12-29 20:00+00' END + (i / 6) * interval '2 minutes 7.35 seconds' AS t) t;
INSERT INTO st_heap VALUES ('infinity', 'infinity', 1, -1), ('-infinity', '-infinity', 2, -2), (NULL, NULL, 3, -3), ('1850-06-01 00:00:01+00', '1850-06-01', 4, -4), ('0044-03-15 12:00+00 BC', '0044-03-15 BC', 1, -5), ('2300-07-01 12:00+00', '2300-07-01', 2, -6),
	('2500-07-01 12:00+00', '2500-07-01', 0, -7);
INSERT INTO st SELECT * FROM st_heap WHERE v % 20 <> 3;
SELECT count(compress_chunk('st')) FROM (SELECT) s;
INSERT INTO st SELECT * FROM st_heap WHERE v % 20 = 3;
ANALYZE st;

CREATE FUNCTION differences(OUT n bigint, OUT query text, OUT differ bigint) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	zone text;
	e text;
BEGIN
	n := 0;
	FOREACH zone IN ARRAY ARRAY['Europe/Berlin', 'America/New_York', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia', 'Asia/Kathmandu', 'UTC', 'EST', 'MSK', '+03:30', 'EST5EDT', 'america/havana'] LOOP
		FOREACH e IN ARRAY ARRAY[
			'date_trunc(''day'', ts AT TIME ZONE ''Z'')', 'date_trunc(''hour'', ts AT TIME ZONE ''Z'')', 'date_trunc(''week'', ts AT TIME ZONE ''Z'') AT TIME ZONE ''Z''', 'date_trunc(''day'', ts, ''Z'')', 'date_trunc(''minute'', ts, ''Z'')', 'date_trunc(''month'', ts, ''Z'')',
			'extract(hour FROM ts AT TIME ZONE ''Z'')', 'date_part(''dow'', ts AT TIME ZONE ''Z'')', '(ts AT TIME ZONE ''Z'')::date', 'to_char(ts AT TIME ZONE ''Z'', ''YYYY-MM-DD HH24:MI'')', 'to_char(ts AT TIME ZONE ''Z'', ''Day HH12 AM'')', 'to_char(ts, ''YYYY HH24 TZ OF'')', 'to_char(ts, ''SSSS'')',
			'to_char(l, ''IYYY-IW FF3'')', 'to_char(l, ''Mon DD HH24'')', 'extract(hour FROM ts AT TIME ZONE ''Z'') * 100 + extract(minute FROM ts AT TIME ZONE ''Z'')', 'extract(hour FROM ts AT TIME ZONE ''Z'') - extract(hour FROM ts)', 'extract(hour FROM ts AT TIME ZONE ''Z'') - extract(hour FROM ts AT TIME ZONE ''Asia/Tokyo'')',
			'CASE WHEN extract(dow FROM ts AT TIME ZONE ''Z'') IN (0, 6) THEN ''weekend'' WHEN to_char(ts, ''HH24'') < ''12'' THEN ''am'' END', 'extract(day FROM l AT TIME ZONE ''Z'')', 'time_bucket(''1 day'', ts, ''Z'')', 'time_bucket(''1 hour'', ts, ''Z'')', 'time_bucket(''20 minutes'', ts, ''Z'')', 'time_bucket(''1 month'', ts, ''Z'')',
			'time_bucket(''7 hours'', ts, ''Z'')', 'time_bucket(''1 day'', ts, ''Z'', origin => ''2020-01-01 05:00+00'')', 'time_bucket(''1 day'', ts, ''Z'', "offset" => ''2 hours'')']
		LOOP
			n := n + 1;
			query := replace('SELECT ' || e || ' AS k, count(*), sum(v) FROM t GROUP BY 1', 'Z''', zone || '''');
			EXECUTE 'SELECT count(*) FROM ((' || replace(query, 'FROM t ', 'FROM st ') || ' EXCEPT ALL ' || replace(query, 'FROM t ', 'FROM st_heap ') || ') UNION ALL ('
				|| replace(query, 'FROM t ', 'FROM st_heap ') || ' EXCEPT ALL ' || replace(query, 'FROM t ', 'FROM st ') || ')) d' INTO differ;
			RETURN NEXT;
		END LOOP;
	END LOOP;
END $$;
SELECT count(*), sum(differ) FROM differences();
SELECT query, differ FROM differences() WHERE differ <> 0;
SELECT count(*) FROM st WHERE extract(hour FROM ts AT TIME ZONE 'Europe/Berlin') BETWEEN 9 AND 16;
SELECT count(*) FROM st_heap WHERE extract(hour FROM ts AT TIME ZONE 'Europe/Berlin') BETWEEN 9 AND 16;
SELECT count(*) FILTER (WHERE date_trunc('day', ts, 'Asia/Tokyo') = '2024-03-31 00:00+09') FROM st;
SELECT count(*) FILTER (WHERE date_trunc('day', ts, 'Asia/Tokyo') = '2024-03-31 00:00+09') FROM st_heap;

-- abbreviations are zones too, and lie where PostgreSQL says
SELECT z, time_bucket('1 day', t, z) = date_trunc('day', t, z) AS bucket FROM unnest(ARRAY['EST', 'PDT', 'JST', 'MSK', 'UTC', 'z', 'ACDT', 'Asia/Tokyo', '<X>-9']) z, (VALUES (timestamptz '2024-03-01 03:00+00')) v(t);
SELECT b AT TIME ZONE 'EST' AS b, n FROM (SELECT time_bucket_gapfill('1 day', t, 'EST', start => '2024-03-01 03:00+00', finish => '2024-03-02 03:00+00') AS b, count(*) AS n FROM (VALUES (timestamptz '2024-03-01 03:00+00')) v(t) GROUP BY 1) s ORDER BY 1;

-- the zone of the session changes between two executions; errors are raised when there are rows
PREPARE p AS SELECT to_char(ts, 'YYYY-MM-DD HH24 TZ') AS k, count(*) FROM st WHERE host = 1 AND ts BETWEEN '2024-03-30 20:00+00' AND '2024-03-31 03:00+00' GROUP BY 1 ORDER BY 1 LIMIT 3;
EXECUTE p;
SET timezone = 'Europe/Berlin';
EXECUTE p;
SELECT date_trunc('day', ts AT TIME ZONE 'Mars/Olympus') AS k, count(*) FROM st WHERE v > 1000000 GROUP BY 1;
SELECT date_trunc('day', ts AT TIME ZONE 'Mars/Olympus') AS k, count(*) FROM st GROUP BY 1;
SELECT time_bucket('1 day', ts, 'Mars/Olympus') AS k, count(*) FROM st WHERE v > 1000000 GROUP BY 1;
SELECT time_bucket('1 day', ts, 'Mars/Olympus') AS k, count(*) FROM st GROUP BY 1;
SELECT time_bucket('-1 day', ts, 'Europe/Berlin') AS k, count(*) FROM st WHERE isfinite(ts) GROUP BY 1;
SELECT date_trunc('days', ts, 'Europe/Berlin') AS k, count(*) FROM st WHERE v < 0 GROUP BY 1 ORDER BY 1;
SELECT date_trunc('fortnight', ts, 'Europe/Berlin') AS k, count(*) FROM st GROUP BY 1;
DROP FUNCTION differences;
DROP TABLE st, st_heap;
