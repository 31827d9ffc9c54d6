/*-------------------------------------------------------------------------
 *
 * strata.c
 *	  Entry point: initialises the layers bottom up and wires the hooks.
 *
 * src/strata.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"
#include "am/am.h"
#include "base/base.h"
#include "change/change.h"
#include "gapfill/gapfill.h"
#include "hook/hook.h"
#include "hypertable/hypertable.h"
#include "job/job.h"
#include "load/load.h"
#include "scan/scan.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

void
_PG_init(void)
{
	strata_base_init();
	strata_moved_init();
	strata_fetch_init();
	strata_sweep_init();
	strata_am_init();
	strata_scan_init();
	strata_gapfill_init();
	strata_hypertable_init();
	strata_load_init();
	strata_agg_init();
	strata_job_init();
	strata_hook_apply_init();
	strata_hook_object_init();
	strata_hook_permission_init();
	strata_hook_planner_init();
	strata_hook_publication_init();
	strata_hook_route_init();
	strata_hook_stale_plan_init();
	strata_hook_sweep_init();
	strata_hook_torture_init();
	strata_hook_upsert_init();
	strata_hook_utility_init();
	strata_hook_wire_init();
}
