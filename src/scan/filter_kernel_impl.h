/*-------------------------------------------------------------------------
 *
 * filter_kernel_impl.h
 *	  Template: comparisons of a packed column with one value or a list.
 *
 * Included by filter_kernel.c once per pair of C types, with
 *	KERNEL_COMPARE, KERNEL_IN	names of the functions made
 *	KERNEL_TYPE					type of the column's values
 *	KERNEL_VALUE				type of the value (the comparison happens in
 *								it)
 *	KERNEL_IS_NAN(x)			for floats only
 *
 * GE and GT are written as negations so that a NaN in the column, which
 * PostgreSQL sorts above everything, passes them; the other tests are false
 * for it as they should.  For integers the two forms are the same.
 *
 * The loops have no branch and no call, for the compiler to vectorise.
 *
 * src/scan/filter_kernel_impl.h
 *-------------------------------------------------------------------------
 */

#ifndef KERNEL_IS_NAN
#define KERNEL_IS_NAN(x) ((void) (x), 0)
#endif

#define KERNEL_LOOP(test) \
	do { \
		for (int i = 0; i < n; i++) \
		{ \
			KERNEL_VALUE x = (KERNEL_VALUE) v[i]; \
			mask[i] &= (uint8) (test); \
		} \
	} while (0)

/* mask[i] &= the test of v[i] against a; NULLs are not looked at here. */
STRATA_AVX2_CLONES
static void
KERNEL_COMPARE(const KERNEL_TYPE * pg_restrict v, int n, KernelTest test,
			   KERNEL_VALUE a, uint8 *pg_restrict mask)
{
	switch (test)
	{
		case TEST_LT:
			KERNEL_LOOP(x < a);
			break;
		case TEST_LE:
			KERNEL_LOOP(x <= a);
			break;
		case TEST_EQ:
			KERNEL_LOOP(x == a);
			break;
		case TEST_GE:
			KERNEL_LOOP(!(x < a));
			break;
		case TEST_GT:
			KERNEL_LOOP(!(x <= a));
			break;
		case TEST_NE:
			KERNEL_LOOP(!(x == a));
			break;
		case TEST_NAN:
			KERNEL_LOOP(KERNEL_IS_NAN(x));
			break;
		case TEST_NOT_NAN:
			KERNEL_LOOP(!KERNEL_IS_NAN(x));
			break;
		case TEST_ALWAYS:
			break;
		case TEST_NEVER:
			memset(mask, 0, n);
			break;
	}
}

/*
 * mask[i] &= (v[i] is one of a[0 .. IN_LINEAR_MAX)) == wanted.  That many, so
 * that no loop stands in the way of vectors.
 */
STRATA_AVX2_CLONES
static void
KERNEL_IN(const KERNEL_TYPE * pg_restrict v, int n, const KERNEL_VALUE * a,
		  bool has_nan, bool wanted, uint8 *pg_restrict mask)
{
	KERNEL_VALUE a0 = a[0];
	KERNEL_VALUE a1 = a[1];
	KERNEL_VALUE a2 = a[2];
	KERNEL_VALUE a3 = a[3];

	for (int i = 0; i < n; i++)
	{
		KERNEL_VALUE x = (KERNEL_VALUE) v[i];
		bool		hit = (x == a0) | (x == a1) | (x == a2) | (x == a3) |
		(has_nan & KERNEL_IS_NAN(x));

		mask[i] &= (uint8) (hit == wanted);
	}
}

#undef KERNEL_LOOP
#undef KERNEL_COMPARE
#undef KERNEL_IN
#undef KERNEL_TYPE
#undef KERNEL_VALUE
#undef KERNEL_IS_NAN
