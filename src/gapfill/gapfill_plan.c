/*-------------------------------------------------------------------------
 *
 * gapfill_plan.c
 *	  The node of the middle level: path, and plan.
 *
 * The path's child is the subquery, sorted.  The plan's scan tuple has the
 * child's columns first, then the bucket to show, then one column for each
 * locf or interpolate.  custom_scan_tlist describes it with the calls of our
 * functions, so that PostgreSQL finds them in the target list and refers to
 * our columns instead.
 *
 * custom_exprs:	(width, zone or NULL, start, finish), then the arguments of
 *					each locf and interpolate
 *
 * src/gapfill/gapfill_plan.c
 *-------------------------------------------------------------------------
 */
#include "gapfill/gapfill_private.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

/* Rows a query may be expected to have per group, when nothing is known. */
#define DEFAULT_BUCKETS 100

/* The call of time_bucket_gapfill in a target list that our rewriting made. */
static TargetEntry *
find_bucket(List *tlist)
{
	ListCell   *lc;

	foreach(lc, tlist)
	{
		if (strata_gapfill_node((Node *) lfirst_node(TargetEntry, lc)->expr) ==
			GAPFILL_BUCKET)
			return lfirst(lc);
	}
	return NULL;
}

/* Position of a column of the input in the child's target list. */
static int
find_column(List *tlist, AttrNumber attno)
{
	ListCell   *lc;

	foreach(lc, tlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;

		if (IsA(expr, Var) && ((Var *) expr)->varattno == attno &&
			((Var *) expr)->varlevelsup == 0)
			return foreach_current_index(lc);
	}
	elog(ERROR, "column %d of the gapfill input not found", attno);
	return -1;
}

/*-------------------------------------------------------------------------
 * Plan
 *-------------------------------------------------------------------------
 */

/* Columns of the groups, and of what hangs on them, in the child's result. */
static void
describe_groups(PlannerInfo *root, List *child_tlist, GapfillPlanData *data)
{
	Query	   *inner = planner_rt_fetch(1, root)->subquery;
	ListCell   *lc;

	foreach(lc, root->parse->sortClause)
	{
		SortGroupClause *sort = lfirst(lc);
		TargetEntry *tle = get_sortgroupclause_tle(sort,
												   root->parse->targetList);

		/* the last two are the bucket */
		if (foreach_current_index(lc) >=
			list_length(root->parse->sortClause) - 2)
			break;
		data->keys =
			lappend_int(data->keys,
						find_column(child_tlist,
									castNode(Var, tle->expr)->varattno));
		data->equals = lappend_oid(data->equals, sort->eqop);
	}
	foreach(lc, child_tlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;
		TargetEntry *source;

		if (!IsA(expr, Var))
			continue;
		source = list_nth(inner->targetList, ((Var *) expr)->varattno - 1);
		if (source->ressortgroupref == 0 && !IsA(source->expr, Aggref))
			data->kept = lappend_int(data->kept, foreach_current_index(lc));
	}
}

/*
 * PlanCustomPath: which column is what, with the arguments as the planner left
 * them.
 */
static Plan *
plan_gapfill_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
				  List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	Plan	   *child = linitial(custom_plans);
	TargetEntry *bucket = find_bucket(root->parse->targetList);
	GapfillPlanData data = {0};
	GapfillCall call;
	ListCell   *lc;

	/* the one that is planned, with its arguments in shape */
	bucket = find_bucket(root->processed_tlist);
	strata_gapfill_call_get((FuncExpr *) bucket->expr, &call);
	data.type = call.type;
	data.zoned = call.zone != NULL;
	data.bucket_column = find_column(child->targetlist,
									 castNode(Var, call.time)->varattno);
	describe_groups(root, child->targetlist, &data);

	foreach(lc, child->targetlist)
	{
		TargetEntry *tle = lfirst(lc);

		cscan->custom_scan_tlist =
			lappend(cscan->custom_scan_tlist,
					makeTargetEntry(copyObject(tle->expr), tle->resno, NULL,
									false));
	}
	cscan->custom_scan_tlist =
		lappend(cscan->custom_scan_tlist,
				makeTargetEntry(copyObject(bucket->expr),
								list_length(cscan->custom_scan_tlist) + 1,
								NULL, false));
	cscan->custom_exprs =
		list_make1(list_make4(call.width,
							  call.zone ? (Node *) call.zone :
							  (Node *) makeNullConst(TEXTOID, -1,
													 InvalidOid),
							  call.start, call.finish));
	foreach(lc, root->processed_tlist)
	{
		Expr	   *expr = lfirst_node(TargetEntry, lc)->expr;
		GapfillFunction function = strata_gapfill_node((Node *) expr);

		if (function != GAPFILL_LOCF && function != GAPFILL_INTERPOLATE)
			continue;
		data.fills = lappend_int(data.fills, function);
		cscan->custom_exprs = lappend(cscan->custom_exprs,
									  ((FuncExpr *) expr)->args);
		cscan->custom_scan_tlist =
			lappend(cscan->custom_scan_tlist,
					makeTargetEntry(copyObject(expr),
									list_length(cscan->custom_scan_tlist) + 1,
									NULL, false));
	}
	strata_gapfill_plan_write(cscan, &data);
	cscan->custom_plans = custom_plans;
	cscan->methods = &strata_gapfill_scan_methods;
	cscan->scan.plan.targetlist = tlist;
	return &cscan->scan.plan;
}

