/*-------------------------------------------------------------------------
 *
 * scan_key.c
 *	  The plan of a query for the rows of one key, or the first of a segment,
 *	  made without the planner.
 *
 * A third of the time of SELECT columns FROM t WHERE segment = 'a' AND time = 'b', or of
 * ... WHERE segment = 'a' ORDER BY time DESC LIMIT 10, goes into planning, of which little is
 * left to decide once all rows are in batches: there is one table, one index that leads to its
 * batches, in their order, and nothing to join, sort or group.  So that plan is written
 * down here.  Whatever is not exactly of that form is the planner's; also where another extension
 * takes part in planning (hook_planner.c).
 *
 * The plan is the one that the planner makes; its estimates are rougher.
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
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "scan/scan.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* Where the one table stands in the query. */
#define THE_TABLE 1

/* What a query asks for: rows for which all conditions hold. */
typedef struct KeyQuery
{
	Query	   *query;
	ParamListInfo params;
	List	   *ranges;			/* conditions: a column is less or greater than a constant */
	List	   *equalities;		/* a column equals one */
	Bitmapset  *ranged;			/* their columns */
	Bitmapset  *equal;
	bool		ordered;
	StrataOrderKey by;			/* if so, by which column */
	Const	   *count;			/* of LIMIT; or NULL */
	Const	   *offset;			/* or NULL */
} KeyQuery;

/* Only columns of one table, conditions, and the first rows by one column. */
static bool
is_plain(const Query *query)
{
	const RangeTblEntry *rte;

	if (query->commandType != CMD_SELECT || list_length(query->rtable) != 1 ||
		query->utilityStmt != NULL || query->hasAggs || query->hasWindowFuncs || query->hasTargetSRFs ||
		query->hasSubLinks || query->hasDistinctOn || query->hasForUpdate || query->hasRowSecurity ||
		query->cteList != NIL || query->groupClause != NIL || query->groupingSets != NIL ||
		query->havingQual != NULL || query->windowClause != NIL || query->distinctClause != NIL ||
		list_length(query->sortClause) > 1 || (query->sortClause != NIL && query->limitCount == NULL) ||
		(query->limitOffset != NULL && query->limitCount == NULL) ||
		query->limitOption != LIMIT_OPTION_COUNT || query->rowMarks != NIL || query->setOperations != NULL || query->targetList == NIL ||
		list_length(query->jointree->fromlist) != 1 ||
		!IsA(linitial(query->jointree->fromlist), RangeTblRef))
		return false;
	rte = linitial_node(RangeTblEntry, query->rtable);
	return rte->rtekind == RTE_RELATION && rte->relkind == RELKIND_RELATION && rte->tablesample == NULL &&
		rte->securityQuals == NIL;
}

