/*-------------------------------------------------------------------------
 *
 * agg_path.c
 *	  When a StrataAgg is offered, over which paths, and at what cost.
 *
 * The input is a StrataScan, or an Append of the partitions of a table of
 * which at least one is.  Either is given a target of its own, the columns
 * that are needed: what PostgreSQL's own Agg would have the scan compute
 * (keys, row by row) is computed by us.
 *
 * Over 600 lines: what a path costs and what it is offered for are one.
 *
 * src/agg/agg_path.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include <math.h>

#include "agg/agg.h"
#include "agg/agg_join_private.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

/* Per value, in units of cpu_operator_cost; measured against HashAggregate. */
#define COST_KERNEL_VALUE 0.02
#define COST_FUNCTION_VALUE 0.8
#define COST_EXPRESSION 0.5
#define COST_HELD_ROW 0.5
#define COST_KEY 0.1
/* ... and comparison, of ranks */
#define COST_COMPARE 0.5

/* See agg_plan_private.h. */
Path *
strata_agg_strip_projection(Path *path)
{
	while (IsA(path, ProjectionPath) &&
		   ((ProjectionPath *) path)->subpath->parent == path->parent)
		path = ((ProjectionPath *) path)->subpath;
	return path;
}

/* Does the path return all of these columns? */
static bool
has_columns(Path *path, List *exprs)
{
	ListCell   *lc;

	foreach(lc, exprs)
	{
		if (!list_member(path->pathtarget->exprs, lfirst(lc)))
			return false;
	}
	return true;
}

/* The relation's path with these columns as its target; NULL: it lacks one. */
static Path *
project(PlannerInfo *root, Path *path, List *exprs)
{
	PathTarget *target = create_empty_pathtarget();

	if (!has_columns(path, exprs))
		return NULL;
	add_new_columns_to_pathtarget(target, exprs);
	set_pathtarget_cost_width(root, target);
	return (Path *) create_projection_path(root, path->parent, path, target);
}

/*
 * If path is a StrataScan that gives vectors: add to *saved what of its cost
 * we do without.  Rows are never made; values are not decoded where summaries
 * are enough, and batches are not looked at where their number of rows is.
 */
static bool
add_saved(Path *path, const AggShape *shape, Cost *saved)
{
	StrataVectorCost cost;

	if (!strata_scan_path_gives_vectors(path, &cost))
		return false;
	*saved += cost.rows + (shape->summaries ? cost.decode : 0) +
		(shape->counts ? cost.look : 0);
	return true;
}

/*
 * Where the first rows are looked for, or one of each segment: the scan that
 * begins with them, if it is cheaper.  rel is what the shape is about, or a
 * parent of path's.
 */
static Path *
best_first(PlannerInfo *root, RelOptInfo *rel, Path *path,
		   const AggShape *shape)
{
	List	   *columns;
	Bitmapset  *keys = NULL;
	ListCell   *lc;

	/* nulls that come first may be in any batch */
	if (shape->stop.kind == AGG_STOP_NONE || shape->stop.nulls_matter)
		return path;
	columns = lcons(shape->by, shape->stop.kind == AGG_STOP_PICK ?
					list_copy(shape->keys) :
					NIL);
	if (path->parent != rel)
		columns = (List *)
			strata_adjust_appendrel_attrs_multilevel(root, (Node *) columns,
													 path->parent, rel);
	foreach(lc, columns)
	{
		if (!IsA(lfirst(lc), Var) || ((Var *) lfirst(lc))->varattno <= 0)
			return path;
		if (foreach_current_index(lc) > 0)
			keys = bms_add_member(keys, ((Var *) lfirst(lc))->varattno);
	}
	if (keys == NULL)
		return strata_scan_path_from_end(path,
										 ((Var *) linitial(columns))->varattno,
										 shape->stop.last, shape->share);
	return strata_scan_path_by_segment(path, keys,
									   ((Var *) linitial(columns))->varattno,
									   shape->stop.last);
}

