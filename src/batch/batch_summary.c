/*-------------------------------------------------------------------------
 *
 * batch_summary.c
 *	  What a batch says of its columns without decoding them.
 *
 * Minima and maxima are kept for by-value types whose btree order is that of
 * the machine's integers or floats; NaN is kept out of them and flagged.
 * -0.0 and 0.0 are equal in that order, so either may be stored.
 *
 * Sums are kept of the numbers among them, when 64 bits hold the sum of the
 * integers, and when adding the floats one after the other stays finite.
 *
 * src/batch/batch_summary.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/int.h"
#include "port/pg_bswap.h"

/* Is min/max of this type's values kept in the summary?  (By-value only.) */
static bool
has_range_for(Oid typid)
{
	switch (typid)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case CASHOID:
			return true;
		default:
			return false;
	}
}

/* Is the sum of this type's values kept in the summary? */
static bool
has_sum_for(Oid typid)
{
	return typid == INT2OID || typid == INT4OID || typid == INT8OID ||
		typid == FLOAT4OID || typid == FLOAT8OID;
}

/*
 * The sum of n > 0 values, if there is one that can be kept.  Floats are added
 * in the order of the rows: that is what it means.
 */
#define COMPUTE_FLOAT_SUM(ctype) \
	do { \
		const ctype *v_ = (const ctype *) fixed; \
		float8		sum_ = v_[0]; \
		for (int i_ = 1; i_ < n; i_++) \
			sum_ += v_[i_]; \
		s->sum.f = sum_; \
		s->has_sum = isfinite(sum_); \
	} while (0)

/* A batch has fewer than 2^16 values, so those of 32 bits cannot overflow. */
#define COMPUTE_INT_SUM(ctype) \
	do { \
		const ctype *v_ = (const ctype *) fixed; \
		int64		sum_ = 0; \
		for (int i_ = 0; i_ < n; i_++) \
			sum_ += v_[i_]; \
		s->sum.i = sum_; \
		s->has_sum = true; \
	} while (0)

static void
compute_int64_sum(StrataColumnSummary *s, const int64 *v, int n)
{
	int64		sum = 0;

	for (int i = 0; i < n; i++)
		if (pg_add_s64_overflow(sum, v[i], &sum))
			return;
	s->sum.i = sum;
	s->has_sum = true;
}

/*
 * Set the sum of n values in s, where the type has sums, 64 bits hold it, or
 * it is finite.
 */
static void
compute_sum(StrataColumnSummary *s, const StrataColumnType *type,
			const void *fixed, int n)
{
	switch (type->typid)
	{
		case INT2OID:
			COMPUTE_INT_SUM(int16);
			break;
		case INT4OID:
			COMPUTE_INT_SUM(int32);
			break;
		case INT8OID:
			compute_int64_sum(s, fixed, n);
			break;
		case FLOAT4OID:
			COMPUTE_FLOAT_SUM(float4);
			break;
		case FLOAT8OID:
			COMPUTE_FLOAT_SUM(float8);
			break;
		default:
			break;
	}
}

#define COMPUTE_RANGE(ctype, to_datum) \
	do { \
		const ctype *v_ = (const ctype *) fixed; \
		ctype lo_ = v_[0]; \
		ctype hi_ = v_[0]; \
		for (int i_ = 1; i_ < n; i_++) \
		{ \
			lo_ = v_[i_] < lo_ ? v_[i_] : lo_; \
			hi_ = v_[i_] > hi_ ? v_[i_] : hi_; \
		} \
		s->min = to_datum(lo_); \
		s->max = to_datum(hi_); \
		s->has_range = true; \
	} while (0)

#define COMPUTE_FLOAT_RANGE(ctype, to_datum) \
	do { \
		const ctype *v_ = (const ctype *) fixed; \
		ctype lo_ = 0; \
		ctype hi_ = 0; \
		for (int i_ = 0; i_ < n; i_++) \
		{ \
			if (isnan(v_[i_])) \
			{ \
				s->has_nan = true; \
				continue; \
			} \
			if (!s->has_range || v_[i_] < lo_) \
				lo_ = v_[i_]; \
			if (!s->has_range || v_[i_] > hi_) \
				hi_ = v_[i_]; \
			s->has_range = true; \
		} \
		s->min = to_datum(lo_); \
		s->max = to_datum(hi_); \
	} while (0)

