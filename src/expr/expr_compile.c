/*-------------------------------------------------------------------------
 *
 * expr_compile.c
 *	  Expression tree to nodes, and whether they may stand for it.
 *
 * What has no node of its own is one that PostgreSQL evaluates, with all that
 * is below it.
 *
 * Over 600 lines: one function for each kind of node.
 *
 * src/expr/expr_compile.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_decimal_private.h"
#include "expr/expr_range_private.h"

#include "catalog/pg_type_d.h"
#include "common/int.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

struct ExprCompiler
{
	PlanState  *parent;
	int			nraising;
	bool		unguardable;	/* one of them cannot be guarded */
	StrataParts *parts;			/* of what is compiled now; or NULL */
	List	   *raising;		/* those nodes */
};

/* See expr_private.h. */
ExprNode *
strata_expr_make_node(ExprKind kind, Expr *expr, int nargs)
{
	ExprNode   *node = palloc0(sizeof(ExprNode));
	Oid			typid = getBaseType(exprType((Node *) expr));
	bool		byval;

	node->kind = kind;
	node->mcxt = CurrentMemoryContext;
	get_typlenbyval(typid, &node->typlen, &byval);
	node->class = !byval ? EXPR_DATUM :
		typid == FLOAT4OID || typid == FLOAT8OID ? EXPR_FLOAT : EXPR_INT;
	node->nargs = nargs;
	node->args = palloc0(sizeof(ExprNode *) * Max(nargs, 1));
	return node;
}

/*-------------------------------------------------------------------------
 * Nodes that PostgreSQL evaluates
 *-------------------------------------------------------------------------
 */

/* Numbers of the columns, or of the parts of columns, that it reads. */
static Bitmapset *
numbers_read(Node *expr, bool parts)
{
	Bitmapset  *numbers = NULL;
	ListCell   *lc;

	foreach(lc, pull_var_clause(expr, 0))
	{
		Var		   *var = lfirst_node(Var, lc);

		if ((var->varno == INNER_VAR) == parts)
			numbers = bms_add_member(numbers, var->varattno);
	}
	return numbers;
}

/* Which columns a node that PostgreSQL evaluates reads. */
static void
note_columns_read(ExprNode *node, Node *expr)
{
	Bitmapset  *attnos = numbers_read(expr, false);
	int			attno = -1;

	node->atts = palloc(sizeof(AttrNumber) * Max(bms_num_members(attnos), 1));
	node->columns = palloc(sizeof(StrataColumn *) *
						   Max(bms_num_members(attnos), 1));
	while ((attno = bms_next_member(attnos, attno)) >= 0)
		node->atts[node->natts++] = (AttrNumber) attno;
}

/* Results of an expression that reads one column; NULL: none are kept. */
static StrataMemo *
make_memo(const ExprNode *node, Node *expr)
{
	int16		typlen;
	bool		typbyval;

	if (node->natts + bms_num_members(numbers_read(expr, true)) != 1)
		return NULL;
	get_typlenbyval(exprType(linitial(pull_var_clause(expr, 0))), &typlen,
					&typbyval);
	return strata_memo_create(expr, typbyval, typlen);
}

