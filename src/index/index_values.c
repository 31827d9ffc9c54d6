/*-------------------------------------------------------------------------
 *
 * index_values.c
 *	  What an index of the table has of a batch: the values of its columns,
 *	  expressions among them, in the rows that its predicate lets in.
 *
 * A column of R's is given without looking at each row where it is stored so:
 * a constant once, a dictionary entry by entry.  Expressions are evaluated as
 * CREATE INDEX evaluates them: as the table's owner, in a security-restricted
 * operation (base/owner.c); those of one column that has a dictionary once for
 * each entry that rows have.
 *
 * Rows that were deleted since the batch was written are still in it, so that
 * whoever sees them finds them; what an expression says of them counts, too.
 *
 * src/index/index_values.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"

#include "access/sysattr.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* An expression of the index. */
typedef struct IndexExpression
{
	ExprState  *state;
	AttrNumber	only;			/* the one column it is of; 0: of others, too */
	int16		typlen;
	bool		typbyval;
} IndexExpression;

struct StrataIndexValues
{
	Relation	rel;
	Relation	index;
	EState	   *estate;			/* NULL: there is nothing to evaluate */
	ExprState  *predicate;
	AttrNumber	predicate_only; /* the one column it is of; 0: of others, too */
	IndexExpression *expressions;	/* by column of the index; state NULL: a
									 * column of R's */
	Bitmapset  *used;			/* columns of R's that expressions are of */
	TupleTableSlot *slot;
	MemoryContext kept;			/* values of the batch */
	StrataOwnerContext saved;
	/* of the batch */
	StrataBatchReader *reader;
	bool	   *let_in;			/* by row; NULL: all are */
	int			filled;			/* the row that is in the slot, or -1 */
	/* of the column being given */
	const IndexExpression *expression;
	const StrataColumn *col;	/* or the only one of the expression */
	bool	   *seen;			/* by code, behind them null; NULL: not needed */
	int			entry;			/* of the dictionary, or -1 */
	int			row;
};

/* Columns of R's in it; with a whole row all of them. */
static Bitmapset *
columns_used(Relation rel, Node *node, AttrNumber *only)
{
	Bitmapset  *attnos = NULL;
	Bitmapset  *used = NULL;
	int			member = -1;

	pull_varattnos(node, 1, &attnos);
	while ((member = bms_next_member(attnos, member)) >= 0)
	{
		AttrNumber	attno = (AttrNumber)
		(member + FirstLowInvalidHeapAttributeNumber);

		if (attno > 0)
			used = bms_add_member(used, attno);
		else if (attno == 0)
			used = bms_add_range(used, 1, RelationGetDescr(rel)->natts);
	}
	*only = 0;
	if (bms_membership(used) == BMS_SINGLETON)
		*only = (AttrNumber) bms_singleton_member(used);
	return used;
}

/* Get ready what is to be evaluated. */
static void
prepare_expressions(StrataIndexValues *values)
{
	List	   *expressions = RelationGetIndexExpressions(values->index);
	List	   *predicate = RelationGetIndexPredicate(values->index);
	ListCell   *lc = list_head(expressions);

	values->estate = CreateExecutorState();
	values->used = columns_used(values->rel, (Node *) predicate,
								&values->predicate_only);
	if (predicate != NIL)
		values->predicate = ExecPrepareQual(predicate, values->estate);
	for (int i = 0; i < values->index->rd_index->indnkeyatts; i++)
	{
		IndexExpression *expression = &values->expressions[i];
		Expr	   *expr;

		if (values->index->rd_index->indkey.values[i] != 0)
			continue;
		if (lc == NULL)
			elog(ERROR, "too few entries in indexprs list");
		expr = lfirst(lc);
		lc = lnext(expressions, lc);
		values->used = bms_add_members(values->used,
									   columns_used(values->rel,
													(Node *) expr,
													&expression->only));
		get_typlenbyval(exprType((Node *) expr), &expression->typlen,
						&expression->typbyval);
		expression->state = ExecPrepareExpr(expr, values->estate);
	}
	values->slot = MakeSingleTupleTableSlot(RelationGetDescr(values->rel),
											&TTSOpsVirtual);
	GetPerTupleExprContext(values->estate)->ecxt_scantuple = values->slot;
}

