/*-------------------------------------------------------------------------
 *
 * batch_reader.c
 *	  Batch row in, columns out.
 *
 * load() checks the batch row (batch_seal.c); a column is detoasted, checked
 * (CRC, row count, type) and decoded when it is first asked for.  All memory
 * of a batch lies in batch_mcxt, which load() resets.
 *
 * Bytes are distrusted: whatever does not fit raises ERRCODE_DATA_CORRUPTED.
 *
 * Over 600 lines: all that turns the bytes of one row into columns, lazily.
 *
 * src/batch/batch_reader.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

/* Batches after which a reader keeps more memory. */
#define LARGE_AFTER 4

/* So many rows of a batch are decoded alone. */
#define ROWS_ALONE 2

/* Scratch memory of decoders: at least so much. */
#define SCRATCH_MIN (16 * 1024)

/* A reader in mcxt, without memory for batches. */
static StrataBatchReader *
make_reader(MemoryContext mcxt, Relation rel, const StrataBatchSchema *schema)
{
	StrataBatchReader *reader;

	reader = MemoryContextAllocZero(mcxt, sizeof(StrataBatchReader));
	reader->lead = reader;
	reader->mcxt = mcxt;
	reader->schema = schema;
	reader->rel = rel;
	reader->summaries = MemoryContextAlloc(mcxt, sizeof(StrataColumnSummary) *
										   Max(schema->natts, 1));
	reader->columns = MemoryContextAllocZero(mcxt, sizeof(StrataColumn) *
											 Max(schema->natts, 1));
	for (int i = 0; i < schema->natts; i++)
	{
		reader->columns[i].attno = (AttrNumber) (i + 1);
		reader->columns[i].type = schema->types[i];
		reader->columns[i].reader = reader;
	}
	return reader;
}

/* See batch_reader.h. */
StrataBatchReader *
strata_batch_reader_create(Relation rel, const StrataBatchSchema *schema)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata batch reader",
											   ALLOCSET_SMALL_SIZES);
	StrataBatchReader *reader = make_reader(mcxt, rel, schema);

	reader->batch_mcxt = AllocSetContextCreate(mcxt, "strata batch",
											   ALLOCSET_DEFAULT_SIZES);
	return reader;
}

/* See batch_reader.h. */
StrataBatchReader *
strata_batch_reader_create_beside(StrataBatchReader *lead)
{
	StrataBatchReader *reader = make_reader(lead->mcxt, lead->rel,
											lead->schema);

	reader->lead = lead->lead;
	reader->toast = lead->toast;
	reader->layout_cache = lead->layout_cache;
	/* there may be many, each with few rows of a batch */
	reader->batch_mcxt = AllocSetContextCreate(reader->mcxt, "strata batch",
											   ALLOCSET_START_SMALL_SIZES);
	return reader;
}

/*
 * Take over the layout of the batch, parsing only when it differs from the
 * last.
 */
static void
load_layout(StrataBatchReader *reader, Datum value)
{
	text	   *t = DatumGetTextPP(value);
	int			len = VARSIZE_ANY_EXHDR(t);
	StrataLayout *last = reader->layout_cache;

	if (last == NULL || strlen(last->text) != len ||
		memcmp(last->text, VARDATA_ANY(t), len) != 0)
	{
		MemoryContext old = MemoryContextSwitchTo(reader->mcxt);
		char	   *s = pnstrdup(VARDATA_ANY(t), len);

		/* the few layouts a table ever had: not worth freeing */
		reader->layout_cache = strata_layout_parse(s, reader->schema->natts);
		MemoryContextSwitchTo(old);
	}
	reader->layout = reader->layout_cache;
}

/* Keep the summary, and check what it says of the row. */
static void
check_row(StrataBatchReader *reader)
{
	TupleTableSlot *slot = reader->batch_slot;
	MemoryContext old = MemoryContextSwitchTo(reader->batch_mcxt);
	const char *problem;

	if (slot->tts_isnull[STRATA_BATCH_ATT_SUMMARY - 1])
		problem = "the batch has no summary";
	else
	{
		reader->summary = (bytea *) strata_toast_fetch(reader->toast,
													   reader->schema->toastid,
													   (struct varlena *)
													   DatumGetPointer(slot->tts_values[STRATA_BATCH_ATT_SUMMARY -
																						1]));
		problem = strata_seal_check_row(reader->schema, slot, reader->summary,
										&reader->seal_memo);
	}
	MemoryContextSwitchTo(old);
	if (problem != NULL)
	{
		int64		first_row = reader->first_row;

		/* whoever goes on after this finds no batch */
		reader->nrows = 0;
		strata_error_corrupt(reader->rel, first_row, NULL, problem);
	}
}

