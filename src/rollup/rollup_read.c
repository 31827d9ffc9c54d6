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

/* A plan has at most so many ranges of one rollup. */
#define MAX_RANGES 32

typedef struct ViewAnswers
{
	Snapshot	snapshot;		/* NULL: only those that do not look at rows */
	List	   *done;			/* queries that stay as they are */
	List	   *uses;
} ViewAnswers;

/*-------------------------------------------------------------------------
 * What may be used
 *-------------------------------------------------------------------------
 */

static int
compare_lengths(const void *a, const void *b)
{
	uint64		la = (uint64) ((const StrataRange *) a)->hi -
	(uint64) ((const StrataRange *) a)->lo;
	uint64		lb = (uint64) ((const StrataRange *) b)->hi -
	(uint64) ((const StrataRange *) b)->lo;

	return la > lb ? -1 : la < lb;
}

/* Few of them: of many the longest.  What goes is computed from rows. */
static void
keep_longest(StrataRanges *ranges)
{
	StrataRanges longest = {0};

	if (ranges->n <= MAX_RANGES)
		return;
	qsort(ranges->r, ranges->n, sizeof(StrataRange), compare_lengths);
	for (int i = 0; i < MAX_RANGES; i++)
		strata_ranges_add(&longest, ranges->r[i]);
	*ranges = longest;
}

static Const *
make_number(int64 number)
{
	return makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
					 Int64GetDatum(number), false, FLOAT8PASSBYVAL);
}

/* A view, then ends of ranges: a list that a plan can carry. */
static List *
make_use(Oid view, const StrataRanges *ranges)
{
	List	   *use = list_make1(make_number(view));

	for (int i = 0; i < ranges->n; i++)
	{
		use = lappend(use, make_number(ranges->r[i].lo));
		use = lappend(use, make_number(ranges->r[i].hi));
	}
	return use;
}

static int64
number(const List *use, int i)
{
	return DatumGetInt64(list_nth_node(Const, use, i)->constvalue);
}

/* Who owns the table, and does it keep rows from users? */
static Oid
owner_and_rls(Oid relid, bool *row_security)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner = InvalidOid;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	*row_security = ((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;
	ReleaseSysCache(tuple);
	return owner;
}

/* Do the view, and those it is made of, see all rows? */
static bool
sees_all_rows(Oid view)
{
	while (OidIsValid(view))
	{
		StrataRollupRow *row = strata_rollup_row(view);
		bool		row_security = false;

		if (row == NULL ||
			!OidIsValid(owner_and_rls(row->source, &row_security)) ||
			row_security)
			return false;
		view = strata_rollup_of_archive(row->source);
	}
	return true;
}

static bool
is_clean(const List *use, Snapshot snapshot)
{
	Oid			view = (Oid) number(use, 0);
	StrataRollup *rollup;
	StrataRanges clean;

	rollup = sees_all_rows(view) ? strata_rollup_open(view, true) : NULL;
	if (rollup == NULL)
		return false;
	strata_rollup_clean(rollup, snapshot, &clean);
	for (int i = 1; i + 1 < list_length(use); i += 2)
	{
		if (!strata_ranges_contain(&clean, strata_range(number(use, i),
														number(use, i + 1))))
			return false;
	}
	return true;
}

/* See rollup.h. */
bool
strata_rollup_uses_hold(const List *uses, Snapshot snapshot)
{
	ListCell   *lc;

	/* a worker runs what its leader has looked at */
	if (IsParallelWorker())
		return true;
	foreach(lc, uses)
	{
		if (!is_clean(lfirst(lc), snapshot))
			return false;
	}
	return true;
}

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
	StrataRollup *rollup;
	bool		row_security = false;
	Oid			owner;

	if (!sees_all_rows(view))
		return NULL;
	rollup = strata_rollup_open(view, true);
	if (rollup == NULL || !is_definition(query, rollup) || !can_sort(query))
		return NULL;
	LockRelationOid(rollup->archive, AccessShareLock);
	owner = owner_and_rls(rollup->archive, &row_security);
	if (!OidIsValid(owner) || row_security ||
		pg_class_aclcheck(rollup->archive, owner, ACL_SELECT) != ACLCHECK_OK)
		return NULL;
	return rollup;
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
		keep_longest(&ranges);
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
		rewrite->uses = lappend(rewrite->uses, make_use(view, &ranges));
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

/* See rollup.h. */
List *
strata_rollup_rewrite(Query *query)
{
	ViewAnswers rewrite = {NULL, NIL, NIL};

	if (query->commandType == CMD_UTILITY)
		return NIL;
	/* what the transaction has changed is known to the leader alone */
	if (strata_enable_archive_rewrite && ActiveSnapshotSet() &&
		!IsParallelWorker())
		rewrite.snapshot = GetActiveSnapshot();
	(void) strata_query_visit_all(query, answer_views, &rewrite);
	Assert(rewrite.uses == NIL || rewrite.snapshot != NULL);	/* rollup:Z6 */
	return rewrite.uses;
}
