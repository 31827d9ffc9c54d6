/*-------------------------------------------------------------------------
 *
 * hook_tablespace.c
 *	  Tablespaces whose new tables have an access method.
 *
 * Which one is a security label of the tablespace, of provider strata: it is
 * the one place that all databases share, that goes with the tablespace, and
 * that pg_dumpall writes down.  CREATE TABLE, CREATE TABLE AS, SELECT INTO and
 * CREATE MATERIALIZED VIEW get the method as if USING named it.
 *
 * The provider is registered when somebody uses it: from then on, SECURITY
 * LABEL without FOR is ambiguous in a session that has another one.
 *
 * src/hook/hook_tablespace.c
 *-------------------------------------------------------------------------
 */
#include "hook/hook_private.h"

#include "base/base.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/objectaddress.h"
#include "catalog/pg_class.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/seclabel.h"
#include "commands/tablespace.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#define PROVIDER "strata"
#define LABEL "access_method="

PG_FUNCTION_INFO_V1(strata_set_tablespace_access_method);

/*
 * The name of an access method in a label.  Whether there is one of that name
 * is not asked: a dump of all databases is restored before the extension is.
 */
static const char *
method_of_label(const char *label)
{
	return strncmp(label, LABEL, strlen(LABEL)) == 0 &&
		label[strlen(LABEL)] != '\0' &&
		strlen(label + strlen(LABEL)) < NAMEDATALEN ?
		label + strlen(LABEL) : NULL;
}

/* SECURITY LABEL FOR strata. */
static void
check_label(const ObjectAddress *object, const char *label)
{
	if (object->classId != TableSpaceRelationId)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("labels of provider \"%s\" are for tablespaces",
						PROVIDER)));
	if (label != NULL && method_of_label(label) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is not a label of provider \"%s\"", label,
						PROVIDER),
				 errhint("SELECT strata.set_tablespace_access_method('a_tablespace', '%s');",
						 STRATA_EXTENSION)));
}

/* See hook_private.h. */
void
strata_hook_label_provider(const char *provider)
{
	static bool registered = false;

	if (registered || provider == NULL || strcmp(provider, PROVIDER) != 0)
		return;
	register_label_provider(PROVIDER, check_label);
	registered = true;
}

/*
 * set_tablespace_access_method(tablespace, access_method): NULL takes it away.
 * SECURITY LABEL asks for the owner of the tablespace.
 */
Datum
strata_set_tablespace_access_method(PG_FUNCTION_ARGS)
{
	SecLabelStmt *stmt = makeNode(SecLabelStmt);
	char	   *name;

	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"%s\" cannot be NULL", "tablespace")));
	PreventCommandIfReadOnly("set_tablespace_access_method()");
	name = NameStr(*PG_GETARG_NAME(0));
	if (get_tablespace_oid(name, false) == GLOBALTABLESPACE_OID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only shared relations can be placed in tablespace \"%s\"",
						name)));
	stmt->objtype = OBJECT_TABLESPACE;
	stmt->object = (Node *) makeString(pstrdup(name));
	stmt->provider = PROVIDER;
	if (!PG_ARGISNULL(1))
	{
		char	   *method = NameStr(*PG_GETARG_NAME(1));

		(void) get_table_am_oid(method, false);
		stmt->label = psprintf("%s%s", LABEL, method);
	}
	strata_hook_label_provider(PROVIDER);
	(void) ExecSecLabelStmt(stmt);
	PG_RETURN_VOID();
}

/*-------------------------------------------------------------------------
 * New tables
 *-------------------------------------------------------------------------
 */

/*
 * Has the session, or who connected, said which access method is the default?
 * A dump does, before each table.  What the server, the database or the role
 * has by default is more general than the tablespace.
 */
static bool
session_has_said(void)
{
	bool		said;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (strata_sql_execute("SELECT FROM pg_catalog.pg_settings"
						   " WHERE name = 'default_table_access_method'"
						   " AND source IN ('client', 'override', 'interactive', 'test', 'session')",
						   0, NULL, NULL, NULL, true) != SPI_OK_SELECT)
		elog(ERROR, "could not read pg_settings");
	said = SPI_processed > 0;
	SPI_finish();
	return said;
}

