/*-------------------------------------------------------------------------
 *
 * hook_private.h
 *	  The steps that the dispatchers of src/hook call.
 *
 * src/hook/hook_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_HOOK_PRIVATE_H
#define STRATA_HOOK_PRIVATE_H

#include "postgres.h"

#include "base/compat.h"

#include "executor/execdesc.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

/*
 * One dispatcher per hook of PostgreSQL's; each calls who was there before,
 * too.
 */
extern void strata_planner_hooks_init(void);
extern void strata_executor_hooks_init(void);
extern void strata_object_hook_init(void);
extern void strata_utility_hook_init(void);
extern void strata_explain_hook_init(void);

/* hook_explain.c: a statement begins, which EXPLAIN may be about. */
extern void strata_explain_note_start(const QueryDesc *query_desc);

/*
 * hook_rollup.c: continuous aggregates in statements.  create: did what the
 * statement says, if it is one; check: ereport; dropped: names of DROP
 * MATERIALIZED VIEW that are continuous aggregates, and the others.
 */
extern bool strata_hook_is_rollup(const RangeVar *name);
extern bool strata_hook_rollup_create(CreateTableAsStmt *stmt,
									  bool is_top_level);
extern void strata_hook_rollup_check_view(const ViewStmt * stmt);
extern void strata_hook_rollup_of_view(const ViewStmt * stmt, List *options);
extern List *strata_hook_rollups_dropped(const DropStmt *stmt, List **others);
extern void strata_hook_rollup_check_refresh(const RefreshMatViewStmt * stmt);

/*
 * alter: takes our options out of ALTER, applies them, and has the rest be
 * about a view; follow: the archive has the view's owner and schema.
 */
extern void strata_hook_rollup_alter(AlterTableStmt *stmt);
extern void strata_hook_rollup_follow(Oid view);

/*
 * The view of an archive (InvalidOid: it is none), which has got another name;
 * and ereport where an archive would leave its view's schema.
 */
extern Oid	strata_hook_rollup_of_archive(const RangeVar *name);
extern void strata_hook_rollup_archive_renamed(Oid view);
extern void strata_hook_rollup_check_schema(const AlterObjectSchemaStmt *stmt);

/*
 * hook_archive.c.  ereport on what an archive does not survive, and lock views
 * before their archives; is the statement about a continuous aggregate's view,
 * and meant for its archive?  Then have it say so: stmt is a copy.
 */
extern void strata_hook_archive_check(Node *stmt);
extern bool strata_hook_archive_is_meant(Node *stmt);
extern void strata_hook_archive_redirect(Node *stmt);

/* After TRUNCATE, or a rewrite: older snapshots do not find the archive's rows. */
extern void strata_hook_archive_emptied(Node *stmt);

/* Lock a continuous aggregate that the user may change, behind its source. */
extern void strata_hook_rollup_lock(const RangeVar *name);

/* Has a utility statement of this session gone through our hook? */
extern bool strata_utility_hook_ran;

/*
 * Must the statement not run without our hooks?  The table in hook_utility.c
 * has who says so of which kind of statement; hook_late.c has these.
 */
extern bool strata_utility_needs_us(Node *stmt);
extern bool strata_late_create_table(Node *stmt);
extern bool strata_late_create_table_as(Node *stmt);
extern bool strata_late_alter_table(Node *stmt);
extern bool strata_late_create_index(Node *stmt);
extern bool strata_late_rename(Node *stmt);
extern bool strata_late_set_schema(Node *stmt);

/* The whole way from query to plan, for plans that have to be made again. */
extern PlannedStmt *strata_plan_query(Query *query, const char *text,
									  int cursor_options,
									  ParamListInfo params);

/*
 * hook_stale_plan.c.  keep: a copy of a query whose plan may go stale, and the
 * hypertables it reads; uses: it now reads archives, too; carry: have the
 * finished plan carry it; plan_renew: plan again if that plan misses rows that
 * the snapshot sees; snapshot_renew: a later snapshot for a statement that
 * locks rows and waited for its locks.
 */
typedef struct StrataStaleQuery
{
	Query	   *query;			/* NULL: its plan never goes stale */
	List	   *hypertables;	/* that it reads */
	uint64		moment;			/* when these were looked up */
	List	   *uses;			/* of rollups' archives */
} StrataStaleQuery;

extern void strata_stale_plan_keep(Query *query, StrataStaleQuery *stale);
extern void strata_stale_plan_uses(Query *query, List *uses,
								   StrataStaleQuery *stale);
extern void strata_stale_plan_carry(PlannedStmt *stmt, int cursor_options,
									const StrataStaleQuery *stale);
extern void strata_stale_snapshot_renew(QueryDesc *query_desc);
extern void strata_stale_plan_renew(QueryDesc *query_desc);

/*
 * Are these permissions compatible with what the extension keeps for itself?
 * False, or an error.
 */
extern bool strata_permissions_check(STRATA_CHECK_PERMS_ARGS);

/*
 * Have wire/ write the result where it can; returns the client's own receiver,
 * to be given back.
 */
extern DestReceiver *strata_wire_replace_receiver(QueryDesc *query_desc);
extern void strata_wire_give_back(QueryDesc *query_desc, DestReceiver *client);

/*
 * Torture mode: strata tables that a statement wrote to; then compress them.
 */
