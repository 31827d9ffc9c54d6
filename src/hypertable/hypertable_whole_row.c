/*-------------------------------------------------------------------------
 *
 * hypertable_whole_row.c
 *	  No index and no CHECK of a hypertable looks at whole rows.
 *
 * A chunk has a row type of its own, so PostgreSQL makes no partition with a
 * copy of an expression like (m IS NOT NULL) or f(m).  It says so when a
 * partition is made, and chunks are made by INSERT: whoever wants such an
 * index or constraint is told at once instead.
 *
 * src/hypertable/hypertable_whole_row.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"

#include "access/genam.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "catalog/pg_index.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/syscache.h"

static bool
has_whole_row(Node *expression)
{
	Bitmapset  *attrs = NULL;

	pull_varattnos(expression, 1, &attrs);
	return bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attrs);
}

/*
 * The same of a column of an index's row in pg_index, as it stands there: the
 * relcache has functions inlined.
 */
static bool
index_has_whole_row(Relation index, AttrNumber column)
{
	bool		isnull;
	Datum		value = SysCacheGetAttr(INDEXRELID, index->rd_indextuple,
										column, &isnull);

	return !isnull && has_whole_row(stringToNode(TextDatumGetCString(value)));
}

static void
refuse_whole_row(Relation rel, const char *what, const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("%s \"%s\" of hypertable \"%s\" refers to a whole row", what,
					name, RelationGetRelationName(rel)),
			 errdetail("No chunk could have it, because each has a row type of its own."),
			 errhint("Name the columns.")));
}

/* See hypertable_private.h. */
void
strata_whole_row_refuse(Relation rel)
{
	TupleConstr *constr = RelationGetDescr(rel)->constr;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index_has_whole_row(index, Anum_pg_index_indexprs) ||
			index_has_whole_row(index, Anum_pg_index_indpred))
			refuse_whole_row(rel, "index", RelationGetRelationName(index));
		index_close(index, AccessShareLock);
	}
	for (int i = 0; constr != NULL && i < constr->num_check; i++)
		if (has_whole_row(stringToNode(constr->check[i].ccbin)))
			refuse_whole_row(rel, "constraint", constr->check[i].ccname);
}

/* See hypertable.h. */
void
strata_hypertable_refuse_whole_row(Oid relid)
{
	Relation	rel;

	if (!strata_hypertable_is(relid))
		return;
	rel = table_open(relid, AccessShareLock);
	strata_whole_row_refuse(rel);
	table_close(rel, NoLock);
}
