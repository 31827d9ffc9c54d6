-- Ordered output of one segment: batches come from the segment index in the
-- order of their bounds, nulls at either end, and only those that are needed.
SET strata.batch_rows = 20;
CREATE TABLE so (seg text, ts timestamp, n int, v float8) USING strata;
ALTER TABLE so SET (strata.segmentby = 'seg', strata.orderby = 'ts DESC NULLS LAST');
CREATE TABLE so_heap (LIKE so) USING heap;

-- every fifth time is null, and batches of the second load overlap those of the first
CREATE PROCEDURE so_load(step int) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO so_heap SELECT 's' || i % 3, CASE WHEN i % 5 <> 0 THEN timestamp '2024-01-01' + i * step * interval '1 minute' END, i, i / 3.0
  FROM generate_series(1, 600) i;
  INSERT INTO so_heap SELECT 'null', NULL, i, NULL FROM generate_series(1, 50) i;
  TRUNCATE so;
END $$;
CALL so_load(2);
INSERT INTO so SELECT * FROM so_heap;
SELECT compress_chunk('so');
CALL so_load(3);
INSERT INTO so SELECT * FROM so_heap;
SELECT compress_chunk('so');
SELECT count(*) FROM strata.verify('so');

-- no batch mixes nulls and values of the first orderby column
SELECT count(*) FROM strata.batch_columns('so') WHERE column_name = 'ts' AND nulls > 0 AND min IS NOT NULL;

-- all orders, limits and bounds; rows in the row store too
INSERT INTO so SELECT 's1', timestamp '2024-01-01 12:00' + i * interval '7 min', 1000 + i, 0 FROM generate_series(1, 30) i;
INSERT INTO so SELECT 's1', NULL, 2000, 0;
TRUNCATE so_heap;
INSERT INTO so_heap SELECT * FROM so;
ANALYZE so;
SET enable_sort = off;
CREATE FUNCTION so_check() RETURNS TABLE (queries bigint, different bigint) LANGUAGE plpgsql AS $$
DECLARE
  q text;
  a text;
  b text;
BEGIN
  queries := 0; different := 0;
  FOR q IN
    SELECT format('SELECT string_agg(coalesce(ts::text, ''-''), '','') FROM (SELECT ts, v FROM %%s WHERE seg = %L%s ORDER BY ts%s%s%s) s', seg, w, d, nu, l)
    FROM unnest(ARRAY['s1', 'null', 'none']) seg,
      unnest(ARRAY['', ' AND ts < ''2024-01-01 15:00''', ' AND ts >= ''2024-01-01 13:00''', ' AND ts IS NULL', ' AND v > 100']) w,
      unnest(ARRAY['', ' DESC']) d, unnest(ARRAY['', ' NULLS FIRST', ' NULLS LAST']) nu,
      unnest(ARRAY['', ' LIMIT 1', ' LIMIT 10', ' LIMIT 70 OFFSET 50']) l
  LOOP
    EXECUTE format(q, 'so') INTO a;
    EXECUTE format(q, 'so_heap') INTO b;
    queries := queries + 1;
    different := different + (a IS DISTINCT FROM b)::int;
  END LOOP;
  RETURN NEXT;
END $$;
SELECT * FROM so_check();
SET strata.enable_pruning = off;
SELECT * FROM so_check();
RESET strata.enable_pruning;


-- the segment comes as a parameter: a generic plan, a join, a null
SET plan_cache_mode = force_generic_plan;
PREPARE last(text) AS SELECT ts FROM so WHERE seg = $1 ORDER BY ts DESC NULLS LAST LIMIT 2;
EXECUTE last('s1');
EXECUTE last('s2');
EXECUTE last(NULL);
RESET plan_cache_mode;
SELECT k.seg, l.* FROM (VALUES ('s0'), ('s1'), ('none'), (NULL), ('s2'), ('null')) k (seg)
  LEFT JOIN LATERAL (SELECT ts, seg AS found FROM so WHERE so.seg = k.seg ORDER BY ts DESC NULLS LAST LIMIT 1) l ON true ORDER BY k.seg;

SET client_min_messages = warning;
SELECT strata.batch_relation('so') AS companion \gset
-- a companion without the index by max: batches are listed
SELECT indexrelid::regclass AS by_max FROM pg_index WHERE indrelid = :'companion'::regclass AND pg_get_indexdef(indexrelid) LIKE '%seg\_1, layout, max%' \gset
SET ROLE postgres;
ALTER EXTENSION strata DROP TABLE :companion;
DROP INDEX :by_max;
ALTER EXTENSION strata ADD TABLE :companion;
RESET ROLE;
SELECT * FROM so_check();
SELECT compress_chunk('so', recompress => true);
SELECT count(DISTINCT layout) FROM strata.batches('so');
SELECT * FROM so_check();

-- many batches that are null in the first of two keys, in no order of the second
CREATE TABLE so_two (ts timestamp, id int) USING strata;
ALTER TABLE so_two SET (strata.orderby = 'ts, id');
INSERT INTO so_two SELECT CASE WHEN i % 10 = 0 THEN timestamp '2024-01-01' + i * interval '1 min' END, i FROM generate_series(2, 1200, 2) i;
SELECT compress_chunk('so_two');
INSERT INTO so_two SELECT NULL, i FROM generate_series(1, 1199, 2) i;
SELECT compress_chunk('so_two');
ANALYZE so_two;
SET seq_page_cost = 100;
SET random_page_cost = 1;
SELECT count(*), min(id), max(id) FROM (SELECT ts, id FROM so_two ORDER BY ts NULLS FIRST, id LIMIT 50) x;
SELECT count(*), min(id), max(id) FROM (SELECT ts, id FROM so_two ORDER BY ts DESC, id DESC LIMIT 50) x;
DROP TABLE so_two;
RESET seq_page_cost;
RESET random_page_cost;

DROP TABLE so, so_heap;
DROP PROCEDURE so_load;
DROP FUNCTION so_check;
