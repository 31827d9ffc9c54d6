/*-------------------------------------------------------------------------
 *
 * job_space.c
 *	  Gives back the space of rows that were compressed, soon after the commit.
 *
 * The dead rows, and batches, that compression leaves can go once its
 * transaction has committed and no snapshot is older; autovacuum would see to
 * the table within minutes, and never to its indexes.  The transaction enters
 * its tables in a queue (catalog_space.c); one process per database works it
 * off: VACUUM, then what VACUUM cannot make shorter is made anew, which are
 * the indexes that the rows left behind empty, and a companion or a row store
 * that is free space for the most part.  A table that nobody has analysed yet,
 * as is one that was just loaded, it analyses.  What meets an old snapshot or
 * somebody else's lock is tried again, after longer and longer times, up to a
 * minute.
 * docs/adr/027.
 *
 * Over 600 lines: one process, from its queue to a table's last index.
 *
 * src/job/job_space.c
 *-------------------------------------------------------------------------
 */
#include "job/job_private.h"

#include "base/base.h"
#include "compress/compress.h"
#include "store/store_companion.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "am/am.h"
#include "base/compat.h"
#include "catalog/index.h"
#include "commands/cluster.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "nodes/makefuncs.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/catcache.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/*
 * Batches of fewer pages are not worth maps of free space, and of what all
 * see: three pages and one.
 */
#define MIN_MAP_PAGES 512

/*
 * Indexes are made anew under a lock that nobody else has beside it, where the
 * table is no larger than this: some tenths of a second.
 */
#define MAX_REINDEX_PAGES 4096

/*
 * An index is made anew when it has these pages more than twice the table's,
 * or more than one beside an empty table.
 */
#define MIN_INDEX_PAGES 4

/*
 * Tries after which dead rows on pages that others hold are let be, and pages
 * that VACUUM does not take away, as where old_snapshot_threshold is set.
 */
#define MAX_TRIES 10

/*
 * How long a table may take, and for each of its pages more: index expressions
 * are code of its owner's, which may take as long as it wants.  No pace of
 * autovacuum's is that slow.
 */
#define TABLE_MS 60000
#define PAGE_MS 10

/* How long to wait for a lock before the next table is taken. */
#define LOCK_TIMEOUT "1s"

/*
 * Where no launcher would start another one, the process waits this long for
 * what could not be done at once.
 */
#define LINGER_SECONDS 60

/* Without a launcher: start a process when the transaction commits. */
static bool start_at_commit = false;

PGDLLEXPORT void strata_space_main(Datum arg);

/* Start a process outside of the slots.  After the commit: must not raise. */
static void
start_worker(void)
{
	BackgroundWorker worker;

	strata_worker_describe(&worker);
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "strata_space_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "strata space of database %u",
			 MyDatabaseId);
	snprintf(worker.bgw_type, BGW_MAXLEN, "strata space");
	worker.bgw_main_arg = Int32GetDatum(-1);
	memcpy(worker.bgw_extra, &MyDatabaseId, sizeof(Oid));
	(void) RegisterDynamicBackgroundWorker(&worker, NULL);
}

