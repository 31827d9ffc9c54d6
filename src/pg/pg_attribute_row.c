/*-------------------------------------------------------------------------
 *
 * pg_attribute_row.c
 *	  Makes the columns of a new table those of another, to the byte.
 *
 * A table can only take over the file of another one when their rows look the
 * same on the page: dropped columns keep their place and length, and a value
 * that a column got when it was added (attmissingval) is not in the rows.
 * CREATE TABLE LIKE passes over both.  So dropped columns are shown as columns
 * while it runs, and are dropped again in the new table, as pg_dump
 * --binary-upgrade does it; then their length and the missing values are
 * copied.
 *
 * src/pg/pg_attribute_row.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_type.h"
#include "storage/lmgr.h"
#include "utils/syscache.h"

static HeapTuple
attribute_copy(Oid relid, AttrNumber attno)
{
	HeapTuple	tuple = SearchSysCacheCopy2(ATTNUM, ObjectIdGetDatum(relid),
											Int16GetDatum(attno));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for attribute %d of relation %u",
			 attno, relid);
	return tuple;
}

/* See pg.h. */
List *
strata_dropped_columns_show(Oid relid)
{
	Relation	pg_attribute = table_open(AttributeRelationId,
										  RowExclusiveLock);
	Relation	rel = table_open(relid, NoLock);
	int			natts = RelationGetNumberOfAttributes(rel);
	List	   *shown = NIL;

	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock,
								   false)); /* pg:Q6 */
	table_close(rel, NoLock);
	for (int attno = 1; attno <= natts; attno++)
	{
		HeapTuple	tuple = attribute_copy(relid, attno);
		Form_pg_attribute form = (Form_pg_attribute) GETSTRUCT(tuple);

		if (!form->attisdropped)
			continue;
		shown = lappend(shown, heap_copytuple(tuple));
		form->attisdropped = false;
		form->atttypid = INT4OID;
		form->atttypmod = -1;
		form->attcollation = InvalidOid;
		CatalogTupleUpdate(pg_attribute, &tuple->t_self, tuple);
	}
	table_close(pg_attribute, RowExclusiveLock);
	CommandCounterIncrement();
	return shown;
}

/* See pg.h. */
void
strata_dropped_columns_hide(Oid relid, const List *shown)
{
	Relation	pg_attribute = table_open(AttributeRelationId,
										  RowExclusiveLock);
	ListCell   *lc;

	foreach(lc, shown)
	{
		HeapTuple	saved = lfirst(lc);
		Form_pg_attribute form = (Form_pg_attribute) GETSTRUCT(saved);
		HeapTuple	tuple = attribute_copy(relid, form->attnum);

		Assert(form->attrelid == relid && form->attisdropped);	/* pg:Q6 */
		CatalogTupleUpdate(pg_attribute, &tuple->t_self, saved);
	}
	table_close(pg_attribute, RowExclusiveLock);
	CommandCounterIncrement();
}

/* Give one column of `to` what its like in `from` has. */
static void
copy_attribute(Relation pg_attribute, Oid from, Oid to, AttrNumber attno)
{
	HeapTuple	source = attribute_copy(from, attno);
	HeapTuple	target = attribute_copy(to, attno);
	Form_pg_attribute model = (Form_pg_attribute) GETSTRUCT(source);
	Form_pg_attribute form = (Form_pg_attribute) GETSTRUCT(target);
	Datum		values[Natts_pg_attribute] = {0};
	bool		nulls[Natts_pg_attribute] = {0};
	bool		replace[Natts_pg_attribute] = {0};
	int			missing = Anum_pg_attribute_attmissingval - 1;

	if (form->attisdropped != model->attisdropped ||
		form->atttypid != model->atttypid)
		elog(ERROR, "attribute %d of relation %u is not that of relation %u",
			 attno, to, from);
	if (!model->attisdropped && !model->atthasmissing)
		return;
	form->attlen = model->attlen;
	form->attbyval = model->attbyval;
	form->attalign = model->attalign;
	form->attstorage = model->attstorage;
	form->atthasmissing = model->atthasmissing;
	values[missing] = SysCacheGetAttr(ATTNUM, source,
									  Anum_pg_attribute_attmissingval,
									  &nulls[missing]);
	replace[missing] = true;
	CatalogTupleUpdate(pg_attribute, &target->t_self,
					   heap_modify_tuple(target,
										 RelationGetDescr(pg_attribute),
										 values, nulls, replace));
}

/* See pg.h. */
void
strata_columns_make_same(Oid from, Oid to)
{
	Relation	pg_attribute = table_open(AttributeRelationId,
										  RowExclusiveLock);
	Relation	rel = table_open(from, NoLock);
	int			natts = RelationGetNumberOfAttributes(rel);

	table_close(rel, NoLock);
	for (int attno = 1; attno <= natts; attno++)
		copy_attribute(pg_attribute, from, to, attno);
	table_close(pg_attribute, RowExclusiveLock);
	CommandCounterIncrement();
}
