/*-------------------------------------------------------------------------
 *
 * agg_join_vector.c
 *	  A hash join whose outer side gives vectors, as vectors.
 *
 * The small side is read by PostgreSQL's Hash; scans below the outer side find
 * its values there, as ever.  Then vectors of the outer side come out with the
 * rows that the join would return: fewer of them, with columns of the small
 * side beside their own.  Those are constant where all rows are joined with
 * one, as the rows of a batch are that is of one segment; conditions that
 * compare columns of both sides are evaluated for many rows at a time.
 *
 * Where a row may be joined with several, or the small side is not in memory
 * whole, the join returns its rows itself: its table is built, and it goes on
 * from there.
 *
 * Over 600 lines: what is selected of a vector, by which conditions, and with
 * which columns depend on each other.
 *
 * src/agg/agg_join_vector.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_match_private.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "pg/pg.h"
#include "utils/memutils.h"

/* Conditions of a join; no list: there are none. */
typedef struct JoinCondition
{
	ExprState  *expr;			/* NULL: no conditions */
	StrataExpr *vector;			/* the same for many rows; or NULL */
	List	   *columns;		/* that it reads, numbers from 0 */
} JoinCondition;

/*
 * Columns are numbered from 0: those of the outer side, behind them those of
 * the small side.
 */
struct AggJoin
{
	HashJoinState *state;
	JoinType	type;
	AggInput   *outer;
	AggMatch   *match;
	const char *refusal;
	bool		nothing;		/* the small side is empty */
	bool	   *returned;		/* RIGHT: of rows of the small side, those
								 * that were joined with a row; NULL: another
								 * join */
	int			next_alone;		/* the others are looked for from here on; -1:
								 * not yet */
	AggVector	nulls;			/* of the outer side, for those */
	int			nouter;
	int			nsmall;
	int			noutputs;
	int		   *outputs;		/* the column of each */
	JoinCondition on;			/* says whether rows are joined */
	JoinCondition where;		/* says whether they are returned then */
	ExprContext *econtext;
	TupleTableSlot *slot;		/* of all columns */
	MemoryContext mcxt;			/* reset for each vector */
	/* the current vector of the outer side, and what is selected of it */
	AggVector  *from;
	int			n;
	uint16	   *rows;			/* their numbers */
	int32	   *found;			/* the row of the small side of each */
	StrataColumn *small;		/* columns of the small side for these; */
	bool	   *known;			/* ... is it made? */
	bool		coded;			/* the following are made: */
	uint32	   *codes;			/* by row of the vector */
	int			nused;
	int32	   *used;			/* rows of the small side, by code */
	bool		any_missing;	/* some rows are joined with none */
	/* what is returned */
	AggVector	vector;
	AttrNumber *attnos;
	StrataColumn *columns;
	StrataColumn *views;
	const uint16 **numbers;
};

/*-------------------------------------------------------------------------
 * Begin
 *-------------------------------------------------------------------------
 */

/* Columns of the small side become those behind the outer side's. */
static Node *
number_columns(Node *node, int *nouter)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Var		   *var = copyObject((Var *) node);

		if (var->varno == INNER_VAR)
			var->varattno += *nouter;
		var->varno = OUTER_VAR;
		return (Node *) var;
	}
	return expression_tree_mutator(node, number_columns, nouter);
}

static void
init_condition(AggJoin *join, JoinCondition *condition, List *clauses,
			   PlanState *parent)
{
	ListCell   *lc;

	if (clauses == NIL)
		return;
	clauses = (List *) number_columns((Node *) clauses, &join->nouter);
	foreach(lc, pull_var_clause((Node *) clauses, 0))
		condition->columns =
		list_append_unique_int(condition->columns,
							   lfirst_node(Var, lc)->varattno - 1);
	condition->expr = ExecInitQual(clauses, parent);
	condition->vector = strata_expr_compile(clauses, parent);
}

