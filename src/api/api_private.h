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
#include "catalog/catalog.h"
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
extern void strata_api_vacuum_later(Relation rel, bool batches_went);

/* Compress a table that was compressed before its rows were moved about. */
extern void strata_api_compress_again(Oid relid);

/* What is wrong with arguments of jobs and policies is raised here. */
extern void strata_api_check_interval(const Interval *interval, const char *what, bool zero_allowed);
extern void strata_api_check_timezone(const char *timezone);

/* Warn when no launcher will ever start a job. */
extern void strata_api_check_preload(void);

/* Check and insert a job whose other fields are set; first start now if no start is given. */
extern void strata_api_add_job(StrataJob *job, bool has_start, TimestampTz start);

#endif							/* STRATA_API_PRIVATE_H */
