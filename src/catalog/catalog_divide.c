/*-------------------------------------------------------------------------
 *
 * catalog_divide.c
 *	  Chunks that are being divided, the copies of their parts, and the log of
 *	  changed times: _strata.divide and _strata.divide_mark.
 *
 * Read and written by heapam directly: it happens as the owner of the chunk,
 * and, for the log, as whoever changes a row of it.
 *
 * src/catalog/catalog_divide.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog_private.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

/* Columns of _strata.divide. */
enum
{
	DIVIDE_SOURCE = 1, DIVIDE_PART, DIVIDE_LO, DIVIDE_HI, DIVIDE_FILE,
	DIVIDE_FINGERPRINT, DIVIDE_DIVISION, DIVIDE_COLUMNS = DIVIDE_DIVISION
};

/* Columns of _strata.divide_mark. */
enum
{
	MARK_SOURCE = 1, MARK_TIME, MARK_COLUMNS = MARK_TIME
};

/* Of the lock that keeps a second session from dividing the same chunk. */
#define DIVIDE_LOCK_SUBID 7

static void
insert_divide_row(Relation rel, Datum *values)
{
	bool		isnull[DIVIDE_COLUMNS] = {0};
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(rel), values, isnull);

	simple_heap_insert(rel, tuple);
	heap_freetuple(tuple);
}

static int64
number(HeapTuple tuple, int column, Relation rel)
{
	bool		isnull;

	return DatumGetInt64(heap_getattr(tuple, column, RelationGetDescr(rel),
									  &isnull));
}

static Oid
object(HeapTuple tuple, int column, Relation rel)
{
	bool		isnull;

	return DatumGetObjectId(heap_getattr(tuple, column, RelationGetDescr(rel),
										 &isnull));
}

/* Rows of one of the two tables about a chunk; by a snapshot of now. */
static SysScanDesc
begin_divide_scan(Relation rel, Oid source)
{
	ScanKeyData key;

	ScanKeyInit(&key, 1, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(source));
	return systable_beginscan(rel, InvalidOid, false, NULL, 1, &key);
}

/* See catalog.h. */
bool
strata_divide_lock(Oid source)
{
	LOCKTAG		tag;

	SET_LOCKTAG_OBJECT(tag, MyDatabaseId, RelationRelationId, source,
					   DIVIDE_LOCK_SUBID);
	return LockAcquire(&tag, ExclusiveLock, false, true) !=
		LOCKACQUIRE_NOT_AVAIL;
}

