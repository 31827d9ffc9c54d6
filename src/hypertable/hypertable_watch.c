/*-------------------------------------------------------------------------
 *
 * hypertable_watch.c
 *	  Has a hypertable changed since a plan that reads it was made?
 *
 * PostgreSQL invalidates a cached plan when it hears of the change, and hears
 * of changes when it takes a lock that it did not have.  A transaction that
 * runs a cached statement twice takes no new lock the second time: it would
 * miss the rows in chunks that others have made meanwhile.  So we keep our own
 * account of when we heard what.
 *
 * src/hypertable/hypertable_watch.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"

#include "utils/hsearch.h"
#include "utils/inval.h"

typedef struct Watched
{
	Oid			relid;			/* key */
	uint64		changed;		/* the moment */
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
	else if (watched != NULL && (entry = hash_search(watched, &relid, HASH_FIND, NULL)) != NULL)
		entry->changed = ++now;
}

/* See hypertable.h. */
uint64
strata_hypertable_watch(Oid relid)
{
	Watched    *entry;
	bool		found;

	if (watched == NULL)
	{
		HASHCTL		control = {.keysize = sizeof(Oid), .entrysize = sizeof(Watched)};

		watched = hash_create("watched hypertables", 16, &control, HASH_ELEM | HASH_BLOBS);
	}
	entry = hash_search(watched, &relid, HASH_ENTER, &found);
	if (!found)
		entry->changed = 0;
	return now;
}

/* See hypertable.h. */
bool
strata_hypertable_changed_since(Oid relid, uint64 moment)
{
	Watched    *entry = watched != NULL ? hash_search(watched, &relid, HASH_FIND, NULL) : NULL;

	return entry == NULL || entry->changed > moment || all_changed > moment;
}

/* See hypertable_private.h. */
void
strata_watch_init(void)
{
	CacheRegisterRelcacheCallback(note_change, (Datum) 0);
}
