/*-------------------------------------------------------------------------
 *
 * filter_compile.c
 *	  Which quals can be tried on metadata and on vectors, and why not.
 *
 * Hides the shapes of PostgreSQL's expression trees: what leaves here is a
 * tree of FilterNodes (see filter_private.h).  Compiled when the plan starts,
 * when columns of other relations have already become Params.
 *
 * Security (the leakproof rules of the planner): a qual may be tried before
 * the ones left of it only when it is promotable; the plan tells which are.
 * Errors: a qual that might raise an error for some row is never tried on a
 * row that an earlier qual rejects, or that the query never asks for; such
 * quals stay row by row (STRATA_QUAL_ROW, STRATA_QUAL_DICTIONARY).  The same
 * holds for what a column is compared with, below OR and behind the first pair
 * of a row comparison.  A whole qual's comparand is evaluated before any row
 * is looked at, as an index scan does.
 *
 * Over 600 lines: every shape of expression is one decision.
 *
 * src/scan/filter_compile.c
 *-------------------------------------------------------------------------
 */
#include "base/compat.h"
#include "base/base.h"
#include "scan/filter_kernel_private.h"
#include "scan/scan_vector.h"

#include "access/nbtree.h"
#include "access/sysattr.h"
#include "catalog/pg_collation_d.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

typedef struct CompileContext
{
	StrataFilter *filter;
	const StrataQual *qual;		/* whose clause is compiled */
	const char *reason;			/* of the first OPAQUE node */
	bool		below_or;
	bool		avoidable;		/* PostgreSQL may not come to what is compiled
								 * now, though it comes to the qual */
} CompileContext;

/* See scan_vector.h. */
Var *
strata_match_column(Node *node, Index varno)
{
	while (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	if (node != NULL && IsA(node, Var))
	{
		Var		   *var = (Var *) node;

		if (var->varno == varno && var->varlevelsup == 0 && var->varattno > 0)
			return var;
	}
	return NULL;
}

static bool
is_column_of(Node *node, void *varno)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varno == *(Index *) varno &&
			((Var *) node)->varlevelsup == 0;
	return expression_tree_walker(node, is_column_of, varno);
}

/* Can node be evaluated once per scan? */
static bool
is_scan_constant(Node *node, Index varno)
{
	return IsA(node, Const) || IsA(node, Param) ||
		(!is_column_of(node, &varno) && !contain_volatile_functions(node) &&
		 !contain_subplans(node));
}

/* See filter_operator_private.h. */
bool
strata_match_column_op(Expr *clause, Index varno, StrataColumnOp *match)
{
	Node	   *left;
	Node	   *right;
	Var		   *var;
	Oid			opno;
	bool		use_or = false;

	memset(match, 0, sizeof(*match));
	if (IsA(clause, OpExpr) && list_length(((OpExpr *) clause)->args) == 2)
	{
		OpExpr	   *op = (OpExpr *) clause;

		left = linitial(op->args);
		right = lsecond(op->args);
		opno = op->opno;
		match->collation = op->inputcollid;
		if ((var = strata_match_column(left, varno)) == NULL)
		{
			if ((var = strata_match_column(right, varno)) == NULL)
				return false;
			right = left;
			opno = get_commutator(op->opno);
		}
	}
	else if (IsA(clause, ScalarArrayOpExpr))
	{
		ScalarArrayOpExpr *op = (ScalarArrayOpExpr *) clause;

		opno = op->opno;
		match->collation = op->inputcollid;
		match->is_array = true;
		use_or = op->useOr;
		right = lsecond(op->args);
		if ((var = strata_match_column(linitial(op->args), varno)) == NULL)
			return false;
	}
	else
		return false;

	if (!OidIsValid(opno) || !is_scan_constant(right, varno))
		return false;
	strata_operator_get(opno, var->vartype, &match->op);
	if (!match->op.strict || !OidIsValid(match->op.opfamily))
		return false;
	match->attno = var->varattno;
	match->value = (Expr *) right;
	match->strategy = match->op.strategy;
	match->bounded = match->collation == var->varcollid &&
		match->op.order != STRATA_ORDER_NONE;
	match->column_order = match->bounded &&
		match->op.order == STRATA_ORDER_TOTAL;
	if (match->is_array)
		return match->strategy == (use_or ? BTEqualStrategyNumber : FILTER_NE);
	return match->strategy != 0;
}

