/*-------------------------------------------------------------------------
 *
 * dedup_load.c
 *	  Many rows at once, as COPY brings them: where they fill pages, these are
 *	  filled and deduplicated in memory, and logged once.
 *
 * Otherwise a page is logged twice or more: its rows, and an image each time
 * that it is deduplicated.
 *
 * A new page begins as a wide one, which takes as many rows as the page before
 * had in the end, and is condensed at once.  Where room is left, rows go into
 * it as they are, and the page is deduplicated again as long as that promises
 * a gain.  COPY hands over a thousand rows at most; those at its end begin a
 * page that the next ones go on with.
 *
 * Rows that are few go heapam's way, and so do all where pages gain nothing,
 * where earlier pages have room, and where the log is decoded: logical
 * decoding does not find rows in an image.
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

/* Earlier pages with so much room are filled first; one with less is full. */
#define ROOM_TO_USE (BLCKSZ / 4)

/* A page is deduplicated again for so many bytes. */
#define ANOTHER_ROUND 400

/* Of what filled a page before, the part that the next one begins with. */
#define BEGIN_WITH(full) ((full) - (full) / 32)

/* A page that is being filled. */
typedef struct LoadedPage
{
	Relation	rel;
	const bool *plain;
	TransactionId xid;
	CommandId	cid;
	Size		spare;			/* bytes to be left free */
	TupleTableSlot **slots;		/* rows that are to come */
	int			nslots;
	char	   *page;			/* BLCKSZ bytes */
	int			n;				/* so many of the rows are in it */
	Size		taken;			/* plain bytes of all its rows, and how many */
	Size		saved;			/* fewer they are there */
	bool		is_full;		/* the next row does not fit */
} LoadedPage;

static bool
may_load(Relation rel, int options)
{
	return strata_enable_deduplication && !strata_torture &&
		!RelationIsLogicallyLogged(rel) && !IsParallelWorker() &&
		(options & TABLE_INSERT_FROZEN) == 0;
}

static Size
free_bytes(const char *page)
{
	const PageHeaderData *header = (const PageHeaderData *) page;

	return header->pd_upper - header->pd_lower;
}

/*
 * Put the next row into the page, or the wide one; false: it does not fit, or
 * is to be toasted.
 */
static bool
take_in_row(LoadedPage *to, char *wide)
{
	TupleTableSlot *slot = to->slots[to->n];
	bool		should_free;
	HeapTuple	tuple = strata_tuple_to_load(to->rel, slot, to->xid, to->cid,
											 &should_free);
	OffsetNumber offnum = InvalidOffsetNumber;

	if (tuple == NULL)
		return false;
	if (wide != NULL)
	{
		if (strata_page_wide_add(wide, tuple->t_data, tuple->t_len))
			offnum = to->n + 1;
	}
	else if (PageGetHeapFreeSpace(to->page) >=
			 MAXALIGN(tuple->t_len) + to->spare)
		offnum = PageAddItem(to->page, (Item) tuple->t_data, tuple->t_len,
							 PageGetMaxOffsetNumber(to->page) + 1, false,
							 true);
	to->is_full = offnum == InvalidOffsetNumber;
	if (!to->is_full)
	{
		ItemPointerSetOffsetNumber(&slot->tts_tid, offnum);
		to->taken += MAXALIGN(tuple->t_len) + sizeof(ItemIdData);
		to->n++;
	}
	if (should_free)
		heap_freetuple(tuple);
	return !to->is_full;
}

/*
 * Begin a page that `bytes` of rows are going to fill; false: nothing is
 * gained, or they are not so many and nothing comes before them.
 */
static bool
begin_load_page(LoadedPage *to, Size bytes, bool goes_on, bool *in_vain)
{
	StrataPageWork *work = strata_dedup_work();
	char	   *wide = palloc(STRATA_PAGE_WIDE);
	StrataPageOutcome outcome = STRATA_PAGE_NO_GAIN;
	bool		enough;

	strata_page_wide_init(wide);
	do
		enough = to->taken >= BEGIN_WITH(bytes);
	while (!enough && to->n < to->nslots && take_in_row(to, wide));
	enough |= to->is_full;
	while (to->n > 0 && (enough || goes_on))
	{
		outcome = strata_page_condense(wide, RelationGetDescr(to->rel),
									   to->plain, strata_dedup_rule_now(),
									   enough ? strata_dedup_min_gain : 1,
									   work);
		if (outcome == STRATA_PAGE_CHANGED &&
			PageGetHeapFreeSpace(strata_page_work_result(work)) < to->spare)
			outcome = STRATA_PAGE_TOO_LARGE;
		if (outcome != STRATA_PAGE_TOO_LARGE)
			break;
		/* an eighth fewer */
		to->n -= (to->n + 7) / 8;
		strata_page_wide_cut(wide, to->n);
		to->taken = STRATA_PAGE_WIDE - SizeOfPageHeaderData - free_bytes(wide);
	}
	*in_vain = enough && to->n > 0 && outcome == STRATA_PAGE_NO_GAIN;
	if (outcome == STRATA_PAGE_CHANGED)
	{
		memcpy(to->page, strata_page_work_result(work), BLCKSZ);
		to->saved = to->taken + SizeOfPageHeaderData + free_bytes(to->page) -
			BLCKSZ;
	}
	pfree(wide);
	return outcome == STRATA_PAGE_CHANGED;
}

