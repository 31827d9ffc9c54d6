/*-------------------------------------------------------------------------
 *
 * scan_merge_private.h
 *	  What scan_merge.c (inputs, output) and scan_pending.c (batches that are
 *	  not open yet) share.
 *
 * src/scan/scan_merge_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_MERGE_PRIVATE_H
#define STRATA_SCAN_MERGE_PRIVATE_H

#include "scan/scan_private.h"

/* The least key of a batch, on the first n keys. */
typedef struct MergeBound
{
	ItemPointerData tid;		/* of the batch row */
	int			n;
	Datum	   *values;
	bool	   *isnull;
	int64		abbreviated;	/* of the first key, when n > 0 */
	int			nverdicts;		/* of listed batches: what their metadata says
								 * of the quals */
	StrataVerdict *verdicts;
} MergeBound;

/* An input standing on a row; batch is NULL for the row store. */
typedef struct MergeInput
{
	StrataOpenBatch *batch;
	StrataColumn **columns;		/* of the keys, in full; unless */
	bool		windowed;		/* the one key's rows are decoded as they are
								 * needed */
	bool		pins;			/* the batch row may stay in its buffer */
	int			row;			/* batch: current row */
	bool		passes;			/* it passes all quals; else that is to be
								 * tried when its turn comes */
	TupleTableSlot *slot;		/* row store: current row */
	Datum	   *values;			/* its keys */
	bool	   *isnull;
	int64		abbreviated;	/* the first key, when it is an integer inside */
} MergeInput;

struct StrataMerge
{
	StrataScanState *scan;
	int			nkeys;
	const StrataOrderKey *keys;
	SortSupport sorts;
	int			integer_width;	/* of the first key, if it compares as an
								 * integer; or 0 */
	bool		started;
	bool		finished;

	/*
	 * heap of inputs; the least is first, and was returned when advance is
	 * set
	 */
	MergeInput **heap;
	int			nheap;
	int			heap_size;
	bool		advance;
	/* the group of the row last returned (scan_window.c) */
	MemoryContext group_mcxt;
	Datum	   *group;
	bool	   *group_isnull;
	int64		group_rows;		/* returned of it; 0: there is none */
	MergeInput *rowstore;
	List	   *unused;			/* inputs with batches to be used again */
	List	   *all;
	int			npins;			/* inputs whose batch row is in its buffer */
	MemoryContextCallback gone;
	/* batches to come */
	MemoryContext pending_mcxt;
	MergeBound *pending;		/* listed ones, by bound */
	int			npending;
	int			pending_size;
	int			next_pending;
	MergeInput *lister;
	bool		incremental;
	int			nranges;		/* that the lookahead has started */
	bool		peeking;		/* look ahead at keys of the index, not at
								 * batches */
	bool		has_lookahead;
	MergeInput *lookahead;		/* loaded, not open; NULL when it was peeked
								 * at only */
	MergeBound	lookahead_bound;
#ifdef USE_ASSERT_CHECKING
	MemoryContext check_mcxt;
	Datum	   *last;
	bool	   *last_isnull;
	bool		has_last;
#endif
};

/*
 * The first key as an integer that orders as the key does, but for ties, which
 * are left to the comparator.  Zero for types that are not integers inside.
 */
static inline int64
strata_merge_abbreviate(const StrataMerge *merge, Datum value, bool isnull)
{
	int64		x;

	if (merge->integer_width == 0)
		return 0;
	x = strata_datum_integer(value, merge->integer_width);
	if (isnull)
		return merge->keys[0].nulls_first ? PG_INT64_MIN : PG_INT64_MAX;
	return merge->keys[0].desc ? ~x : x;
}

static inline int
strata_merge_compare(const StrataMerge *merge, int n, const Datum *a,
					 const bool *a_isnull, const Datum *b,
					 const bool *b_isnull)
{
	for (int i = 0; i < n; i++)
	{
		int			c = ApplySortComparator(a[i], a_isnull[i], b[i],
											b_isnull[i], &merge->sorts[i]);

		if (c != 0)
			return c;
	}
	return 0;
}

/* scan_merge.c: inputs with room for a batch. */
extern MergeInput *strata_merge_get_input(StrataMerge *merge);
extern void strata_merge_release_input(StrataMerge *merge, MergeInput *input);

/* So many more (or, negative, fewer) inputs have their batch row pinned. */
extern void strata_merge_note_pins(StrataMerge *merge, int more);

/* A copy of the value of key number i, detoasted, in the current context. */
extern Datum strata_merge_copy_key(StrataMerge *merge, int i, Datum value);

/* Run comparisons in here: they may leave memory behind, let it be a row's. */
static inline MemoryContext
strata_merge_start_comparing(const StrataMerge *merge)
{
	return MemoryContextSwitchTo(merge->scan->run.econtext
								 ->ecxt_per_tuple_memory);
}

/* scan_pending.c: see there. */
extern void strata_pending_start(StrataMerge *merge);
extern MergeInput *strata_pending_take(StrataMerge *merge);
extern void strata_pending_reset(StrataMerge *merge);

#endif							/* STRATA_SCAN_MERGE_PRIVATE_H */
