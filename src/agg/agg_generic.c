/*-------------------------------------------------------------------------
 *
 * agg_generic.c
 *	  Aggregates by PostgreSQL's own transition functions.
 *
 * Aggregate functions ask their caller for the memory that states live in
 * (AggCheckCallContext) and accept only an AggState or a WindowAggState as
 * caller.  They get an AggState that holds nothing but that.  The functions
 * admitted (agg_function.c) ask for nothing else.
 *
 * A cell: v.d and w.isnull are the state, n is the number of values taken in.
 *
 * Numerics that batches hold as integers are added up as such, run by run.  Their
 * sum goes into a state of its own as one value, whose serialised form says so in
 * its first eight bytes; with the true number there it is combined with the cell's.
 *
 * src/agg/agg_generic.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "common/int.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

struct AggGeneric
{
	StrataAggState *agg;
	AggState   *caller;			/* what functions believe to be called by */
	MemoryContext tmp;			/* results of calls, reset now and then */
	Oid			collation;
	Oid			transtype;
	int16		translen;
	bool		transbyval;
	bool		has_init;
	Datum		init;
	FmgrInfo	transfn;
	FmgrInfo	combinefn;
	FmgrInfo	finalfn;		/* fn_oid InvalidOid: none */
	FmgrInfo	serialfn;		/* states of type internal */
	FmgrInfo	deserialfn;
	bool		adds_known;		/* is it known whether */
	bool		adds_numerics;	/* ... values may be taken in by their sum? */
};

/* The initial value of the states, from its text. */
static void
load_initial_value(AggGeneric *generic, HeapTuple tuple)
{
	bool		isnull;
	Datum		stored = SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval, &isnull);
	Oid			input;
	Oid			ioparam;
	char	   *value;

	generic->has_init = !isnull;
	if (isnull)
		return;
	getTypeInputInfo(generic->transtype, &input, &ioparam);
	value = TextDatumGetCString(stored);
	generic->init = OidInputFunctionCall(input, value, ioparam, -1);
}

static void
load_function(FmgrInfo *flinfo, Oid funcid)
{
	if (OidIsValid(funcid))
		fmgr_info(funcid, flinfo);
}

/* Memory: the current context. */
AggGeneric *
strata_agg_generic_create(StrataAggState *agg, const Aggref *aggref)
{
	AggGeneric *generic = palloc0(sizeof(AggGeneric));
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	Form_pg_aggregate form;
	ExprContext *econtext = makeNode(ExprContext);

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	generic->agg = agg;
	generic->caller = makeNode(AggState);
	generic->caller->curaggcontext = econtext;
	econtext->ecxt_per_tuple_memory = agg->group_mcxt;
	generic->tmp = AllocSetContextCreate(CurrentMemoryContext, "StrataAgg calls",
										 ALLOCSET_DEFAULT_SIZES);
	generic->collation = aggref->inputcollid;
	/* resolved by the planner, when polymorphic */
	generic->transtype = OidIsValid(aggref->aggtranstype) ? aggref->aggtranstype : form->aggtranstype;
	get_typlenbyval(generic->transtype, &generic->translen, &generic->transbyval);
	load_function(&generic->transfn, form->aggtransfn);
	load_function(&generic->combinefn, form->aggcombinefn);
	load_function(&generic->finalfn, form->aggfinalfn);
	if (generic->transtype == INTERNALOID)
	{
		load_function(&generic->serialfn, form->aggserialfn);
		load_function(&generic->deserialfn, form->aggdeserialfn);
	}
	load_initial_value(generic, tuple);
	ReleaseSysCache(tuple);
	return generic;
}

void
strata_agg_generic_init(AggGeneric *generic, AggCell *cell)
{
	MemoryContext old;

	cell->n = 0;
	cell->w.hi = 0;
	cell->w.isnull = !generic->has_init;
	cell->v.d = (Datum) 0;
	if (!generic->has_init)
		return;
	old = MemoryContextSwitchTo(generic->agg->group_mcxt);
	cell->v.d = datumCopy(generic->init, generic->transbyval, generic->translen);
	MemoryContextSwitchTo(old);
}

/* Make value the state; it may lie in memory that is going away. */
static void
keep_state(AggGeneric *generic, AggCell *cell, Datum value, bool isnull)
{
	MemoryContext old;

	if (!generic->transbyval && generic->transtype != INTERNALOID &&
		(isnull || cell->w.isnull || DatumGetPointer(value) != DatumGetPointer(cell->v.d)))
	{
		Datum		before = cell->v.d;
		bool		had = !cell->w.isnull;

		if (!isnull)
		{
			old = MemoryContextSwitchTo(generic->agg->group_mcxt);
			value = datumCopy(value, generic->transbyval, generic->translen);
			MemoryContextSwitchTo(old);
		}
		if (had)
			pfree(DatumGetPointer(before));
	}
	cell->v.d = isnull ? (Datum) 0 : value;
	cell->w.isnull = isnull;
}

