/*-------------------------------------------------------------------------
 *
 * first_last.c
 *	  Aggregates first(value, time) and last(value, time): the value of the row
 *	  with the smallest or the largest time.
 *
 * Rows whose time is NULL do not count; a NULL value does.  Of rows with equal
 * times the first met is kept.  "time" may be any type with a default btree
 * order.  The state lives in the aggregate's context and owns copies of both
 * datums; the previous copies are freed, so its size is that of one row.
 *
 * src/time/first_last.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(strata_first_transition);
PG_FUNCTION_INFO_V1(strata_last_transition);
PG_FUNCTION_INFO_V1(strata_first_combine);
PG_FUNCTION_INFO_V1(strata_last_combine);
PG_FUNCTION_INFO_V1(strata_first_last_serialize);
PG_FUNCTION_INFO_V1(strata_first_last_deserialize);
PG_FUNCTION_INFO_V1(strata_first_last_final);

/* A datum with what is needed to copy it. */
typedef struct KeptDatum
{
	Oid			type;
	int16		typlen;
	bool		typbyval;
	bool		isnull;
	Datum		value;
} KeptDatum;

typedef struct FirstLast
{
	KeptDatum	value;
	KeptDatum	time;			/* never NULL */
} FirstLast;

/* Looked up once per call site; in fn_extra. */
typedef struct Order
{
	Oid			type;
	FmgrInfo	compare;
} Order;

static void
item_set_type(KeptDatum *item, Oid type)
{
	item->type = type;
	get_typlenbyval(type, &item->typlen, &item->typbyval);
}

/* Replace the datum by a copy in the current context. */
static void
item_store(KeptDatum *item, Datum value, bool isnull)
{
	Datum		copy;

	copy = isnull ? (Datum) 0 : datumCopy(value, item->typbyval, item->typlen);
	if (!item->typbyval && !item->isnull &&
		DatumGetPointer(item->value) != NULL)
		pfree(DatumGetPointer(item->value));
	item->value = copy;
	item->isnull = isnull;
}

/* Comparison of times; the type's default btree order. */
static int
compare(FunctionCallInfo fcinfo, Oid type, Datum a, Datum b)
{
	Order	   *order = fcinfo->flinfo->fn_extra;

	if (order == NULL || order->type != type)
	{
		TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_CMP_PROC);

		if (!OidIsValid(entry->cmp_proc))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("could not identify a comparison function for type %s",
							format_type_be(type))));
		order = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt, sizeof(Order));
		fmgr_info_cxt(entry->cmp_proc, &order->compare,
					  fcinfo->flinfo->fn_mcxt);
		order->type = type;
		fcinfo->flinfo->fn_extra = order;
	}
	return DatumGetInt32(FunctionCall2Coll(&order->compare, PG_GET_COLLATION(),
										   a, b));
}

static MemoryContext
aggregate_context(FunctionCallInfo fcinfo)
{
	MemoryContext mcxt;

	if (!AggCheckCallContext(fcinfo, &mcxt))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("first and last cannot be called outside of an aggregate")));
	return mcxt;
}

static Oid
argument_type(FunctionCallInfo fcinfo, int arg)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, arg);

	if (!OidIsValid(type))
		elog(ERROR, "could not determine the type of argument %d", arg);
	return type;
}

/* sign: -1 for first, 1 for last. */
static Datum
transition(FunctionCallInfo fcinfo, int sign)
{
	MemoryContext mcxt = aggregate_context(fcinfo);
	MemoryContext old;
	FirstLast  *state;
	Datum		time;

	state = PG_ARGISNULL(0) ? NULL : (FirstLast *) PG_GETARG_POINTER(0);
	if (PG_ARGISNULL(2))
	{
		if (state == NULL)
			PG_RETURN_NULL();
		PG_RETURN_POINTER(state);
	}
	time = PG_GETARG_DATUM(2);
	if (state == NULL)
	{
		old = MemoryContextSwitchTo(mcxt);
		state = palloc0(sizeof(FirstLast));
		state->value.isnull = state->time.isnull = true;
		item_set_type(&state->value, argument_type(fcinfo, 1));
		item_set_type(&state->time, argument_type(fcinfo, 2));
		/* raise "no comparison function" even for a single row */
		(void) compare(fcinfo, state->time.type, time, time);
	}
	else
	{
		if (compare(fcinfo, state->time.type, time, state->time.value) *
			sign <=
			0)
			PG_RETURN_POINTER(state);
		old = MemoryContextSwitchTo(mcxt);
	}
	item_store(&state->value, PG_ARGISNULL(1) ? (Datum) 0 : PG_GETARG_DATUM(1),
			   PG_ARGISNULL(1));
	item_store(&state->time, time, false);
	MemoryContextSwitchTo(old);
	PG_RETURN_POINTER(state);
}

