/*-------------------------------------------------------------------------
 *
 * expr_private.h
 *	  What the files of src/expr share.
 *
 * src/expr/expr_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_EXPR_PRIVATE_H
#define STRATA_EXPR_PRIVATE_H

#include "base/base.h"
#include "expr/expr.h"
#include "expr/expr_unit_private.h"
#include "expr/expr_text_private.h"

#include "pgtime.h"

/* So many conditions has a CASE that picks from constants by a byte. */
#define EXPR_MAX_PICKED 64

/* How values of a node lie in memory: eight bytes each. */
typedef enum ExprClass
{
	EXPR_INT,					/* int64: by-value types but floats */
	EXPR_FLOAT,					/* float8; of float4, too */
	EXPR_DATUM,					/* by-reference types */
	EXPR_DECIMAL				/* numeric: ExprDecimals; as EXPR_DATUM for
								 * who knows nothing of these */
} ExprClass;

/*
 * Values of a node for the rows of a frame, one after the other.  They may be
 * those of a column, or another node's: nobody changes them.
 */
typedef struct ExprVector
{
	void	   *v;				/* of a row that is null: defined, any */
	const uint8 *null;			/* NULL: none is */
} ExprVector;

/*
 * out[i] of a[i] and b[i] (unary: b is a); false when PostgreSQL's function
 * would raise an error for a row that is not null.
 */
typedef bool (*ExprKernel) (int n, const void *a, const void *b,
							const uint8 *null, void *out);

/* What a function says of two values, if it compares them. */
typedef enum ExprTest
{
	EXPR_TEST_NONE,
	EXPR_TEST_EQ,
	EXPR_TEST_NE,
	EXPR_TEST_LT,
	EXPR_TEST_LE,
	EXPR_TEST_GT,
	EXPR_TEST_GE
} ExprTest;

typedef struct ExprFunction
{
	Oid			funcid;
	ExprKernel	kernel;
	bool		can_fail;
	ExprTest	test;
} ExprFunction;

/* NULL: there is none. */
extern const ExprFunction *strata_expr_function_find(Oid funcid);

/*
 * The kernel that adds an int64 of microseconds to a timestamp, with or
 * without time zone.
 */
extern const ExprFunction *strata_expr_shift_function(void);

typedef enum ExprKind
{
	EXPR_COLUMN,
	EXPR_CONST,
	EXPR_CALL,					/* of a kernel */
	EXPR_AND,
	EXPR_OR,
	EXPR_NOT,
	EXPR_NULL_TEST,
	EXPR_BOOL_TEST,
	EXPR_IN,					/* integers among constants */
	EXPR_CASE,
	EXPR_COALESCE,
	EXPR_DISTINCT,				/* IS DISTINCT FROM */
	EXPR_NULLIF,
	EXPR_MINMAX,				/* GREATEST, LEAST */
	EXPR_LIKE,					/* text LIKE a constant */
	EXPR_COMPARE,				/* numerics by a comparison of integers; if
								 * they are none, args[2] or nothing */
	EXPR_CONVERT,				/* a numeric to a number */
	EXPR_EITHER,				/* by parts of columns, or else by these */
	EXPR_OTHER					/* evaluated by PostgreSQL */
} ExprKind;

typedef struct ExprNode ExprNode;
struct ExprNode
{
	ExprKind	kind;
	ExprClass	class;
	int16		typlen;
	bool		can_fail;		/* it, or what is below it */
	bool		raises;			/* OTHER: may raise an error, or has to wait */
	bool		usual_times;	/* OTHER: it fails for times of its one column
								 * near the ends of the type; else raises none */
	ExprLength	length;			/* OTHER: it is that of its one column */
	const StrataPart *start;	/* OTHER: all it reads of its one column, a
								 * text or bytea; NULL: of all of it */
	int			nargs;
	ExprNode  **args;			/* CASE: condition, result, ...; the last is
								 * ELSE */
	AttrNumber	attno;			/* COLUMN */
	StrataPart	nulls_part;		/* COLUMN: which of its rows are null */
	StrataParts *parts;			/* EITHER: what args[0] reads; COLUMN, OTHER:
								 * of which it is attno, or reads; or NULL */
	const ExprFunction *function;	/* CALL; DISTINCT, NULLIF: equality */
	int			test;			/* NULL_TEST, BOOL_TEST: which */
	bool		negated;		/* IN: NOT IN */
	bool		greatest;		/* MINMAX: not least */
	StrataLike *like;			/* LIKE */
	int			op;				/* DECIMAL CALL: ExprDecimalOp, ... */
	int			places;			/* ... and its decimals */
	int			precision;
	struct StrataDecimal *decimal;	/* DECIMAL CONST */
	ExprNode   *mapped;			/* DECIMAL: OTHER, for a dictionary of its one
								 * column; or NULL */
	bool		plain;			/* AND, OR: see strata_expr_is_plain() */
	bool		picks;			/* CASE: its results are all constants */
	int			nvalues;		/* IN: of them, ascending */
	int64	   *values;
	/* CONST */
	Datum		value;
	bool		isnull;
	int			nfilled;		/* so often the value was written already */
	void	   *filled;
	uint8	   *nulls;
	MemoryContext mcxt;
	/* OTHER */
	ExprState  *state;
	int			natts;
	AttrNumber *atts;			/* that it reads, besides all parts */
	StrataColumn **columns;		/* of the current frame */
	AttrNumber	only_part;		/* that part is all it reads; 0: not so */
	StrataColumn *single;		/* the one column that it reads, or NULL */
	StrataTimeUnit unit;		/* constant for so long, in units of the one
								 * column */
	struct ExprTimes *times;	/* results of such ranges; NULL: there are
								 * none */
	StrataMemo *memo;			/* of values of the one column; NULL: none */
	StrataExpr *guard;			/* an error of it is kept there; NULL: raised */
};

