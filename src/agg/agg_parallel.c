/*-------------------------------------------------------------------------
 *
 * agg_parallel.c
 *	  Aggregation shared by a leader and its workers.
 *
 * Each process has a StrataAgg of its own over its share of the rows, the
 * "partial" one, and returns its groups as bytes (agg_bytes.c), a column each.
 * The leader's, the "final" one, reads those through a Gather and combines
 * what belongs together, as it does with groups that were spilled.
 *
 * An Append that hands its children to different workers (Parallel Append) is
 * replaced by one that every worker goes through: the children share
 * themselves.
 *
 * src/agg/agg_parallel.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_words_private.h"

#include "access/parallel.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "storage/spin.h"
#include "utils/memutils.h"

/*-------------------------------------------------------------------------
 * Paths
 *-------------------------------------------------------------------------
 */

/*
 * What a partial StrataAgg returns: a column of bytes.  The expression only
 * has to be one that the planner finds again in the plan below, so no mere
 * Const.
 */
Expr *
strata_agg_partial_column(void)
{
	return (Expr *) makeRelabelType((Expr *) makeNullConst(BYTEAOID, -1,
														   InvalidOid),
									BYTEAOID, -1, InvalidOid,
									COERCE_IMPLICIT_CAST);
}

/* See agg_plan_private.h. */
List *
strata_agg_partial_tlist(void)
{
	return list_make1(makeTargetEntry(strata_agg_partial_column(), 1, NULL,
									  false));
}

/*
 * The cheapest partial path of a relation, of those that give vectors if there
 * are any.
 */
static Path *
cheapest_partial(RelOptInfo *rel)
{
	Path	   *best = NULL;
	bool		best_vectors = false;
	ListCell   *lc;

	foreach(lc, rel->partial_pathlist)
	{
		Path	   *path = strata_agg_strip_projection(lfirst(lc));
		bool		vectors = strata_scan_path_gives_vectors(path, NULL);

		if (best == NULL || (vectors && !best_vectors) ||
			(vectors == best_vectors && path->total_cost < best->total_cost))
		{
			best = path;
			best_vectors = vectors;
		}
	}
	return best;
}

/*
 * The same Append for all workers, that many at most; NULL: a child cannot be
 * shared.
 */
static AppendPath *
shared_append(PlannerInfo *root, RelOptInfo *rel, AppendPath *append,
			  int max_workers)
{
	List	   *subpaths = NIL;
	int			workers = 0;
	ListCell   *lc;

	foreach(lc, append->subpaths)
	{
		Path	   *path = cheapest_partial(((Path *) lfirst(lc))->parent);

		if (path == NULL)
			return NULL;
		path = strata_scan_path_limit_workers(path, max_workers);
		subpaths = lappend(subpaths, path);
		workers = Max(workers, path->parallel_workers);
	}
	workers = Min(Max(workers, append->path.parallel_workers), max_workers);
	if (workers == 0)
		return NULL;
	return create_append_path(root, rel, NIL, subpaths, NIL, NULL, workers,
							  false, -1);
}

/* See agg_plan_private.h. */
Path *
strata_agg_partial_input(PlannerInfo *root, RelOptInfo *rel, int max_workers)
{
	Path	   *path = linitial(rel->partial_pathlist);

	if (IsA(strata_agg_strip_projection(path), AppendPath))
		return (Path *)
			shared_append(root, rel,
						  (AppendPath *) strata_agg_strip_projection(path),
						  max_workers);
	return strata_scan_path_limit_workers(cheapest_partial(rel), max_workers);
}

/* Can all keys be handed from process to process? */
static bool
has_record_key(const AggShape *shape)
{
	ListCell   *lc;

	foreach(lc, shape->keys)
	{
		Oid			type = exprType(lfirst(lc));

		/* what its values are made of only the process knows that made them */
		if (type == RECORDOID || type == RECORDARRAYOID)
			return true;
	}
	return false;
}

/* See agg_plan_private.h. */
bool
strata_agg_can_share(const RelOptInfo *input_rel,
					 const RelOptInfo *grouped_rel, const AggShape *shape)
{
	return grouped_rel->consider_parallel &&
		input_rel->partial_pathlist != NIL &&
		shape->stop.kind == AGG_STOP_NONE && shape->picks == NIL &&
		!shape->has_distinct && !shape->has_held && !has_record_key(shape);
}

