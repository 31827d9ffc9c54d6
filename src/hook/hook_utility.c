/*-------------------------------------------------------------------------
 *
 * hook_utility.c
 *	  strata.* options in CREATE TABLE, ALTER TABLE and CREATE INDEX, SET of
 *	  settings that were TimescaleDB's.
 *
 * PostgreSQL would refuse the options, so they are taken out of (a copy of)
 * the statement and stored when the rest has been done.  Stored ones leave the
 * catalog row while another option is set: PostgreSQL checks them all then.
 *
 * Over 600 lines: one statement after the other, in one dispatch.
 *
 * src/hook/hook_utility.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"
#include "am/am.h"
#include "pg/pg.h"
#include "base/base.h"
#include "compress/compress.h"
#include "hypertable/hypertable.h"
#include "index/index.h"
#include "job/job.h"
#include "load/load.h"
#include "rollup/rollup.h"
#include "store/store_companion.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

static ProcessUtility_hook_type previous_hook = NULL;

/* Everything a utility hook is called with. */
typedef struct UtilityCall
{
	PlannedStmt *pstmt;
	const char *query;
	bool		read_only_tree;
	ProcessUtilityContext context;
	ParamListInfo params;
	QueryEnvironment *env;
	DestReceiver *dest;
	QueryCompletion *qc;
} UtilityCall;

static void
run_statement(UtilityCall *call)
{
	if (previous_hook)
		previous_hook(call->pstmt, call->query, call->read_only_tree,
					  call->context, call->params, call->env, call->dest,
					  call->qc);
	else
		standard_ProcessUtility(call->pstmt, call->query, call->read_only_tree,
								call->context, call->params, call->env,
								call->dest, call->qc);
}

/* Run a statement that makes a unique key of a table. */
static void
run_unique(UtilityCall *call, RangeVar *name)
{
	Oid			relid = RangeVarGetRelid(name, NoLock, true);

	if (!OidIsValid(relid) || !strata_unique_key_allow(relid))
	{
		run_statement(call);
		return;
	}
	PG_TRY();
	{
		run_statement(call);
	}
	PG_FINALLY();
	{
		strata_partition_key_restore();
	}
	PG_END_TRY();
}

/*
 * CREATE TABLE and CREATE TABLE AS: run without our options, then store them.
 */
static void
create_table(UtilityCall *call, RangeVar *name, List **options)
{
	List	   *ours = strata_hook_take_options(options);
	Oid			before = RangeVarGetRelid(name, NoLock, true);
	Oid			relid;

	run_statement(call);
	if (ours == NIL)
		return;
	CommandCounterIncrement();
	relid = RangeVarGetRelid(name, NoLock, true);
	/* IF NOT EXISTS on a table that was there changes nothing */
	if (!OidIsValid(relid) || relid == before)
		return;

	/*
	 * pg_upgrade brings what was checked in the old cluster, and companions,
	 * which are heap tables
	 */
	if (IsBinaryUpgrade)
	{
		strata_settings_store(relid, ours, false);
		return;
	}
	strata_hook_apply_new_options(relid, ours);
}

/* What an ALTER TABLE means for our options. */
typedef struct AlterPlan
{
	List	   *set;
	List	   *reset;
	bool		other_options;	/* sets or resets options that are not ours */
	bool		set_access_method;
	bool		alters_chunks;
	List	   *storage;		/* commands for a hypertable's chunks */
	List	   *persistence;	/* SET LOGGED and UNLOGGED of a hypertable */
	bool		drops_columns;
} AlterPlan;

