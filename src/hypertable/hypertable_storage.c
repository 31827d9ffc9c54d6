/*-------------------------------------------------------------------------
 *
 * hypertable_storage.c
 *	  Storage options of a hypertable: fillfactor, autovacuum, toast.*.
 *
 * PostgreSQL takes none on a partitioned table.  They are kept as one option
 * of ours, strata.chunk_options, a text as ALTER TABLE SET takes it, and are
 * what new chunks are made with; ALTER TABLE SET and RESET change that text
 * and the chunks that are there.  The text is parsed and written anew wherever
 * it goes into a statement.
 *
 * src/hypertable/hypertable_storage.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog.h"
#include "hypertable/hypertable_private.h"

#include "access/reloptions.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/defrem.h"
#include "commands/event_trigger.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

/* The one list of options in ALTER TABLE x SET (text), or false. */
static bool
parse_storage_options(const char *text, List **options)
{
	List	   *parsed = raw_parser(psprintf("ALTER TABLE x SET (%s)", text),
									RAW_PARSE_DEFAULT);
	AlterTableStmt *stmt;
	AlterTableCmd *cmd;

	stmt = list_length(parsed) == 1 ?
		(AlterTableStmt *) linitial_node(RawStmt, parsed)->stmt : NULL;
	if (stmt == NULL || !IsA(stmt, AlterTableStmt) ||
		list_length(stmt->cmds) != 1)
		return false;
	cmd = linitial_node(AlterTableCmd, stmt->cmds);
	*options = (List *) cmd->def;
	return cmd->subtype == AT_SetRelOptions;
}

/* The same, false also for what is no SQL. */
static bool
parse_quietly(const char *text, List **options)
{
	MemoryContext mcxt = CurrentMemoryContext;
	volatile bool good = false;

	PG_TRY();
	{
		good = parse_storage_options(text, options);
	}
	PG_CATCH();
	{
		/* only syntax errors can come out of the raw parser */
		MemoryContextSwitchTo(mcxt);
		FlushErrorState();
	}
	PG_END_TRY();
	return good;
}

/*
 * As CREATE TABLE would: ereport on what is no storage option, or no value of
 * it.
 */
static void
check(List *options)
{
	static StrataOptionNamespace namespaces[] = HEAP_RELOPT_NAMESPACES;

	(void) heap_reloptions(RELKIND_RELATION,
						   transformRelOptions((Datum) 0, options, NULL,
											   namespaces, false, false),
						   true);
	(void) heap_reloptions(RELKIND_TOASTVALUE,
						   transformRelOptions((Datum) 0, options, "toast",
											   namespaces, false, false),
						   true);
}

/* See hypertable_private.h. */
List *
strata_storage_options_parse(const char *text)
{
	List	   *options;

	if (text[strspn(text, " \t\r\n")] == '\0')
		return NIL;
	if (!parse_quietly(text, &options))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for parameter \"strata." STRATA_OPTION_CHUNK_OPTIONS
						"\": \"%s\"",
						text),
				 errhint("Write options as in ALTER TABLE SET: 'fillfactor = 90, autovacuum_enabled = off'.")));
	check(options);
	return options;
}

/* See hypertable_private.h. */
void
strata_storage_options_append(StringInfo text, List *options,
							  const char *prefix)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const char *name;

		if (strata_settings_is_option(def, &name))
			continue;
		appendStringInfoString(text, text->len > 0 ? ", " : "");
		if (def->defnamespace != NULL)
			appendStringInfo(text, "%s.", quote_identifier(def->defnamespace));
		appendStringInfo(text, "%s%s = %s", prefix,
						 quote_identifier(def->defname),
						 quote_literal_cstr(def->arg != NULL ?
											defGetString(def) :
											"true"));
	}
}

static bool
same_option(const DefElem *a, const DefElem *b)
{
	return strcmp(a->defname, b->defname) == 0 &&
		strcmp(a->defnamespace != NULL ? a->defnamespace : "",
			   b->defnamespace != NULL ? b->defnamespace : "") == 0;
}

/* The options after a SET or RESET. */
static List *
change(List *options, const AlterTableCmd *cmd)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, options)
	{
		bool		named = false;
		ListCell   *lc2;

		foreach(lc2, (List *) cmd->def)
			named |= same_option(lfirst_node(DefElem, lc),
								 lfirst_node(DefElem, lc2));
		if (!named)
			result = lappend(result, lfirst(lc));
	}
	if (cmd->subtype == AT_SetRelOptions)
	{
		check((List *) cmd->def);
		result = list_concat(result, (List *) cmd->def);
	}
	return result;
}

/*
 * A chunk's own options of ours are put aside: ALTER TABLE would not know
 * them.
 */
static void
alter_chunk_storage(Oid chunk, const AlterTableStmt *stmt, List *cmds)
{
	List	   *ours = strata_settings_remove_all(chunk);

	CommandCounterIncrement();
	EventTriggerAlterTableStart(unconstify(Node *, (const Node *) stmt));
	AlterTableInternal(chunk, copyObject(cmds), false);
	EventTriggerAlterTableEnd();
	CommandCounterIncrement();
	if (ours != NIL)
		strata_settings_store(chunk, ours, false);
}

/* See hypertable.h. */
void
strata_hypertable_set_storage(Oid relid, const AlterTableStmt *stmt,
							  List *cmds)
{
	char	   *old = strata_settings_get_text(relid,
											   STRATA_OPTION_CHUNK_OPTIONS);
	List	   *options;
	DefElem    *ours;
	StringInfoData text;
	ListCell   *lc;

	options = old != NULL ? strata_storage_options_parse(old) : NIL;
	foreach(lc, cmds)
		options = change(options, lfirst_node(AlterTableCmd, lc));
	initStringInfo(&text);
	strata_storage_options_append(&text, options, "");
	ours = makeDefElem(pstrdup(STRATA_OPTION_CHUNK_OPTIONS),
					   (Node *) makeString(text.data), -1);
	strata_settings_store(relid, list_make1(ours), text.len == 0);
	if (!stmt->relation->inh)
		return;
	foreach(lc, find_all_inheritors(relid, AlterTableGetLockLevel(cmds), NULL))
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_RELATION)
			alter_chunk_storage(lfirst_oid(lc), stmt, cmds);
	}
}
