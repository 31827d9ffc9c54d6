/*-------------------------------------------------------------------------
 *
 * dedup_vacuum.c
 *	  What VACUUM leaves behind: pages without rows whose table of symbols is
 *	  still there.
 *
 * The first row in an empty page is logged in such a way that replay makes the
 * page anew, without special space.  That is as good for reading, since no row
 * refers to the table; but the pages differ, and a server that checks them
 * (wal_consistency_checking) stops recovery.  So these tables go right after
 * VACUUM has emptied their pages.
 *
 * src/dedup/dedup_vacuum.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/freespace.h"

/*
 * An empty page has at least so much room; others are not looked at.  A table
 * that leaves less takes more than 31 of 32 bytes.
 */
#define ROOM_OF_EMPTY (BLCKSZ / 32)

static bool
has_unused_table(Relation rel, BlockNumber block,
				 BufferAccessStrategy strategy)
{
	Buffer		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block,
											RBM_NORMAL, strategy);
	bool		unused;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	unused = strata_page_table_is_unused(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return unused;
}

/* heapam's, then what it has emptied. */
static void
dedup_relation_vacuum(Relation rel, struct VacuumParams *params,
					  BufferAccessStrategy strategy)
{
	BlockNumber nblocks;
	bool		found = false;

	strata_dedup_heap->relation_vacuum(rel, params, strategy);
	nblocks = RelationGetNumberOfBlocks(rel);
	for (BlockNumber block = 0; block < nblocks; block++)
	{
		int			room;

		CHECK_FOR_INTERRUPTS();
		if (GetRecordedFreeSpace(rel, block) < ROOM_OF_EMPTY)
			continue;
		strata_vacuum_delay_point(false);
		if (!has_unused_table(rel, block, strategy))
			continue;
		/* dedup:DD5 */
		room = strata_dedup_block(rel, block, DEDUP_ANY, 1);
		if (room >= 0)
		{
			RecordPageWithFreeSpace(rel, block, room);
			found = true;
		}
	}
	if (found)
		FreeSpaceMapVacuum(rel);
}

void
strata_dedup_vacuum_init(TableAmRoutine *am)
{
	am->relation_vacuum = dedup_relation_vacuum;
}
