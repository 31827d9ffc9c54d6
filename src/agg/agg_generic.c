/*-------------------------------------------------------------------------
 *
 * agg_generic.c
 *	  Aggregates by PostgreSQL's own transition functions.
 *
 * They are called with an AggState of ours (pg_agg_state.c).
 *
 * A cell: v.d and w.isnull are the state, n is the number of values taken in.
 * sum() and avg() of numerics have an AggNumericSum in v.d instead
 * (agg_numeric.c), which holds the state of PostgreSQL's functions beside a
 * sum of our own.  As long as that sum is one of 64 bits, it is in the cell
 * itself (w.numeric.is_sum), which is half of what many groups take.
 *
 * Over 600 lines: states and sums of numerics share their calls and bytes.
 *
 * src/agg/agg_generic.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_numeric_private.h"

#include "access/htup_details.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "common/int.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "pg/pg.h"
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
	FmgrInfo	sumfn;			/* numeric_sum(), where numerics are added up */
	FmgrInfo	serialfn;		/* states of type internal */
	FmgrInfo	deserialfn;
	bool		adds_numerics;	/* cells hold an AggNumericSum */
	int			best;			/* numeric_larger(): 1, numeric_smaller(): -1 */
	bool		adds_pairs;		/* states are those of agg_regression.c */
};

/* The initial value of the states, from its text. */
static void
load_initial_value(AggGeneric *generic, HeapTuple tuple)
{
	bool		isnull;
	Datum		stored = SysCacheGetAttr(AGGFNOID, tuple,
										 Anum_pg_aggregate_agginitval,
										 &isnull);
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
	HeapTuple	tuple = SearchSysCache1(AGGFNOID,
										ObjectIdGetDatum(aggref->aggfnoid));
	Form_pg_aggregate form;

	Assert(strata_agg_is_generic(aggref));	/* agg:G10 */
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	generic->agg = agg;
	generic->caller = strata_agg_state_create(aggref, agg->group_mcxt);
	generic->tmp = AllocSetContextCreate(CurrentMemoryContext,
										 "StrataAgg calls",
										 ALLOCSET_DEFAULT_SIZES);
	generic->collation = aggref->inputcollid;
	/* resolved by the planner, when polymorphic */
	generic->transtype = OidIsValid(aggref->aggtranstype) ?
		aggref->aggtranstype :
		form->aggtranstype;
	get_typlenbyval(generic->transtype, &generic->translen,
					&generic->transbyval);
	load_function(&generic->transfn, form->aggtransfn);
	load_function(&generic->combinefn, form->aggcombinefn);
	load_function(&generic->finalfn, form->aggfinalfn);
	if (generic->transtype == INTERNALOID)
	{
		load_function(&generic->serialfn, form->aggserialfn);
		load_function(&generic->deserialfn, form->aggdeserialfn);
	}
	load_initial_value(generic, tuple);
	generic->adds_pairs = form->aggtransfn == F_FLOAT8_REGR_ACCUM;
	generic->best = form->aggtransfn == F_NUMERIC_LARGER ? 1 :
		form->aggtransfn == F_NUMERIC_SMALLER ? -1 : 0;
#ifdef HAVE_INT128
	generic->adds_numerics = form->aggtransfn == F_NUMERIC_AVG_ACCUM &&
		(form->aggfinalfn == F_NUMERIC_SUM ||
		 form->aggfinalfn == F_NUMERIC_AVG);
	if (generic->adds_numerics)
		fmgr_info(F_NUMERIC_SUM, &generic->sumfn);
#endif
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
	cell->v.d = datumCopy(generic->init, generic->transbyval,
						  generic->translen);
	MemoryContextSwitchTo(old);
}

