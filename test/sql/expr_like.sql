-- LIKE with constant patterns is done by our own matcher (src/expr/expr_like.c)
-- and says what PostgreSQL's says: of dictionaries, of texts that are all
-- different, of short and long ones, in both halves of a table.
SET client_min_messages = error;
CREATE SCHEMA expr_like;
SET search_path = expr_like, public;
SET strata.batch_rows = 200;
CREATE TABLE h (ts timestamptz NOT NULL, few text, many text, long text, v varchar(40), c char(8) COLLATE "C", n int);
INSERT INTO h SELECT '2024-01-01'::timestamptz + i * interval '1 min',
    CASE i % 19 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN '%' WHEN 3 THEN 'a_b' WHEN 4 THEN E'a\\b' WHEN 5 THEN 'äöü' WHEN 6 THEN 'öäöäö'
        WHEN 7 THEN 'abab' WHEN 8 THEN 'ababab' WHEN 9 THEN '日本語' WHEN 10 THEN 'a%b'
        WHEN 11 THEN (ARRAY['Kelvin', U&'\212Aelvin', 'İstanbul', 'Iğdır', 'ÄÖÜ', 'Straße', 'ΟΔΟΣ', 'EXPORT', 'Changed/EXPORT'])[1 + i % 9] ELSE '/api/v' || i % 3 || '/' || chr(97 + i % 5) || '/export' END,
    'row ' || i || ' of ' || md5(i::text), repeat(md5((i % 40)::text), 1 + i % 12) || 'tail' || i % 7,
    CASE WHEN i % 5 > 0 THEN 'Item' || i % 23 END, 'k' || i % 9, i
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
INSERT INTO pattern SELECT unnest(ARRAY['', '%', '%%', '_', '__', '%_', 'a%', '%b', 'a%b', '%a%b%', 'ab%ab', '%abab%ab', '%ö%', '_ö_', 'ö%ö', '%öä%öä%', '日%', '%語',
    '%本%', '_本_', '/api/%', '%export%', '%export', '%/v1/%/export', '/api/v_/%', E'a\\_b', E'a\\%b', E'%\\%%', E'a\\\\b', E'%\\\\%', E'a\\b', E'abc\\', E'%\\',
    '%Item1%', 'Item2_', 'Item%', 'k1', 'k1%', 'k%      ', '%tail3', '%tail%', 'row 1%', '%1% of %f', '%' || md5('7') || '%', md5('3') || '%tail%', '%no such text anywhere, not here%',
    '%t%', '%xp%', '%exp%', '%expo%', '%/expor%', '%a/expor%', '%/b/export', '/api/v1/a/export', '%api/v1/a/export%', '%v1/%a/ex%', '%' || substr(md5('7'), 1, 9) || '%', '%' || substr(md5('8'), 16, 17) || '%', substr(md5('9'), 1, 8) || '%tail%',
    -- that begin in one text and end in the one behind it in memory
    '%export/api%', '%/export/%', '%t/a%', '%' || md5('7') || 'row%', '%babab%a%', '%api%v1%export',
    -- for ILIKE: letters of either case, and those of which one case is ASCII and the other is not
    '%EXPORT%', '/API/V1%', '%/B/Export', 'Ä%', '%Ö%', 'item1%', 'ITEM2%', 'K1', 'ROW 1%', '%TAIL3', 'Changed/Export', 'kelvin', 'KELVIN', '%İ%', '%i%', '%ı%', '%I%', 'straße', 'STRASSE', '%σ', '%Σ']);
