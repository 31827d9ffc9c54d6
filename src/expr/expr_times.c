/*-------------------------------------------------------------------------
 *
 * expr_times.c
 *	  What an expression of a time is, for ranges of times that were met.
 *
 * extract(hour from ts) has 24 results in all, date_trunc('day', ts) one for
 * each day: PostgreSQL is asked once for each of them, and a row's is found by
 * a number made of its time.  Results are kept from batch to batch where
 * nothing but the time decides them.
 *
 * src/expr/expr_times.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr_range_private.h"

#include "base/words.h"
#include "nodes/nodeFuncs.h"
#include "pgtime.h"
#include "utils/datetime.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

typedef struct TimePlace
{
	int64		key;
	int			entry;
	char		status;
} TimePlace;

#define SH_PREFIX times
#define SH_ELEMENT_TYPE TimePlace
#define SH_KEY_TYPE int64
#define SH_KEY key
#define SH_HASH_KEY(tb, key) ((uint32) strata_hash_word((uint64) (key)))
#define SH_EQUAL(tb, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* From so many results on all are forgotten, when a frame begins. */
#define MAX_ENTRIES 16384

/* Parts of a time are less. */
#define PART_VALUES 400

#define FIRST_ENTRIES 64

/*-------------------------------------------------------------------------
 * What is kept
 *-------------------------------------------------------------------------
 */

static bool
is_mutable(Oid funcid, void *context)
{
	return func_volatile(funcid) != PROVOLATILE_IMMUTABLE;
}

/* Is it decided by more than its columns and the session's zone? */
static bool
is_decided_elsewhere(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind == PARAM_EXEC;
	if (IsA(node, SQLValueFunction) ||
		(check_functions_in_node(node, is_mutable, NULL) &&
		 !strata_expr_is_of_zone(node)))
		return true;
	return expression_tree_walker(node, is_decided_elsewhere, context);
}

/* See expr_range_private.h. */
ExprTimes *
strata_times_create(Node *expr, const StrataTimeUnit *unit, bool byref,
					int16 typlen)
{
	ExprTimes  *times = palloc0(sizeof(ExprTimes));

	times->unit = unit;
	times->keep = !is_decided_elsewhere(expr, NULL);
	times->byref = byref;
	times->typlen = typlen;
	times->owner = CurrentMemoryContext;
	return times;
}

/* Forget all results. */
static void
start_anew(ExprTimes *times)
{
	MemoryContext old;

	if (times->mcxt == NULL)
		times->mcxt = AllocSetContextCreate(times->owner, "results of times",
											ALLOCSET_SMALL_SIZES);
	MemoryContextReset(times->mcxt);
	old = MemoryContextSwitchTo(times->mcxt);
	times->session = session_timezone;
	times->span.known = false;
	times->n = 0;
	times->size = FIRST_ENTRIES;
	times->values = palloc(sizeof(uint64) * times->size);
	times->null = palloc(times->size);
	times->frames = palloc(sizeof(uint32) * times->size);
	times->numbers = palloc(sizeof(uint32) * times->size);
	times->of_null = 0;
	times->places = NULL;
	times->parts = NULL;
	if (times->unit->part != EXPR_PART_NONE)
		times->parts = palloc0(sizeof(int) * PART_VALUES);
	else
		times->places = times_create(times->mcxt, FIRST_ENTRIES, NULL);
	MemoryContextSwitchTo(old);
}

/* See expr_range_private.h. */
void
strata_times_begin(ExprTimes *times)
{
	if (times->mcxt == NULL || !times->keep || times->n > MAX_ENTRIES ||
		times->session != session_timezone)
		start_anew(times);
	times->frame++;
}

/* The part of a time on its clock. */
static int
clock_part(ExprTimePart part, int64 local)
{
	int64		day = local / USECS_PER_DAY - (local % USECS_PER_DAY < 0);
	int64		time = local - day * USECS_PER_DAY;
	int			julian = (int) day + POSTGRES_EPOCH_JDATE;
	int			y;
	int			m;
	int			d;

	switch (part)
	{
		case EXPR_PART_MINUTE:
			return (int) (time / USECS_PER_MINUTE % MINS_PER_HOUR);
		case EXPR_PART_HOUR:
			return (int) (time / USECS_PER_HOUR);
		case EXPR_PART_DOW:
			return j2day(julian);
		default:
			break;
	}
	j2date(julian, &y, &m, &d);
	switch (part)
	{
		case EXPR_PART_DAY:
			return d;
		case EXPR_PART_MONTH:
			return m;
		case EXPR_PART_WEEK:
			return date2isoweek(y, m, d);
		default:
			Assert(part == EXPR_PART_DOY);	/* expr:E5 */
			return julian - date2j(y, 1, 1) + 1;
	}
}

/* See expr_range_private.h. */
int
strata_times_find(ExprTimes *times, int64 ts, int64 *lo, int64 *hi)
{
	TimePlace  *known;
	int		   *place;
	bool		found;

	times->place = NULL;
	strata_expr_range(times->unit, ts, &times->span, lo, hi);
	/* of a time whose offset is not known nothing is kept */
	if (!strata_expr_find_offset(times->unit, ts, &times->span))
		return -1;
	if (times->parts != NULL)
	{
		int			part = clock_part(times->unit->part,
									  ts + times->span.offset);

		Assert(part >= 0 && part < PART_VALUES);	/* expr:E5 */
		place = &times->parts[part];
	}
	else
	{
		/* a range that begins there is this one: both have its first time */
		known = times_insert(times->places, *lo, &found);
		if (!found)
			known->entry = 0;
		place = &known->entry;
	}
	if (*place == 0)
		times->place = place;
	return *place - 1;
}

/* Room for one more. */
static void
enlarge(ExprTimes *times)
{
	MemoryContext old = MemoryContextSwitchTo(times->mcxt);

	times->size *= 2;
	times->values = repalloc(times->values, sizeof(uint64) * times->size);
	times->null = repalloc(times->null, times->size);
	times->frames = repalloc(times->frames, sizeof(uint32) * times->size);
	times->numbers = repalloc(times->numbers, sizeof(uint32) * times->size);
	MemoryContextSwitchTo(old);
}

/* See expr_range_private.h. */
int
strata_times_put(ExprTimes *times, uint64 value, bool isnull)
{
	int			entry = times->n;

	if (entry == times->size)
		enlarge(times);
	if (times->byref && !isnull)
	{
		MemoryContext old = MemoryContextSwitchTo(times->mcxt);

		value = (uint64) datumCopy((Datum) value, false, times->typlen);
		MemoryContextSwitchTo(old);
	}
	times->values[entry] = value;
	times->null[entry] = isnull;
	times->frames[entry] = 0;
	times->n++;
	if (times->place != NULL)
		*times->place = entry + 1;
	times->place = NULL;
	return entry;
}

/* See expr_range_private.h. */
uint32
strata_times_number(ExprTimes *times, int entry, Datum *dict, int *ndict)
{
	Assert(entry >= 0 && entry < times->n); /* expr:E5 */
	if (times->frames[entry] != times->frame)
	{
		times->frames[entry] = times->frame;
		times->numbers[entry] = (uint32) *ndict;
		dict[(*ndict)++] = (Datum) times->values[entry];
	}
	return times->numbers[entry];
}
