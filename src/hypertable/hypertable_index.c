/*-------------------------------------------------------------------------
 *
 * hypertable_index.c
 *	  CREATE INDEX CONCURRENTLY on a hypertable, and CREATE INDEX with
 *	  strata.transaction_per_chunk: chunk by chunk, in many transactions.
 *
 * The hypertable's index is entered first, invalid (index_define.c); chunks
 * that are made from then on get theirs as they are attached.  Every other
 * chunk's index is built by itself and then made part of it; when all are, the
 * hypertable's becomes valid.
 *
 * What is there is the only state: each step looks at the catalog and does the
 * next thing.  So a run that ended early is gone on with by another.
 *
 * Locks: nothing is held on the hypertable while a chunk's index is built, and
 * nothing is waited for while the chunk is locked but what CREATE INDEX waits
 * for. Others lock the hypertable and its index before chunks: so these are
 * taken at once or not at all.
 *
 * src/hypertable/hypertable_index.c
 *-------------------------------------------------------------------------
 */
#include "base/compat.h"
#include "hypertable/hypertable_private.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "parser/parse_utilcmd.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/portal.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* One run; in memory of its own, which lives through the transactions. */
typedef struct IndexRun
{
	Oid			hypertable;
	Oid			index;			/* the hypertable's */
	bool		concurrent;
	const char *name;			/* the index's, for messages */
	const char *chunk_name;		/* of the chunk that is worked on, or NULL */
	Oid			built;			/* the chunk's index that we built last */
	MemoryContext memory;
} IndexRun;

/* What a chunk has. */
typedef enum ChunkState
{
	CHUNK_GONE,					/* is no chunk of the hypertable any more */
	CHUNK_BARE,					/* has no such index */
	CHUNK_FAILED,				/* has an invalid one, of an attempt that
								 * failed */
	CHUNK_BUILT,				/* has one that is not part of the
								 * hypertable's */
	CHUNK_DONE
} ChunkState;

typedef enum StepResult
{
	STEP_DONE,					/* look again */
	STEP_BUSY,					/* somebody has the hypertable or its index
								 * locked */
	STEP_LAST					/* there is nothing more to do for the chunk */
} StepResult;

/*-------------------------------------------------------------------------
 * Transactions
 *-------------------------------------------------------------------------
 */

/* End the present transaction and begin another, which has no snapshot yet. */
static void
next_transaction(IndexRun *run)
{
	if (ActiveSnapshotSet())
		PopActiveSnapshot();
	CommitTransactionCommand();
	StartTransactionCommand();
	MemoryContextSwitchTo(run->memory);
	CHECK_FOR_INTERRUPTS();
}

/*
 * Whoever waits for a lock does so before, lest others wait for his snapshot.
 */
static void
push_snapshot(void)
{
	PushActiveSnapshot(GetTransactionSnapshot());
}

/*
 * Drop a chunk's index that nobody uses, without shutting anybody out.  The
 * chunk is locked.
 */
static void
drop_index(IndexRun *run, Oid index)
{
	ObjectAddress address;
	ObjectAddresses *addresses = new_object_addresses();

	/*
	 * one that was attached when it became invalid is by itself from here on
	 */
	if (get_rel_relispartition(index))
	{
		Relation	rel = index_open(index, ShareUpdateExclusiveLock);

		IndexSetParentIndex(rel, InvalidOid);
		index_close(rel, NoLock);
	}
	next_transaction(run);
	push_snapshot();
	ObjectAddressSet(address, RelationRelationId, index);
	add_exact_object_address(&address, addresses);

	/*
	 * performDeletion() takes the lock of a DROP INDEX that is not concurrent
	 */
	performMultipleDeletions(addresses, DROP_RESTRICT,
							 PERFORM_DELETION_CONCURRENTLY |
							 PERFORM_DELETION_QUIETLY);
	free_object_addresses(addresses);
}

/*
 * Ereports when the hypertable's index, which is locked, was dropped; what we
 * built for it goes too.
 */
