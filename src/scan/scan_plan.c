/*-------------------------------------------------------------------------
 *
 * scan_plan.c
 *	  Path to plan.
 *
 * src/scan/scan_plan.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_plan_private.h"

#include "optimizer/restrictinfo.h"

/*
 * Make the plan.  clauses is in the order of execution; pseudoconstant ones
 * are left out: PostgreSQL puts a gating Result with them on top of us, and on
 * top of our child too, where it is taken off again.
 */
static Plan *
plan_custom_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
				 List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	StrataScanInfo info = *strata_scan_path_info(path);
	ListCell   *lc;

	info.nquals = 0;
	info.promotable = palloc0(sizeof(bool) * Max(list_length(clauses), 1));
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (rinfo->pseudoconstant)
			continue;
		cscan->scan.plan.qual = lappend(cscan->scan.plan.qual, rinfo->clause);
		info.promotable[info.nquals++] =
			restriction_is_securely_promotable(rinfo, rel);
	}
	if (custom_plans != NIL)
	{
		Plan	   *child = linitial(custom_plans);

		while (IsA(child, Result) && outerPlan(child) != NULL)
			child = outerPlan(child);
		cscan->custom_plans = list_make1(child);
	}
	Assert(info.has_child == (cscan->custom_plans !=
							  NIL));	/* scan:R3: the row store is read once */
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.scanrelid = rel->relid;
	cscan->flags = path->flags;
	strata_scan_plan_write(cscan, &info);
	cscan->methods = &strata_scan_methods;
	return &cscan->scan.plan;
}

const CustomPathMethods strata_path_methods = {
	.CustomName = "StrataScan",
	.PlanCustomPath = plan_custom_path,
};
