/*-------------------------------------------------------------------------
 *
 * ship_import.c
 *	  Units that lie in a table, or come from a foreign one, into a table.
 *
 * An import is INSERT ... SELECT from the function that takes units apart, as
 * the user, so that all that INSERT checks is checked.  Which units have come
 * is written down in _strata.import in the same transaction: a run that was
 * broken off is gone on with by the next, and a unit that is there twice comes
 * once.  While a transaction imports, it has the export's row there locked.
 *
 * src/ship/ship_import.c
 *-------------------------------------------------------------------------
 */
#include "ship/ship_private.h"

#include "hypertable/hypertable.h"
#include "load/load.h"
#include "store/store_companion.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "tcop/pquery.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/uuid.h"

/* Class of the advisory lock under which an import is written down. */
#define IMPORT_LOCK_CLASS 7503

/* An import that is going on in this session; inner ones first. */
typedef struct Import
{
	struct Import *outer;
	int			token;			/* what its statement calls it */
	MemoryContext mcxt;
	Oid			relid;
	Oid			source;
	bool		atomic;
	int			limit;			/* units in a transaction; 0: all there are */
	char	   *name;			/* of the export */
	StrataUnitOrigin origin;
	int			ncolumns;
	StrataUnitSet set;			/* units that are there */
	bool		opened;			/* its row is locked */
	int64		last;			/* the greatest number of a unit seen */
	int64		total;			/* units of the export; -1: not known */
	int64		total_rows;
	int64		nrows;			/* of the export, that came at any time */
	int64		come_units;		/* in this run, of all exports */
	int64		come_rows;
} Import;

static Import *imports = NULL;
static int	last_token = 0;

/*-------------------------------------------------------------------------
 * What is written down
 *-------------------------------------------------------------------------
 */

/* Can units be read in any order, as often as need be? */
static bool
source_is_table(Oid source)
{
	char		relkind = get_rel_relkind(source);

	return relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW ||
		relkind == RELKIND_PARTITIONED_TABLE;
}

/* Run a statement on our own table, as its owner. */
static int
run_on_record(const char *sql, int nargs, Oid *types, Datum *values,
			  const char *nulls)
{
	StrataOwnerContext saved;
	int			result;

	strata_role_enter(strata_extension_owner(), &saved);
	result = strata_sql_execute(sql, nargs, types, values, nulls, false);
	strata_owner_leave(&saved);
	if (result < 0)
		elog(ERROR, "could not run: %s", sql);
	return result;
}

/* The units that are written down, as ranges; false: there is no such import. */
static bool
load_record(Import *import)
{
	Oid			types[2] = {OIDOID, UUIDOID};
	Datum		values[2] = {ObjectIdGetDatum(import->relid),
	UUIDPGetDatum(&import->origin.export)};
	bool		isnull;
	MemoryContext old;

	import->set.nranges = 0;
	import->total = -1;
	import->nrows = 0;
	run_on_record("SELECT i.rows, i.total, i.total_rows FROM _strata.import i "
				  "WHERE i.relation = $1 AND i.export = $2 FOR UPDATE",
				  2, types, values, NULL);
	if (SPI_processed == 0)
		return false;
	import->nrows = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
												SPI_tuptable->tupdesc, 1,
												&isnull));
	import->total = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
												SPI_tuptable->tupdesc, 2,
												&isnull));
	if (isnull)
		import->total = -1;
	import->total_rows = DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0],
													 SPI_tuptable->tupdesc, 3,
													 &isnull));
	run_on_record("SELECT lower(r), upper(r) - 1 FROM _strata.import i, unnest(i.units) AS r "
				  "WHERE i.relation = $1 AND i.export = $2 ORDER BY 1",
				  2, types, values, NULL);
	old = MemoryContextSwitchTo(import->mcxt);
	for (uint64 i = 0; i < SPI_processed; i++)
	{
		HeapTuple	tuple = SPI_tuptable->vals[i];
		TupleDesc	desc = SPI_tuptable->tupdesc;

		(void) strata_unit_set_add(&import->set,
								   DatumGetInt64(SPI_getbinval(tuple, desc, 1,
															   &isnull)),
								   DatumGetInt64(SPI_getbinval(tuple, desc, 2,
															   &isnull)));
	}
	MemoryContextSwitchTo(old);
	return true;
}

