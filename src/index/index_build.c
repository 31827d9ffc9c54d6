/*-------------------------------------------------------------------------
 *
 * index_build.c
 *	  Runs made from batches: those that no run speaks for yet.
 *
 * Called when batches have been written (compress_chunk) and when an index of
 * the table was made.  Batches are read with a dirty snapshot, so that those
 * of transactions in progress (direct loads) are in the runs, too: a run
 * speaks for all numbers below the next free one, which is taken before
 * anything is read, and which nobody gets any more (store:S11).  A batch that
 * is not seen so is deleted, or was never there, for every snapshot that sees
 * the run.
 *
 * Memory: maintenance_work_mem for entries, and one batch.  What is too much
 * for one sort becomes several runs, which are merged.
 *
 * src/index/index_build.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"
#include "store/store_companion.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/*
 * Lock tag of a companion whose runs are being changed, kept to the end of the
 * transaction; no such page is ever locked otherwise.
 */
#define INDEXING_PAGE 1

/* A run that is smaller than its neighbour by less than this is merged. */
#define RUN_RATIO 4

/* Runs being made of a target. */
typedef struct Build
{
	StrataIndexCollector *collector;
	Relation	relation;
	const StrataIndexTarget *target;
	int64		from;			/* of the run being collected */
} Build;

/* Write what was collected as a run of the batches with numbers below `to`. */
static void
write_run(StrataIndexCollector *collector, int64 to, void *arg)
{
	Build	   *build = arg;
	StrataIndexRun run = {.number = strata_index_next_number(build->relation),
		.attno = build->target->attno,.function = build->target->function,
		.opclass = build->target->opclass,.from = build->from,
	.to = to};
	StrataIndexWriter *writer;
	uint64		last = 0;

	/* mostly one batch in a place */
	while (collector->nbatches > 0 && run.shift < 30 &&
		   ((int64) 2 << run.shift) <= collector->nrows / collector->nbatches)
		run.shift++;
	Assert(run.from < run.to || collector->nbatches == 0);	/* index:I1 */
	writer = strata_index_writer_begin(build->relation, &run);
	for (Size i = 0; i < collector->n; i++)
	{
		uint64		entry = collector->entries[i];
		int64		place;

		place = collector->first_rows[(uint32) entry] >> run.shift;
		if (i > 0 && entry >> 32 == last >> 32 &&
			place == collector->first_rows[(uint32) last] >> run.shift)
			continue;
		strata_index_writer_add(writer, (uint32) (entry >> 32), place);
		last = entry;
	}
	strata_index_writer_end(writer, &run);
	CommandCounterIncrement();
	build->from = to;
}

/* Merge the latest runs of a target while they are nearly as large. */
static void
merge_runs(StrataStore *store, Relation relation,
		   const StrataIndexTarget *target)
{
	for (;;)
	{
		List	   *runs = strata_index_runs(relation, SnapshotSelf, target);
		StrataIndexRun *newer;
		StrataIndexRun *older;
		StrataIndexRun merged;

		if (list_length(runs) < 2)
			return;
		newer = llast(runs);
		older = list_nth(runs, list_length(runs) - 2);
		if (newer->entries * RUN_RATIO < older->entries)
			return;
		merged = *older;
		merged.number = strata_index_next_number(relation);
		if (target->kind == STRATA_INDEX_SUMMARIES)
			strata_index_merge_summaries(store, relation, older, newer,
										 &merged);
		else
			strata_index_merge(store, relation, older, newer, &merged);
		strata_index_run_delete(relation, older->number);
		strata_index_run_delete(relation, newer->number);
		CommandCounterIncrement();
	}
}

/* Delete the runs of the column that are not in the chain. */
static void
delete_unchained(Relation relation, List *runs, List *chain)
{
	ListCell   *lc;

	foreach(lc, runs)
	{
		const StrataIndexRun *run = lfirst(lc);

		if (!list_member_ptr(chain, run))
			strata_index_run_delete(relation, run->number);
	}
}

/* Is there a batch with a row number in [from, to)? */
static bool
any_batch_between(StrataStore *store, int64 from, int64 to)
{
	StrataIndexBatches batches;
	int64		first_row;
	bool		found;

	strata_index_batches_begin(&batches, store, from, NULL);
	found = strata_index_batches_next(&batches, &first_row) && first_row < to;
	strata_index_batches_end(&batches);
	return found;
}

