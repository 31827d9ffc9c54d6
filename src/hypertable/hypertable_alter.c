/*-------------------------------------------------------------------------
 *
 * hypertable_alter.c
 *	  What PostgreSQL changes on a partitioned table alone, and whoever takes a
 *	  hypertable for one table expects on its chunks: owner, tablespace, schema.
 *
 * ALTER TABLE ONLY changes the hypertable alone.
 *
 * src/hypertable/hypertable_alter.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

static bool
is_carried_over(const AlterTableCmd *cmd)
{
	return cmd->subtype == AT_ChangeOwner || cmd->subtype == AT_SetTableSpace;
}

/* See hypertable.h. */
bool
strata_hypertable_alters_chunks(const AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
		if (is_carried_over(lfirst_node(AlterTableCmd, lc)))
			return stmt->relation->inh;
	return false;
}

static void
alter_chunk(Oid chunk, const AlterTableStmt *stmt, AlterTableCmd *cmd)
{
	if (cmd->subtype == AT_ChangeOwner)
		/* checks permissions on the chunk too */
		ATExecChangeOwner(chunk, get_rolespec_oid(castNode(RoleSpec, cmd->newowner), false), false, AccessExclusiveLock);
	else
	{
		EventTriggerAlterTableStart(unconstify(Node *, (const Node *) stmt));
		AlterTableInternal(chunk, list_make1(copyObject(cmd)), false);
		EventTriggerAlterTableEnd();
	}
	CommandCounterIncrement();
}

/* See hypertable.h. */
void
strata_hypertable_alter_chunks(Oid relid, const AlterTableStmt *stmt)
{
	ListCell   *lc;

	if (!strata_hypertable_is(relid))
		return;
	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);
		ListCell   *lc2;

		if (!is_carried_over(cmd))
			continue;
		foreach(lc2, find_inheritance_children(relid, AccessExclusiveLock))
			alter_chunk(lfirst_oid(lc2), stmt, cmd);
	}
}

/* See hypertable.h. */
void
strata_hypertable_move_chunks(Oid relid, const char *old_schema, const char *new_schema)
{
	Oid			old = get_namespace_oid(old_schema, false);
	ListCell   *lc;

	if (!strata_hypertable_is(relid) || strcmp(old_schema, new_schema) == 0)
		return;
	foreach(lc, find_inheritance_children(relid, AccessExclusiveLock))
	{
		AlterObjectSchemaStmt *stmt = makeNode(AlterObjectSchemaStmt);

		/* one that somebody put elsewhere stays there */
		if (get_rel_namespace(lfirst_oid(lc)) != old)
			continue;
		stmt->objectType = OBJECT_TABLE;
		stmt->relation = makeRangeVar(pstrdup(old_schema), get_rel_name(lfirst_oid(lc)), -1);
		stmt->newschema = pstrdup(new_schema);
		(void) AlterTableNamespace(stmt, NULL);
		CommandCounterIncrement();
	}
}
