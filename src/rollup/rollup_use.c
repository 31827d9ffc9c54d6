/*-------------------------------------------------------------------------
 *
 * rollup_use.c
 *	  What a plan uses of an archive, and whether it may still be run.
 *
 * A use is a view, the ranges of its archive that are read, and what bounds
 * the query sets to the time, which must have these ranges inside: lists of
 * nodes, which a plan can carry.
 *
 * src/rollup/rollup_use.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"
#include "rollup/rollup_reach_private.h"

#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* A plan has at most so many ranges of one rollup. */
#define MAX_RANGES 128

/* Of fewer chunks it does not matter how many are read. */
#define FEW_CHUNKS 4

/*-------------------------------------------------------------------------
 * Ranges
 *-------------------------------------------------------------------------
 */

static int
compare_lengths(const void *a, const void *b)
{
	uint64		la = (uint64) ((const StrataRange *) a)->hi -
	(uint64) ((const StrataRange *) a)->lo;
	uint64		lb = (uint64) ((const StrataRange *) b)->hi -
	(uint64) ((const StrataRange *) b)->lo;

	return la > lb ? -1 : la < lb;
}

/*
 * Do gaps between the ranges lie in many chunks from the first range to the
 * last?  Batches are as long as chunks, nearly: then most of the table is read
 * for them, and might as well answer everything.
 */
static bool
gaps_are_everywhere(const StrataRollup *rollup, const StrataRanges *ranges)
{
	StrataHypertable *ht = strata_hypertable_get(rollup->source);
	int64		length;
	int64		chunks;
	int64		touched = 0;
	int64		last = PG_INT64_MIN;

	if (ht == NULL || ranges->n < 2)
		return false;
	length = strata_time_interval_length(rollup->time_type, ht->interval);
	if (length <= 0)
		return false;
	chunks = ranges->r[ranges->n - 1].hi / length - ranges->r[0].lo / length;
	for (int i = 1; i < ranges->n; i++)
	{
		int64		lo = ranges->r[i - 1].hi / length;
		int64		hi = (ranges->r[i].lo - 1) / length;

		touched += hi - Max(lo, last + 1) + 1;
		last = hi;
	}
	return chunks >= FEW_CHUNKS && touched > chunks / 4;
}

/* See rollup_private.h. */
void
strata_rollup_few_ranges(const StrataRollup *rollup, StrataRanges *ranges)
{
	StrataRanges longest = {0};

	if (ranges->n > MAX_RANGES)
	{
		qsort(ranges->r, ranges->n, sizeof(StrataRange), compare_lengths);
		for (int i = 0; i < MAX_RANGES; i++)
			strata_ranges_add(&longest, ranges->r[i]);
		*ranges = longest;
	}
	if (gaps_are_everywhere(rollup, ranges))
		ranges->n = 0;
}

/*-------------------------------------------------------------------------
 * Bounds
 *-------------------------------------------------------------------------
 */

/* Is there a parameter in it?  context: those that have values, or NULL. */
static bool
lacks_parameter(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return context == NULL || ((Param *) node)->paramkind != PARAM_EXTERN;
	return expression_tree_walker(node, lacks_parameter, context);
}

/* See rollup_private.h. */
bool
strata_rollup_awaits(const StrataTimeBound *bound, ParamListInfo params)
{
	return params == NULL && lacks_parameter((Node *) bound->value, NULL);
}

/*
 * A bound's value as one of the time's type, as comparisons of both make it.
 * What is out of range becomes infinite, and is no error.
 */
static Datum
as_time(Datum value, Oid from, Oid to)
{
	int64		time;
	int			overflow = 0;

	if (from == DATEOID && to == TIMESTAMPOID)
		time = date2timestamp_opt_overflow(DatumGetDateADT(value), &overflow);
	else if (from == DATEOID && to == TIMESTAMPTZOID)
		time = date2timestamptz_opt_overflow(DatumGetDateADT(value),
											 &overflow);
	else if (from == TIMESTAMPOID && to == TIMESTAMPTZOID)
		time = timestamp2timestamptz_opt_overflow(DatumGetTimestamp(value),
												  &overflow);
	else
		return value;
	return TimestampTzGetDatum(time);
}

