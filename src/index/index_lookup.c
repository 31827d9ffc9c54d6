/*-------------------------------------------------------------------------
 *
 * index_lookup.c
 *	  From hashes to ranges of row numbers.
 *
 * The runs are read with the query's snapshot, as the batches are.  In each,
 * the row with the greatest first hash that is not above the one looked for is
 * found by the b-tree; that row may have it, and those before that begin with
 * it.  A row that was decoded last serves the next hash that lies in it.
 *
 * src/index/index_lookup.c
 *-------------------------------------------------------------------------
 */
#include "index/index_private.h"

#include "access/table.h"
#include "access/tableam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

struct StrataIndexLookup
{
	MemoryContext mcxt;			/* everything here */
	Relation	relation;		/* NULL: there is none */
	Relation	key;
	Snapshot	snapshot;
	List	   *runs;
	int64		covered;
	TupleTableSlot *slot;
	StrataIndexRow row;
	/* of one search */
	StrataIndexRange *found;
	int			nfound;
	int			size;
	int			max;			/* it ends when more are found */
};

/* See index_private.h. */
bool
strata_index_target_shape(StrataStore *store, Snapshot snapshot,
						  const StrataIndexTarget *target,
						  StrataIndexShape *shape)
{
	Oid			oid = strata_index_relation_oid(store->batches);
	Relation	relation;
	List	   *runs;
	ListCell   *lc;

	memset(shape, 0, sizeof(*shape));
	shape->function = target->function;
	if (!OidIsValid(oid) || !OidIsValid(shape->function))
		return false;
	relation = table_open(oid, AccessShareLock);
	runs = strata_index_known_chain(relation, snapshot, target,
									&shape->covered);
	foreach(lc, runs)
	{
		const StrataIndexRun *run = lfirst(lc);

		shape->nruns++;
		shape->entries += run->entries;
		shape->nrows += run->nrows;
	}
	table_close(relation, NoLock);
	return shape->nruns > 0;
}

/* See index.h. */
bool
strata_index_shape(StrataStore *store, Snapshot snapshot, AttrNumber attno,
				   StrataIndexShape *shape)
{
	StrataIndexTarget target = strata_index_hash_target(store->rel, attno);

	return strata_index_target_shape(store, snapshot, &target, shape);
}

/* See index.h. */
StrataIndexLookup *
strata_index_lookup_begin(Relation batches, Snapshot snapshot,
						  AttrNumber attno, Oid function)
{
	StrataIndexTarget target = {STRATA_INDEX_HASHES, attno, function};

	return strata_index_lookup_open(batches, snapshot, &target);
}

/* See index_private.h. */
StrataIndexLookup *
strata_index_lookup_open(Relation batches, Snapshot snapshot,
						 const StrataIndexTarget *target)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata batch index look-up",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataIndexLookup *lookup = palloc(sizeof(StrataIndexLookup));
	Oid			oid = strata_index_relation_oid(batches);

	/* the row's arrays are filled in before they are read */
	memset(lookup, 0, offsetof(StrataIndexLookup, row));
	lookup->row.n = 0;
	lookup->row.scratch = NULL;
	lookup->row.scratch_size = 0;
	lookup->mcxt = mcxt;
	lookup->snapshot = snapshot;
	if (OidIsValid(oid))
	{
		lookup->relation = table_open(oid, AccessShareLock);
		lookup->key = index_open(strata_index_key_of(lookup->relation),
								 AccessShareLock);
		lookup->slot = table_slot_create(lookup->relation, NULL);
		lookup->runs = strata_index_known_chain(lookup->relation, snapshot,
												target, &lookup->covered);
	}
	MemoryContextSwitchTo(old);
	return lookup;
}

/* Add the batches in a place. */
static void
add_place(StrataIndexLookup *lookup, const StrataIndexRun *run, int64 place)
{
	StrataIndexRange *range;

	if (lookup->nfound == lookup->size)
	{
		lookup->size = Max(lookup->size * 2, 16);
		lookup->found = lookup->found == NULL ?
			palloc(sizeof(StrataIndexRange) * lookup->size) :
			repalloc_huge(lookup->found,
						  sizeof(StrataIndexRange) * lookup->size);
	}
	range = &lookup->found[lookup->nfound++];
	range->from = place << run->shift;
	range->to = (place + 1) << run->shift;
}

/* Take what the decoded row has of a hash. */
static void
take_hash(StrataIndexLookup *lookup, const StrataIndexRun *run, int64 hash)
{
	const StrataIndexRow *row = &lookup->row;
	int			low = 0;
	int			high = row->n;

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (row->hashes[middle] < hash)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < row->n && row->hashes[low] == hash; low++)
		add_place(lookup, run, row->places[low]);
}

/* Look for a hash in a run, from the row that stands last before it on. */
static void
search_run(StrataIndexLookup *lookup, IndexScanDesc scan,
		   const StrataIndexRun *run, int64 hash)
{
	ScanKeyData keys[2];
	MemoryContext old;

	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(run->number));
	ScanKeyInit(&keys[1], 2, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(hash));
	index_rescan(scan, keys, 2, NULL, 0);
	while (strata_index_getnext_slot(scan, BackwardScanDirection,
									 lookup->slot))
	{
		CHECK_FOR_INTERRUPTS();
		old = MemoryContextSwitchTo(lookup->mcxt);
		strata_index_row_read(lookup->relation, lookup->slot, &lookup->row);
		MemoryContextSwitchTo(old);
		take_hash(lookup, run, hash);
		if (lookup->row.hashes[0] < hash)
			break;
	}
}

