-- Bringing rollups up to date.
CREATE PROCEDURE refresh_continuous_aggregate(continuous_aggregate regclass, window_start "any", window_end "any",
		force boolean DEFAULT false, options jsonb DEFAULT NULL, refresh_newest_first boolean DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'strata_refresh_continuous_aggregate' LANGUAGE C;
COMMENT ON PROCEDURE refresh_continuous_aggregate(regclass, "any", "any", boolean, jsonb, boolean) IS
'bring the buckets of a continuous aggregate from window_start to window_end up to date, in transactions of their own; NULL: from the first row, to the last one';

CREATE FUNCTION _strata.rollup_clean(view regclass, OUT lo bigint, OUT hi bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_rollup_clean_sql' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION _strata.rollup_clean(regclass) IS
'times from lo to before hi of which the archive of a continuous aggregate is what this snapshot sees of the rows';

-- Conditions of many ranges; of a chunk its own alone are left (src/rollup/rollup_gaps.c).
CREATE FUNCTION _strata.time_in_support(internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'strata_time_in_support' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _strata.time_in(at anyelement, ranges bigint[]) RETURNS boolean
	AS 'MODULE_PATHNAME', 'strata_time_in' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE SUPPORT _strata.time_in_support;
COMMENT ON FUNCTION _strata.time_in(anyelement, bigint[]) IS
'is a time in one of the ranges, of which the array has first times and those after the last, in its units';
GRANT EXECUTE ON FUNCTION _strata.time_in(anyelement, bigint[]) TO PUBLIC;

-- Policies that do it.
CREATE FUNCTION add_continuous_aggregate_policy(
	continuous_aggregate regclass,
	start_offset "any",
	end_offset "any",
	schedule_interval interval,
	if_not_exists boolean DEFAULT false,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL,
	include_tiered_data boolean DEFAULT NULL,
	buckets_per_batch integer DEFAULT NULL,
	max_batches_per_execution integer DEFAULT NULL,
	refresh_newest_first boolean DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_add_continuous_aggregate_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION add_continuous_aggregate_policy(regclass, "any", "any", interval, boolean, timestamptz, text, boolean, integer, integer, boolean) IS
'refresh the buckets between start_offset and end_offset before now in the background (intervals, or integers with integer time; NULL: no end); returns the job''s id, -1 if there is such a policy';

CREATE FUNCTION remove_continuous_aggregate_policy(
	continuous_aggregate regclass,
	if_not_exists boolean DEFAULT false,
	if_exists boolean DEFAULT NULL)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_remove_continuous_aggregate_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION remove_continuous_aggregate_policy(regclass, boolean, boolean) IS
'remove all policies that refresh a continuous aggregate';

CREATE PROCEDURE _strata.policy_refresh_continuous_aggregate(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_refresh_continuous_aggregate' LANGUAGE C;
COMMENT ON PROCEDURE _strata.policy_refresh_continuous_aggregate(integer, jsonb) IS
'refresh a continuous aggregate from start_offset to end_offset before now';