static void
check_index_exists(IndexRun *run)
{
	if (SearchSysCacheExists1(INDEXRELID, ObjectIdGetDatum(run->index)))
		return;
	if (OidIsValid(run->built))
		drop_index(run, run->built);
	ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
					errmsg("index \"%s\" was dropped while it was built",
						   run->name)));
}

/*
 * The lock that has one run at a time work on an index; others' statements do
 * not notice it.
 */
static void
run_lock_tag(IndexRun *run, LOCKTAG *tag)
{
	SET_LOCKTAG_OBJECT(*tag, MyDatabaseId, RelationRelationId, run->index, 0);
}

/*-------------------------------------------------------------------------
 * Chunks
 *-------------------------------------------------------------------------
 */

/*
 * The partitions whose part of the index is missing; foreign tables have none.
 */
static List *
missing_chunks(IndexRun *run)
{
	List	   *done = NIL;
	List	   *missing = NIL;
	ListCell   *lc;

	foreach(lc, find_inheritance_children(run->index, NoLock))
	{
		if (get_index_isvalid(lfirst_oid(lc)))
			done = lappend_oid(done, IndexGetRelation(lfirst_oid(lc), true));
	}
	foreach(lc, find_inheritance_children(run->hypertable, NoLock))
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_RELATION)
			missing = lappend_oid(missing, lfirst_oid(lc));
	}
	list_sort(missing, list_oid_cmp);
	return list_difference_oid(missing, done);
}

/*
 * What the chunk has, and the index in question.  The caller has the chunk
 * locked so that nobody builds indexes concurrently: an invalid one is what an
 * attempt has left.
 */
static ChunkState
look_at_chunk(IndexRun *run, Oid chunk, Oid *found)
{
	ChunkState	state = CHUNK_BARE;
	Relation	parent;
	Relation	index;
	Relation	rel;
	AttrMap    *map;
	ListCell   *lc;

	*found = InvalidOid;
	if (!get_rel_relispartition(chunk) ||
		get_partition_parent(chunk, true) != run->hypertable ||
		(rel = try_table_open(chunk, NoLock)) == NULL)
		return CHUNK_GONE;
	index = index_open(run->index, NoLock);
	parent = table_open(run->hypertable, NoLock);
	map = strata_attrmap_by_name(RelationGetDescr(rel),
								 RelationGetDescr(parent));
	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	candidate = index_open(lfirst_oid(lc), AccessShareLock);
		bool		attached = candidate->rd_rel->relispartition;
		bool		ours;
		bool		valid = candidate->rd_index->indisvalid;
		ChunkState	is;

		ours = attached &&
			get_partition_parent(lfirst_oid(lc), true) == run->index;
		is = valid ? (ours ? CHUNK_DONE : CHUNK_BUILT) : CHUNK_FAILED;

		/*
		 * one that is part of another index, or a constraint's, is not for us
		 * to take
		 */
		if (is > state &&
			(ours ||
			 (!attached && !OidIsValid(get_index_constraint(lfirst_oid(lc))) &&
			  strata_index_is_same(candidate, index, map))))
		{
			state = is;
			*found = lfirst_oid(lc);
		}
		index_close(candidate, NoLock);
	}
	free_attrmap(map);
	table_close(parent, NoLock);
	index_close(index, NoLock);
	table_close(rel, NoLock);
	return state;
}

/*
 * Build the chunk's index, as CREATE INDEX would that was typed for the chunk.
 */
static void
build_part(IndexRun *run, Oid chunk)
{
	Relation	index = index_open(run->index, NoLock);
	Relation	rel = table_open(chunk, NoLock);
	Relation	parent = table_open(run->hypertable, NoLock);
	AttrMap    *map = strata_attrmap_by_name(RelationGetDescr(rel),
											 RelationGetDescr(parent));
	IndexStmt  *stmt = generateClonedIndexStmt(NULL, index, map, NULL);

	free_attrmap(map);
	table_close(parent, NoLock);
	table_close(rel, NoLock);
	index_close(index, NoLock);
	stmt->concurrent = run->concurrent;

	/*
	 * the step's locks go, but for the one on the chunk, which is the
	 * session's
	 */
	next_transaction(run);
	push_snapshot();
	run->built = strata_define_index(chunk, stmt, true).objectId;
}

