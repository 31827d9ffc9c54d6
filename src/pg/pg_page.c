/*-------------------------------------------------------------------------
 *
 * pg_page.c
 *	  Single pages of heaps and btrees looked at, and a tuple frozen, by
 *	  ourselves.
 *
 * src/pg/pg_page.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "base/compat.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/nbtree.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/rel.h"

/*
 * VACUUM makes a table shorter that has so many free pages at its end, or such
 * a part of them (vacuumlazy.c: REL_TRUNCATE_MINIMUM, REL_TRUNCATE_FRACTION).
 */
#define TRUNCATED_PAGES 1000
#define TRUNCATED_FRACTION 16

/* See pg.h. */
void
strata_tuple_freeze(Relation rel, const ItemPointerData *tid)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	strata_heap_freeze(rel, buffer, BufferGetPage(buffer),
					   ItemPointerGetOffsetNumber(tid));
	UnlockReleaseBuffer(buffer);
}

/* See pg.h. */
Size
strata_page_room(Relation rel, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(rel, block);
	Size		room;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	room = PageGetExactFreeSpace(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return room;
}

/* Has nobody a line pointer on the page? */
static bool
page_is_unused(Relation rel, BlockNumber block, BufferAccessStrategy strategy)
{
	Buffer		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block,
											RBM_NORMAL, strategy);
	Page		page = BufferGetPage(buffer);
	bool		unused = true;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!PageIsNew(page))
		for (OffsetNumber i = FirstOffsetNumber;
			 i <= PageGetMaxOffsetNumber(page) && unused; i++)
			unused = !ItemIdIsUsed(PageGetItemId(page, i));
	UnlockReleaseBuffer(buffer);
	return unused;
}

/* See pg.h. */
bool
strata_heap_may_be_truncated(Relation rel)
{
	BlockNumber pages = smgrnblocks(RelationGetSmgr(rel), MAIN_FORKNUM);
	BlockNumber enough = Min(pages / TRUNCATED_FRACTION, TRUNCATED_PAGES);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_VACUUM);
	bool		result = pages > 0;

	/* heapam asks no less of a table of a few pages than one of them */
	enough = Max(enough, 1);
	for (BlockNumber i = 1; i <= enough && result; i++)
		result = page_is_unused(rel, pages - i, strategy);
	FreeAccessStrategy(strategy);
	return result;
}

static int64
key_at(Relation index, Page page, OffsetNumber off)
{
	IndexTuple	tuple = (IndexTuple) PageGetItem(page,
												 PageGetItemId(page, off));
	bool		isnull;

	return DatumGetInt64(index_getattr(tuple, 1, RelationGetDescr(index),
									   &isnull));
}

/* See pg.h. */
int64
strata_index_least(Relation index)
{
	Buffer		buf = strata_bt_get_end(index, false);
	int64		result = PG_INT64_MAX;

	while (BufferIsValid(buf))
	{
		Page		page = BufferGetPage(buf);
		BTPageOpaque opaque = BTPageGetOpaque(page);

		if (!P_IGNORE(opaque) &&
			P_FIRSTDATAKEY(opaque) <= PageGetMaxOffsetNumber(page))
		{
			result = key_at(index, page, P_FIRSTDATAKEY(opaque));
			break;
		}
		if (P_RIGHTMOST(opaque))
			break;
		buf = _bt_relandgetbuf(index, buf, opaque->btpo_next, BT_READ);
	}
	if (BufferIsValid(buf))
		_bt_relbuf(index, buf);
	return result;
}

/* See pg.h. */
int64
strata_index_greatest(Relation index)
{
	Buffer		buf = strata_bt_get_end(index, true);
	int64		result = PG_INT64_MAX;

	if (BufferIsValid(buf))
	{
		Page		page = BufferGetPage(buf);
		OffsetNumber last = PageGetMaxOffsetNumber(page);

		if (last >= P_FIRSTDATAKEY(BTPageGetOpaque(page)))
			result = key_at(index, page, last);
		_bt_relbuf(index, buf);
	}
	return result;
}