static FilterNode *
make_node(FilterOp op)
{
	FilterNode *node = palloc0(sizeof(FilterNode));

	node->op = op;
	return node;
}

static FilterNode *
make_opaque(CompileContext *cx, const char *reason)
{
	if (cx->reason == NULL)
		cx->reason = reason;
	return make_node(FILTER_OPAQUE);
}

/*
 * Is the value of expr the same whenever its columns are, without side effect?
 */
static bool
is_stable(Node *node)
{
	return !contain_volatile_functions(node) && !contain_subplans(node);
}

/*
 * The columns of R that node reads, as a set of attno; *other: it reads a
 * system column, or the whole row (then all columns are in the set).
 */
static Bitmapset *
columns_of(const StrataFilter *filter, Node *node, bool *other)
{
	Bitmapset  *attrs = NULL;
	Bitmapset  *result = NULL;
	int			i = -1;

	*other = false;
	pull_varattnos(node, filter->varno, &attrs);
	while ((i = bms_next_member(attrs, i)) >= 0)
	{
		int			attno = i + FirstLowInvalidHeapAttributeNumber;

		if (attno > 0)
			result = bms_add_member(result, attno);
		else
			*other = true;
		for (int j = 1; attno == 0 && j <= filter->desc->natts; j++)
			if (strata_attribute_is_kept(TupleDescAttr(filter->desc, j - 1)))
				result = bms_add_member(result, j);
	}
	bms_free(attrs);
	return result;
}

/* Has it a part without columns that may raise an error? */
static bool
constants_raise(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (!IsA(node, List) && !contain_var_clause(node))
		return strata_expr_may_raise_error(node);
	return expression_tree_walker(node, constants_raise, context);
}

/*
 * May it raise an error for some row?  What a column is compared with has been
 * evaluated by then, or else the leaf is OPAQUE.
 */
static bool
could_raise(const StrataFilter *filter, Expr *expr)
{
	StrataColumnOp match;

	if (contain_leaked_vars((Node *) expr))
		return strata_expr_may_raise_error((Node *) expr);
	return constants_raise((Node *) expr, NULL) &&
		!strata_match_column_op(expr, filter->varno, &match);
}

/*
 * A leaf that is evaluated as an expression, once per distinct value where the
 * column comes with a dictionary; OPAQUE unless that is safe to do eagerly.
 */
static FilterNode *
compile_expression(CompileContext *cx, Expr *expr, bool negate)
{
	const StrataQual *qual = cx->qual;
	bool		whole = expr == qual->clause;
	FilterNode *node;
	bool		other = qual->rows_only;
	Bitmapset  *columns;
	AttrNumber	attno;
	Expr	   *arg;

	columns = whole ? qual->attnos :
		columns_of(cx->filter, (Node *) expr, &other);
	if (!(whole ? qual->stable : is_stable((Node *) expr)))
		return make_opaque(cx, contain_subplans((Node *) expr) ?
						   "it contains a subquery" :
						   "it calls a volatile function");
	if (other)
		return make_opaque(cx, "it reads a system column or a whole row");
	if (bms_membership(columns) != BMS_SINGLETON)
		return make_opaque(cx, bms_is_empty(columns) ? "it reads no column" :
						   "it reads several columns");
	attno = (AttrNumber) bms_singleton_member(columns);
	if (TupleDescAttr(cx->filter->desc, attno - 1)->attbyval)
		return make_opaque(cx, "it is not a comparison with a kernel");
	if (whole ? !qual->error_free : could_raise(cx->filter, expr))
		return make_opaque(cx, "it could raise an error");
	node = make_node(FILTER_EXPR);
	node->attno = attno;
	node->avoidable = cx->avoidable ||
		strata_filter_may_skip_param((Node *) expr, NULL);
	node->filter = cx->filter;
	node->like = strata_like_compile((Node *) expr, &arg);
	node->not_like = negate;
	if (node->like != NULL && strata_match_column((Node *) arg,
												  cx->filter->varno) == NULL)
		node->like = NULL;
	node->start.kind = STRATA_PART_START;
	if (node->like != NULL)
		node->start.nbytes = Max(strata_like_first_bytes(node->like), 0);
	node->expr = negate ? makeBoolExpr(NOT_EXPR, list_make1(expr), -1) : expr;
	return node;
}

