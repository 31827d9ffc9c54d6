-- Workers read rows of the row store as columns; where they cannot, one by one.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET parallel_leader_participation = off;
SET strata.enable_page_scan = on;
SET strata.enable_vector_agg = on;
SET strata.enable_vector_filter = on;
CREATE TABLE srpp (ts timestamptz NOT NULL, k text, v int, doc text);
SELECT count(*) FROM create_hypertable('srpp', 'ts', chunk_time_interval => interval '1 day', create_default_indexes => false);
ALTER TABLE srpp SET (strata.segmentby = 'k', strata.orderby = 'ts DESC');
INSERT INTO srpp SELECT timestamptz '2024-01-01Z' + i * interval '10 s', 'k' || i % 6, i % 100, 'doc ' || i % 20 FROM generate_series(0, 17279) AS i;
SELECT count(compress_chunk(c)) FROM show_chunks('srpp') AS c;
INSERT INTO srpp SELECT timestamptz '2024-01-01Z' + i * interval '3 s', 'k' || i % 6, i % 100, 'doc ' || i % 20 FROM generate_series(0, 49999) AS i;
VACUUM ANALYZE srpp;
CREATE FUNCTION srpp_explain(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		-- how many chunks of rows that makes depends on who gets which pages
		IF line ~ 'Scan|Gather|Aggregate|Append|Workers Planned|Stage|Row Chunks|From Row Store|As Columns' AND line !~ 'Vectorized' THEN
			RETURN NEXT regexp_replace(line, '(rows=[\d.]+ loops=\d+|Chunks: \d+)', '...');
		END IF;
	END LOOP;
END $$;
SELECT srpp_explain('SELECT k, count(*), sum(v) FROM srpp GROUP BY k');
SELECT srpp_explain('SELECT k, count(*), sum(v) FROM srpp WHERE doc LIKE ''doc 1%'' AND v > 3 GROUP BY k');
-- without kernels, and in a serializable transaction
SELECT srpp_explain('SELECT k, count(*), sum(v) FROM srpp WHERE doc ~ ''1$'' AND k <> ''k2'' GROUP BY k');
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT srpp_explain('SELECT k, count(*), sum(v) FROM srpp GROUP BY k');
COMMIT;
-- a chunk without batches, as the newest mostly is, and a table of rows alone
INSERT INTO srpp SELECT timestamptz '2024-01-03Z' + i * interval '3 s', 'k' || i % 6, i % 100, 'doc ' || i % 20 FROM generate_series(0, 19999) AS i;
VACUUM ANALYZE srpp;
SELECT srpp_explain('SELECT k, count(*), sum(v) FROM srpp GROUP BY k');
CREATE TABLE srpp_rows USING strata AS SELECT * FROM srpp;
VACUUM ANALYZE srpp_rows;
SELECT srpp_explain('SELECT k, count(*), sum(v) FROM srpp_rows WHERE v > 3 GROUP BY k');
SET strata.enable_parallel_scan = off;
EXPLAIN (COSTS OFF) SELECT k, count(*), sum(v) FROM srpp_rows WHERE v > 3 GROUP BY k;
RESET strata.enable_parallel_scan;
-- a worker costs what it takes to start it: as many of them as pay
CREATE FUNCTION srpp_workers(setup float8, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	PERFORM set_config('parallel_setup_cost', setup::text, true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Workers Planned' THEN
			RETURN trim(line);
		END IF;
	END LOOP;
	RETURN 'none';
END $$;
SET max_parallel_workers_per_gather = 4;
RESET parallel_leader_participation;
ALTER TABLE srpp_rows SET (parallel_workers = 4);
SELECT setup, srpp_workers(setup, 'SELECT k, avg(v) FROM srpp GROUP BY k'), srpp_workers(setup, 'SELECT k, avg(v) FROM srpp_rows GROUP BY k')
	FROM (VALUES (0), (10), (25), (45), (100)) AS x (setup);
DROP TABLE srpp, srpp_rows;
DROP FUNCTION srpp_workers;
DROP FUNCTION srpp_explain;
