/*-------------------------------------------------------------------------
 *
 * top_private.h
 *	  The node's state, and what its parts do with it.
 *
 * src/top/top_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_TOP_PRIVATE_H
#define STRATA_TOP_PRIVATE_H

#include "postgres.h"

#include "base/base.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "scan/scan_vector.h"
#include "top/top_distance_private.h"
#include "top/top_expr_private.h"
#include "utils/sortsupport.h"
#include "utils/tuplesort.h"

/* How values of a key are compared. */
typedef enum TopKind
{
	TOP_INT,					/* as integers of the column's width */
	TOP_FLOAT,					/* as floats of the column's width */
	TOP_ANY						/* by the type's function */
} TopKind;

/* A key, as the plan has it. */
typedef struct TopKeyPlan
{
	AttrNumber	input;			/* column of the scan tuple, from 1 */
	Oid			sortop;
	Oid			collation;
	bool		nulls_first;
} TopKeyPlan;

/* A key of the order. */
typedef struct TopKey
{
	TopKeyPlan	plan;
	TopKind		kind;
	bool		desc;
	bool		default_order;	/* bounds of batches are in this order */
	int16		typlen;
	bool		typbyval;
	int			width;			/* TOP_INT, TOP_FLOAT */
	SortSupportData ssup;
} TopKey;

/* A value of a key; by reference, it belongs to somebody else or to a heap. */
typedef struct TopValue
{
	int64		rank;			/* not TOP_ANY: smaller ones come first */
	Datum		value;
	bool		isnull;
} TopValue;

/* The best keys met so far: n * nkeys values, the worst of them in front. */
typedef struct TopHeap
{
	MemoryContext mcxt;			/* of values by reference */
	int			nkeys;
	TopKey	   *keys;
	int64		size;			/* rows that are wanted; 0: no heap is kept */
	int64		n;
	TopValue   *values;
} TopHeap;

/* Selected rows of which a column is wanted. */
typedef struct TopRows
{
	StrataBatchReader *reader;	/* of a batch; NULL: */
	const StrataColumn *columns;	/* of rows of a row store, keys only, */
	const ItemPointerData *tids;	/* which are here */
	const AttrNumber *attnos;	/* by number of the input, from 0 */
	int			n;
	const uint16 *rows;			/* their numbers, ascending; NULL: from first
								 * on */
	int			first;
	int			direction;		/* in which they go by the first key's column,
								 * see strata_batch_reader_direction() */
	PlanState  *late;			/* whose late quals are to be tried on those
								 * that may matter; NULL: all have passed */
} TopRows;

/* A plan that rows come from. */
typedef struct TopSource
{
	PlanState  *node;
	bool		vectors;		/* a StrataScan */
	bool		late_quals;		/* of which quals are tried late */
	AttrNumber *attnos;			/* column of a row for each input */
	AttrNumber	max_attno;
	AttrNumber *key_attnos;		/* the same for each key; of an expression 0 */
	AttrNumber *looked;			/* columns that keys are made of */
	int			nlooked;
	AttrNumber	bound_attno;	/* column of the table that the first key is;
								 * 0: not known */
	bool		nearest_known;
	StrataNearest *nearest;		/* NULL: distances have no bounds */
	bool		by_distance;	/* no vectors: rows come by the first key */
} TopSource;

/* What metadata says of a batch's first two keys: nothing is better. */
typedef struct TopListed
{
	ItemPointerData tid;
	bool		known[2];
	TopValue	best[2];
	int			nread;			/* so many of its rows, the best, were read */
} TopListed;

/* Batches to be read; once sorted, the best last. */
typedef struct TopList
{
	TopListed  *batches;
	int			n;
	int			size;
} TopList;

typedef struct StrataTopState
{
	CustomScanState css;		/* must be first */
	int			nkeys;
	TopKey	   *keys;
	int			ninputs;		/* columns that sources have */
	StrataTopDistance *distance;	/* the first key, behind them; or NULL */
	TopExprs   *exprs;			/* keys, behind them; or NULL */
	bool		all;			/* a StrataSort: all rows are wanted, by: */
	struct StrataSort *sorter;	/* NULL: not begun, or given up for sort */
	ExprState  *limit;			/* or NULL */
	ExprState  *offset;
	bool		ordered;		/* sources follow each other by the first key */
	bool		reverse;		/* the last source has the best */
	bool		ties;			/* rows as good as the last are wanted, too */
	AppendState *append;		/* child, when we read its children */
	int			nsources;
	TopSource  *sources;
	TopHeap		heap;
	MemoryContext list_mcxt;	/* of listed batches, or of rows' keys */
	Tuplesortstate *sort;		/* NULL: not begun */
	TupleTableSlot *put;		/* rows that go into it */
	TupleTableSlot *got;		/* a row that comes out */
	int64		nleft;			/* so many are still to be returned; -1: all */
	TopValue   *last;			/* ties: keys of the last of these; NULL: none
								 * yet */
	TopValue   *values;			/* a row's keys */
	const StrataColumn **columns;	/* by input; of the rows being taken */
	const StrataColumn **key_columns;	/* by key */
	uint16	   *chosen;			/* numbers of rows */
	int			nchosen_size;
	int64		npassed;		/* batches that were not read */
	int64		nread;
	int64		ntaken;			/* rows that went into the sort */
	int64		nsources_passed;
} StrataTopState;

