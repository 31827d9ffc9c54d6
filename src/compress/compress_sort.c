/*-------------------------------------------------------------------------
 *
 * compress_sort.c
 *	  A stable sort of rows by segment and order.
 *
 * PostgreSQL's sort leaves rows with equal keys in any order.  Batches keep
 * the order of arrival (neighbours are alike then), and an estimate has to
 * find what compression will find, so rows are numbered and the number is the
 * last key. It stands in front of the row's columns, where comparisons find it
 * at once.
 *
 * A batch has segment values of one image.  Where values can be equal and look
 * different (1.0 and 1.00, 0 and -0, collations that know better), a hash of
 * the images stands behind them, so that rows of one image come together.
 *
 * src/compress/compress_sort.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/tuplesort.h"
#include "utils/typcache.h"

/* Columns in front of the table's. */
#define ARRIVAL_ATT 1
#define IMAGE_ATT 2
#define EXTRA_ATTS 2

struct StrataRowSort
{
	Tuplesortstate *sort;
	const StrataLayout *layout;
	bool		by_image;		/* IMAGE_ATT is a key */
	int			natts;			/* of the table */
	int64		nrows;			/* put so far */
	TupleTableSlot *numbered;	/* number, image, columns: on the way in */
	TupleTableSlot *sorted;		/* the same, on the way out */
	TupleTableSlot *row;		/* columns */
};

/* Number, image and columns. */
static TupleDesc
numbered_desc(TupleDesc table)
{
	TupleDesc	desc = CreateTemplateTupleDesc(table->natts + EXTRA_ATTS);

	TupleDescInitEntry(desc, ARRIVAL_ATT, "arrival", INT8OID, -1, 0);
	TupleDescInitEntry(desc, IMAGE_ATT, "image", INT4OID, -1, 0);
	for (int i = 0; i < table->natts; i++)
		TupleDescCopyEntry(desc, (AttrNumber) (i + 1 + EXTRA_ATTS), table,
						   (AttrNumber) (i + 1));
	return desc;
}

/* Can segment values be equal and not the same? */
static bool
images_differ(TupleDesc table, const StrataLayout *layout)
{
	for (int i = 0; i < layout->nsegment; i++)
	{
		Form_pg_attribute att = TupleDescAttr(table, layout->segment[i] - 1);

		if (!strata_equal_is_identical(att->atttypid, att->attcollation))
			return true;
	}
	return false;
}

/* A hash of the images of the row's segment values. */
static uint32
image_of(const StrataRowSort *sort, TupleTableSlot *slot)
{
	uint32		hash = 0;

	for (int i = 0; i < sort->layout->nsegment; i++)
	{
		int			a = sort->layout->segment[i] - 1;
		Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor, a);

		hash = pg_rotate_left32(hash, 5) ^
			(slot->tts_isnull[a] ?
			 0 :
			 datum_image_hash(slot->tts_values[a], att->attbyval,
							  att->attlen));
	}
	return hash;
}

/* See compress_private.h. */
StrataRowSort *
strata_row_sort_begin(TupleDesc table, const StrataLayout *layout,
					  int kilobytes)
{
	StrataRowSort *sort = palloc0(sizeof(StrataRowSort));
	TupleDesc	desc = numbered_desc(table);
	bool		by_image = images_differ(table, layout);
	int			nlast = layout->nsegment + layout->norder + (by_image ? 1 : 0);
	int			nkeys = nlast + 1;
	AttrNumber *attnos = palloc(sizeof(AttrNumber) * nkeys);
	Oid		   *operators = palloc(sizeof(Oid) * nkeys);
	Oid		   *collations = palloc0(sizeof(Oid) * nkeys);
	bool	   *nulls_first = palloc0(sizeof(bool) * nkeys);

	for (int i = 0; i < layout->nsegment + layout->norder; i++)
	{
		const StrataOrderKey *key = i < layout->nsegment ?
		NULL :
		&layout->order[i - layout->nsegment];
		Form_pg_attribute att = TupleDescAttr(table,
											  (key != NULL ? key->attno :
											   layout->segment[i]) - 1);
		TypeCacheEntry *type = lookup_type_cache(att->atttypid,
												 TYPECACHE_LT_OPR |
												 TYPECACHE_GT_OPR);
		int			k = key != NULL && by_image ? i + 1 : i;

		attnos[k] = (AttrNumber) (att->attnum + EXTRA_ATTS);
		operators[k] = key != NULL && key->desc ? type->gt_opr : type->lt_opr;
		collations[k] = att->attcollation;
		nulls_first[k] = key != NULL && key->nulls_first;
	}
	if (by_image)
	{
		attnos[layout->nsegment] = IMAGE_ATT;
		operators[layout->nsegment] = Int4LessOperator;
	}
	attnos[nlast] = ARRIVAL_ATT;
	operators[nlast] = Int8LessOperator;

	sort->layout = layout;
	sort->by_image = by_image;
	sort->natts = table->natts;
	sort->sort = tuplesort_begin_heap(desc, nkeys, attnos, operators,
									  collations, nulls_first, kilobytes, NULL,
									  TUPLESORT_NONE);
	sort->numbered = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
	sort->sorted = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	sort->row = MakeSingleTupleTableSlot(table, &TTSOpsVirtual);
	return sort;
}

/* The columns of a row, from one place to another. */
static void
copy_columns(Datum *values, bool *isnull, const Datum *from_values,
			 const bool *from_isnull, int natts)
{
	memcpy(values, from_values, sizeof(Datum) * natts);
	memcpy(isnull, from_isnull, sizeof(bool) * natts);
}

/* See compress_private.h. */
void
strata_row_sort_put(StrataRowSort *sort, TupleTableSlot *slot)
{
	TupleTableSlot *numbered = ExecClearTuple(sort->numbered);

	numbered->tts_values[ARRIVAL_ATT - 1] = Int64GetDatum(sort->nrows++);
	numbered->tts_isnull[ARRIVAL_ATT - 1] = false;
	numbered->tts_values[IMAGE_ATT - 1] =
		Int32GetDatum((int32) (sort->by_image ? image_of(sort, slot) : 0));
	numbered->tts_isnull[IMAGE_ATT - 1] = false;
	copy_columns(numbered->tts_values + EXTRA_ATTS,
				 numbered->tts_isnull + EXTRA_ATTS, slot->tts_values,
				 slot->tts_isnull, sort->natts);
	tuplesort_puttupleslot(sort->sort, ExecStoreVirtualTuple(numbered));
}

/* See compress_private.h. */
void
strata_row_sort_perform(StrataRowSort *sort)
{
	tuplesort_performsort(sort->sort);
}

/* See compress_private.h. */
TupleTableSlot *
strata_row_sort_next(StrataRowSort *sort)
{
	TupleTableSlot *row = ExecClearTuple(sort->row);

	if (!tuplesort_gettupleslot(sort->sort, true, false, sort->sorted, NULL))
		return NULL;
	slot_getallattrs(sort->sorted);
	copy_columns(row->tts_values, row->tts_isnull,
				 sort->sorted->tts_values + EXTRA_ATTS,
				 sort->sorted->tts_isnull + EXTRA_ATTS, sort->natts);
	return ExecStoreVirtualTuple(row);
}

/* See compress_private.h. */
void
strata_row_sort_end(StrataRowSort *sort)
{
	ExecDropSingleTupleTableSlot(sort->numbered);
	ExecDropSingleTupleTableSlot(sort->sorted);
	ExecDropSingleTupleTableSlot(sort->row);
	tuplesort_end(sort->sort);
	pfree(sort);
}
