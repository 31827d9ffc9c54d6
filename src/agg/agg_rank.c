/*-------------------------------------------------------------------------
 *
 * agg_rank.c
 *	  Of a group's numbers those of some ranks, and the one that is there most
 *	  often; beyond memory the numbers are in a file.
 *
 * Numbers are not sorted for their ranks.  The range from the least to the
 * greatest is cut into buckets, and how many numbers are in each is counted:
 * that says in which buckets the ranks are.  Those few numbers are taken out,
 * for all ranks at once, and go the same way.  Where even they are too many,
 * their buckets are cut again, without taking them out.  So all is read a few
 * times from end to end, whatever the numbers are, and a file likewise.
 *
 * src/agg/agg_rank.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"

#include "base/compat.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/buffile.h"
#include "utils/memutils.h"

#define ST_SORT sort_integers
#define ST_ELEMENT_TYPE int64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_CHECK_FOR_INTERRUPTS
#define ST_SCOPE static
#define ST_DEFINE
#define ST_DECLARE
#include "lib/sort_template.h"

/* Numbers that are looked at together. */
#define BLOCK 8192
/* So few are sorted. */
#define FEW 64
/* Buckets, as bits: more for more numbers. */
#define MIN_BITS 4
#define MAX_BITS 11

/* Numbers to choose from. */
typedef struct RankSource
{
	const int64 *v;				/* all of them; NULL: they are in a file */
	int64		n;
	int64		below;			/* rank of the least */
	BufFile    *file;
	int64	   *block;			/* of it */
	int64		at;				/* how many were read */
	int64		room;			/* how many of them may be taken out */
} RankSource;

/* A part of the numbers, by their size. */
typedef struct RankRange
{
	int64		low;
	int64		high;			/* the last */
	int64		below;			/* rank of its first */
	int64		n;
	int			first;			/* of the ranks that are in it, ... */
	int			nranks;			/* ... and how many these are */
} RankRange;

/*-------------------------------------------------------------------------
 * Numbers beyond memory
 *-------------------------------------------------------------------------
 */

/* See agg_hold_private.h. */
void
strata_agg_rank_overflow(AggHold *hold, HeldRows *rows)
{
	const int64 *v = (const int64 *) rows->v;

	if (rows->file == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(hold->mcxt);

		PrepareTempTablespaces();
		rows->file = BufFileCreateTemp(false);
		hold->overflown = lappend(hold->overflown, rows);
		rows->least = PG_INT64_MAX;
		rows->greatest = PG_INT64_MIN;
		MemoryContextSwitchTo(old);
	}
	for (int64 i = 0; i < rows->n; i++)
	{
		rows->least = Min(rows->least, v[i]);
		rows->greatest = Max(rows->greatest, v[i]);
	}
	for (int64 i = 0; i < rows->n; i += BLOCK)
	{
		CHECK_FOR_INTERRUPTS();
		BufFileWrite(rows->file, rows->v + i,
					 sizeof(int64) * Min(BLOCK, rows->n - i));
	}
	rows->nfile += rows->n;
	rows->n = 0;
}

/* The rows as a source; all are in the file, or all in memory. */
static void
open_source(AggHold *hold, HeldRows *rows, RankSource *source)
{
	memset(source, 0, sizeof(RankSource));
	if (rows->file == NULL)
	{
		source->v = (const int64 *) rows->v;
		source->n = rows->n;
		source->room = rows->n / 4 + FEW;
		return;
	}
	strata_agg_rank_overflow(hold, rows);
	if (rows->v != NULL)
		pfree(rows->v);
	rows->v = NULL;
	rows->space = 0;
	source->file = rows->file;
	source->n = rows->nfile;
	source->block = palloc(sizeof(int64) * BLOCK);
	source->room = (int64) (hold->limit / sizeof(int64) / 2);
}

static void
rewind_source(RankSource *source)
{
	source->at = 0;
	if (source->file != NULL &&
		BufFileSeek(source->file, 0, 0, SEEK_SET) != 0)
		elog(ERROR, "could not rewind a temporary file of numbers");
}

/* The next numbers; returns how many, 0 at the end. */
static int
next_block(RankSource *source, const int64 **v)
{
	int			n = (int) Min(source->n - source->at, BLOCK);
	Size		nbytes = sizeof(int64) * n;

	CHECK_FOR_INTERRUPTS();
	if (source->file == NULL)
		*v = source->v + source->at;
	else
	{
		if (n > 0 &&
			BufFileRead(source->file, source->block, nbytes) != nbytes)
			elog(ERROR, "a temporary file of numbers is too short");
		*v = source->block;
	}
	source->at += n;
	return n;
}

/*-------------------------------------------------------------------------
 * Ranks
 *-------------------------------------------------------------------------
 */

