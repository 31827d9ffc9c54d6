/*-------------------------------------------------------------------------
 *
 * rollup_join_private.h
 *	  Definitions that join the hypertable with other tables.
 *
 * src/rollup/rollup_join_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_ROLLUP_JOIN_PRIVATE_H
#define STRATA_ROLLUP_JOIN_PRIVATE_H

#include "rollup/rollup.h"

/*
 * Of a definition that joins its source, entry varno, with
 * other tables: what of it is kept becomes rollup->query.  ereports if that is
 * not enough to compute the rest when the view is read.
 */
extern bool strata_rollup_is_joined(const Query *query);
extern Index strata_rollup_find_joined(Query *query, Oid source);
extern void strata_rollup_split(StrataRollup *rollup);

/* Is it a key of the archive beside the bucket? */
extern bool strata_rollup_has_key(const StrataRollup *rollup,
								  const Expr *expr);

/*
 * Have such a definition (as rewritten) read the archive's rows of the ranges
 * (NULL: all) instead of the source's rows, and beside them those rows whose
 * time is in `kept`; the result is its subquery of these, or NULL.
 */
extern Query *strata_rollup_join_archive(const StrataRollup *rollup,
										 Query *definition,
										 const StrataRanges *ranges,
										 const StrataRanges *kept);

#endif							/* STRATA_ROLLUP_JOIN_PRIVATE_H */
