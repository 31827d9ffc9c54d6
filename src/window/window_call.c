/*-------------------------------------------------------------------------
 *
 * window_call.c
 *	  Functions of windows, for many rows at a time.
 *
 * src/window/window_call.c
 *-------------------------------------------------------------------------
 */
#include "window/window_private.h"

#include "utils/datum.h"

/*
 * Which row each row's value is of: it is set in from, and flags say whether
 * there is one.
 */
static void
find_rows_off(const WindowFunction *function, WindowRows *rows, uint16 *from)
{
	int64		offset = function->call.offset;
	int			last = rows->filled - 1;
	const int64 *numbers = rows->numbers;

	if (function->call.kind == WINDOW_LAG)
		for (int row = rows->at; row < rows->at + rows->n; row++)
		{
			bool		there = numbers[row] > offset;

			Assert(!there || row >= offset);	/* window:WF3 */
			rows->flags[row] = there;
			from[row - rows->at] = (uint16) (there ? row - offset : row);
		}
	else
		for (int row = rows->at; row < rows->at + rows->n; row++)
		{
			int			other = (int) Min(row + offset, last);
			bool		there = numbers[other] - numbers[row] == offset;

			/* one of another partition is no farther than its own begin */
			there &= other - row == offset;
			rows->flags[row] = there;
			from[row - rows->at] = (uint16) (there ? other : row);
		}
}

#define OFF_LOOP(type) \
	do { \
		const type *in = arg->fixed; \
		const type *other = fallback != NULL ? fallback->fixed : NULL; \
		type		given = (type) function->fallback_value; \
		type	   *to = out->fixed; \
		for (int i = 0; i < n; i++) \
			to[at + i] = there[at + i] ? in[from[i]] : \
				other != NULL ? other[at + i] : given; \
	} while (0)

/* lag, lead: the values of the rows that were found. */
static void
take_rows_off(const WindowFunction *function, WindowRows *rows,
			  const uint16 *from, StrataColumn *out, bool *nulls)
{
	const StrataColumn *arg = &rows->columns[function->call.column];
	const bool *arg_nulls = rows->nulls[function->call.column];
	const StrataColumn *fallback = function->fallback < 0 ? NULL :
	&rows->columns[function->fallback];
	const uint8 *there = rows->flags;
	int			at = rows->at;
	int			n = rows->n;

	for (int i = 0; i < n; i++)
		nulls[at + i] = there[at + i] ? arg_nulls[from[i]] :
			fallback != NULL ? rows->nulls[function->fallback][at + i] :
			function->fallback_isnull;
	if (out->datums != NULL)
	{
		for (int i = 0; i < n; i++)
			out->datums[at + i] = there[at + i] ? arg->datums[from[i]] :
				fallback != NULL ? fallback->datums[at + i] :
				function->fallback_value;
		return;
	}
	switch (out->type.width)
	{
		case 1:
			OFF_LOOP(int8);
			break;
		case 2:
			OFF_LOOP(int16);
			break;
		case 4:
			OFF_LOOP(int32);
			break;
		default:
			OFF_LOOP(int64);
			break;
	}
}

/* first_value: of a partition that began before, it was kept. */
static void
take_first(const WindowFunction *function, WindowRows *rows,
		   StrataColumn *out, bool *nulls)
{
	const StrataColumn *arg = &rows->columns[function->call.column];
	Datum		value = function->first;
	bool		isnull = function->first_isnull;

	for (int row = rows->at; row < rows->at + rows->n; row++)
	{
		if (rows->numbers[row] == 1)
			value = strata_column_get(arg, row, &isnull);
		nulls[row] = isnull;
		if (out->datums != NULL)
			out->datums[row] = value;
		else
			strata_fixed_put(out->fixed, out->type.width, row, value);
	}
}

/* See window_private.h. */
void
strata_window_call_compute(WindowFunction *functions, WindowRows *rows)
{
	uint16		from[STRATA_WINDOW_ROWS];

	for (int i = 0; i < rows->ncalls; i++)
	{
		WindowFunction *function = &functions[i];
		StrataColumn *out = &rows->columns[rows->ninputs + i];
		bool	   *nulls = rows->nulls[rows->ninputs + i];

		switch (function->call.kind)
		{
			case WINDOW_ROW_NUMBER:
				memcpy((int64 *) out->fixed + rows->at,
					   rows->numbers + rows->at, sizeof(int64) * rows->n);
				break;
			case WINDOW_RANK:
				memcpy((int64 *) out->fixed + rows->at,
					   rows->ranks + rows->at, sizeof(int64) * rows->n);
				break;
			case WINDOW_DENSE_RANK:
				memcpy((int64 *) out->fixed + rows->at,
					   rows->dense_ranks + rows->at,
					   sizeof(int64) * rows->n);
				break;
			case WINDOW_LAG:
			case WINDOW_LEAD:
				find_rows_off(function, rows, from);
				take_rows_off(function, rows, from, out, nulls);
				break;
			case WINDOW_FIRST_VALUE:
				take_first(function, rows, out, nulls);
				break;
		}
		out->isnull = memchr(nulls + rows->at, true, rows->n) != NULL ?
			nulls : NULL;
	}
}

/*
 * See window_private.h.  The first value of the partition that may go on; one
 * by reference is copied, unless the sort has it.
 */
void
strata_window_call_keep(WindowFunction *functions, WindowRows *rows)
{
	int			last = rows->at + rows->n - 1;

	for (int i = 0; i < rows->ncalls && rows->n > 0; i++)
	{
		WindowFunction *function = &functions[i];
		const StrataColumn *out = &rows->columns[rows->ninputs + i];
		bool		isnull;
		Datum		value;
		MemoryContext old;

		/* of one that began before, it is what is kept already */
		if (function->call.kind != WINDOW_FIRST_VALUE ||
			rows->numbers[last] > rows->n)
			continue;
		value = strata_column_get(out, last, &isnull);
		if (out->datums != NULL && !rows->sorted)
		{
			old = MemoryContextSwitchTo(rows->mcxt);
			if (!isnull)
				value = datumCopy(value, false, out->type.typlen);
			if (function->first != (Datum) 0)
				pfree(DatumGetPointer(function->first));
			MemoryContextSwitchTo(old);
		}
		function->first = isnull ? (Datum) 0 : value;
		function->first_isnull = isnull;
	}
}

/* See window_private.h. */
void
strata_window_call_reset(WindowFunction *functions, WindowRows *rows)
{
	for (int i = 0; i < rows->ncalls; i++)
	{
		WindowFunction *function = &functions[i];

		if (rows->columns[rows->ninputs + i].datums != NULL && !rows->sorted &&
			function->first != (Datum) 0)
			pfree(DatumGetPointer(function->first));
		function->first = (Datum) 0;
		function->first_isnull = true;
	}
}
