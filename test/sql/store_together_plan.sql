-- What entries of rows deleted together look like; verify() knows one that is one too many.
SET strata.batch_rows = 32767;
CREATE TABLE tgp (id int, third int, rare bool) USING strata WITH (strata.orderby = 'id');
INSERT INTO tgp SELECT i, i % 3, i IN (7, 20000, 39999) FROM generate_series(1, 40000) i;
SELECT compress_chunk('tgp');
CREATE FUNCTION tgp_entries(OUT first_row bigint, OUT bytes text) RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT first_row, CASE WHEN length(entry) > 20 THEN length(entry) || '' bytes''
		ELSE encode(substr(entry, 1, length(entry) - 4), ''hex'') END FROM %s WHERE first_row < 0 ORDER BY first_row DESC', strata.batch_relation('tgp'));
END $$;

-- three rows, a run
DELETE FROM tgp WHERE id BETWEEN 101 AND 103;
DELETE FROM tgp WHERE id BETWEEN 201 AND 900;
-- a bitmap
DELETE FROM tgp WHERE third = 1 AND id BETWEEN 881 AND 920;
SET ROLE postgres;
SELECT * FROM tgp_entries();
RESET ROLE;
-- one entry has 8192 rows of a batch at most
BEGIN;
DELETE FROM tgp WHERE third = 2;
DELETE FROM tgp WHERE rare;
SET ROLE postgres;
SELECT * FROM tgp_entries();
RESET ROLE;
-- they go with their batch
DELETE FROM tgp;
SET ROLE postgres;
SELECT * FROM tgp_entries();
RESET ROLE;
ROLLBACK;
-- also of rows that somebody wants to see
BEGIN;
SELECT count(*) FROM strata.verify('tgp');
DELETE FROM tgp WHERE third = 2 AND id < 3000 RETURNING id \g /dev/null
SET ROLE postgres;
SELECT * FROM tgp_entries();
RESET ROLE;
ROLLBACK;
SELECT compress_chunk('tgp', recompress => true);
SET ROLE postgres;
SELECT * FROM tgp_entries();
RESET ROLE;

-- two that are about one row: of the one that was undone the bytes are kept
SET ROLE postgres;
DO $$
DECLARE
	batches regclass := strata.batch_relation('tgp');
	one record;
BEGIN
	BEGIN
		DELETE FROM tgp WHERE id = 39990;
		EXECUTE format('SELECT first_row, nrows, layout, entry FROM %s WHERE first_row < 0', batches) INTO one;
		RAISE EXCEPTION USING errcode = 'TG000';
	EXCEPTION WHEN SQLSTATE 'TG000' THEN NULL;
	END;
	DELETE FROM tgp WHERE id > 39980;
	EXECUTE format('INSERT INTO %s (first_row, nrows, layout, entry) VALUES ($1, $2, $3, $4)', batches) USING one.first_row, one.nrows, one.layout, one.entry;
END $$;
RESET ROLE;
SELECT count(*), max(id) FROM tgp;
SELECT column_name, problem FROM strata.verify('tgp');
DROP FUNCTION tgp_entries;
DROP TABLE tgp;