/* state = function(state, value), with the rules for strict functions. */
static void
advance(AggGeneric *generic, FmgrInfo *flinfo, AggCell *cell, Datum value, bool isnull)
{
	LOCAL_FCINFO(fcinfo, 2);
	Datum		result;

	if (flinfo->fn_strict)
	{
		if (isnull)
			return;
		if (cell->n == 0 && !generic->has_init && cell->w.isnull)
		{
			/* the first value is the state; types are compatible */
			keep_state(generic, cell, value, false);
			return;
		}
		/* a function that once returned NULL stays there */
		if (cell->w.isnull)
			return;
	}
	InitFunctionCallInfoData(*fcinfo, flinfo, 2, generic->collation, (Node *) generic->caller, NULL);
	fcinfo->args[0].value = cell->v.d;
	fcinfo->args[0].isnull = cell->w.isnull;
	fcinfo->args[1].value = value;
	fcinfo->args[1].isnull = isnull;
	result = FunctionCallInvoke(fcinfo);
	keep_state(generic, cell, result, fcinfo->isnull);
}

/* Take a run of datums in; values that are not valid are NULL. */
void
strata_agg_generic_run(AggGeneric *generic, AggCell *cell, const AggRun *run)
{
	const Datum *v = run->v;
	MemoryContext old = MemoryContextSwitchTo(generic->tmp);

	for (int i = 0; i < run->n; i++)
	{
		/* those that are not strict ignore NULL, too (agg_function.c) */
		if (run->valid != NULL && !run->valid[i])
			continue;
		advance(generic, &generic->transfn, cell, v[i], false);
		cell->n++;
		if ((i & 63) == 63)
			MemoryContextReset(generic->tmp);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(generic->tmp);
	CHECK_FOR_INTERRUPTS();
}

/* Memory of the result: the current context, or that of the state. */
Datum
strata_agg_generic_result(AggGeneric *generic, AggCell *cell, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 1);
	Datum		result;

	*isnull = cell->w.isnull;
	if (!OidIsValid(generic->finalfn.fn_oid))
		return cell->v.d;
	if (generic->finalfn.fn_strict && cell->w.isnull)
		return (Datum) 0;
	InitFunctionCallInfoData(*fcinfo, &generic->finalfn, 1, generic->collation,
							 (Node *) generic->caller, NULL);
	fcinfo->args[0].value = cell->v.d;
	fcinfo->args[0].isnull = cell->w.isnull;
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	return result;
}

/* The state as a value of a type that can be stored. */
static Datum
serialize(AggGeneric *generic, const AggCell *cell)
{
	LOCAL_FCINFO(fcinfo, 1);

	if (generic->transtype != INTERNALOID)
		return cell->v.d;
	InitFunctionCallInfoData(*fcinfo, &generic->serialfn, 1, InvalidOid,
							 (Node *) generic->caller, NULL);
	fcinfo->args[0].value = cell->v.d;
	fcinfo->args[0].isnull = false;
	return FunctionCallInvoke(fcinfo);
}

/* And back, of type internal. */
static Datum
deserialize(AggGeneric *generic, void *state, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 2);
	Datum		result;

	InitFunctionCallInfoData(*fcinfo, &generic->deserialfn, 2, InvalidOid,
							 (Node *) generic->caller, NULL);
	fcinfo->args[0].value = PointerGetDatum(state);
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].value = PointerGetDatum(NULL);
	fcinfo->args[1].isnull = false;
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	return result;
}

/* See agg_private.h. */
void
strata_agg_generic_write(AggGeneric *generic, const AggCell *cell, StringInfo out)
{
	bool		byval = generic->transtype == INTERNALOID ? false : generic->transbyval;
	int			typlen = generic->transtype == INTERNALOID ? -1 : generic->translen;
	MemoryContext old = MemoryContextSwitchTo(generic->tmp);
	Size		size = 0;
	Datum		value = (Datum) 0;

	if (!cell->w.isnull)
	{
		value = serialize(generic, cell);
		if (!byval && typlen == -1)
			value = PointerGetDatum(PG_DETOAST_DATUM(value));
		size = byval ? sizeof(Datum) : datumGetSize(value, false, typlen);
	}
	MemoryContextSwitchTo(old);
	appendBinaryStringInfo(out, (const char *) &cell->n, sizeof(int64));
	appendBinaryStringInfo(out, (const char *) &size, sizeof(Size));
	if (size > 0)
		appendBinaryStringInfo(out, byval ? (const char *) &value : DatumGetPointer(value),
							   (int) size);
	MemoryContextReset(generic->tmp);
}

/*
 * See agg_private.h.  The cell's state lies in the current context, or in that
 * of the groups.  Returns the place behind it.
 */
