CREATE VIEW strata.codecs AS
	SELECT codec, types, available FROM _strata.codecs();
COMMENT ON VIEW strata.codecs IS 'the codecs there are, for which types, and whether this build has them';

CREATE VIEW strata.compression_settings AS
	SELECT n.nspname AS hypertable_schema, c.relname AS hypertable_name, a.attname,
		   l.segmentby_column_index, l.orderby_column_index, l.orderby_asc, l.orderby_nullsfirst
	FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	CROSS JOIN LATERAL _strata.layout_of(c.oid) l
	JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = l.attnum
	WHERE c.relkind IN ('r', 'm')
	  AND c.relam = (SELECT am.oid FROM pg_catalog.pg_am am WHERE am.amname = 'strata')
	  AND NOT (c.relispartition AND EXISTS (
			SELECT FROM pg_catalog.pg_inherits i JOIN _strata.hypertable h ON h.relid = i.inhparent WHERE i.inhrelid = c.oid))
	   OR c.relkind = 'p' AND c.oid IN (SELECT h.relid FROM _strata.hypertable h);
COMMENT ON VIEW strata.compression_settings IS
'segmentby and orderby columns in force for each hypertable and each strata table that is no chunk, inherited and default ones included';

CREATE VIEW strata.tables AS
	SELECT c.oid::regclass AS relation,
		   r.row_store_rows, r.batch_rows, r.batches,
		   pg_catalog.pg_table_size(c.oid) AS row_store_bytes,
		   pg_catalog.pg_indexes_size(c.oid) AS index_bytes,
		   coalesce(pg_catalog.pg_total_relation_size(strata.batch_relation(c.oid)), 0)
		   + coalesce(pg_catalog.pg_total_relation_size(_strata.batch_index_relation(strata.batch_relation(c.oid))), 0) AS batch_bytes,
		   (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY l.segmentby_column_index)
			FROM _strata.layout_of(c.oid) l
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = l.attnum
			WHERE l.segmentby_column_index IS NOT NULL) AS segmentby,
		   (SELECT pg_catalog.string_agg(pg_catalog.quote_ident(a.attname)
						|| CASE WHEN l.orderby_asc THEN '' ELSE ' DESC' END
						|| CASE WHEN l.orderby_nullsfirst THEN ' NULLS FIRST' ELSE ' NULLS LAST' END,
						', ' ORDER BY l.orderby_column_index)
			FROM _strata.layout_of(c.oid) l
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = l.attnum
			WHERE l.orderby_column_index IS NOT NULL) AS orderby
	FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_am am ON am.oid = c.relam AND am.amname = 'strata'
	LEFT JOIN LATERAL (SELECT * FROM _strata.row_counts(c.oid)) r ON true
	WHERE c.relkind IN ('r', 'm') AND pg_catalog.pg_has_role(c.relowner, 'USAGE');
COMMENT ON VIEW strata.tables IS
'every strata table of yours: rows in the row store and in batches (counted), bytes of each part, settings in force';

CREATE FUNCTION _strata.estimated_end(started timestamptz, done bigint, expected bigint, at timestamptz DEFAULT clock_timestamp())
RETURNS timestamptz LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	-- the first fiftieth says little of the rest; of what exceeds the estimate nothing is known but that it is near its end
	SELECT CASE WHEN done > 0 AND expected > 0 AND done >= expected / 50
				THEN at + (at - started) * (greatest(expected - done, 0)::double precision / done) END;
END;
COMMENT ON FUNCTION _strata.estimated_end(timestamptz, bigint, bigint, timestamptz) IS
'when a work that began then and has done so much of what is expected will have ended, if it goes on as fast';

-- 7501 marks our commands among those that report as CLUSTER.
CREATE VIEW strata.progress AS
	SELECT s.pid, s.datid, d.datname, s.relid,
		   CASE s.param2 WHEN 1 THEN 'reading rows' WHEN 2 THEN 'sorting'
						 WHEN 3 THEN 'writing batches' WHEN 4 THEN 'restoring rows' END AS phase,
		   s.param3 AS rows_read, s.param4 AS rows_written,
		   timestamptz '2000-01-01 00:00:00+00' + s.param7 * interval '1 microsecond' AS started_at,
		   _strata.estimated_end(timestamptz '2000-01-01 00:00:00+00' + s.param7 * interval '1 microsecond', s.param6, s.param5)
				AS estimated_end
	FROM pg_catalog.pg_stat_get_progress_info('CLUSTER') s
	LEFT JOIN pg_catalog.pg_database d ON d.oid = s.datid
	WHERE s.param1 = 7501;
COMMENT ON VIEW strata.progress IS
'running compressions and decompressions, one row per backend; estimated_end is NULL at the beginning';

GRANT SELECT ON ALL TABLES IN SCHEMA strata TO PUBLIC;
