-- UPDATE and MERGE of the time: rows of compressed chunks move into compressed, mixed, plain and missing ones.
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE TABLE h (time timestamptz NOT NULL, d int NOT NULL, v float8, note text, PRIMARY KEY (time, d));
CREATE INDEX ON h (d, v);
SELECT created FROM create_hypertable('h', 'time', chunk_time_interval => interval '1 day');
ALTER TABLE h SET (strata.segmentby = 'd', strata.orderby = 'time DESC');
INSERT INTO h SELECT '2026-01-01'::timestamptz + g * interval '10 minutes', g % 4,
	CASE g % 40 WHEN 0 THEN float8 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 'infinity' WHEN 3 THEN NULL ELSE g END,
	CASE WHEN g % 7 = 0 THEN NULL WHEN g % 200 = 1 THEN repeat('long ' || g, 2000) ELSE 'note ' || g END
FROM generate_series(0, 144 * 5 - 1) g;
CREATE TABLE plain (LIKE h INCLUDING ALL) USING heap;
INSERT INTO plain SELECT * FROM h;
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM (SELECT * FROM h EXCEPT ALL SELECT * FROM plain) x)
		 + (SELECT count(*) FROM (SELECT * FROM plain EXCEPT ALL SELECT * FROM h) x) $$;
CREATE FUNCTION on_both(text) RETURNS bigint LANGUAGE plpgsql AS $$ DECLARE n bigint; m bigint; BEGIN
	EXECUTE replace($1, '%T', 'h'); GET DIAGNOSTICS n = ROW_COUNT;
	EXECUTE replace($1, '%T', 'plain'); GET DIAGNOSTICS m = ROW_COUNT;
	IF n <> m THEN RAISE '% rows, % in heap', n, m; END IF;
	RETURN n; END $$;
CREATE FUNCTION where_rows_are() RETURNS TABLE (chunk name, row_store bigint, batch_rows bigint) LANGUAGE sql AS $$
	SELECT c.chunk_name, t.row_store_rows, t.batch_rows
	FROM strata.chunks c JOIN strata.tables t ON t.relation = format('%I.%I', c.chunk_schema, c.chunk_name)::regclass
	WHERE c.hypertable_name = 'h' ORDER BY c.range_start $$;
-- the first three are compressed, the third has rows on both sides, the fourth and fifth are rows
SELECT count(compress_chunk(c)) FROM show_chunks('h', older_than => '2026-01-04') c;
SELECT on_both($$INSERT INTO %T SELECT t, 9, 1 FROM generate_series(timestamptz '2026-01-03', '2026-01-03 20:00', '1 hour') t$$);
SELECT * FROM where_rows_are();
-- compressed to compressed, one row and many, forwards and backwards
SELECT on_both($$UPDATE %T SET time = time + interval '1 day 1 second' WHERE time = '2026-01-01 10:00'$$);
SELECT on_both($$UPDATE %T SET time = time + interval '1 day 1 second', note = 'forward' WHERE time < '2026-01-02' AND d = 1$$);
SELECT on_both($$UPDATE %T SET time = time - interval '2 days' + interval '2 seconds', v = -v WHERE time >= '2026-01-03' AND time < '2026-01-04' AND d IN (2, 9)$$);
SELECT differences();
SELECT * FROM where_rows_are();
-- a whole segment of a batch leaves; what was moved moves again; into rows, into nothing, from rows into compressed
SELECT on_both($$UPDATE %T SET time = time + interval '3 days 3 seconds' WHERE time < '2026-01-02' AND d = 3$$);
SELECT on_both($$UPDATE %T SET time = time + interval '30 days 4 seconds' WHERE note = 'forward' OR d = 9$$);
SELECT on_both($$UPDATE %T SET time = time - interval '4 days' + interval '5 seconds' WHERE time >= '2026-01-05' AND time < '2026-01-06' AND d <> 3$$);
SELECT differences();
SELECT * FROM where_rows_are();
-- the key holds on both sides
UPDATE h SET time = '2026-01-02 00:00' WHERE time = '2026-01-01 00:40' AND d = 0;
UPDATE h SET time = '2026-01-04 00:00' WHERE time = '2026-01-01 00:40' AND d = 0;
-- join, RETURNING, a prepared statement, MERGE, a trigger
UPDATE h SET time = x.n FROM (VALUES (timestamptz '2026-01-01 00:40', timestamptz '2026-01-02 00:40:30'), ('2026-01-02 00:00', '2026-06-01')) x (o, n)
	WHERE h.time = x.o AND d = 0 RETURNING h.time, h.d, h.v;
