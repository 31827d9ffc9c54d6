-- Which continuous aggregates there are.
CREATE VIEW strata.continuous_aggregates AS
	SELECT sn.nspname AS hypertable_schema, s.relname AS hypertable_name, vn.nspname AS view_schema, v.relname AS view_name,
		   pg_catalog.pg_get_userbyid(v.relowner) AS view_owner, r.materialized_only, true AS compression_enabled,
		   an.nspname AS materialization_hypertable_schema, a.relname AS materialization_hypertable_name,
		   pg_catalog.pg_get_viewdef(v.oid) AS view_definition, true AS finalized
	FROM _strata.rollup r
	JOIN pg_catalog.pg_class v ON v.oid = r.view JOIN pg_catalog.pg_namespace vn ON vn.oid = v.relnamespace
	JOIN pg_catalog.pg_class s ON s.oid = r.source JOIN pg_catalog.pg_namespace sn ON sn.oid = s.relnamespace
	JOIN pg_catalog.pg_class a ON a.oid = r.archive JOIN pg_catalog.pg_namespace an ON an.oid = a.relnamespace;
COMMENT ON VIEW strata.continuous_aggregates IS
'continuous aggregates: their source, view, owner, definition, and the hypertable that keeps them (their archive)';

CREATE FUNCTION _strata.time_text(hypertable oid, at bigint) RETURNS text
	AS 'MODULE_PATHNAME', 'strata_time_text' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION _strata.time_text(oid, bigint) IS 'a time in units of the time column of a hypertable, as its type shows it; NULL for no end';
GRANT EXECUTE ON FUNCTION _strata.time_text(oid, bigint) TO PUBLIC;

CREATE VIEW strata.rollups AS
	SELECT v.oid::regclass AS view, r.source::regclass AS source, r.archive::regclass AS archive, r.materialized_only,
		   (SELECT count(*) FROM _strata.rollup_cover c WHERE c.view = r.view) AS covered_ranges,
		   (SELECT count(*) FROM _strata.rollup_mark m WHERE m.hypertable = r.source) AS marks,
		   (SELECT _strata.time_text(r.archive, min(c.lo)) FROM _strata.rollup_cover c WHERE c.view = r.view) AS covered_from,
		   (SELECT _strata.time_text(r.archive, max(c.hi)) FROM _strata.rollup_cover c WHERE c.view = r.view) AS covered_to,
		   (SELECT _strata.time_text(r.archive, max(k.hi)) FROM _strata.rollup_kept k WHERE k.view = r.view) AS kept_before
	FROM _strata.rollup r
	JOIN pg_catalog.pg_class v ON v.oid = r.view
	WHERE pg_catalog.pg_has_role(v.relowner, 'USAGE');
COMMENT ON VIEW strata.rollups IS
'continuous aggregates of yours: their archive, how many ranges of time it covers, from when and to when, how many changes of the source have been noted since the last refresh, and before when it has what was made of dropped rows';
GRANT SELECT ON strata.continuous_aggregates, strata.rollups TO PUBLIC;
