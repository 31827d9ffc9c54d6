/*-------------------------------------------------------------------------
 *
 * top_plan_data.c
 *	  Path to plan, and what either carries: the only file that knows how it
 *	  lies in custom_private.
 *
 * custom_scan_tlist has the columns that the child returns, so PostgreSQL
 * makes all expressions refer to them: the target, and custom_exprs, which has
 * the keys and then LIMIT and OFFSET.
 *
 * src/top/top_plan_data.c
 *-------------------------------------------------------------------------
 */
#include "top/top_private.h"

#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"

/* What is where in a path's private list. */
enum
{
	PATH_INPUTS,
	PATH_KEYS,
	PATH_CLAUSES,
	PATH_ORDER,					/* IntList: ordered, reverse, ties */
	PATH_LIMITS,				/* LIMIT, and OFFSET if there is one; of a
								 * StrataSort NIL */
	PATH_DISTANCE,				/* column and value; or NIL */
	PATH_COMMUTED				/* IntList of one */
};

/* And in a plan's. */
enum
{
	PLAN_ORDER,					/* IntList: ordered, reverse, ties */
	PLAN_INPUTS,				/* IntList: column of each key */
	PLAN_SORTOPS,				/* OidList */
	PLAN_COLLATIONS,			/* OidList */
	PLAN_NULLS_FIRST,			/* IntList */
	PLAN_DISTANCE,				/* IntList: input of the column, commuted; or
								 * NIL */
	PLAN_NINPUTS				/* IntList of one */
};

/* See top_private.h. */
void
strata_top_path_set_data(CustomPath *path, const TopShape *shape)
{
	const StrataTopDistancePlan *distance = &shape->distance;

	Assert(list_length(shape->keys) ==
		   list_length(shape->clauses));	/* top:N5 */
	path->custom_private =
		list_make5(shape->inputs, shape->keys, shape->clauses,
				   list_make3_int(shape->ordered,
								  shape->ordered && shape->desc, shape->ties),
				   shape->limits);
	path->custom_private =
		lappend(path->custom_private, distance->expr == NULL ? NIL :
				list_make2(distance->column, distance->value));
	path->custom_private = lappend(path->custom_private,
								   list_make1_int(distance->commuted));
}

/* The number of a column among those of a row, from 1. */
static int
input_number(List *columns, const void *column)
{
	ListCell   *lc;

	foreach(lc, columns)
	{
		if (equal(lfirst(lc), column))
			return foreach_current_index(lc) + 1;
	}
	elog(ERROR, "a key is not among the columns of a sort");
	return 0;
}

/* Keys that are not columns; a distance is the first. */
static List *
computed_keys(List *keys)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, keys)
	{
		if (!IsA(lfirst(lc), Var))
			result = list_append_unique(result, lfirst(lc));
	}
	return result;
}

/* A plan's private list. */
static List *
write_keys(List *columns, List *keys, List *clauses, List *order)
{
	List	   *numbers = NIL;
	List	   *sortops = NIL;
	List	   *collations = NIL;
	List	   *nulls_first = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	forboth(lc, keys, lc2, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc2);

		numbers = lappend_int(numbers, input_number(columns, lfirst(lc)));
		sortops = lappend_oid(sortops, clause->sortop);
		collations = lappend_oid(collations, exprCollation(lfirst(lc)));
		nulls_first = lappend_int(nulls_first, clause->nulls_first);
	}
	return list_make5(order, numbers, sortops, collations, nulls_first);
}

/* PlanCustomPath. */
static Plan *
plan_top_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *inputs = list_nth(path->custom_private, PATH_INPUTS);
	List	   *keys = list_nth(path->custom_private, PATH_KEYS);
	List	   *distance = list_nth(path->custom_private, PATH_DISTANCE);
	List	   *limits = list_nth(path->custom_private, PATH_LIMITS);
	List	   *columns = list_concat_copy(inputs, computed_keys(keys));

	cscan->custom_scan_tlist = strata_custom_tlist(columns);
	cscan->custom_exprs = copyObject(keys);
	/* behind the keys: what the plan has to know of as its own parameters */
	if (distance != NIL)
		cscan->custom_exprs = lappend(cscan->custom_exprs,
									  copyObject(lsecond(distance)));
	cscan->custom_exprs = list_concat(cscan->custom_exprs,
									  copyObject(limits));
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.scanrelid = 0;
	cscan->flags = path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_private = write_keys(columns, keys,
									   list_nth(path->custom_private,
												PATH_CLAUSES),
									   list_nth(path->custom_private,
												PATH_ORDER));
	cscan->custom_private =
		lappend(cscan->custom_private, distance == NIL ? NIL :
				list_make2_int(input_number(inputs, linitial(distance)),
							   linitial_int(list_nth(path->custom_private,
													 PATH_COMMUTED))));
	cscan->custom_private = lappend(cscan->custom_private,
									list_make1_int(list_length(inputs)));
	cscan->methods = path->methods == &strata_sort_path_methods ?
		&strata_sort_scan_methods : &strata_top_scan_methods;
	return &cscan->scan.plan;
}

const CustomPathMethods strata_top_path_methods = {
	.CustomName = "StrataTop",
	.PlanCustomPath = plan_top_path,
};

const CustomPathMethods strata_sort_path_methods = {
	.CustomName = "StrataSort",
	.PlanCustomPath = plan_top_path,
};

/* See top_private.h.  Memory: the current context. */
void
strata_top_plan_read(StrataTopState *top)
{
	const CustomScan *cscan = (CustomScan *) top->css.ss.ps.plan;
	const List *list = cscan->custom_private;
	const List *order = list_nth(list, PLAN_ORDER);
	const List *inputs = list_nth(list, PLAN_INPUTS);
	const List *distance = list_nth(list, PLAN_DISTANCE);
	int			next;

	top->ordered = linitial_int(order) != 0;
	top->reverse = lsecond_int(order) != 0;
	top->ties = lthird_int(order) != 0;
	top->nkeys = list_length(inputs);
	top->keys = palloc0(sizeof(TopKey) * top->nkeys);
	for (int k = 0; k < top->nkeys; k++)
	{
		TopKeyPlan *key = &top->keys[k].plan;

		key->input = (AttrNumber) list_nth_int(inputs, k);
		key->sortop = list_nth_oid(list_nth(list, PLAN_SORTOPS), k);
		key->collation = list_nth_oid(list_nth(list, PLAN_COLLATIONS), k);
		key->nulls_first = list_nth_int(list_nth(list, PLAN_NULLS_FIRST), k);
	}
	top->ninputs = linitial_int(list_nth(list, PLAN_NINPUTS));
	next = top->nkeys;
	if (distance != NIL)
	{
		const TargetEntry *entry = list_nth(cscan->custom_scan_tlist,
											top->ninputs);

		top->distance =
			strata_top_distance_create(top,
									   (AttrNumber) linitial_int(distance),
									   (OpExpr *) entry->expr,
									   lsecond_int(distance) != 0,
									   list_nth(cscan->custom_exprs, next++));
	}
	if (top->all)
		return;
	top->limit = ExecInitExpr(list_nth(cscan->custom_exprs, next++),
							  &top->css.ss.ps);
	if (list_length(cscan->custom_exprs) > next)
		top->offset = ExecInitExpr(list_nth(cscan->custom_exprs, next),
								   &top->css.ss.ps);
}
