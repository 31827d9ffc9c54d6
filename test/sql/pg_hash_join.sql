-- A hash join that is told so reads its inner side before it asks its outer side for a row, and what a scan of the outer side finds in its table is all of it.
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SET strata.enable_scan = on;
SET strata.enable_pruning = on;
CREATE TABLE pgh (k int, v int) USING strata;
ALTER TABLE pgh SET (strata.segmentby = 'k', strata.orderby = 'v');
INSERT INTO pgh SELECT g % 10, g FROM generate_series(1, 1000) AS g;
SELECT compress_chunk('pgh') IS NOT NULL AS compressed;
CREATE TABLE pgd AS SELECT g AS k FROM generate_series(0, 4) AS g;
ANALYZE pgh, pgd;
-- no row of the outer side: PostgreSQL's join does not read the inner one
CREATE FUNCTION pgh_hash(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ '(Hash Join|->  Hash|Batches: total)' THEN
			RETURN NEXT regexp_replace(trim(line), 'rows=(\d+)\.00', 'rows=\1');
		END IF;
	END LOOP;
END $$;
SET strata.enable_join_pruning = off;
SELECT pgh_hash('SELECT * FROM pgh JOIN pgd USING (k) WHERE v % 2000 = 1999');
SET strata.enable_join_pruning = on;
SELECT pgh_hash('SELECT * FROM pgh JOIN pgd USING (k) WHERE v % 2000 = 1999');
SELECT pgh_hash('SELECT * FROM pgh JOIN pgd USING (k)');
-- of every other kind of table it reads as it ever did
SELECT count(*) FROM pgd a JOIN pgd b USING (k);
-- read again, with the table kept and with a new one for each row above
SELECT o.k, (SELECT count(*) FROM pgh JOIN pgd USING (k) WHERE v > o.k * 100) FROM pgd o ORDER BY 1;
SELECT o.k, (SELECT count(*) FROM pgh JOIN pgd USING (k) WHERE pgd.k > o.k) FROM pgd o ORDER BY 1;
-- in several pieces, of which one is in memory
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
CREATE TABLE pgw AS SELECT g AS k, repeat('x', 500) AS pad FROM generate_series(2, 2000) AS g;
ANALYZE pgw;
SELECT pgh_hash('SELECT * FROM pgh JOIN pgw USING (k)');
SELECT count(pad) FROM pgh JOIN pgw USING (k);
RESET work_mem;
RESET hash_mem_multiplier;
SELECT pgh_hash('SELECT * FROM pgh JOIN pgw USING (k)');
DROP TABLE pgh, pgd, pgw;
DROP FUNCTION pgh_hash;
