/*-------------------------------------------------------------------------
 *
 * filter_kernel.c
 *	  Comparisons on packed columns, with PostgreSQL's meaning.
 *
 * Which operator is which kernel is told by the types an operator is declared
 * with: only built-in types are named here, and of those only where the btree
 * order is that of the machine's integers or floats.  Integers of any width
 * are compared in the column's own width, after the value has been clamped to
 * its range; float4 with float4 as float4, all other float pairs as float8,
 * as the operators do.
 *
 * A mask is one byte per row, 1: the row passes.
 *
 * src/scan/filter_kernel.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "base/clones.h"
#include "scan/filter_kernel_private.h"

#include <math.h>

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

/* Lists up to this length are compared one by one, longer ones searched. */
#define IN_LINEAR_MAX 12

typedef enum KernelTest
{
	TEST_LT,
	TEST_LE,
	TEST_EQ,
	TEST_GE,
	TEST_GT,
	TEST_NE,
	TEST_NAN,
	TEST_NOT_NAN,
	TEST_ALWAYS,
	TEST_NEVER
} KernelTest;

#define KERNEL_COMPARE compare_int8
#define KERNEL_IN in_int8
#define KERNEL_TYPE int8
#define KERNEL_VALUE int8
#include "scan/filter_kernel_impl.h"

#define KERNEL_COMPARE compare_int16
#define KERNEL_IN in_int16
#define KERNEL_TYPE int16
#define KERNEL_VALUE int16
#include "scan/filter_kernel_impl.h"

#define KERNEL_COMPARE compare_int32
#define KERNEL_IN in_int32
#define KERNEL_TYPE int32
#define KERNEL_VALUE int32
#include "scan/filter_kernel_impl.h"

#define KERNEL_COMPARE compare_int64
#define KERNEL_IN in_int64
#define KERNEL_TYPE int64
#define KERNEL_VALUE int64
#include "scan/filter_kernel_impl.h"

#define KERNEL_COMPARE compare_uint32
#define KERNEL_IN in_uint32
#define KERNEL_TYPE uint32
#define KERNEL_VALUE uint32
#include "scan/filter_kernel_impl.h"

#define KERNEL_IS_NAN(x) ((x) != (x))
#define KERNEL_COMPARE compare_float4
#define KERNEL_IN in_float4
#define KERNEL_TYPE float4
#define KERNEL_VALUE float4
#include "scan/filter_kernel_impl.h"

#define KERNEL_IS_NAN(x) ((x) != (x))
#define KERNEL_COMPARE compare_float4_wide
#define KERNEL_IN in_float4_wide
#define KERNEL_TYPE float4
#define KERNEL_VALUE float8
#include "scan/filter_kernel_impl.h"

#define KERNEL_IS_NAN(x) ((x) != (x))
#define KERNEL_COMPARE compare_float8
#define KERNEL_IN in_float8
#define KERNEL_TYPE float8
#define KERNEL_VALUE float8
#include "scan/filter_kernel_impl.h"

static bool
is_integer_type(Oid typid)
{
	return typid == INT2OID || typid == INT4OID || typid == INT8OID;
}

static bool
is_float_type(Oid typid)
{
	return typid == FLOAT4OID || typid == FLOAT8OID;
}

/* See filter_private.h. */
FilterKind
strata_filter_kind(Oid coltype, Oid lefttype, Oid righttype, int strategy)
{
	if (coltype != lefttype)
	{
		/* enums are ordered by catalog entries, but equal by oid */
		if (lefttype == ANYENUMOID && type_is_enum(coltype) &&
			(strategy == BTEqualStrategyNumber || strategy == FILTER_NE))
			return FILTER_KIND_UINT32;
		return FILTER_KIND_NONE;
	}
	if (is_integer_type(coltype) && is_integer_type(righttype))
		return coltype == INT2OID ? FILTER_KIND_INT16 :
			coltype == INT4OID ? FILTER_KIND_INT32 : FILTER_KIND_INT64;
	if (is_float_type(coltype) && is_float_type(righttype))
		return coltype == FLOAT4OID ? FILTER_KIND_FLOAT4 : FILTER_KIND_FLOAT8;
	if (coltype != righttype)
		return FILTER_KIND_NONE;
	switch (coltype)
	{
		case BOOLOID:
			return FILTER_KIND_INT8;
		case DATEOID:
			return FILTER_KIND_INT32;
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case CASHOID:
			return FILTER_KIND_INT64;
		case OIDOID:
			return FILTER_KIND_UINT32;
		default:
			return FILTER_KIND_NONE;
	}
}

