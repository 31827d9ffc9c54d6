/*-------------------------------------------------------------------------
 *
 * rollup_gaps.c
 *	  Conditions of many ranges of times, each chunk with its own alone.
 *
 * What an archive leaves to the rows is a time in one of many ranges, an OR.
 * PostgreSQL prunes chunks by it, and hands all of it on to each chunk that is
 * left, where it is estimated, matched with indexes and run, though one range
 * of it lies there, or two: the time of planning grows with ranges times
 * chunks.
 *
 * So once the chunks are pruned, and before the first of them gets its
 * conditions, the OR becomes a call of _strata.time_in() in its hypertable's;
 * and that is simplified, where it is about a chunk, to those ranges that
 * overlap with the chunk's, without ends that its partition constraint has.
 * All this is the same condition.
 *
 * src/rollup/rollup_gaps.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "base/base.h"
#include "hypertable/hypertable.h"

#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parse_func.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* As few are handed on as they are. */
#define FEW_RANGES 4

PG_FUNCTION_INFO_V1(strata_time_in);
PG_FUNCTION_INFO_V1(strata_time_in_support);

/* Of which the order is that of int64, and all values have one. */
static bool
is_plain_time(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID ||
		type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

/* Bound a range by the comparison; false: it is something else. */
static bool
read_comparison(Node *node, const Var *time, StrataRange *range)
{
	OpExpr	   *op = (OpExpr *) node;
	TypeCacheEntry *entry;
	Const	   *value;
	int64		at;

	if (!IsA(node, OpExpr) || list_length(op->args) != 2 ||
		!equal(linitial(op->args), time) || !IsA(lsecond(op->args), Const))
		return false;
	value = lsecond(op->args);
	if (value->constisnull || value->consttype != time->vartype)
		return false;
	at = strata_time_from_datum(time->vartype, value->constvalue);
	if (at == PG_INT64_MIN || at == PG_INT64_MAX)
		return false;
	entry = lookup_type_cache(time->vartype, TYPECACHE_BTREE_OPFAMILY);
	switch (get_op_opfamily_strategy(op->opno, entry->btree_opf))
	{
		case BTGreaterEqualStrategyNumber:
			range->lo = Max(range->lo, at);
			return true;
		case BTLessStrategyNumber:
			range->hi = Min(range->hi, at);
			return true;
		default:
			return false;
	}
}

/* The ranges that a condition says the time is in; false: it is another. */
static bool
read_ranges(Node *clause, const Var *time, StrataRanges *ranges)
{
	ListCell   *lc;
	ListCell   *inner;

	foreach(lc, ((BoolExpr *) clause)->args)
	{
		StrataRange range = strata_range(PG_INT64_MIN, PG_INT64_MAX);
		List	   *parts = is_andclause(lfirst(lc)) ?
		((BoolExpr *) lfirst(lc))->args : list_make1(lfirst(lc));

		foreach(inner, parts)
		{
			if (!read_comparison(lfirst(inner), time, &range))
				return false;
		}
		strata_ranges_add(ranges, range);
	}
	return ranges->n > 0;
}

/* _strata.time_in(time, ranges) */
static Expr *
make_call(Var *time, const StrataRanges *ranges)
{
	Datum	   *ends = palloc(sizeof(Datum) * 2 * ranges->n);
	Oid			types[2] = {ANYELEMENTOID, INT8ARRAYOID};
	Oid			function;
	ArrayType  *array;

	for (int i = 0; i < ranges->n; i++)
	{
		ends[2 * i] = Int64GetDatum(ranges->r[i].lo);
		ends[2 * i + 1] = Int64GetDatum(ranges->r[i].hi);
	}
	array = construct_array(ends, 2 * ranges->n, INT8OID, sizeof(int64),
							FLOAT8PASSBYVAL, TYPALIGN_DOUBLE);
	function = LookupFuncName(list_make2(makeString(STRATA_INTERNAL_SCHEMA),
										 makeString("time_in")),
							  2, types, false);
	return (Expr *) makeFuncExpr(function, BOOLOID,
								 list_make2(copyObject(time),
											makeConst(INT8ARRAYOID, -1,
													  InvalidOid, -1,
													  PointerGetDatum(array),
													  false, false)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* The call that says what such a condition of the hypertable says, or NULL. */
static Expr *
as_call(Node *clause, Index varno, Oid relid)
{
	StrataHypertable *ht;
	StrataRanges ranges = {0};
	Oid			type;
	int32		typmod;
	Oid			collation;
	Var		   *time;

	if (!is_orclause(clause) ||
		list_length(((BoolExpr *) clause)->args) <= FEW_RANGES ||
		(ht = strata_hypertable_get(relid)) == NULL)
		return NULL;
	get_atttypetypmodcoll(relid, ht->attno, &type, &typmod, &collation);
	if (!is_plain_time(type))
		return NULL;
	time = makeVar(varno, ht->attno, type, typmod, collation, 0);
	return read_ranges(clause, time, &ranges) ? make_call(time, &ranges) :
		NULL;
}

/* See rollup.h. */
void
strata_rollup_gather_gaps(PlannerInfo *root, RelOptInfo *rel)
{
	AppendRelInfo *place = root->append_rel_array == NULL ? NULL :
	root->append_rel_array[rel->relid];
	RelOptInfo *parent;
	ListCell   *lc;

	if (place == NULL || !OidIsValid(place->parent_reloid) ||
		!strata_enable_time_pruning)
		return;
	parent = root->simple_rel_array[place->parent_relid];
	foreach(lc, parent->baserestrictinfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, lc);
		Expr	   *call = as_call((Node *) info->clause, parent->relid,
								   place->parent_reloid);

		if (call == NULL)
			continue;
		lfirst(lc) = make_simple_restrictinfo(root, call);
		lfirst_node(RestrictInfo, lc)->security_level = info->security_level;
	}
}

/*-------------------------------------------------------------------------
 * The function
 *-------------------------------------------------------------------------
 */

/* Is a time in the ranges, of which the array has the ends? */
static bool
lies_in(int64 time, const int64 *ends, int n)
{
	for (int i = 0; i + 1 < n; i += 2)
	{
		if (time >= ends[i] && (time < ends[i + 1] ||
								ends[i + 1] == PG_INT64_MAX))
			return true;
	}
	return false;
}

/* The int8 values of an array that has no nulls, and how many. */
static const int64 *
array_ends(ArrayType *array, int *n)
{
	if (ARR_NDIM(array) != 1 || ARR_ELEMTYPE(array) != INT8OID ||
		array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("ranges are not a list of their ends")));
	*n = ARR_DIMS(array)[0];
	return (const int64 *) ARR_DATA_PTR(array);
}

/* time_in(time anyelement, ranges bigint[]) */
Datum
strata_time_in(PG_FUNCTION_ARGS)
{
	Oid			type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	const int64 *ends;
	int			n;

	if (!is_plain_time(type))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("type %s has no ranges of times",
						format_type_be(type))));
	ends = array_ends(PG_GETARG_ARRAYTYPE_P(1), &n);
	PG_RETURN_BOOL(lies_in(strata_time_from_datum(type, PG_GETARG_DATUM(0)),
						   ends, n));
}

