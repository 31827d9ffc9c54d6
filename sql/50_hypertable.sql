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
'a dimension for add_dimension(): partitions by hash of a column';

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

CREATE FUNCTION set_chunk_time_interval(
	hypertable regclass,
	chunk_time_interval anyelement,
	dimension_name name DEFAULT NULL)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_chunk_time_interval' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION set_chunk_time_interval(regclass, anyelement, name) IS
'set the length of chunks that are made from now on; existing chunks keep their ranges';

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
