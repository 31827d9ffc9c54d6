/*-------------------------------------------------------------------------
 *
 * pg_key_share.c
 *	  FOR KEY SHARE beside changes of a compressed row that keep its key.
 *
 * On heap such a change and such a lock pass each other: the tuple that was
 * changed carries both transactions, and its next version the locker.  A
 * compressed row's entry is a tuple, so heapam does it for the entry; but the
 * row's next version is in R, where heapam knows of no older one.  So what
 * heap_update does to a new version, and heap_lock_tuple to those a
 * transaction in progress has made, is done here by hand:
 *
 *	who changes a row first puts the new version into R, then replaces the
 *	entry, and gives the version the lockers that came out on the new entry;
 *	who locks a row whose entry is being replaced first locks the versions,
 *	then the entry.  heapam refuses the latter when the change has committed
 *	meanwhile; so whoever got the lock has it on the version, too.
 *
 * It is written and logged as heapam does for locks of updated tuples.
 *
 * src/pg/pg_key_share.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "base/base.h"

#include "access/heapam_xlog.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/transam.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"

/*-------------------------------------------------------------------------
 * Who locks or changes a tuple
 *-------------------------------------------------------------------------
 */

/* What a single xmax is to the tuple. */
static MultiXactStatus
status_of(HeapTupleHeader header)
{
	bool		keys = (header->t_infomask2 & HEAP_KEYS_UPDATED) != 0;

	if (!HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask))
		return keys ? MultiXactStatusUpdate : MultiXactStatusNoKeyUpdate;
	if (HEAP_XMAX_IS_KEYSHR_LOCKED(header->t_infomask))
		return MultiXactStatusForKeyShare;
	if (HEAP_XMAX_IS_SHR_LOCKED(header->t_infomask))
		return MultiXactStatusForShare;
	return keys ? MultiXactStatusForUpdate : MultiXactStatusForNoKeyUpdate;
}

/* Locks end with their transaction, updates only when it fails. */
static bool
is_alive(const MultiXactMember *member)
{
	return TransactionIdIsInProgress(member->xid) ||
		(ISUPDATE_from_mxstatus(member->status) &&
		 TransactionIdDidCommit(member->xid));
}

/* Those that still count; room is left for `more`. */
static int
read_members(HeapTupleHeader header, int more, MultiXactMember **members)
{
	TransactionId xmax = HeapTupleHeaderGetRawXmax(header);
	uint16		infomask = header->t_infomask;
	MultiXactMember single;
	MultiXactMember *all = &single;
	int			nall = 1;
	int			n = 0;

	if ((infomask & HEAP_XMAX_INVALID) || HEAP_LOCKED_UPGRADED(infomask) ||
		!TransactionIdIsValid(xmax))
		nall = 0;
	else if (infomask & HEAP_XMAX_IS_MULTI)
		nall = GetMultiXactIdMembers((MultiXactId) xmax, &all, false,
									 HEAP_XMAX_IS_LOCKED_ONLY(infomask));
	else
	{
		single.xid = xmax;
		single.status = status_of(header);
	}
	*members = palloc(sizeof(MultiXactMember) * (Max(nall, 0) + more + 1));
	for (int i = 0; i < nall; i++)
		if (is_alive(&all[i]))
			(*members)[n++] = all[i];
	if (nall > 0 && all != &single)
		pfree(all);
	return n;
}

/* See pg.h. */
TransactionId
strata_tuple_updater(TupleTableSlot *slot, ItemPointer next)
{
	BufferHeapTupleTableSlot *bslot = (BufferHeapTupleTableSlot *) slot;
	HeapTupleHeader header = bslot->base.tuple->t_data;
	TransactionId xid = InvalidTransactionId;

	LockBuffer(bslot->buffer, BUFFER_LOCK_SHARE);
	if (!(header->t_infomask & HEAP_XMAX_INVALID) &&
		!HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask))
		xid = HeapTupleHeaderGetUpdateXid(header);
	*next = header->t_ctid;
	LockBuffer(bslot->buffer, BUFFER_LOCK_UNLOCK);
	return xid;
}

/*-------------------------------------------------------------------------
 * A version of a row gets lockers
 *-------------------------------------------------------------------------
 */

