-- Gap filling against generate_series LEFT JOIN and window functions, on a heap, a compressed table and a hypertable.
SET timezone = 'UTC';
SET intervalstyle = 'postgres';
SELECT setseed(0.42);
CREATE TABLE gap_heap (ts timestamptz NOT NULL, dev int, tag text, v int, f float8);
INSERT INTO gap_heap SELECT timestamptz '2024-03-01' + random() * interval '40 days', (random() * 5)::int, nullif('t' || (random() * 2)::int, 't2'),
	CASE WHEN random() > 0.2 THEN (random() * 1000)::int END, random() FROM generate_series(1, 400);
CREATE TABLE gap_strata (LIKE gap_heap) USING strata WITH (strata.segmentby = 'dev', strata.orderby = 'ts');
INSERT INTO gap_strata SELECT * FROM gap_heap WHERE ts < '2024-03-25';
SELECT compress_chunk('gap_strata') IS NOT NULL;
INSERT INTO gap_strata SELECT * FROM gap_heap WHERE ts >= '2024-03-25';
CREATE TABLE gap_hyper (LIKE gap_heap);
SELECT count(*) FROM create_hypertable('gap_hyper', 'ts', chunk_time_interval => interval '7 days');
INSERT INTO gap_hyper SELECT * FROM gap_heap;
SELECT count(compress_chunk(c)) > 0 FROM show_chunks('gap_hyper', older_than => timestamptz '2024-03-25') c;

-- By hand: every bucket of the range for every group that has a row in it, values carried and interpolated by window functions.
CREATE FUNCTION by_hand(rel regclass, width interval, zone text, from_time timestamptz, to_time timestamptz)
RETURNS TABLE (b timestamptz, dev int, tag text, n bigint, s bigint, l bigint, lm bigint, i float8) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format($q$
	WITH data AS (SELECT time_bucket($1, ts, $2) b, dev, tag, count(*) n, sum(v) s, sum(f) f FROM %s WHERE ts >= $3 AND ts < $4 GROUP BY 1, 2, 3),
	buckets AS (SELECT DISTINCT time_bucket($1, t, $2) b FROM generate_series($3, $4 - interval '1 us', least($1, interval '1 day') / 4) t),
	grid AS (SELECT b, dev, tag FROM buckets, (SELECT DISTINCT dev, tag FROM data) g WHERE b < $4),
	rows AS (SELECT g.b, g.dev, g.tag, d.n, d.s, d.f, d.b IS NOT NULL seen
		FROM grid g LEFT JOIN data d ON d.b = g.b AND d.dev IS NOT DISTINCT FROM g.dev AND d.tag IS NOT DISTINCT FROM g.tag),
	marked AS (SELECT *, count(*) FILTER (WHERE seen) OVER w k, count(s) OVER w km,
		max(b) FILTER (WHERE seen) OVER w b0, min(b) FILTER (WHERE seen) OVER (w2) b1
		FROM rows WINDOW w AS (PARTITION BY rows.dev, rows.tag ORDER BY rows.b), w2 AS (PARTITION BY rows.dev, rows.tag ORDER BY rows.b DESC))
	SELECT m.b, m.dev, m.tag, m.n, m.s,
		max(m.s) FILTER (WHERE seen) OVER (PARTITION BY m.dev, m.tag, m.k),
		max(m.s) OVER (PARTITION BY m.dev, m.tag, m.km),
		CASE WHEN seen THEN m.f ELSE (SELECT r0.f + (r1.f - r0.f) * (extract(epoch FROM m.b - m.b0) / extract(epoch FROM m.b1 - m.b0))::float8
			FROM data r0, data r1 WHERE r0.b = m.b0 AND r1.b = m.b1 AND r0.dev = m.dev AND r1.dev = m.dev
			AND r0.tag IS NOT DISTINCT FROM m.tag AND r1.tag IS NOT DISTINCT FROM m.tag) END
	FROM marked m$q$, rel) USING width, zone, from_time, to_time;
