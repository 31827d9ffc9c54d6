/*-------------------------------------------------------------------------
 *
 * scan_key.c
 *	  The plan of a query for the rows of one key, made without the planner.
 *
 * A third of the time of SELECT columns FROM t WHERE segment = 'a' AND time = 'b' goes
 * into planning, of which little is left to decide once all rows are in batches: there is one
 * table, one index that leads to its batch, and nothing to join, sort or group.  So that plan is written
 * down here.  Whatever is not exactly of that form is the planner's; also where another extension
 * takes part in planning (hook_planner.c).
 *
 * The plan is the one that the planner makes; estimates are one row, and the cost of one batch.
 *
 * src/scan/scan_key.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_class_d.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "scan/scan.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
#include "utils/syscache.h"

/* Where the one table stands in the query. */
#define THE_TABLE 1

/* Only columns of one table, and conditions. */
static bool
is_plain(const Query *query)
{
	const RangeTblEntry *rte;

	if (query->commandType != CMD_SELECT || list_length(query->rtable) != 1 ||
		query->utilityStmt != NULL || query->hasAggs || query->hasWindowFuncs || query->hasTargetSRFs ||
		query->hasSubLinks || query->hasDistinctOn || query->hasForUpdate || query->hasRowSecurity ||
		query->cteList != NIL || query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || query->windowClause != NIL || query->distinctClause != NIL ||
		query->sortClause != NIL || query->limitOffset != NULL || query->limitCount != NULL ||
		query->rowMarks != NIL || query->setOperations != NULL || query->targetList == NIL ||
		list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return false;
	rte = linitial_node(RangeTblEntry, query->rtable);
	return rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_RELATION && rte->tablesample == NULL &&
		rte->securityQuals == NIL;
}

/* Are all results columns? */
static bool
wants_columns(const Query *query)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);
		const Var  *var = (const Var *) entry->expr;

		if (entry->resjunk || !IsA(var, Var) || var->varlevelsup > 0 || var->varattno <= 0)
			return false;
	}
	return true;
}

/*
 * Will it be a constant: a parameter's value, or what one of PostgreSQL's own functions makes of a
 * constant, as of 1 where a column is float8?
 */
static bool
becomes_constant(const Node *value)
{
	const FuncExpr *call = (const FuncExpr *) value;

	if (IsA(value, FuncExpr) && call->funcformat == COERCE_IMPLICIT_CAST &&
		call->funcid < FirstGenbkiObjectId && list_length(call->args) == 1)
		value = linitial(call->args);
	return IsA(value, Const) || (IsA(value, Param) && ((const Param *) value)->paramkind == PARAM_EXTERN);
}

static Expr *
fold_constants(Expr *condition, ParamListInfo params)
{
	PlannerInfo *root = makeNode(PlannerInfo);

	root->glob = makeNode(PlannerGlobal);
	root->glob->boundParams = params;
	return (Expr *) eval_const_expressions(root, (Node *) condition);
}

/* The condition, with its constants folded, if it says that a column equals one; else NULL. */
static Expr *
match_equality(Expr *condition, ParamListInfo params, StrataColumnOp *match)
{
	if (!IsA(condition, OpExpr) || !strata_match_column_op(condition, THE_TABLE, match) ||
		!match->column_order || match->strategy != BTEqualStrategyNumber ||
		match->op.opcode >= FirstGenbkiObjectId)
		return NULL;
	if (!IsA(match->value, Const) && becomes_constant((Node *) match->value))
	{
		condition = fold_constants(condition, params);
		if (!IsA(condition, OpExpr) || !strata_match_column_op(condition, THE_TABLE, match))
			return NULL;
	}
	return IsA(match->value, Const) && !((Const *) match->value)->constisnull ? condition : NULL;
}

/* The conditions, if each says that another column equals a constant, and of which columns; else NIL. */
static List *
find_equalities(const Query *query, ParamListInfo params, Bitmapset **columns)
{
	Node	   *condition = query->jointree->quals;
	List	   *conditions = list_make1(condition);
	List	   *quals = NIL;
	ListCell   *lc;

	if (condition == NULL)
		return NIL;
	if (IsA(condition, BoolExpr) && ((BoolExpr *) condition)->boolop == AND_EXPR)
		conditions = ((BoolExpr *) condition)->args;
	foreach(lc, conditions)
	{
		StrataColumnOp match;
		Expr	   *qual = match_equality(lfirst(lc), params, &match);

		/* of two about a column the planner sees whether they go together */
		if (qual == NULL || bms_is_member(match.attno, *columns))
			return NIL;
		quals = lappend(quals, qual);
		*columns = bms_add_member(*columns, match.attno);
	}
	return quals;
}

