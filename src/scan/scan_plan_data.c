/*-------------------------------------------------------------------------
 *
 * scan_plan_data.c
 *	  StrataScanInfo in paths and plans: the only file that knows how it lies
 *	  in custom_private.
 *
 * A path has the struct itself: the planner neither copies nor prints it, but
 * for the flat copy of a CustomPath that a join by partitions makes, which
 * shares it.  A plan is copied, stored and sent to workers, so there it is a
 * list of nodes:
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
 *	7	OidList		access by indexes of R: each, and its column
 *
 * src/scan/scan_plan_data.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_plan_private.h"

/* See scan_plan_private.h. */
void
strata_scan_path_set_info(CustomPath *path, StrataScanInfo *info)
{
	path->custom_private = list_make1(info);
}

/* See scan_plan_private.h. */
StrataScanInfo *
strata_scan_path_info(const CustomPath *path)
{
	return linitial(path->custom_private);
}

/* See scan_plan_private.h. */
void
strata_scan_plan_write(CustomScan *cscan, const StrataScanInfo *info)
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
	result = lappend(result,
					 makeInteger((int) Min(info->heap_pages, INT_MAX)));
	cscan->custom_private =
		lappend(result, list_copy(info->indexes));
}

/* See scan_plan_private.h. */
void
strata_scan_plan_read(const CustomScan *cscan, StrataScanInfo *info)
{
	List	   *list = cscan->custom_private;
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
	info->indexes = list_nth(list, 7);
	info->nquals = list_length(promotable);
	info->promotable = palloc0(sizeof(bool) * Max(info->nquals, 1));
	i = 0;
	foreach(lc, promotable)
		info->promotable[i++] = lfirst_int(lc) != 0;
}
