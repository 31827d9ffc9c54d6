/*-------------------------------------------------------------------------
 *
 * api_private.h
 *	  What the files of src/api share among themselves.
 *
 * src/api/api_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_API_PRIVATE_H
#define STRATA_API_PRIVATE_H

#include "base/base.h"
#include "store/store.h"

#include "fmgr.h"
#include "funcapi.h"
#include "storage/lockdefs.h"

/*
 * Open a strata table for one of our functions: the caller must own it.
 * ereports what is wrong otherwise.
 */
extern Relation strata_api_open(Oid relid, LOCKMODE lockmode);

/* When this transaction commits, have rel vacuumed in the background. */
extern void strata_api_vacuum_later(Relation rel);

#endif							/* STRATA_API_PRIVATE_H */
