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
 * Over 600 lines: all loops over values and masks, compiled alike.
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
#include "port/pg_bitutils.h"
#include "port/pg_bswap.h"
#include "utils/lsyscache.h"

/* Lists up to this length are compared one by one, longer ones searched. */
#define IN_LINEAR_MAX 4

/* Slots for each element of a longer list, at least: few of them meet. */
#define SLOTS_PER_KEY(n) ((n) <= 1024 ? 16 : 4)

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

/* Where the search for a key begins. */
static inline uint64
first_slot(const FilterKeys *keys, uint64 key)
{
	return key * UINT64CONST(0x9E3779B97F4A7C15) >> keys->shift;
}

static inline uint64
slot_behind(const FilterKeys *keys, uint64 slot)
{
	return (slot + 1) & (PG_UINT64_MAX >> keys->shift);
}

/* What is the same of equal floats. */
static inline uint64
float_key(double x)
{
	uint64		key;

	x += 0.0;					/* -0 is 0 */
	memcpy(&key, &x, sizeof(key));
	return key;
}

/* The slot of an element, or the free one that it would have. */
static inline uint64
slot_of_int(const FilterKeys *keys, int64 x)
{
	uint64		slot = first_slot(keys, (uint64) x);

	while (keys->slots[slot] != 0 && keys->ints[keys->slots[slot] - 1] != x)
		slot = slot_behind(keys, slot);
	return slot;
}

static inline uint64
slot_of_float(const FilterKeys *keys, double x)
{
	uint64		slot = first_slot(keys, float_key(x));

	while (keys->slots[slot] != 0 && keys->floats[keys->slots[slot] - 1] != x)
		slot = slot_behind(keys, slot);
	return slot;
}

static inline bool
find_int(const FilterKeys *keys, int64 x)
{
	return keys->slots[slot_of_int(keys, x)] != 0;
}

static inline bool
find_float(const FilterKeys *keys, double x)
{
	return isnan(x) ? keys->has_nan : keys->slots[slot_of_float(keys, x)] != 0;
}

/* Elements that come again have one slot.  Memory: the current context. */
static void
make_key_slots(FilterKeys *keys)
{
	int			bits;

	bits = pg_ceil_log2_32((uint32) keys->n) +
		pg_ceil_log2_32(SLOTS_PER_KEY(keys->n));
	keys->shift = 64 - bits;
	keys->slots = MemoryContextAllocExtended(CurrentMemoryContext,
											 sizeof(uint32) << bits,
											 MCXT_ALLOC_HUGE |
											 MCXT_ALLOC_ZERO);
	for (int i = 0; i < keys->n; i++)
	{
		uint64		slot;

		slot = keys->floats != NULL ? slot_of_float(keys, keys->floats[i]) :
			slot_of_int(keys, keys->ints[i]);
		keys->slots[slot] = (uint32) i + 1;
	}
}

/* See filter_private.h. */
void
strata_filter_prepare_in(FilterNode *leaf)
{
	FilterKeys *keys = &leaf->keys;
	int64		min;
	int64		max;

	memset(keys, 0, sizeof(*keys));
	if (is_float_kind(leaf->kind))
		keys->floats = palloc(sizeof(double) * Max(leaf->nvalues, 1));
	else
		keys->ints = palloc(sizeof(int64) * Max(leaf->nvalues, 1));
	kind_range(leaf->kind, &min, &max);
	for (int i = 0; i < leaf->nvalues; i++)
	{
		if (keys->floats != NULL)
		{
			double		x = leaf_float(leaf, leaf->values[i]);

			if (isnan(x))
				keys->has_nan = true;
			else
				keys->floats[keys->n++] = x;
		}
		else
		{
			int64		x = leaf_int(leaf, leaf->values[i]);

			if (x >= min && x <= max)
				keys->ints[keys->n++] = x;
		}
	}
	if (keys->n > IN_LINEAR_MAX)
		make_key_slots(keys);
}

