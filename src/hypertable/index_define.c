/*-------------------------------------------------------------------------
 *
 * index_define.c
 *	  The hypertable's own part of an index, made beside writers.
 *
 * PostgreSQL takes ShareLock on a partitioned table for CREATE INDEX ON ONLY,
 * though it writes to the catalog only: it would wait for every writer, and
 * everybody behind it.  Here the index is defined, by PostgreSQL's own code,
 * on an empty table that stands in for the hypertable and is gone when the
 * transaction ends; its definition is then entered for the hypertable, under
 * ShareUpdateExclusiveLock.
 *
 * src/hypertable/index_define.c
 *-------------------------------------------------------------------------
 */
#include "base/compat.h"
#include "hypertable/hypertable_private.h"

#include "access/reloptions.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_partitioned_table.h"
#include "catalog/pg_tablespace.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_utilcmd.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/*
 * Give the stand-in the hypertable's partition key, which decides what a
 * unique index must include.
 */
static void
copy_partition_key(Relation stand_in, Relation parent,
				   const StrataHypertable *ht)
{
	StrataOwnerContext saved;
	PartitionKey key;
	AttrNumber	attno = ht->attno;

	strata_owner_enter(parent->rd_rel->relowner, &saved);
	key = RelationGetPartitionKey(parent);
	strata_owner_leave(&saved);
	if (strata_unique_key_column(parent, ht))
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(parent),
											  attno - 1);
		Oid			opclass = GetDefaultOpClass(att->atttypid, BTREE_AM_OID);
		Oid			collation = att->attcollation;

		StorePartitionKey(stand_in, PARTITION_STRATEGY_RANGE, 1, &attno, NIL,
						  &opclass, &collation);
	}
	else
	{
		HeapTuple	tuple = SearchSysCache1(PARTRELID,
											ObjectIdGetDatum(ht->relid));
		oidvector  *classes;
		bool		isnull;

		if (!HeapTupleIsValid(tuple))
			elog(ERROR, "cache lookup failed for partition key of %u",
				 ht->relid);
		classes = (oidvector *) DatumGetPointer(SysCacheGetAttr(
																PARTRELID, tuple, Anum_pg_partitioned_table_partclass, &isnull));
		StorePartitionKey(stand_in, PARTITION_STRATEGY_RANGE, key->partnatts,
						  key->partattrs, key->partexprs, classes->values,
						  key->partcollation);
		ReleaseSysCache(tuple);
	}
}

/*
 * A name for the stand-in: the hypertable's, which errors show, unless it is
 * taken in our schema.
 */
static const char *
stand_in_name(Relation parent, Oid schema)
{
	const char *name = RelationGetRelationName(parent);

	if (!OidIsValid(get_relname_relid(name, schema)) &&
		!SearchSysCacheExists2(TYPENAMENSP, CStringGetDatum(name),
							   ObjectIdGetDatum(schema)))
		return name;
	return ChooseRelationName(name, NULL, "index", schema, false);
}

/*
 * An empty table with the hypertable's columns (dropped ones, too), partition
 * key and owner.
 */
static Oid
make_stand_in(Relation parent, const StrataHypertable *ht)
{
	Oid			schema = get_namespace_oid(STRATA_INTERNAL_SCHEMA, false);
	Relation	rel;
	Oid			relid;

	relid = heap_create_with_catalog(stand_in_name(parent, schema), schema,
									 InvalidOid, InvalidOid, InvalidOid,
									 InvalidOid, parent->rd_rel->relowner,
									 InvalidOid, RelationGetDescr(parent), NIL,
									 RELKIND_PARTITIONED_TABLE,
									 parent->rd_rel->relpersistence, false,
									 false, ONCOMMIT_NOOP, (Datum) 0, false,
									 false, true, InvalidOid, NULL);
	CommandCounterIncrement();
	rel = table_open(relid, AccessExclusiveLock);
	copy_partition_key(rel, parent, ht);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	return relid;
}

/*
 * The name that PostgreSQL would choose, from the names of the index's
 * columns.
 */
static char *
choose_name(Relation parent, Relation index)
{
	TupleDesc	desc = RelationGetDescr(index);
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < desc->natts && columns.len < NAMEDATALEN; i++)
		appendStringInfo(&columns, "%s%s", i > 0 ? "_" : "",
						 NameStr(TupleDescAttr(desc, i)->attname));
	return ChooseRelationName(RelationGetRelationName(parent), columns.data,
							  "idx", RelationGetNamespace(parent), false);
}

/* DefineIndex() looks into these for the stand-in's schema. */
static void
check_rights(Relation parent, Relation index)
{
	Oid			space = index->rd_rel->reltablespace;

	if (!strata_schema_create_allowed(RelationGetNamespace(parent),
									  GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SCHEMA,
					   get_namespace_name(RelationGetNamespace(parent)));
	if (OidIsValid(space) &&
		!strata_tablespace_create_allowed(space, GetUserId()))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLESPACE,
					   get_tablespace_name(space));
}

/* What an index is made of; its owner's functions among it may be called. */
static IndexInfo *
build_info(Relation index)
{
	StrataOwnerContext saved;
	IndexInfo  *info;

	strata_owner_enter(index->rd_rel->relowner, &saved);
	info = BuildIndexInfo(index);
	strata_owner_leave(&saved);
	return info;
}

/*
 * Enter the definition of one partitioned index, which is on a table with the
 * same columns, for another table; the new index is invalid.
 */
