/*-------------------------------------------------------------------------
 *
 * agg_private.h
 *	  What the files of src/agg share.
 *
 * The life of a query's vector:
 *
 *	agg_input.c		reads the child plan: a batch as a scan selected it, or up
 *					to STRATA_AGG_CHUNK_ROWS rows of a row store turned into
 *					columns
 *	agg_value.c		what keys and aggregates are about: columns, and
 *					expressions
 *	agg_key.c		cuts the vector into runs of rows of one group
 *	agg_hash.c		finds the group of a run
 *	agg_kernel.c	adds a run to the group's cells
 *
 * Over 600 lines: the parts of one node, each with its section.
 *
 * src/agg/agg_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_PRIVATE_H
#define STRATA_AGG_PRIVATE_H

#include "postgres.h"

#include "access/parallel.h"
#include "base/base.h"
#include "batch/batch.h"
#include "lib/stringinfo.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "scan/scan_vector.h"

/* Rows of a row store that are looked at together. */
#define STRATA_AGG_CHUNK_ROWS 1024

/*-------------------------------------------------------------------------
 * What is aggregated: agg_function.c
 *-------------------------------------------------------------------------
 */

/*
 * The state of one aggregate in one group; what is in it depends on the
 * kernel.
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
	}			w;
} AggCell;

typedef struct AggValue AggValue;

/*
 * Values of a run of rows: v[0 .. n-1]; valid NULL: none is null or left out.
 */
typedef struct AggRun
{
	const void *v;
	const uint8 *valid;
	int			n;
} AggRun;