/* strategy of NOT (column op value), which a total order has */
static int
negated_strategy(int strategy)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			return BTGreaterEqualStrategyNumber;
		case BTLessEqualStrategyNumber:
			return BTGreaterStrategyNumber;
		case BTEqualStrategyNumber:
			return FILTER_NE;
		case BTGreaterEqualStrategyNumber:
			return BTLessStrategyNumber;
		case BTGreaterStrategyNumber:
			return BTLessEqualStrategyNumber;
		default:
			return BTEqualStrategyNumber;
	}
}

/*
 * The comparison function of the family, when it can say how the column lies.
 */
static FmgrInfo *
comparison_function(const StrataColumnOp *match)
{
	FmgrInfo   *cmp;

	if (!match->bounded || !OidIsValid(match->op.comparison))
		return NULL;
	cmp = palloc0(sizeof(FmgrInfo));
	fmgr_info(match->op.comparison, cmp);
	return cmp;
}

/* Is the operator the = of a type whose equal values have equal bytes? */
static bool
compares_bytes(const StrataColumnOp *match)
{
	if (match->strategy != BTEqualStrategyNumber)
		return false;
	switch (match->op.opcode)
	{
		case F_TEXTEQ:
			/* a database's own collation always is */
			return match->collation == DEFAULT_COLLATION_OID ||
				(OidIsValid(match->collation) &&
				 get_collation_isdeterministic(match->collation));
		case F_BYTEAEQ:
		case F_UUID_EQ:
			return true;
		default:
			return false;
	}
}

/* What a column is compared with: a constant needs no expression machinery. */
static void
prepare_comparand(CompileContext *cx, Expr *comparand, FilterNode *node)
{
	node->comparand = comparand;
	if (IsA(comparand, Const))
	{
		node->valuelen = (int16) ((Const *) comparand)->constlen;
		node->valuebyval = ((Const *) comparand)->constbyval;
		return;
	}
	get_typlenbyval(exprType((Node *) comparand), &node->valuelen,
					&node->valuebyval);
	node->value_state = ExecInitExpr(comparand, cx->filter->parent);
}

/* May it raise an error?  A subquery's is looked for when it is prepared. */
static bool
comparand_raises(Expr *comparand)
{
	return !IsA(comparand, Const) && !IsA(comparand, Param) &&
		strata_expr_may_raise_error((Node *) comparand);
}

/* column op value, column = ANY (array), column <> ALL (array) */
static FilterNode *
compile_comparison(CompileContext *cx, Expr *clause, bool negate)
{
	StrataColumnOp match;
	FilterNode *node;

	if (!strata_match_column_op(clause, cx->filter->varno, &match))
		return compile_expression(cx, clause, negate);
	if (cx->avoidable && comparand_raises(match.value))
		return make_opaque(cx, "what it compares with could raise an error");
	if (negate)
		match.strategy = negated_strategy(match.strategy);
	node = make_node(!match.is_array ? FILTER_COMPARE :
					 match.strategy == BTEqualStrategyNumber ? FILTER_IN :
					 FILTER_NOT_IN);
	node->attno = match.attno;
	node->strategy = match.strategy;
	node->kind = strata_filter_kind(match.op.basetype, match.op.lefttype,
									match.op.righttype, match.strategy);
	node->righttype = match.op.righttype;
	node->opno = negate ? InvalidOid : match.op.opno;
	node->order = match.op.order;
	node->boundtype = match.op.boundtype;
	node->same = match.op.same;
	node->at_most = match.op.at_most;
	node->at_least = match.op.at_least;
	node->lefttype = match.op.lefttype;
	node->opfamily = match.op.opfamily;
	node->collation = match.collation;
	node->cmp = comparison_function(&match);
	node->by_bytes = compares_bytes(&match);
	node->avoidable = cx->avoidable;
	prepare_comparand(cx, match.value, node);
	if (node->kind == FILTER_KIND_NONE)
	{
		FilterNode *expr = compile_expression(cx, clause, negate);

		/* stays OPAQUE to vectors when it may not be evaluated eagerly */
		node->expr = expr->expr;
		node->filter = expr->filter;
	}
	return node;
}

