-- estimate_compression, advise_compression, strata.codec_choice: close to what comes out, and nothing is written.
SET client_min_messages = error;
CREATE SCHEMA api_advise;
SET search_path = api_advise, public;
CREATE TABLE src AS SELECT timestamptz '2024-01-01 00:00Z' + (i / 20) * interval '10 s' AS ts, 'host_' || i % 20 AS host, i % 400 AS rack, i AS id,
    ((i * 7919) % 1000) / 10.0::float8 AS v, CASE WHEN i % 7 = 0 THEN NULL ELSE (i % 20) * 100 + (i / 20) % 9 END AS n,
    ((i * 31) % 5000 / 100.0)::numeric(10, 2) AS money, md5((i % 1000)::text) AS note
    FROM generate_series(1, 20000) i;
CREATE TABLE t (LIKE src) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts DESC');
INSERT INTO t TABLE src;

-- column by column, the last row for all of it: off by less than a tenth
CREATE TABLE estimated AS SELECT * FROM estimate_compression('t');
CREATE TABLE of_heap AS SELECT * FROM estimate_compression('src', 'host', 'ts DESC');
SELECT column_name, codec, raw_bytes > 0 AS raw FROM estimated;
SELECT * FROM (TABLE estimated EXCEPT ALL TABLE of_heap) d WHERE column_name IS NOT NULL;
SELECT strata.batch_relation('t') IS NULL AS nothing_written, count(*) FROM t;
SELECT compress_chunk('t');
SELECT e.column_name, e.bytes, o.bytes FROM estimated e JOIN
    (SELECT column_name, sum(bytes) AS bytes FROM strata.batch_columns('t') GROUP BY 1) o USING (column_name)
WHERE e.bytes NOT BETWEEN o.bytes * 0.9 AND o.bytes * 1.1;
SELECT e.bytes BETWEEN o * 0.9 AND o * 1.1 AS total FROM estimated e, pg_total_relation_size(strata.batch_relation('t')) o WHERE column_name IS NULL;
-- batches count as rows
SELECT e.column_name FROM estimate_compression('t') e JOIN estimated o USING (column_name) WHERE e.bytes NOT BETWEEN o.bytes * 0.9 AND o.bytes * 1.1;

-- ranked: by host it is smallest; segments of 50 rows are too small, so they come last
SELECT rank, segmentby, orderby, rows_per_batch, command FROM advise_compression('src') ORDER BY rank;
SELECT segmentby, reason LIKE '%too small%' AS too_small FROM advise_compression('src') WHERE segmentby = 'rack';
SELECT count(*) FROM advise_compression('src') a JOIN advise_compression('src') b ON a.rank < b.rank AND a.predicted_bytes > b.predicted_bytes
WHERE b.segmentby <> 'rack';
CREATE TABLE "no Time" (k int, v text);
INSERT INTO "no Time" SELECT i % 3, 'v' || i FROM generate_series(1, 3000) i;
SELECT segmentby, orderby, reason LIKE '%no order%' AS no_order, command FROM advise_compression('"no Time"') ORDER BY segmentby;
-- the command is one
SELECT command FROM advise_compression('"no Time"') WHERE segmentby = 'k' \gset
:command
SELECT segmentby FROM strata.tables WHERE relation = '"no Time"'::regclass;
-- two columns that say more together: sensors have the same names at every site
CREATE TABLE pairs AS SELECT timestamptz '2024-01-01 00:00Z' + (i / 60) * interval '1 min' AS ts, 'site' || i % 60 / 10 AS site, 's' || i % 10 AS sensor,
    (i % 60) * 1000 + (i / 60) % 7 AS v, i % 60 / 30 AS half FROM generate_series(0, 29999) i ORDER BY i / 60, md5(i::text);
SELECT rank, segmentby, reason LIKE '%queries for one site and sensor%' AS reason, command FROM advise_compression('pairs') WHERE rank = 1;
SELECT segmentby FROM advise_compression('pairs') ORDER BY segmentby COLLATE "C";
SELECT command FROM advise_compression('pairs') WHERE rank = 1 \gset
:command
SELECT segmentby FROM strata.tables WHERE relation = 'pairs'::regclass;
-- a warning says where to look
SET client_min_messages = warning;
CREATE TABLE small (LIKE src) USING strata WITH (strata.segmentby = 'rack', strata.orderby = 'ts');
INSERT INTO small TABLE src;
SELECT compress_chunk('small');
SET client_min_messages = error;

