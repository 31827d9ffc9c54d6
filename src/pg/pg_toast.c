/*-------------------------------------------------------------------------
 *
 * pg_toast.c
 *	  Fetches values that are stored out of line.
 *
 * PostgreSQL opens the TOAST table and its index anew for every value, which
 * is half of what a query for one row of one batch does.  A fetcher opens them
 * once per scan and repositions one index scan.  What it does for a value is
 * what heap_fetch_toast_slice() does for a whole one.
 *
 * The columns of a batch are stored one after the other, largest first, so the
 * next one wanted mostly lies on the page of the last one found or on one
 * beside it: there a fetcher looks first.  A chunk says whose it is, and a
 * value's number is not used twice while it is visible, so a chunk found there
 * is the one that the index would have led to.
 *
 * src/pg/pg_toast.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg_toast.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/heaptoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "base/base.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

struct StrataToastFetcher
{
	MemoryContext mcxt;
	Oid			toastid;
	Relation	toast;			/* opened when first needed */
	Relation	index;
	SnapshotData snapshot;
	IndexScanDesc scan;
	IndexScanDesc slices;		/* of some chunks; NULL: not needed yet */
	TupleTableSlot *slot;
	Oid			last;			/* value found last; InvalidOid at the start */
	ItemPointerData place;		/* of its last chunk */
	Buffer		buffer;			/* pinned: the page looked at last */
	BlockNumber nblocks;		/* of toast when it was first asked */
};

/*
 * Least distance to the last value at which one is not looked for beside it.
 */
#define FAR 32

/* See pg_toast.h. */
StrataToastFetcher *
strata_toast_fetcher_create(Oid toastid)
{
	StrataToastFetcher *fetcher = palloc0(sizeof(StrataToastFetcher));

	fetcher->mcxt = CurrentMemoryContext;
	fetcher->toastid = toastid;
	fetcher->buffer = InvalidBuffer;
	fetcher->nblocks = InvalidBlockNumber;
	return fetcher;
}

/*
 * Open the TOAST table and its valid index, for as long as the fetcher lives.
 */
static void
open_toast(StrataToastFetcher *fetcher)
{
	MemoryContext old = MemoryContextSwitchTo(fetcher->mcxt);
	Relation   *indexes;
	int			nindexes;
	int			valid;

	fetcher->toast = table_open(fetcher->toastid, AccessShareLock);
	valid = toast_open_indexes(fetcher->toast, AccessShareLock, &indexes,
							   &nindexes);
	for (int i = 0; i < nindexes; i++)
		if (i != valid)
			index_close(indexes[i], AccessShareLock);
	fetcher->index = indexes[valid];
	strata_init_toast_snapshot(&fetcher->snapshot);
	fetcher->slot =
		MakeSingleTupleTableSlot(RelationGetDescr(fetcher->toast),
								 table_slot_callbacks(fetcher->toast));
	fetcher->scan = strata_index_beginscan(fetcher->toast, fetcher->index,
										   &fetcher->snapshot, 1, 0);
	MemoryContextSwitchTo(old);
}

static void
chunk_corrupt(const StrataToastFetcher *fetcher, Oid valueid, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("toast value %u in %s is damaged: %s", valueid,
					RelationGetRelationName(fetcher->toast), what)));
}

/* Copy the chunk to where it belongs: data is of the value from `start` on. */
static void
take_chunk(StrataToastFetcher *fetcher, Oid valueid, int32 expected,
		   HeapTuple tuple, char *data, int32 start, int32 size)
{
	TupleDesc	desc = RelationGetDescr(fetcher->toast);
	bool		isnull;
	int32		number = DatumGetInt32(fastgetattr(tuple, 2, desc, &isnull));
	struct varlena *chunk;
	int32		from = expected * TOAST_MAX_CHUNK_SIZE;
	Size		room;

	chunk = (struct varlena *) DatumGetPointer(fastgetattr(tuple, 3, desc,
														   &isnull));
	room = tuple->t_len - ((char *) chunk - (char *) tuple->t_data);
	if (tuple->t_len < (char *) chunk - (char *) tuple->t_data + 4 ||
		VARSIZE_ANY(chunk) > room)
		chunk_corrupt(fetcher, valueid, "a chunk is cut off");
	if (number != expected || from >= size || from < start)
		chunk_corrupt(fetcher, valueid, "a chunk is missing, or one too many");
	if (!strata_varlena_is_plain(chunk))
		chunk_corrupt(fetcher, valueid, "a chunk is no plain data");
	if (VARSIZE_ANY_EXHDR(chunk) != Min(size - from, TOAST_MAX_CHUNK_SIZE))
		chunk_corrupt(fetcher, valueid, "a chunk has a wrong size");
	memcpy(data + (from - start), VARDATA_ANY(chunk),
		   VARSIZE_ANY_EXHDR(chunk));
}

/*
 * chunk_id and chunk_seq of a tuple as toast tables have had them since ever:
 * not null, at its start.
 */
