/*-------------------------------------------------------------------------
 *
 * agg_order.c
 *	  Groups in the order that the query wants them in.
 *
 * A sort above us would compare two times and two texts for each step.  Groups
 * have few different values of each key, hours and hosts, say: those are
 * sorted by their type's comparison, each value is replaced by its rank, the
 * ranks of a group make one number, and numbers are what all groups are sorted
 * by.
 *
 * Groups that were spilled are not in memory together; then rows go into a
 * sort of PostgreSQL's, as they would above us.
 *
 * src/agg/agg_order.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "access/stratnum.h"
#include "base/compat.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/paths.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"

/* A key that groups are sorted by. */
typedef struct OrderKey
{
	int			key;			/* number of the key */
	Oid			sortop;
	Oid			collation;
	bool		nulls_first;
	SortSupportData ssup;
} OrderKey;

struct AggOrder
{
	int			nkeys;
	OrderKey   *keys;
	MemoryContext mcxt;			/* of a sort; reset when it is done */
	Tuplesortstate *sort;		/* of rows; NULL: groups are sorted in memory */
	TupleTableSlot *slot;
};

/* A value of a key, and its place among them. */
typedef struct RankedValue
{
	Datum		value;
	bool		isnull;
	uint32		hash;
	uint32		number;			/* in the order they were met */
} RankedValue;

/* The different values of a key. */
typedef struct ValueSet
{
	const AggKey *key;
	uint32		nvalues;
	RankedValue *values;
	uint32		nslots;			/* a power of two */
	uint32	   *slots;			/* number of a value + 1; 0: free */
} ValueSet;

/* A group, and what it is sorted by. */
typedef struct RankedGroup
{
	uint64		rank;
	AggGroup   *group;
} RankedGroup;

#define ST_SORT sort_groups
#define ST_ELEMENT_TYPE RankedGroup
#define ST_COMPARE(a, b) ((a)->rank < (b)->rank ? -1 : (a)->rank > (b)->rank)
#define ST_SCOPE static
#define ST_DEFINE
#define ST_DECLARE
#include "lib/sort_template.h"

#define ST_SORT sort_values
#define ST_ELEMENT_TYPE RankedValue
#define ST_COMPARE_ARG_TYPE SortSupportData
#define ST_COMPARE(a, b, ssup) \
	ApplySortComparator((a)->value, (a)->isnull, (b)->value, (b)->isnull, ssup)
#define ST_SCOPE static
#define ST_DEFINE
#define ST_DECLARE
#include "lib/sort_template.h"

/*-------------------------------------------------------------------------
 * Planning
 *-------------------------------------------------------------------------
 */

/*
 * What the query does with the groups next wants them in this order; NIL: in
 * any.
 */
static List *
wanted_pathkeys(PlannerInfo *root)
{
	if (root->window_pathkeys != NIL)
		return root->window_pathkeys;
	return root->distinct_pathkeys != NIL && root->parse->groupClause != NIL ?
		root->distinct_pathkeys : root->sort_pathkeys;
}

/*
 * The pathkey as numbers: of the key, operator, collation, nulls first; NIL:
 * it is about something else.
 */
static List *
order_key(const PathKey *pathkey, List *keys)
{
	ListCell   *lc;

	foreach(lc, pathkey->pk_eclass->ec_members)
	{
		const EquivalenceMember *member = lfirst(lc);
		int			number = 0;
		ListCell   *lc2;

		foreach(lc2, keys)
		{
			Oid			sortop;

			if (equal(lfirst(lc2), member->em_expr) && !member->em_is_child)
			{
				sortop = get_opfamily_member(pathkey->pk_opfamily,
											 member->em_datatype,
											 member->em_datatype,
											 strata_pathkey_is_desc(pathkey) ?
											 BTGreaterStrategyNumber :
											 BTLessStrategyNumber);
				if (OidIsValid(sortop))
					return list_make4_int(number, (int) sortop,
										  (int)
										  pathkey->pk_eclass->ec_collation,
										  pathkey->pk_nulls_first);
			}
			number++;
		}
	}
	return NIL;
}

