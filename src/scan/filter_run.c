/*-------------------------------------------------------------------------
 *
 * filter_run.c
 *	  Run-time values of filters, and trees of leaves on whole columns.
 *
 * src/scan/filter_run.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_kernel_private.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/*
 * Elements as what bounds of the column are compared with.  Memory: the
 * current context.
 */
static void
prepare_list_bounds(FilterNode *leaf)
{
	leaf->lows = leaf->highs = leaf->values;
	if (leaf->order != STRATA_ORDER_LOCAL)
		return;
	leaf->lows = palloc(sizeof(Datum) * Max(leaf->nvalues, 1));
	leaf->highs = palloc(sizeof(Datum) * Max(leaf->nvalues, 1));
	for (int i = 0; i < leaf->nvalues; i++)
		strata_local_bounds(leaf->values[i], &leaf->lows[i], &leaf->highs[i]);
}

/* Take the array apart.  Memory: the current context. */
static void
prepare_list(FilterNode *leaf)
{
	ArrayType  *array = DatumGetArrayTypeP(leaf->value);
	int16		typlen;
	bool		typbyval;
	char		typalign;
	bool	   *isnull;
	int			n;
	bool		has_null = false;

	leaf->value = PointerGetDatum(array);
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  &leaf->values, &isnull, &n);
	leaf->nvalues = 0;
	for (int i = 0; i < n; i++)
	{
		if (isnull[i])
			has_null = true;
		else
			leaf->values[leaf->nvalues++] = leaf->values[i];
	}
	if (leaf->op == FILTER_IN)
		leaf->never = leaf->nvalues == 0;
	else
	{
		/* x <> ALL (... null ...) is false or null, even of an empty rest */
		leaf->never = has_null;
		leaf->always = n == 0;
	}
	prepare_list_bounds(leaf);
	if (leaf->kind != FILTER_KIND_NONE)
		strata_filter_prepare_in(leaf);
}

/* Where run-time values are. */
static MemoryContext
value_context(StrataFilter *filter)
{
	if (filter->value_mcxt == NULL)
		filter->value_mcxt = AllocSetContextCreate(filter->mcxt,
												   "strata filter values",
												   ALLOCSET_SMALL_SIZES);
	return filter->value_mcxt;
}

/* Evaluate what the leaf's column is compared with. */
static void
prepare_value(StrataFilter *filter, FilterNode *leaf, ExprContext *econtext)
{
	MemoryContext old;
	Datum		value;
	bool		isnull;

	leaf->always = false;
	if (leaf->value_state == NULL)
	{
		value = ((Const *) leaf->comparand)->constvalue;
		isnull = ((Const *) leaf->comparand)->constisnull;
	}
	else
		value = ExecEvalExprSwitchContext(leaf->value_state, econtext,
										  &isnull);
	leaf->never = isnull;
	leaf->value = value;
	if (isnull)
		return;
	/* a constant lives as long as the plan */
	if (leaf->op == FILTER_COMPARE &&
		(leaf->value_state == NULL || leaf->valuebyval))
	{
		if (leaf->by_bytes)
			strata_filter_prepare_bytes(leaf);
		return;
	}
	old = MemoryContextSwitchTo(value_context(filter));
	if (leaf->value_state != NULL)
		leaf->value = datumCopy(value, leaf->valuebyval, leaf->valuelen);
	if (leaf->op != FILTER_COMPARE)
		prepare_list(leaf);
	if (leaf->by_bytes)
		strata_filter_prepare_bytes(leaf);
	MemoryContextSwitchTo(old);
}

/* The same, and what bounds of the column are compared with. */
static void
prepare_leaf(StrataFilter *filter, FilterNode *leaf, ExprContext *econtext)
{
	prepare_value(filter, leaf, econtext);
	if (leaf->never || leaf->op != FILTER_COMPARE)
		return;
	leaf->low = leaf->high = leaf->value;
	if (leaf->order == STRATA_ORDER_LOCAL)
	{
		MemoryContext old = MemoryContextSwitchTo(value_context(filter));

		strata_local_bounds(leaf->value, &leaf->low, &leaf->high);
		MemoryContextSwitchTo(old);
	}
}

