/*-------------------------------------------------------------------------
 *
 * scan_join_path.c
 *	  What a hash join costs whose values prune the scans below it.
 *
 * PostgreSQL's own hash join of the same two relations is planned as if the
 * outer one were read in full, and loses against a nested loop that looks each
 * value up.  So another one is offered: the same join over a copy of the outer
 * path that costs, and returns, as much as is left when scan_join.c has done
 * its work.  The plan made of it is an ordinary hash join; whether batches are
 * pruned is decided when it runs.
 *
 * Columns that batches are cut by count, and those whose values an index leads
 * to: of others a value may be in any batch.
 *
 * src/scan/scan_join_path.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "scan/scan.h"
#include "scan/scan_join_private.h"
#include "scan/scan_plan_private.h"

#include <math.h>

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/selfuncs.h"

/* A join that leaves so much of the outer side is not worth another path. */
#define SHARE_THAT_MATTERS 0.8

/* Rows on a page of the row store, as all of them are read. */
#define ROWS_PER_PAGE 100

/* The key of a join that prunes most, as the planner sees it. */
typedef struct PruningKey
{
	Var		   *var;			/* of the outer relation */
	double		share;			/* of its values, those that the inner side
								 * has */
	double		wanted;			/* so many */
} PruningKey;

/* Of an unordered StrataScan what its path knows; NULL: it is none. */
static StrataScanInfo *
scan_info(Path *path)
{
	CustomPath *custom = (CustomPath *) path;
	StrataScanInfo *info;

	if (!IsA(path, CustomPath) || custom->methods != &strata_path_methods)
		return NULL;
	info = strata_scan_path_info(custom);
	return info->nkeys == 0 ? info : NULL;
}

/* The column of a child relation that var, of its parent, is; 0: none. */
static AttrNumber
child_attno(PlannerInfo *root, RelOptInfo *child, const Var *var)
{
	AppendRelInfo *appinfo;
	Var		   *translated;

	if (child->relid == (Index) var->varno)
		return var->varattno;
	if (root->append_rel_array == NULL ||
		(appinfo = root->append_rel_array[child->relid]) == NULL ||
		var->varattno > list_length(appinfo->translated_vars))
		return 0;
	/* partitions of partitions have a parent that we do not know here */
	if (appinfo->parent_relid != (Index) var->varno)
		return 0;
	translated = list_nth(appinfo->translated_vars, var->varattno - 1);
	return translated != NULL && IsA(translated, Var) ?
		translated->varattno : 0;
}

/*
 * The share of a path's batches that are left, by what they are cut by or by
 * an index; *look_up: what that costs.
 */
static double
share_left(const Path *path, const StrataScanInfo *info, AttrNumber attno,
		   const PruningKey *key, Cost *look_up)
{
	ListCell   *lc;

	*look_up = 0;
	if (bms_is_member(attno, info->cut_by))
		return key->share;
	foreach(lc, info->joined)
	{
		const StrataJoinedIndex *joined = lfirst(lc);

		if (joined->attno != attno)
			continue;
		*look_up = strata_scan_look_up_cost(&joined->shape, key->wanted,
											joined->random_page,
											joined->seq_page);
		/* batches that random rows are in */
		return Min(1 - exp(-path->rows * key->share / Max(info->nread, 1)) +
				   joined->uncovered, 1);
	}
	return 1;
}

/* What is saved of a scan's cost; *rows: of its rows, those left out. */
static Cost
scan_saving(PlannerInfo *root, Path *path, const PruningKey *key, double *rows)
{
	StrataScanInfo *info = scan_info(path);
	Cost		row_store;
	Cost		look_up;
	Cost		saving;
	double		left;

	if (info == NULL)
		return 0;
	left = share_left(path, info, child_attno(root, path->parent, key->var),
					  key, &look_up);
	row_store = info->heap_pages *
		(seq_page_cost + ROWS_PER_PAGE * cpu_tuple_cost);
	saving = Max(path->total_cost - path->startup_cost - row_store, 0) *
		(1 - left) - look_up;
	if (saving <= 0)
		return 0;
	*rows += path->rows * (1 - left);
	return saving;
}

/* A copy of a scan's path as it is when pruned; itself: it would not be. */
static Path *
pruned_scan(PlannerInfo *root, Path *path, const PruningKey *key)
{
	double		rows = 0;
	Cost		saving = scan_saving(root, path, key, &rows);
	CustomPath *copy;
	StrataScanInfo *info;
	double		left;

	if (saving <= 0)
		return path;
	copy = makeNode(CustomPath);
	*copy = *(CustomPath *) path;
	copy->path.total_cost = Max(path->total_cost - saving, path->startup_cost);
	copy->path.rows = clamp_row_est(path->rows - rows);
	info = palloc(sizeof(StrataScanInfo));
	*info = *strata_scan_path_info(copy);
	left = copy->path.total_cost / path->total_cost;
	info->vector_cost.rows *= left;
	info->vector_cost.decode *= left;
	info->vector_cost.look *= left;
	strata_scan_path_set_info(copy, info);
	return &copy->path;
}

