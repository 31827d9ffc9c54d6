/*-------------------------------------------------------------------------
 *
 * chunk_leave.c
 *	  Tables that become chunks, and chunks that are dropped or become tables.
 *
 * A table that is not a chunk has nobody to inherit settings from: a detached
 * chunk takes along those that it used, and gives them up again when it is
 * attached where they are the same.
 *
 * src/hypertable/chunk_leave.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog.h"
#include "hypertable/hypertable_private.h"
#include "store/store.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

/* Settings that a chunk has from its hypertable unless it has its own. */
static const char *const inherited[] = {"segmentby", "orderby", "codec_level",
"codecs"};

static bool
is_strata_table(Oid relid)
{
	Relation	rel = table_open(relid, NoLock);
	bool		strata = strata_relation_is_strata(rel);

	table_close(rel, NoLock);
	return strata;
}

static DefElem *
option(const char *name, const char *value)
{
	return makeDefElem(pstrdup(name), (Node *) makeString(pstrdup(value)), -1);
}

/* See hypertable.h. */
bool
strata_hypertable_is_referenced(Oid hypertable)
{
	Relation	rel = table_open(hypertable, NoLock);
	TriggerDesc *triggers = rel->trigdesc;
	bool		referenced = false;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
		referenced |= RI_FKey_trigger_type(triggers->triggers[i].tgfoid) ==
			RI_TRIGGER_PK;
	table_close(rel, NoLock);
	return referenced;
}

static void
detach(Oid hypertable, Oid chunk)
{
	strata_sql_run(psprintf("ALTER TABLE %s DETACH PARTITION %s",
							strata_sql_name(hypertable),
							strata_sql_name(chunk)));
}

/* See hypertable.h. */
void
strata_chunk_drop(const StrataHypertable *ht, const List *chunks)
{
	ObjectAddresses *objects = new_object_addresses();
	ListCell   *lc;

	if (strata_hypertable_is_referenced(ht->relid))
	{
		/*
		 * a foreign key holds on to its chunks; DETACH looks whether rows do
		 */
		StrataOwnerContext saved;

		strata_owner_enter(strata_relation_owner(ht->relid), &saved);
		foreach(lc, chunks)
			detach(ht->relid, lfirst_oid(lc));
		strata_owner_leave(&saved);
	}
	foreach(lc, chunks)
	{
		ObjectAddress object;

		ObjectAddressSet(object, RelationRelationId, lfirst_oid(lc));
		add_exact_object_address(&object, objects);
	}
	performMultipleDeletions(objects, DROP_RESTRICT, 0);
	free_object_addresses(objects);
}

/*
 * See hypertable_private.h.  The settings in force become the chunk's own.
 */
void
strata_chunk_keep_settings(Oid hypertable, Oid chunk)
{
	List	   *options = NIL;
	bool		own_order;

	own_order = strata_settings_get_text(chunk, "segmentby") != NULL ||
		strata_settings_get_text(chunk, "orderby") != NULL;
	for (int i = 0; i < (int) lengthof(inherited); i++)
	{
		char	   *value = strata_settings_get_text(hypertable, inherited[i]);

		/* the first two belong together */
		if (value != NULL &&
			(i < 2 ? !own_order :
			 strata_settings_get_text(chunk, inherited[i]) == NULL))
			options = lappend(options, option(inherited[i], value));
	}
	if (options != NIL)
		strata_settings_store(chunk, options, false);
}

/* See hypertable.h. */
void
strata_chunk_detach(Oid hypertable, Oid chunk)
{
	StrataOwnerContext saved;

	strata_owner_enter(strata_relation_owner(hypertable), &saved);
	detach(hypertable, chunk);
	if (is_strata_table(chunk))
		strata_chunk_keep_settings(hypertable, chunk);
	strata_owner_leave(&saved);
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* What is the hypertable's setting anyway need not be the chunk's own. */
static void
shed_settings(Oid hypertable, Oid chunk)
{
	List	   *options = NIL;
	bool		same[lengthof(inherited)];

	for (int i = 0; i < (int) lengthof(inherited); i++)
		same[i] = same_text(strata_settings_get_text(hypertable, inherited[i]),
							strata_settings_get_text(chunk, inherited[i]));
	same[0] = same[1] = same[0] && same[1];
	for (int i = 0; i < (int) lengthof(inherited); i++)
		if (same[i])
			options = lappend(options, option(inherited[i], ""));
	if (options != NIL)
		strata_settings_store(chunk, options, true);
}

/* See hypertable.h. */
void
strata_chunk_adopt(const StrataHypertable *ht, Oid table,
				   const StrataChunkRange *range)
{
	StrataOwnerContext saved;
	bool		strata = is_strata_table(table);

	strata_owner_enter(strata_relation_owner(ht->relid), &saved);
	if (!ht->has_function)
	{
		char	   *column = get_attname(ht->relid, ht->attno, false);
		AttrNumber	attno = get_attnum(table, column);

		if (attno > 0)
			strata_sql_run(psprintf("ALTER TABLE %s ALTER COLUMN %s SET NOT NULL",
									strata_sql_name(table),
									quote_identifier(column)));
	}
	if (strata)
	{
		shed_settings(ht->relid, table);
		if (strata_settings_get_text(table, STRATA_OPTION_CREATED) == NULL)
			strata_settings_store(table,
								  list_make1(option(STRATA_OPTION_CREATED,
													timestamptz_to_str(GetCurrentTimestamp()))),
								  false);
	}
	strata_chunk_attach(table, ht, range);
	strata_owner_leave(&saved);
}
