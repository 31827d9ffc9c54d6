/*-------------------------------------------------------------------------
 *
 * dedup_load.c
 *	  Many rows at once, as COPY brings them: where they fill pages, these are
 *	  filled and deduplicated in memory, and logged once.
 *
 * Otherwise a page is logged twice or more: its rows, and an image each time
 * that it is deduplicated.  Rows that do not fill a page go heapam's way, and
 * so do all where pages gain nothing, where earlier pages have room, and where
 * the log is decoded.
 *
 * src/dedup/dedup_load.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "access/heapam.h"
#include "access/parallel.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/freespace.h"

/* A page that the rows are put into where it has so much room. */
#define ROOM_TO_USE (BLCKSZ / 4)

/* A page is deduplicated again for so many bytes. */
#define ANOTHER_ROUND 400

static bool
may_load(Relation rel, int options)
{
	return strata_enable_deduplication && !strata_torture &&
		!RelationIsLogicallyLogged(rel) && !IsParallelWorker() &&
		(options & TABLE_INSERT_FROZEN) == 0;
}

/*
 * Fill the page, deduplicating it when it is full; how many of the slots' rows
 * it has then.  0: they do not fill it; *in_vain: it gains nothing.
 */
static int
fill_page(Relation rel, char *page, const bool *plain, TupleTableSlot **slots,
		  int nslots, CommandId cid, bool *in_vain)
{
	TransactionId xid = GetCurrentTransactionId();
	Size		spare = RelationGetTargetPageFreeSpace(rel,
													   HEAP_DEFAULT_FILLFACTOR);
	StrataPageWork *work = strata_dedup_work();
	Size		first = 0;		/* what the first round gained */
	Size		gain = 0;
	int			n = 0;

	do
	{
		Size		room;

		while (n < nslots &&
			   strata_page_put_row(rel, page, slots[n], xid, cid, spare))
			n++;
		room = PageGetHeapFreeSpace(page);
		/* a row that was too large for it is one that will be toasted */
		if (n == nslots || room > ROOM_TO_USE + spare)
			return 0;
		/* of what was put into what was gained, as large a part again */
		if (first > 0 && gain * first / BLCKSZ < ANOTHER_ROUND)
			break;
		if (strata_page_deduplicate(page, RelationGetDescr(rel), plain,
									strata_dedup_rule_now(),
									first > 0 ? ANOTHER_ROUND :
									strata_dedup_min_gain,
									work) != STRATA_PAGE_CHANGED)
			break;
		memcpy(page, strata_page_work_result(work), BLCKSZ);
		gain = PageGetHeapFreeSpace(page) - room;
		if (first == 0)
			first = gain;
	} while (gain > 0);
	*in_vain = first == 0;
	return first > 0 ? n : 0;
}

/* See dedup_private.h. */
int
strata_dedup_load_page(Relation rel, TupleTableSlot **slots, int nslots,
					   CommandId cid, int options,
					   struct BulkInsertStateData *bistate)
{
	bool		in_vain = false;
	bool	   *plain;
	char	   *page;
	int			n;

	if (!may_load(rel, options) ||
		GetPageWithFreeSpace(rel, ROOM_TO_USE) != InvalidBlockNumber ||
		strata_dedup_passes_over(strata_dedup_patience(rel)) ||
		!strata_dedup_plain_columns(rel, &plain))
		return 0;
	page = palloc(BLCKSZ);
	PageInit(page, BLCKSZ, 0);
	n = fill_page(rel, page, plain, slots, nslots, cid, &in_vain);
	if (n > 0)
	{
		BlockNumber block = strata_page_append(rel, page, bistate);

		for (int i = 0; i < n; i++)
			ItemPointerSet(&slots[i]->tts_tid, block, i + 1);
		RecordPageWithFreeSpace(rel, block, PageGetHeapFreeSpace(page));
	}
	if (n > 0 || in_vain)
		strata_dedup_tell_outcome(strata_dedup_patience(rel), !in_vain);
	pfree(page);
	if (plain != NULL)
		pfree(plain);
	return n;
}
