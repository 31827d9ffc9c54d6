/*-------------------------------------------------------------------------
 *
 * expr_other.c
 *	  What PostgreSQL evaluates: for each row, or once for rows that must have
 *	  the same result.
 *
 * Over 600 lines: which way a node is evaluated depends on what its columns
 * are, and all of the ways come down to one row, and to its errors.
 *
 * src/expr/expr_other.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_private.h"
#include "expr/expr_range_private.h"

#include "access/transam.h"
#include "base/words.h"
#include "catalog/pg_language_d.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "port/pg_bitutils.h"
#include "time/time.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Where an entry has so many rows, all entries are taken to have some. */
#define ROWS_PER_ENTRY 4

/* Evaluate it for what is in the slot; the value is a copy. */
static bool
eval_slot(const StrataExprSource *source, ExprNode *node, void *v, int i)
{
	bool		isnull;
	Datum		value;

	ResetExprContext(source->econtext);
	value = ExecEvalExprSwitchContext(node->state, source->econtext, &isnull);
	if (isnull)
		((Datum *) v)[i] = 0;
	else if (node->class == EXPR_DATUM)
		((Datum *) v)[i] = datumCopy(value, false, node->typlen);
	else
		expr_put(node, v, i, value);
	return isnull;
}

/* The same for a row of the batch. */
static bool
eval_row(const StrataExprSource *source, ExprNode *node, int row, void *v,
		 int i)
{
	TupleTableSlot *slot = source->slot;

	for (int k = 0; k < node->natts; k++)
	{
		int			att = node->atts[k] - 1;

		slot->tts_values[att] = strata_column_get(node->columns[k], row,
												  &slot->tts_isnull[att]);
	}
	if (node->parts != NULL)
		strata_parts_load(node->parts, node->parts->columns,
						  source->econtext, row);
	return eval_slot(source, node, v, i);
}

/* The same for null, or an entry, of the one column that it reads. */
static bool
eval_single(const StrataExprSource *source, ExprNode *node, Datum value,
			bool isnull, void *v, int i)
{
	int			att = node->atts[0] - 1;

	Assert(node->natts == 1 && node->parts == NULL);	/* expr:E5 */
	source->slot->tts_values[att] = value;
	source->slot->tts_isnull[att] = isnull;
	return eval_slot(source, node, v, i);
}

/*
 * The same for a value of its one column, which the row has: once for all of
 * them that are kept.
 */
static bool
eval_value(const StrataExprSource *source, ExprNode *node, int row,
		   StrataMemoUse use, Datum value, uint64 *v, int i)
{
	StrataMemoEntry *entry = node->memo == NULL ? NULL :
	strata_memo_find(node->memo, use, value);
	bool		isnull;

	if (entry != NULL && entry->known)
	{
		v[i] = entry->result;
		return entry->isnull;
	}
	isnull = node->parts == NULL ?
		eval_single(source, node, value, false, v, i) :
		eval_row(source, node, row, v, i);
	if (entry == NULL)
		return isnull;
	if (node->class == EXPR_DATUM && !isnull)
		v[i] = strata_memo_put_copy(node->memo, entry, v[i], node->typlen);
	else
		strata_memo_put(node->memo, entry, v[i], isnull);
	return isnull;
}

/* What a node is for the entries of a dictionary that rows have. */
typedef struct ExprEntries
{
	const StrataColumn *col;
	uint8	   *known;			/* of each, and of null behind them: 0: not
								 * yet, 2: null */
	uint64	   *values;
} ExprEntries;

static inline uint32
entry_of_row(const StrataColumn *col, int row)
{
	return col->isnull != NULL && col->isnull[row] ? (uint32) col->ndict :
		col->codes[row];
}

/* The same for an entry of its one column's dictionary, which the row has. */
static bool
eval_entry_of(const StrataExprSource *source, ExprNode *node, int row,
			  uint32 code, const uint16 *numbers, uint64 numbering,
			  uint64 *values)
{
	Datum		value = node->single->dict[code];
	char		buffer[EXPR_START_SIZE];
	bool		isnull;

	if (node->length != EXPR_LENGTH_NONE)
	{
		values[code] = strata_expr_length(node->length, value);
		return false;
	}
	if (numbers != NULL &&
		strata_memo_find_number(node->memo, numbering, numbers[code],
								&values[code], &isnull))
		return isnull;
	if (node->start != NULL)
		value = strata_expr_clip(node->start, value, buffer);
	isnull = eval_value(source, node, row, STRATA_MEMO_ENTRIES, value, values,
						(int) code);
	if (numbers != NULL)
		strata_memo_put_number(node->memo, numbering, numbers[code], value);
	return isnull;
}

