/*-------------------------------------------------------------------------
 *
 * scan_intern.c
 *	  Short values of a column of the row store that come again: one copy of
 *	  each.
 *
 * Whoever groups rows by such a column can tell by their addresses, or by
 * their numbers, that values are the same (agg_scatter.c, agg_memo.c).  Values
 * at different addresses may be so, too: long ones are not kept, nor those
 * that come when there is no room.
 *
 * src/scan/scan_intern.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_intern_private.h"
#include "scan/scan_vector.h"

#include "base/words.h"

#include "access/htup_details.h"

/* A power of two; so many more than values that few of them meet. */
#define SLOTS (8 * STRATA_MAX_NUMBERS)
#define MAX_BYTES 64
/* Room for copies. */
#define ARENA_SIZE (32 * 1024)
/* So many values tell whether it is worth it. */
#define TRIAL 512

typedef struct InternValue
{
	uint64		low;			/* its words */
	uint64		high;
	char	   *copy;
	uint32		size;			/* with its header */
} InternValue;

/* What is looked at for each row is small, and stays in the first cache. */
struct StrataIntern
{
	int16		typlen;
	int			nvalues;
	int			tried;			/* since it was asked whether it is worth it */
	int			missed;			/* and so many of them were new, or not kept */
	Size		used;			/* of arena */
	char	   *arena;
	uint16		slots[SLOTS];	/* numbers, from 1; 0: free */
	InternValue values[STRATA_MAX_NUMBERS];
};

/* See scan_intern_private.h. */
StrataIntern *
strata_intern_create(int16 typlen)
{
	StrataIntern *intern;

	if (typlen != -1 && (typlen < 1 || typlen > MAX_BYTES))
		return NULL;
	intern = palloc(sizeof(StrataIntern));
	memset(intern, 0, offsetof(StrataIntern, values));
	intern->typlen = typlen;
	intern->arena = palloc(ARENA_SIZE);
	return intern;
}

/* Keep a value; false: there is no room. */
static bool
intern_new(StrataIntern *intern, uint16 *slot, const char *p, uint32 size,
		   uint64 low, uint64 high)
{
	InternValue *value = &intern->values[intern->nvalues];

	if (intern->nvalues >= STRATA_MAX_NUMBERS ||
		MAXALIGN(size) > ARENA_SIZE - intern->used)
		return false;
	value->copy = intern->arena + intern->used;
	memcpy(value->copy, p, size);
	intern->used += MAXALIGN(size);
	value->size = size;
	value->low = low;
	value->high = high;
	*slot = (uint16) ++intern->nvalues;
	return true;
}

/*
 * What strata_load_words() says, of bytes in a tuple: there are eight more in
 * front of them, of its header or of other values.  No branch depends on how
 * many they are.
 */
static inline void
load_words_of_tuple(const char *bytes, uint32 len, uint64 *low, uint64 *high)
{
	uint32		spare;

	spare = len < sizeof(uint64) ? (uint32) sizeof(uint64) - len : 0;
	memcpy(low, bytes - spare, sizeof(uint64));
	memcpy(high, bytes + len - sizeof(uint64), sizeof(uint64));
	/* by halves, since all 64 bits may have to go */
#ifdef WORDS_BIGENDIAN
	*low = *low << (4 * spare) << (4 * spare);
	*high = *high << (4 * spare) << (4 * spare);
#else
	*low = *low >> (4 * spare) >> (4 * spare);
	*high = *high >> (4 * spare) >> (4 * spare);
#endif
}

/* strata_intern_find(), but for counting the attempt. */
static pg_attribute_always_inline uint16
find_number(StrataIntern *intern, const char *p, Datum *copy)
{
	const char *bytes = p;
	uint32		size = intern->typlen;
	uint32		len = size;
	uint64		low;
	uint64		high;
	uint16	   *slot;

	if (intern->typlen == -1)
	{
		size = VARATT_IS_1B(p) && !VARATT_IS_1B_E(p) ? VARSIZE_1B(p) : 0;
		bytes = p + VARHDRSZ_SHORT;
		len = size - VARHDRSZ_SHORT;
	}
	if (size == 0 || size > MAX_BYTES)
	{
		intern->missed++;
		return STRATA_NO_NUMBER;
	}
	load_words_of_tuple(bytes, len, &low, &high);
	for (uint32 i = strata_hash_word(low * 31 + high + len +
									 strata_middle_word(bytes, len));; i++)
	{
		const InternValue *value;

		slot = &intern->slots[i & (SLOTS - 1)];
		if (*slot == 0)
			break;
		value = &intern->values[*slot - 1];
		if (value->low == low && value->high == high && value->size == size &&
			(len <= 2 * sizeof(uint64) || memcmp(value->copy, p, size) == 0))
		{
			*copy = PointerGetDatum(value->copy);
			return *slot - 1;
		}
	}
	intern->missed++;
	if (!intern_new(intern, slot, p, size, low, high))
		return STRATA_NO_NUMBER;
	*copy = PointerGetDatum(intern->values[*slot - 1].copy);
	return *slot - 1;
}

/* See scan_intern_private.h. */
uint16
strata_intern_find(StrataIntern *intern, const char *p, Datum *copy)
{
	intern->tried++;
	return find_number(intern, p, copy);
}

/* See scan_intern_private.h. */
int
strata_intern_find_many(StrataIntern *intern, const char *const *tuples,
						const uint32 *offsets, const uint16 *rows, int n,
						Datum *copies, uint16 *numbers)
{
	int			found = 0;

	intern->tried += n;
	for (int i = 0; i < n; i++)
	{
		uint16		number = find_number(intern, tuples[i] + offsets[i],
										 &copies[rows[i]]);

		numbers[rows[i]] = number;
		found += number != STRATA_NO_NUMBER;
	}
	return found;
}

/* See scan_intern_private.h. */
bool
strata_intern_is_worth_it(StrataIntern *intern)
{
	bool		result = intern->missed < intern->tried * 3 / 4;

	if (intern->tried < TRIAL)
		return true;
	intern->tried = intern->missed = 0;
	return result;
}