/* Write down what has come, in the transaction that inserted it (ship:SH2). */
static void
save_record(Import *import)
{
	Oid			types[6] = {OIDOID, UUIDOID, TEXTOID, INT8OID, INT8OID,
	INT8OID};
	Datum		values[6];
	char		nulls[7] = "      ";
	StringInfoData units;

	Assert(imports != import);	/* ship:SH2: all of its rows are in */
	initStringInfo(&units);
	appendStringInfoChar(&units, '{');
	for (int i = 0; i < import->set.nranges; i++)
		appendStringInfo(&units, "%s[%lld,%lld]", i > 0 ? "," : "",
						 (long long) import->set.ranges[i][0],
						 (long long) import->set.ranges[i][1]);
	appendStringInfoChar(&units, '}');
	values[0] = ObjectIdGetDatum(import->relid);
	values[1] = UUIDPGetDatum(&import->origin.export);
	values[2] = CStringGetTextDatum(units.data);
	values[3] = Int64GetDatum(import->nrows);
	values[4] = Int64GetDatum(import->total);
	values[5] = Int64GetDatum(import->total_rows);
	if (import->total < 0)
		nulls[4] = nulls[5] = 'n';
	run_on_record("UPDATE _strata.import SET units = $3::int8multirange, rows = $4, "
				  "total = $5, total_rows = $6, changed = now() "
				  "WHERE relation = $1 AND export = $2",
				  6, types, values, nulls);
}

/* Another export of the same rows has been imported into the table. */
static void
refuse_overlap(Import *import)
{
	Oid			types[5] = {OIDOID, INT8OID, UUIDOID, INT8OID, INT8OID};
	Datum		values[5] = {ObjectIdGetDatum(import->relid),
		Int64GetDatum(import->origin.source),
		UUIDPGetDatum(&import->origin.export),
		Int64GetDatum(import->origin.low),
	Int64GetDatum(import->origin.high)};
	char		nulls[6] = "     ";
	char	   *other;

	if (!import->origin.has_low)
		nulls[3] = 'n';
	if (!import->origin.has_high)
		nulls[4] = 'n';
	run_on_record("SELECT i.export::text FROM _strata.import i "
				  "WHERE i.relation = $1 AND i.source = $2 AND i.export <> $3 "
				  "AND int8range(i.low, i.high) && int8range($4, $5) AND NOT isempty(i.units) LIMIT 1",
				  5, types, values, nulls);
	if (SPI_processed == 0)
		return;
	other = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("another export of the same table and times has been imported into \"%s\"",
					get_rel_name(import->relid)),
			 errdetail("Rows that are in both, %s and %s, would be there twice.",
					   other, import->name),
			 errhint("Go on with the units of that one, see strata.imports; or delete what has come of it, and then SELECT strata.forget_import('%s', '%s');",
					 strata_sql_name(import->relid), other)));
}

/* Two who begin to import into a table do so one after the other. */
static void
lock_records(Oid relid)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, RelationRelationId, relid,
						 IMPORT_LOCK_CLASS);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

static void
commit_if_allowed(const Import *import)
{
	if (import->atomic)
		return;
	SPI_commit();
	EnsurePortalSnapshotExists();
}

/*
 * Have the export written down, and its row locked until the transaction ends.
 */
