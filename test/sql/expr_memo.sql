-- Expressions of one column, once for a value whatever batches have it: the answers of a heap, with the memo on and off.
SET client_min_messages = error;
SET timezone = 'UTC';
SET extra_float_digits = 1;
CREATE DOMAIN em_word AS text CHECK (length(VALUE) < 1000);
CREATE TABLE em (ts timestamptz NOT NULL, seg int, path text, word em_word, c char(12), n numeric, u uuid, span interval, doc jsonb, tags text[], big text) USING strata
	WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
CREATE TABLE em_h (LIKE em);
-- paths of which many share their first and last bytes; some are null or empty, and some come once only
INSERT INTO em_h SELECT timestamptz '2024-01-01Z' + i * interval '1 second', i / 2000, CASE i % 41 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'once' || i ELSE '/api/v1/' || i % 37 || repeat('x', i % 5) || '/Export/it' END,
	'w' || i % 23, 'c' || i % 19, CASE i % 17 WHEN 0 THEN 'NaN' WHEN 1 THEN '1.5' WHEN 2 THEN '1.50' WHEN 3 THEN NULL ELSE (i % 17)::text END::numeric,
	md5((i % 29)::text)::uuid, i % 31 * interval '1 day' + i % 2 * interval '24 hours', jsonb_build_object('k', i % 13, 'l', ARRAY[i % 3]), ARRAY['t' || i % 7, 't' || i % 3],
	CASE i % 3 WHEN 0 THEN repeat('long' || i % 4, 200) WHEN 1 THEN 'short' ELSE repeat(md5((i % 8)::text), 100) END FROM generate_series(0, 9999) AS i;
INSERT INTO em SELECT * FROM em_h;
SELECT compress_chunk('em') IS NOT NULL AS compressed;
INSERT INTO em_h SELECT ts + interval '500 ms', seg, path || '/late', word, c, n + 1, u, span, doc, tags || ARRAY['late'], big FROM em_h WHERE extract(second FROM ts) = 30;
INSERT INTO em SELECT * FROM em_h WHERE extract(milliseconds FROM ts) = 30500;
-- quals and keys that PostgreSQL evaluates
CREATE VIEW em_exprs AS SELECT * FROM unnest(ARRAY['path ILIKE ''%EXPORT%''', 'path ~ ''v1/1.*t$''', 'path !~* ''xx|once''', 'length(path) > 20', 'path SIMILAR TO ''%(x/|once)%''', 'position(''xxx'' in path) > 0', 'split_part(path, ''/'', 4) < ''2''',
	'coalesce(length(path), -1) < 5', 'path IS NULL OR path ~ ''xx''', 'NOT path ~ ''xx''', 'upper(word) = ''W7''', 'word ~ ''[12]$''', 'reverse(c) ~ ''1''', 'octet_length(c) + length(c) > 14', 'scale(n) = 2', 'n::text ~ ''5''', 'round(n) > 3', 'u::text ~ ''^[a-c]''', 'justify_days(span) > interval ''1 month''',
	'extract(epoch FROM span) > 86400 * 3', 'span::text ~ ''24''', '(doc->>''k'')::int > 6', 'doc @> ''{"l": [1]}''', 'tags && ARRAY[''t5'', ''late'']', 'cardinality(tags) > 2', 'big ~ ''long2''', 'md5(big) < ''8''', 'length(big) > 900', 'num_nulls(path, seg) = 0', 'path::timestamptz IS NULL AND path IS NULL']) WITH ORDINALITY AS e(w, i);
CREATE VIEW em_keys AS SELECT * FROM unnest(ARRAY['lower(path)', 'left(path, 9)', 'split_part(path, ''/'', 4)', 'regexp_replace(path, ''[0-9]+'', ''N'')', 'substring(path from ''^/[^/]+'')', 'length(path)', 'upper(word)', 'rtrim(c, ''1'')', 'trunc(n, 1)', 'scale(n)', 'substr(u::text, 1, 1)',
	'justify_interval(span)', 'doc->''k''', '(doc->''l''->>0)::int', 'tags[1]', 'array_to_string(tags, '','')', 'left(big, 5)', 'md5(big)', 'repeat(word, 300)', 'nullif(lower(path), '''')', 'path ~ ''xx''']) WITH ORDINALITY AS e(k, i);
