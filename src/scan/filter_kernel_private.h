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

/* The same, into what filters of columns and dictionaries are asked for. */
extern void strata_filter_prepare_bytes(FilterNode *leaf);

#endif							/* STRATA_FILTER_KERNEL_PRIVATE_H */