/* Bring the runs of a target up to `to`. */
static void
update_target(StrataStore *store, Relation relation,
			  const StrataIndexTarget *target, int64 to, bool rebuild)
{
	Build		build = {.relation = relation,.target = target};
	List	   *runs = strata_index_runs(relation, SnapshotSelf, target);
	List	   *chain;
	StrataIndexCollector collector;

	chain = strata_index_chain(runs, &build.from);
	if (rebuild)
	{
		chain = NIL;
		build.from = 0;
	}
	delete_unchained(relation, runs, chain);
	if (build.from >= to)
		return;
	if (chain != NIL && !any_batch_between(store, build.from, to))
	{
		strata_index_run_extend(relation, llast(chain), to);
		return;
	}
	Assert(chain == NIL || !rebuild);	/* index:I2 */
	if (target->kind == STRATA_INDEX_SUMMARIES)
	{
		StrataIndexRun run = {.number = strata_index_next_number(relation),
			.attno = target->attno,.function = target->function,
			.opclass = target->opclass,.from = build.from,
		.to = to};

		strata_index_summarise(store, relation, &run);
		CommandCounterIncrement();
	}
	else
		strata_index_collect(&collector, store, NULL, target, build.from, to,
							 write_run, &build);
	merge_runs(store, relation, target);
}

/* Is the run one of a target's? */
static bool
is_run_wanted(const StrataIndexRun *run, List *wanted)
{
	ListCell   *lc;

	foreach(lc, wanted)
	{
		if (strata_index_run_is_of(run, lfirst(lc)))
			return true;
	}
	return false;
}

/*
 * The next free row number, which stays unused by those who may write batches
 * beside us until our runs say so: *reserved, or -1, is who keeps it.
 */
static int64
reserve_numbers(StrataStore *store, Relation relation, int32 *reserved)
{
	int64		to;

	*reserved = -1;
	if (CheckRelationLockedByMe(store->rel, ShareLock, true))
		return strata_store_next_row(store);
	strata_numbering_lock(store->batches);
	to = strata_store_next_row(store);
	*reserved = strata_index_next_number(relation);
	strata_index_reserve(relation, *reserved, to);
	strata_numbering_unlock(store->batches);
	CommandCounterIncrement();
	return to;
}

/* Bring the runs of all targets up to date, and delete others. */
static void
update_targets(StrataStore *store, Relation relation, List *wanted,
			   bool rebuild)
{
	int32		reserved;
	int64		to;
	ListCell   *lc;

	foreach(lc, strata_index_runs(relation, SnapshotSelf, NULL))
	{
		const StrataIndexRun *run = lfirst(lc);

		if (!is_run_wanted(run, wanted))
			strata_index_run_delete(relation, run->number);
	}
	to = reserve_numbers(store, relation, &reserved);
	foreach(lc, wanted)
		update_target(store, relation, lfirst(lc), to, rebuild);
	/* dead, it keeps the numbers until nobody can see it (store:S11) */
	if (reserved >= 0)
		strata_index_run_delete(relation, reserved);
	CommandCounterIncrement();
}

/* Lock the relation, made where it is missing, and bring it up to date. */
static void
update(StrataStore *store, bool rebuild)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata batch index update",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	List	   *wanted = strata_index_wanted(store->rel);
	Oid			oid = strata_index_relation_oid(store->batches);

	if (store->batches->rd_rel->relpersistence != RELPERSISTENCE_TEMP &&
		(OidIsValid(oid) ||
		 (wanted != NIL &&
		  !strata_companion_is_small(RelationGetRelid(store->batches)))))
	{
		Relation	relation;

		/* for values out of line; what is read is told by others */
		PushActiveSnapshot(GetTransactionSnapshot());
		LockPage(store->batches, INDEXING_PAGE, ExclusiveLock);
		/* somebody else may have made it meanwhile, or an index of R */
		AcceptInvalidationMessages();
		wanted = strata_index_wanted(store->rel);
		oid = strata_index_relation_oid(store->batches);
		if (!OidIsValid(oid))
			oid = strata_index_relation_create(store->batches);
		relation = table_open(oid, RowExclusiveLock);
		update_targets(store, relation, wanted, rebuild);
		table_close(relation, NoLock);
		PopActiveSnapshot();
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}

/* See index.h. */
void
strata_index_update(StrataStore *store)
{
	update(store, false);
}

/* See index.h. */
void
strata_index_rebuild(StrataStore *store)
{
	update(store, true);
}

/* See index.h. */
void
strata_index_clear(StrataStore *store)
{
	Oid			oid = strata_index_relation_oid(store->batches);
	Relation	relation;
	ListCell   *lc;

	if (!OidIsValid(oid))
		return;
	LockPage(store->batches, INDEXING_PAGE, ExclusiveLock);
	relation = table_open(oid, RowExclusiveLock);
	foreach(lc, strata_index_runs(relation, SnapshotSelf, NULL))
		strata_index_run_delete(relation,
								((StrataIndexRun *) lfirst(lc))->number);
	table_close(relation, NoLock);
}