/* See agg_match_private.h. */
bool
strata_agg_joins_by_vectors(JoinType type)
{
	return type == JOIN_INNER || type == JOIN_LEFT || type == JOIN_SEMI ||
		type == JOIN_ANTI || type == JOIN_RIGHT;
}

/* What the join returns; false: more than columns. */
static bool
init_outputs(AggJoin *join, List *tlist)
{
	ListCell   *lc;

	join->noutputs = list_length(tlist);
	join->outputs = palloc(sizeof(int) * Max(join->noutputs, 1));
	foreach(lc, tlist)
	{
		Var		   *var = (Var *) lfirst_node(TargetEntry, lc)->expr;

		if (!IsA(var, Var) || var->varattno <= 0)
			return false;
		join->outputs[foreach_current_index(lc)] =
			(var->varno == INNER_VAR ? join->nouter : 0) + var->varattno - 1;
	}
	return true;
}

/* A slot of the columns of both sides. */
static TupleTableSlot *
make_both_slot(AggJoin *join, EState *estate)
{
	TupleDesc	outer = ExecGetResultType(outerPlanState(join->state));
	TupleDesc	small = ExecGetResultType(innerPlanState(join->state));
	TupleDesc	desc = CreateTemplateTupleDesc(join->nouter + join->nsmall);
	TupleTableSlot *slot;

	for (int i = 0; i < join->nouter + join->nsmall; i++)
		TupleDescCopyEntry(desc, (AttrNumber) (i + 1),
						   i < join->nouter ? outer : small,
						   (AttrNumber) (i < join->nouter ? i + 1 :
										 i - join->nouter + 1));
	slot = ExecInitExtraTupleSlot(estate, desc, &TTSOpsVirtual);
	ExecStoreAllNullTuple(slot);
	return slot;
}

/* The row of nulls, of the outer side, that others are joined with. */
static void
init_nulls(AggJoin *join)
{
	join->nulls.columns = palloc0(sizeof(StrataColumn) * Max(join->nouter, 1));
	for (int i = 0; i < join->nouter; i++)
	{
		StrataColumn *col = &join->nulls.columns[i];

		strata_column_type_init(&col->type,
								TupleDescAttr(join->slot->tts_tupleDescriptor,
											  i));
		col->decoded = col->constant = col->value_isnull = true;
	}
}

/* See agg_match_private.h. */
AggJoin *
strata_agg_join_create(HashJoinState *state, PlanState *parent)
{
	HashJoin   *plan = (HashJoin *) state->js.ps.plan;
	AggJoin    *join;

	if (!strata_enable_join_vectors ||
		!strata_agg_joins_by_vectors(state->js.jointype) ||
		plan->join.plan.parallel_aware || innerPlan(plan)->parallel_aware ||
		contain_volatile_functions((Node *) plan->join.joinqual) ||
		contain_volatile_functions((Node *) plan->join.plan.qual) ||
		state->js.ps.subPlan != NIL)
		return NULL;
	join = palloc0(sizeof(AggJoin));
	join->state = state;
	join->type = state->js.jointype;
	join->nouter = ExecGetResultType(outerPlanState(state))->natts;
	join->nsmall = ExecGetResultType(innerPlanState(state))->natts;
	if (!init_outputs(join, plan->join.plan.targetlist))
		return NULL;
	join->match = strata_agg_match_create(state);
	if (join->match == NULL)
		return NULL;
	join->outer = strata_agg_input_create(outerPlanState(state), join->nouter,
										  parent);
	if (!strata_agg_input_has_vectors(join->outer))
		return NULL;
	init_condition(join, &join->on, plan->join.joinqual, parent);
	init_condition(join, &join->where, plan->join.plan.qual, parent);
	join->econtext = CreateExprContext(parent->state);
	join->slot = make_both_slot(join, parent->state);
	join->econtext->ecxt_outertuple = join->slot;
	join->mcxt = AllocSetContextCreate(CurrentMemoryContext,
									   "StrataAgg join", 64 * 1024, 64 * 1024,
									   ALLOCSET_DEFAULT_MAXSIZE);
	join->small = palloc0(sizeof(StrataColumn) * Max(join->nsmall, 1));
	join->known = palloc0(sizeof(bool) * Max(join->nsmall, 1));
	for (int i = 0; i < join->nsmall; i++)
		strata_column_type_init(&join->small[i].type,
								TupleDescAttr(join->slot->tts_tupleDescriptor,
											  join->nouter + i));
	init_nulls(join);
	join->attnos = palloc0(sizeof(AttrNumber) * Max(join->noutputs, 1));
	join->columns = palloc0(sizeof(StrataColumn) * Max(join->noutputs, 1));
	join->views = palloc0(sizeof(StrataColumn) * Max(join->noutputs, 1));
	join->numbers = palloc0(sizeof(uint16 *) * Max(join->noutputs, 1));
	return join;
}

