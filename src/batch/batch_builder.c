/*-------------------------------------------------------------------------
 *
 * batch_builder.c
 *	  Sorted rows in, one batch row out: the columns that batch_fill.c has
 *	  filled are encoded.
 *
 * src/batch/batch_builder.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_builder_private.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "access/toast_compression.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

/* Room for the values of a column, which rows have (base:A7). */
static void
init_column(StrataBatchBuilder *b, ColumnBuffer *c, AttrNumber attno,
			StrataCodecId wanted)
{
	Assert(strata_attribute_is_kept(TupleDescAttr(b->schema->rel_desc,
												  attno - 1))); /* base:A7 */
	c->attno = attno;
	c->catt = b->schema->col_att[attno];
	c->wanted = wanted;
	strata_column_type_init(&c->type,
							TupleDescAttr(b->schema->rel_desc, attno - 1));
	c->isnull = palloc0(b->max_rows);
	if (c->type.typbyval)
		c->fixed = palloc((Size) b->max_rows * c->type.width);
	else
	{
		c->payload_cap = 8192;
		c->payload = palloc(c->payload_cap);
		c->offsets = palloc0(sizeof(uint32) * (b->max_rows + 1));
	}
}

static void
init_range(StrataBatchBuilder *b, OrderRange *r, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(b->schema->rel_desc, attno - 1);

	r->attno = attno;
	r->min_catt = b->schema->min_att[attno];
	r->max_catt = b->schema->max_att[attno];
	r->typlen = att->attlen;
	r->typbyval = att->attbyval;
	strata_sort_init(&r->sort, att->atttypid, att->attcollation, false, false,
					 b->mcxt);
}

/* See batch_build.h. */
StrataBatchBuilder *
strata_batch_builder_create(Relation rel, const StrataBatchSchema *schema,
							const StrataLayout *layout,
							const StrataCodecId *codecs, StrataLevel level,
							int max_rows)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata batch builder",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataBatchBuilder *b = palloc0(sizeof(StrataBatchBuilder));

	b->mcxt = mcxt;
	b->batch_mcxt = AllocSetContextCreate(mcxt, "strata batch being built",
										  ALLOCSET_SMALL_SIZES);
	b->out_mcxt = AllocSetContextCreate(mcxt, "strata batch row",
										ALLOCSET_DEFAULT_SIZES);
	b->schema = schema;
	b->layout = layout;
	b->level = level;
	b->max_rows = b->limit = Min(max_rows, STRATA_CODEC_MAX_ROWS);
	b->byte_limit = BATCH_BYTE_LIMIT;
	b->segment = palloc0(sizeof(Datum) * Max(layout->nsegment, 1));
	b->segment_isnull = palloc0(Max(layout->nsegment, 1));
	b->columns = palloc0(sizeof(ColumnBuffer) * Max(schema->natts, 1));
	for (AttrNumber attno = 1; attno <= schema->natts; attno++)
	{
		if (!strata_attribute_is_kept(TupleDescAttr(schema->rel_desc,
													attno - 1)) ||
			strata_layout_segment_index(layout, attno) >= 0)
			continue;
		init_column(b, &b->columns[b->ncolumns++], attno,
					codecs != NULL ? codecs[attno - 1] : STRATA_CODEC_AUTO);
	}
	b->ranges = palloc0(sizeof(OrderRange) * Max(layout->norder, 1));
	for (int i = 0; i < layout->norder; i++)
		init_range(b, &b->ranges[b->nranges++], layout->order[i].attno);
	MemoryContextSwitchTo(old);
	return b;
}

/* See batch_build.h. */
void
strata_batch_builder_keep_together(StrataBatchBuilder *b)
{
	b->byte_limit = SIZE_MAX;
}

/* See batch_build.h. */
void
strata_batch_builder_set_limit(StrataBatchBuilder *b, int nrows)
{
	b->limit = Min(nrows, b->max_rows);
}

int
strata_batch_builder_nrows(const StrataBatchBuilder *b)
{
	return b->nrows;
}

/*
 * What the column's type and storage say about its byte strings: STORAGE PLAIN
 * and EXTERNAL mean not to compress, COMPRESSION lz4 means LZ4.  (COMPRESSION
 * pglz is what most columns have without anybody asking for it.)
 */
static StrataBytesHint
bytes_hint(const StrataColumnType *type)
{
	if (type->typid == NUMERICOID)
		return STRATA_BYTES_NUMERIC;
	if (type->typlen == -1 && (type->typstorage == TYPSTORAGE_PLAIN ||
							   type->typstorage == TYPSTORAGE_EXTERNAL))
		return STRATA_BYTES_NO_LZ;
	if (type->typcompression == TOAST_LZ4_COMPRESSION)
		return STRATA_BYTES_LZ4;
	return type->typid == JSONBOID ? STRATA_BYTES_JSONB : STRATA_BYTES_ANY;
}

