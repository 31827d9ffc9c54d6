-- DELETE whose rows somebody wants to see (RETURNING, triggers, referencing keys, transition tables) deletes those of a batch together, too: as heap.
SET strata.batch_rows = 100;
CREATE TABLE told_h (id int PRIMARY KEY, seg int, v float8, note text);
CREATE TABLE told_t (LIKE told_h, PRIMARY KEY (id)) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'id');
INSERT INTO told_h SELECT i, i % 3, i / 4.0, 'note ' || i FROM generate_series(1, 3000) i;
INSERT INTO told_t TABLE told_h;
SELECT compress_chunk('told_t');
CREATE TABLE log (target text, id int, v float8, what text);
-- the statement (% is the table) on both: rows affected, what it returned, and what triggers wrote
CREATE FUNCTION told_both(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	target text;
	said text[] := '{}';
	returned text;
BEGIN
	FOREACH target IN ARRAY ARRAY['told_t', 'told_h'] LOOP
		TRUNCATE log;
		BEGIN
			EXECUTE 'WITH d AS (' || replace(statement, '%', target) || ') SELECT count(*) || '' '' || coalesce(md5(string_agg(d::text, '','' ORDER BY d::text)), '''') FROM d' INTO returned;
			said := said || (returned || ' ' || (SELECT count(*) || ' ' || coalesce(md5(string_agg(l.id || '=' || l.v || l.what, ',' ORDER BY l.id, l.what)), '') FROM log l));
		EXCEPTION WHEN OTHERS THEN
			said := said || SQLSTATE;
		END;
	END LOOP;
	RETURN CASE WHEN said[1] = said[2] THEN split_part(said[1], ' ', 1) ELSE 'DIFFERS: ' || said::text END;
END $$;
CREATE FUNCTION told_check() RETURNS TABLE (differences bigint, problems bigint) LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM ((TABLE told_h EXCEPT ALL TABLE told_t) UNION ALL (TABLE told_t EXCEPT ALL TABLE told_h)) d), (SELECT count(*) FROM strata.verify('told_t')) $$;
SELECT told_both('DELETE FROM % WHERE id BETWEEN 100 AND 500 RETURNING *');
SELECT told_both('DELETE FROM % WHERE v < 40 AND seg = 1 RETURNING id, v * 2, note');
SELECT told_both('DELETE FROM % WHERE id IN (601, 604) RETURNING *');
-- all rows of batches
SELECT told_both('DELETE FROM % WHERE id BETWEEN 700 AND 1400 AND seg = 0 RETURNING id');
-- the same again finds nothing
SELECT told_both('DELETE FROM % WHERE id BETWEEN 100 AND 500 RETURNING *');
SELECT * FROM told_check();
-- a function that is called for rows, a qual that is tried row by row
CREATE FUNCTION slow(i int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN i; END';
SELECT told_both('DELETE FROM % WHERE id BETWEEN 1401 AND 1430 RETURNING slow(id)');
SELECT told_both('DELETE FROM % WHERE id BETWEEN 1431 AND 1460 AND mod(slow(id), 2) = 0 RETURNING id');
-- stopped after two rows: of the statement outside of a block nothing more is deleted than it says
DO $$
DECLARE
	n int;
BEGIN
	DELETE FROM told_t WHERE id BETWEEN 1500 AND 1600 RETURNING id INTO n;
EXCEPTION WHEN too_many_rows THEN
	RAISE NOTICE 'too many rows';
END $$;
DO $$
DECLARE
	n int;
BEGIN
	DELETE FROM told_t WHERE id = 1500 RETURNING id INTO n;
	DELETE FROM told_h WHERE id = n;
END $$;
SELECT * FROM told_check();
-- triggers afterwards, for each row and for all; one before, which keeps some
CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO log VALUES (TG_TABLE_NAME, OLD.id, OLD.v, 'row');
	RETURN NULL;
END $$;
CREATE FUNCTION note_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO log SELECT TG_TABLE_NAME, id, v, 'all' FROM gone;
	RETURN NULL;
END $$;
CREATE FUNCTION keep_odd() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN CASE WHEN OLD.id % 2 = 0 THEN OLD END; END';
CREATE TRIGGER after_row AFTER DELETE ON told_t FOR EACH ROW EXECUTE FUNCTION note_row();
CREATE TRIGGER after_row AFTER DELETE ON told_h FOR EACH ROW EXECUTE FUNCTION note_row();
SELECT told_both('DELETE FROM % WHERE id BETWEEN 1601 AND 1700 RETURNING id');
CREATE TRIGGER after_all AFTER DELETE ON told_t REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_all();
CREATE TRIGGER after_all AFTER DELETE ON told_h REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_all();
SELECT told_both('DELETE FROM % WHERE id BETWEEN 1701 AND 1800 RETURNING id');
CREATE TRIGGER before_row BEFORE DELETE ON told_t FOR EACH ROW EXECUTE FUNCTION keep_odd();
CREATE TRIGGER before_row BEFORE DELETE ON told_h FOR EACH ROW EXECUTE FUNCTION keep_odd();
SELECT told_both('DELETE FROM % WHERE id BETWEEN 1801 AND 1900 RETURNING id');
SELECT * FROM told_check();
DROP TRIGGER before_row ON told_t;
DROP TRIGGER before_row ON told_h;
-- keys of other tables that refer to it
CREATE TABLE ref_t (id int REFERENCES told_t ON DELETE CASCADE);
CREATE TABLE ref_h (id int REFERENCES told_h ON DELETE CASCADE);
INSERT INTO ref_t SELECT id FROM told_t WHERE id BETWEEN 1950 AND 2050;
INSERT INTO ref_h SELECT id FROM told_h WHERE id BETWEEN 1950 AND 2050;
SELECT told_both('DELETE FROM % WHERE id BETWEEN 1901 AND 2000 RETURNING id');
SELECT (SELECT count(*) FROM ref_t) AS t, (SELECT count(*) FROM ref_h) AS h;
ALTER TABLE ref_t DROP CONSTRAINT ref_t_id_fkey, ADD FOREIGN KEY (id) REFERENCES told_t;
ALTER TABLE ref_h DROP CONSTRAINT ref_h_id_fkey, ADD FOREIGN KEY (id) REFERENCES told_h;
SELECT told_both('DELETE FROM % WHERE id BETWEEN 2001 AND 2100 RETURNING id');
SELECT told_both('DELETE FROM % WHERE id BETWEEN 2061 AND 2100 RETURNING id');
SELECT * FROM told_check();
-- a subtransaction that fails, rows that it had told about
BEGIN;
SAVEPOINT a;
DELETE FROM told_t WHERE id BETWEEN 2201 AND 2300;
ROLLBACK TO a;
SELECT told_both('DELETE FROM % WHERE id BETWEEN 2201 AND 2260 RETURNING id');
COMMIT;
-- locked and changed by this transaction before
BEGIN;
SELECT count(*) FROM (SELECT FROM told_t WHERE id BETWEEN 2301 AND 2305 FOR UPDATE) l;
UPDATE told_t SET v = 0 WHERE id BETWEEN 2304 AND 2310;
UPDATE told_h SET v = 0 WHERE id BETWEEN 2304 AND 2310;
SELECT told_both('DELETE FROM % WHERE id BETWEEN 2290 AND 2320 RETURNING *');
COMMIT;
SELECT told_both('DELETE FROM % RETURNING *');
SELECT * FROM told_check();
DROP TABLE told_h, told_t, ref_h, ref_t, log;
DROP FUNCTION told_both, told_check, slow, note_row, note_all, keep_odd;

-- what is called between two rows finds the others still there: in a sub-select of RETURNING, in a trigger's condition, by who reads WITH
CREATE TABLE told_s (id int PRIMARY KEY, seg int) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'id');
INSERT INTO told_s SELECT i, 0 FROM generate_series(1, 300) i;
SELECT compress_chunk('told_s') IS NOT NULL AS compressed;
CREATE FUNCTION told_left() RETURNS bigint LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN (SELECT count(*) FROM told_s); END';
BEGIN;
DELETE FROM told_s WHERE id <= 3 RETURNING (SELECT told_left() WHERE told_s.id > 0);
ROLLBACK;
BEGIN;
WITH d AS (DELETE FROM told_s WHERE id <= 3 RETURNING id) SELECT told_left() FROM d;
ROLLBACK;
WITH d AS (DELETE FROM told_s WHERE id <= 5 RETURNING *) INSERT INTO told_s SELECT id + 1, seg FROM d WHERE id < 5;
CREATE FUNCTION told_say() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'deleted'; RETURN NULL; END$$;
CREATE TRIGGER told_when AFTER DELETE ON told_s FOR EACH ROW WHEN (told_left() > 297 AND OLD.id > 0) EXECUTE FUNCTION told_say();
DELETE FROM told_s WHERE id <= 5;
DROP TABLE told_s;
DROP FUNCTION told_left, told_say;
