/*-------------------------------------------------------------------------
 *
 * agg_number_private.h
 *	  Groups of a batch's rows by the numbers of a key's strings.
 *
 * src/agg/agg_number_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_NUMBER_PRIVATE_H
#define STRATA_AGG_NUMBER_PRIVATE_H

#include "agg/agg_private.h"

typedef struct AggNumbers AggNumbers;

/* NULL: no key's strings have numbers, or rows cannot be added singly. */
extern AggNumbers *strata_agg_numbers_create(const StrataAggState *agg);

/*
 * The cells of the group of each selected row of a batch; NULL: groups have to
 * be found otherwise.  What is remembered is good until groups leave the
 * table: it has to be forgotten before.  NULL is fine.
 */
extern AggCell **strata_agg_number_cells(StrataAggState *agg);
extern void strata_agg_numbers_forget(AggNumbers *numbers);

#endif							/* STRATA_AGG_NUMBER_PRIVATE_H */