/*
 * Evaluate it for all entries: that raises no error, and rows are so many that
 * each entry is one of theirs.
 */
static void
eval_all_entries(const StrataExprSource *source, ExprNode *node,
				 const uint16 *numbers, uint64 numbering, uint8 *known,
				 uint64 *values)
{
	const StrataColumn *col = node->single;

	if (node->length != EXPR_LENGTH_NONE &&
		strata_expr_lengths(node->length, col, values))
		memset(known, 1, col->ndict);
	else
		for (int i = 0; i < col->ndict; i++)
			known[i] = 1 + eval_entry_of(source, node, 0, (uint32) i, numbers,
										 numbering, values);
	if (col->isnull != NULL)
		known[col->ndict] = 1 + eval_single(source, node, (Datum) 0, true,
											values, col->ndict);
}

/*
 * Evaluate it for the frame's rows, once for each entry that one of them has,
 * in their order.
 */
static void
eval_entries(const StrataExprSource *source, ExprNode *node,
			 const StrataExprFrame *frame, ExprEntries *entries)
{
	const StrataColumn *col = node->single;
	uint64		numbering = 0;
	const uint16 *numbers = node->memo == NULL ||
	node->length != EXPR_LENGTH_NONE ? NULL :
	strata_column_numbers(node->single, &numbering);
	uint8	   *known = palloc0(col->ndict + 1);
	uint64	   *values = palloc(sizeof(uint64) * (col->ndict + 1));
	int		   *met;
	int			nmet = 0;

	entries->col = col;
	entries->known = known;
	entries->values = values;
	if (!node->raises && node->parts == NULL &&
		(col->ndict <= frame->n / ROWS_PER_ENTRY || frame->n == col->n))
	{
		eval_all_entries(source, node, numbers, numbering, known, values);
		return;
	}
	met = palloc(sizeof(int) * (frame->n + 1));
	/* rows with a new entry; no branch: nobody could guess it */
	for (int i = 0; i < frame->n; i++)
	{
		int			row = expr_row(frame, i);
		uint32		code = entry_of_row(col, row);

		met[nmet] = row;
		nmet += !known[code];
		known[code] = 1;
	}
	for (int i = 0; i < nmet; i++)
	{
		uint32		code = entry_of_row(col, met[i]);

		known[code] += code == (uint32) col->ndict ?
			eval_row(source, node, met[i], values, (int) code) :
			eval_entry_of(source, node, met[i], code, numbers, numbering,
						  values);
	}
	pfree(met);
}

/* The rows' values. */
static void
spread_entries(const ExprEntries *entries, const StrataExprFrame *frame,
			   uint64 *v, uint8 *null)
{
	for (int i = 0; i < frame->n; i++)
	{
		uint32		code = entry_of_row(entries->col, expr_row(frame, i));

		v[i] = entries->values[code];
		null[i] = entries->known[code] - 1;
	}
}

/*
 * The dictionary of the results: number[code] is the place of an entry's
 * result in it.  Those that lie in the same place are one.
 */
static void
number_results(const ExprEntries *entries, uint32 *number,
			   StrataColumn *result)
{
	int			n = entries->col->ndict + 1;
	uint32		nslots = pg_nextpower2_32((uint32) n * 2);
	uint32	   *slots = palloc0(sizeof(uint32) * nslots);
	Datum	   *dict = palloc(sizeof(Datum) * n);
	uint32		ndict = 0;

	for (int i = 0; i < n; i++)
	{
		Datum		value = (Datum) entries->values[i];
		uint32		slot;

		number[i] = 0;
		if (entries->known[i] != 1)
			continue;
		slot = strata_hash_word(value) & (nslots - 1);
		while (slots[slot] != 0 && dict[slots[slot] - 1] != value)
			slot = (slot + 1) & (nslots - 1);
		if (slots[slot] == 0)
		{
			dict[ndict] = value;
			slots[slot] = ++ndict;
		}
		number[i] = slots[slot] - 1;
	}
	pfree(slots);
	result->dict = dict;
	result->ndict = (int) ndict;
}

