/*-------------------------------------------------------------------------
 *
 * rollup_partial.c
 *	  What is kept of an aggregate, and its value out of that.
 *
 * Which partials an aggregate has says rollup_decompose.c.
 *
 * src/rollup/rollup_partial.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "rollup/rollup_decompose_private.h"
#include "rollup/rollup_private.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/*-------------------------------------------------------------------------
 * Columns of the archive
 *-------------------------------------------------------------------------
 */
static StrataRollupColumn *
find_kept(const List *columns, const Expr *expr, AttrNumber *attno)
{
	ListCell   *lc;

	*attno = 1;
	foreach(lc, columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (equal(column->expr, expr))
			return column;
		(*attno)++;
	}
	return NULL;
}

/* A name that no column has, beginning with this. */
static char *
unused_name(const List *columns, const char *wanted)
{
	char		name[NAMEDATALEN];

	strlcpy(name, wanted, sizeof(name));
	for (int i = 1;; i++)
	{
		bool		used = false;
		ListCell   *lc;

		foreach(lc, columns)
			used |= strcmp(((StrataRollupColumn *) lfirst(lc))->name,
						   name) == 0;
		if (!used)
			return pstrdup(name);
		snprintf(name, sizeof(name), "%.*s_%d", NAMEDATALEN - 12, wanted, i);
	}
}

/* See rollup_private.h. */
StrataRollupColumn *
strata_rollup_add_column(List **columns, StrataRollupKind kind, Expr *expr,
						 Oid combine, const char *name)
{
	StrataRollupColumn *column;
	AttrNumber	attno;

	column = find_kept(*columns, expr, &attno);
	if (column != NULL)
		return column;
	column = palloc0(sizeof(StrataRollupColumn));
	column->kind = kind;
	column->expr = expr;
	column->combine = combine;
	column->name = unused_name(*columns, name);
	column->type = exprType((Node *) expr);
	column->typmod = exprTypmod((Node *) expr);
	column->collation = exprCollation((Node *) expr);
	*columns = lappend(*columns, column);
	return column;
}

/* "sum_usage" of sum(usage), "count" of count(*), "sum" of others. */
static char *
partial_name(const Query *query, const Aggref *aggref)
{
	char	   *name = get_func_name(aggref->aggfnoid);
	Expr	   *arg = aggref->args == NIL ? NULL :
	linitial_node(TargetEntry, aggref->args)->expr;

	while (arg != NULL && IsA(arg, FuncExpr) &&
		   list_length(((FuncExpr *) arg)->args) == 1)
		arg = linitial(((FuncExpr *) arg)->args);
	if (arg != NULL && IsA(arg, Var) && ((Var *) arg)->varattno > 0)
		name = psprintf("%s_%s", name,
						get_rte_attribute_name(list_nth(query->rtable,
														((Var *) arg)->varno - 1),
											   ((Var *) arg)->varattno));
	return name;
}

/* See rollup_private.h. */
void
strata_rollup_add_partials(StrataRollup *rollup, const Aggref *aggref,
						   const char *name)
{
	StrataRollupColumn *column;
	Aggref	   *sum;
	Aggref	   *count;
	Oid			combine;
	StrataDecomposition kept = strata_rollup_decompose(aggref, &combine);

	switch (kept)
	{
		case KEEP_STATE:
			(void) strata_rollup_add_column(&rollup->columns,
											STRATA_ROLLUP_PARTIAL,
											(Expr *) strata_rollup_state_partial(aggref),
											strata_rollup_state_combine(aggref),
											"state");
			break;
		case KEEP_PICK:
			column = strata_rollup_add_column(&rollup->columns,
											  STRATA_ROLLUP_PARTIAL,
											  copyObjectImpl(aggref), combine,
											  name != NULL ? name :
											  partial_name(rollup->query,
														   aggref));
			sum = strata_rollup_picked_time(aggref);
			strata_rollup_add_partials(rollup, sum, NULL);
			(void) find_kept(rollup->columns, (Expr *) sum, &column->by);
			break;
		case KEEP_AVERAGE:
		case KEEP_DEVIATION:
			strata_rollup_average_partials(aggref, &sum, &count);
			strata_rollup_add_partials(rollup, sum, NULL);
			strata_rollup_add_partials(rollup, count, NULL);
			if (kept == KEEP_DEVIATION)
				(void) strata_rollup_add_column(&rollup->columns,
												STRATA_ROLLUP_PARTIAL,
												(Expr *) strata_rollup_squares_partial(aggref),
												F_SUM_NUMERIC, "squares");
			break;
		case KEEP_COMBINED:
		case KEEP_VALUE:
			(void) strata_rollup_add_column(&rollup->columns,
											STRATA_ROLLUP_PARTIAL,
											copyObjectImpl(aggref), combine,
											name != NULL ? name :
											partial_name(rollup->query,
														 aggref));
			break;
	}
}