/* Is there the result of a subquery in it that has not been executed yet? */
static bool
awaits_subquery(Node *node, void *params)
{
	Param	   *param = (Param *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return param->paramkind == PARAM_EXEC && params != NULL &&
			((ParamExecData *) params)[param->paramid].execPlan != NULL;
	return expression_tree_walker(node, awaits_subquery, params);
}

/* See expr_private.h: an expression that PostgreSQL evaluates, row by row. */
ExprNode *
strata_expr_compile_other(ExprCompiler *c, Expr *expr)
{
	ExprNode   *node = strata_expr_make_node(EXPR_OTHER, expr, 0);
	Bitmapset  *parts;

	Assert(!contain_volatile_functions((Node *) expr)); /* expr:E6 */
	node->state = ExecInitExpr(expr, c->parent);
	note_columns_read(node, (Node *) expr);
	parts = numbers_read((Node *) expr, true);
	if (!bms_is_empty(parts))
		node->parts = c->parts;
	if (node->natts == 0 && bms_membership(parts) == BMS_SINGLETON)
		node->only_part = (AttrNumber) bms_singleton_member(parts);
	node->unit = strata_expr_unit((Node *) expr);
	if (node->unit.unit > 0)
		node->times = strata_times_create((Node *) expr, &node->unit,
										  node->class == EXPR_DATUM,
										  node->typlen);
	if (node->natts == 1 && node->parts == NULL)
		node->length = strata_expr_length_kind(expr);
	node->memo = make_memo(node, (Node *) expr);
	node->raises = strata_expr_node_raises((Node *) expr, false);
	if (node->raises && node->natts == 1 && node->parts == NULL &&
		!strata_expr_node_raises((Node *) expr, true))
	{
		node->raises = false;
		node->usual_times = node->can_fail = true;
	}
	node->raises |= awaits_subquery((Node *) expr,
									c->parent->state->es_param_exec_vals);
	if (node->raises)
	{
		c->nraising++;
		c->raising = lappend(c->raising, node);
		c->unguardable |= !strata_expr_can_be_guarded((Node *) expr);
	}
	return node;
}

/* All of an expression, or all conditions, as PostgreSQL evaluates them. */
static ExprNode *
compile_whole(ExprCompiler *c, List *exprs)
{
	ExprNode   *node = strata_expr_make_node(EXPR_OTHER, linitial(exprs), 0);

	node->state = list_length(exprs) == 1 ?
		ExecInitExpr(linitial(exprs), c->parent) :
		ExecInitQual(exprs, c->parent);
	note_columns_read(node, (Node *) exprs);
	return node;
}

/*-------------------------------------------------------------------------
 * Nodes of ours; NULL: it cannot be one
 *-------------------------------------------------------------------------
 */

static ExprNode *
compile_column(ExprCompiler *c, Var *var)
{
	ExprNode   *node = strata_expr_make_node(EXPR_COLUMN, (Expr *) var, 0);

	node->attno = var->varattno;
	node->nulls_part.kind = STRATA_PART_NULLS;
	node->nulls_part.attno = var->varattno;
	if (var->varno == INNER_VAR)
		node->parts = c->parts;
	return node;
}

static ExprNode *
compile_const(Const *constant)
{
	ExprNode   *node = strata_expr_make_node(EXPR_CONST, (Expr *) constant, 0);

	node->value = constant->constvalue;
	node->isnull = constant->constisnull;
	return node;
}

static ExprNode *
compile_args(ExprCompiler *c, ExprNode *node, List *args)
{
	int			i = 0;
	ListCell   *lc;

	foreach(lc, args)
	{
		node->args[i] = strata_expr_compile_node(c, lfirst(lc));
		node->can_fail |= node->args[i++]->can_fail;
	}
	return node;
}

/*
 * By how many microseconds does the constant interval shift a timestamp,
 * whatever that is?  False: unknown, or it depends on the timestamp.
 */
static bool
interval_shift(Const *constant, bool back, bool zoned, int64 *shift)
{
	const Interval *span;

	if (!IsA(constant, Const) || constant->constisnull)
		return false;
	span = DatumGetIntervalP(constant->constvalue);
	if (span->month != 0 || (span->day != 0 && (zoned || span->time != 0)))
		return false;
	if (pg_mul_s64_overflow(span->day, USECS_PER_DAY, shift) ||
		pg_add_s64_overflow(*shift, span->time, shift) ||
		*shift == PG_INT64_MIN)
		return false;
	if (back)
		*shift = -*shift;
	return true;
}

/* A timestamp and a constant interval. */
static ExprNode *
compile_shift(ExprCompiler *c, Expr *expr, Oid funcid, List *args)
{
	bool		zoned = funcid == F_TIMESTAMPTZ_PL_INTERVAL ||
	funcid == F_TIMESTAMPTZ_MI_INTERVAL;
	bool		back = funcid == F_TIMESTAMP_MI_INTERVAL ||
	funcid == F_TIMESTAMPTZ_MI_INTERVAL;
	int64		shift;
	ExprNode   *node;

	if ((!zoned && !back && funcid != F_TIMESTAMP_PL_INTERVAL) ||
		!interval_shift(lsecond(args), back, zoned, &shift))
		return NULL;
	args = list_make2(linitial(args),
					  makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
								Int64GetDatum(shift), false,
								FLOAT8PASSBYVAL));
	node = compile_args(c, strata_expr_make_node(EXPR_CALL, expr, 2), args);
	node->function = strata_expr_shift_function();
	node->can_fail = true;
	return node;
}

