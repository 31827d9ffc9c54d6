/*-------------------------------------------------------------------------
 *
 * rollup_ends.c
 *	  The newest and the oldest time of a table that reads archives.
 *
 * max(time) asks for all rows, also those that are gone; but where a row that
 * is there is newer than all times that are gone, no other can be the newest.
 * So can min(time), and last(value, time) and first(value, time), be answered
 * out of rows alone: of all rows of a query, not of groups, of which some may
 * have had rows only where they are gone.
 *
 * Whether it is so is known when the query has run: around each aggregate is a
 * call of _strata.from_rows(), which fails as the query would have.
 *
 * src/rollup/rollup_ends.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_decompose_private.h"
#include "rollup/rollup_private.h"
#include "rollup/rollup_reach_private.h"

#include "base/base.h"
#include "hypertable/hypertable.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_from_rows);

typedef struct Ends
{
	Index		varno;
	AttrNumber	attno;
	Oid			type;
	Oid			table;
	int64		oldest;			/* first time that is gone */
	int64		newest;			/* after the last one */
	int			level;			/* of queries, from ours inwards */
	bool		failed;
	bool		found;
} Ends;

/*
 * Is it an aggregate that tells the newest (*newest) or the oldest time, or
 * what is beside it?  Then the aggregate of the time alone; else NULL.
 */
static Aggref *
end_of(const Ends *ends, Aggref *aggref, bool *newest)
{
	char	   *name;
	Expr	   *time;

	if (aggref->agglevelsup != 0 || aggref->aggorder != NIL)
		return NULL;
	if (strata_aggregate_is_extremum(aggref->aggfnoid))
		time = linitial_node(TargetEntry, aggref->args)->expr;
	else if (aggref->aggdistinct == NIL && strata_rollup_picks(aggref))
		time = lsecond_node(TargetEntry, aggref->args)->expr;
	else
		return NULL;
	if (!IsA(time, Var) || ((Var *) time)->varno != (int) ends->varno ||
		((Var *) time)->varlevelsup != 0 ||
		((Var *) time)->varattno != ends->attno ||
		((Var *) time)->vartype != ends->type)
		return NULL;
	name = get_func_name(aggref->aggfnoid);
	*newest = strcmp(name, "max") == 0 || strcmp(name, "last") == 0;
	return list_length(aggref->args) == 1 ? aggref :
		strata_rollup_picked_time(aggref);
}

/* Look for aggregates of the query that tell something else. */
static bool
find_others(Node *node, void *context)
{
	Ends	   *ends = context;
	bool		newest;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		ends->level++;
		(void) query_tree_walker((Query *) node, find_others, ends, 0);
		ends->level--;
		return ends->failed;
	}
	if (IsA(node, Aggref) &&
		(int) ((Aggref *) node)->agglevelsup == ends->level)
	{
		ends->found = true;
		if (ends->level > 0 || end_of(ends, (Aggref *) node, &newest) == NULL)
			ends->failed = true;
		return ends->failed;
	}
	return expression_tree_walker(node, find_others, context);
}

/* _strata.from_rows(value, time, table, limit, newest) */
static Node *
guard_mutator(Node *node, void *context)
{
	Ends	   *ends = context;
	Oid			types[] = {ANYELEMENTOID, ANYOID, OIDOID, INT8OID, BOOLOID};
	Aggref	   *time;
	bool		newest;
	Oid			function;
	List	   *args;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Aggref))
		return expression_tree_mutator(node, guard_mutator, context);
	time = end_of(ends, (Aggref *) node, &newest);
	if (time == NULL)
		return copyObject(node);	/* of a query around */
	function = LookupFuncName(list_make2(makeString(STRATA_INTERNAL_SCHEMA),
										 makeString("from_rows")),
							  lengthof(types), types, false);
	args = list_make5(copyObject(node), copyObject(time),
					  makeConst(OIDOID, -1, InvalidOid, sizeof(Oid),
								ObjectIdGetDatum(ends->table), false, true),
					  makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
								Int64GetDatum(newest ? ends->newest :
											  ends->oldest),
								false, FLOAT8PASSBYVAL),
					  makeBoolConst(newest, false));
	return (Node *) makeFuncExpr(function, exprType(node), args,
								 exprCollation(node),
								 exprCollation(node), COERCE_EXPLICIT_CALL);
}

/* See rollup_reach_private.h. */
bool
strata_rollup_guard_ends(Query *query, Index varno, Oid table,
						 AttrNumber attno, Oid type,
						 const StrataRanges *needed)
{
	Ends		ends = {varno, attno, type, table,
	.oldest = needed->r[0].lo,.newest = needed->r[needed->n - 1].hi};

	if (query->groupClause != NIL || query->groupingSets != NIL)
		return false;
	(void) find_others((Node *) query->targetList, &ends);
	(void) find_others(query->havingQual, &ends);
	if (ends.failed || !ends.found)
		return false;
	Assert(ends.oldest < ends.newest);	/* rollup:Z9 */
	query->targetList = (List *) guard_mutator((Node *) query->targetList,
											   &ends);
	query->havingQual = guard_mutator(query->havingQual, &ends);
	return true;
}

/*
 * from_rows(value anyelement, at "any", hypertable oid, bound bigint, newest
 * boolean): the value, if `at` is no older than the bound, or (not newest)
 * older
 */
Datum
strata_from_rows(PG_FUNCTION_ARGS)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 1);
	bool		proven = false;

	if (PG_ARGISNULL(2) || PG_ARGISNULL(3) || PG_ARGISNULL(4))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(1))
	{
		int64		time = strata_time_from_datum(type, PG_GETARG_DATUM(1));

		proven = PG_GETARG_BOOL(4) ? time >= PG_GETARG_INT64(3) :
			time < PG_GETARG_INT64(3);
	}
	if (!proven)
		strata_rollup_refuse_reach(PG_GETARG_OID(2));
	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	PG_RETURN_DATUM(PG_GETARG_DATUM(0));
}
