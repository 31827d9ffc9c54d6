-- What src/pg/pg_view.c believes: a query that comes to the planner says which of its subqueries were views, however deep, and of no other.
CREATE TABLE pgv (time int NOT NULL, n int);
SELECT FROM create_hypertable('pgv', 'time', chunk_time_interval => 1000);
CREATE MATERIALIZED VIEW pgv_v WITH (strata.continuous, strata.materialized_only) AS SELECT time_bucket(10, time) AS b, count(*) FROM pgv GROUP BY 1;
INSERT INTO pgv VALUES (1, 1);
-- the archive has no rows; the table has one
CREATE VIEW pgv_above AS SELECT * FROM pgv_v;
SELECT count(*) FROM pgv_v;
SELECT count(*) FROM pgv_above;
SELECT (SELECT count(*) FROM (SELECT * FROM pgv_v WHERE b > -1) x), (WITH w AS (TABLE pgv_v) SELECT count(*) FROM w), EXISTS (TABLE pgv_v);
SELECT count(*) FROM (SELECT time_bucket(10, time) AS b, count(*) FROM pgv GROUP BY 1) x;
DROP VIEW pgv_above;
DROP TABLE pgv CASCADE;
