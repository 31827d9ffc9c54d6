/*-------------------------------------------------------------------------
 *
 * pg_reloptions.c
 *	  Options in pg_class.reloptions that PostgreSQL does not know.
 *
 * Names have a dot, which no option of PostgreSQL has.  It passes over options
 * it does not know when it reads them, and pg_dump writes them out; only
 * statements that set options refuse them, and those do not come so far.
 *
 * src/pg/pg_reloptions.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "base/compat.h"

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/syscache.h"

/* See pg.h. */
List *
strata_reloptions_read(HeapTuple tuple)
{
	bool		isnull;
	Datum		datum =
	SysCacheGetAttr(RELOID, tuple, Anum_pg_class_reloptions, &isnull);

	return isnull ? NIL : untransformRelOptions(datum);
}

/* See pg.h. */
void
strata_reloptions_write(Oid relid, List *options)
{
	Relation	pg_class = table_open(RelationRelationId, RowExclusiveLock);
	HeapTuple	tuple = strata_class_tuple_lock_copy(relid);
	ArrayBuildState *astate = NULL;
	Datum		values[Natts_pg_class] = {0};
	bool		nulls[Natts_pg_class] = {0};
	bool		replace[Natts_pg_class] = {0};
	HeapTuple	updated;
	ListCell   *lc;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		char	   *text = psprintf("%s=%s", def->defname,
									def->arg != NULL ? defGetString(def) : "true");

		astate = accumArrayResult(astate, CStringGetTextDatum(text), false,
								  TEXTOID, CurrentMemoryContext);
	}
	replace[Anum_pg_class_reloptions - 1] = true;
	if (astate != NULL)
		values[Anum_pg_class_reloptions - 1] =
			makeArrayResult(astate, CurrentMemoryContext);
	else
		nulls[Anum_pg_class_reloptions - 1] = true;
	updated = heap_modify_tuple(tuple, RelationGetDescr(pg_class), values,
								nulls, replace);
	CatalogTupleUpdate(pg_class, &tuple->t_self, updated);
	strata_class_tuple_unlock(pg_class, &tuple->t_self);
	heap_freetuple(updated);
	heap_freetuple(tuple);
	table_close(pg_class, RowExclusiveLock);
	CommandCounterIncrement();
}
