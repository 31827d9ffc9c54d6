/*-------------------------------------------------------------------------
 *
 * batch_sound.c
 *	  Is a value of a by-reference type made as its type's functions rely on?
 *
 * A checksum tells damaged bytes, unless somebody made it to fit.  Functions
 * of a type believe what stands in a value: lengths, counts, offsets.  Those
 * of PostgreSQL's own types that point about in a value are followed here,
 * none past its end.  What is only wrong (a date in a far year, a digit of
 * 20000) is left.
 *
 * Queries do none of this, as they do not for heap's values: who can make a
 * checksum fit is a superuser (store:S7).  strata.verify() looks into all.
 *
 * Not followed: composite types, multiranges, tsquery, jsonpath, and types of
 * extensions, whose insides are theirs.
 *
 * src/batch/batch_sound.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"

#include <sys/socket.h>

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "tsearch/ts_type.h"
#include "utils/array.h"
#include "utils/geo_decls.h"
#include "utils/inet.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"
#include "utils/varbit.h"

/* What numeric.c keeps to itself: special values have it too. */
#define NUMERIC_SHORT 0x8000

/* What of a varlena type is followed; element: of arrays and ranges. */
typedef struct ValueCheck ValueCheck;
struct ValueCheck
{
	bool		(*is_sound) (const ValueCheck *check, const char *data,
							 Size len);
	Oid			typid;
	Oid			elemtype;
	int16		typlen;
	char		typalign;
	ValueCheck *element;		/* NULL: nothing */
};

static ValueCheck *value_check_create(Oid typid);

static inline bool
numeric_is_sound(const ValueCheck *check, const char *data, Size len)
{
	uint16		word;

	if (len < sizeof(word) || len % sizeof(word) != 0)
		return false;
	memcpy(&word, data, sizeof(word));
	/* the weight is in a word of its own, or not */
	return (word & NUMERIC_SHORT) != 0 || len >= 2 * sizeof(word);
}

/*
 * The bytes in a varlena that begins here and ends before `end`; NULL: it does
 * not, or is not as it is.
 */
static const char *
open_varlena(const char *data, const char *end, Size *len)
{
	if (data >= end || VARATT_IS_1B_E(data))
		return NULL;
	if (!VARATT_IS_1B(data) &&
		(end - data < VARHDRSZ || VARATT_IS_4B_C(data) ||
		 VARSIZE_4B(data) < VARHDRSZ))
		return NULL;
	*len = VARSIZE_ANY_EXHDR(data);
	data = VARDATA_ANY(data);
	return *len <= (Size) (end - data) ? data : NULL;
}

static bool container_is_sound(const char *data, Size len, bool root);

static bool
jentry_is_sound(JEntry entry, const char *data, Size start, Size end)
{
	const char *number;
	Size		len;

	if (JBE_ISNUMERIC(entry) || JBE_ISCONTAINER(entry))
		start = INTALIGN(start);
	if (start > end)
		return false;
	if (JBE_ISCONTAINER(entry))
		return container_is_sound(data + start, end - start, false);
	/* those who read it take a header of four bytes for granted */
	if (JBE_ISNUMERIC(entry))
		return start < end && !VARATT_IS_1B(data + start) &&
			(number = open_varlena(data + start, data + end, &len)) != NULL &&
			numeric_is_sound(NULL, number, len);
	return JBE_ISSTRING(entry) || JBE_ISBOOL(entry) || JBE_ISNULL(entry);
}

/*
 * Do the counts, offsets and kinds of a jsonb container of len bytes, and of
 * those in it, stay within it?  root: it is the document.
 */
static bool
container_is_sound(const char *data, Size len, bool root)
{
	uint32		header;
	uint32		n;
	bool		object;
	Size		start = 0;

	check_stack_depth();
	if (len < sizeof(header))
		return false;
	memcpy(&header, data, sizeof(header));
	object = (header & JB_FOBJECT) != 0;
	n = header & JB_CMASK;
	if (object == ((header & JB_FARRAY) != 0) ||
		((header & JB_FSCALAR) && (!root || object || n != 1)))
		return false;
	len -= sizeof(header);
	data += sizeof(header);
	if (n > len / sizeof(JEntry) / (object ? 2 : 1))
		return false;
	n *= object ? 2 : 1;
	len -= n * sizeof(JEntry);
	for (uint32 i = 0; i < n; i++)
	{
		JEntry		entry;
		Size		end;

		memcpy(&entry, data + i * sizeof(JEntry), sizeof(JEntry));
		end = JBE_OFFLENFLD(entry) + (JBE_HAS_OFF(entry) ? 0 : start);
		if (end < start || end > len ||
			!jentry_is_sound(entry, data + n * sizeof(JEntry), start, end) ||
			(object && i < n / 2 && !JBE_ISSTRING(entry)) ||
			((header & JB_FSCALAR) && JBE_ISCONTAINER(entry)))
			return false;
		start = end;
	}
	return true;
}

