-- Ordered output of both halves: every order a layout offers, forward and
-- backward, with limits, nulls, ties, and batches that do not fit the order.
SET timezone = 'UTC';
SET jit = off;
SET client_min_messages = error;
SET enable_sort = off;

CREATE TABLE scan_order_h (n int, ts timestamp, host text, i int, f float8, nn timestamp NOT NULL);
INSERT INTO scan_order_h
SELECT g, CASE WHEN g % 41 = 0 THEN NULL ELSE timestamp '2024-01-01' + g / 4 % 500 * interval '1 min' END,
	CASE WHEN g % 61 = 0 THEN NULL ELSE 'h' || g % 7 END, CASE WHEN g % 13 = 0 THEN NULL ELSE g * 7919 % 1000 END,
	CASE WHEN g % 31 = 0 THEN NULL WHEN g % 37 = 0 THEN 'NaN' WHEN g % 43 = 0 THEN '-Infinity' ELSE g * 31 % 977 / 4.0 END,
	timestamp '2024-01-01' + g * interval '1 min'
FROM generate_series(1, 3000) g;
-- a segment whose order columns are all null
INSERT INTO scan_order_h SELECT g, NULL, 'h8', NULL, NULL, timestamp '2024-01-02' FROM generate_series(3001, 3100) g;

CREATE TABLE scan_order_s (LIKE scan_order_h) USING strata;
SET strata.batch_rows = 50;

