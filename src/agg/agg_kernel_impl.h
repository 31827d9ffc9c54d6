/*-------------------------------------------------------------------------
 *
 * agg_kernel_impl.h
 *	  Template: kernels of one value type; included by agg_kernel.c with
 *
 *		CTYPE		the C type of the values
 *		FN(name)	the name of a function for it
 *		IS_FLOAT	1 for floats, 0 for integers
 *		WITH_SUM	integers: 1 when the sum is one of 64 bits
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
static void
FN(minmax_exact) (AggCell *cell, const CTYPE *v, const uint8 *valid, int n, bool want_max)
{
	for (int i = 0; i < n; i++)
	{
		double		x = v[i];
		double		y = cell->v.f;
		bool		keep;

		if (valid != NULL && !valid[i])
			continue;
		if (want_max)
			keep = float8_gt(y, x);
		else
			keep = float8_lt(y, x);
		if (cell->n == 0 || !keep)
			cell->v.f = x;
		cell->n++;
	}
}

STRATA_CLONES static void
FN(bounds) (const CTYPE *v, int n, CTYPE *min, CTYPE *max, int *nnan)
{
	CTYPE		lo = v[0];
	CTYPE		hi = v[0];
	int			bad = 0;

	for (int i = 0; i < n; i++)
	{
		lo = v[i] < lo ? v[i] : lo;
		hi = v[i] > hi ? v[i] : hi;
		bad |= v[i] != v[i];
	}
	*min = lo;
	*max = hi;
	*nnan = bad;
}

static void
FN(minmax) (AggCell *cell, const AggRun *run, bool want_max)
{
	const CTYPE *v = run->v;
	CTYPE		lo;
	CTYPE		hi;
	int			nnan;

	if (run->n == 0)
		return;
	if (run->valid == NULL && run->n >= 16)
	{
		FN(bounds) (v, run->n, &lo, &hi, &nnan);
		lo = want_max ? hi : lo;
		/* a result that has no equals of other bits needs no care */
		if (!nnan && lo != 0)
		{
			FN(minmax_exact) (cell, &lo, NULL, 1, want_max);
			cell->n += run->n - 1;
			return;
		}
	}
	FN(minmax_exact) (cell, v, run->valid, run->n, want_max);
}

#else							/* integers */

STRATA_CLONES static CTYPE
FN(min_all) (const CTYPE *v, int n)
{
	CTYPE		m = v[0];

	for (int i = 1; i < n; i++)
		m = v[i] < m ? v[i] : m;
	return m;
}

STRATA_CLONES static CTYPE
FN(max_all) (const CTYPE *v, int n)
{
	CTYPE		m = v[0];

	for (int i = 1; i < n; i++)
		m = v[i] > m ? v[i] : m;
	return m;
}

static void
FN(minmax) (AggCell *cell, const AggRun *run, bool want_max)
{
	const CTYPE *v = run->v;

	if (run->n == 0)
		return;
	if (run->valid == NULL && run->n >= 16)
	{
		int64		m = want_max ? FN(max_all) (v, run->n) : FN(min_all) (v, run->n);

		if (cell->n == 0 || (want_max ? m > cell->v.i : m < cell->v.i))
			cell->v.i = m;
		cell->n += run->n;
		return;
	}
	for (int i = 0; i < run->n; i++)
	{
		if (run->valid != NULL && !run->valid[i])
			continue;
		if (cell->n == 0 || (want_max ? v[i] > cell->v.i : v[i] < cell->v.i))
			cell->v.i = v[i];
		cell->n++;
	}
}

#if WITH_SUM

STRATA_CLONES static int64
FN(sum_all) (const CTYPE *v, int n)
{
	int64		s = 0;

	for (int i = 0; i < n; i++)
		s += v[i];
	return s;
}

STRATA_CLONES static int64
FN(sum_valid) (const CTYPE *v, const uint8 *valid, int n)
{
	int64		s = 0;

	for (int i = 0; i < n; i++)
		s += v[i] & -(CTYPE) valid[i];
	return s;
}

static void
FN(sum) (AggCell *cell, const AggRun *run)
{
	if (run->valid == NULL)
	{
		cell->v.i = (int64) ((uint64) cell->v.i + (uint64) FN(sum_all) (run->v, run->n));
		cell->n += run->n;
	}
	else
	{
		cell->v.i = (int64) ((uint64) cell->v.i +
							 (uint64) FN(sum_valid) (run->v, run->valid, run->n));
		cell->n += count_valid(run->valid, run->n);
	}
}

#endif
#undef WITH_SUM

#endif

static void
FN(min) (AggCell *cell, const AggRun *run)
{
	FN(minmax) (cell, run, false);
}

static void
FN(max) (AggCell *cell, const AggRun *run)
{
	FN(minmax) (cell, run, true);
}

#undef CTYPE
#undef FN
#undef IS_FLOAT