static void
open_record(Import *import)
{
	Oid			types[5] = {OIDOID, UUIDOID, INT8OID, INT8OID, INT8OID};
	Datum		values[5] = {ObjectIdGetDatum(import->relid),
		UUIDPGetDatum(&import->origin.export),
		Int64GetDatum(import->origin.source),
		Int64GetDatum(import->origin.low),
	Int64GetDatum(import->origin.high)};
	char		nulls[6] = "     ";

	import->opened = true;
	if (load_record(import))
		return;
	lock_records(import->relid);
	if (load_record(import))
		return;
	refuse_overlap(import);
	Assert(import->set.nranges == 0);	/* ship:SH2 */
	if (!import->origin.has_low)
		nulls[3] = 'n';
	if (!import->origin.has_high)
		nulls[4] = 'n';
	/* tables that are gone are nobody's business any more */
	run_on_record("DELETE FROM _strata.import i WHERE NOT EXISTS "
				  "(SELECT FROM pg_class c WHERE c.oid = i.relation)",
				  0, NULL, NULL, NULL);
	run_on_record("INSERT INTO _strata.import (relation, export, source, low, high) "
				  "VALUES ($1, $2, $3, $4, $5)",
				  5, types, values, nulls);
	/* the lock is for this only; others may import other exports meanwhile */
	if (source_is_table(import->source))
		commit_if_allowed(import);
	if (!load_record(import))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the import into \"%s\" was forgotten while it began",
						get_rel_name(import->relid))));
}

/*-------------------------------------------------------------------------
 * Rows for the statement
 *-------------------------------------------------------------------------
 */

static Import *
find_import(int token)
{
	for (Import *import = imports; import != NULL; import = import->outer)
		if (import->token == token)
			return import;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("no import of that number is going on")));
}

/* The import is of the export that the unit is of. */
static void
begin_import(Import *import, const StrataUnit *unit)
{
	MemoryContext old = MemoryContextSwitchTo(import->mcxt);

	import->origin = unit->origin;
	/* an end has none */
	if (unit->kind != STRATA_UNIT_END)
		import->ncolumns = unit->ncolumns;
	import->name =
		DatumGetCString(DirectFunctionCall1(uuid_out,
											UUIDPGetDatum(&unit->origin.export)));
	import->last = 0;
	MemoryContextSwitchTo(old);
}

/* Is the unit one that has not come yet?  If so it has, from now on. */
static bool
arrives(Import *import, const StrataUnit *unit, int ncolumns)
{
	MemoryContext old;
	bool		added;

	if (!import->opened)
	{
		/*
		 * what a foreign table or view had a moment ago may have been another
		 * snapshot's
		 */
		begin_import(import, unit);
		if (SPI_connect() != SPI_OK_CONNECT)
			elog(ERROR, "SPI_connect failed");
		open_record(import);
		SPI_finish();
	}
	if (memcmp(&unit->origin.export, &import->origin.export, UUID_LEN) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("\"%s\" has units of several exports, or one that is not of the export it is said to be of",
						get_rel_name(import->source)),
				 errhint("Copy the units into a table with the columns export, seq and unit, and import them from there.")));
	import->last = Max(import->last, unit->seq);
	if (unit->kind == STRATA_UNIT_END)
	{
		import->total = unit->seq - 1;
		import->total_rows = unit->total_rows;
		return false;
	}
	Assert(unit->nrows > 0);	/* ship:SH1 */
	if (unit->ncolumns != ncolumns || unit->ncolumns != import->ncolumns)
		strata_unit_corrupt("It has other columns than units of the same export");
	old = MemoryContextSwitchTo(import->mcxt);
	added = strata_unit_set_add(&import->set, unit->seq, unit->seq);
	MemoryContextSwitchTo(old);
	if (added)
	{
		import->come_units++;
		import->come_rows += unit->nrows;
		import->nrows += unit->nrows;
	}
	return added;
}

