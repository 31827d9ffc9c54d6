/*-------------------------------------------------------------------------
 *
 * hook_planner.c
 *	  Offers StrataScan for tables with compressed rows.
 *
 * src/hook/hook_planner.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "hook/hook.h"
#include "scan/scan.h"

#include "optimizer/paths.h"

static set_rel_pathlist_hook_type previous_hook = NULL;

static void
set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	strata_scan_set_rel_pathlist(root, rel, rti, rte);
}

void
strata_hook_planner_init(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = set_rel_pathlist;
}
