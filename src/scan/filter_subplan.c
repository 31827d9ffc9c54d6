/*-------------------------------------------------------------------------
 *
 * filter_subplan.c
 *	  Subplans of quals whose parameters have changed.
 *
 * A scan has two copies of a qual: one for rows, one for batches.  A hashed
 * subplan makes its table again when its plan is told that a parameter has
 * changed; where both copies ask the same plan, the first that makes its table
 * takes that away from the other.  (PostgreSQL sees to that itself from minor
 * versions of 2026 on.)  So after each rescan each copy is told of the change
 * for itself, until it has run the plan.
 *
 * src/scan/filter_subplan.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_subplan_private.h"

#include "base/base.h"
#include "pg/pg.h"

#include "utils/memutils.h"

/* A qual with subplans that have not run since the parameters changed. */
typedef struct StaleQual
{
	ExprState  *state;
	List	   *subplans;		/* of SubPlanState */
} StaleQual;

/* The qual is asked for the first time since. */
static void
add_stale(StrataFilter *filter, ExprState *state)
{
	List	   *subplans = state != NULL ? strata_subplans_of(state) : NIL;
	StaleQual  *stale;

	if (subplans == NIL)
		return;
	stale = palloc(sizeof(StaleQual));
	stale->state = state;
	stale->subplans = subplans;
	filter->stale = lappend(filter->stale, stale);
}

/* See filter_subplan_private.h. */
void
strata_filter_params_changed(StrataFilter *filter, const Bitmapset *changed)
{
	MemoryContext old;
	ListCell   *lc;

	if (filter->parent->subPlan == NIL || changed == NULL)
		return;
	old = MemoryContextSwitchTo(filter->parent->state->es_query_cxt);
	foreach(lc, filter->stale)
		list_free(((StaleQual *) lfirst(lc))->subplans);
	list_free_deep(filter->stale);
	bms_free(filter->changed);
	filter->stale = NIL;
	filter->changed = bms_copy(changed);
	add_stale(filter, filter->parent->qual);
	for (int i = 0; i < filter->nown; i++)
	{
		add_stale(filter, filter->quals[i].compiled);
		add_stale(filter, filter->quals[i].parted);
	}
	MemoryContextSwitchTo(old);
}

/* See filter_subplan_private.h. */
bool
strata_qual_passes_anew(StrataFilter *filter, ExprState *state,
						ExprContext *econtext)
{
	StaleQual  *stale = NULL;
	bool		result;
	MemoryContext old;
	ListCell   *lc;

	foreach(lc, filter->stale)
	{
		stale = lfirst(lc);
		if (stale->state == state)
			break;
	}
	if (lc == NULL)
		return ExecQual(state, econtext);
	old = MemoryContextSwitchTo(filter->parent->state->es_query_cxt);
	foreach(lc, stale->subplans)
		UpdateChangedParamSet(lfirst_node(SubPlanState, lc)->planstate,
							  filter->changed);
	MemoryContextSwitchTo(old);
	result = ExecQual(state, econtext);
	foreach(lc, stale->subplans)
	{
		/* it has run, or nothing in it has changed */
		if (lfirst_node(SubPlanState, lc)->planstate->chgParam == NULL)
			stale->subplans = foreach_delete_current(stale->subplans, lc);
	}
	if (stale->subplans == NIL)
	{
		filter->stale = list_delete_ptr(filter->stale, stale);
		pfree(stale);
	}
	return result;
}
