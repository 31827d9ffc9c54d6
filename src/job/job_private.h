/*-------------------------------------------------------------------------
 *
 * job_private.h
 *	  What the files of src/job share: the memory that launcher, schedulers,
 *	  workers and sessions have in common.
 *
 * src/job/job_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_JOB_PRIVATE_H
#define STRATA_JOB_PRIVATE_H

#include "base/base.h"
#include "hypertable/hypertable.h"
#include "job/job.h"

#include "portability/instr_time.h"
#include "storage/latch.h"
#include "storage/lwlock.h"

/*
 * Workers at a time, at most; strata.max_job_workers says how many are wanted.
 */
#define JOB_SLOTS STRATA_MAX_JOB_WORKERS_MAX

/* In place of a job: what gives back space (job_space.c). */
#define JOB_SPACE (-1)

/* Schedulers at a time: they are short, one per database that has work. */
#define SCHEDULER_SLOTS 2

/*
 * Jobs whose process could not connect; more are noted when they fail again.
 */
#define UNSTARTED_ENTRIES 64

/* Databases whose wish to be looked at can wait; more means "look at all". */
#define WAKE_ENTRIES 64

/* Databases that something is noted of; that more are starved is not known. */
#define DATABASE_ENTRIES 64

/*
 * How long a process takes one job after the other while others wait for a
 * worker.
 */
#define TURN_MS 1000

/*
 * A place of a background worker.  Reserved by who starts it, with pid 0; the
 * worker enters its pid, and clears the slot when it goes, however it goes.
 */
typedef struct JobSlot
{
	Oid			database;		/* InvalidOid: free */
	int32		job_id;			/* 0: a scheduler, or JOB_SPACE */
	Oid			role;			/* of a user's job; InvalidOid: the system */
	int			pid;
	uint32		generation;		/* so that a late worker notices */
	TimestampTz since;
} JobSlot;

/* What came of a look at the jobs of a database. */
typedef struct JobLook
{
	bool		started;		/* a worker, or several */
	bool		starved;		/* there was none for a job that is due */
	uint32		freed;			/* workers that had gone when it began */
} JobLook;

/*
 * "Look at this database at that time", or as soon as a worker is free.
 */
typedef struct JobWake
{
	Oid			database;
	TimestampTz at;
	JobLook		look;
} JobWake;

typedef struct JobDatabase
{
	Oid			database;		/* InvalidOid: no entry */
	TimestampTz starved_since;	/* a due job found no worker; 0: all found one */
	TimestampTz blocked_at;		/* nothing is to start for a moment; 0: no */
} JobDatabase;

typedef struct JobUnstarted
{
	Oid			database;
	int32		job_id;
} JobUnstarted;

typedef struct JobShared
{
	LWLock	   *lock;
	Latch	   *launcher;		/* NULL while there is none */
	bool		wake_all;
	uint32		freed;			/* workers of jobs that have gone so far */
	int			nwakes;
	JobWake		wakes[WAKE_ENTRIES];
	int			nunstarted;
	JobUnstarted unstarted[UNSTARTED_ENTRIES];
	JobDatabase databases[DATABASE_ENTRIES];
	JobSlot		slots[JOB_SLOTS + SCHEDULER_SLOTS];
} JobShared;

extern JobShared *strata_job_shared;	/* NULL when not preloaded */

/*
 * Start a background worker: a scheduler (job_id 0), what gives back space
 * (JOB_SPACE), or a job as a role
 * (InvalidOid: as the system, for policies).  False when there is no slot, the
 * job or scheduler is there already (*running), or PostgreSQL has no room.
 */
extern bool strata_job_start_worker(Oid database, int32 job_id, Oid role,
									bool *running);

/* In a worker: take the slot; false when it was given up.  Freed at exit. */
extern bool strata_job_slot_attach(void);

/*
 * In a worker of a job: take over another one, if nobody has it and a new
 * worker might.
 */
extern bool strata_job_slot_switch(int32 job_id);

/* Is some process in charge of the job (0: a scheduler) of the database? */
extern bool strata_job_slot_taken(Oid database, int32 job_id);

/* May one worker more run, whatever it does? */
extern bool strata_job_slot_free(void);

/*
 * In a worker: it is connected; until then, its end is noted as "could not
 * start".
 */
extern void strata_job_slot_connected(void);

/*
 * Note that the process of a job could not connect (the caller has the lock);
 * and the next such job of this database, 0 if there is none.
 */
extern void strata_job_note_unstarted(Oid database, int32 job_id);
extern int32 strata_job_take_unstarted(void);

/*
 * Note whether due jobs of this database wait for a worker.  Do some of
 * another database wait?
 */
