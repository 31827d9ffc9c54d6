-- Parts of values: lengths, first bytes and members of documents are what they
-- are of a heap's rows, whether columns are read in part or not.
SET client_min_messages = warning;
CREATE TABLE part_heap (id int, body text, short varchar(40), raw bytea, doc jsonb);
INSERT INTO part_heap
SELECT i,
       CASE WHEN i % 11 = 0 THEN NULL WHEN i % 17 = 0 THEN ''
            ELSE left('row ' || i || CASE WHEN i % 3 = 0 THEN ' é€𝄞é€𝄞é€𝄞 ' ELSE ' ' END
                      || repeat(md5(i::text) || CASE WHEN i % 5 = 0 THEN 'é' ELSE '-' END || ' lorem ipsum ', 700), 9000 + (i * 7919) % 20000) END,
       CASE WHEN i % 6 > 0 THEN 'short ' || i % 40 END,
       CASE WHEN i % 7 > 0 THEN decode(repeat(md5(i::text), 600 + i % 100), 'hex') END,
       CASE i % 13
            WHEN 0 THEN NULL WHEN 1 THEN '[1, {"k1": 2}]' WHEN 2 THEN '"k1"' WHEN 3 THEN '{}'
            ELSE (SELECT jsonb_object_agg('k' || j, CASE j % 5 WHEN 0 THEN to_jsonb(i * j) WHEN 1 THEN to_jsonb('v' || (i % 20))
                                                         WHEN 2 THEN to_jsonb(i % 2 = 0) WHEN 3 THEN 'null' ELSE to_jsonb(i % 3 + 0.50) END)
                    FROM generate_series(1, 12) j)
                 || jsonb_build_object('n', jsonb_build_object('a', i % 5, 'b', 'deep ' || i, 'c', jsonb_build_array(i, 'x')),
                                       'mixed', CASE i % 4 WHEN 0 THEN to_jsonb(i) WHEN 1 THEN '"text"' WHEN 2 THEN 'true' ELSE '{"o": 1}' END) END
  FROM generate_series(1, 700) i;
CREATE TABLE part_strata (LIKE part_heap) USING strata;
ALTER TABLE part_strata SET (strata.orderby = 'id');
INSERT INTO part_strata SELECT * FROM part_heap WHERE id <= 650;
SELECT count(*) FROM compress_chunk('part_strata');
INSERT INTO part_strata SELECT * FROM part_heap WHERE id > 650;
DELETE FROM part_strata WHERE id IN (100, 200);
DELETE FROM part_heap WHERE id IN (100, 200);
SELECT DISTINCT column_name, codec FROM strata.batch_columns('part_strata') WHERE column_name IN ('body', 'raw', 'doc') ORDER BY 1;

