/*-------------------------------------------------------------------------
 *
 * wire_binary.c
 *	  Values in binary, as PostgreSQL's send functions write them.
 *
 * Most are the bytes of the value with the highest first.  A numeric is its
 * head taken apart, and its digits.
 *
 * src/wire/wire_binary.c
 *-------------------------------------------------------------------------
 */
#include "wire/wire_private.h"

#include "catalog/pg_type_d.h"
#include "port/pg_bswap.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

/*
 * The first word of a numeric: a short head has the weight and the scale in
 * it; of a long one the weight is the next word (PostgreSQL's numeric.c).
 */
#define NUMERIC_KIND 0xC000
#define NUMERIC_IS_SHORT 0x8000
#define NUMERIC_IS_SPECIAL 0xC000	/* NaN, infinity */
#define NUMERIC_NEGATIVE 0x4000
#define NUMERIC_LONG_SCALE 0x3FFF
#define NUMERIC_SHORT_NEGATIVE 0x2000
#define NUMERIC_SHORT_SCALE 0x1F80
#define NUMERIC_SHORT_SCALE_SHIFT 7
#define NUMERIC_SHORT_WEIGHT_SIGN 0x0040
#define NUMERIC_SHORT_WEIGHT 0x003F

static inline int
put16(char *to, uint16 number)
{
	number = pg_hton16(number);
	memcpy(to, &number, sizeof(number));
	return sizeof(number);
}

static inline int
put32(char *to, uint32 number)
{
	number = pg_hton32(number);
	memcpy(to, &number, sizeof(number));
	return sizeof(number);
}

static inline int
put64(char *to, uint64 number)
{
	number = pg_hton64(number);
	memcpy(to, &number, sizeof(number));
	return sizeof(number);
}

static int
send_bool(StrataWireColumn *column, Datum value, char *to)
{
	*to = DatumGetBool(value) ? 1 : 0;
	return 1;
}

static int
send_16(StrataWireColumn *column, Datum value, char *to)
{
	return put16(to, DatumGetUInt16(value));
}

static int
send_32(StrataWireColumn *column, Datum value, char *to)
{
	return put32(to, DatumGetUInt32(value));
}

static int
send_64(StrataWireColumn *column, Datum value, char *to)
{
	return put64(to, (uint64) DatumGetInt64(value));
}

/* A float8, whose bits are those of an integer also where it has an address. */
static int
send_float8(StrataWireColumn *column, Datum value, char *to)
{
	float8		number = DatumGetFloat8(value);
	uint64		bits;

	memcpy(&bits, &number, sizeof(bits));
	return put64(to, bits);
}

static int
send_timetz(StrataWireColumn *column, Datum value, char *to)
{
	const char *from = DatumGetPointer(value);
	int64		time;
	int32		zone;

	memcpy(&time, from, sizeof(time));
	memcpy(&zone, from + sizeof(time), sizeof(zone));
	return put64(to, (uint64) time) +
		put32(to + sizeof(time), (uint32) zone);
}

static int
send_interval(StrataWireColumn *column, Datum value, char *to)
{
	const Interval *interval = (const Interval *) DatumGetPointer(value);
	char	   *p = to;

	p += put64(p, (uint64) interval->time);
	p += put32(p, (uint32) interval->day);
	p += put32(p, (uint32) interval->month);
	return (int) (p - to);
}

static int
send_uuid(StrataWireColumn *column, Datum value, char *to)
{
	memcpy(to, DatumGetPointer(value), UUID_LEN);
	return UUID_LEN;
}

static inline uint16
word_at(const char *from)
{
	uint16		word;

	memcpy(&word, from, sizeof(word));
	return word;
}

/*
 * Number of digits, weight, sign, scale, digits.  -1: stored out of line,
 * not a number, or of more digits than there is room for.
 */
static int
send_numeric(StrataWireColumn *column, Datum value, char *to)
{
	struct varlena *numeric = (struct varlena *) DatumGetPointer(value);
	const char *from;
	char	   *p = to;
	int			len;
	uint16		head;
	bool		is_short;
	int			ndigits;

	if (VARATT_IS_EXTERNAL(numeric) || VARATT_IS_COMPRESSED(numeric))
		return -1;
	from = VARDATA_ANY(numeric);
	len = (int) VARSIZE_ANY_EXHDR(numeric);
	head = word_at(from);
	if ((head & NUMERIC_KIND) == NUMERIC_IS_SPECIAL)
		return -1;
	is_short = (head & NUMERIC_IS_SHORT) != 0;
	ndigits = len / (int) sizeof(uint16) - (is_short ? 1 : 2);
	if ((4 + ndigits) * (int) sizeof(uint16) > STRATA_WIRE_MAX_FIXED)
		return -1;
	p += put16(p, (uint16) ndigits);
	if (is_short)
	{
		bool		is_negative = (head & NUMERIC_SHORT_NEGATIVE) != 0;
		int			weight = head & NUMERIC_SHORT_WEIGHT;

		if ((head & NUMERIC_SHORT_WEIGHT_SIGN) != 0)
			weight -= NUMERIC_SHORT_WEIGHT_SIGN;
		p += put16(p, (uint16) weight);
		p += put16(p, is_negative ? NUMERIC_NEGATIVE : 0);
		p += put16(p, (head & NUMERIC_SHORT_SCALE) >>
				   NUMERIC_SHORT_SCALE_SHIFT);
		from += sizeof(uint16);
	}
	else
	{
		p += put16(p, word_at(from + sizeof(uint16)));
		p += put16(p, head & NUMERIC_KIND);
		p += put16(p, head & NUMERIC_LONG_SCALE);
		from += 2 * sizeof(uint16);
	}
	for (int i = 0; i < ndigits; i++)
		p += put16(p, word_at(from + i * sizeof(uint16)));
	return (int) (p - to);
}

/* See wire_private.h. */
void
strata_wire_binary_init(StrataWireColumn *column, Oid type)
{
	switch (type)
	{
		case BOOLOID:
			column->writer = send_bool;
			break;
		case INT2OID:
			column->writer = send_16;
			break;
		case INT4OID:
		case FLOAT4OID:
		case DATEOID:
		case OIDOID:
			column->writer = send_32;
			break;
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
			column->writer = send_64;
			break;
		case FLOAT8OID:
			column->writer = send_float8;
			break;
		case TIMETZOID:
			column->writer = send_timetz;
			break;
		case INTERVALOID:
			column->writer = send_interval;
			break;
		case UUIDOID:
			column->writer = send_uuid;
			break;
		case NUMERICOID:
			column->writer = send_numeric;
			break;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case JSONOID:
			column->bytes = STRATA_WIRE_TEXT;
			break;
		case BYTEAOID:
			column->bytes = STRATA_WIRE_BYTES;
			break;
		default:
			break;
	}
}
