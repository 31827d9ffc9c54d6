/*-------------------------------------------------------------------------
 *
 * store_progress.c
 *	  What strata.progress shows, through PostgreSQL's own progress slots.
 *
 * A backend has one slot with twenty numbers; its command type must be one
 * PostgreSQL knows, so ours is CLUSTER's with a command number of our own,
 * which the view selects by.
 *
 * src/store/store_progress.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"
#include "store/store_write.h"

#include "commands/progress.h"
#include "pgstat.h"
#include "utils/backend_progress.h"
#include "utils/timestamp.h"

/* Parameter numbers; sql/60_views.sql reads them, one-based, as param1 ... */
#define PARAM_COMMAND PROGRESS_CLUSTER_COMMAND
#define PARAM_PHASE 1
#define PARAM_ROWS_READ 2
#define PARAM_ROWS_WRITTEN 3
#define PARAM_EXPECTED 4		/* rows to be passed */
#define PARAM_PASSED 5
#define PARAM_STARTED 6			/* a timestamp */
#define STRATA_PROGRESS_COMMAND 7501

/* Of the command that runs. */
static int64 rows_read = 0;
static int64 rows_merged = 0;

void
strata_progress_start(Relation rel)
{
	rows_read = 0;
	rows_merged = 0;
	pgstat_progress_start_command(PROGRESS_COMMAND_CLUSTER,
								  RelationGetRelid(rel));
	pgstat_progress_update_param(PARAM_COMMAND, STRATA_PROGRESS_COMMAND);
	pgstat_progress_update_param(PARAM_STARTED, GetCurrentTimestamp());
}

void
strata_progress_phase(StrataPhase phase)
{
	pgstat_progress_update_param(PARAM_PHASE, phase);
}

/* See store_write.h. */
void
strata_progress_expect(double npassed)
{
	pgstat_progress_update_param(PARAM_EXPECTED, (int64) npassed);
}

void
strata_progress_rows(int64 nread, int64 nwritten)
{
	const int	params[] = {PARAM_ROWS_READ, PARAM_ROWS_WRITTEN, PARAM_PASSED};
	const int64 values[] = {nread, nwritten, nread + nwritten};

	rows_read = nread;
	pgstat_progress_update_multi_param(lengthof(params), params, values);
}

/* See store_write.h. */
void
strata_progress_written(int64 nwritten)
{
	/* what a merge writes anew was passed by it */
	if (rows_merged == 0)
		strata_progress_rows(rows_read, nwritten);
}

/* See store_write.h. */
void
strata_progress_merged(int64 nrows)
{
	rows_merged += nrows;
	/* it begins when all rows have been read and written */
	pgstat_progress_update_param(PARAM_PASSED, 2 * rows_read + rows_merged);
}

void
strata_progress_end(void)
{
	pgstat_progress_end_command();
}
