-- Plans of rollups' views: what is read in the archive, what of the rows, and where conditions go.
SET timezone = 'UTC';
SET strata.report_compression = off;
CREATE TABLE rrp (time int NOT NULL, host text, n int);
SELECT FROM create_hypertable('rrp', 'time', chunk_time_interval => 1000);
ALTER TABLE rrp SET (strata.segmentby = 'host', strata.orderby = 'time');
INSERT INTO rrp SELECT i, 'h' || i % 3, i FROM generate_series(0, 4999) i;
SELECT count(compress_chunk(c)) FROM show_chunks('rrp', older_than => 4000) c;
INSERT INTO rrp SELECT i, 'h1', 0 FROM generate_series(0, 3999, 500) i;
CREATE MATERIALIZED VIEW rrp_100 WITH (strata.continuous) AS
	SELECT time_bucket(100, time) AS bucket, host, avg(n), count(*) FROM rrp GROUP BY 1, 2 HAVING count(*) > 0;
ANALYZE rrp;
ANALYZE rrp_100_archive;
\set explain 'EXPLAIN (COSTS OFF)'
-- (16 and later leave out keys that are one constant, 18 says which window)
CREATE FUNCTION rrp_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		CONTINUE WHEN line ~ '^ *Window: ';
		RETURN NEXT regexp_replace(line, '(Group Key: .*), host$', '\1');
	END LOOP;
END $$;
-- all of it is clean: no row is read
SELECT * FROM rrp_plan($$SELECT * FROM rrp_100 WHERE bucket >= 1200 AND bucket < 1700 AND host = 'h1'$$);
-- the end of the table, and a bucket with a late row
INSERT INTO rrp VALUES (1234, 'h1', 0), (5000, 'h1', 0);
SELECT * FROM rrp_plan($$SELECT * FROM rrp_100 WHERE bucket >= 1200 AND bucket < 1700 AND host = 'h1'$$);
:explain SELECT sum(count) FROM rrp_100 WHERE bucket > 4000;
SET strata.enable_archive_rewrite = off;
:explain SELECT sum(count) FROM rrp_100 WHERE bucket > 4000;
RESET strata.enable_archive_rewrite;
-- conditions on buckets go down through other queries, and nowhere where they would mean something else
CREATE VIEW rrp_v AS SELECT bucket AS b, sum(count) AS s FROM rrp_100 GROUP BY bucket;
:explain SELECT * FROM rrp_v WHERE b = 4200;
SET strata.enable_archive_rewrite = off;
CREATE VIEW rrp_w AS SELECT time_bucket(100, time) AS b, count(*) FROM rrp GROUP BY 1;
:explain SELECT * FROM (SELECT b, count FROM rrp_w UNION ALL SELECT b, count FROM rrp_w) x WHERE b >= 4900;
:explain SELECT * FROM (SELECT * FROM rrp_w LIMIT 5) x WHERE b >= 4900;
SELECT * FROM rrp_plan($$SELECT * FROM (SELECT b, lag(count) OVER (ORDER BY b) FROM rrp_w) x WHERE b >= 4900$$);
:explain SELECT * FROM generate_series(1, 2) g LEFT JOIN rrp_w ON g = b WHERE b >= 4900 OR b IS NULL;
RESET strata.enable_archive_rewrite;
-- materialized_only reads no rows
ALTER MATERIALIZED VIEW rrp_100 SET (strata.materialized_only);
SELECT * FROM rrp_plan($$SELECT * FROM rrp_100 WHERE bucket >= 1200 AND bucket < 1700 AND host = 'h1'$$);
-- row security: no archive
ALTER MATERIALIZED VIEW rrp_100 SET (strata.materialized_only = false);
ALTER TABLE rrp ENABLE ROW LEVEL SECURITY;
:explain SELECT * FROM rrp_100 WHERE bucket = 1200;
DROP TABLE rrp CASCADE;
