/*-------------------------------------------------------------------------
 *
 * window_private.h
 *	  What a StrataWindow computes: paths, plans, the node.
 *
 * src/window/window_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_WINDOW_PRIVATE_H
#define STRATA_WINDOW_PRIVATE_H

#include "postgres.h"

#include "batch/batch_reader.h"
#include "expr/expr.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/*
 * Values of rows farther off are not kept, and of nearer ones only where these
 * may be of any length: they stay in memory.
 */
#define STRATA_WINDOW_MAX_LAG 1000
#define STRATA_WINDOW_MAX_LONG_LAG 8

/* So many rows are looked at together, at most. */
#define STRATA_WINDOW_ROWS 1024

typedef enum WindowKind
{
	WINDOW_ROW_NUMBER,
	WINDOW_RANK,
	WINDOW_DENSE_RANK,
	WINDOW_LAG,
	WINDOW_LEAD,
	WINDOW_FIRST_VALUE
} WindowKind;

/* A function of a plan. */
typedef struct WindowCall
{
	WindowKind	kind;
	int			column;			/* of the child, from 0: its argument */
	int			offset;			/* lag, lead: so many rows off */
	int			fallback;		/* ... number of the default among the plan's
								 * expressions; -1: none */
	Oid			winfnoid;
} WindowCall;

/* What a plan is to do. */
typedef struct WindowPlan
{
	int			ninputs;		/* columns of the child, which come first in
								 * the scan tuple; those of calls follow */
	int			ncalls;
	WindowCall *calls;
	int			nkeys;			/* of PARTITION BY, */
	int			norder;			/* and of ORDER BY behind them, if functions
								 * ask for peers: */
	int		   *keys;			/* columns, from 0 */
	Oid		   *eqops;
	Oid		   *collations;
	List	   *quals;			/* from above; their Vars are columns of the
								 * result, INDEX_VAR */
} WindowPlan;

/* A column of PARTITION BY, or of ORDER BY. */
typedef struct WindowKey
{
	int			column;
	Oid			collation;
	FmgrInfo	eq;
} WindowKey;

/*
 * Rows of the child, in its order: those from at on, n of them, are looked at
 * together, and around them are those that functions need.
 */
typedef struct WindowRows
{
	PlanState  *child;
	bool		started;
	bool		sorted;			/* a StrataSort, which gives columns */
	bool		ended;			/* the child has no more rows */
	int			ninputs;
	StrataColumn *columns;		/* with room for size rows: of the child's, */
	int			ncalls;			/* ... and of what functions say */
	bool	  **nulls;			/* of each: its null flags */
	int64	   *numbers;		/* of rows in their partitions, from 1 */
	int64	   *ranks;			/* ... of their first peers; NULL: not asked */
	int64	   *dense_ranks;	/* ... of their peers among others */
	uint8	   *flags;			/* for a moment: which rows are which */
	int			behind;			/* so many rows before are needed, and */
	int			ahead;			/* ... so many after */
	int			size;
	int			at;
	int			n;
	int			filled;
	int			step;			/* so many are looked at next */
	int			nkeys;
	int			norder;
	WindowKey  *keys;			/* those of ORDER BY behind the others */
	MemoryContext mcxt;			/* of columns */
	MemoryContext work;			/* reset for each row that is returned */
	MemoryContext kept[2];		/* values by reference, not of a sort, in turn */
	int64		kept_bytes[2];
	int			turn;			/* which of the two */
	int			fresh_from;		/* ... has those of rows from this one on */
} WindowRows;

/* A function as it is computed. */
typedef struct WindowFunction
{
	WindowCall	call;
	int			fallback;		/* lag, lead: the column of its default, or */
	Datum		fallback_value; /* ... -1: this */
	bool		fallback_isnull;
	Datum		first;			/* first_value: of the partition that goes on */
	bool		first_isnull;
} WindowFunction;

/* A column of the result. */
typedef struct WindowResult
{
	int			column;			/* of WindowRows; -1: */
	StrataExpr *expr;			/* ... NULL: a constant */
	bool		late;			/* computed for rows that pass only */
	StrataColumn *values;
	StrataColumn own;			/* of a constant, or an expression */
} WindowResult;

/* The result by columns, and which rows of it pass. */
typedef struct WindowOutput
{
	PlanState  *node;
	WindowRows *rows;
	bool		known;			/* every column can be had so */
	int			nresults;
	WindowResult *results;
	StrataExpr *run;			/* the node's qual, a run condition; or NULL */
	bool		done;			/* which is true of no rows that follow */
	StrataExpr *filter;			/* conditions from above; or NULL */
	MemoryContext mcxt;			/* reset for each time */
	TupleTableSlot *slot;		/* of the result */
	TupleTableSlot *scan_slot;
	bool		valid;			/* results are those of the rows; false: the
								 * node's projection makes them */
	int			npassed;
	uint16	   *passed;			/* numbers of rows */
	int64		nleft_out;
} WindowOutput;

/*
 * window_plan_data.c: a path over the WindowAgg's own input; funcs are the
 * WindowFuncs it computes, which strata_window_can_call() all, keys IntList
 * and eqops and collations OidLists, the last norder of them of ORDER BY; run
 * are conditions on funcs.
 */
extern void strata_window_path_set_data(CustomPath *path, List *inputs,
										List *funcs, List *keys, List *eqops,
										List *collations, int norder,
										List *run);
extern bool strata_window_can_call(const WindowFunc * func,
								   const WindowClause * clause, List *inputs);

/* How many rows such a function looks ahead. */
extern int64 strata_window_rows_ahead(const WindowFunc * func,
									  const WindowClause * clause,
									  List *inputs);
extern void strata_window_plan_read(const CustomScan *cscan, WindowPlan *plan);

/* The same path with conditions that its rows have to pass, see quals. */
extern CustomPath *strata_window_path_filter(CustomPath *path, List *quals);

/*
 * window_rows.c.  next: look at the next rows; false: there are none.  reset:
 * begin anew, with the child.
 */
extern void strata_window_rows_init(WindowRows *rows, CustomScanState *node,
									const WindowPlan *plan);
extern bool strata_window_rows_next(WindowRows *rows);
extern void strata_window_rows_reset(WindowRows *rows);

/*
 * window_call.c.  What the functions say of the rows that are looked at; what
 * they keep of them, before these go; and forget that, before rows are reset.
 */
extern void strata_window_call_compute(WindowFunction *functions,
									   WindowRows *rows);
extern void strata_window_call_keep(WindowFunction *functions,
									WindowRows *rows);
extern void strata_window_call_reset(WindowFunction *functions,
									 WindowRows *rows);

/*
 * window_output.c.  compute: which of the rows pass, and the results of those
 * that do.  load: the result of a row, in the slot that is returned.
 */
extern void strata_window_output_init(WindowOutput *output,
									  CustomScanState *node,
									  WindowRows *rows, List *quals);
extern void strata_window_output_compute(WindowOutput *output);
extern TupleTableSlot *strata_window_output_load(WindowOutput *output,
												 int row);

extern const CustomPathMethods strata_window_path_methods;
extern const CustomScanMethods strata_window_scan_methods;

#endif							/* STRATA_WINDOW_PRIVATE_H */
