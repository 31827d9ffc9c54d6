/*-------------------------------------------------------------------------
 *
 * hook_permission.c
 *	  Our own tables are written, and companions read, by the extension alone.
 *
 * Privileges cannot say this: pg_write_all_data and pg_read_all_data have them
 * on every table.  Who could write a job would choose its owner, and with that
 * whose rights it runs with; who could write a batch would choose the bytes
 * that are read as rows; who reads batches reads past row security.  So what
 * the extension's owner and superusers may do is refused to everybody else,
 * privileges or not.  Tables other than companions are read by privilege,
 * which pg_dump needs; jobs are inserted by the database's owner, too, which
 * pg_restore needs: a trigger leaves out those that he could not have added
 * (api/api_job_restore.c).
 *
 * Our functions work as the extension's owner, or below the executor, and are
 * not concerned.
 *
 * An archive of a rollup is its owner's, who may write to it; what he has
 * written to answers no query until the next refresh.
 *
 * src/hook/hook_permission.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "hook/hook_private.h"
#include "hypertable/hypertable.h"
#include "rollup/rollup.h"
#include "store/store.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static bool
is_companion_name(const char *name)
{
	return strncmp(name, "batch_", 6) == 0;
}

/*
 * Is it a table of ours; what of it may the role not do, unless it is the
 * extension's owner?  Schema is _strata.
 */
static AclMode
kept_modes(Oid relid, Oid schema, Oid role)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	AclMode		modes = ACL_NO_RIGHTS;

	if (!HeapTupleIsValid(tuple))
		return ACL_NO_RIGHTS;
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (form->relkind == RELKIND_RELATION)
	{
		if (form->relnamespace == schema)
			modes = is_companion_name(NameStr(form->relname)) ?
				ACL_ALL_RIGHTS_RELATION :
				ACL_ALL_RIGHTS_RELATION & ~ACL_SELECT;
		else if (form->relpersistence == RELPERSISTENCE_TEMP &&
				 strata_companion_is(relid))
			modes = ACL_ALL_RIGHTS_RELATION;

		/*
		 * the owner of the database restores his jobs; a trigger looks at
		 * them
		 */
		if (form->relnamespace == schema &&
			strcmp(NameStr(form->relname), "job") == 0 &&
			has_privs_of_role(role, ROLE_PG_DATABASE_OWNER))
			modes &= ~ACL_INSERT;

		/*
		 * a copy of a part of a chunk is its owner's, as the chunk is, and
		 * nobody else's: the hypertable's row security is not on it
		 */
		if (form->relnamespace == schema &&
			strata_divide_is_part_name(NameStr(form->relname)))
			modes = has_privs_of_role(role, form->relowner) ? ACL_NO_RIGHTS :
				ACL_ALL_RIGHTS_RELATION;
	}
	else if (form->relkind == RELKIND_TOASTVALUE && strata_companion_is(relid))
		modes = ACL_ALL_RIGHTS_RELATION;
	ReleaseSysCache(tuple);
	return modes;
}

/* Who owns the schema is who owns the extension. */
static bool
is_ours(Oid role, Oid schema)
{
	HeapTuple	tuple;
	bool		owner;

	if (superuser_arg(role))
		return true;
	tuple = SearchSysCache1(NAMESPACEOID, ObjectIdGetDatum(schema));
	owner = HeapTupleIsValid(tuple) &&
		((Form_pg_namespace) GETSTRUCT(tuple))->nspowner == role;
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return owner;
}

/* See hook_private.h. */
bool
strata_permissions_check(STRATA_CHECK_PERMS_ARGS)
{
	Oid			schema = get_namespace_oid(STRATA_INTERNAL_SCHEMA, true);
	ListCell   *lc;

	if (!OidIsValid(schema))
		return true;
	foreach(lc, STRATA_CHECK_PERMS_LIST)
	{
		StrataPermissions *wanted = lfirst(lc);

		Oid			role;

		role = OidIsValid(wanted->checkAsUser) ? wanted->checkAsUser :
			GetUserId();
		if (wanted->requiredPerms == 0 ||
			(wanted->requiredPerms &
			 kept_modes(wanted->relid, schema, role)) == 0 ||
			is_ours(role, schema))
			continue;
		if (ereport_on_violation)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied for table %s",
							get_rel_name(wanted->relid)),
					 errdetail("It is one of the tables in which the extension \"%s\" keeps its own data.",
							   STRATA_EXTENSION)));
		return false;
	}
	foreach(lc, STRATA_CHECK_PERMS_LIST)
	{
		StrataPermissions *wanted = lfirst(lc);

		if (wanted->requiredPerms & (ACL_INSERT | ACL_UPDATE | ACL_DELETE))
			strata_rollup_written(wanted->relid);
	}
	return true;
}