/* Read the commands, taking our options out; empty commands vanish. */
static void
plan_alter(AlterTableStmt *stmt, AlterPlan *plan)
{
	Oid			relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	bool		hypertable = OidIsValid(relid) && strata_hypertable_is(relid);
	List	   *cmds = NIL;
	ListCell   *lc;

	memset(plan, 0, sizeof(*plan));
	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		if (cmd->subtype == AT_SetRelOptions ||
			cmd->subtype == AT_ResetRelOptions)
		{
			List	   *options = (List *) cmd->def;
			List	   *ours = strata_hook_take_options(&options);

			if (cmd->subtype == AT_SetRelOptions)
				plan->set = list_concat(plan->set, ours);
			else
				plan->reset = list_concat(plan->reset, ours);
			cmd->def = (Node *) options;
			if (options == NIL && ours != NIL)
				continue;
			if (hypertable && options != NIL)
			{
				plan->storage = lappend(plan->storage, cmd);
				continue;
			}
			plan->other_options = true;
		}
		else if (hypertable && stmt->relation->inh &&
				 !STRATA_PARTITIONED_PERSISTENCE_ALTERS &&
				 (cmd->subtype == AT_SetLogged ||
				  cmd->subtype == AT_SetUnLogged))
		{
			plan->persistence = lappend(plan->persistence, cmd);
			continue;
		}
		else if (cmd->subtype == AT_SetAccessMethod)
			plan->set_access_method = true;
		else if (cmd->subtype == AT_DropColumn)
			plan->drops_columns = true;
		cmds = lappend(cmds, cmd);
	}
	stmt->cmds = cmds;
	plan->alters_chunks = strata_hypertable_alters_chunks(stmt);
}

/* A table that left the access method keeps none of our options. */
static void
forget_options_of_others(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		keeps = strata_relation_is_strata(rel);

	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
	{
		keeps = true;
		strata_hypertable_check_access_method(rel);
	}
	table_close(rel, NoLock);
	if (!keeps)
		(void) strata_settings_remove_all(relid);
}

/* Does ALTER TABLE add a unique key? */
static bool
adds_unique(const AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		if (cmd->subtype == AT_AddConstraint &&
			(castNode(Constraint, cmd->def)->contype == CONSTR_PRIMARY ||
			 castNode(Constraint, cmd->def)->contype == CONSTR_UNIQUE))
			return true;
	}
	return false;
}

static void
run_alter(UtilityCall *call, AlterTableStmt *stmt)
{
	if (adds_unique(stmt))
		run_unique(call, stmt->relation);
	else
		run_statement(call);
}

/*
 * ALTER TABLE: our options are taken out, the rest runs, then ours are stored
 * and chunks follow.
 */
static void
alter_table(UtilityCall *call, AlterTableStmt *stmt)
{
	AlterPlan	plan;
	Oid			relid;
	List	   *stored = NIL;

	Assert(!call->read_only_tree);	/* hook:H2: a copy */
	plan_alter(stmt, &plan);
	if (plan.set == NIL && plan.reset == NIL && !plan.other_options &&
		!plan.set_access_method && !plan.drops_columns &&
		plan.storage == NIL && plan.persistence == NIL && !plan.alters_chunks)
	{
		run_alter(call, stmt);
		return;
	}
	/* permission and lock as ALTER TABLE itself takes them */
	relid = AlterTableLookupRelation(stmt,
									 plan.set_access_method ||
									 plan.drops_columns ||
									 plan.persistence != NIL ?
									 AccessExclusiveLock :
									 plan.alters_chunks ?
									 AlterTableGetLockLevel(stmt->cmds) :
									 ShareUpdateExclusiveLock);
	if (OidIsValid(relid) && plan.other_options)
		stored = strata_settings_remove_all(relid);
	if (stmt->cmds != NIL)
		run_alter(call, stmt);
	if (!OidIsValid(relid))
	{
		if (stmt->cmds == NIL)
			ereport(NOTICE, (errmsg("relation \"%s\" does not exist, skipping",
									stmt->relation->relname)));
		return;
	}
	CommandCounterIncrement();
	if (stored != NIL)
	{
		strata_settings_store(relid, stored, false);
		strata_hook_columns_forget_options(relid);
	}
	if (plan.set != NIL || plan.reset != NIL)
		strata_hook_apply_options(relid, plan.set, plan.reset);
	if (plan.storage != NIL)
		strata_hypertable_set_storage(relid, stmt, plan.storage);
	if (plan.set_access_method)
		forget_options_of_others(relid);
	if (plan.alters_chunks)
		strata_hypertable_alter_chunks(relid, stmt);
	if (plan.persistence != NIL)
	{
		/* PostgreSQL has refused to hear of it, the chunks do it */
		stmt->cmds = plan.persistence;
		strata_hypertable_alter_chunks(relid, stmt);
	}
}

