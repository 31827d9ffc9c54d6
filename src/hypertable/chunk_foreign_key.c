/*-------------------------------------------------------------------------
 *
 * chunk_foreign_key.c
 *	  Foreign keys of a new chunk, without shutting out the writers of the
 *	  tables they refer to.
 *
 * ATTACH PARTITION takes ShareRowExclusiveLock on these, so two transactions
 * that both wrote to one and both need a chunk would wait for each other.  An
 * empty table has no rows whose keys could go away meanwhile, and the triggers
 * on the table referred to are the hypertable's own; nothing is written to it.
 * What the lock is still good for we have otherwise (docs/adr/010): so ATTACH is
 * shown a hypertable without foreign keys, and the chunk's own are written here,
 * as CloneFkReferencing() in tablecmds.c does it.
 *
 * src/hypertable/chunk_foreign_key.c
 *-------------------------------------------------------------------------
 */
#include "base/compat.h"
#include "hypertable/hypertable_private.h"

#include "access/attmap.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parser.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* Was the library loaded before any session began, so that all have it? */
static bool loaded_for_all = false;

/*-------------------------------------------------------------------------
 * Hiding the hypertable's foreign keys from ATTACH PARTITION
 *-------------------------------------------------------------------------
 */
static Oid	hide_of = InvalidOid;	/* wanted for this hypertable */
static Relation hidden = NULL;	/* done: a reference of ours */
static object_access_hook_type previous_access = NULL;

static void
hide(void)
{
	if (hidden->rd_fkeyvalid)
		list_free_deep(hidden->rd_fkeylist);
	hidden->rd_fkeylist = NIL;
	hidden->rd_fkeyvalid = true;
}

/* A rebuilt relcache entry shows them again. */
static void
keep_hidden(Datum arg, Oid relid)
{
	if (hidden != NULL && (!OidIsValid(relid) || relid == RelationGetRelid(hidden)))
		hide();
	strata_referring_keys_keep_hidden(relid);
}

/*
 * ATTACH PARTITION has the hypertable open once it has written the inheritance;
 * before, we may not have it open, for ALTER TABLE wants it for itself.
 */
static void
object_access(ObjectAccessType access, Oid class_id, Oid object_id, int sub_id, void *arg)
{
	if (previous_access)
		previous_access(access, class_id, object_id, sub_id, arg);
	if (access == OAT_POST_ALTER && class_id == InheritsRelationId && hidden == NULL && OidIsValid(hide_of))
	{
		hidden = RelationIdGetRelation(hide_of);
		hide();
	}
}

/* See hypertable_private.h. */
void
strata_foreign_keys_hide(Oid hypertable)
{
	strata_referring_keys_hide(hypertable);
	hide_of = hypertable;
	previous_access = object_access_hook;
	object_access_hook = object_access;
}

/* See hypertable_private.h. */
void
strata_foreign_keys_show(void)
{
	strata_referring_keys_show();
	object_access_hook = previous_access;
	hide_of = InvalidOid;
	if (hidden != NULL)
	{
		Relation	rel = hidden;

		hidden = NULL;
		rel->rd_fkeyvalid = false;
		RelationClose(rel);
	}
}

/*-------------------------------------------------------------------------
 * Writing the chunk's own
 *-------------------------------------------------------------------------
 */

static HeapTuple
get_constraint(Oid oid)
{
	HeapTuple	tuple = SearchSysCacheCopy1(CONSTROID, ObjectIdGetDatum(oid));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", oid);
	return tuple;
}

#define CONSTRAINT(tuple) ((Form_pg_constraint) GETSTRUCT(tuple))

/* The hypertable's trigger that checks a foreign key. */
static Oid
find_check_trigger(Relation parent, Oid constraint, Oid function)
{
	const TriggerDesc *triggers = parent->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
		if (triggers->triggers[i].tgconstraint == constraint && triggers->triggers[i].tgfoid == function)
			return triggers->triggers[i].tgoid;
	elog(ERROR, "foreign key %u of \"%s\" has no trigger", constraint, RelationGetRelationName(parent));
}

static void
create_check_trigger(Relation chunk, Form_pg_constraint parent_key, Oid constraint, Oid parent_trigger, bool on_insert)
{
	CreateTrigStmt *trigger = makeNode(CreateTrigStmt);

	trigger->isconstraint = true;
	trigger->trigname = "RI_ConstraintTrigger_c";
	trigger->funcname = SystemFuncName(on_insert ? "RI_FKey_check_ins" : "RI_FKey_check_upd");
	trigger->events = on_insert ? TRIGGER_TYPE_INSERT : TRIGGER_TYPE_UPDATE;
	trigger->row = true;
	trigger->timing = TRIGGER_TYPE_AFTER;
	trigger->deferrable = parent_key->condeferrable;
	trigger->initdeferred = parent_key->condeferred;
	(void) CreateTrigger(trigger, NULL, RelationGetRelid(chunk), parent_key->confrelid, constraint,
						 parent_key->conindid, InvalidOid, parent_trigger, NULL, true, false);
	CommandCounterIncrement();
}

static char *
choose_name(Relation chunk, const char *parent_name, AttrNumber first)
{
	if (!ConstraintNameIsUsed(CONSTRAINT_RELATION, RelationGetRelid(chunk), parent_name))
		return pstrdup(parent_name);
	if (STRATA_KEY_NAMES_EXTEND)
		return ChooseConstraintName(parent_name, NULL, "", RelationGetNamespace(chunk), NIL);
	return ChooseConstraintName(RelationGetRelationName(chunk),
								NameStr(TupleDescAttr(RelationGetDescr(chunk), first - 1)->attname),
								"fkey", RelationGetNamespace(chunk), NIL);
}

