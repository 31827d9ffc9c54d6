/*-------------------------------------------------------------------------
 *
 * chunk_worker.c
 *	  Makes a chunk for a statement that is inserting into its hypertable.
 *
 * PostgreSQL refuses to attach a partition to a table that the session is
 * using, and a session that did it would keep the locks to its end.  So a
 * background worker joins the session's lock group (it does not wait for what
 * the session holds, and the deadlock detector sees the two as one), makes the
 * chunk and commits.  It stays for a moment, since who needs one chunk soon
 * needs the next, and a process that has read the catalog makes it in a
 * fraction of the time; but not for long, since workers are few.
 *
 * The worker sees committed rows of the catalog only.  Where this transaction
 * itself made or changed the hypertable, the worker would build a chunk of
 * the old form, or over the range of a chunk that it does not see.  Nobody
 * else makes chunks then, so the chunk is made in this process, with the
 * relation made to look unused for that time.  Where others change the
 * hypertable at the same time, a fingerprint of the catalog rows tells.
 *
 * Over 600 lines: the two processes, and what they say to each other.
 *
 * src/hypertable/chunk_worker.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog.h"
#include "hypertable/hypertable_private.h"
#include "pg/pg.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_attrdef.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_trigger.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "port/atomics.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/dsm.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/* How long to wait for a free worker slot. */
#define SLOT_WAIT_MS 60000
#define SLOT_POLL_MS 10

/* How often to ask again when the catalog changes under us. */
#define MAX_TRIES 10

/*
 * How long a worker waits for the next request, and how long it lives: others
 * wait for its slot.
 */
#define LINGER_MS 100
#define LIFE_MS 1000

/* Whose turn it is; changed by compare-and-exchange. */
typedef enum WorkerState
{
	STATE_ASKED = 0,			/* the worker's */
	STATE_ANSWERED,				/* the session's */
	STATE_GONE					/* the worker takes no more requests */
} WorkerState;

typedef enum WorkerResult
{
	WORKER_NONE = 0,			/* it ended without a word */
	WORKER_DONE,
	WORKER_CHANGED,				/* its catalog differs from ours */
	WORKER_FAILED				/* see the error */
} WorkerResult;

/* In dynamic shared memory. */
typedef struct WorkerRequest
{
	pg_atomic_uint32 state;
	Oid			database;
	Oid			hypertable;
	int64		time;
	uint32		fingerprint;
	int			lock_timeout;	/* the session's */
	int			patience;		/* with writers of other tables, see
								 * strata_chunk_lock_to_make() */
	PGPROC	   *leader;
	pid_t		leader_pid;
	Latch	   *worker_latch;	/* set before the first answer */
	WorkerResult result;
	int			sqlstate;
	char		message[1024];
	char		detail[1024];
	char		hint[1024];
} WorkerRequest;

/* The session's worker, as long as it may take requests. */
static dsm_segment *worker_segment = NULL;
static BackgroundWorkerHandle *worker_handle = NULL;
static bool end_registered = false;

PGDLLEXPORT void strata_chunk_worker_main(Datum arg);

/*-------------------------------------------------------------------------
 * Fingerprint
 *-------------------------------------------------------------------------
 */

/* A row's version: who wrote it, and where it is. */
static uint32
hash_row(uint32 hash, HeapTuple tuple)
{
	struct
	{
		TransactionId xmin;
		BlockIdData block;
		OffsetNumber offset;
	}			version;

	memset(&version, 0, sizeof(version));
	version.xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	version.block = tuple->t_self.ip_blkid;
	version.offset = tuple->t_self.ip_posid;
	return hash_combine(hash, hash_bytes((unsigned char *) &version,
										 sizeof(version)));
}

