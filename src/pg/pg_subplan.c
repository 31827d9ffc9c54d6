/*-------------------------------------------------------------------------
 *
 * pg_subplan.c
 *	  The hash table of a subplan, taken by another who asks it; and which
 *	  subplans an expression asks.
 *
 * Each place in a plan that asks a hashed subplan makes a table of its own of
 * the rows.  Who finds a table in its state asks that one.  Nobody makes a
 * table anew whose subplan no parameter changes; it lives as long as the
 * execution.  The memory that a look into it takes is shared, too: the
 * executor resets that of the state that it looks for.
 *
 * src/pg/pg_subplan.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "executor/execExpr.h"

/* See pg.h. */
List *
strata_subplans_of(ExprState *state)
{
	List	   *result = NIL;

	for (int i = 0; i < state->steps_len; i++)
	{
		ExprEvalStep *step = &state->steps[i];

		if (ExecEvalStepOp(state, step) == EEOP_SUBPLAN)
			result = lappend(result, step->d.subplan.sstate);
	}
	return result;
}

/* See pg.h. */
bool
strata_subplan_may_share(const SubPlanState *state)
{
	return state->subplan->useHashTable && state->subplan->parParam == NIL &&
		bms_is_empty(state->planstate->plan->extParam);
}

/* See pg.h. */
bool
strata_subplan_take(SubPlanState *state, const SubPlanState *other)
{
	if (other->hashtable == NULL)
		return false;
	Assert(strata_subplan_may_share(state) && state->hashtable == NULL &&
		   other->planstate == state->planstate &&
		   other->numCols == state->numCols);	/* pg:Q12 */
	state->hashtable = other->hashtable;
	state->hashnulls = other->hashnulls;
	state->havehashrows = other->havehashrows;
	state->havenullrows = other->havenullrows;
	state->hashtempcxt = other->hashtempcxt;
	return true;
}
