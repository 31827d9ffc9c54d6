-- Batches get more rows than strata.batch_rows where that fills the companion's pages.
SET client_min_messages = error;
CREATE SCHEMA store_pages;
SET search_path = store_pages, public;

-- some 3.4 kB for 1000 rows: two batches to a page would leave a fifth of it empty
CREATE TABLE src AS SELECT i % 3 AS seg, timestamptz '2026-01-01 00:00Z' + i / 3 * interval '10 s' AS ts,
	hashint4(i) & 7 AS a, hashint4(i + 1) & 7 AS b, hashint4(i + 2) & 7 AS c, hashint4(i + 3) & 7 AS d,
	hashint4(i + 4) & 7 AS e, hashint4(i + 5) & 7 AS f, hashint4(i + 6) & 7 AS g, hashint4(i + 7) & 7 AS h
	FROM generate_series(0, 59999) i;

-- full: batches of at least 1000 rows; filled: percent of the companion's pages; out_of_line: batches with a column there
CREATE FUNCTION look(t regclass, src regclass DEFAULT 'src', OUT batches bigint, OUT full_ones bigint, OUT at_least int, OUT at_most int, OUT filled text,
	OUT out_of_line bigint, OUT differences bigint, OUT problems bigint) LANGUAGE plpgsql AS $$
DECLARE
	companion regclass = strata.batch_relation(t);
BEGIN
	SELECT count(*), count(*) FILTER (WHERE nrows >= 1000), min(nrows) FILTER (WHERE nrows >= 1000), max(nrows)
	INTO batches, full_ones, at_least, at_most FROM strata.batches(t);
	EXECUTE format('SELECT CASE WHEN sum(pg_column_size(b.*)) > 0.9 * pg_relation_size(%L) THEN ''over 90'' ELSE ''below'' END FROM %s b', companion, companion)
	INTO filled;
	EXECUTE format('SELECT count(DISTINCT chunk_id) FROM %s', (SELECT reltoastrelid::regclass FROM pg_class WHERE oid = companion)) INTO out_of_line;
	EXECUTE format('SELECT count(*) FROM ((TABLE %1$s EXCEPT ALL TABLE %2$s) UNION ALL (TABLE %2$s EXCEPT ALL TABLE %1$s)) d', src, t) INTO differences;
	SELECT count(*) INTO problems FROM strata.verify(t);
END $$;

-- compressed; what was estimated; a second time
CREATE TABLE t (LIKE src) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts DESC');
INSERT INTO t TABLE src;
CREATE TABLE estimated AS SELECT column_name, bytes FROM estimate_compression('t');
SELECT compress_chunk('t');
SET ROLE postgres;
SELECT * FROM look('t');
RESET ROLE;
SELECT bool_and(abs(e.bytes - r.bytes) < 0.05 * r.bytes) AS columns FROM estimated e
	JOIN (SELECT column_name, sum(bytes) AS bytes FROM strata.batch_columns('t') GROUP BY 1) r USING (column_name) WHERE r.bytes > 2000;
SELECT abs(bytes - pg_total_relation_size(strata.batch_relation('t'))) < 0.1 * bytes AS "all" FROM estimated WHERE column_name IS NULL;
-- nothing is left to do
CREATE TABLE before AS SELECT first_row, nrows FROM strata.batches('t');
SELECT compress_chunk('t', recompress => true);
SELECT count(*) AS changed FROM (SELECT first_row, nrows FROM strata.batches('t') EXCEPT TABLE before) x;
-- what overlaps is made anew, into batches that fill pages; and then nothing is left to do
DELETE FROM src WHERE ts > '2026-01-02 20:00Z' AND a = 3;
DELETE FROM t WHERE ts > '2026-01-02 20:00Z' AND a = 3;
INSERT INTO src SELECT seg, ts + interval '1 s', b, a, d, c, e, f, g, h FROM src WHERE ts < '2026-01-01 03:00Z';
INSERT INTO t SELECT seg, ts + interval '1 s', b, a, d, c, e, f, g, h FROM t WHERE ts < '2026-01-01 03:00Z';
SELECT compress_chunk('t', recompress => true);
VACUUM FULL t;
SET ROLE postgres;
SELECT * FROM look('t');
RESET ROLE;
TRUNCATE before;
INSERT INTO before SELECT first_row, nrows FROM strata.batches('t');
SELECT compress_chunk('t', recompress => true);
SELECT count(*) AS changed FROM (SELECT first_row, nrows FROM strata.batches('t') EXCEPT TABLE before) x;