/* The Append over the same children, with the inputs as its target. */
static Path *
project_append(PlannerInfo *root, RelOptInfo *rel, AppendPath *append,
			   const AggShape *shape, Cost *saved)
{
	List	   *inputs = shape->inputs;
	List	   *subpaths = NIL;
	bool		vectors = false;
	PathTarget *target = create_empty_pathtarget();
	AppendPath *result;
	ListCell   *lc;

	foreach(lc, append->subpaths)
	{
		Path	   *subpath = strata_agg_strip_projection(lfirst(lc));
		List	   *exprs;

		if (add_saved(subpath, shape, saved))
		{
			vectors = true;
			subpath = best_first(root, rel, subpath, shape);
		}
		exprs = (List *)
			strata_adjust_appendrel_attrs_multilevel(root, (Node *) inputs,
													 subpath->parent, rel);
		subpath = project(root, subpath, exprs);
		if (subpath == NULL)
			return NULL;
		subpaths = lappend(subpaths, subpath);
	}
	if (!vectors)
		return NULL;
	if (append->path.parallel_workers > 0)
		result = create_append_path(root, rel, NIL, subpaths, NIL, NULL,
									append->path.parallel_workers, false, -1);
	else
		result = create_append_path(root, rel, subpaths, NIL, NIL, NULL, 0,
									false, -1);
	/* what it takes to hand rows on; we read its children in its place */
	*saved += result->path.total_cost;
	foreach(lc, subpaths)
		* saved -= ((Path *) lfirst(lc))->total_cost;
	add_new_columns_to_pathtarget(target, inputs);
	result->path.pathtarget = set_pathtarget_cost_width(root, target);
	return &result->path;
}

/*
 * Can path be read by us?  Cheap, and true for StrataScans and what may hold
 * one.
 */
static bool
is_candidate(Path *path)
{
	if (path->param_info != NULL)
		return false;
	if (IsA(path, AppendPath))
		return !path->parallel_aware && ((AppendPath *) path)->subpaths != NIL;
	return strata_scan_path_gives_vectors(path, NULL);
}

static bool
has_vectors(Path *path)
{
	ListCell   *lc;

	if (!IsA(path, AppendPath))
		return true;
	foreach(lc, ((AppendPath *) path)->subpaths)
	{
		if (strata_scan_path_gives_vectors(
										   strata_agg_strip_projection(lfirst(lc)), NULL))
			return true;
	}
	return false;
}

/* The cheapest input that can be read by vectors; NULL: there is none. */
Path *
strata_agg_find_input(List *paths)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = strata_agg_strip_projection(lfirst(lc));

		if (is_candidate(path) && has_vectors(path) &&
			(best == NULL || path->total_cost < best->total_cost))
			best = path;
	}
	return best;
}

/*
 * Is the expression more than a column, or a function of time done in ranges?
 */
static bool
is_computed(Node *expr)
{
	while (IsA(expr, RelabelType))
		expr = (Node *) ((RelabelType *) expr)->arg;
	return !IsA(expr, Var) && !IsA(expr, Const) &&
		!strata_agg_is_bucket((Expr *) expr);
}

/*
 * Will batches, all of which are whole if none has lost rows, be taken by
 * their summaries?
 */
static bool
is_for_summaries(const RelOptInfo *rel, const AggShape *shape)
{
	ListCell   *lc;

	if (!strata_enable_summary_agg || shape->keys != NIL ||
		shape->picks != NIL || rel->baserestrictinfo != NIL)
		return false;
	foreach(lc, shape->aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);

		if (strata_agg_kernel_find(aggref)->summary == AGG_SUMMARY_NONE ||
			aggref->aggfilter != NULL || strata_agg_is_distinct(aggref) ||
			(aggref->args != NIL &&
			 is_computed((Node *) linitial_node(TargetEntry,
												aggref->args)->expr)))
			return false;
	}
	return true;
}

/* Is all that is wanted how many rows there are? */
static bool
is_count_of_rows(const AggShape *shape)
{
	ListCell   *lc;

	foreach(lc, shape->aggrefs)
	{
		if (!strata_agg_counts_rows(lfirst_node(Aggref, lc)))
			return false;
	}
	return true;
}

