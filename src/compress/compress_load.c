/*-------------------------------------------------------------------------
 *
 * compress_load.c
 *	  New rows straight into batches, without having been in the row store.
 *
 * The rows are gathered as compression gathers them, and the batches written
 * with the caller's command id, so they are visible, and vanish, as rows of
 * the row store would.
 *
 * Other than compression this moves no row, so it does with the lock that
 * every INSERT has: writers go on, and so do other direct loads, which take
 * turns for the row numbers of each batch (store_write.c).  Compression,
 * recompression and DDL are kept out by that lock.  Only the companion itself
 * is made under ExclusiveLock, if that can be had at once.  All this rests on
 * there being no unique index: nobody looks for the keys of batches that are
 * not committed.
 *
 * Memory: what the caller allows, and one batch.
 *
 * src/compress/compress_load.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"
#include "stat/stat.h"

#include "access/genam.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "storage/smgr.h"
#include "utils/inval.h"
#include "utils/memutils.h"

/*
 * A segment with fewer rows than this part of a batch is left to the row
 * store.
 */
#define FEW_ROWS_PART 8

struct StrataDirectLoad
{
	MemoryContext mcxt;			/* owns everything here */
	MemoryContext row_mcxt;		/* for one row */
	Relation	rel;
	StrataStore *store;
	StrataLayout *layout;
	StrataRowCheck *check;
	StrataPickyIndexes *picky;
	StrataBatchWriter *writer;
	StrataGather *gather;
	int			least;			/* rows of a segment, else it is left to the
								 * row store */
	bool		tracks;			/* rollups want to know the rows' times */
	StrataTracked tracked;
};

static bool
has_unique_index(Relation rel)
{
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		bool		unique;

		unique = index->rd_index->indisunique ||
			index->rd_index->indisexclusion;
		index_close(index, NoLock);
		if (unique)
			return true;
	}
	return false;
}

/* See compress.h. */
const char *
strata_direct_load_obstacle(Relation rel)
{
	if (!strata_relation_is_strata(rel))
		return "not a strata table";
	if (!strata_store_can_compress(rel, NULL))
		return "table cannot be compressed";
	if (has_unique_index(rel))
		return "unique index";
	if (RelationIsLogicallyLogged(rel))
		return "wal_level = logical";
	if (IsolationIsSerializable())
		return "serializable transaction";
	return NULL;
}

/*
 * The companion, fit for the present settings, or NULL.  The layout is the one
 * to write by.
 */
static StrataStore *
open_store(Relation rel, StrataLayout **layout)
{
	StrataStore *store;

	*layout = strata_store_current_layout(rel);
	/* another session may have made it just now */
	AcceptInvalidationMessages();
	if (!OidIsValid(strata_companion_oid(rel)))
	{
		if (!ConditionalLockRelation(rel, ExclusiveLock))
			return NULL;
		if (!OidIsValid(strata_companion_oid(rel)))
			(void) strata_companion_prepare(rel, layout);
	}
	store = strata_store_open(rel, RowExclusiveLock);
	if (strata_companion_is_ready(store, *layout))
		return store;

	/*
	 * settings or columns have changed since: the next compression sees to it
	 */
	strata_store_close(store, NoLock);
	return NULL;
}

/* See compress.h. */
StrataDirectLoad *
strata_direct_load_begin(Relation rel, CommandId cid, int kilobytes,
						 int least)
{
	MemoryContext mcxt;
	MemoryContext old;
	StrataDirectLoad *load;

	if (strata_direct_load_obstacle(rel) != NULL)
		return NULL;
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata direct load",
								 ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	load = palloc0(sizeof(StrataDirectLoad));
	load->mcxt = mcxt;
	load->rel = rel;
	load->store = open_store(rel, &load->layout);
	if (load->store == NULL)
	{
		MemoryContextSwitchTo(old);
		MemoryContextDelete(mcxt);
		return NULL;
	}
	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock,
								   true));	/* compress:K3 */
	load->tracks = strata_store_tracked(rel, &load->tracked);
	load->row_mcxt = AllocSetContextCreate(mcxt, "strata direct load row",
										   ALLOCSET_DEFAULT_SIZES);
	load->check = strata_row_check_create(rel, load->layout);
	load->picky = strata_picky_indexes_open(rel);
	load->writer = strata_batch_writer_begin(load->store, load->layout, true);
	load->writer->cid = cid;
	load->least = least > 0 ? least :
		Max(load->writer->batch_rows / FEW_ROWS_PART, 2);
	load->gather = strata_gather_begin(load->writer, load->layout, kilobytes);
	MemoryContextSwitchTo(old);
	return load;
}

/* See compress.h. */
bool
strata_direct_load_add(StrataDirectLoad *load, TupleTableSlot *slot)
{
	TupleTableSlot *own;
	MemoryContext old;

	Assert(load->writer->shared);	/* compress:K3 */
	if (!strata_row_fits(load->check, slot) ||
		!strata_picky_indexes_take(load->picky, slot))
		return false;
	old = MemoryContextSwitchTo(load->row_mcxt);
	own = strata_row_fetch_external(load->check, slot);
	if (load->tracks)
		strata_track_slot(&load->tracked, own);
	strata_gather_add(load->gather, own);
	if (own != slot)
		ExecClearTuple(own);
	MemoryContextSwitchTo(old);
	MemoryContextReset(load->row_mcxt);
	return true;
}

/* See compress.h. */
void
strata_direct_load_end(StrataDirectLoad *load, StrataRowPut put, void *arg)
{
	MemoryContext old = MemoryContextSwitchTo(load->mcxt);

	Assert(!has_unique_index(load->rel));	/* compress:K3 */
	if (load->least > 1)
		strata_gather_keep_few(load->gather, load->least, put, arg);
	strata_gather_end(load->gather);
	strata_batch_writer_end(load->writer);
	/* the row store's are counted by heapam */
	pgstat_count_heap_insert(load->rel, load->writer->nrows);
	strata_stat_compressed(RelationGetRelid(load->rel), load->writer->nrows,
						   load->writer->nbatches, false);
	strata_row_check_free(load->check);
	strata_picky_indexes_close(load->picky);
	strata_store_close(load->store, NoLock);
	strata_companion_complete(load->rel, load->layout);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(load->mcxt);
}

/* See compress.h. */
bool
strata_direct_load_restores(Relation rel)
{
	return strata_settings_compressed(rel) &&
		smgrnblocks(RelationGetSmgr(rel), MAIN_FORKNUM) == 0 &&
		!OidIsValid(strata_companion_oid(rel)) &&
		!strata_settings_refuse_direct_load(rel);
}

/* See compress.h. */
void
strata_direct_load_prepare(Relation rel)
{
	StrataLayout *layout = strata_store_current_layout(rel);

	if (!OidIsValid(strata_companion_oid(rel)))
		(void) strata_companion_prepare(rel, &layout);
}
