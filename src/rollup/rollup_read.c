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
#include "rollup/rollup_join_private.h"
#include "rollup/rollup_private.h"
#include "rollup/rollup_reach_private.h"

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
	List	   *own;			/* those of rollups, or entries there */
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
		list_length(rollup->definition->targetList) ||
		(int) rollup->varno > list_length(query->rtable))
		return false;
	rte = rt_fetch(rollup->varno, query->rtable);
	foreach(lc, query->rtable)
	{
		/* what is joined is read as it is */
		if (lfirst_node(RangeTblEntry, lc)->securityQuals != NIL &&
			(!rollup->joined || lfirst(lc) == rte))
			return false;
	}
	below = strata_rollup_of_archive(rollup->source);
	return OidIsValid(below) ? strata_rte_view(rte) == below :
		rte->rtekind == RTE_RELATION && rte->relid == rollup->source;
}

/*
 * Have what the query is ordered by be seen, so that two halves can be sorted
 * together; the result is how many columns it had.
 */
static int
reveal_order(Query *query)
{
	List	   *shown = NIL;
	List	   *ordered = NIL;
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!entry->resjunk)
			shown = lappend(shown, entry);
		else if (get_sortgroupref_clause_noerr(entry->ressortgroupref,
											   query->sortClause) == NULL)
			others = lappend(others, entry);
		else
		{
			entry->resjunk = false;
			entry->resname = pstrdup("order");
			ordered = lappend(ordered, entry);
		}
	}
	query->targetList = list_concat(list_concat(list_copy(shown), ordered),
									others);
	foreach(lc, query->targetList)
		lfirst_node(TargetEntry, lc)->resno = foreach_current_index(lc) + 1;
	return list_length(shown);
}

/* And again no more columns than these. */
static void
hide_order(Query *query, int nshown)
{
	ListCell   *lc;

	for_each_from(lc, query->targetList, nshown)
		lfirst_node(TargetEntry, lc)->resjunk = true;
}

/* The same of both halves, which cannot have such columns: a query of them. */
static Query *
with_hidden_order(Query *all, int nshown)
{
	Query	   *query;
	ListCell   *lc;

	if (list_length(all->targetList) == nshown)
		return all;
	query = strata_rollup_select_from(all);
	foreach(lc, all->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		query->targetList =
			lappend(query->targetList,
					makeTargetEntry((Expr *) makeVarFromTargetEntry(1, entry),
									entry->resno, pstrdup(entry->resname),
									false));
	}
	hide_order(query, nshown);
	return query;
}

/* The rollup of a view that may be answered out of it, or NULL. */
static StrataRollup *
usable_rollup(Oid view, const Query *query)
{
	StrataRollup *rollup = strata_rollup_usable(view);

	return rollup != NULL && is_definition(query, rollup) ? rollup : NULL;
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

	strata_rollup_select_finals(query, rollup, false);
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
		TargetEntry *ours = lfirst_node(TargetEntry, lc);
		TargetEntry *theirs;

		if (ours->resjunk)
			break;
		theirs = list_nth_node(TargetEntry, raw->targetList,
							   foreach_current_index(lc));
		if (theirs->resjunk ||
			exprType((Node *) ours->expr) != exprType((Node *) theirs->expr) ||
			exprCollation((Node *) ours->expr) !=
			exprCollation((Node *) theirs->expr))
			return false;
	}
	return true;
}

/* Where only the archive knows, there is no other answer. */
static void
refuse_without(Oid view)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("continuous aggregate \"%s\" cannot be read",
					get_rel_name(view)),
			 errdetail("Its archive has what was made of rows that are gone, and cannot be used: row security hides rows of a table, or the owner may not read it.")));
}

/*
 * The archive's part of an answer, and *rest, what times the definition is
 * left with; NULL: none, or all of it.
 */
static Query *
clean_part(const ViewAnswers *answers, const StrataRollup *rollup,
		   const StrataRanges *kept, StrataRanges *clean, Node **rest)
{
	StrataRanges known = {0};

	*rest = NULL;
	if (rollup->materialized_only)
	{
		*rest = makeBoolConst(false, false);
		if (kept->n == 0)
			return archive_half(rollup, NULL);
		strata_ranges_add(&known, strata_range(PG_INT64_MIN, PG_INT64_MAX));
		strata_ranges_remove(&known, kept);
		return archive_half(rollup, &known);
	}
	if (answers->snapshot != NULL)
		strata_rollup_clean(rollup, answers->snapshot, clean);
	strata_rollup_few_ranges(rollup, clean);
	strata_ranges_copy(&known, clean);
	for (int i = 0; i < kept->n; i++)
		strata_ranges_add(&known, kept->r[i]);
	if (known.n > 0)
		*rest = strata_rollup_time_not_in(rollup, &known);
	return clean->n > 0 ? archive_half(rollup, clean) : NULL;
}

/*
 * The same of a definition with joins, and of what is kept, which it combines
 * with the rows of its times: *rows.
 */
