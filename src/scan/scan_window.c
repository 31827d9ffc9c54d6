/*-------------------------------------------------------------------------
 *
 * scan_window.c
 *	  row_number() OVER (PARTITION BY a ORDER BY b) <= k: ordered scans below
 *	  give the first k rows of each a, and pass over the others.
 *
 * The window node leaves out rows behind the k-th of a partition, and asks for
 * nothing else of them.  Each scan below it may thus leave them out itself; of
 * several under a MergeAppend each gives k rows of a partition.
 *
 * src/scan/scan_window.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan.h"
#include "scan/scan_private.h"

#include "access/stratnum.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

static bool
is_row_number(Node *node)
{
	return IsA(node, WindowFunc) &&
		((WindowFunc *) node)->winfnoid == F_ROW_NUMBER;
}

/* What the condition leaves of each partition; 0: it is of no such form. */
static int64
rows_of_condition(Node *node)
{
	OpExpr	   *op = (OpExpr *) node;
	Const	   *constant;
	bool		commuted;
	int64		k;

	if (!IsA(node, OpExpr) || list_length(op->args) != 2)
		return 0;
	commuted = is_row_number(lsecond(op->args));
	if (!commuted && !is_row_number(linitial(op->args)))
		return 0;
	constant = commuted ? linitial(op->args) : lsecond(op->args);
	if (!IsA(constant, Const) || constant->constisnull)
		return 0;
	switch (constant->consttype)
	{
		case INT8OID:
			k = DatumGetInt64(constant->constvalue);
			break;
		case INT4OID:
			k = DatumGetInt32(constant->constvalue);
			break;
		case INT2OID:
			k = DatumGetInt16(constant->constvalue);
			break;
		default:
			return 0;
	}
	switch (get_opcode(op->opno))
	{
		case F_INT8LE:
		case F_INT84LE:
		case F_INT82LE:
			return commuted ? 0 : k;
		case F_INT8LT:
		case F_INT84LT:
		case F_INT82LT:
			return commuted ? 0 : k - 1;
		case F_INT8GE:
		case F_INT48GE:
		case F_INT28GE:
			return commuted ? k : 0;
		case F_INT8GT:
		case F_INT48GT:
		case F_INT28GT:
			return commuted ? k - 1 : 0;
		default:
			return 0;
	}
}

/* How many rows of each partition the node wants; 0: all, for all we know. */
static int64
rows_wanted(WindowAggState * window)
{
	const WindowAgg *plan = (WindowAgg *) window->ss.ps.plan;
	int64		least = 0;
	ListCell   *lc;

	if (plan->partNumCols == 0 || !plan->topWindow ||
		plan->runCondition == NIL)
		return 0;
	foreach(lc, window->funcs)
	{
		WindowFuncExprState *func = lfirst(lc);

		if (func->wfunc->winfnoid != F_ROW_NUMBER)
			return 0;
	}
	foreach(lc, plan->runConditionOrig)
	{
		int64		k = rows_of_condition(lfirst(lc));

		if (k > 0)
			least = least == 0 ? k : Min(least, k);
	}
	return least;
}

/*
 * Tell a scan, if its order begins with the partition's columns; else it gives
 * all rows.
 */
static void
limit_scan(StrataScanState *scan, const WindowAgg *window, int64 k)
{
	const Plan *plan = scan->css.ss.ps.plan;
	int			n = window->partNumCols;

	if (scan->info.nkeys < n ||
		contain_volatile_functions((Node *) plan->targetlist) ||
		contain_volatile_functions((Node *) plan->qual))
		return;
	for (int i = 0; i < n; i++)
	{
		AttrNumber	attno;
		bool		found = false;

		attno = strata_scan_result_attno(&scan->css.ss.ps,
										 window->partColIdx[i]);
		for (int key = 0; key < n && attno != 0; key++)
			found |= scan->info.keys[key].attno == attno;
		if (!found)
			return;
	}
	Assert(n > 0 && k > 0 && scan->group_limit == 0);	/* scan:R16 */
	scan->group_columns = n;
	scan->group_limit = k;
}

/* See limit_scan(); of all scans that the node's rows come from in order. */
static void
limit_below(PlanState *node, const WindowAgg *window, int64 k)
{
	StrataScanState *scan = strata_scan_state(node);

	if (scan != NULL)
		limit_scan(scan, window, k);
	else if (IsA(node, MergeAppendState))
	{
		MergeAppendState *append = (MergeAppendState *) node;

		for (int i = 0; i < append->ms_nplans; i++)
			limit_below(append->mergeplans[i], window, k);
	}
}

static bool
limit_windows(PlanState *node, void *context)
{
	check_stack_depth();
	if (IsA(node, WindowAggState))
	{
		int64		k = rows_wanted((WindowAggState *) node);

		if (k > 0)
			limit_below(outerPlanState(node), (WindowAgg *) node->plan, k);
	}
	return planstate_tree_walker(node, limit_windows, context);
}

/* See scan.h. */
void
strata_scan_bind_windows(PlanState *node)
{
	if (node != NULL && strata_enable_window_limit)
		(void) limit_windows(node, NULL);
}
