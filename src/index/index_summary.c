/*-------------------------------------------------------------------------
 *
 * index_summary.c
 *	  Runs of summaries as rows: written, and read.
 *
 * A row has the summaries of as many batches as fit a page, in the order of
 * the batches' numbers, which stand beside them:
 *
 *	crc32c (4 bytes) | size of each, 2 bytes | padding | the summaries
 *
 * The checksum is of all that follows and of the numbers: what reads a summary
 * believes what it reads.  A size of 0: the batch has none, as that would not
 * fit, and is always read.
 *
 * src/index/index_summary.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"

#include "access/stratnum.h"
#include "access/tableam.h"
#include "codec/codec.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

/* Most summaries of a row. */
#define ROW_SUMMARIES 256

/* A larger one is left out. */
#define SUMMARY_BYTES ((Size) 6144)

struct StrataSummaryWriter
{
	MemoryContext mcxt;			/* everything here */
	MemoryContext row_mcxt;
	Relation	relation;
	CatalogIndexState indexes;
	StrataIndexRun run;
	int			n;
	Size		nbytes;			/* of the summaries */
	int64		first_rows[ROW_SUMMARIES];
	uint16		sizes[ROW_SUMMARIES];
	void	   *summaries[ROW_SUMMARIES];
};

struct StrataSummaryCursor
{
	MemoryContext mcxt;
	Relation	relation;
	Relation	key;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	int32		number;
	StrataIndexRow scratch;		/* of the decoder */
};

/* Where the summaries of a row begin. */
static Size
summaries_offset(int n)
{
	return MAXALIGN(sizeof(uint32) + sizeof(uint16) * (Size) n);
}

static uint32
row_checksum(const char *data, Size size, const int64 *first_rows, int n)
{
	return strata_crc32c(data + sizeof(uint32), size - sizeof(uint32)) ^
		strata_crc32c(first_rows, sizeof(int64) * (Size) n);
}

/* See index_class_private.h. */
StrataSummaryWriter *
strata_summary_writer_begin(Relation relation, const StrataIndexRun *run)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata summary writer",
											   ALLOCSET_DEFAULT_SIZES);
	StrataSummaryWriter *writer;
	MemoryContext old = MemoryContextSwitchTo(mcxt);

	writer = palloc0(sizeof(StrataSummaryWriter));
	writer->mcxt = mcxt;
	writer->row_mcxt = AllocSetContextCreate(mcxt, "strata summary row",
											 ALLOCSET_DEFAULT_SIZES);
	writer->relation = relation;
	writer->indexes = CatalogOpenIndexes(relation);
	writer->run = *run;
	writer->run.entries = writer->run.nrows = 0;
	MemoryContextSwitchTo(old);
	return writer;
}

/* Write summaries [from, to) as a row, or as two where they do not fit. */
static void
write_summaries(StrataSummaryWriter *writer, int from, int to)
{
	int			n = to - from;
	const int64 *first_rows = writer->first_rows + from;
	bytea	   *numbers = strata_index_pack(first_rows, n);
	Size		at = summaries_offset(n);
	Size		size = at;
	bytea	   *packed;
	char	   *data;
	uint32		crc;

	for (int i = from; i < to; i++)
		size += writer->sizes[i];
	if (n > 1 &&
		size + VARHDRSZ + VARSIZE(numbers) > STRATA_INDEX_ROW_BYTES)
	{
		write_summaries(writer, from, from + n / 2);
		write_summaries(writer, from + n / 2, to);
		return;
	}
	packed = palloc0(VARHDRSZ + size);
	SET_VARSIZE(packed, VARHDRSZ + size);
	data = VARDATA(packed);
	memcpy(data + sizeof(uint32), writer->sizes + from,
		   sizeof(uint16) * (Size) n);
	for (int i = from; i < to; i++)
	{
		if (writer->sizes[i] > 0)
			memcpy(data + at, writer->summaries[i], writer->sizes[i]);
		at += writer->sizes[i];
	}
	crc = row_checksum(data, size, first_rows, n);
	memcpy(data, &crc, sizeof(uint32));
	strata_index_insert_entries(writer->relation, writer->indexes,
								writer->run.number, 0, first_rows[0], n,
								packed, numbers);
	writer->run.nrows++;
	writer->run.entries += n;
}

static void
write_summary_row(StrataSummaryWriter *writer)
{
	MemoryContext old = MemoryContextSwitchTo(writer->row_mcxt);

	CHECK_FOR_INTERRUPTS();
	write_summaries(writer, 0, writer->n);
	writer->n = 0;
	writer->nbytes = 0;
	MemoryContextSwitchTo(old);
	MemoryContextReset(writer->row_mcxt);
}

/* See index_class_private.h. */
void
strata_summary_writer_add(StrataSummaryWriter *writer, int64 first_row,
						  const void *summary, Size size)
{
	int			i;

	if (size > SUMMARY_BYTES || size != MAXALIGN(size))
		size = 0;
	if (writer->n == ROW_SUMMARIES ||
		(writer->n > 0 &&
		 summaries_offset(writer->n + 1) + writer->nbytes + size >
		 STRATA_INDEX_ROW_BYTES - STRATA_INDEX_ROW_BYTES / 16))
		write_summary_row(writer);
	i = writer->n++;
	Assert(i == 0 || writer->first_rows[i - 1] < first_row);	/* index:I6 */
	writer->first_rows[i] = first_row;
	writer->sizes[i] = (uint16) size;
	writer->nbytes += size;
	writer->summaries[i] = NULL;
	if (size > 0)
	{
		writer->summaries[i] = MemoryContextAlloc(writer->row_mcxt, size);
		memcpy(writer->summaries[i], summary, size);
	}
}

