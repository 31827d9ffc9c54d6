/*-------------------------------------------------------------------------
 *
 * hypertable_alter.c
 *	  What PostgreSQL changes on a partitioned table alone, and whoever takes a
 *	  hypertable for one table expects on its chunks: owner, tablespace,
 *	  schema, replica identity, compression method and options of columns,
 *	  logged or not.
 *
 * ALTER TABLE ONLY changes the hypertable alone.  New chunks take after the
 * hypertable: what CREATE TABLE LIKE leaves out is written as a command.
 *
 * src/hypertable/hypertable_alter.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"
#include "pg/pg.h"
#include "store/store.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_publication.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/attoptcache.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/*
 * Is the command one that PostgreSQL would carry out on the hypertable alone,
 * and that its chunks are to follow?
 */
static bool
is_carried_over(const AlterTableCmd *cmd)
{
	switch (cmd->subtype)
	{
		case AT_ChangeOwner:
		case AT_SetTableSpace:
		case AT_ReplicaIdentity:
		case AT_SetCompression:
		case AT_SetOptions:
		case AT_ResetOptions:
		case AT_SetLogged:
		case AT_SetUnLogged:
			return true;
		default:
			return false;
	}
}

/* See hypertable.h. */
bool
strata_hypertable_alters_chunks(const AlterTableStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		if (is_carried_over(lfirst_node(AlterTableCmd, lc)))
			return stmt->relation->inh;
	}
	return false;
}

/* The name of the partition of an index that a chunk has, or NULL. */
static char *
index_of_chunk(Oid chunk, Oid parent_index)
{
	Relation	rel = table_open(chunk, NoLock);
	Oid			index;

	index = OidIsValid(parent_index) ? index_get_partition(rel, parent_index) :
		InvalidOid;
	table_close(rel, NoLock);
	return OidIsValid(index) ? get_rel_name(index) : NULL;
}

/* REPLICA IDENTITY USING INDEX means the chunk's part of that index. */
static AlterTableCmd *
command_for_chunk(Oid chunk, Oid parent, const AlterTableCmd *cmd)
{
	AlterTableCmd *copy = copyObject(unconstify(AlterTableCmd *, cmd));

	if (cmd->subtype == AT_ReplicaIdentity &&
		((ReplicaIdentityStmt *) cmd->def)->identity_type ==
		REPLICA_IDENTITY_INDEX)
	{
		ReplicaIdentityStmt *identity = (ReplicaIdentityStmt *) copy->def;

		identity->name =
			index_of_chunk(chunk,
						   get_relname_relid(identity->name,
											 get_rel_namespace(parent)));
		if (identity->name == NULL)
			ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
							errmsg("chunk \"%s\" does not have the index",
								   get_rel_name(chunk))));
	}
	return copy;
}

/* A chunk that is a foreign table has no storage and no identity to alter. */
static bool
can_follow(Oid chunk, const AlterTableCmd *cmd)
{
	return get_rel_relkind(chunk) != RELKIND_FOREIGN_TABLE ||
		cmd->subtype == AT_ChangeOwner || cmd->subtype == AT_SetOptions ||
		cmd->subtype == AT_ResetOptions;
}

/*
 * One command for one chunk, or for its part of an index, if it can follow;
 * and for the partitions of a chunk that has some.
 */
static void
alter_chunk(Oid chunk, Oid parent, const AlterTableStmt *stmt,
			AlterTableCmd *cmd)
{
	ListCell   *lc;

	if (!can_follow(chunk, cmd))
		return;
	cmd = command_for_chunk(chunk, parent, cmd);
	if (cmd->subtype == AT_ChangeOwner)
		/* checks permissions on the chunk too */
		ATExecChangeOwner(chunk,
						  get_rolespec_oid(castNode(RoleSpec, cmd->newowner),
										   false),
						  false, AccessExclusiveLock);
	else
	{
		EventTriggerAlterTableStart(unconstify(Node *, (const Node *) stmt));
		AlterTableInternal(chunk, list_make1(copyObject(cmd)), false);
		EventTriggerAlterTableEnd();
	}
	CommandCounterIncrement();
	if (get_rel_relkind(chunk) == RELKIND_PARTITIONED_TABLE ||
		get_rel_relkind(chunk) == RELKIND_PARTITIONED_INDEX)
		foreach(lc,
				find_inheritance_children(
										  chunk, AlterTableGetLockLevel(list_make1(cmd))))
			alter_chunk(lfirst_oid(lc), chunk, stmt, cmd);
}

