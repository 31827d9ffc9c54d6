-- Regular expressions with constant patterns: a part that each match has is
-- looked for first, and a table decides (src/expr/expr_regex*.c); that says
-- what PostgreSQL's function says, of dictionaries, of texts that are all
-- different, of short and long ones, in both halves of a table.
SET client_min_messages = error;
CREATE SCHEMA expr_regex;
SET search_path = expr_regex, public;
SET strata.batch_rows = 200;
CREATE TABLE h (ts timestamptz NOT NULL, few text, many text, long text, v varchar(40), c char(8) COLLATE "C", n int);
INSERT INTO h SELECT '2024-01-01'::timestamptz + i * interval '1 min',
    CASE i % 23 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN '%' WHEN 3 THEN 'a_b' WHEN 4 THEN E'a\\b' WHEN 5 THEN 'äöü' WHEN 6 THEN 'öäöäö'
        WHEN 7 THEN 'abab' WHEN 8 THEN 'ababab' WHEN 9 THEN '日本語' WHEN 10 THEN E'a\nb' WHEN 12 THEN E'two words\tand a tab\r' WHEN 13 THEN '10.0.' || i % 7 || '.' || i
        WHEN 14 THEN 'a{b}[c](d)^$*+?' WHEN 15 THEN E'\x1c\x1d\v\f'
        WHEN 11 THEN (ARRAY['Kelvin', U&'\212Aelvin', 'İstanbul', 'Iğdır', 'ÄÖÜ', 'Straße', U&'Pa\017Fen', 'ΟΔΟΣ', 'EXPORT', 'Changed/EXPORT'])[1 + i % 10] ELSE '/api/v' || i % 3 || '/' || chr(97 + i % 5) || '/export' END,
    'row ' || i || ' of ' || md5(i::text) || CASE WHEN i % 13 = 0 THEN ' é' WHEN i % 13 = 1 THEN ' timeout in ' || (ARRAY['db', 'cache', 'DB'])[1 + i % 3] ELSE '' END,
    repeat(md5((i % 40)::text), 1 + i % 12) || 'tail' || i % 7, CASE WHEN i % 5 > 0 THEN 'Item' || i % 23 END, 'k' || i % 9, i
    FROM generate_series(1, 1500) AS i;
CREATE TABLE s (LIKE h) USING strata;
ALTER TABLE s SET (strata.orderby = 'ts');
SELECT count(*) FROM create_hypertable('s', 'ts', chunk_time_interval => interval '12 hours');
INSERT INTO s SELECT * FROM h WHERE n % 10 < 9;
SELECT count(compress_chunk(c)) FROM show_chunks('s') AS c;
INSERT INTO s SELECT * FROM h WHERE n % 10 = 9;
UPDATE s SET few = 'changed/export' WHERE n % 211 = 0;
UPDATE h SET few = 'changed/export' WHERE n % 211 = 0;

