/*-------------------------------------------------------------------------
 *
 * rollup_define.c
 *	  What a definition comes to, and what no rollup can be kept of.
 *
 * Taken is an aggregation of one hypertable by buckets of its time column, and
 * by any other expressions: what a row adds to depends on that row alone, and
 * says the same tomorrow.  Everything else is refused by name.
 *
 * src/rollup/rollup_define.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "rollup/rollup_join_private.h"
#include "rollup/rollup_private.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* See rollup_private.h. */
void
strata_rollup_refuse(const char *what, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a continuous aggregate cannot have %s", what),
			 hint != NULL ? errhint("%s", hint) : 0));
}

/* Clauses that are no aggregation of rows. */
static void
check_clauses(const Query *query)
{
	if (query->commandType != CMD_SELECT || query->utilityStmt != NULL)
		strata_rollup_refuse("a statement that is no SELECT", NULL);
	if (query->setOperations != NULL)
		strata_rollup_refuse("UNION, INTERSECT or EXCEPT", NULL);
	if (query->cteList != NIL)
		strata_rollup_refuse("WITH queries", NULL);
	if (query->hasSubLinks)
		strata_rollup_refuse("subqueries", NULL);
	if (query->hasWindowFuncs)
		strata_rollup_refuse("window functions",
							 "Use them in a query of the view.");
	if (query->groupingSets != NIL)
		strata_rollup_refuse("grouping sets", NULL);
	if (query->distinctClause != NIL)
		strata_rollup_refuse("DISTINCT", NULL);
	if (query->limitCount != NULL || query->limitOffset != NULL)
		strata_rollup_refuse("LIMIT or OFFSET", NULL);
	if (query->hasTargetSRFs)
		strata_rollup_refuse("functions that return sets", NULL);
	if (query->rowMarks != NIL)
		strata_rollup_refuse("row locks", NULL);
	if (!query->hasAggs)
		strata_rollup_refuse("no aggregate function", NULL);
	if (query->constraintDeps != NIL)
		strata_rollup_refuse("columns that GROUP BY does not name", NULL);
}

/*
 * The source is another rollup's view: what it is computed of changes as that
 * one's archive does, and time is that one's bucket.
 */
static void
find_rollup_below(StrataRollup *rollup, const StrataRollupRow *row)
{
	StrataRollup *below = strata_rollup_open(row->view, false);
	StrataRollupColumn *bucket = linitial(below->columns);
	ListCell   *lc;

	if (below->joined)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a continuous aggregate cannot be made of \"%s\", which has joins",
						get_rel_name(row->view)),
				 errdetail("It changes with the tables that it joins."),
				 errhint("Make it of the hypertable, with the same joins.")));
	rollup->source = row->archive;
	foreach(lc, below->query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!entry->resjunk && equal(entry->expr, bucket->expr))
			rollup->time = entry->resno;
	}
	if (rollup->time == InvalidAttrNumber)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a continuous aggregate cannot be made of \"%s\", which does not show its bucket",
						get_rel_name(row->view))));
	rollup->time_type = below->bucket.type;
}

/* The source is a hypertable. */
static void
find_hypertable(StrataRollup *rollup, Oid relid)
{
	StrataHypertable *ht = strata_hypertable_get(relid);
	Relation	rel;
	char		persistence;

	if (ht == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a continuous aggregate cannot be made of \"%s\", which is not a hypertable",
						get_rel_name(relid)),
				 get_rel_relkind(relid) == RELKIND_RELATION ?
				 errhint("SELECT create_hypertable('%s', 'time column');",
						 get_rel_name(relid)) : 0));
	if (ht->has_function)
		strata_rollup_refuse("a hypertable with a partitioning function", NULL);
	rel = table_open(relid, NoLock);
	persistence = rel->rd_rel->relpersistence;
	table_close(rel, NoLock);
	if (persistence != RELPERSISTENCE_PERMANENT)
		strata_rollup_refuse("a temporary or unlogged table", NULL);
	rollup->source = relid;
	rollup->time = ht->attno;
	rollup->time_type = getBaseType(get_atttype(relid, ht->attno));
}

/* The table that rows come from. */
static void
find_source(StrataRollup *rollup, Oid source)
{
	Query	   *query = rollup->query;
	RangeTblEntry *rte;
	StrataRollupRow *row;

	rollup->joined = strata_rollup_is_joined(query);
	if (rollup->joined)
		rollup->varno = strata_rollup_find_joined(query, source);
	else if (query->jointree->fromlist == NIL)
		strata_rollup_refuse("no hypertable in FROM", NULL);
	else
		rollup->varno =
			linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
	rte = rt_fetch(rollup->varno, query->rtable);
	if (rte->rtekind != RTE_RELATION)
		strata_rollup_refuse("anything but a hypertable in FROM", NULL);
	if (!rte->inh && rte->relkind != RELKIND_VIEW)
		strata_rollup_refuse("ONLY", NULL);
	if (rte->tablesample != NULL)
		strata_rollup_refuse("TABLESAMPLE", NULL);
	row = strata_rollup_row(rte->relid);
	if (row != NULL)
		find_rollup_below(rollup, row);
	else
		find_hypertable(rollup, rte->relid);
}

/* Is it a call that makes buckets of the source's time column? */
static bool
is_bucket(StrataRollup *rollup, Node *expr, StrataRollupBucket *bucket)
{
	Expr	   *time;
	const Var  *var;

	if (!strata_rollup_bucket_init(bucket, expr, &time) || !IsA(time, Var))
		return false;
	var = (const Var *) time;
	return (Index) var->varno == rollup->varno && var->varlevelsup == 0 &&
		var->varattno == rollup->time &&
		getBaseType(var->vartype) == bucket->type;
}

