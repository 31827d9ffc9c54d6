/*-------------------------------------------------------------------------
 *
 * agg_result.c
 *	  From a cell to the value of the aggregate.
 *
 * Divisions and the like are PostgreSQL's own functions' where the result is
 * numeric, and the same operations where it is a float.
 *
 * src/agg/agg_result.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"
#include "agg/agg_numeric_private.h"

#include <math.h>

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

static Datum
numeric_quotient(Datum sum, int64 n)
{
	return DirectFunctionCall2(numeric_div, sum,
							   NumericGetDatum(int64_to_numeric(n)));
}

#ifdef HAVE_INT128

/* The 128 bit sum of a cell, in the current context. */
static Datum
int128_numeric(const AggCell *cell)
{
	return strata_agg_wide_numeric((AggWide) (((uint128) (uint64) cell->w.hi
											   << 64) |
											  (uint64) cell->v.i),
								   0);
}

#endif

/* Is there no result for so few values? */
static bool
too_few(AggResult result, int64 n)
{
	switch (result)
	{
		case AGG_RESULT_COUNT:
		case AGG_RESULT_PICK:
		case AGG_RESULT_BEST:
		case AGG_RESULT_GENERIC:
			return false;
		case AGG_RESULT_VAR_SAMP:
		case AGG_RESULT_STDDEV_SAMP:
			return n <= 1;
		default:
			return n == 0;
	}
}

/* Memory: the current context. */
Datum
strata_agg_result(StrataAggState *agg, AggCall *call, AggCell *cell,
				  bool *isnull)
{
	AggResult	result = call->kernel->result;
	float8		n = (float8) cell->n;

	*isnull = too_few(result, cell->n);
	if (*isnull)
		return (Datum) 0;
	switch (result)
	{
		case AGG_RESULT_COUNT:
			return Int64GetDatum(cell->n);
		case AGG_RESULT_INT:
			return strata_integer_datum(cell->v.i, call->resultlen);
		case AGG_RESULT_FLOAT4:
			return Float4GetDatum((float4) cell->v.f);
		case AGG_RESULT_FLOAT8:
			return Float8GetDatum(cell->v.f);
		case AGG_RESULT_INT_AVG:
			return numeric_quotient(NumericGetDatum(int64_to_numeric(cell->v
																	 .i)),
									cell->n);
#ifdef HAVE_INT128
		case AGG_RESULT_INT128:
			return int128_numeric(cell);
		case AGG_RESULT_INT128_AVG:
			return numeric_quotient(int128_numeric(cell), cell->n);
#else
		case AGG_RESULT_INT128:
		case AGG_RESULT_INT128_AVG:
			break;
#endif
		case AGG_RESULT_FLOAT_AVG:
			return Float8GetDatum(cell->v.f / n);
		case AGG_RESULT_VAR_POP:
			return Float8GetDatum(cell->w.sxx / n);
		case AGG_RESULT_VAR_SAMP:
			return Float8GetDatum(cell->w.sxx / (n - 1.0));
		case AGG_RESULT_STDDEV_POP:
			return Float8GetDatum(sqrt(cell->w.sxx / n));
		case AGG_RESULT_STDDEV_SAMP:
			return Float8GetDatum(sqrt(cell->w.sxx / (n - 1.0)));
		case AGG_RESULT_PICK:
			*isnull = strata_agg_pick_is_null(cell);
			return cell->v.d;
		case AGG_RESULT_BEST:
			break;				/* several columns: strata_agg_best_return() */
		case AGG_RESULT_GENERIC:
			if (call->hold != NULL)
				return strata_agg_replay_result(agg, call->replay, cell,
												isnull);
			return strata_agg_generic_result(call->generic, cell, isnull);
	}
	elog(ERROR, "unexpected kind of result: %d", (int) result);
	return (Datum) 0;
}
