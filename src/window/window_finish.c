/*-------------------------------------------------------------------------
 *
 * window_finish.c
 *	  What a finished plan says of the functions of StrataWindow.
 *
 * The planner finds a node's functions in its scan tuple by their WindowFuncs.
 * From 18 on EXPLAIN looks for the WindowAgg of each that it meets, and fails
 * where there is none; so behind the planner they are calls of functions.
 * Nobody evaluates them: they name columns, and say what type these have.
 *
 * src/window/window_finish.c
 *-------------------------------------------------------------------------
 */
#include "window/window.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "window/window_private.h"

static Node *
name_functions(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, WindowFunc))
	{
		WindowFunc *func = (WindowFunc *) node;

		return (Node *) makeFuncExpr(func->winfnoid, func->wintype,
									 (List *) name_functions((Node *) func->args,
															 context),
									 func->wincollid, func->inputcollid,
									 COERCE_EXPLICIT_CALL);
	}
	return expression_tree_mutator(node, name_functions, context);
}

static void finish_plan(Plan *plan);

static void
finish_plans(List *plans)
{
	ListCell   *lc;

	foreach(lc, plans)
		finish_plan(lfirst(lc));
}

/* Where a StrataWindow may be: not below nodes that only read indexes. */
static void
finish_plan(Plan *plan)
{
	CustomScan *cscan = (CustomScan *) plan;

	check_stack_depth();
	if (plan == NULL)
		return;
	if (IsA(plan, Append))
		finish_plans(((Append *) plan)->appendplans);
	else if (IsA(plan, MergeAppend))
		finish_plans(((MergeAppend *) plan)->mergeplans);
	else if (IsA(plan, SubqueryScan))
		finish_plan(((SubqueryScan *) plan)->subplan);
	else if (IsA(plan, CustomScan))
		finish_plans(cscan->custom_plans);
	finish_plan(outerPlan(plan));
	finish_plan(innerPlan(plan));
	if (IsA(plan, CustomScan) &&
		cscan->methods == &strata_window_scan_methods)
		cscan->custom_scan_tlist =
			(List *) name_functions((Node *) cscan->custom_scan_tlist, NULL);
}

/* See window.h. */
void
strata_window_finish_plan(PlannedStmt *stmt)
{
	finish_plan(stmt->planTree);
	finish_plans(stmt->subplans);
}
