/*-------------------------------------------------------------------------
 *
 * hook_arbiter.c
 *	  Tells store/ which unique indexes INSERT ... ON CONFLICT decides by.
 *
 * When a row conflicts with compressed rows in two of them, the one the
 * statement names has to be found first; the access method is not told.
 *
 * src/hook/hook_arbiter.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook.h"

#include "executor/executor.h"
#include "nodes/plannodes.h"
#include "store/store.h"

static ExecutorStart_hook_type previous_start = NULL;

static void
note_arbiters(Plan *plan)
{
	if (plan != NULL && IsA(plan, ModifyTable) && ((ModifyTable *) plan)->arbiterIndexes != NIL)
		strata_store_note_arbiters(((ModifyTable *) plan)->arbiterIndexes);
}

static void
start_executor(QueryDesc *query_desc, int eflags)
{
	ListCell   *lc;

	if (query_desc->operation == CMD_INSERT || query_desc->plannedstmt->hasModifyingCTE)
	{
		note_arbiters(query_desc->plannedstmt->planTree);
		foreach(lc, query_desc->plannedstmt->subplans)
			note_arbiters(lfirst(lc));
	}
	if (previous_start != NULL)
		previous_start(query_desc, eflags);
	else
		standard_ExecutorStart(query_desc, eflags);
}

void
strata_hook_arbiter_init(void)
{
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