/* Make the chunk's index part of the hypertable's. */
static void
attach_part(IndexRun *run, Oid index)
{
	Relation	rel = index_open(index, ShareUpdateExclusiveLock);

	IndexSetParentIndex(rel, run->index);
	index_close(rel, NoLock);
}

/* Do the next thing for a chunk, which is locked. */
static StepResult
step(IndexRun *run, Oid chunk)
{
	Oid			found;

	if (!ConditionalLockRelationOid(run->hypertable, AccessShareLock) ||
		!ConditionalLockRelationOid(run->index, ShareUpdateExclusiveLock))
		return STEP_BUSY;
	check_index_exists(run);
	push_snapshot();
	switch (look_at_chunk(run, chunk, &found))
	{
		case CHUNK_BARE:
			/* do not go on for ever */
			if (OidIsValid(run->built))
				elog(ERROR,
					 "index %u of chunk \"%s\" is not what was to be built",
					 run->built, run->chunk_name);
			build_part(run, chunk);
			return STEP_DONE;
		case CHUNK_FAILED:
			drop_index(run, found);
			return STEP_DONE;
		case CHUNK_BUILT:
			attach_part(run, found);
			return STEP_DONE;
		default:
			return STEP_LAST;
	}
}

/* Give the chunk its part of the index. */
static void
work_on_chunk(IndexRun *run, Oid chunk)
{
	/* CREATE INDEX itself takes the same */
	LOCKMODE	lockmode;
	LockRelId	id = {.relId = chunk,.dbId = MyDatabaseId};
	StepResult	result = STEP_BUSY;

	lockmode = run->concurrent ? ShareUpdateExclusiveLock : ShareLock;
	run->built = InvalidOid;
	run->chunk_name = get_rel_name(chunk);
	while (result != STEP_LAST)
	{
		next_transaction(run);
		LockRelationIdForSession(&id, lockmode);
		while ((result = step(run, chunk)) == STEP_DONE)
			next_transaction(run);
		next_transaction(run);
		UnlockRelationIdForSession(&id, lockmode);
		/* wait, with nothing in hand, until whoever has them is through */
		if (result == STEP_BUSY)
		{
			LockRelationOid(run->hypertable, AccessShareLock);
			LockRelationOid(run->index, ShareUpdateExclusiveLock);
		}
	}
	run->chunk_name = NULL;
}

/*
 * When no chunk lacks its part, the hypertable's index is valid; else false.
 */
static bool
finish_index(IndexRun *run)
{
	bool		complete;

	next_transaction(run);

	/*
	 * no chunk is attached while this is held; and in the order of DROP INDEX
	 */
	LockRelationOid(run->hypertable, ShareUpdateExclusiveLock);
	LockRelationOid(run->index, ShareUpdateExclusiveLock);
	check_index_exists(run);
	push_snapshot();
	complete = missing_chunks(run) == NIL;
	if (complete && !get_index_isvalid(run->index))
	{
		index_set_state_flags(run->index, INDEX_CREATE_SET_VALID);
		CacheInvalidateRelcacheByRelid(run->hypertable);
	}
	next_transaction(run);
	return complete;
}

static void
describe_run(void *arg)
{
	IndexRun   *run = arg;

	if (run->chunk_name != NULL)
		errcontext("building index \"%s\" on chunk \"%s\"; CREATE INDEX with IF NOT EXISTS goes on from here",
				   run->name, run->chunk_name);
}

/* All that comes after the first transaction. */
static void
build_all(IndexRun *run)
{
	ErrorContextCallback callback = {.callback = describe_run,
		.arg = run,
	.previous = error_context_stack};
	LOCKTAG		tag;

	next_transaction(run);
	run_lock_tag(run, &tag);
	(void) LockAcquire(&tag, ExclusiveLock, true, false);
	error_context_stack = &callback;
	do
	{
		List	   *chunks;
		ListCell   *lc;

		push_snapshot();
		chunks = missing_chunks(run);
		foreach(lc, chunks)
			work_on_chunk(run, lfirst_oid(lc));
	} while (!finish_index(run));
	error_context_stack = callback.previous;
	LockRelease(&tag, ExclusiveLock, true);
}

