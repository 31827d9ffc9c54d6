/*-------------------------------------------------------------------------
 *
 * top_sort_input.c
 *	  Batches and rows of one plan become records of a sort.
 *
 * Columns of a batch go into its records one after the other.  Of values by
 * reference those that batches share, constants and entries of dictionaries,
 * are kept once.  Where all together outgrow memory, or runs become too many,
 * rows go on into a sort of PostgreSQL's.
 *
 * src/top/top_sort_input.c
 *-------------------------------------------------------------------------
 */
#include "top/top_sort_private.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* Rows of a vector, from .. to of those that are selected. */
typedef struct SortRows
{
	const uint16 *rows;			/* NULL: they are their own numbers */
	int			from;
	int			to;
} SortRows;

#define ROW_OF(some, i) ((some)->rows != NULL ? (some)->rows[i] : (i))

/* What a value of the field becomes in a record. */
static Datum
record_value(StrataSort *sort, SortField *field, Datum value, bool shared)
{
	uint32		number;

	if (!field->numbered && (field->typbyval || !shared))
		return strata_sort_copy(sort, field, value);
	number = strata_sort_number(sort, field, value);
	return field->numbered ? UInt32GetDatum(number) :
		field->values.values[number];
}

#define PUT_LOOP(type) \
	do { \
		const type *values = (const type *) col->fixed - col->from; \
		if (some->rows == NULL) \
			for (int i = some->from; i < some->to; i++, p += size) \
				*(type *) p = values[i]; \
		else \
			for (int i = some->from; i < some->to; i++, p += size) \
				*(type *) p = values[some->rows[i]]; \
	} while (0)

/* Values of a column that has them side by side; those of nulls, too. */
static void
put_fixed_field(const StrataSort *sort, const SortField *field,
				const StrataColumn *col, const SortRows *some, char *p)
{
	Size		size = sort->record_size;

	switch (field->width)
	{
		case 1:
			PUT_LOOP(int8);
			break;
		case 2:
			PUT_LOOP(int16);
			break;
		case 4:
			PUT_LOOP(int32);
			break;
		default:
			PUT_LOOP(int64);
			break;
	}
}

/* Values of a column of any shape. */
static void
put_any_field(StrataSort *sort, SortField *field, const StrataColumn *col,
			  const SortRows *some, char *p)
{
	Datum	   *entries = NULL;
	bool	   *known = NULL;

	if (col->codes != NULL)
	{
		entries = MemoryContextAlloc(sort->vector_mcxt, sizeof(Datum) *
									 Max(col->ndict, 1));
		known = MemoryContextAllocZero(sort->vector_mcxt, Max(col->ndict, 1));
	}
	for (int i = some->from; i < some->to; i++, p += sort->record_size)
	{
		bool		isnull;
		int			row = ROW_OF(some, i);
		Datum		value = strata_column_get(col, row, &isnull);

		if (isnull)
			value = (Datum) 0;
		else if (entries != NULL)
		{
			uint32		code = col->codes[row - col->from];

			if (!known[code])
				entries[code] = record_value(sort, field, value, true);
			known[code] = true;
			value = entries[code];
		}
		else
			value = record_value(sort, field, value, false);
		strata_fixed_put(p, field->width, 0, value);
	}
}

/* Which rows are null in the column, of field i. */
static void
put_nulls(const StrataSort *sort, int i, const StrataColumn *col,
		  const SortRows *some, char *records)
{
	char	   *p = records + sort->nulls_at + i / 8;
	uint8		bit = (uint8) (1 << (i % 8));

	for (int row = some->from; row < some->to; row++, p += sort->record_size)
		if (col->constant || col->isnull[ROW_OF(some, row) - col->from])
			*(uint8 *) p |= bit;
}

/* Put a column of the rows into their records. */
static void
put_column(StrataSort *sort, int i, const StrataColumn *col,
		   const SortRows *some, char *records)
{
	SortField  *field = &sort->fields[i];
	char	   *p = records + field->offset;

	if (col->constant)
	{
		Datum		value = col->value_isnull ? (Datum) 0 :
		record_value(sort, field, col->value, true);

		for (int row = some->from; row < some->to;
			 row++, p += sort->record_size)
			strata_fixed_put(p, field->width, 0, value);
		if (col->value_isnull)
			put_nulls(sort, i, col, some, records);
		return;
	}
	if (col->fixed != NULL && !field->numbered)
		put_fixed_field(sort, field, col, some, p);
	else
		put_any_field(sort, field, col, some, p);
	if (col->isnull != NULL)
		put_nulls(sort, i, col, some, records);
}

/*-------------------------------------------------------------------------
 * Rows of a source
 *-------------------------------------------------------------------------
 */

/* The row in top->put goes into PostgreSQL's sort. */
static void
put_in_tuplesort(StrataTopState *top)
{
	ExecStoreVirtualTuple(top->put);
	tuplesort_puttupleslot(top->sort, top->put);
}

