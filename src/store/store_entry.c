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
 *	0		1		kind, see store_entry.h
 *	1		6		heap TID (native), or zeros
 *	7		4		CRC-32C over row number (int64), kind, TID; native order
 *
 * Rows of a batch that one command deletes together have one entry, which the
 * number of the first of them is the key of: -(2^40 + row number + 1).
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		'r' a run of rows, 'b' a bitmap of them
 *	1		2		run: how many (u16, native)
 *	1		n		bitmap: bit i is set when row first + i is one of them
 *	3, 1+n	4		CRC-32C over the first's row number and all before it
 *
 * Entries are tuples like any other: who sees the entry sees that the row has
 * left its batch, and who does not sees the row there.  Lock entries change
 * nothing for readers, so they are frozen at birth and seen by all, but for
 * those on batches of the same transaction, which may never come to be.
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
#include "port/pg_bitutils.h"
#include "port/pg_crc32c.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/snapmgr.h"

/* Without the CRC: kind and TID, or kind and length. */
#define SINGLE_BYTES (1 + sizeof(ItemPointerData))
#define RUN_BYTES (1 + sizeof(uint16))

/* So that an entry never gets out of line. */
#define BITMAP_BYTES 1024
#define MOST_BYTES (1 + BITMAP_BYTES + sizeof(pg_crc32c))

/* Fewer deleted rows have an entry each, which is found at once. */
#define TOGETHER 4

/*-------------------------------------------------------------------------
 * Bytes
 *-------------------------------------------------------------------------
 */
static pg_crc32c
entry_crc(int64 row, const uint8 *bytes, int nbytes)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &row, sizeof(row));
	COMP_CRC32C(crc, bytes, nbytes);
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

/* What an entry of one row says, in bytes that are of its kind's length. */
static void
parse_single(Relation batches, const uint8 *bytes, StrataEntry *entry)
{
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

/* The same of rows deleted together. */
static void
parse_together(Relation batches, const uint8 *bytes, int nbytes,
			   StrataEntry *entry)
{
	uint16		nrows;

	entry->kind = STRATA_ENTRY_DELETED;
	if (bytes[0] == 'r' && nbytes == RUN_BYTES)
	{
		memcpy(&nrows, bytes + 1, sizeof(nrows));
		entry->span = nrows;
	}
	else if (bytes[0] == 'b' && nbytes > 1 && nbytes <= 1 + BITMAP_BYTES &&
			 (bytes[1] & 1) != 0 && bytes[nbytes - 1] != 0)
	{
		entry->bits = bytes + 1;
		entry->span = 8 * (nbytes - 2) +
			pg_leftmost_one_pos32(bytes[nbytes - 1]) + 1;
	}
	else
		corrupt(batches, entry->row, "it is of no known kind");
	if (entry->span == 0 ||
		entry->row > STRATA_BATCH_MAX_ROW_NUMBER - entry->span)
		corrupt(batches, entry->row, "there are no such rows");
}

/* See store_entry.h. */
void
strata_entry_parse(Relation batches, TupleTableSlot *slot, StrataEntry *entry)
{
	int64		key;
	bytea	   *value;
	const uint8 *bytes;
	int			nbytes;
	pg_crc32c	crc;

	key = DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]);
	entry->together = key < -STRATA_TOGETHER_KEYS;
	entry->row = -(key + (entry->together ? STRATA_TOGETHER_KEYS : 0) + 1);
	entry->self = slot->tts_tid;
	entry->span = 1;
	entry->bits = NULL;
	ItemPointerSetInvalid(&entry->tid);
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
	if (!strata_varlena_is_plain(value) ||
		VARSIZE_ANY_EXHDR(value) < RUN_BYTES + sizeof(crc) - 1 ||
		(!entry->together &&
		 VARSIZE_ANY_EXHDR(value) != SINGLE_BYTES + sizeof(crc)))
		corrupt(batches, entry->row, "it has the wrong length");
	nbytes = VARSIZE_ANY_EXHDR(value) - sizeof(crc);
	memcpy(&crc, bytes + nbytes, sizeof(crc));
	if (crc != entry_crc(entry->row, bytes, nbytes))
		corrupt(batches, entry->row, "its checksum differs");
	if (entry->together)
		parse_together(batches, bytes, nbytes, entry);
	else
		parse_single(batches, bytes, entry);
}

