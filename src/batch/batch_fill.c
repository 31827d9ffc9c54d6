/*-------------------------------------------------------------------------
 *
 * batch_fill.c
 *	  Rows into the columns of a batch that is being built.
 *
 * Values are gathered column by column, nulls left out, fully detoasted: a
 * batch never points into another table's TOAST.  Segments are told apart by
 * the image of their values, not by equality, so that 1.0 and 1.00, or two
 * strings that a collation calls equal, keep their bits.
 *
 * src/batch/batch_fill.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_builder_private.h"

#include "access/detoast.h"
#include "utils/datum.h"
#include "utils/memutils.h"

static bool
is_of_segment(StrataBatchBuilder *b, const Datum *values, const bool *isnull)
{
	for (int i = 0; i < b->layout->nsegment; i++)
	{
		AttrNumber	attno = b->layout->segment[i];
		Form_pg_attribute att = TupleDescAttr(b->schema->rel_desc, attno - 1);

		if (isnull[attno - 1] != b->segment_isnull[i])
			return false;
		if (!isnull[attno - 1] &&
			!datum_image_eq(values[attno - 1], b->segment[i], att->attbyval,
							att->attlen))
			return false;
	}
	return true;
}

/* Copy a value into the batch context, detoasted. */
static Datum
copy_range_value(Datum value, bool typbyval, int16 typlen)
{
	if (!typbyval && typlen == -1)
		return PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
	return datumCopy(value, typbyval, typlen);
}

static void
start_segment(StrataBatchBuilder *b, const Datum *values, const bool *isnull)
{
	MemoryContext old = MemoryContextSwitchTo(b->batch_mcxt);

	for (int i = 0; i < b->layout->nsegment; i++)
	{
		AttrNumber	attno = b->layout->segment[i];
		Form_pg_attribute att = TupleDescAttr(b->schema->rel_desc, attno - 1);

		b->segment_isnull[i] = isnull[attno - 1];
		if (!isnull[attno - 1])
			b->segment[i] = copy_range_value(values[attno - 1], att->attbyval,
											 att->attlen);
	}
	MemoryContextSwitchTo(old);
}

/* Append a by-reference value's bytes. */
static void
add_bytes(StrataBatchBuilder *b, ColumnBuffer *c, Datum value)
{
	struct varlena *detoasted = NULL;
	const char *src;
	Size		len;
	Size		used = c->offsets[c->n];

	if (c->type.typlen == -1)
	{
		struct varlena *v = (struct varlena *) DatumGetPointer(value);

		if (VARATT_IS_EXTERNAL(v) || VARATT_IS_COMPRESSED(v))
			v = detoasted = detoast_attr(v);
		Assert(!VARATT_IS_EXTERNAL(v) &&
			   !VARATT_IS_COMPRESSED(v));	/* batch:B6 */
		src = VARDATA_ANY(v);
		len = VARSIZE_ANY_EXHDR(v);
	}
	else
	{
		src = DatumGetPointer(value);
		len = c->type.typlen > 0 ? (Size) c->type.typlen : strlen(src) + 1;
	}
	if (used + len > c->payload_cap)
	{
		if (used + len > MaxAllocSize / 2)
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("values of a batch exceed the memory limit")));
		c->payload_cap = Max(c->payload_cap * 2, used + len);
		c->payload = repalloc(c->payload, c->payload_cap);
	}
	memcpy(c->payload + used, src, len);
	c->n++;
	c->offsets[c->n] = (uint32) (used + len);
	b->nbytes += len;
	if (detoasted != NULL)
		pfree(detoasted);
}

/* Append a by-value datum in the width of its type; there is room. */
static inline void
add_fixed(ColumnBuffer *c, Datum value)
{
	switch (c->type.width)
	{
		case 1:
			((int8 *) c->fixed)[c->n++] = (int8) DatumGetChar(value);
			break;
		case 2:
			((int16 *) c->fixed)[c->n++] = DatumGetInt16(value);
			break;
		case 4:
			((int32 *) c->fixed)[c->n++] = DatumGetInt32(value);
			break;
		default:
			((int64 *) c->fixed)[c->n++] = DatumGetInt64(value);
			break;
	}
}

