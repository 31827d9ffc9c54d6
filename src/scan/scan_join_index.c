/*-------------------------------------------------------------------------
 *
 * scan_join_index.c
 *	  Batch indexes are asked for the values that joins above have.
 *
 * Values of a join's inner side become quals of a scan (scan_join.c).  Minima
 * and maxima say little of values in no order; where an index of the table
 * leads to batches by the column, all values are looked up in it at once,
 * before batches are read.  Whether that pays nobody has planned.  So it ends
 * where values lead to nearly all batches, and is not begun with so many that
 * looking for them costs what reading a share of the batches does.
 *
 * What is found are ranges of row numbers.  Where they leave few batches, and
 * the plan reads all, these are read by their numbers; else each batch is
 * asked whether it is in them, whichever way it came.
 *
 * src/scan/scan_join_index.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "index/index.h"
#include "scan/scan_join_private.h"
#include "scan/scan_private.h"

#include "utils/memutils.h"

/* Values for each batch: more are not looked up. */
#define VALUES_PER_BATCH 16

/*
 * Places for each batch: more leave hardly a batch out.  (Of batches that are
 * met at random so often one in seven is not.)
 */
#define PLACES_PER_BATCH 2

/* Batches are read by their numbers where they are no more than a quarter. */
#define SHARE_TO_SEEK 0.25

/* Where values of the key are; NULL: no index says, or that does not pay. */
static StrataIndexRanges *
find_values(StrataScanState *scan, StrataJoinKey *key, const FilterNode *leaf)
{
	StrataStore *store = scan->store;
	Snapshot	snapshot = scan->css.ss.ps.state->es_snapshot;
	int			nvalues = strata_join_key_nvalues(key);
	StrataIndexRanges *ranges;
	StrataIndexLookup *lookup;
	StrataIndexShape shape;
	StrataStoreSize size;
	Oid			column;
	Oid			value;

	if (!OidIsValid(leaf->opno) ||
		!strata_index_can_look_up(leaf->opno, leaf->collation, &column,
								  &value) ||
		!OidIsValid(strata_index_of_column(store->rel, leaf->attno)) ||
		!strata_index_shape(store, snapshot, leaf->attno, &shape) ||
		shape.function != column)
		return NULL;
	strata_store_estimate_size(store->batches, &size);
	if (nvalues > size.batches * VALUES_PER_BATCH)
		return NULL;
	lookup = strata_index_lookup_begin(store->batches, snapshot, leaf->attno,
									   column);
	ranges = strata_index_lookup_few(lookup,
									 strata_join_key_hashes(key, value),
									 nvalues, (int) Min(size.batches *
														PLACES_PER_BATCH,
														PG_INT32_MAX));
	strata_index_lookup_end(lookup);
	return ranges;
}

/* See scan_join_private.h. */
void
strata_scan_look_up_join(StrataScanState *scan, StrataJoinKey *key,
						 const FilterNode *leaf)
{
	MemoryContext old;
	StrataIndexRanges *ranges;

	/* workers would each look up the same */
	if (!strata_enable_batch_index || scan->parallel != NULL ||
		scan->store == NULL)
		return;
	old = MemoryContextSwitchTo(scan->mcxt);
	ranges = find_values(scan, key, leaf);
	if (ranges != NULL)
	{
		scan->join_ranges = scan->join_ranges == NULL ? ranges :
			strata_ranges_common(scan->join_ranges, ranges);
		scan->join_indexes =
			list_append_unique_oid(scan->join_indexes,
								   strata_index_of_column(scan->store->rel,
														  leaf->attno));
	}
	MemoryContextSwitchTo(old);
}

/* Are the ranges of few of the batches? */
static bool
leaves_few(StrataScanState *scan)
{
	double		numbers =
	strata_scan_row_numbers(scan->store, scan->css.ss.ps.state->es_snapshot);
	double		found = 0;

	for (int i = 0; i < scan->join_ranges->n; i++)
	{
		const StrataIndexRange *range = &scan->join_ranges->ranges[i];

		found += Max(Min((double) range->to, numbers) - (double) range->from,
					 0);
	}
	return found <= numbers * SHARE_TO_SEEK;
}

/* See scan_join_private.h. */
void
strata_scan_seek_join(StrataScanState *scan)
{
	MemoryContext old;

	if (scan->join_ranges == NULL)
		return;
	if (scan->info.access == STRATA_ACCESS_SEQ && leaves_few(scan))
	{
		strata_source_end(scan->source);
		old = MemoryContextSwitchTo(scan->mcxt);
		scan->info.access = STRATA_ACCESS_INDEX;
		scan->sought_by_join = true;
		scan->source =
			strata_source_create(scan->store,
								 scan->css.ss.ps.state->es_snapshot,
								 scan->info.access, scan->info.layout, false,
								 NIL);
		MemoryContextSwitchTo(old);
	}
	strata_source_narrow(scan->source, scan->join_ranges);
}
