/*-------------------------------------------------------------------------
 *
 * hook_upsert.c
 *	  Tells the access method that an INSERT ... ON CONFLICT is under way.
 *
 * Before it inserts, it looks for conflicts in indexes where compressed rows
 * have no entries; am/am_uncover.c moves them there in time.
 *
 * src/hook/hook_upsert.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook.h"

#include "executor/executor.h"
#include "nodes/plannodes.h"
#include "change/change.h"

static ExecutorStart_hook_type previous_start = NULL;

static bool
is_upsert(Plan *plan)
{
	return plan != NULL && IsA(plan, ModifyTable) &&
		((ModifyTable *) plan)->onConflictAction != ONCONFLICT_NONE;
}

static void
start_executor(QueryDesc *query_desc, int eflags)
{
	ListCell   *lc;

	if (query_desc->operation == CMD_INSERT || query_desc->plannedstmt->hasModifyingCTE)
	{
		if (is_upsert(query_desc->plannedstmt->planTree))
			strata_store_note_upsert();
		foreach(lc, query_desc->plannedstmt->subplans)
			if (is_upsert(lfirst(lc)))
				strata_store_note_upsert();
	}
	if (previous_start != NULL)
		previous_start(query_desc, eflags);
	else
		standard_ExecutorStart(query_desc, eflags);
}

void
strata_hook_upsert_init(void)
{
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
