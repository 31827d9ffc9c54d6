/*-------------------------------------------------------------------------
 *
 * track.h
 *	  Which times a transaction has changed in tables that rollups cover.
 *
 * A hypertable is tracked from `lo` to `hi` (both inclusive) once something is
 * kept that was computed of these times.  Whoever changes a row in there says
 * so here, before or after, and by its old and its new time; at the end of the
 * transaction the times go, rounded outwards, into _strata.rollup_mark.
 * Times outside cost a comparison.
 *
 * Times are int64 as in time/time.h.
 *
 * src/track/track.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_TRACK_H
#define STRATA_TRACK_H

#include "postgres.h"

#include "catalog/catalog.h"

#include "executor/tuptable.h"
#include "utils/rel.h"

/* What of a chunk is tracked. */
typedef struct StrataTracked
{
	Oid			hypertable;		/* InvalidOid: nothing */
	Oid			chunk;
	AttrNumber	attno;			/* of the time, in the chunk */
	Oid			type;			/* of that */
	int64		lo;
	int64		hi;
} StrataTracked;

/*
 * What of rel is tracked, as committed by now.  The caller has the lock that
 * he changes rows with; what is found stays true until the relation cache is
 * told otherwise.  store_companion.c remembers it.
 */
extern void strata_tracked_find(Relation rel, StrataTracked *tracked);

/* This transaction changes a row of that time, or rows of times from lo to hi. */
extern void strata_track_time(const StrataTracked *tracked, int64 time);
extern void strata_track_range(const StrataTracked *tracked, int64 lo,
							   int64 hi);

/* The same of a value of the time column, and of a row of the chunk. */
extern void strata_track_value(const StrataTracked *tracked, Datum value,
							   bool isnull);
extern void strata_track_slot(const StrataTracked *tracked,
							  TupleTableSlot *slot);

/*
 * What this transaction has changed in the hypertable and not yet written
 * down; both ends inclusive.
 */
extern void strata_track_pending(Oid hypertable, StrataMarkVisitor visit,
								 void *arg);

/*
 * From this transaction's commit on, times of the hypertable from lo to hi are
 * tracked, besides those that are.  Returns the chunks whose writers may not
 * have heard of it: they hold RowExclusiveLock there.
 */
extern List *strata_track_publish(Oid hypertable, int64 lo, int64 hi);

/*
 * All times of rel, a chunk that is about to go with its rows.  hypertable/
 * tells the range of a chunk: both ends inclusive; false: it is none.
 */
extern bool (*strata_track_chunk_range) (Oid chunk, int64 *lo, int64 *hi);
extern void strata_track_whole(const StrataTracked *tracked);

/*
 * A table becomes a partition of the hypertable, or is one no more, with all
 * its rows; of what becomes one the range is not known yet.
 */
extern void strata_track_moved(Oid chunk, Oid hypertable, bool is_partition);

extern void strata_track_init(void);

#endif							/* STRATA_TRACK_H */
