/*-------------------------------------------------------------------------
 *
 * hook_column.c
 *	  Columns that are renamed, dropped or given another type, whatever command
 *	  does it: options and companions follow.
 *
 * ALTER TABLE is one way of many: DROP TYPE ... CASCADE drops columns, ALTER
 * TYPE those of typed tables, ALTER FOREIGN TABLE those of tables that inherit
 * from it.  PostgreSQL tells of each column by object access.
 *
 * src/hook/hook_column.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"
#include "base/base.h"
#include "catalog/catalog.h"
#include "compress/compress.h"
#include "store/store_companion.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* A column that the statement has dropped, or given another type. */
typedef struct ChangedColumn
{
	Oid			relid;
	char	   *name;
	bool		dropped;
} ChangedColumn;

/* Of the statement that runs; NULL: none does. */
static StrataChangedColumns *changed = NULL;

/* May the relation have options that name columns? */
static bool
may_have_options(Oid relid)
{
	char		relkind = get_rel_relkind(relid);

	return relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW ||
		relkind == RELKIND_PARTITIONED_TABLE;
}

/* For what is done when the statement ends. */
static void
note_column(Oid relid, const char *name, bool dropped)
{
	MemoryContext old;
	ChangedColumn *column;

	if (changed == NULL)
		return;
	old = MemoryContextSwitchTo(changed->mcxt);
	column = palloc(sizeof(ChangedColumn));
	column->relid = relid;
	column->name = pstrdup(name);
	column->dropped = dropped;
	changed->columns = lappend(changed->columns, column);
	MemoryContextSwitchTo(old);
}

/* See hook_private.h. */
void
strata_hook_column_dropped(Oid relid, AttrNumber attno)
{
	char	   *name = get_attname(relid, attno, true);

	if (name == NULL || !may_have_options(relid))
		return;
	strata_companion_column_dropped(relid, attno);
	strata_settings_column_changed(relid, name, NULL);
	note_column(relid, name, true);
}

/* The name and type that a column is getting; false: none. */
static bool
column_to_be(Oid relid, AttrNumber attno, NameData *name, Oid *type)
{
	Relation	rel = table_open(AttributeRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&keys[0], Anum_pg_attribute_attrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(relid));
	ScanKeyInit(&keys[1], Anum_pg_attribute_attnum, BTEqualStrategyNumber,
				F_INT2EQ, Int16GetDatum(attno));
	scan = systable_beginscan(rel, AttributeRelidNumIndexId, true,
							  SnapshotSelf, 2, keys);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		*name = ((Form_pg_attribute) GETSTRUCT(tuple))->attname;
		*type = ((Form_pg_attribute) GETSTRUCT(tuple))->atttypid;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return HeapTupleIsValid(tuple);
}

/* See hook_private.h. */
void
strata_hook_column_altered(Oid relid, AttrNumber attno)
{
	char	   *old;
	NameData	name;
	Oid			type;

	if (!may_have_options(relid))
		return;
	/* the catalog cache has what was, until the command counter moves on */
	old = get_attname(relid, attno, true);
	if (old == NULL || !column_to_be(relid, attno, &name, &type))
		return;
	if (type != get_atttype(relid, attno))
		note_column(relid, old, false);
	if (strcmp(old, NameStr(name)) != 0)
		strata_settings_column_changed(relid, old, NameStr(name));
}

/* See hook_private.h. */
void
strata_hook_columns_watch(StrataChangedColumns *columns)
{
	columns->mcxt = CurrentMemoryContext;
	columns->columns = NIL;
	columns->outer = changed;
	changed = columns;
}

/* See hook_private.h. */
void
strata_hook_columns_unwatch(StrataChangedColumns *columns)
{
	Assert(changed == columns); /* hook:H6 */
	changed = columns->outer;
}

/* See hook_private.h. */
void
strata_hook_columns_forget_options(Oid relid)
{
	ListCell   *lc;

	if (changed == NULL)
		return;
	foreach(lc, changed->columns)
	{
		ChangedColumn *column = lfirst(lc);

		if (column->dropped && column->relid == relid)
			strata_settings_column_changed(relid, column->name, NULL);
	}
}

/* See hook_private.h. */
void
strata_hook_columns_leave(const StrataChangedColumns *columns)
{
	List	   *relids = NIL;
	ListCell   *lc;

	foreach(lc, columns->columns)
	{
		const ChangedColumn *column = lfirst(lc);
		Relation	rel;

		if (column->dropped)
		{
			relids = list_append_unique_oid(relids, column->relid);
			continue;
		}
		/* who changed the column has it locked */
		rel = try_relation_open(column->relid, AccessExclusiveLock);
		if (rel == NULL)
			continue;
		strata_settings_column_retyped(rel, column->name);
		relation_close(rel, NoLock);
	}
	foreach(lc, relids)
	{
		Relation	rel;

		/* who dropped the column has it locked */
		rel = get_rel_relkind(lfirst_oid(lc)) == RELKIND_RELATION ?
			try_table_open(lfirst_oid(lc), AccessExclusiveLock) : NULL;
		if (rel == NULL)
			continue;
		if (strata_relation_is_strata(rel))
			strata_store_column_dropped(rel);
		table_close(rel, NoLock);
	}
}
