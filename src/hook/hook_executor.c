/*-------------------------------------------------------------------------
 *
 * hook_executor.c
 *	  The executor's hooks: the one place that says what comes before what.
 *
 * src/hook/hook_executor.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"
#include "agg/agg.h"
#include "hypertable/chunk_route.h"
#include "hook/hook.h"
#include "base/base.h"
#include "change/change.h"
#include "hypertable/hypertable.h"
#include "load/load.h"
#include "scan/scan.h"
#include "top/top.h"
#include "window/window.h"

#include "executor/executor.h"
#include "nodes/plannodes.h"

static ExecutorCheckPerms_hook_type previous_check = NULL;
static ExecutorStart_hook_type previous_start = NULL;
static ExecutorRun_hook_type previous_run = NULL;
static ExecutorEnd_hook_type previous_end = NULL;

/* What others refuse is refused; what they allow, we may still. */
static bool
check_permissions(STRATA_CHECK_PERMS_ARGS)
{
	if (previous_check != NULL && !previous_check(STRATA_CHECK_PERMS_PASS))
		return false;
	return strata_permissions_check(STRATA_CHECK_PERMS_PASS);
}

static bool
is_upsert(Plan *plan)
{
	return plan != NULL && IsA(plan, ModifyTable) &&
		((ModifyTable *) plan)->onConflictAction != ONCONFLICT_NONE;
}

/*
 * Before INSERT ... ON CONFLICT inserts, it looks for conflicts in indexes
 * where compressed rows have no entries: am/am_uncover.c, told here, moves
 * them there in time.
 */
static void
note_upserts(const PlannedStmt *stmt)
{
	ListCell   *lc;

	if (stmt->commandType != CMD_INSERT && !stmt->hasModifyingCTE)
		return;
	if (is_upsert(stmt->planTree))
		strata_store_note_upsert();
	foreach(lc, stmt->subplans)
	{
		if (is_upsert(lfirst(lc)))
			strata_store_note_upsert();
	}
}

/* Is what it deletes or changes read by others, a row at a time? */
static bool
is_read(const PlanState *node)
{
	return node != NULL && IsA(node->plan, ModifyTable) &&
		((const ModifyTable *) node->plan)->returningLists != NIL;
}

/* Tell scans below a DELETE that they may delete whole batches themselves. */
static void
allow_sweeps(QueryDesc *query_desc)
{
	ListCell   *lc;

	if (query_desc->operation != CMD_DELETE &&
		!query_desc->plannedstmt->hasModifyingCTE)
		return;
	strata_scan_allow_sweep(query_desc->planstate, false);

	/*
	 * The executor runs them to their end; who reads WITH may look at the
	 * table between two rows.
	 */
	foreach(lc, query_desc->estate->es_subplanstates)
		strata_scan_allow_sweep(lfirst(lc), !is_read(lfirst(lc)));
}

/* The child's column that a column of one of our nodes is; 0: none. */
static AttrNumber
child_column(PlanState *node, AttrNumber resno)
{
	AttrNumber	column = strata_agg_child_column(node, resno);

	if (column == 0)
		column = strata_sort_child_column(node, resno);
	return column != 0 ? column : strata_window_child_column(node, resno);
}

/*
 *	1. The snapshot, then the plan, are made new where they would miss rows;
 *	   all that follows is about that plan.
 *	2. Upserts are noted before anything is executed.
 *	3. The executor, through whoever was in the hook before us, sets up its
 *	   nodes.
 *	4. Nodes learn which others they feed, and which joins and windows they
 *	   are below: they have to be there.
 */
static void
executor_start(QueryDesc *query_desc, int eflags)
{
	strata_stale_snapshot_renew(query_desc);
	strata_stale_plan_renew(query_desc);
	note_upserts(query_desc->plannedstmt);
	strata_explain_note_start(query_desc);
	if (previous_start != NULL)
		previous_start(query_desc, eflags);
	else
		standard_ExecutorStart(query_desc, eflags);
	strata_route_bind(query_desc);
	strata_load_bind(query_desc);
	allow_sweeps(query_desc);
	strata_scan_bind_joins(query_desc->planstate, child_column);
	strata_scan_bind_subplans(query_desc->planstate);
	strata_scan_bind_windows(query_desc->planstate);
}

/*
 * Our receiver of rows is the innermost: others see the client's when it is
 * over.
 */
static void
executor_run(QueryDesc *query_desc, ScanDirection direction,
			 uint64 count STRATA_EXECUTE_ONCE_PARAMETER)
{
	DestReceiver *client = strata_wire_replace_receiver(query_desc);

	if (count == 0 && query_desc->operation == CMD_DELETE)
		strata_scan_allow_sweep(query_desc->planstate, true);
	if (previous_run != NULL)
		previous_run(query_desc, direction, count STRATA_EXECUTE_ONCE);
	else
		standard_ExecutorRun(query_desc, direction, count STRATA_EXECUTE_ONCE);
	strata_wire_give_back(query_desc, client);
	strata_route_check_ctid(query_desc);
}

/*
 * What a statement wrote to is read off before, and compressed after, it has
 * ended.
 */
static void
executor_end(QueryDesc *query_desc)
{
	List	   *written = strata_torture_list(query_desc);

	if (previous_end != NULL)
		previous_end(query_desc);
	else
		standard_ExecutorEnd(query_desc);
	strata_torture_tables(written);
}

void
strata_executor_hooks_init(void)
{
	Assert(ExecutorStart_hook != executor_start);	/* hook:H1 */
	previous_check = ExecutorCheckPerms_hook;
	ExecutorCheckPerms_hook = check_permissions;
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = executor_start;
	previous_run = ExecutorRun_hook;
	ExecutorRun_hook = executor_run;
	previous_end = ExecutorEnd_hook;
	ExecutorEnd_hook = executor_end;
}

/* See hook.h. */
void
strata_hooks_init(void)
{
	strata_executor_hooks_init();
	strata_planner_hooks_init();
	strata_object_hook_init();
	strata_utility_hook_init();
	strata_explain_hook_init();
}