/* ALTER INDEX, which takes chunks' indexes along. */
static void
alter_index(UtilityCall *call, AlterTableStmt *stmt)
{
	Oid			index = RangeVarGetRelid(stmt->relation, NoLock, true);

	run_statement(call);
	if (!OidIsValid(index))
		return;
	CommandCounterIncrement();
	strata_hypertable_alter_indexes(index, stmt);
}

/* ALTER TABLE SET SCHEMA takes chunks along. */
static void
set_schema(UtilityCall *call, AlterObjectSchemaStmt *stmt)
{
	Oid			relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	char	   *old;

	old = OidIsValid(relid) ? get_namespace_name(get_rel_namespace(relid)) :
		NULL;
	run_statement(call);
	if (old == NULL)
		return;
	CommandCounterIncrement();
	strata_hypertable_move_chunks(relid, old, stmt->newschema);
}

/* pg_upgrade has brought a table of the extension: a companion? */
static void
upgraded_member(AlterExtensionContentsStmt *stmt)
{
	Oid			relid;
	unsigned int space;
	unsigned int number;

	if (stmt->objtype != OBJECT_TABLE ||
		strcmp(stmt->extname, STRATA_EXTENSION) != 0)
		return;
	relid = RangeVarGetRelid(makeRangeVarFromNameList(castNode(List,
															   stmt->object)),
							 NoLock, false);
	if (get_rel_namespace(relid) !=
		get_namespace_oid(STRATA_INTERNAL_SCHEMA, true))
		return;
	if (relid == strata_space_queue_relation() ||
		sscanf(get_rel_name(relid), "batch_index_%u", &number) == 1)
	{
		CommandCounterIncrement();
		strata_companion_silence(relid);
		return;
	}
	if (sscanf(get_rel_name(relid), "batch_%u_%u", &space, &number) != 2)
		return;
	CommandCounterIncrement();
	strata_companion_silence(relid);
	/* the dump has it behind the table that it depended on */
	strata_companion_bind(relid, strata_relid_by_storage(space, number));
}

/* VACUUM FULL of everything rewrites companions. */
static bool
vacuums_all_in_full(VacuumStmt *stmt)
{
	bool		full = false;
	ListCell   *lc;

	if (!stmt->is_vacuumcmd)
		return false;
	foreach(lc, stmt->options)
	{
		DefElem    *option = lfirst_node(DefElem, lc);

		if (strcmp(option->defname, "full") == 0)
			full = defGetBoolean(option);
	}
	return full && OidIsValid(get_namespace_oid(STRATA_INTERNAL_SCHEMA, true));
}

/* COPY FROM into a hypertable is ours to run. */
static bool
copy_from(UtilityCall *call, CopyStmt *stmt)
{
	uint64		processed;

	if (!strata_copy_from(stmt, call->query, &processed))
		return false;
	if (call->qc != NULL)
		SetQueryCompletion(call->qc, CMDTAG_COPY, processed);
	return true;
}

/*
 * A materialized view that had batches has got rows instead, by a REFRESH of
 * the whole: compress it again.
 */
static void
compress_refreshed(const RefreshMatViewStmt * stmt)
{
	Oid			relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	Relation	rel;

	if (stmt->concurrent || stmt->skipData || !OidIsValid(relid))
		return;
	CommandCounterIncrement();
	/* REFRESH has it locked */
	rel = table_open(relid, AccessExclusiveLock);
	if (strata_relation_is_strata(rel) && strata_settings_compressed(rel) &&
		!strata_table_is_too_small(rel) &&
		strata_store_can_compress(rel, NULL))
		(void) strata_table_compress(rel, false, false);
	table_close(rel, NoLock);
}

