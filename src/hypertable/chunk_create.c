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
#include "common/int.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/*
 * How often to try for all locks before waiting for one with others in hand.
 */
#define MAX_LOCK_ROUNDS 100

/* A chunk's name says whose it is and where it begins. */
static char *
choose_chunk_name(Relation parent, const StrataHypertable *ht,
				  const StrataChunkRange *range)
{
	char	   *label;

	label = range->no_lo || range->lo == PG_INT64_MIN ? pstrdup("min") :
		strata_time_label(ht->key_type, range->lo,
						  ht->key_type == DATEOID ? USECS_PER_DAY :
						  strata_time_interval_length(ht->key_type,
													  ht->interval));
	return ChooseRelationName(RelationGetRelationName(parent), label, "chunk",
							  RelationGetNamespace(parent), false);
}

/*
 * When it was made, and options that were the hypertable's before it was one.
 */
static void
append_options(StringInfo sql, const StrataHypertable *ht)
{
	char	   *more = strata_settings_get_text(ht->relid,
												STRATA_OPTION_CHUNK_OPTIONS);
	StringInfoData options;

	initStringInfo(&options);
	appendStringInfo(&options, "strata." STRATA_OPTION_CREATED " = %s",
					 strata_time_literal(TIMESTAMPTZOID,
										 GetCurrentTimestamp()));
	if (more != NULL)
		strata_storage_options_append(&options,
									  strata_storage_options_parse(more), "");
	appendStringInfo(sql, " WITH (%s)", options.data);
}

/*
 * A command that makes or attaches a chunk.  Of a hypertable that Citus has
 * distributed it has to be one that it takes to its servers: a statement, not
 * a part of one.
 */
static void
run_command(const StrataHypertable *ht, const char *sql)
{
	if (strata_table_is_distributed(ht->relid))
		strata_sql_run(sql);
	else
		strata_sql_run_subcommand(sql);
}

/* See hypertable_private.h. */
Oid
strata_chunk_make_table(Relation parent, const StrataHypertable *ht,
						const StrataChunkRange *range, Oid tablespace)
{
	StringInfoData sql;
	char	   *schema = get_namespace_name(RelationGetNamespace(parent));
	char	   *name = choose_chunk_name(parent, ht, range);
	Oid			relid;

	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "CREATE %sTABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS"
					 " INCLUDING GENERATED INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING STATISTICS)"
					 " USING strata",
					 parent->rd_rel->relpersistence ==
					 RELPERSISTENCE_UNLOGGED ?
					 "UNLOGGED " :
					 "",
					 quote_qualified_identifier(schema, name),
					 strata_sql_name(RelationGetRelid(parent)));
	append_options(&sql, ht);
	if (OidIsValid(tablespace))
		appendStringInfo(&sql, " TABLESPACE %s",
						 quote_identifier(get_tablespace_name(tablespace)));
	run_command(ht, sql.data);
	relid = get_relname_relid(name, RelationGetNamespace(parent));
	if (!OidIsValid(relid))
		elog(ERROR, "chunk \"%s\" is not there after it was made", name);
	/* default privileges would lead past those of the hypertable */
	strata_relacl_clear(relid);
	return relid;
}

/*
 * A table's first direct load makes its companion, under a lock that keeps
 * other loads waiting until it commits.  Here nobody waits.
 */
static void
prepare_direct_load(Oid chunk)
{
	Relation	rel = table_open(chunk, NoLock);

	if (strata_relation_is_strata(rel) && strata_settings_direct_load(rel) &&
		!strata_table_is_distributed(chunk) &&
		strata_direct_load_obstacle(rel) == NULL)
		strata_direct_load_prepare(rel);
	table_close(rel, NoLock);
}

/* See hypertable_private.h. */
void
strata_chunk_attach(Oid chunk, const StrataHypertable *ht,
					const StrataChunkRange *range)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s) TO (%s)",
					 strata_sql_name(ht->relid), strata_sql_name(chunk),
					 range->no_lo ? "MINVALUE" :
					 strata_time_literal(ht->key_type, range->lo),
					 range->no_hi ? "MAXVALUE" :
					 strata_time_literal(ht->key_type, range->hi));
	run_command(ht, sql.data);
	/* indexes have come with the ATTACH */
	foreach(lc, strata_chunk_follow_commands(ht->relid, chunk))
		run_command(ht, lfirst(lc));
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
	Assert(range->no_lo || range->no_hi ||
		   range->lo < range->hi);	/* hypertable:Y1 */
}

