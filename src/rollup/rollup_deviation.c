/*-------------------------------------------------------------------------
 *
 * rollup_deviation.c
 *	  Deviations of integers and numerics out of how many they are, their sum
 *	  and the sum of their squares.
 *
 * PostgreSQL's own ending of such an aggregate takes a state that nobody else
 * can make.  Here are the same steps by functions that are there for all, to
 * the last digit: products and differences of numerics are exact, a quotient
 * has as many digits as it has there, and so has the root, which is rounded
 * from below at half.
 *
 * src/rollup/rollup_deviation.c
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

PG_FUNCTION_INFO_V1(strata_numeric_deviation);

static Datum
read_numeric(const char *text)
{
	return DirectFunctionCall3(numeric_in, CStringGetDatum(text),
							   ObjectIdGetDatum(InvalidOid),
							   Int32GetDatum(-1));
}

/* The square root, with as many digits behind the point as its argument. */
static Datum
root_of(Datum square)
{
	int			scale = DatumGetInt32(DirectFunctionCall1(numeric_scale,
														  square));
	Datum		longer = DirectFunctionCall1(numeric_sqrt, square);
	Datum		root;
	Datum		below;

	root = DirectFunctionCall2(numeric_round, longer, Int32GetDatum(scale));
	if (DatumGetInt32(DirectFunctionCall1(numeric_scale, longer)) <= scale)
		return root;
	/* was it below half, and only rounded up to that? */
	below = DirectFunctionCall2(numeric_sub, root,
								read_numeric(psprintf("5e-%d", scale + 1)));
	below = DirectFunctionCall2(numeric_mul, below, below);
	if (!DatumGetBool(DirectFunctionCall2(numeric_gt, below, square)))
		return root;
	return DirectFunctionCall2(numeric_sub, root,
							   read_numeric(psprintf("1e-%d", scale)));
}

/*
 * numeric_deviation(n, sum, squares, sample, root): the variance of n numbers,
 * or its root, the standard deviation; of a sample, or of all there are.
 */
Datum
strata_numeric_deviation(PG_FUNCTION_ARGS)
{
	int64		n = PG_ARGISNULL(0) ? 0 : PG_GETARG_INT64(0);
	bool		sample = PG_GETARG_BOOL(3);
	Datum		count = NumericGetDatum(int64_to_numeric(n));
	Datum		zero = NumericGetDatum(int64_to_numeric(0));
	Datum		sum = PG_GETARG_DATUM(1);
	Datum		value;
	Datum		by;

	if (n < (sample ? 2 : 1) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	if (numeric_is_nan(DatumGetNumeric(sum)) ||
		numeric_is_inf(DatumGetNumeric(sum)))
		PG_RETURN_DATUM(read_numeric("NaN"));
	value = DirectFunctionCall2(numeric_mul, count, PG_GETARG_DATUM(2));
	value = DirectFunctionCall2(numeric_sub, value,
								DirectFunctionCall2(numeric_mul, sum, sum));
	if (DatumGetBool(DirectFunctionCall2(numeric_le, value, zero)))
		PG_RETURN_DATUM(zero);
	by = NumericGetDatum(int64_to_numeric(sample ? n - 1 : n));
	by = DirectFunctionCall2(numeric_mul, count, by);
	value = DirectFunctionCall2(numeric_div, value, by);
	PG_RETURN_DATUM(PG_GETARG_BOOL(4) ? root_of(value) : value);
}
