/*-------------------------------------------------------------------------
 *
 * batch_part.c
 *	  Parts of a column's values: which are null, lengths, first bytes, bytes
 *	  until something is found, members of documents.
 *
 * Of a column in codec LARGE only the head is fetched, and of its blocks those
 * that hold what is wanted of the wanted rows: memory is for what is read, not
 * for the values.  Of a column in codec JSONB what stands at one path is
 * decoded.  A part is made for the rows that it is asked for, and kept for the
 * batch; asked for more rows, it grows.
 *
 * Over 600 lines: each kind of part, behind one list of them.
 *
 * src/batch/batch_part.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_part.h"
#include "batch/batch_private.h"

#include "base/base.h"
#include "base/utf8.h"
#include "catalog/pg_type_d.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

/* What is fetched of a column to see whether it is large. */
#define HEAD_BYTES 4000

/* Members of a few rows are read again for so many times more. */
#define MEMBERS_GROW 4

/* A column in codec LARGE, of which parts are fetched. */
typedef struct LargeColumn
{
	StrataLarge large;
	const uint8 *bytes;			/* all of the column, or NULL */
	bool	   *isnull;			/* of the rows */
	uint16	   *value;			/* number of a row's value */
	uint8	   *block_bytes;	/* the block read last ... */
	uint32		block;			/* ... is this one; UINT32_MAX: none */
} LargeColumn;

/* A column that parts were asked of in the current batch. */
typedef struct PartedColumn
{
	AttrNumber	attno;
	LargeColumn *large;			/* NULL: it is in another codec */
	List	   *parts;			/* of PartColumn */
} PartedColumn;

/* A part that was asked for in the current batch. */
typedef struct PartColumn
{
	const StrataPart *part;
	bool		missing;		/* cannot be had */
	StrataColumn col;
	bool	   *have;			/* START, UNTIL: rows read; NULL: all, or */
	int			first_n;		/* MEMBER: only the first rows, so many */
} PartColumn;

/* See batch_part.h. */
bool
strata_part_equals(const StrataPart *a, const StrataPart *b)
{
	if (a->kind != b->kind || a->nbytes != b->nbytes ||
		a->nchars != b->nchars || a->nkeys != b->nkeys)
		return false;
	for (int i = 0; i < a->nkeys; i++)
		if (a->keys[i].len != b->keys[i].len ||
			memcmp(a->keys[i].bytes, b->keys[i].bytes, a->keys[i].len) != 0)
			return false;
	return true;
}

/*-------------------------------------------------------------------------
 * Columns of large values
 *-------------------------------------------------------------------------
 */

static void
part_corrupt(StrataBatchReader *reader, AttrNumber attno, const char *what)
{
	strata_batch_column_corrupt(reader, attno, what);
}

/*
 * The head of a column in codec LARGE, at least; NULL: another codec.  *len:
 * bytes that are there.
 */
static const uint8 *
fetch_head(StrataBatchReader *reader, AttrNumber attno, Size *len)
{
	Size		want = HEAD_BYTES;

	for (int i = 0; i < 3; i++)
	{
		size_t		need;
		const uint8 *buf = strata_batch_fetch_start(reader, attno, want, len);
		StrataCodecResult rc;

		if (buf == NULL)
			part_corrupt(reader, attno,
						 "its value, or the one it shares with other columns, is malformed");
		rc = strata_large_need(buf, *len, &need);
		if (rc == STRATA_CODEC_NOT_APPLICABLE)
			return NULL;
		if (rc != STRATA_CODEC_OK)
			part_corrupt(reader, attno, strata_codec_result_text(rc));
		if (need <= *len)
			return buf;
		if (want > *len)
		{
			/* there is no more of it: a small column of another codec */
			if (*len > 1)
				return NULL;
			break;
		}
		want = need;
	}
	part_corrupt(reader, attno, "it is cut off");
	return NULL;
}

/*
 * Open a column in codec LARGE; NULL: it is in another.  What was fetched
 * already is not fetched again.
 */
