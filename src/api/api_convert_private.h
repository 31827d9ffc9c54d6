/*-------------------------------------------------------------------------
 *
 * api_convert_private.h
 *	  What the files of convert() share.
 *
 * src/api/api_convert_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_API_CONVERT_PRIVATE_H
#define STRATA_API_CONVERT_PRIVATE_H

#include "job/job.h"

#include "nodes/pg_list.h"
#include "storage/lockdefs.h"
#include "utils/timestamp.h"

/* How often a lock is asked for, and the time between (ms). */
#define LOCK_TRIES 60
#define LOCK_PAUSE 500

typedef struct StrataConvert
{
	Oid			user;			/* who called */
	Oid			root;
	char	   *column;
	char	   *interval;
	char	   *segmentby;
	char	   *orderby;
	bool		compress;
	bool		dry_run;
	int			lock_timeout;	/* ms */
	int			pause;			/* ms */
	List	   *heaps;			/* what the work on the root found: OIDs */
	List	   *ended;
	List	   *divided;		/* chunks to be divided */
	bool		plain;			/* is it a heap table? */
	bool		needs_check;	/* may its time be null? */
	bool		has_check;		/* the check that it is not: is it there, */
	bool		check_valid;	/* and known of all rows? */
	Oid			first;			/* the chunk that its rows have become */
	Oid			chunk;			/* the one that is being divided */
	int64		division;		/* as which: other sessions begin anew, too */
	int64		from;			/* copied up to there, */
	bool		any;			/* and was there more? */
	uint64		rows;			/* how many that was */
	int			count;			/* times copied again, or chunks made */
	TimestampTz locked_at;		/* the present lock */
	int64		longest;		/* time one was held, in microseconds */
} StrataConvert;

/*
 * In a step: check that the caller owns the table, and lock it; ereports when
 * that takes too long.  NoLock: the step locks.
 */
extern void strata_convert_lock(const StrataConvert *convert, Oid relid,
								LOCKMODE lockmode);

/*
 * Run one step on a table in a transaction of its own, again when a lock was
 * not to be had; false: it failed.
 */
extern bool strata_convert_step(StrataRun *run, Oid relid, StrataRunWork work,
								StrataConvert *convert);

/* api_convert_divide.c: divide a chunk; false: a step failed. */
extern bool strata_convert_divide(StrataRun *run, StrataConvert *convert,
								  Oid chunk);

/* A step: what was done to divide a chunk is undone. */
extern void strata_convert_leave_whole(Oid chunk, void *arg);

#endif							/* STRATA_API_CONVERT_PRIVATE_H */
