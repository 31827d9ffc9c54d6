/*-------------------------------------------------------------------------
 *
 * chunk_route.h
 *	  The node under ModifyTable that makes chunks for the rows of an INSERT.
 *
 * src/hypertable/chunk_route.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CHUNK_ROUTE_H
#define STRATA_CHUNK_ROUTE_H

#include "postgres.h"

#include "executor/execdesc.h"
#include "nodes/extensible.h"
#include "nodes/plannodes.h"

/*
 * Planner: put the node that makes chunks under each INSERT into a hypertable.
 */
extern void strata_route_plan(PlannedStmt *stmt);

/* Executor start: tell these nodes which ModifyTable they feed. */
extern void strata_route_bind(QueryDesc *query_desc);

/*
 * False in the statement that loaded the library: its INSERT was planned
 * without us.
 */
extern bool strata_route_is_active(void);

/* A node above child that passes its rows on. */
extern CustomScan *strata_make_pass_through(Plan *child,
											const CustomScanMethods *methods);

/* Is it the node that makes chunks? */
extern bool strata_route_is_node(const CustomScan *scan);

#endif							/* STRATA_CHUNK_ROUTE_H */