static LargeColumn *
open_large(StrataBatchReader *reader, StrataColumn *col)
{
	LargeColumn *lc;
	Size		len = col->encoded_len;
	const uint8 *head = col->encoded;
	size_t		scratch_size;
	StrataCodecResult rc;
	int			n = 0;

	/* a column that was not large lately is fetched as whoever reads it does */
	if (head == NULL && col->codec != STRATA_CODEC_AUTO &&
		col->codec != STRATA_CODEC_LARGE)
	{
		strata_batch_fetch_column(reader, col);
		head = col->encoded;
		len = col->encoded_len;
	}
	if (head == NULL)
	{
		head = fetch_head(reader, col->attno, &len);
		if (head == NULL)
			return NULL;
		strata_batch_check_column(reader, col, head, len);
	}
	if (col->codec != STRATA_CODEC_LARGE)
		return NULL;
	lc = palloc0(sizeof(LargeColumn));
	lc->block = PG_UINT32_MAX;
	lc->isnull = palloc0(reader->nrows);
	lc->value = palloc(sizeof(uint16) * reader->nrows);
	rc = strata_large_scratch_size(head, len, &scratch_size);
	if (rc == STRATA_CODEC_OK && scratch_size > MaxAllocSize)
		rc = STRATA_CODEC_CORRUPT;
	if (rc == STRATA_CODEC_OK)
		rc = strata_large_open(head, len, palloc(scratch_size), scratch_size,
							   &lc->large, lc->isnull);
	if (rc != STRATA_CODEC_OK)
		part_corrupt(reader, col->attno, strata_codec_result_text(rc));
	for (int row = 0; row < reader->nrows; row++)
	{
		lc->value[row] = (uint16) n;
		n += !lc->isnull[row];
	}
	if ((uint32) n != lc->large.n)
		part_corrupt(reader, col->attno, "more nulls than the header says");
	if (lc->large.blocks[lc->large.nblocks].stored_at <= len)
		lc->bytes = head;
	lc->block_bytes = palloc(Max(lc->large.largest, 1));
	reader->ndecoded++;
	return lc;
}

/* Have block b in block_bytes. */
static void
load_block(StrataBatchReader *reader, AttrNumber attno, LargeColumn *lc,
		   uint32 b)
{
	const StrataLargeBlock *block = &lc->large.blocks[b];
	Size		size = block[1].stored_at - block->stored_at;
	const uint8 *stored;
	uint8	   *fetched = NULL;
	StrataCodecResult rc;

	if (lc->block == b)
		return;
	if (lc->bytes != NULL)
		stored = lc->bytes + block->stored_at;
	else
	{
		stored = strata_batch_fetch_slice(reader, attno,
										  block->stored_at, size,
										  &fetched);
		if (stored == NULL)
			part_corrupt(reader, attno, "it is cut off");
	}
	Assert(block[1].raw_at - block->raw_at <= lc->large.largest);	/* batch:B15 */
	lc->block = PG_UINT32_MAX;
	rc = strata_large_read_block(&lc->large, b, stored, lc->block_bytes);
	if (rc != STRATA_CODEC_OK)
		part_corrupt(reader, attno, strata_codec_result_text(rc));
	if (fetched != NULL)
		pfree(fetched);
	lc->block = b;
}

/* Copy bytes of the stream. */
static void
copy_stream(StrataBatchReader *reader, AttrNumber attno, LargeColumn *lc,
			uint32 at, uint32 len, char *to)
{
	uint32		b = len > 0 ? strata_large_find_block(&lc->large, at) : 0;

	for (; len > 0; b++)
	{
		const StrataLargeBlock *block = &lc->large.blocks[b];
		uint32		part = Min(len, block[1].raw_at - at);

		load_block(reader, attno, lc, b);
		memcpy(to, lc->block_bytes + (at - block->raw_at), part);
		at += part;
		to += part;
		len -= part;
	}
}

/* How many bytes of value v a part of it has to have. */
static uint32
bytes_needed(const LargeColumn *lc, const StrataPart *part, uint32 v)
{
	uint32		len = lc->large.lengths[v];
	int64		need = part->nchars;

	/* a text of bytes that are characters each */
	if (lc->large.tails[v] > 0 || GetDatabaseEncoding() != PG_UTF8)
		need *= pg_database_encoding_max_length();
	need = Max(need, part->nbytes);
	return need < len ? (uint32) need : len;
}

