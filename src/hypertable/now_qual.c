/*-------------------------------------------------------------------------
 *
 * now_qual.c
 *	  time > now() - interval, and comparisons of rows, prune chunks while a
 *	  query is planned.
 *
 * PostgreSQL does not evaluate now() at plan time, so it plans a scan of every
 * chunk and drops most of them when the query starts.  Beside such a condition
 * we put what it implies now and later: time >= the value it has at present.
 * Since now() only grows, that stays true in a cached plan.  What could make
 * the right side smaller again (a clock set back, another time zone, months of
 * different length) is allowed for by some slack; the chunks that it costs are
 * dropped at the start of the query as before.  Local time, which the
 * session's time zone moves, needs two weeks of it.
 *
 * Beside (time, id) < (x, y) we put time <= x, which PostgreSQL derives for
 * indexes alone.
 *
 * src/hypertable/now_qual.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"
#include "time/time.h"

#include "access/stratnum.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/datum.h"
#include "utils/fmgrprotos.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* >= of each type with itself. */
#define TIMESTAMPTZ_GE_OPERATOR 1325
#define TIMESTAMP_GE_OPERATOR 2065
#define DATE_GE_OPERATOR 1098
#define UUID_GE_OPERATOR 2977

#define SLACK_CLOCK USECS_PER_HOUR
#define SLACK_DAYS USECS_PER_DAY
#define SLACK_MONTHS (7 * USECS_PER_DAY)
/*
 * time zones are less than 168 hours from UTC, and the session's may be
 * another later
 */
#define SLACK_ZONES (15 * USECS_PER_DAY)

/*
 * A value of one time type as another, by the session's time zone as casts do.
 */
static Datum
cast_time(Oid from, Oid to, Datum value)
{
	if (from == to)
		return value;
	if (to == TIMESTAMPTZOID)
		return DirectFunctionCall1(from == DATEOID ? date_timestamptz :
								   timestamp_timestamptz,
								   value);
	if (to == TIMESTAMPOID)
		return DirectFunctionCall1(from == DATEOID ? date_timestamp :
								   timestamptz_timestamp,
								   value);
	return DirectFunctionCall1(from == TIMESTAMPOID ? timestamp_date :
							   timestamptz_date,
							   value);
}

/* Is there local time in an expression of now()? */
static bool
has_local_time(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (!IsA(node, Const) && exprType(node) != TIMESTAMPTZOID)
		return true;
	return expression_tree_walker(node, has_local_time, context);
}

/* The value that an expression without variables has at present. */
static Datum
evaluate_bound(Node *node, bool *isnull)
{
	EState	   *estate = CreateExecutorState();
	ExprState  *state = ExecPrepareExpr(copyObject((Expr *) node), estate);
	Datum		value;

	value = ExecEvalExprSwitchContext(state, GetPerTupleExprContext(estate),
									  isnull);

	/*
	 * times are passed by value on 64 bits; elsewhere the caller's context
	 * has them
	 */
	value = *isnull ? value :
		datumCopy(value, get_typbyval(exprType(node)),
				  get_typlen(exprType(node)));
	FreeExecutorState(estate);
	return value;
}

/* See hypertable_private.h. */
bool
strata_now_least_value(Node *node, Oid column_type, Datum *value)
{
	int64		slack = SLACK_CLOCK;
	StrataNowLengths lengths = {0};
	Oid			type = exprType(node);
	bool		isnull;
	Datum		present;
	int64		time;

	/* a UUID is of a time, and grows with it */
	if (column_type == UUIDOID)
	{
		if (!IsA(node, FuncExpr) ||
			!strata_uuid_is_boundary(((FuncExpr *) node)->funcid) ||
			!strata_now_least_value(linitial(((FuncExpr *) node)->args),
									TIMESTAMPTZOID,
									&present))
			return false;
		*value = strata_time_to_datum(UUIDOID, DatumGetTimestampTz(present));
		return true;
	}
	if ((type != TIMESTAMPTZOID && type != TIMESTAMPOID && type != DATEOID) ||
		!strata_time_is_of_now(node, &lengths))
		return false;
	slack += lengths.ndays * SLACK_DAYS + lengths.nmonths * SLACK_MONTHS +
		lengths.truncated;
	/* local time anywhere in it */
	if (type != TIMESTAMPTZOID || column_type != TIMESTAMPTZOID ||
		has_local_time(node, NULL))
		slack += SLACK_ZONES;
	present = evaluate_bound(node, &isnull);
	if (isnull)
		return false;
	time = strata_time_from_datum(column_type,
								  cast_time(type, column_type, present));
	if (time == PG_INT64_MIN || time == PG_INT64_MAX)
		return false;
	*value = strata_time_to_datum(column_type, column_type == DATEOID ? time -
								  slack / USECS_PER_DAY - 1 : time - slack);
	return true;
}