CREATE TABLE part_query (n serial, sql text);
INSERT INTO part_query (sql) VALUES
('SELECT id, substr(body, 1, 20), substring(body FROM 1 FOR 3), left(body, 7), left(body, 200) FROM T'),
('SELECT id, length(body), char_length(body), octet_length(body), length(short), octet_length(short), length(raw), octet_length(raw) FROM T'),
('SELECT id, substr(body, -3, 10), substr(body, 0, 2), substr(body, 1, 0), substr(body, 9, 4), left(body, 0), left(body, -8990) FROM T'),
('SELECT id, substr(raw, 1, 10), substr(raw, -3, 9), substring(raw FROM 2 FOR 700), md5(substr(body, 1, 5000)) FROM T'),
('SELECT id, substr(body, 8990), substr(body, 8990, 30) FROM T'),
('SELECT id FROM T WHERE body LIKE ''row 1%'''),
('SELECT id FROM T WHERE body NOT LIKE ''row 1%'' AND body NOT LIKE ''row 2_ %'' AND body LIKE ''%ipsum%'''),
('SELECT id FROM T WHERE starts_with(body, ''row 15 é'') OR body LIKE ''row 3%'' OR body LIKE '''' OR body = ''row 5'''),
('SELECT id FROM T WHERE body = '''' OR raw = ''\x00'''),
('SELECT id FROM T WHERE body <> ''''  AND short = ''short 3'''),
('SELECT id FROM T WHERE body IN (''a'', '''') OR body IS NULL'),
('SELECT id FROM T WHERE body IS NOT NULL AND raw IS NULL'),
('SELECT count(*), count(body), sum(length(body)), max(octet_length(body)), avg(length(raw)) FROM T'),
('SELECT substr(body, 1, 5) AS k, count(*), sum(length(body)) FROM T GROUP BY 1'),
('SELECT length(short) AS k, count(*), min(left(body, 9)) FROM T GROUP BY 1'),
('SELECT max(left(body, 6)) FILTER (WHERE length(raw) > 9800), count(*) FILTER (WHERE body LIKE ''row 2%'') FROM T'),
('SELECT upper(left(body, 3)) || length(body) AS k, count(*) FROM T GROUP BY 1'),
('SELECT CASE WHEN length(body) > 15000 THEN left(body, 5) ELSE doc->>''k1'' END AS k, count(*) FROM T GROUP BY 1'),
('SELECT DISTINCT substr(body, 1, 7) FROM T WHERE length(body) BETWEEN 10000 AND 20000'),
('SELECT id FROM T WHERE length(body) > 15000 AND substr(body, 5, 1) = ''7'''),
('SELECT id, position(''lorem'' IN body), strpos(body, ''zz'') FROM T'),
('SELECT id, position(''-'' IN body) FROM T WHERE position(''é'' IN body) > 40'),
('SELECT id, strpos(body, ''row 1'') AS p, strpos(short, ''t 3''), position(''\x0099''::bytea IN raw) FROM T'),
('SELECT id FROM T WHERE body LIKE ''%𝄞é€%'' AND body NOT LIKE ''%nowhere%'''),
('SELECT id FROM T WHERE body LIKE ''%row%ipsum%-%ip%'''),
('SELECT id FROM T WHERE body NOT LIKE ''%e5%\%%'' OR body LIKE ''%%'''),
('SELECT id FROM T WHERE body LIKE ''%7%lorem'' OR body LIKE ''row%55%'' OR body LIKE ''%row 6_%'''),
('SELECT id, position('''' IN body), strpos(body, NULL), position(short IN body) FROM T'),
('SELECT id, position(md5(id::text) IN body), strpos(body COLLATE "C", ''lorem'') FROM T'),
('SELECT position(''ipsum'' IN body) AS p, count(*), max(strpos(body, ''b'')) FROM T GROUP BY 1'),
('SELECT id, body, left(body, 3) FROM T WHERE id BETWEEN 300 AND 310'),
('SELECT doc->>''k1'' AS k, count(*) FROM T GROUP BY 1'),
('SELECT doc->''k1'' AS k, count(*) FROM T GROUP BY 1'),
('SELECT id, doc->''k4'', doc->>''k4'', doc->''k5'', doc->>''k2'', doc->''k2'', doc->''k3'', doc->>''k3'', doc->''none'', doc->>''none'' FROM T'),
('SELECT id, doc->''n''->>''a'', doc->''n''->''b'', doc#>>''{n,b}'', doc#>''{n,a}'', doc#>>''{n,none}'', doc#>>''{n,c,0}'', doc->''k1''->>''a'' FROM T'),
('SELECT id, doc->''n'', doc->>''n'', doc->''n''->''c'', doc->''mixed'', doc->>''mixed'', doc#>''{}'' FROM T'),
('SELECT sum((doc->>''k5'')::numeric), avg((doc->>''k4'')::float8) FROM T WHERE doc->>''k1'' = ''v3'''),
('SELECT id FROM T WHERE (doc->>''k5'')::int > 2000'),
('SELECT id FROM T WHERE doc->>''k6'' LIKE ''v1%'' AND doc->>''k3'' IS NULL AND (doc->''k2'')::bool'),
('SELECT id FROM T WHERE doc->>''k1'' IS NULL'),
('SELECT lower(doc->>''k1'') || length(body) AS k, max(doc->''n''->>''b'') FROM T GROUP BY 1');

-- which queries give other rows than the heap
CREATE FUNCTION part_differences(parts text) RETURNS TABLE (n int, differ bigint) LANGUAGE plpgsql AS $$
DECLARE
    q record;
BEGIN
    PERFORM set_config('strata.enable_value_parts', parts, true);
    FOR q IN SELECT * FROM part_query ORDER BY part_query.n LOOP
        EXECUTE replace(replace('SELECT count(*) FROM ((TABLE s EXCEPT ALL TABLE h) UNION ALL (TABLE h EXCEPT ALL TABLE s)) x',
                                'TABLE s', 'SELECT * FROM (' || replace(q.sql, 'FROM T', 'FROM part_strata') || ') s'),
                        'TABLE h', 'SELECT * FROM (' || replace(q.sql, 'FROM T', 'FROM part_heap') || ') h') INTO differ;
        n := q.n;
        IF differ > 0 THEN RETURN NEXT; END IF;
    END LOOP;
END $$;
SELECT * FROM part_differences('on');
SELECT * FROM part_differences('off');

-- what stands anywhere in values of some blocks, also where blocks meet
CREATE TABLE part_place (id int, body text, n int) USING strata;
INSERT INTO part_place
SELECT i, repeat('ab', p / 2) || repeat('c', p % 2) || repeat('needle', 700) || repeat('abc', 20000), p
  FROM (SELECT i, CASE WHEN i <= 40 THEN 485 + i ELSE (i * 7919) % 66000 END AS p FROM generate_series(1, 240) i) x;