/* Will the statement be changed?  Then work on a copy: it may be cached. */
static Node *
writable_statement(UtilityCall *call)
{
	call->pstmt = copyObject(call->pstmt);
	call->read_only_tree = false;
	return call->pstmt->utilityStmt;
}

/*
 * CREATE INDEX: concurrently, or with strata.transaction_per_chunk, a
 * hypertable is indexed chunk by chunk.
 */
static void
index_table(UtilityCall *call, IndexStmt *stmt)
{
	bool		per_chunk = false;
	bool		hypertable;
	Oid			relid;
	ListCell   *lc;

	if (strata_hook_has_options(stmt->options))
	{
		stmt = (IndexStmt *) writable_statement(call);
		foreach(lc, strata_hook_take_options(&stmt->options))
		{
			DefElem    *def = lfirst_node(DefElem, lc);

			if (strcmp(def->defname, "transaction_per_chunk") != 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("unrecognized parameter \"strata.%s\"",
								def->defname),
						 errhint("The option of CREATE INDEX is strata.transaction_per_chunk.")));
			per_chunk = defGetBoolean(def);
		}
	}
	relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	hypertable = OidIsValid(relid) && strata_hypertable_is(relid);
	if (per_chunk && !hypertable && OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("strata.transaction_per_chunk is for hypertables"),
				 errdetail("Table \"%s\" has no chunks.",
						   stmt->relation->relname)));
	if (hypertable && stmt->relation->inh && (per_chunk || stmt->concurrent))
	{
		stmt = (IndexStmt *) writable_statement(call);
		PreventCommandIfReadOnly("CREATE INDEX");
		PreventCommandIfParallelMode("CREATE INDEX");
		PreventInTransactionBlock(call->context == PROCESS_UTILITY_TOPLEVEL,
								  stmt->concurrent ?
								  "CREATE INDEX CONCURRENTLY" :
								  "CREATE INDEX with strata.transaction_per_chunk");
		strata_hypertable_create_index(stmt, call->query);
	}
	else if (stmt->unique || stmt->primary)
		run_unique(call, stmt->relation);
	else
		run_statement(call);
}

/*-------------------------------------------------------------------------
 * One function for each kind of statement: runs it, and does what is ours
 * before, in its place or after
 *-------------------------------------------------------------------------
 */

static void
run_create_table(UtilityCall *call, Node *stmt)
{
	CreateStmt *create = (CreateStmt *) stmt;

	if (!strata_hook_has_options(create->options))
	{
		run_statement(call);
		return;
	}
	create = (CreateStmt *) writable_statement(call);
	create_table(call, create->relation, &create->options);
}

static void
run_create_table_as(UtilityCall *call, Node *stmt)
{
	CreateTableAsStmt *create = (CreateTableAsStmt *) stmt;

	if (strata_hook_has_options(create->into->options))
	{
		create = (CreateTableAsStmt *) writable_statement(call);
		if (strata_hook_rollup_create(create,
									  call->context ==
									  PROCESS_UTILITY_TOPLEVEL))
			return;
		create_table(call, create->into->rel, &create->into->options);
	}
	else
		run_statement(call);
	strata_torture_table(create->into->rel);
}

/* EXPLAIN ANALYZE makes a table, too. */
static void
run_explain(UtilityCall *call, Node *stmt)
{
	CreateTableAsStmt *create = strata_hook_explained_create(stmt);

	if (create == NULL)
	{
		run_statement(call);
		return;
	}
	create = strata_hook_explained_create(writable_statement(call));
	Assert(!call->read_only_tree);	/* hook:H2: a copy */
	create_table(call, create->into->rel, &create->into->options);
}

