/*-------------------------------------------------------------------------
 *
 * scan_explain.c
 *	  EXPLAIN: what prunes, what runs on vectors, and how much was skipped.
 *
 * Without ANALYZE only things that follow from the plan are shown.
 *
 * src/scan/scan_explain.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"

#include "access/tableam.h"
#include "commands/explain.h"
#ifdef STRATA_EXPLAIN_IS_SPLIT
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/ruleutils.h"

/* The settings of how a qual is dealt with, for one line of output each. */
typedef enum QualRole
{
	ROLE_SEGMENT,				/* decides once per batch */
	ROLE_RANGE,					/* prunes by minima and maxima */
	ROLE_VECTOR,
	ROLE_DICTIONARY,
	ROLE_ROW
} QualRole;

/* Is the qual shown in this line of EXPLAIN, as the switches are now? */
static bool
has_role(const StrataQual *qual, const StrataLayout *layout, QualRole role)
{
	bool		segment;
	StrataQualWay way;

	segment = strata_enable_pruning &&
		strata_prune_is_segment_qual(layout, qual);
	way = strata_enable_vector_filter ? qual->way : STRATA_QUAL_ROW;
	switch (role)
	{
		case ROLE_SEGMENT:
			return segment;
		case ROLE_RANGE:
			return !segment && strata_enable_pruning &&
				strata_prune_is_range_qual(layout, qual);
		case ROLE_VECTOR:
			return !segment && way == STRATA_QUAL_VECTOR;
		case ROLE_DICTIONARY:
			return !segment && way == STRATA_QUAL_DICTIONARY;
		default:
			return !segment && way == STRATA_QUAL_ROW;
	}
}

static List *
deparse_context(StrataScanState *scan, List *ancestors, ExplainState *es)
{
	return set_deparse_context_plan(es->deparse_cxt, scan->css.ss.ps.plan,
									ancestors);
}

static void
show_quals(StrataScanState *scan, const StrataLayout *layout, QualRole role,
		   const char *label, List *ancestors, ExplainState *es)
{
	List	   *quals = NIL;

	for (int i = 0; i < scan->filter->nquals; i++)
		if (has_role(&scan->filter->quals[i], layout, role))
			quals = lappend(quals, scan->filter->quals[i].clause);
	if (quals != NIL)
		ExplainPropertyText(label,
							deparse_expression((Node *)
											   make_ands_explicit(quals),
											   deparse_context(scan, ancestors,
															   es),
											   es->verbose, false),
							es);
}

/*
 * Is the qual, which has no kernels, evaluated for many rows at a time
 * (filter_together())?  Not behind one that is not.
 */
static bool
is_together(StrataScanState *scan, const StrataLayout *layout, int i)
{
	if (!scan->in_vectors || !strata_enable_vector_filter)
		return false;
	for (int k = 0; k <= i; k++)
	{
		const StrataQual *qual = &scan->filter->quals[k];

		if ((has_role(qual, layout, ROLE_ROW) ||
			 has_role(qual, layout, ROLE_DICTIONARY)) &&
			strata_qual_together(scan->filter, qual) == NULL)
			return false;
	}
	return true;
}

/* Quals that are evaluated for many rows at a time, if not by kernels alone. */
static void
show_together(StrataScanState *scan, const StrataLayout *layout,
			  List *ancestors, ExplainState *es)
{
	List	   *quals = NIL;

	for (int i = 0; i < scan->filter->nquals; i++)
		if (has_role(&scan->filter->quals[i], layout, ROLE_ROW) &&
			is_together(scan, layout, i))
			quals = lappend(quals, scan->filter->quals[i].clause);
	if (quals != NIL)
		ExplainPropertyText("Vectorized Expressions",
							deparse_expression((Node *)
											   make_ands_explicit(quals),
											   deparse_context(scan, ancestors,
															   es),
											   es->verbose, false),
							es);
}

