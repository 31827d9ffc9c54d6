-- Lists of partitions made by us: what PostgreSQL writes into relpartbound, and
-- that the list is the one it would make.
SET client_min_messages = warning;
-- bounds of one table are written alike, but for values and locations
CREATE TABLE ppd (time timestamptz NOT NULL, v int);
SELECT created FROM create_hypertable('ppd', 'time', chunk_time_interval => interval '12 hours');
INSERT INTO ppd SELECT timestamptz '2024-01-01 00:00Z' + g * interval '6 hours', g FROM generate_series(0, 99) g;
SELECT count(*), count(DISTINCT regexp_replace(relpartbound::text, ':location -?[0-9]+|\[[^]]*\]', '', 'g')) AS forms
FROM pg_class JOIN pg_inherits ON inhrelid = oid WHERE inhparent = 'ppd'::regclass;
-- every row is found by its own time, and by no other's, in a new session, too
CREATE FUNCTION ppd_misses(tab regclass, col text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE r record; found bigint; missing bigint := 0;
BEGIN
    FOR r IN EXECUTE format('SELECT %I::text AS t, count(*) AS n FROM %s GROUP BY 1', col, tab) LOOP
        EXECUTE format('SELECT count(*) FROM %s WHERE %I = %L', tab, col, r.t) INTO found;
        missing := missing + abs(r.n - found);
    END LOOP;
    RETURN missing;
END $$;
SELECT ppd_misses('ppd', 'time');
\c -
SET client_min_messages = warning;
SELECT ppd_misses('ppd', 'time');
-- partitions that were there before, of other forms, and bounds without values
CREATE TABLE ppd_mixed (time timestamptz NOT NULL, v int) PARTITION BY RANGE (time);
CREATE TABLE ppd_before PARTITION OF ppd_mixed FOR VALUES FROM (MINVALUE) TO ('2023-01-01 00:00Z');
CREATE TABLE ppd_year PARTITION OF ppd_mixed FOR VALUES FROM ('2023-01-01 00:00Z') TO ('2024-01-01 00:00Z') PARTITION BY RANGE (v);
CREATE TABLE ppd_year_all PARTITION OF ppd_year FOR VALUES FROM (MINVALUE) TO (MAXVALUE);
SELECT created FROM create_hypertable('ppd_mixed', 'time', chunk_time_interval => interval '12 hours');
INSERT INTO ppd_mixed SELECT time, v FROM ppd UNION ALL SELECT time - interval '1 year', v FROM ppd UNION ALL SELECT '-infinity', 0;
SELECT ppd_misses('ppd_mixed', 'time'), count(*), count(DISTINCT tableoid) AS tables FROM ppd_mixed;
-- one that leaves, one that comes under another name, one that is dropped
ALTER TABLE ppd DETACH PARTITION ppd_20240102_000000_chunk;
SELECT count(*), ppd_misses('ppd', 'time') FROM ppd;
ALTER TABLE ppd ATTACH PARTITION ppd_20240102_000000_chunk FOR VALUES FROM ('2024-01-02 00:00Z') TO ('2024-01-02 12:00Z');
DROP TABLE ppd_20240103_000000_chunk;
SELECT count(*), ppd_misses('ppd', 'time') FROM ppd;
BEGIN;
INSERT INTO ppd SELECT timestamptz '2025-01-01 00:00Z' + g * interval '6 hours', g FROM generate_series(0, 9) g;
SELECT count(*), ppd_misses('ppd', 'time') FROM ppd;
ROLLBACK;
SELECT count(*), ppd_misses('ppd', 'time') FROM ppd;
-- keys of other types, by value and not
CREATE FUNCTION ppd_type(type text, length text, sample text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE missing bigint;
BEGIN
    EXECUTE format('CREATE TABLE ppd_t (k %s NOT NULL)', type);
    EXECUTE format('SELECT create_hypertable(''ppd_t'', ''k'', chunk_time_interval => %s)', length);
    EXECUTE format('INSERT INTO ppd_t SELECT %s FROM generate_series(-60, 60) g', sample);
    missing := ppd_misses('ppd_t', 'k');
    DROP TABLE ppd_t;
    RETURN missing;
END $$;
SELECT type, ppd_type(type, length, sample) FROM (VALUES
    ('smallint', '50', 'g * 20'), ('int', '5000000', 'g * 1000000'), ('bigint', '50000000000', 'g * 10000000000'),
    ('date', 'interval ''2 days''', 'date ''2000-01-01'' + g'),
    ('timestamp', 'interval ''1 day''', 'timestamp ''2000-01-01'' + g * interval ''7 hours'''),
    ('uuid', 'interval ''1 day''', 'to_uuidv7_boundary(timestamptz ''2024-01-01 00:00Z'' + g * interval ''7 hours'')')) x(type, length, sample);
DROP TABLE ppd, ppd_mixed;
DROP FUNCTION ppd_misses, ppd_type;
