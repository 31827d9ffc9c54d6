/*-------------------------------------------------------------------------
 *
 * hook_rollup.c
 *	  Continuous aggregates in statements: they are called materialized views
 *	  there, and are ordinary ones.
 *
 * src/hook/hook_rollup.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog.h"
#include "hook/hook_private.h"
#include "hypertable/hypertable.h"
#include "job/job.h"
#include "rollup/rollup.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* See hook_private.h. */
bool
strata_hook_is_rollup(const RangeVar *name)
{
	Oid			relid = RangeVarGetRelid(name, NoLock, true);

	return OidIsValid(relid) && get_rel_relkind(relid) == RELKIND_VIEW &&
		strata_rollup_row(relid) != NULL;
}

/*
 * See hook_private.h.  Views are locked before tables elsewhere; but whoever
 * drops chunks has the source locked when he comes to its views.
 */
void
strata_hook_rollup_lock(const RangeVar *name)
{
	Oid			view = RangeVarGetRelid(name, NoLock, true);

	if (OidIsValid(view) && strata_table_ownercheck(view, GetUserId()))
		strata_rollup_lock_view(view, AccessExclusiveLock);
}

/* Fill it, in transactions of its own where that can be. */
static void
fill_rollup(Oid view, bool is_top_level)
{
	StrataRefresh refresh = {.view = view,.lo = PG_INT64_MIN,.hi =
	PG_INT64_MAX,.newest_first = true,.buckets_per_batch = -1,.quiet = true};

	refresh.manner = IsInTransactionBlock(is_top_level) ?
		STRATA_REFRESH_IN_BLOCK : STRATA_REFRESH_COMMAND;
	strata_rollup_refresh(&refresh);
	/* the portal's snapshot went with its transaction */
	while (refresh.manner == STRATA_REFRESH_COMMAND && ActiveSnapshotSet())
		PopActiveSnapshot();
}

/* The same of a view and its tiers. */
static void
fill_rollups(List *views, bool is_top_level)
{
	MemoryContext mcxt;
	ListCell   *lc;

	/* transactions come and go */
	mcxt = MemoryContextSwitchTo(PortalContext != NULL ? PortalContext :
								 TopMemoryContext);
	views = list_copy(views);
	MemoryContextSwitchTo(mcxt);
	foreach(lc, views)
	{
		if (!ActiveSnapshotSet())
			PushActiveSnapshot(GetTransactionSnapshot());
		fill_rollup(lfirst_oid(lc), is_top_level);
	}
	list_free(views);
}

/* See hook_private.h. */
bool
strata_hook_rollup_create(CreateTableAsStmt *stmt, bool is_top_level)
{
	List	   *others = list_copy(stmt->into->options);
	List	   *ours = strata_hook_take_options(&others);
	Oid			view = InvalidOid;

	if (stmt->objtype != OBJECT_MATVIEW || !strata_rollup_is_asked_for(ours))
		return false;
	PreventCommandIfReadOnly("CREATE MATERIALIZED VIEW");
	PreventCommandIfParallelMode("CREATE MATERIALIZED VIEW");
	stmt->into->options = others;
	strata_option_remember_typed(ours);
	PG_TRY();
	{
		view = strata_rollup_create(stmt, ours);
	}
	PG_FINALLY();
	{
		strata_option_remember_typed(NIL);
	}
	PG_END_TRY();
	if (!OidIsValid(view))
		return true;
	if (strata_settings_get_text(view, "archives") != NULL)
		strata_job_add_archives(view);
	if (!stmt->into->skipData)
		fill_rollups(lcons_oid(view, strata_rollup_tier_views(view)),
					 is_top_level);
	return true;
}

/* See hook_private.h. */
void
strata_hook_rollup_check_view(const ViewStmt * stmt)
{
	if (!stmt->replace || !strata_hook_is_rollup(stmt->view))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot replace continuous aggregate \"%s\"",
					stmt->view->relname),
			 errhint("DROP MATERIALIZED VIEW and CREATE it again.")));
}

/* See hook_private.h. */
void
strata_hook_rollup_of_view(const ViewStmt * stmt, List *options)
{
	Oid			view;

	CommandCounterIncrement();
	view = RangeVarGetRelid(stmt->view, NoLock, false);
	/* what was checked in the old cluster, whose tables come along */
	if (IsBinaryUpgrade)
	{
		strata_settings_store(view, options, false);
		strata_rollup_attach_again(view);
		return;
	}
	if (!strata_rollup_is_asked_for(options))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("a view has strata options only as a continuous aggregate"),
				 errhint("CREATE MATERIALIZED VIEW ... WITH (strata.continuous) AS ...")));
	strata_option_remember_typed(options);
	PG_TRY();
	{
		strata_rollup_attach(view, options);
	}
	PG_FINALLY();
	{
		strata_option_remember_typed(NIL);
	}
	PG_END_TRY();
}

