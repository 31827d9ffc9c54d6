/*-------------------------------------------------------------------------
 *
 * scan_join.c
 *	  Scans learn which values a hash join above them has rows for.
 *
 * A hash join has its inner side in memory before it reads its outer side.
 * When the executor has set up a plan, conditions of such joins are followed
 * down the outer side to the columns of StrataScans that they read, in all
 * chunks below an Append.  When a scan begins, "column = ANY (values of the
 * inner side)" becomes a qual of it: batches are pruned by it, and rows where
 * a kernel compares them.  The join looks at each row that is left, so a row
 * too many does no harm; no row must be left out that the join would use.
 *
 * Hence: only joins that return nothing for an outer row without a match; on
 * the way down only nodes that make of a row nothing that rows with other
 * values are needed for, and nothing that is to be evaluated once for each
 * row; and only
 * values that cannot change while the plan is executed, since a node between
 * join and scan may keep rows over a rescan.
 *
 * src/scan/scan_join.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_kernel_private.h"
#include "scan/scan_join_private.h"
#include "scan/scan_private.h"
#include "base/base.h"

#include "access/tupmacs.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "scan/scan.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/*
 * Index keys for so many pages of the companion cost about what reading the
 * pages does.
 */
#define PAGES_PER_KEY 2

/* Rows by which it is seen whether a join's condition leaves out any. */
#define ENOUGH_TRIED 4096

/* A key of a join, and the column of a scan that it is about. */
typedef struct StrataScanJoin
{
	StrataJoinKey *key;
	Expr	   *column;			/* the scan's Var */
	bool		asked;			/* its values are taken in, or of no use */
	const FilterNode *leaf;		/* that has taken them in, or NULL */
	bool		looked_up;
} StrataScanJoin;

/* What is known of a plan while it is walked through. */
typedef struct Binding
{
	StrataChildColumn child_column;
	Bitmapset  *changing;		/* parameters that have several values while
								 * the plan is executed */
	bool		has_join;
	StrataJoinKey *key;			/* being followed */
} Binding;

static bool follow(PlanState *node, Expr *expr, Binding *binding);

/*-------------------------------------------------------------------------
 * Which parameters change
 *-------------------------------------------------------------------------
 */

/* Parameters of subplans: their arguments, and what correlated ones return. */
static void
add_subplan_params(List *subplans, Binding *binding)
{
	ListCell   *lc;

	foreach(lc, subplans)
	{
		SubPlanState *state = lfirst_node(SubPlanState, lc);
		ListCell   *lc2;

		foreach(lc2, state->subplan->parParam)
			binding->changing = bms_add_member(binding->changing,
											   lfirst_int(lc2));
		if (bms_is_empty(state->planstate->plan->extParam))
			continue;
		foreach(lc2, state->subplan->setParam)
			binding->changing = bms_add_member(binding->changing,
											   lfirst_int(lc2));
	}
}

/* Walk through all of the plan: parameters, and whether there are joins. */
static bool
look_at(PlanState *node, void *context)
{
	Binding    *binding = context;
	ListCell   *lc;

	add_subplan_params(node->initPlan, binding);
	add_subplan_params(node->subPlan, binding);
	if (IsA(node, HashJoinState))
		binding->has_join = true;
	else if (IsA(node, NestLoopState))
		foreach(lc, ((NestLoop *) node->plan)->nestParams)
			binding->changing =
			bms_add_member(binding->changing,
						   lfirst_node(NestLoopParam, lc)->paramno);
	else if (IsA(node, RecursiveUnionState))
		binding->changing =
			bms_add_member(binding->changing,
						   ((RecursiveUnion *) node->plan)->wtParam);
	return planstate_tree_walker(node, look_at, context);
}

/*-------------------------------------------------------------------------
 * From a join down to scans
 *-------------------------------------------------------------------------
 */

/* The expression without binary relabelling. */
static Expr *
strip(Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	return expr;
}

/* The scan will ask for the key's values, for this column of it. */
static bool
bind_scan(StrataScanState *scan, Expr *expr, Binding *binding)
{
	Scan	   *plan = (Scan *) scan->css.ss.ps.plan;
	Var		   *var = (Var *) expr;
	MemoryContext old;
	StrataScanJoin *bound;

	/* a sort, or an EvalPlanQual, would need what is not done here */
	if (scan->info.nkeys > 0 || scan->store_opened ||
		var->varno != (int) plan->scanrelid || var->varattno <= 0)
		return false;
	Assert(!contain_volatile_functions((Node *) plan->plan.qual));	/* scan:R5 */
	old = MemoryContextSwitchTo(scan->mcxt);
	bound = palloc0(sizeof(StrataScanJoin));
	bound->key = binding->key;
	bound->column = copyObject(expr);
	scan->joins = lappend(scan->joins, bound);
	scan->join_attnos = bms_add_member(scan->join_attnos, var->varattno);
	strata_filter_reserve(scan->filter, 1);
	scan->njoins_open++;
	MemoryContextSwitchTo(old);
	return true;
}