/* See agg_match_private.h. */
bool
strata_agg_join_start(AggJoin *join)
{
	PlanState  *ps = &join->state->js.ps;
	bool		any;
	int			nrows;

	/* as ExecProcNode would */
	if (ps->chgParam != NULL)
		ExecReScan(ps);
	if (join->state->hj_HashTable == NULL)
		strata_hash_join_build(join->state);
	any = (join->type == JOIN_SEMI || join->type == JOIN_ANTI) &&
		join->on.expr == NULL;
	join->refusal = strata_agg_match_load(join->match, any);
	if (join->refusal != NULL)
		return false;
	strata_agg_input_rescan(join->outer);
	nrows = strata_agg_match_nrows(join->match);
	join->nothing = nrows == 0 && join->type != JOIN_LEFT &&
		join->type != JOIN_ANTI;
	if (join->returned != NULL)
		pfree(join->returned);
	join->returned = join->type != JOIN_RIGHT ? NULL :
		MemoryContextAllocZero(ps->state->es_query_cxt, Max(nrows, 1));
	join->next_alone = -1;
	return true;
}

/* See agg_match_private.h. */
const char *
strata_agg_join_refusal(const AggJoin *join)
{
	return join->refusal;
}

/*-------------------------------------------------------------------------
 * Columns of the small side
 *-------------------------------------------------------------------------
 */

/* Number the rows of the small side that the selected rows are joined with. */
static void
make_codes(AggJoin *join)
{
	uint32	   *code_of;		/* by position of the first such row */
	uint32		nslots = 64;

	join->coded = true;
	join->any_missing = false;
	join->nused = 0;
	join->codes = palloc(sizeof(uint32) * join->from->nrows);
	join->used = palloc(sizeof(int32) * join->n);
	while (nslots < 2 * (uint32) join->n)
		nslots *= 2;
	code_of = palloc0(sizeof(uint32) * nslots);
	for (int i = 0; i < join->n; i++)
	{
		int32		row = join->found[i];
		uint32		slot = (uint32) row * 2654435761U;

		join->codes[join->rows[i]] = 0;
		if (row == AGG_NO_MATCH)
		{
			join->any_missing = true;
			continue;
		}
		/* 0: nobody's */
		for (;; slot++)
		{
			uint32	   *code = &code_of[slot & (nslots - 1)];

			if (*code == 0)
			{
				join->used[join->nused++] = row;
				*code = (uint32) join->nused;
			}
			if (join->used[*code - 1] == row)
			{
				join->codes[join->rows[i]] = *code - 1;
				break;
			}
		}
	}
}

/* Which of the selected rows have no value; NULL: all have one. */
static bool *
nulls_of_rows(AggJoin *join, const bool *nulls)
{
	bool	   *isnull;
	bool		any = join->any_missing;

	for (int i = 0; i < join->nused; i++)
		any |= nulls[join->used[i]];
	if (!any)
		return NULL;
	isnull = palloc0(sizeof(bool) * join->from->nrows);
	for (int i = 0; i < join->n; i++)
		isnull[join->rows[i]] = join->found[i] == AGG_NO_MATCH ||
			nulls[join->found[i]];
	return isnull;
}

