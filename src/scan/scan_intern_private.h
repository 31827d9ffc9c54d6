/*-------------------------------------------------------------------------
 *
 * scan_intern_private.h
 *	  Short values of a column of the row store that come again: one copy of
 *	  each.
 *
 * src/scan/scan_intern_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_SCAN_INTERN_PRIVATE_H
#define STRATA_SCAN_INTERN_PRIVATE_H

#include "postgres.h"

typedef struct StrataIntern StrataIntern;

/*
 * For values by reference of that typlen; NULL: none of them would be short.
 * Memory: the current context, a fixed amount.  What is kept lives as long.
 */
extern StrataIntern *strata_intern_create(int16 typlen);

/*
 * The number of the value at p, in a tuple, and its copy, which is made if it
 * is new; STRATA_NO_NUMBER: it is not kept.  Numbers are below
 * STRATA_MAX_NUMBERS.
 */
extern uint16 strata_intern_find(StrataIntern *intern, const char *p,
								 Datum *copy);

/*
 * The same of a value in each of n tuples, into the copies and numbers of
 * these rows; returns how many of them have a number.
 */
extern int	strata_intern_find_many(StrataIntern *intern,
									const char *const *tuples,
									const uint32 *offsets,
									const uint16 *rows, int n, Datum *copies,
									uint16 *numbers);

/* Asked now and then: do enough values come again? */
extern bool strata_intern_is_worth_it(StrataIntern *intern);

#endif							/* STRATA_SCAN_INTERN_PRIVATE_H */