/*
 * Of a comparison that makes of the time a value of a finer type, by the
 * zone's clock perhaps: a time that is beyond all for which it is true.  No
 * clock is a day ahead of another.
 */
static int64
beyond_time(int64 value, Oid to, int strategy)
{
	bool		lower = strategy == BTGreaterStrategyNumber ||
	strategy == BTGreaterEqualStrategyNumber;

	if (value == PG_INT64_MIN || value == PG_INT64_MAX)
		return value;
	value += lower ? -USECS_PER_DAY : USECS_PER_DAY;
	if (to != DATEOID)
		return value;
	return value / USECS_PER_DAY - (value % USECS_PER_DAY < 0);
}

/* The value that the bound has now; false: none is known. */
static bool
bound_time(const StrataTimeBound *bound, ParamListInfo params, Oid type,
		   int64 *time, bool *isnull)
{
	Expr	   *expr = bound->value;
	Oid			from = exprType((Node *) expr);
	EState	   *estate;
	Datum		value;

	if (lacks_parameter((Node *) expr, params) ||
		contain_volatile_functions((Node *) expr))
		return false;
	estate = CreateExecutorState();
	estate->es_param_list_info = params;
	value = ExecEvalExprSwitchContext(ExecPrepareExpr(copyObject(expr),
													  estate),
									  GetPerTupleExprContext(estate), isnull);
	if (!*isnull)
		*time = strata_rollup_is_finer(from, type) ?
			beyond_time(DatumGetTimestamp(value), type, bound->strategy) :
			strata_time_from_datum(type, as_time(value, from, type));
	FreeExecutorState(estate);
	return true;
}

/* See rollup_private.h. */
bool
strata_rollup_window(const List *bounds, Oid type, ParamListInfo params,
					 int64 *lo, int64 *hi)
{
	ListCell   *lc;

	*lo = PG_INT64_MIN;
	*hi = PG_INT64_MAX;
	foreach(lc, bounds)
	{
		StrataTimeBound *bound = lfirst(lc);
		int64		time = 0;
		bool		isnull;

		if (!bound_time(bound, params, type, &time, &isnull))
			return false;
		if (isnull)
		{
			/* true of no time */
			*lo = *hi = PG_INT64_MIN;
			return true;
		}
		if (time != PG_INT64_MAX &&
			(bound->strategy == BTGreaterStrategyNumber ||
			 bound->strategy == BTLessEqualStrategyNumber))
			time++;
		switch (bound->strategy)
		{
			case BTGreaterStrategyNumber:
			case BTGreaterEqualStrategyNumber:
				*lo = Max(*lo, time);
				break;
			case BTLessStrategyNumber:
			case BTLessEqualStrategyNumber:
				*hi = Min(*hi, time);
				break;
			case BTEqualStrategyNumber:
				*lo = Max(*lo, time);
				*hi = Min(*hi, time == PG_INT64_MAX ? time : time + 1);
				break;
			default:
				return false;
		}
	}
	return true;
}

/*-------------------------------------------------------------------------
 * Uses
 *-------------------------------------------------------------------------
 */

static Const *
make_number(int64 number)
{
	return makeConst(INT8OID, -1, InvalidOid, sizeof(int64),
					 Int64GetDatum(number), false, FLOAT8PASSBYVAL);
}

static int64
nth_number(const List *numbers, int i)
{
	return DatumGetInt64(list_nth_node(Const, numbers, i)->constvalue);
}

/* See rollup_private.h. */
List *
strata_rollup_make_use(Oid view, const StrataRanges *ranges,
					   const List *bounds)
{
	List	   *numbers = list_make1(make_number(view));
	List	   *values = NIL;
	ListCell   *lc;

	for (int i = 0; i < ranges->n; i++)
	{
		numbers = lappend(numbers, make_number(ranges->r[i].lo));
		numbers = lappend(numbers, make_number(ranges->r[i].hi));
	}
	foreach(lc, bounds)
	{
		StrataTimeBound *bound = lfirst(lc);

		values = lappend(values, list_make2(makeInteger(bound->strategy),
											copyObject(bound->value)));
	}
	return list_make2(numbers, values);
}

