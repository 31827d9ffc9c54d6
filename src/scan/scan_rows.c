/*-------------------------------------------------------------------------
 *
 * scan_rows.c
 *	  Rows of the row store as columns, many at a time.
 *
 * The pages are read by pg/pg_pages.c.  Of each visible row only the columns
 * that somebody reads are taken out, straight into an array each; quals are
 * then tried on those arrays by the kernels that batches are filtered with.
 * So this is for scans all of whose quals have such kernels; and for whatever
 * strata_pages_can_read() does not leave to heapam.
 *
 * Values by reference are copied, as they are (compressed or out of line),
 * because their page does not stay pinned; short ones that come again and
 * again, as those of segments do, once (scan_intern.c).
 *
 * src/scan/scan_rows.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"
#include "scan/scan_intern_private.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "base/compat.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "utils/memutils.h"

/* Values by reference go here first; what has no room has a chunk each. */
#define ARENA_SIZE (64 * 1024)

/* A tuple of the page is asked for so many before its turn. */
#define TUPLES_AHEAD 8

/* A column of R, as a tuple has it. */
typedef struct RowAttribute
{
	int16		len;
	uint8		align;			/* bytes */
	bool		byval;
	StrataColumn *column;		/* NULL: nobody reads it */
	bool	   *nulls;			/* of column */
	StrataIntern *intern;		/* values that came before; NULL: none are
								 * kept */
} RowAttribute;

struct StrataRowReader
{
	StrataScanState *scan;
	StrataPages *pages;
	bool		at_end;			/* of the pages: asked again, they begin anew */
	TupleDesc	desc;
	int			natts;			/* up to the last that is read */
	RowAttribute *atts;
	int			nprefix;		/* columns at places that are the same in all
								 * tuples without nulls */
	int		   *offsets;		/* nprefix of them, and where the next begins */
	StrataBatchReader batch;	/* what filters look at: columns, nrows and a
								 * memory context */
	uint8	   *mask;
	uint16	   *rows;
	ItemPointerData *tids;
	char	   *arena;
	Size		arena_used;
};

/* Have a column read, into arrays of its own. */
static void
want_column(StrataRowReader *reader, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(reader->desc, attno - 1);
	StrataColumn *col = &reader->batch.columns[attno - 1];
	RowAttribute *place = &reader->atts[attno - 1];

	if (place->column != NULL)
		return;
	strata_column_type_init(&col->type, att);
	col->attno = attno;
	col->decoded = true;
	place->column = col;
	place->nulls = palloc(sizeof(bool) * STRATA_ROW_VECTOR_SIZE);
	if (col->type.typbyval)
		col->fixed = palloc0((Size) STRATA_ROW_VECTOR_SIZE * col->type.width);
	else
	{
		col->datums = palloc0(sizeof(Datum) * STRATA_ROW_VECTOR_SIZE);
		if (strata_enable_row_grouping)
			place->intern = strata_intern_create(att->attlen);
	}
	reader->natts = Max(reader->natts, attno);
}

static int
align_bytes(char align)
{
	switch (align)
	{
		case TYPALIGN_CHAR:
			return 1;
		case TYPALIGN_SHORT:
			return ALIGNOF_SHORT;
		case TYPALIGN_INT:
			return ALIGNOF_INT;
		default:
			return ALIGNOF_DOUBLE;
	}
}

/* Columns that stand at the same place in all tuples without nulls. */
static void
find_prefix(StrataRowReader *reader)
{
	int			offset = 0;

	reader->offsets = palloc(sizeof(int) * (reader->natts + 1));
	for (reader->nprefix = 0; reader->nprefix < reader->natts;
		 reader->nprefix++)
	{
		const RowAttribute *att = &reader->atts[reader->nprefix];

		if (att->len < 0)
			break;
		offset = TYPEALIGN(att->align, offset);
		reader->offsets[reader->nprefix] = offset;
		offset += att->len;
	}
	reader->offsets[reader->nprefix] = offset;
}

