-- How many groups GROUP BY time_bucket makes, as the planner sees it: within a quarter of what there are.
SET timezone = 'UTC';
SET datestyle = 'ISO, YMD';
CREATE TABLE est (ts timestamptz NOT NULL, d date, i int, dev int);
INSERT INTO est SELECT t, t, extract(epoch FROM t - timestamptz '2024-01-01') / 60, extract(minute FROM t)::int % 4 FROM generate_series(timestamptz '2024-01-01', '2024-01-10 23:59', '1 min') t;
CREATE TABLE est_strata (LIKE est) USING strata;
INSERT INTO est_strata SELECT * FROM est;
SELECT compress_chunk('est_strata') IS NOT NULL;
CREATE TABLE est_hyper (LIKE est);
SELECT created FROM create_hypertable('est_hyper', 'ts', chunk_time_interval => interval '2 days');
INSERT INTO est_hyper SELECT * FROM est;
ANALYZE est, est_strata, est_hyper;
CREATE FUNCTION est_check(query text, OUT n bigint, OUT fits bool) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	node json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	EXECUTE 'SELECT count(*) FROM (' || query || ') q' INTO n;
	node := plan -> 0 -> 'Plan';
	fits := (node ->> 'Plan Rows')::float8 BETWEEN n * 0.75 AND n * 1.25 + 1;
	IF NOT fits THEN
		RAISE NOTICE 'estimate % for: %', node ->> 'Plan Rows', query;
	END IF;
END $$;
SELECT q, r.* FROM (VALUES
	(1, $$SELECT time_bucket('1 hour', ts), count(*) FROM %s GROUP BY 1$$),
	(2, $$SELECT time_bucket('1 day', ts, 'Europe/Berlin'), sum(i) FROM %s GROUP BY 1$$),
	(3, $$SELECT time_bucket('1 hour', ts), dev, count(*) FROM %s GROUP BY 1, 2$$),
	(4, $$SELECT time_bucket('2 days', d), count(*) FROM %s GROUP BY 1$$),
	(5, $$SELECT time_bucket(100, i), count(*) FROM %s GROUP BY 1$$),
	(6, $$SELECT time_bucket('1 hour', ts), count(*) FROM %s WHERE ts >= '2024-01-03' AND ts < '2024-01-04' GROUP BY 1$$),
	(7, $$SELECT time_bucket('1 min', ts), count(*) FROM %s GROUP BY 1$$),
	(8, $$SELECT time_bucket('1 month', ts), count(*) FROM %s GROUP BY 1$$)) q(q, query),
	unnest('{est,est_strata,est_hyper}'::text[]) rel, est_check(format(query, rel)) r ORDER BY q, rel;
SELECT time_bucket(0, i), count(*) FROM est GROUP BY 1;
SELECT time_bucket('-1 day', ts), count(*) FROM est GROUP BY 1;
SELECT count(*) FROM (SELECT time_bucket('1 day', ts, origin => NULL), count(*) FROM est GROUP BY 1) s;
DROP FUNCTION est_check;
DROP TABLE est, est_strata, est_hyper;
