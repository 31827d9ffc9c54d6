-- Functions of aggregates that are called with an AggState of ours: memory of states, callbacks when they go away, the
-- Aggref with its sort clause, types of the call, arguments of the final function; each on its own and many groups after
-- the other.
SET client_min_messages = error;
CREATE TABLE pas (id int, v int, t text) USING strata;
INSERT INTO pas SELECT g, g % 7, 't' || g % 5 FROM generate_series(1, 1000) AS g;
SELECT compress_chunk('pas');
-- AggCheckCallContext, and that states outlive a call
SELECT v, cardinality(array_agg(id)), length(string_agg(t, ',')) FROM pas GROUP BY v ORDER BY v LIMIT 2;
SELECT regr_count(id, v), round(corr(id, v)::numeric, 6) FROM pas;
-- AggGetAggref and AggRegisterCallback: ordered-set functions sort by its clauses, and end their sorts
SELECT v, percentile_disc(0.5) WITHIN GROUP (ORDER BY t DESC), percentile_disc(ARRAY[0, 1]) WITHIN GROUP (ORDER BY t COLLATE "C") FROM pas GROUP BY v ORDER BY v LIMIT 2;
-- AggStateIsShared and AggGetTempMemoryContext: hypothetical-set functions
SELECT rank(500) WITHIN GROUP (ORDER BY id), dense_rank('t3', 2) WITHIN GROUP (ORDER BY t, v), round(cume_dist(3) WITHIN GROUP (ORDER BY v)::numeric, 6) FROM pas;
-- get_fn_expr_argtype, of transition and final functions, polymorphic ones too
CREATE AGGREGATE pas_list(anycompatible) (sfunc = array_append, stype = anycompatiblearray, initcond = '{}');
SELECT pas_list(v ORDER BY id DESC) FROM pas WHERE id < 4;
SELECT json_object_agg(id, t ORDER BY id), jsonb_agg(v ORDER BY id) FROM pas WHERE id < 3;
-- final functions that keep their state for another call
SELECT array_agg(t ORDER BY id), array_agg(t ORDER BY id) = array_agg(t ORDER BY id), (array_agg(t ORDER BY id DESC))[1] FROM pas WHERE id < 4;
DROP AGGREGATE pas_list(anycompatible);
DROP TABLE pas;