/* Do these columns tell the segment, and where in it? */
static bool
is_key(const StrataLayout *layout, const Bitmapset *columns)
{
	for (int i = 0; i < layout->nsegment; i++)
		if (!bms_is_member(layout->segment[i], columns))
			return false;
	return layout->nsegment > 0 && layout->norder > 0 && bms_is_member(layout->order[0].attno, columns);
}

/* Distinct values of a column, from statistics. */
static double
count_distinct(Oid relid, AttrNumber attno, double rows)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(attno),
										BoolGetDatum(false));
	double		distinct = 0;

	if (HeapTupleIsValid(tuple))
	{
		distinct = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct;
		ReleaseSysCache(tuple);
	}
	if (distinct < 0)
		distinct *= -rows;
	return distinct > 0 ? distinct : DEFAULT_NUM_DISTINCT;
}

static double
count_segments(Relation rel, const StrataRelInfo *info)
{
	double		result = 1;

	for (int i = 0; i < info->layout->nsegment; i++)
		result *= count_distinct(RelationGetRelid(rel), info->layout->segment[i], info->size.rows);
	return Max(Min(result, info->size.batches), 1.0);
}

static int
row_width(TupleDesc desc, List *tlist)
{
	int			width = 0;
	ListCell   *lc;

	foreach(lc, tlist)
	{
		const Var  *var = (const Var *) lfirst_node(TargetEntry, lc)->expr;
		int			len = TupleDescAttr(desc, var->varattno - 1)->attlen;

		width += len > 0 ? len : get_typavgwidth(var->vartype, var->vartypmod);
	}
	return width;
}

/* The scan of a table all of whose rows are in batches, if the quals are a key of it; else NULL. */
static Plan *
plan_scan(Relation rel, StrataStore *store, List *tlist, List *quals, const Bitmapset *columns)
{
	StrataRelInfo info = {.desc = RelationGetDescr(rel), .store = store};
	StrataScanInfo scan = {.access = STRATA_ACCESS_SEGMENT};
	Plan	   *plan;

	info.layout = strata_store_present_layout(store);
	if (!is_key(info.layout, columns) || !OidIsValid(strata_store_segment_index(store, info.layout, false)) ||
		RelationGetNumberOfBlocks(rel) > 0)
		return NULL;
	strata_store_estimate_size(store->batches, &info.size);
	info.nsegments = count_segments(rel, &info);
	info.has_span_index = OidIsValid(strata_store_span_index(store, info.layout));
	info.ncolumns = list_length(tlist);
	get_tablespace_page_costs(rel->rd_rel->reltablespace, &info.random_page_cost, &info.seq_page_cost);
	scan.layout = info.layout->text;
	scan.by_span = strata_scan_asks_for_span(&info);
	scan.nquals = list_length(quals);
	scan.promotable = palloc(sizeof(bool) * scan.nquals);
	memset(scan.promotable, true, scan.nquals);
	plan = strata_scan_make_plan(THE_TABLE, tlist, quals, &scan, CUSTOMPATH_SUPPORT_PROJECTION |
								 CUSTOMPATH_SUPPORT_BACKWARD_SCAN);
	((CustomScan *) plan)->custom_relids = bms_make_singleton(THE_TABLE);
	plan->plan_rows = 1;
	plan->plan_width = row_width(info.desc, tlist);
	plan->total_cost = strata_scan_batch_cost(&info);
	return plan;
}

/* See scan.h. */
PlannedStmt *
strata_scan_plan_key(Query *query, ParamListInfo params)
{
	RangeTblEntry *rte;
	Bitmapset  *columns = NULL;
	List	   *quals;
	Relation	rel;
	StrataStore *store;
	Plan	   *plan = NULL;
	PlannedStmt *stmt;

	if (!strata_enable_scan || !strata_enable_pruning || !strata_enable_key_plan ||
		!is_plain(query) || !wants_columns(query))
		return NULL;
	rte = linitial_node(RangeTblEntry, query->rtable);
	rel = table_open(rte->relid, NoLock);
	if (strata_relation_is_strata(rel) && !(rte->inh && has_subclass(rte->relid)) &&
		(quals = find_equalities(query, params, &columns)) != NIL &&
		(store = strata_store_open(rel, AccessShareLock)) != NULL)
	{
		plan = plan_scan(rel, store, query->targetList, quals, columns);
		strata_store_close(store, NoLock);
	}
	table_close(rel, NoLock);
	if (plan == NULL)
		return NULL;
	stmt = makeNode(PlannedStmt);
	stmt->commandType = CMD_SELECT;
	stmt->queryId = query->queryId;
	stmt->canSetTag = query->canSetTag;
	stmt->planTree = plan;
	stmt->rtable = query->rtable;
	strata_planned_stmt_set_table(stmt, query);
	stmt->relationOids = list_make1_oid(rte->relid);
	stmt->stmt_location = query->stmt_location;
	stmt->stmt_len = query->stmt_len;
	return stmt;
}
