/*-------------------------------------------------------------------------
 *
 * chunk_ahead.c
 *	  Chunks made before rows need them, beside the jobs that do it by the
 *	  clock.
 *
 * Two kinds of rows cannot well wait for their chunk.  Where foreign keys lead
 * from or to a hypertable, a new chunk locks the tables at their other end
 * against writers, who may hold out for longer than an INSERT should wait.
 * And rows of logical replication are routed by PostgreSQL's apply worker,
 * which asks nobody before it fails.  So whoever puts the first row into a
 * chunk of such a hypertable has a background worker make the next ones, if
 * there are none: there is a whole interval of time to find a moment for the
 * locks.
 *
 * The first row of a chunk is the one at the first place of its first page:
 * one session puts it there, and no other asks.
 *
 * src/hypertable/chunk_ahead.c
 *-------------------------------------------------------------------------
 */
#include "am/am.h"
#include "hypertable/hypertable_private.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "replication/logicalworker.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/wait_event.h"

/*
 * How long the worker waits for writers, who wait behind it, the first time
 * and the next: it has more patience then.  And how long it leaves them alone
 * in between.
 */
static const char *const lock_timeouts[] = {"1s", "5s", "25s"};
#define PAUSE_MS 1000

/* What a worker is to do, in the fields of its registration. */
typedef struct AheadRequest
{
	Oid			hypertable;
	int32		ahead;			/* how many chunks after that of the time */
	int64		time;
} AheadRequest;

StaticAssertDecl(sizeof(AheadRequest) <= BGW_EXTRALEN, "a request fits");

PGDLLEXPORT void strata_chunk_ahead_main(Datum arg);

/*-------------------------------------------------------------------------
 * Asking
 *-------------------------------------------------------------------------
 */

/* See hypertable_private.h. */
void
strata_chunk_ask_ahead(Oid hypertable, int64 time, int ahead)
{
	AheadRequest request = {.hypertable = hypertable,
		.ahead = ahead,
	.time = time};
	BackgroundWorker worker;

	Assert(ahead >= 0 &&
		   ahead <= STRATA_CHUNKS_AHEAD_MAX);	/* hypertable:Y10 */
	strata_worker_describe(&worker);
	strlcpy(worker.bgw_function_name, "strata_chunk_ahead_main", BGW_MAXLEN);
	strlcpy(worker.bgw_name, "strata chunks ahead", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "strata chunks ahead", BGW_MAXLEN);
	worker.bgw_main_arg = ObjectIdGetDatum(MyDatabaseId);
	memcpy(worker.bgw_extra, &request, sizeof(request));

	/*
	 * without a free slot others ask: at the next chunk's first row, or the
	 * job by its clock
	 */
	(void) RegisterDynamicBackgroundWorker(&worker, NULL);
}

/*
 * Are there fewer chunks after this range than wanted, and will rows come
 * there? Not where somebody fills a hole in the past.
 */
static bool
is_next_missing(Relation parent, const StrataHypertable *ht,
				StrataChunkRange range)
{
	PartitionDesc desc;
	StrataOwnerContext saved;
	bool		missing = false;
	bool		of_today;

	strata_owner_enter(parent->rd_rel->relowner, &saved);
	desc = RelationGetPartitionDesc(parent, true);
	of_today = !strata_time_type_is_integer(ht->key_type) &&
		range.hi > strata_hypertable_now(ht);
	for (int i = 0; i < strata_chunks_ahead && !range.no_hi && !missing; i++)
		missing =
			strata_partition_find(RelationGetPartitionKey(parent), desc,
								  ht->key_type,
								  strata_time_to_datum(ht->key_type, range.hi),
								  &range) < 0;
	strata_owner_leave(&saved);
	return missing && (range.no_hi || of_today);
}

/*
 * strata_am_first_row: a chunk has its first row.  The hypertable is not
 * waited for: who holds it locked may be waiting for the chunk.
 */
static void
ask_at_first_row(Relation chunk)
{
	Oid			parent = get_partition_parent(RelationGetRelid(chunk), true);
	StrataHypertable *ht;
	StrataChunkRange range;
	Oid			key_type;
	Relation	rel;

	Assert(chunk->rd_rel->relispartition);	/* hypertable:Y10 */
	if (strata_chunks_ahead == 0 || !OidIsValid(parent) ||
		(ht = strata_hypertable_get(parent)) == NULL ||
		!strata_chunk_range(RelationGetRelid(chunk), &key_type, &range) ||
		!ConditionalLockRelationOid(parent, AccessShareLock))
		return;
	rel = table_open(parent, NoLock);
	if ((IsLogicalWorker() || strata_foreign_key_tables(rel) != NIL) &&
		!range.no_lo && is_next_missing(rel, ht, range))
		strata_chunk_ask_ahead(parent, range.lo, strata_chunks_ahead);
	table_close(rel, AccessShareLock);
}

/*-------------------------------------------------------------------------
 * The worker
 *-------------------------------------------------------------------------
 */

/*
 * One attempt of several; false when writers did not let go of a lock, with
 * nothing done.
 */
static bool
make_chunks(const AheadRequest *request, int attempt)
{
	MemoryContext mcxt = CurrentMemoryContext;
	volatile bool done = true;

	Assert(!IsTransactionState());	/* hypertable:Y3 */
	SetConfigOption("lock_timeout", lock_timeouts[attempt], PGC_SUSET,
					PGC_S_OVERRIDE);
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	PG_TRY();
	{
		StrataOwnerContext saved;

		if (strata_hypertable_owner_enter(request->hypertable, &saved))
		{
			StrataHypertable *ht = strata_hypertable_get(request->hypertable);

			if (ht != NULL)
				(void) strata_chunk_create_ahead(ht, request->time,
												 request->ahead);
			strata_owner_leave(&saved);
		}
		PopActiveSnapshot();
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		if (attempt == lengthof(lock_timeouts) - 1 ||
			(geterrcode() != ERRCODE_T_R_SERIALIZATION_FAILURE &&
			 geterrcode() != ERRCODE_LOCK_NOT_AVAILABLE))
			PG_RE_THROW();
		MemoryContextSwitchTo(mcxt);
		FlushErrorState();
		AbortCurrentTransaction();
		done = false;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(mcxt);
	return done;
}

/* Entry point of the worker process. */
void
strata_chunk_ahead_main(Datum arg)
{
	AheadRequest request;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	memcpy(&request, MyBgworkerEntry->bgw_extra, sizeof(request));
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(arg),
											  InvalidOid, 0);
	strata_worker_pin_settings();
	strata_chunk_worker_yield();
	for (int attempt = 0; !make_chunks(&request, attempt); attempt++)
	{
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 PAUSE_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* See hypertable_private.h. */
void
strata_ahead_init(void)
{
	strata_am_first_row = ask_at_first_row;
}
