-- Large values whose bytes are damaged: whoever reads what is damaged says so,
-- whether values are read in part or whole; verify() says so always.
CREATE TABLE bl (id int, body text) USING strata;
ALTER TABLE bl SET (strata.orderby = 'id');
INSERT INTO bl SELECT i, CASE WHEN i % 5 > 0 THEN (SELECT string_agg(md5((i * 10000 + j)::text), ' ') FROM generate_series(1, 260 + 4 * i) j) || ' the end of ' || i END FROM generate_series(1, 119) i;
CREATE TABLE bl_before AS TABLE bl;
SELECT compress_chunk('bl') IS NOT NULL;
SELECT codec, bytes > 4 * 65536 AS blocks FROM strata.batch_columns('bl') WHERE column_name = 'body';
SELECT strata.batch_relation('bl') AS companion \gset
CREATE TABLE bl_query (n serial, whole boolean, sql text);
INSERT INTO bl_query (whole, sql) VALUES
(true, 'SELECT md5(string_agg(body, '' '' ORDER BY id)) FROM T'),
(true, 'SELECT string_agg(substr(body, 8000, 5), '' '' ORDER BY id) FROM T'),
(true, 'SELECT sum(position(''nowhere'' IN body)) FROM T'),
(true, 'SELECT count(*) FROM T WHERE body LIKE ''%nowhere%'''),
(true, 'SELECT sum(strpos(body, '' the end'')) FROM T'),
(false, 'SELECT string_agg(substr(body, 1, 20), '' '' ORDER BY id) FROM T'),
(false, 'SELECT string_agg(left(body, 2000), '' '' ORDER BY id) FROM T'),
(false, 'SELECT sum(length(body)) FROM T'),
(false, 'SELECT sum(position(''7'' IN body)) FROM T'),
(false, 'SELECT substr(body, length(body) - 12) FROM T WHERE id = 119'),
(false, 'SELECT count(*) FROM T WHERE body LIKE ''%a%b%c%d%''');
CREATE FUNCTION bl_damage(companion text, at int) RETURNS TABLE (unseen bool, wrong int, missed int, raised int, other text) LANGUAGE plpgsql AS $$
DECLARE
    bytes bytea;
    q record;
    found text;
    expected text;
BEGIN
    SELECT false, 0, 0, 0, '' INTO unseen, wrong, missed, raised, other;
    EXECUTE format('SELECT col_2::text::bytea FROM %s WHERE first_row = 0', companion) INTO bytes;
    EXECUTE format('UPDATE %s SET col_2 = $1::text::%s WHERE first_row = 0', companion,
        (SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = companion::regclass AND attname = 'col_2'))
        USING set_byte(bytes, at % length(bytes), get_byte(bytes, at % length(bytes)) # (1 << (at % 8)));
    unseen := NOT EXISTS (SELECT FROM strata.verify('bl'));
    FOR q IN SELECT * FROM bl_query ORDER BY n LOOP
        EXECUTE replace(q.sql, 'FROM T', 'FROM bl_before') INTO expected;
        BEGIN
            EXECUTE replace(q.sql, 'FROM T', 'FROM bl') INTO found;
            IF found IS DISTINCT FROM expected THEN
                wrong := wrong + 1;
            ELSIF q.whole THEN
                missed := missed + 1;
            END IF;
        EXCEPTION
            WHEN data_corrupted THEN raised := raised + 1;
            WHEN OTHERS THEN other := other || format(' %s: %s (%s);', SQLSTATE, SQLERRM, q.sql);
        END;
    END LOOP;
    RETURN NEXT;
    RAISE EXCEPTION 'undo' USING ERRCODE = 'ZZ000', DETAIL = json_build_object('unseen', unseen, 'wrong', wrong, 'missed', missed, 'raised', raised, 'other', other)::text;
END $$;
CREATE FUNCTION bl_try(companion text, at int) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    PERFORM bl_damage(companion, at);
EXCEPTION
    WHEN SQLSTATE 'ZZ000' THEN GET STACKED DIAGNOSTICS answer = PG_EXCEPTION_DETAIL; RETURN answer::json;
END $$;
SET ROLE postgres;
-- the head, byte by byte, then all over the blocks
SELECT count(*) AS tried, count(*) FILTER (WHERE (t->>'unseen')::bool) AS unseen, sum((t->>'wrong')::int) AS wrong, sum((t->>'missed')::int) AS missed,
       bool_or((t->>'raised')::int < 11) = current_setting('strata.enable_value_parts')::bool AS some_not_concerned, min((t->>'raised')::int) >= 5 AS whole_raise, string_agg(t->>'other', '') AS other
  FROM (SELECT bl_try(:'companion', at) AS t FROM (SELECT * FROM generate_series(0, 40, 2) UNION ALL SELECT 100 + i * 9973 FROM generate_series(0, 29) i) x(at) OFFSET 0) y;
RESET ROLE;
SELECT count(*) FROM strata.verify('bl');
SELECT count(*) FROM ((TABLE bl EXCEPT ALL TABLE bl_before) UNION ALL (TABLE bl_before EXCEPT ALL TABLE bl)) x;
DROP TABLE bl, bl_before, bl_query;
DROP FUNCTION bl_damage, bl_try;
