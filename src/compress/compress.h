/*-------------------------------------------------------------------------
 *
 * compress.h
 *	  Row store to batches and back; what that would save.
 *
 * src/compress/compress.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_COMPRESS_H
#define STRATA_COMPRESS_H

#include "batch/batch_measure.h"
#include "store/store.h"

/*
 * A column of rel was dropped, under its ACCESS EXCLUSIVE lock: batches of a
 * layout without it will have to be written.
 */
extern void strata_store_column_dropped(Relation rel);

/*-------------------------------------------------------------------------
 * Changing.  See README, "Transitions".
 *-------------------------------------------------------------------------
 */
/*
 * Can rel be compressed at all?  If not: false, or, when hint is given, an
 * ereport that says why.
 */
extern bool strata_store_can_compress(Relation rel, const char *hint);

typedef struct StrataCompressResult
{
	int64		nrows;			/* rows written into batches */
	int64		nbatches;
	int64		nmoved;			/* rows that left the row store for them */
	int64		nskipped;		/* rows left in the row store */
	bool		incremental;	/* the batches written are not all there are */
	bool		waiting;		/* nothing was done: former batches are to be
								 * vacuumed first */
} StrataCompressResult;

/*
 * Turn the rows of rel's row store into batches.  The caller holds
 * ExclusiveLock on rel: readers go on, writers and row lockers wait.
 * recompress: also merge the batches there are.
 */
extern void strata_store_compress(Relation rel, bool recompress,
								  StrataCompressResult *result);

/*
 * Direct load: new rows of rel straight into batches, which carry command id
 * cid; compress_load.c.  The caller holds RowExclusiveLock on rel at least,
 * has checked the rows, and nothing needs their TIDs: no triggers, no unique
 * indexes.  begin returns NULL when the rows have to go into the row store:
 * the table's kind, its indexes, logical decoding, isolation level, or others
 * who use a table that has no companion yet.
 *
 * add: false when this row (its attributes are deformed) has to.  end hands
 * the rows of segments with fewer than least to put; 0: an eighth of a batch.
 * kilobytes: of memory, about.
 */
typedef struct StrataDirectLoad StrataDirectLoad;
typedef void (*StrataRowPut) (TupleTableSlot *slot, void *arg);

extern StrataDirectLoad *strata_direct_load_begin(Relation rel, CommandId cid,
												  int kilobytes, int least);
extern bool strata_direct_load_add(StrataDirectLoad *load,
								   TupleTableSlot *slot);
extern void strata_direct_load_end(StrataDirectLoad *load, StrataRowPut put,
								   void *arg);

/*
 * Why rel takes no direct loads, whatever the moment; NULL: it does.  A
 * translated phrase.
 */
extern const char *strata_direct_load_obstacle(Relation rel);

/*
 * Was rel, a strata table, compressed when it was dumped, and has had no rows
 * since it was made again or truncated?  What is copied into it becomes
 * batches, whole, unless strata.direct_load is off for it.
 */
extern bool strata_direct_load_restores(Relation rel);

/* Make what direct loads write to, in the transaction that made rel. */
extern void strata_direct_load_prepare(Relation rel);

/* Turn all batches of rel back into rows of the row store; same lock. */
extern int64 strata_store_decompress(Relation rel);

/*
 * Make batches again that lack columns added to rel since, or have values of
 * dropped ones: a rewrite is about to make PostgreSQL forget their missing
 * values.  The caller holds AccessExclusiveLock on rel.
 */
extern void strata_store_fill_missing(Relation rel);

/* What a table would take compressed. */
typedef struct StrataEstimate
{
	StrataBatchMeasure measure; /* of the batches that were encoded */
	double		rows;			/* of the table */
	double		scale;			/* of the measure, to all rows */
	double		rows_per_batch;
	double		disk_bytes;		/* of the companion in all */
	double		seconds;		/* to read and encode all rows */
} StrataEstimate;

/*
 * Read a sample of rel (heap or strata), encode it by the layout, write
 * nothing. candidates: with every codec.
 */
extern void strata_store_estimate(Relation rel, const StrataLayout *layout,
								  StrataLevel level,
								  const StrataCodecId *codecs, bool candidates,
								  StrataEstimate *estimate);

/*
 * About how many distinct values each column has among *rows rows that were
 * looked at; by attno - 1.
 */
extern double *strata_store_count_distinct(Relation rel, double *rows);

/* The same for pairs of attributes, null counting as a value; by pair. */
extern double *strata_store_count_pairs(Relation rel, AttrNumber (*pairs)[2],
										int npairs, double *rows);

#endif							/* STRATA_COMPRESS_H */