/* See store_entry.h. */
int
strata_entry_count(const StrataEntry *entry)
{
	return entry->bits == NULL ? entry->span :
		(int) pg_popcount((const char *) entry->bits, (entry->span + 7) / 8);
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

/* A tuple of the companion, with these bytes and their CRC; palloc'd. */
static HeapTuple
form_tuple(Relation batches, int64 key, int64 row, const uint8 *bytes,
		   int nbytes)
{
	Datum		values[STRATA_BATCH_FIXED_ATTS];
	bool		isnull[STRATA_BATCH_FIXED_ATTS] = {0};
	union
	{
		int32		align;
		char		bytes[VARHDRSZ + MOST_BYTES];
	}			value;
	int32		layout = 0;
	pg_crc32c	crc = entry_crc(row, bytes, nbytes);
	HeapTuple	tuple;

	Assert(nbytes + sizeof(crc) <= MOST_BYTES); /* store:S2 */
	SET_VARSIZE(&value, VARHDRSZ + nbytes + sizeof(crc));
	SET_VARSIZE(&layout, VARHDRSZ);
	memcpy(VARDATA(&value), bytes, nbytes);
	memcpy(VARDATA(&value) + nbytes, &crc, sizeof(crc));
	values[STRATA_BATCH_ATT_FIRST_ROW - 1] = Int64GetDatum(key);
	values[STRATA_BATCH_ATT_NROWS - 1] = Int32GetDatum(0);
	values[STRATA_BATCH_ATT_LAYOUT - 1] = PointerGetDatum(&layout);
	values[STRATA_BATCH_ATT_SUMMARY - 1] = (Datum) 0;
	isnull[STRATA_BATCH_ATT_SUMMARY - 1] = true;
	values[STRATA_BATCH_ATT_ENTRY - 1] = PointerGetDatum(&value);
	tuple = heap_form_tuple(fixed_columns(batches), values, isnull);
	tuple->t_tableOid = RelationGetRelid(batches);
	return tuple;
}

/* An entry of a row, as a tuple of the companion; palloc'd. */
static HeapTuple
form_entry(Relation batches, int64 row, StrataEntryKind kind,
		   const ItemPointerData *tid)
{
	uint8		bytes[SINGLE_BYTES] = {(uint8) kind};

	if (tid != NULL)
		memcpy(bytes + 1, tid, sizeof(ItemPointerData));
	return form_tuple(batches, strata_entry_key(row), row, bytes,
					  SINGLE_BYTES);
}

/*
 * One entry of some of these rows of a batch, which are deleted; *taken: of
 * how many, from the first on.
 */
static HeapTuple
form_together(Relation batches, int64 first_row, const uint16 *rows, int nrows,
			  int *taken)
{
	uint8		bytes[1 + BITMAP_BYTES] = {0};
	int			nbytes = RUN_BYTES;
	int64		row = first_row + rows[0];
	uint16		run = 1;
	int			n;

	while (run < nrows && rows[run] == rows[0] + run)
		run++;
	if (run == nrows)
	{
		bytes[0] = 'r';
		memcpy(bytes + 1, &run, sizeof(run));
		n = nrows;
	}
	else
	{
		bytes[0] = 'b';
		for (n = 0; n < nrows && rows[n] - rows[0] < 8 * BITMAP_BYTES; n++)
			bytes[1 + (rows[n] - rows[0]) / 8] |=
				1 << (rows[n] - rows[0]) % 8;
		nbytes = 2 + (rows[n - 1] - rows[0]) / 8;
	}
	*taken = n;
	return form_tuple(batches, strata_together_key(row), row, bytes, nbytes);
}

/*-------------------------------------------------------------------------
 * Writing.  Entries stand in the index on first_row only.
 *-------------------------------------------------------------------------
 */
static void
index_entry(Relation batches, HeapTuple tuple, int64 key)
{
	Relation	index = index_open(strata_row_index_of(batches),
								   RowExclusiveLock);
	IndexInfo  *info = BuildIndexInfo(index);

	/* first_row, nrows */
	Datum		values[2] = {Int64GetDatum(key), Int32GetDatum(0)};
	bool		isnull[2] = {false, false};

	(void) index_insert(index, values, isnull, &tuple->t_self, batches,
						UNIQUE_CHECK_YES, false, info);
	strata_ends_note(batches, key);
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
	index_entry(batches, tuple, strata_entry_key(row));
	strata_rows_note_touched(batches, row, row);
	if (forever)
		strata_tuple_freeze(batches, &tuple->t_self);
	if (self != NULL)
		*self = tuple->t_self;
	heap_freetuple(tuple);
}

/* See store_entry.h. */
void
strata_entries_insert_deleted(Relation batches, int64 first_row,
							  const uint16 *rows, int nrows, CommandId cid)
{
	if (nrows < TOGETHER)
	{
		for (int i = 0; i < nrows; i++)
			strata_entry_insert(batches, first_row + rows[i],
								STRATA_ENTRY_DELETED, NULL, cid, false, NULL);
		return;
	}
	for (int i = 0; i < nrows;)
	{
		int			taken;
		HeapTuple	tuple = form_together(batches, first_row, rows + i,
										  nrows - i, &taken);

		heap_insert(batches, tuple, cid, 0, NULL);
		index_entry(batches, tuple, strata_together_key(first_row + rows[i]));
		strata_rows_note_touched(batches, first_row + rows[i],
								 first_row + rows[i + taken - 1]);
		heap_freetuple(tuple);
		i += taken;
		Assert(i == nrows || rows[i - 1] < rows[i]);	/* store:S3 */
	}
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
		index_entry(batches, tuple, strata_entry_key(entry->row));
	/* who looked for entries in between may have seen neither tuple */
	strata_rows_note_touched(batches, entry->row, entry->row);
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

/* Look for entries whose keys are in [from, to]. */
static void
look_between(IndexScanDesc scan, int64 from, int64 to)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(from));
	ScanKeyInit(&keys[1], 1, BTLessEqualStrategyNumber, F_INT8LE,
				Int64GetDatum(to));
	index_rescan(scan, keys, 2, NULL, 0);
}

