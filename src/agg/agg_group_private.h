/*-------------------------------------------------------------------------
 *
 * agg_group_private.h
 *	  Keys, runs of rows of one group, and the groups: in memory, on disk, in
 *	  order, as bytes.
 *
 * src/agg/agg_group_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_GROUP_PRIVATE_H
#define STRATA_AGG_GROUP_PRIVATE_H

#include "postgres.h"

#include "agg/agg_kernel_private.h"
#include "agg/agg_vector_private.h"
#include "executor/tuptable.h"
#include "lib/stringinfo.h"

struct StrataAggState;

/* agg_key.c: what is grouped by. */
typedef struct AggKey
{
	int			value;			/* the key, or the argument of its bucket
								 * function */
	AggBucket  *bucket;
	int16		typlen;
	bool		typbyval;
	bool		by_image;		/* equal are the same bytes; or else: */
	Oid			collation;
	FmgrInfo	eq;
	FmgrInfo	hash;
	/* of the current vector */
	bool		constant;
	Datum		current;		/* of the run */
	bool		isnull;
	StrataColumn *column;
	int			nchanges;		/* bucket: where it changes, ... */
	int			next_change;
	int		   *changes;		/* positions among the selected rows */
	Datum	   *buckets;		/* ... and to what */
	bool	   *nulls;
} AggKey;

/*
 * How the batch's rows are sorted, if it is by the column first of all; or
 * NULL.
 */
extern const StrataOrderKey *strata_agg_batch_order(const AggVector *vector,
													const AggValue *value);

/* Do the selected rows stand in the order of the column, up or down? */
extern bool strata_agg_is_sorted(const AggVector *vector,
								 const AggValue *value,
								 const StrataColumn *col);

/*
 * Cut the current vector into runs; returns their number, starts in agg->runs.
 */
extern int	strata_agg_cut_runs(struct StrataAggState *agg);

/* Set current and isnull of all keys to those of run number i (in order). */
extern void strata_agg_load_run(struct StrataAggState *agg, int i);

/* agg_hash.c */
typedef struct AggGroup
{
	uint32		hash;
	uint32		nulls;			/* bit i: key i is null */
	Datum	   *keys;
	AggCell    *cells;
} AggGroup;

typedef struct AggTable AggTable;
extern AggTable *strata_agg_table_create(struct StrataAggState *agg,
										 MemoryContext mcxt);

/* The group of the keys' current values, made when it is new. */
extern AggGroup *strata_agg_table_find(AggTable *table);

/* The same, or NULL when it is not in memory. */
extern AggGroup *strata_agg_table_lookup(AggTable *table);

/* Has the table outgrown its memory? */
extern bool strata_agg_table_is_full(AggTable *table);

/* Move all groups out to disk, as partial results. */
extern void strata_agg_table_spill(AggTable *table);

/* After the last row: the groups, one after the other; NULL at the end. */
extern void strata_agg_table_finish(AggTable *table);
extern AggGroup *strata_agg_table_next(AggTable *table);
extern void strata_agg_table_reset(AggTable *table);
extern void strata_agg_table_end(AggTable *table);
extern Size strata_agg_table_memory(const AggTable *table);
extern int	strata_agg_table_spills(const AggTable *table);

/*
 * The groups, to be put in another order before they are handed out; NULL:
 * some are on disk.
 */
extern AggGroup **strata_agg_table_groups(AggTable *table, uint32 *ngroups);

/* agg_order.c: groups in the order that is wanted of them. */
typedef struct AggOrder AggOrder;

/* NULL when there are no numbers. */
extern AggOrder *strata_agg_order_create(struct StrataAggState *agg,
										 List *numbers);
extern List *strata_agg_order_keys(const AggOrder *order);

/* After the table's last row, before its first group. */
extern void strata_agg_order_sort(AggOrder *order, struct StrataAggState *agg);

/*
 * The next row as a scan tuple, NULL at the end; false: take the table's
 * groups as they come.
 */
extern bool strata_agg_order_next(AggOrder *order, struct StrataAggState *agg,
								  TupleTableSlot **slot);
extern void strata_agg_order_reset(AggOrder *order);
extern void strata_agg_order_end(AggOrder *order);

/* agg_bytes.c: a group's partial result as a varlena. */
extern void strata_agg_group_write(struct StrataAggState *agg,
								   const AggGroup *group, StringInfo out);

/*
 * Set the keys' current values to those at in; returns the place behind them.
 */
extern const char *strata_agg_group_read_keys(struct StrataAggState *agg,
											  const char *in);

/*
 * Combine the cells with those at in, up to end.  Memory: the current context,
 * and what cells take in.
 */
extern void strata_agg_group_combine(struct StrataAggState *agg,
									 AggCell *cells, const char *in,
									 const char *end);

#endif							/* STRATA_AGG_GROUP_PRIVATE_H */
