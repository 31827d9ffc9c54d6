-- When a hash join's values are looked up in batch indexes, what EXPLAIN ANALYZE says of it, and when they are not.
SET client_min_messages = error;
SET timezone = 'UTC';
SET strata.batch_rows = 100;
SET strata.index_pages = 0;
SET strata.enable_join_pruning = on;
SET strata.enable_join_vectors = on;
SET strata.enable_batch_index = on;
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_mergejoin = off;
CREATE TABLE ip (ts timestamptz NOT NULL, dev int, trace uuid, num bigint, state text, other int)
	PARTITION BY RANGE (ts) WITH (strata.chunk_interval = '12 hours', strata.segmentby = 'dev', strata.orderby = 'ts');
CREATE INDEX ip_trace ON ip (trace);
CREATE INDEX ip_num ON ip (num);
CREATE INDEX ip_state ON ip (state);
CREATE FUNCTION ip_rows(first int, last int, step int) RETURNS SETOF ip LANGUAGE sql AS $$
	SELECT '2026-01-01'::timestamptz + g * interval '4 s', g % 4, md5(g::text)::uuid, g * 7919 % 10007, 's' || g % 3, g * 7919 % 10007 FROM generate_series(first, last, step) AS g $$;
INSERT INTO ip SELECT * FROM ip_rows(1, 20000, 1);
SELECT count(compress_chunk(c)) FROM show_chunks('ip') AS c;
INSERT INTO ip SELECT * FROM ip_rows(20001, 30000, 20);
CREATE TABLE ipd AS SELECT g AS id, md5((g * 37)::text)::uuid AS trace, g * 7 AS num, 's' || g % 3 AS state, g % 50 AS site, g * 7 AS other FROM generate_series(1, 400) AS g;
VACUUM (ANALYZE) ip, ipd;
-- the lines of scans; (18 writes rows with decimals)
CREATE FUNCTION ip_scan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		IF line ~ '(StrataScan|Join|Batch|Segment)' AND line !~ 'Buckets' THEN
			RETURN NEXT regexp_replace(trim(line), '\(actual.*\)', '');
		END IF;
	END LOOP;
END $$;
SELECT * FROM ip_scan('SELECT ip.num FROM ip JOIN ipd USING (trace) WHERE site = 7');
SELECT * FROM ip_scan('SELECT ip.num FROM ip WHERE trace IN (SELECT trace FROM ipd WHERE site = 7)');
-- none of the values is there, or there is none
SELECT * FROM ip_scan('SELECT ip.ts FROM ip JOIN (SELECT num - 100000 AS num FROM ipd WHERE site = 7 OFFSET 0) AS n USING (num)');
SELECT * FROM ip_scan('SELECT ip.ts FROM ip JOIN ipd USING (num) WHERE site = 77');
-- batches that the plan finds otherwise are asked for one by one
SELECT * FROM ip_scan('SELECT ip.num FROM ip JOIN ipd USING (trace) WHERE site = 7 AND ts > ''2026-01-01 09:00'' AND ts < ''2026-01-01 12:00''');
SELECT * FROM ip_scan('SELECT ip.ts FROM ip JOIN ipd USING (num) WHERE site = 7 AND dev = 3');
-- beside what the plan looks up, and two joins
SELECT * FROM ip_scan('SELECT ip.ts FROM ip JOIN ipd USING (num) WHERE site < 9 AND ip.trace IN (md5(''74'')::uuid, md5(''13'')::uuid, md5(''592'')::uuid)');
SELECT * FROM ip_scan('SELECT ip.ts FROM ip JOIN ipd d USING (trace) JOIN ipd z ON z.num = ip.num WHERE d.site = 7 AND z.site < 5');
-- above a join: what is aggregated before it
SELECT * FROM ip_scan('SELECT d.site, count(*), sum(ip.other) FROM ip JOIN ipd d USING (trace) WHERE d.site < 3 GROUP BY 1');
-- not: values that nearly all batches have, a column without an index, workers, switches off
SELECT * FROM ip_scan('SELECT ip.num FROM ip JOIN ipd USING (state) WHERE site = 7');
SELECT * FROM ip_scan('SELECT ip.num FROM ip JOIN ipd USING (other) WHERE site = 7');
SET strata.enable_batch_index = off;
SELECT * FROM ip_scan('SELECT ip.num FROM ip JOIN ipd USING (trace) WHERE site = 7');
SET strata.enable_batch_index = on;
SET strata.enable_join_pruning = off;
SELECT * FROM ip_scan('SELECT ip.num FROM ip JOIN ipd USING (trace) WHERE site = 7');
SET strata.enable_join_pruning = on;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET enable_parallel_hash = off;
SELECT count(*) FILTER (WHERE line ~ 'Parallel Custom Scan') > 0 AS parallel, count(*) FILTER (WHERE line ~ 'Batch Index') AS asked FROM ip_scan('SELECT ip.num FROM ip JOIN ipd USING (trace) WHERE site = 7') AS line;
RESET max_parallel_workers_per_gather;
-- more values than are looked up: of a chunk with few batches
ALTER TABLE ipd SET (autovacuum_enabled = off);
INSERT INTO ipd SELECT g, md5((g + 50000)::text)::uuid, g + 50000, 's', 60, g FROM generate_series(1, 2000) AS g;
SET max_parallel_workers_per_gather = 0;
SELECT * FROM ip_scan('SELECT ip.num FROM ip JOIN ipd USING (trace) WHERE site = 60');
DROP TABLE ip, ipd CASCADE;
DROP FUNCTION ip_scan;
