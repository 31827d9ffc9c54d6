/*-------------------------------------------------------------------------
 *
 * rollup_join.c
 *	  Definitions that join the hypertable with other tables.
 *
 * The join is kept out of the archive, which so never depends on what those
 * tables say.  What is kept is an aggregation of the source alone, by the
 * bucket and by keys: whatever else the definition needs of single rows, as
 * groups and in conditions of joins,
 *
 *	  SELECT bucket, keys, partials FROM source WHERE its conditions
 *			GROUP BY bucket, keys
 *
 * When the view is read, the definition has that in the place of the source,
 * for times that are clean or kept, and combines: a row that is joined with
 * three others makes three, and so do its partials.  That is right where every
 * row of the source stays, or goes only for what its keys say: not on the side
 * of an outer join that is made up of NULLs.
 *
 * Aggregates of the other tables' columns are computed from the joined rows,
 * where it does not matter how many rows of the source each stands for; a
 * count adds up how many.
 *
 * Over 600 lines: taking a definition apart and putting it together with its
 * archive are the same walk over it.
 *
 * src/rollup/rollup_join.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_decompose_private.h"
#include "rollup/rollup_join_private.h"
#include "rollup/rollup_private.h"

#include "base/compat.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parse_coerce.h"
#include "parser/parse_node.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* A definition that is taken apart, or put together with its archive. */
typedef struct JoinCase
{
	const StrataRollup *rollup;
	Query	   *query;			/* the definition; aliases of joins resolved */
	Index		varno;			/* of the source there */
	Index		archive;		/* of what stands for it; 0: take apart */
	List	   *groups;			/* grouping expressions of the definition */
	bool		strict;			/* an equal key must be the same */
	List	   *keys;			/* taken apart: expressions of the source */
	List	   *aggregates;		/* Aggrefs of the source */
} JoinCase;

/* Which tables' columns are there in an expression? */
typedef struct Columns
{
	Index		varno;
	bool		source;
	bool		others;
	AttrNumber	attno;			/* to look for: of the source */
	bool		found;
} Columns;

/*-------------------------------------------------------------------------
 * Which table is the source
 *-------------------------------------------------------------------------
 */

/* See rollup_private.h. */
bool
strata_rollup_is_joined(const Query *query)
{
	return list_length(query->jointree->fromlist) > 1 ||
		(query->jointree->fromlist != NIL &&
		 !IsA(linitial(query->jointree->fromlist), RangeTblRef));
}

static bool
find_joined_entries(Node *node, void *context)
{
	if (node == NULL || IsA(node, Query))
		return false;
	if (IsA(node, RangeTblRef))
		*(List **) context = lappend_int(*(List **) context,
										 ((RangeTblRef *) node)->rtindex);
	return expression_tree_walker(node, find_joined_entries, context);
}

/* A table that the source may be joined with, as it will be when it is read. */
static void
check_joined_table(const RangeTblEntry *rte)
{
	if (rte->rtekind != RTE_RELATION)
		strata_rollup_refuse("anything but tables and views in FROM", NULL);
	if (rte->tablesample != NULL)
		strata_rollup_refuse("TABLESAMPLE", NULL);
	if (get_rel_persistence(rte->relid) == RELPERSISTENCE_TEMP)
		strata_rollup_refuse("a temporary table", NULL);
}

/* May the entry be the source?  source: which that is, if it is known. */
static bool
may_be_source(const RangeTblEntry *rte, Oid source)
{
	StrataRollupRow *row;

	if (rte->rtekind != RTE_RELATION)
		return false;
	row = strata_rollup_row(rte->relid);
	if (OidIsValid(source))
		return (row != NULL ? row->archive : rte->relid) == source;
	return row != NULL || strata_hypertable_is(rte->relid);
}

