/*-------------------------------------------------------------------------
 *
 * bucket_push.c
 *	  Conditions on buckets that a subquery makes become ones of its rows.
 *
 * PostgreSQL does so too, but while it plans: then chunks have been looked up,
 * and nobody takes time_bucket(time) >= c apart any more.  Here it is done
 * before, for views and subqueries that group by time_bucket(), through others
 * and UNION ALL above them.  A condition that has gone down is not asked again
 * above.
 *
 * src/time/bucket_push.c
 *-------------------------------------------------------------------------
 */
#include "time/time_private.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

/* The columns of one subquery that a condition is about. */
typedef struct PushedColumns
{
	Index		varno;
	bool		other;			/* there is something else in it */
} PushedColumns;

/* Fills in PushedColumns; true: it cannot go into a subquery. */
static bool
collect_columns(Node *node, void *context)
{
	PushedColumns *columns = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varlevelsup != 0 || var->varattno <= 0 ||
			(columns->varno != 0 && columns->varno != (Index) var->varno) ||
			!strata_bucket_type(var->vartype))
			columns->other = true;
		columns->varno = var->varno;
		return columns->other;
	}
	if (IsA(node, SubLink) || IsA(node, Aggref) || IsA(node, WindowFunc) ||
		IsA(node, GroupingFunc) || IsA(node, PlaceHolderVar) ||
		IsA(node, CurrentOfExpr))
	{
		columns->other = true;
		return true;
	}
	return expression_tree_walker(node, collect_columns, context);
}

/* What the query selects as this column, without a detour of 18's. */
static TargetEntry *
column_entry(const Query *query, AttrNumber attno, Expr **expr)
{
	TargetEntry *entry = get_tle_by_resno(query->targetList, attno);

	if (entry == NULL || entry->resjunk)
		return NULL;
	*expr = entry->expr;
	if (IsA(*expr, Var) && ((Var *) *expr)->varlevelsup == 0)
	{
		const Var  *var = (const Var *) *expr;

		if (strata_rte_is_group(rt_fetch(var->varno, query->rtable)))
			*expr = list_nth(strata_rte_group_exprs(rt_fetch(var->varno,
															 query->rtable)),
							 var->varattno - 1);
	}
	return entry;
}

static Query *
leaf_query(const Query *query, Node *leaf)
{
	RangeTblEntry *rte = rt_fetch(castNode(RangeTblRef, leaf)->rtindex,
								  query->rtable);

	return rte->rtekind == RTE_SUBQUERY ? rte->subquery : NULL;
}

static bool can_take(const Query *query, AttrNumber attno, Oid type,
					 bool *worthwhile);

/* The same of all that UNION ALL puts together. */
static bool
all_can_take(const Query *query, Node *node, AttrNumber attno, Oid type,
			 bool *worthwhile)
{
	if (IsA(node, SetOperationStmt))
	{
		SetOperationStmt *set = (SetOperationStmt *) node;

		return set->op == SETOP_UNION && set->all &&
			all_can_take(query, set->larg, attno, type, worthwhile) &&
			all_can_take(query, set->rarg, attno, type, worthwhile);
	}
	return leaf_query(query, node) != NULL &&
		can_take(leaf_query(query, node), attno, type, worthwhile);
}

/*
 * May a condition on this column, of that type, become one of the query's
 * rows?  Sets *worthwhile if it comes to a bucket there, or further below.
 */
static bool
can_take(const Query *query, AttrNumber attno, Oid type, bool *worthwhile)
{
	TargetEntry *entry;
	Expr	   *expr;

	check_stack_depth();
	if (query->commandType != CMD_SELECT || query->limitCount != NULL ||
		query->limitOffset != NULL || query->hasWindowFuncs ||
		query->hasTargetSRFs || query->distinctClause != NIL ||
		query->groupingSets != NIL || query->rowMarks != NIL)
		return false;
	if (query->setOperations != NULL)
		return all_can_take(query, query->setOperations, attno, type,
							worthwhile);
	entry = column_entry(query, attno, &expr);
	if (entry == NULL || exprType((Node *) expr) != type ||
		contain_volatile_functions((Node *) expr) ||
		checkExprHasSubLink((Node *) expr))
		return false;
	if (query->groupClause != NIL || query->hasAggs ||
		query->havingQual != NULL)
	{
		if (get_sortgroupref_clause_noerr(entry->ressortgroupref,
										  query->groupClause) == NULL)
			return false;
		*worthwhile |= IsA(expr, FuncExpr) &&
			(strata_time_is_bucket(((FuncExpr *) expr)->funcid, false) ||
			 strata_time_is_bucket(((FuncExpr *) expr)->funcid, true));
	}
	if (IsA(expr, Var) && ((Var *) expr)->varlevelsup == 0)
	{
		RangeTblEntry *rte = rt_fetch(((Var *) expr)->varno, query->rtable);

		/* asked again when it has come here; whatever the answer is */
		if (rte->rtekind == RTE_SUBQUERY && !rte->security_barrier)
			(void) can_take(rte->subquery, ((Var *) expr)->varattno, type,
							worthwhile);
	}
	return true;
}

