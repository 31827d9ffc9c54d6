/*-------------------------------------------------------------------------
 *
 * hypertable_heir.c
 *	  The first chunk of a table that becomes a hypertable with its rows where
 *	  they are.
 *
 * The table keeps its OID and becomes the hypertable, as create_hypertable
 * does it.  A new table, the heir, has the same columns to the byte and takes
 * over the file, the TOAST table and the indexes' files: a change of the
 * catalog, however large they are.  A file of heap is the row store of a table
 * that uses strata (docs/adr/033), and every row version stays what and where
 * it was: a transaction with an older snapshot sees what it saw before.
 *
 * The heir becomes a chunk while it is still empty, so that ATTACH has no rows
 * to look at.  Its range is all time up to a bound that lies behind every row
 * that anybody may see; the end of an index on the time says where that is.
 * Nothing is promised of rows that was not known before: what the hypertable
 * has as valid the table had as valid.
 *
 * src/hypertable/hypertable_heir.c
 *-------------------------------------------------------------------------
 */
#include "am/am.h"
#include "hypertable/hypertable_private.h"
#include "pg/pg.h"
#include "store/store_companion.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "executor/tuptable.h"
#include "pgstat.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "base/compat.h"

/*-------------------------------------------------------------------------
 * What cannot be
 *-------------------------------------------------------------------------
 */

/* Does the index have all times, in their order? */
static bool
orders_time(Relation index, AttrNumber attno, Oid type)
{
	Form_pg_index form = index->rd_index;

	return index->rd_rel->relam == BTREE_AM_OID && form->indisvalid &&
		form->indkey.values[0] == attno &&
		index->rd_opfamily[0] ==
		get_opclass_family(GetDefaultOpClass(type, BTREE_AM_OID)) &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL);
}

/*
 * An index that orders the times; ereports when there is none, or an index
 * that has not all rows: the chunk's would pass for one that has.
 */
static Oid
find_time_index(Relation rel, AttrNumber attno)
{
	Oid			type = getBaseType(TupleDescAttr(RelationGetDescr(rel),
												 attno - 1)->atttypid);
	Oid			found = InvalidOid;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (!index->rd_index->indisvalid)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("index \"%s\" is not valid",
							RelationGetRelationName(index)),
					 errhint("DROP INDEX %s, or REINDEX it CONCURRENTLY.",
							 strata_sql_name(lfirst_oid(lc)))));
		if (!OidIsValid(found) && orders_time(index, attno, type))
			found = lfirst_oid(lc);
		index_close(index, AccessShareLock);
	}
	if (!OidIsValid(found))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("no index of table \"%s\" begins with its time",
						RelationGetRelationName(rel)),
				 errdetail("While the table is locked, the index says at once what its latest time is."),
				 errhint("CREATE INDEX CONCURRENTLY ON %s (%s DESC);",
						 strata_sql_name(RelationGetRelid(rel)),
						 quote_identifier(get_attname(RelationGetRelid(rel),
													  attno, false)))));
	return found;
}

/*
 * ereport when a constraint is not known to hold for all rows; the chunk's
 * would pass for one that is.
 */
static void
check_constraints(Relation rel)
{
	Relation	catalog = table_open(ConstraintRelationId, AccessShareLock);
	AttrNumber	enforced = get_attnum(ConstraintRelationId, "conenforced");
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(RelationGetRelid(rel)));
	scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true,
							  NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);
		bool		isnull;

		/* from 18 on one may not be meant to hold */
		if (form->convalidated ||
			strcmp(NameStr(form->conname), STRATA_NOT_NULL_CHECK) == 0 ||
			(enforced > 0 &&
			 !DatumGetBool(heap_getattr(tuple, enforced,
										RelationGetDescr(catalog), &isnull))))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("constraint \"%s\" of table \"%s\" is not valid",
						NameStr(form->conname), RelationGetRelationName(rel)),
				 errhint("ALTER TABLE %s VALIDATE CONSTRAINT %s;",
						 strata_sql_name(RelationGetRelid(rel)),
						 quote_identifier(NameStr(form->conname)))));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* See hypertable_private.h. */
