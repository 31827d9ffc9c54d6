-- DELETE of whole batches: the same as on heap, statement by statement.
SET strata.batch_rows = 10;
CREATE TABLE sw_h (id int, seg int, ts timestamptz, f float8, s text);
CREATE TABLE sw_t (LIKE sw_h) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts');

CREATE FUNCTION sw_fill() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	TRUNCATE sw_h, sw_t;
	INSERT INTO sw_h SELECT i, nullif(i % 5, 4), '2024-01-01'::timestamptz + i * interval '1 hour',
		CASE WHEN i % 37 = 0 THEN 'NaN' WHEN i % 41 = 0 THEN '-Infinity' ELSE i::float8 END,
		CASE WHEN i % 3 > 0 THEN repeat(md5(i::text), 1 + i % 3 * 40) END
		FROM generate_series(1, 500) i;
	INSERT INTO sw_t SELECT * FROM sw_h;
	PERFORM compress_chunk('sw_t');
	-- a few rows in the row store
	INSERT INTO sw_h SELECT i, i % 5, '2024-01-01'::timestamptz + i * interval '1 hour', i, 'new' FROM generate_series(501, 520) i;
	INSERT INTO sw_t SELECT i, i % 5, '2024-01-01'::timestamptz + i * interval '1 hour', i, 'new' FROM generate_series(501, 520) i;
END $$;

