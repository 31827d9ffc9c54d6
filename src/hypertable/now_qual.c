/*-------------------------------------------------------------------------
 *
 * now_qual.c
 *	  time > now() - interval prunes chunks while a query is planned.
 *
 * PostgreSQL does not evaluate now() at plan time, so it plans a scan of every
 * chunk and drops most of them when the query starts.  Beside such a condition
 * we put what it implies now and later: time >= the value it has at present.
 * Since now() only grows, that stays true in a cached plan.  What could make
 * the right side smaller again (a clock set back, another time zone, months of
 * different length) is allowed for by some slack; the chunks that it costs are
 * dropped at the start of the query as before.
 *
 * src/hypertable/now_qual.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* >= (timestamptz, timestamptz) */
#define TIMESTAMPTZ_GE_OPERATOR 1325

#define SLACK_CLOCK USECS_PER_HOUR
#define SLACK_DAYS USECS_PER_DAY
#define SLACK_MONTHS (7 * USECS_PER_DAY)

/* now(), and nothing else. */
static bool
is_now(Node *node)
{
	if (IsA(node, FuncExpr))
	{
		Oid			function = ((FuncExpr *) node)->funcid;

		/* transaction_timestamp() is the same function under another name */
		return ((FuncExpr *) node)->args == NIL && get_func_rettype(function) == TIMESTAMPTZOID &&
			(function == F_NOW || function == F_TRANSACTION_TIMESTAMP);
	}
	return IsA(node, SQLValueFunction) && ((SQLValueFunction *) node)->op == SVFOP_CURRENT_TIMESTAMP;
}

/*
 * The least value that an expression of now() can have from here on; false
 * when it is something else.
 */
static bool
least_value(Node *node, Timestamp *value)
{
	OpExpr	   *op = (OpExpr *) node;
	Const	   *length;
	Interval   *interval;
	PGFunction	apply;
	Oid			function;

	*value = GetCurrentTransactionStartTimestamp() - SLACK_CLOCK;
	if (is_now(node))
		return true;
	if (!IsA(node, OpExpr) || list_length(op->args) != 2 || !is_now(linitial(op->args)) ||
		!IsA(lsecond(op->args), Const))
		return false;
	/* opfuncid is not set in all queries that come here */
	function = get_opcode(op->opno);
	if (function != F_TIMESTAMPTZ_MI_INTERVAL && function != F_TIMESTAMPTZ_PL_INTERVAL)
		return false;
	length = lsecond_node(Const, op->args);
	if (length->constisnull)
		return false;
	interval = DatumGetIntervalP(length->constvalue);
	/* years from now, sums overflow: leave these to the executor */
	if (abs(interval->month) > 12 * 1000 || abs(interval->day) > 366 * 1000 ||
		interval->time > 366 * 1000 * USECS_PER_DAY || interval->time < -366 * 1000 * USECS_PER_DAY)
		return false;
	apply = function == F_TIMESTAMPTZ_MI_INTERVAL ? timestamptz_mi_interval : timestamptz_pl_interval;
	*value = DatumGetTimestampTz(DirectFunctionCall2(apply, TimestampTzGetDatum(*value), IntervalPGetDatum(interval)));
	if (interval->day != 0)
		*value -= SLACK_DAYS;
	if (interval->month != 0)
		*value -= SLACK_MONTHS;
	return true;
}

/* Is the Var the time column of a hypertable of this query level? */
static bool
is_time_column(Var *var, Query *query)
{
	RangeTblEntry *rte;
	StrataHypertable *ht;

	if (var->varlevelsup != 0 || var->vartype != TIMESTAMPTZOID)
		return false;
	rte = rt_fetch(var->varno, query->rtable);
	if (rte->rtekind != RTE_RELATION || rte->relkind != RELKIND_PARTITIONED_TABLE || !rte->inh)
		return false;
	ht = strata_hypertable_get(rte->relid);
	return ht != NULL && !ht->has_function && ht->attno == var->varattno;
}

/* What a condition implies, or NULL. */
static Node *
implied(Node *qual, Query *query)
{
	OpExpr	   *op = (OpExpr *) qual;
	Node	   *left;
	Node	   *right;
	Oid			function;
	Timestamp	value;
	OpExpr	   *result;

	if (!IsA(qual, OpExpr) || list_length(op->args) != 2)
		return NULL;
	left = linitial(op->args);
	right = lsecond(op->args);
	function = get_opcode(op->opno);
	if (IsA(right, Var))
	{
		left = lsecond(op->args);
		right = linitial(op->args);
		function = function == F_TIMESTAMPTZ_LT ? F_TIMESTAMPTZ_GT :
			function == F_TIMESTAMPTZ_LE ? F_TIMESTAMPTZ_GE : InvalidOid;
	}
	if ((function != F_TIMESTAMPTZ_GT && function != F_TIMESTAMPTZ_GE) || !IsA(left, Var) ||
		!least_value(right, &value) || !is_time_column((Var *) left, query))
		return NULL;
	result = (OpExpr *) make_opclause(TIMESTAMPTZ_GE_OPERATOR, BOOLOID, false, copyObject((Expr *) left),
									  (Expr *) makeConst(TIMESTAMPTZOID, -1, InvalidOid, sizeof(TimestampTz),
														 TimestampTzGetDatum(value), false, FLOAT8PASSBYVAL),
									  InvalidOid, InvalidOid);
	result->opfuncid = F_TIMESTAMPTZ_GE;
	return (Node *) result;
}

/* The same condition with all that its parts imply beside them. */
static Node *
extend(Node *quals, Query *query)
{
	List	   *more = NIL;
	List	   *parts;
	ListCell   *lc;

	if (quals == NULL)
		return NULL;
	parts = is_andclause(quals) ? ((BoolExpr *) quals)->args : list_make1(quals);
	foreach(lc, parts)
	{
		Node	   *added;

		/* PostgreSQL's parser may nest them */
		if (is_andclause(lfirst(lc)))
			lfirst(lc) = extend(lfirst(lc), query);
		else if ((added = implied(lfirst(lc), query)) != NULL)
			more = lappend(more, added);
	}
	if (more == NIL)
		return quals;
	return (Node *) makeBoolExpr(AND_EXPR, list_concat_copy(parts, more), -1);
}

static void
extend_join_tree(Node *node, Query *query)
{
	ListCell   *lc;

	if (node == NULL || IsA(node, RangeTblRef))
		return;
	if (IsA(node, FromExpr))
	{
		FromExpr   *from = (FromExpr *) node;

		foreach(lc, from->fromlist)
			extend_join_tree(lfirst(lc), query);
		from->quals = extend(from->quals, query);
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		extend_join_tree(join->larg, query);
		extend_join_tree(join->rarg, query);
		join->quals = extend(join->quals, query);
	}
}

static bool
extend_queries(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
	{
		Query	   *query = (Query *) node;

		extend_join_tree((Node *) query->jointree, query);
		return query_tree_walker(query, extend_queries, context, 0);
	}
	return expression_tree_walker(node, extend_queries, context);
}

/* See hypertable.h. */
void
strata_now_add_quals(Query *query)
{
	if (strata_enable_now_pruning && query->commandType != CMD_UTILITY)
		(void) extend_queries((Node *) query, NULL);
}
