/*-------------------------------------------------------------------------
 *
 * job_define.c
 *	  A new job: what may be said of it, and its row.
 *
 * src/job/job_define.c
 *-------------------------------------------------------------------------
 */
#include "job/job.h"

#include "base/base.h"

#include "access/xact.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"

/* See job.h. */
void
strata_job_check_interval(const Interval *interval, const char *what,
						  bool zero_allowed)
{
	Interval	zero = {0};
	int			sign = DatumGetInt32(DirectFunctionCall2(interval_cmp,
														 IntervalPGetDatum(interval),
														 IntervalPGetDatum(&zero)));

	if (STRATA_INTERVAL_IS_INFINITE(interval) || sign < 0 ||
		(sign == 0 && !zero_allowed))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 zero_allowed ?
				 errmsg("%s must be finite and not negative", what) :
				 errmsg("%s must be finite and greater than zero", what)));

	/*
	 * months and days that cancel each other out would be counted without end
	 */
	if (interval->month < 0 || interval->day < 0 || interval->time < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not have a negative part", what)));
}

/*
 * A zone of the time zone database, or a fixed offset as POSIX writes it; no
 * abbreviation, which each session may read another way.
 */
static void
check_timezone(const char *timezone)
{
	if (strata_job_zone(timezone) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("time zone \"%s\" not recognized", timezone),
				 errdetail("Jobs take full names of zones, and no abbreviations."),
				 errhint("SELECT name FROM pg_timezone_names; lists them.")));
}

/* See job.h. */
void
strata_job_check_schedule(const StrataJob *job)
{
	TimestampTz now = GetCurrentTimestamp();
	StrataJob	plain = *job;

	check_timezone(job->timezone);
	plain.fixed_schedule = false;
	if (TIMESTAMP_IS_NOEND(strata_job_next_start(&plain, now)) ||
		(!TIMESTAMP_IS_NOEND(job->initial_start) &&
		 TIMESTAMP_IS_NOEND(strata_job_next_start(job, now))))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("schedule_interval or initial_start is out of range"),
				 errdetail("The job would have no next start.")));
}

/* See job.h. */
char *
strata_job_preload_hint(void)
{
	const char *now = GetConfigOption("shared_preload_libraries", false,
									  false);

	return psprintf(_("ALTER SYSTEM SET shared_preload_libraries = %s%s%s; then restart the server."),
					now, now[0] != '\0' ? ", " : "", STRATA_EXTENSION);
}

/* See job.h. */
void
strata_job_check_preload(void)
{
	if (!strata_job_preloaded())
		ereport(WARNING,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("jobs do not run: strata is not in shared_preload_libraries"),
				 errhint("%s", strata_job_preload_hint())));
}

/* See job.h. */
void
strata_job_check_name(const StrataJob *job)
{
	if (strlen(psprintf("%s [%d]", job->name, job->id)) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("name of job is too long: \"%s\"", job->name),
				 errdetail("With the job's id behind it, it may have %d bytes.",
						   NAMEDATALEN - 1)));
}

/* See job.h. */
void
strata_job_add(StrataJob *job, bool has_start, TimestampTz start)
{
	if (has_start && TIMESTAMP_IS_NOBEGIN(start))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("initial_start cannot be -infinity")));
	job->has_initial_start = has_start || job->fixed_schedule;
	job->initial_start = has_start ? start :
		GetCurrentTransactionStartTimestamp();
	strata_job_check_schedule(job);
	job->named_owner = job->owner;
	strata_job_check_config(job);
	strata_job_check_preload();
	strata_job_insert(job);
	strata_job_check_name(job);
	strata_job_set_next_start(job->id,
							  job->has_initial_start ?
							  job->initial_start :
							  GetCurrentTransactionStartTimestamp());
	strata_job_wake_at_commit();
}
