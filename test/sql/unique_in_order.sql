-- Unique keys with the column that batches are in the order of: found by that order, then, when a batch was asked often, by fingerprints.
SET client_min_messages = warning;
SET strata.batch_rows = 20;
SET timezone = 'UTC';

-- Upserts of single rows, and of many, into batches of this type of key and this order; differences from heap.
CREATE FUNCTION differences(type text, orderby text, expression text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
	problems bigint;
	statement text;
BEGIN
	EXECUTE format('CREATE TABLE uo_h (seg int, k %s, part text, v int, PRIMARY KEY (seg, k, part))', type);
	CREATE TABLE uo_t (LIKE uo_h, PRIMARY KEY (seg, k, part)) USING strata WITH (strata.segmentby = 'seg');
	EXECUTE format('ALTER TABLE uo_t SET (strata.orderby = %L)', orderby);
	-- every key several times, some values far out
	EXECUTE format('INSERT INTO uo_h SELECT i %% 3, (%s)::%s, ''p'' || i %% 7, 0 FROM generate_series(-300, 300) i ON CONFLICT DO NOTHING', expression, type);
	INSERT INTO uo_t TABLE uo_h;
	PERFORM compress_chunk('uo_t');
	FOREACH statement IN ARRAY ARRAY['DO NOTHING', 'DO UPDATE SET v = %1$s.v + 1', '(seg, k, part) DO UPDATE SET v = excluded.v + %1$s.v', '(seg, k, part) DO NOTHING'] LOOP
		FOR n IN -330 .. 330 BY 11 LOOP
			CONTINUE WHEN statement = 'DO UPDATE SET v = %1$s.v + 1';
			EXECUTE format('INSERT INTO uo_h SELECT i %% 3, (%s)::%s, ''p'' || i %% 8, 100 FROM (VALUES (%s)) x (i) ON CONFLICT ' || format(statement, 'uo_h'),
				expression, type, n);
			EXECUTE format('INSERT INTO uo_t SELECT i %% 3, (%s)::%s, ''p'' || i %% 8, 100 FROM (VALUES (%s)) x (i) ON CONFLICT ' || format(statement, 'uo_t'),
				expression, type, n);
		END LOOP;
		EXECUTE format('INSERT INTO uo_h SELECT DISTINCT ON (1, 2, 3) i %% 3, (%s)::%s, ''p'' || i %% 7, 1 FROM generate_series(-310, 310, 3) i ON CONFLICT DO NOTHING', expression, type);
		EXECUTE format('INSERT INTO uo_t SELECT DISTINCT ON (1, 2, 3) i %% 3, (%s)::%s, ''p'' || i %% 7, 1 FROM generate_series(-310, 310, 3) i ON CONFLICT DO NOTHING', expression, type);
	END LOOP;
	BEGIN
		INSERT INTO uo_t SELECT * FROM uo_h WHERE v = 0 ORDER BY 1, 2, 3 LIMIT 1;
		RAISE EXCEPTION 'a key was there twice';
	EXCEPTION WHEN unique_violation THEN NULL;
	END;
	SELECT count(*) INTO result FROM ((TABLE uo_h EXCEPT ALL TABLE uo_t) UNION ALL (TABLE uo_t EXCEPT ALL TABLE uo_h)) d;
	SELECT count(*) INTO problems FROM strata.verify('uo_t');
	DROP TABLE uo_h, uo_t;
	RETURN result || ' differences, ' || problems || ' problems';
END $$;
SELECT type, orderby, differences(type, orderby, expression) FROM (VALUES
	('timestamptz', 'k', $$'2026-01-01'::timestamptz + i / 5 * interval '1 min'$$),
	('timestamptz', 'k DESC', $$'2026-01-01'::timestamptz + i / 5 * interval '1 min'$$),
	('timestamp', 'k DESC NULLS LAST', $$CASE i / 5 WHEN 3 THEN 'infinity' WHEN 4 THEN '-infinity' ELSE '2026-01-01'::timestamp + i / 5 * interval '1 min' END$$),
	('date', 'k, part', $$'2026-01-01'::date + i / 5$$),
	('int', 'k', 'i / 4'), ('int', 'k DESC, v', 'i / 9'), ('bigint', 'part, k', 'i'), ('smallint', 'k', 'i / 2'),
	('oid', 'k', '(i + 400)::bigint * 5000000'),
	('float8', 'k', $$CASE i / 5 WHEN 2 THEN 'NaN' WHEN 1 THEN '-0' WHEN 0 THEN '0' WHEN 7 THEN '-Infinity' ELSE i / 5 / 3.0 END$$),
	('float8', 'k DESC', $$CASE i / 5 WHEN 2 THEN 'NaN' WHEN 1 THEN '-0' WHEN 0 THEN '0' WHEN 7 THEN '-Infinity' ELSE i / 5 / 3.0 END$$),
	('numeric', 'k', 'i / 5 / 3.0'), ('text COLLATE "C"', 'k', $$'x' || i / 5$$), ('text', 'k DESC', $$'x' || i / 5$$)) x (type, orderby, expression);
-- nulls in the column of the order
CREATE TABLE uo_n (k int, part int, v int, UNIQUE NULLS NOT DISTINCT (k, part)) USING strata WITH (strata.orderby = 'k');
INSERT INTO uo_n SELECT nullif(i / 3, 4), i, 0 FROM generate_series(1, 300) i;
SELECT compress_chunk('uo_n');
INSERT INTO uo_n VALUES (NULL, 13, 1), (NULL, 1, 1), (5, 15, 1), (5, 14, 1) ON CONFLICT (k, part) DO UPDATE SET v = uo_n.v + 1;
SELECT * FROM uo_n WHERE v > 0 ORDER BY k, part;
DROP TABLE uo_n;
-- a column that became of a type with another order since
CREATE TABLE uo_o (k int, part int, v int DEFAULT 0, PRIMARY KEY (k, part)) USING strata WITH (strata.orderby = 'k');
INSERT INTO uo_o SELECT i / 3, i FROM generate_series(-300, 300) i;
SELECT compress_chunk('uo_o');
ALTER TABLE uo_o ALTER k TYPE oid;
INSERT INTO uo_o SELECT ((i / 3)::bigint & 4294967295)::oid, i, 1 FROM generate_series(-300, 299, 13) i ON CONFLICT (k, part) DO UPDATE SET v = 2;
SELECT v, count(*) FROM uo_o GROUP BY v ORDER BY v;
DROP TABLE uo_o;
DROP FUNCTION differences;

-- A row that an upsert has locked is changed by a trigger before the upsert gets to it.
CREATE TABLE ut_h (id int PRIMARY KEY, v int, pad text DEFAULT repeat('x', 50));
CREATE TABLE ut_t (LIKE ut_h INCLUDING ALL) USING strata WITH (strata.orderby = 'id');
INSERT INTO ut_h SELECT i, 0 FROM generate_series(1, 60) i;
INSERT INTO ut_t TABLE ut_h;
SELECT compress_chunk('ut_t');
CREATE FUNCTION ut_before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.v = 1 THEN
		EXECUTE format('UPDATE %I SET v = 50 WHERE id = $1', TG_TABLE_NAME) USING NEW.id;
	ELSIF NEW.v = 2 THEN
		EXECUTE format('DELETE FROM %I WHERE id = $1', TG_TABLE_NAME) USING NEW.id;
	ELSIF NEW.v = 3 THEN
		BEGIN
			EXECUTE format('UPDATE %I SET v = 51 WHERE id = $1', TG_TABLE_NAME) USING NEW.id;
			RAISE EXCEPTION 'undone';
		EXCEPTION WHEN raise_exception THEN NULL;
		END;
	ELSIF NEW.v = 4 THEN
		EXECUTE format('SELECT FROM %I WHERE id = $1 FOR UPDATE', TG_TABLE_NAME) USING NEW.id;
	ELSIF NEW.v = 5 THEN
		RETURN NULL;
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER b BEFORE UPDATE ON ut_h FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION ut_before();
CREATE TRIGGER b BEFORE UPDATE ON ut_t FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION ut_before();
CREATE FUNCTION upsert(name text, ids int, v int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int;
BEGIN
	EXECUTE format('INSERT INTO %1$I (id, v) VALUES ($1, $2), ($1 + 1, $2) ON CONFLICT (id) DO UPDATE SET v = excluded.v', name) USING ids, v;
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n || ' rows';
EXCEPTION WHEN OTHERS THEN
	RETURN sqlerrm;
END $$;
SELECT v, upsert('ut_h', v * 10, v) AS heap, upsert('ut_t', v * 10, v) AS strata FROM generate_series(0, 5) v;
SELECT v, upsert('ut_h', v * 10, v) AS heap, upsert('ut_t', v * 10, v) AS strata FROM generate_series(0, 5) v;
SELECT count(*) FROM ((TABLE ut_h EXCEPT ALL TABLE ut_t) UNION ALL (TABLE ut_t EXCEPT ALL TABLE ut_h)) d;
-- one row twice in one command; locked, then changed, across savepoints
BEGIN;
SAVEPOINT a;
SELECT id FROM ut_t WHERE id = 55 FOR UPDATE;
ROLLBACK TO a;
INSERT INTO ut_t VALUES (55, 9) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
SAVEPOINT b;
INSERT INTO ut_t VALUES (56, 9) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
ROLLBACK TO b;
INSERT INTO ut_t VALUES (56, 8), (55, 8) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
SELECT id, v FROM ut_t WHERE id IN (55, 56) ORDER BY id;
INSERT INTO ut_t VALUES (57, 8), (57, 9) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
ROLLBACK;
SELECT id, v FROM ut_t WHERE id IN (55, 56) ORDER BY id;
SELECT * FROM strata.verify('ut_t');
DROP TABLE ut_h, ut_t;
DROP FUNCTION ut_before, upsert;
