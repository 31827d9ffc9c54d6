/*-------------------------------------------------------------------------
 *
 * change_place_private.h
 *	  Unique keys that a batch index leads to: from a value to its batches, and
 *	  to the rows of these.
 *
 * src/change/change_place_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CHANGE_PLACE_PRIVATE_H
#define STRATA_CHANGE_PLACE_PRIVATE_H

#include "change/change_private.h"

/* The column of a unique key by which batches are found; change_place.c. */
typedef struct StrataKeyPlace
{
	int			position;		/* in the key; -1: none */
	AttrNumber	attno;
	Oid			column;			/* hashes the column's values, */
	Oid			value;			/* ... and those of the key */
	Oid			collation;
	double		entries;		/* values that are kept */
} StrataKeyPlace;
extern void strata_key_place_choose(StrataStore *store, Snapshot snapshot,
									Relation index, StrataKeyPlace *place);

/*
 * Ranges of row numbers that have all batches which may hold the value, in
 * order; in the current context.
 */
extern int	strata_key_place_find(const StrataKeyPlace *place,
								  Relation batches, Snapshot snapshot,
								  Datum value, StrataIndexRange **ranges);

/* The batches in such ranges, by the companion's index on row numbers. */
typedef struct StrataPlaceScan
{
	const StrataIndexRange *ranges;
	int			n;
	int			at;				/* the range being read; -1: before all */
	Relation	numbers;
	IndexScanDesc scan;
} StrataPlaceScan;
extern void strata_key_places_begin(StrataPlaceScan *scan, Relation batches,
									Snapshot snapshot,
									const StrataIndexRange *ranges, int n);
extern bool strata_key_places_next(StrataPlaceScan *scan,
								   TupleTableSlot *slot);
extern void strata_key_places_end(StrataPlaceScan *scan);

/*
 * All that is kept for these look-ups, in memory, in the current context;
 * change_table.c.  Is it worth reading, after so many looks?  first_rows, of
 * nbatches, rise, and are kept.  NULL: it does not fit.
 */
typedef struct StrataKeyTable StrataKeyTable;
extern bool strata_key_table_pays(const StrataKeyPlace *place, int asked);
extern StrataKeyTable *strata_key_table_read(const StrataKeyPlace *place,
											 Relation batches,
											 Snapshot snapshot,
											 const int64 *first_rows,
											 int nbatches);
extern Size strata_key_table_bytes(const StrataKeyTable *table);

/* As strata_key_place_find, by the value's hash. */
extern int	strata_key_table_find(const StrataKeyTable *table, uint32 hash,
								  StrataIndexRange **ranges);

/*
 * Is it worth to ask a batch index of the table where the key may be, before
 * prints of the search's batches are made?  The search has just begun; it is
 * counted that it was asked.  *place: by what.
 */
extern bool strata_key_search_asks(const StrataKeySearch *search,
								   const bool *isnull,
								   StrataKeyPlace *place);

/*
 * Ranges of the batches that may have it, as strata_key_place_find, by what is
 * in memory of the batch index, if it is.
 */
extern int	strata_key_search_places(const StrataKeySearch *search,
									 Relation batches, Datum value,
									 StrataIndexRange **ranges);

/*
 * Line of the next batch in the ranges with a row number greater than *after
 * (-1 to begin), which is set to its; or -1.
 */
extern int	strata_key_next_in_places(StrataKeyDirectory *d,
									  const StrataIndexRange *ranges, int n,
									  int64 *after);

/*
 * Do values that the index finds equal in its column i, from 0, have the same
 * bytes, or the same when they are detoasted?  change_equal.c.
 */
extern bool strata_equal_has_same_bytes(Relation index, int i);

/*
 * The first row of a decoded column in [row, to) that may have a value which
 * is not null, of such a type; to: none.
 */
extern int	strata_column_find_bytes(const StrataColumn *col, int row, int to,
									 Datum value, int typlen);

/*
 * The first row of a batch that is in order of the column of which the value
 * is not before (or, past, behind) that of the row.
 */
extern int	strata_column_find_in_order(const StrataBatchReader *reader,
										const StrataColumn *col, Datum value,
										bool past);

#endif							/* STRATA_CHANGE_PLACE_PRIVATE_H */
