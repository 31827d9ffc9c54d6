/*-------------------------------------------------------------------------
 *
 * rollup_busy_private.h
 *	  Times in which there is something to do for a refresh.
 *
 * src/rollup/rollup_busy_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_ROLLUP_BUSY_PRIVATE_H
#define STRATA_ROLLUP_BUSY_PRIVATE_H

#include "rollup/rollup.h"

/*
 * rollup_busy.c.  Buckets of a window in which there is something to do.
 * Then: where the next of these begins, from a time on; or where it ends, back
 * from that.  An extreme of int64: there is none.
 */
extern void strata_rollup_busy(const StrataRollup *rollup, StrataRange window,
							   Snapshot snapshot, StrataRanges *busy);
extern int64 strata_rollup_next_busy(const StrataRanges *busy, int64 from,
									 bool backward);

/*
 * rollup_write.c.  Buckets in which rows of a range of times are, of the
 * source or of the archive: gaps between them that are longer are not among
 * them.
 */
extern void strata_rollup_occupied(const StrataRollup *rollup, bool archived,
								   StrataRange range, int64 length,
								   Snapshot snapshot, StrataRanges *occupied);

/*
 * Whole buckets from the first to the last time of the window that the source
 * has rows of, or the archive, as the snapshot sees them; lo >= hi: none.
 */
extern StrataRange strata_rollup_extent(const StrataRollup *rollup,
										StrataRange window,
										Snapshot snapshot);

#endif							/* STRATA_ROLLUP_BUSY_PRIVATE_H */