/*
 * The hypertable and its indexes.  PostgreSQL leaves this mark of a
 * partitioned table as it is, and new chunks go by it.
 */
static void
set_all_persistence(Oid relid, char persistence)
{
	Relation	rel = table_open(relid, NoLock);
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	table_close(rel, NoLock);
	/* as for any table; of foreign keys the chunks know */
	if (persistence == RELPERSISTENCE_UNLOGGED &&
		GetRelationPublications(relid) != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot change table \"%s\" to unlogged because it is part of a publication",
						get_rel_name(relid)),
				 errdetail("Unlogged relations cannot be replicated.")));
	strata_relpersistence_set(relid, persistence);
	foreach(lc, indexes)
	{
		/* the row of a partitioned index is not under the table's lock */
		LockRelationOid(lfirst_oid(lc), AccessExclusiveLock);
		strata_relpersistence_set(lfirst_oid(lc), persistence);
	}
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
		foreach(lc2,
				find_inheritance_children(
										  relid, AlterTableGetLockLevel(list_make1(cmd))))
			alter_chunk(lfirst_oid(lc2), relid, stmt, cmd);
		if (cmd->subtype == AT_SetLogged || cmd->subtype == AT_SetUnLogged)
			set_all_persistence(relid, cmd->subtype == AT_SetLogged ?
								RELPERSISTENCE_PERMANENT :
								RELPERSISTENCE_UNLOGGED);
		if (cmd->subtype == AT_SetTableSpace)
			strata_hypertable_forget_tablespaces(relid);
	}
}

/* See hypertable.h. */
void
strata_hypertable_check_access_method(Relation rel)
{
	if (!OidIsValid(rel->rd_rel->relam) ||
		strata_is_strata_am(rel->rd_rel->relam) ||
		!strata_hypertable_is(RelationGetRelid(rel)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("cannot change access method of hypertable \"%s\"",
					RelationGetRelationName(rel)),
			 errdetail("Chunks of hypertables are made with the access method strata."),
			 errhint("Change that of the chunks that are to have another.")));
}

/* See hypertable.h. */
void
strata_hypertable_move_chunks(Oid relid, const char *old_schema,
							  const char *new_schema)
{
	Oid			old = get_namespace_oid(old_schema, false);
	ListCell   *lc;

	if (!strata_hypertable_is(relid) || strcmp(old_schema, new_schema) == 0)
		return;
	foreach(lc, find_all_inheritors(relid, AccessExclusiveLock, NULL))
	{
		AlterObjectSchemaStmt *stmt = makeNode(AlterObjectSchemaStmt);
		Oid			chunk = lfirst_oid(lc);

		/* one that somebody put elsewhere stays there */
		if (chunk == relid || get_rel_namespace(chunk) != old)
			continue;
		stmt->objectType = OBJECT_TABLE;
		stmt->relation = makeRangeVar(pstrdup(old_schema),
									  get_rel_name(chunk), -1);
		stmt->newschema = pstrdup(new_schema);
		(void) AlterTableNamespace(stmt, NULL);
		CommandCounterIncrement();
	}
}

/* See hypertable.h. */
void
strata_hypertable_alter_indexes(Oid index, const AlterTableStmt *stmt)
{
	ListCell   *lc;

	if (get_rel_relkind(index) != RELKIND_PARTITIONED_INDEX ||
		!strata_hypertable_is(IndexGetRelation(index, false)))
		return;
	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);
		ListCell   *lc2;

		if (cmd->subtype != AT_SetTableSpace)
			continue;
		foreach(lc2, find_inheritance_children(index, AccessExclusiveLock))
			alter_chunk(lfirst_oid(lc2), index, stmt, cmd);
	}
}

