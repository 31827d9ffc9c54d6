/*-------------------------------------------------------------------------
 *
 * rollup_verify.c
 *	  Does an archive have what the definition says of the rows?
 *
 * Asked of what a snapshot has as clean: other buckets are not read, and of
 * kept ones there are no rows to ask.  The archive's rows and the partials of
 * the definition are put side by side, by one query,
 *
 *	  SELECT bucket, groups, how many rows of each, both values of partials
 *	  FROM (SELECT true, * FROM archive UNION ALL SELECT false, partials)
 *	  GROUP BY bucket, groups
 *
 * and compared here.  Floats may have been added in another order: they may
 * differ by what that comes to, which is a part of what they are or, where
 * what is added cancels out, of what was added.
 *
 * src/rollup/rollup_verify.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "base/base.h"
#include "catalog/catalog.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "tcop/dest.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include <math.h>

/*
 * Floats may differ by this part of them, and sums by this part of what is
 * added up.
 */
#define TOLERANCE 1e-6
#define SUM_TOLERANCE 1e-9

typedef struct SideBySide
{
	DestReceiver dest;			/* first */
	const StrataRollup *rollup;
	int			ngroups;		/* columns before both counts */
	StrataRollupReport report;
	void	   *arg;
} SideBySide;

/*-------------------------------------------------------------------------
 * The query
 *-------------------------------------------------------------------------
 */

/* The value of the one row of a group that there is of each kind. */
static void
append_both(StringInfo sql, const char *name)
{
	const char *value = psprintf("%s.only_value(%s) FILTER (WHERE ",
								 STRATA_INTERNAL_SCHEMA, name);

	appendStringInfo(sql, ", %sstrata_kept), %sNOT strata_kept)", value,
					 value);
}

/* A sum of floats: what is added may cancel out. */
static bool
is_float_sum(const StrataRollupColumn *column)
{
	const Aggref *aggref = (const Aggref *) column->expr;

	return column->kind == STRATA_ROLLUP_PARTIAL && IsA(aggref, Aggref) &&
		(aggref->aggfnoid == F_SUM_FLOAT8 || aggref->aggfnoid == F_SUM_FLOAT4);
}

/* max(abs(x)) of sum(x): never out of range, as a sum might be. */
static StrataRollupColumn *
largest_addend(const StrataRollupColumn *sum)
{
	StrataRollupColumn *column = palloc(sizeof(StrataRollupColumn));
	Aggref	   *max = (Aggref *) copyObjectImpl(sum->expr);
	bool		is_double = max->aggfnoid == F_SUM_FLOAT8;
	TargetEntry *arg = linitial_node(TargetEntry, max->args);

	*column = *sum;
	max->aggfnoid = is_double ? F_MAX_FLOAT8 : F_MAX_FLOAT4;
	arg->expr = (Expr *) makeFuncExpr(is_double ? F_ABS_FLOAT8 : F_ABS_FLOAT4,
									  sum->type, list_make1(arg->expr),
									  InvalidOid, InvalidOid,
									  COERCE_EXPLICIT_CALL);
	column->expr = (Expr *) max;
	return column;
}

/* The query of a range, see above. */
static char *
side_by_side_text(const StrataRollup *rollup, StrataRange range)
{
	char	   *columns = strata_rollup_column_list(rollup);
	StrataRollup with_addends = *rollup;
	int			naddends = 0;
	StringInfoData sql;
	StringInfoData groups;
	StringInfoData nulls;
	StringInfoData addends;
	ListCell   *lc;

	initStringInfo(&sql);
	initStringInfo(&groups);
	initStringInfo(&nulls);
	initStringInfo(&addends);
	with_addends.columns = list_copy(rollup->columns);
	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (column->kind != STRATA_ROLLUP_PARTIAL)
			appendStringInfo(&groups, "%s%s", groups.len > 0 ? ", " : "",
							 quote_identifier(column->name));
	}
	appendStringInfo(&sql, "SELECT %s, count(*) FILTER (WHERE strata_kept), count(*) FILTER (WHERE NOT strata_kept)",
					 groups.data);
	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (column->kind == STRATA_ROLLUP_PARTIAL)
			append_both(&sql, quote_identifier(column->name));
		if (!is_float_sum(column))
			continue;
		naddends++;
		appendStringInfo(&sql, ", max(strata_addend_%d)::float8", naddends);
		appendStringInfo(&addends, ", strata_addend_%d", naddends);
		appendStringInfoString(&nulls, ", NULL");
		with_addends.columns = lappend(with_addends.columns,
									   largest_addend(column));
	}
	appendStringInfo(&sql, " FROM (SELECT true, %s%s FROM %s", columns,
					 nulls.data, strata_sql_name(rollup->archive));
	strata_rollup_append_quals(&sql, strata_rollup_bucket_name(rollup),
							   rollup->bucket.type, range);
	appendStringInfo(&sql, " UNION ALL SELECT false, strata_rows.* FROM (%s) strata_rows) strata_parts(strata_kept, %s%s) GROUP BY %s ORDER BY 1",
					 strata_rollup_partials_text(&with_addends, range),
					 columns, addends.data, groups.data);
	return sql.data;
}