Datum
strata_first_transition(PG_FUNCTION_ARGS)
{
	return transition(fcinfo, -1);
}

Datum
strata_last_transition(PG_FUNCTION_ARGS)
{
	return transition(fcinfo, 1);
}

/*
 * Combine two states; sign < 0: the one with the earlier time stays, > 0: the
 * later.
 */
static Datum
combine(FunctionCallInfo fcinfo, int sign)
{
	MemoryContext old = MemoryContextSwitchTo(aggregate_context(fcinfo));
	FirstLast  *state;
	FirstLast  *other;

	state = PG_ARGISNULL(0) ? NULL : (FirstLast *) PG_GETARG_POINTER(0);
	other = PG_ARGISNULL(1) ? NULL : (FirstLast *) PG_GETARG_POINTER(1);
	if (other != NULL &&
		(state == NULL || compare(fcinfo, state->time.type, other->time.value,
								  state->time.value) *
		 sign >
		 0))
	{
		if (state == NULL)
		{
			state = palloc0(sizeof(FirstLast));
			state->value.isnull = state->time.isnull = true;
			item_set_type(&state->value, other->value.type);
			item_set_type(&state->time, other->time.type);
		}
		item_store(&state->value, other->value.value, other->value.isnull);
		item_store(&state->time, other->time.value, false);
	}
	MemoryContextSwitchTo(old);
	if (state == NULL)
		PG_RETURN_NULL();
	PG_RETURN_POINTER(state);
}

Datum
strata_first_combine(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, -1);
}

Datum
strata_last_combine(PG_FUNCTION_ARGS)
{
	return combine(fcinfo, 1);
}

/*
 * Between processes of one query, so the bytes are those of memory.  Toasted
 * values stay toasted: all see the same snapshot.
 */
static void
item_write(StringInfo buf, const KeptDatum *item)
{
	Size		nbytes = datumEstimateSpace(item->value, item->isnull,
											item->typbyval, item->typlen);
	char	   *start;

	pq_sendint32(buf, item->type);
	pq_sendint32(buf, (uint32) nbytes);
	enlargeStringInfo(buf, (int) nbytes);
	start = buf->data + buf->len;
	datumSerialize(item->value, item->isnull, item->typbyval, item->typlen,
				   &start);
	buf->len += (int) nbytes;
}

static void
item_read(StringInfo buf, KeptDatum *item)
{
	uint32		nbytes;
	char	   *start,
			   *copy;

	item_set_type(item, pq_getmsgint(buf, 4));
	nbytes = pq_getmsgint(buf, 4);
	start = copy = palloc(nbytes + 1);
	memcpy(copy, pq_getmsgbytes(buf, (int) nbytes), nbytes);
	item->value = datumRestore(&start, &item->isnull);
	pfree(copy);
}

Datum
strata_first_last_serialize(PG_FUNCTION_ARGS)
{
	FirstLast  *state = (FirstLast *) PG_GETARG_POINTER(0);
	StringInfoData buf;

	(void) aggregate_context(fcinfo);
	pq_begintypsend(&buf);
	item_write(&buf, &state->value);
	item_write(&buf, &state->time);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

Datum
strata_first_last_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	FirstLast  *state = palloc0(sizeof(FirstLast));
	StringInfoData buf;

	(void) aggregate_context(fcinfo);
	initStringInfo(&buf);
	appendBinaryStringInfo(&buf, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	item_read(&buf, &state->value);
	item_read(&buf, &state->time);
	pq_getmsgend(&buf);
	pfree(buf.data);
	PG_RETURN_POINTER(state);
}

Datum
strata_first_last_final(PG_FUNCTION_ARGS)
{
	FirstLast  *state;

	state = PG_ARGISNULL(0) ? NULL : (FirstLast *) PG_GETARG_POINTER(0);
	(void) aggregate_context(fcinfo);
	if (state == NULL || state->value.isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(state->value.value);
}
