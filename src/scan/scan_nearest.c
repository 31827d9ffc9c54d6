/*-------------------------------------------------------------------------
 *
 * scan_nearest.c
 *	  The rows nearest to a value: batches, and rows of the row store, by how
 *	  near they are at least.
 *
 * A GiST index of the table has a summary of each batch (index/), whose class
 * says how near to a value the nearest row in it may be.  Batches come with
 * these distances, the least first, and are looked for when their turn comes;
 * those that nothing is known of come before them.  Where other conditions
 * lead to few batches, the caller lists these and asks for their distances.
 * Rows of the row store come by the same index, in its order.
 *
 * src/scan/scan_nearest.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_subplan_private.h"
#include "scan/scan_private.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "base/compat.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "index/index.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "store/store_companion.h"
#include "utils/float.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

struct StrataNearest
{
	StrataScanState *scan;
	MemoryContext mcxt;			/* everything here */
	MemoryContext work;			/* of one value */
	Relation	index;
	ScanKeyData key;			/* with the value */
	Oid			type;			/* of distances */
	bool		askable;
	/* batches */
	StrataIndexProbe *probe;	/* NULL: not asked yet */
	StrataIndexNearest *found;	/* by number */
	StrataIndexNear *order;		/* the nearest first; NULL: not needed yet */
	Relation	numbers;		/* the companion's index on first_row */
	IndexScanDesc batches;
	int			at;				/* of order, which is being read; -1: those
								 * that nothing is known of */
	bool		reading;		/* batches stands in it */
	/* rows */
	IndexScanDesc rows;			/* NULL: not begun */
};

/* Open the index of R that gives such distances, and its key; or NULL. */
static Relation
open_index(Relation rel, AttrNumber attno, Oid opno, Oid collation,
		   ScanKey key)
{
	List	   *indexes = RelationGetIndexList(rel);
	Relation	found = NULL;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (strata_row_index_is_usable(index) &&
			strata_index_distance_key(index, attno, opno, collation, key) > 0)
		{
			found = index;
			break;
		}
		index_close(index, NoLock);
	}
	list_free(indexes);
	return found;
}

/* See scan_vector.h. */
bool
strata_scan_has_distances(Relation rel, AttrNumber attno, Oid opno,
						  Oid collation)
{
	ScanKeyData key;
	Relation	index;

	if (!strata_enable_batch_index)
		return false;
	index = open_index(rel, attno, opno, collation, &key);
	if (index != NULL)
		index_close(index, NoLock);
	return index != NULL;
}

/* See scan_vector.h. */
StrataNearest *
strata_scan_nearest_begin(PlanState *node, AttrNumber attno, Oid opno,
						  Oid collation)
{
	StrataScanState *scan = (StrataScanState *) node;
	ScanKeyData key;
	Relation	index = !strata_enable_batch_index ? NULL :
	open_index(scan->css.ss.ss_currentRelation, attno, opno, collation, &key);
	StrataNearest *nearest;

	if (index == NULL)
		return NULL;
	nearest = MemoryContextAllocZero(scan->mcxt, sizeof(StrataNearest));
	nearest->scan = scan;
	nearest->index = index;
	nearest->key = key;
	nearest->type = get_func_rettype(key.sk_func.fn_oid);
	nearest->mcxt = AllocSetContextCreate(scan->mcxt, "StrataScan distances",
										  ALLOCSET_DEFAULT_SIZES);
	nearest->work = AllocSetContextCreate(nearest->mcxt,
										  "StrataScan distances of a value",
										  ALLOCSET_DEFAULT_SIZES);
	return nearest;
}

/* See scan_vector.h. */
const char *
strata_scan_nearest_index(const StrataNearest *nearest)
{
	return RelationGetRelationName(nearest->index);
}

/* Forget the value that was asked for. */
static void
forget_value(StrataNearest *nearest)
{
	if (nearest->batches != NULL)
	{
		index_endscan(nearest->batches);
		index_close(nearest->numbers, NoLock);
	}
	if (nearest->rows != NULL)
	{
		ExecClearTuple(nearest->scan->table_slot);
		index_endscan(nearest->rows);
	}
	nearest->batches = NULL;
	nearest->rows = NULL;
	nearest->found = NULL;
	nearest->order = NULL;
	MemoryContextReset(nearest->work);
}

