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
-- through subqueries, views and joins
SELECT plan_chunks('SELECT * FROM (SELECT v + 1 AS v1, ts AS at FROM w) s WHERE at > now() - interval ''2 hours''');
CREATE VIEW of_it AS SELECT v, ts FROM (SELECT w.v, x.ts FROM w x JOIN w USING (ts)) s;
SELECT plan_chunks('SELECT * FROM of_it WHERE now() - interval ''2 hours'' < ts');
SELECT plan_chunks('SELECT * FROM (SELECT ts, count(*) FROM w GROUP BY ts) s WHERE ts > now() - interval ''2 hours''');
SELECT count(*) > 0, count(*) = (SELECT count(*) FROM w WHERE ts > now() - interval '3 days') FROM of_it WHERE ts > now() - interval '3 days';
DROP VIEW of_it;
-- not implied
SELECT plan_chunks('SELECT * FROM w WHERE ts < now() - interval ''20 days''');
SELECT plan_chunks('SELECT * FROM w WHERE ts > now() - interval ''1 day'' OR v = 3');
SELECT plan_chunks('SELECT * FROM w WHERE ts > clock_timestamp() - interval ''1 day''');
SELECT plan_chunks('SELECT * FROM w WHERE NOT ts > now() - interval ''1 day''');
SELECT plan_chunks('SELECT * FROM w WHERE ts > now() - NULL::interval');
SET strata.enable_time_pruning = off;
SELECT plan_chunks('SELECT * FROM w WHERE ts > now() - interval ''2 hours''');
SET strata.enable_time_pruning = on;
-- the same rows, whatever the interval
CREATE FUNCTION same(condition text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE with_it text; without_it text;
BEGIN
	SET strata.enable_time_pruning = on;
	EXECUTE 'SELECT string_agg(v::text, '','' ORDER BY v) FROM w WHERE ' || condition INTO with_it;
	SET strata.enable_time_pruning = off;
	EXECUTE 'SELECT string_agg(v::text, '','' ORDER BY v) FROM w WHERE ' || condition INTO without_it;
	SET strata.enable_time_pruning = on;
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

-- timestamp and date columns; local time needs two weeks more
CREATE TABLE l (ts timestamp NOT NULL, v int);
CREATE TABLE y (d date NOT NULL, v int);
SELECT created FROM create_hypertable('l', 'ts', chunk_time_interval => interval '1 day', create_default_indexes => false);
SELECT created FROM create_hypertable('y', 'd', chunk_time_interval => interval '1 day', create_default_indexes => false);
INSERT INTO l SELECT now()::timestamp - g * interval '1 day', g FROM generate_series(0, 59) g;
INSERT INTO y SELECT current_date - g, g FROM generate_series(0, 59) g;
CREATE FUNCTION plan_few(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; chunks int := 0;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ ' on [ly]_[0-9]' THEN chunks := chunks + 1; END IF;
		IF line ~ 'Subplans Removed' THEN chunks := chunks + substring(line FROM ': (\d+)')::int; END IF;
	END LOOP;
	RETURN CASE WHEN chunks = 0 THEN 'none' WHEN chunks < 35 THEN 'few' ELSE 'many' END;
END $$;
SELECT c, plan_few('SELECT * FROM l WHERE ' || c) FROM unnest(ARRAY[
	$$ts > now() - interval '2 days'$$, $$ts >= now()::timestamp - interval '2 days'$$, $$ts > localtimestamp$$, $$localtimestamp - interval '1 day' < ts$$,
	$$ts > current_date$$, $$ts >= current_date - 3$$, $$ts > current_date - interval '3 days'$$, $$ts > (now() - interval '1 hour')::date$$,
	$$ts < now() - interval '1 hour'$$, $$ts > now() at time zone 'Asia/Tokyo'$$, $$ts <> now()$$, $$ts > date_trunc('day', now())$$]) c;
SELECT c, plan_few('SELECT * FROM y WHERE ' || c) FROM unnest(ARRAY[
	$$d > now() - interval '2 days'$$, $$d >= current_date$$, $$d > current_date - 7$$, $$d > current_date - interval '7 days'$$, $$d >= now()::date$$,
	$$d > localtimestamp - interval '2 days'$$, $$current_date - 7 <= d$$, $$d < current_date$$, $$d > current_date - v$$]) c;
-- the same rows in every time zone, also from a plan that another made
CREATE FUNCTION same_rows(relation text, condition text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE with_it text; without_it text; zone text;
BEGIN
	FOREACH zone IN ARRAY ARRAY['UTC', 'Pacific/Kiritimati', 'America/Los_Angeles', '<+160>-160', '<-160>+160'] LOOP
		PERFORM set_config('timezone', zone, false);
		SET strata.enable_time_pruning = on;
		EXECUTE format('SELECT string_agg(v::text, '','' ORDER BY v) FROM %s WHERE %s', relation, condition) INTO with_it;
		SET strata.enable_time_pruning = off;
		EXECUTE format('SELECT string_agg(v::text, '','' ORDER BY v) FROM %s WHERE %s', relation, condition) INTO without_it;
		IF with_it IS DISTINCT FROM without_it THEN RETURN false; END IF;
	END LOOP;
	SET strata.enable_time_pruning = on;
	SET timezone = 'UTC';
	RETURN true;
END $$;
SELECT same_rows('l', c) FROM unnest(ARRAY[$$ts > now() - interval '20 days'$$, $$ts >= localtimestamp - interval '20 days'$$, $$ts > current_date - 20$$,
	$$ts > current_date - interval '1 month'$$, $$ts > now() + interval '3000 years'$$, $$ts > current_date - 40000$$]) c;
SELECT same_rows('y', c) FROM unnest(ARRAY[$$d > now() - interval '20 days'$$, $$d >= current_date - 20$$, $$d > current_date - interval '1 month'$$]) c;
SET plan_cache_mode = force_generic_plan;
SET timezone = '<+160>-160';
PREPARE recent AS SELECT count(*) FROM l WHERE ts > now();
EXECUTE recent;
SET timezone = '<-160>+160';
EXECUTE recent;
SELECT count(*) FROM l WHERE ts > now();
RESET plan_cache_mode;
SET timezone = 'UTC';
DROP TABLE l, y;
DROP FUNCTION plan_few, same_rows;
