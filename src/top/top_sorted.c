/*-------------------------------------------------------------------------
 *
 * top_sorted.c
 *	  Rows of a batch that lie in the order of the first key: its best end.
 *
 * src/top/top_sorted.c
 *-------------------------------------------------------------------------
 */
#include "top/top_private.h"

/* Position i of the rows, the best of which is the first, or the last. */
static inline int
sorted_row(const TopRows *rows, bool best_first, int i)
{
	return strata_top_row(rows, best_first ? i : rows->n - 1 - i);
}

/* Of the best n of sorted rows: their first keys, but for nulls; or NULL. */
static const StrataColumn *
sorted_column(StrataTopState *top, const TopRows *rows, bool best_first, int n)
{
	int			a = sorted_row(rows, best_first, 0);
	int			b = sorted_row(rows, best_first, n - 1);
	const StrataColumn *col =
	strata_top_column(rows, strata_top_key_input(top, 0) - 1, Min(a, b),
					  Max(a, b));

	return col->fixed == NULL || col->constant || col->isnull != NULL ? NULL :
		col;
}

static inline bool
best_is_first(const StrataTopState *top, const TopRows *rows)
{
	return (rows->direction < 0) == top->keys[0].desc;
}

/* See top_private.h. */
bool
strata_top_rows_are_sorted(StrataTopState *top, const TopRows *rows)
{
	return rows->direction != 0 && top->distance == NULL &&
		top->heap.size > 0 && top->keys[0].default_order &&
		top->keys[0].kind != TOP_ANY &&
		sorted_column(top, rows, true, rows->n) != NULL;
}

/* See top_private.h. */
TopRows
strata_top_next_rows(const StrataTopState *top, const TopRows *rows,
					 int behind, int n)
{
	TopRows		next = *rows;
	int			skip = best_is_first(top, rows) ? behind :
	rows->n - behind - n;

	Assert(behind >= 0 && n > 0 && behind + n <= rows->n);	/* top:N1 */
	next.n = n;
	if (rows->rows != NULL)
		next.rows += skip;
	else
		next.first += skip;
	return next;
}

/* See top_private.h. */
void
strata_top_next_value(StrataTopState *top, const TopRows *rows, int behind,
					  TopValue *value)
{
	int			row = sorted_row(rows, best_is_first(top, rows), behind);
	bool		isnull;
	Datum		datum =
	strata_column_get(strata_top_column(rows,
										strata_top_key_input(top, 0) - 1,
										row, row), row, &isnull);

	strata_top_value(&top->keys[0], datum, isnull, value);
}

/*
 * How many of the best rows are better than the limit (most -1), or as good
 * (0); those before position `from` are, those from `to` on are not.
 */
static int
count_as_good(TopKey *key, const StrataColumn *col, const TopRows *rows,
			  bool best_first, int from, int to, const TopValue *limit,
			  int most)
{
	while (from < to)
	{
		int			middle = from + (to - from) / 2;
		bool		isnull;
		Datum		datum = strata_column_get(col,
											  sorted_row(rows, best_first,
														 middle), &isnull);
		TopValue	value;

		strata_top_value(key, datum, isnull, &value);
		if (strata_top_compare(key, &value, limit) <= most)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* See top_private.h. */
int
strata_top_choose_sorted(StrataTopState *top, const TopRows *rows,
						 uint16 *chosen)
{
	TopKey	   *key = &top->keys[0];
	bool		full = strata_top_heap_is_full(&top->heap);
	bool		best_first = best_is_first(top, rows);
	int			few = Min(rows->n, TOP_CHOOSE_BLOCK);
	int			most = full && !strata_top_takes_equal(top) ? -1 : 0;
	TopValue	limit;
	const StrataColumn *col;
	int			n;

	if (rows->direction == 0 || top->distance != NULL || top->heap.size == 0 ||
		!key->default_order || key->kind == TOP_ANY ||
		(!full && (rows->n <= top->heap.size || rows->late != NULL)))
		return -1;
	if (!full)
	{
		bool		isnull;
		Datum		datum;

		Assert(rows->late == NULL); /* top:N10 */
		/* as many as there is room for, and who is as good as the last */
		n = (int) top->heap.size;
		col = sorted_column(top, rows, best_first, n);
		if (col == NULL)
			return -1;
		datum = strata_column_get(col, sorted_row(rows, best_first, n - 1),
								  &isnull);
		strata_top_value(key, datum, isnull, &limit);
		few = Min(rows->n, n + TOP_CHOOSE_BLOCK);
	}
	else
		limit = top->heap.values[0];
	col = sorted_column(top, rows, best_first, few);
	if (col == NULL)
		return -1;
	n = count_as_good(key, col, rows, best_first, 0, few, &limit, most);
	if (n == few && n < rows->n)
	{
		col = sorted_column(top, rows, best_first, rows->n);
		if (col == NULL)
			return -1;
		n = count_as_good(key, col, rows, best_first, n, rows->n, &limit,
						  most);
	}
	for (int i = 0; i < n; i++)
		chosen[i] = (uint16) strata_top_row(rows, best_first ? i :
											rows->n - n + i);
	return n;
}
