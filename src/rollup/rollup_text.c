/*-------------------------------------------------------------------------
 *
 * rollup_text.c
 *	  The text of strata.archives: tiers, and how long each is kept.
 *
 *	  raw for 7 days, 1 minute for 90 days, 1 hour for 5 years, 1 day
 *
 * An item is a width, or the word "raw" for the rows themselves, then "for"
 * and an interval (without: for ever), then "as" and a name (without: one is
 * made of the view's).  With integer time widths and intervals are numbers.
 *
 * src/rollup/rollup_text.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "base/base.h"
#include "base/compat.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "catalog/pg_type.h"
#include "common/int.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

#define EXAMPLE "strata.archives = 'raw for 7 days, 1 minute for 90 days, 1 hour for 5 years, 1 day'"

static void
refuse_text(const char *what, const char *item)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value of option \"%s\"",
					strata_option_typed("archives")),
			 errdetail("%s: \"%s\".", what, item),
			 errhint("Finer tiers come first: %s.", EXAMPLE)));
}

/* Is it what interval_in() takes? */
static bool
is_interval(const char *text)
{
	char		buffer[256];
	char	   *field[MAXDATEFIELDS];
	int			ftype[MAXDATEFIELDS];
	int			nf;
	int			dtype;
	struct pg_itm_in itm;

	return ParseDateTime(text, buffer, sizeof(buffer), field, ftype,
						 MAXDATEFIELDS, &nf) == 0 &&
		DecodeInterval(field, ftype, nf, INTERVAL_FULL_RANGE, &dtype,
					   &itm) == 0 && dtype == DTK_DELTA;
}

/* About how long an interval is, in microseconds; a month has 30 days. */
static int64
about_length(const Interval *interval)
{
	int64		days;
	int64		length;

	days = (int64) interval->month * DAYS_PER_MONTH + interval->day;
	if (pg_mul_s64_overflow(days, USECS_PER_DAY, &length) ||
		pg_add_s64_overflow(length, interval->time, &length))
		return days > 0 ? PG_INT64_MAX : 0;
	return length;
}

/*
 * A width or how long something is kept, as a value of the type and about how
 * long that is; ereports on one that is none.
 */
static Datum
read_duration(const char *text, Oid type, int64 *length)
{
	Datum		value;

	if (type != INTERVALOID)
	{
		char	   *end;

		errno = 0;
		*length = strtoll(text, &end, 10);
		if (end == text || *end != '\0' || errno != 0)
			refuse_text(_("This is no whole number"), text);
		value = Int64GetDatum(*length);
	}
	else
	{
		if (!is_interval(text))
			refuse_text(_("This is no interval"), text);
		value = DirectFunctionCall3(interval_in, CStringGetDatum(text),
									ObjectIdGetDatum(InvalidOid),
									Int32GetDatum(-1));
		if (STRATA_INTERVAL_IS_INFINITE(DatumGetIntervalP(value)))
			refuse_text(_("This has no end"), text);
		*length = about_length(DatumGetIntervalP(value));
	}
	if (*length <= 0)
		refuse_text(_("This is not longer than nothing"), text);
	return value;
}

/* Cut the text at a word that stands alone; what follows it, or NULL. */
static char *
cut_at_word(char *text, const char *word)
{
	size_t		n = strlen(word);

	for (char *c = text; *c != '\0'; c++)
	{
		if ((c == text || scanner_isspace(c[-1])) &&
			pg_strncasecmp(c, word, n) == 0 &&
			(c[n] == '\0' || scanner_isspace(c[n])))
		{
			*c = '\0';
			return c + n;
		}
	}
	return NULL;
}

static char *
trim(char *text)
{
	char	   *end;

	while (scanner_isspace(*text))
		text++;
	end = text + strlen(text);
	while (end > text && scanner_isspace(end[-1]))
		*--end = '\0';
	return text;
}

