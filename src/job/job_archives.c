/*-------------------------------------------------------------------------
 *
 * job_archives.c
 *	  The job of a continuous aggregate with tiers (strata.archives): it
 *	  refreshes, compresses, and drops what is older than the option says.
 *
 * The order is what makes that safe to interrupt: every tier is refreshed
 * first, the finest before others.  An error there ends the run, and nothing
 * is dropped.  Then rows go; each chunk takes what is made of it into every
 * archive in the transaction that drops it (rollup_keep.c), so where that
 * fails it stays.  Archives lose chunks last, the finest first, and only what
 * the next wider one has kept, too.
 *
 * Tiers and intervals are read from the option at each run.
 *
 * src/job/job_archives.c
 *-------------------------------------------------------------------------
 */
#include "job/job_private.h"

#include "base/base.h"
#include "hypertable/hypertable.h"
#include "rollup/rollup.h"

#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_policy_archives);

#define ARCHIVES_PROC "policy_archives"

/* It runs as often as the finest bucket is wide, within these. */
#define SHORTEST_SCHEDULE USECS_PER_MINUTE
#define LONGEST_SCHEDULE USECS_PER_HOUR

/* See job.h. */
void
strata_job_add_archives(Oid view)
{
	StrataRollup *rollup = strata_rollup_open(view, false);
	StrataHypertable *archive = strata_hypertable_require(rollup->archive);
	StrataJob	job = {0};
	int64		schedule = LONGEST_SCHEDULE;

	LockRelationOid(archive->relid, ShareUpdateExclusiveLock);
	if (strata_job_find_policy(ARCHIVES_PROC, archive->relid) != 0)
		return;
	if (strata_time_type_is_integer(archive->key_type))
		/* fails here, not at night, when nobody said what now is */
		(void) strata_policy_now(archive);
	else
	{
		List	   *tiers = strata_rollup_tiers(view);
		StrataTier *tier = linitial(tiers);

		if (tier->width == NULL)
			tier = lsecond(tiers);
		schedule = tier->length;
	}
	job.name = pstrdup("Archive Policy");
	job.schedule_interval.time = Max(SHORTEST_SCHEDULE,
									 Min(LONGEST_SCHEDULE, schedule));
	job.max_retries = -1;
	job.retry_period.time = 5 * USECS_PER_MINUTE;
	job.proc_schema = STRATA_INTERNAL_SCHEMA;
	job.proc_name = ARCHIVES_PROC;
	job.owner = strata_relation_owner(view);
	job.scheduled = true;
	job.hypertable = archive->relid;
	job.has_config = true;
	job.config = DirectFunctionCall1(jsonb_in, CStringGetDatum("{}"));
	strata_job_add(&job, false, 0);
}

/* Bring a tier up to date, as far back as it is kept; ereports. */
static void
refresh_tier(FunctionCallInfo fcinfo, const StrataTier *tier, int64 now)
{
	StrataRefresh refresh = {.view = tier->view,.lo = PG_INT64_MIN,.hi = now,
	.newest_first = true,.buckets_per_batch = -1,.quiet = true};
	StrataRollup *rollup = strata_rollup_open(tier->view, true);

	if (rollup == NULL)
		return;
	if (tier->keep != NULL)
		refresh.lo =
			strata_policy_before(strata_hypertable_require(rollup->archive),
								 tier->keep, "archives");
	refresh.manner = fcinfo->context != NULL &&
		IsA(fcinfo->context, CallContext) &&
		!((CallContext *) fcinfo->context)->atomic ?
		STRATA_REFRESH_PROCEDURE : STRATA_REFRESH_IN_BLOCK;
	if (refresh.lo < refresh.hi)
		strata_rollup_refresh(&refresh);
}

/* The archive's hypertable; NULL: the view has gone meanwhile. */
static StrataHypertable *
archive_of(Oid view)
{
	Oid			archive = strata_hypertable_meant(view);

	return archive != view ? strata_hypertable_get(archive) : NULL;
}

/*
 * ereport if the view's owner, for whom this is done whoever runs it, does not
 * own all that loses chunks: each was given away since, or the view was.
 */
static void
check_owner_of_old(const StrataHypertable *archive,
				   const StrataHypertable *source,
				   const List *tiers)
{
	Oid			owner = strata_relation_owner(archive->relid);
	ListCell   *lc;

	foreach(lc, tiers)
	{
		StrataTier *tier = lfirst(lc);
		const StrataHypertable *ht = tier->width == NULL ? source :
		archive_of(tier->view);

		if (ht != NULL && tier->keep != NULL &&
			!strata_table_ownercheck(ht->relid, owner))
			aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE,
						   get_rel_name(ht->relid));
	}
}

/* Rows, and then archives, lose what is older than they are kept. */
static void
drop_old(StrataRun *run, const StrataHypertable *archive,
		 StrataHypertable *source, const List *tiers)
{
	int			failed = run->failed;
	ListCell   *lc;

	check_owner_of_old(archive, source, tiers);
	foreach(lc, tiers)
	{
		StrataTier *tier = lfirst(lc);
		StrataTier *wider = lnext(tiers, lc) != NULL ?
		lfirst(lnext(tiers, lc)) : NULL;
		StrataHypertable *ht = tier->width == NULL ? source :
		archive_of(tier->view);

		/* what could not be kept may be needed again */
		if (run->failed > failed)
			return;
		if (ht == NULL || tier->keep == NULL)
			continue;
		strata_policy_drop_chunks(run, ht,
								  strata_policy_before(ht, tier->keep,
													   "archives"),
								  tier->view,
								  tier->width == NULL || wider == NULL ?
								  InvalidOid : wider->view);
	}
}

/* CALL policy_archives(job_id, config) */
Datum
strata_policy_archives(PG_FUNCTION_ARGS)
{
	StrataHypertable *archive = strata_policy_open(fcinfo);
	Oid			view = strata_rollup_of_archive(archive->relid);
	List	   *tiers = OidIsValid(view) ? strata_rollup_tiers(view) : NIL;
	StrataHypertable *source;
	StrataRun	run;
	int64		now;
	ListCell   *lc;

	if (tiers == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("the table of job %d is not that of a continuous aggregate with archives",
						PG_GETARG_INT32(0)),
				 errhint("SELECT delete_job(%d);", PG_GETARG_INT32(0))));
	source =
		strata_hypertable_require(strata_rollup_open(view, false)->source);
	now = strata_policy_now(archive);
	foreach(lc, tiers)
	{
		StrataTier *tier = lfirst(lc);

		if (tier->width != NULL && !OidIsValid(tier->view))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("tier \"%s\" of continuous aggregate \"%s\" does not exist",
							tier->width, get_rel_name(view)),
					 errhint("ALTER MATERIALIZED VIEW %s SET (strata.archives = '...'); makes it.",
							 strata_sql_name(view))));
	}
	foreach(lc, tiers)
	{
		StrataTier *tier = lfirst(lc);

		if (tier->width != NULL)
			refresh_tier(fcinfo, tier, now);
	}
	Assert(source != NULL);		/* rollup:Z5 */
	strata_run_begin(&run, fcinfo, true);
	foreach(lc, tiers)
	{
		StrataHypertable *ht;

		ht = ((StrataTier *) lfirst(lc))->width != NULL ?
			archive_of(((StrataTier *) lfirst(lc))->view) : NULL;
		if (ht != NULL)
			strata_policy_compress_chunks(&run, ht, now);
	}
	drop_old(&run, archive, source, tiers);
	strata_run_end(&run, "worked on");
	PG_RETURN_VOID();
}
