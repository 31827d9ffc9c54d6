/*-------------------------------------------------------------------------
 *
 * agg_match_private.h
 *	  Rows of the small side of a hash join, and which of them rows of a vector
 *	  are joined with.
 *
 * src/agg/agg_match_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_MATCH_PRIVATE_H
#define STRATA_AGG_MATCH_PRIVATE_H

#include "postgres.h"

#include "agg/agg_vector_private.h"
#include "nodes/pathnodes.h"

/* Of a row that is joined with none. */
#define AGG_NO_MATCH (-1)

typedef struct AggMatch AggMatch;

/*
 * Can rows be joined so by the operator?  Is there room for so many rows, as
 * far as known?  For plans.
 */
extern bool strata_agg_can_match_by(Oid opno);
extern bool strata_agg_can_match_rows(double nrows, int ncolumns);

/* NULL: not by the keys of this join.  Memory: the current context. */
extern AggMatch *strata_agg_match_create(HashJoinState *join);

/*
 * Take in the rows of the join's table, which is built; any: of rows with the
 * same keys one is enough.  Returns why that cannot be, or NULL.  They are
 * good for as long as the table is there.
 */
extern const char *strata_agg_match_load(AggMatch *match, bool any);
extern void strata_agg_match_forget(AggMatch *match);
extern int	strata_agg_match_nrows(const AggMatch *match);

/*
 * Of each selected row of a vector of the outer side the row it is joined
 * with, as far as keys say, or AGG_NO_MATCH.
 */
extern void strata_agg_match_find(AggMatch *match, AggVector *vector,
								  int32 *found);

/* A column of the small side, from 0: its value in each of the rows. */
extern const Datum *strata_agg_match_values(const AggMatch *match, int column,
											const bool **nulls);

/*-------------------------------------------------------------------------
 * agg_join_vector.c: a hash join whose outer side gives vectors, as vectors
 *-------------------------------------------------------------------------
 */
typedef struct AggJoin AggJoin;

/*
 * Is each row of the outer side returned once at most, where keys of the small
 * side are different?  Beside them rows of either side may be returned alone.
 */
extern bool strata_agg_joins_by_vectors(JoinType type);

/* NULL: its rows come one by one.  Memory: the current context. */
extern AggJoin *strata_agg_join_create(HashJoinState *state,
									   PlanState *parent);

/*
 * To be called before the first vector of each scan.  False: they come one by
 * one after all, of the join itself.
 */
extern bool strata_agg_join_start(AggJoin *join);
extern AggVector *strata_agg_join_next(AggJoin *join);

/* Why they came one by one; NULL: they did not. */
extern const char *strata_agg_join_refusal(const AggJoin *join);

#endif							/* STRATA_AGG_MATCH_PRIVATE_H */
