/*-------------------------------------------------------------------------
 *
 * store_check.c
 *	  Which tables may be compressed.
 *
 * src/store/store_check.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "access/genam.h"
#include "catalog/pg_class.h"
#include "utils/lsyscache.h"
#include "utils/relcache.h"

static bool
has_exclusion_constraint(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	bool		found = false;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		found |= index->rd_index->indisexclusion;
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return found;
}

/* See store.h. */
bool
strata_store_can_compress(Relation rel, const char *hint)
{
	const char *name = RelationGetRelationName(rel);

	if (RELATION_IS_OTHER_TEMP(rel))
	{
		if (hint != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot access temporary tables of other sessions")));
		return false;
	}
	if (has_exclusion_constraint(rel))
	{
		if (hint != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot compress table \"%s\" because it has an exclusion constraint", name),
					 errhint("Drop the exclusion constraint, or leave the table uncompressed.")));
		return false;
	}
	return true;
}
