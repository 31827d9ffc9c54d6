/*-------------------------------------------------------------------------
 *
 * rollup_read.c
 *	  Views of rollups are answered out of their archives.
 *
 * In a query that comes to the planner, a rollup's view is a subquery: its
 * definition.  That becomes
 *
 *	  SELECT values out of partials FROM archive WHERE bucket in clean ranges
 *	  UNION ALL
 *	  the definition, WHERE time not in clean ranges
 *
 * As ranges are whole buckets, no group is in both halves.  Clean is what the
 * planner's snapshot says; the plan carries which ranges it has used, and is
 * made again when it is run with a snapshot in which they are not.
 *
 * The definition stays even where nothing is left for it: its permissions are
 * checked, and its tables are locked and looked after.
 *
 * src/rollup/rollup_read.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "pg/pg.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

bool		strata_rollup_is_refreshing = false;

typedef struct ViewAnswers
{
	Snapshot	snapshot;		/* NULL: only those that do not look at rows */
	ParamListInfo params;
	List	   *done;			/* queries that stay as they are */
	List	   *uses;
} ViewAnswers;

/*-------------------------------------------------------------------------
 * What may be used
 *-------------------------------------------------------------------------
 */

/* Is it the definition still, with nothing that concerns single rows? */
static bool
is_definition(const Query *query, const StrataRollup *rollup)
{
	RangeTblEntry *rte;
	Oid			below;
	ListCell   *lc;

	if (query->setOperations != NULL || query->rowMarks != NIL ||
		list_length(query->targetList) !=
		list_length(rollup->query->targetList) ||
		(int) rollup->varno > list_length(query->rtable))
		return false;
	foreach(lc, query->rtable)
	{
		if (lfirst_node(RangeTblEntry, lc)->securityQuals != NIL)
			return false;
	}
	rte = rt_fetch(rollup->varno, query->rtable);
	below = strata_rollup_of_archive(rollup->source);
	return OidIsValid(below) ? strata_rte_view(rte) == below :
		rte->rtekind == RTE_RELATION && rte->relid == rollup->source;
}

/* A view's order is kept if it is one of columns that are seen. */
static bool
can_sort(const Query *query)
{
	ListCell   *lc;

	foreach(lc, query->sortClause)
	{
		TargetEntry *entry = get_sortgroupclause_tle(lfirst(lc),
													 query->targetList);

		if (entry->resjunk)
			return false;
	}
	return true;
}

/* The rollup of a view that may be answered out of it, or NULL. */
static StrataRollup *
usable_rollup(Oid view, const Query *query)
{
	StrataRollup *rollup = strata_rollup_usable(view);

	return rollup != NULL && is_definition(query, rollup) && can_sort(query) ?
		rollup : NULL;
}

/*-------------------------------------------------------------------------
 * Answers
 *-------------------------------------------------------------------------
 */

/* What the definition selects, out of clean rows of the archive. */
static Query *
archive_half(const StrataRollup *rollup, const StrataRanges *ranges)
{
	Query	   *query = strata_rollup_archive_query(rollup, ranges);
	Expr	   *having = (Expr *) rollup->query->havingQual;
	ListCell   *lc;

	foreach(lc, rollup->query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);
		Expr	   *value;

		if (entry->resjunk)
			continue;
		value = strata_rollup_final(rollup, entry->expr, STRATA_ARCHIVE_VARNO,
									false);
		entry = makeTargetEntry(value, list_length(query->targetList) + 1,
								pstrdup(entry->resname), false);
		query->targetList = lappend(query->targetList, entry);
	}
	if (having != NULL)
	{
		having = strata_rollup_final(rollup, having, STRATA_ARCHIVE_VARNO,
									 false);
		strata_rollup_add_qual(query, (Node *) having);
	}
	return query;
}

