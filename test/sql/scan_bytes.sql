-- "=" and IN of types whose equal values have equal bytes.  Answers are heap's.
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET client_min_messages = error;
-- tables
CREATE COLLATION nocase (PROVIDER = icu, LOCALE = 'und-u-ks-level2', DETERMINISTIC = false);
CREATE TABLE h (t timestamptz, dev int, trace uuid, tag text, v varchar(40), y bytea, ci text COLLATE nocase, big text, gone text);
CREATE TABLE s (LIKE h) USING strata WITH (strata.segmentby = 'dev', strata.orderby = 't');
INSERT INTO h SELECT '2026-01-01'::timestamptz + i * interval '1 s', i % 3, md5(i::text)::uuid,
	CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN '' ELSE 'tag' || i / 300 END, md5((i / 2)::text), decode(md5(i::text), 'hex'),
	CASE WHEN i % 2 = 0 THEN 'Name' ELSE 'name' END || i / 500, CASE WHEN i % 400 = 7 THEN repeat(md5(i::text), 200) ELSE md5(i::text) END, 'g' || i
	FROM generate_series(1, 3000) AS i;
INSERT INTO s SELECT * FROM h;
SELECT compress_chunk('s');
INSERT INTO h SELECT '2026-02-01'::timestamptz + i * interval '1 s', 1, md5((i + 10000)::text)::uuid, 'late', 'late', '\x00', 'LATE', 'late', NULL FROM generate_series(1, 50) AS i;
INSERT INTO s SELECT '2026-02-01'::timestamptz + i * interval '1 s', 1, md5((i + 10000)::text)::uuid, 'late', 'late', '\x00', 'LATE', 'late', NULL FROM generate_series(1, 50) AS i;
SELECT * FROM strata.verify('s');
-- conditions on both; rows that differ are counted
CREATE TABLE condition (c text);
INSERT INTO condition VALUES ('trace = md5(''77'')::uuid'), ('md5(''77'')::uuid = trace'), ('trace = md5(''x'')::uuid'), ('trace <> md5(''77'')::uuid'), ('trace IN (md5(''1'')::uuid, md5(''2999'')::uuid, NULL)'), ('trace = ANY (NULL::uuid[])'), ('trace = ANY (''{}''::uuid[])'),
	('trace <> ALL (ARRAY[md5(''1'')::uuid])'), ('trace = NULL'), ('trace > md5(''77'')::uuid'), ('NOT trace = md5(''5'')::uuid'),
	('tag = ''tag3'''), ('tag = '''''), ('tag = ''none'''), ('tag IN (''tag1'', ''tag9'', ''late'')'), ('tag IN (''none'', NULL)'), ('tag IS NULL'), ('tag = ''tag3'' OR tag = ''late'''), ('tag = ''tag3'' OR dev = 2'), ('tag = ''tag3'' AND dev = 2'),
	('tag = ''none'' OR tag IS NULL'), ('tag = ''tag3'' COLLATE "C"'), ('tag = ''TAG3'' COLLATE nocase'), ('tag IN (''TAG3'', ''x'') '), ('lower(tag) = ''tag3'''), ('tag::varchar = ''tag3'''), ('tag::bpchar = ''tag3  '''), ('tag = ''tag3 '''), ('tag::name = ''tag3'''), ('tag LIKE ''tag3'''),
	('v = md5(''77'')'), ('v = ''late'''), ('v = ''none'''), ('v::text = md5(''3'')'), ('y = decode(md5(''9''), ''hex'')'), ('y = ''\x00'''), ('y = ''\x'''), ('y IN (''\x00'', ''\x01'')'),
	('ci = ''NAME3'''), ('ci = ''name3'' COLLATE "C"'), ('ci IN (''LATE'', ''nAmE1'')'), ('big = repeat(md5(''407''), 200)'), ('big = md5(''408'')'), ('big = ''none'''), ('gone = ''g17'''), ('gone = ''none'' AND 1 / (dev - dev + 1) = 1'),
	('tag = (SELECT ''tag'' || 4)'), ('trace = (SELECT trace FROM h ORDER BY t LIMIT 1)'), ('CASE WHEN tag = ''tag3'' THEN true END'), ('tag IS NOT DISTINCT FROM ''tag3'''), ('(tag = ''tag3'') IS NOT TRUE'), ('trace = md5(''77'')::uuid AND t > ''2026-01-01'' AND tag > ''a''');
CREATE FUNCTION failed() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE cond text; n bigint; differs boolean; BEGIN
	FOR cond IN SELECT c FROM condition LOOP
		EXECUTE format('SELECT count(*) FROM ((SELECT * FROM h WHERE %1$s EXCEPT ALL SELECT * FROM s WHERE %1$s) UNION ALL (SELECT * FROM s WHERE %1$s EXCEPT ALL SELECT * FROM h WHERE %1$s)) AS d', cond) INTO n;
		EXECUTE format('SELECT (SELECT (count(*), min(t), max(dev))::text FROM h WHERE %1$s) IS DISTINCT FROM (SELECT (count(*), min(t), max(dev))::text FROM s WHERE %1$s)', cond) INTO differs;
		IF n > 0 OR differs THEN RETURN NEXT cond; END IF;
	END LOOP;