/* The entry, one of these, of whose time the definition makes buckets. */
static Index
find_bucketed(Query *query, const List *entries)
{
	ListCell   *lc;

	foreach(lc, query->groupClause)
	{
		Node	   *expr = get_sortgroupclause_expr(lfirst(lc),
													query->targetList);
		StrataRollupBucket bucket;
		Expr	   *time;

		expr = strata_flatten_join_aliases(query, copyObject(expr));
		if (strata_rollup_bucket_init(&bucket, expr, &time) &&
			IsA(time, Var) && list_member_int(entries, ((Var *) time)->varno))
			return ((Var *) time)->varno;
	}
	strata_rollup_refuse("two hypertables in FROM, and no bucket of the time of one",
						 NULL);
	return 0;
}

/* See rollup_private.h. */
Index
strata_rollup_find_joined(Query *query, Oid source)
{
	List	   *entries = NIL;
	List	   *found = NIL;
	Index		varno;
	ListCell   *lc;

	(void) find_joined_entries((Node *) query->jointree, &entries);
	foreach(lc, entries)
	{
		RangeTblEntry *rte = rt_fetch(lfirst_int(lc), query->rtable);

		if (!OidIsValid(source))
			check_joined_table(rte);
		if (may_be_source(rte, source))
			found = lappend_int(found, lfirst_int(lc));
	}
	if (found == NIL)
		strata_rollup_refuse("no hypertable in FROM", NULL);
	varno = list_length(found) == 1 ? linitial_int(found) :
		find_bucketed(query, found);
	foreach(lc, entries)
	{
		if ((Index) lfirst_int(lc) != varno &&
			rt_fetch(lfirst_int(lc), query->rtable)->relid ==
			rt_fetch(varno, query->rtable)->relid)
			strata_rollup_refuse("its hypertable twice in FROM",
								 "Join them in a query of the view.");
	}
	return varno;
}

/*-------------------------------------------------------------------------
 * Conditions
 *-------------------------------------------------------------------------
 */
static bool
look_for_columns(Node *node, void *context)
{
	Columns    *columns = context;

	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		const Var  *var = (const Var *) node;

		columns->source |= (Index) var->varno == columns->varno;
		columns->others |= (Index) var->varno != columns->varno;
		columns->found |= (Index) var->varno == columns->varno &&
			var->varattno == columns->attno;
	}
	return expression_tree_walker(node, look_for_columns, context);
}

static Columns
columns_in(const JoinCase *join, const Node *node)
{
	Columns		columns = {.varno = join->varno,.attno = join->rollup->time};

	(void) look_for_columns((Node *) node, &columns);
	return columns;
}

/* Conditions that are ANDed: those of the source alone, and the others. */
static void
split_quals(const JoinCase *join, Node *quals, List **facts, List **others)
{
	ListCell   *lc;
	Columns		columns;

	if (quals == NULL)
		return;
	if (is_andclause(quals))
	{
		foreach(lc, ((BoolExpr *) quals)->args)
			split_quals(join, lfirst(lc), facts, others);
		return;
	}
	columns = columns_in(join, quals);
	if (columns.others)
		*others = lappend(*others, quals);
	else
		*facts = lappend(*facts, quals);
}

static Node *
and_of(List *clauses)
{
	return clauses == NIL ? NULL : (Node *) make_ands_explicit(clauses);
}

/*
 * Take conditions of the source alone out of the item's, where they say which
 * of its rows stay; the source is in it: true.
 */
static bool
take_facts(const JoinCase *join, Node *item, List **facts)
{
	List	   *others = NIL;
	bool		inside = false;
	ListCell   *lc;

	if (IsA(item, RangeTblRef))
		return (Index) ((RangeTblRef *) item)->rtindex == join->varno;
	if (IsA(item, FromExpr))
	{
		FromExpr   *from = (FromExpr *) item;

		foreach(lc, from->fromlist)
			inside |= take_facts(join, lfirst(lc), facts);
		split_quals(join, from->quals, facts, &others);
		from->quals = and_of(others);
	}
	else
	{
		JoinExpr   *expr = castNode(JoinExpr, item);
		bool		left = take_facts(join, expr->larg, facts);
		bool		right = take_facts(join, expr->rarg, facts);

		inside = left || right;
		if (inside && (expr->jointype == JOIN_FULL ||
					   (expr->jointype == JOIN_LEFT && right) ||
					   (expr->jointype == JOIN_RIGHT && left)))
			strata_rollup_refuse("an outer join that makes up rows of the hypertable",
								 "Have the hypertable on the left side of LEFT JOIN.");
		if (inside && expr->jointype == JOIN_INNER)
		{
			split_quals(join, expr->quals, facts, &others);
			expr->quals = and_of(others);
		}
	}
	return inside;
}

