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
 * Executor, when rows were changed: an error if an UPDATE or DELETE that names
 * one ctid of a hypertable changed rows of several chunks (chunk_ctid.c).
 */
extern void strata_route_check_ctid(const QueryDesc *query_desc);

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

/*
 * ORDER BY time LIMIT n (chunk_turns.c).  begin, before the planner: have the
 * query read the first chunks alone, if it asks for the first rows of many
 * chunks in the order of time.  Returns what plan is handed with its plan, or
 * NIL, and then the query is as it was.  original: the query as it came; it is
 * kept.
 *
 * plan: put the node over the plan that goes on with the other chunks.  False:
 * the plan is not what was expected, and the query has to be planned anew.
 */
extern List *strata_turns_begin(Query *query, Query *original,
								int cursor_options, ParamListInfo params);
extern bool strata_turns_plan(PlannedStmt *stmt, List *turns);

#endif							/* STRATA_CHUNK_ROUTE_H */
