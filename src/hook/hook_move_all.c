/*-------------------------------------------------------------------------
 *
 * hook_move_all.c
 *	  ALTER TABLE ALL IN TABLESPACE leaves companions to their tables.
 *
 * PostgreSQL takes every table in the tablespace, companions among them, and
 * refuses the whole statement when one is not the user's.  A companion never
 * is, and goes where its table goes; so for who is no superuser, and names no
 * owners, the owners are all there are but those of companions alone.
 *
 * src/hook/hook_move_all.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "hook/hook_private.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

static bool
is_of_type(char relkind, ObjectType type)
{
	switch (type)
	{
		case OBJECT_INDEX:
			return relkind == RELKIND_INDEX ||
				relkind == RELKIND_PARTITIONED_INDEX;
		case OBJECT_MATVIEW:
			return relkind == RELKIND_MATVIEW;
		default:
			return relkind == RELKIND_RELATION ||
				relkind == RELKIND_PARTITIONED_TABLE;
	}
}

static RoleSpec *
role_spec(Oid role)
{
	RoleSpec   *spec = makeNode(RoleSpec);

	spec->roletype = role == GetUserId() ? ROLESPEC_CURRENT_USER :
		ROLESPEC_CSTRING;
	spec->rolename = GetUserNameFromId(role, false);
	spec->location = -1;
	return spec;
}

/* See hook_private.h. */
void
strata_move_all_without_companions(AlterTableMoveAllStmt *stmt)
{
	Oid			tablespace = get_tablespace_oid(stmt->orig_tablespacename,
												true);
	Oid			internal = get_namespace_oid(STRATA_INTERNAL_SCHEMA, true);
	List	   *owners = list_make1_oid(GetUserId());
	Relation	pg_class;
	SysScanDesc scan;
	HeapTuple	tuple;
	ListCell   *lc;

	if (stmt->roles != NIL || superuser() || !OidIsValid(tablespace) ||
		!OidIsValid(internal))
		return;
	if (tablespace == MyDatabaseTableSpace)
		tablespace = InvalidOid;
	pg_class = table_open(RelationRelationId, AccessShareLock);
	scan = systable_beginscan(pg_class, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if (form->reltablespace == tablespace &&
			is_of_type(form->relkind, stmt->objtype) &&
			form->relnamespace != internal && !form->relisshared &&
			!IsCatalogNamespace(form->relnamespace) &&
			!IsToastNamespace(form->relnamespace) &&
			!isAnyTempNamespace(form->relnamespace))
			owners = list_append_unique_oid(owners, form->relowner);
	}
	systable_endscan(scan);
	table_close(pg_class, AccessShareLock);
	foreach(lc, owners)
		stmt->roles = lappend(stmt->roles, role_spec(lfirst_oid(lc)));
}
