/*-------------------------------------------------------------------------
 *
 * job_launcher.c
 *	  The one permanent process: it knows when the jobs of which database are
 *	  to be looked at, sleeps until then, and starts a scheduler there.
 *
 * It is connected to no database, so it never stands in the way of DROP
 * DATABASE, and an idle server has no other process of ours.  It runs only
 * where the server is writable: postmaster starts it after recovery.
 *
 * It sleeps on its latch.  Sessions that change jobs, and workers and
 * schedulers that end, set it; every minute it looks for new databases.
 *
 * Databases take turns.  Whose turn was longest ago is looked at first; a look
 * that found no free worker was none.  Databases whose due jobs wait for a
 * worker are looked at one after the other, when one is free.
 *
 * src/job/job_launcher.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "job/job_private.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/procsignal.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/* How often to look for databases that came or went. */
#define RESCAN_SECONDS 60

/*
 * A scheduler that could not be started is tried again after this, if nobody
 * says that there is room: all max_worker_processes may be taken.
 */
#define RETRY_SECONDS 5

/* A database is looked at this often even if nobody asks. */
#define SAFETY_SECONDS 600

typedef struct Database
{
	Oid			oid;			/* key */
	TimestampTz at;				/* when to start a scheduler */
	bool		starved;		/* its due jobs wait for a worker */
	uint64		turn;			/* number of its latest one; 0: had none */
	uint64		last_turn;		/* of that before the latest look */
	bool		seen;
} Database;

static HTAB *databases;

PGDLLEXPORT void strata_job_launcher_main(Datum arg);

static TimestampTz
in_seconds(int seconds)
{
	return GetCurrentTimestamp() + seconds * USECS_PER_SEC;
}

static Database *
enter_database(Oid oid)
{
	bool		found;
	Database   *database = hash_search(databases, &oid, HASH_ENTER, &found);

	if (!found)
	{
		database->at = 0;
		database->starved = false;
		database->turn = database->last_turn = 0;
	}
	return database;
}

static bool
is_database_known(Oid oid)
{
	return hash_search(databases, &oid, HASH_FIND, NULL) != NULL;
}

/*
 * Read pg_database: new ones are to be looked at, those that are gone are
 * forgotten.
 */
static void
rescan_databases(void)
{
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;
	HASH_SEQ_STATUS status;
	Database   *database;

	hash_seq_init(&status, databases);
	while ((database = hash_seq_search(&status)) != NULL)
		database->seen = false;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_database form = (Form_pg_database) GETSTRUCT(tuple);

		if (form->datallowconn && !form->datistemplate)
			enter_database(form->oid)->seen = true;
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	CommitTransactionCommand();

	hash_seq_init(&status, databases);
	while ((database = hash_seq_search(&status)) != NULL)
		if (!database->seen)
			(void) hash_search(databases, &database->oid, HASH_REMOVE, NULL);
	strata_job_forget_databases(is_database_known);
}

/*
 * Take over what sessions and workers asked for; true if one is of an unknown
 * database.
 */
static bool
take_wakes(void)
{
	static uint32 last_freed = 0;
	JobShared  *shared = strata_job_shared;
	JobWake		wakes[WAKE_ENTRIES];
	int			nwakes;
	bool		all,
				freed,
				unknown = false;
	HASH_SEQ_STATUS status;
	Database   *database;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	nwakes = shared->nwakes;
	memcpy(wakes, shared->wakes, sizeof(JobWake) * nwakes);
	shared->nwakes = 0;
	all = shared->wake_all;
	shared->wake_all = false;
	freed = shared->freed != last_freed;
	last_freed = shared->freed;
	LWLockRelease(shared->lock);

	for (int i = 0; i < nwakes; i++)
	{
		database = hash_search(databases, &wakes[i].database, HASH_FIND, NULL);
		if (database == NULL)
			unknown = true;
		else
		{
			database->at = Min(database->at, wakes[i].at);
			database->starved |= wakes[i].look.starved;
			if (wakes[i].look.starved && !wakes[i].look.started)
				database->turn = database->last_turn;
		}
	}
	if (all || freed)
	{
		hash_seq_init(&status, databases);
		while ((database = hash_seq_search(&status)) != NULL)
			if (all || database->starved)
				database->at = 0;
	}
	return unknown;
}

