/*-------------------------------------------------------------------------
 *
 * catalog_track.c
 *	  What of hypertables is tracked, and the log of changed times:
 *	  _strata.rollup_source and _strata.rollup_mark.
 *
 * Read and written by heapam directly: it happens when a row is changed, and
 * when a transaction ends, where no statement can be run.
 *
 * src/catalog/catalog_track.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog_private.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

/* Columns of _strata.rollup_source. */
enum
{
	SOURCE_HYPERTABLE = 1, SOURCE_LO, SOURCE_HI
};

/* Columns of _strata.rollup_mark. */
enum
{
	MARK_HYPERTABLE = 1, MARK_LO, MARK_HI, MARK_COLUMNS = MARK_HI
};

/* See catalog.h. */
bool
strata_track_source_get(Oid hypertable, int64 *lo, int64 *hi)
{
	Oid			relid = strata_rollup_relation("rollup_source");
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	bool		found;

	if (!OidIsValid(relid))
		return false;
	rel = table_open(relid, AccessShareLock);
	ScanKeyInit(&key, SOURCE_HYPERTABLE, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(hypertable));
	/* no snapshot: a new one, not the transaction's (track:D4) */
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	tuple = systable_getnext(scan);
	found = HeapTupleIsValid(tuple);
	if (found)
	{
		bool		isnull;

		*lo = DatumGetInt64(heap_getattr(tuple, SOURCE_LO,
										 RelationGetDescr(rel), &isnull));
		*hi = DatumGetInt64(heap_getattr(tuple, SOURCE_HI,
										 RelationGetDescr(rel), &isnull));
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/* See catalog.h. */
void
strata_track_source_extend(Oid hypertable, int64 lo, int64 hi)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;

	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(hypertable), false);
	strata_arg_add(&args, INT8OID, Int64GetDatum(lo), false);
	strata_arg_add(&args, INT8OID, Int64GetDatum(hi), false);
	strata_tables_enter(&saved);
	strata_tables_execute("INSERT INTO _strata.rollup_source AS s"
						  " (hypertable, lo, hi) VALUES ($1, $2, $3)"
						  " ON CONFLICT (hypertable) DO UPDATE"
						  " SET lo = least(s.lo, excluded.lo), hi = greatest(s.hi, excluded.hi)",
						  &args, SPI_OK_INSERT);
	strata_tables_leave(&saved);
}

/* Delete the hypertable's rows of one of our tables; were there any? */
static bool
delete_rows(const char *table, Oid hypertable)
{
	Oid			relid = strata_rollup_relation(table);
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;
	bool		any = false;

	if (!OidIsValid(relid))
		return false;
	rel = table_open(relid, RowExclusiveLock);
	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(hypertable));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		simple_heap_delete(rel, &tuple->t_self);
		any = true;
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	return any;
}

/* See catalog.h. */
void
strata_track_source_forget(Oid hypertable)
{
	if (delete_rows("rollup_source", hypertable))
		(void) delete_rows("rollup_mark", hypertable);
}

/* See catalog.h. */
void
strata_rollup_forget(Oid view)
{
	StrataRollupRow *row = strata_rollup_row(view);

	if (row == NULL)
		return;
	(void) delete_rows("rollup_cover", view);
	(void) delete_rows("rollup_kept", view);
	(void) delete_rows("rollup", view);
	CommandCounterIncrement();

	/*
	 * whoever has the lock is about to count on what is tracked; to wait for
	 * him with the view locked would be a deadlock
	 */
	if (strata_rollup_lock(row->source, false) &&
		strata_rollup_rows_of_source(row->source) == NIL)
		strata_track_source_forget(row->source);
}

/* See catalog.h. */
void
strata_track_mark(Oid hypertable, int64 lo, int64 hi)
{
	Oid			relid = strata_rollup_relation("rollup_mark");
	Datum		values[MARK_COLUMNS];
	bool		isnull[MARK_COLUMNS] = {0};
	Relation	rel;
	HeapTuple	tuple;

	Assert(lo <= hi);			/* track:D1 */
	if (!OidIsValid(relid))
		return;
	rel = table_open(relid, RowExclusiveLock);
	values[MARK_HYPERTABLE - 1] = ObjectIdGetDatum(hypertable);
	values[MARK_LO - 1] = Int64GetDatum(lo);
	values[MARK_HI - 1] = Int64GetDatum(hi);
	tuple = heap_form_tuple(RelationGetDescr(rel), values, isnull);
	simple_heap_insert(rel, tuple);
	heap_freetuple(tuple);
	table_close(rel, NoLock);
}

/* See catalog.h. */
void
strata_track_marks_visit(Oid hypertable, Snapshot snapshot,
						 StrataMarkVisitor visit, void *arg)
{
	Oid			relid = strata_rollup_relation("rollup_mark");
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;

	if (!OidIsValid(relid))
		return;
	rel = table_open(relid, AccessShareLock);
	ScanKeyInit(&key, MARK_HYPERTABLE, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(hypertable));
	scan = systable_beginscan(rel, InvalidOid, false, snapshot, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		int64		lo = DatumGetInt64(heap_getattr(tuple, MARK_LO,
													RelationGetDescr(rel),
													&isnull));
		int64		hi = DatumGetInt64(heap_getattr(tuple, MARK_HI,
													RelationGetDescr(rel),
													&isnull));

		visit(lo, hi, arg);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}
