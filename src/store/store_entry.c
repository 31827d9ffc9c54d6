/*-------------------------------------------------------------------------
 *
 * store_entry.c
 *	  Row entries: what became of single rows of batches.
 *
 * A batch never changes.  When one of its rows is locked, updated or deleted,
 * that is written beside it, as an ordinary tuple of the companion: first_row
 * holds -(row number + 1), nrows 0, `entry` the bytes below; all else is
 * empty. The unique index on first_row finds it, and has one live entry per
 * row.
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		kind, see store.h
 *	1		6		heap TID (native), or zeros
 *	7		4		CRC-32C over row number (int64), kind, TID; native order
 *
 * Entries are tuples like any other: who sees the entry sees that the row has
 * left its batch, and who does not sees the row there.  Lock entries change
 * nothing for readers, so they are frozen at birth and seen by all, but for
 * those on batches of the same transaction, which may never come to be.
 *
 * Over 600 lines: reading and writing follow one layout.
 *
 * src/store/store_entry.c
 *-------------------------------------------------------------------------
 */
#include "store/store_companion.h"
#include "store/store_private.h"
#include "pg/pg.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

#define ENTRY_BYTES (1 + sizeof(ItemPointerData) + sizeof(pg_crc32c))

/* Row numbers read ahead of all batches; with more entries each batch asks. */
#define PRELOAD 512

/* So many batches are asked for one by one before entries are read ahead. */
#define ASKED_BEFORE_PRELOAD 4

/* Entries of deleted rows that are written, and logged, together. */
#define INSERTED_TOGETHER 64

static inline int64
entry_key(int64 row)
{
	return -row - 1;
}

/*-------------------------------------------------------------------------
 * Bytes
 *-------------------------------------------------------------------------
 */
static pg_crc32c
entry_crc(int64 row, const uint8 *bytes)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &row, sizeof(row));
	COMP_CRC32C(crc, bytes, 1 + sizeof(ItemPointerData));
	FIN_CRC32C(crc);
	return crc;
}

static void
corrupt(Relation batches, int64 row, const char *what)
{
	ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
					errmsg("row entry in \"%s\" is corrupt",
						   RelationGetRelationName(batches)),
					errdetail("Row %lld: %s.", (long long) row, what)));
}

/* See store_entry.h. */
void
strata_entry_parse(Relation batches, TupleTableSlot *slot, StrataEntry *entry)
{
	int64		key;
	bytea	   *value;
	const uint8 *bytes;
	pg_crc32c	crc;

	key = DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]);
	entry->row = -(key + 1);
	entry->self = slot->tts_tid;
	if (slot->tts_isnull[STRATA_BATCH_ATT_ENTRY - 1] ||
		DatumGetInt32(slot->tts_values[STRATA_BATCH_ATT_NROWS - 1]) != 0)
		corrupt(batches, entry->row, "it is no entry");
	value = (bytea *)
		DatumGetPointer(slot->tts_values[STRATA_BATCH_ATT_ENTRY - 1]);
	bytes = (const uint8 *) VARDATA_ANY(value);

	/*
	 * it is too short to be compressed or out of line: a pointer is not
	 * followed
	 */
	if ((VARATT_IS_EXTENDED(value) && !VARATT_IS_SHORT(value)) ||
		VARSIZE_ANY_EXHDR(value) != ENTRY_BYTES)
		corrupt(batches, entry->row, "it has the wrong length");
	memcpy(&crc, bytes + 1 + sizeof(ItemPointerData), sizeof(crc));
	if (crc != entry_crc(entry->row, bytes))
		corrupt(batches, entry->row, "its checksum differs");
	entry->kind = (StrataEntryKind) bytes[0];
	memcpy(&entry->tid, bytes + 1, sizeof(ItemPointerData));
	switch (entry->kind)
	{
		case STRATA_ENTRY_LOCK:
		case STRATA_ENTRY_DELETED:
		case STRATA_ENTRY_UPDATED:
		case STRATA_ENTRY_MOVED:
		case STRATA_ENTRY_LOST:
			break;
		default:
			corrupt(batches, entry->row, "it is of no known kind");
	}
}

/*
 * The columns that are the same in all companions.  An entry has no others:
 * what a tuple lacks at its end is null.
 */
static TupleDesc
fixed_columns(Relation batches)
{
	static TupleDesc fixed = NULL;

	if (fixed == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		TupleDesc	desc = CreateTemplateTupleDesc(STRATA_BATCH_FIXED_ATTS);

		for (AttrNumber attno = 1; attno <= STRATA_BATCH_FIXED_ATTS; attno++)
			TupleDescCopyEntry(desc, attno, RelationGetDescr(batches), attno);
		MemoryContextSwitchTo(old);
		fixed = desc;
	}
	return fixed;
}

