/*-------------------------------------------------------------------------
 *
 * catalog_bloom.c
 *	  The option strata.bloom: columns whose batches get filters.
 *
 * src/catalog/catalog_bloom.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog_private.h"

#include "base/base.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

/* The names in a text, or ereport; pieces of a copy of it. */
static List *
parse_bloom(const char *text)
{
	List	   *names;

	if (!SplitIdentifierString(pstrdup(text), ',', &names))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						strata_option_typed("bloom"), text),
				 errhint("Give a list of column names, such as 'trace_id, \"Tag\"'.")));
	return names;
}

/* See catalog_private.h: are values of the type found by their bytes? */
bool
strata_option_bloom_fits(Oid typid)
{
	Oid			base = getBaseType(typid);

	return base == TEXTOID || base == VARCHAROID || base == BYTEAOID ||
		base == UUIDOID;
}

/* See catalog_private.h. */
void
strata_option_bloom_check(Relation rel, const char *text)
{
	Bitmapset  *seen = NULL;
	ListCell   *lc;

	if (text == NULL)
		return;
	foreach(lc, parse_bloom(text))
	{
		const char *column = lfirst(lc);
		Form_pg_attribute att = strata_option_take_column(rel, "bloom", column,
														  &seen);

		if (!strata_option_bloom_fits(att->atttypid))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of type %s cannot be in strata.bloom",
							column, format_type_be(att->atttypid)),
					 errhint("Filters are kept for columns of types text, varchar, bytea and uuid.")));
	}
}

/* See catalog_private.h. */
bool *
strata_option_bloom_get(Relation rel)
{
	char	   *text = strata_option_inherited_text(rel, "bloom");
	TupleDesc	desc = RelationGetDescr(rel);
	bool	   *wanted = NULL;
	ListCell   *lc;

	if (text == NULL)
		return NULL;
	foreach(lc, parse_bloom(text))
	{
		Form_pg_attribute att = strata_option_find_column(desc, lfirst(lc));

		/* the column or its type may have changed since */
		if (att == NULL || !strata_option_bloom_fits(att->atttypid))
			continue;
		if (wanted == NULL)
			wanted = palloc0(sizeof(bool) * desc->natts);
		wanted[att->attnum - 1] = true;
	}
	return wanted;
}

/* See catalog_private.h. */
char *
strata_option_bloom_rewrite(const char *text, const char *old,
							const char *new_name)
{
	StringInfoData buf;
	bool		changed = false;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, parse_bloom(text))
	{
		const char *column = lfirst(lc);

		if (strcmp(column, old) == 0)
		{
			changed = true;
			if (new_name == NULL)
				continue;
			column = new_name;
		}
		appendStringInfo(&buf, "%s%s", buf.len > 0 ? ", " : "",
						 quote_identifier(column));
	}
	return changed ? buf.data : NULL;
}