/* column IS [NOT] NULL; pass the effective test. */
static FilterNode *
make_null_test(AttrNumber attno, bool isnull)
{
	FilterNode *node = make_node(isnull ? FILTER_IS_NULL : FILTER_IS_NOT_NULL);

	node->attno = attno;
	return node;
}

/* A bool column compared with true or false. */
static FilterNode *
make_bool_test(CompileContext *cx, Var *var, bool value)
{
	Const	   *constant = (Const *) makeBoolConst(value, false);
	Expr	   *clause = make_opclause(BooleanEqualOperator, BOOLOID, false,
									   (Expr *) var, (Expr *) constant,
									   InvalidOid, InvalidOid);

	set_opfuncid((OpExpr *) clause);
	return compile_comparison(cx, clause, false);
}

static FilterNode *
make_pair(FilterOp op, FilterNode *a, FilterNode *b)
{
	FilterNode *node = make_node(op);

	node->nargs = 2;
	node->args = palloc(sizeof(FilterNode *) * 2);
	node->args[0] = a;
	node->args[1] = b;
	return node;
}

/* column IS [NOT] TRUE, FALSE, UNKNOWN */
static FilterNode *
compile_boolean_test(CompileContext *cx, BooleanTest *test, bool negate)
{
	Var		   *var = strata_match_column((Node *) test->arg,
										  cx->filter->varno);
	BoolTestType type = test->booltesttype;
	AttrNumber	attno;

	if (var == NULL || var->vartype != BOOLOID)
		return compile_expression(cx, (Expr *) test, negate);
	attno = var->varattno;
	if (negate)
	{
		static const BoolTestType complement[] = {
			[IS_TRUE] = IS_NOT_TRUE,[IS_NOT_TRUE] = IS_TRUE,
			[IS_FALSE] = IS_NOT_FALSE,[IS_NOT_FALSE] = IS_FALSE,
			[IS_UNKNOWN] = IS_NOT_UNKNOWN,[IS_NOT_UNKNOWN] = IS_UNKNOWN
		};

		type = complement[type];
	}
	switch (type)
	{
		case IS_TRUE:
			return make_bool_test(cx, var, true);
		case IS_FALSE:
			return make_bool_test(cx, var, false);
		case IS_NOT_TRUE:
			return make_pair(FILTER_OR, make_bool_test(cx, var, false),
							 make_null_test(attno, true));
		case IS_NOT_FALSE:
			return make_pair(FILTER_OR, make_bool_test(cx, var, true),
							 make_null_test(attno, true));
		case IS_UNKNOWN:
			return make_null_test(attno, true);
		default:
			return make_null_test(attno, false);
	}
}

/* Pair number i of a row comparison, compared by an operator of its family. */
static FilterNode *
compile_pair(CompileContext *cx, RowCompareExpr * expr, int i, int strategy)
{
	Expr	   *left = list_nth(expr->largs, i);
	Expr	   *right = list_nth(expr->rargs, i);
	Oid			lefttype;
	Oid			righttype;
	int			declared;
	Oid			opno;
	Expr	   *clause;
	bool		before = cx->avoidable;
	FilterNode *node;

	get_op_opfamily_properties(list_nth_oid(expr->opnos, i),
							   list_nth_oid(expr->opfamilies, i), false,
							   &declared, &lefttype, &righttype);
	opno = get_opfamily_member(list_nth_oid(expr->opfamilies, i), lefttype,
							   righttype, (int16) strategy);
	if (!OidIsValid(opno))
		return make_opaque(cx, "an operator is missing");
	clause = make_opclause(opno, BOOLOID, false, left, right, InvalidOid,
						   list_nth_oid(expr->inputcollids, i));
	set_opfuncid((OpExpr *) clause);
	cx->avoidable |= i > 0;
	node = compile_comparison(cx, clause, false);
	cx->avoidable = before;
	return node;
}