/* The bucket of a number, or the one behind all. */
static inline uint64
number_bucket(int64 v, const RankRange *range, int shift, uint64 nbuckets)
{
	uint64		distance = (uint64) v - (uint64) range->low;

	return distance <= (uint64) range->high - (uint64) range->low ?
		distance >> shift : nbuckets;
}

/* Make the range as narrow as the numbers in it are. */
static void
tighten_range(const RankSource *source, RankRange *range)
{
	int64		low = range->high;
	int64		high = range->low;

	for (int64 i = 0; i < source->n; i++)
	{
		int64		v = source->v[i];
		bool		within = v >= range->low && v <= range->high;

		low = within && v < low ? v : low;
		high = within && v > high ? v : high;
	}
	range->low = low;
	range->high = high;
}

/*
 * How many numbers there are in each bucket.  Neighbours are counted apart,
 * for one that is counted like the one before would wait for it.
 */
static int64 *
count_in_buckets(RankSource *source, const RankRange *range, int shift,
				 uint64 nbuckets)
{
	int64	   *counts = palloc0(sizeof(int64) * 2 * (nbuckets + 1));
	int64	   *others = counts + nbuckets + 1;
	const int64 *v;
	int			n;

	rewind_source(source);
	while ((n = next_block(source, &v)) > 0)
	{
		int			i = 0;

		for (; i + 1 < n; i += 2)
		{
			counts[number_bucket(v[i], range, shift, nbuckets)]++;
			others[number_bucket(v[i + 1], range, shift, nbuckets)]++;
		}
		if (i < n)
			counts[number_bucket(v[i], range, shift, nbuckets)]++;
	}
	for (uint64 i = 0; i < nbuckets; i++)
		counts[i] += others[i];
	return counts;
}

/* The buckets that ranks are in; returns how many these are. */
static int
find_rank_buckets(const RankRange *range, int shift, const int64 *counts,
				  const int64 *ranks, RankRange *found)
{
	uint64		width = (uint64) range->high - (uint64) range->low;
	uint64		bucket = 0;
	int64		below = range->below;
	int			n = 0;

	for (int i = range->first; i < range->first + range->nranks; i++)
	{
		uint64		start;

		if (n > 0 && ranks[i] < found[n - 1].below + found[n - 1].n)
		{
			found[n - 1].nranks++;
			continue;
		}
		while (ranks[i] >= below + counts[bucket])
			below += counts[bucket++];
		start = bucket << shift;
		found[n].low = (int64) ((uint64) range->low + start);
		found[n].high = (int64) ((uint64) range->low +
								 Min(width,
									 start + (((uint64) 1 << shift) - 1)));
		found[n].below = below;
		found[n].n = counts[bucket];
		found[n].first = i;
		found[n++].nranks = 1;
	}
	return n;
}

/* Take the numbers of these buckets out, one bucket's behind the other's. */
static void
take_out(RankSource *source, const RankRange *range, int shift,
		 uint64 nbuckets, const RankRange *found, int nfound, int64 *out)
{
	/* of each bucket which of those found it is, from 1 */
	int		   *which = palloc0(sizeof(int) * (nbuckets + 1));
	int64	  **ends = palloc(sizeof(int64 *) * (nfound + 1));
	const int64 *v;
	int			n;

	for (int i = 0; i < nfound; i++)
	{
		which[number_bucket(found[i].low, range, shift, nbuckets)] = i + 1;
		ends[i + 1] = out;
		out += found[i].n;
	}
	rewind_source(source);
	while ((n = next_block(source, &v)) > 0)
		for (int i = 0; i < n; i++)
		{
			int			w = which[number_bucket(v[i], range, shift,
												nbuckets)];

			if (w != 0)
				*ends[w]++ = v[i];
		}
	pfree(ends);
	pfree(which);
}

static void choose_numbers(RankSource *source, RankRange range,
						   const int64 *ranks, int64 *out);

/* The numbers of ranks in buckets of a range, which are taken out first. */
static void
choose_among(RankSource *source, const RankRange *range, int shift,
			 uint64 nbuckets, const RankRange *found, int nfound,
			 int64 total, const int64 *ranks, int64 *out)
{
	int64	   *taken;
	int64		at = 0;

	taken = MemoryContextAllocHuge(CurrentMemoryContext,
								   sizeof(int64) * total);
	take_out(source, range, shift, nbuckets, found, nfound, taken);
	for (int i = 0; i < nfound; i++)
	{
		RankSource	part = {taken + at, found[i].n, found[i].below};

		part.room = part.n / 4 + FEW;
		choose_numbers(&part, found[i], ranks, out);
		at += found[i].n;
	}
	pfree(taken);
}