/* For each row of a column by reference that has no dictionary. */
static void
eval_datums(const StrataExprSource *source, ExprNode *node,
			const StrataExprFrame *frame, uint64 *v, uint8 *null)
{
	const StrataColumn *col = node->single;

	for (int i = 0; i < frame->n; i++)
	{
		int			row = expr_row(frame, i);
		bool		isnull = col->isnull != NULL && col->isnull[row];

		if (node->length != EXPR_LENGTH_NONE && !isnull &&
			strata_varlena_is_plain(DatumGetPointer(col->datums[row])))
		{
			v[i] = strata_expr_length(node->length, col->datums[row]);
			null[i] = false;
			continue;
		}
		null[i] = isnull ?
			eval_row(source, node, row, v, i) :
			eval_value(source, node, row, STRATA_MEMO_ROWS, col->datums[row],
					   v, i);
	}
}

/* So many times are compared without a branch between them. */
#define RANGE_STEP 16

/* How many of n times, from the first on, are in [lo, hi]. */
static int
count_in_range(const int64 *times, int n, int64 lo, int64 hi)
{
	uint64		width = (uint64) hi - (uint64) lo;
	int			k = 0;

	Assert(lo <= hi);			/* expr:E5 */
	for (; k + RANGE_STEP <= n; k += RANGE_STEP)
	{
		uint64		outside = 0;

		for (int i = k; i < k + RANGE_STEP; i++)
			outside |= (uint64) times[i] - (uint64) lo > width;
		if (outside != 0)
			break;
	}
	while (k < n && times[k] >= lo && times[k] <= hi)
		k++;
	return k;
}

/* The entry of a row's time, or of none, and for which times it is true. */
static int
eval_time(const StrataExprSource *source, ExprNode *node, int row, int64 *lo,
		  int64 *hi)
{
	const StrataColumn *col = node->single;
	ExprTimes  *times = node->times;
	bool		none = col->isnull != NULL && col->isnull[row];
	int			entry;
	uint64		v[1];
	bool		isnull;

	*lo = 1;
	*hi = 0;
	entry = none ? times->of_null - 1 :
		strata_times_find(times, ((const int64 *) col->fixed)[row], lo, hi);
	if (entry >= 0)
		return entry;
	isnull = eval_row(source, node, row, v, 0);
	entry = strata_times_put(times, v[0], isnull);
	if (none)
		times->of_null = entry + 1;
	return entry;
}

/* Once for each range of times in which it is the same. */
static void
eval_times(const StrataExprSource *source, ExprNode *node,
		   const StrataExprFrame *frame, uint64 *v, uint8 *null)
{
	const StrataColumn *col = node->single;
	const int64 *fixed = col->fixed;
	const ExprTimes *times = node->times;
	bool		whole = frame->rows == NULL && col->isnull == NULL;
	int64		lo = 1;
	int64		hi = 0;
	int			n;

	strata_times_begin(node->times);
	for (int i = 0; i < frame->n; i += n)
	{
		int			row = expr_row(frame, i);
		int			entry;

		n = 1;
		if (fixed[row] >= lo && fixed[row] <= hi &&
			(col->isnull == NULL || !col->isnull[row]))
		{
			Assert(i > 0);		/* expr:E5 */
			v[i] = v[i - 1];
			null[i] = null[i - 1];
			continue;
		}
		entry = eval_time(source, node, row, &lo, &hi);
		v[i] = times->values[entry];
		null[i] = times->null[entry];
		if (!whole || lo > hi)
			continue;
		n = Max(count_in_range(fixed + row, frame->n - i, lo, hi), 1);
		for (int j = i + 1; j < i + n; j++)
			v[j] = v[i];
		memset(null + i, null[i], n);
	}
}

/* The rows' entries as a dictionary. */
static void
number_times(const StrataExprSource *source, ExprNode *node,
			 const StrataExprFrame *frame, int nrows, StrataColumn *result)
{
	const StrataColumn *col = node->single;
	const int64 *fixed = col->fixed;
	uint32	   *codes = palloc0(sizeof(uint32) * nrows);
	bool	   *isnull = palloc0(sizeof(bool) * nrows);
	uint8		any_null = 0;
	int64		lo = 1;
	int64		hi = 0;
	int			entry = 0;

	result->dict = palloc(sizeof(Datum) * frame->n);
	result->ndict = 0;
	strata_times_begin(node->times);
	for (int i = 0; i < frame->n; i++)
	{
		int			row = expr_row(frame, i);

		if (fixed[row] < lo || fixed[row] > hi ||
			(col->isnull != NULL && col->isnull[row]))
			entry = eval_time(source, node, row, &lo, &hi);
		isnull[row] = node->times->null[entry];
		any_null |= isnull[row];
		if (!isnull[row])
			codes[row] = strata_times_number(node->times, entry, result->dict,
											 &result->ndict);
	}
	result->codes = codes;
	result->isnull = any_null ? isnull : NULL;
	result->decoded = true;
}

