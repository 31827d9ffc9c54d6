/*-------------------------------------------------------------------------
 *
 * top_sort_output.c
 *	  Records in order become columns again, for who takes many at a time.
 *
 * src/top/top_sort_output.c
 *-------------------------------------------------------------------------
 */
#include "top/top_sort_private.h"

#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "top/top.h"

#define GET_LOOP(type) \
	do { \
		type	   *to = (type *) col->fixed + at; \
		for (int i = 0; i < n; i++) \
			to[i] = *(const type *) (records[i] + field->offset); \
	} while (0)

/* Values that have numbers, of a column by reference or not. */
static void
get_numbered(const SortField *field, const char *const *records, int n,
			 StrataColumn *col, int at)
{
	for (int i = 0; i < n; i++)
	{
		uint32		number = *(const uint32 *) (records[i] + field->offset);

		/* where all are null there is none */
		Datum		value = number < field->values.n ?
		field->values.values[number] : (Datum) 0;

		if (col->datums != NULL)
			col->datums[at + i] = value;
		else
			strata_fixed_put(col->fixed, col->type.width, at + i, value);
	}
}

/* Field f of n records, into the column's entries from at on. */
static void
get_field(const StrataSort *sort, int f, const char *const *records, int n,
		  StrataColumn *col, int at)
{
	const SortField *field = &sort->fields[f];

	Assert(field->typbyval == (col->fixed != NULL));	/* top:N8 */
	for (int i = 0; i < n; i++)
		col->isnull[at + i] = strata_sort_is_null(sort, records[i], f);
	if (field->numbered)
	{
		get_numbered(field, records, n, col, at);
		return;
	}
	if (col->datums != NULL)
	{
		for (int i = 0; i < n; i++)
			col->datums[at + i] =
				*(const Datum *) (records[i] + field->offset);
		return;
	}
	switch (field->width)
	{
		case 1:
			GET_LOOP(int8);
			break;
		case 2:
			GET_LOOP(int16);
			break;
		case 4:
			GET_LOOP(int32);
			break;
		default:
			GET_LOOP(int64);
			break;
	}
}

/* See top.h. */
bool
strata_sort_begin_columns(PlanState *node)
{
	StrataTopState *top = (StrataTopState *) node;
	int			ncolumns = list_length(node->plan->targetlist);

	for (int i = 1; i <= ncolumns; i++)
		if (strata_sort_row_column(node, (AttrNumber) i) == 0)
			return false;
	if (ncolumns == 0 || node->qual != NULL)
		return false;
	if (node->chgParam != NULL)
		ExecReScan(node);
	if (top->sorter == NULL && top->sort == NULL)
	{
		if (node->instrument != NULL)
			InstrStartNode(node->instrument);
		strata_sort_all(top);
		if (node->instrument != NULL)
			InstrStopNode(node->instrument, 0);
	}
	return top->sorter != NULL;
}

/* The next records, at most n; those of runs are copied. */
static int
next_records(StrataSort *sort, const char **records, int n)
{
	int			some = 0;

	if (sort->nruns > 0 && sort->copies == NULL)
		sort->copies = MemoryContextAlloc(sort->mcxt, (Size) RANK_ROWS *
										  sort->record_size);
	while (some < n && (records[some] = strata_sort_next(sort)) != NULL)
	{
		if (sort->nruns > 0)
			records[some] = memcpy(sort->copies +
								   (Size) some * sort->record_size,
								   records[some], sort->record_size);
		some++;
	}
	return some;
}

/* See top.h. */
int
strata_sort_next_columns(PlanState *node, StrataColumn *columns, int at,
						 int n)
{
	StrataSort *sort = ((StrataTopState *) node)->sorter;
	int			ncolumns = list_length(node->plan->targetlist);
	const char *records[RANK_ROWS];
	int			done = 0;
	int			some;

	Assert(sort != NULL);		/* top:N8 */
	if (node->instrument != NULL)
		InstrStartNode(node->instrument);
	CHECK_FOR_INTERRUPTS();
	while (done < n &&
		   (some = next_records(sort, records,
								Min(n - done, RANK_ROWS))) > 0)
	{
		for (int i = 0; i < ncolumns; i++)
			get_field(sort,
					  strata_sort_row_column(node, (AttrNumber) (i + 1)) - 1,
					  records, some, &columns[i], at + done);
		done += some;
	}
	if (node->instrument != NULL)
		InstrStopNode(node->instrument, done);
	return done;
}
