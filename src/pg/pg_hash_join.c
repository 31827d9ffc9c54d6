/*-------------------------------------------------------------------------
 *
 * pg_hash_join.c
 *	  Rows of the small side of a hash join, for who reads the other side.
 *
 * A hash join reads its inner side into a table in memory before it looks at
 * its outer side, but for one row: where the outer side starts cheaply, it is
 * asked for its first row before, since without one nothing need be hashed.
 * Told that there are rows, it builds the table at once; it forgets that when
 * it has.
 *
 * src/pg/pg_hash_join.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "base/compat.h"
#include "executor/executor.h"
#include "executor/hashjoin.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"

/* What nodeHashjoin.c calls the state in which it asks for an outer row. */
#define HJ_NEED_NEW_OUTER 2

/* See pg.h. */
void
strata_hash_join_build_first(HashJoinState *join)
{
	if (join->hj_HashTable == NULL)
		join->hj_OuterNotEmpty = true;
}

/* See pg.h.  As ExecHashJoinImpl does. */
void
strata_hash_join_build(HashJoinState *join)
{
	HashState  *hash = (HashState *) innerPlanState(join);
	HashJoinTable table;

	Assert(join->hj_HashTable == NULL &&
		   !hash->ps.plan->parallel_aware); /* pg:Q8 */
	join->hj_FirstOuterTupleSlot = NULL;
	table = strata_hash_table_create(join, hash,
									 join->js.jointype == JOIN_RIGHT ||
									 join->js.jointype == JOIN_FULL);
	join->hj_HashTable = table;
	hash->hashtable = table;
	(void) MultiExecProcNode(&hash->ps);
	table->nbatch_outstart = table->nbatch;
	join->hj_OuterNotEmpty = false;
	join->hj_JoinState = HJ_NEED_NEW_OUTER;
}

/* See pg.h. */
StrataHashSide
strata_hash_join_side(HashJoinState *join, double *ntuples)
{
	HashJoinTable table = join->hj_HashTable;

	if (table == NULL)
		return STRATA_HASH_NOT_YET;
	if (table->parallel_state != NULL || table->nbatch != 1 ||
		table->skewEnabled)
		return STRATA_HASH_PARTLY;
	*ntuples = table->totalTuples;
	return STRATA_HASH_WHOLE;
}

/* See pg.h. */
void
strata_hash_join_each(HashJoinState *join,
					  void (*take) (MinimalTuple tuple, void *arg), void *arg)
{
	HashJoinTable table = join->hj_HashTable;

	Assert(table->nbatch == 1 && table->parallel_state == NULL);	/* pg:Q8 */
	for (int i = 0; i < table->nbuckets; i++)
	{
		HashJoinTuple tuple = table->buckets.unshared[i];

		CHECK_FOR_INTERRUPTS();
		for (; tuple != NULL; tuple = tuple->next.unshared)
			take(HJTUPLE_MINTUPLE(tuple), arg);
	}
}