/* From here on rows go into PostgreSQL's sort, and so do those that are there. */
static void
give_up_records(StrataTopState *top)
{
	StrataSort *sort = top->sorter;
	const char *record;

	Assert(top->sort == NULL);	/* top:N9 */
	strata_top_begin_sort(top, -1);
	while ((record = strata_sort_read_back(sort)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		ExecClearTuple(top->put);
		strata_sort_load(sort, record, top->put->tts_values,
						 top->put->tts_isnull);
		put_in_tuplesort(top);
	}
	ExecClearTuple(top->put);
	strata_sort_free(sort);
	top->sorter = NULL;
}

/* The first rows of a vector become records, as far as there may be more. */
static int
put_records(StrataSort *sort, const StrataColumn *const *columns, int n,
			const uint16 *rows)
{
	SortRows	some = {rows, 0, 0};

	while (some.to < n && !strata_sort_is_too_large(sort))
	{
		int			room = (int) strata_sort_reserve(sort, n - some.to);
		char	   *records = sort->records + sort->n * sort->record_size;

		Assert(room > 0);		/* top:N8 */
		some.from = some.to;
		some.to += room;
		memset(records, 0, (Size) room * sort->record_size);
		for (int i = 0; i < sort->nfields; i++)
			put_column(sort, i, columns[i], &some, records);
		sort->n += room;
		MemoryContextReset(sort->vector_mcxt);
	}
	return some.to;
}

/*
 * All selected rows of a vector, of which top->columns are the inputs; columns
 * of expressions are put behind them.
 */
static void
put_vector(StrataTopState *top, const TopRows *vector)
{
	TupleTableSlot *put = top->put;
	int			ncolumns = put->tts_tupleDescriptor->natts;
	const uint16 *rows = vector->rows;
	int			n = vector->n;
	int			from;

	if (top->exprs != NULL)
	{
		strata_top_exprs_compute(top, vector, NULL, n, 0, top->exprs->n);
		for (int i = 0; i < top->exprs->n; i++)
			top->columns[top->ninputs + i] = &top->exprs->exprs[i].column;
	}
	from = top->sorter == NULL ? 0 :
		put_records(top->sorter, top->columns, n, rows);
	top->ntaken += n;
	if (from < n && top->sorter != NULL)
		give_up_records(top);
	for (int i = from; i < n; i++)
	{
		int			row = rows != NULL ? rows[i] : i;

		ExecClearTuple(put);
		for (int j = 0; j < ncolumns; j++)
			put->tts_values[j] = strata_column_get(top->columns[j], row,
												   &put->tts_isnull[j]);
		put_in_tuplesort(top);
	}
}

/* A row of a plan, or of a row store, in a slot. */
static void
put_slot_row(StrataTopState *top, const TopSource *source,
			 TupleTableSlot *slot)
{
	StrataSort *sort = top->sorter;
	TupleTableSlot *put = top->put;
	char	   *record;

	top->ntaken++;
	if (sort != NULL && strata_sort_is_too_large(sort))
		give_up_records(top);
	strata_top_load_inputs(top, source, slot);
	strata_top_exprs_of_row(top);
	if (top->sorter == NULL)
	{
		put_in_tuplesort(top);
		return;
	}
	(void) strata_sort_reserve(sort, 1);
	record = sort->records + sort->n++ * sort->record_size;
	memset(record, 0, sort->record_size);
	for (int i = 0; i < sort->nfields; i++)
	{
		SortField  *field = &sort->fields[i];

		if (put->tts_isnull[i])
			*(uint8 *) (record + sort->nulls_at + i / 8) |=
				(uint8) (1 << (i % 8));
		else
			strata_fixed_put(record + field->offset, field->width, 0,
							 record_value(sort, field, put->tts_values[i],
										  false));
	}
}

/* Rows of a row store, or of a plan that gives no vectors. */
static void
put_rows_of(StrataTopState *top, TopSource *source)
{
	StrataRowVector vector;
	TupleTableSlot *slot;

	if (source->vectors && strata_scan_gives_row_vectors(source->node))
	{
		while (strata_scan_next_row_vector(source->node, source->attnos,
										   top->ninputs, false, &vector))
		{
			TopRows		rows = {NULL, vector.columns, vector.tids,
			source->attnos, vector.nselected, vector.rows, 0};

			CHECK_FOR_INTERRUPTS();
			for (int i = 0; i < top->ninputs; i++)
				top->columns[i] = &vector.columns[source->attnos[i] - 1];
			put_vector(top, &rows);
		}
		return;
	}
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		slot = source->vectors ? strata_scan_next_heap_row(source->node) :
			ExecProcNode(source->node);
		if (TupIsNull(slot))
			return;
		put_slot_row(top, source, slot);
	}
}

/* See top_sort_private.h. */
void
strata_sort_source_read(StrataTopState *top, TopSource *source)
{
	StrataVectorBatch *batch;

	put_rows_of(top, source);
	while (source->vectors &&
		   (batch = strata_scan_next_vector(source->node)) != NULL)
	{
		int			first = batch->rows != NULL ? batch->rows[0] : 0;
		int			last = batch->rows != NULL ?
		batch->rows[batch->nrows - 1] : batch->nrows - 1;
		TopRows		rows = {batch->reader, NULL, NULL, source->attnos,
		batch->nrows, batch->rows, 0};

		CHECK_FOR_INTERRUPTS();
		Assert(strata_vector_is_sound(batch));	/* top:N1 */
		top->nread++;
		for (int i = 0; i < top->ninputs; i++)
			top->columns[i] = strata_batch_reader_rows(batch->reader,
													   source->attnos[i],
													   first,
													   last - first + 1);
		put_vector(top, &rows);
	}
}
