/*-------------------------------------------------------------------------
 *
 * agg_words_private.h
 *	  Sets of values: tables of groups without aggregates, of which the last
 *	  key may be 64 integers at once; aggregates with DISTINCT, and queries
 *	  without any.
 *
 * src/agg/agg_words_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_WORDS_PRIVATE_H
#define STRATA_AGG_WORDS_PRIVATE_H

#include "agg/agg_private.h"

/* Bits of an integer that its word in a cell is for. */
#define AGG_WORD_BITS 6
/* Words of fewer values, on average, are no gain. */
#define AGG_MIN_VALUES_PER_WORD 2

/* Are the key's values, of that type, integers, equal when their bytes are? */
extern bool strata_agg_may_have_words(const AggKey *key, Oid type);

/* The kernel of words' only call. */
extern const AggKernel strata_agg_word_kernel;

/*
 * Make the last key of the node's state the one with words, or none; and an
 * empty table.  Lives where the keys do.
 */
extern void strata_agg_set_make(StrataAggState *set, bool words);
extern void strata_agg_set_drop(StrataAggState *set);

/* The set's last key. */
static inline AggKey *
agg_set_argument(const StrataAggState *set)
{
	return &set->keys[set->nkeys - 1];
}

/* The word of a group: a bit for each of its values. */
static inline uint64 *
agg_word_of(const StrataAggState *set, const AggGroup *group)
{
	return (uint64 *) &agg_group_cells(group, set->nkeys)->n;
}

/* The value of a bit in a word, of the argument's type. */
static inline Datum
agg_value_of_bit(const AggKey *argument, int64 key, int bit)
{
	return strata_integer_datum((int64) ((uint64) key << AGG_WORD_BITS) | bit,
								argument->typlen);
}

/* Put the argument's current value into the group of the current keys. */
extern void strata_agg_set_take(StrataAggState *set);

/*
 * Put the values of the selected rows at these positions in, when keys are
 * loaded; false: they have to be put in one by one.
 */
extern bool strata_agg_set_take_rows(StrataAggState *set,
									 const int *positions, int n);

/*
 * agg_words.c: if groups without aggregates fill half of the memory, make
 * words of them, each of 64 values of one integer key; false: not so, or there
 * would be too many.
 */
extern bool strata_agg_words_begin(struct StrataAggState *agg);

/* Where there are words: take the current vector in. */
extern void strata_agg_words_add(struct StrataAggState *agg);

/* After the last row: the keys of one group after the other. */
extern void strata_agg_words_finish(struct StrataAggState *agg);
extern bool strata_agg_words_next(struct StrataAggState *agg, Datum *values,
								  bool *isnull);
extern void strata_agg_words_end(struct StrataAggState *agg);

/* What they needed, beside the table of groups; 0 without words. */
extern Size strata_agg_words_memory(const struct StrataAggState *agg);
extern int	strata_agg_words_spills(const struct StrataAggState *agg);

/*
 * agg_distinct.c: the set of an aggregate's values under its FILTER, each once
 * in a group, made when there is none; and the number of the value.
 */
extern AggDistinct *strata_agg_distinct_add(struct StrataAggState *agg,
											const Aggref *aggref);
extern int	strata_agg_distinct_value(const AggDistinct *distinct);

/* When keys, calls and the table of groups are there. */
extern void strata_agg_distinct_begin(struct StrataAggState *agg);

/* Take the current vector into all sets, once its groups have been found. */
extern void strata_agg_distinct_take(struct StrataAggState *agg);

/* After the last row, before the table of groups is read: sets into cells. */
extern void strata_agg_distinct_finish(struct StrataAggState *agg);
extern void strata_agg_distinct_reset(struct StrataAggState *agg);
extern void strata_agg_distinct_end(struct StrataAggState *agg);

/* What they needed, beside the table of groups. */
extern Size strata_agg_distinct_memory(const struct StrataAggState *agg);
extern int	strata_agg_distinct_spills(const struct StrataAggState *agg);

#endif							/* STRATA_AGG_WORDS_PRIVATE_H */
