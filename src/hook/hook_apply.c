/*-------------------------------------------------------------------------
 *
 * hook_apply.c
 *	  A row that logical replication could not put into a hypertable.
 *
 * src/hook/hook_apply.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "hook/hook_private.h"
#include "hypertable/hypertable.h"

#include "utils/elog.h"

static emit_log_hook_type previous_hook = NULL;

static void
emit_log(ErrorData *error)
{
	if (previous_hook)
		previous_hook(error);
	strata_apply_failed(error);
}

void
strata_hook_apply_init(void)
{
	Assert(emit_log_hook != emit_log);	/* hook:H1 */
	previous_hook = emit_log_hook;
	emit_log_hook = emit_log;
}