/* Say which quals are evaluated row by row, and why. */
static void
show_not_vectorized(StrataScanState *scan, const StrataLayout *layout,
					List *ancestors, ExplainState *es)
{
	List	   *lines = NIL;

	for (int i = 0; i < scan->filter->nquals; i++)
	{
		const StrataQual *qual = &scan->filter->quals[i];
		char	   *text;

		if (!has_role(qual, layout, ROLE_ROW) &&
			!has_role(qual, layout, ROLE_DICTIONARY))
			continue;
		if (is_together(scan, layout, i))
			continue;
		text = deparse_expression((Node *) qual->clause,
								  deparse_context(scan, ancestors, es),
								  es->verbose, false);
		lines = lappend(lines,
						psprintf("%s because %s", text,
								 !strata_enable_vector_filter ?
								 "strata.enable_vector_filter is off" :
								 qual->reason != NULL ? qual->reason :
								 "of its form"));
	}
	if (lines != NIL)
		ExplainPropertyList("Not Vectorized", lines, es);
}

/* "ts DESC NULLS LAST, host" */
static void
show_merge_order(StrataScanState *scan, ExplainState *es)
{
	TupleDesc	desc = RelationGetDescr(scan->css.ss.ss_currentRelation);
	List	   *keys = NIL;

	for (int i = 0; i < scan->info.nkeys; i++)
	{
		const StrataOrderKey *key = &scan->info.keys[i];
		Form_pg_attribute att = TupleDescAttr(desc, key->attno - 1);

		keys = lappend(keys,
					   psprintf("%s%s%s", NameStr(att->attname),
								key->desc ? " DESC" : "",
								key->desc == key->nulls_first ? "" :
								key->nulls_first ? " NULLS FIRST" :
								" NULLS LAST"));
	}
	if (keys != NIL)
		ExplainPropertyList("Merge Key", keys, es);
}

/* Say how batches are found. */
static void
show_access(StrataScanState *scan, ExplainState *es)
{
	static const char *const names[] = {
		[STRATA_ACCESS_SEQ] = "sequential",
		[STRATA_ACCESS_SEGMENT] = "segment index",
		[STRATA_ACCESS_MIN] = "min index",
		[STRATA_ACCESS_MAX] = "max index",
		[STRATA_ACCESS_SEGMENT_MAX] = "segment index by max"
	};

	ExplainPropertyText("Batch Access",
						psprintf("%s%s", names[scan->info.access],
								 !scan->info.best_first ?
								 "" :
								 scan->info.access == STRATA_ACCESS_MIN ?
								 ", the least first" :
								 scan->info.access == STRATA_ACCESS_MAX ?
								 ", the greatest first" :
								 ", the best of each segment first"),
						es);
}

/* Batches that the query's snapshot sees. */
static int64
show_batch_counts(StrataScanState *scan)
{
	TupleTableSlot *slot;
	TableScanDesc desc;
	int64		n = 0;

	slot =
		MakeSingleTupleTableSlot(RelationGetDescr(scan->store->batches),
								 table_slot_callbacks(scan->store->batches));
	desc = table_beginscan(scan->store->batches,
						   scan->css.ss.ps.state->es_snapshot, 0, NULL);
	while (table_scan_getnextslot(desc, ForwardScanDirection, slot))
	{
		bool		isnull;

		if (DatumGetInt32(slot_getattr(slot, STRATA_BATCH_ATT_NROWS,
									   &isnull)) > 0)
			n++;
	}
	table_endscan(desc);
	ExecDropSingleTupleTableSlot(slot);
	return n;
}

/*
 * Batches that an index let us pass by count as pruned by what the index
 * knows, once everything it gave has been looked at.
 */
