-- Plans of a table all of whose rows are compressed do without its indexes, until rows come into the row store.
CREATE TABLE o (t int, host text, v int) USING strata WITH (strata.segmentby = 'host', strata.orderby = 't', strata.direct_load);
INSERT INTO o SELECT i, 'host ' || i % 20, i FROM generate_series(1, 40000) AS i;
CREATE INDEX o_host ON o (host, t);
CREATE UNIQUE INDEX o_once ON o (t, host) WHERE v < 0;
CREATE INDEX o_half ON o ((v / 2));
ANALYZE o;
SET plan_cache_mode = force_generic_plan;
SET enable_bitmapscan = off;
PREPARE one AS SELECT * FROM o WHERE host = $1 AND t = $2;
PREPARE half AS SELECT * FROM o WHERE v / 2 = $1;
EXPLAIN (COSTS OFF) EXECUTE one('host 3', 23);
EXECUTE one('host 3', 23);
EXECUTE half(11);
-- few rows change nothing
SET strata.enable_direct_load = off;
INSERT INTO o SELECT i, 'host ' || i % 20, i FROM generate_series(40001, 40900) AS i;
EXECUTE one('host 3', 40023);
EXPLAIN (COSTS OFF) EXECUTE one('host 3', 23);
-- many do, once a query has met them
INSERT INTO o SELECT i, 'host ' || i % 20, i FROM generate_series(40901, 60000) AS i;
EXPLAIN (COSTS OFF) EXECUTE one('host 3', 23);
EXECUTE one('host 3', 59963);
EXPLAIN (COSTS OFF) EXECUTE one('host 3', 23);
EXECUTE one('host 3', 59963);
EXECUTE half(29980);
EXPLAIN (COSTS OFF) EXECUTE half(29980);
-- also in a transaction that only reads
BEGIN READ ONLY;
EXECUTE one('host 3', 23);
COMMIT;
DROP TABLE o;
