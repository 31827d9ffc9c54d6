/*-------------------------------------------------------------------------
 *
 * api_advise_dedup.c
 *	  When advise_compression() says that a table had better be of
 *	  strata_dedup.
 *
 * Batches are nearly always smaller, so it is a matter of what is done to the
 * rows: those that are updated one by one leave their batches again.
 *
 * src/api/api_advise_dedup.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "dedup/dedup.h"

#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "utils/fmgrprotos.h"

/* Pages that save less are not worth it. */
#define SAVES_MIN 0.1

/* Of a table that is changed row by row: so many updates for each row. */
#define UPDATES_MIN 0.1

/* Batches of a table so small take what their indexes do. */
#define SMALL_BYTES (1024 * 1024)

static double
updates_of(Oid relid)
{
	return (double)
		DatumGetInt64(DirectFunctionCall1(pg_stat_get_tuples_updated,
										  ObjectIdGetDatum(relid)));
}

/* See api_private.h. */
bool
strata_api_advise_dedup(Relation rel, double rows, double batch_bytes,
						StrataDedupAdvice *advice)
{
	StrataDedupEstimate estimate;
	double		updates = updates_of(RelationGetRelid(rel));
	bool		is_dedup = strata_is_dedup(rel);
	bool		changes = updates > rows * UPDATES_MIN && rows > 0;

	/* pages of other methods are not there to be looked at */
	if (!is_dedup && rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		return false;
	/* chunks of hypertables are strata's */
	if (rel->rd_rel->relispartition)
		return false;
	strata_dedup_estimate(rel, &estimate);
	if (estimate.dedup_bytes > estimate.plain_bytes * (1 - SAVES_MIN))
		return false;
	if (!changes &&
		(estimate.dedup_bytes > batch_bytes || estimate.bytes < SMALL_BYTES))
		return false;
	advice->bytes = estimate.dedup_bytes;
	advice->before = Max(estimate.bytes, estimate.plain_bytes);
	advice->reason =
		psprintf("pages that keep repeated values once; %s%s",
				 changes ?
				 psprintf("rows are changed one by one: %.0f updates of %.0f rows since statistics began, and each takes its row out of a batch",
						  updates, rows) :
				 "batches would be no smaller",
				 is_dedup ? "; the table is of strata_dedup already" : "");
	advice->is_dedup = is_dedup;
	return true;
}
