-- Conditions with now() prune chunks when the query is planned.
SET timezone = 'UTC';
CREATE FUNCTION plan_chunks(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; chunks int := 0; removed text := '0';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ ' on w_[0-9]' THEN chunks := chunks + 1; END IF;
		removed := coalesce(substring(line FROM 'Subplans Removed: (\d+)'), removed);
	END LOOP;
	RETURN format('%s in the plan, %s removed at start', CASE WHEN chunks + removed::int > 4 THEN 'many' ELSE 'few' END,
		CASE WHEN removed::int > 4 THEN 'many' ELSE 'few' END);
END $$;
CREATE TABLE w (ts timestamptz NOT NULL, v int);
SELECT created FROM create_hypertable('w', 'ts', chunk_time_interval => interval '1 day', create_default_indexes => false);
INSERT INTO w SELECT now() - g * interval '6 hours', g FROM generate_series(0, 119) g;
SELECT plan_chunks('SELECT * FROM w WHERE ts > now() - interval ''2 hours''');
SELECT plan_chunks('SELECT * FROM w WHERE now() - interval ''2 hours'' <= ts');
SELECT plan_chunks('SELECT * FROM w WHERE ts BETWEEN current_timestamp - ''1 day''::interval AND now()');
SELECT plan_chunks('SELECT * FROM w WHERE v > 0 AND ts >= transaction_timestamp() - interval ''1 day''');
SELECT plan_chunks('SELECT * FROM (VALUES (1)) x (a) LEFT JOIN w ON w.v = x.a AND w.ts > now() - interval ''1 day''');
SELECT plan_chunks('DELETE FROM w WHERE ts > now()');
SELECT plan_chunks('WITH c AS MATERIALIZED (SELECT * FROM w WHERE ts > now() - interval ''1 hour'') SELECT count(*) FROM c');
CREATE VIEW v AS SELECT * FROM w WHERE ts > now() - interval '1 day';
SELECT plan_chunks('SELECT * FROM v');
SELECT count(*) FROM v;
-- not implied
SELECT plan_chunks('SELECT * FROM w WHERE ts < now() - interval ''20 days''');
SELECT plan_chunks('SELECT * FROM w WHERE ts > now() - interval ''1 day'' OR v = 3');
SELECT plan_chunks('SELECT * FROM w WHERE ts > clock_timestamp() - interval ''1 day''');
SELECT plan_chunks('SELECT * FROM w WHERE NOT ts > now() - interval ''1 day''');
SELECT plan_chunks('SELECT * FROM w WHERE ts > now() - NULL::interval');
SET strata.enable_now_pruning = off;
SELECT plan_chunks('SELECT * FROM w WHERE ts > now() - interval ''2 hours''');
SET strata.enable_now_pruning = on;
-- the same rows, whatever the interval
CREATE FUNCTION same(condition text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE with_it text; without_it text;
BEGIN
	SET strata.enable_now_pruning = on;
	EXECUTE 'SELECT string_agg(v::text, '','' ORDER BY v) FROM w WHERE ' || condition INTO with_it;
	SET strata.enable_now_pruning = off;
	EXECUTE 'SELECT string_agg(v::text, '','' ORDER BY v) FROM w WHERE ' || condition INTO without_it;
	SET strata.enable_now_pruning = on;
	RETURN with_it IS NOT DISTINCT FROM without_it;
END $$;
SELECT i, same(format('ts > now() - interval %L', i)), same(format('ts >= now() + interval %L', i)), same(format('now() - interval %L < ts', i))
FROM unnest(ARRAY['0', '1 hour', '1 day', '-3 days', '1 month', '1 month -20 days', '3000 years', '90 minutes']) i;
-- a cached plan stays right while time goes on
SET plan_cache_mode = force_generic_plan;
PREPARE q AS SELECT count(*) FROM w WHERE ts > now() - interval '7 hours';
EXECUTE q;
INSERT INTO w VALUES (now() + interval '3 days', -1);
EXECUTE q;
DROP VIEW v;
DROP TABLE w;
DROP FUNCTION plan_chunks, same;