/* LIKE, or NULL. */
static ExprNode *
compile_like(ExprCompiler *c, Expr *expr)
{
	Expr	   *arg;
	StrataLike *like = strata_like_compile((Node *) expr, &arg);
	ExprNode   *node;

	if (like == NULL)
		return NULL;
	node = compile_args(c, strata_expr_make_node(EXPR_LIKE, expr, 1),
						list_make1(arg));
	node->like = like;
	return node;
}

/* A function or operator that has a kernel, or NULL. */
static ExprNode *
compile_call(ExprCompiler *c, Expr *expr, Oid funcid, List *args)
{
	const ExprFunction *function = strata_expr_function_find(funcid);
	ExprNode   *node;

	if (list_length(args) < 1 || list_length(args) > 2)
		return NULL;
	if (function == NULL && list_length(args) == 2)
	{
		node = compile_shift(c, expr, funcid, args);
		return node != NULL ? node : compile_like(c, expr);
	}
	if (function == NULL)
		return NULL;
	node = compile_args(c, strata_expr_make_node(EXPR_CALL, expr,
												 list_length(args)), args);
	node->function = function;
	node->can_fail |= function->can_fail;
	return node;
}

/* IS DISTINCT FROM, NULLIF; their operators are equalities. */
static ExprNode *
compile_equality(ExprCompiler *c, ExprKind kind, OpExpr *op)
{
	const ExprFunction *function;
	ExprNode   *node;

	set_opfuncid(op);
	function = strata_expr_function_find(op->opfuncid);
	if (function == NULL || function->can_fail)
		return NULL;
	node = compile_args(c, strata_expr_make_node(kind, &op->xpr, 2), op->args);
	node->function = function;
	return node;
}

/* GREATEST, LEAST of numbers and times whose order is that of our values. */
static ExprNode *
compile_minmax(ExprCompiler *c, MinMaxExpr *expr)
{
	ExprNode   *node;

	switch (getBaseType(expr->minmaxtype))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			break;
		default:
			return NULL;
	}
	node = compile_args(c, strata_expr_make_node(EXPR_MINMAX, (Expr *) expr,
												 list_length(expr->args)),
						expr->args);
	node->greatest = expr->op == IS_GREATEST;
	return node;
}

