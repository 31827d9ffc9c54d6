/*-------------------------------------------------------------------------
 *
 * scan_explain.c
 *	  EXPLAIN: what prunes, what runs on vectors, and how much was skipped.
 *
 * Without ANALYZE only things that follow from the plan are shown.
 *
 * Over 600 lines: each line that EXPLAIN may have, in its order.
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
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
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

/* The quals of a role, as text; NULL: there are none. */
static char *
quals_text(StrataScanState *scan, const StrataLayout *layout, QualRole role,
		   List *ancestors, ExplainState *es)
{
	List	   *quals = NIL;

	for (int i = 0; i < scan->filter->nown; i++)
		if (has_role(&scan->filter->quals[i], layout, role))
			quals = lappend(quals, scan->filter->quals[i].clause);
	if (quals == NIL)
		return NULL;
	return deparse_expression((Node *) make_ands_explicit(quals),
							  deparse_context(scan, ancestors, es),
							  es->verbose, false);
}

static void
show_text(const char *label, const char *text, ExplainState *es)
{
	if (text != NULL)
		ExplainPropertyText(label, text, es);
}

/* What prunes, and what runs on vectors: in one line when it is the same. */
static void
show_quals(StrataScanState *scan, const StrataLayout *layout,
		   List *ancestors, ExplainState *es)
{
	char	   *range = quals_text(scan, layout, ROLE_RANGE, ancestors, es);
	char	   *vector = quals_text(scan, layout, ROLE_VECTOR, ancestors, es);

	show_text("Segment Cond",
			  quals_text(scan, layout, ROLE_SEGMENT, ancestors, es), es);
	if (range != NULL && vector != NULL && strcmp(range, vector) == 0 &&
		strata_explain_is_brief(es))
		show_text("Batch and Vectorized Filter", range, es);
	else
	{
		show_text("Batch Filter", range, es);
		show_text("Vectorized Filter", vector, es);
	}
	show_text("Dictionary Filter",
			  quals_text(scan, layout, ROLE_DICTIONARY, ancestors, es), es);
}

/*
 * Is the qual, which has no kernels, evaluated for many rows at a time
 * (filter_together())?  Not behind one that is not; where rows are asked for
 * one by one, not if it may raise an error for one that nobody asks for.
 */
static bool
is_together(StrataScanState *scan, const StrataLayout *layout, int i)
{
	int			raising = -1;	/* the first that may raise an error */

	if (!strata_enable_vector_filter)
		return false;
	for (int k = 0; k < scan->filter->nown; k++)
	{
		const StrataQual *qual = &scan->filter->quals[k];
		StrataExpr *expr;

		if (!has_role(qual, layout, ROLE_ROW) &&
			!has_role(qual, layout, ROLE_DICTIONARY))
			continue;
		expr = strata_qual_together(scan->filter, qual);
		if (k <= i && (expr == NULL ||
					   (!scan->in_vectors && strata_expr_may_raise(expr))))
			return false;
		if (!scan->in_vectors)
			continue;
		/* see together_at() */
		if (raising >= 0 && raising <= i &&
			(expr == NULL || strata_expr_may_fail(expr)))
			return false;
		if (expr == NULL || strata_expr_may_raise(expr))
			raising = k;
	}
	return true;
}

