/*-------------------------------------------------------------------------
 *
 * bucket_qual.c
 *	  time_bucket(w, ts) >= c becomes a comparison of ts: what indexes, chunk
 *	  and batch pruning and statistics understand.
 *
 * A bucket is a step function of its time that never falls, so a comparison
 * with c holds on one side of an edge, exactly (three-valued too: both forms
 * are NULL for the same inputs):
 *	  bucket >= c    ts >= first time whose bucket is >= c
 *	  bucket >  c    ts >  last time whose bucket is <= c
 * and so on.  Where c is not constant (now() - ...) the edge is computed by
 * _strata.bucket_edge() in the plan.  For integers, which have no infinity to
 * say "none", only constants within range are rewritten.
 *
 * With a time zone the edge would depend on the zone's changes of the clock,
 * so such a comparison stays, and a comparison of ts that it implies is added:
 * bucket >= c implies ts >= c, and bucket <= c that ts is no later than c by
 * more than a bucket can be long (_strata.zone_bucket_edge).  As it may be
 * false where the other is NULL, that is done to ANDed conditions only.
 *
 * src/time/bucket_qual.c
 *-------------------------------------------------------------------------
 */
#include "time/time_private.h"

#include "access/stratnum.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* A call of our time_bucket, taken apart. */
typedef struct BucketCall
{
	Oid			type;			/* of the times */
	Expr	   *width;
	Expr	   *time;
	Expr	   *rest;			/* origin or offset, or NULL */
} BucketCall;

/*
 * See time_private.h.  Identified by its C symbol, so no
 * schema needs to be searched and nobody's function of that name is mistaken.
 */
bool
strata_time_is_bucket(Oid funcid, bool zoned)
{
	const char *symbol = strata_time_bucket_symbol(funcid);

	return symbol != NULL &&
		strncmp(symbol, "strata_time_bucket_",
				strlen("strata_time_bucket_")) == 0 &&
		(strcmp(symbol, "strata_time_bucket_zone") == 0) == zoned;
}

/* See time.h. */
const char *
strata_time_bucket_symbol(Oid funcid)
{
	HeapTuple	tuple;
	Form_pg_proc form;
	const char *result = NULL;

	if (funcid < FirstNormalObjectId)
		return NULL;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	if (!HeapTupleIsValid(tuple))
		return NULL;
	form = (Form_pg_proc) GETSTRUCT(tuple);
	if (form->prolang == ClanguageId &&
		strcmp(NameStr(form->proname), "time_bucket") == 0)
	{
		bool		isnull;
		Datum		source = SysCacheGetAttr(PROCOID, tuple,
											 Anum_pg_proc_prosrc, &isnull);
		char	   *symbol = isnull ? NULL : TextDatumGetCString(source);

		if (symbol != NULL &&
			(strncmp(symbol, "strata_time_bucket_",
					 strlen("strata_time_bucket_")) == 0 ||
			 strncmp(symbol, "strata_uuid_bucket",
					 strlen("strata_uuid_bucket")) == 0))
			result = symbol;
	}
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Arguments of a call of our time_bucket in the order of its parameters; NIL:
 * it is none.  The planner has not put named ones (ts => time) in order yet,
 * and a NamedArgExpr has no place in another call or comparison.
 */
static List *
bucket_arguments(Node *node, bool zoned)
{
	FuncExpr   *func = (FuncExpr *) node;
	HeapTuple	tuple;
	List	   *args;
	ListCell   *lc;
	bool		named = false;

	if (node == NULL || !IsA(node, FuncExpr) ||
		!strata_time_is_bucket(func->funcid, zoned))
		return NIL;
	foreach(lc, func->args)
		named |= IsA(lfirst(lc), NamedArgExpr);
	if (!named)
		return func->args;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(func->funcid));
	if (!HeapTupleIsValid(tuple))
		return NIL;
	args = expand_function_arguments(func->args, false, func->funcresulttype,
									 tuple);
	ReleaseSysCache(tuple);
	return args;
}

