/*-------------------------------------------------------------------------
 *
 * chunk_referenced.c
 *	  Foreign keys that refer to a hypertable: what a new chunk has of them,
 *	  without shutting out the writers of the tables that refer.
 *
 * ATTACH PARTITION locks these tables against writers, so two transactions that
 * both wrote to one and both need a chunk would wait for each other.  Nothing is
 * written to the table that refers: the new pg_constraint row bears its OID, the
 * two triggers are on the chunk.  For what the lock is good for otherwise see
 * docs/adr/010.
 *
 * ATTACH finds the keys by reading pg_constraint from end to end.  While it runs,
 * that catalog's relcache entry has a table access method that is heap's but
 * passes over the rows in question; then they are cloned here, as
 * CloneFkReferenced() in tablecmds.c does it.  Should the entry have been built
 * anew at the wrong moment, ATTACH has done it with its own locks: that is seen.
 *
 * src/hypertable/chunk_referenced.c
 *-------------------------------------------------------------------------
 */
#include "base/compat.h"
#include "hypertable/hypertable_private.h"

#include "access/attmap.h"
#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/partition.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "parser/parser.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/*-------------------------------------------------------------------------
 * Hiding the keys from ATTACH PARTITION
 *-------------------------------------------------------------------------
 */
static Relation catalog = NULL; /* pg_constraint, while keys are hidden */
static Oid	hidden_of = InvalidOid; /* those that refer to this hypertable */
static TableAmRoutine passing_over;

static bool
next_constraint(TableScanDesc scan, ScanDirection direction, TupleTableSlot *slot)
{
	while (GetHeapamTableAmRoutine()->scan_getnextslot(scan, direction, slot))
	{
		bool		should_free;
		HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);
		Form_pg_constraint key = (Form_pg_constraint) GETSTRUCT(tuple);
		bool		hide = key->contype == CONSTRAINT_FOREIGN && key->confrelid == hidden_of;

		if (should_free)
			heap_freetuple(tuple);
		if (!hide)
			return true;
	}
	return false;
}

/* See hypertable_private.h. */
void
strata_referring_keys_keep_hidden(Oid relid)
{
	if (catalog != NULL && (!OidIsValid(relid) || relid == ConstraintRelationId))
		catalog->rd_tableam = &passing_over;
}

/* See hypertable_private.h. */
void
strata_referring_keys_hide(Oid hypertable)
{
	passing_over = *GetHeapamTableAmRoutine();
	passing_over.scan_getnextslot = next_constraint;
	hidden_of = hypertable;
	catalog = table_open(ConstraintRelationId, AccessShareLock);
	catalog->rd_tableam = &passing_over;
}

/* See hypertable_private.h. */
void
strata_referring_keys_show(void)
{
	Relation	rel = catalog;

	if (rel == NULL)
		return;
	catalog = NULL;
	hidden_of = InvalidOid;
	rel->rd_tableam = GetHeapamTableAmRoutine();
	table_close(rel, NoLock);
}

/*-------------------------------------------------------------------------
 * Writing the chunk's
 *-------------------------------------------------------------------------
 */

/* The name for a key of a table that has one of this name. */
static char *
choose_name(Relation referring, const char *parent_name, const AttrNumber *columns, int count)
{
	StringInfoData names;

	if (!ConstraintNameIsUsed(CONSTRAINT_RELATION, RelationGetRelid(referring), parent_name))
		return pstrdup(parent_name);
	if (STRATA_KEY_NAMES_EXTEND)
		return ChooseConstraintName(parent_name, NULL, "", RelationGetNamespace(referring), NIL);
	initStringInfo(&names);
	for (int i = 0; i < count; i++)
		appendStringInfo(&names, "%s%s", i > 0 ? "_" : "",
						 NameStr(TupleDescAttr(RelationGetDescr(referring), columns[i] - 1)->attname));
	return ChooseConstraintName(RelationGetRelationName(referring), names.data, "fkey",
								RelationGetNamespace(referring), NIL);
}

static Oid
write_constraint(Relation referring, Relation chunk, HeapTuple tuple, const AttrMap *map)
{
	Form_pg_constraint key = (Form_pg_constraint) GETSTRUCT(tuple);
	FormData_pg_constraint of_chunk = *key;
	AttrNumber	columns[INDEX_MAX_KEYS];
	AttrNumber	referenced_columns[INDEX_MAX_KEYS];
	AttrNumber	set_columns[INDEX_MAX_KEYS];
	Oid			pf[INDEX_MAX_KEYS];
	Oid			pp[INDEX_MAX_KEYS];
	Oid			ff[INDEX_MAX_KEYS];
	ObjectAddress self;
	ObjectAddress parent;
	int			count;
	int			set_count;

	DeconstructFkConstraintRow(tuple, &count, columns, referenced_columns, pf, pp, ff, &set_count, set_columns);
	for (int i = 0; i < count; i++)
		referenced_columns[i] = map->attnums[referenced_columns[i] - 1];
	of_chunk.confrelid = RelationGetRelid(chunk);
	of_chunk.conindid = index_get_partition(chunk, key->conindid);
	of_chunk.convalidated = strata_key_is_valid_in_clone(key);
	if (!OidIsValid(of_chunk.conindid))
		elog(ERROR, "index for %u not found in partition %s", key->conindid, RelationGetRelationName(chunk));
	ObjectAddressSet(self, ConstraintRelationId,
					 strata_create_foreign_key(choose_name(referring, NameStr(key->conname), columns, count), referring,
											   &of_chunk, key->oid, count, columns, referenced_columns, pf, pp, ff,
											   set_count, set_columns));
	/* it goes with the hypertable's only */
	ObjectAddressSet(parent, ConstraintRelationId, key->oid);
	recordDependencyOn(&self, &parent, DEPENDENCY_INTERNAL);
	CommandCounterIncrement();
	return self.objectId;
}