/* The numbers of the range's ranks; it has as many numbers as it says. */
static void
choose_numbers(RankSource *source, RankRange range, const int64 *ranks,
			   int64 *out)
{
	int			bits = MIN_BITS;
	int			shift;
	uint64		nbuckets;
	int64	   *counts;
	RankRange  *found;
	int			nfound;
	int			next;

	if (source->file == NULL && range.low != range.high)
		tighten_range(source, &range);
	if (range.low == range.high)
	{
		for (int i = range.first; i < range.first + range.nranks; i++)
			out[i] = range.low;
		return;
	}
	if (source->file == NULL && source->n <= FEW)
	{
		int64		few[FEW];

		memcpy(few, source->v, sizeof(int64) * source->n);
		sort_integers(few, (size_t) source->n);
		for (int i = range.first; i < range.first + range.nranks; i++)
			out[i] = few[ranks[i] - source->below];
		return;
	}
	while (bits < MAX_BITS && ((int64) 2 << bits) < range.n)
		bits++;
	nbuckets = (uint64) 1 << bits;
	shift = pg_leftmost_one_pos64((uint64) range.high - (uint64) range.low);
	shift = Max(shift + 1 - bits, 0);
	counts = count_in_buckets(source, &range, shift, nbuckets);
	found = palloc(sizeof(RankRange) * range.nranks);
	nfound = find_rank_buckets(&range, shift, counts, ranks, found);
	pfree(counts);
	for (int i = 0; i < nfound; i = next)
	{
		int64		total = found[i].n;

		next = i + 1;
		if (shift == 0 || total > source->room)
		{
			choose_numbers(source, found[i], ranks, out);
			continue;
		}
		while (next < nfound && total + found[next].n <= source->room)
			total += found[next++].n;
		choose_among(source, &range, shift, nbuckets, &found[i], next - i,
					 total, ranks, out);
	}
	pfree(found);
}

/* See agg_hold_private.h. */
void
strata_agg_rank_choose(AggHold *hold, HeldRows *rows, const int64 *ranks,
					   int nranks, int64 *out)
{
	RankSource	source;
	RankRange	range = {PG_INT64_MIN, PG_INT64_MAX, 0};

	if (nranks == 0)
		return;
	if (rows->sorted)
	{
		for (int i = 0; i < nranks; i++)
			out[i] = ((const int64 *) rows->v)[ranks[i]];
		return;
	}
	open_source(hold, rows, &source);
	range.n = source.n;
	range.nranks = nranks;
	Assert(ranks[0] >= 0 && ranks[nranks - 1] < source.n);	/* agg:G28 */
	if (source.file != NULL)
	{
		range.low = rows->least;
		range.high = rows->greatest;
	}
	choose_numbers(&source, range, ranks, out);
	if (source.block != NULL)
		pfree(source.block);
}

/*-------------------------------------------------------------------------
 * The most frequent
 *-------------------------------------------------------------------------
 */

/* Numbers that ascend, counted while they are alike. */
typedef struct Frequency
{
	int64		start;			/* the first of those counted now */
	int64		n;
	int64		best;
	int64		best_n;
} Frequency;

static inline void
count_number(Frequency *f, int64 v, bool (*alike) (int64, int64))
{
	if (f->n > 0 && (v == f->start || (alike != NULL && alike(v, f->start))))
		f->n++;
	else
	{
		f->start = v;
		f->n = 1;
	}
	if (f->n > f->best_n)
	{
		f->best = f->start;
		f->best_n = f->n;
	}
}

/* Those of a file, by a sort of PostgreSQL's. */
static void
count_file(RankSource *source, Frequency *f, bool (*alike) (int64, int64))
{
	Tuplesortstate *sort;
	const int64 *v;
	int			n;
	Datum		value;
	bool		isnull;

	sort = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false,
								 work_mem, NULL, TUPLESORT_NONE);
	rewind_source(source);
	while ((n = next_block(source, &v)) > 0)
		for (int i = 0; i < n; i++)
			tuplesort_putdatum(sort, Int64GetDatum(v[i]), false);
	tuplesort_performsort(sort);
	while (strata_tuplesort_getdatum(sort, &value, &isnull))
	{
		CHECK_FOR_INTERRUPTS();
		count_number(f, DatumGetInt64(value), alike);
	}
	tuplesort_end(sort);
}

/* See agg_hold_private.h. */
int64
strata_agg_rank_most_frequent(AggHold *hold, HeldRows *rows,
							  bool (*alike) (int64, int64))
{
	RankSource	source;
	Frequency	f = {0};
	int64	   *v;

	open_source(hold, rows, &source);
	if (source.file != NULL)
	{
		count_file(&source, &f, alike);
		pfree(source.block);
		return f.best;
	}
	/* nobody minds their order */
	v = (int64 *) rows->v;
	if (!rows->sorted)
		sort_integers(v, (size_t) rows->n);
	rows->sorted = true;
	for (int64 i = 0; i < rows->n; i++)
		count_number(&f, v[i], alike);
	return f.best;
}
