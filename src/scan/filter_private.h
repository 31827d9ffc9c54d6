/*-------------------------------------------------------------------------
 *
 * filter_private.h
 *	  Quals as programs over batches.
 *
 * A scan's quals are an implicit AND.  Each becomes a StrataQual, tried on a
 * batch in three places, cheapest first:
 *
 *	1. on what is known without decoding (scan_prune.c), giving a verdict;
 *	2. on whole columns, giving a mask of rows (filter_kernel.c);
 *	3. row by row, when the row is about to be returned (filter_run.c).
 *
 * The tree of a qual has no NOT: negation is pushed down to the leaves while
 * compiling, which three-valued logic allows.  After that a row passes exactly
 * when the tree is true, so "false" and "null" need not be told apart.
 *
 * src/scan/filter_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_FILTER_PRIVATE_H
#define STRATA_FILTER_PRIVATE_H

#include "postgres.h"

#include "batch/batch.h"
#include "batch/batch_reader.h"
#include "expr/expr.h"
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"
#include "scan/filter_keys_private.h"
#include "scan/filter_operator_private.h"
#include "store/store.h"

/* What is known of a qual for the rows of one batch. */
typedef enum StrataVerdict
{
	STRATA_SOME,				/* rows must be looked at */
	STRATA_NONE,				/* true for no row */
	STRATA_ALL					/* true for every row */
} StrataVerdict;

typedef enum FilterOp
{
	FILTER_AND,
	FILTER_OR,
	FILTER_CONST,				/* true or not, whatever the row */
	FILTER_COMPARE,				/* column <op> value */
	FILTER_IN,					/* column = ANY (array) */
	FILTER_NOT_IN,				/* column <> ALL (array) */
	FILTER_IS_NULL,
	FILTER_IS_NOT_NULL,
	FILTER_EXPR,				/* any expression of one by-reference column */
	FILTER_OPAQUE				/* not understood: cannot be tried on a vector */
} FilterOp;

/* The C type a kernel reads a column as. */
typedef enum FilterKind
{
	FILTER_KIND_NONE,			/* no kernel for this column type */
	FILTER_KIND_INT8,			/* width 1: bool */
	FILTER_KIND_INT16,
	FILTER_KIND_INT32,
	FILTER_KIND_INT64,
	FILTER_KIND_UINT32,			/* oid, and = of enums */
	FILTER_KIND_FLOAT4,
	FILTER_KIND_FLOAT8
} FilterKind;

/* A value as the bytes that tell it from others. */
typedef struct FilterBytes
{
	const char *data;
	Size		len;
} FilterBytes;

