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
