/*-------------------------------------------------------------------------
 *
 * hook_option.c
 *	  Options in CREATE and ALTER TABLE, and settings that were TimescaleDB's:
 *	  taken out of a statement, checked, applied.
 *
 * src/hook/hook_option.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog.h"
#include "hook/hook_private.h"
#include "hypertable/hypertable.h"
#include "index/index.h"
#include "rollup/rollup.h"
#include "store/store.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

/* See hook_private.h. */
List *
strata_hook_take_options(List **options)
{
	List	   *ours = NIL;
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, *options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const char *name;

		if (!strata_settings_is_option(def, &name))
			others = lappend(others, def);
		else if (name == NULL)
			strata_compat_tell_ignored(def);
		else
		{
			bool		typed;

			typed = def->defnamespace != NULL &&
				strcmp(def->defnamespace, "strata") != 0;
			def = copyObject(def);
			Assert(def != lfirst(lc));	/* hook:H2 */
			def->defnamespace = typed ? psprintf("%s.%s", def->defnamespace,
												 def->defname) :
				NULL;
			def->defname = pstrdup(name);
			ours = lappend(ours, def);
		}
	}
	*options = others;
	return ours;
}

/* See hook_private.h. */
bool
strata_hook_has_options(List *options)
{
	ListCell   *lc;
	const char *name;

	foreach(lc, options)
	{
		if (strata_settings_is_option(lfirst_node(DefElem, lc), &name))
			return true;
	}
	return false;
}

/* The order that a hypertable has by default gives way to a segmentby. */
static void
yield_order(Oid relid, List *set)
{
	const char *segmentby = NULL;
	ListCell   *lc;

	foreach(lc, set)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "orderby") == 0)
			return;
		if (strcmp(def->defname, "segmentby") == 0 && def->arg != NULL)
			segmentby = defGetString(def);
	}
	if (segmentby != NULL)
		strata_hypertable_yield_order(relid, segmentby);
}

/*
 * Filters of columns were asked for, of which batches keep none: say which
 * index does the same, where none does yet.
 */
static void
tell_of_filters(Relation rel, const Bitmapset *columns)
{
	int			attno = -1;

	while ((attno = bms_next_member(columns, attno)) >= 0)
	{
		const char *column = get_attname(RelationGetRelid(rel),
										 (AttrNumber) attno, false);
		const char *obstacle;

		if (strata_index_finds_equal(rel, (AttrNumber) attno, &obstacle))
			continue;
		ereport(NOTICE,
				(errmsg("option \"%s\" keeps no filter of column \"%s\"",
						strata_option_typed("sparse_index"), column),
				 obstacle != NULL ? errdetail_internal("%s", obstacle) :
				 errdetail("An index leads to the batches that have a value."),
				 obstacle != NULL ? 0 :
				 errhint("%s",
						 strata_option_index_statement(rel,
													   column))));
	}
}

/* Check and store options of a table, which may have just been made. */
static void
apply(Oid relid, List *set, List *reset, bool is_new)
{
	Relation	rel = table_open(relid, ShareUpdateExclusiveLock);

	if (!is_new)
	{
		strata_settings_refuse_internal(set, false);
		strata_settings_refuse_internal(reset, true);
	}

	if (!strata_relation_is_strata(rel) &&
		rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE && set != NIL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" does not use the access method strata",
						RelationGetRelationName(rel)),
				 errhint("ALTER TABLE %s SET ACCESS METHOD strata;",
						 quote_identifier(RelationGetRelationName(rel)))));
	if (reset != NIL)
	{
		List	   *names = NIL;
		ListCell   *lc;

		/* only the names count; the texts need not be valid */
		foreach(lc, reset)
		{
			DefElem    *def = copyObject(lfirst_node(DefElem, lc));

			def->arg = (Node *) makeString("");
			names = lappend(names, def);
		}
		(void) strata_compat_take_sparse_index(rel, &names);
		strata_settings_check(rel, names);
		strata_settings_store(relid, names, true);
	}
	if (set != NIL)
	{
		Bitmapset  *filters = strata_compat_take_sparse_index(rel, &set);

		yield_order(relid, set);
		strata_settings_check(rel, set);
		strata_hypertable_check_options(rel, set, is_new);
		strata_rollup_check_options(set);
		strata_settings_store(relid, strata_hypertable_own_options(set),
							  false);
		tell_of_filters(rel, filters);
	}
	table_close(rel, NoLock);
}

/*
 * Is a hypertable made in TimescaleDB's words, whose chunks are to be
 * compressed?
 */
static bool
wants_policy(List *options)
{
	bool		hypertable = false;
	bool		columnstore = true;
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "hypertable") == 0 &&
			def->defnamespace != NULL)
			hypertable = strata_option_bool(def);
		else if (strcmp(def->defname, "columnstore") == 0)
			columnstore = strata_option_bool(def);
	}
	return hypertable && columnstore;
}

/* What was said of a table that has just been made. */
static void
apply_new(Oid relid, List *ours)
{
	bool		policy = wants_policy(ours);

	strata_hypertable_create_with(relid, &ours);
	if (ours != NIL)
		apply(relid, ours, NIL, true);
	if (!policy)
		return;
	strata_sql_run(psprintf("SELECT " STRATA_INTERNAL_SCHEMA
							".add_default_policy(%u::pg_catalog.oid::pg_catalog.regclass)",
							relid));
}

/* Call one of the two with what was typed remembered for messages. */
static void
apply_typed(Oid relid, List *set, List *reset, bool is_new)
{
	/* a list of its own: options are taken out of the other one */
	strata_option_remember_typed(list_concat_copy(set, reset));
	PG_TRY();
	{
		if (is_new)
			apply_new(relid, set);
		else
			apply(relid, set, reset, false);
	}
	PG_FINALLY();
	{
		strata_option_remember_typed(NIL);
	}
	PG_END_TRY();
}

/* See hook_private.h. */
void
strata_hook_apply_options(Oid relid, List *set, List *reset)
{
	apply_typed(relid, set, reset, false);
}

/* See hook_private.h. */
void
strata_hook_apply_new_options(Oid relid, List *options)
{
	apply_typed(relid, options, NIL, true);
}

/* See hook_private.h. */
void
strata_hook_check_setting(VariableSetStmt *stmt)
{
	const char *name;
	char	   *value;
	bool		on;

	if (stmt->kind != VAR_SET_VALUE ||
		!strata_compat_knows_setting(stmt->name, &name))
		return;
	value = ExtractSetVariableArgs(stmt);
	if (strcmp(name, "default_chunk_time_interval") == 0)
	{
		if (value[0] != '\0' && pg_strcasecmp(value, "null") != 0)
			(void) strata_time_interval_from_text(TIMESTAMPTZOID, value);
	}
	else if (strcmp(name, "enable_direct_compress_copy") == 0 ||
			 strcmp(name, "enable_direct_compress_insert") == 0)
	{
		if (!parse_bool(value, &on))
			ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
							errmsg("parameter \"%s\" requires a Boolean value",
								   stmt->name)));
	}
	else
		ereport(NOTICE,
				(errmsg("setting \"%s\" has no effect", stmt->name)));
}