static bool
jsonb_is_sound(const ValueCheck *check, const char *data, Size len)
{
	return container_is_sound(data, len, true);
}

/*
 * Behind the element at `data`, which lies in a value that begins at `value`;
 * NULL: it is not sound.
 */
static const char *
skip_element(const ValueCheck *check, const char *value, const char *data,
			 const char *end)
{
	Size		len;
	const char *content;

	/* a short header is not aligned */
	if (data < end && (check->typlen != -1 || *data == '\0'))
		data = value + att_align_nominal(data - value, check->typalign);
	if (check->typlen > 0)
		return end - data >= check->typlen ? data + check->typlen : NULL;
	if (check->typlen == -2)
	{
		content = data < end ? memchr(data, '\0', end - data) : NULL;
		return content != NULL ? content + 1 : NULL;
	}
	content = open_varlena(data, end, &len);
	if (content == NULL ||
		(check->element != NULL &&
		 !check->element->is_sound(check->element, content, len)))
		return NULL;
	return content + len;
}

/* Of PostgreSQL's arrays, data is what stands behind the length. */
static bool
array_is_sound(const ValueCheck *check, const char *data, Size len)
{
	const char *value = data - VARHDRSZ;
	const char *end = data + len;
	const ArrayType *array = (const ArrayType *) value;
	const bits8 *nulls;
	int64		nitems;

	if (len + VARHDRSZ < sizeof(ArrayType) || array->ndim < 0 ||
		array->ndim > MAXDIM || array->elemtype != check->elemtype ||
		len + VARHDRSZ < ARR_OVERHEAD_NONULLS(array->ndim))
		return false;
	nitems = array->ndim > 0;
	for (int i = 0; i < array->ndim; i++)
	{
		if (ARR_DIMS(array)[i] < 0 ||
			(int64) ARR_DIMS(array)[i] + ARR_LBOUND(array)[i] > PG_INT32_MAX)
			return false;
		nitems *= ARR_DIMS(array)[i];
		if (nitems > (int64) MaxArraySize)
			return false;
	}
	if (array->dataoffset != 0 &&
		(array->dataoffset <
		 (int32) ARR_OVERHEAD_WITHNULLS(array->ndim, nitems) ||
		 array->dataoffset > (int64) (len + VARHDRSZ)))
		return false;
	nulls = ARR_NULLBITMAP(array);
	data = ARR_DATA_PTR(array);
	if (nulls == NULL && check->typlen > 0)
		return nitems == 0 ||
			(nitems - 1) * (int64) att_align_nominal(check->typlen,
													 check->typalign) +
			check->typlen <=
			end - data;
	for (int64 i = 0; i < nitems && data != NULL; i++)
		if (nulls == NULL || (nulls[i / 8] & (1 << (i % 8))))
			data = skip_element(check, value, data, end);
	return data != NULL;
}

static bool
range_is_sound(const ValueCheck *check, const char *data, Size len)
{
	const char *value = data - VARHDRSZ;
	const char *end = data + len - 1;
	uint8		flags;

	if (len + VARHDRSZ < sizeof(RangeType) + sizeof(flags) ||
		((const RangeType *) value)->rangetypid != check->typid)
		return false;
	flags = *(const uint8 *) end;
	data = value + sizeof(RangeType);
	if (RANGE_HAS_LBOUND(flags))
		data = skip_element(check, value, data, end);
	if (data != NULL && RANGE_HAS_UBOUND(flags))
		data = skip_element(check, value, data, end);
	return data != NULL;
}

static bool
bits_are_sound(const ValueCheck *check, const char *data, Size len)
{
	int32		n;

	if (len < sizeof(n))
		return false;
	memcpy(&n, data, sizeof(n));
	return n >= 0 &&
		len - sizeof(n) == ((Size) n + BITS_PER_BYTE - 1) / BITS_PER_BYTE;
}

/*
 * A path or a polygon: points behind a head whose first number says how many.
 */
static bool
points_are_sound(const ValueCheck *check, const char *data, Size len)
{
	Size		head = (check->typid == PATHOID ? offsetof(PATH, p) :
						offsetof(POLYGON, p)) -
	VARHDRSZ;
	int32		n;

	if (len < head)
		return false;
	memcpy(&n, data, sizeof(n));
	return n >= 0 && len - head == (Size) n * sizeof(Point);
}