/* The gathered values of a column; scratch is made large enough for them. */
static StrataVector
column_vector(StrataBatchBuilder *b, ColumnBuffer *c)
{
	StrataVector v = {0};
	size_t		scratch_size;

	v.kind = c->type.kind;
	v.width = c->type.width;
	v.n = c->n;
	v.fixed = c->fixed;
	v.payload = c->payload;
	v.offsets = c->offsets;
	v.level = b->level;
	v.hint = bytes_hint(&c->type);
	scratch_size = strata_column_encode_scratch_size(&v, b->nrows);
	if (b->scratch_size < scratch_size)
	{
		if (b->scratch != NULL)
			pfree(b->scratch);
		b->scratch = MemoryContextAllocHuge(b->mcxt, scratch_size);
		b->scratch_size = scratch_size;
	}
	return v;
}

/* Encode one column into a palloc'd varlena. */
static Datum
encode_column(StrataBatchBuilder *b, ColumnBuffer *c, StrataCodecId wanted)
{
	StrataVector v = column_vector(b, c);
	size_t		cap = strata_column_encode_bound(&v, b->nrows);
	size_t		len;
	struct varlena *out = palloc(cap + VARHDRSZ);
	const bool *isnull = c->hasnull ? c->isnull : NULL;
	StrataCodecResult rc;

	rc = strata_column_encode(&v, b->nrows, isnull, wanted, b->scratch,
							  b->scratch_size, (uint8 *) VARDATA(out), cap,
							  &len);
	if (rc == STRATA_CODEC_NOT_APPLICABLE && wanted != STRATA_CODEC_AUTO)
		rc = strata_column_encode(&v, b->nrows, isnull, STRATA_CODEC_AUTO,
								  b->scratch, b->scratch_size,
								  (uint8 *) VARDATA(out), cap, &len);
	if (rc != STRATA_CODEC_OK)
		elog(ERROR, "could not encode column %d: %s", c->attno,
			 strata_codec_result_text(rc));
	SET_VARSIZE(out, len + VARHDRSZ);
	return PointerGetDatum(out);
}

/* Empty the builder for the next batch. */
static void
clear(StrataBatchBuilder *b)
{
	for (int i = 0; i < b->ncolumns; i++)
	{
		b->columns[i].n = 0;
		b->columns[i].hasnull = false;
	}
	for (int i = 0; i < b->nranges; i++)
		b->ranges[i].has = false;
	b->nrows = 0;
	b->nbytes = 0;
	MemoryContextReset(b->batch_mcxt);
}

/*
 * The summary of what was added, in the current context; its checksum is not
 * set yet.
 */
static bytea *
form_summary(const StrataBatchBuilder *b)
{
	StrataColumnSummary *summaries = palloc0(sizeof(StrataColumnSummary) *
											 Max(b->ncolumns, 1));
	StrataColumnType *types = palloc0(sizeof(StrataColumnType) *
									  Max(b->ncolumns, 1));

	for (int i = 0; i < b->ncolumns; i++)
	{
		const ColumnBuffer *c = &b->columns[i];

		summaries[i].attno = c->attno;
		summaries[i].nnulls = b->nrows - (int32) c->n;
		Assert(c->n <= (uint32) b->nrows &&
			   (c->hasnull || c->n == (uint32) b->nrows));	/* batch:B1 */
		types[i] = c->type;
		if (c->type.typbyval)
			strata_summary_compute(&summaries[i], &c->type, c->fixed,
								   (int) c->n);
	}
	return strata_summary_form(summaries, types, b->ncolumns);
}

static void
form_columns(StrataBatchBuilder *b, Datum *values, bool *isnull)
{
	for (int i = 0; i < b->ncolumns; i++)
	{
		ColumnBuffer *c = &b->columns[i];

		if (c->catt == 0)
			elog(ERROR, "companion has no column for attribute %d", c->attno);
		values[c->catt - 1] = encode_column(b, c, c->wanted);
		isnull[c->catt - 1] = false;
	}
	values[STRATA_BATCH_ATT_SUMMARY - 1] = PointerGetDatum(form_summary(b));
	isnull[STRATA_BATCH_ATT_SUMMARY - 1] = false;
}