CREATE TABLE shape (q text);
INSERT INTO shape SELECT replace(q, '$C', c) FROM (VALUES
    ('SELECT count(*), sum(n) FROM $T WHERE $C LIKE $P'),
    ('SELECT n FROM $T WHERE $C NOT LIKE $P AND n % 7 = 3'),
    ('SELECT count(*) FILTER (WHERE $C LIKE $P), sum(CASE WHEN $C LIKE $P THEN n ELSE -1 END) FROM $T'),
    ('SELECT $C LIKE $P AS yes, count(*), min(n) FROM $T GROUP BY 1'),
    ('SELECT count(*) FROM $T WHERE NOT ($C LIKE $P) OR n < 100'),
    ('SELECT count(*), max(n) FROM $T WHERE starts_with($C, $P) OR $C ILIKE $P'),
    ('SELECT count(*), sum(n) FROM $T WHERE $C ILIKE $P'),
    ('SELECT count(*) FILTER (WHERE $C NOT ILIKE $P), sum(CASE WHEN $C ILIKE $P THEN n ELSE -1 END) FROM $T')) AS s (q),
    unnest(ARRAY['few', 'many', 'long', 'v', 'c']) AS c;
CREATE FUNCTION differences() RETURNS TABLE (query text, heap text, strata text) LANGUAGE sql AS $$
    SELECT * FROM (SELECT x, run(x, 'h') AS a, run(x, 's') AS b FROM (SELECT replace(q, '$P', quote_literal(p)) AS x FROM shape, pattern) AS y) AS z
    WHERE a IS DISTINCT FROM b $$;
SELECT count(*) FROM shape, pattern;
SELECT * FROM differences();
-- the pattern's error comes where PostgreSQL's comes, and for the rows that it comes for
SELECT DISTINCT run(format('SELECT count(*) FROM $T WHERE few LIKE %L', p), 's') FROM pattern WHERE right(p, 1) = E'\\' ORDER BY 1;
SELECT run(E'SELECT count(*) FROM $T WHERE n < 0 AND few LIKE ''a\\''', 's');
-- other collations, and one that LIKE refuses
SELECT * FROM (SELECT x, run(x, 'h') AS a, run(x, 's') AS b FROM unnest(ARRAY[
    'SELECT count(*) FROM $T WHERE few COLLATE "C" LIKE ''%export%''', 'SELECT count(*) FROM $T WHERE few COLLATE "POSIX" NOT LIKE ''a%''',
    'SELECT count(*) FROM $T WHERE lower(v) LIKE ''item1%''', 'SELECT count(*) FROM $T WHERE few || v LIKE ''%export%Item%''',
    'SELECT count(*) FROM $T WHERE few LIKE NULL', 'SELECT count(*) FROM $T WHERE few LIKE ''/api/!%'' ESCAPE ''!''',
    'SELECT count(*) FROM $T WHERE few LIKE ''/api#%'' ESCAPE ''''', 'SELECT count(*) FROM $T WHERE few ^@ ''/api/v1''']) AS x) AS y
    WHERE a IS DISTINCT FROM b;
DO $$ BEGIN
    EXECUTE 'CREATE COLLATION blind (provider = icu, locale = ''und-u-ks-level2'', deterministic = false)';
EXCEPTION WHEN feature_not_supported OR undefined_object THEN NULL;
END $$;
SELECT DISTINCT run(x, 'h') IS NOT DISTINCT FROM run(x, 's') AS same FROM unnest(ARRAY[
    'SELECT count(*), min(n) FROM $T WHERE few COLLATE "tr-x-icu" ILIKE ''%i%''', 'SELECT count(*), min(n) FROM $T WHERE few COLLATE "tr-x-icu" ILIKE ''%İ%''',
    'SELECT count(*), min(n) FROM $T WHERE few COLLATE "lt-x-icu" ILIKE ''%i%''', 'SELECT count(*), min(n) FROM $T WHERE few COLLATE "en-x-icu" ILIKE ''%i%''',
    'SELECT count(*) FROM $T WHERE few COLLATE blind ILIKE ''%export%''', 'SELECT count(*) FROM $T WHERE few COLLATE blind LIKE ''%export%''', 'SELECT count(*) FROM $T WHERE starts_with(few COLLATE blind, ''/api'')']) AS x;
-- patterns that are parameters
PREPARE q (text) AS SELECT count(*), sum(n) FROM s WHERE few LIKE $1;
EXECUTE q ('%export%');
SET plan_cache_mode = force_generic_plan;
EXECUTE q ('%export%');
RESET plan_cache_mode;
SELECT count(*), sum(n) FROM h WHERE few LIKE '%export%';
DROP SCHEMA expr_like CASCADE;