/* How the values of a kernel lie in memory. */
typedef enum AggValueKind
{
	AGG_VALUE_NONE,				/* only their number counts */
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

/* Can PostgreSQL's own functions of the aggregate be called on our states? */
extern bool strata_agg_is_generic(const Aggref *aggref);

typedef struct AggGeneric AggGeneric;	/* agg_generic.c */

/* An aggregate of a plan. */
typedef struct AggCall
{
	const Aggref *aggref;		/* NULL: a column of the row that is picked */
	const AggKernel *kernel;
	int			value;			/* of what; -1: count(*) */
	int			by;				/* AGG_RESULT_PICK: the time */
	ExprState  *filter;
	AggGeneric *generic;
	Oid			resulttype;
	int16		resultlen;
	bool		resultbyval;
	/* of the current vector, when it is prepared */
	bool		ready;
	const char *v;				/* selected values, packed */
	int			width;
	bool		integers;		/* v are integers, not the kernel's floats */
	bool		scaled;			/* v are int64, not numerics: the value's
								 * integers; and */
	const uint8 *displays;		/* ... with how many decimals they are shown */
	const uint8 *valid;
} AggCall;

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
extern void strata_agg_float_accum(AggCell *cell, const float8 *v,
								   const uint8 *valid, int n);
extern void strata_agg_add_int128(AggCell *cell, int64 value);

/* avg: is the sum so far, and with it what is left out of sxx, harmless? */
extern bool strata_agg_is_safe_cell(const AggCell *cell);

/* agg_pick.c: first and last */
struct StrataAggState;
extern const AggKernel *strata_agg_pick_kernel(const Aggref *aggref);
extern void strata_agg_pick_run(struct StrataAggState *agg, AggCall *call,
								AggCell *cell, const uint8 *valid, int from,
								int to);
extern bool strata_agg_pick_is_null(const AggCell *cell);

/* Is there a value in the cell, and of what time? */
extern bool strata_agg_pick_time(const AggCell *cell, int64 *time);
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

/*-------------------------------------------------------------------------
 * Plans: agg_shape.c, agg_path.c, agg_plan.c
 *-------------------------------------------------------------------------
 */

/* What may end the reading of rows early. */
typedef enum AggStopKind
{
	AGG_STOP_NONE,
	AGG_STOP_TOP,				/* ORDER BY key LIMIT n */
	AGG_STOP_PICK				/* only the latest or first row of a group
								 * counts */
} AggStopKind;

/* Which rows can matter: see agg_stop.c. */
typedef struct AggStopPlan
{
	AggStopKind kind;
	bool		last;			/* the greatest values are wanted, not the
								 * least */
	bool		reverse;		/* they are in the last partitions */
	int			top_key;		/* AGG_STOP_TOP: number of the key */
	int			top_n;			/* and how many of its values */
	bool		nulls_matter;	/* ... beside them the nulls, which come
								 * before them */
} AggStopPlan;

/* How much of the aggregation a node does. */
typedef enum AggStage
{
	AGG_STAGE_WHOLE,
	AGG_STAGE_PARTIAL,			/* of some of the rows; returns groups as
								 * bytes */
	AGG_STAGE_FINAL				/* combines those */
} AggStage;

/* What a query aggregates, in terms of the input relation's columns. */
typedef struct AggShape
{
	List	   *inputs;			/* Vars of the input relation */
	List	   *keys;			/* expressions grouped by */
	List	   *eqops;			/* of each, InvalidOid: equal are the same
								 * bytes */
	List	   *aggrefs;
	const char *reason;			/* why it cannot be done, or NULL */
	/* DISTINCT ON: of each group the row with the greatest or least "by" */
	List	   *picks;			/* Vars of that row */
	bool		summaries;		/* whole batches need not be decoded */
	bool		counts;			/* nor even looked at: count(*) */
	AggStopPlan stop;
	Expr	   *by;				/* of what the greatest or least; TOP: the
								 * column of the key */
	double		share;			/* of all groups, those that are wanted */
} AggShape;

/*
 * What a node is to do: its path and its plan carry it (agg_plan_data.c).  In
 * a path keys, aggregates, picks and by are about the input relation; in a
 * plan they refer to the child's result.
 */
typedef struct AggPlanData
{
	AggStage	stage;
	List	   *inputs;			/* Vars that the child returns */
	List	   *keys;
	List	   *eqops;			/* as in AggShape */
	List	   *aggrefs;
	List	   *picks;
	Expr	   *by;
	AggStopPlan stop;
	List	   *order;			/* of the groups: strata_agg_order_plan() */
	List	   *having;			/* paths only: a plan has it as its qual */
} AggPlanData;

/* path: the data itself, not a copy; plan: parts of the plan's own lists. */
extern void strata_agg_path_set_data(CustomPath *path,
									 const AggPlanData *data);
extern const AggPlanData *strata_agg_path_data(const CustomPath *path);
extern void strata_agg_plan_write(CustomScan *cscan, const AggPlanData *data);
extern void strata_agg_plan_read(const CustomScan *cscan, AggPlanData *data);

extern void strata_agg_shape(PlannerInfo *root, RelOptInfo *input_rel,
							 RelOptInfo *grouped_rel, List *having,
							 AggShape *shape);

/* The same for SELECT DISTINCT and DISTINCT ON; target is what it returns. */
extern void strata_agg_distinct_shape(PlannerInfo *root, RelOptInfo *input_rel,
									  PathTarget *target, AggShape *shape);

/* Can expr be evaluated on vectors?  Collects its inputs, or says why not. */
extern bool strata_agg_can_evaluate(Node *expr, Index relid, AggShape *shape);

/*
 * Does the clause sort integers and times as such, not by an operator class of
 * its own?
 */
extern bool strata_agg_is_time_order(const SortGroupClause *clause, Oid type,
									 bool *descending);

/*
 * agg_stop.c: a column of the relation that is ordered as integers are?  May
 * it be null?
 */
extern bool strata_agg_is_time_column(PlannerInfo *root, RelOptInfo *rel,
									  Expr *expr, bool *nullable);

/* Fill in what may end the reading early. */
extern void strata_agg_stop_plan(PlannerInfo *root, RelOptInfo *input_rel,
								 bool has_having, AggShape *shape);

/* Replace Vars of the inputs by references to the child's result columns. */
extern Node *strata_agg_refer_to_child(Node *node, List *inputs);

/*
 * agg_path.c: the path below projections that were put on top of the
 * relation's own.
 */
extern Path *strata_agg_strip_projection(Path *path);

/*
 * agg_estimate.c: groups of the shape that so many rows of the relation make.
 */
extern double strata_agg_estimate_groups(PlannerInfo *root, RelOptInfo *rel,
										 const AggShape *shape, double rows);

/*
 * Of all groups, those that one of the processes meets; path is a partial
 * StrataScan or an Append of them.
 */
extern double strata_agg_group_share(PlannerInfo *root, RelOptInfo *rel,
									 Path *path, const AggShape *shape,
									 double ngroups);

/* agg_parallel.c: may workers share the aggregation? */
extern bool strata_agg_can_share(const RelOptInfo *input_rel,
								 const RelOptInfo *grouped_rel,
								 const AggShape *shape);

/* The partial path to aggregate, or NULL; there are some. */
extern Path *strata_agg_partial_input(PlannerInfo *root, RelOptInfo *rel);

/* A Gather of a partial aggregation. */
extern Path *strata_agg_gather(PlannerInfo *root, RelOptInfo *grouped_rel,
							   CustomPath *partial);
extern List *strata_agg_partial_tlist(void);

extern const CustomPathMethods strata_agg_path_methods;
extern const CustomScanMethods strata_agg_scan_methods;

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

/* Rows being aggregated together. */
typedef struct AggVector
{
	int			nrows;			/* entries in each column */
	int			nselected;
	const uint16 *rows;			/* the selected entries, ascending; NULL: from
								 * first on */
	int			first;
	StrataVectorBatch *batch;	/* NULL: columns were made of rows */
	const AttrNumber *attnos;	/* batch: table column of each input */
	bool		whole;			/* batch: its summary is true of the vector */
	StrataColumn *columns;		/* made of rows: one for each input */
	StrataColumn *views;		/* batch: the same, of the rows that were
								 * decoded */
} AggVector;

static inline int
agg_vector_row(const AggVector *vector, int i)
{
	Assert(i >= 0 && i < vector->nselected);	/* agg:G1 */
	return vector->rows != NULL ? vector->rows[i] : vector->first + i;
}

/* agg_input.c */
typedef struct AggInput AggInput;
extern AggInput *strata_agg_input_create(PlanState *child, int ninputs);
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
	int			input;			/* column of the input, or -1 */
	ExprState  *expr;			/* or this */
	List	   *inputs;			/* that it reads, IntList */
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

extern int	strata_agg_value_add(struct StrataAggState *agg, Expr *expr);
extern StrataColumn *strata_agg_value_column(struct StrataAggState *agg,
											 int value);
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

/*
 * The column of a numeric value as int64 of the value's scale, none null; or
 * NULL.
 */
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

/* Which of the selected rows does a FILTER let pass? */
extern uint8 *strata_agg_filter(struct StrataAggState *agg, ExprState *filter,
								List *inputs);

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

/*
 * The pathkeys they can be sorted by, and for the plan what that means; NIL:
 * none are wanted, or cannot.
 */
extern List *strata_agg_order_plan(PlannerInfo *root, const AggShape *shape,
								   List **order);

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
 * agg_exec.c: the next of the table's groups as a scan tuple; NULL at the end.
 */
extern TupleTableSlot *strata_agg_next_group(struct StrataAggState *agg);

/*
 * agg_summary.c: take the whole batch into the cell by what its summary says;
 * false: cannot.
 */
extern bool strata_agg_summarize(struct StrataAggState *agg, AggCall *call,
								 AggCell *cell);

/* Take so many rows into all cells, of calls that count them. */
extern void strata_agg_take_count(struct StrataAggState *agg,
								  const StrataRowCount *count);

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

/* Aggregation of a group with no rows. */
extern void strata_agg_init_cells(struct StrataAggState *agg, AggCell *cells);

/* agg_stop.c: which batches and rows cannot change the result any more. */
typedef struct AggStop
{
	AggStopKind kind;
	bool		last;			/* greatest values are wanted */
	int			by;				/* value that decides */
	AggKey	   *key;			/* TOP: what n values are wanted of */
	int64		reach;			/* TOP: a bucket is that far from its times,
								 * at most */
	bool		nulls_matter;	/* TOP: all nulls are wanted too */
	int			n;
	int			nseen;			/* up to n values, the best first */
	int64	   *seen;
	AggTable   *segments;		/* PICK: groups that are the one of a batch;
								 * NULL: none yet */
	MemoryContext segment_mcxt;
} AggStop;

extern void strata_agg_stop_init(struct StrataAggState *agg);
extern void strata_agg_stop_reset(struct StrataAggState *agg);

/*
 * What a batch could do to the result, to be asked again when others were
 * read.
 */
typedef struct AggBatchRank
{
	int64		rank;			/* the highest should be read first */
	const AggGroup *segment;	/* the one group of all its rows; NULL:
								 * unknown, or no matter */
} AggBatchRank;

/*
 * Rank the batch, whose columns are R's attnos; false: it cannot change the
 * result any more.
 */
extern bool strata_agg_stop_rank(struct StrataAggState *agg,
								 StrataBatchReader *reader,
								 const AttrNumber *attnos, AggBatchRank *rank);

/* May it still change the result? */
extern bool strata_agg_stop_wants(struct StrataAggState *agg,
								  const AggBatchRank *rank);

/* If not, may one of a lower rank? */
static inline bool
strata_agg_stop_is_by_rank(const AggStop *stop)
{
	return stop->kind == AGG_STOP_TOP;
}

/* Leave rows of the vector that may; false: none is left. */
extern bool strata_agg_stop_restrict(struct StrataAggState *agg,
									 AggVector *vector);

/* Take note of the current values of the keys. */
extern void strata_agg_stop_see(struct StrataAggState *agg);

typedef struct AggCounters
{
	int64		vectors;		/* batches */
	int64		chunks;			/* of rows */
	int64		rows;
	int64		summarized;		/* batches answered by their summary alone */
	int64		counted;		/* ... of which only the number of rows was
								 * asked for */
	int64		fetched;		/* and those of them that had to be looked up
								 * for it */
	int64		skipped;		/* batches that could not change the result */
	int64		runs;
	int64		groups;
	int64		spills;
	Size		memory;
} AggCounters;

typedef struct AggShared AggShared; /* agg_parallel.c */

typedef struct StrataAggState
{
	CustomScanState css;		/* must be first */
	AggPlanData plan;
	AggInput   *input;			/* NULL: groups come from workers */
	ExprContext *input_econtext;	/* keys' and arguments' expressions */
	TupleTableSlot *input_slot; /* outer tuple of input_econtext */
	MemoryContext vector_mcxt;	/* reset for each vector */
	MemoryContext group_mcxt;	/* groups and their states; reset by spilling */
	AggVector  *vector;			/* current */
	int			nvalues;
	AggValue   *values;
	int			nkeys;
	AggKey	   *keys;
	int			ncalls;
	AggCall    *calls;
	List	  **filter_inputs;	/* per call */
	int		   *runs;			/* starts of runs, and the end */
	int			nruns;			/* of the current vector */
	AggStop		stop;
	AggTable   *table;			/* with keys */
	AggOrder   *order;			/* NULL: groups come in any */
	AggCell    *cells;			/* without */
	bool		done;			/* all rows are in */
	bool		returned;		/* without keys: the row was returned */
	AggCounters counters;
	AggShared  *shared;			/* among workers; or NULL */
} StrataAggState;

/* agg_parallel.c: combine what the workers return. */
extern void strata_agg_read_partials(StrataAggState *agg);

/* Callbacks for the counters of workers. */
extern Size strata_agg_estimate_shared(CustomScanState *node,
									   ParallelContext *pcxt);
extern void strata_agg_initialize_shared(CustomScanState *node,
										 ParallelContext *pcxt, void *area);
extern void strata_agg_reinitialize_shared(CustomScanState *node,
										   ParallelContext *pcxt, void *area);
extern void strata_agg_attach_shared(CustomScanState *node, shm_toc *toc,
									 void *area);
extern void strata_agg_shutdown_shared(CustomScanState *node);

/* agg_explain.c */
struct ExplainState;
extern void strata_agg_explain(CustomScanState *node, List *ancestors,
							   struct ExplainState *es);

#endif							/* STRATA_AGG_PRIVATE_H */