/* The text without the part of a character at its end. */
static uint32
clip_text(const StrataColumnType *type, const char *data, uint32 len)
{
	uint32		last = len;

	if (type->typid == BYTEAOID || pg_database_encoding_max_length() == 1)
		return len;
	if (GetDatabaseEncoding() != PG_UTF8)
		return (uint32) pg_mbcliplen(data, (int) len, (int) len);
	/* a character has four bytes at most */
	while (last > 0 && len - last < 4 &&
		   ((unsigned char) data[last - 1] & 0xc0) == 0x80)
		last--;
	if (last > 0 && last - 1 +
		pg_utf_mblen((const unsigned char *) data + last - 1) > len)
		return last - 1;
	return len;
}

static inline int
part_row(const uint16 *rows, int first, int i)
{
	return rows != NULL ? rows[i] : first + i;
}

/* The rows that were not read yet, of those that are wanted; *ntodo of them. */
static int *
rows_to_read(const LargeColumn *lc, const PartColumn *pc, const uint16 *rows,
			 int first, int n, int *ntodo)
{
	int		   *todo = palloc(sizeof(int) * n);

	*ntodo = 0;
	for (int i = 0; i < n; i++)
	{
		int			row = part_row(rows, first, i);

		if (!pc->have[row] && !lc->isnull[row])
			todo[(*ntodo)++] = row;
	}
	return todo;
}

/*
 * First bytes of the rows that were not read yet.  Those that stand side by
 * side come first, so that a block is read once.
 */
static void
read_starts(StrataBatchReader *reader, AttrNumber attno, LargeColumn *lc,
			PartColumn *pc, const uint16 *rows, int first, int n)
{
	const StrataLarge *large = &lc->large;
	int			ntodo;
	int		   *todo = rows_to_read(lc, pc, rows, first, n, &ntodo);

	for (int i = 0; i < ntodo; i++)
	{
		uint32		v = lc->value[todo[i]];
		uint32		len = bytes_needed(lc, pc->part, v);
		struct varlena *value = palloc(VARHDRSZ + (Size) len);

		Assert(v < large->n && len <= large->lengths[v]);	/* batch:B15 */
		SET_VARSIZE(value, VARHDRSZ + (Size) len);
		copy_stream(reader, attno, lc, large->lead_at[v],
					Min(len, large->lead), VARDATA(value));
		pc->col.datums[todo[i]] = PointerGetDatum(value);
	}
	for (int i = 0; i < ntodo; i++)
	{
		uint32		v = lc->value[todo[i]];
		struct varlena *value = (struct varlena *)
		DatumGetPointer(pc->col.datums[todo[i]]);
		uint32		len = VARSIZE(value) - VARHDRSZ;

		if (len > large->lead)
			copy_stream(reader, attno, lc, large->body_at[v],
						len - large->lead, VARDATA(value) + large->lead);
		if (len < large->lengths[v])
			len = clip_text(&reader->columns[attno - 1].type, VARDATA(value),
							len);
		SET_VARSIZE(value, VARHDRSZ + (Size) len);
		pc->have[todo[i]] = true;
	}
	pfree(todo);
}

/*
 * Bytes of value v until the part's keys have been found, in work, which has
 * room for the value; 0: they are not in its first `most` bytes.
 */
static uint32
read_until(StrataBatchReader *reader, AttrNumber attno, LargeColumn *lc,
		   const StrataPart *part, uint32 v, uint32 most, char *work)
{
	const StrataLarge *large = &lc->large;
	uint32		len = Min(large->lengths[v], most);
	uint32		there = 0;
	uint32		from = 0;		/* where the key is looked for */
	int			k = 0;

	for (;;)
	{
		const StrataKey *key = &part->keys[k];
		const char *found = memmem(work + from, there - from, key->bytes,
								   key->len);
		uint32		at;
		uint32		more;

		if (found != NULL)
		{
			from = (uint32) (found - work) + key->len;
			if (++k == part->nkeys)
				return from;
			continue;
		}
		if (there == len)
			return 0;
		/* it may begin in what is there */
		if (there - from >= key->len)
			from = there - key->len + 1;
		if (there < large->lead)
		{
			at = large->lead_at[v] + there;
			more = Min(len, large->lead) - there;
		}
		else
		{
			uint32		b;

			at = large->body_at[v] + (there - large->lead);
			b = strata_large_find_block(large, at);
			more = Min(len - there, large->blocks[b + 1].raw_at - at);
		}
		Assert(more > 0);		/* batch:B15 */
		copy_stream(reader, attno, lc, at, more, work + there);
		there += more;
	}
}

