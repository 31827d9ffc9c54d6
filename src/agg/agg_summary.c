/*-------------------------------------------------------------------------
 *
 * agg_summary.c
 *	  Whole batches into cells by what their summaries say: counts, minima,
 *	  maxima and sums, without decoding a value.
 *
 * Answers are those that the values would give, but for one thing: a sum of
 * floats is the sum of the batch, added to what came before.  That is a legal
 * order of addition, the one that parallel workers would have if each had a
 * batch; where all partial sums are exact (whole numbers below 2^53, say) it
 * makes no difference.
 *
 * src/agg/agg_summary.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"

#include <math.h>

#include "utils/float.h"

/* A value of the summary into a cell, standing for n values. */
static void
take_extreme(const AggKernel *kernel, AggCell *cell, Datum value, int64 n)
{
	union
	{
		int16		i2;
		int32		i4;
		int64		i8;
		int8		i1;
		float4		f4;
		float8		f8;
	}			v;
	AggRun		run = {&v, NULL, 1};

	switch (kernel->kind)
	{
		case AGG_VALUE_INT8:
			v.i1 = (int8) DatumGetBool(value);
			break;
		case AGG_VALUE_INT16:
			v.i2 = DatumGetInt16(value);
			break;
		case AGG_VALUE_INT32:
			v.i4 = DatumGetInt32(value);
			break;
		case AGG_VALUE_FLOAT4:
			v.f4 = DatumGetFloat4(value);
			Assert(v.f4 != 0 && !isnan(v.f4));	/* agg:G4 */
			break;
		case AGG_VALUE_FLOAT8:
			v.f8 = DatumGetFloat8(value);
			Assert(v.f8 != 0 && !isnan(v.f8));	/* agg:G4 */
			break;
		default:
			v.i8 = DatumGetInt64(value);
			break;
	}
	kernel->run(cell, &run);
	cell->n += n - 1;
}

/*
 * Can min and max of the summary stand for the values?  Not NaN, which they
 * leave out; and not zero, whose sign they do not know.
 */
static bool
usable_range(const AggKernel *kernel, const StrataColumnSummary *summary)
{
	if (!summary->has_range || summary->has_nan)
		return false;
	switch (kernel->kind)
	{
		case AGG_VALUE_FLOAT4:
			return DatumGetFloat4(summary->min) != 0 &&
				DatumGetFloat4(summary->max) != 0;
		case AGG_VALUE_FLOAT8:
			return DatumGetFloat8(summary->min) != 0 &&
				DatumGetFloat8(summary->max) != 0;
		default:
			return true;
	}
}

/* Is the square of no value near overflow?  avg() of floats would say so. */
static bool
squares_are_safe(const AggKernel *kernel, const StrataColumnSummary *summary)
{
	if (!summary->has_range || summary->has_nan)
		return false;
	if (kernel->kind == AGG_VALUE_FLOAT4)
		return true;			/* and finite, or there were no sum */
	return fabs(DatumGetFloat8(summary->min)) < STRATA_AGG_SAFE_TO_SQUARE &&
		fabs(DatumGetFloat8(summary->max)) < STRATA_AGG_SAFE_TO_SQUARE;
}

/*
 * Add the sum of n > 0 values, of the kind that the kernel sums; false:
 * cannot.
 */
static bool
take_summed(const AggKernel *kernel, AggCell *cell,
			const StrataColumnSummary *summary, int64 n)
{
	if (!summary->has_sum)
		return false;
	switch (kernel->result)
	{
		case AGG_RESULT_INT:
		case AGG_RESULT_INT_AVG:
			cell->v.i = (int64) ((uint64) cell->v.i + (uint64) summary->sum.i);
			break;
#ifdef HAVE_INT128
		case AGG_RESULT_INT128:
		case AGG_RESULT_INT128_AVG:
			strata_agg_add_int128(cell, summary->sum.i);
			break;
#endif
		case AGG_RESULT_FLOAT8:
			cell->v.f = cell->n == 0 ? summary->sum.f :
				float8_pl(cell->v.f, summary->sum.f);
			break;
		case AGG_RESULT_FLOAT_AVG:
			if (!strata_agg_is_safe_cell(cell) ||
				!squares_are_safe(kernel, summary))
				return false;
			cell->v.f += summary->sum.f;
			break;
		default:
			return false;
	}
	cell->n += n;
	return true;
}

/* See agg_private.h. */
void
strata_agg_take_count(StrataAggState *agg, const StrataRowCount *count)
{
	Assert(agg->nkeys == 0 && agg->stop.kind == AGG_STOP_NONE); /* agg:G17 */
	for (int i = 0; i < agg->ncalls; i++)
		agg_cell(agg->cells, &agg->calls[i])->n += count->rows;
	agg->counters.rows += count->rows;
	agg->counters.vectors += count->batches;
	agg->counters.runs += count->batches;
	agg->counters.summarized += count->batches;
	agg->counters.counted += count->batches;
	agg->counters.fetched += count->fetched;
}

/* See agg_private.h. */
bool
strata_agg_summarize(StrataAggState *agg, AggCall *call, AggCell *cell)
{
	AggVector  *vector = agg->vector;
	const AggValue *value;
	const StrataColumnSummary *summary;
	int64		n;

	Assert(vector->whole && call->filter == NULL);	/* agg:G1 */
	if (call->kernel->result == AGG_RESULT_BEST)
		return false;
	if (call->value < 0)
	{
		cell->n += vector->nselected;
		return true;
	}
	value = &agg->values[call->value];
	if (!strata_enable_summary_agg ||
		call->kernel->summary == AGG_SUMMARY_NONE || value->input < 0 ||
		(call->kernel->summary != AGG_SUMMARY_COUNT && !value->is_column))
		return false;
	summary = strata_batch_reader_summary(vector->batch->reader,
										  vector->attnos[value->input]);
	if (summary == NULL)
		return false;
	n = vector->batch->reader->nrows - summary->nnulls;
	if (call->kernel->summary == AGG_SUMMARY_COUNT)
		cell->n += n;
	else if (n == 0)
		return true;
	else if (call->kernel->summary == AGG_SUMMARY_SUM)
		return take_summed(call->kernel, cell, summary, n);
	else
	{
		if (!usable_range(call->kernel, summary))
			return false;
		take_extreme(call->kernel, cell,
					 call->kernel->summary == AGG_SUMMARY_MIN ? summary->min :
					 summary->max,
					 n);
	}
	return true;
}
