-- What a column is compared with below OR: where it can raise no error, the condition prunes and is tried on vectors.
SET client_min_messages = error;
SET timezone = 'UTC';
SET plan_cache_mode = force_generic_plan;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE se (ts timestamptz, id int, t text, d date) USING strata WITH (strata.orderby = 'ts');
INSERT INTO se SELECT '2026-01-01'::timestamptz + i * interval '1 s', i, 'x' || i % 7, date '2026-01-01' + i % 50 FROM generate_series(1, 3000) i;
SELECT count(compress_chunk('se')) FROM (SELECT) s;
ANALYZE se;
CREATE FUNCTION se_lines(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS off, VERBOSE) ' || query LOOP
		IF line ~ 'Vector|Range|Row by Row|Not Vect|Prun' THEN
			RETURN NEXT regexp_replace(line, '^ *', '');
		END IF;
	END LOOP;
END $$;
SELECT * FROM se_lines('SELECT count(*) FROM se WHERE id = 3 OR ts >= now() - interval ''1 hour''');
SELECT * FROM se_lines('SELECT count(*) FROM se WHERE id = 3 OR d >= CURRENT_DATE - 7');
SELECT * FROM se_lines('SELECT count(*) FROM se WHERE id = 3 OR ts >= now() - interval ''5000 years''');
SELECT * FROM se_lines('SELECT k, (SELECT count(*) FROM se WHERE id = 3 OR ts = o.k) FROM (VALUES (now()), (NULL)) o (k)');
PREPARE se_or(int, text) AS SELECT count(*) FROM se WHERE id = $1 OR t = $2 OR id = $1::bigint;
SELECT * FROM se_lines('EXECUTE se_or(3, ''x1'')');
PREPARE se_cast(text) AS SELECT count(*) FROM se WHERE t = $1 OR id = $1::int;
SELECT * FROM se_lines('EXECUTE se_cast(''1'')');
DROP FUNCTION se_lines;
DROP TABLE se;
