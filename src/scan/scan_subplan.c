/*-------------------------------------------------------------------------
 *
 * scan_subplan.c
 *	  One hash table for the subplan of a condition of all chunks.
 *
 * The planner copies a condition to each chunk of a hypertable, and the
 * executor makes each copy a hash table of its own of what a subplan in it,
 * that of "x NOT IN (SELECT ...)" say, returns: the subplan runs once for each
 * chunk, and twice where the chunk has rows in both halves.  Where the subplan
 * cannot change while the plan is executed, a scan takes the table that
 * another node has made, or it itself.
 *
 * src/scan/scan_subplan.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan.h"
#include "scan/scan_private.h"
#include "base/base.h"
#include "pg/pg.h"

#include "nodes/nodeFuncs.h"

/* A scan that has found no table so often has rows that need none. */
#define MAX_LOOKS 16

/* States of each of the plan's subplans, by number, that may share a table. */
typedef struct SubplanStates
{
	int			n;				/* highest number + 1 */
	List	  **states;
	bool		some;			/* a subplan has several */
} SubplanStates;

/* A walker: the states of subplans that may share, by number. */
static bool
note_states(PlanState *node, void *context)
{
	SubplanStates *all = context;
	ListCell   *lc;

	foreach(lc, node->subPlan)
	{
		SubPlanState *state = lfirst_node(SubPlanState, lc);
		List	  **states;

		if (!strata_subplan_may_share(state) ||
			state->subplan->plan_id >= all->n)
			continue;
		states = &all->states[state->subplan->plan_id];
		*states = lappend(*states, state);
		all->some |= list_length(*states) > 1;
	}
	return planstate_tree_walker(node, note_states, context);
}

/* A walker: scans that ask one of them. */
static bool
tell_scans(PlanState *node, void *context)
{
	SubplanStates *all = context;
	StrataScanState *scan = strata_scan_state(node);
	ListCell   *lc;

	foreach(lc, scan != NULL ? node->subPlan : NIL)
	{
		SubPlanState *state = lfirst_node(SubPlanState, lc);

		if (strata_subplan_may_share(state) &&
			state->subplan->plan_id < all->n)
			scan->subplan_states = all->states;
	}
	return planstate_tree_walker(node, tell_scans, context);
}

/* See scan.h. */
void
strata_scan_bind_subplans(PlanState *node)
{
	SubplanStates all = {0};
	MemoryContext old;

	if (node == NULL || !strata_enable_join_pruning ||
		node->state->es_plannedstmt->subplans == NIL)
		return;
	old = MemoryContextSwitchTo(node->state->es_query_cxt);
	all.n = list_length(node->state->es_plannedstmt->subplans) + 1;
	all.states = palloc0(sizeof(List *) * all.n);
	(void) note_states(node, &all);
	if (all.some)
		(void) tell_scans(node, &all);
	MemoryContextSwitchTo(old);
}

/* See scan_private.h. */
void
strata_scan_take_subplans(StrataScanState *scan)
{
	bool		lacks_some = false;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, scan->css.ss.ps.subPlan)
	{
		SubPlanState *state = lfirst_node(SubPlanState, lc);

		if (!strata_subplan_may_share(state) || state->hashtable != NULL)
			continue;
		foreach(lc2, scan->subplan_states[state->subplan->plan_id])
		{
			const SubPlanState *other = lfirst_node(SubPlanState, lc2);

			Assert(other->subplan->plan_id ==
				   state->subplan->plan_id);	/* scan:R23 */
			if (strata_subplan_take(state, other))
				break;
		}
		lacks_some |= state->hashtable == NULL;
	}
	if (!lacks_some || ++scan->subplan_looks == MAX_LOOKS)
		scan->subplan_states = NULL;
}