/* CREATE VIEW; a dump makes continuous aggregates by it. */
static void
run_create_view(UtilityCall *call, Node *stmt)
{
	ViewStmt   *view = (ViewStmt *) stmt;
	List	   *ours = NIL;

	if (strata_hook_has_options(view->options))
	{
		view = (ViewStmt *) writable_statement(call);
		ours = strata_hook_take_options(&view->options);
	}
	strata_hook_rollup_check_view(view);
	run_statement(call);
	if (ours != NIL)
		strata_hook_rollup_of_view(view, ours);
}

/* ALTER TABLE, and then batches are found by the indexes it made. */
static void
alter_table_and_index(UtilityCall *call, AlterTableStmt *alter)
{
	RangeVar   *concerned = NULL;
	Oid			relid;
	ListCell   *lc;

	/* before it is taken apart */
	foreach(lc, alter->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		/* ATTACH PARTITION stands alone, and is about the other table */
		if (strata_hook_alters_batch_indexes(cmd))
			concerned = cmd->subtype == AT_AttachPartition ?
				castNode(PartitionCmd, cmd->def)->name : alter->relation;
	}
	alter_table(call, alter);
	if (concerned == NULL || alter->objtype != OBJECT_TABLE)
		return;
	CommandCounterIncrement();
	relid = RangeVarGetRelid(concerned, NoLock, true);
	if (OidIsValid(relid))
		strata_hook_index_batches(relid, ShareUpdateExclusiveLock, false);
}

/* ALTER TABLE, of whatever kind of relation. */
static void
alter_relation(UtilityCall *call, Node *stmt)
{
	AlterTableStmt *alter = (AlterTableStmt *) stmt;

	strata_hook_track_alter(alter);
	if (strata_hook_is_rollup(alter->relation))
	{
		Oid			view = RangeVarGetRelid(alter->relation, NoLock, false);

		alter = (AlterTableStmt *) writable_statement(call);
		strata_hook_rollup_alter(alter);
		if (alter->cmds != NIL)
			run_statement(call);
		strata_hook_rollup_follow(view);
		return;
	}
	switch (((AlterTableStmt *) stmt)->objtype)
	{
		case OBJECT_TABLE:
		case OBJECT_MATVIEW:
			alter_table_and_index(call, (AlterTableStmt *)
								  writable_statement(call));
			strata_hook_follow_detach((AlterTableStmt *) stmt);
			strata_hook_follow_identity((AlterTableStmt *) stmt);
			break;
		case OBJECT_INDEX:
			alter_index(call, (AlterTableStmt *) stmt);
			break;
		default:
			run_statement(call);
	}
}

/* The same; DROP COLUMN ... CASCADE may drop continuous aggregates. */
static void
run_alter_table(UtilityCall *call, Node *stmt)
{
	DropBehavior behavior = DROP_RESTRICT;
	ListCell   *lc;

	Assert(strata_utility_hook_ran);	/* hook:H5 */
	foreach(lc, ((AlterTableStmt *) stmt)->cmds)
	{
		if (lfirst_node(AlterTableCmd, lc)->behavior == DROP_CASCADE)
			behavior = DROP_CASCADE;
	}
	alter_relation(call, stmt);
	strata_rollup_drop_archives(behavior);
}

static void
run_create_index(UtilityCall *call, Node *stmt)
{
	IndexStmt  *index = (IndexStmt *) stmt;
	Oid			relid;

	index_table(call, index);
	relid = RangeVarGetRelid(index->relation, NoLock, true);
	if (!OidIsValid(relid))
		return;
	strata_hook_index_batches(relid, index->concurrent ?
							  ShareUpdateExclusiveLock : ShareLock, false);
	strata_hook_tell_of_index(relid, index);
}

