/*-------------------------------------------------------------------------
 *
 * agg_value.c
 *	  What keys and aggregates are about: columns of the input, and expressions
 *	  of them, which are evaluated into a column: by expr/, or row by row.
 *
 * Over 600 lines: every form that a value is read in.
 *
 * src/agg/agg_value.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"
#include "agg/agg_numeric_private.h"

#include "batch/batch_part.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/*
 * The input whose bytes expr has, under whatever name, or -1.  *is_column: it
 * compares as that does.
 */
static int
plain_input(Expr *expr, bool *is_column)
{
	Expr	   *arg = expr;

	while (IsA(arg, RelabelType))
		arg = ((RelabelType *) arg)->arg;
	*is_column = IsA(arg, Var) &&
		exprCollation((Node *) expr) == exprCollation((Node *) arg) &&
		strata_types_compare_alike(exprType((Node *) expr),
								   exprType((Node *) arg));
	return IsA(arg, Var) ? ((Var *) arg)->varattno - 1 : -1;
}

/* Numbers of the inputs that an expression reads. */
static List *
inputs_read(Node *node)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, pull_var_clause(node, 0))
		result = list_append_unique_int(result,
										lfirst_node(Var, lc)->varattno - 1);
	return result;
}

static void
init_type(AggValue *value, Expr *expr)
{
	TupleDesc	desc = CreateTemplateTupleDesc(1);

	TupleDescInitEntry(desc, 1, "value", exprType((Node *) expr),
					   exprTypmod((Node *) expr), 0);
	strata_column_type_init(&value->type, TupleDescAttr(desc, 0));
	value->typid = value->type.typid;
}

/*
 * The number of the value that is expr, whose Vars refer to the child's
 * result.  agg->values has room for one more.
 */
int
strata_agg_value_add(StrataAggState *agg, Expr *expr)
{
	bool		is_column;
	int			input = plain_input(expr, &is_column);
	AggValue   *value;

	for (int i = 0; i < agg->nvalues && input >= 0; i++)
		if (agg->values[i].input == input &&
			agg->values[i].is_column == is_column &&
			(is_column ||
			 agg->values[i].typid == getBaseType(exprType((Node *) expr))))
			return i;
	value = &agg->values[agg->nvalues];
	memset(value, 0, sizeof(AggValue));
	value->input = input;
	value->is_column = is_column;
	init_type(value, expr);
	if (input < 0)
	{
		value->decimals = strata_expr_compile_decimals(expr,
													   &agg->css.ss.ps);
		value->inputs = inputs_read((Node *) expr);
		value->expr = ExecInitExpr(expr, &agg->css.ss.ps);
		value->vector = strata_expr_compile(list_make1(expr),
											&agg->css.ss.ps);
	}
	return agg->nvalues++;
}

void
strata_agg_value_reset(StrataAggState *agg)
{
	for (int i = 0; i < agg->nvalues; i++)
	{
		agg->values[i].column = NULL;
		agg->values[i].tried = false;
	}
	for (int i = 0; i < agg->nstored; i++)
		agg->stored[i].tried = false;
}

/* Columns of the inputs listed, for load_row(). */
static StrataColumn **
input_columns(StrataAggState *agg, List *inputs)
{
	StrataColumn **columns = palloc(sizeof(StrataColumn *) *
									Max(list_length(inputs), 1));
	int			i = 0;
	ListCell   *lc;

	foreach(lc, inputs)
		columns[i++] = strata_agg_input_column(agg->vector, lfirst_int(lc));
	return columns;
}

static inline void
load_row(StrataAggState *agg, List *inputs, StrataColumn **columns, int row)
{
	TupleTableSlot *slot = agg->input_slot;
	int			i = 0;
	ListCell   *lc;

	foreach(lc, inputs)
	{
		int			att = lfirst_int(lc);

		slot->tts_values[att] = strata_column_get(columns[i++], row,
												  &slot->tts_isnull[att]);
	}
}

static StrataColumn *
column_of_input(void *arg, AttrNumber attno)
{
	return strata_agg_input_column(((StrataAggState *) arg)->vector,
								   attno - 1);
}

