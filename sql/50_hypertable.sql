-- What by_range() and by_hash() hand to create_hypertable() and add_dimension().
CREATE TYPE _strata.dimension_info AS (
	dimension_type text, column_name name, interval_length text, interval_type regtype,
	num_partitions integer, partition_func regproc);
COMMENT ON TYPE _strata.dimension_info IS 'a dimension of a hypertable, as by_range() and by_hash() describe it';

CREATE FUNCTION by_range(
	column_name name,
	partition_interval anyelement DEFAULT NULL::bigint,
	partition_func regproc DEFAULT NULL)
RETURNS _strata.dimension_info LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ROW('range', column_name, partition_interval::text, pg_catalog.pg_typeof(partition_interval), NULL, partition_func)::_strata.dimension_info $$;
COMMENT ON FUNCTION by_range(name, anyelement, regproc) IS
'a dimension for create_hypertable(): chunks by ranges of a time column, of the given length (7 days)';

CREATE FUNCTION by_hash(
	column_name name,
	number_partitions integer,
	partition_func regproc DEFAULT NULL)
RETURNS _strata.dimension_info LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ROW('hash', column_name, NULL, NULL, number_partitions, partition_func)::_strata.dimension_info $$;
COMMENT ON FUNCTION by_hash(name, integer, regproc) IS
'a dimension for add_dimension(), by hash of a column: shown, and makes no partitions';

CREATE FUNCTION create_hypertable(
	relation regclass,
	time_column_name name,
	partitioning_column name DEFAULT NULL,
	number_partitions integer DEFAULT NULL,
	associated_schema_name name DEFAULT NULL,
	associated_table_prefix name DEFAULT NULL,
	chunk_time_interval anyelement DEFAULT NULL::bigint,
	create_default_indexes boolean DEFAULT true,
	if_not_exists boolean DEFAULT false,
	partitioning_func regproc DEFAULT NULL,
	migrate_data boolean DEFAULT false,
	time_partitioning_func regproc DEFAULT NULL,
	replication_factor integer DEFAULT NULL)
RETURNS TABLE (hypertable_id integer, schema_name name, table_name name, created boolean) ROWS 1
	AS 'MODULE_PATHNAME', 'strata_create_hypertable' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION create_hypertable(regclass, name, name, integer, name, name, anyelement, boolean, boolean, regproc, boolean, regproc, integer) IS
'turn a table into a hypertable in place: chunks by ranges of its time column are made when rows need them';

CREATE FUNCTION create_hypertable(
	relation regclass,
	dimension _strata.dimension_info,
	create_default_indexes boolean DEFAULT true,
	if_not_exists boolean DEFAULT false,
	migrate_data boolean DEFAULT false)
RETURNS TABLE (hypertable_id integer, created boolean) ROWS 1
	AS 'MODULE_PATHNAME', 'strata_create_hypertable_by' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION create_hypertable(regclass, _strata.dimension_info, boolean, boolean, boolean) IS
'turn a table into a hypertable in place, its time column given by by_range()';

CREATE FUNCTION add_dimension(
	hypertable regclass,
	column_name name,
	number_partitions integer DEFAULT NULL,
	chunk_time_interval anyelement DEFAULT NULL::bigint,
	partitioning_func regproc DEFAULT NULL,
	if_not_exists boolean DEFAULT false)
RETURNS TABLE (dimension_id integer, schema_name name, table_name name, column_name name, created boolean) ROWS 1
	AS 'MODULE_PATHNAME', 'strata_add_dimension' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION add_dimension(regclass, name, integer, anyelement, regproc, boolean) IS
'write down a dimension beside time, for programs that ask for it; it makes no partitions of chunks: strata.segmentby does its work';

CREATE FUNCTION add_dimension(
	hypertable regclass,
	dimension _strata.dimension_info,
	if_not_exists boolean DEFAULT false)