CREATE FUNCTION em_answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT md5(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C")) FROM (%s) AS q', regexp_replace(query, '\mT\M', t, 'g')) INTO result;
	RETURN result;
EXCEPTION WHEN division_by_zero OR invalid_text_representation OR invalid_datetime_format OR substring_error THEN
	RETURN SQLSTATE;
END $$;
-- what the heap answered, which is asked once for each query; and settings under which all were asked (with all switches off, turning off one more is no other)
CREATE TABLE em_asked (question text PRIMARY KEY, answer text);
CREATE TABLE em_ways (way text);
CREATE FUNCTION em_differ() RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
BEGIN
	IF EXISTS (SELECT FROM em_ways WHERE way = (SELECT string_agg(name || ' ' || setting, ',' ORDER BY name) FROM pg_settings WHERE name ~ '^strata.enable|work_mem|^hash_mem|parallel|^strata.agg')) THEN
		RETURN;
	END IF;
	INSERT INTO em_ways SELECT string_agg(name || ' ' || setting, ',' ORDER BY name) FROM pg_settings WHERE name ~ '^strata.enable|work_mem|^hash_mem|parallel|^strata.agg';
	FOR query IN SELECT format('SELECT count(*), min(ts), max(path), sum(seg) FROM T WHERE %s', w) FROM em_exprs UNION ALL SELECT format('SELECT ts, path, big FROM T WHERE %s', w) FROM em_exprs
		UNION ALL SELECT format('SELECT count(*) FILTER (WHERE %s), sum(CASE WHEN %s THEN length(word) ELSE seg END) FROM T', w, w) FROM em_exprs
		UNION ALL SELECT format('SELECT %s, count(*), sum(seg), min(ts) FROM T GROUP BY 1', k) FROM em_keys UNION ALL SELECT format('SELECT %s, seg, count(*) FROM T WHERE %s GROUP BY 1, 2', k, w) FROM em_keys JOIN em_exprs USING (i)
		UNION ALL SELECT format('SELECT count(*) FROM T WHERE %s AND %s', a.w, b.w) FROM em_exprs AS a JOIN em_exprs AS b ON b.i = a.i + 3 UNION ALL SELECT format('SELECT max(%s), min(%s) FROM T', k, k) FROM em_keys WHERE k !~ '^\(?doc|^path'
		UNION ALL SELECT format('SELECT ts, word FROM T WHERE %s ORDER BY ts DESC, word LIMIT 30', w) FROM em_exprs
		-- values of which the expression raises an error
		UNION ALL VALUES ('SELECT count(*) FROM T WHERE 10 / (length(path) - 8) > 0'), ('SELECT count(*) FROM T WHERE 10 / (length(path) - 24) > 0'), ('SELECT count(*) FROM T WHERE path <> ''once43'' AND substr(path, 1, length(path) - 6) > ''b'''),
			('SELECT count(*) FROM T WHERE path ~ ''once|^$'' AND 10 / (length(path) - 20) > 0 AND path ~ ''1'''), ('SELECT sum(10 / length(path)) FROM T'), ('SELECT 10 / nullif(length(path), 0), count(*) FROM T GROUP BY 1'), ('SELECT count(*) FROM T WHERE path::int > 0'),
			('SELECT count(*) FROM T WHERE CASE WHEN path ~ ''^once'' THEN substr(path, 5)::int END > 1000'), ('SELECT count(*) FILTER (WHERE 10 / length(path) > 1) FROM T WHERE path ~ ''x''')
		-- values that change while the plan runs, and functions that are not immutable
		UNION ALL VALUES ('SELECT v.p, (SELECT count(*) FROM T WHERE path ~ v.p) FROM (VALUES (''xx''), (''once''), (''v1/3''), (''xx'')) AS v(p)'), ('SELECT v.p, x.n FROM (VALUES (''xx''), (''once''), (''7'')) AS v(p), LATERAL (SELECT count(*) AS n FROM T WHERE split_part(path, ''/'', 4) = v.p) AS x'),
			('SELECT count(*) FROM T WHERE path ~ (SELECT ''xx'' || count(*) - 1 FROM pg_am WHERE amname = ''heap'') OR length(path) = (SELECT 5)'), ('SELECT to_char(span, ''DD''), count(*) FROM T GROUP BY 1'), ('SELECT count(*) FROM T WHERE concat(path, ''x'') ~ ''xx''') LOOP
		strata := em_answer(query, 'em');
		INSERT INTO em_asked SELECT query, em_answer(query, 'em_h') WHERE NOT EXISTS (SELECT FROM em_asked AS a WHERE a.question = query);
		heap := (SELECT a.answer FROM em_asked AS a WHERE a.question = query);
		IF strata IS DISTINCT FROM heap THEN
			RETURN NEXT;
		END IF;
	END LOOP;
END $$;
SELECT * FROM em_differ();
SET strata.enable_value_memo = off;
SELECT count(*) FROM em_differ();
RESET strata.enable_value_memo;
SET strata.enable_vector_expressions = off;
SELECT count(*) FROM em_differ();
RESET strata.enable_vector_expressions;
-- parameters of a prepared statement, in a plan for any value
SET plan_cache_mode = force_generic_plan;
PREPARE em_p(text, int) AS SELECT count(*) FROM em WHERE path ~ $1 AND length(path) > $2;
PREPARE em_hp(text, int) AS SELECT count(*) FROM em_h WHERE path ~ $1 AND length(path) > $2;
EXECUTE em_p('xx', 3);
EXECUTE em_hp('xx', 3);
EXECUTE em_p('once', 7);
EXECUTE em_hp('once', 7);
-- nobody sees values of rows that a security barrier leaves out
CREATE FUNCTION em_leak(t text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN IF t ~ 'once' THEN RAISE 'leaked %', t; END IF; RETURN t ~ 'x'; END $$;
CREATE VIEW em_v WITH (security_barrier) AS SELECT * FROM em WHERE path !~* 'once';
SELECT count(*) = (SELECT count(*) FROM em_h WHERE path ~ 'x') AS same FROM em_v WHERE em_leak(path);
SELECT count(*) FROM em WHERE em_leak(path) AND path !~* 'once';
-- rows that a LIMIT does not get to raise no error
SELECT count(*) FROM (SELECT 1 FROM em WHERE ts < '2024-01-01 00:00:10Z' AND 10 / (length(path) - 16) < 5 LIMIT 1) AS x;
-- of errors of two quals that of the first row is raised, as in a heap
CREATE FUNCTION em_error(query text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE query; RETURN 'none'; EXCEPTION WHEN OTHERS THEN RETURN SQLERRM; END $$;
CREATE TABLE em_e (ts int NOT NULL, n numeric, a int, b int) USING strata WITH (strata.orderby = 'ts');
CREATE TABLE em_eh (LIKE em_e);
INSERT INTO em_eh SELECT i, CASE WHEN i IN (500, 900) THEN -i ELSE i % 7 END, CASE WHEN i IN (300, 700) THEN 2147483647 ELSE i END, i FROM generate_series(1, 1000) AS i;
INSERT INTO em_e SELECT * FROM em_eh;
CREATE VIEW em_eq AS SELECT format('SELECT sum(b) FROM T WHERE ts > %s AND %s', t, w) AS q FROM unnest(ARRAY[0, 400, 600, 800, 950]) AS t, unnest(ARRAY['sqrt(n) >= 0 AND a + 1 > b', 'a + 1 > b AND sqrt(n) >= 0', 'sqrt(n) >= 0 AND ln(n + 0.5) < 9 AND b >= a', 'ln(n + 2) < 9 AND sqrt(n) >= 0']) AS w;
SELECT count(*), count(DISTINCT em_error(replace(q, 'FROM T', 'FROM em_eh'))), count(*) FILTER (WHERE em_error(replace(q, 'FROM T', 'FROM em_e')) <> em_error(replace(q, 'FROM T', 'FROM em_eh'))) AS differ FROM em_eq;
SELECT compress_chunk('em_e') IS NOT NULL AS compressed;
SELECT q, em_error(replace(q, 'FROM T', 'FROM em_e')), em_error(replace(q, 'FROM T', 'FROM em_eh')) FROM em_eq WHERE em_error(replace(q, 'FROM T', 'FROM em_e')) <> em_error(replace(q, 'FROM T', 'FROM em_eh'));
DROP VIEW em_eq;
DROP FUNCTION em_error;
DROP TABLE em_e, em_eh;
-- values out of line are no bytes to go by
CREATE TABLE em_x (ts int NOT NULL, b bytea) USING strata WITH (strata.orderby = 'ts');
ALTER TABLE em_x ALTER b SET STORAGE EXTERNAL;
INSERT INTO em_x SELECT i, convert_to(repeat(i % 9 || 'abc', 2000), 'UTF8') FROM generate_series(1, 3000) AS i;
SELECT n, count(*), min(length), max(length) FROM (SELECT sha256(b) AS n, octet_length(b) AS length, ts FROM em_x) AS x GROUP BY 1 ORDER BY 2, 3, min(ts) LIMIT 3;
SELECT count(*) FILTER (WHERE substr(b, 1, 4) < '3abc'), count(DISTINCT substr(b, 1, 2)), sum(get_byte(b, 7999 - 400 * (ts % 2))) FROM em_x WHERE octet_length(b) = 8000;
DROP TABLE em_x;
DROP VIEW em_v, em_exprs, em_keys;
DROP FUNCTION em_leak, em_differ, em_answer;
DROP TABLE em, em_h, em_asked, em_ways;
DROP DOMAIN em_word;