/* See batch_private.h; s->attno and s->nnulls are the caller's. */
void
strata_summary_compute(StrataColumnSummary *s, const StrataColumnType *type,
					   const void *fixed, int n)
{
	Assert(type->typbyval && n >= 0);	/* batch:B5 */
	s->has_nan = false;
	s->has_range = false;
	s->has_sum = false;
	s->min = s->max = (Datum) 0;
	s->sum.i = 0;
	if (n == 0 || !has_range_for(type->typid))
		return;
	compute_sum(s, type, fixed, n);
	if (type->typid == FLOAT4OID)
		COMPUTE_FLOAT_RANGE(float4, Float4GetDatum);
	else if (type->typid == FLOAT8OID)
		COMPUTE_FLOAT_RANGE(float8, Float8GetDatum);
	else if (type->typid == OIDOID)
		COMPUTE_RANGE(Oid, ObjectIdGetDatum);
	else if (type->width == 1)
		COMPUTE_RANGE(int8, Int8GetDatum);
	else if (type->width == 2)
		COMPUTE_RANGE(int16, Int16GetDatum);
	else if (type->width == 4)
		COMPUTE_RANGE(int32, Int32GetDatum);
	else
		COMPUTE_RANGE(int64, Int64GetDatum);
}

/* The value as 64 bits whose low bytes matter; see the format. */
static uint64
range_to_bits(const StrataColumnType *type, Datum value)
{
	int64		v;

	if (type->typid == FLOAT8OID)
	{
		float8		f = DatumGetFloat8(value);
		uint64		bits;

		memcpy(&bits, &f, sizeof(bits));
		return pg_bswap64(bits);
	}
	if (type->typid == FLOAT4OID)
	{
		float4		f = DatumGetFloat4(value);
		uint32		bits;

		memcpy(&bits, &f, sizeof(bits));
		return pg_bswap32(bits);
	}
	if (type->typid == OIDOID)
		v = DatumGetObjectId(value);
	else if (type->width == 1)
		v = (int8) DatumGetChar(value);
	else if (type->width == 2)
		v = DatumGetInt16(value);
	else if (type->width == 4)
		v = DatumGetInt32(value);
	else
		v = DatumGetInt64(value);
	return ((uint64) v << 1) ^ (uint64) (v >> 63);
}

/* The minimum or maximum that range_to_bits made these bits of. */
static Datum
range_from_bits(const StrataColumnType *type, uint64 bits)
{
	int64		v;

	if (type->typid == FLOAT8OID)
	{
		float8		f;

		bits = pg_bswap64(bits);
		memcpy(&f, &bits, sizeof(f));
		return Float8GetDatum(f);
	}
	if (type->typid == FLOAT4OID)
	{
		float4		f;
		uint32		b = pg_bswap32((uint32) bits);

		memcpy(&f, &b, sizeof(f));
		return Float4GetDatum(f);
	}
	v = (int64) (bits >> 1) ^ -(int64) (bits & 1);
	if (type->typid == OIDOID)
		return ObjectIdGetDatum((Oid) v);
	return strata_integer_datum(v, type->width);
}

/* The sum likewise: it is an int64, or a float8. */
static uint64
sum_to_bits(const StrataColumnSummary *s, const StrataColumnType *type)
{
	uint64		bits;

	if (type->kind != STRATA_KIND_FLOAT)
		return ((uint64) s->sum.i << 1) ^ (uint64) (s->sum.i >> 63);
	memcpy(&bits, &s->sum.f, sizeof(bits));
	return pg_bswap64(bits);
}

static void
sum_from_bits(StrataColumnSummary *s, const StrataColumnType *type,
			  uint64 bits)
{
	if (type->kind != STRATA_KIND_FLOAT)
		s->sum.i = (int64) (bits >> 1) ^ -(int64) (bits & 1);
	else
	{
		bits = pg_bswap64(bits);
		memcpy(&s->sum.f, &bits, sizeof(bits));
	}
}

static void
append_varint(StringInfo buf, uint32 v)
{
	while (v >= 0x80)
	{
		appendStringInfoChar(buf, (char) (v | 0x80));
		v >>= 7;
	}
	appendStringInfoChar(buf, (char) v);
}

static void
append_bits(StringInfo buf, uint64 bits)
{
	int			len = 0;
	uint8		bytes[8];

	while (bits != 0)
	{
		bytes[len++] = (uint8) bits;
		bits >>= 8;
	}
	appendStringInfoChar(buf, (char) len);
	appendBinaryStringInfo(buf, (char *) bytes, len);
}

/* See batch_private.h.  Palloc'd in the current context. */
bytea *
strata_summary_form(const StrataColumnSummary *s,
					const StrataColumnType *types, int n)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoSpaces(&buf, VARHDRSZ + STRATA_SUMMARY_ENTRIES);
	memset(buf.data + VARHDRSZ, 0, STRATA_SUMMARY_ENTRIES);
	buf.data[VARHDRSZ] = STRATA_SUMMARY_VERSION;
	append_varint(&buf, n);
	for (int i = 0; i < n; i++)
	{
		append_varint(&buf, s[i].attno);
		appendStringInfoChar(&buf,
							 (s[i].has_range ? STRATA_SUMMARY_HAS_RANGE : 0) |
							 (s[i].has_nan ? STRATA_SUMMARY_HAS_NAN : 0) |
							 (s[i].has_sum ? STRATA_SUMMARY_HAS_SUM : 0));
		append_varint(&buf, s[i].nnulls);
		if (s[i].has_range)
		{
			append_bits(&buf, range_to_bits(&types[i], s[i].min));
			append_bits(&buf, range_to_bits(&types[i], s[i].max));
		}
		if (s[i].has_sum)
			append_bits(&buf, sum_to_bits(&s[i], &types[i]));
	}
	SET_VARSIZE(buf.data, buf.len);
	return (bytea *) buf.data;
}

