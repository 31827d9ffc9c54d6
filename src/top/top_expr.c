/*-------------------------------------------------------------------------
 *
 * top_expr.c
 *	  Keys that are expressions, computed for rows of a vector together.
 *
 * One that raises no error is computed for rows only that may matter.  Where
 * one may, all are computed for every row that passed the quals, as below a
 * sort of PostgreSQL's: then nothing is passed over (top:N11).
 *
 * src/top/top_expr.c
 *-------------------------------------------------------------------------
 */
#include "top/top_private.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* A list of inputs, of whose expressions Vars become columns of rows. */
typedef struct InputVars
{
	List	   *tlist;
	int			ninputs;
} InputVars;

/* expression_tree_mutator */
static Node *
refer_to_inputs(Node *node, void *arg)
{
	const InputVars *vars = arg;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		const Var  *var = (Var *) node;

		for (int i = 0; i < vars->ninputs; i++)
		{
			if (equal(list_nth_node(TargetEntry, vars->tlist, i)->expr, node))
				return (Node *) makeVar(INDEX_VAR, (AttrNumber) (i + 1),
										var->vartype, var->vartypmod,
										var->varcollid, 0);
		}
		elog(ERROR, "a key's column is not among the inputs");
	}
	return expression_tree_mutator(node, refer_to_inputs, arg);
}

/* Which columns of a row all expressions read. */
static void
note_inputs(TopExprs *exprs, List *all)
{
	Bitmapset  *attnos = NULL;
	ListCell   *lc;
	int			attno = -1;

	foreach(lc, pull_var_clause((Node *) all, 0))
		attnos = bms_add_member(attnos, lfirst_node(Var, lc)->varattno);
	exprs->inputs = palloc(sizeof(int) * Max(bms_num_members(attnos), 1));
	while ((attno = bms_next_member(attnos, attno)) >= 0)
		exprs->inputs[exprs->ninputs++] = attno - 1;
}

/* How errors of the expressions come about. */
static void
note_errors(TopExprs *exprs)
{
	int			nraising = 0;

	exprs->last = exprs->n - 1;
	for (int i = 0; i < exprs->n; i++)
	{
		const StrataExpr *vector = exprs->exprs[i].vector;

		exprs->checked |= vector == NULL || strata_expr_may_fail(vector);
		exprs->by_rows |= vector == NULL;
		if (vector == NULL || !strata_expr_may_raise(vector))
			continue;
		exprs->last = i;
		exprs->by_rows |= ++nraising > 1;
	}
}

/* See top_expr_private.h.  Memory: the current context. */
TopExprs *
strata_top_exprs_create(StrataTopState *top, List *tlist, int first)
{
	PlanState  *ps = &top->css.ss.ps;
	TupleDesc	desc = top->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	TopExprs   *exprs;
	InputVars	vars = {tlist, top->ninputs};
	List	   *all = NIL;

	if (first == list_length(tlist))
		return NULL;
	exprs = palloc0(sizeof(TopExprs));
	exprs->first = first;
	exprs->n = list_length(tlist) - first;
	exprs->exprs = palloc0(sizeof(TopExpr) * exprs->n);
	for (int i = 0; i < exprs->n; i++)
	{
		TopExpr    *expr = &exprs->exprs[i];
		Node	   *node =
		refer_to_inputs((Node *) list_nth_node(TargetEntry, tlist,
											   first + i)->expr, &vars);

		all = lappend(all, node);
		strata_column_type_init(&expr->type, TupleDescAttr(desc, first + i));
		expr->state = ExecInitExpr((Expr *) node, ps);
		expr->vector = strata_expr_compile(list_make1(node), ps);
	}
	note_inputs(exprs, all);
	note_errors(exprs);
	exprs->mcxt = AllocSetContextCreate(CurrentMemoryContext,
										"StrataTop expressions",
										ALLOCSET_DEFAULT_SIZES);
	return exprs;
}

