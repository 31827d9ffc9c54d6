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
