/*-------------------------------------------------------------------------
 *
 * dedup_vacuum.c
 *	  VACUUM: heapam's, then full pages that were missed are deduplicated, and
 *	  pages that it has emptied lose their table of symbols.
 *
 * Full pages are missed where somebody had them pinned, and where an UPDATE
 * has filled them.  They are among those that VACUUM reads, so which these are
 * is looked up in the visibility map before, and nothing else is read.
 *
 * The first row in an empty page is logged in such a way that replay makes the
 * page anew, without special space.  That is as good for reading, since no row
 * refers to the table; but the pages differ, and a server that checks them
 * (wal_consistency_checking) stops recovery.  So these tables go right after
 * VACUUM has emptied their pages, and where the server checks, no row is put
 * in between: VACUUM keeps writers waiting there.
 *
 * src/dedup/dedup_vacuum.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "access/rmgr.h"
#include "access/visibilitymap.h"
#include "access/xlog.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/freespace.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

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

/* The blocks that VACUUM is going to read, a bit each. */
typedef struct Changed
{
	BlockNumber nblocks;
	uint8	   *bits;
} Changed;

static void
note_changed(Relation rel, Changed *changed)
{
	Buffer		map = InvalidBuffer;

	changed->nblocks = RelationGetNumberOfBlocks(rel);
	changed->bits = MemoryContextAllocHuge(CurrentMemoryContext,
										   (Size) changed->nblocks / 8 + 1);
	memset(changed->bits, 0, (Size) changed->nblocks / 8 + 1);
	for (BlockNumber block = 0; block < changed->nblocks; block++)
		if (!VM_ALL_VISIBLE(rel, block, &map))
			changed->bits[block / 8] |= 1 << (block % 8);
	if (BufferIsValid(map))
		ReleaseBuffer(map);
}

static bool
is_changed(const Changed *changed, BlockNumber block)
{
	return block < changed->nblocks &&
		(changed->bits[block / 8] & (1 << (block % 8))) != 0;
}

/* A page that is full; of a table that gains nothing ever fewer are tried. */
static bool
deduplicate_missed(Relation rel, BlockNumber block,
				   StrataDedupPatience *patience)
{
	int			room;

	if (!strata_enable_deduplication ||
		strata_dedup_passes_over(patience))
		return false;
	strata_vacuum_delay_point(false);
	room = strata_dedup_block(rel, block, DEDUP_IF_FULL,
							  strata_dedup_min_gain);
	if (room != DEDUP_NOT_TRIED)
		strata_dedup_tell_outcome(patience, room > 0);
	if (room > 0)
		RecordPageWithFreeSpace(rel, block, room);
	return room > 0;
}

/* A page that VACUUM has emptied. */
static bool
drop_unused_table(Relation rel, BlockNumber block,
				  BufferAccessStrategy strategy)
{
	int			room;

	if (GetRecordedFreeSpace(rel, block) < ROOM_OF_EMPTY)
		return false;
	strata_vacuum_delay_point(false);
	if (!has_unused_table(rel, block, strategy))
		return false;
	/* dedup:DD5 */
	room = strata_dedup_block(rel, block, DEDUP_ANY, 1);
	if (room >= 0)
		RecordPageWithFreeSpace(rel, block, room);
	return room >= 0;
}

/* heapam's, then what it has left. */
static void
dedup_relation_vacuum(Relation rel, struct VacuumParams *params,
					  BufferAccessStrategy strategy)
{
	StrataDedupPatience patience = {0};
	Changed		changed;
	BlockNumber nblocks;
	bool		found = false;

	if (wal_consistency_checking != NULL &&
		wal_consistency_checking[RM_HEAP_ID])
		LockRelation(rel, ShareLock);
	note_changed(rel, &changed);
	strata_dedup_heap->relation_vacuum(rel, params, strategy);
	nblocks = RelationGetNumberOfBlocks(rel);
	for (BlockNumber block = 0; block < nblocks; block++)
	{
		CHECK_FOR_INTERRUPTS();
		if (drop_unused_table(rel, block, strategy))
			found = true;
		else if (is_changed(&changed, block) &&
				 deduplicate_missed(rel, block, &patience))
			found = true;
	}
	pfree(changed.bits);
	if (found)
		FreeSpaceMapVacuum(rel);
}

void
strata_dedup_vacuum_init(TableAmRoutine *am)
{
	am->relation_vacuum = dedup_relation_vacuum;
}
