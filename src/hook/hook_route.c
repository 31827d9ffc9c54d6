/*-------------------------------------------------------------------------
 *
 * hook_route.c
 *	  Hypertables in planning and executor start: chunks on demand, now(); and
 *	  direct loads.
 *
 * src/hook/hook_route.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook.h"
#include "base/base.h"
#include "hypertable/hypertable.h"
#include "load/load.h"

#include "executor/executor.h"
#include "optimizer/planner.h"

static planner_hook_type previous_planner = NULL;
static ExecutorStart_hook_type previous_start = NULL;

static PlannedStmt *
plan(Query *query, const char *text, int cursor_options, ParamListInfo params)
{
	PlannedStmt *stmt;
	bool		direct_load;
	const char *obstacle;

	strata_unique_key_done();
	/* the planner may scribble on the query, and so do we */
	strata_now_add_quals(query);
	obstacle = strata_load_query_obstacle(query, &direct_load);
	stmt = previous_planner ? previous_planner(query, text, cursor_options, params) :
		standard_planner(query, text, cursor_options, params);
	if (direct_load)
		strata_load_plan(stmt, obstacle);
	strata_route_plan(stmt);
	return stmt;
}

static void
start(QueryDesc *query_desc, int eflags)
{
	if (previous_start)
		previous_start(query_desc, eflags);
	else
		standard_ExecutorStart(query_desc, eflags);
	strata_route_bind(query_desc);
	strata_load_bind(query_desc);
}

/* Before hook_stale_plan.c, whose plans made anew must pass here too. */
void
strata_hook_route_init(void)
{
	previous_planner = planner_hook;
	planner_hook = plan;
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = start;
}
