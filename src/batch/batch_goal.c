/*-------------------------------------------------------------------------
 *
 * batch_goal.c
 *	  How many rows the next batch should have.
 *
 * A batch row cannot be on two pages.  When two of them, of the rows that were
 * asked for, take four fifths of a page, the last fifth stays empty; batches
 * of a quarter more rows fill it, and there are fewer of them.  So the bytes
 * that a row takes are learned from the batches that were written, and the
 * next batch is to have as many rows as fit into its share of the page.
 *
 * A batch that turns out to be larger than its share costs more than what was
 * to be saved, so there is a margin, of what batches lately differed from what
 * was expected.  Where they differ much, batches are as large as was asked
 * for.
 *
 * What a batch has beside its rows (heads) is learned where batches differ in
 * size: from bytes for each row alone, two batches of 1000 rows that only just
 * fit a page would seem to fit when the last batches were large, and not when
 * they were small.
 *
 * src/batch/batch_goal.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch.h"
#include "batch/batch_build.h"

#include <math.h>

#include "storage/bufpage.h"

/*
 * At most so many times the rows that were asked for: one that fits a page,
 * but not twice, and some for its head.
 */
#define GROWTH_MAX 2.25

/* Where more fit on a page, little of it is empty. */
#define SHARES_MAX 8

/* What is new counts so much. */
#define BYTES_WEIGHT 0.25
#define DEVIATION_WEIGHT 0.125

/*
 * Batches whose numbers of rows differ by more than this part of them say what
 * heads take: at most so much.
 */
#define SIZES_PART 8
#define HEAD_SHARE 0.125

/*
 * Of batches that nothing is known of; the margin in deviations, and its
 * bounds.
 */
#define DEVIATION_FIRST 0.02
#define MARGIN_DEVIATIONS 2.5
#define MARGIN_MIN 0.004
#define MARGIN_MAX 0.2
#define MARGIN_SHARES 0.05

/* Space of a page for batch rows. */
#define PAGE_ROOM (BLCKSZ - SizeOfPageHeaderData)

/* What a batch row takes of it. */
static Size
place_of(Size nbytes)
{
	return MAXALIGN(nbytes) + sizeof(ItemIdData);
}

/* See batch_build.h. */
void
strata_goal_init(StrataRowGoal *goal, int base, Size largest)
{
	memset(goal, 0, sizeof(*goal));
	goal->base = base;
	goal->most = (int) Min(base * GROWTH_MAX, STRATA_CODEC_MAX_ROWS);
	goal->largest = largest;
}

/* See batch_build.h. */
void
strata_goal_learn(StrataRowGoal *goal, int nrows, Size nbytes, Size room)
{
	double		more = nrows - goal->rows;

	goal->room = room;
	/* much of a small batch are its heads, which say little of large ones */
	if (nrows < (goal->known ? goal->base : goal->base / 2))
		return;
	if (!goal->known)
	{
		goal->known = true;
		goal->rows = nrows;
		goal->bytes = nbytes;
		goal->deviation = DEVIATION_FIRST;
	}
	else if (fabs(more) > goal->rows / SIZES_PART)
	{
		double		head;

		head = goal->bytes - goal->rows * (nbytes - goal->bytes) / more;
		/* more than that and it is the rows that differ */
		head = Max(0, Min(head, Min(nbytes, goal->bytes) * HEAD_SHARE));
		goal->head += goal->head == 0 ? head :
			(head - goal->head) * BYTES_WEIGHT;
	}
	else
		goal->deviation +=
			(fabs(nbytes / (goal->head + nrows * goal->per_row) - 1) -
			 goal->deviation) *
			DEVIATION_WEIGHT;
	goal->rows += (nrows - goal->rows) * BYTES_WEIGHT;
	goal->bytes += (nbytes - goal->bytes) * BYTES_WEIGHT;
	goal->per_row = (goal->bytes - goal->head) / goal->rows;
}

/* See batch_build.h. */
int
strata_goal_rows(const StrataRowGoal *goal)
{
	double		margin = Max(goal->deviation * MARGIN_DEVIATIONS, MARGIN_MIN);
	Size		least;
	Size		share;

	if (!goal->known || margin > MARGIN_MAX)
		return goal->base;
	/* as few rows as there may be, and what they may take */
	least = place_of((Size) ((goal->head + goal->base * goal->per_row) *
							 (1 + MARGIN_SHARES)));
	if (least > PAGE_ROOM || PAGE_ROOM / least > SHARES_MAX)
		return goal->base;

	/*
	 * an equal share of what is left of the page, and no more than of a whole
	 * one: growth is to be small
	 */
	share = PAGE_ROOM / (PAGE_ROOM / least);
	if (goal->room >= least)
		share = Min(share, goal->room / (goal->room / least));
	share -= sizeof(ItemIdData);
	share = Min(share - share % MAXIMUM_ALIGNOF, goal->largest);
	return Max(goal->base,
			   (int) Min((share * (1 - margin) - goal->head) / goal->per_row,
						 goal->most));
}