/*-------------------------------------------------------------------------
 * Locks
 *-------------------------------------------------------------------------
 */

/*
 * What ATTACH PARTITION takes on the tables at the other end of foreign keys.
 */
#define OTHER_END_LOCK ShareRowExclusiveLock

typedef struct LockList
{
	List	   *relids;			/* in a fixed order; the hypertable is the
								 * last */
	LOCKMODE	lockmode;		/* of the hypertable */
} LockList;

/*
 * How a wait for writers ends that takes too long; without one it is the
 * session's lock_timeout that ends it.
 */
typedef struct LockHaste
{
	int			patience;		/* ms; 0: as long as lock_timeout */
	const char *hint;
} LockHaste;

static int
compare_oids(const ListCell *a, const ListCell *b)
{
	return lfirst_oid(a) < lfirst_oid(b) ? -1 : lfirst_oid(a) > lfirst_oid(b);
}

/* See hypertable_private.h. */
List *
strata_foreign_key_tables(Relation rel)
{
	TriggerDesc *triggers = rel->trigdesc;
	List	   *relids = NIL;
	ListCell   *lc;

	foreach(lc, RelationGetFKeyList(rel))
	{
		ForeignKeyCacheInfo *key = lfirst_node(ForeignKeyCacheInfo, lc);

		relids = list_append_unique_oid(relids, key->confrelid);
	}
	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
		if (RI_FKey_trigger_type(triggers->triggers[i].tgfoid) ==
			RI_TRIGGER_PK)
			relids =
				list_append_unique_oid(relids,
									   triggers->triggers[i].tgconstrrelid);
	list_sort(relids, compare_oids);
	return relids;
}

/*
 * What to lock for a hypertable to be locked with lockmode; false: it is gone.
 */
static bool
list_locks(Oid hypertable, LOCKMODE lockmode, LockList *locks)
{
	Relation	rel = try_table_open(hypertable, AccessShareLock);

	if (rel == NULL)
		return false;
	locks->relids = strata_foreign_key_tables(rel);
	locks->lockmode = lockmode;
	/* a key of the hypertable to itself */
	if (list_member_oid(locks->relids, hypertable))
	{
		locks->relids = list_delete_oid(locks->relids, hypertable);
		locks->lockmode = Max(lockmode, OTHER_END_LOCK);
	}
	locks->relids = lappend_oid(locks->relids, hypertable);
	table_close(rel, AccessShareLock);
	return true;
}

static LOCKMODE
lockmode_of(const LockList *locks, int number)
{
	return number == list_length(locks->relids) - 1 ? locks->lockmode :
		OTHER_END_LOCK;
}

/*
 * Wait for a lock on a table at the other end of a foreign key.  Whoever needs
 * a chunk for a row has the patience of deadlock_timeout: writers may be
 * waiting for a row of his, and others who want to write wait behind him.  So
 * he fails before PostgreSQL looks for a deadlock on their behalf and chooses
 * one of them.
 */
static void
wait_for_writers(Oid relid, const LockHaste *haste)
{
	int			level = NewGUCNestLevel();
	bool		brief;
	char	   *name = get_rel_name(relid);
	MemoryContext mcxt = CurrentMemoryContext;

	brief = haste->patience > 0 &&
		(LockTimeout == 0 || LockTimeout > haste->patience);
	if (brief)
		(void) set_config_option("lock_timeout",
								 psprintf("%d", haste->patience), PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
	PG_TRY();
	{
		LockRelationOid(relid, OTHER_END_LOCK);
	}
	PG_CATCH();
	{
		int			code = geterrcode();

		if (code != ERRCODE_T_R_DEADLOCK_DETECTED &&
			(code != ERRCODE_LOCK_NOT_AVAILABLE || !brief))
			PG_RE_THROW();
		MemoryContextSwitchTo(mcxt);
		FlushErrorState();
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("other transactions write to table \"%s\", or change it",
						name != NULL ? name : ""),
				 errdetail("Foreign keys connect it with the hypertable, and a new chunk has to be entered there, too."),
				 errhint("%s", haste->hint)));
	}
	PG_END_TRY();
	AtEOXact_GUC(true, level);
}

