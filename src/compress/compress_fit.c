/*-------------------------------------------------------------------------
 *
 * compress_fit.c
 *	  Which rows fit into a batch, and how they get values of their own.
 *
 * src/compress/compress_fit.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"

#include "access/detoast.h"
#include "executor/executor.h"

/*
 * Rows of more stay in the row store: who reads a batch may have to have its
 * values in memory, those of BATCH_BYTE_LIMIT and a row more.
 */
#define MAX_ROW_BYTES (64 * 1024 * 1024)

/* Segment and order values go into indexes: together at most this. */
#define MAX_KEY_BYTES 1024

struct StrataRowCheck
{
	int			nvarlenas;
	AttrNumber *varlenas;		/* columns that can be long */
	bool	   *is_key;			/* of varlenas: in the layout */
	bool		has_external;	/* the row looked at last: values that are
								 * elsewhere */
	TupleTableSlot *fetched;	/* a row with its out-of-line values in it */
};

static bool
is_key_column(const StrataLayout *layout, AttrNumber attno)
{
	if (strata_layout_segment_index(layout, attno) >= 0)
		return true;
	for (int i = 0; i < layout->norder; i++)
		if (layout->order[i].attno == attno)
			return true;
	return false;
}

/* See compress_private.h. */
StrataRowCheck *
strata_row_check_create(Relation rel, const StrataLayout *layout)
{
	TupleDesc	desc = RelationGetDescr(rel);
	StrataRowCheck *check = palloc0(sizeof(StrataRowCheck));

	check->varlenas = palloc(sizeof(AttrNumber) * Max(desc->natts, 1));
	check->is_key = palloc(sizeof(bool) * Max(desc->natts, 1));
	for (int i = 0; i < desc->natts; i++)
		if (strata_attribute_is_kept(TupleDescAttr(desc, i)) &&
			TupleDescAttr(desc, i)->attlen == -1)
		{
			check->is_key[check->nvarlenas] = is_key_column(layout, i + 1);
			check->varlenas[check->nvarlenas++] = i + 1;
		}
	check->fetched = MakeSingleTupleTableSlot(desc, &TTSOpsMinimalTuple);
	return check;
}

/* See compress_private.h. */
void
strata_row_check_free(StrataRowCheck *check)
{
	ExecDropSingleTupleTableSlot(check->fetched);
	pfree(check->varlenas);
	pfree(check->is_key);
	pfree(check);
}

/* See compress_private.h. */
bool
strata_row_fits(StrataRowCheck *check, TupleTableSlot *slot)
{
	Size		key_bytes = 0;
	Size		nbytes = 0;

	check->has_external = false;
	for (int i = 0; i < check->nvarlenas; i++)
	{
		AttrNumber	attno = check->varlenas[i];
		struct varlena *v;
		Size		size;

		if (slot->tts_isnull[attno - 1])
			continue;
		v = (struct varlena *) DatumGetPointer(slot->tts_values[attno - 1]);
		if (VARATT_IS_EXTERNAL(v))
			check->has_external = true;
		size = VARATT_IS_EXTERNAL(v) || VARATT_IS_COMPRESSED(v) ?
			toast_raw_datum_size(slot->tts_values[attno - 1]) :
			VARSIZE_ANY_EXHDR(v);
		nbytes += size;
		if (check->is_key[i])
			key_bytes += size;
	}
	return nbytes <= MAX_ROW_BYTES && key_bytes <= MAX_KEY_BYTES;
}

/* See compress_private.h. */
TupleTableSlot *
strata_row_fetch_external(StrataRowCheck *check, TupleTableSlot *slot)
{
	Datum	   *values;

	if (!check->has_external)
		return slot;
	values = palloc(sizeof(Datum) * slot->tts_tupleDescriptor->natts);
	memcpy(values, slot->tts_values,
		   sizeof(Datum) * slot->tts_tupleDescriptor->natts);
	for (int i = 0; i < check->nvarlenas; i++)
	{
		int			a = check->varlenas[i] - 1;

		if (!slot->tts_isnull[a] &&
			VARATT_IS_EXTERNAL(DatumGetPointer(values[a])))
			values[a] = PointerGetDatum(detoast_external_attr(
															  (struct varlena *) DatumGetPointer(values[a])));
	}
	ExecForceStoreMinimalTuple(
							   strata_form_minimal_tuple(slot->tts_tupleDescriptor, values,
														 slot->tts_isnull),
							   check->fetched, true);
	slot_getallattrs(check->fetched);
	pfree(values);
	return check->fetched;
}