/* The span of the first orderby column; of no values, none. */
static void
form_span(const StrataBatchBuilder *b, Datum *values, bool *isnull)
{
	const OrderRange *r = &b->ranges[0];
	AttrNumber	catt = b->nranges > 0 ? b->schema->span_att[r->attno] : 0;
	int16		span = 0;

	if (catt == 0 ||
		(r->has && !strata_span_of(b->schema->types[r->attno - 1].typid,
								   r->min, r->max, &span)))
		return;
	Assert(span >= 0 && span <= 64);	/* batch:B4 */
	isnull[catt - 1] = false;
	values[catt - 1] = Int16GetDatum(span);
}

/* See batch_build.h. */
void
strata_batch_builder_finish(StrataBatchBuilder *b, int64 first_row,
							Datum *values, bool *isnull)
{
	MemoryContext old;

	Assert(b->nrows > 0 && b->nrows <= STRATA_CODEC_MAX_ROWS);	/* batch:B8 */
	Assert(OidIsValid(b->schema->companion));	/* batch:B13 */
	MemoryContextReset(b->out_mcxt);
	old = MemoryContextSwitchTo(b->out_mcxt);
	memset(isnull, true, b->schema->batch_desc->natts);
	memset(values, 0, sizeof(Datum) * b->schema->batch_desc->natts);
	values[STRATA_BATCH_ATT_NROWS - 1] = Int32GetDatum(b->nrows);
	values[STRATA_BATCH_ATT_LAYOUT - 1] = CStringGetTextDatum(b->layout->text);
	for (int i = 0; i < STRATA_BATCH_ATT_LAYOUT; i++)
		isnull[i] = false;
	for (int i = 0; i < b->layout->nsegment; i++)
	{
		AttrNumber	attno = b->layout->segment[i];
		Form_pg_attribute att = TupleDescAttr(b->schema->rel_desc, attno - 1);
		AttrNumber	catt = b->schema->seg_att[attno];

		isnull[catt - 1] = b->segment_isnull[i];
		if (!b->segment_isnull[i])
			values[catt - 1] = datumCopy(b->segment[i], att->attbyval,
										 att->attlen);
	}
	form_span(b, values, isnull);
	for (int i = 0; i < b->nranges; i++)
	{
		OrderRange *r = &b->ranges[i];

		if (!r->has)
			continue;
		Assert(ApplySortComparator(r->min, false, r->max, false, &r->sort) <=
			   0);				/* batch:B4 */
		isnull[r->min_catt - 1] = isnull[r->max_catt - 1] = false;
		values[r->min_catt - 1] = datumCopy(r->min, r->typbyval, r->typlen);
		values[r->max_catt - 1] = datumCopy(r->max, r->typbyval, r->typlen);
	}
	form_columns(b, values, isnull);
	values[STRATA_BATCH_ATT_FIRST_ROW - 1] = Int64GetDatum(first_row);
	strata_seal_columns(b->schema, values, isnull);
	strata_seal_row(b->schema, values, isnull,
					(bytea *)
					DatumGetPointer(values[STRATA_BATCH_ATT_SUMMARY - 1]));
	MemoryContextSwitchTo(old);
	clear(b);
}

/* See batch_build.h. */
void
strata_batch_set_first_row(const StrataBatchSchema *schema, int64 first_row,
						   Datum *values, const bool *isnull)
{
	strata_seal_columns(schema, values, isnull);
	values[STRATA_BATCH_ATT_FIRST_ROW - 1] = Int64GetDatum(first_row);
	strata_seal_columns(schema, values, isnull);
	strata_seal_row(schema, values, isnull,
					(bytea *)
					DatumGetPointer(values[STRATA_BATCH_ATT_SUMMARY - 1]));
}

/* What codec an encoded column has. */
static StrataCodecId
encoded_codec(Datum column)
{
	StrataCodecInfo info;
	struct varlena *v = (struct varlena *) DatumGetPointer(column);

	if (strata_column_describe((const uint8 *) VARDATA(v),
							   VARSIZE(v) - VARHDRSZ, false,
							   &info) != STRATA_CODEC_OK)
		elog(ERROR, "could not describe what was encoded");
	return info.id;
}

