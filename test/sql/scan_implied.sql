-- Conditions that a partition's bounds imply are forgotten there, comparisons of rows prune, and late rows come by the query's own bounds: the same rows as without.
SET client_min_messages = warning;
SET timezone = 'UTC';
CREATE FUNCTION im_rows(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE r record; rows text[] := '{}';
BEGIN
    FOR r IN EXECUTE query LOOP rows := rows || r::text; END LOOP;
    RETURN rows;
END $$;
-- each ? is a condition on t; compared with heap, and with all of it off
CREATE FUNCTION im_same(conditions text[], asks text[]) RETURNS TABLE (said text, n bigint) LANGUAGE plpgsql AS $$
DECLARE c text; a text; q text; heap text[]; one text[]; n bigint := 0;
BEGIN
    FOREACH a IN ARRAY asks LOOP
        FOREACH c IN ARRAY conditions LOOP
            q := replace(a, '?', c);
            heap := im_rows(replace(q, 'FROM t', 'FROM t_heap AS t'));
            one := im_rows(q);
            n := n + cardinality(one);
            IF one IS DISTINCT FROM heap THEN RETURN QUERY SELECT format('differs: %s: %s', q, left(one::text, 300)), 0::bigint; END IF;
        END LOOP;
    END LOOP;
    RETURN QUERY SELECT 'rows', n;
END $$;
CREATE TABLE t (gone int, id int, time timestamptz NOT NULL, host text COLLATE "C", v float8);
ALTER TABLE t DROP COLUMN gone;
SELECT created FROM create_hypertable('t', 'time', chunk_time_interval => interval '12 hours');
ALTER TABLE t SET (strata.segmentby = 'host', strata.orderby = 'time');
-- a chunk whose columns stand in another order, and one of plain heap
CREATE TABLE t_odd (time timestamptz NOT NULL, v float8, host text COLLATE "C", x int, id int) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'time');
ALTER TABLE t_odd DROP COLUMN x;
ALTER TABLE t ATTACH PARTITION t_odd FOR VALUES FROM ('2024-01-04 00:00Z') TO ('2024-01-04 12:00Z');
CREATE TABLE t_plain PARTITION OF t FOR VALUES FROM ('2024-01-05 00:00Z') TO ('2024-01-05 12:00Z') USING heap;
CREATE TABLE t_heap (id int, time timestamptz NOT NULL, host text COLLATE "C", v float8) USING heap;
INSERT INTO t_heap SELECT g, timestamptz '2024-01-01 00:00Z' + g * interval '6 minutes', 'h' || g % 5, CASE g % 50 WHEN 0 THEN NULL WHEN 1 THEN 'NaN' WHEN 2 THEN -0.0 ELSE g % 13 END
FROM generate_series(0, 1439) g;
INSERT INTO t (id, time, host, v) SELECT * FROM t_heap WHERE id % 20 <> 7;
SELECT count(compress_chunk(c)) FROM show_chunks('t') c WHERE c <> 't_plain'::regclass;
CREATE INDEX ON t (time DESC);
CREATE INDEX ON t (host, time DESC);
INSERT INTO t (id, time, host, v) SELECT * FROM t_heap WHERE id % 20 = 7;
ANALYZE t;
CREATE TABLE im_conditions AS SELECT array_agg(c ORDER BY n) AS list FROM unnest(ARRAY[
    'time >= ''2024-01-02 00:00Z''', 'time > ''2024-01-02 00:00Z''', 'time < ''2024-01-02 00:00Z''', 'time <= ''2024-01-02 00:00Z''', '''2024-01-02 00:00Z'' <= time',
    'time > ''2024-01-02 11:59:59.999999Z''', 'time >= ''2024-01-01 23:59:59.999999Z''', 'time = ''2024-01-02 12:00Z''', 'time <> ''2024-01-02 12:00Z''',
    'time BETWEEN ''2024-01-02 06:00Z'' AND ''2024-01-05 09:00Z''', 'time > ''2024-01-02'' AND time < ''2024-01-06'' AND v > 3', 'time >= timestamp ''2024-01-03'' AND time < date ''2024-01-05''',
    'time > ''-infinity''', 'time < ''infinity''', 'time < ''-infinity''', 'time IS NOT NULL', 'time IS NULL', 'NOT time < ''2024-01-03''', 'time >= ''2024-01-03'' OR v = 2', 'time IN (''2024-01-02 12:00Z'', ''2024-01-03'')',
    '(time, host) < (''2024-01-04 05:30Z'', ''h2'')', '(time, host) <= (''2024-01-04 00:00Z'', ''h0'')', '(time, host) > (''2024-01-04 05:30Z'', ''h2'')', '(time, host, id) >= (''2024-01-05 00:00Z'', ''h0'', 5)',
    '(''2024-01-04 05:30Z'', 900) > (time, id)', '(time, id) < (''2024-01-04 05:30Z'', NULL)', '(time, v) < (''2024-01-04 05:30Z'', 3)', '(time, id) < (NULL::timestamptz, 7)', '(host, time) < (''h2'', ''2024-01-03'')',
    '(time, id) < (timestamp ''2024-01-03'', 700)', '(time, id) > (date ''2024-01-03'', 700)', '(time, id) < ((SELECT max(x) - interval ''2 days'' FROM (VALUES (timestamptz ''2024-01-06'')) s(x)), 9)', '(time, id) < (now(), 9)',
    '(time, id) < (time + interval ''1 hour'', 9)', 'NOT (time, id) < (''2024-01-04'', 700)', '(time, id) < (''2024-01-04'', 700) AND (time, id) > (''2024-01-03'', 7)', '(time, id) < (''infinity'', 7)']) WITH ORDINALITY u(c, n);