/* Is the pathkey about one expression? */
static bool
is_of_one(const PathKey *pathkey)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, pathkey->pk_eclass->ec_members)
		n += !((const EquivalenceMember *) lfirst(lc))->em_is_child;
	return n == 1;
}

/* See agg_plan_private.h. */
List *
strata_agg_order_plan(PlannerInfo *root, const AggShape *shape, List **order)
{
	List	   *pathkeys = wanted_pathkeys(root);
	ListCell   *lc;

	*order = NIL;
	if (shape->keys == NIL || !strata_enable_ordered_scan)
		return NIL;
	foreach(lc, pathkeys)
	{
		const PathKey *pathkey = lfirst_node(PathKey, lc);
		List	   *numbers = order_key(pathkey, shape->outputs != NIL ?
										shape->outputs : shape->keys);

		/* what is equal below may be null alone in a grouping set */
		if (numbers == NIL ||
			(shape->sets != NIL && !is_of_one(pathkey)))
			return NIL;
		*order = lappend(*order, numbers);
	}
	return pathkeys;
}

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

/* See agg_group_private.h.  Memory: the current context. */
AggOrder *
strata_agg_order_create(StrataAggState *agg, List *numbers)
{
	AggOrder   *order;
	ListCell   *lc;

	if (numbers == NIL)
		return NULL;
	order = palloc0(sizeof(AggOrder));
	order->keys = palloc0(sizeof(OrderKey) * list_length(numbers));
	order->mcxt = AllocSetContextCreate(CurrentMemoryContext,
										"StrataAgg order",
										ALLOCSET_DEFAULT_SIZES);
	foreach(lc, numbers)
	{
		List	   *one = lfirst(lc);
		OrderKey   *key = &order->keys[order->nkeys++];

		key->key = linitial_int(one);
		Assert(key->key < agg->nkeys);	/* agg:G14 */
		key->sortop = (Oid) lsecond_int(one);
		key->collation = (Oid) lthird_int(one);
		key->nulls_first = lfourth_int(one) != 0;
		key->ssup.ssup_cxt = CurrentMemoryContext;
		key->ssup.ssup_collation = key->collation;
		key->ssup.ssup_nulls_first = key->nulls_first;
		PrepareSortSupportFromOrderingOp(key->sortop, &key->ssup);
	}
	return order;
}

/* Which keys, for EXPLAIN: IntList. */
List *
strata_agg_order_keys(const AggOrder *order)
{
	List	   *result = NIL;

	for (int i = 0; i < order->nkeys; i++)
		result = lappend_int(result, order->keys[i].key);
	return result;
}

