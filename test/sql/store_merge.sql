-- Recompression rewrites the batches that need it, and leaves the others alone.
CREATE EXTENSION IF NOT EXISTS strata;
SET client_min_messages = error;
SET strata.batch_rows = 100;

CREATE TABLE h (id int, seg text, ts timestamp, v float8) USING heap;
CREATE TABLE s (LIKE h) USING strata;
ALTER TABLE s SET (strata.segmentby = 'seg', strata.orderby = 'ts DESC');
INSERT INTO h SELECT g, CASE g % 4 WHEN 3 THEN NULL ELSE 's' || g % 4 END,
	'2026-01-01'::timestamp + g * interval '1 min', g FROM generate_series(1, 4000) g;
INSERT INTO s TABLE h;
SELECT compress_chunk('s');

-- What the last recompression kept, and made; and is all there, and sound?
CREATE TABLE before AS SELECT first_row FROM strata.batches('s');
CREATE FUNCTION look(OUT batches bigint, OUT kept bigint, OUT most int, OUT overlaps bigint,
	OUT differences bigint, OUT problems bigint, OUT in_row_store bigint) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM compress_chunk('s', recompress => true);
	SELECT count(*), count(*) FILTER (WHERE first_row IN (SELECT first_row FROM before)), max(nrows)
	INTO batches, kept, most FROM strata.batches('s');
	SELECT count(*) INTO overlaps FROM strata.batches('s') a JOIN strata.batches('s') b
		ON a.segment IS NOT DISTINCT FROM b.segment AND a.first_row < b.first_row
		AND a.min_orderby::timestamp < b.max_orderby::timestamp AND b.min_orderby::timestamp < a.max_orderby::timestamp;
	SELECT count(*) INTO differences FROM ((TABLE h EXCEPT ALL TABLE s) UNION ALL (TABLE s EXCEPT ALL TABLE h)) d;
	SELECT count(*) INTO problems FROM strata.verify('s');
	SELECT row_store_rows INTO in_row_store FROM strata.tables WHERE relation = 's'::regclass;
	TRUNCATE before;
	INSERT INTO before SELECT first_row FROM strata.batches('s');
END $$;

-- nothing to do
SELECT * FROM look();
-- rows have left batches
UPDATE h SET v = -v WHERE id IN (17, 18, 2222);
UPDATE s SET v = -v WHERE id IN (17, 18, 2222);
DELETE FROM h WHERE id BETWEEN 3001 AND 3010;
DELETE FROM s WHERE id BETWEEN 3001 AND 3010;
SELECT * FROM look();
-- new rows: behind the others, twice (small batches fit together), and in between
INSERT INTO h SELECT g, 's1', '2027-01-01'::timestamp + g * interval '1 min', g FROM generate_series(5001, 5030) g;
INSERT INTO s SELECT * FROM h WHERE id BETWEEN 5001 AND 5030;
SELECT * FROM look();
INSERT INTO h SELECT g, 's1', '2028-01-01'::timestamp + g * interval '1 min', g FROM generate_series(5031, 5060) g;
INSERT INTO s SELECT * FROM h WHERE id BETWEEN 5031 AND 5060;
SELECT * FROM look();
INSERT INTO h SELECT g, NULL, '2026-01-02'::timestamp + g * interval '1 sec', g FROM generate_series(6001, 6005) g;
INSERT INTO s SELECT * FROM h WHERE id BETWEEN 6001 AND 6005;
SELECT * FROM look();
-- null times
INSERT INTO h SELECT g, 's2', NULL, g FROM generate_series(7001, 7150) g;
INSERT INTO s SELECT * FROM h WHERE id BETWEEN 7001 AND 7150;
SELECT * FROM look();
-- rows that were locked only have not left
BEGIN;
SELECT count(*) FROM (SELECT FROM s WHERE id < 50 FOR UPDATE) x;
COMMIT;
SELECT * FROM look();
-- a whole batch deleted
DELETE FROM h WHERE seg = 's2' AND ts < '2026-01-01 10:00';
DELETE FROM s WHERE seg = 's2' AND ts < '2026-01-01 10:00';
SELECT * FROM look();
-- other settings: what has the old layout is made anew
ALTER TABLE s SET (strata.orderby = 'ts');
SELECT * FROM look();
SELECT * FROM look();
SET strata.batch_rows = 150;
SELECT * FROM look();
SELECT * FROM look();
-- rolled back
BEGIN;
DELETE FROM s WHERE id % 3 = 0;
SELECT compress_chunk('s', recompress => true);
ROLLBACK;
SELECT * FROM look();
-- no order, no segment
ALTER TABLE s SET (strata.orderby = '', strata.segmentby = '');
SELECT * FROM look();
INSERT INTO h SELECT g, 's2', now(), g FROM generate_series(8001, 8050) g;
INSERT INTO s SELECT * FROM h WHERE id > 8000;
-- without an order batches are merged with those that lie beside them, wherever there was room
SELECT batches - kept AS new, most, "overlaps", differences, problems, in_row_store FROM look();
DROP TABLE h, s, before;
DROP FUNCTION look;
