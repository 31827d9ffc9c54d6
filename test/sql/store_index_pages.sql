-- store_index_pages.sql: a companion has fewer indexes while it is small, and all of them once it has grown; answers are the same.
SET strata.index_pages = 8;
CREATE FUNCTION indexes_of(rel regclass) RETURNS bigint LANGUAGE sql AS $$ SELECT count(*) FROM pg_index WHERE indrelid = strata.batch_relation(rel) $$;

CREATE TABLE ip (ts timestamptz NOT NULL, host text, v float8, note text);
SELECT count(*) FROM create_hypertable('ip', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE ip SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
CREATE TABLE ip_heap (LIKE ip);
CREATE FUNCTION add_rows(target regclass, lo int, hi int, part int, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('INSERT INTO %s SELECT timestamptz ''2026-01-01Z'' + i * interval ''1 minute'' + %s * interval ''1 second'', ''h'' || i %% 5, CASE WHEN i %% 7 > 0 THEN i %% 100 / 8.0 END, md5((i * 1000 + %s)::text)
		FROM generate_series(%s, %s) i WHERE (i %% 20 = 0) = (%s = 0) ORDER BY 1', target, n, n, lo, hi, part);
END $$;
-- chunks of 720 minutes
SELECT count(add_rows(t, 0, 2159, 1, 0)) FROM unnest('{ip, ip_heap}'::regclass[]) t;
SELECT count(compress_chunk(c)) FROM show_chunks('ip') c;
SELECT count(add_rows(t, 0, 2159, 0, 0)) FROM unnest('{ip, ip_heap}'::regclass[]) t;
ANALYZE ip;
SELECT indexes_of(c) FROM show_chunks('ip') c ORDER BY c::text;

-- queries that would use the other indexes
CREATE FUNCTION differences() RETURNS TABLE (query text, strata bigint, heap bigint) LANGUAGE plpgsql AS $$
DECLARE
	q text;
	s text;
	h text;
BEGIN
	FOREACH q IN ARRAY ARRAY[
		'SELECT * FROM t ORDER BY ts DESC LIMIT 10', 'SELECT * FROM t ORDER BY ts LIMIT 10', 'SELECT host, ts, v FROM t ORDER BY host, ts DESC',
		'SELECT DISTINCT ON (host) * FROM t ORDER BY host, ts DESC', 'SELECT DISTINCT ON (host) * FROM t ORDER BY host, ts',
		'SELECT host, max(ts), min(ts), last(v, ts), count(*), sum(v) FROM t GROUP BY host ORDER BY host', 'SELECT min(ts), max(ts), count(v) FROM t',
		'SELECT * FROM t WHERE ts BETWEEN ''2026-01-01 10:00Z'' AND ''2026-01-01 10:20Z'' ORDER BY ts', 'SELECT * FROM t WHERE ts < ''2026-01-02Z'' ORDER BY ts DESC LIMIT 7',
		'SELECT time_bucket(''1 hour'', ts) b, max(v) FROM t GROUP BY b ORDER BY b DESC LIMIT 5', 'SELECT * FROM t WHERE host = ''h3'' ORDER BY ts DESC LIMIT 3',
		'SELECT * FROM t WHERE host > ''h2'' AND ts >= ''2026-01-02 05:00Z'' ORDER BY ts, host', 'SELECT * FROM t ORDER BY v DESC NULLS LAST, ts LIMIT 20']
	LOOP
		EXECUTE 'SELECT md5(string_agg(x::text, E''\n'')) FROM (' || replace(q, 'FROM t', 'FROM ip') || ') x' INTO s;
		EXECUTE 'SELECT md5(string_agg(x::text, E''\n'')) FROM (' || replace(q, 'FROM t', 'FROM ip_heap') || ') x' INTO h;
		IF s IS DISTINCT FROM h THEN
			RETURN QUERY SELECT q, 0::bigint, 0::bigint;
		END IF;
	END LOOP;
END $$;
SELECT * FROM differences();

-- other settings: batches of two layouts
ALTER TABLE ip SET (strata.segmentby = '', strata.orderby = 'ts');
SELECT compress_chunk('ip_20260101_000000_chunk'), indexes_of('ip_20260101_000000_chunk');
SELECT * FROM differences();
ALTER TABLE ip SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');

-- growth: by compress_chunk, and by direct load
SELECT count(add_rows(t, 720, 1439, n % 2, n)) FROM unnest('{ip, ip_heap}'::regclass[]) t, generate_series(1, 16) n;
SELECT compress_chunk('ip_20260101_120000_chunk'), indexes_of('ip_20260101_120000_chunk');
-- a larger table may do without, too
SET strata.index_pages = 1000;
SELECT count(add_rows(t, 1440, 2159, n % 2, n)) FROM unnest('{ip, ip_heap}'::regclass[]) t, generate_series(1, 16) n;
SELECT compress_chunk('ip_20260102_000000_chunk', recompress => true), indexes_of('ip_20260102_000000_chunk');
SET strata.index_pages = 8;
SELECT * FROM differences();
SELECT * FROM strata.verify('ip');

-- direct load; a table of its own, as chunks are made by a worker
SET strata.enable_direct_load = on;
CREATE TABLE dl (LIKE ip) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts DESC', strata.direct_load);
CREATE TABLE dl_heap (LIKE ip);
INSERT INTO dl SELECT timestamptz '2026-01-01Z' + i * interval '1 s', 'h' || i % 3, i, 'same' FROM generate_series(1, 6000) i;
SELECT count(*) AS batches, indexes_of('dl') FROM strata.batches('dl');
BEGIN;
INSERT INTO dl SELECT timestamptz '2026-01-02Z' + i * interval '1 s', 'h' || i % 3, i, md5(i::text) FROM generate_series(1, 6000) i;
SELECT count(*) AS batches, indexes_of('dl') FROM strata.batches('dl');
ROLLBACK;
SELECT count(*) AS batches, indexes_of('dl') FROM strata.batches('dl');
-- the pages that were written and taken back count: they are read, too
INSERT INTO dl SELECT timestamptz '2026-01-03Z' + i * interval '1 s', 'h' || i % 3, i, 'same' FROM generate_series(1, 3000) i;
SELECT count(*) AS batches, indexes_of('dl') FROM strata.batches('dl');
INSERT INTO dl_heap SELECT * FROM dl;
SELECT count(*), count(DISTINCT (a.ts, a.host)) FROM (SELECT * FROM dl ORDER BY ts DESC LIMIT 5000) a JOIN (SELECT * FROM dl_heap ORDER BY ts DESC LIMIT 5000) b USING (ts, host, v, note);
SELECT * FROM strata.verify('dl');

-- zero: all of them from the first batch on
SET strata.index_pages = 0;
CREATE TABLE all_of_them (ts timestamptz, host text) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO all_of_them SELECT timestamptz '2026-01-01Z' + i * interval '1 s', 'a' FROM generate_series(1, 2000) i;
SELECT compress_chunk('all_of_them'), indexes_of('all_of_them');
DROP TABLE ip, ip_heap, dl, dl_heap, all_of_them;
DROP FUNCTION indexes_of, add_rows, differences;
