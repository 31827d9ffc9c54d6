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

/* Is it one of ours, with rows whose identity cannot be logged? */
static bool
identity_is_lost(Oid relid)
{
	Relation	rel;
	bool		lost;

	if (get_rel_relkind(relid) != RELKIND_RELATION)
		return false;
	rel = table_open(relid, NoLock);
	lost = strata_is_dedup(rel) && strata_dedup_identity_is_lost(rel);
	table_close(rel, NoLock);
	return lost;
}

/* See hook_private.h. */
void
strata_hook_follow_identity(const AlterTableStmt *stmt)
{
	bool		sets = false;
	bool		may_set = false;
	Oid			relid;
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		sets |= cmd->subtype == AT_ReplicaIdentity;
		may_set |= cmd->subtype == AT_ReplicaIdentity ||
			(cmd->subtype == AT_AddConstraint && XLogLogicalInfoActive());
	}
	relid = may_set ? RangeVarGetRelid(stmt->relation, NoLock, true) :
		InvalidOid;
	if (!OidIsValid(relid))
		return;
	CommandCounterIncrement();
	/* a primary key is one of the partitions, too; both lock out all others */
	foreach(lc, sets ? list_make1_oid(relid) :
			find_all_inheritors(relid, NoLock, NULL))
	{
		Oid			table = lfirst_oid(lc);

		if (!identity_is_lost(table))
			continue;
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
}
