-- A comparison of time_bucket() uses indexes and prunes partitions and batches.
SET timezone = 'UTC';
CREATE FUNCTION plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line !~ '^ *Disabled:' THEN	-- 18 says it
			RETURN NEXT line;
		END IF;
	END LOOP;
END $$;
CREATE TABLE parts (ts timestamptz NOT NULL, v int) PARTITION BY RANGE (ts);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2021-01-01') TO ('2021-01-02');
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM ('2021-01-02') TO ('2021-01-03');
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM ('2021-01-03') TO ('2021-01-04');
SELECT plan($$SELECT * FROM parts WHERE time_bucket('1 h', ts) = '2021-01-02 05:00'$$);
SELECT plan($$SELECT * FROM parts WHERE time_bucket('1 day', ts) > '2021-01-02'$$);
SELECT plan($$SELECT * FROM parts WHERE '2021-01-02 10:00' > time_bucket('1 h', ts, interval '5 min') AND v = 1$$);
SELECT plan($$SELECT * FROM parts WHERE time_bucket('1 month', ts) > '2021-01-15'$$);
SELECT plan($$SELECT time_bucket('1 day', ts) AS bucket, count(*) FROM parts
	WHERE time_bucket('1 day', ts) BETWEEN '2021-01-01' AND '2021-01-02' AND v > 3 GROUP BY 1$$);
-- a condition that is not constant, an index
CREATE INDEX ON parts_2 (ts);
SET enable_seqscan = off;
SELECT plan($$SELECT * FROM parts_2 WHERE time_bucket('1 h', ts) >= now() - interval '1 day'$$);
SELECT plan($$SELECT * FROM parts_2 a, parts_1 b WHERE time_bucket('1 h', a.ts) = b.ts AND b.v = 1$$);
CREATE TABLE ints (k bigint PRIMARY KEY);
SELECT plan($$SELECT * FROM ints WHERE time_bucket(1000, k) = 5000$$);
SELECT plan($$SELECT * FROM ints WHERE time_bucket(1000, k) = 5001$$);
-- left alone: volatile, wrong widths, zones, subqueries, variable integers
SELECT plan($$SELECT * FROM parts_1 WHERE time_bucket('1 h', ts) >= clock_timestamp()$$);
SELECT plan($$SELECT * FROM parts_1 WHERE time_bucket('1 h', ts, 'Europe/Berlin') >= '2021-01-02'$$);
SELECT plan($$SELECT * FROM parts_1 WHERE time_bucket('1 h', ts) <> '2021-01-02'$$);
SELECT plan($$SELECT * FROM ints WHERE time_bucket(0, k) = 5000$$);
SET strata.enable_time_pruning = off;
SELECT plan($$SELECT * FROM parts_1 WHERE time_bucket('1 h', ts) >= '2021-01-02'$$);
RESET strata.enable_time_pruning;
RESET enable_seqscan;
DROP TABLE parts, ints;
DROP FUNCTION plan;
