/*-------------------------------------------------------------------------
 *
 * agg_plan.c
 *	  Path to plan.
 *
 * A path's custom_private: inputs (Vars), keys, aggregates, HAVING, and of
 * AggShape picks, by, the numbers that tell what may end the reading early,
 * and eqops; then the stage, and the order of groups.
 *
 * The plan: custom_scan_tlist has the keys, then the aggregates, which makes
 * PostgreSQL turn them into columns of our scan tuple wherever the target and
 * HAVING mention them.  custom_private has keys and aggregates again, as what
 * we evaluate, with references to the child's result; PostgreSQL must not
 * touch these (it would find the keys in our own scan tuple).  What it has to
 * know of them, the parameters, stands in custom_exprs.
 *
 * custom_private:
 *	0	List		keys
 *	1	List		Aggrefs
 *	2	List		the Vars that the child returns, for EXPLAIN
 *	3	List		columns of the row that is picked (DISTINCT ON)
 *	4	Expr		... by the greatest or least of this
 *	5	IntList		AggStopKind, last, reverse, number of key, number of
 *					values, nulls matter
 *	6	OidList		of each key the operator for equality, or InvalidOid
 *	7	Integer		AggStage
 *	8	List		of each key of the order of groups: its number, operator,
 *					collation, nulls first
 *
 * src/agg/agg_plan.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

static bool
collect_params(Node *node, List **params)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
	{
		*params = list_append_unique(*params, node);
		return false;
	}
	return expression_tree_walker(node, collect_params, params);
}

/* Columns of the scan tuple. */
static List *
make_scan_tlist(List *keys, List *aggrefs, List *picks)
{
	List	   *tlist = NIL;
	ListCell   *lc;

	foreach(lc, list_concat(list_concat_copy(keys, aggrefs), picks))
		tlist = lappend(tlist,
						makeTargetEntry(copyObject(lfirst(lc)),
										(AttrNumber) (list_length(tlist) + 1),
										NULL, false));
	return tlist;
}

static Plan *
plan_custom_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
				 List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *inputs = linitial(path->custom_private);
	List	   *keys = lsecond(path->custom_private);
	List	   *aggrefs = lthird(path->custom_private);
	List	   *having = lfourth(path->custom_private);
	List	   *picks = list_nth(path->custom_private, 4);
	List	   *own_picks = (List *) strata_agg_refer_to_child((Node *) picks,
															   inputs);
	Node	   *by =
	strata_agg_refer_to_child(list_nth(path->custom_private, 5), inputs);
	List	   *own_keys = (List *) strata_agg_refer_to_child((Node *) keys, inputs);
	List	   *own_aggrefs =
	(List *) strata_agg_refer_to_child((Node *) aggrefs, inputs);

	Assert(!contain_volatile_functions((Node *) keys) &&
		   !contain_volatile_functions((Node *) aggrefs));	/* agg:G6 */
	Assert(!contain_subplans((Node *) keys) &&
		   !contain_subplans((Node *) aggrefs));	/* agg:G6 */
	fix_opfuncids((Node *) own_keys);
	fix_opfuncids((Node *) own_aggrefs);
	collect_params((Node *) own_keys, &cscan->custom_exprs);
	collect_params((Node *) own_aggrefs, &cscan->custom_exprs);
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = having;
	cscan->scan.scanrelid = 0;
	cscan->flags = path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_scan_tlist = intVal(list_nth(path->custom_private, 8)) ==
		AGG_STAGE_PARTIAL ?
		strata_agg_partial_tlist() :
		make_scan_tlist(keys, aggrefs, picks);
	cscan->custom_private = list_make5(own_keys, own_aggrefs, inputs,
									   own_picks, by);
	cscan->custom_private = lappend(cscan->custom_private,
									list_nth(path->custom_private, 6));
	cscan->custom_private = lappend(cscan->custom_private,
									list_nth(path->custom_private, 7));
	cscan->custom_private = lappend(cscan->custom_private,
									list_nth(path->custom_private, 8));
	cscan->custom_private = lappend(cscan->custom_private,
									list_nth(path->custom_private, 9));
	cscan->methods = &strata_agg_scan_methods;
	return &cscan->scan.plan;
}

const CustomPathMethods strata_agg_path_methods = {
	.CustomName = "StrataAgg",
	.PlanCustomPath = plan_custom_path,
};
