-- first, last, histogram against plain SQL; serial, parallel, windows.
CREATE TABLE agg (g int, t timestamptz, v float8, s text, n numeric);
INSERT INTO agg SELECT i % 7, timestamptz '2021-01-01' + ((i * 7919) % 20000) * interval '1 s', CASE WHEN i % 5 = 0 THEN NULL ELSE i / 8.0 END,
	CASE WHEN i % 3 = 0 THEN repeat(md5(i::text), 100) ELSE md5(i::text) END, i::numeric / 3 FROM generate_series(1, 20000) i;
INSERT INTO agg SELECT i % 7, NULL, i, 'null time', i FROM generate_series(1, 50) i;
INSERT INTO agg VALUES (100, NULL, 1, 'x', 1), (101, 'infinity', NULL, 'inf', 1), (101, '-infinity', 2, NULL, NULL);
ANALYZE agg;
CREATE VIEW expected AS
	SELECT a.g, f.v AS fv, f.s AS fs, f.n AS fn, l.v AS lv, l.s AS ls, l.n AS ln
	FROM (SELECT DISTINCT g FROM agg) a LEFT JOIN LATERAL (SELECT * FROM agg b WHERE b.g = a.g AND t IS NOT NULL ORDER BY t LIMIT 1) f ON true
	LEFT JOIN LATERAL (SELECT * FROM agg b WHERE b.g = a.g AND t IS NOT NULL ORDER BY t DESC LIMIT 1) l ON true;
CREATE VIEW actual AS
	SELECT g, first(v, t) AS fv, first(s, t) AS fs, first(n, t) AS fn, last(v, t) AS lv, last(s, t) AS ls, last(n, t) AS ln FROM agg GROUP BY g;
CREATE TABLE expected_rows AS SELECT * FROM expected;
SELECT count(*) FROM expected_rows;
SELECT count(*) FROM ((TABLE expected_rows EXCEPT ALL TABLE actual) UNION ALL (TABLE actual EXCEPT ALL TABLE expected_rows)) d;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 3;
EXPLAIN (COSTS OFF) SELECT first(s, t), last(s, t), histogram(v, 0, 2500, 5) FROM agg;
SELECT count(*) FROM ((TABLE expected_rows EXCEPT ALL TABLE actual) UNION ALL (TABLE actual EXCEPT ALL TABLE expected_rows)) d;
SELECT first(v, t), last(v, t), length(first(s, t)), last(s, t), histogram(v, 0, 2500, 5) FROM agg;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
-- a NULL value counts, a NULL time does not; nothing at all is NULL
SELECT g, first(v, t), last(v, t), first(s, t), last(s, t) FROM agg WHERE g >= 100 GROUP BY g ORDER BY g;
SELECT first(v, t) IS NULL FROM agg WHERE false;
-- ties: the row met first
SELECT first(v, k), last(v, k) FROM (VALUES (1, 1), (2, 1), (3, 2), (4, 2)) x(v, k);
-- any ordered type; collations; rows; arrays; enums
SELECT first(x, s), last(x, s), first(x, s COLLATE "C"), last(x, s COLLATE "C") FROM (VALUES (1, 'b'), (2, 'B'), (3, 'a')) q(x, s);
SELECT last(ARRAY[x, NULL], ROW(x, 1)), last(ROW(x, 'y'), x), first(NULL::int, x), last('lit'::text, -x) FROM generate_series(1, 3) x;
SELECT first(x, j) FROM (VALUES (1, '{}'::json)) q(x, j);
SELECT first(x, 'unknown literal') FROM generate_series(1, 3) x;
-- windows, FILTER, DISTINCT
SELECT x, first(x, x) OVER w, last(x, -x) OVER w, histogram(x, 0, 4, 2) OVER w FROM generate_series(1, 4) x WINDOW w AS (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW);
SELECT x, first(x, x) OVER w, last(x, x) OVER w FROM generate_series(1, 4) x WINDOW w AS (ORDER BY x);
SELECT first(x, x) FILTER (WHERE x > 2), last(DISTINCT x, x) FROM generate_series(1, 4) x;
-- histogram
SELECT histogram(v, 0, 100, 4), histogram(v, 50, 60, 1), histogram(NULL, 0, 1, 2) FROM generate_series(-10, 110) v;
SELECT histogram(v, -1, 1, 4) FROM (VALUES ('infinity'::float8), ('-infinity'), (0), (NULL)) x(v);
SELECT (SELECT histogram(v, 10, 20, 7) FROM (SELECT i / 10.0 AS v FROM generate_series(0, 300) i) x)
	= ARRAY(SELECT count(*) FILTER (WHERE b = k)::int FROM (SELECT width_bucket(i / 10.0, 10, 20, 7) b FROM generate_series(0, 300) i) x, generate_series(0, 8) k GROUP BY k ORDER BY k);
SELECT histogram('NaN', 0, 1, 2);
SELECT histogram(1, 1, 1, 2);
SELECT histogram(1, 2, 1, 2);
SELECT histogram(1, 0, 2, 0);
SELECT histogram(1, 0, 2, 2000000000);
SELECT histogram(1, NULL, 2, 2);
SELECT histogram(x, 0, x, 2) FROM generate_series(1, 2) x;
-- bounds so far apart that their difference, or that times the number of parts, is no finite number
SELECT histogram(v, -1e308, 1e308, 5) FROM (VALUES (0::float8), (-1e308), (1e308), (-1.7e308), ('infinity'), ('-infinity'), (9e307), (5e-324)) t(v);
-- (a value between two parts is in the upper one from 17 on)
SELECT (SELECT sum(n) FROM unnest((histogram(v, -4e307, 4e307, 1000000))[750001:750003]) n) AS in_part, (histogram(v, -8e307, 8e307, 3))[2:5] FROM (VALUES (2e307::float8), (3.99e307)) t(v);
SELECT histogram(1, '-infinity', 1, 2);
SELECT histogram(1, 0, 'infinity', 2);
SELECT histogram(1, 'NaN', 1, 2);
SELECT histogram('NaN', 0, 1, 2);
SELECT histogram(1, 0, 2, 2147483647);
SELECT histogram(1, 0, 2, -2147483648);
SELECT histogram(5e-324, 0, 1e-323, 2), histogram(1, 1, 1.0000000000000002, 1000000) = array_fill(0, ARRAY[1]) || 1 || array_fill(0, ARRAY[1000000]) AS narrow;
DROP VIEW expected, actual;
DROP TABLE expected_rows;
DROP TABLE agg;
