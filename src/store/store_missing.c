/*-------------------------------------------------------------------------
 *
 * store_missing.c
 *	  The value of a column that a batch has not got.
 *
 * ADD COLUMN with a constant default touches no row: the value stands in
 * pg_attribute (attmissingval) until VACUUM FULL or CLUSTER put it into the
 * rows and forget it.  Of a row of heap they make every version anew, so that
 * all snapshots see it.  A batch is replaced then, and a snapshot from before
 * sees the old version, which relies on a value that is gone.
 *
 * But that snapshot sees pg_attribute's row from before as well.  Where it
 * does not, it is older than the column: then nobody can tell.
 *
 * src/store/store_missing.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_attribute.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* Has the batch been replaced, or is it about to be? */
static bool
is_superseded(TupleTableSlot *slot)
{
	HeapTuple	tuple;

	if (!TTS_IS_BUFFERTUPLE(slot) && !TTS_IS_HEAPTUPLE(slot))
		return false;
	tuple = ((HeapTupleTableSlot *) slot)->tuple;
	return tuple != NULL && !(tuple->t_data->t_infomask & HEAP_XMAX_INVALID) &&
		!HEAP_XMAX_IS_LOCKED_ONLY(tuple->t_data->t_infomask);
}

/* The value in the column's row of pg_attribute, if there is one. */
static Datum
value_in_catalog(HeapTuple tuple, TupleDesc catalog_desc,
				 Form_pg_attribute att, bool *isnull)
{
	int			one = 1;
	Datum		array = heap_getattr(tuple, Anum_pg_attribute_attmissingval,
									 catalog_desc, isnull);
	Datum		value = (Datum) 0;

	if (!*isnull)
		value = array_get_element(array, 1, &one, -1, att->attlen,
								  att->attbyval, att->attalign, isnull);
	return *isnull ? (Datum) 0 : datumCopy(value, att->attbyval, att->attlen);
}

/* See store_private.h. */
Datum
strata_missing_value(TupleDesc rel_desc, AttrNumber attno,
					 TupleTableSlot *batch_slot, bool *isnull)
{
	Form_pg_attribute att = TupleDescAttr(rel_desc, attno - 1);
	Snapshot	snapshot;
	Relation	catalog;
	SysScanDesc scan;
	ScanKeyData keys[2];
	HeapTuple	tuple;
	Datum		result = (Datum) 0;

	*isnull = true;
	if (att->atthasmissing)
		return getmissingattr(rel_desc, attno, isnull);
	if (!is_superseded(batch_slot) || !ActiveSnapshotSet())
		return result;
	snapshot = GetActiveSnapshot();
	if (!IsMVCCSnapshot(snapshot))
		return result;
	ScanKeyInit(&keys[0], Anum_pg_attribute_attrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(att->attrelid));
	ScanKeyInit(&keys[1], Anum_pg_attribute_attnum, BTEqualStrategyNumber,
				F_INT2EQ, Int16GetDatum(attno));
	catalog = table_open(AttributeRelationId, AccessShareLock);
	scan = systable_beginscan(catalog, AttributeRelidNumIndexId, true,
							  snapshot, 2, keys);
	tuple = systable_getnext(scan);
	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access: column \"%s\" was added, and batches made again, after the snapshot was taken",
						NameStr(att->attname))));
	result = value_in_catalog(tuple, RelationGetDescr(catalog), att, isnull);
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
	return result;
}