/* See top_expr_private.h. */
TopExpr *
strata_top_key_expr(const StrataTopState *top, int k)
{
	const TopExprs *exprs = top->exprs;
	int			i = top->keys[k].plan.input - 1;

	return exprs != NULL && i >= exprs->first ?
		&exprs->exprs[i - exprs->first] : NULL;
}

/* See top_expr_private.h. */
bool
strata_top_is_checked(const StrataTopState *top)
{
	return top->exprs != NULL && top->exprs->checked;
}

/*-------------------------------------------------------------------------
 * Rows
 *-------------------------------------------------------------------------
 */

/* Evaluate expression i for the row in top->put; in per-tuple memory. */
static Datum
eval_in_row(StrataTopState *top, int i, bool *isnull)
{
	ExprContext *econtext = top->css.ss.ps.ps_ExprContext;

	econtext->ecxt_scantuple = top->put;
	return ExecEvalExprSwitchContext(top->exprs->exprs[i].state, econtext,
									 isnull);
}

/* See top_expr_private.h. */
void
strata_top_exprs_of_row(StrataTopState *top)
{
	TopExprs   *exprs = top->exprs;
	TupleTableSlot *put = top->put;

	if (exprs == NULL)
		return;
	ResetExprContext(top->css.ss.ps.ps_ExprContext);
	ExecClearTuple(put);
	ExecStoreVirtualTuple(put);
	for (int i = 0; i < exprs->n; i++)
		put->tts_values[exprs->first + i] =
			eval_in_row(top, i, &put->tts_isnull[exprs->first + i]);
}

/* See top_expr_private.h. */
void
strata_top_exprs_load(StrataTopState *top, int row)
{
	TopExprs   *exprs = top->exprs;
	TupleTableSlot *put = top->put;

	for (int i = 0; exprs != NULL && i < exprs->n; i++)
		put->tts_values[exprs->first + i] =
			strata_column_get(&exprs->exprs[i].column, row,
							  &put->tts_isnull[exprs->first + i]);
}

/*-------------------------------------------------------------------------
 * Vectors
 *-------------------------------------------------------------------------
 */

static StrataColumn *
column_of_vector(void *arg, AttrNumber attno)
{
	const TopRows *rows = ((TopExprs *) arg)->rows;
	AttrNumber	own = rows->attnos[attno - 1];

	return rows->reader == NULL ? (StrataColumn *) &rows->columns[own - 1] :
		strata_batch_reader_column(rows->reader, own);
}

static StrataColumn *
part_of_rows(void *arg, const StrataPart *part, const StrataExprFrame *frame)
{
	const TopRows *rows = ((TopExprs *) arg)->rows;
	AttrNumber	own = rows->attnos[part->attno - 1];

	if (rows->reader == NULL)
		return NULL;
	return strata_batch_reader_part(rows->reader, own, part, frame->rows,
									frame->first, frame->n);
}

static bool
decimals_of_rows(void *arg, AttrNumber attno, const StrataExprFrame *frame,
				 StrataDecimals *decimals)
{
	const TopRows *rows = ((TopExprs *) arg)->rows;

	return rows->reader != NULL &&
		strata_expr_batch_decimals(rows->reader, rows->attnos[attno - 1],
								   frame, decimals);
}

/* What PostgreSQL evaluates reads columns in top->put. */
static void
init_vector_source(StrataTopState *top, StrataExprSource *source)
{
	TupleTableSlot *put = top->put;

	memset(source, 0, sizeof(*source));
	source->column = column_of_vector;
	source->part = part_of_rows;
	source->decimals = decimals_of_rows;
	source->arg = top->exprs;
	source->econtext = top->css.ss.ps.ps_ExprContext;
	source->slot = put;
	ExecClearTuple(put);
	memset(put->tts_isnull, true, put->tts_tupleDescriptor->natts);
	ExecStoreVirtualTuple(put);
	source->econtext->ecxt_scantuple = put;
}

