/*-------------------------------------------------------------------------
 *
 * top_key.c
 *	  Values of keys, the heap of the best, and which rows may matter.
 *
 * Integers, times, booleans and floats of the usual order are compared as
 * integers, the ranks: of two the smaller comes first.  Of floats, NaN has the
 * greatest and -0 that of 0, as btrees have it.  All else is compared by the
 * type's function.
 *
 * src/top/top_key.c
 *-------------------------------------------------------------------------
 */
#include "top/top_private.h"

#include <math.h>

#include "access/nbtree.h"
#include "access/stratnum.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/*-------------------------------------------------------------------------
 * Values
 *-------------------------------------------------------------------------
 */

/* How a type's values are compared in its usual order. */
static TopKind
kind_of_type(Oid type)
{
	if (type == FLOAT4OID || type == FLOAT8OID)
		return TOP_FLOAT;
	return type == BOOLOID || strata_integer_width(type) > 0 ? TOP_INT :
		TOP_ANY;
}

/* See top_private.h; the plan's part is there already. */
void
strata_top_key_init(TopKey *key, Oid type)
{
	Oid			base = getBaseType(type);
	Oid			family;
	Oid			intype;
	StrataSortOrder order;
	TypeCacheEntry *typcache = lookup_type_cache(base,
												 TYPECACHE_BTREE_OPFAMILY);

	if (!get_ordering_op_properties(key->plan.sortop, &family, &intype,
									&order))
		elog(ERROR, "operator %u is not a valid ordering operator",
			 key->plan.sortop);
	get_typlenbyval(type, &key->typlen, &key->typbyval);
	key->desc = order == STRATA_SORT_DESC;
	key->default_order = family == typcache->btree_opf;
	key->kind = key->default_order ? kind_of_type(base) : TOP_ANY;
	key->width = key->typlen;
	key->ssup.ssup_cxt = CurrentMemoryContext;
	key->ssup.ssup_collation = key->plan.collation;
	key->ssup.ssup_nulls_first = key->plan.nulls_first;
	PrepareSortSupportFromOrderingOp(key->plan.sortop, &key->ssup);
}

/* Greater floats have greater ones; that of NaN is the greatest. */
static inline int64
float_rank(float8 value)
{
	int64		bits;

	if (isnan(value))
		return PG_INT64_MAX;
	value += 0.0;				/* -0 becomes 0 */
	memcpy(&bits, &value, sizeof(bits));
	return bits < 0 ? bits ^ PG_INT64_MAX : bits;
}

/* See top_private.h. */
void
strata_top_value(const TopKey *key, Datum value, bool isnull,
				 TopValue *result)
{
	int64		rank = 0;

	result->isnull = isnull;
	result->value = value;
	result->rank = 0;
	if (isnull || key->kind == TOP_ANY)
		return;
	if (key->kind == TOP_FLOAT)
		rank = float_rank(key->width == sizeof(float4) ?
						  DatumGetFloat4(value) : DatumGetFloat8(value));
	else if (key->width == sizeof(bool))
		rank = DatumGetBool(value);
	else if (key->width == sizeof(int16))
		rank = DatumGetInt16(value);
	else if (key->width == sizeof(int32))
		rank = DatumGetInt32(value);
	else
		rank = DatumGetInt64(value);
	result->rank = key->desc ? ~rank : rank;
}

/* See top_private.h. */
void
strata_top_key_value(StrataTopState *top, int k, Datum value, bool isnull,
					 TopValue *result)
{
	if (k == 0 && top->distance != NULL)
		strata_top_distance_of(top, value, isnull, &value, &isnull);
	strata_top_value(&top->keys[k], value, isnull, result);
}