static inline bool
is_chunk(HeapTupleHeader tuple, Size len, Oid valueid, int32 number)
{
	const char *data = (const char *) tuple + tuple->t_hoff;

	if (tuple->t_hoff + sizeof(Oid) + sizeof(int32) > len ||
		(tuple->t_infomask & HEAP_HASNULL) != 0)
		return false;
	return *(const Oid *) data == valueid &&
		*(const int32 *) (data + sizeof(Oid)) == number;
}

/*
 * Look for a chunk on a page, from item off on; leaves the page pinned, and
 * the chunk's bytes in data.
 */
static bool
find_on_page(StrataToastFetcher *fetcher, BlockNumber block, OffsetNumber off,
			 Oid valueid, int32 number, char *data, int32 size)
{
	bool		found = false;
	HeapTupleData tuple;
	OffsetNumber max;
	Page		page;

	fetcher->buffer = ReleaseAndReadBuffer(fetcher->buffer, fetcher->toast,
										   block);
	LockBuffer(fetcher->buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(fetcher->buffer);
	max = PageGetMaxOffsetNumber(page);
	tuple.t_tableOid = RelationGetRelid(fetcher->toast);
	for (; off <= max && !found; off++)
	{
		ItemId		item = PageGetItemId(page, off);

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, off);
		found = is_chunk(tuple.t_data, tuple.t_len, valueid, number) &&
			HeapTupleSatisfiesVisibility(&tuple, &fetcher->snapshot,
										 fetcher->buffer);
	}
	LockBuffer(fetcher->buffer, BUFFER_LOCK_UNLOCK);
	if (!found)
		return false;
	/* the pin keeps the tuple where it is */
	fetcher->place = tuple.t_self;
	take_chunk(fetcher, valueid, number, &tuple, data, 0, size);
	return true;
}

/*
 * Fetch a value, its first want bytes at least, that lies beside the last one;
 * false: it does not, or not all of it.
 */
static bool
fetch_nearby(StrataToastFetcher *fetcher, Oid valueid, char *data, int32 size,
			 int32 want)
{
	int32		distance = (int32) (valueid - fetcher->last);
	OffsetNumber off = FirstOffsetNumber;

	if (fetcher->last == InvalidOid || distance <= -FAR || distance >= FAR)
		return false;
	if (fetcher->nblocks == InvalidBlockNumber)
		fetcher->nblocks = RelationGetNumberOfBlocks(fetcher->toast);
	for (int32 number = 0; number * TOAST_MAX_CHUNK_SIZE < want; number++)
	{
		BlockNumber block = ItemPointerGetBlockNumber(&fetcher->place);
		BlockNumber other;

		other = number == 0 && distance < 0 ? block - 1 : block + 1;
		if (!find_on_page(fetcher, block, off, valueid, number, data, size) &&
			(other >= fetcher->nblocks ||
			 !find_on_page(fetcher, other, FirstOffsetNumber, valueid, number,
						   data, size)))
			return false;
		off = OffsetNumberNext(ItemPointerGetOffsetNumber(&fetcher->place));
	}
	return true;
}

/* Fetch a value by the index, its first want bytes at least. */
static void
fetch_by_index(StrataToastFetcher *fetcher, Oid valueid, char *data,
			   int32 size, int32 want)
{
	ScanKeyData key;
	int32		nchunks = 0;

	/* chunks come in the order of the index on (chunk_id, chunk_seq) */
	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(valueid));
	index_rescan(fetcher->scan, &key, 1, NULL, 0);
	while (strata_index_getnext_slot(fetcher->scan, ForwardScanDirection,
									 fetcher->slot))
	{
		bool		to_free;

		take_chunk(fetcher, valueid, nchunks,
				   ExecFetchSlotHeapTuple(fetcher->slot, false, &to_free),
				   data, 0, size);
		fetcher->place = fetcher->slot->tts_tid;
		nchunks++;
		if (want < size && (int64) nchunks * TOAST_MAX_CHUNK_SIZE >= want)
			break;
	}
	ExecClearTuple(fetcher->slot);
	if ((int64) nchunks * TOAST_MAX_CHUNK_SIZE < want)
		chunk_corrupt(fetcher, valueid, "chunks are missing");
}

/*
 * Where a value that is out of line is, and its size; false: the fetcher is
 * not for it, and PostgreSQL fetches it.
 */
static bool
locate_value(StrataToastFetcher *fetcher, Oid toastid, struct varlena *value,
			 Oid *valueid, int32 *size)
{
	struct varatt_external pointer;

	/*
	 * the one place where a pointer that came from bytes is followed: never
	 * into memory, nor another table (batch:B14)
	 */
	if (VARATT_IS_EXTERNAL_ONDISK(value))
		VARATT_EXTERNAL_GET_POINTER(pointer, value);
	if (!VARATT_IS_EXTERNAL_ONDISK(value) ||
		pointer.va_toastrelid != toastid || !OidIsValid(toastid))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("a value of a batch is out of line elsewhere than in the batches' TOAST table")));
	if (fetcher == NULL || VARATT_EXTERNAL_IS_COMPRESSED(pointer) ||
		fetcher->toastid != toastid)
		return false;
	if (fetcher->toast == NULL)
		open_toast(fetcher);
	*valueid = pointer.va_valueid;
	*size = VARATT_EXTERNAL_GET_EXTSIZE(pointer);
	if (*size < 0 || *size > MaxAllocSize - VARHDRSZ)
		chunk_corrupt(fetcher, *valueid, "its size is out of range");
	return true;
}

