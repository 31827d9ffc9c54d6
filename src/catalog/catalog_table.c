/*-------------------------------------------------------------------------
 *
 * catalog_table.c
 *	  Statements on the extension's own tables, as their owner.
 *
 * Ordinary roles have no rights on these tables.  Whoever calls has checked
 * who may do what.
 *
 * src/catalog/catalog_table.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog_private.h"

#include "catalog/namespace.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* See catalog_private.h. */
void
strata_arg_add(StrataTableArgs *args, Oid type, Datum value,
			   bool isnull)
{
	Assert(args->n < STRATA_TABLE_MAX_ARGS);	/* catalog:T4 */
	args->types[args->n] = type;
	args->values[args->n] = value;
	args->nulls[args->n] = isnull ? 'n' : ' ';
	args->n++;
}

/* See catalog_private.h. */
void
strata_arg_text(StrataTableArgs *args, const char *value)
{
	strata_arg_add(args, TEXTOID,
				   value != NULL ? CStringGetTextDatum(value) :
				   (Datum) 0,
				   value == NULL);
}

/* One of our tables, which all have the same owner; InvalidOid: none. */
static Oid
own_table(const char *name)
{
	Oid			schema = get_namespace_oid(STRATA_INTERNAL_SCHEMA, true);

	return OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;
}

/* See catalog.h. */
bool
strata_job_tables_exist(void)
{
	return OidIsValid(get_extension_oid(STRATA_EXTENSION, true)) &&
		OidIsValid(own_table("job")) && OidIsValid(own_table(STRATA_SPACE_QUEUE));
}

/* See catalog.h. */
Oid
strata_job_relation(void)
{
	return own_table("job");
}

/* See catalog.h. */
Oid
strata_space_queue_relation(void)
{
	return own_table(STRATA_SPACE_QUEUE);
}

/* See catalog_private.h. */
Oid
strata_rollup_relation(const char *name)
{
	return own_table(name);
}

/* See catalog.h. */
bool
strata_job_tables_lock(void)
{
	Oid			extension = get_extension_oid(STRATA_EXTENSION, true);

	if (!OidIsValid(extension))
		return false;
	LockDatabaseObject(ExtensionRelationId, extension, 0, AccessShareLock);
	return strata_job_tables_exist();
}

/* See catalog_private.h. */
void
strata_tables_enter(StrataTablesContext *saved)
{
	Oid			relid = own_table("job");
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("extension \"%s\" is not installed in this database",
						STRATA_EXTENSION)));
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	saved->mcxt = CurrentMemoryContext;
	strata_role_enter(owner, &saved->owner);
	Assert(GetUserId() == owner);	/* catalog:T4 */
	(void) set_config_option("row_security", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
}

/* See catalog_private.h. */
void
strata_tables_leave(StrataTablesContext *saved)
{
	Assert(InSecurityRestrictedOperation());	/* catalog:T4 */
	SPI_finish();
	strata_owner_leave(&saved->owner);
}

/* See catalog_private.h. */
void
strata_tables_execute(const char *sql, StrataTableArgs *args, int expected)
{
	int			result = strata_sql_execute(sql, args->n, args->types,
											args->values, args->nulls, false);

	Assert(InSecurityRestrictedOperation());	/* catalog:T4 */
	if (result != expected)
		elog(ERROR, "statement on the extension's tables gave %s: %s",
			 SPI_result_code_string(result), sql);
}

/* See catalog_private.h. */
Datum
strata_table_column(HeapTuple tuple, int number, bool *isnull)
{
	return SPI_getbinval(tuple, SPI_tuptable->tupdesc, number, isnull);
}
