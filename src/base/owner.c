/*-------------------------------------------------------------------------
 *
 * owner.c
 *	  Working with somebody else's rights, and where names are looked up then.
 *
 * Maintenance runs code of a table's owner: index expressions, CHECK
 * constraints, partitioning functions.  It does so with the owner's rights and
 * in a security-restricted operation, so that nothing of it is left to run as
 * the caller, and with search_path pinned, so that nobody who has a say in the
 * session's (the caller, who owns the database) puts his code in between.
 * Only an owner who is himself whom the session works for keeps his path: his
 * functions may name others of his by it, and before PostgreSQL 17 all of its
 * own commands let them.
 *
 * src/base/owner.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "base/compat.h"

#include "catalog/namespace.h"
#include "miscadmin.h"
#include "utils/guc.h"

/* See base.h. */
void
strata_search_path_pin(void)
{
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/* See base.h. */
void
strata_role_enter(Oid role, StrataOwnerContext *saved)
{
	GetUserIdAndSecContext(&saved->user, &saved->security);
	SetUserIdAndSecContext(role,
						   saved->security | SECURITY_RESTRICTED_OPERATION);
	saved->guc_level = NewGUCNestLevel();
}

/* See base.h. */
void
strata_owner_enter(Oid owner, StrataOwnerContext *saved)
{
	strata_role_enter(owner, saved);
	Assert(GetUserId() == owner &&
		   InSecurityRestrictedOperation());	/* base:A3 */
	if (owner != GetOuterUserId() || strata_in_background_worker())
		strata_search_path_pin();
	/* where chunks go is the hypertable's to say, not the session's */
	(void) set_config_option("default_tablespace", "", PGC_USERSET,
							 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

/* See base.h.  A starter need not be restricted. */
void
strata_owner_leave(StrataOwnerContext *saved)
{
	/* levels that were opened within have ended */
	Assert(saved->guc_level > 0);	/* base:A3 */
	AtEOXact_GUC(false, saved->guc_level);
	SetUserIdAndSecContext(saved->user, saved->security);
}

/* See base.h. */
void
strata_starter_note(StrataStarter *starter)
{
	GetUserIdAndSecContext(&starter->user, &starter->security);
	starter->search_path = pstrdup(namespace_search_path);
}

/* See base.h. */
void
strata_starter_enter(const StrataStarter *starter, StrataOwnerContext *saved)
{
	GetUserIdAndSecContext(&saved->user, &saved->security);
	/* what is restricted now stays so */
	SetUserIdAndSecContext(starter->user, starter->security |
						   (saved->security & SECURITY_RESTRICTED_OPERATION));
	saved->guc_level = NewGUCNestLevel();
	if (strcmp(namespace_search_path, starter->search_path) != 0)
		(void) set_config_option("search_path", starter->search_path,
								 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
								 true, 0, false);
}
