/*-------------------------------------------------------------------------
 *
 * catalog_distributed.c
 *	  Tables that Citus has distributed: this server has no row of them.
 *
 * Citus documents the catalog that lists them, pg_catalog.pg_dist_partition,
 * with their OIDs in its column logicalrelid.  The table of that name is a
 * shell: its rows are in tables of other names, the shards, here or elsewhere,
 * which pg_catalog.pg_dist_shard lists.
 *
 * src/catalog/catalog_distributed.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/skey.h"
#include "access/table.h"
#include "catalog/pg_namespace.h"
#include "common/int.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

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

/*
 * The number at the end of a shard's name, which is its table's name, "_" and
 * its number; 0: the name has none.
 */
static int64
shard_number(const char *name)
{
	const char *digits = strrchr(name, '_');
	int64		number = 0;

	if (digits == NULL || digits == name || digits[1] == '\0')
		return 0;
	for (digits++; *digits != '\0'; digits++)
	{
		if (*digits < '0' || *digits > '9' ||
			pg_mul_s64_overflow(number, 10, &number) ||
			pg_add_s64_overflow(number, *digits - '0', &number))
			return 0;
	}
	return number;
}

/* The distributed table of a shard by its number, or InvalidOid. */
static Oid
table_of_shard(int64 number)
{
	Oid			list = get_relname_relid("pg_dist_shard", PG_CATALOG_NAMESPACE);
	AttrNumber	attno = InvalidAttrNumber;
	AttrNumber	table_attno = InvalidAttrNumber;
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	Oid			result = InvalidOid;
	bool		isnull = true;

	if (OidIsValid(list))
	{
		attno = get_attnum(list, "shardid");
		table_attno = get_attnum(list, "logicalrelid");
	}
	if (attno <= 0 || table_attno <= 0)
		return InvalidOid;
	rel = table_open(list, AccessShareLock);
	ScanKeyInit(&key, attno, BTEqualStrategyNumber, F_INT8EQ,
				Int64GetDatum(number));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		Datum		value = heap_getattr(tuple, table_attno,
										 RelationGetDescr(rel), &isnull);

		if (!isnull)
			result = DatumGetObjectId(value);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return result;
}

/* Long names are cut and hashed in shards' names; their start stays. */
#define NAME_START 32

/* See catalog.h. */
bool
strata_table_is_shard(Oid relid)
{
	char	   *name;
	char	   *shell;
	int64		number;

	if (!strata_database_may_distribute())
		return false;
	name = get_rel_name(relid);
	number = name != NULL ? shard_number(name) : 0;
	if (number == 0)
		return false;
	shell = get_rel_name(table_of_shard(number));
	return shell != NULL &&
		strncmp(name, shell, Min(strlen(shell), NAME_START)) == 0;
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