-- rows that are changed one by one are better kept as rows
CREATE TABLE orders AS SELECT i AS id, 'customer ' || i % 20 AS customer, (i % 20) || ' San Antonio Road, Building ' || i % 20 AS address, 'San Francisco' AS city, 0 AS n FROM generate_series(1, 5000) i;
SELECT count(*) FROM advise_compression('orders') WHERE segmentby IS NULL;
UPDATE orders SET n = 1 WHERE id % 4 = 0;
SELECT pg_stat_force_next_flush();
SELECT rank, orderby, predicted_bytes < pg_relation_size('orders') / 1.3 AS smaller, ratio > 1.3 AS ratio, rows_per_batch, takes, reason, command FROM advise_compression('orders') WHERE segmentby IS NULL;
SELECT bool_and(rank = n) AS ranks FROM (SELECT rank, row_number() OVER () AS n FROM advise_compression('orders')) a;
SELECT command FROM advise_compression('orders') WHERE rank = 1 \gset
:command
SELECT rank, reason LIKE '%already' AS already, command FROM advise_compression('orders') WHERE segmentby IS NULL;
SELECT count(*) > 0 AS by_batches_too FROM advise_compression('orders') WHERE command LIKE 'ALTER TABLE % SET ACCESS METHOD strata; %';
-- nothing repeats
CREATE TABLE unlike AS SELECT i AS id, md5(i::text) AS a, 0 AS n FROM generate_series(1, 5000) i;
UPDATE unlike SET n = 1;
SELECT pg_stat_force_next_flush();
SELECT count(*) FROM advise_compression('unlike') WHERE segmentby IS NULL;

-- why a codec
SELECT column_name, codec, reason FROM strata.codec_choice('t') WHERE codec = 'auto' AND column_name IN ('v', 'money');
SELECT c.column_name, c.codec FROM strata.codec_choice('t') c JOIN strata.codec_choice('t') a ON a.column_name = c.column_name AND a.codec = 'auto'
WHERE c.batches = a.batches AND c.codec <> 'auto' AND c.bytes <> a.bytes;
SELECT column_name, string_agg(codec, ' ' ORDER BY codec) FROM strata.codec_choice('t') GROUP BY 1 ORDER BY 1;

