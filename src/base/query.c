/*-------------------------------------------------------------------------
 *
 * query.c
 *	  The queries inside a query, and those that planning will put there.
 *
 * Every statement's planning looks for some kinds of tables and conditions.  A
 * walk through all expressions would cost each of them more than the rest of
 * that search; only sublinks hide queries there, and the parser says of a
 * query whether it has any.
 *
 * src/base/query.c
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/base.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* For visit_expression(). */
typedef struct Visit
{
	StrataQueryVisit visit;
	void	   *context;
} Visit;

static bool
visit_expression(Node *node, void *context)
{
	Visit	   *visit = context;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return strata_query_visit_all((Query *) node, visit->visit,
									  visit->context);
	return expression_tree_walker(node, visit_expression, context);
}

/* See base.h. */
bool
strata_rte_may_be_inlined(RangeTblEntry *rte)
{
	FuncExpr   *call;
	HeapTuple	tuple;
	Form_pg_proc form;
	bool		result;

	if (rte->rtekind != RTE_FUNCTION || list_length(rte->functions) != 1)
		return false;
	call =
		(FuncExpr *) linitial_node(RangeTblFunction, rte->functions)->funcexpr;
	if (call == NULL || !IsA(call, FuncExpr) ||
		call->funcid < FirstNormalObjectId)
		return false;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(call->funcid));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	result = form->prolang == SQLlanguageId && form->proretset &&
		form->provolatile != PROVOLATILE_VOLATILE;
	ReleaseSysCache(tuple);
	return result;
}

/* See base.h. */
bool
strata_query_visit_all(Query *query, StrataQueryVisit visit, void *context)
{
	Visit		inside = {visit, context};
	ListCell   *lc;

	check_stack_depth();
	if (visit(query, context))
		return true;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_SUBQUERY &&
			strata_query_visit_all(rte->subquery, visit, context))
			return true;
	}
	foreach(lc, query->cteList)
	{
		if (visit_expression(lfirst_node(CommonTableExpr, lc)->ctequery,
							 &inside))
			return true;
	}
	return query->hasSubLinks &&
		query_tree_walker(query, visit_expression, &inside,
						  QTW_IGNORE_RT_SUBQUERIES |
						  QTW_IGNORE_CTE_SUBQUERIES);
}

/* See base.h. */
bool
strata_check_function(Oid funcid, check_function_callback check,
					  void *context)
{
	HeapTuple	tuple;
	bool		found = false;

	if (check(funcid, context))
		return true;
	/* those of built in aggregates are as they say they are */
	if (funcid < FirstNormalObjectId ||
		get_func_prokind(funcid) != PROKIND_AGGREGATE)
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(funcid));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_aggregate form = (Form_pg_aggregate) GETSTRUCT(tuple);
		Oid			parts[] = {
			form->aggtransfn, form->aggfinalfn, form->aggcombinefn,
			form->aggserialfn, form->aggdeserialfn, form->aggmtransfn,
			form->aggminvtransfn, form->aggmfinalfn
		};

		for (int i = 0; i < lengthof(parts) && !found; i++)
			found = OidIsValid(parts[i]) && check(parts[i], context);
		ReleaseSysCache(tuple);
	}
	return found;
}
