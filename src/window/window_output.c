/*-------------------------------------------------------------------------
 *
 * window_output.c
 *	  The node's result as columns, and which of its rows pass.
 *
 * Who is above may have conditions on the result (window_filter.c).  Rows that
 * do not pass are never made; yet what the result is made of is evaluated for
 * them where that may be an error.  Where anything may raise one here, or
 * fails, the node's projection makes the rows, all of them, one by one.
 *
 * src/window/window_output.c
 *-------------------------------------------------------------------------
 */
#include "window/window_private.h"

#include "base/base.h"
#include "executor/executor.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

/* How a column of the result is had; false: not by columns. */
static bool
init_result(WindowResult *result, Expr *expr, Form_pg_attribute att,
			WindowOutput *output)
{
	result->column = -1;
	result->values = &result->own;
	strata_column_type_init(&result->own.type, att);
	if (IsA(expr, Var))
	{
		Assert(((Var *) expr)->varno == INDEX_VAR); /* window:WF2 */
		result->column = ((Var *) expr)->varattno - 1;
		result->values = &output->rows->columns[result->column];
		return true;
	}
	if (IsA(expr, Const))
	{
		result->own.constant = true;
		result->own.value = ((Const *) expr)->constvalue;
		result->own.value_isnull = ((Const *) expr)->constisnull;
		return true;
	}
	result->expr = strata_expr_compile(list_make1(expr), output->node);
	return result->expr != NULL && !strata_expr_may_raise(result->expr);
}

/* See window_private.h.  Memory: the current context. */
void
strata_window_output_init(WindowOutput *output, CustomScanState *node,
						  WindowRows *rows, List *quals)
{
	PlanState  *ps = &node->ss.ps;
	TupleDesc	desc = ExecGetResultType(ps);
	ListCell   *lc;

	output->node = ps;
	output->rows = rows;
	output->mcxt = AllocSetContextCreate(CurrentMemoryContext,
										 "StrataWindow",
										 ALLOCSET_DEFAULT_SIZES);
	output->scan_slot = node->ss.ss_ScanTupleSlot;
	output->slot = ps->ps_ProjInfo != NULL ?
		ps->ps_ProjInfo->pi_state.resultslot : output->scan_slot;
	output->passed = palloc(sizeof(uint16) * STRATA_WINDOW_ROWS);
	output->results = palloc0(sizeof(WindowResult) * Max(desc->natts, 1));
	output->known = true;
	foreach(lc, ps->plan->targetlist)
	{
		int			i = output->nresults++;

		output->known &= init_result(&output->results[i],
									 lfirst_node(TargetEntry, lc)->expr,
									 TupleDescAttr(desc, i), output);
	}
	if (!output->known || quals == NIL)
		return;
	output->filter = strata_expr_compile(quals, ps);
	if (output->filter == NULL || strata_expr_may_raise(output->filter))
	{
		output->filter = NULL;
		return;
	}
	for (int i = 0; i < output->nresults; i++)
		output->results[i].late = output->results[i].expr != NULL &&
			!strata_expr_may_fail(output->results[i].expr);
	foreach(lc, pull_var_clause((Node *) quals, 0))
		output->results[lfirst_node(Var, lc)->varattno - 1].late = false;
}

static StrataColumn *
column_of_window(void *arg, AttrNumber attno)
{
	return &((WindowOutput *) arg)->rows->columns[attno - 1];
}

static StrataColumn *
column_of_result(void *arg, AttrNumber attno)
{
	return ((WindowOutput *) arg)->results[attno - 1].values;
}

/* What PostgreSQL evaluates reads columns in that slot. */
static void
init_expr_source(WindowOutput *output, bool result, StrataExprSource *source)
{
	TupleTableSlot *slot = result ? output->slot : output->scan_slot;

	memset(source, 0, sizeof(*source));
	source->column = result ? column_of_result : column_of_window;
	source->arg = output;
	source->econtext = output->node->ps_ExprContext;
	source->slot = slot;
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts);
	ExecStoreVirtualTuple(slot);
	source->econtext->ecxt_scantuple = slot;
}

/* Expressions of the result, late ones or the others; false: one failed. */
static bool
compute_results(WindowOutput *output, bool late, const StrataExprFrame *frame)
{
	StrataExprSource source;

	init_expr_source(output, false, &source);
	for (int i = 0; i < output->nresults; i++)
	{
		WindowResult *result = &output->results[i];
		StrataColumnType type = result->own.type;

		if (result->expr == NULL || result->late != late)
			continue;
		memset(&result->own, 0, sizeof(StrataColumn));
		result->own.type = type;
		result->own.n = output->rows->filled;
		if (!strata_expr_column(result->expr, &source, frame,
								output->rows->filled, &result->own))
			return false;
	}
	return true;
}

/* Try the conditions; where they cannot be, all rows pass. */
static void
leave_out_rows(WindowOutput *output, const StrataExprFrame *frame)
{
	StrataExprSource source;
	uint8	   *pass = palloc(frame->n);
	int			n = 0;

	init_expr_source(output, true, &source);
	if (!strata_expr_filter(output->filter, &source, frame, pass))
		return;
	for (int i = 0; i < frame->n; i++)
	{
		output->passed[n] = (uint16) (frame->first + i);
		n += pass[i];
	}
	output->nleft_out += frame->n - n;
	output->npassed = n;
}

/* See window_private.h. */
void
strata_window_output_compute(WindowOutput *output)
{
	WindowRows *rows = output->rows;
	StrataExprFrame frame = {.n = rows->n,.first = rows->at};
	StrataExprFrame some = {.rows = output->passed};
	MemoryContext old;

	Assert(rows->n <= STRATA_WINDOW_ROWS);	/* window:WF3 */
	MemoryContextReset(output->mcxt);
	old = MemoryContextSwitchTo(output->mcxt);
	output->npassed = rows->n;
	for (int i = 0; i < rows->n; i++)
		output->passed[i] = (uint16) (rows->at + i);
	output->valid = output->known && compute_results(output, false, &frame);
	if (output->valid && output->filter != NULL)
		leave_out_rows(output, &frame);
	some.n = output->npassed;
	if (output->valid && output->filter != NULL && some.n > 0)
		output->valid = compute_results(output, true, &some);
	Assert(output->valid || output->npassed == rows->n ||
		   output->npassed == 0);	/* window:WF6 */
	MemoryContextSwitchTo(old);
}

/* See window_private.h. */
TupleTableSlot *
strata_window_output_load(WindowOutput *output, int row)
{
	const WindowRows *rows = output->rows;
	ExprContext *econtext = output->node->ps_ExprContext;
	TupleTableSlot *slot = output->valid ? output->slot : output->scan_slot;
	int			n = output->valid ? output->nresults :
	rows->ninputs + rows->ncalls;

	Assert(row >= rows->at && row < rows->at + rows->n);	/* window:WF3 */
	ExecClearTuple(slot);
	for (int i = 0; i < n; i++)
		slot->tts_values[i] =
			strata_column_get(output->valid ? output->results[i].values :
							  &rows->columns[i], row, &slot->tts_isnull[i]);
	ExecStoreVirtualTuple(slot);
	if (output->valid || output->node->ps_ProjInfo == NULL)
		return slot;
	econtext->ecxt_scantuple = slot;
	return ExecProject(output->node->ps_ProjInfo);
}
