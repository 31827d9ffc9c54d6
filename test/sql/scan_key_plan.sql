-- Queries for the rows of one key are planned without the planner: only those, and to the same plan.
SET strata.batch_rows = 10;
CREATE TABLE sk (seg text, num int2, ts timestamp, note varchar(20), v float8) USING strata
  WITH (strata.segmentby = 'seg, num', strata.orderby = 'ts DESC');
CREATE TABLE sk_heap (LIKE sk);
INSERT INTO sk_heap SELECT 's' || i % 5, CASE WHEN i % 7 > 0 THEN i % 3 END, timestamp '2026-01-01' + (i / 10) * interval '1 min',
    CASE WHEN i % 4 > 0 THEN 'n' || i END, i FROM generate_series(1, 4000) i;
INSERT INTO sk SELECT * FROM sk_heap;
SELECT compress_chunk('sk');
VACUUM ANALYZE sk;

-- Who made the plan: the planner knows how wide texts are.
CREATE FUNCTION sk_plan(q text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON, VERBOSE) ' || q INTO plan;
  RETURN plan -> 0 -> 'Plan';
END $$;
CREATE FUNCTION sk_without(q text) RETURNS jsonb LANGUAGE plpgsql SET strata.enable_key_plan = off AS $$
BEGIN RETURN sk_plan(q); END $$;
CREATE FUNCTION sk_made(q text) RETURNS text LANGUAGE plpgsql SET strata.enable_key_plan = on AS $$
DECLARE
  a jsonb := sk_plan(q);
  b jsonb := sk_without(q);
  numbers text[] := ARRAY['Plan Width', 'Plan Rows', 'Total Cost', 'Startup Cost', 'Plans'];
  who text := CASE WHEN a ->> 'Plan Width' = b ->> 'Plan Width' THEN 'planner' ELSE 'key' END;
BEGIN
  LOOP
    IF a - numbers <> b - numbers OR jsonb_array_length(a -> 'Plans') <> jsonb_array_length(b -> 'Plans') THEN RETURN 'another plan'; END IF;
    EXIT WHEN a -> 'Plans' IS NULL;
    a := a -> 'Plans' -> 0;
    b := b -> 'Plans' -> 0;
  END LOOP;
  RETURN who;
END $$;