/* Fetch chunks first to last of a value; data begins with the first. */
static void
fetch_chunks(StrataToastFetcher *fetcher, Oid valueid, char *data,
			 int32 first, int32 last, int32 size)
{
	ScanKeyData keys[3];
	int32		number = first;

	if (fetcher->slices == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(fetcher->mcxt);

		fetcher->slices = strata_index_beginscan(fetcher->toast,
												 fetcher->index,
												 &fetcher->snapshot, 3, 0);
		MemoryContextSwitchTo(old);
	}
	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(valueid));
	ScanKeyInit(&keys[1], 2, BTGreaterEqualStrategyNumber, F_INT4GE,
				Int32GetDatum(first));
	ScanKeyInit(&keys[2], 2, BTLessEqualStrategyNumber, F_INT4LE,
				Int32GetDatum(last));
	index_rescan(fetcher->slices, keys, 3, NULL, 0);
	while (strata_index_getnext_slot(fetcher->slices, ForwardScanDirection,
									 fetcher->slot))
	{
		bool		to_free;

		take_chunk(fetcher, valueid, number++,
				   ExecFetchSlotHeapTuple(fetcher->slot, false, &to_free),
				   data, first * TOAST_MAX_CHUNK_SIZE, size);
	}
	ExecClearTuple(fetcher->slot);
	if (number != last + 1)
		chunk_corrupt(fetcher, valueid, "chunks are missing");
}

/* See pg_toast.h. */
const char *
strata_toast_fetch_slice(StrataToastFetcher *fetcher, Oid toastid,
						 struct varlena *value, Size from, Size len,
						 char **fetched)
{
	Oid			valueid;
	int32		size;
	int32		first;
	int32		last;
	struct varlena *whole = value;

	*fetched = NULL;
	if (VARATT_IS_EXTERNAL(value) &&
		locate_value(fetcher, toastid, value, &valueid, &size))
	{
		if (from >= (Size) size || len > (Size) size - from)
			return NULL;
		first = (int32) (from / TOAST_MAX_CHUNK_SIZE);
		last = (int32) ((from + len - 1) / TOAST_MAX_CHUNK_SIZE);
		*fetched = palloc((Size) (last - first + 1) * TOAST_MAX_CHUNK_SIZE);
		fetch_chunks(fetcher, valueid, *fetched, first, last, size);
		return *fetched + (from - (Size) first * TOAST_MAX_CHUNK_SIZE);
	}
	if (!strata_varlena_is_plain(value))
	{
		whole = pg_detoast_datum_packed(value);
		*fetched = (char *) whole;
	}
	if (from >= VARSIZE_ANY_EXHDR(whole) ||
		len > VARSIZE_ANY_EXHDR(whole) - from)
		return NULL;
	return VARDATA_ANY(whole) + from;
}

/* See pg_toast.h. */
struct varlena *
strata_toast_fetch_start(StrataToastFetcher *fetcher, Oid toastid,
						 struct varlena *value, Size want)
{
	struct varlena *result;
	Oid			valueid;
	int32		size;
	int32		some;

	if (!VARATT_IS_EXTERNAL(value) ||
		!locate_value(fetcher, toastid, value, &valueid, &size))
		return pg_detoast_datum_packed(value);
	/* whole chunks */
	some = want >= (Size) size ?
		size :
		(int32) Min((want + TOAST_MAX_CHUNK_SIZE - 1) /
					TOAST_MAX_CHUNK_SIZE * TOAST_MAX_CHUNK_SIZE,
					(Size) size);
	result = palloc(some + VARHDRSZ);
	SET_VARSIZE(result, some + VARHDRSZ);
	if (!fetch_nearby(fetcher, valueid, VARDATA(result), size, some))
		fetch_by_index(fetcher, valueid, VARDATA(result), size, some);
	fetcher->last = valueid;
	return result;
}

/* See pg_toast.h. */
struct varlena *
strata_toast_fetch(StrataToastFetcher *fetcher, Oid toastid,
				   struct varlena *value)
{
	return strata_toast_fetch_start(fetcher, toastid, value, MaxAllocSize);
}

/* See pg_toast.h. */
void
strata_toast_fetcher_free(StrataToastFetcher *fetcher)
{
	if (fetcher->toast != NULL)
	{
		if (BufferIsValid(fetcher->buffer))
			ReleaseBuffer(fetcher->buffer);
		index_endscan(fetcher->scan);
		if (fetcher->slices != NULL)
			index_endscan(fetcher->slices);
		ExecDropSingleTupleTableSlot(fetcher->slot);
		index_close(fetcher->index, AccessShareLock);
		table_close(fetcher->toast, AccessShareLock);
	}
	pfree(fetcher);
}