/* See top_private.h; negative: a comes first. */
int
strata_top_compare(TopKey *key, const TopValue *a, const TopValue *b)
{
	if (a->isnull || b->isnull)
	{
		if (a->isnull && b->isnull)
			return 0;
		return a->isnull == key->plan.nulls_first ? -1 : 1;
	}
	if (key->kind == TOP_ANY)
		return ApplySortComparator(a->value, false, b->value, false,
								   &key->ssup);
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/*-------------------------------------------------------------------------
 * The heap
 *-------------------------------------------------------------------------
 */

static int
compare_keys(TopHeap *heap, const TopValue *a, const TopValue *b)
{
	for (int k = 0; k < heap->nkeys; k++)
	{
		int			c = strata_top_compare(&heap->keys[k], &a[k], &b[k]);

		if (c != 0)
			return c;
	}
	return 0;
}

/* See top_private.h. */
bool
strata_top_heap_is_full(const TopHeap *heap)
{
	return heap->size > 0 && heap->n == heap->size;
}

/* With the worst of a full heap: negative: these keys are better. */
int
strata_top_heap_compare(TopHeap *heap, const TopValue *values)
{
	Assert(strata_top_heap_is_full(heap));	/* top:N2 */
	return compare_keys(heap, values, heap->values);
}

/* Values by reference become the heap's own. */
static void
put_heap_keys(TopHeap *heap, int64 at, const TopValue *values)
{
	MemoryContext old = MemoryContextSwitchTo(heap->mcxt);
	TopValue   *place = &heap->values[at * heap->nkeys];

	for (int k = 0; k < heap->nkeys; k++)
	{
		const TopKey *key = &heap->keys[k];

		place[k] = values[k];
		if (key->kind == TOP_ANY && !values[k].isnull)
			place[k].value = datumCopy(values[k].value, key->typbyval,
									   key->typlen);
	}
	MemoryContextSwitchTo(old);
}

static void
swap_rows(TopHeap *heap, int64 a, int64 b)
{
	for (int k = 0; k < heap->nkeys; k++)
	{
		TopValue	moved = heap->values[a * heap->nkeys + k];

		heap->values[a * heap->nkeys + k] = heap->values[b * heap->nkeys + k];
		heap->values[b * heap->nkeys + k] = moved;
	}
}

/* Is the first of the two worse? */
static bool
is_worse(TopHeap *heap, int64 a, int64 b)
{
	return compare_keys(heap, &heap->values[a * heap->nkeys],
						&heap->values[b * heap->nkeys]) > 0;
}

/* Let the worst, which is in front, sink to its place. */
static void
sink_front(TopHeap *heap)
{
	int64		i = 0;

	for (;;)
	{
		int64		child = 2 * i + 1;

		if (child >= heap->n)
			return;
		if (child + 1 < heap->n && is_worse(heap, child + 1, child))
			child++;
		if (!is_worse(heap, child, i))
			return;
		swap_rows(heap, i, child);
		i = child;
	}
}

/* See top_private.h.  In a full heap they take the place of the worst. */
void
strata_top_heap_add(TopHeap *heap, const TopValue *values)
{
	int64		i = heap->n;

	if (heap->size == 0)
		return;
	if (heap->n == heap->size)
	{
		Assert(strata_top_heap_compare(heap, values) < 0);	/* top:N2 */
		for (int k = 0; k < heap->nkeys; k++)
			if (heap->keys[k].kind == TOP_ANY && !heap->keys[k].typbyval &&
				!heap->values[k].isnull)
				pfree(DatumGetPointer(heap->values[k].value));
		put_heap_keys(heap, 0, values);
		sink_front(heap);
		return;
	}
	put_heap_keys(heap, heap->n++, values);
	while (i > 0 && is_worse(heap, i, (i - 1) / 2))
	{
		swap_rows(heap, i, (i - 1) / 2);
		i = (i - 1) / 2;
	}
}

/*-------------------------------------------------------------------------
 * Rows whose first key may matter
 *-------------------------------------------------------------------------
 */

/* See top_private.h. */
const StrataColumn *
strata_top_column(const TopRows *rows, int i, int from, int to)
{
	AttrNumber	attno = rows->attnos[i];

	if (rows->reader == NULL)
		return &rows->columns[attno - 1];
	return strata_batch_reader_rows(rows->reader, attno, from, to - from + 1);
}

/* See top_private.h. */
const StrataColumn *
strata_top_key_column(StrataTopState *top, const TopRows *rows, int k,
					  int from, int to)
{
	TopExpr    *expr = strata_top_key_expr(top, k);

	if (expr != NULL)
		return &expr->column;
	return strata_top_column(rows, strata_top_key_input(top, k) - 1, from,
							 to);
}

/*
 * Append to chosen the rows for whose value v the condition holds.  v points
 * at the value of the first row, and rows are side by side if there are no
 * numbers.
 */
#define CHOOSE_LOOP(type, condition) \
	do { \
		const type *values = (const type *) col->fixed - col->from; \
		if (rows->rows == NULL) \
		{ \
			int			end = rows->first + rows->n; \
			for (int i = rows->first; i < end; i += TOP_CHOOSE_BLOCK) \
			{ \
				int			to = Min(i + TOP_CHOOSE_BLOCK, end); \
				unsigned	any = 0; \
				for (int j = i; j < to; j++) \
				{ \
					type		v = values[j]; \
					any |= (unsigned) (condition); \
				} \
				if (any == 0) \
					continue; \
				for (int j = i; j < to; j++) \
				{ \
					type		v = values[j]; \
					chosen[n] = (uint16) j; \
					n += (condition) ? 1 : 0; \
				} \
			} \
		} \
		else \
			for (int i = 0; i < rows->n; i++) \
			{ \
				type		v = values[rows->rows[i]]; \
				chosen[n] = rows->rows[i]; \
				n += (condition) ? 1 : 0; \
			} \
	} while (0)

/* Integers without nulls: rank is at most limit. */
static int
choose_integers(const TopKey *key, const StrataColumn *col, int64 limit,
				const TopRows *rows, uint16 *chosen)
{
	int64		flip = key->desc ? -1 : 0;
	int			n = 0;

	switch (key->width)
	{
		case sizeof(bool):
			CHOOSE_LOOP(int8, (v ^ flip) <= limit);
			break;
		case sizeof(int16):
			CHOOSE_LOOP(int16, (v ^ flip) <= limit);
			break;
		case sizeof(int32):
			CHOOSE_LOOP(int32, (v ^ flip) <= limit);
			break;
		default:
			CHOOSE_LOOP(int64, (v ^ flip) <= limit);
			break;
	}
	return n;
}

/* Floats without nulls: as good as worst, which is not NaN, or better. */
static int
choose_floats(const TopKey *key, const StrataColumn *col, float8 worst,
			  const TopRows *rows, uint16 *chosen)
{
	int			n = 0;

	/* NaN is greater than all */
	if (key->width == sizeof(float4))
	{
		float4		limit = (float4) worst;

		if (key->desc)
			CHOOSE_LOOP(float4, !(v < limit));
		else
			CHOOSE_LOOP(float4, v <= limit);
	}
	else
	{
		float8		limit = worst;

		if (key->desc)
			CHOOSE_LOOP(float8, !(v < limit));
		else
			CHOOSE_LOOP(float8, v <= limit);
	}
	return n;
}

/* The float that has the rank. */
static float8
float_of_rank(const TopKey *key, int64 rank)
{
	float8		result;

	if (key->desc)
		rank = ~rank;
	if (rank < 0)
		rank ^= PG_INT64_MAX;
	memcpy(&result, &rank, sizeof(result));
	return result;
}

enum
{
	MEMO_UNKNOWN, MEMO_NO, MEMO_YES
};

/* One value after the other; once for each entry of a dictionary. */
static int
choose_any(StrataTopState *top, const StrataColumn *col, const TopRows *rows,
		   uint16 *chosen)
{
	TopKey	   *key = &top->keys[0];
	const TopValue *worst = &top->heap.values[0];
	uint8	   *memo = NULL;
	int			most = strata_top_takes_equal(top) ? 0 : -1;
	int			n = 0;

	if (col->codes != NULL && !col->constant)
		memo = MemoryContextAllocZero(top->list_mcxt, Max(col->ndict, 1));
	for (int i = 0; i < rows->n; i++)
	{
		int			row = strata_top_row(rows, i);
		uint32		code = memo != NULL ? col->codes[row - col->from] : 0;
		bool		isnull;
		Datum		value = strata_column_get(col, row, &isnull);
		TopValue	mine;
		bool		matters;

		if (memo != NULL && !isnull && memo[code] != MEMO_UNKNOWN)
			matters = memo[code] == MEMO_YES;
		else
		{
			strata_top_key_value(top, 0, value, isnull, &mine);
			matters = strata_top_compare(key, &mine, worst) <= most;
			if (memo != NULL && !isnull)
				memo[code] = matters ? MEMO_YES : MEMO_NO;
		}
		chosen[n] = (uint16) row;
		n += matters;
	}
	if (memo != NULL)
		pfree(memo);
	return n;
}

/* See top_private.h; rows as good as the worst of several keys are among them. */
int
strata_top_choose(StrataTopState *top, const TopRows *rows, uint16 *chosen)
{
	const TopKey *key = &top->keys[0];
	const TopValue *worst;
	const StrataColumn *col;
	int			nsorted = strata_top_choose_sorted(top, rows, chosen);

	if (nsorted >= 0)
		return nsorted;
	if (!strata_top_heap_is_full(&top->heap))
	{
		for (int i = 0; i < rows->n; i++)
			chosen[i] = (uint16) strata_top_row(rows, i);
		return rows->n;
	}
	worst = &top->heap.values[0];
	col = strata_top_key_column(top, rows, 0, strata_top_row(rows, 0),
								strata_top_row(rows, rows->n - 1));
	if (top->distance != NULL || col->fixed == NULL || col->constant ||
		col->isnull != NULL ||
		worst->isnull || key->kind == TOP_ANY)
		return choose_any(top, col, rows, chosen);
	if (key->kind == TOP_INT)
	{
		if (!strata_top_takes_equal(top) && worst->rank == PG_INT64_MIN)
			return 0;
		return choose_integers(key, col, worst->rank -
							   !strata_top_takes_equal(top), rows, chosen);
	}
	if (isnan(float_of_rank(key, worst->rank)))
		return choose_any(top, col, rows, chosen);
	return choose_floats(key, col, float_of_rank(key, worst->rank), rows,
						 chosen);
}