static StrataColumn *
part_of_input(void *arg, const StrataPart *part, const StrataExprFrame *frame)
{
	AggVector  *vector = ((StrataAggState *) arg)->vector;

	if (!strata_agg_vector_has(vector, part->attno - 1))
		return NULL;
	return strata_batch_reader_part(vector->batch->reader,
									vector->attnos[part->attno - 1], part,
									frame->rows, frame->first, frame->n);
}

/*
 * The numerics of an input as the batch has them, for the rows from the first
 * selected one to the last; false: it has none, or they are decoded already.
 */
static bool
decimals_of_input(void *arg, AttrNumber attno, const StrataExprFrame *frame,
				  StrataDecimals *decimals)
{
	StrataAggState *agg = arg;
	AggVector  *vector = agg->vector;
	AggStored  *stored;
	int			from;
	int			to;

	if (!strata_agg_vector_has(vector, attno - 1))
		return false;
	Assert(attno <= agg->nstored);	/* agg:G18 */
	stored = &agg->stored[attno - 1];
	*decimals = stored->decimals;
	if (stored->tried)
		return decimals->v != NULL;
	from = agg_vector_row(vector, 0);
	to = agg_vector_row(vector, vector->nselected - 1) + 1;
	decimals->isnull = NULL;
	decimals->v = strata_batch_reader_scaled(vector->batch->reader,
											 vector->attnos[attno - 1], from,
											 to - from, &decimals->displays,
											 &decimals->scale,
											 &decimals->isnull);
	if (decimals->v != NULL)
	{
		decimals->v -= from;
		decimals->displays -= from;
		decimals->isnull = decimals->isnull == NULL ? NULL :
			decimals->isnull - from;
	}
	stored->tried = true;
	stored->decimals = *decimals;
	return decimals->v != NULL;
}

static void
init_expression_source(StrataAggState *agg, StrataExprSource *source,
					   StrataExprFrame *frame)
{
	source->column = column_of_input;
	source->part = part_of_input;
	source->decimals = decimals_of_input;
	source->arg = agg;
	source->econtext = agg->input_econtext;
	source->slot = agg->input_slot;
	frame->n = agg->vector->nselected;
	frame->rows = agg->vector->rows;
	frame->first = agg->vector->first;
}

/* Which rows pass, at once; false: cannot. */
static bool
pass_by_vector(StrataAggState *agg, const AggCall *call, uint8 *pass)
{
	StrataExprSource source;
	StrataExprFrame frame;

	if (call->filter_vector == NULL)
		return false;
	init_expression_source(agg, &source, &frame);
	return strata_expr_filter(call->filter_vector, &source, &frame, pass);
}

static void
pass_by_rows(StrataAggState *agg, const AggCall *call, uint8 *pass)
{
	StrataColumn **columns = input_columns(agg, call->filter_inputs);

	for (int i = 0; i < agg->vector->nselected; i++)
	{
		load_row(agg, call->filter_inputs, columns,
				 agg_vector_row(agg->vector, i));
		ResetExprContext(agg->input_econtext);
		pass[i] = ExecQual(call->filter, agg->input_econtext);
	}
}

/* See agg_vector_private.h. */
const uint8 *
strata_agg_filter(StrataAggState *agg, AggCall *call)
{
	if (call->pass == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(agg->vector_mcxt);
		uint8	   *pass = palloc(Max(agg->vector->nselected, 1));

		if (!pass_by_vector(agg, call, pass))
			pass_by_rows(agg, call, pass);
		call->pass = pass;
		MemoryContextSwitchTo(old);
	}
	return call->pass;
}

/*
 * The rows that a value is evaluated for: those selected, of which the FILTER
 * lets only some pass.  Returns their number, which may be 0.
 */
static int
rows_of_value(StrataAggState *agg, const AggValue *value,
			  StrataExprFrame *frame)
{
	const uint8 *pass;
	uint16	   *rows;
	int			n = 0;

	if (value->call == NULL)
		return frame->n;
	pass = strata_agg_filter(agg, value->call);
	rows = palloc(sizeof(uint16) * agg->vector->nselected);
	for (int i = 0; i < agg->vector->nselected; i++)
		if (pass[i])
			rows[n++] = (uint16) agg_vector_row(agg->vector, i);
	frame->n = n;
	frame->rows = rows;
	return n;
}

