-- Rows and groups of our own nodes, as estimated: within twice, either way, of what there are.
SET client_min_messages = error;
SET timezone = 'UTC';
SET max_parallel_workers_per_gather = 0;
-- the planner does not know what a join keeps a scan from reading
SET strata.enable_join_pruning = off;
CREATE SCHEMA agg_estimate_plan;
SET search_path = agg_estimate_plan, public;
-- few enough rows for ANALYZE to see all of them
CREATE TABLE heap (ts timestamptz NOT NULL, host text, usage float8, level int, note text);
INSERT INTO heap SELECT '2026-01-01'::timestamptz + i * interval '1 min', 'h' || h, (i * 7 + h * 13) % 1000 / 10.0, i / 100, CASE WHEN i % 3 > 0 THEN 'note ' || i % 8 END
    FROM generate_series(0, 2399) AS i, generate_series(1, 10) AS h;
CREATE TABLE t (LIKE heap) USING strata WITH (strata.segmentby = 'host', strata.orderby = 'ts DESC');
INSERT INTO t SELECT * FROM heap WHERE ts < '2026-01-02 12:00';
SET strata.batch_rows = 200;
SELECT compress_chunk('t');
INSERT INTO t SELECT * FROM heap WHERE ts >= '2026-01-02 12:00';
CREATE TABLE p (LIKE heap);
SELECT created FROM create_hypertable('p', 'ts', chunk_time_interval => interval '12 hours');
ALTER TABLE p SET (strata.segmentby = 'host', strata.orderby = 'ts DESC');
INSERT INTO p SELECT * FROM heap;
SELECT count(compress_chunk(c)) FROM show_chunks('p') AS c;
ANALYZE t, p;
-- those that were read to their end
CREATE FUNCTION own_nodes(plan jsonb, ends_early bool DEFAULT false) RETURNS TABLE (node text, guess float8, actual float8) LANGUAGE plpgsql AS $$
BEGIN
    ends_early := ends_early OR plan->>'Node Type' = 'Limit';
    IF plan->>'Custom Plan Provider' ~ '^Strata' AND NOT ends_early THEN
        node := plan->>'Custom Plan Provider'; guess := plan->'Plan Rows'; actual := plan->'Actual Rows'; RETURN NEXT;
    END IF;
    RETURN QUERY SELECT n.* FROM jsonb_array_elements(coalesce(plan->'Plans', '[]')) AS child, own_nodes(child, ends_early OR plan ? 'Early Stop') AS n;
END $$;
CREATE FUNCTION fits(query text, OUT nodes bigint, OUT fits bool) LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
    off text;
BEGIN
    EXECUTE 'EXPLAIN (ANALYZE, TIMING off, FORMAT json) ' || query INTO plan;
    SELECT count(*), string_agg(format('%s %s, not %s', n.node, n.guess, n.actual), '; ') FILTER (WHERE greatest(n.guess, 1) > 2 * greatest(n.actual, 1) OR greatest(n.actual, 1) > 2 * greatest(n.guess, 1))
        INTO nodes, off FROM own_nodes(plan->0->'Plan') AS n;
    fits := off IS NULL;
    IF NOT fits THEN
        RAISE WARNING '%: %', query, off;
    END IF;
