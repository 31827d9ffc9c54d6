/*-------------------------------------------------------------------------
 *
 * index_private.h
 *	  What the files of src/index share among themselves.
 *
 * src/index/index_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_INDEX_PRIVATE_H
#define STRATA_INDEX_PRIVATE_H

#include "base/base.h"
#include "index/index.h"
#include "store/store_index.h"
#include "store/store_write.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "catalog/indexing.h"

/* Most entries of a row: what fits a page is found by trying. */
#define STRATA_INDEX_ROW_ENTRIES 4096

/*
 * A run: entries in the order of their hashes.  It speaks for the batches with
 * row numbers [from, to) of a column.
 */
typedef struct StrataIndexRun
{
	int32		number;
	AttrNumber	attno;
	Oid			function;		/* see StrataIndexTarget */
	Oid			opclass;
	int64		nrows;			/* that it is kept in */
	int			shift;			/* a batch's place: its row number >> shift */
	int64		from;
	int64		to;
	int64		entries;
	ItemPointerData self;		/* of the row that says all this */
} StrataIndexRun;

/* A value's hash, and the place of a batch that has it. */
typedef struct StrataIndexEntry
{
	uint32		hash;
	int64		place;
} StrataIndexEntry;

/* A row of a run, decoded. */
typedef struct StrataIndexRow
{
	int			n;
	int64		hashes[STRATA_INDEX_ROW_ENTRIES];
	int64		places[STRATA_INDEX_ROW_ENTRIES];
	void	   *scratch;		/* of the decoder */
	Size		scratch_size;
} StrataIndexRow;

/* index_run.c: was the run made for the target? */
extern bool strata_index_run_is_of(const StrataIndexRun *run,
								   const StrataIndexTarget *target);

/*
 * The target's runs (NULL: all) that the snapshot sees, by from; a List of
 * StrataIndexRun.
 */
extern List *strata_index_runs(Relation relation, Snapshot snapshot,
							   const StrataIndexTarget *target);

/*
 * Those of a target's runs that speak, without a gap, for all batches from
 * number 0 on; the others are left out.  *covered: up to where.
 */
extern List *strata_index_chain(List *runs, int64 *covered);

/* A run by the row that describes it, into *run, which was zeroed. */
extern void strata_index_run_describe(Relation relation, HeapTuple tuple,
									  StrataIndexRun *run);

/*
 * The chain of a target's runs, in the current context, by rows that were
 * found before; it may end before the newest run.  index_known.c
 */
extern List *strata_index_known_chain(Relation relation, Snapshot snapshot,
									  const StrataIndexTarget *target,
									  int64 *covered);

/* index_lookup.c: see strata_index_shape. */
extern bool strata_index_target_shape(StrataStore *store, Snapshot snapshot,
									  const StrataIndexTarget *target,
									  StrataIndexShape *shape);

/* Damage of the relation. */
pg_noreturn extern void strata_index_report_damage(Relation relation,
												   const char *what);

/* A row of a run is at most so large: of its two packed columns. */
#define STRATA_INDEX_ROW_BYTES (MaxHeapTupleSize - 96)

/* Numbers as a column, in the current context. */
extern bytea *strata_index_pack(const int64 *numbers, int n);

/* The same back; scratch is the row's. */
extern void strata_index_unpack(Relation relation, Datum packed, int n,
								StrataIndexRow *row, int64 *numbers);

/* A row of entries, and the row that describes their run. */
extern void strata_index_insert_entries(Relation relation,
										CatalogIndexState indexes,
										int32 number, int64 first_hash,
										int64 first_place, int64 entries,
										bytea *hashes, bytea *places);
extern void strata_index_insert_description(Relation relation,
											CatalogIndexState indexes,
											const StrataIndexRun *run);

/* Decode the row in a slot of the relation; damage is raised. */
extern void strata_index_row_read(Relation relation, TupleTableSlot *slot,
								  StrataIndexRow *row);

/* Writes a run; entries come in order. */
typedef struct StrataIndexWriter StrataIndexWriter;
extern StrataIndexWriter *strata_index_writer_begin(Relation relation,
													const StrataIndexRun
													*run);
extern void strata_index_writer_add(StrataIndexWriter *writer, uint32 hash,
									int64 place);

/* run->entries is set to what was written. */
extern void strata_index_writer_end(StrataIndexWriter *writer,
									StrataIndexRun *run);

/*
 * Keep numbers below `to` from being given out while this transaction may yet
 * fail or not: no run, but a row that has its place.
 */
