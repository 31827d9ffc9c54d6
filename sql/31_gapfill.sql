-- Gap filling.  Calls are taken apart before planning and never run.
CREATE FUNCTION time_bucket_gapfill(bucket_width smallint, ts smallint, start smallint DEFAULT NULL, finish smallint DEFAULT NULL)
	RETURNS smallint AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION time_bucket_gapfill(bucket_width integer, ts integer, start integer DEFAULT NULL, finish integer DEFAULT NULL)
	RETURNS integer AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION time_bucket_gapfill(bucket_width bigint, ts bigint, start bigint DEFAULT NULL, finish bigint DEFAULT NULL)
	RETURNS bigint AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION time_bucket_gapfill(bucket_width interval, ts date, start date DEFAULT NULL, finish date DEFAULT NULL)
	RETURNS date AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION time_bucket_gapfill(bucket_width interval, ts timestamp, start timestamp DEFAULT NULL, finish timestamp DEFAULT NULL)
	RETURNS timestamp AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION time_bucket_gapfill(bucket_width interval, ts timestamptz, start timestamptz DEFAULT NULL, finish timestamptz DEFAULT NULL)
	RETURNS timestamptz AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION time_bucket_gapfill(bucket_width interval, ts timestamptz, timezone text, start timestamptz DEFAULT NULL, finish timestamptz DEFAULT NULL)
	RETURNS timestamptz AS 'MODULE_PATHNAME', 'strata_gapfill_bucket' LANGUAGE C VOLATILE PARALLEL SAFE;

COMMENT ON FUNCTION time_bucket_gapfill(smallint, smallint, smallint, smallint) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION time_bucket_gapfill(integer, integer, integer, integer) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION time_bucket_gapfill(bigint, bigint, bigint, bigint) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION time_bucket_gapfill(interval, date, date, date) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION time_bucket_gapfill(interval, timestamp, timestamp, timestamp) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION time_bucket_gapfill(interval, timestamptz, timestamptz, timestamptz) IS 'as time_bucket, with a row for every bucket from start to finish';
COMMENT ON FUNCTION time_bucket_gapfill(interval, timestamptz, text, timestamptz, timestamptz) IS 'as time_bucket with a time zone, with a row for every bucket from start to finish';

CREATE FUNCTION locf(value anyelement, prev anyelement DEFAULT NULL, treat_null_as_missing boolean DEFAULT false)
	RETURNS anyelement AS 'MODULE_PATHNAME', 'strata_gapfill_locf' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION locf(anyelement, anyelement, boolean) IS 'in an empty bucket of time_bucket_gapfill, the value of the bucket before';

CREATE FUNCTION interpolate(value smallint, prev record DEFAULT NULL, next record DEFAULT NULL)
	RETURNS smallint AS 'MODULE_PATHNAME', 'strata_gapfill_interpolate' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION interpolate(value integer, prev record DEFAULT NULL, next record DEFAULT NULL)
	RETURNS integer AS 'MODULE_PATHNAME', 'strata_gapfill_interpolate' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION interpolate(value bigint, prev record DEFAULT NULL, next record DEFAULT NULL)
	RETURNS bigint AS 'MODULE_PATHNAME', 'strata_gapfill_interpolate' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION interpolate(value real, prev record DEFAULT NULL, next record DEFAULT NULL)
	RETURNS real AS 'MODULE_PATHNAME', 'strata_gapfill_interpolate' LANGUAGE C VOLATILE PARALLEL SAFE;
CREATE FUNCTION interpolate(value double precision, prev record DEFAULT NULL, next record DEFAULT NULL)
	RETURNS double precision AS 'MODULE_PATHNAME', 'strata_gapfill_interpolate' LANGUAGE C VOLATILE PARALLEL SAFE;
COMMENT ON FUNCTION interpolate(smallint, record, record) IS 'in an empty bucket of time_bucket_gapfill, a value on the line between its neighbours';
COMMENT ON FUNCTION interpolate(integer, record, record) IS 'in an empty bucket of time_bucket_gapfill, a value on the line between its neighbours';
COMMENT ON FUNCTION interpolate(bigint, record, record) IS 'in an empty bucket of time_bucket_gapfill, a value on the line between its neighbours';
COMMENT ON FUNCTION interpolate(real, record, record) IS 'in an empty bucket of time_bucket_gapfill, a value on the line between its neighbours';
COMMENT ON FUNCTION interpolate(double precision, record, record) IS 'in an empty bucket of time_bucket_gapfill, a value on the line between its neighbours';

CREATE FUNCTION _strata.gapfill_bound("type" anyelement, value "any", after boolean) RETURNS anyelement
	AS 'MODULE_PATHNAME', 'strata_gapfill_bound' LANGUAGE C STABLE PARALLEL SAFE;
COMMENT ON FUNCTION _strata.gapfill_bound(anyelement, "any", boolean) IS 'first time of the type that is >= value, or (after) > value';
