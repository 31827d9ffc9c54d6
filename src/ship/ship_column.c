/*-------------------------------------------------------------------------
 *
 * ship_column.c
 *	  Values of one column <-> the encoded column in a unit.
 *
 * src/ship/ship_column.c
 *-------------------------------------------------------------------------
 */
#include "ship/ship_private.h"

#include "catalog/pg_type.h"
#include "codec/codec.h"
#include "libpq/pqformat.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* The bytes of a by-reference value that travel, detoasted. */
static const char *
sent_bytes(const StrataColumnType *type, Datum value, Size *len)
{
	if (type->typlen == -1)
	{
		struct varlena *v = PG_DETOAST_DATUM_PACKED(value);

		*len = VARSIZE_ANY_EXHDR(v);
		return VARDATA_ANY(v);
	}
	*len = datumGetSize(value, false, type->typlen);
	return DatumGetPointer(value);
}

static void
gather_fixed_values(StrataVector *v, const Datum *values, const bool *isnull,
					int nrows)
{
	char	   *packed = palloc((Size) Max(nrows, 1) * v->width);

	for (int row = 0; row < nrows; row++)
	{
		Datum		value = values[row];

		if (isnull[row])
			continue;
		store_att_byval(packed + (Size) v->width * v->n, value, v->width);
		v->n++;
	}
	v->fixed = packed;
}

/* By-reference values that are not null, one behind the other. */
static void
gather_bytes(StrataVector *v, const StrataColumnType *type,
			 const Datum *values, const bool *isnull, int nrows)
{
	StringInfoData payload;
	uint32	   *offsets = palloc0(sizeof(uint32) * (nrows + 1));

	initStringInfo(&payload);
	for (int row = 0; row < nrows; row++)
	{
		const char *bytes;
		Size		len;

		if (isnull[row])
			continue;
		bytes = sent_bytes(type, values[row], &len);
		appendBinaryStringInfo(&payload, bytes, (int) len);
		offsets[++v->n] = (uint32) payload.len;
	}
	v->payload = (const uint8 *) payload.data;
	v->offsets = offsets;
}

/* See ship_private.h. */
void
strata_ship_encode(StringInfo buf, const StrataColumnType *type,
				   const Datum *values, const bool *isnull, int nrows)
{
	StrataVector v = {.kind = type->kind,.width = type->width,
		.hint = type->typid == NUMERICOID ? STRATA_BYTES_NUMERIC :
	type->typid == JSONBOID ? STRATA_BYTES_JSONB : STRATA_BYTES_ANY};
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata unit column",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataCodecResult rc;
	size_t		scratch_size;
	size_t		cap;
	size_t		len;
	uint8	   *out;

	Assert(nrows > 0 && nrows <= STRATA_CODEC_MAX_ROWS);	/* ship:SH1 */
	Assert(type->kind != STRATA_KIND_BYTES || !type->typbyval); /* ship:SH3 */
	if (type->typbyval)
		gather_fixed_values(&v, values, isnull, nrows);
	else
		gather_bytes(&v, type, values, isnull, nrows);
	scratch_size = strata_column_encode_scratch_size(&v, nrows);
	cap = strata_column_encode_bound(&v, nrows);
	out = MemoryContextAllocHuge(mcxt, cap);
	rc = strata_column_encode(&v, nrows, v.n < nrows ? isnull : NULL,
							  STRATA_CODEC_AUTO,
							  MemoryContextAllocHuge(mcxt, scratch_size),
							  scratch_size, out, cap, &len);
	if (rc != STRATA_CODEC_OK)
		elog(ERROR, "could not encode a column: %s",
			 strata_codec_result_text(rc));
	MemoryContextSwitchTo(old);
	if (len > MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("a value is too large for a unit of exported batches"),
				 errhint("COPY the table instead.")));
	pq_sendint32(buf, (uint32) len);
	appendBinaryStringInfo(buf, (const char *) out, (int) len);
	MemoryContextDelete(mcxt);
}

/*
 * Byte strings as values of the type, with length words of ours; checked.
 */