/* All rows of a catalog whose first indexed column is relid. */
static uint32
hash_catalog(uint32 hash, Oid catalog, Oid index, AttrNumber attno, Oid relid)
{
	Relation	rel = table_open(catalog, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, attno, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(rel, index, true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		hash = hash_row(hash, tuple);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return hash;
}

/* See hypertable_private.h. */
uint32
strata_hypertable_fingerprint(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	Form_pg_class form = rel->rd_rel;
	uint32		hash = hash_bytes((unsigned char *) &relid, sizeof(relid));
	ListCell   *lc;

	/* not its own row's version, which every first chunk and index changes */
	hash = hash_combine(hash,
						hash_bytes((unsigned char *) NameStr(form->relname),
								   strlen(NameStr(form->relname))));
	hash = hash_combine(hash, form->relnamespace);
	hash = hash_combine(hash, form->relowner);
	hash = hash_combine(hash, form->relkind);
	hash = hash_combine(hash, form->relpersistence);
	hash = hash_catalog(hash, AttributeRelationId, AttributeRelidNumIndexId,
						Anum_pg_attribute_attrelid, relid);
	hash = hash_catalog(hash, AttrDefaultRelationId, AttrDefaultIndexId,
						Anum_pg_attrdef_adrelid, relid);
	hash = hash_catalog(hash, ConstraintRelationId,
						ConstraintRelidTypidNameIndexId,
						Anum_pg_constraint_conrelid, relid);
	hash = hash_catalog(hash, TriggerRelationId, TriggerRelidNameIndexId,
						Anum_pg_trigger_tgrelid, relid);
	foreach(lc, RelationGetIndexList(rel))
	{
		HeapTuple	tuple = SearchSysCache1(INDEXRELID,
											ObjectIdGetDatum(lfirst_oid(lc)));

		if (HeapTupleIsValid(tuple))
		{
			hash = hash_row(hash, tuple);
			ReleaseSysCache(tuple);
		}
	}
	return hash;
}

/*-------------------------------------------------------------------------
 * The worker
 *-------------------------------------------------------------------------
 */

static void
copy_text(char *to, size_t size, const char *from)
{
	strlcpy(to, from != NULL ? from : "", size);
}

/*
 * The worker's transaction: lock, compare the catalog with the session's, make
 * the chunk.
 */
static WorkerResult
work(WorkerRequest *request)
{
	WorkerResult result = WORKER_CHANGED;
	StrataOwnerContext saved;
	Relation	rel;

	Assert(!IsTransactionState());	/* hypertable:Y3 */
	/* the session waits for us as long as it would wait itself */
	SetConfigOption("lock_timeout", psprintf("%d", request->lock_timeout),
					PGC_SUSET, PGC_S_OVERRIDE);
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (strata_hypertable_owner_enter(request->hypertable, &saved))
	{
		bool		same;

		/* the locks first: what changes under them cannot change any more */
		strata_chunk_lock_to_make(request->hypertable, request->time,
								  request->patience);
		rel = try_table_open(request->hypertable, AccessShareLock);
		same = rel != NULL &&
			rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE &&
			strata_hypertable_fingerprint(rel) == request->fingerprint;
		if (rel != NULL)
			table_close(rel, NoLock);
		if (same)
		{
			(void) strata_chunk_create(request->hypertable, request->time);
			result = WORKER_DONE;
		}
		strata_owner_leave(&saved);
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
	return result;
}

/* Do what is asked; false when it failed. */
static bool
answer(WorkerRequest *request, MemoryContext mcxt)
{
	volatile bool ok = true;

	PG_TRY();
	{
		request->result = work(request);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(mcxt);
		error = CopyErrorData();
		request->sqlstate = error->sqlerrcode;
		copy_text(request->message, sizeof(request->message), error->message);
		copy_text(request->detail, sizeof(request->detail), error->detail);
		copy_text(request->hint, sizeof(request->hint), error->hint);
		request->result = WORKER_FAILED;
		/* the session reports it: no second copy in the log */
		FlushErrorState();
		AbortCurrentTransaction();

		/*
		 * one that waits for nobody's rows, and does not hurry, finds the
		 * moment for the next attempt
		 */
		if (request->sqlstate == ERRCODE_T_R_SERIALIZATION_FAILURE &&
			strata_chunks_ahead > 0)
			strata_chunk_ask_ahead(request->hypertable, request->time, 0);
		ok = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(mcxt);
	return ok;
}

/* Wait for another request; false when there is none. */
static bool
wait_for_request(WorkerRequest *request)
{
	TimestampTz start = GetCurrentTimestamp();
	uint32		expected = STATE_ANSWERED;

	for (;;)
	{
		long		left;
		uint32		state = pg_atomic_read_u32(&request->state);

		left = LINGER_MS -
			TimestampDifferenceMilliseconds(start, GetCurrentTimestamp());
		if (state != STATE_ANSWERED)
		{
			pg_read_barrier();
			return state == STATE_ASKED;
		}
		if (left <= 0)
			break;
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, left,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return !pg_atomic_compare_exchange_u32(&request->state, &expected,
										   STATE_GONE) &&
		expected == STATE_ASKED;
}

/* See hypertable_private.h. */
void
strata_chunk_worker_yield(void)
{
	SetConfigOption("deadlock_timeout", "10ms", PGC_SUSET, PGC_S_OVERRIDE);
}

/* Entry point of the worker process. */
void
strata_chunk_worker_main(Datum arg)
{
	dsm_segment *segment;
	WorkerRequest *request;
	TimestampTz start = GetCurrentTimestamp();
	MemoryContext mcxt = CurrentMemoryContext;
	bool		more = true;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	segment = dsm_attach(DatumGetUInt32(arg));
	if (segment == NULL)
		return;					/* the leader gave up */
	dsm_pin_mapping(segment);
	request = dsm_segment_address(segment);
	if (!BecomeLockGroupMember(request->leader, request->leader_pid))
		return;
	Assert(MyProc->lockGroupLeader == request->leader); /* hypertable:Y3 */
	BackgroundWorkerInitializeConnectionByOid(request->database, InvalidOid,
											  0);
	strata_worker_pin_settings();

	/*
	 * parallel workers could not join the lock group, which is the session's,
	 * and would wait for us as we for them
	 */
	SetConfigOption("max_parallel_maintenance_workers", "0", PGC_USERSET,
					PGC_S_OVERRIDE);
	SetConfigOption("max_parallel_workers_per_gather", "0", PGC_USERSET,
					PGC_S_OVERRIDE);
	strata_chunk_worker_yield();
	request->worker_latch = MyLatch;
	while (more)
	{
		more = answer(request, mcxt) &&
			!TimestampDifferenceExceeds(start, GetCurrentTimestamp(),
										LIFE_MS);
		(void) pg_atomic_exchange_u32(&request->state,
									  more ? STATE_ANSWERED : STATE_GONE);
		SetLatch(&request->leader->procLatch);
		more = more && wait_for_request(request);
	}
}

/*-------------------------------------------------------------------------
 * The session that needs a chunk
 *-------------------------------------------------------------------------
 */

/*
 * Register a worker that reads its request in the segment; waits for a free
 * slot, and ereports when none comes.
 */
static BackgroundWorkerHandle *
start_chunk_worker(dsm_segment *segment, Relation parent)
{
	BackgroundWorker worker;
	BackgroundWorkerHandle *handle;
	TimestampTz start = GetCurrentTimestamp();

	strata_worker_describe(&worker);
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "strata_chunk_worker_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "strata chunk maker for pid %d",
			 MyProcPid);
	snprintf(worker.bgw_type, BGW_MAXLEN, "strata chunk maker");
	worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(segment));
	worker.bgw_notify_pid = MyProcPid;
	while (!RegisterDynamicBackgroundWorker(&worker, &handle))
	{
		if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(),
									   SLOT_WAIT_MS))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("could not make a chunk of hypertable \"%s\": no background worker is free",
							RelationGetRelationName(parent)),
					 errhint("Increase max_worker_processes, or have chunks made ahead.")));
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 SLOT_POLL_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return handle;
}

