/*-------------------------------------------------------------------------
 *
 * window_exec.c
 *	  The plan node: rows go through as they come, with what their functions
 *	  say beside them.
 *
 * Of the rows before, the values are kept that lag() and first_value() may
 * still return.  PostgreSQL's WindowAgg writes all rows of a partition to a
 * tuplestore and reads them once for themselves, and once for each function.
 *
 * src/window/window_exec.c
 *-------------------------------------------------------------------------
 */
#include "window/window.h"

#include "base/base.h"
#include "base/compat.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "window/window_private.h"

/* A value that is kept; where it is by reference, in memory of its own. */
typedef struct KeptValue
{
	Datum		value;
	bool		isnull;
} KeptValue;

/* A column of PARTITION BY, and its value in the current partition. */
typedef struct WindowKey
{
	int			column;
	Oid			collation;
	FmgrInfo	eq;
	KeptValue	current;
} WindowKey;

typedef struct WindowFunction
{
	WindowCall	call;
	ExprState  *fallback;
	KeptValue  *kept;			/* lag: a ring of the last `offset` rows' */
	int			next;			/* ... the place of the oldest */
	KeptValue	first;
} WindowFunction;

typedef struct StrataWindowState
{
	CustomScanState css;		/* must be first */
	int			ninputs;
	int			nkeys;
	WindowKey  *keys;
	int			nfunctions;
	WindowFunction *functions;
	bool		started;		/* there is a row before */
	int64		number;			/* of the current row in its partition */
	MemoryContext mcxt;			/* of values that are kept */
} StrataWindowState;

static Node *create_window_state(CustomScan *cscan);
static void begin_window(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_window(CustomScanState *node);
static void end_window(CustomScanState *node);
static void rescan_window(CustomScanState *node);

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
	Assert(node->ss.ss_ScanTupleSlot->tts_tupleDescriptor->natts ==
		   plan.ninputs + plan.ncalls); /* window:WF1 */
	window->mcxt = estate->es_query_cxt;
	window->ninputs = plan.ninputs;
	window->nkeys = plan.nkeys;
	window->keys = palloc0(sizeof(WindowKey) * Max(plan.nkeys, 1));
	for (int k = 0; k < plan.nkeys; k++)
	{
		window->keys[k].column = plan.keys[k];
		window->keys[k].collation = plan.collations[k];
		fmgr_info(get_opcode(plan.eqops[k]), &window->keys[k].eq);
	}
	window->nfunctions = plan.ncalls;
	window->functions = palloc0(sizeof(WindowFunction) * plan.ncalls);
	for (int i = 0; i < plan.ncalls; i++)
	{
		WindowFunction *function = &window->functions[i];

		function->call = plan.calls[i];
		check_window_permission(function->call.winfnoid);
		if (function->call.offset > 0)
			function->kept = palloc0(sizeof(KeptValue) *
									 function->call.offset);
		if (function->call.fallback >= 0)
			function->fallback =
				ExecInitExpr(list_nth(cscan->custom_exprs,
									  function->call.fallback),
							 &node->ss.ps);
	}
}

/* Have the value kept, in the place of what was. */
static void
keep_window_value(StrataWindowState *window, KeptValue *kept, int column)
{
	TupleTableSlot *slot = window->css.ss.ss_ScanTupleSlot;
	Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor, column);
	MemoryContext old;

	Assert(column >= 0 && column < window->ninputs);	/* window:WF2 */
	if (att->attbyval)
	{
		kept->value = slot->tts_values[column];
		kept->isnull = slot->tts_isnull[column];
		return;
	}
	if (DatumGetPointer(kept->value) != NULL)
		pfree(DatumGetPointer(kept->value));
	kept->value = (Datum) 0;
	kept->isnull = slot->tts_isnull[column];
	if (kept->isnull)
		return;
	old = MemoryContextSwitchTo(window->mcxt);
	kept->value = datumCopy(slot->tts_values[column], false, att->attlen);
	MemoryContextSwitchTo(old);
}