extern void strata_index_reserve(Relation relation, int32 number, int64 to);

/* The number of a run to come. */
extern int32 strata_index_next_number(Relation relation);

/* A run speaks for more batches, of which there are none. */
extern void strata_index_run_extend(Relation relation,
									const StrataIndexRun *run, int64 to);

/* Delete a run that SnapshotSelf sees. */
extern void strata_index_run_delete(Relation relation, int32 number);

/* Reads the entries of a run in order. */
typedef struct StrataIndexCursor StrataIndexCursor;
extern StrataIndexCursor *strata_index_cursor_begin(Relation relation,
													Snapshot snapshot,
													int32 number);
extern bool strata_index_cursor_next(StrataIndexCursor *cursor,
									 StrataIndexEntry *entry);
extern void strata_index_cursor_end(StrataIndexCursor *cursor);

/* index_merge.c: make one run of two that touch; the older first. */
extern void strata_index_merge(StrataStore *store, Relation relation,
							   const StrataIndexRun *older,
							   const StrataIndexRun *newer,
							   StrataIndexRun *result);

/*
 * index_column.c: what R's indexes want to have kept; a List of
 * StrataIndexTarget.
 */
extern List *strata_index_wanted(Relation rel);

/* What is kept for a column's look-ups; its function may be InvalidOid. */
extern StrataIndexTarget strata_index_hash_target(Relation rel,
												  AttrNumber attno);

/* In place of a column, where the first of an index is an expression. */
#define STRATA_INDEX_EXPRESSION ((AttrNumber) -1)

/*
 * What is kept for the index alone: by its operator classes, or by values of
 * expressions, or of some rows; false: it does not lead to batches so.
 */
extern bool strata_index_class_target(Oid index, StrataIndexTarget *target);

/* The type of what an index begins with; the index attribute's may differ. */
extern Oid	strata_index_first_type(HeapTuple index);

/* index_lookup.c: see strata_index_lookup_begin. */
extern StrataIndexLookup *strata_index_lookup_open(Relation batches,
												   Snapshot snapshot,
												   const StrataIndexTarget
												   *target);

/* Function that hashes values of a type and collation; InvalidOid: none. */
extern Oid	strata_index_type_hash(Oid type, Oid collation);

/* The function that hashes the column's values; InvalidOid: none of ours. */
extern Oid	strata_index_hash_function(Relation rel, AttrNumber attno);

/*
 * Hashes of the values that rows of the reader's batch have, each at least
 * once; returns how many, at most the batch's rows or its dictionary's
 * entries.  hashes has room for so many (strata_index_hashes_max).
 */
extern int	strata_index_hashes_max(StrataBatchReader *reader,
									AttrNumber attno);
extern int	strata_index_hash_batch(StrataBatchReader *reader,
									AttrNumber attno, FmgrInfo *function,
									Oid collation, uint32 *hashes);

/* Batches with row numbers from `from` on, in their order. */
typedef struct StrataIndexBatches
{
	StrataStore *store;
	SnapshotData dirty;
	Relation	key;
	IndexScanDesc scan;
	TupleTableSlot *slot;
} StrataIndexBatches;

extern void strata_index_batches_begin(StrataIndexBatches *batches,
									   StrataStore *store, int64 from,
									   Snapshot snapshot);
extern bool strata_index_batches_next(StrataIndexBatches *batches,
									  int64 *first_row);
extern void strata_index_batches_end(StrataIndexBatches *batches);

/*
 * Hashes of a target's values or keys, of as many batches as there is memory
 * for, sorted; index_collect.c.
 */
typedef struct StrataIndexCollector
{
	AttrNumber	attno;
	uint64	   *entries;		/* hash << 32 | number of a batch below */
	Size		n;
	int64	   *first_rows;		/* of the batches, by their number */
	int			nbatches;
	int64		nrows;			/* of all of them */
	uint64	   *other;			/* private, as what follows */
	Size		size;
	int			batches_size;
} StrataIndexCollector;

/* They are those of all batches that were not given before and are below to. */
typedef void (*StrataIndexTake) (StrataIndexCollector *collector, int64 to,
								 void *arg);

/*
 * Give the batches with numbers in [from, to) that the snapshot (NULL: a dirty
 * one) sees; take is called once at least.
 */
extern void strata_index_collect(StrataIndexCollector *collector,
								 StrataStore *store, Snapshot snapshot,
								 const StrataIndexTarget *target, int64 from,
								 int64 to, StrataIndexTake take, void *arg);

#endif							/* STRATA_INDEX_PRIVATE_H */