/*
 * Raise the worker's error as one of ours, or say that it ended without one.
 */
static void
report_failure(Relation parent, const WorkerRequest *request)
{
	if (request->result == WORKER_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not make a chunk of hypertable \"%s\": the background worker ended early",
						RelationGetRelationName(parent)),
				 errhint("The server's log may say why.")));
	ereport(ERROR,
			(errcode(request->sqlstate),
			 errmsg("could not make a chunk of hypertable \"%s\": %s",
					RelationGetRelationName(parent), request->message),
			 request->detail[0] != '\0' ?
			 errdetail_internal("%s", request->detail) :
			 0,
			 request->hint[0] != '\0' ? errhint("%s", request->hint) : 0));
}

/*
 * The worker will soon be gone: wait for that.  Where the leader of a lock
 * group ends first, the last member's PGPROC is lost (up to 15.18 and 16.2 at
 * least); when max_worker_processes of them are, nobody gets a worker any
 * more.
 */
static void
forget_worker(void)
{
	if (worker_handle != NULL)
	{
		HOLD_INTERRUPTS();
		(void) WaitForBackgroundWorkerShutdown(worker_handle);
		RESUME_INTERRUPTS();
		pfree(worker_handle);
	}
	if (worker_segment != NULL)
		dsm_detach(worker_segment);
	worker_segment = NULL;
	worker_handle = NULL;
}

