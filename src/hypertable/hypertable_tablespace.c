/*-------------------------------------------------------------------------
 *
 * hypertable_tablespace.c
 *	  The tablespaces that the chunks of a hypertable are put into in turn.
 *
 * They stand in the option strata.tablespaces; without it, the tablespace of
 * the hypertable itself is the only one.  Which one a chunk gets follows from
 * its range, so sessions that make chunks at the same time need not talk.
 *
 * src/hypertable/hypertable_tablespace.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog.h"
#include "hypertable/hypertable_private.h"

#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

/* See hypertable.h. */
List *
strata_hypertable_tablespaces(Oid relid)
{
	char	   *text = strata_settings_get_text(relid,
												STRATA_OPTION_TABLESPACES);
	Oid			own = get_rel_tablespace(relid);
	char	   *name;

	if (text != NULL)
		return strata_tablespaces_parse(text);
	name = OidIsValid(own) ? get_tablespace_name(own) : NULL;
	return name != NULL ? list_make1(name) : NIL;
}

/* See hypertable.h. */
void
strata_hypertable_set_tablespaces(Oid relid, List *names)
{
	StringInfoData text;
	ListCell   *lc;

	initStringInfo(&text);
	foreach(lc, names)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "",
						 quote_identifier(lfirst(lc)));
	/* an empty list says that the hypertable's own does not count either */
	strata_settings_store(relid,
						  list_make1(makeDefElem(pstrdup(STRATA_OPTION_TABLESPACES),
												 (Node *) makeString(text.data), -1)),
						  names == NIL &&
						  !OidIsValid(get_rel_tablespace(relid)));
}

/* See hypertable_private.h. */
void
strata_hypertable_forget_tablespaces(Oid relid)
{
	if (strata_settings_get_text(relid, STRATA_OPTION_TABLESPACES) != NULL)
		strata_settings_store(relid,
							  list_make1(makeDefElem(pstrdup(STRATA_OPTION_TABLESPACES), NULL,
													 -1)),
							  true);
}

/* See hypertable_private.h. */
Oid
strata_chunk_tablespace(const StrataHypertable *ht,
						const StrataChunkRange *range)
{
	List	   *oids = NIL;
	int64		turn;
	ListCell   *lc;

	foreach(lc, strata_hypertable_tablespaces(ht->relid))
	{
		/* one that is gone is passed over */
		Oid			tablespace = get_tablespace_oid(lfirst(lc), true);

		if (OidIsValid(tablespace))
			oids = lappend_oid(oids, tablespace);
	}
	if (oids == NIL)
		return InvalidOid;
	turn = range->no_lo ?
		0 :
		strata_time_chunk_number(ht->key_type, ht->interval, range->lo);
	turn %= list_length(oids);
	return list_nth_oid(oids,
						(int) (turn < 0 ? turn + list_length(oids) : turn));
}

/* See hypertable_private.h. */
void
strata_chunk_indexes_into(const StrataHypertable *ht, Oid tablespace)
{
	if (OidIsValid(tablespace) &&
		strata_settings_get_text(ht->relid, STRATA_OPTION_TABLESPACES) != NULL)
		(void) set_config_option("default_tablespace",
								 quote_identifier(get_tablespace_name(tablespace)), PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
}
