/*-------------------------------------------------------------------------
 *
 * rollup_define.c
 *	  What a definition makes: buckets, groups, and what is stored of each
 *	  aggregate.
 *
 * src/rollup/rollup_define.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup.h"

#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

static void
refuse_definition(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("invalid continuous aggregate query"),
			 errdetail("%s", what)));
}

static void
define_column(StrataRollup *rollup, StrataRollupKind kind, Expr *expr,
			  char *name)
{
	StrataRollupColumn *column = palloc0(sizeof(StrataRollupColumn));

	column->kind = kind;
	column->expr = expr;
	column->name = name;
	column->type = exprType((Node *) expr);
	column->typmod = exprTypmod((Node *) expr);
	column->collation = exprCollation((Node *) expr);
	rollup->columns = lappend(rollup->columns, column);
}

/* Find the one table that rows come from. */
static void
find_source(StrataRollup *rollup)
{
	Query	   *query = rollup->query;
	RangeTblEntry *rte;
	StrataRollupRow *row;

	if (query->commandType != CMD_SELECT || query->setOperations != NULL ||
		query->cteList != NIL || query->hasSubLinks ||
		query->hasWindowFuncs || query->distinctClause != NIL ||
		query->limitCount != NULL || query->limitOffset != NULL ||
		query->groupingSets != NIL || query->hasTargetSRFs ||
		query->rowMarks != NIL)
		refuse_definition("Only SELECT of one table with GROUP BY, WHERE, HAVING and ORDER BY can be kept.");
	if (list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		refuse_definition("It has to read one hypertable.");
	rollup->varno =
		linitial_node(RangeTblRef, query->jointree->fromlist)->rtindex;
	rte = rt_fetch(rollup->varno, query->rtable);
	if (rte->rtekind != RTE_RELATION || rte->tablesample != NULL)
		refuse_definition("It has to read one hypertable.");
	row = strata_rollup_row(rte->relid);
	rollup->source = row != NULL ? row->archive : rte->relid;
	if (!strata_hypertable_is(rollup->source))
		refuse_definition("It has to read one hypertable.");
	if (contain_mutable_functions((Node *) query->targetList) ||
		contain_mutable_functions(query->jointree->quals) ||
		contain_mutable_functions(query->havingQual))
		refuse_definition("Functions have to be immutable.");
}

/* Is the grouping expression a call that makes buckets of the time column? */
static bool
take_bucket(StrataRollup *rollup, Expr *expr)
{
	StrataRollupBucket bucket;
	Expr	   *time;

	if (!strata_rollup_bucket_init(&bucket, (Node *) expr, &time) ||
		!IsA(time, Var) || ((Var *) time)->varno != rollup->varno)
		return false;
	if (rollup->time != InvalidAttrNumber)
		refuse_definition("It has more than one time_bucket() in GROUP BY.");
	rollup->time = ((Var *) time)->varattno;
	rollup->time_type = getBaseType(exprType((Node *) time));
	rollup->bucket = bucket;
	return true;
}

static char *
name_of(const TargetEntry *entry)
{
	return entry->resname != NULL ? entry->resname :
		psprintf("column_%d", entry->resno);
}

/* A column for each aggregate, once. */
static bool
take_aggregates(Node *node, StrataRollup *rollup)
{
	ListCell   *lc;

	if (node == NULL)
		return false;
	if (!IsA(node, Aggref))
		return expression_tree_walker(node, take_aggregates, rollup);
	foreach(lc, rollup->columns)
	{
		if (equal(((StrataRollupColumn *) lfirst(lc))->expr, node))
			return false;
	}
	define_column(rollup, STRATA_ROLLUP_PARTIAL, (Expr *) node,
				  psprintf("partial_%d", list_length(rollup->columns) + 1));
	return false;
}

/* See rollup.h. */
StrataRollup *
strata_rollup_analyze(Query *query)
{
	StrataRollup *rollup = palloc0(sizeof(StrataRollup));
	ListCell   *lc;

	rollup->query = query;
	find_source(rollup);
	foreach(lc, query->groupClause)
	{
		TargetEntry *entry = get_sortgroupclause_tle(lfirst(lc),
													 query->targetList);

		define_column(rollup, take_bucket(rollup, entry->expr) ?
					  STRATA_ROLLUP_BUCKET : STRATA_ROLLUP_GROUP, entry->expr,
					  name_of(entry));
	}
	if (rollup->time == InvalidAttrNumber)
		refuse_definition("GROUP BY has no time_bucket() of the time column.");
	/* what is an aggregate and nothing else is called as in the view */
	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst(lc);

		if (IsA(entry->expr, Aggref) && !entry->resjunk)
			define_column(rollup, STRATA_ROLLUP_PARTIAL, entry->expr,
						  name_of(entry));
	}
	(void) take_aggregates((Node *) query->targetList, rollup);
	(void) take_aggregates(query->havingQual, rollup);
	return rollup;
}

/* See rollup.h. */
Query *
strata_rollup_partials(const StrataRollup *rollup)
{
	Query	   *query = copyObject(rollup->query);
	List	   *targets = NIL;
	List	   *groups = query->groupClause;
	ListCell   *lc;
	int			group = 0;

	query->groupClause = NIL;
	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);
		TargetEntry *entry = makeTargetEntry(copyObject(column->expr),
											 list_length(targets) + 1,
											 column->name, false);

		if (column->kind != STRATA_ROLLUP_PARTIAL)
		{
			SortGroupClause *clause = copyObject(list_nth(groups, group++));

			entry->ressortgroupref = clause->tleSortGroupRef = group;
			query->groupClause = lappend(query->groupClause, clause);
		}
		targets = lappend(targets, entry);
	}
	query->targetList = targets;
	query->havingQual = NULL;
	query->sortClause = NIL;
	query->hasAggs = true;
	return query;
}