/* See index_class_private.h. */
StrataIndexValues *
strata_index_values_open(Relation rel, Relation index)
{
	StrataIndexValues *values = palloc0(sizeof(StrataIndexValues));

	values->rel = rel;
	values->index = index;
	values->expressions = palloc0_array(IndexExpression, INDEX_MAX_KEYS);
	values->kept = AllocSetContextCreate(CurrentMemoryContext,
										 "strata values of an index",
										 ALLOCSET_DEFAULT_SIZES);
	if (heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL))
		return values;
	strata_owner_enter(rel->rd_rel->relowner, &values->saved);
	prepare_expressions(values);
	return values;
}

/* See index_class_private.h. */
void
strata_index_values_close(StrataIndexValues *values)
{
	if (values->estate != NULL)
	{
		strata_owner_leave(&values->saved);
		ExecDropSingleTupleTableSlot(values->slot);
		FreeExecutorState(values->estate);
	}
	MemoryContextDelete(values->kept);
	pfree(values->expressions);
	pfree(values);
}

/* Say which index it was, and of what. */
static void
tell_where(void *arg)
{
	const StrataIndexValues *values = arg;

	errcontext("index \"%s\", evaluated for compressed rows (deleted ones are among them until the chunk is recompressed)",
			   RelationGetRelationName(values->index));
}

/* Bring a row of the batch into the slot. */
static void
fill_slot(StrataIndexValues *values, int row)
{
	TupleTableSlot *slot = values->slot;
	int			attno = -1;

	if (values->filled == row)
		return;
	ExecClearTuple(slot);
	memset(slot->tts_isnull, true,
		   sizeof(bool) * slot->tts_tupleDescriptor->natts);
	while ((attno = bms_next_member(values->used, attno)) >= 0)
		if (!TupleDescAttr(slot->tts_tupleDescriptor,
						   attno - 1)->attisdropped)
			slot->tts_values[attno - 1] =
				strata_column_get(strata_batch_reader_column(values->reader,
															 (AttrNumber) attno),
								  row, &slot->tts_isnull[attno - 1]);
	ExecStoreVirtualTuple(slot);
	values->filled = row;
}

static bool
ask_row_predicate(StrataIndexValues *values, int row)
{
	ExprContext *econtext = GetPerTupleExprContext(values->estate);

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(econtext);
	fill_slot(values, row);
	return ExecQual(values->predicate, econtext);
}

/*
 * Which rows does the predicate let in?  Of one column that has a dictionary
 * it is asked once for each entry that rows have.
 */
static void
ask_predicate(StrataIndexValues *values)
{
	int			nrows = values->reader->nrows;
	const StrataColumn *col = values->predicate_only == 0 ? NULL :
	strata_batch_reader_column(values->reader, values->predicate_only);
	bool		by_code = col != NULL && !col->constant && col->codes != NULL;
	int		   *asked = NULL;	/* by code, behind them null: a row, from 1 */

	values->let_in = MemoryContextAlloc(values->kept, sizeof(bool) * nrows);
	if (by_code)
		asked = MemoryContextAllocZero(values->kept, sizeof(int) *
									   (col->ndict + 1));
	for (int row = 0; row < nrows; row++)
	{
		bool		isnull = by_code && col->isnull != NULL &&
		col->isnull[row];
		int		   *same = !by_code ? NULL :
		&asked[isnull ? col->ndict : (int) col->codes[row]];

		if (by_code && *same > 0)
			values->let_in[row] = values->let_in[*same - 1];
		else if (col != NULL && col->constant && row > 0)
			values->let_in[row] = values->let_in[0];
		else
			values->let_in[row] = ask_row_predicate(values, row);
		if (by_code)
			*same = row + 1;
	}
}

