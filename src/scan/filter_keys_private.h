/*-------------------------------------------------------------------------
 *
 * filter_keys_private.h
 *	  What kernels look for in columns, and which rows their masks leave.
 *
 * src/scan/filter_keys_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_FILTER_KEYS_PRIVATE_H
#define STRATA_FILTER_KEYS_PRIVATE_H

#include "postgres.h"

/* Elements of a list, as kernels of fixed-width columns look for them. */
typedef struct FilterKeys
{
	int			n;
	int64	   *ints;			/* of integer kinds; */
	double	   *floats;			/* of floats, NaN left out */
	bool		has_nan;		/* an element is NaN */
	uint32	   *slots;			/* where to look for one by its hash: its
								 * number + 1, or 0; NULL: they are few */
	int			shift;			/* of hashes; of places */
	/* of elements that are not listed: bits of values from base on */
	uint64	   *places;			/* 1: some may be there; NULL: nobody knows */
	uint64		nplaces;		/* each of 2 ^ shift values; there is one bit
								 * more, which is 0 */
	int64		base;
} FilterKeys;

/* Where a value's bit is, if there is one for it: nplaces if not. */
static inline uint64
strata_filter_place(const FilterKeys *keys, int64 value)
{
	uint64		place;

	place = ((uint64) value - (uint64) keys->base) >> keys->shift;
	return Min(place, keys->nplaces);
}

/*
 * The numbers of the rows that a mask of n rows leaves; returns how many.
 * There is room for STRATA_FILTER_ROW_SPACE(n) of them.
 */
#define STRATA_FILTER_ROW_SPACE(n) ((n) + 8)
extern int	strata_filter_mask_rows(const uint8 *mask, int n, uint16 *rows);

#endif							/* STRATA_FILTER_KEYS_PRIVATE_H */
