-- StrataScan as a plan node among others: positions, system columns, rescans,
-- parameters, partitions, data changes through it.
SET timezone = 'UTC';
SET jit = off;
SET client_min_messages = error;

CREATE TABLE scan_exec (id int, k text, ts timestamp, v float8, w int[]) USING strata;
ALTER TABLE scan_exec SET (strata.segmentby = 'k', strata.orderby = 'ts');
CREATE INDEX ON scan_exec (id);
INSERT INTO scan_exec SELECT g, 'k' || g % 4, timestamp '2024-01-01' + g * interval '1 min', g, ARRAY[g, g % 2] FROM generate_series(1, 1000) g;
SELECT compress_chunk('scan_exec');
INSERT INTO scan_exec SELECT g, 'k' || g % 4, timestamp '2024-01-01' + g * interval '1 min', g, NULL FROM generate_series(1001, 1010) g;
ANALYZE scan_exec;

-- system columns, whole rows, no columns at all
SELECT count(*), count(DISTINCT ctid), count(DISTINCT tableoid) FROM scan_exec;
SELECT id, xmin, xmax, cmin, cmax, tableoid::regclass FROM scan_exec WHERE id IN (1, 2) ORDER BY id;
SELECT count(*) FROM scan_exec WHERE xmin::text = '2' AND id < 20;
SELECT x, (x).w[2] FROM scan_exec x WHERE id IN (17, 1005) ORDER BY id;
SELECT count(x), count(*) FILTER (WHERE x IS NOT NULL) FROM scan_exec x;
SELECT 1 FROM scan_exec LIMIT 2;
SELECT row_to_json(x) FROM (SELECT id, v, ctid IS NOT NULL AS c FROM scan_exec WHERE id = 5) x;

-- positions: every row has a ctid that finds it again
SELECT count(*) FROM scan_exec a JOIN scan_exec b ON a.ctid = b.ctid AND a.id = b.id WHERE a.id % 50 = 0;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM scan_exec WHERE k = 'k1' AND id > 990;
FETCH 1 FROM c;
FETCH 1 FROM c;
UPDATE scan_exec SET v = -1 WHERE CURRENT OF c;
FETCH 2 FROM c;
UPDATE scan_exec SET v = -2 WHERE CURRENT OF c;
FETCH 1 FROM c;
DELETE FROM scan_exec WHERE CURRENT OF c;
SELECT count(*), sum((v < 0)::int) FROM scan_exec;
ROLLBACK;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM scan_exec WHERE id BETWEEN 998 AND 1003 ORDER BY ts;
FETCH ALL FROM c;
FETCH BACKWARD 2 FROM c;
FETCH FIRST FROM c;
FETCH LAST FROM c;
ROLLBACK;
BEGIN;
DECLARE c CURSOR WITH HOLD FOR SELECT id FROM scan_exec WHERE id BETWEEN 998 AND 1003 ORDER BY ts;
COMMIT;
FETCH ALL FROM c;
CLOSE c;

-- changes through the scan: rows of both halves, found by any path
BEGIN;
UPDATE scan_exec SET v = v + 1 WHERE id BETWEEN 999 AND 1002;
SELECT id, v FROM scan_exec WHERE id BETWEEN 998 AND 1003 ORDER BY id;
DELETE FROM scan_exec WHERE k = 'k2' AND ts > '2024-01-01 10:00';
SELECT count(*), sum(v) FROM scan_exec;
ROLLBACK;
BEGIN;
WITH u AS (UPDATE scan_exec SET v = b.id FROM (VALUES (3), (1003)) b(id) WHERE scan_exec.id = b.id RETURNING scan_exec.id, v, b.id)
SELECT * FROM u ORDER BY 1;
MERGE INTO scan_exec USING (VALUES (4), (2000)) b(id) ON scan_exec.id = b.id
	WHEN MATCHED THEN UPDATE SET v = 0 WHEN NOT MATCHED THEN INSERT VALUES (b.id, 'new', NULL, 1);
