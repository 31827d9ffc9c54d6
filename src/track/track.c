/*-------------------------------------------------------------------------
 *
 * track.c
 *	  What is tracked, and the times a transaction has changed.
 *
 * Times of a chunk are bits of granules that are a power of two of times long:
 * one, as long as all times fit into the map, and twice as long whenever they
 * do not.  So one row leaves its own time, and a load over the whole chunk
 * some hundredths of it.  Ranges are inclusive, and not aligned to anybody's
 * buckets: whoever reads them does that outwards by his own rule.
 *
 * src/track/track.c
 *-------------------------------------------------------------------------
 */
#include "track/track.h"
#include "time/time.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_type.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#define GRANULES 1024

/* Ranges written for a chunk: the narrowest gaps are closed to get there. */
#define MAX_RANGES 32

/* Room for ranges before gaps are closed: of the map, and three more. */
#define RANGES_ROOM (GRANULES / 2 + 3)

/* A chunk that is moved has times in each of its hypertables. */
typedef struct ChangedKey
{
	Oid			chunk;
	Oid			hypertable;
} ChangedKey;

/* The changed times of a chunk, or of what was or will be one. */
typedef struct Changed
{
	ChangedKey	key;
	StrataTracked tracked;		/* as the last of them was noted; all limits */
	bool		any;
	bool		whole;			/* besides, all times of the range that it has
								 * at the end */
	bool		before_all;		/* -infinity */
	bool		after_all;		/* infinity */
	int			shift;			/* a granule is 1 << shift times */
	int64		base;			/* number of the first granule of the map */
	uint8		map[GRANULES / 8];
} Changed;

static HTAB *changed = NULL;	/* in TopTransactionContext */
static bool written = false;	/* this transaction's marks */

/*-------------------------------------------------------------------------
 * What is tracked
 *-------------------------------------------------------------------------
 */

/*
 * The column of the parent's only partition key, or InvalidAttrNumber.  From
 * the catalog: where relcache has to make the key, it may call functions.
 */
static AttrNumber
time_column(Oid hypertable, Oid *type)
{
	HeapTuple	tuple = SearchSysCache1(PARTRELID,
										ObjectIdGetDatum(hypertable));
	AttrNumber	attno = InvalidAttrNumber;
	Form_pg_partitioned_table form;

	if (!HeapTupleIsValid(tuple))
		return InvalidAttrNumber;
	form = (Form_pg_partitioned_table) GETSTRUCT(tuple);
	if (form->partstrat == PARTITION_STRATEGY_RANGE && form->partnatts == 1)
		attno = form->partattrs.values[0];
	ReleaseSysCache(tuple);
	if (attno != InvalidAttrNumber)
		*type = get_atttype(hypertable, attno);
	return attno;
}

/* See track.h. */
void
strata_tracked_find(Relation rel, StrataTracked *tracked)
{
	Oid			parent;
	AttrNumber	attno;
	char	   *name;

	memset(tracked, 0, sizeof(*tracked));
	if (!rel->rd_rel->relispartition)
		return;
	parent = get_partition_parent(RelationGetRelid(rel), true);
	if (!strata_track_source_get(parent, &tracked->lo, &tracked->hi))
		return;
	attno = time_column(parent, &tracked->type);
	Assert(attno != InvalidAttrNumber); /* track:D1 */
	name = get_attname(parent, attno, false);
	tracked->attno = get_attnum(RelationGetRelid(rel), name);
	tracked->chunk = RelationGetRelid(rel);
	tracked->hypertable = parent;
	pfree(name);
	Assert(tracked->attno != InvalidAttrNumber);	/* track:D1 */
}

/* See track.h. */
List *
strata_track_publish(Oid hypertable, int64 lo, int64 hi)
{
	List	   *chunks = find_inheritance_children(hypertable, NoLock);
	ListCell   *lc;

	Assert(lo <= hi);			/* track:D1 */
	strata_track_source_extend(hypertable, lo, hi);
	foreach(lc, chunks)
		CacheInvalidateRelcacheByRelid(lfirst_oid(lc));
	return chunks;
}

/*-------------------------------------------------------------------------
 * The map
 *-------------------------------------------------------------------------
 */
static inline bool
granule_is_set(const Changed *c, int i)
{
	return (c->map[i / 8] & (1 << (i % 8))) != 0;
}

static inline void
set_granule(Changed *c, int i)
{
	c->map[i / 8] |= (uint8) (1 << (i % 8));
}

/* Is every granule from first to last in the map?  Its end may be no int64. */
static inline bool
is_in_map(const Changed *c, int64 first, int64 last)
{
	return first >= c->base && (uint64) last - (uint64) c->base < GRANULES;
}

/*
 * Have the map reach from granule `first` to `last`, numbers of the present
 * length, both of what it has and of what is to come.  What is left over goes
 * to both ends, so that times that rise or fall do not move it each time.
 */
