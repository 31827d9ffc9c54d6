/*-------------------------------------------------------------------------
 *
 * expr_decimal_compile.c
 *	  Numeric expressions to nodes that compute with integers of one scale.
 *
 * An expression has such nodes all the way down to its columns, constants,
 * parameters and integers, or none.
 *
 * src/expr/expr_decimal_compile.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_decimal_private.h"

#include "catalog/pg_type_d.h"
#include "nodes/nodeFuncs.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

typedef struct DecimalFunction
{
	Oid			funcid;
	ExprDecimalOp op;
	int			nargs;			/* of them the second one of ROUND, TRUNC and
								 * CAST is a constant */
} DecimalFunction;

static const DecimalFunction decimal_functions[] = {
	{F_NUMERIC_ADD, DECIMAL_ADD, 2},
	{F_NUMERIC_SUB, DECIMAL_SUB, 2},
	{F_NUMERIC_MUL, DECIMAL_MUL, 2},
	{F_NUMERIC_DIV, DECIMAL_DIVIDE, 2},
	{F_NUMERIC_MOD, DECIMAL_MOD, 2},
	{F_MOD_NUMERIC_NUMERIC, DECIMAL_MOD, 2},
	{F_NUMERIC_UMINUS, DECIMAL_NEG, 1},
	{F_NUMERIC_UPLUS, DECIMAL_SAME, 1},
	{F_NUMERIC_ABS, DECIMAL_ABS, 1},
	{F_ABS_NUMERIC, DECIMAL_ABS, 1},
	{F_ROUND_NUMERIC_INT4, DECIMAL_ROUND, 2},
	{F_TRUNC_NUMERIC_INT4, DECIMAL_TRUNC, 2},
	{F_ROUND_NUMERIC, DECIMAL_ROUND, 1},
	{F_TRUNC_NUMERIC, DECIMAL_TRUNC, 1},
	{F_FLOOR_NUMERIC, DECIMAL_FLOOR, 1},
	{F_CEIL_NUMERIC, DECIMAL_CEIL, 1},
	{F_CEILING_NUMERIC, DECIMAL_CEIL, 1},
	{F_SIGN_NUMERIC, DECIMAL_SIGN, 1},
	{F_NUMERIC_NUMERIC_INT4, DECIMAL_CAST, 2},
	{F_NUMERIC_FLOAT4, DECIMAL_FLOAT, 1},
	{F_NUMERIC_FLOAT8, DECIMAL_FLOAT, 1},
	{F_NUMERIC_INT2, DECIMAL_INT, 1},
	{F_NUMERIC_INT4, DECIMAL_INT, 1},
	{F_NUMERIC_INT8, DECIMAL_INT, 1}
};

static const Oid decimal_comparisons[][2] = {
	{F_NUMERIC_EQ, F_INT8EQ},
	{F_NUMERIC_NE, F_INT8NE},
	{F_NUMERIC_LT, F_INT8LT},
	{F_NUMERIC_LE, F_INT8LE},
	{F_NUMERIC_GT, F_INT8GT},
	{F_NUMERIC_GE, F_INT8GE}
};

static const DecimalFunction *
find_operation(Oid funcid)
{
	for (int i = 0; i < lengthof(decimal_functions); i++)
		if (decimal_functions[i].funcid == funcid)
			return &decimal_functions[i];
	return NULL;
}

static const ExprFunction *
find_comparison(Oid funcid)
{
	for (int i = 0; i < lengthof(decimal_comparisons); i++)
		if (decimal_comparisons[i][0] == funcid)
			return strata_expr_function_find(decimal_comparisons[i][1]);
	return NULL;
}

/* Does it make another number of a numeric? */
static bool
is_conversion(Oid funcid)
{
	return funcid == F_FLOAT8_NUMERIC || funcid == F_INT8_NUMERIC ||
		funcid == F_INT4_NUMERIC || funcid == F_INT2_NUMERIC;
}

/* See expr_decimal_private.h. */
bool
strata_expr_is_decimal_function(Oid funcid)
{
	return find_operation(funcid) != NULL ||
		find_comparison(funcid) != NULL || is_conversion(funcid);
}

/* A function or operator of ours, and its arguments; NULL: another one. */
static const DecimalFunction *
function_called(Expr *expr, List **args)
{
	const DecimalFunction *function;

	if (IsA(expr, OpExpr))
	{
		set_opfuncid((OpExpr *) expr);
		*args = ((OpExpr *) expr)->args;
		function = find_operation(((OpExpr *) expr)->opfuncid);
	}
	else if (IsA(expr, FuncExpr))
	{
		*args = ((FuncExpr *) expr)->args;
		function = find_operation(((FuncExpr *) expr)->funcid);
	}
	else
		return NULL;
	return function != NULL && function->nargs == list_length(*args) ?
		function : NULL;
}

