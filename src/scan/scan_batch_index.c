/*-------------------------------------------------------------------------
 *
 * scan_batch_index.c
 *	  Batches found by indexes of the table: when that pays, and which.
 *
 * An index of R leads to rows of the row store.  Beside the companion stands a
 * relation that leads from the hashes of a column's values to the batches that
 * may have them (index/).  It is asked for by "column = value" and "column =
 * ANY (array)", and by an OR of these; several are looked up where that leads
 * to fewer batches.  What they lead to is filtered like all batches, by
 * scan_index_source.c.
 *
 * src/scan/scan_batch_index.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "index/index.h"
#include "scan/scan_plan_private.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* Multiples of cpu_tuple_cost: to open it, to decode a row of a run. */
#define COST_OPEN 4.0
#define COST_ROW 5.0

/* Entries of a row of a run, about. */
#define ROW_ENTRIES 2400.0

/* Elements of an array that is not known. */
#define UNKNOWN_ELEMENTS 10

/* What is known of a column's batch index; index InvalidOid: there is none. */
typedef struct ColumnIndex
{
	AttrNumber	attno;
	Oid			index;
	StrataIndexShape shape;
	double		uncovered;		/* share of the batches */
} ColumnIndex;

/* See scan_plan_private.h. */
double
strata_scan_row_numbers(StrataStore *store, Snapshot snapshot)
{
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	double		numbers = 1;

	if (strata_store_find_last_batch(store, snapshot, slot))
	{
		bool		isnull;

		numbers += (double)
			DatumGetInt64(slot_getattr(slot, STRATA_BATCH_ATT_FIRST_ROW,
									   &isnull));
	}
	ExecDropSingleTupleTableSlot(slot);
	return numbers;
}

/* The share of row numbers that nothing speaks for. */
static double
uncovered_share(StrataStore *store, Snapshot snapshot, int64 covered)
{
	double		numbers = strata_scan_row_numbers(store, snapshot);

	return Max(numbers - (double) covered, 0) / numbers;
}

/* Remembered, as it is asked for by each candidate. */
static const ColumnIndex *
column_index(StrataRelInfo *info, AttrNumber attno)
{
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() :
	GetTransactionSnapshot();
	ColumnIndex *known;
	ListCell   *lc;

	foreach(lc, info->batch_indexes)
	{
		known = lfirst(lc);
		if (known->attno == attno)
			return known;
	}
	known = palloc0(sizeof(ColumnIndex));
	known->attno = attno;
	known->index = strata_index_of_column(info->store->rel, attno);
	if (OidIsValid(known->index) &&
		strata_index_shape(info->store, snapshot, attno, &known->shape))
		known->uncovered = uncovered_share(info->store, snapshot,
										   known->shape.covered);
	else
		known->index = InvalidOid;
	info->batch_indexes = lappend(info->batch_indexes, known);
	return known;
}

/* See scan_plan_private.h. */
bool
strata_scan_has_batch_index(StrataRelInfo *info, AttrNumber attno)
{
	return strata_enable_batch_index && attno > 0 &&
		OidIsValid(column_index(info, attno)->index);
}

/* Can the comparison be looked up?  Its column's index, or NULL. */
static const ColumnIndex *
comparison_index(StrataRelInfo *info, const StrataColumnOp *op)
{
	const ColumnIndex *found;
	Oid			column;
	Oid			value;

	if (op->strategy != BTEqualStrategyNumber || !OidIsValid(op->op.opno) ||
		!strata_scan_has_batch_index(info, op->attno))
		return NULL;
	found = column_index(info, op->attno);
	return strata_index_can_look_up(op->op.opno, op->collation, &column,
									&value) &&
		column == found->shape.function ? found : NULL;
}

static double
count_sought(const StrataColumnOp *op)
{
	const Node *value = (const Node *) op->value;

	if (!op->is_array)
		return 1;
	if (IsA(value, Const) && !((const Const *) value)->constisnull)
	{
		ArrayType  *array =
		DatumGetArrayTypeP(((const Const *) value)->constvalue);

		return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	}
	if (IsA(value, ArrayExpr))
		return list_length(((const ArrayExpr *) value)->elements);
	return UNKNOWN_ELEMENTS;
}

