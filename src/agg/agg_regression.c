/*-------------------------------------------------------------------------
 *
 * agg_regression.c
 *	  Sums of pairs for corr(), covar_*() and regr_*(), without a call for
 *	  each pair.
 *
 * The state is that of PostgreSQL's float8_regr_accum(): an array of n, the
 * sum and the sum of squared differences of X, those of Y, and the sum of
 * products of differences.  A pair is taken in by the same steps in the same
 * order (Youngs and Cramer), so results have the same bits.  Whatever is not
 * finite is left to PostgreSQL's function, with its rules and errors.
 *
 * src/agg/agg_regression.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_kernel_private.h"

#include <math.h>

#include "catalog/pg_type_d.h"
#include "utils/array.h"

#define NSUMS 6

/* The state's numbers; NULL: it is of another form. */
static float8 *
sums_of_state(Datum state)
{
	ArrayType  *array = (ArrayType *) DatumGetPointer(state);

	if (VARATT_IS_EXTENDED(array) || ARR_NDIM(array) != 1 ||
		ARR_DIMS(array)[0] != NSUMS || ARR_HASNULL(array) ||
		ARR_ELEMTYPE(array) != FLOAT8OID)
		return NULL;
	return (float8 *) ARR_DATA_PTR(array);
}

/* See agg_kernel_private.h. */
int
strata_agg_regression_run(Datum state, const AggRun *run, int64 *taken)
{
	float8	   *sums = sums_of_state(state);
	const Datum *v = run->v;
	float8		n;
	float8		sx;
	float8		sxx;
	float8		sy;
	float8		syy;
	float8		sxy;
	int			i;

	*taken = 0;
	if (sums == NULL)
		return 0;
	Assert(run->v2 != NULL);	/* agg:G10 */
	n = sums[0];
	sx = sums[1];
	sxx = sums[2];
	sy = sums[3];
	syy = sums[4];
	sxy = sums[5];
	for (i = 0; i < run->n; i++)
	{
		float8		y = DatumGetFloat8(v[i]);
		float8		x = DatumGetFloat8(run->v2[i]);
		float8		all = n + 1.0;
		float8		nsx = sx + x;
		float8		nsy = sy + y;

		if (run->valid != NULL && !run->valid[i])
			continue;
		if (n > 0.0)
		{
			float8		dx = x * all - nsx;
			float8		dy = y * all - nsy;
			float8		scale = 1.0 / (all * n);
			float8		nsxx = sxx + dx * dx * scale;
			float8		nsyy = syy + dy * dy * scale;
			float8		nsxy = sxy + dx * dy * scale;

			if (!isfinite(nsxx) || !isfinite(nsyy) || !isfinite(nsxy))
				break;
			sxx = nsxx;
			syy = nsyy;
			sxy = nsxy;
		}
		else if (!isfinite(x) || !isfinite(y))
			break;
		n = all;
		sx = nsx;
		sy = nsy;
		++*taken;
	}
	sums[0] = n;
	sums[1] = sx;
	sums[2] = sxx;
	sums[3] = sy;
	sums[4] = syy;
	sums[5] = sxy;
	return i;
}