/* Values by reference: those of each code; what stands at a null is any. */
static void
make_dictionary(AggJoin *join, StrataColumn *col, const Datum *values,
				const bool *nulls)
{
	Datum		some = (Datum) 0;

	col->codes = join->codes;
	col->ndict = join->nused;
	col->dict = palloc(sizeof(Datum) * join->nused);
	for (int i = 0; i < join->nused; i++)
		if (!nulls[join->used[i]])
			some = values[join->used[i]];
	for (int i = 0; i < join->nused; i++)
		col->dict[i] = nulls[join->used[i]] ? some : values[join->used[i]];
}

#define SPREAD(ctype, get) \
	do { \
		ctype	   *to_ = col->fixed; \
		for (int i_ = 0; i_ < join->n; i_++) \
			if (join->found[i_] != AGG_NO_MATCH) \
				to_[join->rows[i_]] = get(values[join->found[i_]]); \
	} while (0)

/* Values of one width, packed. */
static void
spread_values(AggJoin *join, StrataColumn *col, const Datum *values)
{
	col->fixed = palloc0((Size) col->type.width * join->from->nrows);
	switch (col->type.width)
	{
		case 1:
			SPREAD(int8, DatumGetChar);
			break;
		case 2:
			SPREAD(int16, DatumGetInt16);
			break;
		case 4:
			SPREAD(int32, DatumGetInt32);
			break;
		default:
			SPREAD(int64, DatumGetInt64);
			break;
	}
}

/* The small side's column for the selected rows. */
static StrataColumn *
small_column(AggJoin *join, int i)
{
	StrataColumn *col = &join->small[i];
	StrataColumnType type = col->type;
	const bool *nulls;
	const Datum *values;
	bool		all_null = true;
	MemoryContext old;

	if (join->known[i])
		return col;
	join->known[i] = true;
	old = MemoryContextSwitchTo(join->mcxt);
	values = strata_agg_match_values(join->match, i, &nulls);
	if (!join->coded)
		make_codes(join);
	memset(col, 0, sizeof(StrataColumn));
	col->type = type;
	col->decoded = true;
	for (int k = 0; k < join->nused; k++)
		all_null &= nulls[join->used[k]];
	col->constant = all_null || (join->nused == 1 && !join->any_missing);
	if (col->constant)
	{
		col->value_isnull = all_null;
		col->value = all_null ? (Datum) 0 : values[join->used[0]];
	}
	else
	{
		col->isnull = nulls_of_rows(join, nulls);
		if (type.typbyval)
			spread_values(join, col, values);
		else
			make_dictionary(join, col, values, nulls);
	}
	MemoryContextSwitchTo(old);
	return col;
}

/* Columns of the small side are to be made anew. */
static void
forget_columns(AggJoin *join)
{
	join->coded = false;
	memset(join->known, 0, sizeof(bool) * join->nsmall);
}

/* A column of either side, for the selected rows. */
static StrataColumn *
column_of_both(void *arg, AttrNumber attno)
{
	AggJoin    *join = arg;

	return attno <= join->nouter ?
		strata_agg_input_column(join->from, attno - 1) :
		small_column(join, attno - join->nouter - 1);
}

/*-------------------------------------------------------------------------
 * Conditions
 *-------------------------------------------------------------------------
 */

/* Which of the selected rows pass, at once; false: cannot. */
static bool
check_by_vector(AggJoin *join, const JoinCondition *condition, uint8 *pass)
{
	StrataExprSource source = {
		.column = column_of_both,
		.arg = join,
		.econtext = join->econtext,
		.slot = join->slot
	};
	StrataExprFrame frame = {.n = join->n,.rows = join->rows};

	return condition->vector != NULL &&
		strata_expr_filter(condition->vector, &source, &frame, pass);
}

