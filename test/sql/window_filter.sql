-- Conditions of a query around window functions are tried on columns; lead() and lag() of sorted rows and of others: the same as of a heap.
SET client_min_messages = error;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE wf (ts timestamptz NOT NULL, k text, i int, s smallint, f float8, b bigint, u timestamptz, v interval, t text, ok bool, id int);
SELECT count(*) FROM create_hypertable('wf', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE wf SET (strata.segmentby = 'k', strata.orderby = 'ts');
CREATE TABLE wf_h (LIKE wf);
INSERT INTO wf_h SELECT timestamptz '2020-01-01Z' + g * interval '40 seconds' + (g / 600) * interval '1 hour', nullif('k' || g % 7, 'k3'), nullif(g * 7 % 50, 21), CASE WHEN g % 11 <> 0 THEN g % 30 END,
	CASE g % 97 WHEN 3 THEN NULL WHEN 5 THEN 'NaN' WHEN 7 THEN '-0' WHEN 8 THEN 0 WHEN 9 THEN 'Infinity' ELSE hashint4(g) / 1e3 END, hashint8(g)::bigint * 1000003,
	CASE g WHEN 1700 THEN timestamptz 'infinity' WHEN 1800 THEN '-infinity' ELSE timestamptz '2020-01-01Z' + hashint4(g) * interval '1 second' END,
	CASE WHEN g % 13 > 0 THEN make_interval(months => g % 3 - 1, days => g % 41 - 20, secs => hashint4(g) / 1000) END,
	CASE WHEN g % 19 > 0 THEN left(md5((g % 40)::text), g % 4) END, g % 5 < 2, g FROM generate_series(0, 3599) AS g;
INSERT INTO wf SELECT * FROM wf_h WHERE id % 40 <> 9;
SELECT count(compress_chunk(c)) FROM show_chunks('wf') AS c;
INSERT INTO wf SELECT * FROM wf_h WHERE id % 40 = 9;
ANALYZE wf, wf_h;
CREATE VIEW wf_steps AS SELECT id, k, i, ts - lag(ts) OVER w AS gap, lead(i) OVER w AS n FROM wf WINDOW w AS (PARTITION BY i ORDER BY ts, id);
CREATE VIEW wf_h_steps AS SELECT id, k, i, ts - lag(ts) OVER w AS gap, lead(i) OVER w AS n FROM wf_h WINDOW w AS (PARTITION BY i ORDER BY ts, id);
CREATE FUNCTION wf_answer(query text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM set_config('strata.enable_window_filter', CASE way WHEN 'all' THEN 'off' ELSE 'on' END, true);
	PERFORM set_config('strata.enable_windows', CASE way WHEN 'off' THEN 'off' ELSE 'on' END, true);
	PERFORM set_config('strata.enable_vector_sort', CASE way WHEN 'unsorted' THEN 'off' ELSE 'on' END, true);
	EXECUTE 'SELECT string_agg(x::text, '';'') FROM (' || CASE way WHEN 'heap' THEN regexp_replace(query, '\mwf(_steps)?\M', 'wf_h\1', 'g') ELSE query END || ') AS x' INTO answer;
	RETURN coalesce(answer, '-');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION wf_differ() RETURNS TABLE (query text, ways text) LANGUAGE plpgsql AS $$
DECLARE
	template text;
	clause text;
BEGIN
	FOREACH template IN ARRAY ARRAY[
		-- conditions on what functions say
		'SELECT id, gap FROM (SELECT id, ts - lag(ts) OVER w AS gap FROM wf WINDOW w AS (%s)) AS x WHERE gap > ''20 minutes'' ORDER BY id',
		'SELECT id FROM (SELECT id, ts - lag(ts) OVER w AS gap FROM wf WINDOW w AS (%s)) AS x WHERE gap IS NULL OR gap > ''1 hour'' OR gap < ''40 seconds'' ORDER BY id',
		'SELECT id FROM (SELECT id, lead(ts, 2) OVER w - ts AS gap FROM wf WINDOW w AS (%s)) AS x WHERE gap BETWEEN ''30 minutes'' AND ''0.1 days'' AND gap <> ''1 hour'' ORDER BY id',
		'SELECT id, v FROM (SELECT id, lag(v) OVER w AS v FROM wf WINDOW w AS (%s)) AS x WHERE v >= ''-1 mon 15 days'' AND v <= ''30 days'' AND v <> ''1 mon'' ORDER BY id',
		'SELECT id FROM (SELECT id, v, lead(v) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE v > l OR v = ''1 mon'' OR l IS DISTINCT FROM v AND l < ''-10 days'' ORDER BY id',
		'SELECT id, d FROM (SELECT id, f - lag(f) OVER w AS d FROM wf WINDOW w AS (%s)) AS x WHERE d > 1e6 OR d = 0 ORDER BY id',
		'SELECT id, l, n FROM (SELECT id, lag(f, 3, ''NaN'') OVER w AS l, row_number() OVER w AS n FROM wf WINDOW w AS (%s)) AS x WHERE l = ''NaN'' OR n %% 50 = 0 ORDER BY id',
		'SELECT id, l FROM (SELECT id, s, lag(s, 2, s) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE s - l > 3 OR s IS NULL ORDER BY id',
		'SELECT id, t, l FROM (SELECT id, t, lag(t) OVER w AS l, lead(t, 8, ''none'') OVER w AS n FROM wf WINDOW w AS (%s)) AS x WHERE l = t OR n = ''none'' AND length(t) > 1 ORDER BY id',
		'SELECT id, a, b FROM (SELECT id, first_value(id) OVER w AS a, first_value(t) OVER w AS b, ok, lead(ok) OVER w AS o FROM wf WINDOW w AS (%s)) AS x WHERE ok AND NOT o OR o IS NULL ORDER BY id',
		'SELECT id, CASE WHEN l > 20 THEN l - i ELSE 0 END FROM (SELECT id, i, lag(i, 4) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE CASE WHEN l IS NULL THEN i > 40 ELSE l IN (1, 2, 30) END ORDER BY id',
		'SELECT id, lead(id, 1000) OVER w AS a, lead(id, 999, -1) OVER w AS b, lag(id, 1000) OVER w AS c FROM wf WINDOW w AS (%s) ORDER BY id',
		'SELECT id, k, l FROM (SELECT id, k, lag(k) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE k <> l ORDER BY id',
		-- conditions that end a partition: nothing is evaluated for the other rows
		'SELECT id, n FROM (SELECT id, row_number() OVER w AS n FROM wf WINDOW w AS (%s)) AS x WHERE n <= 3 ORDER BY id',
		'SELECT id, q FROM (SELECT id, 10 / (row_number() OVER w - 5) AS q, rank() OVER w AS n, lag(i) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE n < 5 AND l > 3 ORDER BY id',
		'SELECT id, q FROM (SELECT id, 10 / (row_number() OVER w - 5) AS q, rank() OVER w AS n FROM wf WINDOW w AS (%s)) AS x WHERE n < 6 ORDER BY id',
		'SELECT id, t FROM (SELECT id, t, dense_rank() OVER w AS n, rank() OVER w AS r FROM wf WINDOW w AS (%s)) AS x WHERE 2 > n AND r = 1 AND 10 / (id - 3599) < 0 ORDER BY id',
		'SELECT id, n, d FROM (SELECT id, rank() OVER w AS n, dense_rank() OVER w AS d FROM wf WINDOW w AS (%s)) AS x WHERE n > 40 AND d %% 2 = 0 ORDER BY id',
		-- of all rows the first ones, and those that functions look ahead to
		'SELECT * FROM (SELECT id, lead(id, 7, -1) OVER w AS a, lag(i) OVER w AS l, first_value(t) OVER w AS t, row_number() OVER w AS n FROM wf WINDOW w AS (%s)) AS x WHERE n <= 30 ORDER BY id',
		'SELECT * FROM (SELECT id, lead(v) OVER w AS v, rank() OVER w AS r, row_number() OVER w AS n FROM wf WINDOW w AS (%s)) AS x WHERE 12::smallint > n AND n <> 5 AND r < 9 ORDER BY id',
		'SELECT * FROM (SELECT id, t, row_number() OVER w AS n FROM wf WHERE s > 3 WINDOW w AS (%s)) AS x WHERE n = 1 ORDER BY id',
		'SELECT * FROM (SELECT id, row_number() OVER w AS n FROM wf WINDOW w AS (%s)) AS x WHERE n <= -3::bigint ORDER BY id',
		'SELECT count(*), sum(n) FROM (SELECT id, row_number() OVER w AS n, lead(id) OVER w FROM wf WINDOW w AS (%s)) AS x WHERE n <= 9223372036854775807',
		'SELECT * FROM (SELECT id, n + id AS s FROM (SELECT id, row_number() OVER w AS n, sum(i) OVER w AS i FROM wf WINDOW w AS (%s)) AS x WHERE n < 4 LIMIT 5) AS x ORDER BY id',
		'SELECT * FROM (SELECT id, row_number() OVER w AS n, count(*) OVER (PARTITION BY k) AS c FROM wf WINDOW w AS (%s)) AS x WHERE n < 4 ORDER BY id',
		'SELECT y.a, x.* FROM (VALUES (0), (3), (-1), (NULL), (48)) AS y (a) CROSS JOIN LATERAL (SELECT id, n FROM (SELECT id, row_number() OVER w AS n FROM wf WINDOW w AS (%s)) AS z WHERE n <= y.a OFFSET 0) AS x ORDER BY 1, 2',
		'SELECT id, n FROM (SELECT wf.id, row_number() OVER w AS n FROM wf JOIN generate_series(1, 2000, 3) AS g (id) USING (id) WINDOW w AS (%s)) AS x WHERE n <= 5 ORDER BY id',
		-- errors, of rows that pass or do not
		'SELECT id, n, d FROM (SELECT id, row_number() OVER w AS n, 10 / (id - 3599) AS d FROM wf WINDOW w AS (%s)) AS x WHERE n <= 5 ORDER BY id',
		'SELECT id, d FROM (SELECT id, u - lag(u) OVER w AS d FROM wf WINDOW w AS (%s)) AS x WHERE d > ''10 days'' ORDER BY id',
		'SELECT id, d FROM (SELECT id, lag(id) OVER w AS l, u - lag(u) OVER w AS d FROM wf WINDOW w AS (%s)) AS x WHERE l < 100 ORDER BY id',
		'SELECT id, d FROM (SELECT id, b * 9 + lag(b) OVER w AS d FROM wf WINDOW w AS (%s)) AS x WHERE d > 5 ORDER BY id',
		'SELECT id, d FROM (SELECT id, b + lag(b) OVER w AS d FROM wf WINDOW w AS (%s)) AS x WHERE d * 2147 > 5 ORDER BY id',
		'SELECT id, d FROM (SELECT id, 10 / (i - lag(i) OVER w) AS d FROM wf WINDOW w AS (%s)) AS x WHERE d > 1 ORDER BY id',
		'SELECT id FROM (SELECT id, i, lead(i) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE 10 / (i - l) > 1 ORDER BY id',
		'SELECT id FROM (SELECT id, i, lead(i) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE i <> l AND 10 / (i - l) > 1 ORDER BY id',
		'SELECT id, m FROM (SELECT id, t::int AS m, lag(i) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE l = 5 ORDER BY id',
		-- what stands between, beside and above
		'SELECT x.id, n FROM (SELECT id, lag(id) OVER w AS l, row_number() OVER w AS n FROM wf WINDOW w AS (%s) ORDER BY id LIMIT 500) AS x WHERE l > 100 ORDER BY id',
		'SELECT id FROM (SELECT id, lag(i) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE l > (SELECT min(i) + 40 FROM wf) ORDER BY id',
		'SELECT id FROM (SELECT id, lag(i) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE l > 45 AND random() >= 0 ORDER BY id',
		'SELECT l, count(*), sum(id) FROM (SELECT id, lag(i) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE l > 45 OR l IS NULL GROUP BY 1 ORDER BY 1',
		'SELECT id, m FROM (SELECT id, lag(l) OVER (PARTITION BY s ORDER BY id) AS m FROM (SELECT id, s, lag(i) OVER w AS l FROM wf WINDOW w AS (%s)) AS x WHERE l > 20) AS y WHERE m < 30 ORDER BY id',
		'SELECT * FROM (SELECT id, lag(i) OVER w AS l FROM wf WINDOW w AS (%1$s) UNION ALL SELECT -id, lead(i) OVER w FROM wf WINDOW w AS (%1$s)) AS x WHERE l = 5 ORDER BY id',
		'SELECT y.a, x.* FROM (VALUES (3), (48)) AS y (a) CROSS JOIN LATERAL (SELECT id, l FROM (SELECT id, lag(i) OVER w AS l FROM wf WHERE s > y.a %% 10 WINDOW w AS (%s)) AS z WHERE l = y.a) AS x ORDER BY 1, 2'
	] LOOP
		FOREACH clause IN ARRAY ARRAY['PARTITION BY i ORDER BY ts, id', 'PARTITION BY k ORDER BY ts', 'ORDER BY u DESC, id', 'PARTITION BY t ORDER BY s NULLS FIRST, id', 'PARTITION BY f, i ORDER BY id'] LOOP
			query := format(template, clause);
			SELECT string_agg(way, ', ') INTO ways FROM unnest(ARRAY['on', 'all', 'off', 'unsorted']) AS way WHERE wf_answer(query, way) IS DISTINCT FROM wf_answer(query, 'heap');
			IF ways IS NOT NULL THEN
				RETURN NEXT;
			END IF;
		END LOOP;
	END LOOP;
	-- peers, and differences of times elsewhere
	FOREACH query IN ARRAY ARRAY[
		'SELECT id, rank() OVER w, dense_rank() OVER w, count(*) OVER (PARTITION BY i) FROM wf WINDOW w AS (PARTITION BY i ORDER BY s) ORDER BY id',
		'SELECT id, rank() OVER (PARTITION BY ok ORDER BY f), dense_rank() OVER (PARTITION BY ok ORDER BY f) FROM wf ORDER BY id',
		'SELECT id, r FROM (SELECT id, rank() OVER (PARTITION BY i ORDER BY t DESC NULLS LAST, ok) AS r FROM wf) AS x WHERE r <= 4 ORDER BY id',
		'SELECT id, d FROM (SELECT id, dense_rank() OVER (PARTITION BY s ORDER BY k, ok) AS d FROM wf) AS x WHERE d <= 2 ORDER BY id',
		'SELECT id, rank() OVER (PARTITION BY i), row_number() OVER (ORDER BY id) FROM wf ORDER BY id',
		'SELECT id, rank() OVER (ORDER BY v), dense_rank() OVER (ORDER BY v) FROM wf ORDER BY id',
		'SELECT id, n, gap FROM wf_steps WHERE gap > ''50 minutes'' AND k = ''k1'' ORDER BY id',
		'SELECT k, count(*) FILTER (WHERE u - ts > v), count(*) FILTER (WHERE ts - u <= v), max(ts - ts), min(v) FROM wf WHERE u > ''-infinity'' AND u < ''infinity'' GROUP BY k ORDER BY k',
		'SELECT count(*) FILTER (WHERE u - ts > ''1 mon'') FROM wf',
		'SELECT date_trunc(''hour'', ts) AS h, sum(CASE WHEN v = ''1 mon'' THEN 1 WHEN v < ''-15 days'' THEN 2 WHEN v IS DISTINCT FROM ''30 days'' THEN 3 END), count(nullif(v, ''5 days'')) FROM wf GROUP BY 1 ORDER BY 1',
		'SELECT id FROM wf WHERE ts - ''2020-01-01Z'' > ''20:00'' AND v > ''-1 mon'' ORDER BY id'
	] LOOP
		SELECT string_agg(way, ', ') INTO ways FROM unnest(ARRAY['on', 'off']) AS way WHERE wf_answer(query, way) IS DISTINCT FROM wf_answer(query, 'heap');
		IF ways IS NOT NULL THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM wf_differ();
-- records in runs on disk, and rows that go through PostgreSQL's sort
SET work_mem = '64kB';
SELECT * FROM wf_differ();
RESET work_mem;
DELETE FROM wf WHERE id % 50 = 7;
DELETE FROM wf_h WHERE id % 50 = 7;
UPDATE wf SET f = -f, t = repeat('changed', 1000) WHERE id % 50 = 8;
UPDATE wf_h SET f = -f, t = repeat('changed', 1000) WHERE id % 50 = 8;
SELECT * FROM wf_differ();
PREPARE steps(interval, int) AS SELECT count(*), sum(id) FROM wf_steps WHERE gap > $1 AND n <> $2;
PREPARE steps_h(interval, int) AS SELECT count(*), sum(id) FROM wf_h_steps WHERE gap > $1 AND n <> $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE steps('40 minutes', 7);
EXECUTE steps_h('40 minutes', 7);
EXECUTE steps(NULL, 7);
EXECUTE steps('1 hour', 30);
EXECUTE steps_h('1 hour', 30);
PREPARE first_rows(bigint, smallint) AS SELECT id, n FROM (SELECT id, row_number() OVER (ORDER BY f DESC, id) AS n FROM wf) AS x WHERE n < $1 AND n <> $2;
EXECUTE first_rows(5, 2);
EXECUTE first_rows(NULL, 2);
EXECUTE first_rows(-9223372036854775808, 2);
BEGIN;
DECLARE c CURSOR FOR SELECT id, n FROM wf_steps WHERE n > 40 OR gap IS NULL;
FETCH 2 FROM c;
MOVE 200 IN c;
FETCH 2 FROM c;
COMMIT;
DROP VIEW wf_steps, wf_h_steps;
DROP FUNCTION wf_differ, wf_answer;
DROP TABLE wf, wf_h;
