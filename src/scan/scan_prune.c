/*-------------------------------------------------------------------------
 *
 * scan_prune.c
 *	  What a batch's metadata says of the quals, before anything is decoded.
 *
 * Two sources.  Segmentby columns are constant in a batch, so a qual of those
 * alone is evaluated once, exactly, whatever it is.  For the rest, minima,
 * maxima and null counts bound the columns, and the quals' trees are evaluated
 * on the bounds with three outcomes: no row, every row, or unknown.
 *
 * A qual that reads only segmentby columns is evaluated here, ahead of the
 * others, when it cannot raise an error or nothing stands left of it: an error
 * must not come from a batch all of whose rows an earlier qual rejects, or of
 * which no row is left.
 *
 * A batch is judged by its own layout; what the companion does not keep, or
 * keeps with another type or collation than the column has now, bounds
 * nothing.
 *
 * src/scan/scan_prune.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "scan/filter_subplan_private.h"
#include "scan/filter_kernel_private.h"
#include "scan/scan_source_private.h"
#include "store/store.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/memutils.h"

struct StrataPruner
{
	StrataFilter *filter;
	const StrataBatchSchema *schema;
	const StrataLayout *layout; /* that hoisted is about */
	bool	   *hoisted;		/* per qual: evaluated once per batch */
};

/* Memory: the current context. */
StrataPruner *
strata_pruner_create(StrataFilter *filter, const StrataBatchSchema *schema)
{
	StrataPruner *pruner = palloc0(sizeof(StrataPruner));

	pruner->filter = filter;
	pruner->schema = schema;
	pruner->hoisted = palloc0(sizeof(bool) * Max(filter->nmax, 1));
	return pruner;
}

/* See scan_source_private.h. */
bool
strata_prune_is_segment_qual(const StrataLayout *layout,
							 const StrataQual *qual)
{
	int			attno = -1;

	if (!qual->stable || !qual->promotable || qual->rows_only)
		return false;
	while ((attno = bms_next_member(qual->attnos, attno)) >= 0)
		if (strata_layout_segment_index(layout, attno) < 0)
			return false;
	return true;
}

/* Decide which quals are evaluated once per batch of this layout. */
static void
set_layout(StrataPruner *pruner, const StrataLayout *layout)
{
	bool		all_hoisted = true;

	for (int i = 0; i < pruner->filter->nown; i++)
	{
		const StrataQual *qual = &pruner->filter->quals[i];

		pruner->hoisted[i] = strata_prune_is_segment_qual(layout, qual) &&
			(qual->error_free || all_hoisted);
		if (!pruner->hoisted[i])
			all_hoisted = false;
	}
	pruner->layout = layout;
}

static bool
is_order_column(const StrataLayout *layout, AttrNumber attno)
{
	for (int i = 0; i < layout->norder; i++)
		if (layout->order[i].attno == attno)
			return true;
	return false;
}

/* See scan_source_private.h. */
bool
strata_prune_bounds(StrataBatchReader *reader, AttrNumber attno,
					Datum *min, Datum *max, bool *isnull)
{
	const StrataBatchSchema *schema = reader->schema;
	const StrataColumnSummary *summary;
	bool		max_isnull;

	if (!is_order_column(reader->layout, attno) ||
		schema->min_att[attno] == 0 || schema->max_att[attno] == 0 ||
		!strata_batch_schema_same_type(schema, attno,
									   schema->min_att[attno]) ||
		!strata_batch_schema_same_type(schema, attno, schema->max_att[attno]))
		return false;
	*min = strata_batch_reader_min(reader, attno, isnull);
	*max = strata_batch_reader_max(reader, attno, &max_isnull);
	if (!*isnull && !max_isnull)
		return true;
	/* null bounds say "all null" only together with the count */
	summary = strata_batch_reader_summary(reader, attno);
	*isnull = true;
	return summary != NULL && summary->nnulls == reader->nrows;
}

/* Is the column the same for every row of the batch, without decoding it? */
static bool
is_constant_column(StrataBatchReader *reader, AttrNumber attno)
{
	return strata_layout_segment_index(reader->layout, attno) >= 0 ||
		!strata_batch_reader_is_stored(reader, attno);
}