static Oid
copy_definition(Relation parent, Relation index, const char *name)
{
	IndexInfo  *info = build_info(index);
	HeapTuple	tuple;
	HeapTuple	class;
	Datum	   *class_options;
	List	   *columns = NIL;
	oidvector  *classes;
	Datum		datum;
	Datum		reloptions;
	bool		isnull;
	Oid			result;

	tuple = SearchSysCache1(INDEXRELID,
							ObjectIdGetDatum(RelationGetRelid(index)));
	class = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(index)));
	class_options = palloc0(sizeof(Datum) * info->ii_NumIndexAttrs);
	if (!HeapTupleIsValid(tuple) || !HeapTupleIsValid(class))
		elog(ERROR, "cache lookup failed for index %u",
			 RelationGetRelid(index));
	classes = (oidvector *)
		DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple,
										Anum_pg_index_indclass, &isnull));
	reloptions = SysCacheGetAttr(RELOID, class, Anum_pg_class_reloptions,
								 &isnull);
	/* what relcache has was simplified for the planner */
	datum = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indexprs,
							&isnull);
	if (!isnull)
		info->ii_Expressions = (List *)
			stringToNode(TextDatumGetCString(datum));
	datum = SysCacheGetAttr(INDEXRELID, tuple, Anum_pg_index_indpred, &isnull);
	if (!isnull)
		info->ii_Predicate =
			make_ands_implicit((Expr *)
							   stringToNode(TextDatumGetCString(datum)));
	for (int i = 0; i < info->ii_NumIndexAttrs; i++)
	{
		columns =
			lappend(columns,
					NameStr(TupleDescAttr(RelationGetDescr(index),
										  i)->attname));
		class_options[i] = get_attoptions(RelationGetRelid(index), i + 1);
	}
	result = strata_index_create(parent, name, info, columns,
								 index->rd_rel->relam,
								 index->rd_rel->reltablespace,
								 index->rd_indcollation, classes->values,
								 class_options, index->rd_indoption,
								 reloptions,
								 INDEX_CREATE_PARTITIONED |
								 INDEX_CREATE_SKIP_BUILD |
								 INDEX_CREATE_INVALID);
	ReleaseSysCache(class);
	ReleaseSysCache(tuple);
	CommandCounterIncrement();
	return result;
}

/* See hypertable_private.h. */
bool
strata_index_is_same(Relation a, Relation b, const AttrMap *map)
{
	IndexInfo  *info = build_info(a);
	HeapTuple	tuple_a;
	HeapTuple	tuple_b;
	oidvector  *classes_a;
	oidvector  *classes_b;
	bool		isnull;
	bool		same;

	Assert(map->maplen > 0);	/* hypertable:Y11 */
	if (!CompareIndexInfo(info, build_info(b), a->rd_indcollation,
						  b->rd_indcollation, a->rd_opfamily, b->rd_opfamily,
						  unconstify(AttrMap *, map)))
		return false;
	if (memcmp(a->rd_indoption, b->rd_indoption,
			   sizeof(int16) * info->ii_NumIndexKeyAttrs) != 0)
		return false;
	tuple_a = SearchSysCache1(INDEXRELID,
							  ObjectIdGetDatum(RelationGetRelid(a)));
	tuple_b = SearchSysCache1(INDEXRELID,
							  ObjectIdGetDatum(RelationGetRelid(b)));
	if (!HeapTupleIsValid(tuple_a) || !HeapTupleIsValid(tuple_b))
		elog(ERROR, "cache lookup failed for index");
	classes_a = (oidvector *)
		DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple_a,
										Anum_pg_index_indclass, &isnull));
	classes_b = (oidvector *)
		DatumGetPointer(SysCacheGetAttr(INDEXRELID, tuple_b,
										Anum_pg_index_indclass, &isnull));
	same = memcmp(classes_a->values, classes_b->values,
				  sizeof(Oid) * info->ii_NumIndexKeyAttrs) == 0;
	ReleaseSysCache(tuple_a);
	ReleaseSysCache(tuple_b);
	return same;
}

/*
 * Ereports unless an index that is to be gone on with is what the statement
 * defines.
 */
static void
check_same(Relation parent, Relation wanted, Oid existing)
{
	Relation	index = index_open(existing, AccessShareLock);
	AttrMap    *map = strata_attrmap_by_name(RelationGetDescr(parent),
											 RelationGetDescr(parent));

	if (!strata_index_is_same(wanted, index, map))
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("index \"%s\" exists, is not finished, and is defined in another way",
						RelationGetRelationName(index)),
				 errhint("DROP INDEX %s;", strata_sql_name(existing))));
	free_attrmap(map);
	index_close(index, AccessShareLock);
}

/* See hypertable_private.h. */
Oid
strata_index_define(Relation parent, const StrataHypertable *ht,
					const IndexStmt *stmt, const char *query, Oid existing)
{
	IndexStmt  *define = transformIndexStmt(ht->relid,
											copyObject(unconstify(IndexStmt *,
																  stmt)),
											query);
	Oid			stand_in = make_stand_in(parent, ht);
	ObjectAddress address;
	Relation	index;
	Oid			result = existing;

	Assert(CheckRelationLockedByMe(parent, ShareUpdateExclusiveLock,
								   true));	/* hypertable:Y11 */
	define->idxname = NULL;
	define->concurrent = false;
	define->if_not_exists = false;
	address = strata_define_index(stand_in, define, false);
	CommandCounterIncrement();
	index = index_open(address.objectId, AccessShareLock);
	check_rights(parent, index);
	if (OidIsValid(existing))
		check_same(parent, index, existing);
	else
		result = copy_definition(parent, index,
								 stmt->idxname != NULL ?
								 stmt->idxname :
								 choose_name(parent, index));
	index_close(index, NoLock);
	ObjectAddressSet(address, RelationRelationId, stand_in);
	performDeletion(&address, DROP_RESTRICT,
					PERFORM_DELETION_INTERNAL | PERFORM_DELETION_QUIETLY);
	CommandCounterIncrement();
	return result;
}
