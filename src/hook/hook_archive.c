/*-------------------------------------------------------------------------
 *
 * hook_archive.c
 *	  Statements about the archive of a continuous aggregate.
 *
 * Its columns are what the view's definition comes to, so that nobody else
 * changes them; it is logged, since what is covered survives a crash; and no
 * trigger or rule of its own changes what a refresh writes.
 *
 * A view stands for its archive where a statement is about what is stored:
 * CREATE INDEX, TRUNCATE, VACUUM and ANALYZE.
 *
 * src/hook/hook_archive.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog.h"
#include "hook/hook_private.h"
#include "hypertable/hypertable.h"
#include "rollup/rollup.h"

#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/*-------------------------------------------------------------------------
 * What is refused
 *-------------------------------------------------------------------------
 */

/* The view of an archive, or of the one that the table is a chunk of. */
static Oid
view_of(const RangeVar *name)
{
	Oid			relid = name == NULL ? InvalidOid :
	RangeVarGetRelid(name, NoLock, true);

	if (!OidIsValid(relid))
		return InvalidOid;
	if (get_rel_relispartition(relid))
		relid = get_partition_parent(relid, true);
	return get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE &&
		strata_rollup_is_archive(relid) ?
		strata_rollup_of_archive(relid) : InvalidOid;
}

static void
refuse_archive(const char *what, Oid view)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot %s of continuous aggregate \"%s\"", what,
					get_rel_name(view))));
}

/* The guard of hypertables, which a dump makes for itself? */
static bool
is_guard(const CreateTrigStmt * trigger)
{
	return list_length(trigger->funcname) == 2 &&
		strcmp(strVal(linitial(trigger->funcname)),
			   STRATA_INTERNAL_SCHEMA) == 0 &&
		strcmp(strVal(lsecond(trigger->funcname)), "insert_guard") == 0;
}

/* What of an archive ALTER TABLE would change that has to stay; or NULL. */
static const char *
forbidden_change(const AlterTableStmt *alter)
{
	ListCell   *lc;

	if (alter->objtype != OBJECT_TABLE)
		return NULL;
	foreach(lc, alter->cmds)
	{
		switch (lfirst_node(AlterTableCmd, lc)->subtype)
		{
			case AT_AddColumn:
			case AT_DropColumn:
			case AT_AlterColumnType:
			case AT_AddIdentity:
				return "change columns of the archive";
			case AT_SetUnLogged:
				return "have the archive unlogged, which a crash would empty:";
			default:
				break;
		}
	}
	return NULL;
}

/* ereport where the archive, or its view, would not be what it is. */
static void
refuse_changes(Node *stmt)
{
	const RangeVar *name = NULL;
	const char *what = NULL;
	Oid			view;

	switch (nodeTag(stmt))
	{
		case T_AlterTableStmt:
			name = ((AlterTableStmt *) stmt)->relation;
			what = forbidden_change((AlterTableStmt *) stmt);
			break;
		case T_CreateTrigStmt:
			name = ((CreateTrigStmt *) stmt)->relation;
			if (!is_guard((CreateTrigStmt *) stmt))
				what = "make a trigger of the archive";
			break;
		case T_RuleStmt:
			name = ((RuleStmt *) stmt)->relation;
			what = "make a rule of the archive";
			break;
		default:
			break;
	}
	if (what == NULL)
		return;
	view = view_of(name);
	if (OidIsValid(view))
		refuse_archive(what, view);
	if (IsA(stmt, AlterTableStmt) || !strata_hook_is_rollup(name))
		return;
	refuse_archive(IsA(stmt, RuleStmt) ? "make a rule" : "make a trigger",
				   RangeVarGetRelid(name, NoLock, false));
}

/*-------------------------------------------------------------------------
 * What is locked first
 *-------------------------------------------------------------------------
 */

/*
 * Lock the view that is named, or that of an archive, or of a chunk of one,
 * which the user may empty.
 */
static void
lock_view_of(const RangeVar *name)
{
	Oid			relid = RangeVarGetRelid(name, NoLock, true);
	Oid			view = strata_hook_is_rollup(name) ? relid : view_of(name);

	if (OidIsValid(relid) && OidIsValid(view) &&
		(strata_table_ownercheck(relid, GetUserId()) ||
		 pg_class_aclcheck(relid, GetUserId(), ACL_TRUNCATE) == ACLCHECK_OK))
		strata_rollup_lock_view(view, ShareUpdateExclusiveLock);
}

