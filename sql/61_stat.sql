CREATE FUNCTION _strata.stat_counters(
	OUT relid oid, OUT scans bigint, OUT batches_scanned bigint, OUT batches_decoded bigint,
	OUT batches_pruned_by_segment bigint, OUT batches_pruned_by_range bigint,
	OUT batches_counted bigint, OUT batches_passed bigint,
	OUT rows_from_batches bigint, OUT rows_from_row_store bigint,
	OUT rows_moved bigint, OUT rows_deleted bigint,
	OUT compressions bigint, OUT rows_compressed bigint, OUT batches_written bigint, OUT decompressions bigint,
	OUT last_scan timestamptz, OUT last_compression timestamptz, OUT since timestamptz)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_stat_counters' LANGUAGE C STRICT VOLATILE PARALLEL SAFE ROWS 100;
COMMENT ON FUNCTION _strata.stat_counters() IS 'counters of the tables of this database that have been used';

CREATE FUNCTION strata.reset_stat_tables(relation regclass DEFAULT NULL) RETURNS void
	AS 'MODULE_PATHNAME', 'strata_reset_stat_tables' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION strata.reset_stat_tables(regclass) IS
'set the counters of strata.stat_tables to zero: of a table, of all chunks of a hypertable, or of all tables of yours';

-- Everybody sees all tables, as in pg_stat_user_tables.
CREATE VIEW strata.stat_tables AS
	SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
		   (SELECT i.inhparent FROM pg_catalog.pg_inherits i JOIN _strata.hypertable h ON h.relid = i.inhparent
			WHERE i.inhrelid = c.oid) AS hypertable,
		   coalesce(s.scans, 0) AS scans, s.last_scan,
		   coalesce(s.batches_scanned, 0) AS batches_scanned,
		   coalesce(s.batches_decoded, 0) AS batches_decoded,
		   coalesce(s.batches_pruned_by_segment, 0) AS batches_pruned_by_segment,
		   coalesce(s.batches_pruned_by_range, 0) AS batches_pruned_by_range,
		   coalesce(s.batches_counted, 0) AS batches_counted,
		   coalesce(s.batches_passed, 0) AS batches_passed,
		   coalesce(s.rows_from_batches, 0) AS rows_from_batches,
		   coalesce(s.rows_from_row_store, 0) AS rows_from_row_store,
		   coalesce(s.rows_moved, 0) AS rows_moved,
		   coalesce(s.rows_deleted, 0) AS rows_deleted,
		   coalesce(s.compressions, 0) AS compressions,
		   coalesce(s.rows_compressed, 0) AS rows_compressed,
		   coalesce(s.batches_written, 0) AS batches_written,
		   s.last_compression,
		   coalesce(s.decompressions, 0) AS decompressions,
		   s.since
	FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_am am ON am.oid = c.relam AND am.amname = 'strata'
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	LEFT JOIN _strata.stat_counters() s ON s.relid = c.oid
	WHERE c.relkind IN ('r', 'm');
COMMENT ON VIEW strata.stat_tables IS
'how each strata table is used: scans, batches read and passed over and why, rows from both halves, changes of compressed rows, compressions';

CREATE VIEW strata.stat_hypertables AS
	SELECT h.relid, h.schema_name AS schemaname, h.table_name AS relname,
		   pg_catalog.count(s.relid) AS chunks, pg_catalog.count(s.since) AS chunks_used,
		   coalesce(pg_catalog.sum(s.scans), 0)::bigint AS scans, pg_catalog.max(s.last_scan) AS last_scan,
		   coalesce(pg_catalog.sum(s.batches_scanned), 0)::bigint AS batches_scanned,
		   coalesce(pg_catalog.sum(s.batches_decoded), 0)::bigint AS batches_decoded,
		   coalesce(pg_catalog.sum(s.batches_pruned_by_segment), 0)::bigint AS batches_pruned_by_segment,
		   coalesce(pg_catalog.sum(s.batches_pruned_by_range), 0)::bigint AS batches_pruned_by_range,
		   coalesce(pg_catalog.sum(s.batches_counted), 0)::bigint AS batches_counted,
		   coalesce(pg_catalog.sum(s.batches_passed), 0)::bigint AS batches_passed,
		   coalesce(pg_catalog.sum(s.rows_from_batches), 0)::bigint AS rows_from_batches,
		   coalesce(pg_catalog.sum(s.rows_from_row_store), 0)::bigint AS rows_from_row_store,
		   coalesce(pg_catalog.sum(s.rows_moved), 0)::bigint AS rows_moved,
		   coalesce(pg_catalog.sum(s.rows_deleted), 0)::bigint AS rows_deleted,
		   coalesce(pg_catalog.sum(s.compressions), 0)::bigint AS compressions,
		   coalesce(pg_catalog.sum(s.rows_compressed), 0)::bigint AS rows_compressed,
		   coalesce(pg_catalog.sum(s.batches_written), 0)::bigint AS batches_written,
		   pg_catalog.max(s.last_compression) AS last_compression,
		   coalesce(pg_catalog.sum(s.decompressions), 0)::bigint AS decompressions,
		   pg_catalog.min(s.since) AS since
	FROM _strata.hypertable h
	LEFT JOIN strata.stat_tables s ON s.hypertable = h.relid
	GROUP BY h.relid, h.schema_name, h.table_name;
COMMENT ON VIEW strata.stat_hypertables IS
'strata.stat_tables summed over the chunks a hypertable has now; chunks that were dropped took their counters along';

GRANT SELECT ON strata.stat_tables, strata.stat_hypertables TO PUBLIC;