static bool takes_list(List *exprs, bool *computes);

/* No more decimals are asked for by round() and its like, or a cast. */
#define PLACES_MAX 18

/*
 * The decimals, and the precision of a cast, that the arguments name; false:
 * they are no constants, or others.
 */
static bool
places_named(ExprDecimalOp op, List *args, int *places, int *precision)
{
	Const	   *constant = list_length(args) == 2 ? lsecond(args) : NULL;
	int32		value;

	*places = 0;
	*precision = 0;
	if (constant == NULL)
		return true;
	if (!IsA(constant, Const) || constant->constisnull)
		return false;
	value = DatumGetInt32(constant->constvalue);
	*places = value;
	if (op == DECIMAL_CAST)
	{
		value -= VARHDRSZ;
		*precision = value >> 16 & 0xffff;
		*places = value & 0xffff;
		if (value < 0 || *places > *precision)
			return false;
	}
	return *places >= 0 && *places <= PLACES_MAX;
}

/* A constant that is not null, and an integer; false: another. */
static bool
decimal_constant(Expr *expr, StrataDecimal *constant)
{
	while (IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	return IsA(expr, Const) && !((Const *) expr)->constisnull &&
		((Const *) expr)->consttype == NUMERICOID &&
		strata_decimal_take(((Const *) expr)->constvalue, constant);
}

/*
 * The two sides of a division, which may be multiplied by a constant, in
 * either order: *times, of integer 0 if it is not.  NIL: it is none.
 */
static List *
division_of(Expr *expr, StrataDecimal *times)
{
	const DecimalFunction *function;
	List	   *args;
	List	   *others;

	memset(times, 0, sizeof(*times));
	function = function_called(expr, &args);
	if (function == NULL)
		return NIL;
	if (function->op == DECIMAL_DIVIDE)
		return args;
	if (function->op != DECIMAL_MUL)
		return NIL;
	if (decimal_constant(linitial(args), times))
		expr = lsecond(args);
	else if (decimal_constant(lsecond(args), times))
		expr = linitial(args);
	else
		return NIL;
	function = function_called(expr, &others);
	return times->integer != 0 && function != NULL &&
		function->op == DECIMAL_DIVIDE ? others : NIL;
}

/* Is it a division by a constant that is a multiplication? */
static bool
takes_division(List *args, bool *computes)
{
	StrataDecimal by;
	unsigned	decimals;
	int64		times;

	return decimal_constant(lsecond(args), &by) &&
		strata_decimals_divides(&by, &decimals, &times) &&
		strata_expr_takes_decimals(linitial(args), computes);
}

/* What is rounded or cast: a division, or something else. */
static bool
takes_rounded(Expr *arg, bool *computes)
{
	StrataDecimal times;
	List	   *args = division_of(arg, &times);

	return args != NIL ? takes_list(args, computes) :
		strata_expr_takes_decimals(arg, computes);
}

/* Are its arguments ones that a function of ours takes? */
static bool
takes_arguments(const DecimalFunction *function, List *args, bool *computes)
{
	int			places;
	int			precision;

	switch (function->op)
	{
		case DECIMAL_INT:
		case DECIMAL_FLOAT:
			return true;
		case DECIMAL_ROUND:
		case DECIMAL_TRUNC:
		case DECIMAL_CAST:
			return places_named(function->op, args, &places, &precision) &&
				takes_rounded(linitial(args), computes);
		case DECIMAL_FLOOR:
		case DECIMAL_CEIL:
			return takes_rounded(linitial(args), computes);
		case DECIMAL_DIVIDE:
			return takes_division(args, computes);
		default:
			return takes_list(args, computes);
	}
}

static bool
takes_list(List *exprs, bool *computes)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (!strata_expr_takes_decimals(lfirst(lc), computes))
			return false;
	}
	return true;
}

static bool
takes_case(CaseExpr * expr, bool *computes)
{
	ListCell   *lc;

	foreach(lc, expr->args)
	{
		CaseWhen   *when = lfirst_node(CaseWhen, lc);

		if (strata_expr_when(expr, when) == NULL ||
			!strata_expr_takes_decimals(when->result, computes))
			return false;
	}
	return expr->defresult == NULL ||
		strata_expr_takes_decimals(expr->defresult, computes);
}

static bool
takes_constant(const Const *constant)
{
	StrataDecimal decimal;

	return constant->constisnull ||
		strata_decimal_take(constant->constvalue, &decimal);
}