static void
fit_map(Changed *c, int64 first, int64 last)
{
	Changed		old = *c;
	int			more = 0;
	int64		spare;

	while ((uint64) (last >> more) - (uint64) (first >> more) >= GRANULES)
		more++;
	first >>= more;
	last >>= more;
	spare = GRANULES - (last - first + 1);
	c->shift += more;
	c->base = Max(first - spare / 2, PG_INT64_MIN >> c->shift);
	c->base = Min(c->base, (PG_INT64_MAX >> c->shift) - (GRANULES - 1));
	memset(c->map, 0, sizeof(c->map));
	for (int i = 0; i < GRANULES; i++)
		if (granule_is_set(&old, i))
			set_granule(c, (int) (((old.base + i) >> more) - c->base));
}

/* Note the times from lo to hi, which are no infinities. */
static void
note(Changed *c, int64 lo, int64 hi)
{
	int64		first = lo >> c->shift;
	int64		last = hi >> c->shift;

	if (!c->any || !is_in_map(c, first, last))
	{
		int64		low = first;
		int64		high = last;

		for (int i = 0; i < GRANULES && c->any; i++)
			if (granule_is_set(c, i))
			{
				low = Min(low, c->base + i);
				high = Max(high, c->base + i);
			}
		fit_map(c, low, high);
		c->any = true;
		first = lo >> c->shift;
		last = hi >> c->shift;
	}
	Assert(is_in_map(c, first, last));	/* track:D2 */
	for (int i = (int) (first - c->base); i <= (int) (last - c->base); i++)
		set_granule(c, i);
}

typedef struct Range
{
	int64		lo;
	int64		hi;
} Range;

/* Close the narrowest gaps until there are few enough ranges. */
static int
close_gaps(Range *ranges, int n, int most)
{
	while (n > most)
	{
		int			narrowest = 1;

		for (int i = 2; i < n; i++)
			if (ranges[i].lo - ranges[i - 1].hi <
				ranges[narrowest].lo - ranges[narrowest - 1].hi)
				narrowest = i;
		ranges[narrowest - 1].hi = ranges[narrowest].hi;
		memmove(&ranges[narrowest], &ranges[narrowest + 1],
				sizeof(Range) * (n - narrowest - 1));
		n--;
	}
	return n;
}

/*
 * The range that a table has in the end of which all times are changed; false:
 * there is none, it is no partition of that hypertable any more.
 */
static bool
range_at_end(const Changed *c, Range *range)
{
	if (!c->whole || !get_rel_relispartition(c->key.chunk) ||
		get_partition_parent(c->key.chunk, true) != c->key.hypertable)
		return false;
	range->lo = PG_INT64_MIN;
	range->hi = PG_INT64_MAX;
	if (strata_track_chunk_range != NULL)
		(void) strata_track_chunk_range(c->key.chunk, &range->lo, &range->hi);
	range->lo = Max(range->lo, c->tracked.lo);
	range->hi = Min(range->hi, c->tracked.hi);
	return range->lo <= range->hi;
}

/* The changed times of a chunk as ranges; RANGES_ROOM of them. */
static int
ranges_of(const Changed *c, Range *ranges)
{
	const StrataTracked *tracked = &c->tracked;
	Range		whole;
	bool		has_whole = range_at_end(c, &whole);
	int			n = 0;

	if (c->before_all)
		ranges[n++] = (Range)
	{
		PG_INT64_MIN, PG_INT64_MIN
	};
	for (int i = 0; i < GRANULES && c->any; i++)
	{
		int			from = i;

		if (!granule_is_set(c, i))
			continue;
		while (i + 1 < GRANULES && granule_is_set(c, i + 1))
			i++;
		/* granules reach beyond what is tracked, and times may wrap around */
		ranges[n].lo = (int64) ((uint64) (c->base + from) << c->shift);
		ranges[n].lo = Max(ranges[n].lo, tracked->lo);
		ranges[n].hi = (int64)
			((((uint64) (c->base + i) + 1) << c->shift) - 1);
		ranges[n].hi = Min(ranges[n].hi, tracked->hi);
		n++;
	}
	if (c->after_all)
		ranges[n++] = (Range)
	{
		PG_INT64_MAX, PG_INT64_MAX
	};
	n = close_gaps(ranges, n, MAX_RANGES - has_whole);
	if (has_whole)
		ranges[n++] = whole;
	Assert(n <= MAX_RANGES);	/* track:D1 */
	return n;
}

/*-------------------------------------------------------------------------
 * Noting
 *-------------------------------------------------------------------------
 */
