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
	int			shift;			/* of hashes */
} FilterKeys;

/*
 * The numbers of the rows that a mask of n rows leaves; returns how many.
 * There is room for STRATA_FILTER_ROW_SPACE(n) of them.
 */
#define STRATA_FILTER_ROW_SPACE(n) ((n) + 8)
extern int	strata_filter_mask_rows(const uint8 *mask, int n, uint16 *rows);

#endif							/* STRATA_FILTER_KEYS_PRIVATE_H */
