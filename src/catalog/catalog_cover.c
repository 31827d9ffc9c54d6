/*-------------------------------------------------------------------------
 *
 * catalog_cover.c
 *	  Of which times a rollup's archive is complete: _strata.rollup_cover; of
 *	  which it has what was made of rows that are gone: _strata.rollup_kept;
 *	  and marks that a refresh has dealt with.
 *
 * Rows of a view do not touch each other, so that one change of what is
 * covered writes few of them.
 *
 * src/catalog/catalog_cover.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog_private.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

/* Columns of _strata.rollup_cover, and of _strata.rollup_kept. */
enum
{
	COVER_VIEW = 1, COVER_LO, COVER_HI
};

/* Columns of _strata.rollup_mark. */
enum
{
	MARK_HYPERTABLE = 1, MARK_LO, MARK_HI
};

static int64
column(HeapTuple tuple, int number, Relation rel)
{
	bool		isnull;

	return DatumGetInt64(heap_getattr(tuple, number, RelationGetDescr(rel),
									  &isnull));
}

/* The view's rows of one of the two tables. */
static void
visit_rows(const char *table, Oid view, Snapshot snapshot,
		   StrataMarkVisitor visit, void *arg)
{
	Oid			relid = strata_rollup_relation(table);
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;

	if (!OidIsValid(relid))
		return;
	rel = table_open(relid, AccessShareLock);
	ScanKeyInit(&key, COVER_VIEW, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(view));
	scan = systable_beginscan(rel, strata_primary_key_index(rel), true,
							  snapshot, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		visit(column(tuple, COVER_LO, rel), column(tuple, COVER_HI, rel), arg);
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
}

/* See catalog.h. */
void
strata_cover_visit(Oid view, Snapshot snapshot, StrataMarkVisitor visit,
				   void *arg)
{
	visit_rows("rollup_cover", view, snapshot, visit, arg);
}

/* See catalog.h. */
void
strata_cover_kept_visit(Oid view, Snapshot snapshot, StrataMarkVisitor visit,
						void *arg)
{
	visit_rows("rollup_kept", view, snapshot, visit, arg);
}

/* Run a statement on the view's rows, with up to two times as arguments. */
static void
run_on_cover(const char *sql, int expected, Oid view, int ntimes, int64 lo,
			 int64 hi)
{
	StrataTableArgs args = {0};
	StrataTablesContext saved;

	strata_arg_add(&args, OIDOID, ObjectIdGetDatum(view), false);
	if (ntimes > 0)
		strata_arg_add(&args, INT8OID, Int64GetDatum(lo), false);
	if (ntimes > 1)
		strata_arg_add(&args, INT8OID, Int64GetDatum(hi), false);
	strata_tables_enter(&saved);
	strata_tables_execute(sql, &args, expected);
	strata_tables_leave(&saved);
}

/* See catalog.h. */
void
strata_cover_add(Oid view, int64 lo, int64 hi)
{
	Assert(lo < hi);			/* catalog:T4 */
	run_on_cover("INSERT INTO _strata.rollup_cover (view, lo, hi)"
				 " VALUES ($1, $2, $3)", SPI_OK_INSERT, view, 2, lo, hi);
}

/* See catalog.h. */
void
strata_cover_remove(Oid view, int64 lo)
{
	run_on_cover("DELETE FROM _strata.rollup_cover"
				 " WHERE view = $1 AND lo = $2", SPI_OK_DELETE, view, 1, lo,
				 0);
}

/* See catalog.h. */
void
strata_cover_kept_forget(Oid view)
{
	run_on_cover("DELETE FROM _strata.rollup_kept WHERE view = $1",
				 SPI_OK_DELETE, view, 0, 0, 0);
}

/* See catalog.h. */
void
strata_cover_kept_add(Oid view, int64 lo, int64 hi)
{
	Assert(lo < hi);			/* catalog:T4 */
	run_on_cover("INSERT INTO _strata.rollup_kept (view, lo, hi)"
				 " VALUES ($1, $2, $3)", SPI_OK_INSERT, view, 2, lo, hi);
}

/* See catalog.h. */
void
strata_cover_forget(Oid view)
{
	run_on_cover("DELETE FROM _strata.rollup_cover WHERE view = $1",
				 SPI_OK_DELETE, view, 0, 0, 0);
}

/* See catalog.h. */
void
strata_rollup_next_generation(Oid source)
{
	run_on_cover("UPDATE _strata.rollup SET generation = generation + 1"
				 " WHERE source = $1", SPI_OK_UPDATE, source, 0, 0, 0);
}

/* See catalog.h. */
void
strata_track_marks_take(Oid hypertable, Snapshot snapshot,
						StrataMarkVisitor visit, void *arg)
{
	Oid			relid = strata_rollup_relation("rollup_mark");
	Relation	rel;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;

	if (!OidIsValid(relid))
		return;
	rel = table_open(relid, RowExclusiveLock);
	ScanKeyInit(&key, MARK_HYPERTABLE, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(hypertable));
	scan = systable_beginscan(rel, InvalidOid, false, snapshot, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		visit(column(tuple, MARK_LO, rel), column(tuple, MARK_HI, rel), arg);
		simple_heap_delete(rel, &tuple->t_self);
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
}