/*
 * (a, b) < (x, y) is true where a < x OR (a = x AND b < y) is.  A pair behind
 * the first that differs is not looked at, be it null.
 */
static FilterNode *
compile_row_comparison(CompileContext *cx, RowCompareExpr * expr, bool negate)
{
	int			strategy = strata_row_compare_strategy(expr);
	int			strict;
	int			n = list_length(expr->largs);
	FilterNode *node;

	if (negate)
		strategy = negated_strategy(strategy);
	strict = strategy == BTLessEqualStrategyNumber ? BTLessStrategyNumber :
		strategy == BTGreaterEqualStrategyNumber ? BTGreaterStrategyNumber :
		strategy;
	node = compile_pair(cx, expr, n - 1, strategy);
	for (int i = n - 2; i >= 0; i--)
	{
		FilterNode *equal = compile_pair(cx, expr, i, BTEqualStrategyNumber);

		node = make_pair(FILTER_OR, compile_pair(cx, expr, i, strict),
						 make_pair(FILTER_AND, equal, node));
	}
	return node;
}

static FilterNode *compile_node(CompileContext *cx, Expr *expr, bool negate);

/*
 * AND, OR, NOT.  PostgreSQL stops at the first argument that decides; the AND
 * of a whole qual is as several quals.
 */
static FilterNode *
compile_bool_expr(CompileContext *cx, BoolExpr *expr, bool negate)
{
	FilterNode *node;
	bool		was_below = cx->below_or;
	bool		was_avoidable = cx->avoidable;
	ListCell   *lc;

	if (expr->boolop == NOT_EXPR)
		return compile_node(cx, linitial(expr->args), !negate);
	/* De Morgan: NOT (a AND b) = NOT a OR NOT b */
	node = make_node((expr->boolop == AND_EXPR) != negate ? FILTER_AND :
					 FILTER_OR);
	node->args = palloc(sizeof(FilterNode *) * list_length(expr->args));
	cx->below_or |= node->op == FILTER_OR;
	foreach(lc, expr->args)
	{
		node->args[node->nargs++] = compile_node(cx, lfirst(lc), negate);
		cx->avoidable |= cx->below_or;
	}
	cx->below_or = was_below;
	cx->avoidable = was_avoidable;
	return node;
}

/* Compile expr, or NOT expr, into a tree that is true where it is true. */
static FilterNode *
compile_node(CompileContext *cx, Expr *expr, bool negate)
{
	Var		   *var;

	check_stack_depth();
	switch (nodeTag(expr))
	{
		case T_BoolExpr:
			return compile_bool_expr(cx, (BoolExpr *) expr, negate);
		case T_OpExpr:
		case T_ScalarArrayOpExpr:
			return compile_comparison(cx, expr, negate);
		case T_BooleanTest:
			return compile_boolean_test(cx, (BooleanTest *) expr, negate);
		case T_RowCompareExpr:
			return compile_row_comparison(cx, (RowCompareExpr *) expr, negate);
		case T_NullTest:
			{
				NullTest   *test = (NullTest *) expr;

				var = strata_match_column((Node *) test->arg,
										  cx->filter->varno);
				if (var != NULL && !test->argisrow)
					return make_null_test(var->varattno, (test->nulltesttype ==
														  IS_NULL) != negate);
				return compile_expression(cx, expr, negate);
			}
		case T_Var:
		case T_RelabelType:
			var = strata_match_column((Node *) expr, cx->filter->varno);
			if (var != NULL && var->vartype == BOOLOID)
				return make_bool_test(cx, var, !negate);
			return compile_expression(cx, expr, negate);
		case T_Const:
			{
				Const	   *constant = (Const *) expr;
				FilterNode *node = make_node(FILTER_CONST);

				node->truth = !constant->constisnull &&
					DatumGetBool(constant->constvalue) != negate;
				return node;
			}
		default:
			return compile_expression(cx, expr, negate);
	}
}

