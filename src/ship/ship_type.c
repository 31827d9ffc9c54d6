/*-------------------------------------------------------------------------
 *
 * ship_type.c
 *	  Which types travel as they are kept, and whether a value that came is one
 *	  of its type's.
 *
 * A batch's bytes are believed, for only the extension writes them (store:S7).
 * Units are written by anybody.  So a value of one is looked at as the type's
 * receive function would: whatever passes, that type's input could have made.
 * Types for which that is not done here, or whose bytes name OIDs of their own
 * server (enums, arrays, ranges, rows), travel as text, and PostgreSQL's input
 * functions look at them.
 *
 * src/ship/ship_type.c
 *-------------------------------------------------------------------------
 */
#include "ship/ship_private.h"

#include "access/htup_details.h"
#include "batch/batch_reader.h"
#include "catalog/pg_type.h"
#include "datatype/timestamp.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* See ship_private.h. */
bool
strata_ship_travels_as_value(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case CHAROID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case OIDOID:
		case FLOAT4OID:
		case FLOAT8OID:
		case CASHOID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case INTERVALOID:
		case UUIDOID:
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BYTEAOID:
		case NUMERICOID:
		case JSONBOID:
			return true;
		default:
			return false;
	}
}

/* What numeric.c keeps to itself, as its comments describe it. */
#define NUMERIC_KINDS 0xC000	/* of the first word */
#define NUMERIC_KIND_SHORT 0x8000
#define NUMERIC_KIND_SPECIAL 0xC000
#define NUMERIC_IS_NAN 0xC000
#define NUMERIC_IS_INFINITE 0xD000
#define NUMERIC_IS_MINUS_INFINITE 0xF000
#define NUMERIC_LONG_NEGATIVE 0x4000
#define NUMERIC_LONG_SCALE 0x3FFF
#define NUMERIC_SHORT_NEGATIVE 0x2000
#define NUMERIC_SHORT_SCALES 0x1F80
#define NUMERIC_SHORT_SCALE_BIT 7
#define NUMERIC_SHORT_MAX_SCALE 63
#define NUMERIC_SHORT_WEIGHTS 0x007F
#define NUMERIC_SHORT_WEIGHT_SIGN 0x0040
#define NUMERIC_SHORT_MIN_WEIGHT (-64)
#define NUMERIC_SHORT_MAX_WEIGHT 63
#define NUMERIC_DIGITS 4		/* decimals of a digit */
#define NUMERIC_BASE 10000

/* A numeric's digits, and what stands before them, as numeric.c makes them. */
static bool
digits_are_sound(const uint16 *digits, int n, int weight, int scale,
				 bool negative)
{
	int			decimals;
	int			last;

	if (n == 0)
		return weight == 0 && !negative;
	for (int i = 0; i < n; i++)
		if (digits[i] >= NUMERIC_BASE)
			return false;
	if (digits[0] == 0 || digits[n - 1] == 0)
		return false;
	/* no digit behind what is shown */
	decimals = (n - weight - 1) * NUMERIC_DIGITS;
	for (last = digits[n - 1]; last % 10 == 0; last /= 10)
		decimals--;
	return decimals <= scale;
}

/* Bytes of a numeric without their length: as numeric.c makes them? */
static bool
numeric_bytes_are_sound(const char *data, Size len)
{
	uint16		words[2];
	const uint16 *digits;
	uint16	   *copy;
	bool		is_short;
	bool		negative;
	bool		sound;
	int			scale;
	int			weight;
	int			head;

	if (len < sizeof(uint16) || len % sizeof(uint16) != 0)
		return false;
	memcpy(words, data, Min(len, sizeof(words)));
	if ((words[0] & NUMERIC_KINDS) == NUMERIC_KIND_SPECIAL)
		return len == sizeof(uint16) && (words[0] == NUMERIC_IS_NAN ||
										 words[0] == NUMERIC_IS_INFINITE ||
										 words[0] == NUMERIC_IS_MINUS_INFINITE);
	is_short = (words[0] & NUMERIC_KINDS) == NUMERIC_KIND_SHORT;
	head = is_short ? 1 : 2;
	if (len < head * sizeof(uint16))
		return false;
	if (is_short)
	{
		negative = (words[0] & NUMERIC_SHORT_NEGATIVE) != 0;
		scale = (words[0] & NUMERIC_SHORT_SCALES) >> NUMERIC_SHORT_SCALE_BIT;
		weight = words[0] & NUMERIC_SHORT_WEIGHTS &
			~NUMERIC_SHORT_WEIGHT_SIGN;
		if (words[0] & NUMERIC_SHORT_WEIGHT_SIGN)
			weight += NUMERIC_SHORT_MIN_WEIGHT;
	}
	else
	{
		negative = (words[0] & NUMERIC_LONG_NEGATIVE) != 0;
		scale = words[0] & NUMERIC_LONG_SCALE;
		weight = (int16) words[1];
		/* it would have been a short one */
		if (scale <= NUMERIC_SHORT_MAX_SCALE &&
			weight >= NUMERIC_SHORT_MIN_WEIGHT &&
			weight <= NUMERIC_SHORT_MAX_WEIGHT)
			return false;
	}
	digits = (const uint16 *) (data + head * sizeof(uint16));
	copy = NULL;
	if ((uintptr_t) digits % sizeof(uint16) != 0)
	{
		copy = palloc(len);
		memcpy(copy, digits, len - head * sizeof(uint16));
		digits = copy;
	}
	sound = digits_are_sound(digits, (int) (len / sizeof(uint16)) - head,
							 weight, scale, negative);
	if (copy != NULL)
		pfree(copy);
	return sound;
}