static const CustomPathMethods path_methods = {
	.CustomName = "StrataGapFill",
	.PlanCustomPath = plan_gapfill_path
};

/*-------------------------------------------------------------------------
 * Path
 *-------------------------------------------------------------------------
 */

/* How many buckets lie between two constants?  0 when that is not known. */
static double
count_gap_buckets(PlannerInfo *root, GapfillCall *call)
{
	Node	   *width = estimate_expression_value(root, (Node *) call->width);
	Node	   *start = estimate_expression_value(root, (Node *) call->start);
	Node	   *finish = estimate_expression_value(root,
												   (Node *) call->finish);
	double		length,
				range;

	if (!IsA(width, Const) || !IsA(start, Const) || !IsA(finish, Const) ||
		((Const *) width)->constisnull || ((Const *) start)->constisnull ||
		((Const *) finish)->constisnull)
		return 0;
	range = (double) strata_bucket_get(call->type,
									   ((Const *) finish)->constvalue) -
		(double) strata_bucket_get(call->type,
								   ((Const *) start)->constvalue);
	if (call->type == DATEOID || call->type == TIMESTAMPOID ||
		call->type == TIMESTAMPTZOID)
	{
		Interval   *interval;

		interval = DatumGetIntervalP(((Const *) width)->constvalue);
		length = interval->time +
			((double) interval->day + 30.0 * interval->month) *
			USECS_PER_DAY;
		if (call->type == DATEOID)
			length /= USECS_PER_DAY;
	}
	else
		length = (double) strata_bucket_get(call->type,
											((Const *) width)->constvalue);
	return length > 0 && range > 0 ? clamp_row_est(range / length) : 0;
}

static double
estimate_rows(PlannerInfo *root, GapfillCall *call, bool grouped, double input)
{
	double		buckets = count_gap_buckets(root, call);
	double		groups;

	if (buckets == 0)
		buckets = Min(input, DEFAULT_BUCKETS);
	groups = grouped ? clamp_row_est(input / buckets) : 1;
	return Max(input, clamp_row_est(groups * buckets));
}

/*
 * The subquery in the order of the groups and the bucket, with plain columns.
 */
static Path *
make_gapfill_input(PlannerInfo *root, RelOptInfo *final_rel, Path *path,
				   List *pathkeys, PathTarget *target)
{
	while (IsA(path, ProjectionPath))
		path = ((ProjectionPath *) path)->subpath;
	path = (Path *) create_projection_path(root, final_rel, path, target);
	if (!pathkeys_contained_in(pathkeys, path->pathkeys))
		path = (Path *) create_sort_path(root, final_rel, path, pathkeys,
										 -1.0);
	return path;
}

/* See gapfill.h. */
void
strata_gapfill_create_paths(PlannerInfo *root, RelOptInfo *final_rel)
{
	Query	   *query = root->parse;
	RelOptInfo *base;
	TargetEntry *bucket;
	GapfillCall call;
	PathTarget *target;
	List	   *vars = NIL;
	List	   *input_order,
			   *output_order;
	Path	   *best = NULL;
	CustomPath *custom;
	ListCell   *lc;

	if (root->simple_rel_array_size != 2 ||
		root->simple_rte_array[1] == NULL ||
		!strata_gapfill_is_input(root->simple_rte_array[1]) ||
		(bucket = find_bucket(root->processed_tlist)) == NULL)
		return;
	base = root->simple_rel_array[1];
	strata_gapfill_call_get((FuncExpr *) bucket->expr, &call);

	/* groups, bucket; and with the bucket as it is called above us */
	input_order = list_truncate(list_copy(query->sortClause),
								list_length(query->sortClause) - 1);
	output_order = list_delete_nth_cell(list_copy(query->sortClause),
										list_length(query->sortClause) - 2);
	input_order = make_pathkeys_for_sortclauses(root, input_order,
												root->processed_tlist);
	output_order = make_pathkeys_for_sortclauses(root, output_order,
												 root->processed_tlist);

	target = create_empty_pathtarget();
	vars = pull_var_clause((Node *) root->processed_tlist,
						   PVC_RECURSE_PLACEHOLDERS);
	add_new_columns_to_pathtarget(target, vars);
	set_pathtarget_cost_width(root, target);

	foreach(lc, base->pathlist)
	{
		Path	   *path = make_gapfill_input(root, final_rel, lfirst(lc),
											  input_order, target);

		if (path->param_info == NULL &&
			(best == NULL || path->total_cost < best->total_cost))
			best = path;
	}
	if (best == NULL)
		elog(ERROR, "no path for the gapfill input");

	custom = makeNode(CustomPath);
	custom->path.pathtype = T_CustomScan;
	custom->path.parent = final_rel;
	custom->path.pathtarget = create_pathtarget(root, root->processed_tlist);
	custom->path.pathkeys = output_order;
	custom->path.rows = estimate_rows(root, &call,
									  list_length(query->sortClause) > 2,
									  best->rows);
	custom->path.startup_cost = best->startup_cost;
	custom->path.total_cost = best->total_cost +
		custom->path.rows * cpu_tuple_cost;
	custom->custom_paths = list_make1(best);
	custom->methods = &path_methods;

	final_rel->pathlist = list_make1(custom);
	final_rel->partial_pathlist = NIL;
	final_rel->cheapest_startup_path = final_rel->cheapest_total_path = NULL;
}

/* See gapfill.h. */
void
strata_gapfill_init(void)
{
	RegisterCustomScanMethods(&strata_gapfill_scan_methods);
}