/* An entry of a row, as a tuple of the companion; palloc'd. */
static HeapTuple
form_entry(Relation batches, int64 row, StrataEntryKind kind,
		   const ItemPointerData *tid)
{
	Datum		values[STRATA_BATCH_FIXED_ATTS];
	bool		isnull[STRATA_BATCH_FIXED_ATTS] = {0};
	union
	{
		int32		align;
		char		bytes[VARHDRSZ + ENTRY_BYTES];
	}			value;
	int32		layout = 0;
	uint8	   *bytes = (uint8 *) VARDATA(&value);
	pg_crc32c	crc;
	HeapTuple	tuple;

	memset(&value, 0, sizeof(value));
	SET_VARSIZE(&value, VARHDRSZ + ENTRY_BYTES);
	SET_VARSIZE(&layout, VARHDRSZ);
	bytes[0] = (uint8) kind;
	if (tid != NULL)
		memcpy(bytes + 1, tid, sizeof(ItemPointerData));
	crc = entry_crc(row, bytes);
	memcpy(bytes + 1 + sizeof(ItemPointerData), &crc, sizeof(crc));
	values[STRATA_BATCH_ATT_FIRST_ROW - 1] = Int64GetDatum(entry_key(row));
	values[STRATA_BATCH_ATT_NROWS - 1] = Int32GetDatum(0);
	values[STRATA_BATCH_ATT_LAYOUT - 1] = PointerGetDatum(&layout);
	values[STRATA_BATCH_ATT_SUMMARY - 1] = (Datum) 0;
	isnull[STRATA_BATCH_ATT_SUMMARY - 1] = true;
	values[STRATA_BATCH_ATT_ENTRY - 1] = PointerGetDatum(&value);
	tuple = heap_form_tuple(fixed_columns(batches), values, isnull);
	tuple->t_tableOid = RelationGetRelid(batches);
	return tuple;
}

/*-------------------------------------------------------------------------
 * Writing.  Entries stand in the index on first_row only.
 *-------------------------------------------------------------------------
 */
/* An entry at tid into the index on first_row. */
static void
index_entry_in(Relation index, IndexInfo *info, Relation batches,
			   ItemPointer tid, int64 row)
{
	/* first_row, nrows */
	Datum		values[2] = {Int64GetDatum(entry_key(row)), Int32GetDatum(0)};
	bool		isnull[2] = {false, false};

	(void) index_insert(index, values, isnull, tid, batches, UNIQUE_CHECK_YES,
						false, info);
}

static void
index_entry(Relation batches, HeapTuple tuple, int64 row)
{
	Relation	index = index_open(strata_row_index_of(batches),
								   RowExclusiveLock);
	IndexInfo  *info = BuildIndexInfo(index);

	index_entry_in(index, info, batches, &tuple->t_self, row);
	pfree(info);
	index_close(index, NoLock);
}

/*
 * See store_entry.h.  An entry for all is frozen last: a crash, or an error,
 * must not leave one that the index does not know.
 */
void
strata_entry_insert(Relation batches, int64 row, StrataEntryKind kind,
					const ItemPointerData *tid, CommandId cid, bool forever,
					ItemPointer self)
{
	HeapTuple	tuple = form_entry(batches, row, kind, tid);

	/* frozen, seen by all: only what changes nothing for readers */
	Assert(!forever || kind == STRATA_ENTRY_LOCK);	/* store:S2 */
	Assert((kind == STRATA_ENTRY_UPDATED || kind == STRATA_ENTRY_MOVED) ==
		   (tid != NULL));		/* store:S2 */
	Assert(tid == NULL || !strata_tid_is_compressed(tid));	/* store:S8 */
	heap_insert(batches, tuple, cid, 0, NULL);
	index_entry(batches, tuple, row);
	if (forever)
		strata_tuple_freeze(batches, &tuple->t_self);
	if (self != NULL)
		*self = tuple->t_self;
	heap_freetuple(tuple);
}

/*
 * See store_entry.h.  Greatest row first: that is the order of their keys, in
 * which a btree fills its pages.
 */
