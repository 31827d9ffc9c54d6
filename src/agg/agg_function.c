/*-------------------------------------------------------------------------
 *
 * agg_function.c
 *	  Which of PostgreSQL's aggregates we can compute, and how.
 *
 * Some have kernels.  Others run PostgreSQL's own transition functions, one
 * value after the other, on columns; those must be able to combine states, as
 * a hash table that spills does.
 *
 * src/agg/agg_function.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type_d.h"
#include "nodes/makefuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Is it one that an index can answer, as min() and max()? */
static bool
is_extreme(const Aggref *aggref)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID,
										ObjectIdGetDatum(aggref->aggfnoid));
	bool		extreme;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	extreme = OidIsValid(((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop);
	ReleaseSysCache(tuple);
	return extreme;
}

/* Does the aggregate have an initial value? */
static bool
has_initial_value(Oid aggfnoid)
{
	HeapTuple	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggfnoid));
	bool		isnull = true;

	if (HeapTupleIsValid(tuple))
	{
		SysCacheGetAttr(AGGFNOID, tuple, Anum_pg_aggregate_agginitval,
						&isnull);
		ReleaseSysCache(tuple);
	}
	return !isnull;
}

/*
 * See agg_kernel_private.h.  PostgreSQL adds floats up in the order of their
 * values, a set does not; and the argument would be computed where FILTER
 * keeps an error away.
 */
bool
strata_agg_distinct_has_set(const Aggref *aggref)
{
	return list_length(aggref->args) == 1 &&
		linitial_node(SortGroupClause, aggref->aggdistinct)->hashable &&
		aggref->aggtranstype != FLOAT4OID &&
		aggref->aggtranstype != FLOAT8OID &&
		aggref->aggtranstype != FLOAT8ARRAYOID &&
		(aggref->aggfilter == NULL ||
		 !strata_agg_computes(aggref->args));
}

/* Does the aggregate itself say in which order it wants its rows? */
static bool
wants_order(const Aggref *aggref)
{
	return aggref->aggorder != NIL ||
		aggref->aggkind != AGGKIND_NORMAL ||
		(aggref->aggdistinct != NIL && !is_extreme(aggref) &&
		 !strata_agg_distinct_has_set(aggref));
}

/* See agg_kernel_private.h. */
const AggKernel *
strata_agg_kernel_find(const Aggref *aggref)
{
	const AggKernel *pick = NULL;
	Oid			aggfnoid = aggref->aggfnoid;
	int			i = 0;

	if (wants_order(aggref))
		return &strata_agg_kernels[strata_agg_nkernels - 1];

	if (aggfnoid >= FirstNormalObjectId &&
		(pick = strata_agg_pick_kernel(aggref)) != NULL)
		return pick;

	while (i < strata_agg_nkernels - 1 &&
		   strata_agg_kernels[i].aggfnoid != aggfnoid)
		i++;
	return &strata_agg_kernels[i];
}

/* See agg_kernel_private.h. */
int
strata_agg_cell_size(const Aggref *aggref)
{
	switch (strata_agg_kernel_find(aggref)->result)
	{
		case AGG_RESULT_COUNT:
			return offsetof(AggCell, v);
		case AGG_RESULT_INT:
		case AGG_RESULT_INT_AVG:
		case AGG_RESULT_FLOAT4:
		case AGG_RESULT_FLOAT8:
			return offsetof(AggCell, w);
		default:
			return sizeof(AggCell);
	}
}

/* See agg_kernel_private.h. */
bool
strata_agg_counts_rows(const Aggref *aggref)
{
	Expr	   *arg;

	if (aggref->aggdistinct != NIL ||
		strata_agg_kernel_find(aggref)->result != AGG_RESULT_COUNT)
		return false;
	if (aggref->args == NIL)
		return true;
	arg = linitial_node(TargetEntry, aggref->args)->expr;
	return IsA(arg, Const) && !((Const *) arg)->constisnull;
}

/* See agg_kernel_private.h. */
bool
strata_agg_is_distinct(const Aggref *aggref)
{
	return aggref->aggdistinct != NIL && !is_extreme(aggref) &&
		!strata_agg_is_held(aggref);
}

