-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION strata_timescale_compat" to load this file. \quit

-- That this extension is installed is what makes ALTER and CREATE TABLE accept
-- timescaledb.* and tsdb.* options; see strata_settings_is_option().
CREATE SCHEMA timescaledb_information;
COMMENT ON SCHEMA timescaledb_information IS 'the views of schema strata under the names that clients of TimescaleDB use';
GRANT USAGE ON SCHEMA timescaledb_information TO PUBLIC;

CREATE VIEW timescaledb_information.hypertables AS SELECT * FROM strata.hypertables;
CREATE VIEW timescaledb_information.chunks AS SELECT * FROM strata.chunks;
CREATE VIEW timescaledb_information.dimensions AS SELECT * FROM strata.dimensions;
CREATE VIEW timescaledb_information.compression_settings AS SELECT * FROM strata.compression_settings;

CREATE VIEW timescaledb_information.jobs AS SELECT * FROM strata.jobs;
CREATE VIEW timescaledb_information.job_stats AS SELECT * FROM strata.job_stats;
CREATE VIEW timescaledb_information.job_history AS SELECT * FROM strata.job_history;
CREATE VIEW timescaledb_information.job_errors AS SELECT * FROM strata.job_errors;

CREATE VIEW timescaledb_information.hypertable_compression_settings AS
	SELECT (quote_ident(s.hypertable_schema) || '.' || quote_ident(s.hypertable_name))::regclass AS hypertable,
		   pg_catalog.string_agg(pg_catalog.quote_ident(s.attname), ',' ORDER BY s.segmentby_column_index)
			   FILTER (WHERE s.segmentby_column_index IS NOT NULL) AS segmentby,
		   pg_catalog.string_agg(pg_catalog.quote_ident(s.attname) || CASE WHEN s.orderby_asc THEN '' ELSE ' DESC' END
			   || CASE WHEN s.orderby_nullsfirst = s.orderby_asc THEN CASE WHEN s.orderby_asc THEN ' NULLS FIRST' ELSE ' NULLS LAST' END ELSE '' END,
			   ',' ORDER BY s.orderby_column_index)
			   FILTER (WHERE s.orderby_column_index IS NOT NULL) AS orderby,
		   NULL::text AS compress_interval_length, NULL::text AS index
	FROM strata.compression_settings s
	GROUP BY s.hypertable_schema, s.hypertable_name;

-- Chunks have the settings of their hypertable; older batches keep those they were made with.
CREATE VIEW timescaledb_information.chunk_compression_settings AS
	SELECT s.hypertable,
		   (pg_catalog.quote_ident(c.chunk_schema) || '.' || pg_catalog.quote_ident(c.chunk_name))::regclass AS chunk,
		   s.segmentby, s.orderby, s.index
	FROM strata.chunks c
	JOIN timescaledb_information.hypertable_compression_settings s
	  ON s.hypertable = (pg_catalog.quote_ident(c.hypertable_schema) || '.' || pg_catalog.quote_ident(c.hypertable_name))::regclass
	WHERE c.is_compressed;
CREATE VIEW timescaledb_information.hypertable_columnstore_settings AS SELECT * FROM timescaledb_information.hypertable_compression_settings;
CREATE VIEW timescaledb_information.chunk_columnstore_settings AS SELECT * FROM timescaledb_information.chunk_compression_settings;

GRANT SELECT ON ALL TABLES IN SCHEMA timescaledb_information TO PUBLIC;

-- Rituals that dumps of TimescaleDB need, and ours do not.
CREATE FUNCTION timescaledb_pre_restore() RETURNS boolean LANGUAGE sql AS 'SELECT true';
COMMENT ON FUNCTION timescaledb_pre_restore() IS 'does nothing: a dump of hypertables restores as it is';
CREATE FUNCTION timescaledb_post_restore() RETURNS boolean LANGUAGE sql AS 'SELECT true';
COMMENT ON FUNCTION timescaledb_post_restore() IS 'does nothing: a dump of hypertables restores as it is';

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
	RETURN time_bucket(bucket_width, ts, timezone, coalesce(origin, timestamp '2000-01-01' AT TIME ZONE timezone));
COMMENT ON FUNCTION timescaledb_experimental.time_bucket_ng(interval, date, date) IS 'time_bucket with buckets from 2000-01-01';
COMMENT ON FUNCTION timescaledb_experimental.time_bucket_ng(interval, timestamp, timestamp) IS 'time_bucket with buckets from 2000-01-01';
COMMENT ON FUNCTION timescaledb_experimental.time_bucket_ng(interval, timestamptz, timestamptz) IS 'time_bucket with buckets from 2000-01-01';
COMMENT ON FUNCTION timescaledb_experimental.time_bucket_ng(interval, timestamptz, text, timestamptz) IS 'time_bucket in a time zone with buckets from 2000-01-01';