/* Evaluate the expression for rows, at least one; false: cannot. */
static bool
compute_vector(StrataAggState *agg, AggValue *value,
			   const StrataExprSource *source, const StrataExprFrame *frame)
{
	if (value->vector == NULL)
		return false;
	memset(&value->computed, 0, sizeof(StrataColumn));
	value->computed.type = value->type;
	return strata_expr_column(value->vector, source, frame,
							  agg->vector->nrows, &value->computed);
}

/* Evaluate the expression for rows, in their order. */
static void
compute_rows(StrataAggState *agg, AggValue *value,
			 const StrataExprFrame *frame)
{
	StrataColumn *col = &value->computed;
	AggVector  *vector = agg->vector;
	StrataColumn **columns = input_columns(agg, value->inputs);

	memset(col, 0, sizeof(*col));
	col->type = value->type;
	col->decoded = true;
	col->isnull = palloc0(sizeof(bool) * vector->nrows);
	if (col->type.typbyval)
		col->fixed = palloc0((Size) col->type.width * vector->nrows);
	else
		col->datums = palloc0(sizeof(Datum) * vector->nrows);
	for (int i = 0; i < frame->n; i++)
	{
		int			row = frame->rows != NULL ? frame->rows[i] :
		frame->first + i;
		bool		isnull;
		Datum		result;

		load_row(agg, value->inputs, columns, row);
		ResetExprContext(agg->input_econtext);
		result = ExecEvalExprSwitchContext(value->expr, agg->input_econtext,
										   &isnull);
		col->isnull[row] = isnull;
		if (isnull)
			continue;
		if (col->fixed != NULL)
			strata_fixed_put(col->fixed, col->type.width, row, result);
		else
			col->datums[row] = datumCopy(result, false, col->type.typlen);
	}
}

/* Evaluate the expression of a value; agg->vector_mcxt. */
static void
compute(StrataAggState *agg, AggValue *value)
{
	StrataExprSource source;
	StrataExprFrame frame;

	init_expression_source(agg, &source, &frame);
	if (rows_of_value(agg, value, &frame) == 0 ||
		!compute_vector(agg, value, &source, &frame))
		compute_rows(agg, value, &frame);
}

/*
 * The column of a value for the current vector; rows that are not selected are
 * undefined.
 */
StrataColumn *
strata_agg_value_column(StrataAggState *agg, int i)
{
	AggValue   *value = &agg->values[i];
	MemoryContext old;

	if (value->column != NULL)
		return value->column;
	if (value->input >= 0)
		value->column = strata_agg_input_column(agg->vector, value->input);
	else
	{
		old = MemoryContextSwitchTo(agg->vector_mcxt);
		compute(agg, value);
		MemoryContextSwitchTo(old);
		value->column = &value->computed;
	}
	return value->column;
}

/* See agg_vector_private.h. */
void
strata_agg_value_at_times(StrataAggState *agg, int i, int64 min, int64 max)
{
	AggValue   *value = &agg->values[i];
	StrataExprSource source;
	StrataExprFrame frame;
	MemoryContext old = MemoryContextSwitchTo(agg->vector_mcxt);

	init_expression_source(agg, &source, &frame);
	memset(&value->computed, 0, sizeof(StrataColumn));
	value->computed.type = value->type;
	value->computed.n = agg->vector->nrows;
	if (strata_expr_at_times(value->vector, &source, min, max,
							 &value->computed))
		value->column = &value->computed;
	MemoryContextSwitchTo(old);
}

/*-------------------------------------------------------------------------
 * Floats that are integers
 *-------------------------------------------------------------------------
 */

/* Somebody looks at these inputs who wants them as they are. */
static void
want_as_is(StrataAggState *agg, List *inputs)
{
	for (int i = 0; i < agg->nvalues; i++)
		if (list_member_int(inputs, agg->values[i].input))
			agg->values[i].by_integers = false;
}