/*-------------------------------------------------------------------------
 * Expressions over what stands for the source
 *-------------------------------------------------------------------------
 */
static Node *mutate(Node *node, void *context);

/* What all rows have in common that the archive makes one of. */
static Node *
archive_key(JoinCase *join, Node *expr)
{
	ListCell   *lc;

	if (join->archive == 0)
	{
		const Var  *var = (const Var *) expr;

		if (IsA(expr, Var) && var->varattno <= 0)
			strata_rollup_refuse("whole rows or system columns of the hypertable beside a join",
								 NULL);
		if (IsA(expr, Var) && var->varattno == join->rollup->time)
			strata_rollup_refuse("a join by the time itself",
								 "Join by a bucket of it.");
		if (join->strict &&
			!strata_equal_is_identical(exprType(expr), exprCollation(expr)))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("a continuous aggregate cannot join by a column of type %s, of which equal values may differ",
							format_type_be(exprType(expr)))));
		join->keys = list_append_unique(join->keys, expr);
		return expr;
	}
	foreach(lc, join->rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (column->kind != STRATA_ROLLUP_PARTIAL &&
			equal(column->expr, expr))
			return (Node *) makeVar(join->archive,
									foreach_current_index(lc) + 1,
									column->type, column->typmod,
									column->collation, 0);
	}
	elog(ERROR, "a rollup lacks a key");
	return NULL;
}

/* See rollup_join_private.h. */
bool
strata_rollup_has_key(const StrataRollup *rollup, const Expr *expr)
{
	ListCell   *lc;

	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (column->kind == STRATA_ROLLUP_GROUP && equal(column->expr, expr))
			return true;
	}
	return false;
}

/* Have all aggregates in the value take only rows that the filter leaves. */
static Node *
filter_aggregates(Node *node, void *filter)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
	{
		Aggref	   *aggref = copyObject((Aggref *) node);

		aggref->aggfilter = copyObject((Expr *) filter);
		return (Node *) aggref;
	}
	return expression_tree_mutator(node, filter_aggregates, filter);
}

/* An aggregate of the source, out of partials; filter: of joined rows. */
static Node *
combined_value(JoinCase *join, const Aggref *aggref, Node *filter)
{
	Expr	   *value;

	if (join->archive == 0)
	{
		if (!strata_rollup_combines(join->rollup, (const Expr *) aggref))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("a continuous aggregate cannot have an aggregate beside a join that cannot be combined: %s",
							get_func_name(aggref->aggfnoid))));
		join->aggregates = list_append_unique(join->aggregates,
											  copyObjectImpl(aggref));
		return filter;
	}
	value = strata_rollup_final(join->rollup, (const Expr *) aggref,
								join->archive, true);
	if (filter == NULL)
		return (Node *) value;
	value = (Expr *) filter_aggregates((Node *) value, filter);
	if (aggref->aggfnoid == F_COUNT_ || aggref->aggfnoid == F_COUNT_ANY ||
		aggref->aggfnoid == F_REGR_COUNT)
	{
		CoalesceExpr *zero = makeNode(CoalesceExpr);

		zero->coalescetype = INT8OID;
		zero->args = list_make2(value,
								makeConst(INT8OID, -1, InvalidOid,
										  sizeof(int64), Int64GetDatum(0),
										  false, FLOAT8PASSBYVAL));
		zero->location = -1;
		value = (Expr *) zero;
	}
	return (Node *) value;
}

