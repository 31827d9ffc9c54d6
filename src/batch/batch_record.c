/*-------------------------------------------------------------------------
 *
 * batch_record.c
 *	  Rows that wait until there are enough of them for a batch.
 *
 * Hides how they are kept: by-value columns in their own width, at the same
 * place in every record, so that a column of a batch is a walk with a fixed
 * step.  By-reference values of a row share one allocation, the record's
 * chunk, and the record has their offsets in it.  Segmentby columns, the same
 * in all records of a batch, are not kept.
 *
 *	chunk		8 bytes, if there are by-reference columns
 *	nulls		8 bytes for 64 columns each; a set bit is a null
 *	values		8, 4, 2, 1 bytes each, the wide ones first
 *
 * Null columns have any bytes.  The chunk is the caller's to move or to free.
 *
 * src/batch/batch_record.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"
#include "batch/batch_record.h"

#include "utils/memutils.h"

static int
width_of(Form_pg_attribute att)
{
	return att->attbyval ? att->attlen : (int) sizeof(uint32);
}

/* See batch_record.h. */
StrataRecordForm *
strata_record_form_create(TupleDesc desc, const StrataLayout *layout)
{
	StrataRecordForm *form = palloc0(sizeof(StrataRecordForm));
	int			offset;

	form->natts = desc->natts;
	form->columns = palloc0(sizeof(StrataRecordColumn) * Max(desc->natts, 1));
	form->by_attno = palloc0(sizeof(StrataRecordColumn *) * (desc->natts + 1));
	for (AttrNumber attno = 1; attno <= desc->natts; attno++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, attno - 1);
		StrataRecordColumn *c = &form->columns[form->ncolumns];

		if (!strata_attribute_is_kept(att) ||
			strata_layout_segment_index(layout, attno) >= 0)
			continue;
		c->attno = attno;
		c->width = (uint8) width_of(att);
		c->typbyval = att->attbyval;
		c->typlen = att->attlen;
		form->has_chunk |= !att->attbyval;
		form->by_attno[attno] = c;
		form->ncolumns++;
	}
	form->nulls_offset = form->has_chunk ? sizeof(char *) : 0;
	form->nwords = (form->ncolumns + 63) / 64;
	offset = form->nulls_offset + form->nwords * sizeof(uint64);
	for (int width = 8; width > 0; width /= 2)
		for (int i = 0; i < form->ncolumns; i++)
			if (form->columns[i].width == width)
			{
				form->columns[i].offset = offset;
				offset += width;
			}
	form->size = MAXALIGN(Max(offset, 1));
	return form;
}

/* Bytes of a by-reference value. */
static inline Size
value_bytes(const StrataRecordColumn *c, Datum value)
{
	if (c->typlen == -1)
		return VARSIZE_ANY(DatumGetPointer(value));
	return c->typlen > 0 ? (Size) c->typlen :
		strlen(DatumGetPointer(value)) + 1;
}

/* Copy the by-reference values into a chunk of their own. */
static char *
fill_chunk(const StrataRecordForm *form, char *record, const Datum *values,
		   const bool *isnull)
{
	Size		total = 0;
	Size		used = 0;
	char	   *chunk;

	for (int i = 0; i < form->ncolumns; i++)
		if (!form->columns[i].typbyval && !isnull[form->columns[i].attno - 1])
			total += MAXALIGN(value_bytes(&form->columns[i],
										  values[form->columns[i].attno - 1]));
	if (total > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("values of a row exceed the memory limit")));
	if (total == 0)
		return NULL;
	chunk = palloc(total);
	for (int i = 0; i < form->ncolumns; i++)
	{
		const StrataRecordColumn *c = &form->columns[i];
		Size		nbytes;

		if (c->typbyval || isnull[c->attno - 1])
			continue;
		nbytes = value_bytes(c, values[c->attno - 1]);
		memcpy(chunk + used, DatumGetPointer(values[c->attno - 1]), nbytes);
		*(uint32 *) (record + c->offset) = (uint32) used;
		used += MAXALIGN(nbytes);
	}
	return chunk;
}

/* See batch_record.h. */
char *
strata_record_fill(const StrataRecordForm *form, char *record,
				   const Datum *values, const bool *isnull)
{
	uint64	   *nulls = (uint64 *) (record + form->nulls_offset);
	char	   *chunk = NULL;

	for (int i = 0; i < form->nwords; i++)
		nulls[i] = 0;
	for (int i = 0; i < form->ncolumns; i++)
	{
		const StrataRecordColumn *c = &form->columns[i];
		Datum		value = values[c->attno - 1];

		if (isnull[c->attno - 1])
			nulls[i / 64] |= UINT64CONST(1) << (i % 64);
		else if (c->width == 8)
			*(int64 *) (record + c->offset) = DatumGetInt64(value);
		else if (!c->typbyval)
			continue;
		else if (c->width == 4)
			*(int32 *) (record + c->offset) = DatumGetInt32(value);
		else if (c->width == 2)
			*(int16 *) (record + c->offset) = DatumGetInt16(value);
		else
			*(int8 *) (record + c->offset) = (int8) DatumGetChar(value);
	}
	if (form->has_chunk)
		*(char **) record = chunk = fill_chunk(form, record, values, isnull);
	return chunk;
}

/* See batch_record.h. */
Datum
strata_record_get(const StrataRecordForm *form, const char *record,
				  AttrNumber attno, bool *isnull)
{
	const StrataRecordColumn *c = form->by_attno[attno];
	int			i = c - form->columns;

	*isnull = strata_record_is_null(form, record, i);
	if (*isnull)
		return (Datum) 0;
	if (!c->typbyval)
		return PointerGetDatum(strata_record_bytes(record, c));
	return strata_fixed_get(record + c->offset, c->width, 0);
}

/* See batch_record.h. */
void
strata_record_deform(const StrataRecordForm *form, const char *record,
					 Datum *values, bool *isnull)
{
	for (int i = 0; i < form->ncolumns; i++)
	{
		AttrNumber	attno = form->columns[i].attno;

		values[attno - 1] = strata_record_get(form, record, attno,
											  &isnull[attno - 1]);
	}
}

/* See batch_record.h. */
void
strata_record_move_chunk(const StrataRecordForm *form, char *record)
{
	Size		total = 0;
	char	   *chunk;

	if (*(char **) record == NULL)
		return;
	for (int i = 0; i < form->ncolumns; i++)
	{
		const StrataRecordColumn *c = &form->columns[i];

		if (!c->typbyval && !strata_record_is_null(form, record, i))
			total += MAXALIGN(value_bytes(
										  c, PointerGetDatum(strata_record_bytes(record, c))));
	}
	chunk = palloc(total);
	memcpy(chunk, *(char **) record, total);
	*(char **) record = chunk;
}
