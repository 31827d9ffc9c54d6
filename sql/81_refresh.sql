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
