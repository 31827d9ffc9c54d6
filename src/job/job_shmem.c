/*-------------------------------------------------------------------------
 *
 * job_shmem.c
 *	  The shared memory of jobs: places of workers, and wishes to be woken.
 *
 * One LWLock guards all of it; it is held for a few instructions.  After a
 * crash of the server the memory is made anew, empty.
 *
 * src/job/job_shmem.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "job/job_private.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "utils/timestamp.h"

/* A reserved slot whose worker did not come is free again after this. */
#define START_TIMEOUT_SECONDS 60

/* When the launcher looks after a worker that ended without a word. */
#define AFTER_CRASH_SECONDS 1

JobShared  *strata_job_shared = NULL;

static shmem_request_hook_type previous_request = NULL;
static shmem_startup_hook_type previous_startup = NULL;

/*
 * With so many workers one is kept for what is no user's job, and with so many
 * another one for what came with the extension.
 */
#define KEPT_FROM 3
#define KEPT_OWN_FROM 5

/* This worker's slot and start data. */
static int	my_slot = -1;
static Oid	my_database;
static Oid	my_role;
static bool connected = false;
static bool told = false;
static TimestampTz exit_wake;
static JobLook exit_look;

/* Session: jobs changed in this transaction. */
static bool wake_at_commit = false;

/* What travels in bgw_extra. */
typedef struct StartData
{
	Oid			database;
	Oid			role;
	uint32		generation;
} StartData;

static void
request_memory(void)
{
	if (previous_request)
		previous_request();
	RequestAddinShmemSpace(MAXALIGN(sizeof(JobShared)));
	RequestNamedLWLockTranche("strata_job", 1);
}

static void
make_memory(void)
{
	bool		found;

	if (previous_startup)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	strata_job_shared = ShmemInitStruct("strata jobs", sizeof(JobShared),
										&found);
	if (!found)
	{
		memset(strata_job_shared, 0, sizeof(JobShared));
		strata_job_shared->lock = &(GetNamedLWLockTranche("strata_job"))->lock;
	}
	LWLockRelease(AddinShmemInitLock);
}

/* See job.h. */
bool
strata_job_preloaded(void)
{
	return strata_job_shared != NULL;
}

/* Caller holds the lock. */
static void
wake_locked(Oid database, TimestampTz at, const JobLook *look)
{
	JobShared  *shared = strata_job_shared;
	JobWake    *wake;
	int			i;

	Assert(LWLockHeldByMeInMode(shared->lock, LW_EXCLUSIVE));	/* job:J6 */
	for (i = 0; i < shared->nwakes; i++)
		if (shared->wakes[i].database == database)
			break;
	if (i == WAKE_ENTRIES)
		shared->wake_all = true;
	else
	{
		wake = &shared->wakes[i];
		if (i == shared->nwakes)
		{
			memset(wake, 0, sizeof(*wake));
			wake->database = database;
			wake->at = at;
			shared->nwakes++;
		}
		wake->at = Min(wake->at, at);
		if (look != NULL)
		{
			wake->look.started |= look->started;
			wake->look.starved |= look->starved;
			/* a worker has gone that the look may have missed */
			if (look->starved && look->freed != shared->freed)
				wake->at = 0;
		}
	}
	if (shared->launcher != NULL)
		SetLatch(shared->launcher);
}

/* See job_private.h. */
void
strata_job_wake(Oid database, TimestampTz at)
{
	if (strata_job_shared == NULL)
		return;
	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	wake_locked(database, at, NULL);
	LWLockRelease(strata_job_shared->lock);
}

/* See job_private.h. */
void
strata_job_wake_all(void)
{
	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	strata_job_shared->wake_all = true;
	LWLockRelease(strata_job_shared->lock);
}

static void
shmem_transaction_end(XactEvent event, void *arg)
{
	if (!wake_at_commit)
		return;
	if (event == XACT_EVENT_COMMIT)
		strata_job_wake(MyDatabaseId, 0);
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE)
		wake_at_commit = false;
}

/* See job.h. */
void
strata_job_wake_at_commit(void)
{
	static bool registered = false;

	if (strata_job_shared == NULL)
		return;
	if (!registered)
	{
		RegisterXactCallback(shmem_transaction_end, NULL);
		registered = true;
	}
	wake_at_commit = true;
}

static bool
slot_is_abandoned(const JobSlot *slot)
{
	TimestampTz now = GetCurrentTimestamp();

	/* or the clock was set back: a worker that comes late notices */
	return slot->pid == 0 &&
		(now < slot->since ||
		 TimestampDifferenceExceeds(slot->since, now,
									START_TIMEOUT_SECONDS * 1000));
}