-- rows that come segment by segment; too little memory for all segments; direct load
CREATE TABLE sorted (LIKE src) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts DESC');
INSERT INTO sorted SELECT * FROM src ORDER BY seg, ts;
SELECT compress_chunk('sorted');
SET ROLE postgres;
SELECT * FROM look('sorted');
RESET ROLE;
CREATE TABLE src14 AS SELECT (row_number() OVER (ORDER BY ts, seg) % 14)::int AS seg, ts, a, b, c, d, e, f, g, h FROM src ORDER BY ts, src.seg;
CREATE TABLE tight (LIKE src) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts DESC');
INSERT INTO tight TABLE src14;
-- fourteen segments with rows for a batch each fit, with rows that fill a page they do not
SET maintenance_work_mem = '1MB';
SELECT compress_chunk('tight');
SET ROLE postgres;
SELECT * FROM look('tight', 'src14');
RESET ROLE;
SELECT count(*) AS of_1000 FROM strata.batches('tight') WHERE nrows = 1000;
RESET maintenance_work_mem;
CREATE TABLE loaded (LIKE src) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts DESC', strata.direct_load);
INSERT INTO loaded SELECT * FROM src WHERE ts < '2026-01-02' ORDER BY ts;
INSERT INTO loaded SELECT * FROM src WHERE ts >= '2026-01-02' ORDER BY ts;
-- and with what went into the row store
SELECT compress_chunk('loaded');
SET ROLE postgres;
SELECT at_least, at_most > 1100 AS grown, differences, problems FROM look('loaded');
RESET ROLE;

-- many fit on a page, or none: as asked for
CREATE TABLE narrow (LIKE src) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
INSERT INTO narrow SELECT seg, ts, a / 8, b / 8, c / 8, d / 8, e / 8, f / 8, g / 8, h / 8 FROM src;
SELECT compress_chunk('narrow');
SELECT DISTINCT nrows FROM strata.batches('narrow') WHERE nrows >= 1000;
CREATE TABLE wide (LIKE src) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
INSERT INTO wide SELECT seg, ts, hashint4(a + 8 * b), hashint4(c + 8 * d), hashint4(e + 8 * f), hashint4(g + 8 * h), hashint4(a + 8 * h),
	hashint4(b + 8 * g), hashint4(a + 8 * d), hashint4(e + 8 * c) FROM src;
SELECT compress_chunk('wide');
SELECT DISTINCT nrows FROM strata.batches('wide') WHERE nrows >= 1000;
-- some segments take much, some little: whoever cannot tell does not try
CREATE TABLE mixed (LIKE src) USING strata WITH (strata.segmentby = 'seg', strata.orderby = 'ts');
INSERT INTO mixed SELECT seg, ts, a * seg, b * seg * 11, c * seg, d * seg, e * seg, f * seg * 7, g * seg * 3, h * seg * 1001 FROM src;
SELECT compress_chunk('mixed');
SELECT count(*) > 30 AS batches, max(nrows) <= 2250 AS bounded FROM strata.batches('mixed');
SELECT count(*) AS problems FROM strata.verify('mixed');
-- two batches of 1000 rows only just fit a page: whether they do is not guessed anew with each batch, nor by the estimate
CREATE TABLE halves (seg int, ts timestamptz, a int, b int, c int, d int, e int, f int, g int, h int, i int, j int) USING strata
	WITH (strata.segmentby = 'seg', strata.orderby = 'ts', strata.codec_level = 'hot');
INSERT INTO halves SELECT i % 8, timestamptz '2026-01-01 00:00Z' + i / 8 * interval '10 s', hashint4(i) & 7, hashint4(i + 1) & 7, hashint4(i + 2) & 7,
	hashint4(i + 3) & 7, hashint4(i + 4) & 7, hashint4(i + 5) & 7, hashint4(i + 6) & 7, hashint4(i + 7) & 7, hashint4(i + 8) & 7, hashint4(i + 9) & 1
	FROM generate_series(0, 119999) i;
CREATE TABLE estimated_halves AS SELECT column_name, bytes FROM estimate_compression('halves');
SELECT compress_chunk('halves');
SELECT bool_and(abs(e.bytes - r.bytes) < 0.1 * r.bytes) AS columns FROM estimated_halves e
	JOIN (SELECT column_name, sum(bytes) AS bytes FROM strata.batch_columns('halves') GROUP BY 1) r USING (column_name) WHERE r.bytes > 2000;
DROP SCHEMA store_pages CASCADE;
