/*-------------------------------------------------------------------------
 *
 * store_index.c
 *	  The relation beside a companion that leads from values to batches.
 *
 * An ordinary heap table _strata.batch_index_<oid of the companion>, found by
 * that name: a companion keeps its OID when it is renamed, rewritten or
 * upgraded.  It goes with the companion (strata_companion_drop).
 *
 * What its runs say of a range of row numbers is said of the batches that had
 * these numbers when the run was made.  So such numbers are never given out
 * again while a run, dead or alive, is there that speaks for them (store:S11).
 *
 * src/store/store_index.c
 *-------------------------------------------------------------------------
 */
#include "store/store_companion.h"
#include "store/store_index.h"
#include "store/store_private.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static void
index_relation_name(Oid companion, char *name)
{
	snprintf(name, NAMEDATALEN, "batch_index_%u", companion);
}

/*
 * See store_index.h.  In our schema only superusers could make another table
 * of that name.
 */
Oid
strata_index_relation_oid(Relation batches)
{
	char		name[NAMEDATALEN];
	Oid			nsp;

	if (batches->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		return InvalidOid;
	nsp = strata_companion_namespace(batches->rd_rel->relpersistence);
	index_relation_name(RelationGetRelid(batches), name);
	return OidIsValid(nsp) ? get_relname_relid(name, nsp) : InvalidOid;
}

/* See store_index.h. */
Oid
strata_index_key_of(Relation relation)
{
	List	   *indexes = RelationGetIndexList(relation);
	Oid			index;

	if (list_length(indexes) != 1 ||
		RelationGetDescr(relation)->natts != STRATA_INDEX_NATTS ||
		relation->rd_rel->relam != HEAP_TABLE_AM_OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("table \"%s\" is not as it was made",
						RelationGetRelationName(relation))));
	index = linitial_oid(indexes);
	list_free(indexes);
	return index;
}

/* Its columns, see store_index.h; in the current context. */
static TupleDesc
index_relation_descriptor(void)
{
	static const struct
	{
		const char *name;
		Oid			type;
	}			columns[STRATA_INDEX_NATTS] = {
		{"run", INT4OID},
		{"first_hash", INT8OID},
		{"first_batch", INT8OID},
		{"entries", INT8OID},
		{"hashes", BYTEAOID},
		{"batches", BYTEAOID},
		{"column_number", INT2OID},
		{"hash_function", OIDOID},
		{"shift", INT2OID},
		{"from_row", INT8OID},
		{"to_row", INT8OID}
	};
	TupleDesc	desc = CreateTemplateTupleDesc(STRATA_INDEX_NATTS);

	for (int i = 0; i < STRATA_INDEX_NATTS; i++)
	{
		TupleDescInitEntry(desc, (AttrNumber) (i + 1), columns[i].name,
						   columns[i].type, -1, 0);
		TupleDescAttr(desc, i)->attnotnull = i < STRATA_INDEX_ATT_ENTRIES;
		/* what is compressed already must not be compressed again */
		if (columns[i].type == BYTEAOID)
			TupleDescAttr(desc, i)->attstorage = TYPSTORAGE_PLAIN;
	}
	return desc;
}

/* See store_index.h. */
Oid
strata_index_relation_create(Relation batches)
{
	char		name[NAMEDATALEN];
	char		persistence = batches->rd_rel->relpersistence;
	StrataOwnerContext saved;
	IndexStmt  *stmt = makeNode(IndexStmt);
	ObjectAddress self;
	ObjectAddress extension;
	Oid			oid;

	Assert(persistence != RELPERSISTENCE_TEMP); /* store:S11 */
	index_relation_name(RelationGetRelid(batches), name);
	strata_role_enter(strata_extension_owner(), &saved);
	oid = heap_create_with_catalog(name,
								   strata_companion_namespace(persistence),
								   batches->rd_rel->reltablespace, InvalidOid,
								   InvalidOid, InvalidOid, GetUserId(),
								   HEAP_TABLE_AM_OID,
								   index_relation_descriptor(), NIL,
								   RELKIND_RELATION, persistence, false, false,
								   ONCOMMIT_NOOP, (Datum) 0, false, true, true,
								   InvalidOid, NULL);
	CommandCounterIncrement();
	strata_companion_silence(oid);
	ObjectAddressSet(self, RelationRelationId, oid);
	ObjectAddressSet(extension, ExtensionRelationId,
					 get_extension_oid(STRATA_EXTENSION, false));
	recordDependencyOn(&self, &extension, DEPENDENCY_EXTENSION);
	if (STRATA_ROW_TYPES_ARE_MEMBERS)
	{
		ObjectAddressSet(self, TypeRelationId, get_rel_type_id(oid));
		recordDependencyOn(&self, &extension, DEPENDENCY_EXTENSION);
		ObjectAddressSet(self, TypeRelationId, get_array_type(self.objectId));
		recordDependencyOn(&self, &extension, DEPENDENCY_EXTENSION);
	}
	CommandCounterIncrement();
	stmt->accessMethod = "btree";
	stmt->unique = true;
	stmt->indexParams = list_make3(strata_index_elem("run"),
								   strata_index_elem("first_hash"),
								   strata_index_elem("first_batch"));
	/* the relation is given by oid: the name only serves messages */
	stmt->relation = makeRangeVar(STRATA_INTERNAL_SCHEMA, name, -1);
	(void) strata_define_index(oid, stmt, false);
	CommandCounterIncrement();
	strata_owner_leave(&saved);
	return oid;
}

/* See store_index.h. */
int64
strata_index_high_water(Relation batches)
{
	Oid			oid = strata_index_relation_oid(batches);
	Relation	relation;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	int64		result = 0;

	if (!OidIsValid(oid))
		return 0;
	relation = table_open(oid, AccessShareLock);
	ScanKeyInit(&key, STRATA_INDEX_ATT_RUN, BTLessStrategyNumber, F_INT4LT,
				Int32GetDatum(0));
	scan = systable_beginscan(relation, strata_index_key_of(relation), true,
							  SnapshotAny, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		to = heap_getattr(tuple, STRATA_INDEX_ATT_TO,
									  RelationGetDescr(relation), &isnull);

		if (!isnull)
			result = Max(result, DatumGetInt64(to));
	}
	systable_endscan(scan);
	table_close(relation, NoLock);
	return result;
}