-- Runs it on both; what differs.
CREATE FUNCTION run(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text) FROM (%s) AS q', replace(query, '$T', t)) INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE pattern (p text);
INSERT INTO pattern SELECT unnest(ARRAY['', '^', '$', '^$', '$^', '.', '.*', '^.*$', '^.$', '^..$', 'export', '^/api', 'export$', '^abab$', 'a.*b', '^a.*b$', 'a.b', '^a.b$', 'api.*export', '^/api.*/b/.*export$', 'a$b', 'b^a',
    '()', '(|)', '(a|)', 'a||b', '^(|abab)$', '(ab)', '(ab)+', '^(ab)*$', '^(ab){2}$', '^(ab){3,}$', '^(ab){0,2}$', '(ab){2,3}$', '(?:ab)', '(?:ab|ö)+', 'x*', 'a+b', 'a+?b', 'a??b', 'a{2}', 'a{0}', 'a{1,1}b', '(a*)*', '(a*)+$', '(^a|b$)', '(^)*a',
    '[0-9]', '[0-9]{3} ', 'row 1[0-9]{2} of', 'timeout.*(db|cache)', 'timeout in (db|cache)$', '(timeout|api)', '[^0-9a-z ]', '[^a]', '[]a]', '[^]a]', '[a-c-]', '[\]]', '[\d]', '[[:digit:]]', '[[:alpha:]_]+$', '[[:space:]]', '[[:upper:]]', '[[:lower:]]{4}',
    '[[=a=]]b', '[[.a.]]b', '[[.hyphen.]]', '[ä-ü]', '[äa]', 'ö', 'öä', 'ö+ä', '^ö', 'ä.ü', '日', '^日.語$', E'\\d', E'\\d+\\.\\d+\\.\\d+\\.\\d+', E'^(\\d{1,3}\\.){3}\\d{1,3}$', E'\\D$', E'\\s', E'\\S+\\s\\S+', E'\\w', E'\\W', E'\\.', E'\\\\', E'\\n', E'\n',
    E'\\t', E'\\v', E'\\f', E'\\r', E'\\e', E'a\\nb', E'\\Aa', E'b\\Z', E'\\ma', E'b\\M', E'\\yexport\\y', E'\\Yxport', E'(a)\\1', E'(ab)\\1', E'\\x61', E'\\u0061', E'\\a', E'\\q', E'\\', E'a\\{b', 'a{b', 'a{b}', '{', '}', ']', 'a\[', E'\\(d\\)', E'\\^\\$\\*\\+\\?',
    'a(?=b)', 'a(?!b)', '(?<=a)b', '(?<!a)b', 'api(?=/v1).*export', '(?i)EXPORT', '(?i)item[0-9]$', '(?i)k', '(?i)', '(?c)a', '(?n)^b', '(?x)a b', '(?q)a.b', '***=a_b', '***:a_b', '***a', '(?i', '(?i)(', '(?#c)a', 'a(?#c)b',
    '(', ')', 'a)', '(a', '[', '[a', '[z-a]', '[[:foo:]]', '[[.foo.]]', '*', '+a', 'a**', 'a+*', 'a{', 'a{1', 'a{1,', 'a{2,1}', 'a{256}', 'a{1}{2}', '^*', '(*a)', '(|*)', '((((((((((a))))))))))', '((a{0,20}){0,20})$', '(((){255}){255}){255}x',
    'tail3$', md5('7') || '.*tail', '^' || md5('7'), substr(md5('7'), 5, 9) || '[0-9a-f]', '([0-9a-f]{32}){3}tail', '(a|b|c|d)[0-9].{9}[0-9](a|b)', '.*a.{20}b', 'a.{12}b', 'row [0-9]*7 of', 'row [0-9]*7 of.*é$', 'é$', 'no such text [0-9]',
    'Item1[0-9]', 'Item2$', 'k1', 'k1 *$', '^k[1-3]', 'export/api', 't/a', 'export[/]',
    -- for ~*: letters of either case, and those of which one case is ASCII and the other is not
    'EXPORT', '/API/V1', '/B/Exp[o-p]rt', 'Ä', '^Ö', 'ITEM2', 'kelvin', 'KEL[V]IN', '^[k]', 'passen', 'pa[s]*en', 'İ', 'i', 'ı', 'I', '^i', 'stra(ß|ss)e', 'σ', '[[:upper:]]x', '[^K]elv', '[A-Z]+/[A-Z]', '[^a-z]EXPORT', 'TIMEOUT.*(DB|CACHE)',
    E'\\wELVIN', E'K\\w+N', 'sS', '[^s]']);
CREATE TABLE shape (q text);
INSERT INTO shape SELECT replace(q, '$C', c) FROM (VALUES
    ('SELECT count(*), sum(n) FROM $T WHERE $C ~ $P'),
    ('SELECT n FROM $T WHERE $C !~ $P AND n % 7 = 3'),
    ('SELECT count(*) FILTER (WHERE $C ~ $P), sum(CASE WHEN $C !~* $P THEN n ELSE -1 END) FROM $T'),
    ('SELECT $C ~* $P AS yes, count(*), min(n) FROM $T GROUP BY 1'),
    ('SELECT count(*) FROM $T WHERE NOT ($C ~ $P) OR n < 100'),
    ('SELECT count(*), sum(n) FROM $T WHERE $C ~* $P')) AS s (q),
    unnest(ARRAY['few', 'many', 'long', 'v', 'c']) AS c WHERE c IN ('few', 'many') OR q ~ '^SELECT count.*sum.n. FROM';
CREATE FUNCTION differences() RETURNS TABLE (query text, heap text, strata text) LANGUAGE sql AS $$
    SELECT * FROM (SELECT x, run(x, 'h') AS a, run(x, 's') AS b FROM (SELECT replace(q, '$P', quote_literal(p)) AS x FROM shape, pattern) AS y) AS z
    WHERE a IS DISTINCT FROM b $$;