-- empty, one column, wrong
CREATE TABLE empty (LIKE src) USING strata;
SELECT column_name, codec, raw_bytes, bytes FROM estimate_compression('empty') WHERE column_name IS NOT NULL;
SELECT count(*) FROM advise_compression('empty');
SELECT * FROM estimate_compression('src', 'nope');
SELECT * FROM estimate_compression('src', 'host', 'host');
SELECT * FROM estimate_compression('src', 'host DESC');
SELECT * FROM estimate_compression(NULL);
SELECT count(*) FROM estimate_compression('estimated');
CREATE TABLE p (a int) PARTITION BY LIST (a);
SELECT * FROM estimate_compression('p');
-- a hypertable is looked at by its largest chunk, and its command compresses all
CREATE TABLE ht (ts timestamptz NOT NULL, host int, v float8);
SELECT FROM create_hypertable('ht', 'ts', chunk_time_interval => interval '12 hours');
SELECT * FROM advise_compression('ht');
INSERT INTO ht SELECT '2026-01-01 00:00+00'::timestamptz + i * interval '10 s', i % 3, i % 7 FROM generate_series(0, 8639) i;
SELECT rank, segmentby, orderby, rows_per_batch, command FROM advise_compression('ht') WHERE segmentby IN ('host', '');
SELECT column_name, ratio > 1 AS saves FROM estimate_compression('ht');
SELECT command FROM advise_compression('ht') WHERE segmentby = 'host' \gexec
SELECT bool_and(batch_rows = 4320) FROM strata.tables WHERE relation IN (SELECT show_chunks('ht'));
-- the same ratio for the same thing: of a heap, rows, batches, a hypertable of both
SELECT a.ratio = e.ratio AS same FROM advise_compression('src') a, estimate_compression('src', 'host', 'ts DESC') e WHERE a.segmentby = 'host' AND e.column_name IS NULL;
SELECT a.ratio = e.ratio AS same, e.ratio > 2 AS as_rows FROM advise_compression('t') a, estimate_compression('t') e WHERE a.segmentby = 'host' AND e.column_name IS NULL;
SELECT a.ratio = e.ratio AS same, e.ratio > 2 AS as_rows FROM advise_compression('ht') a, estimate_compression('ht') e WHERE a.segmentby = 'host' AND e.column_name IS NULL;
INSERT INTO ht SELECT '2026-01-01 00:00:01+00'::timestamptz + i * interval '200 s', i % 3, i % 7 FROM generate_series(0, 431) i;
SELECT a.ratio = e.ratio AS same, e.ratio > 2 AS as_rows FROM advise_compression('ht') a, estimate_compression('ht') e WHERE a.segmentby = 'host' AND e.column_name IS NULL;
TRUNCATE src;
SELECT count(*) FROM advise_compression('src');
-- how long it takes, and longer chunks where that fills batches
SELECT takes > '0' AND takes < '10 min' AS some_time, reason LIKE '% in a chunk of 12 hours;%' AS chunk FROM advise_compression('ht') WHERE segmentby = 'host';
CREATE TABLE short (ts timestamptz NOT NULL, host int, v float8);
SELECT FROM create_hypertable('short', 'ts', chunk_time_interval => interval '1 hour');
INSERT INTO short SELECT '2026-01-01 00:00+00'::timestamptz + i / 60 * interval '10 s', i % 60, i % 7 FROM generate_series(0, 43199) i;
SELECT substring(reason from 'in a chunk[^)]*\)') FROM advise_compression('short') WHERE segmentby = 'host';
SELECT substring(reason from 'in a chunk[^)]*\)') FROM show_chunks('short') c, advise_compression(c) WHERE segmentby = 'host' LIMIT 1;
CREATE TABLE numbered (n bigint NOT NULL, host int, v float8);
SELECT FROM create_hypertable('numbered', 'n', chunk_time_interval => 10000);
INSERT INTO numbered SELECT i, i % 45, i % 7 FROM generate_series(0, 19999) i;
SELECT substring(reason from 'in a chunk[^)]*\)') FROM advise_compression('numbered') WHERE segmentby = 'host';
-- columns that were dropped
CREATE TABLE dropped (gone_1 text, ts timestamptz NOT NULL, gone_2 int, host int, v float8, gone_3 uuid);
INSERT INTO dropped SELECT 'x', '2026-01-01 00:00+00'::timestamptz + i / 3 * interval '10 s', 1, i % 3, i % 7 FROM generate_series(0, 5999) i;
ALTER TABLE dropped DROP COLUMN gone_1, DROP COLUMN gone_2, DROP COLUMN gone_3;
SELECT segmentby, orderby FROM advise_compression('dropped') ORDER BY rank LIMIT 1;
SELECT column_name FROM estimate_compression('dropped') ORDER BY 1;
ALTER TABLE dropped SET ACCESS METHOD strata, DROP COLUMN v;
SELECT segmentby, orderby FROM advise_compression('dropped') ORDER BY rank LIMIT 1;
SELECT column_name FROM estimate_compression('dropped') ORDER BY 1;
SELECT compress_chunk('dropped') IS NOT NULL AS compressed;
SELECT segmentby, orderby FROM advise_compression('dropped') ORDER BY rank LIMIT 1;
SELECT column_name FROM strata.codec_choice('dropped') ORDER BY 1;
CREATE VIEW w AS SELECT 1;
SELECT * FROM advise_compression('w');
CREATE ROLE api_advise_user;
GRANT api_advise_user TO CURRENT_USER;
GRANT USAGE ON SCHEMA api_advise TO api_advise_user;
GRANT SELECT ON t TO api_advise_user;
SET ROLE api_advise_user;
SELECT * FROM estimate_compression('t');
SELECT * FROM advise_compression('t');
SELECT * FROM strata.codec_choice('t');
RESET ROLE;
DROP SCHEMA api_advise CASCADE;
DROP ROLE api_advise_user;
