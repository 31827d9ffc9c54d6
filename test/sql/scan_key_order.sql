-- The first rows of a segment, by merging batches, and by sorting.
SET strata.batch_rows = 10;
CREATE DOMAIN sko_day AS date;
CREATE COLLATION sko_back (provider = icu, locale = 'de-u-kf-upper');
CREATE TABLE sko (seg int, id int, f float8, t text COLLATE sko_back, s varchar(9), d sko_day, n numeric, a int[]) USING strata
  WITH (strata.segmentby = 'seg');
CREATE TABLE sko_heap (LIKE sko);
INSERT INTO sko_heap SELECT i % 3, i,
    (ARRAY[1, -1, 'NaN', 0, '-0', 'Infinity', '-Infinity', NULL, 1e-320])[i % 9 + 1] * (CASE WHEN i % 2 = 0 THEN 1 ELSE i END),
    (ARRAY['a', 'A', 'b', NULL, 'B', 'ä', ''])[i % 7 + 1] || CASE WHEN i % 4 = 0 THEN '' ELSE i::text END,
    CASE WHEN i % 11 > 0 THEN 's' || (i * 7) % 100 END, CASE WHEN i % 13 > 0 THEN date '2026-01-01' + (i * 31) % 97 END,
    CASE WHEN i % 5 > 0 THEN (i * 37 % 101) / 8.0 END, CASE WHEN i % 6 > 0 THEN ARRAY[i % 10, i] END
  FROM generate_series(1, 600) i;

-- Queries of which the order does not tell ties apart: the same values in the same places, and rows that are there.
CREATE FUNCTION sko_rows(t text, rest text, c text, merged bool) RETURNS TABLE (place bigint, value text, r text) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('strata.enable_ordered_scan', merged::text, true);
  place := 0;
  FOR value, r IN EXECUTE format('SELECT %s, id FROM %s WHERE %s', c, t, rest) LOOP
    place := place + 1;
    RETURN NEXT;
  END LOOP;
END $$;
CREATE FUNCTION sko_compare(c text, value text) RETURNS TABLE (queries bigint, rows bigint, different bigint) LANGUAGE plpgsql AS $$
DECLARE
  q text;
  n bigint;
  merged bool;
BEGIN
  EXECUTE format('TRUNCATE sko; ALTER TABLE sko SET (strata.orderby = %L)', c || CASE WHEN value > 'b' THEN ' DESC' ELSE ' NULLS FIRST' END);
  INSERT INTO sko SELECT * FROM sko_heap WHERE id <= 500;
  PERFORM compress_chunk('sko');
  INSERT INTO sko SELECT * FROM sko_heap WHERE id > 500;
  PERFORM compress_chunk('sko');
  queries := 0; rows := 0; different := 0;
  FOR q IN
    SELECT format('seg = %s AND %s ORDER BY %s %s LIMIT %s', CASE count WHEN '2' THEN 7 ELSE 1 END, condition, c, direction, count)
    FROM (VALUES ('true'), (format('%s < %L', c, value)), (format('%s >= %L', c, value)), (format('%s > %L AND %1$s <= %2$L', c, value)),
        (format('%s = %L', c, value)), ('id = 499')) AS b(condition),
      (VALUES (''), ('DESC'), ('NULLS FIRST'), ('DESC NULLS LAST')) AS d(direction),
      (VALUES ('1'), ('25 OFFSET 3'), ('1000'), ('0'), ('2')) AS e(count)
  LOOP
    q := replace(q, ' AND true', '');
    FOREACH merged IN ARRAY ARRAY[true, false] LOOP
      queries := queries + 1;
      SELECT count(*) INTO n FROM sko_rows('sko', q, c, merged);
      rows := rows + n;
      SELECT count(*) INTO n FROM sko_rows('sko', q, c, merged) s FULL JOIN sko_rows('sko_heap', q, c, merged) h USING (place)
        WHERE s.value IS DISTINCT FROM h.value AND NOT (s.value = '-0' AND h.value = '0' OR s.value = '0' AND h.value = '-0');
      different := different + n;
      SELECT count(*) INTO n FROM sko_rows('sko', q, c, merged) s LEFT JOIN sko_heap h ON h.id = s.r::int WHERE h.id IS NULL;
      different := different + n;
    END LOOP;
  END LOOP;
  RETURN NEXT;
