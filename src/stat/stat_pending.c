/*-------------------------------------------------------------------------
 *
 * stat_pending.c
 *	  What a transaction did, counted when it ends.
 *
 * Changes of rows count however it ends, as PostgreSQL counts them: what they
 * leave behind has to be read and vacuumed.  A compression counts when it
 * stands, and a dropped table's counters go when it is gone.
 *
 * src/stat/stat_pending.c
 *-------------------------------------------------------------------------
 */
#include "stat/stat_private.h"

#include "access/parallel.h"
#include "access/xact.h"
#include "nodes/pg_list.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

typedef struct Pending
{
	Oid			relid;
	SubTransactionId subid;		/* Invalid: counts however that ends */
	int64		counts[STRATA_STATS];
} Pending;

static List *pending = NIL;		/* of Pending *, the last one used first */
static List *dropped = NIL;		/* relids */
static MemoryContext pending_context = NULL;

static void
forget_pending(void)
{
	pending = NIL;
	dropped = NIL;
	if (pending_context != NULL)
		MemoryContextReset(pending_context);
}

/* Drops that a subtransaction took back are none. */
static void
keep_dropped(void)
{
	ListCell   *lc;

	foreach(lc, dropped)
	{
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(lfirst_oid(lc))))
			dropped = foreach_delete_current(dropped, lc);
	}
}

/* At the end of a transaction: add what it did, and forget it. */
static void
transaction_end(XactEvent event, void *arg)
{
	TimestampTz now;
	ListCell   *lc;

	if (pending == NIL && dropped == NIL)
		return;
	if (event == XACT_EVENT_PRE_COMMIT)
		keep_dropped();
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT &&
		event != XACT_EVENT_PREPARE)
		return;
	/* what could fail was done before the commit */
	Assert(event != XACT_EVENT_COMMIT || !IsTransactionState());	/* stat:V2 */
	now = GetCurrentTimestamp();
	foreach(lc, pending)
	{
		const Pending *p = lfirst(lc);

		if (p->subid != InvalidSubTransactionId && event != XACT_EVENT_COMMIT)
			continue;
		strata_stat_add_late(p->relid, p->counts,
							 p->counts[STRATA_STAT_COMPRESSIONS] > 0 ? now :
							 0);
	}
	foreach(lc, dropped)
	{
		if (event == XACT_EVENT_COMMIT)
			strata_stat_forget(lfirst_oid(lc));
	}
	forget_pending();
}

/*
 * What was done in a subtransaction that is undone, or in those it had, whose
 * numbers are higher, does not stand.
 */
static void
subtransaction_end(SubXactEvent event, SubTransactionId subid,
				   SubTransactionId parent, void *arg)
{
	ListCell   *lc;

	if (event != SUBXACT_EVENT_ABORT_SUB)
		return;
	foreach(lc, pending)
	{
		if (((Pending *) lfirst(lc))->subid >= subid)
			pending = foreach_delete_current(pending, lc);
	}
}

/* Where lists live until the transaction ends. */
static MemoryContext
switch_to_pending(void)
{
	if (pending_context == NULL)
	{
		pending_context = AllocSetContextCreate(TopMemoryContext,
												"strata statistics",
												ALLOCSET_SMALL_SIZES);
		RegisterXactCallback(transaction_end, NULL);
		RegisterSubXactCallback(subtransaction_end, NULL);
	}
	return MemoryContextSwitchTo(pending_context);
}

/* The pending counts of a table, first in the list. */
static Pending *
pending_of(Oid relid, SubTransactionId subid)
{
	MemoryContext old;
	Pending    *p;
	ListCell   *lc;

	if (pending != NIL)
	{
		p = linitial(pending);
		if (p->relid == relid && p->subid == subid)
			return p;
	}
	foreach(lc, pending)
	{
		p = lfirst(lc);
		if (p->relid == relid && p->subid == subid)
		{
			lfirst(lc) = linitial(pending);
			linitial(pending) = p;
			return p;
		}
	}
	old = switch_to_pending();
	p = palloc0(sizeof(Pending));
	p->relid = relid;
	p->subid = subid;
	pending = lcons(p, pending);
	MemoryContextSwitchTo(old);
	return p;
}

/* See stat.h. */
void
strata_stat_count(Oid relid, StrataStat stat, int64 n)
{
	if (strata_stat_enabled())
		pending_of(relid, InvalidSubTransactionId)->counts[stat] += n;
}

/* See stat.h. */
void
strata_stat_compressed(Oid relid, int64 nrows, int64 nbatches, bool whole)
{
	Pending    *p;

	if (!strata_stat_enabled())
		return;
	Assert(!IsParallelWorker());	/* stat:V3 */
	p = pending_of(relid, GetCurrentSubTransactionId());
	p->counts[STRATA_STAT_COMPRESSIONS] += whole;
	p->counts[STRATA_STAT_ROWS_COMPRESSED] += nrows;
	p->counts[STRATA_STAT_BATCHES_WRITTEN] += nbatches;
}

/* See stat.h. */
void
strata_stat_decompressed(Oid relid)
{
	Pending    *p;

	if (!strata_stat_enabled())
		return;
	p = pending_of(relid, GetCurrentSubTransactionId());
	p->counts[STRATA_STAT_DECOMPRESSIONS]++;
}

/* See stat.h. */
void
strata_stat_dropped(Oid relid)
{
	MemoryContext old;

	if (!strata_stat_preloaded())
		return;
	old = switch_to_pending();
	dropped = lappend_oid(dropped, relid);
	MemoryContextSwitchTo(old);
}
