/*-------------------------------------------------------------------------
 *
 * store_proof.c
 *	  Is what has the name of a companion a companion of ours?
 *
 * Anybody may make a table of any name in pg_temp, and a superuser one in our
 * schema.  Batches are believed further than any table of a user's: whoever
 * could write them would choose what is read as values of any type.  So a
 * companion is what has the dependency that only we make, and an owner who has
 * no need to forge.  Asked for once per relcache entry, of R
 * (store_companion.c) and of the companion (store_cache.c).
 *
 * src/store/store_proof.c
 *-------------------------------------------------------------------------
 */
#include "store/store_companion.h"
#include "store/store_private.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

/*
 * Have we made the table?  Then it is a member of the extension, or, where it
 * is a temporary one, depends on table relid (InvalidOid: on any table) as no
 * command makes a table depend on one that is not partitioned.  snapshot:
 * NULL, or the one to look with.
 */
static bool
is_made_by_us(Oid table, Oid relid, bool temp, Snapshot snapshot)
{
	Relation	pg_depend = table_open(DependRelationId, AccessShareLock);
	Oid			ref_class = temp ? RelationRelationId : ExtensionRelationId;
	Oid			referenced;
	ScanKeyData key[3];
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		ours = false;

	referenced = temp ? relid : get_extension_oid(STRATA_EXTENSION, true);
	ScanKeyInit(&key[0], Anum_pg_depend_classid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(table));
	/* of the table, and not of its columns, of which there are many */
	ScanKeyInit(&key[2], Anum_pg_depend_objsubid, BTEqualStrategyNumber,
				F_INT4EQ, Int32GetDatum(0));
	scan = systable_beginscan(pg_depend, DependDependerIndexId, true, snapshot,
							  3, key);
	while (!ours && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		ours = form->refclassid == ref_class && form->refobjsubid == 0 &&
			form->deptype == (temp ? DEPENDENCY_AUTO : DEPENDENCY_EXTENSION) &&
			(form->refobjid == referenced || (temp && !OidIsValid(relid)));
	}
	systable_endscan(scan);
	table_close(pg_depend, AccessShareLock);
	return ours;
}

/*
 * May its owner have companions?  They are the extension's; pg_upgrade makes
 * that another superuser's.
 */
static bool
is_trusted(Oid owner)
{
	return superuser_arg(owner) || owner == strata_extension_owner();
}

/*
 * An error unless the table is a companion that we made and that nobody else
 * has had.
 */
static void
check_companion(Oid companion, const char *name, Oid relid, bool temp,
				Oid owner, Snapshot snapshot)
{
	if (!is_made_by_us(companion, relid, temp, snapshot))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has the name of a companion table, but is none",
						name),
				 errdetail("It is no member of the extension \"%s\".",
						   STRATA_EXTENSION),
				 errhint("If it holds batches: ALTER EXTENSION %s ADD TABLE %s.%s; if it does not, drop it.",
						 STRATA_EXTENSION, STRATA_INTERNAL_SCHEMA, name)));
	if (!is_trusted(owner))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("companion table \"%s\" belongs to role \"%s\", which could have forged its batches",
						name, GetUserNameFromId(owner, true)),
				 errhint("ALTER TABLE %s.%s OWNER TO %s;",
						 temp ? "pg_temp" : STRATA_INTERNAL_SCHEMA, name,
						 quote_identifier(GetUserNameFromId(strata_extension_owner(), false)))));
}

/* See store_private.h. */
void
strata_companion_check(Relation batches)
{
	check_companion(RelationGetRelid(batches),
					RelationGetRelationName(batches), InvalidOid,
					batches->rd_rel->relpersistence == RELPERSISTENCE_TEMP,
					batches->rd_rel->relowner, NULL);
}

/*
 * See store_private.h.  In pg_temp everybody may have a table of any name.  In
 * our schema only superusers can, and it might be a companion that lost its
 * mark: not to read it were a wrong answer.
 */
Oid
strata_companion_prove(Relation rel, const char *name, Oid table, Oid owner,
					   Snapshot snapshot)
{
	bool		temp = rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP;

	if (!OidIsValid(table) ||
		(temp && !is_made_by_us(table, RelationGetRelid(rel), temp, snapshot)))
		return InvalidOid;
	check_companion(table, name, RelationGetRelid(rel), temp, owner, snapshot);
	return table;
}

/* See store_private.h. */
Oid
strata_owner_of_table(Oid table)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	Oid			owner = InvalidOid;

	if (HeapTupleIsValid(tuple))
	{
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
		ReleaseSysCache(tuple);
	}
	return owner;
}

/* See store.h. */
bool
strata_companion_is(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	unsigned int space;
	unsigned int number;
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	if (form->relkind == RELKIND_TOASTVALUE)
		result = sscanf(NameStr(form->relname), "pg_toast_%u", &number) == 1 &&
			strata_companion_is(number);
	else
		result = form->relkind == RELKIND_RELATION &&
			sscanf(NameStr(form->relname), "batch_%u_%u", &space,
				   &number) == 2 &&
			(form->relpersistence != RELPERSISTENCE_TEMP ||
			 is_trusted(form->relowner)) &&
			is_made_by_us(relid, InvalidOid,
						  form->relpersistence == RELPERSISTENCE_TEMP,
						  NULL);
	ReleaseSysCache(tuple);
	return result;
}