/*-------------------------------------------------------------------------
 * The comparison
 *-------------------------------------------------------------------------
 */
static bool
near(double a, double b, double addend)
{
	if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
		return (isnan(a) && isnan(b)) || a == b;
	return fabs(a - b) <=
		TOLERANCE * Max(fabs(a), fabs(b)) + SUM_TOLERANCE * addend;
}

/* PostgreSQL's states: of deviations; of regressions, which begin alike. */
enum
{
	STATE_N, STATE_SX, STATE_SXX, DEVIATION_SIZE,
	STATE_SY = DEVIATION_SIZE, STATE_SYY, STATE_SXY, REGRESSION_SIZE
};

/* By what errors of the parts of a state are measured. */
static void
state_addends(const float8 *state, int n, double *addends)
{
	double		squares[2] = {0};

	for (int i = 0; i * 2 + STATE_SXX < n; i++)
	{
		const float8 *sums = state + STATE_SX + i * 2;
		double	   *of = addends + STATE_SX + i * 2;

		squares[i] = sums[1] + sums[0] * sums[0] / Max(state[STATE_N], 1);
		of[0] = sqrt(squares[i]);
		of[1] = sqrt(squares[i]) * sqrt(sums[1]);
	}
	if (n == REGRESSION_SIZE)
		addends[STATE_SXY] = sqrt(squares[0]) * sqrt(state[STATE_SYY]) +
			sqrt(squares[1]) * sqrt(state[STATE_SXX]);
}

/* States, or the numbers of array_agg(). */
static bool
near_arrays(ArrayType *a, ArrayType *b, bool is_state)
{
	int			n = ArrayGetNItems(ARR_NDIM(a), ARR_DIMS(a));
	const float8 *a_values = (const float8 *) ARR_DATA_PTR(a);
	const float8 *b_values = (const float8 *) ARR_DATA_PTR(b);
	double		addends[2][REGRESSION_SIZE] = {{0}};

	if (n != ArrayGetNItems(ARR_NDIM(b), ARR_DIMS(b)) || ARR_HASNULL(a) ||
		ARR_HASNULL(b))
		return false;
	is_state = is_state && (n == DEVIATION_SIZE || n == REGRESSION_SIZE);
	if (is_state)
	{
		state_addends(a_values, n, addends[0]);
		state_addends(b_values, n, addends[1]);
	}
	for (int i = 0; i < n; i++)
	{
		if (!near(a_values[i], b_values[i],
				  is_state ? Max(addends[0][i], addends[1][i]) : 0))
			return false;
	}
	return true;
}

/* Is this an aggregate of ours, whose value is a state of PostgreSQL's? */
static bool
is_state(const StrataRollupColumn *column)
{
	return IsA(column->expr, Aggref) &&
		get_func_namespace(((Aggref *) column->expr)->aggfnoid) ==
		get_namespace_oid(STRATA_INTERNAL_SCHEMA, true);
}

static bool
same_value(const StrataRollupColumn *column, Datum a, Datum b, double addend)
{
	Oid			type = column->type;
	int16		len;
	bool		byval;

	if (type == FLOAT8OID)
		return near(DatumGetFloat8(a), DatumGetFloat8(b), addend);
	if (type == FLOAT4OID)
		return near(DatumGetFloat4(a), DatumGetFloat4(b), addend);
	if (type == FLOAT8ARRAYOID)
		return near_arrays(DatumGetArrayTypeP(a), DatumGetArrayTypeP(b),
						   is_state(column));
	get_typlenbyval(type, &len, &byval);
	if (byval)
		return strata_datum_of_tuple(a, len) == strata_datum_of_tuple(b, len);
	return datum_image_eq(a, b, byval, len);
}

static char *
slot_value_text(const TupleTableSlot *slot, int i)
{
	Oid			output;
	bool		is_varlena;

	if (slot->tts_isnull[i])
		return "NULL";
	getTypeOutputInfo(TupleDescAttr(slot->tts_tupleDescriptor, i)->atttypid,
					  &output, &is_varlena);
	return OidOutputFunctionCall(output, slot->tts_values[i]);
}

