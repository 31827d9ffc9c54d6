/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  How a background worker of ours is started, and with what settings it
 *	  works.
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

#include "postmaster/bgworker.h"
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

/* See base.h. */
void
strata_worker_describe(BackgroundWorker *worker)
{
	memset(worker, 0, sizeof(*worker));
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker->bgw_library_name, "strata", BGW_MAXLEN);
}