/* See filter_private.h. */
ExprState *
strata_qual_state(StrataFilter *filter, const StrataQual *qual)
{
	StrataQual *own = &filter->quals[qual - filter->quals];

	if (own->compiled == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(filter->mcxt);

		own->compiled = ExecInitQual(list_make1(own->clause), filter->parent);
		MemoryContextSwitchTo(old);
	}
	return own->compiled;
}

/* See filter_private.h. */
StrataExpr *
strata_qual_together(StrataFilter *filter, const StrataQual *qual)
{
	StrataQual *own = &filter->quals[qual - filter->quals];

	if (!own->together_tried && own->stable && !own->rows_only)
	{
		MemoryContext old = MemoryContextSwitchTo(filter->mcxt);

		own->together = strata_expr_compile(list_make1(own->clause),
											filter->parent);
		MemoryContextSwitchTo(old);
	}
	own->together_tried = true;
	return own->together;
}

/* See filter_private.h. */
StrataParts *
strata_qual_parts(StrataFilter *filter, const StrataQual *qual,
				  ExprState **parted)
{
	StrataQual *own = &filter->quals[qual - filter->quals];

	if (!own->parts_tried && own->stable && !own->rows_only)
	{
		MemoryContext old = MemoryContextSwitchTo(filter->mcxt);
		Node	   *expr;

		own->parts = strata_parts_extract((Node *) own->clause, &expr);
		if (own->parts != NULL)
			own->parted = ExecInitQual(list_make1(expr), filter->parent);
		MemoryContextSwitchTo(old);
	}
	own->parts_tried = true;
	*parted = own->parted;
	return own->parts;
}

/* See filter_private.h. */
StrataMemo *
strata_qual_memo(StrataFilter *filter, const StrataQual *qual)
{
	StrataQual *own = &filter->quals[qual - filter->quals];

	if (!own->memo_tried && own->stable && !own->rows_only &&
		bms_membership(own->attnos) == BMS_SINGLETON)
	{
		MemoryContext old = MemoryContextSwitchTo(filter->mcxt);
		Form_pg_attribute att;

		att = TupleDescAttr(filter->desc,
							bms_singleton_member(own->attnos) - 1);
		own->memo = strata_memo_create((Node *) own->clause, att->attbyval,
									   att->attlen);
		MemoryContextSwitchTo(old);
	}
	own->memo_tried = true;
	return own->memo;
}

/* See filter_private.h. */
ExprState *
strata_leaf_state(FilterNode *leaf)
{
	if (leaf->state == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(leaf->filter->mcxt);

		leaf->state = ExecInitExpr(leaf->expr, leaf->filter->parent);
		MemoryContextSwitchTo(old);
	}
	return leaf->state;
}

/*
 * Column, operator, constant or parameter, as most quals are: what
 * compile_qual() wants to know of it needs no walks through the expression
 * then.
 */
static bool
is_plain_comparison(const StrataFilter *filter, StrataQual *qual)
{
	OpExpr	   *expr = (OpExpr *) qual->clause;
	StrataOperator op;
	Node	   *other;
	Var		   *var;

	if (!IsA(expr, OpExpr) || list_length(expr->args) != 2)
		return false;
	other = lsecond(expr->args);
	var = strata_match_column(linitial(expr->args), filter->varno);
	if (var == NULL)
	{
		var = strata_match_column(other, filter->varno);
		other = linitial(expr->args);
	}
	if (var == NULL || !(IsA(other, Const) || IsA(other, Param)))
		return false;
	strata_operator_get(expr->opno, var->vartype, &op);
	if (!OidIsValid(op.opcode))
		return false;
	qual->attnos = bms_make_singleton(var->varattno);
	qual->rows_only = false;
	qual->stable = !op.is_volatile;
	qual->error_free = qual->stable &&
		(op.leakproof || !strata_expr_may_raise_error((Node *) expr));
	return true;
}

