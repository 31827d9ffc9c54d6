/*-------------------------------------------------------------------------
 *
 * catalog_distributed.c
 *	  Tables that Citus has distributed: this server has no row of them.
 *
 * Citus documents the catalog that lists them, pg_catalog.pg_dist_partition,
 * with their OIDs in its column logicalrelid.  The table of that name is a
 * shell: its rows are in tables of other names, the shards, here or elsewhere.
 *
 * src/catalog/catalog_distributed.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog.h"

#include "access/genam.h"
#include "access/skey.h"
#include "access/table.h"
#include "catalog/pg_namespace.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* The list of distributed tables; InvalidOid: this database has none. */
static Oid
distributed_tables(void)
{
	return get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
}

/* See catalog.h. */
bool
strata_database_may_distribute(void)
{
	return OidIsValid(distributed_tables());
}

/* See catalog.h. */
bool
strata_table_is_distributed(Oid relid)
{
	Oid			list = distributed_tables();
	AttrNumber	attno;
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	bool		found;

	if (!OidIsValid(list))
		return false;
	attno = get_attnum(list, "logicalrelid");
	if (attno <= 0)
		return false;
	rel = table_open(list, AccessShareLock);
	ScanKeyInit(&key, attno, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	/* few rows; which index there is, is Citus' business */
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	found = HeapTupleIsValid(systable_getnext(scan));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/* See catalog.h. */
void
strata_table_refuse_distributed(Oid relid)
{
	if (!strata_table_is_distributed(relid))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("table \"%s\" is distributed: its rows are in its shards",
					get_rel_name(relid)),
			 errhint("Call the function for each shard: SELECT * FROM run_command_on_shards(%s, $$SELECT compress_chunk('%%s')$$);",
					 quote_literal_cstr(get_rel_name(relid)))));
}