/*
 * Wait for one of the locks, then take the others without waiting; -1, or the
 * number of one that was not to be had, with nothing taken.
 */
static int
lock_or_leave(const LockList *locks, int first, const LockHaste *haste)
{
	int			count = list_length(locks->relids);

	Assert(first >= 0 && first < count);	/* hypertable:Y9 */
	if (haste != NULL && lockmode_of(locks, first) == OTHER_END_LOCK)
		wait_for_writers(list_nth_oid(locks->relids, first), haste);
	else
		LockRelationOid(list_nth_oid(locks->relids, first),
						lockmode_of(locks, first));
	for (int i = 0; i < count; i++)
	{
		Assert(locks->lockmode != NoLock);	/* hypertable:Y9 */
		if (i == first ||
			ConditionalLockRelationOid(list_nth_oid(locks->relids, i),
									   lockmode_of(locks, i)))
			continue;
		for (int taken = 0; taken < count; taken++)
			if (taken == first || taken < i)
				UnlockRelationOid(list_nth_oid(locks->relids, taken),
								  lockmode_of(locks, taken));
		return i;
	}
	return -1;
}

/* Take the locks, waiting with none of them in hand. */
static void
lock_all(const LockList *locks, const LockHaste *haste)
{
	int			next = list_length(locks->relids) - 1;

	for (int i = 0; i < MAX_LOCK_ROUNDS && next >= 0; i++)
	{
		CHECK_FOR_INTERRUPTS();
		next = lock_or_leave(locks, next, haste);
	}
	/* too much is going on: risk a deadlock rather than never get there */
	for (int i = 0; next >= 0 && i < list_length(locks->relids); i++)
		LockRelationOid(list_nth_oid(locks->relids, i), lockmode_of(locks, i));
}

/* See hypertable.h. */
void
strata_chunk_lock(Oid hypertable, LOCKMODE lockmode)
{
	LockList	locks;

	if (list_locks(hypertable, lockmode, &locks))
		lock_all(&locks, NULL);
}

/* See hypertable_private.h. */
void
strata_chunk_lock_to_make(Oid hypertable, int64 time, int patience)
{
	StrataHypertable *ht = strata_hypertable_get(hypertable);
	LockHaste	haste = {.patience = patience};
	StrataChunkRange range;
	LockList	locks;
	char	   *name;

	if (ht == NULL ||
		!list_locks(hypertable, ShareUpdateExclusiveLock, &locks))
		return;
	name = quote_qualified_identifier(
									  get_namespace_name(get_rel_namespace(hypertable)),
									  get_rel_name(hypertable));

	/*
	 * a time of the chunk that can be written down, which an infinite one
	 * cannot
	 */
	strata_time_chunk_range(ht->key_type, ht->interval, time, &range);
	if (range.no_lo || range.no_hi)
		time = !range.no_lo ? range.lo : !range.no_hi ? range.hi - 1 : 0;
	haste.hint = psprintf("Run the transaction again. Chunks that are there before rows need them spare you this: "
						  "SELECT create_chunks(%s, %s);",
						  quote_literal_cstr(name),
						  strata_time_literal(ht->key_type, time));
	lock_all(&locks, &haste);
}

/*-------------------------------------------------------------------------
 * Making a chunk
 *-------------------------------------------------------------------------
 */

/* See hypertable_private.h. */
void
strata_chunk_check_schema(Relation parent)
{
	Oid			owner = parent->rd_rel->relowner;
	char	   *schema = get_namespace_name(RelationGetNamespace(parent));

	if (!strata_schema_create_allowed(RelationGetNamespace(parent), owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for schema %s", schema),
				 errdetail("Chunks are made as the owner of hypertable \"%s\", in its schema.",
						   RelationGetRelationName(parent)),
				 errhint("GRANT CREATE ON SCHEMA %s TO %s;",
						 quote_identifier(schema),
						 quote_identifier(GetUserNameFromId(owner, false)))));
}

