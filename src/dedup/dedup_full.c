/*-------------------------------------------------------------------------
 *
 * dedup_full.c
 *	  Pages that have got full are deduplicated.
 *
 * Each session remembers where its last row of a table went.  When the next
 * one goes elsewhere, that page is full: it is deduplicated, if nobody else
 * has it pinned, and what is free then is put into the free space map, so that
 * rows go there until it is full again.  Pages that gain too little stay as
 * they are; a table whose pages gain nothing is tried less and less often.
 *
 * Nothing waits here, and nothing is owed: a page that is missed is found by
 * VACUUM, or when it gets full again.
 *
 * src/dedup/dedup_full.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "access/sysattr.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

/* At most so many full pages in a row are passed over. */
#define MAX_PASSED_OVER 63

/* In rd_amcache: freed whenever the relation's entry is rebuilt. */
typedef struct DedupPlace
{
	BlockNumber last;			/* where the last row went */
	StrataDedupPatience patience;
	StrataDedupLoad load;
} DedupPlace;

/* See dedup_private.h. */
StrataPageRule
strata_dedup_rule_now(void)
{
	return strata_torture ? STRATA_PAGE_ALL : strata_dedup_rule;
}

/* See dedup_private.h. */
StrataPageWork *
strata_dedup_work(void)
{
	static StrataPageWork *work = NULL;

	if (work == NULL)
		work = MemoryContextAlloc(TopMemoryContext, strata_page_work_size());
	return work;
}

/*
 * May this transaction have changed the table's replica identity, and roll
 * that back, while the table's file stays?  Who changes it has this lock.
 */
static bool
identity_may_change(Relation rel)
{
	bool		own_file = (rel->rd_createSubid != InvalidSubTransactionId ||
							strata_new_file_subid(rel) != InvalidSubTransactionId) &&
	GetCurrentTransactionNestLevel() == 1;

	return !own_file && RelationIsPermanent(rel) &&
		CheckRelationLockedByMe(rel, AccessExclusiveLock, true);
}

/*
 * See dedup_private.h.  heapam copies a replica identity out of the page into
 * the log for logical decoding, so its columns have to be there; also while
 * wal_level is lower, as pages stay.
 */
bool
strata_dedup_plain_columns(Relation rel, bool **plain)
{
	Bitmapset  *columns;
	int			member = -1;

	*plain = NULL;

	/*
	 * what ALTER TABLE writes is the table's next, and has no indexes itself;
	 * relations of ours that nobody publishes name themselves there
	 */
	if (OidIsValid(rel->rd_rel->relrewrite) &&
		rel->rd_rel->relrewrite != RelationGetRelid(rel))
	{
		Relation	from = try_relation_open(rel->rd_rel->relrewrite,
											 AccessShareLock);

		if (from != NULL)
		{
			bool		some = strata_dedup_plain_columns(from, plain);

			relation_close(from, AccessShareLock);
			return some;
		}
	}
	if (rel->rd_rel->relreplident == REPLICA_IDENTITY_FULL)
		return false;
	columns = RelationGetIndexAttrBitmap(rel,
										 INDEX_ATTR_BITMAP_IDENTITY_KEY);
	if (columns == NULL)
		return true;
	*plain = palloc0(sizeof(bool) * RelationGetDescr(rel)->natts);
	while ((member = bms_next_member(columns, member)) >= 0)
	{
		int			attno = member + FirstLowInvalidHeapAttributeNumber;

		if (attno > 0)
			(*plain)[attno - 1] = true;
	}
	bms_free(columns);
	return true;
}

/* See dedup_private.h. */
bool
strata_dedup_wanted(Relation rel, bool **plain)
{
	*plain = NULL;
	return !identity_may_change(rel) &&
		strata_dedup_plain_columns(rel, plain); /* dedup:DD9 */
}

/*
 * Would a row like the others not fit?  Also where fillfactor says that it
 * does not.
 */
static bool
is_full(Relation rel, Page page)
{
	const PageHeaderData *header = (const PageHeaderData *) page;
	int			nitems = PageGetMaxOffsetNumber(page);

	return nitems > 0 && PageGetHeapFreeSpace(page) <
		RelationGetTargetPageFreeSpace(rel, HEAP_DEFAULT_FILLFACTOR) +
		2 * MAXALIGN((header->pd_special - header->pd_upper) / nitems);
}