SELECT count(*) FROM compress_chunk('part_place');
SELECT DISTINCT codec FROM strata.batch_columns('part_place') WHERE column_name = 'body';
SELECT count(*), count(*) FILTER (WHERE position('needle' IN body) = n + 1) AS found, count(*) FILTER (WHERE body LIKE '%needle%') AS matched,
       count(*) FILTER (WHERE position(repeat('needle', 700) IN body) = n + 1) AS long, count(*) FILTER (WHERE strpos(body, repeat('needle', 701)) > 0) AS longer FROM part_place;
SELECT count(*) FROM part_place WHERE body LIKE '%needle%' AND body LIKE '%n%e%e%dle%bca%';
DROP TABLE part_place;

-- in the order of batches, and backward
SELECT string_agg(left(body, 8), ',') FROM (SELECT left(body, 12) AS body FROM part_strata ORDER BY id DESC LIMIT 5) x;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, left(body, 8), length(body) FROM part_strata WHERE id < 6;
MOVE FORWARD ALL IN c;
FETCH BACKWARD 3 FROM c;
FETCH FORWARD 2 FROM c;
COMMIT;

-- errors are PostgreSQL's
SELECT substr(body, 1, -1) FROM part_strata WHERE id = 7;
SELECT substr(raw, 1, -1) FROM part_strata WHERE id = 8;
SELECT count(*) FROM part_strata WHERE (doc->>'k1')::int > 0;
SELECT count(*) FROM part_strata WHERE left(body, 3)::int > 0;
SELECT substr(body, 2000000000, 2000000000) FROM part_strata WHERE id = 7;

-- a collation that is not deterministic: an error before 18
CREATE COLLATION part_ignore (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE FUNCTION part_outcome(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    EXECUTE sql INTO n;
    RETURN n;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE;
END $$;
SELECT part_outcome('SELECT count(*) FROM part_strata WHERE strpos(body COLLATE part_ignore, ''LOREM'') > 0') =
       part_outcome('SELECT count(*) FROM part_heap WHERE strpos(body COLLATE part_ignore, ''LOREM'') > 0') AS same;
DROP FUNCTION part_outcome(text);
DROP COLLATION part_ignore;

-- prepared, with a parameter that is no constant in a generic plan
SET plan_cache_mode = force_generic_plan;
PREPARE p(int, text) AS SELECT id, left(body, $1), doc->>$2 FROM part_strata WHERE id IN (14, 15, 667) ORDER BY id;
EXECUTE p(6, 'k1');
EXECUTE p(0, 'none');
RESET plan_cache_mode;

-- a column that came later, one that went, and one of another type
ALTER TABLE part_strata ADD COLUMN later text DEFAULT 'later', DROP COLUMN raw, ALTER COLUMN short TYPE text;
SELECT count(*), min(left(later, 3)), sum(length(later)), sum(length(short)) FROM part_strata;
SELECT left(later, 2), length(body) FROM part_strata WHERE id = 31;
DROP TABLE part_strata, part_heap, part_query;
DROP FUNCTION part_differences(text);

-- lengths of short texts that are all different, with characters of several bytes
CREATE TABLE part_heap AS SELECT i AS id, CASE WHEN i % 9 > 0 THEN left('line ' || i || md5(i::text) || CASE WHEN i % 4 = 1 THEN ' é€𝄞' ELSE '' END, i % 50) END AS line,
    CASE WHEN i % 6 > 0 THEN CASE WHEN i % 8 = 5 THEN 'kürzer € ' ELSE 'short ' END || i % 40 END AS word FROM generate_series(1, 3000) i;
CREATE TABLE part_strata (LIKE part_heap) USING strata;
ALTER TABLE part_strata SET (strata.orderby = 'id');
INSERT INTO part_strata SELECT * FROM part_heap WHERE id <= 2900;
SELECT count(*) FROM compress_chunk('part_strata');
INSERT INTO part_strata SELECT * FROM part_heap WHERE id > 2900;
SELECT count(*), sum(length(line)), max(char_length(line)), sum(octet_length(line)), avg(length(word)), count(length(word)) FROM part_strata WHERE length(line) > 7;
SELECT count(*), sum(length(line)), max(char_length(line)), sum(octet_length(line)), avg(length(word)), count(length(word)) FROM part_heap WHERE length(line) > 7;
SELECT count(*) FROM (SELECT id, line, length(line), word, length(word) FROM part_strata EXCEPT SELECT id, line, length(line), word, length(word) FROM part_heap) AS x;
SELECT length(line) AS n, count(*), min(length(word)) FROM part_strata GROUP BY 1 EXCEPT SELECT length(line) AS n, count(*), min(length(word)) FROM part_heap GROUP BY 1;
DROP TABLE part_strata, part_heap;