/*
 * Of the rows that were not read yet, bytes until keys have been found: at
 * first in what stands side by side of all values, as in read_starts().  A
 * value without the keys is as good as an empty one, which takes no memory.
 */
static void
read_until_found(StrataBatchReader *reader, AttrNumber attno, LargeColumn *lc,
				 PartColumn *pc, const uint16 *rows, int first, int n)
{
	const StrataLarge *large = &lc->large;
	int			ntodo;
	int		   *todo = rows_to_read(lc, pc, rows, first, n, &ntodo);
	uint32		longest = 0;
	char	   *work;

	for (int i = 0; i < ntodo; i++)
		longest = Max(longest, large->lengths[lc->value[todo[i]]]);
	work = MemoryContextAllocHuge(CurrentMemoryContext, Max(longest, 1));
	for (int pass = 0; pass < 2; pass++)
	{
		for (int i = 0; i < ntodo; i++)
		{
			int			row = todo[i];
			uint32		v = lc->value[row];
			uint32		most = pass == 0 ? large->lead : PG_UINT32_MAX;
			uint32		len;

			CHECK_FOR_INTERRUPTS();
			if (pc->have[row])
				continue;
			len = read_until(reader, attno, lc, pc->part, v, most, work);
			if (len == 0 && large->lengths[v] > most)
				continue;
			pc->col.datums[row] =
				PointerGetDatum(cstring_to_text_with_len(work, (int) len));
			pc->have[row] = true;
		}
	}
	pfree(work);
	pfree(todo);
}

/*-------------------------------------------------------------------------
 * Lengths
 *-------------------------------------------------------------------------
 */

/*
 * Characters of the rows' texts, in UTF-8, of which each begins with one byte
 * that is no other's; they are decoded, and counted where they stand.  False:
 * they do not follow each other in memory.
 */
static bool
count_characters(StrataBatchReader *reader, StrataColumn *col, int32 *out,
				 bool **isnull)
{
	const StrataColumn *decoded = strata_batch_reader_strings(reader,
															  col->attno);
	const StrataBytes *strings;
	const uint32 *offsets;
	int32	   *lengths;
	bool		ascii;

	if (decoded == NULL)
		return false;
	strings = &decoded->strings;
	offsets = strings->offsets;
	lengths = palloc(sizeof(int32) * Max(strings->nentries, 1));
	ascii = !strata_has_high_byte(strings->payload + offsets[0],
								  offsets[strings->nentries] - offsets[0]);
	for (uint32 i = 0; i < strings->nentries; i++)
	{
		int32		len = (int32) (offsets[i + 1] - offsets[i]);

		lengths[i] = ascii ? len :
			strata_utf8_length(strings->payload + offsets[i], len);
	}
	for (int row = 0; row < reader->nrows; row++)
		out[row] = lengths[decoded->codes != NULL ? decoded->codes[row] :
						   row];
	pfree(lengths);
	/* the column may be decoded once more, to other places */
	*isnull = NULL;
	if (decoded->isnull != NULL)
	{
		*isnull = palloc(sizeof(bool) * reader->nrows);
		memcpy(*isnull, decoded->isnull, sizeof(bool) * reader->nrows);
	}
	return true;
}

