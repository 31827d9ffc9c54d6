-- UUIDs of version 7 as time: functions, and hypertables by them.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
-- what TimescaleDB documents
SELECT to_uuidv7_boundary('2025-09-04 11:01+02'), uuid_timestamp('019913ce-f124-7835-96c7-a2df691caa98'), uuid_version('019913ce-f124-7835-96c7-a2df691caa98');
SELECT uuid_version(generate_uuidv7()), uuid_timestamp(generate_uuidv7()) BETWEEN now() - interval '1 s' AND clock_timestamp(), uuid_timestamp_micros(generate_uuidv7()) BETWEEN now() AND clock_timestamp(),
	count(DISTINCT to_uuidv7(ts)) FROM generate_series(timestamptz '2025-01-01', '2025-01-01 00:00:00.00001', '1 microsecond') ts, generate_series(1, 3) GROUP BY 1;
-- every microsecond comes back, UUIDs are in the order of times, and a boundary is the least of its time
SELECT count(*), count(*) FILTER (WHERE uuid_timestamp_micros(b) <> t), count(*) FILTER (WHERE uuid_timestamp_micros(r) <> t), count(*) FILTER (WHERE uuid_timestamp(r) <> date_trunc('milliseconds', t)),
	count(*) FILTER (WHERE r < b OR r >= next), count(*) FILTER (WHERE b >= next), count(*) FILTER (WHERE uuid_version(r) <> 7)
	FROM (SELECT t, to_uuidv7_boundary(t) AS b, to_uuidv7(t) AS r, to_uuidv7_boundary(t + interval '1 us') AS next FROM (
		SELECT timestamptz '1970-01-01' + i * interval '1 us' AS t FROM generate_series(0, 3000) i UNION ALL SELECT timestamptz '2026-11-22 01:02:03.9985' + i * interval '1 us' FROM generate_series(0, 3000) i
		UNION ALL SELECT timestamptz '1970-01-01' + i * interval '89 days 03:04:05.678901' FROM generate_series(0, 30000) i) t) s;
SELECT to_uuidv7_boundary('1970-01-01'), to_uuidv7_boundary('10889-08-02 05:31:50.655999+00'), uuid_timestamp_micros('ffffffff-ffff-7fff-bfff-ffffffffffff');
SELECT to_uuidv7_boundary('1969-12-31 23:59:59.999999+00');
SELECT to_uuidv7('10889-08-02 05:31:50.656+00');
SELECT to_uuidv7('infinity');
SELECT uuid_timestamp('f81d4fae-7dec-41d0-a765-00a0c91e6bf6');
SELECT uuid_timestamp_micros('00000000-0000-0000-0000-000000000000');
SELECT uuid_timestamp('019913ce-f124-7835-16c7-a2df691caa98');
SELECT uuid_timestamp(NULL), to_uuidv7(NULL), time_bucket('1 day', NULL::uuid), uuid_version(NULL);
SELECT time_bucket('1 hour', u), time_bucket('1 hour', u, timestamptz '2000-01-01 00:20+00'), time_bucket('1 hour', u, interval '10 min'),
	time_bucket('1 day', u, 'Europe/Berlin'), time_bucket('1 day', u, 'Europe/Berlin', "offset" => '1 hour') FROM to_uuidv7_boundary('2025-10-26 22:50+00') u;
