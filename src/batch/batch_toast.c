/*-------------------------------------------------------------------------
 *
 * batch_toast.c
 *	  Fetches columns of batches that are stored out of line.
 *
 * PostgreSQL opens the TOAST table and its index anew for every value, which is
 * half of what a query for one row of one batch does.  A fetcher opens them
 * once per scan and repositions one index scan.  What it does for a value is
 * what heap_fetch_toast_slice() does for a whole one.
 *
 * src/batch/batch_toast.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"

#include "access/detoast.h"
#include "access/genam.h"
#include "access/heaptoast.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/toast_internals.h"
#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "executor/tuptable.h"
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
	TupleTableSlot *slot;
};

/* See batch.h. */
StrataToastFetcher *
strata_toast_fetcher_create(Oid toastid)
{
	StrataToastFetcher *fetcher = palloc0(sizeof(StrataToastFetcher));

	fetcher->mcxt = CurrentMemoryContext;
	fetcher->toastid = toastid;
	return fetcher;
}

static void
open_toast(StrataToastFetcher *fetcher)
{
	MemoryContext old = MemoryContextSwitchTo(fetcher->mcxt);
	Relation   *indexes;
	int			nindexes;
	int			valid;

	fetcher->toast = table_open(fetcher->toastid, AccessShareLock);
	valid = toast_open_indexes(fetcher->toast, AccessShareLock, &indexes, &nindexes);
	for (int i = 0; i < nindexes; i++)
		if (i != valid)
			index_close(indexes[i], AccessShareLock);
	fetcher->index = indexes[valid];
	strata_init_toast_snapshot(&fetcher->snapshot);
	fetcher->slot = MakeSingleTupleTableSlot(RelationGetDescr(fetcher->toast),
											 table_slot_callbacks(fetcher->toast));
	fetcher->scan = strata_index_beginscan(fetcher->toast, fetcher->index, &fetcher->snapshot, 1, 0);
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

/* Copy the chunk in the slot to where it belongs. */
static void
take_chunk(StrataToastFetcher *fetcher, Oid valueid, int32 expected, char *data, int32 size)
{
	bool		isnull;
	int32		number = DatumGetInt32(slot_getattr(fetcher->slot, 2, &isnull));
	struct varlena *chunk = (struct varlena *) DatumGetPointer(slot_getattr(fetcher->slot, 3, &isnull));
	int32		from = expected * TOAST_MAX_CHUNK_SIZE;

	if (number != expected || from >= size)
		chunk_corrupt(fetcher, valueid, "a chunk is missing, or one too many");
	if (VARATT_IS_EXTENDED(chunk) && !VARATT_IS_SHORT(chunk))
		chunk_corrupt(fetcher, valueid, "a chunk is no plain data");
	if (VARSIZE_ANY_EXHDR(chunk) != Min(size - from, TOAST_MAX_CHUNK_SIZE))
		chunk_corrupt(fetcher, valueid, "a chunk has a wrong size");
	memcpy(data + from, VARDATA_ANY(chunk), VARSIZE_ANY_EXHDR(chunk));
}

/* See batch.h. */
struct varlena *
strata_toast_fetch(StrataToastFetcher *fetcher, struct varlena *value)
{
	struct varatt_external pointer;
	struct varlena *result;
	ScanKeyData key;
	int32		size;
	int32		nchunks = 0;

	if (fetcher == NULL || !VARATT_IS_EXTERNAL_ONDISK(value))
		return pg_detoast_datum_packed(value);
	VARATT_EXTERNAL_GET_POINTER(pointer, value);
	if (VARATT_EXTERNAL_IS_COMPRESSED(pointer) || pointer.va_toastrelid != fetcher->toastid)
		return pg_detoast_datum_packed(value);
	if (fetcher->toast == NULL)
		open_toast(fetcher);
	size = VARATT_EXTERNAL_GET_EXTSIZE(pointer);
	if (size < 0 || size > MaxAllocSize - VARHDRSZ)
		chunk_corrupt(fetcher, pointer.va_valueid, "its size is out of range");
	result = palloc(size + VARHDRSZ);
	SET_VARSIZE(result, size + VARHDRSZ);

	/* chunks come in the order of the index on (chunk_id, chunk_seq) */
	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(pointer.va_valueid));
	index_rescan(fetcher->scan, &key, 1, NULL, 0);
	while (index_getnext_slot(fetcher->scan, ForwardScanDirection, fetcher->slot))
	{
		take_chunk(fetcher, pointer.va_valueid, nchunks, VARDATA(result), size);
		nchunks++;
	}
	ExecClearTuple(fetcher->slot);
	if ((int64) nchunks * TOAST_MAX_CHUNK_SIZE < size)
		chunk_corrupt(fetcher, pointer.va_valueid, "chunks are missing");
	return result;
}

/* See batch.h. */
void
strata_toast_fetcher_free(StrataToastFetcher *fetcher)
{
	if (fetcher->toast != NULL)
	{
		index_endscan(fetcher->scan);
		ExecDropSingleTupleTableSlot(fetcher->slot);
		index_close(fetcher->index, NoLock);
		table_close(fetcher->toast, NoLock);
	}
	pfree(fetcher);
}
