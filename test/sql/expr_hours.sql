-- Keys that are the same for an hour or a day: of batches within one, of others and of late rows, around changes of clocks; answers are heap's.
SET client_min_messages = error;
SET timezone = 'America/St_Johns';
SET datestyle = 'ISO, YMD';
SET strata.batch_rows = 100;
CREATE TABLE eh (ts timestamptz NOT NULL, l timestamp, host int, v int) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE eh_heap (LIKE eh) USING heap;
-- 100 rows of a host are 15 minutes, in some of which clocks change, by an hour, by half of one, or by a day
INSERT INTO eh_heap SELECT t, t AT TIME ZONE 'UTC', i % 2, i FROM generate_series(0, 9999) i, LATERAL (SELECT CASE i / 2000 WHEN 0 THEN timestamptz '2006-10-29 00:00+00' WHEN 1 THEN '2024-03-31 00:05+00'
	WHEN 2 THEN '2024-11-03 02:00+00' WHEN 3 THEN '2024-04-06 14:00+00' ELSE '2011-12-30 09:30+00' END + (i % 2000) * interval '4.35 seconds' AS t) t;
INSERT INTO eh_heap SELECT 'infinity', NULL, 2, -g FROM generate_series(1, 100) g;
INSERT INTO eh_heap SELECT '-infinity', '-infinity', 3, -g FROM generate_series(1, 100) g;
INSERT INTO eh_heap SELECT '0044-03-15 12:00+00 BC', '0044-03-15 BC', 4, -g FROM generate_series(1, 100) g;
INSERT INTO eh_heap SELECT timestamptz '2300-07-01 12:00+00' + g * interval '1 second', '2300-07-01', 5, -g FROM generate_series(1, 100) g;
INSERT INTO eh SELECT * FROM eh_heap WHERE v % 40 <> 3;
SELECT count(compress_chunk('eh')) FROM (SELECT) s;
INSERT INTO eh SELECT * FROM eh_heap WHERE v % 40 = 3;
DELETE FROM eh WHERE v % 50 = 7;
DELETE FROM eh_heap WHERE v % 50 = 7;
ANALYZE eh, eh_heap;
CREATE FUNCTION eh_answer(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	EXECUTE 'SELECT string_agg(x::text, '';'' ORDER BY x::text) FROM (' || query || ') AS x' INTO answer;
	RETURN answer;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION eh_differ(OUT n int, OUT zone text, OUT query text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	e text;
	form text;
BEGIN
	n := 0;
	FOREACH zone IN ARRAY ARRAY['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia', 'Asia/Kathmandu', 'UTC'] LOOP
		PERFORM set_config('timezone', zone, true);
		FOREACH e IN ARRAY ARRAY['extract(hour FROM ts)', 'extract(dow FROM ts), extract(hour FROM ts)', 'date_part(''hour'', ts)', 'extract(minute FROM l)', 'extract(hour FROM ts)::int % 4', 'to_char(ts, ''YYYY-MM-DD HH24 TZ'')', 'to_char(ts, ''Dy'')', 'ts::date',
			'date_trunc(''day'', ts AT TIME ZONE ''Asia/Tokyo'')', 'date_trunc(''hour'', ts, ''Australia/Lord_Howe'')', 'host, extract(day FROM ts AT TIME ZONE ''Pacific/Apia'')', 'CASE WHEN extract(hour FROM ts) < 12 THEN ''am'' END', 'coalesce(extract(hour FROM ts), -1)',
			'10 / (extract(hour FROM ts)::int - 3)', 'extract(hour FROM l) + extract(hour FROM ts)', 'extract(quarter FROM ts) IS NULL', 'extract(second FROM ts) > 30, extract(doy FROM ts)'] LOOP
			FOREACH form IN ARRAY ARRAY['SELECT %s, count(*), sum(v), min(l) FROM eh GROUP BY %s', 'SELECT %s, count(*) FROM eh WHERE v %% 3 = 1 GROUP BY %s', 'SELECT %s, sum(v) FILTER (WHERE host = 1) FROM eh WHERE host < 2 AND ts > ''2012-01-01Z'' GROUP BY %s',
				'SELECT DISTINCT %s FROM eh WHERE v > 10', 'SELECT %s, count(DISTINCT v %% 7) FROM eh GROUP BY %s', 'SELECT %s FROM eh WHERE v > 20000 GROUP BY %s'] LOOP
				n := n + 1;
				-- keys by number, of which there may be two
				query := format(form, e, CASE WHEN e ~ '^(host|extract.dow|extract.second)' THEN '1, 2' ELSE '1' END);
				IF eh_answer(query) IS DISTINCT FROM eh_answer(replace(query, 'FROM eh', 'FROM eh_heap')) THEN
					RETURN NEXT;
				END IF;
			END LOOP;
		END LOOP;
	END LOOP;
	zone := 'queries';
	query := '-';
	RETURN NEXT;
END $$;
SELECT * FROM eh_differ();
-- batches within an hour: their times are not decoded
SELECT eh_answer('SELECT 10 / (extract(hour FROM ts)::int - 20) FROM eh WHERE ts < ''2007-01-01Z'' AND isfinite(ts) AND host < 2 GROUP BY 1');
PREPARE p AS SELECT extract(hour FROM ts) AS h, count(*) FROM eh WHERE host = 1 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3;
SET plan_cache_mode = force_generic_plan;
SET timezone = 'UTC';
EXECUTE p;
SET timezone = 'Asia/Kathmandu';
EXECUTE p;
-- times in no order, whose results are met again and again
RESET plan_cache_mode;
CREATE TABLE eu (LIKE eh) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'v');
CREATE TABLE eu_heap (LIKE eh) USING heap;
INSERT INTO eu_heap SELECT CASE WHEN i % 997 = 5 THEN 'infinity' WHEN i % 991 = 5 THEN timestamptz '1880-01-01Z' ELSE timestamptz '2023-10-01Z' + (hashint4(i) & 1048575) * interval '41 seconds' END,
	CASE WHEN i % 13 <> 5 THEN timestamp '1999-12-20' + (hashint4(i) & 65535) * interval '997 seconds' END, i % 3, i FROM generate_series(1, 6000) AS i;
INSERT INTO eu SELECT * FROM eu_heap WHERE v % 10 <> 3;
SELECT count(compress_chunk('eu')) FROM (SELECT) s;
INSERT INTO eu SELECT * FROM eu_heap WHERE v % 10 = 3;
ANALYZE eu, eu_heap;
CREATE FUNCTION eu_differ(OUT n int, OUT zone text, OUT query text) RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
	e text;
	form text;
	part text;
BEGIN
	n := 0;
	FOREACH zone IN ARRAY ARRAY['Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu'] LOOP
		PERFORM set_config('timezone', zone, true);
		FOREACH part IN ARRAY ARRAY['minute', 'hour', 'dow', 'isodow', 'day', 'month', 'week', 'doy', 'quarter', 'year'] LOOP
			FOREACH e IN ARRAY ARRAY['extract(@ FROM ts)', 'date_part(''@'', l), host', 'coalesce(extract(@ FROM l), -1)', 'extract(@ FROM ts)::int % 4, extract(@ FROM ts) + extract(hour FROM ts)',
				'to_char(l, ''YYYY TMMonth HH24''), extract(@ FROM l AT TIME ZONE ''Asia/Tokyo'')', 'date_trunc(''hour'', ts), extract(@ FROM ts AT TIME ZONE ''America/St_Johns'')'] LOOP
				FOREACH form IN ARRAY ARRAY['SELECT %1$s, count(*), sum(v) FROM eu GROUP BY %2$s', 'SELECT %1$s FROM eu WHERE v < 500', 'SELECT * FROM eu WHERE row(%1$s) IN (SELECT %1$s FROM eu WHERE v IN (7, 8))',
					'SELECT p, (SELECT count(*) FROM eu WHERE extract(@ FROM l) + p = 5) FROM generate_series(0, 2) AS p'] LOOP
					n := n + 1;
					query := replace(format(form, e, CASE WHEN e ~ ', .*(FROM|host)' AND e !~ '^coalesce' THEN '1, 2' ELSE '1' END), '@', part);
					IF eh_answer(query) IS DISTINCT FROM eh_answer(replace(query, 'FROM eu', 'FROM eu_heap')) THEN
						RETURN NEXT;
					END IF;
				END LOOP;
			END LOOP;
		END LOOP;
	END LOOP;
	zone := 'queries';
	query := '-';
	RETURN NEXT;
END $$;
SELECT * FROM eu_differ();
DROP FUNCTION eu_differ, eh_differ, eh_answer;
DROP TABLE eh, eh_heap, eu, eu_heap;
