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
  numbers text[] := ARRAY['Plan Width', 'Plan Rows', 'Total Cost', 'Startup Cost'];
BEGIN
  IF a - numbers <> b - numbers THEN RETURN 'another plan'; END IF;
  RETURN CASE WHEN a ->> 'Plan Width' = b ->> 'Plan Width' THEN 'planner' ELSE 'key' END;
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
  sk_made($$SELECT seg, ts FROM sk WHERE seg = 's1' AND v = 1016$$);
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
