/*-------------------------------------------------------------------------
 *
 * pg_agg_state.c
 *	  An AggState for an aggregate's functions that are called outside
 *	  nodeAgg.c.
 *
 * Functions of aggregates look at who calls them: for the memory that states
 * live in (AggCheckCallContext), the Aggref (AggGetAggref), whether another
 * aggregate has the same state (AggStateIsShared), memory for a while
 * (AggGetTempMemoryContext), and to be told when the state goes away
 * (AggRegisterCallback).  All of these look into an AggState, or into a
 * WindowAggState.  So there is an AggState with what these five read, and
 * nothing else: it is never executed.
 *
 * src/pg/pg_agg_state.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "executor/executor.h"
#include "executor/nodeAgg.h"

/* See pg.h. */
AggState *
strata_agg_state_create(const Aggref *aggref, MemoryContext memory)
{
	AggState   *state = makeNode(AggState);
	AggStatePerTrans trans = palloc0(sizeof(AggStatePerTransData));

	/* functions read it; who would write to it is none of PostgreSQL's */
	trans->aggref = unconstify(Aggref *, aggref);
	trans->aggshared = false;
	state->curpertrans = trans;
	state->pertrans = trans;
	state->numtrans = 1;
	state->tmpcontext = CreateStandaloneExprContext();
	if (memory == NULL)
		state->curaggcontext = CreateStandaloneExprContext();
	else
	{
		state->curaggcontext = makeNode(ExprContext);
		state->curaggcontext->ecxt_per_query_memory = CurrentMemoryContext;
		state->curaggcontext->ecxt_per_tuple_memory = memory;
	}
	return state;
}

/* See pg.h. */
MemoryContext
strata_agg_state_memory(const AggState *state)
{
	return state->curaggcontext->ecxt_per_tuple_memory;
}

/* See pg.h. */
void
strata_agg_state_reset(AggState *state)
{
	ReScanExprContext(state->curaggcontext);
	ReScanExprContext(state->tmpcontext);
}
