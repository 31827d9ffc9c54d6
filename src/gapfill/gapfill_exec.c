/*-------------------------------------------------------------------------
 *
 * gapfill_exec.c
 *	  The node StrataGapFill: passes its child's rows on, which come in order
 *	  of groups and buckets, and puts a row where a bucket has none.
 *
 * A row for an empty bucket has the columns of its group, NULL for every
 * aggregate, and what locf and interpolate make of it.  Rows outside of
 * [start, finish), and rows without a time, pass as they are.  A query without
 * other groups has one group even when it has no row.
 *
 * The child's row stays where it is until the next one is fetched, so the
 * next row of the group is at hand while the gap before it is filled.
 *
 * src/gapfill/gapfill_exec.c
 *-------------------------------------------------------------------------
 */
#include "gapfill/gapfill_private.h"

#include "commands/explain.h"
#ifdef STRATA_EXPLAIN_IS_SPLIT
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

typedef struct GapfillState
{
	CustomScanState css;

	GapfillPlanData plan;
	int			nchild;			/* columns of the child */
	ExprState  *bounds[4];		/* width, zone, start, finish */
	ExprState  *same_group;		/* does the child's row belong to the group? */
	int			nfills;
	GapfillFill **fills;

	/* of the scan */
	bool		started;
	bool		must_fetch;		/* the child's row has been passed on */
	bool		in_group;
	bool		any_group;
	GapfillSequence sequence;
	bool		has_gap;		/* the next bucket that is due, in gap */
	int64		gap;

	/* the child's row, when there is one */
	TupleTableSlot *row;
	bool		row_in_group;
	bool		row_has_time;
	int64		row_time;

	TupleTableSlot *first;		/* first row of the group */
	MemoryContext scan_context; /* bounds */
	MemoryContext group_context;	/* what lives as long as a group */
	MemoryContext row_context;	/* as long as the child's row */
	int64		nfilled;		/* for EXPLAIN */
} GapfillState;

static Node *create_gapfill_state(CustomScan *scan);

CustomScanMethods strata_gapfill_scan_methods = {
	.CustomName = "StrataGapFill",
	.CreateCustomScanState = create_gapfill_state
};

/*-------------------------------------------------------------------------
 * Set-up
 *-------------------------------------------------------------------------
 */

/* Equality of the columns of the group between a row and the group's first. */
static ExprState *
make_group_match(GapfillState *state, TupleDesc desc)
{
	int			nkeys = list_length(state->plan.keys);
	AttrNumber *columns = palloc(sizeof(AttrNumber) * Max(nkeys, 1));
	Oid		   *operators = palloc(sizeof(Oid) * Max(nkeys, 1));
	Oid		   *collations = palloc(sizeof(Oid) * Max(nkeys, 1));

	for (int i = 0; i < nkeys; i++)
	{
		columns[i] = list_nth_int(state->plan.keys, i) + 1;
		operators[i] = list_nth_oid(state->plan.equals, i);
		collations[i] = TupleDescAttr(desc, columns[i] - 1)->attcollation;
	}
	return execTuplesMatchPrepare(desc, nkeys, columns, operators, collations,
								  &state->css.ss.ps);
}

/*
 * BeginCustomScan: the child, and the expressions of bounds and fills.  What
 * lives with the node is in the query's context.
 */
static void
begin_gapfill(CustomScanState *css, EState *estate, int eflags)
{
	GapfillState *state = (GapfillState *) css;
	CustomScan *scan = castNode(CustomScan, css->ss.ps.plan);
	List	   *bounds = linitial(scan->custom_exprs);
	TupleDesc	own = css->ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	TupleDesc	desc;
	PlanState  *child;

	child = ExecInitNode(linitial(scan->custom_plans), estate,
						 eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK));
	css->custom_ps = list_make1(child);
	desc = ExecGetResultType(child);

	strata_gapfill_plan_read(scan, &state->plan);
	state->nchild = desc->natts;
	state->same_group = make_group_match(state, desc);
	for (int i = 0; i < 4; i++)
		state->bounds[i] = ExecInitExpr(list_nth(bounds, i), &css->ss.ps);

	state->nfills = list_length(state->plan.fills);
	state->fills = palloc0(sizeof(GapfillFill *) * Max(state->nfills, 1));
	for (int i = 0; i < state->nfills; i++)
		state->fills[i] =
			strata_gapfill_fill_create(list_nth_int(state->plan.fills, i),
									   TupleDescAttr(own,
													 state->nchild + 1 +
													 i)->atttypid,
									   state->plan.type,
									   list_nth(scan->custom_exprs, i + 1),
									   &css->ss.ps);

	state->first = ExecInitExtraTupleSlot(estate, desc, &TTSOpsMinimalTuple);
	state->scan_context = AllocSetContextCreate(estate->es_query_cxt,
												"StrataGapFill scan",
												ALLOCSET_SMALL_SIZES);
	state->group_context = AllocSetContextCreate(estate->es_query_cxt,
												 "StrataGapFill group",
												 ALLOCSET_SMALL_SIZES);
	state->row_context = AllocSetContextCreate(estate->es_query_cxt,
											   "StrataGapFill row",
											   ALLOCSET_SMALL_SIZES);
}

