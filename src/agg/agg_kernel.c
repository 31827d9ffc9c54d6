/*-------------------------------------------------------------------------
 *
 * agg_kernel.c
 *	  Kernels: a run of packed values into a cell.
 *
 * Answers are PostgreSQL's, bit for bit, for values taken in the order they
 * come:
 *
 *	sums of int2 and int4 wrap at 64 bits; those of int8 are kept in 128;
 *	sums of floats are added one after the other, in the order of the rows.
 *	Where all values are integers so small that every order of addition is
 *	exact, they are added side by side;
 *	avg and variance of floats use the Youngs-Cramer steps of float8_accum().
 *	For avg the squares are left out as long as the values are so small that
 *	they cannot overflow, which is all that they are good for there;
 *	of values that are equal but not the same (0.0 and -0.0) the last counts;
 *	bool_and and bool_or are the least and the greatest of 0 and 1.
 *
 * What was aggregated apart (spilled groups) is combined as PostgreSQL
 * combines the partial results of parallel workers; sums of floats are then
 * added in another order.
 *
 * Over 600 lines: all kernels stand beside the table that names them.
 *
 * src/agg/agg_kernel.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_numeric_private.h"
#include "base/base.h"
#include "base/clones.h"

#include <float.h>
#include <math.h>

#include "utils/float.h"
#include "utils/fmgroids.h"

STRATA_AVX2_CLONES static int64
count_valid(const uint8 *valid, int n)
{
	int64		k = 0;

	for (int i = 0; i < n; i++)
		k += valid[i];
	return k;
}

/* So many rows' places are listed together. */
#define PLACES 256

/*
 * The places of up to PLACES rows that count; returns how many.  Which ones
 * a FILTER lets pass is nothing that a processor could guess: no branch.
 */
static int
list_valid(const uint8 *valid, int n, uint16 *places)
{
	int			k = 0;

	for (int i = 0; i < n; i++)
	{
		places[k] = (uint16) i;
		k += valid[i];
	}
	return k;
}

/*
 * A kernel for the values that count alone, in their order, which are brought
 * side by side.
 */
#define DEFINE_PACKED(name, ctype) \
static void \
name(AggCell *cell, const AggRun *run, \
	 void (*kernel) (AggCell *, const AggRun *)) \
{ \
	ctype		packed[PLACES + 1]; \
	\
	for (int i = 0; i < run->n; i += PLACES) \
	{ \
		const		ctype *v = (const ctype *) run->v + i; \
		const uint8 *valid = run->valid + i; \
		int			n = Min(run->n - i, PLACES); \
		AggRun		part = {.v = packed}; \
		\
		for (int j = 0; j < n; j++) \
		{ \
			packed[part.n] = v[j]; \
			part.n += valid[j]; \
		} \
		if (part.n > 0) \
			kernel(cell, &part); \
	} \
}

/* A kernel's "rows": what is done with each value *v and its cell. */
#define DEFINE_ROWS(name, ctype, add) \
static void \
name(AggCell *const *cells, int at, const AggRun *run) \
{ \
	const		ctype *v = run->v; \
	uint16		places[PLACES + 1]; \
	\
	for (int i = 0; run->valid == NULL && i < run->n; i++, v++) \
	{ \
		AggCell    *cell = agg_cell_at(cells[i], at); \
		\
		add; \
	} \
	for (int i = 0; run->valid != NULL && i < run->n; i += PLACES) \
	{ \
		int			n = list_valid(run->valid + i, Min(run->n - i, PLACES), \
								   places); \
		\
		for (int j = 0; j < n; j++) \
		{ \
			AggCell    *cell = agg_cell_at(cells[i + places[j]], at); \
			\
			v = (const ctype *) run->v + i + places[j]; \
			add; \
		} \
	} \
}

#define CTYPE int8
#define FN(name) name##_int8
#define IS_FLOAT 0
#define WITH_SUM 0
#include "agg/agg_kernel_impl.h"

#define CTYPE int16
#define FN(name) name##_int16
#define IS_FLOAT 0
#define WITH_SUM 1
#define SUM_TYPE int32
#include "agg/agg_kernel_impl.h"

#define CTYPE int32
#define FN(name) name##_int32
#define IS_FLOAT 0
#define WITH_SUM 1
#define SUM_TYPE int64
#include "agg/agg_kernel_impl.h"