/* See ship.h. */
void
strata_import_rows(int token, const bytea *bytes, ReturnSetInfo *rsinfo)
{
	StrataUnit *unit = strata_unit_parse(bytes);

	if (token != 0 &&
		!arrives(find_import(token), unit, rsinfo->setDesc->natts))
		return;
	if (token != 0)
		strata_load_form = unit->kind == STRATA_UNIT_BATCH ?
			STRATA_LOAD_BATCHES : STRATA_LOAD_ROWS;
	strata_unit_rows(unit, rsinfo);
}

/*-------------------------------------------------------------------------
 * The run
 *-------------------------------------------------------------------------
 */

static void
check_source_column(Oid source, const char *name, Oid type)
{
	AttrNumber	attno = get_attnum(source, name);

	if (attno <= 0 || get_atttype(source, attno) != type)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("\"%s\" has no column \"%s\" of type %s",
						get_rel_name(source), name, format_type_be(type)),
				 errhint("Units are taken from tables like: CREATE TABLE inbox AS SELECT * FROM strata.export_batches('%s') LIMIT 0;",
						 get_rel_name(source))));
}

/*
 * A unit that tells what comes next: the first of an export that is not in
 * `done` (uuid[], as text); NULL: there is none.
 */
static StrataUnit *
peek_unit(Import *import, const char *done)
{
	const char *source = strata_sql_name(import->source);
	char	   *order = source_is_table(import->source) ?
	psprintf("AND u.export <> ALL ('%s'::uuid[]) ORDER BY u.export, u.seq",
			 done) : "";

	/* elsewhere the end of an export may come first; it tells of no columns */
	char	   *quals[2] = {
		psprintf("AND CASE WHEN octet_length(u.unit) > %d THEN get_byte(u.unit, %d) <> %d ELSE true END",
				 STRATA_UNIT_KIND_AT, STRATA_UNIT_KIND_AT, STRATA_UNIT_END), ""
	};
	bool		isnull;
	Datum		value;
	StrataUnit *unit;
	MemoryContext old;

	SPI_processed = 0;
	for (int i = *order != '\0' ? 1 : 0; i < 2 && SPI_processed == 0; i++)
	{
		char	   *sql = psprintf("SELECT u.unit FROM %s AS u WHERE u.unit IS NOT NULL %s %s LIMIT 1",
								   source, quals[i], order);

		if (strata_sql_execute(sql, 0, NULL, NULL, NULL, false) < 0)
			elog(ERROR, "could not run: %s", sql);
	}
	if (SPI_processed == 0)
		return NULL;
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1,
						  &isnull);
	old = MemoryContextSwitchTo(import->mcxt);
	unit = strata_unit_parse((bytea *) PG_DETOAST_DATUM_COPY(value));
	MemoryContextSwitchTo(old);
	return unit;
}

/* The statement that imports the next units. */
static char *
import_statement(const Import *import, const char *columns,
				 const char *definitions)
{
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM (SELECT u.unit FROM %s AS u",
					 strata_sql_name(import->relid), columns, columns,
					 strata_sql_name(import->source));
	if (source_is_table(import->source))
		appendStringInfo(&sql, " WHERE u.export OPERATOR(pg_catalog.=) '%s'::pg_catalog.uuid"
						 " AND u.seq OPERATOR(pg_catalog.>) %lld::pg_catalog.int8",
						 import->name, (long long) import->last);
	if (import->limit > 0)
		appendStringInfo(&sql, " ORDER BY u.seq LIMIT %d", import->limit);
	appendStringInfo(&sql, ") AS s, LATERAL _strata.unit_rows(s.unit, %d) AS r (%s)",
					 import->token, definitions);
	return sql.data;
}

/*
 * Insert the rows of the next units; false: there were none.  Memoize would
 * take equal units for one.
 */
