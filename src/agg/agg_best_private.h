/*-------------------------------------------------------------------------
 *
 * agg_best_private.h
 *	  The first row of each group in any order.
 *
 * src/agg/agg_best_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_BEST_PRIVATE_H
#define STRATA_AGG_BEST_PRIVATE_H

#include "postgres.h"

#include "agg/agg_kernel_private.h"
#include "batch/batch.h"

/*
 * Is an order that of a column's values as integers, or floats, whose words
 * bounds can be compared with?
 */
extern bool strata_agg_has_words(Oid type, Oid sortop, bool *descending);
extern int64 strata_agg_word(const StrataColumnType *type, Datum value);

/* The node's; it adds the one call that there is. */
typedef struct AggBest AggBest;
struct AggPlanData;
extern AggBest *strata_agg_best_create(struct StrataAggState *agg,
									   const struct AggPlanData *plan);

/* Its columns must come as they are, not as integers. */
extern void strata_agg_best_want_values(AggBest *best);
extern void strata_agg_best_new_vector(AggBest *best);

/* Take the selected rows [from, to) of the current vector in. */
extern void strata_agg_best_run(AggBest *best, AggCell *cell, int from,
								int to);

/* All of them are in: before groups are spilled or returned. */
extern void strata_agg_best_end_vector(AggBest *best);

/* Could a row of that word be better than what the cell has? */
extern bool strata_agg_best_wants(const AggBest *best, const AggCell *cell,
								  int64 word);

/* The columns that are shown. */
extern void strata_agg_best_return(AggBest *best, const AggCell *cell,
								   Datum *values, bool *isnull);

/* A cell as bytes; and take in what those at in say. */
extern void strata_agg_best_write(AggBest *best, const AggCell *cell,
								  StringInfo out);
extern const char *strata_agg_best_combine(AggBest *best, AggCell *cell,
										   const char *in);

#endif							/* STRATA_AGG_BEST_PRIVATE_H */