extern void strata_job_note_starved(bool starved);
extern bool strata_job_others_starve(void);

/* Is the turn over of a process that began to work then? */
extern bool strata_job_had_turn(instr_time start);

/* Is nothing to start in a database just now?  The caller has the lock. */
extern bool strata_job_is_blocked(Oid database);

/* Forget what is noted of databases that are gone. */
extern void strata_job_forget_databases(bool (*is_there) (Oid database));

/* What the worker was started for. */
extern Oid	strata_job_slot_database(void);
extern int32 strata_job_slot_job(void);
extern Oid	strata_job_slot_role(void);

/* Have the launcher look at a database at some time (0: now). */
extern void strata_job_wake(Oid database, TimestampTz at);

/* Have it look at all databases. */
extern void strata_job_wake_all(void);

/*
 * At exit of this worker, the launcher is told this instead of "soon"; and, by
 * a scheduler, what came of its look.
 */
extern void strata_job_wake_at_exit(TimestampTz at, const JobLook *look);

/* A look begins: whatever worker goes from now on may be missed by it. */
extern void strata_job_look_begin(JobLook *look);

/* One pass over the jobs of this database; when the next is due. */
extern TimestampTz strata_job_schedule_pass(JobLook *look);

/*
 * In a worker, between transactions: run a job that may be due, and record it.
 */
extern void strata_job_run(int32 id);

/*
 * job_limit.c: what follows is canceled after so many ms, unless end is called
 * before; in an error, too.  end: true when it was.
 */
extern void strata_limit_begin(int ms);
extern bool strata_limit_end(void);

/* So long may it take to learn what now is from a function of an owner's. */
#define STRATA_NOW_MS 60000

/*
 * For handlers of timeouts: cancel what runs, for the nth time.  Who goes on
 * after so many is ended, if it is a background process.
 */
#define STRATA_CANCEL_AGAIN_MS 1000
#define STRATA_MOST_CANCELS 30
extern void strata_limit_cancel(int times);

/*
 * Scheduler: do a piece of work for each job, in a subtransaction of its own:
 * what fails for one is a warning in the log, and the others go on.
 */
extern void strata_job_each(List *jobs, void (*work) (StrataJob *job));

/*
 * Scheduler: give jobs that came from a dump their next start.  Returns when
 * to look again whether the restore has ended; DT_NOEND: it has.
 */
extern TimestampTz strata_job_schedule_restored(void);

/*-------------------------------------------------------------------------
 * What policies have in common
 *-------------------------------------------------------------------------
 */

/* Schedule arguments of a policy; NULL pointers: not given. */
typedef struct StrataSchedule
{
	Interval   *interval;
	bool		has_start;
	TimestampTz start;
	char	   *timezone;
} StrataSchedule;

/* Of the arguments of these numbers; -1: the function has no such one. */
extern StrataSchedule strata_policy_schedule(FunctionCallInfo fcinfo,
											 int interval, int start,
											 int timezone);

/* An interval as text that no session setting changes, and back. */
extern char *strata_policy_interval_text(const Interval *interval);
extern Datum strata_policy_parse_interval(const char *text);

/*
 * Now, as the hypertable says it; ereports if it does not.  Its function runs
 * with its owner's rights.
 */
extern int64 strata_policy_now(const StrataHypertable *ht);

/*
 * The time so long (text: an interval, or a number) before now; what it is, in
 * messages.
 */
extern int64 strata_policy_before(const StrataHypertable *ht,
								  const char *text, const char *what);

/*
 * Compress chunks that end by then; drop them, but what a wider archive is to
 * have and has not (InvalidOid: there is none).
 */
extern void strata_policy_compress_chunks(StrataRun *run,
										  StrataHypertable *ht, int64 limit);
extern void strata_policy_drop_chunks(StrataRun *run, StrataHypertable *ht,
									  int64 limit, Oid finer, Oid wider);

/*
 * In a piece of work (strata_run_table()), before it locks a table: whoever
 * waits for such a lock keeps others waiting behind him.  Not for long.
 */
extern void strata_policy_limit_waits(void);

/*
 * Has a table rows in its row store, or nothing but an empty page?  And has it
 * a companion?
 */
extern bool strata_policy_fresh_rows(Oid relid, bool *has_batches);

/*
 * Of a policy's procedure: the hypertable of its job (argument 0), which the
 * caller may run; and a key of a config as text, or NULL.
 */
extern StrataHypertable *strata_policy_open(FunctionCallInfo fcinfo);
extern char *strata_policy_config(Datum config, const char *key);

#endif							/* STRATA_JOB_PRIVATE_H */