static bool
import_next(Import *import, const char *columns, const char *definitions)
{
	StrataLoadForm form = strata_load_form;
	int64		last = import->last;
	int			level = NewGUCNestLevel();

	(void) set_config_option("enable_memoize", "off", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	import->token = ++last_token;
	import->outer = imports;
	imports = import;
	PG_TRY();
	{
		strata_load_form = STRATA_LOAD_ROWS;
		strata_sql_run(import_statement(import, columns, definitions));
	}
	PG_FINALLY();
	{
		strata_load_form = form;
		imports = import->outer;
	}
	PG_END_TRY();
	AtEOXact_GUC(false, level);
	return import->last > last;
}

/* What of the export is still to come. */
static void
report_missing(const Import *import)
{
	int64		come = strata_unit_set_count(&import->set);

	if (import->total < 0)
		ereport(WARNING,
				(errcode(ERRCODE_WARNING),
				 errmsg("the end of export %s is not in \"%s\"", import->name,
						get_rel_name(import->source)),
				 errdetail("%lld units of it have come so far.",
						   (long long) come)));
	else if (come < import->total)
		ereport(WARNING,
				(errcode(ERRCODE_WARNING),
				 errmsg("%lld of the %lld units of export %s have not come",
						(long long) (import->total - come),
						(long long) import->total, import->name)));
	else if (come > import->total || import->nrows != import->total_rows)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("export %s has other units than its end says",
						import->name)));
}

/* All units of one export that are there. */
static void
import_export(Import *import, const StrataUnit *first)
{
	StringInfoData columns;
	StringInfoData definitions;
	bool		more = true;

	initStringInfo(&columns);
	initStringInfo(&definitions);
	begin_import(import, first);
	if (first->kind != STRATA_UNIT_END)
		strata_unit_match(import->relid, first, &columns, &definitions);
	if (source_is_table(import->source) || first->kind == STRATA_UNIT_END)
		open_record(import);
	if (first->kind == STRATA_UNIT_END)
	{
		import->total = first->seq - 1;
		import->total_rows = first->total_rows;
		more = false;
	}
	while (more)
	{
		CHECK_FOR_INTERRUPTS();
		more = import_next(import, columns.data, definitions.data) &&
			import->limit > 0;
		if (import->opened)
			save_record(import);
		if (!more)
			break;
		commit_if_allowed(import);
		if (!load_record(import))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("export %s was forgotten while it was imported",
							import->name)));
	}
	if (first->kind == STRATA_UNIT_END)
		save_record(import);
	report_missing(import);
	commit_if_allowed(import);
}

/* See ship.h. */
void
strata_import_run(Oid relid, Oid source, int limit, bool atomic,
				  int64 *units, int64 *rows)
{
	Import		import = {.relid = relid,.source = source,.limit = limit,
	.atomic = atomic,.mcxt = CurrentMemoryContext};
	StringInfoData done;
	StrataUnit *first;

	check_source_column(source, "unit", BYTEAOID);
	if (source_is_table(source))
	{
		check_source_column(source, "export", UUIDOID);
		check_source_column(source, "seq", INT8OID);
	}
	else
		import.limit = 0;
	initStringInfo(&done);
	appendStringInfoChar(&done, '{');
	while ((first = peek_unit(&import, psprintf("%s}", done.data))) != NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(import.mcxt);

		import.opened = false;
		import_export(&import, first);
		appendStringInfo(&done, "%s%s", done.len > 1 ? "," : "", import.name);
		MemoryContextSwitchTo(old);
		if (!source_is_table(source))
			break;
	}
	*units = import.come_units;
	*rows = import.come_rows;
}

/* See ship.h. */
int64
strata_import_forget(Oid relid, const pg_uuid_t *export)
{
	Oid			types[2] = {OIDOID, UUIDOID};
	Datum		values[2] = {ObjectIdGetDatum(relid), UUIDPGetDatum(export)};

	run_on_record("DELETE FROM _strata.import WHERE relation = $1 AND ($2 IS NULL OR export = $2)",
				  2, types, values, export == NULL ? " n" : NULL);
	return (int64) SPI_processed;
}