/* Closes the hypertable.  As its owner. */
static void
make_and_attach(Relation parent, const StrataHypertable *ht,
				const StrataChunkRange *range)
{
	Oid			tablespace = strata_chunk_tablespace(ht, range);
	Oid			chunk;

	strata_chunk_indexes_into(ht, tablespace);
	chunk = strata_chunk_make_table(parent, ht, range, tablespace);
	/* ALTER TABLE insists that nobody in this session has the table open */
	table_close(parent, NoLock);
	strata_chunk_attach(chunk, ht, range);
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
	bool		missing;

	strata_chunk_lock_to_make(hypertable, time, 0);
	parent = table_open(hypertable, AccessShareLock);
	Assert(!strata_hypertable_is(hypertable) ||
		   CheckRelationLockedByMe(parent, ShareUpdateExclusiveLock,
								   true));	/* hypertable:Y9 */
	ht = strata_hypertable_get(hypertable);
	if (ht == NULL)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("table \"%s\" is not a hypertable",
							   RelationGetRelationName(parent))));
	/* relcache makes a partition key by calling what it is made of */
	strata_owner_enter(parent->rd_rel->relowner, &saved);
	(void) strata_hypertable_watch(hypertable);
	missing = strata_partition_find(RelationGetPartitionKey(parent),
									RelationGetPartitionDesc(parent, true),
									ht->key_type,
									strata_time_to_datum(ht->key_type, time),
									&gap) < 0;
	if (missing)
	{
		strata_chunk_check_schema(parent);
		strata_time_chunk_range(ht->key_type, ht->interval, time, &range);
		fit_range(&gap, &range);
		make_and_attach(parent, ht, &range);
	}
	else
		table_close(parent, NoLock);
	strata_owner_leave(&saved);
	return missing;
}

/* Is there a chunk for a time?  *range is its range, or that of the gap. */
static bool
find_chunk(const StrataHypertable *ht, int64 time, StrataChunkRange *range)
{
	Relation	rel = table_open(ht->relid, AccessShareLock);
	bool		found;

	AcceptInvalidationMessages();
	strata_partitions_settle(rel);
	found = strata_partition_find(RelationGetPartitionKey(rel),
								  RelationGetPartitionDesc(rel, true),
								  ht->key_type,
								  strata_time_to_datum(ht->key_type, time),
								  range) >= 0;
	table_close(rel, AccessShareLock);
	return found;
}

/* See hypertable.h. */
int
strata_chunk_create_range(const StrataHypertable *ht, int64 from, int64 to,
						  Relation used)
{
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "strata new chunks",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	StrataOwnerContext saved;
	StrataChunkRange range;
	int			made = 0;

	strata_owner_enter(strata_relation_owner(ht->relid), &saved);
	for (int64 time = from; time < to; time = range.hi)
	{
		CHECK_FOR_INTERRUPTS();
		if (!find_chunk(ht, time, &range))
		{
			if (used != NULL)
				strata_chunk_create_on_demand(used, time, 0);
			else
				(void) strata_chunk_create(ht->relid, time);
			CommandCounterIncrement();
			made++;
			if (!find_chunk(ht, time, &range))
				elog(ERROR,
					 "the chunk of \"%s\" is not there after it was made",
					 get_rel_name(ht->relid));
		}
		if (range.no_hi)
			break;
		Assert(range.hi > time);	/* hypertable:Y1 */
		MemoryContextReset(scratch);
	}
	strata_owner_leave(&saved);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return made;
}

/* See hypertable.h. */
int
strata_chunk_create_ahead(const StrataHypertable *ht, int64 time, int ahead)
{
	StrataChunkRange range;
	int64		to;

	Assert(ahead >= 0);			/* hypertable:Y10 */
	/* these are made where the distributed table is */
	if (strata_table_is_shard(ht->relid))
		return 0;
	strata_time_chunk_range(ht->key_type, ht->interval, time, &range);
	if (ht->interval < 0)
	{
		for (int i = 0; i < ahead && !range.no_hi; i++)
			strata_time_chunk_range(ht->key_type, ht->interval, range.hi,
									&range);
		to = range.hi;
	}
	else if (range.no_hi || pg_mul_s64_overflow(ht->interval, ahead, &to) ||
			 pg_add_s64_overflow(range.hi, to, &to))
		to = PG_INT64_MAX;
	return strata_chunk_create_range(ht, time, to, NULL);
}