/* The node's values for the frame's rows; its columns are known. */
static void
eval_rows(const StrataExprSource *source, ExprNode *node,
		  const StrataExprFrame *frame, uint64 *v, uint8 *null)
{
	int			n = frame->n;
	const StrataColumn *single = node->single;
	bool		constant = node->parts == NULL;

	for (int k = 0; k < node->natts; k++)
		constant &= node->columns[k]->constant;
	if (constant)
	{
		null[0] = eval_row(source, node, expr_row(frame, 0), v, 0);
		for (int i = 1; i < n; i++)
			v[i] = v[0];
		memset(null, null[0], n);
	}
	else if (single != NULL && single->codes != NULL)
	{
		ExprEntries entries;

		eval_entries(source, node, frame, &entries);
		spread_entries(&entries, frame, v, null);
	}
	else if (single != NULL && node->times != NULL && single->fixed != NULL)
		eval_times(source, node, frame, v, null);
	else if (node->memo != NULL && single != NULL && single->datums != NULL)
		eval_datums(source, node, frame, v, null);
	else
		for (int i = 0; i < n; i++)
			null[i] = eval_row(source, node, expr_row(frame, i), v, i);
}

/*-------------------------------------------------------------------------
 * Errors of some nodes before errors of others
 *-------------------------------------------------------------------------
 */

/* Does it return something of every value that its type has? */
static bool
returns_always(Oid funcid)
{
	switch (funcid)
	{
		case F_LENGTH_TEXT:
		case F_CHAR_LENGTH_TEXT:
		case F_CHARACTER_LENGTH_TEXT:
		case F_OCTET_LENGTH_TEXT:
		case F_OCTET_LENGTH_BYTEA:
		case F_LENGTH_BYTEA:
		case F_LEFT:
		case F_RIGHT:
		case F_BTRIM_TEXT:
		case F_LTRIM_TEXT:
		case F_RTRIM_TEXT:
		case F_DATE_TIMESTAMPTZ:
		case F_DATE_TIMESTAMP:
		case F_TIME_TIMESTAMPTZ:
		case F_TIME_TIMESTAMP:
		case F_ISFINITE_DATE:
		case F_ISFINITE_TIMESTAMP:
		case F_ISFINITE_TIMESTAMPTZ:
		case F_ISFINITE_INTERVAL:
		case F_ABS_NUMERIC:
		case F_NUMERIC_ABS:
		case F_NUMERIC_UMINUS:
		case F_SIGN_NUMERIC:
		case F_SIGN_FLOAT8:
		case F_CARDINALITY:
		case F_ARRAY_LENGTH:
		case F_NETWORK_SUB:
		case F_NETWORK_SUBEQ:
		case F_NETWORK_SUP:
		case F_NETWORK_SUPEQ:
		case F_NETWORK_OVERLAP:
		case F_FAMILY:
		case F_MASKLEN:
		case F_JSONB_TYPEOF:
		case F_JSONB_EXISTS:
		case F_JSONB_EXISTS_ANY:
		case F_JSONB_EXISTS_ALL:
		case F_JSONB_EQ:
		case F_JSONB_NE:
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_OBJECT_FIELD_TEXT:
		case F_JSONB_EXTRACT_PATH:
		case F_JSONB_EXTRACT_PATH_TEXT:
			return true;
		default:
			return false;
	}
}

/*
 * Not a built in function that returns something whatever it is given?  Of a
 * context, those count that are not known to be leakproof, too.
 */
static bool
function_raises(Oid funcid, void *context)
{
	const ExprFunction *function = strata_expr_function_find(funcid);

	if (function != NULL)
		return function->can_fail;
	if (context != NULL && returns_always(funcid))
		return false;
	switch (funcid)
	{
		case F_NUMERIC_EQ:
		case F_NUMERIC_NE:
		case F_NUMERIC_LT:
		case F_NUMERIC_LE:
		case F_NUMERIC_GT:
		case F_NUMERIC_GE:
			return false;
		default:
			return funcid >= FirstNormalObjectId ||
				!get_func_leakproof(funcid);
	}
}

