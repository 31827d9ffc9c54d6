/*-------------------------------------------------------------------------
 *
 * index_next.c
 *	  The next entry of an index scan, in whatever memory context.
 *
 * btree remembers dead entries that a scan has met, to mark them when it
 * leaves the page, and allocates the list of them when it meets the first: in
 * the context of that call.  PostgreSQL's executor calls it in the query's;
 * who calls in a shorter one leaves the scan a list that is gone.  So these
 * switch to the scan's own.
 *
 * src/base/index_next.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"

#include "access/genam.h"
#include "access/relscan.h"
#include "utils/memutils.h"

/* See base.h. */
bool
strata_index_getnext_slot(struct IndexScanDescData *scan,
						  ScanDirection direction, TupleTableSlot *slot)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(scan));
	bool		found = index_getnext_slot(scan, direction, slot);

	MemoryContextSwitchTo(old);
	return found;
}

/* See base.h. */
ItemPointer
strata_index_getnext_tid(struct IndexScanDescData *scan,
						 ScanDirection direction)
{
	MemoryContext old = MemoryContextSwitchTo(GetMemoryChunkContext(scan));
	ItemPointer found = index_getnext_tid(scan, direction);

	MemoryContextSwitchTo(old);
	return found;
}
