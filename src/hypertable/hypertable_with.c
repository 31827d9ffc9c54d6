/*-------------------------------------------------------------------------
 *
 * hypertable_with.c
 *	  CREATE TABLE ... WITH (strata.hypertable, strata.partition_column =
 *	  'ts').
 *
 * src/hypertable/hypertable_with.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog.h"
#include "hypertable/hypertable_private.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"

/* Take the option of that name off the list. */
static DefElem *
take(List **options, const char *name)
{
	ListCell   *lc;

	foreach(lc, *options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, name) == 0)
		{
			*options = foreach_delete_current(*options, lc);
			return def;
		}
	}
	return NULL;
}

/* Another option in the spelling of one that was typed. */
static char *
beside(const char *name, const char *other)
{
	const char *typed = strata_option_typed(name);

	return psprintf("%.*s.%s", (int) strcspn(typed, "."), typed, other);
}

/* The one column that can only be the time, when nobody named it. */
static char *
guess_column(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	TupleDesc	desc = RelationGetDescr(rel);
	char	   *column = NULL;
	int			found = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (strata_attribute_is_kept(att) &&
			(att->atttypid == TIMESTAMPTZOID || att->atttypid == TIMESTAMPOID))
		{
			column = pstrdup(NameStr(att->attname));
			found++;
		}
	}
	table_close(rel, NoLock);
	if (found != 1)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("option \"%s\" needs the time column",
							   strata_option_typed("hypertable")),
						errhint("WITH (%s, %s = 'name of the time column')",
								strata_option_typed("hypertable"),
								beside("hypertable", "partition_column"))));
	return column;
}

/* See hypertable.h. */
void
strata_hypertable_create_with(Oid relid, List **options)
{
	StrataHypertableRequest request = {.default_indexes = true};
	DefElem    *wanted = take(options, "hypertable");
	DefElem    *column = take(options, "partition_column");
	DefElem    *indexes = take(options, "create_default_indexes");
	DefElem    *interval;

	if (wanted == NULL || !strata_option_bool(wanted))
	{
		const char *name;

		name = column != NULL ? "partition_column" : "create_default_indexes";
		if (column != NULL || indexes != NULL)
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("option \"%s\" needs option \"%s\"",
								   strata_option_typed(name),
								   beside(name, "hypertable"))));
		return;
	}
	request.column = column != NULL ? defGetString(column) :
		guess_column(relid);
	if (indexes != NULL)
		request.default_indexes = strata_option_bool(indexes);
	interval = take(options, STRATA_OPTION_INTERVAL);
	if (interval != NULL)
		request.interval_text = defGetString(interval);
	strata_hypertable_create(relid, &request);
}
