-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION strata_timescale_compat" to load this file. \quit
SET LOCAL search_path TO pg_catalog, pg_temp;

-- That this extension is installed is what makes ALTER and CREATE TABLE accept
-- timescaledb.* and tsdb.* options; see strata_settings_is_option().
CREATE SCHEMA timescaledb_information;
COMMENT ON SCHEMA timescaledb_information IS 'the views of schema strata under the names that clients of TimescaleDB use';
GRANT USAGE ON SCHEMA timescaledb_information TO PUBLIC;

-- Rituals that dumps of TimescaleDB need, and ours do not.
CREATE FUNCTION @extschema@.timescaledb_pre_restore() RETURNS boolean LANGUAGE sql RETURN true;
COMMENT ON FUNCTION @extschema@.timescaledb_pre_restore() IS 'does nothing: a dump of hypertables restores as it is';
CREATE FUNCTION @extschema@.timescaledb_post_restore() RETURNS boolean LANGUAGE sql RETURN true;
COMMENT ON FUNCTION @extschema@.timescaledb_post_restore() IS 'does nothing: a dump of hypertables restores as it is';

-- What follows calls functions of strata, whose schema may be any.  Nobody else's come
-- before them: that schema alone is searched, and the types of the arguments are exact.
SELECT pg_catalog.set_config('search_path', pg_catalog.format('pg_catalog, %s, pg_temp', extnamespace::pg_catalog.regnamespace), true)
FROM pg_catalog.pg_extension WHERE extname = 'strata';

-- Merges batches, as recompressing does.
CREATE SCHEMA _timescaledb_functions;
COMMENT ON SCHEMA _timescaledb_functions IS 'functions that clients of TimescaleDB call under this name';
GRANT USAGE ON SCHEMA _timescaledb_functions TO PUBLIC;
CREATE FUNCTION _timescaledb_functions.compact_chunk(chunk regclass) RETURNS regclass
	LANGUAGE sql BEGIN ATOMIC SELECT compress_chunk(chunk, true, true); END;
COMMENT ON FUNCTION _timescaledb_functions.compact_chunk(regclass) IS 'compress_chunk() that merges the batches there are as well';

-- time_bucket_ng, which clients still send: buckets start at 2000-01-01.
CREATE SCHEMA timescaledb_experimental;
COMMENT ON SCHEMA timescaledb_experimental IS 'functions that clients of TimescaleDB still call under this name';
GRANT USAGE ON SCHEMA timescaledb_experimental TO PUBLIC;

CREATE FUNCTION timescaledb_experimental.time_bucket_ng(bucket_width interval, ts date, origin date DEFAULT '2000-01-01') RETURNS date
	LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN time_bucket(bucket_width, ts, origin);
CREATE FUNCTION timescaledb_experimental.time_bucket_ng(bucket_width interval, ts timestamp, origin timestamp DEFAULT '2000-01-01') RETURNS timestamp
	LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN time_bucket(bucket_width, ts, origin);
CREATE FUNCTION timescaledb_experimental.time_bucket_ng(bucket_width interval, ts timestamptz, origin timestamptz DEFAULT '2000-01-01 00:00+00') RETURNS timestamptz
	LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN time_bucket(bucket_width, ts, origin);
CREATE FUNCTION timescaledb_experimental.time_bucket_ng(bucket_width interval, ts timestamptz, timezone text, origin timestamptz DEFAULT NULL) RETURNS timestamptz
	LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN time_bucket(bucket_width, ts, timezone, coalesce(origin, timestamp '2000-01-01' AT TIME ZONE timezone), NULL::interval);
COMMENT ON FUNCTION timescaledb_experimental.time_bucket_ng(interval, date, date) IS 'time_bucket with buckets from 2000-01-01';
COMMENT ON FUNCTION timescaledb_experimental.time_bucket_ng(interval, timestamp, timestamp) IS 'time_bucket with buckets from 2000-01-01';
COMMENT ON FUNCTION timescaledb_experimental.time_bucket_ng(interval, timestamptz, timestamptz) IS 'time_bucket with buckets from 2000-01-01';
COMMENT ON FUNCTION timescaledb_experimental.time_bucket_ng(interval, timestamptz, text, timestamptz) IS 'time_bucket in a time zone with buckets from 2000-01-01';

-- Operators in views are PostgreSQL's.
SET LOCAL search_path TO pg_catalog, pg_temp;
-- Archives are not listed: whoever makes again what is listed makes them with their views.
CREATE VIEW timescaledb_information.hypertables AS
	SELECT h.* FROM strata.hypertables h
	WHERE NOT EXISTS (SELECT FROM strata.continuous_aggregates a
					  WHERE a.materialization_hypertable_schema = h.hypertable_schema AND a.materialization_hypertable_name = h.hypertable_name);
