-- Conditions of many ranges of times: each chunk gets its own alone, and the rows are the same.
SET timezone = 'UTC';
SET strata.report_compression = off;
SET client_min_messages = warning;
\set VERBOSITY terse
CREATE FUNCTION roga_ors(c text, ranges text[]) RETURNS text LANGUAGE sql AS
	$$ SELECT string_agg(concat_ws(' AND ', c || ' >= ' || nullif(split_part(r, ',', 1), ''), c || ' < ' || nullif(split_part(r, ',', 2), '')), ' OR ') FROM unnest(ranges) r $$;
CREATE FUNCTION roga_check(ors text, OUT n bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$ BEGIN
	EXECUTE format('SELECT count(h), count(*) FILTER (WHERE h IS NULL OR s IS NULL) FROM (SELECT * FROM roga_heap WHERE (%1$s) AND v <> -1) h FULL JOIN (SELECT * FROM roga WHERE (%1$s) AND v <> -1) s USING (t, v)', ors) INTO n, wrong;
END $$;
-- every type of time; chunks with ranges, with none, with parts of one, and with all of it
CREATE TABLE roga (t int NOT NULL, v int);
SELECT FROM create_hypertable('roga', 't', chunk_time_interval => 100);
INSERT INTO roga SELECT i, i FROM generate_series(-500, 999) i;
INSERT INTO roga VALUES (2147483647, 1), (-2147483648, 2);
CREATE TABLE roga_heap AS TABLE roga;
SELECT count(compress_chunk(c)) FROM show_chunks('roga') c LIMIT 1;
INSERT INTO roga SELECT i, i + 5000 FROM generate_series(-500, 999, 7) i;
INSERT INTO roga_heap SELECT i, i + 5000 FROM generate_series(-500, 999, 7) i;
SELECT * FROM roga_check(roga_ors('t', '{",-490", "-450,-320", "-310,-309", "0,1", "1,2", "99,100", "100,200", "350,351", "900,"}'));
SELECT * FROM roga_check(roga_ors('t', '{"-2147483648,-490", "-450,-320", "-310,-309", "300,100", "100,100", "400,400", "900,2147483647"}'));
SELECT * FROM roga_check(roga_ors('t', '{"1,2", "3,4", "5,6", "7,8", "9,10", "11,12"}') || ' OR t = 700');
SELECT * FROM roga_check(roga_ors('t', '{"1,2", "3,4", "5,6", "7,8", "9,10", "11,12"}') || ' OR v = 700');
SELECT * FROM roga_check('(' || roga_ors('t', '{"1,2", "3,4", "5,6", "7,8", "9,10", "611,612"}') || ') AND (' || roga_ors('t', '{"0,2", "3,4", "51,60", "71,81", "9,10", "11,900"}') || ')');
SELECT * FROM roga_check('NOT (' || roga_ors('t', '{"1,2", "3,4", "5,6", "7,8", "9,10", "11,12", "13,990"}') || ')');
-- changes, too; and a plan that is made once
UPDATE roga SET v = v + 1000000 WHERE t >= 1 AND t < 2 OR t >= 3 AND t < 4 OR t >= 105 AND t < 106 OR t >= 107 AND t < 108 OR t >= 509 AND t < 522 OR t >= 555 AND t < 556;
UPDATE roga_heap SET v = v + 1000000 WHERE t >= 1 AND t < 2 OR t >= 3 AND t < 4 OR t >= 105 AND t < 106 OR t >= 107 AND t < 108 OR t >= 509 AND t < 522 OR t >= 555 AND t < 556;
DELETE FROM roga WHERE t >= 1 AND t < 2 OR t >= 3 AND t < 4 OR t >= 105 AND t < 106 OR t >= 107 AND t < 108 OR t >= 609 AND t < 622 OR t >= 755 AND t < 756;
DELETE FROM roga_heap WHERE t >= 1 AND t < 2 OR t >= 3 AND t < 4 OR t >= 105 AND t < 106 OR t >= 107 AND t < 108 OR t >= 609 AND t < 622 OR t >= 755 AND t < 756;
SELECT * FROM roga_check('true');
PREPARE roga_ask AS SELECT count(*) FROM roga WHERE t >= 1 AND t < 9 OR t >= 13 AND t < 14 OR t >= 105 AND t < 106 OR t >= 107 AND t < 108 OR t >= 609 AND t < 622 OR t >= 950;
EXECUTE roga_ask;
INSERT INTO roga VALUES (2005, 0);
EXECUTE roga_ask;
-- chunks become others
SELECT array_agg(c) AS merged FROM show_chunks('roga', older_than => 300, newer_than => 0) c \gset
CALL merge_chunks(:'merged'::regclass[]);
EXECUTE roga_ask;
DELETE FROM roga WHERE t = 2005;
SELECT * FROM roga_check(roga_ors('t', '{",-490", "-450,-320", "-310,-309", "0,1", "1,2", "99,100", "100,200", "350,351", "900,"}'));
-- a partition that may have any time, and a chunk that is no strata table
CREATE TABLE roga_default PARTITION OF roga DEFAULT;
INSERT INTO roga VALUES (77777, 5), (5000, 5);
INSERT INTO roga_heap VALUES (77777, 5), (5000, 5);
SELECT * FROM roga_check(roga_ors('t', '{",-490", "-450,-320", "-310,-309", "0,1", "1,2", "99,100", "100,200", "350,351", "4000,77777"}'));
DROP TABLE roga, roga_heap;
CREATE TABLE roga (t timestamptz NOT NULL, v int);
SELECT FROM create_hypertable('roga', 't', chunk_time_interval => interval '1 day');
INSERT INTO roga SELECT '2026-03-01'::timestamptz + i * interval '1 hour', i FROM generate_series(0, 499) i;
CREATE TABLE roga_heap AS TABLE roga;
SELECT * FROM roga_check(roga_ors('t', ARRAY[$$'-infinity','2026-03-01 05:00'$$, $$'2026-03-02','2026-03-03'$$, $$'2026-03-05 05:00','2026-03-05 06:00'$$, $$'2026-03-05 07:00','2026-03-05 08:00'$$, $$'2026-03-05 22:00','2026-03-07 08:00'$$, $$'2026-03-15',$$]));
SELECT * FROM roga_check(roga_ors('t', ARRAY[$$,'2026-03-01 05:00'$$, $$'2026-03-02','2026-03-03'$$, $$'2026-03-05 05:00','2026-03-05 06:00'$$, $$'2026-03-05 07:00','2026-03-05 08:00'$$, $$'2026-03-05 22:00','2026-03-07 08:00'$$, $$'2026-03-15','infinity'$$]));
SELECT * FROM roga_check(roga_ors('t', ARRAY[$$,'2026-03-01 05:00'$$, $$'2026-03-02','2026-03-03'$$, $$'2026-03-05 05:00','2026-03-05 06:00'$$, $$'2026-03-05 07:00','2026-03-05 08:00'$$, $$'2026-03-05 22:00','2026-03-07 08:00'$$, $$'2026-03-15',$$]));
DROP TABLE roga, roga_heap;
CREATE TABLE roga (t date NOT NULL, v int);
SELECT FROM create_hypertable('roga', 't', chunk_time_interval => interval '10 days');
INSERT INTO roga SELECT '2026-03-01'::date + i, i FROM generate_series(0, 499) i;
CREATE TABLE roga_heap AS TABLE roga;
SELECT * FROM roga_check(roga_ors('t', ARRAY[$$,'2026-03-03'$$, $$'2026-03-02','2026-03-03'$$, $$'2026-04-05','2026-04-07'$$, $$'2026-05-05','2026-07-07'$$, $$'2026-10-01','2026-10-02'$$, $$'2026-12-15',$$]));
DROP TABLE roga, roga_heap;
-- the function itself
SELECT _strata.time_in(5, '{1,3,5,9}'), _strata.time_in(3, '{1,3,5,9}'), _strata.time_in('infinity'::timestamptz, '{1,9223372036854775807}'), _strata.time_in(NULL::int, '{1,3}');
SELECT _strata.time_in(5, '{1,NULL}');
SELECT _strata.time_in(5, '{}');
SELECT _strata.time_in('a'::text, '{1,2}');
-- late rows in many of many chunks: all clean ranges are read
CREATE TABLE roga (t int NOT NULL, g int, v int);
SELECT FROM create_hypertable('roga', 't', chunk_time_interval => 100);
INSERT INTO roga SELECT i, i % 5, i FROM generate_series(0, 29999) i;
SELECT count(compress_chunk(c)) FROM show_chunks('roga') c;
CREATE TABLE roga_heap AS TABLE roga;
CREATE MATERIALIZED VIEW roga_v WITH (strata.continuous, strata.chunk_interval = 5000) AS SELECT time_bucket(10, t) AS b, g, count(*) AS n, sum(v) AS s FROM roga GROUP BY 1, 2;
INSERT INTO roga SELECT 13 + i * 450, 3, 7 FROM generate_series(0, 59) i;
INSERT INTO roga_heap SELECT 13 + i * 450, 3, 7 FROM generate_series(0, 59) i;
SELECT count(*), count(*) FILTER (WHERE x IS DISTINCT FROM y) AS wrong FROM (SELECT t / 10 * 10 AS b, g, count(*) AS n, sum(v) AS s FROM roga_heap GROUP BY 1, 2) x FULL JOIN roga_v y USING (b, g);
SELECT count(*), count(*) FILTER (WHERE x IS DISTINCT FROM y) AS wrong FROM (SELECT t / 100 * 100 AS b, count(*) AS n, sum(v) AS s FROM roga_heap GROUP BY 1) x FULL JOIN (SELECT time_bucket(100, t) AS b, count(*) AS n, sum(v) AS s FROM roga GROUP BY 1) y USING (b);
DROP TABLE roga CASCADE;
DROP TABLE roga_heap;
DROP FUNCTION roga_ors, roga_check;