/* The condition, about what the query makes these columns of. */
static Node *
inside_mutator(Node *node, void *context)
{
	const Query *query = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var))
	{
		Expr	   *expr;

		if (column_entry(query, ((Var *) node)->varattno, &expr) == NULL)
			elog(ERROR, "column %d not found in a subquery",
				 ((Var *) node)->varattno);
		return copyObject((Node *) expr);
	}
	return expression_tree_mutator(node, inside_mutator, context);
}

static void
put_into(Query *query, Node *qual)
{
	Assert(query->limitCount == NULL && !query->hasWindowFuncs);	/* time:U6 */
	query->jointree->quals = make_and_qual(query->jointree->quals,
										   inside_mutator(qual, query));
}

static void
put_into_all(Query *query, Node *node, Node *qual)
{
	if (IsA(node, SetOperationStmt))
	{
		put_into_all(query, ((SetOperationStmt *) node)->larg, qual);
		put_into_all(query, ((SetOperationStmt *) node)->rarg, qual);
		return;
	}
	query = leaf_query(query, node);
	if (query->setOperations != NULL)
		put_into_all(query, query->setOperations, qual);
	else
		put_into(query, qual);
}

/* Is it in FROM such that its rows are never filled up with NULLs? */
static bool
is_inner(Node *node, Index varno)
{
	ListCell   *lc;

	if (IsA(node, RangeTblRef))
		return (Index) ((RangeTblRef *) node)->rtindex == varno;
	if (IsA(node, FromExpr))
	{
		foreach(lc, ((FromExpr *) node)->fromlist)
		{
			if (is_inner(lfirst(lc), varno))
				return true;
		}
	}
	else if (IsA(node, JoinExpr))
	{
		JoinExpr   *join = (JoinExpr *) node;

		if (join->jointype == JOIN_INNER || join->jointype == JOIN_LEFT)
		{
			if (is_inner(join->larg, varno))
				return true;
		}
		if (join->jointype == JOIN_INNER || join->jointype == JOIN_RIGHT)
			return is_inner(join->rarg, varno);
	}
	return false;
}

static bool
columns_can_take(const Query *query, Node *qual, bool *worthwhile)
{
	List	   *vars = pull_var_clause(qual, 0);
	ListCell   *lc;

	foreach(lc, vars)
	{
		Var		   *var = lfirst_node(Var, lc);

		if (!can_take(query, var->varattno, var->vartype, worthwhile))
			return false;
	}
	return vars != NIL;
}

/* Have the condition go down; false: it stays where it is. */
static bool
push(Query *query, Node *qual)
{
	PushedColumns columns = {0};
	RangeTblEntry *rte;
	bool		worthwhile = false;

	if (collect_columns(qual, &columns) || columns.other || columns.varno == 0)
		return false;
	rte = rt_fetch(columns.varno, query->rtable);
	if (rte->rtekind != RTE_SUBQUERY || rte->security_barrier ||
		contain_volatile_functions(qual) ||
		!is_inner((Node *) query->jointree, columns.varno) ||
		!columns_can_take(rte->subquery, qual, &worthwhile) || !worthwhile)
		return false;
	if (rte->subquery->setOperations != NULL)
		put_into_all(rte->subquery, rte->subquery->setOperations, qual);
	else
		put_into(rte->subquery, qual);
	return true;
}

/* The conditions without those that have gone down. */
static Node *
push_each(Query *query, Node *quals)
{
	List	   *rest = NIL;
	ListCell   *lc;

	if (quals == NULL)
		return NULL;
	if (!is_andclause(quals))
		return push(query, quals) ? NULL : quals;
	foreach(lc, ((BoolExpr *) quals)->args)
	{
		Node	   *qual = push_each(query, lfirst(lc));

		if (qual != NULL)
			rest = lappend(rest, qual);
	}
	if (list_length(rest) < 2)
		return rest == NIL ? NULL : linitial(rest);
	return (Node *) makeBoolExpr(AND_EXPR, rest, -1);
}

static bool
push_query(Query *query, void *context)
{
	ListCell   *lc;

	if (query->jointree == NULL || query->jointree->quals == NULL)
		return false;
	foreach(lc, query->rtable)
	{
		if (lfirst_node(RangeTblEntry, lc)->rtekind == RTE_SUBQUERY)
		{
			query->jointree->quals = push_each(query, query->jointree->quals);
			break;
		}
	}
	return false;
}

/* See time.h. */
void
strata_time_push_quals(Query *query)
{
	if (strata_enable_time_pruning && query->commandType != CMD_UTILITY &&
		query->commandType != CMD_MERGE)
		(void) strata_query_visit_all(query, push_query, NULL);
}
