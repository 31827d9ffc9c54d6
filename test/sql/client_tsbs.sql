-- What the loader and the query runner of TSBS send.
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';
SET ROLE postgres;
CREATE EXTENSION IF NOT EXISTS timescaledb CASCADE;
RESET ROLE;
DROP TABLE IF EXISTS tags;
CREATE TABLE tags (id SERIAL PRIMARY KEY, hostname TEXT, region TEXT);
CREATE UNIQUE INDEX uniq1 ON tags (hostname);
DROP TABLE IF EXISTS cpu;
CREATE TABLE cpu (time timestamptz, tags_id integer, hostname TEXT, usage_user DOUBLE PRECISION, usage_system DOUBLE PRECISION, additional_tags JSONB DEFAULT NULL);
CREATE INDEX ON cpu (tags_id, "time" DESC);
CREATE INDEX ON cpu ("time" DESC);
SELECT created FROM create_hypertable('cpu'::regclass, 'time'::name, partitioning_column => 'hostname'::name, number_partitions => 1::smallint,
	chunk_time_interval => 28800000000, create_default_indexes => FALSE);
SELECT create_hypertable('cpu'::regclass, 'time'::name, replication_factor => NULL, chunk_time_interval => 28800000000, create_default_indexes => FALSE);
INSERT INTO tags (hostname, region) VALUES ('host_0', 'a'), ('host_1', 'b'), ('host_2', 'c') ON CONFLICT DO NOTHING;
INSERT INTO cpu SELECT '2016-01-01'::timestamptz + g / 3 * interval '10 seconds', 1 + g % 3, 'host_' || g % 3, g % 101, g % 57 FROM generate_series(0, 25919) g;
COPY cpu (time, tags_id, hostname, usage_user, usage_system, additional_tags) FROM stdin;
2016-01-02 00:00:00Z	1	host_0	99	98	\N
2016-01-02 00:00:10Z	2	host_1	91	92	{"a": 1}
\.
SELECT show_chunks('cpu');
SELECT compress_chunk(c) FROM show_chunks('cpu', older_than => timestamptz '2016-01-01 16:00') c;
-- single-groupby
SELECT time_bucket('60 seconds', time) AS minute, max(usage_user) AS max_usage_user FROM cpu
	WHERE tags_id IN (SELECT id FROM tags WHERE hostname IN ('host_1')) AND time >= '2016-01-01 07:58:00 +0000' AND time < '2016-01-01 08:02:00 +0000'
	GROUP BY minute ORDER BY minute ASC;
-- double-groupby
WITH cpu_avg AS (SELECT time_bucket('3600 seconds', time) AS hour, tags_id, avg(usage_user) AS mean_usage_user FROM cpu
	WHERE time >= '2016-01-01 06:00:00 +0000' AND time < '2016-01-01 09:00:00 +0000' GROUP BY 1, 2)
SELECT hour, tags.hostname, round(mean_usage_user::numeric, 4) FROM cpu_avg JOIN tags ON cpu_avg.tags_id = tags.id ORDER BY hour, tags.hostname;
-- groupby-orderby-limit
SELECT time_bucket('60 seconds', time) AS minute, max(usage_user) FROM cpu WHERE time < '2016-01-01 23:30:00 +0000' GROUP BY minute ORDER BY minute DESC LIMIT 5;
-- high-cpu
SELECT count(*), min(time), max(time) FROM cpu WHERE usage_user > 90.0 AND time >= '2016-01-01 04:00:00 +0000' AND time < '2016-01-01 20:00:00 +0000';
-- lastpoint
SELECT DISTINCT ON (t.hostname) t.hostname, c.time, c.usage_user FROM tags t INNER JOIN LATERAL (SELECT * FROM cpu c WHERE c.tags_id = t.id ORDER BY time DESC LIMIT 1) AS c ON true
	ORDER BY t.hostname, c.time DESC;
DROP TABLE cpu, tags;
SET ROLE postgres;
DROP EXTENSION strata_timescale_compat CASCADE;
RESET ROLE;
