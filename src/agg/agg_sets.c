/*-------------------------------------------------------------------------
 *
 * agg_sets.c
 *	  GROUPING SETS, ROLLUP and CUBE.
 *
 * Rows are grouped by all keys, the finest set, as without grouping sets.  The
 * groups of every other set are combined from these, in the same table: when
 * all rows are in, or before groups are spilled.  A group says in its nulls
 * which set it is of, 0 for the finest; keys that its set lacks are null.
 *
 * src/agg/agg_sets.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "base/compat.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"

/* Groups that are combined before what that took is given back. */
#define GROUPS_PER_RESET 256

struct AggSets
{
	int			nsets;			/* but for the finest */
	uint32	   *lacks;			/* of each, from number 1: bit k, no key k */
	bool		finest;			/* its groups are wanted, too */
	int			ngroupings;
	int32	   *groupings;		/* values of each GROUPING(), set by set */
};

/*-------------------------------------------------------------------------
 * Planning
 *-------------------------------------------------------------------------
 */

/* Number of the key with this reference; -1: there is none. */
static int
key_of_ref(const List *clauses, Index ref)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		if (lfirst_node(SortGroupClause, lc)->tleSortGroupRef == ref)
			return foreach_current_index(lc);
	}
	return -1;
}

/* The keys that a set lacks, as bits; false: it has one that is unknown. */
static bool
lacking_keys(const List *clauses, const List *refs, uint32 *lacks)
{
	ListCell   *lc;

	*lacks = ((uint32) 1 << list_length(clauses)) - 1;
	foreach(lc, refs)
	{
		int			k = key_of_ref(clauses, (Index) lfirst_int(lc));

		if (k < 0)
			return false;
		*lacks &= ~((uint32) 1 << k);
	}
	return true;
}

/* See agg_plan_private.h. */
void
strata_agg_sets_shape(PlannerInfo *root, AggShape *shape)
{
	const Query *parse = root->parse;
	ListCell   *lc;

	shape->reason = "of grouping sets";
	if (!strata_enable_grouping_sets || parse->groupClause == NIL)
		return;
	/* two clauses of one expression can be null apart from each other */
	if (list_length(shape->keys) != list_length(parse->groupClause) ||
		list_length(shape->keys) > AGG_MAX_SET_KEYS ||
		list_length(parse->groupingSets) > AGG_MAX_SETS)
		return;
	foreach(lc, parse->groupClause)
	{
		Node	   *expr = get_sortgroupclause_expr(lfirst(lc),
													root->processed_tlist);

		/* 15 to 17 take a constant for the key, also where it is null */
		if (!contain_var_clause(expr))
			return;
		shape->outputs = lappend(shape->outputs, expr);
	}
	foreach(lc, parse->groupingSets)
	{
		uint32		lacks;

		if (lfirst(lc) != NULL && !IsA(lfirst(lc), IntList))
			return;
		if (!lacking_keys(parse->groupClause, lfirst(lc), &lacks))
			return;
		shape->sets = lappend_int(shape->sets, (int) lacks);
	}
	shape->reason = NULL;
}

/* See agg_plan_private.h. */
List *
strata_agg_sets_groupings(const PlannerInfo *root, const List *functions)
{
	List	   *result = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, functions)
	{
		List	   *keys = NIL;

		foreach(lc2, lfirst_node(GroupingFunc, lc)->refs)
			keys = lappend_int(keys,
							   key_of_ref(root->parse->groupClause,
										  (Index) lfirst_int(lc2)));
		result = lappend(result, keys);
	}
	return result;
}

/* See agg_plan_private.h. */
double
strata_agg_sets_estimate(PlannerInfo *root, const AggShape *shape,
						 double ngroups)
{
	double		total = 0;
	ListCell   *lc;

	if (shape->sets == NIL)
		return ngroups;
	foreach(lc, shape->sets)
	{
		List	   *keys = NIL;
		ListCell   *lc2;

		foreach(lc2, shape->keys)
		{
			if ((lfirst_int(lc) >> foreach_current_index(lc2) & 1) == 0)
				keys = lappend(keys, lfirst(lc2));
		}
		if (keys == NIL)
			total += 1;
		else if (lfirst_int(lc) == 0)
			total += ngroups;
		else
			total += estimate_num_groups(root, keys, ngroups, NULL, NULL);
	}
	return total;
}

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

/* The value of GROUPING() of these keys in a set. */
static int32
grouping_value(const List *keys, uint32 lacks)
{
	uint32		value = 0;
	ListCell   *lc;

	foreach(lc, keys)
		value = value << 1 | (lacks >> lfirst_int(lc) & 1);
	return (int32) value;
}

/* See agg_group_private.h.  Memory: the current context. */
AggSets *
strata_agg_sets_create(const List *lacking, const List *groupings)
{
	AggSets    *sets;
	ListCell   *lc;

	if (lacking == NIL)
		return NULL;
	sets = palloc0(sizeof(AggSets));
	sets->lacks = palloc0(sizeof(uint32) * (list_length(lacking) + 1));
	foreach(lc, lacking)
	{
		/* a set that is asked for again is one of its own */
		if (lfirst_int(lc) == 0 && !sets->finest)
			sets->finest = true;
		else
			sets->lacks[++sets->nsets] = (uint32) lfirst_int(lc);
	}
	Assert(sets->nsets <= AGG_MAX_SETS);	/* agg:G23 */
	sets->ngroupings = list_length(groupings);
	sets->groupings = palloc(sizeof(int32) * (sets->nsets + 1) *
							 Max(sets->ngroupings, 1));
	foreach(lc, groupings)
	{
		for (int s = 0; s <= sets->nsets; s++)
			sets->groupings[s * sets->ngroupings + foreach_current_index(lc)] =
				grouping_value(lfirst(lc), sets->lacks[s]);
	}
	return sets;
}