/* Lengths of all rows; false: they are not kept. */
static bool
read_lengths(StrataBatchReader *reader, StrataColumn *col, LargeColumn *lc,
			 PartColumn *pc)
{
	int			n = reader->nrows;
	bool		chars = pc->part->kind == STRATA_PART_CHARS &&
	pg_database_encoding_max_length() > 1;
	int32	   *out;
	bool	   *isnull;
	bool		hasnull = false;

	if (chars && GetDatabaseEncoding() != PG_UTF8)
		return false;
	out = palloc0(sizeof(int32) * n);
	if (chars && lc == NULL)
	{
		if (!count_characters(reader, col, out, &isnull))
			return false;
		hasnull = isnull != NULL;
	}
	else if (lc != NULL)
	{
		isnull = lc->isnull;
		for (int row = 0; row < n; row++)
		{
			uint32		v = lc->value[row];

			hasnull |= isnull[row];
			if (!isnull[row])
				out[row] = (int32) (lc->large.lengths[v] -
									(chars ? lc->large.tails[v] : 0));
		}
	}
	else
	{
		StrataCodecResult rc;

		strata_batch_fetch_column(reader, col);
		isnull = palloc0(n);
		rc = strata_column_decode_lengths(col->encoded, col->encoded_len,
										  NULL, 0, (uint32 *) out, NULL,
										  isnull, &hasnull);
		if (rc == STRATA_CODEC_NOT_APPLICABLE)
			return false;
		if (rc != STRATA_CODEC_OK)
			part_corrupt(reader, col->attno, strata_codec_result_text(rc));
	}
	pc->col.fixed = out;
	pc->col.isnull = hasnull ? isnull : NULL;
	return true;
}

/*-------------------------------------------------------------------------
 * Members of documents
 *-------------------------------------------------------------------------
 */

/* A numeric that stands without its length. */
static Numeric
make_numeric(const StrataBytes *bytes, uint32 entry)
{
	Size		len = bytes->offsets[entry + 1] - bytes->offsets[entry];
	struct varlena *value = palloc(VARHDRSZ + len);

	SET_VARSIZE(value, VARHDRSZ + len);
	memcpy(VARDATA(value), bytes->payload + bytes->offsets[entry], len);
	return (Numeric) value;
}

/* What is shown of a member: jsonb, or text; 0 is SQL's null. */
static Datum
make_member(const StrataMembers *m, StrataMemberKind kind, uint32 entry,
			bool text)
{
	JsonbValue	v;
	char	   *bytes;
	int			len;

	switch (kind)
	{
		case STRATA_MEMBER_STRING:
			len = (int) (m->strings.offsets[entry + 1] -
						 m->strings.offsets[entry]);
			bytes = (char *) m->strings.payload + m->strings.offsets[entry];
			if (text)
				return PointerGetDatum(cstring_to_text_with_len(bytes, len));
			v.type = jbvString;
			v.val.string.len = len;
			v.val.string.val = bytes;
			break;
		case STRATA_MEMBER_NUMBER:
			v.type = jbvNumeric;
			v.val.numeric = make_numeric(&m->numbers, entry);
			if (text)
			{
				Datum		shown = NumericGetDatum(v.val.numeric);

				shown = DirectFunctionCall1(numeric_out, shown);
				return CStringGetTextDatum(DatumGetCString(shown));
			}
			break;
		case STRATA_MEMBER_FALSE:
		case STRATA_MEMBER_TRUE:
			v.type = jbvBool;
			v.val.boolean = kind == STRATA_MEMBER_TRUE;
			if (text)
				return CStringGetTextDatum(v.val.boolean ? "true" : "false");
			break;
		default:
			v.type = jbvNull;
			if (text)
				return (Datum) 0;
			break;
	}
	return PointerGetDatum(JsonbValueToJsonb(&v));
}

/* Where the entries of a kind begin in the dictionary of a part. */
static inline uint32
first_entry(const StrataMembers *m, StrataMemberKind kind)
{
	uint32		fixed = m->strings.nentries + m->numbers.nentries;

	switch (kind)
	{
		case STRATA_MEMBER_STRING:
			return 0;
		case STRATA_MEMBER_NUMBER:
			return m->strings.nentries;
		case STRATA_MEMBER_FALSE:
			return fixed;
		case STRATA_MEMBER_TRUE:
			return fixed + 1;
		default:
			return fixed + 2;
	}
}

/* The dictionary of a part: strings, numbers, false, true, null. */
static void
make_entries(const StrataMembers *m, bool text, StrataColumn *col)
{
	uint32		fixed = m->strings.nentries + m->numbers.nentries;

	col->ndict = (int) fixed + 3;
	col->dict = palloc(sizeof(Datum) * col->ndict);
	for (uint32 i = 0; i < m->strings.nentries; i++)
		col->dict[i] = make_member(m, STRATA_MEMBER_STRING, i, text);
	for (uint32 i = 0; i < m->numbers.nentries; i++)
		col->dict[m->strings.nentries + i] =
			make_member(m, STRATA_MEMBER_NUMBER, i, text);
	col->dict[fixed] = make_member(m, STRATA_MEMBER_FALSE, 0, text);
	col->dict[fixed + 1] = make_member(m, STRATA_MEMBER_TRUE, 0, text);
	col->dict[fixed + 2] = make_member(m, STRATA_MEMBER_NULL, 0, text);
}