void
strata_heir_check(Relation rel, AttrNumber attno)
{
	if (rel->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" is not a heap",
						RelationGetRelationName(rel)),
				 errhint("create_hypertable() with migrate_data => true moves its rows into chunks.")));
	strata_am_check_heap(rel);
	strata_chunk_check_schema(rel);
	(void) find_time_index(rel, attno);
	check_constraints(rel);
}

/*-------------------------------------------------------------------------
 * The range
 *-------------------------------------------------------------------------
 */

/*
 * The latest time of a row that any transaction may see, into *latest; false:
 * there is none.
 */
static bool
find_latest(Relation rel, AttrNumber attno, Oid key_type, int64 *latest)
{
	Relation	index = index_open(find_time_index(rel, attno),
								   AccessExclusiveLock);
	ScanDirection direction = index->rd_indoption[0] & INDOPTION_DESC ?
	ForwardScanDirection :
	BackwardScanDirection;
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	SnapshotData snapshot;
	IndexScanDesc scan;
	ScanKeyData key;
	bool		found;

	InitNonVacuumableSnapshot(snapshot, GlobalVisTestFor(rel));
	ScanKeyEntryInitialize(&key, SK_ISNULL | SK_SEARCHNOTNULL, 1,
						   InvalidStrategy, InvalidOid, InvalidOid, InvalidOid,
						   (Datum) 0);
	scan = strata_index_beginscan(rel, index, &snapshot, 1, 0);
	index_rescan(scan, &key, 1, NULL, 0);
	found = strata_index_getnext_slot(scan, direction, slot);
	if (found)
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, attno, &isnull);

		Assert(!isnull);		/* hypertable:Y13 */
		*latest = strata_time_from_datum(key_type, value);
	}
	index_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	index_close(index, NoLock);
	return found;
}

/* The step from one bound to the next: of UUIDs, a millisecond. */
static int64
round_up(Oid key_type, int64 time)
{
	int64		step = 1;
	int64		into;

	if (key_type == UUIDOID)
		step = 1000;
	if (key_type == TIMESTAMPOID || key_type == TIMESTAMPTZOID)
		step = USECS_PER_SEC;
	into = time % step;
	if (into < 0)
		into += step;
	return into == 0 ? time : time + (step - into);
}

/*
 * All time up to what is now, or to the latest row when that is later.  Of
 * integers nobody knows what is now.
 */
static void
choose_range(Relation rel, const StrataHypertable *ht, StrataChunkRange *range)
{
	StrataHypertable any = *ht;
	StrataChunkRange last;
	int64		latest = 0;
	bool		found = find_latest(rel, ht->attno, ht->key_type, &latest);

	range->no_lo = true;
	range->lo = PG_INT64_MIN;
	range->no_hi = false;
	range->hi = 0;
	if (found)
	{
		/* a row of the last chunk of all has no bound behind it */
		strata_time_chunk_range(ht->key_type, ht->interval, latest, &last);
		if (last.no_hi)
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("the latest time in table \"%s\" is infinite, or too late to be followed by another",
							RelationGetRelationName(rel)),
					 errhint("Delete rows of such times, or change them, and call this again.")));
		range->hi = round_up(ht->key_type, latest + 1);
	}
	if (!strata_time_type_is_integer(ht->key_type))
		range->hi = Max(range->hi,
						round_up(ht->key_type, strata_hypertable_now(&any)));
	Assert(!found || latest < range->hi);	/* hypertable:Y13 */
}

/*-------------------------------------------------------------------------
 * The heir
 *-------------------------------------------------------------------------
 */

/* A table of the same columns, dropped ones too. */
static Oid
make_twin(Relation rel, const StrataHypertable *ht,
		  const StrataChunkRange *range)
{
	Oid			relid = RelationGetRelid(rel);
	List	   *dropped = strata_dropped_columns_show(relid);
	Oid			twin = strata_chunk_make_table(rel, ht, range,
											   rel->rd_rel->reltablespace);
	ListCell   *lc;

	CommandCounterIncrement();
	foreach(lc, dropped)
	{
		HeapTuple	tuple = lfirst(lc);
		Form_pg_attribute column = (Form_pg_attribute) GETSTRUCT(tuple);

		strata_sql_run_subcommand(psprintf("ALTER TABLE %s DROP COLUMN %s",
										   strata_sql_name(twin),
										   quote_identifier(NameStr(column->attname))));
	}
	strata_dropped_columns_hide(relid, dropped);
	strata_columns_make_same(relid, twin);
	return twin;
}