/* See index_class_private.h. */
bool
strata_index_values_load(StrataIndexValues *values, StrataBatchReader *reader)
{
	ErrorContextCallback callback = {.callback = tell_where,.arg = values,
	.previous = error_context_stack};

	values->reader = reader;
	values->let_in = NULL;
	values->filled = -1;
	MemoryContextReset(values->kept);
	if (values->predicate == NULL)
		return true;
	error_context_stack = &callback;
	ask_predicate(values);
	error_context_stack = callback.previous;
	for (int row = 0; row < reader->nrows; row++)
		if (values->let_in[row])
			return true;
	return false;
}

/* See index_class_private.h. */
void
strata_index_values_start(StrataIndexValues *values, int column)
{
	AttrNumber	attno = values->index->rd_index->indkey.values[column];

	values->expression = attno == 0 ? &values->expressions[column] : NULL;
	if (attno == 0)
		attno = values->expression->only;
	values->col = attno == 0 ? NULL :
		strata_batch_reader_column(values->reader, attno);
	values->entry = values->row = -1;
	values->seen = NULL;
	if (values->col == NULL || values->col->constant ||
		values->col->codes == NULL)
		return;
	Assert(values->col->from == 0 &&
		   values->col->n == values->reader->nrows);	/* index:I1 */
	if (values->expression == NULL && values->let_in == NULL)
		values->entry = 0;
	else
		values->seen = MemoryContextAllocZero(values->kept, sizeof(bool) *
											  (values->col->ndict + 1));
}

/* Is the row's entry of the dictionary (or null) a new one? */
static bool
is_new(StrataIndexValues *values, int row, bool isnull)
{
	bool	   *seen = &values->seen[isnull ? values->col->ndict :
									 (int) values->col->codes[row]];
	bool		new = !*seen;

	*seen = true;
	return new;
}

/* The expression's value of a row; it lives as long as the batch. */
static Datum
evaluate_row(StrataIndexValues *values, int row, bool *isnull)
{
	const IndexExpression *expression = values->expression;
	ErrorContextCallback callback = {.callback = tell_where,.arg = values,
	.previous = error_context_stack};
	ExprContext *econtext = GetPerTupleExprContext(values->estate);
	MemoryContext old;
	Datum		value;

	error_context_stack = &callback;
	ResetExprContext(econtext);
	fill_slot(values, row);
	value = ExecEvalExprSwitchContext(expression->state, econtext, isnull);
	error_context_stack = callback.previous;
	if (*isnull || expression->typbyval)
		return value;
	old = MemoryContextSwitchTo(values->kept);
	value = datumCopy(value, false, expression->typlen);
	MemoryContextSwitchTo(old);
	return value;
}

/* The next row that may have another value; -1: there is none. */
static int
next_row(StrataIndexValues *values)
{
	const StrataColumn *col = values->col;
	bool		isnull = false;

	/* of a constant one row will do */
	if (col != NULL && col->constant && values->row >= 0)
		return -1;
	while (++values->row < values->reader->nrows)
	{
		if (values->let_in != NULL && !values->let_in[values->row])
			continue;
		if (values->seen != NULL)
		{
			(void) strata_column_get(col, values->row, &isnull);
			if (!is_new(values, values->row, isnull))
				continue;
		}
		return values->row;
	}
	return -1;
}

/* See index_class_private.h. */
bool
strata_index_values_next(StrataIndexValues *values, Datum *value, bool *isnull)
{
	const StrataColumn *col = values->col;
	int			row;

	CHECK_FOR_INTERRUPTS();
	if (values->entry >= 0 && values->entry < col->ndict)
	{
		*value = col->dict[values->entry++];
		*isnull = false;
		return true;
	}
	if (values->entry >= 0)
	{
		/* of the rows only that there is a null is left to say */
		if (col->isnull == NULL || values->row >= 0 ||
			memchr(col->isnull, true, values->reader->nrows) == NULL)
			return false;
		values->row = 0;
		*value = (Datum) 0;
		*isnull = true;
		return true;
	}
	row = next_row(values);
	if (row < 0)
		return false;
	*value = values->expression != NULL ? evaluate_row(values, row, isnull) :
		strata_column_get(col, row, isnull);
	return true;
}