/* Bits for an xmax that is these members; none of them minds FOR KEY SHARE. */
static uint16
infomask_of(const MultiXactMember *members, int n)
{
	uint16		lock = HEAP_XMAX_KEYSHR_LOCK;
	uint16		others;

	others = (n > 1 ? HEAP_XMAX_IS_MULTI : 0) | HEAP_XMAX_LOCK_ONLY;
	for (int i = 0; i < n; i++)
	{
		if (ISUPDATE_from_mxstatus(members[i].status))
			others &= ~HEAP_XMAX_LOCK_ONLY;
		if (members[i].status == MultiXactStatusForShare &&
			lock == HEAP_XMAX_KEYSHR_LOCK)
			lock = HEAP_XMAX_SHR_LOCK;
		else if (members[i].status == MultiXactStatusForNoKeyUpdate ||
				 members[i].status == MultiXactStatusNoKeyUpdate)
			lock = HEAP_XMAX_EXCL_LOCK;
	}
	return lock | others;
}

/* Bits as WAL has them. */
static uint8
infobits_of(uint16 infomask)
{
	return ((infomask & HEAP_XMAX_IS_MULTI) != 0 ? XLHL_XMAX_IS_MULTI : 0) |
		((infomask & HEAP_XMAX_LOCK_ONLY) != 0 ? XLHL_XMAX_LOCK_ONLY : 0) |
		((infomask & HEAP_XMAX_EXCL_LOCK) != 0 ? XLHL_XMAX_EXCL_LOCK : 0) |
		((infomask & HEAP_XMAX_KEYSHR_LOCK) != 0 ? XLHL_XMAX_KEYSHR_LOCK : 0);
}

/*
 * Is the version locked, or changed, so that FOR KEY SHARE has to wait?  For
 * whom.  Lockers are of other transactions than the one that changed it.
 */
static TransactionId
conflict(const MultiXactMember *members, int n)
{
	for (int i = 0; i < n; i++)
		if (members[i].status == MultiXactStatusForUpdate ||
			members[i].status == MultiXactStatusUpdate)
			return members[i].xid;
	return InvalidTransactionId;
}

/* The page is locked exclusively; vmbuffer is pinned if it is all visible. */
static void
set_xmax(Relation rel, Buffer buffer, OffsetNumber offnum,
		 HeapTupleHeader header, Buffer vmbuffer, MultiXactMember *members,
		 int n)
{
	TransactionId xmax;
	uint16		infomask;
	bool		cleared;

	xmax = n > 1 ? MultiXactIdCreateFromMembers(n, members) : members[0].xid;
	infomask = infomask_of(members, n);
	Assert(CheckRelationLockedByMe(rel, RowShareLock, true));	/* pg:Q2 */
	Assert(!TransactionIdIsValid(conflict(members, n)));	/* pg:Q2 */
	Assert(!PageIsAllVisible(BufferGetPage(buffer)) ||
		   visibilitymap_pin_ok(BufferGetBlockNumber(buffer),
								vmbuffer)); /* pg:Q2 */
	cleared = PageIsAllVisible(BufferGetPage(buffer)) &&
		visibilitymap_clear(rel, BufferGetBlockNumber(buffer), vmbuffer,
							VISIBILITYMAP_ALL_FROZEN);

	START_CRIT_SECTION();
	HeapTupleHeaderSetXmax(header, xmax);
	header->t_infomask &= ~HEAP_XMAX_BITS;
	header->t_infomask2 &= ~HEAP_KEYS_UPDATED;
	header->t_infomask |= infomask;
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(rel))
	{
		xl_heap_lock_updated xlrec;
		XLogRecPtr	recptr;

		xlrec.offnum = offnum;
		xlrec.xmax = xmax;
		xlrec.infobits_set = infobits_of(infomask);
		xlrec.flags = cleared ? XLH_LOCK_ALL_FROZEN_CLEARED : 0;
		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		XLogRegisterData((char *) &xlrec, SizeOfHeapLockUpdated);
		recptr = XLogInsert(RM_HEAP2_ID, XLOG_HEAP2_LOCK_UPDATED);
		PageSetLSN(BufferGetPage(buffer), recptr);
	}
	END_CRIT_SECTION();
}

