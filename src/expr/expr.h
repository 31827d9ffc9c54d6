/*-------------------------------------------------------------------------
 *
 * expr.h
 *	  Expressions evaluated for many rows at a time.
 *
 * Invariants: see README (E1 ...).
 *
 * src/expr/expr.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_EXPR_H
#define STRATA_EXPR_H

#include "postgres.h"

#include "batch/batch.h"
#include "batch/batch_part.h"
#include "batch/batch_reader.h"
#include "nodes/execnodes.h"
#include "nodes/primnodes.h"

/* Rows that an expression is evaluated for, ascending. */
typedef struct StrataExprFrame
{
	int			n;				/* at least 1 */
	const uint16 *rows;			/* NULL: n rows from first on */
	int			first;
} StrataExprFrame;

/*
 * Numerics as integers / 10^scale; the arrays begin with row 0 and hold all
 * rows of a frame.
 */
typedef struct StrataDecimals
{
	const int64 *v;				/* of a row that is null: any */
	const bool *isnull;			/* NULL: none is */
	unsigned	scale;
	const uint8 *displays;		/* each is shown with so many decimals */
} StrataDecimals;

/*
 * Where the values come from: the column of an attribute number, whose arrays
 * begin with row 0 and hold all rows of the frame.  part: a part of such a
 * column (batch_part.h), or NULL where it has to be read whole; itself NULL
 * where there are none.  decimals: the numerics of a column, without decoding
 * it; false: it has no such integers; NULL likewise.
 */
typedef struct StrataExprSource
{
	StrataColumn *(*column) (void *arg, AttrNumber attno);
	StrataColumn *(*part) (void *arg, const StrataPart *part,
						   const StrataExprFrame *frame);
	void	   *arg;
	ExprContext *econtext;		/* for what PostgreSQL evaluates, ... */
	TupleTableSlot *slot;		/* ... whose Vars read this virtual slot */
	bool		(*decimals) (void *arg, AttrNumber attno,
							 const StrataExprFrame *frame,
							 StrataDecimals *decimals);
} StrataExprSource;

typedef struct StrataExpr StrataExpr;

/*
 * Compile expressions whose Vars are all of one slot; NULL: they are to be
 * evaluated row by row.  Several: conditions, of which all must be true.
 * Memory: the current context.
 */
extern StrataExpr *strata_expr_compile(List *exprs, PlanState *parent);

/*
 * The same for a numeric that strata_expr_decimals() computes; NULL: it is
 * none, or a column.
 */
extern StrataExpr *strata_expr_compile_decimals(Expr *expr, PlanState *parent);

/*
 * Is a function of PostgreSQL's called for each row, or for each value that a
 * column has?  known: expressions that the caller evaluates in another way.
 */
extern bool strata_expr_calls_singly(Node *node,
									 bool (*known) (Node *node, void *arg),
									 void *arg);

/* May evaluating it raise an error?  False: it fails at most. */
extern bool strata_expr_may_raise(const StrataExpr *expr);

/* False: there is no row for which PostgreSQL would raise an error. */
extern bool strata_expr_may_fail(const StrataExpr *expr);

/*
 * Evaluate the expression, the only one, into a column with nrows entries, of
 * which those of the frame are set; col->type is given.  False: it must be
 * evaluated row by row, and raises an error then, probably.  Memory: the
 * current context.
 */
extern bool strata_expr_column(StrataExpr *expr,
							   const StrataExprSource *source,
							   const StrataExprFrame *frame, int nrows,
							   StrataColumn *col);

/*
 * expr_range.c.  The column of times of which the expression says the same for
 * an hour, say, and reads no other; 0: another expression.  And what it says
 * of all times from min to max, a column that is constant; false: not known.
 * If that is an error it is raised, so there has to be a row of such a time.
 * Memory: likewise.
 */
extern AttrNumber strata_expr_time_column(const StrataExpr *expr);
extern bool strata_expr_at_times(StrataExpr *expr,
								 const StrataExprSource *source, int64 min,
								 int64 max, StrataColumn *col);

/*
 * Evaluate a numeric expression, without making numerics of its values; false:
 * likewise, or a value is not finite, or too large.  Memory: likewise.
 */
extern bool strata_expr_decimals(StrataExpr *expr,
								 const StrataExprSource *source,
								 const StrataExprFrame *frame,
								 StrataDecimals *out);