/* The statistics target of a column; false: the default. */
static bool
statistics_target(Oid relid, AttrNumber attno, int *target)
{
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid),
										Int16GetDatum(attno));
	bool		isnull = true;

	*target = -1;
	if (HeapTupleIsValid(tuple))
	{
		/* NULL or -1, by the version of PostgreSQL */
		Datum		value = SysCacheGetAttr(ATTNUM, tuple,
											Anum_pg_attribute_attstattarget,
											&isnull);

		if (!isnull)
			*target = DatumGetInt16(value);
		ReleaseSysCache(tuple);
	}
	return *target >= 0;
}

/* ALTER COLUMN commands for what a column has beside its definition. */
static void
append_column(StringInfo sql, Relation parent, Form_pg_attribute att)
{
	AttributeOpts *options = get_attribute_options(RelationGetRelid(parent),
												   att->attnum);
	const char *name = quote_identifier(NameStr(att->attname));
	int			target;

	if (statistics_target(RelationGetRelid(parent), att->attnum, &target))
		appendStringInfo(sql, ", ALTER %s SET STATISTICS %d", name, target);
	if (options != NULL && options->n_distinct != 0)
		appendStringInfo(sql, ", ALTER %s SET (n_distinct = %.17g)", name,
						 options->n_distinct);
	if (options != NULL && options->n_distinct_inherited != 0)
		appendStringInfo(sql, ", ALTER %s SET (n_distinct_inherited = %.17g)",
						 name, options->n_distinct_inherited);
}

/*
 * Add the ALTER TABLE command that gives a chunk its hypertable's replica
 * identity; nothing when both have the default.
 */
static void
append_identity(StringInfo sql, Relation parent, Oid chunk)
{
	char	   *index;

	switch (parent->rd_rel->relreplident)
	{
		case REPLICA_IDENTITY_FULL:
			appendStringInfoString(sql, ", REPLICA IDENTITY FULL");
			break;
		case REPLICA_IDENTITY_NOTHING:
			appendStringInfoString(sql, ", REPLICA IDENTITY NOTHING");
			break;
		case REPLICA_IDENTITY_INDEX:
			(void) RelationGetIndexList(parent);
			index = index_of_chunk(chunk, parent->rd_replidindex);
			if (index != NULL)
				appendStringInfo(sql, ", REPLICA IDENTITY USING INDEX %s",
								 quote_identifier(index));
			break;
		default:
			break;
	}
}

/*
 * The command for an expression index's statistics targets; added to a list of
 * texts.
 */
static List *
append_index(List *commands, Oid index, Oid chunk)
{
	char	   *name = index_of_chunk(chunk, index);
	Relation	rel = index_open(index, AccessShareLock);
	int			target;

	for (int i = 1; name != NULL && i <= RelationGetNumberOfAttributes(rel);
		 i++)
		if (statistics_target(index, i, &target))
			commands = lappend(commands,
							   psprintf("ALTER INDEX %s ALTER COLUMN %d SET STATISTICS %d",
										quote_qualified_identifier(get_namespace_name(get_rel_namespace(chunk)),
																   name),
										i, target));
	index_close(rel, AccessShareLock);
	return commands;
}

/* See hypertable_private.h. */
List *
strata_chunk_follow_commands(Oid hypertable, Oid chunk)
{
	Relation	parent = table_open(hypertable, AccessShareLock);
	StringInfoData sql;
	List	   *commands = NIL;
	ListCell   *lc;

	initStringInfo(&sql);
	for (int i = 0; i < RelationGetDescr(parent)->natts; i++)
		if (!TupleDescAttr(RelationGetDescr(parent), i)->attisdropped)
			append_column(&sql, parent,
						  TupleDescAttr(RelationGetDescr(parent), i));
	append_identity(&sql, parent, chunk);
	if (sql.len > 0)
		commands = list_make1(psprintf("ALTER TABLE %s %s",
									   strata_sql_name(chunk),
									   sql.data + 2));
	foreach(lc, RelationGetIndexList(parent))
		commands = append_index(commands, lfirst_oid(lc), chunk);
	table_close(parent, AccessShareLock);
	return commands;
}