SELECT time_bucket('1 hour', 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6'::uuid);
-- a hypertable, of an owner who is no superuser
CREATE ROLE uuid_owner;
GRANT uuid_owner TO CURRENT_USER;
CREATE SCHEMA uuid_schema AUTHORIZATION uuid_owner;
SET ROLE uuid_owner;
SET search_path = uuid_schema, public;
CREATE TABLE event (id uuid PRIMARY KEY, host int, v float8);
SELECT created FROM create_hypertable('event', by_range('id', interval '1 day'));
CREATE TABLE event_heap (LIKE event);
INSERT INTO event_heap SELECT to_uuidv7(t), i % 5, i FROM (SELECT t, row_number() OVER () AS i FROM generate_series(timestamptz '2026-03-01 00:00+00', '2026-03-06 23:59+00', '7 min') t) s;
INSERT INTO event SELECT * FROM event_heap WHERE host <> 3;
SELECT c.chunk_name, range_start, range_end, pg_get_expr(relpartbound, oid) FROM strata.chunks c JOIN pg_class ON relname = chunk_name ORDER BY range_start;
SELECT count(*) FROM event_heap h, strata.chunks c WHERE NOT EXISTS (SELECT FROM event e WHERE e.id = h.id AND e.tableoid = (quote_ident(c.chunk_schema) || '.' || quote_ident(c.chunk_name))::regclass)
	AND uuid_timestamp_micros(h.id) >= range_start AND uuid_timestamp_micros(h.id) < range_end AND host <> 3;
ALTER TABLE event SET (strata.segmentby = 'host', strata.orderby = 'id DESC');
SELECT count(compress_chunk(c)) FROM show_chunks('event', older_than => timestamptz '2026-03-05') c;
INSERT INTO event SELECT * FROM event_heap WHERE host = 3;
CREATE FUNCTION same(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE a text; b text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, chr(10)) FROM (%s) q', format(query, 'event')) INTO a;
	EXECUTE format('SELECT string_agg(q::text, chr(10)) FROM (%s) q', format(query, 'event_heap')) INTO b;
	RETURN CASE WHEN a IS NOT DISTINCT FROM b AND a IS NOT NULL THEN 'same' ELSE query || ': ' || coalesce(a, 'NULL') || ' instead of ' || coalesce(b, 'NULL') END;
END $$;
SELECT same(q) FROM unnest(ARRAY['SELECT count(*), sum(v), min(id::text), max(id::text) FROM %s', 'SELECT * FROM %s ORDER BY id', 'SELECT * FROM %s ORDER BY id DESC LIMIT 7',
	'SELECT host, * FROM %s WHERE host IN (2, 3) ORDER BY host, id DESC', 'SELECT time_bucket(''6 hours'', id) AS b, count(*), avg(v) FROM %s GROUP BY 1 ORDER BY 1',
	'SELECT time_bucket(''1 day'', id, ''Asia/Kolkata'') AS b, host, count(*), avg(v) FROM %s GROUP BY 1, 2 ORDER BY 1, 2',
	'SELECT count(*), sum(v) FROM %s WHERE id >= to_uuidv7_boundary(''2026-03-02 12:00+00'') AND id < to_uuidv7_boundary(''2026-03-04 18:00+00'')',
	'SELECT count(*) FROM %s WHERE uuid_timestamp(id) >= ''2026-03-02 12:00+00''', 'SELECT count(*) FROM %s WHERE time_bucket(''1 day'', id) = ''2026-03-03 00:00+00''',
	'SELECT count(*) FROM %s WHERE id > to_uuidv7_boundary(now() - interval ''20 years'')',
	'SELECT DISTINCT ON (host) host, v FROM %s ORDER BY host, id DESC', 'SELECT * FROM %s WHERE id = (SELECT id FROM event_heap WHERE v = 77)',
	'SELECT count(*) FROM %s e JOIN event_heap h USING (id)', 'SELECT last(v, uuid_timestamp_micros(id)), first(v, uuid_timestamp_micros(id)) FROM %s']) q;
-- equal keys, changes, a row that goes to another chunk
\set VERBOSITY terse
INSERT INTO event SELECT * FROM event_heap WHERE v = 77;
\set VERBOSITY default
INSERT INTO event SELECT id, host, -v FROM event_heap WHERE v IN (77, 3) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
SELECT sum(v) FROM event WHERE v < 0;
UPDATE event SET id = to_uuidv7_boundary('2026-03-20 00:00+00') WHERE v = -77;
DELETE FROM event WHERE id < to_uuidv7_boundary('2026-03-02 00:00+00');
SELECT count(*), count(*) FILTER (WHERE v < 0), (SELECT count(*) FROM show_chunks('event')) AS chunks FROM event;
-- what is no time
INSERT INTO event VALUES ('f81d4fae-7dec-41d0-a765-00a0c91e6bf6', 1, 1);
INSERT INTO event SELECT gen_random_uuid(), 1, 1;
INSERT INTO event VALUES ('019c9f0a-0000-4000-8000-000000000000', 1, 1);
UPDATE event SET id = 'f81d4fae-7dec-41d0-a765-00a0c91e6bf6' WHERE v = -77;
COPY event FROM stdin;
019c9f0a-0000-7000-8000-000000000000	1	1
019c9f0a-0000-4000-8000-000000000000	1	1
\.
SELECT count(*) FROM event WHERE uuid_version(id) <> 7;
-- chunks: names, arguments, ahead, at a point, sizes
SELECT count(*) FROM show_chunks('event', older_than => date '2026-03-04');
SELECT count(*) FROM show_chunks('event', newer_than => to_uuidv7_boundary('2026-03-05'));
SELECT drop_chunks('event', older_than => timestamptz '2026-03-03 00:00+00');
SELECT drop_chunks('event', older_than => 7);
SELECT count(*) FROM event;
SELECT set_chunk_time_interval('event', interval '1 hour');
INSERT INTO event VALUES (to_uuidv7_boundary('2026-04-01 05:30+00'), 1, 1), (to_uuidv7_boundary('1970-01-01'), 1, 2), ('ffffffff-ffff-7fff-bfff-ffffffffffff', 1, 3);
SELECT range_start, range_end FROM strata.chunks WHERE range_start < '1971-01-01' OR range_start > '2026-03-31' ORDER BY 1;
SELECT set_chunk_time_interval('event', interval '36 hours 5 us');
INSERT INTO event SELECT to_uuidv7(timestamptz '2027-01-01' + i * interval '1 hour'), 1, i FROM generate_series(1, 100) i;
SELECT count(*) FROM event e, strata.chunks c WHERE e.tableoid = (quote_ident(c.chunk_schema) || '.' || quote_ident(c.chunk_name))::regclass AND NOT (uuid_timestamp_micros(id) >= range_start AND uuid_timestamp_micros(id) < range_end);
SELECT column_name, column_type, time_interval FROM strata.dimensions;
SELECT add_retention_policy('event', interval '1 year') > 0 AS retention, add_compression_policy('event', interval '1 day') > 0 AS compression;
SELECT count(*) FROM show_chunks('event', older_than => interval '50 years');
DROP TABLE event;
-- made WITH, with rows, by number
CREATE TABLE event (id uuid NOT NULL DEFAULT generate_uuidv7(), v int) WITH (strata.hypertable, strata.partition_column = 'id', strata.chunk_interval = '1 hour');
INSERT INTO event (v) SELECT generate_series(1, 10);
SELECT count(*), bool_and(uuid_timestamp(id) > now() - interval '1 minute') FROM event;
SET client_min_messages = warning;
SELECT compress_chunk(c) IS NOT NULL AS compressed FROM show_chunks('event') c LIMIT 1;
SELECT count(*), sum(v) FROM event WHERE id >= to_uuidv7_boundary(now() - interval '1 hour');
CREATE TABLE moved (id uuid, v int);
INSERT INTO moved SELECT to_uuidv7(t), 1 FROM generate_series(timestamptz '2026-01-01', '2026-01-30', '1 day') t;
SELECT created FROM create_hypertable('moved', 'id', migrate_data => true);
SELECT count(DISTINCT tableoid), count(*) FROM moved;
CREATE TABLE wrong (id uuid, v int);
INSERT INTO wrong VALUES (to_uuidv7(now()), 1), ('f81d4fae-7dec-41d0-a765-00a0c91e6bf6', 1);
SELECT created FROM create_hypertable('wrong', 'id', migrate_data => true);
DROP TABLE event, event_heap, moved, wrong;
DROP FUNCTION same;
RESET ROLE;
DROP SCHEMA uuid_schema;
DROP ROLE uuid_owner;
