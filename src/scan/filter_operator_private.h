/*-------------------------------------------------------------------------
 *
 * filter_operator_private.h
 *	  What an operator is to a column: its strategy, and what the order of the
 *	  column's values says of its result.
 *
 * src/scan/filter_operator_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_FILTER_OPERATOR_PRIVATE_H
#define STRATA_FILTER_OPERATOR_PRIVATE_H

#include "postgres.h"

#include "nodes/primnodes.h"

/* Btree strategies, and <> which btree has no number for. */
#define FILTER_NE 6

/*
 * What the place of a value in the order of a column's type says of "value op
 * comparand"; see filter_order.c.
 */
typedef enum StrataOrder
{
	STRATA_ORDER_NONE,			/* nothing */
	STRATA_ORDER_TOTAL,			/* all: the comparison never falls where the
								 * value rises */
	STRATA_ORDER_LOCAL			/* local time and timestamptz: all but between
								 * two local times */
} StrataOrder;

/* What an operator is to a column on its left. */
typedef struct StrataOperator
{
	Oid			opno;
	Oid			coltype;
	Oid			basetype;		/* of coltype, where that is a domain; else
								 * coltype */
	Oid			opfamily;		/* default btree family of coltype, or
								 * InvalidOid */
	int			strategy;		/* btree strategy in it, FILTER_NE, or 0 */
	StrataOrder order;			/* may it judge a batch by minimum and
								 * maximum? */
	Oid			boundtype;		/* of what bounds are compared with;
								 * righttype, but for STRATA_ORDER_LOCAL */
	Oid			comparison;		/* functions of the family for lefttype and
								 * boundtype, or InvalidOid: order, */
	Oid			same;			/* ... the operator itself, */
	Oid			at_most;		/* ... <=, */
	Oid			at_least;		/* ... >= */
	Oid			opcode;			/* InvalidOid: no such operator; nothing below
								 * is set */
	Oid			lefttype;		/* declared input types */
	Oid			righttype;
	bool		strict;
	bool		is_volatile;
	bool		leakproof;
} StrataOperator;

/* filter_operator.c */
extern void strata_operator_get(Oid opno, Oid coltype, StrataOperator *op);

/* filter_order.c */
extern StrataOrder strata_operator_order(Oid opcode, Oid opfamily,
										 Oid lefttype, Oid righttype);
extern void strata_local_bounds(Datum value, Datum *low, Datum *high);

/* A comparison of a column of the scanned relation, as the planner sees it. */
typedef struct StrataColumnOp
{
	AttrNumber	attno;
	StrataOperator op;			/* column on the left */
	int			strategy;		/* of op; the negated one where a NOT is
								 * around it */
	Oid			collation;		/* of the comparison */
	bool		column_order;	/* compares as the column itself is ordered
								 * (STRATA_ORDER_TOTAL) */
	bool		bounded;		/* that, or STRATA_ORDER_LOCAL: bounds of the
								 * column prune */
	bool		is_array;		/* value is an array: = ANY or <> ALL */
	Expr	   *value;
} StrataColumnOp;

/*
 * Is clause "column op value" (either way round; or = ANY, <> ALL), with op in
 * the default btree family of the column's type and a value free of columns of
 * relation varno, volatile functions and subplans?
 */
extern bool strata_match_column_op(Expr *clause, Index varno,
								   StrataColumnOp *match);

#endif							/* STRATA_FILTER_OPERATOR_PRIVATE_H */
