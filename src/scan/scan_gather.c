/*-------------------------------------------------------------------------
 *
 * scan_gather.c
 *	  DELETE of what a join, or another node, finds: many rows of a batch
 *	  together.
 *
 * Where rows go to a DELETE through other nodes (USING, IN (SELECT ...)), the
 * scan does not know which of them will arrive.  So the node below ModifyTable
 * is run for some thousand rows, those of them that are in batches are deleted
 * batch by batch, and then all go on as they came; change/ tells the
 * ModifyTable node that they are deleted (scan_sweep.c).  Rows that somebody
 * else has to do with are left to it.
 *
 * Nothing may notice that rows are deleted earlier, or found earlier, than one
 * after the other: no volatile function is in the plan, and it is run to its
 * end.
 *
 * src/scan/scan_gather.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"
#include "change/change.h"

#include "base/base.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "scan/scan_sweep_private.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* So many rows, or bytes of rows, are found before some are deleted. */
#define ROWS_GATHERED 4096
#define BYTES_GATHERED (1024 * 1024)

typedef struct DeleteAhead
{
	struct DeleteAhead *next;
	ModifyTableState *mt;
	PlanState  *node;			/* below mt */
	ExecProcNodeMtd run;		/* what it did before */
	TupleTableSlot *slot;		/* that rows go on in */
	MemoryContext mcxt;			/* of the rows gathered */
	MinimalTuple *rows;
	int64	   *compressed;		/* numbers of those in batches, and */
	int		   *target;			/* the target they are of */
	int			nrows;
	int			given;			/* of nrows */
	bool		at_end;
	MemoryContextCallback gone;
} DeleteAhead;

/* Of running statements; there is one, nearly always. */
static DeleteAhead *all_gathers = NULL;

static void
forget_gather(void *arg)
{
	DeleteAhead **link = &all_gathers;

	while (*link != NULL && *link != arg)
		link = &(*link)->next;
	if (*link != NULL)
		*link = (*link)->next;
}

/*-------------------------------------------------------------------------
 * May it be done?
 *-------------------------------------------------------------------------
 */

static bool
is_volatile_function(Oid funcid, void *context)
{
	return func_volatile(funcid) == PROVOLATILE_VOLATILE;
}

/* An aggregate says of itself that it is immutable, whatever it calls. */
static bool
has_volatile_aggregate(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Aggref) &&
		strata_check_function(((Aggref *) node)->aggfnoid,
							  is_volatile_function, context))
		return true;
	return expression_tree_walker(node, has_volatile_aggregate, context);
}

static bool
is_volatile(const void *expression)
{
	return contain_volatile_functions((Node *) expression) ||
		has_volatile_aggregate((Node *) expression, NULL);
}

/* May what the node itself evaluates notice what was deleted? */
static bool
notices(const PlanState *node)
{
	const Plan *plan = node->plan;

	if (node->subPlan != NIL || is_volatile(plan->targetlist) ||
		is_volatile(plan->qual))
		return true;
	switch (nodeTag(plan))
	{
		case T_HashJoin:
			return is_volatile(((const Join *) plan)->joinqual) ||
				is_volatile(((const HashJoin *) plan)->hashclauses);
		case T_MergeJoin:
			return is_volatile(((const Join *) plan)->joinqual) ||
				is_volatile(((const MergeJoin *) plan)->mergeclauses);
		case T_NestLoop:
			return is_volatile(((const Join *) plan)->joinqual);
		case T_CustomScan:
			/* aggregates of StrataAgg stand in its input's list */
			return is_volatile(((const CustomScan *) plan)->custom_exprs) ||
				is_volatile(((const CustomScan *) plan)->custom_scan_tlist);
		case T_IndexScan:
			return is_volatile(((const IndexScan *) plan)->indexqualorig);
		case T_IndexOnlyScan:
			return is_volatile(((const IndexOnlyScan *) plan)->indexqual);
		case T_BitmapHeapScan:
			return is_volatile(((const BitmapHeapScan *) plan)
							   ->bitmapqualorig);
		case T_BitmapIndexScan:
			return is_volatile(((const BitmapIndexScan *) plan)
							   ->indexqualorig);
		case T_ValuesScan:
			return is_volatile(((const ValuesScan *) plan)->values_lists);
		case T_FunctionScan:
			return is_volatile(((const FunctionScan *) plan)->functions);
		case T_Memoize:
			return is_volatile(((const Memoize *) plan)->param_exprs);
		case T_Result:
			return is_volatile(((const Result *) plan)->resconstantqual);
		case T_Hash:
		case T_SeqScan:
		case T_BitmapAnd:
		case T_BitmapOr:
		case T_Append:
		case T_MergeAppend:
		case T_Material:
		case T_ProjectSet:
		case T_Sort:
		case T_IncrementalSort:
		case T_Unique:
		case T_Agg:
		case T_SubqueryScan:
			return false;
		default:
			return true;
	}
}

