/*-------------------------------------------------------------------------
 *
 * strata.c
 *	  Entry point: initialises the layers bottom up and wires the hooks.
 *
 * src/strata.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg.h"
#include "top/top.h"
#include "window/window.h"
#include "am/am.h"
#include "base/base.h"
#include "change/change.h"
#include "dedup/dedup.h"
#include "gapfill/gapfill.h"
#include "hook/hook.h"
#include "hypertable/hypertable.h"
#include "job/job.h"
#include "load/load.h"
#include "scan/scan.h"
#include "stat/stat.h"
#include "track/track.h"

#include "fmgr.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

/* Called by the server when it has loaded the library. */
void
_PG_init(void)
{
	strata_base_init();
	strata_memory_init();
	strata_stat_init();
	strata_track_init();
	strata_moved_init();
	strata_fetch_init();
	strata_touched_init();
	strata_sweep_init();
	strata_am_init();
	strata_dedup_init();
	strata_scan_init();
	strata_gapfill_init();
	strata_hypertable_init();
	strata_load_init();
	strata_agg_init();
	strata_top_init();
	strata_window_init();
	strata_job_init();
	strata_hooks_init();
}