/* "x" as typed, with "" for a quote; NULL: not a whole name, or too long. */
static char *
read_quoted(const char *text)
{
	StringInfoData name;
	const char *c = text + 1;

	initStringInfo(&name);
	for (; *c != '\0' && (c[0] != '"' || c[1] == '"'); c++)
	{
		c += *c == '"';
		appendStringInfoChar(&name, *c);
	}
	return c[0] == '"' && c[1] == '\0' && name.len > 0 &&
		name.len < NAMEDATALEN ? name.data : NULL;
}

/* "x" as typed, or folded to lower case. */
static char *
read_name(char *text, const char *item)
{
	size_t		n = strlen(text);
	char	   *quoted = text[0] == '"' ? read_quoted(text) : NULL;

	if (quoted != NULL)
		return quoted;
	if (n == 0 || n >= NAMEDATALEN || strchr(text, '"') != NULL ||
		strpbrk(text, " \t\n.") != NULL)
		refuse_text(_("\"as\" is followed by one name"), item);
	return downcase_identifier(text, n, false, false);
}

/* One item. */
static StrataTier *
read_item(char *text, Oid type)
{
	StrataTier *tier = palloc0(sizeof(StrataTier));
	char	   *item = pstrdup(text);
	char	   *name = cut_at_word(text, "as");
	char	   *keep = cut_at_word(text, "for");
	char	   *width = trim(text);

	tier->keep_length = PG_INT64_MAX;
	if (keep != NULL)
	{
		tier->keep = pstrdup(trim(keep));
		(void) read_duration(tier->keep, type, &tier->keep_length);
	}
	if (pg_strcasecmp(width, "raw") == 0)
	{
		if (keep == NULL || name != NULL)
			refuse_text(_("\"raw\" is followed by \"for\" and how long rows are kept"),
						item);
		return tier;
	}
	if (width[0] == '\0')
		refuse_text(_("A tier has a width"), item);
	tier->width = pstrdup(width);
	tier->value = read_duration(width, type, &tier->length);
	if (name != NULL)
		tier->name = read_name(trim(name), item);
	return tier;
}

/* Each is wider than the one before, and kept longer. */
static void
check_growth(const List *tiers)
{
	StrataTier *before = NULL;
	ListCell   *lc;

	foreach(lc, tiers)
	{
		StrataTier *tier = lfirst(lc);

		if (before != NULL && tier->width == NULL)
			refuse_text(_("\"raw\" comes first"), psprintf("raw for %s", tier->keep));
		if (before != NULL && tier->length <= before->length)
			refuse_text(_("This is not wider than the tier before"),
						tier->width);
		if (before != NULL && before->keep == NULL)
			refuse_text(_("The tier before is kept for ever"), tier->width);
		if (before != NULL && tier->keep_length <= before->keep_length)
			refuse_text(_("This is not kept longer than the tier before"),
						psprintf("%s for %s", tier->width, tier->keep));
		if (tier->width != NULL && tier->keep_length < tier->length)
			refuse_text(_("This is kept for less than a bucket"),
						psprintf("%s for %s", tier->width, tier->keep));
		before = tier;
	}
}

/* See rollup_private.h. */
List *
strata_rollup_read_tiers(const char *text, Oid time_type)
{
	Oid			type = strata_time_type_is_integer(time_type) ? INT8OID :
	INTERVALOID;
	List	   *tiers = NIL;
	char	   *copy = pstrdup(text);
	char	   *item = copy;
	bool		quoted = false;
	ListCell   *lc;
	int			widths = 0;

	for (char *c = copy;; c++)
	{
		bool		end = *c == '\0';

		if (*c == '"')
			quoted = !quoted;
		if (!end && (*c != ',' || quoted))
			continue;
		*c = '\0';
		tiers = lappend(tiers, read_item(trim(item), type));
		if (end)
			break;
		item = c + 1;
	}
	foreach(lc, tiers)
		widths += ((StrataTier *) lfirst(lc))->width != NULL;
	if (widths == 0)
		refuse_text(_("There is no tier in it"), text);
	check_growth(tiers);
	Assert(list_length(tiers) >= widths);	/* rollup:Z5 */
	return tiers;
}