END $$;
CREATE FUNCTION compare(rel regclass, width interval, zone text, from_time timestamptz, to_time timestamptz, OUT nrows bigint, OUT ndifferent bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format($q$
	WITH filled AS (SELECT time_bucket_gapfill($1, ts, $2) b, dev, tag, count(*) n, sum(v) s, locf(sum(v)) l, locf(sum(v), treat_null_as_missing => true) lm,
			interpolate(sum(f)) i FROM %s WHERE ts >= $3 AND ts < $4 GROUP BY 1, 2, 3),
		a AS (SELECT b, dev, tag, n, s, l, lm, round(i::numeric, 9) FROM filled), h AS (SELECT b, dev, tag, n, s, l, lm, round(i::numeric, 9) FROM by_hand(%L, $1, $2, $3, $4))
	SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM (SELECT * FROM a EXCEPT ALL SELECT * FROM h) d) + (SELECT count(*) FROM (SELECT * FROM h EXCEPT ALL SELECT * FROM a) d)$q$,
		rel, rel) INTO nrows, ndifferent USING width, zone, from_time, to_time;
END $$;
SELECT rel, width, zone, c.* FROM unnest('{gap_heap,gap_strata,gap_hyper}'::regclass[]) rel,
	(VALUES ('1 hour'::interval, 'UTC'), ('6 hours', 'Europe/Berlin'), ('1 day', 'Europe/Berlin'), ('1 day', 'America/St_Johns'), ('7 days', 'UTC'), ('1 month', 'Asia/Kathmandu'), ('90 min', 'UTC')) w(width, zone),
	compare(rel, width, zone, '2024-03-05 07:00', '2024-04-03 11:00') c;
-- integers, dates, timestamps without group
CREATE TABLE gap_int AS SELECT (random() * 1000)::int AS i, (random() * 100)::int v FROM generate_series(1, 60);
SELECT width, count(*), count(*) FILTER (WHERE a IS DISTINCT FROM h) AS different FROM (VALUES (1), (7), (100), (999)) w(width),
	LATERAL (SELECT time_bucket_gapfill(width, i, -20, 1010) b, row(count(*), locf(max(v), -1)) a FROM gap_int GROUP BY 1) x FULL JOIN
	LATERAL (SELECT b, row(n, coalesce(max(m) OVER (PARTITION BY k), -1)) h FROM (SELECT b, n, m, count(n) OVER (ORDER BY b) k FROM
		generate_series(time_bucket(width, -20), 1009, width) b LEFT JOIN (SELECT time_bucket(width, i) b, count(*) n, max(v) m FROM gap_int GROUP BY 1) d USING (b)) y) z USING (b)
	GROUP BY 1 ORDER BY 1;
SELECT count(*), count(*) FILTER (WHERE a.n IS DISTINCT FROM h.n) AS different FROM
	(SELECT time_bucket_gapfill('3 days', ts::date, '2024-02-20', '2024-04-20') b, count(*) n FROM gap_heap GROUP BY 1) a FULL JOIN
	(SELECT b, n FROM generate_series(time_bucket('3 days', date '2024-02-20'), date '2024-04-19', '3 days') g(b) LEFT JOIN (SELECT time_bucket('3 days', ts::date) b, count(*) n FROM gap_heap GROUP BY 1) d USING (b)) h USING (b);
SELECT count(*), count(*) FILTER (WHERE a.n IS DISTINCT FROM h.n) AS different FROM
	(SELECT time_bucket_gapfill('2 months', ts::timestamp, '2023-02-20', '2025-04-20') b, count(*) n FROM gap_heap GROUP BY 1) a FULL JOIN
	(SELECT b, n FROM generate_series(time_bucket('2 months', timestamp '2023-02-20'), timestamp '2025-04-19', '2 months') g(b) LEFT JOIN (SELECT time_bucket('2 months', ts::timestamp) b, count(*) n FROM gap_heap GROUP BY 1) d USING (b)) h USING (b);
-- the same under plans of other kinds
SET enable_partitionwise_aggregate = on;
SELECT nrows, ndifferent FROM compare('gap_hyper', '1 day', 'UTC', '2024-03-05', '2024-04-03');
RESET enable_partitionwise_aggregate;
SET enable_hashagg = off;
SELECT nrows, ndifferent FROM compare('gap_strata', '1 day', 'UTC', '2024-03-05', '2024-04-03');
RESET enable_hashagg;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
SELECT name AS force_parallel FROM pg_settings WHERE name IN ('force_parallel_mode', 'debug_parallel_query') \gset
SET :force_parallel = on;
SELECT nrows, ndifferent FROM compare('gap_heap', '1 day', 'UTC', '2024-03-05', '2024-04-03');
SELECT nrows, ndifferent FROM compare('gap_strata', '1 day', 'UTC', '2024-03-05', '2024-04-03');
RESET :force_parallel;
DROP FUNCTION compare, by_hand;
DROP TABLE gap_heap, gap_strata, gap_hyper, gap_int;
