/*-------------------------------------------------------------------------
 *
 * hook_late.c
 *	  Statements that began before the library was in the session.
 *
 * Where the library is not preloaded, a session's first ALTER TABLE of a
 * hypertable would run without what belongs to it, and options "strata.x"
 * would be unknown.  An event trigger loads the library at the begin of such
 * statements.  From then on our hooks are there; the one that is under way has
 * passed them by, so it is refused, and its user told what to do.
 *
 * src/hook/hook_late.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"

#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "job/job.h"
#include "store/store.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/event_trigger.h"
#include "fmgr.h"
#include "storage/lmgr.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(strata_on_ddl_start);

/* See hook_private.h. */
bool		strata_utility_hook_ran = false;

static bool
has_our_options(List *options)
{
	ListCell   *lc;
	const char *name;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strata_settings_is_option(def, &name) ||
			(def->defnamespace != NULL &&
			 strata_settings_is_compat_option(def, &name)))
			return true;
	}
	return false;
}

/* Does ALTER TABLE set or reset options, of ours or any? */
static bool
sets_options(const AlterTableStmt *stmt, bool any)
{
	ListCell   *lc;

	foreach(lc, stmt->cmds)
	{
		AlterTableCmd *cmd = lfirst_node(AlterTableCmd, lc);

		if ((cmd->subtype == AT_SetRelOptions ||
			 cmd->subtype == AT_ResetRelOptions) &&
			(any || has_our_options((List *) cmd->def)))
			return true;
	}
	return false;
}

/*
 * A hypertable, or (any_of_ours) a strata table; nothing is locked for the
 * answer.
 */
static bool
is_for_us(const RangeVar *name, bool any_of_ours)
{
	Oid			relid = name == NULL ? InvalidOid :
	RangeVarGetRelid(name, NoLock, true);
	HeapTuple	tuple;
	bool		result;

	if (!OidIsValid(relid))
		return false;
	if (strata_hypertable_is(relid))
		return true;
	if (!any_of_ours)
		return false;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	if (!HeapTupleIsValid(tuple))
		return false;
	result = strata_is_strata_am(((Form_pg_class) GETSTRUCT(tuple))->relam);
	ReleaseSysCache(tuple);
	return result;
}

/*-------------------------------------------------------------------------
 * Would our hooks have had something to do?  See hook_private.h.
 *-------------------------------------------------------------------------
 */

bool
strata_late_create_table(Node *stmt)
{
	StrataNewTable choice;

	return has_our_options(((CreateStmt *) stmt)->options) ||
		(strata_hook_new_table(stmt, &choice) && choice.method != NULL);
}

bool
strata_late_create_table_as(Node *stmt)
{
	StrataNewTable choice;

	return has_our_options(((CreateTableAsStmt *) stmt)->into->options) ||
		(strata_hook_new_table(stmt, &choice) && choice.method != NULL);
}

bool
strata_late_alter_table(Node *stmt)
{
	const AlterTableStmt *alter = (AlterTableStmt *) stmt;

	return sets_options(alter, false) ||
		is_for_us(alter->relation, sets_options(alter, true));
}

bool
strata_late_create_index(Node *stmt)
{
	const IndexStmt *index = (IndexStmt *) stmt;

	return has_our_options(index->options) ||
		is_for_us(index->relation, false);
}

bool
strata_late_rename(Node *stmt)
{
	const RenameStmt *rename = (RenameStmt *) stmt;

	return is_for_us(rename->relation, rename->renameType == OBJECT_COLUMN);
}

bool
strata_late_set_schema(Node *stmt)
{
	return is_for_us(((AlterObjectSchemaStmt *) stmt)->relation, false);
}

/* Event trigger at the begin of statements on tables and indexes. */
Datum
strata_on_ddl_start(PG_FUNCTION_ARGS)
{
	EventTriggerData *data = (EventTriggerData *) fcinfo->context;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by event trigger manager",
						"on_ddl_start")));
	if (!strata_utility_hook_ran &&
		strata_utility_needs_us(data->parsetree))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the library of extension \"%s\" was not loaded when this statement began",
						STRATA_EXTENSION),
				 errdetail("It is now, for this session: the same statement will work."),
				 errhint("%s", strata_job_preload_hint())));
	PG_RETURN_NULL();
}
