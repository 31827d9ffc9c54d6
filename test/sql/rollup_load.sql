-- Many buckets of an archive at once become batches, where groups have rows enough for one; what is asked is the same.
SET timezone = 'UTC';
SET strata.report_compression = off;
SET client_min_messages = warning;
\set VERBOSITY terse
SET strata.enable_direct_load = on;
CREATE TABLE rolo (time timestamptz NOT NULL, host int, v int);
SELECT FROM create_hypertable('rolo', 'time', chunk_time_interval => interval '1 day');
INSERT INTO rolo SELECT '2026-05-01'::timestamptz + i * interval '20 minutes', h, i * h % 101 FROM generate_series(0, 4319) i, generate_series(1, 23) h;
CREATE TABLE rolo_heap AS TABLE rolo;
CREATE FUNCTION rolo_rows(archive text, OUT batches bigint, OUT in_batches bigint, OUT rows bigint) LANGUAGE plpgsql AS $$ BEGIN
	SELECT count(b), coalesce(sum(nrows), 0) INTO batches, in_batches FROM show_chunks(archive) c LEFT JOIN strata.batches(c) b ON true;
	EXECUTE format('SELECT count(*) FROM %s', archive) INTO rows;
END $$;
CREATE MATERIALIZED VIEW rolo_h WITH (strata.continuous, strata.chunk_interval = '10 days') AS SELECT time_bucket('1 hour', time) AS b, host, count(*) AS n, sum(v) AS s, avg(v) AS a FROM rolo GROUP BY 1, 2;
CREATE FUNCTION rolo_check(OUT groups bigint, OUT wrong bigint) LANGUAGE sql AS $$
	SELECT count(x.b), count(*) FILTER (WHERE x IS DISTINCT FROM y) FROM (SELECT time_bucket('1 hour', time) AS b, host, count(*) AS n, sum(v) AS s, avg(v) AS a FROM rolo_heap GROUP BY 1, 2) x
	FULL JOIN rolo_h y USING (b, host) $$;
SELECT * FROM rolo_check();
SELECT batches > 100 AS many, in_batches > 30000 AS nearly_all, rows FROM rolo_rows('rolo_h_archive');
-- late rows change one row each, wherever it lies
INSERT INTO rolo VALUES ('2026-05-03 04:05', 3, 7), ('2026-05-31 14:05', 99, 7);
INSERT INTO rolo_heap VALUES ('2026-05-03 04:05', 3, 7), ('2026-05-31 14:05', 99, 7);
DELETE FROM rolo WHERE time = '2026-05-20 00:20';
DELETE FROM rolo_heap WHERE time = '2026-05-20 00:20';
SELECT * FROM rolo_check();
CALL refresh_continuous_aggregate('rolo_h', NULL, NULL);
SELECT * FROM rolo_check();
-- where many rows differ, what is new becomes batches, too
UPDATE rolo SET v = v + 1 WHERE time BETWEEN '2026-05-12' AND '2026-06-15';
UPDATE rolo_heap SET v = v + 1 WHERE time BETWEEN '2026-05-12' AND '2026-06-15';
SELECT * FROM rolo_check();
CALL refresh_continuous_aggregate('rolo_h', NULL, NULL);
SELECT * FROM rolo_check();
SELECT batches > 200 AS more, in_batches > 45000 AS gone_too, rows FROM rolo_rows('rolo_h_archive');
VACUUM rolo_h_archive;
-- a view above hears of batches that are loaded below
CREATE MATERIALIZED VIEW rolo_d WITH (strata.continuous) AS SELECT time_bucket('1 day', b) AS d, sum(n) AS n, sum(s) AS s FROM rolo_h GROUP BY 1;
UPDATE rolo SET v = v * 2 WHERE host < 20;
UPDATE rolo_heap SET v = v * 2 WHERE host < 20;
CALL refresh_continuous_aggregate('rolo_h', NULL, NULL);
SELECT count(*), count(*) FILTER (WHERE x IS DISTINCT FROM y) AS wrong FROM (SELECT time_bucket('1 day', time) AS d, count(*)::numeric AS n, sum(v)::numeric AS s FROM rolo_heap GROUP BY 1) x FULL JOIN rolo_d y USING (d);
SELECT * FROM strata.verify('rolo_h');
SELECT * FROM strata.verify('rolo_d');
-- in a block, and taken back
BEGIN;
UPDATE rolo SET v = 1;
SAVEPOINT a;
CALL refresh_continuous_aggregate('rolo_h', NULL, NULL);
SELECT count(*) FROM rolo_h WHERE s = n;
ROLLBACK TO a;
SELECT count(*) FROM rolo_h WHERE s = n;
ROLLBACK;
SELECT * FROM rolo_check();
-- few rows of each group, and few buckets, are rows: no empty relations of batches either
CREATE MATERIALIZED VIEW rolo_few WITH (strata.continuous, strata.chunk_interval = '10 days') AS SELECT time_bucket('2 days', time) AS b, host, v, count(*) AS n FROM rolo GROUP BY 1, 2, 3;
SELECT batches, in_batches, rows FROM rolo_rows('rolo_few_archive');
SELECT count(*) FROM show_chunks('rolo_few_archive') c WHERE strata.batch_relation(c) IS NOT NULL;
SELECT count(*), count(*) FILTER (WHERE x IS DISTINCT FROM y) AS wrong FROM (SELECT time_bucket('2 days', time) AS b, host, v, count(*) AS n FROM rolo_heap GROUP BY 1, 2, 3) x FULL JOIN rolo_few y USING (b, host, v);
-- who does not want it says so of the archive, or for all
CREATE MATERIALIZED VIEW rolo_no WITH (strata.continuous, strata.chunk_interval = '10 days') AS SELECT time_bucket('1 hour', time) AS b, host, count(*) AS n FROM rolo GROUP BY 1, 2 WITH NO DATA;
ALTER TABLE rolo_no_archive SET (strata.direct_load = false);
CALL refresh_continuous_aggregate('rolo_no', NULL, NULL);
SELECT batches, in_batches, rows FROM rolo_rows('rolo_no_archive');
SET strata.enable_direct_load = off;
CREATE MATERIALIZED VIEW rolo_off WITH (strata.continuous, strata.chunk_interval = '10 days') AS SELECT time_bucket('1 hour', time) AS b, host, count(*) AS n FROM rolo GROUP BY 1, 2;
SELECT batches, in_batches, rows FROM rolo_rows('rolo_off_archive');
RESET strata.enable_direct_load;
-- retention keeps what is in batches
SELECT count(*) FROM drop_chunks('rolo', older_than => timestamptz '2026-06-01 12:00');
SELECT * FROM rolo_check();
INSERT INTO rolo VALUES ('2026-05-03 04:06', 3, 7);
INSERT INTO rolo_heap VALUES ('2026-05-03 04:06', 3, 7);
CALL refresh_continuous_aggregate('rolo_h', NULL, NULL);
SELECT * FROM rolo_check();
SELECT compress_chunk(c) IS NOT NULL FROM show_chunks('rolo_h_archive') c LIMIT 2;
SELECT * FROM rolo_check();
DROP TABLE rolo CASCADE;
DROP TABLE rolo_heap;
DROP FUNCTION rolo_rows, rolo_check;