/* See scan_vector.h. */
void
strata_scan_batch_bounds(StrataBatchReader *reader, AttrNumber attno,
						 StrataBatchBounds *facts)
{
	const StrataColumnSummary *summary;
	bool		isnull;

	memset(facts, 0, sizeof(*facts));
	if (is_constant_column(reader, attno))
	{
		StrataColumn *col = strata_batch_reader_column(reader, attno);

		facts->nnulls = col->value_isnull ? reader->nrows : 0;
		facts->has_min = facts->has_max = !col->value_isnull;
		facts->min = facts->max = col->value;
		return;
	}
	summary = strata_batch_reader_summary(reader, attno);
	facts->nnulls = summary != NULL ? summary->nnulls : -1;
	if (strata_prune_bounds(reader, attno, &facts->min, &facts->max, &isnull))
		facts->has_min = facts->has_max = !isnull;
	else if (summary != NULL && summary->has_range)
	{
		facts->has_min = true;
		facts->min = summary->min;
		/* NaN is above every maximum, and not in it */
		facts->has_max = !summary->has_nan;
		facts->max = summary->max;
	}
}

static int
compare_bound(const FilterNode *leaf, Datum column, Datum value)
{
	return DatumGetInt32(FunctionCall2Coll(leaf->cmp, leaf->collation, column,
										   value));
}

/* See scan_source_private.h. */
StrataVerdict
strata_prune_compare(int strategy, const int *lo, const int *hi)
{
	bool		none = false;
	bool		all = false;

	switch (strategy)
	{
		case BTLessStrategyNumber:
			none = lo && *lo >= 0;
			all = hi && *hi < 0;
			break;
		case BTLessEqualStrategyNumber:
			none = lo && *lo > 0;
			all = hi && *hi <= 0;
			break;
		case BTEqualStrategyNumber:
			none = (lo && *lo > 0) || (hi && *hi < 0);
			all = lo && hi && *lo == 0 && *hi == 0;
			break;
		case BTGreaterEqualStrategyNumber:
			none = hi && *hi < 0;
			all = lo && *lo >= 0;
			break;
		case BTGreaterStrategyNumber:
			none = hi && *hi <= 0;
			all = lo && *lo > 0;
			break;
		default:
			none = lo && hi && *lo == 0 && *hi == 0;
			all = (lo && *lo > 0) || (hi && *hi < 0);
			break;
	}
	Assert(!(none && all) || (lo && hi && *lo > *hi));	/* scan:R6 */
	return none ? STRATA_NONE : all ? STRATA_ALL : STRATA_SOME;
}

/*
 * column = ANY of values that ascend, or of a span: by the first that is not
 * below
 */
