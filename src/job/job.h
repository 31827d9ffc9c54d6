/*-------------------------------------------------------------------------
 *
 * job.h
 *	  Background work: what api/ calls and strata.c wires.
 *
 * src/job/job.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_JOB_H
#define STRATA_JOB_H

#include "postgres.h"

#include "catalog/catalog.h"
#include "compress/compress.h"
#include "pgtime.h"

/*
 * Reserve shared memory and register the launcher; only while preloading does
 * something.
 */
extern void strata_job_init(void);

/* Is the launcher there (shared_preload_libraries)? */
extern bool strata_job_preloaded(void);

/*
 * Have a job that keeps the tiers of a continuous aggregate, unless there is
 * one.
 */
extern void strata_job_add_archives(Oid view);

/* When this transaction commits, have the jobs of this database looked at. */
extern void strata_job_wake_at_commit(void);

/*
 * Jobs of this database that are due and found no free worker: since when; 0
 * when there are none.
 */
extern TimestampTz strata_job_starved_since(void);

/*
 * Let nothing start in a database for a moment, and end what runs (DROP
 * DATABASE); and that the moment is over (InvalidOid: of none).
 */
extern void strata_job_stop_database(Oid database);
extern void strata_job_resume_database(Oid database);

/*
 * The first time after `after` that the schedule gives: for a fixed schedule
 * counted from initial_start on the wall clock of the job's time zone, else
 * after + schedule_interval.  DT_NOEND when that is out of range, or the zone
 * is not known here; never an error.
 */
extern TimestampTz strata_job_next_start(const StrataJob *job,
										 TimestampTz after);

/* The same after a failed run; failures counts this one. */
extern TimestampTz strata_job_retry_start(const StrataJob *job,
										  TimestampTz after, int failures);

/*
 * What rel would take with its rows in row form, indexes and TOAST included:
 * what it takes, or, when it has batches, what they took before, for so many
 * rows.  0 when that is not known.
 */
extern double strata_table_size_as_rows(Relation rel, double rows);

/*
 * This session restores jobs: those that have no statistics yet wait for its
 * end.
 */
extern void strata_job_note_restore(void);

/* Oid of the job's routine (int, jsonb); ereports when there is none. */
extern Oid	strata_job_procedure(const StrataJob *job);

/*
 * Is it a policy or one of the jobs that came with the extension, and what it
 * calls the extension's own?  Such jobs run with the system's rights and take
 * on those of the owner of each table themselves; all others run as their
 * owner.
 */
extern bool strata_job_is_system(const StrataJob *job);

/*
 * Call the routine in this session.  A procedure may commit unless atomic;
 * then everything the caller allocated in the transaction is gone.
 */
extern void strata_job_call(const StrataJob *job, bool atomic);

/*
 * Call the job's config check, if it has one, with the rights of the job's
 * owner; a policy's, of him who owned its table when the check was set.
 */
extern void strata_job_check_config(const StrataJob *job);

/* What is wrong with arguments of jobs and policies is raised here. */
extern void strata_job_check_interval(const Interval *interval,
									  const char *what, bool zero_allowed);

/* The zone of a job, UTC if it names none; NULL: there is none of this name. */
extern pg_tz *strata_job_zone(const char *name);

/* That the time zone is known, and the schedule gives a next start. */
extern void strata_job_check_schedule(const StrataJob *job);

/* The name is shown as "name [id]", in columns of type name. */
extern void strata_job_check_name(const StrataJob *job);

/*
 * Warn when no launcher will ever start a job; and the statement that has the
 * library preloaded.
 */
extern void strata_job_check_preload(void);
extern char *strata_job_preload_hint(void);

/*
 * Check and insert a job whose other fields are set; first start now if no
 * start is given.
 */
extern void strata_job_add(StrataJob *job, bool has_start, TimestampTz start);

/*
 * When this transaction commits, have the space that rel's rows (and batches)
 * left given back in the background.
 */
extern void strata_space_reclaim_later(Relation rel, bool batches_went);

/*
 * One table, which the caller has open with ExclusiveLock and may compress:
 * the work is done as its owner, in a security-restricted context.
 *
 * compress: false when there was nothing to do; say: a NOTICE tells what was
 * done, unless strata.report_compression is off.  compress_chunk: the same,
 * with the checks and messages of compress_chunk().  decompress: how many rows
 * came back into the row store.
 */
extern bool strata_table_compress(Relation rel, bool recompress, bool say);
extern void strata_table_compress_chunk(Relation rel, bool if_not_compressed,
										bool recompress);
extern int64 strata_table_decompress(Relation rel);

/*
 * Is it an ordinary table of heap?  And: make it one of strata, where it
 * stands, under AccessExclusiveLock until the transaction ends; false when it
 * is none meanwhile.
 */
extern bool strata_table_is_heap(Oid relid);
extern bool strata_table_adopt_heap(Oid relid);

/* Is a table this small, never compressed, better left alone? */
extern bool strata_table_is_too_small(Relation rel);

/*
 * Work on many tables; job_run.c.  begin: in a procedure or function; quiet:
 * NOTICEs are left out.  table: one table, as its owner, in a transaction of
 * its own where fcinfo allows COMMIT.  end: raises the first error, with how
 * many tables could not be `what` ("compressed").  What is allocated after
 * begin lives until end.
 */
typedef void (*StrataRunWork) (Oid relid, void *arg);

typedef struct StrataRun
{
	bool		atomic;
	bool		quiet;
	int			limit;			/* ms for a table; 0: as long as it takes */
	int			done;
	int			failed;
	int			code;			/* of the latest error */
	ErrorData  *first;			/* the first error */
} StrataRun;

extern void strata_run_begin(StrataRun *run, FunctionCallInfo fcinfo,
							 bool quiet);
extern void strata_run_table(StrataRun *run, Oid relid, StrataRunWork work,
							 void *arg);

/*
 * Commit, where that is allowed, and wait so many ms without a snapshot.  The
 * time from locked_at until the locks are gone is put into *longest when it is
 * longer; NULL: not asked for.
 */
extern void strata_run_pause(StrataRun *run, int ms, int64 *longest,
							 TimestampTz locked_at);
extern void strata_run_end(StrataRun *run, const char *what);

#endif							/* STRATA_JOB_H */
