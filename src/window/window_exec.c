/*-------------------------------------------------------------------------
 *
 * window_exec.c
 *	  The plan node: rows go through as they come, many at a time, with what
 *	  their functions say beside them.
 *
 * PostgreSQL's WindowAgg writes all rows of a partition to a tuplestore and
 * reads them once for themselves, and once for each function.
 *
 * src/window/window_exec.c
 *-------------------------------------------------------------------------
 */
#include "window/window.h"

#include "base/base.h"
#include "base/compat.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "commands/explain.h"
#ifdef STRATA_EXPLAIN_IS_SPLIT
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "window/window_private.h"

typedef struct StrataWindowState
{
	CustomScanState css;		/* must be first */
	WindowFunction *functions;
	WindowRows	rows;
	WindowOutput output;
	int			next;			/* of the rows that passed */
} StrataWindowState;

static Node *create_window_state(CustomScan *cscan);
static void begin_window(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_window(CustomScanState *node);
static void end_window(CustomScanState *node);
static void rescan_window(CustomScanState *node);
static void explain_window(CustomScanState *node, List *ancestors,
						   ExplainState *es);

const CustomScanMethods strata_window_scan_methods = {
	.CustomName = "StrataWindow",
	.CreateCustomScanState = create_window_state,
};

static const CustomExecMethods exec_methods = {
	.CustomName = "StrataWindow",
	.BeginCustomScan = begin_window,
	.ExecCustomScan = exec_window,
	.EndCustomScan = end_window,
	.ReScanCustomScan = rescan_window,
	.ExplainCustomScan = explain_window,
};

/* See window.h. */
void
strata_window_init(void)
{
	RegisterCustomScanMethods(&strata_window_scan_methods);
}

static Node *
create_window_state(CustomScan *cscan)
{
	return strata_custom_state(sizeof(StrataWindowState), &exec_methods);
}

/* As nodeWindowAgg.c does: who runs the query must be allowed to. */
static void
check_window_permission(Oid winfnoid)
{
	AclResult	result = strata_function_aclcheck(winfnoid, GetUserId(),
												  ACL_EXECUTE);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(winfnoid));
	InvokeFunctionExecuteHook(winfnoid);
}

/* A function, and its default, a column or a constant. */
static void
init_function(WindowFunction *function, const WindowCall *call,
			  const List *fallbacks)
{
	Node	   *fallback;

	function->call = *call;
	function->fallback = -1;
	function->fallback_isnull = function->first_isnull = true;
	if (call->fallback < 0)
		return;
	fallback = list_nth(fallbacks, call->fallback);
	if (IsA(fallback, Var))
	{
		function->fallback = ((Var *) fallback)->varattno - 1;
		return;
	}
	Assert(IsA(fallback, Const));	/* window:WF2 */
	function->fallback_value = ((Const *) fallback)->constvalue;
	function->fallback_isnull = ((Const *) fallback)->constisnull;
}

/* BeginCustomScan. */
static void
begin_window(CustomScanState *node, EState *estate, int eflags)
{
	StrataWindowState *window = (StrataWindowState *) node;
	CustomScan *cscan = (CustomScan *) node->ss.ps.plan;
	WindowPlan	plan;

	strata_window_plan_read(cscan, &plan);
	node->custom_ps = list_make1(ExecInitNode(linitial(cscan->custom_plans),
											  estate, eflags));
	window->functions = palloc0(sizeof(WindowFunction) * plan.ncalls);
	for (int i = 0; i < plan.ncalls; i++)
	{
		check_window_permission(plan.calls[i].winfnoid);
		init_function(&window->functions[i], &plan.calls[i],
					  cscan->custom_exprs);
	}
	strata_window_rows_init(&window->rows, node, &plan);
	strata_window_output_init(&window->output, node, &window->rows,
							  strata_enable_window_filter ? plan.quals : NIL);
}

/* Look at the next rows; false: there are none. */
static bool
look_at_next_rows(StrataWindowState *window)
{
	strata_window_call_keep(window->functions, &window->rows);
	/* window:WF7 */
	if (window->output.done || !strata_window_rows_next(&window->rows))
		return false;
	strata_window_call_compute(window->functions, &window->rows);
	strata_window_output_compute(&window->output);
	window->next = 0;
	return true;
}

/* ExecCustomScan. */
static TupleTableSlot *
exec_window(CustomScanState *node)
{
	StrataWindowState *window = (StrataWindowState *) node;
	WindowOutput *output = &window->output;

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(node->ss.ps.ps_ExprContext);
	while (window->next >= output->npassed)
		if (!look_at_next_rows(window))
			return ExecClearTuple(output->slot);
	return strata_window_output_load(output, output->passed[window->next++]);
}

/* See window.h. */
AttrNumber
strata_window_child_column(PlanState *node, AttrNumber resno)
{
	CustomScan *cscan = (CustomScan *) node->plan;
	WindowPlan	plan;
	Var		   *var;

	if (cscan->methods != &strata_window_scan_methods)
		return 0;
	var = (Var *) list_nth_node(TargetEntry, cscan->scan.plan.targetlist,
								resno - 1)->expr;
	if (!IsA(var, Var) || var->varno != INDEX_VAR)
		return 0;
	strata_window_plan_read(cscan, &plan);
	for (int k = 0; k < plan.nkeys; k++)
	{
		if (plan.keys[k] == var->varattno - 1)
			return var->varattno;
	}
	return 0;
}

static void
rescan_window(CustomScanState *node)
{
	StrataWindowState *window = (StrataWindowState *) node;
	PlanState  *child = linitial(node->custom_ps);

	ExecClearTuple(node->ss.ss_ScanTupleSlot);
	ExecClearTuple(window->output.slot);
	strata_window_call_reset(window->functions, &window->rows);
	strata_window_rows_reset(&window->rows);
	window->next = window->output.npassed = 0;
	window->output.done = false;
	if (node->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, node->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
end_window(CustomScanState *node)
{
	ExecEndNode(linitial(node->custom_ps));
}

static void
explain_window(CustomScanState *node, List *ancestors, ExplainState *es)
{
	const WindowOutput *output = &((StrataWindowState *) node)->output;

	if (output->filter == NULL)
		return;
	ExplainPropertyText("Filter Above", "by columns", es);
	if (es->analyze)
		strata_explain_count("Rows Left Out", output->nleft_out, es);
}