/* The pg_constraint row, and what it depends on. */
static Oid
write_constraint(Relation chunk, HeapTuple tuple, const AttrMap *map)
{
	Form_pg_constraint key = CONSTRAINT(tuple);
	AttrNumber	columns[INDEX_MAX_KEYS];
	AttrNumber	referenced_columns[INDEX_MAX_KEYS];
	AttrNumber	set_columns[INDEX_MAX_KEYS];
	Oid			pf[INDEX_MAX_KEYS];
	Oid			pp[INDEX_MAX_KEYS];
	Oid			ff[INDEX_MAX_KEYS];
	ObjectAddress self;
	ObjectAddress other;
	int			count;
	int			set_count;

	DeconstructFkConstraintRow(tuple, &count, columns, referenced_columns, pf, pp, ff, &set_count, set_columns);
	for (int i = 0; i < count; i++)
		columns[i] = map->attnums[columns[i] - 1];
	for (int i = 0; i < set_count; i++)
		set_columns[i] = map->attnums[set_columns[i] - 1];
	ObjectAddressSet(self, ConstraintRelationId,
					 strata_create_foreign_key(choose_name(chunk, NameStr(key->conname), columns[0]), chunk, key, key->oid,
											   count, columns, referenced_columns, pf, pp, ff,
											   set_count, set_columns));
	/* it goes with the hypertable's, and with the chunk */
	ObjectAddressSet(other, ConstraintRelationId, key->oid);
	recordDependencyOn(&self, &other, DEPENDENCY_PARTITION_PRI);
	ObjectAddressSet(other, RelationRelationId, RelationGetRelid(chunk));
	recordDependencyOn(&self, &other, DEPENDENCY_PARTITION_SEC);
	CommandCounterIncrement();
	return self.objectId;
}

static void
clone_key(Relation parent, Relation chunk, HeapTuple tuple, const AttrMap *map)
{
	Form_pg_constraint key = CONSTRAINT(tuple);
	Oid			constraint = write_constraint(chunk, tuple, map);

	if (!strata_key_is_enforced(key))
		return;
	create_check_trigger(chunk, key, constraint,
						 find_check_trigger(parent, key->oid, F_RI_FKEY_CHECK_INS), true);
	create_check_trigger(chunk, key, constraint,
						 find_check_trigger(parent, key->oid, F_RI_FKEY_CHECK_UPD), false);
}

/* pg_constraint rows (copies) of the foreign keys that a chunk has to have. */
static List *
list_keys(Relation parent)
{
	List	   *oids = NIL;
	List	   *tuples = NIL;
	ListCell   *lc;

	foreach(lc, RelationGetFKeyList(parent))
		oids = lappend_oid(oids, lfirst_node(ForeignKeyCacheInfo, lc)->conoid);
	foreach(lc, oids)
	{
		HeapTuple	tuple = get_constraint(lfirst_oid(lc));

		/* one for a partition of the table referred to belongs to the one above it */
		if (!list_member_oid(oids, CONSTRAINT(tuple)->conparentid))
			tuples = lappend(tuples, tuple);
	}
	return tuples;
}

/*
 * What must not happen while we write the constraint: the table it refers to
 * goes away or changes its columns, its index is replaced by another.
 */
static void
lock_referenced(Form_pg_constraint key)
{
	LockRelationOid(key->confrelid, AccessShareLock);
	LockRelationOid(key->conindid, ShareUpdateExclusiveLock);
}

static int
compare_tables(const ListCell *a, const ListCell *b)
{
	Form_pg_constraint left = CONSTRAINT((HeapTuple) lfirst(a));
	Form_pg_constraint right = CONSTRAINT((HeapTuple) lfirst(b));

	if (left->confrelid != right->confrelid)
		return left->confrelid < right->confrelid ? -1 : 1;
	return left->conindid < right->conindid ? -1 : left->conindid > right->conindid;
}

/* See hypertable_private.h. */
bool
strata_foreign_keys_are_ours(Relation parent)
{
	ListCell   *lc;

	if (!loaded_for_all)
		return false;
	/* one that refers to the hypertable itself has triggers on the chunk, too */
	foreach(lc, RelationGetFKeyList(parent))
		if (lfirst_node(ForeignKeyCacheInfo, lc)->confrelid == RelationGetRelid(parent))
			return false;
	return true;
}

/* See hypertable_private.h. */
void
strata_foreign_keys_lock(Relation parent)
{
	List	   *keys = list_keys(parent);
	ListCell   *lc;

	list_sort(keys, compare_tables);
	foreach(lc, keys)
		lock_referenced(CONSTRAINT((HeapTuple) lfirst(lc)));
}

/* See hypertable_private.h. */
void
strata_foreign_keys_clone(Oid hypertable, Oid chunk)
{
	Relation	parent = table_open(hypertable, NoLock);
	Relation	rel = table_open(chunk, NoLock);
	List	   *keys = list_keys(parent);
	AttrMap    *map = strata_attrmap_by_name(RelationGetDescr(rel), RelationGetDescr(parent));
	ListCell   *lc;

	foreach(lc, keys)
	{
		/* again, for a key that came between looking and locking the hypertable */
		lock_referenced(CONSTRAINT((HeapTuple) lfirst(lc)));
		clone_key(parent, rel, lfirst(lc), map);
	}
	free_attrmap(map);
	strata_referring_keys_clone(parent, rel);
	table_close(rel, NoLock);
	table_close(parent, NoLock);
}

/* See hypertable_private.h. */
void
strata_foreign_keys_init(void)
{
	loaded_for_all = process_shared_preload_libraries_in_progress;
	strata_relcache_callback_add(keep_hidden);
}
