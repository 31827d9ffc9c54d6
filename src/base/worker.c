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

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "utils/guc.h"

/*
 * Those that some versions have only are left out where they are not.  What a
 * damaged page has is not to be compressed as if it were rows, or none.
 */
static const char *const pinned[][2] = {
	{"default_table_access_method", "heap"},
	{"default_tablespace", ""},
	{"default_transaction_deferrable", "off"},
	{"default_transaction_isolation", "read committed"},
	{"default_transaction_read_only", "off"},
	{"exit_on_error", "off"},
	{"idle_in_transaction_session_timeout", "0"},
	{"ignore_checksum_failure", "off"},
	{"lock_timeout", "0"},
	{"restrict_nonsystem_relation_kind", ""},
	{"role", "none"},
	{"row_security", "on"},
	{"search_path", "pg_catalog, pg_temp"},
	{"session_replication_role", "origin"},
	{"statement_timeout", "0"},
	{"temp_tablespaces", ""},
	{"transaction_timeout", "0"},
	{"zero_damaged_pages", "off"},
};

/*
 * A worker without a role is the bootstrap superuser, until its database says
 * otherwise.
 */
static void
pin_session_user(void)
{
	if (GetSessionUserId() == BOOTSTRAP_SUPERUSERID)
		return;
	StartTransactionCommand();
	SetConfigOption("session_authorization",
					GetUserNameFromId(BOOTSTRAP_SUPERUSERID, false),
					PGC_SUSET, PGC_S_OVERRIDE);
	CommitTransactionCommand();
}

static bool
setting_exists(const char *name)
{
	return GetConfigOption(name, true, false) != NULL;
}

/* See base.h. */
void
strata_worker_pin_settings(void)
{
	Assert(strata_in_background_worker());	/* base:A2 */
	for (int i = 0; i < lengthof(pinned); i++)
		if (setting_exists(pinned[i][0]))
			SetConfigOption(pinned[i][0], pinned[i][1], PGC_SUSET,
							PGC_S_OVERRIDE);
	pin_session_user();
}

/* See base.h. */
void
strata_worker_limit_nothing(void)
{
	static const char *const limits[] = {"lock_timeout",
	"transaction_timeout"};

	Assert(IsTransactionState());	/* base:A2 */
	for (int i = 0; i < lengthof(limits); i++)
		if (setting_exists(limits[i]))
			(void) set_config_option(limits[i], "0", PGC_USERSET,
									 PGC_S_SESSION, GUC_ACTION_LOCAL, true, 0,
									 false);
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