/* See scan_vector.h. */
void
strata_scan_nearest_ask(StrataNearest *nearest, Datum value)
{
	StrataScanState *scan = nearest->scan;
	MemoryContext old;

	forget_value(nearest);
	nearest->key.sk_argument = value;
	nearest->askable = strata_index_has_place(nearest->key.sk_subtype, value);
	strata_scan_open_store(scan);
	if (scan->store == NULL || !nearest->askable)
		return;
	old = MemoryContextSwitchTo(nearest->mcxt);
	if (nearest->probe == NULL)
		nearest->probe =
			strata_index_probe_begin(scan->store->batches,
									 scan->css.ss.ps.state->es_snapshot,
									 nearest->index);
	MemoryContextSwitchTo(nearest->work);
	nearest->found = strata_index_probe_nearest(nearest->probe, &nearest->key);
	MemoryContextSwitchTo(old);
}

/* See scan_vector.h. */
void
strata_scan_nearest_end(StrataNearest *nearest)
{
	forget_value(nearest);
	if (nearest->probe != NULL)
		strata_index_probe_end(nearest->probe);
	index_close(nearest->index, NoLock);
	MemoryContextDelete(nearest->mcxt);
	pfree(nearest);
}

/*-------------------------------------------------------------------------
 * Batches
 *-------------------------------------------------------------------------
 */

/* See scan_vector.h. */
double
strata_scan_nearest_distance(const StrataNearest *nearest,
							 const StrataBatchReader *reader)
{
	const StrataIndexNearest *found = nearest->found;
	int			low = 0;
	int			high = found != NULL ? found->n : 0;

	while (low < high)
	{
		int			middle = low + (high - low) / 2;

		if (found->batches[middle].first_row < reader->first_row)
			low = middle + 1;
		else
			high = middle;
	}
	return found != NULL && low < found->n &&
		found->batches[low].first_row == reader->first_row ?
		found->batches[low].distance : -get_float8_infinity();
}

/* See scan_vector.h. */
bool
strata_scan_nearest_leads(const StrataNearest *nearest)
{
	const StrataScanState *scan = nearest->scan;

	return scan->info.access == STRATA_ACCESS_SEQ && scan->joins == NIL &&
		scan->parallel == NULL && nearest->found != NULL &&
		nearest->found->n > 0;
}

static int
compare_distances(const void *a, const void *b)
{
	const StrataIndexNear *x = a;
	const StrataIndexNear *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->first_row < y->first_row ? -1 : x->first_row > y->first_row;
}

/* Stand before the first batch. */
static void
start_batches(StrataNearest *nearest)
{
	StrataScanState *scan = nearest->scan;
	const StrataIndexNearest *found = nearest->found;
	MemoryContext old = MemoryContextSwitchTo(nearest->work);

	Assert(!scan->batches_started); /* scan:R1 */
	strata_scan_start_batches(scan);
	scan->batches_before = false;
	nearest->order = palloc_array(StrataIndexNear, Max(found->n, 1));
	memcpy(nearest->order, found->batches,
		   sizeof(StrataIndexNear) * found->n);
	qsort(nearest->order, found->n, sizeof(StrataIndexNear),
		  compare_distances);
	nearest->numbers = index_open(strata_row_index_of(scan->store->batches),
								  AccessShareLock);
	nearest->batches =
		strata_index_beginscan(scan->store->batches, nearest->numbers,
							   scan->css.ss.ps.state->es_snapshot, 2, 0);
	nearest->at = -1;
	nearest->reading = false;
	MemoryContextSwitchTo(old);
}

/* Look for the batches with numbers in [from, to). */
static void
seek_batches(StrataNearest *nearest, int64 from, int64 to)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(from));
	ScanKeyInit(&keys[1], 1, BTLessStrategyNumber, F_INT8LT,
				Int64GetDatum(to));
	index_rescan(nearest->batches, keys, 2, NULL, 0);
	nearest->reading = true;
}

