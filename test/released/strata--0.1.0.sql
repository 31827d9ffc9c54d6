-- made from sql/*.sql by make; do not edit
\echo Use "CREATE EXTENSION strata" to load this file. \quit
SET LOCAL search_path TO pg_catalog, pg_temp;
-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION strata" to load this file. \quit

CREATE SCHEMA strata;
COMMENT ON SCHEMA strata IS 'views and inspection functions of the strata extension';
CREATE SCHEMA _strata;
COMMENT ON SCHEMA _strata IS 'internals of the strata extension: companion tables';
GRANT USAGE ON SCHEMA strata TO PUBLIC;

-- An encoded column of a batch.  Opaque; shown as bytea is.
CREATE TYPE strata.compressed;

CREATE FUNCTION strata.compressed_in(cstring) RETURNS strata.compressed
	AS 'MODULE_PATHNAME', 'strata_compressed_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strata.compressed_out(strata.compressed) RETURNS cstring
	AS 'MODULE_PATHNAME', 'strata_compressed_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strata.compressed_recv(internal) RETURNS strata.compressed
	AS 'MODULE_PATHNAME', 'strata_compressed_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION strata.compressed_send(strata.compressed) RETURNS bytea
	AS 'MODULE_PATHNAME', 'strata_compressed_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE strata.compressed (
	INPUT = strata.compressed_in,
	OUTPUT = strata.compressed_out,
	RECEIVE = strata.compressed_recv,
	SEND = strata.compressed_send,
	INTERNALLENGTH = VARIABLE,
	STORAGE = external
);
COMMENT ON TYPE strata.compressed IS 'one encoded column of a batch of rows; see docs/format.md';
CREATE FUNCTION _strata.handler(internal) RETURNS table_am_handler
	AS 'MODULE_PATHNAME', 'strata_handler' LANGUAGE C STRICT;

CREATE ACCESS METHOD strata TYPE TABLE HANDLER _strata.handler;
COMMENT ON ACCESS METHOD strata IS 'heap for fresh rows, compressed column batches for cooled ones';

CREATE FUNCTION _strata.dedup_handler(internal) RETURNS table_am_handler
	AS 'MODULE_PATHNAME', 'strata_dedup_handler' LANGUAGE C STRICT;

CREATE ACCESS METHOD strata_dedup TYPE TABLE HANDLER _strata.dedup_handler;
COMMENT ON ACCESS METHOD strata_dedup IS 'heap whose pages keep repeated values once';
CREATE FUNCTION @extschema@.compress_chunk(
	uncompressed_chunk regclass,
	if_not_compressed boolean DEFAULT true,
	recompress boolean DEFAULT false)
RETURNS regclass
	AS 'MODULE_PATHNAME', 'strata_compress_chunk' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.compress_chunk(regclass, boolean, boolean) IS
'turn the rows in the row store of a strata table (or of every partition of a partitioned one) into compressed batches; recompress merges the batches there are as well; a table without new rows gives a notice, or an error if if_not_compressed is false';

CREATE FUNCTION @extschema@.decompress_chunk(
	uncompressed_chunk regclass,
	if_compressed boolean DEFAULT true)
RETURNS regclass
	AS 'MODULE_PATHNAME', 'strata_decompress_chunk' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.decompress_chunk(regclass, boolean) IS
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
-- Batches between servers: ADR 045.

-- Opening an inbox for units: exports are told apart by export, units of one by seq.
CREATE FUNCTION _strata.export_units(relation regclass, low text, high text, columns name[], after bigint,
	OUT export uuid, OUT seq bigint, OUT kind text, OUT rows integer, OUT unit bytea)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_export_units' LANGUAGE C STABLE PARALLEL UNSAFE ROWS 1000 COST 100000;
COMMENT ON FUNCTION _strata.export_units(regclass, text, text, name[], bigint) IS
'the units of export_batches(), each as one value, so that they are not collected before the first is seen';

CREATE FUNCTION strata.export_batches(
	relation regclass, low text DEFAULT NULL, high text DEFAULT NULL,
	columns name[] DEFAULT NULL, after bigint DEFAULT 0)
RETURNS TABLE (export uuid, seq bigint, kind text, rows integer, unit bytea)
	LANGUAGE sql STABLE PARALLEL UNSAFE ROWS 1000
BEGIN ATOMIC
	SELECT (u.u).export, (u.u).seq, (u.u).kind, (u.u).rows, (u.u).unit
	FROM (SELECT _strata.export_units(relation, low, high, columns, after) AS u OFFSET 0) u;
END;
COMMENT ON FUNCTION strata.export_batches(regclass, text, text, name[], bigint) IS
'the rows of a table (of times from low to before high, of some columns) as units for import_batches(), in one snapshot: batches as they are compressed, all other rows compressed for the way. For COPY (SELECT * FROM strata.export_batches(...)) TO ... (FORMAT binary). after: without the units up to that number, of an export in the same snapshot';

CREATE FUNCTION _strata.unit_rows(unit bytea, import integer) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_unit_rows_sql' LANGUAGE C STABLE PARALLEL UNSAFE ROWS 1000 COST 100000;
COMMENT ON FUNCTION _strata.unit_rows(bytea, integer) IS
'the rows of a unit, value by value checked; import: 0, or the number of the import that goes on';

CREATE TABLE _strata.import (
	relation oid NOT NULL,
	export uuid NOT NULL,
	source bigint NOT NULL,
	low bigint,
	high bigint,
	units int8multirange NOT NULL DEFAULT '{}',
	rows bigint NOT NULL DEFAULT 0,
	total bigint,
	total_rows bigint,
	began timestamptz NOT NULL DEFAULT pg_catalog.now(),
	changed timestamptz NOT NULL DEFAULT pg_catalog.now(),
	PRIMARY KEY (relation, export)
);
COMMENT ON TABLE _strata.import IS
'what import_batches() has put into tables: of an export (of times from low to before high, in units of the time column) of the table `source`, a hash of server, database and table, the numbers of its units; total, total_rows: of the export, once its end was seen';

CREATE PROCEDURE strata.import_batches(
	relation regclass, source regclass, units_per_transaction integer DEFAULT 1000,
	INOUT units bigint DEFAULT NULL, INOUT rows bigint DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'strata_import_batches' LANGUAGE C;
COMMENT ON PROCEDURE strata.import_batches(regclass, regclass, integer, bigint, bigint) IS
'insert the rows of the units of export_batches() that are in source, a table or foreign table, and have not come before: what was in batches becomes batches; in transactions of so many units unless it is called in one or source is no table; goes on where an earlier call ended; says how many units and rows came';

CREATE FUNCTION strata.forget_import(relation regclass, export uuid DEFAULT NULL) RETURNS bigint
	AS 'MODULE_PATHNAME', 'strata_forget_import' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION strata.forget_import(regclass, uuid) IS
'forget which units of an export (default: of all) have been imported into a table, so that they can be imported again; the rows stay';

CREATE VIEW strata.imports AS
	SELECT i.relation::regclass AS relation, i.export,
		   (SELECT coalesce(pg_catalog.sum(pg_catalog.upper(r) - pg_catalog.lower(r)), 0)
			FROM pg_catalog.unnest(i.units) AS r)::bigint AS units,
		   i.total AS units_in_all, i.rows, i.total_rows AS rows_in_all,
		   coalesce(i.rows = i.total_rows, false) AS complete, i.began, i.changed
	FROM _strata.import i
	WHERE pg_catalog.has_table_privilege(i.relation, 'INSERT');
COMMENT ON VIEW strata.imports IS
'exports that have been imported, as a whole or in part, into tables that you may insert into';
GRANT SELECT ON strata.imports TO PUBLIC;
-- Buckets.  timestamptz is bucketed in UTC unless a zone is named: all immutable.
CREATE FUNCTION @extschema@.time_bucket(bucket_width smallint, ts smallint) RETURNS smallint
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width integer, ts integer) RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width bigint, ts bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width smallint, ts smallint, "offset" smallint) RETURNS smallint
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width integer, ts integer, "offset" integer) RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width bigint, ts bigint, "offset" bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts date) RETURNS date
	AS 'MODULE_PATHNAME', 'strata_time_bucket_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts timestamp, origin timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts timestamptz, origin timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts date, origin date) RETURNS date
	AS 'MODULE_PATHNAME', 'strata_time_bucket_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts timestamp, "offset" interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp_offset' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts timestamptz, "offset" interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp_offset' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts date, "offset" interval) RETURNS date
	AS 'MODULE_PATHNAME', 'strata_time_bucket_date_offset' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts timestamptz, timezone text,
		origin timestamptz DEFAULT NULL, "offset" interval DEFAULT NULL) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_time_bucket_zone' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.time_bucket(smallint, smallint) IS 'start of the bucket of that width that holds the time';
COMMENT ON FUNCTION @extschema@.time_bucket(integer, integer) IS 'start of the bucket of that width that holds the time';
COMMENT ON FUNCTION @extschema@.time_bucket(bigint, bigint) IS 'start of the bucket of that width that holds the time';
COMMENT ON FUNCTION @extschema@.time_bucket(smallint, smallint, smallint) IS 'start of the bucket that holds the time; a bucket starts at the offset';
COMMENT ON FUNCTION @extschema@.time_bucket(integer, integer, integer) IS 'start of the bucket that holds the time; a bucket starts at the offset';
COMMENT ON FUNCTION @extschema@.time_bucket(bigint, bigint, bigint) IS 'start of the bucket that holds the time; a bucket starts at the offset';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, timestamp) IS 'start of the bucket that holds the time; weeks start on Monday';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, timestamptz) IS 'start of the bucket (in UTC) that holds the time; weeks start on Monday';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, date) IS 'start of the bucket that holds the date; weeks start on Monday';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, timestamp, timestamp) IS 'start of the bucket that holds the time; a bucket starts at the origin';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, timestamptz, timestamptz) IS 'start of the bucket that holds the time; a bucket starts at the origin';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, date, date) IS 'start of the bucket that holds the date; a bucket starts at the origin';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, timestamp, interval) IS 'start of the bucket that holds the time; all buckets are moved by the offset';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, timestamptz, interval) IS 'start of the bucket (in UTC) that holds the time; all buckets are moved by the offset';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, date, interval) IS 'start of the bucket that holds the date; all buckets are moved by the offset';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, timestamptz, text, timestamptz, interval) IS 'start of the bucket of the zone''s wall clock that holds the time';

CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts uuid) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_bucket' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts uuid, origin timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_bucket' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts uuid, "offset" interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_bucket_offset' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket(bucket_width interval, ts uuid, timezone text,
	origin timestamptz DEFAULT NULL, "offset" interval DEFAULT NULL) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_bucket_zone' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.time_bucket(interval, uuid) IS 'start of the bucket (in UTC) that holds the time of a version 7 UUID';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, uuid, timestamptz) IS 'start of the bucket that holds the time of a version 7 UUID; a bucket starts at the origin';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, uuid, interval) IS 'start of the bucket (in UTC) that holds the time of a version 7 UUID; all buckets are moved by the offset';
COMMENT ON FUNCTION @extschema@.time_bucket(interval, uuid, text, timestamptz, interval) IS 'start of the bucket of the zone''s wall clock that holds the time of a version 7 UUID';

-- UUIDs of version 7
CREATE FUNCTION @extschema@.generate_uuidv7() RETURNS uuid
	AS 'MODULE_PATHNAME', 'strata_generate_uuidv7' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.to_uuidv7(ts timestamptz) RETURNS uuid
	AS 'MODULE_PATHNAME', 'strata_to_uuidv7' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.to_uuidv7_boundary(ts timestamptz) RETURNS uuid
	AS 'MODULE_PATHNAME', 'strata_to_uuidv7_boundary' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.uuid_timestamp(uuid uuid) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.uuid_timestamp_micros(uuid uuid) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_timestamp_micros' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION @extschema@.uuid_version(uuid uuid) RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_uuid_version' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.generate_uuidv7() IS 'a version 7 UUID of the present time, random behind its microseconds';
COMMENT ON FUNCTION @extschema@.to_uuidv7(timestamptz) IS 'a version 7 UUID of the time, random behind its microseconds';
COMMENT ON FUNCTION @extschema@.to_uuidv7_boundary(timestamptz) IS 'the least version 7 UUID of the time: for comparisons';
COMMENT ON FUNCTION @extschema@.uuid_timestamp(uuid) IS 'the time of a version 7 UUID, in milliseconds';
COMMENT ON FUNCTION @extschema@.uuid_timestamp_micros(uuid) IS 'the time of a version 7 UUID, in microseconds if whoever made it put them there';
COMMENT ON FUNCTION @extschema@.uuid_version(uuid) IS 'the version of a UUID';

-- What the planner compares a time with instead of its bucket.
CREATE FUNCTION _strata.bucket_edge(c anyelement, last boolean, width "any") RETURNS anyelement
	AS 'MODULE_PATHNAME', 'strata_time_bucket_edge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _strata.bucket_edge(c anyelement, last boolean, width "any", origin_or_offset "any") RETURNS anyelement
	AS 'MODULE_PATHNAME', 'strata_time_bucket_edge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _strata.bucket_edge(anyelement, boolean, "any") IS
'first time whose time_bucket is >= c, or (last) last time whose time_bucket is <= c';
COMMENT ON FUNCTION _strata.bucket_edge(anyelement, boolean, "any", "any") IS
'first time whose time_bucket is >= c, or (last) last time whose time_bucket is <= c';
CREATE FUNCTION _strata.zone_bucket_edge(c timestamptz, last boolean, width interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_time_bucket_zone_edge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION _strata.zone_bucket_edge(timestamptz, boolean, interval) IS
'a time no later than all times whose time_bucket, in whatever zone, is >= c, or (last) no earlier than all whose time_bucket is <= c';

-- first and last
CREATE FUNCTION _strata.first_transition(internal, anyelement, "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'strata_first_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _strata.last_transition(internal, anyelement, "any") RETURNS internal
	AS 'MODULE_PATHNAME', 'strata_last_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _strata.first_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'strata_first_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _strata.last_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'strata_last_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _strata.first_last_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'strata_first_last_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _strata.first_last_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'strata_first_last_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _strata.first_last_final(internal, anyelement, "any") RETURNS anyelement
	AS 'MODULE_PATHNAME', 'strata_first_last_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE @extschema@.first(value anyelement, "time" "any") (
	SFUNC = _strata.first_transition, STYPE = internal,
	COMBINEFUNC = _strata.first_combine,
	SERIALFUNC = _strata.first_last_serialize, DESERIALFUNC = _strata.first_last_deserialize,
	FINALFUNC = _strata.first_last_final, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.first(anyelement, "any") IS
'value of the row with the smallest time; rows whose time is NULL do not count';
CREATE AGGREGATE @extschema@.last(value anyelement, "time" "any") (
	SFUNC = _strata.last_transition, STYPE = internal,
	COMBINEFUNC = _strata.last_combine,
	SERIALFUNC = _strata.first_last_serialize, DESERIALFUNC = _strata.first_last_deserialize,
	FINALFUNC = _strata.first_last_final, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.last(anyelement, "any") IS
'value of the row with the largest time; rows whose time is NULL do not count';

-- histogram
CREATE FUNCTION _strata.histogram_transition(internal, double precision, double precision, double precision, integer)
	RETURNS internal AS 'MODULE_PATHNAME', 'strata_histogram_transition' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _strata.histogram_combine(internal, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'strata_histogram_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION _strata.histogram_serialize(internal) RETURNS bytea
	AS 'MODULE_PATHNAME', 'strata_histogram_serialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _strata.histogram_deserialize(bytea, internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'strata_histogram_deserialize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION _strata.histogram_final(internal) RETURNS integer[]
	AS 'MODULE_PATHNAME', 'strata_histogram_final' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE @extschema@.histogram(value double precision, min double precision, max double precision, nbuckets integer) (
	SFUNC = _strata.histogram_transition, STYPE = internal,
	COMBINEFUNC = _strata.histogram_combine,
	SERIALFUNC = _strata.histogram_serialize, DESERIALFUNC = _strata.histogram_deserialize,
	FINALFUNC = _strata.histogram_final, PARALLEL = SAFE);
COMMENT ON AGGREGATE @extschema@.histogram(double precision, double precision, double precision, integer) IS
'counts of values below min, in each of nbuckets equal parts of [min, max), and from max on';
-- Gap filling.  Calls are taken apart before planning and never run.
CREATE FUNCTION @extschema@.time_bucket_gapfill(bucket_width smallint, ts smallint, start smallint DEFAULT NULL, finish smallint DEFAULT NULL)
	RETURNS smallint AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket_gapfill(bucket_width integer, ts integer, start integer DEFAULT NULL, finish integer DEFAULT NULL)
	RETURNS integer AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket_gapfill(bucket_width bigint, ts bigint, start bigint DEFAULT NULL, finish bigint DEFAULT NULL)
	RETURNS bigint AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket_gapfill(bucket_width interval, ts date, start date DEFAULT NULL, finish date DEFAULT NULL)
	RETURNS date AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket_gapfill(bucket_width interval, ts timestamp, start timestamp DEFAULT NULL, finish timestamp DEFAULT NULL)
	RETURNS timestamp AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket_gapfill(bucket_width interval, ts timestamptz, start timestamptz DEFAULT NULL, finish timestamptz DEFAULT NULL)
	RETURNS timestamptz AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION @extschema@.time_bucket_gapfill(bucket_width interval, ts timestamptz, timezone text, start timestamptz DEFAULT NULL, finish timestamptz DEFAULT NULL)
	RETURNS timestamptz AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION @extschema@.time_bucket_gapfill(smallint, smallint, smallint, smallint) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION @extschema@.time_bucket_gapfill(integer, integer, integer, integer) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION @extschema@.time_bucket_gapfill(bigint, bigint, bigint, bigint) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION @extschema@.time_bucket_gapfill(interval, date, date, date) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION @extschema@.time_bucket_gapfill(interval, timestamp, timestamp, timestamp) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION @extschema@.time_bucket_gapfill(interval, timestamptz, timestamptz, timestamptz) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION @extschema@.time_bucket_gapfill(interval, timestamptz, text, timestamptz, timestamptz) IS 'as time_bucket with a time zone, with a row for every bucket from start to finish';

CREATE FUNCTION @extschema@.locf(value anyelement, prev anyelement DEFAULT NULL, treat_null_as_missing boolean DEFAULT false)
	RETURNS anyelement AS 'MODULE_PATHNAME', 'strata_gapfill_locf' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.locf(anyelement, anyelement, boolean) IS 'in an empty bucket of time_bucket_gapfill, the value of the bucket before';

CREATE FUNCTION @extschema@.interpolate(value smallint, prev record DEFAULT NULL, next record DEFAULT NULL)
	RETURNS smallint AS 'MODULE_PATHNAME', 'strata_gapfill_interpolate' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION @extschema@.interpolate(value integer, prev record DEFAULT NULL, next record DEFAULT NULL)
	RETURNS integer AS 'MODULE_PATHNAME', 'strata_gapfill_interpolate' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION @extschema@.interpolate(value bigint, prev record DEFAULT NULL, next record DEFAULT NULL)
	RETURNS bigint AS 'MODULE_PATHNAME', 'strata_gapfill_interpolate' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION @extschema@.interpolate(value real, prev record DEFAULT NULL, next record DEFAULT NULL)
	RETURNS real AS 'MODULE_PATHNAME', 'strata_gapfill_interpolate' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION @extschema@.interpolate(value double precision, prev record DEFAULT NULL, next record DEFAULT NULL)
	RETURNS double precision AS 'MODULE_PATHNAME', 'strata_gapfill_interpolate' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION @extschema@.interpolate(smallint, record, record) IS 'in an empty bucket of time_bucket_gapfill, a value on the line between its neighbours';
COMMENT ON FUNCTION @extschema@.interpolate(integer, record, record) IS 'in an empty bucket of time_bucket_gapfill, a value on the line between its neighbours';
COMMENT ON FUNCTION @extschema@.interpolate(bigint, record, record) IS 'in an empty bucket of time_bucket_gapfill, a value on the line between its neighbours';
COMMENT ON FUNCTION @extschema@.interpolate(real, record, record) IS 'in an empty bucket of time_bucket_gapfill, a value on the line between its neighbours';
COMMENT ON FUNCTION @extschema@.interpolate(double precision, record, record) IS 'in an empty bucket of time_bucket_gapfill, a value on the line between its neighbours';

CREATE FUNCTION _strata.gapfill_bound("type" anyelement, value "any", after boolean) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'strata_gapfill_bound' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION _strata.gapfill_bound(anyelement, "any", boolean) IS 'first time of the type that is >= value, or (after) > value';
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

CREATE FUNCTION @extschema@.chunk_compression_stats(
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
COMMENT ON FUNCTION @extschema@.chunk_compression_stats(regclass) IS
'bytes before and after compression, of a strata table or of every strata partition of a partitioned one; before: what all rows and their index entries would take as rows, by what compressed ones took, NULL when some came without having been measured (direct load), after: what is on disk now, row store and indexes included';
CREATE FUNCTION strata.page_symbols(
	relation regclass, block bigint,
	OUT symbol integer, OUT uses integer, OUT bytes integer, OUT columns name[], OUT value text)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_page_symbols' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION strata.page_symbols(regclass, bigint) IS
'the values that a page of a strata_dedup table keeps once: how often and in which columns each is used, its bytes, and its text by the first of these columns; no rows for a page without any';

CREATE FUNCTION strata.dedup_stats(
	relation regclass,
	OUT pages bigint, OUT pages_with_symbols bigint, OUT row_versions bigint, OUT row_versions_with_symbols bigint,
	OUT symbols bigint, OUT symbol_bytes bigint, OUT bytes bigint, OUT bytes_saved bigint, OUT ratio double precision)
	AS 'MODULE_PATHNAME', 'strata_dedup_stats' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION strata.dedup_stats(regclass) IS
'what the pages of a strata_dedup table hold: pages and those with symbols, row versions and those with symbols, symbols and bytes of their tables, bytes of rows and tables, and how many more the same rows would take without symbols; free space does not count. Reads the whole table';

CREATE FUNCTION strata.estimate_dedup(
	relation regclass,
	OUT bytes bigint, OUT heap_bytes bigint, OUT dedup_bytes bigint, OUT ratio double precision, OUT sampled double precision)
	AS 'MODULE_PATHNAME', 'strata_estimate_dedup' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION strata.estimate_dedup(regclass) IS
'what a heap (or strata_dedup) table would take as strata_dedup: bytes of its pages now, after VACUUM FULL as heap, after VACUUM FULL as strata_dedup, and the latter two''s ratio, from the part of the pages that was read; indexes and TOAST stay as they are';

CREATE FUNCTION strata.set_tablespace_access_method(tablespace name, access_method name) RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_tablespace_access_method' LANGUAGE C VOLATILE;
COMMENT ON FUNCTION strata.set_tablespace_access_method(name, name) IS
'have new tables of a tablespace use this access method where nothing names another (NULL: no longer): tables of all databases, made with TABLESPACE, by default_tablespace, or by their database''s default; kept as a security label of the tablespace, so pg_dumpall has it; for the owner of the tablespace';

-- Here, since it is of both kinds of tables.
CREATE FUNCTION @extschema@.pg_get_compression_ratio(relation regclass) RETURNS double precision
	LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT sum(b.before)::float8 / nullif(sum(b.after), 0)
	FROM (SELECT before_compression_total_bytes AS before, after_compression_total_bytes AS after
		  FROM @extschema@.chunk_compression_stats(relation)
		  WHERE before_compression_total_bytes IS NOT NULL
		  UNION ALL
		  SELECT d.bytes + d.bytes_saved, d.bytes
		  FROM (SELECT t.relid FROM pg_partition_tree(_strata.hypertable_meant(relation)) t WHERE t.isleaf
				UNION SELECT relation::oid WHERE NOT EXISTS (SELECT FROM pg_partition_tree(relation))) l
		  JOIN pg_class c ON c.oid = l.relid
		  JOIN pg_am a ON a.oid = c.relam AND a.amname = 'strata_dedup'
		  CROSS JOIN LATERAL strata.dedup_stats(c.oid) d) b;
END;
COMMENT ON FUNCTION @extschema@.pg_get_compression_ratio(regclass) IS
'bytes before compression divided by bytes after, over the tables of a partition tree for which both are known; of strata_dedup tables, bytes of rows without symbols by those of rows and symbols; NULL when there are none';
CREATE FUNCTION @extschema@.estimate_compression(
	relation regclass, segmentby text DEFAULT NULL, orderby text DEFAULT NULL,
	OUT column_name name, OUT codec text, OUT raw_bytes bigint, OUT bytes bigint, OUT ratio double precision)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_estimate_compression' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.estimate_compression(regclass, text, text) IS
'what a heap or strata table would take compressed, by column and (last row, without a name) in all, from a sample and without writing; segmentby and orderby as the options take them, those of the table if NULL';

CREATE FUNCTION @extschema@.advise_compression(
	relation regclass,
	OUT rank integer, OUT segmentby text, OUT orderby text, OUT predicted_bytes bigint,
	OUT ratio double precision, OUT rows_per_batch bigint, OUT takes interval, OUT reason text, OUT command text)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_advise_compression' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.advise_compression(regclass) IS
'candidates for strata.segmentby, smallest predicted size first, each with reason and the command that sets it and compresses; before them strata_dedup (segmentby is null) where rows are changed one by one; of a partitioned table, its largest partition is looked at';

CREATE FUNCTION strata.codec_choice(
	relation regclass,
	OUT column_name name, OUT codec text, OUT bytes bigint, OUT bytes_per_value double precision,
	OUT batches bigint, OUT reason text)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_codec_choice' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION strata.codec_choice(regclass) IS
'what each codec would make of each column, in the same sample as estimate_compression reads, and why it is taken or not; auto is what is written';
-- What by_range() and by_hash() hand to create_hypertable() and add_dimension().
CREATE TYPE _strata.dimension_info AS (
	dimension_type text, column_name name, interval_length text, interval_type regtype,
	num_partitions integer, partition_func regproc);
COMMENT ON TYPE _strata.dimension_info IS 'a dimension of a hypertable, as by_range() and by_hash() describe it';

CREATE FUNCTION @extschema@.by_range(
	column_name name,
	partition_interval anyelement DEFAULT NULL::bigint,
	partition_func regproc DEFAULT NULL)
RETURNS _strata.dimension_info LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ROW('range', column_name, partition_interval::text, pg_catalog.pg_typeof(partition_interval), NULL, partition_func)::_strata.dimension_info $$;
COMMENT ON FUNCTION @extschema@.by_range(name, anyelement, regproc) IS
'a dimension for create_hypertable(): chunks by ranges of a time column, of the given length (7 days)';

CREATE FUNCTION @extschema@.by_hash(
	column_name name,
	number_partitions integer,
	partition_func regproc DEFAULT NULL)
RETURNS _strata.dimension_info LANGUAGE sql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$ SELECT ROW('hash', column_name, NULL, NULL, number_partitions, partition_func)::_strata.dimension_info $$;
COMMENT ON FUNCTION @extschema@.by_hash(name, integer, regproc) IS
'a dimension for add_dimension(), by hash of a column: shown, and makes no partitions';

CREATE FUNCTION @extschema@.create_hypertable(
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
COMMENT ON FUNCTION @extschema@.create_hypertable(regclass, name, name, integer, name, name, anyelement, boolean, boolean, regproc, boolean, regproc, integer) IS
'turn a table into a hypertable in place: chunks by ranges of its time column are made when rows need them';

CREATE FUNCTION @extschema@.create_hypertable(
	relation regclass,
	dimension _strata.dimension_info,
	create_default_indexes boolean DEFAULT true,
	if_not_exists boolean DEFAULT false,
	migrate_data boolean DEFAULT false)
RETURNS TABLE (hypertable_id integer, created boolean) ROWS 1
	AS 'MODULE_PATHNAME', 'strata_create_hypertable_by' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.create_hypertable(regclass, _strata.dimension_info, boolean, boolean, boolean) IS
'turn a table into a hypertable in place, its time column given by by_range()';

CREATE FUNCTION @extschema@.add_dimension(
	hypertable regclass,
	column_name name,
	number_partitions integer DEFAULT NULL,
	chunk_time_interval anyelement DEFAULT NULL::bigint,
	partitioning_func regproc DEFAULT NULL,
	if_not_exists boolean DEFAULT false)
RETURNS TABLE (dimension_id integer, schema_name name, table_name name, column_name name, created boolean) ROWS 1
	AS 'MODULE_PATHNAME', 'strata_add_dimension' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.add_dimension(regclass, name, integer, anyelement, regproc, boolean) IS
'write down a dimension beside time, for programs that ask for it; it makes no partitions of chunks: strata.segmentby does its work';

CREATE FUNCTION @extschema@.add_dimension(
	hypertable regclass,
	dimension _strata.dimension_info,
	if_not_exists boolean DEFAULT false)
RETURNS TABLE (dimension_id integer, created boolean) ROWS 1
	AS 'MODULE_PATHNAME', 'strata_add_dimension_by' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.add_dimension(regclass, _strata.dimension_info, boolean) IS
'write down a dimension beside time, for programs that ask for it; it makes no partitions of chunks: strata.segmentby does its work';

CREATE FUNCTION @extschema@.set_number_partitions(
	hypertable regclass,
	number_partitions integer,
	dimension_name name DEFAULT NULL)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_number_partitions' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.set_number_partitions(regclass, integer, name) IS
'change the number of partitions that a hash dimension is shown with';

CREATE FUNCTION @extschema@.set_chunk_time_interval(
	hypertable regclass,
	chunk_time_interval anyelement,
	dimension_name name DEFAULT NULL)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_chunk_time_interval' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.set_chunk_time_interval(regclass, anyelement, name) IS
'set the length of chunks that are made from now on; existing chunks keep their ranges';

CREATE FUNCTION @extschema@.set_partitioning_interval(
	hypertable regclass,
	partition_interval anyelement,
	dimension_name name DEFAULT NULL)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_chunk_time_interval' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.set_partitioning_interval(regclass, anyelement, name) IS
'another name of set_chunk_time_interval()';

CREATE FUNCTION @extschema@.attach_tablespace(tablespace name, hypertable regclass, if_not_attached boolean DEFAULT false)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_attach_tablespace' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.attach_tablespace(name, regclass, boolean) IS
'put new chunks of a hypertable into this tablespace too, in turn with the others attached';

CREATE FUNCTION @extschema@.detach_tablespace(tablespace name, hypertable regclass DEFAULT NULL, if_attached boolean DEFAULT false)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_detach_tablespace' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.detach_tablespace(name, regclass, boolean) IS
'put no new chunks into a tablespace, of one hypertable or of all that are yours; returns of how many';

CREATE FUNCTION @extschema@.detach_tablespaces(hypertable regclass) RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_detach_tablespaces' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.detach_tablespaces(regclass) IS
'put new chunks of a hypertable into the default tablespace; returns how many were attached';

CREATE FUNCTION @extschema@.show_tablespaces(hypertable regclass) RETURNS SETOF name
	AS 'MODULE_PATHNAME', 'strata_show_tablespaces' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.show_tablespaces(regclass) IS
'the tablespaces that new chunks of a hypertable are put into in turn; none: the default one';

CREATE FUNCTION _strata.further_dimensions(
	hypertable oid,
	OUT dimension_number bigint, OUT column_name name, OUT column_type regtype, OUT dimension_type text,
	OUT time_interval interval, OUT integer_interval bigint, OUT num_partitions smallint)
RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_further_dimensions' LANGUAGE C STRICT STABLE PARALLEL RESTRICTED ROWS 1;

CREATE FUNCTION @extschema@.set_integer_now_func(
	hypertable regclass,
	integer_now_func regproc,
	replace_if_exists boolean DEFAULT false)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_set_integer_now_func' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.set_integer_now_func(regclass, regproc, boolean) IS
'say which function returns the present time in the units of an integer time column; policies and relative times need it';

CREATE FUNCTION _strata.insert_guard() RETURNS trigger
	AS 'MODULE_PATHNAME', 'strata_insert_guard' LANGUAGE C;
COMMENT ON FUNCTION _strata.insert_guard() IS
'statement trigger on hypertables: refuses to insert in a session that has not loaded the library and so would make no chunks';

CREATE FUNCTION @extschema@.show_chunks(
	relation regclass,
	older_than "any" DEFAULT NULL,
	newer_than "any" DEFAULT NULL,
	created_before "any" DEFAULT NULL,
	created_after "any" DEFAULT NULL)
RETURNS SETOF regclass
	AS 'MODULE_PATHNAME', 'strata_show_chunks' LANGUAGE C STABLE PARALLEL RESTRICTED;
COMMENT ON FUNCTION @extschema@.show_chunks(regclass, "any", "any", "any", "any") IS
'chunks of a hypertable in order of time: those that end at or before older_than, begin at or after newer_than, were made before or after; a limit is a point in time, or an interval before now';

CREATE FUNCTION @extschema@.drop_chunks(
	relation regclass,
	older_than "any" DEFAULT NULL,
	newer_than "any" DEFAULT NULL,
	verbose boolean DEFAULT false,
	created_before "any" DEFAULT NULL,
	created_after "any" DEFAULT NULL)
RETURNS SETOF text
	AS 'MODULE_PATHNAME', 'strata_drop_chunks' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.drop_chunks(regclass, "any", "any", boolean, "any", "any") IS
'drop the chunks that show_chunks() would list for the same limits, of which there must be one; returns their names';

CREATE FUNCTION @extschema@.create_chunks(
	hypertable regclass,
	range_start "any",
	range_end "any" DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_create_chunks' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.create_chunks(regclass, "any", "any") IS
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

CREATE FUNCTION @extschema@.chunks_detailed_size(
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
COMMENT ON FUNCTION @extschema@.chunks_detailed_size(regclass) IS 'bytes of each chunk of a hypertable, batches included';

CREATE FUNCTION @extschema@.hypertable_detailed_size(
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
COMMENT ON FUNCTION @extschema@.hypertable_detailed_size(regclass) IS 'bytes of all chunks of a hypertable together; no row for other tables';

CREATE FUNCTION @extschema@.hypertable_size(hypertable regclass) RETURNS bigint LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT coalesce(sum(b.total_bytes), 0)::bigint
	FROM (SELECT c.relid, c.batches FROM _strata.chunk c WHERE c.hypertable = (SELECT _strata.hypertable_meant(hypertable_size.hypertable))) c
	CROSS JOIN LATERAL _strata.relation_bytes(c.relid, c.batches) b
	HAVING count(*) > 0 OR EXISTS (SELECT FROM _strata.hypertable h WHERE h.relid = (SELECT _strata.hypertable_meant(hypertable_size.hypertable)));
END;
COMMENT ON FUNCTION @extschema@.hypertable_size(regclass) IS 'bytes of all chunks of a hypertable together, batches, indexes and TOAST included';

CREATE FUNCTION @extschema@.hypertable_index_size(index_name regclass) RETURNS bigint LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT coalesce((SELECT sum(pg_relation_size(t.relid)) FROM pg_partition_tree(index_name) t WHERE t.isleaf), pg_relation_size(index_name))::bigint
	FROM pg_class c WHERE c.oid = index_name AND c.relkind IN ('i', 'I');
END;
COMMENT ON FUNCTION @extschema@.hypertable_index_size(regclass) IS 'bytes of an index of a hypertable over all chunks; NULL for what is no index';

-- From the size that the file system told last: cheap, and never exact.
CREATE FUNCTION @extschema@.hypertable_approximate_size(relation regclass) RETURNS bigint LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT total_bytes FROM @extschema@.hypertable_detailed_size(relation);
END;
COMMENT ON FUNCTION @extschema@.hypertable_approximate_size(regclass) IS 'the same as hypertable_size()';

CREATE FUNCTION @extschema@.hypertable_approximate_detailed_size(
	relation regclass,
	OUT table_bytes bigint, OUT index_bytes bigint, OUT toast_bytes bigint, OUT total_bytes bigint)
RETURNS SETOF record LANGUAGE sql STABLE STRICT ROWS 1
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT s.table_bytes, s.index_bytes, s.toast_bytes, s.total_bytes FROM @extschema@.hypertable_detailed_size(relation) s;
END;
COMMENT ON FUNCTION @extschema@.hypertable_approximate_detailed_size(regclass) IS 'the same as hypertable_detailed_size()';

CREATE FUNCTION @extschema@.approximate_row_count(relation regclass) RETURNS bigint LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	SELECT coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint
	FROM pg_class c
	WHERE c.oid = relation AND c.relkind IN ('r', 'm')
	   OR c.oid IN (SELECT t.relid FROM pg_partition_tree(_strata.hypertable_meant(relation)) t WHERE t.isleaf);
END;
COMMENT ON FUNCTION @extschema@.approximate_row_count(regclass) IS
'rows of a table or of all its partitions as of their last ANALYZE or VACUUM';

CREATE FUNCTION @extschema@.hypertable_compression_stats(
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
COMMENT ON FUNCTION @extschema@.hypertable_compression_stats(regclass) IS
'bytes before and after compression over all chunks of a hypertable; before is NULL when it is not known of some';

CREATE FUNCTION @extschema@.chunk_columnstore_stats(
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
COMMENT ON FUNCTION @extschema@.chunk_columnstore_stats(regclass) IS 'another name of chunk_compression_stats()';

CREATE FUNCTION @extschema@.hypertable_columnstore_stats(
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
COMMENT ON FUNCTION @extschema@.hypertable_columnstore_stats(regclass) IS 'another name of hypertable_compression_stats()';

CREATE PROCEDURE @extschema@.convert_to_columnstore(
	chunk regclass,
	if_not_columnstore boolean DEFAULT true,
	recompress boolean DEFAULT false)
LANGUAGE sql
BEGIN ATOMIC
	SELECT @extschema@.compress_chunk(chunk, if_not_columnstore, recompress);
END;
COMMENT ON PROCEDURE @extschema@.convert_to_columnstore(regclass, boolean, boolean) IS 'compress_chunk() as a procedure';

CREATE PROCEDURE @extschema@.convert_to_rowstore(chunk regclass, if_columnstore boolean DEFAULT true)
LANGUAGE sql
BEGIN ATOMIC
	SELECT @extschema@.decompress_chunk(chunk, if_columnstore);
END;
COMMENT ON PROCEDURE @extschema@.convert_to_rowstore(regclass, boolean) IS 'decompress_chunk() as a procedure';

-- A procedure, as programs CALL it.
CREATE PROCEDURE @extschema@.recompress_chunk(chunk regclass, if_not_compressed boolean DEFAULT true)
LANGUAGE sql
BEGIN ATOMIC
	SELECT @extschema@.compress_chunk(chunk, if_not_compressed, true);
END;
COMMENT ON PROCEDURE @extschema@.recompress_chunk(regclass, boolean) IS 'compress_chunk() that merges the batches there are as well';

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
CREATE FUNCTION @extschema@.reorder_chunk(chunk regclass, index regclass DEFAULT NULL, verbose boolean DEFAULT false)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_reorder_chunk' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.reorder_chunk(regclass, regclass, boolean) IS
'rewrite the rows of a chunk in the order of an index of it or of its hypertable (the one used last); compressed rows keep the order of their batches';

CREATE FUNCTION @extschema@.move_chunk(
	chunk regclass,
	destination_tablespace name,
	index_destination_tablespace name DEFAULT NULL,
	reorder_index regclass DEFAULT NULL,
	verbose boolean DEFAULT false)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_move_chunk' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.move_chunk(regclass, name, name, regclass, boolean) IS
'move a chunk, its batches with it, to another tablespace, and its indexes to a second one if that is given; reorder it as well if an index is given';

CREATE PROCEDURE @extschema@.merge_chunks(chunk1 regclass, chunk2 regclass, concurrently boolean DEFAULT false)
	AS 'MODULE_PATHNAME', 'strata_merge_two_chunks' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.merge_chunks(regclass, regclass, boolean) IS
'merge two adjacent chunks of a hypertable into the earlier one; compressed when one of them was';

CREATE PROCEDURE @extschema@.merge_chunks(chunks regclass[])
	AS 'MODULE_PATHNAME', 'strata_merge_chunks' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.merge_chunks(regclass[]) IS
'merge adjacent chunks of a hypertable into the earliest of them; compressed when one of them was';

CREATE PROCEDURE @extschema@.split_chunk(chunk regclass, split_at "any" DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'strata_split_chunk' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.split_chunk(regclass, "any") IS
'split a chunk in two at a point of its time, or in the middle; the later rows go into a new chunk';

CREATE PROCEDURE @extschema@.attach_chunk(hypertable regclass, chunk regclass, slices jsonb)
	AS 'MODULE_PATHNAME', 'strata_attach_chunk' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.attach_chunk(regclass, regclass, jsonb) IS
'make a table a chunk of a hypertable for the range that slices gives, like {"time": ["2026-01-01", "2026-01-08"]}';

CREATE PROCEDURE @extschema@.detach_chunk(chunk regclass)
	AS 'MODULE_PATHNAME', 'strata_detach_chunk' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.detach_chunk(regclass) IS
'make a chunk a table of its own, with the settings that it was used with';

-- convert(): a first chunk, of all times up to some moment, that is being
-- divided (docs/adr/041).  Logs without an index, read by nobody else.
CREATE TABLE _strata.divide (
	source oid NOT NULL,
	part oid NOT NULL,
	lo bigint NOT NULL,
	hi bigint NOT NULL,
	file oid NOT NULL,
	fingerprint bigint NOT NULL,
	division bigint NOT NULL
);
COMMENT ON TABLE _strata.divide IS
'chunks that convert() divides, and the tables (part, 0: the chunk as such) that have a copy of their rows of times from lo to before hi; file, fingerprint: what the chunk and its hypertable were when its changes began to be noted; division: the transaction that began, 0: none has; of the chunk as such, hi: all before is copied';

CREATE TABLE _strata.divide_mark (
	source oid NOT NULL,
	time bigint NOT NULL
);
COMMENT ON TABLE _strata.divide_mark IS
'times, in units of the time column, of which rows of a chunk that is being divided have changed since they were copied';

CREATE FUNCTION _strata.divide_note() RETURNS trigger
	AS 'MODULE_PATHNAME', 'strata_divide_note' LANGUAGE C;
COMMENT ON FUNCTION _strata.divide_note() IS
'row trigger on a chunk that is being divided: notes the times of what is changed';
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
-- Whoever may see a list of relations and their sizes may see whose they are.
CREATE VIEW strata.relation_sizes AS
	SELECT r.oid::regclass AS relation, c.oid::regclass AS of_table,
		   coalesce((SELECT i.inhparent::regclass FROM pg_catalog.pg_inherits i JOIN _strata.hypertable h ON h.relid = i.inhparent
					 WHERE i.inhrelid = c.oid), c.oid::regclass) AS of_hypertable,
		   r.kind || CASE WHEN r.oid <> p.oid THEN p.suffix ELSE '' END AS kind,
		   pg_catalog.pg_relation_size(r.oid, 'main') + pg_catalog.pg_relation_size(r.oid, 'fsm')
		   + pg_catalog.pg_relation_size(r.oid, 'vm') + pg_catalog.pg_relation_size(r.oid, 'init') AS bytes
	FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_am am ON am.oid = c.relam AND am.amname = 'strata'
	CROSS JOIN LATERAL (VALUES (c.oid, 'row store', ''), (strata.batch_relation(c.oid)::oid, 'batches', ' of batches'),
		(_strata.batch_index_relation(strata.batch_relation(c.oid)), 'batch index', ' of batch index')) p(oid, kind, suffix)
	JOIN pg_catalog.pg_class k ON k.oid = p.oid
	CROSS JOIN LATERAL (
		SELECT k.oid, p.kind
		UNION ALL SELECT i.indexrelid, 'index' FROM pg_catalog.pg_index i WHERE i.indrelid = k.oid
		UNION ALL SELECT k.reltoastrelid, 'TOAST' WHERE k.reltoastrelid <> 0
		UNION ALL SELECT i.indexrelid, 'TOAST index' FROM pg_catalog.pg_index i
			WHERE i.indrelid = k.reltoastrelid AND k.reltoastrelid <> 0) r(oid, kind)
	WHERE c.relkind IN ('r', 'm');
COMMENT ON VIEW strata.relation_sizes IS
'every relation that holds a strata table''s data: row store, batches, batch index, their indexes and TOAST; which table and hypertable it is of, and its bytes on disk';

-- Disks are sold by the GB of 1,000,000,000 bytes, or by one of 2^30 that is called so; the smaller saves less.
CREATE FUNCTION _strata.storage_price(bytes numeric, price_per_gb_month numeric, copies integer) RETURNS numeric
	LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT price_per_gb_month BETWEEN 0 AND 1e30 THEN
		RAISE EXCEPTION 'price_per_gb_month must be a number that is not negative' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	IF copies < 1 THEN
		RAISE EXCEPTION 'copies must be at least 1' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	RETURN bytes / 1000000000 * price_per_gb_month * copies;
END
$$;
COMMENT ON FUNCTION _strata.storage_price(numeric, numeric, integer) IS 'what so many bytes cost a month, kept so many times; 22023 for what is no price or number of copies';

CREATE FUNCTION strata.savings_report(
	price_per_gb_month numeric, copies integer,
	OUT relation regclass, OUT tables bigint, OUT compressed_tables bigint, OUT unmeasured_tables bigint,
	OUT bytes_as_rows bigint, OUT bytes_now bigint, OUT bytes_saved bigint, OUT saved_percent numeric,
	OUT saved_per_month numeric, OUT saved_per_year numeric)
RETURNS SETOF record LANGUAGE sql STABLE STRICT
SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
	WITH part AS (
		SELECT coalesce(pg_partition_root(c.oid), c.oid::regclass) AS relation,
			   s.compression_status = 'Compressed' AS is_compressed,
			   s.before_compression_total_bytes AS before,
			   coalesce(s.after_compression_total_bytes, pg_total_relation_size(c.oid)) AS now
		FROM pg_class c
		JOIN pg_am am ON am.oid = c.relam AND am.amname = 'strata'
		CROSS JOIN LATERAL @extschema@.chunk_compression_stats(c.oid::regclass) s
		WHERE c.relkind IN ('r', 'm') AND c.relpersistence <> 't'
		  AND (pg_has_role(c.relowner, 'USAGE') OR pg_has_role('pg_monitor', 'MEMBER'))),
	total AS (
		SELECT p.relation, count(*) AS tables, count(*) FILTER (WHERE p.is_compressed) AS compressed,
			   count(*) FILTER (WHERE p.is_compressed AND p.before IS NULL) AS unmeasured,
			   coalesce(sum(coalesce(p.before, p.now)), 0) AS before, coalesce(sum(p.now), 0) AS now
		FROM part p GROUP BY GROUPING SETS ((p.relation), ()))
	SELECT t.relation, t.tables, t.compressed, t.unmeasured, t.before::bigint, t.now::bigint, (t.before - t.now)::bigint,
		   round(100 * (t.before - t.now) / nullif(t.before, 0), 1),
		   round(_strata.storage_price(t.before - t.now, price_per_gb_month, copies), 2),
		   round(12 * _strata.storage_price(t.before - t.now, price_per_gb_month, copies), 2)
	FROM total t
	ORDER BY t.relation IS NULL, t.before - t.now DESC, t.relation::text;
END;
COMMENT ON FUNCTION strata.savings_report(numeric, integer) IS
'what compression saves, of your tables and hypertables, in bytes on disk and in money, of all tables for members of pg_monitor, at a price for a GB and month and so many copies (replicas, backups); the last row, whose relation is NULL, is the sum';

GRANT SELECT ON strata.relation_sizes TO PUBLIC;
-- Jobs.  A dump keeps users' jobs (id from 1000 on), not their runs.
CREATE SEQUENCE _strata.job_id_seq AS integer MINVALUE 1000;

CREATE TABLE _strata.job (
	id integer PRIMARY KEY,
	name text NOT NULL,
	schedule_interval interval NOT NULL CHECK (schedule_interval > '0' AND pg_catalog.isfinite(schedule_interval)),
	max_runtime interval NOT NULL CHECK (max_runtime >= '0' AND pg_catalog.isfinite(max_runtime)),
	max_retries integer NOT NULL CHECK (max_retries >= -1),
	retry_period interval NOT NULL CHECK (retry_period >= '0' AND pg_catalog.isfinite(retry_period)),
	proc_schema name NOT NULL,
	proc_name name NOT NULL,
	owner regrole NOT NULL,
	scheduled boolean NOT NULL,
	fixed_schedule boolean NOT NULL,
	initial_start timestamptz,
	timezone text,
	hypertable regclass,
	config jsonb,
	check_schema name,
	check_name name
);
COMMENT ON TABLE _strata.job IS 'jobs; see strata.jobs';
CREATE INDEX job_hypertable ON _strata.job (hypertable);

CREATE TABLE _strata.job_stat (
	job_id integer PRIMARY KEY,
	next_start timestamptz NOT NULL CHECK (next_start > '-infinity'),
	restored boolean NOT NULL DEFAULT false, -- and the restore may be going on
	running_pid integer,
	last_start timestamptz,
	last_finish timestamptz,
	last_success boolean,
	last_successful_finish timestamptz,
	last_duration interval,
	total_duration interval NOT NULL DEFAULT '0',
	total_runs bigint NOT NULL DEFAULT 0,
	total_successes bigint NOT NULL DEFAULT 0,
	total_failures bigint NOT NULL DEFAULT 0,
	total_crashes bigint NOT NULL DEFAULT 0,
	consecutive_failures integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
COMMENT ON TABLE _strata.job_stat IS 'next start and counts of each job; see strata.job_stats';

CREATE TABLE _strata.job_history (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	job_id integer NOT NULL,
	pid integer,
	start_time timestamptz NOT NULL,
	finish_time timestamptz NOT NULL,
	succeeded boolean NOT NULL,
	proc_schema name NOT NULL,
	proc_name name NOT NULL,
	owner oid NOT NULL,
	config jsonb,
	sqlerrcode text,
	err_message text,
	err_detail text,
	err_hint text,
	err_context text
);
COMMENT ON TABLE _strata.job_history IS 'runs of jobs; see strata.job_history';
CREATE INDEX job_history_job ON _strata.job_history (job_id, id);
CREATE INDEX job_history_time ON _strata.job_history (start_time);

-- Tables whose freed space is to be given back in the background.  A dump has
-- no use for it: a restored table has no such space.
CREATE TABLE _strata.space_queue (
	id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	relation oid NOT NULL,
	batches boolean NOT NULL,
	before bigint NOT NULL,
	since timestamptz NOT NULL DEFAULT pg_catalog.now(),
	tries integer NOT NULL DEFAULT 0,
	next_try timestamptz NOT NULL DEFAULT pg_catalog.now(),
	waits_for text
) WITH (fillfactor = 50);
COMMENT ON TABLE _strata.space_queue IS
'tables whose rows or batches were removed by transactions before "before" (a full transaction ID): VACUUM and REINDEX are due; waits_for: NULL, snapshot, lock, or an error; see strata.problems';
CREATE INDEX space_queue_relation ON _strata.space_queue (relation);
CREATE INDEX space_queue_next_try ON _strata.space_queue (next_try, id);

SELECT pg_catalog.pg_extension_config_dump('_strata.job', 'WHERE id >= 1000');
SELECT pg_catalog.pg_extension_config_dump('_strata.job_id_seq', '');
-- Who owns the database may dump it.  No row level security: pg_dump switches
-- it off, and is refused then.  Writing takes more than a privilege: hook_permission.c.
-- He may restore it, too: the row trigger leaves out what is not his to add.
GRANT SELECT, INSERT ON _strata.job TO pg_database_owner;
GRANT SELECT, UPDATE ON SEQUENCE _strata.job_id_seq TO pg_database_owner;
CREATE FUNCTION _strata.job_restored() RETURNS trigger
	AS 'MODULE_PATHNAME', 'strata_job_restored' LANGUAGE C;
REVOKE ALL ON FUNCTION _strata.job_restored() FROM PUBLIC;
CREATE TRIGGER job_restored BEFORE INSERT ON _strata.job FOR EACH ROW EXECUTE FUNCTION _strata.job_restored();

-- Whoever changes the table (a restore, say) has the scheduler look.
CREATE FUNCTION _strata.job_changed() RETURNS trigger
	AS 'MODULE_PATHNAME', 'strata_job_changed' LANGUAGE C;
REVOKE ALL ON FUNCTION _strata.job_changed() FROM PUBLIC;
CREATE TRIGGER job_changed AFTER INSERT OR UPDATE OR DELETE ON _strata.job
	FOR EACH STATEMENT EXECUTE FUNCTION _strata.job_changed();

CREATE FUNCTION @extschema@.add_job(
	proc regproc,
	schedule_interval interval,
	config jsonb DEFAULT NULL,
	initial_start timestamptz DEFAULT NULL,
	scheduled boolean DEFAULT true,
	check_config regproc DEFAULT NULL,
	fixed_schedule boolean DEFAULT true,
	timezone text DEFAULT NULL,
	job_name text DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_add_job' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.add_job(regproc, interval, jsonb, timestamptz, boolean, regproc, boolean, text, text) IS
'call a function or procedure (job_id integer, config jsonb) in the background, as the current user, on a schedule; returns the job''s id';

CREATE FUNCTION @extschema@.alter_job(
	job_id integer,
	schedule_interval interval DEFAULT NULL,
	max_runtime interval DEFAULT NULL,
	max_retries integer DEFAULT NULL,
	retry_period interval DEFAULT NULL,
	scheduled boolean DEFAULT NULL,
	config jsonb DEFAULT NULL,
	next_start timestamptz DEFAULT NULL,
	if_exists boolean DEFAULT false,
	check_config regproc DEFAULT NULL,
	fixed_schedule boolean DEFAULT NULL,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL,
	job_name text DEFAULT NULL,
	config_merge jsonb DEFAULT NULL)
RETURNS TABLE (job_id integer, schedule_interval interval, max_runtime interval, max_retries integer,
	retry_period interval, scheduled boolean, config jsonb, next_start timestamptz, check_config text,
	fixed_schedule boolean, initial_start timestamptz, timezone text, application_name name)
	AS 'MODULE_PATHNAME', 'strata_alter_job' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1;
COMMENT ON FUNCTION @extschema@.alter_job(integer, interval, interval, integer, interval, boolean, jsonb, timestamptz, boolean, regproc, boolean, timestamptz, text, text, jsonb) IS
'change a job: what is NULL stays; config_merge changes single keys; next_start => ''infinity'' holds it';

CREATE FUNCTION @extschema@.delete_job(job_id integer) RETURNS void
	AS 'MODULE_PATHNAME', 'strata_delete_job' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.delete_job(integer) IS 'delete a job; a run in progress goes on to its end';

CREATE PROCEDURE @extschema@.run_job(job_id integer)
	AS 'MODULE_PATHNAME', 'strata_run_job' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.run_job(integer) IS
'run a job now, in this session; errors come to you, nothing is recorded';

CREATE FUNCTION _strata.next_start(schedule_interval interval, initial_start timestamptz, timezone text,
	fixed_schedule boolean, after timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_job_next_start_sql' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION _strata.next_start(interval, timestamptz, text, boolean, timestamptz) IS
'the first start after a time that a schedule gives';

CREATE FUNCTION _strata.scheduler_state(OUT preloaded boolean, OUT starved_since timestamptz) RETURNS record
	AS 'MODULE_PATHNAME', 'strata_job_scheduler_state' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION _strata.scheduler_state() IS
'is the library in shared_preload_libraries; since when have due jobs found no free worker';
GRANT EXECUTE ON FUNCTION _strata.scheduler_state() TO PUBLIC;

-- The extension's own job.
CREATE PROCEDURE _strata.policy_job_history(job_id integer, config jsonb)
	LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
	DELETE FROM _strata.job_history h WHERE h.start_time < now() - (config->>'drop_after')::interval;
	DELETE FROM _strata.job_history h
		USING (SELECT id, row_number() OVER (PARTITION BY j.job_id, succeeded ORDER BY id DESC) AS n
			FROM _strata.job_history j) r
		WHERE r.id = h.id AND r.n > (config->>'max_runs_per_job')::bigint;
$$;
REVOKE ALL ON PROCEDURE _strata.policy_job_history(integer, jsonb) FROM PUBLIC;

-- What policies run; rights are checked inside.
CREATE PROCEDURE _strata.policy_compression(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_compression' LANGUAGE C;
COMMENT ON PROCEDURE _strata.policy_compression(integer, jsonb) IS
'compress the chunks older than compress_after; merge the batches of a chunk that late rows left with too many of them, unless "recompress" is "off"';
CREATE PROCEDURE _strata.policy_retention(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_retention' LANGUAGE C;
COMMENT ON PROCEDURE _strata.policy_retention(integer, jsonb) IS 'drop the chunks older than drop_after';
CREATE PROCEDURE _strata.policy_reorder(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_reorder' LANGUAGE C;
COMMENT ON PROCEDURE _strata.policy_reorder(integer, jsonb) IS
'rewrite each chunk once in the order of an index, but the latest three';
CREATE PROCEDURE _strata.policy_chunks_ahead(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_chunks_ahead' LANGUAGE C;
REVOKE ALL ON PROCEDURE _strata.policy_chunks_ahead(integer, jsonb) FROM PUBLIC;
COMMENT ON PROCEDURE _strata.policy_chunks_ahead(integer, jsonb) IS
'make the next chunks (strata.chunks_ahead) of every hypertable whose present chunk, or the one before it, holds rows';
COMMENT ON PROCEDURE _strata.policy_job_history(integer, jsonb) IS
'forget runs older than drop_after, and of each job all but the latest max_runs_per_job successes and failures';
INSERT INTO _strata.job VALUES (1, 'Job History Log Retention Policy', '1 day', '1 hour', -1, '1 hour',
	'_strata', 'policy_job_history', current_user::regrole, true, true, '2000-01-01 03:00+00', 'UTC', NULL,
	'{"drop_after": "1 month", "max_runs_per_job": 1000}', NULL, NULL);
INSERT INTO _strata.job VALUES (2, 'Chunk Creation Policy', '1 hour', '10 minutes', -1, '5 minutes',
	'_strata', 'policy_chunks_ahead', current_user::regrole, true, true, '2000-01-01 00:45+00', 'UTC', NULL,
	'{}', NULL, NULL);

CREATE FUNCTION @extschema@.add_compression_policy(
	hypertable regclass,
	compress_after "any" DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	schedule_interval interval DEFAULT NULL,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL,
	compress_created_before interval DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_add_compression_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.add_compression_policy(regclass, "any", boolean, interval, timestamptz, text, interval) IS
'compress chunks in the background once all their rows are older than compress_after (an interval, or an integer with integer time); returns the job''s id, -1 if there is such a policy';
CREATE PROCEDURE @extschema@.add_columnstore_policy(
	hypertable regclass,
	after "any" DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	schedule_interval interval DEFAULT NULL,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL,
	created_before interval DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'strata_add_columnstore_policy' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.add_columnstore_policy(regclass, "any", boolean, interval, timestamptz, text, interval) IS
'add_compression_policy() as a procedure';
CREATE FUNCTION _strata.add_default_policy(hypertable regclass) RETURNS void
	AS 'MODULE_PATHNAME', 'strata_add_default_policy' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION _strata.add_default_policy(regclass) IS
'the policy that CREATE TABLE WITH (tsdb.hypertable) makes, where strata_timescale_compat is installed';
CREATE FUNCTION @extschema@.add_retention_policy(
	relation regclass,
	drop_after "any" DEFAULT NULL,
	if_not_exists boolean DEFAULT false,
	schedule_interval interval DEFAULT NULL,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL,
	drop_created_before interval DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_add_retention_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.add_retention_policy(regclass, "any", boolean, interval, timestamptz, text, interval) IS
'drop chunks in the background once all their rows are older than drop_after; returns the job''s id, -1 if there is such a policy';
CREATE FUNCTION @extschema@.add_reorder_policy(
	hypertable regclass,
	index_name name,
	if_not_exists boolean DEFAULT false,
	initial_start timestamptz DEFAULT NULL,
	timezone text DEFAULT NULL)
RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_add_reorder_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.add_reorder_policy(regclass, name, boolean, timestamptz, text) IS
'rewrite chunks in the background in the order of an index, each once; returns the job''s id, -1 if there is such a policy';

CREATE FUNCTION _strata.remove_policy(hypertable regclass, if_exists boolean, procedure name) RETURNS boolean
	AS 'MODULE_PATHNAME', 'strata_remove_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION _strata.remove_policy(regclass, boolean, name) IS 'delete a policy''s job; was there one?';
CREATE FUNCTION @extschema@.remove_compression_policy(hypertable regclass, if_exists boolean DEFAULT false) RETURNS boolean
	LANGUAGE sql BEGIN ATOMIC SELECT _strata.remove_policy(hypertable, if_exists, 'policy_compression'); END;
COMMENT ON FUNCTION @extschema@.remove_compression_policy(regclass, boolean) IS 'remove the compression policy of a hypertable';
CREATE PROCEDURE @extschema@.remove_columnstore_policy(hypertable regclass, if_exists boolean DEFAULT false)
	LANGUAGE sql BEGIN ATOMIC SELECT _strata.remove_policy(hypertable, if_exists, 'policy_compression'); END;
COMMENT ON PROCEDURE @extschema@.remove_columnstore_policy(regclass, boolean) IS 'remove the compression policy of a hypertable';
CREATE FUNCTION @extschema@.remove_retention_policy(relation regclass, if_exists boolean DEFAULT false) RETURNS boolean
	LANGUAGE sql BEGIN ATOMIC SELECT _strata.remove_policy(relation, if_exists, 'policy_retention'); END;
COMMENT ON FUNCTION @extschema@.remove_retention_policy(regclass, boolean) IS 'remove the retention policy of a hypertable';
CREATE FUNCTION @extschema@.remove_reorder_policy(hypertable regclass, if_exists boolean DEFAULT false) RETURNS boolean
	LANGUAGE sql BEGIN ATOMIC SELECT _strata.remove_policy(hypertable, if_exists, 'policy_reorder'); END;
COMMENT ON FUNCTION @extschema@.remove_reorder_policy(regclass, boolean) IS 'remove the reorder policy of a hypertable';

CREATE VIEW strata.jobs AS
	SELECT j.id AS job_id,
		   (j.name || ' [' || j.id || ']')::name AS application_name,
		   j.schedule_interval, j.max_runtime, j.max_retries, j.retry_period,
		   j.proc_schema, j.proc_name,
		   CASE WHEN j.proc_schema = '_strata' THEN coalesce(c.relowner::regrole, j.owner) ELSE j.owner END AS owner,
		   j.scheduled, j.fixed_schedule,
		   CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = CASE WHEN j.proc_schema = '_strata' THEN coalesce(c.relowner, j.owner::oid) ELSE j.owner::oid END
								AND pg_catalog.pg_has_role(r.oid, 'MEMBER'))
				THEN CASE j.proc_name WHEN 'policy_refresh_continuous_aggregate'
					THEN j.config || pg_catalog.jsonb_build_object('mat_hypertable_id', j.hypertable::oid::bigint) ELSE j.config END
				END AS config,
		   CASE WHEN j.scheduled AND s.running_pid IS NULL THEN s.next_start END AS next_start,
		   j.initial_start,
		   n.nspname AS hypertable_schema, c.relname AS hypertable_name,
		   j.check_schema, j.check_name
	FROM _strata.job j
	LEFT JOIN _strata.job_stat s ON s.job_id = j.id
	LEFT JOIN pg_catalog.pg_class c ON c.oid = _strata.relation_named(j.hypertable)
	LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace;
COMMENT ON VIEW strata.jobs IS 'jobs and policies; next_start is NULL while a job runs or is not scheduled, config unless its owner is a role of yours';

CREATE VIEW strata.job_stats AS
	SELECT n.nspname AS hypertable_schema, c.relname AS hypertable_name, j.id AS job_id,
		   s.last_start AS last_run_started_at, s.last_successful_finish,
		   CASE WHEN s.last_success THEN 'Success' WHEN NOT s.last_success THEN 'Failed' END AS last_run_status,
		   CASE WHEN s.running_pid IS NOT NULL THEN 'Running'
				WHEN NOT j.scheduled THEN 'Paused' ELSE 'Scheduled' END AS job_status,
		   s.last_duration AS last_run_duration,
		   CASE WHEN j.scheduled AND s.running_pid IS NULL THEN s.next_start END AS next_start,
		   coalesce(s.total_runs, 0) AS total_runs, coalesce(s.total_successes, 0) AS total_successes,
		   coalesce(s.total_failures, 0) AS total_failures
	FROM _strata.job j
	LEFT JOIN _strata.job_stat s ON s.job_id = j.id
	LEFT JOIN pg_catalog.pg_class c ON c.oid = _strata.relation_named(j.hypertable)
	LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace;
COMMENT ON VIEW strata.job_stats IS 'how the runs of each job went';

-- Errors may show data and configuration: to members of the owner only.
CREATE VIEW strata.job_history WITH (security_barrier) AS
	SELECT h.id, h.job_id, h.succeeded, h.proc_schema, h.proc_name, h.pid, h.start_time, h.finish_time,
		   h.config, h.sqlerrcode, h.err_message, h.err_detail, h.err_hint, h.err_context
	FROM _strata.job_history h
	WHERE EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = h.owner AND pg_catalog.pg_has_role(r.oid, 'MEMBER'))
	   OR pg_catalog.pg_has_role('pg_monitor', 'MEMBER');
COMMENT ON VIEW strata.job_history IS 'runs of jobs whose owner you are; kept as job 1 says';

CREATE VIEW strata.job_errors WITH (security_barrier) AS
	SELECT h.job_id, h.proc_schema, h.proc_name, h.pid, h.start_time, h.finish_time, h.sqlerrcode, h.err_message
	FROM strata.job_history h WHERE NOT h.succeeded;
COMMENT ON VIEW strata.job_errors IS 'failed runs of jobs whose owner you are';

-- Whatever somebody put into his job, others read the view: what cannot be computed is unknown.
CREATE FUNCTION _strata.is_overdue(range_end timestamptz, age text, schedule_interval interval) RETURNS boolean
	LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
	RETURN range_end < now() - age::interval - 2 * schedule_interval;
EXCEPTION WHEN OTHERS THEN
	RETURN NULL;
END $$;
COMMENT ON FUNCTION _strata.is_overdue(timestamptz, text, interval) IS
'is it two schedules past the age at which a policy acts; NULL when that cannot be said';

-- Who may still see rows that were removed, and what ends that.
CREATE VIEW _strata.snapshot_holders AS
	SELECT greatest(pg_catalog.age(a.backend_xmin), pg_catalog.age(a.backend_xid)) AS age,
		   'process ' || a.pid || coalesce(' (transaction since ' || a.xact_start || ')', '') AS who,
		   'SELECT pg_terminate_backend(' || a.pid || ');' AS remedy
	FROM pg_catalog.pg_stat_activity a
	WHERE (a.datname = pg_catalog.current_database() OR a.backend_type = 'walsender')
	  AND coalesce(a.backend_xmin, a.backend_xid) IS NOT NULL AND a.pid <> pg_catalog.pg_backend_pid()
	UNION ALL
	SELECT pg_catalog.age(p.transaction), 'the prepared transaction ' || pg_catalog.quote_literal(p.gid),
		   'ROLLBACK PREPARED ' || pg_catalog.quote_literal(p.gid) || '; -- or COMMIT PREPARED'
	FROM pg_catalog.pg_prepared_xacts p WHERE p.database = pg_catalog.current_database()
	UNION ALL
	SELECT pg_catalog.age(r.xmin), 'the standby of replication slot ' || r.slot_name,
		   'SELECT pg_drop_replication_slot(' || pg_catalog.quote_literal(r.slot_name) || '); -- if nobody needs it'
	FROM pg_catalog.pg_replication_slots r WHERE r.xmin IS NOT NULL;
COMMENT ON VIEW _strata.snapshot_holders IS
'sessions, prepared transactions and slots that keep removed rows, the age of the oldest transaction they may not see as over, and a statement that ends it';

-- Compressed tables of roles the caller belongs to; object is the table, or the hypertable (partitioned table) it is a part of.
CREATE VIEW _strata.own_compressed AS
	SELECT c.oid AS relid, coalesce(i.inhparent, c.oid) AS object, b.oid AS batches, c.reltuples AS tuples, b.reltuples AS batches_tuples
	FROM pg_catalog.pg_class c
	JOIN pg_catalog.pg_am am ON am.oid = c.relam AND am.amname = 'strata'
	JOIN pg_catalog.pg_class b ON b.oid = strata.batch_relation(c.oid)
	LEFT JOIN pg_catalog.pg_inherits i ON i.inhrelid = c.oid AND c.relispartition
	WHERE c.relkind IN ('r', 'm') AND pg_catalog.pg_has_role(c.relowner, 'USAGE');
COMMENT ON VIEW _strata.own_compressed IS 'compressed tables of the caller''s roles, and the partitioned table each belongs to';
GRANT SELECT ON _strata.own_compressed TO PUBLIC;

-- 'a', or 'a and 3 others'.
CREATE FUNCTION _strata.and_others(relations text[]) RETURNS text
	LANGUAGE sql IMMUTABLE SET search_path = pg_catalog, pg_temp
	RETURN relations[1] || CASE cardinality(relations) WHEN 1 THEN '' WHEN 2 THEN ' and another chunk'
		ELSE ' and ' || cardinality(relations) - 1 || ' other chunks' END;
COMMENT ON FUNCTION _strata.and_others(text[]) IS 'the first of some chunks, and how many others there are';

-- What an operator should know, of what is the user's.
CREATE VIEW strata.problems WITH (security_barrier) AS
	SELECT 'error'::text AS severity, 'jobs do not run'::text AS problem, NULL::text AS object,
		   'strata is not in shared_preload_libraries'::text AS detail,
		   'ALTER SYSTEM SET shared_preload_libraries = ''strata''; -- beside what is there; then restart'::text AS hint
	FROM _strata.scheduler_state() s WHERE NOT s.preloaded
	UNION ALL
	SELECT 'error', 'jobs do not run', NULL, 'strata.max_job_workers is 0',
		   'ALTER SYSTEM RESET strata.max_job_workers; SELECT pg_reload_conf();'
	WHERE pg_catalog.current_setting('strata.max_job_workers', true) = '0'
	UNION ALL
	SELECT 'warning', 'no free worker', NULL, 'due jobs have been waiting since ' || s.starved_since,
		   'ALTER SYSTEM SET strata.max_job_workers = ...; or max_worker_processes (restart)'
	FROM _strata.scheduler_state() s WHERE s.starved_since < pg_catalog.now() - interval '1 minute'
	UNION ALL
	SELECT 'error', 'job fails', j.application_name,
		   s.consecutive_failures || ' failed runs; last at ' || s.last_finish
		   || coalesce(': ' || (SELECT h.err_message FROM strata.job_history h WHERE h.job_id = j.job_id AND NOT h.succeeded
				ORDER BY h.id DESC LIMIT 1), ''),
		   'SELECT * FROM strata.job_errors WHERE job_id = ' || j.job_id || ';'
	FROM strata.jobs j JOIN _strata.job_stat s ON s.job_id = j.job_id
	WHERE s.consecutive_failures > 0
	UNION ALL
	SELECT 'warning', 'job is late', j.application_name, 'should have started at ' || s.next_start, NULL
	FROM strata.jobs j JOIN _strata.job_stat s ON s.job_id = j.job_id
	WHERE j.scheduled AND s.running_pid IS NULL AND s.next_start < pg_catalog.now() - interval '5 minutes'
	UNION ALL
	SELECT 'warning', 'job is held', j.application_name, 'next_start is infinity',
		   'SELECT alter_job(' || j.job_id || ', next_start => now());'
	FROM strata.jobs j JOIN _strata.job_stat s ON s.job_id = j.job_id
	WHERE j.scheduled AND s.next_start = 'infinity'
	UNION ALL
	SELECT 'warning', 'chunk is overdue for ' || CASE j.proc_name WHEN 'policy_compression' THEN 'compression' ELSE 'retention' END,
		   _strata.relation_named(j.hypertable)::regclass::text,
		   _strata.and_others(pg_catalog.array_agg(c.relid::regclass::text ORDER BY c.range_end)) || ': rows end at ' || min(c.range_end)
		   || '; job ' || j.id || ' should have seen to it',
		   'CALL run_job(' || j.id || ');'
	FROM _strata.job j
	JOIN _strata.chunk c ON c.hypertable = j.hypertable
	JOIN pg_catalog.pg_class h ON h.oid = c.hypertable AND pg_catalog.pg_has_role(h.relowner, 'USAGE')
	WHERE j.proc_schema = '_strata' AND j.scheduled AND c.range_end IS NOT NULL
	  AND (j.proc_name = 'policy_compression' AND c.batches IS NULL AND pg_catalog.pg_relation_size(c.relid) > 8192
		   AND _strata.is_overdue(c.range_end, j.config->>'compress_after', j.schedule_interval)
		   OR j.proc_name = 'policy_retention'
		   AND _strata.is_overdue(c.range_end, j.config->>'drop_after', j.schedule_interval))
	GROUP BY j.id
	UNION ALL
	SELECT 'error', 'retention is held back', _strata.relation_named(j.hypertable)::regclass::text,
		   r.why || '; chunks stay', CASE j.proc_name WHEN 'policy_archives' THEN 'DROP MATERIALIZED VIEW ...; -- the one that is named'
		   ELSE 'SELECT remove_retention_policy(' || pg_catalog.quote_literal(_strata.relation_named(j.hypertable)::regclass::text) || '); -- or drop the view' END
	FROM _strata.job j
	JOIN pg_catalog.pg_class h ON h.oid = j.hypertable AND pg_catalog.pg_has_role(h.relowner, 'USAGE')
	CROSS JOIN LATERAL _strata.retention_held(h.oid, j.proc_name = 'policy_archives') r (why)
	WHERE j.proc_schema = '_strata' AND j.proc_name IN ('policy_retention', 'policy_archives') AND r.why IS NOT NULL
	UNION ALL
	SELECT 'warning', 'row store outgrows its batches', t.object::regclass::text,
		   _strata.and_others(pg_catalog.array_agg(t.relid::regclass::text ORDER BY t.rows_bytes DESC)) || ': '
		   || pg_catalog.pg_size_pretty(sum(t.rows_bytes)) || ' of rows beside '
		   || pg_catalog.pg_size_pretty(sum(t.batches_bytes)) || ' of batches',
		   'SELECT compress_chunk(c, recompress => true) FROM unnest('
		   || pg_catalog.quote_literal(pg_catalog.array_agg(t.relid::regclass ORDER BY t.rows_bytes DESC)::text) || '::regclass[]) AS c;'
	FROM (SELECT v.*, pg_catalog.pg_relation_size(v.relid) AS rows_bytes, pg_catalog.pg_total_relation_size(v.batches) AS batches_bytes
			FROM _strata.own_compressed v) t
	WHERE t.rows_bytes > greatest(16777216, t.batches_bytes)
	GROUP BY t.object
	UNION ALL
	SELECT 'warning', 'few rows per batch', t.object::regclass::text,
		   _strata.and_others(pg_catalog.array_agg(t.relid::regclass::text ORDER BY t.relid::regclass::text COLLATE "C")) || ': about '
		   || (sum(r.batch_rows) / sum(r.batches))::bigint || ' rows in each of ' || sum(r.batches) || ' batches',
		   'SELECT * FROM advise_compression(' || pg_catalog.quote_literal(t.object::regclass::text) || '); -- has better ones, and the command'
	FROM _strata.own_compressed t
	-- the companion's reltuples counts changed rows, too
	CROSS JOIN LATERAL _strata.row_counts(t.relid) r
	WHERE t.batches_tuples > 100 AND t.tuples > 0 AND t.tuples / t.batches_tuples < 50
	  AND r.batches > 100 AND r.batch_rows / r.batches < 50
	GROUP BY t.object
	UNION ALL
	SELECT 'warning', 'convert() is not finished', p.inhparent::regclass::text,
		   d.parts || ' parts of ' || d.source::regclass || ' are copied; '
		   || (SELECT count(*) FROM _strata.divide_mark m WHERE m.source = d.source) || ' changes wait to be copied again',
		   'CALL strata.convert(' || pg_catalog.quote_literal(p.inhparent::regclass::text) || '); -- or, to give up, with compress => false'
	FROM (SELECT v.source, count(*) FILTER (WHERE v.part <> 0) AS parts FROM _strata.divide v
			GROUP BY v.source HAVING max(v.file) <> 0) d
	JOIN pg_catalog.pg_inherits p ON p.inhrelid = d.source
	JOIN pg_catalog.pg_class c ON c.oid = d.source AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
	WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_stat_activity a WHERE a.state = 'active' AND a.query ~* 'convert' AND a.pid <> pg_catalog.pg_backend_pid())
	UNION ALL
	SELECT 'warning', 'space waits to be given back', q.object::regclass::text,
		   q.tables || CASE q.tables WHEN 1 THEN ' table waits' ELSE ' tables wait' END || ' since ' || q.since || ': '
		   || CASE q.waits_for
				WHEN 'snapshot' THEN coalesce(s.who || ' may still see what was removed', 'will be tried again at ' || q.next_try)
				WHEN 'lock' THEN coalesce('process ' || l.pid || ' uses ' || q.example::regclass, 'will be tried again at ' || q.next_try)
				ELSE coalesce(q.waits_for, 'no process has come to it') END,
		   CASE q.waits_for
				WHEN 'snapshot' THEN s.remedy
				WHEN 'lock' THEN 'SELECT pg_terminate_backend(' || l.pid || ');'
				ELSE 'VACUUM ' || q.example::regclass || '; REINDEX TABLE ' || q.example::regclass || ';' END
	FROM (SELECT coalesce(k.hypertable, w.relation) AS object, w.waits_for, pg_catalog.count(DISTINCT w.relation) AS tables,
				pg_catalog.min(w.since) AS since, pg_catalog.min(w.next_try) AS next_try,
				pg_catalog.min(w.relation) AS example
			FROM _strata.space_queue w
			JOIN pg_catalog.pg_class c ON c.oid = w.relation AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
			LEFT JOIN _strata.chunk k ON k.relid = w.relation
			WHERE w.since < pg_catalog.now() - interval '1 minute'
			GROUP BY 1, 2) q
	LEFT JOIN LATERAL (
		SELECT h.who, h.remedy FROM _strata.snapshot_holders h WHERE q.waits_for = 'snapshot'
		ORDER BY h.age DESC LIMIT 1) s ON true
	LEFT JOIN LATERAL (
		SELECT k.pid FROM pg_catalog.pg_locks k
		WHERE q.waits_for = 'lock' AND k.granted AND k.pid <> pg_catalog.pg_backend_pid() AND k.relation = q.example
		  AND k.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database())
		LIMIT 1) l ON true;
COMMENT ON VIEW strata.problems IS
'what an operator should know: jobs that do not run, fail or are late, chunks overdue, row stores that grow, bad segmentby, conversions that ended early, space that waits to be given back';

GRANT SELECT ON strata.problems, strata.jobs, strata.job_stats, strata.job_history, strata.job_errors TO PUBLIC;

-- CREATE EXTENSION says it when the library is not preloaded; the space queue is
-- hidden from logical decoding.
CREATE FUNCTION _strata.check_preload() RETURNS void
	AS 'MODULE_PATHNAME', 'strata_check_preload' LANGUAGE C;
REVOKE ALL ON FUNCTION _strata.check_preload() FROM PUBLIC;
COMMENT ON FUNCTION _strata.check_preload() IS 'warn when the library is not in shared_preload_libraries';
SELECT _strata.check_preload();
-- Which times of hypertables are tracked, and which of these have changed:
-- src/track.  Nobody tracks anything yet but tests.
CREATE TABLE _strata.rollup_source (
	hypertable oid PRIMARY KEY,
	lo bigint NOT NULL,
	hi bigint NOT NULL
);
COMMENT ON TABLE _strata.rollup_source IS
'hypertables whose changes of times from lo to hi (both inclusive, in units of the time column) are noted in _strata.rollup_mark';

-- A log without an index: writing it is what a change pays.
CREATE TABLE _strata.rollup_mark (
	hypertable oid NOT NULL,
	lo bigint NOT NULL,
	hi bigint NOT NULL
);
COMMENT ON TABLE _strata.rollup_mark IS
'times from lo to hi (both inclusive) of which rows have changed since somebody last looked';

CREATE FUNCTION _strata.track(hypertable regclass, lo bigint, hi bigint) RETURNS void
	AS 'MODULE_PATHNAME', 'strata_track_sql' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION _strata.track(regclass, bigint, bigint) IS
'note changes of times from lo to hi of the hypertable, besides those that are noted already, once this commits';

CREATE FUNCTION _strata.track_no_more(hypertable regclass) RETURNS void
	AS 'MODULE_PATHNAME', 'strata_track_no_more' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION _strata.track_no_more(regclass) IS
'note no changes of the hypertable, and forget what was noted';

CREATE FUNCTION _strata.track_wait(hypertable regclass) RETURNS void
	AS 'MODULE_PATHNAME', 'strata_track_wait' LANGUAGE C STRICT VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION _strata.track_wait(regclass) IS
'wait until every transaction has ended that was changing rows of the hypertable and may not have known what is tracked';

CREATE FUNCTION _strata.track_pending(hypertable regclass, OUT lo bigint, OUT hi bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_track_pending_sql' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 10;
COMMENT ON FUNCTION _strata.track_pending(regclass) IS
'times from lo to hi (both inclusive) of which this transaction has changed rows, before they are noted at its end';

CREATE FUNCTION _strata.track_marks(hypertable regclass, OUT lo bigint, OUT hi bigint) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'strata_track_marks' LANGUAGE C STRICT VOLATILE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION _strata.track_marks(regclass) IS
'times from lo to hi (both inclusive) of which rows have changed, as this snapshot sees them noted';

-- States of PostgreSQL's aggregates as values, which archives keep, and what makes one of several.
CREATE AGGREGATE _strata.deviation_state(double precision) (
	SFUNC = pg_catalog.float8_accum, STYPE = double precision[], INITCOND = '{0,0,0}',
	COMBINEFUNC = pg_catalog.float8_combine, PARALLEL = SAFE);
CREATE AGGREGATE _strata.deviation_total(double precision[]) (
	SFUNC = pg_catalog.float8_combine, STYPE = double precision[], INITCOND = '{0,0,0}',
	COMBINEFUNC = pg_catalog.float8_combine, PARALLEL = SAFE);
CREATE AGGREGATE _strata.regression_state(double precision, double precision) (
	SFUNC = pg_catalog.float8_regr_accum, STYPE = double precision[], INITCOND = '{0,0,0,0,0,0}',
	COMBINEFUNC = pg_catalog.float8_regr_combine, PARALLEL = SAFE);
CREATE AGGREGATE _strata.regression_total(double precision[]) (
	SFUNC = pg_catalog.float8_regr_combine, STYPE = double precision[], INITCOND = '{0,0,0,0,0,0}',
	COMBINEFUNC = pg_catalog.float8_regr_combine, PARALLEL = SAFE);
CREATE FUNCTION _strata.histogram_add(integer[], integer[]) RETURNS integer[]
	AS 'MODULE_PATHNAME', 'strata_histogram_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE _strata.histogram_total(integer[]) (
	SFUNC = _strata.histogram_add, STYPE = integer[], COMBINEFUNC = _strata.histogram_add, PARALLEL = SAFE);
CREATE FUNCTION _strata.numeric_deviation(n bigint, sum numeric, squares numeric, sample boolean, root boolean) RETURNS numeric
	AS 'MODULE_PATHNAME', 'strata_numeric_deviation' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _strata.numeric_deviation(bigint, numeric, numeric, boolean, boolean) IS
'variance, or (root) standard deviation, of n integers or numerics by their sum and that of their squares, as PostgreSQL''s aggregates have it';
GRANT EXECUTE ON FUNCTION _strata.numeric_deviation(bigint, numeric, numeric, boolean, boolean),
	_strata.deviation_state(double precision), _strata.deviation_total(double precision[]),
	_strata.regression_state(double precision, double precision), _strata.regression_total(double precision[]),
	_strata.histogram_add(integer[], integer[]), _strata.histogram_total(integer[]) TO PUBLIC;

-- The value of the one row that there is, for verify().
CREATE FUNCTION _strata.former_value(anyelement, anyelement) RETURNS anyelement LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	SET search_path = pg_catalog, pg_temp AS 'SELECT $1';
CREATE AGGREGATE _strata.only_value(anyelement) (SFUNC = _strata.former_value, STYPE = anyelement, PARALLEL = SAFE);
GRANT EXECUTE ON FUNCTION _strata.former_value(anyelement, anyelement), _strata.only_value(anyelement) TO PUBLIC;

-- What is kept ready: a row for each view.
CREATE TABLE _strata.rollup (
	view oid PRIMARY KEY,
	source oid NOT NULL,
	archive oid NOT NULL UNIQUE,
	materialized_only boolean NOT NULL DEFAULT false,
	generation bigint NOT NULL DEFAULT 0,
	losses bigint NOT NULL DEFAULT 0,
	drops bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE _strata.rollup IS
'views whose aggregates are kept in an archive; source is the hypertable whose changes are noted; generation grows with each refresh; losses whenever rows of the archive go that older snapshots should find, drops whenever rows of kept times do';

-- Half-open, of whole buckets; rows of a view neither overlap nor touch.
CREATE TABLE _strata.rollup_cover (
	view oid NOT NULL,
	lo bigint NOT NULL,
	hi bigint NOT NULL,
	PRIMARY KEY (view, lo)
);
COMMENT ON TABLE _strata.rollup_cover IS
'times from lo to before hi of which the archive of a view was complete when it was written; _strata.rollup_mark has what changed since';

-- Neither do these; they are none of rollup_cover's, and never become less.
CREATE TABLE _strata.rollup_kept (
	view oid NOT NULL,
	lo bigint NOT NULL,
	hi bigint NOT NULL,
	PRIMARY KEY (view, lo)
);
COMMENT ON TABLE _strata.rollup_kept IS
'times from lo to before hi of which the archive of a view has what was made of rows that drop_chunks() or a policy dropped, and of no others; what rows there are is added when the view is read';
-- Bringing rollups up to date.
CREATE PROCEDURE @extschema@.refresh_continuous_aggregate(continuous_aggregate regclass, window_start "any", window_end "any",
		force boolean DEFAULT false, options jsonb DEFAULT NULL, refresh_newest_first boolean DEFAULT NULL)
	AS 'MODULE_PATHNAME', 'strata_refresh_continuous_aggregate' LANGUAGE C;
COMMENT ON PROCEDURE @extschema@.refresh_continuous_aggregate(regclass, "any", "any", boolean, jsonb, boolean) IS
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
CREATE FUNCTION @extschema@.add_continuous_aggregate_policy(
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
COMMENT ON FUNCTION @extschema@.add_continuous_aggregate_policy(regclass, "any", "any", interval, boolean, timestamptz, text, boolean, integer, integer, boolean) IS
'refresh the buckets between start_offset and end_offset before now in the background (intervals, or integers with integer time; NULL: no end); returns the job''s id, -1 if there is such a policy';

CREATE FUNCTION @extschema@.remove_continuous_aggregate_policy(
	continuous_aggregate regclass,
	if_not_exists boolean DEFAULT false,
	if_exists boolean DEFAULT NULL)
RETURNS void
	AS 'MODULE_PATHNAME', 'strata_remove_continuous_aggregate_policy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION @extschema@.remove_continuous_aggregate_policy(regclass, boolean, boolean) IS
'remove all policies that refresh a continuous aggregate';

CREATE PROCEDURE _strata.policy_refresh_continuous_aggregate(job_id integer, config jsonb)
	AS 'MODULE_PATHNAME', 'strata_policy_refresh_continuous_aggregate' LANGUAGE C;
COMMENT ON PROCEDURE _strata.policy_refresh_continuous_aggregate(integer, jsonb) IS
'refresh a continuous aggregate from start_offset to end_offset before now';
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
