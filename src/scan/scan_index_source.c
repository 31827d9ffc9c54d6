/*-------------------------------------------------------------------------
 *
 * scan_index_source.c
 *	  Batches found by indexes of the table: the batches themselves.
 *
 * Each qual that the planned indexes can answer gives ranges of row numbers,
 * and what all of them have in common is read.  An OR is answered where each
 * of its arguments is, an AND below it where one is.
 *
 * src/scan/scan_index_source.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "index/index.h"
#include "scan/scan_source_private.h"
#include "store/store_companion.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

/* An index by which the plan looks for batches. */
typedef struct IndexUse
{
	Oid			index;
	AttrNumber	attno;
	Oid			function;		/* that hashes the column; of look-ups */
	StrataIndexLookup *lookup;	/* NULL: not asked yet */
} IndexUse;

/* What a leaf of the filter is looked up by; use NULL: by nothing. */
typedef struct LeafUse
{
	const FilterNode *leaf;
	IndexUse   *use;
	FmgrInfo	value;			/* hashes what the column is compared with */
} LeafUse;

/* An index whose operator classes are asked by the plan. */
typedef struct ClassUse
{
	Relation	index;
	StrataIndexProbe *probe;	/* NULL: not asked yet */
	bool		matched;		/* matches are known */
	List	   *matches;		/* ClassMatch */
} ClassUse;

/* A condition that it is asked for. */
typedef struct ClassMatch
{
	StrataIndexMatch match;
	ExprState  *value;
} ClassMatch;

struct StrataIndexSource
{
	MemoryContext mcxt;
	MemoryContext work;			/* ranges, and what leads to them */
	StrataStore *store;
	Snapshot	snapshot;
	List	   *uses;			/* IndexUse */
	List	   *class_uses;		/* ClassUse */
	List	   *leaves;			/* LeafUse */
	const StrataIndexRanges *narrow;	/* of these batches; NULL: of all */
	Relation	key;			/* the companion's index on first_row */
	IndexScanDesc scan;
	StrataIndexRange *ranges;
	int			nranges;
	int			at;				/* the range being read; -1, nranges: before,
								 * behind all */
};

static ClassUse *
open_class(Oid index)
{
	ClassUse   *use = palloc0(sizeof(ClassUse));

	use->index = index_open(index, AccessShareLock);
	return use;
}

/* See scan_source_private.h. */
StrataIndexSource *
strata_index_source_create(StrataStore *store, Snapshot snapshot,
						   const List *indexes)
{
	StrataIndexSource *source = palloc0(sizeof(StrataIndexSource));

	source->mcxt = CurrentMemoryContext;
	source->work = AllocSetContextCreate(CurrentMemoryContext,
										 "strata index ranges",
										 ALLOCSET_SMALL_SIZES);
	source->store = store;
	source->snapshot = snapshot;
	for (int i = 0; i + 1 < list_length(indexes); i += 2)
	{
		IndexUse   *use;

		if (!OidIsValid(list_nth_oid(indexes, i + 1)))
		{
			source->class_uses = lappend(source->class_uses,
										 open_class(list_nth_oid(indexes, i)));
			continue;
		}
		use = palloc0(sizeof(IndexUse));
		use->index = list_nth_oid(indexes, i);
		use->attno = (AttrNumber) list_nth_oid(indexes, i + 1);
		source->uses = lappend(source->uses, use);
	}
	source->key = index_open(strata_row_index_of(store->batches),
							 AccessShareLock);
	source->scan = strata_index_beginscan(store->batches, source->key,
										  snapshot, 2, 0);
	return source;
}

/* See scan_source_private.h. */
void
strata_index_source_narrow(StrataIndexSource *source,
						   const StrataIndexRanges *ranges)
{
	source->narrow = ranges;
}

/* The index that the leaf is looked up by; remembered. */
static LeafUse *
leaf_use(StrataIndexSource *source, const FilterNode *leaf)
{
	MemoryContext old;
	LeafUse    *found;
	Oid			column;
	Oid			value;
	ListCell   *lc;

	foreach(lc, source->leaves)
	{
		found = lfirst(lc);
		if (found->leaf == leaf)
			return found;
	}
	old = MemoryContextSwitchTo(source->mcxt);
	found = palloc0(sizeof(LeafUse));
	found->leaf = leaf;
	source->leaves = lappend(source->leaves, found);
	foreach(lc, source->uses)
	{
		IndexUse   *use = lfirst(lc);

		if (use->attno != leaf->attno || !OidIsValid(leaf->opno) ||
			!(leaf->op == FILTER_IN ||
			  leaf->strategy == BTEqualStrategyNumber) ||
			!strata_index_can_look_up(leaf->opno, leaf->collation, &column,
									  &value) ||
			(use->lookup != NULL && use->function != column))
			continue;
		found->use = use;
		fmgr_info_cxt(value, &found->value, source->mcxt);
		if (use->lookup == NULL)
			use->lookup = strata_index_lookup_begin(source->store->batches,
													source->snapshot,
													use->attno, column);
		use->function = column;
		break;
	}
	MemoryContextSwitchTo(old);
	return found;
}

