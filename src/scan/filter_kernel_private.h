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
 * filter_bytes.c, of by_bytes leaves.  prepare: the same, into what
 * dictionaries and values are asked for.  lacking: does the batch's dictionary
 * have none of the values?  Then no codes need be decoded.  Not
 * asked any more when it mostly has one, as its entries are then decoded
 * twice.  bytes: the leaf on a column that is not constant.
 */
extern void strata_filter_prepare_bytes(FilterNode *leaf);
extern bool strata_filter_bytes_lacking(FilterNode *leaf,
										StrataFilterRun *run);
extern void strata_filter_bytes(const FilterNode *leaf, StrataFilterRun *run,
								const StrataColumn *col, uint8 *mask);

/* mask[i] &= found[the row's code]; null is no. */
extern void strata_filter_mask_codes(const StrataColumn *col,
									 const uint8 *found, int n, uint8 *mask);

#endif							/* STRATA_FILTER_KERNEL_PRIVATE_H */
