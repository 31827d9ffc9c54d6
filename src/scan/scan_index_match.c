/*-------------------------------------------------------------------------
 *
 * scan_index_match.c
 *	  What a condition asks of an index by its operator classes.
 *
 * "column op value" (either way round), or = ANY of an array, with an operator
 * of the index column's family, the index's collation, and a value that is the
 * same for all rows.  The index's column may be an expression.
 *
 * src/scan/scan_index_match.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "index/index.h"
#include "scan/scan_source_private.h"
#include "scan/scan_vector.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteManip.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

/* Is a column of the relation in the expression, or a subplan? */
static bool
depends_on_row(Node *node, Index *varno)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varno == *varno;
	if (IsA(node, SubPlan) || IsA(node, AlternativeSubPlan))
		return true;
	return expression_tree_walker(node, depends_on_row, varno);
}

/* What an expression is compared with: an index's columns. */
typedef struct IndexColumns
{
	Relation	index;
	Index		varno;			/* of the table in the plan */
	List	   *expressions;	/* of it; NIL: not needed yet */
} IndexColumns;

/* Is it a column of the index, from 0, which is an expression? */
static bool
is_expression(IndexColumns *columns, int column, Node *node)
{
	int			n = 0;
	Node	   *expression;

	for (int i = 0; i < column; i++)
		n += columns->index->rd_index->indkey.values[i] == 0;
	if (columns->expressions == NIL)
	{
		columns->expressions = RelationGetIndexExpressions(columns->index);
		ChangeVarNodes((Node *) columns->expressions, 1, (int) columns->varno,
					   0);
	}
	expression = list_nth(columns->expressions, n);
	if (IsA(expression, RelabelType))
		expression = (Node *) ((RelabelType *) expression)->arg;
	if (node != NULL && IsA(node, RelabelType))
		node = (Node *) ((RelabelType *) node)->arg;
	return equal(node, expression);
}

/* See scan_source_private.h. */
bool
strata_index_is_column(Relation index, Index varno, int column, Node *node)
{
	IndexColumns columns = {.index = index,.varno = varno};
	AttrNumber	attno = index->rd_index->indkey.values[column];
	Var		   *var = strata_match_column(node, varno);

	return attno == 0 ? is_expression(&columns, column, node) :
		var != NULL && var->varattno == attno;
}

/*
 * Is it a column of the index whose family has the operator?  Then the rest of
 * *match.
 */
static bool
match_index_column(IndexColumns *columns, Node *node, Oid opno, Oid collation,
				   StrataIndexMatch *match)
{
	Relation	index = columns->index;
	Var		   *var = strata_match_column(node, columns->varno);

	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		Oid			family = index->rd_opfamily[i];
		AttrNumber	attno = index->rd_index->indkey.values[i];
		Oid			lefttype;

		if (!op_in_opfamily(opno, family) ||
			(OidIsValid(index->rd_indcollation[i]) &&
			 index->rd_indcollation[i] != collation) ||
			!strata_index_can_ask(index, (AttrNumber) (i + 1), opno) ||
			!(attno == 0 ? is_expression(columns, i, node) :
			  var != NULL && var->varattno == attno))
			continue;
		get_op_opfamily_properties(opno, family, false, &match->strategy,
								   &lefttype, &match->righttype);
		match->column = (AttrNumber) (i + 1);
		match->function = get_opcode(opno);
		match->collation = index->rd_indcollation[i];
		return OidIsValid(match->function);
	}
	return false;
}

/* See scan_source_private.h. */
bool
strata_index_match(Relation index, Index varno, const Expr *clause,
				   StrataIndexMatch *match)
{
	IndexColumns columns = {.index = index,.varno = varno};
	List	   *args;
	Oid			opno;
	Oid			collation;

	memset(match, 0, sizeof(*match));
	if (IsA(clause, OpExpr))
	{
		args = ((const OpExpr *) clause)->args;
		opno = ((const OpExpr *) clause)->opno;
		collation = ((const OpExpr *) clause)->inputcollid;
	}
	else if (IsA(clause, ScalarArrayOpExpr) &&
			 ((const ScalarArrayOpExpr *) clause)->useOr)
	{
		args = ((const ScalarArrayOpExpr *) clause)->args;
		opno = ((const ScalarArrayOpExpr *) clause)->opno;
		collation = ((const ScalarArrayOpExpr *) clause)->inputcollid;
		match->is_array = true;
	}
	else
		return false;
	if (list_length(args) != 2)
		return false;
	match->value = lsecond(args);
	if (!match_index_column(&columns, linitial(args), opno, collation, match))
	{
		opno = get_commutator(opno);
		match->value = linitial(args);
		if (match->is_array || !OidIsValid(opno) ||
			!match_index_column(&columns, lsecond(args), opno, collation,
								match))
			return false;
	}
	return !depends_on_row((Node *) match->value, &varno) &&
		!contain_volatile_functions((Node *) match->value);
}

/* See scan_source_private.h. */
void
strata_index_match_key(const StrataIndexMatch *match, Datum value, ScanKey key)
{
	ScanKeyEntryInitialize(key, 0, match->column,
						   (StrategyNumber) match->strategy, match->righttype,
						   match->collation, match->function, value);
}

/* See scan_source_private.h. */
Datum *
strata_index_match_values(const StrataIndexMatch *match, Datum value, int *n)
{
	Datum	   *values;
	bool	   *nulls;
	ArrayType  *array;
	int16		typlen;
	bool		typbyval;
	char		typalign;
	int			found = 0;

	if (!match->is_array)
	{
		values = palloc(sizeof(Datum));
		values[0] = value;
		*n = 1;
		return values;
	}
	array = DatumGetArrayTypeP(value);
	get_typlenbyvalalign(ARR_ELEMTYPE(array), &typlen, &typbyval, &typalign);
	deconstruct_array(array, ARR_ELEMTYPE(array), typlen, typbyval, typalign,
					  &values, &nulls, n);
	for (int i = 0; i < *n; i++)
		if (!nulls[i])
			values[found++] = values[i];
	*n = found;
	return values;
}