/* What a row costs us, beyond reading it. */
static Cost
row_cost(PlannerInfo *root, const AggShape *shape)
{
	Cost		cost = 0;
	ListCell   *lc;

	if (shape->summaries)
		return 0;
	foreach(lc, shape->keys)
	{
		cost += COST_KEY;
		if (is_computed(lfirst(lc)))
			cost += COST_EXPRESSION;
	}
	foreach(lc, shape->ranks)
		cost += COST_KEY + (is_computed(lfirst(lc)) ? COST_EXPRESSION : 0);
	foreach(lc, shape->aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);
		bool		kernel;

		kernel = strata_agg_kernel_find(aggref)->result != AGG_RESULT_GENERIC;
		cost += kernel ? COST_KERNEL_VALUE :
			strata_agg_is_held(aggref) ? COST_HELD_ROW : COST_FUNCTION_VALUE;
		if (aggref->args != NIL &&
			is_computed((Node *) linitial_node(TargetEntry,
											   aggref->args)->expr))
			cost += COST_EXPRESSION;
		if (aggref->aggfilter != NULL)
			cost += COST_EXPRESSION;
		if (strata_agg_is_distinct(aggref))
			cost += COST_KEY;
	}
	return cost * cpu_operator_cost;
}

/* Bytes of a group in the hash table. */
static double
group_size(const AggShape *shape)
{
	double		size;
	ListCell   *lc;

	size = sizeof(AggGroup) + 2 * sizeof(void *);
	foreach(lc, shape->aggrefs)
		size += strata_agg_cell_size(lfirst_node(Aggref, lc));
	foreach(lc, shape->keys)
		size += sizeof(Datum) +
		get_typavgwidth(exprType(lfirst(lc)), exprTypmod(lfirst(lc)));
	foreach(lc, shape->ranked ? shape->inputs : NIL)
		size += sizeof(Datum) +
		get_typavgwidth(exprType(lfirst(lc)), exprTypmod(lfirst(lc)));
	return size;
}

/* Writing groups out and reading them in again, when they outgrow memory. */
static Cost
spill_cost(const AggShape *shape, double ngroups)
{
	double		bytes = ngroups * group_size(shape);

	if (bytes <= get_hash_memory_limit())
		return 0;
	return 2 * seq_page_cost * bytes / BLCKSZ + 2 * cpu_tuple_cost * ngroups;
}

/* Sets of the values of aggregates with DISTINCT, and what they become. */
static Cost
distinct_cost(PlannerInfo *root, RelOptInfo *rel, const AggShape *shape,
			  double rows)
{
	Cost		cost = 0;
	ListCell   *lc;

	foreach(lc, shape->aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);
		AggShape	set = *shape;
		double		n;

		if (!strata_agg_is_distinct(aggref))
			continue;
		set.keys = lappend(list_copy(shape->keys),
						   linitial_node(TargetEntry, aggref->args)->expr);
		set.aggrefs = NIL;
		n = strata_agg_estimate_groups(root, rel, &set, rows);
		cost += spill_cost(&set, n) +
			n * COST_FUNCTION_VALUE * cpu_operator_cost;
	}
	return cost;
}

/* A path without costs. */
static CustomPath *
make_agg_path(RelOptInfo *grouped_rel, PathTarget *target, Path *child,
			  const AggShape *shape, List *having, AggStage stage)
{
	CustomPath *path = makeNode(CustomPath);
	AggPlanData data = {0};

	data.stage = stage;
	data.inputs = shape->inputs;
	data.keys = shape->keys;
	data.eqops = shape->eqops;
	if (stage == AGG_STAGE_WHOLE || !agg_stage_reads(stage))
	{
		data.outputs = shape->outputs;
		data.sets = shape->sets;
		data.groupings = shape->groupings;
	}
	data.aggrefs = shape->aggrefs;
	data.picks = shape->picks;
	data.ranked = shape->ranked;
	data.ranks = shape->ranks;
	data.rank_ops = shape->rank_ops;
	data.by = shape->by;
	data.stop = shape->stop;
	data.having = having;
	path->path.pathtype = T_CustomScan;
	path->path.parent = grouped_rel;
	path->path.pathtarget = target;
	path->path.parallel_safe = grouped_rel->consider_parallel &&
		child->parallel_safe;
	path->path.parallel_workers = child->parallel_workers;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(child);
	strata_agg_path_set_data(path, &data);
	path->methods = &strata_agg_path_methods;
	strata_path_copy_disabled(&path->path, child);
	return path;
}

/*
 * Costs of a path that takes its groups in until `startup`, and returns them.
 */
