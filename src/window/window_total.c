/*-------------------------------------------------------------------------
 *
 * window_total.c
 *	  count(*) OVER () beside the first rows: how many there are in all.
 *
 * A page of a list and the number of its rows.  PostgreSQL makes all rows of
 * the query for it, keeps them, and returns the first.  Here it becomes a
 * subquery that is executed once, (SELECT count(*) FROM the same), which reads
 * no more than conditions do; and the page is what it would be without.
 * Conditions are evaluated for both, so two counts, of which each would be a
 * subquery, are left to PostgreSQL; and what the target changes (set_config())
 * must not change them.
 *
 * src/window/window_total.c
 *-------------------------------------------------------------------------
 */
#include "window/window.h"

#include "base/base.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"

/* Is a function of the window about all rows of the query? */
static bool
is_of_all_rows(const Query *query, const WindowFunc * func)
{
	ListCell   *lc;

	foreach(lc, query->windowClause)
	{
		const		WindowClause *clause = lfirst_node(WindowClause, lc);

		if (clause->winref == func->winref)
			return clause->partitionClause == NIL &&
				clause->orderClause == NIL &&
				(clause->frameOptions & ~FRAMEOPTION_NONDEFAULT) ==
				FRAMEOPTION_DEFAULTS;
	}
	return false;
}

/* Window functions of a target. */
typedef struct TotalSearch
{
	const Query *query;
	int			ntotals;		/* counts of all rows that every row shows */
	bool		other;			/* another one, or one that may not be asked */
} TotalSearch;

/*
 * Errors of conditions are raised for all rows by PostgreSQL, so a count in an
 * expression that may pass over it is left.
 */
static bool
find_totals(Node *node, TotalSearch *search)
{
	if (node == NULL)
		return false;
	if (IsA(node, WindowFunc))
	{
		const		WindowFunc *func = (WindowFunc *) node;

		search->ntotals++;
		search->other |= func->winfnoid != F_COUNT_ || func->args != NIL ||
			func->aggfilter != NULL || !is_of_all_rows(search->query, func);
		return search->other;
	}
	if (IsA(node, CaseExpr) || IsA(node, CoalesceExpr) || IsA(node, BoolExpr))
	{
		search->other |= contain_window_function(node);
		return search->other;
	}
	return expression_tree_walker(node, find_totals, search);
}

/* LIMIT NULL, or ALL: the page is all rows. */
static bool
limits_nothing(const Query *query)
{
	return query->limitCount == NULL ||
		(IsA(query->limitCount, Const) &&
		 ((const Const *) query->limitCount)->constisnull);
}

/* See window.h. */
Oid
strata_window_table_of_total(const Query *query)
{
	const FromExpr *from = query->jointree;
	const RangeTblEntry *rte;
	TotalSearch search = {.query = query};

	if (!strata_enable_windows || query->commandType != CMD_SELECT ||
		!query->hasWindowFuncs || limits_nothing(query) ||
		query->hasAggs || query->hasTargetSRFs || query->hasSubLinks ||
		query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || query->distinctClause != NIL ||
		query->setOperations != NULL || query->rowMarks != NIL ||
		query->cteList != NIL || list_length(from->fromlist) != 1 ||
		!IsA(linitial(from->fromlist), RangeTblRef))
		return InvalidOid;
	rte = list_nth_node(RangeTblEntry, query->rtable,
						linitial_node(RangeTblRef, from->fromlist)->rtindex -
						1);
	if (rte->rtekind != RTE_RELATION || rte->tablesample != NULL ||
		contain_volatile_functions((Node *) from) ||
		contain_volatile_functions((Node *) rte->securityQuals) ||
		contain_subplans((Node *) rte->securityQuals) ||
		contain_volatile_functions((Node *) query->targetList))
		return InvalidOid;
	(void) find_totals((Node *) query->targetList, &search);
	return search.other || search.ntotals != 1 ? InvalidOid : rte->relid;
}

/* (SELECT count(*) FROM the query's table WHERE its conditions) */
static Node *
make_total(const Query *original)
{
	Query	   *query = copyObject(unconstify(Query *, original));
	SubLink    *link = makeNode(SubLink);
	Aggref	   *count = makeNode(Aggref);

	count->aggfnoid = F_COUNT_;
	count->aggtype = INT8OID;
	count->aggtranstype = InvalidOid;	/* the planner finds it */
	count->aggstar = true;
	count->aggkind = AGGKIND_NORMAL;
	count->aggsplit = AGGSPLIT_SIMPLE;
	count->aggno = count->aggtransno = -1;
	count->location = -1;
	query->targetList = list_make1(makeTargetEntry((Expr *) count, 1,
												   pstrdup("count"), false));
	query->hasAggs = true;
	query->hasWindowFuncs = false;
	query->windowClause = query->sortClause = NIL;
	query->limitCount = query->limitOffset = NULL;
	query->limitOption = LIMIT_OPTION_COUNT;
	link->subLinkType = EXPR_SUBLINK;
	link->subselect = (Node *) query;
	link->location = -1;
	return (Node *) link;
}

/* The count becomes the subquery. */
static Node *
replace_total(Node *node, void *total)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, WindowFunc))
		return (Node *) total;
	return expression_tree_mutator(node, replace_total, total);
}

/* See window.h. */
void
strata_window_replace_total(Query *query)
{
	Node	   *total = make_total(query);

	Assert(query->limitCount != NULL);	/* window:WF5 */
	query->targetList = (List *) replace_total((Node *) query->targetList,
											   total);
	query->hasSubLinks = true;
	query->hasWindowFuncs = false;
	query->windowClause = NIL;
}
