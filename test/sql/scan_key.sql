-- The rows of one key, with batches pruned, and not.
SET strata.batch_rows = 10;
CREATE TABLE sk (seg text, num int2, ts timestamp, note varchar(20), v float8) USING strata
  WITH (strata.segmentby = 'seg, num', strata.orderby = 'ts DESC');
CREATE TABLE sk_heap (LIKE sk);
INSERT INTO sk_heap SELECT 's' || i % 5, CASE WHEN i % 7 > 0 THEN i % 3 END, timestamp '2026-01-01' + (i / 10) * interval '1 min',
    CASE WHEN i % 4 > 0 THEN 'n' || i END, i FROM generate_series(1, 4000) i;
INSERT INTO sk SELECT * FROM sk_heap;
SELECT compress_chunk('sk');
VACUUM ANALYZE sk;

-- Some of the keys, and many that no row has.
CREATE FUNCTION sk_answers(t text, pruned bool) RETURNS TABLE (k int, r text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('strata.enable_pruning', pruned::text, true);
  FOR k IN 1 .. 4000 BY 13 LOOP
    FOR r IN EXECUTE format('SELECT seg, num, ts, note, v FROM %s WHERE seg = %L AND num = %s AND ts = %L', t, 's' || k % 5,
                            k % 4, timestamp '2026-01-01' + (k / 10) * interval '1 min') LOOP
      RETURN NEXT;
    END LOOP;
  END LOOP;
END $$;
CREATE FUNCTION sk_differences() RETURNS TABLE (pruned bool, rows bigint, different bigint) LANGUAGE sql AS $$
  SELECT s.pruned, (SELECT count(*) FROM sk_answers('sk', s.pruned)),
    (SELECT count(*) FROM (
      (SELECT * FROM sk_answers('sk', s.pruned) EXCEPT ALL SELECT * FROM sk_answers('sk_heap', true)) UNION ALL
      (SELECT * FROM sk_answers('sk_heap', true) EXCEPT ALL SELECT * FROM sk_answers('sk', s.pruned))) d)
  FROM (VALUES (true), (false)) AS s(pruned)
$$;
SELECT * FROM sk_differences();

-- A kept plan sees what comes later: rows in the row store, other columns, another storage.
PREPARE sk_one AS SELECT * FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:40';
EXECUTE sk_one;
INSERT INTO sk VALUES ('s1', 1, '2026-01-01 01:40', 'later', -1);
EXECUTE sk_one;
UPDATE sk SET v = -v WHERE note = 'later' OR v = 1006;
EXECUTE sk_one;
SELECT compress_chunk('sk', recompress => true);
EXECUTE sk_one;
ALTER TABLE sk DROP COLUMN note;
PREPARE sk_columns AS SELECT seg, v FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:40';
EXECUTE sk_columns;
DELETE FROM sk WHERE v < 0;
EXECUTE sk_columns;
VACUUM FULL sk;
EXECUTE sk_columns;
ALTER TABLE sk RENAME v TO w;
SELECT seg, w FROM sk WHERE seg = 's1' AND num = 1 AND ts = '2026-01-01 01:40';
-- of a column that another index leads by
ALTER TABLE sk SET (strata.segmentby = 'seg', strata.orderby = 'w');
SELECT compress_chunk('sk', recompress => true);
VACUUM sk;
SELECT seg, ts FROM sk WHERE seg = 's1' AND w = 1016;

-- Cursors, in both directions.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT seg, ts FROM sk WHERE seg = 's1' AND w = 1016;
FETCH FORWARD 2 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ABSOLUTE 1 FROM c;
DELETE FROM sk WHERE CURRENT OF c;
COMMIT;
SELECT seg, ts FROM sk WHERE seg = 's1' AND w = 1016;

-- Permissions, row security, children.
CREATE ROLE sk_reader;
GRANT sk_reader TO CURRENT_USER;
GRANT SELECT (seg, w) ON sk TO sk_reader;
SET ROLE sk_reader;
SELECT seg, w FROM sk WHERE seg = 's1' AND w = 1021;
SELECT seg, ts FROM sk WHERE seg = 's1' AND w = 1021;
SELECT seg, w FROM sk WHERE seg = 's1' AND w = 1021 AND ts = '2026-01-01';
RESET ROLE;
ALTER TABLE sk ENABLE ROW LEVEL SECURITY;
CREATE POLICY sk_policy ON sk FOR SELECT USING (w < 1000);
SET ROLE sk_reader;
SELECT seg, w FROM sk WHERE seg = 's1' AND w = 1021;
SELECT seg, w FROM sk WHERE seg = 's1' AND w = 21;
RESET ROLE;
ALTER TABLE sk DISABLE ROW LEVEL SECURITY;
CREATE TABLE sk_child () INHERITS (sk);
INSERT INTO sk_child (seg, w) VALUES ('s1', 1021);
SELECT tableoid::regclass, seg, w FROM sk WHERE seg = 's1' AND w = 1021 ORDER BY 1;
SELECT seg, w FROM sk WHERE seg = 's1' AND w = 1021;
SELECT seg, w FROM ONLY sk WHERE seg = 's1' AND w = 1021;
DROP TABLE sk_child, sk, sk_heap;
DROP OWNED BY sk_reader;
DROP ROLE sk_reader;
DROP FUNCTION sk_answers, sk_differences;
