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
	if (ps->plan->qual != NIL)
		output->run = strata_expr_compile(ps->plan->qual, ps);
	if (output->run != NULL && strata_expr_may_raise(output->run))
		output->run = NULL;
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

/*
 * Leave out the rows of the frame for which the expression is not true; false:
 * it could not be tried.
 */
static bool
leave_out_rows(WindowOutput *output, StrataExpr *expr,
			   const StrataExprSource *source, StrataExprFrame *frame)
{
	uint8	   *pass = palloc(frame->n);
	int			n = 0;

	if (!strata_expr_filter(expr, source, frame, pass))
		return false;
	for (int i = 0; i < frame->n; i++)
	{
		output->passed[n] = output->passed[i];
		n += pass[i];
	}
	output->npassed = n;
	if (n < frame->n)
		frame->rows = output->passed;
	frame->n = n;
	return true;
}

/* The columns of a row, in the scan slot. */
static TupleTableSlot *
load_scan_slot(WindowOutput *output, int row)
{
	const WindowRows *rows = output->rows;
	TupleTableSlot *slot = output->scan_slot;

	ExecClearTuple(slot);
	for (int i = 0; i < rows->ninputs + rows->ncalls; i++)
		slot->tts_values[i] = strata_column_get(&rows->columns[i], row,
												&slot->tts_isnull[i]);
	output->node->ps_ExprContext->ecxt_scantuple = slot;
	return ExecStoreVirtualTuple(slot);
}

/* The run condition; nothing of the result is evaluated for other rows. */
static void
run_condition(WindowOutput *output, StrataExprFrame *frame)
{
	StrataExprSource source;
	ExprContext *econtext = output->node->ps_ExprContext;
	int			n = 0;

	init_expr_source(output, false, &source);
	if (output->run != NULL &&
		leave_out_rows(output, output->run, &source, frame))
		return;
	for (int i = 0; i < frame->n; i++)
	{
		(void) load_scan_slot(output, output->passed[i]);
		output->passed[n] = output->passed[i];
		n += ExecQual(output->node->qual, econtext);
		ResetExprContext(econtext);
	}
	frame->rows = output->passed;
	frame->n = output->npassed = n;
}

/* See window_private.h. */
void
strata_window_output_compute(WindowOutput *output)
{
	WindowRows *rows = output->rows;
	StrataExprFrame frame = {.n = rows->n,.first = rows->at};
	StrataExprSource source;
	MemoryContext old;

	Assert(rows->n <= STRATA_WINDOW_ROWS);	/* window:WF3 */
	MemoryContextReset(output->mcxt);
	old = MemoryContextSwitchTo(output->mcxt);
	output->npassed = rows->n;
	for (int i = 0; i < rows->n; i++)
		output->passed[i] = (uint16) (rows->at + i);
	if (output->node->qual != NULL)
	{
		run_condition(output, &frame);
		InstrCountFiltered1(output->node, rows->n - frame.n);
		/* once it is not true it is not, to the partition's end */
		output->done = rows->nkeys == 0 && frame.n < rows->n;
	}
	output->valid = output->known && (frame.n == 0 ||
									  compute_results(output, false, &frame));
	if (output->valid && output->filter != NULL && frame.n > 0)
	{
		int			n = frame.n;

		init_expr_source(output, true, &source);
		(void) leave_out_rows(output, output->filter, &source, &frame);
		output->nleft_out += n - frame.n;
		/* late ones do not fail */
		if (frame.n > 0)
			output->valid = compute_results(output, true, &frame);
		Assert(output->valid);	/* window:WF6 */
	}
	MemoryContextSwitchTo(old);
}

/* See window_private.h. */
TupleTableSlot *
strata_window_output_load(WindowOutput *output, int row)
{
	TupleTableSlot *slot = output->slot;

	Assert(row >= output->rows->at &&
		   row < output->rows->at + output->rows->n);	/* window:WF3 */
	if (!output->valid)
	{
		slot = load_scan_slot(output, row);
		return output->node->ps_ProjInfo == NULL ? slot :
			ExecProject(output->node->ps_ProjInfo);
	}
	ExecClearTuple(slot);
	for (int i = 0; i < output->nresults; i++)
		slot->tts_values[i] =
			strata_column_get(output->results[i].values, row,
							  &slot->tts_isnull[i]);
	return ExecStoreVirtualTuple(slot);
}
