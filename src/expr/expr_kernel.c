/*-------------------------------------------------------------------------
 *
 * expr_kernel.c
 *	  Functions of two values, or one, for many rows; and the table of them.
 *
 * A kernel says that it failed where PostgreSQL's function would raise an
 * error (expr:E2).  Integers are int64 whatever their type is, so that a
 * kernel serves all functions with the same result type.
 *
 * src/expr/expr_kernel.c
 *-------------------------------------------------------------------------
 */
#include "base/clones.h"
#include "expr/expr_private.h"

#include <float.h>
#include <math.h>

#include "common/int.h"
#include "datatype/timestamp.h"
#include "utils/fmgroids.h"
#include "utils/timestamp.h"

/*
 * result of x and y, and when it is an error: a loop without branches, for
 * vector instructions.  Whether all who have an error are null is seen
 * afterwards, if there are any.
 */
#define KERNEL(name, tin, tout, result, error) \
static pg_noinline bool \
name##_of_nulls(int n, const tin *a, const tin *b, const uint8 *null, \
				const tout *out) \
{ \
	for (int i = 0; i < n; i++) \
	{ \
		tin			x pg_attribute_unused() = a[i]; \
		tin			y pg_attribute_unused() = b[i]; \
		tout		r pg_attribute_unused() = out[i]; \
 \
		if ((error) && !null[i]) \
			return false; \
	} \
	return true; \
} \
 \
