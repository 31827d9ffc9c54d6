/*-------------------------------------------------------------------------
 *
 * store_ends.c
 *	  The least and the greatest key of a companion's index on first_row,
 *	  remembered from query to query.
 *
 * Readers ask whether rows have entries at all, which are keys below 0, and
 * whether there are batches behind those that a batch index speaks for.
 * Mostly there are none, and to see that takes two pages of the index.  So
 * what was seen is kept while a counter in shared memory stays the same, which
 * all raise who put a key into the index, before anybody's snapshot can see
 * it.  Keys that go leave the ends farther apart than they need be.
 *
 * Where nobody counts, on a standby and where the library was not preloaded,
 * the index is looked at each time.
 *
 * src/store/store_ends.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "store/store_companion.h"
#include "store/store_private.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "port/atomics.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#define MAX_COMPANIONS 4096

/* In place of the number of a window. */
#define ENDS_COUNTER (-1)

typedef struct Ends
{
	Oid			companion;
	uint64		count;			/* of the counter, before they were seen */
	bool		least_known;
	bool		greatest_known;
	int64		least;
	int64		greatest;
} Ends;

static HTAB *known_ends = NULL;

/* What is kept of the companion, if it is; ENTER: it is, from now on. */
static Ends *
find_ends(Oid companion, HASHACTION action)
{
	Ends	   *ends;
	bool		found;

	if (known_ends != NULL && action == HASH_ENTER &&
		hash_get_num_entries(known_ends) >= MAX_COMPANIONS)
	{
		hash_destroy(known_ends);
		known_ends = NULL;
	}
	if (known_ends == NULL)
	{
		HASHCTL		ctl = {0};

		if (action == HASH_FIND)
			return NULL;
		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(Ends);
		known_ends = hash_create("strata ends of row numbers", 64, &ctl,
								 HASH_ELEM | HASH_BLOBS);
	}
	ends = hash_search(known_ends, &companion, action, &found);
	if (!found && ends != NULL)
		ends->least_known = ends->greatest_known = false;
	return ends;
}

/* What is known and still holds; NULL: nothing may be kept. */
static Ends *
ends_of(Relation batches)
{
	Oid			companion = RelationGetRelid(batches);
	pg_atomic_uint64 *counter = strata_touched_counter(companion,
													   ENDS_COUNTER);
	uint64		count;
	Ends	   *ends;

	if (counter == NULL || !strata_enable_row_cache || RecoveryInProgress())
		return NULL;
	count = pg_atomic_read_u64(counter);
	/* what it counts has been written before */
	pg_read_barrier();
	ends = find_ends(companion, HASH_ENTER);
	if (ends->count != count)
		ends->least_known = ends->greatest_known = false;
	ends->count = count;
	return ends;
}

/* See store_companion.h. */
int64
strata_companion_least_key(Relation batches, Relation index)
{
	Ends	   *ends = ends_of(batches);

	if (ends == NULL)
		return strata_index_least(index);
	if (!ends->least_known)
	{
		ends->least = strata_index_least(index);
		ends->least_known = true;
	}
	return ends->least;
}

/* See store_companion.h. */
int64
strata_companion_greatest_key(Relation batches, Relation index)
{
	Ends	   *ends = ends_of(batches);

	/* who looks behind the end is told of batches that come there later */
	if (ends == NULL || IsolationIsSerializable())
		return PG_INT64_MAX;
	if (!ends->greatest_known)
	{
		ends->greatest = strata_index_greatest(index);
		ends->greatest_known = true;
	}
	return ends->greatest;
}

/* See store_private.h. */
void
strata_ends_note(Relation batches, int64 key)
{
	Oid			companion = RelationGetRelid(batches);
	pg_atomic_uint64 *counter = strata_touched_counter(companion,
													   ENDS_COUNTER);
	uint64		before;
	Ends	   *ends;

	if (counter == NULL)
		return;
	/* a full barrier: the key is in the index to who sees the count */
	before = pg_atomic_fetch_add_u64(counter, 1);
	ends = find_ends(companion, HASH_FIND);
	if (ends == NULL || ends->count != before)
		return;
	ends->count = before + 1;
	ends->least = Min(ends->least, key);
	ends->greatest = Max(ends->greatest, key);
}