/* What is asked of an expression that is evaluated in its turn. */
typedef struct RaiseContext
{
	bool		usual_times;	/* of times that are not near an end */
} RaiseContext;

/* Is there anything that is not known to return a value for all arguments? */
static bool
may_raise(Node *node, void *context)
{
	const RaiseContext *raises = context;
	StrataNowLengths lengths = {0};
	Expr	   *arg;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Const:
		case T_Param:
		case T_List:
		case T_RelabelType:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
			break;
		case T_SQLValueFunction:
			return !strata_time_is_of_now(node, &lengths);
		case T_FuncExpr:
			if (strata_expr_cuts_time(node))
				break;
			if (raises != NULL && raises->usual_times &&
				strata_expr_is_of_usual_times(node))
				return false;
			/* FALLTHROUGH */
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
			if (check_functions_in_node(node, function_raises, context) &&
				strata_like_compile(node, &arg) == NULL)
				return !strata_time_is_of_now(node, &lengths);
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, may_raise, context);
}

/* See expr.h. */
bool
strata_expr_may_raise_error(Node *node)
{
	return may_raise(node, NULL);
}

/* See expr_private.h. */
bool
strata_expr_node_raises(Node *node, bool usual_times)
{
	RaiseContext context = {usual_times};

	return may_raise(node, &context);
}

/* Internal functions, and none that was created after initdb. */
static bool
is_foreign_function(Oid funcid, void *context)
{
	HeapTuple	tuple;
	bool		internal;

	if (funcid >= FirstNormalObjectId)
		return true;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return true;
	internal = ((Form_pg_proc) GETSTRUCT(tuple))->prolang ==
		INTERNALlanguageId;
	ReleaseSysCache(tuple);
	return !internal;
}

/* Is there anything but calls of internal functions, and values? */
static bool
calls_foreign(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Const:
		case T_List:
		case T_RelabelType:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_CaseTestExpr:
		case T_CoalesceExpr:
			break;
		case T_Param:
			/* a subquery would be left in the middle */
			if (((Param *) node)->paramkind == PARAM_EXEC)
				return true;
			break;
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_CoerceViaIO:
			if (check_functions_in_node(node, is_foreign_function, NULL))
				return true;
			break;
		default:
			return true;
	}
	return expression_tree_walker(node, calls_foreign, context);
}

/* See expr_private.h. */
bool
strata_expr_can_be_guarded(Node *node)
{
	return !calls_foreign(node, NULL);
}

/*
 * Is it an error about values, and not one about the server or the query,
 * which is reported at once?
 */
static bool
is_about_values(int sqlerrcode)
{
	int			class = ERRCODE_TO_CATEGORY(sqlerrcode);

	return class == ERRCODE_DATA_EXCEPTION ||
		class == ERRCODE_PROGRAM_LIMIT_EXCEEDED ||
		class == ERRCODE_FEATURE_NOT_SUPPORTED ||
		class == ERRCODE_TO_CATEGORY(ERRCODE_SYNTAX_ERROR);
}

/*
 * The same; an error is kept, and false returned.  It, or another, has to be
 * raised soon: nothing has been undone that an abort undoes.
 */
static bool
eval_guarded(const StrataExprSource *source, ExprNode *node,
			 const StrataExprFrame *frame, uint64 *v, uint8 *null)
{
	MemoryContext old = CurrentMemoryContext;
	volatile bool failed = false;

	PG_TRY();
	{
		eval_rows(source, node, frame, v, null);
	}
	PG_CATCH();
	{
		if (!is_about_values(geterrcode()))
			PG_RE_THROW();
		MemoryContextSwitchTo(old);
		node->guard->error = CopyErrorData();
		FlushErrorState();
		failed = true;
	}
	PG_END_TRY();
	return !failed;
}

static void
find_columns(const StrataExprSource *source, ExprNode *node)
{
	for (int k = 0; k < node->natts; k++)
		node->columns[k] = source->column(source->arg, node->atts[k]);
	node->single = node->only_part > 0 ?
		node->parts->columns[node->only_part - 1] :
		node->natts == 1 && node->parts == NULL ? node->columns[0] : NULL;
}

/* From here to there functions of time raise no error (expr:E11). */
#define USUAL_FROM (-INT64CONST(4000) * 365 * USECS_PER_DAY)
#define USUAL_TO (INT64CONST(200000) * 365 * USECS_PER_DAY)

