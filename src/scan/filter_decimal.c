/*-------------------------------------------------------------------------
 *
 * filter_decimal.c
 *	  Comparisons of numerics with values, where a batch keeps the numerics as
 *	  integers of one scale: the value becomes such an integer, too.
 *
 * src/scan/filter_decimal.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_kernel_private.h"
#include "base/base.h"
#include "base/clones.h"

#include "access/stratnum.h"
#include "catalog/pg_type_d.h"
#include "codec/codec.h"
#include "common/int.h"
#include "utils/fmgroids.h"

/* So many elements of a list are compared one after the other. */
#define FEW_ELEMENTS 16

/*
 * The greatest integer / 10^scale that is not above a numeric; *exact: it is
 * that.  False: there is none, or none of 64 bits.
 */
static bool
integer_not_above(Datum numeric, unsigned scale, int64 *integer, bool *exact)
{
	const struct varlena *v = (struct varlena *) DatumGetPointer(numeric);
	const uint8 *bytes;
	unsigned	decimals;
	int64		display;
	int64		rest = 0;

	if (!strata_varlena_is_plain(v))
		return false;
	bytes = (const uint8 *) VARDATA_ANY(v);
	if (!strata_numeric_decimals(bytes, VARSIZE_ANY_EXHDR(v), &display,
								 &decimals) ||
		!strata_numeric_integer(bytes, VARSIZE_ANY_EXHDR(v),
								Max(decimals, scale), integer))
		return false;
	*exact = true;
	for (; decimals > scale; decimals--)
	{
		rest = *integer % 10;
		*integer /= 10;
		*exact &= rest == 0;
		/* rounded down, not to zero */
		if (rest < 0)
			--* integer;
	}
	return true;
}

/* mask[i] &= v[i] <op> the leaf's value; false: that is no such integer. */
static bool
compare_decimals(const FilterNode *leaf, const int64 *v, unsigned scale,
				 int n, uint8 *mask)
{
	FilterNode	integers = *leaf;
	int64		value;
	bool		exact;

	if (!integer_not_above(leaf->value, scale, &value, &exact))
		return false;
	integers.kind = FILTER_KIND_INT64;
	integers.righttype = INT8OID;
	integers.value = Int64GetDatum(value);
	if (!exact)
		switch (leaf->strategy)
		{
			case BTLessStrategyNumber:
				integers.strategy = BTLessEqualStrategyNumber;
				break;
			case BTGreaterEqualStrategyNumber:
				integers.strategy = BTGreaterStrategyNumber;
				break;
			case BTEqualStrategyNumber:
				memset(mask, 0, n);
				return true;
			case FILTER_NE:
				return true;
			default:
				break;
		}
	strata_filter_compare(&integers, v, n, mask);
	return true;
}

static STRATA_AVX2_CLONES void
find_among(const int64 *restrict v, int n, const int64 *restrict values,
		   int nvalues, uint8 wanted, uint8 *restrict mask)
{
	for (int i = 0; i < n; i++)
	{
		uint8		found = 0;

		for (int k = 0; k < nvalues; k++)
			found |= v[i] == values[k];
		mask[i] &= found == wanted;
	}
}

/* mask[i] &= is v[i] one of the leaf's values, or not; false: likewise. */
static bool
look_for_decimals(const FilterNode *leaf, const int64 *v, unsigned scale,
				  int n, uint8 *mask)
{
	int64		values[FEW_ELEMENTS];
	int			nvalues = 0;

	if (leaf->nvalues > FEW_ELEMENTS)
		return false;
	for (int i = 0; i < leaf->nvalues; i++)
	{
		bool		exact;

		if (!integer_not_above(leaf->values[i], scale, &values[nvalues],
							   &exact))
			return false;
		nvalues += exact;
	}
	find_among(v, n, values, nvalues, leaf->op == FILTER_IN, mask);
	return true;
}

/* See filter_kernel_private.h. */
bool
strata_filter_decimals(const FilterNode *leaf, StrataFilterRun *run,
					   uint8 *mask)
{
	int			n = run->reader->nrows;
	const uint8 *displays;
	const bool *isnull = NULL;
	const int64 *v;
	unsigned	scale;

	if (leaf->op == FILTER_EXPR || leaf->cmp == NULL ||
		leaf->cmp->fn_oid != F_NUMERIC_CMP ||
		leaf->order != STRATA_ORDER_TOTAL)
		return false;
	Assert(leaf->lefttype == NUMERICOID &&
		   leaf->righttype == NUMERICOID);	/* scan:R6 */
	v = strata_batch_reader_scaled(run->reader, leaf->attno, 0, n, &displays,
								   &scale, &isnull);
	if (v == NULL)
		return false;
	if (leaf->op == FILTER_COMPARE ?
		!compare_decimals(leaf, v, scale, n, mask) :
		!look_for_decimals(leaf, v, scale, n, mask))
		return false;
	if (isnull != NULL)
		strata_filter_mask_nulls(isnull, false, n, mask);
	return true;
}
