/*-------------------------------------------------------------------------
 *
 * chunk_apply.c
 *	  Chunks for rows that logical replication brings.
 *
 * Apply and table synchronization workers route rows themselves, and nothing of
 * ours stands between a row and the look-up of its partition: the row fails,
 * the worker ends, and PostgreSQL starts it again after
 * wal_retrieve_retry_interval.  So we make use of the failure: the error says
 * which table and which key, a background worker makes the chunk, and the next
 * attempt finds it.
 *
 * While an error is being reported nothing can be looked up; so the worker is
 * only told what the error says, in the fields of its registration: schema and
 * table, and the key's value as text.  At worst it makes an empty chunk.
 *
 * src/hypertable/chunk_apply.c
 *-------------------------------------------------------------------------
 */
#include "base/compat.h"
#include "hypertable/hypertable_private.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "replication/logicalworker.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/elog.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

/* The worker's name, up to the value. */
#define NAME_PREFIX "strata chunk maker for a subscription: "

/* In bgw_extra, which is just large enough. */
typedef struct TableName
{
	NameData	schema;
	NameData	table;
} TableName;

StaticAssertDecl(sizeof(TableName) <= BGW_EXTRALEN, "two names fit");

PGDLLEXPORT void strata_chunk_apply_main(Datum arg);

/* The value in "... (column) = (value) ...", whatever the language of the rest; false when cut off. */
static bool
find_value(const char *detail, char *value, size_t size)
{
	const char *start = strstr(detail, ") = (");
	const char *end;

	if (start == NULL)
		return false;
	start += strlen(") = (");
	end = strchr(start, ')');
	if (end == NULL || end == start || (size_t) (end - start) >= size)
		return false;
	memcpy(value, start, end - start);
	value[end - start] = '\0';
	return strcmp(value, "null") != 0 && strstr(value, "...") == NULL;
}

/* See hypertable.h. */
void
strata_apply_failed(const ErrorData *error)
{
	BackgroundWorker worker;
	TableName	name;
	char		value[BGW_MAXLEN - sizeof(NAME_PREFIX) + 1];

	if (error->elevel != ERROR || error->sqlerrcode != ERRCODE_CHECK_VIOLATION || error->funcname == NULL ||
		strcmp(error->funcname, "ExecFindPartition") != 0 || !IsLogicalWorker() || !OidIsValid(MyDatabaseId) ||
		error->schema_name == NULL || error->table_name == NULL || error->detail == NULL ||
		!find_value(error->detail, value, sizeof(value)))
		return;
	memset(&name, 0, sizeof(name));
	namestrcpy(&name.schema, error->schema_name);
	namestrcpy(&name.table, error->table_name);
	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "strata", BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, "strata_chunk_apply_main", BGW_MAXLEN);
	snprintf(worker.bgw_name, BGW_MAXLEN, NAME_PREFIX "%s", value);
	strlcpy(worker.bgw_type, "strata chunk maker", BGW_MAXLEN);
	worker.bgw_main_arg = ObjectIdGetDatum(MyDatabaseId);
	memcpy(worker.bgw_extra, &name, sizeof(name));
	/* without a free slot the next attempt fails, too, and asks again */
	(void) RegisterDynamicBackgroundWorker(&worker, NULL);
}

static void
make_chunk(const TableName *name, const char *value)
{
	Oid			schema = get_namespace_oid(NameStr(name->schema), true);
	Oid			relid = OidIsValid(schema) ? get_relname_relid(NameStr(name->table), schema) : InvalidOid;
	StrataHypertable *ht = OidIsValid(relid) ? strata_hypertable_get(relid) : NULL;
	Oid			input;
	Oid			param;

	if (ht == NULL)
		return;
	getTypeInputInfo(ht->key_type, &input, &param);
	(void) strata_chunk_create(relid, strata_time_from_datum(ht->key_type,
															 OidInputFunctionCall(input, pstrdup(value), param, -1)));
}

/* Entry point of the worker process. */
void
strata_chunk_apply_main(Datum arg)
{
	TableName	name;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	memcpy(&name, MyBgworkerEntry->bgw_extra, sizeof(name));
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(arg), InvalidOid, 0);
	strata_worker_pin_settings();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	make_chunk(&name, MyBgworkerEntry->bgw_name + strlen(NAME_PREFIX));
	PopActiveSnapshot();
	CommitTransactionCommand();
}