/* Bounds-checked cursor over summary bytes. */
typedef struct Cursor
{
	const uint8 *p;
	const uint8 *end;
	bool		bad;
} Cursor;

static inline uint8
read_byte(Cursor *c)
{
	if (c->p >= c->end)
	{
		c->bad = true;
		return 0;
	}
	return *c->p++;
}

static inline uint32
read_varint(Cursor *c)
{
	uint32		v = 0;

	for (int shift = 0; shift < 35; shift += 7)
	{
		uint8		b = read_byte(c);

		v |= (uint32) (b & 0x7f) << shift;
		if ((b & 0x80) == 0)
			return v;
	}
	c->bad = true;
	return 0;
}

/* Read up to 8 bytes behind their length; c->failed when there are fewer. */
static inline uint64
read_bits(Cursor *c)
{
	int			len;
	uint64		bits = 0;

#ifndef WORDS_BIGENDIAN
	/* queries read many of them: take eight bytes where they are there */
	if (c->end - c->p > 8 && *c->p <= 8)
	{
		len = *c->p++;
		memcpy(&bits, c->p, sizeof(bits));
		c->p += len;
		return len == 8 ? bits : bits & ((UINT64CONST(1) << (8 * len)) - 1);
	}
#endif
	len = read_byte(c);
	if (len > 8)
		c->bad = true;
	for (int i = 0; i < len && !c->bad; i++)
		bits |= (uint64) read_byte(c) << (8 * i);
	return bits;
}

/*
 * A column whose type was changed without a rewrite (int4 to oid and back) may
 * have a range of another order; it then stands the wrong way round, and where
 * it does not, it holds in both orders.
 */
static bool
range_is_plausible(Oid typid, Datum min, Datum max)
{
	if (typid == INT4OID)
		return DatumGetInt32(min) <= DatumGetInt32(max);
	if (typid == OIDOID)
		return DatumGetObjectId(min) <= DatumGetObjectId(max);
	return true;
}

/*
 * One entry; its type, where R still has the column, is the column's present
 * one.
 */
static inline void
read_summary_entry(Cursor *c, const StrataColumnType *type,
				   StrataColumnSummary *s)
{
	uint8		flags = read_byte(c);

	if (flags >= 2 * STRATA_SUMMARY_HAS_SUM)
		c->bad = true;
	s->nnulls = (int32) read_varint(c);
	s->has_nan = (flags & STRATA_SUMMARY_HAS_NAN) != 0;

	/*
	 * a type change without rewrite may have taken the order, or the meaning,
	 * away
	 */
	if (flags & STRATA_SUMMARY_HAS_RANGE)
	{
		s->min = range_from_bits(type, read_bits(c));
		s->max = range_from_bits(type, read_bits(c));
		s->has_range = OidIsValid(type->typid) &&
			has_range_for(type->typid) &&
			range_is_plausible(type->typid, s->min, s->max);
	}
	if (flags & STRATA_SUMMARY_HAS_SUM)
	{
		sum_from_bits(s, type, read_bits(c));
		s->has_sum = OidIsValid(type->typid) &&
			has_sum_for(type->typid);
	}
}

/* See batch_private.h. */
bool
strata_summary_open(StrataSummaryReader *r, const StrataBatchSchema *schema,
					const bytea *data)
{
	Cursor		c;
	uint32		count;

	c.p = (const uint8 *) VARDATA_ANY(data);
	c.end = c.p + VARSIZE_ANY_EXHDR(data);
	c.bad = false;
	if (c.end - c.p < STRATA_SUMMARY_ENTRIES || *c.p != STRATA_SUMMARY_VERSION)
		return false;
	c.p += STRATA_SUMMARY_ENTRIES;
	count = read_varint(&c);
	if (c.bad || count > (uint32) schema->natts)
		return false;
	r->left = (int) count;
	r->p = c.p;
	r->end = c.end;
	return count > 0 || c.p == c.end;
}

/* See batch_private.h. */
bool
strata_summary_next(StrataSummaryReader *r, const StrataBatchSchema *schema,
					StrataColumnSummary *s)
{
	Cursor		c = {r->p, r->end, false};
	uint32		attno = read_varint(&c);

	if (c.bad || attno < 1 || attno > (uint32) schema->natts)
		return false;
	memset(s, 0, sizeof(StrataColumnSummary));
	s->attno = (AttrNumber) attno;
	read_summary_entry(&c, &schema->types[attno - 1], s);
	r->p = c.p;
	r->left--;
	return !c.bad && (r->left > 0 || c.p == c.end);
}
