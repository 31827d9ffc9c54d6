-- lag(), row_number() and first_value() as rows come: the same with the switch on and off, and as of a heap.
SET client_min_messages = error;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET max_parallel_workers_per_gather = 0;
CREATE COLLATION wc_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE wc (ts timestamptz NOT NULL, k text, f float8, i int, s smallint, t text, c text COLLATE wc_ci, n numeric, arr int[], id int);
SELECT count(*) FROM create_hypertable('wc', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE wc SET (strata.segmentby = 'k', strata.orderby = 'ts');
CREATE TABLE wc_h (LIKE wc);
INSERT INTO wc_h SELECT timestamptz '2020-01-01Z' + g * interval '40 seconds', nullif('k' || g % 7, 'k3'),
	CASE g % 97 WHEN 3 THEN NULL WHEN 5 THEN 'NaN' WHEN 7 THEN '-0' WHEN 8 THEN 0 ELSE hashint4(g) / 1e3 END, g * 7 % 50, CASE WHEN g % 11 <> 0 THEN g % 30 END,
	CASE WHEN g % 19 > 0 THEN repeat(md5(g::text), g % 4) END, CASE WHEN g % 2 = 0 THEN 'abc' ELSE 'ABC' END || g % 5, round(g / 7.0, g % 4),
	CASE WHEN g % 23 > 0 THEN ARRAY[g % 9, g % 17] END, g FROM generate_series(0, 3599) AS g;
INSERT INTO wc SELECT * FROM wc_h;
SELECT count(compress_chunk(c)) FROM show_chunks('wc') AS c;
ANALYZE wc, wc_h;
CREATE FUNCTION wc_answer(query text, way text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answer text;
BEGIN
	PERFORM set_config('strata.enable_windows', CASE way WHEN 'off' THEN 'off' ELSE 'on' END, true);
	EXECUTE 'SELECT string_agg(x::text, '';'') FROM (' || CASE way WHEN 'heap' THEN regexp_replace(query, '\mwc\M', 'wc_h', 'g') ELSE query END || ') AS x' INTO answer;
	RETURN coalesce(answer, '-');
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE FUNCTION wc_differ() RETURNS TABLE (query text, ways text) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT k, ts, ts - lag(ts) OVER (PARTITION BY k ORDER BY ts) AS gap FROM wc ORDER BY k, ts',
		'SELECT id, lag(f) OVER w, lag(t) OVER w, lag(arr, 3) OVER w, lag(n, 2, n) OVER w, lag(i, 5, -1) OVER w FROM wc WINDOW w AS (PARTITION BY k ORDER BY ts) ORDER BY id',
		'SELECT id, row_number() OVER w, first_value(t) OVER w, first_value(ts) OVER w, lag(k) OVER w FROM wc WINDOW w AS (PARTITION BY k ORDER BY ts DESC) ORDER BY id',
		'SELECT id, lag(id, 1000) OVER w, lag(id, 999, id) OVER w FROM wc WINDOW w AS (ORDER BY ts) ORDER BY id',
		'SELECT id, lag(t, 1001) OVER w, lag(t, 0) OVER w, lag(t, -1) OVER w, lag(t, NULL) OVER w FROM wc WINDOW w AS (ORDER BY ts) ORDER BY id',
		'SELECT id, lag(c) OVER w, row_number() OVER w FROM wc WINDOW w AS (PARTITION BY c ORDER BY ts) ORDER BY id',
		'SELECT id, lag(f) OVER w, row_number() OVER w FROM wc WINDOW w AS (PARTITION BY f ORDER BY ts) ORDER BY id',
		'SELECT id, lag(n) OVER w, first_value(n) OVER w FROM wc WINDOW w AS (PARTITION BY round(n, 1), s ORDER BY ts) ORDER BY id',
		'SELECT id, lag(i) OVER w FROM wc WINDOW w AS (PARTITION BY arr, date_trunc(''hour'', ts) ORDER BY ts) ORDER BY id',
		'SELECT id, lag(i * 2) OVER w, row_number() OVER w FROM wc WINDOW w AS (PARTITION BY k ORDER BY ts) ORDER BY id',
		'SELECT id, lag(10 / (id - 3590)) OVER w FROM wc WINDOW w AS (PARTITION BY k ORDER BY ts) ORDER BY id',
		'SELECT id, lag(i) OVER w, lead(i) OVER w FROM wc WINDOW w AS (PARTITION BY k ORDER BY ts) ORDER BY id',
		'SELECT id, lag(i) OVER w, sum(i) OVER (PARTITION BY s ORDER BY ts) FROM wc WINDOW w AS (PARTITION BY k ORDER BY ts) ORDER BY id',
		'SELECT id, lag(i) OVER (PARTITION BY k ORDER BY ts), lag(i) OVER (PARTITION BY s ORDER BY ts), row_number() OVER (ORDER BY ts) FROM wc ORDER BY id',
		'SELECT id, first_value(i) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM wc ORDER BY id',
		'SELECT id, first_value(i) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING) FROM wc ORDER BY id',
		'SELECT id, first_value(i) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) FROM wc ORDER BY id',
		'SELECT id, first_value(i) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM wc ORDER BY id',
		'SELECT id, first_value(i) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM wc ORDER BY id',
		'SELECT k, max(abs(step)) FROM (SELECT k, f - lag(f) OVER (PARTITION BY k ORDER BY ts) AS step FROM wc WHERE f <> ''NaN'') AS steps GROUP BY 1 ORDER BY 1',
		'SELECT k, count(*) FROM (SELECT k, ts - lag(ts) OVER (PARTITION BY k ORDER BY ts) AS gap FROM wc WHERE i < 20) AS steps WHERE gap IS NULL OR gap > ''6 minutes'' GROUP BY 1 ORDER BY 1',
		'SELECT * FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY ts) AS n FROM wc) AS x WHERE n <= 3 ORDER BY 1',
		'SELECT * FROM (SELECT id, lag(id) OVER w AS l, row_number() OVER w AS n FROM wc WINDOW w AS (PARTITION BY k ORDER BY ts)) AS x WHERE n <= 3 ORDER BY 1',
		'SELECT hour, a - lag(a) OVER (ORDER BY hour) FROM (SELECT date_trunc(''hour'', ts) AS hour, count(*) AS a FROM wc GROUP BY 1) AS x ORDER BY 1',
		'SELECT date_trunc(''hour'', ts) AS hour, count(*), lag(count(*)) OVER (ORDER BY date_trunc(''hour'', ts)) FROM wc GROUP BY 1 ORDER BY 1',
		'SELECT x.s, y.* FROM (VALUES (1), (2), (99)) AS x (s) CROSS JOIN LATERAL (SELECT id, lag(id) OVER (PARTITION BY k ORDER BY ts) FROM wc WHERE wc.s = x.s ORDER BY id LIMIT 9) AS y ORDER BY 1, 2',
		'SELECT id, lag(t) OVER (PARTITION BY k ORDER BY ts) FROM wc ORDER BY k, ts LIMIT 30 OFFSET 500',
		'SELECT id, lag(t) OVER (PARTITION BY k ORDER BY ts) FROM wc WHERE k = ''k1'' ORDER BY ts LIMIT 30',
		'SELECT a.id, lag(b.id) OVER (PARTITION BY a.k ORDER BY a.ts) FROM wc AS a JOIN wc AS b ON a.id = b.id + 7 ORDER BY 1'
	] LOOP
		SELECT string_agg(way, ', ') INTO ways FROM unnest(ARRAY['on', 'off']) AS way WHERE wc_answer(query, way) IS DISTINCT FROM wc_answer(query, 'heap');
		IF ways IS NOT NULL THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM wc_differ();
INSERT INTO wc SELECT ts + interval '11 seconds', k, f, i, s, t, c, n, arr, id + 10000 FROM wc_h WHERE id % 20 = 3;
INSERT INTO wc_h SELECT ts + interval '11 seconds', k, f, i, s, t, c, n, arr, id + 10000 FROM wc_h WHERE id % 20 = 3;
DELETE FROM wc WHERE id % 50 = 7;
DELETE FROM wc_h WHERE id % 50 = 7;
UPDATE wc SET f = -f, t = repeat('changed', 1000) WHERE id % 50 = 8;
UPDATE wc_h SET f = -f, t = repeat('changed', 1000) WHERE id % 50 = 8;
SELECT * FROM wc_differ();
SET strata.enable_windows = on;
BEGIN;
DECLARE c CURSOR FOR SELECT id, lag(t) OVER (PARTITION BY k ORDER BY ts) IS NULL AS first FROM wc ORDER BY k, ts;
FETCH 2 FROM c;
MOVE 600 IN c;
FETCH 2 FROM c;
COMMIT;
PREPARE before(text) AS SELECT id, lag(id, 2, -1) OVER (PARTITION BY k ORDER BY ts) FROM wc WHERE k = $1 ORDER BY ts LIMIT 3;
SET plan_cache_mode = force_generic_plan;
EXECUTE before('k1');
EXECUTE before('k2');
CREATE ROLE strata_test_window;
GRANT strata_test_window TO CURRENT_USER;
GRANT SELECT ON wc TO strata_test_window;
ALTER TABLE wc ENABLE ROW LEVEL SECURITY;
CREATE POLICY wc_some ON wc USING (i % 5 = 0);
SET ROLE strata_test_window;
SELECT i, lag(i) OVER (PARTITION BY k ORDER BY ts) FROM wc WHERE k = 'k1' ORDER BY ts LIMIT 3;
RESET ROLE;
DROP FUNCTION wc_differ, wc_answer;
DROP TABLE wc, wc_h;
DROP COLLATION wc_ci;
DROP ROLE strata_test_window;
