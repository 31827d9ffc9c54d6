/*-------------------------------------------------------------------------
 *
 * agg_replay.c
 *	  A group's value of an aggregate whose rows were held: PostgreSQL's
 *	  transition function is called for one row after the other, then the final
 *	  function, as nodeAgg.c does.
 *
 * src/agg/agg_replay.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"

#include "access/htup_details.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_agg.h"
#include "parser/parse_coerce.h"
#include "pg/pg.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/expandeddatum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

/* Transitions after which their memory is given back. */
#define ROWS_PER_RESET 64

struct AggReplay
{
	const Aggref *aggref;
	AggHold    *hold;
	AggState   *caller;			/* what functions believe to be called by */
	MemoryContext tmp;
	FmgrInfo	transfn;
	FmgrInfo	finalfn;		/* fn_oid InvalidOid: none */
	int			ntrans;			/* arguments of transfn, without the state */
	int			nfinal;			/* arguments of finalfn, with the state */
	Oid			transtype;
	int16		translen;
	bool		transbyval;
	int16		resultlen;
	bool		resultbyval;
	bool		init_isnull;
	Datum		init;
	List	   *direct;			/* ExprStates */
	/* of the group */
	Datum		state;
	bool		state_isnull;
	bool		no_state;		/* the first row is to be the state */
};

/* The aggregate's owner must be allowed to execute the function. */
static void
check_owner(Oid function, Oid owner)
{
	AclResult	result;

	if (!OidIsValid(function))
		return;
	result = strata_function_aclcheck(function, owner, ACL_EXECUTE);
	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

static Oid
aggregate_owner(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	owner = ((Form_pg_proc) GETSTRUCT(tuple))->proowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* The initial value of states, from its text. */
static void
load_replay_initial(AggReplay *replay, HeapTuple tuple)
{
	Datum		stored = SysCacheGetAttr(AGGFNOID, tuple,
										 Anum_pg_aggregate_agginitval,
										 &replay->init_isnull);
	Oid			input;
	Oid			ioparam;

	if (replay->init_isnull)
		return;
	getTypeInputInfo(replay->transtype, &input, &ioparam);
	replay->init = OidInputFunctionCall(input, TextDatumGetCString(stored),
										ioparam, -1);
}

/* Look both functions up; they may ask for the types of their call. */
static void
load_functions(AggReplay *replay, const FormData_pg_aggregate *form)
{
	const Aggref *aggref = replay->aggref;
	Oid			types[FUNC_MAX_ARGS];
	int			ntypes = get_aggregate_argtypes(unconstify(Aggref *, aggref),
												types);
	int			ndirect = list_length(aggref->aggdirectargs);
	Oid			owner = aggregate_owner(aggref->aggfnoid);
	Expr	   *expr;

	check_owner(form->aggtransfn, owner);
	check_owner(form->aggfinalfn, owner);
	replay->ntrans = AGGKIND_IS_ORDERED_SET(aggref->aggkind) ?
		list_length(aggref->args) : ntypes;
	replay->nfinal = form->aggfinalextra ? ntypes + 1 : ndirect + 1;
	build_aggregate_transfn_expr(types, ntypes, ndirect, aggref->aggvariadic,
								 replay->transtype, aggref->inputcollid,
								 form->aggtransfn, InvalidOid, &expr, NULL);
	fmgr_info(form->aggtransfn, &replay->transfn);
	fmgr_info_set_expr((Node *) expr, &replay->transfn);
	if (!OidIsValid(form->aggfinalfn))
		return;
	build_aggregate_finalfn_expr(types, replay->nfinal, replay->transtype,
								 aggref->aggtype, aggref->inputcollid,
								 form->aggfinalfn, &expr);
	fmgr_info(form->aggfinalfn, &replay->finalfn);
	fmgr_info_set_expr((Node *) expr, &replay->finalfn);
}

/* See agg_hold_private.h.  Memory: the current context. */
AggReplay *
strata_agg_replay_create(StrataAggState *agg, const Aggref *aggref,
						 AggHold *hold)
{
	AggReplay  *replay = palloc0(sizeof(AggReplay));
	HeapTuple	tuple = SearchSysCache1(AGGFNOID,
										ObjectIdGetDatum(aggref->aggfnoid));
	Form_pg_aggregate form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	replay->aggref = aggref;
	replay->hold = hold;
	replay->caller = strata_agg_state_create(aggref, NULL);
	replay->tmp = AllocSetContextCreate(CurrentMemoryContext,
										"StrataAgg calls",
										ALLOCSET_DEFAULT_SIZES);
	replay->transtype = OidIsValid(aggref->aggtranstype) ?
		aggref->aggtranstype :
		form->aggtranstype;
	get_typlenbyval(replay->transtype, &replay->translen,
					&replay->transbyval);
	get_typlenbyval(aggref->aggtype, &replay->resultlen,
					&replay->resultbyval);
	load_functions(replay, form);
	load_replay_initial(replay, tuple);
	if (replay->transfn.fn_strict && replay->init_isnull)
	{
		Oid			types[FUNC_MAX_ARGS];
		int			ntypes = get_aggregate_argtypes(unconstify(Aggref *,
															   aggref),
													types);
		int			ndirect = list_length(aggref->aggdirectargs);

		if (ntypes <= ndirect ||
			!IsBinaryCoercible(types[ndirect], replay->transtype))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
					 errmsg("aggregate %u needs to have compatible input type and transition type",
							aggref->aggfnoid)));
	}
	ReleaseSysCache(tuple);
	replay->direct = ExecInitExprList(aggref->aggdirectargs,
									  &agg->css.ss.ps);
	if (hold->numbers != NULL)
		hold->askers = lappend(hold->askers, replay);
	return replay;
}

