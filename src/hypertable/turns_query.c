/*-------------------------------------------------------------------------
 *
 * turns_query.c
 *	  Which queries take chunks in turn, and which chunks one part of such a
 *	  query reads.
 *
 * Conditions on the time say where to begin.  One whose value may be another
 * later is taken by the value it has now: it chooses the first part, no more.
 *
 * src/hypertable/turns_query.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/chunk_route.h"
#include "hypertable/turns_private.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "parser/parsetree.h"
#include "partitioning/partbounds.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* A part that would be larger takes all that is left. */
#define MAX_CHUNKS 256

/* Chunks that a query may read, by its conditions on the time alone. */
typedef struct TurnsWindow
{
	int			first;			/* indexes into the list of partitions */
	int			last;			/* < first: none */
	bool		known[2];		/* its end below, above is by a constant */
	bool		unknown[2];		/* there is a condition that says more */
	ParamListInfo params;		/* values of parameters, or NULL */
} TurnsWindow;


/* Is it a query for the first rows of an order? */
static bool
asks_for_first(const Query *query)
{
	if (query->hasAggs || query->sortClause == NIL ||
		query->limitCount == NULL || query->limitOffset != NULL ||
		query->limitOption != LIMIT_OPTION_COUNT)
		return false;
	return !IsA(query->limitCount, Const) ||
		!((Const *) query->limitCount)->constisnull;
}

/* Is it one for a single row of aggregates? */
static bool
asks_for_aggregates(const Query *query)
{
	return query->hasAggs && query->sortClause == NIL &&
		query->limitCount == NULL && query->limitOffset == NULL;
}

/* A table that parts of can be read, or NULL. */
static RangeTblEntry *
table_of(Query *query)
{
	RangeTblEntry *rte;

	if (query->commandType != CMD_SELECT || query->hasWindowFuncs ||
		query->hasTargetSRFs || query->hasSubLinks ||
		query->cteList != NIL || query->rowMarks != NIL ||
		query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || query->distinctClause != NIL ||
		query->setOperations != NULL ||
		(!asks_for_first(query) && !asks_for_aggregates(query)) ||
		list_length(query->rtable) != 1 ||
		list_length(query->jointree->fromlist) != 1)
		return NULL;
	rte = linitial_node(RangeTblEntry, query->rtable);
	return rte->rtekind == RTE_RELATION &&
		rte->relkind == RELKIND_PARTITIONED_TABLE && rte->inh &&
		rte->tablesample == NULL &&
		IsA(linitial(query->jointree->fromlist), RangeTblRef) ?
		rte :
		NULL;
}

/* Is the node the partition key, a column? */
static bool
is_key(const void *node, PartitionKey key)
{
	const Var  *var = node;

	return IsA(node, Var) && var->varlevelsup == 0 && var->varno == 1 &&
		var->varattno == key->partattrs[0] && key->partattrs[0] != 0 &&
		var->vartype == key->partopcintype[0];
}

/* Does the query begin its order with the key?  *desc: downwards? */
static bool
is_ordered_by_key(Query *query, PartitionKey key, bool *desc)
{
	SortGroupClause *sort = linitial_node(SortGroupClause, query->sortClause);
	TargetEntry *te = get_sortgroupclause_tle(sort, query->targetList);
	Oid			family;
	Oid			type;
	StrataSortOrder order;

	if (!is_key(te->expr, key) ||
		!get_ordering_op_properties(sort->sortop, &family, &type, &order) ||
		family != key->partopfamily[0] || type != key->partopcintype[0])
		return false;
	*desc = order == STRATA_SORT_DESC;
	return true;
}

/* What is found of aggregates in the columns of a query. */
typedef struct AggregateSearch
{
	PartitionKey key;
	Aggref	   *found;
	bool		desc;
} AggregateSearch;

/* The operator of min() and max(): first is what sorts first by it. */
static Oid
sort_operator(Oid aggfnoid)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggfnoid));
	Oid			result = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		result = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop;
		ReleaseSysCache(tuple);
	}
	return result;
}

/* See turns_private.h. */
bool
strata_turns_is_key_aggregate(const Aggref *agg, PartitionKey key, bool *desc)
{
	Oid			sortop;
	Oid			family;
	Oid			type;
	StrataSortOrder order;

	if (agg->agglevelsup != 0 || agg->aggkind != AGGKIND_NORMAL ||
		list_length(agg->args) != 1 || agg->aggorder != NIL ||
		agg->aggdistinct != NIL || agg->aggfilter != NULL ||
		!is_key(linitial_node(TargetEntry, agg->args)->expr, key))
		return false;
	sortop = sort_operator(agg->aggfnoid);
	if (!OidIsValid(sortop) ||
		!get_ordering_op_properties(sortop, &family, &type, &order) ||
		family != key->partopfamily[0] || type != key->partopcintype[0])
		return false;
	*desc = order == STRATA_SORT_DESC;
	return true;
}

/*
 * Does the tree need another value of the rows than the one aggregate of the
 * key, a plain one, which is noted?
 */