/* Follow into each of the children; true: a scan was found. */
static bool
follow_each(PlanState **children, int n, Expr *expr, Binding *binding)
{
	bool		found = false;

	for (int i = 0; i < n; i++)
		found |= follow(children[i], expr, binding);
	return found;
}

static bool
is_join(Plan *plan)
{
	return IsA(plan, HashJoin) || IsA(plan, NestLoop) || IsA(plan, MergeJoin);
}

/* Into the side of a join whose rows come out of it once for each match. */
static bool
follow_join(JoinState *join, Expr *expr, Binding *binding)
{
	int			side = ((Var *) expr)->varno;

	if (side == OUTER_VAR)
	{
		if (join->jointype != JOIN_INNER && join->jointype != JOIN_LEFT &&
			join->jointype != JOIN_SEMI && join->jointype != JOIN_ANTI)
			return false;
		return follow(outerPlanState(join), expr, binding);
	}
	if (side != INNER_VAR || join->jointype != JOIN_INNER)
		return false;
	return follow(innerPlanState(join), expr, binding);
}

/*
 * Does the node put rows together, or look at them together, only where they
 * have one value of column attno of its child?  Values that a group takes for
 * one are one for the join, too: both go by the default order of the column's
 * type and by its collation, else the scan would not take the condition.
 */
static bool
keeps_apart(Plan *plan, AttrNumber attno)
{
	const AttrNumber *columns = NULL;
	int			ncolumns = 0;

	if (IsA(plan, Agg) && ((Agg *) plan)->aggsplit == AGGSPLIT_SIMPLE &&
		((Agg *) plan)->groupingSets == NIL && ((Agg *) plan)->chain == NIL)
	{
		columns = ((Agg *) plan)->grpColIdx;
		ncolumns = ((Agg *) plan)->numCols;
	}
	else if (IsA(plan, Group))
	{
		columns = ((Group *) plan)->grpColIdx;
		ncolumns = ((Group *) plan)->numCols;
	}
	else if (IsA(plan, Unique))
	{
		columns = ((Unique *) plan)->uniqColIdx;
		ncolumns = ((Unique *) plan)->numCols;
	}
	else if (IsA(plan, WindowAgg))
	{
		columns = ((WindowAgg *) plan)->partColIdx;
		ncolumns = ((WindowAgg *) plan)->partNumCols;
	}
	for (int i = 0; i < ncolumns; i++)
		if (columns[i] == attno)
			return true;
	return false;
}

/*
 * Follow a column of a node's child, which expr refers to, to scans that rows
 * without a match may be left out of.  Does what it says of what the node
 * evaluates for each row: nothing volatile may be missed.
 */
static bool
follow(PlanState *child, Expr *expr, Binding *binding)
{
	Plan	   *plan = child->plan;
	AttrNumber	attno = ((Var *) expr)->varattno;
	Expr	   *below;

	check_stack_depth();
	if (attno <= 0 || attno > list_length(plan->targetlist) ||
		contain_volatile_functions((Node *) plan->targetlist) ||
		contain_volatile_functions((Node *) plan->qual))
		return false;
	if (is_join(plan) &&
		contain_volatile_functions((Node *) ((Join *) plan)->joinqual))
		return false;
	below = list_nth_node(TargetEntry, plan->targetlist, attno - 1)->expr;
	if (!IsA(below, Var) ||
		((Var *) below)->vartype != ((Var *) expr)->vartype)
		return false;
	if (strata_scan_state(child) != NULL)
		return bind_scan(strata_scan_state(child), below, binding);
	switch (nodeTag(child))
	{
		case T_AppendState:
			return follow_each(((AppendState *) child)->appendplans,
							   ((AppendState *) child)->as_nplans, below,
							   binding);
		case T_MergeAppendState:
			return follow_each(((MergeAppendState *) child)->mergeplans,
							   ((MergeAppendState *) child)->ms_nplans, below,
							   binding);
		case T_SubqueryScanState:
			return follow(((SubqueryScanState *) child)->subplan, below,
						  binding);
		case T_SortState:
		case T_IncrementalSortState:
		case T_MaterialState:
		case T_MemoizeState:
		case T_HashState:
			return follow(outerPlanState(child), below, binding);
		case T_AggState:
		case T_GroupState:
		case T_UniqueState:
		case T_WindowAggState:
			return keeps_apart(plan, ((Var *) below)->varattno) &&
				follow(outerPlanState(child), below, binding);
		case T_HashJoinState:
		case T_NestLoopState:
		case T_MergeJoinState:
			return follow_join((JoinState *) child, below, binding);
		case T_CustomScanState:
			attno = binding->child_column(child, attno);
			if (attno == 0)
				return false;
			below = (Expr *) copyObject(below);
			((Var *) below)->varattno = attno;
			return follow(linitial(((CustomScanState *) child)->custom_ps),
						  below, binding);
		default:
			return false;
	}
}

