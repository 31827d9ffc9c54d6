/*-------------------------------------------------------------------------
 *
 * catalog_rollup.c
 *	  Which rollups there are: _strata.rollup.
 *
 * src/catalog/catalog_rollup.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog_private.h"

#include "base/base.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/rel.h"

/* So many tables of a session are known not to be archives. */
#define MAX_NO_ARCHIVES 10000

/* The lock's tag is that of a column which no table has. */
#define ROLLUP_LOCK_SUBID 0xFFFF

/* Columns of _strata.rollup. */
enum
{
	ROLLUP_VIEW = 1, ROLLUP_SOURCE, ROLLUP_ARCHIVE, ROLLUP_MATERIALIZED_ONLY,
	ROLLUP_GENERATION, ROLLUP_LOSSES, ROLLUP_DROPS
};

static void
read_rollup(HeapTuple tuple, TupleDesc desc, StrataRollupRow *row)
{
	bool		isnull;

	row->view = DatumGetObjectId(heap_getattr(tuple, ROLLUP_VIEW, desc,
											  &isnull));
	row->source = DatumGetObjectId(heap_getattr(tuple, ROLLUP_SOURCE, desc,
												&isnull));
	row->archive = DatumGetObjectId(heap_getattr(tuple, ROLLUP_ARCHIVE, desc,
												 &isnull));
	row->materialized_only =
		DatumGetBool(heap_getattr(tuple, ROLLUP_MATERIALIZED_ONLY, desc,
								  &isnull));
	row->losses = DatumGetInt64(heap_getattr(tuple, ROLLUP_LOSSES, desc,
											 &isnull));
	row->drops = DatumGetInt64(heap_getattr(tuple, ROLLUP_DROPS, desc,
											&isnull));
}

/*
 * The rows (StrataRollupRow *) that have an OID in a column, as the snapshot
 * has them; NULL: the newest.
 */
static List *
find_rows(AttrNumber attno, Oid oid, Snapshot snapshot)
{
	Oid			relid = strata_rollup_relation("rollup");
	List	   *rows = NIL;
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;

	if (!OidIsValid(relid))
		return NIL;
	rel = table_open(relid, AccessShareLock);
	ScanKeyInit(&key, attno, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(oid));
	scan = systable_beginscan(rel, InvalidOid, false, snapshot, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		StrataRollupRow *row = palloc(sizeof(StrataRollupRow));

		read_rollup(tuple, RelationGetDescr(rel), row);
		rows = lappend(rows, row);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return rows;
}

/* See catalog.h. */
StrataRollupRow *
strata_rollup_row_at(Oid view, Snapshot snapshot)
{
	List	   *rows = find_rows(ROLLUP_VIEW, view, snapshot);

	Assert(list_length(rows) <= 1); /* catalog:T4 */
	return rows == NIL ? NULL : linitial(rows);
}

/* See catalog.h. */
StrataRollupRow *
strata_rollup_row(Oid view)
{
	return strata_rollup_row_at(view, NULL);
}

/* See catalog.h. */
StrataRollupRow *
strata_rollup_row_of_archive(Oid archive)
{
	List	   *rows = find_rows(ROLLUP_ARCHIVE, archive, NULL);

	return rows == NIL ? NULL : linitial(rows);
}

/*
 * Tables that are no archive, as every writer to any table asks; until the
 * relation cache is told otherwise of one.
 */
static HTAB *no_archives = NULL;

static void
forget_no_archive(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS scan;
	Oid		   *entry;

	if (OidIsValid(relid))
	{
		(void) hash_search(no_archives, &relid, HASH_REMOVE, NULL);
		return;
	}
	hash_seq_init(&scan, no_archives);
	while ((entry = hash_seq_search(&scan)) != NULL)
		(void) hash_search(no_archives, entry, HASH_REMOVE, NULL);
}

/* See catalog.h. */
bool
strata_rollup_is_archive(Oid relid)
{
	bool		found;

	if (no_archives == NULL)
	{
		HASHCTL		ctl = {.keysize = sizeof(Oid),.entrysize = sizeof(Oid)};

		no_archives = hash_create("strata tables that are no archives", 64,
								  &ctl, HASH_ELEM | HASH_BLOBS);
		strata_relcache_callback_add(forget_no_archive);
	}
	if (hash_search(no_archives, &relid, HASH_FIND, NULL) != NULL)
		return false;
	if (strata_rollup_row_of_archive(relid) != NULL)
		return true;
	if (hash_get_num_entries(no_archives) >= MAX_NO_ARCHIVES)
		forget_no_archive((Datum) 0, InvalidOid);
	(void) hash_search(no_archives, &relid, HASH_ENTER, &found);
	return false;
}

/* See catalog.h. */
List *
strata_rollup_rows_of_source(Oid source)
{
	return find_rows(ROLLUP_SOURCE, source, NULL);
}

/* See catalog.h. */
void
strata_rollup_row_add(const StrataRollupRow *row)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;

	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(row->view), false);
	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(row->source), false);
	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(row->archive), false);
	strata_arg_add(&args, BOOLOID, BoolGetDatum(row->materialized_only),
				   false);
	strata_tables_enter(&saved);
	strata_tables_execute("INSERT INTO _strata.rollup"
						  " (view, source, archive, materialized_only)"
						  " VALUES ($1, $2, $3, $4)", &args, SPI_OK_INSERT);
	strata_tables_leave(&saved);
	CacheInvalidateRelcacheByRelid(row->archive);
}

/* See catalog.h. */
void
strata_rollup_row_lose(Oid view, bool archived)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;

	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(view), false);
	strata_tables_enter(&saved);
	strata_tables_execute(archived ?
						  "UPDATE _strata.rollup SET losses = losses + 1"
						  " WHERE view = $1" :
						  "UPDATE _strata.rollup SET drops = drops + 1"
						  " WHERE view = $1", &args, SPI_OK_UPDATE);
	strata_tables_leave(&saved);
	CommandCounterIncrement();
}

/* See catalog.h. */
void
strata_rollup_row_set_materialized_only(Oid view, bool only)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;

	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(view), false);
	strata_arg_add(&args, BOOLOID, BoolGetDatum(only), false);
	strata_tables_enter(&saved);
	strata_tables_execute("UPDATE _strata.rollup SET materialized_only = $2"
						  " WHERE view = $1", &args, SPI_OK_UPDATE);
	strata_tables_leave(&saved);
}

/* See catalog.h. */
bool
strata_rollup_lock(Oid source, bool wait)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, RelationRelationId, source,
					   ROLLUP_LOCK_SUBID);
	if (LockAcquire(&tag, ExclusiveLock, false, !wait) ==
		LOCKACQUIRE_NOT_AVAIL)
		return false;
	AcceptInvalidationMessages();
	return true;
}