static int
compare_sought(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;

	return x < y ? -1 : x > y;
}

static int
compare_number_ranges(const void *a, const void *b)
{
	const StrataIndexRange *x = a;
	const StrataIndexRange *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* Look for all hashes in all runs, until too many places are found. */
static void
search_runs(StrataIndexLookup *lookup, const uint32 *hashes, int n)
{
	IndexScanDesc scan = strata_index_beginscan(lookup->relation, lookup->key,
												lookup->snapshot, 2, 0);
	ListCell   *lc;

	foreach(lc, lookup->runs)
	{
		const StrataIndexRun *run = lfirst(lc);

		if (run->entries == 0)
			continue;
		lookup->row.n = 0;
		for (int i = 0; i < n && lookup->nfound <= lookup->max; i++)
		{
			const StrataIndexRow *row = &lookup->row;

			if (i > 0 && hashes[i] == hashes[i - 1])
				continue;
			/* within the row, not at its ends: others have none of it */
			if (row->n > 0 && row->hashes[0] < (int64) hashes[i] &&
				row->hashes[row->n - 1] > (int64) hashes[i])
				take_hash(lookup, run, hashes[i]);
			else
				search_run(lookup, scan, run, hashes[i]);
		}
	}
	ExecClearTuple(lookup->slot);
	index_endscan(scan);
}

/* Find places of the hashes; false: there are more than max. */
static bool
look_for_places(StrataIndexLookup *lookup, const uint32 *hashes, int n,
				int max)
{
	lookup->found = NULL;
	lookup->nfound = lookup->size = 0;
	lookup->max = max;
	if (lookup->runs != NIL && n > 0)
	{
		uint32	   *sorted = palloc(sizeof(uint32) * n);

		memcpy(sorted, hashes, sizeof(uint32) * n);
		qsort(sorted, n, sizeof(uint32), compare_sought);
		search_runs(lookup, sorted, n);
		pfree(sorted);
	}
	return lookup->nfound <= max;
}

/* The places found as ranges, and what nothing speaks for. */
static StrataIndexRanges *
found_ranges(StrataIndexLookup *lookup)
{
	StrataIndexRanges *result = palloc(sizeof(StrataIndexRanges));
	StrataIndexRange *found;
	int			nranges = 0;

	found = palloc_array(StrataIndexRange, lookup->nfound + 1);
	if (lookup->nfound > 0)
		memcpy(found, lookup->found, sizeof(StrataIndexRange) *
			   lookup->nfound);
	qsort(found, lookup->nfound, sizeof(StrataIndexRange),
		  compare_number_ranges);
	for (int i = 0; i < lookup->nfound; i++)
	{
		StrataIndexRange range = found[i];

		/* what is behind is read in any case */
		range.to = Min(range.to, lookup->covered);
		if (range.from >= range.to)
			continue;
		if (nranges > 0 && found[nranges - 1].to >= range.from)
			found[nranges - 1].to = Max(found[nranges - 1].to, range.to);
		else
			found[nranges++] = range;
	}
	Assert(nranges == 0 ||
		   found[nranges - 1].to <= lookup->covered);	/* index:I2 */
	found[nranges].from = lookup->covered;
	found[nranges++].to = STRATA_BATCH_MAX_ROW_NUMBER + 1;
	if (lookup->found != NULL)
		pfree(lookup->found);
	result->ranges = found;
	result->n = nranges;
	return result;
}

/* See index.h. */
StrataIndexRanges *
strata_index_lookup_find(StrataIndexLookup *lookup, const uint32 *hashes,
						 int n)
{
	(void) look_for_places(lookup, hashes, n, PG_INT32_MAX);
	return found_ranges(lookup);
}

/* See index.h. */
StrataIndexRanges *
strata_index_lookup_few(StrataIndexLookup *lookup, const uint32 *hashes,
						int n, int max)
{
	if (look_for_places(lookup, hashes, n, max))
		return found_ranges(lookup);
	pfree(lookup->found);
	return NULL;
}

/* See index.h. */
void
strata_index_lookup_end(StrataIndexLookup *lookup)
{
	if (lookup->relation != NULL)
	{
		ExecDropSingleTupleTableSlot(lookup->slot);
		index_close(lookup->key, NoLock);
		table_close(lookup->relation, NoLock);
	}
	MemoryContextDelete(lookup->mcxt);
}

/* See index.h. */
int64
strata_index_visit(Relation batches, Snapshot snapshot, AttrNumber attno,
				   Oid function, StrataIndexVisit visit, void *arg)
{
	StrataIndexLookup *lookup = strata_index_lookup_begin(batches, snapshot,
														  attno, function);
	int64		covered = lookup->covered;
	ListCell   *lc;

	foreach(lc, lookup->runs)
	{
		const StrataIndexRun *run = lfirst(lc);
		StrataIndexCursor *cursor;
		StrataIndexEntry entry;

		cursor = strata_index_cursor_begin(lookup->relation, snapshot,
										   run->number);
		while (strata_index_cursor_next(cursor, &entry))
			visit(arg, foreach_current_index(lc), run->shift, entry.hash,
				  entry.place);
		strata_index_cursor_end(cursor);
	}
	strata_index_lookup_end(lookup);
	return covered;
}