/* See catalog.h. */
void
strata_divide_add(const StrataDivideRow *row)
{
	Oid			relid = strata_rollup_relation("divide");
	Relation	rel = table_open(relid, RowExclusiveLock);
	Datum		values[DIVIDE_COLUMNS];

	Assert(row->lo <= row->hi); /* catalog:T6 */
	values[DIVIDE_SOURCE - 1] = ObjectIdGetDatum(row->source);
	values[DIVIDE_PART - 1] = ObjectIdGetDatum(row->part);
	values[DIVIDE_LO - 1] = Int64GetDatum(row->lo);
	values[DIVIDE_HI - 1] = Int64GetDatum(row->hi);
	values[DIVIDE_FILE - 1] = ObjectIdGetDatum(row->file);
	values[DIVIDE_FINGERPRINT - 1] = Int64GetDatum(row->fingerprint);
	values[DIVIDE_DIVISION - 1] = Int64GetDatum(row->division);
	insert_divide_row(rel, values);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

/* See catalog.h.  Who does it has strata_divide_lock(). */
void
strata_divide_set_copied(Oid source)
{
	Relation	rel = table_open(strata_rollup_relation("divide"),
								 RowExclusiveLock);
	SysScanDesc scan = begin_divide_scan(rel, source);
	Datum		values[DIVIDE_COLUMNS];
	bool		isnull[DIVIDE_COLUMNS] = {0};
	bool		replaced[DIVIDE_COLUMNS] = {0};
	HeapTuple	tuple;

	values[DIVIDE_HI - 1] = Int64GetDatum(PG_INT64_MAX);
	replaced[DIVIDE_HI - 1] = true;
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		if (OidIsValid(object(tuple, DIVIDE_PART, rel)) ||
			number(tuple, DIVIDE_HI, rel) == PG_INT64_MAX)
			continue;
		simple_heap_delete(rel, &tuple->t_self);
		simple_heap_insert(rel, heap_modify_tuple(tuple, RelationGetDescr(rel),
												  values, isnull, replaced));
		break;
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

static int
compare_divide_rows(const ListCell *a, const ListCell *b)
{
	const StrataDivideRow *x = lfirst(a);
	const StrataDivideRow *y = lfirst(b);

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* See catalog.h. */
List *
strata_divide_rows(Oid source, StrataDivideRow *self)
{
	Oid			relid = strata_rollup_relation("divide");
	List	   *rows = NIL;
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;

	memset(self, 0, sizeof(*self));
	if (!OidIsValid(relid))
		return NIL;
	rel = table_open(relid, AccessShareLock);
	scan = begin_divide_scan(rel, source);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		StrataDivideRow *row = palloc(sizeof(StrataDivideRow));

		row->source = source;
		row->part = object(tuple, DIVIDE_PART, rel);
		row->lo = number(tuple, DIVIDE_LO, rel);
		row->hi = number(tuple, DIVIDE_HI, rel);
		row->file = object(tuple, DIVIDE_FILE, rel);
		row->fingerprint = number(tuple, DIVIDE_FINGERPRINT, rel);
		row->division = number(tuple, DIVIDE_DIVISION, rel);
		if (OidIsValid(row->part))
			rows = lappend(rows, row);
		else
			*self = *row;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	list_sort(rows, compare_divide_rows);
	return rows;
}

/* See catalog.h. */
List *
strata_divide_sources(void)
{
	Oid			relid = strata_rollup_relation("divide");
	List	   *sources = NIL;
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (!OidIsValid(relid))
		return NIL;
	rel = table_open(relid, AccessShareLock);
	scan = systable_beginscan(rel, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
		sources = list_append_unique_oid(sources,
										 object(tuple, DIVIDE_SOURCE, rel));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return sources;
}

/* Delete the chunk's rows of one of the two tables; how many. */
static int
delete_of(const char *table, Oid source)
{
	Oid			relid = strata_rollup_relation(table);
	Relation	rel;
	SysScanDesc scan;
	HeapTuple	tuple;
	int			n = 0;

	if (!OidIsValid(relid))
		return 0;
	rel = table_open(relid, RowExclusiveLock);
	scan = begin_divide_scan(rel, source);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		simple_heap_delete(rel, &tuple->t_self);
		n++;
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	return n;
}

/* See catalog.h. */
void
strata_divide_remove(Oid source)
{
	if (delete_of("divide", source) > 0)
		(void) delete_of("divide_mark", source);
}

/* See catalog.h. */
void
strata_divide_mark(Oid source, int64 time)
{
	Oid			relid = strata_rollup_relation("divide_mark");
	Relation	rel;
	Datum		values[MARK_COLUMNS];

	if (!OidIsValid(relid))
		return;
	rel = table_open(relid, RowExclusiveLock);
	values[MARK_SOURCE - 1] = ObjectIdGetDatum(source);
	values[MARK_TIME - 1] = Int64GetDatum(time);
	insert_divide_row(rel, values);
	table_close(rel, NoLock);
}

static int
compare_times(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

/* See catalog.h. */
int64 *
strata_divide_take(Oid source, int *n)
{
	Relation	rel = table_open(strata_rollup_relation("divide_mark"),
								 RowExclusiveLock);
	int			size = 1024;
	int64	   *times = palloc(sizeof(int64) * size);
	SysScanDesc scan = begin_divide_scan(rel, source);
	HeapTuple	tuple;
	int			kept = 0;

	*n = 0;
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		if (*n == size)
			times = repalloc_huge(times, sizeof(int64) * (size *= 2));
		times[(*n)++] = number(tuple, MARK_TIME, rel);
		simple_heap_delete(rel, &tuple->t_self);
	}
	systable_endscan(scan);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	qsort(times, *n, sizeof(int64), compare_times);
	for (int i = 0; i < *n; i++)
		if (kept == 0 || times[kept - 1] != times[i])
			times[kept++] = times[i];
	*n = kept;
	Assert(kept <= size);		/* catalog:T6 */
	return times;
}
