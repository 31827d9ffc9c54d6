CREATE FUNCTION strata.batch_relation(relation regclass) RETURNS regclass
	AS 'MODULE_PATHNAME', 'strata_batch_relation' LANGUAGE C STRICT STABLE PARALLEL SAFE;
COMMENT ON FUNCTION strata.batch_relation(regclass) IS
'the companion table that holds a strata table''s batches; NULL if it was never compressed';

CREATE FUNCTION strata.batches(
	relation regclass,
	OUT first_row bigint, OUT nrows integer, OUT layout text, OUT segment text[],
	OUT min_orderby text, OUT max_orderby text, OUT bytes bigint, OUT chunk regclass)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_batches' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION strata.batches(regclass) IS
'one row per batch: number of its first row, rows, layout (segmentby/orderby attribute numbers), segment values, least and greatest value of the first orderby column, bytes stored, and which table it is of: all partitions of a partitioned one are shown';

CREATE FUNCTION strata.batch_columns(
	relation regclass,
	OUT first_row bigint, OUT column_name name, OUT codec text, OUT bytes integer,
	OUT nulls integer, OUT min text, OUT max text, OUT detail text, OUT chunk regclass)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_batch_columns' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION strata.batch_columns(regclass) IS
'one row per batch and column: codec, encoded bytes, nulls, least and greatest value as summarised, what the codec did, and which table it is of: all partitions of a partitioned one are shown';

CREATE FUNCTION _strata.codecs(OUT codec text, OUT types text, OUT available boolean)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_codecs' LANGUAGE C STRICT IMMUTABLE PARALLEL SAFE;

CREATE FUNCTION strata.verify(
	relation regclass,
	OUT batch bigint, OUT column_name name, OUT problem text)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_verify' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION strata.verify(regclass) IS
'check every batch of a strata table, or of all partitions of a partitioned one (checksums, decoding, counts, minima and maxima, order, numbering): one row per problem, none when sound; of a continuous aggregate: its archive, which is compared with what rows make in all buckets that are up to date; a table of another access method gives a notice';

CREATE FUNCTION _strata.row_counts(
	relation regclass,
	OUT row_store_rows bigint, OUT batch_rows bigint, OUT batches bigint)
	AS 'MODULE_PATHNAME', 'strata_row_counts' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

CREATE FUNCTION _strata.layout_of(
	relation regclass,
	OUT attnum smallint, OUT segmentby_column_index smallint, OUT orderby_column_index smallint,
	OUT orderby_asc boolean, OUT orderby_nullsfirst boolean)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_layout_of' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

CREATE FUNCTION _strata.is_compressed(relation oid) RETURNS boolean
	AS 'MODULE_PATHNAME', 'strata_is_compressed' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION _strata.is_compressed(oid) IS 'are there batches?';

CREATE FUNCTION _strata.before_sizes(
	relation regclass,
	OUT table_bytes bigint, OUT index_bytes bigint, OUT toast_bytes bigint)
	AS 'MODULE_PATHNAME', 'strata_before_sizes' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

GRANT USAGE ON SCHEMA _strata TO PUBLIC;

-- Whose chunks are meant where a continuous aggregate is named; and back.
CREATE FUNCTION _strata.hypertable_meant(relation oid) RETURNS oid
	AS 'MODULE_PATHNAME', 'strata_hypertable_meant_sql' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION _strata.hypertable_meant(oid) IS 'the archive of a continuous aggregate; any other relation itself';
CREATE FUNCTION _strata.relation_named(relation oid) RETURNS oid
	AS 'MODULE_PATHNAME', 'strata_relation_named' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION _strata.relation_named(oid) IS 'the continuous aggregate of an archive; any other relation itself';
CREATE FUNCTION _strata.retention_held(hypertable oid, archives boolean) RETURNS text
	AS 'MODULE_PATHNAME', 'strata_retention_held' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION _strata.retention_held(oid, boolean) IS 'why chunks cannot be dropped of a hypertable that has continuous aggregates, or (archives) of the one that an archive''s tiers are made of; NULL: they can';
GRANT EXECUTE ON FUNCTION _strata.retention_held(oid, boolean), _strata.hypertable_meant(oid), _strata.relation_named(oid) TO PUBLIC;

CREATE FUNCTION _strata.batch_index_relation(batches oid) RETURNS oid LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT to_regclass('_strata.batch_index_' || batches)::oid;
END;
COMMENT ON FUNCTION _strata.batch_index_relation(oid) IS 'what leads from values to the batches of a companion; NULL: there is none';
GRANT EXECUTE ON FUNCTION _strata.batch_index_relation(oid) TO PUBLIC;

CREATE FUNCTION chunk_compression_stats(
	hypertable regclass,
	OUT chunk_schema name, OUT chunk_name name, OUT compression_status text,
	OUT before_compression_table_bytes bigint, OUT before_compression_index_bytes bigint,
	OUT before_compression_toast_bytes bigint, OUT before_compression_total_bytes bigint,
	OUT after_compression_table_bytes bigint, OUT after_compression_index_bytes bigint,
	OUT after_compression_toast_bytes bigint, OUT after_compression_total_bytes bigint,
	OUT node_name name)
RETURNS SETOF record LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT n.nspname, c.relname,
		   CASE WHEN d.compressed THEN 'Compressed' ELSE 'Uncompressed' END,
		   b.table_bytes, b.index_bytes, b.toast_bytes,
		   b.table_bytes + b.index_bytes + b.toast_bytes,
		   s.table_bytes, s.index_bytes, s.toast_bytes,
		   s.table_bytes + s.index_bytes + s.toast_bytes,
		   NULL::name
	FROM (SELECT t.relid FROM pg_partition_tree(_strata.hypertable_meant(hypertable)) t WHERE t.isleaf
		  UNION SELECT hypertable::oid WHERE NOT EXISTS (SELECT FROM pg_partition_tree(hypertable))) l
	JOIN pg_class c ON c.oid = l.relid
	JOIN pg_am a ON a.oid = c.relam AND a.amname = 'strata'
	JOIN pg_namespace n ON n.oid = c.relnamespace
	CROSS JOIN LATERAL (SELECT _strata.is_compressed(c.oid) AS compressed) d
	CROSS JOIN LATERAL _strata.before_sizes(c.oid) b
	LEFT JOIN LATERAL (
		SELECT (sum(pg_table_size(k.oid)) - coalesce(sum(pg_total_relation_size(nullif(k.reltoastrelid, 0))), 0))::bigint AS table_bytes,
			   (sum(pg_indexes_size(k.oid))
				+ coalesce(pg_total_relation_size(_strata.batch_index_relation(strata.batch_relation(c.oid))), 0))::bigint AS index_bytes,
			   coalesce(sum(pg_total_relation_size(nullif(k.reltoastrelid, 0))), 0)::bigint AS toast_bytes
		FROM pg_class k WHERE k.oid IN (c.oid, strata.batch_relation(c.oid))) s ON d.compressed;
END;
COMMENT ON FUNCTION chunk_compression_stats(regclass) IS
'bytes before and after compression, of a strata table or of every strata partition of a partitioned one; before: what all rows and their index entries would take as rows, by what compressed ones took, NULL when some came without having been measured (direct load), after: what is on disk now, row store and indexes included';
