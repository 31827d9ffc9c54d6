/*-------------------------------------------------------------------------
 *
 * partition.c
 *	  The table or index that users know, of a partition of any depth.
 *
 * src/base/partition.c
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "base/base.h"

#include "catalog/partition.h"
#include "utils/lsyscache.h"

/* See base.h. */
Oid
strata_partition_root(Oid relid)
{
	List	   *ancestors = get_rel_relispartition(relid) ?
	get_partition_ancestors(relid) : NIL;

	/* one that is being detached CONCURRENTLY has none */
	return ancestors != NIL ? llast_oid(ancestors) : relid;
}
