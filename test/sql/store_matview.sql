-- A materialized view that is compressed stays so when it is refreshed.
SET strata.batch_rows = 100;
CREATE TABLE base (ts timestamptz NOT NULL, host int, v float8);
SELECT count(*) FROM create_hypertable('base', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE base SET (strata.segmentby = 'host');
INSERT INTO base SELECT '2026-01-01 00:00 UTC'::timestamptz + i * interval '1 min', i % 5, i FROM generate_series(0, 2999) AS i WHERE i % 20 <> 3;
SET client_min_messages = error;
SELECT count(compress_chunk(c)) FROM show_chunks('base') AS c;
INSERT INTO base SELECT '2026-01-01 00:00 UTC'::timestamptz + i * interval '1 min', i % 5, i FROM generate_series(0, 2999) AS i WHERE i % 20 = 3;
CREATE MATERIALIZED VIEW m USING strata AS SELECT time_bucket('2 minutes', ts) AS ts, host, sum(v) AS v FROM base GROUP BY 1, 2;
ALTER MATERIALIZED VIEW m SET (strata.segmentby = 'host', strata.orderby = 'ts');
CREATE UNIQUE INDEX m_key ON m (host, ts);
CREATE VIEW halves AS SELECT row_store_rows, batch_rows > 0 AS batches FROM strata.tables WHERE relation = 'm'::regclass;
CREATE FUNCTION differs() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM ((TABLE m EXCEPT ALL SELECT time_bucket('2 minutes', ts), host, sum(v) FROM base GROUP BY 1, 2)
		UNION ALL (SELECT time_bucket('2 minutes', ts), host, sum(v) FROM base GROUP BY 1, 2 EXCEPT ALL TABLE m)) AS d $$;
-- not compressed yet
REFRESH MATERIALIZED VIEW m;
TABLE halves;
SELECT compress_chunk('m');
TABLE halves;
INSERT INTO base SELECT '2026-01-03 02:00 UTC'::timestamptz + i * interval '1 min', i % 5, i FROM generate_series(0, 999) AS i;
UPDATE base SET v = v + 1 WHERE ts < '2026-01-01 01:00 UTC';
REFRESH MATERIALIZED VIEW m;
TABLE halves;
SELECT differs(), count(*) FROM m;
SELECT problem FROM strata.verify('m');
-- by the key, and in the order of the index
SET enable_seqscan = off;
SELECT v FROM m WHERE host = 1 AND ts = '2026-01-01 10:00 UTC';
RESET enable_seqscan;
-- rolled back, and in one transaction with what it shows
BEGIN;
DELETE FROM base WHERE host = 1;
REFRESH MATERIALIZED VIEW m;
SELECT differs(), count(*) FROM m;
ROLLBACK;
SELECT differs(), count(*) FROM m;
TABLE halves;
-- what has changed
UPDATE base SET v = v - 1 WHERE ts < '2026-01-01 01:00 UTC';
REFRESH MATERIALIZED VIEW CONCURRENTLY m;
SELECT differs(), count(*) FROM m;
SELECT row_store_rows < 100, batches FROM halves;
REFRESH MATERIALIZED VIEW m;
TABLE halves;
-- with no data, and with data again
REFRESH MATERIALIZED VIEW m WITH NO DATA;
TABLE halves;
REFRESH MATERIALIZED VIEW m;
TABLE halves;
SELECT differs(), count(*) FROM m;
-- few rows
BEGIN;
DELETE FROM base WHERE ts > '2026-01-01 00:10 UTC';
REFRESH MATERIALIZED VIEW m;
SELECT differs(), count(*) FROM m;
TABLE halves;
ROLLBACK;
-- a row store again
SELECT decompress_chunk('m');
REFRESH MATERIALIZED VIEW m;
TABLE halves;
-- the view of another, refreshed by who may
CREATE ROLE m_owner;
GRANT m_owner TO CURRENT_USER;
GRANT CREATE ON SCHEMA public TO m_owner;
GRANT SELECT ON base TO m_owner;
ALTER MATERIALIZED VIEW m OWNER TO m_owner;
SELECT compress_chunk('m');
REFRESH MATERIALIZED VIEW m;
TABLE halves;
RESET client_min_messages;
DROP VIEW halves;
DROP FUNCTION differs;
DROP MATERIALIZED VIEW m;
DROP TABLE base;
REVOKE CREATE ON SCHEMA public FROM m_owner;
DROP ROLE m_owner;