typedef struct FilterNode
{
	FilterOp	op;
	/* AND, OR */
	int			nargs;
	struct FilterNode **args;
	/* CONST */
	bool		truth;
	/* leaves */
	AttrNumber	attno;
	int			strategy;
	FilterKind	kind;
	Oid			righttype;		/* declared right input type of the operator */
	int16		valuelen;		/* of the value itself */
	bool		valuebyval;
	Oid			opno;			/* for index keys; InvalidOid when negated */
	StrataOrder order;			/* see StrataOperator */
	Oid			boundtype;		/* likewise, down to opfamily */
	Oid			same;
	Oid			at_most;
	Oid			at_least;
	Oid			lefttype;
	Oid			opfamily;
	Oid			collation;
	bool		by_bytes;		/* = or IN that is true of equal bytes only */
	FmgrInfo   *cmp;			/* btree comparison (column, low or high); or
								 * NULL: bounds say nothing */
	Expr	   *expr;			/* by-reference columns: the leaf as an
								 * expression, */
	ExprState  *state;			/* ... ask strata_leaf_state() for it; else
								 * NULL */
	StrataLike *like;			/* it is that of the column, ... */
	bool		not_like;		/* ... or its negation */
	StrataPart	start;			/* the first bytes that say which; nbytes 0:
								 * that takes all */
	struct StrataFilter *filter;	/* it belongs to */
	Expr	   *comparand;		/* what the column is compared with */
	ExprState  *value_state;	/* of it; NULL: it is a Const */
	bool		avoidable;		/* PostgreSQL may never evaluate it */
	/* leaves, at run time: valid after strata_filter_prepare() */
	bool		pending;		/* avoidable, and of a subquery that has not
								 * been executed: as OPAQUE in this scan */
	bool		never;			/* true for no row: a null value, an empty
								 * list */
	bool		always;			/* true for every row: not in an empty list */
	Datum		value;			/* COMPARE; IN, NOT_IN: the array itself */
	Datum		low;			/* COMPARE: a column below is less than the
								 * value, */
	Datum		high;			/* ... one above is greater; the value itself,
								 * but for STRATA_ORDER_LOCAL */
	int			nvalues;		/* IN, NOT_IN: the elements that are not null */
	Datum	   *values;
	Datum	   *lows;			/* likewise of each */
	Datum	   *highs;
	FilterBytes *bytes;			/* by_bytes: of the value, or the elements, */
	FilterBytes one;			/* ... and where those of a single value are */
	int		   *slots;			/* by_bytes: where to look for one by its
								 * hash: its number + 1, or 0; NULL: they are
								 * few */
	uint32	   *hashes;			/* ... of the elements */
	uint32		slot_mask;
	FilterKeys	keys;			/* IN, NOT_IN: what the kernels look for */
	bool		sorted;			/* IN: values ascend by cmp's order, and are
								 * there once (lows and highs, too) */
	bool		spans;			/* IN: no values; they are between the one of
								 * lows and that of highs, where keys has
								 * places */
	struct StrataJoinKey *given;	/* IN: its values come from there; or NULL */
} FilterNode;

typedef enum StrataQualWay
{
	STRATA_QUAL_VECTOR,			/* by kernels on fixed-width columns */
	STRATA_QUAL_DICTIONARY,		/* once per distinct value, where the batch
								 * has a dictionary */
	STRATA_QUAL_ROW				/* row by row */
} StrataQualWay;

typedef struct StrataQual
{
	Expr	   *clause;
	Bitmapset  *attnos;			/* columns it reads (attno, no system columns) */
	bool		promotable;		/* security: may be tried before the quals
								 * left of it */
	bool		stable;			/* same input, same result, no side effect, no
								 * subplan */
	bool		error_free;		/* cannot raise an error that depends on the
								 * row */
	bool		rows_only;		/* reads system columns or the whole row */
	StrataQualWay way;
	bool		waits;			/* some of its leaves may be pending: then it
								 * is ROW, not VECTOR, until the next scan */
	const char *reason;			/* why not VECTOR; a message fragment */
	bool		prunes;			/* the tree can say NONE of some batch */
	FilterNode *tree;
	ExprState  *compiled;		/* ask strata_qual_state() for it */
	StrataExpr *together;		/* ask strata_qual_together() for it */
	bool		together_tried;
	StrataParts *parts;			/* ask strata_qual_parts() for these */
	ExprState  *parted;
	bool		parts_tried;
	StrataMemo *memo;			/* ask strata_qual_memo() for it */
	bool		memo_tried;
	int64		ntried;			/* of joins: rows it was tried on, */
	int64		npassed;		/* ... and those that passed */
} StrataQual;

typedef struct StrataFilter
{
	MemoryContext mcxt;			/* where everything here is made */
	MemoryContext value_mcxt;	/* run-time values, reset by prepare; NULL
								 * before it is needed */
	Index		varno;
	TupleDesc	desc;			/* of R */
	bool		prepared;
	int			nquals;
	int			nown;			/* of them, the plan's; those behind them are
								 * conditions that a join above makes, too:
								 * they may be left out */
	int			nmax;			/* room for so many */
	StrataQual *quals;			/* in the order of execution */
	PlanState  *parent;			/* of expressions */
	Bitmapset  *changed;		/* parameters, at the last rescan, and quals
								 * that have not seen it: filter_subplan.c */
	List	   *stale;
} StrataFilter;

