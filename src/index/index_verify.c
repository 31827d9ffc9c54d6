/*-------------------------------------------------------------------------
 *
 * index_verify.c
 *	  Does each batch that a run speaks for have its values in it?
 *
 * src/index/index_verify.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"

#include "access/table.h"
#include "miscadmin.h"
#include "utils/memutils.h"

typedef struct Verify
{
	Relation	relation;
	Snapshot	snapshot;
	List	   *runs;
	StrataIndexReport report;
	void	   *arg;
} Verify;

/* Which batches have a value that the run lacks? */
static void
compare_run(const Verify *verify, const StrataIndexCollector *collector,
			const StrataIndexRun *run, bool *lacking)
{
	StrataIndexCursor *cursor = strata_index_cursor_begin(verify->relation,
														  verify->snapshot,
														  run->number);
	StrataIndexEntry entry = {0};
	bool		there = strata_index_cursor_next(cursor, &entry);

	for (Size i = 0; i < collector->n; i++)
	{
		uint32		hash = (uint32) (collector->entries[i] >> 32);
		uint32		batch = (uint32) collector->entries[i];
		int64		first_row = collector->first_rows[batch];
		int64		place = first_row >> run->shift;

		if (first_row < run->from || first_row >= run->to)
			continue;
		while (there && (entry.hash < hash ||
						 (entry.hash == hash && entry.place < place)))
			there = strata_index_cursor_next(cursor, &entry);
		if (!there || entry.hash != hash || entry.place != place)
			lacking[batch] = true;
	}
	strata_index_cursor_end(cursor);
}

/* Compare the collected batches with all runs that speak for them. */
static void
compare_runs(StrataIndexCollector *collector, int64 to, void *arg)
{
	const Verify *verify = arg;
	bool	   *lacking = palloc0(sizeof(bool) * Max(collector->nbatches, 1));
	ListCell   *lc;

	foreach(lc, verify->runs)
		compare_run(verify, collector, lfirst(lc), lacking);
	for (int i = 0; i < collector->nbatches; i++)
		if (lacking[i])
			verify->report(verify->arg, collector->first_rows[i],
						   collector->attno,
						   "the batch index does not lead to a value of the batch");
	pfree(lacking);
}

/* The runs of a target of hashes. */
static void
verify_hashes(Verify *verify, StrataStore *store,
			  const StrataIndexTarget *target)
{
	StrataIndexCollector collector;
	int64		covered;

	verify->runs = strata_index_chain(strata_index_runs(verify->relation,
														verify->snapshot,
														target), &covered);
	if (verify->runs != NIL)
		strata_index_collect(&collector, store, verify->snapshot, target, 0,
							 covered, compare_runs, verify);
}

/* What is kept for indexes with operator classes of their own. */
static void
verify_classes(Verify *verify, StrataStore *store)
{
	List	   *indexes = RelationGetIndexList(store->rel);
	StrataIndexTarget target;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		if (!strata_index_class_target(lfirst_oid(lc), &target))
			continue;
		if (target.kind == STRATA_INDEX_KEYS)
			verify_hashes(verify, store, &target);
		else
			strata_index_verify_summaries(store, verify->relation,
										  verify->snapshot, &target,
										  verify->report, verify->arg);
	}
	list_free(indexes);
}

/* See index.h. */
void
strata_index_verify(StrataStore *store, Snapshot snapshot,
					StrataIndexReport report, void *arg)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata batch index verify",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	Oid			oid = strata_index_relation_oid(store->batches);
	Verify		verify = {.snapshot = snapshot,.report = report,.arg = arg};

	if (OidIsValid(oid))
		verify.relation = table_open(oid, AccessShareLock);
	for (AttrNumber attno = 1;
		 OidIsValid(oid) && attno <= store->schema->natts; attno++)
	{
		StrataIndexTarget target = strata_index_hash_target(store->rel, attno);

		if (OidIsValid(target.function))
			verify_hashes(&verify, store, &target);
	}
	if (OidIsValid(oid))
		verify_classes(&verify, store);
	if (OidIsValid(oid))
		table_close(verify.relation, NoLock);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}
