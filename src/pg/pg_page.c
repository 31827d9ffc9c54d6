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

/* See pg.h. */
bool
strata_index_least_is_negative(Relation index)
{
	Buffer		buf = strata_bt_get_leftmost(index);
	bool		result = false;

	while (BufferIsValid(buf))
	{
		Page		page = BufferGetPage(buf);
		BTPageOpaque opaque = BTPageGetOpaque(page);

		if (!P_IGNORE(opaque) &&
			P_FIRSTDATAKEY(opaque) <= PageGetMaxOffsetNumber(page))
		{
			IndexTuple	tuple = (IndexTuple)
			PageGetItem(page, PageGetItemId(page, P_FIRSTDATAKEY(opaque)));
			bool		isnull;

			result = DatumGetInt64(index_getattr(tuple, 1,
												 RelationGetDescr(index),
												 &isnull)) < 0;
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