static bool
address_is_sound(const ValueCheck *check, const char *data, Size len)
{
	const inet_struct *address = (const inet_struct *) data;

	if (len < offsetof(inet_struct, ipaddr))
		return false;
	if (address->family == PGSQL_AF_INET)
		return len == offsetof(inet_struct, ipaddr) + 4 && address->bits <= 32;
	return address->family == PGSQL_AF_INET6 &&
		len == offsetof(inet_struct, ipaddr) + 16 && address->bits <= 128;
}

/* Do the lexemes of a tsvector, and their positions, stay within it? */
static bool
tsvector_is_sound(const ValueCheck *check, const char *data, Size len)
{
	TSVector	vector = (TSVector) (data - VARHDRSZ);
	Size		room;

	if (len < sizeof(int32) || vector->size < 0 ||
		(Size) vector->size > (len - sizeof(int32)) / sizeof(WordEntry))
		return false;
	room = len - sizeof(int32) - vector->size * sizeof(WordEntry);
	for (int i = 0; i < vector->size; i++)
	{
		const WordEntry *word = &ARRPTR(vector)[i];
		Size		end = (Size) word->pos + word->len;

		if (end > room)
			return false;
		if (!word->haspos)
			continue;
		end = SHORTALIGN(end);
		if (end + sizeof(uint16) > room)
			return false;
		if (end + sizeof(uint16) +
			POSDATALEN(vector, word) * sizeof(WordEntryPos) >
			room)
			return false;
	}
	return true;
}

/* Follow the elements of arrays and ranges. */
static void
set_element(ValueCheck *check, Oid elemtype)
{
	bool		typbyval;

	check->elemtype = elemtype;
	get_typlenbyvalalign(elemtype, &check->typlen, &typbyval,
						 &check->typalign);
	if (check->typlen == -1)
		check->element = value_check_create(elemtype);
}

/*
 * What is to be followed in values of a type, in the current context; NULL:
 * nothing.
 */
static ValueCheck *
value_check_create(Oid typid)
{
	ValueCheck	check = {0};
	ValueCheck *result;
	Oid			elemtype;

	check.typid = typid >= FirstGenbkiObjectId ? getBaseType(typid) : typid;
	switch (check.typid)
	{
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case BYTEAOID:
		case JSONOID:
		case XMLOID:
			return NULL;
		case NUMERICOID:
			check.is_sound = numeric_is_sound;
			break;
		case JSONBOID:
			check.is_sound = jsonb_is_sound;
			break;
		case BITOID:
		case VARBITOID:
			check.is_sound = bits_are_sound;
			break;
		case PATHOID:
		case POLYGONOID:
			check.is_sound = points_are_sound;
			break;
		case INETOID:
		case CIDROID:
			check.is_sound = address_is_sound;
			break;
		case TSVECTOROID:
			check.is_sound = tsvector_is_sound;
			break;
		default:
			elemtype = get_element_type(check.typid);
			if (OidIsValid(elemtype))
				check.is_sound = array_is_sound;
			else if (OidIsValid(elemtype = get_range_subtype(check.typid)))
				check.is_sound = range_is_sound;
			else
				return NULL;
			set_element(&check, elemtype);
	}
	result = palloc(sizeof(ValueCheck));
	*result = check;
	return result;
}

/* See batch_reader.h. */
bool
strata_value_is_sound(Oid typid, Datum value)
{
	ValueCheck *check = value_check_create(typid);
	struct varlena *v = (struct varlena *) DatumGetPointer(value);

	return check == NULL ||
		(VARATT_IS_4B_U(v) && VARSIZE_4B(v) >= VARHDRSZ &&
		 check->is_sound(check, (const char *) v + VARHDRSZ,
						 VARSIZE_4B(v) - VARHDRSZ));
}

/* See batch_private.h. */
bool
strata_column_is_sound(const StrataColumn *col, int n)
{
	ValueCheck *check;

	check = col->type.typlen == -1 ? value_check_create(col->type.typid) :
		NULL;
	for (int i = 0; i < n && check != NULL; i++)
	{
		bool		isnull;
		Datum		value = strata_column_get(col, i, &isnull);
		Size		len;
		const char *data;

		if (isnull)
			continue;
		data = DatumGetPointer(value);

		/*
		 * build_datums gives all types that are followed long headers
		 * (batch:B14)
		 */
		len = VARATT_IS_4B_U(data) ? VARSIZE_4B(data) : 0;
		if (len < VARHDRSZ ||
			!check->is_sound(check, data + VARHDRSZ, len - VARHDRSZ))
			return false;
	}
	return true;
}
