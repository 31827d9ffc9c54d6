/*-------------------------------------------------------------------------
 *
 * gapfill_find.c
 *	  Looks for queries that fill gaps: in subqueries, WITH, and in SQL
 *	  functions that the planner would inline.
 *
 * src/gapfill/gapfill_find.c
 *-------------------------------------------------------------------------
 */
#include "gapfill/gapfill_private.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

typedef struct Visit
{
	ParamListInfo params;
	List	   *functions;		/* oids of inlined functions */
	List	   *active;			/* those we are in */
	bool		found;			/* a query was rewritten */
} Visit;

static bool visit(Node *node, Visit *context);

/*
 * The planner inlines functions in SQL after we have looked at the query, so
 * do it now where gaps are filled in one.
 */
static void
visit_function(RangeTblEntry *rte, Visit *context)
{
	PlannerGlobal *glob = makeNode(PlannerGlobal);
	PlannerInfo *root = makeNode(PlannerInfo);
	RangeTblEntry *copy = copyObject(rte);
	Oid			funcid;
	Visit		inside = {.params = context->params};
	Query	   *body;

	funcid = ((FuncExpr *) linitial_node(RangeTblFunction,
										 rte->functions)->funcexpr)->funcid;
	if (list_member_oid(context->active, funcid))
		return;					/* it calls itself */
	inside.active = lappend_oid(list_copy(context->active), funcid);

	glob->boundParams = context->params;
	root->glob = glob;
	root->parse = makeNode(Query);
	copy->functions = (List *)
		eval_const_expressions(root, (Node *) copy->functions);
	body = inline_set_returning_function(root, copy);
	if (body == NULL)
		return;
	(void) visit((Node *) body, &inside);
	if (!inside.found)
		return;
	context->found = true;
	context->functions = list_concat(context->functions, inside.functions);
	context->functions = lappend_oid(context->functions, funcid);
	rte->functions = copy->functions;
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = body;
	rte->security_barrier = false;
	rte->funcordinality = false;
}

/*
 * Look for calls of our functions, in all queries and in SQL functions that
 * may be inlined; true ends the walk.
 */
static bool
visit(Node *node, Visit *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, RangeTblEntry))
	{
		if (strata_rte_may_be_inlined((RangeTblEntry *) node))
			visit_function((RangeTblEntry *) node, context);
		return false;
	}
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		/*
		 * without sublinks, queries are nowhere but in the range table and
		 * WITH
		 */
		if (query->hasSubLinks)
			(void) query_tree_walker(query, visit, context,
									 QTW_EXAMINE_RTES_BEFORE);
		else
		{
			(void) range_table_walker(query->rtable, visit, context,
									  QTW_EXAMINE_RTES_BEFORE);
			(void) expression_tree_walker((Node *) query->cteList, visit,
										  context);
		}
		if (strata_gapfill_rewrite_query(query))
			context->found = true;
		return false;
	}
	return expression_tree_walker(node, visit, context);
}

/* See gapfill.h. */
void
strata_gapfill_rewrite(Query *query, ParamListInfo params, List **functions)
{
	Visit		context = {.params = params};

	if (query->commandType != CMD_UTILITY)
		(void) visit((Node *) query, &context);
	*functions = context.functions;
}
