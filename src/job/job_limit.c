/*-------------------------------------------------------------------------
 *
 * job_limit.c
 *	  A limit for one piece of work, so that one table does not take the time
 *	  of all others.
 *
 * What takes longer is canceled, and again each second: code of a user's may
 * catch a cancellation.  A background process that goes on all the same is
 * ended.
 *
 * src/job/job_limit.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "job/job_private.h"

#include "miscadmin.h"
#include "storage/latch.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

static TimeoutId limit_timeout = MAX_TIMEOUTS;
static volatile sig_atomic_t cancels = 0;

/* See job_private.h. */
void
strata_limit_cancel(int times)
{
	if (times > STRATA_MOST_CANCELS && strata_in_background_worker())
		ProcDiePending = true;
	QueryCancelPending = true;
	InterruptPending = true;
	SetLatch(MyLatch);
}

static void
on_timeout(void)
{
	cancels++;
	strata_limit_cancel(cancels);
}

/* See job_private.h. */
void
strata_limit_begin(int ms)
{
	if (limit_timeout == MAX_TIMEOUTS)
		limit_timeout = RegisterTimeout(USER_TIMEOUT, on_timeout);
	cancels = 0;
	enable_timeout_every(limit_timeout,
						 TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													 ms),
						 STRATA_CANCEL_AGAIN_MS);
}

/* See job_private.h. */
bool
strata_limit_end(void)
{
	bool		was_reached;

	disable_timeout(limit_timeout, false);
	was_reached = cancels > 0;
	/* what came too late is for nobody */
	if (was_reached)
		QueryCancelPending = false;
	cancels = 0;
	return was_reached;
}
