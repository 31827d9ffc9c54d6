/*-------------------------------------------------------------------------
 *
 * time_private.h
 *	  What the files of src/time share.
 *
 * src/time/time_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_TIME_PRIVATE_H
#define STRATA_TIME_PRIVATE_H

#include "base/base.h"
#include "time/time.h"

/*
 * Is it our function of that name, without a time zone, or (zoned) with one?
 */
extern bool strata_time_is_bucket(Oid funcid, bool zoned);

/* The btree strategy of an operator between two values of type, or 0. */
extern int	strata_time_strategy(Oid opno, Oid type);

/*
 * How long a unit of date_trunc(), a constant, is at most; 0: another, or not
 * known.
 */
extern int64 strata_time_unit_length(Node *name);

#endif							/* STRATA_TIME_PRIVATE_H */