/* What is done when a row of the chunk is deleted, or updated: as for the hypertable. */
static void
create_action_trigger(Relation chunk, Form_pg_constraint key, Oid constraint, Oid index, const Trigger *parent)
{
	CreateTrigStmt *trigger = makeNode(CreateTrigStmt);

	trigger->isconstraint = true;
	trigger->trigname = "RI_ConstraintTrigger_a";
	trigger->funcname = SystemFuncName(get_func_name(parent->tgfoid));
	trigger->events = TRIGGER_FOR_DELETE(parent->tgtype) ? TRIGGER_TYPE_DELETE : TRIGGER_TYPE_UPDATE;
	trigger->row = true;
	trigger->timing = TRIGGER_TYPE_AFTER;
	trigger->deferrable = parent->tgdeferrable;
	trigger->initdeferred = parent->tginitdeferred;
	(void) CreateTrigger(trigger, NULL, RelationGetRelid(chunk), key->conrelid, constraint,
						 index, InvalidOid, parent->tgoid, NULL, true, false);
	CommandCounterIncrement();
}

/* Does the chunk have a part of the key? */
static bool
has_key(Oid chunk, Oid parent)
{
	Relation	rel = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData scankey;
	SysScanDesc scan;
	HeapTuple	tuple;
	bool		found = false;

	ScanKeyInit(&scankey, Anum_pg_constraint_conparentid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(parent));
	scan = systable_beginscan(rel, ConstraintParentIndexId, true, NULL, 1, &scankey);
	while (!found && HeapTupleIsValid(tuple = systable_getnext(scan)))
		found = ((Form_pg_constraint) GETSTRUCT(tuple))->confrelid == chunk;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

static void
clone_key(Relation parent, Relation chunk, Oid constraint, const AttrMap *map)
{
	HeapTuple	tuple = SearchSysCacheCopy1(CONSTROID, ObjectIdGetDatum(constraint));
	Form_pg_constraint key;
	Relation	referring;
	Oid			clone;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", constraint);
	key = (Form_pg_constraint) GETSTRUCT(tuple);
	referring = table_open(key->conrelid, ShareUpdateExclusiveLock);
	clone = write_constraint(referring, chunk, tuple, map);
	for (int i = 0; strata_key_is_enforced(key) && i < parent->trigdesc->numtriggers; i++)
	{
		const Trigger *trigger = &parent->trigdesc->triggers[i];

		if (trigger->tgconstraint == constraint && RI_FKey_trigger_type(trigger->tgfoid) == RI_TRIGGER_PK)
			create_action_trigger(chunk, key, clone, index_get_partition(chunk, key->conindid), trigger);
	}
	table_close(referring, NoLock);
}

/*
 * Adds the keys that are not enforced, so have no trigger: like ATTACH, by
 * reading all of pg_constraint, which has no index for it.
 */
static List *
add_keys_without_triggers(List *keys, Oid parent)
{
#if STRATA_KEYS_MAY_LACK_TRIGGERS
	Relation	rel = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData scankeys[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&scankeys[0], Anum_pg_constraint_confrelid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(parent));
	ScanKeyInit(&scankeys[1], Anum_pg_constraint_contype, BTEqualStrategyNumber, F_CHAREQ,
				CharGetDatum(CONSTRAINT_FOREIGN));
	scan = systable_beginscan(rel, InvalidOid, false, NULL, lengthof(scankeys), scankeys);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint key = (Form_pg_constraint) GETSTRUCT(tuple);

		/* one of a partition goes with that of the table above it */
		if (!strata_key_is_enforced(key) && !OidIsValid(key->conparentid))
			keys = list_append_unique_oid(keys, key->oid);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
#endif
	return keys;
}

/* See hypertable_private.h. */
void
strata_referring_keys_clone(Relation parent, Relation chunk)
{
	const TriggerDesc *triggers = parent->trigdesc;
	List	   *keys = NIL;
	AttrMap    *map;
	ListCell   *lc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
		if (RI_FKey_trigger_type(triggers->triggers[i].tgfoid) == RI_TRIGGER_PK)
			keys = list_append_unique_oid(keys, triggers->triggers[i].tgconstraint);
	keys = add_keys_without_triggers(keys, RelationGetRelid(parent));
	if (keys == NIL)
		return;
	map = strata_attrmap_by_name(RelationGetDescr(chunk), RelationGetDescr(parent));
	foreach(lc, keys)
		if (!has_key(RelationGetRelid(chunk), lfirst_oid(lc)))
			clone_key(parent, chunk, lfirst_oid(lc), map);
	free_attrmap(map);
}
