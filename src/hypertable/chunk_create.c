/*-------------------------------------------------------------------------
 *
 * chunk_create.c
 *	  Makes a chunk: a table like its hypertable, attached for a range.
 *
 * CREATE TABLE (LIKE) and ATTACH PARTITION take ShareUpdateExclusiveLock on
 * the hypertable, which neither readers nor writers notice (CREATE TABLE
 * PARTITION OF would shut them all out).  Indexes, triggers and foreign keys
 * come with the ATTACH.
 *
 * src/hypertable/chunk_create.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"
#include "base/compat.h"
#include "catalog/catalog.h"
#include "compress/compress.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* How often to try for all locks before waiting for one with others in hand. */
#define MAX_LOCK_ROUNDS 100

/* A chunk's name says whose it is and where it begins. */
static char *
choose_name(Relation parent, const StrataHypertable *ht, const StrataChunkRange *range)
{
	char	   *label = range->no_lo ? pstrdup("min") :
		strata_time_label(ht->key_type, range->lo, ht->key_type == DATEOID ? USECS_PER_DAY : ht->interval);

	return ChooseRelationName(RelationGetRelationName(parent), label, "chunk",
							  RelationGetNamespace(parent), false);
}

/* When it was made, and options that were the hypertable's before it was one. */
static void
append_options(StringInfo sql, const StrataHypertable *ht)
{
	char	   *more = strata_settings_get_text(ht->relid, STRATA_OPTION_CHUNK_OPTIONS);
	StringInfoData options;

	initStringInfo(&options);
	appendStringInfo(&options, "strata." STRATA_OPTION_CREATED " = %s",
					 strata_time_literal(TIMESTAMPTZOID, GetCurrentTimestamp()));
	if (more != NULL)
		strata_storage_options_append(&options, strata_storage_options_parse(more), "");
	appendStringInfo(sql, " WITH (%s)", options.data);
}

/* See hypertable_private.h. */
Oid
strata_chunk_make_table(Relation parent, const StrataHypertable *ht, const StrataChunkRange *range, Oid tablespace)
{
	StringInfoData sql;
	char	   *schema = get_namespace_name(RelationGetNamespace(parent));
	char	   *name = choose_name(parent, ht, range);
	Oid			relid;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE %sTABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
					 " INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING STATISTICS)"
					 " USING strata",
					 parent->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED ? "UNLOGGED " : "",
					 quote_qualified_identifier(schema, name),
					 strata_sql_name(RelationGetRelid(parent)));
	append_options(&sql, ht);
	if (OidIsValid(tablespace))
		appendStringInfo(&sql, " TABLESPACE %s",
						 quote_identifier(get_tablespace_name(tablespace)));
	strata_sql_run_subcommand(sql.data);
	relid = get_relname_relid(name, RelationGetNamespace(parent));
	if (!OidIsValid(relid))
		elog(ERROR, "chunk \"%s\" is not there after it was made", name);
	return relid;
}

/*
 * A table's first direct load makes its companion, under a lock that keeps other
 * loads waiting until it commits.  Here nobody waits.
 */
static void
prepare_direct_load(Oid chunk)
{
	Relation	rel = table_open(chunk, NoLock);

	if (strata_relation_is_strata(rel) && strata_settings_direct_load(rel) &&
		strata_direct_load_obstacle(rel) == NULL)
		strata_direct_load_prepare(rel);
	table_close(rel, NoLock);
}

/* See hypertable_private.h. */
void
strata_chunk_attach(Oid chunk, const StrataHypertable *ht, const StrataChunkRange *range)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfo(&sql, "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)",
					 strata_sql_name(ht->relid), strata_sql_name(chunk),
					 range->no_lo ? "MINVALUE" : strata_time_literal(ht->key_type, range->lo),
					 range->no_hi ? "MAXVALUE" : strata_time_literal(ht->key_type, range->hi));
	strata_sql_run_subcommand(sql.data);
	/* indexes have come with the ATTACH */
	foreach(lc, strata_chunk_follow_commands(ht->relid, chunk))
		strata_sql_run_subcommand(lfirst(lc));
	prepare_direct_load(chunk);
}