/* See agg_vector_private.h. */
void
strata_agg_value_note_integers(StrataAggState *agg)
{
	for (int i = 0; i < agg->nvalues; i++)
		agg->values[i].by_integers = agg->values[i].is_column &&
			agg->values[i].type.kind ==
			STRATA_KIND_FLOAT;
	for (int i = 0; i < agg->nvalues; i++)
	{
		want_as_is(agg, agg->values[i].inputs);
		if (agg->values[i].input >= 0 && !agg->values[i].is_column)
			want_as_is(agg, list_make1_int(agg->values[i].input));
	}
	for (int k = 0; k < agg->nkeys; k++)
		agg->values[agg->keys[k].value].by_integers = false;
	for (int i = 0; i < agg->ncalls; i++)
	{
		want_as_is(agg, agg->calls[i].filter_inputs);
		if (agg->calls[i].value >= 0 &&
			(agg->calls[i].filter != NULL || agg->calls[i].distinct != NULL ||
			 !strata_agg_takes_integers(agg->calls[i].kernel)))
			agg->values[agg->calls[i].value].by_integers = false;
		if (agg->calls[i].by >= 0)
			agg->values[agg->calls[i].by].by_integers = false;
		if (agg->calls[i].hold != NULL)
			strata_agg_hold_want_values(agg->calls[i].hold);
	}
	if (agg->best != NULL)
		strata_agg_best_want_values(agg->best);
}

/*
 * Integers of rows from `from` on, which are looked at as a column that begins
 * at row 0; NULL: there are none.
 */
static void
keep_integers(AggValue *value, const void *v, int from, int width)
{
	value->tried = true;
	value->integers.type.width = (uint8) width;
	value->integers.isnull = NULL;
	value->integers.fixed = v != NULL ? (char *) v - (Size) from * width :
		NULL;
}

/* See agg_vector_private.h. */
const StrataColumn *
strata_agg_value_integers(StrataAggState *agg, int i)
{
	AggValue   *value = &agg->values[i];
	AggVector  *vector = agg->vector;

	if (!value->by_integers || !strata_agg_vector_has(vector, value->input) ||
		value->column != NULL)
		return NULL;
	if (!value->tried)
	{
		int			from = agg_vector_row(vector, 0);
		int			to = agg_vector_row(vector, vector->nselected - 1) + 1;
		int			width = 0;
		const void *v;

		v = strata_batch_reader_integers(vector->batch->reader,
										 vector->attnos[value->input], from,
										 to - from, &width);
		Assert(v == NULL || width == sizeof(int16) ||
			   width == sizeof(int32)); /* agg:G16 */
		keep_integers(value, v, from, width);
	}
	return value->integers.fixed != NULL ? &value->integers : NULL;
}

/* See agg_vector_private.h. */
const StrataColumn *
strata_agg_value_nulls(StrataAggState *agg, int i)
{
	static const StrataPart nulls = {STRATA_PART_NULLS};
	const AggValue *value = &agg->values[i];
	const AggVector *vector = agg->vector;

	if (value->input < 0 || !strata_agg_vector_has(vector, value->input) ||
		value->column != NULL)
		return NULL;
	return strata_batch_reader_part(vector->batch->reader,
									vector->attnos[value->input], &nulls,
									vector->rows, vector->first,
									vector->nselected);
}

static void
keep_decimals(AggValue *value, const StrataDecimals *decimals)
{
	keep_integers(value, decimals->v, 0, sizeof(int64));
	value->integers.isnull = (bool *) decimals->isnull;
	value->displays = decimals->displays;
	value->scale = decimals->scale;
}

/*
 * The integers that a numeric expression is, for rows that its FILTER lets
 * pass; false: it has to be evaluated to numerics.
 */
static bool
compute_decimals(StrataAggState *agg, AggValue *value)
{
	StrataExprSource source;
	StrataExprFrame frame;
	StrataDecimals decimals;
	MemoryContext old;
	bool		done;

	if (value->decimals == NULL)
		return false;
	old = MemoryContextSwitchTo(agg->vector_mcxt);
	init_expression_source(agg, &source, &frame);
	done = rows_of_value(agg, value, &frame) > 0 &&
		strata_expr_decimals(value->decimals, &source, &frame, &decimals);
	MemoryContextSwitchTo(old);
	if (done)
		keep_decimals(value, &decimals);
	return done;
}

