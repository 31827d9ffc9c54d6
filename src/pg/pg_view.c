/*-------------------------------------------------------------------------
 *
 * pg_view.c
 *	  Which view a subquery of an analyzed and rewritten query was.
 *
 * From 16 on its entry in the range table says so.  In 15 the rewriter leaves
 * the rule's entry for OLD first in the range table of the subquery, a
 * relation that is a view, as no relation that is read can be: those are
 * subqueries by then.
 *
 * src/pg/pg_view.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "base/compat.h"

#include "catalog/pg_class.h"
#include "nodes/parsenodes.h"

/* See pg.h. */
Oid
strata_rte_view(const RangeTblEntry *rte)
{
	const RangeTblEntry *entry;

	if (rte->rtekind != RTE_SUBQUERY)
		return InvalidOid;
	entry = strata_rte_that_was_view(rte);
	return entry != NULL && entry->relkind == RELKIND_VIEW ?
		entry->relid :
		InvalidOid;
}