CREATE FUNCTION im_all() RETURNS TABLE (said text, n bigint) LANGUAGE sql AS $$
SELECT s.* FROM im_conditions, im_same(list, ARRAY[
    'SELECT id, time, host, v FROM t WHERE ? ORDER BY time DESC, id DESC LIMIT 50', 'SELECT id, time, host, v FROM t WHERE ? ORDER BY time, id LIMIT 50', 'SELECT id, time FROM t WHERE ? AND host = ''h3'' ORDER BY time DESC LIMIT 30',
    'SELECT count(*), sum(id), min(time), max(time) FROM t WHERE ?', 'SELECT host, count(v), max(time) FROM t WHERE ? GROUP BY host ORDER BY host', 'SELECT * FROM t WHERE (?) AND id % 7 = 1 ORDER BY id', 'SELECT id FROM t WHERE ? ORDER BY v, id LIMIT 40',
    'SELECT count(*) FROM t WHERE (?) IS NOT TRUE']) s $$;
SELECT * FROM im_all();
SET strata.enable_pruning = off;
SELECT * FROM im_all();
RESET strata.enable_pruning;
SET strata.enable_time_pruning = off;
SELECT * FROM im_all();
RESET strata.enable_time_pruning;
SET enable_seqscan = off;
SELECT * FROM im_all();
RESET enable_seqscan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT * FROM im_all();
RESET enable_indexscan;
RESET enable_bitmapscan;
-- parameters, by generic plans
SET plan_cache_mode = force_generic_plan;
PREPARE im_page(timestamptz, int) AS SELECT id, time FROM t WHERE (time, id) < ($1, $2) ORDER BY time DESC, id DESC LIMIT 3;
EXECUTE im_page('2024-01-04 05:30Z', 800);
EXECUTE im_page('2024-01-01 00:10Z', 3);
EXECUTE im_page(NULL, 3);
DEALLOCATE im_page;
-- a volatile bound is evaluated once a row, as it was
CREATE SEQUENCE im_seq;
SELECT count(*) FROM t WHERE time < '2024-01-01 01:00Z' AND (time, id) > ('-infinity'::timestamptz + nextval('im_seq') * interval '0', 1);
SELECT last_value <= 10 AS once FROM im_seq;
-- a partition that leaves its table has rows beyond its bounds; a plan is made anew
PREPARE im_left AS SELECT count(*) FROM t_odd WHERE time >= '2024-01-04 00:00Z';
EXECUTE im_left;
ALTER TABLE t DETACH PARTITION t_odd;
INSERT INTO t_odd (time, id) VALUES ('2023-01-01', 1);
EXECUTE im_left;
DEALLOCATE im_left;
-- a default partition, and partitions by two columns, imply nothing
CREATE TABLE im_default (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE im_default_1 PARTITION OF im_default FOR VALUES FROM (0) TO (100) USING strata;
CREATE TABLE im_default_0 PARTITION OF im_default DEFAULT USING strata;
INSERT INTO im_default SELECT CASE WHEN g < 190 THEN g - 20 END, g FROM generate_series(0, 199) g;
SELECT count(compress_chunk('im_default')) FROM (SELECT) s;
SELECT count(*) FILTER (WHERE k IS NULL), count(*) FROM im_default;
SELECT count(*), sum(v) FROM im_default WHERE k IS NOT NULL;
SELECT count(*), sum(v) FROM im_default WHERE k >= 0;
SELECT count(*), sum(v) FROM im_default WHERE k > -1 AND k < 100;
SELECT count(*), sum(v) FROM im_default WHERE k::int8 < 100;
CREATE TABLE im_two (a int, b int) PARTITION BY RANGE (a, b);
CREATE TABLE im_two_1 PARTITION OF im_two FOR VALUES FROM (0, 5) TO (3, 5) USING strata;
INSERT INTO im_two SELECT g / 10, g % 10 FROM generate_series(5, 34) g;
SELECT count(compress_chunk('im_two')) FROM (SELECT) s;
SELECT count(*) FROM im_two WHERE a < 3;
SELECT count(*) FROM im_two WHERE a <= 3 AND a >= 0;
-- partitions in partitions: the bounds of both levels
CREATE TABLE im_deep (k int, v int) PARTITION BY RANGE (k);
CREATE TABLE im_deep_1 PARTITION OF im_deep FOR VALUES FROM (MINVALUE) TO (100) PARTITION BY RANGE (v);
CREATE TABLE im_deep_11 PARTITION OF im_deep_1 FOR VALUES FROM (0) TO (50) USING strata;
CREATE TABLE im_deep_12 PARTITION OF im_deep_1 FOR VALUES FROM (50) TO (MAXVALUE) USING strata;
INSERT INTO im_deep SELECT g, g FROM generate_series(0, 99) g;
SELECT count(compress_chunk(c)) FROM unnest(ARRAY['im_deep_11', 'im_deep_12']::regclass[]) c;
SELECT count(*) FROM im_deep WHERE k < 100 AND v >= 50;
SELECT count(*) FROM im_deep WHERE k < 60 AND v < 200;
SELECT count(*) FROM im_deep WHERE k >= 0 AND v < 50;
DROP TABLE t, t_odd, t_heap, im_conditions, im_default, im_two, im_deep;
DROP SEQUENCE im_seq;
DROP FUNCTION im_rows, im_same, im_all;