/* Numerics as a batch has them, for the frame's rows; false: it has none. */
extern bool strata_expr_batch_decimals(StrataBatchReader *reader,
									   AttrNumber attno,
									   const StrataExprFrame *frame,
									   StrataDecimals *decimals);

/* Set pass, one byte for each row of the frame, to 0 or 1; false: likewise. */
extern bool strata_expr_filter(StrataExpr *expr,
							   const StrataExprSource *source,
							   const StrataExprFrame *frame, uint8 *pass);

/*
 * expr_part.c.  Parts of columns that are all an expression reads of these.
 * extract: the parts, and the expression that reads them in their place, by
 * INNER_VAR; NULL: there are none.  find: the columns, of a batch, for rows;
 * false: not all can be had.  load: values of a row of columns that were found
 * are what the expression reads next.
 * Memory: the current context.
 */
typedef struct StrataParts
{
	int			n;
	StrataPart *parts;
	StrataColumn **columns;		/* set by find */
	TupleTableSlot *slot;
} StrataParts;

extern StrataParts *strata_parts_extract(Node *node, Node **result);
extern bool strata_parts_find(StrataParts *parts,
							  const StrataExprSource *source,
							  const StrataExprFrame *frame);
extern void strata_parts_load(StrataParts *parts, StrataColumn *const *columns,
							  ExprContext *econtext, int row);

/*
 * expr_like.c.  A text, and whether it is [NOT] LIKE or ILIKE a constant
 * pattern, matches a regular expression (~, ~*), or starts with one; such a
 * clause raises no error.  compile: NULL if the clause is none; *arg is what
 * is matched.  match: of a value that is not null.  strings: of
 * many, without values of them, found[i] being whether string i matches, or
 * not if negated; takes: can it? first_bytes: how many of a value's first
 * bytes say whether it matches; -1: all.  infixes: of a
 * pattern that begins and ends with % and has no _, the parts between,
 * palloc'd; their number, 0: another pattern.  Memory: the current context.
 */
typedef struct StrataLike StrataLike;

extern StrataLike *strata_like_compile(Node *node, Expr **arg);
extern bool strata_like_match(const StrataLike *like, Datum value);
extern bool strata_like_takes_strings(const StrataLike *like);
extern void strata_like_strings(const StrataLike *like,
								const StrataBytes *strings, bool negated,
								uint8 *found);
extern int	strata_like_first_bytes(const StrataLike *like);
extern int	strata_like_infixes(const StrataLike *like, StrataKey **infixes);

/*
 * expr_memo.c.  Results of an expression for values of the one column that it
 * reads; NULL: they cannot be kept.  They are for as long as the plan runs.
 * Memory: the current context, a bounded amount, taken when it is needed.
 */
typedef struct StrataMemo StrataMemo;

typedef struct StrataMemoEntry
{
	bool		used;			/* private, as are the others but for: */
	bool		known;
	bool		isnull;
	uint32		hash;
	uint32		len;
	uint64		low;
	uint64		high;
	char	   *bytes;
	uint64		result;
} StrataMemoEntry;

/* Where values come from; each kind is given up when few come again. */
typedef enum StrataMemoUse
{
	STRATA_MEMO_ENTRIES,		/* of dictionaries */
	STRATA_MEMO_ROWS
} StrataMemoUse;

extern StrataMemo *strata_memo_create(Node *expr, bool typbyval,
									  int16 typlen);

/*
 * The entry of a value that is not null, which stays there until the next
 * find; NULL: it is not kept.  Unless its result is known, put it.
 */
extern StrataMemoEntry *strata_memo_find(StrataMemo *memo, StrataMemoUse use,
										 Datum value);
extern void strata_memo_put(StrataMemo *memo, StrataMemoEntry *entry,
							uint64 result, bool isnull);

/*
 * The result for the entry of a dictionary that has this number, in this
 * numbering (batch_number.c); false: not known.  put: that of a value whose
 * result was put, if it is kept.
 */
extern bool strata_memo_find_number(const StrataMemo *memo, uint64 numbering,
									uint16 number, uint64 *result,
									bool *isnull);
extern void strata_memo_put_number(StrataMemo *memo, uint64 numbering,
								   uint16 number, Datum value);

/* The same of a value by reference that is not null; returns the copy. */
extern Datum strata_memo_put_copy(StrataMemo *memo, StrataMemoEntry *entry,
								  Datum result, int16 typlen);

/* May evaluating an expression raise an error? */
extern bool strata_expr_may_raise_error(Node *node);

#endif							/* STRATA_EXPR_H */