/* See expr_decimal_private.h. */
bool
strata_expr_takes_decimals(Expr *expr, bool *computes)
{
	const DecimalFunction *function;
	List	   *args;

	if (getBaseType(exprType((Node *) expr)) != NUMERICOID)
		return false;
	switch (nodeTag(expr))
	{
		case T_Var:
			return ((Var *) expr)->varno != INNER_VAR;
		case T_Const:
			return takes_constant((Const *) expr);
		case T_Param:
			return true;
		case T_RelabelType:
			return strata_expr_takes_decimals(((RelabelType *) expr)->arg,
											  computes);
		case T_OpExpr:
		case T_FuncExpr:
			function = function_called(expr, &args);
			*computes = true;
			return function != NULL &&
				takes_arguments(function, args, computes);
		case T_CaseExpr:
			return takes_case((CaseExpr *) expr, computes);
		case T_CoalesceExpr:
			return takes_list(((CoalesceExpr *) expr)->args, computes);
		case T_MinMaxExpr:
			return takes_list(((MinMaxExpr *) expr)->args, computes);
		case T_NullIfExpr:
			set_opfuncid((OpExpr *) expr);
			return ((OpExpr *) expr)->opfuncid == F_NUMERIC_EQ &&
				takes_list(((OpExpr *) expr)->args, computes);
		default:
			return false;
	}
}

/* See expr_decimal_private.h. */
bool
strata_expr_is_decimal(Expr *expr)
{
	bool		computes = false;

	return !IsA(expr, Var) && !IsA(expr, Const) &&
		strata_expr_takes_decimals(expr, &computes);
}

/*-------------------------------------------------------------------------
 * Nodes
 *-------------------------------------------------------------------------
 */

static ExprNode *
make_decimal_node(ExprKind kind, Expr *expr, int nargs)
{
	ExprNode   *node = strata_expr_make_node(kind, expr, nargs);

	node->class = EXPR_DECIMAL;
	node->can_fail = true;
	return node;
}

static ExprNode *
compile_decimal_const(Const *constant)
{
	ExprNode   *node = make_decimal_node(EXPR_CONST, (Expr *) constant, 0);

	node->can_fail = false;
	node->isnull = constant->constisnull;
	node->decimal = palloc0(sizeof(StrataDecimal));
	if (!node->isnull)
		(void) strata_decimal_take(constant->constvalue, node->decimal);
	return node;
}

/* What a node rounds or casts: a division, which it does itself, or another. */
static void
compile_rounded(ExprCompiler *c, ExprNode *node, Expr *arg)
{
	StrataDecimal times;
	List	   *args = division_of(arg, &times);
	ExprNode   *child;

	if (args != NIL)
	{
		node->nargs = 2;
		node->args = palloc(sizeof(ExprNode *) * 2);
		node->args[0] = strata_expr_compile_decimal(c, linitial(args));
		node->args[1] = strata_expr_compile_decimal(c, lsecond(args));
		if (times.integer == 0)
			return;
		node->decimal = palloc(sizeof(StrataDecimal));
		*node->decimal = times;
		return;
	}
	node->nargs = 1;
	child = node->args[0] = strata_expr_compile_decimal(c, arg);
	/* a float is rounded at once */
	if ((node->op == DECIMAL_ROUND || node->op == DECIMAL_CAST) &&
		child->kind == EXPR_CALL && child->op == DECIMAL_FLOAT)
		child->places = node->places;
}

/* A function or operator; what it says of decimals is in its node. */
static ExprNode *
compile_decimal_call(ExprCompiler *c, Expr *expr)
{
	List	   *args;
	const DecimalFunction *function = function_called(expr, &args);
	ExprNode   *node = make_decimal_node(EXPR_CALL, expr, function->nargs);

	node->op = function->op;
	switch (function->op)
	{
		case DECIMAL_ROUND:
		case DECIMAL_TRUNC:
		case DECIMAL_CAST:
		case DECIMAL_FLOOR:
		case DECIMAL_CEIL:
			(void) places_named(function->op, args, &node->places,
								&node->precision);
			compile_rounded(c, node, linitial(args));
			break;
		case DECIMAL_INT:
		case DECIMAL_FLOAT:
			node->places = -1;
			node->args[0] = strata_expr_compile_node(c, linitial(args));
			break;
		case DECIMAL_DIVIDE:
			node->nargs = 1;
			node->args[0] = strata_expr_compile_decimal(c, linitial(args));
			node->decimal = palloc(sizeof(StrataDecimal));
			(void) decimal_constant(lsecond(args), node->decimal);
			break;
		default:
			for (int i = 0; i < node->nargs; i++)
				node->args[i] = strata_expr_compile_decimal(c,
															list_nth(args, i));
			break;
	}
	return node;
}

/* Nodes of a list of arguments. */
static ExprNode *
compile_decimal_list(ExprCompiler *c, ExprKind kind, Expr *expr, List *args)
{
	ExprNode   *node = make_decimal_node(kind, expr, list_length(args));

	for (int i = 0; i < node->nargs; i++)
		node->args[i] = strata_expr_compile_decimal(c, list_nth(args, i));
	return node;
}

