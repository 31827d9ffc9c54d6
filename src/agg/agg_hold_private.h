/*-------------------------------------------------------------------------
 *
 * agg_hold_private.h
 *	  Aggregates whose states cannot be combined, or that want their rows in
 *	  an order: arguments are held, each group's, until the group is returned.
 *
 *	agg_hold.c			holds them, in memory or beyond it
 *	agg_held.c			gives them back, in their order
 *	agg_known.c			is one of DISTINCT there already
 *	agg_replay.c		gives them to PostgreSQL's functions
 *	agg_percentile.c	percentiles and modes of numbers, without these
 *	agg_rank.c			which number has a rank
 *	agg_mode.c			modes of other values: of each how often it is there
 *
 * src/agg/agg_hold_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_HOLD_PRIVATE_H
#define STRATA_AGG_HOLD_PRIVATE_H

#include "postgres.h"

#include "agg/agg_private.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"
#include "utils/tuplestore.h"

/* Values by reference, one behind the other. */
typedef struct HeldBlock
{
	struct HeldBlock *next;
	Size		size;
	Size		used;
} HeldBlock;

/* Values as integers in the order that is wanted; and places among them. */
typedef struct AggNumbers AggNumbers;
typedef struct HeldPlaces HeldPlaces;

/* The rows of one group: of each the arguments that are not constant. */
typedef struct HeldRows
{
	int64		n;				/* in memory */
	int64		space;
	Datum	   *v;				/* n times ncolumns */
	bool	   *isnull;			/* the same; NULL: none is null */
	HeldBlock  *blocks;
	Size		bytes;			/* of values by reference */
	bool		sorted;			/* in the order of the hold */
	uint32	   *known;			/* of DISTINCT: 1 + where in v a row is, by
								 * its hash value; 0: nothing; or NULL */
	uint32		nplaces;		/* in known, a power of two */
	uint32		nknown;
	/* beyond memory, of a group that is alone there */
	Tuplesortstate *sort;		/* when there is an order */
	Tuplestorestate *store;		/* when there is none */
	bool		complete;		/* no more rows come */
	/* of numbers */
	struct BufFile *file;		/* beyond memory; NULL: there are none */
	int64		nfile;
	int64		least;			/* in the file */
	int64		greatest;
	HeldPlaces *places;			/* wanted; good until the group is returned */
} HeldRows;

/* A column that rows are sorted by, and compared by for DISTINCT. */
typedef struct HeldOrder
{
	int			column;
	Oid			sortop;
	Oid			collation;
	bool		nulls_first;
	SortSupportData ssup;
} HeldOrder;

struct AggHold
{
	StrataAggState *agg;
	const Aggref *aggref;
	MemoryContext mcxt;			/* the node's */
	int			nusers;			/* calls that read it; ... */
	int			last_user;		/* ... the last of them */
	int			nargs;
	int		   *columns;		/* of each argument; -1: constant, ... */
	Datum	   *constants;		/* ... and this */
	bool	   *constant_nulls;
	int			ncolumns;
	int		   *values;			/* of each column */
	int16	   *typlen;
	bool	   *typbyval;
	TupleDesc	desc;			/* of columns */
	bool		skips_null;		/* rows whose only column is null */
	int			norder;			/* 0: rows are in the order they came */
	HeldOrder  *order;
	bool		distinct;		/* of equal rows one */
	bool		drops;			/* a row that is there is not held again */
	int			nlooks;			/* since that was decided */
	int			nfound;
	AggNumbers *numbers;		/* values are held as such; or NULL */
	bool		counted;		/* of equal values one, and behind it, in a
								 * column more, how many there are */
	List	   *askers;			/* of numbers: AggReplays */
	Size		limit;			/* bytes of a group that is alone */
	List	   *overflown;		/* HeldRows that have a sort or a store */
	/* of the current vector */
	bool		ready;
	const Datum **v;			/* of each column, the selected rows' */
	const bool **isnull;		/* the same; NULL: none is null */
	const uint8 *pass;
	const StrataColumn *codes;	/* distinct, counted: the only column's */
	uint8	   *seen;			/* distinct: room for its codes */
	bool		constant;		/* counted: all rows have the same value */
};

/* A group's rows, being read in their order. */
typedef struct HeldReader
{
	const AggHold *hold;
	HeldRows   *rows;
	MemoryContext mcxt;			/* of rows that are read back */
	int64		next;
	TupleTableSlot *slot;		/* of what is beyond memory */
	Datum	   *before;			/* distinct: the row before this, ... */
	bool	   *before_null;
	bool		has_before;
} HeldReader;

/* No rows: NULL. */
static inline HeldRows *
held_rows(const AggCell *cell)
{
	return (HeldRows *) DatumGetPointer(cell->v.d);
}

/*
 * agg_hold.c: rows of an aggregate, held for each group.  The hold of an
 * earlier call that is to have the same rows, or NULL; *holder: the call in
 * whose cell they are.
 */