/* Put rows into the page, deduplicating it when it is full. */
static void
go_on(LoadedPage *to)
{
	StrataPageWork *work = strata_dedup_work();

	for (;;)
	{
		Size		before = to->taken;
		Size		room;

		to->is_full = false;
		while (to->n < to->nslots && take_in_row(to, NULL))
			;
		room = free_bytes(to->page);
		if (!to->is_full ||
			(to->taken - before) * to->saved / to->taken < ANOTHER_ROUND)
			return;
		if (strata_page_deduplicate(to->page, RelationGetDescr(to->rel),
									to->plain, strata_dedup_rule_now(),
									ANOTHER_ROUND,
									work) != STRATA_PAGE_CHANGED)
			return;
		memcpy(to->page, strata_page_work_result(work), BLCKSZ);
		to->saved += free_bytes(to->page) - room;
	}
}

/*
 * The page that the load goes on with, in a buffer under a cleanup lock; or
 * an invalid buffer.
 */
static Buffer
lock_begun_page(Relation rel, const StrataDedupLoad *load)
{
	Buffer		buffer;

	if (load->block == InvalidBlockNumber ||
		load->block >= RelationGetNumberOfBlocks(rel))
		return InvalidBuffer;
	buffer = ReadBuffer(rel, load->block);
	if (!ConditionalLockBufferForCleanup(buffer))
	{
		ReleaseBuffer(buffer);
		return InvalidBuffer;
	}
	if (PageIsNew(BufferGetPage(buffer)) ||
		PageIsAllVisible(BufferGetPage(buffer)))
	{
		UnlockReleaseBuffer(buffer);
		return InvalidBuffer;
	}
	return buffer;
}

/* Write the page, whose last n rows are new, and remember what it was like. */
static void
write_page(LoadedPage *from, Buffer buffer)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	Size		room = PageGetHeapFreeSpace(from->page);
	StrataDedupLoad *load;

	for (int i = 0; i < from->n; i++)
		ItemPointerSetBlockNumber(&from->slots[i]->tts_tid, block);
	strata_page_load(from->rel, buffer, from->page, from->n);
	load = strata_dedup_load(from->rel);
	load->xid = from->xid;
	load->taken = from->taken;
	load->saved = from->saved;
	load->block = InvalidBlockNumber;
	load->room = room;
	if (!from->is_full)
		load->block = block;
	else
	{
		load->full = from->taken;
		RecordPageWithFreeSpace(from->rel, block, room);
	}
}

/* See dedup_private.h. */
int
strata_dedup_load_rows(Relation rel, TupleTableSlot **slots, int nslots,
					   CommandId cid, int options,
					   struct BulkInsertStateData *bistate, bool goes_on)
{
	LoadedPage	to = {rel};
	StrataDedupLoad load;
	Buffer		buffer = InvalidBuffer;
	bool		in_vain = false;
	bool	   *plain;

	if (!may_load(rel, options) || !strata_dedup_wanted(rel, &plain))
		return 0;
	to.xid = GetCurrentTransactionId();
	load = *strata_dedup_load(rel);
	if (load.xid == to.xid)
		buffer = lock_begun_page(rel, &load);
	/* it was another load's, or somebody reads that page */
	if (!BufferIsValid(buffer))
		strata_dedup_load_end(rel);
	to.plain = plain;
	to.cid = cid;
	to.spare = RelationGetTargetPageFreeSpace(rel, HEAP_DEFAULT_FILLFACTOR);
	to.slots = slots;
	to.nslots = nslots;
	to.page = palloc(BLCKSZ);
	if (BufferIsValid(buffer))
	{
		memcpy(to.page, BufferGetPage(buffer), BLCKSZ);
		to.taken = load.taken;
		to.saved = load.saved;
		go_on(&to);
		if (to.n == 0)
		{
			UnlockReleaseBuffer(buffer);
			strata_dedup_load_end(rel);
		}
	}
	if (to.n == 0 &&
		GetPageWithFreeSpace(rel, ROOM_TO_USE) == InvalidBlockNumber &&
		!strata_dedup_passes_over(strata_dedup_patience(rel)))
	{
		to.taken = to.saved = 0;
		if (begin_load_page(&to, load.full > 0 ? load.full : BLCKSZ - to.spare,
							goes_on, &in_vain))
		{
			go_on(&to);
			buffer = strata_page_append(rel, bistate);
		}
		else
			to.n = 0;
	}
	if (to.n > 0)
		write_page(&to, buffer);
	if (to.n > 0 || in_vain)
		strata_dedup_tell_outcome(strata_dedup_patience(rel), !in_vain);
	pfree(to.page);
	if (plain != NULL)
		pfree(plain);
	return to.n;
}

/* See dedup_private.h. */
void
strata_dedup_load_end(Relation rel)
{
	StrataDedupLoad *load = strata_dedup_load(rel);
	BlockNumber block = load->block;

	if (!TransactionIdIsValid(load->xid))
		return;
	load->xid = InvalidTransactionId;
	load->block = InvalidBlockNumber;
	if (block != InvalidBlockNumber && block < RelationGetNumberOfBlocks(rel))
		RecordPageWithFreeSpace(rel, block, load->room);
}