/* What PostgreSQL evaluates: a parameter. */
static ExprNode *
compile_decimal_param(ExprCompiler *c, Expr *expr)
{
	ExprNode   *node = make_decimal_node(EXPR_CALL, expr, 1);

	node->op = DECIMAL_TAKE;
	node->args[0] = strata_expr_compile_other(c, expr);
	return node;
}

/* Conditions and results in turn, and ELSE. */
static ExprNode *
compile_decimal_case(ExprCompiler *c, CaseExpr * expr)
{
	ExprNode   *node = make_decimal_node(EXPR_CASE, (Expr *) expr,
										 2 * list_length(expr->args) + 1);
	Expr	   *other = expr->defresult;
	int			n = 0;
	ListCell   *lc;

	foreach(lc, expr->args)
	{
		CaseWhen   *when = lfirst_node(CaseWhen, lc);

		node->args[n++] =
			strata_expr_compile_node(c, strata_expr_when(expr, when));
		node->args[n++] = strata_expr_compile_decimal(c, when->result);
	}
	if (other == NULL)
		other = (Expr *) makeNullConst(NUMERICOID, -1, InvalidOid);
	node->args[n] = strata_expr_compile_decimal(c, other);
	return node;
}

/* See expr_decimal_private.h. */
ExprNode *
strata_expr_compile_decimal(ExprCompiler *c, Expr *expr)
{
	ExprNode   *node;

	switch (nodeTag(expr))
	{
		case T_Var:
			node = make_decimal_node(EXPR_COLUMN, expr, 0);
			node->attno = ((Var *) expr)->varattno;
			return node;
		case T_Const:
			return compile_decimal_const((Const *) expr);
		case T_RelabelType:
			return strata_expr_compile_decimal(c, ((RelabelType *) expr)->arg);
		case T_CaseExpr:
			return compile_decimal_case(c, (CaseExpr *) expr);
		case T_CoalesceExpr:
			return compile_decimal_list(c, EXPR_COALESCE, expr,
										((CoalesceExpr *) expr)->args);
		case T_MinMaxExpr:
			node = compile_decimal_list(c, EXPR_MINMAX, expr,
										((MinMaxExpr *) expr)->args);
			node->greatest = ((MinMaxExpr *) expr)->op == IS_GREATEST;
			return node;
		case T_NullIfExpr:
			return compile_decimal_list(c, EXPR_NULLIF, expr,
										((OpExpr *) expr)->args);
		case T_Param:
			return compile_decimal_param(c, expr);
		default:
			return compile_decimal_call(c, expr);
	}
}

/* See expr_decimal_private.h. */
ExprNode *
strata_expr_compile_computed(ExprCompiler *c, Expr *expr)
{
	bool		computes = false;

	if (!strata_expr_takes_decimals(expr, &computes) || !computes)
		return NULL;
	return strata_expr_compile_decimal(c, expr);
}

/* See expr_decimal_private.h. */
ExprNode *
strata_expr_compile_converted(ExprCompiler *c, Expr *expr)
{
	FuncExpr   *call = (FuncExpr *) expr;
	bool		computes = false;
	ExprNode   *node;

	if (!IsA(expr, FuncExpr) || !is_conversion(call->funcid) ||
		!takes_list(call->args, &computes) ||
		!contain_var_clause((Node *) expr))
		return NULL;
	node = strata_expr_make_node(EXPR_CONVERT, expr, 1);
	node->can_fail = true;
	node->args[0] = strata_expr_compile_decimal(c, linitial(call->args));
	return node;
}

static bool
is_plain_decimal(Expr *expr)
{
	while (IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	return IsA(expr, Var) || IsA(expr, Const);
}

/*
 * See expr_decimal_private.h.  What is compared as it is may be compared by
 * PostgreSQL's function, which raises no error, too.
 */
ExprNode *
strata_expr_compile_compare(ExprCompiler *c, Expr *expr)
{
	const ExprFunction *function;
	bool		computes = false;
	List	   *args = IsA(expr, OpExpr) ? ((OpExpr *) expr)->args : NIL;
	ExprNode   *node;

	if (list_length(args) != 2)
		return NULL;
	set_opfuncid((OpExpr *) expr);
	function = find_comparison(((OpExpr *) expr)->opfuncid);
	if (function == NULL || !takes_list(args, &computes) ||
		!contain_var_clause((Node *) expr))
		return NULL;
	node = strata_expr_make_node(EXPR_COMPARE, expr, 3);
	node->function = function;
	node->can_fail = true;
	for (int i = 0; i < 2; i++)
		node->args[i] = strata_expr_compile_decimal(c, list_nth(args, i));
	if (is_plain_decimal(linitial(args)) && is_plain_decimal(lsecond(args)))
	{
		node->args[2] = strata_expr_compile_other(c, expr);
		node->can_fail = false;
	}
	return node;
}
