-- Groups of strings that batches have in dictionaries: the same as a heap's, however many strings there are, whatever the other keys, when groups are spilled and when plans are executed again.
SET client_min_messages = error;
SET strata.batch_rows = 300;
CREATE SCHEMA agg_strings;
SET search_path = agg_strings, public;
CREATE COLLATION own FROM "C";
DO $$ BEGIN
    EXECUTE 'DROP COLLATION own';
    EXECUTE 'CREATE COLLATION own (provider = icu, locale = ''und-u-ks-level2'', deterministic = false)';
EXCEPTION WHEN feature_not_supported OR undefined_object THEN NULL;
END $$;
CREATE TABLE h (n int NOT NULL, seg text, word text, long text, either text COLLATE own, raw bytea, id uuid, many text COLLATE own, ch char(12), num numeric);
CREATE TABLE s (LIKE h) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'n');
-- each batch has some of the last one's words, and new ones; most differ in the middle only
INSERT INTO h SELECT i, CASE WHEN i % 1000 > 0 THEN 's' || i / 1000 % 5 END, CASE WHEN i % 17 = 0 THEN NULL WHEN i % 19 = 0 THEN '' WHEN i % 23 = 0 THEN 'w' || i % 5 ELSE 'prefix--' || i / 200 * 80 + i % 100 || '--suffix' END,
    repeat('x', 100 + i % 60) || CASE i % 3 WHEN 0 THEN 'ä' ELSE '' END, CASE i % 4 WHEN 0 THEN 'AbC' WHEN 1 THEN 'aBc' ELSE 'd' || i % 7 END, decode(lpad(to_hex(i % 30), 2 * (1 + i % 20), '0'), 'hex'), md5((i % 50)::text)::uuid,
    CASE WHEN i % 2 = 0 THEN 'Many' ELSE 'mANY' END || i / 300 * 50 + i % 130, 'c' || i * 7 % 150, (i % 110)::numeric(9, 2) + CASE WHEN i % 2 = 0 THEN 0 ELSE 0.000 END
    FROM generate_series(1, 12000) AS i;
INSERT INTO s TABLE h;
SELECT compress_chunk('s') IS NOT NULL AS compressed;
INSERT INTO h SELECT n + 12000, seg, word || CASE WHEN n % 3 = 0 THEN 'late' ELSE '' END, long, either, raw, id, many, ch, num FROM h WHERE n % 41 = 0;
INSERT INTO s SELECT * FROM h WHERE n > 12000;
DELETE FROM h WHERE n % 97 = 3;
DELETE FROM s WHERE n % 97 = 3;
CREATE FUNCTION answer(query text, t text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C")) FROM (%s) AS q', replace(query, '$T', t)) INTO result;
    RETURN result;
END $$;
-- what the heap answered, which is asked once for each query
CREATE TABLE asked (question text, answer text);
CREATE FUNCTION differ() RETURNS TABLE (query text, strata text, heap text) LANGUAGE plpgsql AS $$
BEGIN
    FOR query IN SELECT format('SELECT %s, count(*), sum(n)%s FROM $T WHERE %s GROUP BY %s', CASE WHEN k ~ 'either|many|num' THEN '1' ELSE k END, more, w, k)
        FROM unnest(ARRAY['word', 'seg, word', 'word, seg, id', 'long', 'long, seg', 'either', 'seg, either', 'raw', 'id', 'word, id', 'word, n / 300', 'upper(word)', 'length(word), seg', 'upper(word), length(word)', 'lower(long)', 'seg, many', 'ch', 'num']) AS k,
        unnest(ARRAY['', ', count(DISTINCT word), min(long), count(DISTINCT many)', ', sum(n) FILTER (WHERE word LIKE ''%77%''), min(upper(long)), avg(num), bool_or(n % 7 = 0)']) AS more, unnest(ARRAY['true', 'n % 5 <> 0 AND (word ~ ''[05]--'' OR word = '''')']) AS w
        UNION ALL VALUES ('SELECT DISTINCT word FROM $T'), ('SELECT count(DISTINCT word), count(DISTINCT many), count(DISTINCT num), count(DISTINCT id), count(DISTINCT seg), count(DISTINCT long) FILTER (WHERE n % 3 = 0) FROM $T'), ('SELECT count(DISTINCT word) FROM $T WHERE word ~ ''late'''), ('SELECT seg, word, count(*) FROM $T GROUP BY ROLLUP (seg, word)'), ('SELECT word, long, count(*) FROM $T GROUP BY GROUPING SETS (word, long)'),
            ('SELECT v.i, x.* FROM generate_series(1, 4) AS v(i), LATERAL (SELECT word, count(*), max(n) FROM $T WHERE n % 4 < v.i AND n < v.i * 2400 GROUP BY 1) AS x'),
            ('SELECT word, count(*) FROM (SELECT word, seg, n FROM $T WHERE n < 4000 UNION ALL SELECT word, seg, n FROM $T WHERE n > 8000) AS u GROUP BY 1') LOOP
        strata := answer(query, 's');
        INSERT INTO asked SELECT query, answer(query, 'h') WHERE NOT EXISTS (SELECT FROM asked AS a WHERE a.question = query);
        heap := (SELECT a.answer FROM asked AS a WHERE a.question = query);
        IF strata IS DISTINCT FROM heap THEN
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;
SELECT * FROM differ();
SET strata.enable_value_memo = off;
SELECT count(*) FROM differ();
RESET strata.enable_value_memo;
SET work_mem = '64kB';
SET strata.agg_least_groups = 16;
SET hash_mem_multiplier = 1;
SELECT count(*) FROM differ();
-- groups go to files while their numbers are known
SELECT answer('SELECT seg, word, count(*), sum(n), array_agg(n ORDER BY n) FROM $T GROUP BY 1, 2', 's') = answer('SELECT seg, word, count(*), sum(n), array_agg(n ORDER BY n) FROM $T GROUP BY 1, 2', 'h') AS same;
DROP SCHEMA agg_strings CASCADE;