/* The same one by one, in their order. */
static void
check_by_rows(AggJoin *join, const JoinCondition *condition, uint8 *pass)
{
	TupleTableSlot *slot = join->slot;

	for (int i = 0; i < join->n; i++)
	{
		ListCell   *lc;

		foreach(lc, condition->columns)
		{
			int			at = lfirst_int(lc);

			slot->tts_values[at] =
				strata_column_get(column_of_both(join, (AttrNumber) (at + 1)),
								  join->rows[i], &slot->tts_isnull[at]);
		}
		ResetExprContext(join->econtext);
		pass[i] = ExecQual(condition->expr, join->econtext);
	}
}

/* Which of the selected rows, at least one, pass?  NULL: all. */
static const uint8 *
check_condition(AggJoin *join, const JoinCondition *condition)
{
	uint8	   *pass;

	if (condition->expr == NULL)
		return NULL;
	pass = palloc(join->n);
	if (!check_by_vector(join, condition, pass))
		check_by_rows(join, condition, pass);
	return pass;
}

/* Of the selected rows leave those that keep says; NULL: all. */
static void
leave_rows(AggJoin *join, const uint8 *keep)
{
	int			n = 0;

	if (keep == NULL)
		return;
	for (int i = 0; i < join->n; i++)
	{
		join->rows[n] = join->rows[i];
		join->found[n] = join->found[i];
		n += keep[i];
	}
	join->n = n;
}

/* Which of the selected rows are joined with a row, or with none? */
static const uint8 *
rows_joined(const AggJoin *join, bool joined)
{
	uint8	   *result = palloc(join->n);

	for (int i = 0; i < join->n; i++)
		result[i] = (join->found[i] != AGG_NO_MATCH) == joined;
	return result;
}

/* Rows that were found by their keys and do not pass are joined with none. */
static void
separate_rows(AggJoin *join)
{
	uint16	   *rows = join->rows;
	int32	   *found = join->found;
	int			n = join->n;
	int			k = 0;
	const uint8 *pass;

	join->rows = palloc(sizeof(uint16) * n);
	join->found = palloc(sizeof(int32) * n);
	memcpy(join->rows, rows, sizeof(uint16) * n);
	memcpy(join->found, found, sizeof(int32) * n);
	leave_rows(join, rows_joined(join, true));
	if (join->n > 0)
	{
		pass = check_condition(join, &join->on);
		for (int i = 0; i < n; i++)
			if (found[i] != AGG_NO_MATCH && !pass[k++])
				found[i] = AGG_NO_MATCH;
		Assert(k == join->n);	/* agg:G29 */
	}
	join->rows = rows;
	join->found = found;
	join->n = n;
	forget_columns(join);
}

/* Leave those of the selected rows that are returned. */
static void
check_where(AggJoin *join)
{
	Instrumentation *instrument = join->state->js.ps.instrument;
	int			n = join->n;

	if (n > 0)
		leave_rows(join, check_condition(join, &join->where));
	if (instrument != NULL)
		instrument->nfiltered2 += n - join->n;
}

/* Leave the rows that the join returns, with what they are joined with. */
static void
select_rows(AggJoin *join)
{
	Instrumentation *instrument = join->state->js.ps.instrument;
	int			n;

	if (join->type != JOIN_LEFT && join->type != JOIN_ANTI)
	{
		leave_rows(join, rows_joined(join, true));
		n = join->n;
		if (n > 0)
			leave_rows(join, check_condition(join, &join->on));
		if (instrument != NULL)
			instrument->nfiltered1 += n - join->n;
		for (int i = 0; join->returned != NULL && i < join->n; i++)
			join->returned[join->found[i]] = true;
	}
	else
	{
		if (join->on.expr != NULL)
			separate_rows(join);
		if (join->type == JOIN_ANTI)
			leave_rows(join, rows_joined(join, false));
	}
	check_where(join);
}

/*-------------------------------------------------------------------------
 * Vectors
 *-------------------------------------------------------------------------
 */