/*-------------------------------------------------------------------------
 * Rows
 *-------------------------------------------------------------------------
 */

/* The child's columns in our scan tuple: of the row, or of an empty bucket. */
static void
fill_scan_tuple(GapfillState *state, TupleTableSlot *row, int64 bucket)
{
	TupleTableSlot *scan = state->css.ss.ss_ScanTupleSlot;
	ListCell   *lc;

	ExecClearTuple(scan);
	memset(scan->tts_isnull, true,
		   sizeof(bool) * scan->tts_tupleDescriptor->natts);
	memset(scan->tts_values, 0,
		   sizeof(Datum) * scan->tts_tupleDescriptor->natts);
	if (row != NULL)
	{
		slot_getallattrs(row);
		memcpy(scan->tts_values, row->tts_values,
			   sizeof(Datum) * state->nchild);
		memcpy(scan->tts_isnull, row->tts_isnull,
			   sizeof(bool) * state->nchild);
		scan->tts_values[state->nchild] =
			row->tts_values[state->plan.bucket_column];
		scan->tts_isnull[state->nchild] =
			row->tts_isnull[state->plan.bucket_column];
	}
	else
	{
		if (!TTS_EMPTY(state->first))
		{
			slot_getallattrs(state->first);
			foreach(lc, state->plan.keys)
			{
				scan->tts_values[lfirst_int(lc)] =
					state->first->tts_values[lfirst_int(lc)];
				scan->tts_isnull[lfirst_int(lc)] =
					state->first->tts_isnull[lfirst_int(lc)];
			}
			foreach(lc, state->plan.kept)
			{
				scan->tts_values[lfirst_int(lc)] =
					state->first->tts_values[lfirst_int(lc)];
				scan->tts_isnull[lfirst_int(lc)] =
					state->first->tts_isnull[lfirst_int(lc)];
			}
		}
		scan->tts_values[state->plan.bucket_column] =
			scan->tts_values[state->nchild] =
			strata_bucket_datum(state->plan.type,
								bucket);
		scan->tts_isnull[state->plan.bucket_column] =
			scan->tts_isnull[state->nchild] = false;
	}
	ExecStoreVirtualTuple(scan);
	state->css.ss.ps.ps_ExprContext->ecxt_scantuple = scan;
}

/*
 * The next row of the child, with the values that locf and interpolate take
 * from it.
 */
static void
fetch_row(GapfillState *state)
{
	ExprContext *context = state->css.ss.ps.ps_ExprContext;
	PlanState  *child = linitial(state->css.custom_ps);
	MemoryContext old;

	MemoryContextReset(state->row_context);
	state->must_fetch = false;
	state->row = ExecProcNode(child);
	if (TupIsNull(state->row))
	{
		state->row = NULL;
		return;
	}
	fill_scan_tuple(state, state->row, 0);
	state->row_has_time = !state->row->tts_isnull[state->plan.bucket_column];
	if (state->row_has_time)
		state->row_time =
			strata_bucket_get(state->plan.type,
							  state->row->tts_values[state->plan.bucket_column]);
	old = MemoryContextSwitchTo(state->row_context);
	for (int i = 0; i < state->nfills; i++)
		strata_gapfill_fill_ahead(state->fills[i], context);
	MemoryContextSwitchTo(old);

	state->row_in_group = false;
	if (state->in_group)
	{
		context->ecxt_innertuple = state->row;
		context->ecxt_outertuple = state->first;
		state->row_in_group = state->plan.keys == NIL ||
			ExecQualAndReset(state->same_group, context);
	}
}

/*
 * Evaluate start, finish and origin, and set up the sequence of buckets; again
 * after each rescan.
 */
static void
start_scan(GapfillState *state)
{
	ExprContext *context = state->css.ss.ps.ps_ExprContext;
	NullableDatum values[4];
	MemoryContext old;

	MemoryContextReset(state->scan_context);
	old = MemoryContextSwitchTo(state->scan_context);
	fill_scan_tuple(state, NULL, 0);
	for (int i = 0; i < 4; i++)
		values[i].value = ExecEvalExpr(state->bounds[i], context,
									   &values[i].isnull);
	strata_gapfill_sequence_init(&state->sequence, state->plan.type, values[0],
								 state->plan.zoned, values[1], values[2],
								 values[3]);
	for (int i = 0; i < state->nfills; i++)
		strata_gapfill_fill_begin(state->fills[i], context);
	MemoryContextSwitchTo(old);
	state->started = true;
	fetch_row(state);
}

