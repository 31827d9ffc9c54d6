/*-------------------------------------------------------------------------
 *
 * agg_kernel_impl.h
 *	  Template: kernels of one value type; included by agg_kernel.c with
 *
 *		CTYPE		the C type of the values
 *		FN(name)	the name of a function for it
 *		IS_FLOAT	1 for floats, 0 for integers
 *		ITYPE		floats: an integer of the same size
 *		WITH_SUM	integers: 1 when the sum is one of 64 bits, and then
 *		SUM_TYPE	holds the sum of a run
 *
 * valid[i] is 0 or 1, so it serves as a factor and as a mask.
 *
 * src/agg/agg_kernel_impl.h
 *-------------------------------------------------------------------------
 */

#if IS_FLOAT

/*
 * Least and greatest as PostgreSQL orders floats: NaN is above all, and of
 * equal values (zeros of both signs, NaNs) the last one stays.
 */
static inline void
FN(minmax_one) (AggCell *cell, CTYPE x, bool want_max)
{
	double		y = cell->v.f;

	if (cell->n == 0 || !(want_max ? float8_gt(y, x) : float8_lt(y, x)))
		cell->v.f = x;
	cell->n++;
}

/*
 * 32 bytes of values, and what comparing them gives; gcc and clang know such
 * types.
 */
typedef CTYPE FN(Lanes) __attribute__((vector_size(32)));
typedef ITYPE FN(LaneMask) __attribute__((vector_size(32)));

#define NLANES ((int) (32 / sizeof(CTYPE)))
#define SELECT(mask, a, b) \
	((FN(Lanes))(((mask) & (FN(LaneMask))(a)) | (~(mask) & (FN(LaneMask))(b))))

/*
 * The greatest or least of n >= 2 * NLANES values; false when there is a NaN.
 * Side by side: compilers do not do that with floats by themselves.
 */
STRATA_AVX2_CLONES static bool
FN(extreme) (const CTYPE * v, int n, bool want_max, CTYPE * result)
{
	FN(Lanes) a;
	FN(Lanes) b;
	FN(LaneMask) nan =
	{
		0
	};
	CTYPE		m;
	bool		bad = false;
	int			i = 0;

	memcpy(&a, v, sizeof(a));
	b = a;
	for (; i + 2 * NLANES <= n; i += 2 * NLANES)
	{
		FN(Lanes) x;
		FN(Lanes) y;

		memcpy(&x, v + i, sizeof(x));
		memcpy(&y, v + i + NLANES, sizeof(y));
		nan |= (FN(LaneMask)) (x != x) | (FN(LaneMask)) (y != y);
		if (want_max)
		{
			a = SELECT((FN(LaneMask)) (x > a), x, a);
			b = SELECT((FN(LaneMask)) (y > b), y, b);
		}
		else
		{
			a = SELECT((FN(LaneMask)) (x < a), x, a);
			b = SELECT((FN(LaneMask)) (y < b), y, b);
		}
	}
	m = a[0];
	for (int j = 0; j < NLANES; j++)
	{
		bad |= nan[j] != 0;
		m = (want_max ? a[j] > m : a[j] < m) ? a[j] : m;
		m = (want_max ? b[j] > m : b[j] < m) ? b[j] : m;
	}
	for (; i < n; i++)
	{
		bad |= v[i] != v[i];
		m = (want_max ? v[i] > m : v[i] < m) ? v[i] : m;
	}
	*result = m;
	return !bad;
}

#undef NLANES
#undef SELECT

static void
FN(minmax) (AggCell *cell, const AggRun *run, bool want_max)
{
	const		CTYPE *v = run->v;
	CTYPE		m;

	/* a result that has no equals of other bits needs no care */
	if (run->n >= 16 && FN(extreme) (v, run->n, want_max, &m) && m != 0)
	{
		FN(minmax_one) (cell, m, want_max);
		cell->n += run->n - 1;
		return;
	}
	for (int i = 0; i < run->n; i++)
		FN(minmax_one) (cell, v[i], want_max);
}