/*
 * What the first n rows have at a path; false: it cannot be had from its
 * columns.
 */
static bool
decode_members(StrataBatchReader *reader, StrataColumn *col, PartColumn *pc,
			   int n)
{
	const StrataPart *part = pc->part;
	bool		text = part->kind == STRATA_PART_MEMBER_TEXT;
	StrataMembers m = {0};
	size_t		size;
	uint32	   *codes;
	bool	   *isnull;
	bool		hasnull = false;
	StrataCodecResult rc;

	strata_batch_fetch_column(reader, col);
	if (col->codec != STRATA_CODEC_JSONB)
		return false;
	rc = strata_column_members_scratch_size(col->encoded, col->encoded_len,
											(uint32) n, &size);
	if (rc == STRATA_CODEC_OK && size > MaxAllocSize)
		rc = STRATA_CODEC_CORRUPT;
	m.kinds = palloc0(n);
	m.which = palloc0(sizeof(uint32) * n);
	isnull = palloc0(n);
	if (rc == STRATA_CODEC_OK)
		rc = strata_column_decode_members(col->encoded, col->encoded_len,
										  (uint32) n, part->keys, part->nkeys,
										  palloc(size), size, &m, isnull);
	if (rc != STRATA_CODEC_OK)
		part_corrupt(reader, col->attno, strata_codec_result_text(rc));
	if (memchr(m.kinds, STRATA_MEMBER_CONTAINER, n) != NULL)
		return false;
	make_entries(&m, text, &pc->col);
	codes = palloc0(sizeof(uint32) * n);
	for (int row = 0; row < n; row++)
	{
		StrataMemberKind kind = (StrataMemberKind) m.kinds[row];

		isnull[row] |= kind == STRATA_MEMBER_ABSENT ||
			(text && kind == STRATA_MEMBER_NULL);
		hasnull |= isnull[row];
		if (!isnull[row])
			codes[row] = first_entry(&m, kind) + m.which[row];
	}
	pc->col.codes = codes;
	pc->col.isnull = hasnull ? isnull : NULL;
	pc->first_n = n;
	return true;
}

/*
 * The same as far as these rows go, and then some: who goes on row by row asks
 * again and again.
 */
static bool
grow_members(StrataBatchReader *reader, StrataColumn *col, PartColumn *pc,
			 const uint16 *rows, int first, int n)
{
	int			end = part_row(rows, first, 0);

	for (int i = 0; i < n; i++)
		end = Max(end, part_row(rows, first, i));
	end++;
	if (end <= pc->first_n)
		return true;
	Assert(end <= reader->nrows);	/* batch:B15 */
	if (pc->first_n > 0)
		end = Max(end, Min(pc->first_n * MEMBERS_GROW, reader->nrows));
	return decode_members(reader, col, pc, end);
}

/*-------------------------------------------------------------------------
 * Parts
 *-------------------------------------------------------------------------
 */

/* Which rows are null; NULL: none is. */
static bool *
read_nulls(StrataBatchReader *reader, StrataColumn *col,
		   const LargeColumn *large)
{
	bool	   *isnull;
	uint32		nnulls;
	StrataCodecResult rc;

	if (large != NULL)
		return large->large.n < (uint32) reader->nrows ? large->isnull : NULL;
	strata_batch_fetch_column(reader, col);
	if (col->nnulls == 0)
		return NULL;
	isnull = palloc(reader->nrows);
	rc = strata_column_nulls(col->encoded, col->encoded_len,
							 (uint32) reader->nrows, isnull, &nnulls);
	if (rc != STRATA_CODEC_OK)
		part_corrupt(reader, col->attno, strata_codec_result_text(rc));
	return isnull;
}