static bool
match_call(Node *node, BucketCall *call)
{
	List	   *args = bucket_arguments(node, false);

	if (list_length(args) < 2 || list_length(args) > 3)
		return false;
	call->type = ((FuncExpr *) node)->funcresulttype;
	call->width = linitial(args);
	call->time = lsecond(args);
	call->rest = list_length(args) > 2 ? lthird(args) : NULL;
	return true;
}

/* See time_private.h. */
int
strata_time_strategy(Oid opno, Oid type)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid			left,
				right;

	op_input_types(opno, &left, &right);
	if (left != type || right != type || !OidIsValid(entry->btree_opf))
		return 0;
	return get_op_opfamily_strategy(opno, entry->btree_opf);
}

/* type op type, as a clause. */
static Expr *
make_comparison(Oid type, int strategy, Expr *left, Expr *right)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid			opno = get_opfamily_member(entry->btree_opf, type, type,
										   strategy);

	if (!OidIsValid(opno))
		elog(ERROR, "no operator %d for type %u", strategy, type);
	return make_opclause(opno, BOOLOID, false, copyObject(left), right,
						 InvalidOid, InvalidOid);
}

/*
 * _strata.bucket_edge(c, last, width [, rest]), or NULL when it is not there.
 */
static Expr *
make_edge(const BucketCall *call, Expr *c, bool last)
{
	Oid			types[4] = {ANYELEMENTOID, BOOLOID, ANYOID, ANYOID};
	int			nargs = call->rest != NULL ? 4 : 3;
	List	   *name = list_make2(makeString(STRATA_INTERNAL_SCHEMA),
								  makeString("bucket_edge"));
	Oid			funcid = LookupFuncName(name, nargs, types, true);
	List	   *args;

	if (!OidIsValid(funcid))
		return NULL;
	args = list_make3(copyObject(c), makeBoolConst(last, false),
					  copyObject(call->width));
	if (call->rest != NULL)
		args = lappend(args, copyObject(call->rest));
	return (Expr *) makeFuncExpr(funcid, call->type, args, InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CALL);
}

/*
 * The edge among integers, all arguments constant; NULL when none is in range.
 */
static Expr *
integer_edge(const BucketCall *call, Const *c, bool last)
{
	StrataBucket bucket;
	int64		time = strata_bucket_get(call->type, c->constvalue);
	int64		start;
	int64		width = strata_bucket_get(call->type,
										  ((Const *) call->width)->constvalue);

	if (width <= 0)
		return NULL;			/* an error, to be raised at run time */
	strata_bucket_init(&bucket, call->type,
					   ((Const *) call->width)->constvalue);
	if (call->rest != NULL)
	{
		Const	   *origin = (Const *) call->rest;

		strata_bucket_set_origin(&bucket, strata_bucket_get(call->type,
															origin->constvalue));
	}
	if (last ? !strata_bucket_next(&bucket, time, &start) :
		!strata_bucket_first(&bucket, time, &start))
		return NULL;
	return (Expr *) makeConst(call->type, -1, InvalidOid, c->constlen,
							  strata_bucket_datum(call->type, start - last),
							  false, c->constbyval);
}

static bool
is_value(Expr *expr)
{
	return expr != NULL && IsA(expr, Const) && !((Const *) expr)->constisnull;
}

static Expr *
edge(const BucketCall *call, Expr *c, bool last)
{
	if (call->type != INT2OID && call->type != INT4OID &&
		call->type != INT8OID)
		return make_edge(call, c, last);
	if (!is_value(c) || !is_value(call->width) ||
		(call->rest != NULL && !is_value(call->rest)))
		return NULL;
	return integer_edge(call, (Const *) c, last);
}

/* What replaces bucket op c; NULL to leave it. */
static Expr *
rewrite(const BucketCall *call, int strategy, Expr *c)
{
	Expr	   *first = NULL;
	Expr	   *last = NULL;

	if (strategy == 0)
		return NULL;
	if (strategy == BTLessStrategyNumber ||
		strategy == BTGreaterEqualStrategyNumber ||
		strategy == BTEqualStrategyNumber)
	{
		first = edge(call, c, false);
		if (first == NULL)
			return NULL;
	}
	if (strategy == BTGreaterStrategyNumber ||
		strategy == BTLessEqualStrategyNumber ||
		strategy == BTEqualStrategyNumber)
	{
		last = edge(call, c, true);
		if (last == NULL)
			return NULL;
	}
	if (strategy == BTEqualStrategyNumber)
		return makeBoolExpr(AND_EXPR,
							list_make2(make_comparison(call->type,
													   BTGreaterEqualStrategyNumber,
													   call->time, first),
									   make_comparison(call->type, BTLessEqualStrategyNumber,
													   call->time, last)),
							-1);
	return make_comparison(call->type, strategy, call->time,
						   first != NULL ? first : last);
}