/* What slots are taken by. */
typedef struct SlotCounts
{
	int			all;			/* jobs, and what gives back space */
	int			users;			/* jobs of users, but no policies */
	int			own;			/* jobs that came with the extension */
} SlotCounts;

static bool
is_own_job(int32 job_id)
{
	return job_id > 0 && job_id < STRATA_JOB_FIRST_USER_ID;
}

/* Caller holds the lock. */
static SlotCounts
count_slots(void)
{
	SlotCounts	counts = {0};

	for (int i = 0; i < JOB_SLOTS; i++)
	{
		const JobSlot *slot = &strata_job_shared->slots[i];

		if (slot->database == InvalidOid || slot_is_abandoned(slot))
			continue;
		counts.all++;
		counts.users += OidIsValid(slot->role);
		counts.own += is_own_job(slot->job_id);
	}
	return counts;
}

/*
 * May one more run?  Of several workers one is kept for policies and what else
 * the system does, however long users' jobs take; and one for the jobs that
 * came with the extension, since policies call code of users, too.
 */
static bool
may_run_more(int32 job_id, Oid role)
{
	SlotCounts	counts = count_slots();
	int			most = strata_max_job_workers;
	int			kept = (most >= KEPT_FROM) + (most >= KEPT_OWN_FROM);

	if (counts.all >= most)
		return false;
	if (is_own_job(job_id))
		return true;
	if (counts.all - counts.own >= most - (most >= KEPT_OWN_FROM))
		return false;
	return !OidIsValid(role) || counts.users < most - kept;
}

/* See job_private.h. */
bool
strata_job_slot_free(void)
{
	bool		result;

	LWLockAcquire(strata_job_shared->lock, LW_SHARED);
	result = count_slots().all < strata_max_job_workers;
	LWLockRelease(strata_job_shared->lock);
	return result;
}

/* Caller holds the lock. */
static bool
taken_locked(Oid database, int32 job_id)
{
	for (int i = 0; i < JOB_SLOTS + SCHEDULER_SLOTS; i++)
	{
		JobSlot    *slot = &strata_job_shared->slots[i];

		if (slot->database == database && slot->job_id == job_id &&
			!slot_is_abandoned(slot))
			return true;
	}
	return false;
}

/* Reserve a slot of the kind; -1 when none is free or somebody is at it. */
static int
reserve_slot(Oid database, int32 job_id, Oid role, bool *running)
{
	JobShared  *shared = strata_job_shared;
	int			first = job_id == 0 ? JOB_SLOTS : 0;
	int			end = job_id == 0 ? JOB_SLOTS + SCHEDULER_SLOTS : JOB_SLOTS;
	int			slot = first;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	*running = taken_locked(database, job_id);
	while (slot < end && shared->slots[slot].database != InvalidOid &&
		   !slot_is_abandoned(&shared->slots[slot]))
		slot++;
	if (*running || slot == end || strata_job_is_blocked(database) ||
		(job_id != 0 && !may_run_more(job_id, role)))
		slot = -1;
	else
	{
		Assert(shared->slots[slot].pid == 0);	/* job:J1 */
		shared->slots[slot].database = database;
		shared->slots[slot].job_id = job_id;
		shared->slots[slot].role = role;
		shared->slots[slot].pid = 0;
		shared->slots[slot].generation++;
		shared->slots[slot].since = GetCurrentTimestamp();
	}
	LWLockRelease(shared->lock);
	return slot;
}

static void
free_slot(int slot)
{
	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	Assert(strata_job_shared->slots[slot].pid == 0);	/* job:J1 */
	strata_job_shared->slots[slot].database = InvalidOid;
	strata_job_shared->slots[slot].pid = 0;
	LWLockRelease(strata_job_shared->lock);
}

/* See job_private.h. */
bool
strata_job_start_worker(Oid database, int32 job_id, Oid role, bool *running)
{
	BackgroundWorker worker;
	StartData	data;
	int			slot = reserve_slot(database, job_id, role, running);

	if (slot < 0)
		return false;
	Assert(!RecoveryInProgress());	/* job:J1 */
	data.database = database;
	data.role = role;
	data.generation = strata_job_shared->slots[slot].generation;
	strata_worker_describe(&worker);
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "%s",
			 job_id == 0 ? "strata_job_scheduler_main" :
			 job_id == JOB_SPACE ? "strata_space_main" :
			 "strata_job_worker_main");
	if (job_id == 0)
		snprintf(worker.bgw_name, BGW_MAXLEN,
				 "strata scheduler for database %u", database);
	else if (job_id == JOB_SPACE)
		snprintf(worker.bgw_name, BGW_MAXLEN, "strata space of database %u",
				 database);
	else
		snprintf(worker.bgw_name, BGW_MAXLEN, "strata job %d in database %u",
				 job_id, database);
	snprintf(worker.bgw_type, BGW_MAXLEN, "%s",
			 job_id == 0 ? "strata scheduler" :
			 job_id == JOB_SPACE ? "strata space" : "strata job");
	worker.bgw_main_arg = Int32GetDatum(slot);
	StaticAssertStmt(sizeof(StartData) <= BGW_EXTRALEN,
					 "start data does not fit");
	memcpy(worker.bgw_extra, &data, sizeof(data));
	if (RegisterDynamicBackgroundWorker(&worker, NULL))
		return true;
	free_slot(slot);
	return false;
}