/* The column in the reader's list. */
static PartedColumn *
find_parted(StrataBatchReader *reader, StrataColumn *col)
{
	ListCell   *lc;
	PartedColumn *parted;

	foreach(lc, reader->parted)
	{
		parted = lfirst(lc);
		if (parted->attno == col->attno)
			return parted;
	}
	parted = palloc0(sizeof(PartedColumn));
	parted->attno = col->attno;
	parted->large = col->type.typbyval ? NULL : open_large(reader, col);
	reader->parted = lappend(reader->parted, parted);
	return parted;
}

/* Make what does not depend on the rows; false: it cannot be had. */
static bool
make_part_column(StrataBatchReader *reader, StrataColumn *col,
				 PartedColumn *parted, PartColumn *pc)
{
	int			n = reader->nrows;

	pc->col.decoded = true;
	pc->col.n = n;
	switch (pc->part->kind)
	{
		case STRATA_PART_NULLS:
			pc->col.type = col->type;
			pc->col.isnull = read_nulls(reader, col, parted->large);
			return true;
		case STRATA_PART_OCTETS:
		case STRATA_PART_CHARS:
			pc->col.type.typid = INT4OID;
			pc->col.type.typbyval = true;
			pc->col.type.typlen = sizeof(int32);
			pc->col.type.width = sizeof(int32);
			pc->col.type.kind = STRATA_KIND_INT;
			return read_lengths(reader, col, parted->large, pc);
		case STRATA_PART_START:
		case STRATA_PART_UNTIL:
			if (parted->large == NULL)
				return false;
			pc->col.type = col->type;
			pc->col.datums = palloc0(sizeof(Datum) * n);
			pc->have = palloc0(n);
			pc->col.isnull = parted->large->large.n < (uint32) n ?
				parted->large->isnull : NULL;
			return true;
		default:
			pc->col.type = col->type;
			if (pc->part->kind == STRATA_PART_MEMBER_TEXT)
				pc->col.type.typid = TEXTOID;
			return parted->large == NULL;
	}
}

/* The part in the column's list, made when it is first asked for. */
static PartColumn *
find_part_column(StrataBatchReader *reader, StrataColumn *col,
				 PartedColumn *parted, const StrataPart *part)
{
	ListCell   *lc;
	PartColumn *pc;

	foreach(lc, parted->parts)
	{
		pc = lfirst(lc);
		if (pc->part == part || strata_part_equals(pc->part, part))
			return pc;
	}
	pc = palloc0(sizeof(PartColumn));
	pc->part = part;
	pc->missing = !make_part_column(reader, col, parted, pc);
	parted->parts = lappend(parted->parts, pc);
	return pc;
}

/* See batch_part.h. */
StrataColumn *
strata_batch_reader_part(StrataBatchReader *reader, AttrNumber attno,
						 const StrataPart *part, const uint16 *rows,
						 int first, int n)
{
	StrataColumn *col = &reader->columns[attno - 1];
	PartedColumn *parted;
	PartColumn *pc;
	MemoryContext old;

	Assert(attno > 0);			/* batch:B1 */
	/* where all values are there, a part of them saves nothing */
	if (!strata_enable_value_parts || n == 0 ||
		(col->decoded && col->n == reader->nrows) ||
		!strata_attribute_is_kept(TupleDescAttr(reader->schema->rel_desc,
												attno - 1)) ||
		strata_layout_segment_index(reader->layout, attno) >= 0 ||
		!strata_batch_reader_is_stored(reader, attno))
		return NULL;
	Assert(!col->type.typbyval ||
		   part->kind == STRATA_PART_NULLS);	/* batch:B15 */
	old = MemoryContextSwitchTo(reader->batch_mcxt);
	reader->touched = true;
	parted = find_parted(reader, col);
	pc = find_part_column(reader, col, parted, part);
	if (pc->missing)
		col = NULL;
	else if (part->kind == STRATA_PART_MEMBER ||
			 part->kind == STRATA_PART_MEMBER_TEXT)
		pc->missing = !grow_members(reader, col, pc, rows, first, n);
	else if (part->kind == STRATA_PART_UNTIL)
		read_until_found(reader, attno, parted->large, pc, rows, first, n);
	else if (pc->have != NULL)
		read_starts(reader, attno, parted->large, pc, rows, first, n);
	MemoryContextSwitchTo(old);
	return pc->missing ? NULL : &pc->col;
}
