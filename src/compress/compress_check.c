/*-------------------------------------------------------------------------
 *
 * compress_check.c
 *	  Which tables may be compressed.
 *
 * src/compress/compress_check.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "utils/lsyscache.h"
#include "utils/relcache.h"
#include "utils/builtins.h"

static char *
exclusion_constraint(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	char	   *found = NULL;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisexclusion)
			found = pstrdup(RelationGetRelationName(index));
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return found;
}

/* Columns that the companion would need for the table's and its layout's. */
static int
columns_needed(Relation rel)
{
	const StrataLayout *layout = strata_store_current_layout(rel);
	int			n;

	n = STRATA_BATCH_FIXED_ATTS + layout->nsegment + 2 * layout->norder +
		(layout->norder > 0 ? 1 : 0);
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
		n += strata_attribute_is_kept(TupleDescAttr(RelationGetDescr(rel), i));
	return n;
}

/* See compress.h. */
bool
strata_store_can_compress(Relation rel, const char *hint)
{
	const char *name = RelationGetRelationName(rel);
	const char *constraint;
	int			excess;

	if (RELATION_IS_OTHER_TEMP(rel))
	{
		if (hint != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot access temporary tables of other sessions")));
		return false;
	}
	constraint = exclusion_constraint(rel);
	if (constraint != NULL)
	{
		if (hint != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot compress table \"%s\" because it has an exclusion constraint",
							name),
					 errhint("ALTER TABLE %s DROP CONSTRAINT %s;",
							 strata_sql_name(RelationGetRelid(rel)),
							 quote_identifier(constraint))));
		return false;
	}
	excess = columns_needed(rel) - MaxHeapAttributeNumber;
	if (excess > 0)
	{
		if (hint != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_TOO_MANY_COLUMNS),
					 errmsg("cannot compress table \"%s\" because it has too many columns",
							name),
					 errdetail("Its batches would have %d columns, tables can have %d.",
							   MaxHeapAttributeNumber + excess,
							   MaxHeapAttributeNumber),
					 errhint("Drop %d of its columns, or leave it in row form.",
							 excess)));
		return false;
	}
	return true;
}
