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
#include "catalog/catalog.h"
#include "hypertable/hypertable_private.h"
#include "store/store.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
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

static void
run(const char *sql)
{
	if (SPI_execute(sql, false, 0) < 0)
		elog(ERROR, "could not run: %s", sql);
}

/* When it was made, and options that were the hypertable's before it was one. */
static void
append_options(StringInfo sql, const StrataHypertable *ht)
{
	char	   *more = strata_settings_get_text(ht->relid, STRATA_OPTION_CHUNK_OPTIONS);

	appendStringInfo(sql, " WITH (strata." STRATA_OPTION_CREATED " = %s%s%s)",
					 strata_time_literal(TIMESTAMPTZOID, GetCurrentTimestamp()),
					 more != NULL && *more != '\0' ? ", " : "", more != NULL ? more : "");
}

/* See hypertable_private.h. */
Oid
strata_chunk_make_table(Relation parent, const StrataHypertable *ht, const StrataChunkRange *range, Oid tablespace)
{
	StringInfoData sql;
	char	   *schema = get_namespace_name(RelationGetNamespace(parent));
	char	   *name = choose_name(parent, ht, range);
	Oid			relid;

	SPI_connect();
	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE %sTABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
					 " INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING STATISTICS)"
					 " USING strata",
					 parent->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED ? "UNLOGGED " : "",
					 quote_qualified_identifier(schema, name),
					 quote_qualified_identifier(schema, RelationGetRelationName(parent)));
	append_options(&sql, ht);
	if (OidIsValid(tablespace))
		appendStringInfo(&sql, " TABLESPACE %s",
						 quote_identifier(get_tablespace_name(tablespace)));
	run(sql.data);
	SPI_finish();
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
	char	   *schema = get_namespace_name(get_rel_namespace(ht->relid));

	SPI_connect();
	initStringInfo(&sql);
	appendStringInfo(&sql, "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)",
					 quote_qualified_identifier(schema, get_rel_name(ht->relid)),
					 quote_qualified_identifier(get_namespace_name(get_rel_namespace(chunk)), get_rel_name(chunk)),
					 range->no_lo ? "MINVALUE" : strata_time_literal(ht->key_type, range->lo),
					 range->no_hi ? "MAXVALUE" : strata_time_literal(ht->key_type, range->hi));
	run(sql.data);
	SPI_finish();
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

/* The tables that foreign keys of the hypertable refer to, in a fixed order; false: it is gone. */
static bool
referenced_tables(Oid hypertable, List **referenced)
{
	Relation	rel = try_table_open(hypertable, AccessShareLock);
	ListCell   *lc;

	*referenced = NIL;
	if (rel == NULL)
		return false;
	foreach(lc, RelationGetFKeyList(rel))
		*referenced = list_append_unique_oid(*referenced, lfirst_node(ForeignKeyCacheInfo, lc)->confrelid);
	table_close(rel, AccessShareLock);
	list_sort(*referenced, compare_oids);
	return true;
}

/* See hypertable.h. */
void
strata_chunk_lock_parents(Oid hypertable)
{
	List	   *referenced;
	ListCell   *lc;

	if (!referenced_tables(hypertable, &referenced))
		return;
	foreach(lc, referenced)
		LockRelationOid(lfirst_oid(lc), ShareRowExclusiveLock);
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
	List	   *relids;
	int			next;

	if (!referenced_tables(hypertable, &relids))
		return;
	relids = list_append_unique_oid(relids, hypertable);
	next = list_length(relids) - 1;
	for (int i = 0; i < MAX_LOCK_ROUNDS && next >= 0; i++)
	{
		CHECK_FOR_INTERRUPTS();
		next = lock_or_leave(relids, hypertable, next);
	}
	if (next >= 0)
	{
		/* too much is going on: risk a deadlock rather than never get there */
		strata_chunk_lock_parents(hypertable);
		LockRelationOid(hypertable, AccessExclusiveLock);
	}
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
	Oid			chunk;

	strata_chunk_lock_parents(hypertable);
	parent = table_open(hypertable, NoLock);
	owner = parent->rd_rel->relowner;
	ht = strata_hypertable_get(hypertable);
	if (ht == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("table \"%s\" is not a hypertable", RelationGetRelationName(parent))));
	missing = strata_partition_find(RelationGetPartitionKey(parent), RelationGetPartitionDesc(parent, true),
									ht->key_type, strata_time_to_datum(ht->key_type, time), &gap) < 0;
	if (!missing)
	{
		table_close(parent, NoLock);
		return false;
	}
	strata_time_chunk_range(ht->key_type, ht->interval, time, &range);
	fit_range(&gap, &range);
	strata_owner_enter(owner, &saved);
	chunk = strata_chunk_make_table(parent, ht, &range, parent->rd_rel->reltablespace);
	/* ALTER TABLE insists that nobody in this session has the table open */
	table_close(parent, NoLock);
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