static int
compare_int64(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/* Does the function compare integers, and how? */
static bool
is_int_equality(Oid funcid, bool equal)
{
	static const Oid eq[] = {F_INT2EQ, F_INT4EQ, F_INT8EQ, F_INT24EQ,
		F_INT42EQ, F_INT28EQ, F_INT82EQ, F_INT48EQ, F_INT84EQ, F_DATE_EQ,
		F_TIMESTAMP_EQ, F_TIMESTAMPTZ_EQ
	};
	static const Oid ne[] = {F_INT2NE, F_INT4NE, F_INT8NE, F_INT24NE,
		F_INT42NE, F_INT28NE, F_INT82NE, F_INT48NE, F_INT84NE, F_DATE_NE,
		F_TIMESTAMP_NE, F_TIMESTAMPTZ_NE
	};

	for (int i = 0; i < lengthof(eq); i++)
		if (funcid == (equal ? eq[i] : ne[i]))
			return true;
	return false;
}

/* x = ANY (constants), x <> ALL (constants). */
static ExprNode *
compile_in(ExprCompiler *c, ScalarArrayOpExpr *in)
{
	Const	   *array = lsecond(in->args);
	ExprNode   *node;
	Oid			typid;
	int16		typlen;
	bool		byval;
	char		align;
	Datum	   *values;
	bool	   *nulls;
	int			n;

	set_sa_opfuncid(in);
	if (!IsA(array, Const) || array->constisnull ||
		!is_int_equality(in->opfuncid, in->useOr))
		return NULL;
	typid = get_element_type(array->consttype);
	if (!OidIsValid(typid))
		return NULL;
	get_typlenbyvalalign(typid, &typlen, &byval, &align);
	deconstruct_array(DatumGetArrayTypeP(array->constvalue), typid, typlen,
					  byval, align, &values, &nulls, &n);
	for (int i = 0; i < n; i++)
		if (nulls[i])
			return NULL;
	if (n == 0)
		return NULL;
	node = compile_args(c, strata_expr_make_node(EXPR_IN, (Expr *) in, 1),
						list_make1(linitial(in->args)));
	node->negated = !in->useOr;
	node->nvalues = n;
	node->values = palloc(sizeof(int64) * n);
	for (int i = 0; i < n; i++)
		node->values[i] = strata_datum_integer(values[i], typlen);
	qsort(node->values, n, sizeof(int64), compare_int64);
	return node;
}

/* See expr_private.h. */
Expr *
strata_expr_when(CaseExpr * expr, CaseWhen * when)
{
	OpExpr	   *op = (OpExpr *) when->expr;
	OpExpr	   *copy;
	Expr	   *arg;

	if (expr->arg == NULL)
		return when->expr;
	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return NULL;
	arg = linitial(op->args);
	if (!IsA(expr->arg, Var) || !IsA(arg, CaseTestExpr) ||
		((CaseTestExpr *) arg)->typeId != exprType((Node *) expr->arg))
		return NULL;
	copy = makeNode(OpExpr);
	*copy = *op;
	copy->args = list_make2(expr->arg, lsecond(op->args));
	return &copy->xpr;
}

/*
 * CASE as conditions and results in turn, ELSE last; NULL where it cannot be
 * done.
 */
static ExprNode *
compile_case(ExprCompiler *c, CaseExpr * expr)
{
	List	   *args = NIL;
	ListCell   *lc;
	ExprNode   *node;

	foreach(lc, expr->args)
	{
		CaseWhen   *when = lfirst_node(CaseWhen, lc);
		Expr	   *condition = strata_expr_when(expr, when);

		if (condition == NULL)
			return NULL;
		args = lappend(args, condition);
		args = lappend(args, when->result);
	}
	args = lappend(args, expr->defresult != NULL ? expr->defresult :
				   (Expr *) makeNullConst(expr->casetype, -1,
										  expr->casecollid));
	node = compile_args(c, strata_expr_make_node(EXPR_CASE, (Expr *) expr,
												 list_length(args)), args);
	node->picks = node->nargs / 2 <= EXPR_MAX_PICKED;
	for (int k = 1; k < node->nargs; k += 2)
		node->picks &= node->args[k]->kind == EXPR_CONST;
	node->picks &= node->args[node->nargs - 1]->kind == EXPR_CONST;
	return node;
}

static ExprNode *
compile_bool(ExprCompiler *c, BoolExpr *expr)
{
	ExprKind	kind;
	ExprNode   *node;

	kind = expr->boolop == AND_EXPR ? EXPR_AND : expr->boolop == OR_EXPR ?
		EXPR_OR : EXPR_NOT;
	node = compile_args(c, strata_expr_make_node(kind, (Expr *) expr,
												 list_length(expr->args)), expr->args);
	node->plain = kind != EXPR_NOT;
	for (int k = 0; k < node->nargs; k++)
		node->plain &= strata_expr_is_plain(node->args[k]);
	return node;
}

/* The same bytes; a float's value is none for who takes them for an integer. */
static ExprNode *
compile_relabel(ExprCompiler *c, RelabelType *expr)
{
	Oid			from = getBaseType(exprType((Node *) expr->arg));
	Oid			to = getBaseType(expr->resulttype);
	ExprNode   *node;

	if (from != to && (from == FLOAT4OID || from == FLOAT8OID ||
					   to == FLOAT4OID || to == FLOAT8OID))
		return NULL;
	node = strata_expr_compile_node(c, expr->arg);
	Assert(node->typlen == get_typlen(to)); /* expr:E4 */
	return node;
}

static ExprNode *
compile_test(ExprCompiler *c, Expr *expr, ExprKind kind, int test, Expr *arg)
{
	ExprNode   *node = compile_args(c, strata_expr_make_node(kind, expr, 1),
									list_make1(arg));

	node->test = test;
	return node;
}

/*
 * A node for what has kernels, by the kind of expression; NULL for all else.
 */
static ExprNode *
compile_own(ExprCompiler *c, Expr *expr)
{
	switch (nodeTag(expr))
	{
		case T_Var:
			return compile_column(c, (Var *) expr);
		case T_Const:
			return compile_const((Const *) expr);
		case T_RelabelType:
			return compile_relabel(c, (RelabelType *) expr);
		case T_OpExpr:
			set_opfuncid((OpExpr *) expr);
			return compile_call(c, expr, ((OpExpr *) expr)->opfuncid,
								((OpExpr *) expr)->args);
		case T_DistinctExpr:
			return compile_equality(c, EXPR_DISTINCT, (OpExpr *) expr);
		case T_NullIfExpr:
			return compile_equality(c, EXPR_NULLIF, (OpExpr *) expr);
		case T_MinMaxExpr:
			return compile_minmax(c, (MinMaxExpr *) expr);
		case T_FuncExpr:
			return compile_call(c, expr, ((FuncExpr *) expr)->funcid,
								((FuncExpr *) expr)->args);
		case T_ScalarArrayOpExpr:
			return compile_in(c, (ScalarArrayOpExpr *) expr);
		case T_BoolExpr:
			return compile_bool(c, (BoolExpr *) expr);
		case T_CaseExpr:
			return compile_case(c, (CaseExpr *) expr);
		case T_CoalesceExpr:
			return compile_args(c,
								strata_expr_make_node(EXPR_COALESCE, expr,
													  list_length(((CoalesceExpr *) expr)
																  ->args)),
								((CoalesceExpr *) expr)->args);
		case T_NullTest:
			if (((NullTest *) expr)->argisrow)
				return NULL;
			return compile_test(c, expr, EXPR_NULL_TEST,
								((NullTest *) expr)->nulltesttype,
								((NullTest *) expr)->arg);
		case T_BooleanTest:
			return compile_test(c, expr, EXPR_BOOL_TEST,
								((BooleanTest *) expr)->booltesttype,
								((BooleanTest *) expr)->arg);
		default:
			return NULL;
	}
}

/* COALESCE of nothing but columns and constants: nodes have no more to do. */
static bool
is_plain_choice(Expr *expr)
{
	ListCell   *lc;

	if (!IsA(expr, CoalesceExpr))
		return false;
	foreach(lc, ((CoalesceExpr *) expr)->args)
	{
		if (!IsA(lfirst(lc), Var) && !IsA(lfirst(lc), Const))
			return false;
	}
	return true;
}

/*
 * One dictionary or one range of time is enough for an expression of which
 * that is all it reads: it is not cut into nodes then.
 */
static bool
is_mapped(Expr *expr)
{
	List	   *vars;
	Expr	   *arg;

	if (IsA(expr, Var) || IsA(expr, Const) || IsA(expr, RelabelType) ||
		IsA(expr, CaseExpr) || is_plain_choice(expr))
		return false;
	if (strata_expr_unit((Node *) expr).unit > 0)
		return true;
	/* the node does so itself */
	if (strata_like_compile((Node *) expr, &arg) != NULL && IsA(arg, Var))
		return false;
	vars = pull_var_clause((Node *) expr, 0);
	if (vars == NIL)
		return false;
	for (int i = 0; i < list_length(vars); i++)
	{
		Var		   *var = list_nth_node(Var, vars, i);

		if (var->varattno != linitial_node(Var, vars)->varattno ||
			var->varno != linitial_node(Var, vars)->varno ||
			get_typbyval(var->vartype) ||
			getBaseType(var->vartype) == INTERVALOID)
			return false;
	}
	return !IsA(expr, NullTest);
}

static ExprNode *
compile_values(ExprCompiler *c, Expr *expr)
{
	ExprNode   *node = strata_expr_compile_compare(c, expr);

	if (node == NULL)
		node = strata_expr_compile_converted(c, expr);
	if (node == NULL)
		node = strata_expr_compile_computed(c, expr);
	if (node == NULL && !is_mapped(expr))
		node = compile_own(c, expr);
	return node != NULL ? node : strata_expr_compile_other(c, expr);
}

/* May its arguments be compiled, each for itself, as well as it? */
static bool
is_cut_into_nodes(Expr *expr)
{
	return IsA(expr, Var) || IsA(expr, Const) || IsA(expr, RelabelType) ||
		IsA(expr, BoolExpr) || IsA(expr, CaseExpr) || IsA(expr, CoalesceExpr);
}

/*
 * See expr_private.h.  The expression, and, where parts are all that it reads
 * of columns, the same by those.  Which of the two is evaluated is seen for
 * each batch, so the errors of one of them count.
 */
ExprNode *
strata_expr_compile_node(ExprCompiler *c, Expr *expr)
{
	int			before = c->nraising;
	int			nraising;
	StrataParts *parts = NULL;
	Node	   *parted;
	ExprNode   *node;
	ExprNode   *whole;

	if (c->parts == NULL && !is_cut_into_nodes(expr))
		parts = strata_parts_extract((Node *) expr, &parted);
	whole = compile_values(c, expr);
	if (parts == NULL)
		return whole;
	nraising = c->nraising;
	c->nraising = before;
	c->parts = parts;
	if (whole->kind == EXPR_OTHER && whole->natts == 1 && parts->n == 1 &&
		parts->parts[0].kind == STRATA_PART_START)
		whole->start = &parts->parts[0];
	node = strata_expr_make_node(EXPR_EITHER, expr, 2);
	node->args[0] = compile_values(c, (Expr *) parted);
	node->args[1] = whole;
	node->parts = parts;
	node->can_fail = node->args[0]->can_fail || whole->can_fail;
	c->nraising = Max(c->nraising, nraising);
	c->parts = NULL;
	return node;
}

static bool
has_subquery(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan) ||
		IsA(node, Aggref) || IsA(node, WindowFunc))
		return true;
	return IsA(node, Var) ? ((Var *) node)->varattno <= 0 :
		expression_tree_walker(node, has_subquery, context);
}

