/*-------------------------------------------------------------------------
 *
 * agg_vector_private.h
 *	  Rows that are aggregated together, and what keys and aggregates are
 *	  about: columns, expressions and buckets of them.
 *
 * src/agg/agg_vector_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_VECTOR_PRIVATE_H
#define STRATA_AGG_VECTOR_PRIVATE_H

#include "postgres.h"

#include "base/base.h"
#include "batch/batch.h"
#include "batch/batch_reader.h"
#include "expr/expr.h"
#include "nodes/execnodes.h"
#include "scan/scan_vector.h"

/* Rows of a row store that are looked at together. */
#define STRATA_AGG_CHUNK_ROWS 1024

struct StrataAggState;
struct AggCall;
typedef struct AggValue AggValue;

/* Rows being aggregated together. */
typedef struct AggVector
{
	int			nrows;			/* entries in each column */
	int			nselected;
	const uint16 *rows;			/* the selected entries, ascending; NULL: from
								 * first on */
	int			first;
	StrataVectorBatch *batch;	/* NULL: columns were made of rows */
	const AttrNumber *attnos;	/* batch: table column of each input; 0: it is
								 * none, but among columns */
	bool		whole;			/* batch: its summary is true of the vector */
	StrataColumn *columns;		/* one for each input that the batch has not */
	const uint16 **numbers;		/* and the numbers of their values, NULL where
								 * there are none, ... */
	uint64		numbering;		/* ... which are these */
	StrataColumn *views;		/* batch: the same, of the rows that were
								 * decoded */
} AggVector;

static inline int
agg_vector_row(const AggVector *vector, int i)
{
	Assert(i >= 0 && i < vector->nselected);	/* agg:G1 */
	return vector->rows != NULL ? vector->rows[i] : vector->first + i;
}

/* Is the input a column of the vector's batch? */
static inline bool
strata_agg_vector_has(const AggVector *vector, int input)
{
	return vector->batch != NULL && vector->attnos[input] != 0;
}

/*
 * agg_input.c: rows of a child, whose inputs are its columns; expressions of
 * joins among them are evaluated for parent.
 */
typedef struct AggInput AggInput;
extern AggInput *strata_agg_input_create(PlanState *child, int ninputs,
										 PlanState *parent);

/* May batches come as batches, from one source at least? */
extern bool strata_agg_input_has_vectors(const AggInput *input);

/*
 * The child is a join that gives vectors, but for what *refusal says, once it
 * runs.
 */
extern bool strata_agg_input_is_join(const AggInput *input,
									 const char **refusal);
extern void strata_agg_input_rescan(AggInput *input);

/*
 * Read the batches that strata_agg_stop_wants(), by rank; reverse: the last
 * child first.
 */
extern void strata_agg_input_choose(AggInput *input,
									struct StrataAggState *agg, bool reverse);

/*
 * All calls are count(*): take batches in by their number where it is known
 * without them.
 */
extern void strata_agg_input_count(AggInput *input,
								   struct StrataAggState *agg);

/* The next rows; NULL at the end.  They live until the next call. */
extern AggVector *strata_agg_input_next(AggInput *input);

/* Column of an input (from 0) of the current vector, decoded. */
extern StrataColumn *strata_agg_input_column(AggVector *vector, int i);

/* agg_value.c: columns of the input, and expressions of them. */
struct AggValue
{
	int			input;			/* column of the input whose bytes it has, or
								 * -1 */
	bool		is_column;		/* it is that column, in its own order, too:
								 * what is stored of the column and of batches
								 * (least values, sums, how rows lie, indexes)
								 * is true of the value */
	ExprState  *expr;			/* or this */
	StrataExpr *vector;			/* the same for many rows; or NULL */
	StrataExpr *decimals;		/* and as integers of one scale; or NULL */
	List	   *inputs;			/* that it reads, IntList */
	struct AggCall *call;		/* expr is computed only for rows that pass
								 * the FILTER of this; NULL: for all */
	Oid			typid;			/* base type */
	StrataColumnType type;
	bool		by_integers;	/* whoever looks at it can do with integers in
								 * the place of floats */
	/* of the current vector */
	StrataColumn *column;		/* NULL: not computed yet */
	StrataColumn computed;
	bool		tried;			/* has the batch been asked for integers? */
	StrataColumn integers;		/* fixed NULL: there are none */
	unsigned	scale;			/* of numerics: integers / 10^scale, ... */
	const uint8 *displays;		/* each row's shown with so many decimals */
};