/*
 * The range for a missing chunk: what arithmetic says, less what existing
 * partitions have of it.
 */
static void
fit_range(const StrataChunkRange *gap, StrataChunkRange *range)
{
	if (!gap->no_lo && (range->no_lo || gap->lo > range->lo))
	{
		range->lo = gap->lo;
		range->no_lo = false;
	}
	if (!gap->no_hi && (range->no_hi || gap->hi < range->hi))
	{
		range->hi = gap->hi;
		range->no_hi = false;
	}
}

static int
compare_oids(const ListCell *a, const ListCell *b)
{
	return lfirst_oid(a) < lfirst_oid(b) ? -1 : lfirst_oid(a) > lfirst_oid(b);
}

/*
 * The tables at the other end of foreign keys from (all: and to) the hypertable,
 * whose writers ATTACH PARTITION shuts out, in a fixed order.
 */
static List *
tables_to_lock(Relation rel, bool all)
{
	TriggerDesc *triggers = rel->trigdesc;
	List	   *relids = NIL;
	ListCell   *lc;

	foreach(lc, all ? RelationGetFKeyList(rel) : NIL)
		relids = list_append_unique_oid(relids, lfirst_node(ForeignKeyCacheInfo, lc)->confrelid);
	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
		if (RI_FKey_trigger_type(triggers->triggers[i].tgfoid) == RI_TRIGGER_PK)
			relids = list_append_unique_oid(relids, triggers->triggers[i].tgconstrrelid);
	list_sort(relids, compare_oids);
	return list_delete_oid(relids, RelationGetRelid(rel));
}

/* See hypertable.h. */
void
strata_chunk_lock_parents(Oid hypertable)
{
	Relation	rel = try_table_open(hypertable, AccessShareLock);
	bool		ours;
	List	   *relids;
	ListCell   *lc;

	if (rel == NULL)
		return;
	ours = strata_foreign_keys_are_ours(rel);
	relids = tables_to_lock(rel, !ours);
	foreach(lc, relids)
		LockRelationOid(lfirst_oid(lc), ours ? ShareUpdateExclusiveLock : ShareRowExclusiveLock);
	if (ours)
		strata_foreign_keys_lock(rel);
	table_close(rel, AccessShareLock);
	LockRelationOid(hypertable, ShareUpdateExclusiveLock);
}

/*
 * Wait for one lock of a list, then take the others without waiting; -1, or
 * the one that was not to be had, with nothing taken.
 */
static int
lock_or_leave(const List *relids, Oid hypertable, int first)
{
	for (int i = -1; i < list_length(relids); i++)
	{
		int			number = i < 0 ? first : i;
		Oid			relid = list_nth_oid(relids, number);
		LOCKMODE	lockmode = relid == hypertable ? AccessExclusiveLock : ShareRowExclusiveLock;

		if (i < 0)
			LockRelationOid(relid, lockmode);
		else if (i != first && !ConditionalLockRelationOid(relid, lockmode))
		{
			for (int taken = 0; taken < list_length(relids); taken++)
				if (taken == first || taken < i)
				{
					relid = list_nth_oid(relids, taken);
					UnlockRelationOid(relid, relid == hypertable ? AccessExclusiveLock : ShareRowExclusiveLock);
				}
			return i;
		}
	}
	return -1;
}