/* See rollup_private.h. */
char *
strata_rollup_combine_text(const StrataRollup *rollup,
						   const StrataRollupColumn *column)
{
	Oid			combine = column->combine;
	char	   *by = "";
	char	   *schema;

	Assert(OidIsValid(combine));	/* rollup:Z5 */
	if (column->by != InvalidAttrNumber)
	{
		StrataRollupColumn *other = list_nth(rollup->columns, column->by - 1);

		by = psprintf(", %s", quote_identifier(other->name));
	}
	schema = get_namespace_name(get_func_namespace(combine));
	return psprintf("%s(%s%s)",
					quote_qualified_identifier(schema,
											   get_func_name(combine)),
					quote_identifier(column->name), by);
}

/*-------------------------------------------------------------------------
 * Values out of columns
 *-------------------------------------------------------------------------
 */
typedef struct FinalContext
{
	const StrataRollup *rollup;
	Index		varno;
	bool		combined;
} FinalContext;

/* first() or last() of those of several rows, by their times. */
static Expr *
picked_value(const FinalContext *cx, const StrataRollupColumn *column,
			 Expr *value)
{
	StrataRollupColumn *by = list_nth(cx->rollup->columns, column->by - 1);
	Aggref	   *aggref = copyObject(castNode(Aggref, column->expr));
	Expr	   *time;

	time = (Expr *) makeVar(cx->varno, column->by, by->type, by->typmod,
							by->collation, 0);
	aggref->args = list_make2(makeTargetEntry(value, 1, NULL, false),
							  makeTargetEntry(time, 2, NULL, false));
	aggref->aggfilter = NULL;
	return (Expr *) aggref;
}

/* The column that holds the expression, combined if it is to be. */
static Expr *
column_value(const FinalContext *cx, const Expr *expr)
{
	AttrNumber	attno;
	StrataRollupColumn *column = find_kept(cx->rollup->columns, expr,
										   &attno);
	Expr	   *value;

	if (column == NULL)
		return NULL;
	value = (Expr *) makeVar(cx->varno, attno, column->type, column->typmod,
							 column->collation, 0);
	if (!cx->combined || column->kind != STRATA_ROLLUP_PARTIAL)
		return value;
	Assert(OidIsValid(column->combine));	/* rollup:Z5 */
	if (column->by != InvalidAttrNumber)
		return picked_value(cx, column, value);
	value = (Expr *) strata_rollup_make_aggref(column->combine, value, NULL,
											   ((const Aggref *) expr)->inputcollid);
	/* a sum of counts is numeric */
	return (Expr *) coerce_to_target_type(NULL, (Node *) value,
										  exprType((Node *) value),
										  column->type, -1, COERCION_EXPLICIT,
										  COERCE_IMPLICIT_CAST, -1);
}

/* An operator of PostgreSQL's own. */
static Expr *
make_operator(const char *name, Oid result, Expr *left, Expr *right)
{
	Oid			opno;
	Expr	   *clause;

	opno = OpernameGetOprid(list_make2(makeString("pg_catalog"),
									   makeString(pstrdup(name))),
							exprType((Node *) left), exprType((Node *) right));
	clause = make_opclause(opno, result, false, left, right, InvalidOid,
						   InvalidOid);
	set_opfuncid((OpExpr *) clause);
	return clause;
}

/*
 * The value of an average out of sum and count, by the division that the
 * aggregate does itself.  Where all values are -0.0 so is their sum, but the
 * aggregate begins with 0.0.
 */
static Expr *
average_value(const FinalContext *cx, const Aggref *aggref)
{
	Aggref	   *sum;
	Aggref	   *count;
	Expr	   *total;
	Expr	   *n;
	Oid			by = NUMERICOID;

	strata_rollup_average_partials(aggref, &sum, &count);
	total = column_value(cx, (Expr *) sum);
	n = column_value(cx, (Expr *) count);
	if (total == NULL || n == NULL)
		return NULL;
	if (aggref->aggtype == FLOAT8OID || aggref->aggtype == INTERVALOID)
		by = FLOAT8OID;
	else
		total = (Expr *) coerce_to_target_type(NULL, (Node *) total,
											   exprType((Node *) total),
											   NUMERICOID, -1,
											   COERCION_EXPLICIT,
											   COERCE_IMPLICIT_CAST, -1);
	n = (Expr *) coerce_to_target_type(NULL, (Node *) n, INT8OID, by, -1,
									   COERCION_EXPLICIT,
									   COERCE_IMPLICIT_CAST, -1);
	if (aggref->aggtype == FLOAT8OID)
		total = make_operator("+", FLOAT8OID, total,
							  (Expr *) makeConst(FLOAT8OID, -1, InvalidOid,
												 sizeof(float8),
												 Float8GetDatum(0.0), false,
												 FLOAT8PASSBYVAL));
	return make_operator("/", aggref->aggtype, total, n);
}

