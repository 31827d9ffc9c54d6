-- What ThingsBoard sends: bigint milliseconds, a composite key, upserts.
SET client_min_messages = warning;
SET ROLE postgres;
CREATE EXTENSION timescaledb CASCADE;
RESET ROLE;
CREATE TABLE IF NOT EXISTS ts_kv (entity_id uuid NOT NULL, key int NOT NULL, ts bigint NOT NULL, bool_v boolean, str_v varchar(10000000),
	long_v bigint, dbl_v double precision, json_v json, CONSTRAINT ts_kv_pkey PRIMARY KEY (entity_id, key, ts));
SELECT created FROM create_hypertable('ts_kv', 'ts', chunk_time_interval => 86400000, if_not_exists => true);
SELECT created FROM create_hypertable('ts_kv', 'ts', chunk_time_interval => 86400000, if_not_exists => true);
PREPARE save AS INSERT INTO ts_kv (entity_id, key, ts, bool_v, str_v, long_v, dbl_v, json_v) VALUES ($1, $2, $3, $4, $5, $6, $7, cast($8 AS json))
	ON CONFLICT (entity_id, key, ts) DO UPDATE SET bool_v = $9, str_v = $10, long_v = $11, dbl_v = $12, json_v = cast($13 AS json);
EXECUTE save('00000000-0000-0000-0000-000000000001', 1, 1767225600000, NULL, NULL, 5, NULL, NULL, NULL, NULL, 5, NULL, NULL);
EXECUTE save('00000000-0000-0000-0000-000000000001', 1, 1767225600000, NULL, NULL, 6, NULL, NULL, NULL, NULL, 6, NULL, NULL);
INSERT INTO ts_kv (entity_id, key, ts, dbl_v) SELECT '00000000-0000-0000-0000-000000000002', 2, 1767225600000 + g * 60000, g FROM generate_series(0, 4999) g;
SELECT chunk_name, range_start_integer FROM timescaledb_information.chunks ORDER BY 2;
SELECT compress_chunk(c) FROM show_chunks('ts_kv', older_than => 1767398400000) c;
EXECUTE save('00000000-0000-0000-0000-000000000002', 2, 1767225660000, NULL, 'late', NULL, NULL, '{"a": 1}', NULL, 'late', NULL, NULL, '{"a": 1}');
SELECT str_v, json_v, dbl_v FROM ts_kv WHERE entity_id = '00000000-0000-0000-0000-000000000002' AND key = 2 AND ts = 1767225660000;
SELECT time_bucket(3600000::bigint, ts) AS bucket, count(*), avg(dbl_v), max(dbl_v) FROM ts_kv
	WHERE key = 2 AND entity_id = '00000000-0000-0000-0000-000000000002' AND ts > 1767225600000 AND ts <= 1767236400000 GROUP BY bucket ORDER BY bucket;
SELECT ts, dbl_v FROM ts_kv WHERE entity_id = '00000000-0000-0000-0000-000000000002' AND key = 2 AND ts >= 1767225600000 AND ts < 1767571200000 ORDER BY ts DESC LIMIT 2;
DELETE FROM ts_kv WHERE entity_id = '00000000-0000-0000-0000-000000000002' AND key = 2 AND ts >= 1767225600000 AND ts < 1767229200000;
SELECT count(*) FROM ts_kv;
SELECT drop_chunks('ts_kv', 1767312000000::bigint);
SELECT count(*), min(ts) FROM ts_kv;
DROP TABLE ts_kv;
SET ROLE postgres;
DROP EXTENSION strata_timescale_compat CASCADE;
RESET ROLE;
