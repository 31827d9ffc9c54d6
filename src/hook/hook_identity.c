/*-------------------------------------------------------------------------
 *
 * hook_identity.c
 *	  A replica identity that comes after pages of strata_dedup were made.
 *
 * Its columns must stand in their rows, since heapam logs them out of the page
 * for logical decoding (dedup:DD3).  Where symbols stand for them, the table
 * is written anew by the statement that sets the identity, which has it locked
 * anyway; without wal_level = logical nobody needs them yet, and it is said
 * what to do before somebody does.
 *
 * src/hook/hook_identity.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"

#include "base/base.h"
#include "dedup/dedup.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/cluster.h"
#include "utils/lsyscache.h"

/*
 * Is it one of ours, with rows whose identity cannot be logged?  Then nobody
 * else uses it until the end of the transaction.
 */
static bool
identity_is_lost(Oid relid)
{
	Relation	rel;
	bool		ours;
	bool		lost;

	if (get_rel_relkind(relid) != RELKIND_RELATION)
		return false;
	rel = table_open(relid, AccessShareLock);
	ours = strata_is_dedup(rel);
	table_close(rel, AccessShareLock);
	if (!ours)
		return false;
	/* the statement has it already, but for some partitions */
	rel = table_open(relid, AccessExclusiveLock);
	lost = strata_dedup_identity_is_lost(rel);
	table_close(rel, NoLock);
	return lost;
}

/*
 * The table whose replica identity the command may set; its partitions, too,
 * if *tree.
 */
static Oid
identified_table(const AlterTableStmt *stmt, const AlterTableCmd *cmd,
				 bool *tree)
{
	*tree = false;
	switch (cmd->subtype)
	{
		case AT_ReplicaIdentity:
			return RangeVarGetRelid(stmt->relation, NoLock, true);
		case AT_AddConstraint:
			if (castNode(Constraint, cmd->def)->contype != CONSTR_PRIMARY ||
				!XLogLogicalInfoActive())
				return InvalidOid;
			*tree = stmt->relation->inh;
			return RangeVarGetRelid(stmt->relation, NoLock, true);
		case AT_AttachPartition:
			/* a primary key of the parent is made for it */
			if (!XLogLogicalInfoActive())
				return InvalidOid;
			*tree = true;
			return RangeVarGetRelid(castNode(PartitionCmd, cmd->def)->name,
									NoLock, true);
		default:
			return InvalidOid;
	}
}

/* What is lost is written anew, or said. */
static void
follow_table(Oid table)
{
	if (!identity_is_lost(table))
		return;
	if (XLogLogicalInfoActive())
	{
		strata_cluster_rel(table);
		CommandCounterIncrement();
	}
	else
		ereport(NOTICE,
				(errmsg("rows of table \"%s\" cannot be logged with this replica identity",
						get_rel_name(table)),
				 errdetail("Their pages were deduplicated before it was set."),
				 errhint("Before wal_level = logical: VACUUM FULL %s;",
						 strata_sql_name(table))));
}

/* See hook_private.h. */
void
strata_hook_follow_identity(const AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		bool		tree;
		Oid			relid = identified_table(stmt, lfirst(lc), &tree);
		ListCell   *table;

		if (!OidIsValid(relid))
			continue;
		CommandCounterIncrement();
		/* tables that merely inherit have no part in it */
		foreach(table, tree &&
				get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE ?
				find_all_inheritors(relid, NoLock, NULL) :
				list_make1_oid(relid))
			follow_table(lfirst_oid(table));
	}
}