static bool
notices_walker(PlanState *node, void *context)
{
	return notices(node) ||
		planstate_tree_walker(node, notices_walker, context);
}

/* The same of a query that is run once, wherever it stops. */
static bool
once_notices_walker(PlanState *node, void *context)
{
	const		Limit *limit = (const Limit *) node->plan;

	return (IsA(limit, Limit) ?
			is_volatile(limit->limitOffset) || is_volatile(limit->limitCount) :
			notices(node)) ||
		planstate_tree_walker(node, once_notices_walker, context);
}

/* See scan_sweep_private.h. */
bool
strata_sweep_is_noticed_once(ModifyTableState *mt)
{
	ListCell   *lc;

	/* those of WHERE and RETURNING; they are run when they are first asked */
	foreach(lc, mt->ps.initPlan)
	{
		SubPlanState *query = lfirst_node(SubPlanState, lc);

		if (once_notices_walker(query->planstate, NULL))
			return true;
	}
	return false;
}

/* May rows of all targets be deleted early? */
static bool
targets_allow(const ModifyTableState *mt)
{
	for (int i = 0; i < mt->mt_nrels; i++)
		if (!strata_sweep_all_are_deleted(&mt->resultRelInfo[i]))
			return false;
	return true;
}

/*-------------------------------------------------------------------------
 * Gathering
 *-------------------------------------------------------------------------
 */

/* The place of the row's table among the targets. */
static int
target_of(DeleteAhead *gather, TupleTableSlot *slot)
{
	ModifyTableState *mt = gather->mt;
	Datum		oid;
	bool		isnull;

	if (!AttributeNumberIsValid(mt->mt_resultOidAttno))
		return 0;
	oid = ExecGetJunkAttribute(slot, mt->mt_resultOidAttno, &isnull);
	for (int i = 0; !isnull && i < mt->mt_nrels; i++)
		if (RelationGetRelid(mt->resultRelInfo[i].ri_RelationDesc) ==
			DatumGetObjectId(oid))
			return i;
	return -1;
}

/* Note the row, if it is in a batch. */
static void
note_row(DeleteAhead *gather, TupleTableSlot *slot, int n)
{
	int			i = target_of(gather, slot);
	ResultRelInfo *target;
	Datum		tid;
	bool		isnull;

	gather->target[n] = -1;
	if (i < 0)
		return;
	target = &gather->mt->resultRelInfo[i];
	if (!strata_relation_is_strata(target->ri_RelationDesc) ||
		!AttributeNumberIsValid(target->ri_RowIdAttNo))
		return;
	tid = ExecGetJunkAttribute(slot, target->ri_RowIdAttNo, &isnull);
	if (isnull ||
		!strata_tid_is_compressed((ItemPointer) DatumGetPointer(tid)))
		return;
	gather->target[n] = i;
	gather->compressed[n] =
		strata_tid_row((ItemPointer) DatumGetPointer(tid));
}