/* See rollup_private.h. */
Oid
strata_rollup_read_use(const List *use, StrataRanges *ranges, List **bounds)
{
	List	   *numbers = linitial(use);
	ListCell   *lc;

	memset(ranges, 0, sizeof(*ranges));
	for (int i = 1; i + 1 < list_length(numbers); i += 2)
		strata_ranges_add(ranges, strata_range(nth_number(numbers, i),
											   nth_number(numbers, i + 1)));
	*bounds = NIL;
	foreach(lc, (List *) lsecond(use))
	{
		StrataTimeBound *bound = palloc(sizeof(StrataTimeBound));

		bound->strategy = intVal(linitial(lfirst(lc)));
		bound->value = lsecond(lfirst(lc));
		*bounds = lappend(*bounds, bound);
	}
	return (Oid) nth_number(numbers, 0);
}

/* See rollup_private.h. */
bool
strata_rollup_within(const StrataRanges *ranges, const List *bounds, Oid type,
					 ParamListInfo params)
{
	int64		lo;
	int64		hi;

	return strata_rollup_window(bounds, type, params, &lo, &hi) &&
		lo <= ranges->r[0].lo && hi >= ranges->r[ranges->n - 1].hi;
}

/* Who owns the table, and does it keep rows from users? */
static Oid
owner_and_rls(Oid relid, bool *row_security)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner = InvalidOid;

	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	*row_security = ((Form_pg_class) GETSTRUCT(tuple))->relrowsecurity;
	ReleaseSysCache(tuple);
	return owner;
}

/* Do the view, and those it is made of, see all rows? */
static bool
sees_all_rows(Oid view)
{
	while (OidIsValid(view))
	{
		StrataRollupRow *row = strata_rollup_row(view);
		bool		row_security = false;

		if (row == NULL ||
			!OidIsValid(owner_and_rls(row->source, &row_security)) ||
			row_security)
			return false;
		view = strata_rollup_of_archive(row->source);
	}
	return true;
}

/* Is all that is used clean now, and asked for? */
static bool
holds(const List *use, Snapshot snapshot, ParamListInfo params)
{
	StrataRanges ranges;
	List	   *bounds;
	Oid			view = strata_rollup_read_use(use, &ranges, &bounds);
	StrataRollup *rollup;
	StrataRanges clean;

	rollup = sees_all_rows(view) ? strata_rollup_open(view, true) : NULL;
	if (rollup == NULL ||
		!strata_rollup_within(&ranges, bounds, rollup->time_type, params))
		return false;
	strata_rollup_clean(rollup, snapshot, &clean);
	strata_ranges_remove(&ranges, &clean);
	return ranges.n == 0;
}

/* See rollup.h. */
bool
strata_rollup_uses_hold(const List *uses, Snapshot snapshot,
						ParamListInfo params)
{
	ListCell   *lc;

	/* a worker runs what its leader has looked at */
	if (IsParallelWorker())
		return true;
	foreach(lc, uses)
	{
		List	   *use = lfirst(lc);

		bool		good;

		if (IsA(linitial(use), String))
			good = strata_rollup_past_holds(use, snapshot);
		else if (IsA(linitial(use), Integer))
			good = strata_rollup_reach_holds(use, params);
		else
			good = holds(use, snapshot, params);
		if (!good)
			return false;
	}
	return true;
}

/* See rollup_private.h. */
StrataRollup *
strata_rollup_usable(Oid view)
{
	StrataRollup *rollup;
	bool		row_security = false;
	Oid			owner;

	if (!sees_all_rows(view))
		return NULL;
	rollup = strata_rollup_open(view, true);
	if (rollup == NULL || !strata_rollup_is_fit(rollup, false))
		return NULL;
	LockRelationOid(rollup->archive, AccessShareLock);
	owner = owner_and_rls(rollup->archive, &row_security);
	return OidIsValid(owner) && !row_security &&
		pg_class_aclcheck(rollup->archive, owner,
						  ACL_SELECT) == ACLCHECK_OK ? rollup : NULL;
}
