/*-------------------------------------------------------------------------
 *
 * batch_pack.c
 *	  Batch rows of tables with many columns.
 *
 * A batch row must fit into a page.  Stored out of line, a column takes 18
 * bytes of it, so some 440 columns are too many.  Then several columns share
 * one value: the col_ of the first holds them all, those of the others say
 * where. As few share one as the page allows: who reads a column fetches its
 * companions.
 *
 * A place is two bytes and the attribute number of the holder; what a holder
 * has is docs/format.md's to say.  Nothing here has a checksum: each column
 * has its own, sealed with its number, so what is found at a wrong place is
 * damage.
 *
 * src/batch/batch_pack.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_build.h"
#include "batch/batch_private.h"

#include "access/detoast.h"
#include "access/heaptoast.h"
#include "access/htup_details.h"
#include "access/tupmacs.h"

/* First bytes, where a column has its format version. */
#define HOLDER 254
#define PLACE 255

#define PLACE_BYTES 3			/* and a length of one */
#define HOLDER_HEAD 3
#define HOLDER_ENTRY 6

/* An out-of-line value in the row, and the largest that may stay in it. */
#define POINTER_SIZE TOAST_POINTER_SIZE
#define INLINE_SIZE MAXALIGN(TOAST_POINTER_SIZE)

static void
put_u16(uint8 *p, uint32 v)
{
	p[0] = (uint8) v;
	p[1] = (uint8) (v >> 8);
}

static void
put_u32(uint8 *p, uint32 v)
{
	put_u16(p, v);
	put_u16(p + 2, v >> 16);
}

static uint32
get_u16(const uint8 *p)
{
	return (uint32) p[0] | (uint32) p[1] << 8;
}

static uint32
get_u32(const uint8 *p)
{
	return get_u16(p) | get_u16(p + 2) << 16;
}

/*-------------------------------------------------------------------------
 * Writing
 *-------------------------------------------------------------------------
 */

/* Bytes of a varlena in the row, when all that can go out of line has gone. */
static Size
least_size(Datum value)
{
	Size		size = VARSIZE_ANY(DatumGetPointer(value));

	if (size > INLINE_SIZE)
		return POINTER_SIZE;
	/* with a header of one byte */
	return VARATT_IS_4B_U(DatumGetPointer(value)) ? size - VARHDRSZ + 1 : size;
}

/* Bytes of the row at the least. */
static Size
row_size(const StrataBatchSchema *schema, const Datum *values,
		 const bool *isnull)
{
	TupleDesc	desc = schema->batch_desc;
	Size		size;

	size = MAXALIGN(SizeofHeapTupleHeader + BITMAPLEN(desc->natts));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (isnull[i])
			continue;
		if (att->attlen == -1)
			size += least_size(values[i]);
		else
		{
			size = att_align_nominal(size, att->attalign);
			size = att_addlength_datum(size, att->attlen, values[i]);
		}
	}
	return size;
}

static Datum
form_place(AttrNumber holder)
{
	struct varlena *v = palloc(VARHDRSZ + PLACE_BYTES);

	SET_VARSIZE(v, VARHDRSZ + PLACE_BYTES);
	((uint8 *) VARDATA(v))[0] = PLACE;
	put_u16((uint8 *) VARDATA(v) + 1, (uint32) holder);
	return PointerGetDatum(v);
}

/*
 * The values of n columns in one; the first column's becomes that, the others'
 * places.
 */
static void
pack(const StrataBatchSchema *schema, const AttrNumber *attnos, int n,
	 Datum *values)
{
	Size		size = VARHDRSZ + HOLDER_HEAD + (Size) HOLDER_ENTRY * n;
	struct varlena *holder;
	uint8	   *head;
	uint8	   *body;

	Assert(n > 0 && n <= schema->natts);	/* batch:B11 */
	for (int i = 0; i < n; i++)
	{
		Datum		value = values[schema->col_att[attnos[i]] - 1];

		size += VARSIZE_ANY_EXHDR(DatumGetPointer(value));
	}
	holder = palloc(size);
	SET_VARSIZE(holder, size);
	head = (uint8 *) VARDATA(holder);
	head[0] = HOLDER;
	put_u16(head + 1, (uint32) n);
	body = head + HOLDER_HEAD + (Size) HOLDER_ENTRY * n;
	for (int i = 0; i < n; i++)
	{
		Datum	   *value = &values[schema->col_att[attnos[i]] - 1];
		Size		len = VARSIZE_ANY_EXHDR(DatumGetPointer(*value));

		put_u16(head + HOLDER_HEAD + HOLDER_ENTRY * i, (uint32) attnos[i]);
		put_u32(head + HOLDER_HEAD + HOLDER_ENTRY * i + 2, (uint32) len);
		memcpy(body, VARDATA_ANY(DatumGetPointer(*value)), len);
		body += len;
		*value = i == 0 ? PointerGetDatum(holder) : form_place(attnos[0]);
	}
}