#define CTYPE int64
#define FN(name) name##_int64
#define IS_FLOAT 0
#define WITH_SUM 0
#include "agg/agg_kernel_impl.h"

#define CTYPE float4
#define ITYPE int32
#define FN(name) name##_float4
#define IS_FLOAT 1
#include "agg/agg_kernel_impl.h"

#define CTYPE float8
#define ITYPE int64
#define FN(name) name##_float8
#define IS_FLOAT 1
#include "agg/agg_kernel_impl.h"

static void
count_values(AggCell *cell, const AggRun *run)
{
	cell->n += run->valid == NULL ? run->n : count_valid(run->valid, run->n);
}

static void
count_singles(AggCell *const *cells, int at, const AggRun *run)
{
	for (int i = 0; i < run->n; i++)
		agg_cell_at(cells[i], at)->n += run->valid == NULL ? 1 :
			run->valid[i];
}

/*-------------------------------------------------------------------------
 * 128 bit sums
 *-------------------------------------------------------------------------
 */
#ifdef HAVE_INT128

static inline int128
get_int128(const AggCell *cell)
{
	return (int128) (((uint128) (uint64) cell->w.hi << 64) |
					 (uint64) cell->v.i);
}

static inline void
set_int128(AggCell *cell, int128 x)
{
	cell->v.i = (int64) x;
	cell->w.hi = (int64) (x >> 64);
}

/*
 * Upper and lower halves apart, which 64 bits hold for any run; of the values
 * that count.
 */
STRATA_AVX2_CLONES static void
sum_halves(const int64 *v, const uint8 *valid, int n, int64 *hi, uint64 *lo)
{
	int64		h = 0;
	uint64		l = 0;

	if (valid == NULL)
		for (int i = 0; i < n; i++)
		{
			h += v[i] >> 32;
			l += (uint64) v[i] & 0xffffffff;
		}
	else
		for (int i = 0; i < n; i++)
		{
			int64		x = v[i] & -(int64) valid[i];

			h += x >> 32;
			l += (uint64) x & 0xffffffff;
		}
	*hi = h;
	*lo = l;
}

/* See agg_numeric_private.h. */
int128
strata_agg_sum_int128(const AggRun *run)
{
	int64		hi;
	uint64		lo;

	Assert(run->n <= STRATA_BATCH_ROWS_MAX);	/* agg:G2 */
	sum_halves(run->v, run->valid, run->n, &hi, &lo);
	return (int128) hi * ((int128) 1 << 32) + (int128) lo;
}

/* Sum of int8 in 128 bits. */
static void
sum_int128(AggCell *cell, const AggRun *run)
{
	set_int128(cell, get_int128(cell) + strata_agg_sum_int128(run));
	count_values(cell, run);
}

/* See agg_kernel_private.h. */
void
strata_agg_add_int128(AggCell *cell, int64 value)
{
	set_int128(cell, get_int128(cell) + value);
}

static inline void
sum_int128_one(AggCell *cell, int64 x)
{
	strata_agg_add_int128(cell, x);
	cell->n++;
}

DEFINE_ROWS(sum_int128_rows, int64, sum_int128_one(cell, *v))

static void
combine_int128(AggCell *cell, const AggCell *other)
{
	set_int128(cell, get_int128(cell) + get_int128(other));
	cell->n += other->n;
}

#endif

/*-------------------------------------------------------------------------
 * Sums of floats
 *-------------------------------------------------------------------------
 */

/*
 * Four float8s, and what comparing them gives; gcc and clang know such types.
 */
#define LANES 4
typedef float8 Lanes __attribute__((vector_size(LANES * sizeof(float8))));
typedef int64 LaneMask __attribute__((vector_size(LANES * sizeof(int64))));

/*
 * Does adding integers below 2^51 in all to it leave every partial sum exact?
 */
static inline bool
is_small_integer(float8 x)
{
	return fabs(x) < 2251799813685248.0 && rint(x) == x;
}

/*
 * Is every order of adding start and v exact?  Then *sum is the sum.  All
 * partial sums are integers below 2^53.  Zero is left to the exact way, for
 * its sign.
 */
