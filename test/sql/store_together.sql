-- Rows of a batch that one command deletes have one entry: which rows, what it looks like, and who looks it up.  docs/adr/008.
SET strata.batch_rows = 32767;
CREATE TABLE tg_h (id int PRIMARY KEY, third int, tenth int, rare bool, f float8);
CREATE TABLE tg_t (LIKE tg_h, PRIMARY KEY (id)) USING strata WITH (strata.orderby = 'id');
INSERT INTO tg_h SELECT i, i % 3, i / 10 % 10, i IN (7, 20000, 39999), i / 4.0 FROM generate_series(1, 40000) i;
INSERT INTO tg_t TABLE tg_h;
SELECT compress_chunk('tg_t');

-- Runs the statement (% is the table) on both; rows affected.
CREATE FUNCTION tg_both(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	nh bigint;
	nt bigint;
BEGIN
	EXECUTE replace(statement, '%', 'tg_h');
	GET DIAGNOSTICS nh = ROW_COUNT;
	EXECUTE replace(statement, '%', 'tg_t');
	GET DIAGNOSTICS nt = ROW_COUNT;
	RETURN nt || CASE WHEN nt <> nh THEN ' BUT ' || nh ELSE '' END;
END $$;
-- Differences by every way to read.
CREATE FUNCTION tg_check() RETURNS TABLE (differences bigint, counts bool, sums bool, points bigint, tids bool, problems bigint) LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM ((TABLE tg_h EXCEPT ALL TABLE tg_t) UNION ALL (TABLE tg_t EXCEPT ALL TABLE tg_h)) d),
		(SELECT count(*) FROM tg_t) = (SELECT count(*) FROM tg_h),
		(SELECT row(sum(id), max(id), min(id), sum(f) FILTER (WHERE tenth = 3), count(*) FILTER (WHERE third = 1)) FROM tg_t) IS NOT DISTINCT FROM
			(SELECT row(sum(id), max(id), min(id), sum(f) FILTER (WHERE tenth = 3), count(*) FILTER (WHERE third = 1)) FROM tg_h),
		(SELECT count(*) FROM generate_series(1, 40001, 997) g WHERE
			(SELECT f FROM tg_t WHERE id = g) IS DISTINCT FROM (SELECT f FROM tg_h WHERE id = g)),
		(SELECT count(*) = (SELECT count(*) FROM tg_h) FROM tg_t AS a JOIN tg_t AS b ON a.ctid = b.ctid),
		(SELECT count(*) FROM strata.verify('tg_t')) $$;
-- three rows, a run, many that are no run, more than one bitmap holds
BEGIN;
SELECT tg_both('DELETE FROM % WHERE id BETWEEN 101 AND 103');
SELECT tg_both('DELETE FROM % WHERE id BETWEEN 201 AND 900');
SELECT tg_both('DELETE FROM % WHERE third = 1 AND id BETWEEN 801 AND 1500');
SELECT * FROM tg_check();
SELECT tg_both('DELETE FROM % WHERE third = 2');
SELECT tg_both('DELETE FROM % WHERE rare');
SELECT * FROM tg_check();
-- what is left, and all of it: batches go with their entries
SAVEPOINT a;
SELECT tg_both('DELETE FROM % WHERE id < 35000');
SELECT * FROM tg_check();
SELECT tg_both('DELETE FROM %');
SELECT * FROM tg_check();
ROLLBACK TO a;
SELECT * FROM tg_check();
-- keys of deleted rows are free, others are not
SELECT tg_both('INSERT INTO % VALUES (250, 0, 0, false, 1), (20000, 0, 0, false, 1)');
SELECT tg_both('INSERT INTO % SELECT i, 1, 1, false, 0 FROM generate_series(60, 1000) i ON CONFLICT DO NOTHING');
SELECT tg_both('INSERT INTO % SELECT i, 1, 1, false, 0 FROM generate_series(700, 1600) i ON CONFLICT (id) DO UPDATE SET f = -1');
SELECT * FROM tg_check();
SAVEPOINT a;
INSERT INTO tg_t VALUES (3, 0, 0, false, 1);
ROLLBACK TO a;
-- changes of what is there, by all ways
SELECT tg_both('UPDATE % SET f = f + 1 WHERE mod(id, 50) = 0');
SELECT tg_both('DELETE FROM % WHERE tenth = 4 AND id < 9000');
SELECT tg_both('MERGE INTO % AS t USING generate_series(1, 4000, 7) g ON t.id = g WHEN MATCHED AND third = 0 THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (g, 0, 0, false, 5)');
SELECT * FROM tg_check();
-- recompressed and decompressed
SAVEPOINT a;
SELECT compress_chunk('tg_t', recompress => true);
SELECT * FROM tg_check();
ROLLBACK TO a;
SELECT decompress_chunk('tg_t');
SELECT * FROM tg_check();
ROLLBACK;
SELECT * FROM tg_check();