/* See dedup_private.h. */
int
strata_dedup_block(Relation rel, BlockNumber block, DedupWhen when,
				   int min_gain)
{
	StrataPageWork *work = strata_dedup_work();
	bool	   *plain;
	Buffer		buffer;
	Page		page;
	int			result = DEDUP_NOT_TRIED;

	if (!strata_dedup_wanted(rel, &plain))
	{
		if (when != DEDUP_ANY)
			return DEDUP_NOT_TRIED;
		/* dedup:DD5: what it has of symbols goes */
		plain = palloc(sizeof(bool) * RelationGetDescr(rel)->natts);
		memset(plain, true, sizeof(bool) * RelationGetDescr(rel)->natts);
	}
	buffer = ReadBuffer(rel, block);
	if (!ConditionalLockBufferForCleanup(buffer))
	{
		ReleaseBuffer(buffer);
		return DEDUP_NOT_TRIED;
	}
	page = BufferGetPage(buffer);
	if (when == DEDUP_ANY || is_full(rel, page))
		result = DEDUP_IN_VAIN;
	if (result == DEDUP_IN_VAIN &&
		strata_page_deduplicate(page, RelationGetDescr(rel), plain,
								strata_dedup_rule_now(), min_gain,
								work) == STRATA_PAGE_CHANGED)
	{
		const PageHeaderData *image =
		(const PageHeaderData *) strata_page_work_result(work);

		Assert(image->pd_lower == ((PageHeader) page)->pd_lower);	/* dedup:DD2 */
		Assert(BufferIsPermanent(buffer) ||
			   !RelationNeedsWAL(rel)); /* dedup:DD1 */
		(void) image;
		strata_page_replace(rel, buffer, strata_page_work_result(work));
		result = PageGetHeapFreeSpace(page);
	}
	UnlockReleaseBuffer(buffer);
	if (plain != NULL)
		pfree(plain);
	return result;
}

/* What is known of the relation, or is from now on. */
static DedupPlace *
last_place(Relation rel, BlockNumber block)
{
	DedupPlace *place = rel->rd_amcache;

	if (place != NULL)
		return place;
	place = MemoryContextAllocZero(CacheMemoryContext, sizeof(DedupPlace));
	place->last = block;
	rel->rd_amcache = place;
	return place;
}

/* See dedup_private.h. */
StrataDedupPatience *
strata_dedup_patience(Relation rel)
{
	return &last_place(rel, InvalidBlockNumber)->patience;
}

/* See dedup_private.h. */
StrataDedupLoad *
strata_dedup_load(Relation rel)
{
	return &last_place(rel, InvalidBlockNumber)->load;
}

/* See dedup_private.h. */
bool
strata_dedup_passes_over(StrataDedupPatience *patience)
{
	if (patience->pass_over == 0)
		return false;
	patience->pass_over--;
	return true;
}

/* See dedup_private.h. */
void
strata_dedup_tell_outcome(StrataDedupPatience *patience, bool gained)
{
	patience->in_vain = gained ? 0 :
		Min(2 * patience->in_vain + 1, MAX_PASSED_OVER);
	patience->pass_over = patience->in_vain;
}

/* See dedup_private.h. */
void
strata_dedup_row_went_to(Relation rel, const ItemPointerData *tid)
{
	BlockNumber block = ItemPointerGetBlockNumber(tid);
	DedupPlace *place;
	BlockNumber full;
	int			room;

	if (!strata_enable_deduplication)
		return;
	if (unlikely(strata_torture))
	{
		(void) strata_dedup_block(rel, block, DEDUP_ANY, -BLCKSZ);
		return;
	}
	place = last_place(rel, block);
	full = place->last;
	if (likely(full == block))
		return;
	place->last = block;
	if (strata_dedup_passes_over(&place->patience))
		return;
	/* it may have been cut off, or be of another file of the table */
	if (full >= RelationGetNumberOfBlocks(rel))
		return;
	room = strata_dedup_block(rel, full, DEDUP_IF_FULL,
							  strata_dedup_min_gain);
	if (room > 0)
		RecordPageWithFreeSpace(rel, full, room);
	/* looking for columns may have freed the place */
	if (rel->rd_amcache != NULL && room != DEDUP_NOT_TRIED)
		strata_dedup_tell_outcome(&((DedupPlace *) rel->rd_amcache)->patience,
								  room > 0);
}
