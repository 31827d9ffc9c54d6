/*-------------------------------------------------------------------------
 *
 * page_read.c
 *	  Values of a tuple, wherever in the page they stand; and the tuple without
 *	  symbols.
 *
 * What is read may be damaged: nothing outside the tuple and the table of
 * symbols is looked at.
 *
 * src/page/page_read.c
 *-------------------------------------------------------------------------
 */
#include "page/page_private.h"

/* See page.h. */
const char *
strata_page_table(const char *page, const StrataPageTable **table)
{
	uint32		special = ((const PageHeaderData *) page)->pd_special;
	const StrataPageTable *found = (const StrataPageTable *) (page + special);

	*table = NULL;
	if (special == BLCKSZ || PageIsNew((Page) page))
		return NULL;
	if (special != MAXALIGN(special) || special < SizeOfPageHeaderData ||
		special + STRATA_PAGE_TABLE_HEAD(0) > BLCKSZ)
		return "special space is out of the page";
	if (found->magic != STRATA_PAGE_MAGIC)
		return "special space is no table of symbols";
	if (found->nsymbols > STRATA_PAGE_MAX_SYMBOLS ||
		special + STRATA_PAGE_TABLE_HEAD(found->nsymbols) > BLCKSZ)
		return "number of symbols is wrong";
	*table = found;
	return NULL;
}

/*
 * Length of a value of the column in bytes of which there are `room`; 0: it
 * does not end there, or is no value as tables keep them.
 */
static uint32
value_length(Form_pg_attribute att, const char *bytes, uint32 room)
{
	uint32		len = 0;

	if (room == 0)
		return 0;
	if (att->attlen > 0)
		len = att->attlen;
	else if (att->attlen == -2)
	{
		const char *end = memchr(bytes, '\0', room);

		return end == NULL ? 0 : end + 1 - bytes;
	}
	else if (VARATT_IS_1B_E(bytes))
	{
		if (room > VARHDRSZ_EXTERNAL &&
			VARTAG_EXTERNAL(bytes) == VARTAG_ONDISK)
			len = VARHDRSZ_EXTERNAL + VARTAG_SIZE(VARTAG_ONDISK);
	}
	else if (VARATT_IS_1B(bytes))
		len = VARSIZE_1B(bytes);
	else if (room >= VARHDRSZ &&
			 bytes == (const char *) INTALIGN((uintptr_t) bytes))
	{
		len = VARSIZE_4B(bytes);
		if (len < (VARATT_IS_4B_C(bytes) ? VARHDRSZ_COMPRESSED : VARHDRSZ))
			len = 0;
	}
	return len <= room ? len : 0;
}

/* The value that a symbol stands for, in a column. */
static const char *
symbol_value(const StrataPageTable *table, uint32 size, int symbol,
			 Form_pg_attribute att, StrataPageValue *value)
{
	uint32		from;
	uint32		to;

	if (table == NULL || symbol >= table->nsymbols)
		return "symbol is not in the page's table";
	from = table->start[symbol];
	to = table->start[symbol + 1];
	if (from < STRATA_PAGE_TABLE_HEAD(table->nsymbols) || from >= to ||
		to > size)
		return "value of a symbol is out of the page's table";
	value->bytes = (const char *) table + from;
	value->symbol = symbol;
	value->len = value_length(att, value->bytes, to - from);
	if (value->len == 0)
		return "value of a symbol does not fit its column";
	if (from % page_value_alignment(att, value->bytes) != 0)
		return "value of a symbol is not aligned";
	return NULL;
}

/*
 * Where the trailer of a flagged tuple is: *symbols are those of the columns
 * whose bits are set in *bitmap.
 */
static const char *
find_trailer(const HeapTupleHeaderData *tuple, uint32 len,
			 const uint8 **symbols, const bits8 **bitmap)
{
	int			natts = HeapTupleHeaderGetNatts(tuple);
	uint32		nbytes = BITMAPLEN(natts);
	uint32		nsymbols = 0;

	if (natts == 0 || !(tuple->t_infomask & HEAP_HASNULL) ||
		tuple->t_hoff != page_header_size(natts, true) ||
		tuple->t_hoff + nbytes > len)
		return "header of a tuple with symbols is wrong";
	*bitmap = (const bits8 *) ((const char *) tuple + len - nbytes);
	for (uint32 i = 0; i < nbytes; i++)
		nsymbols += __builtin_popcount((*bitmap)[i]);
	if (nsymbols == 0 || tuple->t_hoff + nsymbols + nbytes > len ||
		(natts % 8 != 0 && (*bitmap)[nbytes - 1] >> (natts % 8) != 0))
		return "number of a tuple's symbols is wrong";
	*symbols = (const uint8 *) *bitmap - nsymbols;
	for (uint32 i = 0; i < nbytes; i++)
		if (((*bitmap)[i] & tuple->t_bits[i]) != 0)
			return "column is a symbol and in the tuple, too";
	return NULL;
}

