-- Errors come where heap's do: what a column is compared with is not evaluated where PostgreSQL does not come to it,
-- below OR and behind the first pair of a row comparison; generic plans, correlated subqueries, subqueries as values.
SET client_min_messages = error;
SET timezone = 'UTC';
SET plan_cache_mode = force_generic_plan;
-- workers get the values of subqueries before they start, on heap, too
SET max_parallel_workers_per_gather = 0;
CREATE TABLE se_h (ts timestamptz, id int, t text, f float8, seg int, d date);
INSERT INTO se_h SELECT '2026-01-01'::timestamptz + i * interval '1 s', i, 'x' || i % 7, i * 0.5, i % 4, date '2026-01-01' + i % 50 FROM generate_series(1, 3000) i;
CREATE TABLE se (LIKE se_h) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
INSERT INTO se SELECT * FROM se_h WHERE id <= 2500;
SET strata.batch_rows = 100;
SELECT count(compress_chunk('se')) FROM (SELECT) s;
INSERT INTO se SELECT * FROM se_h WHERE id > 2500;
ANALYZE se;

-- What a query, with a table's name in place of @, comes to: its rows, or the error.
CREATE FUNCTION se_outcome(query text, kinds text, args text, tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'PREPARE se_query' || kinds || ' AS ' || replace(query, '@', tab);
	BEGIN
		IF query LIKE 'SELECT%' THEN
			EXECUTE 'EXECUTE se_query' || args INTO result;
		ELSE
			EXECUTE 'EXECUTE se_query' || args;
			GET DIAGNOSTICS result = ROW_COUNT;
			-- undo it
			RAISE EXCEPTION '% rows', result;
		END IF;
	EXCEPTION WHEN OTHERS THEN
		result := SQLSTATE || ' ' || SQLERRM;
	END;
	DEALLOCATE se_query;
	RETURN result;
END $$;
CREATE TABLE se_queries (query text, kinds text, args text[]);
INSERT INTO se_queries
SELECT pattern, '(text)', ARRAY['('''')', '(''7'')', '(''x'')', '(NULL)']
FROM unnest(ARRAY['SELECT count(*) FROM @ WHERE #', 'SELECT count(*) FROM (SELECT FROM @ WHERE # LIMIT 1) s', 'UPDATE @ SET f = f WHERE #', 'DELETE FROM @ WHERE (#) AND id < 100',
	'SELECT sum(f) FROM @ WHERE t <> ''x1'' AND (#)', 'SELECT max(id) FROM @ WHERE NOT (NOT (#))', 'SELECT ts FROM @ WHERE # ORDER BY ts, id LIMIT 1',
	'SELECT count(*) FROM (SELECT t, count(*) FROM @ WHERE # GROUP BY t) s']) form,
	unnest(ARRAY['$1 = '''' OR id = $1::int', '$1 = '''' OR t = ($1::int)::text', '$1 = '''' OR seg = $1::int', '$1 = '''' OR id = ANY (($1 || '''')::int[])',
	'$1 = '''' OR ts >= $1::timestamptz', '$1 = '''' OR ($1 <> ''x'' AND id <> ALL (ARRAY[$1::int, 3]))', '$1 = '''' OR t COLLATE "C" = ($1::int)::text',
	'id > 0 OR id = $1::int', 't LIKE ''x%'' OR t = ($1::int)::text', 'NOT ($1 <> '''' AND id <> $1::int)', '($1 IS NULL OR t <> $1) OR id = $1::int + 1',
	'id < 2000 OR (t = ''nope'' AND id = $1::int)', 'seg >= 0 OR seg = $1::int']) clause,
	LATERAL (SELECT replace(form, '#', clause) AS pattern) p;
