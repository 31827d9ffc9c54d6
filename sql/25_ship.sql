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