/* See agg_plan_private.h. */
Path *
strata_agg_gather(PlannerInfo *root, RelOptInfo *grouped_rel,
				  CustomPath *partial)
{
	PathTarget *target = create_empty_pathtarget();
	double		rows;

	rows = partial->path.rows * (partial->path.parallel_workers + 1);
	Assert(partial->path.parallel_safe &&
		   partial->path.parallel_workers > 0); /* agg:G13 */
	add_column_to_pathtarget(target, strata_agg_partial_column(), 0);
	partial->path.pathtarget = set_pathtarget_cost_width(root, target);
	partial->path.parallel_aware = true;
	return (Path *) create_gather_path(root, grouped_rel, &partial->path,
									   partial->path.pathtarget, NULL, &rows);
}

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

/* See agg_private.h. */
void
strata_agg_read_partials(StrataAggState *agg)
{
	PlanState  *child = linitial(agg->css.custom_ps);
	TupleTableSlot *slot;

	Assert(agg->input == NULL &&
		   agg->stop.kind == AGG_STOP_NONE);	/* agg:G13 */
	while (slot = ExecProcNode(child), !TupIsNull(slot))
	{
		MemoryContext old;
		bool		isnull;
		bytea	   *data;
		const char *in;

		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(agg->vector_mcxt);
		old = MemoryContextSwitchTo(agg->vector_mcxt);
		data = DatumGetByteaPP(slot_getattr(slot, 1, &isnull));
		in = strata_agg_group_read_keys(agg, VARDATA_ANY(data));
		strata_agg_group_combine(agg, agg->table == NULL ? agg->cells :
								 agg_group_cells(strata_agg_table_find(agg->table),
												 agg->nkeys), in,
								 (char *) data + VARSIZE_ANY(data));
		MemoryContextSwitchTo(old);
		if (agg->table != NULL && strata_agg_table_is_full(agg->table))
			strata_agg_table_spill(agg->table);
	}
}

/*
 * The node's piece of shared memory: counters of the workers that have
 * finished.
 */
struct AggShared
{
	slock_t		mutex;
	AggCounters counters;
};

Size
strata_agg_estimate_shared(CustomScanState *node, ParallelContext *pcxt)
{
	return sizeof(AggShared);
}

void
strata_agg_initialize_shared(CustomScanState *node, ParallelContext *pcxt,
							 void *area)
{
	AggShared  *shared = area;

	memset(shared, 0, sizeof(AggShared));
	SpinLockInit(&shared->mutex);
	((StrataAggState *) node)->shared = shared;
}

/* Counters are of all loops. */
void
strata_agg_reinitialize_shared(CustomScanState *node, ParallelContext *pcxt,
							   void *area)
{
}

void
strata_agg_attach_shared(CustomScanState *node, shm_toc *toc, void *area)
{
	((StrataAggState *) node)->shared = area;
}

static void
add_worker_counters(AggCounters *to, const AggCounters *from)
{
	to->vectors += from->vectors;
	to->chunks += from->chunks;
	to->rows += from->rows;
	to->summarized += from->summarized;
	to->counted += from->counted;
	to->fetched += from->fetched;
	to->runs += from->runs;
	to->singles += from->singles;
	to->groups += from->groups;
	to->spills += from->spills;
	to->memory = Max(to->memory, from->memory);
}

/* A worker leaves its counters; the leader takes those that are there. */
void
strata_agg_shutdown_shared(CustomScanState *node)
{
	StrataAggState *agg = (StrataAggState *) node;
	AggShared  *shared = agg->shared;

	if (agg->table != NULL || agg->distincts != NIL)
	{
		agg->counters.spills = strata_agg_distinct_spills(agg) +
			strata_agg_words_spills(agg);
		agg->counters.memory = strata_agg_distinct_memory(agg) +
			strata_agg_words_memory(agg);
	}
	if (agg->table != NULL)
	{
		agg->counters.spills += strata_agg_table_spills(agg->table);
		agg->counters.memory += strata_agg_table_memory(agg->table);
	}
	if (shared == NULL)
		return;
	SpinLockAcquire(&shared->mutex);
	if (IsParallelWorker())
		add_worker_counters(&shared->counters, &agg->counters);
	else
		add_worker_counters(&agg->counters, &shared->counters);
	SpinLockRelease(&shared->mutex);
	agg->shared = NULL;
}
