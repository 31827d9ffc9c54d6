/*-------------------------------------------------------------------------
 *
 * pg_class_row.c
 *	  Columns of pg_class that no statement of PostgreSQL sets to what we do.
 *
 * relrewrite: logical decoding skips what happens to a table that has it set;
 * that is how ALTER TABLE hides the table it fills.  It looks with a catalog
 * snapshot of the very change.
 *
 * reloptions: names with a dot, which no option of PostgreSQL has.  It passes
 * over options it does not know when it reads them, and pg_dump writes them
 * out; only statements that set options refuse them, and those do not come so
 * far.
 *
 * relkind: a table or index becomes a partitioned one and keeps its OID, as
 * views were made of tables up to version 15.
 *
 * relam: a heap becomes a table of an access method that reads its pages, and
 * keeps its storage.
 *
 * relfilenode, and what says how the file is: another relation of the same
 * columns takes it over, as CLUSTER and REINDEX swap files.
 *
 * A table by its rows alone, without a relcache entry or a lock.
 *
 * relpersistence of partitioned tables, which ALTER TABLE leaves as it is;
 * relpartbound of a partition in its place, and relacl as a whole, for which
 * there is no function: what a table of ours got from default privileges goes.
 *
 * src/pg/pg_class_row.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "base/compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/relation.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_index.h"
#include "catalog/pg_type.h"
#include "catalog/storage.h"
#include "commands/defrem.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

typedef struct ClassRow
{
	Relation	pg_class;
	HeapTuple	tuple;			/* a copy */
	Form_pg_class form;			/* in it */
	ItemPointerData tid;
} ClassRow;