STRATA_AVX2_CLONES static bool
sum_integers(const float8 *v, int n, float8 start, float8 *sum)
{
	const float8 limit =
	68719476736.0;				/* 2^36; a batch has at most 2^15 rows */
	const float8 magic = 6755399441055744.0;	/* 1.5 * 2^52: rounds when
												 * added */
	Lanes		a = {0};
	Lanes		b = {0};
	LaneMask	wrong = {0};
	float8		s0;
	bool		bad;
	int			i = 0;

	if (!is_small_integer(start) || !is_small_integer(v[0]))
		return false;
	/* eight values side by side; compilers do not find that by themselves */
	for (; i + 2 * LANES <= n; i += 2 * LANES)
	{
		Lanes		x;
		Lanes		y;

		memcpy(&x, v + i, sizeof(Lanes));
		memcpy(&y, v + i + LANES, sizeof(Lanes));
		wrong |= ((x + magic) - magic != x) | (x >= limit) | (x <= -limit);
		wrong |= ((y + magic) - magic != y) | (y >= limit) | (y <= -limit);
		a += x;
		b += y;
	}
	a += b;
	s0 = (a[0] + a[1]) + (a[2] + a[3]);
	bad = (wrong[0] | wrong[1] | wrong[2] | wrong[3]) != 0;
	for (; i < n; i++)
	{
		bad |= (v[i] + magic) - magic != v[i] || !(fabs(v[i]) < limit);
		s0 += v[i];
	}
	if (bad)
		return false;
	*sum = start + s0;
	return *sum != 0;
}

/* With float8pl()'s check for overflow. */
static inline void
sum_float8_one(AggCell *cell, float8 x)
{
	cell->v.f = cell->n == 0 ? x : float8_pl(cell->v.f, x);
	cell->n++;
}

DEFINE_ROWS(sum_float8_rows, float8, sum_float8_one(cell, *v))

static void
sum_float8(AggCell *cell, const AggRun *run)
{
	const float8 *v = run->v;
	float8		s;

	Assert(run->n <= STRATA_BATCH_ROWS_MAX);	/* agg:G2 */
	if (run->valid != NULL)
		packed_float8(cell, run, sum_float8);
	else if (run->n >= 16 &&
			 sum_integers(v, run->n, cell->n == 0 ? 0.0 : cell->v.f, &s))
	{
		cell->v.f = s;
		cell->n += run->n;
	}
	else
		for (int i = 0; i < run->n; i++)
			sum_float8_one(cell, v[i]);
}

static inline void
sum_float4_one(AggCell *cell, float4 x)
{
	cell->v.f = cell->n == 0 ? x : float4_pl((float4) cell->v.f, x);
	cell->n++;
}

static void
sum_float4(AggCell *cell, const AggRun *run)
{
	const float4 *v = run->v;

	if (run->valid != NULL)
		packed_float4(cell, run, sum_float4);
	else
		for (int i = 0; i < run->n; i++)
			sum_float4_one(cell, v[i]);
}

DEFINE_ROWS(sum_float4_rows, float4, sum_float4_one(cell, *v))

/* See float8_accum(). */
static inline void
accum_one(AggCell *cell, float8 x)
{
	float8		n0 = (float8) cell->n;
	float8		n = n0 + 1.0;
	float8		old = cell->v.f;
	float8		sx = old + x;

	if (cell->n > 0)
	{
		float8		d = x * n - sx;

		cell->w.sxx += d * d / (n * n0);
		if (isinf(sx) || isinf(cell->w.sxx))
		{
			if (!isinf(old) && !isinf(x))
				float_overflow_error();
			cell->w.sxx = get_float8_nan();
		}
	}
	else if (isnan(x) || isinf(x))
		cell->w.sxx = get_float8_nan();
	cell->v.f = sx;
	cell->n++;
}

static void
accum_float8(AggCell *cell, const AggRun *run)
{
	const float8 *v = run->v;

	if (run->valid != NULL)
		packed_float8(cell, run, accum_float8);
	else
		for (int i = 0; i < run->n; i++)
			accum_one(cell, v[i]);
}

static void
accum_float4(AggCell *cell, const AggRun *run)
{
	const float4 *v = run->v;

	if (run->valid != NULL)
		packed_float4(cell, run, accum_float4);
	else
		for (int i = 0; i < run->n; i++)
			accum_one(cell, v[i]);
}

DEFINE_ROWS(accum_float8_rows, float8, accum_one(cell, *v))
DEFINE_ROWS(accum_float4_rows, float4, accum_one(cell, *v))

/* Are all values finite and their squares far from overflow? */
STRATA_AVX2_CLONES static bool
all_safe_float8(const float8 *v, int n)
{
	int			bad = 0;

	for (int i = 0; i < n; i++)
		bad |= !(fabs(v[i]) < STRATA_AGG_SAFE_TO_SQUARE);
	return !bad;
}

