/*-------------------------------------------------------------------------
 *
 * index_known.c
 *	  Where the rows are that describe runs, remembered from query to query.
 *
 * Descriptions of all runs lie in pages of their own, which a look-up would
 * read to find the one or two that it wants.  So their places are kept.  What
 * is there is asked for anew with each snapshot, and is as it was: a row that
 * the snapshot does not see, or another in its place, has all be read again.
 * So what is kept may be old, and is right (index:I2).  New runs end it, by an
 * invalidation of the relation.
 *
 * src/index/index_known.c
 *-------------------------------------------------------------------------
 */
#include "index/index_private.h"

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "storage/bufmgr.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Longer chains are not kept: each run is four times as large as the next. */
#define MAX_RUNS 8

/* Chains of a relation: of a column or index each. */
#define MAX_CHAINS 8

#define MAX_RELATIONS 1024

typedef struct KnownChain
{
	int			n;				/* at least one */
	StrataIndexRun runs[FLEXIBLE_ARRAY_MEMBER];
} KnownChain;

typedef struct KnownRelation
{
	Oid			relation;
	int			n;
	int			next;			/* to be replaced, where there are enough */
	KnownChain *chains[MAX_CHAINS];
} KnownRelation;

static HTAB *known_relations = NULL;

static void
forget_chains(KnownRelation *known)
{
	for (int i = 0; i < known->n; i++)
		pfree(known->chains[i]);
	known->n = known->next = 0;
}

static void
forget_relations(void)
{
	HASH_SEQ_STATUS status;
	KnownRelation *known;

	hash_seq_init(&status, known_relations);
	while ((known = hash_seq_search(&status)) != NULL)
	{
		forget_chains(known);
		(void) hash_search(known_relations, &known->relation, HASH_REMOVE,
						   NULL);
	}
}

static void
forget_changed(Datum arg, Oid relid)
{
	KnownRelation *known;

	if (!OidIsValid(relid))
		forget_relations();
	else if ((known = hash_search(known_relations, &relid, HASH_FIND,
								  NULL)) != NULL)
		forget_chains(known);
}

static KnownRelation *
find_relation(Relation relation)
{
	Oid			oid = RelationGetRelid(relation);

	return known_relations == NULL ? NULL :
		hash_search(known_relations, &oid, HASH_FIND, NULL);
}

/* Which of the relation's chains is the target's?  known->n: none. */
static int
chain_number(const KnownRelation *known, const StrataIndexTarget *target)
{
	int			i = 0;

	while (i < known->n &&
		   !strata_index_run_is_of(&known->chains[i]->runs[0], target))
		i++;
	return i;
}

/* The target's runs, as they were found last; in the current context. */
static List *
find_runs(Relation relation, const StrataIndexTarget *target)
{
	const KnownRelation *known = find_relation(relation);
	int			i = known == NULL ? 0 : chain_number(known, target);
	List	   *runs = NIL;

	if (known == NULL || i == known->n)
		return NIL;
	for (int run = 0; run < known->chains[i]->n; run++)
		runs = lappend(runs, memcpy(palloc(sizeof(StrataIndexRun)),
									&known->chains[i]->runs[run],
									sizeof(StrataIndexRun)));
	return runs;
}

static void
make_relations(void)
{
	HASHCTL		ctl = {0};

	ctl.keysize = sizeof(Oid);
	ctl.entrysize = sizeof(KnownRelation);
	known_relations = hash_create("strata known runs", 64, &ctl,
								  HASH_ELEM | HASH_BLOBS);
	strata_relcache_callback_add(forget_changed);
}

/* Remember them, in place of what was known of the target. */
static void
keep_runs(Relation relation, const StrataIndexTarget *target, List *runs)
{
	Oid			oid = RelationGetRelid(relation);
	KnownChain *chain;
	KnownRelation *known;
	bool		found;
	ListCell   *lc;
	int			i;

	if (runs == NIL || list_length(runs) > MAX_RUNS)
		return;
	if (known_relations == NULL)
		make_relations();
	if (hash_get_num_entries(known_relations) >= MAX_RELATIONS)
		forget_relations();
	chain = MemoryContextAlloc(TopMemoryContext,
							   offsetof(KnownChain, runs) +
							   sizeof(StrataIndexRun) * list_length(runs));
	chain->n = 0;
	foreach(lc, runs)
		chain->runs[chain->n++] = *(const StrataIndexRun *) lfirst(lc);
	known = hash_search(known_relations, &oid, HASH_ENTER, &found);
	if (!found)
		known->n = known->next = 0;
	i = chain_number(known, target);
	if (i == MAX_CHAINS)
		i = known->next++ % MAX_CHAINS;
	if (i < known->n)
		pfree(known->chains[i]);
	else
		known->n++;
	known->chains[i] = chain;
}

/* Is the run described there, to the snapshot, as it was? */
static bool
is_there(Relation relation, Snapshot snapshot, const StrataIndexRun *run,
		 TupleTableSlot *slot)
{
	ItemPointerData self = run->self;
	StrataIndexRun now;
	bool		to_free;
	bool		same;

	/* VACUUM may have made the relation shorter; now nobody does */
	if (ItemPointerGetBlockNumber(&self) >=
		RelationGetNumberOfBlocks(relation) ||
		!table_tuple_fetch_row_version(relation, &self, snapshot, slot))
		return false;
	same = !slot_attisnull(slot, STRATA_INDEX_ATT_COLUMN);
	if (same)
	{
		memset(&now, 0, sizeof(now));
		strata_index_run_describe(relation,
								  ExecFetchSlotHeapTuple(slot, false,
														 &to_free),
								  &now);
		same = memcmp(&now, run, sizeof(StrataIndexRun)) == 0;
	}
	ExecClearTuple(slot);
	return same;
}

/* Are all of them? */
static bool
are_there(Relation relation, Snapshot snapshot, List *runs)
{
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	bool		there = true;
	ListCell   *lc;

	foreach(lc, runs)
		there = there && is_there(relation, snapshot, lfirst(lc), slot);
	ExecDropSingleTupleTableSlot(slot);
	return there;
}

/* See index_private.h. */
List *
strata_index_known_chain(Relation relation, Snapshot snapshot,
						 const StrataIndexTarget *target, int64 *covered)
{
	List	   *runs = NIL;

	if (strata_enable_row_cache)
		runs = find_runs(relation, target);
	if (runs != NIL && are_there(relation, snapshot, runs))
		return strata_index_chain(runs, covered);
	runs = strata_index_chain(strata_index_runs(relation, snapshot, target),
							  covered);
	if (IsMVCCSnapshot(snapshot))
		keep_runs(relation, target, runs);
	return runs;
}