END $$;
SET client_min_messages = warning;
CREATE TABLE shape (n serial, query text);
INSERT INTO shape (query) VALUES
    ($$SELECT date_trunc('minute', ts), max(usage) FROM %s WHERE host IN ('h3') AND ts >= '2026-01-01 03:00' AND ts < '2026-01-01 09:00' GROUP BY 1$$),
    ($$SELECT date_trunc('hour', ts), max(usage) FROM %s WHERE host IN ('h3', 'h4', 'h9') AND ts >= '2026-01-02 08:00' AND ts < '2026-01-02 15:00' GROUP BY 1$$),
    ($$SELECT date_trunc('hour', ts), host, avg(usage) FROM %s WHERE ts >= '2026-01-01 20:00' GROUP BY 1, 2$$),
    ($$SELECT time_bucket('15 min', ts), host, count(*) FROM %s GROUP BY 1, 2$$),
    ($$SELECT host, count(*) FROM %s WHERE usage > 90 GROUP BY host$$),
    ($$SELECT level, note, count(*) FROM %s GROUP BY 1, 2$$),
    ($$SELECT host, count(*) FROM %s GROUP BY host HAVING max(usage) IS NOT NULL$$),
    ($$SELECT DISTINCT ON (host) * FROM %s ORDER BY host, ts DESC$$),
    ($$SELECT * FROM %s WHERE usage > 95$$),
    ($$SELECT * FROM %s WHERE usage > 95 OR level = 3$$),
    ($$SELECT * FROM %s WHERE level IN (1, 7, 19)$$),
    ($$SELECT * FROM %s WHERE note = 'note 4'$$),
    ($$SELECT * FROM %s WHERE note LIKE 'note%%' AND host = 'h1'$$),
    ($$SELECT * FROM %s WHERE note IS NULL$$),
    ($$SELECT * FROM %s WHERE host = 'h5' AND ts = '2026-01-01 11:11'$$),
    ($$SELECT * FROM %s WHERE host = 'h5' ORDER BY ts$$),
    ($$SELECT count(*), sum(level) FROM %s$$),
    ($$SELECT count(*) FROM %s AS a JOIN (VALUES ('h1'), ('h2')) AS v (h) ON a.host = v.h$$);
SELECT n, relation, f.* FROM shape, unnest('{t,p}'::text[]) AS relation, fits(format(query, relation)) AS f ORDER BY n, relation;
-- a plan for the parameters that are given
SET plan_cache_mode = force_custom_plan;
PREPARE q (text[], timestamptz, timestamptz, float8) AS SELECT date_trunc('hour', ts), host, max(usage) FROM t WHERE host = ANY ($1) AND ts >= $2 AND ts < $3 AND usage > $4 GROUP BY 1, 2;
SELECT * FROM fits($$EXECUTE q ('{h1,h2,h3}', '2026-01-01', '2026-01-02 13:00', 20)$$);
SELECT * FROM fits($$EXECUTE q ('{h7}', '2026-01-02 13:00', '2026-01-02 15:00', 0)$$);
-- and one for any: where statistics say it, as by columns whose values are as many each
SET plan_cache_mode = force_generic_plan;
PREPARE r (text, text, int) AS SELECT note, count(*) FROM t WHERE host IN ($1, $2) AND level = $3 GROUP BY 1;
SELECT * FROM fits($$EXECUTE r ('h1', 'h2', 3)$$);
-- what workers hand to the leader: groups lie in few batches, where keys are segments and times
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
CREATE FUNCTION gathered(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
    plan jsonb;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN jsonb_path_query_first(plan, 'strict $.** ? (@."Node Type" == "Gather")')->'Plan Rows';
END $$;
SELECT keys, relation, gathered(format('SELECT avg(usage) FROM %s GROUP BY %s', relation, keys)) BETWEEN n AND 2 * n AS few,
    gathered(format('SELECT avg(usage) FROM %s GROUP BY %s', relation, keys)) BETWEEN 2.4 * n AND 3.6 * n AS all_of_each
    FROM unnest('{t,p}'::text[]) AS relation, (VALUES ($$host, date_trunc('hour', ts)$$, 400), ('host', 10), ('host, level', 240), ('level', 24), ($$date_trunc('hour', ts)$$, 40)) AS v (keys, n);
-- ANALYZE of a table above takes rows from batches as from heaps
UPDATE p SET level = -1 WHERE ts < '2026-01-01 12:00';
VACUUM (FULL, ANALYZE) p;
SELECT most_common_freqs[1] BETWEEN 0.2 AND 0.4 AS a_share, n_distinct BETWEEN 15 AND 20 AS all_values FROM pg_stats WHERE schemaname = current_schema() AND tablename = 'p' AND attname = 'level' AND inherited;
DROP SCHEMA agg_estimate_plan CASCADE;