-- Compares the sequence of the keys; equal keys may come in any order.
CREATE FUNCTION scan_order_same(keys text, condition text, rest text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	template text := 'SELECT md5(string_agg(k::text, '','')) || count(*) FROM (SELECT ROW(%s) k FROM %s WHERE %s ORDER BY %s %s) x';
	columns text := regexp_replace(keys, '( ASC| DESC)?( NULLS (FIRST|LAST))?', '', 'g');
	a text;
	b text;
BEGIN
	EXECUTE format(template, columns, 'scan_order_h', condition, keys, rest) INTO a;
	EXECUTE format(template, columns, 'scan_order_s', condition, keys, rest) INTO b;
	RETURN CASE WHEN a IS DISTINCT FROM b THEN format('heap %s, strata %s', a, b) END;
END $$;
CREATE VIEW scan_order_differences AS
SELECT keys, condition, rest, d FROM (
	SELECT keys, condition, rest, scan_order_same(keys, condition, rest) d FROM
	unnest(ARRAY['ts', 'ts DESC', 'ts NULLS FIRST', 'ts DESC NULLS LAST', 'host, ts', 'host DESC, ts DESC', 'host NULLS FIRST, ts DESC NULLS LAST',
		'ts, i', 'ts DESC, i DESC', 'ts, i DESC', 'i', 'i DESC', 'host', 'host, i', 'f', 'f DESC', 'f DESC NULLS LAST, host', 'host, f NULLS FIRST', 'nn', 'nn DESC', 'host, nn DESC',
		'nn DESC NULLS LAST, host']) keys,
	unnest(ARRAY['true', 'host = ''h3''', 'host IN (''h1'', ''h8'')', 'i > 500', 'ts >= ''2024-01-01 02:00'' AND ts < ''2024-01-01 03:00''', 'host IS NULL',
		'nn > ''2024-01-01 10:00'' AND n % 2 = 0', 'n < 0']) condition,
	unnest(ARRAY['', 'LIMIT 10', 'LIMIT 20 OFFSET 35']) rest OFFSET 0) x WHERE d IS NOT NULL;

ALTER TABLE scan_order_s SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
INSERT INTO scan_order_s SELECT * FROM scan_order_h;
SELECT compress_chunk('scan_order_s');
SELECT * FROM scan_order_differences;

ALTER TABLE scan_order_s SET (strata.segmentby = 'host', strata.orderby = 'ts NULLS FIRST, i');
SELECT compress_chunk('scan_order_s', recompress => true);
SELECT * FROM scan_order_differences;

ALTER TABLE scan_order_s SET (strata.segmentby = '', strata.orderby = 'f DESC NULLS LAST, host');
SELECT compress_chunk('scan_order_s', recompress => true);
SELECT * FROM scan_order_differences;

-- not null, so that the index gives the batches in order
ALTER TABLE scan_order_s SET (strata.segmentby = 'host', strata.orderby = 'nn');
SELECT compress_chunk('scan_order_s', recompress => true);
SELECT * FROM scan_order_differences;

-- batches of other layouts, batches that overlap, and rows in the row store
INSERT INTO scan_order_s SELECT n, ts, host, i + 1, f, nn + interval '1 s' FROM scan_order_h WHERE n % 3 = 0;
SELECT compress_chunk('scan_order_s');
ALTER TABLE scan_order_s SET (strata.segmentby = 'i', strata.orderby = 'host, f');
INSERT INTO scan_order_s SELECT n, ts, host, i, -f, nn FROM scan_order_h WHERE n % 10 = 0;
SELECT compress_chunk('scan_order_s');
ALTER TABLE scan_order_s SET (strata.segmentby = 'host', strata.orderby = 'nn');
INSERT INTO scan_order_s SELECT n, ts, host, i, f, nn - interval '1 day' FROM scan_order_h WHERE n % 20 = 0;
DELETE FROM scan_order_h;
INSERT INTO scan_order_h SELECT * FROM scan_order_s;
SELECT * FROM scan_order_differences;
CREATE INDEX ON scan_order_s (nn);
CREATE INDEX ON scan_order_s (host, nn DESC);
CREATE INDEX ON scan_order_s (ts DESC);
ANALYZE scan_order_s;
SELECT * FROM scan_order_differences;

-- a column's type or collation changed without a rewrite: batches lie as they did
ALTER TABLE scan_order_s SET (strata.segmentby = '', strata.orderby = 'host, i');
SELECT compress_chunk('scan_order_s', recompress => true);
SELECT * FROM scan_order_differences;
ALTER TABLE scan_order_s ALTER COLUMN host TYPE varchar COLLATE "C", ALTER COLUMN i TYPE oid;
ALTER TABLE scan_order_h ALTER COLUMN host TYPE varchar COLLATE "C", ALTER COLUMN i TYPE oid;
SELECT * FROM scan_order_differences;
SELECT * FROM strata.verify('scan_order_s');
UPDATE scan_order_s SET i = (i::int8 - 500)::int4::oid WHERE n < 30;
UPDATE scan_order_h SET i = (i::int8 - 500)::int4::oid WHERE n < 30;
SELECT compress_chunk('scan_order_s');
ALTER TABLE scan_order_s ALTER COLUMN i TYPE int;
ALTER TABLE scan_order_h ALTER COLUMN i TYPE int;
SELECT * FROM scan_order_differences;
SELECT * FROM strata.verify('scan_order_s');

-- rescans, distinct, windows, and a merge of partitions
CREATE TABLE scan_order_p (n int, ts timestamp NOT NULL, host text) PARTITION BY HASH (n);
CREATE TABLE scan_order_p0 PARTITION OF scan_order_p FOR VALUES WITH (MODULUS 2, REMAINDER 0) USING strata;
CREATE TABLE scan_order_p1 PARTITION OF scan_order_p FOR VALUES WITH (MODULUS 2, REMAINDER 1) USING strata;
ALTER TABLE scan_order_p0 SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
ALTER TABLE scan_order_p1 SET (strata.orderby = 'ts');
INSERT INTO scan_order_p SELECT g, timestamp '2024-01-01' + g * interval '1 min', 'h' || g % 3 FROM generate_series(1, 1000) g;
SELECT compress_chunk('scan_order_p0'), compress_chunk('scan_order_p1');
INSERT INTO scan_order_p SELECT g, timestamp '2024-01-01' + g * interval '1 min', 'h' || g % 3 FROM generate_series(991, 1010) g;
SELECT n FROM scan_order_p ORDER BY ts DESC, n LIMIT 5;
SELECT n, host FROM scan_order_p WHERE host = 'h1' ORDER BY ts LIMIT 5;
SELECT count(*), min(n), max(n) FROM (SELECT n, lag(ts) OVER (ORDER BY ts) <= ts AS ok FROM scan_order_p) x WHERE ok;
SELECT DISTINCT ON (host) host, ts FROM scan_order_p0 ORDER BY host, ts DESC;
SELECT h, x.n FROM (VALUES ('h0'), ('h2'), ('none'), (NULL)) v(h),
	LATERAL (SELECT n FROM scan_order_p WHERE host = v.h ORDER BY ts DESC LIMIT 2) x;

DROP VIEW scan_order_differences;
DROP FUNCTION scan_order_same;
DROP TABLE scan_order_h, scan_order_s, scan_order_p;
