/*-------------------------------------------------------------------------
 *
 * agg_kernel_private.h
 *	  What is aggregated: cells, kernels that add runs of values to them, and
 *	  the calls of a plan.
 *
 * src/agg/agg_kernel_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_KERNEL_PRIVATE_H
#define STRATA_AGG_KERNEL_PRIVATE_H

#include "postgres.h"

#include "expr/expr.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"

struct StrataAggState;

/*
 * The state of an aggregate in a group; the kernel knows what is in it.  It is
 * only as long as its call needs: behind that there is another one.
 */
typedef struct AggCell
{
	int64		n;				/* values taken in; 0: none yet */
	union
	{
		int64		i;
		float8		f;
		Datum		d;
	}			v;
	union
	{
		int64		hi;			/* upper half of a 128 bit sum */
		float8		sxx;		/* sum of squared differences */
		bool		isnull;		/* AGG_GENERIC: the state is NULL */
		struct
		{
			bool		isnull; /* the same */
			bool		is_sum; /* v.i / 10^scale is the state */
			uint8		scale;
			uint8		display;
		}			numeric;	/* sums of numerics (agg_generic.c) */
	}			w;
} AggCell;

/*
 * Values of a run of rows: v[0 .. n-1]; valid NULL: none is null or left out.
 */
typedef struct AggRun
{
	const void *v;
	const uint8 *valid;
	int			n;
	const Datum *v2;			/* of a second argument; or NULL */
} AggRun;

/* How the values of a kernel lie in memory. */
typedef enum AggValueKind
{
	AGG_VALUE_NONE,				/* only their number counts */
	AGG_VALUE_INT8,				/* and booleans */
	AGG_VALUE_INT16,
	AGG_VALUE_INT32,
	AGG_VALUE_INT64,
	AGG_VALUE_FLOAT4,
	AGG_VALUE_FLOAT8,
	AGG_VALUE_DATUM				/* for transition functions */
} AggValueKind;

/* What a cell's content becomes. */
typedef enum AggResult
{
	AGG_RESULT_COUNT,
	AGG_RESULT_INT,				/* v.i as the result type; NULL without values */
	AGG_RESULT_FLOAT4,
	AGG_RESULT_FLOAT8,
	AGG_RESULT_INT128,			/* as numeric */
	AGG_RESULT_INT_AVG,			/* v.i / n as numeric */
	AGG_RESULT_INT128_AVG,
	AGG_RESULT_FLOAT_AVG,
	AGG_RESULT_VAR_POP,			/* of w.sxx and n */
	AGG_RESULT_VAR_SAMP,
	AGG_RESULT_STDDEV_POP,
	AGG_RESULT_STDDEV_SAMP,
	AGG_RESULT_PICK,			/* first, last */
	AGG_RESULT_BEST,			/* a row, by agg_best.c */
	AGG_RESULT_GENERIC
} AggResult;

/* What a batch's summary can say instead of its values. */
typedef enum AggSummary
{
	AGG_SUMMARY_NONE,
	AGG_SUMMARY_COUNT,
	AGG_SUMMARY_MIN,
	AGG_SUMMARY_MAX,
	AGG_SUMMARY_SUM
} AggSummary;

/* A way to compute one of PostgreSQL's aggregates. */
typedef struct AggKernel
{
	Oid			aggfnoid;		/* InvalidOid: any, by transition functions */
	AggValueKind kind;
	AggSummary	summary;
	AggResult	result;
	void		(*run) (AggCell *cell, const AggRun *run);
	/* take the values of another cell in, as if they came after */
	void		(*combine) (AggCell *cell, const AggCell *other);
	/* each value into a cell of its own, at behind cells[i]; NULL: not so */
	void		(*rows) (AggCell *const *cells, int at, const AggRun *run);
} AggKernel;

/*
 * Never NULL: the last of the table, AGG_RESULT_GENERIC, when there is no
 * other.
 */
extern const AggKernel *strata_agg_kernel_find(const Aggref *aggref);

/*
 * Does the aggregate count rows, whatever is in them, if not all that pass its
 * FILTER?
 */
extern bool strata_agg_counts_rows(const Aggref *aggref);

/* With the condition as FILTER, of CASE WHEN condition THEN value END. */
extern const Aggref *strata_agg_as_filtered(const Aggref *aggref);

/*
 * Must equal values be taken in once only?  Not where that makes no
 * difference to the aggregate, as to min().
 */
extern bool strata_agg_is_distinct(const Aggref *aggref);

/* Can PostgreSQL's own functions of the aggregate be called on our states? */
extern bool strata_agg_is_generic(const Aggref *aggref);

/*
 * Must the aggregate's rows be held until their group is complete?  Where they
 * have an order, or the state is none that could be combined.
 */
extern bool strata_agg_is_held(const Aggref *aggref);

/* How much of an AggCell the aggregate needs. */
extern int	strata_agg_cell_size(const Aggref *aggref);

/* Can values that DISTINCT leaves be taken in by agg_distinct.c? */
extern bool strata_agg_distinct_has_set(const Aggref *aggref);

typedef struct AggGeneric AggGeneric;	/* agg_generic.c */
typedef struct AggDistinct AggDistinct; /* agg_distinct.c */
typedef struct AggHold AggHold; /* agg_hold.c */
typedef struct AggReplay AggReplay; /* agg_replay.c */