/* Quals that are evaluated for many rows at a time, if not by kernels alone. */
static void
show_together(StrataScanState *scan, const StrataLayout *layout,
			  List *ancestors, ExplainState *es)
{
	List	   *quals = NIL;

	for (int i = 0; i < scan->filter->nown; i++)
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

	for (int i = 0; i < scan->filter->nown; i++)
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
	if (scan->group_limit > 0)
		ExplainPropertyInteger("Rows of Each Group", NULL, scan->group_limit,
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

/* What became of the batches that a query might have read. */
typedef struct BatchFigures
{
	int64		total;
	int64		by_segment;
	int64		by_range;
	int64		by_join;
	int64		by_index;
	int64		scanned;
	int64		counted;
	int64		swept;
	int64		not_reached;
} BatchFigures;

/*
 * Batches that an index let us pass by count as pruned by what the index
 * knows, once everything it gave has been looked at.
 */
static void
count_figures(StrataScanState *scan, BatchFigures *f)
{
	const StrataCounters *c = &scan->counters;
	int64		loops = Max(c->loops, 1);	/* 0: the row store was enough */

	f->total = c->considered;
	f->by_segment = c->pruned_segment;
	f->by_range = c->pruned_range;
	f->by_join = c->pruned_join;
	f->by_index = 0;
	f->scanned = c->scanned;
	f->counted = c->counted;
	f->swept = scan->nswept;
	f->not_reached = 0;
	strata_scan_open_store(scan);
	if (scan->store != NULL &&
		(scan->info.access != STRATA_ACCESS_SEQ || c->exhausted < loops))
	{
		int64		unseen;

		/* asked for by this node, and by one above that adds them up */
		if (scan->nbatches < 0)
			scan->nbatches = show_batch_counts(scan);
		f->total = Max(scan->nbatches * loops, f->total);
		unseen = f->total - c->considered;
		if (c->exhausted < loops)
			f->not_reached = unseen;
		else if (scan->sought_by_join)
			f->by_join += unseen;
		else if (scan->info.access == STRATA_ACCESS_SEGMENT ||
				 scan->info.access == STRATA_ACCESS_SEGMENT_MAX)
			f->by_segment += unseen;
		else if (scan->info.access == STRATA_ACCESS_INDEX)
			f->by_index += unseen;
		else
			f->by_range += unseen;
	}
	f->not_reached += c->considered - c->pruned_segment - c->pruned_range -
		c->pruned_join - c->scanned - c->counted - scan->nswept;
}

/* "10,000" */
static char *
grouped_digits(int64 n)
{
	char	   *plain = psprintf(INT64_FORMAT, n);
	int			len = (int) strlen(plain);
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < len; i++)
	{
		if (i > 0 && (len - i) % 3 == 0)
			appendStringInfoChar(&buf, ',');
		appendStringInfoChar(&buf, plain[i]);
	}
	return buf.data;
}

/*
 * The indexes of the table by which batches are found, each once, by quals and
 * by values of joins; and how many of all batches these were.
 */
static void
show_index_names(StrataScanState *scan, ExplainState *es)
{
	const List *planned = scan->info.indexes;
	List	   *indexes = NIL;
	ListCell   *lc;
	StringInfoData names;

	for (int i = 0; i < list_length(planned); i += 2)
		indexes = list_append_unique_oid(indexes, list_nth_oid(planned, i));
	indexes = list_concat_unique_oid(indexes, scan->join_indexes);
	if (indexes == NIL)
		return;
	initStringInfo(&names);
	foreach(lc, indexes)
		appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "",
						 get_rel_name(lfirst_oid(lc)));
	if (es->analyze && es->format == EXPLAIN_FORMAT_TEXT &&
		scan->info.access == STRATA_ACCESS_INDEX)
	{
		BatchFigures f;

		count_figures(scan, &f);
		appendStringInfo(&names, ", batches=%s of %s",
						 grouped_digits(f.total - f.by_index - f.by_join),
						 grouped_digits(f.total));
	}
	show_text("Batch Index", names.data, es);
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
		[STRATA_ACCESS_SEGMENT_MAX] = "segment index by max",
		[STRATA_ACCESS_INDEX] = "batch index"
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
	show_index_names(scan, es);
}

/* " what=n", unless there is nothing to say. */
static void
append_figure(StringInfo line, const char *what, int64 n, bool always)
{
	if (n > 0 || always)
		appendStringInfo(line, "%s%s=" INT64_FORMAT, line->len > 0 ? " " : "",
						 what, n);
}

/* The figures as a line of text. */
static void
show_figures(const char *label, const BatchFigures *f, ExplainState *es)
{
	bool		always = !strata_explain_is_brief(es);
	StringInfoData line;

	initStringInfo(&line);
	append_figure(&line, "total", f->total, true);
	append_figure(&line, "pruned by segment", f->by_segment, always);
	append_figure(&line, "pruned by min-max", f->by_range, always);
	append_figure(&line, "pruned by join", f->by_join, false);
	append_figure(&line, "pruned by index", f->by_index, false);
	append_figure(&line, "scanned", f->scanned, true);
	append_figure(&line, "counted", f->counted, false);
	append_figure(&line, "deleted whole", f->swept, false);
	append_figure(&line, "not reached", f->not_reached, false);
	ExplainPropertyText(label, line.data, es);
}

/* What became of batches: a line of text, or a property for each number. */
static void
show_batches(StrataScanState *scan, ExplainState *es)
{
	BatchFigures f;

	count_figures(scan, &f);
	if (es->format == EXPLAIN_FORMAT_TEXT)
	{
		if (f.total > 0 || !strata_explain_is_brief(es))
			show_figures("Batches", &f, es);
		return;
	}
	ExplainPropertyInteger("Batches Total", NULL, f.total, es);
	ExplainPropertyInteger("Batches Pruned by Segment", NULL, f.by_segment,
						   es);
	ExplainPropertyInteger("Batches Pruned by Min-Max", NULL, f.by_range, es);
	if (scan->joins != NIL)
		ExplainPropertyInteger("Batches Pruned by Join", NULL, f.by_join, es);
	if (scan->info.access == STRATA_ACCESS_INDEX)
		ExplainPropertyInteger("Batches Pruned by Index", NULL, f.by_index,
							   es);
	ExplainPropertyInteger("Batches Scanned", NULL, f.scanned, es);
	ExplainPropertyInteger("Batches Counted", NULL, f.counted, es);
	if (scan->sweeper != NULL)
		ExplainPropertyInteger("Batches Deleted Whole", NULL, f.swept, es);
	ExplainPropertyInteger("Batches Not Reached", NULL, f.not_reached, es);
}

