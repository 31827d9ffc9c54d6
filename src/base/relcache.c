/*-------------------------------------------------------------------------
 *
 * relcache.c
 *	  One relcache callback for all of us.
 *
 * PostgreSQL has room for ten in a process, and asks for up to six of them
 * itself (a walsender or apply worker takes four); whoever comes after the
 * tenth is told so with a FATAL error.
 *
 * src/base/relcache.c
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/base.h"

#include "utils/inval.h"

#define MAX_CALLBACKS 16

static StrataRelcacheCallback callbacks[MAX_CALLBACKS];
static int	ncallbacks = 0;

static void
call_all(Datum arg, Oid relid)
{
	Assert(ncallbacks > 0 && ncallbacks <= MAX_CALLBACKS);	/* base:A4 */
	for (int i = 0; i < ncallbacks; i++)
		callbacks[i] (arg, relid);
}

/* See base.h. */
void
strata_relcache_callback_add(StrataRelcacheCallback callback)
{
	if (ncallbacks == MAX_CALLBACKS)
		elog(ERROR, "too many relcache callbacks");
	Assert(ncallbacks == 0 ||
		   callbacks[ncallbacks - 1] != callback);	/* base:A4 */
	if (ncallbacks == 0)
		CacheRegisterRelcacheCallback(call_all, (Datum) 0);
	callbacks[ncallbacks++] = callback;
}