/* Add the lockers that are still there and are not members yet. */
static int
add_lockers(MultiXactMember *members, int n, const TransactionId *lockers,
			int nlockers)
{
	for (int i = 0; i < nlockers; i++)
	{
		bool		found = !TransactionIdIsInProgress(lockers[i]);

		/* whatever it is, it holds off what FOR KEY SHARE does */
		for (int j = 0; j < n && !found; j++)
			found = TransactionIdEquals(members[j].xid, lockers[i]);
		if (!found)
		{
			members[n].xid = lockers[i];
			members[n++].status = MultiXactStatusForKeyShare;
		}
	}
	return n;
}

/*
 * One version.  *maker, *tid: who made it, and where; then those of the next
 * one, with *maker invalid when there is none.
 *
 * The lockers are looked at with the page locked: VACUUM has either still to
 * come to it, or began when they were there.
 */
static TransactionId
lock_version(Relation rel, TransactionId *maker, ItemPointer tid,
			 const TransactionId *lockers, int nlockers, Buffer *vmbuffer)
{
	HeapTupleData tuple;
	HeapTupleHeader header;
	MultiXactMember *members;
	Buffer		buffer;
	TransactionId wait = InvalidTransactionId;
	TransactionId made_by = *maker;

	*maker = InvalidTransactionId;
	tuple.t_self = *tid;
	if (!heap_fetch(rel, SnapshotAny, &tuple, &buffer, false))
		return InvalidTransactionId;
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	/* no I/O under the lock */
	while (PageIsAllVisible(BufferGetPage(buffer)) &&
		   !visibilitymap_pin_ok(BufferGetBlockNumber(buffer), *vmbuffer))
	{
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		visibilitymap_pin(rel, BufferGetBlockNumber(buffer), vmbuffer);
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	}
	header = tuple.t_data;
	/* what has committed is locked where it is now, if at all */
	if (TransactionIdEquals(HeapTupleHeaderGetRawXmin(header), made_by) &&
		TransactionIdIsInProgress(made_by))
	{
		int			nmembers = read_members(header, nlockers, &members);
		int			n;

		wait = conflict(members, nmembers);
		n = TransactionIdIsValid(wait) ?
			nmembers :
			add_lockers(members, nmembers, lockers, nlockers);
		if (n > nmembers)
			set_xmax(rel, buffer, ItemPointerGetOffsetNumber(tid), header,
					 *vmbuffer, members, n);
		for (int i = 0; i < nmembers && !TransactionIdIsValid(wait); i++)
			if (ISUPDATE_from_mxstatus(members[i].status))
			{
				*maker = members[i].xid;
				*tid = header->t_ctid;
			}
		pfree(members);
	}
	UnlockReleaseBuffer(buffer);
	return wait;
}

/* See pg.h. */
TransactionId
strata_versions_lock(Relation rel, TransactionId maker,
					 const ItemPointerData *tid, const TransactionId *lockers,
					 int nlockers)
{
	ItemPointerData next = *tid;
	TransactionId wait = InvalidTransactionId;
	Buffer		vmbuffer = InvalidBuffer;

	MultiXactIdSetOldestMember();
	while (TransactionIdIsValid(maker) && !TransactionIdIsValid(wait) &&
		   ItemPointerIsValid(&next) &&
		   !ItemPointerIndicatesMovedPartitions(&next))
	{
		CHECK_FOR_INTERRUPTS();
		wait = lock_version(rel, &maker, &next, lockers, nlockers, &vmbuffer);
	}
	if (BufferIsValid(vmbuffer))
		ReleaseBuffer(vmbuffer);
	return wait;
}

/* See pg.h. */
void
strata_lockers_hand_on(Relation rel, HeapTuple entry,
					   const ItemPointerData *tid)
{
	MultiXactMember *members;
	int			n = read_members(entry->t_data, 0, &members);
	TransactionId *lockers = palloc(sizeof(TransactionId) * Max(n, 1));

	/* ours as well: xmax tells programs that a row of an upsert was updated */
	for (int i = 0; i < n; i++)
		lockers[i] = members[i].xid;
	if (n > 0)
		(void) strata_versions_lock(rel, GetCurrentTransactionId(), tid,
									lockers, n);
	pfree(lockers);
	pfree(members);
}
