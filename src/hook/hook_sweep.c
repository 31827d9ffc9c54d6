/*-------------------------------------------------------------------------
 *
 * hook_sweep.c
 *	  Tells the scan below a DELETE that it may delete whole batches itself.
 *
 * src/hook/hook_sweep.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook.h"

#include "executor/executor.h"
#include "scan/scan.h"

static ExecutorStart_hook_type previous_start = NULL;

static void
start_executor(QueryDesc *query_desc, int eflags)
{
	ListCell   *lc;

	if (previous_start != NULL)
		previous_start(query_desc, eflags);
	else
		standard_ExecutorStart(query_desc, eflags);
	if (query_desc->operation != CMD_DELETE && !query_desc->plannedstmt->hasModifyingCTE)
		return;
	strata_scan_allow_sweep(query_desc->planstate);
	foreach(lc, query_desc->estate->es_subplanstates)
		strata_scan_allow_sweep(lfirst(lc));
}

void
strata_hook_sweep_init(void)
{
	previous_start = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
