/*-------------------------------------------------------------------------
 *
 * rollup_catalog.c
 *	  Rollups that are there: a row of _strata.rollup, and the view's rule.
 *
 * src/rollup/rollup_catalog.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "catalog/catalog.h"

#include "access/relation.h"
#include "nodes/parsenodes.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/*
 * Lock the hypertable that a view comes from, before the view: whoever drops
 * it, or its chunks, comes to the view then.
 */
static void
lock_source(const StrataRollupRow *row)
{
	const StrataRollupRow *below = row;

	for (; below != NULL; below = strata_rollup_is_archive(row->source) ?
		 strata_rollup_row_of_archive(row->source) : NULL)
		row = below;
	LockRelationOid(row->source, AccessShareLock);
}

/* See rollup.h. */
void
strata_rollup_lock_view(Oid view, LOCKMODE mode)
{
	StrataRollupRow *row = strata_rollup_row(view);

	if (row == NULL)
		return;
	lock_source(row);
	LockRelationOid(view, mode);
}

/* See rollup.h. */
StrataRollup *
strata_rollup_open(Oid view, bool missing_ok)
{
	StrataRollupRow *row = strata_rollup_row(view);
	StrataRollup *rollup;
	Relation	rel;
	ListCell   *lc;

	if (row != NULL)
		lock_source(row);
	rel = row != NULL ? try_relation_open(view, AccessShareLock) : NULL;
	if (rel == NULL)
	{
		if (!missing_ok)
			elog(ERROR, "view %u has no archive", view);
		return NULL;
	}
	rollup = strata_rollup_analyze(get_view_query(rel), row->source);
	relation_close(rel, NoLock);
	rollup->view = view;
	rollup->source = row->source;
	rollup->archive = row->archive;
	rollup->materialized_only = row->materialized_only;
	rollup->losses = row->losses;
	/* a column of the view may have another name by now */
	foreach(lc, rollup->columns)
		((StrataRollupColumn *) lfirst(lc))->name =
		get_attname(rollup->archive, foreach_current_index(lc) + 1, false);
	return rollup;
}

/* See rollup.h. */
void
strata_rollup_lock_view_of(Oid archive)
{
	if (strata_rollup_is_archive(archive))
		strata_rollup_lock_view(strata_rollup_of_archive(archive),
								ShareUpdateExclusiveLock);
}

/* See rollup.h. */
char *
strata_rollup_shown_column(Oid view, AttrNumber attno)
{
	StrataRollup *rollup = strata_rollup_open(view, false);
	ListCell   *lc;

	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);
		ListCell   *target;

		foreach(target, rollup->definition->targetList)
		{
			TargetEntry *entry = lfirst_node(TargetEntry, target);

			if (!entry->resjunk && entry->resno == attno &&
				equal(entry->expr, column->expr))
				return pstrdup(column->name);
		}
	}
	return NULL;
}

/* See rollup.h. */
bool
strata_rollup_is(Oid view)
{
	return strata_settings_get_text(view, "continuous") != NULL;
}

/* See rollup.h. */
List *
strata_rollups_of_source(Oid hypertable)
{
	List	   *views = NIL;
	ListCell   *lc;

	foreach(lc, strata_rollup_rows_of_source(hypertable))
		views = lappend_oid(views, ((StrataRollupRow *) lfirst(lc))->view);
	/* the same for every session, wherever the rows lie */
	list_sort(views, list_oid_cmp);
	return views;
}

/* See rollup.h. */
Oid
strata_rollup_of_archive(Oid archive)
{
	StrataRollupRow *row = strata_rollup_row_of_archive(archive);

	return row != NULL ? row->view : InvalidOid;
}
