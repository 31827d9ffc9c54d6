/*-------------------------------------------------------------------------
 *
 * rollup_table.c
 *	  Aggregate queries of a hypertable, answered out of a rollup's archive.
 *
 * A query that groups a hypertable by less than a rollup of it does,
 *
 *	  SELECT groups, aggregates FROM table WHERE conditions GROUP BY groups
 *
 * has its table replaced by a subquery of partials,
 *
 *	  SELECT groups, partials FROM archive
 *			WHERE bucket in used ranges AND conditions
 *	  UNION ALL
 *	  SELECT groups, partial aggregates FROM table
 *			WHERE conditions AND time not in used ranges GROUP BY groups
 *
 * which it combines.  All else of the query stays.  Used are ranges that are
 * clean and lie within what the conditions say of the time.  Where groups are
 * just those of the rollup no group is in both halves, and nothing is left to
 * combine.
 *
 * Bounds of the time are evaluated when the query is planned; a plan in which
 * they have other values by the time it is run holds as long as they have the
 * used ranges inside.
 *
 * Over 600 lines: what a query may be, and what becomes of it, are the same
 * walk over its parts.
 *
 * src/rollup/rollup_table.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"
#include "rollup/rollup_reach_private.h"

#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "access/stratnum.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

/* The table's entry in the half that reads it. */
#define TABLE_VARNO 1

/* A query of a table, about to be answered out of a rollup's archive. */
typedef struct TableQuery
{
	Query	   *query;
	Index		varno;			/* of the table */
	ParamListInfo params;
	Snapshot	snapshot;		/* NULL: nothing is clean */
	bool		beyond;			/* also what is kept of rows that are gone */
	StrataRollup *rollup;		/* its columns are over TABLE_VARNO */
	List	   *groups;			/* expressions, over TABLE_VARNO */
	List	   *conditions;		/* other than bounds, over TABLE_VARNO */
	List	   *bounds;			/* of the time: StrataTimeBound */
	StrataRanges needed;		/* what is gone of what is asked for */
	StrataRanges clean;
	StrataRanges kept;			/* read beside rows; has all that is needed */
	StrataRanges used;			/* of the archive: clean and kept */
	bool		exact;			/* groups are those of the rollup */
	List	   *attnos;			/* partials that are needed */
	bool		failed;
} TableQuery;

/*-------------------------------------------------------------------------
 * What the query says of the table
 *-------------------------------------------------------------------------
 */

/* Is it about queries outside of this one, or inside? */
static bool
reaches_out(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
		return ((Var *) node)->varlevelsup != 0 ||
			((Var *) node)->varattno <= 0;
	if (IsA(node, Aggref) && ((Aggref *) node)->agglevelsup != 0)
		return true;
	if (IsA(node, SubLink) || IsA(node, GroupingFunc) ||
		IsA(node, CurrentOfExpr))
		return true;
	return expression_tree_walker(node, reaches_out, context);
}

