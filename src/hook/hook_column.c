/*-------------------------------------------------------------------------
 *
 * hook_column.c
 *	  Columns that are renamed or dropped, whatever command does it: options
 *	  and companions follow.
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

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* A column that the statement has dropped. */
typedef struct DroppedColumn
{
	Oid			relid;
	char	   *name;
} DroppedColumn;

/* Of the statement that runs; NULL: none does. */
static StrataDroppedColumns *dropped = NULL;

/* May the relation have options that name columns? */
static bool
may_have_options(Oid relid)
{
	char		relkind = get_rel_relkind(relid);

	return relkind == RELKIND_RELATION || relkind == RELKIND_MATVIEW ||
		relkind == RELKIND_PARTITIONED_TABLE;
}

/* See hook_private.h. */
void
strata_hook_column_dropped(Oid relid, AttrNumber attno)
{
	char	   *name = get_attname(relid, attno, true);
	MemoryContext old;
	DroppedColumn *column;

	if (name == NULL || !may_have_options(relid))
		return;
	strata_settings_column_changed(relid, name, NULL);
	if (dropped == NULL)
		return;
	old = MemoryContextSwitchTo(dropped->mcxt);
	column = palloc(sizeof(DroppedColumn));
	column->relid = relid;
	column->name = pstrdup(name);
	dropped->columns = lappend(dropped->columns, column);
	MemoryContextSwitchTo(old);
}

/* The name that a column is getting, in *name; false: none. */
static bool
name_to_be(Oid relid, AttrNumber attno, NameData *name)
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
		*name = ((Form_pg_attribute) GETSTRUCT(tuple))->attname;
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

	if (!may_have_options(relid))
		return;
	/* the catalog cache has what was, until the command counter moves on */
	old = get_attname(relid, attno, true);
	if (old != NULL && name_to_be(relid, attno, &name) &&
		strcmp(old, NameStr(name)) != 0)
		strata_settings_column_changed(relid, old, NameStr(name));
}

/* See hook_private.h. */
void
strata_hook_columns_watch(StrataDroppedColumns *columns)
{
	columns->mcxt = CurrentMemoryContext;
	columns->columns = NIL;
	columns->outer = dropped;
	dropped = columns;
}

/* See hook_private.h. */
void
strata_hook_columns_unwatch(StrataDroppedColumns *columns)
{
	Assert(dropped == columns); /* hook:H6 */
	dropped = columns->outer;
}

/* See hook_private.h. */
void
strata_hook_columns_forget_options(Oid relid)
{
	ListCell   *lc;

	if (dropped == NULL)
		return;
	foreach(lc, dropped->columns)
	{
		DroppedColumn *column = lfirst(lc);

		if (column->relid == relid)
			strata_settings_column_changed(relid, column->name, NULL);
	}
}

/* See hook_private.h. */
void
strata_hook_columns_leave(const StrataDroppedColumns *columns)
{
	List	   *relids = NIL;
	ListCell   *lc;

	foreach(lc, columns->columns)
		relids = list_append_unique_oid(relids,
										((DroppedColumn *) lfirst(lc))->relid);
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