-- Runs the statement (% is the table) on both, compares counts and contents, undoes it.
CREATE FUNCTION sw_both(VARIADIC statements text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
	nh bigint;
	nt bigint;
	counts text := '';
	differences bigint;
BEGIN
	BEGIN
		FOREACH statement IN ARRAY statements LOOP
			EXECUTE replace(statement, '%', 'sw_h');
			GET DIAGNOSTICS nh = ROW_COUNT;
			EXECUTE replace(statement, '%', 'sw_t');
			GET DIAGNOSTICS nt = ROW_COUNT;
			counts := counts || ' ' || nh || CASE WHEN nt <> nh THEN ' BUT ' || nt ELSE '' END;
		END LOOP;
		SELECT count(*) INTO differences FROM
			((SELECT * FROM sw_h EXCEPT ALL SELECT * FROM sw_t) UNION ALL (SELECT * FROM sw_t EXCEPT ALL SELECT * FROM sw_h)) d;
		RAISE EXCEPTION USING errcode = 'SW000', message = 'counts' || counts || ', differences ' || differences;
	EXCEPTION WHEN SQLSTATE 'SW000' THEN
		RETURN sqlerrm;
	END;
END $$;

SELECT sw_fill();
SELECT sw_both('DELETE FROM %');
SELECT sw_both('DELETE FROM %', 'DELETE FROM %');
SELECT sw_both('DELETE FROM % WHERE seg = 2');
SELECT sw_both('DELETE FROM % WHERE seg <> 2');
SELECT sw_both('DELETE FROM % WHERE seg IS NULL');
SELECT sw_both('DELETE FROM % WHERE seg IS NULL OR seg > 1');
SELECT sw_both('DELETE FROM % WHERE ts < ''2024-01-12 07:00+00''');
SELECT sw_both('DELETE FROM % WHERE ts < ''2024-01-12 07:00+00'' AND seg IN (0, 1)');
SELECT sw_both('DELETE FROM % WHERE f < 200');
SELECT sw_both('DELETE FROM % WHERE f > 100');
SELECT sw_both('DELETE FROM % WHERE f >= ''-Infinity''');
SELECT sw_both('DELETE FROM % WHERE s IS NOT NULL');
SELECT sw_both('DELETE FROM % WHERE mod(id, 2) = 0');
SELECT sw_both('DELETE FROM % WHERE seg = 1 AND random() >= 0');
SELECT sw_both('DELETE FROM % WHERE ts < (SELECT to_timestamp(avg(extract(epoch FROM ts))) FROM %)');
SELECT sw_both('DELETE FROM % WHERE id > (SELECT avg(id) FROM %) OR seg = 3');
SELECT sw_both('DELETE FROM % WHERE EXISTS (SELECT FROM generate_series(2, 3) g WHERE g = seg)');
SELECT sw_both('DELETE FROM % USING generate_series(2, 3) g WHERE g = seg');
-- what changes before, what changes after
SELECT sw_both('DELETE FROM % WHERE id = 100', 'DELETE FROM % WHERE ts < ''2024-01-12 07:00+00''', 'DELETE FROM %');
SELECT sw_both('UPDATE % SET f = 0 WHERE id = 100', 'DELETE FROM % WHERE seg = 0', 'UPDATE % SET f = 1');
SELECT sw_both('DELETE FROM % WHERE ts < ''2024-01-12 07:00+00''', 'UPDATE % SET seg = 9', 'DELETE FROM % WHERE seg = 9');
SELECT sw_both('DELETE FROM % WHERE seg = 1', 'INSERT INTO % SELECT id, 1, ts, f, s FROM % WHERE seg = 2');
-- some rows of many batches, of which some are locked, deleted or changed
SELECT sw_both('SELECT FROM % WHERE seg = 1 AND f < 300 FOR UPDATE', 'DELETE FROM % WHERE f BETWEEN 33 AND 450', 'UPDATE % SET f = 1 WHERE f > 20', 'DELETE FROM % WHERE f < 100');
SELECT sw_both('DELETE FROM % WHERE f BETWEEN 33 AND 450', 'DELETE FROM % WHERE f > 20', 'INSERT INTO % SELECT * FROM % WHERE seg = 2', 'DELETE FROM % WHERE ts > ''2024-01-03 00:30+00''');
SELECT sw_both('UPDATE % SET f = 1 WHERE mod(id, 7) = 0', 'DELETE FROM % WHERE f BETWEEN 33 AND 450', $$SELECT CASE WHEN '%' = 'sw_t' THEN compress_chunk('%', recompress => true) END$$, 'DELETE FROM % WHERE ts > ''2024-01-03 00:30+00''');
-- data-modifying WITH: only the main statement counts, each sees the rows as they were
SELECT sw_both('WITH d AS (DELETE FROM % WHERE seg = 1) SELECT count(*) FROM %');
SELECT sw_both('WITH d AS (DELETE FROM % WHERE seg = 1) DELETE FROM % WHERE seg = 2');
SELECT sw_both('WITH d AS (DELETE FROM % WHERE seg = 1) INSERT INTO % SELECT * FROM % WHERE seg = 1');
SELECT sw_both('WITH d AS (DELETE FROM % WHERE seg = 1) UPDATE % SET f = 5 WHERE seg = 1');
SELECT sw_both('WITH d AS (UPDATE % SET f = 5 WHERE id = 101 RETURNING id) DELETE FROM % WHERE seg = 1');
SELECT sw_both('WITH d AS (DELETE FROM % WHERE seg = 1 RETURNING *) INSERT INTO % SELECT * FROM d');
SELECT sw_both('MERGE INTO % USING (SELECT 1 AS one) o ON seg = one WHEN MATCHED THEN DELETE');
-- undone by a savepoint
BEGIN;
SAVEPOINT a;
DELETE FROM sw_t;
SELECT count(*) FROM sw_t;
ROLLBACK TO a;
SELECT count(*) FROM sw_t;
DELETE FROM sw_t WHERE seg = 1;
SAVEPOINT b;
DELETE FROM sw_t WHERE seg = 2;
RELEASE b;
SELECT seg, count(*) FROM sw_t GROUP BY seg ORDER BY seg;
ROLLBACK;
-- recompressed, decompressed, rewritten, verified afterwards
SELECT sw_both('DELETE FROM % WHERE seg = 1 OR id < 100', $$SELECT CASE WHEN '%' = 'sw_t' THEN compress_chunk('%', recompress => true) END$$);
SELECT sw_both('DELETE FROM % WHERE seg = 1 OR id < 100', $$SELECT CASE WHEN '%' = 'sw_t' THEN decompress_chunk('%') END$$, 'DELETE FROM % WHERE seg = 2');
SELECT sw_both('DELETE FROM % WHERE seg = 1 OR id < 100', 'ALTER TABLE % ADD COLUMN n int DEFAULT random()', 'ALTER TABLE % DROP COLUMN n');
DELETE FROM sw_t WHERE seg = 1;
DELETE FROM sw_h WHERE seg = 1;
VACUUM sw_t;
SELECT * FROM strata.verify('sw_t');
VACUUM FULL sw_t;
SELECT sw_both('DELETE FROM % WHERE seg <> 2');

-- Prepared, with parameters; generic plans.
SELECT sw_fill();
SET plan_cache_mode = force_generic_plan;
PREPARE del(int) AS DELETE FROM sw_t WHERE seg = $1;
BEGIN;
EXECUTE del(1);
EXECUTE del(1);
EXECUTE del(NULL);
EXECUTE del(2);
SELECT seg, count(*) FROM sw_t GROUP BY seg ORDER BY seg;
ROLLBACK;
RESET plan_cache_mode;

-- Row triggers see every row, statement triggers fire, transition tables are full.
CREATE TABLE sw_log (what text, n bigint);
CREATE FUNCTION sw_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF OLD.id = 101 THEN RETURN NULL; END IF;
	INSERT INTO sw_log VALUES (TG_TABLE_NAME || ' ' || TG_WHEN || ' row', OLD.id);
	RETURN OLD;
END $$;
CREATE FUNCTION sw_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO sw_log VALUES (TG_TABLE_NAME || ' ' || TG_WHEN || ' statement', 1); RETURN NULL; END $$;
CREATE FUNCTION sw_table() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO sw_log SELECT TG_TABLE_NAME || ' old table', count(*) FROM gone; RETURN NULL; END $$;
CREATE TRIGGER s BEFORE DELETE ON sw_t FOR EACH STATEMENT EXECUTE FUNCTION sw_statement();
CREATE TRIGGER a AFTER DELETE ON sw_t FOR EACH STATEMENT EXECUTE FUNCTION sw_statement();
BEGIN;
DELETE FROM sw_t WHERE seg = 1;
SELECT what, count(*), sum(n) FROM sw_log GROUP BY what ORDER BY what;
ROLLBACK;
CREATE TRIGGER o AFTER DELETE ON sw_t REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION sw_table();
BEGIN;
DELETE FROM sw_t WHERE seg = 1;
SELECT what, count(*), sum(n) FROM sw_log GROUP BY what ORDER BY what;
ROLLBACK;
DROP TRIGGER o ON sw_t;
CREATE TRIGGER r BEFORE DELETE ON sw_t FOR EACH ROW EXECUTE FUNCTION sw_row();
BEGIN;
DELETE FROM sw_t WHERE seg = 1;
SELECT what, count(*), sum(n) FROM sw_log GROUP BY what ORDER BY what;
SELECT id FROM sw_t WHERE seg = 1;
ROLLBACK;
DROP TRIGGER r ON sw_t;
CREATE TRIGGER r AFTER DELETE ON sw_t FOR EACH ROW EXECUTE FUNCTION sw_row();
BEGIN;
DELETE FROM sw_t WHERE seg = 1;
SELECT what, count(*), sum(n) FROM sw_log GROUP BY what ORDER BY what;
ROLLBACK;
DROP TRIGGER r ON sw_t;
DROP TRIGGER a ON sw_t;
DROP TRIGGER s ON sw_t;
-- a statement trigger that changes rows of the table first
CREATE FUNCTION sw_before() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('UPDATE %I SET f = -1 WHERE id IN (101, 102)', TG_TABLE_NAME);
	EXECUTE format('DELETE FROM %I WHERE id IN (106, 112)', TG_TABLE_NAME);
	RETURN NULL;
END $$;
CREATE TRIGGER s BEFORE DELETE ON sw_t FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION sw_before();
CREATE TRIGGER s BEFORE DELETE ON sw_h FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION sw_before();
BEGIN; DELETE FROM sw_h WHERE seg = 1; SELECT count(*), sum(id) FROM sw_h; ROLLBACK;
BEGIN; DELETE FROM sw_t WHERE seg = 1; SELECT count(*), sum(id) FROM sw_t; ROLLBACK;
DROP TRIGGER s ON sw_t;
DROP TRIGGER s ON sw_h;

-- Row security and views.
CREATE ROLE sw_user;
GRANT sw_user TO CURRENT_USER;
GRANT SELECT, DELETE ON sw_t, sw_h TO sw_user;
ALTER TABLE sw_t ENABLE ROW LEVEL SECURITY;
ALTER TABLE sw_h ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON sw_t TO sw_user USING (seg < 2);
CREATE POLICY p ON sw_h TO sw_user USING (seg < 2);
SET ROLE sw_user;
BEGIN; DELETE FROM sw_h; DELETE FROM sw_t; ROLLBACK;
BEGIN; DELETE FROM sw_h WHERE seg > 0; DELETE FROM sw_t WHERE seg > 0; ROLLBACK;
RESET ROLE;
ALTER TABLE sw_t DISABLE ROW LEVEL SECURITY;
ALTER TABLE sw_h DISABLE ROW LEVEL SECURITY;
DROP POLICY p ON sw_t;
DROP POLICY p ON sw_h;
DROP OWNED BY sw_user;
DROP ROLE sw_user;
CREATE VIEW sw_v AS SELECT * FROM sw_t WHERE seg = 3;
BEGIN; DELETE FROM sw_v; SELECT count(*) FROM sw_t WHERE seg = 3; ROLLBACK;
DROP VIEW sw_v;

-- Keys that refer to the table, in both directions.
CREATE TABLE sw_parent (id int PRIMARY KEY, v int, pad text DEFAULT repeat('x', 600)) USING strata WITH (strata.orderby = 'id');
INSERT INTO sw_parent SELECT i, 0 FROM generate_series(1, 40) i;
SELECT compress_chunk('sw_parent');
CREATE TABLE sw_child (id int REFERENCES sw_parent, p int, pad text DEFAULT repeat('x', 600)) USING strata WITH (strata.orderby = 'id');
INSERT INTO sw_child SELECT i, 0 FROM generate_series(11, 30) i;
SELECT compress_chunk('sw_child');
DELETE FROM sw_parent WHERE id <= 20;
DELETE FROM sw_child WHERE id <= 20;
DELETE FROM sw_parent WHERE id <= 20;
ALTER TABLE sw_child DROP CONSTRAINT sw_child_id_fkey,
	ADD CONSTRAINT sw_child_id_fkey FOREIGN KEY (id) REFERENCES sw_parent ON DELETE CASCADE;
DELETE FROM sw_parent;
SELECT count(*) FROM sw_child;
DROP TABLE sw_child, sw_parent;

-- Unique keys of rows that went, and came back with the transaction.
CREATE TABLE sw_u (id int PRIMARY KEY, k text UNIQUE, pad text DEFAULT repeat('x', 600)) USING strata WITH (strata.orderby = 'id');
INSERT INTO sw_u SELECT i, 'k' || i FROM generate_series(1, 40) i;
SELECT compress_chunk('sw_u');
BEGIN;
DELETE FROM sw_u WHERE id <= 20;
INSERT INTO sw_u VALUES (5, 'k15'), (6, 'k6') ON CONFLICT DO NOTHING;
INSERT INTO sw_u VALUES (7, 'k7');
SELECT id, k FROM sw_u WHERE id <= 20 ORDER BY id;
ROLLBACK;
INSERT INTO sw_u VALUES (100, 'k15');
INSERT INTO sw_u VALUES (6, 'k100');
BEGIN;
SAVEPOINT a;
DELETE FROM sw_u;
INSERT INTO sw_u SELECT i, 'k' || i FROM generate_series(1, 40) i;
ROLLBACK TO a;
INSERT INTO sw_u VALUES (6, 'k100');
ROLLBACK;
DELETE FROM sw_u WHERE id <= 20;
INSERT INTO sw_u SELECT i, 'k' || (i + 10) FROM generate_series(1, 10) i;
INSERT INTO sw_u VALUES (11, 'k15');
SELECT compress_chunk('sw_u', recompress => true);
SELECT count(*), min(id), max(id), count(DISTINCT k) FROM sw_u;
SELECT count(*) FROM strata.batches('sw_u');
SELECT * FROM strata.verify('sw_u');
DROP TABLE sw_u;

-- Partitions; one of them heap, one that somebody looks at.
CREATE TABLE sw_p (id int, v int, pad text DEFAULT repeat('x', 600)) PARTITION BY RANGE (id);
CREATE TABLE sw_p1 PARTITION OF sw_p FOR VALUES FROM (0) TO (100) USING strata WITH (strata.orderby = 'id');
CREATE TABLE sw_p2 PARTITION OF sw_p FOR VALUES FROM (100) TO (200) USING strata WITH (strata.orderby = 'id');
CREATE TABLE sw_p3 PARTITION OF sw_p FOR VALUES FROM (200) TO (300) USING heap;
INSERT INTO sw_p SELECT i, 0 FROM generate_series(0, 299) i;
SELECT compress_chunk('sw_p1'), compress_chunk('sw_p2');
CREATE TRIGGER r BEFORE DELETE ON sw_p2 FOR EACH ROW EXECUTE FUNCTION sw_row();
BEGIN;
DELETE FROM sw_p WHERE id < 250;
SELECT tableoid::regclass, count(*) FROM sw_p GROUP BY 1 ORDER BY 1;
SELECT what, count(*) FROM sw_log GROUP BY what;
ROLLBACK;
BEGIN;
DELETE FROM sw_p;
SELECT id, v FROM sw_p;
ROLLBACK;
DELETE FROM sw_p WHERE id < 15;
SELECT count(*) FROM sw_p;
DROP TABLE sw_p;

-- Temporary tables; two-phase commit.
CREATE TEMP TABLE sw_temp (id int, v int, pad text DEFAULT repeat('x', 600)) USING strata WITH (strata.orderby = 'id');
INSERT INTO sw_temp SELECT i, 0 FROM generate_series(1, 100) i;
SELECT compress_chunk('sw_temp');
DELETE FROM sw_temp WHERE id <= 50;
SELECT count(*), min(id) FROM sw_temp;
DROP TABLE sw_temp;
BEGIN; DELETE FROM sw_t WHERE seg = 1; PREPARE TRANSACTION 'sw'; ROLLBACK PREPARED 'sw';
SELECT count(*) FROM sw_t WHERE seg = 1;
BEGIN; DELETE FROM sw_t WHERE seg = 1; PREPARE TRANSACTION 'sw'; COMMIT PREPARED 'sw';
SELECT count(*) FROM sw_t WHERE seg = 1;

-- A row that was locked once, deleted, and then its batch with it, by one transaction.
CREATE TABLE sw_locked (id int, pad text DEFAULT repeat('x', 600)) USING strata WITH (strata.orderby = 'id');
INSERT INTO sw_locked SELECT generate_series(1, 100);
SELECT compress_chunk('sw_locked');
SELECT id FROM sw_locked WHERE id = 3 FOR SHARE;
SELECT id FROM sw_locked WHERE id = 4 FOR UPDATE;
BEGIN;
SELECT id FROM sw_locked WHERE id = 5 FOR NO KEY UPDATE;
DELETE FROM sw_locked WHERE id BETWEEN 3 AND 5 RETURNING id;
DELETE FROM sw_locked WHERE id < 90;
SELECT count(*), min(id) FROM sw_locked;
COMMIT;
SELECT * FROM strata.verify('sw_locked');
DROP TABLE sw_locked;

DROP TABLE sw_t, sw_h, sw_log;
DROP FUNCTION sw_fill, sw_both, sw_row, sw_statement, sw_table, sw_before;
