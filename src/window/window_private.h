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

#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

/*
 * Values of more rows back are not kept, and of fewer where these may be of
 * any length: they stay in memory.
 */
#define STRATA_WINDOW_MAX_LAG 1000
#define STRATA_WINDOW_MAX_LONG_LAG 8

typedef enum WindowKind
{
	WINDOW_ROW_NUMBER,
	WINDOW_LAG,
	WINDOW_FIRST_VALUE
} WindowKind;

/* A function of a plan. */
typedef struct WindowCall
{
	WindowKind	kind;
	int			column;			/* of the child, from 0: its argument */
	int			offset;			/* lag: so many rows back */
	int			fallback;		/* lag: number of its default among the plan's
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
	int			nkeys;			/* of PARTITION BY: */
	int		   *keys;			/* columns, from 0 */
	Oid		   *eqops;
	Oid		   *collations;
} WindowPlan;

/*
 * window_plan_data.c: a path over the WindowAgg's own input; funcs are the
 * WindowFuncs it computes, which strata_window_can_call() all, keys IntList
 * and eqops and collations OidLists.
 */
extern void strata_window_path_set_data(CustomPath *path, List *inputs,
										List *funcs, List *keys, List *eqops,
										List *collations);
extern bool strata_window_can_call(const WindowFunc * func,
								   const WindowClause * clause, List *inputs);
extern void strata_window_plan_read(const CustomScan *cscan, WindowPlan *plan);

extern const CustomPathMethods strata_window_path_methods;
extern const CustomScanMethods strata_window_scan_methods;

#endif							/* STRATA_WINDOW_PRIVATE_H */