/* Widen the range of an orderby column. */
static void
widen_range(StrataBatchBuilder *b, OrderRange *r, Datum value)
{
	bool		lower;
	bool		higher;

	lower = !r->has ||
		ApplySortComparator(value, false, r->min, false, &r->sort) < 0;
	higher = !r->has ||
		ApplySortComparator(value, false, r->max, false, &r->sort) > 0;
	if (r->typbyval)
	{
		if (lower)
			r->min = value;
		if (higher)
			r->max = value;
	}
	else if (lower || higher)
	{
		MemoryContext old = MemoryContextSwitchTo(b->batch_mcxt);

		/* what is replaced is freed with the batch */
		if (lower)
			r->min = copy_range_value(value, false, r->typlen);
		if (higher)
			r->max = copy_range_value(value, false, r->typlen);
		MemoryContextSwitchTo(old);
	}
	r->has = true;
}

/*
 * Would nulls and values of the first orderby column come into one batch
 * (batch:B10)?
 */
static bool
mixes_nulls(const StrataBatchBuilder *b, const bool *isnull)
{
	/* there is a range when one of the rows so far had a value */
	return b->layout->norder > 0 &&
		isnull[b->ranges[0].attno - 1] == b->ranges[0].has;
}

/* See batch_build.h. */
bool
strata_batch_builder_add(StrataBatchBuilder *b, const Datum *values,
						 const bool *isnull)
{
	Assert(b->nrows <= STRATA_CODEC_MAX_ROWS);	/* batch:B8 */
	if (b->nrows > 0)
	{
		if (b->nrows >= b->limit || b->nbytes >= b->byte_limit ||
			!is_of_segment(b, values, isnull) || mixes_nulls(b, isnull))
			return false;
	}
	else
		start_segment(b, values, isnull);

	for (int i = 0; i < b->ncolumns; i++)
	{
		ColumnBuffer *c = &b->columns[i];
		bool		null = isnull[c->attno - 1];

		c->isnull[b->nrows] = null;
		if (null)
			c->hasnull = true;
		else if (c->type.typbyval)
			add_fixed(c, values[c->attno - 1]);
		else
			add_bytes(b, c, values[c->attno - 1]);
	}
	for (int i = 0; i < b->nranges; i++)
		if (!isnull[b->ranges[i].attno - 1])
			widen_range(b, &b->ranges[i], values[b->ranges[i].attno - 1]);
	b->nrows++;
	return true;
}

/*-------------------------------------------------------------------------
 * Records
 *-------------------------------------------------------------------------
 */

/*
 * Records are read column by column in pieces that stay in the nearest cache.
 */
#define TILE_ROWS 32

/* How many of the records may come into the batch together. */
static int
count_records(const StrataBatchBuilder *b, const StrataRecordForm *form,
			  char *const *records, int n)
{
	Size		nbytes = 0;

	n = Min(n, b->limit);
	if (b->layout->norder > 0)
	{
		int			column =
		form->by_attno[b->ranges[0].attno] - form->columns;
		bool		null = strata_record_is_null(form, records[0], column);

		for (int row = 1; row < n; row++)
			if (strata_record_is_null(form, records[row], column) != null)
				n = row;
	}
	for (int row = 0; form->has_chunk && row < n; row++)
	{
		if (nbytes >= b->byte_limit)
			return row;
		for (int i = 0; i < form->ncolumns; i++)
		{
			const StrataRecordColumn *c = &form->columns[i];
			const char *value;

			if (c->typbyval || strata_record_is_null(form, records[row], i))
				continue;
			value = strata_record_bytes(records[row], c);
			if (c->typlen == -1)
				nbytes += toast_raw_datum_size(PointerGetDatum(value));
			else
				nbytes += c->typlen > 0 ? (Size) c->typlen : strlen(value) + 1;
		}
	}
	return n;
}

