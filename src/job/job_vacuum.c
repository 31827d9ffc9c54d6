/*-------------------------------------------------------------------------
 *
 * job_vacuum.c
 *	  Gives back the space of rows that were compressed, soon after the commit.
 *
 * The dead rows, and batches, that compression leaves can go once its
 * transaction has committed and no snapshot is older; autovacuum would see to
 * it within minutes.  A background worker made at commit runs VACUUM on the
 * table right away, and makes anew what VACUUM cannot make shorter: indexes
 * that the rows left behind empty, and a companion that is free space for the
 * most part. A table that nobody has analysed yet, as is one that was just
 * loaded, it analyses. Nothing depends on it: without a free worker slot, or
 * with somebody holding an old snapshot, autovacuum remains.
 *
 * src/job/job_vacuum.c
 *-------------------------------------------------------------------------
 */
#include "job/job_private.h"

#include "base/base.h"
#include "hypertable/hypertable.h"
#include "compress/compress.h"
#include "store/store_companion.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "am/am.h"
#include "base/compat.h"
#include "catalog/index.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "postmaster/bgworker.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/fmgrprotos.h"
#include "utils/catcache.h"
#include "utils/wait_event.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/*
 * Row stores, and replaced batches, below this many pages are not worth a
 * process.
 */
#define MIN_PAGES 256
#define MIN_BATCH_PAGES 32

/*
 * Batches of fewer pages are not worth maps of free space, and of what all
 * see: three pages and one.
 */
#define MIN_MAP_PAGES 512

/*
 * An index is made anew when it has these pages more than four times the
 * table's.
 */
#define MIN_INDEX_PAGES 32

/* How often, ten times a second, to look for a moment to truncate. */
#define TRUNCATE_TRIES 100

/* Tables to vacuum when the transaction commits; in TopTransactionContext. */
static List *pending = NIL;
static List *pending_batches =
NIL;							/* those of which batches are to be vacuumed */

PGDLLEXPORT void strata_vacuum_main(Datum arg);

/* Start a worker for one table.  Runs after the commit: must not raise. */
static void
start_worker(Oid relid, bool batches)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	snprintf(worker.bgw_library_name, BGW_MAXLEN, "strata");
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "strata_vacuum_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "strata vacuum of relation %u",
			 relid);
	snprintf(worker.bgw_type, BGW_MAXLEN, "strata vacuum");
	worker.bgw_main_arg = ObjectIdGetDatum(relid);
	memcpy(worker.bgw_extra, &MyDatabaseId, sizeof(Oid));
	worker.bgw_extra[sizeof(Oid)] = batches;
	(void) RegisterDynamicBackgroundWorker(&worker, NULL);
}

static void
vacuum_transaction_end(XactEvent event, void *arg)
{
	ListCell   *lc;

	if (event == XACT_EVENT_COMMIT)
		foreach(lc, pending)
			start_worker(lfirst_oid(lc),
						 list_member_oid(pending_batches, lfirst_oid(lc)));
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		pending = pending_batches = NIL;
}

/* Are the companion's files that large? */
static bool
has_batch_pages(Relation rel, int npages)
{
	Oid			companion = strata_companion_oid(rel);

	return OidIsValid(companion) &&
		DatumGetInt64(DirectFunctionCall1(pg_table_size,
										  ObjectIdGetDatum(companion))) >=
		(int64) npages * BLCKSZ;
}

/* See job.h. */
void
strata_vacuum_later(Relation rel, bool batches_went, bool always)
{
	static bool registered = false;
	MemoryContext old;

	if (!strata_background_vacuum ||
		rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP ||
		(!always && RelationGetNumberOfBlocks(rel) < MIN_PAGES &&
		 !(batches_went && has_batch_pages(rel, MIN_BATCH_PAGES))))
		return;
	if (!registered)
	{
		RegisterXactCallback(vacuum_transaction_end, NULL);
		registered = true;
	}
	old = MemoryContextSwitchTo(TopTransactionContext);
	pending = list_append_unique_oid(pending, RelationGetRelid(rel));

	/*
	 * batches that stay are for VACUUM to note that all see them:
	 * store_count.c
	 */
	if (batches_went || has_batch_pages(rel, MIN_MAP_PAGES))
		pending_batches = list_append_unique_oid(pending_batches,
												 RelationGetRelid(rel));
	MemoryContextSwitchTo(old);
}

/*
 * Could the table be truncated now?  VACUUM would try for five seconds, during
 * which its lock makes ANALYZE and compression of the table wait; autovacuum
 * gives way to them, a worker of ours does not.
 */
static bool
can_truncate(Oid relid)
{
	if (!ConditionalLockRelationOid(relid, AccessExclusiveLock))
		return false;
	UnlockRelationOid(relid, AccessExclusiveLock);
	return true;
}

/* Does the planner know anything of the table's values? */
static bool
has_statistics(Oid relid)
{
	CatCList   *list = SearchSysCacheList1(STATRELATTINH,
										   ObjectIdGetDatum(relid));
	bool		result = list->n_members > 0;

	ReleaseSysCacheList(list);
	return result;
}