/* See batch_reader.h. */
bool
strata_batch_reader_load(StrataBatchReader *reader, TupleTableSlot *batch_slot)
{
	/*
	 * the others come when they are asked for: each costs a look at its
	 * header
	 */
	slot_getsomeattrs(batch_slot, reader->schema->nfixed);

	/*
	 * one batch may want little memory, for which contexts are kept at hand;
	 * many want more
	 */
	if (++reader->nloaded == LARGE_AFTER)
	{
		MemoryContextDelete(reader->batch_mcxt);
		reader->batch_mcxt = AllocSetContextCreate(reader->mcxt,
												   "strata batch", 0,
												   64 * 1024, 8 * 1024 * 1024);
	}
	else
		MemoryContextReset(reader->batch_mcxt);
	for (int i = 0; i < reader->schema->natts && reader->touched; i++)
	{
		reader->columns[i].decoded = false;
		reader->columns[i].encoded = NULL;
		reader->columns[i].strings.offsets = NULL;
		reader->columns[i].numbers = NULL;
	}
	reader->touched = false;
	reader->nalone = 0;
	reader->parted = NIL;
	reader->holders = NULL;
	reader->nholders = 0;
	reader->nsummaries = -1;
	reader->batch_slot = batch_slot;
	for (int i = 0; i < STRATA_BATCH_ATT_LAYOUT; i++)
		if (batch_slot->tts_isnull[i])
			strata_error_corrupt(reader->rel, -1, NULL,
								 "a fixed column is null");
	reader->first_row =
		DatumGetInt64(batch_slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]);
	reader->nrows =
		DatumGetInt32(batch_slot->tts_values[STRATA_BATCH_ATT_NROWS - 1]);
	reader->ngone = 0;
	if (reader->first_row < 0 && reader->nrows == 0)
	{
		/* a flipped sign must not make rows vanish */
		if (batch_slot->tts_isnull[STRATA_BATCH_ATT_ENTRY - 1])
			strata_error_corrupt(reader->rel, reader->first_row, NULL,
								 "neither a batch nor a row entry");
		return false;
	}
	if (reader->first_row < 0 ||
		reader->first_row > STRATA_BATCH_MAX_ROW_NUMBER ||
		reader->nrows <= 0 || reader->nrows > STRATA_CODEC_MAX_ROWS)
		strata_error_corrupt(reader->rel, reader->first_row, NULL,
							 "row number or count out of range");
	Assert(reader->nrows > 0 &&
		   reader->nrows <= STRATA_CODEC_MAX_ROWS); /* batch:B8 */
	check_row(reader);
	load_layout(reader, batch_slot->tts_values[STRATA_BATCH_ATT_LAYOUT - 1]);
	return true;
}

/* See batch_private.h. */
void
strata_batch_column_corrupt(StrataBatchReader *reader, AttrNumber attno,
							const char *what)
{
	strata_error_corrupt(reader->rel, reader->first_row,
						 NameStr(TupleDescAttr(reader->schema->rel_desc,
											   attno - 1)->attname), what);
}

/* Text-like types take short headers as they are; others want aligned data. */
static bool
wants_short_header(const StrataColumnType *type)
{
	return type->typid == TEXTOID || type->typid == VARCHAROID ||
		type->typid == BPCHAROID || type->typid == BYTEAOID;
}

/*
 * Memory that lives as long as the reader, so that a query that reads one
 * batch does not make malloc fetch and return pages for every column of it.
 */
static void
grow_scratch(StrataBatchReader *reader, Size size)
{
	StrataBatchReader *lead = reader->lead;

	if (lead->scratch_size >= size)
		return;
	if (lead->scratch != NULL)
		pfree(lead->scratch);
	lead->scratch_size = size;
	lead->scratch = MemoryContextAlloc(lead->mcxt, size);
}

/* What decoding rows of col needs. */
static size_t
scratch_needed(StrataBatchReader *reader, StrataColumn *col, int from, int n)
{
	size_t		size;
	StrataCodecResult rc = strata_column_decode_scratch_size(col->encoded,
															 col->encoded_len,
															 from, n, &size);

	if (rc != STRATA_CODEC_OK || size > MaxAllocSize)
		strata_batch_column_corrupt(reader, col->attno, "decoded size out of range");
	return size;
}