static bool
compute_together(TopExpr *expr, const StrataExprSource *source,
				 const StrataExprFrame *frame, int nrows)
{
	memset(&expr->column, 0, sizeof(StrataColumn));
	expr->column.type = expr->type;
	expr->column.n = nrows;
	return strata_expr_column(expr->vector, source, frame, nrows,
							  &expr->column);
}

/* Whoever may raise an error comes last; false: one failed. */
static bool
compute_vectors(StrataTopState *top, const StrataExprFrame *frame, int nrows,
				int from, int to)
{
	TopExprs   *exprs = top->exprs;
	StrataExprSource source;

	if (exprs->by_rows)
		return false;
	init_vector_source(top, &source);
	for (int i = from; i < to; i++)
		if (i != exprs->last &&
			!compute_together(&exprs->exprs[i], &source, frame, nrows))
			return false;
	return exprs->last < from || exprs->last >= to ||
		compute_together(&exprs->exprs[exprs->last], &source, frame, nrows);
}

/* The column of an expression, of which rows are put one by one. */
static void
begin_column(TopExpr *expr, int nrows)
{
	StrataColumn *col = &expr->column;

	memset(col, 0, sizeof(*col));
	col->type = expr->type;
	col->n = nrows;
	col->decoded = true;
	col->isnull = palloc0(sizeof(bool) * nrows);
	if (col->type.typbyval)
		col->fixed = palloc0((Size) col->type.width * nrows);
	else
		col->datums = palloc0(sizeof(Datum) * nrows);
}

static void
put_in_column(StrataColumn *col, int row, Datum value, bool isnull)
{
	col->isnull[row] = isnull;
	if (isnull)
		return;
	if (col->fixed != NULL)
		strata_fixed_put(col->fixed, col->type.width, row, value);
	else
		col->datums[row] = datumCopy(value, false, col->type.typlen);
}

/* A row after the other, all of its expressions. */
static void
compute_singly(StrataTopState *top, const StrataExprFrame *frame, int nrows)
{
	TopExprs   *exprs = top->exprs;
	StrataExprSource source;
	TupleTableSlot *put = top->put;

	init_vector_source(top, &source);
	for (int i = 0; i < exprs->n; i++)
		begin_column(&exprs->exprs[i], nrows);
	for (int r = 0; r < frame->n; r++)
	{
		int			row = frame->rows != NULL ? frame->rows[r] :
		frame->first + r;

		for (int i = 0; i < exprs->ninputs; i++)
		{
			int			input = exprs->inputs[i];

			put->tts_values[input] =
				strata_column_get(column_of_vector(exprs,
												   (AttrNumber) (input + 1)),
								  row, &put->tts_isnull[input]);
		}
		ResetExprContext(source.econtext);
		for (int i = 0; i < exprs->n; i++)
		{
			bool		isnull;
			Datum		value = eval_in_row(top, i, &isnull);

			put_in_column(&exprs->exprs[i].column, row, value, isnull);
		}
	}
}

/* See top_expr_private.h. */
void
strata_top_exprs_compute(StrataTopState *top, const TopRows *rows,
						 const uint16 *chosen, int n, int from, int to)
{
	TopExprs   *exprs = top->exprs;
	StrataExprFrame frame = {n, chosen, 0};
	int			nrows;
	MemoryContext old;

	if (chosen == NULL)
	{
		frame.rows = rows->rows;
		frame.first = rows->rows == NULL ? rows->first : 0;
	}
	nrows = (frame.rows != NULL ? frame.rows[n - 1] : frame.first + n - 1) + 1;
	Assert(n > 0 && (!exprs->checked || chosen == NULL));	/* top:N11 */
	if (from == 0)
		MemoryContextReset(exprs->mcxt);
	old = MemoryContextSwitchTo(exprs->mcxt);
	exprs->rows = rows;
	if (exprs->checked)
	{
		from = 0;
		to = exprs->n;
	}
	if (!compute_vectors(top, &frame, nrows, from, to))
		compute_singly(top, &frame, nrows);
	MemoryContextSwitchTo(old);
}
