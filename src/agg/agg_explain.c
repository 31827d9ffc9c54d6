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
#include "utils/ruleutils.h"

/* Columns [from, to) of the scan tuple that are (generic or not), as one line. */
static void
show_columns(StrataAggState *agg, const char *label, int from, int to, int generic,
			 List *ancestors, ExplainState *es)
{
	CustomScan *cscan = (CustomScan *) agg->css.ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, agg->css.ss.ps.plan, ancestors);
	List	   *texts = NIL;

	for (int i = from; i < to; i++)
	{
		TargetEntry *tle = list_nth_node(TargetEntry, cscan->custom_scan_tlist, i);

		if (generic >= 0 && (agg->calls[i - agg->nkeys].generic != NULL) != generic)
			continue;
		texts = lappend(texts, deparse_expression((Node *) tle->expr, context,
												  list_length(es->rtable) > 1 || es->verbose, true));
	}
	if (texts != NIL)
		ExplainPropertyList(label, texts, es);
}

void
strata_agg_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	StrataAggState *agg = (StrataAggState *) node;
	AggCounters *c = &agg->counters;
	int			nkeys = agg->nkeys;

	show_columns(agg, "Group Key", 0, nkeys, -1, ancestors, es);
	show_columns(agg, "Vectorized Aggregates", nkeys, nkeys + agg->ncalls, 0, ancestors, es);
	show_columns(agg, "Row by Row", nkeys, nkeys + agg->ncalls, 1, ancestors, es);
	if (!es->analyze)
		return;
	ExplainPropertyInteger("Batches Aggregated", NULL, c->vectors, es);
	ExplainPropertyInteger("Batches Answered by Summary", NULL, c->summarized, es);
	ExplainPropertyInteger("Row Chunks", NULL, c->chunks, es);
	if (agg->table == NULL)
		return;
	ExplainPropertyInteger("Runs", NULL, c->runs, es);
	ExplainPropertyInteger("Spills", NULL, strata_agg_table_spills(agg->table), es);
	ExplainPropertyInteger("Memory", "kB", (int64) (strata_agg_table_memory(agg->table) + 1023) / 1024, es);
}