RETURNS TABLE (dimension_id integer, created boolean) ROWS 1
	AS 'MODULE_PATHNAME', 'strata_add_dimension_by' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION add_dimension(regclass, _strata.dimension_info, boolean) IS
'write down a dimension beside time, for programs that ask for it; it makes no partitions of chunks: strata.segmentby does its work';

CREATE FUNCTION set_number_partitions(
	hypertable regclass,
	number_partitions integer,
	dimension_name name DEFAULT NULL)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_number_partitions' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION set_number_partitions(regclass, integer, name) IS
'change the number of partitions that a hash dimension is shown with';

CREATE FUNCTION set_chunk_time_interval(
	hypertable regclass,
	chunk_time_interval anyelement,
	dimension_name name DEFAULT NULL)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_chunk_time_interval' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION set_chunk_time_interval(regclass, anyelement, name) IS
'set the length of chunks that are made from now on; existing chunks keep their ranges';

CREATE FUNCTION set_partitioning_interval(
	hypertable regclass,
	partition_interval anyelement,
	dimension_name name DEFAULT NULL)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_chunk_time_interval' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION set_partitioning_interval(regclass, anyelement, name) IS
'another name of set_chunk_time_interval()';

CREATE FUNCTION attach_tablespace(tablespace name, hypertable regclass, if_not_attached boolean DEFAULT false)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_attach_tablespace' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION attach_tablespace(name, regclass, boolean) IS
'put new chunks of a hypertable into this tablespace too, in turn with the others attached';

CREATE FUNCTION detach_tablespace(tablespace name, hypertable regclass DEFAULT NULL, if_attached boolean DEFAULT false)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_detach_tablespace' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION detach_tablespace(name, regclass, boolean) IS
'put no new chunks into a tablespace, of one hypertable or of all that are yours; returns of how many';

CREATE FUNCTION detach_tablespaces(hypertable regclass) RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_detach_tablespaces' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION detach_tablespaces(regclass) IS
'put new chunks of a hypertable into the default tablespace; returns how many were attached';

CREATE FUNCTION show_tablespaces(hypertable regclass) RETURNS SETOF name
	AS 'MODULE_PATHNAME', 'strata_show_tablespaces' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION show_tablespaces(regclass) IS
'the tablespaces that new chunks of a hypertable are put into in turn; none: the default one';

CREATE FUNCTION _strata.further_dimensions(
	hypertable oid,
	OUT dimension_number bigint, OUT column_name name, OUT column_type regtype, OUT dimension_type text,
	OUT time_interval interval, OUT integer_interval bigint, OUT num_partitions smallint)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_further_dimensions' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED ROWS 1;

CREATE FUNCTION set_integer_now_func(
	hypertable regclass,
	integer_now_func regproc,
	replace_if_exists boolean DEFAULT false)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_integer_now_func' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION set_integer_now_func(regclass, regproc, boolean) IS
'say which function returns the present time in the units of an integer time column; policies and relative times need it';

CREATE FUNCTION _strata.insert_guard() RETURNS trigger
	AS 'MODULE_PATHNAME', 'strata_insert_guard' LANGUAGE C;
COMMENT ON FUNCTION _strata.insert_guard() IS
'statement trigger on hypertables: refuses to insert in a session that has not loaded the library and so would make no chunks';

CREATE FUNCTION show_chunks(
	relation regclass,
	older_than "any" DEFAULT NULL,
	newer_than "any" DEFAULT NULL,
	created_before "any" DEFAULT NULL,
	created_after "any" DEFAULT NULL)
RETURNS SETOF regclass
	AS 'MODULE_PATHNAME', 'strata_show_chunks' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION show_chunks(regclass, "any", "any", "any", "any") IS
'chunks of a hypertable in order of time: those that end at or before older_than, begin at or after newer_than, were made before or after; a limit is a point in time, or an interval before now';

CREATE FUNCTION drop_chunks(
	relation regclass,
	older_than "any" DEFAULT NULL,
	newer_than "any" DEFAULT NULL,
	verbose boolean DEFAULT false,
	created_before "any" DEFAULT NULL,
	created_after "any" DEFAULT NULL)