/*
 * Different values of a column by its statistics, of rows rows; 0: unknown.
 */
static double
distinct_values(Oid relid, AttrNumber attno, bool inherited, double rows)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH,
										ObjectIdGetDatum(relid),
										Int16GetDatum(attno),
										BoolGetDatum(inherited));
	double		n;

	if (!HeapTupleIsValid(tuple))
		return 0;
	n = ((Form_pg_statistic) GETSTRUCT(tuple))->stadistinct;
	ReleaseSysCache(tuple);
	return n < 0 ? -n * rows : n;
}

/* Rows of all partitions of the parent that are planned. */
static double
rows_of_siblings(PlannerInfo *root, Index parent)
{
	double		rows = 0;
	ListCell   *lc;

	foreach(lc, root->append_rel_list)
	{
		const		AppendRelInfo *sibling = lfirst_node(AppendRelInfo, lc);

		if (sibling->parent_relid == parent &&
			root->simple_rel_array[sibling->child_relid] != NULL)
			rows += root->simple_rel_array[sibling->child_relid]->tuples;
	}
	return rows;
}

/*
 * The chance that one of the whole table's values is in this partition of it.
 * PostgreSQL looks at each partition alone, and thinks of a list of values
 * that all of them are in each, where every one is in a single partition.
 * rows: those that it expects for each value.
 */
static double
value_chance(StrataRelInfo *info, AttrNumber attno, double rows)
{
	PlannerInfo *root = info->root;
	const		AppendRelInfo *place = root->append_rel_array == NULL ? NULL :
	root->append_rel_array[info->rel->relid];
	Oid			parent;
	double		own;
	double		all;
	double		all_rows;

	if (place == NULL || attno > place->num_child_cols ||
		place->parent_colnos[attno - 1] <= 0)
		return 1;
	own = distinct_values(RelationGetRelid(info->store->rel), attno, false,
						  info->rel->tuples);
	/* frequent values are as likely elsewhere */
	if (own <= 0 || rows > 2 * info->rel->tuples / own)
		return 1;
	parent = planner_rt_fetch(place->parent_relid, root)->relid;
	all_rows = Max(rows_of_siblings(root, place->parent_relid),
				   info->rel->tuples);
	all = distinct_values(parent, place->parent_colnos[attno - 1], true,
						  all_rows);
	/* the table was not analysed: values that are rare are of one partition */
	if (all <= 0 && own > 0.5 * info->rel->tuples)
		all = own * all_rows / Max(info->rel->tuples, 1);
	return all <= own ? 1 : own / all;
}

static StrataIndexOption *
make_option(double share, Cost cost)
{
	StrataIndexOption *option = palloc0(sizeof(StrataIndexOption));

	option->share = share;
	option->cost = cost;
	return option;
}

/*
 * See scan_plan_private.h.  Of each run the rows that have one, each a page;
 * the b-tree above has a page for hundreds of them.
 */
Cost
strata_scan_look_up_cost(const StrataIndexShape *shape, double sought,
						 Cost random_page, Cost seq_page)
{
	double		all = shape->nruns + shape->entries / ROW_ENTRIES;
	double		rows = all * (1 - exp(-sought * shape->nruns / all));
	Cost		pages = Min(rows * (random_page + seq_page),
							random_page + 2 * all * seq_page);

	return pages + rows * COST_ROW * cpu_tuple_cost +
		sought * shape->nruns * 50 * cpu_operator_cost;
}

/* The way to batches that a comparison offers, or NULL. */
static StrataIndexOption *
comparison_option(StrataRelInfo *info, const StrataColumnOp *op, Node *clause,
				  bool repeated)
{
	const ColumnIndex *found = comparison_index(info, op);
	StrataIndexOption *option;
	double		sought;
	double		rows;
	double		share;

	if (found == NULL)
		return NULL;
	sought = Max(count_sought(op), 1);
	rows = info->size.rows *
		clause_selectivity(info->root, clause, (int) info->rel->relid,
						   JOIN_INNER, NULL);
	if (sought > 1)
		rows *= value_chance(info, op->attno, rows / sought);
	/* batches that random rows are in; values of joins are as constants */
	share = 1 - exp(-Max(rows, 1) / info->size.batches);
	option = make_option(Min(share + found->uncovered, 1),
						 strata_scan_look_up_cost(&found->shape, sought,
												  info->random_page_cost,
												  info->seq_page_cost));
	/* it stays open from one value of a join to the next */
	if (!repeated)
		option->cost += info->random_page_cost + COST_OPEN * cpu_tuple_cost;
	option->uses = list_make2_oid(found->index, (Oid) found->attno);
	return option;
}

