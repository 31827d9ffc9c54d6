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
 * What rows that come now are to be: what their table says
 * (strata.direct_load), rows, or, where they can be, batches, also where the
 * table does not ask for it: all, or those of segments that are not tiny.  For
 * who runs an INSERT ... SELECT whose rows he knows; whoever sets it sets it
 * back, also on an error.
 */
typedef enum StrataLoadForm
{
	STRATA_LOAD_AS_SET,
	STRATA_LOAD_ROWS,
	STRATA_LOAD_BATCHES,
	STRATA_LOAD_SEGMENTS
} StrataLoadForm;

extern StrataLoadForm strata_load_form;

/*
 * COPY FROM into a hypertable, or into a table that takes direct loads; false,
 * and nothing done, when the statement is something else.
 */
extern bool strata_copy_from(const CopyStmt *stmt, const char *text,
							 uint64 *processed);

extern void strata_load_init(void);

#endif							/* STRATA_LOAD_H */