#else							/* integers */

STRATA_AVX2_CLONES static CTYPE
FN(min_all) (const CTYPE * v, int n)
{
	CTYPE		m = v[0];

	for (int i = 1; i < n; i++)
		m = v[i] < m ? v[i] : m;
	return m;
}

STRATA_AVX2_CLONES static CTYPE
FN(max_all) (const CTYPE * v, int n)
{
	CTYPE		m = v[0];

	for (int i = 1; i < n; i++)
		m = v[i] > m ? v[i] : m;
	return m;
}

static inline void
FN(minmax_one) (AggCell *cell, CTYPE x, bool want_max)
{
	if (cell->n == 0 || (want_max ? x > cell->v.i : x < cell->v.i))
		cell->v.i = x;
	cell->n++;
}

/* Keep the least or greatest value of a run. */
static void
FN(minmax) (AggCell *cell, const AggRun *run, bool want_max)
{
	const		CTYPE *v = run->v;

	if (run->n >= 16)
	{
		int64		m;

		m = want_max ? FN(max_all) (v, run->n) : FN(min_all) (v, run->n);
		if (cell->n == 0 || (want_max ? m > cell->v.i : m < cell->v.i))
			cell->v.i = m;
		cell->n += run->n;
		return;
	}
	for (int i = 0; i < run->n; i++)
		FN(minmax_one) (cell, v[i], want_max);
}

#if WITH_SUM

/* A batch has so few rows that the sum of its int2s is an int4. */
STRATA_AVX2_CLONES static int64
FN(sum_all) (const CTYPE * v, int n)
{
	SUM_TYPE	s = 0;

	for (int i = 0; i < n; i++)
		s += v[i];
	return s;
}

STRATA_AVX2_CLONES static int64
FN(sum_valid) (const CTYPE * v, const uint8 *valid, int n)
{
	int64		s = 0;

	for (int i = 0; i < n; i++)
		s += v[i] & -(CTYPE) valid[i];
	return s;
}

static void
FN(sum) (AggCell *cell, const AggRun *run)
{
	Assert(run->n <= STRATA_BATCH_ROWS_MAX);	/* agg:G2 */
	if (run->valid == NULL)
	{
		cell->v.i = (int64) ((uint64) cell->v.i +
							 (uint64) FN(sum_all) (run->v, run->n));
		cell->n += run->n;
	}
	else
	{
		cell->v.i = (int64) ((uint64) cell->v.i +
							 (uint64) FN(sum_valid) (run->v, run->valid,
													 run->n));
		cell->n += count_valid(run->valid, run->n);
	}
}

static inline void
FN(sum_one) (AggCell *cell, CTYPE x)
{
	cell->v.i = (int64) ((uint64) cell->v.i + (uint64) (int64) x);
	cell->n++;
}

DEFINE_ROWS(FN(sum_rows), CTYPE, FN(sum_one) (cell, *v))

#endif
#undef WITH_SUM
#undef SUM_TYPE

#endif

DEFINE_PACKED(FN(packed), CTYPE)

static void
FN(min) (AggCell *cell, const AggRun *run)
{
	if (run->valid != NULL)
		FN(packed) (cell, run, FN(min));
	else
		FN(minmax) (cell, run, false);
}

static void
FN(max) (AggCell *cell, const AggRun *run)
{
	if (run->valid != NULL)
		FN(packed) (cell, run, FN(max));
	else
		FN(minmax) (cell, run, true);
}

DEFINE_ROWS(FN(min_rows), CTYPE, FN(minmax_one) (cell, *v, false))
DEFINE_ROWS(FN(max_rows), CTYPE, FN(minmax_one) (cell, *v, true))

#undef CTYPE
#undef FN
#undef IS_FLOAT
#undef ITYPE