void
strata_entries_insert_deleted(Relation batches, int64 first_row,
							  const uint16 *rows, int nrows, CommandId cid)
{
	TupleTableSlot *slots[INSERTED_TOGETHER];
	Relation	index = index_open(strata_row_index_of(batches),
								   RowExclusiveLock);
	IndexInfo  *info = BuildIndexInfo(index);
	int			nslots = Min(nrows, INSERTED_TOGETHER);
	int			left = nrows;

	for (int i = 0; i < nslots; i++)
		slots[i] = MakeSingleTupleTableSlot(RelationGetDescr(batches),
											&TTSOpsHeapTuple);
	while (left > 0)
	{
		int			n = Min(left, nslots);

		for (int i = 0; i < n; i++)
		{
			int64		row = first_row + rows[left - 1 - i];

			Assert(left - i < 2 ||
				   rows[left - 2 - i] < rows[left - 1 - i]);	/* store:S3 */
			ExecStoreHeapTuple(form_entry(batches, row, STRATA_ENTRY_DELETED,
										  NULL), slots[i], true);
		}
		heap_multi_insert(batches, slots, n, cid, 0, NULL);
		for (int i = 0; i < n; i++)
			index_entry_in(index, info, batches, &slots[i]->tts_tid,
						   first_row + rows[left - 1 - i]);
		left -= n;
	}
	for (int i = 0; i < nslots; i++)
		ExecDropSingleTupleTableSlot(slots[i]);
	pfree(info);
	index_close(index, NoLock);
}

/* See store_entry.h. */
HeapTuple
strata_entry_replace(Relation batches, const StrataEntry *entry,
					 StrataEntryKind kind, const ItemPointerData *tid,
					 CommandId cid)
{
	HeapTuple	tuple = form_entry(batches, entry->row, kind, tid);
	ItemPointerData self = entry->self;

	/* what became of a row is final, but a rewrite may forget its place */
	Assert(entry->kind == STRATA_ENTRY_LOCK ||
		   kind == STRATA_ENTRY_LOST);	/* store:S3 */
	Assert(tid == NULL || !strata_tid_is_compressed(tid));	/* store:S8 */
	if (strata_heap_update(batches, &self, tuple, cid) != TM_Ok)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
	if (!HeapTupleIsHeapOnly(tuple))
		index_entry(batches, tuple, entry->row);
	return tuple;
}

/*-------------------------------------------------------------------------
 * One row's entry
 *-------------------------------------------------------------------------
 */

/*
 * Dirty: the tuple is being made, or being replaced; mere lockers do not
 * count. Whether a lock entry comes to be decides nothing.
 */
static TransactionId
decider(Snapshot snapshot, const StrataEntry *entry)
{
	if (snapshot->snapshot_type != SNAPSHOT_DIRTY)
		return InvalidTransactionId;
	return TransactionIdIsValid(snapshot->xmin) &&
		entry->kind != STRATA_ENTRY_LOCK ?
		snapshot->xmin :
		snapshot->xmax;
}

/*
 * The entry of `row` under snapshot; kind NONE when there is none.  With a
 * dirty snapshot entry->wait is the transaction, if any, whose end decides
 * about it.
 */
static void
find_entry(Relation batches, int64 row, Snapshot snapshot, StrataEntry *entry)
{
	Relation	index = index_open(strata_row_index_of(batches),
								   AccessShareLock);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(batches),
													&TTSOpsBufferHeapTuple);
	IndexScanDesc scan = strata_index_beginscan(batches, index, snapshot, 1,
												0);
	ScanKeyData key;

	memset(entry, 0, sizeof(*entry));
	entry->row = row;
	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(entry_key(row)));
	index_rescan(scan, &key, 1, NULL, 0);
	if (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		HeapTupleHeader header;

		slot_getsomeattrs(slot, STRATA_BATCH_FIXED_ATTS);
		strata_entry_parse(batches, slot, entry);
		header = ((BufferHeapTupleTableSlot *) slot)->base.tuple->t_data;
		entry->xmin = HeapTupleHeaderGetRawXmin(header);
		if (!HeapTupleHeaderXminFrozen(header) &&
			TransactionIdIsCurrentTransactionId(entry->xmin))
		{
			entry->ours = true;
			entry->cmin = HeapTupleHeaderGetCmin(header);
		}
		entry->wait = decider(snapshot, entry);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, AccessShareLock);
}

/* See store_entry.h. */
void
strata_entry_find_dirty(Relation batches, int64 row, StrataEntry *entry)
{
	SnapshotData dirty;

	InitDirtySnapshot(dirty);
	find_entry(batches, row, &dirty, entry);
}

/* See store_entry.h. */
void
strata_entry_find(Relation batches, int64 row, Snapshot snapshot,
				  StrataEntry *entry)
{
	find_entry(batches, row, snapshot, entry);
}