/* The times a chunk is for; false: not known, or the variable is no chunk's. */
static bool
chunk_of(PlannerInfo *root, const Var *var, StrataRange *chunk)
{
	RangeTblEntry *rte;

	if (root == NULL || var->varlevelsup != 0 ||
		root->simple_rte_array == NULL ||
		(int) var->varno >= root->simple_rel_array_size)
		return false;
	rte = root->simple_rte_array[var->varno];
	if (rte == NULL || rte->rtekind != RTE_RELATION ||
		rte->relkind != RELKIND_RELATION ||
		!strata_chunk_times(rte->relid, &chunk->lo, &chunk->hi))
		return false;
	if (chunk->hi != PG_INT64_MAX)
		chunk->hi++;
	return true;
}

/* time_in_support(internal): of a chunk, its own ranges alone */
Datum
strata_time_in_support(PG_FUNCTION_ARGS)
{
	Node	   *node = (Node *) PG_GETARG_POINTER(0);
	FuncExpr   *call;
	StrataRange chunk;
	StrataRanges ranges = {0};
	Datum		array;
	const int64 *ends;
	int			n;

	if (!IsA(node, SupportRequestSimplify))
		PG_RETURN_POINTER(NULL);
	call = ((SupportRequestSimplify *) node)->fcall;
	if (list_length(call->args) != 2 || !IsA(linitial(call->args), Var) ||
		!IsA(lsecond(call->args), Const) ||
		lsecond_node(Const, call->args)->constisnull ||
		!is_plain_time(exprType(linitial(call->args))) ||
		!chunk_of(((SupportRequestSimplify *) node)->root,
				  linitial(call->args), &chunk))
		PG_RETURN_POINTER(NULL);
	array = lsecond_node(Const, call->args)->constvalue;
	ends = array_ends(DatumGetArrayTypeP(array), &n);
	for (int i = 0; i + 1 < n; i += 2)
	{
		StrataRange range = strata_range(ends[i], ends[i + 1]);

		if (range.lo >= chunk.hi || range.hi <= chunk.lo)
			continue;
		/* what the partition constraint says need not be said again */
		if (range.lo <= chunk.lo)
			range.lo = PG_INT64_MIN;
		if (range.hi >= chunk.hi)
			range.hi = PG_INT64_MAX;
		if (range.lo == PG_INT64_MIN && range.hi == PG_INT64_MAX)
			PG_RETURN_POINTER(makeBoolConst(true, false));
		strata_ranges_add(&ranges, range);
	}
	Assert(ranges.n <= n / 2);	/* rollup:Z1 */
	PG_RETURN_POINTER(strata_rollup_in_ranges(linitial(call->args),
											  exprType(linitial(call->args)),
											  &ranges));
}