extern List *strata_torture_list(QueryDesc *query_desc);
extern void strata_torture_tables(List *written);

/*
 * Unless the statement names owners, or the user is a superuser, name all
 * owners of what it is about but companions.  Changes stmt; allocates in the
 * current context.
 */
extern void strata_move_all_without_companions(AlterTableMoveAllStmt *stmt);

/* Torture mode: compress relid if it is a strata table that can be. */
extern void strata_torture_relation(Oid relid);

/* COPY and CREATE TABLE AS, which end no executor of ours; NULL: no table. */
extern void strata_torture_table(const RangeVar *name);

/*
 * hook_tablespace.c.  Must a new table's statement be changed, since tables of
 * its tablespace have an access method?  set: change it; stmt is a copy.
 * label_provider: SECURITY LABEL FOR such a provider is going to run.
 */
typedef struct StrataNewTable
{
	char	   *method;			/* NULL: what PostgreSQL would take */
	char	   *tablespace;		/* likewise */
} StrataNewTable;

extern bool strata_hook_new_table(Node *stmt, StrataNewTable *choice);
extern void strata_hook_new_table_set(Node *stmt,
									  const StrataNewTable *choice);
extern void strata_hook_label_provider(const char *provider);

/*
 * hook_option.c.  Split our options off a list: returned ones have names
 * without prefix, and in defnamespace what was typed, or NULL where that is
 * strata.<name>. Does any element name one of them?
 */
extern List *strata_hook_take_options(List **options);
extern bool strata_hook_has_options(List *options);

/*
 * hook_explain.c: the CREATE TABLE AS with options of ours that EXPLAIN is
 * asked to run, or NULL.
 */
extern CreateTableAsStmt *strata_hook_explained_create(Node *stmt);

/* Check and store options on a table; on one that has just been made. */
extern void strata_hook_apply_options(Oid relid, List *set, List *reset);
extern void strata_hook_apply_new_options(Oid relid, List *options);

/*
 * SET of a setting of TimescaleDB's: check its value, or say that it means
 * nothing.
 */
extern void strata_hook_check_setting(VariableSetStmt *stmt);

/*
 * hook_column.c.  Of object access: a column is about to be dropped, or has
 * been altered in the catalog, which the command does not see yet.  Options
 * follow.
 */
extern void strata_hook_column_dropped(Oid relid, AttrNumber attno);
extern void strata_hook_column_altered(Oid relid, AttrNumber attno);

/* Columns that a statement drops, or gives another type. */
typedef struct StrataChangedColumns
{
	MemoryContext mcxt;
	List	   *columns;
	struct StrataChangedColumns *outer; /* of the statement around it */
} StrataChangedColumns;

/*
 * watch: those changed from now on are collected, until unwatch; leave:
 * companions do without those dropped, and the others leave options that do
 * not suit them.  forget_options: those of relid that have gone
 * so far leave its options, which were out of the row.
 */
extern void strata_hook_columns_watch(StrataChangedColumns *columns);
extern void strata_hook_columns_unwatch(StrataChangedColumns *columns);
extern void strata_hook_columns_leave(const StrataChangedColumns *columns);
extern void strata_hook_columns_forget_options(Oid relid);

/*
 * hook_object.c: ALTER TABLE is going to run, and may have rows of a tracked
 * hypertable change unheard.
 */
extern void strata_hook_track_alter(const AlterTableStmt *stmt);

/* It has run: a chunk that is detached is not divided any more. */
extern void strata_hook_follow_detach(const AlterTableStmt *stmt);

/* hook_identity.c: it has run, and may have set a replica identity. */
extern void strata_hook_follow_identity(const AlterTableStmt *stmt);

/*
 * hook_index.c: indexes of a table, and of its partitions, are new, so batches
 * are to be found by them, too.  all: also those that were found before.
 */
extern void strata_hook_index_batches(Oid relid, LOCKMODE lockmode, bool all);

/* Does the command make indexes, or say whether they lead to batches? */
extern void strata_hook_reindex_all(const ReindexStmt * reindex);
extern bool strata_hook_alters_batch_indexes(const AlterTableCmd *cmd);

/*
 * ereport what to do where PostgreSQL would only refuse: a hypertable's index,
 * dropped concurrently.
 */
extern void strata_hook_check_drop_index(const DropStmt *stmt);

/* Say where an index of an extension's kind was made, which leads to none. */
extern void strata_hook_tell_of_index(Oid relid, const IndexStmt *index);

/*
 * hook_database.c.  End what we do in the database that the statement wants
 * for itself; which one, InvalidOid: none, or the user may not.
 */
extern Oid	strata_hook_database_empty(const Node *stmt);

/*
 * hook_role.c.  OIDs of the roles named that are there, and the names of
 * roles; then what jobs of theirs mean to a statement that has run: DROP ROLE
 * fails, REASSIGN OWNED gives them to the heir, DROP OWNED deletes them.
 */
extern List *strata_hook_roles(List *specs);
extern List *strata_hook_role_names(List *roles);
extern void strata_hook_roles_dropped(List *roles, List *names);
extern void strata_hook_roles_reassigned(List *roles, Oid heir);
extern void strata_hook_roles_emptied(List *roles);

#endif							/* STRATA_HOOK_PRIVATE_H */