-- rows that were locked once, or are by us, and rows changed before by this transaction
SELECT count(*) FROM (SELECT FROM tg_t WHERE id BETWEEN 300 AND 310 FOR SHARE) x;
BEGIN;
SELECT count(*) FROM (SELECT FROM tg_t WHERE id BETWEEN 320 AND 330 FOR UPDATE) x;
SELECT tg_both('UPDATE % SET f = 0 WHERE id BETWEEN 340 AND 350');
SELECT tg_both('DELETE FROM % WHERE id = 360');
SAVEPOINT a;
SELECT tg_both('DELETE FROM % WHERE id BETWEEN 290 AND 400');
SELECT * FROM tg_check();
ROLLBACK TO a;
SELECT * FROM tg_check();
-- again, what was undone
SELECT tg_both('DELETE FROM % WHERE id BETWEEN 290 AND 400');
SELECT tg_both('DELETE FROM % WHERE id BETWEEN 280 AND 410');
SELECT * FROM tg_check();
COMMIT;
SELECT * FROM tg_check();
-- two by one command each, under one cursor
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM tg_t WHERE id BETWEEN 1000 AND 1012;
FETCH 3 FROM c;
SELECT tg_both('DELETE FROM % WHERE id BETWEEN 1002 AND 1010');
DELETE FROM tg_t WHERE CURRENT OF c;
FETCH ALL FROM c;
SELECT count(*) FROM tg_t WHERE id BETWEEN 1000 AND 1012;
COMMIT;
SELECT * FROM tg_check();
-- prepared; rewritten; vacuumed
BEGIN;
SELECT tg_both('DELETE FROM % WHERE third = 0 AND id > 30000');
PREPARE TRANSACTION 'tg';
COMMIT PREPARED 'tg';
SELECT * FROM tg_check();
VACUUM FULL tg_t;
SELECT * FROM tg_check();
CLUSTER tg_t USING tg_t_pkey;
VACUUM (FREEZE) tg_t;
SELECT * FROM tg_check();
SELECT tg_both('DELETE FROM % WHERE third = 1');
ALTER TABLE tg_t ADD COLUMN late int DEFAULT 5;
ALTER TABLE tg_h ADD COLUMN late int DEFAULT 5;
SELECT tg_both('DELETE FROM % WHERE tenth = 5 AND late = 5');
SELECT * FROM tg_check();
-- more entries than are read ahead
SET strata.batch_rows = 10;
SELECT tg_both('DELETE FROM % WHERE id > 12000');
SELECT compress_chunk('tg_t', recompress => true);
SELECT tg_both('DELETE FROM % WHERE tenth IN (1, 2, 3, 6)');
SELECT * FROM tg_check();
SELECT tg_both('DELETE FROM % WHERE tenth = 7 AND id < 6000');
SELECT * FROM tg_check();
SET strata.enable_batch_delete = off;
SELECT tg_both('DELETE FROM % WHERE tenth = 8 AND id < 3000');
RESET strata.enable_batch_delete;
SELECT * FROM tg_check();

DROP FUNCTION tg_both, tg_check;
DROP TABLE tg_t, tg_h;