/* The entry of the hypertable that is all the query reads, or NULL. */
static RangeTblEntry *
only_table(Query *query, Index *varno)
{
	RangeTblEntry *rte;

	if (query->commandType != CMD_SELECT || query->setOperations != NULL ||
		query->hasSubLinks || query->groupingSets != NIL ||
		query->hasTargetSRFs || query->rowMarks != NIL ||
		(!query->hasAggs && query->groupClause == NIL) ||
		query->jointree == NULL ||
		list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return NULL;
	*varno = linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
	rte = rt_fetch(*varno, query->rtable);
	if (rte->rtekind != RTE_RELATION || !rte->inh ||
		rte->relkind != RELKIND_PARTITIONED_TABLE ||
		rte->tablesample != NULL || rte->securityQuals != NIL)
		return NULL;
	return rte;
}

/* Conditions that are ANDed, however they are nested. */
static List *
flatten(Node *quals)
{
	List	   *result = NIL;
	ListCell   *lc;

	if (quals == NULL)
		return NIL;
	if (!is_andclause(quals))
		return list_make1(quals);
	foreach(lc, ((BoolExpr *) quals)->args)
		result = list_concat(result, flatten(lfirst(lc)));
	return result;
}

/* The table's time column? */
static bool
is_time(const TableQuery *tq, const Node *node)
{
	const Var  *var = (const Var *) node;

	return IsA(node, Var) && var->varno == TABLE_VARNO &&
		var->varattno == tq->rollup->time &&
		var->vartype == tq->rollup->time_type;
}

/*
 * Tell bounds of the time from other conditions; false: the archive has rows
 * that they, or lacks rows that they do not, leave out.
 */
static bool
sort_conditions(TableQuery *tq)
{
	Node	   *theirs = copyObject(tq->rollup->query->jointree->quals);
	Node	   *ours = copyObject(tq->query->jointree->quals);
	List	   *kept;
	List	   *asked;
	ListCell   *lc;

	ChangeVarNodes(theirs, tq->rollup->varno, TABLE_VARNO, 0);
	ChangeVarNodes(ours, tq->varno, TABLE_VARNO, 0);
	if (contain_volatile_functions(ours) || reaches_out(ours, NULL))
		return false;
	kept = flatten(theirs);
	asked = flatten(ours);
	foreach(lc, kept)
	{
		if (!list_member(asked, lfirst(lc)))
			return false;
	}
	foreach(lc, asked)
	{
		StrataTimeBound *bound;

		if (list_member(kept, lfirst(lc)))
			continue;
		bound = strata_rollup_match_bound(lfirst(lc), TABLE_VARNO,
										  tq->rollup->time,
										  tq->rollup->time_type);
		if (bound != NULL)
			tq->bounds = lappend(tq->bounds, bound);
		else
			tq->conditions = lappend(tq->conditions, lfirst(lc));
	}
	return true;
}

/*
 * What is gone is known as of now.  Who may have a newer snapshot when the
 * plan is run is planned for with what is kept now, too: a drop may have been
 * waited for since this one was taken.
 */
static Snapshot
keeping_snapshot(void)
{
	return IsolationUsesXactSnapshot() && ActiveSnapshotSet() ?
		GetActiveSnapshot() : NULL;
}

/*
 * Whole buckets of times that the archive alone knows, within the bounds;
 * false: not all that is needed.
 */
static bool
find_kept_ranges(TableQuery *tq, StrataRange window)
{
	StrataRanges lost;
	StrataRanges missing;

	strata_rollup_kept(tq->rollup->view, keeping_snapshot(), &tq->kept);
	strata_ranges_clip(&tq->kept, window);
	strata_rollup_lost(tq->rollup->view, &lost);
	strata_ranges_remove(&tq->kept, &lost);
	strata_ranges_copy(&missing, &tq->needed);
	strata_ranges_remove(&missing, &tq->kept);
	Assert(missing.n == 0 || tq->needed.n > 0); /* rollup:Z9 */
	return missing.n == 0;
}

/*
 * Ranges of the archive that are read: what is clean, and within the bounds;
 * and what is kept, if rows are asked for that are gone.
 */
static bool
find_ranges(TableQuery *tq)
{
	int64		lo;
	int64		hi;
	StrataRollupBucket bucket = tq->rollup->bucket;
	StrataRange window;

	if (!strata_rollup_window(tq->bounds, tq->rollup->time_type, tq->params,
							  &lo, &hi))
		return false;
	window = strata_rollup_bucket_inward(&bucket, lo, hi);
	if (tq->snapshot != NULL)
		strata_rollup_clean(tq->rollup, tq->snapshot, &tq->clean);
	strata_ranges_clip(&tq->clean, window);
	strata_rollup_few_ranges(tq->rollup, &tq->clean);
	if (tq->beyond)
		strata_rollup_needed(tq->rollup->source, tq->bounds,
							 tq->rollup->time_type, tq->params, &tq->needed);
	if (tq->needed.n > 0 && !find_kept_ranges(tq, window))
		return false;
	strata_ranges_copy(&tq->used, &tq->clean);
	for (int i = 0; i < tq->kept.n; i++)
		strata_ranges_add(&tq->used, tq->kept.r[i]);
	return tq->used.n > 0;
}

/*-------------------------------------------------------------------------
 * Expressions over the archive
 *-------------------------------------------------------------------------
 */

static Expr *
archive_column(const TableQuery *tq, AttrNumber attno)
{
	return (Expr *) strata_rollup_archive_var(tq->rollup, attno);
}

/* Have a call be of the archive's bucket instead of the time. */
static Node *
bucket_mutator(Node *node, void *context)
{
	if (node == NULL)
		return NULL;
	if (is_time(context, node))
		return (Node *) archive_column(context, 1);
	return expression_tree_mutator(node, bucket_mutator, context);
}

/* A call that makes buckets which those of the archive add up to, or NULL. */
static Node *
wider_bucket(TableQuery *tq, Node *node)
{
	StrataRollupBucket wide;
	StrataRollupBucket narrow = tq->rollup->bucket;
	Expr	   *time;

	if (!IsA(node, FuncExpr) ||
		!strata_rollup_bucket_init(&wide, node, &time) ||
		!is_time(tq, (Node *) time) || wide.type != narrow.type ||
		exprType((Node *) archive_column(tq, 1)) != tq->rollup->time_type ||
		!strata_rollup_bucket_nests(&wide, &narrow, &tq->used))
		return NULL;
	return bucket_mutator(node, tq);
}

/*
 * The same of the archive's columns, where all rows that a row of the archive
 * was made of have the same there.
 */
static Node *
archive_mutator(Node *node, void *context)
{
	TableQuery *tq = context;
	Node	   *bucket;
	ListCell   *lc;

	if (node == NULL || tq->failed)
		return NULL;
	foreach(lc, tq->rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (column->kind == STRATA_ROLLUP_PARTIAL ||
			!equal(column->expr, node))
			continue;
		if (!strata_equal_is_identical(column->type, column->collation))
			tq->failed = true;
		return (Node *) archive_column(tq, foreach_current_index(lc) + 1);
	}
	bucket = wider_bucket(tq, node);
	if (bucket != NULL)
		return bucket;
	if (IsA(node, Var) || IsA(node, Aggref))
	{
		tq->failed = true;
		return NULL;
	}
	return expression_tree_mutator(node, archive_mutator, context);
}

/* Does each row of the archive make a group of its own? */
static bool
groups_are_those_of_archive(const TableQuery *tq)
{
	ListCell   *lc;

	foreach(lc, tq->rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (column->kind != STRATA_ROLLUP_PARTIAL &&
			!list_member(tq->groups, column->expr))
			return false;
	}
	return true;
}

/*-------------------------------------------------------------------------
 * The query, of partials
 *-------------------------------------------------------------------------
 */

/* Columns of the subquery: groups first, then partials, as they are needed. */
static Node *
partial_mutator(Node *node, void *context)
{
	TableQuery *tq = context;
	Var		   *var;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var))
		return expression_tree_mutator(node, partial_mutator, context);
	tq->attnos = list_append_unique_int(tq->attnos, ((Var *) node)->varattno);
	var = copyObject((Var *) node);
	for (int i = 0; i < list_length(tq->attnos); i++)
	{
		if (list_nth_int(tq->attnos, i) == ((Var *) node)->varattno)
			var->varattno = list_length(tq->groups) + i + 1;
	}
	return (Node *) var;
}