/* See hypertable.h. */
void
strata_chunk_lock_exclusively(Oid hypertable)
{
	Relation	rel = try_table_open(hypertable, AccessShareLock);
	List	   *relids;
	int			next;

	if (rel == NULL)
		return;
	relids = lappend_oid(tables_to_lock(rel, true), hypertable);
	table_close(rel, AccessShareLock);
	next = list_length(relids) - 1;
	for (int i = 0; i < MAX_LOCK_ROUNDS && next >= 0; i++)
	{
		CHECK_FOR_INTERRUPTS();
		next = lock_or_leave(relids, hypertable, next);
	}
	if (next >= 0)
	{
		/* too much is going on: risk a deadlock rather than never get there */
		for (int i = 0; i < list_length(relids) - 1; i++)
			LockRelationOid(list_nth_oid(relids, i), ShareRowExclusiveLock);
		LockRelationOid(hypertable, AccessExclusiveLock);
	}
}

/* Attach an empty chunk; its foreign keys are for us to write. */
static void
attach_empty(Oid chunk, const StrataHypertable *ht, const StrataChunkRange *range)
{
	strata_foreign_keys_hide(ht->relid);
	PG_TRY();
	{
		strata_chunk_attach(chunk, ht, range);
	}
	PG_FINALLY();
	{
		strata_foreign_keys_show();
	}
	PG_END_TRY();
	strata_foreign_keys_clone(ht->relid, chunk);
}

/* CREATE TABLE would say the same, and not what to do about it. */
static void
check_schema(Relation parent)
{
	Oid			owner = parent->rd_rel->relowner;
	char	   *schema = get_namespace_name(RelationGetNamespace(parent));

	if (!strata_schema_create_allowed(RelationGetNamespace(parent), owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for schema %s", schema),
				 errdetail("Chunks are made as the owner of hypertable \"%s\", in its schema.", RelationGetRelationName(parent)),
				 errhint("GRANT CREATE ON SCHEMA %s TO %s;", quote_identifier(schema),
						 quote_identifier(GetUserNameFromId(owner, false)))));
}

/* See hypertable.h. */
bool
strata_chunk_create(Oid hypertable, int64 time)
{
	StrataOwnerContext saved;
	StrataChunkRange gap;
	StrataChunkRange range;
	StrataHypertable *ht;
	Relation	parent;
	Oid			owner;
	bool		missing;
	bool		keys_are_ours;
	Oid			tablespace;
	Oid			chunk;

	strata_chunk_lock_parents(hypertable);
	parent = table_open(hypertable, NoLock);
	owner = parent->rd_rel->relowner;
	ht = strata_hypertable_get(hypertable);
	if (ht == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table \"%s\" is not a hypertable", RelationGetRelationName(parent))));
	(void) strata_hypertable_watch(hypertable);
	missing = strata_partition_find(RelationGetPartitionKey(parent), RelationGetPartitionDesc(parent, true),
									ht->key_type, strata_time_to_datum(ht->key_type, time), &gap) < 0;
	if (!missing)
	{
		table_close(parent, NoLock);
		return false;
	}
	check_schema(parent);
	strata_time_chunk_range(ht->key_type, ht->interval, time, &range);
	fit_range(&gap, &range);
	strata_owner_enter(owner, &saved);
	tablespace = strata_chunk_tablespace(ht, &range);
	strata_chunk_indexes_into(ht, tablespace);
	chunk = strata_chunk_make_table(parent, ht, &range, tablespace);
	keys_are_ours = strata_foreign_keys_are_ours(parent);
	/* ALTER TABLE insists that nobody in this session has the table open */
	table_close(parent, NoLock);
	if (keys_are_ours)
		attach_empty(chunk, ht, &range);
	else
		strata_chunk_attach(chunk, ht, &range);
	strata_owner_leave(&saved);
	return true;
}

/* See hypertable.h. */
int
strata_chunk_create_ahead(const StrataHypertable *ht, int64 up_to)
{
	int64		time = strata_hypertable_now(ht);
	int			made = 0;

	while (time <= up_to)
	{
		StrataChunkRange range;

		CHECK_FOR_INTERRUPTS();
		made += strata_chunk_create(ht->relid, time);
		CommandCounterIncrement();
		strata_time_chunk_range(ht->key_type, ht->interval, time, &range);
		if (range.no_hi)
			break;
		time = range.hi;
	}
	return made;
}
