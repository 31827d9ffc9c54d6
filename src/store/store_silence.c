/*-------------------------------------------------------------------------
 *
 * store_silence.c
 *	  Logical decoding hears nothing of rows that only change their form.
 *
 * Inserts are kept from it by HEAP_INSERT_NO_LOGICAL.  There is no such flag
 * for deletes and updates, but decoding skips what happens to a table whose
 * pg_class.relrewrite is set (that is how ALTER TABLE hides the table it
 * fills). It looks with a catalog snapshot of the very change.  So a companion
 * has it set for life, and R while its rows are being moved into batches: set
 * and reset in one transaction, nobody else ever sees it.
 *
 * src/store/store_silence.c
 *-------------------------------------------------------------------------
 */
#include "store/store_companion.h"
#include "store/store_private.h"
#include "pg/pg.h"
#include "store/store_write.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "utils/syscache.h"
#include "base/compat.h"
#include "storage/lmgr.h"

/* See store_companion.h. */
void
strata_companion_silence(Oid companion)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(companion));
	Oid			toast;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", companion);
	toast = ((Form_pg_class) GETSTRUCT(tuple))->reltoastrelid;
	ReleaseSysCache(tuple);
	strata_relrewrite_set(companion, companion);

	/*
	 * else its chunks would be taken for parts of the next row that is
	 * decoded
	 */
	if (OidIsValid(toast))
		strata_relrewrite_set(toast, companion);
}

/* See store_companion.h. */
void
strata_companions_silence(void)
{
	Oid			nsp = get_namespace_oid(STRATA_INTERNAL_SCHEMA, true);
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(pg_class, InvalidOid, false, NULL, 0,
										  NULL);
	HeapTuple	tuple;
	List	   *companions = NIL;
	ListCell   *lc;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if (form->relnamespace == nsp && form->relkind == RELKIND_RELATION &&
			(strncmp(NameStr(form->relname), "batch_", 6) == 0 ||
			 strcmp(NameStr(form->relname), STRATA_SPACE_QUEUE) == 0))
			companions = lappend_oid(companions, form->oid);
	}
	systable_endscan(scan);
	foreach(lc, companions)
	{
		if (SearchSysCacheExists1(RELOID, ObjectIdGetDatum(lfirst_oid(lc))))
			strata_companion_silence(lfirst_oid(lc));
	}
	table_close(pg_class, AccessShareLock);
}

/* See store_write.h. */
bool
strata_silence_begin(Relation rel)
{
	Assert(CheckRelationLockedByMe(rel, ExclusiveLock, true));	/* store:S5 */
	/* whoever decodes this transaction needs a log that says enough */
	if (!RelationIsLogicallyLogged(rel))
		return false;
	strata_relrewrite_set(RelationGetRelid(rel), RelationGetRelid(rel));
	return true;
}

/* See store_write.h. */
void
strata_silence_end(Relation rel)
{
	Assert(rel->rd_rel->relrewrite == RelationGetRelid(rel));	/* store:S5 */
	strata_relrewrite_set(RelationGetRelid(rel), InvalidOid);
}