/* The entry that the subquery gets. */
static Index
subquery_varno(const TableQuery *tq)
{
	return list_length(tq->query->rtable) + 1;
}

/* What the query selects, of the subquery's columns. */
static Node *
outer_mutator(Node *node, void *context)
{
	TableQuery *tq = context;
	ListCell   *lc;

	if (node == NULL || tq->failed)
		return NULL;
	foreach(lc, tq->groups)
	{
		Node	   *group = lfirst(lc);

		if (equal(group, node))
			return (Node *) makeVar(subquery_varno(tq),
									foreach_current_index(lc) + 1,
									exprType(group), exprTypmod(group),
									exprCollation(group), 0);
	}
	if (IsA(node, Aggref))
	{
		Expr	   *value;

		if (!strata_rollup_knows(tq->rollup, (Aggref *) node) ||
			(!tq->exact &&
			 !strata_rollup_combines(tq->rollup, (Expr *) node)))
		{
			tq->failed = true;
			return NULL;
		}
		value = strata_rollup_final(tq->rollup, (Expr *) node,
									subquery_varno(tq), !tq->exact);
		return partial_mutator((Node *) value, tq);
	}
	if (IsA(node, Var))
	{
		tq->failed = true;
		return NULL;
	}
	return expression_tree_mutator(node, outer_mutator, context);
}

static void
add_target(Query *query, Expr *expr, Index ref)
{
	AttrNumber	no = list_length(query->targetList) + 1;
	TargetEntry *entry = makeTargetEntry(expr, no, psprintf("c%d", no), false);

	entry->ressortgroupref = ref;
	query->targetList = lappend(query->targetList, entry);
}

