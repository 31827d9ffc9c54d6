/*-------------------------------------------------------------------------
 *
 * bucket_groups.c
 *	  How many groups does GROUP BY time_bucket(width, ts) make?
 *
 * PostgreSQL takes the number of distinct values of ts, which for times is
 * about the number of rows.  We know better where the width is constant and
 * the range of ts is told by conditions or by statistics: as many as buckets
 * lie in it.  The paths are there already when we are asked, so those with too
 * many groups are costed again.
 *
 * src/time/bucket_groups.c
 *-------------------------------------------------------------------------
 */
#include "time/time_private.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

/* A range of times, as far as it is known. */
typedef struct Range
{
	bool		has_lo;
	bool		has_hi;
	int64		lo;
	int64		hi;
} Range;

static void
raise_lo(Range *range, int64 lo)
{
	if (!range->has_lo || lo > range->lo)
		range->lo = lo;
	range->has_lo = true;
}

static void
lower_hi(Range *range, int64 hi)
{
	if (!range->has_hi || hi < range->hi)
		range->hi = hi;
	range->has_hi = true;
}

/*
 * Values in one kind of statistics widen [*lo, *hi]; it starts as the empty
 * range.
 */
static void
look_at_slot(VariableStatData *vardata, Oid type, int kind, int64 *lo,
			 int64 *hi)
{
	AttStatsSlot slot;

	if (!get_attstatsslot(&slot, vardata->statsTuple, kind, InvalidOid,
						  ATTSTATSSLOT_VALUES))
		return;
	for (int i = 0; i < slot.nvalues; i++)
	{
		int64		time = strata_bucket_get(type, slot.values[i]);

		if (strata_bucket_is_infinite(type, time))
			continue;
		*lo = Min(*lo, time);
		*hi = Max(*hi, time);
	}
	free_attstatsslot(&slot);
}

/* The least and the greatest value that ANALYZE has kept of a column. */
static void
look_at_statistics(PlannerInfo *root, Var *var, Range *range)
{
	VariableStatData vardata;
	int64		lo = PG_INT64_MAX;
	int64		hi = PG_INT64_MIN;

	examine_variable(root, (Node *) var, 0, &vardata);
	if (HeapTupleIsValid(vardata.statsTuple))
	{
		look_at_slot(&vardata, var->vartype, STATISTIC_KIND_HISTOGRAM, &lo,
					 &hi);
		look_at_slot(&vardata, var->vartype, STATISTIC_KIND_MCV, &lo, &hi);
	}
	ReleaseVariableStats(vardata);
	if (lo <= hi)
	{
		raise_lo(range, lo);
		lower_hi(range, hi);
	}
}

/* A condition ts op value. */
static void
look_at_condition(PlannerInfo *root, Var *var, OpExpr *op, Range *range)
{
	Oid			opno = op->opno;
	Node	   *value;
	int			strategy;
	int64		time;

	if (!IsA(op, OpExpr) || list_length(op->args) != 2)
		return;
	if (equal(linitial(op->args), var))
		value = lsecond(op->args);
	else if (equal(lsecond(op->args), var))
	{
		value = linitial(op->args);
		opno = get_commutator(opno);
	}
	else
		return;
	strategy = OidIsValid(opno) ? strata_time_strategy(opno, var->vartype) : 0;
	value = estimate_expression_value(root, value);
	if (strategy == 0 || !IsA(value, Const) || ((Const *) value)->constisnull)
		return;
	time = strata_bucket_get(var->vartype, ((Const *) value)->constvalue);
	if (strata_bucket_is_infinite(var->vartype, time))
		return;
	if (strategy >= BTEqualStrategyNumber)
		raise_lo(range, time);
	if (strategy <= BTEqualStrategyNumber)
		lower_hi(range, time);
}

/*
 * Number of buckets that a grouping expression can come to; 0 when it is no
 * such call, or unknown.
 */
static double
count_buckets(PlannerInfo *root, Node *node)
{
	FuncExpr   *func = (FuncExpr *) node;
	StrataBucket bucket;
	Range		range = {0};
	RelOptInfo *rel;
	Const	   *width;
	Var		   *var;
	ListCell   *lc;
	double		length;

	if (!IsA(node, FuncExpr) || list_length(func->args) < 2 ||
		(!strata_time_is_bucket(func->funcid, false) &&
		 !strata_time_is_bucket(func->funcid, true)))
		return 0;
	width = linitial(func->args);
	var = lsecond(func->args);
	if (!IsA(width, Const) || width->constisnull || !IsA(var, Var) ||
		var->varlevelsup != 0 || !strata_bucket_type(var->vartype))
		return 0;
	rel = find_base_rel(root, var->varno);
	look_at_statistics(root, var, &range);
	foreach(lc, rel->baserestrictinfo)
		look_at_condition(root, var,
						  (OpExpr *) lfirst_node(RestrictInfo, lc)->clause,
						  &range);
	if (!range.has_lo || !range.has_hi)
		return 0;

	/* a width that makes no buckets is an error, to be raised at run time */
	if (var->vartype == INT2OID || var->vartype == INT4OID ||
		var->vartype == INT8OID)
	{
		if (strata_bucket_get(var->vartype, width->constvalue) <= 0)
			return 0;
		strata_bucket_init(&bucket, var->vartype, width->constvalue);
		length = (double) bucket.width;
	}
	else
	{
		Interval   *interval = DatumGetIntervalP(width->constvalue);

		length = interval->time +
			((double) interval->day + 30.0 * interval->month) *
			USECS_PER_DAY;
		if (var->vartype == DATEOID)
			length /= USECS_PER_DAY;
	}
	if (!(length > 0))
		return 0;
	return clamp_row_est(((double) range.hi - (double) range.lo) / length + 1);
}

/* The number of groups, or 0 when we know no better than PostgreSQL. */
static double
count_groups(PlannerInfo *root, double rows)
{
	List	   *rest = NIL;
	double		buckets = 0;
	double		groups;
	ListCell   *lc;

	foreach(lc, get_sortgrouplist_exprs(root->parse->groupClause,
										root->processed_tlist))
	{
		double		n = count_buckets(root, lfirst(lc));

		if (n == 0)
			rest = lappend(rest, lfirst(lc));
		else
			buckets = buckets == 0 ? n : buckets * n;
	}
	if (buckets == 0)
		return 0;
	groups = rest == NIL ? 1 :
		estimate_num_groups(root, rest, rows, NULL, NULL);
	return clamp_row_est(Min(rows, groups * buckets));
}

/* See time.h. */
void
strata_time_estimate_groups(PlannerInfo *root, RelOptInfo *input_rel,
							RelOptInfo *grouped_rel)
{
	double		groups;
	ListCell   *lc;

	if (root->parse->groupClause == NIL || root->parse->groupingSets != NIL ||
		input_rel->cheapest_total_path == NULL)
		return;
	groups = count_groups(root, input_rel->cheapest_total_path->rows);
	if (groups == 0)
		return;
	foreach(lc, grouped_rel->pathlist)
	{
		Path	   *path = lfirst(lc);
		AggPath    *agg = (AggPath *) path;

		if (IsA(path, AggPath) && agg->numGroups > groups)
		{
			AggClauseCosts costs = {0};

			get_agg_clause_costs(root, agg->aggsplit, &costs);
			lfirst(lc) = create_agg_path(root, grouped_rel, agg->subpath,
										 path->pathtarget, agg->aggstrategy,
										 agg->aggsplit, agg->groupClause,
										 agg->qual, &costs, groups);
		}
		else if (path->rows > groups)
			path->rows = groups;
	}
}