static StrataIndexOption *clause_option(StrataRelInfo *info, Node *clause,
										bool repeated);

/* Any of the arguments: all must offer a way. */
static StrataIndexOption *
or_option(StrataRelInfo *info, const BoolExpr *expr, bool repeated)
{
	StrataIndexOption *result = make_option(1, 0);
	ListCell   *lc;

	foreach(lc, expr->args)
	{
		StrataIndexOption *arg = clause_option(info, lfirst(lc), repeated);

		if (arg == NULL)
			return NULL;
		result->share *= 1 - arg->share;
		result->cost += arg->cost;
		result->uses = list_concat(result->uses, arg->uses);
	}
	result->share = 1 - result->share;
	return result;
}

/* All of the arguments: the one that leads to fewest batches. */
static StrataIndexOption *
and_option(StrataRelInfo *info, const BoolExpr *expr, bool repeated)
{
	StrataIndexOption *result = NULL;
	ListCell   *lc;

	foreach(lc, expr->args)
	{
		StrataIndexOption *arg = clause_option(info, lfirst(lc), repeated);

		if (arg != NULL && (result == NULL || arg->share < result->share))
			result = arg;
	}
	return result;
}

/* The way to batches that a part of a condition offers, or NULL. */
static StrataIndexOption *
clause_option(StrataRelInfo *info, Node *clause, bool repeated)
{
	StrataColumnOp op;

	check_stack_depth();
	if (is_orclause(clause))
		return or_option(info, (BoolExpr *) clause, repeated);
	if (is_andclause(clause))
		return and_option(info, (BoolExpr *) clause, repeated);
	return strata_match_column_op((Expr *) clause, info->rel->relid, &op) ?
		comparison_option(info, &op, clause, repeated) : NULL;
}

/* See scan_plan_private.h. */
List *
strata_scan_batch_index(StrataRelInfo *info, List *clauses, bool repeated)
{
	List	   *options = NIL;
	ListCell   *lc;

	if (!strata_enable_batch_index || info->size.batches < 2)
		return NIL;
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		StrataIndexOption *option = NULL;
		const StrataColumnOp *op;

		if (rinfo->pseudoconstant ||
			!restriction_is_securely_promotable(rinfo, info->rel))
			continue;
		op = strata_scan_clause_op(info, rinfo);
		if (op != NULL)
			option = comparison_option(info, op, (Node *) rinfo, repeated);
		else if (is_orclause(rinfo->clause))
			option = clause_option(info, (Node *) rinfo->clause, repeated);
		if (option != NULL)
			options = lappend(options, option);
	}
	return options;
}

/* See scan_plan_private.h. */
List *
strata_scan_joined_indexes(StrataRelInfo *info)
{
	List	   *result = NIL;
	ListCell   *lc;

	if (!strata_enable_join_pruning || info->size.batches < 2 ||
		(info->rel->joininfo == NIL && !info->rel->has_eclass_joins))
		return NIL;
	foreach(lc, info->rel->reltarget->exprs)
	{
		const Var  *var = lfirst(lc);
		const ColumnIndex *found;
		StrataJoinedIndex *joined;

		if (!IsA(var, Var) || var->varno != (int) info->rel->relid ||
			!strata_scan_has_batch_index(info, var->varattno))
			continue;
		found = column_index(info, var->varattno);
		joined = palloc(sizeof(StrataJoinedIndex));
		joined->attno = var->varattno;
		joined->shape = found->shape;
		joined->uncovered = found->uncovered;
		joined->random_page = info->random_page_cost;
		joined->seq_page = info->seq_page_cost;
		result = lappend(result, joined);
	}
	return result;
}
