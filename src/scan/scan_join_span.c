/*-------------------------------------------------------------------------
 *
 * scan_join_span.c
 *	  Where the values of a join's key are, when there are many of them.
 *
 * A list of many values costs as much as the join does.  So no list is made:
 * the least and the greatest are known, and of integers, dates and times the
 * places between them where values are.  These are bits, each for one value
 * where values lie close together, else for a power of two of them.  Where a
 * bit is not set no row has a match.
 *
 * src/scan/scan_join_span.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_join_private.h"
#include "base/base.h"
#include "base/compat.h"
#include "pg/pg.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/* Of values that lie at random one place in so many is taken. */
#define PLACES_PER_VALUE 16
#define MAX_PLACES (UINT64CONST(1) << 27)

typedef struct SpanState
{
	StrataJoinSpan *span;
	TupleTableSlot *slot;
	AttrNumber	attno;
	FmgrInfo   *cmp;
	Oid			collation;
	int16		typlen;
	bool		typbyval;
	MemoryContext compare_mcxt;
	bool		failed;			/* a value is not here */
	int64	   *ints;			/* of values that are integers; or NULL */
	int64		n;				/* values, not null */
	int64		min;
	int64		max;
} SpanState;

/* Is the order of the type's values that of its integers? */
static bool
has_places(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			return false;
	}
}

/* Keep a value that is less, or greater, than all before it. */
static void
take_end(SpanState *state, Datum value)
{
	StrataJoinSpan *span = state->span;
	MemoryContext old = MemoryContextSwitchTo(state->compare_mcxt);
	bool		first = state->n++ == 0;
	bool		is_low = first ||
	DatumGetInt32(FunctionCall2Coll(state->cmp, state->collation, value,
									span->ends[0])) < 0;
	bool		is_high = first ||
	(!is_low &&
	 DatumGetInt32(FunctionCall2Coll(state->cmp, state->collation, value,
									 span->ends[1])) > 0);

	MemoryContextSwitchTo(old);
	for (int i = 0; i < 2; i++)
	{
		if (i == 0 ? !is_low : !is_high)
			continue;
		if (!first && !state->typbyval)
			pfree(DatumGetPointer(span->ends[i]));
		span->ends[i] = datumCopy(value, state->typbyval, state->typlen);
	}
	MemoryContextReset(state->compare_mcxt);
}

/* A row of the table. */
static void
take_span_value(MinimalTuple tuple, void *arg)
{
	SpanState  *state = arg;
	Datum		value;
	int64		x;
	bool		isnull;

	if (state->failed)
		return;
	ExecStoreMinimalTuple(tuple, state->slot, false);
	value = slot_getattr(state->slot, state->attno, &isnull);
	if (isnull)
		return;
	if (state->ints == NULL)
	{
		/* nobody has asked for it yet, and it may be long */
		state->failed = state->typlen == -1 &&
			VARATT_IS_EXTERNAL(DatumGetPointer(value));
		if (!state->failed)
			take_end(state, value);
		return;
	}
	x = strata_datum_integer(value, state->typlen);
	state->ints[state->n++] = x;
	state->min = Min(state->min, x);
	state->max = Max(state->max, x);
}

/* Bits where there are integers, and the ends.  Memory: the current context. */
static void
set_places(SpanState *state)
{
	FilterKeys *keys = &state->span->keys;
	uint64		span = (uint64) state->max - (uint64) state->min;
	uint64		most = Min((uint64) state->n * PLACES_PER_VALUE, MAX_PLACES);

	keys->base = state->min;
	while (span >> keys->shift >= most)
		keys->shift++;
	keys->nplaces = (span >> keys->shift) + 1;
	keys->places = MemoryContextAllocExtended(CurrentMemoryContext,
											  sizeof(uint64) *
											  (keys->nplaces / 64 + 1),
											  MCXT_ALLOC_HUGE |
											  MCXT_ALLOC_ZERO);
	for (int64 i = 0; i < state->n; i++)
	{
		uint64		place = strata_filter_place(keys, state->ints[i]);

		keys->places[place / 64] |= UINT64CONST(1) << place % 64;
	}
	state->span->ends[0] = strata_integer_datum(state->min, state->typlen);
	state->span->ends[1] = strata_integer_datum(state->max, state->typlen);
}

/* See scan_join_private.h. */
bool
strata_join_span_read(StrataJoinSpan *span, HashJoinState *join,
					  double nrows, AttrNumber attno, Oid type,
					  FmgrInfo *cmp, Oid collation)
{
	SpanState	state = {span,.attno = attno,.cmp = cmp,
	.collation = collation,.min = PG_INT64_MAX,.max = PG_INT64_MIN};

	/* comparing by the rules of a language is slower than joining */
	if (OidIsValid(collation) && collation != C_COLLATION_OID)
		return false;
	get_typlenbyval(type, &state.typlen, &state.typbyval);
	memset(span, 0, sizeof(StrataJoinSpan));
	state.slot =
		MakeSingleTupleTableSlot(ExecGetResultType(innerPlanState(join)),
								 &TTSOpsMinimalTuple);
	if (has_places(type))
		state.ints = MemoryContextAllocHuge(CurrentMemoryContext,
											sizeof(int64) *
											Max((Size) nrows, 1));
	else
		state.compare_mcxt = AllocSetContextCreate(CurrentMemoryContext,
												   "strata join comparisons",
												   ALLOCSET_SMALL_SIZES);
	strata_hash_join_each(join, take_span_value, &state);
	ExecDropSingleTupleTableSlot(state.slot);
	Assert(state.n <= nrows);	/* scan:R15 */
	span->empty = state.n == 0;
	if (state.ints != NULL && !span->empty)
		set_places(&state);
	if (state.ints != NULL)
		pfree(state.ints);
	else
		MemoryContextDelete(state.compare_mcxt);
	return !state.failed;
}
