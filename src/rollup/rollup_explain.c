/*-------------------------------------------------------------------------
 *
 * rollup_explain.c
 *	  What a plan uses of archives, in words.
 *
 * src/rollup/rollup_explain.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "base/base.h"
#include "hypertable/hypertable.h"

#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* More buckets than these are not counted one by one. */
#define MAX_COUNTED 100000

/* A time as its type shows it; a start or an end that is none: NULL. */
static char *
time_in_words(const StrataRollup *rollup, int64 time)
{
	Oid			output;
	bool		is_varlena;

	if (time == PG_INT64_MIN || time == PG_INT64_MAX)
		return NULL;
	getTypeOutputInfo(rollup->bucket.type, &output, &is_varlena);
	return OidOutputFunctionCall(output,
								 strata_time_to_datum(rollup->bucket.type,
													  time));
}

/* How many buckets the ranges have; -1: many. */
static int64
buckets_of_ranges(const StrataRollup *rollup, const StrataRanges *ranges)
{
	StrataRollupBucket bucket = rollup->bucket;
	const StrataBucket *rule = strata_rollup_rule(&bucket);
	int64		n = 0;

	for (int i = 0; i < ranges->n; i++)
	{
		int64		at = ranges->r[i].lo;

		if (at == PG_INT64_MIN || ranges->r[i].hi == PG_INT64_MAX)
			return -1;
		if (!bucket.zoned && rule->months == 0)
		{
			n += (ranges->r[i].hi - at) / rule->width;
			continue;
		}
		while (at < ranges->r[i].hi)
		{
			if (++n > MAX_COUNTED ||
				!strata_rollup_bucket_next(&bucket, at, &at))
				return -1;
		}
	}
	return n;
}

/* "717 buckets from .. to .." */
static char *
describe_ranges(const StrataRollup *rollup, const StrataRanges *ranges)
{
	int64		n = buckets_of_ranges(rollup, ranges);
	char	   *lo = time_in_words(rollup, ranges->r[0].lo);
	char	   *hi = time_in_words(rollup, ranges->r[ranges->n - 1].hi);
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, get_rel_name(rollup->view));
	if (n >= 0)
		appendStringInfo(&text, ", " INT64_FORMAT " %s", n,
						 n == 1 ? "bucket" : "buckets");
	if (lo != NULL)
		appendStringInfo(&text, " from %s", lo);
	if (hi != NULL)
		appendStringInfo(&text, " to %s", hi);
	return text.data;
}

/* What lies between ranges, and on either side of them within the bounds. */
static char *
describe_rest(const StrataRollup *rollup, const StrataRanges *ranges,
			  const List *bounds)
{
	StrataRanges gaps = {0};
	StringInfoData text;
	int64		lo;
	int64		hi;
	int64		from = ranges->r[0].lo;
	int64		to = ranges->r[ranges->n - 1].hi;

	initStringInfo(&text);
	if (!strata_rollup_window(bounds, rollup->time_type, NULL, &lo, &hi))
	{
		lo = PG_INT64_MIN;
		hi = PG_INT64_MAX;
	}
	if (lo < from && from != PG_INT64_MIN)
		appendStringInfo(&text, "before %s", time_in_words(rollup, from));
	strata_ranges_add(&gaps, strata_range(from, to));
	strata_ranges_remove(&gaps, ranges);
	if (gaps.n > 0)
	{
		int64		n = buckets_of_ranges(rollup, &gaps);

		appendStringInfo(&text, "%s" INT64_FORMAT " %s between",
						 text.len > 0 ? ", " : "", n,
						 n == 1 ? "bucket" : "buckets");
	}
	if (hi > to && to != PG_INT64_MAX)
		appendStringInfo(&text, "%sfrom %s", text.len > 0 ? ", " : "",
						 time_in_words(rollup, to));
	return text.len > 0 ? text.data : NULL;
}

static List *
add_line(List *lines, const char *label, const char *text)
{
	return lappend(lines, list_make2(makeString(pstrdup(label)),
									 makeString(pstrdup(text))));
}

/* See rollup.h. */
List *
strata_rollup_describe_uses(const List *uses)
{
	List	   *lines = NIL;
	ListCell   *lc;

	foreach(lc, uses)
	{
		List	   *use = lfirst(lc);
		StrataRanges ranges = {0};
		List	   *bounds = NIL;
		bool		kept = IsA(linitial(use), String);
		StrataRollup *rollup;
		const char *rest;
		Oid			view;

		if (IsA(linitial(use), Integer))
			continue;
		if (kept)
		{
			view = (Oid) strtoul(strVal(linitial(use)), NULL, 10);
			strata_rollup_read_ranges(STRATA_ROLLUP_OPTION_KEPT,
									  strVal(lsecond(use)), &ranges);
		}
		else
			view = strata_rollup_read_use(use, &ranges, &bounds);
		rollup = ranges.n > 0 ? strata_rollup_open(view, true) : NULL;
		if (rollup == NULL)
			continue;
		Assert(ranges.r[0].lo < ranges.r[0].hi);	/* rollup:Z1 */
		lines = add_line(lines, kept ? "Archive of Rows That Are Gone" :
						 "Archive", describe_ranges(rollup, &ranges));
		rest = kept ? NULL : describe_rest(rollup, &ranges, bounds);
		if (rest != NULL)
			lines = add_line(lines, "Computed from Rows", rest);
	}
	return lines;
}
