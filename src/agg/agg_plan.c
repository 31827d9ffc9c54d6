/*-------------------------------------------------------------------------
 *
 * agg_plan.c
 *	  Path to plan.
 *
 * The plan: custom_scan_tlist has the keys, then the aggregates, which makes
 * PostgreSQL turn them into columns of our scan tuple wherever the target and
 * HAVING mention them.  The plan's data has keys and aggregates again, as what
 * we evaluate, with references to the child's result; PostgreSQL must not
 * touch these (it would find the keys in our own scan tuple).  What it has to
 * know of them, the parameters, stands in custom_exprs.
 *
 * src/agg/agg_plan.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_kernel_private.h"
#include "agg/agg_plan_private.h"
#include "agg/agg_vector_private.h"

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

/*
 * A row that is picked shows its own keys, not those that equal them and stand
 * for the group: the latter are what no expression of the query is.
 */
static void
hide_keys(List *exprs, const List *eqops)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		Expr	   *key = lfirst(lc);

		if (OidIsValid(list_nth_oid(eqops, foreach_current_index(lc))))
			lfirst(lc) = makeRelabelType(key, exprType((Node *) key), -1,
										 InvalidOid, COERCE_IMPLICIT_CAST);
	}
}

/* Columns of the scan tuple. */
static List *
make_scan_tlist(const AggPlanData *data)
{
	List	   *exprs = list_copy(data->outputs != NIL ? data->outputs :
								  data->keys);
	ListCell   *lc;

	if (data->stage == AGG_STAGE_BELOW)
		foreach(lc, exprs)
			lfirst(lc) = strata_agg_column_below(lfirst(lc));
	else if (data->ranked)
		hide_keys(exprs, data->eqops);
	exprs = list_concat(exprs, data->stage == AGG_STAGE_BELOW ?
						list_make1(strata_agg_partial_column()) :
						data->aggrefs);
	exprs = list_concat(exprs, data->picks);
	exprs = list_concat(exprs, data->groupings);
	return strata_custom_tlist(exprs);
}

/*
 * PlanCustomPath: expressions of the relation's columns become those of the
 * child's result.
 */
static Plan *
plan_agg_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	const AggPlanData *of_path = strata_agg_path_data(path);
	List	   *inputs = of_path->inputs;
	AggPlanData data = *of_path;
	ListCell   *lc;

	Assert(!contain_volatile_functions((Node *) of_path->keys) &&
		   !contain_volatile_functions((Node *) of_path->aggrefs)); /* agg:G6 */
	Assert(!contain_subplans((Node *) of_path->keys) &&
		   !contain_subplans((Node *) of_path->aggrefs));	/* agg:G6 */
	data.keys = (List *)
		strata_agg_refer_to_child((Node *) data.keys,
								  data.stage == AGG_STAGE_JOINED ?
								  data.joined : inputs);
	data.aggrefs = NIL;
	foreach(lc, of_path->aggrefs)
	{
		Node	   *aggref = lfirst(lc);

		/* what others take in comes as bytes */
		aggref = strata_agg_refer_to_child(aggref,
										   data.stage == AGG_STAGE_JOINED &&
										   strata_agg_is_distinct((Aggref *) aggref) ?
										   data.joined : inputs);
		data.aggrefs = lappend(data.aggrefs, aggref);
	}
	data.picks =
		(List *) strata_agg_refer_to_child((Node *) data.picks, inputs);
	data.ranks =
		(List *) strata_agg_refer_to_child((Node *) data.ranks, inputs);
	data.by = (Expr *) strata_agg_refer_to_child((Node *) data.by, inputs);
	data.groupings = strata_agg_sets_groupings(root, data.groupings);
	fix_opfuncids((Node *) data.keys);
	fix_opfuncids((Node *) data.aggrefs);
	fix_opfuncids((Node *) data.ranks);
	collect_params((Node *) data.keys, &cscan->custom_exprs);
	collect_params((Node *) data.aggrefs, &cscan->custom_exprs);
	collect_params((Node *) data.ranks, &cscan->custom_exprs);
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = data.having;
	cscan->scan.scanrelid = 0;
	cscan->flags = path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_scan_tlist = data.stage == AGG_STAGE_PARTIAL ?
		strata_agg_partial_tlist() :
		make_scan_tlist(of_path);
	strata_agg_plan_write(cscan, &data);
	cscan->methods = &strata_agg_scan_methods;
	return &cscan->scan.plan;
}

const CustomPathMethods strata_agg_path_methods = {
	.CustomName = "StrataAgg",
	.PlanCustomPath = plan_agg_path,
};
