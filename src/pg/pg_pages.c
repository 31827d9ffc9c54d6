/*-------------------------------------------------------------------------
 *
 * pg_pages.c
 *	  The pages of a companion, or of a row store, one after the other, for
 *	  those who read all of it.
 *
 * A heap scan as heapam does it, with the query's snapshot, but made for pages
 * that hold two or three rows each: there the way to a page and the first look
 * at its rows, each a wait for memory, are what time goes into.
 *
 * - Where a page was in shared buffers last time is remembered (a hint,
 *	 checked by ReadRecentBuffer), which saves looking it up.
 * - The next page is pinned while this one is worked on, and what will be read
 *	 of it, and of those behind it, is asked for in advance, so that the waits
 *	 overlap.
 *
 * Both stay for what they save, measured without them: count and avg that
 * summaries answer take 5 to 7 % longer then, other queries as long as before
 * (165 lines fewer).
 *
 * The pages of a parallel scan are handed out as heapam hands them out: those
 * who share it may read by heapam, or here, as each sees fit.
 *
 * Left to heapam (strata_pages_can_read): temporary tables, serializable
 * transactions, and tables so large that it would read them through a ring of
 * buffers and join others who read them.
 *
 * src/pg/pg_pages.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "base/base.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "base/compat.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

/* Tables with fewer pages are not worth remembering. */
#define MEMO_MIN_PAGES 16
/* Pages of all tables to remember: 4 MB, for 8 GB of pages. */
#define MEMO_MAX_PAGES (1024 * 1024)

/* So many pages are asked for at a time. */
#define GROUP 8
#define CACHE_LINE 64
/* What is read of a row before its columns: so many bytes, of so many rows. */
#define FIRST_BYTES (4 * CACHE_LINE)
#define FIRST_ROWS 4

/* Where pages were: of one table. */
typedef struct PageMemo
{
	Oid			relid;			/* hash key */
	BlockNumber npages;			/* places there are */
	Buffer	   *buffers;
} PageMemo;

static HTAB *memos = NULL;
static MemoryContext memo_mcxt = NULL;
static Size memo_pages = 0;
static int	memo_generation = 0;	/* of memos: older ones are gone */

struct StrataPages
{
	Relation	rel;
	Snapshot	snapshot;
	ParallelBlockTableScanDesc shared;	/* hands out pages; NULL: all are ours */
	ParallelBlockTableScanWorkerData share; /* what it has handed out to us */
	bool		sharing;		/* share is set */
	BlockNumber nblocks;
	bool		inside;			/* block is a page, and pinned */
	BlockNumber block;
	Buffer		buffer;
	bool		looked_ahead;	/* these are known: */
	BlockNumber next_block;		/* the page to read next; or invalid */
	Buffer		next;			/* it is pinned here; or invalid */
	int			ntuples;		/* visible ones of the page */
	int			current;
	HeapTupleData tuple;
	PageMemo   *memo;			/* NULL: none */
	int			generation;
	OffsetNumber offsets[MaxHeapTuplesPerPage];
};

/* See pg.h. */
bool
strata_pages_can_read(Relation rel, Snapshot snapshot)
{
	return strata_enable_page_scan && IsMVCCSnapshot(snapshot) &&
		!IsolationIsSerializable() && !RelationUsesLocalBuffers(rel) &&
		RelationGetNumberOfBlocks(rel) <= NBuffers / 4;
}

/*-------------------------------------------------------------------------
 * Where pages were
 *-------------------------------------------------------------------------
 */
static void
forget_all(void)
{
	if (memo_mcxt == NULL)
		memo_mcxt = AllocSetContextCreate(CacheMemoryContext,
										  "strata places of pages",
										  ALLOCSET_DEFAULT_SIZES);
	MemoryContextReset(memo_mcxt);
	memos = NULL;
	memo_pages = 0;
	memo_generation++;
}

/*
 * The memo of a relation of so many pages, new if there was none; NULL if it
 * is too small or too large for one.
 */