/*
 * Is it one of the definition's own groups, and not only a key of what is kept
 * of it?  Where that is the bucket, each group is within one, so that what is
 * read of archive and rows are different groups (rollup_read.c).
 */
static bool
is_own_group(const StrataRollup *rollup, const Expr *expr)
{
	const Query *query = rollup->definition;
	ListCell   *lc;

	foreach(lc, query->groupClause)
	{
		if (equal(get_sortgroupclause_expr(lfirst(lc), query->targetList),
				  expr))
			return true;
	}
	return false;
}

/* The columns that rows are grouped by: the bucket, which is first, and others. */
static void
find_groups(StrataRollup *rollup)
{
	Query	   *query = rollup->query;
	List	   *groups = NIL;
	int			nbuckets = 0;
	ListCell   *lc;

	foreach(lc, query->groupClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		TargetEntry *entry = get_sortgroupclause_tle(clause,
													 query->targetList);
		StrataRollupBucket bucket;
		const char *name = entry->resname;

		if (is_bucket(rollup, (Node *) entry->expr, &bucket) &&
			is_own_group(rollup, entry->expr))
		{
			if (nbuckets++ > 0)
				strata_rollup_refuse("two buckets of time", NULL);
			rollup->bucket = bucket;
			(void) strata_rollup_add_column(&rollup->columns,
											STRATA_ROLLUP_BUCKET,
											copyObject(entry->expr),
											InvalidOid,
											name == NULL || entry->resjunk ?
											"bucket" : name);
		}
		else
			groups = lappend(groups, entry);
	}
	if (nbuckets == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a continuous aggregate must be grouped by a bucket of the hypertable's time column"),
				 errhint("GROUP BY time_bucket('1 hour', %s)",
						 get_attname(rollup->source, rollup->time, false))));
	foreach(lc, groups)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		(void) strata_rollup_add_column(&rollup->columns, STRATA_ROLLUP_GROUP,
										copyObject(entry->expr), InvalidOid,
										entry->resname == NULL ||
										entry->resjunk ?
										"group" : entry->resname);
	}
}

/* The columns that aggregates are kept in. */
static bool
find_partials(Node *node, void *context)
{
	const TargetEntry *entry = (const TargetEntry *) node;

	if (node == NULL)
		return false;
	if (IsA(node, Aggref))
	{
		strata_rollup_add_partials(context, (Aggref *) node, NULL);
		return false;
	}
	/* a column of the view has its name */
	if (IsA(node, TargetEntry) && IsA(entry->expr, Aggref) && !entry->resjunk)
	{
		strata_rollup_add_partials(context, (Aggref *) entry->expr,
								   entry->resname);
		return false;
	}
	return expression_tree_walker(node, find_partials, context);
}

static bool
has_row_security(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool		has = HeapTupleIsValid(tuple) &&
	((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return has;
}

/* See rollup.h. */
bool
strata_rollup_is_fit(const StrataRollup *rollup, bool raise)
{
	const Query *query = rollup->definition;
	const RangeTblEntry *rte = rt_fetch(rollup->varno, query->rtable);
	bool		varies;
	bool		hidden;

	/* of tables that are joined nothing is kept */
	hidden = rte->rtekind == RTE_RELATION && has_row_security(rte->relid);
	varies = contain_mutable_functions((Node *) query->targetList) ||
		contain_mutable_functions(query->havingQual) ||
		contain_mutable_functions((Node *) query->jointree);
	if (raise && hidden)
		strata_rollup_refuse("a table with row security", NULL);
	if (raise && varies)
		strata_rollup_refuse("functions that are not immutable",
							 "What depends on the time zone takes it as an argument: time_bucket('1 day', time, 'Europe/Prague').");
	return !hidden && !varies;
}

/* See rollup.h. */
StrataRollup *
strata_rollup_analyze(const Query *query, Oid source)
{
	StrataRollup *rollup = palloc0(sizeof(StrataRollup));

	rollup->query = rollup->definition = copyObjectImpl(query);
	check_clauses(rollup->query);
	strata_query_flatten_groups(rollup->query);
	find_source(rollup, source);
	if (!OidIsValid(source))
		(void) strata_rollup_is_fit(rollup, true);
	if (rollup->joined)
		strata_rollup_split(rollup);
	find_groups(rollup);
	find_partials((Node *) rollup->query->targetList, rollup);
	find_partials(rollup->query->havingQual, rollup);
	return rollup;
}

/* See rollup.h. */
Query *
strata_rollup_partials(const StrataRollup *rollup)
{
	Query	   *query = copyObject(rollup->query);
	List	   *targets = NIL;
	ListCell   *lc;
	Index		ref = 0;

	query->groupClause = NIL;
	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);
		TargetEntry *entry = makeTargetEntry(copyObject(column->expr),
											 list_length(targets) + 1,
											 pstrdup(column->name), false);

		targets = lappend(targets, entry);
		if (column->kind == STRATA_ROLLUP_PARTIAL)
			continue;
		/* as the definition's clause of the same expression */
		for (int i = 0; i < list_length(rollup->query->groupClause); i++)
		{
			SortGroupClause *clause = list_nth(rollup->query->groupClause, i);
			TargetEntry *grouped;

			grouped = get_sortgroupclause_tle(clause,
											  rollup->query->targetList);
			if (!equal(grouped->expr, column->expr))
				continue;
			clause = copyObject(clause);
			clause->tleSortGroupRef = entry->ressortgroupref = ++ref;
			query->groupClause = lappend(query->groupClause, clause);
			break;
		}
	}
	Assert(list_length(query->groupClause) > 0);	/* rollup:Z5 */
	query->targetList = targets;
	query->havingQual = NULL;
	query->sortClause = NIL;
	return query;
}
