/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  What settings a background worker of ours works with.
 *
 * A worker starts with the settings of its database, which are there for the
 * sessions of users: a database that is read-only by default, has a short
 * lock_timeout or a search_path of its own still wants its chunks made, its
 * jobs started and its tables vacuumed.
 *
 * src/base/worker.c
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/base.h"
#include "base/compat.h"

#include "utils/guc.h"

static const char *const pinned[][2] = {
	{"default_table_access_method", "heap"},
	{"default_tablespace", ""},
	{"default_transaction_deferrable", "off"},
	{"default_transaction_isolation", "read committed"},
	{"default_transaction_read_only", "off"},
	{"idle_in_transaction_session_timeout", "0"},
	{"lock_timeout", "0"},
	{"row_security", "on"},
	{"search_path", "pg_catalog, pg_temp"},
	{"session_replication_role", "origin"},
	{"statement_timeout", "0"},
	{"temp_tablespaces", ""},
};

/* See base.h. */
void
strata_worker_pin_settings(void)
{
	Assert(strata_in_background_worker());	/* base:A2 */
	for (int i = 0; i < lengthof(pinned); i++)
		SetConfigOption(pinned[i][0], pinned[i][1], PGC_SUSET, PGC_S_OVERRIDE);
}
