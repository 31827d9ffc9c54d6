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
#include "hypertable/hypertable.h"
#include "store/store.h"

#include "fmgr.h"
#include "funcapi.h"
#include "storage/lockdefs.h"

/*
 * A foreign table's rows are another server's to compress, show and change:
 * the error that says so.
 */
pg_noreturn extern void strata_api_refuse_foreign(Oid relid);

/*
 * Open a strata table for one of our functions: the caller must own it.
 * ereports what is wrong otherwise.
 */
extern Relation strata_api_open(Oid relid, LOCKMODE lockmode);

/*
 * The strata tables at or below a partitioned table, which the caller must
 * own, locked with AccessShareLock; *others, if given: the leaves that are
 * something else.  Any other relid is returned as it is.
 */
extern List *strata_api_leaves(Oid relid, List **others);

/*
 * The strata tables of this database, in an order that is always the same, so
 * that two who lock them do not block each other.  own: those the user owns,
 * except other sessions' temporary ones.
 */
extern List *strata_api_tables(bool own);

/*
 * Say by which columns the indexes of a table will lead to batches of the
 * layout, and which of them will not; api_advise_index.c.
 */
extern void strata_api_advise_indexes(StringInfo buf, Relation rel,
									  const StrataLayout *layout);

/*
 * Is a table whose batches would take batch_bytes better kept as strata_dedup?
 * api_advise_dedup.c.
 */
typedef struct StrataDedupAdvice
{
	double		bytes;			/* as strata_dedup */
	double		before;			/* as rows */
	char	   *reason;
	bool		is_dedup;		/* the table already is */
} StrataDedupAdvice;

extern bool strata_api_advise_dedup(Relation rel, double rows,
									double batch_bytes,
									StrataDedupAdvice *advice);

/* Compress a table that was compressed before its rows were moved about. */
extern void strata_api_compress_again(Oid relid);

/* ereports when an argument is null; its name. */
extern void strata_api_require_argument(FunctionCallInfo fcinfo, int number,
										const char *name);

/* What by_range() and by_hash() said. */
typedef struct StrataApiDimension
{
	bool		is_range;
	char	   *column;
	bool		has_interval;
	Oid			interval_type;
	Datum		interval;
	bool		has_partitions;
	int			partitions;
	Oid			function;
} StrataApiDimension;

extern void strata_api_read_dimension(HeapTupleHeader row,
									  StrataApiDimension *dimension);

/* A hash dimension for a hypertable of the user's. */
extern void strata_api_add_hash(Oid relid, const char *column, bool has_number,
								int number);

/*
 * set_chunk_time_interval() of another dimension than the first; false: it is
 * the first.
 */
extern bool strata_api_set_range(const StrataHypertable *ht,
								 const char *column, Oid type, Datum interval);

#endif							/* STRATA_API_PRIVATE_H */