/* An aggregate of a plan. */
typedef struct AggCall
{
	const Aggref *aggref;		/* NULL: a column of the row that is picked */
	const AggKernel *kernel;
	int			value;			/* of what; -1: count(*) */
	int			by;				/* AGG_RESULT_PICK: the time; -1 or the second
								 * argument of AGG_RESULT_GENERIC */
	ExprState  *filter;
	StrataExpr *filter_vector;	/* the same for many rows; or NULL */
	List	   *filter_inputs;	/* numbers of inputs that it reads */
	AggGeneric *generic;
	AggDistinct *distinct;		/* the values to take in at the end; or NULL */
	AggHold    *hold;			/* the rows to take in at the end; or NULL */
	int			holder;			/* ... in the cell of this call, and */
	AggReplay  *replay;			/* ... how */
	int			at;				/* place of its cell, behind the group's first */
	int			size;			/* and so much of an AggCell is there */
	Oid			resulttype;
	int16		resultlen;
	bool		resultbyval;
	/* of the current vector, when it is prepared */
	bool		ready;
	const char *v;				/* selected values, packed */
	const Datum *v2;			/* of the second argument; or NULL */
	int			width;
	bool		integers;		/* v are integers, not the kernel's floats */
	bool		scaled;			/* v are int64, not numerics: the value's
								 * integers; and */
	const uint8 *displays;		/* ... with how many decimals they are shown */
	const uint8 *valid;
	const uint8 *pass;			/* selected rows that pass the FILTER; NULL:
								 * not asked yet */
} AggCall;

/* The cell that is so many bytes behind a group's first. */
static inline AggCell *
agg_cell_at(const AggCell *cells, int at)
{
	return (AggCell *) ((const char *) cells + at);
}

/* The call's own, of a group. */
static inline AggCell *
agg_cell(const AggCell *cells, const AggCall *call)
{
	return agg_cell_at(cells, call->at);
}

/* Squares of values below this cannot overflow, however many there are. */
#define STRATA_AGG_SAFE_TO_SQUARE 1e100

/* agg_kernel.c */
extern const AggKernel strata_agg_kernels[];
extern const int strata_agg_nkernels;

/* Is it a kernel of floats that can take a run of integers in their place? */
extern bool strata_agg_takes_integers(const AggKernel *kernel);

/* Do so; false: the values must be floats. */
extern bool strata_agg_run_integers(const AggKernel *kernel, AggCell *cell,
									const AggRun *run, int width);
extern void strata_agg_add_int128(AggCell *cell, int64 value);

/* avg: is the sum so far, and with it what is left out of sxx, harmless? */
extern bool strata_agg_is_safe_cell(const AggCell *cell);

/* agg_pick.c: first and last */
extern const AggKernel *strata_agg_pick_kernel(const Aggref *aggref);
extern void strata_agg_pick_run(struct StrataAggState *agg, AggCall *call,
								AggCell *cell, const uint8 *valid, int from,
								int to);
extern bool strata_agg_pick_is_null(const AggCell *cell);

/* What n of such a cell is; the time is in w.hi. */
enum
{
	AGG_PICK_EMPTY, AGG_PICK_VALUE, AGG_PICK_NULL
};

/* Is there a value in the cell, and of what time? */
static inline bool
strata_agg_pick_time(const AggCell *cell, int64 *time)
{
	*time = cell->w.hi;
	return cell->n != AGG_PICK_EMPTY;
}

extern const AggKernel *strata_agg_pick_of(bool last);
extern bool strata_agg_is_pick_last(const AggKernel *kernel);
extern bool strata_agg_is_time_type(Oid type);

/* As agg_generic.c's, of cells whose values are by reference. */
extern void strata_agg_pick_write(const AggCall *call, const AggCell *cell,
								  StringInfo out);
extern const char *strata_agg_pick_read(const AggCall *call, const char *in,
										AggCell *cell);
extern void strata_agg_pick_combine(struct StrataAggState *agg,
									const AggCall *call, AggCell *cell,
									const AggCell *other);

/* agg_result.c: the aggregate's value. */
extern Datum strata_agg_result(struct StrataAggState *agg, AggCall *call,
							   AggCell *cell, bool *isnull);

/* agg_generic.c */
extern AggGeneric *strata_agg_generic_create(struct StrataAggState *agg,
											 const Aggref *aggref);
extern void strata_agg_generic_init(AggGeneric *generic, AggCell *cell);
extern void strata_agg_generic_run(AggGeneric *generic, AggCell *cell,
								   const AggRun *run);

/*
 * agg_regression.c.  Take pairs into a state of float8_regr_accum(), in place;
 * returns how many rows of the run were done, and *taken, how many of them had
 * values.  Those behind them are for the function.
 */
extern int	strata_agg_regression_run(Datum state, const AggRun *run,
									  int64 *taken);

/*
 * Are numerics added up, which may come as integers?  Then take a run of those
 * in.
 */
extern bool strata_agg_generic_adds_numerics(const AggGeneric *generic);
extern void strata_agg_generic_run_scaled(AggGeneric *generic, AggCell *cell,
										  const AggRun *run, unsigned scale,
										  const uint8 *displays);
extern Datum strata_agg_generic_result(AggGeneric *generic, AggCell *cell,
									   bool *isnull);

/* A cell as bytes and back, for spilling; combine takes a cell read back. */
extern void strata_agg_generic_write(AggGeneric *generic, AggCell *cell,
									 StringInfo out);
extern const char *strata_agg_generic_read(AggGeneric *generic, const char *in,
										   AggCell *cell);
extern void strata_agg_generic_combine(AggGeneric *generic, AggCell *cell,
									   const AggCell *other);

#endif							/* STRATA_AGG_KERNEL_PRIVATE_H */