/* See hypertable_private.h. */
StrataHeir *
strata_heir_make(Relation rel, const StrataHypertable *ht)
{
	StrataHeir *heir = palloc0(sizeof(StrataHeir));
	Oid			relid = RelationGetRelid(rel);
	ListCell   *lc;

	strata_heir_check(rel, ht->attno);
	choose_range(rel, ht, &heir->chunk.range);
	strata_storage_read(relid, &heir->storage);
	foreach(lc, RelationGetIndexList(rel))
	{
		StrataStorageRow *index = palloc(sizeof(StrataStorageRow));

		strata_storage_read(lfirst_oid(lc), index);
		heir->indexes = lappend(heir->indexes, index);
	}
	heir->chunk.relid = make_twin(rel, ht, &heir->chunk.range);
	CopyStatistics(relid, heir->chunk.relid);
	CommandCounterIncrement();
	return heir;
}

/* The TOAST table, which hung on the table, hangs on the chunk. */
static void
take_toast(Oid toast, Oid chunk)
{
	ObjectAddress table;
	ObjectAddress object;
	List	   *indexes;
	Relation	rel;
	char		name[NAMEDATALEN];

	deleteDependencyRecordsFor(RelationRelationId, toast, false);
	ObjectAddressSet(table, RelationRelationId, chunk);
	ObjectAddressSet(object, RelationRelationId, toast);
	recordDependencyOn(&object, &table, DEPENDENCY_INTERNAL);
	snprintf(name, NAMEDATALEN, "pg_toast_%u", chunk);
	RenameRelationInternal(toast, name, true, false);
	CommandCounterIncrement();
	rel = table_open(toast, AccessExclusiveLock);
	indexes = RelationGetIndexList(rel);
	table_close(rel, NoLock);
	snprintf(name, NAMEDATALEN, "pg_toast_%u_index", chunk);
	RenameRelationInternal(linitial_oid(indexes), name, true, true);
	CommandCounterIncrement();
}

/* See hypertable_private.h. */
void
strata_heir_take(const StrataHeir *heir, Oid hypertable)
{
	Oid			relid = heir->chunk.relid;
	Relation	rel = table_open(relid, AccessExclusiveLock);
	StrataLocator locator = STRATA_REL_LOCATOR(rel);
	Oid			toast = rel->rd_rel->reltoastrelid;
	Relation	from;
	ListCell   *lc;

	/* ATTACH may have made one, for direct loads */
	strata_companion_drop_of(&locator, rel->rd_rel->relpersistence);
	/* its number of rows was copied with the statistics, dead ones too */
	from = table_open(hypertable, NoLock);
	pgstat_copy_relation_stats(rel, from);
	table_close(from, NoLock);
	table_close(rel, NoLock);
	strata_storage_give(relid, &heir->storage);
	if (OidIsValid(toast))
		strata_toast_drop(toast);
	if (OidIsValid(heir->storage.toast))
		take_toast(heir->storage.toast, relid);
	foreach(lc, heir->indexes)
	{
		const StrataStorageRow *storage = lfirst(lc);
		Oid			index = strata_chunk_index(relid, storage->relid);

		if (!OidIsValid(index))
			elog(ERROR, "index %u is missing from chunk %u", storage->relid,
				 relid);
		strata_storage_give(index, storage);
		strata_index_copy_checkxmin(storage->relid, index);
	}
}

/* See hypertable_private.h. */
void
strata_heir_exchange(Oid chunk, Oid part)
{
	StrataStorageRow given;
	StrataStorageRow own;

	strata_storage_read(part, &given);
	strata_storage_read(chunk, &own);
	strata_storage_exchange(chunk, part);
	if (OidIsValid(own.toast))
		strata_toast_drop(own.toast);
	if (OidIsValid(given.toast))
	{
		take_toast(given.toast, chunk);
		/* of a part nothing is decoded; of a chunk it is */
		strata_relrewrite_set(given.toast, InvalidOid);
	}
}