/* Those of a column, or an expression, without making numerics of them. */
static bool
find_decimals(StrataAggState *agg, AggValue *value)
{
	StrataDecimals decimals;

	if (value->column != NULL)
		return false;
	if (!value->is_column)
		return value->input < 0 && compute_decimals(agg, value);
	if (!decimals_of_input(agg, (AttrNumber) (value->input + 1), NULL,
						   &decimals))
		return false;
	keep_decimals(value, &decimals);
	return true;
}

/* See agg_vector_private.h. */
const StrataColumn *
strata_agg_value_scaled(StrataAggState *agg, int i)
{
	AggValue   *value = &agg->values[i];
	AggVector  *vector = agg->vector;
	const StrataColumn *col;
	const int64 *v;
	int			from;

	if (value->typid != NUMERICOID)
		return NULL;
	if (!value->tried && !find_decimals(agg, value))
	{
		/* where a FILTER keeps it from being computed, there are no values */
		if (value->call != NULL)
			return NULL;
		col = strata_agg_value_column(agg, i);
		if (col->constant)
			return NULL;
		v = strata_agg_numeric_integers(vector, col, &from, &value->scale,
										&value->displays);
		keep_integers(value, v, from, sizeof(int64));
		value->integers.isnull = col->isnull;
	}
	return value->integers.fixed != NULL ? &value->integers : NULL;
}

/* See agg_vector_private.h. */
Datum
strata_agg_value_at(StrataAggState *agg, int i, int row, bool *isnull)
{
	AggValue   *value = &agg->values[i];
	AggVector  *vector = agg->vector;
	StrataColumn *column;

	if (value->column == NULL && value->input >= 0 &&
		strata_agg_vector_has(vector, value->input))
		column = strata_batch_reader_rows(vector->batch->reader,
										  vector->attnos[value->input],
										  row, 1);
	else
		column = strata_agg_value_column(agg, i);
	return strata_column_get(column, row, isnull);
}

/*-------------------------------------------------------------------------
 * Selected values side by side
 *-------------------------------------------------------------------------
 */

#define GATHER(ctype) \
	do { \
		const ctype *from_ = col->fixed; \
		ctype	   *to_ = out; \
		for (int i_ = 0; i_ < n; i_++) \
			to_[i_] = from_[rows[i_]]; \
	} while (0)

/* The selected values of a packed column, packed. */
static const void *
gather_fixed(const StrataColumn *col, const AggVector *vector)
{
	const uint16 *rows = vector->rows;
	int			n = vector->nselected;
	void	   *out;

	if (rows == NULL)
		return (const char *) col->fixed +
			(Size) vector->first * col->type.width;
	out = palloc((Size) col->type.width * n);
	switch (col->type.width)
	{
		case 1:
			GATHER(int8);
			break;
		case 2:
			GATHER(int16);
			break;
		case 4:
			GATHER(int32);
			break;
		default:
			GATHER(int64);
			break;
	}
	return out;
}

/* See agg_vector_private.h. */
const void *
strata_agg_selected_datums(const AggVector *vector, const StrataColumn *col)
{
	Datum	   *out;
	bool		isnull;

	/* the bits of such values are those of Datums */
	if (!col->constant && col->fixed != NULL &&
		col->type.width == sizeof(Datum))
		return gather_fixed(col, vector);
	out = palloc(sizeof(Datum) * vector->nselected);
	for (int i = 0; i < vector->nselected; i++)
		out[i] = strata_column_get(col, agg_vector_row(vector, i), &isnull);
	return out;
}

/* The same value many times. */
static const void *
repeat_constant(const StrataColumn *col, int n)
{
	char	   *out = palloc((Size) col->type.width * n);

	for (int i = 0; i < n; i++)
		switch (col->type.width)
		{
			case 1:
				((int8 *) out)[i] = DatumGetChar(col->value);
				break;
			case 2:
				((int16 *) out)[i] = DatumGetInt16(col->value);
				break;
			case 4:
				((int32 *) out)[i] = DatumGetInt32(col->value);
				break;
			default:
				((int64 *) out)[i] = DatumGetInt64(col->value);
				break;
		}
	return out;
}

/* See agg_vector_private.h. */
const void *
strata_agg_selected_values(const AggVector *vector, const StrataColumn *col)
{
	return col->constant ? repeat_constant(col, vector->nselected) :
		gather_fixed(col, vector);
}