/* See index_class_private.h. */
void
strata_summary_writer_end(StrataSummaryWriter *writer, StrataIndexRun *run)
{
	if (writer->n > 0)
		write_summary_row(writer);
	run->entries = writer->run.entries;
	run->nrows = writer->run.nrows;
	strata_index_insert_description(writer->relation, writer->indexes,
									&writer->run);
	CatalogCloseIndexes(writer->indexes);
	MemoryContextDelete(writer->mcxt);
}

/* See index_class_private.h. */
StrataSummaryCursor *
strata_summary_cursor_begin(Relation relation, Snapshot snapshot,
							const StrataIndexRun *run)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata summary cursor",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataSummaryCursor *cursor = palloc0(sizeof(StrataSummaryCursor));

	cursor->mcxt = mcxt;
	cursor->relation = relation;
	cursor->number = run->number;
	cursor->key = index_open(strata_index_key_of(relation), AccessShareLock);
	cursor->slot = table_slot_create(relation, NULL);
	cursor->scan = strata_index_beginscan(relation, cursor->key, snapshot, 3,
										  0);
	MemoryContextSwitchTo(old);
	strata_summary_cursor_seek(cursor, 0);
	return cursor;
}

/* See index_class_private.h. */
void
strata_summary_cursor_seek(StrataSummaryCursor *cursor, int64 from)
{
	ScanKeyData keys[3];

	ScanKeyInit(&keys[0], 1, BTEqualStrategyNumber, F_INT4EQ,
				Int32GetDatum(cursor->number));
	ScanKeyInit(&keys[1], 2, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(0));
	ScanKeyInit(&keys[2], 3, BTGreaterEqualStrategyNumber, F_INT8GE,
				Int64GetDatum(from));
	index_rescan(cursor->scan, keys, 3, NULL, 0);
}

/* Where each summary of a row lies, whose checksum is right. */
static void
find_summaries(StrataSummaryCursor *cursor, StrataSummaryRow *row,
			   const char *data, Size size)
{
	Size		at = summaries_offset(row->n);

	memcpy(row->sizes, data + sizeof(uint32), sizeof(uint16) * (Size) row->n);
	for (int i = 0; i < row->n; i++)
	{
		if (row->sizes[i] != MAXALIGN(row->sizes[i]) ||
			at + row->sizes[i] > size ||
			(i > 0 && row->first_rows[i] <= row->first_rows[i - 1]))
			strata_index_report_damage(cursor->relation,
									   "Summaries of batches are not where they were written.");
		row->summaries[i] = row->sizes[i] > 0 ? data + at : NULL;
		at += row->sizes[i];
	}
	if (at != size)
		strata_index_report_damage(cursor->relation,
								   "There is more than the summaries of batches.");
}

/* See index_class_private.h. */
StrataSummaryRow *
strata_summary_cursor_next(StrataSummaryCursor *cursor)
{
	TupleTableSlot *slot = cursor->slot;
	StrataSummaryRow *row;
	struct varlena *packed;
	MemoryContext old;
	Size		size;
	int64		n;
	char	   *data;
	uint32		crc;

	CHECK_FOR_INTERRUPTS();
	if (!strata_index_getnext_slot(cursor->scan, ForwardScanDirection, slot))
		return NULL;
	slot_getallattrs(slot);
	n = DatumGetInt64(slot->tts_values[STRATA_INDEX_ATT_ENTRIES - 1]);
	if (n < 1 || n > ROW_SUMMARIES ||
		slot->tts_isnull[STRATA_INDEX_ATT_HASHES - 1] ||
		slot->tts_isnull[STRATA_INDEX_ATT_BATCHES - 1])
		strata_index_report_damage(cursor->relation,
								   "A row has no summaries.");
	packed = (struct varlena *)
		DatumGetPointer(slot->tts_values[STRATA_INDEX_ATT_HASHES - 1]);
	if (VARATT_IS_EXTENDED(packed))
		strata_index_report_damage(cursor->relation,
								   "Summaries of batches are not plain.");
	size = VARSIZE(packed) - VARHDRSZ;
	row = palloc(sizeof(StrataSummaryRow));
	row->n = (int) n;
	row->first_rows = palloc_array(int64, row->n);
	row->sizes = palloc_array(uint16, row->n);
	row->summaries = palloc_array(const void *, row->n);
	row->nbytes = size + (Size) row->n * 18;
	/* the decoder's scratch outlives rows */
	old = MemoryContextSwitchTo(cursor->mcxt);
	strata_index_unpack(cursor->relation,
						slot->tts_values[STRATA_INDEX_ATT_BATCHES - 1],
						row->n, &cursor->scratch, row->first_rows);
	MemoryContextSwitchTo(old);
	/* aligned */
	data = palloc(Max(size, 1));
	memcpy(data, VARDATA(packed), size);
	memcpy(&crc, data, Min(size, sizeof(uint32)));
	if (size < summaries_offset(row->n) ||
		crc != row_checksum(data, size, row->first_rows, row->n))
		strata_index_report_damage(cursor->relation,
								   "The checksum of summaries is wrong.");
	find_summaries(cursor, row, data, size);
	return row;
}

/* See index_class_private.h. */
void
strata_summary_cursor_end(StrataSummaryCursor *cursor)
{
	ExecDropSingleTupleTableSlot(cursor->slot);
	index_endscan(cursor->scan);
	index_close(cursor->key, AccessShareLock);
	MemoryContextDelete(cursor->mcxt);
}
