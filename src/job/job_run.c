/*-------------------------------------------------------------------------
 *
 * job_run.c
 *	  One piece of work after the other, on many tables.
 *
 * Each table is a piece of its own: in its own transaction where the caller
 * allows it, in a subtransaction, as the owner of that very table in a
 * security-restricted context (ALTER TABLE OWNER leaves partitions as they
 * are).  What fails for one does not keep the others from their turn; the run
 * fails at its end, with the first error.
 *
 * src/job/job_run.c
 *-------------------------------------------------------------------------
 */
#include "job/job_private.h"

#include "base/base.h"
#include "pg/pg.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/latch.h"
#include "tcop/pquery.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/wait_event.h"

/* See job.h. */
void
strata_run_begin(StrataRun *run, FunctionCallInfo fcinfo, bool quiet)
{
	memset(run, 0, sizeof(*run));
	run->quiet = quiet;
	run->atomic = fcinfo->context == NULL ||
		!IsA(fcinfo->context, CallContext) ||
		((CallContext *) fcinfo->context)->atomic;
	if (SPI_connect_ext(run->atomic ? 0 : SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

static Oid
owner_of(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	owner = HeapTupleIsValid(tuple) ?
		((Form_pg_class) GETSTRUCT(tuple))->relowner : InvalidOid;
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return owner;
}

/* What happened to a table that took too long. */
static void
say_limit(ErrorData *edata, Oid relid, int ms)
{
	char	   *name = get_rel_name(relid);

	edata->sqlerrcode = ERRCODE_QUERY_CANCELED;
	edata->message = psprintf("table \"%s\" took longer than %d ms",
							  name != NULL ? name : "", ms);
	edata->detail = pstrdup("It was passed over, so that the others have their turn.");
	edata->hint = NULL;
}

/* See job.h. */
void
strata_run_table(StrataRun *run, Oid relid, StrataRunWork work, void *arg)
{
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner resowner;
	Oid			owner;

	if (!run->atomic)
	{
		SPI_commit();
		EnsurePortalSnapshotExists();
	}
	CHECK_FOR_INTERRUPTS();
	owner = owner_of(relid);
	if (!OidIsValid(owner))
		return;					/* gone meanwhile */
	resowner = CurrentResourceOwner;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(mcxt);
	PG_TRY();
	{
		StrataOwnerContext saved;

		/*
		 * what changes the table pins search_path; an integer_now function
		 * may need it
		 */
		strata_role_enter(owner, &saved);
		if (run->quiet)
			(void) set_config_option("client_min_messages", "warning",
									 PGC_USERSET,
									 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
									 false);
		Assert(GetUserId() == owner &&
			   InSecurityRestrictedOperation());	/* job:J2 */
		if (run->limit > 0)
			strata_limit_begin(run->limit);
		work(relid, arg);
		if (run->limit > 0)
			(void) strata_limit_end();
		strata_owner_leave(&saved);
		ReleaseCurrentSubTransaction();
		run->done++;
	}
	PG_CATCH();
	{
		ErrorData  *edata;
		bool		limited = run->limit > 0 && strata_limit_end();
		bool		interrupt;

		MemoryContextSwitchTo(mcxt);
		edata = CopyErrorData();
		interrupt = strata_error_is_interrupt(edata);
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(mcxt);

		/*
		 * not ours to survive: a cancellation, but not what code of the
		 * table's owner calls one
		 */
		if (interrupt && !limited)
			ReThrowError(edata);
		if (limited)
			say_limit(edata, relid, run->limit);
		run->failed++;
		run->code = edata->sqlerrcode;
		if (run->first == NULL)
			run->first = edata;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(mcxt);
	CurrentResourceOwner = resowner;
}

/* See job.h. */
void
strata_run_pause(StrataRun *run, int ms, int64 *longest,
				 TimestampTz locked_at)
{
	TimestampTz begin;

	if (!run->atomic)
		SPI_commit();
	begin = GetCurrentTimestamp();
	if (longest != NULL)
		*longest = Max(*longest, begin - locked_at);
	while (!TimestampDifferenceExceeds(begin, GetCurrentTimestamp(), ms))
	{
		CHECK_FOR_INTERRUPTS();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT |
						 WL_EXIT_ON_PM_DEATH, Min(ms, 100),
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	if (!run->atomic)
		EnsurePortalSnapshotExists();
}

/* See job.h. */
void
strata_run_end(StrataRun *run, const char *what)
{
	Assert((run->failed > 0) == (run->first != NULL));	/* job:J7 */
	if (!run->atomic)
	{
		/* what was done stays done */
		SPI_commit();
		EnsurePortalSnapshotExists();
	}
	if (run->failed > 0)
		ereport(ERROR,
				(errcode(run->first->sqlerrcode),
				 errmsg("%s", run->first->message),
				 run->failed == 1 ?
				 run->first->detail == NULL ? 0 :
				 errdetail_internal("%s", run->first->detail) :
				 errdetail("%d of %d tables could not be %s; this is the first error.",
						   run->failed, run->failed + run->done, what),
				 run->first->hint != NULL ? errhint("%s",
													run->first->hint) : 0));
	SPI_finish();
}