INSERT INTO scan_exec SELECT id + 5000, k, ts, v FROM scan_exec WHERE id < 3;
SELECT id, k, v FROM scan_exec WHERE v < 5 OR id > 1010 ORDER BY id, v;
SELECT id FROM scan_exec WHERE id IN (7, 1007) ORDER BY id FOR UPDATE;
ROLLBACK;
SELECT count(*), sum(v) FROM scan_exec;

-- parameters: generic plans, nulls, one-time filters
SET plan_cache_mode = force_generic_plan;
PREPARE q1(int, text) AS SELECT count(*), sum(v) FROM scan_exec WHERE $1 = 1 AND k = $2;
EXECUTE q1(1, 'k1');
EXECUTE q1(2, 'k1');
EXECUTE q1(1, NULL);
PREPARE q2(timestamp, text[]) AS SELECT count(*) FROM scan_exec WHERE ts < $1 AND k = ANY ($2);
EXECUTE q2('2024-01-01 01:00', '{k1,k2,NULL}');
EXECUTE q2('2024-01-01 01:00', '{}');
EXECUTE q2('2024-01-01 01:00', NULL);
EXECUTE q2(NULL, '{k1}');
PREPARE q3(timestamp) AS SELECT id FROM scan_exec WHERE ts >= $1 ORDER BY ts LIMIT 3;
EXECUTE q3('2024-01-01 16:39');
EXECUTE q3('2023-01-01');
-- a settings change does not make an old plan wrong
ALTER TABLE scan_exec SET (strata.segmentby = '', strata.orderby = 'id DESC');
INSERT INTO scan_exec SELECT g, 'k' || g % 4, timestamp '2024-01-01' + g * interval '1 min', g, NULL FROM generate_series(1011, 1100) g;
SELECT compress_chunk('scan_exec');
EXECUTE q1(1, 'k1');
EXECUTE q3('2024-01-01 16:39');
DEALLOCATE ALL;
RESET plan_cache_mode;

-- rescans: join parameters, correlated subqueries, initplans
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT v.k, count(*), sum(e.v) FROM (VALUES ('k1'), ('k3'), ('none'), (NULL)) v(k) JOIN scan_exec e USING (k) GROUP BY 1 ORDER BY 1;
SELECT v.id, e.k FROM (VALUES (5), (1005), (1050), (9999)) v(id) LEFT JOIN scan_exec e USING (id) ORDER BY 1;
SELECT v.lo, x.n FROM (VALUES ('2024-01-01 02:00'::timestamp), ('2024-01-01 18:00'), (NULL)) v(lo),
	LATERAL (SELECT count(*) n FROM scan_exec WHERE ts > v.lo AND ts <= v.lo + interval '10 min') x;
RESET enable_hashjoin;
RESET enable_mergejoin;
SELECT id, (SELECT max(b.id) FROM scan_exec b WHERE b.k = a.k AND b.ts < a.ts) FROM scan_exec a WHERE id IN (1, 500, 1005, 1100) ORDER BY id;
SELECT count(*) FROM scan_exec WHERE ts = (SELECT max(ts) FROM scan_exec WHERE k = 'k1');
SELECT count(*) FROM scan_exec WHERE id = ANY (ARRAY(SELECT g * 100 FROM generate_series(1, 20) g));
SELECT count(*) FROM scan_exec a WHERE EXISTS (SELECT 1 FROM scan_exec b WHERE b.id = a.id + 1 AND b.k = 'k2');
SELECT count(*) FROM (SELECT id FROM scan_exec UNION SELECT id FROM scan_exec) x;

-- security: a leaky function sees only rows that the barrier lets through
CREATE FUNCTION scan_leak(float8) RETURNS bool LANGUAGE plpgsql COST 0.0000001 AS $$
BEGIN
	IF $1 > 8 THEN RAISE EXCEPTION 'leak'; END IF;
	RETURN true;
