/*-------------------------------------------------------------------------
 *
 * batch_seal.c
 *	  The checksums that hold a batch row together.
 *
 * Every load checks the row's own: over everything a query may rely on without
 * decoding, and over which columns are there, but not over their contents,
 * which mostly lie in TOAST.  Each encoded column has a checksum of its own,
 * checked when the column is fetched.  It is sealed with the companion's oid,
 * the batch's first row number, the attribute number and the length of the
 * column's type: a sound column of another table, batch or column is not taken
 * for this one (docs/adr/017).  ALTER TYPE leaves batches as they are where it
 * leaves the rows of heap as they are, so the type itself is not in the seal.
 *
 * src/batch/batch_seal.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"

#include "access/htup_details.h"
#include "port/pg_crc32c.h"
#include "utils/datum.h"

#define CRC_OFFSET 1

/*
 * Small pieces are collected: the checksum works on eight bytes at a time.
 * Functions take and return the place behind the last piece, which is kept in
 * a register so: bytes are written through a pointer that could be to
 * anything.
 */
typedef struct Checksum
{
	pg_crc32c	crc;
	uint8		buf[256];
} Checksum;

static inline uint8 *
checksum_flush(Checksum *sum, uint8 *next)
{
	if (next > sum->buf)
		COMP_CRC32C(sum->crc, sum->buf, next - sum->buf);
	return sum->buf;
}

static inline uint8 *
checksum_add(Checksum *sum, uint8 *next, const void *bytes, Size len)
{
	if (len > (Size) (sum->buf + sizeof(sum->buf) - next))
	{
		next = checksum_flush(sum, next);
		if (len > sizeof(sum->buf))
		{
			COMP_CRC32C(sum->crc, bytes, len);
			return next;
		}
	}
	memcpy(next, bytes, len);
	return next + len;
}

/* A by-value datum's own bytes; the rest of the datum is sign extension. */
static inline uint64
own_bytes(Form_pg_attribute att, Datum value)
{
	return (uint64) value & (PG_UINT64_MAX >> (64 - 8 * att->attlen));
}

/*
 * Add a datum to a checksum as docs/format.md says, detoasted; returns where
 * the next bytes go.
 */
static pg_attribute_always_inline uint8 *
add_datum(Checksum *sum, uint8 *next, Form_pg_attribute att, Oid toastid,
		  Datum value)
{
	const char *p = DatumGetPointer(value);
	uint32		len;

	if (att->attbyval)
	{
		uint64		v = own_bytes(att, value);

		return checksum_add(sum, next, &v, sizeof(v));
	}
	if (att->attlen == -1)
	{
		if (!strata_varlena_is_plain(p))
			p = (const char *) strata_toast_fetch(NULL, toastid,
												  (struct varlena *) p);
		len = VARSIZE_ANY_EXHDR(p);
		p = VARDATA_ANY(p);
	}
	else
		len = (uint32) datumGetSize(value, false, att->attlen);
	next = checksum_add(sum, next, &len, sizeof(len));
	return checksum_add(sum, next, p, len);
}

/* The row's checksum: whose it is, which of its columns are null, ... */
static pg_crc32c
nulls_checksum(const StrataBatchSchema *schema, const bool *isnull, int natts)
{
	uint64		companion = schema->companion;
	pg_crc32c	crc;

	/* a column added to the companion later leaves the sum alone */
	while (natts > STRATA_BATCH_FIXED_ATTS && isnull[natts - 1])
		natts--;
	StaticAssertStmt(sizeof(bool) == 1, "a null flag is a byte");
	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &companion, sizeof(companion));
	COMP_CRC32C(crc, isnull, natts);
	return crc;
}

/*
 * ... and the values of the fixed and the plain ones; summary is the detoasted
 * one.
 */
static uint32
values_checksum(const StrataBatchSchema *schema, const Datum *values,
				const bool *isnull, const bytea *summary, pg_crc32c crc)
{
	const char *bytes = VARDATA_ANY(summary);
	Checksum	sum;
	uint8	   *next = sum.buf;

	sum.crc = crc;
	for (int i = 0; i < STRATA_BATCH_ATT_LAYOUT; i++)
		next = add_datum(&sum, next, TupleDescAttr(schema->batch_desc, i),
						 schema->toastid, values[i]);
	for (int i = 0; i < schema->nplain; i++)
	{
		int			att = schema->plain[i] - 1;

		if (!isnull[att])
			next = add_datum(&sum, next,
							 TupleDescAttr(schema->batch_desc, att),
							 schema->toastid, values[att]);
	}
	next = checksum_add(&sum, next, bytes, CRC_OFFSET);
	(void) checksum_flush(&sum, next);
	COMP_CRC32C(sum.crc, bytes + STRATA_SUMMARY_ENTRIES,
				VARSIZE_ANY_EXHDR(summary) - STRATA_SUMMARY_ENTRIES);
	FIN_CRC32C(sum.crc);
	return (uint32) sum.crc;
}

/*-------------------------------------------------------------------------
 * What others call
 *-------------------------------------------------------------------------
 */