/*-------------------------------------------------------------------------
 * Entries of batches, as a snapshot sees them
 *-------------------------------------------------------------------------
 */
struct StrataEntries
{
	Relation	batches;
	Snapshot	snapshot;
	bool		check;			/* visibility is to be tested here */
	Relation	index;			/* opened when first needed */
	IndexScanDesc scan;
	TupleTableSlot *slot;
	MemoryContext mcxt;
	int			asked;			/* batches asked for so far */
	bool		complete;		/* all is all there is */
	bool		loaded;
	int			nall;
	int64	   *all;			/* PRELOAD row numbers, greatest first */
	uint16	   *rows;			/* what the last call gave out */
	int			rows_size;
};

/* See store_entry.h. */
StrataEntries *
strata_entries_create(Relation batches, Snapshot snapshot)
{
	StrataEntries *entries = palloc0(sizeof(StrataEntries));

	entries->batches = batches;
	entries->snapshot = snapshot;
	entries->mcxt = CurrentMemoryContext;

	/*
	 * Serializable: the index pages read here must not be locked against all
	 * writers of other batches.  Reading the batch itself has left the lock
	 * that writers of its rows look for.
	 */
	entries->check = IsolationIsSerializable() && IsMVCCSnapshot(snapshot);
	return entries;
}

/* Begin with the entries whose keys are in [from, to]. */
static void
begin_range(StrataEntries *entries, int64 from, int64 to)
{
	ScanKeyData keys[2];

	if (entries->scan == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(entries->mcxt);

		entries->slot =
			MakeSingleTupleTableSlot(RelationGetDescr(entries->batches),
									 &TTSOpsBufferHeapTuple);
		entries->scan = strata_index_beginscan(entries->batches,
											   entries->index,
											   entries->check ?
											   SnapshotAny :
											   entries->snapshot,
											   2, 0);
		MemoryContextSwitchTo(old);
	}
	ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(from));
	ScanKeyInit(&keys[1], 1, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(to));
	index_rescan(entries->scan, keys, 2, NULL, 0);
}

/* Next row that has left its batch; *visited counts what was looked at. */
static int64
next_row(StrataEntries *entries, ScanDirection direction, int *visited)
{
	while (index_getnext_slot(entries->scan, direction, entries->slot))
	{
		StrataEntry entry;

		(*visited)++;
		if (entries->check &&
			!table_tuple_satisfies_snapshot(entries->batches, entries->slot,
											entries->snapshot))
			continue;
		slot_getsomeattrs(entries->slot, STRATA_BATCH_FIXED_ATTS);
		strata_entry_parse(entries->batches, entries->slot, &entry);
		if (entry.kind != STRATA_ENTRY_LOCK)
			return entry.row;
	}
	return -1;
}

/* Usually there are no entries: one look at the index tells. */
static void
look_for_any(StrataEntries *entries)
{
	entries->index = index_open(strata_row_index_of(entries->batches),
								AccessShareLock);
	if (!strata_index_least_is_negative(entries->index))
		entries->complete = true;
}

/* Usually there are few entries: learn them all. */
static void
preload(StrataEntries *entries)
{
	int			visited = 0;
	int64		row = -1;

	entries->loaded = true;
	entries->all = MemoryContextAlloc(entries->mcxt, sizeof(int64) * PRELOAD);
	begin_range(entries, PG_INT64_MIN, -1);
	while (visited < PRELOAD &&
		   (row = next_row(entries, ForwardScanDirection, &visited)) >= 0)
		entries->all[entries->nall++] = row;
	entries->complete = row < 0;
	ExecClearTuple(entries->slot);
}