static Changed *
changed_of(const StrataTracked *tracked)
{
	ChangedKey	key = {tracked->chunk, tracked->hypertable};
	StrataTracked limits = *tracked;
	Changed    *c;
	bool		found;

	if (changed == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(ChangedKey);
		ctl.entrysize = sizeof(Changed);
		ctl.hcxt = TopTransactionContext;
		changed = hash_create("strata changed times", 16, &ctl,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	c = hash_search(changed, &key, HASH_ENTER, &found);
	if (found)
		limits = c->tracked;
	else
		memset((char *) c + sizeof(key), 0, sizeof(*c) - sizeof(key));
	/* what is tracked may have begun anew, and be less than what was noted */
	c->tracked = *tracked;
	c->tracked.lo = Min(c->tracked.lo, limits.lo);
	c->tracked.hi = Max(c->tracked.hi, limits.hi);
	return c;
}

/* See track.h. */
void
strata_track_range(const StrataTracked *tracked, int64 lo, int64 hi)
{
	Changed    *c;

	lo = Max(lo, tracked->lo);
	hi = Min(hi, tracked->hi);
	if (lo > hi)
		return;
	if (written)
	{
		/* somebody's own callback at commit, behind ours: track:D3 */
		strata_track_mark(tracked->hypertable, lo, hi);
		return;
	}
	c = changed_of(tracked);
	c->before_all |= lo == PG_INT64_MIN;
	c->after_all |= hi == PG_INT64_MAX;
	lo = Max(lo, PG_INT64_MIN + 1);
	hi = Min(hi, PG_INT64_MAX - 1);
	if (lo <= hi)
		note(c, lo, hi);
}

/* See track.h. */
void
strata_track_time(const StrataTracked *tracked, int64 time)
{
	strata_track_range(tracked, time, time);
}

/* See track.h. */
void
strata_track_value(const StrataTracked *tracked, Datum value, bool isnull)
{
	if (isnull)
		return;					/* no partition takes it */
	strata_track_time(tracked, tracked->type == UUIDOID ?
					  strata_uuid_time(DatumGetUUIDP(value)) :
					  strata_bucket_get(tracked->type, value));
}

/* See track.h. */
void
strata_track_slot(const StrataTracked *tracked, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value = slot_getattr(slot, tracked->attno, &isnull);

	strata_track_value(tracked, value, isnull);
}

bool		(*strata_track_chunk_range) (Oid chunk, int64 *lo,
										 int64 *hi) = NULL;

/* See track.h. */
void
strata_track_whole(const StrataTracked *tracked)
{
	int64		lo = PG_INT64_MIN;
	int64		hi = PG_INT64_MAX;

	if (strata_track_chunk_range != NULL)
		(void) strata_track_chunk_range(tracked->chunk, &lo, &hi);
	strata_track_range(tracked, lo, hi);
}

/* See track.h. */
void
strata_track_moved(Oid chunk, Oid hypertable, bool is_partition)
{
	StrataTracked tracked = {.hypertable = hypertable,.chunk = chunk};

	if (!strata_track_source_get(hypertable, &tracked.lo, &tracked.hi))
		return;
	if (is_partition)
		strata_track_whole(&tracked);
	else
		changed_of(&tracked)->whole = true;
	Assert(changed != NULL || written || is_partition); /* track:D1 */
}

/* See track.h. */
void
strata_track_pending(Oid hypertable, StrataMarkVisitor visit, void *arg)
{
	Range	   *ranges;
	HASH_SEQ_STATUS seq;
	Changed    *c;

	if (changed == NULL)
		return;
	ranges = palloc(sizeof(Range) * RANGES_ROOM);
	hash_seq_init(&seq, changed);
	while ((c = hash_seq_search(&seq)) != NULL)
	{
		int			n = c->key.hypertable == hypertable ?
		ranges_of(c, ranges) : 0;

		for (int i = 0; i < n; i++)
			visit(ranges[i].lo, ranges[i].hi, arg);
	}
	pfree(ranges);
}

/*-------------------------------------------------------------------------
 * Writing down
 *-------------------------------------------------------------------------
 */

/* All that was noted, where somebody still wants to know. */
static void
write_marks(void)
{
	Range	   *ranges = palloc(sizeof(Range) * RANGES_ROOM);
	HASH_SEQ_STATUS seq;
	Changed    *c;

	hash_seq_init(&seq, changed);
	while ((c = hash_seq_search(&seq)) != NULL)
	{
		int64		lo;
		int64		hi;
		int			n;

		if (!strata_track_source_get(c->key.hypertable, &lo, &hi))
			continue;
		n = ranges_of(c, ranges);
		for (int i = 0; i < n; i++)
			strata_track_mark(c->key.hypertable, ranges[i].lo,
							  ranges[i].hi);
	}
	pfree(ranges);
}

/* Marks are the transaction's own last rows. */
static void
end_of_transaction(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			if (changed != NULL)
				write_marks();
			written = true;
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			/* the memory goes with TopTransactionContext */
			changed = NULL;
			written = false;
			break;
		default:
			/* parallel workers change nothing */
			break;
	}
}

void
strata_track_init(void)
{
	RegisterXactCallback(end_of_transaction, NULL);
}