END $$;
SELECT c, x.* FROM (VALUES ('f', '1'), ('f', 'NaN'), ('t', 'b'), ('t', 'a'), ('s', 's5'), ('d', '2026-02-01'), ('n', '6.5'), ('a', '{5}')) AS q(c, v),
  sko_compare(c, v) x;

-- A kept plan and an open cursor see what comes later, or do not.
TRUNCATE sko;
ALTER TABLE sko SET (strata.orderby = 'id DESC');
INSERT INTO sko SELECT * FROM sko_heap;
SELECT compress_chunk('sko');
PREPARE sko_last AS SELECT id, n FROM sko WHERE seg = 1 ORDER BY id DESC LIMIT 3;
EXECUTE sko_last;
BEGIN;
DECLARE before CURSOR WITH HOLD FOR SELECT id FROM sko WHERE seg = 1 ORDER BY id DESC LIMIT 3;
DECLARE here NO SCROLL CURSOR FOR SELECT id, d FROM sko WHERE seg = 1 ORDER BY id LIMIT 5;
FETCH 2 FROM here;
INSERT INTO sko (seg, id) VALUES (1, 599), (1, 1000), (1, -1);
EXECUTE sko_last;
UPDATE sko SET id = 2000 WHERE id = 4;
FETCH 1 FROM here;
DELETE FROM sko WHERE id IN (7, 595);
FETCH 5 FROM here;
EXECUTE sko_last;
COMMIT;
FETCH ALL FROM before;
EXECUTE sko_last;
SELECT compress_chunk('sko', recompress => true);
EXECUTE sko_last;
ALTER TABLE sko DROP COLUMN a, ALTER id TYPE int8;
SELECT id, s FROM sko WHERE seg = 1 ORDER BY id DESC LIMIT 3;
ALTER TABLE sko SET (strata.orderby = 'd');
SELECT id FROM sko WHERE seg = 1 ORDER BY id DESC LIMIT 3;
SELECT compress_chunk('sko', recompress => true);
SELECT id FROM sko WHERE seg = 1 ORDER BY id DESC LIMIT 3;
SELECT id FROM sko WHERE seg = 1 AND id = 2000 ORDER BY d LIMIT -1;

-- What is sorted by need not be shown, but must be allowed.
CREATE ROLE sko_reader;
GRANT sko_reader TO CURRENT_USER;
GRANT SELECT (seg, id) ON sko TO sko_reader;
SET ROLE sko_reader;
SELECT id FROM sko WHERE seg = 1 AND id = 2000 ORDER BY seg LIMIT 1;
SELECT id FROM sko WHERE seg = 1 ORDER BY d LIMIT 1;
RESET ROLE;
DROP OWNED BY sko_reader;
DROP ROLE sko_reader;
CREATE FUNCTION sko_first(int) RETURNS SETOF int8 LANGUAGE sql AS 'SELECT id FROM sko WHERE seg = $1 ORDER BY d NULLS FIRST LIMIT 2';
CREATE VIEW sko_view AS SELECT id, d FROM sko WHERE seg = 2 ORDER BY d LIMIT 2;
SELECT count(*) FROM sko_first(1) UNION ALL SELECT count(*) FROM sko_view;
DROP VIEW sko_view;
DROP TABLE sko, sko_heap;
DROP FUNCTION sko_first, sko_compare, sko_rows;
DROP COLLATION sko_back;
DROP DOMAIN sko_day;