static int
compare_turns(const ListCell *a, const ListCell *b)
{
	const Database *x = lfirst(a);
	const Database *y = lfirst(b);

	return x->turn < y->turn ? -1 : x->turn > y->turn;
}

/* The databases to look at, in turn; *next: when another one is due. */
static List *
list_due(TimestampTz *next)
{
	TimestampTz now = GetCurrentTimestamp();
	List	   *due = NIL;
	HASH_SEQ_STATUS status;
	Database   *database;

	*next = DT_NOEND;
	hash_seq_init(&status, databases);
	while ((database = hash_seq_search(&status)) != NULL)
		if (database->at > now)
			*next = Min(*next, database->at);
		else
			due = lappend(due, database);
	list_sort(due, compare_turns);
	return due;
}

/*
 * Start schedulers where it is time.  Returns when the next one is due; what
 * could not be started now is when a process of ours has gone.
 */
static TimestampTz
start_schedulers(void)
{
	static Oid	looked_at = InvalidOid; /* the latest that was starved */
	static uint64 turns = 0;
	TimestampTz next;
	List	   *due;
	ListCell   *lc;
	bool		may_feed = strata_job_slot_free() &&
	!(OidIsValid(looked_at) && strata_job_slot_taken(looked_at, 0));

	if (strata_max_job_workers == 0)
		return DT_NOEND;
	due = list_due(&next);
	foreach(lc, due)
	{
		Database   *database = lfirst(lc);
		bool		running;

		if ((!database->starved || may_feed) &&
			strata_job_start_worker(database->oid, 0, InvalidOid, &running))
		{
			if (database->starved)
			{
				looked_at = database->oid;
				may_feed = false;
			}
			database->at = in_seconds(SAFETY_SECONDS);
			database->starved = false;
			database->last_turn = database->turn;
			database->turn = ++turns;
			next = Min(next, database->at);
		}
		else
			next = Min(next, in_seconds(RETRY_SECONDS));
	}
	list_free(due);
	return next;
}

static void
launcher_gone(int code, Datum arg)
{
	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	strata_job_shared->launcher = NULL;
	LWLockRelease(strata_job_shared->lock);
}

/* The process. */
void
strata_job_launcher_main(Datum arg)
{
	HASHCTL		ctl;
	TimestampTz rescan_at = 0;
	TimestampTz last = 0;

	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	pgstat_report_appname("strata launcher");

	memset(&ctl, 0, sizeof(ctl));
	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(Database);
	databases = hash_create("strata databases", 32, &ctl,
							HASH_ELEM | HASH_BLOBS);
	before_shmem_exit(launcher_gone, 0);
	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	strata_job_shared->launcher = MyLatch;
	LWLockRelease(strata_job_shared->lock);

	for (;;)
	{
		TimestampTz next;
		bool		unknown;

		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		/* exit code 1: started again, unless the server shuts down */
		if (ShutdownRequestPending)
			proc_exit(1);
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
			/* strata.max_job_workers may have changed */
			strata_job_wake_all();
		}
		/* the clock was set back: what is to come would be too late */
		if (GetCurrentTimestamp() < last)
		{
			strata_job_wake_all();
			rescan_at = 0;
		}
		last = GetCurrentTimestamp();
		unknown = take_wakes();
		if (unknown || last >= rescan_at)
		{
			rescan_databases();
			rescan_at = in_seconds(RESCAN_SECONDS);
		}
		Assert(!OidIsValid(MyDatabaseId) &&
			   !IsTransactionState());	/* job:J5 */
		next = Min(start_schedulers(), rescan_at);
		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 TimestampDifferenceMilliseconds(GetCurrentTimestamp(),
														 next),
						 PG_WAIT_EXTENSION);
	}
}