/* Where decoders put flags of a column without nulls; nobody reads them. */
static bool *
no_nulls(StrataBatchReader *reader)
{
	StrataBatchReader *lead = reader->lead;

	if (lead->no_nulls_size < reader->nrows)
	{
		if (lead->no_nulls != NULL)
			pfree(lead->no_nulls);
		lead->no_nulls_size = reader->nrows;
		lead->no_nulls = MemoryContextAlloc(lead->mcxt, reader->nrows);
	}
	return lead->no_nulls;
}

/*
 * Do all strings have lengths that the type can have?  isnull tells null rows,
 * which are empty strings, in the flat shape, and is NULL in the other.
 */
static bool
lengths_are_sound(const StrataColumnType *type, const StrataBytes *b,
				  const bool *isnull)
{
	if (type->typlen == -1)
		return true;
	for (uint32 i = 0; i < b->nentries; i++)
	{
		uint32		len = b->offsets[i + 1] - b->offsets[i];

		if (len == 0 && isnull != NULL && isnull[i])
			continue;
		if (type->typlen > 0 ? len != type->typlen :
			len == 0 || b->payload[b->offsets[i + 1] - 1] != '\0')
			return false;
	}
	return true;
}

/*
 * Turn byte strings into datums of the type, each with a length word of its
 * own (batch:B14), in the current context.  False: they are too large.
 */
static bool
build_datums(const StrataColumnType *type, const StrataBytes *b, Datum *out)
{
	bool		short_ok = wants_short_header(type);
	Size		total = b->offsets[b->nentries] - b->offsets[0] +
	(Size) b->nentries * (VARHDRSZ + MAXIMUM_ALIGNOF);
	char	   *p;

	if (total > MaxAllocSize)
		return false;
	p = palloc(Max(total, 1));
	for (uint32 i = 0; i < b->nentries; i++)
	{
		const uint8 *src = b->payload + b->offsets[i];
		uint32		len = b->offsets[i + 1] - b->offsets[i];
		uint32		header = 0;

		if (type->typlen == -1 && short_ok &&
			len + VARHDRSZ_SHORT <= VARATT_SHORT_MAX)
		{
			header = VARHDRSZ_SHORT;
			SET_VARSIZE_SHORT(p, len + VARHDRSZ_SHORT);
		}
		else if (type->typlen != -2)
		{
			p = (char *) MAXALIGN(p);
			if (type->typlen == -1)
			{
				header = VARHDRSZ;
				SET_VARSIZE(p, len + VARHDRSZ);
			}
		}
		memcpy(p + header, src, len);
		out[i] = PointerGetDatum(p);
		p += header + len;
	}
	return true;
}

/* Make the values of a column that has strings. */
static void
make_column_values(StrataBatchReader *reader, StrataColumn *col)
{
	const StrataBytes *b = &col->strings;
	Datum	   *datums = palloc(sizeof(Datum) * Max(b->nentries, 1));

	if (!build_datums(&col->type, b, datums))
		strata_batch_column_corrupt(reader, col->attno,
									"a value has a length its type cannot have");
	if (b->codes != NULL)
		col->dict = datums;
	else
		col->datums = datums;
}

/*
 * Decode rows [col->from, col->from + col->n) of the fetched column of a
 * by-reference type to strings.
 */
static void
decode_strings(StrataBatchReader *reader, StrataColumn *col)
{
	Size		scratch_size = scratch_needed(reader, col, col->from, col->n);

	/* the result points into it */
	void	   *scratch = palloc(Max(scratch_size, 1));
	StrataBytes b;
	bool		hasnull;
	StrataCodecResult rc;

	Assert(!col->type.typbyval && col->encoded != NULL);	/* batch:B9 */
	col->isnull = col->nnulls > 0 ? palloc(col->n) : no_nulls(reader);
	rc = strata_column_decode_bytes(col->encoded, col->encoded_len, col->from,
									col->n, scratch, scratch_size, &b,
									col->isnull, &hasnull);
	Assert(rc != STRATA_CODEC_NO_SPACE);	/* codec:C9 */
	if (rc != STRATA_CODEC_OK)
		strata_batch_column_corrupt(reader, col->attno,
									strata_codec_result_text(rc));
	if (!lengths_are_sound(&col->type, &b,
						   hasnull && b.codes == NULL ? col->isnull : NULL))
		strata_batch_column_corrupt(reader, col->attno,
									"a value has a length its type cannot have");
	if (hasnull && col->isnull == reader->lead->no_nulls)
		strata_batch_column_corrupt(reader, col->attno, "more nulls than the header says");
	col->codes = b.codes;
	col->ndict = b.codes != NULL ? (int) b.nentries : 0;
	if (!hasnull)
		col->isnull = NULL;
	else if (b.codes != NULL && b.nentries == 0)
	{
		/* every row is null */
		col->constant = true;
		col->value_isnull = true;
		col->from = 0;
		col->n = reader->nrows;
	}
	col->strings = b;
}

