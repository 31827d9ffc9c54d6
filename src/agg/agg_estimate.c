/*-------------------------------------------------------------------------
 *
 * agg_estimate.c
 *	  How many groups to expect, of all rows and of one process's share.
 *
 * src/agg/agg_estimate.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_plan_private.h"
#include "agg/agg_vector_private.h"

#include <math.h>

#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* Least and greatest value of a column, by the statistics. */
static bool
column_range(PlannerInfo *root, Node *var, double *range)
{
	VariableStatData vardata;
	AttStatsSlot slot;
	bool		found = false;

	examine_variable(root, var, 0, &vardata);
	if (HeapTupleIsValid(vardata.statsTuple) &&
		get_attstatsslot(&slot, vardata.statsTuple, STATISTIC_KIND_HISTOGRAM,
						 InvalidOid, ATTSTATSSLOT_VALUES))
	{
		if (slot.nvalues > 1 && slot.valuetype == exprType(var))
		{
			*range = (double) DatumGetInt64(slot.values[slot.nvalues - 1]) -
				(double) DatumGetInt64(slot.values[0]);
			found = true;
		}
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(vardata);
	return found;
}

/* Selectivity of the conditions on nothing but the column. */
static Selectivity
column_selectivity(PlannerInfo *root, RelOptInfo *rel, Node *var)
{
	List	   *clauses = NIL;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *vars = pull_var_clause((Node *) rinfo->clause,
										   PVC_RECURSE_PLACEHOLDERS);

		if (list_length(vars) == 1 && equal(linitial(vars), var))
			clauses = lappend(clauses, rinfo);
	}
	return clauselist_selectivity(root, clauses, 0, JOIN_INNER, NULL);
}

/*
 * Groups by keys other than buckets.  PostgreSQL takes all values of a column
 * to be among the rows that pass conditions on it, where these are many.  It
 * takes several columns to have no more values than a tenth of the rows, or
 * than the one that has most; where that one has more than a tenth, as times
 * have, nothing is left of the others.
 */
static double
estimate_values(PlannerInfo *root, RelOptInfo *rel, List *keys, double rows)
{
	double		all = rel->reloptkind == RELOPT_JOINREL ? rows : rel->tuples;
	double		most = 1;
	double		largest = 1;
	ListCell   *lc;

	if (keys == NIL)
		return 1;
	foreach(lc, keys)
	{
		double		n = estimate_num_groups(root, list_make1(lfirst(lc)),
											all, NULL, NULL);

		largest = Max(largest, n);
		if (IsA(lfirst(lc), Var))
			n *= column_selectivity(root, rel, lfirst(lc));
		most *= Max(n, 1);
	}
	if (list_length(keys) > 1 && largest > all / 10)
		return Min(rows, most);
	return Min(estimate_num_groups(root, keys, rows, NULL, NULL), most);
}

/*
 * See agg_plan_private.h.  PostgreSQL takes a bucket function to have as many
 * values as its argument; we divide the range of the column by the bucket's
 * width.
 */
double
strata_agg_estimate_groups(PlannerInfo *root, RelOptInfo *rel,
						   const AggShape *shape, double rows)
{
	List	   *others = NIL;
	double		buckets = 1;
	ListCell   *lc;

	foreach(lc, shape->keys)
	{
		Expr	   *arg;
		double		width = strata_agg_bucket_width(lfirst(lc), &arg);
		double		range;

		if (width > 0 && column_range(root, (Node *) arg, &range))
			buckets *= 1 + range / width *
				column_selectivity(root, rel, (Node *) arg);
		else
			others = lappend(others, lfirst(lc));
	}
	return clamp_row_est(Min(estimate_values(root, rel, others, rows) *
							 buckets,
							 rows));
}

/*
 * Pieces of which the relation's rows are handed to processes, when those of
 * one group lie in as few as can be: all segmentby columns are keys, and the
 * others are the first orderby column or buckets of it.  0: they may lie in
 * all.
 */
static double
count_pieces(PlannerInfo *root, RelOptInfo *rel, Path *path, List *keys)
{
	const Bitmapset *segment;
	Bitmapset  *attnos = NULL;
	AttrNumber	order;
	double		result;
	ListCell   *lc;

	if (!strata_scan_path_gives_vectors(path, NULL))
		return 0;
	result = strata_scan_path_pieces(path, &segment, &order);
	if (path->parent != rel)
		keys = (List *) strata_adjust_appendrel_attrs_multilevel(root,
																 (Node *) keys,
																 path->parent,
																 rel);
	foreach(lc, keys)
	{
		Expr	   *expr = lfirst(lc);
		bool		bucket;
		AttrNumber	attno;

		/* the expression becomes what the bucket is of */
		bucket = !IsA(expr, Var) && strata_agg_bucket_width(expr, &expr) > 0;
		attno = IsA(expr, Var) ? ((Var *) expr)->varattno : 0;
		if (attno <= 0 ||
			(attno != order && (bucket || !bms_is_member(attno, segment))))
			return 0;
		attnos = bms_add_member(attnos, attno);
	}
	return bms_is_subset(segment, attnos) ? result : 0;
}

/* See agg_plan_private.h. */
double
strata_agg_group_share(PlannerInfo *root, RelOptInfo *rel, Path *path,
					   const AggShape *shape, double ngroups)
{
	double		processes = path->parallel_workers + 1;
	double		pieces = 0;
	List	   *paths;
	ListCell   *lc;

	paths = IsA(path, AppendPath) ? ((AppendPath *) path)->subpaths :
		list_make1(path);
	foreach(lc, paths)
	{
		double		n = count_pieces(root, rel,
									 strata_agg_strip_projection(lfirst(lc)),
									 shape->keys);

		if (n == 0)
			return 1;
		pieces += n;
	}
	/* groups that end within a piece lie in one more */
	return 1 - pow(1 - 1 / processes, 1 + pieces / ngroups);
}
