-- What views and functions say of a chunk in each state it can be in: is_compressed is what is on disk.
SET timezone = 'UTC';
SET strata.background_vacuum = off;
SET strata.enable_direct_load = on;
SET strata.enable_batch_delete = on;
SET strata.enable_scan = on;
SET check_function_bodies = off;
CREATE ROLE strata_states_owner;
CREATE ROLE strata_states_stranger;
SET client_min_messages = warning;
GRANT strata_states_owner, strata_states_stranger TO CURRENT_USER;
RESET client_min_messages;
SET client_min_messages = warning;
GRANT strata_states_owner, strata_states_stranger TO CURRENT_USER;
RESET client_min_messages;
GRANT CREATE ON SCHEMA public TO strata_states_owner;
CREATE TABLE told (step int GENERATED ALWAYS AS IDENTITY, what text, role name, is_compressed bool, status text, compressed_chunks bigint, chunks bigint, before bool, after bool, total bool);
GRANT ALL ON told TO PUBLIC;

-- All that is said of the only chunk, and whether it agrees with itself.
CREATE FUNCTION tell(what text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO told (what, role, is_compressed, status, compressed_chunks, chunks, before, after, total)
	SELECT what, current_user, c.is_compressed, s.compression_status, h.number_compressed_chunks, h.total_chunks,
		   s.before_compression_total_bytes > 0 AND h.before_compression_total_bytes = s.before_compression_total_bytes,
		   s.after_compression_total_bytes > 0 AND h.after_compression_total_bytes = s.after_compression_total_bytes,
		   d.total_bytes = hypertable_size('m') AND d.total_bytes >= coalesce(s.after_compression_total_bytes, 0)
	FROM strata.chunks c, chunk_compression_stats('m') s, hypertable_compression_stats('m') h, chunks_detailed_size('m') d
	WHERE c.hypertable_name = 'm' AND s.chunk_name = c.chunk_name AND d.chunk_name = c.chunk_name
$$;
CREATE FUNCTION tell_all(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM tell(what);
	SET LOCAL ROLE strata_states_stranger;
	PERFORM tell(what);
	SET LOCAL ROLE strata_states_owner;
END $$;
CREATE FUNCTION fill(n int, day int DEFAULT 0) RETURNS void LANGUAGE sql AS $$
	INSERT INTO m SELECT timestamptz '2026-01-01' + day * interval '1 day' + i * interval '1 s', 'h' || i % 4, i FROM generate_series(1, n) i
$$;

SET ROLE strata_states_owner;
CREATE TABLE m (ts timestamptz NOT NULL, host text, v float8);
SELECT FROM create_hypertable('m', 'ts');
ALTER TABLE m SET (strata.segmentby = 'host', strata.orderby = 'ts');
SELECT fill(4000);
SELECT tell_all('1 never compressed');
SELECT compress_chunk(c) IS NOT NULL FROM show_chunks('m') c;
SELECT tell_all('2 compressed');
SELECT fill(100, 1);
SELECT tell_all('3 rows in both halves');
SELECT compress_chunk(c, recompress => true) IS NOT NULL FROM show_chunks('m') c;
SELECT tell_all('4 recompressed');
UPDATE m SET v = -v WHERE host = 'h1';
SELECT tell_all('5 a segment changed');
SELECT decompress_chunk(c) IS NOT NULL FROM show_chunks('m') c;
SELECT tell_all('6 decompressed');
SELECT compress_chunk(c, recompress => true) IS NOT NULL FROM show_chunks('m') c;
SELECT tell_all('7 first compressed by recompression');
DELETE FROM m;
SELECT tell_all('8 all rows deleted');
SELECT fill(4000);
SELECT tell_all('9 filled again');
SELECT compress_chunk(c) IS NOT NULL FROM show_chunks('m') c;
SELECT tell_all('10 compressed again');
TRUNCATE m;
SELECT tell_all('11 truncated');
ALTER TABLE m SET (strata.direct_load = true);
SELECT fill(4000);
SELECT tell_all('12 direct load');
ALTER TABLE m RESET (strata.direct_load);
SELECT fill(1000);
SELECT compress_chunk(c) IS NOT NULL FROM show_chunks('m') c;
SELECT tell_all('13 direct load, then rows compressed');
SELECT decompress_chunk(c) IS NOT NULL FROM show_chunks('m') c;
SELECT compress_chunk(c) IS NOT NULL FROM show_chunks('m') c;
SELECT tell_all('14 all of them measured');
ALTER TABLE m ALTER v TYPE numeric;
SELECT tell_all('15 rewritten');
DROP TABLE m;

-- A table of its own, compressed, becomes a chunk; and leaves.
CREATE TABLE m (ts timestamptz NOT NULL, host text, v float8);
SELECT FROM create_hypertable('m', 'ts');
CREATE TABLE a (LIKE m) USING strata;
INSERT INTO a SELECT timestamptz '2026-01-01' + i * interval '1 s', 'h' || i % 4, i FROM generate_series(1, 4000) i;
SELECT compress_chunk('a');
CALL attach_chunk('m', 'a', '{"ts": ["2026-01-01", "2026-01-08"]}');
SELECT tell_all('16 attached');
CALL detach_chunk('a');
SELECT count(*) FROM strata.chunks WHERE hypertable_name = 'm';
DROP TABLE a;
-- direct load makes the companion along with the chunk, and an empty one is no compression
ALTER TABLE m SET (strata.direct_load = true);
BEGIN;
SELECT fill(4000);
ROLLBACK;
INSERT INTO m VALUES ('2026-01-01', 'h1', 0);
SELECT tell_all('17 an empty companion');
ALTER TABLE m RESET (strata.direct_load);
DROP TABLE m;

-- A policy.
CREATE TABLE m (ts timestamptz NOT NULL, host text, v float8);
SELECT FROM create_hypertable('m', 'ts');
SELECT fill(4000);
RESET ROLE;
SELECT add_compression_policy('m', interval '1 hour') AS job \gset
CALL run_job(:job);
SET ROLE strata_states_owner;
SELECT tell_all('18 by policy');
DROP TABLE m;
RESET ROLE;

-- VACUUM FULL, CLUSTER and other places take the batches along.
SET ROLE strata_states_owner;
CREATE TABLE m (ts timestamptz NOT NULL, host text, v float8);
SELECT FROM create_hypertable('m', 'ts');
SELECT fill(4000);
SELECT compress_chunk(c) IS NOT NULL FROM show_chunks('m') c;
RESET ROLE;
VACUUM FULL m;
SET ROLE strata_states_owner;
SELECT tell_all('19 VACUUM FULL');
DO $$ DECLARE c regclass; BEGIN FOR c IN SELECT show_chunks('m') LOOP PERFORM reorder_chunk(c, 'm_ts_idx'); END LOOP; END $$;
SELECT tell_all('20 reordered');
DROP TABLE m;
RESET ROLE;

-- Torture fills batches of which nobody knows what they took before.
CREATE TABLE m (ts timestamptz NOT NULL, host text, v float8);
SELECT FROM create_hypertable('m', 'ts');
SELECT fill(4000);
SET ROLE postgres;
SET strata.torture = on;
RESET ROLE;
INSERT INTO m_20260101_chunk VALUES ('2026-01-01', 'h1', 1);
SET ROLE postgres;
RESET strata.torture;
RESET ROLE;
SELECT tell('21 torture');
SELECT pg_get_compression_ratio('m') IS NULL AS unknown;

SELECT what, is_compressed, status, compressed_chunks, chunks, before, after, total, count(*) AS roles
FROM told GROUP BY what, is_compressed, status, compressed_chunks, chunks, before, after, total ORDER BY min(step);

-- What it took before is of the rows that are in batches now.
CREATE TABLE t (i int) USING strata;
INSERT INTO t SELECT generate_series(1, 100000);
SELECT compress_chunk('t');
SELECT before_compression_total_bytes AS whole FROM chunk_compression_stats('t') \gset
VACUUM t;
DELETE FROM t WHERE i > 50000;
SELECT round(before_compression_total_bytes::numeric / :whole, 2) AS left_of_it FROM chunk_compression_stats('t');
INSERT INTO t SELECT generate_series(50001, 100000);
SELECT compress_chunk('t', recompress => true);
SELECT before_compression_total_bytes BETWEEN 0.95 * :whole AND 1.05 * :whole AS about_the_same FROM chunk_compression_stats('t');
DROP TABLE t;

DROP TABLE m, told;
DROP FUNCTION tell(text), tell_all(text), fill(int, int);
REVOKE CREATE ON SCHEMA public FROM strata_states_owner;
DROP ROLE strata_states_owner, strata_states_stranger;
