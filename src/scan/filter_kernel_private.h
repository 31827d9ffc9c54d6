/*-------------------------------------------------------------------------
 *
 * filter_kernel_private.h
 *	  Operators on packed columns, and what they are prepared for.
 *
 * src/scan/filter_kernel_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_FILTER_KERNEL_PRIVATE_H
#define STRATA_FILTER_KERNEL_PRIVATE_H

#include "scan/filter_private.h"

/*
 * Kernels on the packed values of one column: mask[i] &= leaf(v[i]).  Null
 * rows are the caller's.
 */
extern void strata_filter_compare(const FilterNode *leaf, const void *v, int n,
								  uint8 *mask);
extern void strata_filter_in(const FilterNode *leaf, const void *v, int n,
							 uint8 *mask);

/*
 * Of a leaf whose keys have places: may one of them be from min to max, which
 * are of the column?
 */
extern bool strata_filter_meets_places(const FilterNode *leaf, Datum min,
									   Datum max);

/* mask[i] &= isnull[i] == wanted */
extern void strata_filter_mask_nulls(const bool *isnull, bool wanted, int n,
									 uint8 *mask);

/*
 * The kind of kernel for a column compared with a value; NONE when there is
 * none.
 */
extern FilterKind strata_filter_kind(Oid coltype, Oid lefttype, Oid righttype,
									 int strategy);

/*
 * Turn leaf->values into what the kernels search: ints or floats.  Called by
 * prepare in the value context.
 */
extern void strata_filter_prepare_in(FilterNode *leaf);

/*
 * filter_bytes.c.  prepare: the same, of a by_bytes leaf, into what bytes are
 * asked for.  strings: a leaf of any kind, on a column of a batch whose bytes
 * decide it; false: not so.  bytes: a by_bytes leaf on values.
 */
extern void strata_filter_prepare_bytes(FilterNode *leaf);
extern bool strata_filter_strings(const FilterNode *leaf,
								  StrataFilterRun *run, uint8 *mask);
extern void strata_filter_bytes(const FilterNode *leaf, StrataFilterRun *run,
								const StrataColumn *col, uint8 *mask);

/*
 * filter_decimal.c.  A comparison of numerics, or IN, where the batch keeps
 * integers of one scale; false: it does not, or there is no such value.
 */
extern bool strata_filter_decimals(const FilterNode *leaf,
								   StrataFilterRun *run, uint8 *mask);

#endif							/* STRATA_FILTER_KERNEL_PRIVATE_H */