/* REINDEX; SYSTEM has no index that leads to batches. */
static void
run_reindex(UtilityCall *call, Node *stmt)
{
	ReindexStmt *reindex = (ReindexStmt *) stmt;
	Oid			relid = InvalidOid;

	run_statement(call);
	if (reindex->kind == REINDEX_OBJECT_SCHEMA ||
		reindex->kind == REINDEX_OBJECT_DATABASE)
		strata_hook_reindex_all(reindex);
	if (reindex->relation != NULL &&
		(reindex->kind == REINDEX_OBJECT_INDEX ||
		 reindex->kind == REINDEX_OBJECT_TABLE))
		relid = RangeVarGetRelid(reindex->relation, NoLock, true);
	if (OidIsValid(relid) && reindex->kind == REINDEX_OBJECT_INDEX)
		relid = IndexGetRelation(relid, true);
	if (OidIsValid(relid))
		strata_hook_index_batches(relid, ShareUpdateExclusiveLock, true);
}

/* DROP; continuous aggregates are called materialized views. */
static void
run_drop(UtilityCall *call, Node *stmt)
{
	DropStmt   *drop = (DropStmt *) stmt;
	List	   *rollups;
	List	   *others;

	strata_hook_check_drop_index(drop);
	rollups = strata_hook_rollups_dropped(drop, &others);
	if (rollups == NIL)
		run_statement(call);
	else
	{
		drop = (DropStmt *) writable_statement(call);
		drop->objects = others;
		if (others != NIL)
			run_statement(call);
		drop->removeType = OBJECT_VIEW;
		drop->objects = rollups;
		run_statement(call);
	}
	strata_rollup_drop_archives(drop->behavior);
}

/* DROP OWNED */
static void
run_drop_owned(UtilityCall *call, Node *stmt)
{
	List	   *roles = strata_hook_roles(((DropOwnedStmt *) stmt)->roles);
	ListCell   *lc;

	/*
	 * copies of chunks that are being divided are members of the extension,
	 * which PostgreSQL would refuse to drop for themselves
	 */
	foreach(lc, roles)
	{
		if (has_privs_of_role(GetUserId(), lfirst_oid(lc)))
			strata_divide_drop_owned(lfirst_oid(lc));
	}
	run_statement(call);
	strata_rollup_drop_archives(((DropOwnedStmt *) stmt)->behavior);
	strata_hook_roles_emptied(roles);
}

static void
run_reassign_owned(UtilityCall *call, Node *stmt)
{
	ReassignOwnedStmt *reassign = (ReassignOwnedStmt *) stmt;

	run_statement(call);
	strata_hook_roles_reassigned(strata_hook_roles(reassign->roles),
								 get_rolespec_oid(reassign->newrole, false));
}

static void
run_drop_role(UtilityCall *call, Node *stmt)
{
	List	   *roles = strata_hook_roles(((DropRoleStmt *) stmt)->roles);
	List	   *names = strata_hook_role_names(roles);

	run_statement(call);
	strata_hook_roles_dropped(roles, names);
}

/* Jobs must not keep a database from being dropped, renamed, or copied. */
static void
run_database(UtilityCall *call, Node *stmt)
{
	Oid			database = strata_hook_database_empty(stmt);

	run_statement(call);
	strata_job_resume_database(database);
}

/* ALTER ... RENAME of anything, columns too. */
static void
run_rename(UtilityCall *call, Node *stmt)
{
	RenameStmt *rename = (RenameStmt *) stmt;
	Oid			view;

	if (rename->renameType == OBJECT_DATABASE)
	{
		run_database(call, stmt);
		return;
	}
	if (rename->relation != NULL && strata_hook_is_rollup(rename->relation))
	{
		rename = (RenameStmt *) writable_statement(call);
		if (rename->renameType == OBJECT_MATVIEW)
			rename->renameType = OBJECT_VIEW;
		if (rename->relationType == OBJECT_MATVIEW)
			rename->relationType = OBJECT_VIEW;
		view = RangeVarGetRelid(rename->relation, NoLock, false);
		run_statement(call);
		CommandCounterIncrement();
		strata_rollup_tiers_follow(view);
		return;
	}
	if (rename->renameType == OBJECT_COLUMN &&
		(rename->relationType == OBJECT_TABLE ||
		 rename->relationType == OBJECT_MATVIEW))
		run_statement(call);
	else
	{
		view = strata_hook_rollup_of_archive(rename->relation);
		run_statement(call);
		strata_hook_rollup_archive_renamed(view);
	}
}