/* Bind scans below the outer side of a join to the values of its inner one. */
static void
bind_join(HashJoinState *join, Binding *binding)
{
	Plan	   *hash = innerPlan(join->js.ps.plan);
	int			nkeys = list_length(((HashJoin *) join->js.ps.plan)->hashkeys);
	bool		found = false;

	if (join->js.jointype == JOIN_LEFT || join->js.jointype == JOIN_FULL ||
		join->js.jointype == JOIN_ANTI || hash->parallel_aware ||
		bms_overlap(hash->allParam, binding->changing))
		return;
	for (int i = 0; i < nkeys; i++)
	{
		MemoryContext old =
		MemoryContextSwitchTo(join->js.ps.state->es_query_cxt);
		Expr	   *outer;

		binding->key = strata_join_key_create(join, i);
		if (binding->key != NULL)
		{
			outer = strip(strata_join_key_outer(binding->key));
			if (IsA(outer, Var) && ((Var *) outer)->varno == OUTER_VAR)
				found |= follow(outerPlanState(join), outer, binding);
		}
		MemoryContextSwitchTo(old);
	}
	if (found)
		strata_hash_join_build_first(join);
}

/* The joins of a plan, those above before those below. */
static bool
bind_joins(PlanState *node, void *context)
{
	if (IsA(node, HashJoinState))
		bind_join((HashJoinState *) node, context);
	return planstate_tree_walker(node, bind_joins, context);
}

/* See scan.h. */
void
strata_scan_bind_joins(PlanState *node, StrataChildColumn child_column)
{
	Binding		binding = {child_column};

	if (node == NULL || !strata_enable_join_pruning || !strata_enable_pruning)
		return;
	(void) look_at(node, &binding);
	if (binding.has_join)
		(void) bind_joins(node, &binding);
	bms_free(binding.changing);
}

/*-------------------------------------------------------------------------
 * When the scan runs
 *-------------------------------------------------------------------------
 */

/* Have the values as a qual; false: they are of no use. */
static bool
take_in(StrataScanState *scan, StrataScanJoin *bound)
{
	MemoryContext old = MemoryContextSwitchTo(scan->filter->mcxt);
	StrataQual *qual =
	strata_filter_add(scan->filter,
					  strata_join_key_clause(bound->key, bound->column));

	MemoryContextSwitchTo(old);
	if (qual == NULL)
		return false;
	strata_join_key_fill(bound->key, qual->tree);
	/* who has to compare with each value would not come to an end */
	if (!qual->tree->sorted)
	{
		memset(qual, 0, sizeof(StrataQual));
		scan->filter->nquals--;
		return false;
	}
	bound->leaf = qual->tree;
	return true;
}

/*
 * Batches of few segments are looked for rather than chosen among all of them,
 * where nothing else has decided how they are read.
 */
static void
seek_segments(StrataScanState *scan, StrataScanJoin *bound)
{
	const StrataLayout *layout;
	AttrNumber	attno = ((Var *) bound->column)->varattno;

	strata_scan_open_store(scan);
	if (scan->store == NULL || scan->info.access != STRATA_ACCESS_SEQ ||
		scan->parallel != NULL || scan->batches_started)
		return;
	layout = strata_layout_parse(scan->info.layout,
								 RelationGetDescr(scan->css.ss
												  .ss_currentRelation)->natts);
	if (layout->nsegment == 0 || layout->segment[0] != attno ||
		(double) strata_join_key_nvalues(bound->key) * PAGES_PER_KEY >
		RelationGetNumberOfBlocks(scan->store->batches))
		return;
	strata_source_end(scan->source);
	scan->info.access = STRATA_ACCESS_SEGMENT;
	scan->sought_by_join = true;
	scan->source = strata_source_create(scan->store,
										scan->css.ss.ps.state->es_snapshot,
										scan->info.access, scan->info.layout,
										false, 0);
}