static bool
needs_other_walker(Node *node, AggregateSearch *search)
{
	Aggref	   *agg = (Aggref *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Var) || IsA(node, GroupingFunc))
		return true;
	if (!IsA(node, Aggref))
		return expression_tree_walker(node, needs_other_walker, search);
	if (search->found != NULL)
		return !equal(agg, search->found);
	if (!strata_turns_is_key_aggregate(agg, search->key, &search->desc))
		return true;
	search->found = agg;
	return false;
}

/*
 * The one aggregate of the key that a query asks for, min() or max(); NULL: it
 * asks for others.  *desc: max()?
 */
static Aggref *
aggregate_of_key(Query *query, PartitionKey key, bool *desc)
{
	AggregateSearch search = {.key = key};

	if (needs_other_walker((Node *) query->targetList, &search))
		return NULL;
	*desc = search.desc;
	return search.found;
}

/*
 * Have the query return the aggregate, in a column that the client does not
 * see; returns its number.
 */
static int
add_aggregate(Query *query, const Aggref *agg)
{
	int			number = list_length(query->targetList) + 1;

	query->targetList = lappend(query->targetList,
								makeTargetEntry(copyObject((Expr *) agg),
												(AttrNumber) number, NULL,
												true));
	return number;
}

/* The partition above the bound of a number, or below; -1: there is none. */
static int
partition_beside(PartitionBoundInfo bounds, int offset, bool upwards)
{
	for (; offset >= 0 && offset <= bounds->ndatums;
		 offset += upwards ? 1 : -1)
	{
		/* the last number stands for what is above all bounds */
		if (bounds->indexes[offset] >= 0)
			return bounds->indexes[offset];
	}
	return -1;
}

/*
 * The value that an expression has now, or the expression.  Parts hold all
 * times, whatever is taken for the first: so it may have another one later.
 */
static Node *
present_value(Node *node, ParamListInfo params)
{
	PlannerInfo root = {.type = T_PlannerInfo};
	PlannerGlobal planner = {.type = T_PlannerGlobal};

	if (contain_var_clause(node))
		return node;
	planner.boundParams = params;
	root.glob = &planner;
	return estimate_expression_value(&root, node);
}

/* Narrow the window by a comparison of the key, which is the left side. */
static void
narrow_window_by(Node *right, int strategy, PartitionKey key,
				 PartitionDesc desc, TurnsWindow *window)
{
	Node	   *value = present_value(right, window->params);
	Const	   *bound = (Const *) value;
	bool		above = strategy == BTLessStrategyNumber ||
	strategy == BTLessEqualStrategyNumber;
	bool		equal = false;
	int			offset;
	int			found;

	if (!IsA(value, Const) || bound->constisnull ||
		bound->consttype != key->partopcintype[0] ||
		strategy == BTEqualStrategyNumber || strategy == 0)
	{
		/* of equality, and of other types, either end */
		window->unknown[above ? 1 : 0] = true;
		if (strategy == BTEqualStrategyNumber || strategy == 0)
			window->unknown[1] = true;
		return;
	}
	offset = partition_range_datum_bsearch(key->partsupfunc,
										   key->partcollation,
										   desc->boundinfo, 1,
										   &bound->constvalue, &equal);
	window->known[above ? 1 : 0] = true;
	if (!above)
	{
		found = partition_beside(desc->boundinfo, offset + 1, true);
		window->first = found < 0 ? desc->nparts : Max(window->first, found);
		return;
	}
	if (equal && strategy == BTLessStrategyNumber)
		offset--;
	found = partition_beside(desc->boundinfo, offset + 1, false);
	window->last = Min(window->last, found);
}

/* Narrow the window by a condition. */
static void
narrow_window(Node *qual, PartitionKey key, PartitionDesc desc,
			  TurnsWindow *window)
{
	OpExpr	   *op = (OpExpr *) qual;
	bool		swapped;
	Oid			opno;

	if (qual == NULL)
		return;
	if (is_andclause(qual))
	{
		ListCell   *lc;

		foreach(lc, ((BoolExpr *) qual)->args)
			narrow_window(lfirst(lc), key, desc, window);
		return;
	}
	if (!IsA(qual, OpExpr) || list_length(op->args) != 2)
		return;
	swapped = is_key(lsecond(op->args), key);
	if (!swapped && !is_key(linitial(op->args), key))
		return;
	opno = swapped ? get_commutator(op->opno) : op->opno;
	narrow_window_by(swapped ? linitial(op->args) : lsecond(op->args),
					 OidIsValid(opno) ?
					 get_op_opfamily_strategy(opno, key->partopfamily[0]) : 0,
					 key, desc, window);
}

/* The bound below or above a partition; NULL: it has none. */
static Const *
bound_beside(PartitionKey key, PartitionDesc desc, int partition, bool below)
{
	PartitionBoundInfo bounds = desc->boundinfo;

	for (int i = 0; i <= bounds->ndatums; i++)
	{
		int			bound = below ? i - 1 : i;

		if (bounds->indexes[i] != partition)
			continue;
		if (bound < 0 || bound >= bounds->ndatums ||
			bounds->kind[bound][0] != PARTITION_RANGE_DATUM_VALUE)
			return NULL;
		return makeConst(key->partopcintype[0], -1, key->partcollation[0],
						 key->parttyplen[0],
						 datumCopy(bounds->datums[bound][0],
								   key->parttypbyval[0], key->parttyplen[0]),
						 false, key->parttypbyval[0]);
	}
	return NULL;
}