/* A column of what is returned. */
static void
set_output(AggJoin *join, int i)
{
	AggVector  *from = join->from;
	int			column = join->outputs[i];

	join->attnos[i] = 0;
	join->numbers[i] = NULL;
	if (column >= join->nouter)
		join->columns[i] = *small_column(join, column - join->nouter);
	else if (strata_agg_vector_has(from, column))
		join->attnos[i] = from->attnos[column];
	else
	{
		join->columns[i] = *strata_agg_input_column(from, column);
		if (from->numbers != NULL)
			join->numbers[i] = from->numbers[column];
	}
}

/* The selected rows, of which there are some, as a vector. */
static AggVector *
make_joined_vector(AggJoin *join)
{
	AggVector  *vector = &join->vector;

	*vector = *join->from;
	vector->nselected = join->n;
	vector->rows = join->rows;
	vector->first = 0;
	if (join->rows[join->n - 1] - join->rows[0] == join->n - 1)
	{
		vector->first = join->rows[0];
		vector->rows = NULL;
	}
	vector->whole = false;
	for (int i = 0; i < join->noutputs; i++)
		set_output(join, i);
	vector->attnos = join->attnos;
	vector->columns = join->columns;
	vector->numbers = vector->batch == NULL ? join->numbers : NULL;
	vector->views = join->views;
	return vector;
}

/* Select the rows of the outer side's vector that are returned. */
static void
select_of_vector(AggJoin *join)
{
	join->n = join->from->nselected;
	join->rows = palloc(sizeof(uint16) * join->n);
	join->found = palloc(sizeof(int32) * join->n);
	for (int i = 0; i < join->n; i++)
		join->rows[i] = (uint16) agg_vector_row(join->from, i);
	strata_agg_match_find(join->match, join->from, join->found);
	select_rows(join);
}

/*
 * When the outer side is at its end: select the next rows of the small side
 * that no row was joined with; false: there are none.
 */
static bool
select_alone(AggJoin *join)
{
	int			nrows = strata_agg_match_nrows(join->match);

	if (join->returned == NULL)
		return false;
	join->next_alone = Max(join->next_alone, 0);
	join->from = &join->nulls;
	join->n = 0;
	join->rows = palloc(sizeof(uint16) * STRATA_AGG_CHUNK_ROWS);
	join->found = palloc(sizeof(int32) * STRATA_AGG_CHUNK_ROWS);
	for (; join->next_alone < nrows && join->n < STRATA_AGG_CHUNK_ROWS;
		 join->next_alone++)
	{
		if (join->returned[join->next_alone])
			continue;
		join->rows[join->n] = (uint16) join->n;
		join->found[join->n++] = join->next_alone;
	}
	if (join->n == 0)
		return false;
	join->nulls.nrows = join->nulls.nselected = join->n;
	check_where(join);
	return true;
}

/*
 * The next vector that has rows; NULL: there is none.  What the outer side
 * makes for itself is in the caller's context.
 */
static AggVector *
next_joined(AggJoin *join)
{
	bool		more = true;

	join->n = 0;
	while (more && join->n == 0)
	{
		MemoryContext old;

		CHECK_FOR_INTERRUPTS();
		join->from = join->next_alone >= 0 ? NULL :
			strata_agg_input_next(join->outer);
		MemoryContextReset(join->mcxt);
		old = MemoryContextSwitchTo(join->mcxt);
		forget_columns(join);
		if (join->from != NULL)
			select_of_vector(join);
		else
			more = select_alone(join);
		if (more && join->n > 0)
			(void) make_joined_vector(join);
		MemoryContextSwitchTo(old);
	}
	return more ? &join->vector : NULL;
}

/* See agg_match_private.h. */
AggVector *
strata_agg_join_next(AggJoin *join)
{
	Instrumentation *instrument = join->state->js.ps.instrument;
	AggVector  *vector;

	Assert(join->refusal == NULL);	/* agg:G29 */
	if (join->nothing)
		return NULL;
	if (instrument != NULL)
		InstrStartNode(instrument);
	vector = next_joined(join);
	if (instrument != NULL)
		InstrStopNode(instrument, vector != NULL ? vector->nselected : 0);
	return vector;
}
