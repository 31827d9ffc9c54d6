/*-------------------------------------------------------------------------
 *
 * hook_object.c
 *	  A table that is dropped takes its companion along, and its rows' times
 *	  have changed.
 *
 * Dependencies cannot say this (a companion is an extension member, and R's
 * drop would become the extension's).  Those of its columns that a command can
 * drop by themselves stand before the table in its list
 * (strata_companion_bind).
 *
 * src/hook/hook_object.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"
#include "base/base.h"
#include "catalog/catalog.h"
#include "stat/stat.h"
#include "store/store_companion.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static object_access_hook_type previous_hook = NULL;

/* A chunk is about to be dropped: its rows go. */
static void
track_dropped(Oid relid)
{
	/* DROP has locked it */
	Relation	rel = table_open(relid, NoLock);
	StrataTracked tracked;

	if (strata_store_tracked(rel, &tracked))
		strata_track_whole(&tracked);
	table_close(rel, NoLock);
}

/*
 * A table is about to be dropped: its companion goes along, if it is one of
 * ours.
 */
static void
drop_companion(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	StrataLocator locator = {0};

	if (!HeapTupleIsValid(tuple))
		return;
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (form->relkind == RELKIND_PARTITIONED_TABLE)
		strata_track_source_forget(relid);
	if ((form->relkind == RELKIND_RELATION ||
		 form->relkind == RELKIND_MATVIEW) &&
		strata_is_strata_am(form->relam))
	{
		STRATA_LOCATOR_SPACE(locator) = OidIsValid(form->reltablespace) ?
			form->reltablespace : MyDatabaseTableSpace;
		STRATA_LOCATOR_NUMBER(locator) = form->relfilenode;
		if (form->relispartition)
			track_dropped(relid);
		strata_companion_drop_of(&locator, form->relpersistence);
		strata_stat_dropped(relid);
	}
	ReleaseSysCache(tuple);
}

static void
object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id,
			  void *arg)
{
	if (previous_hook)
		previous_hook(access, class_id, object_id, sub_id, arg);
	if (access == OAT_DROP && class_id == RelationRelationId && sub_id == 0)
		drop_companion(object_id);
}

void
strata_object_hook_init(void)
{
	Assert(object_access_hook != object_access);	/* hook:H1 */
	previous_hook = object_access_hook;
	object_access_hook = object_access;
}
