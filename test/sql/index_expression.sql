-- Indexes on expressions, and of some rows, lead to batches: answers are heap's, with the batch index and without, whatever became of the table.
SET timezone = 'UTC';
SET client_min_messages = error;
SET strata.batch_rows = 100;
-- small companions have none
SET strata.index_pages = 0;
CREATE FUNCTION shorten(text, int) RETURNS varchar LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN left($1, $2); END $$;
CREATE FUNCTION inlined(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2 + 1';
CREATE TABLE t (ts timestamptz NOT NULL, dev int, mail text, num bigint, state text, f float8, doc jsonb, x float8, y float8, addr inet, extra text, gone int)
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
ALTER TABLE t DROP gone;
CREATE TABLE h (LIKE t);
CREATE FUNCTION made(a int, b int, late interval = '0') RETURNS SETOF h LANGUAGE sql AS $$
	SELECT '2026-01-01'::timestamptz + i * interval '30 s' - late, i % 3, CASE WHEN i % 41 = 0 THEN NULL ELSE 'User' || i * 7919 % 2003 || '@Example.org' END, (i::bigint * 7919 * 104729) % 1000000007,
		CASE WHEN i % 97 = 0 THEN NULL WHEN i / 300 % 5 = 0 AND i % 10 = 0 THEN 'failed' ELSE 'done' END, CASE i % 500 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' WHEN 3 THEN 'infinity' ELSE i / 7.0 END,
		CASE WHEN i % 301 <> 0 THEN jsonb_build_object('id', i, 'user', 'u' || i / 50, 'tags', jsonb_build_array('g' || i / 90, 'all')) END, i / 100 * 7 % 50 + i % 3 / 4.0, CASE WHEN i % 777 = 0 THEN NULL ELSE i / 100 % 40 END,
		('10.' || i / 250 || '.0.' || i % 250)::inet, CASE WHEN i % 20 = 0 THEN 'word' || i / 60 || ' again' END
	FROM generate_series(a, b) AS i $$;
CREATE INDEX t_lower ON t (lower(mail));
CREATE INDEX t_doc ON t ((doc ->> 'user'), ts);
CREATE INDEX t_id ON t USING hash (((doc ->> 'id')::int));
CREATE INDEX t_short ON t (shorten(mail, 6));
CREATE INDEX t_sum ON t ((num + dev));
CREATE INDEX t_inlined ON t (inlined(dev), num);
CREATE INDEX t_coalesce ON t ((coalesce(mail, 'none')));
CREATE INDEX t_state ON t USING hash (state) WHERE dev > 0;
CREATE INDEX t_f ON t ((f + 0));
CREATE INDEX t_date ON t (((ts AT TIME ZONE 'UTC')::date));
CREATE INDEX t_failed ON t (mail) WHERE state = 'failed';
CREATE INDEX t_failed_ts ON t (ts) WHERE state = 'failed' AND num > 1000;
CREATE INDEX t_extra ON t USING hash (extra) WHERE extra IS NOT NULL;
CREATE UNIQUE INDEX t_unique ON t (ts, dev, lower(mail)) WHERE num > 5;
CREATE INDEX t_lower_failed ON t (upper(mail), ts) WHERE state IN ('failed', 'none');
CREATE INDEX t_words ON t USING gin (to_tsvector('simple', extra));
CREATE INDEX t_tags ON t USING gin ((doc -> 'tags')) WHERE dev <> 1;
CREATE INDEX t_point ON t USING gist (point(x, y));
CREATE INDEX t_box ON t USING gist (box(point(x, y), point(x + 1, y + 1))) WHERE state = 'failed';
CREATE INDEX t_net ON t USING brin (network(set_masklen(addr, 24)) inet_inclusion_ops);
CREATE INDEX t_abs ON t USING brin (abs(num) int8_minmax_multi_ops, dev) WHERE dev = 2;
INSERT INTO t SELECT * FROM made(1, 4000);
INSERT INTO h SELECT * FROM made(1, 4000);
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
ANALYZE t;
-- one row in twenty comes late
INSERT INTO t SELECT * FROM made(4001, 4200, '20 h');
INSERT INTO h SELECT * FROM made(4001, 4200, '20 h');
CREATE TABLE condition (c text);
INSERT INTO condition VALUES ('lower(mail) = ''user77@example.org'''), ('lower(mail) = ''User77@Example.org'''), ('lower(mail) IN (''user77@example.org'', ''user78@example.org'', NULL)'), ('lower(mail) = ANY (''{}'')'), ('lower(mail) = NULL'), ('''user77@example.org'' = lower(mail)'), ('lower(mail) = ''user77@example.org'' COLLATE "C"'), ('lower(mail)::varchar = ''user77@example.org'''), ('lower(mail) > ''user9'''), ('lower(mail) LIKE ''user77%'''), ('lower(mail) = lower(state)'), ('lower(mail) <> ''user77@example.org'' AND num < 100000'),
	('doc ->> ''user'' = ''u7'''), ('doc ->> ''user'' = ''u7'' AND ts > ''2026-01-01 03:00'''), ('doc ->> ''user'' IS NULL'), ('(doc ->> ''id'')::int = 77'), ('(doc ->> ''id'')::int = 77::bigint'), ('(doc ->> ''id'')::int = 77.0'), ('(doc ->> ''id'')::int IN (77, 4100, 78)'), ('(doc ->> ''id'')::int = ANY (ARRAY(SELECT g FROM generate_series(1, 4200, 20) AS g))'), ('(doc ->> ''id'')::int = 77 OR (doc ->> ''id'')::int = 78'),
	('shorten(mail, 6) = ''User77'''), ('shorten(mail, 6) = ''User77''::varchar'), ('shorten(mail, 5) = ''User7'''), ('num + dev = 404130419'), ('num + dev = 404130420'), ('dev + num = 404130420'), ('inlined(dev) = 3'), ('dev * 2 + 1 = 3'), ('inlined(dev) = 3 AND num = 5'), ('coalesce(mail, ''none'') = ''none'''), ('coalesce(mail, ''none'') = ''User77@Example.org'''), ('state = ''failed'' AND dev > 0'), ('f + 0 = 0'), ('f + 0 = ''-0'''), ('f + 0 = ''NaN'''), ('f + 0 = ''infinity'''), ('(ts AT TIME ZONE ''UTC'')::date = ''2026-01-01'''), ('(ts AT TIME ZONE ''UTC'')::date = ''2026-01-02'' AND state = ''failed'''),
	('state = ''failed'''), ('state = ''failed'' AND mail = ''User77@Example.org'''), ('state = ''failed'' AND mail IN (SELECT mail FROM h WHERE state = ''failed'' LIMIT 5)'), ('state = ''failed'' AND num > 1000'), ('state = ''failed'' AND num > 5000 AND ts < ''2026-01-01 12:00'''), ('state = ''failed'' AND num > 500'), ('state IN (''failed'')'), ('state IN (''failed'', ''done'') AND mail = ''User77@Example.org'''), ('mail = ''User77@Example.org'''), ('NOT state <> ''failed'''), ('state = ''failed'' OR num = 5'), ('(state = ''failed'' AND num = 5) OR (state = ''failed'' AND dev = 1)'),
	('extra = ''word7 again'''), ('extra IS NOT NULL'), ('extra IS NOT NULL AND dev = 1'), ('extra IS NULL AND dev = 1'), ('lower(mail) = ''user77@example.org'' AND num > 5'), ('upper(mail) = ''USER77@EXAMPLE.ORG'' AND state = ''failed'''), ('upper(mail) IN (SELECT upper(mail) FROM h WHERE state = ''failed'' LIMIT 3) AND state = ''failed'''), ('upper(mail) = ''USER77@EXAMPLE.ORG'''),
	('to_tsvector(''simple'', extra) @@ ''word7'''), ('to_tsvector(''simple'', extra) @@ ''word7 & again'''), ('to_tsvector(''english'', extra) @@ ''word7'''), ('to_tsvector(''simple'', extra) @@ ''word7:*'''), ('NOT to_tsvector(''simple'', extra) @@ ''word7'''), ('doc -> ''tags'' ? ''g7'' AND dev <> 1'), ('doc -> ''tags'' ? ''g7'''), ('doc -> ''tags'' @> ''["g7", "all"]'' AND dev = 2'), ('doc -> ''tags'' ? ''g7'' AND dev = 1'), ('dev <> 1 AND num < 100000'),
	('point(x, y) <@ box(point(7, 1), point(8, 2))'), ('point(x, y) ~= point(7, 1)'), ('point(x, y) << point(3, 3)'), ('box(point(x, y), point(x + 1, y + 1)) && box(point(7, 1), point(8, 2)) AND state = ''failed'''), ('box(point(x, y), point(x + 1, y + 1)) && box(point(7, 1), point(8, 2))'), ('network(set_masklen(addr, 24)) << ''10.7.0.0/16'''), ('network(set_masklen(addr, 24)) = ''10.7.0.0/24'''), ('abs(num) < 100000 AND dev = 2'), ('abs(num) < 100000'), ('abs(num) = 404130419 AND dev IN (2)'), ('dev = 2 AND abs(num) BETWEEN 5000 AND 900000'), ('dev = 2 AND num IS NULL');
CREATE FUNCTION differing(what text) RETURNS TABLE (state text, differing bigint, problems bigint) LANGUAGE plpgsql AS $$
DECLARE
	q text;
	wrong bigint := 0;
	n bigint;
BEGIN
	FOR q IN SELECT c FROM condition LOOP
		FOREACH n IN ARRAY ARRAY[0, 1] LOOP
			PERFORM set_config('strata.enable_batch_index', CASE WHEN n = 0 THEN 'on' ELSE 'off' END, true);
			EXECUTE format('WITH s AS MATERIALIZED (SELECT t::text FROM t WHERE %s), g AS MATERIALIZED (SELECT t::text FROM h AS t WHERE %1$s) SELECT count(*) FROM ((TABLE s EXCEPT ALL TABLE g) UNION ALL (TABLE g EXCEPT ALL TABLE s)) AS d', q) INTO n;
			wrong := wrong + n;
			IF n > 0 THEN RAISE WARNING '% rows differ: %', n, q; END IF;
		END LOOP;
	END LOOP;
	RETURN QUERY SELECT what, wrong, (SELECT count(*) FROM strata.verify('t'));
END $$;
SELECT * FROM differing('late rows');
-- joins, prepared statements
SET enable_hashjoin = off; SET enable_mergejoin = off;
SELECT count(*), sum(t.num) FROM generate_series(1, 4200, 300) AS g JOIN t ON lower(mail) = lower('USER' || g * 7919 % 2003 || '@example.ORG');
SELECT g, x.num FROM generate_series(1, 4200, 1000) AS g LEFT JOIN LATERAL (SELECT num FROM t WHERE (doc ->> 'id')::int = g ORDER BY ts DESC LIMIT 1) AS x ON true ORDER BY 1;
-- what a join says of the rows makes the index of some rows usable, not of an outer join's inner side
SELECT count(*), sum(t.num) FROM (VALUES ('failed')) AS v (s) JOIN t ON t.state = v.s;
SELECT count(*), count(t.num) FROM h AS o LEFT JOIN t ON t.state = 'failed' AND t.mail = o.mail WHERE o.num < 10000000;
SELECT count(*), count(t.num) FROM t LEFT JOIN (VALUES ('failed')) AS v (s) ON t.state = v.s AND v.s = 'failed' WHERE t.num < 10000000;
RESET enable_hashjoin; RESET enable_mergejoin;
SET plan_cache_mode = force_generic_plan;
PREPARE by_mail (text) AS SELECT num, ts FROM t WHERE lower(mail) = $1 ORDER BY ts;
EXECUTE by_mail('user77@example.org');
EXECUTE by_mail(NULL);
PREPARE by_ids (int[]) AS SELECT count(*), min(ts), max(num) FROM t WHERE (doc ->> 'id')::int = ANY ($1);
EXECUTE by_ids('{7,8,NULL,4100}');
EXECUTE by_ids('{}');
PREPARE by_state (text, text) AS SELECT count(*) FROM t WHERE state = $1 AND mail = $2;
EXECUTE by_state('failed', 'User77@Example.org');
EXECUTE by_state('done', 'User77@Example.org');
RESET plan_cache_mode;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
SELECT * FROM differing('recompressed');
-- rows in batches change
UPDATE t SET mail = 'User77@Example.org', state = 'failed' WHERE num % 97 = 0;
UPDATE h SET mail = 'User77@Example.org', state = 'failed' WHERE num % 97 = 0;
DELETE FROM t WHERE num % 89 = 0;
DELETE FROM h WHERE num % 89 = 0;
SELECT * FROM differing('changed');
DELETE FROM t WHERE ts < '2026-01-01 06:00';
DELETE FROM h WHERE ts < '2026-01-01 06:00';
SELECT * FROM differing('swept');
INSERT INTO t SELECT * FROM made(4201, 4700);
INSERT INTO h SELECT * FROM made(4201, 4700);
SELECT count(compress_chunk(c)) FROM show_chunks('t') AS c;
SELECT * FROM differing('compressed again');
-- indexes come and go
DROP INDEX t_lower, t_failed, t_words, t_point, t_abs;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('t') AS c;
CREATE INDEX t_lower ON t (lower(mail));
CREATE INDEX t_failed ON t (mail) WHERE state = 'failed';
CREATE INDEX t_words ON t USING gin (to_tsvector('simple', extra));
CREATE INDEX t_point ON t USING gist (point(x, y));
CREATE INDEX t_abs ON t USING brin (abs(num) int8_minmax_multi_ops, dev) WHERE dev = 2;
SELECT * FROM differing('indexes made on compressed chunks');
REINDEX TABLE t;
SELECT * FROM differing('reindexed');
-- columns that expressions are of
ALTER TABLE t ADD later int DEFAULT 7;
ALTER TABLE h ADD later int DEFAULT 7;
CREATE INDEX t_later ON t ((later + dev));
CREATE INDEX t_later_some ON t (num) WHERE later = 7 AND dev = 1;
INSERT INTO condition VALUES ('later + dev = 8'), ('later + dev = 10'), ('later = 7 AND dev = 1 AND num < 10000000'), ('later = 7 AND dev = 1 AND num = 404130419');
SELECT * FROM differing('a column added');
DROP INDEX t_abs;
ALTER TABLE t ALTER mail TYPE varchar(60);
ALTER TABLE h ALTER mail TYPE varchar(60);
ALTER TABLE t ALTER later TYPE bigint;
ALTER TABLE h ALTER later TYPE bigint;
ALTER TABLE t ALTER num TYPE numeric;
ALTER TABLE h ALTER num TYPE numeric;
SELECT * FROM differing('types changed');
-- what is evaluated runs with the rights of the table's owner, and of nobody else
CREATE ROLE writer;
GRANT writer TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO writer;
SET ROLE writer;
CREATE FUNCTION public.who(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN IF current_user <> 'writer' THEN RAISE 'evaluated by %', current_user; END IF; RETURN $1; END $$;
CREATE TABLE w (ts timestamptz NOT NULL, a text) USING strata WITH (strata.orderby = 'ts');
INSERT INTO w SELECT '2026-01-01'::timestamptz + g * interval '1 s', 'a' || g FROM generate_series(1, 3000) AS g;
SELECT compress_chunk('w');
CREATE INDEX ON w (public.who(a));
RESET ROLE;
SELECT compress_chunk('w', recompress => true);
REINDEX TABLE w;
SELECT count(*) FROM strata.verify('w');
SET ROLE writer;
SELECT count(*) FROM w WHERE public.who(a) = 'a7';
-- an expression that fails says where; rows that were deleted count until they are gone
\set VERBOSITY default
CREATE INDEX ON w ((1 / (extract(epoch FROM ts - '2026-01-01 00:10')::int)));
DELETE FROM w WHERE ts = '2026-01-01 00:10';
CREATE INDEX ON w ((1 / (extract(epoch FROM ts - '2026-01-01 00:10')::int)));
SELECT compress_chunk('w', recompress => true);
CREATE INDEX w_quotient ON w ((1 / (extract(epoch FROM ts - '2026-01-01 00:10')::int)));
SELECT count(*) FROM w WHERE 1 / (extract(epoch FROM ts - '2026-01-01 00:10')::int) = -1;
-- a whole row, and an outer reference to one
CREATE INDEX w_row ON w ((w IS NOT NULL), (a || 'x' IS NULL));
SELECT count(*) FROM w WHERE (w IS NOT NULL) = true;
SELECT count(*) FROM w WHERE w IS NOT NULL = false;
DROP INDEX w_row;
-- how each serves
CREATE INDEX ON w (a) WHERE a > 'a5';
CREATE INDEX ON w USING gin (to_tsvector('simple', a));
SELECT regexp_substr(reason, 'indexes .*') FROM advise_compression('w') WHERE reason LIKE '%indexes%';
DROP TABLE w;
DROP FUNCTION public.who;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM writer;
DROP ROLE writer;
DROP TABLE t;
SELECT count(*) FROM pg_class WHERE relname LIKE 'batch\_index\_%';
DROP FUNCTION differing(text), made(int, int, interval), shorten, inlined;
DROP TABLE h, condition;