END $$;
CREATE VIEW scan_barrier WITH (security_barrier) AS SELECT * FROM scan_exec WHERE w[1] <= 8;
SELECT count(*) FROM scan_barrier WHERE scan_leak(v);
SELECT count(*) FROM scan_barrier WHERE scan_leak(v) AND ts > '2024-01-01' AND k > 'k1';
SELECT count(*) FROM scan_exec WHERE scan_leak(v);
DROP VIEW scan_barrier;
DROP FUNCTION scan_leak;

-- partitions, some compressed; inheritance
CREATE TABLE scan_part (d date NOT NULL, k int, v float8) PARTITION BY RANGE (d);
CREATE TABLE scan_part1 PARTITION OF scan_part FOR VALUES FROM ('2024-01-01') TO ('2024-02-01') USING strata;
CREATE TABLE scan_part2 (v float8, junk int, k int, d date NOT NULL) USING strata;
ALTER TABLE scan_part2 DROP COLUMN junk;
ALTER TABLE scan_part ATTACH PARTITION scan_part2 FOR VALUES FROM ('2024-02-01') TO ('2024-03-01');
CREATE TABLE scan_part3 PARTITION OF scan_part FOR VALUES FROM ('2024-03-01') TO ('2024-04-01');
ALTER TABLE scan_part1 SET (strata.segmentby = 'k', strata.orderby = 'd');
ALTER TABLE scan_part2 SET (strata.orderby = 'd');
INSERT INTO scan_part SELECT date '2024-01-01' + g % 91, g % 7, g FROM generate_series(1, 5000) g;
CREATE INDEX ON scan_part (k, d);
SELECT compress_chunk('scan_part1'), compress_chunk('scan_part2');
INSERT INTO scan_part SELECT date '2024-01-01' + g % 91, g % 7, g FROM generate_series(5001, 5100) g;
ANALYZE scan_part;
SELECT count(*), sum(v) FROM scan_part WHERE d BETWEEN '2024-01-20' AND '2024-02-10' AND k IN (1, 2);
SELECT d, k, v FROM scan_part WHERE k = 3 AND v > 4980 ORDER BY d, v LIMIT 4;
SELECT tableoid::regclass, count(*), count(*) FILTER (WHERE scan_part IS NOT NULL) FROM scan_part GROUP BY 1 ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
PREPARE q(date, int) AS SELECT count(*), sum(v) FROM scan_part WHERE d = $1 AND k = $2;
EXECUTE q('2024-02-03', 5);
EXECUTE q('2024-01-03', 2);
DEALLOCATE q;
RESET plan_cache_mode;
SET enable_partitionwise_join = on;
SET enable_partitionwise_aggregate = on;
SELECT count(*), sum(a.v) FROM scan_part a JOIN scan_part b USING (d, k) WHERE a.k = 1 AND a.v < 500;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), sum(a.v) FROM scan_part a JOIN scan_part b USING (d, k) WHERE a.k = 1 AND a.v < 500;
SELECT k, count(*) FROM scan_part GROUP BY k ORDER BY k;
RESET enable_hashjoin;
RESET enable_mergejoin;
BEGIN;
UPDATE scan_part SET d = d + 31 WHERE k = 1 AND d = '2024-01-07';
SELECT tableoid::regclass, count(*) FROM scan_part WHERE d IN ('2024-01-07', '2024-02-07') AND k = 1 GROUP BY 1 ORDER BY 1;
ROLLBACK;

-- parallel
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT count(*), sum(v), min(ts), max(ts) FROM scan_exec;
SELECT count(*), sum(v) FROM scan_exec WHERE k = 'k1' AND v > 10;
SELECT count(*), sum(v) FROM scan_exec WHERE id BETWEEN 10 AND 1020;
SELECT count(*), sum(v) FROM scan_part WHERE k = 2;
SELECT count(*) FROM scan_exec a JOIN scan_exec b USING (id);
SELECT k, (SELECT count(*) FROM scan_exec b WHERE b.k = a.k) FROM (SELECT DISTINCT k FROM scan_exec) a ORDER BY k;
SET parallel_leader_participation = off;
SELECT count(*), sum(v), count(w) FROM scan_exec;

DROP TABLE scan_exec, scan_part;