static void
cost_path(PlannerInfo *root, CustomPath *path, Cost startup, double ngroups,
		  List *having)
{
	PathTarget *target = path->path.pathtarget;
	QualCost	qual_cost = {0, 0};

	path->path.rows = ngroups;
	if (having != NIL)
	{
		cost_qual_eval(&qual_cost, having, root);
		path->path.rows = clamp_row_est(ngroups *
										clauselist_selectivity(root, having, 0,
															   JOIN_INNER,
															   NULL));
	}
	path->path.startup_cost = startup + qual_cost.startup +
		target->cost.startup;
	path->path.total_cost = path->path.startup_cost +
		ngroups * (cpu_tuple_cost + qual_cost.per_tuple) +
		path->path.rows * target->cost.per_tuple;
}

/*
 * What it costs to combine groups into those of other grouping sets; *ngroups
 * becomes the number of all.
 */
static Cost
sets_cost(PlannerInfo *root, const AggShape *shape, double *ngroups)
{
	double		finest = *ngroups;

	if (shape->sets == NIL)
		return 0;
	*ngroups = strata_agg_sets_estimate(root, shape, finest);
	return finest * list_length(shape->sets) * cpu_operator_cost *
		(list_length(shape->keys) * COST_KEY +
		 (1 + list_length(shape->aggrefs)) * COST_FUNCTION_VALUE);
}

/* A path that reads vectors and rows. */
static CustomPath *
make_reading_path(PlannerInfo *root, RelOptInfo *input_rel,
				  RelOptInfo *grouped_rel, PathTarget *target, Path *child,
				  const AggShape *shape, List *having, Cost saved,
				  AggStage stage)
{
	CustomPath *path = make_agg_path(grouped_rel, target, child, shape, having,
									 stage);
	double		rows = child->rows;
	double		ngroups = 1;
	Cost		sets = 0;

	if (shape->keys != NIL && stage == AGG_STAGE_PARTIAL)
	{
		ngroups = strata_agg_estimate_groups(root, input_rel, shape,
											 input_rel->rows);
		ngroups *= strata_agg_group_share(root, input_rel,
										  strata_agg_strip_projection(child),
										  shape, ngroups);
		ngroups = clamp_row_est(Min(ngroups, rows));
	}
	else if (shape->keys != NIL)
		ngroups = strata_agg_estimate_groups(root, input_rel, shape, rows);
	if (stage == AGG_STAGE_WHOLE)
		sets = sets_cost(root, shape, &ngroups);
	cost_path(root, path,
			  sets +
			  Max(child->total_cost - saved, child->startup_cost) +
			  rows * row_cost(root, shape) + spill_cost(shape, ngroups) +
			  (shape->has_distinct ?
			   distinct_cost(root, input_rel, shape, rows) : 0),
			  ngroups, having);
	return path;
}

/* Offer a path, and the same with its groups in the order that is wanted. */
void
strata_agg_offer(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
				 const AggShape *shape)
{
	CustomPath *sorted = makeNode(CustomPath);
	AggPlanData data = *strata_agg_path_data(path);
	List	   *pathkeys = strata_agg_order_plan(root, shape, &data.order);
	double		rows = Max(path->path.rows, 2.0);
	Cost		cost;

	*sorted = *path;
	add_path(rel, &path->path);
	if (pathkeys == NIL)
		return;
	/* numbers are compared, not values */
	cost = COST_COMPARE * cpu_operator_cost * rows * log(rows) / log(2.0);
	sorted->path.pathkeys = pathkeys;
	sorted->path.startup_cost += cost;
	sorted->path.total_cost += cost;
	strata_agg_path_set_data(sorted, &data);
	add_path(rel, &sorted->path);
}

/* Tell the scans why. */
static void
note_reason(List *paths, const char *reason)
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		Path	   *path = strata_agg_strip_projection(lfirst(lc));

		if (IsA(path, AppendPath))
			note_reason(((AppendPath *) path)->subpaths, reason);
		else
			strata_scan_path_note(path, reason);
	}
}

/* See agg_join_private.h. */
Path *
strata_agg_child_path(PlannerInfo *root, RelOptInfo *input_rel, Path *input,
					  const AggShape *shape, Cost *saved)
{
	*saved = 0;
	if (IsA(input, AppendPath))
		return project_append(root, input_rel, (AppendPath *) input, shape,
							  saved);
	if (!add_saved(input, shape, saved))
		return NULL;
	return project(root, best_first(root, input_rel, input, shape),
				   shape->inputs);
}