/* See batch_reader.h. */
const uint8 *
strata_batch_reader_encoded(StrataBatchReader *reader, AttrNumber attno,
							Size *len)
{
	MemoryContext old = MemoryContextSwitchTo(reader->batch_mcxt);
	const uint8 *buf = strata_batch_fetch_encoded(reader, attno, len);

	MemoryContextSwitchTo(old);
	if (buf == NULL)
		strata_batch_column_corrupt(reader, attno,
									"its value, or the one it shares with other columns, is malformed");
	return buf;
}

static uint32
seal_of(StrataBatchReader *reader, const StrataColumn *col)
{
	return strata_seal_of_column(reader->schema, reader->first_row,
								 col->attno);
}

/* See batch_private.h. */
void
strata_batch_check_column(StrataBatchReader *reader, StrataColumn *col,
						  const uint8 *buf, Size len)
{
	StrataCodecInfo info;
	StrataCodecResult rc;

	rc = strata_column_check(buf, len, seal_of(reader, col), &info);
	if (rc != STRATA_CODEC_OK)
		strata_batch_column_corrupt(reader, col->attno,
									strata_codec_result_text(rc));
	if (info.nrows != (uint32) reader->nrows || info.kind != col->type.kind ||
		info.width != col->type.width)
		strata_batch_column_corrupt(reader, col->attno,
									"row count or type differs from the batch's");
	Assert(info.nnulls <= info.nrows);	/* batch:B9 */
	col->nnulls = (int) info.nnulls;
	col->codec = info.id;
}

/* See batch_private.h. */
void
strata_batch_fetch_column(StrataBatchReader *reader, StrataColumn *col)
{
	Size		len;
	const uint8 *buf;

	if (col->encoded != NULL)
		return;
	buf = strata_batch_reader_encoded(reader, col->attno, &len);
	strata_batch_check_column(reader, col, buf, len);
	col->encoded = buf;
	col->encoded_len = len;
	reader->ndecoded++;
}

/* See batch_reader.h. */
uint8 *
strata_batch_reader_copy_column(StrataBatchReader *reader, AttrNumber attno,
								Size *len)
{
	StrataColumn *col = &reader->columns[attno - 1];
	MemoryContext old = MemoryContextSwitchTo(reader->batch_mcxt);
	uint8	   *copy;

	reader->touched = true;
	strata_batch_fetch_column(reader, col);
	MemoryContextSwitchTo(old);
	copy = palloc(col->encoded_len);
	memcpy(copy, col->encoded, col->encoded_len);
	strata_column_seal(copy, seal_of(reader, col));
	*len = col->encoded_len;
	return copy;
}

/* Decode rows [col->from, col->from + col->n) of the fetched column. */
static void
decode_column(StrataBatchReader *reader, StrataColumn *col)
{
	StrataCodecResult rc;
	size_t		scratch_size;
	bool		hasnull;

	Assert(col->encoded != NULL);	/* batch:B9 */
	if (!col->type.typbyval)
	{
		decode_strings(reader, col);
		make_column_values(reader, col);
		return;
	}
	col->isnull = col->nnulls > 0 ? palloc(col->n) : no_nulls(reader);
	col->fixed = palloc((Size) col->n * col->type.width);

	/*
	 * what there is, is mostly enough: asking what is needed takes as long as
	 * decoding few rows
	 */
	grow_scratch(reader, SCRATCH_MIN);
	while ((rc = strata_column_decode_fixed(col->encoded, col->encoded_len,
											col->from, col->n, reader->lead->scratch,
											reader->lead->scratch_size, col->fixed,
											col->isnull, &hasnull)) ==
		   STRATA_CODEC_NO_SPACE &&
		   (scratch_size = scratch_needed(reader, col, col->from, col->n)) >
		   reader->lead->scratch_size)
		grow_scratch(reader, scratch_size);
	if (rc != STRATA_CODEC_OK)
		strata_batch_column_corrupt(reader, col->attno,
									strata_codec_result_text(rc));
	if (hasnull && col->isnull == reader->lead->no_nulls)
		strata_batch_column_corrupt(reader, col->attno, "more nulls than the header says");
	if (!hasnull)
		col->isnull = NULL;
}

