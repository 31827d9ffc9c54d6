-- Batches around a value are found at once, not by looking at all to one side
-- of it: the widest batch says how far to look.  Types at the ends of their
-- range, batches that reach over others, and types without spans.
SET strata.batch_rows = 20;
CREATE FUNCTION sp_types() RETURNS text[] LANGUAGE sql AS
$$ SELECT ARRAY['int2', 'int4', 'int8', 'date', 'time', 'timestamp', 'timestamptz', 'sp_domain', 'float8', 'numeric', 'text'] $$;
CREATE DOMAIN sp_domain AS timestamptz CHECK (value > '1900-01-01');
-- value number i (0 .. 2000) of a type; 0 and 2000 are the ends of the type
CREATE FUNCTION sp_value(typ text, i int) RETURNS text LANGUAGE sql AS $$
  SELECT CASE typ
    WHEN 'int2' THEN CASE i WHEN 0 THEN '-32768' WHEN 2000 THEN '32767' ELSE ((i - 1000) * 30)::text END
    WHEN 'int4' THEN CASE i WHEN 0 THEN '-2147483648' WHEN 2000 THEN '2147483647' ELSE ((i - 1000) * 7000)::text END
    WHEN 'int8' THEN CASE i WHEN 0 THEN '-9223372036854775808' WHEN 2000 THEN '9223372036854775807' ELSE ((i - 1000) * 70000000000)::text END
    WHEN 'date' THEN CASE i WHEN 0 THEN '-infinity' WHEN 2000 THEN 'infinity' ELSE (date '2000-01-01' + i * 3)::text END
    WHEN 'time' THEN CASE i WHEN 2000 THEN '24:00:00' ELSE (time '00:00' + i * interval '40 s')::text END
    WHEN 'float8' THEN CASE i WHEN 0 THEN '-infinity' WHEN 2000 THEN 'NaN' ELSE (i * 0.25)::text END
    WHEN 'numeric' THEN CASE i WHEN 0 THEN '-infinity' WHEN 2000 THEN 'NaN' ELSE (i * 0.1)::text END
    WHEN 'text' THEN to_char(i, '0000')
    ELSE CASE i WHEN 0 THEN CASE typ WHEN 'sp_domain' THEN '1999-01-01' ELSE '-infinity' END WHEN 2000 THEN 'infinity'
      ELSE (timestamp '2000-01-01' + i * interval '1 hour')::text END
  END $$;

-- each value by all comparisons, with and without limits and a segment, both halves filled
CREATE FUNCTION sp_check(typ text) RETURNS TABLE (of text, queries bigint, different bigint) LANGUAGE plpgsql AS $$
DECLARE
  q text;
  a text;
  b text;
  lo text;
  hi text;
  op text;
  seg text;
  rest text;
BEGIN
  of := typ; queries := 0; different := 0;
  FOR i IN 0 .. 2000 BY 200 LOOP
    lo := quote_literal(sp_value(typ, greatest(i - 30, 0))) || '::' || typ;
    hi := quote_literal(sp_value(typ, i)) || '::' || typ;
    FOREACH seg IN ARRAY ARRAY['', ' AND seg = 1'] LOOP
      FOREACH op IN ARRAY ARRAY['k = ' || hi, 'k >= ' || lo || ' AND k < ' || hi, 'k > ' || lo || ' AND k <= ' || hi, 'k < ' || lo, 'k >= ' || hi] LOOP
        FOREACH rest IN ARRAY ARRAY['ORDER BY k, n', 'ORDER BY k DESC, n DESC LIMIT 3', 'ORDER BY k, n LIMIT 3'] LOOP
          q := format('SELECT string_agg(x::text, '','') FROM (SELECT k, n FROM sp_%%s WHERE %s%s %s) x', op, seg, rest);
          EXECUTE format(q, 'heap') INTO a;
          EXECUTE format(q, 'strata') INTO b;
          queries := queries + 1;
          IF a IS DISTINCT FROM b THEN
            different := different + 1;
            RAISE NOTICE '%', format(q, 'strata');
          END IF;
        END LOOP;
      END LOOP;
    END LOOP;
  END LOOP;
  RETURN NEXT;
END $$;

CREATE FUNCTION sp_run(typ text, segmentby text, orderby text) RETURNS TABLE (of text, queries bigint, different bigint, problems bigint) LANGUAGE plpgsql AS $$
BEGIN
  DROP TABLE IF EXISTS sp_heap, sp_strata;
  EXECUTE format('CREATE TABLE sp_heap (k %s, seg int, n int)', typ);
  EXECUTE format('INSERT INTO sp_heap SELECT sp_value(%L, i)::%s, i %% 3, i FROM generate_series(0, 2000) i', typ, typ);
  INSERT INTO sp_heap SELECT NULL, i % 3, i FROM generate_series(3000, 3050) i;
  CREATE TABLE sp_strata (LIKE sp_heap) USING strata;
  EXECUTE format('ALTER TABLE sp_strata SET (strata.segmentby = %L, strata.orderby = %L)', segmentby, orderby);
  INSERT INTO sp_strata SELECT * FROM sp_heap;
  PERFORM compress_chunk('sp_strata');
  -- late rows: few batches that reach over all others; and rows that stay rows
  EXECUTE format('INSERT INTO sp_heap SELECT sp_value(%L, i)::%s, i %% 3, 10000 + i FROM generate_series(7, 2000, 61) i', typ, typ);
  INSERT INTO sp_strata SELECT * FROM sp_heap WHERE n >= 10000;
  PERFORM compress_chunk('sp_strata');
  EXECUTE format('INSERT INTO sp_heap SELECT sp_value(%L, i)::%s, i %% 3, 20000 + i FROM generate_series(3, 2000, 97) i', typ, typ);
  INSERT INTO sp_strata SELECT * FROM sp_heap WHERE n >= 20000;
  UPDATE sp_heap SET n = -n WHERE n % 50 = 0;
  UPDATE sp_strata SET n = -n WHERE n % 50 = 0;
  ANALYZE sp_strata;
  RETURN QUERY SELECT c.*, (SELECT count(*) FROM strata.verify('sp_strata')) FROM sp_check(typ) c;
END $$;

SET client_min_messages = error;
SELECT r.* FROM unnest(sp_types()) typ, sp_run(typ, '', 'k') r;
SELECT r.* FROM unnest(sp_types()) typ, sp_run(typ, 'seg', 'k DESC NULLS LAST') r;
SET strata.enable_pruning = off;
SELECT r.* FROM sp_run('timestamptz', 'seg', 'k') r;
RESET strata.enable_pruning;
RESET client_min_messages;

-- a span that is damaged is found, and by the reader as well
SET ROLE postgres;
DO $$ BEGIN EXECUTE format('UPDATE %s SET span_1 = 2 WHERE first_row = 0 AND nrows > 0', strata.batch_relation('sp_strata')); END $$;
RESET ROLE;
SELECT * FROM strata.verify('sp_strata');
SELECT count(n) FROM sp_strata;