static uint32
stored_checksum(const bytea *summary)
{
	const uint8 *p = (const uint8 *) VARDATA_ANY(summary) + CRC_OFFSET;

	return (uint32) p[0] | (uint32) p[1] << 8 | (uint32) p[2] << 16 |
		(uint32) p[3] << 24;
}

/* See batch_private.h. */
void
strata_seal_row(const StrataBatchSchema *schema, const Datum *values,
				const bool *isnull, bytea *summary)
{
	uint8	   *p = (uint8 *) VARDATA_ANY(summary) + CRC_OFFSET;
	uint32		crc = values_checksum(schema, values, isnull, summary,
									  nulls_checksum(schema, isnull,
													 schema->batch_desc->natts));

	for (int i = 0; i < 4; i++)
		p[i] = (uint8) (crc >> (8 * i));
}

/*
 * nulls_checksum of a stored row, of which the columns up to the last plain
 * one are at hand.  Which of the others are NULL the tuple's header tells:
 * taking the row apart to its end would cost more than all of the check.  Rows
 * mostly have the nulls of the row before, whose sum is in the memo.
 */
static pg_crc32c
stored_nulls_checksum(const StrataBatchSchema *schema, TupleTableSlot *slot,
					  StrataSealMemo *memo)
{
	bool		isnull[MaxHeapAttributeNumber];
	bool		to_free;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &to_free);
	HeapTupleHeader header = tuple->t_data;
	int			stored = HeapTupleHeaderGetNatts(header);
	int			nbytes = HeapTupleHasNulls(tuple) ? BITMAPLEN(stored) : 0;
	int			natts;

	Assert(!to_free);			/* batch:B9 */
	if (stored > 0 && stored == memo->natts && nbytes == memo->nbytes &&
		memcmp(header->t_bits, memo->bits, nbytes) == 0)
		return memo->crc;
	natts = Min(stored, schema->batch_desc->natts);
	natts = Max(natts, schema->nfixed);
	memcpy(isnull, slot->tts_isnull, schema->nfixed);
	for (int i = schema->nfixed; i < natts; i++)
		isnull[i] = HeapTupleHasNulls(tuple) && att_isnull(i, header->t_bits);
	memo->crc = nulls_checksum(schema, isnull, natts);
	/* of columns that a row does not have, the slot tells */
	memo->natts = stored >= schema->nfixed &&
		stored <= MaxHeapAttributeNumber ?
		stored :
		0;
	memo->nbytes = nbytes;
	if (memo->natts > 0)
		memcpy(memo->bits, header->t_bits, nbytes);
	return memo->crc;
}

static uint32
stored_checksum_of(const StrataBatchSchema *schema, TupleTableSlot *slot,
				   const bytea *summary, StrataSealMemo *memo)
{
	pg_crc32c	crc;

	if (TTS_IS_HEAPTUPLE(slot) || TTS_IS_BUFFERTUPLE(slot))
		crc = stored_nulls_checksum(schema, slot, memo);
	else
	{
		slot_getallattrs(slot);
		crc = nulls_checksum(schema, slot->tts_isnull,
							 schema->batch_desc->natts);
	}
	return values_checksum(schema, slot->tts_values, slot->tts_isnull, summary,
						   crc);
}

/* See batch_private.h. */
const char *
strata_seal_check_row(const StrataBatchSchema *schema, TupleTableSlot *slot,
					  const bytea *summary, StrataSealMemo *memo)
{
	Assert(OidIsValid(schema->companion));	/* batch:B13 */
	if (VARSIZE_ANY_EXHDR(summary) < STRATA_SUMMARY_ENTRIES)
		return "the summary is malformed";
	if (*(const uint8 *) VARDATA_ANY(summary) != STRATA_SUMMARY_VERSION)
		return "the summary is of an unknown version";
	return stored_checksum_of(schema, slot, summary, memo) ==
		stored_checksum(summary) ?
		NULL :
		"the batch row's checksum differs";
}

/* See batch_private.h. */
uint32
strata_seal_of_column(const StrataBatchSchema *schema, int64 first_row,
					  AttrNumber attno)
{
	uint64		place[4] =
	{schema->companion, (uint64) first_row, (uint64) attno,
	(uint16) schema->types[attno - 1].typlen};

	return strata_crc32c(place, sizeof(place));
}

/* See batch_private.h. */
void
strata_seal_columns(const StrataBatchSchema *schema, Datum *values,
					const bool *isnull)
{
	int64		first_row;

	first_row = DatumGetInt64(values[STRATA_BATCH_ATT_FIRST_ROW - 1]);
	for (AttrNumber attno = 1; attno <= schema->natts; attno++)
	{
		AttrNumber	catt = schema->col_att[attno];
		uint32		seal;
		uint8	   *buf;

		if (catt == 0 || isnull[catt - 1])
			continue;
		seal = strata_seal_of_column(schema, first_row, attno);
		buf = (uint8 *) VARDATA(DatumGetPointer(values[catt - 1]));
		strata_column_seal(buf, seal);
	}
}