/* Are all results columns, and what is sorted by? */
static bool
wants_columns(const Query *query)
{
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		const TargetEntry *entry = lfirst_node(TargetEntry, lc);
		const Var  *var = (const Var *) entry->expr;

		if (!IsA(var, Var) || var->varlevelsup > 0 || var->varattno <= 0)
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

/* The condition, with its constants folded, if it compares a column with one that is not null; else NULL. */
static Expr *
match_comparison(Expr *condition, ParamListInfo params, StrataColumnOp *match)
{
	if (!IsA(condition, OpExpr) || !strata_match_column_op(condition, THE_TABLE, match) ||
		!match->column_order || match->strategy < BTLessStrategyNumber ||
		match->strategy > BTGreaterStrategyNumber || match->op.opcode >= FirstGenbkiObjectId)
		return NULL;
	if (!IsA(match->value, Const) && becomes_constant((Node *) match->value))
	{
		condition = fold_constants(condition, params);
		if (!IsA(condition, OpExpr) || !strata_match_column_op(condition, THE_TABLE, match))
			return NULL;
	}
	return IsA(match->value, Const) && !((Const *) match->value)->constisnull ? condition : NULL;
}

/* False: there is none, or another one, or two say what a column equals (or one, what it is besides). */
static bool
find_conditions(KeyQuery *key)
{
	Node	   *condition = key->query->jointree->quals;
	List	   *conditions = list_make1(condition);
	ListCell   *lc;

	if (condition == NULL)
		return false;
	if (IsA(condition, BoolExpr) && ((BoolExpr *) condition)->boolop == AND_EXPR)
		conditions = ((BoolExpr *) condition)->args;
	foreach(lc, conditions)
	{
		StrataColumnOp match;
		Expr	   *qual = match_comparison(lfirst(lc), key->params, &match);

		if (qual == NULL)
			return false;
		if (match.strategy == BTEqualStrategyNumber)
		{
			/* of two about a column the planner sees whether they go together */
			if (bms_is_member(match.attno, key->equal))
				return false;
			key->equalities = lappend(key->equalities, qual);
			key->equal = bms_add_member(key->equal, match.attno);
		}
		else
		{
			key->ranges = lappend(key->ranges, qual);
			key->ranged = bms_add_member(key->ranged, match.attno);
		}
	}
	return !bms_overlap(key->equal, key->ranged);
}

/* Sorted by nothing, or by a column in the order of its type. */
static bool
find_order(KeyQuery *key)
{
	const SortGroupClause *sort;
	const Var  *var;
	TypeCacheEntry *type;

	if (key->query->sortClause == NIL)
		return true;
	sort = linitial_node(SortGroupClause, key->query->sortClause);
	var = (const Var *) get_sortgroupclause_expr((SortGroupClause *) sort, key->query->targetList);
	type = lookup_type_cache(var->vartype, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	key->ordered = true;
	key->by.attno = var->varattno;
	key->by.desc = sort->sortop == type->gt_opr;
	key->by.nulls_first = sort->nulls_first;
	return key->by.desc || sort->sortop == type->lt_opr;
}

static bool
fold_number(Node *number, ParamListInfo params, Const **result)
{
	if (number == NULL)
		return true;
	if (!becomes_constant(number))
		return false;
	*result = (Const *) fold_constants((Expr *) number, params);
	return IsA(*result, Const) && !(*result)->constisnull;
}

/* False: the query is another one than those that are planned here. */
static bool
understand(KeyQuery *key)
{
	return find_order(key) && find_conditions(key) &&
		fold_number(key->query->limitCount, key->params, &key->count) &&
		fold_number(key->query->limitOffset, key->params, &key->offset);
}

/*
 * Do the conditions tell one segment, and where in it, or is it wanted in order, perhaps from and
 * to some value?
 */
static bool
is_key(const KeyQuery *key, const StrataLayout *layout)
{
	AttrNumber	order;

	if (layout->nsegment == 0 || layout->norder == 0)
		return false;
	for (int i = 0; i < layout->nsegment; i++)
		if (!bms_is_member(layout->segment[i], key->equal))
			return false;
	order = layout->order[0].attno;
	if (!key->ordered)
		return bms_is_member(order, key->equal) && key->ranged == NULL;
	return key->by.attno == order && !bms_is_member(order, key->equal) &&
		(key->ranged == NULL || (bms_is_member(order, key->ranged) && bms_num_members(key->ranged) == 1));
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

/* The scan of a table all of whose rows are in batches, if a key of it is asked for; else NULL. */
static Plan *
plan_scan(KeyQuery *key, Relation rel, StrataStore *store)
{
	StrataRelInfo info = {.desc = RelationGetDescr(rel), .store = store};
	StrataScanInfo scan = {0};
	List	   *tlist = key->query->targetList;
	List	   *quals = list_concat(key->ranges, key->equalities);
	double		nbatches;
	Plan	   *plan;

	info.layout = strata_store_present_layout(store);
	if (!is_key(key, info.layout) || RelationGetNumberOfBlocks(rel) > 0 ||
		!OidIsValid(strata_store_segment_index(store, info.layout, key->ordered && key->by.desc)))
		return NULL;
	strata_store_estimate_size(store->batches, &info.size);
	info.nsegments = count_segments(rel, &info);
	info.has_span_index = OidIsValid(strata_store_span_index(store, info.layout));
	info.ncolumns = list_length(tlist);
	get_tablespace_page_costs(rel->rd_rel->reltablespace, &info.random_page_cost, &info.seq_page_cost);
	scan.access = key->ordered && key->by.desc ? STRATA_ACCESS_SEGMENT_MAX : STRATA_ACCESS_SEGMENT;
	scan.nkeys = key->ordered;
	scan.keys = &key->by;
	scan.incremental = key->ordered;
	scan.layout = info.layout->text;
	scan.by_span = strata_scan_asks_for_span(&info);
	scan.nquals = list_length(quals);
	scan.promotable = palloc(sizeof(bool) * scan.nquals);
	memset(scan.promotable, true, scan.nquals);
	plan = strata_scan_make_plan(THE_TABLE, tlist, quals, &scan, CUSTOMPATH_SUPPORT_PROJECTION |
								 (key->ordered ? 0 : CUSTOMPATH_SUPPORT_BACKWARD_SCAN));
	((CustomScan *) plan)->custom_relids = bms_make_singleton(THE_TABLE);
	nbatches = key->ordered ? Max(info.size.batches / info.nsegments, 1) : 1;
	plan->plan_rows = key->ordered ? clamp_row_est(info.size.rows / info.nsegments) : 1;
	plan->plan_width = row_width(info.desc, tlist);
	plan->startup_cost = key->ordered ? strata_scan_batch_cost(&info) : 0;
	plan->total_cost = strata_scan_batch_cost(&info) * nbatches;
	return plan;
}

/* The results of the plan below, as they are (set_dummy_tlist_references in setrefs.c). */
static List *
pass_on(List *tlist)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, tlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);
		const Var  *below = (const Var *) entry->expr;
		Var		   *var = makeVar(OUTER_VAR, entry->resno, below->vartype, below->vartypmod, below->varcollid, 0);

		var->varnosyn = below->varnosyn;
		var->varattnosyn = below->varattnosyn;
		entry = flatCopyTargetEntry(entry);
		entry->expr = (Expr *) var;
		result = lappend(result, entry);
	}
	return result;
}