RETURNS SETOF text
	AS 'MODULE_PATHNAME', 'strata_drop_chunks' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION drop_chunks(regclass, "any", "any", boolean, "any", "any") IS
'drop the chunks that show_chunks() would list for the same limits, of which there must be one; returns their names';

CREATE FUNCTION create_chunks(
	hypertable regclass,
	range_start "any",
	range_end "any" DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_create_chunks' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION create_chunks(regclass, "any", "any") IS
'make the chunks that are missing from range_start to before range_end, or without it the one of range_start, each in a transaction of its own, as for a row; returns how many were made; a limit is a point in time, or an interval before now';

CREATE FUNCTION _strata.chunk_info(
	chunk oid,
	OUT range_start timestamptz, OUT range_end timestamptz,
	OUT range_start_integer bigint, OUT range_end_integer bigint, OUT created timestamptz)
	AS 'MODULE_PATHNAME', 'strata_chunk_info' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

CREATE FUNCTION _strata.dimension_of(
	hypertable oid,
	OUT column_name name, OUT column_type regtype, OUT time_interval interval,
	OUT integer_interval bigint, OUT integer_now_func text)
	AS 'MODULE_PATHNAME', 'strata_dimension_info' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;

-- The hypertables there are: partitioned tables with our option.
CREATE VIEW _strata.hypertable AS
	SELECT c.oid AS relid, n.nspname AS schema_name, c.relname AS table_name, c.relowner AS owner, c.reloptions AS options
	FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	WHERE c.relkind = 'p'
	  AND EXISTS (SELECT FROM pg_catalog.unnest(c.reloptions) o WHERE o LIKE 'strata.chunk\_interval=%');
COMMENT ON VIEW _strata.hypertable IS 'hypertables by OID';

-- Chunks are the partitions of these, and nothing else.
CREATE VIEW _strata.chunk AS
	SELECT i.inhparent AS hypertable, c.oid AS relid, n.nspname AS schema_name, c.relname AS table_name,
		   c.reltablespace AS tablespace, c.reltoastrelid AS toast, c.reltuples AS tuples, b.*,
		   strata.batch_relation(c.oid) AS batches
	FROM _strata.hypertable h
	JOIN pg_catalog.pg_inherits i ON i.inhparent = h.relid
	JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
	JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
	CROSS JOIN LATERAL _strata.chunk_info(c.oid) b;
COMMENT ON VIEW _strata.chunk IS 'chunks by OID, with their ranges and companions';

-- The size functions run as whoever calls them; all of this is in pg_class, too.
GRANT SELECT ON _strata.hypertable, _strata.chunk TO PUBLIC;

-- Bytes of one chunk, its batches with it.
CREATE FUNCTION _strata.relation_bytes(
	relation oid, batches oid,
	OUT table_bytes bigint, OUT index_bytes bigint, OUT toast_bytes bigint, OUT total_bytes bigint)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT s.total - s.indexes - s.toast, s.indexes, s.toast, s.total
	FROM (SELECT (sum(pg_total_relation_size(c.oid)) + coalesce(min(i.bytes), 0))::bigint AS total,
				 (sum(pg_indexes_size(c.oid)) + coalesce(min(i.bytes), 0))::bigint AS indexes,
				 coalesce(sum(pg_total_relation_size(nullif(c.reltoastrelid, 0))), 0)::bigint AS toast
		  FROM pg_class c CROSS JOIN (SELECT pg_total_relation_size(_strata.batch_index_relation(batches)) AS bytes) i
		  WHERE c.oid = relation OR c.oid = batches) s;
END;

CREATE FUNCTION chunks_detailed_size(
	hypertable regclass,
	OUT chunk_schema name, OUT chunk_name name, OUT table_bytes bigint, OUT index_bytes bigint,
	OUT toast_bytes bigint, OUT total_bytes bigint, OUT node_name name)
RETURNS SETOF record LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT c.schema_name, c.table_name, b.table_bytes, b.index_bytes, b.toast_bytes, b.total_bytes, NULL::name
	FROM _strata.chunk c CROSS JOIN LATERAL _strata.relation_bytes(c.relid, c.batches) b
	WHERE c.hypertable = (SELECT _strata.hypertable_meant(chunks_detailed_size.hypertable))
	ORDER BY c.range_start, c.range_start_integer;
END;
COMMENT ON FUNCTION chunks_detailed_size(regclass) IS 'bytes of each chunk of a hypertable, batches included';

CREATE FUNCTION hypertable_detailed_size(
	hypertable regclass,
	OUT table_bytes bigint, OUT index_bytes bigint, OUT toast_bytes bigint, OUT total_bytes bigint, OUT node_name name)
RETURNS SETOF record LANGUAGE sql STABLE STRICT ROWS 1
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT coalesce(sum(b.table_bytes), 0)::bigint, coalesce(sum(b.index_bytes), 0)::bigint,
		   coalesce(sum(b.toast_bytes), 0)::bigint, coalesce(sum(b.total_bytes), 0)::bigint, NULL::name
	FROM _strata.chunk c CROSS JOIN LATERAL _strata.relation_bytes(c.relid, c.batches) b
	WHERE c.hypertable = (SELECT _strata.hypertable_meant(hypertable_detailed_size.hypertable))
	HAVING EXISTS (SELECT FROM _strata.hypertable h WHERE h.relid = (SELECT _strata.hypertable_meant(hypertable_detailed_size.hypertable)));
END;
COMMENT ON FUNCTION hypertable_detailed_size(regclass) IS 'bytes of all chunks of a hypertable together; no row for other tables';

CREATE FUNCTION hypertable_size(hypertable regclass) RETURNS bigint LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT coalesce(sum(b.total_bytes), 0)::bigint
	FROM (SELECT c.relid, c.batches FROM _strata.chunk c WHERE c.hypertable = (SELECT _strata.hypertable_meant(hypertable_size.hypertable))) c
	CROSS JOIN LATERAL _strata.relation_bytes(c.relid, c.batches) b
	HAVING count(*) > 0 OR EXISTS (SELECT FROM _strata.hypertable h WHERE h.relid = (SELECT _strata.hypertable_meant(hypertable_size.hypertable)));
END;
COMMENT ON FUNCTION hypertable_size(regclass) IS 'bytes of all chunks of a hypertable together, batches, indexes and TOAST included';

CREATE FUNCTION hypertable_index_size(index_name regclass) RETURNS bigint LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT coalesce((SELECT sum(pg_relation_size(t.relid)) FROM pg_partition_tree(index_name) t WHERE t.isleaf), pg_relation_size(index_name))::bigint
	FROM pg_class c WHERE c.oid = index_name AND c.relkind IN ('i', 'I');
END;
COMMENT ON FUNCTION hypertable_index_size(regclass) IS 'bytes of an index of a hypertable over all chunks; NULL for what is no index';

-- From the size that the file system told last: cheap, and never exact.
CREATE FUNCTION hypertable_approximate_size(relation regclass) RETURNS bigint LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT total_bytes FROM @extschema@.hypertable_detailed_size(relation);
END;
COMMENT ON FUNCTION hypertable_approximate_size(regclass) IS 'the same as hypertable_size()';

CREATE FUNCTION hypertable_approximate_detailed_size(
	relation regclass,
	OUT table_bytes bigint, OUT index_bytes bigint, OUT toast_bytes bigint, OUT total_bytes bigint)
RETURNS SETOF record LANGUAGE sql STABLE STRICT ROWS 1
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT s.table_bytes, s.index_bytes, s.toast_bytes, s.total_bytes FROM @extschema@.hypertable_detailed_size(relation) s;
END;
COMMENT ON FUNCTION hypertable_approximate_detailed_size(regclass) IS 'the same as hypertable_detailed_size()';

CREATE FUNCTION approximate_row_count(relation regclass) RETURNS bigint LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
	FROM pg_class c
	WHERE c.oid = relation AND c.relkind IN ('r', 'm')
	   OR c.oid IN (SELECT t.relid FROM pg_partition_tree(_strata.hypertable_meant(relation)) t WHERE t.isleaf);
END;
COMMENT ON FUNCTION approximate_row_count(regclass) IS
'rows of a table or of all its partitions as of their last ANALYZE or VACUUM';

CREATE FUNCTION hypertable_compression_stats(
	hypertable regclass,
	OUT total_chunks bigint, OUT number_compressed_chunks bigint,
	OUT before_compression_table_bytes bigint, OUT before_compression_index_bytes bigint,
	OUT before_compression_toast_bytes bigint, OUT before_compression_total_bytes bigint,
	OUT after_compression_table_bytes bigint, OUT after_compression_index_bytes bigint,
	OUT after_compression_toast_bytes bigint, OUT after_compression_total_bytes bigint,
	OUT node_name name)
RETURNS SETOF record LANGUAGE sql STABLE STRICT ROWS 1
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT count(*), count(*) FILTER (WHERE s.compression_status = 'Compressed'),
		   sum(s.before_compression_table_bytes) FILTER (WHERE s.all_known)::bigint,
		   sum(s.before_compression_index_bytes) FILTER (WHERE s.all_known)::bigint,
		   sum(s.before_compression_toast_bytes) FILTER (WHERE s.all_known)::bigint,
		   sum(s.before_compression_total_bytes) FILTER (WHERE s.all_known)::bigint,
		   sum(s.after_compression_table_bytes)::bigint, sum(s.after_compression_index_bytes)::bigint,
		   sum(s.after_compression_toast_bytes)::bigint, sum(s.after_compression_total_bytes)::bigint, NULL::name
	FROM (SELECT c.*, bool_and(c.compression_status = 'Uncompressed' OR c.before_compression_total_bytes IS NOT NULL) OVER () AS all_known
		  FROM @extschema@.chunk_compression_stats(hypertable) c) s
	HAVING count(*) > 0;
END;
COMMENT ON FUNCTION hypertable_compression_stats(regclass) IS
'bytes before and after compression over all chunks of a hypertable; before is NULL when it is not known of some';

CREATE FUNCTION chunk_columnstore_stats(
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
	SELECT * FROM @extschema@.chunk_compression_stats(hypertable);
END;
COMMENT ON FUNCTION chunk_columnstore_stats(regclass) IS 'another name of chunk_compression_stats()';

CREATE FUNCTION hypertable_columnstore_stats(
	hypertable regclass,
	OUT total_chunks bigint, OUT number_compressed_chunks bigint,
	OUT before_compression_table_bytes bigint, OUT before_compression_index_bytes bigint,
	OUT before_compression_toast_bytes bigint, OUT before_compression_total_bytes bigint,
	OUT after_compression_table_bytes bigint, OUT after_compression_index_bytes bigint,
	OUT after_compression_toast_bytes bigint, OUT after_compression_total_bytes bigint,
	OUT node_name name)
RETURNS SETOF record LANGUAGE sql STABLE STRICT ROWS 1
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT * FROM @extschema@.hypertable_compression_stats(hypertable);
END;
COMMENT ON FUNCTION hypertable_columnstore_stats(regclass) IS 'another name of hypertable_compression_stats()';

CREATE PROCEDURE convert_to_columnstore(
	chunk regclass,
	if_not_columnstore boolean DEFAULT true,
	recompress boolean DEFAULT false)
LANGUAGE sql
BEGIN ATOMIC
	SELECT @extschema@.compress_chunk(chunk, if_not_columnstore, recompress);
END;
COMMENT ON PROCEDURE convert_to_columnstore(regclass, boolean, boolean) IS 'compress_chunk() as a procedure';

CREATE PROCEDURE convert_to_rowstore(chunk regclass, if_columnstore boolean DEFAULT true)
LANGUAGE sql
BEGIN ATOMIC
	SELECT @extschema@.decompress_chunk(chunk, if_columnstore);
END;
COMMENT ON PROCEDURE convert_to_rowstore(regclass, boolean) IS 'decompress_chunk() as a procedure';

-- A procedure, as programs CALL it.
CREATE PROCEDURE recompress_chunk(chunk regclass, if_not_compressed boolean DEFAULT true)
LANGUAGE sql
BEGIN ATOMIC
	SELECT @extschema@.compress_chunk(chunk, if_not_compressed, true);
END;
COMMENT ON PROCEDURE recompress_chunk(regclass, boolean) IS 'compress_chunk() that merges the batches there are as well';

CREATE VIEW strata.hypertables AS
	SELECT h.schema_name AS hypertable_schema, h.table_name AS hypertable_name,
		   pg_catalog.pg_get_userbyid(h.owner) AS owner,
		   (1 + (SELECT count(*) FROM _strata.further_dimensions(h.relid)))::smallint AS num_dimensions,
		   (SELECT count(*) FROM pg_catalog.pg_inherits i WHERE i.inhparent = h.relid) AS num_chunks,
		   -- every hypertable can be compressed; this says whether somebody has set it up
		   EXISTS (SELECT FROM pg_catalog.unnest(h.options) o
				   WHERE o LIKE 'strata.segmentby=%' OR o = 'strata.columnstore=true'
					  OR o LIKE 'strata.orderby=%' AND d.integer_interval IS NULL) AS compression_enabled,
		   nullif(ARRAY(SELECT @extschema@.show_tablespaces(h.relid)), '{}') AS tablespaces,
		   d.column_name AS primary_dimension, d.column_type AS primary_dimension_type
	FROM _strata.hypertable h CROSS JOIN LATERAL _strata.dimension_of(h.relid) d;
COMMENT ON VIEW strata.hypertables IS 'hypertables';

CREATE VIEW strata.chunks AS
	SELECT h.schema_name AS hypertable_schema, h.table_name AS hypertable_name,
		   c.schema_name AS chunk_schema, c.table_name AS chunk_name,
		   d.column_name AS primary_dimension, d.column_type AS primary_dimension_type,
		   c.range_start, c.range_end, c.range_start_integer, c.range_end_integer,
		   _strata.is_compressed(c.relid) AS is_compressed,
		   (SELECT s.spcname FROM pg_catalog.pg_tablespace s WHERE s.oid = c.tablespace) AS chunk_tablespace,
		   c.created AS chunk_creation_time
	FROM _strata.hypertable h
	CROSS JOIN LATERAL _strata.dimension_of(h.relid) d
	JOIN _strata.chunk c ON c.hypertable = h.relid;
COMMENT ON VIEW strata.chunks IS 'chunks of hypertables with their ranges; local time is shown as UTC';

CREATE VIEW strata.dimensions AS
	SELECT h.schema_name AS hypertable_schema, h.table_name AS hypertable_name, 1::bigint AS dimension_number,
		   d.column_name, d.column_type, 'Time'::text AS dimension_type, d.time_interval, d.integer_interval,
		   d.integer_now_func, NULL::smallint AS num_partitions
	FROM _strata.hypertable h CROSS JOIN LATERAL _strata.dimension_of(h.relid) d
	UNION ALL
	SELECT h.schema_name, h.table_name, f.dimension_number, f.column_name, f.column_type, f.dimension_type,
		   f.time_interval, f.integer_interval, NULL, f.num_partitions
	FROM _strata.hypertable h CROSS JOIN LATERAL _strata.further_dimensions(h.relid) f;
COMMENT ON VIEW strata.dimensions IS
'the time column of each hypertable and the length of its chunks to come; dimensions that add_dimension() was asked for, which make no partitions';