/* Position in all of the least row number that is >= row, or -1. */
static int
find_preloaded(StrataEntries *entries, int64 row)
{
	int			low = 0;
	int			high = entries->nall;	/* all[low ..] < row */

	while (low < high)
	{
		int			middle = (low + high) / 2;

		if (entries->all[middle] >= row)
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

static void
give_out(StrataEntries *entries, int n, int position)
{
	if (entries->rows_size <= n)
	{
		int			size = Max(64, entries->rows_size * 2);

		entries->rows = entries->rows == NULL ?
			MemoryContextAlloc(entries->mcxt, sizeof(uint16) * size) :
			repalloc(entries->rows, sizeof(uint16) * size);
		entries->rows_size = size;
	}
	Assert(n == 0 || entries->rows[n - 1] < position ||
		   !IsMVCCSnapshot(entries->snapshot)); /* store:S3 */
	entries->rows[n] = (uint16) position;
}

/* See store_entry.h. */
int
strata_entries_find(StrataEntries *entries, int64 first, int nrows)
{
	int64		last = first + nrows - 1;
	int			n = 0;

	/* the index scan lives longer than a caller's memory of one row */
	MemoryContext old = MemoryContextSwitchTo(entries->mcxt);

	if (entries->index == NULL)
		look_for_any(entries);
	/* who wants a few batches reads no entries of others */
	if (!entries->complete && !entries->loaded &&
		entries->asked++ >= ASKED_BEFORE_PRELOAD)
		preload(entries);
	if (entries->complete)
	{
		for (int i = find_preloaded(entries, first);
			 i >= 0 && entries->all[i] <= last; i--)
			give_out(entries, n++, (int) (entries->all[i] - first));
	}
	else
	{
		int			visited = 0;
		int64		row;

		/* ascending rows: descending keys */
		begin_range(entries, entry_key(last), entry_key(first));
		while ((row = next_row(entries, BackwardScanDirection, &visited)) >= 0)
			give_out(entries, n++, (int) (row - first));
		ExecClearTuple(entries->slot);
	}
	MemoryContextSwitchTo(old);
	return n;
}

/* See store_entry.h. */
void
strata_entries_apply_between(StrataEntries *entries, StrataBatchReader *reader,
							 int from, int to)
{
	Assert(0 <= from && from <= to && to <= reader->nrows); /* store:S2 */
	reader->ngone = strata_entries_find(entries, reader->first_row + from,
										to - from);
	reader->gone = entries->rows;
	for (int i = 0; i < reader->ngone && from > 0; i++)
		entries->rows[i] += (uint16) from;
}

/* See store_entry.h. */
void
strata_entries_apply(StrataEntries *entries, StrataBatchReader *reader)
{
	strata_entries_apply_between(entries, reader, 0, reader->nrows);
}

/* See store_entry.h. */
void
strata_entries_free(StrataEntries *entries)
{
	if (entries->scan != NULL)
	{
		index_endscan(entries->scan);
		ExecDropSingleTupleTableSlot(entries->slot);
	}
	if (entries->index != NULL)
		index_close(entries->index, NoLock);
	if (entries->all != NULL)
		pfree(entries->all);
	if (entries->rows != NULL)
		pfree(entries->rows);
	pfree(entries);
}

/*-------------------------------------------------------------------------
 * All entries of a table or batch, in the hands of who keeps others from
 * making any
 *-------------------------------------------------------------------------
 */

/* See store_entry.h. */
void
strata_entries_visit(Relation batches, Snapshot snapshot, int64 first_row,
					 int64 last_row, StrataEntryVisitor visit, void *arg)
{
	Relation	index = index_open(strata_row_index_of(batches),
								   AccessShareLock);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(batches),
													&TTSOpsBufferHeapTuple);
	IndexScanDesc scan = strata_index_beginscan(batches, index, snapshot, 2,
												0);
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(entry_key(last_row)));
	ScanKeyInit(&keys[1], 1, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(entry_key(first_row)));
	index_rescan(scan, keys, 2, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		StrataEntry entry;

		CHECK_FOR_INTERRUPTS();
		memset(&entry, 0, sizeof(entry));
		slot_getsomeattrs(slot, STRATA_BATCH_FIXED_ATTS);
		strata_entry_parse(batches, slot, &entry);
		entry.wait = decider(snapshot, &entry);
		visit(batches, &entry, arg);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, AccessShareLock);
}

static void
forget_place(Relation batches, const StrataEntry *entry, void *arg)
{
	ItemPointerData self = entry->self;

	if (entry->kind == STRATA_ENTRY_LOCK)
		simple_heap_delete(batches, &self);
	else if (entry->kind == STRATA_ENTRY_UPDATED ||
			 entry->kind == STRATA_ENTRY_MOVED)
		heap_freetuple(strata_entry_replace(batches, entry, STRATA_ENTRY_LOST,
											NULL, GetCurrentCommandId(true)));
}

/* See store_entry.h. */
void
strata_entries_forget_places(Relation rel)
{
	Oid			companion = strata_companion_oid(rel);
	Relation	batches;
	Snapshot	snapshot;

	if (!OidIsValid(companion))
		return;
	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock,
								   true));	/* store:S9 */
	batches = table_open(companion, RowExclusiveLock);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	strata_entries_visit(batches, snapshot, 0, STRATA_BATCH_MAX_ROW_NUMBER,
						 forget_place, NULL);
	UnregisterSnapshot(snapshot);
	table_close(batches, NoLock);
	CommandCounterIncrement();
}
