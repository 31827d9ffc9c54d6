/*-------------------------------------------------------------------------
 *
 * turns_plan_data.c
 *	  What a plan of StrataChunksInTurn carries: the only file that knows how
 *	  it lies in custom_private.
 *
 * src/hypertable/turns_plan_data.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/turns_private.h"

/* What is where in a plan's private list. */
enum
{
	PLAN_QUERY,					/* Query, for all chunks */
	PLAN_EDGE,					/* Const, where the first part ends */
	PLAN_NUMBERS				/* IntList: downwards, chunks, aggregate,
								 * other */
};

/* See turns_private.h. */
List *
strata_turns_write(const StrataTurns *turns)
{
	Assert(turns->edge != NULL && !turns->edge->constisnull);	/* hypertable:Y12 */
	return list_make3(turns->query, turns->edge,
					  list_make4_int(turns->desc, turns->chunks,
									 turns->aggregate, turns->other));
}

/* See turns_private.h. */
bool
strata_turns_aggregate(List *turns)
{
	return lthird_int((List *) list_nth(turns, PLAN_NUMBERS)) != 0;
}

/* See turns_private.h. */
void
strata_turns_put(CustomScan *scan, List *turns)
{
	scan->custom_private = turns;
}

/* See turns_private.h. */
void
strata_turns_read(CustomScan *scan, StrataTurns *turns)
{
	List	   *numbers = list_nth(scan->custom_private, PLAN_NUMBERS);

	turns->query = list_nth_node(Query, scan->custom_private, PLAN_QUERY);
	turns->edge = list_nth_node(Const, scan->custom_private, PLAN_EDGE);
	turns->desc = linitial_int(numbers) != 0;
	turns->chunks = lsecond_int(numbers);
	turns->aggregate = lthird_int(numbers);
	turns->other = lfourth_int(numbers);
}
