-- Chunks of calendar months: they begin on the first of a month, in UTC.
SET timezone = 'America/New_York';
SET client_min_messages = warning;
CREATE FUNCTION bounds(text) RETURNS TABLE (chunk name, bound text) LANGUAGE sql SET timezone = 'UTC' AS $$
	SELECT relname, replace(pg_get_expr(relpartbound, oid), 'FOR VALUES ', '') FROM pg_class JOIN pg_inherits ON inhrelid = oid
		WHERE inhparent = $1::regclass ORDER BY pg_get_expr(relpartbound, oid) ~ 'MINVALUE' DESC, relname $$;
CREATE TABLE m (ts timestamptz NOT NULL, host int, v float8);
SELECT created FROM create_hypertable('m', 'ts', chunk_time_interval => interval '1 month');
INSERT INTO m SELECT ts, 1, 1 FROM generate_series('2023-11-15 12:00+00'::timestamptz, '2024-03-20', '12 hours') ts;
INSERT INTO m VALUES ('2024-02-29 23:59:59.999999+00', 2, 2), ('2024-03-01 00:00+00', 2, 3), ('1970-01-31 00:00+00', 3, 4), ('1969-12-31 23:59:59.999999+00', 3, 5),
	('0001-02-28 00:00+00 BC', 4, 6), ('2000-02-29 00:00+00', 4, 7);
SELECT * FROM bounds('m');
SELECT column_name, time_interval, integer_interval FROM strata.dimensions WHERE hypertable_name = 'm';
SELECT option FROM (SELECT unnest(reloptions) AS option FROM pg_class WHERE oid = 'm'::regclass) o WHERE option ~ 'chunk_interval';
-- the ends of time
INSERT INTO m VALUES ('infinity', 5, 8), ('-infinity', 5, 9), ('294276-12-31 23:59+00', 5, 10), ('4714-11-24 00:00+00 BC', 5, 11);
SELECT bound FROM bounds('m') WHERE bound ~ 'MINVALUE|MAXVALUE';
SELECT tableoid::regclass, count(*) FROM m WHERE host = 5 GROUP BY 1 ORDER BY 1::text;
-- other lengths, both ways: new chunks are cut where there are some, none overlap
SELECT set_chunk_time_interval('m', interval '3 months');
INSERT INTO m VALUES ('2024-04-01 00:00+00', 6, 12), ('2023-10-20 00:00+00', 6, 13), ('2024-09-30 12:00+00', 6, 14);
SELECT set_chunk_time_interval('m', interval '12 hours');
INSERT INTO m VALUES ('2024-10-20 13:00+00', 6, 15);
SELECT set_chunk_time_interval('m', interval '1 year');
INSERT INTO m VALUES ('2024-11-20 13:00+00', 6, 16), ('2024-10-01 13:00+00', 6, 17), ('2022-01-01 00:00+00', 6, 18);
SELECT set_chunk_time_interval('m', interval '1 month');
INSERT INTO m VALUES ('2025-02-28 13:00+00', 6, 19);
SELECT * FROM bounds('m') WHERE chunk ~ '202[2-5]';
SELECT column_name, time_interval, integer_interval FROM strata.dimensions WHERE hypertable_name = 'm';
-- months and days are a length: a month of 30 days
SELECT set_chunk_time_interval('m', interval '1 month 1 day');
SELECT column_name, time_interval, integer_interval FROM strata.dimensions WHERE hypertable_name = 'm';
SELECT set_chunk_time_interval('m', interval '-1 month');
SELECT set_chunk_time_interval('m', interval '12000000 months');
-- compressed and queried as others
SELECT count(compress_chunk(c)) FROM show_chunks('m') c WHERE c::text ~ '2024';
SELECT count(*), sum(v) FROM m WHERE ts >= '2024-02-01 00:00+00' AND ts < '2024-03-01 00:00+00';
SELECT count(*) FROM drop_chunks('m', older_than => '2024-03-15 00:00+00'::timestamptz);
SELECT min(ts) AT TIME ZONE 'UTC' FROM m;
-- dates, timestamps, uuids; not integers
CREATE TABLE d (t date NOT NULL, v int);
SELECT created FROM create_hypertable('d', 't', chunk_time_interval => interval '3 months');
INSERT INTO d VALUES ('2024-01-01', 1), ('2024-03-31', 2), ('2024-04-01', 3), ('1999-12-31', 4), ('1960-02-29', 5), ('infinity', 6), ('-infinity', 7);
SELECT * FROM bounds('d');
CREATE TABLE t (t timestamp NOT NULL, v int);
SELECT created FROM create_hypertable('t', 't', chunk_time_interval => interval '1 year');
INSERT INTO t VALUES ('2024-12-31 23:59:59', 1), ('2025-01-01', 2), ('1999-12-31', 3);
SELECT * FROM bounds('t');
CREATE TABLE u (t uuid NOT NULL, v int) WITH (strata.hypertable, strata.partition_column = 't', strata.chunk_interval = '1 month');
INSERT INTO u VALUES (to_uuidv7_boundary('2024-02-29 23:59+00'), 1), (to_uuidv7_boundary('2024-03-01 00:00+00'), 2);
SELECT chunk FROM bounds('u');
CREATE TABLE i (t bigint NOT NULL);
SELECT created FROM create_hypertable('i', 't', chunk_time_interval => interval '1 month');
-- chunks made ahead, and the tablespaces' turn
CREATE TABLE a (ts timestamptz NOT NULL);
SELECT created FROM create_hypertable('a', 'ts', chunk_time_interval => interval '1 month');
SELECT create_chunks('a', '2024-01-31 00:00+00'::timestamptz, '2024-05-01 00:00+00'::timestamptz);
SELECT * FROM bounds('a');
SELECT set_config('strata.chunks_ahead', '3', false);
-- policies that look at the length
CALL add_columnstore_policy('a', after => interval '2 months');
SELECT schedule_interval FROM strata.jobs WHERE hypertable_name = 'a';
-- convert(): monthly partitions go on monthly
CREATE TABLE n (ts timestamptz NOT NULL, v int) PARTITION BY RANGE (ts);
CREATE TABLE n1 PARTITION OF n FOR VALUES FROM ('2024-01-01 00:00+00') TO ('2024-02-01 00:00+00');
CREATE TABLE n2 PARTITION OF n FOR VALUES FROM ('2024-02-01 00:00+00') TO ('2024-03-01 00:00+00');
INSERT INTO n VALUES ('2024-01-10', 1);
CALL strata.convert('n', compress => false);
INSERT INTO n VALUES ('2024-03-10', 1), ('2024-04-10', 1);
SELECT * FROM bounds('n');
-- a table of rows, moved
CREATE TABLE r (ts timestamptz NOT NULL);
INSERT INTO r VALUES ('2024-01-31 23:00+00'), ('2024-02-01 00:00+00'), ('2024-02-29 23:00+00');
SELECT created FROM create_hypertable('r', 'ts', chunk_time_interval => interval '1 month', migrate_data => true);
SELECT * FROM bounds('r');
DROP TABLE m, d, t, u, i, a, n, r;
DROP FUNCTION bounds(text);