static void
space_transaction_end(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT && start_at_commit)
		start_worker();
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		start_at_commit = false;
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
strata_space_reclaim_later(Relation rel, bool batches_went)
{
	static bool registered = false;

	if (!strata_background_vacuum ||
		rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP ||
		!strata_job_tables_exist())
		return;

	/*
	 * batches that stay are for VACUUM to note that all see them:
	 * store_count.c
	 */
	strata_space_queue_add(RelationGetRelid(rel),
						   batches_went || has_batch_pages(rel,
														   MIN_MAP_PAGES));
	strata_job_wake_at_commit();
	if (!registered)
		RegisterXactCallback(space_transaction_end, NULL);
	registered = true;
	start_at_commit = !strata_job_preloaded();
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

/* Make the relation's indexes anew that are far larger than what they index. */
static void
shrink_indexes(Relation rel)
{
	ReindexParams params = {0};
	uint64		pages = RelationGetNumberOfBlocks(rel);
	uint64		limit = pages == 0 ? 1 : MIN_INDEX_PAGES + 2 * pages;
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

/* False: somebody uses the batches. */
static bool
shrink_companion(Relation rel)
{
	Oid			companion = strata_companion_oid(rel);

	if (!OidIsValid(companion))
		return true;
	if (!ConditionalLockRelationOid(companion, AccessExclusiveLock))
		return false;
	if (strata_companion_is_bloated(companion))
	{
		strata_store_fill_missing(rel);
		strata_companion_rewrite(companion);
	}
	return true;
}

/*
 * Copy the row store, where rows lie behind pages that have none; its indexes
 * are made anew on the way.  The companion is renamed then: where somebody
 * uses it (autovacuum does, for long) nothing is copied in vain, and nobody
 * made to wait.  Returns the relation, opened again, as that is not done with
 * somebody's hand on it.
 */
static Relation
shrink_row_store(Relation rel, bool *rewritten)
{
	Oid			relid = RelationGetRelid(rel);
	Oid			companion = strata_companion_oid(rel);

	*rewritten = strata_row_store_is_bloated(rel) &&
		(!OidIsValid(companion) ||
		 ConditionalLockRelationOid(companion, AccessExclusiveLock));
	if (!*rewritten)
		return rel;
	relation_close(rel, NoLock);
	strata_am_keep_batches = true;
	strata_cluster_rel(relid);
	strata_am_keep_batches = false;
	CommandCounterIncrement();
	return relation_open(relid, NoLock);
}

/*
 * After VACUUM has truncated the table: what is left to copy is small, and so
 * is the time that the lock is held.  False: it could not be had at once; or
 * VACUUM could not have it (it says nothing then), and what is measured by the
 * table's pages would be measured wrongly.  *rewritten: the row store is new,
 * and no VACUUM has seen it.
 */
static bool
shrink(Oid relid, bool last_try, bool *rewritten)
{
	bool		done = false;

	*rewritten = false;
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (ConditionalLockRelationOid(relid, AccessExclusiveLock))
	{
		Relation	rel = try_relation_open(relid, NoLock);

		done = rel == NULL || last_try || !strata_store_may_be_truncated(rel);
		strata_am_trust_batches = true;
		if (rel != NULL && done)
			rel = shrink_row_store(rel, rewritten);
		if (rel != NULL && done &&
			RelationGetNumberOfBlocks(rel) < MAX_REINDEX_PAGES)
			shrink_table_indexes(rel);
		if (rel != NULL)
			done = shrink_companion(rel) && done;
		strata_am_trust_batches = false;
		if (rel != NULL)
			relation_close(rel, NoLock);
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
	return done;
}

/* What a table and its batches take, indexes included. */
static int64
total_pages(Relation rel)
{
	Oid			parts[2] = {RelationGetRelid(rel), strata_companion_oid(rel)};
	int64		bytes = 0;

	for (int i = 0; i < lengthof(parts); i++)
		if (OidIsValid(parts[i]))
			bytes += DatumGetInt64(DirectFunctionCall1(pg_total_relation_size,
													   ObjectIdGetDatum(parts[i])));
	return bytes / BLCKSZ;
}

/*
 * Is it a table of ours still?  Its OID may have come to be another's.  From
 * now on it may take as long as its size allows.
 */
static bool
is_table_of_ours(Oid relid)
{
	bool		result = false;
	Relation	rel;

	StartTransactionCommand();
	if (ConditionalLockRelationOid(relid, AccessShareLock))
	{
		rel = try_relation_open(relid, NoLock);
		if (rel != NULL)
		{
			result = strata_relation_is_strata(rel);
			if (result)
				strata_limit_begin((int) Min(TABLE_MS +
											 PAGE_MS * total_pages(rel),
											 PG_INT32_MAX));
			relation_close(rel, NoLock);
		}
	}
	else
		result = true;
	CommitTransactionCommand();
	return result;
}

/* Dead rows that VACUUM left behind. */
static bool
has_dead_rows(Oid relid)
{
	int64		dead;

	StartTransactionCommand();
	dead = DatumGetInt64(DirectFunctionCall1(pg_stat_get_dead_tuples,
											 ObjectIdGetDatum(relid)));
	CommitTransactionCommand();
	return dead > 0;
}

/*
 * Vacuum one table, have it, its indexes and its companion made short.  NULL
 * when all of that is done, or what it waits for.
 */
static const char *
reclaim(const StrataSpaceEntry *entry)
{
	bool		last_try = entry->tries >= MAX_TRIES;
	bool		truncate;
	bool		rewritten;
	bool		done;

	if (!is_table_of_ours(entry->relid))
		return NULL;
	strata_am_vacuum_batches = entry->batches;
	vacuum_table(entry->relid, false);

	/*
	 * the dead rows are gone: a second pass has nothing to read and holds its
	 * lock briefly
	 */
	StartTransactionCommand();
	truncate = can_truncate(entry->relid);
	CommitTransactionCommand();
	if (!truncate)
		return "lock";
	vacuum_table(entry->relid, true);
	done = shrink(entry->relid, last_try, &rewritten);
	if (rewritten)
		vacuum_table(entry->relid, false);
	if (!done)
		return "lock";
	return has_dead_rows(entry->relid) && !last_try ? "lock" : NULL;
}

/* The same; what was raised is in the server's log, and its text returned. */
static const char *
reclaim_safely(const StrataSpaceEntry *entry, MemoryContext mcxt)
{
	const char *volatile waits_for = NULL;

	strata_limit_begin(TABLE_MS);
	PG_TRY();
	{
		waits_for = reclaim(entry);
		(void) strata_limit_end();
	}
	PG_CATCH();
	{
		ErrorData  *edata;
		bool		limited = strata_limit_end();

		HOLD_INTERRUPTS();
		MemoryContextSwitchTo(mcxt);
		edata = CopyErrorData();
		if (edata->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
			waits_for = "lock";
		else
		{
			EmitErrorReport();
			/* what is slow for good is left to autovacuum */
			waits_for = !limited ? edata->message :
				entry->tries >= MAX_TRIES ? NULL : "functions of its owner that took too long";
		}
		AbortOutOfAnyTransaction();
		FlushErrorState();
		strata_am_trust_batches = false;
		strata_am_keep_batches = false;
		RESUME_INTERRUPTS();
	}
	PG_END_TRY();
	strata_am_vacuum_batches = false;
	MemoryContextSwitchTo(mcxt);
	return waits_for;
}

/* The oldest transaction whose end some snapshot may not see. */
static uint64
removal_horizon(void)
{
	FullTransactionId next = ReadNextFullTransactionId();
	Relation	rel = table_open(strata_space_queue_relation(),
								 AccessShareLock);
	TransactionId oldest = GetOldestNonRemovableTransactionId(rel);

	table_close(rel, AccessShareLock);
	return U64FromFullTransactionId(next) -
		(uint32) (XidFromFullTransactionId(next) - oldest);
}

/*
 * One transaction on the queue: the next table, if there is one; if not, when
 * to look again.  What has to wait for a snapshot is postponed at the
 * beginning and the end of a pass, so that it does not stand in the way of
 * every other table, and is not due at once again.
 */
static bool
take_table(StrataSpaceEntry *entry, bool first, TimestampTz *next)
{
	bool		found = false;

	*next = DT_NOEND;
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (strata_job_tables_lock())
	{
		uint64		horizon = removal_horizon();

		if (first)
			strata_space_queue_hold(horizon);
		found = strata_space_queue_take(horizon, entry);
		if (!found)
		{
			strata_space_queue_hold(horizon);
			*next = strata_job_earliest();
		}
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
	return found;
}

static void
finish_table(const StrataSpaceEntry *entry, const char *waits_for)
{
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (strata_job_tables_lock())
		strata_space_queue_finish(entry, waits_for);
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/* As slow as autovacuum, and as patient. */
static void
set_pace(void)
{
	const char *delay = GetConfigOption("autovacuum_vacuum_cost_delay", false,
										false);
	const char *limit = GetConfigOption("autovacuum_vacuum_cost_limit", false,
										false);

	if (strtod(delay, NULL) >= 0)
		SetConfigOption("vacuum_cost_delay", delay, PGC_SUSET,
						PGC_S_OVERRIDE);
	if (strtol(limit, NULL, 10) > 0)
		SetConfigOption("vacuum_cost_limit", limit, PGC_SUSET,
						PGC_S_OVERRIDE);
	SetConfigOption("lock_timeout", LOCK_TIMEOUT, PGC_SUSET, PGC_S_OVERRIDE);
}

/* Work off what is due; when to look again. */
static TimestampTz
work_off(bool in_slot)
{
	StrataSpaceEntry entry;
	TimestampTz next;
	instr_time	start;

	INSTR_TIME_SET_CURRENT(start);
	for (bool first = true; take_table(&entry, first, &next); first = false)
	{
		MemoryContext mcxt = AllocSetContextCreate(TopMemoryContext,
												   "strata space",
												   ALLOCSET_DEFAULT_SIZES);

		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
			set_pace();
		}
		pgstat_report_activity(STATE_RUNNING, "giving back space");
		finish_table(&entry, reclaim_safely(&entry, mcxt));
		pgstat_report_stat(true);
		MemoryContextSwitchTo(TopMemoryContext);
		MemoryContextDelete(mcxt);
		/* jobs wait for the worker that this one is: go, and come back */
		if (in_slot && strata_job_had_turn(start) &&
			(strata_job_others_starve() || strata_job_starved_since() != 0))
			return GetCurrentTimestamp();
	}
	return next;
}

/*
 * The process: in a slot, started by the scheduler, or on its own, where no
 * launcher is.
 */
void
strata_space_main(Datum arg)
{
	bool		in_slot = DatumGetInt32(arg) >= 0;
	Oid			database;
	TimestampTz next;

	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	if (in_slot && !strata_job_slot_attach())
		proc_exit(0);
	if (in_slot)
		database = strata_job_slot_database();
	else
		memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof(Oid));
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	strata_worker_pin_settings();
	pgstat_report_appname("strata space");
	set_pace();
	if (in_slot)
		strata_job_slot_connected();

	next = work_off(in_slot);
	if (!in_slot)
	{
		TimestampTz until = GetCurrentTimestamp() +
		LINGER_SECONDS * USECS_PER_SEC;

		while (next < until)
		{
			(void) WaitLatch(MyLatch,
							 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
							 TimestampDifferenceMilliseconds(GetCurrentTimestamp(),
															 next) + 1,
							 PG_WAIT_EXTENSION);
			ResetLatch(MyLatch);
			CHECK_FOR_INTERRUPTS();
			next = work_off(false);
		}
	}
	else
		strata_job_wake_at_exit(next, NULL);
	proc_exit(0);
}
