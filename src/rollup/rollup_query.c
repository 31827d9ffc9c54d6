/*-------------------------------------------------------------------------
 *
 * rollup_query.c
 *	  Queries of a rollup's rows and of its archive, and both together.
 *
 * src/rollup/rollup_query.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "base/compat.h"
#include "hypertable/hypertable.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_node.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

/*-------------------------------------------------------------------------
 * Conditions
 *-------------------------------------------------------------------------
 */

/* expr op a time, of that type */
static Expr *
time_comparison(Expr *expr, Oid type, int strategy, int64 time)
{
	TypeCacheEntry *entry = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY);
	Oid			opno = get_opfamily_member(entry->btree_opf,
										   entry->btree_opintype,
										   entry->btree_opintype, strategy);
	Expr	   *clause;

	if (exprType((Node *) expr) != type)
		expr = (Expr *) makeRelabelType(copyObject(expr), type, -1, InvalidOid,
										COERCE_IMPLICIT_CAST);
	clause = make_opclause(opno, BOOLOID, false, copyObject(expr),
						   (Expr *) makeConst(type, -1, InvalidOid,
											  get_typlen(type),
											  strata_time_to_datum(type, time),
											  false, get_typbyval(type)),
						   InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) clause);
	return clause;
}

/* From lo to before hi; extremes of int64 are no bounds. */
static Expr *
between(Expr *expr, Oid type, int64 lo, int64 hi)
{
	List	   *clauses = NIL;

	if (lo != PG_INT64_MIN)
		clauses = lappend(clauses, time_comparison(expr, type,
												   BTGreaterEqualStrategyNumber, lo));
	if (hi != PG_INT64_MAX)
		clauses = lappend(clauses, time_comparison(expr, type,
												   BTLessStrategyNumber, hi));
	return list_length(clauses) == 1 ? linitial(clauses) :
		makeBoolExpr(AND_EXPR, clauses, -1);
}

static Node *
any_of(List *clauses)
{
	if (clauses == NIL)
		return makeBoolConst(false, false);
	return list_length(clauses) == 1 ? linitial(clauses) :
		(Node *) makeBoolExpr(OR_EXPR, clauses, -1);
}

/* See rollup_private.h. */
Node *
strata_rollup_in_ranges(Expr *expr, Oid type, const StrataRanges *ranges)
{
	List	   *clauses = NIL;

	for (int i = 0; i < ranges->n; i++)
		clauses = lappend(clauses, between(expr, type, ranges->r[i].lo,
										   ranges->r[i].hi));
	return any_of(clauses);
}

/* The source's time column, in the definition. */
static Expr *
time_var(const StrataRollup *rollup)
{
	RangeTblEntry *rte = rt_fetch(rollup->varno, rollup->query->rtable);
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(rte->relid, rollup->time, &type, &typmod,
						  &collation);
	return (Expr *) makeVar(rollup->varno, rollup->time, type, typmod,
							collation, 0);
}

/* See rollup_private.h. */
Node *
strata_rollup_time_in(const StrataRollup *rollup, const StrataRanges *ranges)
{
	return strata_rollup_in_ranges(time_var(rollup), rollup->time_type,
								   ranges);
}

/* See rollup_private.h. */
Node *
strata_rollup_time_not_in(const StrataRollup *rollup,
						  const StrataRanges *ranges)
{
	Expr	   *time = time_var(rollup);
	List	   *clauses = NIL;
	int64		from = PG_INT64_MIN;

	for (int i = 0; i < ranges->n; i++)
	{
		clauses = lappend(clauses, between(time, rollup->time_type, from,
										   ranges->r[i].lo));
		from = ranges->r[i].hi;
	}
	clauses = lappend(clauses, between(time, rollup->time_type, from,
									   PG_INT64_MAX));
	return any_of(clauses);
}

/* See rollup_private.h. */
void
strata_rollup_add_qual(Query *query, Node *qual)
{
	query->jointree->quals = make_and_qual(qual, query->jointree->quals);
}

/*-------------------------------------------------------------------------
 * Queries
 *-------------------------------------------------------------------------
 */
/* A SELECT of nothing yet. */
static Query *
make_select(void)
{
	Query	   *query = makeNode(Query);

	query->commandType = CMD_SELECT;
	query->querySource = QSRC_ORIGINAL;
	query->canSetTag = true;
	query->jointree = makeFromExpr(NIL, NULL);
	return query;
}

/* See rollup_private.h. */
Var *
strata_rollup_archive_var(const StrataRollup *rollup, AttrNumber attno)
{
	StrataRollupColumn *column = list_nth(rollup->columns, attno - 1);

	return makeVar(STRATA_ARCHIVE_VARNO, attno, column->type, column->typmod,
				   column->collation, 0);
}