static StrataVerdict
sorted_list_verdict(const FilterNode *leaf, const StrataBatchBounds *facts,
					bool nonnull)
{
	int			from = 0;
	int			to = facts->has_min ? leaf->nvalues : 0;
	int			hi;

	while (from < to)
	{
		int			middle = from + (to - from) / 2;

		if (compare_bound(leaf, facts->min, leaf->highs[middle]) > 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == leaf->nvalues)
		return STRATA_NONE;
	hi = facts->has_max ? compare_bound(leaf, facts->max, leaf->lows[from]) :
		1;
	if (hi < 0)
		return STRATA_NONE;
	if (leaf->keys.places != NULL && facts->has_min && facts->has_max &&
		!strata_filter_meets_places(leaf, facts->min, facts->max))
		return STRATA_NONE;
	return hi == 0 && nonnull && facts->has_min &&
		compare_bound(leaf, facts->min, leaf->highs[from]) == 0 ?
		STRATA_ALL : STRATA_SOME;
}

/* column = ANY, column <> ALL: by the elements that lie within the bounds */
static StrataVerdict
list_verdict(const FilterNode *leaf, const StrataBatchBounds *facts,
			 bool nonnull)
{
	bool		possible = false;
	bool		certain = false;

	if (leaf->sorted)
		return sorted_list_verdict(leaf, facts, nonnull);
	for (int i = 0; i < leaf->nvalues && !possible; i++)
	{
		int			lo;
		int			hi;

		lo = facts->has_min ? compare_bound(leaf, facts->min, leaf->highs[i]) :
			-1;
		hi = facts->has_max ? compare_bound(leaf, facts->max, leaf->lows[i]) :
			1;
		possible = lo <= 0 && hi >= 0;
		certain = lo == 0 && hi == 0;
	}
	if (leaf->op == FILTER_IN)
		return !possible ? STRATA_NONE :
			(certain && nonnull) ? STRATA_ALL :
			STRATA_SOME;
	return certain ? STRATA_NONE :
		(!possible && nonnull) ? STRATA_ALL :
		STRATA_SOME;
}

/*
 * What the bounds of a column say of a condition: no row passes, all do, or
 * some may.
 */
static StrataVerdict
range_verdict(const FilterNode *leaf, StrataBatchReader *reader)
{
	StrataBatchBounds facts;
	StrataVerdict verdict;
	bool		nonnull;
	int			lo = 0;
	int			hi = 0;

	if (leaf->cmp == NULL)
		return STRATA_SOME;
	Assert(leaf->order != STRATA_ORDER_NONE);	/* scan:R6 */
	strata_scan_batch_bounds(reader, leaf->attno, &facts);
	if (facts.nnulls == reader->nrows)
		return STRATA_NONE;		/* operators are strict */
	nonnull = facts.nnulls == 0;
	if (leaf->op != FILTER_COMPARE)
		return list_verdict(leaf, &facts, nonnull);
	if (facts.has_min)
		lo = compare_bound(leaf, facts.min, leaf->high);
	if (facts.has_max)
		hi = compare_bound(leaf, facts.max, leaf->low);
	verdict = strata_prune_compare(leaf->strategy, facts.has_min ? &lo : NULL,
								   facts.has_max ? &hi : NULL);
	return verdict == STRATA_ALL && !nonnull ? STRATA_SOME : verdict;
}

static StrataVerdict
leaf_verdict(const FilterNode *leaf, StrataBatchReader *reader)
{
	if (leaf->pending)
		return STRATA_SOME;
	if (leaf->never)
		return STRATA_NONE;
	if (leaf->always)
		return STRATA_ALL;
	return range_verdict(leaf, reader);
}

static StrataVerdict
null_verdict(const FilterNode *leaf, StrataBatchReader *reader)
{
	StrataBatchBounds facts;
	bool		wanted = leaf->op == FILTER_IS_NULL;

	strata_scan_batch_bounds(reader, leaf->attno, &facts);
	if (facts.nnulls == 0)
		return wanted ? STRATA_NONE : STRATA_ALL;
	if (facts.nnulls == reader->nrows)
		return wanted ? STRATA_ALL : STRATA_NONE;
	return STRATA_SOME;
}

/* The same of a tree of conditions. */
static StrataVerdict
tree_verdict(const FilterNode *node, StrataBatchReader *reader)
{
	StrataVerdict decisive;
	StrataVerdict result;

	switch (node->op)
	{
		case FILTER_AND:
		case FILTER_OR:
			decisive = node->op == FILTER_AND ? STRATA_NONE : STRATA_ALL;
			result = node->op == FILTER_AND ? STRATA_ALL : STRATA_NONE;
			for (int i = 0; i < node->nargs; i++)
			{
				StrataVerdict v = tree_verdict(node->args[i], reader);

				if (v == decisive)
					return v;
				if (v == STRATA_SOME)
					result = STRATA_SOME;
			}
			return result;
		case FILTER_CONST:
			return node->truth ? STRATA_ALL : STRATA_NONE;
		case FILTER_COMPARE:
		case FILTER_IN:
		case FILTER_NOT_IN:
			return leaf_verdict(node, reader);
		case FILTER_IS_NULL:
		case FILTER_IS_NOT_NULL:
			return null_verdict(node, reader);
		case FILTER_EXPR:
		case FILTER_OPAQUE:
			break;
	}
	return STRATA_SOME;
}

/* See filter_private.h. */
StrataVerdict
strata_filter_bounds_verdict(const FilterNode *tree, StrataFilterRun *run)
{
	MemoryContext old;
	StrataVerdict verdict;

	if (!run->bounded || !strata_enable_pruning)
		return STRATA_SOME;
	old = MemoryContextSwitchTo(run->econtext->ecxt_per_tuple_memory);
	verdict = tree_verdict(tree, run->reader);
	MemoryContextSwitchTo(old);
	return verdict;
}

/*
 * Evaluate the quals that read segmentby columns only; false: one is not true.
 */
static bool
check_segment(StrataPruner *pruner, StrataFilterRun *run,
			  StrataEntries *entries, const bool *proven,
			  StrataVerdict *verdicts)
{
	const StrataLayout *layout = run->reader->layout;
	bool		loaded = false;
	bool		has_rows = false;

	for (int i = 0; i < pruner->filter->nquals; i++)
	{
		if (!pruner->hoisted[i])
			continue;
		if (proven != NULL && proven[i])
		{
			verdicts[i] = STRATA_ALL;
			continue;
		}
		for (int j = 0; j < layout->nsegment && !loaded; j++)
		{
			StrataColumn *col = strata_batch_reader_column(run->reader,
														   layout->segment[j]);

			Assert(col->constant);	/* scan:R7 */
			run->slot->tts_values[col->attno - 1] = col->value;
			run->slot->tts_isnull[col->attno - 1] = col->value_isnull;
		}
		loaded = true;
		run->econtext->ecxt_scantuple = run->slot;
		if (!pruner->filter->quals[i].error_free && !has_rows)
		{
			if (strata_entries_find(entries, run->reader->first_row,
									run->reader->nrows) >= run->reader->nrows)
				return false;
			has_rows = true;
		}
		if (!strata_qual_passes(pruner->filter,
								strata_qual_state(pruner->filter,
												  &pruner->filter->quals[i]),
								run->econtext))
			return false;
		verdicts[i] = STRATA_ALL;
	}
	return true;
}

/* See scan_source_private.h. */
StrataPruned
strata_prune_batch(StrataPruner *pruner, StrataFilterRun *run,
				   StrataEntries *entries, const bool *proven,
				   StrataVerdict *verdicts)
{
	MemoryContext old;
	StrataPruned result = STRATA_PRUNED_NOT;

	for (int i = 0; i < pruner->filter->nquals; i++)
		verdicts[i] = STRATA_SOME;
	if (!strata_enable_pruning || pruner->filter->nquals == 0)
		return result;
	if (pruner->layout != run->reader->layout)
		set_layout(pruner, run->reader->layout);
	Assert(run->reader->layout->norder == 0 ||
		   run->reader->layout->order != NULL); /* scan:R7 */

	old = MemoryContextSwitchTo(run->econtext->ecxt_per_tuple_memory);
	if (!check_segment(pruner, run, entries, proven, verdicts))
		result = STRATA_PRUNED_SEGMENT;
	for (int i = 0; i < pruner->filter->nquals && result == STRATA_PRUNED_NOT;
		 i++)
	{
		const StrataQual *qual = &pruner->filter->quals[i];

		if (verdicts[i] == STRATA_ALL || !qual->prunes)
			continue;
		verdicts[i] = tree_verdict(qual->tree, run->reader);
		if (verdicts[i] == STRATA_NONE)
			result = i < pruner->filter->nown ? STRATA_PRUNED_RANGE :
				STRATA_PRUNED_JOIN;
	}
	MemoryContextSwitchTo(old);
	ResetExprContext(run->econtext);
	return result;
}

/* Does the companion bound the column in batches of the layout? */
static bool
has_bounds(const StrataLayout *layout, const FilterNode *node)
{
	switch (node->op)
	{
		case FILTER_AND:
			for (int i = 0; i < node->nargs; i++)
				if (has_bounds(layout, node->args[i]))
					return true;
			return false;
		case FILTER_OR:
			for (int i = 0; i < node->nargs; i++)
				if (!has_bounds(layout, node->args[i]))
					return false;
			return true;
		case FILTER_COMPARE:
		case FILTER_IN:
		case FILTER_NOT_IN:
			return node->cmp != NULL &&
				(node->kind != FILTER_KIND_NONE ||
				 is_order_column(layout, node->attno) ||
				 strata_layout_segment_index(layout, node->attno) >= 0);
		case FILTER_EXPR:
		case FILTER_OPAQUE:
			return false;
		default:
			return true;
	}
}

/* See scan_source_private.h. */
bool
strata_prune_is_range_qual(const StrataLayout *layout, const StrataQual *qual)
{
	return qual->prunes && has_bounds(layout, qual->tree);
}
