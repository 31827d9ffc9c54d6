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
 * The copy of the value at p, which is made if it is new; false: it is not
 * kept.
 */
extern bool strata_intern_find(StrataIntern *intern, const char *p,
							   Datum *copy);

/* Asked now and then: do enough values come again? */
extern bool strata_intern_is_worth_it(StrataIntern *intern);

#endif							/* STRATA_SCAN_INTERN_PRIVATE_H */