static bool
is_float_kind(FilterKind kind)
{
	return kind == FILTER_KIND_FLOAT4 || kind == FILTER_KIND_FLOAT8;
}

/* The value of a leaf of an integer kind. */
static int64
leaf_int(const FilterNode *leaf, Datum value)
{
	switch (leaf->kind)
	{
		case FILTER_KIND_INT8:
			return DatumGetBool(value) ? 1 : 0;
		case FILTER_KIND_UINT32:
			return DatumGetObjectId(value);
		default:
			return strata_datum_integer(value,
										strata_integer_width(leaf->righttype));
	}
}

static double
leaf_float(const FilterNode *leaf, Datum value)
{
	return leaf->righttype == FLOAT4OID ? (double) DatumGetFloat4(value) :
		DatumGetFloat8(value);
}

/* Least and greatest value of an integer kind. */
static void
kind_range(FilterKind kind, int64 *min, int64 *max)
{
	switch (kind)
	{
		case FILTER_KIND_INT8:
			*min = PG_INT8_MIN;
			*max = PG_INT8_MAX;
			break;
		case FILTER_KIND_INT16:
			*min = PG_INT16_MIN;
			*max = PG_INT16_MAX;
			break;
		case FILTER_KIND_INT32:
			*min = PG_INT32_MIN;
			*max = PG_INT32_MAX;
			break;
		case FILTER_KIND_UINT32:
			*min = 0;
			*max = PG_UINT32_MAX;
			break;
		default:
			*min = PG_INT64_MIN;
			*max = PG_INT64_MAX;
			break;
	}
}

static KernelTest
strategy_test(int strategy)
{
	switch (strategy)
	{
		case BTLessStrategyNumber:
			return TEST_LT;
		case BTLessEqualStrategyNumber:
			return TEST_LE;
		case BTEqualStrategyNumber:
			return TEST_EQ;
		case BTGreaterEqualStrategyNumber:
			return TEST_GE;
		case BTGreaterStrategyNumber:
			return TEST_GT;
		default:
			return TEST_NE;
	}
}

/* The test against a value that no value of the column reaches. */
static KernelTest
out_of_range_test(KernelTest test, bool above)
{
	switch (test)
	{
		case TEST_LT:
		case TEST_LE:
			return above ? TEST_ALWAYS : TEST_NEVER;
		case TEST_GT:
		case TEST_GE:
			return above ? TEST_NEVER : TEST_ALWAYS;
		case TEST_EQ:
			return TEST_NEVER;
		default:
			return TEST_ALWAYS;
	}
}

/* The test against NaN: equal to itself, above everything else. */
static KernelTest
nan_test(KernelTest test)
{
	switch (test)
	{
		case TEST_LT:
		case TEST_NE:
			return TEST_NOT_NAN;
		case TEST_LE:
			return TEST_ALWAYS;
		case TEST_GT:
			return TEST_NEVER;
		default:
			return TEST_NAN;
	}
}

static void
compare_floats(const FilterNode *leaf, const void *v, int n, uint8 *mask)
{
	KernelTest	test = strategy_test(leaf->strategy);
	double		a = leaf_float(leaf, leaf->value);

	if (isnan(a))
	{
		test = nan_test(test);
		a = 0;
	}
	if (leaf->kind == FILTER_KIND_FLOAT8)
		compare_float8(v, n, test, a, mask);
	else if (leaf->righttype == FLOAT4OID)
		compare_float4(v, n, test, (float4) a, mask);
	else
		compare_float4_wide(v, n, test, a, mask);
}

/* See filter_private.h. */
void
strata_filter_compare(const FilterNode *leaf, const void *v, int n,
					  uint8 *mask)
{
	KernelTest	test = strategy_test(leaf->strategy);
	int64		a;
	int64		min;
	int64		max;

	if (is_float_kind(leaf->kind))
	{
		compare_floats(leaf, v, n, mask);
		return;
	}
	a = leaf_int(leaf, leaf->value);
	kind_range(leaf->kind, &min, &max);
	if (a < min || a > max)
	{
		test = out_of_range_test(test, a > max);
		a = 0;
	}
	switch (leaf->kind)
	{
		case FILTER_KIND_INT8:
			compare_int8(v, n, test, (int8) a, mask);
			break;
		case FILTER_KIND_INT16:
			compare_int16(v, n, test, (int16) a, mask);
			break;
		case FILTER_KIND_INT32:
			compare_int32(v, n, test, (int32) a, mask);
			break;
		case FILTER_KIND_UINT32:
			compare_uint32(v, n, test, (uint32) a, mask);
			break;
		default:
			compare_int64(v, n, test, a, mask);
			break;
	}
}

