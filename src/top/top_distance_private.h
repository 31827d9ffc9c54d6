/*-------------------------------------------------------------------------
 *
 * top_distance_private.h
 *	  A first key that is a distance.
 *
 * src/top/top_distance_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_TOP_DISTANCE_PRIVATE_H
#define STRATA_TOP_DISTANCE_PRIVATE_H

#include "postgres.h"

#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"

struct StrataTopState;
struct TopValue;

/* A first key that is the distance of a column from a value, of a plan. */
typedef struct StrataTopDistancePlan
{
	Expr	   *expr;			/* all of it; NULL: the first key is a column */
	Var		   *column;
	Expr	   *value;
	Oid			opno;			/* with the column on its left */
	bool		commuted;		/* in expr it is on the right */
} StrataTopDistancePlan;

/* The same when it runs. */
typedef struct StrataTopDistance
{
	AttrNumber	input;			/* the column, from 1 */
	bool		commuted;
	Oid			opno;
	Oid			collation;
	Oid			type;			/* of distances */
	FmgrInfo	function;
	ExprState  *expr;			/* the value */
	int16		typlen;
	bool		typbyval;
	MemoryContext mcxt;			/* of the value */
	MemoryContext work;			/* of distances, for a few rows */
	Datum		value;
	bool		isnull;
} StrataTopDistance;

/*
 * top_distance.c.  Is the key "column <-> value", of a type of which bounds
 * are known?  Has the table an index that gives them?
 */
extern bool strata_top_match_distance(Expr *expr,
									  const SortGroupClause *clause,
									  Index relid,
									  StrataTopDistancePlan *plan);
extern bool strata_top_table_has_distances(Oid relid,
										   const StrataTopDistancePlan *plan,
										   const Var *column);

/* Evaluate the value that distances are from. */
extern void strata_top_distance_start(struct StrataTopState *top);
extern void strata_top_distance_of(struct StrataTopState *top, Datum column,
								   bool isnull, Datum *result,
								   bool *result_isnull);

/* What no row at least so far away is better than; false: not known. */
extern bool strata_top_distance_bound(struct StrataTopState *top, double least,
									  struct TopValue *bound);

/* Rows farther away do not matter. */
extern double strata_top_distance_limit(struct StrataTopState *top);

#endif							/* STRATA_TOP_DISTANCE_PRIVATE_H */
