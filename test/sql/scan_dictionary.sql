-- Equality and IN on columns that batches keep as dictionaries: answers are a
-- heap's, whether a batch's dictionary has the value, one of them, or none.
SET client_min_messages = error;
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 100;
CREATE SCHEMA scan_dictionary;
SET search_path = scan_dictionary, public;
CREATE TABLE h (n int, word text, short varchar(9), raw bytea, id uuid, nulls text, own text COLLATE "C");
CREATE TABLE s (LIKE h) USING strata;
ALTER TABLE s SET (strata.orderby = 'n');
-- each word is in some batches; nulls begin every other batch, and are all there is in some
INSERT INTO h SELECT i, 'word ' || i % 7 + i / 500 * 3, 'v' || i % 3 + i / 1000, CASE WHEN i % 11 > 0 THEN decode(lpad(to_hex(i % 5 + i / 700), 4, '0'), 'hex') END,
    lpad((i % 6 + i / 900)::text, 32, '0')::uuid, CASE WHEN i % 200 > 60 AND i / 1000 <> 2 THEN 'x' || i % 4 + i / 800 END, repeat('long ', i % 3 + i / 400)
    FROM generate_series(0, 4999) AS i;
INSERT INTO s TABLE h;
SELECT compress_chunk('s');
CREATE FUNCTION different(cond text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    expected text;
    got text;
BEGIN
    EXECUTE 'SELECT count(*) || '' '' || sum(n) FROM h WHERE ' || cond INTO expected;
    EXECUTE 'SELECT count(*) || '' '' || sum(n) FROM s WHERE ' || cond INTO got;
    IF got IS DISTINCT FROM expected THEN
        RETURN NEXT format('%s: %s, not %s', cond, got, expected);
    END IF;
END $$;
CREATE TABLE conds AS SELECT format(form, col, val) AS cond
    FROM (SELECT 'word', format('word %s', i) FROM generate_series(0, 40, 3) AS i UNION ALL SELECT 'short', 'v' || i FROM generate_series(0, 8) AS i
        UNION ALL SELECT 'raw', '\x000' || i FROM generate_series(0, 9) AS i UNION ALL SELECT 'id', lpad(i::text, 32, '0') FROM generate_series(0, 11, 2) AS i
        UNION ALL SELECT 'nulls', 'x' || i FROM generate_series(0, 10) AS i UNION ALL SELECT 'own', repeat('long ', i) FROM generate_series(0, 15) AS i) AS v (col, val),
        unnest(ARRAY['%1$s = %2$L', '%1$s IN (%2$L, %2$L) AND n > 1234', '%1$s <> %2$L', 'NOT %1$s = %2$L', '%1$s = %2$L OR n < 50', 'n %% 2 = 0 AND %1$s = %2$L', '(%1$s = %2$L) IS NULL',
            '%1$s = %2$L AND word = ''word 5''', '%1$s NOT IN (%2$L, %2$L)', '%2$L = %1$s AND nulls IS NOT NULL', 'nulls = ''x3'' OR %1$s = %2$L']) AS form;
SELECT different(cond) FROM conds;
INSERT INTO conds VALUES ('word IN (''word 1'', ''word 20'', NULL)'), ('word = ANY (''{}'')'), ('word = ANY (ARRAY(SELECT ''word '' || i FROM generate_series(1, 2000, 2) AS i))'),
    ('nulls IN (''x1'', ''x9'', ''none'')'), ('word = NULL'), ('word IN (NULL)'), ('word = ''word 3'' COLLATE "C"'), ('upper(word) = ''WORD 3'''), ('word LIKE ''word 1%'' AND word = ''word 12''');
-- rows that have left their batches, and values that change from one scan to the next
DELETE FROM h WHERE word = 'word 4' OR n % 100 = 0;
DELETE FROM s WHERE word = 'word 4' OR n % 100 = 0;
UPDATE h SET word = 'word 0', nulls = 'new' WHERE short = 'v2' AND n % 3 = 0;
UPDATE s SET word = 'word 0', nulls = 'new' WHERE short = 'v2' AND n % 3 = 0;
SELECT different(cond) FROM conds;
SELECT different(format('word = (SELECT word FROM %s WHERE n = 4321)', 'h'));
PREPARE p(text, text[]) AS SELECT count(*) FROM s WHERE word = $1 OR nulls = ANY ($2);
SET plan_cache_mode = force_generic_plan;
EXECUTE p('word 9', '{x2,x3}');
EXECUTE p('none', '{x2,none,NULL}');
EXECUTE p('none', NULL);
SELECT count(*), sum(a.k) FROM (SELECT v.w, (SELECT count(*) FROM s WHERE word = v.w) AS k FROM (SELECT 'word ' || i FROM generate_series(-1, 40) AS i) AS v (w)) AS a;
SELECT count(*), sum(a.k) FROM (SELECT v.w, (SELECT count(*) FROM h WHERE word = v.w) AS k FROM (SELECT 'word ' || i FROM generate_series(-1, 40) AS i) AS v (w)) AS a;
DROP SCHEMA scan_dictionary CASCADE;