/* Lock a row, so that no in-place update of it is lost. */
static ClassRow
row_open(Oid relid)
{
	ClassRow	row;

	row.pg_class = table_open(RelationRelationId, RowExclusiveLock);
	row.tuple = strata_class_tuple_lock_copy(relid);
	if (!HeapTupleIsValid(row.tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	row.form = (Form_pg_class) GETSTRUCT(row.tuple);
	row.tid = row.tuple->t_self;
	Assert(row.form->oid == relid); /* pg:Q4 */
	return row;
}

static void
row_close(ClassRow *row)
{
	strata_class_tuple_unlock(row->pg_class, &row->tid);
	heap_freetuple(row->tuple);
	table_close(row->pg_class, RowExclusiveLock);
}

/* Write one column, which may be null. */
static void
write_column(Oid relid, AttrNumber attno, Datum value, bool isnull)
{
	ClassRow	row = row_open(relid);
	Datum		values[Natts_pg_class] = {0};
	bool		nulls[Natts_pg_class] = {0};
	bool		replace[Natts_pg_class] = {0};
	HeapTuple	updated;

	values[attno - 1] = value;
	nulls[attno - 1] = isnull;
	replace[attno - 1] = true;
	updated = heap_modify_tuple(row.tuple, RelationGetDescr(row.pg_class),
								values, nulls, replace);
	CatalogTupleUpdate(row.pg_class, &row.tid, updated);
	heap_freetuple(updated);
	row_close(&row);
	CommandCounterIncrement();
}

/* See pg.h. */
void
strata_relrewrite_set(Oid relid, Oid value)
{
	ClassRow	row = row_open(relid);
	ItemPointerData tid = row.tid;

	if (row.form->relrewrite != value)
	{
		row.form->relrewrite = value;
		CatalogTupleUpdate(row.pg_class, &tid, row.tuple);
	}
	row_close(&row);
	CommandCounterIncrement();
}

/* See pg.h. */
List *
strata_reloptions_read(HeapTuple tuple)
{
	bool		isnull;
	Datum		datum = SysCacheGetAttr(RELOID, tuple,
										Anum_pg_class_reloptions, &isnull);

	return isnull ? NIL : untransformRelOptions(datum);
}

/* See pg.h. */
void
strata_reloptions_write(Oid relid, List *options)
{
	ArrayBuildState *astate = NULL;
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		char	   *text = psprintf("%s=%s", def->defname,
									def->arg != NULL ? defGetString(def) : "true");

		astate = accumArrayResult(astate, CStringGetTextDatum(text), false,
								  TEXTOID, CurrentMemoryContext);
	}
	write_column(relid, Anum_pg_class_reloptions,
				 astate == NULL ? (Datum) 0 :
				 makeArrayResult(astate, CurrentMemoryContext),
				 astate == NULL);
}

/* See pg.h. */
void
strata_relkind_make_partitioned(Oid relid)
{
	ClassRow	row = row_open(relid);
	ItemPointerData tid = row.tid;
	bool		is_table = row.form->relkind == RELKIND_RELATION;

	Assert(is_table || row.form->relkind == RELKIND_INDEX); /* pg:Q4 */
	row.form->relkind = is_table ? RELKIND_PARTITIONED_TABLE :
		RELKIND_PARTITIONED_INDEX;
	row.form->relfilenode = InvalidOid;
	row.form->reltoastrelid = InvalidOid;
	row.form->relpages = 0;
	row.form->reltuples = is_table ? -1 : 0;
	row.form->relallvisible = 0;
	if (is_table)
	{
		row.form->relam = InvalidOid;
		row.form->relfrozenxid = InvalidTransactionId;
		row.form->relminmxid = InvalidMultiXactId;
	}
	CatalogTupleUpdate(row.pg_class, &tid, row.tuple);
	row_close(&row);
}

/* See pg.h. */
void
strata_relam_set(Oid relid, Oid am)
{
	ClassRow	row = row_open(relid);
	ItemPointerData tid = row.tid;
	Oid			old = row.form->relam;

	row.form->relam = am;
	CatalogTupleUpdate(row.pg_class, &tid, row.tuple);
	row_close(&row);
	if (changeDependencyFor(RelationRelationId, relid,
							AccessMethodRelationId, old, am) != 1)
		elog(ERROR, "could not change access method dependency of relation %u",
			 relid);
	CommandCounterIncrement();
}

/* See pg.h. */
void
strata_relpersistence_set(Oid relid, char persistence)
{
	write_column(relid, Anum_pg_class_relpersistence,
				 CharGetDatum(persistence), false);
}

/* See pg.h. */
void
strata_relpartbound_set(Oid relid, PartitionBoundSpec *bound)
{
	write_column(relid, Anum_pg_class_relpartbound,
				 CStringGetTextDatum(nodeToString(bound)), false);
}

/* See pg.h. */
void
strata_relacl_set(Oid relid, Datum acl)
{
	write_column(relid, Anum_pg_class_relacl, acl, false);
}

/* See pg.h. */
void
strata_relacl_clear(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool		isnull;
	Datum		acl;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	acl = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relacl, &isnull);
	if (!isnull)
	{
		Oid		   *members;
		int			count = aclmembers(DatumGetAclP(acl), &members);

		write_column(relid, Anum_pg_class_relacl, (Datum) 0, true);
		updateAclDependencies(RelationRelationId, relid, 0,
							  ((Form_pg_class) GETSTRUCT(tuple))->relowner,
							  count, members, 0, NULL);
		CommandCounterIncrement();
	}
	ReleaseSysCache(tuple);
}

/*
 * See pg.h.  VACUUM updates it in place, of which the caches of this session
 * hear at the end of the transaction.
 */
double
strata_reltuples_now(Oid relid)
{
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	double		result;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(pg_class, ClassOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "no row of pg_class for relation %u", relid);
	result = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
	systable_endscan(scan);
	table_close(pg_class, AccessShareLock);
	return result;
}

/* See pg.h. */
void
strata_storage_read(Oid relid, StrataStorageRow *storage)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	form = (Form_pg_class) GETSTRUCT(tuple);
	storage->relid = relid;
	storage->filenode = form->relfilenode;
	storage->tablespace = form->reltablespace;
	storage->toast = form->reltoastrelid;
	storage->frozen_xid = form->relfrozenxid;
	storage->min_multi = form->relminmxid;
	storage->pages = form->relpages;
	storage->tuples = form->reltuples;
	storage->all_visible = form->relallvisible;
	ReleaseSysCache(tuple);
	if (storage->filenode == InvalidOid)
		elog(ERROR, "relation %u has no file of its own", relid);
}