/*
 * The next value of a data area of which *off bytes are behind us; false: it
 * does not end before `end`.
 */
static inline bool
tuple_value(const char *data, uint32 *off, uint32 end, Form_pg_attribute att,
			StrataPageValue *value)
{
	if (*off < end)
		*off = att_align_pointer(*off, att->attalign, att->attlen,
								 data + *off);
	value->bytes = data + *off;
	value->len = *off < end ? value_length(att, data + *off, end - *off) : 0;
	*off += value->len;
	return value->len != 0;
}

/* A value as a Datum, which points to it if the type is passed by reference. */
static inline Datum
value_datum(Form_pg_attribute att, const char *bytes)
{
	int16		two;
	int32		four;

	if (!att->attbyval)
		return PointerGetDatum(bytes);
	switch (att->attlen)
	{
		case 1:
			return CharGetDatum(*bytes);
		case sizeof(two):
			memcpy(&two, bytes, sizeof(two));
			return Int16GetDatum(two);
		case sizeof(four):
			memcpy(&four, bytes, sizeof(four));
			return Int32GetDatum(four);
		default:
			{
				Datum		result;

				memcpy(&result, bytes, sizeof(result));
				return result;
			}
	}
}

/* Of a bitmap's first n bits, how many are set? */
static inline int
count_bits(const bits8 *bitmap, int n)
{
	int			result = 0;

	for (int i = 0; i < n / 8; i++)
		result += __builtin_popcount(bitmap[i]);
	if (n % 8 != 0)
		result += __builtin_popcount(bitmap[n / 8] & ((1 << (n % 8)) - 1));
	return result;
}

/* See page.h. */
const char *
strata_page_deform(const char *page, const HeapTupleHeaderData *tuple,
				   uint32 len, TupleDesc desc, int from, int natts,
				   uint32 *offset, Datum *values, bool *isnull)
{
	const char *data = (const char *) tuple + tuple->t_hoff;
	const StrataPageTable *table;
	const bits8 *bitmap;
	const uint8 *symbols;
	const char *problem;
	uint32		size = BLCKSZ - ((const PageHeaderData *) page)->pd_special;
	uint32		off = *offset;
	uint32		end;

	if (len < SizeofHeapTupleHeader || natts > desc->natts)
		return "header of a tuple is wrong";
	if ((problem = strata_page_table(page, &table)) != NULL ||
		(problem = find_trailer(tuple, len, &symbols, &bitmap)) != NULL)
		return problem;
	end = (const char *) symbols - data;
	symbols += count_bits(bitmap, from);
	for (int i = from; i < natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		StrataPageValue value;

		isnull[i] = false;
		if (!att_isnull(i, bitmap))
		{
			problem = symbol_value(table, size, *symbols++, att, &value);
			if (problem != NULL)
				return problem;
		}
		else if (att_isnull(i, tuple->t_bits))
		{
			values[i] = (Datum) 0;
			isnull[i] = true;
			continue;
		}
		else if (!tuple_value(data, &off, end, att, &value))
			return "value does not end in its tuple";
		values[i] = value_datum(att, value.bytes);
	}
	*offset = off;
	return NULL;
}

/* See page.h. */
const char *
strata_page_symbol_columns(const HeapTupleHeaderData *tuple, uint32 len,
						   void (*visit) (void *arg, int colno), void *arg)
{
	int			natts = HeapTupleHeaderGetNatts(tuple);
	const bits8 *bitmap;
	const uint8 *symbols;
	const char *problem = find_trailer(tuple, len, &symbols, &bitmap);

	if (problem != NULL)
		return problem;
	for (int i = 0; i < natts; i++)
		if (!att_isnull(i, bitmap))
			visit(arg, i);
	return NULL;
}

