/*-------------------------------------------------------------------------
 *
 * gapfill_sequence.c
 *	  The buckets from start to finish, as time_bucket() would give them.
 *
 * src/gapfill/gapfill_sequence.c
 *-------------------------------------------------------------------------
 */
#include "gapfill/gapfill_private.h"

#include "catalog/pg_type.h"

/* A bound must be a finite time within the limits of what can be shown. */
static void
check_bound(Oid type, NullableDatum bound, const char *name)
{
	if (bound.isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time_bucket_gapfill argument: %s cannot be NULL",
						name),
				 errhint("Specify start and finish as arguments or in the WHERE clause.")));
	if (strata_bucket_is_infinite(type, strata_bucket_get(type, bound.value)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time_bucket_gapfill argument: %s must be finite",
						name),
				 errhint("Specify start and finish as arguments or in the WHERE clause.")));
}

/* See gapfill_private.h. */
void
strata_gapfill_sequence_init(GapfillSequence *seq, Oid type,
							 NullableDatum width, bool zoned,
							 NullableDatum zone, NullableDatum start,
							 NullableDatum finish)
{
	int64		time;
	bool		found;

	if (width.isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time_bucket_gapfill argument: bucket_width cannot be NULL")));
	if (zoned && zone.isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid time_bucket_gapfill argument: timezone cannot be NULL")));
	check_bound(type, start, "start");
	check_bound(type, finish, "finish");

	memset(seq, 0, sizeof(*seq));
	seq->zoned = zoned;
	seq->finish = strata_bucket_get(type, finish.value);
	time = strata_bucket_get(type, start.value);
	if (zoned)
	{
		strata_zone_bucket_init(&seq->zone, width.value, zone.value);
		found = strata_zone_bucket_start(&seq->zone, time, &seq->first);
	}
	else
	{
		strata_bucket_init(&seq->rule, type, width.value);
		found = strata_bucket_start(&seq->rule, time, &seq->first);
	}
	if (!found)
		ereport(ERROR,
				(errcode(!zoned && seq->rule.unit == 0 ?
						 ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE :
						 ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("invalid time_bucket_gapfill argument: start out of range")));
	Assert(seq->first <= time); /* gapfill:F2 */
	strata_gapfill_sequence_reset(seq);
}

/* See gapfill_private.h. */
void
strata_gapfill_sequence_reset(GapfillSequence *seq)
{
	seq->next = seq->first;
	seq->more = true;
}

/* See gapfill_private.h. */
bool
strata_gapfill_sequence_next(GapfillSequence *seq, int64 *bucket)
{
	if (!seq->more || seq->next >= seq->finish)
		return false;
	*bucket = seq->next;
	seq->more = seq->zoned ?
		strata_zone_bucket_next(&seq->zone, seq->next,
								&seq->next) :
		strata_bucket_next(&seq->rule, seq->next, &seq->next);
	Assert(*bucket >= seq->first && *bucket < seq->finish); /* gapfill:F2 */
	Assert(!seq->more || seq->next > *bucket);	/* gapfill:F2 */
	return true;
}