static PageMemo *
find_memo(Relation rel, BlockNumber npages)
{
	Oid			relid = RelationGetRelid(rel);
	PageMemo   *memo;
	bool		found;

	if (npages < MEMO_MIN_PAGES || npages > MEMO_MAX_PAGES / 4)
		return NULL;
	if (memos == NULL || memo_pages + npages > MEMO_MAX_PAGES)
	{
		HASHCTL		ctl = {0};

		forget_all();
		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(PageMemo);
		ctl.hcxt = memo_mcxt;
		memos = hash_create("strata places of pages", 16, &ctl,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	memo = hash_search(memos, &relid, HASH_ENTER, &found);
	if (!found)
	{
		memo->npages = 0;
		memo->buffers = NULL;
	}
	if (memo->npages < npages)
	{
		Size		size = sizeof(Buffer) * npages;

		if (memo->buffers == NULL)
			memo->buffers = MemoryContextAlloc(memo_mcxt, size);
		else
			memo->buffers = repalloc(memo->buffers, size);
		for (BlockNumber i = memo->npages; i < npages; i++)
			memo->buffers[i] = InvalidBuffer;
		memo_pages += npages - memo->npages;
		memo->npages = npages;
	}
	return memo;
}

/* The place of the page's hint; NULL: there is none. */
static inline Buffer *
hint_of(const StrataPages *pages, BlockNumber block)
{
	if (pages->memo == NULL || pages->generation != memo_generation ||
		block >= pages->memo->npages)
		return NULL;
	return &pages->memo->buffers[block];
}

/*-------------------------------------------------------------------------
 * Reading
 *-------------------------------------------------------------------------
 */
static Buffer
pin_page(StrataPages *pages, BlockNumber block)
{
	Buffer	   *hint = hint_of(pages, block);
	Buffer		buffer;

	if (hint != NULL && BufferIsValid(*hint) &&
		ReadRecentBuffer(STRATA_REL_LOCATOR(pages->rel), MAIN_FORKNUM, block,
						 *hint))
	{
		pgstat_count_buffer_read(pages->rel);
		pgstat_count_buffer_hit(pages->rel);
		return *hint;
	}
	buffer = ReadBuffer(pages->rel, block);
	/* what was remembered may be gone since */
	hint = hint_of(pages, block);
	if (hint != NULL)
		*hint = buffer;
	return buffer;
}

/*
 * Where the page's row number i would be; NULL: there is no such row.  Needs
 * no lock.
 */
static inline const char *
row_place(Page page, int i)
{
	unsigned	offset;

	if (i >= (int) PageGetMaxOffsetNumber(page))
		return NULL;
	offset = ItemIdGetOffset(PageGetItemId(page, i + 1));
	return offset <= BLCKSZ - FIRST_BYTES ? (const char *) page + offset :
		NULL;
}

/*
 * Read a byte of GROUP pages that will be wanted soon, and then one of each of
 * their first rows, so that the waits for memory, and for the translation of
 * addresses, overlap.  What is wrong here costs time only: the pages are not
 * pinned, others may be moving rows, or have another page in the buffer.
 */
static void
touch_group(const StrataPages *pages, BlockNumber from)
{
	Page		group[GROUP];
	int			n = 0;

#ifdef USE_VALGRIND
	return;						/* it knows that they are not pinned */
#endif
	for (BlockNumber block = from; block < from + GROUP; block++)
	{
		const Buffer *hint = hint_of(pages, block);

		if (hint == NULL || !BufferIsValid(*hint))
			continue;
		group[n] = BufferGetPage(*hint);
		(void) *(volatile const char *) group[n++];
	}
	for (int i = 0; i < n; i++)
		for (int row = 0; row < FIRST_ROWS; row++)
		{
			const char *place = row_place(group[i], row);

			if (place != NULL)
				(void) *(volatile const char *) place;
		}
}

/* The page to read behind the current one, or first; invalid: none. */
static BlockNumber
following_block(StrataPages *pages, bool forward)
{
	BlockNumber block;

	if (pages->shared != NULL)
	{
		Assert(forward);		/* scan:R1: a page is handed out once */
		if (!pages->sharing)
			table_block_parallelscan_startblock_init(pages->rel, &pages->share,
													 pages->shared);
		pages->sharing = true;
		block = table_block_parallelscan_nextpage(pages->rel, &pages->share,
												  pages->shared);
		Assert(block == InvalidBlockNumber ||
			   block < pages->nblocks); /* scan:R1 */
		return block;
	}
	if (!pages->inside)
	{
		if (pages->nblocks == 0)
			return InvalidBlockNumber;
		return forward ? 0 : pages->nblocks - 1;
	}
	if (pages->block == (forward ? pages->nblocks - 1 : 0))
		return InvalidBlockNumber;
	return forward ? pages->block + 1 : pages->block - 1;
}

/* Pin the page behind the current one, and ask for what will be read. */
static void
look_ahead(StrataPages *pages)
{
	if (pages->block % GROUP == 0)
		touch_group(pages, pages->block + GROUP);
	pages->next_block = following_block(pages, true);
	pages->looked_ahead = true;
	if (pages->next_block == InvalidBlockNumber)
		return;
	pages->next = pin_page(pages, pages->next_block);
	for (int row = 0; row < FIRST_ROWS; row++)
	{
		const char *place = row_place(BufferGetPage(pages->next), row);

		for (int i = 0; i < FIRST_BYTES && place != NULL; i += CACHE_LINE)
			__builtin_prefetch(place + i);
	}
}

/* Have the tuple be that row of the pinned page. */
static inline void
set_tuple(StrataPages *pages, OffsetNumber offset)
{
	Page		page = BufferGetPage(pages->buffer);
	ItemId		line = PageGetItemId(page, offset);

	pages->tuple.t_data = (HeapTupleHeader) PageGetItem(page, line);
	pages->tuple.t_len = ItemIdGetLength(line);
	ItemPointerSet(&pages->tuple.t_self, pages->block, offset);
}

/* Visible rows of the pinned page, as heapam finds them. */
static void
read_page(StrataPages *pages)
{
	Page		page = BufferGetPage(pages->buffer);
	int			nlines;
	int			n = 0;
	bool		all_visible;

	/* looked at without a lock, as heap_page_prune_opt() does first of all */
	if (TransactionIdIsValid(((PageHeader) page)->pd_prune_xid))
		heap_page_prune_opt(pages->rel, pages->buffer);
	LockBuffer(pages->buffer, BUFFER_LOCK_SHARE);
	strata_test_old_snapshot(pages->snapshot, pages->rel, page);
	nlines = PageGetMaxOffsetNumber(page);

	/*
	 * a standby's snapshot may be older than what the primary took for
	 * visible
	 */
	all_visible = PageIsAllVisible(page) &&
		!pages->snapshot->takenDuringRecovery;
	for (OffsetNumber i = FirstOffsetNumber; i <= nlines && all_visible; i++)
	{
		pages->offsets[n] = i;
		n += ItemIdIsNormal(PageGetItemId(page, i));
	}
	for (OffsetNumber i = FirstOffsetNumber; i <= nlines && !all_visible; i++)
	{
		if (!ItemIdIsNormal(PageGetItemId(page, i)))
			continue;
		set_tuple(pages, i);
		if (HeapTupleSatisfiesVisibility(&pages->tuple, pages->snapshot,
										 pages->buffer))
			pages->offsets[n++] = i;
	}
	LockBuffer(pages->buffer, BUFFER_LOCK_UNLOCK);
	pages->ntuples = n;
}

static void
leave(StrataPages *pages)
{
	if (pages->inside)
		ReleaseBuffer(pages->buffer);
	if (BufferIsValid(pages->next))
		ReleaseBuffer(pages->next);
	pages->next = InvalidBuffer;
	pages->looked_ahead = false;
	pages->inside = false;
}

/*
 * Go to the next page in the direction, or to the first; false: there is none.
 */
static bool
enter_next(StrataPages *pages, bool forward)
{
	BlockNumber block;
	Buffer		buffer = InvalidBuffer;

	CHECK_FOR_INTERRUPTS();
	if (forward && pages->looked_ahead)
	{
		block = pages->next_block;
		buffer = pages->next;
		pages->next = InvalidBuffer;
	}
	else
		block = following_block(pages, forward);
	leave(pages);
	if (block == InvalidBlockNumber)
		return false;
	pages->buffer = BufferIsValid(buffer) ? buffer : pin_page(pages, block);
	pages->block = block;
	pages->inside = true;
	if (forward)
		look_ahead(pages);
	read_page(pages);
	pages->current = forward ? 0 : pages->ntuples - 1;
	return true;
}

/* See pg.h. */
StrataPages *
strata_pages_create(Relation rel, Snapshot snapshot,
					ParallelTableScanDesc shared)
{
	StrataPages *pages = palloc(sizeof(StrataPages));

	Assert(IsMVCCSnapshot(snapshot) &&
		   !IsolationIsSerializable()); /* scan:R2 */
	memset(pages, 0, offsetof(StrataPages, offsets));
	pages->rel = rel;
	pages->snapshot = snapshot;
	pages->shared = (ParallelBlockTableScanDesc) shared;
	pages->tuple.t_tableOid = RelationGetRelid(rel);
	strata_pages_rescan(pages);
	return pages;
}

/* See pg.h. */
void
strata_pages_rescan(StrataPages *pages)
{
	leave(pages);
	pages->sharing = false;
	/* as many as heapam would read: what came later the snapshot does not see */
	pages->nblocks = pages->shared != NULL ? pages->shared->phs_nblocks :
		RelationGetNumberOfBlocks(pages->rel);
	/* a worker reads a page once, and ends */
	pages->memo = pages->shared != NULL && IsParallelWorker() ? NULL :
		find_memo(pages->rel, pages->nblocks);
	pages->generation = memo_generation;
	pgstat_count_heap_scan(pages->rel);
}

/* See pg.h. */
bool
strata_pages_next(StrataPages *pages, ScanDirection direction,
				  TupleTableSlot *slot)
{
	bool		forward = ScanDirectionIsForward(direction);

	if (pages->inside)
		pages->current += forward ? 1 : -1;
	while (!pages->inside || pages->current < 0 ||
		   pages->current >= pages->ntuples)
		if (!enter_next(pages, forward))
		{
			ExecClearTuple(slot);
			return false;
		}
	set_tuple(pages, pages->offsets[pages->current]);
	pgstat_count_heap_getnext(pages->rel);
	ExecStoreBufferHeapTuple(&pages->tuple, slot, pages->buffer);
	return true;
}

/* See pg.h. */
int
strata_pages_next_tuples(StrataPages *pages, HeapTupleHeader *tuples,
						 ItemPointerData *tids, int max)
{
	Page		page;
	const OffsetNumber *offsets;
	int			n;

	while (!pages->inside || pages->current >= pages->ntuples)
		if (!enter_next(pages, true))
			return 0;
	page = BufferGetPage(pages->buffer);
	offsets = &pages->offsets[pages->current];
	n = Min(max, pages->ntuples - pages->current);
	pages->current += n;
	/* counts what a heap scan counts; there is no such macro for several */
	pgstat_count_index_tuples(pages->rel, n);
	for (int i = 0; i < n && tuples != NULL; i++)
		tuples[i] = (HeapTupleHeader)
			PageGetItem(page, PageGetItemId(page, offsets[i]));
	for (int i = 0; i < n && tids != NULL; i++)
		ItemPointerSet(&tids[i], pages->block, offsets[i]);
	return n;
}

void
strata_pages_end(StrataPages *pages)
{
	leave(pages);
	pfree(pages);
}