/* Which columns have nulls in these records: as in a record. */
static void
collect_nulls(const StrataRecordForm *form, char *const *records, int n,
			  uint64 *nulls)
{
	memset(nulls, 0, sizeof(uint64) * form->nwords);
	for (int row = 0; row < n; row++)
	{
		const uint64 *words = (const uint64 *) (records[row] +
												form->nulls_offset);

		for (int i = 0; i < form->nwords; i++)
			nulls[i] |= words[i];
	}
}

#define COPY_COLUMN(type) \
	do { \
		type	   *to = (type *) c->fixed + c->n; \
		for (int row = 0; row < n; row++) \
			to[row] = *(const type *) (records[row] + offset); \
	} while (0)

/* A by-value column of some records, none of them null. */
static void
copy_column(ColumnBuffer *c, int offset, char *const *records, int n)
{
	switch (c->type.width)
	{
		case 1:
			COPY_COLUMN(int8);
			break;
		case 2:
			COPY_COLUMN(int16);
			break;
		case 4:
			COPY_COLUMN(int32);
			break;
		default:
			COPY_COLUMN(int64);
			break;
	}
	c->n += n;
}

/* Any column of some records, which are to be rows from `row` on. */
static void
add_column(StrataBatchBuilder *b, ColumnBuffer *c,
		   const StrataRecordForm *form, int column, char *const *records,
		   int n, int row)
{
	const StrataRecordColumn *rc = &form->columns[column];

	for (int i = 0; i < n; i++)
	{
		bool		null = strata_record_is_null(form, records[i], column);

		c->isnull[row + i] = null;
		if (null)
			c->hasnull = true;
		else if (rc->typbyval)
			add_fixed(c,
					  strata_fixed_get(records[i] + rc->offset, rc->width, 0));
		else
			add_bytes(b, c,
					  PointerGetDatum(strata_record_bytes(records[i], rc)));
	}
}

/*
 * The range of an orderby column.  The first one's ends are at the ends,
 * without the nulls, which are all of the records or stand on one side.
 */
static void
add_record_range(StrataBatchBuilder *b, OrderRange *r,
				 const StrataRecordForm *form, char *const *records, int n)
{
	bool		isnull;
	Datum		value;

	if (r == &b->ranges[0])
	{
		int			column = form->by_attno[r->attno] - form->columns;
		int			first = 0;
		int			last = n - 1;

		while (first < n &&
			   strata_record_is_null(form, records[first], column))
			first++;
		while (last > first &&
			   strata_record_is_null(form, records[last], column))
			last--;
		if (first == n)
			return;
		widen_range(b, r,
					strata_record_get(form, records[first], r->attno,
									  &isnull));
		widen_range(b, r,
					strata_record_get(form, records[last], r->attno, &isnull));
		return;
	}
	for (int row = 0; row < n; row++)
	{
		value = strata_record_get(form, records[row], r->attno, &isnull);
		if (!isnull)
			widen_range(b, r, value);
	}
}

/* See batch_build.h. */
int
strata_batch_builder_add_records(StrataBatchBuilder *b,
								 const StrataRecordForm *form,
								 const Datum *values, const bool *isnull,
								 char *const *records, int n)
{
	uint64	   *nulls = palloc(sizeof(uint64) * Max(form->nwords, 1));

	Assert(b->nrows == 0 && n > 0); /* batch:B2 */
	n = count_records(b, form, records, n);
	start_segment(b, values, isnull);
	collect_nulls(form, records, n, nulls);
	for (int done = 0; done < n; done += TILE_ROWS)
	{
		int			some = Min(TILE_ROWS, n - done);

		/*
		 * the builder's columns are the form's: all but dropped and segmentby
		 * ones, by attno
		 */
		for (int i = 0; i < b->ncolumns; i++)
		{
			ColumnBuffer *c = &b->columns[i];

			if (c->type.typbyval && !(nulls[i / 64] >> (i % 64) & 1))
				copy_column(c, form->columns[i].offset, records + done, some);
			else
				add_column(b, c, form, i, records + done, some, done);
		}
	}
	for (int i = 0; i < b->nranges; i++)
		add_record_range(b, &b->ranges[i], form, records, n);
	b->nrows = n;
	pfree(nulls);
	return n;
}
