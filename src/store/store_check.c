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
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_publication.h"
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

/*
 * See store_private.h.  Online compression deletes heap rows, which a
 * publication would send to subscribers.
 */
bool
strata_relation_is_decoded(Relation rel)
{
	PublicationDesc desc;

	if (!XLogLogicalInfoActive() || rel->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
		return false;
	RelationBuildPublicationDesc(rel, &desc);
	return desc.pubactions.pubdelete;
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
	if (strata_relation_is_decoded(rel))
	{
		if (hint != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot compress table \"%s\" because it is part of a publication", name),
					 errdetail("Compression would reach subscribers as deletes."),
					 errhint("ALTER PUBLICATION ... DROP TABLE %s; or publish without deletes.", name)));
		return false;
	}
	return true;
}