/* Is there the result of a subquery in it that has not been executed yet? */
static bool
is_pending(Node *node, void *econtext)
{
	Param	   *param = (Param *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return param->paramkind == PARAM_EXEC &&
			((ExprContext *) econtext)->ecxt_param_exec_vals[param->paramid]
			.execPlan != NULL;
	return expression_tree_walker(node, is_pending, econtext);
}

/* Returns whether some leaf stays pending. */
static bool
prepare_node(StrataFilter *filter, FilterNode *node, ExprContext *econtext)
{
	bool		pending = false;

	for (int i = 0; i < node->nargs; i++)
		pending |= prepare_node(filter, node->args[i], econtext);
	if (node->op == FILTER_EXPR)
		return pending || is_pending(strata_filter_awaited(node), econtext);
	if (node->comparand == NULL || node->given != NULL)
		return pending;
	node->pending = is_pending(strata_filter_awaited(node), econtext);
	if (!node->pending)
		prepare_leaf(filter, node, econtext);
	else
		node->never = node->always = false;
	return node->pending;
}

/* The same of a qual; how it is tried depends on that. */
static void
prepare_qual(StrataFilter *filter, StrataQual *qual, ExprContext *econtext)
{
	bool		pending = prepare_node(filter, qual->tree, econtext);

	Assert(!pending || qual->waits);	/* scan:R20 */
	if (!qual->waits || !qual->promotable ||
		!strata_filter_tree_is_vectorisable(qual->tree))
		return;
	qual->way = pending ? STRATA_QUAL_ROW : STRATA_QUAL_VECTOR;
	qual->reason = pending ? "a subquery in it may not be needed" : NULL;
}

/* See filter_private.h. */
void
strata_filter_prepare(StrataFilter *filter, ExprContext *econtext)
{
	if (filter->value_mcxt != NULL)
		MemoryContextReset(filter->value_mcxt);
	for (int i = 0; i < filter->nquals; i++)
		prepare_qual(filter, &filter->quals[i], econtext);
	filter->prepared = true;
}

/* Evaluate a leaf for one value of its column. */
static bool
eval_leaf(FilterNode *leaf, StrataFilterRun *run, Datum value, bool isnull)
{
	Datum		result;
	bool		result_isnull;

	if (leaf->like != NULL)
		return !isnull &&
			strata_like_match(leaf->like, value) != leaf->not_like;
	run->slot->tts_values[leaf->attno - 1] = value;
	run->slot->tts_isnull[leaf->attno - 1] = isnull;
	run->econtext->ecxt_scantuple = run->slot;
	result = ExecEvalExprSwitchContext(strata_leaf_state(leaf), run->econtext,
									   &result_isnull);
	ResetExprContext(run->econtext);
	return !result_isnull && DatumGetBool(result);
}

/*
 * An expression of one column: once for null and once per distinct value that
 * some row still in the mask has; or once per row where there is no
 * dictionary.
 */
static void
run_expression(FilterNode *leaf, StrataFilterRun *run, const StrataColumn *col,
			   uint8 *mask)
{
	enum
	{
		UNKNOWN, NO, YES
	};
	int			n = run->reader->nrows;
	uint8		null_result = UNKNOWN;
	uint8	   *results = NULL;

	if (col->codes != NULL)
		results = MemoryContextAllocZero(run->reader->batch_mcxt,
										 Max(col->ndict, 1));
	for (int i = 0; i < n; i++)
	{
		uint8		one = UNKNOWN;
		uint8	   *result = &one;
		Datum		value = (Datum) 0;
		bool		isnull = col->isnull != NULL && col->isnull[i];

		if (!mask[i])
			continue;
		if (isnull)
			result = &null_result;
		else if (results != NULL)
			result = &results[col->codes[i]];
		if (*result == UNKNOWN)
		{
			if (!isnull)
				value = results != NULL ? col->dict[col->codes[i]] :
					col->datums[i];
			*result = eval_leaf(leaf, run, value, isnull) ? YES : NO;
		}
		mask[i] = *result == YES;
	}
}

/* Is the leaf true of this value?  (Of a column constant in the batch.) */
static bool
run_value(FilterNode *leaf, StrataFilterRun *run, Datum value, bool isnull)
{
	uint8		mask = 1;
	union
	{
		int8		i8;
		int16		i16;
		int32		i32;
		int64		i64;
	}			fixed;

	if (leaf->expr != NULL)
		return eval_leaf(leaf, run, value, isnull);
	if (isnull)
		return false;
	/* floats are the bits of the integer of their width */
	switch (leaf->kind)
	{
		case FILTER_KIND_INT8:
			fixed.i8 = (int8) DatumGetChar(value);
			break;
		case FILTER_KIND_INT16:
			fixed.i16 = DatumGetInt16(value);
			break;
		case FILTER_KIND_INT64:
		case FILTER_KIND_FLOAT8:
			fixed.i64 = DatumGetInt64(value);
			break;
		default:
			fixed.i32 = DatumGetInt32(value);
			break;
	}
	if (leaf->op == FILTER_COMPARE)
		strata_filter_compare(leaf, &fixed, 1, &mask);
	else
		strata_filter_in(leaf, &fixed, 1, &mask);
	return mask != 0;
}

/*
 * The values' first bytes, where these are enough for the leaf and can be
 * had; else NULL.
 */
static const StrataColumn *
leaf_start(const FilterNode *leaf, StrataFilterRun *run)
{
	if (leaf->expr == NULL || leaf->start.nbytes == 0)
		return NULL;
	return strata_batch_reader_part(run->reader, leaf->attno, &leaf->start,
									NULL, 0, run->reader->nrows);
}

/* mask[i] &= does row i pass the condition, NULL being no? */
static void
run_leaf(FilterNode *leaf, StrataFilterRun *run, uint8 *mask)
{
	int			n = run->reader->nrows;
	StrataColumn *col;
	const StrataColumn *start;

	if (leaf->always)
		return;
	if (leaf->never)
	{
		memset(mask, 0, n);
		return;
	}
	start = leaf_start(leaf, run);
	if (start != NULL)
	{
		run_expression(leaf, run, start, mask);
		return;
	}
	if (strata_filter_strings(leaf, run, mask) ||
		strata_filter_decimals(leaf, run, mask))
		return;
	col = strata_batch_reader_column(run->reader, leaf->attno);
	if (col->constant)
	{
		if (!run_value(leaf, run, col->value, col->value_isnull))
			memset(mask, 0, n);
		return;
	}
	if (leaf->by_bytes)
	{
		strata_filter_bytes(leaf, run, col, mask);
		return;
	}
	if (leaf->expr != NULL)
	{
		run_expression(leaf, run, col, mask);
		return;
	}
	if (col->isnull != NULL)
		strata_filter_mask_nulls(col->isnull, false, n, mask);
	if (leaf->op == FILTER_COMPARE)
		strata_filter_compare(leaf, col->fixed, n, mask);
	else
		strata_filter_in(leaf, col->fixed, n, mask);
}

/* mask[i] &= is row i null, or not?  No values are decoded for it. */
static void
run_null_test(const FilterNode *leaf, StrataFilterRun *run, uint8 *mask)
{
	static const StrataPart nulls = {STRATA_PART_NULLS};
	int			n = run->reader->nrows;
	const StrataColumn *col;
	bool		wanted = leaf->op == FILTER_IS_NULL;

	col = strata_batch_reader_part(run->reader, leaf->attno, &nulls, NULL, 0,
								   n);
	if (col == NULL)
		col = strata_batch_reader_column(run->reader, leaf->attno);
	if (col->constant || col->isnull == NULL)
	{
		if ((col->constant && col->value_isnull) != wanted)
			memset(mask, 0, n);
		return;
	}
	strata_filter_mask_nulls(col->isnull, wanted, n, mask);
}

/* to[i] = a[i] & ~b[i], of bytes that are 0 or 1, eight at a time. */
static void
mask_and_not(uint8 *to, const uint8 *a, const uint8 *b, int n)
{
	int			i = 0;

	for (; i + (int) sizeof(uint64) <= n; i += sizeof(uint64))
	{
		uint64		x;
		uint64		y;

		memcpy(&x, a + i, sizeof(x));
		memcpy(&y, b + i, sizeof(y));
		x &= ~y;
		memcpy(to + i, &x, sizeof(x));
	}
	for (; i < n; i++)
		to[i] = a[i] & (b[i] ^ 1);
}

/* to[i] |= a[i], likewise. */
static void
mask_or(uint8 *to, const uint8 *a, int n)
{
	int			i = 0;

	for (; i + (int) sizeof(uint64) <= n; i += sizeof(uint64))
	{
		uint64		x;
		uint64		y;

		memcpy(&x, to + i, sizeof(x));
		memcpy(&y, a + i, sizeof(y));
		x |= y;
		memcpy(to + i, &x, sizeof(x));
	}
	for (; i < n; i++)
		to[i] |= a[i];
}

/*
 * Each arm that bounds leave is tried on the rows no arm before it accepted:
 * of many ranges a batch lies in few.
 */
static void
run_or(const FilterNode *node, StrataFilterRun *run, uint8 *mask)
{
	int			n = run->reader->nrows;
	uint8	   *accepted = run->scratch;
	uint8	   *arm = accepted + n;

	run->scratch = arm + n;
	memset(accepted, 0, n);
	for (int i = 0; i < node->nargs; i++)
	{
		StrataVerdict verdict = node->nargs > 2 ?
		strata_filter_bounds_verdict(node->args[i], run) : STRATA_SOME;

		if (verdict == STRATA_NONE)
			continue;
		if (verdict == STRATA_ALL)
		{
			memcpy(accepted, mask, n);
			break;
		}
		mask_and_not(arm, mask, accepted, n);
		strata_filter_vector(node->args[i], run, arm);
		mask_or(accepted, arm, n);
	}
	memcpy(mask, accepted, n);
	run->scratch = accepted;
}

/* See filter_private.h. */
void
strata_filter_vector(FilterNode *tree, StrataFilterRun *run, uint8 *mask)
{
	int			n = run->reader->nrows;

	switch (tree->op)
	{
		case FILTER_AND:
			for (int i = 0; i < tree->nargs; i++)
			{
				strata_filter_vector(tree->args[i], run, mask);
				if (memchr(mask, 1, n) == NULL)
					return;
			}
			return;
		case FILTER_OR:
			run_or(tree, run, mask);
			return;
		case FILTER_CONST:
			if (!tree->truth)
				memset(mask, 0, n);
			return;
		case FILTER_IS_NULL:
		case FILTER_IS_NOT_NULL:
			run_null_test(tree, run, mask);
			return;
		case FILTER_COMPARE:
		case FILTER_IN:
		case FILTER_NOT_IN:
		case FILTER_EXPR:
			run_leaf(tree, run, mask);
			return;
		case FILTER_OPAQUE:
			break;
	}
	elog(ERROR, "filter cannot be evaluated on vectors");
}

static int
or_depth(const FilterNode *node)
{
	int			depth = 0;

	for (int i = 0; i < node->nargs; i++)
		depth = Max(depth, or_depth(node->args[i]));
	return depth + (node->op == FILTER_OR ? 1 : 0);
}

/* See filter_private.h. */
Size
strata_filter_scratch_size(const FilterNode *tree, int nrows)
{
	return (Size) or_depth(tree) * 2 * nrows;
}
