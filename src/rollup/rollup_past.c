/*-------------------------------------------------------------------------
 *
 * rollup_past.c
 *	  Reading what retention has left in archives alone.
 *
 * The archive's rows of kept buckets are of rows that are gone.  What is there
 * of these times besides, in a chunk that was made anew or in one that a
 * bucket reaches into, is aggregated as its partials, and both are combined:
 *
 *	  SELECT values out of combined partials
 *	  FROM (SELECT * FROM archive WHERE bucket in kept ranges
 *			UNION ALL
 *			partials of the definition, WHERE time in kept ranges)
 *	  GROUP BY bucket, groups HAVING ...
 *
 * src/rollup/rollup_past.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "base/base.h"
#include "base/compat.h"
#include "catalog/catalog.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"

/* See rollup_private.h. */
void
strata_rollup_select_columns(Query *query, const StrataRollup *rollup)
{
	ListCell   *lc;

	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);
		AttrNumber	attno = foreach_current_index(lc) + 1;
		Var		   *var = strata_rollup_archive_var(rollup, attno);

		query->targetList = lappend(query->targetList,
									makeTargetEntry((Expr *) var, attno,
													pstrdup(column->name),
													false));
	}
}

/*
 * Partials of the rows in the ranges, from the definition as the rewriter has
 * it: views in it are subqueries, and permissions are known.
 */
static Query *
partials_half(const StrataRollup *rollup, const Query *definition,
			  const StrataRanges *ranges)
{
	Query	   *query = copyObjectImpl(definition);
	Query	   *partials = strata_rollup_partials(rollup);

	strata_query_flatten_groups(query);
	query->targetList = partials->targetList;
	query->groupClause = partials->groupClause;
	query->hasAggs = partials->hasAggs;
	query->havingQual = NULL;
	query->sortClause = NIL;
	strata_rollup_add_qual(query, strata_rollup_time_in(rollup, ranges));
	return query;
}

/*
 * Group by all columns that are no partials, as the definition does; not by
 * constants, which are selected as they are written and tell no groups apart.
 */
static void
group_by_columns(Query *query, const StrataRollup *rollup,
				 const Query *partials)
{
	ListCell   *lc;

	foreach(lc, partials->groupClause)
	{
		SortGroupClause *clause = copyObject(lfirst_node(SortGroupClause, lc));
		TargetEntry *column = get_sortgroupclause_tle(clause,
													  partials->targetList);
		StrataRollupColumn *kept = list_nth(rollup->columns,
											column->resno - 1);
		Var		   *var = strata_rollup_archive_var(rollup, column->resno);
		TargetEntry *entry = tlist_member((Expr *) var, query->targetList);

		if (IsA(kept->expr, Const))
			continue;
		if (entry == NULL)
		{
			entry = makeTargetEntry((Expr *) var,
									list_length(query->targetList) + 1,
									pstrdup(kept->name), true);
			query->targetList = lappend(query->targetList, entry);
		}
		clause->tleSortGroupRef = entry->ressortgroupref =
			foreach_current_index(lc) + 1;
		query->groupClause = lappend(query->groupClause, clause);
	}
}

/* See rollup_private.h. */
Query *
strata_rollup_past(const StrataRollup *rollup, const Query *definition,
				   const StrataRanges *kept, Query **rows)
{
	Query	   *base = strata_rollup_archive_query(rollup, kept);
	Query	   *query;

	Assert(kept->n > 0 && *rows == NULL);	/* rollup:Z7 */
	strata_rollup_select_columns(base, rollup);
	*rows = partials_half(rollup, definition, kept);
	query = strata_rollup_select_from(strata_rollup_union(base, *rows));
	strata_rollup_select_finals(query, rollup, true);
	group_by_columns(query, rollup, *rows);
	if (rollup->query->havingQual != NULL)
		query->havingQual = (Node *)
			strata_rollup_final(rollup, (Expr *) rollup->query->havingQual,
								STRATA_ARCHIVE_VARNO, true);
	query->hasAggs = true;
	Assert(query->groupClause != NIL);	/* rollup:Z5 */
	return query;
}