static STRATA_AVX2_CLONES bool \
name(int n, const void *a, const void *b, const uint8 *null, void *out) \
{ \
	const tin  *restrict a_ = a; \
	const tin  *restrict b_ = b; \
	tout	   *restrict out_ = out; \
	int64		bad = 0; \
 \
	for (int i = 0; i < n; i++) \
	{ \
		tin			x = a_[i]; \
		tin			y pg_attribute_unused() = b_[i]; \
		tout		r = (result); \
 \
		out_[i] = r; \
		bad |= (error); \
	} \
	return bad == 0 || \
		(null != NULL && name##_of_nulls(n, a_, b_, null, out_)); \
}

/* int2 and int4: int64 cannot overflow, but for products of int8. */
#define BEYOND(type) (r != (int64) (type) r)
#define QUOTIENT (y == 0 ? 0 : y == -1 ? -x : x / y)
#define REMAINDER (y == 0 || y == -1 ? 0 : x % y)

KERNEL(int2_add, int64, int64, x + y, BEYOND(int16))
KERNEL(int2_sub, int64, int64, x - y, BEYOND(int16))
KERNEL(int2_mul, int64, int64, x * y, BEYOND(int16))
KERNEL(int2_div, int64, int64, QUOTIENT, (y == 0) | BEYOND(int16))
KERNEL(int2_neg, int64, int64, -x, BEYOND(int16))
KERNEL(int2_abs, int64, int64, x < 0 ? -x : x, BEYOND(int16))
KERNEL(int4_add, int64, int64, x + y, BEYOND(int32))
KERNEL(int4_sub, int64, int64, x - y, BEYOND(int32))
KERNEL(int4_mul, int64, int64, x * y, BEYOND(int32))
KERNEL(int4_div, int64, int64, QUOTIENT, (y == 0) | BEYOND(int32))
KERNEL(int4_neg, int64, int64, -x, BEYOND(int32))
KERNEL(int4_abs, int64, int64, x < 0 ? -x : x, BEYOND(int32))
KERNEL(int_mod, int64, int64, REMAINDER, y == 0)
KERNEL(int8_add, int64, int64, x + y, ((x ^ r) & (y ^ r)) < 0)
KERNEL(int8_sub, int64, int64, x - y, ((x ^ y) & (x ^ r)) < 0)
KERNEL(int8_div, int64, int64, QUOTIENT,
	   (y == 0) | (y == -1 && x == PG_INT64_MIN))
KERNEL(int8_neg, int64, int64, -x, x == PG_INT64_MIN)
KERNEL(int8_abs, int64, int64, x < 0 ? -x : x, x == PG_INT64_MIN)
KERNEL(int_same, int64, int64, x, 0)
KERNEL(int_to_int2, int64, int64, x, BEYOND(int16))
KERNEL(int_to_int4, int64, int64, x, BEYOND(int32))
KERNEL(int_to_bool, int64, int64, x != 0, 0)
KERNEL(int_to_float8, int64, float8, (float8) x, 0)
KERNEL(int_to_float4, int64, float8, (float8) (float4) x, 0)

KERNEL(int_eq, int64, int64, x == y, 0)
KERNEL(int_ne, int64, int64, x != y, 0)
KERNEL(int_lt, int64, int64, x < y, 0)
KERNEL(int_le, int64, int64, x <= y, 0)
KERNEL(int_gt, int64, int64, x > y, 0)
KERNEL(int_ge, int64, int64, x >= y, 0)

static bool
int8_mul(int n, const void *a, const void *b, const uint8 *null, void *out)
{
	int			bad = 0;

	for (int i = 0; i < n; i++)
	{
		int64		r = 0;

		if (pg_mul_s64_overflow(((const int64 *) a)[i], ((const int64 *) b)[i],
								&r))
			bad |= null == NULL || !null[i];
		((int64 *) out)[i] = r;
	}
	return bad == 0;
}

/*
 * Floats; what float_overflow_error() and its like are called for in float.h.
 */
#define IS_INF(f) (fabs(f) > DBL_MAX)
#define INFINITE2 (IS_INF(r) & !IS_INF(x) & !IS_INF(y))
#define UNDERFLOW ((r == 0) & (x != 0))
#define DIVISION_ERROR \
	(((y == 0) & NOT_NAN(x)) | (IS_INF(r) & !IS_INF(x)) | \
	 ((r == 0) & (x != 0) & !IS_INF(y)))
#define IS_NAN(f) ((f) != (f))
#define NOT_NAN(f) ((f) == (f))
#define SINGLE(e) ((float8) (float4) (e))

KERNEL(float8_add, float8, float8, x + y, INFINITE2)
KERNEL(float8_sub, float8, float8, x - y, INFINITE2)
KERNEL(float8_multiply, float8, float8, x * y,
	   INFINITE2 | (UNDERFLOW & (y != 0)))
KERNEL(float8_divide, float8, float8, x / y, DIVISION_ERROR)
KERNEL(float4_add, float8, float8, (float8) ((float4) x + (float4) y),
	   INFINITE2)
KERNEL(float4_sub, float8, float8, (float8) ((float4) x - (float4) y),
	   INFINITE2)
KERNEL(float4_multiply, float8, float8, (float8) ((float4) x * (float4) y),
	   INFINITE2 | (UNDERFLOW & (y != 0)))
KERNEL(float4_divide, float8, float8, (float8) ((float4) x / (float4) y),
	   DIVISION_ERROR)
KERNEL(float_neg, float8, float8, -x, 0)
KERNEL(float_abs, float8, float8, fabs(x), 0)
KERNEL(float_same, float8, float8, x, 0)
KERNEL(float_floor, float8, float8, floor(x), 0)
KERNEL(float_ceil, float8, float8, ceil(x), 0)
KERNEL(float_trunc, float8, float8, x >= 0 ? floor(x) : -floor(-x), 0)
KERNEL(float_round, float8, float8, rint(x), 0)
KERNEL(float_sqrt, float8, float8, sqrt(x), x < 0)
KERNEL(float_to_float4, float8, float8, SINGLE(x),
	   (IS_INF(r) & !IS_INF(x)) | UNDERFLOW)

/* NaN is equal to itself and above all else. */
KERNEL(float_eq, float8, int64, IS_NAN(x) ? IS_NAN(y) : x == y, 0)
KERNEL(float_ne, float8, int64, IS_NAN(x) ? NOT_NAN(y) : x != y, 0)
KERNEL(float_lt, float8, int64, NOT_NAN(x) & (IS_NAN(y) | (x < y)), 0)
KERNEL(float_le, float8, int64, IS_NAN(y) | (x <= y), 0)
KERNEL(float_gt, float8, int64, NOT_NAN(y) & (IS_NAN(x) | (x > y)), 0)
KERNEL(float_ge, float8, int64, IS_NAN(x) | (x >= y), 0)

/* By rint(), within [-2^bits, 2^bits). */
#define FLOAT_TO_INT(name, limit) \
static bool \
name(int n, const void *a, const void *b, const uint8 *null, void *out) \
{ \
	int			bad = 0; \
 \
	for (int i = 0; i < n; i++) \
	{ \
		float8		x = rint(((const float8 *) a)[i]); \
		bool		fits = x >= -(limit) && x < (limit); \
 \
		((int64 *) out)[i] = fits ? (int64) x : 0; \
		bad |= !fits && (null == NULL || !null[i]); \
	} \
	return bad == 0; \
}

FLOAT_TO_INT(float_to_int2, 32768.0)
FLOAT_TO_INT(float_to_int4, 2147483648.0)
FLOAT_TO_INT(float_to_int8, 9223372036854775808.0)

/*
 * Timestamps moved by microseconds, as their operators with intervals do it;
 * false: one is out of range.  Infinity stays.
 */
static bool
shift_timestamp(int n, const void *a, const void *b, const uint8 *null,
				void *out)
{
	int			bad = 0;

	for (int i = 0; i < n; i++)
	{
		int64		ts = ((const int64 *) a)[i];
		int64		r = 0;
		bool		fits = TIMESTAMP_NOT_FINITE(ts);

		if (fits)
			r = ts;
		else
			fits = !pg_add_s64_overflow(ts, ((const int64 *) b)[i], &r) &&
				IS_VALID_TIMESTAMP(r);
		((int64 *) out)[i] = r;
		bad |= !fits && (null == NULL || !null[i]);
	}
	return bad == 0;
}

/*
 * Differences of timestamps, 24 hours being a day; false: one is infinite, or
 * out of range.  Memory: the current context.
 */
static bool
subtract_timestamps(int n, const void *a, const void *b, const uint8 *null,
					void *out)
{
	Interval   *spans = palloc(sizeof(Interval) * n);
	int			bad = 0;

	for (int i = 0; i < n; i++)
	{
		int64		x = ((const int64 *) a)[i];
		int64		y = ((const int64 *) b)[i];
		int64		r = 0;
		bool		fits = !TIMESTAMP_NOT_FINITE(x) &&
		!TIMESTAMP_NOT_FINITE(y) && !pg_sub_s64_overflow(x, y, &r);

		spans[i].month = 0;
		spans[i].day = (int32) (r / USECS_PER_DAY);
		spans[i].time = r % USECS_PER_DAY;
		((Datum *) out)[i] = PointerGetDatum(&spans[i]);
		bad |= !fits && (null == NULL || !null[i]);
	}
	return bad == 0;
}

/* An interval's days, a month having 30, and what is left of its time. */
static inline int64
days_of_interval(const Interval *span, int64 *left)
{
	int64		days = span->time / USECS_PER_DAY;

	*left = span->time % USECS_PER_DAY;
	if (*left < 0)
	{
		*left += USECS_PER_DAY;
		days--;
	}
	return days + span->month * INT64CONST(30) + span->day;
}

/* As interval_cmp() does. */
static inline int
compare_intervals(const Interval *a, const Interval *b)
{
	int64		a_left;
	int64		b_left;
	int64		a_days = days_of_interval(a, &a_left);
	int64		b_days = days_of_interval(b, &b_left);

	if (a_days != b_days)
		return a_days < b_days ? -1 : 1;
	return (a_left > b_left) - (a_left < b_left);
}

/* A null may have no value. */
#define INTERVAL_KERNEL(name, test) \
static bool \
name(int n, const void *a, const void *b, const uint8 *null, void *out) \
{ \
	for (int i = 0; i < n; i++) \
	{ \
		Datum		x = ((const Datum *) a)[i]; \
		Datum		y = ((const Datum *) b)[i]; \
 \
		((int64 *) out)[i] = (null == NULL || !null[i]) && x != 0 && \
			y != 0 && compare_intervals((const Interval *) x, \
										(const Interval *) y) test 0; \
	} \
	return true; \
}

INTERVAL_KERNEL(span_eq, ==)
INTERVAL_KERNEL(span_ne, !=)
INTERVAL_KERNEL(span_lt, <)
INTERVAL_KERNEL(span_le, <=)
INTERVAL_KERNEL(span_gt, >)
INTERVAL_KERNEL(span_ge, >=)

/* See expr_private.h. */
const ExprFunction *
strata_expr_shift_function(void)
{
	static const ExprFunction shift = {InvalidOid, shift_timestamp, true};

	return &shift;
}

#define COMPARISONS(prefix, kernels) \
	{prefix##EQ, kernels##_eq, false, EXPR_TEST_EQ}, \
	{prefix##NE, kernels##_ne, false, EXPR_TEST_NE}, \
	{prefix##LT, kernels##_lt, false, EXPR_TEST_LT}, \
	{prefix##LE, kernels##_le, false, EXPR_TEST_LE}, \
	{prefix##GT, kernels##_gt, false, EXPR_TEST_GT}, \
	{prefix##GE, kernels##_ge, false, EXPR_TEST_GE}

#define ARITHMETIC(prefix, add, sub, mul, div) \
	{prefix##PL, add, true}, \
	{prefix##MI, sub, true}, \
	{prefix##MUL, mul, true}, \
	{prefix##DIV, div, true}

static const ExprFunction functions[] = {
	ARITHMETIC(F_INT2, int2_add, int2_sub, int2_mul, int2_div),
	ARITHMETIC(F_INT4, int4_add, int4_sub, int4_mul, int4_div),
	ARITHMETIC(F_INT24, int4_add, int4_sub, int4_mul, int4_div),
	ARITHMETIC(F_INT42, int4_add, int4_sub, int4_mul, int4_div),
	ARITHMETIC(F_INT8, int8_add, int8_sub, int8_mul, int8_div),
	ARITHMETIC(F_INT28, int8_add, int8_sub, int8_mul, int8_div),
	ARITHMETIC(F_INT82, int8_add, int8_sub, int8_mul, int8_div),
	ARITHMETIC(F_INT48, int8_add, int8_sub, int8_mul, int8_div),
	ARITHMETIC(F_INT84, int8_add, int8_sub, int8_mul, int8_div),
	ARITHMETIC(F_FLOAT4, float4_add, float4_sub, float4_multiply,
			   float4_divide),
	ARITHMETIC(F_FLOAT8, float8_add, float8_sub, float8_multiply,
			   float8_divide),
	ARITHMETIC(F_FLOAT48, float8_add, float8_sub, float8_multiply,
			   float8_divide),
	ARITHMETIC(F_FLOAT84, float8_add, float8_sub, float8_multiply,
			   float8_divide),
	{F_INT2MOD, int_mod, true},
	{F_INT4MOD, int_mod, true},
	{F_INT8MOD, int_mod, true},
	{F_MOD_INT2_INT2, int_mod, true},
	{F_MOD_INT4_INT4, int_mod, true},
	{F_MOD_INT8_INT8, int_mod, true},
	{F_INT2UM, int2_neg, true},
	{F_INT4UM, int4_neg, true},
	{F_INT8UM, int8_neg, true},
	{F_FLOAT4UM, float_neg, false},
	{F_FLOAT8UM, float_neg, false},
	{F_ABS_INT2, int2_abs, true},
	{F_ABS_INT4, int4_abs, true},
	{F_ABS_INT8, int8_abs, true},
	{F_INT2ABS, int2_abs, true},
	{F_INT4ABS, int4_abs, true},
	{F_INT8ABS, int8_abs, true},
	{F_ABS_FLOAT4, float_abs, false},
	{F_ABS_FLOAT8, float_abs, false},
	{F_FLOAT4ABS, float_abs, false},
	{F_FLOAT8ABS, float_abs, false},
	{F_FLOOR_FLOAT8, float_floor, false},
	{F_CEIL_FLOAT8, float_ceil, false},
	{F_CEILING_FLOAT8, float_ceil, false},
	{F_TRUNC_FLOAT8, float_trunc, false},
	{F_DTRUNC, float_trunc, false},
	{F_ROUND_FLOAT8, float_round, false},
	{F_DROUND, float_round, false},
	{F_SQRT_FLOAT8, float_sqrt, true},
	{F_DSQRT, float_sqrt, true},
	{F_INT8_INT4, int_same, false},
	{F_INT8_INT2, int_same, false},
	{F_INT4_INT2, int_same, false},
	{F_INT4_INT8, int_to_int4, true},
	{F_INT2_INT8, int_to_int2, true},
	{F_INT2_INT4, int_to_int2, true},
	{F_INT4_BOOL, int_same, false},
	{F_BOOL_INT4, int_to_bool, false},
	{F_FLOAT8_INT2, int_to_float8, false},
	{F_FLOAT8_INT4, int_to_float8, false},
	{F_FLOAT8_INT8, int_to_float8, false},
	{F_FLOAT4_INT2, int_to_float4, false},
	{F_FLOAT4_INT4, int_to_float4, false},
	{F_FLOAT4_INT8, int_to_float4, false},
	{F_FLOAT8_FLOAT4, float_same, false},
	{F_FLOAT4_FLOAT8, float_to_float4, true},
	{F_INT2_FLOAT4, float_to_int2, true},
	{F_INT2_FLOAT8, float_to_int2, true},
	{F_INT4_FLOAT4, float_to_int4, true},
	{F_INT4_FLOAT8, float_to_int4, true},
	{F_INT8_FLOAT4, float_to_int8, true},
	{F_INT8_FLOAT8, float_to_int8, true},
	COMPARISONS(F_INT2, int),
	COMPARISONS(F_INT4, int),
	COMPARISONS(F_INT8, int),
	COMPARISONS(F_INT24, int),
	COMPARISONS(F_INT42, int),
	COMPARISONS(F_INT28, int),
	COMPARISONS(F_INT82, int),
	COMPARISONS(F_INT48, int),
	COMPARISONS(F_INT84, int),
	COMPARISONS(F_DATE_, int),
	COMPARISONS(F_TIME_, int),
	COMPARISONS(F_TIMESTAMP_, int),
	COMPARISONS(F_TIMESTAMPTZ_, int),
	COMPARISONS(F_INTERVAL_, span),
	{F_TIMESTAMP_MI, subtract_timestamps, true},
	{F_TIMESTAMPTZ_MI, subtract_timestamps, true},
	COMPARISONS(F_BOOL, int),
	COMPARISONS(F_FLOAT4, float),
	COMPARISONS(F_FLOAT8, float),
	COMPARISONS(F_FLOAT48, float),
	COMPARISONS(F_FLOAT84, float),
};

/* See expr_private.h. */
const ExprFunction *
strata_expr_function_find(Oid funcid)
{
	for (int i = 0; i < lengthof(functions); i++)
		if (functions[i].funcid == funcid)
			return &functions[i];
	return NULL;
}