/* count(*) of the source's rows that the conditions leave. */
static Aggref *
count_of_rows(List *conditions)
{
	Aggref	   *count = makeNode(Aggref);

	count->aggfnoid = F_COUNT_;
	count->aggtype = INT8OID;
	count->aggfilter = (Expr *) and_of(conditions);
	count->aggstar = true;
	count->aggkind = AGGKIND_NORMAL;
	count->aggsplit = AGGSPLIT_SIMPLE;
	count->aggno = -1;
	count->aggtransno = -1;
	count->location = -1;
	return count;
}

/* Is it the same however often each row is there? */
static bool
ignores_duplicates(const Aggref *aggref)
{
	if (aggref->aggdistinct != NIL ||
		strata_aggregate_is_extremum(aggref->aggfnoid))
		return true;
	switch (aggref->aggfnoid)
	{
		case F_BOOL_AND:
		case F_BOOL_OR:
		case F_EVERY:
		case F_BIT_AND_INT2:
		case F_BIT_AND_INT4:
		case F_BIT_AND_INT8:
		case F_BIT_OR_INT2:
		case F_BIT_OR_INT4:
		case F_BIT_OR_INT8:
			return true;
		default:
			return false;
	}
}

static void
refuse_aggregate(const Aggref *aggref, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("a continuous aggregate cannot have %s of columns of joined tables",
					get_func_name(aggref->aggfnoid)),
			 errdetail("%s", detail),
			 errhint("Group by them, and aggregate in a query of the view.")));
}

/* An aggregate of other tables' columns; conditions of the source, others. */
static Node *
aggregate_of_others(JoinCase *join, const Aggref *aggref, List *facts,
					List *others)
{
	Aggref	   *count = count_of_rows(facts);
	Aggref	   *copy;

	if (columns_in(join, (Node *) aggref->args).source)
		refuse_aggregate(aggref, _("It is of columns of the hypertable, too."));
	if (aggref->aggfnoid == F_COUNT_ANY && aggref->aggdistinct == NIL)
	{
		NullTest   *test = makeNode(NullTest);

		test->arg = copyObject(linitial_node(TargetEntry, aggref->args)->expr);
		test->nulltesttype = IS_NOT_NULL;
		/* a composite value counts whatever is in it */
		test->argisrow = false;
		test->location = -1;
		return combined_value(join, count,
							  and_of(lappend(others, test)));
	}
	if (aggref->aggkind != AGGKIND_NORMAL || !ignores_duplicates(aggref))
		refuse_aggregate(aggref, _("Its value depends on how many rows of the hypertable there are."));
	if (facts != NIL)
	{
		TypeCacheEntry *type = lookup_type_cache(INT8OID, TYPECACHE_GT_OPR);
		Node	   *n = combined_value(join, count, NULL);
		Expr	   *positive;

		if (join->archive == 0)
			return and_of(others);
		/* of one row: the partial itself, no sum of them */
		n = (Node *) strata_rollup_final(join->rollup, (Expr *) count,
										 join->archive, false);
		positive = make_opclause(type->gt_opr, BOOLOID, false,
								 (Expr *) n,
								 (Expr *) makeConst(INT8OID, -1, InvalidOid,
													sizeof(int64),
													Int64GetDatum(0), false,
													FLOAT8PASSBYVAL),
								 InvalidOid, InvalidOid);
		set_opfuncid((OpExpr *) positive);
		others = lappend(others, positive);
	}
	copy = copyObjectImpl(aggref);
	copy->aggfilter = (Expr *) and_of(others);
	return (Node *) copy;
}

/* An aggregate of the definition. */
static Node *
mutate_aggregate(JoinCase *join, const Aggref *aggref)
{
	List	   *facts = NIL;
	List	   *others = NIL;
	bool		strict = join->strict;
	Aggref	   *own;

	split_quals(join, (Node *) aggref->aggfilter, &facts, &others);
	join->strict = true;
	others = (List *) mutate((Node *) others, join);
	join->strict = strict;
	if (columns_in(join, (Node *) aggref->args).others)
		return aggregate_of_others(join, aggref, facts, others);
	own = copyObjectImpl(aggref);
	own->aggfilter = (Expr *) and_of(facts);
	return combined_value(join, own, and_of(others));
}

