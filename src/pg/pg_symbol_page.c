/*-------------------------------------------------------------------------
 *
 * pg_symbol_page.c
 *	  What the access method strata_dedup makes heapam do: take slots of ours
 *	  for its own, write a page anew, let an UPDATE see which columns change,
 *	  show the page that VACUUM FULL is about to write, and take pages that
 *	  were filled in memory.
 *
 * The page.  The record is heapam's own of pruning, with nothing to prune and
 * a full image.  heap_xlog_prune() restores the image under a cleanup lock, so
 * that no reader of a standby sees bytes move that it points to.
 * GenericXLog and log_newpage_buffer() are replayed under an exclusive lock
 * only; a resource manager of our own would make the library a condition of
 * recovery.
 *
 * UPDATE.  heap_update() compares the tuple in the page with the new one,
 * column by column, for the columns of the relcache's sets.  A column that it
 * cannot read there is taken out, and the whole row, attribute 0, which it
 * always takes for changed, is put in for such a column that changes.  A set
 * is known again by an attribute that no index has: tableoid, which never
 * changes.
 *
 * VACUUM FULL.  rewriteheap.c fills a page in memory that nobody else knows,
 * and asks the page for room before each tuple.
 *
 * Pages filled in memory.  Rows get the header that heap_multi_insert() gives
 * them, and nobody sees them before the page is in its buffer and logged.
 * Logical decoding would not find rows in an image.
 *
 * src/pg/pg_symbol_page.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "base/compat.h"

#include "access/heapam_xlog.h"
#include "access/heaptoast.h"
#include "access/hio.h"
#include "access/sysattr.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "pgstat.h"
#include "utils/memutils.h"

#define TABLE_OID_MEMBER \
	(TableOidAttributeNumber - FirstLowInvalidHeapAttributeNumber)
#define WHOLE_ROW_MEMBER (0 - FirstLowInvalidHeapAttributeNumber)

/* See pg.h. */
void
strata_page_replace(Relation rel, Buffer buffer, const char *image)
{
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	memcpy(page, image, BLCKSZ);
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(rel))
	{
		xl_heap_prune record = STRATA_PRUNE_RECORD;
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterData((char *) &record, SizeOfHeapPrune);
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD | REGBUF_FORCE_IMAGE);
		lsn = XLogInsert(RM_HEAP2_ID, STRATA_PRUNE_RECORD_TYPE);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
}

/* The set that heap_update() is to use in place of one of the relcache's. */
static Bitmapset *
shown_columns(const Bitmapset *own, const Bitmapset *unread,
			  const Bitmapset *changed)
{
	Bitmapset  *result = bms_difference(own, unread);

	if (bms_overlap(own, changed))
		result = bms_add_member(result, WHOLE_ROW_MEMBER);
	return result;
}

/* See pg.h. */
void
strata_index_columns_show(StrataIndexColumns *columns, Relation rel,
						  const Bitmapset *unread, const Bitmapset *changed)
{
	Bitmapset **sets[STRATA_INDEX_COLUMN_SETS];
	MemoryContext old = MemoryContextSwitchTo(CacheMemoryContext);

	strata_index_column_sets(rel, sets);
	columns->rel = rel;
	for (int i = 0; i < STRATA_INDEX_COLUMN_SETS; i++)
	{
		columns->own[i] = *sets[i];
		columns->shown[i] = shown_columns(*sets[i], unread, changed);
	}
	/* an empty first set would mean that they are not known */
	columns->shown[0] = bms_add_member(columns->shown[0], TABLE_OID_MEMBER);
	for (int i = 0; i < STRATA_INDEX_COLUMN_SETS; i++)
		*sets[i] = columns->shown[i];
	MemoryContextSwitchTo(old);
}

/* See pg.h. */
void
strata_index_columns_restore(StrataIndexColumns *columns)
{
	Bitmapset **sets[STRATA_INDEX_COLUMN_SETS];
	bool		is_ours;

	strata_index_column_sets(columns->rel, sets);

	/*
	 * A rebuilt entry has freed ours and has others, perhaps where ours were.
	 */
	is_ours = *sets[0] == columns->shown[0] &&
		bms_is_member(TABLE_OID_MEMBER, *sets[0]);
	for (int i = 0; i < STRATA_INDEX_COLUMN_SETS; i++)
	{
		if (is_ours)
		{
			*sets[i] = columns->own[i];
			bms_free(columns->shown[i]);
		}
		else
			bms_free(columns->own[i]);
	}
}

/* See pg.h. */
char *
strata_rewrite_page(RewriteState state, Relation from, Relation to,
					BlockNumber *block)
{
	const StrataRewriteHead *head = (const StrataRewriteHead *) state;
	char	   *page;

	if (head->rs_old_rel != from || head->rs_new_rel != to)
		elog(ERROR, "state of a rewrite is not as expected");
	*block = head->rs_blockno;
	page = strata_rewrite_buffer(head);
	if (page == NULL)
		return NULL;
	if (PageGetPageSize(page) != BLCKSZ ||
		((PageHeader) page)->pd_lower < SizeOfPageHeaderData ||
		((PageHeader) page)->pd_lower > ((PageHeader) page)->pd_upper ||
		((PageHeader) page)->pd_upper > ((PageHeader) page)->pd_special)
		elog(ERROR, "page of a rewrite is not as expected");
	return page;
}

/* See pg.h. */
HeapTuple
strata_tuple_to_load(Relation rel, TupleTableSlot *slot, TransactionId xid,
					 CommandId cid, bool *should_free)
{
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, true, should_free);
	HeapTupleHeader header = tuple->t_data;

	if (HeapTupleHasExternal(tuple) || tuple->t_len > TOAST_TUPLE_THRESHOLD)
	{
		if (*should_free)
			heap_freetuple(tuple);
		return NULL;
	}
	header->t_infomask &= ~HEAP_XACT_MASK;
	header->t_infomask2 &= ~HEAP2_XACT_MASK;
	header->t_infomask |= HEAP_XMAX_INVALID;
	HeapTupleHeaderSetXmin(header, xid);
	HeapTupleHeaderSetCmin(header, cid);
	HeapTupleHeaderSetXmax(header, 0);
	slot->tts_tableOid = tuple->t_tableOid = RelationGetRelid(rel);
	return tuple;
}

/* See pg.h. */
void
strata_page_load(Relation rel, Buffer buffer, char *page, int nrows)
{
	int			nitems = PageGetMaxOffsetNumber(page);

	for (int i = nitems - nrows + 1; i <= nitems; i++)
	{
		HeapTupleHeader header =
		(HeapTupleHeader) PageGetItem(page, PageGetItemId(page, i));

		ItemPointerSet(&header->t_ctid, BufferGetBlockNumber(buffer), i);
	}
	strata_page_replace(rel, buffer, page);
	UnlockReleaseBuffer(buffer);
	/* of serializable readers, those of the whole table */
	CheckForSerializableConflictIn(rel, NULL, InvalidBlockNumber);
	pgstat_count_heap_insert(rel, nrows);
}

/* See pg.h. */
Buffer
strata_page_append(Relation rel, struct BulkInsertStateData *bistate)
{
	bool		extension_lock = !RELATION_IS_LOCAL(rel);
	Buffer		buffer;

	if (extension_lock)
		LockRelationForExtension(rel, ExclusiveLock);
	buffer = ReadBufferExtended(rel, MAIN_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK,
								bistate != NULL ? bistate->strategy : NULL);
	if (extension_lock)
		UnlockRelationForExtension(rel, ExclusiveLock);
	return buffer;
}