/* See agg_plan_private.h. */
CustomPath *
strata_agg_reading_path(PlannerInfo *root, RelOptInfo *rel,
						RelOptInfo *grouped_rel, PathTarget *target,
						Path *input, const AggShape *shape, AggStage stage)
{
	Cost		saved;
	Path	   *child = strata_agg_child_path(root, rel, input, shape, &saved);

	if (child == NULL)
		return NULL;
	return make_reading_path(root, rel, grouped_rel, target, child, shape,
							 NIL, saved, stage);
}

/* See agg_plan_private.h. */
CustomPath *
strata_agg_combining_path(PlannerInfo *root, RelOptInfo *grouped_rel,
						  Path *child, const AggShape *shape, List *having,
						  AggStage stage, double ngroups)
{
	CustomPath *path = make_agg_path(grouped_rel, grouped_rel->reltarget,
									 child, shape, having, stage);
	Cost		sets = sets_cost(root, shape, &ngroups);

	cost_path(root, path,
			  sets + child->total_cost + spill_cost(shape, ngroups) +
			  child->rows * (cpu_tuple_cost + list_length(shape->aggrefs) *
							 COST_FUNCTION_VALUE *
							 cpu_operator_cost),
			  ngroups, having);
	path->path.parallel_workers = 0;
	return path;
}

/* The cheapest input that we may look at for an upper relation; or NULL. */
static Path *
usable_input(RelOptInfo *input_rel)
{
	if (!strata_enable_vector_agg || input_rel->reloptkind != RELOPT_BASEREL ||
		input_rel->rtekind != RTE_RELATION || IS_DUMMY_REL(input_rel))
		return NULL;
	return strata_agg_find_input(input_rel->pathlist);
}

/*
 * Workers aggregate their share, and the leader combines.  Returns how many
 * workers that takes, no more than max_workers; 0: it cannot be.
 */
static int
add_path_for_workers(PlannerInfo *root, RelOptInfo *input_rel,
					 RelOptInfo *grouped_rel, const AggShape *shape,
					 List *having, int max_workers)
{
	Path	   *input;
	Path	   *child;
	CustomPath *path;
	double		ngroups = 1;
	Cost		saved;
	int			workers;

	input = strata_agg_partial_input(root, input_rel, max_workers);
	if (input == NULL || !is_candidate(input) || !has_vectors(input))
		return 0;
	workers = input->parallel_workers;
	if (workers > max_workers)
		return 0;
	child = strata_agg_child_path(root, input_rel, input, shape, &saved);
	if (child == NULL || !child->parallel_safe)
		return 0;
	path = make_reading_path(root, input_rel, grouped_rel,
							 grouped_rel->reltarget, child, shape, NIL, saved,
							 AGG_STAGE_PARTIAL);
	child = strata_agg_gather(root, grouped_rel, path);
	if (shape->keys != NIL)
		ngroups = strata_agg_estimate_groups(root, input_rel, shape,
											 input_rel->rows);
	path = strata_agg_combining_path(root, grouped_rel, child, shape, having,
									 AGG_STAGE_FINAL, ngroups);
	strata_agg_offer(root, grouped_rel, path, shape);
	return workers;
}

/*
 * For as many workers as there would be for a heap, half of them, and so on:
 * each costs what it takes to start it.
 */
static void
add_parallel_paths(PlannerInfo *root, RelOptInfo *input_rel,
				   RelOptInfo *grouped_rel, const AggShape *shape,
				   List *having)
{
	int			workers = max_parallel_workers_per_gather;

	if (!strata_agg_can_share(input_rel, grouped_rel, shape))
		return;
	while (workers > 0)
		workers = add_path_for_workers(root, input_rel, grouped_rel, shape,
									   having, workers) / 2;
}

/*
 * Above a join that gives vectors (true), or of aggregates that PostgreSQL
 * sorts the rows for: these are collected into columns, as those of any plan
 * that gives no vectors.
 */
