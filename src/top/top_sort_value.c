/*-------------------------------------------------------------------------
 *
 * top_sort_value.c
 *	  Values by reference of records, and of keys that a function compares.
 *
 * Each different value is kept once and has a number.  Those of a key are
 * ranked once all of them are there, or as far as a run needs it: what comes
 * later does not change which of two is first.
 *
 * src/top/top_sort_value.c
 *-------------------------------------------------------------------------
 */
#include "top/top_sort_private.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/datum.h"

/* Values by reference are copied to pieces of so many bytes. */
#define ROOM_SIZE (32 * 1024)

/* See top_sort_private.h. */
Datum
strata_sort_copy(StrataSort *sort, const SortField *field, Datum value)
{
	Size		size;
	char	   *copy;

	if (field->typbyval)
		return value;
	size = datumGetSize(value, false, field->typlen);
	if (MAXALIGN(size) > sort->room_left)
	{
		Size		room = Max(MAXALIGN(size), ROOM_SIZE);

		sort->room = MemoryContextAllocHuge(sort->mcxt, room);
		sort->room_left = room;
		sort->value_bytes += (int64) room;
	}
	copy = sort->room;
	memcpy(copy, DatumGetPointer(value), size);
	sort->room += MAXALIGN(size);
	sort->room_left -= MAXALIGN(size);
	return PointerGetDatum(copy);
}

/* More slots for values, and for what is kept of each. */
static void
grow_values(StrataSort *sort, SortValues *values)
{
	MemoryContext old = MemoryContextSwitchTo(sort->mcxt);

	if (values->size == 0)
	{
		values->size = 64;
		values->values = palloc(sizeof(Datum) * values->size);
		values->hashes = palloc(sizeof(uint32) * values->size);
		values->ranks = palloc(sizeof(uint32) * values->size);
	}
	else
	{
		pfree(values->slots);
		values->size *= 2;
		values->values = repalloc_huge(values->values, sizeof(Datum) *
									   values->size);
		values->hashes = repalloc_huge(values->hashes, sizeof(uint32) *
									   values->size);
		values->ranks = repalloc_huge(values->ranks, sizeof(uint32) *
									  values->size);
	}
	values->nslots = 2 * values->size;
	values->slots = MemoryContextAllocExtended(sort->mcxt, sizeof(uint32) *
											   values->nslots,
											   MCXT_ALLOC_HUGE |
											   MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < values->n; i++)
	{
		uint32		slot = values->hashes[i] & (values->nslots - 1);

		while (values->slots[slot] != 0)
			slot = (slot + 1) & (values->nslots - 1);
		values->slots[slot] = i + 1;
	}
	/* about what it has grown by */
	sort->value_bytes += (int64) values->size *
		(sizeof(Datum) + 4 * sizeof(uint32)) / (values->n == 0 ? 1 : 2);
	MemoryContextSwitchTo(old);
}

/* See top_sort_private.h.  The same bytes have the same number. */
uint32
strata_sort_number(StrataSort *sort, SortField *field, Datum value)
{
	SortValues *values = &field->values;
	Size		size = field->typbyval ? sizeof(Datum) :
	datumGetSize(value, false, field->typlen);
	const void *bytes = field->typbyval ? (const void *) &value :
	DatumGetPointer(value);
	uint32		hash = hash_bytes(bytes, (int) size);
	uint32		slot;

	if (values->n == values->size)
		grow_values(sort, values);
	for (slot = hash & (values->nslots - 1); values->slots[slot] != 0;
		 slot = (slot + 1) & (values->nslots - 1))
	{
		uint32		number = values->slots[slot] - 1;

		if (values->hashes[number] == hash &&
			datumIsEqual(values->values[number], value, field->typbyval,
						 field->typlen))
			return number;
	}
	values->slots[slot] = values->n + 1;
	values->hashes[values->n] = hash;
	values->values[values->n] = strata_sort_copy(sort, field, value);
	return values->n++;
}

/* qsort: numbers of values, by the key's order without its direction. */
typedef struct RankArg
{
	const SortValues *values;
	SortSupport ssup;
} RankArg;

static int
compare_numbered(const void *left, const void *right, void *arg)
{
	const RankArg *rank = arg;

	CHECK_FOR_INTERRUPTS();
	return ApplySortComparator(rank->values->values[*(const uint32 *) left],
							   false,
							   rank->values->values[*(const uint32 *) right],
							   false, rank->ssup);
}

/* Give each value of a key its rank, as all are known now. */
static void
rank_values(StrataSort *sort, SortField *field)
{
	SortValues *values = &field->values;
	RankArg		arg = {values, &field->key->ssup};
	uint32	   *order;
	uint32		rank = 0;

	if (values->nranked == values->n)
		return;
	order = MemoryContextAllocHuge(sort->mcxt, sizeof(uint32) * values->n);
	for (uint32 i = 0; i < values->n; i++)
		order[i] = i;
	qsort_arg(order, values->n, sizeof(uint32), compare_numbered, &arg);
	for (uint32 i = 0; i < values->n; i++)
	{
		if (i > 0 && compare_numbered(&order[i - 1], &order[i], &arg) != 0)
			rank++;
		values->ranks[order[i]] = rank;
	}
	values->nranked = values->n;
	pfree(order);
}

/* Ranks of all values that are there. */
void
strata_sort_rank_values(StrataSort *sort)
{
	for (int i = 0; i < sort->nfields; i++)
		if (sort->fields[i].numbered)
			rank_values(sort, &sort->fields[i]);
}