/*
 * barrier is NULL when the qual may be tried before the ones left of it, else
 * why not.
 */
static void
compile_qual(StrataFilter *filter, StrataQual *qual, Expr *clause,
			 const char *barrier)
{
	bool		promotable = barrier == NULL;
	CompileContext cx = {filter, qual};

	qual->clause = clause;
	qual->promotable = promotable;
	if (!is_plain_comparison(filter, qual))
	{
		qual->attnos = columns_of(filter, (Node *) clause, &qual->rows_only);
		qual->stable = is_stable((Node *) clause);
		qual->error_free = qual->stable && !could_raise(filter, clause);
	}
	qual->tree = compile_node(&cx, clause, false);
	qual->prunes = promotable && strata_filter_tree_can_prune(qual->tree);
	/* subplans must be known to the plan node from its start */
	if (!qual->stable && contain_subplans((Node *) clause))
		(void) strata_qual_state(filter, qual);
	qual->waits = strata_filter_tree_waits(qual->tree);
	if (strata_filter_tree_is_vectorisable(qual->tree) && promotable)
		qual->way = STRATA_QUAL_VECTOR;
	else
	{
		qual->way = STRATA_QUAL_ROW;
		qual->reason = !strata_filter_tree_is_vectorisable(qual->tree) ?
			cx.reason :
			barrier;
		if (qual->stable && !qual->rows_only &&
			bms_membership(qual->attnos) == BMS_SINGLETON &&
			!TupleDescAttr(filter->desc,
						   bms_singleton_member(qual->attnos) - 1)->attbyval)
			qual->way = STRATA_QUAL_DICTIONARY;
	}
}

/* See filter_private.h. */
StrataFilter *
strata_filter_create(List *quals, const bool *promotable, Index varno,
					 TupleDesc desc, PlanState *parent)
{
	StrataFilter *filter = palloc0(sizeof(StrataFilter));
	bool		volatile_before = false;
	ListCell   *lc;

	filter->mcxt = CurrentMemoryContext;
	filter->varno = varno;
	filter->desc = desc;
	filter->parent = parent;
	filter->quals = palloc0(sizeof(StrataQual) * Max(list_length(quals), 1));
	foreach(lc, quals)
	{
		int			i = filter->nquals++;

		compile_qual(filter, &filter->quals[i], lfirst(lc),
					 volatile_before ? "a volatile function comes before it" :
					 !promotable[i] ? "a security barrier comes before it" :
					 NULL);
		volatile_before |= !filter->quals[i].stable &&
			contain_volatile_functions(lfirst(lc));
	}
	filter->nown = filter->nmax = filter->nquals;
	return filter;
}

/* See filter_private.h. */
void
strata_filter_reserve(StrataFilter *filter, int n)
{
	Assert(filter->nquals == filter->nown); /* scan:R15 */
	filter->nmax += n;
	filter->quals = repalloc(filter->quals,
							 sizeof(StrataQual) * Max(filter->nmax, 1));
	memset(&filter->quals[filter->nown], 0,
		   sizeof(StrataQual) * (filter->nmax - filter->nown));
}

/* See filter_private.h. */
StrataQual *
strata_filter_add(StrataFilter *filter, Expr *clause)
{
	StrataQual *qual = &filter->quals[filter->nquals];

	Assert(filter->nquals < filter->nmax);	/* scan:R15 */
	compile_qual(filter, qual, clause, NULL);
	if (!qual->prunes || qual->tree->op != FILTER_IN ||
		qual->tree->cmp == NULL || qual->tree->order != STRATA_ORDER_TOTAL)
	{
		memset(qual, 0, sizeof(StrataQual));
		return NULL;
	}
	filter->nquals++;
	return qual;
}
