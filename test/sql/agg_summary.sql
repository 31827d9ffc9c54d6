-- Whole batches by what is stored of them: sums, beside counts, minima and
-- maxima; of batches, whole and not.
SET client_min_messages = error;
CREATE SCHEMA agg_summary;
SET search_path = agg_summary, public;
SET timezone = 'UTC';
SET extra_float_digits = 3;
SET max_parallel_workers_per_gather = 0;
SET strata.batch_rows = 100;

CREATE DOMAIN small AS int2;
CREATE TABLE s (
    id int, ts timestamptz NOT NULL, host text, i2 int2, i4 int4, i8 int8, big int8, f4 float4, f8 float8,
    odd float8, z float8, m money, d date, num numeric, dom small, o oid, gone int8
) USING strata;
ALTER TABLE s SET (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE TABLE h (LIKE s) USING heap;
-- quarters add up exactly in every order; in odd there are batches with NaN, infinities, both, zeros of
-- both signs, values whose squares or sums overflow, nulls only
CREATE FUNCTION make(first int, last int) RETURNS SETOF h LANGUAGE sql AS $$
    SELECT i, '2024-01-01'::timestamptz + i * interval '1 min', 'h' || i % 3,
        (CASE WHEN i % 7 <> 0 THEN i % 32000 - 16000 END)::int2, CASE WHEN i % 11 <> 0 THEN i * 7919 - 500000 END,
        CASE WHEN i % 13 <> 0 THEN i::int8 * 2305843009 END,
        CASE i % 3 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 + i ELSE i END,
        CASE WHEN i % 17 <> 0 THEN i * 0.25 END, CASE WHEN i % 19 <> 0 THEN i * -0.75 END,
        CASE i % 3 WHEN 0 THEN
            CASE i / 300 % 10 WHEN 0 THEN 'NaN' WHEN 1 THEN 'infinity' WHEN 2 THEN '-infinity'
                WHEN 3 THEN CASE WHEN i % 2 = 0 THEN 'NaN'::float8 ELSE 7 END
                WHEN 4 THEN NULL WHEN 5 THEN '-0'::float8 WHEN 6 THEN 0 ELSE 1 END
            ELSE i % 100 END,
        '-0'::float8, i::money, '2024-01-01'::date + i % 90, i / 10.0, (i % 100)::int2, i::oid, i
    FROM generate_series(first, last) AS i
$$;
-- what each query gives on the one table and not on the other
CREATE FUNCTION run(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT string_agg(q::text, E''\n'' ORDER BY q::text COLLATE "C") FROM (%s) AS q', query) INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TABLE lists (list text);
INSERT INTO lists VALUES ('count(*), count(i2), count(i4), count(odd), count(num)'),
    ('sum(i2), sum(i4), sum(i8), sum(big), sum(dom)'), ('avg(i2), avg(i4), avg(i8), avg(big), avg(dom)'),
    ('sum(f4), sum(f8), avg(f4), avg(f8), sum(f4::float8)'), ('sum(odd), avg(odd), min(odd), max(odd)'),
    ('sum(z), avg(z), min(z), max(z)'), ('sum(m), max(m), min(d), max(d), sum(num), avg(num)'),
    ('sum(i4) + sum(i2) - count(*), avg(f8) * 2, sum(i4) FILTER (WHERE i2 > 0), sum(i4 + 1), sum(o::int8)'),
    ('stddev(i4), round(stddev(f8)::numeric, 6), variance(i2)'), ('sum(gone), avg(gone)');
CREATE FUNCTION differences() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT query || E'\n' || coalesce(run(replace(query, 'FROM t', 'FROM s')), 'NULL') || E'\n' ||
        coalesce(run(replace(query, 'FROM t', 'FROM h')), 'NULL')
    FROM (SELECT format('SELECT %s%s FROM t WHERE %s%s', key || ', ', list, cond, ' GROUP BY ' || key) AS query
          FROM lists, (VALUES (NULL), ('host'), ('date_trunc(''hour'', ts)'), ('host, date_trunc(''month'', ts)')) AS k (key),
              (VALUES ('true'), ('host = ''h0'''), ('ts >= ''2024-01-02'' AND ts < ''2024-01-03'''), ('i4 > 0'), ('id > 2000')) AS w (cond)) AS q
    WHERE run(replace(query, 'FROM t', 'FROM s')) IS DISTINCT FROM run(replace(query, 'FROM t', 'FROM h'))
$$;

INSERT INTO s SELECT * FROM make(1, 3000);
INSERT INTO h SELECT * FROM make(1, 3000);
SELECT compress_chunk('s');
SELECT count(*) FROM strata.batches('s');
VACUUM ANALYZE s, h;
SELECT * FROM differences();
SELECT * FROM strata.verify('s');
-- batches alone, beside rows, and batches that have lost rows
INSERT INTO s SELECT * FROM make(3001, 3100);
INSERT INTO h SELECT * FROM make(3001, 3100);
SELECT * FROM differences();
UPDATE s SET i4 = -i4, f8 = f8 + 0.5, odd = 3 WHERE id % 500 = 1;
UPDATE h SET i4 = -i4, f8 = f8 + 0.5, odd = 3 WHERE id % 500 = 1;
DELETE FROM s WHERE id % 700 = 2;
DELETE FROM h WHERE id % 700 = 2;
SELECT * FROM differences();
-- a snapshot from before a change goes on without it
CREATE TABLE before AS SELECT sum(i4), avg(f8), count(*) FROM s;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT (SELECT (sum(i4), avg(f8), count(*)) FROM s) = (SELECT (sum, avg, count) FROM before) AS same;
DELETE FROM s WHERE id BETWEEN 1000 AND 1002;
SELECT (SELECT count(*) FROM s) = (SELECT count FROM before) - 3 AS fewer;
ROLLBACK;
SELECT (SELECT (sum(i4), avg(f8), count(*)) FROM s) = (SELECT (sum, avg, count) FROM before) AS same;
-- a column that another was, types that changed without and with a rewrite, columns that came later
ALTER TABLE s DROP COLUMN gone, ADD COLUMN later int DEFAULT 7, ALTER o TYPE int4, ALTER i4 TYPE oid USING i4::oid;
ALTER TABLE h DROP COLUMN gone, ADD COLUMN later int DEFAULT 7, ALTER o TYPE int4, ALTER i4 TYPE oid USING i4::oid;
ALTER TABLE s ALTER i4 TYPE int4 USING i4::int4, ALTER i2 TYPE int8;
ALTER TABLE h ALTER i4 TYPE int4 USING i4::int4, ALTER i2 TYPE int8;
DELETE FROM lists WHERE list LIKE '%gone%';
INSERT INTO lists VALUES ('sum(later), avg(later), min(later), sum(o), avg(o), min(o), sum(i2), avg(i2)');
SELECT * FROM differences();
-- sums that overflow, and those that only adding one by one makes overflow, are raised alike
CREATE TABLE o (id int, x float8) USING strata WITH (strata.orderby = 'id');
INSERT INTO o SELECT i, 1.5e308 FROM generate_series(1, 150) i;
SELECT compress_chunk('o');
SELECT sum(x) FROM o;
SELECT avg(x) FROM o;
TRUNCATE o;
INSERT INTO o SELECT i, 1e306 FROM generate_series(1, 400) i;
SELECT compress_chunk('o');
SELECT sum(x) FROM o;
SELECT avg(x) FROM o;
SELECT sum(x) < 1.1e308 FROM o WHERE id <= 100;
SELECT avg(x) FROM o WHERE id <= 100;
-- tenths do not add up exactly: batches are added as such
TRUNCATE o;
INSERT INTO o SELECT i, i / 10.0 FROM generate_series(1, 1000) i;
SELECT compress_chunk('o');
SELECT abs(sum(x) - 50050) < 1e-8 AS sum, abs(avg(x) - 50.05) < 1e-10 AS avg FROM o;

-- the bytes of a summary, as docs/format.md has them
CREATE TABLE g (ts timestamp, host text, i2 int2, i4 int4, i8 int8, f4 float4, f8 float8, nan float8, inf float8, b bool, txt text, none int4, wide int8)
    USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts');
INSERT INTO g SELECT '2024-01-01'::timestamp + i * interval '1 s', 'x', -i, i * 1000, nullif(i, 3), i * 0.5, i * 0.1, 'NaN',
    CASE i WHEN 1 THEN 'infinity'::float8 ELSE 0 END, i = 1, 'y', NULL, 9223372036854775807 FROM generate_series(1, 200) i;
SELECT compress_chunk('g');
SELECT strata.batch_relation('g') AS companion \gset
SET ROLE postgres;
SELECT first_row, substr(summary, 1, 1) AS version, substr(summary, 6) AS entries FROM :companion WHERE first_row >= 0 ORDER BY 1;
RESET ROLE;
CREATE VIEW sums AS SELECT sum(i2) AS i2, sum(i4) AS i4, sum(i8) AS i8, sum(f4) AS f4, sum(f8) BETWEEN 2009.999999 AND 2010.000001 AS f8,
    sum(nan) AS nan, sum(inf) AS inf, sum(none) AS none, sum(wide) AS wide FROM g;
SELECT * FROM sums;
SELECT count(*) FROM strata.verify('g');

CREATE FUNCTION little(bytes bytea, size int) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT string_agg(CASE WHEN i < length(bytes) THEN substr(bytes, length(bytes) - i, 1) ELSE '\x00' END, '' ORDER BY i)
    FROM generate_series(0, size - 1) i
$$;
CREATE FUNCTION summary_crc32c(bytes bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    crc bigint := 4294967295;
BEGIN
    FOR i IN 0 .. length(bytes) - 1 LOOP
        crc := crc # get_byte(bytes, i);
        FOR bit IN 1 .. 8 LOOP
            crc := (crc >> 1) # (CASE WHEN crc & 1 = 1 THEN 2197175160 ELSE 0 END);
        END LOOP;
    END LOOP;
    RETURN little(int8send(crc # 4294967295), 4);
END $$;
-- a summary of a batch of g with its checksum
CREATE FUNCTION seal(companion oid, first_row int8, nrows int, layout text, seg text, min timestamp, max timestamp, span int2, summary bytea) RETURNS bytea LANGUAGE sql AS $$
    SELECT substr(summary, 1, 1) || summary_crc32c(little(int8send(companion::int8), 8) || decode('0000000001000000000001' || repeat('00', 11), 'hex') ||
        little(int8send(first_row), 8) || little(int4send(nrows), 8) || little(int4send(length(layout)), 4) || layout::bytea ||
        little(int4send(length(seg)), 4) || seg::bytea || little(timestamp_send(min), 8) || little(timestamp_send(max), 8) || little(int2send(span), 8) ||
        substr(summary, 1, 1) || substr(summary, 6)) || substr(summary, 6)
$$;
CREATE PROCEDURE seal(companion regclass) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('UPDATE %s SET summary = seal(tableoid, first_row, nrows, layout, seg_2, min_1, max_1, span_1, summary) WHERE first_row >= 0', companion);
END $$;
-- a sum that is none
SET ROLE postgres;
UPDATE :companion SET summary = set_byte(summary, position('\x030500'::bytea in summary) + 8, 117) WHERE first_row = 0;
CALL seal(:'companion');
RESET ROLE;
SELECT * FROM strata.verify('g');
-- flags that there are none of, and other versions
SET ROLE postgres;
UPDATE :companion SET summary = set_byte(summary, 7, get_byte(summary, 7) | 16) WHERE first_row = 0;
RESET ROLE;
SELECT * FROM sums;     -- the checksum is wrong
SET ROLE postgres;
CALL seal(:'companion');
RESET ROLE;
SELECT * FROM strata.verify('g');
SET ROLE postgres;
UPDATE :companion SET summary = set_byte(set_byte(summary, 7, get_byte(summary, 7) & 15), 0, 2) WHERE first_row = 0;
CALL seal(:'companion');
RESET ROLE;
SELECT * FROM sums;

-- of a column that is taken for another type, summaries and the order of batches are its own
CREATE TABLE relabeled (ts timestamptz NOT NULL, k int, o oid, i int, vc varchar, v int) USING strata;
CREATE TABLE relabeled_h (LIKE relabeled) USING heap;
INSERT INTO relabeled_h SELECT timestamptz '2024-01-01Z' + x * interval '10 s', x % 4, (CASE x % 3 WHEN 0 THEN x WHEN 1 THEN 2147483647 - x ELSE 2147483648 + x END)::oid,
    CASE x % 3 WHEN 0 THEN x WHEN 1 THEN -x ELSE NULLIF(x % 5, 0) END, 'v' || x % 10, x FROM generate_series(1, 3000) AS x;
DO $$
DECLARE
    query text; orderby text; got text; expected text;
BEGIN
    FOREACH orderby IN ARRAY ARRAY['o', 'o DESC', 'i', 'vc, ts'] LOOP
        TRUNCATE relabeled;
        EXECUTE format('ALTER TABLE relabeled SET (strata.segmentby = ''k'', strata.orderby = %L)', orderby);
        INSERT INTO relabeled SELECT * FROM relabeled_h WHERE v % 50 <> 7;
        PERFORM compress_chunk('relabeled');
        INSERT INTO relabeled SELECT * FROM relabeled_h WHERE v % 50 = 7;
        FOR query IN SELECT format('SELECT %s FROM TAB WHERE %s', list, cond)
            FROM unnest(ARRAY['max(o::int), min(o::int)', 'max(o::int), min(o::int), max(o), min(o)', 'sum(o::int), count(o::int), avg(o::int)', 'last(v, o::int), first(v, o::int)', 'last(v, o::int), max(o::int)', 'max(i::oid), min(i::oid), max(i), min(i)',
                'max(i::oid::int), sum(i)', 'max(vc), min(vc::text), count(DISTINCT vc::text), max(vc::bpchar)', 'count(DISTINCT o::int), count(DISTINCT o)', 'percentile_disc(0.2) WITHIN GROUP (ORDER BY o::int), percentile_disc(0.2) WITHIN GROUP (ORDER BY o)']) AS list,
                unnest(ARRAY['true', 'o::int < 0', 'i::oid > 3000000000', 'v > 40 AND o::int <> 7', 'i::oid IN (4294967295, 2)', 'vc::text COLLATE "C" < ''v5''']) AS cond
        LOOP
            EXECUTE format('SELECT t::text FROM (%s) AS t', replace(query, 'TAB', 'relabeled')) INTO got;
            EXECUTE format('SELECT t::text FROM (%s) AS t', replace(query, 'TAB', 'relabeled_h')) INTO expected;
            IF got IS DISTINCT FROM expected THEN
                RAISE EXCEPTION E'by %: %\n%\n%', orderby, query, got, expected;
            END IF;
        END LOOP;
    END LOOP;
END $$;

DROP SCHEMA agg_summary CASCADE;