STRATA_AVX2_CLONES static bool
all_safe_float4(const float4 *v, int n)
{
	int			bad = 0;

	for (int i = 0; i < n; i++)
		bad |= !(fabsf(v[i]) < FLT_MAX);
	return !bad;
}

/* See agg_kernel_private.h. */
bool
strata_agg_is_safe_cell(const AggCell *cell)
{
	return fabs(cell->v.f) < 1e120 && !isnan(cell->w.sxx);
}

/* As float8_accum(), but for the squares where these cannot matter. */
static void
avg_float8(AggCell *cell, const AggRun *run)
{
	const float8 *v = run->v;
	float8		s;

	if (run->valid != NULL)
	{
		packed_float8(cell, run, avg_float8);
		return;
	}
	if (!strata_agg_is_safe_cell(cell))
	{
		accum_float8(cell, run);
		return;
	}
	if (run->n >= 16 && sum_integers(v, run->n, cell->v.f, &s))
		cell->v.f = s;
	else if (all_safe_float8(v, run->n))
	{
		s = cell->v.f;
		for (int i = 0; i < run->n; i++)
			s += v[i];
		cell->v.f = s;
	}
	else
	{
		accum_float8(cell, run);
		return;
	}
	cell->n += run->n;
}

/* NaN is not safe. */
static inline void
avg_one(AggCell *cell, float8 x)
{
	if (strata_agg_is_safe_cell(cell) && fabs(x) < STRATA_AGG_SAFE_TO_SQUARE)
	{
		cell->v.f += x;
		cell->n++;
	}
	else
		accum_one(cell, x);
}

DEFINE_ROWS(avg_float8_rows, float8, avg_one(cell, *v))
DEFINE_ROWS(avg_float4_rows, float4, avg_one(cell, *v))

static void
avg_float4(AggCell *cell, const AggRun *run)
{
	const float4 *v = run->v;

	if (run->valid != NULL)
	{
		packed_float4(cell, run, avg_float4);
		return;
	}
	if (!strata_agg_is_safe_cell(cell) || !all_safe_float4(v, run->n))
	{
		accum_float4(cell, run);
		return;
	}
	for (int i = 0; i < run->n; i++)
		cell->v.f += v[i];
	cell->n += run->n;
}

/*-------------------------------------------------------------------------
 * Combining
 *-------------------------------------------------------------------------
 */

static void
combine_count(AggCell *cell, const AggCell *other)
{
	cell->n += other->n;
}

static void
combine_int_sum(AggCell *cell, const AggCell *other)
{
	cell->v.i = (int64) ((uint64) cell->v.i + (uint64) other->v.i);
	cell->n += other->n;
}

static void
combine_float8_sum(AggCell *cell, const AggCell *other)
{
	if (other->n == 0)
		return;
	cell->v.f = cell->n == 0 ? other->v.f : float8_pl(cell->v.f, other->v.f);
	cell->n += other->n;
}

static void
combine_float4_sum(AggCell *cell, const AggCell *other)
{
	if (other->n == 0)
		return;
	cell->v.f = cell->n == 0 ?
		other->v.f :
		float4_pl((float4) cell->v.f, (float4) other->v.f);
	cell->n += other->n;
}

/* See float8_combine(). */
static void
combine_float_accum(AggCell *cell, const AggCell *other)
{
	float8		n1 = (float8) cell->n;
	float8		n2 = (float8) other->n;
	float8		sx;
	float8		sxx = cell->w.sxx;
	float8		d;

	if (other->n == 0)
		return;
	if (cell->n == 0)
	{
		*cell = *other;
		return;
	}
	sx = float8_pl(cell->v.f, other->v.f);
	d = cell->v.f / n1 - other->v.f / n2;
	cell->w.sxx = sxx + other->w.sxx + n1 * n2 * d * d / (n1 + n2);
	if (unlikely(isinf(cell->w.sxx)) && !isinf(sxx) && !isinf(other->w.sxx))
		float_overflow_error();
	cell->v.f = sx;
	cell->n += other->n;
}

/* The other's only value is its extreme; then its number. */
#define DEFINE_COMBINE(name, ctype, kernel, field) \
static void \
name(AggCell *cell, const AggCell *other) \
{ \
	ctype		x = (ctype) other->v.field; \
	AggRun		run = {&x, NULL, 1}; \
	\
	if (other->n == 0) \
		return; \
	kernel(cell, &run); \
	cell->n += other->n - 1; \
}

