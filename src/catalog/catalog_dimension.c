/*-------------------------------------------------------------------------
 *
 * catalog_dimension.c
 *	  The option strata.dimensions: dimensions beside time, as they were asked
 *	  for.
 *
 * They make no partitions (docs/adr/023): 'hash(device, 4), range(ts, ''7
 * days'')' is what the views show.
 *
 * src/catalog/catalog_dimension.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog_private.h"

#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

#define OPTION "dimensions"

/* Any number of so many digits fits into a bigint. */
#define MAX_DIGITS 18

static void
refuse(const char *text)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for option \"strata." OPTION "\": \"%s\"",
					text),
			 errhint("Call add_dimension() and set_number_partitions(), which write it.")));
}

/* A number of partitions, or ereport. */
static int
read_number(const char *text, const char *number)
{
	char	   *end;
	long		value = strtol(number, &end, 10);

	if (*end != '\0' || value < 1 || value > PG_INT16_MAX)
		refuse(text);
	return (int) value;
}

/*
 * A length is a number or an interval; what else there is would make views
 * fail.
 */
static char *
read_interval(const char *text, char *length)
{
	volatile bool good = true;
	MemoryContext mcxt = CurrentMemoryContext;

	if (length[0] != '\0' && length[strspn(length, "0123456789")] == '\0')
	{
		if (strlen(length) > MAX_DIGITS)
			refuse(text);
		return length;
	}
	PG_TRY();
	{
		(void) DirectFunctionCall3(interval_in, CStringGetDatum(length),
								   ObjectIdGetDatum(InvalidOid),
								   Int32GetDatum(-1));
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(mcxt);
		FlushErrorState();
		good = false;
	}
	PG_END_TRY();
	if (!good)
		refuse(text);
	return length;
}

/* StrataDimensions of a text, or ereport. */
static List *
parse(const char *text)
{
	List	   *calls;
	List	   *dimensions = NIL;
	ListCell   *lc;

	if (text == NULL || text[strspn(text, " \t\r\n")] == '\0')
		return NIL;
	calls = strata_option_parse_calls(text);
	if (calls == NIL)
		refuse(text);
	foreach(lc, calls)
	{
		StrataOptionCall *call = lfirst(lc);
		StrataDimension *dimension = palloc0(sizeof(StrataDimension));

		if (list_length(call->columns) != 1 || call->constant == NULL)
			refuse(text);
		dimension->column = linitial(call->columns);
		if (strcmp(call->name, "hash") == 0)
			dimension->partitions = read_number(text, call->constant);
		else if (strcmp(call->name, "range") == 0)
			dimension->interval = read_interval(text, call->constant);
		else
			refuse(text);
		dimensions = lappend(dimensions, dimension);
	}
	return dimensions;
}

/* The dimensions as the option's text; palloc'd. */
static char *
format(List *dimensions)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, dimensions)
	{
		StrataDimension *dimension = lfirst(lc);

		if (buf.len > 0)
			appendStringInfoString(&buf, ", ");
		if (dimension->interval != NULL)
			appendStringInfo(&buf, "range(%s, %s)",
							 quote_identifier(dimension->column),
							 quote_literal_cstr(dimension->interval));
		else
			appendStringInfo(&buf, "hash(%s, %d)",
							 quote_identifier(dimension->column),
							 dimension->partitions);
	}
	return buf.data;
}

/* See catalog.h. */
List *
strata_dimensions_get(Oid relid)
{
	return parse(strata_settings_get_text(relid, OPTION));
}

/* See catalog.h. */
void
strata_dimensions_store(Oid relid, List *dimensions)
{
	strata_settings_store(relid,
						  list_make1(makeDefElem(pstrdup(OPTION),
												 (Node *) makeString(format(dimensions)), -1)),
						  false);
}

/* See catalog_private.h. */
void
strata_option_dimensions_check(Relation rel, const char *text)
{
	Bitmapset  *seen = NULL;
	ListCell   *lc;

	foreach(lc, parse(text))
		(void)
		strata_option_take_column(rel, OPTION,
								  ((StrataDimension *) lfirst(lc))->column,
								  &seen);
}

/* See catalog_private.h. */
char *
strata_option_dimensions_rewrite(const char *text, const char *old,
								 const char *new_name)
{
	List	   *dimensions = parse(text);
	bool		changed = false;
	ListCell   *lc;

	foreach(lc, dimensions)
	{
		StrataDimension *dimension = lfirst(lc);

		if (strcmp(dimension->column, old) != 0)
			continue;
		changed = true;
		if (new_name == NULL)
			dimensions = foreach_delete_current(dimensions, lc);
		else
			dimension->column = pstrdup(new_name);
	}
	return changed ? format(dimensions) : NULL;
}
