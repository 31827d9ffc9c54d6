/*-------------------------------------------------------------------------
 *
 * agg_spill_private.h
 *	  Files of partial results.
 *
 * src/agg/agg_spill_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_SPILL_PRIVATE_H
#define STRATA_AGG_SPILL_PRIVATE_H

#include "postgres.h"

/*
 * Partial results on disk, by hash value.  limit: of the memory of groups.
 */
typedef struct AggSpill AggSpill;
extern AggSpill *strata_agg_spill_create(Size limit);

/* Are there bits of the hash value left, by which to divide what is read? */
extern bool strata_agg_spill_divides(const AggSpill *spill);
extern void strata_agg_spill_put(AggSpill *spill, uint32 hash,
								 const char *bytes, Size len);

/*
 * Go on to the next groups, which are no others' than those of the partial
 * results that come next; false at the end.
 */
extern bool strata_agg_spill_open_next(AggSpill *spill);

/* The next of them, NULL at the end; good until the next call. */
extern const char *strata_agg_spill_get(AggSpill *spill, uint32 *hash,
										Size *len);
extern void strata_agg_spill_end(AggSpill *spill);

#endif							/* STRATA_AGG_SPILL_PRIVATE_H */