/* See agg_hold_private.h. */
void
strata_agg_replay_reset(AggReplay *replay)
{
	strata_agg_state_reset(replay->caller);
}

/* Make value the state, in the memory of states. */
static void
keep_replayed(AggReplay *replay, Datum value, bool isnull)
{
	MemoryContext mcxt = strata_agg_state_memory(replay->caller);
	Datum		before = replay->state;
	bool		had = !replay->state_isnull;

	if (replay->transbyval ||
		(!isnull && had &&
		 DatumGetPointer(value) == DatumGetPointer(before)))
	{
		replay->state = value;
		replay->state_isnull = isnull;
		return;
	}
	if (!isnull &&
		!(DatumIsReadWriteExpandedObject(value, false, replay->translen) &&
		  MemoryContextGetParent(DatumGetEOHP(value)->eoh_context) == mcxt))
	{
		MemoryContext old = MemoryContextSwitchTo(mcxt);

		value = datumCopy(value, false, replay->translen);
		MemoryContextSwitchTo(old);
	}
	if (had)
	{
		if (DatumIsReadWriteExpandedObject(before, false, replay->translen))
			DeleteExpandedObject(before);
		else
			pfree(DatumGetPointer(before));
	}
	replay->state = isnull ? (Datum) 0 : value;
	replay->state_isnull = isnull;
}

/* Begin a group. */
static void
start_state(AggReplay *replay)
{
	MemoryContext old;

	replay->no_state = replay->init_isnull;
	replay->state_isnull = replay->init_isnull;
	replay->state = (Datum) 0;
	if (replay->init_isnull)
		return;
	old = MemoryContextSwitchTo(strata_agg_state_memory(replay->caller));
	replay->state = datumCopy(replay->init, replay->transbyval,
							  replay->translen);
	MemoryContextSwitchTo(old);
}

/* Take a row in, whose arguments are in fcinfo behind the state. */
static void
replay_row(AggReplay *replay, FunctionCallInfo fcinfo)
{
	Datum		result;

	if (replay->transfn.fn_strict)
	{
		for (int i = 1; i <= replay->ntrans; i++)
			if (fcinfo->args[i].isnull)
				return;
		if (replay->no_state)
		{
			/* the first value is the state; types are compatible */
			keep_replayed(replay, fcinfo->args[1].value, false);
			replay->no_state = false;
			return;
		}
		/* a function that once returned NULL stays there */
		if (replay->state_isnull)
			return;
	}
	fcinfo->args[0].value = replay->state;
	fcinfo->args[0].isnull = replay->state_isnull;
	fcinfo->isnull = false;
	result = FunctionCallInvoke(fcinfo);
	keep_replayed(replay, result, fcinfo->isnull);
}