CREATE VIEW timescaledb_information.chunks AS SELECT * FROM strata.chunks;
CREATE VIEW timescaledb_information.dimensions AS SELECT * FROM strata.dimensions;
CREATE VIEW timescaledb_information.compression_settings AS SELECT * FROM strata.compression_settings;

CREATE VIEW timescaledb_information.jobs AS SELECT * FROM strata.jobs;
CREATE VIEW timescaledb_information.job_stats AS SELECT * FROM strata.job_stats;
CREATE VIEW timescaledb_information.job_history AS SELECT * FROM strata.job_history;
CREATE VIEW timescaledb_information.job_errors AS SELECT * FROM strata.job_errors;

CREATE VIEW timescaledb_information.hypertable_compression_settings AS
	SELECT h.oid::regclass AS hypertable,
		   pg_catalog.string_agg(pg_catalog.quote_ident(s.attname), ',' ORDER BY s.segmentby_column_index)
			   FILTER (WHERE s.segmentby_column_index IS NOT NULL) AS segmentby,
		   pg_catalog.string_agg(pg_catalog.quote_ident(s.attname) || CASE WHEN s.orderby_asc THEN '' ELSE ' DESC' END
			   || CASE WHEN s.orderby_nullsfirst = s.orderby_asc THEN CASE WHEN s.orderby_asc THEN ' NULLS FIRST' ELSE ' NULLS LAST' END ELSE '' END,
			   ',' ORDER BY s.orderby_column_index)
			   FILTER (WHERE s.orderby_column_index IS NOT NULL) AS orderby,
		   NULL::text AS compress_interval_length, NULL::text AS index
	FROM strata.compression_settings s
	JOIN pg_catalog.pg_namespace n ON n.nspname = s.hypertable_schema
	JOIN pg_catalog.pg_class h ON h.relnamespace = n.oid AND h.relname = s.hypertable_name
	GROUP BY h.oid;

-- Names are joined, never cast to regclass: a cast fails where the role may not use
-- the schema, or where the table is gone, and the planner chooses what is cast.
-- Chunks have the settings of their hypertable; older batches keep those they were made with.
CREATE VIEW timescaledb_information.chunk_compression_settings AS
	SELECT s.hypertable, x.relid::regclass AS chunk, s.segmentby, s.orderby, s.index
	FROM timescaledb_information.hypertable_compression_settings s
	JOIN _strata.chunk x ON x.hypertable = s.hypertable
	JOIN strata.chunks c ON c.chunk_schema = x.schema_name AND c.chunk_name = x.table_name
	WHERE c.is_compressed;
CREATE VIEW timescaledb_information.hypertable_columnstore_settings AS SELECT * FROM timescaledb_information.hypertable_compression_settings;
CREATE VIEW timescaledb_information.chunk_columnstore_settings AS SELECT * FROM timescaledb_information.chunk_compression_settings;

CREATE VIEW timescaledb_information.continuous_aggregates AS SELECT * FROM strata.continuous_aggregates;

-- Scripts look here for the schema and the name of a view.
CREATE SCHEMA _timescaledb_catalog;
COMMENT ON SCHEMA _timescaledb_catalog IS 'what scripts written for TimescaleDB read of its catalog';
GRANT USAGE ON SCHEMA _timescaledb_catalog TO PUBLIC;
CREATE VIEW _timescaledb_catalog.continuous_agg AS
	SELECT a.oid::bigint AS mat_hypertable_id, s.oid::bigint AS raw_hypertable_id, c.view_schema AS user_view_schema, c.view_name AS user_view_name,
		   c.materialized_only, c.finalized
	FROM strata.continuous_aggregates c
	JOIN pg_catalog.pg_namespace an ON an.nspname = c.materialization_hypertable_schema
	JOIN pg_catalog.pg_class a ON a.relnamespace = an.oid AND a.relname = c.materialization_hypertable_name
	JOIN pg_catalog.pg_namespace sn ON sn.nspname = c.hypertable_schema
	JOIN pg_catalog.pg_class s ON s.relnamespace = sn.oid AND s.relname = c.hypertable_name;
GRANT SELECT ON _timescaledb_catalog.continuous_agg TO PUBLIC;

GRANT SELECT ON ALL TABLES IN SCHEMA timescaledb_information TO PUBLIC;