DEFINE_COMBINE(combine_min_int, int64, min_int64, i)
DEFINE_COMBINE(combine_max_int, int64, max_int64, i)
DEFINE_COMBINE(combine_min_float, float8, min_float8, f)
DEFINE_COMBINE(combine_max_float, float8, max_float8, f)

/*-------------------------------------------------------------------------
 * Integers for floats
 *-------------------------------------------------------------------------
 */

/* See agg_kernel_private.h. */
bool
strata_agg_takes_integers(const AggKernel *kernel)
{
	if (kernel->kind == AGG_VALUE_NONE)
		return true;
	return (kernel->kind == AGG_VALUE_FLOAT4 ||
			kernel->kind == AGG_VALUE_FLOAT8) &&
		kernel->summary != AGG_SUMMARY_NONE;
}

/*
 * See agg_kernel_private.h.  A batch of integers of 32 bits sums up to less
 * than 2^47.  There is no -0 among them, so the sign of a zero is that of
 * adding them one by one.
 */
bool
strata_agg_run_integers(const AggKernel *kernel, AggCell *cell,
						const AggRun *run, int width)
{
	bool		short_ones = width == sizeof(int16);
	AggCell		other = {.n = run->n};

	Assert(run->valid == NULL && run->n > 0 &&
		   run->n <= STRATA_BATCH_ROWS_MAX);	/* agg:G16 */

	switch (kernel->summary)
	{
		case AGG_SUMMARY_SUM:
			if (!is_small_integer(cell->v.f) ||
				(kernel->result == AGG_RESULT_FLOAT_AVG &&
				 !strata_agg_is_safe_cell(cell)))
				return false;
			cell->v.f += (float8) (short_ones ? sum_all_int16(run->v, run->n) :
								   sum_all_int32(run->v, run->n));
			cell->n += run->n;
			return true;
		case AGG_SUMMARY_MIN:
			other.v.f = short_ones ? min_all_int16(run->v, run->n) :
				min_all_int32(run->v, run->n);
			break;
		default:
			other.v.f = short_ones ? max_all_int16(run->v, run->n) :
				max_all_int32(run->v, run->n);
			break;
	}
	kernel->combine(cell, &other);
	return true;
}

/*-------------------------------------------------------------------------
 * The table
 *-------------------------------------------------------------------------
 */

