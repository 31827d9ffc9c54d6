/*-------------------------------------------------------------------------
 *
 * turns_private.h
 *	  What the files about chunks in turn share: turns_query.c, chunk_turns.c
 *	  and turns_plan_data.c.
 *
 * src/hypertable/turns_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_TURNS_PRIVATE_H
#define STRATA_TURNS_PRIVATE_H

#include "hypertable/hypertable_private.h"

#include "nodes/params.h"
#include "nodes/primnodes.h"
#include "utils/partcache.h"

/* What is left for later parts of a query. */
typedef struct StrataTurns
{
	Query	   *query;			/* for all chunks */
	Const	   *edge;			/* where the part before ends; NULL: nothing
								 * is left */
	bool		desc;
	int			chunks;			/* of the part before */
	int			aggregate;		/* the column that is min() or max() of the
								 * time, null of a part without rows; 0: none */
	int			other;			/* both are asked for: that of the other; the
								 * second part is of all chunks */
} StrataTurns;

/* turns_plan_data.c: the list that a plan carries. */
extern List *strata_turns_write(const StrataTurns *turns);

/* Are they turns of an aggregate? */
extern bool strata_turns_aggregate(List *turns);
extern void strata_turns_put(CustomScan *scan, List *turns);
extern void strata_turns_read(CustomScan *scan, StrataTurns *turns);

/*
 * turns_query.c.  Add the condition that the key is below a value, or not
 * below it.
 */
extern void strata_turns_add_condition(Query *query, PartitionKey key,
									   Const *value, bool below);

/*
 * Have a query read no more than so many chunks of those that its conditions
 * leave, the first in its order, unless these are no more than least.
 * *edge: where they end, or NULL: all are read.  Returns how many they are, or
 * -1: it is not known.
 */
extern int	strata_turns_limit(Query *query, Relation rel, bool down,
							   int chunks, int least, ParamListInfo params,
							   Const **edge);

/* Is it min() or max() of the partition key, and of no other rows? */
extern bool strata_turns_is_key_aggregate(const Aggref *agg, PartitionKey key,
										  bool *desc);

#define STRATA_FIRST_CHUNKS 1	/* of the first part */
#define STRATA_LEAST_CHUNKS 2	/* so many are planned at once */

/*
 * turns_ends.c: a query for min() and max() of the key becomes two, of the
 * first chunk and of the last; false: it is none, or has few chunks.
 */
extern bool strata_turns_begin_ends(Query *query, Relation rel,
									ParamListInfo params, StrataTurns *turns);

/* chunk_turns.c.  Is what is being planned a part of another query? */
extern bool strata_turns_is_part(void);

#endif							/* STRATA_TURNS_PRIVATE_H */
