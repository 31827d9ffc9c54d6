/*-------------------------------------------------------------------------
 *
 * scan_share.c
 *	  The share of batches that quals do not prune, for costs.
 *
 * Tried on the summaries of some batches.  A qual is made into a tree once,
 * and the tree gives the chance that a batch is read: 0 or 1 where a constant
 * is compared with its bounds.  A value that planning does not know is taken
 * to be like those of the column: each of some batches' minima in turn.
 *
 * Only what is certain not to raise an error, and costs little, is tried; all
 * else reads every batch.
 *
 * src/scan/scan_share.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_plan_private.h"
#include "scan/scan_source_private.h"
#include "store/store.h"

#include "access/stratnum.h"
#include "access/transam.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

/*
 * Constants of a list that are tried, and values taken for one that is not
 * known.
 */
#define MAX_VALUES 64
#define UNKNOWN_VALUES 8

typedef enum ShareKind
{
	SHARE_ALL,					/* nothing is known: every batch is read */
	SHARE_AND,
	SHARE_OR,
	SHARE_RANGE,				/* a comparison with any of some values */
	SHARE_UNKNOWN,				/* ... with a value like one of these */
	SHARE_NULL,
	SHARE_NOT_NULL
} ShareKind;

typedef struct ShareNode
{
	ShareKind	kind;
	List	   *args;
	AttrNumber	attno;
	StrataColumnOp op;
	FmgrInfo	comparison;		/* of op */
	int			nvalues;
	Datum		values[MAX_VALUES];
} ShareNode;

static ShareNode *
make_share_node(ShareKind kind, AttrNumber attno)
{
	ShareNode  *node = palloc0(sizeof(ShareNode));

	node->kind = kind;
	node->attno = attno;
	return node;
}

/*
 * The constants that the column is compared with; false: they are not known,
 * or too many.
 */
static bool
take_constants(ShareNode *node, const Const *value)
{
	ArrayType  *array;
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	int16		typlen;
	bool		typbyval;
	char		typalign;

	if (!node->op.is_array)
	{
		if (!value->constisnull)
			node->values[node->nvalues++] = value->constvalue;
		return true;
	}
	if (value->constisnull)
		return true;
	array = DatumGetArrayTypeP(value->constvalue);
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  &elements, &nulls, &n);
	if (n > MAX_VALUES)
		return false;
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			node->values[node->nvalues++] = elements[i];
	return true;
}

/* Elements of ARRAY[...], where each is a constant. */
static bool
take_elements(ShareNode *node, const ArrayExpr *array)
{
	ListCell   *lc;

	if (array->multidims || list_length(array->elements) > MAX_VALUES)
		return false;
	foreach(lc, array->elements)
	{
		const Const *value = lfirst(lc);

		if (!IsA(value, Const))
			return false;
		if (!value->constisnull)
			node->values[node->nvalues++] = value->constvalue;
	}
	return true;
}

/* Least values of some batches, spread over the sample. */
static void
take_unknown(ShareNode *node, const StrataStoreSample *sample)
{
	int			step = Max(sample->nbatches / UNKNOWN_VALUES, 1);

	for (int i = step / 2;
		 i < sample->nbatches && node->nvalues < UNKNOWN_VALUES; i += step)
	{
		const StrataColumnSummary *summary;

		summary = &sample->summaries[(Size) i * sample->natts + node->attno -
									 1];
		if (summary->attno != 0 && summary->has_range)
			node->values[node->nvalues++] = summary->min;
	}
}

/*
 * How a comparison prunes a sample of batches: by bounds, or (SHARE_ALL) not
 * at all.
 */
static ShareNode *
make_share_comparison(StrataRelInfo *info, const StrataColumnOp *op,
					  const StrataStoreSample *sample)
{
	ShareNode  *node;
	Node	   *value = (Node *) op->value;
	bool		known;

	if (!op->column_order ||
		!TupleDescAttr(info->desc, op->attno - 1)->attbyval ||
		!OidIsValid(op->op.comparison) ||
		op->op.comparison >= FirstGenbkiObjectId ||
		(op->is_array && op->strategy != BTEqualStrategyNumber))
		return make_share_node(SHARE_ALL, 0);
	node = make_share_node(SHARE_RANGE, op->attno);
	node->op = *op;
	fmgr_info(op->op.comparison, &node->comparison);
	known = IsA(value, Const) ? take_constants(node, (Const *) value) :
		IsA(value, ArrayExpr) && take_elements(node, (ArrayExpr *) value);
	if (known)
		return node;
	if (op->op.lefttype != op->op.righttype)
		return make_share_node(SHARE_ALL, 0);
	node->kind = SHARE_UNKNOWN;
	node->nvalues = 0;
	take_unknown(node, sample);
	return node;
}