/* Hashes of what the column is compared with; returns how many. */
static int
hash_sought(LeafUse *found, uint32 **hashes)
{
	const FilterNode *leaf = found->leaf;
	int			n = leaf->op == FILTER_IN ? leaf->nvalues : 1;

	if (leaf->never)
		n = 0;

	*hashes = palloc_array(uint32, Max(n, 1));
	for (int i = 0; i < n; i++)
		(*hashes)[i] =
			DatumGetUInt32(FunctionCall1Coll(&found->value, leaf->collation,
											 leaf->op == FILTER_IN ?
											 leaf->values[i] : leaf->value));
	return n;
}

/* Ranges of row numbers; NULL: all batches must be read. */
static StrataIndexRanges *
tree_ranges(StrataIndexSource *source, const FilterNode *node)
{
	StrataIndexRanges *result = NULL;
	LeafUse    *found;
	uint32	   *hashes;
	int			n;

	CHECK_FOR_INTERRUPTS();
	switch (node->op)
	{
		case FILTER_AND:
		case FILTER_OR:
			for (int i = 0; i < node->nargs; i++)
			{
				StrataIndexRanges *arg = tree_ranges(source, node->args[i]);

				if (arg == NULL && node->op == FILTER_OR)
					return NULL;
				if (arg != NULL)
					result = result == NULL ? arg :
						node->op == FILTER_OR ?
						strata_ranges_union(result, arg) :
						strata_ranges_common(result, arg);
			}
			return result;
		case FILTER_COMPARE:
		case FILTER_IN:
			found = node->pending ? NULL : leaf_use(source, node);
			if (found == NULL || found->use == NULL)
				return NULL;
			n = hash_sought(found, &hashes);
			return strata_index_lookup_find(found->use->lookup, hashes, n);
		default:
			return NULL;
	}
}

/* Find the conditions that the classes of an index are asked for. */
static void
match_class(StrataIndexSource *source, ClassUse *use,
			const StrataFilter *filter)
{
	MemoryContext old = MemoryContextSwitchTo(source->mcxt);

	for (int i = 0; i < filter->nquals; i++)
	{
		StrataIndexMatch match;
		ClassMatch *found;

		if (!filter->quals[i].promotable || /* scan:R4 */
			!strata_index_match(use->index, filter->varno,
								filter->quals[i].clause, &match))
			continue;
		found = palloc0(sizeof(ClassMatch));
		found->match = match;
		found->value = ExecInitExpr(match.value, filter->parent);
		use->matches = lappend(use->matches, found);
	}
	use->matched = true;
	use->probe = strata_index_probe_begin(source->store->batches,
										  source->snapshot, use->index);
	MemoryContextSwitchTo(old);
}

/* Where no row can be but in batches that nothing is known of. */
static StrataIndexRanges *
no_ranges(void)
{
	StrataIndexRanges *result = palloc0(sizeof(StrataIndexRanges));

	result->ranges = palloc_array(StrataIndexRange, 1);
	return result;
}

/*
 * What an index's classes leave: conditions on single values together, and
 * those on lists one value after the other.  NULL: all batches.
 */