/* What an input's numerics are, of the current vector. */
typedef struct AggStored
{
	bool		tried;
	StrataDecimals decimals;	/* v NULL: they are none */
} AggStored;

extern int	strata_agg_value_add(struct StrataAggState *agg, Expr *expr);
extern StrataColumn *strata_agg_value_column(struct StrataAggState *agg,
											 int value);

/* Compute it, if it is the same at all times from min to max. */
extern void strata_agg_value_at_times(struct StrataAggState *agg, int value,
									  int64 min, int64 max);
extern void strata_agg_value_reset(struct StrataAggState *agg);

/* When all keys and calls are known: find the values that may be integers. */
extern void strata_agg_value_note_integers(struct StrataAggState *agg);

/*
 * The column of such a value as integers of type.width bytes, none null; or
 * NULL.
 */
extern const StrataColumn *strata_agg_value_integers(struct StrataAggState
													 *agg,
													 int value);

/* Of a value that is not computed yet, only which rows are null; or NULL. */
extern const StrataColumn *strata_agg_value_nulls(struct StrataAggState *agg,
												  int value);

/* The column of a numeric value as int64 of the value's scale; or NULL. */
extern const StrataColumn *strata_agg_value_scaled(struct StrataAggState *agg,
												   int value);

/* The value of one row of the current vector. */
extern Datum strata_agg_value_at(struct StrataAggState *agg, int value,
								 int row, bool *isnull);

/*
 * The selected rows' values of a by-value column, packed; or as Datums.
 * Current context.
 */
extern const void *strata_agg_selected_values(const AggVector *vector,
											  const StrataColumn *col);
extern const void *strata_agg_selected_datums(const AggVector *vector,
											  const StrataColumn *col);

/*
 * Which of the selected rows does a FILTER let pass?  One byte for each, 0 or
 * 1, until the next vector.
 */
extern const uint8 *strata_agg_filter(struct StrataAggState *agg,
									  struct AggCall *call);

/* A row's value, which is not null, as an integer. */
static inline int64
strata_agg_column_int(const StrataColumn *col, int row)
{
	if (col->constant)
		return strata_datum_integer(col->value, col->type.width);
	switch (col->type.width)
	{
		case 2:
			return ((const int16 *) col->fixed)[row];
		case 4:
			return ((const int32 *) col->fixed)[row];
		default:
			return ((const int64 *) col->fixed)[row];
	}
}

/* agg_bucket.c: functions that map ranges of time to their start. */
typedef struct AggBucket AggBucket;

/* NULL when the expression is none; *arg is the column it is about. */
extern AggBucket *strata_agg_bucket_create(struct StrataAggState *agg,
										   Expr *expr, Expr **arg);

/* Is expr of a form that _create takes?  For plans. */
extern bool strata_agg_is_bucket(Expr *expr);

/*
 * Below a join buckets are asked for rows that may be dropped: there a bucket
 * raises no error, but gives a value of the same bucket in its place, the
 * argument itself where the function might raise one.  The function is called
 * with that above the join.  Is it one that can do so?
 */
extern bool strata_agg_bucket_can_defer(Expr *expr);
extern void strata_agg_bucket_defer(AggBucket *bucket, Expr *expr);

/*
 * The column that stands for a key below a join: one that no condition is
 * taken to be; the bucket that a column stands for, or NULL; the bucket of
 * what the column has.
 */
extern Expr *strata_agg_column_below(Expr *key);
extern Node *strata_agg_deferred(Node *column);
extern Node *strata_agg_settle_deferred(Node *bucket, Var *column);

/*
 * How far above a value its bucket can be, at most, if that is not to be
 * missed going down (last), or how far below it going up; false: unknown, or
 * no bucket.
 */
extern bool strata_agg_bucket_reach(Expr *expr, bool last, int64 *reach);

/*
 * About how wide buckets are, in units of the argument; 0: unknown, or no
 * bucket.
 */
extern double strata_agg_bucket_width(Expr *expr, Expr **arg);

/*
 * The bucket of ts.  All timestamps in [*lo, *hi] have it; the range need not
 * be all of the bucket.
 */
extern Datum strata_agg_bucket_of(AggBucket *bucket, int64 ts, int64 *lo,
								  int64 *hi);

/*
 * Is there surely no error in asking that, for a ts that is of no row that was
 * selected?
 */
extern bool strata_agg_bucket_is_safe(const AggBucket *bucket, int64 ts);

#endif							/* STRATA_AGG_VECTOR_PRIVATE_H */
