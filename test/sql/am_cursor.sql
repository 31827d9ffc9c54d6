-- Cursors on compressed rows, WHERE CURRENT OF.
CREATE TABLE cursor_rows USING strata AS SELECT i, i AS j FROM generate_series(1, 10) i;
SET ROLE postgres;
SET strata.torture = on;	-- compresses small tables as well
RESET ROLE;
SELECT compress_chunk('cursor_rows') IS NOT NULL AS compressed;
SET ROLE postgres;
RESET strata.torture;
RESET ROLE;

-- The first update leaves the batch as it is; the cursor stands on compressed TIDs.
CREATE FUNCTION cursor_update() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c CURSOR FOR SELECT * FROM cursor_rows;
BEGIN
	FOR r IN c LOOP
		UPDATE cursor_rows SET i = i * 100, j = r.j * 2 WHERE CURRENT OF c;
	END LOOP;
END
$$;
SELECT cursor_update();
SELECT * FROM cursor_rows ORDER BY i;

SET ROLE postgres;
SET strata.torture = on;	-- compresses small tables as well
RESET ROLE;
SELECT compress_chunk('cursor_rows') IS NOT NULL AS compressed;
SET ROLE postgres;
RESET strata.torture;
RESET ROLE;
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM cursor_rows WHERE i >= 300;
FETCH 1 FROM c;
UPDATE cursor_rows SET j = -1 WHERE CURRENT OF c;
UPDATE cursor_rows SET j = j - 1 WHERE CURRENT OF c;	-- again, through the chain of versions
FETCH 1 FROM c;
DELETE FROM cursor_rows WHERE CURRENT OF c RETURNING *;
DELETE FROM cursor_rows WHERE CURRENT OF c RETURNING *;	-- gone already
UPDATE cursor_rows SET j = 0 WHERE i = 500;
FETCH 1 FROM c;	-- as it was
DELETE FROM cursor_rows WHERE CURRENT OF c RETURNING *;	-- as it is
SELECT * FROM cursor_rows ORDER BY i;
ROLLBACK;

-- with FOR UPDATE the cursor stands on locked rows
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM cursor_rows FOR UPDATE;
FETCH 2 FROM c;
UPDATE cursor_rows SET j = j + 1 WHERE CURRENT OF c;
UPDATE cursor_rows SET j = j + 1 WHERE CURRENT OF c;
SELECT * FROM cursor_rows WHERE i <= 300 ORDER BY i;
COMMIT;

DROP FUNCTION cursor_update;
DROP TABLE cursor_rows;