SELECT sk_made(q), q FROM (VALUES
  ($$SELECT * FROM sk WHERE seg = 's1' AND num = 1::int2 AND ts = '2026-01-01 01:00'$$),
  ($$SELECT v, seg AS s, v AS again FROM sk WHERE num = 1 AND seg = 's1' AND ts = '2026-01-01 01:00'$$),
  ($$SELECT seg FROM sk WHERE '2026-01-01'::date = ts AND 's1' = seg AND 1 = num AND 7 = v AND v = 7.5$$),
  ($$SELECT seg FROM sk WHERE ts = timestamptz '2026-01-01 01:00' AND seg = 's1' AND num = 1$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00' AND ts = '2026-01-01 01:00'$$),
  ($$SELECT seg FROM ONLY sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00' AND note = 'n7'$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND ts = '2026-01-01 01:00'$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts >= '2026-01-01 01:00'$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND (ts = '2026-01-01 01:00' OR v = 1)$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00' AND note IS NULL$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = NULL AND ts = '2026-01-01 01:00'$$),
  ($$SELECT seg FROM sk WHERE seg COLLATE "C" = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$),
  ($$SELECT seg FROM sk WHERE seg IN ('s1') AND num = 1 AND ts = now()::timestamp$$),
  ($$SELECT seg || 'x' FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$),
  ($$SELECT seg, ctid FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$),
  ($$SELECT sk FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00' LIMIT 1$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00' ORDER BY v$$),
  ($$SELECT DISTINCT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$),
  ($$SELECT count(*), max(seg) FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00' FOR SHARE$$),
  ($$SELECT seg FROM (SELECT * FROM sk) s WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$),
  ($$SELECT seg FROM sk TABLESAMPLE system (100) WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$),
  ($$SELECT seg FROM sk_heap WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$)) AS queries(q);

-- the first of a segment, or of the rows of a key
SELECT sk_made(q), q FROM (VALUES
  ($$SELECT * FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts DESC LIMIT 10$$),
  ($$SELECT note FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT 10 OFFSET 3$$),
  ($$SELECT note, ts FROM sk WHERE ts < '2026-01-01 02:00' AND num = 1 AND ts >= '2026-01-01'::date AND seg = 's1' ORDER BY ts DESC NULLS LAST LIMIT 1$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND v = 1 ORDER BY 2 * 0.5, ts LIMIT 1$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND v = 1 AND ts <> '2026-01-01' ORDER BY ts LIMIT 1$$),
  ($$SELECT seg FROM sk WHERE v = 1 AND seg = 's1' AND num = 1 ORDER BY ts NULLS FIRST LIMIT 1$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:40' LIMIT 1$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:40' ORDER BY ts LIMIT 1$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND v > 1 ORDER BY ts LIMIT 1$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts < NULL ORDER BY ts LIMIT 1$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 LIMIT 10$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts OFFSET 10$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT ALL$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT 10 OFFSET NULL$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT (SELECT 1)$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts FETCH FIRST 2 ROWS WITH TIES$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts, v LIMIT 10$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 ORDER BY v LIMIT 10$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts::date LIMIT 10$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' ORDER BY ts LIMIT 10$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 AND ts > '2026-01-01' LIMIT 10$$),
  ($$SELECT DISTINCT ts FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT 10$$),
  ($$SELECT seg FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT 10 FOR UPDATE$$)) AS queries(q);

-- parameters: as long as their values are planned with
PREPARE sk_custom(text, int2, timestamp, int) AS SELECT seg, v FROM sk WHERE seg = $1 AND num = $2 AND ts = $3 AND v = $4;
SET plan_cache_mode = force_custom_plan;
SELECT sk_made($$EXECUTE sk_custom('s1', 1, '2026-01-01 01:40', 1006)$$), sk_made($$EXECUTE sk_custom('s1', NULL, '2026-01-01 01:40', 1006)$$);
EXECUTE sk_custom('s1', 1::int2, '2026-01-01 01:40', 1006);
EXECUTE sk_custom('s1', NULL, '2026-01-01 01:40', 1006);
SET plan_cache_mode = force_generic_plan;
SELECT sk_made($$EXECUTE sk_custom('s1', 1, '2026-01-01 01:40', 1006)$$);
EXECUTE sk_custom('s1', 1::int2, '2026-01-01 01:40', 1006);
RESET plan_cache_mode;
PREPARE sk_first(text, timestamp, int8) AS SELECT note FROM sk WHERE seg = $1 AND num = 1 AND ts < $2 ORDER BY ts DESC LIMIT $3;
SET plan_cache_mode = force_custom_plan;
SELECT sk_made($$EXECUTE sk_first('s1', '2026-01-01 01:40', 2)$$), sk_made($$EXECUTE sk_first('s1', '2026-01-01 01:40', NULL)$$);
EXECUTE sk_first('s1', '2026-01-01 01:40', 2);
SET plan_cache_mode = force_generic_plan;
SELECT sk_made($$EXECUTE sk_first('s1', '2026-01-01 01:40', 2)$$);
EXECUTE sk_first('s1', '2026-01-01 01:40', 2);
RESET plan_cache_mode;
-- how many rows, about
SELECT sk_plan($$SELECT v FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT 7$$) -> 'Plan Rows' AS of_limit,
  (sk_plan($$SELECT v FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT 7$$) #> '{Plans,0,Plan Rows}')::int BETWEEN 100 AND 400 AS of_segment;
-- switched off, or backward
SET strata.enable_ordered_scan = off;
SELECT sk_made($$SELECT note FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT 7$$);
RESET strata.enable_ordered_scan;
SELECT sk_made($$DECLARE c SCROLL CURSOR FOR SELECT note FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT 7$$),
  sk_made($$DECLARE c CURSOR FOR SELECT note FROM sk WHERE seg = 's1' AND num = 1 ORDER BY ts LIMIT 7$$);
-- not while there are rows in the row store
INSERT INTO sk VALUES ('s1', 1, '2026-01-01 01:00', 'later', -1);
SELECT sk_made($$SELECT * FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$);
SELECT compress_chunk('sk', recompress => true);
VACUUM ANALYZE sk;
SELECT sk_made($$SELECT * FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$);
-- nor where the key is another one
ALTER TABLE sk SET (strata.segmentby = 'seg', strata.orderby = 'v');
SELECT compress_chunk('sk', recompress => true);
VACUUM ANALYZE sk;
SELECT sk_made($$SELECT seg, v FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:00'$$),
  sk_made($$SELECT seg, ts FROM sk WHERE seg = 's1' AND v = 1016$$), sk_made($$SELECT seg FROM sk WHERE seg = 's1' ORDER BY v LIMIT 1$$),
  sk_made($$SELECT seg FROM sk WHERE seg = 's1' ORDER BY ts LIMIT 1$$);
-- nor where others have a say
ALTER TABLE sk ENABLE ROW LEVEL SECURITY;
CREATE POLICY sk_policy ON sk FOR SELECT USING (v < 1000);
ALTER TABLE sk FORCE ROW LEVEL SECURITY;
CREATE ROLE sk_reader;
GRANT SELECT ON sk TO sk_reader;
SET ROLE sk_reader;
SELECT sk_made($$SELECT seg, ts FROM sk WHERE seg = 's1' AND v = 1016$$);
RESET ROLE;
ALTER TABLE sk DISABLE ROW LEVEL SECURITY;
CREATE TABLE sk_child () INHERITS (sk);
SELECT sk_made($$SELECT seg, ts FROM sk WHERE seg = 's1' AND v = 1016$$),
  sk_made($$SELECT seg, ts FROM ONLY sk WHERE seg = 's1' AND v = 1016$$);
DROP TABLE sk_child, sk, sk_heap;
DROP OWNED BY sk_reader;
DROP ROLE sk_reader;
DROP FUNCTION sk_plan, sk_without, sk_made;