/* Make value the state; it may lie in memory that is going away. */
static void
keep_state(AggGeneric *generic, AggCell *cell, Datum value, bool isnull)
{
	MemoryContext old;

	if (!generic->transbyval && generic->transtype != INTERNALOID &&
		(isnull || cell->w.isnull ||
		 DatumGetPointer(value) != DatumGetPointer(cell->v.d)))
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
advance(AggGeneric *generic, FmgrInfo *flinfo, AggCell *cell, Datum value,
		bool isnull, const Datum *second)
{
	LOCAL_FCINFO(fcinfo, 3);
	Datum		result;

	Assert(CurrentMemoryContext == generic->tmp);	/* agg:G10 */
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
	InitFunctionCallInfoData(*fcinfo, flinfo, second != NULL ? 3 : 2,
							 generic->collation, (Node *) generic->caller,
							 NULL);
	fcinfo->args[0].value = cell->v.d;
	fcinfo->args[0].isnull = cell->w.isnull;
	fcinfo->args[1].value = value;
	fcinfo->args[1].isnull = isnull;
	fcinfo->args[2].value = second != NULL ? *second : (Datum) 0;
	fcinfo->args[2].isnull = false;
	result = FunctionCallInvoke(fcinfo);

	/*
	 * numeric_combine() of no state and no state is a pointer to nothing,
	 * which functions that write states do not expect
	 */
	keep_state(generic, cell, result, fcinfo->isnull ||
			   (generic->transtype == INTERNALOID &&
				DatumGetPointer(result) == NULL));
}

/* Copy what the cell of an aggregate that adds numerics holds. */
static void
get_sum(const AggCell *cell, AggNumericSum *sum)
{
	if (!cell->w.isnull && !cell->w.numeric.is_sum)
	{
		*sum = *(AggNumericSum *) DatumGetPointer(cell->v.d);
		return;
	}
	memset(sum, 0, sizeof(*sum));
	if (cell->w.isnull)
		return;
	sum->sum = cell->v.i;
	sum->scale = cell->w.numeric.scale;
	sum->display = cell->w.numeric.display;
	sum->any = true;
}

/*
 * The sum of such a cell, outside of it; made when there is none, in the
 * groups' memory.
 */
static AggNumericSum *
sum_of_numerics(AggGeneric *generic, AggCell *cell)
{
	if (cell->w.isnull || cell->w.numeric.is_sum)
	{
		AggNumericSum *sum = MemoryContextAlloc(generic->agg->group_mcxt,
												sizeof(AggNumericSum));

		get_sum(cell, sum);
		generic->agg->has_sums = true;
		cell->v.d = PointerGetDatum(sum);
		cell->w.isnull = cell->w.numeric.is_sum = false;
	}
	return (AggNumericSum *) DatumGetPointer(cell->v.d);
}

/*
 * Add values that sum up to `more` to the sum in a cell; false: it is not
 * there, or does not hold that, and nothing has changed.
 */
static inline bool
add_in_cell(AggCell *cell, int64 more, unsigned scale, uint8 display)
{
	int64		sum;

	if (cell->w.isnull)
	{
		cell->v.i = more;
		cell->w.isnull = false;
		cell->w.numeric.is_sum = true;
		cell->w.numeric.scale = (uint8) scale;
		cell->w.numeric.display = display;
		return true;
	}
	if (!cell->w.numeric.is_sum)
		return false;
	sum = cell->v.i;
	if (cell->w.numeric.scale != scale &&
		!strata_agg_numeric_align(&sum, cell->w.numeric.scale, &more, &scale))
		return false;
	if (pg_add_s64_overflow(sum, more, &sum))
		return false;
	cell->v.i = sum;
	cell->w.numeric.scale = (uint8) scale;
	cell->w.numeric.display = Max(cell->w.numeric.display, display);
	return true;
}

/* The state of PostgreSQL's functions beside a sum; made likewise. */
static AggCell *
rest_of_sum(AggGeneric *generic, AggNumericSum *sum)
{
	if (sum->rest == NULL)
	{
		sum->rest = MemoryContextAllocZero(generic->agg->group_mcxt,
										   sizeof(AggCell));
		sum->rest->w.isnull = true;
	}
	return sum->rest;
}

/* The cell that holds the state of PostgreSQL's functions. */
static AggCell *
state_cell(AggGeneric *generic, AggCell *cell)
{
	return !generic->adds_numerics ? cell :
		rest_of_sum(generic, sum_of_numerics(generic, cell));
}

/* See agg_kernel_private.h. */
bool
strata_agg_generic_adds_numerics(const AggGeneric *generic)
{
	return generic->adds_numerics;
}

/* See agg_numeric_private.h. */
bool
strata_agg_generic_takes_scaled(const AggGeneric *generic)
{
	return generic->adds_numerics || generic->best != 0;
}

/*
 * Have PostgreSQL's state take in what our own sum holds, as one value: its
 * count of values is not used.
 */
static void
take_sum(AggGeneric *generic, AggNumericSum *sum)
{
	if (sum->any)
		advance(generic, &generic->transfn, rest_of_sum(generic, sum),
				strata_agg_numeric_value(sum), false, NULL);
	sum->sum = 0;
	sum->any = false;
	sum->display = 0;
}

/* Take another sum of our own into one outside of its cell. */
static void
combine_sums(AggGeneric *generic, AggNumericSum *sum,
			 const AggNumericSum *other)
{
	if (!strata_agg_numeric_has_room(sum, other->scale) ||
		!strata_agg_numeric_has_room(other, sum->scale))
		take_sum(generic, sum);
	strata_agg_numeric_combine(sum, other);
}

/* The same of any cell's. */
static void
add_sum_to_cell(AggGeneric *generic, AggCell *cell, const AggNumericSum *more)
{
	if (!more->any ||
		(more->sum == (int64) more->sum &&
		 add_in_cell(cell, (int64) more->sum, more->scale, more->display)))
		return;
	combine_sums(generic, sum_of_numerics(generic, cell), more);
}

/* The greatest or least of a run, which is a state that combines. */
static void
run_best(AggGeneric *generic, AggCell *cell, const AggRun *run,
		 unsigned scale, const uint8 *displays)
{
	int			count;
	int			i = strata_agg_numeric_best(run, generic->best > 0, &count);
	Datum		value;

	if (i < 0)
		return;
	value = strata_agg_integer_numeric(((const int64 *) run->v)[i], scale,
									   displays[i]);
	advance(generic, &generic->transfn, cell, value, false, NULL);
	cell->n += count;
	MemoryContextReset(generic->tmp);
}

/* See agg_kernel_private.h. */
void
strata_agg_generic_run_scaled(AggGeneric *generic, AggCell *cell,
							  const AggRun *run, unsigned scale,
							  const uint8 *displays)
{
	AggNumericSum part = {0};
	MemoryContext old = MemoryContextSwitchTo(generic->tmp);

	Assert(strata_agg_generic_takes_scaled(generic));	/* agg:G18 */
	if (generic->adds_numerics)
	{
		cell->n += strata_agg_numeric_run(&part, run, scale, displays);
		add_sum_to_cell(generic, cell, &part);
	}
	else
		run_best(generic, cell, run, scale, displays);
	MemoryContextSwitchTo(old);
}

/* See agg_kernel_private.h. */
void
strata_agg_generic_rows_scaled(AggGeneric *generic, AggCell *const *cells,
							   int at, const AggRun *run, unsigned scale,
							   const uint8 *displays)
{
	const int64 *v = run->v;

	for (int i = 0; i < run->n; i++)
	{
		AggCell    *cell = agg_cell_at(cells[i], at);
		AggRun		one = {.v = &v[i],.n = 1};

		if (run->valid != NULL && !run->valid[i])
			continue;
		if (generic->adds_numerics &&
			add_in_cell(cell, v[i], scale, displays[i]))
			cell->n++;
		else
			strata_agg_generic_run_scaled(generic, cell, &one, scale,
										  &displays[i]);
	}
}

/* Take a run of datums in; values that are not valid are NULL. */
void
strata_agg_generic_run(AggGeneric *generic, AggCell *cell, const AggRun *run)
{
	const Datum *v = run->v;
	AggCell    *state = state_cell(generic, cell);
	MemoryContext old = MemoryContextSwitchTo(generic->tmp);
	int64		taken = 0;
	int			done = 0;

	if (generic->adds_pairs && !state->w.isnull)
		done = strata_agg_regression_run(state->v.d, run, &taken);
	cell->n += taken;
	for (int i = done; i < run->n; i++)
	{
		/* those that are not strict ignore NULL, too (agg_function.c) */
		if (run->valid != NULL && !run->valid[i])
			continue;
		advance(generic, &generic->transfn, state, v[i], false,
				run->v2 != NULL ? &run->v2[i] : NULL);
		cell->n++;
		if ((i & 63) == 63)
			MemoryContextReset(generic->tmp);
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(generic->tmp);
	CHECK_FOR_INTERRUPTS();
}

/*
 * A final function's result for a state, in the current context or that of the
 * state.
 */
static Datum
finish(AggGeneric *generic, FmgrInfo *finalfn, const AggCell *state,
	   bool *isnull)
{
	LOCAL_FCINFO(fcinfo, 1);
	Datum		result;

	*isnull = state->w.isnull;
	if (!OidIsValid(finalfn->fn_oid))
		return state->v.d;
	if (finalfn->fn_strict && state->w.isnull)
		return (Datum) 0;
	InitFunctionCallInfoData(*fcinfo, finalfn, 1, generic->collation,
							 (Node *) generic->caller, NULL);
	fcinfo->args[0].value = state->v.d;
	fcinfo->args[0].isnull = state->w.isnull;
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	return result;
}

/*
 * Sum or average of numerics: what our own sum holds and what PostgreSQL's
 * state does, together.
 */
static Datum
finish_numerics(AggGeneric *generic, const AggCell *cell)
{
	AggNumericSum sum;
	bool		none = true;
	Datum		total = (Datum) 0;

	get_sum(cell, &sum);
	if (sum.rest != NULL && !sum.rest->w.isnull)
		total = finish(generic, &generic->sumfn, sum.rest, &none);
	if (sum.any)
		total = none ? strata_agg_numeric_value(&sum) :
			DirectFunctionCall2(numeric_add, total,
								strata_agg_numeric_value(&sum));
	if (generic->finalfn.fn_oid == F_NUMERIC_AVG)
		total =
			DirectFunctionCall2(numeric_div, total,
								NumericGetDatum(int64_to_numeric(cell->n)));
	return total;
}

/* Memory of the result: the current context, or that of the state. */
Datum
strata_agg_generic_result(AggGeneric *generic, AggCell *cell, bool *isnull)
{
	if (!generic->adds_numerics)
		return finish(generic, &generic->finalfn, cell, isnull);
	*isnull = cell->n == 0;
	return *isnull ? (Datum) 0 : finish_numerics(generic, cell);
}

/* The state as a value of a type that can be stored. */
static Datum
serialize(AggGeneric *generic, const AggCell *cell)
{
	LOCAL_FCINFO(fcinfo, 1);

	if (generic->transtype != INTERNALOID)
		return cell->v.d;
	Assert(OidIsValid(generic->serialfn.fn_oid) &&
		   OidIsValid(generic->deserialfn.fn_oid)); /* agg:G8 */
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

/* Append a state to out: its size, 0 for NULL, and its bytes. */
static void
write_state(AggGeneric *generic, const AggCell *state, StringInfo out)
{
	bool		byval;
	int			typlen;
	MemoryContext old = MemoryContextSwitchTo(generic->tmp);
	Size		size = 0;
	Datum		value = (Datum) 0;

	byval = generic->transtype == INTERNALOID ? false : generic->transbyval;
	typlen = generic->transtype == INTERNALOID ? -1 : generic->translen;
	if (!state->w.isnull)
	{
		value = serialize(generic, state);
		if (!byval && typlen == -1)
			value = PointerGetDatum(PG_DETOAST_DATUM(value));
		size = byval ? sizeof(Datum) : datumGetSize(value, false, typlen);
	}
	MemoryContextSwitchTo(old);
	appendBinaryStringInfo(out, (const char *) &size, sizeof(Size));
	if (size > 0)
		appendBinaryStringInfo(out,
							   byval ? (const char *) &value :
							   DatumGetPointer(value),
							   (int) size);
	MemoryContextReset(generic->tmp);
}

/*
 * The way back: a state in the current context, or that of the groups.
 * Returns the place behind it.
 */
static const char *
read_state(AggGeneric *generic, const char *in, AggCell *state)
{
	Size		size;
	char	   *copy;

	memcpy(&size, in, sizeof(Size));
	in += sizeof(Size);
	state->w.isnull = size == 0;
	if (size == 0)
		return in;
	copy = palloc(size);
	memcpy(copy, in, size);
	if (generic->transtype == INTERNALOID)
		state->v.d = deserialize(generic, copy, &state->w.isnull);
	else if (generic->transbyval)
		memcpy(&state->v.d, copy, sizeof(Datum));
	else
		state->v.d = PointerGetDatum(copy);
	return in + size;
}

/* See agg_kernel_private.h. */
void
strata_agg_generic_write(AggGeneric *generic, AggCell *cell, StringInfo out)
{
	const AggCell *state = cell;
	const AggCell none = {.w.isnull = true};

	appendBinaryStringInfo(out, (const char *) &cell->n, sizeof(int64));
	if (generic->adds_numerics)
	{
		AggNumericSum sum;

		get_sum(cell, &sum);
		appendBinaryStringInfo(out, (const char *) &sum,
							   sizeof(AggNumericSum));
		state = sum.rest != NULL ? sum.rest : &none;
	}
	write_state(generic, state, out);
}

/*
 * See agg_kernel_private.h.  What the cell points to lies in the current
 * context, or in that of the groups.  Returns the place behind it.
 */
const char *
strata_agg_generic_read(AggGeneric *generic, const char *in, AggCell *cell)
{
	AggCell    *state = cell;

	memset(cell, 0, sizeof(*cell));
	memcpy(&cell->n, in, sizeof(int64));
	in += sizeof(int64);
	if (generic->adds_numerics)
	{
		AggNumericSum *sum = palloc(sizeof(AggNumericSum));

		memcpy(sum, in, sizeof(AggNumericSum));
		state = sum->rest = palloc0(sizeof(AggCell));
		cell->v.d = PointerGetDatum(sum);
		in += sizeof(AggNumericSum);
	}
	return read_state(generic, in, state);
}

/* state = what both states have taken in. */
static void
combine_states(AggGeneric *generic, AggCell *state, const AggCell *other)
{
	Assert(OidIsValid(generic->combinefn.fn_oid));	/* agg:G8 */
	if (state->w.isnull && generic->combinefn.fn_strict)
	{
		if (!other->w.isnull)
			keep_state(generic, state, other->v.d, false);
	}
	else
		advance(generic, &generic->combinefn, state, other->v.d,
				other->w.isnull, NULL);
}

/* See agg_kernel_private.h. */
void
strata_agg_generic_combine(AggGeneric *generic, AggCell *cell,
						   const AggCell *other)
{
	MemoryContext old = MemoryContextSwitchTo(generic->tmp);

	if (generic->adds_numerics)
	{
		const AggNumericSum *more;

		/* that of a cell read back is never in it */
		more = (const AggNumericSum *) DatumGetPointer(other->v.d);
		Assert(!other->w.isnull && !other->w.numeric.is_sum);	/* agg:G18 */
		add_sum_to_cell(generic, cell, more);
		if (more->rest != NULL && !more->rest->w.isnull)
			combine_states(generic,
						   rest_of_sum(generic,
									   sum_of_numerics(generic, cell)),
						   more->rest);
	}
	else
		combine_states(generic, cell, other);
	cell->n += other->n;
	MemoryContextSwitchTo(old);
	MemoryContextReset(generic->tmp);
}
