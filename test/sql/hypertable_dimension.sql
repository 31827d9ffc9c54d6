-- Dimensions beside time: taken, shown, kept in step; they make no partitions (docs/adr/023).
SET timezone = 'UTC';
SET datestyle = 'ISO';
CREATE ROLE hypertable_dim_owner;
CREATE ROLE hypertable_dim_other;
GRANT hypertable_dim_owner, hypertable_dim_other TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO hypertable_dim_owner;
SET ROLE hypertable_dim_owner;
CREATE TABLE d (time timestamptz NOT NULL, device text, site int, seen timestamptz, v float8, p point);
SELECT schema_name, table_name, created FROM create_hypertable('d', 'time', 'device', 2);
INSERT INTO d SELECT timestamptz '2026-01-01' + g * interval '15 minutes', 'd' || g % 7, g % 3, now(), g FROM generate_series(0, 4799) g;
SELECT count(compress_chunk(c)) FROM (SELECT c FROM show_chunks('d') c LIMIT 4) c;
-- as many chunks as time has, no key needs the column, and rows of both halves are found by it
SELECT count(*) FROM show_chunks('d');
CREATE UNIQUE INDEX ON d (time);
SELECT count(*), sum(v) FROM d WHERE device = 'd3';
ALTER TABLE d SET (strata.segmentby = 'device');
SELECT * FROM add_dimension('d', 'site', 4);
SELECT * FROM add_dimension('d', by_hash('site', 4));
SELECT * FROM add_dimension('d', by_hash('site', 4), if_not_exists => true);
SELECT dimension_id, column_name, created FROM add_dimension('d', 'time', 4, if_not_exists => true);
SELECT * FROM add_dimension('d', by_range('seen', interval '1 month'));
SELECT dimension_number, column_name, column_type, dimension_type, time_interval, integer_interval, num_partitions
	FROM strata.dimensions WHERE hypertable_name = 'd' ORDER BY 1;
SELECT num_dimensions FROM strata.hypertables WHERE hypertable_name = 'd';
-- refused
SELECT add_dimension('d', 'nothing', 2);
SELECT add_dimension('d', 'v', 0);
SELECT add_dimension('d', 'v', 32768);
SELECT add_dimension('d', 'p', 2);
SELECT add_dimension('d', 'tableoid', 2);
SELECT add_dimension('d', by_range('device', 10));
SELECT add_dimension('d', by_hash('v', NULL));
SELECT add_dimension('d', 'v');
SELECT add_dimension('d', 'v', 2, 10);
SELECT set_number_partitions('d', 3);
SELECT set_number_partitions('d', 3, 'seen');
SELECT set_number_partitions('d', 0, 'site');
SELECT set_chunk_time_interval('d', interval '1 day', 'site');
SELECT create_hypertable('d', 'time', 'device', 2);
ALTER TABLE d SET (strata.dimensions = 'hash(device)');
ALTER TABLE d SET (strata.dimensions = 'hash(nothing, 2)');
ALTER TABLE d SET (strata.dimensions = 'hash(site, 2), hash(site, 3)');
ALTER TABLE d SET (strata.dimensions = 'hash(site, 2); DROP TABLE d');
ALTER TABLE d SET (strata.dimensions = 'hash((SELECT 1), 2)');
ALTER TABLE d SET (strata.dimensions = 'range(seen, ''soon'')');
ALTER TABLE d SET (strata.dimensions = 'range(seen, 9999999999999999999)');
CREATE TABLE plain (a int) USING strata;
ALTER TABLE plain SET (strata.dimensions = 'hash(a, 2)');
DROP TABLE plain;
SELECT dimension_number, column_name, num_partitions FROM strata.dimensions WHERE hypertable_name = 'd' ORDER BY 1;
-- changed, renamed, dropped
SELECT set_number_partitions('d', 3, 'site');
SELECT set_chunk_time_interval('d', interval '2 days', 'seen');
SELECT set_partitioning_interval('d', interval '3 days', 'time');
ALTER TABLE d RENAME site TO "Site, no";
ALTER TABLE d DROP COLUMN device;
ALTER TABLE d ALTER seen TYPE bigint USING extract(epoch FROM seen);
SELECT dimension_number, column_name, dimension_type, time_interval, num_partitions
	FROM strata.dimensions WHERE hypertable_name = 'd' ORDER BY 1;
SELECT option FROM (SELECT unnest(reloptions) AS option FROM pg_class WHERE oid = 'd'::regclass) o WHERE option LIKE 'strata.dim%';
-- a length of their own where nobody gives one
CREATE TABLE i (t smallint NOT NULL, u bigint, w date);
SELECT created FROM create_hypertable('i', by_range('t'));
SELECT created FROM add_dimension('i', by_range('u'));
SELECT created FROM add_dimension('i', by_range('w'));
SELECT column_name, time_interval, integer_interval FROM strata.dimensions WHERE hypertable_name = 'i' ORDER BY dimension_number;
-- the time column may be what to segment by; an order that somebody gave stays
ALTER TABLE i SET (strata.segmentby = 't');
SELECT attname, segmentby_column_index, orderby_column_index FROM strata.compression_settings WHERE hypertable_name = 'i';
CREATE TABLE ids (id uuid NOT NULL, v int);
SELECT created FROM create_hypertable('ids', by_range('id'));
ALTER TABLE ids SET (strata.segmentby = 'id');
SELECT attname, segmentby_column_index, orderby_column_index FROM strata.compression_settings WHERE hypertable_name = 'ids';
DROP TABLE ids;
ALTER TABLE i SET (strata.segmentby = '', strata.orderby = 't, u');
ALTER TABLE i SET (strata.segmentby = 't');
-- strangers are refused, and may look
RESET ROLE;
SET ROLE hypertable_dim_other;
SELECT add_dimension('d', 'v', 2);
SELECT add_dimension('d', by_hash('v', 2));
SELECT set_number_partitions('d', 2, 'Site, no');
SELECT set_partitioning_interval('d', interval '3 days');
SELECT count(*) FROM strata.dimensions WHERE hypertable_name = 'd';
RESET ROLE;
DROP TABLE d, i;
REVOKE CREATE ON SCHEMA public FROM hypertable_dim_owner;
DROP ROLE hypertable_dim_owner, hypertable_dim_other;
