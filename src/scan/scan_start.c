/*-------------------------------------------------------------------------
 *
 * scan_start.c
 *	  What starting workers costs beyond parallel_setup_cost, and who pays.
 *
 * A unit of cost is 2.5 to 5 us: of heap, of decoding, and of keys; a worker
 * takes some 8 ms of a CPU to begin and to end: it finds out anew what a
 * session knows of a table, and maps shared memory page by page.  They start
 * once for all partitions of a table: each is charged by the rows it has of
 * them.
 *
 * A partial scan pays.  But PostgreSQL puts a partition's serial scan into a
 * Parallel Append where that is cheaper than the partial one, and then nobody
 * has paid: so a partition's partial scan never costs more than the serial one
 * because of the start alone, and the plan without workers is cheaper by what
 * Gather costs.  Serial scans that are cheaper by themselves (by an index),
 * and subqueries, are charged where the Append is made; but PostgreSQL makes
 * that of partitions again, uncharged, where the query reads nothing else.
 *
 * src/scan/scan_start.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "scan/scan_plan_private.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

/*
 * Of what a partial scan saves, so much may be lost to the start: the order of
 * partial scans among each other stays.
 */
#define ALMOST 0.99

/* Rows that are read of a relation of the query: partitions are alike. */
static double
rows_read(const RelOptInfo *rel)
{
	int			first = bms_next_member(rel->live_parts, -1);

	if (first < 0 || rel->part_rels[first] == NULL)
		return rel->tuples;
	return rel->part_rels[first]->tuples * bms_num_members(rel->live_parts);
}

/*
 * The share that a relation pays of those that are joined.  Not all of them
 * need be read by workers together, so it is a quarter at least.
 */
static double
share_of_join(const PlannerInfo *root, const RelOptInfo *rel)
{
	double		rows = 0;
	int			i = -1;

	if (bms_membership(root->all_baserels) != BMS_MULTIPLE)
		return 1;
	while ((i = bms_next_member(root->all_baserels, i)) >= 0)
	{
		const RelOptInfo *other = root->simple_rel_array[i];

		/* from 16 on there are outer joins in between */
		if (other != NULL)
			rows += rows_read(other);
	}
	return Max(Min(rows_read(rel) / Max(rows, 1), 1), 0.25);
}

/*
 * Of what that many workers cost, the share of a relation's rows among those
 * of its parent, which may be itself.
 */
static Cost
start_cost(const PlannerInfo *root, const RelOptInfo *rel,
		   const RelOptInfo *parent, int workers)
{
	Assert(workers > 0);		/* scan:R22 */
	return 2 * parallel_setup_cost * workers * share_of_join(root, parent) *
		Min(rel->rows / Max(parent->rows, 1), 1);
}

/* The least that reading all of the relation by one process costs. */
static Cost
serial_cost(const RelOptInfo *rel)
{
	Cost		best = -1;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = lfirst(lc);

		if (path->parallel_safe && path->param_info == NULL &&
			(best < 0 || path->total_cost < best))
			best = path->total_cost;
	}
	return best;
}

/* See scan_plan_private.h. */
Cost
strata_scan_start_cost(PlannerInfo *root, const RelOptInfo *rel, int workers,
					   Cost partial)
{
	const RelOptInfo *parent;
	Cost		saved;
	Cost		cost;

	if (rel->reloptkind != RELOPT_OTHER_MEMBER_REL)
		return start_cost(root, rel, rel, workers);
	parent = find_base_rel(root, bms_singleton_member(rel->top_parent_relids));
	cost = start_cost(root, rel, parent, workers);
	saved = serial_cost(rel) - partial;
	return saved > 0 ? Min(cost, ALMOST * saved) : cost;
}

static bool
has_our_scan(List *paths)
{
	ListCell   *lc;

	foreach(lc, paths)
	{
		const Path *path = lfirst(lc);

		while (IsA(path, ProjectionPath))
			path = ((const ProjectionPath *) path)->subpath;
		if (IsA(path, AppendPath) ?
			has_our_scan(((const AppendPath *) path)->subpaths) :
			IsA(path, CustomPath) &&
			((const CustomPath *) path)->methods == &strata_path_methods)
			return true;
	}
	return false;
}

/* Is something of ours read by the relation, a table or a subquery? */
static bool
reads_ours(const RelOptInfo *rel)
{
	const PlannerInfo *subroot = rel->subroot;

	if (subroot == NULL)
		return has_our_scan(rel->pathlist);
	for (int i = 1; i < subroot->simple_rel_array_size; i++)
	{
		const RelOptInfo *subrel = subroot->simple_rel_array[i];

		if (subrel != NULL && reads_ours(subrel))
			return true;
	}
	return false;
}

/* What the Append's children that are not partial have to be charged. */
static Cost
uncharged(const PlannerInfo *root, const RelOptInfo *rel,
		  const AppendPath *append)
{
	Cost		cost = 0;

	Assert(append->first_partial_path <=
		   list_length(append->subpaths));	/* scan:R22 */
	for (int i = 0; i < append->first_partial_path; i++)
	{
		const Path *child = list_nth(append->subpaths, i);

		if (reads_ours(child->parent))
			cost += start_cost(root, child->parent, rel,
							   append->path.parallel_workers);
	}
	return cost;
}

/* See scan_plan_private.h. */
void
strata_scan_charge_appends(const PlannerInfo *root, RelOptInfo *rel)
{
	List	   *paths = rel->partial_pathlist;
	ListCell   *lc;

	/* those of children become parts of it */
	if (rel->reloptkind != RELOPT_BASEREL)
		return;
	rel->partial_pathlist = NIL;
	foreach(lc, paths)
	{
		AppendPath *append = lfirst(lc);
		Cost		cost = 0;

		if (IsA(append, AppendPath))
			cost = uncharged(root, rel, append);
		append->path.startup_cost += cost;
		append->path.total_cost += cost;
		add_partial_path(rel, &append->path);
	}
}