extern AggHold *strata_agg_hold_share(StrataAggState *agg,
									  const Aggref *aggref, int *holder);

/* A new one; values are those of the arguments, but for constants. */
extern AggHold *strata_agg_hold_create(StrataAggState *agg,
									   const Aggref *aggref,
									   const int *values);
extern void strata_agg_hold_new_vector(AggHold *hold);

/* Its columns must come as they are, not as integers. */
extern void strata_agg_hold_want_values(AggHold *hold);

/* Take the selected rows [from, to) of the current vector in. */
extern void strata_agg_hold_run(AggHold *hold, AggCall *call, AggCell *cell,
								int from, int to);

/* Add a row of a vector, count of them if they are counted; there is room. */
extern void strata_agg_hold_row(AggHold *hold, HeldRows *rows, int row,
								int64 count);

/* A cell as bytes; and add those at in, returns the place behind them. */
extern void strata_agg_hold_write(const AggHold *hold, const AggCell *cell,
								  StringInfo out);
extern const char *strata_agg_hold_combine(AggHold *hold, AggCell *cell,
										   const char *in);

/* The call has its result: give back what rows beyond memory need. */
extern void strata_agg_hold_done(AggHold *hold, AggCell *cell, int call);

/* The same for all cells, whose memory is about to go away. */
extern void strata_agg_hold_reset(AggHold *hold);

/*
 * agg_known.c: is the row behind those that are held the same, to the byte, as
 * one that is known?  Else it is from now on, and must be held there.
 */
extern bool strata_agg_known_row(AggHold *hold, HeldRows *rows);

/* How many of the columns say so: not the count. */
static inline int
held_values(const AggHold *hold)
{
	return hold->ncolumns - hold->counted;
}

/* Rows are about to leave their positions. */
extern void strata_agg_known_forget(HeldRows *rows);

/* agg_replay.c */
extern AggReplay *strata_agg_replay_create(StrataAggState *agg,
										   const Aggref *aggref,
										   AggHold *hold);

/* Memory of the result: the current context. */
extern Datum strata_agg_replay_result(StrataAggState *agg,
									  AggReplay *replay, AggCell *cell,
									  bool *isnull);

/* Give back what functions hold, after an error or at the end. */
extern void strata_agg_replay_reset(AggReplay *replay);

/* agg_hold.c for agg_held.c: move the rows of a group out of memory. */
extern void strata_agg_hold_overflow(AggHold *hold, HeldRows *rows);

/* Begin to read; rows may be NULL.  Memory: the current context. */
extern void strata_agg_hold_begin_read(AggHold *hold, HeldRows *rows,
									   HeldReader *reader);

/* The next row's columns; false at the end. */
extern bool strata_agg_hold_read_next(HeldReader *reader, Datum **values,
									  bool **isnull);
extern void strata_agg_hold_end_read(HeldReader *reader);

/*
 * agg_percentile.c: how the values of a hold are numbers, so that all that is
 * asked of them is found there; NULL: they are not.  Memory: the current
 * context.
 */
extern AggNumbers *strata_agg_percentile_init(const AggHold *hold);

/* Values, which are not null, as numbers: integers, in Datums. */
extern const Datum *strata_agg_percentile_numbers(const AggNumbers *numbers,
												  const Datum *values, int n);

/* Take note of what will be asked. */
extern void strata_agg_percentile_want(HeldRows *rows, const Aggref *aggref,
									   NullableDatum *argument);

/* The value of a group; rows may be NULL.  Memory: the current context. */
extern Datum strata_agg_percentile_result(AggHold *hold, const Aggref *aggref,
										  HeldRows *rows,
										  NullableDatum *argument,
										  bool *isnull);

/* agg_rank.c: move a group's numbers out of memory. */
extern void strata_agg_rank_overflow(AggHold *hold, HeldRows *rows);

/* The numbers of these ranks, which ascend. */
extern void strata_agg_rank_choose(AggHold *hold, HeldRows *rows,
								   const int64 *ranks, int nranks,
								   int64 *out);

/*
 * The least of the numbers that are there most often.  alike: are two that
 * differ the same value; NULL: never.
 */
extern int64 strata_agg_rank_most_frequent(AggHold *hold, HeldRows *rows,
										   bool (*alike) (int64, int64));

/*
 * agg_mode.c: may values be counted?  Add the selected rows [from, to), for
 * which there is room; and the value of a group, whose rows may be NULL, in
 * the current context.
 */
extern bool strata_agg_mode_counts(const Aggref *aggref);
extern void strata_agg_mode_run(AggHold *hold, HeldRows *rows, int from,
								int to);
extern Datum strata_agg_mode_result(AggHold *hold, HeldRows *rows,
									bool *isnull);

#endif							/* STRATA_AGG_HOLD_PRIVATE_H */