/* The same of what stands for the source in its place. */
static Node *
mutate(Node *node, void *context)
{
	JoinCase   *join = context;
	bool		strict = join->strict;
	bool		grouped;
	Columns		columns;

	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
		return mutate_aggregate(join, (Aggref *) node);
	if (IsA(node, RangeTblRef))
	{
		RangeTblRef *ref = copyObject((RangeTblRef *) node);

		if ((Index) ref->rtindex == join->varno && join->archive != 0)
			ref->rtindex = join->archive;
		return (Node *) ref;
	}
	if (IsA(node, Var))
		return (Index) ((Var *) node)->varno == join->varno ?
			archive_key(join, node) : copyObject(node);
	grouped = !IsA(node, List) && list_member(join->groups, node);
	columns = columns_in(join, node);
	if (grouped && columns.source && !columns.others)
		return archive_key(join, node);
	/* the time itself is no key, what is made of it may be */
	if (columns.found && !columns.others && IsA(node, FuncExpr) &&
		!contain_agg_clause(node))
		return archive_key(join, node);
	join->strict |= grouped;
	node = expression_tree_mutator(node, mutate, context);
	join->strict = strict;
	return node;
}

/* All of the definition but conditions of the source alone: these. */
static List *
mutate_definition(JoinCase *join)
{
	Query	   *query = join->query;
	List	   *facts = NIL;
	ListCell   *lc;

	foreach(lc, query->groupClause)
		join->groups = lappend(join->groups,
							   copyObject(get_sortgroupclause_expr(lfirst(lc),
																   query->targetList)));
	(void) take_facts(join, (Node *) query->jointree, &facts);
	query->targetList = (List *) mutate((Node *) query->targetList, join);
	query->havingQual = mutate(query->havingQual, join);
	join->strict = true;
	query->jointree = (FromExpr *) mutate((Node *) query->jointree, join);
	return facts;
}

/* Have columns of joins be those of their tables. */
static void
resolve_joins(Query *query)
{
	strata_query_flatten_groups(query);
	query->targetList = (List *)
		strata_flatten_join_aliases(query, (Node *) query->targetList);
	query->havingQual = strata_flatten_join_aliases(query, query->havingQual);
	query->jointree = (FromExpr *)
		strata_flatten_join_aliases(query, (Node *) query->jointree);
}

/*-------------------------------------------------------------------------
 * Apart
 *-------------------------------------------------------------------------
 */

/* The column that the key makes, in the definition's words. */
static char *
key_name(const JoinCase *join, const Query *definition, Expr *key)
{
	TargetEntry *entry = tlist_member(key, definition->targetList);

	if (entry != NULL && entry->resname != NULL && !entry->resjunk)
		return pstrdup(entry->resname);
	if (IsA(key, Var))
		return pstrdup(get_rte_attribute_name(rt_fetch(join->varno,
													   definition->rtable),
											  ((Var *) key)->varattno));
	return pstrdup("key");
}

/* GROUP BY the column of the query. */
static void
group_by(Query *query, TargetEntry *entry, const Query *definition)
{
	SortGroupClause *group = makeNode(SortGroupClause);
	ListCell   *lc;

	get_sort_group_operators(exprType((Node *) entry->expr), false, true,
							 false, &group->sortop, &group->eqop, NULL,
							 &group->hashable);
	foreach(lc, definition->groupClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);

		if (equal(get_sortgroupclause_expr(clause, definition->targetList),
				  entry->expr))
			group = copyObject(clause);
	}
	group->tleSortGroupRef = entry->ressortgroupref = entry->resno;
	query->groupClause = lappend(query->groupClause, group);
}

