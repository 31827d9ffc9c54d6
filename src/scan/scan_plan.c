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
 * Put the clauses into the plan; before a call what follows from it, where the
 * indexes that the plan has can be asked for that.
 */
static void
plan_quals(PlannerInfo *root, RelOptInfo *rel, CustomScan *cscan,
		   StrataScanInfo *info, List *clauses)
{
	List	   *quals = NIL;
	List	   *promotable = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		is_promotable = restriction_is_securely_promotable(rinfo,
																	   rel);

		if (rinfo->pseudoconstant)
			continue;
		quals = list_concat(quals,
							strata_scan_support_all(root, rel, info->indexes,
													rinfo->clause));
		quals = lappend(quals, rinfo->clause);
		while (list_length(promotable) < list_length(quals))
			promotable = lappend_int(promotable, is_promotable);
	}
	cscan->scan.plan.qual = quals;
	info->nquals = list_length(quals);
	info->promotable = palloc0(sizeof(bool) * Max(info->nquals, 1));
	for (int i = 0; i < info->nquals; i++)
		info->promotable[i] = list_nth_int(promotable, i) != 0;
}

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

	plan_quals(root, rel, cscan, &info, clauses);
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