/* Has nothing been asked of the scan? */
static bool
was_never_read(const StrataScanState *scan)
{
	const StrataCounters *c = &scan->counters;

	return c->loops == 0 && c->considered == 0 && c->heap_rows == 0 &&
		(scan->css.ss.ps.instrument == NULL ||
		 scan->css.ss.ps.instrument->nloops == 0);
}

/* All scans of a plan together. */
typedef struct AllScans
{
	int			nscans;
	int			nread;
	BatchFigures figures;
	int64		heap_rows;
} AllScans;

/* Add what a scan has read; go down to those below other nodes. */
static bool
add_scan(PlanState *node, void *context)
{
	StrataScanState *scan = strata_scan_state(node);
	AllScans   *all = context;
	BatchFigures f;

	if (scan == NULL)
		return planstate_tree_walker(node, add_scan, context);
	all->nscans++;
	if (was_never_read(scan))
		return false;
	all->nread++;
	count_figures(scan, &f);
	all->figures.total += f.total;
	all->figures.by_segment += f.by_segment;
	all->figures.by_range += f.by_range;
	all->figures.by_join += f.by_join;
	all->figures.by_index += f.by_index;
	all->figures.scanned += f.scanned;
	all->figures.counted += f.counted;
	all->figures.swept += f.swept;
	all->figures.not_reached += f.not_reached;
	all->heap_rows += scan->counters.heap_rows;
	return false;
}

/* See scan_vector.h. */
void
strata_scan_explain_all(CustomScanState *above, ExplainState *es)
{
	AllScans	all = {0};
	ListCell   *lc;

	if (!es->analyze)
		return;
	foreach(lc, above->custom_ps)
		(void) add_scan(lfirst(lc), &all);
	if (all.nscans < 2 || es->format != EXPLAIN_FORMAT_TEXT)
		return;
	ExplainPropertyText("Tables Read",
						psprintf("%d of %d", all.nread, all.nscans), es);
	if (all.figures.total > 0)
		show_figures("All Batches", &all.figures, es);
	strata_explain_count("All Rows From Row Store", all.heap_rows, es);
}

/* How rows are found and filtered: what follows from the plan alone. */
static void
show_plan(StrataScanState *scan, List *ancestors, ExplainState *es)
{
	TupleDesc	desc = RelationGetDescr(scan->css.ss.ss_currentRelation);
	StrataLayout *layout = strata_layout_parse(scan->info.layout,
											   desc->natts);

	show_access(scan, es);
	show_merge_order(scan, es);
	show_quals(scan, layout, ancestors, es);
	show_text("Join Filter", strata_scan_join_columns(scan), es);
	show_together(scan, layout, ancestors, es);
	show_not_vectorized(scan, layout, ancestors, es);
	if (scan->info.note[0] != '\0')
		ExplainPropertyText("Aggregate Not Vectorized",
							psprintf("because %s", scan->info.note), es);
}

/* Is the scan one of several, as the chunks of a hypertable are? */
static bool
is_one_of_several(List *ancestors)
{
	return ancestors != NIL &&
		(IsA(linitial(ancestors), Append) ||
		 IsA(linitial(ancestors), MergeAppend));
}

/*
 * Take the lines from start on out again, when they are those that were said
 * of another chunk last.
 */
static void
forget_repeated(StringInfo str, int start)
{
	static char *said = NULL;	/* maybe by an EXPLAIN before this one */
	char	   *lines = pstrdup(str->data + start);
	bool		repeated = false;

	if (said != NULL && strcmp(said, lines) == 0)
	{
		str->data[start] = '\0';
		repeated = strstr(str->data, lines) != NULL;
		str->len = start;
		if (!repeated)
			appendStringInfoString(str, lines);
	}
	if (!repeated)
	{
		if (said != NULL)
			pfree(said);
		said = MemoryContextStrdup(TopMemoryContext, lines);
	}
	pfree(lines);
}

/* See scan_private.h. */
void
strata_scan_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	StrataScanState *scan = (StrataScanState *) node;
	bool		brief = strata_explain_is_brief(es);
	int			start = es->str->len;

	if (es->analyze && brief && was_never_read(scan))
	{
		if (is_one_of_several(ancestors))
			strata_scan_explain_unread(es->str);
		return;
	}
	show_plan(scan, ancestors, es);
	if (brief && is_one_of_several(ancestors))
		forget_repeated(es->str, start);
	if (!es->analyze)
		return;
	show_batches(scan, es);
	strata_explain_count("Columns Decoded", scan->counters.columns_decoded,
						 es);
	strata_explain_count("Rows Filtered (vectorized)",
						 scan->counters.rows_filtered, es);
	strata_explain_count("Rows From Row Store", scan->counters.heap_rows, es);
	if (es->verbose)
		strata_explain_count("Rows Read As Columns",
							 scan->counters.column_rows, es);
	if (scan->nswept_rows > 0)
		ExplainPropertyInteger("Rows Deleted Together", NULL,
							   scan->nswept_rows, es);
	if (scan->nindexed > 0)
		ExplainPropertyInteger("Row Store Scans By Index", NULL,
							   scan->nindexed, es);
}