/* See batch_reader.h. */
StrataColumn *
strata_batch_reader_column(StrataBatchReader *reader, AttrNumber attno)
{
	return strata_batch_reader_rows(reader, attno, 0, reader->nrows);
}

/* Nothing of it is decoded. */
static void
clear_column(StrataBatchReader *reader, StrataColumn *col)
{
	reader->touched = true;
	col->from = 0;
	col->n = reader->nrows;
	col->constant = false;
	col->isnull = NULL;
	col->fixed = NULL;
	col->datums = NULL;
	col->codes = NULL;
	col->dict = NULL;
	col->ndict = 0;
	col->strings.offsets = NULL;
	col->numbers = NULL;
}

/* See batch_reader.h. */
StrataColumn *
strata_batch_reader_rows(StrataBatchReader *reader, AttrNumber attno, int from,
						 int n)
{
	StrataColumn *col = &reader->columns[attno - 1];
	TupleTableSlot *slot = reader->batch_slot;
	AttrNumber	catt;
	Form_pg_attribute att;
	MemoryContext old;

	Assert(from >= 0 && n >= 0 && from + n <= reader->nrows);	/* batch:B8 */
	if (col->decoded && from >= col->from && from + n <= col->from + col->n)
		return col;
	/* columns made of the row store's rows are all there, and have no schema */
	Assert(attno > 0 && attno <= reader->schema->natts);	/* batch:B9 */
	Assert(n > 0);				/* batch:B8 */
	old = MemoryContextSwitchTo(reader->batch_mcxt);
	if (!col->decoded && col->strings.offsets != NULL)
	{
		make_column_values(reader, col);
		MemoryContextSwitchTo(old);
		col->decoded = true;
		return col;
	}
	clear_column(reader, col);
	if (!strata_attribute_is_kept(TupleDescAttr(reader->schema->rel_desc,
												attno - 1)))
	{
		col->constant = true;
		col->value = (Datum) 0;
		col->value_isnull = true;
	}
	else if (strata_layout_segment_index(reader->layout, attno) >= 0)
	{
		catt = reader->schema->seg_att[attno];
		if (catt == 0)
			strata_batch_column_corrupt(reader, attno,
										"the companion has no such segmentby column");
		att = TupleDescAttr(reader->schema->batch_desc, catt - 1);
		if (att->attlen != col->type.typlen ||
			att->attbyval != col->type.typbyval)
			strata_batch_column_corrupt(reader, attno,
										"the companion's segmentby column is of another type");
		col->constant = true;
		col->value = slot->tts_values[catt - 1];
		col->value_isnull = slot->tts_isnull[catt - 1];

		/*
		 * as a column of R's row would look: never compressed or out of line
		 */
		if (!col->value_isnull && col->type.typlen == -1)
			col->value = PointerGetDatum(PG_DETOAST_DATUM(PointerGetDatum(
																		  strata_toast_fetch(reader->toast, reader->schema->toastid,
																							 (struct varlena *)
																							 DatumGetPointer(col->value)))));
	}
	else if (!strata_batch_reader_is_stored(reader, attno))
	{
		Assert(reader->schema->missing != NULL);	/* batch:B7 */
		col->constant = true;
		col->value = reader->schema->missing(reader->schema->rel_desc, attno,
											 slot, &col->value_isnull);
	}
	else
	{
		strata_batch_fetch_column(reader, col);
		col->from = from;
		col->n = n;
		decode_column(reader, col);
	}
	MemoryContextSwitchTo(old);
	col->decoded = true;
	return col;
}

/* See batch_reader.h. */
StrataColumn *
strata_batch_reader_row(StrataBatchReader *reader, AttrNumber attno, int row)
{
	if (reader->nalone == 0 || reader->alone != row)
		reader->nalone++;
	reader->alone = row;
	return reader->nalone > ROWS_ALONE ?
		strata_batch_reader_column(reader, attno) :
		strata_batch_reader_rows(reader, attno, row, 1);
}

