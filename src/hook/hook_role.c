/*-------------------------------------------------------------------------
 *
 * hook_role.c
 *	  Roles that own jobs: DROP ROLE is refused, REASSIGN OWNED gives the jobs
 *	  to the new owner, who has to schedule them, DROP OWNED deletes them.
 *
 * PostgreSQL knows what a role owns by pg_shdepend, which has no place for a
 * row of our tables.  As it does not, a role that is dropped in another
 * database leaves its jobs here; they fail, and say so.
 *
 * src/hook/hook_role.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog.h"
#include "hook/hook_private.h"
#include "job/job.h"

#include "miscadmin.h"
#include "nodes/value.h"
#include "utils/acl.h"
#include "utils/builtins.h"

/* See hook_private.h. */
List *
strata_hook_roles(List *specs)
{
	List	   *roles = NIL;
	ListCell   *lc;

	foreach(lc, specs)
	{
		RoleSpec   *spec = lfirst_node(RoleSpec, lc);
		Oid			role = spec->roletype == ROLESPEC_PUBLIC ? InvalidOid :
		get_rolespec_oid(spec, true);

		if (OidIsValid(role))
			roles = lappend_oid(roles, role);
	}
	return roles;
}

/* See hook_private.h. */
List *
strata_hook_role_names(List *roles)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, roles)
		names = lappend(names,
						makeString(GetUserNameFromId(lfirst_oid(lc), false)));
	return names;
}

/* Would a job of this role's fail without it?  A policy's check alone may. */
static bool
needs_role(const StrataJob *job, Oid role)
{
	return job->id >= STRATA_JOB_FIRST_USER_ID &&
		(job->owner == role || job->check_name != NULL);
}

/* See hook_private.h. */
void
strata_hook_roles_dropped(List *roles, List *names)
{
	ListCell   *role;
	ListCell   *name;

	if (!strata_job_tables_exist())
		return;
	forboth(role, roles, name, names)
	{
		ListCell   *lc;

		foreach(lc, strata_job_list_of_role(lfirst_oid(role)))
		{
			StrataJob  *job = lfirst(lc);
			const char *quoted = quote_identifier(strVal(lfirst(name)));

			if (needs_role(job, lfirst_oid(role)))
				ereport(ERROR,
						(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
						 errmsg("role \"%s\" cannot be dropped because some objects depend on it",
								strVal(lfirst(name))),
						 errdetail("owner of job %d (%s)", job->id, job->name),
						 errhint("DROP OWNED BY %s; deletes its jobs, REASSIGN OWNED BY %s gives them to another role.",
								 quoted, quoted)));
		}
	}
}

/* The jobs that name one of the roles as their owner, locked. */
static List *
jobs_of(List *roles)
{
	List	   *jobs = NIL;
	ListCell   *lc;

	if (!strata_job_tables_exist())
		return NIL;
	foreach(lc, roles)
	{
		strata_job_lock_of_role(lfirst_oid(lc));
		jobs = list_concat(jobs, strata_job_list_of_role(lfirst_oid(lc)));
	}
	return jobs;
}

/*
 * Another role would run with its rights what the former owner chose: it is to
 * say first that it wants that.  Policies without a check are code of ours.
 */
static void
stop_for_heir(StrataJob *job, Oid heir)
{
	if (!job->scheduled || (strcmp(job->proc_schema, "_strata") == 0 &&
							job->check_name == NULL))
		return;
	job->scheduled = false;
	ereport(NOTICE,
			(errmsg("job %d (%s) is not scheduled any more, since it would run with the rights of role \"%s\"",
					job->id, job->name, GetUserNameFromId(heir, false)),
			 errhint("SELECT alter_job(%d, scheduled => true); once what it calls is to be trusted.",
					 job->id)));
}

/* See hook_private.h. */
void
strata_hook_roles_reassigned(List *roles, Oid heir)
{
	List	   *jobs = jobs_of(roles);
	ListCell   *lc;

	foreach(lc, jobs)
	{
		StrataJob  *job = lfirst(lc);

		stop_for_heir(job, heir);
		job->named_owner = heir;
		strata_job_update(job);
	}
	if (jobs != NIL)
		strata_job_wake_at_commit();
}

/* See hook_private.h. */
void
strata_hook_roles_emptied(List *roles)
{
	List	   *jobs = jobs_of(roles);
	ListCell   *lc;

	foreach(lc, jobs)
	{
		StrataJob  *job = lfirst(lc);

		if (job->id < STRATA_JOB_FIRST_USER_ID)
			continue;
		if (job->owner == job->named_owner)
			strata_job_delete(job->id);
		else
		{
			/* a policy on what others own by now */
			job->named_owner = job->owner;
			job->check_schema = NULL;
			job->check_name = NULL;
			strata_job_update(job);
		}
	}
	if (jobs != NIL)
		strata_job_wake_at_commit();
}
