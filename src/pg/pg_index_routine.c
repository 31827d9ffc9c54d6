/*-------------------------------------------------------------------------
 *
 * pg_index_routine.c
 *	  An index of the user's that is looked up by routines of ours.
 *
 * Apply workers and INSERT ... ON CONFLICT look into indexes themselves, by
 * the routine in the index's relcache entry.  Nothing in PostgreSQL keeps a
 * pointer to it beyond a scan, and a rebuilt entry has its own again.
 *
 * src/pg/pg_index_routine.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

static IndexAmRoutine routine;	/* the index's own, but for two */

/* See pg.h. */
void
strata_index_replace_look_up(Relation index, amrescan_function rescan,
							 amgettuple_function gettuple,
							 amrescan_function *own_rescan,
							 amgettuple_function *own_gettuple)
{
	if (index->rd_indam == &routine)
		return;
	*own_rescan = index->rd_indam->amrescan;
	*own_gettuple = index->rd_indam->amgettuple;
	routine = *index->rd_indam;
	routine.amrescan = rescan;
	routine.amgettuple = gettuple;
	index->rd_indam = &routine;
}
