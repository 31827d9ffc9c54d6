-- Buckets.  timestamptz is bucketed in UTC unless a zone is named: all immutable.
CREATE FUNCTION time_bucket(bucket_width smallint, ts smallint) RETURNS smallint
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width integer, ts integer) RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width bigint, ts bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width smallint, ts smallint, "offset" smallint) RETURNS smallint
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width integer, ts integer, "offset" integer) RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width bigint, ts bigint, "offset" bigint) RETURNS bigint
	AS 'MODULE_PATHNAME', 'strata_time_bucket_int8' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts date) RETURNS date
	AS 'MODULE_PATHNAME', 'strata_time_bucket_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts timestamp, origin timestamp) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts timestamptz, origin timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts date, origin date) RETURNS date
	AS 'MODULE_PATHNAME', 'strata_time_bucket_date' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts timestamp, "offset" interval) RETURNS timestamp
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp_offset' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts timestamptz, "offset" interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_time_bucket_timestamp_offset' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts date, "offset" interval) RETURNS date
	AS 'MODULE_PATHNAME', 'strata_time_bucket_date_offset' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts timestamptz, timezone text,
		origin timestamptz DEFAULT NULL, "offset" interval DEFAULT NULL) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_time_bucket_zone' LANGUAGE C IMMUTABLE PARALLEL SAFE;

COMMENT ON FUNCTION time_bucket(smallint, smallint) IS 'start of the bucket of that width that holds the time';
COMMENT ON FUNCTION time_bucket(integer, integer) IS 'start of the bucket of that width that holds the time';
COMMENT ON FUNCTION time_bucket(bigint, bigint) IS 'start of the bucket of that width that holds the time';
COMMENT ON FUNCTION time_bucket(smallint, smallint, smallint) IS 'start of the bucket that holds the time; a bucket starts at the offset';
COMMENT ON FUNCTION time_bucket(integer, integer, integer) IS 'start of the bucket that holds the time; a bucket starts at the offset';
COMMENT ON FUNCTION time_bucket(bigint, bigint, bigint) IS 'start of the bucket that holds the time; a bucket starts at the offset';
COMMENT ON FUNCTION time_bucket(interval, timestamp) IS 'start of the bucket that holds the time; weeks start on Monday';
COMMENT ON FUNCTION time_bucket(interval, timestamptz) IS 'start of the bucket (in UTC) that holds the time; weeks start on Monday';
COMMENT ON FUNCTION time_bucket(interval, date) IS 'start of the bucket that holds the date; weeks start on Monday';
COMMENT ON FUNCTION time_bucket(interval, timestamp, timestamp) IS 'start of the bucket that holds the time; a bucket starts at the origin';
COMMENT ON FUNCTION time_bucket(interval, timestamptz, timestamptz) IS 'start of the bucket that holds the time; a bucket starts at the origin';
COMMENT ON FUNCTION time_bucket(interval, date, date) IS 'start of the bucket that holds the date; a bucket starts at the origin';
COMMENT ON FUNCTION time_bucket(interval, timestamp, interval) IS 'start of the bucket that holds the time; all buckets are moved by the offset';
COMMENT ON FUNCTION time_bucket(interval, timestamptz, interval) IS 'start of the bucket (in UTC) that holds the time; all buckets are moved by the offset';
COMMENT ON FUNCTION time_bucket(interval, date, interval) IS 'start of the bucket that holds the date; all buckets are moved by the offset';
COMMENT ON FUNCTION time_bucket(interval, timestamptz, text, timestamptz, interval) IS 'start of the bucket of the zone''s wall clock that holds the time';

CREATE FUNCTION time_bucket(bucket_width interval, ts uuid) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_bucket' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts uuid, origin timestamptz) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_bucket' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts uuid, "offset" interval) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_bucket_offset' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION time_bucket(bucket_width interval, ts uuid, timezone text,
	origin timestamptz DEFAULT NULL, "offset" interval DEFAULT NULL) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_bucket_zone' LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION time_bucket(interval, uuid) IS 'start of the bucket (in UTC) that holds the time of a version 7 UUID';
