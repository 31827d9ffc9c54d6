/*-------------------------------------------------------------------------
 *
 * change_place.c
 *	  Unique keys that a batch index of the table leads to.
 *
 * A key that does not contain the segment may be in any batch.  Where one of
 * its columns has a batch index, that leads to the few which may have the
 * value; others need not be looked at.  What is found so is compared as ever.
 *
 * Runs may be read with a later snapshot than the batches were: a run that
 * lacks a batch was made when that was deleted for good (index:I1).
 *
 * src/change/change_place.c
 *-------------------------------------------------------------------------
 */
#include "change/change_place_private.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "store/store_companion.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/* See change_private.h. */
void
strata_key_place_choose(StrataStore *store, Snapshot snapshot, Relation index,
						StrataKeyPlace *place)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		Oid			type = index->rd_opcintype[i];
		StrataIndexShape shape;

		place->attno = index->rd_index->indkey.values[i];
		place->collation = index->rd_indcollation[i];
		/* what the index finds equal must have equal hashes */
		if (place->attno > 0 &&
			OidIsValid(strata_index_of_column(store->rel, place->attno)) &&
			strata_index_can_look_up(get_opfamily_member(index->rd_opfamily[i],
														 type, type,
														 BTEqualStrategyNumber),
									 place->collation, &place->column,
									 &place->value) &&
			strata_index_shape(store, snapshot, place->attno, &shape) &&
			shape.function == place->column)
		{
			place->position = i;
			place->entries = shape.entries;
			return;
		}
	}
	place->position = -1;
}

/* See change_private.h. */
int
strata_key_place_find(const StrataKeyPlace *place, Relation batches,
					  Snapshot snapshot, Datum value,
					  StrataIndexRange **ranges)
{
	uint32		hash =
	DatumGetUInt32(OidFunctionCall1Coll(place->value, place->collation,
										value));
	StrataIndexLookup *lookup = strata_index_lookup_begin(batches, snapshot,
														  place->attno,
														  place->column);
	StrataIndexRanges *found = strata_index_lookup_find(lookup, &hash, 1);

	*ranges = found->ranges;
	strata_index_lookup_end(lookup);
	return found->n;
}

/* See change_place_private.h. */
void
strata_key_places_begin(StrataPlaceScan *scan, Relation batches,
						Snapshot snapshot, const StrataIndexRange *ranges,
						int n)
{
	scan->ranges = ranges;
	scan->n = n;
	scan->at = -1;
	scan->numbers = index_open(strata_row_index_of(batches), AccessShareLock);
	if (n > 0 && ranges[n - 1].from >
		strata_companion_greatest_key(batches, scan->numbers))
		scan->n--;
	scan->scan = strata_index_beginscan(batches, scan->numbers, snapshot, 2,
										0);
}

/* See change_place_private.h. */
bool
strata_key_places_next(StrataPlaceScan *scan, TupleTableSlot *slot)
{
	for (;;)
	{
		const StrataIndexRange *range;
		ScanKeyData keys[2];

		if (scan->at >= 0 &&
			strata_index_getnext_slot(scan->scan, ForwardScanDirection, slot))
			return true;
		if (++scan->at == scan->n)
			return false;
		range = &scan->ranges[scan->at];
		ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
					Int64GetDatum(range->from));
		ScanKeyInit(&keys[1], 1, BTLessStrategyNumber, F_INT8LT,
					Int64GetDatum(range->to));
		index_rescan(scan->scan, keys, 2, NULL, 0);
	}
}

/* See change_place_private.h. */
void
strata_key_places_end(StrataPlaceScan *scan)
{
	index_endscan(scan->scan);
	index_close(scan->numbers, AccessShareLock);
}