static StrataIndexRanges *
class_ranges(ClassUse *use, ExprContext *econtext)
{
	StrataIndexRanges *result = NULL;
	ScanKey		keys = palloc_array(ScanKeyData,
									Max(list_length(use->matches), 1));
	int			nkeys = 0;
	ListCell   *lc;

	foreach(lc, use->matches)
	{
		const ClassMatch *found = lfirst(lc);
		StrataIndexRanges *any;
		ScanKey		listed;
		bool		isnull;
		Datum		value = ExecEvalExpr(found->value, econtext, &isnull);
		Datum	   *values;
		int			n;

		/* operators of an index are strict */
		if (isnull)
			return no_ranges();
		if (!found->match.is_array)
		{
			strata_index_match_key(&found->match, value, &keys[nkeys++]);
			continue;
		}
		values = strata_index_match_values(&found->match, value, &n);
		if (n == 0)
			return no_ranges();
		listed = palloc_array(ScanKeyData, n);
		for (int i = 0; i < n; i++)
			strata_index_match_key(&found->match, values[i], &listed[i]);
		any = strata_index_probe_find_any(use->probe, listed, n);
		if (any != NULL)
			result = result == NULL ? any : strata_ranges_common(result, any);
	}
	/* the predicate of an index is a condition, too */
	if (nkeys > 0 || use->matches == NIL)
	{
		StrataIndexRanges *all = strata_index_probe_find(use->probe, keys,
														 nkeys);

		result = result == NULL ? all : strata_ranges_common(result, all);
	}
	return result;
}

/* What the quals that can be looked up have in common. */
static const StrataIndexRanges *
filter_ranges(StrataIndexSource *source, const StrataFilter *filter)
{
	const StrataIndexRanges *result = source->narrow;
	ListCell   *lc;

	for (int i = 0; i < filter->nown; i++)
	{
		StrataIndexRanges *ranges;

		if (!filter->quals[i].promotable)	/* scan:R4 */
			continue;
		ranges = tree_ranges(source, filter->quals[i].tree);
		if (ranges != NULL)
			result = result == NULL ? ranges :
				strata_ranges_common(result, ranges);
	}
	foreach(lc, source->class_uses)
	{
		ClassUse   *use = lfirst(lc);
		StrataIndexRanges *ranges;

		if (!use->matched)
			match_class(source, use, filter);
		ranges = class_ranges(use, filter->parent->ps_ExprContext);
		if (ranges != NULL)
			result = result == NULL ? ranges :
				strata_ranges_common(result, ranges);
	}
	return result;
}

/* See scan_source_private.h. */
void
strata_index_source_start(StrataIndexSource *source,
						  const StrataFilter *filter, ScanDirection direction)
{
	MemoryContext old;
	const StrataIndexRanges *ranges;

	MemoryContextReset(source->work);
	old = MemoryContextSwitchTo(source->work);
	ranges = filter_ranges(source, filter);
	if (ranges != NULL)
	{
		source->ranges = ranges->ranges;
		source->nranges = ranges->n;
	}
	else
	{
		source->ranges = palloc0_array(StrataIndexRange, 1);
		source->ranges[0].to = STRATA_BATCH_MAX_ROW_NUMBER + 1;
		source->nranges = 1;
	}
	/* most often there are no batches that nothing is known of */
	if (source->nranges > 0 &&
		source->ranges[source->nranges - 1].from >
		strata_companion_greatest_key(source->store->batches, source->key))
		source->nranges--;
	source->at = ScanDirectionIsBackward(direction) ? source->nranges : -1;
	MemoryContextSwitchTo(old);
}

/* See scan_source_private.h. */
bool
strata_index_source_next(StrataIndexSource *source, ScanDirection direction,
						 TupleTableSlot *slot)
{
	int			step = ScanDirectionIsBackward(direction) ? -1 : 1;

	for (;;)
	{
		ScanKeyData keys[2];

		if (source->at >= 0 && source->at < source->nranges &&
			strata_index_getnext_slot(source->scan, direction, slot))
			return true;
		if (source->at == (step > 0 ? source->nranges : -1))
			return false;
		source->at += step;
		if (source->at < 0 || source->at >= source->nranges)
			return false;
		CHECK_FOR_INTERRUPTS();
		ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
					Int64GetDatum(source->ranges[source->at].from));
		ScanKeyInit(&keys[1], 1, BTLessStrategyNumber, F_INT8LT,
					Int64GetDatum(source->ranges[source->at].to));
		index_rescan(source->scan, keys, 2, NULL, 0);
	}
}

/* See scan_source_private.h. */
void
strata_index_source_end(StrataIndexSource *source)
{
	ListCell   *lc;

	foreach(lc, source->uses)
	{
		const IndexUse *use = lfirst(lc);

		if (use->lookup != NULL)
			strata_index_lookup_end(use->lookup);
	}
	foreach(lc, source->class_uses)
	{
		const ClassUse *use = lfirst(lc);

		if (use->probe != NULL)
			strata_index_probe_end(use->probe);
		index_close(use->index, NoLock);
	}
	index_endscan(source->scan);
	index_close(source->key, NoLock);
}