static bool
create_paths_above_join(PlannerInfo *root, RelOptInfo *input_rel,
						RelOptInfo *grouped_rel, List *having)
{
	AggShape	shape;
	Path	   *child;
	Cost		saved;

	bool		by_vectors;

	if (!strata_enable_vector_agg || IS_DUMMY_REL(input_rel))
		return false;
	strata_agg_shape(root, input_rel, grouped_rel, having, &shape);
	if (shape.reason != NULL)
		return false;
	Assert(shape.stop.kind == AGG_STOP_NONE);	/* agg:G27 */
	child = strata_agg_join_child_path(root, input_rel, &shape, &saved);
	by_vectors = child != NULL;
	if (by_vectors)
		strata_agg_offer(root, grouped_rel,
						 make_reading_path(root, input_rel, grouped_rel,
										   grouped_rel->reltarget, child,
										   &shape, having, saved,
										   AGG_STAGE_WHOLE),
						 &shape);
	if (!strata_enable_join_aggregation ||
		(!shape.has_distinct && !shape.has_held) ||
		strata_agg_join_fact(root, input_rel, NIL) == NULL)
		return by_vectors;
	child = strata_agg_strip_projection(input_rel->cheapest_total_path);
	child = project(root, child, shape.inputs);
	if (child == NULL)
		return by_vectors;
	saved = -child->rows *
		(cpu_tuple_cost + list_length(shape.inputs) * cpu_operator_cost);
	strata_agg_offer(root, grouped_rel,
					 make_reading_path(root, input_rel, grouped_rel,
									   grouped_rel->reltarget, child, &shape,
									   having, saved, AGG_STAGE_WHOLE),
					 &shape);
	return by_vectors;
}

/* See agg.h. */
void
strata_agg_create_paths(PlannerInfo *root, RelOptInfo *input_rel,
						RelOptInfo *grouped_rel, void *extra)
{
	List	   *having = (List *) ((GroupPathExtraData *) extra)->havingQual;
	Path	   *input = usable_input(input_rel);
	Path	   *child;
	AggShape	shape;
	Cost		saved;

	if (input_rel->reloptkind == RELOPT_JOINREL)
		strata_agg_create_join_paths(root, input_rel, grouped_rel, having,
									 create_paths_above_join(root, input_rel,
															 grouped_rel,
															 having));
	if (input == NULL)
		return;
	strata_agg_shape(root, input_rel, grouped_rel, having, &shape);
	if (shape.reason != NULL)
	{
		note_reason(input_rel->pathlist, shape.reason);
		note_reason(input_rel->partial_pathlist, shape.reason);
		return;
	}
	if (shape.sets == NIL)
		strata_agg_stop_plan(root, input_rel, having != NIL, &shape);
	if (shape.stop.kind == AGG_STOP_TOP)
		shape.share = Min(shape.stop.top_n /
						  strata_agg_estimate_groups(root, input_rel,
													 &shape,
													 input_rel->rows),
						  1.0);
	shape.summaries = is_for_summaries(input_rel, &shape);
	shape.counts = shape.summaries && is_count_of_rows(&shape);
	child = strata_agg_child_path(root, input_rel, input, &shape, &saved);
	if (child == NULL)
		return;
	strata_agg_offer(root, grouped_rel,
					 make_reading_path(root, input_rel, grouped_rel,
									   grouped_rel->reltarget, child, &shape, having,
									   saved, AGG_STAGE_WHOLE),
					 &shape);
	add_parallel_paths(root, input_rel, grouped_rel, &shape, having);
}

/* See agg.h. */
void
strata_agg_create_distinct_paths(PlannerInfo *root, RelOptInfo *input_rel,
								 RelOptInfo *distinct_rel)
{
	PathTarget *target = root->upper_targets[UPPERREL_DISTINCT];
	Path	   *input = usable_input(input_rel);
	Path	   *child;
	AggShape	shape;
	Cost		saved;

	if (root->parse->groupClause != NIL ||
		root->parse->hasAggs || root->parse->groupingSets != NIL ||
		root->hasHavingQual || root->parse->hasWindowFuncs)
		return;
	if (input_rel->reloptkind == RELOPT_JOINREL)
		strata_agg_create_joined_distinct_paths(root, input_rel, distinct_rel);
	if (input == NULL)
		return;
	strata_agg_distinct_shape(root, input_rel, target, &shape);
	if (shape.reason != NULL)
	{
		note_reason(input_rel->pathlist, shape.reason);
		return;
	}
	if (shape.keys == NIL)
		return;
	strata_agg_stop_plan(root, input_rel, false, &shape);
	child = strata_agg_child_path(root, input_rel, input, &shape, &saved);
	if (child != NULL)
		strata_agg_offer(root, distinct_rel,
						 make_reading_path(root, input_rel, distinct_rel, target, child,
										   &shape, NIL, saved, AGG_STAGE_WHOLE),
						 &shape);
}