/* Take all rows of a group in. */
static void
replay_rows(AggReplay *replay, HeldRows *rows)
{
	LOCAL_FCINFO(fcinfo, FUNC_MAX_ARGS);
	const AggHold *hold = replay->hold;
	HeldReader	reader;
	Datum	   *values;
	bool	   *isnull;
	int64		n = 0;
	MemoryContext old;

	/* aggregates have one argument less than functions may have */
	Assert(replay->ntrans < FUNC_MAX_ARGS); /* agg:G21 */
	strata_agg_hold_begin_read(replay->hold, rows, &reader);
	InitFunctionCallInfoData(*fcinfo, &replay->transfn,
							 (short) (replay->ntrans + 1),
							 replay->aggref->inputcollid,
							 (Node *) replay->caller, NULL);
	old = MemoryContextSwitchTo(replay->tmp);
	while (strata_agg_hold_read_next(&reader, &values, &isnull))
	{
		for (int i = 0; i < replay->ntrans; i++)
		{
			int			c = hold->columns[i];

			fcinfo->args[i + 1].value = c < 0 ? hold->constants[i] :
				values[c];
			fcinfo->args[i + 1].isnull = c < 0 ? hold->constant_nulls[i] :
				isnull != NULL && isnull[c];
		}
		replay_row(replay, fcinfo);
		if (++n % ROWS_PER_RESET == 0)
		{
			CHECK_FOR_INTERRUPTS();
			MemoryContextReset(replay->tmp);
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextReset(replay->tmp);
	strata_agg_hold_end_read(&reader);
}

/* Evaluate the direct arguments, into args. */
static void
direct_arguments(AggReplay *replay, ExprContext *econtext,
				 NullableDatum *args)
{
	ListCell   *lc;

	foreach(lc, replay->direct)
	{
		NullableDatum *arg = &args[foreach_current_index(lc)];

		arg->value = ExecEvalExpr((ExprState *) lfirst(lc), econtext,
								  &arg->isnull);
	}
}

/* The final function's result for the state. */
static Datum
finish_replay(AggReplay *replay, ExprContext *econtext, bool *isnull)
{
	LOCAL_FCINFO(fcinfo, FUNC_MAX_ARGS + 1);
	Datum		result;
	bool		any_null;

	*isnull = replay->state_isnull;
	if (!OidIsValid(replay->finalfn.fn_oid))
		return replay->state;
	InitFunctionCallInfoData(*fcinfo, &replay->finalfn,
							 (short) replay->nfinal,
							 replay->aggref->inputcollid,
							 (Node *) replay->caller, NULL);
	for (int i = 1; i < replay->nfinal; i++)
	{
		fcinfo->args[i].value = (Datum) 0;
		fcinfo->args[i].isnull = true;
	}
	direct_arguments(replay, econtext, &fcinfo->args[1]);
	any_null = replay->state_isnull;
	for (int i = 1; i < replay->nfinal; i++)
		any_null |= fcinfo->args[i].isnull;
	fcinfo->args[0].value = replay->state_isnull ? (Datum) 0 :
		MakeExpandedObjectReadOnly(replay->state, false, replay->translen);
	fcinfo->args[0].isnull = replay->state_isnull;
	if (replay->finalfn.fn_strict && any_null)
	{
		*isnull = true;
		return (Datum) 0;
	}
	result = FunctionCallInvoke(fcinfo);
	*isnull = fcinfo->isnull;
	return result;
}

/* The value of one that asks for places of numbers, without functions. */
static Datum
result_of_numbers(AggReplay *replay, HeldRows *rows, ExprContext *econtext,
				  bool *isnull)
{
	NullableDatum argument = {0};
	ListCell   *lc;

	/* whoever comes first asks for all */
	if (rows != NULL && rows->places == NULL)
		foreach(lc, replay->hold->askers)
	{
		AggReplay  *asker = lfirst(lc);

		direct_arguments(asker, econtext, &argument);
		strata_agg_percentile_want(rows, asker->aggref, &argument);
	}
	direct_arguments(replay, econtext, &argument);
	return strata_agg_percentile_result(replay->hold, replay->aggref, rows,
										&argument, isnull);
}

/* See agg_hold_private.h. */
Datum
strata_agg_replay_result(StrataAggState *agg, AggReplay *replay,
						 AggCell *cell, bool *isnull)
{
	ExprContext *econtext = agg->css.ss.ps.ps_ExprContext;
	HeldRows   *rows = held_rows(cell);
	Datum		result;

	CHECK_FOR_INTERRUPTS();
	if (replay->hold->numbers != NULL)
		return result_of_numbers(replay, rows, econtext, isnull);
	if (replay->hold->counted)
		return strata_agg_mode_result(replay->hold, rows, isnull);
	start_state(replay);
	replay_rows(replay, rows);
	result = finish_replay(replay, econtext, isnull);
	if (!*isnull)
		result = datumCopy(result, replay->resultbyval, replay->resultlen);
	strata_agg_state_reset(replay->caller);
	return result;
}
