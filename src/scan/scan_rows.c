/*-------------------------------------------------------------------------
 *
 * scan_rows.c
 *	  Rows of the row store as columns, many at a time.
 *
 * The pages are read by pg/pg_pages.c.  Of each visible row only the columns
 * that somebody reads are taken out, straight into an array each; quals are
 * then tried on those arrays by the kernels that batches are filtered with,
 * and by expr/ for many rows at a time.  So this is for scans all of whose
 * quals can be tried so; and for whatever strata_pages_can_read() does not
 * leave to heapam.
 *
 * Values by reference are copied, as they are (compressed or out of line),
 * because their page does not stay pinned; short ones that come again and
 * again, as those of segments do, once (scan_intern.c).
 *
 * Over 600 lines: of these more than half are how a tuple is taken apart,
 * which needs all of the reader.
 *
 * src/scan/scan_rows.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_join_private.h"
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
	uint16	   *numbers;		/* of them in the column */
} RowAttribute;

/* Tuples of a page that have, and lack, the same columns. */
typedef struct TupleGroup
{
	int			n;
	int			natts;			/* stored ones, of those up to the last read */
	uint64		nulls;			/* of these */
	const char *data[MaxHeapTuplesPerPage]; /* where values begin */
	uint32		offsets[MaxHeapTuplesPerPage];	/* of the next column */
	uint16		rows[MaxHeapTuplesPerPage];
} TupleGroup;

/* Tuples of more groups of a page are taken apart one by one. */
#define MAX_GROUPS 8

struct StrataRowReader
{
	StrataScanState *scan;
	StrataPages *pages;
	bool		at_end;			/* of the pages: asked again, they begin anew */
	TupleDesc	desc;
	int			natts;			/* up to the last that is read */
	RowAttribute *atts;
	TupleGroup *groups;			/* of a page, MAX_GROUPS of them */
	StrataBatchReader batch;	/* what filters look at: columns, nrows and a
								 * memory context */
	uint8	   *mask;
	uint16	   *rows;
	ItemPointerData *tids;		/* NULL: nobody asks for them */
	const uint16 **numbers;		/* by attno - 1, for vectors */
	uint64		numbering;
	char	   *arena;
	Size		arena_used;
};

/* Readers there were: each has numbers of its own. */
static uint64 numberings = 0;

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
		if (place->intern != NULL)
			place->numbers = palloc(sizeof(uint16) * STRATA_ROW_VECTOR_SIZE);
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

/* Room for a mask, and for what trees of quals need beside it. */
static Size
mask_size(const StrataFilter *filter)
{
	int			n = STRATA_ROW_VECTOR_SIZE;
	Size		size = n;

	for (int i = 0; i < filter->nown; i++)
		size = Max(size, n +
				   strata_filter_scratch_size(filter->quals[i].tree, n));
	return size;
}

/*
 * A reader of the row store for these columns and those of quals; in the
 * scan's context.
 */
