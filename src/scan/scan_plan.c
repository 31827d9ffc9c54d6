/*-------------------------------------------------------------------------
 *
 * scan_plan.c
 *	  Path to plan, and the list in which a plan carries the path's decisions.
 *
 * custom_private of a plan:
 *	0	Integer		StrataAccess
 *	1	String		layout that the access is about
 *	2	IntList		sort keys: attno, desc, nulls first, for each
 *	3	Integer		1: the row store is read by a child plan; 2: ordered, and
 *					the access gives batches in the order of the keys; 4: the
 *					best first; 8: the widest batch of a segment is asked for
 *	4	IntList		per qual, 1 when it may be tried before the quals left of
 *					it (security)
 *	5	String		why an aggregation above is not vectorised; empty: nothing
 *					to say
 *	6	Integer		pages of the row store when planned, at most INT_MAX
 *
 * src/scan/scan_plan.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"

#include "nodes/makefuncs.h"
#include "optimizer/restrictinfo.h"

List *
strata_scan_info_serialize(const StrataScanInfo *info)
{
	List	   *keys = NIL;
	List	   *promotable = NIL;
	List	   *result;

	for (int i = 0; i < info->nkeys; i++)
	{
		keys = lappend_int(keys, info->keys[i].attno);
		keys = lappend_int(keys, info->keys[i].desc);
		keys = lappend_int(keys, info->keys[i].nulls_first);
	}
	for (int i = 0; i < info->nquals; i++)
		promotable = lappend_int(promotable, info->promotable[i]);
	result = list_make5(makeInteger(info->access),
						makeString(pstrdup(info->layout)), keys,
						makeInteger((info->has_child ? 1 : 0) |
									(info->incremental ? 2 : 0) |
									(info->best_first ? 4 : 0) |
									(info->by_span ? 8 : 0)),
						promotable);
	result = lappend(result,
					 makeString(pstrdup(info->note != NULL ? info->note :
										"")));
	return lappend(result, makeInteger((int) Min(info->heap_pages, INT_MAX)));
}

/* Memory: the current context. */
void
strata_scan_info_parse(List *list, StrataScanInfo *info)
{
	List	   *keys = lthird(list);
	List	   *promotable = list_nth(list, 4);
	ListCell   *lc;
	int			i = 0;

	memset(info, 0, sizeof(*info));
	info->access = (StrataAccess) intVal(linitial(list));
	info->layout = pstrdup(strVal(lsecond(list)));
	info->nkeys = list_length(keys) / 3;
	info->keys = palloc0(sizeof(StrataOrderKey) * Max(info->nkeys, 1));
	for (i = 0; i < info->nkeys; i++)
	{
		info->keys[i].attno = (AttrNumber) list_nth_int(keys, i * 3);
		info->keys[i].desc = list_nth_int(keys, i * 3 + 1) != 0;
		info->keys[i].nulls_first = list_nth_int(keys, i * 3 + 2) != 0;
	}
	info->has_child = (intVal(list_nth(list, 3)) & 1) != 0;
	info->incremental = (intVal(list_nth(list, 3)) & 2) != 0;
	info->best_first = (intVal(list_nth(list, 3)) & 4) != 0;
	info->by_span = (intVal(list_nth(list, 3)) & 8) != 0;
	info->note = pstrdup(strVal(list_nth(list, 5)));
	info->heap_pages = (BlockNumber) intVal(list_nth(list, 6));
	info->nquals = list_length(promotable);
	info->promotable = palloc0(sizeof(bool) * Max(info->nquals, 1));
	i = 0;
	foreach(lc, promotable)
		info->promotable[i++] = lfirst_int(lc) != 0;
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
	cscan->custom_private = strata_scan_info_serialize(&info);
	cscan->methods = &strata_scan_methods;
	return &cscan->scan.plan;
}

const CustomPathMethods strata_path_methods = {
	.CustomName = "StrataScan",
	.PlanCustomPath = plan_custom_path,
};
