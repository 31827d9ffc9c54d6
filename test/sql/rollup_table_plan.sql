-- Plans of aggregate queries of a hypertable: which read an archive, and what of the rows is left.
SET timezone = 'UTC';
SET strata.report_compression = off;
CREATE TABLE rtp (time int NOT NULL, host text, n int);
SELECT FROM create_hypertable('rtp', 'time', chunk_time_interval => 1000);
ALTER TABLE rtp SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO rtp SELECT i, 'h' || i % 3, i FROM generate_series(0, 4999) i;
SELECT count(compress_chunk(c)) FROM show_chunks('rtp', older_than => 4000) c;
INSERT INTO rtp SELECT i, 'h1', 0 FROM generate_series(0, 3999, 500) i;
CREATE MATERIALIZED VIEW rtp_100 WITH (strata.continuous) AS SELECT time_bucket(100, time) AS bucket, host, avg(n), count(*), stddev(n) FROM rtp GROUP BY 1, 2;
CREATE MATERIALIZED VIEW rtp_1000 WITH (strata.continuous) AS SELECT time_bucket(1000, time) AS bucket, host, count(*) FROM rtp GROUP BY 1, 2;
ANALYZE rtp;
ANALYZE rtp_100_archive;
ANALYZE rtp_1000_archive;
\set explain 'EXPLAIN (COSTS OFF)'
-- (16 and later leave out keys that are one constant)
CREATE FUNCTION rtp_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		RETURN NEXT regexp_replace(line, '(Group Key: .*), host$', '\1');
	END LOOP;
END $$;
-- the widest that has it
:explain SELECT host, count(*) FROM rtp GROUP BY host;
:explain SELECT host, avg(n) FROM rtp WHERE time < 3333 GROUP BY host;
-- the rollup's own groups: nothing to combine
SELECT * FROM rtp_plan($$SELECT time_bucket(100, time) AS b, host, stddev(n) FROM rtp WHERE time >= 1000 AND host = 'h1' GROUP BY b, host HAVING count(*) > 1 ORDER BY b LIMIT 5$$);
-- a late row
INSERT INTO rtp VALUES (1234, 'h1', 0);
:explain SELECT time_bucket(500, time), avg(n) FROM rtp GROUP BY 1;
-- not by rollups
:explain SELECT time_bucket(150, time), count(*) FROM rtp GROUP BY 1;
:explain SELECT count(*) FROM rtp WHERE n > 3;
SET strata.enable_archive_rewrite = off;
:explain SELECT host, count(*) FROM rtp GROUP BY host;
-- beyond the rows there are; as JSON; an archive that nobody uses is not named
RESET strata.enable_archive_rewrite;
DROP MATERIALIZED VIEW rtp_100;
SELECT count(drop_chunks) FROM drop_chunks('rtp', 1000);
ALTER TABLE rtp SET (strata.read_archives);
EXPLAIN (COSTS OFF) SELECT count(*) FROM rtp WHERE time < 2000;
CREATE FUNCTION rtp_json(query text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (COSTS OFF, FORMAT JSON) ' || query INTO plan;
	RETURN plan->1;
END $$;
SELECT rtp_json('SELECT count(*) FROM rtp WHERE time < 2000');
SELECT rtp_json('SELECT n FROM rtp WHERE time < 2000');
DROP FUNCTION rtp_json;
DROP TABLE rtp CASCADE;