static StrataRowReader *
create_reader(StrataScanState *scan, const AttrNumber *attnos, int nattnos,
			  bool with_tids)
{
	MemoryContext old = MemoryContextSwitchTo(scan->mcxt);
	StrataRowReader *reader = palloc0(sizeof(StrataRowReader));
	Relation	rel = scan->css.ss.ss_currentRelation;
	int			attno;

	reader->scan = scan;
	reader->desc = RelationGetDescr(rel);
	reader->pages = strata_pages_create(rel,
										scan->css.ss.ps.state->es_snapshot,
										scan->heap_pscan);
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
	for (int i = 0; i < scan->filter->nown; i++)
	{
		attno = -1;
		while ((attno = bms_next_member(scan->filter->quals[i].attnos,
										attno)) >= 0)
			want_column(reader, (AttrNumber) attno);
	}
	attno = -1;
	while ((attno = bms_next_member(scan->join_attnos, attno)) >= 0)
		want_column(reader, (AttrNumber) attno);
	reader->groups = palloc(sizeof(TupleGroup) * MAX_GROUPS);
	reader->mask = palloc(mask_size(scan->filter));
	reader->rows = palloc(sizeof(uint16) *
						  STRATA_FILTER_ROW_SPACE(STRATA_ROW_VECTOR_SIZE));
	if (with_tids)
		reader->tids = palloc(sizeof(ItemPointerData) *
							  STRATA_ROW_VECTOR_SIZE);
	reader->numbers = palloc0(sizeof(uint16 *) * reader->desc->natts);
	reader->numbering = ++numberings;
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

/* See scan_private.h. */
void
strata_row_reader_want(StrataRowReader *reader, const AttrNumber *attnos,
					   int nattnos)
{
	MemoryContext old = MemoryContextSwitchTo(reader->scan->mcxt);

	for (int i = 0; i < nattnos; i++)
		want_column(reader, attnos[i]);
	MemoryContextSwitchTo(old);
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
		if (att->intern != NULL)
		{
			att->numbers[n] = strata_intern_find(att->intern, p,
												 &col->datums[n]);
			if (att->numbers[n] != STRATA_NO_NUMBER)
				return;
		}
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
	{
		att->column->datums[n] = value;
		if (att->numbers != NULL)
			att->numbers[n] = STRATA_NO_NUMBER;
	}
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

#define PUT_FIXED(ctype, offset) \
	do { \
		ctype	   *to_ = att->column->fixed; \
		for (int i = 0; i < tuples->n; i++) \
			to_[tuples->rows[i]] = \
				*(const ctype *) (tuples->data[i] + (offset)); \
	} while (0)

#define PUT_BY_WIDTH(offset) \
	do { \
		switch (att->len) \
		{ \
			case 1: \
				PUT_FIXED(int8, offset); \
				break; \
			case 2: \
				PUT_FIXED(int16, offset); \
				break; \
			case 4: \
				PUT_FIXED(int32, offset); \
				break; \
			default: \
				PUT_FIXED(int64, offset); \
				break; \
		} \
	} while (0)

/* A column at that place of every tuple. */
static void
put_prefix_column(StrataRowReader *reader, const RowAttribute *att,
				  uint32 offset, const TupleGroup *tuples)
{
	if (att->byval)
		PUT_BY_WIDTH(offset);
	else
		for (int i = 0; i < tuples->n; i++)
			put_row_value(reader, att, tuples->rows[i],
						  tuples->data[i] + offset);
}

/* Values by reference, which the offsets lead to. */
static void
put_references(StrataRowReader *reader, const RowAttribute *att,
			   const TupleGroup *tuples)
{
	Datum	   *datums = att->column->datums;

	if (att->intern != NULL &&
		strata_intern_find_many(att->intern, tuples->data, tuples->offsets,
								tuples->rows, tuples->n, datums,
								att->numbers) == tuples->n)
		return;
	for (int i = 0; i < tuples->n; i++)
	{
		const char *p = tuples->data[i] + tuples->offsets[i];

		if (att->intern == NULL ||
			att->numbers[tuples->rows[i]] == STRATA_NO_NUMBER)
			datums[tuples->rows[i]] =
				keep_bytes(reader, p, att_addlength_pointer(0, att->len, p));
	}
}

/* A column that stands elsewhere in each tuple; moves on behind it. */
static void
put_next_column(StrataRowReader *reader, const RowAttribute *att,
				TupleGroup *tuples)
{
	uint32		align = att->align;

	if (att->len != -1)
		for (int i = 0; i < tuples->n; i++)
			tuples->offsets[i] = TYPEALIGN(align, tuples->offsets[i]);
	else
		for (int i = 0; i < tuples->n; i++)
			if (!VARATT_NOT_PAD_BYTE(tuples->data[i] + tuples->offsets[i]))
				tuples->offsets[i] = TYPEALIGN(align, tuples->offsets[i]);
	if (att->column != NULL && att->byval)
		PUT_BY_WIDTH(tuples->offsets[i]);
	else if (att->column != NULL)
		put_references(reader, att, tuples);
	if (att->len > 0)
		for (int i = 0; i < tuples->n; i++)
			tuples->offsets[i] += att->len;
	else
		for (int i = 0; i < tuples->n; i++)
			tuples->offsets[i] = (uint32)
				att_addlength_pointer(tuples->offsets[i], att->len,
									  tuples->data[i] + tuples->offsets[i]);
}

/* A column that is null in all tuples, or came later than they. */
static void
put_no_column(StrataRowReader *reader, int i, const TupleGroup *tuples)
{
	const RowAttribute *att = &reader->atts[i];

	if (att->column == NULL)
		return;
	for (int j = 0; j < tuples->n; j++)
		if (i < tuples->natts)
			put_null(att, tuples->rows[j]);
		else
			put_missing(reader, i, tuples->rows[j]);
}

static inline bool
group_has_null(const TupleGroup *tuples, int i)
{
	return i < 64 && (tuples->nulls >> i & 1) != 0;
}

/* All columns of a group, one after the other. */
static void
put_group(StrataRowReader *reader, TupleGroup *tuples)
{
	uint32		offset = 0;
	int			i = 0;

	/* as long as no length varies, all have a column at the same place */
	for (; i < tuples->natts; i++)
	{
		const RowAttribute *att = &reader->atts[i];

		if (group_has_null(tuples, i))
		{
			put_no_column(reader, i, tuples);
			continue;
		}
		if (att->len < 0)
			break;
		offset = TYPEALIGN(att->align, offset);
		if (att->column != NULL)
			put_prefix_column(reader, att, offset, tuples);
		offset += att->len;
	}
	for (int j = 0; j < tuples->n && i < tuples->natts; j++)
		tuples->offsets[j] = offset;
	for (; i < reader->natts; i++)
		if (i >= tuples->natts || group_has_null(tuples, i))
			put_no_column(reader, i, tuples);
		else
			put_next_column(reader, &reader->atts[i], tuples);
}

/*
 * The group of the page's tuples that this one belongs to, of *ngroups; NULL:
 * there is none.
 */
static inline TupleGroup *
group_of_tuple(StrataRowReader *reader, const HeapTupleHeaderData *tuple,
			   int *ngroups)
{
	int			natts = Min(HeapTupleHeaderGetNatts(tuple), reader->natts);
	uint64		nulls = 0;
	TupleGroup *group;

	if ((tuple->t_infomask & HEAP_HASNULL) != 0 && natts > 0)
	{
		if (natts > 64)
			return NULL;
		for (int byte = 0; byte < (natts + 7) / 8; byte++)
			nulls |= (uint64) (uint8) ~tuple->t_bits[byte] << (8 * byte);
		nulls &= PG_UINT64_MAX >> (64 - natts);
	}
	for (int i = 0; i < *ngroups; i++)
		if (reader->groups[i].nulls == nulls &&
			reader->groups[i].natts == natts)
			return &reader->groups[i];
	if (*ngroups == MAX_GROUPS)
		return NULL;
	group = &reader->groups[(*ngroups)++];
	group->n = 0;
	group->natts = natts;
	group->nulls = nulls;
	return group;
}

/*
 * Rows from n on of all columns.  Tuples that have the same columns are taken
 * apart together, column by column, which is a tight loop for each.
 */
static void
put_tuples(StrataRowReader *reader, HeapTupleHeader *found, int nfound, int n)
{
	int			ngroups = 0;

	for (int i = 0; i < nfound; i++)
	{
		const HeapTupleHeaderData *tuple = found[i];
		TupleGroup *group;

		if (i + TUPLES_AHEAD < nfound)
		{
			__builtin_prefetch(found[i + TUPLES_AHEAD]);
			__builtin_prefetch((const char *) found[i + TUPLES_AHEAD] + 64);
		}
		group = group_of_tuple(reader, tuple, &ngroups);
		if (group == NULL)
		{
			put_tuple(reader, tuple, n + i);
			continue;
		}
		group->data[group->n] = (const char *) tuple + tuple->t_hoff;
		group->rows[group->n++] = (uint16) (n + i);
	}
	for (int i = 0; i < ngroups; i++)
		put_group(reader, &reader->groups[i]);
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
		reader->numbers[i] = att->intern != NULL ? att->numbers : NULL;
	}
	while (n < STRATA_ROW_VECTOR_SIZE && !reader->at_end)
	{
		int			room = Min(STRATA_ROW_VECTOR_SIZE - n,
							   MaxHeapTuplesPerPage);
		int			found;

		found = strata_pages_next_tuples(reader->pages,
										 reader->natts > 0 ? tuples : NULL,
										 reader->tids != NULL ?
										 &reader->tids[n] : NULL, room);
		reader->at_end = found == 0;
		if (reader->natts > 0)
			put_tuples(reader, tuples, found, n);
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
	int			passed;
	int			nothers = 0;

	vector->rows = NULL;
	if (scan->njoins_open > 0)
		(void) strata_scan_take_join_values(scan);
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
		if (i < filter->nown && filter->quals[i].way != STRATA_QUAL_VECTOR)
		{
			nothers++;
			continue;
		}
		Assert(filter->quals[i].promotable);	/* scan:R4 */
		if (i < filter->nown)
			strata_filter_vector(filter->quals[i].tree, &scan->run,
								 reader->mask);
		else if (strata_join_qual_pays(NULL, &filter->quals[i]))
			strata_join_qual_run(&filter->quals[i], &scan->run, reader->mask);
		if (memchr(reader->mask, 1, n) == NULL)
			break;
	}
	passed = strata_filter_mask_rows(reader->mask, n, reader->rows);
	if (nothers > 0 && passed > 0)
		passed = strata_rows_filter_rest(scan, &reader->batch, reader->rows,
										 passed);
	if (passed < n)
		vector->rows = reader->rows;
	InstrCountFiltered1(&scan->css, n - passed);
	return passed;
}

/* See scan_private.h. */
bool
strata_row_reader_next(StrataScanState *scan, const AttrNumber *attnos,
					   int nattnos, bool with_tids, StrataRowVector *vector)
{
	StrataRowReader *reader = scan->row_reader;

	if (reader == NULL)
	{
		reader = create_reader(scan, attnos, nattnos, with_tids);
		scan->row_reader = reader;
	}
	do
	{
		vector->nrows = read_rows(reader);
		if (vector->nrows == 0)
			return false;
		vector->nselected = filter_rows(reader, vector);
	} while (vector->nselected == 0);
	vector->columns = reader->batch.columns;
	vector->tids = reader->tids;
	vector->numbers = reader->numbers;
	vector->numbering = reader->numbering;
	scan->counters.column_rows += vector->nselected;
	return true;
}

/* See scan_private.h. */
bool
strata_row_reader_can_read(StrataScanState *scan)
{
	Relation	rel = scan->css.ss.ss_currentRelation;

	if (scan->child != NULL || scan->heap_scan != NULL)
		return false;
	if (!strata_rows_go_together(scan))
		return false;
	if (!strata_pages_can_read(rel, scan->css.ss.ps.state->es_snapshot))
		return false;
	if (scan->row_reader == NULL)
		strata_scan_check_outgrown(rel, scan->info.heap_pages,
								   RelationGetNumberOfBlocks(rel));
	return true;
}

/* See scan_vector.h. */
bool
strata_scan_gives_row_vectors(PlanState *node)
{
	StrataScanState *scan = (StrataScanState *) node;

	Assert(scan->info.nkeys == 0);	/* scan:R11 */
	return strata_row_reader_can_read(scan);
}

/* See scan_vector.h. */
bool
strata_scan_next_row_vector(PlanState *node, const AttrNumber *attnos,
							int nattnos, bool with_tids,
							StrataRowVector *vector)
{
	StrataScanState *scan = (StrataScanState *) node;
	bool		found;

	if (node->chgParam != NULL)
		ExecReScan(node);
	if (scan->heap_done)
		return false;
	strata_scan_share_subplans(scan);
	if (node->instrument)
		InstrStartNode(node->instrument);
	ResetExprContext(node->ps_ExprContext);
	found = strata_row_reader_next(scan, attnos, nattnos, with_tids, vector);
	if (found)
		scan->counters.heap_rows += vector->nselected;
	else
		scan->heap_done = true;
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