/*
 * What a column of a subquery, view, join or grouping stands for in the query
 * below, or NULL.
 */
static Var *
column_below(Var *var, Query **query)
{
	RangeTblEntry *rte = rt_fetch(var->varno, (*query)->rtable);
	Node	   *below = NULL;

	if (rte->rtekind == RTE_SUBQUERY)
	{
		TargetEntry *te = get_tle_by_resno(rte->subquery->targetList,
										   var->varattno);

		below = te != NULL ? (Node *) te->expr : NULL;
		*query = rte->subquery;
	}
	else if (rte->rtekind == RTE_JOIN && var->varattno > 0)
		below = list_nth(rte->joinaliasvars, var->varattno - 1);
	else if (strata_rte_is_group(rte))
		below = list_nth(strata_rte_group_exprs(rte), var->varattno - 1);
	return below != NULL && IsA(below, Var) &&
		((Var *) below)->varlevelsup == 0 ?
		(Var *) below :
		NULL;
}

/* See hypertable_private.h. */
bool
strata_is_time_column(Var *var, Query *query)
{
	RangeTblEntry *rte;
	StrataHypertable *ht;

	if (var->varlevelsup != 0)
		return false;
	rte = rt_fetch(var->varno, query->rtable);
	while (rte->rtekind == RTE_SUBQUERY || rte->rtekind == RTE_JOIN ||
		   strata_rte_is_group(rte))
	{
		var = column_below(var, &query);
		if (var == NULL)
			return false;
		rte = rt_fetch(var->varno, query->rtable);
	}
	if (rte->rtekind != RTE_RELATION ||
		rte->relkind != RELKIND_PARTITIONED_TABLE || !rte->inh)
		return false;
	ht = strata_hypertable_get(rte->relid);
	return ht != NULL && !ht->has_function && ht->attno == var->varattno;
}

/* Is it a > or >= (swapped: < or <=) between time types, or of UUIDs? */
static bool
is_lower_comparison(Oid opno, bool swapped)
{
	Oid			function = get_opcode(opno);

	switch (function)
	{
		case F_TIMESTAMPTZ_GT:
		case F_TIMESTAMPTZ_GE:
		case F_TIMESTAMP_GT:
		case F_TIMESTAMP_GE:
		case F_DATE_GT:
		case F_DATE_GE:
		case F_TIMESTAMP_GT_TIMESTAMPTZ:
		case F_TIMESTAMP_GE_TIMESTAMPTZ:
		case F_DATE_GT_TIMESTAMPTZ:
		case F_DATE_GE_TIMESTAMPTZ:
		case F_DATE_GT_TIMESTAMP:
		case F_DATE_GE_TIMESTAMP:
		case F_TIMESTAMPTZ_GT_TIMESTAMP:
		case F_TIMESTAMPTZ_GE_TIMESTAMP:
		case F_TIMESTAMPTZ_GT_DATE:
		case F_TIMESTAMPTZ_GE_DATE:
		case F_TIMESTAMP_GT_DATE:
		case F_TIMESTAMP_GE_DATE:
		case F_UUID_GT:
		case F_UUID_GE:
			return !swapped;
		default:
			return swapped && OidIsValid(get_commutator(opno)) &&
				is_lower_comparison(get_commutator(opno), false);
	}
}

/* A value that is the same wherever the condition stands, and is not dear. */
static bool
may_come_twice(Node *node)
{
	return !contain_var_clause(node) && !contain_volatile_functions(node) &&
		!checkExprHasSubLink(node);
}

/*
 * What a comparison of rows says of their first columns: time <= x of (time,
 * id) < (x, y), which pages of a list ask for; or NULL.
 */