/* The statement VACUUM (TRUNCATE ..., ANALYZE ...) schema.table. */
static PlannedStmt *
vacuum_statement(Oid relid, bool truncate)
{
	VacuumStmt *vacuum = makeNode(VacuumStmt);
	PlannedStmt *stmt = makeNode(PlannedStmt);
	RangeVar   *name =
	makeRangeVar(get_namespace_name(get_rel_namespace(relid)),
				 get_rel_name(relid), -1);

	vacuum->options =
		list_make2(makeDefElem("truncate",
							   (Node *) makeString(truncate ? "on" : "off"),
							   -1),
				   makeDefElem("analyze",
							   (Node *) makeString(has_statistics(relid) ?
												   "off" :
												   "on"),
							   -1));
	vacuum->rels = list_make1(makeVacuumRelation(name, relid, NIL));
	vacuum->is_vacuumcmd = true;
	stmt->commandType = CMD_UTILITY;
	stmt->canSetTag = true;
	stmt->utilityStmt = (Node *) vacuum;
	return stmt;
}

/* Run one VACUUM, in transactions of its own. */
static void
vacuum_table(Oid relid, bool truncate)
{
	MemoryContext mcxt = AllocSetContextCreate(TopMemoryContext,
											   "strata vacuum",
											   ALLOCSET_DEFAULT_SIZES);

	StartTransactionCommand();
	if (get_rel_name(relid) != NULL)
	{
		PlannedStmt *stmt;

		/* VACUUM ends this transaction: what it is given must outlive that */
		MemoryContextSwitchTo(mcxt);
		stmt = vacuum_statement(relid, truncate);
		PushActiveSnapshot(GetTransactionSnapshot());
		ProcessUtility(stmt, "VACUUM", false, PROCESS_UTILITY_TOPLEVEL, NULL,
					   NULL, None_Receiver, NULL);
		if (ActiveSnapshotSet())
			PopActiveSnapshot();
	}
	CommitTransactionCommand();
	MemoryContextDelete(mcxt);
}

/*
 * Make the relation's indexes anew that are far larger than what they index.
 */
static void
shrink_indexes(Relation rel)
{
	ReindexParams params = {0};
	uint64		limit = MIN_INDEX_PAGES +
	4 * (uint64) RelationGetNumberOfBlocks(rel);
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessExclusiveLock);
		bool		bloated = index->rd_index->indisvalid &&
		RelationGetNumberOfBlocks(index) > limit;
		char		persistence = index->rd_rel->relpersistence;

		index_close(index, NoLock);
		if (bloated)
			strata_reindex_index(lfirst_oid(lc), persistence, &params);
	}
	list_free(indexes);
}

/* The table's indexes and its TOAST table's. */
static void
shrink_table_indexes(Relation rel)
{
	shrink_indexes(rel);
	if (OidIsValid(rel->rd_rel->reltoastrelid))
	{
		Relation	toast = table_open(rel->rd_rel->reltoastrelid,
									   AccessExclusiveLock);

		shrink_indexes(toast);
		table_close(toast, NoLock);
	}
}

static void
shrink_companion(Relation rel)
{
	Oid			companion = strata_companion_oid(rel);

	if (OidIsValid(companion) &&
		ConditionalLockRelationOid(companion, AccessExclusiveLock) &&
		strata_companion_is_bloated(companion))
	{
		strata_store_fill_missing(rel);
		strata_companion_rewrite(companion);
	}
}

/*
 * After VACUUM has truncated the table, if it is ours at once: what is left to
 * copy is small, and so is the time that the lock is held.
 */
static void
shrink(Oid relid)
{
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (ConditionalLockRelationOid(relid, AccessExclusiveLock))
	{
		Relation	rel = try_relation_open(relid, NoLock);

		strata_am_trust_batches = true; /* the process ends if this fails */
		if (rel != NULL && RelationGetNumberOfBlocks(rel) < MIN_PAGES)
			shrink_table_indexes(rel);
		if (rel != NULL)
			shrink_companion(rel);
		strata_am_trust_batches = false;
		if (rel != NULL)
			relation_close(rel, NoLock);
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/* Wait for a moment in which nobody uses the table; false when none comes. */
static bool
wait_for_truncation(Oid relid)
{
	for (int i = 0; i < TRUNCATE_TRIES; i++)
	{
		bool		now;

		StartTransactionCommand();
		now = can_truncate(relid);
		CommitTransactionCommand();
		if (now)
			return true;
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 100L,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	return false;
}

/*
 * The worker: vacuum one table, have it, its indexes and its companion made
 * short, and go.
 */
void
strata_vacuum_main(Datum arg)
{
	Oid			relid = DatumGetObjectId(arg);
	Oid			database;

	memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof(Oid));
	strata_am_vacuum_batches = MyBgworkerEntry->bgw_extra[sizeof(Oid)];
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	strata_worker_pin_settings();

	vacuum_table(relid, false);

	/*
	 * the dead rows are gone: a second pass has nothing to read and holds its
	 * lock briefly
	 */
	if (wait_for_truncation(relid))
	{
		vacuum_table(relid, true);
		if (wait_for_truncation(relid))
			shrink(relid);
	}
	proc_exit(0);
}