SELECT * FROM differences();
-- an error comes where PostgreSQL's comes, and only where there is a row
SELECT run('SELECT count(*) FROM $T WHERE few ~ ''a[''', 's') = run('SELECT count(*) FROM $T WHERE few ~ ''a[''', 'h');
SELECT run('SELECT count(*) FROM $T WHERE n < 0 AND few ~ ''a[''', 's');
SELECT run('SELECT count(*) FROM $T WHERE CASE WHEN n > 0 THEN true ELSE few ~ ''a['' END', 's');

-- Random ones: of atoms, quantifiers, groups and alternatives.
CREATE FUNCTION atom() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT (ARRAY['a', 'b', 'x', '/', '.', '[a-d]', '[^ab]', '[0-9]', E'\\d', E'\\w', '[[:alpha:]]', 'p', 'o', '1', 'ö', '^', '$', 'api', 'exp', 'K', 'ro', ' of ', E'\\s'])[1 + floor(random() * 23)] $$;
CREATE FUNCTION piece(depth int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    result text := '';
BEGIN
    FOR i IN 0 .. floor(random() * 3)::int LOOP
        result := result || CASE WHEN depth > 0 AND random() < 0.3 THEN '(' || piece(depth - 1) || CASE WHEN random() < 0.5 THEN '|' || piece(depth - 1) ELSE '' END || ')' ELSE atom() END
            || CASE WHEN random() < 0.35 THEN (ARRAY['*', '+', '?', '{2}', '{0,3}', '{1,}', '*?', '.*'])[1 + floor(random() * 8)] ELSE '' END;
    END LOOP;
    RETURN result;
END $$;
TRUNCATE pattern;
INSERT INTO pattern SELECT piece(3) FROM generate_series(1, 60);
SELECT * FROM differences();

-- other collations, among them one that has no regular expressions
DO $$ BEGIN
    EXECUTE 'CREATE COLLATION blind (provider = icu, locale = ''und-u-ks-level2'', deterministic = false)';
EXCEPTION WHEN feature_not_supported OR undefined_object THEN NULL;
END $$;
SELECT DISTINCT run(q, 'h') IS NOT DISTINCT FROM run(q, 's') AS same
FROM (SELECT format('SELECT count(*), sum(n) FROM $T WHERE few COLLATE %s %s %L', c, o, p) AS q FROM unnest(ARRAY['"C"', '"POSIX"', '"tr-x-icu"', '"lt-x-icu"', '"en-x-icu"', 'blind']) AS c,
      unnest(ARRAY['~', '~*', '!~', '!~*']) AS o, unnest(ARRAY['i', 'I', 'İ', 'k', '[a-z]+$', E'\\w\\s', '[[:space:]]', '^[^[:alpha:]]+$', 'export$', E'\\W', '[[:upper:]]', 'ß', 'ä']) AS p) AS x;
-- expressions, parameters, regexp functions
SELECT * FROM (SELECT x, run(x, 'h') AS a, run(x, 's') AS b FROM unnest(ARRAY[
    'SELECT count(*) FROM $T WHERE lower(v) ~ ''^item1''', 'SELECT count(*) FROM $T WHERE few || v ~ ''export.*Item[1-3]''', 'SELECT count(*) FROM $T WHERE few ~ NULL',
    'SELECT count(*) FROM $T WHERE few ~ ANY (ARRAY[''api'', ''^a''])', 'SELECT count(*) FROM $T WHERE few ~ v', 'SELECT few FROM $T WHERE few ~ ''v1.*[ab]/'' ORDER BY ts LIMIT 5',
    'SELECT substring(many from ''of ([0-9]+)''), count(*) FROM $T WHERE many ~ ''of [0-9]{3}'' GROUP BY 1', 'SELECT regexp_match(few, ''v[0-9]''), count(*) FROM $T GROUP BY 1']) AS x) AS y
    WHERE a IS DISTINCT FROM b;
PREPARE q (text) AS SELECT count(*), sum(n) FROM s WHERE many ~ $1;
EXECUTE q ('timeout.*(db|cache)');
EXECUTE q ('row [0-9]7 ');
SET plan_cache_mode = force_generic_plan;
EXECUTE q ('timeout.*(db|cache)');
DEALLOCATE q;
DROP SCHEMA expr_regex CASCADE;