/*
 * Bytes of the integers that hold all values of a column, if its floats are
 * integers; 0: more than 4.
 */
static int
integer_width(const StrataColumnType *type, const StrataColumnSummary *summary)
{
	float8		min;
	float8		max;

	min = type->width == sizeof(float8) ? DatumGetFloat8(summary->min) :
		DatumGetFloat4(summary->min);
	max = type->width == sizeof(float8) ? DatumGetFloat8(summary->max) :
		DatumGetFloat4(summary->max);
	if (min >= PG_INT16_MIN && max <= PG_INT16_MAX)
		return sizeof(int16);
	return min >= PG_INT32_MIN && max <= PG_INT32_MAX ? sizeof(int32) : 0;
}

/* May what a column is kept as be asked for, instead of its values? */
static bool
stands_encoded(StrataBatchReader *reader, const StrataColumn *col)
{
	return !col->decoded &&
		strata_layout_segment_index(reader->layout, col->attno) < 0 &&
		strata_batch_reader_is_stored(reader, col->attno);
}

/* It is, with memory as long as the batch's; returns the caller's. */
static MemoryContext
begin_encoded(StrataBatchReader *reader, StrataColumn *col)
{
	MemoryContext caller = MemoryContextSwitchTo(reader->batch_mcxt);

	reader->touched = true;
	strata_batch_fetch_column(reader, col);
	return caller;
}

/* See batch_reader.h. */
const StrataColumn *
strata_batch_reader_strings(StrataBatchReader *reader, AttrNumber attno)
{
	StrataColumn *col = &reader->columns[attno - 1];
	MemoryContext caller;

	if (col->type.typbyval)
		return NULL;
	/* of few rows only: who has them goes on with all */
	if (col->decoded)
		col = strata_batch_reader_column(reader, attno);
	else if (col->strings.offsets == NULL)
	{
		if (!stands_encoded(reader, col))
			return NULL;
		clear_column(reader, col);
		caller = begin_encoded(reader, col);
		decode_strings(reader, col);
		MemoryContextSwitchTo(caller);
		col->decoded = col->constant;
	}
	return col->constant || col->strings.offsets == NULL ? NULL : col;
}

/* See batch_reader.h. */
bool
strata_batch_reader_has_dictionary(StrataBatchReader *reader, AttrNumber attno)
{
	StrataColumn *col = &reader->columns[attno - 1];

	if (col->type.typbyval)
		return false;
	if (stands_encoded(reader, col))
		MemoryContextSwitchTo(begin_encoded(reader, col));
	return col->encoded != NULL && col->codec == STRATA_CODEC_DICTIONARY;
}

/* The integers it was decoded to, if it has them. */
static void *
end_encoded(StrataBatchReader *reader, const StrataColumn *col,
			MemoryContext caller, StrataCodecResult rc, void *out)
{
	MemoryContextSwitchTo(caller);
	if (rc != STRATA_CODEC_OK && rc != STRATA_CODEC_NOT_APPLICABLE)
		strata_batch_column_corrupt(reader, col->attno,
									strata_codec_result_text(rc));
	return rc == STRATA_CODEC_OK ? out : NULL;
}

/* See batch_reader.h. */
const void *
strata_batch_reader_integers(StrataBatchReader *reader, AttrNumber attno,
							 int from, int n, int *width)
{
	StrataColumn *col = &reader->columns[attno - 1];
	const StrataColumnSummary *summary;
	StrataCodecResult rc;
	MemoryContext old;
	void	   *out;

	if (col->type.kind != STRATA_KIND_FLOAT || !stands_encoded(reader, col))
		return NULL;
	summary = strata_batch_reader_summary(reader, attno);
	if (summary == NULL || !summary->has_range || summary->has_nan ||
		summary->nnulls > 0 ||
		(*width = integer_width(&col->type, summary)) == 0)
		return NULL;
	old = begin_encoded(reader, col);
	out = palloc((Size) n * *width);
	rc = strata_column_decode_integers(col->encoded, col->encoded_len, from, n,
									   *width, out);
	return end_encoded(reader, col, old, rc, out);
}