END $$;
SELECT * FROM failed();
SET strata.enable_pruning = off;
SELECT * FROM failed();
RESET strata.enable_pruning;
-- prepared, joined
PREPARE q(text) AS SELECT count(*) FROM s WHERE tag = $1;
EXECUTE q('tag2'); EXECUTE q('none'); EXECUTE q(NULL);
SET plan_cache_mode = force_generic_plan;
EXECUTE q('tag2'); EXECUTE q('none'); EXECUTE q(NULL); EXECUTE q(repeat('x', 3000));
RESET plan_cache_mode;
SELECT (SELECT count(*) FROM (VALUES ('tag1'), ('none'), (NULL), ('late')) AS x (k), LATERAL (SELECT * FROM s WHERE tag = x.k) AS m) =
	(SELECT count(*) FROM (VALUES ('tag1'), ('none'), (NULL), ('late')) AS x (k), LATERAL (SELECT * FROM h WHERE tag = x.k) AS m) AS equal;
-- changes, merges, columns dropped, added, of another type
UPDATE h SET tag = 'changed' WHERE trace = md5('100')::uuid;
UPDATE s SET tag = 'changed' WHERE trace = md5('100')::uuid;
DELETE FROM h WHERE tag = 'tag5';
DELETE FROM s WHERE tag = 'tag5';
INSERT INTO condition VALUES ('tag = ''changed''');
SELECT * FROM failed();
SELECT compress_chunk('s', recompress => true);
SELECT * FROM strata.verify('s');
SELECT * FROM failed();
DELETE FROM condition WHERE c LIKE '%gone%';
ALTER TABLE h DROP COLUMN gone;
ALTER TABLE s DROP COLUMN gone;
ALTER TABLE h ADD COLUMN extra text DEFAULT 'extra';
ALTER TABLE s ADD COLUMN extra text DEFAULT 'extra';
ALTER TABLE h ALTER v TYPE text;
ALTER TABLE s ALTER v TYPE text;
INSERT INTO condition VALUES ('extra = ''extra'''), ('extra = ''none'''), ('extra IN (''none'', ''one'')');
SELECT * FROM failed();
INSERT INTO h (t, dev, tag, extra) SELECT '2026-03-01'::timestamptz + i * interval '1 s', 2, 'more', 'one' FROM generate_series(1, 250) AS i;
INSERT INTO s (t, dev, tag, extra) SELECT '2026-03-01'::timestamptz + i * interval '1 s', 2, 'more', 'one' FROM generate_series(1, 250) AS i;
SELECT compress_chunk('s');
SELECT * FROM strata.verify('s');
SELECT * FROM failed();
ALTER TABLE h ALTER tag TYPE varchar USING upper(tag);
ALTER TABLE s ALTER tag TYPE varchar USING upper(tag);
SELECT compress_chunk('s');
INSERT INTO condition VALUES ('tag = ''TAG3'''), ('tag IN (''MORE'', ''nothing'')');
SELECT * FROM strata.verify('s');
SELECT * FROM failed();
-- another collation of the same bytes
DELETE FROM condition WHERE c LIKE '%::name%' OR c LIKE '% LIKE %';
ALTER TABLE h ALTER tag TYPE text COLLATE nocase;
ALTER TABLE s ALTER tag TYPE text COLLATE nocase;
INSERT INTO condition VALUES ('tag = ''tAg3''');
SELECT * FROM failed();
-- straight into batches, long batches
CREATE TABLE d (LIKE h) USING strata WITH (strata.orderby = 't', strata.codec_level = 'archive', strata.direct_load);
INSERT INTO d SELECT * FROM h;
SET strata.batch_rows = 32767;
SELECT compress_chunk('d', recompress => true);
SELECT * FROM strata.verify('d');
SELECT count(*) FROM d WHERE v = md5('77');
SELECT count(*) FROM d WHERE v = 'none' AND t IS NOT NULL;
SELECT count(*) FROM d WHERE big = repeat(md5('407'), 200);
SELECT compress_chunk('s', recompress => true);
SELECT * FROM strata.verify('s');
SELECT * FROM failed();
-- many columns, which share values
DO $$ BEGIN
	EXECUTE 'CREATE TABLE w (id int, ' || (SELECT string_agg(format('c%s text', i), ', ') FROM generate_series(1, 600) AS i) || ') USING strata WITH (strata.orderby = ''id'')';
	EXECUTE 'INSERT INTO w SELECT i, ' || (SELECT string_agg(format('left(md5((i * %s)::text), 8)', i), ', ') FROM generate_series(1, 600) AS i) || ' FROM generate_series(1, 60) AS i';
END $$;
SELECT compress_chunk('w');
SELECT * FROM strata.verify('w');
SELECT id FROM w WHERE c300 = left(md5('6000'), 8);
SELECT id FROM w WHERE c599 = left(md5('5990'), 8);
SELECT id FROM w WHERE c2 = left(md5('40'), 8);
DROP TABLE h, s, d, w, condition;
DROP FUNCTION failed;
DROP COLLATION nocase;
