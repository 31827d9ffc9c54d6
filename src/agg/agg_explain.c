/*-------------------------------------------------------------------------
 *
 * agg_explain.c
 *	  EXPLAIN: what is computed how.
 *
 * src/agg/agg_explain.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "commands/explain.h"
#ifdef STRATA_EXPLAIN_IS_SPLIT
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "nodes/nodeFuncs.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

/* 0: by kernels; 1: by transition functions; 2: of rows that are held. */
static int
way_of(const AggCall *call)
{
	return call->hold != NULL ? 2 : call->generic != NULL;
}

/*
 * Columns [from, to) of the scan tuple, of aggregates those that are computed
 * that way, as one line; way -1: all.
 */
static void
show_columns(StrataAggState *agg, const char *label, int from, int to,
			 int way, List *ancestors, ExplainState *es)
{
	CustomScan *cscan = (CustomScan *) agg->css.ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   agg->css.ss.ps.plan,
												   ancestors);
	List	   *texts = NIL;

	for (int i = from; i < to; i++)
	{
		TargetEntry *tle = list_nth_node(TargetEntry, cscan->custom_scan_tlist,
										 i);

		if (way >= 0 &&
			way_of(&agg->calls[i - agg->nkeys]) != way)
			continue;
		texts = lappend(texts,
						deparse_expression((Node *) tle->expr, context,
										   strata_explain_uses_prefix(es),
										   true));
	}
	if (texts != NIL)
		ExplainPropertyList(label, texts, es);
}

/* Name of the child's column that a value is. */
static char *
value_name(StrataAggState *agg, const AggValue *value, List *ancestors,
		   ExplainState *es)
{
	CustomScan *cscan = (CustomScan *) agg->css.ss.ps.plan;
	Plan	   *child = linitial(cscan->custom_plans);
	List	   *context = set_deparse_context_plan(es->deparse_cxt, child,
												   ancestors);
	TargetEntry *tle = list_nth_node(TargetEntry, child->targetlist,
									 value->input);

	return deparse_expression((Node *) tle->expr, context, false, true);
}

static void
show_stop(StrataAggState *agg, List *ancestors, ExplainState *es)
{
	const AggStop *stop = &agg->stop;
	char	   *name;

	if (stop->kind == AGG_STOP_NONE)
		return;
	name = value_name(agg, &agg->values[stop->by], ancestors, es);
	if (stop->kind == AGG_STOP_PICK)
		name = psprintf("%s %s of each group",
						stop->last ? "greatest" : "least", name);
	else
		name = psprintf("%d %s %s of %s", stop->n,
						stop->last ? "greatest" : "least",
						stop->key->bucket != NULL ? "buckets" : "values",
						name);
	ExplainPropertyText("Early Stop", name, es);
}

/* An expression of the child's columns with what these are. */
static Node *
name_columns(Node *node, List *tlist)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
		return (Node *) list_nth_node(TargetEntry, tlist,
									  ((Var *) node)->varattno - 1)->expr;
	return expression_tree_mutator(node, name_columns, tlist);
}

/* What says which row of a group is the first. */
static void
show_ranks(StrataAggState *agg, List *ancestors, ExplainState *es)
{
	Plan	   *child = linitial(((CustomScan *) agg->css.ss.ps.plan)
								 ->custom_plans);
	List	   *context = set_deparse_context_plan(es->deparse_cxt, child,
												   ancestors);
	List	   *texts = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, agg->plan.ranks, lc2, agg->plan.rank_ops)
	{
		Node	   *rank = name_columns(lfirst(lc), child->targetlist);
		bool		nulls_first = lthird_int(lfirst(lc2)) != 0;
		Oid			opfamily;
		Oid			opcintype;
		StrataSortOrder order;
		bool		desc;

		desc = get_ordering_op_properties((Oid) linitial_int(lfirst(lc2)),
										  &opfamily, &opcintype, &order) &&
			order == STRATA_SORT_DESC;
		texts = lappend(texts,
						psprintf("%s%s%s",
								 deparse_expression(rank, context, false,
													true),
								 desc ? " DESC" : "",
								 nulls_first == desc ? "" :
								 nulls_first ? " NULLS FIRST" :
								 " NULLS LAST"));
	}
	if (texts != NIL)
		ExplainPropertyList("First Row By", texts, es);
}

/* The keys by which groups are sorted, each as in the order of the result. */
static void
show_order(StrataAggState *agg, List *ancestors, ExplainState *es)
{
	CustomScan *cscan = (CustomScan *) agg->css.ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   agg->css.ss.ps.plan,
												   ancestors);
	List	   *texts = NIL;
	ListCell   *lc;

	if (agg->order == NULL)
		return;
	foreach(lc, strata_agg_order_keys(agg->order))
	{
		TargetEntry *tle = list_nth_node(TargetEntry, cscan->custom_scan_tlist,
										 lfirst_int(lc));

		texts = lappend(texts,
						deparse_expression((Node *) tle->expr, context,
										   strata_explain_uses_prefix(es),
										   true));
	}
	ExplainPropertyList("Sort Key", texts, es);
}

