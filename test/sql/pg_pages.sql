-- Pages of companions read by ourselves show what heapam shows: while rows of
-- this and of ended transactions come and go, in both directions, after VACUUM.
SET client_min_messages = warning;
SET strata.batch_rows = 100;
CREATE TABLE pgg (id int, k int, v text) USING strata WITH (strata.segmentby = 'k', strata.orderby = 'id');
CREATE FUNCTION pgg_both() RETURNS TABLE (n bigint, s bigint, same bool) LANGUAGE plpgsql AS $$
DECLARE other bigint;
BEGIN
	PERFORM set_config('strata.enable_page_scan', 'off', true);
	SELECT sum(id) INTO other FROM pgg;
	PERFORM set_config('strata.enable_page_scan', 'on', true);
	SELECT count(*), sum(id) INTO n, s FROM pgg;
	same := s IS NOT DISTINCT FROM other;
	RETURN NEXT;
END $$;
INSERT INTO pgg SELECT i, i % 50, md5(i::text) FROM generate_series(1, 20000) i;
SELECT compress_chunk('pgg');
SELECT * FROM pgg_both();
BEGIN;
DELETE FROM pgg WHERE k < 10;
SELECT * FROM pgg_both();
INSERT INTO pgg SELECT i, 77, md5(i::text) FROM generate_series(20001, 20500) i;
SELECT compress_chunk('pgg');
SELECT * FROM pgg_both();
ROLLBACK;
SELECT * FROM pgg_both();
DELETE FROM pgg WHERE k < 10;
VACUUM pgg;
SELECT * FROM pgg_both();
-- a cursor that turns round
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM pgg;
MOVE FORWARD 9000 FROM c;
MOVE BACKWARD 8999 FROM c;
MOVE FORWARD ALL FROM c;
COMMIT;
DROP TABLE pgg;
DROP FUNCTION pgg_both;