/* ALTER ... SET SCHEMA; what belongs to it goes along. */
static void
run_set_schema(UtilityCall *call, Node *stmt)
{
	AlterObjectSchemaStmt *set = (AlterObjectSchemaStmt *) stmt;

	if (set->relation != NULL && strata_hook_is_rollup(set->relation))
	{
		Oid			view = RangeVarGetRelid(set->relation, NoLock, false);

		strata_hook_rollup_check_schema(set);
		set = (AlterObjectSchemaStmt *) writable_statement(call);
		if (set->objectType == OBJECT_MATVIEW)
			set->objectType = OBJECT_VIEW;
		run_statement(call);
		strata_hook_rollup_follow(view);
		return;
	}
	strata_hook_rollup_check_schema(set);
	if (set->objectType == OBJECT_TABLE)
		set_schema(call, (AlterObjectSchemaStmt *) stmt);
	else
		run_statement(call);
}

static void
run_move_all(UtilityCall *call, Node *stmt)
{
	strata_move_all_without_companions((AlterTableMoveAllStmt *)
									   writable_statement(call));
	run_statement(call);
}

/* SET, for the session, a database or a role. */
static void
run_set(UtilityCall *call, Node *stmt)
{
	strata_hook_check_setting(IsA(stmt, AlterDatabaseSetStmt) ?
							  ((AlterDatabaseSetStmt *) stmt)->setstmt :
							  IsA(stmt, AlterRoleSetStmt) ?
							  ((AlterRoleSetStmt *) stmt)->setstmt :
							  (VariableSetStmt *) stmt);
	run_statement(call);
}

static void
run_extension_contents(UtilityCall *call, Node *stmt)
{
	run_statement(call);
	if (IsBinaryUpgrade)
		upgraded_member((AlterExtensionContentsStmt *) stmt);
}

static void
run_refresh(UtilityCall *call, Node *stmt)
{
	strata_hook_rollup_check_refresh((RefreshMatViewStmt *) stmt);
	run_statement(call);
	compress_refreshed((RefreshMatViewStmt *) stmt);
}

static void
run_security_label(UtilityCall *call, Node *stmt)
{
	strata_hook_label_provider(((SecLabelStmt *) stmt)->provider);
	run_statement(call);
}

/* For strata_analyze_run(). */
static void
run_statement_of(void *call)
{
	run_statement(call);
}

static void
run_vacuum(UtilityCall *call, Node *stmt)
{
	strata_analyze_run(run_statement_of, call);
	if (vacuums_all_in_full((VacuumStmt *) stmt))
		strata_companions_silence();
}

static void
run_copy(UtilityCall *call, Node *stmt)
{
	if (copy_from(call, (CopyStmt *) stmt))
		return;
	run_statement(call);
	if (((CopyStmt *) stmt)->is_from)
		strata_torture_table(((CopyStmt *) stmt)->relation);
}

/*
 * The statements we have a part in, and of those that must not run without us,
 * who says so (hook_late.c).  The tags of the latter are those of the event
 * trigger strata_ddl_start.
 */
