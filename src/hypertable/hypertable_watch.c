/*-------------------------------------------------------------------------
 *
 * hypertable_watch.c
 *	  Has a hypertable changed since a plan that reads it was made, and does
 *	  relcache know its partitions as they are?
 *
 * PostgreSQL invalidates a cached plan when it hears of the change, and hears
 * of changes when it takes a lock that it did not have.  A transaction that
 * runs a cached statement twice takes no new lock the second time: it would
 * miss the rows in chunks that others have made meanwhile.  So we keep our own
 * account of when we heard what.
 *
 * RelationBuildPartitionDesc() (partdesc.c) reads the list of partitions, then
 * looks each up, which may hear of one more; that makes the relcache entry
 * anew, and the old list is put into it, for good.  It takes chunks that are
 * made all the time to meet this.  So after each change that we have heard of,
 * the list is made anew until nothing was heard meanwhile.
 *
 * src/hypertable/hypertable_watch.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog.h"
#include "hypertable/hypertable_private.h"
#include "pg/pg.h"

#include <ctype.h>

#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "partitioning/partdesc.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/relcache.h"
#include "utils/snapmgr.h"

typedef struct Watched
{
	Oid			relid;			/* key */
	uint64		changed;		/* the moment */
	uint64		settled;		/* the list of partitions is right as of this
								 * moment; 0: unknown */
	uint64		divided;		/* the last transaction that divided or merged
								 * chunks, as of then; 0: none */
} Watched;

static HTAB *watched = NULL;
static uint64 now = 1;			/* counts what we heard */
static uint64 all_changed = 0;

static void
note_change(Datum arg, Oid relid)
{
	Watched    *entry;

	if (!OidIsValid(relid))
		all_changed = ++now;
	else if (watched != NULL &&
			 (entry = hash_search(watched, &relid, HASH_FIND, NULL)) != NULL)
		entry->changed = ++now;
}

static Watched *
watch(Oid relid)
{
	Watched    *entry;
	bool		found;

	if (watched == NULL)
	{
		HASHCTL		control = {.keysize = sizeof(Oid),
		.entrysize = sizeof(Watched)};

		watched = hash_create("watched hypertables", 16, &control,
							  HASH_ELEM | HASH_BLOBS);
	}
	entry = hash_search(watched, &relid, HASH_ENTER, &found);
	if (!found)
		entry->changed = entry->settled = entry->divided = 0;
	return entry;
}

/* See hypertable_private.h. */
uint64
strata_divided_parse(const char *text)
{
	char	   *end;
	uint64		xid;

	if (!isdigit((unsigned char) text[0]))
		return 0;
	errno = 0;
	xid = strtou64(text, &end, 10);
	return errno == 0 && *end == '\0' &&
		FullTransactionIdIsNormal(FullTransactionIdFromU64(xid)) ? xid : 0;
}

/* See hypertable_private.h. */
void
strata_partitions_settle(Relation rel)
{
	Watched    *entry = watch(RelationGetRelid(rel));
	uint64		moment;
	char	   *divided;

	do
	{
		CHECK_FOR_INTERRUPTS();
		moment = now;
		RelationCacheInvalidateEntry(RelationGetRelid(rel));
		strata_partition_desc_make(rel);
		(void) RelationGetPartitionDesc(rel, true);

		/*
		 * that setting has us hear of changes all the time, and there are
		 * none
		 */
	} while (debug_discard_caches == 0 &&
			 strata_hypertable_changed_since(RelationGetRelid(rel), moment));
	divided = strata_settings_get_text(RelationGetRelid(rel),
									   STRATA_OPTION_DIVIDED);
	entry = watch(RelationGetRelid(rel));
	entry->divided = divided == NULL ? 0 : strata_divided_parse(divided);
	entry->settled = now;
}

/* See hypertable.h. */
uint64
strata_hypertable_watch(Oid relid)
{
	Watched    *entry = watch(relid);

	if (entry->settled == 0 ||
		strata_hypertable_changed_since(relid, entry->settled))
	{
		Relation	rel = table_open(relid, AccessShareLock);

		strata_partitions_settle(rel);
		table_close(rel, AccessShareLock);
	}
	Assert(entry->changed <= now && entry->settled <= now); /* hypertable:Y7 */
	return now;
}

/* See hypertable.h. */
bool
strata_hypertable_changed_since(Oid relid, uint64 moment)
{
	Watched    *entry;

	entry = watched != NULL ? hash_search(watched, &relid, HASH_FIND, NULL) :
		NULL;
	Assert(moment <= now);		/* hypertable:Y7 */
	return entry == NULL || entry->changed > moment || all_changed > moment;
}

/* See hypertable_private.h. */
void
strata_hypertable_note_divided(Oid relid)
{
	char	   *xid = psprintf(UINT64_FORMAT,
							   U64FromFullTransactionId(GetTopFullTransactionId()));

	strata_settings_store(relid,
						  list_make1(makeDefElem(pstrdup(STRATA_OPTION_DIVIDED),
												 (Node *) makeString(xid),
												 -1)),
						  false);
}

/* See hypertable.h. */
bool
strata_hypertable_divided_since(Oid relid, Snapshot snapshot)
{
	Watched    *entry;
	FullTransactionId xid;
	FullTransactionId next;

	entry = watched != NULL ? hash_search(watched, &relid, HASH_FIND, NULL) :
		NULL;
	if (entry == NULL || entry->divided == 0 ||
		snapshot->snapshot_type != SNAPSHOT_MVCC)
		return false;
	xid = FullTransactionIdFromU64(entry->divided);
	next = ReadNextFullTransactionId();
	/* of a dump's cluster, or long ago */
	if (!FullTransactionIdPrecedes(xid, next) ||
		U64FromFullTransactionId(next) - entry->divided > MaxTransactionId / 2)
		return false;
	Assert(FullTransactionIdIsNormal(xid)); /* hypertable:Y7 */
	/* who does it knows that the rows have moved */
	if (TransactionIdIsCurrentTransactionId(XidFromFullTransactionId(xid)))
		return false;
	return XidInMVCCSnapshot(XidFromFullTransactionId(xid), snapshot);
}

/* See hypertable_private.h. */
void
strata_watch_init(void)
{
	strata_relcache_callback_add(note_change);
}
