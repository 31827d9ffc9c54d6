/*-------------------------------------------------------------------------
 *
 * gapfill_private.h
 *	  What the files of src/gapfill share.
 *
 * src/gapfill/gapfill_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_GAPFILL_PRIVATE_H
#define STRATA_GAPFILL_PRIVATE_H

#include "base/base.h"
#include "gapfill/gapfill.h"
#include "time/time.h"

#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/primnodes.h"

/*
 * Name of the range table entry that the middle level reads.  Who writes a
 * query may give the name to a subquery of his own, so ours has it where
 * subqueries have none, too.
 */
#define STRATA_GAPFILL_ALIAS "*GAPFILL*"

static inline bool
strata_gapfill_is_input(const RangeTblEntry *rte)
{
	return rte->rtekind == RTE_SUBQUERY && rte->enrname != NULL &&
		strcmp(rte->enrname, STRATA_GAPFILL_ALIAS) == 0;
}

/* Which of our functions is it? */
typedef enum GapfillFunction
{
	GAPFILL_NONE,
	GAPFILL_BUCKET,
	GAPFILL_LOCF,
	GAPFILL_INTERPOLATE
} GapfillFunction;

extern GapfillFunction strata_gapfill_function(Oid funcid);

/* The same for any node; GAPFILL_NONE for what is no call. */
extern GapfillFunction strata_gapfill_node(const Node *node);

/* A copy of the call with names resolved and defaults put in. */
extern FuncExpr *strata_gapfill_complete(const FuncExpr *call);

/* Arguments of a complete call of time_bucket_gapfill; zone may be NULL. */
typedef struct GapfillCall
{
	Oid			type;			/* of the times */
	Expr	   *width;
	Expr	   *time;
	Expr	   *zone;
	Expr	   *start;
	Expr	   *finish;
} GapfillCall;

extern void strata_gapfill_call_get(const FuncExpr *func, GapfillCall *call);

/*
 * gapfill_rewrite.c: make three levels of a query that needs it; was it one?
 */
extern bool strata_gapfill_rewrite_query(Query *query);

/*
 * gapfill_bound.c: sets call's start and finish from WHERE where they are not
 * given.
 */
extern void strata_gapfill_bounds(Query *query, GapfillCall *call);

/* gapfill_sequence.c: the buckets between start and finish, in order */
typedef struct GapfillSequence
{
	bool		zoned;
	StrataBucket rule;			/* without a zone */
	StrataZoneBucket zone;		/* with one */
	int64		finish;			/* exclusive */
	int64		first;			/* first start */
	int64		next;			/* next start */
	bool		more;
} GapfillSequence;

/* Takes what the arguments of the call have come to; ereports on bad ones. */
extern void strata_gapfill_sequence_init(GapfillSequence *seq, Oid type,
										 NullableDatum width, bool zoned,
										 NullableDatum zone,
										 NullableDatum start,
										 NullableDatum finish);
extern void strata_gapfill_sequence_reset(GapfillSequence *seq);
extern bool strata_gapfill_sequence_next(GapfillSequence *seq, int64 *bucket);

/* gapfill_fill.c: one call of locf or interpolate */
typedef struct GapfillFill GapfillFill;

/* args: the arguments of the call, with references to our scan tuple */
extern GapfillFill *strata_gapfill_fill_create(GapfillFunction function,
											   Oid type, Oid time_type,
											   List *args, PlanState *parent);
extern void strata_gapfill_fill_begin(GapfillFill *fill, ExprContext *context);
extern void strata_gapfill_fill_group(GapfillFill *fill);

/*
 * The row that comes next; its value is computed in the current memory
 * context.
 */
extern void strata_gapfill_fill_ahead(GapfillFill *fill, ExprContext *context);

/* The column for that row; time is NULL for a row without. */
extern NullableDatum strata_gapfill_fill_row(GapfillFill *fill,
											 ExprContext *context,
											 const int64 *time,
											 MemoryContext group);

/*
 * The column for an empty bucket; ahead: time of the next row of the group or
 * NULL.
 */
extern NullableDatum strata_gapfill_fill_gap(GapfillFill *fill,
											 ExprContext *context, int64 time,
											 const int64 *ahead,
											 MemoryContext group);

/*
 * What the node is to do: its plan carries it (gapfill_plan_data.c), beside
 * custom_exprs, a list of lists of expressions.  Columns are the child's.
 */
typedef struct GapfillPlanData
{
	Oid			type;			/* of the times */
	bool		zoned;			/* the call has a zone */
	int			bucket_column;
	List	   *keys;			/* columns of the group */
	List	   *equals;			/* their equality operators */
	List	   *kept;			/* columns that are the same in all rows of a
								 * group */
	List	   *fills;			/* GapfillFunction of each call of locf and
								 * interpolate */
} GapfillPlanData;

/* What is read shares the plan's lists. */
extern void strata_gapfill_plan_write(CustomScan *cscan,
									  const GapfillPlanData *data);
extern void strata_gapfill_plan_read(const CustomScan *cscan,
									 GapfillPlanData *data);

extern CustomScanMethods strata_gapfill_scan_methods;

#endif							/* STRATA_GAPFILL_PRIVATE_H */