/* Which file the relation has, and what is known of it. */
static void
write_storage(Oid relid, const StrataStorageRow *storage)
{
	ClassRow	row;
	ItemPointerData tid;

	row = row_open(relid);
	tid = row.tid;
	row.form->relfilenode = storage->filenode;
	row.form->reltablespace = storage->tablespace;
	row.form->reltoastrelid = storage->toast;
	row.form->relfrozenxid = storage->frozen_xid;
	row.form->relminmxid = storage->min_multi;
	row.form->relpages = storage->pages;
	row.form->reltuples = storage->tuples;
	row.form->relallvisible = storage->all_visible;
	CatalogTupleUpdate(row.pg_class, &tid, row.tuple);
	row_close(&row);
	CommandCounterIncrement();
}

/* See pg.h. */
void
strata_storage_give(Oid relid, const StrataStorageRow *storage)
{
	Relation	rel = relation_open(relid, AccessExclusiveLock);

	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock,
								   false)); /* pg:Q7 */
	RelationDropStorage(rel);
	relation_close(rel, NoLock);
	write_storage(relid, storage);
}

/*
 * For Asserts.  Asked of the relation, since only 15.9 and 16.5 tell of a lock
 * by OID.
 */
pg_attribute_unused()
static bool
locked_alone(Oid relid)
{
	Relation	rel = RelationIdGetRelation(relid);
	bool		held;

	held = CheckRelationLockedByMe(rel, AccessExclusiveLock, false);
	RelationClose(rel);
	return held;
}

/* See pg.h. */
void
strata_storage_exchange(Oid to, Oid from)
{
	StrataStorageRow given;
	StrataStorageRow taken;

	Assert(locked_alone(to) && locked_alone(from)); /* pg:Q7 */
	strata_storage_read(from, &given);
	strata_storage_read(to, &taken);
	taken.toast = InvalidOid;
	write_storage(to, &given);
	write_storage(from, &taken);
}

/* See pg.h. */
void
strata_index_copy_checkxmin(Oid from, Oid to)
{
	Relation	pg_index = table_open(IndexRelationId, RowExclusiveLock);
	HeapTuple	source = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(from));
	HeapTuple	target = SearchSysCacheCopy1(INDEXRELID,
											 ObjectIdGetDatum(to));

	if (!HeapTupleIsValid(source) || !HeapTupleIsValid(target))
		elog(ERROR, "cache lookup failed for index %u or %u", from, to);
	if (((Form_pg_index) GETSTRUCT(source))->indcheckxmin)
	{
		((Form_pg_index) GETSTRUCT(target))->indcheckxmin = true;
		CatalogTupleUpdate(pg_index, &target->t_self, target);
	}
	ReleaseSysCache(source);
	table_close(pg_index, RowExclusiveLock);
	CommandCounterIncrement();
}

/* See pg.h. */
Relation
strata_relation_glance(Oid relid, bool columns)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Relation	rel;
	Form_pg_class form;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	rel = palloc0(sizeof(RelationData));
	form = palloc(CLASS_TUPLE_SIZE);
	memcpy(form, GETSTRUCT(tuple), CLASS_TUPLE_SIZE);
	ReleaseSysCache(tuple);
	rel->rd_id = relid;
	rel->rd_rel = form;
	STRATA_LOCATOR_SPACE(STRATA_REL_LOCATOR(rel)) =
		OidIsValid(form->reltablespace) ? form->reltablespace :
		MyDatabaseTableSpace;
	STRATA_LOCATOR_NUMBER(STRATA_REL_LOCATOR(rel)) = form->relfilenode;
	if (!columns)
		return rel;
	rel->rd_att = CreateTemplateTupleDesc(form->relnatts);
	for (AttrNumber attno = 1; attno <= form->relnatts; attno++)
	{
		tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid),
								Int16GetDatum(attno));
		if (!HeapTupleIsValid(tuple))
			return NULL;
		memcpy(TupleDescAttr(rel->rd_att, attno - 1), GETSTRUCT(tuple),
			   ATTRIBUTE_FIXED_PART_SIZE);
		ReleaseSysCache(tuple);
	}
	return rel;
}