static inline bool
text_is_sound(const char *data, Size len)
{
	return pg_verify_mbstr(GetDatabaseEncoding(), data, (int) len, true);
}

/* As jsonb_util.c orders keys: shorter ones first. */
static bool
keys_ascend(const JsonbValue *a, const JsonbValue *b)
{
	if (a->val.string.len != b->val.string.len)
		return a->val.string.len < b->val.string.len;
	return memcmp(a->val.string.val, b->val.string.val,
				  a->val.string.len) < 0;
}

static bool
scalar_is_sound(const JsonbValue *v)
{
	if (v->type == jbvString)
		return text_is_sound(v->val.string.val, v->val.string.len);
	if (v->type == jbvNumeric)
		return numeric_bytes_are_sound(VARDATA_ANY(v->val.numeric),
									   VARSIZE_ANY_EXHDR(v->val.numeric)) &&
			!numeric_is_nan(v->val.numeric) && !numeric_is_inf(v->val.numeric);
	return true;
}

/*
 * Texts and numbers of a document whose containers are sound, and the order of
 * its keys.  Returns behind the end of the container that has begun.
 */
static bool
container_values_are_sound(JsonbIterator * *it)
{
	JsonbIteratorToken token;
	JsonbValue	v;
	JsonbValue	last_key = {.type = jbvNull};

	check_stack_depth();
	while ((token = JsonbIteratorNext(it, &v, false)) != WJB_DONE)
	{
		if (token == WJB_END_ARRAY || token == WJB_END_OBJECT)
			return true;
		if (token == WJB_BEGIN_ARRAY || token == WJB_BEGIN_OBJECT)
		{
			if (!container_values_are_sound(it))
				return false;
			continue;
		}
		if (!scalar_is_sound(&v))
			return false;
		if (token != WJB_KEY)
			continue;
		if (last_key.type == jbvString && !keys_ascend(&last_key, &v))
			return false;
		last_key = v;
	}
	return true;
}

static bool
document_is_sound(Datum value)
{
	JsonbIterator *it;

	if (!strata_value_is_sound(JSONBOID, value))
		return false;
	it = JsonbIteratorInit(&DatumGetJsonbP(value)->root);
	return container_values_are_sound(&it);
}

/* See ship_private.h. */
bool
strata_ship_value_is_sound(Oid type, Datum value)
{
	const char *data;
	Size		len;

	switch (type)
	{
		case BOOLOID:
			return (uint8) DatumGetChar(value) <= 1;
		case DATEOID:
			return DATE_NOT_FINITE(DatumGetDateADT(value)) ||
				IS_VALID_DATE(DatumGetDateADT(value));
		case TIMEOID:
			return DatumGetTimeADT(value) >= 0 &&
				DatumGetTimeADT(value) <= USECS_PER_DAY;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value)) ||
				IS_VALID_TIMESTAMP(DatumGetTimestamp(value));
		case JSONBOID:
			return document_is_sound(value);
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NUMERICOID:
			data = VARDATA_ANY(DatumGetPointer(value));
			len = VARSIZE_ANY_EXHDR(DatumGetPointer(value));
			return type == NUMERICOID ? numeric_bytes_are_sound(data, len) :
				text_is_sound(data, len);
		default:
			/* any bytes of the right length */
			return true;
	}
}

/* See ship_private.h. */
char *
strata_ship_type_name(Oid type)
{
	HeapTuple	tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Form_pg_type form;
	char	   *name;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for type %u", type);
	form = (Form_pg_type) GETSTRUCT(tuple);
	name = quote_qualified_identifier(get_namespace_name(form->typnamespace),
									  NameStr(form->typname));
	ReleaseSysCache(tuple);
	return name;
}

/* See ship_private.h. */
Oid
strata_ship_base_type(Form_pg_attribute att, int32 *typmod)
{
	*typmod = att->atttypmod;
	return getBaseTypeAndTypmod(att->atttypid, typmod);
}

/* See ship_private.h. */
void
strata_ship_pin_texts(void)
{
	static const char *const settings[][2] = {
		{"datestyle", "ISO"}, {"intervalstyle", "postgres"},
		{"extra_float_digits", "3"}, {"lc_monetary", "C"}
	};

	for (int i = 0; i < (int) lengthof(settings); i++)
		(void) set_config_option(settings[i][0], settings[i][1], PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
								 false);
	strata_search_path_pin();
}
