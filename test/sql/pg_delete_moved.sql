-- A row that compression has deleted is marked as moved: whoever comes to it
-- with an older TID is told so, and is not told that it is deleted.
SET client_min_messages = warning;
SET strata.batch_rows = 100;
CREATE TABLE pgx (id int, v int) USING strata;
INSERT INTO pgx SELECT i, i FROM generate_series(1, 1000) i;
BEGIN;
DECLARE c CURSOR FOR SELECT id, v FROM pgx WHERE id < 4 FOR UPDATE;
FETCH 2 FROM c;
COMMIT;
CREATE FUNCTION pgx_update_after(what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; c CURSOR FOR SELECT id FROM pgx WHERE id = 5;
BEGIN
	OPEN c; FETCH c INTO r;
	EXECUTE what;
	UPDATE pgx SET v = -1 WHERE CURRENT OF c;
	RETURN 'updated';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
-- a table with an open cursor is not compressed in the same session
SELECT pgx_update_after($$SELECT compress_chunk('pgx')$$);
SELECT compress_chunk('pgx');
SELECT count(*), sum(v) FROM pgx;
SELECT pgx_update_after($$UPDATE pgx SET v = 0 WHERE id = 5$$);
SELECT count(*), sum(v) FROM pgx;
DROP TABLE pgx;
DROP FUNCTION pgx_update_after;
