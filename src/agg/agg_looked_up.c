/*-------------------------------------------------------------------------
 *
 * agg_looked_up.c
 *	  NOT IN (SELECT column FROM table): each value of the column once.
 *
 * PostgreSQL makes no join of NOT IN.  It has the subselect in a hash table,
 * if all of its rows are likely to fit, and else goes through them for each
 * row of the query.  Rows are only looked up there, so equal ones are one: the
 * subselect becomes SELECT DISTINCT before it is planned, where statistics say
 * that many are equal and equal values are equal bytes.
 *
 * src/agg/agg_looked_up.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"
#include "agg/agg_join_private.h"
#include "agg/agg_private.h"

#include "catalog/pg_statistic.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_clause.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* By statistics, do AGG_ROWS_PER_GROUP rows or more share a value? */
static bool
repeats_values(const RangeTblEntry *rte, AttrNumber attno)
{
	HeapTuple	tuple;
	bool		result;

	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(rte->relid),
							Int16GetDatum(attno),
							BoolGetDatum(rte->relkind ==
										 RELKIND_PARTITIONED_TABLE));
	if (!HeapTupleIsValid(tuple))
		return false;
	/* less than zero: of the rows, the share that is different */
	result = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct >
		-1.0 / AGG_ROWS_PER_GROUP &&
		((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct != 0;
	ReleaseSysCache(tuple);
	return result;
}

/* SELECT column FROM table WHERE ..., and nothing else?  Its column, or NULL */
static Var *
only_column(const Query *query)
{
	const FromExpr *from = query->jointree;
	TargetEntry *entry;

	if (query->commandType != CMD_SELECT || query->hasAggs ||
		query->hasWindowFuncs || query->hasTargetSRFs ||
		query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || query->distinctClause != NIL ||
		query->sortClause != NIL || query->limitCount != NULL ||
		query->limitOffset != NULL || query->setOperations != NULL ||
		query->rowMarks != NIL || query->cteList != NIL ||
		list_length(query->targetList) != 1 ||
		list_length(from->fromlist) != 1 ||
		!IsA(linitial(from->fromlist), RangeTblRef))
		return NULL;
	entry = linitial_node(TargetEntry, query->targetList);
	if (!IsA(entry->expr, Var) || ((Var *) entry->expr)->varlevelsup != 0 ||
		((Var *) entry->expr)->varattno <= 0)
		return NULL;
	return (Var *) entry->expr;
}

/* Have the subselect return each value once, if it may and pays. */
static void
make_distinct(Query *query, bool (*is_ours) (Oid relid))
{
	Var		   *var = only_column(query);
	const RangeTblEntry *rte;
	SortGroupClause *clause;
	Oid			less;
	Oid			equal;
	bool		hashable;

	if (var == NULL)
		return;
	rte = rt_fetch(var->varno, query->rtable);
	if (rte->rtekind != RTE_RELATION || rte->tablesample != NULL ||
		contain_vars_of_level((Node *) query, 1) ||
		contain_volatile_functions((Node *) query->jointree->quals) ||
		contain_volatile_functions((Node *) rte->securityQuals))
		return;
	get_sort_group_operators(var->vartype, false, false, false, &less, &equal,
							 NULL, &hashable);
	if (!OidIsValid(less) || !OidIsValid(equal) ||
		!strata_agg_is_equal_by_image(var->vartype, var->varcollid, equal) ||
		!repeats_values(rte, var->varattno) || !is_ours(rte->relid))
		return;
	clause = makeNode(SortGroupClause);
	clause->tleSortGroupRef =
		assignSortGroupRef(linitial_node(TargetEntry, query->targetList),
						   query->targetList);
	clause->eqop = equal;
	clause->sortop = less;
	clause->hashable = hashable;
	query->distinctClause = list_make1(clause);
}

/* For the walk through expressions. */
typedef struct LookedUpContext
{
	bool		(*is_ours) (Oid relid);
} LookedUpContext;

/* NOT IN is NOT (... = ANY), or <> ALL; what is in subselects comes by itself */
static bool
find_subselects(Node *node, void *context)
{
	const LookedUpContext *search = context;
	Node	   *arg = node;

	if (node == NULL)
		return false;
	if (IsA(node, BoolExpr) && ((BoolExpr *) node)->boolop == NOT_EXPR)
		arg = linitial(((BoolExpr *) node)->args);
	if (arg != NULL && IsA(arg, SubLink) &&
		((arg != node && ((SubLink *) arg)->subLinkType == ANY_SUBLINK) ||
		 ((SubLink *) arg)->subLinkType == ALL_SUBLINK))
		make_distinct(castNode(Query, ((SubLink *) arg)->subselect),
					  search->is_ours);
	if (IsA(node, Query))
		return false;
	return expression_tree_walker(node, find_subselects, context);
}

/* For strata_query_visit_all(). */
static bool
visit_query(Query *query, void *context)
{
	if (query->hasSubLinks)
		query_tree_walker(query, find_subselects, context,
						  QTW_IGNORE_RT_SUBQUERIES |
						  QTW_IGNORE_CTE_SUBQUERIES);
	return false;
}

/* See agg.h. */
void
strata_agg_look_up_once(Query *query, bool (*is_ours) (Oid relid))
{
	LookedUpContext context = {is_ours};

	if (strata_enable_vector_agg && strata_enable_join_aggregation)
		strata_query_visit_all(query, visit_query, &context);
}