UPDATE plain SET time = x.n FROM (VALUES (timestamptz '2026-01-01 00:40', timestamptz '2026-01-02 00:40:30'), ('2026-01-02 00:00', '2026-06-01')) x (o, n)
	WHERE plain.time = x.o AND d = 0;
PREPARE move(timestamptz, interval) AS UPDATE h SET time = time + $2 WHERE time >= $1 AND time < $1 + interval '1 hour';
EXECUTE move('2026-01-02 05:00', '1 day 9 seconds');
EXECUTE move('2026-01-02 06:00', '100 days 9 seconds');
UPDATE plain SET time = time + interval '1 day 9 seconds' WHERE time >= '2026-01-02 05:00' AND time < '2026-01-02 06:00';
UPDATE plain SET time = time + interval '100 days 9 seconds' WHERE time >= '2026-01-02 06:00' AND time < '2026-01-02 07:00';
SELECT differences();
SELECT on_both($$MERGE INTO %T AS t USING (SELECT timestamptz '2026-01-02' + g * interval '10 minutes' AS time, g % 4 AS d FROM generate_series(60, 80) g) s ON t.time = s.time AND t.d = s.d
	WHEN MATCHED AND s.d = 0 THEN DELETE
	WHEN MATCHED AND s.d = 1 THEN UPDATE SET time = s.time + interval '1 day 11 seconds'
	WHEN MATCHED THEN UPDATE SET time = s.time + interval '77 days'
	WHEN NOT MATCHED THEN INSERT VALUES (s.time, s.d, 5)$$);
CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.time := NEW.time + interval '1 day 13 seconds'; RETURN NEW; END $$;
CREATE TRIGGER later BEFORE UPDATE ON h FOR EACH ROW EXECUTE FUNCTION later();
CREATE TRIGGER later BEFORE UPDATE ON plain FOR EACH ROW EXECUTE FUNCTION later();
SELECT on_both($$UPDATE %T SET v = 0 WHERE time BETWEEN '2026-01-01 12:00' AND '2026-01-01 18:00'$$);
SELECT differences();
DROP TRIGGER later ON h;
DROP TRIGGER later ON plain;
-- rolled back: statement, savepoint
BEGIN;
SAVEPOINT a;
UPDATE h SET time = time + interval '200 days' WHERE time < '2026-01-02';
ROLLBACK TO a;
SELECT differences();
UPDATE h SET time = time + interval '200 days' WHERE time < '2026-01-02';
ROLLBACK;
SELECT differences();
SELECT * FROM where_rows_are();
-- indexes find them; the next compression merges them
SET enable_seqscan = off;
SELECT (SELECT count(*) FROM h WHERE d = 2 AND v < 0) = (SELECT count(*) FROM plain WHERE d = 2 AND v < 0) AS same;
RESET enable_seqscan;
SELECT count(compress_chunk(c, recompress => true)) FROM show_chunks('h') c;
SELECT sum(row_store) AS row_store, sum(batch_rows) = (SELECT count(*) FROM plain) AS all_rows FROM where_rows_are();
SELECT differences();
SELECT count(*) FROM show_chunks('h') c, strata.verify(c);
SELECT on_both($$UPDATE %T SET time = time + interval '1 year'$$) = (SELECT count(*) FROM plain) AS every_row;
SELECT differences();
SELECT strata.gc();
DROP TABLE h, plain;
DROP FUNCTION differences, on_both, where_rows_are, later;