/*
 * Compile quals (a plan's list; promotable[i] tells of qual i) for parent,
 * whose scan slots may be of any kind.  Memory: the current context.
 */
extern StrataFilter *strata_filter_create(List *quals, const bool *promotable,
										  Index varno, TupleDesc desc,
										  PlanState *parent);

/* Make room for n quals behind the plan's; before anything is sized by nmax. */
extern void strata_filter_reserve(StrataFilter *filter, int n);

/*
 * Add "column = ANY (array)" behind the plan's quals; NULL: it could neither
 * prune a batch nor be tried on its rows.  Its values are the caller's to set.
 */
extern StrataQual *strata_filter_add(StrataFilter *filter, Expr *clause);

/* Can the tree be evaluated on vectors? */
extern bool strata_filter_tree_is_vectorisable(const FilterNode *node);

/* Can it be false for a whole batch, going by metadata? */
extern bool strata_filter_tree_can_prune(const FilterNode *node);

/* A walker: is there a PARAM_EXEC that a row may be done without? */
extern bool strata_filter_may_skip_param(Node *node, void *context);

/* What PostgreSQL may never come to: of a leaf, or NULL; of some leaf? */
extern Node *strata_filter_awaited(const FilterNode *node);
extern bool strata_filter_tree_waits(const FilterNode *node);

/*
 * The first of the quals from number `from` on that is "column = value" or
 * "column = ANY (array)" and may be tried ahead of others; -1: none.
 */
extern int	strata_filter_find_equality(const StrataFilter *filter,
										AttrNumber attno, int from);

/*
 * The qual as an expression on the scan slot, compiled when first asked for.
 */
extern ExprState *strata_qual_state(StrataFilter *filter,
									const StrataQual *qual);

/* The same for many rows; NULL: that cannot be done. */
extern StrataExpr *strata_qual_together(StrataFilter *filter,
										const StrataQual *qual);

/*
 * The parts of columns that are all it reads of these, and, by them, its
 * expression; NULL: there are none.
 */
extern StrataParts *strata_qual_parts(StrataFilter *filter,
									  const StrataQual *qual,
									  ExprState **parted);

/* What it said of values of its one column; NULL: that is not kept. */
extern StrataMemo *strata_qual_memo(StrataFilter *filter,
									const StrataQual *qual);

/* The expression of a leaf that has one, compiled when first asked for. */
extern ExprState *strata_leaf_state(FilterNode *leaf);

/* Evaluate the values that columns are compared with, once per (re)scan. */
extern void strata_filter_prepare(StrataFilter *filter, ExprContext *econtext);

/* What evaluating a tree on the current batch of a reader needs. */
typedef struct StrataFilterRun
{
	StrataBatchReader *reader;
	bool		bounded;		/* minima and maxima of its columns are known */
	TupleTableSlot *slot;		/* virtual, of R; values are the run's to set */
	ExprContext *econtext;
	uint8	   *scratch;		/* strata_filter_scratch_size() bytes */
} StrataFilterRun;

/*
 * Bytes of scratch that strata_filter_vector needs for a tree on a batch of
 * nrows rows.
 */
extern Size strata_filter_scratch_size(const FilterNode *tree, int nrows);

/*
 * scan_prune.c.  What minima and maxima of the run's batch say of a tree;
 * nothing where they are not known.
 */
extern StrataVerdict strata_filter_bounds_verdict(const FilterNode *tree,
												  StrataFilterRun *run);

/*
 * mask[i] &= "tree is true of row i", for rows [0, reader->nrows); decodes the
 * columns it needs.  Only for the tree of a STRATA_QUAL_VECTOR qual.
 */
extern void strata_filter_vector(FilterNode *tree, StrataFilterRun *run,
								 uint8 *mask);

#endif							/* STRATA_FILTER_PRIVATE_H */
