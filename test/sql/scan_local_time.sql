-- Local time compared with timestamptz: where clocks are set forward, later
-- local times are earlier times.  Batches are judged as rows are.
SET client_min_messages = error;
SET strata.batch_rows = 10;
SET TimeZone = 'Europe/Berlin';
CREATE ROLE scan_local_owner;
GRANT scan_local_owner TO CURRENT_USER;
CREATE SCHEMA scan_local AUTHORIZATION scan_local_owner;
SET ROLE scan_local_owner;
SET search_path = scan_local, public;

CREATE TABLE h (ts timestamp, d date, v int);
CREATE TABLE t (ts timestamp, d date, v int) USING strata;
CREATE TABLE by_ts (ts timestamp, d date, v int) USING strata;
ALTER TABLE t SET (strata.orderby = 'ts');
ALTER TABLE by_ts SET (strata.segmentby = 'ts', strata.orderby = 'v');
-- times that no clock shows are there too, as where local time is really UTC
INSERT INTO h SELECT timestamp '2024-03-30 20:00' + i * interval '5 min', date '2024-03-25' + i % 12, i
FROM generate_series(0, 200) i;
INSERT INTO t SELECT * FROM h;
INSERT INTO by_ts SELECT * FROM h;
SELECT count(compress_chunk(c)) FROM unnest('{t, by_ts}'::regclass[]) c;
-- rows in both halves
CREATE TABLE late AS SELECT ts, d, v + 1000 AS v FROM h WHERE v % 3 = 0;
INSERT INTO h SELECT * FROM late;
INSERT INTO t SELECT * FROM late;
INSERT INTO by_ts SELECT * FROM late;

-- rows that heap has and strata has not, or the other way round
CREATE FUNCTION different(condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    result bigint := 0;
    n bigint;
    name text;
BEGIN
    FOREACH name IN ARRAY '{t, by_ts}'::text[] LOOP
        EXECUTE format('SELECT count(*) FROM (SELECT * FROM h WHERE %1$s) a FULL JOIN (SELECT * FROM %2$I WHERE %1$s) b
            USING (ts, d, v) WHERE a IS NULL OR b IS NULL', condition, name) INTO n;
        result := result + n;
        EXECUTE format('SELECT count(*) - (SELECT count(*) FROM %2$I WHERE %1$s) FROM h WHERE %1$s', condition, name) INTO n;
        result := result + abs(n);
    END LOOP;
    RETURN result;
END $$;

SELECT op, sum(different(format('ts %s %L::timestamptz', op, x))) AS different,
    sum(different(format('NOT (%L::timestamptz %s ts)', x, op))) AS commuted
FROM unnest('{<,<=,=,<>,>=,>}'::text[]) op,
    generate_series(timestamptz '2024-03-30 22:00+00', '2024-03-31 06:00+00', '25 min') x
GROUP BY op ORDER BY op;
SELECT sum(different(format('ts = ANY (%L::timestamptz[])', ARRAY[x, x + interval '7 h']))) AS in_list,
    sum(different(format('ts <> ALL (%L::timestamptz[])', ARRAY[x, x + interval '5 min']))) AS not_in,
    sum(different(format('ts BETWEEN %L::timestamptz AND %L::timestamptz', x, x + interval '20 min'))) AS ranges,
    sum(different(format('d < %L::timestamptz', x))) AS dates
FROM generate_series(timestamptz '2024-03-30 22:00+00', '2024-03-31 06:00+00', '25 min') x;

-- 30 December 2011 was no day on Samoa
SET TimeZone = 'Pacific/Apia';
TRUNCATE h, t, by_ts;
INSERT INTO h SELECT timestamp '2011-12-28' + i * interval '1 h', date '2011-12-20' + i % 20, i FROM generate_series(0, 120) i;
INSERT INTO t SELECT * FROM h;
INSERT INTO by_ts SELECT * FROM h;
SELECT count(compress_chunk(c)) FROM unnest('{t, by_ts}'::regclass[]) c;
SELECT op, sum(different(format('ts %s %L::timestamptz', op, x))) AS different, sum(different(format('d %s %L::timestamptz', op, x))) AS dates
FROM unnest('{<,<=,=,<>,>=,>}'::text[]) op,
    generate_series(timestamptz '2011-12-28 20:00+00', '2012-01-01 00:00+00', '210 min') x
GROUP BY op ORDER BY op;

-- whole batches go only where all of their rows do
BEGIN;
DELETE FROM h WHERE ts < timestamptz '2011-12-30 12:00+00';
DELETE FROM t WHERE ts < timestamptz '2011-12-30 12:00+00';
DELETE FROM by_ts WHERE ts < timestamptz '2011-12-30 12:00+00';
SELECT different('true');
ROLLBACK;

-- parameters, and values of joins
PREPARE upto (timestamptz) AS SELECT (SELECT count(*) FROM h WHERE ts < $1) = (SELECT count(*) FROM t WHERE ts < $1) AS same,
    (SELECT max(ts) FROM h WHERE ts < $1) = (SELECT max(ts) FROM t WHERE ts < $1) AS same_max;
SET plan_cache_mode = force_generic_plan;
EXECUTE upto ('2011-12-30 12:00+00');
-- the zone of the session when it is executed
SET TimeZone = 'UTC';
EXECUTE upto ('2011-12-30 12:00+00');
SET TimeZone = 'Pacific/Apia';
SELECT count(*) FROM (SELECT x, (SELECT count(*) FROM h WHERE ts >= x) a, (SELECT count(*) FROM t WHERE ts >= x) b,
    (SELECT count(*) FROM by_ts WHERE ts = x) c, (SELECT count(*) FROM h WHERE ts = x) e
    FROM generate_series(timestamptz '2011-12-28 20:00+00', '2012-01-01 00:00+00', '1 h') x) q
WHERE a <> b OR c <> e;

-- one time, two segments: their rows come in order all the same
SELECT array_agg(v) FROM (SELECT v FROM by_ts WHERE ts = timestamptz '2011-12-31 00:00' ORDER BY v LIMIT 5) x;
SELECT array_agg(v) FROM (SELECT v FROM h WHERE ts = timestamptz '2011-12-31 00:00' ORDER BY v LIMIT 5) x;

RESET ROLE;
DROP SCHEMA scan_local CASCADE;
DROP ROLE scan_local_owner;