/* See hook_private.h. */
List *
strata_hook_rollups_dropped(const DropStmt *stmt, List **others)
{
	List	   *rollups = NIL;
	ListCell   *lc;

	*others = NIL;
	if (stmt->removeType != OBJECT_MATVIEW && stmt->removeType != OBJECT_VIEW)
		return NIL;
	foreach(lc, stmt->objects)
	{
		RangeVar   *name = makeRangeVarFromNameList(lfirst_node(List, lc));

		if (!strata_hook_is_rollup(name))
			*others = lappend(*others, lfirst(lc));
		else if (stmt->removeType == OBJECT_VIEW)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("\"%s\" is a continuous aggregate",
							name->relname),
					 errhint("DROP MATERIALIZED VIEW %s;",
							 quote_identifier(name->relname))));
		else
		{
			strata_hook_rollup_lock(name);
			rollups = lappend(rollups, lfirst(lc));
		}
	}
	return rollups;
}

/* See hook_private.h. */
void
strata_hook_rollup_check_refresh(const RefreshMatViewStmt * stmt)
{
	if (!strata_hook_is_rollup(stmt->relation))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("\"%s\" is a continuous aggregate",
					stmt->relation->relname),
			 errhint("CALL refresh_continuous_aggregate('%s', NULL, NULL);",
					 quote_identifier(stmt->relation->relname))));
}

/* Is the text of tiers among the options? */
static bool
sets_archives(const List *options)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		if (strcmp(lfirst_node(DefElem, lc)->defname, "archives") == 0)
			return true;
	}
	return false;
}

/* See hook_private.h. */
void
strata_hook_rollup_alter(AlterTableStmt *stmt)
{
	Oid			view = RangeVarGetRelid(stmt->relation, NoLock, false);
	List	   *cmds = NIL;
	ListCell   *lc;

	stmt->objtype = OBJECT_VIEW;
	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		if (cmd->subtype == AT_SetRelOptions)
		{
			List	   *options = (List *) cmd->def;
			List	   *ours = strata_hook_take_options(&options);

			if (ours != NIL)
				strata_rollup_alter(view, ours);
			if (sets_archives(ours))
				strata_job_add_archives(view);
			cmd->def = (Node *) options;
			if (options == NIL)
				continue;
		}
		if (cmd->subtype == AT_ResetRelOptions ||
			cmd->subtype == AT_SetRelOptions)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot change options of a view that is a continuous aggregate, but its own")));
		cmds = lappend(cmds, cmd);
	}
	stmt->cmds = cmds;
}

/* See hook_private.h. */
void
strata_hook_rollup_follow(Oid view)
{
	StrataRollupRow *row;
	Oid			owner;
	Oid			schema;

	CommandCounterIncrement();
	row = strata_rollup_row(view);
	Assert(row != NULL);		/* hook:H5 */
	owner = strata_relation_owner(view);
	schema = get_rel_namespace(view);
	if (strata_relation_owner(row->archive) != owner)
		strata_sql_run_subcommand(psprintf("ALTER TABLE %s OWNER TO %s",
										   strata_sql_name(row->archive),
										   quote_identifier(GetUserNameFromId(owner,
																			  false))));
	if (get_rel_namespace(row->archive) != schema)
		strata_sql_run_subcommand(psprintf("ALTER TABLE %s SET SCHEMA %s",
										   strata_sql_name(row->archive),
										   quote_identifier(get_namespace_name(schema))));
	strata_rollup_tiers_follow(view);
}

/* See hook_private.h. */
Oid
strata_hook_rollup_of_archive(const RangeVar *name)
{
	Oid			relid = name == NULL ? InvalidOid :
	RangeVarGetRelid(name, NoLock, true);

	return OidIsValid(relid) &&
		get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE ?
		strata_rollup_of_archive(relid) : InvalidOid;
}

/* See hook_private.h.  A dump finds it by its name. */
void
strata_hook_rollup_archive_renamed(Oid view)
{
	StrataRollupRow *row;

	if (!OidIsValid(view))
		return;
	CommandCounterIncrement();
	row = strata_rollup_row(view);
	Assert(row != NULL);		/* hook:H5 */
	LockRelationOid(view, ShareUpdateExclusiveLock);
	strata_rollup_store_options(view, NIL, row->archive);
}

/* See hook_private.h. */
void
strata_hook_rollup_check_schema(const AlterObjectSchemaStmt *stmt)
{
	Oid			view = strata_hook_rollup_of_archive(stmt->relation);
	Oid			tier = stmt->relation == NULL ? InvalidOid :
	RangeVarGetRelid(stmt->relation, NoLock, true);
	Oid			finest = OidIsValid(tier) ? strata_rollup_finest(tier) :
	InvalidOid;

	if (OidIsValid(finest) &&
		get_rel_namespace(finest) != get_namespace_oid(stmt->newschema, true))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" is a tier of a continuous aggregate",
						stmt->relation->relname),
				 errhint("ALTER MATERIALIZED VIEW %s SET SCHEMA %s;",
						 strata_sql_name(finest),
						 quote_identifier(stmt->newschema))));
	if (!OidIsValid(view) ||
		get_rel_namespace(view) == get_namespace_oid(stmt->newschema, true))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("\"%s\" is the archive of a continuous aggregate",
					stmt->relation->relname),
			 errhint("ALTER MATERIALIZED VIEW %s SET SCHEMA %s;",
					 strata_sql_name(view),
					 quote_identifier(stmt->newschema))));
}