/* See batch_reader.h. */
const int64 *
strata_batch_reader_scaled(StrataBatchReader *reader, AttrNumber attno,
						   int from, int n, const uint8 **displays,
						   unsigned *scale, const bool **isnull)
{
	StrataColumn *col = &reader->columns[attno - 1];
	StrataCodecResult rc = STRATA_CODEC_NOT_APPLICABLE;
	MemoryContext old;
	int64	   *out = NULL;
	uint8	   *shown;
	bool	   *nulls;
	bool		hasnull = false;

	if (col->type.typid != NUMERICOID || !stands_encoded(reader, col))
		return NULL;
	old = begin_encoded(reader, col);
	if (col->codec == STRATA_CODEC_NUMERIC)
	{
		grow_scratch(reader, scratch_needed(reader, col, from, n));
		out = palloc(sizeof(int64) * n);
		*displays = shown = palloc(n);
		nulls = col->nnulls > 0 ? palloc(n) : no_nulls(reader);
		rc = strata_column_decode_scaled(col->encoded, col->encoded_len, from,
										 n, reader->lead->scratch,
										 reader->lead->scratch_size, out, shown,
										 scale, nulls, &hasnull);
		if (hasnull && col->nnulls == 0)
			strata_batch_column_corrupt(reader, attno, "more nulls than the header says");
		*isnull = hasnull ? nulls : NULL;
	}
	return end_encoded(reader, col, old, rc, out);
}

static void
summary_corrupt(StrataBatchReader *reader)
{
	strata_error_corrupt(reader->rel, reader->first_row, NULL,
						 "the summary is malformed");
}

/* See batch_reader.h.  Entries stand in the order of their columns. */
const StrataColumnSummary *
strata_batch_reader_summary(StrataBatchReader *reader, AttrNumber attno)
{
	StrataSummaryReader *r = &reader->summary_reader;

	Assert(reader->nrows > 0);	/* batch:B9 */
	if (reader->nsummaries < 0)
	{
		if (!strata_summary_open(r, reader->schema, reader->summary))
			summary_corrupt(reader);
		reader->nsummaries = 0;
	}
	for (int i = 0; i < reader->nsummaries; i++)
		if (reader->summaries[i].attno == attno)
			return &reader->summaries[i];
	while (r->left > 0 &&
		   (reader->nsummaries == 0 ||
			reader->summaries[reader->nsummaries - 1].attno < attno))
	{
		StrataColumnSummary *s = &reader->summaries[reader->nsummaries];

		if (!strata_summary_next(r, reader->schema, s))
			summary_corrupt(reader);
		reader->nsummaries++;
		if (s->attno == attno)
			return s;
	}
	return NULL;
}

/* A companion column's value; null when there is no such column. */
static Datum
companion_value(StrataBatchReader *reader, AttrNumber catt, bool *isnull)
{
	if (catt == 0)
	{
		*isnull = true;
		return (Datum) 0;
	}
	*isnull = reader->batch_slot->tts_isnull[catt - 1];
	return reader->batch_slot->tts_values[catt - 1];
}

/* See batch_reader.h. */
Datum
strata_batch_reader_min(StrataBatchReader *reader, AttrNumber attno,
						bool *isnull)
{
	return companion_value(reader, reader->schema->min_att[attno], isnull);
}

/* See batch_reader.h. */
Datum
strata_batch_reader_max(StrataBatchReader *reader, AttrNumber attno,
						bool *isnull)
{
	return companion_value(reader, reader->schema->max_att[attno], isnull);
}

/* See batch_reader.h. */
Datum
strata_batch_reader_span(StrataBatchReader *reader, AttrNumber attno,
						 bool *isnull)
{
	return companion_value(reader, reader->schema->span_att[attno], isnull);
}

/* See batch_reader.h. */
int
strata_batch_reader_direction(const StrataBatchReader *reader,
							  AttrNumber attno)
{
	const StrataLayout *layout = reader->layout;
	AttrNumber	min_att = reader->schema->min_att[attno];

	Assert(reader->nrows > 0);	/* batch:B3 */
	if (layout->norder == 0 || layout->order[0].attno != attno ||
		min_att == 0 ||
		!strata_batch_schema_same_type(reader->schema, attno, min_att))
		return 0;
	return layout->order[0].desc ? -1 : 1;
}

/* See batch_reader.h. */
void
strata_batch_reader_free(StrataBatchReader *reader)
{
	MemoryContextDelete(reader->mcxt);
}
