/*-------------------------------------------------------------------------
 *
 * pg_btree_key.c
 *	  Keys that are too long for a btree.
 *
 * A leaf page has room for three entries at least.  Whoever has rows that are
 * not put into an index, and might be one day, asks the btree itself, so that
 * limit and error are its own: with an empty leaf page, and the entry as it
 * would be, compressed.
 *
 * src/pg/pg_btree_key.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "access/detoast.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "catalog/pg_am.h"

/* See pg.h. */
bool
strata_btree_limits(Relation index)
{
	TupleDesc	desc = RelationGetDescr(index);

	if (index->rd_rel->relam != BTREE_AM_OID)
		return false;
	for (int i = 0; i < desc->natts; i++)
		if (TupleDescAttr(desc, i)->attlen == -1)
			return true;
	return false;
}

/* See pg.h. */
Size
strata_btree_fixed_bytes(Relation index)
{
	TupleDesc	desc = RelationGetDescr(index);
	Size		size = 0;

	for (int i = 0; i < desc->natts; i++)
		size += Max(TupleDescAttr(desc, i)->attlen, 0);
	return size;
}

/* See pg.h. */
bool
strata_btree_key_is_long(Relation index, const Datum *values,
						 const bool *isnull)
{
	TupleDesc	desc = RelationGetDescr(index);
	Size		size = strata_btree_fixed_bytes(index);

	for (int i = 0; i < desc->natts; i++)
		if (!isnull[i] && TupleDescAttr(desc, i)->attlen == -1)
			size += toast_raw_datum_size(values[i]);
	return size > STRATA_LONG_KEY_BYTES;
}

/* See pg.h. */
void
strata_btree_check_key(Relation index, Relation rel, const Datum *values,
					   const bool *isnull, ItemPointer tid)
{
	PGAlignedBlock leaf;
	IndexTuple	tuple = index_form_tuple(RelationGetDescr(index),
										 (Datum *) values, (bool *) isnull);

	tuple->t_tid = *tid;
	_bt_pageinit((Page) leaf.data, BLCKSZ);
	BTPageGetOpaque((Page) leaf.data)->btpo_flags = BTP_LEAF;
	_bt_check_third_page(index, rel, true, (Page) leaf.data, tuple);
	pfree(tuple);
}