/* See agg_kernel_private.h. */
bool
strata_agg_is_held(const Aggref *aggref)
{
	return wants_order(aggref) ||
		(strata_agg_kernel_find(aggref)->result == AGG_RESULT_GENERIC &&
		 !strata_agg_is_generic(aggref));
}

/*
 * See agg_kernel_private.h.  What is no such CASE stays what it is, as does a
 * condition that may raise an error: a row's argument is evaluated before the
 * next row's condition.
 */
const Aggref *
strata_agg_as_filtered(const Aggref *aggref)
{
	const		CaseExpr *choice;
	const		CaseWhen *when;
	TargetEntry *arg;
	Aggref	   *result;

	if (!strata_enable_vector_expressions || list_length(aggref->args) != 1 ||
		aggref->aggdistinct != NIL || strata_agg_is_held(aggref) ||
		strata_agg_kernel_find(aggref)->result == AGG_RESULT_GENERIC)
		return aggref;
	arg = linitial_node(TargetEntry, aggref->args);
	choice = (const CaseExpr *) arg->expr;
	if (!IsA(choice, CaseExpr) || choice->arg != NULL ||
		list_length(choice->args) != 1 ||
		(choice->defresult != NULL &&
		 (!IsA(choice->defresult, Const) ||
		  !((const Const *) choice->defresult)->constisnull)))
		return aggref;
	when = linitial_node(CaseWhen, choice->args);
	if (strata_expr_may_raise_error((Node *) when->expr))
		return aggref;
	result = makeNode(Aggref);
	*result = *aggref;
	arg = flatCopyTargetEntry(arg);
	arg->expr = when->result;
	result->args = list_make1(arg);
	result->aggfilter = aggref->aggfilter == NULL ? when->expr :
		make_andclause(list_make2(aggref->aggfilter, when->expr));
	return result;
}

/*
 * Does a transition function leave its state alone when the value is NULL?
 * Built in ones with a state of type internal do.
 */
static bool
ignores_null(const FormData_pg_aggregate *form)
{
	return form->aggtranstype == INTERNALOID || func_strict(form->aggtransfn);
}

/*
 * Does a function take or return what its call decides?  Such functions ask
 * for the types of the call's arguments, which we do not hand on.
 */
static bool
is_polymorphic(Oid function)
{
	Oid		   *types;
	int			ntypes;
	bool		result = IsPolymorphicType(get_func_signature(function, &types,
															  &ntypes));

	for (int i = 0; i < ntypes; i++)
		result |= IsPolymorphicType(types[i]);
	return result;
}

/* One argument, or two of a function that is called with neither null. */
static bool
has_few_arguments(const Aggref *aggref, const FormData_pg_aggregate *form)
{
	int			n = list_length(aggref->args);

	return n == 1 || (n == 2 && aggref->aggdistinct == NIL &&
					  func_strict(form->aggtransfn) &&
					  form->aggtranstype != INTERNALOID &&
					  has_initial_value(aggref->aggfnoid));
}

/*
 * See agg_kernel_private.h.  Built in aggregates only: their functions need
 * nothing of nodeAgg.c but a memory context, and their results do not depend
 * on the order of the rows by more than rounding.
 */
bool
strata_agg_is_generic(const Aggref *aggref)
{
	HeapTuple	tuple;
	Form_pg_aggregate form;
	bool		result;

	if (aggref->aggfnoid >= FirstNormalObjectId ||
		aggref->aggkind != AGGKIND_NORMAL || aggref->aggvariadic ||
		aggref->aggorder != NIL)
		return false;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_aggregate) GETSTRUCT(tuple);
	result =
		has_few_arguments(aggref, form) && ignores_null(form) &&
		!is_polymorphic(form->aggtransfn) && OidIsValid(form->aggcombinefn) &&
		!form->aggfinalextra &&
		(form->aggtranstype != INTERNALOID ||
		 (OidIsValid(form->aggserialfn) && OidIsValid(form->aggdeserialfn))) &&
	/* from 16 on these can be combined, but it is the order that counts */
		form->aggtransfn != F_ARRAY_AGG_TRANSFN &&
		form->aggtransfn != F_ARRAY_AGG_ARRAY_TRANSFN &&
		form->aggtransfn != F_STRING_AGG_TRANSFN &&
		form->aggtransfn != F_BYTEA_STRING_AGG_TRANSFN;
	ReleaseSysCache(tuple);
	return result;
}