/* See rollup_private.h. */
List *
strata_rollup_past_use(Oid view, const StrataRanges *kept,
					   const StrataRanges *clean)
{
	return list_make3(makeString(psprintf("%u", view)),
					  makeString(strata_rollup_ranges_text(kept)),
					  makeString(strata_rollup_ranges_text(clean)));
}

/* The view of such a use; NULL: it is another. */
static Oid
view_of_use(const List *use)
{
	return IsA(linitial(use), String) ?
		(Oid) strtoul(strVal(linitial(use)), NULL, 10) : InvalidOid;
}

/*
 * Have rows of the archive gone since the snapshot was taken, that it should
 * find, or (dropped) rows of kept times?
 */
static bool
have_gone(Oid view, Snapshot snapshot, bool dropped)
{
	StrataRollupRow *now = strata_rollup_row(view);
	StrataRollupRow *then;

	if (now == NULL || (now->losses == 0 && now->drops == 0))
		return false;
	then = strata_rollup_row_at(view, snapshot);
	return then != NULL &&
		(now->losses != then->losses ||
		 (dropped && now->drops != then->drops));
}

/* See rollup.h. */
bool
strata_rollup_past_moved(const List *uses, Snapshot snapshot)
{
	ListCell   *lc;

	foreach(lc, uses)
	{
		Oid			view = view_of_use(lfirst(lc));
		StrataRanges then;
		StrataRanges now;

		if (!OidIsValid(view))
			continue;
		if (have_gone(view, snapshot, true))
			return true;
		strata_rollup_kept(view, snapshot, &then);
		strata_rollup_kept(view, NULL, &now);
		if (strcmp(strata_rollup_ranges_text(&then),
				   strata_rollup_ranges_text(&now)) != 0)
			return true;
	}
	return false;
}

/* See rollup.h. */
void
strata_rollup_past_check(const List *uses, Snapshot snapshot)
{
	ListCell   *lc;

	foreach(lc, uses)
	{
		List	   *use = lfirst(lc);
		Oid			view = view_of_use(use);
		StrataRollup *rollup;
		StrataRanges missed;
		StrataRanges known;
		bool		gone;

		if (!OidIsValid(view))
			continue;
		strata_rollup_kept(view, NULL, &missed);
		strata_rollup_kept(view, snapshot, &known);
		gone = have_gone(view, snapshot, known.n > 0);
		strata_ranges_remove(&missed, &known);
		rollup = missed.n > 0 || gone ? strata_rollup_open(view, true) : NULL;
		if (rollup == NULL)
			continue;
		/* others compute it from rows */
		if (gone && (known.n > 0 || rollup->materialized_only))
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access due to concurrent drop of rows of continuous aggregate \"%s\"",
							get_rel_name(view)),
					 errdetail("Rows that its archive alone had, or that came late to what it keeps, went after the snapshot was taken.")));
		if (rollup->materialized_only)
			continue;
		Assert(snapshot->snapshot_type == SNAPSHOT_MVCC);	/* rollup:Z7 */
		strata_rollup_read_ranges("clean", strVal(lthird(use)), &known);
		strata_ranges_remove(&missed, &known);
		if (missed.n > 0)
			ereport(ERROR,
					(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
					 errmsg("could not serialize access due to concurrent drop of chunks of \"%s\"",
							get_rel_name(rollup->source)),
					 errdetail("What continuous aggregate \"%s\" keeps of them is newer than the snapshot.",
							   get_rel_name(view))));
	}
}

/* See rollup_private.h. */
bool
strata_rollup_past_holds(const List *use, Snapshot snapshot)
{
	Oid			view = (Oid) strtoul(strVal(linitial(use)), NULL, 10);
	StrataRanges now;

	strata_rollup_kept(view, snapshot, &now);
	return strcmp(strata_rollup_ranges_text(&now),
				  strVal(lsecond(use))) == 0;
}