/* See scan_join_private.h. */
bool
strata_scan_take_join_values(StrataScanState *scan)
{
	bool		taken = false;
	ListCell   *lc;

	foreach(lc, scan->joins)
	{
		StrataScanJoin *bound = lfirst(lc);
		StrataJoinValues state;

		if (bound->asked)
			continue;
		state = strata_join_key_ready(bound->key);
		if (state == STRATA_JOIN_NOT_YET)
			continue;
		bound->asked = true;
		scan->njoins_open--;
		if (state == STRATA_JOIN_KNOWN && take_in(scan, bound))
		{
			MemoryContext old = MemoryContextSwitchTo(scan->mcxt);

			seek_segments(scan, bound);
			MemoryContextSwitchTo(old);
			taken = true;
		}
	}
	Assert(scan->filter->nquals <= scan->filter->nmax); /* scan:R15 */
	return taken;
}

/* See scan_join_private.h. */
void
strata_scan_look_up_joins(StrataScanState *scan)
{
	ListCell   *lc;

	foreach(lc, scan->joins)
	{
		StrataScanJoin *bound = lfirst(lc);

		if (bound->leaf == NULL || bound->looked_up)
			continue;
		bound->looked_up = true;
		strata_scan_look_up_join(scan, bound->key, bound->leaf);
	}
	strata_scan_seek_join(scan);
}

/* See scan_join_private.h. */
bool
strata_join_qual_pays(StrataBatchReader *reader, const StrataQual *qual)
{
	if (!strata_enable_vector_filter || qual->way != STRATA_QUAL_VECTOR ||
		(qual->ntried > ENOUGH_TRIED &&
		 qual->npassed > qual->ntried - qual->ntried / 8))
		return false;
	if (qual->tree->spans)
		return qual->tree->keys.places != NULL;
	return qual->tree->kind != FILTER_KIND_NONE ||
		(qual->tree->by_bytes && reader != NULL &&
		 strata_batch_reader_has_dictionary(reader, qual->tree->attno));
}

static int
count_passing(const uint8 *mask, int n)
{
	int			k = 0;

	for (int i = 0; i < n; i++)
		k += mask[i];
	return k;
}

/* See scan_join_private.h. */
void
strata_join_qual_run(StrataQual *qual, StrataFilterRun *run, uint8 *mask)
{
	qual->ntried += count_passing(mask, run->reader->nrows);
	strata_filter_vector(qual->tree, run, mask);
	qual->npassed += count_passing(mask, run->reader->nrows);
}

/* See scan_join_private.h. */
bool
strata_join_leaves_out(StrataScanState *scan, TupleTableSlot *slot)
{
	StrataFilter *filter = scan->filter;

	if (scan->njoins_open > 0)
		(void) strata_scan_take_join_values(scan);
	for (int i = filter->nown; i < filter->nquals; i++)
	{
		StrataQual *qual = &filter->quals[i];
		AttrNumber	attno = qual->tree->attno;
		uint8		mask = 1;
		Datum		packed = 0;
		Datum		value;
		bool		isnull;

		if (!strata_join_qual_pays(NULL, qual))
			continue;
		value = slot_getattr(slot, attno, &isnull);
		if (isnull || qual->tree->never)
			mask = 0;
		else
		{
			store_att_byval(&packed, value,
							TupleDescAttr(slot->tts_tupleDescriptor,
										  attno - 1)->attlen);
			strata_filter_in(qual->tree, &packed, 1, &mask);
		}
		qual->ntried++;
		qual->npassed += mask;
		if (mask == 0)
			return true;
	}
	return false;
}

/* See scan_private.h. */
char *
strata_scan_join_columns(StrataScanState *scan)
{
	StringInfoData text;
	TupleDesc	desc = RelationGetDescr(scan->css.ss.ss_currentRelation);
	int			attno = -1;

	if (scan->joins == NIL)
		return NULL;
	initStringInfo(&text);
	while ((attno = bms_next_member(scan->join_attnos, attno)) >= 0)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "",
						 NameStr(TupleDescAttr(desc, attno - 1)->attname));
	return text.data;
}