/* See batch_build.h. */
HeapTuple
strata_batch_form_tuple(const StrataBatchSchema *schema, Datum *values,
						bool *isnull)
{
	Size		size = row_size(schema, values, isnull);
	AttrNumber *attnos;
	int			n = 0;
	int64		room;
	int			group;

	if (size <= MaxHeapTupleSize)
		return heap_form_tuple(schema->batch_desc, values, isnull);
	attnos = palloc(sizeof(AttrNumber) * (schema->natts + 1));
	for (AttrNumber attno = 1; attno <= schema->natts; attno++)
	{
		AttrNumber	catt = schema->col_att[attno];

		if (catt != 0 && !isnull[catt - 1] &&
			least_size(values[catt - 1]) > PLACE_BYTES + 1)
		{
			size -= least_size(values[catt - 1]);
			attnos[n++] = attno;
		}
	}

	/*
	 * how many of them may be holders; more than are needed do not hurt, but
	 * one needs all
	 */
	room = ((int64) MaxHeapTupleSize - (int64) size -
			(int64) n * (PLACE_BYTES + 1)) /
		(int64) (INLINE_SIZE - PLACE_BYTES - 1);
	group = room > 0 ? (int) ((n + room - 1) / room) : n;
	for (int i = 0; i < n; i += group)
		pack(schema, attnos + i, Min(group, n - i), values);
	pfree(attnos);
	return heap_form_tuple(schema->batch_desc, values, isnull);
}

/*-------------------------------------------------------------------------
 * Reading
 *-------------------------------------------------------------------------
 */

/* Where attno's bytes are in a holder; NULL: it is malformed or has none. */
static const uint8 *
find_in_holder(const uint8 *buf, Size len, AttrNumber attno, Size *found_len)
{
	Size		offset;
	uint32		n;

	if (len < HOLDER_HEAD || buf[0] != HOLDER)
		return NULL;
	n = get_u16(buf + 1);
	offset = HOLDER_HEAD + (Size) n * HOLDER_ENTRY;
	for (uint32 i = 0; i < n && offset <= len; i++)
	{
		const uint8 *entry = buf + HOLDER_HEAD + (Size) i * HOLDER_ENTRY;
		Size		size = get_u32(entry + 2);

		if (size > len - offset)
			return NULL;
		if (get_u16(entry) == (uint32) attno)
		{
			*found_len = size;
			return buf + offset;
		}
		offset += size;
	}
	return NULL;
}

/* The value of attno's col_, which is there, as it is stored. */
static struct varlena *
stored_value(StrataBatchReader *reader, AttrNumber attno)
{
	bool		isnull;
	Datum		value = slot_getattr(reader->batch_slot,
									 reader->schema->col_att[attno], &isnull);

	Assert(!isnull);			/* batch:B9 */
	return (struct varlena *) DatumGetPointer(value);
}

/*
 * The detoasted value of attno's col_, which columns may share: fetched once.
 */
static struct varlena *
fetch_value(StrataBatchReader *reader, AttrNumber attno)
{
	struct varlena *v;

	for (int i = 0; i < reader->nholders; i++)
		if (reader->holders[i].attno == attno)
			return reader->holders[i].value;
	v = strata_toast_fetch(reader->toast, reader->schema->toastid,
						   stored_value(reader, attno));
	if (VARSIZE_ANY_EXHDR(v) > 0 && *(const uint8 *) VARDATA_ANY(v) == HOLDER)
	{
		if (reader->holders == NULL)
			reader->holders = palloc(sizeof(StrataBatchHolder) *
									 reader->schema->natts);
		reader->holders[reader->nholders].attno = attno;
		reader->holders[reader->nholders++].value = v;
	}
	return v;
}

/* See batch_private.h. */
const uint8 *
strata_batch_fetch_encoded(StrataBatchReader *reader, AttrNumber attno,
						   Size *len)
{
	struct varlena *v = fetch_value(reader, attno);
	const uint8 *buf = (const uint8 *) VARDATA_ANY(v);

	*len = VARSIZE_ANY_EXHDR(v);
	if (*len == PLACE_BYTES && buf[0] == PLACE)
	{
		uint32		holder = get_u16(buf + 1);

		if (holder == 0 || holder > (uint32) reader->schema->natts ||
			!strata_batch_reader_is_stored(reader, (AttrNumber) holder))
			return NULL;
		v = fetch_value(reader, (AttrNumber) holder);
		buf = (const uint8 *) VARDATA_ANY(v);
		return find_in_holder(buf, VARSIZE_ANY_EXHDR(v), attno, len);
	}
	if (*len > 0 && buf[0] == HOLDER)
		return find_in_holder(buf, *len, attno, len);
	return buf;
}

/* See batch_private.h. */
const uint8 *
strata_batch_fetch_start(StrataBatchReader *reader, AttrNumber attno,
						 Size want, Size *len)
{
	struct varlena *v;
	const uint8 *buf;

	v = strata_toast_fetch_start(reader->toast, reader->schema->toastid,
								 stored_value(reader, attno), want);
	buf = (const uint8 *) VARDATA_ANY(v);
	*len = VARSIZE_ANY_EXHDR(v);
	if (*len > 0 && (buf[0] == HOLDER || buf[0] == PLACE))
		return strata_batch_fetch_encoded(reader, attno, len);
	return buf;
}

/* See batch_private.h. */
const uint8 *
strata_batch_fetch_slice(StrataBatchReader *reader, AttrNumber attno,
						 Size from, Size len, uint8 **fetched)
{
	return (const uint8 *)
		strata_toast_fetch_slice(reader->toast, reader->schema->toastid,
								 stored_value(reader, attno), from, len,
								 (char **) fetched);
}