/* The worker goes: its slot is free, and the launcher hears of it. */
static void
release_slot(int code, Datum arg)
{
	JobShared  *shared = strata_job_shared;

	if (my_slot < 0)
		return;
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	if (!connected && shared->slots[my_slot].job_id > 0)
		strata_job_note_unstarted(my_database,
								  shared->slots[my_slot].job_id);
	Assert(shared->slots[my_slot].pid == MyProcPid);	/* job:J1 */
	shared->slots[my_slot].database = InvalidOid;
	shared->slots[my_slot].pid = 0;
	/* a scheduler that goes makes no room for jobs */
	shared->freed += shared->slots[my_slot].job_id != 0;
	wake_locked(my_database,
				told ? exit_wake :
				GetCurrentTimestamp() +
				AFTER_CRASH_SECONDS * USECS_PER_SEC,
				&exit_look);
	LWLockRelease(shared->lock);
	my_slot = -1;
}

/* See job_private.h. */
bool
strata_job_slot_attach(void)
{
	StartData	data;
	int			slot = DatumGetInt32(MyBgworkerEntry->bgw_main_arg);
	bool		mine;
	bool		blocked;

	memcpy(&data, MyBgworkerEntry->bgw_extra, sizeof(data));
	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	mine = strata_job_shared->slots[slot].database == data.database &&
		strata_job_shared->slots[slot].generation == data.generation;
	blocked = strata_job_is_blocked(data.database);
	if (mine && !blocked)
		strata_job_shared->slots[slot].pid = MyProcPid;
	LWLockRelease(strata_job_shared->lock);
	if (mine && blocked)
		free_slot(slot);
	if (!mine || blocked)
		return false;
	my_slot = slot;
	my_database = data.database;
	my_role = data.role;
	before_shmem_exit(release_slot, 0);
	return true;
}

/* See job_private.h. */
void
strata_job_slot_connected(void)
{
	connected = true;
}

/* See job_private.h. */
Oid
strata_job_slot_database(void)
{
	return my_database;
}

/* See job_private.h. */
int32
strata_job_slot_job(void)
{
	return strata_job_shared->slots[my_slot].job_id;
}

/* See job_private.h. */
Oid
strata_job_slot_role(void)
{
	return my_role;
}

/* See job_private.h. */
bool
strata_job_slot_taken(Oid database, int32 job_id)
{
	bool		taken;

	LWLockAcquire(strata_job_shared->lock, LW_SHARED);
	taken = taken_locked(database, job_id);
	LWLockRelease(strata_job_shared->lock);
	return taken;
}

/* See job_private.h. */
bool
strata_job_slot_switch(int32 job_id)
{
	JobSlot    *mine = &strata_job_shared->slots[my_slot];
	bool		may;

	LWLockAcquire(strata_job_shared->lock, LW_EXCLUSIVE);
	/* as if this process had gone, and another one came */
	mine->database = InvalidOid;
	may = !taken_locked(my_database, job_id) && may_run_more(job_id, my_role);
	mine->database = my_database;
	if (may)
		mine->job_id = job_id;
	LWLockRelease(strata_job_shared->lock);
	return may;
}

/* See job_private.h. */
void
strata_job_look_begin(JobLook *look)
{
	memset(look, 0, sizeof(*look));
	LWLockAcquire(strata_job_shared->lock, LW_SHARED);
	look->freed = strata_job_shared->freed;
	LWLockRelease(strata_job_shared->lock);
}

/* See job_private.h. */
void
strata_job_wake_at_exit(TimestampTz at, const JobLook *look)
{
	told = true;
	exit_wake = at;
	if (look != NULL)
		exit_look = *look;
}

/* See job.h. */
void
strata_job_init(void)
{
	BackgroundWorker worker;

	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request = shmem_request_hook;
	shmem_request_hook = request_memory;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = make_memory;

	strata_worker_describe(&worker);
	worker.bgw_restart_time = 5;
	snprintf(worker.bgw_function_name, BGW_MAXLEN, "strata_job_launcher_main");
	snprintf(worker.bgw_name, BGW_MAXLEN, "strata launcher");
	snprintf(worker.bgw_type, BGW_MAXLEN, "strata launcher");
	RegisterBackgroundWorker(&worker);
}