/*
 * Errors of several nodes: which of them is PostgreSQL's is found out by
 * having it evaluate everything, once one is raised.  False: they cannot be
 * guarded.
 */
static bool
guard(ExprCompiler *c, StrataExpr *expr, List *exprs)
{
	ListCell   *lc;

	if (c->unguardable)
		return false;
	foreach(lc, c->raising)
		((ExprNode *) lfirst(lc))->guard = expr;
	expr->whole = compile_whole(c, exprs);
	return true;
}

/*
 * A numeric expression of one column is also one that PostgreSQL evaluates,
 * for batches that keep a dictionary of the column.  That is evaluated in its
 * place then, so their errors are not mixed and it is not guarded.
 */
static void
add_mapped(ExprCompiler *c, ExprNode *root, Expr *expr)
{
	List	   *raising = list_copy(c->raising);

	if (root->class == EXPR_DECIMAL && is_mapped(expr))
		root->mapped = strata_expr_compile_other(c, expr);
	c->raising = raising;
}

/*
 * Nodes of expressions, by compile.  With one node that may raise an error,
 * and none that may fail, the first row with an error is PostgreSQL's
 * (expr:E3).
 */
static StrataExpr *
compile_roots(List *exprs, PlanState *parent,
			  ExprNode *(*compile) (ExprCompiler *c, Expr *expr))
{
	StrataExpr *result = palloc0(sizeof(StrataExpr));
	ExprCompiler c = {.parent = parent};
	ListCell   *lc;

	if (!strata_enable_vector_expressions ||
		has_subquery((Node *) exprs, NULL) ||
		contain_volatile_functions((Node *) exprs))
		return NULL;
	result->roots = palloc(sizeof(ExprNode *) * Max(list_length(exprs), 1));
	foreach(lc, exprs)
	{
		ExprNode   *root = compile(&c, lfirst(lc));

		if (compile == strata_expr_compile_node && list_length(exprs) == 1)
			add_mapped(&c, root, lfirst(lc));
		result->can_fail |= root->can_fail;
		result->roots[result->nroots++] = root;
	}
	result->nraising = c.nraising;
	if ((c.nraising > 1 || (c.nraising == 1 && result->can_fail)) &&
		!guard(&c, result, exprs))
		return NULL;
	Assert(result->nraising == 0 || result->whole != NULL ||
		   (result->nraising == 1 && !result->can_fail));	/* expr:E3 */
	return result;
}

/* See expr.h. */
StrataExpr *
strata_expr_compile(List *exprs, PlanState *parent)
{
	return compile_roots(exprs, parent, strata_expr_compile_node);
}

/* See expr.h. */
StrataExpr *
strata_expr_compile_decimals(Expr *expr, PlanState *parent)
{
	return !strata_expr_is_decimal(expr) ? NULL :
		compile_roots(list_make1(expr), parent, strata_expr_compile_decimal);
}

/* See expr.h. */
bool
strata_expr_may_raise(const StrataExpr *expr)
{
	return expr->nraising > 0;
}

/* See expr.h. */
bool
strata_expr_may_fail(const StrataExpr *expr)
{
	return expr->nraising > 0 || expr->can_fail;
}