/* The same of what is going to have another name; readers, too, if a view. */
static void
lock_named(const RangeVar *name)
{
	if (strata_hook_is_rollup(name))
		strata_hook_rollup_lock(name);
	else
		lock_view_of(name);
}

/* Does it take rows of the table away from older snapshots? */
static bool
alters_rows(const AlterTableStmt *alter)
{
	ListCell   *lc;

	foreach(lc, alter->cmds)
	{
		AlterTableType type = lfirst_node(AlterTableCmd, lc)->subtype;

		if (type == AT_DetachPartition || type == AT_SetAccessMethod)
			return true;
	}
	return false;
}

/* Lock views before the archives that the statement takes rows from. */
static void
lock_views_first(Node *stmt)
{
	ListCell   *lc;

	switch (nodeTag(stmt))
	{
		case T_TruncateStmt:
			foreach(lc, ((TruncateStmt *) stmt)->relations)
				lock_view_of(lfirst_node(RangeVar, lc));
			break;
		case T_DropStmt:
			if (((DropStmt *) stmt)->removeType != OBJECT_TABLE)
				break;
			foreach(lc, ((DropStmt *) stmt)->objects)
			{
				List	   *name = lfirst_node(List, lc);

				lock_view_of(makeRangeVarFromNameList(name));
			}
			break;
		case T_AlterTableStmt:
			if (alters_rows((AlterTableStmt *) stmt))
				lock_view_of(((AlterTableStmt *) stmt)->relation);
			break;
		case T_RenameStmt:
			if (((RenameStmt *) stmt)->relation != NULL)
				lock_named(((RenameStmt *) stmt)->relation);
			break;
		case T_AlterObjectSchemaStmt:
			if (((AlterObjectSchemaStmt *) stmt)->relation != NULL)
				lock_named(((AlterObjectSchemaStmt *) stmt)->relation);
			break;
		default:
			break;
	}
}

/* See hook_private.h. */
void
strata_hook_archive_check(Node *stmt)
{
	refuse_changes(stmt);
	lock_views_first(stmt);
}

/*-------------------------------------------------------------------------
 * What is meant for the archive
 *-------------------------------------------------------------------------
 */

static bool
any_is_rollup(const List *names)
{
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strata_hook_is_rollup(lfirst_node(RangeVar, lc)))
			return true;
	}
	return false;
}

/* See hook_private.h. */
bool
strata_hook_archive_is_meant(Node *stmt)
{
	const		CommentStmt *comment = (const CommentStmt *) stmt;
	RangeVar   *name;
	ListCell   *lc;

	switch (nodeTag(stmt))
	{
		case T_IndexStmt:
			return strata_hook_is_rollup(((IndexStmt *) stmt)->relation);
		case T_TruncateStmt:
			return any_is_rollup(((TruncateStmt *) stmt)->relations);
		case T_VacuumStmt:
			foreach(lc, ((VacuumStmt *) stmt)->rels)
			{
				VacuumRelation *rel = lfirst_node(VacuumRelation, lc);

				if (rel->relation != NULL &&
					strata_hook_is_rollup(rel->relation))
					return true;
			}
			return false;
		case T_CommentStmt:
			if (comment->objtype != OBJECT_MATVIEW)
				return false;
			name = makeRangeVarFromNameList(castNode(List, comment->object));
			return strata_hook_is_rollup(name);
		default:
			return false;
	}
}

/* The archive's name for a view's. */
static RangeVar *
archive_name_of(const RangeVar *name)
{
	Oid			view = RangeVarGetRelid(name, NoLock, false);
	Oid			archive = strata_rollup_row(view)->archive;
	RangeVar   *result;

	result = makeRangeVar(get_namespace_name(get_rel_namespace(archive)),
						  get_rel_name(archive), name->location);
	result->inh = name->inh;
	return result;
}

/* The column of the archive that a column of the view shows. */
static char *
stored_column(Oid view, const char *column)
{
	AttrNumber	attno = get_attnum(view, column);
	char	   *name;

	if (attno == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" does not exist", column)));
	name = strata_rollup_shown_column(view, attno);
	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column \"%s\" of continuous aggregate \"%s\" is no column of its archive",
						column, get_rel_name(view)),
				 errhint("Use the bucket, what the view groups by, or an aggregate that is kept as it is.")));
	return name;
}