/* Groups and partials of the archive's rows; tq->failed: not all. */
static Query *
archive_part(TableQuery *tq)
{
	Query	   *query = strata_rollup_archive_query(tq->rollup, &tq->used);
	ListCell   *lc;

	foreach(lc, tq->groups)
		add_target(query, (Expr *) archive_mutator(lfirst(lc), tq), 0);
	foreach(lc, tq->conditions)
	{
		Node	   *qual = archive_mutator(lfirst(lc), tq);

		if (tq->failed)
			return NULL;
		strata_rollup_add_qual(query, qual);
	}
	foreach(lc, tq->attnos)
		add_target(query, archive_column(tq, lfirst_int(lc)), 0);
	return query;
}

/* The same of the table's other rows. */
static Query *
table_part(TableQuery *tq)
{
	Query	   *query = makeNode(Query);
	RangeTblRef *ref = makeNode(RangeTblRef);
	Node	   *quals = copyObject(tq->query->jointree->quals);
	Node	   *rest;
	ListCell   *lc;

	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	strata_query_copy_entry(query, tq->query, tq->varno);
	ref->rtindex = TABLE_VARNO;
	ChangeVarNodes(quals, tq->varno, TABLE_VARNO, 0);
	query->jointree = makeFromExpr(list_make1(ref), quals);
	if (tq->clean.n > 0)
	{
		rest = strata_rollup_time_not_in(tq->rollup, &tq->clean);
		ChangeVarNodes(rest, tq->rollup->varno, TABLE_VARNO, 0);
		strata_rollup_add_qual(query, rest);
	}
	foreach(lc, tq->query->groupClause)
	{
		SortGroupClause *clause = copyObject(lfirst_node(SortGroupClause, lc));
		int			i = foreach_current_index(lc);

		clause->tleSortGroupRef = i + 1;
		query->groupClause = lappend(query->groupClause, clause);
		add_target(query, copyObject(list_nth(tq->groups, i)), i + 1);
	}
	foreach(lc, tq->attnos)
	{
		StrataRollupColumn *column = list_nth(tq->rollup->columns,
											  lfirst_int(lc) - 1);

		add_target(query, copyObject(column->expr), 0);
	}
	query->hasAggs = tq->attnos != NIL;
	Assert(query->groupClause != NIL || query->hasAggs);	/* rollup:Z6 */
	return query;
}

/* Put what was made in the place of the table. */
static void
replace_table(TableQuery *tq, Query *parts, List *targets, Node *having)
{
	Query	   *query = tq->query;
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	RangeTblRef *ref = makeNode(RangeTblRef);
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, parts->targetList)
		names = lappend(names,
						makeString(lfirst_node(TargetEntry, lc)->resname));
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = parts;
	rte->alias = makeAlias("partials", NIL);
	rte->eref = makeAlias("partials", names);
	rte->inFromCl = true;
	ref->rtindex = subquery_varno(tq);
	query->rtable = lappend(query->rtable, rte);
	query->jointree = makeFromExpr(list_make1(ref), NULL);
	query->targetList = targets;
	query->havingQual = having;
	strata_query_forget_groups(query);
	if (tq->exact)
	{
		Assert(query->groupClause != NIL);	/* rollup:Z6 */
		query->jointree->quals = query->havingQual;
		query->havingQual = NULL;
		query->groupClause = NIL;
		query->hasAggs = false;
	}
}

/* Groups of the query, over TABLE_VARNO; false: they are not to be had. */
static bool
find_query_groups(TableQuery *tq)
{
	ListCell   *lc;

	foreach(lc, tq->query->groupClause)
	{
		TargetEntry *entry = get_sortgroupclause_tle(lfirst(lc),
													 tq->query->targetList);
		Node	   *group = copyObject((Node *) entry->expr);

		ChangeVarNodes(group, tq->varno, TABLE_VARNO, 0);
		if (contain_volatile_functions(group) || reaches_out(group, NULL))
			return false;
		tq->groups = lappend(tq->groups, group);
	}
	return true;
}

/* Have the rollup's columns be over TABLE_VARNO. */
static void
change_columns(StrataRollup *rollup)
{
	ListCell   *lc;

	foreach(lc, rollup->columns)
		ChangeVarNodes((Node *) ((StrataRollupColumn *) lfirst(lc))->expr,
					   rollup->varno, TABLE_VARNO, 0);
}

