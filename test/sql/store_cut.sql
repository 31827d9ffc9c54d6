-- How far batch rows are cut down, where segments are short, and when batches are as large as an archive's.  docs/adr/013.
SET client_min_messages = error;
SET timezone = 'UTC';
-- the default: the suite has all tables large
SET strata.index_pages = 8;
CREATE TABLE sc (ts timestamptz NOT NULL, host int, a int8, b int8, c int8);
SELECT count(*) FROM create_hypertable('sc', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE sc SET (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE sc_heap (LIKE sc);
CREATE FUNCTION cut_of(rel regclass) RETURNS text LANGUAGE sql AS $$
	SELECT option_value FROM pg_class, pg_options_to_table(reloptions) WHERE oid = strata.batch_relation(rel) AND option_name = 'toast_tuple_target' $$;
CREATE FUNCTION disk_of(rel regclass) RETURNS bigint LANGUAGE sql AS $$ SELECT pg_total_relation_size(strata.batch_relation(rel)) $$;
CREATE FUNCTION add_rows(hosts int, n int, day date) RETURNS void LANGUAGE sql AS $$
	INSERT INTO sc_heap SELECT day::timestamptz + i * interval '1 second', h, hashint8extended(i, h), hashint8extended(i, -h), hashint8extended(-i, h)
		FROM generate_series(1, n) i, generate_series(1, hosts) h;
	INSERT INTO sc TABLE sc_heap EXCEPT ALL TABLE sc $$;
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM ((TABLE sc EXCEPT ALL TABLE sc_heap) UNION ALL (TABLE sc_heap EXCEPT ALL TABLE sc)) d $$;

-- 180 rows of a host take 4.6 kB: one batch to a page would leave two fifths of it empty
SELECT add_rows(200, 180, '2026-01-01');
SELECT c AS one FROM show_chunks('sc') c \gset
SELECT bytes AS estimated FROM estimate_compression(:'one') WHERE column_name IS NULL \gset
SELECT compress_chunk(:'one');
SELECT cut_of(:'one'), count(*) AS batches FROM strata.batches(:'one');
-- one to a page would be 1600 kB
SELECT disk_of(:'one') < 1350 * 1024 AS cut, abs(:estimated - disk_of(:'one')) < 0.1 * disk_of(:'one') AS estimated;
SELECT differences(), (SELECT count(*) FROM strata.verify('sc')) AS problems;
-- a second time there is nothing to do, and what was learned stays
CREATE TABLE before AS SELECT first_row, nrows FROM strata.batches(:'one');
SELECT compress_chunk(:'one', recompress => true);
SELECT cut_of(:'one'), (SELECT count(*) FROM (SELECT first_row, nrows FROM strata.batches(:'one') EXCEPT TABLE before) x) AS changed;

-- few of them: a TOAST table would take more than it saves
SELECT add_rows(12, 180, '2026-01-02');
SELECT c AS two FROM show_chunks('sc', newer_than => timestamptz '2026-01-02') c \gset
SELECT compress_chunk(:'two');
SELECT cut_of(:'two'), count(*) AS batches FROM strata.batches(:'two');

-- a small archive has the batches that others have, and is not larger
SELECT add_rows(4, 3000, '2026-01-03');
SELECT c AS three FROM show_chunks('sc', newer_than => timestamptz '2026-01-03') c \gset
SELECT compress_chunk(:'three');
SELECT add_rows(4, 3000, '2026-01-04');
SELECT c AS four FROM show_chunks('sc', newer_than => timestamptz '2026-01-04') c \gset
ALTER TABLE sc SET (strata.codec_level = 'archive');
SELECT compress_chunk(:'four');
SELECT cut_of(:'four'), max(nrows) AS largest, disk_of(:'four') <= disk_of(:'three') AS not_larger FROM strata.batches(:'four');
-- one that counts as large has larger ones, also when the other kind is made anew; then nothing is left to do
SET strata.index_pages = 1;
SELECT compress_chunk(:'four', recompress => true);
SELECT max(nrows) AS largest FROM strata.batches(:'four');
TRUNCATE before;
INSERT INTO before SELECT first_row, nrows FROM strata.batches(:'four');
SELECT compress_chunk(:'four', recompress => true);
SELECT count(*) AS changed FROM (SELECT first_row, nrows FROM strata.batches(:'four') EXCEPT TABLE before) x;
-- and it stays so, whatever it takes by then
SET strata.index_pages = 8;
SELECT compress_chunk(:'four', recompress => true);
SELECT count(*) AS changed FROM (SELECT first_row, nrows FROM strata.batches(:'four') EXCEPT TABLE before) x;
SELECT differences(), (SELECT count(*) FROM strata.verify('sc')) AS problems;
DROP FUNCTION cut_of, disk_of, add_rows, differences;
DROP TABLE sc, sc_heap, before;