/* The access method that a tablespace's new tables have, or NULL. */
static char *
tablespace_method(Oid tablespace)
{
	ObjectAddress object;
	char	   *label;
	const char *method;

	ObjectAddressSet(object, TableSpaceRelationId, tablespace);
	label = GetSecurityLabel(&object, PROVIDER);
	method = label == NULL ? NULL : method_of_label(label);
	/* another database may have it, and this one not */
	if (method == NULL || !OidIsValid(get_am_oid(method, true)) ||
		session_has_said())
		return NULL;
	return pstrdup(method);
}

/* The tablespace of a partitioned table; *has_method: its partitions have its. */
static Oid
tablespace_of_parent(const RangeVar *name, bool *has_method)
{
	Oid			relid = RangeVarGetRelid(name, NoLock, true);
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			tablespace = InvalidOid;

	*has_method = false;
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	tablespace = ((Form_pg_class) GETSTRUCT(tuple))->reltablespace;
	*has_method = OidIsValid(((Form_pg_class) GETSTRUCT(tuple))->relam);
	ReleaseSysCache(tuple);
	return tablespace;
}

static bool
is_temporary(const RangeVar *name)
{
	return name->relpersistence == RELPERSISTENCE_TEMP ||
		(name->schemaname != NULL && strcmp(name->schemaname, "pg_temp") == 0);
}

/*
 * See what a new table is to have; given: the tablespace that is sure, if any.
 */
static bool
choose(const RangeVar *name, const char *named, Oid given,
	   StrataNewTable *choice)
{
	bool		temporary = is_temporary(name);

	if (named != NULL)
		given = get_tablespace_oid(named, true);
	else if (!OidIsValid(given))
	{
		Oid			one;

		given = GetDefaultTablespace(temporary ? RELPERSISTENCE_TEMP :
									 name->relpersistence, false);
		if (!OidIsValid(given))
			given = MyDatabaseTableSpace;
		/* the next one who asks would get the next one */
		if (temporary && GetTempTablespaces(&one, 1) > 0)
			choice->tablespace = get_tablespace_name(given);
	}
	if (OidIsValid(given))
		choice->method = tablespace_method(given);
	return choice->method != NULL || choice->tablespace != NULL;
}

/* The part of CREATE TABLE AS, also under EXPLAIN, which may run it; or NULL. */
static IntoClause *
into_clause(Node *stmt)
{
	if (IsA(stmt, ExplainStmt))
	{
		Query	   *query = castNode(Query, ((ExplainStmt *) stmt)->query);

		if (query->commandType != CMD_UTILITY)
			return NULL;
		stmt = query->utilityStmt;
	}
	return IsA(stmt, CreateTableAsStmt) ?
		((CreateTableAsStmt *) stmt)->into : NULL;
}

/* See hook_private.h. */
bool
strata_hook_new_table(Node *stmt, StrataNewTable *choice)
{
	IntoClause *into;

	memset(choice, 0, sizeof(StrataNewTable));
	/* whoever wrote the script of an extension had heap in mind */
	if (creating_extension)
		return false;
	if (IsA(stmt, CreateStmt))
	{
		CreateStmt *create = (CreateStmt *) stmt;
		Oid			given = InvalidOid;
		bool		has_method = false;

		/* a partitioned table has no pages, and its partitions are asked */
		if (create->accessMethod != NULL || create->partspec != NULL)
			return false;
		if (create->partbound != NULL)
			given = tablespace_of_parent(linitial_node(RangeVar,
													   create->inhRelations),
										 &has_method);
		return !has_method &&
			choose(create->relation, create->tablespacename, given, choice);
	}
	into = into_clause(stmt);
	if (into == NULL || into->accessMethod != NULL)
		return false;
	/* a continuous aggregate is a view, and has an archive */
	if (into->viewQuery != NULL && strata_hook_has_options(into->options))
		return false;
	return choose(into->rel, into->tableSpaceName, InvalidOid, choice);
}

/* See hook_private.h. */
void
strata_hook_new_table_set(Node *stmt, const StrataNewTable *choice)
{
	CreateStmt *create = IsA(stmt, CreateStmt) ? (CreateStmt *) stmt : NULL;
	IntoClause *into = into_clause(stmt);
	char	  **method = create ? &create->accessMethod : &into->accessMethod;
	char	  **tablespace =
	create ? &create->tablespacename : &into->tableSpaceName;

	if (choice->method != NULL)
		*method = choice->method;
	if (choice->tablespace != NULL)
		*tablespace = choice->tablespace;
}