/* Are all that may be evaluated for the frame's rows between these? */
static bool
times_are_usual(const StrataColumn *col, const StrataExprFrame *frame)
{
	const int64 *times = col->fixed;
	bool		outside = false;

#define IS_OUTSIDE(time) ((time) < USUAL_FROM || (time) > USUAL_TO)
	if (col->constant)
		return col->value_isnull || !IS_OUTSIDE(DatumGetInt64(col->value));
	if (col->codes != NULL)
		for (int i = 0; i < col->ndict; i++)
			outside |= IS_OUTSIDE(DatumGetInt64(col->dict[i]));
	else if (frame->rows == NULL)
		for (int i = frame->first; i < frame->first + frame->n; i++)
			outside |= IS_OUTSIDE(times[i]);
	else
		for (int i = 0; i < frame->n; i++)
			outside |= IS_OUTSIDE(times[frame->rows[i]]);
	return !outside;
}

/* See expr_private.h. */
bool
strata_expr_eval_other(const StrataExprSource *source, ExprNode *node,
					   const StrataExprFrame *frame, ExprVector *out)
{
	int			n = frame->n;
	uint64	   *v = palloc(sizeof(uint64) * n);
	uint8	   *null = palloc(n);

	/* damaged bytes are nothing that is evaluated: outside of the guard */
	find_columns(source, node);
	if (node->usual_times && !times_are_usual(node->columns[0], frame))
		return false;
	if (node->guard == NULL)
		eval_rows(source, node, frame, v, null);
	else if (!eval_guarded(source, node, frame, v, null))
		return false;
	out->v = v;
	out->null = memchr(null, 1, n) != NULL ? null : NULL;
	return true;
}

/* See expr_private.h.  Once for each entry of its one column's dictionary. */
bool
strata_expr_other_truth(const StrataExprSource *source, ExprNode *node,
						const StrataExprFrame *frame, uint8 *truth)
{
	ExprEntries entries;
	uint8	   *entry_truth;
	const StrataColumn *col;

	if (node->guard != NULL || node->usual_times)
		return false;
	find_columns(source, node);
	col = node->single;
	if (col == NULL || col->constant || col->codes == NULL)
		return false;
	eval_entries(source, node, frame, &entries);
	entry_truth = palloc(col->ndict + 1);
	for (int i = 0; i <= col->ndict; i++)
		entry_truth[i] = entries.known[i] == 1 && entries.values[i] != 0;
	if (col->isnull == NULL)
		for (int i = 0; i < frame->n; i++)
			truth[i] = entry_truth[col->codes[expr_row(frame, i)]];
	else
		for (int i = 0; i < frame->n; i++)
			truth[i] = entry_truth[entry_of_row(col, expr_row(frame, i))];
	return true;
}

/* See expr_private.h. */
bool
strata_expr_eval_dictionary(const StrataExprSource *source, ExprNode *node,
							const StrataExprFrame *frame, int nrows,
							StrataColumn *result)
{
	ExprEntries entries;
	uint32	   *number;
	uint32	   *codes;
	bool	   *isnull;
	uint8		any_null = 0;

	if (node->kind != EXPR_OTHER || node->class != EXPR_DATUM ||
		node->guard != NULL || node->usual_times)
		return false;
	find_columns(source, node);
	if (node->single == NULL || node->single->constant)
		return false;
	if (node->single->codes == NULL && node->times != NULL &&
		node->single->fixed != NULL)
	{
		number_times(source, node, frame, nrows, result);
		return true;
	}
	if (node->single->codes == NULL)
		return false;
	eval_entries(source, node, frame, &entries);
	number = palloc(sizeof(uint32) * (entries.col->ndict + 1));
	number_results(&entries, number, result);
	codes = palloc0(sizeof(uint32) * nrows);
	isnull = palloc0(sizeof(bool) * nrows);
	for (int i = 0; i < frame->n; i++)
	{
		int			row = expr_row(frame, i);
		uint32		code = entry_of_row(entries.col, row);

		codes[row] = number[code];
		isnull[row] = entries.known[code] - 1;
		any_null |= isnull[row];
	}
	result->codes = codes;
	result->isnull = any_null ? isnull : NULL;
	result->decoded = true;
	return true;
}

/* See expr_private.h. */
void
strata_expr_eval_errors(const StrataExprSource *source, ExprNode *node,
						const StrataExprFrame *frame)
{
	uint64		v;

	find_columns(source, node);
	for (int i = 0; i < frame->n; i++)
		(void) eval_row(source, node, expr_row(frame, i), &v, 0);
}
