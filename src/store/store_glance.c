/*-------------------------------------------------------------------------
 *
 * store_glance.c
 *	  What catalogs say of a table, for views that show everybody's tables and
 *	  wait for nobody's locks.
 *
 * src/store/store_glance.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "store/store_companion.h"
#include "store/store_private.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "storage/lmgr.h"

/* See store.h. */
Oid
strata_glance_companion(Oid relid)
{
	Relation	rel = strata_relation_glance(relid, false);

	if (rel == NULL || !strata_is_strata_am(rel->rd_rel->relam) ||
		(rel->rd_rel->relkind != RELKIND_RELATION &&
		 rel->rd_rel->relkind != RELKIND_MATVIEW))
		return InvalidOid;
	return strata_companion_lookup(rel);
}

/* See store.h. */
StrataLayout *
strata_glance_layout(Oid relid)
{
	Relation	rel = strata_relation_glance(relid, true);

	return rel != NULL ? strata_store_current_layout(rel) : NULL;
}

/* Open a relation whose lock is to be had at once, or NULL. */
static Relation
open_or_leave(Oid relid)
{
	Relation	rel;

	if (!ConditionalLockRelationOid(relid, AccessShareLock))
		return NULL;
	rel = try_relation_open(relid, NoLock);
	if (rel == NULL)
		UnlockRelationOid(relid, AccessShareLock);
	return rel;
}

/* See store.h. */
bool
strata_glance_has_batches(Oid relid, Snapshot snapshot)
{
	Oid			companion = strata_glance_companion(relid);
	Relation	rel;
	Relation	batches;
	Relation	index = NULL;
	bool		found = false;
	const char *text;

	if (!OidIsValid(companion))
		return false;
	/* store:S9 */
	rel = open_or_leave(relid);
	if (rel != NULL)
	{
		batches = open_or_leave(companion);
		if (batches != NULL)
		{
			index = open_or_leave(strata_row_index_of(batches));
			if (index != NULL)
			{
				found = strata_companion_sees_batch(batches, index, snapshot);
				relation_close(index, AccessShareLock);
			}
			relation_close(batches, AccessShareLock);
		}
		relation_close(rel, AccessShareLock);
		if (index != NULL)
			return found;
	}
	text = strata_settings_get_text(relid, "compressed");
	return text != NULL && strcmp(text, "true") == 0;
}