/* "bucket 2026-01-01 00:00:00+00, host a" */
static char *
group_text(const SideBySide *both, const TupleTableSlot *slot)
{
	StringInfoData text;
	int			i = 0;
	ListCell   *lc;

	initStringInfo(&text);
	foreach(lc, both->rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (column->kind == STRATA_ROLLUP_PARTIAL)
			continue;
		appendStringInfo(&text, "%s%s %s", i > 0 ? ", " : "", column->name,
						 slot_value_text(slot, i));
		i++;
	}
	return text.data;
}

/* A group of both sides. */
static bool
take_group(TupleTableSlot *slot, DestReceiver *self)
{
	SideBySide *both = (SideBySide *) self;
	int			i = both->ngroups;
	int64		there;
	int64		wanted;
	ListCell   *lc;

	slot_getallattrs(slot);
	there = DatumGetInt64(slot->tts_values[i++]);
	wanted = DatumGetInt64(slot->tts_values[i++]);
	if (there != wanted)
		both->report(both->arg, NULL,
					 psprintf("%s: the archive has " INT64_FORMAT " rows, and should have " INT64_FORMAT,
							  group_text(both, slot), there, wanted));
	if (there != 1 || wanted != 1)
		return true;
	foreach(lc, both->rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);
		bool		is_sum = is_float_sum(column);
		double		addend = 0;

		if (column->kind != STRATA_ROLLUP_PARTIAL)
			continue;
		if (is_sum && !slot->tts_isnull[i + 2])
			addend = DatumGetFloat8(slot->tts_values[i + 2]);
		if (slot->tts_isnull[i] != slot->tts_isnull[i + 1] ||
			(!slot->tts_isnull[i] &&
			 !same_value(column, slot->tts_values[i],
						 slot->tts_values[i + 1], addend)))
			both->report(both->arg, column->name,
						 psprintf("%s: the archive has %s, rows make %s",
								  group_text(both, slot), slot_value_text(slot, i),
								  slot_value_text(slot, i + 1)));
		i += is_sum ? 3 : 2;
	}
	Assert(i == slot->tts_tupleDescriptor->natts);	/* rollup:Z5 */
	return true;
}

static void
begin_groups(DestReceiver *self, int operation, TupleDesc desc)
{
}

static void
end_groups(DestReceiver *self)
{
}

static void
compare_range(SideBySide *both, StrataRange range, Snapshot snapshot)
{
	both->dest.receiveSlot = take_group;
	both->dest.rStartup = begin_groups;
	both->dest.rShutdown = end_groups;
	both->dest.rDestroy = end_groups;
	both->dest.mydest = DestNone;
	(void) strata_sql_execute_at(side_by_side_text(both->rollup, range),
								 snapshot, &both->dest);
}

/* See rollup.h. */
void
strata_rollup_verify(Oid view, Snapshot snapshot, StrataRollupReport report,
					 void *arg)
{
	StrataRollup *rollup = strata_rollup_open(view, false);
	SideBySide	both = {.rollup = rollup,.report = report,.arg = arg};
	StrataOwnerContext saved;
	StrataRanges clean;
	StrataRanges kept;
	ListCell   *lc;

	(void) strata_rollup_is_fit(rollup, true);
	foreach(lc, rollup->columns)
		both.ngroups += ((StrataRollupColumn *) lfirst(lc))->kind !=
		STRATA_ROLLUP_PARTIAL;
	LockRelationOid(rollup->archive, AccessShareLock);
	/* as it is when nothing goes from it any more */
	rollup = strata_rollup_open(view, false);
	both.rollup = rollup;
	strata_rollup_clean(rollup, snapshot, &clean);
	strata_rollup_kept(view, snapshot, &kept);
	for (int i = 0; i < kept.n; i++)
	{
		StrataRanges there = {0};

		strata_ranges_copy(&there, &clean);
		strata_ranges_clip(&there, kept.r[i]);
		if (there.n > 0)
			report(arg, NULL, "times of rows that are gone count as clean");
	}
	strata_rollup_work_as_owner(view, &saved);
	strata_rollup_is_refreshing = true;
	PG_TRY();
	{
		for (int i = 0; i < clean.n; i++)
			compare_range(&both, clean.r[i], snapshot);
	}
	PG_FINALLY();
	{
		strata_rollup_is_refreshing = false;
	}
	PG_END_TRY();
	strata_owner_leave(&saved);
}