/* What the plan has to carry. */
static List *
uses_of(const TableQuery *tq)
{
	Oid			view = tq->rollup->view;
	List	   *uses = NIL;
	StrataRanges kept;
	StrataRanges clean = {0};

	if (tq->clean.n > 0)
		uses = lappend(uses, strata_rollup_make_use(view, &tq->clean,
													tq->bounds));
	if (!tq->beyond)
		return uses;
	uses = lappend(uses, strata_rollup_reach_use(tq->rollup->source,
												 &tq->kept, tq->bounds));
	if (tq->kept.n == 0)
		return uses;
	strata_rollup_kept(view, keeping_snapshot(), &kept);
	/* what is asked for and not read is seen to by rollup_reach.c */
	if (tq->snapshot != NULL)
		strata_rollup_clean(tq->rollup, tq->snapshot, &clean);
	return lappend(uses, strata_rollup_past_use(view, &kept, &clean));
}

/* Answer the query out of this rollup's archive; false: it cannot be. */
static bool
answer_from(TableQuery *tq, List **uses, Query **rest)
{
	List	   *targets = copyObject(tq->query->targetList);
	Node	   *having = copyObject(tq->query->havingQual);
	Query	   *kept;

	change_columns(tq->rollup);
	if (!sort_conditions(tq) || !find_query_groups(tq) || !find_ranges(tq))
		return false;
	/* rows of kept times add to what the archive has */
	tq->exact = tq->kept.n == 0 && groups_are_those_of_archive(tq);
	ChangeVarNodes((Node *) targets, tq->varno, TABLE_VARNO, 0);
	ChangeVarNodes(having, tq->varno, TABLE_VARNO, 0);
	if (reaches_out((Node *) targets, NULL) || reaches_out(having, NULL))
		return false;
	targets = (List *) outer_mutator((Node *) targets, tq);
	having = outer_mutator(having, tq);
	if (tq->failed || (tq->groups == NIL && tq->attnos == NIL))
		return false;
	kept = archive_part(tq);
	if (tq->failed)
		return false;
	*rest = table_part(tq);
	replace_table(tq, strata_rollup_union(kept, *rest), targets, having);
	*uses = uses_of(tq);
	return true;
}

/* Wider buckets first: they have fewer rows. */
static int
compare_widths(const ListCell *a, const ListCell *b)
{
	const StrataRollup *ra = lfirst(a);
	const StrataRollup *rb = lfirst(b);
	int64		wa = strata_rollup_bucket_width(&ra->bucket);
	int64		wb = strata_rollup_bucket_width(&rb->bucket);

	return wa > wb ? -1 : wa < wb;
}

/*
 * Does the archive say what the table's owner could have its rows say?  Who
 * was given one of both, but not the other, may write into the archive, and
 * has triggers there, and is asked by those who read his view alone.
 */
static bool
archive_is_trusted(const StrataRollup *rollup)
{
	return has_privs_of_role(strata_relation_owner(rollup->archive),
							 strata_relation_owner(rollup->source));
}

/* Rollups of the table that may be read, the best first. */
static List *
rollups_of_table(Oid relid)
{
	List	   *rollups = NIL;
	ListCell   *lc;

	foreach(lc, strata_rollups_of_source(relid))
	{
		StrataRollup *rollup = strata_rollup_usable(lfirst_oid(lc));

		/* one above a view has columns of that, not of its archive */
		if (rollup != NULL && archive_is_trusted(rollup) &&
			rt_fetch(rollup->varno, rollup->query->rtable)->relid == relid)
			rollups = lappend(rollups, rollup);
	}
	list_sort(rollups, compare_widths);
	return rollups;
}

/* See rollup_private.h. */
List *
strata_rollup_answer_table(Query *query, ParamListInfo params,
						   Snapshot snapshot, bool beyond, Query **rest)
{
	Index		varno;
	RangeTblEntry *rte = only_table(query, &varno);
	List	   *rollups;
	ListCell   *lc;

	beyond = beyond && rte != NULL && strata_rollup_reads_archives(rte->relid);
	rollups = rte != NULL && (beyond || snapshot != NULL) ?
		rollups_of_table(rte->relid) : NIL;
	if (rollups == NIL)
		return NIL;
	strata_query_flatten_groups(query);
	foreach(lc, rollups)
	{
		TableQuery	tq = {query, varno, params, snapshot, beyond, lfirst(lc)};
		List	   *uses;

		if (answer_from(&tq, &uses, rest))
			return uses;
	}
	return NIL;
}