/* Twice as many slots; values keep their numbers. */
static void
grow_set(ValueSet *set)
{
	uint32		mask;

	pfree(set->slots);
	set->nslots *= 2;
	mask = set->nslots - 1;
	set->slots = MemoryContextAllocExtended(CurrentMemoryContext,
											sizeof(uint32) * set->nslots,
											MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	set->values = repalloc_huge(set->values,
								sizeof(RankedValue) * set->nslots / 2);
	for (uint32 n = 0; n < set->nvalues; n++)
	{
		uint32		i = set->values[n].hash & mask;

		while (set->slots[i] != 0)
			i = (i + 1) & mask;
		set->slots[i] = n + 1;
	}
}

/* Number of the value in the set; values of other bytes are other values. */
static uint32
find_value(ValueSet *set, Datum value, bool isnull)
{
	const AggKey *key = set->key;
	uint32		hash;
	uint32		i;
	RankedValue *v;

	hash = isnull ? 0 : key->typbyval ?
		murmurhash32((uint32) value ^ (uint32) (value >> 32)) :
		datum_image_hash(value, false, key->typlen);
	if (set->nvalues >= set->nslots / 2)
		grow_set(set);
	for (i = hash & (set->nslots - 1); set->slots[i] != 0;
		 i = (i + 1) & (set->nslots - 1))
	{
		v = &set->values[set->slots[i] - 1];
		if (v->hash == hash && v->isnull == isnull &&
			(isnull || (key->typbyval ? v->value == value :
						datum_image_eq(v->value, value, false,
									   key->typlen))))
			return v->number;
	}
	v = &set->values[set->nvalues];
	v->value = value;
	v->isnull = isnull;
	v->hash = hash;
	v->number = set->nvalues++;
	set->slots[i] = set->nvalues;
	return v->number;
}

/*
 * ranks[g] becomes the rank of group g's key among all; returns how many ranks
 * there are.
 */
static uint32
rank_key(OrderKey *order, const AggKey *key, AggGroup **groups, uint32 ngroups,
		 uint32 *ranks)
{
	ValueSet	set = {key, 0, NULL, 256, NULL};
	uint32	   *rank_of;
	uint32		nranks = 0;

	set.slots = palloc0(sizeof(uint32) * set.nslots);
	set.values = palloc(sizeof(RankedValue) * set.nslots / 2);
	for (uint32 g = 0; g < ngroups; g++)
		ranks[g] = find_value(&set, agg_group_keys(groups[g])[order->key],
							  (groups[g]->nulls >> order->key) & 1);
	CHECK_FOR_INTERRUPTS();
	sort_values(set.values, set.nvalues, &order->ssup);
	rank_of = MemoryContextAllocHuge(CurrentMemoryContext,
									 sizeof(uint32) * Max(set.nvalues, 1));
	for (uint32 n = 0; n < set.nvalues; n++)
	{
		const RankedValue *v = &set.values[n];

		/* equal ones, if of other bytes, have the same rank */
		if (n > 0 && ApplySortComparator(v[-1].value, v[-1].isnull, v->value,
										 v->isnull, &order->ssup) != 0)
			nranks++;
		rank_of[v->number] = nranks;
	}
	for (uint32 g = 0; g < ngroups; g++)
		ranks[g] = rank_of[ranks[g]];
	pfree(rank_of);
	pfree(set.values);
	pfree(set.slots);
	return nranks + 1;
}

/*
 * Sort the groups by as many of the keys from number `from` on as fit into a
 * word; those that are equal by these, by the others.
 */
static void
sort_in_memory(AggOrder *order, StrataAggState *agg, AggGroup **groups,
			   uint32 ngroups, int from)
{
	RankedGroup *ranked;
	uint32	   *ranks;
	int			bits = 0;
	int			k;

	if (ngroups < 2)
		return;
	ranked = MemoryContextAllocHuge(order->mcxt,
									sizeof(RankedGroup) * ngroups);
	ranks = MemoryContextAllocHuge(order->mcxt, sizeof(uint32) * ngroups);
	for (uint32 g = 0; g < ngroups; g++)
	{
		ranked[g].rank = 0;
		ranked[g].group = groups[g];
	}
	for (k = from; k < order->nkeys; k++)
	{
		uint32		n = rank_key(&order->keys[k],
								 &agg->keys[order->keys[k].key], groups,
								 ngroups, ranks);
		int			width = n > 1 ? pg_leftmost_one_pos32(n - 1) + 1 : 0;

		if (bits + width > 64)
			break;
		bits += width;
		Assert(bits <= 64);		/* agg:G14: no rank pushes another out */
		for (uint32 g = 0; g < ngroups; g++)
			ranked[g].rank = ranked[g].rank << width | ranks[g];
	}
	CHECK_FOR_INTERRUPTS();
	sort_groups(ranked, ngroups);
	for (uint32 g = 0; g < ngroups; g++)
		groups[g] = ranked[g].group;
	for (uint32 g = 0, end; g < ngroups && k < order->nkeys; g = end)
	{
		for (end = g + 1; end < ngroups && ranked[end].rank == ranked[g].rank;
			 end++)
			;
		sort_in_memory(order, agg, groups + g, end - g, k);
	}
	pfree(ranked);
	pfree(ranks);
}

/* Rows of spilled groups, into a sort. */
static void
sort_rows(AggOrder *order, StrataAggState *agg)
{
	TupleDesc	desc = agg->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	ExprContext *econtext = agg->css.ss.ps.ps_ExprContext;
	AttrNumber *attnos = palloc(sizeof(AttrNumber) * order->nkeys);
	Oid		   *operators = palloc(sizeof(Oid) * order->nkeys);
	Oid		   *collations = palloc(sizeof(Oid) * order->nkeys);
	bool	   *nulls_first = palloc(sizeof(bool) * order->nkeys);

	for (int i = 0; i < order->nkeys; i++)
	{
		attnos[i] = (AttrNumber) (order->keys[i].key + 1);
		operators[i] = order->keys[i].sortop;
		collations[i] = order->keys[i].collation;
		nulls_first[i] = order->keys[i].nulls_first;
	}
	order->sort = tuplesort_begin_heap(desc, order->nkeys, attnos, operators,
									   collations, nulls_first, work_mem, NULL,
									   TUPLESORT_NONE);
	/* the sort has copied them, and there is one for each rescan */
	pfree(attnos);
	pfree(operators);
	pfree(collations);
	pfree(nulls_first);
	if (order->slot == NULL)
		order->slot = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	for (;;)
	{
		MemoryContext old;
		TupleTableSlot *slot;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		slot = strata_agg_next_group(agg);
		MemoryContextSwitchTo(old);
		if (slot == NULL)
			break;
		tuplesort_puttupleslot(order->sort, slot);
	}
	tuplesort_performsort(order->sort);
}

/* See agg_group_private.h. */
void
strata_agg_order_sort(AggOrder *order, StrataAggState *agg)
{
	uint32		ngroups;
	AggGroup  **groups = strata_agg_table_groups(agg->table, &ngroups);
	MemoryContext old;

	if (groups == NULL)
	{
		sort_rows(order, agg);
		return;
	}
	old = MemoryContextSwitchTo(order->mcxt);
	sort_in_memory(order, agg, groups, ngroups, 0);
	MemoryContextSwitchTo(old);
	MemoryContextReset(order->mcxt);
}

/* See agg_group_private.h. */
bool
strata_agg_order_next(AggOrder *order, StrataAggState *agg,
					  TupleTableSlot **slot)
{
	if (order == NULL || order->sort == NULL)
		return false;
	/* the caller may return it, empty, at the end */
	ExecClearTuple(agg->css.ss.ss_ScanTupleSlot);
	*slot = NULL;
	if (tuplesort_gettupleslot(order->sort, true, false, order->slot, NULL))
	{
		/* expressions have been made for a virtual slot */
		*slot = agg->css.ss.ss_ScanTupleSlot;
		slot_getallattrs(order->slot);
		memcpy((*slot)->tts_values, order->slot->tts_values,
			   sizeof(Datum) * order->slot->tts_nvalid);
		memcpy((*slot)->tts_isnull, order->slot->tts_isnull,
			   sizeof(bool) * order->slot->tts_nvalid);
		ExecStoreVirtualTuple(*slot);
	}
	return true;
}

/* See agg_group_private.h. */
void
strata_agg_order_reset(AggOrder *order)
{
	if (order == NULL)
		return;
	if (order->slot != NULL)
		ExecClearTuple(order->slot);
	if (order->sort != NULL)
		tuplesort_end(order->sort);
	order->sort = NULL;
}

void
strata_agg_order_end(AggOrder *order)
{
	if (order == NULL)
		return;
	strata_agg_order_reset(order);
	if (order->slot != NULL)
		ExecDropSingleTupleTableSlot(order->slot);
	order->slot = NULL;
}
