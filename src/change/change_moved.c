/*-------------------------------------------------------------------------
 *
 * change_moved.c
 *	  Rows that this transaction moved from a batch into the row store, and
 *	  whether it has begun an upsert.
 *
 * A moved row carries the running command's id as cmin, or a later one, so
 * heapam would call it invisible to that command.
 *
 * src/change/change_moved.c
 *-------------------------------------------------------------------------
 */
#include "change/change_private.h"

#include "access/xact.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

typedef struct MovedKey
{
	Oid			relid;
	ItemPointerData tid;
} MovedKey;

typedef struct MovedRow
{
	MovedKey	key;
	CommandId	cid;			/* the moved row's cmin */
} MovedRow;

static HTAB *moved_rows = NULL;

static void
set_key(MovedKey *key, Relation rel, const ItemPointerData *tid)
{
	/* no padding may differ */
	memset(key, 0, sizeof(*key));
	key->relid = RelationGetRelid(rel);
	key->tid = *tid;
}

/* See change_private.h. */
void
strata_remember_moved(Relation rel, const ItemPointerData *tid, CommandId cid)
{
	MovedKey	key;
	MovedRow   *row;

	Assert(!strata_tid_is_compressed(tid)); /* store:S8 */
	if (moved_rows == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(MovedKey);
		ctl.entrysize = sizeof(MovedRow);
		ctl.hcxt = TopTransactionContext;
		moved_rows = hash_create("strata moved rows", 256, &ctl,
								 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	set_key(&key, rel, tid);
	row = hash_search(moved_rows, &key, HASH_ENTER, NULL);
	row->cid = cid;
}

/* See change.h. */
CommandId
strata_promoted_cid(Relation rel, ItemPointer tid, CommandId cid)
{
	MovedKey	key;
	MovedRow   *row;

	if (moved_rows == NULL)
		return cid;
	set_key(&key, rel, tid);
	row = hash_search(moved_rows, &key, HASH_FIND, NULL);
	if (row == NULL || cid > row->cid)
		return cid;
	/* the id after it is current or past; have the next command go beyond */
	(void) GetCurrentCommandId(true);
	return row->cid + 1;
}

static void
moved_transaction_end(XactEvent event, void *arg)
{
	/* its memory went, or goes, with TopTransactionContext */
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PREPARE || event == XACT_EVENT_PARALLEL_COMMIT ||
		event == XACT_EVENT_PARALLEL_ABORT)
		moved_rows = NULL;
}

void
strata_moved_init(void)
{
	RegisterXactCallback(moved_transaction_end, NULL);
}

/* Has an upsert started in this transaction? */
static bool upserting = false;

static void
forget_upsert(XactEvent event, void *arg)
{
	upserting = false;
}

/* See change.h. */
void
strata_store_note_upsert(void)
{
	static bool registered = false;

	if (!registered)
		RegisterXactCallback(forget_upsert, NULL);
	registered = true;
	upserting = true;
}

/* See change.h. */
bool
strata_store_is_upserting(void)
{
	return upserting;
}