/* CREATE INDEX by columns. */
static void
redirect_index(IndexStmt *index)
{
	Oid			view = RangeVarGetRelid(index->relation, NoLock, false);
	List	   *elements = list_concat_copy(index->indexParams,
											index->indexIncludingParams);
	ListCell   *lc;

	if (index->unique || index->primary)
		refuse_archive("make a unique index", view);
	if (index->whereClause != NULL)
		refuse_archive("make an index with a condition", view);
	foreach(lc, elements)
	{
		IndexElem  *element = lfirst_node(IndexElem, lc);

		if (element->name == NULL)
			refuse_archive("make an index of expressions", view);
		element->name = stored_column(view, element->name);
	}
	index->relation = archive_name_of(index->relation);
}

/* TRUNCATE: also of what is kept of rows that are gone. */
static void
redirect_truncate(TruncateStmt * truncate)
{
	ListCell   *lc;

	foreach(lc, truncate->relations)
	{
		RangeVar   *name = lfirst_node(RangeVar, lc);

		if (!strata_hook_is_rollup(name))
			continue;
		(void) strata_owned_relation_name(RangeVarGetRelid(name, NoLock,
														   false));
		lfirst(lc) = archive_name_of(name);
	}
}

/*
 * A table is empty now: what was clean or kept in it, or in the archive that
 * it is.
 */
static void
lose_emptied(Oid relid)
{
	Oid			archive = relid;
	int64		lo = PG_INT64_MIN;
	int64		hi = PG_INT64_MAX;

	if (get_rel_relispartition(relid))
	{
		archive = get_partition_parent(relid, true);
		(void) strata_chunk_times(relid, &lo, &hi);
	}
	if (get_rel_relkind(archive) == RELKIND_PARTITIONED_TABLE &&
		strata_rollup_is_archive(archive))
		strata_rollup_lose(archive, lo, hi);
}

/* The same of all that TRUNCATE names; it has locked them. */
static void
lose_truncated(const TruncateStmt * truncate)
{
	List	   *relids = NIL;
	List	   *others;
	ListCell   *lc;

	CommandCounterIncrement();
	foreach(lc, truncate->relations)
	{
		Oid			relid = RangeVarGetRelid(lfirst_node(RangeVar, lc), NoLock,
											 true);

		if (OidIsValid(relid))
			relids = lappend_oid(relids, relid);
	}
	while (truncate->behavior == DROP_CASCADE &&
		   (others = heap_truncate_find_FKs(relids)) != NIL)
		relids = list_concat(relids, others);
	foreach(lc, relids)
		lose_emptied(lfirst_oid(lc));
}

/* See hook_private.h. */
void
strata_hook_archive_emptied(Node *stmt)
{
	ListCell   *lc;

	if (IsA(stmt, TruncateStmt))
		lose_truncated((TruncateStmt *) stmt);
	if (!IsA(stmt, AlterTableStmt))
		return;
	foreach(lc, ((AlterTableStmt *) stmt)->cmds)
	{
		Oid			relid;

		if (lfirst_node(AlterTableCmd, lc)->subtype != AT_SetAccessMethod)
			continue;
		relid = RangeVarGetRelid(((AlterTableStmt *) stmt)->relation, NoLock,
								 true);
		if (OidIsValid(relid))
			strata_rollup_rewritten(relid);
	}
}

/* VACUUM, ANALYZE. */
static void
redirect_vacuum(VacuumStmt *vacuum)
{
	ListCell   *lc;

	foreach(lc, vacuum->rels)
	{
		VacuumRelation *rel = lfirst_node(VacuumRelation, lc);
		Oid			view;
		ListCell   *column;

		if (rel->relation == NULL || !strata_hook_is_rollup(rel->relation))
			continue;
		view = RangeVarGetRelid(rel->relation, NoLock, false);
		foreach(column, rel->va_cols)
			lfirst(column) = makeString(stored_column(view,
													  strVal(lfirst(column))));
		rel->relation = archive_name_of(rel->relation);
	}
}

/* See hook_private.h. */
void
strata_hook_archive_redirect(Node *stmt)
{
	Assert(strata_hook_archive_is_meant(stmt)); /* hook:H5 */
	switch (nodeTag(stmt))
	{
		case T_IndexStmt:
			redirect_index((IndexStmt *) stmt);
			break;
		case T_TruncateStmt:
			redirect_truncate((TruncateStmt *) stmt);
			break;
		case T_VacuumStmt:
			redirect_vacuum((VacuumStmt *) stmt);
			break;
		default:
			/* it is an ordinary view */
			castNode(CommentStmt, stmt)->objtype = OBJECT_VIEW;
			break;
	}
}
