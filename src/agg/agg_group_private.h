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
#include "base/words.h"
#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "utils/datum.h"

struct StrataAggState;

/* agg_key.c: what is grouped by. */
typedef struct AggKey
{
	int			value;			/* the key, or the argument of its bucket
								 * function */
	AggBucket  *bucket;
	struct ExprState *joined;	/* JOINED: the key of a row; no value then */
	int16		typlen;
	bool		typbyval;
	bool		by_image;		/* equal are the same bytes; or else: */
	Oid			collation;
	FmgrInfo	eq;
	FmgrInfo	hash;
	int			word_bits;		/* last bits that are not part of the key */
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
	uint8	   *low_bits;		/* word_bits: of rows that were looked up */
} AggKey;

/*
 * Make a key of expr, grouped by eqop; InvalidOid: equal are the same bytes.
 * Its value is added to agg's, but where rows come from a join of groups.
 */
extern void strata_agg_key_init(struct StrataAggState *agg, AggKey *key,
								Expr *expr, Oid eqop);

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

/* agg_code.c: groups of the current vector that were found already. */
struct AggGroup;
typedef struct AggCodes
{
	int		   *codes;			/* of each run */
	int			ncodes;
	struct AggGroup **groups;	/* of each code; NULL: not looked up yet */
} AggCodes;

/*
 * agg_scatter.c.  Put the selected rows of a row store into the order of their
 * groups, those of one group as they stood, and cut them into one run each;
 * returns the number of runs.  0: that would bring too few together, and the
 * vector is as it was.
 */
extern int	strata_agg_scatter(struct StrataAggState *agg);

/*
 * The same for runs that are cut and have few codes: then each code has one
 * run, unless that would not pay.  Sets rows_have_codes.
 */
extern void strata_agg_scatter_codes(struct StrataAggState *agg,
									 AggCodes *codes);

/* What a vector's keys are: their columns; returns how many of them vary. */
extern int	strata_agg_load_keys(struct StrataAggState *agg);

/* Set current and isnull of all keys to those of run number i (in order). */
extern void strata_agg_load_run(struct StrataAggState *agg, int i);

/* agg_hash.c */
typedef struct AggGroup
{
	uint32		hash;
	uint32		nulls;			/* bit i: key i is null; above them the number
								 * of its grouping set */
	/* behind it its keys, and its cells behind these */
} AggGroup;

static inline Datum *
agg_group_keys(const AggGroup *group)
{
	return (Datum *) (group + 1);
}

/* Of a table with so many keys. */
static inline AggCell *
agg_group_cells(const AggGroup *group, int nkeys)
{
	return (AggCell *) (agg_group_keys(group) + nkeys);
}

/*
 * With grouping sets (agg_sets.c) there are fewer keys, one of them that of
 * DISTINCT, and the number of a group's set is in the bits above.
 */
#define AGG_SET_SHIFT 20
#define AGG_MAX_SET_KEYS (AGG_SET_SHIFT - 1)
#define AGG_MAX_SETS 32

/* The set of a group's keys; 0: all of them, or there are no sets. */
static inline uint32
agg_group_set(const AggGroup *group)
{
	return group->nulls >> AGG_SET_SHIFT;
}

/* agg_sets.c; NULL where there are no grouping sets. */
typedef struct AggSets AggSets;
extern AggSets *strata_agg_sets_create(const List *lacking,
									   const List *groupings);

/* How many sets beside that of all keys. */
extern int	strata_agg_sets_count(const AggSets *sets);

/* Is the group one of the result? */
extern bool strata_agg_sets_wants(const AggSets *sets, const AggGroup *group);

/* The values of the query's GROUPING() for a group. */
extern void strata_agg_sets_groupings_of(const AggSets *sets,
										 const AggGroup *group, Datum *values,
										 bool *isnull);

/* Combine the table's groups of all keys into those of the other sets. */
extern void strata_agg_sets_expand(struct StrataAggState *agg);