/*
 * Long lists: search for each row that still passes.  Of most rows that are
 * not to be found the first slot tells, without a branch.
 */
#define IN_SEARCH(ctype, to_key, find) \
	do { \
		const ctype *v_ = v; \
		for (int i_ = 0; i_ < n && wanted && !keys.has_nan; i_++) \
			mask[i_] &= keys.slots[first_slot(&keys, to_key(v_[i_]))] != 0; \
		for (int i_ = 0; i_ < n; i_++) \
			if (mask[i_]) \
				mask[i_] = (uint8) (find(&keys, v_[i_]) == wanted); \
	} while (0)

/* See IN_SEARCH. */
static void
in_search(const FilterNode *leaf, const void *v, int n, bool wanted,
		  uint8 *mask)
{
	const FilterKeys keys = leaf->keys; /* no mask's, for the compiler */

	switch (leaf->kind)
	{
		case FILTER_KIND_INT8:
			IN_SEARCH(int8, (uint64), find_int);
			break;
		case FILTER_KIND_INT16:
			IN_SEARCH(int16, (uint64), find_int);
			break;
		case FILTER_KIND_INT32:
			IN_SEARCH(int32, (uint64), find_int);
			break;
		case FILTER_KIND_UINT32:
			IN_SEARCH(uint32, (uint64), find_int);
			break;
		case FILTER_KIND_INT64:
			IN_SEARCH(int64, (uint64), find_int);
			break;
		case FILTER_KIND_FLOAT4:
			IN_SEARCH(float4, float_key, find_float);
			break;
		default:
			IN_SEARCH(float8, float_key, find_float);
			break;
	}
}

/*
 * Short lists: the keys in the column's own type, then a kernel.  What is left
 * of a_ is a value that is there already, or NaN, which equals none.
 */
#define IN_LINEAR(ctype, kernel, from, spare) \
	do { \
		ctype		a_[IN_LINEAR_MAX]; \
		for (int i_ = 0; i_ < IN_LINEAR_MAX; i_++) \
			a_[i_] = (ctype) (i_ < leaf->keys.n ? (from)[i_] : (spare)); \
		kernel(v, n, a_, leaf->keys.has_nan, wanted, mask); \
	} while (0)

#define IN_INTEGERS(ctype, kernel) \
	IN_LINEAR(ctype, kernel, leaf->keys.ints, leaf->keys.ints[0])
#define IN_FLOATS(ctype, kernel) \
	IN_LINEAR(ctype, kernel, leaf->keys.floats, NAN)

/* The bit of each row's value. */
#define IN_PLACES(ctype) \
	do { \
		const ctype *v_ = v; \
		for (int i_ = 0; i_ < n; i_++) \
		{ \
			uint64		place_ = strata_filter_place(&keys, v_[i_]); \
			mask[i_] &= keys.places[place_ / 64] >> place_ % 64 & 1; \
		} \
	} while (0)

/* See IN_PLACES. */
static void
in_places(const FilterNode *leaf, const void *v, int n, uint8 *mask)
{
	const FilterKeys keys = leaf->keys; /* as above */

	Assert(leaf->op == FILTER_IN && leaf->spans);	/* scan:R15 */
	switch (leaf->kind)
	{
		case FILTER_KIND_INT16:
			IN_PLACES(int16);
			break;
		case FILTER_KIND_INT32:
			IN_PLACES(int32);
			break;
		case FILTER_KIND_INT64:
			IN_PLACES(int64);
			break;
		default:
			break;
	}
}