/* Room for a mask, and for what trees of quals need beside it. */
static Size
mask_size(const StrataFilter *filter)
{
	int			n = STRATA_ROW_VECTOR_SIZE;
	Size		size = n;

	for (int i = 0; i < filter->nquals; i++)
		size = Max(size, n +
				   strata_filter_scratch_size(filter->quals[i].tree, n));
	return size;
}

/*
 * A reader of the row store for these columns and those of quals; in the
 * scan's context.
 */
static StrataRowReader *
create_reader(StrataScanState *scan, const AttrNumber *attnos, int nattnos)
{
	MemoryContext old = MemoryContextSwitchTo(scan->mcxt);
	StrataRowReader *reader = palloc0(sizeof(StrataRowReader));
	Relation	rel = scan->css.ss.ss_currentRelation;

	reader->scan = scan;
	reader->desc = RelationGetDescr(rel);
	reader->pages = strata_pages_create(rel,
										scan->css.ss.ps.state->es_snapshot);
	reader->atts = palloc0(sizeof(RowAttribute) * reader->desc->natts);
	reader->batch.columns = palloc0(sizeof(StrataColumn) *
									reader->desc->natts);
	for (int i = 0; i < reader->desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(reader->desc, i);

		reader->atts[i].len = att->attlen;
		reader->atts[i].byval = att->attbyval;
		reader->atts[i].align = (uint8) align_bytes(att->attalign);
	}
	for (int i = 0; i < nattnos; i++)
		want_column(reader, attnos[i]);
	for (int i = 0; i < scan->filter->nquals; i++)
	{
		int			attno = -1;

		while ((attno = bms_next_member(scan->filter->quals[i].attnos,
										attno)) >= 0)
			want_column(reader, (AttrNumber) attno);
	}
	find_prefix(reader);
	reader->mask = palloc(mask_size(scan->filter));
	reader->rows = palloc(sizeof(uint16) * STRATA_ROW_VECTOR_SIZE);
	reader->tids = palloc(sizeof(ItemPointerData) * STRATA_ROW_VECTOR_SIZE);
	reader->arena = palloc(ARENA_SIZE);
	reader->batch.batch_mcxt = AllocSetContextCreate(scan->mcxt,
													 "StrataScan rows",
													 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(old);
	return reader;
}

/* See scan_private.h. */
void
strata_row_reader_rescan(StrataRowReader *reader)
{
	strata_pages_rescan(reader->pages);
	reader->at_end = false;
}

void
strata_row_reader_end(StrataRowReader *reader)
{
	strata_pages_end(reader->pages);
}

/*-------------------------------------------------------------------------
 * Taking tuples apart
 *-------------------------------------------------------------------------
 */

/* A copy of a value that stays when its page goes. */
static Datum
keep_bytes(StrataRowReader *reader, const char *value, Size size)
{
	char	   *copy;

	if (size <= ARENA_SIZE - reader->arena_used)
	{
		copy = reader->arena + reader->arena_used;
		reader->arena_used += MAXALIGN(size);
	}
	else
		copy = MemoryContextAlloc(reader->batch.batch_mcxt, size);
	memcpy(copy, value, size);
	return PointerGetDatum(copy);
}

/* Row n of the column is the value at p. */
static inline void
put_row_value(StrataRowReader *reader, const RowAttribute *att, int n,
			  const char *p)
{
	StrataColumn *col = att->column;

	if (!att->byval)
	{
		if (att->intern != NULL &&
			strata_intern_find(att->intern, p, &col->datums[n]))
			return;
		col->datums[n] = keep_bytes(reader, p,
									att_addlength_pointer(0, att->len, p));
		return;
	}
	switch (att->len)
	{
		case 1:
			((int8 *) col->fixed)[n] = *(const int8 *) p;
			break;
		case 2:
			((int16 *) col->fixed)[n] = *(const int16 *) p;
			break;
		case 4:
			((int32 *) col->fixed)[n] = *(const int32 *) p;
			break;
		default:
			((int64 *) col->fixed)[n] = *(const int64 *) p;
			break;
	}
}

static inline void
put_null(const RowAttribute *att, int n)
{
	att->nulls[n] = true;
	att->column->isnull = att->nulls;
}

/* A column that was added after the tuple was made. */
static void
put_missing(StrataRowReader *reader, int i, int n)
{
	const RowAttribute *att = &reader->atts[i];
	bool		isnull;
	Datum		value = getmissingattr(reader->desc, i + 1, &isnull);

	if (isnull)
		put_null(att, n);
	else if (att->byval)
		store_att_byval((char *) att->column->fixed + (Size) n * att->len,
						value, att->len);
	else
		att->column->datums[n] = value;
}

/* Row n of all columns, as heap_deform_tuple() finds the values. */
static void
put_tuple(StrataRowReader *reader, const HeapTupleHeaderData *tuple, int n)
{
	bool		has_nulls = (tuple->t_infomask & HEAP_HASNULL) != 0;
	const char *data = (const char *) tuple + tuple->t_hoff;
	int			natts = Min(HeapTupleHeaderGetNatts(tuple), reader->natts);
	int			offset = 0;
	int			i = 0;

	if (!has_nulls && natts >= reader->nprefix)
	{
		for (; i < reader->nprefix; i++)
			if (reader->atts[i].column != NULL)
				put_row_value(reader, &reader->atts[i], n,
							  data + reader->offsets[i]);
		offset = reader->offsets[i];
	}
	for (; i < natts; i++)
	{
		const RowAttribute *att = &reader->atts[i];

		if (has_nulls && att_isnull(i, tuple->t_bits))
		{
			if (att->column != NULL)
				put_null(att, n);
			continue;
		}
		if (att->len != -1 || !VARATT_NOT_PAD_BYTE(data + offset))
			offset = TYPEALIGN(att->align, offset);
		if (att->column != NULL)
			put_row_value(reader, att, n, data + offset);
		offset = att->len > 0 ?
			offset + att->len :
			(int) att_addlength_pointer(offset, att->len, data + offset);
	}
	for (; i < reader->natts; i++)
		if (reader->atts[i].column != NULL)
			put_missing(reader, i, n);
}

/* Fill the columns; returns the number of rows, 0 at the end. */
static int
read_rows(StrataRowReader *reader)
{
	HeapTupleHeader tuples[MaxHeapTuplesPerPage];
	int			n = 0;

	MemoryContextReset(reader->batch.batch_mcxt);
	reader->arena_used = 0;
	for (int i = 0; i < reader->natts; i++)
	{
		RowAttribute *att = &reader->atts[i];

		if (att->column == NULL)
			continue;
		att->column->isnull = NULL;
		memset(att->nulls, 0, sizeof(bool) * STRATA_ROW_VECTOR_SIZE);
		if (att->intern != NULL && !strata_intern_is_worth_it(att->intern))
			att->intern = NULL;
	}
	while (n < STRATA_ROW_VECTOR_SIZE && !reader->at_end)
	{
		int			room = Min(STRATA_ROW_VECTOR_SIZE - n,
							   MaxHeapTuplesPerPage);
		int			found = strata_pages_next_tuples(reader->pages, tuples,
													 &reader->tids[n],
													 room);

		reader->at_end = found == 0;
		if (reader->natts > 0)
			for (int i = 0; i < found; i++)
			{
				if (i + TUPLES_AHEAD < found)
					__builtin_prefetch(tuples[i + TUPLES_AHEAD]);
				put_tuple(reader, tuples[i], n + i);
			}
		n += found;
	}
	reader->batch.nrows = n;
	for (int i = 0; i < reader->natts; i++)
		if (reader->atts[i].column != NULL)
			reader->atts[i].column->n = n;
	return n;
}

/*-------------------------------------------------------------------------
 * Interface
 *-------------------------------------------------------------------------
 */

/* Try the quals; returns the number of rows that pass. */
static int
filter_rows(StrataRowReader *reader, StrataRowVector *vector)
{
	StrataScanState *scan = reader->scan;
	StrataFilter *filter = scan->filter;
	int			n = reader->batch.nrows;
	int			passed = 0;

	vector->rows = NULL;
	if (filter->nquals == 0)
		return n;
	if (!filter->prepared)
		strata_filter_prepare(filter, scan->run.econtext);
	memset(reader->mask, 1, n);
	scan->run.reader = &reader->batch;
	scan->run.bounded = false;
	scan->run.scratch = reader->mask + n;
	for (int i = 0; i < filter->nquals; i++)
	{
		Assert(filter->quals[i].promotable);	/* scan:R4 */
		strata_filter_vector(filter->quals[i].tree, &scan->run, reader->mask);
		if (memchr(reader->mask, 1, n) == NULL)
			break;
	}
	for (int i = 0; i < n; i++)
	{
		reader->rows[passed] = (uint16) i;
		passed += reader->mask[i];
	}
	if (passed < n)
		vector->rows = reader->rows;
	InstrCountFiltered1(&scan->css, n - passed);
	return passed;
}

/* Read rows until some pass the quals; false when there are no more. */
static bool
read_row_vector(StrataScanState *scan, const AttrNumber *attnos, int nattnos,
				StrataRowVector *vector)
{
	StrataRowReader *reader = scan->row_reader;

	if (reader == NULL)
	{
		reader = create_reader(scan, attnos, nattnos);
		scan->row_reader = reader;
	}
	do
	{
		vector->nrows = read_rows(reader);
		if (vector->nrows == 0)
		{
			scan->heap_done = true;
			return false;
		}
		vector->nselected = filter_rows(reader, vector);
	} while (vector->nselected == 0);
	vector->columns = reader->batch.columns;
	vector->tids = reader->tids;
	scan->counters.heap_rows += vector->nselected;
	return true;
}

/* See scan_vector.h. */
bool
strata_scan_gives_row_vectors(PlanState *node)
{
	StrataScanState *scan = (StrataScanState *) node;
	Relation	rel = scan->css.ss.ss_currentRelation;

	Assert(scan->info.nkeys == 0);	/* scan:R11 */
	if (scan->child != NULL || scan->heap_pscan != NULL ||
		scan->heap_scan != NULL)
		return false;
	for (int i = 0; i < scan->filter->nquals; i++)
		if (scan->filter->quals[i].way != STRATA_QUAL_VECTOR ||
			!scan->filter->quals[i].promotable ||
			!strata_enable_vector_filter)
			return false;
	if (!strata_pages_can_read(rel, node->state->es_snapshot))
		return false;
	if (scan->row_reader == NULL)
		strata_scan_check_outgrown(rel, scan->info.heap_pages,
								   RelationGetNumberOfBlocks(rel));
	return true;
}

/* See scan_vector.h. */
bool
strata_scan_next_row_vector(PlanState *node, const AttrNumber *attnos,
							int nattnos, StrataRowVector *vector)
{
	StrataScanState *scan = (StrataScanState *) node;
	bool		found;

	if (node->chgParam != NULL)
		ExecReScan(node);
	if (scan->heap_done)
		return false;
	if (node->instrument)
		InstrStartNode(node->instrument);
	ResetExprContext(node->ps_ExprContext);
	found = read_row_vector(scan, attnos, nattnos, vector);
	if (node->instrument)
		InstrStopNode(node->instrument, found ? vector->nselected : 0);
	return found;
}

/* See scan_vector.h. */
TupleTableSlot *
strata_scan_fetch_row(PlanState *node, ItemPointer tid)
{
	StrataScanState *scan = (StrataScanState *) node;

	if (!table_tuple_fetch_row_version(scan->css.ss.ss_currentRelation, tid,
									   node->state->es_snapshot,
									   scan->table_slot))
		elog(ERROR, "a row has vanished from \"%s\"",
			 RelationGetRelationName(scan->css.ss.ss_currentRelation));
	return scan->table_slot;
}