/* The tree of a clause. */
static ShareNode *
make_share(StrataRelInfo *info, Node *clause, const StrataStoreSample *sample)
{
	StrataColumnOp op;
	ShareNode  *node;
	ListCell   *lc;

	if (IsA(clause, RestrictInfo))
	{
		const StrataColumnOp *found;

		found = strata_scan_clause_op(info, (RestrictInfo *) clause);
		if (found != NULL)
			return make_share_comparison(info, found, sample);
		clause = (Node *) ((RestrictInfo *) clause)->clause;
	}
	if (is_andclause(clause) || is_orclause(clause))
	{
		node = make_share_node(is_andclause(clause) ? SHARE_AND : SHARE_OR, 0);
		foreach(lc, ((BoolExpr *) clause)->args)
			node->args = lappend(node->args,
								 make_share(info, lfirst(lc), sample));
		return node;
	}
	if (IsA(clause, NullTest))
	{
		NullTest   *test = (NullTest *) clause;
		Var		   *var = (Var *) test->arg;

		if (IsA(var, Var) && var->varno == info->rel->relid &&
			var->varattno > 0 && !test->argisrow)
			return make_share_node(test->nulltesttype == IS_NULL ? SHARE_NULL :
								   SHARE_NOT_NULL,
								   var->varattno);
	}
	else if (strata_match_column_op((Expr *) clause, info->rel->relid, &op))
		return make_share_comparison(info, &op, sample);
	return make_share_node(SHARE_ALL, 0);
}

/* May rows pass a comparison with the value? */
static bool
may_compare(const ShareNode *node, const StrataColumnSummary *summary,
			Datum value)
{
	FmgrInfo   *comparison = unconstify(FmgrInfo *, &node->comparison);
	int			lo = DatumGetInt32(FunctionCall2Coll(comparison,
													 node->op.collation,
													 summary->min, value));
	int			hi = DatumGetInt32(FunctionCall2Coll(comparison,
													 node->op.collation,
													 summary->max, value));

	/* NaN is above all */
	return strata_prune_compare(node->op.strategy, &lo,
								summary->has_nan ? NULL : &hi) != STRATA_NONE;
}

static double
compare_chance(const ShareNode *node, const StrataColumnSummary *summary)
{
	int			passing = 0;

	if (!summary->has_range)
		return 1;
	for (int i = 0; i < node->nvalues; i++)
	{
		passing += may_compare(node, summary, node->values[i]);
		if (node->kind == SHARE_RANGE && passing > 0)
			return 1;
	}
	if (node->kind == SHARE_RANGE)
		return 0;
	return node->nvalues > 0 ? (double) passing / node->nvalues : 1;
}

/* The chance that batch number i of the sample is read. */
static double
chance(const ShareNode *node, const StrataStoreSample *sample, int i)
{
	const StrataColumnSummary *summary = NULL;
	double		result = 1;
	ListCell   *lc;

	if (node->attno > 0)
	{
		summary =
			&sample->summaries[(Size) i * sample->natts + node->attno - 1];
		if (summary->attno == 0)
			return 1;
		if (node->kind != SHARE_NULL && summary->nnulls == sample->nrows[i])
			return 0;
	}
	switch (node->kind)
	{
		case SHARE_AND:
			foreach(lc, node->args)
				result *= chance(lfirst(lc), sample, i);
			return result;
		case SHARE_OR:
			foreach(lc, node->args)
				result *= 1 - chance(lfirst(lc), sample, i);
			return 1 - result;
		case SHARE_RANGE:
		case SHARE_UNKNOWN:
			return compare_chance(node, summary);
		case SHARE_NULL:
			return summary->nnulls > 0;
		case SHARE_NOT_NULL:
		case SHARE_ALL:
			break;
	}
	return 1;
}

/* See scan_plan_private.h. */
Selectivity
strata_scan_unpruned_share(StrataRelInfo *info, List *clauses)
{
	const StrataStoreSample *sample = strata_store_sample(info->store);
	ShareNode  *all = make_share_node(SHARE_AND, 0);
	double		passing = 0;
	bool		any = false;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		ShareNode  *node = make_share(info, lfirst(lc), sample);

		all->args = lappend(all->args, node);
		any = any || node->kind != SHARE_ALL;
	}
	if (!any)
		return 1.0;
	for (int i = 0; i < sample->nbatches; i++)
		passing += chance(all, sample, i);
	return (passing + 1.0) / (sample->nbatches + 1.0);
}