static void
show_batches(StrataScanState *scan, ExplainState *es)
{
	const StrataCounters *c = &scan->counters;
	int64		loops = Max(c->loops, 1);	/* 0: the row store was enough */
	int64		total = c->considered;
	int64		by_segment = c->pruned_segment;
	int64		by_range = c->pruned_range;
	int64		not_reached = 0;

	strata_scan_open_store(scan);
	if (scan->store != NULL &&
		(scan->info.access != STRATA_ACCESS_SEQ || c->exhausted < loops))
	{
		int64		unseen;

		total = Max(show_batch_counts(scan) * loops, total);
		unseen = total - c->considered;
		if (c->exhausted < loops)
			not_reached = unseen;
		else if (scan->info.access == STRATA_ACCESS_SEGMENT ||
				 scan->info.access == STRATA_ACCESS_SEGMENT_MAX)
			by_segment += unseen;
		else
			by_range += unseen;
	}
	not_reached += c->considered - c->pruned_segment - c->pruned_range -
		c->pruned_filter - c->scanned - c->counted - scan->nswept;
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		StringInfoData line;

		initStringInfo(&line);
		appendStringInfo(&line,
						 "total=" INT64_FORMAT
						 " pruned by segment=" INT64_FORMAT
						 " pruned by min-max=" INT64_FORMAT,
						 total, by_segment, by_range);
		if (c->pruned_filter > 0)
			appendStringInfo(&line, " pruned by filter=" INT64_FORMAT,
							 c->pruned_filter);
		appendStringInfo(&line, " scanned=" INT64_FORMAT, c->scanned);
		if (c->counted > 0)
			appendStringInfo(&line, " counted=" INT64_FORMAT, c->counted);
		if (scan->nswept > 0)
			appendStringInfo(&line, " deleted whole=" INT64_FORMAT,
							 scan->nswept);
		if (not_reached > 0)
			appendStringInfo(&line, " not reached=" INT64_FORMAT, not_reached);
		ExplainPropertyText("Batches", line.data, es);
		return;
	}
	ExplainPropertyInteger("Batches Total", NULL, total, es);
	ExplainPropertyInteger("Batches Pruned by Segment", NULL, by_segment, es);
	ExplainPropertyInteger("Batches Pruned by Min-Max", NULL, by_range, es);
	ExplainPropertyInteger("Batches Pruned by Filter", NULL, c->pruned_filter,
						   es);
	ExplainPropertyInteger("Batches Scanned", NULL, c->scanned, es);
	ExplainPropertyInteger("Batches Counted", NULL, c->counted, es);
	if (scan->sweeper != NULL)
		ExplainPropertyInteger("Batches Deleted Whole", NULL, scan->nswept,
							   es);
	ExplainPropertyInteger("Batches Not Reached", NULL, not_reached, es);
}

/* See scan_private.h. */
void
strata_scan_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	StrataScanState *scan = (StrataScanState *) node;
	TupleDesc	desc = RelationGetDescr(node->ss.ss_currentRelation);
	StrataLayout *layout = strata_layout_parse(scan->info.layout,
											   desc->natts);

	show_access(scan, es);
	show_merge_order(scan, es);
	show_quals(scan, layout, ROLE_SEGMENT, "Segment Cond", ancestors, es);
	show_quals(scan, layout, ROLE_RANGE, "Batch Filter", ancestors, es);
	show_quals(scan, layout, ROLE_VECTOR, "Vectorized Filter", ancestors, es);
	show_quals(scan, layout, ROLE_DICTIONARY, "Dictionary Filter", ancestors,
			   es);
	show_together(scan, layout, ancestors, es);
	show_not_vectorized(scan, layout, ancestors, es);
	if (scan->info.note[0] != '\0')
		ExplainPropertyText("Aggregate Not Vectorized",
							psprintf("because %s", scan->info.note), es);
	if (!es->analyze)
		return;
	show_batches(scan, es);
	ExplainPropertyInteger("Columns Decoded", NULL,
						   scan->counters.columns_decoded, es);
	ExplainPropertyInteger("Rows Filtered (vectorized)", NULL,
						   scan->counters.rows_filtered, es);
	ExplainPropertyInteger("Rows From Row Store", NULL,
						   scan->counters.heap_rows, es);
	if (scan->nswept_rows > 0)
		ExplainPropertyInteger("Rows Deleted Together", NULL,
							   scan->nswept_rows, es);
	if (scan->nindexed > 0)
		ExplainPropertyInteger("Row Store Scans By Index", NULL,
							   scan->nindexed, es);
}
