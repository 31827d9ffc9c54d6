CREATE FUNCTION compress_chunk(
	uncompressed_chunk regclass,
	if_not_compressed boolean DEFAULT true,
	recompress boolean DEFAULT false)
RETURNS regclass
	AS 'MODULE_PATHNAME', 'strata_compress_chunk' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION compress_chunk(regclass, boolean, boolean) IS
'turn the rows in the row store of a strata table (or of every partition of a partitioned one) into compressed batches; recompress merges the batches there are as well; a table without new rows gives a notice, or an error if if_not_compressed is false';

CREATE FUNCTION decompress_chunk(
	uncompressed_chunk regclass,
	if_compressed boolean DEFAULT true)
RETURNS regclass
	AS 'MODULE_PATHNAME', 'strata_decompress_chunk' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION decompress_chunk(regclass, boolean) IS
'turn all batches of a strata table back into rows; NULL with a notice (an error if if_compressed is false) when it has none';

CREATE PROCEDURE strata.compress_all(relation regclass DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'strata_compress_all' LANGUAGE C;
COMMENT ON PROCEDURE strata.compress_all(regclass) IS
'compress the new rows of every chunk of a hypertable, or of every strata table of this database that you own, each in a transaction of its own (unless called in one); what was done, and when the rest may be, is said by notices; a failure of one table is raised after the others had their turn. For use after loading, or restoring a dump';

CREATE PROCEDURE strata.to_heap(relation regclass)
	AS 'MODULE_PATHNAME', 'strata_to_heap' LANGUAGE C;
COMMENT ON PROCEDURE strata.to_heap(regclass) IS
'make an ordinary table of a strata table, or of a hypertable a partitioned table with heap partitions, that needs nothing of this extension: rows are kept, options and policies go; each chunk is rewritten in a transaction of its own (unless called in one), and a call that was interrupted is gone on with by the next';

CREATE PROCEDURE strata.convert(
	relation regclass, time_column name DEFAULT NULL, chunk_time_interval text DEFAULT NULL,
	segmentby text DEFAULT NULL, orderby text DEFAULT NULL, compress boolean DEFAULT true,
	lock_timeout interval DEFAULT '1 s', pause interval DEFAULT '0 s', dry_run boolean DEFAULT false)
	AS 'MODULE_PATHNAME', 'strata_convert' LANGUAGE C;
COMMENT ON PROCEDURE strata.convert(regclass, name, text, text, text, boolean, interval, interval, boolean) IS
'make a compressed hypertable of a heap table, whose rows become the first chunk where they are and then, unless compress is false, chunks of the interval, or of a partitioned table, whose heap partitions use strata from now on, beside readers and writers and without being rewritten; chunks whose time is over are compressed; each step in a transaction of its own (unless called in one), with pause between, and a call that was interrupted is gone on with by the next; dry_run says from a sample what would come of it';

CREATE FUNCTION _strata.on_drop_extension() RETURNS event_trigger
	AS 'MODULE_PATHNAME', 'strata_on_drop_extension' LANGUAGE C;
REVOKE ALL ON FUNCTION _strata.on_drop_extension() FROM PUBLIC;
CREATE EVENT TRIGGER strata_drop_extension ON ddl_command_start
	WHEN TAG IN ('DROP EXTENSION')
	EXECUTE FUNCTION _strata.on_drop_extension();
ALTER EVENT TRIGGER strata_drop_extension ENABLE ALWAYS;

-- Loads the library for statements on tables, and for those that may drop or
-- rename columns, and refuses those that it would have had a part in.
CREATE FUNCTION _strata.on_ddl_start() RETURNS event_trigger
	AS 'MODULE_PATHNAME', 'strata_on_ddl_start' LANGUAGE C;
REVOKE ALL ON FUNCTION _strata.on_ddl_start() FROM PUBLIC;
CREATE EVENT TRIGGER strata_ddl_start ON ddl_command_start
	WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS', 'SELECT INTO', 'CREATE MATERIALIZED VIEW', 'CREATE INDEX',
		'ALTER TABLE', 'ALTER MATERIALIZED VIEW', 'ALTER INDEX', 'ALTER FOREIGN TABLE', 'ALTER TYPE', 'DROP COLLATION',
		'DROP DOMAIN', 'DROP EXTENSION', 'DROP FUNCTION', 'DROP OPERATOR', 'DROP OWNED', 'DROP ROUTINE', 'DROP SCHEMA',
		'DROP TYPE')
	EXECUTE FUNCTION _strata.on_ddl_start();

CREATE FUNCTION strata.gc() RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_gc' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION strata.gc() FROM PUBLIC;
COMMENT ON FUNCTION strata.gc() IS
'drop companion tables whose table is gone, as a session that had not loaded the library may leave behind; returns how many';

-- For a session that drops a table before it loaded the library, when the
-- object access hook is not there yet.
CREATE FUNCTION _strata.on_sql_drop() RETURNS event_trigger
	AS 'MODULE_PATHNAME', 'strata_on_sql_drop' LANGUAGE C;
REVOKE ALL ON FUNCTION _strata.on_sql_drop() FROM PUBLIC;

CREATE EVENT TRIGGER strata_sql_drop ON sql_drop
	WHEN TAG IN ('DROP TABLE', 'DROP MATERIALIZED VIEW', 'DROP SCHEMA', 'DROP OWNED')
	EXECUTE FUNCTION _strata.on_sql_drop();

-- What pg/pg_publication.c puts in the place of pg_get_publication_tables().
DO $$
BEGIN
	IF current_setting('server_version_num')::int < 160000 THEN
		CREATE FUNCTION _strata.publication_tables(
			pubname text, OUT relid oid, OUT attrs int2vector, OUT qual pg_node_tree)
		RETURNS SETOF record
			AS 'MODULE_PATHNAME', 'strata_publication_tables' LANGUAGE C STRICT STABLE PARALLEL SAFE;
	ELSE
		CREATE FUNCTION _strata.publication_tables(
			VARIADIC pubname text[], OUT pubid oid, OUT relid oid, OUT attrs int2vector, OUT qual pg_node_tree)
		RETURNS SETOF record
			AS 'MODULE_PATHNAME', 'strata_publication_tables' LANGUAGE C STRICT STABLE PARALLEL SAFE;
	END IF;
END $$;
