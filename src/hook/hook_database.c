/*-------------------------------------------------------------------------
 *
 * hook_database.c
 *	  Statements on a database that nobody may use meanwhile: DROP, RENAME, SET
 *	  TABLESPACE, and CREATE with it as template.  Our processes in it are
 *	  ended, as PostgreSQL ends those of autovacuum.
 *
 * src/hook/hook_database.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "hook/hook_private.h"
#include "job/job.h"

#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "miscadmin.h"
#include "utils/acl.h"

/* The value of an option of a database; otherwise, if it is not there. */
static const char *
database_option(const List *options, const char *name, const char *otherwise)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *option = lfirst_node(DefElem, lc);

		if (strcmp(option->defname, name) == 0 && option->arg != NULL)
			return defGetString(option);
	}
	return otherwise;
}

/* The database that nobody else may use while the statement runs, or NULL. */
static const char *
database_wanted(const Node *stmt)
{
	switch (nodeTag(stmt))
	{
		case T_DropdbStmt:
			return ((const DropdbStmt *) stmt)->dbname;
		case T_RenameStmt:
			return ((const RenameStmt *) stmt)->subname;
		case T_CreatedbStmt:
			return database_option(((const CreatedbStmt *) stmt)->options,
								   "template", "template1");
		case T_AlterDatabaseStmt:
			return database_option(((const AlterDatabaseStmt *) stmt)->options,
								   "tablespace", NULL) == NULL ? NULL :
				((const AlterDatabaseStmt *) stmt)->dbname;
		default:
			return NULL;
	}
}

/* See hook_private.h. */
Oid
strata_hook_database_empty(const Node *stmt)
{
	const char *name = database_wanted(stmt);
	Oid			database = name == NULL ? InvalidOid :
	get_database_oid(name, true);

	if (!OidIsValid(database) || database == MyDatabaseId ||
		!strata_database_ownercheck(database, GetUserId()))
		return InvalidOid;
	Assert(database != MyDatabaseId);	/* hook:H7 */
	strata_job_stop_database(database);
	return database;
}