static Query *
joined_part(const ViewAnswers *answers, const StrataRollup *rollup,
			const Query *raw, const StrataRanges *kept, StrataRanges *clean,
			Query **rows, Node **rest)
{
	Query	   *part = copyObjectImpl(raw);
	StrataRanges used;

	if (rollup->materialized_only)
	{
		*rest = makeBoolConst(false, false);
		*rows = strata_rollup_join_archive(rollup, part, NULL, kept);
		return part;
	}
	if (answers->snapshot != NULL)
		strata_rollup_clean(rollup, answers->snapshot, clean);
	strata_rollup_few_ranges(rollup, clean);
	strata_ranges_copy(&used, clean);
	for (int i = 0; i < kept->n; i++)
		strata_ranges_add(&used, kept->r[i]);
	if (used.n == 0)
		return NULL;
	*rest = strata_rollup_time_not_in(rollup, &used);
	*rows = strata_rollup_join_archive(rollup, part, &used, kept);
	return part;
}

/* Answer a view's entry, whose definition it holds, out of its archive. */
static void
rewrite_view(ViewAnswers *rewrite, RangeTblEntry *rte, Oid view)
{
	Query	   *raw = rte->subquery;
	StrataRollup *rollup = usable_rollup(view, raw);
	StrataRanges clean = {0};
	StrataRanges none = {0};
	StrataRanges kept;
	Query	   *part;
	Query	   *past = NULL;
	Query	   *rows = NULL;
	Query	   *all = raw;
	Node	   *rest = NULL;
	ListCell   *use;
	int			nshown;

	strata_rollup_kept(view, ActiveSnapshotSet() ? GetActiveSnapshot() : NULL,
					   &kept);
	/* of the archive nothing else is read, unless the end is reached */
	rewrite->uses = lappend(rewrite->uses,
							strata_rollup_past_use(view, &kept, &none));
	use = list_tail(rewrite->uses);
	/* whether what is joined reaches what is gone is asked as ever */
	rewrite->own = lappend(rewrite->own,
						   rollup != NULL && rollup->joined ?
						   (void *) rt_fetch(rollup->varno, raw->rtable) :
						   (void *) raw);
	if (rollup == NULL)
	{
		if (kept.n > 0)
			refuse_without(view);
		return;
	}
	nshown = reveal_order(raw);
	(void) reveal_order(rollup->definition);
	part = rollup->joined ?
		joined_part(rewrite, rollup, raw, &kept, &clean, &rows, &rest) :
		clean_part(rewrite, rollup, &kept, &clean, &rest);
	if (kept.n > 0 && !rollup->joined)
		past = strata_rollup_past(rollup, raw, &kept, &rows);
	Assert(part == NULL || rollup->joined ||
		   part->groupClause == NIL);	/* rollup:Z6 */
	if ((past != NULL && !same_types(past, raw)) ||
		(part != NULL && !same_types(part, raw)))
	{
		if (kept.n > 0)
			refuse_without(view);
		hide_order(raw, nshown);
		return;
	}
	if (rollup->joined && part != NULL)
	{
		part->sortClause = NIL;
		rewrite->done = lappend(rewrite->done, part);
	}
	if (rest != NULL)
		strata_rollup_add_qual(raw, rest);
	if (part != NULL)
		all = strata_rollup_union(part, all);
	if (past != NULL)
		all = strata_rollup_union(past, all);
	if (all == raw)
	{
		hide_order(raw, nshown);
		return;
	}
	all = with_hidden_order(all, nshown);
	strata_rollup_take_order(all, raw);
	rte->subquery = all;
	rewrite->done = lappend(rewrite->done, raw);
	if (rows != NULL)
	{
		rewrite->done = lappend(rewrite->done, rows);
		rewrite->own = lappend(rewrite->own, rows);
	}
	if (clean.n == 0)
		return;
	lfirst(use) = strata_rollup_past_use(view, &kept, &clean);
	rewrite->uses = lappend(rewrite->uses,
							strata_rollup_make_use(view, &clean, NIL));
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
strata_rollup_rewrite(Query *query, List **own)
{
	ViewAnswers answers = {.snapshot = reading_snapshot()};

	*own = NIL;
	if (query->commandType == CMD_UTILITY)
		return NIL;
	(void) strata_query_visit_all(query, answer_views, &answers);
	*own = answers.own;
	return answers.uses;
}

/* Answer a query that aggregates one table, if an archive can. */
static bool
answer_table(Query *query, void *context)
{
	ViewAnswers *answers = context;
	Query	   *rest = NULL;
	List	   *uses;

	if (list_member_ptr(answers->done, query))
		return false;
	uses = strata_rollup_answer_table(query, answers->params,
									  answers->snapshot,
									  !list_member_ptr(answers->own, query),
									  &rest);
	if (uses != NIL)
	{
		answers->uses = list_concat(answers->uses, uses);
		answers->done = lappend(answers->done, rest);
		answers->own = lappend(lappend(answers->own, query), rest);
	}
	return false;
}

/* See rollup.h. */
List *
strata_rollup_rewrite_tables(Query *query, ParamListInfo params,
							 const List *own)
{
	ViewAnswers answers = {.snapshot = reading_snapshot(),.params = params};

	if (query->commandType == CMD_UTILITY || strata_rollup_is_refreshing)
		return NIL;
	answers.own = list_copy(own);
	(void) strata_query_visit_all(query, answer_table, &answers);
	return list_concat(answers.uses,
					   strata_rollup_check_reach(query, params, answers.own));
}
