/*-------------------------------------------------------------------------
 *
 * api_tablespace.c
 *	  attach_tablespace, detach_tablespace, detach_tablespaces,
 *	  show_tablespaces.
 *
 * src/api/api_tablespace.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_tablespace.h"
#include "commands/tablespace.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_attach_tablespace);
PG_FUNCTION_INFO_V1(strata_detach_tablespace);
PG_FUNCTION_INFO_V1(strata_detach_tablespaces);
PG_FUNCTION_INFO_V1(strata_show_tablespaces);

/* The list without the name; the same list when it is not in it. */
static List *
without(List *names, const char *name)
{
	List	   *result = NIL;
	ListCell   *lc;

	foreach(lc, names)
	{
		if (strcmp(lfirst(lc), name) != 0)
			result = lappend(result, lfirst(lc));
	}
	return list_length(result) == list_length(names) ? names : result;
}

/*
 * Chunks are made as the owner of the hypertable, who must be allowed to put
 * them there.
 */
static void
check_tablespace_owner(const StrataHypertable *ht, Oid tablespace,
					   const char *name)
{
	Oid			owner = strata_relation_owner(ht->relid);

	if (tablespace == GLOBALTABLESPACE_OID)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("only shared relations can be placed in tablespace \"%s\"",
						name)));
	if (tablespace != MyDatabaseTableSpace &&
		!strata_tablespace_create_allowed(tablespace, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for tablespace \"%s\" by table owner \"%s\"",
						name, GetUserNameFromId(owner, false)),
				 errhint("GRANT CREATE ON TABLESPACE %s TO %s;",
						 quote_identifier(name),
						 quote_identifier(GetUserNameFromId(owner, false)))));
}

/*
 * attach_tablespace(tablespace name, hypertable regclass, if_not_attached
 * boolean)
 */
Datum
strata_attach_tablespace(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	char	   *name;
	List	   *names;
	bool		if_not_attached = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);

	PreventCommandIfReadOnly("attach_tablespace()");
	strata_api_require_argument(fcinfo, 0, "tablespace");
	strata_api_require_argument(fcinfo, 1, "hypertable");
	name = NameStr(*PG_GETARG_NAME(0));
	ht = strata_hypertable_open(PG_GETARG_OID(1));
	check_tablespace_owner(ht, get_tablespace_oid(name, false), name);
	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	LockRelationOid(ht->relid, ShareUpdateExclusiveLock);
	names = strata_hypertable_tablespaces(ht->relid);
	if (without(names, name) != names)
	{
		ereport(if_not_attached ? NOTICE : ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 if_not_attached ?
				 errmsg("tablespace \"%s\" is already attached to hypertable \"%s\", skipping",
						name, get_rel_name(ht->relid)) :
				 errmsg("tablespace \"%s\" is already attached to hypertable \"%s\"",
						name, get_rel_name(ht->relid))));
		PG_RETURN_VOID();
	}
	strata_hypertable_set_tablespaces(ht->relid,
									  lappend(names, pstrdup(name)));
	PG_RETURN_VOID();
}

/* The hypertables of the database, in order of their OIDs. */
static List *
all_hypertables(void)
{
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(pg_class, ClassOidIndexId, true,
										  NULL, 0, NULL);
	List	   *relids = NIL;
	HeapTuple	tuple;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if (form->relkind == RELKIND_PARTITIONED_TABLE &&
			strata_hypertable_is(form->oid))
			relids = lappend_oid(relids, form->oid);
	}
	systable_endscan(scan);
	table_close(pg_class, AccessShareLock);
	return relids;
}

/* Detach from every hypertable that the user may change; how many. */
static int
detach_everywhere(const char *name)
{
	int			detached = 0;
	int			kept = 0;
	ListCell   *lc;

	foreach(lc, all_hypertables())
	{
		Oid			relid = lfirst_oid(lc);
		List	   *names = strata_hypertable_tablespaces(relid);

		if (without(names, name) == names)
			continue;
		if (!strata_table_ownercheck(relid, GetUserId()))
		{
			kept++;
			continue;
		}
		Assert(strata_table_ownercheck(relid, GetUserId()));	/* api:P1 */
		LockRelationOid(relid, ShareUpdateExclusiveLock);
		strata_hypertable_set_tablespaces(
										  relid, without(strata_hypertable_tablespaces(relid), name));
		detached++;
	}
	if (kept > 0)
		ereport(NOTICE,
				(errmsg("tablespace \"%s\" remains attached to %d hypertable(s) due to lack of permissions",
						name, kept)));
	return detached;
}

/*
 * detach_tablespace(tablespace name, hypertable regclass, if_attached
 * boolean): from how many
 */
Datum
strata_detach_tablespace(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	char	   *name;
	List	   *names;
	bool		if_attached = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);

	PreventCommandIfReadOnly("detach_tablespace()");
	strata_api_require_argument(fcinfo, 0, "tablespace");
	name = NameStr(*PG_GETARG_NAME(0));
	if (PG_ARGISNULL(1))
	{
		(void) get_tablespace_oid(name, false);
		PG_RETURN_INT32(detach_everywhere(name));
	}
	ht = strata_hypertable_open(PG_GETARG_OID(1));
	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	LockRelationOid(ht->relid, ShareUpdateExclusiveLock);
	names = strata_hypertable_tablespaces(ht->relid);
	if (without(names, name) == names)
	{
		/*
		 * one that is gone may have been attached: only then is it no error
		 * that it does not exist
		 */
		(void) get_tablespace_oid(name, false);
		ereport(if_attached ? NOTICE : ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 if_attached ?
				 errmsg("tablespace \"%s\" is not attached to hypertable \"%s\", skipping",
						name, get_rel_name(ht->relid)) :
				 errmsg("tablespace \"%s\" is not attached to hypertable \"%s\"",
						name, get_rel_name(ht->relid))));
		PG_RETURN_INT32(0);
	}
	strata_hypertable_set_tablespaces(ht->relid, without(names, name));
	PG_RETURN_INT32(1);
}

/* detach_tablespaces(hypertable regclass): how many */
Datum
strata_detach_tablespaces(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	int			attached;

	PreventCommandIfReadOnly("detach_tablespaces()");
	strata_api_require_argument(fcinfo, 0, "hypertable");
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	LockRelationOid(ht->relid, ShareUpdateExclusiveLock);
	attached = list_length(strata_hypertable_tablespaces(ht->relid));
	if (attached > 0)
		strata_hypertable_set_tablespaces(ht->relid, NIL);
	PG_RETURN_INT32(attached);
}

/* show_tablespaces(hypertable regclass); anybody may ask, as of any table */
Datum
strata_show_tablespaces(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	char	   *table = get_rel_name(PG_GETARG_OID(0));
	ListCell   *lc;

	/* one that somebody has just dropped must not make a view fail */
	if (table != NULL && !strata_hypertable_is(PG_GETARG_OID(0)))
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("\"%s\" is not a hypertable", table)));
	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	foreach(lc, strata_hypertable_tablespaces(PG_GETARG_OID(0)))
	{
		NameData	name;
		Datum		value = NameGetDatum(&name);
		bool		isnull = false;

		namestrcpy(&name, lfirst(lc));
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value,
							 &isnull);
	}
	return (Datum) 0;
}