#define INTS_MINMAX(suffix, kind_, run_) \
	{F_MIN_##suffix, kind_,		 AGG_SUMMARY_MIN, AGG_RESULT_INT, \
	 min_##run_, combine_min_int, min_rows_##run_}, \
	{ \
		F_MAX_##suffix, kind_, AGG_SUMMARY_MAX, AGG_RESULT_INT, max_##run_, \
			combine_max_int, max_rows_##run_ \
	}

#define FLOAT_VARIANCE(name, result_) \
	{F_##name##_FLOAT4, AGG_VALUE_FLOAT4, AGG_SUMMARY_NONE, result_, \
	 accum_float4, combine_float_accum, accum_float4_rows}, \
	{ \
		F_##name##_FLOAT8, AGG_VALUE_FLOAT8, AGG_SUMMARY_NONE, result_, \
			accum_float8, combine_float_accum, accum_float8_rows \
	}

const AggKernel strata_agg_kernels[] =
{{F_COUNT_, AGG_VALUE_NONE, AGG_SUMMARY_COUNT, AGG_RESULT_COUNT,
count_values, combine_count, count_singles},
{F_COUNT_ANY, AGG_VALUE_NONE, AGG_SUMMARY_COUNT, AGG_RESULT_COUNT,
count_values, combine_count, count_singles},
{F_SUM_INT2, AGG_VALUE_INT16, AGG_SUMMARY_SUM, AGG_RESULT_INT, sum_int16,
combine_int_sum, sum_rows_int16},
{F_SUM_INT4, AGG_VALUE_INT32, AGG_SUMMARY_SUM, AGG_RESULT_INT, sum_int32,
combine_int_sum, sum_rows_int32},
{F_AVG_INT2, AGG_VALUE_INT16, AGG_SUMMARY_SUM, AGG_RESULT_INT_AVG,
sum_int16, combine_int_sum, sum_rows_int16},
{F_AVG_INT4, AGG_VALUE_INT32, AGG_SUMMARY_SUM, AGG_RESULT_INT_AVG,
sum_int32, combine_int_sum, sum_rows_int32},
#ifdef HAVE_INT128
{F_SUM_INT8, AGG_VALUE_INT64, AGG_SUMMARY_SUM, AGG_RESULT_INT128,
sum_int128, combine_int128, sum_int128_rows},
{F_AVG_INT8, AGG_VALUE_INT64, AGG_SUMMARY_SUM, AGG_RESULT_INT128_AVG,
sum_int128, combine_int128, sum_int128_rows},
#endif
{F_SUM_FLOAT4, AGG_VALUE_FLOAT4, AGG_SUMMARY_NONE, AGG_RESULT_FLOAT4,
sum_float4, combine_float4_sum, sum_float4_rows},
{F_SUM_FLOAT8, AGG_VALUE_FLOAT8, AGG_SUMMARY_SUM, AGG_RESULT_FLOAT8,
sum_float8, combine_float8_sum, sum_float8_rows},
{F_AVG_FLOAT4, AGG_VALUE_FLOAT4, AGG_SUMMARY_SUM, AGG_RESULT_FLOAT_AVG,
avg_float4, combine_float_accum, avg_float4_rows},
{F_AVG_FLOAT8, AGG_VALUE_FLOAT8, AGG_SUMMARY_SUM, AGG_RESULT_FLOAT_AVG,
avg_float8, combine_float_accum, avg_float8_rows},
{F_BOOL_AND, AGG_VALUE_INT8, AGG_SUMMARY_MIN, AGG_RESULT_INT, min_int8,
combine_min_int, min_rows_int8},
{F_EVERY, AGG_VALUE_INT8, AGG_SUMMARY_MIN, AGG_RESULT_INT, min_int8,
combine_min_int, min_rows_int8},
{F_BOOL_OR, AGG_VALUE_INT8, AGG_SUMMARY_MAX, AGG_RESULT_INT, max_int8,
combine_max_int, max_rows_int8},
INTS_MINMAX(INT2, AGG_VALUE_INT16, int16),
INTS_MINMAX(INT4, AGG_VALUE_INT32, int32),
INTS_MINMAX(INT8, AGG_VALUE_INT64, int64),
INTS_MINMAX(DATE, AGG_VALUE_INT32, int32),
INTS_MINMAX(TIME, AGG_VALUE_INT64, int64),
INTS_MINMAX(TIMESTAMP, AGG_VALUE_INT64, int64),
INTS_MINMAX(TIMESTAMPTZ, AGG_VALUE_INT64, int64),
INTS_MINMAX(MONEY, AGG_VALUE_INT64, int64),
{F_MIN_FLOAT4, AGG_VALUE_FLOAT4, AGG_SUMMARY_MIN, AGG_RESULT_FLOAT4,
min_float4, combine_min_float, min_rows_float4},
{F_MAX_FLOAT4, AGG_VALUE_FLOAT4, AGG_SUMMARY_MAX, AGG_RESULT_FLOAT4,
max_float4, combine_max_float, max_rows_float4},
{F_MIN_FLOAT8, AGG_VALUE_FLOAT8, AGG_SUMMARY_MIN, AGG_RESULT_FLOAT8,
min_float8, combine_min_float, min_rows_float8},
{F_MAX_FLOAT8, AGG_VALUE_FLOAT8, AGG_SUMMARY_MAX, AGG_RESULT_FLOAT8,
max_float8, combine_max_float, max_rows_float8},
FLOAT_VARIANCE(VAR_POP, AGG_RESULT_VAR_POP),
FLOAT_VARIANCE(VAR_SAMP, AGG_RESULT_VAR_SAMP),
FLOAT_VARIANCE(VARIANCE, AGG_RESULT_VAR_SAMP),
FLOAT_VARIANCE(STDDEV_POP, AGG_RESULT_STDDEV_POP),
FLOAT_VARIANCE(STDDEV_SAMP, AGG_RESULT_STDDEV_SAMP),
FLOAT_VARIANCE(STDDEV, AGG_RESULT_STDDEV_SAMP),
 /* the last: everything else */
{InvalidOid, AGG_VALUE_DATUM, AGG_SUMMARY_NONE, AGG_RESULT_GENERIC, NULL,
NULL, NULL}};

const int	strata_agg_nkernels = lengthof(strata_agg_kernels);