/* Integer constants of another width compare as those of the bucket's type. */
static Expr *
same_type(const BucketCall *call, Expr *c, Oid *opno)
{
	Oid			type = exprType((Node *) c);
	TypeCacheEntry *entry;
	int			strategy;
	int64		value;

	if (type == call->type || !is_value(c) || call->type == type ||
		(type != INT2OID && type != INT4OID && type != INT8OID) ||
		(call->type != INT2OID && call->type != INT4OID &&
		 call->type != INT8OID))
		return c;
	entry = lookup_type_cache(call->type, TYPECACHE_BTREE_OPFAMILY);
	strategy = get_op_opfamily_strategy(*opno, entry->btree_opf);
	value = strata_bucket_get(type, ((Const *) c)->constvalue);
	if (strategy == 0 || (call->type == INT2OID && value != (int16) value) ||
		(call->type == INT4OID && value != (int32) value))
		return c;
	*opno = get_opfamily_member(entry->btree_opf, call->type, call->type,
								strategy);
	return (Expr *) makeConst(call->type, -1, InvalidOid,
							  get_typlen(call->type),
							  strata_bucket_datum(call->type, value), false,
							  get_typbyval(call->type));
}

/*
 * The expression with comparisons of time_bucket() with a constant replaced by
 * equivalent ones of the time.
 */
static Node *
rewrite_mutator(Node *node, void *context)
{
	BucketCall	call;
	OpExpr	   *op;
	Expr	   *c,
			   *result;
	Oid			opno;

	if (node == NULL)
		return NULL;
	if (IsA(node, SubLink) || IsA(node, Query))
		return node;			/* visited on its own; and kept, not copied */
	if (!IsA(node, OpExpr) || list_length(((OpExpr *) node)->args) != 2)
		return expression_tree_mutator(node, rewrite_mutator, context);
	op = (OpExpr *) node;
	opno = op->opno;
	if (match_call(linitial(op->args), &call))
		c = lsecond(op->args);
	else if (match_call(lsecond(op->args), &call))
	{
		c = linitial(op->args);
		opno = get_commutator(opno);
	}
	else
		return node;
	if (!OidIsValid(opno) || !strata_bucket_type(call.type) ||
		contain_subplans(node) || contain_volatile_functions(node) ||
		!contain_var_clause((Node *) call.time))
		return node;
	c = (Expr *) eval_const_expressions(NULL, (Node *) c);
	call.width = (Expr *) eval_const_expressions(NULL, (Node *) call.width);
	call.rest = (Expr *) eval_const_expressions(NULL, (Node *) call.rest);
	c = same_type(&call, c, &opno);
	result = rewrite(&call, strata_time_strategy(opno, call.type), c);
	return result != NULL ? (Node *) result : node;
}

/* Does the tree call a function named time_bucket?  Cheap, and mostly not. */
static bool
calls_time_bucket(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr) &&
		(strata_time_is_bucket(((FuncExpr *) node)->funcid, false) ||
		 strata_time_is_bucket(((FuncExpr *) node)->funcid, true)))
		return true;
	if (IsA(node, SubLink))
		return calls_time_bucket(((SubLink *) node)->testexpr, context);
	return expression_tree_walker(node, calls_time_bucket, context);
}

/*-------------------------------------------------------------------------
 * With a time zone
 *-------------------------------------------------------------------------
 */

/* Arguments of a call with a time zone, or NULL. */
static List *
match_zoned_call(Node *node)
{
	List	   *args = bucket_arguments(node, true);

	return list_length(args) < 3 ? NIL : args;
}

