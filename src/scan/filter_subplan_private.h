/*-------------------------------------------------------------------------
 *
 * filter_subplan_private.h
 *	  Quals with subplans, behind a rescan.
 *
 * src/scan/filter_subplan_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_FILTER_SUBPLAN_PRIVATE_H
#define STRATA_FILTER_SUBPLAN_PRIVATE_H

#include "postgres.h"

#include "executor/executor.h"
#include "scan/filter_private.h"

/*
 * filter_subplan.c.  Parameters have changed, and nothing was evaluated since.
 * anew: does a row pass, by a qual whose subplans may not know that?
 */
extern void strata_filter_params_changed(StrataFilter *filter,
										 const Bitmapset *changed);
extern bool strata_qual_passes_anew(StrataFilter *filter, ExprState *state,
									ExprContext *econtext);

/* Does the row in the context's scan slot pass?  state: of the filter's quals. */
static inline bool
strata_qual_passes(StrataFilter *filter, ExprState *state,
				   ExprContext *econtext)
{
	return likely(filter->stale == NIL) ? ExecQual(state, econtext) :
		strata_qual_passes_anew(filter, state, econtext);
}

#endif							/* STRATA_FILTER_SUBPLAN_PRIVATE_H */
