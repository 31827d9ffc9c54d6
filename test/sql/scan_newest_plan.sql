-- The newest rows of many segments that share a clock: how little is read of them. And rows segment by segment, of which no more than one is open.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
CREATE TABLE sp (ts timestamptz NOT NULL, host text, a int, doc jsonb) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts DESC');
-- five batches of each host
CREATE PROCEDURE sp_fill() LANGUAGE plpgsql AS $$
BEGIN
	FOR part IN 0 .. 4 LOOP
		INSERT INTO sp SELECT timestamptz '2026-01-01' + i * interval '10 seconds', 'h' || lpad(h::text, 3, '0'), i, jsonb_build_object('s', (i + h) % 100)
			FROM generate_series(part * 200, part * 200 + 199) AS i, generate_series(1, 100) AS h;
		PERFORM compress_chunk('sp');
	END LOOP;
END $$;
CALL sp_fill();
ANALYZE sp;
CREATE FUNCTION sp_plan(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	FOR query IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		CONTINUE WHEN query ~ 'Filter|Not Vectorized|Passed Over|Batches:|Index Searches|Sort Method';
		-- (18 writes rows with decimals)
		RETURN NEXT regexp_replace(query, '(rows=[0-9]+)\.00', '\1');
	END LOOP;
END $$;
-- all begin at the same time: the first host that comes, those that are wanted, no others
SET seq_page_cost = 100;
SELECT sp_plan('SELECT * FROM sp ORDER BY ts DESC, host LIMIT 5');
SELECT sp_plan('SELECT * FROM sp ORDER BY ts DESC, host DESC LIMIT 5');
RESET seq_page_cost;
-- batches of all hosts, with a memory for a few of them
SET work_mem = '64kB';
SELECT sp_plan('SELECT * FROM sp ORDER BY host, ts');
DROP FUNCTION sp_plan;
DROP PROCEDURE sp_fill;
DROP TABLE sp;