/* The value of a deviation of integers or numerics. */
static Expr *
deviation_value(const FinalContext *cx, const Aggref *aggref)
{
	Aggref	   *sum;
	Aggref	   *count;
	Aggref	   *squares = strata_rollup_squares_partial(aggref);
	Expr	   *total;
	Expr	   *n;
	Expr	   *s;

	strata_rollup_average_partials(aggref, &sum, &count);
	total = column_value(cx, (Expr *) sum);
	n = column_value(cx, (Expr *) count);
	s = column_value(cx, (Expr *) squares);
	return total == NULL || n == NULL || s == NULL ? NULL :
		strata_rollup_deviation_value(aggref, total, n, s);
}

/* The value of a deviation of floats or a regression, as PostgreSQL ends it. */
static Expr *
state_value(const FinalContext *cx, const Aggref *aggref)
{
	Aggref	   *partial = strata_rollup_state_partial(aggref);
	Expr	   *state = column_value(cx, (Expr *) partial);
	HeapTuple	tuple;
	Oid			final;

	if (state == NULL)
		return NULL;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for aggregate %u", aggref->aggfnoid);
	final = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggfinalfn;
	ReleaseSysCache(tuple);
	return (Expr *) makeFuncExpr(final, aggref->aggtype, list_make1(state),
								 InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/* Grouping expressions and aggregates, made of the archive's columns. */
static Node *
final_mutator(Node *node, void *context)
{
	const FinalContext *cx = context;
	StrataDecomposition kept = KEEP_VALUE;
	Expr	   *value = NULL;
	Oid			combine;

	if (node == NULL || IsA(node, Const))
		return copyObject(node);
	if (IsA(node, Aggref))
		kept = strata_rollup_decompose((Aggref *) node, &combine);
	if (kept == KEEP_AVERAGE)
		value = average_value(cx, (Aggref *) node);
	else if (kept == KEEP_DEVIATION)
		value = deviation_value(cx, (Aggref *) node);
	else if (kept == KEEP_STATE)
		value = state_value(cx, (Aggref *) node);
	else
		value = column_value(cx, (Expr *) node);
	if (value != NULL)
		return (Node *) value;
	if (IsA(node, Var) || IsA(node, Aggref))
		elog(ERROR, "a rollup lacks a column");
	return expression_tree_mutator(node, final_mutator, context);
}

/* See rollup.h. */
Expr *
strata_rollup_final(const StrataRollup *rollup, const Expr *expr, Index varno,
					bool combined)
{
	FinalContext cx = {rollup, varno, combined};

	Assert(!combined || strata_rollup_combines(rollup, expr));	/* rollup:Z5 */
	return (Expr *) final_mutator((Node *) expr, &cx);
}

/* See rollup_private.h. */
bool
strata_rollup_knows(const StrataRollup *rollup, const Aggref *aggref)
{
	StrataDecomposition kept;
	Aggref	   *sum;
	Aggref	   *count;
	Oid			combine;
	AttrNumber	attno;

	kept = strata_rollup_decompose(aggref, &combine);
	if (kept == KEEP_STATE)
		return find_kept(rollup->columns,
						 (Expr *) strata_rollup_state_partial(aggref),
						 &attno) != NULL;
	if (kept == KEEP_DEVIATION &&
		find_kept(rollup->columns,
				  (Expr *) strata_rollup_squares_partial(aggref),
				  &attno) == NULL)
		return false;
	if (kept != KEEP_AVERAGE && kept != KEEP_DEVIATION)
		return find_kept(rollup->columns, (const Expr *) aggref,
						 &attno) != NULL;
	strata_rollup_average_partials(aggref, &sum, &count);
	return find_kept(rollup->columns, (Expr *) sum, &attno) != NULL &&
		find_kept(rollup->columns, (Expr *) count, &attno) != NULL;
}

static bool
has_single(Node *node, void *context)
{
	Oid			combine;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
		return strata_rollup_decompose((Aggref *) node,
									   &combine) == KEEP_VALUE;
	return expression_tree_walker(node, has_single, context);
}

/* See rollup.h. */
bool
strata_rollup_combines(const StrataRollup *rollup, const Expr *expr)
{
	return !has_single((Node *) expr, NULL);
}