/* What a query wants first. */
typedef struct TopShape
{
	List	   *keys;			/* Vars and other expressions */
	List	   *clauses;		/* SortGroupClauses, one for each */
	List	   *inputs;			/* Vars that are needed, those of keys first */
	int			nlooked;		/* so many are needed of all rows */
	Cost		expr_cost;		/* of keys that are expressions, per row */
	bool		all;			/* rows are wanted, */
	double		n;				/* ... or so many, */
	List	   *limits;			/* which LIMIT, and OFFSET if there is one,
								 * say, expressions */
	bool		nullable;		/* the first key may be null, or is no column
								 * of which the table would tell */
	bool		desc;			/* the first key's order */
	bool		ordered;		/* partitions follow each other by it */
	bool		ties;			/* rows as good as the last are wanted, too */
	StrataTopDistancePlan distance;
} TopShape;

extern const CustomPathMethods strata_top_path_methods;
extern const CustomScanMethods strata_top_scan_methods;
extern const CustomPathMethods strata_sort_path_methods;
extern const CustomScanMethods strata_sort_scan_methods;

/*
 * top_plan_data.c: what a path carries to the plan; and the keys and the
 * expressions of LIMIT and OFFSET, from the plan.
 */
extern void strata_top_path_set_data(CustomPath *path, const TopShape *shape);
extern void strata_top_plan_read(StrataTopState *top);

/* top_key.c: values of keys, and which rows of a vector may matter. */
extern void strata_top_key_init(TopKey *key, Oid type);
extern void strata_top_value(const TopKey *key, Datum value, bool isnull,
							 TopValue *result);
extern int	strata_top_compare(TopKey *key, const TopValue *a,
							   const TopValue *b);

/* Do rows matter whose first key is as good as the worst? */
static inline bool
strata_top_takes_equal(const StrataTopState *top)
{
	return top->nkeys > 1 || top->ties;
}

/* The first n rows' worst: do keys as good as these matter? */
extern bool strata_top_heap_is_full(const TopHeap *heap);
extern int	strata_top_heap_compare(TopHeap *heap, const TopValue *values);
extern void strata_top_heap_add(TopHeap *heap, const TopValue *values);

/* Write the numbers of rows whose first key may matter; returns how many. */
extern int	strata_top_choose(StrataTopState *top, const TopRows *rows,
							  uint16 *chosen);

/*
 * top_sorted.c: the same where rows lie in the first key's order, of which few
 * are looked at; -1: it is not known where their best end is.
 */
#define TOP_CHOOSE_BLOCK 64		/* so many rows are tried together: mostly
								 * none of them passes */
extern int	strata_top_choose_sorted(StrataTopState *top, const TopRows *rows,
									 uint16 *chosen);

/*
 * Do the rows go by the first key, either way, as far as it can be had?  Then
 * the next n of the rows behind so many of the best, and the first key of the
 * best of them.
 */
extern bool strata_top_rows_are_sorted(StrataTopState *top,
									   const TopRows *rows);
extern TopRows strata_top_next_rows(const StrataTopState *top,
									const TopRows *rows, int behind, int n);
extern void strata_top_next_value(StrataTopState *top, const TopRows *rows,
								  int behind, TopValue *value);

/* The column of input i (from 0), for the rows from .. to. */
extern const StrataColumn *strata_top_column(const TopRows *rows, int i,
											 int from, int to);

static inline int
strata_top_row(const TopRows *rows, int i)
{
	return rows->rows != NULL ? rows->rows[i] : rows->first + i;
}

/* The column, of sources, that key k is made of. */
static inline AttrNumber
strata_top_key_input(const StrataTopState *top, int k)
{
	return k == 0 && top->distance != NULL ? top->distance->input :
		top->keys[k].plan.input;
}

/* The column of key k, which was computed, or for the rows from .. to. */
extern const StrataColumn *strata_top_key_column(StrataTopState *top,
												 const TopRows *rows, int k,
												 int from, int to);

/* Key k of a row, of the value of that column. */
extern void strata_top_key_value(StrataTopState *top, int k, Datum value,
								 bool isnull, TopValue *result);

/* top_distance.c: the rest of it is in top_distance_private.h. */
extern StrataTopDistance *strata_top_distance_create(StrataTopState *top,
													 AttrNumber input,
													 const OpExpr *op,
													 bool commuted,
													 Expr *value);

/* top_source.c: batches and rows of one source go into the sort. */
extern void strata_top_source_init(StrataTopState *top, TopSource *source,
								   PlanState *node);
extern void strata_top_source_read(StrataTopState *top, TopSource *source);
extern void strata_top_source_end(TopSource *source);

/* The inputs of a row in a slot of the source, in top->put. */
extern void strata_top_load_inputs(StrataTopState *top,
								   const TopSource *source,
								   TupleTableSlot *slot);

/*
 * top_path.c: the shape of all rows by these SortGroupClauses; false: it is
 * not for us.  The path that the shape's rows come from, and what reading it
 * costs; NULL: there is none that gives vectors.
 */
extern bool strata_top_find_columns(PlannerInfo *root, RelOptInfo *rel,
									List *clauses, PathTarget *target,
									TopShape *shape);
extern Path *strata_top_make_input(PlannerInfo *root, RelOptInfo *rel,
								   TopShape *shape, Cost *cost);

/* top_exec.c: begin PostgreSQL's sort, and, if it has room, the heap. */
extern void strata_top_begin_sort(StrataTopState *top, int64 wanted);
struct ExplainState;
extern void strata_top_explain(CustomScanState *node, List *ancestors,
							   struct ExplainState *es);

#endif							/* STRATA_TOP_PRIVATE_H */
