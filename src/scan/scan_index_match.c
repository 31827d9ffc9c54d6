/*-------------------------------------------------------------------------
 *
 * scan_index_match.c
 *	  What a condition asks of an index by its operator classes.
 *
 * "column op value" (either way round), or = ANY of an array, with an operator
 * of the index column's family, the index's collation, and a value that is the
 * same for all rows.
 *
 * src/scan/scan_index_match.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "scan/scan_source_private.h"
#include "scan/scan_vector.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
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

/* The relation's column that the expression is, or 0. */
static AttrNumber
compared_column(Node *node, Index varno)
{
	Var		   *var = strata_match_column(node, varno);

	return var != NULL ? var->varattno : 0;
}

/* Is the operator one of an index column's family?  Then the rest of *match. */
static bool
match_index_column(Relation index, AttrNumber attno, Oid opno, Oid collation,
				   StrataIndexMatch *match)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		Oid			family = index->rd_opfamily[i];
		Oid			lefttype;

		if (index->rd_index->indkey.values[i] != attno ||
			!op_in_opfamily(opno, family) ||
			(OidIsValid(index->rd_indcollation[i]) &&
			 index->rd_indcollation[i] != collation))
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
	List	   *args;
	Oid			opno;
	Oid			collation;
	AttrNumber	attno;

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
	attno = compared_column(linitial(args), varno);
	match->value = lsecond(args);
	if (attno == 0 && !match->is_array)
	{
		attno = compared_column(lsecond(args), varno);
		match->value = linitial(args);
		opno = get_commutator(opno);
	}
	return attno > 0 && OidIsValid(opno) &&
		match_index_column(index, attno, opno, collation, match) &&
		!depends_on_row((Node *) match->value, &varno) &&
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