static Node *
implied_by_rows(RowCompareExpr * rows, Query *query)
{
	Node	   *left = linitial(rows->largs);
	Node	   *right = linitial(rows->rargs);
	Oid			collation = linitial_oid(rows->inputcollids);
	Oid			left_type;
	Oid			right_type;
	Oid			opno;
	int			strategy = strata_row_compare_strategy(rows);
	Node	   *qual;

	if (!(IsA(left, Var) && strata_is_time_column((Var *) left, query) &&
		  may_come_twice(right)) &&
		!(IsA(right, Var) && strata_is_time_column((Var *) right, query) &&
		  may_come_twice(left)))
		return NULL;
	op_input_types(linitial_oid(rows->opnos), &left_type, &right_type);
	opno = get_opfamily_member(linitial_oid(rows->opfamilies), left_type,
							   right_type,
							   strategy == BTLessStrategyNumber ||
							   strategy == BTLessEqualStrategyNumber ?
							   BTLessEqualStrategyNumber :
							   BTGreaterEqualStrategyNumber);
	if (!OidIsValid(opno))
		return NULL;
	qual = (Node *) make_opclause(opno, BOOLOID, false,
								  copyObject((Expr *) left),
								  copyObject((Expr *) right), InvalidOid,
								  collation);
	set_opfuncid((OpExpr *) qual);
	return qual;
}

/* What a condition implies, or NULL. */
static Node *
implied(Node *qual, Query *query)
{
	OpExpr	   *op = (OpExpr *) qual;
	Node	   *left;
	Node	   *right;
	bool		swapped;
	Oid			type;
	Datum		value;

	if (IsA(qual, RowCompareExpr))
		return implied_by_rows((RowCompareExpr *) qual, query);
	if (!IsA(qual, OpExpr) || list_length(op->args) != 2)
		return NULL;
	swapped = IsA(lsecond(op->args), Var);
	left = swapped ? lsecond(op->args) : linitial(op->args);
	right = swapped ? linitial(op->args) : lsecond(op->args);
	if (!IsA(left, Var) || !is_lower_comparison(op->opno, swapped))
		return NULL;
	type = ((Var *) left)->vartype;
	if ((type != TIMESTAMPTZOID && type != TIMESTAMPOID && type != DATEOID &&
		 type != UUIDOID) ||
		!strata_is_time_column((Var *) left, query) ||
		!strata_now_least_value(right, type, &value))
		return NULL;
	qual = (Node *)
		make_opclause(type == TIMESTAMPTZOID ? TIMESTAMPTZ_GE_OPERATOR :
					  type == TIMESTAMPOID ? TIMESTAMP_GE_OPERATOR :
					  type == UUIDOID ? UUID_GE_OPERATOR :
					  DATE_GE_OPERATOR,
					  BOOLOID, false, copyObject((Expr *) left),
					  (Expr *) makeConst(type, -1, InvalidOid,
										 get_typlen(type), value, false,
										 get_typbyval(type)),
					  InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) qual);
	return qual;
}

/* The same condition with all that its parts imply beside them. */
static Node *
extend(Node *quals, Query *query, ParamListInfo params)
{
	List	   *more = NIL;
	List	   *parts;
	ListCell   *lc;

	if (quals == NULL)
		return NULL;
	parts = is_andclause(quals) ? ((BoolExpr *) quals)->args :
		list_make1(quals);
	foreach(lc, parts)
	{
		Node	   *added;

		/* PostgreSQL's parser may nest them */
		if (is_andclause(lfirst(lc)))
			lfirst(lc) = extend(lfirst(lc), query, params);
		else if ((added = implied(lfirst(lc), query)) != NULL)
			more = lappend(more, added);
		else
			more = list_concat(more, strata_local_implied(lfirst(lc), query,
														  params));
	}
	if (more == NIL)
		return quals;
	return (Node *) makeBoolExpr(AND_EXPR, list_concat_copy(parts, more), -1);
}

/*
 * Add the conditions that follow from those of a join tree, at each of its
 * levels.
 */
static void
extend_join_tree(Node *node, Query *query, ParamListInfo params)
{
	ListCell   *lc;

	if (node == NULL || IsA(node, RangeTblRef))
		return;
	if (IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;

		foreach(lc, from->fromlist)
			extend_join_tree(lfirst(lc), query, params);
		from->quals = extend(from->quals, query, params);
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		extend_join_tree(join->larg, query, params);
		extend_join_tree(join->rarg, query, params);
		join->quals = extend(join->quals, query, params);
	}
}

static bool
extend_query(Query *query, void *context)
{
	extend_join_tree((Node *) query->jointree, query, context);
	return false;
}

/* See hypertable.h. */
void
strata_now_add_quals(Query *query, ParamListInfo params)
{
	if (strata_enable_time_pruning && query->commandType != CMD_UTILITY)
		(void) strata_query_visit_all(query, extend_query, params);
}
