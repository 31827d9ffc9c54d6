/*-------------------------------------------------------------------------
 *
 * pg_relrewrite.c
 *	  Tables whose changes logical decoding passes over.
 *
 * Decoding skips what happens to a table whose pg_class.relrewrite is set:
 * that is how ALTER TABLE hides the table it fills.  It looks with a catalog
 * snapshot of the very change.
 *
 * src/pg/pg_relrewrite.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "base/compat.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "storage/lmgr.h"
#include "utils/syscache.h"

/* See pg.h. */
void
strata_relrewrite_set(Oid relid, Oid value)
{
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	tuple = strata_class_tuple_lock_copy(relid);
	ItemPointerData tid;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	tid = tuple->t_self;
	if (((Form_pg_class) GETSTRUCT(tuple))->relrewrite != value)
	{
		((Form_pg_class) GETSTRUCT(tuple))->relrewrite = value;
		CatalogTupleUpdate(pg_class, &tid, tuple);
	}
	strata_class_tuple_unlock(pg_class, &tid);
	heap_freetuple(tuple);
	table_close(pg_class, RowExclusiveLock);
	CommandCounterIncrement();
}