struct StrataExpr
{
	int			nroots;
	ExprNode  **roots;
	int			nraising;		/* nodes that may raise an error */
	bool		can_fail;		/* a kernel may fail */
	ExprNode   *whole;			/* OTHER: all of it; NULL: nothing is guarded */
	ErrorData  *error;			/* of a guarded node */
};


/* False: PostgreSQL would raise an error. */
extern bool strata_expr_eval(const StrataExprSource *source, ExprNode *node,
							 const StrataExprFrame *frame, ExprVector *out);

/* EITHER: by parts of columns where these can be had. */
extern ExprNode *strata_expr_arm(const StrataExprSource *source,
								 ExprNode *either,
								 const StrataExprFrame *frame);

/*
 * expr_truth.c: truth[i] is 1 where the condition is true for the frame's row
 * i, else 0; false likewise.
 */
extern bool strata_expr_truth(const StrataExprSource *source, ExprNode *node,
							  const StrataExprFrame *frame, uint8 *truth);

/*
 * Is it about nothing but columns, compared with constants or tested for null?
 * Then it raises no error, and may be evaluated for any row.
 */
extern bool strata_expr_is_plain(const ExprNode *node);

/* A column of the rows that are null, if nothing else is said of them. */
extern const StrataColumn *strata_expr_nulls(const StrataExprSource *source,
											 ExprNode *column,
											 const StrataExprFrame *frame);

/* expr_choice.c: false likewise. */
extern bool strata_expr_eval_distinct(const StrataExprSource *source,
									  ExprNode *node,
									  const StrataExprFrame *frame,
									  ExprVector *out);
extern bool strata_expr_eval_nullif(const StrataExprSource *source,
									ExprNode *node,
									const StrataExprFrame *frame,
									ExprVector *out);
extern bool strata_expr_eval_minmax(const StrataExprSource *source,
									ExprNode *node,
									const StrataExprFrame *frame,
									ExprVector *out);

/* expr_like.c: false likewise. */
extern bool strata_expr_eval_like(const StrataExprSource *source,
								  ExprNode *node,
								  const StrataExprFrame *frame,
								  ExprVector *out);

/* The same as strata_expr_truth(), where its texts lie side by side. */
extern bool strata_expr_like_truth(const StrataExprSource *source,
								   const ExprNode *node,
								   const StrataExprFrame *frame,
								   uint8 *truth);

/*
 * expr_other.c: a node that PostgreSQL evaluates; false: it is guarded, and
 * raised an error, which is as if a kernel had failed.
 */
extern bool strata_expr_eval_other(const StrataExprSource *source,
								   ExprNode *node,
								   const StrataExprFrame *frame,
								   ExprVector *out);

/*
 * Such a node of one column that has a dictionary, into a column that has one;
 * false: it is none.
 */
extern bool strata_expr_eval_dictionary(const StrataExprSource *source,
										ExprNode *node,
										const StrataExprFrame *frame,
										int nrows, StrataColumn *result);

/* The same as strata_expr_truth() of such a node; false: it is none. */
extern bool strata_expr_other_truth(const StrataExprSource *source,
									ExprNode *node,
									const StrataExprFrame *frame,
									uint8 *truth);

/* Evaluate a node of PostgreSQL's for each row, for the errors it raises. */
extern void strata_expr_eval_errors(const StrataExprSource *source,
									ExprNode *node,
									const StrataExprFrame *frame);

/*
 * The same as strata_expr_may_raise_error(), of what is evaluated in its turn:
 * functions that say something of their arguments are trusted, too; and of
 * usual times those that raise none of these (expr_range.c).
 */
extern bool strata_expr_node_raises(Node *node, bool usual_times);

/*
 * Is all that node calls the server's own code, which an error leaves in a
 * state that allows to evaluate other expressions before it is reported?
 */
extern bool strata_expr_can_be_guarded(Node *node);

static inline int
expr_row(const StrataExprFrame *frame, int i)
{
	Assert(i >= 0 && i < frame->n); /* expr:E1 */
	return frame->rows != NULL ? frame->rows[i] : frame->first + i;
}

static inline bool
expr_is_null(const ExprVector *vector, int i)
{
	return vector->null != NULL && vector->null[i];
}

/* A value as a Datum of the node's type, into eight bytes. */
static inline void
expr_put(const ExprNode *node, void *v, int i, Datum value)
{
	if (node->class == EXPR_FLOAT)
		((float8 *) v)[i] = node->typlen == sizeof(float4) ?
			(float8) DatumGetFloat4(value) :
			DatumGetFloat8(value);
	else if (node->class == EXPR_DATUM || node->typlen == sizeof(int64))
		((Datum *) v)[i] = value;
	else
		((int64 *) v)[i] = node->typlen == 1 ? (int64) DatumGetChar(value) :
			strata_datum_integer(value, node->typlen);
}

#endif							/* STRATA_EXPR_PRIVATE_H */
