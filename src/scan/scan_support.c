/*-------------------------------------------------------------------------
 *
 * scan_support.c
 *	  Conditions that follow from a function's call, and that an index can be
 *	  asked for.
 *
 * A function may have a support function that knows such conditions:
 * ST_Intersects(position, area) is true only where position && area is.
 * PostgreSQL asks it when it plans an index scan; here it is asked about the
 * indexes of R that lead to batches.  What it says is added to the scan's
 * quals, before the call: so it finds batches as any condition does, and rows
 * are tried by the cheaper one first.
 *
 * src/scan/scan_support.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "scan/scan_plan_private.h"
#include "scan/scan_source_private.h"

#include "access/genam.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

/*
 * What a support function may look at of an index; the access method it finds
 * by the operator family, as PostgreSQL's own do.
 */
static IndexOptInfo *
index_for_support(RelOptInfo *rel, Relation index)
{
	IndexOptInfo *info = makeNode(IndexOptInfo);
	int			n = index->rd_index->indnkeyatts;

	info->indexoid = RelationGetRelid(index);
	info->reltablespace = index->rd_rel->reltablespace;
	info->rel = rel;
	info->ncolumns = index->rd_index->indnatts;
	info->nkeycolumns = n;
	info->indexkeys = palloc_array(int, info->ncolumns);
	for (int i = 0; i < info->ncolumns; i++)
		info->indexkeys[i] = index->rd_index->indkey.values[i];
	info->indexcollations = index->rd_indcollation;
	info->opfamily = index->rd_opfamily;
	info->opcintype = index->rd_opcintype;
	info->indexprs = RelationGetIndexExpressions(index);
	return info;
}

/* The conditions on one argument of a call by one column of an index. */
static List *
ask_support(PlannerInfo *root, IndexOptInfo *index, FuncExpr *call,
			Oid support, int arg, int column)
{
	SupportRequestIndexCondition request = {
		.type = T_SupportRequestIndexCondition,
		.root = root,
		.funcid = call->funcid,
		.node = (Node *) call,
		.indexarg = arg,
		.index = index,
		.indexcol = column,
		.opfamily = index->opfamily[column],
		.indexcollation = index->indexcollations[column],
		.lossy = true
	};

	return (List *)
		DatumGetPointer(OidFunctionCall1(support, PointerGetDatum(&request)));
}

/* Conditions that follow from a call, each one that the index answers. */
static List *
call_conditions(PlannerInfo *root, RelOptInfo *rel, Relation index,
				FuncExpr *call, Oid support)
{
	IndexOptInfo *info = index_for_support(rel, index);
	List	   *found = NIL;
	int			arg = 0;
	ListCell   *lc;

	foreach(lc, call->args)
	{
		for (int column = 0; column < info->nkeycolumns; column++)
		{
			List	   *conditions;
			ListCell   *lc2;

			if (!strata_index_is_column(index, rel->relid, column, lfirst(lc)))
				continue;
			conditions = ask_support(root, info, call, support, arg, column);
			foreach(lc2, conditions)
			{
				Node	   *condition = eval_const_expressions(root,
															   lfirst(lc2));
				StrataIndexMatch match;

				if (strata_index_match(index, rel->relid, (Expr *) condition,
									   &match))
					found = lappend(found, condition);
			}
		}
		arg++;
	}
	return found;
}

/* See scan_plan_private.h. */
List *
strata_scan_support(PlannerInfo *root, RelOptInfo *rel, Relation index,
					Expr *clause)
{
	FuncExpr   *call = (FuncExpr *) clause;
	Oid			support;

	if (!IsA(clause, FuncExpr))
		return NIL;
	support = get_func_support(call->funcid);
	return OidIsValid(support) ?
		call_conditions(root, rel, index, call, support) : NIL;
}

/* See scan_plan_private.h. */
List *
strata_scan_support_all(PlannerInfo *root, RelOptInfo *rel,
						const List *indexes, Expr *clause)
{
	List	   *found = NIL;

	if (!IsA(clause, FuncExpr))
		return NIL;
	for (int i = 0; i + 1 < list_length(indexes); i += 2)
	{
		Relation	index;

		/* of look-ups by a column's hashes: these are of equality */
		if (OidIsValid(list_nth_oid(indexes, i + 1)))
			continue;
		index = index_open(list_nth_oid(indexes, i), AccessShareLock);
		found = list_concat(found,
							strata_scan_support(root, rel, index, clause));
		index_close(index, NoLock);
	}
	return found;
}