static int
compare_row_numbers(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/* Delete those of the rows gathered that are in batches of the target. */
static void
delete_of_target(DeleteAhead *gather, int target)
{
	Relation	rel = gather->mt->resultRelInfo[target].ri_RelationDesc;
	int64	   *rows = palloc(sizeof(int64) * gather->nrows);
	int			n = 0;

	for (int i = 0; i < gather->nrows; i++)
		if (gather->target[i] == target)
			rows[n++] = gather->compressed[i];
	if (n > 1 && strata_store_can_sweep(rel))
	{
		qsort(rows, n, sizeof(int64), compare_row_numbers);
		strata_store_delete_ahead(rel, rows, n,
								  gather->mt->ps.state->es_output_cid);
	}
	pfree(rows);
}

/* Have some more rows. */
static void
gather_rows(DeleteAhead *gather)
{
	MemoryContext old = MemoryContextSwitchTo(gather->mcxt);
	Size		nbytes = 0;
	int			ntargets = gather->mt->mt_nrels;
	bool	   *some;

	MemoryContextReset(gather->mcxt);
	gather->rows = palloc(sizeof(MinimalTuple) * ROWS_GATHERED);
	gather->compressed = palloc(sizeof(int64) * ROWS_GATHERED);
	gather->target = palloc(sizeof(int) * ROWS_GATHERED);
	some = palloc0(sizeof(bool) * ntargets);
	gather->nrows = gather->given = 0;
	while (gather->nrows < ROWS_GATHERED && nbytes < BYTES_GATHERED)
	{
		TupleTableSlot *slot;
		int			n = gather->nrows;

		MemoryContextSwitchTo(old);
		slot = gather->run(gather->node);
		MemoryContextSwitchTo(gather->mcxt);
		if (TupIsNull(slot))
		{
			gather->at_end = true;
			break;
		}
		note_row(gather, slot, n);
		if (gather->target[n] >= 0)
			some[gather->target[n]] = true;
		gather->rows[n] = ExecCopySlotMinimalTuple(slot);
		nbytes += gather->rows[n]->t_len;
		gather->nrows++;
	}
	for (int i = 0; i < ntargets; i++)
		if (some[i])
			delete_of_target(gather, i);
	MemoryContextSwitchTo(old);
}

/* In place of what the node below ModifyTable did. */
static TupleTableSlot *
gather_next(PlanState *node)
{
	DeleteAhead *gather = all_gathers;

	while (gather->node != node)
		gather = gather->next;
	ExecClearTuple(gather->slot);
	if (gather->given == gather->nrows && !gather->at_end)
		gather_rows(gather);
	if (gather->given == gather->nrows)
		return gather->slot;
	Assert(gather->given < gather->nrows);	/* scan:R19 */
	ExecForceStoreMinimalTuple(gather->rows[gather->given++], gather->slot,
							   false);
	return gather->slot;
}

/* See scan_sweep_private.h. */
void
strata_sweep_gather(ModifyTableState *mt)
{
	EState	   *estate = mt->ps.state;
	PlanState  *node = outerPlanState(mt);
	MemoryContext old;
	DeleteAhead *gather;
	bool		fixed;

	if (!strata_enable_batch_delete ||
		node->ExecProcNodeReal == gather_next ||
		estate->es_crosscheck_snapshot != InvalidSnapshot ||
		!targets_allow(mt) || notices_walker(node, NULL))
		return;
	old = MemoryContextSwitchTo(estate->es_query_cxt);
	gather = palloc0(sizeof(DeleteAhead));
	gather->mt = mt;
	gather->node = node;
	gather->run = node->ExecProcNodeReal;
	gather->slot = ExecInitExtraTupleSlot(estate, ExecGetResultType(node),
										  ExecGetResultSlotOps(node, &fixed));
	gather->mcxt = AllocSetContextCreate(estate->es_query_cxt,
										 "strata rows to delete",
										 ALLOCSET_DEFAULT_SIZES);
	gather->gone.func = forget_gather;
	gather->gone.arg = gather;
	MemoryContextRegisterResetCallback(estate->es_query_cxt, &gather->gone);
	gather->next = all_gathers;
	all_gathers = gather;
	ExecSetExecProcNode(node, gather_next);
	MemoryContextSwitchTo(old);
}