static Datum *
make_datums(const StrataUnitColumn *column, const StrataColumnType *type,
			const StrataBytes *b, const bool *isnull)
{
	Datum	   *datums = palloc(sizeof(Datum) * Max(b->nentries, 1));

	for (uint32 i = 0; i < b->nentries; i++)
	{
		Size		len = b->offsets[i + 1] - b->offsets[i];
		Size		head = type->typlen == -1 ? VARHDRSZ : 0;
		char	   *p;

		datums[i] = (Datum) 0;
		/* in the flat shape a null is an empty string */
		if (isnull != NULL && isnull[i])
			continue;
		if (len > MaxAllocSize - VARHDRSZ ||
			(type->typlen > 0 && len != type->typlen))
			strata_unit_corrupt("A value has a length that its type does not have");
		p = palloc(Max(head + len, 1));
		if (head > 0)
			SET_VARSIZE(p, head + len);
		memcpy(p + head, b->payload + b->offsets[i], len);
		datums[i] = PointerGetDatum(p);
		if (!strata_ship_value_is_sound(type->typid, datums[i]))
			strata_unit_corrupt(psprintf("Column \"%s\" has a value that its type does not have",
										 column->name));
	}
	return datums;
}

/* Values of a by-reference type; rows may share them. */
static void
decode_bytes_column(const StrataUnitColumn *column,
					const StrataColumnType *type, int nrows, Datum *values,
					bool *isnull)
{
	StrataBytes b;
	StrataCodecResult rc;
	size_t		size;
	void	   *scratch;
	bool		hasnull;
	Datum	   *datums;

	rc = strata_column_decode_scratch_size(column->bytes, column->nbytes, 0,
										   nrows, &size);
	if (rc != STRATA_CODEC_OK || size > MaxAllocSize)
		strata_unit_corrupt("A column's values would take too much memory");
	scratch = palloc(Max(size, 1));
	rc = strata_column_decode_bytes(column->bytes, column->nbytes, 0, nrows,
									scratch, size, &b, isnull, &hasnull);
	if (rc != STRATA_CODEC_OK)
		strata_unit_corrupt(psprintf("Column \"%s\": %s", column->name,
									 strata_codec_result_text(rc)));
	datums = make_datums(column, type, &b,
						 b.codes == NULL && hasnull ? isnull : NULL);
	for (int row = 0; row < nrows; row++)
	{
		if (!hasnull)
			isnull[row] = false;
		if (isnull[row])
			values[row] = (Datum) 0;
		else if (b.codes == NULL)
			values[row] = datums[row];
		else if (b.codes[row] < b.nentries)
			values[row] = datums[b.codes[row]];
		else
			strata_unit_corrupt("A row has a value that its column does not have");
	}
}

/* Values of a by-value type. */
static void
decode_fixed_column(const StrataUnitColumn *column,
					const StrataColumnType *type, int nrows, Datum *values,
					bool *isnull)
{
	StrataCodecResult rc;
	size_t		size;
	void	   *scratch;
	char	   *packed = palloc((Size) nrows * type->width);
	bool		hasnull;

	rc = strata_column_decode_scratch_size(column->bytes, column->nbytes, 0,
										   nrows, &size);
	if (rc != STRATA_CODEC_OK || size > MaxAllocSize)
		strata_unit_corrupt("A column's values would take too much memory");
	scratch = palloc(Max(size, 1));
	rc = strata_column_decode_fixed(column->bytes, column->nbytes, 0, nrows,
									scratch, size, packed, isnull, &hasnull);
	if (rc != STRATA_CODEC_OK)
		strata_unit_corrupt(psprintf("Column \"%s\": %s", column->name,
									 strata_codec_result_text(rc)));
	for (int row = 0; row < nrows; row++)
	{
		if (!hasnull)
			isnull[row] = false;
		values[row] = isnull[row] ? (Datum) 0 :
			fetch_att(packed + (Size) row * type->width, true, type->width);
		if (!isnull[row] &&
			!strata_ship_value_is_sound(type->typid, values[row]))
			strata_unit_corrupt(psprintf("Column \"%s\" has a value that its type does not have",
										 column->name));
	}
}

/* See ship_private.h. */
void
strata_ship_decode(const StrataUnitColumn *column,
				   const StrataColumnType *type, int nrows, Datum *values,
				   bool *isnull)
{
	StrataCodecInfo info;
	StrataCodecResult rc;

	Assert(nrows > 0 && nrows <= STRATA_CODEC_MAX_ROWS);	/* ship:SH1 */
	Assert(strata_ship_travels_as_value(type->typid));	/* ship:SH3 */
	rc = strata_column_describe(column->bytes, column->nbytes, true, &info);
	if (rc != STRATA_CODEC_OK)
		strata_unit_corrupt(psprintf("Column \"%s\": %s", column->name,
									 strata_codec_result_text(rc)));
	if (info.nrows != (uint32) nrows || info.kind != type->kind ||
		info.width != type->width)
		strata_unit_corrupt(psprintf("Column \"%s\" has other rows, or is of another type, than the unit says",
									 column->name));
	if (type->typbyval)
		decode_fixed_column(column, type, nrows, values, isnull);
	else
		decode_bytes_column(column, type, nrows, values, isnull);
}
