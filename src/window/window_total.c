/*-------------------------------------------------------------------------
 *
 * window_total.c
 *	  count(*) OVER () beside the first rows: how many there are in all.
 *
 * A page of a list and the number of its rows.  PostgreSQL makes all rows of
 * the query for it, keeps them, and returns the first.  Here it becomes a
 * subquery that is executed once, (SELECT count(*) FROM the same), which reads
 * no more than conditions do; and the page is what it would be without.
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

/* Is one of the window functions below something else than such a count? */
static bool
has_other_window(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, WindowFunc))
	{
		const		WindowFunc *func = (WindowFunc *) node;

		return func->winfnoid != F_COUNT_ || func->args != NIL ||
			func->aggfilter != NULL || !is_of_all_rows(context, func);
	}
	return expression_tree_walker(node, has_other_window, context);
}

/* See window.h. */
Oid
strata_window_table_of_total(const Query *query)
{
	const FromExpr *from = query->jointree;
	const RangeTblEntry *rte;

	if (!strata_enable_windows || query->commandType != CMD_SELECT ||
		!query->hasWindowFuncs || query->limitCount == NULL ||
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
		has_other_window((Node *) query->targetList, (void *) query))
		return InvalidOid;
	return rte->relid;
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

/* Each count becomes a copy of the subquery, which is its own parameter. */
static Node *
replace_totals(Node *node, void *total)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, WindowFunc))
		return copyObject(total);
	return expression_tree_mutator(node, replace_totals, total);
}

/* See window.h. */
void
strata_window_replace_total(Query *query)
{
	Node	   *total = make_total(query);

	Assert(query->limitCount != NULL);	/* window:WF5 */
	query->targetList = (List *) replace_totals((Node *) query->targetList,
												total);
	query->hasSubLinks = true;
	query->hasWindowFuncs = false;
	query->windowClause = NIL;
}