/* See page.h. */
bool
strata_page_table_is_unused(const char *page)
{
	const StrataPageTable *table;

	if (strata_page_table(page, &table) != NULL || table == NULL)
		return false;
	for (OffsetNumber i = FirstOffsetNumber;
		 i <= PageGetMaxOffsetNumber((Page) page); i++)
	{
		ItemId		id = PageGetItemId((Page) page, i);

		if (ItemIdIsNormal(id) &&
			strata_page_is_flagged(page_item_tuple(page, i)))
			return false;
	}
	return true;
}

/* See page.h. */
const char *
strata_page_values(const char *page, const HeapTupleHeaderData *tuple,
				   uint32 len, TupleDesc desc, StrataPageValue *values)
{
	int			natts = HeapTupleHeaderGetNatts(tuple);
	bool		hasnull = (tuple->t_infomask & HEAP_HASNULL) != 0;
	const char *data = (const char *) tuple + tuple->t_hoff;
	const StrataPageTable *table = NULL;
	const bits8 *bitmap = NULL;
	const uint8 *symbols = NULL;
	const char *problem;
	uint32		size = 0;
	uint32		end = len;
	uint32		off = 0;

	if (natts > desc->natts)
		return "tuple has more columns than its table";
	if (tuple->t_hoff < page_header_size(natts, hasnull) ||
		tuple->t_hoff > len || tuple->t_hoff != MAXALIGN(tuple->t_hoff))
		return "header of a tuple is wrong";
	if (strata_page_is_flagged(tuple))
	{
		if ((problem = strata_page_table(page, &table)) != NULL ||
			(problem = find_trailer(tuple, len, &symbols, &bitmap)) != NULL)
			return problem;
		size = BLCKSZ - ((const PageHeaderData *) page)->pd_special;
		end = (const char *) symbols - (const char *) tuple;
	}
	end -= tuple->t_hoff;
	for (int i = 0; i < natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (bitmap != NULL && !att_isnull(i, bitmap))
		{
			problem = symbol_value(table, size, *symbols++, att, &values[i]);
			if (problem != NULL)
				return problem;
			continue;
		}
		values[i].symbol = -1;
		values[i].bytes = NULL;
		values[i].len = 0;
		if (hasnull && att_isnull(i, tuple->t_bits))
			continue;
		if (!tuple_value(data, &off, end, att, &values[i]))
			return "value does not end in its tuple";
	}
	if (bitmap != NULL && off != end)
		return "length of a tuple with symbols is wrong";
	return NULL;
}

/* See page.h. */
Size
strata_page_plain_size(const HeapTupleHeaderData *tuple, TupleDesc desc,
					   const StrataPageValue *values)
{
	int			natts = HeapTupleHeaderGetNatts(tuple);
	bool		hasnull = false;
	uint32		off = 0;

	for (int i = 0; i < natts; i++)
	{
		if (values[i].bytes == NULL)
			hasnull = true;
		else
			off = page_value_place(off, TupleDescAttr(desc, i),
								   values[i].bytes) + values[i].len;
	}
	return page_header_size(natts, hasnull) + off;
}

/* See page.h. */
void
strata_page_plain_write(const HeapTupleHeaderData *tuple, TupleDesc desc,
						const StrataPageValue *values, char *to)
{
	HeapTupleHeader out = (HeapTupleHeader) to;
	int			natts = HeapTupleHeaderGetNatts(tuple);
	uint32		off = 0;
	bool		hasnull = false;
	char	   *data;

	for (int i = 0; i < natts && !hasnull; i++)
		hasnull = values[i].bytes == NULL;
	memcpy(out, tuple, SizeofHeapTupleHeader);
	out->t_infomask2 &= ~STRATA_PAGE_FLAG;
	out->t_infomask &= ~HEAP_HASNULL;
	out->t_hoff = page_header_size(natts, hasnull);
	memset(to + SizeofHeapTupleHeader, 0, out->t_hoff - SizeofHeapTupleHeader);
	if (hasnull)
		out->t_infomask |= HEAP_HASNULL;
	data = to + out->t_hoff;
	for (int i = 0; i < natts; i++)
	{
		uint32		at;

		if (values[i].bytes == NULL)
			continue;
		if (hasnull)
			out->t_bits[i >> 3] |= 1 << (i & 7);
		at = page_value_place(off, TupleDescAttr(desc, i), values[i].bytes);
		memset(data + off, 0, at - off);
		memcpy(data + at, values[i].bytes, values[i].len);
		off = at + values[i].len;
	}
	Assert(out->t_hoff + off ==
		   strata_page_plain_size(tuple, desc, values));	/* page:PS2 */
}