/* See turns_private.h. */
void
strata_turns_add_condition(Query *query, PartitionKey key, Const *value,
						   bool below)
{
	Oid			type = key->partopcintype[0];
	Oid			opno = get_opfamily_member(key->partopfamily[0], type, type,
										   below ? BTLessStrategyNumber :
										   BTGreaterEqualStrategyNumber);
	Var		   *var = makeVar(1, key->partattrs[0], type, key->parttypmod[0],
							  key->parttypcoll[0], 0);
	Node	   *qual = (Node *) make_opclause(opno, BOOLOID, false,
											  (Expr *) var,
											  copyObject((Expr *) value),
											  InvalidOid,
											  key->partcollation[0]);

	set_opfuncid((OpExpr *) qual);
	query->jointree->quals = query->jointree->quals == NULL ? qual :
		(Node *) makeBoolExpr(AND_EXPR,
							  list_make2(query->jointree->quals, qual), -1);
}

/* See turns_private.h. */
int
strata_turns_limit(Query *query, Relation rel, bool down, int chunks,
				   int least, ParamListInfo params, Const **edge)
{
	PartitionKey key = RelationGetPartitionKey(rel);
	PartitionDesc desc = RelationGetPartitionDesc(rel, true);
	TurnsWindow window = {.last = desc->nparts - 1,.params = params};
	int			count;

	*edge = NULL;
	if (desc->nparts == 0)
		return 0;
	narrow_window(query->jointree->quals, key, desc, &window);
	for (int i = 0; i < 2; i++)
	{
		if (window.unknown[i] && !window.known[i])
			return -1;
	}
	count = Max(window.last - window.first + 1, 0);
	if (count <= Max(least, chunks) || chunks > MAX_CHUNKS)
		return count;
	*edge = bound_beside(key, desc,
						 down ? window.last - chunks + 1 :
						 window.first + chunks - 1, down);
	if (*edge == NULL)
		return count;
	strata_turns_add_condition(query, key, *edge, !down);
	return chunks;
}

/* Can the partitions of a table have turns? */
static bool
has_ordered_partitions(Relation rel)
{
	PartitionKey key = RelationGetPartitionKey(rel);
	PartitionDesc desc = RelationGetPartitionDesc(rel, true);

	return key->strategy == PARTITION_STRATEGY_RANGE && key->partnatts == 1 &&
		key->partattrs[0] != 0 && desc->nparts > STRATA_LEAST_CHUNKS &&
		!partition_bound_has_default(desc->boundinfo);
}

/*
 * Leave the first chunks to a query of the table, and write down how to go on;
 * NIL: it is to read all.
 */
static List *
begin_turns_of(Query *query, Query *original, Relation rel,
			   ParamListInfo params)
{
	PartitionKey key = RelationGetPartitionKey(rel);
	StrataTurns turns = {.query = original};
	Aggref	   *agg = NULL;

	if (query->hasAggs && strata_turns_begin_ends(query, rel, params, &turns))
		return strata_turns_write(&turns);
	if (query->hasAggs)
		agg = aggregate_of_key(query, key, &turns.desc);
	if (query->hasAggs ? agg == NULL :
		!is_ordered_by_key(query, key, &turns.desc))
		return NIL;
	turns.chunks = strata_turns_limit(query, rel, turns.desc,
									  STRATA_FIRST_CHUNKS,
									  STRATA_LEAST_CHUNKS, params,
									  &turns.edge);
	Assert(turns.edge == NULL ||
		   turns.chunks == STRATA_FIRST_CHUNKS);	/* hypertable:Y12 */
	if (turns.edge == NULL)
		return NIL;
	if (agg != NULL)
	{
		turns.query = copyObject(original);
		add_aggregate(turns.query, agg);
		turns.aggregate = add_aggregate(query, agg);
	}
	return strata_turns_write(&turns);
}

/* See chunk_route.h. */
List *
strata_turns_begin(Query *query, Query *original, int cursor_options,
				   ParamListInfo params)
{
	RangeTblEntry *rte;
	Relation	rel;
	List	   *turns = NIL;

	/* a cursor may be asked to go back */
	if (!strata_enable_chunks_in_turn || strata_turns_is_part() ||
		original == NULL ||
		(cursor_options & (CURSOR_OPT_PARALLEL_OK | CURSOR_OPT_NO_SCROLL)) ==
		0 ||
		(cursor_options & CURSOR_OPT_SCROLL) != 0 ||
		(rte = table_of(query)) == NULL || !strata_hypertable_is(rte->relid) ||
		contain_volatile_functions((Node *) query))
		return NIL;
	rel = table_open(rte->relid, NoLock);
	if (has_ordered_partitions(rel))
		turns = begin_turns_of(query, original, rel, params);
	table_close(rel, NoLock);
	return turns;
}