/* See scan_vector.h. */
StrataBatchReader *
strata_scan_nearest_next(StrataNearest *nearest, double limit,
						 double *distance)
{
	StrataScanState *scan = nearest->scan;

	ResetExprContext(scan->css.ss.ps.ps_ExprContext);
	if (nearest->order == NULL)
		start_batches(nearest);
	strata_batch_account(scan, scan->batch);
	for (;;)
	{
		StrataOpenBatch *batch = scan->batch;

		CHECK_FOR_INTERRUPTS();
		if (!nearest->reading)
		{
			if (nearest->at >= nearest->found->n ||
				(nearest->at >= 0 &&
				 nearest->order[nearest->at].distance > limit))
				break;
			if (nearest->at < 0)
				seek_batches(nearest, nearest->found->covered,
							 STRATA_BATCH_MAX_ROW_NUMBER + 1);
			else
				seek_batches(nearest, nearest->order[nearest->at].first_row,
							 nearest->order[nearest->at].first_row + 1);
		}
		if (!strata_index_getnext_slot(nearest->batches, ForwardScanDirection,
									   batch->batch_slot))
		{
			nearest->reading = false;
			nearest->at++;
			continue;
		}
		if (!strata_batch_load(scan, batch, false))
			continue;
		*distance = nearest->at < 0 ? -get_float8_infinity() :
			nearest->order[nearest->at].distance;
		return batch->reader;
	}
	scan->batches_done = true;
	scan->batch->vector.nrows = 0;
	return NULL;
}

/*-------------------------------------------------------------------------
 * Rows of the row store
 *-------------------------------------------------------------------------
 */

/* See scan_vector.h. */
bool
strata_scan_nearest_rows(StrataNearest *nearest)
{
	StrataScanState *scan = nearest->scan;
	Relation	rel = scan->css.ss.ss_currentRelation;
	MemoryContext old;

	if (!enable_indexscan || !nearest->askable || scan->child != NULL ||
		scan->heap_pscan != NULL || scan->heap_scan != NULL ||
		scan->row_index != NULL || scan->heap_done ||
		RelationGetNumberOfBlocks(rel) == 0)
		return false;
	Assert(scan->info.nkeys == 0 && nearest->rows == NULL); /* scan:R11 */
	/* what GiST does not free is gone with the value that is asked for */
	old = MemoryContextSwitchTo(nearest->work);
	nearest->rows = strata_index_beginscan(rel, nearest->index,
										   scan->css.ss.ps.state->es_snapshot,
										   0, 1);
	index_rescan(nearest->rows, NULL, 0, &nearest->key, 1);
	MemoryContextSwitchTo(old);
	return true;
}

/* How near the row is that the index stands at, as far as it says so. */
static double
entry_distance(IndexScanDesc desc, Oid type)
{
	if (desc->xs_orderbyvals == NULL)
		return -get_float8_infinity();
	if (type == FLOAT8OID)
		return desc->xs_orderbynulls[0] ? get_float8_infinity() :
			DatumGetFloat8(desc->xs_orderbyvals[0]);
	if (type == FLOAT4OID)
		return desc->xs_orderbynulls[0] ? get_float8_infinity() :
			DatumGetFloat4(desc->xs_orderbyvals[0]);
	/* of other types the index has an order, but no values */
	return -get_float8_infinity();
}

/* See scan_vector.h. */
TupleTableSlot *
strata_scan_nearest_next_row(StrataNearest *nearest, double limit,
							 bool *in_order)
{
	StrataScanState *scan = nearest->scan;
	PlanState  *node = &scan->css.ss.ps;
	ExprContext *econtext = node->ps_ExprContext;
	ExprState  *qual = strata_scan_qual(scan);
	TupleTableSlot *slot = NULL;

	if (node->instrument)
		InstrStartNode(node->instrument);
	ResetExprContext(econtext);
	while (slot == NULL &&
		   strata_index_getnext_tid(nearest->rows,
									ForwardScanDirection) != NULL &&
		   entry_distance(nearest->rows, nearest->type) <= limit)
	{
		CHECK_FOR_INTERRUPTS();
		if (!index_fetch_heap(nearest->rows, scan->table_slot))
			continue;
		econtext->ecxt_scantuple = scan->table_slot;
		if (qual == NULL || strata_qual_passes(scan->filter, qual, econtext))
		{
			slot = scan->table_slot;
			continue;
		}
		InstrCountFiltered1(&scan->css, 1);
		ResetExprContext(econtext);
	}
	*in_order = !nearest->rows->xs_recheckorderby;
	if (slot != NULL)
		scan->counters.heap_rows++;
	else
	{
		scan->heap_done = true;
		scan->nindexed++;
	}
	if (node->instrument)
		InstrStopNode(node->instrument, slot != NULL ? 1.0 : 0.0);
	return slot;
}
