-- What Zabbix sends to set up and use TimescaleDB, by way of the test stub.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET ROLE postgres;
CREATE EXTENSION timescaledb CASCADE;
RESET ROLE;
SELECT extname FROM pg_extension WHERE extname IN ('timescaledb', 'strata_timescale_compat') ORDER BY 1;
SELECT extversion::numeric(3, 1) >= 2.0 FROM (SELECT substring(extversion FROM '^\d+\.\d+') AS extversion FROM pg_extension WHERE extname = 'timescaledb') x;
CREATE TABLE history (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, value double precision DEFAULT '0.0000' NOT NULL,
	ns integer DEFAULT '0' NOT NULL, PRIMARY KEY (itemid, clock, ns));
CREATE TABLE trends (itemid bigint NOT NULL, clock integer DEFAULT '0' NOT NULL, num integer DEFAULT '0' NOT NULL,
	value_min double precision DEFAULT '0.0000' NOT NULL, value_avg double precision DEFAULT '0.0000' NOT NULL,
	value_max double precision DEFAULT '0.0000' NOT NULL, PRIMARY KEY (itemid, clock));
CREATE TABLE auditlog (auditid varchar(25) NOT NULL, username varchar(100) DEFAULT '' NOT NULL, clock integer DEFAULT '0' NOT NULL,
	details text DEFAULT '' NOT NULL, PRIMARY KEY (auditid));
CREATE INDEX auditlog_2 ON auditlog (clock);
INSERT INTO history SELECT g % 7, 1700000000 + g * 600, g, g FROM generate_series(1, 1000) g;
INSERT INTO auditlog SELECT 'cl' || lpad(g::text, 7, 'p0x0000') || '0001abcdefghijk', 'Admin', 1700000000 + g FROM generate_series(1, 30) g;

CREATE OR REPLACE FUNCTION base36_decode(IN base36 varchar) RETURNS bigint AS $$
DECLARE
	a char[];
	ret bigint;
	i int;
	val int;
	chars varchar;
BEGIN
	chars := '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';
	FOR i IN REVERSE char_length(base36)..1 LOOP
		a := a || substring(upper(base36) FROM i FOR 1)::char;
	END LOOP;
	i := 0;
	ret := 0;
	WHILE i < (array_length(a, 1)) LOOP
		val := position(a[i + 1] IN chars) - 1;
		ret := ret + (val * (36 ^ i));
		i := i + 1;
	END LOOP;
	RETURN ret;
END;
$$ LANGUAGE 'plpgsql' IMMUTABLE;
CREATE OR REPLACE FUNCTION cuid_timestamp(cuid varchar(25)) RETURNS integer AS $$
BEGIN
	RETURN CAST(base36_decode(substring(cuid FROM 2 FOR 8)) / 1000 AS integer);
END;
$$ LANGUAGE 'plpgsql' IMMUTABLE;
CREATE OR REPLACE FUNCTION zbx_ts_unix_now() RETURNS integer LANGUAGE sql STABLE AS $$ SELECT extract(epoch FROM now())::integer $$;

DO $$
BEGIN
	PERFORM create_hypertable('history', 'clock', chunk_time_interval => 86400, migrate_data => true, if_not_exists => true);
	PERFORM create_hypertable('trends', 'clock', chunk_time_interval => 2592000, migrate_data => true, if_not_exists => true);
	PERFORM create_hypertable('auditlog', 'auditid', chunk_time_interval => 604800, time_partitioning_func => 'cuid_timestamp',
		migrate_data => true, if_not_exists => true);
	PERFORM create_hypertable('history', 'clock', chunk_time_interval => 86400, migrate_data => true, if_not_exists => true);
END $$;
SELECT set_integer_now_func('history', 'zbx_ts_unix_now', true), set_integer_now_func('trends', 'zbx_ts_unix_now', true);
ALTER TABLE history SET (timescaledb.compress, timescaledb.compress_segmentby = 'itemid', timescaledb.compress_orderby = 'clock,ns');
ALTER TABLE trends SET (timescaledb.compress, timescaledb.compress_segmentby = 'itemid', timescaledb.compress_orderby = 'clock');
SELECT hypertable_name, num_chunks, compression_enabled FROM timescaledb_information.hypertables ORDER BY 1;
SELECT attname, segmentby_column_index, orderby_column_index, orderby_asc FROM timescaledb_information.compression_settings
	WHERE hypertable_name = 'history' ORDER BY segmentby_column_index, orderby_column_index;
SELECT * FROM timescaledb_information.hypertable_compression_settings ORDER BY 1::text;
SELECT hypertable_name, column_name, column_type, integer_interval FROM timescaledb_information.dimensions ORDER BY 1;
SELECT count(*), sum(value) FROM history;

-- the server writes and reads
INSERT INTO history (itemid, clock, ns, value) VALUES (1, 1800000000, 1, 5.5), (2, 1800000000, 2, 6.5), (2, 1900000000, 3, 7.5);
INSERT INTO trends (itemid, clock, num, value_min, value_avg, value_max) VALUES (1, 1799999200, 60, 1, 2, 3);
UPDATE trends SET num = 61, value_min = 0, value_avg = 2, value_max = 4 WHERE itemid = 1 AND clock = 1799999200;
INSERT INTO auditlog (auditid, username, clock) VALUES ('clzzzzzzz0001abcdefghijk', 'Admin', 1800000000);
INSERT INTO auditlog (auditid, username, clock) VALUES ('clzzzzzzz0001abcdefghijk', 'Admin', 1800000000);
SELECT compress_chunk(c) FROM show_chunks('history', older_than => 1700500000) c;
SELECT clock, ns, value FROM history WHERE itemid = 2 AND clock > 1799999999 ORDER BY clock DESC LIMIT 2;
SELECT count(*), avg(value) FROM history WHERE itemid = 3 AND clock BETWEEN 1700000000 AND 1700600000;
-- housekeeping
SELECT drop_chunks(relation => 'history', older_than => 1700100000);
SELECT min(clock) >= 1700092800 FROM history;
ALTER TABLE history SET (timescaledb.nothing = 1);
DROP TABLE history, trends, auditlog;
DROP FUNCTION cuid_timestamp, base36_decode, zbx_ts_unix_now;
SET ROLE postgres;
DROP EXTENSION strata_timescale_compat CASCADE;
RESET ROLE;
CREATE TABLE t (time timestamptz NOT NULL) WITH (tsdb.hypertable);