/* When all rows are in: the group of the empty set, which is always there. */
extern void strata_agg_sets_add_empty(struct StrataAggState *agg);

/* When the runs are cut; NULL: there are too few, or too many values. */
extern AggCodes *strata_agg_codes_create(struct StrataAggState *agg);

typedef struct AggTable AggTable;

extern AggTable *strata_agg_table_create(struct StrataAggState *agg,
										 MemoryContext mcxt);

/* The group of the keys' current values, made when it is new. */
extern AggGroup *strata_agg_table_find(AggTable *table);

/* The same, or NULL when it is not in memory. */
extern AggGroup *strata_agg_table_lookup(AggTable *table);

/* Values of a key, for many look-ups. */
typedef struct AggKeyValues
{
	Datum	   *values;			/* NULL: all are the key's current one */
	bool	   *nulls;			/* NULL: none is */
} AggKeyValues;

/*
 * The groups of n combinations of the keys' values, in their order; those that
 * are not there are made.  Memory of functions: the current context.
 */
extern void strata_agg_table_find_many(AggTable *table,
									   const AggKeyValues *keys, int n,
									   AggGroup **groups);

/* Has the table outgrown its memory, or half of that? */
extern bool strata_agg_table_is_full(AggTable *table);
extern bool strata_agg_table_is_half_full(const AggTable *table);

/* Move groups out to disk, as partial results. */
extern void strata_agg_table_spill(AggTable *table);

/* After the last row: the groups, one after the other; NULL at the end. */
extern void strata_agg_table_finish(AggTable *table);
extern AggGroup *strata_agg_table_next(AggTable *table);
extern void strata_agg_table_reset(AggTable *table);
extern void strata_agg_table_end(AggTable *table);
extern Size strata_agg_table_memory(const AggTable *table);
extern int	strata_agg_table_spills(const AggTable *table);

/* How many are in memory, whatever is on disk, and which; from 0. */
extern uint32 strata_agg_table_ngroups(const AggTable *table);
extern AggGroup *strata_agg_table_group(const AggTable *table, uint32 number);

/*
 * After the last row: the groups, to be put in another order before they are
 * handed out; NULL: some are on disk.
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

/*
 * agg_bytes.c: a group's partial result as a varlena; NULL: that of all rows,
 * where there are no keys.
 */
extern void strata_agg_group_write(struct StrataAggState *agg,
								   const AggGroup *group, StringInfo out);

/* The same without keys. */
extern void strata_agg_cells_write(struct StrataAggState *agg,
								   AggCell *cells, StringInfo out);

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

/*
 * The bytes of a value of variable length that lies in memory as it is; false:
 * it has to be detoasted.
 */
static inline bool
agg_plain_bytes(Datum value, const char **bytes, Size *len)
{
	const struct varlena *p = (struct varlena *) DatumGetPointer(value);

	if (!strata_varlena_is_plain(p))
		return false;
	*bytes = VARDATA_ANY(p);
	*len = VARSIZE_ANY_EXHDR(p);
	return true;
}

/* datum_image_eq() of values by reference, of few bytes in a hurry. */
static inline bool
agg_same_image(Datum a, Datum b, int16 typlen)
{
	const char *bytes[2];
	Size		len[2];
	uint64		low[2];
	uint64		high[2];

	if (typlen != -1 || !agg_plain_bytes(a, &bytes[0], &len[0]) ||
		!agg_plain_bytes(b, &bytes[1], &len[1]))
		return datum_image_eq(a, b, false, typlen);
	if (len[0] != len[1])
		return false;
	if (len[0] > 2 * sizeof(uint64))
		return memcmp(bytes[0], bytes[1], len[0]) == 0;
	strata_load_words(bytes[0], len[0], &low[0], &high[0]);
	strata_load_words(bytes[1], len[1], &low[1], &high[1]);
	return low[0] == low[1] && high[0] == high[1];
}

#endif							/* STRATA_AGG_GROUP_PRIVATE_H */