/* See agg_group_private.h. */
int
strata_agg_sets_count(const AggSets *sets)
{
	return sets->nsets;
}

/* See agg_group_private.h. */
bool
strata_agg_sets_wants(const AggSets *sets, const AggGroup *group)
{
	return sets->finest || agg_group_set(group) != 0;
}

/* See agg_group_private.h. */
void
strata_agg_sets_groupings_of(const AggSets *sets, const AggGroup *group,
							 Datum *values, bool *isnull)
{
	for (int i = 0; i < sets->ngroupings; i++)
	{
		values[i] = Int32GetDatum(sets->groupings[agg_group_set(group) *
												  sets->ngroupings + i]);
		isnull[i] = false;
	}
}

/* Make the group's keys current, but for those that the set lacks. */
static void
load_set_keys(StrataAggState *agg, const AggGroup *group, uint32 lacks)
{
	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];

		key->isnull = ((lacks | group->nulls) >> k) & 1;
		if (!key->isnull)
			key->current = agg_group_keys(group)[k];
	}
}

/* The group's cells as bytes; those of aggregates with DISTINCT empty. */
static void
write_group(StrataAggState *agg, const AggGroup *group, AggCell *room,
			StringInfo buf)
{
	if (agg->distincts == NIL)
	{
		strata_agg_cells_write(agg, agg_group_cells(group, agg->nkeys), buf);
		return;
	}
	/* a value may be in several groups: the set of values has those of each */
	strata_agg_init_cells(agg, room);
	for (int i = 0; i < agg->ncalls; i++)
	{
		const AggCall *call = &agg->calls[i];

		if (call->distinct == NULL)
			memcpy(agg_cell(room, call),
				   agg_cell(agg_group_cells(group, agg->nkeys), call),
				   call->size);
	}
	strata_agg_cells_write(agg, room, buf);
}

/* Take the group into those of all other sets that it belongs to. */
static void
combine_group(StrataAggState *agg, const AggGroup *group, AggCell *room,
			  StringInfo buf)
{
	const AggSets *sets = agg->sets;

	write_group(agg, group, room, buf);
	for (int s = 1; s <= sets->nsets; s++)
	{
		AggCell    *cells;

		load_set_keys(agg, group, sets->lacks[s]);
		agg->set = (uint32) s;
		cells = agg_group_cells(strata_agg_table_find(agg->table), agg->nkeys);
		strata_agg_group_combine(agg, cells, buf->data + VARHDRSZ,
								 buf->data + buf->len);
	}
	agg->set = 0;
}

/* See agg_group_private.h. */
void
strata_agg_sets_expand(StrataAggState *agg)
{
	MemoryContext vector_mcxt = agg->vector_mcxt;
	MemoryContext old;
	AggKey	   *keys = palloc(sizeof(AggKey) * agg->nkeys);
	AggCell    *room = palloc(Max(agg->cells_size, sizeof(AggCell)));
	StringInfoData buf;
	uint32		ngroups;

	memcpy(keys, agg->keys, sizeof(AggKey) * agg->nkeys);
	/* what is computed of the current vector is still needed */
	agg->vector_mcxt = AllocSetContextCreate(vector_mcxt, "StrataAgg sets",
											 ALLOCSET_DEFAULT_SIZES);
	initStringInfo(&buf);
	old = MemoryContextSwitchTo(agg->vector_mcxt);
	ngroups = strata_agg_table_ngroups(agg->table);
	for (uint32 i = 0; i < ngroups; i++)
	{
		const AggGroup *group;

		if (i % GROUPS_PER_RESET == 0)
		{
			CHECK_FOR_INTERRUPTS();
			MemoryContextReset(agg->vector_mcxt);
		}
		group = strata_agg_table_group(agg->table, i);
		if (agg_group_set(group) == 0)
			combine_group(agg, group, room, &buf);
	}
	MemoryContextSwitchTo(old);
	memcpy(agg->keys, keys, sizeof(AggKey) * agg->nkeys);
	pfree(buf.data);
	pfree(room);
	pfree(keys);
	MemoryContextDelete(agg->vector_mcxt);
	agg->vector_mcxt = vector_mcxt;
}

/* See agg_group_private.h. */
void
strata_agg_sets_add_empty(StrataAggState *agg)
{
	const AggSets *sets = agg->sets;
	uint32		all = ((uint32) 1 << agg->nkeys) - 1;

	for (int s = 1; s <= sets->nsets; s++)
	{
		if (sets->lacks[s] != all)
			continue;
		for (int k = 0; k < agg->nkeys; k++)
			agg->keys[k].isnull = true;
		agg->set = (uint32) s;
		strata_agg_table_find(agg->table);
	}
	agg->set = 0;
}