/* Add a column's sizes to its measure; returns what it takes. */
static Size
measure_column(StrataBatchBuilder *b, ColumnBuffer *c, bool candidates,
			   StrataColumnMeasure *m)
{
	Datum		column = encode_column(b, c, c->wanted);
	Size		nbytes = VARSIZE(DatumGetPointer(column)) - VARHDRSZ;

	m->batches++;
	m->bytes += nbytes;
	m->raw += c->type.typbyval ? (double) c->n * c->type.width :
		(double) (c->n > 0 ? c->offsets[c->n] : 0);
	m->used[encoded_codec(column)]++;
	pfree(DatumGetPointer(column));
	for (int id = 1; candidates && id < STRATA_CODEC_COUNT; id++)
	{
		if (!strata_codec_supports((StrataCodecId) id, c->type.kind,
								   c->type.width) ||
			!strata_codec_available((StrataCodecId) id) ||
			(id == STRATA_CODEC_NUMERIC && c->type.typid != NUMERICOID) ||
			(id == STRATA_CODEC_JSONB && c->type.typid != JSONBOID))
			continue;
		column = encode_column(b, c, (StrataCodecId) id);
		m->tried[id] = true;
		m->candidate[id] += VARSIZE(DatumGetPointer(column)) - VARHDRSZ;
		m->held[id] += encoded_codec(column) == (StrataCodecId) id;
		pfree(DatumGetPointer(column));
	}
	return nbytes;
}

/* Bytes of a value in a row. */
static Size
value_size(Datum value, bool typbyval, int16 typlen)
{
	return datumGetSize(value, typbyval, typlen);
}

/*
 * Bytes of the minimum and maximum of orderby column number i, if there is
 * one.
 */
static Size
range_size(const StrataBatchBuilder *b, int i)
{
	const OrderRange *r = &b->ranges[i];

	return i < b->nranges && r->has ?
		value_size(r->min, r->typbyval, r->typlen) +
		value_size(r->max, r->typbyval, r->typlen) :
		0;
}

/*
 * Add the entries of a batch row in the companion's indexes, of which there
 * are (src/store/store_companion_create.c): on first_row; on segment, layout,
 * minimum and maximum, both ways where there are segments; on layout and
 * maximum, and on layout and minimum where there are segments; on segment,
 * layout and span.
 */
static void
measure_indexes(const StrataBatchBuilder *b, StrataBatchMeasure *m,
				Size layout, Size keys)
{
	Size		range = range_size(b, 0);
	bool		segmented = b->layout->nsegment > 0;

	m->nindexes = 2;
	m->index_bytes += strata_measure_index_entry(8) +
		strata_measure_index_entry(layout + keys + range);
	if (b->nranges == 0)
		return;
	m->nindexes += segmented ? 3 : 1;
	m->index_bytes += (segmented ? 2 : 1) *
		strata_measure_index_entry(layout + range / 2);
	if (segmented)
		m->index_bytes += strata_measure_index_entry(layout + keys + range);
	if (!strata_span_is_known(b->schema->types[b->ranges[0].attno - 1].typid))
		return;
	/* its entries are mostly alike, and share their key */
	m->nindexes++;
	m->index_bytes += sizeof(ItemPointerData);
}

/* See batch_measure.h. */
void
strata_batch_builder_measure(StrataBatchBuilder *b, StrataBatchMeasure *m)
{
	MemoryContext old = MemoryContextSwitchTo(b->batch_mcxt);
	Size	   *columns = palloc(sizeof(Size) * Max(b->ncolumns, 1));
	Size		layout = strlen(b->layout->text) + 1;
	Size		keys = 0;

	/* its nulls are marked in the row too */
	int			natts;
	Size		plain;

	natts = STRATA_BATCH_FIXED_ATTS + b->layout->nsegment + 2 * b->nranges +
		1 + b->schema->natts + STRATA_SPARE_COLUMNS;
	plain = MAXALIGN(SizeofHeapTupleHeader + BITMAPLEN(natts)) +
		sizeof(int64) + sizeof(int32) + INTALIGN(layout) +
		VARSIZE(form_summary(b));
	for (int i = 0; i < b->layout->nsegment; i++)
	{
		Form_pg_attribute att = TupleDescAttr(b->schema->rel_desc,
											  b->layout->segment[i] - 1);

		if (!b->segment_isnull[i])
			keys += value_size(b->segment[i], att->attbyval, att->attlen);
	}
	for (int i = 0; i < b->nranges; i++)
		plain += range_size(b, i);
	plain += keys + (b->nranges > 0 ? sizeof(int16) : 0);
	for (int i = 0; i < b->ncolumns; i++)
	{
		ColumnBuffer *c = &b->columns[i];

		columns[i] = measure_column(b, c, m->candidates,
									&m->columns[c->attno - 1]);
	}
	strata_measure_add_row(m, plain, columns, b->ncolumns);
	measure_indexes(b, m, layout, keys);
	m->rows_encoded += b->nrows;
	MemoryContextSwitchTo(old);
	clear(b);
}

/* See batch_measure.h. */
void
strata_batch_builder_discard(StrataBatchBuilder *b)
{
	clear(b);
}

void
strata_batch_builder_free(StrataBatchBuilder *b)
{
	MemoryContextDelete(b->mcxt);
}