/* See rollup_private.h. */
void
strata_rollup_select_finals(Query *query, const StrataRollup *rollup,
							bool combine)
{
	ListCell   *lc;

	foreach(lc, rollup->query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);
		Expr	   *value;

		if (entry->resjunk)
			continue;
		value = strata_rollup_final(rollup, entry->expr, STRATA_ARCHIVE_VARNO,
									combine);
		entry = makeTargetEntry(value, list_length(query->targetList) + 1,
								pstrdup(entry->resname), false);
		query->targetList = lappend(query->targetList, entry);
	}
}

/* See rollup_private.h. */
Query *
strata_rollup_archive_query(const StrataRollup *rollup,
							const StrataRanges *ranges)
{
	Expr	   *bucket = (Expr *) strata_rollup_archive_var(rollup, 1);
	Query	   *query = make_select();
	RangeTblRef *ref = makeNode(RangeTblRef);
	ParseState *pstate = make_parsestate(NULL);
	Relation	rel = table_open(rollup->archive, NoLock);
	ParseNamespaceItem *nsitem;

	nsitem = addRangeTableEntryForRelation(pstate, rel, AccessShareLock, NULL,
										   true, true);
	strata_query_read_as(query, pstate, nsitem, rel->rd_rel->relowner);
	table_close(rel, NoLock);
	ref->rtindex = STRATA_ARCHIVE_VARNO;
	query->jointree->fromlist = list_make1(ref);
	Assert(ranges == NULL || ranges->n > 0);	/* rollup:Z1 */
	if (ranges != NULL)
		query->jointree->quals =
			strata_rollup_in_ranges(bucket, rollup->bucket.type, ranges);
	return query;
}

/* See rollup_private.h. */
void
strata_rollup_take_order(Query *all, Query *half)
{
	ListCell   *lc;

	foreach(lc, half->sortClause)
	{
		SortGroupClause *clause = copyObject(lfirst_node(SortGroupClause, lc));
		TargetEntry *entry = get_sortgroupclause_tle(clause,
													 half->targetList);
		TargetEntry *ours = list_nth_node(TargetEntry, all->targetList,
										  entry->resno - 1);

		clause->tleSortGroupRef = ours->ressortgroupref =
			foreach_current_index(lc) + 1;
		all->sortClause = lappend(all->sortClause, clause);
	}
	half->sortClause = NIL;
}

/* See rollup_private.h. */
RangeTblRef *
strata_rollup_add_subquery(Query *all, char *name, Query *half)
{
	RangeTblRef *ref = makeNode(RangeTblRef);
	RangeTblEntry *rte = makeNode(RangeTblEntry);
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, half->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!entry->resjunk)
			names = lappend(names, makeString(pstrdup(entry->resname)));
	}
	rte->rtekind = RTE_SUBQUERY;
	rte->subquery = half;
	rte->alias = makeAlias(name, NIL);
	rte->eref = makeAlias(name, names);
	all->rtable = lappend(all->rtable, rte);
	ref->rtindex = list_length(all->rtable);
	return ref;
}

/* See rollup_private.h. */
Query *
strata_rollup_select_from(Query *rows)
{
	Query	   *query = make_select();

	query->jointree->fromlist = list_make1(strata_rollup_add_subquery(query, "parts", rows));
	return query;
}

#ifdef USE_ASSERT_CHECKING
/* How many columns are seen of it? */
static int
count_shown(const Query *query)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, query->targetList)
		n += !lfirst_node(TargetEntry, lc)->resjunk;
	return n;
}
#endif

/* See rollup_private.h. */
Query *
strata_rollup_union(Query *kept, Query *raw)
{
	Query	   *all = make_select();
	SetOperationStmt *set = makeNode(SetOperationStmt);
	RangeTblRef *left = strata_rollup_add_subquery(all, "archive", kept);
	RangeTblRef *right = strata_rollup_add_subquery(all, "rows", raw);
	ListCell   *lc;

	Assert(count_shown(kept) == count_shown(raw));	/* rollup:Z6 */
	set->op = SETOP_UNION;
	set->all = true;
	set->larg = (Node *) left;
	set->rarg = (Node *) right;
	foreach(lc, kept->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);
		Node	   *expr = (Node *) entry->expr;
		Oid			type = exprType(expr);
		Oid			collation = exprCollation(expr);

		if (entry->resjunk)
			break;
		set->colTypes = lappend_oid(set->colTypes, type);
		set->colTypmods = lappend_int(set->colTypmods, exprTypmod(expr));
		set->colCollations = lappend_oid(set->colCollations, collation);
		all->targetList =
			lappend(all->targetList,
					makeTargetEntry((Expr *) makeVar(left->rtindex,
													 entry->resno, type,
													 exprTypmod(expr),
													 collation, 0),
									entry->resno, pstrdup(entry->resname),
									false));
	}
	all->setOperations = (Node *) set;
	return all;
}