static int
compare_int_keys(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

static int
compare_float_keys(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* See filter_private.h. */
void
strata_filter_prepare_in(FilterNode *leaf)
{
	int64		min;
	int64		max;

	leaf->nkeys = 0;
	leaf->has_nan = false;
	if (is_float_kind(leaf->kind))
	{
		leaf->floats = palloc(sizeof(double) * Max(leaf->nvalues, 1));
		for (int i = 0; i < leaf->nvalues; i++)
		{
			double		x = leaf_float(leaf, leaf->values[i]);

			if (isnan(x))
				leaf->has_nan = true;
			else
				leaf->floats[leaf->nkeys++] = x;
		}
		qsort(leaf->floats, leaf->nkeys, sizeof(double), compare_float_keys);
		return;
	}
	kind_range(leaf->kind, &min, &max);
	leaf->ints = palloc(sizeof(int64) * Max(leaf->nvalues, 1));
	for (int i = 0; i < leaf->nvalues; i++)
	{
		int64		x = leaf_int(leaf, leaf->values[i]);

		if (x >= min && x <= max)
			leaf->ints[leaf->nkeys++] = x;
	}
	qsort(leaf->ints, leaf->nkeys, sizeof(int64), compare_int_keys);
}

static bool
find_int(const FilterNode *leaf, int64 x)
{
	return bsearch(&x, leaf->ints, leaf->nkeys, sizeof(int64),
				   compare_int_keys) != NULL;
}

static bool
find_float(const FilterNode *leaf, double x)
{
	if (isnan(x))
		return leaf->has_nan;
	return bsearch(&x, leaf->floats, leaf->nkeys, sizeof(double),
				   compare_float_keys) != NULL;
}

/* Long lists: search for each row that still passes. */
static void
in_search(const FilterNode *leaf, const void *v, int n, bool wanted,
		  uint8 *mask)
{
	for (int i = 0; i < n; i++)
	{
		bool		hit;

		if (!mask[i])
			continue;
		switch (leaf->kind)
		{
			case FILTER_KIND_INT8:
				hit = find_int(leaf, ((const int8 *) v)[i]);
				break;
			case FILTER_KIND_INT16:
				hit = find_int(leaf, ((const int16 *) v)[i]);
				break;
			case FILTER_KIND_INT32:
				hit = find_int(leaf, ((const int32 *) v)[i]);
				break;
			case FILTER_KIND_UINT32:
				hit = find_int(leaf, ((const uint32 *) v)[i]);
				break;
			case FILTER_KIND_INT64:
				hit = find_int(leaf, ((const int64 *) v)[i]);
				break;
			case FILTER_KIND_FLOAT4:
				hit = find_float(leaf, ((const float4 *) v)[i]);
				break;
			default:
				hit = find_float(leaf, ((const float8 *) v)[i]);
				break;
		}
		mask[i] = hit == wanted;
	}
}

/* Short lists: the keys in the column's own type, then a kernel. */
#define IN_LINEAR(ctype, kernel, keys) \
	do { \
		ctype		a_[IN_LINEAR_MAX]; \
		for (int i_ = 0; i_ < leaf->nkeys; i_++) \
			a_[i_] = (ctype) (keys)[i_]; \
		kernel(v, n, a_, leaf->nkeys, leaf->has_nan, wanted, mask); \
	} while (0)

/* See filter_private.h. */
void
strata_filter_in(const FilterNode *leaf, const void *v, int n, uint8 *mask)
{
	bool		wanted = leaf->op == FILTER_IN;

	if (leaf->nkeys > IN_LINEAR_MAX)
	{
		in_search(leaf, v, n, wanted, mask);
		return;
	}
	switch (leaf->kind)
	{
		case FILTER_KIND_INT8:
			IN_LINEAR(int8, in_int8, leaf->ints);
			break;
		case FILTER_KIND_INT16:
			IN_LINEAR(int16, in_int16, leaf->ints);
			break;
		case FILTER_KIND_INT32:
			IN_LINEAR(int32, in_int32, leaf->ints);
			break;
		case FILTER_KIND_UINT32:
			IN_LINEAR(uint32, in_uint32, leaf->ints);
			break;
		case FILTER_KIND_INT64:
			IN_LINEAR(int64, in_int64, leaf->ints);
			break;
		case FILTER_KIND_FLOAT4:
			if (leaf->righttype == FLOAT4OID)
				IN_LINEAR(float4, in_float4, leaf->floats);
			else
				IN_LINEAR(float8, in_float4_wide, leaf->floats);
			break;
		default:
			IN_LINEAR(float8, in_float8, leaf->floats);
			break;
	}
}