COMMENT ON FUNCTION time_bucket(interval, uuid, timestamptz) IS 'start of the bucket that holds the time of a version 7 UUID; a bucket starts at the origin';
COMMENT ON FUNCTION time_bucket(interval, uuid, interval) IS 'start of the bucket (in UTC) that holds the time of a version 7 UUID; all buckets are moved by the offset';
COMMENT ON FUNCTION time_bucket(interval, uuid, text, timestamptz, interval) IS 'start of the bucket of the zone''s wall clock that holds the time of a version 7 UUID';

-- UUIDs of version 7
CREATE FUNCTION generate_uuidv7() RETURNS uuid
	AS 'MODULE_PATHNAME', 'strata_generate_uuidv7' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION to_uuidv7(ts timestamptz) RETURNS uuid
	AS 'MODULE_PATHNAME', 'strata_to_uuidv7' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
CREATE FUNCTION to_uuidv7_boundary(ts timestamptz) RETURNS uuid
	AS 'MODULE_PATHNAME', 'strata_to_uuidv7_boundary' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_timestamp(uuid uuid) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_timestamp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_timestamp_micros(uuid uuid) RETURNS timestamptz
	AS 'MODULE_PATHNAME', 'strata_uuid_timestamp_micros' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION uuid_version(uuid uuid) RETURNS integer
	AS 'MODULE_PATHNAME', 'strata_uuid_version' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION generate_uuidv7() IS 'a version 7 UUID of the present time, random behind its microseconds';
COMMENT ON FUNCTION to_uuidv7(timestamptz) IS 'a version 7 UUID of the time, random behind its microseconds';
COMMENT ON FUNCTION to_uuidv7_boundary(timestamptz) IS 'the least version 7 UUID of the time: for comparisons';
COMMENT ON FUNCTION uuid_timestamp(uuid) IS 'the time of a version 7 UUID, in milliseconds';
COMMENT ON FUNCTION uuid_timestamp_micros(uuid) IS 'the time of a version 7 UUID, in microseconds if whoever made it put them there';
COMMENT ON FUNCTION uuid_version(uuid) IS 'the version of a UUID';

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

CREATE AGGREGATE first(value anyelement, "time" "any") (
	SFUNC = _strata.first_transition, STYPE = internal,
	COMBINEFUNC = _strata.first_combine,
	SERIALFUNC = _strata.first_last_serialize, DESERIALFUNC = _strata.first_last_deserialize,
	FINALFUNC = _strata.first_last_final, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE first(anyelement, "any") IS
'value of the row with the smallest time; rows whose time is NULL do not count';
CREATE AGGREGATE last(value anyelement, "time" "any") (
	SFUNC = _strata.last_transition, STYPE = internal,
	COMBINEFUNC = _strata.last_combine,
	SERIALFUNC = _strata.first_last_serialize, DESERIALFUNC = _strata.first_last_deserialize,
	FINALFUNC = _strata.first_last_final, FINALFUNC_EXTRA, PARALLEL = SAFE);
COMMENT ON AGGREGATE last(anyelement, "any") IS
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

CREATE AGGREGATE histogram(value double precision, min double precision, max double precision, nbuckets integer) (
	SFUNC = _strata.histogram_transition, STYPE = internal,
	COMBINEFUNC = _strata.histogram_combine,
	SERIALFUNC = _strata.histogram_serialize, DESERIALFUNC = _strata.histogram_deserialize,
	FINALFUNC = _strata.histogram_final, PARALLEL = SAFE);
COMMENT ON AGGREGATE histogram(double precision, double precision, double precision, integer) IS
'counts of values below min, in each of nbuckets equal parts of [min, max), and from max on';