static Plan *
plan_limit(const KeyQuery *key, Plan *below)
{
	Limit	   *limit = makeNode(Limit);

	below->plan_node_id = 1;
	limit->plan.targetlist = pass_on(below->targetlist);
	limit->plan.lefttree = below;
	limit->limitOffset = (Node *) key->offset;
	limit->limitCount = (Node *) key->count;
	limit->limitOption = LIMIT_OPTION_COUNT;
	limit->plan.startup_cost = below->startup_cost;
	limit->plan.total_cost = below->total_cost;
	limit->plan.plan_rows = below->plan_rows;
	limit->plan.plan_width = below->plan_width;
	adjust_limit_rows_costs(&limit->plan.plan_rows, &limit->plan.startup_cost, &limit->plan.total_cost,
							key->offset != NULL ? DatumGetInt64(key->offset->constvalue) : 0,
							DatumGetInt64(key->count->constvalue));
	return &limit->plan;
}

/* See scan.h. */
PlannedStmt *
strata_scan_plan_key(Query *query, int cursor_options, ParamListInfo params)
{
	KeyQuery	key = {.query = query, .params = params};
	RangeTblEntry *rte;
	Relation	rel;
	StrataStore *store;
	Plan	   *plan = NULL;
	PlannedStmt *stmt;

	if (!strata_enable_scan || !strata_enable_pruning || !strata_enable_key_plan ||
		!is_plain(query) || !wants_columns(query) ||
		(query->sortClause != NIL && (!strata_enable_ordered_scan || (cursor_options & CURSOR_OPT_SCROLL) != 0)))
		return NULL;
	rte = linitial_node(RangeTblEntry, query->rtable);
	rel = table_open(rte->relid, NoLock);
	if (strata_relation_is_strata(rel) && !(rte->inh && has_subclass(rte->relid)) &&
		!strata_has_virtual_columns(RelationGetDescr(rel)) && understand(&key) &&
		(store = strata_store_open(rel, AccessShareLock)) != NULL)
	{
		plan = plan_scan(&key, rel, store);
		strata_store_close(store, NoLock);
	}
	table_close(rel, NoLock);
	if (plan == NULL)
		return NULL;
	if (key.count != NULL)
		plan = plan_limit(&key, plan);
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