static void
begin_group(GapfillState *state)
{
	Assert(!state->in_group && !state->must_fetch); /* gapfill:F1 */
	ExecClearTuple(state->first);
	MemoryContextReset(state->group_context);
	if (state->row != NULL)
		ExecCopySlot(state->first, state->row);
	state->in_group = state->any_group = true;
	state->row_in_group = state->row != NULL;
	strata_gapfill_sequence_reset(&state->sequence);
	state->has_gap = strata_gapfill_sequence_next(&state->sequence,
												  &state->gap);
	for (int i = 0; i < state->nfills; i++)
		strata_gapfill_fill_group(state->fills[i]);
}

static TupleTableSlot *
project_filled(GapfillState *state)
{
	ProjectionInfo *projection = state->css.ss.ps.ps_ProjInfo;

	return projection != NULL ? ExecProject(projection) :
		state->css.ss.ss_ScanTupleSlot;
}

/*
 * A row for the bucket that has none; row_is_next: a row of the same group
 * comes behind it.
 */
static TupleTableSlot *
return_gap(GapfillState *state, bool row_is_next)
{
	TupleTableSlot *scan = state->css.ss.ss_ScanTupleSlot;
	ExprContext *context = state->css.ss.ps.ps_ExprContext;

	Assert(state->in_group && state->has_gap);	/* gapfill:F2 */
	Assert(!row_is_next || state->gap < state->row_time);	/* gapfill:F2 */
	fill_scan_tuple(state, NULL, state->gap);
	for (int i = 0; i < state->nfills; i++)
	{
		NullableDatum value;

		value = strata_gapfill_fill_gap(state->fills[i], context, state->gap,
										row_is_next ? &state->row_time : NULL,
										state->group_context);
		scan->tts_values[state->nchild + 1 + i] = value.value;
		scan->tts_isnull[state->nchild + 1 + i] = value.isnull;
	}
	state->has_gap = strata_gapfill_sequence_next(&state->sequence,
												  &state->gap);
	state->nfilled++;
	return project_filled(state);
}

/*
 * The child's row, with what is computed for it; the next call has to fetch
 * another.
 */
static TupleTableSlot *
return_row(GapfillState *state)
{
	TupleTableSlot *scan = state->css.ss.ss_ScanTupleSlot;
	ExprContext *context = state->css.ss.ps.ps_ExprContext;

	Assert(state->row_in_group && !state->must_fetch);	/* gapfill:F1 */
	Assert(!state->has_gap || !state->row_has_time ||
		   state->gap >= state->row_time);	/* gapfill:F2 */
	fill_scan_tuple(state, state->row, 0);
	for (int i = 0; i < state->nfills; i++)
	{
		NullableDatum value = strata_gapfill_fill_row(state->fills[i], context,
													  state->row_has_time ?
													  &state->row_time :
													  NULL,
													  state->group_context);

		scan->tts_values[state->nchild + 1 + i] = value.value;
		scan->tts_isnull[state->nchild + 1 + i] = value.isnull;
	}
	if (state->has_gap && state->row_has_time && state->gap == state->row_time)
		state->has_gap = strata_gapfill_sequence_next(&state->sequence,
													  &state->gap);
	state->must_fetch = true;
	return project_filled(state);
}

/*
 * ExecCustomScan: the next row, one of the child's or one for a gap,
 * projected.
 */
static TupleTableSlot *
exec_gapfill(CustomScanState *css)
{
	GapfillState *state = (GapfillState *) css;

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(css->ss.ps.ps_ExprContext);
	if (!state->started)
		start_scan(state);
	if (state->must_fetch)
		fetch_row(state);
	for (;;)
	{
		bool		row_is_next;

		if (!state->in_group)
		{
			if (state->row == NULL &&
				(state->any_group || state->plan.keys != NIL))
				return NULL;
			begin_group(state);
		}
		row_is_next = state->row != NULL && state->row_in_group &&
			state->row_has_time;
		if (state->has_gap && (!row_is_next || state->gap < state->row_time))
			return return_gap(state, row_is_next);
		if (state->row != NULL && state->row_in_group)
			return return_row(state);
		state->in_group = false;
	}
}

static void
end_gapfill(CustomScanState *css)
{
	ExecEndNode(linitial(css->custom_ps));
}

static void
rescan_gapfill(CustomScanState *css)
{
	GapfillState *state = (GapfillState *) css;
	PlanState  *child = linitial(css->custom_ps);

	state->started = state->must_fetch = state->in_group = state->any_group =
		state->has_gap = false;
	state->row = NULL;
	ExecClearTuple(state->first);
	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
}

static void
explain_gapfill(CustomScanState *css, List *ancestors, ExplainState *es)
{
	if (es->analyze)
		ExplainPropertyInteger("Rows Filled In", NULL,
							   ((GapfillState *) css)->nfilled, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "StrataGapFill",
	.BeginCustomScan = begin_gapfill,
	.ExecCustomScan = exec_gapfill,
	.EndCustomScan = end_gapfill,
	.ReScanCustomScan = rescan_gapfill,
	.ExplainCustomScan = explain_gapfill
};

static Node *
create_gapfill_state(CustomScan *scan)
{
	return strata_custom_state(sizeof(GapfillState), &exec_methods);
}