const char *
strata_agg_generic_read(AggGeneric *generic, const char *in, AggCell *cell)
{
	Size		size;
	char	   *copy;

	memset(cell, 0, sizeof(*cell));
	memcpy(&cell->n, in, sizeof(int64));
	memcpy(&size, in + sizeof(int64), sizeof(Size));
	in += sizeof(int64) + sizeof(Size);
	cell->w.isnull = size == 0;
	if (size == 0)
		return in;
	copy = palloc(size);
	memcpy(copy, in, size);
	if (generic->transtype == INTERNALOID)
		cell->v.d = deserialize(generic, copy, &cell->w.isnull);
	else if (generic->transbyval)
		memcpy(&cell->v.d, copy, sizeof(Datum));
	else
		cell->v.d = PointerGetDatum(copy);
	return in + size;
}

/* See agg_private.h. */
void
strata_agg_generic_combine(AggGeneric *generic, AggCell *cell, const AggCell *other)
{
	MemoryContext old = MemoryContextSwitchTo(generic->tmp);

	if (cell->w.isnull && generic->combinefn.fn_strict)
	{
		if (!other->w.isnull)
			keep_state(generic, cell, other->v.d, false);
	}
	else
		advance(generic, &generic->combinefn, cell, other->v.d, other->w.isnull);
	cell->n += other->n;
	MemoryContextSwitchTo(old);
	MemoryContextReset(generic->tmp);
}

/*-------------------------------------------------------------------------
 * Numerics added up as integers
 *-------------------------------------------------------------------------
 */

/* The state as it would be had it taken in n values instead of one; false: its form is another. */
static bool
set_count(AggGeneric *generic, AggCell *cell, int n)
{
	bytea	   *state = DatumGetByteaPP(serialize(generic, cell));
	uint64		count;

	if (VARSIZE_ANY_EXHDR(state) < sizeof(count))
		return false;
	memcpy(&count, VARDATA_ANY(state), sizeof(count));
	if (pg_ntoh64(count) != 1)
		return false;
	count = pg_hton64((uint64) n);
	memcpy(VARDATA_ANY(state), &count, sizeof(count));
	cell->v.d = deserialize(generic, state, &cell->w.isnull);
	cell->n = n;
	return true;
}

/* The state of n numerics with that sum, which lasts as long as the run; false: cannot be made. */
static bool
make_sum(AggGeneric *generic, AggCell *cell, Datum sum, int n)
{
	ExprContext *econtext = generic->caller->curaggcontext;

	memset(cell, 0, sizeof(*cell));
	cell->w.isnull = true;
	econtext->ecxt_per_tuple_memory = generic->tmp;
	advance(generic, &generic->transfn, cell, sum, false);
	econtext->ecxt_per_tuple_memory = generic->agg->group_mcxt;
	return set_count(generic, cell, n);
}

/* See agg_private.h.  sum and avg. */
bool
strata_agg_generic_adds_numerics(AggGeneric *generic)
{
	if (!generic->adds_known)
	{
		MemoryContext old = MemoryContextSwitchTo(generic->tmp);
		AggCell		cell;

		generic->adds_known = true;
		generic->adds_numerics = generic->transfn.fn_oid == F_NUMERIC_AVG_ACCUM &&
			generic->serialfn.fn_oid == F_NUMERIC_AVG_SERIALIZE &&
			make_sum(generic, &cell, NumericGetDatum(int64_to_numeric(0)), 2);
		MemoryContextSwitchTo(old);
		MemoryContextReset(generic->tmp);
	}
	return generic->adds_numerics;
}

/* Take in n numerics that add up to sum / 10^scale, of which one is shown with so many decimals, no more. */
static void
take_sum(AggGeneric *generic, AggCell *cell, int64 sum, int n, unsigned scale, unsigned display)
{
	Datum		numeric = DirectFunctionCall2(numeric_round,
											  NumericGetDatum(int64_div_fast_to_numeric(sum, (int) scale)),
											  Int32GetDatum((int32) display));
	AggCell		other;

	if (n == 1)
	{
		advance(generic, &generic->transfn, cell, numeric, false);
		cell->n++;
	}
	else if (make_sum(generic, &other, numeric, n))
		strata_agg_generic_combine(generic, cell, &other);
	else
		elog(ERROR, "a state of a sum has lost its form");
}

/* See agg_private.h. */
void
strata_agg_generic_run_scaled(AggGeneric *generic, AggCell *cell, const AggRun *run,
							  unsigned scale, const uint8 *displays)
{
	const int64 *v = run->v;
	MemoryContext old = MemoryContextSwitchTo(generic->tmp);
	int64		sum = 0;
	int64		next;
	int			n = 0;
	uint8		display = 0;

	for (int i = 0; i < run->n; i++)
	{
		if (run->valid != NULL && !run->valid[i])
			continue;
		if (pg_add_s64_overflow(sum, v[i], &next))
		{
			take_sum(generic, cell, sum, n, scale, display);
			next = v[i];
			n = 0;
		}
		sum = next;
		display = Max(display, displays[i]);
		n++;
	}
	if (n > 0)
		take_sum(generic, cell, sum, n, scale, display);
	MemoryContextSwitchTo(old);
	MemoryContextReset(generic->tmp);
	CHECK_FOR_INTERRUPTS();
}