/*-------------------------------------------------------------------------
 * The statement
 *-------------------------------------------------------------------------
 */

/*
 * The index that the statement names, if it is one that an earlier run has not
 * finished; *skip: it is there, and there is nothing to do.
 */
static Oid
existing_index(Relation parent, const IndexStmt *stmt, bool *skip)
{
	Oid			relid = InvalidOid;
	bool		unfinished;

	*skip = false;
	if (stmt->idxname != NULL)
		relid = get_relname_relid(stmt->idxname, RelationGetNamespace(parent));
	if (!OidIsValid(relid))
		return InvalidOid;
	unfinished = get_rel_relkind(relid) == RELKIND_PARTITIONED_INDEX &&
		!get_index_isvalid(relid) &&
		IndexGetRelation(relid, true) == RelationGetRelid(parent) &&
		!OidIsValid(get_index_constraint(relid));
	if (!stmt->if_not_exists)
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists", stmt->idxname),
				 unfinished ?
				 errhint("It is not finished. CREATE INDEX with IF NOT EXISTS goes on with it.") :
				 0));
	if (!unfinished)
	{
		ereport(NOTICE, (errcode(ERRCODE_DUPLICATE_TABLE),
						 errmsg("relation \"%s\" already exists, skipping",
								stmt->idxname)));
		*skip = true;
	}
	return relid;
}

/* Partitions that somebody attached and that are no plain tables. */
static void
check_partitions(Relation parent, const IndexStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, find_inheritance_children(RelationGetRelid(parent), NoLock))
	{
		char		relkind = get_rel_relkind(lfirst_oid(lc));

		if (relkind == RELKIND_PARTITIONED_TABLE ||
			(relkind == RELKIND_FOREIGN_TABLE && stmt->unique))
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("cannot create the index of hypertable \"%s\" chunk by chunk",
							RelationGetRelationName(parent)),
					 errdetail(relkind == RELKIND_PARTITIONED_TABLE ?
							   "\"%s\" is a partitioned table." :
							   "\"%s\" is a foreign table.",
							   get_rel_name(lfirst_oid(lc)))));
	}
}

/*
 * The first transaction: enter the hypertable's index, or find it; false:
 * nothing to do.
 */
static bool
begin_chunk(IndexRun *run, const IndexStmt *stmt, const char *query)
{
	Relation	parent;
	StrataHypertable *ht;
	Oid			existing;
	bool		skip;

	run->hypertable = RangeVarGetRelidExtended(stmt->relation,
											   ShareUpdateExclusiveLock, 0,
											   RangeVarCallbackOwnsRelation,
											   NULL);
	ht = strata_hypertable_open(run->hypertable);
	parent = table_open(run->hypertable, NoLock);
	existing = existing_index(parent, stmt, &skip);
	if (!skip)
	{
		check_partitions(parent, stmt);
		run->index = strata_index_define(parent, ht, stmt, query, existing);
		strata_whole_row_refuse(parent);
		run->name = MemoryContextStrdup(run->memory, get_rel_name(run->index));
	}
	table_close(parent, NoLock);
	return !skip;
}

/* See hypertable.h. */
void
strata_hypertable_create_index(IndexStmt *stmt, const char *query)
{
	IndexRun	run = {.concurrent = stmt->concurrent};
	MemoryContext caller = CurrentMemoryContext;
	ObjectAddress address;
	bool		triggers;

	run.memory = AllocSetContextCreate(PortalContext, "strata index build",
									   ALLOCSET_DEFAULT_SIZES);
	triggers = EventTriggerBeginCompleteQuery();
	PG_TRY();
	{
		EventTriggerDDLCommandStart((Node *) stmt);
		if (begin_chunk(&run, stmt, query))
		{
			build_all(&run);
			ObjectAddressSet(address, RelationRelationId, run.index);
			EventTriggerCollectSimpleCommand(address, InvalidObjectAddress,
											 (Node *) stmt);
		}
		EventTriggerDDLCommandEnd((Node *) stmt);
	}
	PG_FINALLY();
	{
		if (triggers)
			EventTriggerEndCompleteQuery();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(run.memory);
}