/* The same of any path; NULL: it would not be. */
static Path *
pruned_path(PlannerInfo *root, Path *path, const PruningKey *key)
{
	Path	   *copy = path;

	if (IsA(path, AppendPath))
	{
		AppendPath *append = makeNode(AppendPath);
		ListCell   *lc;

		*append = *(AppendPath *) path;
		append->subpaths = NIL;
		foreach(lc, ((AppendPath *) path)->subpaths)
		{
			Path	   *subpath = lfirst(lc);
			Path	   *pruned = pruned_scan(root, subpath, key);
			double		rows = subpath->rows - pruned->rows;

			append->subpaths = lappend(append->subpaths, pruned);
			if (pruned == subpath)
				continue;
			copy = &append->path;
			/* half of cpu_tuple_cost, as cost_append() has it */
			append->path.total_cost -= subpath->total_cost -
				pruned->total_cost + 0.5 * cpu_tuple_cost * rows;
			append->path.rows -= rows;
		}
		append->path.rows = clamp_row_est(append->path.rows);
		append->path.total_cost = Max(append->path.total_cost,
									  append->path.startup_cost);
	}
	else if (IsA(path, CustomPath))
		copy = pruned_scan(root, path, key);
	if (copy == path)
		return NULL;
	Assert(copy->rows <= path->rows &&
		   copy->total_cost <= path->total_cost);	/* scan:R15 */
	return copy;
}

/* Take the clause "outer = inner" for the key, if it prunes more. */
static void
consider_key(PlannerInfo *root, RelOptInfo *outer, RelOptInfo *inner,
			 RestrictInfo *rinfo, PruningKey *key)
{
	OpExpr	   *clause = (OpExpr *) rinfo->clause;
	bool		outer_left = bms_is_subset(rinfo->left_relids, outer->relids);
	Node	   *of_outer = outer_left ? linitial(clause->args) :
	lsecond(clause->args);
	Node	   *of_inner = outer_left ? lsecond(clause->args) :
	linitial(clause->args);
	double		wanted;
	double		there;

	while (IsA(of_outer, RelabelType))
		of_outer = (Node *) ((RelabelType *) of_outer)->arg;
	if (!IsA(of_outer, Var) || ((Var *) of_outer)->varattno <= 0 ||
		((Var *) of_outer)->varno != (int) outer->relid)
		return;
	there = estimate_num_groups(root, list_make1(of_outer), outer->rows, NULL,
								NULL);
	wanted = estimate_num_groups(root, list_make1(of_inner), inner->rows, NULL,
								 NULL);
	if (there >= 1 && wanted / there < key->share)
	{
		key->share = wanted / there;
		key->wanted = wanted;
		key->var = (Var *) of_outer;
	}
}

/* See scan.h. */
List *
strata_join_hash_clauses(const RelOptInfo *joinrel, const RelOptInfo *outer,
						 const RelOptInfo *inner, JoinType jointype,
						 List *clauses)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->can_join || !OidIsValid(rinfo->hashjoinoperator) ||
			(IS_OUTER_JOIN(jointype) &&
			 RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids)) ||
			!((bms_is_subset(rinfo->left_relids, outer->relids) &&
			   bms_is_subset(rinfo->right_relids, inner->relids)) ||
			  (bms_is_subset(rinfo->right_relids, outer->relids) &&
			   bms_is_subset(rinfo->left_relids, inner->relids))))
			continue;
		rinfo->outer_is_left = bms_is_subset(rinfo->left_relids,
											 outer->relids);
		result = lappend(result, rinfo);
	}
	return result;
}

/* See scan.h. */
Path *
strata_scan_pruned_by_join(PlannerInfo *root, RelOptInfo *outer,
						   RelOptInfo *inner, JoinType jointype,
						   List *clauses, Path *path)
{
	PruningKey	key = {NULL, SHARE_THAT_MATTERS, 0};
	ListCell   *lc;

	if (!strata_enable_join_pruning || !strata_enable_pruning ||
		!strata_enable_scan ||
		(jointype != JOIN_INNER && jointype != JOIN_SEMI) ||
		outer->reloptkind != RELOPT_BASEREL || IS_DUMMY_REL(outer) ||
		path->param_info != NULL || inner->rows > STRATA_JOIN_MAX_ROWS ||
		!(IsA(path, AppendPath) || IsA(path, CustomPath)))
		return NULL;
	foreach(lc, clauses)
		consider_key(root, outer, inner, lfirst_node(RestrictInfo, lc), &key);
	return key.var == NULL ? NULL : pruned_path(root, path, &key);
}

/* See scan.h. */
void
strata_scan_set_join_pathlist(PlannerInfo *root, RelOptInfo *joinrel,
							  RelOptInfo *outer, RelOptInfo *inner,
							  JoinType jointype, JoinPathExtraData *extra)
{
	JoinCostWorkspace workspace;
	Path	   *outer_path;
	Path	   *inner_path = inner->cheapest_total_path;
	List	   *clauses;

	if (!enable_hashjoin || joinrel->lateral_relids != NULL ||
		inner_path->param_info != NULL)
		return;
	clauses = strata_join_hash_clauses(joinrel, outer, inner, jointype,
									   extra->restrictlist);
	outer_path = strata_scan_pruned_by_join(root, outer, inner, jointype,
											clauses,
											outer->cheapest_total_path);
	if (outer_path == NULL)
		return;
	initial_cost_hashjoin(root, &workspace, jointype, clauses, outer_path,
						  inner_path, extra, false);
	add_path(joinrel, (Path *)
			 create_hashjoin_path(root, joinrel, jointype, &workspace, extra,
								  outer_path, inner_path, false,
								  extra->restrictlist, NULL, clauses));
}
