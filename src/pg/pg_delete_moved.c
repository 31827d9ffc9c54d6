/*-------------------------------------------------------------------------
 *
 * pg_delete_moved.c
 *	  Rows deleted so that nobody takes them for deleted.
 *
 * A row that an UPDATE moves to another partition is deleted in this one with
 * a mark, and whoever wants to change it, by a TID from before, gets a
 * serialization failure instead of "it is deleted".
 *
 * src/pg/pg_delete_moved.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "access/heapam.h"
#include "storage/lmgr.h"

/* See pg.h. */
bool
strata_tuple_delete_as_moved(Relation rel, const ItemPointerData *tid,
							 CommandId cid, bool wait)
{
	ItemPointerData self = *tid;
	TM_FailureData tmfd;

	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));	/* pg:Q2 */
	return heap_delete(rel, &self, cid, InvalidSnapshot, wait, &tmfd, true) ==
		TM_Ok;
}