/* ts op _strata.zone_bucket_edge(c, last, width) */
static Expr *
zoned_comparison(List *args, Expr *c, int strategy)
{
	Oid			types[3] = {TIMESTAMPTZOID, BOOLOID, INTERVALOID};
	bool		last = strategy == BTLessEqualStrategyNumber;
	List	   *name = list_make2(makeString(STRATA_INTERNAL_SCHEMA),
								  makeString("zone_bucket_edge"));
	Oid			funcid = LookupFuncName(name, 3, types, true);

	if (!OidIsValid(funcid))
		return NULL;
	return make_comparison(TIMESTAMPTZOID, strategy, lsecond(args),
						   (Expr *) makeFuncExpr(funcid, TIMESTAMPTZOID,
												 list_make3(copyObject(c),
															makeBoolConst(last, false),
															copyObject(linitial(args))),
												 InvalidOid, InvalidOid,
												 COERCE_EXPLICIT_CALL));
}

/*
 * What a comparison of a bucket with a time zone implies for the time:
 * conditions, ANDed.
 */
static List *
implied_by_zoned(Node *node)
{
	OpExpr	   *op = (OpExpr *) node;
	List	   *args;
	List	   *result = NIL;
	Expr	   *c;
	Oid			opno;
	int			strategy;

	if (!IsA(node, OpExpr) || list_length(op->args) != 2)
		return NIL;
	opno = op->opno;
	args = match_zoned_call(linitial(op->args));
	c = lsecond(op->args);
	if (args == NIL)
	{
		args = match_zoned_call(lsecond(op->args));
		c = linitial(op->args);
		opno = get_commutator(opno);
	}
	if (args == NIL || !OidIsValid(opno) || contain_subplans(node) ||
		contain_volatile_functions(node) || contain_var_clause((Node *) c) ||
		contain_var_clause(linitial(args)) ||
		!contain_var_clause(lsecond(args)))
		return NIL;
	strategy = strata_time_strategy(opno, TIMESTAMPTZOID);
	if (strategy == BTGreaterEqualStrategyNumber ||
		strategy == BTGreaterStrategyNumber ||
		strategy == BTEqualStrategyNumber)
		result = lappend(result,
						 zoned_comparison(args, c,
										  BTGreaterEqualStrategyNumber));
	if (strategy == BTLessEqualStrategyNumber ||
		strategy == BTLessStrategyNumber || strategy == BTEqualStrategyNumber)
		result = lappend(result,
						 zoned_comparison(args, c, BTLessEqualStrategyNumber));
	return list_member_ptr(result, NULL) ? NIL : result;
}

/*
 * A condition that says the same, and beside it what it implies for the time
 * where no equivalent is known.
 */
static Node *
rewrite_qual(Node *qual)
{
	List	   *implied = NIL;
	ListCell   *lc;

	if (qual == NULL || !calls_time_bucket(qual, NULL))
		return qual;
	if (is_andclause(qual))
	{
		foreach(lc, ((BoolExpr *) qual)->args)
			implied = list_concat(implied, implied_by_zoned(lfirst(lc)));
	}
	else
		implied = implied_by_zoned(qual);
	qual = rewrite_mutator(qual, NULL);
	return implied == NIL ?
		qual :
		(Node *) makeBoolExpr(AND_EXPR, lcons(qual, implied), -1);
}

/* Rewrite the conditions of WHERE and of inner joins in place. */
static void
rewrite_jointree(Node *node)
{
	ListCell   *lc;

	if (node == NULL)
		return;
	if (IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;

		foreach(lc, from->fromlist)
			rewrite_jointree(lfirst(lc));
		from->quals = rewrite_qual(from->quals);
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		rewrite_jointree(join->larg);
		rewrite_jointree(join->rarg);
		join->quals = rewrite_qual(join->quals);
	}
}

static bool
rewrite_query(Query *query, void *context)
{
	rewrite_jointree((Node *) query->jointree);
	return false;
}

/* See time.h. */
void
strata_time_rewrite_quals(Query *query)
{
	if (strata_enable_time_pruning && query->commandType != CMD_UTILITY)
		(void) strata_query_visit_all(query, rewrite_query, NULL);
}
