/*-------------------------------------------------------------------------
 *
 * load.h
 *	  Rows that come in bulk: COPY and INSERT ... SELECT.
 *
 * src/load/load.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_LOAD_H
#define STRATA_LOAD_H

#include "postgres.h"

#include "executor/execdesc.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"

/*
 * Direct load, load_plan.c.  Planner: does the query insert into a table that
 * wants it (before planning, which scribbles on the query), and what is
 * against it; then mark its plan.  Executor start: take over ModifyTable.
 */
extern bool strata_load_is_wanted(Relation rel);
extern const char *strata_load_query_obstacle(Query *query, bool *wanted);
extern void strata_load_plan(PlannedStmt *stmt, const char *obstacle);
extern void strata_load_bind(QueryDesc *query_desc);

/*
 * COPY FROM into a hypertable, or into a table that takes direct loads; false,
 * and nothing done, when the statement is something else.
 */
extern bool strata_copy_from(const CopyStmt *stmt, const char *text,
							 uint64 *processed);

extern void strata_load_init(void);

#endif							/* STRATA_LOAD_H */
