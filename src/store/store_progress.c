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

/* Parameter numbers; sql/60_views.sql reads them, one-based, as param1 ... */
#define PARAM_COMMAND PROGRESS_CLUSTER_COMMAND
#define PARAM_PHASE 1
#define PARAM_ROWS_READ 2
#define PARAM_ROWS_WRITTEN 3
#define STRATA_PROGRESS_COMMAND 7501

void
strata_progress_start(Relation rel)
{
	pgstat_progress_start_command(PROGRESS_COMMAND_CLUSTER,
								  RelationGetRelid(rel));
	pgstat_progress_update_param(PARAM_COMMAND, STRATA_PROGRESS_COMMAND);
}

void
strata_progress_phase(StrataPhase phase)
{
	pgstat_progress_update_param(PARAM_PHASE, phase);
}

void
strata_progress_rows(int64 nread, int64 nwritten)
{
	pgstat_progress_update_param(PARAM_ROWS_READ, nread);
	pgstat_progress_update_param(PARAM_ROWS_WRITTEN, nwritten);
}

void
strata_progress_end(void)
{
	pgstat_progress_end_command();
}
