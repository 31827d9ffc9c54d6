-- Several widths of one continuous aggregate (strata.archives), and the job that keeps them.
CREATE PROCEDURE _strata.policy_archives(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_archives' LANGUAGE C;
COMMENT ON PROCEDURE _strata.policy_archives(integer, jsonb) IS
'refresh and compress the tiers of a continuous aggregate, and drop what is older than strata.archives says';

CREATE FUNCTION _strata.archive_tiers(view oid, OUT level integer, OUT tier oid, OUT width text, OUT keep text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_archive_tiers' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED ROWS 4;
COMMENT ON FUNCTION _strata.archive_tiers(oid) IS
'tiers of a continuous aggregate as strata.archives has them; level 0 is the rows themselves';
GRANT EXECUTE ON FUNCTION _strata.archive_tiers(oid) TO PUBLIC;

CREATE VIEW strata.archives AS
	SELECT v.oid::regclass AS continuous_aggregate, t.level, t.tier::regclass AS tier, t.width, t.keep,
		   coalesce(a.archive, t.tier)::regclass AS hypertable,
		   (SELECT count(*) FROM _strata.chunk c WHERE c.hypertable = coalesce(a.archive, t.tier)) AS chunks,
		   (SELECT j.id FROM _strata.job j WHERE j.hypertable = r.archive AND j.proc_schema = '_strata' AND j.proc_name = 'policy_archives') AS job_id
	FROM _strata.rollup r
	JOIN pg_catalog.pg_class v ON v.oid = r.view
	CROSS JOIN LATERAL _strata.archive_tiers(r.view) t
	LEFT JOIN _strata.rollup a ON a.view = t.tier
	WHERE pg_catalog.pg_has_role(v.relowner, 'USAGE');
COMMENT ON VIEW strata.archives IS
'tiers of continuous aggregates of yours, finer first: their width, how long they are kept (NULL: for ever), and the hypertable that has them; level 0 is the rows they are made of';
GRANT SELECT ON strata.archives TO PUBLIC;

-- Around max(time) and the like of tables that read archives (src/rollup/rollup_ends.c).
CREATE FUNCTION _strata.from_rows(value anyelement, at "any", hypertable oid, bound bigint, newest boolean) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'strata_from_rows' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION _strata.from_rows(anyelement, "any", oid, bigint, boolean) IS
'the value, if its time is no older than the bound, or (not newest) older; else an error: rows that retention has dropped may have been that';
GRANT EXECUTE ON FUNCTION _strata.from_rows(anyelement, "any", oid, bigint, boolean) TO PUBLIC;