static const struct
{
	NodeTag		tag;
	void		(*run) (UtilityCall *call, Node *stmt);
	bool		(*needs_us) (Node *stmt);
}			statements[] = {
	{T_CreateStmt, run_create_table, strata_late_create_table},
	{T_CreateTableAsStmt, run_create_table_as, strata_late_create_table_as},
	{T_ExplainStmt, run_explain, NULL},
	{T_ViewStmt, run_create_view, NULL},
	{T_AlterTableStmt, run_alter_table, strata_late_alter_table},
	{T_IndexStmt, run_create_index, strata_late_create_index},
	{T_ReindexStmt, run_reindex, NULL},
	{T_RenameStmt, run_rename, strata_late_rename},
	{T_AlterObjectSchemaStmt, run_set_schema, strata_late_set_schema},
	{T_DropStmt, run_drop, NULL},
	{T_DropOwnedStmt, run_drop_owned, NULL},
	{T_ReassignOwnedStmt, run_reassign_owned, NULL},
	{T_DropRoleStmt, run_drop_role, NULL},
	{T_AlterTableMoveAllStmt, run_move_all, NULL},
	{T_VariableSetStmt, run_set, NULL},
	{T_AlterDatabaseSetStmt, run_set, NULL},
	{T_AlterRoleSetStmt, run_set, NULL},
	{T_DropdbStmt, run_database, NULL},
	{T_CreatedbStmt, run_database, NULL},
	{T_AlterDatabaseStmt, run_database, NULL},
	{T_AlterExtensionContentsStmt, run_extension_contents, NULL},
	{T_RefreshMatViewStmt, run_refresh, NULL},
	{T_VacuumStmt, run_vacuum, NULL},
	{T_CopyStmt, run_copy, NULL},
	{T_SecLabelStmt, run_security_label, NULL}
};

/* One statement: changed where it must be, then run by who has a part in it. */
static void
process(UtilityCall *call)
{
	Node	   *stmt = call->pstmt->utilityStmt;
	StrataNewTable choice;

	strata_hook_archive_check(stmt);
	if (strata_hook_new_table(stmt, &choice))
	{
		stmt = writable_statement(call);
		strata_hook_new_table_set(stmt, &choice);
	}
	if (strata_hook_archive_is_meant(stmt))
	{
		stmt = writable_statement(call);
		strata_hook_archive_redirect(stmt);
	}
	for (int i = 0; i < (int) lengthof(statements); i++)
		if (statements[i].tag == nodeTag(stmt))
		{
			statements[i].run(call, stmt);
			return;
		}
	run_statement(call);
}

/* See hook_private.h. */
bool
strata_utility_needs_us(Node *stmt)
{
	for (int i = 0; i < (int) lengthof(statements); i++)
		if (statements[i].tag == nodeTag(stmt))
			return statements[i].needs_us != NULL &&
				statements[i].needs_us(stmt);
	return false;
}

/* An index or a constraint of a hypertable may be new. */
static void
check_hypertable(Node *stmt)
{
	RangeVar   *name;
	Oid			relid;

	name = IsA(stmt, IndexStmt) ? ((IndexStmt *) stmt)->relation :
		IsA(stmt, AlterTableStmt) ? ((AlterTableStmt *) stmt)->relation : NULL;
	relid = name != NULL && IsTransactionState() ?
		RangeVarGetRelid(name, NoLock, true) : InvalidOid;
	if (!OidIsValid(relid) ||
		get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
		return;
	CommandCounterIncrement();
	strata_hypertable_refuse_whole_row(relid);
}

/* The hook: what is done before and after any statement. */
static void
process_utility(PlannedStmt *pstmt, const char *query, bool read_only_tree,
				ProcessUtilityContext context, ParamListInfo params,
				QueryEnvironment *env, DestReceiver *dest, QueryCompletion *qc)
{
	UtilityCall call = {pstmt, query, read_only_tree, context,
	params, env, dest, qc};
	StrataChangedColumns columns;

	Assert(previous_hook != process_utility);	/* hook:H1 */
	strata_utility_hook_ran = true;
	strata_partition_key_restore();
	strata_hook_columns_watch(&columns);
	PG_TRY();
	{
		process(&call);
	}
	PG_FINALLY();
	{
		strata_hook_columns_unwatch(&columns);
	}
	PG_END_TRY();
	strata_hook_columns_leave(&columns);
	strata_hook_archive_emptied(call.pstmt->utilityStmt);
	check_hypertable(call.pstmt->utilityStmt);
}

void
strata_utility_hook_init(void)
{
	previous_hook = ProcessUtility_hook;
	ProcessUtility_hook = process_utility;
}