INSERT INTO se_queries
SELECT replace(form, '#', clause), '(int)', ARRAY['(0)', '(1)', '(NULL)']
FROM unnest(ARRAY['SELECT count(*) FROM @ WHERE #', 'UPDATE @ SET f = f WHERE #', 'SELECT count(*) FROM (SELECT FROM @ WHERE # LIMIT 1) s']) form,
	unnest(ARRAY['(id, f) < (0, 1 / $1)', '(f, id) > (7000, 1 / $1)', '(seg, id) > (-1, 10 / $1)', '(ts, id, f) > (''2027-01-01'', 1 / $1, 2)',
		'$1 = 0 OR 100 / $1 = id', '$1 = 0 OR id = (SELECT 1 / $1)', 'id > 0 OR id = (SELECT 1 / $1)', 'seg >= 0 OR id = (SELECT 1 / $1)', 'seg >= 0 OR id + 1 = (SELECT 1 / $1)',
		't <> '''' OR t IS DISTINCT FROM (SELECT (1 / $1)::text)', 'CASE WHEN t IS NOT NULL THEN true ELSE (SELECT 1 / $1) > 0 END', 'coalesce(t, (SELECT (1 / $1)::text)) >= ''a''',
		't <> '''' OR t = (SELECT (1 / $1)::text)', '(id, f) < (0, (SELECT 1 / $1))', 'id > 0 OR id = ANY (ARRAY(SELECT 1 / $1))', 'id > 0 OR id = (SELECT count(*) / $1 FROM se_h)',
		'id IN (1, 2) OR d = CURRENT_DATE - $1', 'id > 0 OR ts > now() - $1 * interval ''100000 years'' * 100000']) clause;
CREATE TABLE se_asked AS SELECT query, kinds, a AS args, se_outcome(query, kinds, a, 'se_h') AS want, se_outcome(query, kinds, a, 'se') AS got FROM se_queries, unnest(args) a;
SELECT query, args, want, got FROM se_asked WHERE want IS DISTINCT FROM got;
SELECT count(*) > 400 AS many, count(*) FILTER (WHERE got LIKE '22%') > 50 AS errors FROM se_asked;
-- switches off
SET strata.enable_vector_filter = off;
SET strata.enable_pruning = off;
SELECT query, args, want, got FROM (SELECT query, args, want, se_outcome(query, kinds, args, 'se') AS got FROM se_asked) s WHERE want IS DISTINCT FROM got;
RESET strata.enable_vector_filter;
RESET strata.enable_pruning;

-- correlated subqueries, no prepared statement
SELECT k, (SELECT count(*) FROM se WHERE o.k = '' OR id = o.k::int) FROM (VALUES (''), ('7'), (NULL)) o (k);
SELECT k, n FROM (VALUES (''), ('7'), (NULL)) o (k), LATERAL (SELECT count(*) AS n FROM se WHERE o.k = '' OR t = (o.k::int)::text OR id = o.k::int) s;
SELECT k, EXISTS (SELECT FROM se WHERE o.k = 0 OR id = 10 / o.k) FROM (VALUES (0), (7), (2000), (NULL)) o (k);
-- the value of a subquery that was not needed in one execution is in the next
SELECT k, (SELECT count(*) FROM se WHERE id < o.k OR id = (SELECT 3000 / (o.k - 5000))) FROM (VALUES (5000), (4999), (4000), (10)) o (k);
-- functions, once their plans are generic
CREATE FUNCTION se_f(v text) RETURNS bigint LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN (SELECT count(*) FROM se WHERE v = '' OR id = v::int); END $$;
SELECT array_agg(se_f('')) FROM generate_series(1, 12);
-- what a whole condition compares with is evaluated before any row, as by an index of heap
PREPARE se_whole(int) AS SELECT count(*) FROM se WHERE id = 1 / $1;
EXECUTE se_whole(1);
EXECUTE se_whole(0);

-- nor from a batch whose rows have all been repaired, or deleted one by one
CREATE TABLE se_bad (seg text, id int, v int) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'id');
INSERT INTO se_bad SELECT CASE WHEN i % 4 = 0 THEN 'bad' WHEN i % 4 = 1 THEN 'worse' ELSE (i % 4)::text END, i, i % 10 FROM generate_series(1, 4000) i;
SELECT count(compress_chunk('se_bad')) FROM (SELECT) s;
UPDATE se_bad SET seg = '7' WHERE seg = 'bad';
DELETE FROM se_bad WHERE seg = 'worse' AND id < 2000;
DELETE FROM se_bad WHERE seg = 'worse' AND id + 0 < 5000 AND random() < 2;
SELECT count(*), min(id), max(id) FROM se_bad WHERE seg::int > 2;
SELECT id FROM se_bad WHERE seg::int > 2 ORDER BY id LIMIT 1;
SELECT seg::int, count(*) FROM se_bad WHERE seg::int = 7 GROUP BY 1;
DELETE FROM se_bad WHERE 6 / seg::int > 2;
SELECT count(*) FROM se_bad WHERE seg::int > 2;
DROP TABLE se_bad;

DROP FUNCTION se_f, se_outcome;
DROP TABLE se, se_h, se_queries, se_asked;
