-- Plans of conditions of many ranges: each chunk has its own.
SET timezone = 'UTC';
SET strata.report_compression = off;
SET client_min_messages = warning;
CREATE TABLE rogp (t int NOT NULL, v int);
SELECT FROM create_hypertable('rogp', 't', chunk_time_interval => 100);
INSERT INTO rogp SELECT i, i FROM generate_series(0, 599) i;
ANALYZE rogp;
-- part of a chunk, all of one, none of one, several ranges
EXPLAIN (COSTS OFF) SELECT * FROM rogp WHERE t < 50 OR t >= 80 AND t < 220 OR t >= 410 AND t < 420 OR t >= 430 AND t < 440 OR t >= 590;
-- of four or fewer, of which one is no range, and where that is switched off, all have all
EXPLAIN (COSTS OFF) SELECT * FROM rogp WHERE t < 50 OR t >= 80 AND t < 120;
EXPLAIN (COSTS OFF) SELECT * FROM rogp WHERE t < 50 OR t >= 80 AND t < 220 OR t >= 410 AND t < 420 OR t >= 430 AND t < 440 OR t = 590;
SET strata.enable_time_pruning = off;
EXPLAIN (COSTS OFF) SELECT * FROM rogp WHERE t < 50 OR t >= 80 AND t < 220 OR t >= 410 AND t < 420 OR t >= 430 AND t < 440 OR t >= 590;
DROP TABLE rogp;