/* The keys of each grouping set, as in the order of the query's. */
static void
show_sets(StrataAggState *agg, List *ancestors, ExplainState *es)
{
	CustomScan *cscan = (CustomScan *) agg->css.ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt,
												   agg->css.ss.ps.plan,
												   ancestors);
	List	   *texts = NIL;
	ListCell   *lc;

	foreach(lc, agg->plan.sets)
	{
		StringInfoData buf;

		initStringInfo(&buf);
		for (int k = 0; k < agg->nkeys; k++)
		{
			TargetEntry *tle = list_nth_node(TargetEntry,
											 cscan->custom_scan_tlist, k);

			if ((lfirst_int(lc) >> k & 1) == 0)
				appendStringInfo(&buf, "%s%s", buf.len > 0 ? ", " : "",
								 deparse_expression((Node *) tle->expr,
													context,
													strata_explain_uses_prefix(es),
													true));
		}
		texts = lappend(texts, psprintf("(%s)", buf.data));
	}
	if (texts != NIL)
		ExplainPropertyList("Grouping Sets", texts, es);
}

/* What was read; of all processes that shared it. */
static void
show_input(const StrataAggState *agg, ExplainState *es)
{
	const AggCounters *c = &agg->counters;

	strata_explain_count("Batches Aggregated", c->vectors, es);
	strata_explain_count("Batches Answered by Summary", c->summarized, es);
	if (c->counted > 0)
	{
		strata_explain_count("Batches Counted by Index", c->counted, es);
		strata_explain_count("Batches Looked Up", c->fetched, es);
	}
	if (agg->stop.kind != AGG_STOP_NONE)
		strata_explain_count("Batches Passed Over", c->skipped, es);
	strata_explain_count("Row Chunks", c->chunks, es);
	if (agg->table != NULL)
		strata_explain_count("Runs", c->runs, es);
	if (c->singles > 0)
		strata_explain_count("Rows Added Singly", c->singles, es);
}

/* How rows of a join below come. */
static void
show_join(const StrataAggState *agg, ExplainState *es)
{
	const char *refusal = NULL;

	if (agg->input == NULL || !strata_agg_input_is_join(agg->input, &refusal))
		return;
	ExplainPropertyText("Join",
						refusal == NULL ? "by vectors" :
						psprintf("row by row: %s", refusal), es);
}

static const char *const stage_names[] = {
	[AGG_STAGE_WHOLE] = "whole",
	[AGG_STAGE_PARTIAL] = "partial",
	[AGG_STAGE_FINAL] = "final",
	[AGG_STAGE_BELOW] = "below a join",
	[AGG_STAGE_JOINED] = "above a join"
};

/* See agg_private.h. */
void
strata_agg_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	StrataAggState *agg = (StrataAggState *) node;
	AggCounters *c = &agg->counters;
	int			nkeys = agg->nkeys;
	int			ncalls = list_length(agg->plan.aggrefs);

	if (agg->plan.stage != AGG_STAGE_WHOLE)
		ExplainPropertyText("Stage", stage_names[agg->plan.stage], es);
	if (agg->plan.stage == AGG_STAGE_BELOW)
		show_columns(agg, "Group Key", 0, nkeys, -1, ancestors, es);
	else if (agg->plan.stage != AGG_STAGE_PARTIAL)
	{
		show_columns(agg, "Group Key", 0, nkeys, -1, ancestors, es);
		show_sets(agg, ancestors, es);
		show_columns(agg, "Vectorized Aggregates", nkeys, nkeys + ncalls, 0,
					 ancestors, es);
		show_columns(agg, "Row by Row", nkeys, nkeys + ncalls, 1, ancestors,
					 es);
		show_columns(agg, "Of Rows Held", nkeys, nkeys + ncalls, 2, ancestors,
					 es);
		show_columns(agg, "Columns of the Row", nkeys + ncalls,
					 nkeys + ncalls + list_length(agg->plan.picks), -1,
					 ancestors, es);
		show_ranks(agg, ancestors, es);
		show_order(agg, ancestors, es);
		show_stop(agg, ancestors, es);
		show_join(agg, es);
	}
	if (!es->analyze)
		return;
	if (agg_stage_reads(agg->plan.stage))
	{
		show_input(agg, es);
		strata_scan_explain_all(node, es);
	}
	if (agg->table == NULL && agg->distincts == NIL)
		return;
	strata_explain_count("Spills", c->spills, es);
	ExplainPropertyInteger("Memory", "kB", (int64) (c->memory + 1023) / 1024,
						   es);
}