/* The next entry that is about the row; false: there is none. */
static bool
next_about(Relation batches, IndexScanDesc scan, TupleTableSlot *slot,
		   int64 row, StrataEntry *entry)
{
	while (strata_index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		slot_getsomeattrs(slot, STRATA_BATCH_FIXED_ATTS);
		strata_entry_parse(batches, slot, entry);
		if (strata_entry_is_about(entry, row))
			return true;
	}
	return false;
}

/*
 * The entry of `row` under snapshot; kind NONE when there is none.  With a
 * dirty snapshot entry->wait is the transaction, if any, whose end decides
 * about it.
 */
static void
find_entry(Relation batches, int64 batch, int64 row, Snapshot snapshot,
		   StrataEntry *entry)
{
	Relation	index = index_open(strata_row_index_of(batches),
								   AccessShareLock);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(batches),
													&TTSOpsBufferHeapTuple);
	IndexScanDesc scan = strata_index_beginscan(batches, index, snapshot, 2,
												0);
	bool		found;

	Assert(batch >= 0 && batch <= row); /* store:S4 */
	memset(entry, 0, sizeof(*entry));
	look_between(scan, strata_entry_key(row), strata_entry_key(row));
	found = next_about(batches, scan, slot, row, entry);
	if (!found &&
		strata_companion_least_key(batches, index) < -STRATA_TOGETHER_KEYS)
	{
		look_between(scan, strata_together_key(row),
					 strata_together_key(batch));
		found = next_about(batches, scan, slot, row, entry);
	}
	if (found)
	{
		HeapTupleHeader header;

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
	else
		memset(entry, 0, sizeof(*entry));
	/* of rows deleted together, too */
	entry->row = row;
	entry->together = false;
	entry->span = 1;
	entry->bits = NULL;
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, AccessShareLock);
}

/* See store_entry.h. */
void
strata_entry_find_dirty(Relation batches, int64 batch, int64 row,
						StrataEntry *entry)
{
	SnapshotData dirty;

	if (strata_row_is_untouched(batches, batch, row))
	{
		memset(entry, 0, sizeof(*entry));
		entry->row = row;
		entry->span = 1;
		return;
	}
	InitDirtySnapshot(dirty);
	find_entry(batches, batch, row, &dirty, entry);
}

/* See store_entry.h. */
void
strata_entry_find(Relation batches, int64 batch, int64 row, Snapshot snapshot,
				  StrataEntry *entry)
{
	find_entry(batches, batch, row, snapshot, entry);
}

/*-------------------------------------------------------------------------
 * All entries of a table or batch, in the hands of who keeps others from
 * making any
 *-------------------------------------------------------------------------
 */

/* Visit what the scan has been set to, where it is about rows from first on. */
static void
visit_scan(Relation batches, IndexScanDesc scan, TupleTableSlot *slot,
		   int64 first_row, StrataEntryVisitor visit, void *arg)
{
	while (strata_index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		StrataEntry entry;

		CHECK_FOR_INTERRUPTS();
		memset(&entry, 0, sizeof(entry));
		slot_getsomeattrs(slot, STRATA_BATCH_FIXED_ATTS);
		strata_entry_parse(batches, slot, &entry);
		entry.wait = decider(scan->xs_snapshot, &entry);
		if (entry.row + entry.span > first_row)
			visit(batches, &entry, arg);
	}
}

/* See store_entry.h. */
void
strata_entries_visit(Relation batches, Snapshot snapshot, int64 batch,
					 int64 first_row, int64 last_row,
					 StrataEntryVisitor visit, void *arg)
{
	Relation	index = index_open(strata_row_index_of(batches),
								   AccessShareLock);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(RelationGetDescr(batches),
													&TTSOpsBufferHeapTuple);
	IndexScanDesc scan = strata_index_beginscan(batches, index, snapshot, 2,
												0);

	Assert(batch <= first_row && first_row <= last_row);	/* store:S4 */
	look_between(scan, strata_entry_key(last_row),
				 strata_entry_key(first_row));
	visit_scan(batches, scan, slot, first_row, visit, arg);
	if (strata_companion_least_key(batches, index) < -STRATA_TOGETHER_KEYS)
	{
		look_between(scan, strata_together_key(last_row),
					 strata_together_key(batch));
		visit_scan(batches, scan, slot, first_row, visit, arg);
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
	strata_entries_visit(batches, snapshot, 0, 0, STRATA_BATCH_MAX_ROW_NUMBER,
						 forget_place, NULL);
	UnregisterSnapshot(snapshot);
	table_close(batches, NoLock);
	CommandCounterIncrement();
}