/* Do the halves have columns of the same types? */
static bool
same_types(const Query *kept, const Query *raw)
{
	ListCell   *lc;

	foreach(lc, kept->targetList)
	{
		Node	   *a = (Node *) lfirst_node(TargetEntry, lc)->expr;
		TargetEntry *entry = list_nth_node(TargetEntry, raw->targetList,
										   foreach_current_index(lc));
		Node	   *b = (Node *) entry->expr;

		if (entry->resjunk || exprType(a) != exprType(b) ||
			exprCollation(a) != exprCollation(b))
			return false;
	}
	return true;
}

/* Answer a view's entry, whose definition it holds, out of its archive. */
static void
rewrite_view(ViewAnswers *rewrite, RangeTblEntry *rte, Oid view)
{
	Query	   *raw = rte->subquery;
	StrataRollup *rollup = usable_rollup(view, raw);
	StrataRanges ranges = {0};
	Query	   *kept;
	Query	   *all;
	Node	   *rest;

	if (rollup == NULL)
		return;
	if (rollup->materialized_only)
	{
		kept = archive_half(rollup, NULL);
		rest = makeBoolConst(false, false);
	}
	else if (rewrite->snapshot == NULL)
		return;
	else
	{
		strata_rollup_clean(rollup, rewrite->snapshot, &ranges);
		if (ranges.n == 0)
			return;
		strata_rollup_few_ranges(&ranges);
		kept = archive_half(rollup, &ranges);
		rest = strata_rollup_time_not_in(rollup, &ranges);
	}
	Assert(kept->groupClause == NIL);	/* rollup:Z6 */
	if (!same_types(kept, raw))
		return;
	strata_rollup_add_qual(raw, rest);
	all = strata_rollup_union(kept, raw);
	strata_rollup_take_order(all, raw);
	rte->subquery = all;
	rewrite->done = lappend(rewrite->done, raw);
	if (ranges.n > 0)
		rewrite->uses =
			lappend(rewrite->uses, strata_rollup_make_use(view, &ranges, NIL));
}

static bool
answer_views(Query *query, void *context)
{
	ViewAnswers *rewrite = context;
	ListCell   *lc;

	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);
		Oid			view = strata_rte_view(rte);

		if (OidIsValid(view) && strata_rollup_is(view) &&
			!list_member_ptr(rewrite->done, rte->subquery))
			rewrite_view(rewrite, rte, view);
	}
	return false;
}

/* Of whom the rows are not looked at: NULL. */
static Snapshot
reading_snapshot(void)
{
	/* what the transaction has changed is known to the leader alone */
	return strata_enable_archive_rewrite && ActiveSnapshotSet() &&
		!IsParallelWorker() ? GetActiveSnapshot() : NULL;
}

/* See rollup.h. */
List *
strata_rollup_rewrite(Query *query)
{
	ViewAnswers answers = {reading_snapshot(), NULL, NIL, NIL};

	if (query->commandType == CMD_UTILITY)
		return NIL;
	(void) strata_query_visit_all(query, answer_views, &answers);
	Assert(answers.uses == NIL ||
		   answers.snapshot != NULL);	/* rollup:Z6 */
	return answers.uses;
}

static bool
answer_table(Query *query, void *context)
{
	ViewAnswers *answers = context;
	Query	   *rest = NULL;
	List	   *use;

	if (list_member_ptr(answers->done, query))
		return false;
	use = strata_rollup_answer_table(query, answers->params, answers->snapshot,
									 &rest);
	if (use != NIL)
	{
		answers->uses = lappend(answers->uses, use);
		answers->done = lappend(answers->done, rest);
	}
	return false;
}

/* See rollup.h. */
List *
strata_rollup_rewrite_tables(Query *query, ParamListInfo params)
{
	ViewAnswers answers = {reading_snapshot(), params, NIL, NIL};

	if (query->commandType == CMD_UTILITY || answers.snapshot == NULL ||
		strata_rollup_is_refreshing)
		return NIL;
	(void) strata_query_visit_all(query, answer_table, &answers);
	return answers.uses;
}