/* A range table with this entry in its place, and nothing in the others. */
static List *
only_entry(const List *rtable, Index varno)
{
	List	   *entries = NIL;
	ListCell   *lc;

	foreach(lc, rtable)
	{
		RangeTblEntry *rte = makeNode(RangeTblEntry);

		rte->rtekind = RTE_RESULT;
		rte->eref = makeAlias("nothing", NIL);
		entries = lappend(entries, (Index) foreach_current_index(lc) + 1 ==
						  varno ? copyObject(lfirst(lc)) : rte);
	}
	return entries;
}

/* See rollup_private.h. */
void
strata_rollup_split(StrataRollup *rollup)
{
	Query	   *definition = rollup->definition;
	Query	   *query = makeNode(Query);
	RangeTblRef *ref = makeNode(RangeTblRef);
	JoinCase	join = {.rollup = rollup,.varno = rollup->varno};
	List	   *facts;
	ListCell   *lc;

	resolve_joins(definition);
	join.query = copyObject(definition);
	facts = mutate_definition(&join);
	Assert(!columns_in(&join, (Node *) facts).others);	/* rollup:Z10 */
	Assert(!columns_in(&join, (Node *) join.keys).others);	/* rollup:Z10 */
	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->hasAggs = join.aggregates != NIL;
	query->rtable = only_entry(definition->rtable, rollup->varno);
	ref->rtindex = rollup->varno;
	query->jointree = makeFromExpr(list_make1(ref), and_of(facts));
	foreach(lc, join.keys)
	{
		TargetEntry *entry = makeTargetEntry(lfirst(lc),
											 list_length(query->targetList) + 1,
											 key_name(&join, definition,
													  lfirst(lc)),
											 false);

		query->targetList = lappend(query->targetList, entry);
		group_by(query, entry, definition);
	}
	foreach(lc, join.aggregates)
	{
		TargetEntry *shown = tlist_member(lfirst(lc), definition->targetList);
		TargetEntry *entry = makeTargetEntry(lfirst(lc),
											 list_length(query->targetList) + 1,
											 NULL, true);

		if (shown != NULL && !shown->resjunk)
		{
			entry->resname = pstrdup(shown->resname);
			entry->resjunk = false;
		}
		query->targetList = lappend(query->targetList, entry);
	}
	Assert(query->groupClause != NIL || join.keys == NIL);	/* rollup:Z5 */
	rollup->query = query;
}

/*-------------------------------------------------------------------------
 * Together
 *-------------------------------------------------------------------------
 */

/* Partials of the source's rows, with the definition's rights. */
static Query *
partials_of_rows(const StrataRollup *rollup, const Query *definition,
				 const StrataRanges *kept)
{
	Query	   *query = strata_rollup_partials(rollup);

	strata_rollup_add_qual(query, strata_rollup_time_in(rollup, kept));
	query->rtable = NIL;
	strata_query_clear_permissions(query);
	ChangeVarNodes((Node *) query, rollup->varno, 1, 0);
	strata_query_copy_entry(query, definition, rollup->varno);
	return query;
}

/* See rollup_private.h. */
Query *
strata_rollup_join_archive(const StrataRollup *rollup, Query *definition,
						   const StrataRanges *ranges,
						   const StrataRanges *kept)
{
	Query	   *archive = strata_rollup_archive_query(rollup, ranges);
	Query	   *rows = NULL;
	JoinCase	join = {.rollup = rollup,.query = definition,
	.varno = rollup->varno};
	RangeTblRef *ref;

	Assert(rollup->joined);		/* rollup:Z5 */
	Assert(rollup->query != rollup->definition);	/* rollup:Z10 */
	strata_rollup_select_columns(archive, rollup);
	if (kept->n > 0)
	{
		rows = partials_of_rows(rollup, definition, kept);
		archive = strata_rollup_union(archive, rows);
	}
	resolve_joins(definition);
	strata_query_forget_groups(definition);
	ref = strata_rollup_add_subquery(definition, "partials", archive);
	join.archive = ref->rtindex;
	(void) mutate_definition(&join);
	return rows;
}
