/*-------------------------------------------------------------------------
 *
 * store_sort.c
 *	  A stable sort of rows by segment and order.
 *
 * PostgreSQL's sort leaves rows with equal keys in any order.  Batches keep the
 * order of arrival (neighbours are alike then), and an estimate has to find what
 * compression will find, so rows are numbered and the number is the last key.
 * It stands in front of the row's columns, where comparisons find it at once.
 *
 * src/store/store_sort.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

struct StrataRowSort
{
	Tuplesortstate *sort;
	int			natts;			/* of the table */
	int64		nrows;			/* put so far */
	TupleTableSlot *numbered;	/* number, columns: on the way in */
	TupleTableSlot *sorted;		/* the same, on the way out */
	TupleTableSlot *row;		/* columns */
};

/* Number and columns. */
static TupleDesc
numbered_desc(TupleDesc table)
{
	TupleDesc	desc = CreateTemplateTupleDesc(table->natts + 1);

	TupleDescInitEntry(desc, 1, "arrival", INT8OID, -1, 0);
	for (int i = 0; i < table->natts; i++)
		TupleDescCopyEntry(desc, (AttrNumber) (i + 2), table, (AttrNumber) (i + 1));
	return desc;
}

/* See store_private.h. */
StrataRowSort *
strata_row_sort_begin(TupleDesc table, const StrataLayout *layout, int kilobytes)
{
	StrataRowSort *sort = palloc0(sizeof(StrataRowSort));
	TupleDesc	desc = numbered_desc(table);
	int			nkeys = layout->nsegment + layout->norder + 1;
	AttrNumber *attnos = palloc(sizeof(AttrNumber) * nkeys);
	Oid		   *operators = palloc(sizeof(Oid) * nkeys);
	Oid		   *collations = palloc0(sizeof(Oid) * nkeys);
	bool	   *nulls_first = palloc0(sizeof(bool) * nkeys);

	for (int i = 0; i < nkeys - 1; i++)
	{
		const StrataOrderKey *key = i < layout->nsegment ? NULL : &layout->order[i - layout->nsegment];
		Form_pg_attribute att = TupleDescAttr(table, (key != NULL ? key->attno : layout->segment[i]) - 1);
		TypeCacheEntry *type = lookup_type_cache(att->atttypid, TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);

		attnos[i] = (AttrNumber) (att->attnum + 1);
		operators[i] = key != NULL && key->desc ? type->gt_opr : type->lt_opr;
		collations[i] = att->attcollation;
		nulls_first[i] = key != NULL && key->nulls_first;
	}
	attnos[nkeys - 1] = 1;
	operators[nkeys - 1] = Int8LessOperator;

	sort->natts = table->natts;
	sort->sort = tuplesort_begin_heap(desc, nkeys, attnos, operators, collations, nulls_first,
									  kilobytes, NULL, TUPLESORT_NONE);
	sort->numbered = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	sort->sorted = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	sort->row = MakeSingleTupleTableSlot(table, &TTSOpsVirtual);
	return sort;
}

/* The columns of a row, from one place to another. */
static void
copy_columns(Datum *values, bool *isnull, const Datum *from_values, const bool *from_isnull, int natts)
{
	memcpy(values, from_values, sizeof(Datum) * natts);
	memcpy(isnull, from_isnull, sizeof(bool) * natts);
}

/* See store_private.h. */
void
strata_row_sort_put(StrataRowSort *sort, TupleTableSlot *slot)
{
	TupleTableSlot *numbered = ExecClearTuple(sort->numbered);

	numbered->tts_values[0] = Int64GetDatum(sort->nrows++);
	numbered->tts_isnull[0] = false;
	copy_columns(numbered->tts_values + 1, numbered->tts_isnull + 1, slot->tts_values, slot->tts_isnull, sort->natts);
	tuplesort_puttupleslot(sort->sort, ExecStoreVirtualTuple(numbered));
}

/* See store_private.h. */
void
strata_row_sort_perform(StrataRowSort *sort)
{
	tuplesort_performsort(sort->sort);
}

/* See store_private.h. */
TupleTableSlot *
strata_row_sort_next(StrataRowSort *sort)
{
	TupleTableSlot *row = ExecClearTuple(sort->row);

	if (!tuplesort_gettupleslot(sort->sort, true, false, sort->sorted, NULL))
		return NULL;
	slot_getallattrs(sort->sorted);
	copy_columns(row->tts_values, row->tts_isnull, sort->sorted->tts_values + 1, sort->sorted->tts_isnull + 1,
				 sort->natts);
	return ExecStoreVirtualTuple(row);
}

/* See store_private.h. */
void
strata_row_sort_end(StrataRowSort *sort)
{
	ExecDropSingleTupleTableSlot(sort->numbered);
	ExecDropSingleTupleTableSlot(sort->sorted);
	ExecDropSingleTupleTableSlot(sort->row);
	tuplesort_end(sort->sort);
	pfree(sort);
}