/* See filter_kernel_private.h. */
bool
strata_filter_meets_places(const FilterNode *leaf, Datum min, Datum max)
{
	const FilterKeys *keys = &leaf->keys;
	int			width = leaf->kind == FILTER_KIND_INT16 ? sizeof(int16) :
	leaf->kind == FILTER_KIND_INT32 ? sizeof(int32) : sizeof(int64);
	int64		low = Max(strata_datum_integer(min, width), keys->base);
	int64		high = strata_datum_integer(max, width);
	uint64		from = strata_filter_place(keys, low);
	uint64		to = strata_filter_place(keys, high);

	if (high < low)
		return false;
	for (uint64 word = from / 64; word <= to / 64; word++)
	{
		uint64		bits = keys->places[word];

		if (word == from / 64)
			bits &= PG_UINT64_MAX << from % 64;
		if (word == to / 64)
			bits &= PG_UINT64_MAX >> (63 - to % 64);
		if (bits != 0)
			return true;
	}
	return false;
}

/* See filter_private.h. */
void
strata_filter_in(const FilterNode *leaf, const void *v, int n, uint8 *mask)
{
	bool		wanted = leaf->op == FILTER_IN;

	if (leaf->keys.places != NULL)
	{
		in_places(leaf, v, n, mask);
		return;
	}
	if (leaf->keys.slots != NULL)
	{
		in_search(leaf, v, n, wanted, mask);
		return;
	}
	if (leaf->keys.n == 0 && !leaf->keys.has_nan)
	{
		if (wanted)
			memset(mask, 0, n);
		return;
	}
	switch (leaf->kind)
	{
		case FILTER_KIND_INT8:
			IN_INTEGERS(int8, in_int8);
			break;
		case FILTER_KIND_INT16:
			IN_INTEGERS(int16, in_int16);
			break;
		case FILTER_KIND_INT32:
			IN_INTEGERS(int32, in_int32);
			break;
		case FILTER_KIND_UINT32:
			IN_INTEGERS(uint32, in_uint32);
			break;
		case FILTER_KIND_INT64:
			IN_INTEGERS(int64, in_int64);
			break;
		case FILTER_KIND_FLOAT4:
			if (leaf->righttype == FLOAT4OID)
				IN_FLOATS(float4, in_float4);
			else
				IN_FLOATS(float8, in_float4_wide);
			break;
		default:
			IN_FLOATS(float8, in_float8);
			break;
	}
}

/*-------------------------------------------------------------------------
 * Masks
 *-------------------------------------------------------------------------
 */

/* See filter_kernel_private.h. */
STRATA_AVX2_CLONES
void
strata_filter_mask_nulls(const bool *pg_restrict isnull, bool wanted, int n,
						 uint8 *pg_restrict mask)
{
	const uint8 *flags = (const uint8 *) isnull;

	for (int i = 0; i < n; i++)
		mask[i] &= (uint8) (flags[i] ^ !wanted);
}

/* Eight row numbers; gcc and clang know such types. */
typedef uint16 EightRows __attribute__((vector_size(8 * sizeof(uint16))));

/* Which of eight rows pass, of each set of them: first those that do. */
static EightRows passing[256];

static void
make_passing(void)
{
	for (int set = 0; set < 256; set++)
	{
		int			k = 0;

		for (int i = 0; i < 8; i++)
			if (set >> i & 1)
				passing[set][k++] = (uint16) i;
	}
}

/* See filter_keys_private.h. */
int
strata_filter_mask_rows(const uint8 *mask, int n, uint16 *rows)
{
	int			k = 0;
	int			i = 0;

	if (passing[1 << 7][0] == 0)
		make_passing();
	for (; i + 8 <= n; i += 8)
	{
		uint64		eight;
		EightRows	found;

		memcpy(&eight, mask + i, sizeof(eight));
		if (eight == 0)
			continue;
#ifdef WORDS_BIGENDIAN
		eight = pg_bswap64(eight);
#endif
		/* products of the eight, one in a byte, meet in the top byte */
		found = passing[eight * UINT64CONST(0x0102040810204080) >> 56] +
			(uint16) i;
		memcpy(rows + k, &found, sizeof(found));
		k += (int) (eight * UINT64CONST(0x0101010101010101) >> 56);
	}
	for (; i < n; i++)
	{
		rows[k] = (uint16) i;
		k += mask[i];
	}
	return k;
}