/* The session ends: the worker goes first. */
static void
at_session_end(int code, Datum arg)
{
	WorkerRequest *request;
	uint32		expected = STATE_ANSWERED;

	request = worker_segment != NULL ? dsm_segment_address(worker_segment) :
		NULL;
	if (request == NULL)
		return;
	if (pg_atomic_compare_exchange_u32(&request->state, &expected, STATE_GONE))
		SetLatch(request->worker_latch);
	else if (expected == STATE_ASKED)
		TerminateBackgroundWorker(worker_handle);
	forget_worker();
}

/*
 * Wait for the answer to a request.  Afterwards there is one, or the worker
 * has ended.
 */
static void
wait_for_answer(WorkerRequest *request)
{
	for (;;)
	{
		pid_t		pid;
		BgwHandleStatus status;

		if (pg_atomic_read_u32(&request->state) != STATE_ASKED)
			break;
		status = GetBackgroundWorkerPid(worker_handle, &pid);
		if (status == BGWH_STOPPED)
			break;
		if (status == BGWH_POSTMASTER_DIED)
			ereport(FATAL,
					(errcode(ERRCODE_ADMIN_SHUTDOWN),
					 errmsg("terminating connection due to unexpected postmaster exit")));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	pg_read_barrier();
}

static void
describe_request(WorkerRequest *request, Relation parent, int64 time,
				 int patience)
{
	Assert(parent->rd_rel->relkind ==
		   RELKIND_PARTITIONED_TABLE);	/* hypertable:Y4 */
	request->database = MyDatabaseId;
	request->hypertable = RelationGetRelid(parent);
	request->time = time;
	request->fingerprint = strata_hypertable_fingerprint(parent);
	request->lock_timeout = LockTimeout;
	request->patience = patience;
	request->leader = MyProc;
	request->leader_pid = MyProcPid;
	request->result = WORKER_NONE;
}

/*
 * Hand the request to the worker of an earlier one; false when there is none
 * any more.
 */
static bool
ask_again(Relation parent, int64 time, int patience)
{
	WorkerRequest *request;
	uint32		expected = STATE_ANSWERED;
	Latch	   *latch;

	if (worker_segment == NULL)
		return false;
	request = dsm_segment_address(worker_segment);

	/*
	 * while the turn is ours it does not look at the request, unless it
	 * leaves
	 */
	describe_request(request, parent, time, patience);
	latch = request->worker_latch;
	if (pg_atomic_compare_exchange_u32(&request->state, &expected,
									   STATE_ASKED))
	{
		SetLatch(latch);
		return true;
	}
	forget_worker();
	return false;
}

/* Start a worker with the request. */
static void
ask_new(Relation parent, int64 time, int patience)
{
	dsm_segment *segment = dsm_create(sizeof(WorkerRequest), 0);
	WorkerRequest *request = dsm_segment_address(segment);
	MemoryContext old;

	Assert(worker_segment == NULL &&
		   worker_handle == NULL);	/* hypertable:Y3 */
	memset(request, 0, sizeof(*request));
	pg_atomic_init_u32(&request->state, STATE_ASKED);
	describe_request(request, parent, time, patience);
	BecomeLockGroupLeader();
	if (!end_registered)
		before_shmem_exit(at_session_end, (Datum) 0);
	end_registered = true;
	old = MemoryContextSwitchTo(TopMemoryContext);
	worker_handle = start_chunk_worker(segment, parent);
	MemoryContextSwitchTo(old);
	dsm_pin_mapping(segment);
	worker_segment = segment;
}

/* Have a worker try; false when the catalog differs. */
static bool
ask_worker(Relation parent, int64 time, int patience)
{
	WorkerRequest *request;
	bool		done;

	if (!ask_again(parent, time, patience))
		ask_new(parent, time, patience);
	request = dsm_segment_address(worker_segment);
	/* the worker must not go on for a statement that was cancelled */
	PG_TRY();
	{
		wait_for_answer(request);
		if (request->result == WORKER_NONE || request->result == WORKER_FAILED)
			report_failure(parent, request);
	}
	PG_CATCH();
	{
		TerminateBackgroundWorker(worker_handle);
		forget_worker();
		PG_RE_THROW();
	}
	PG_END_TRY();
	done = request->result == WORKER_DONE;
	if (pg_atomic_read_u32(&request->state) == STATE_GONE)
		forget_worker();
	return done;
}

/* Did this transaction write the row of a catalog? */
static bool
has_written(int cache, Oid oid)
{
	HeapTuple	tuple = SearchSysCache1(cache, ObjectIdGetDatum(oid));
	bool		own;

	if (!HeapTupleIsValid(tuple))
		return false;
	own = TransactionIdIsCurrentTransactionId(
											  HeapTupleHeaderGetXmin(tuple->t_data));
	ReleaseSysCache(tuple);
	return own;
}

/*
 * Is the hypertable this transaction's, or its pg_class row, or what its
 * schema allows?  GRANT and REVOKE take no lock on them.
 */
static bool
is_own(Relation parent)
{
	return parent->rd_createSubid != InvalidSubTransactionId ||
		has_written(RELOID, RelationGetRelid(parent)) ||
		has_written(NAMESPACEOID, RelationGetNamespace(parent));
}

/*
 * Make the chunk in this process although statements of this session have the
 * hypertable open.  What they hold of its relcache entry stays valid: the
 * entry is rebuilt in place, as after another session's ATTACH, and
 * descriptors that may be in use live on to the end of the transaction.
 */
static void
create_here(Relation parent, int64 time)
{
	Oid			relid = RelationGetRelid(parent);
	StrataRelationUse use;

	Assert(is_own(parent) ||
		   CheckRelationLockedByMe(parent, ShareUpdateExclusiveLock,
								   true));	/* hypertable:Y3 */
	use = strata_relation_hide_use(parent);
	/* whatever happens, the count must be what the resource owner thinks */
	PG_TRY();
	{
		(void) strata_chunk_create(relid, time);
		CommandCounterIncrement();
	}
	PG_FINALLY();
	{
		strata_relation_restore_use(parent, use);
	}
	PG_END_TRY();
}

/*
 * A chunk of a shard alone would be none that Citus knows of, and stay behind
 * when the shard moves.
 */
static void
refuse_shard(Relation parent)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("shard \"%s\" has no chunk for the row",
					RelationGetRelationName(parent)),
			 errhint("Make chunks ahead of rows: SELECT create_chunks('hypertable', from, to); on the coordinator.")));
}

/* See hypertable_private.h. */
void
strata_chunk_create_on_demand(Relation parent, int64 time, int patience)
{
	if (strata_table_is_shard(RelationGetRelid(parent)))
		refuse_shard(parent);

	/*
	 * Who attached, detached or dropped chunks in this transaction, or
	 * changed anything else that chunks are made by, holds such a lock.  A
	 * worker does not see what he did, nor does his lock keep it waiting.
	 */
	if (is_own(parent) ||
		CheckRelationLockedByMe(parent, ShareUpdateExclusiveLock, true))
	{
		create_here(parent, time);
		return;
	}
	for (int i = 0; i < MAX_TRIES; i++)
	{
		if (ask_worker(parent, time, patience))
			return;
		AcceptInvalidationMessages();
	}
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("could not make a chunk of hypertable \"%s\": its definition keeps changing",
					RelationGetRelationName(parent))));
}