/* Is the row in the scan slot of the same partition as the one before? */
static bool
is_same_partition(StrataWindowState *window)
{
	TupleTableSlot *slot = window->css.ss.ss_ScanTupleSlot;

	Assert(window->started && window->number > 0);	/* window:WF4 */
	for (int k = 0; k < window->nkeys; k++)
	{
		WindowKey  *key = &window->keys[k];
		Datum		value = slot->tts_values[key->column];
		Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor,
											  key->column);

		if (slot->tts_isnull[key->column] != key->current.isnull)
			return false;
		/* what is the same is equal; the others their function compares */
		if (key->current.isnull ||
			datumIsEqual(value, key->current.value, att->attbyval,
						 att->attlen))
			continue;
		if (!DatumGetBool(FunctionCall2Coll(&key->eq, key->collation, value,
											key->current.value)))
			return false;
	}
	return true;
}

/* The row in the scan slot is the first of its partition. */
static void
begin_partition(StrataWindowState *window)
{
	window->number = 0;
	for (int k = 0; k < window->nkeys; k++)
		keep_window_value(window, &window->keys[k].current,
						  window->keys[k].column);
	for (int i = 0; i < window->nfunctions; i++)
	{
		WindowFunction *function = &window->functions[i];

		function->next = 0;
		if (function->call.kind == WINDOW_FIRST_VALUE)
			keep_window_value(window, &function->first, function->call.column);
	}
}

/* What lag() may return for rows to come, of the one in the scan slot. */
static void
keep_lags(StrataWindowState *window)
{
	for (int i = 0; i < window->nfunctions; i++)
	{
		WindowFunction *function = &window->functions[i];

		if (function->call.kind != WINDOW_LAG)
			continue;
		keep_window_value(window, &function->kept[function->next],
						  function->call.column);
		if (++function->next == function->call.offset)
			function->next = 0;
	}
}

/* The function's value for the row in the scan slot. */
static Datum
call_window_function(StrataWindowState *window, WindowFunction *function,
					 bool *isnull)
{
	const KeptValue *value = &function->first;

	switch (function->call.kind)
	{
		case WINDOW_ROW_NUMBER:
			*isnull = false;
			return Int64GetDatum(window->number);
		case WINDOW_LAG:
			if (window->number <= function->call.offset)
			{
				*isnull = true;
				return function->fallback == NULL ? (Datum) 0 :
					ExecEvalExprSwitchContext(function->fallback,
											  window->css.ss.ps
											  .ps_ExprContext,
											  isnull);
			}
			Assert(function->next < function->call.offset); /* window:WF3 */
			value = &function->kept[function->next];
			break;
		case WINDOW_FIRST_VALUE:
			break;
	}
	*isnull = value->isnull;
	return value->value;
}

/* The child's next row and its functions, in the scan slot; false: the end. */
static bool
next_window_row(StrataWindowState *window)
{
	TupleTableSlot *slot = window->css.ss.ss_ScanTupleSlot;
	ExprContext *econtext = window->css.ss.ps.ps_ExprContext;
	TupleTableSlot *row;
	MemoryContext old;
	int			n = window->ninputs;

	/* what was returned of those that are replaced has been used */
	if (window->started)
		keep_lags(window);
	row = ExecProcNode(linitial(window->css.custom_ps));
	if (TupIsNull(row))
	{
		window->started = false;
		return false;
	}
	slot_getallattrs(row);
	ExecClearTuple(slot);
	memcpy(slot->tts_values, row->tts_values, sizeof(Datum) * n);
	memcpy(slot->tts_isnull, row->tts_isnull, sizeof(bool) * n);
	/* what follows reads columns of the child; the others are filled in */
	ExecStoreVirtualTuple(slot);
	old = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	if (!window->started || !is_same_partition(window))
		begin_partition(window);
	MemoryContextSwitchTo(old);
	window->started = true;
	window->number++;
	econtext->ecxt_scantuple = slot;
	for (int i = 0; i < window->nfunctions; i++)
		slot->tts_values[n + i] =
			call_window_function(window, &window->functions[i],
								 &slot->tts_isnull[n + i]);
	return true;
}

/* ExecCustomScan. */
static TupleTableSlot *
exec_window(CustomScanState *node)
{
	StrataWindowState *window = (StrataWindowState *) node;
	ExprContext *econtext = node->ss.ps.ps_ExprContext;
	ProjectionInfo *projection = node->ss.ps.ps_ProjInfo;

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(econtext);
	if (!next_window_row(window))
		return projection != NULL ?
			ExecClearTuple(projection->pi_state.resultslot) :
			ExecClearTuple(node->ss.ss_ScanTupleSlot);
	return projection != NULL ? ExecProject(projection) :
		node->ss.ss_ScanTupleSlot;
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
	window->started = false;
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
