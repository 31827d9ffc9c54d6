/*-------------------------------------------------------------------------
 *
 * scan_intern.c
 *	  Short values of a column of the row store that come again: one copy of
 *	  each.
 *
 * Whoever groups rows by such a column can tell by their addresses that values
 * are the same (agg_scatter.c).  Values at different addresses may be so, too:
 * long ones are not kept, nor those that come when there is no room.
 *
 * src/scan/scan_intern.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_intern_private.h"

#include "base/words.h"

#include "access/htup_details.h"

/* A power of two; up to half of them are used. */
#define SLOTS 2048
#define MAX_BYTES 64
/* Room for copies. */
#define ARENA_SIZE (32 * 1024)
/* So many values tell whether it is worth it. */
#define TRIAL 512

typedef struct Slot
{
	uint64		low;			/* the value's words */
	uint64		high;
	char	   *value;			/* NULL: free */
	uint32		size;			/* of the value, with its header */
} Slot;

struct StrataIntern
{
	int16		typlen;
	int			nvalues;
	int			tried;			/* since it was asked whether it is worth it */
	int			missed;			/* and so many of them were new, or not kept */
	Size		used;			/* of arena */
	char	   *arena;
	Slot		slots[SLOTS];
};

/* See scan_intern_private.h. */
StrataIntern *
strata_intern_create(int16 typlen)
{
	StrataIntern *intern;

	if (typlen != -1 && (typlen < 1 || typlen > MAX_BYTES))
		return NULL;
	intern = palloc0(sizeof(StrataIntern));
	intern->typlen = typlen;
	intern->arena = palloc(ARENA_SIZE);
	return intern;
}

/* Keep a value; false: there is no room. */
static bool
intern_new(StrataIntern *intern, Slot *slot, const char *p, uint32 size,
		   uint64 low, uint64 high)
{
	if (intern->nvalues >= SLOTS / 2 ||
		MAXALIGN(size) > ARENA_SIZE - intern->used)
		return false;
	slot->value = intern->arena + intern->used;
	memcpy(slot->value, p, size);
	intern->used += MAXALIGN(size);
	slot->size = size;
	slot->low = low;
	slot->high = high;
	intern->nvalues++;
	return true;
}

/* See scan_intern_private.h. */
bool
strata_intern_find(StrataIntern *intern, const char *p, Datum *copy)
{
	const char *bytes = p;
	uint32		size = intern->typlen;
	uint32		len = size;
	uint64		low;
	uint64		high;
	Slot	   *slot;

	intern->tried++;
	if (intern->typlen == -1)
	{
		size = VARATT_IS_1B(p) && !VARATT_IS_1B_E(p) ? VARSIZE_1B(p) : 0;
		bytes = p + VARHDRSZ_SHORT;
		len = size - VARHDRSZ_SHORT;
	}
	if (size == 0 || size > MAX_BYTES)
	{
		intern->missed++;
		return false;
	}
	strata_load_words(bytes, len, &low, &high);
	for (uint32 i = strata_hash_word(low * 31 + high + len);; i++)
	{
		slot = &intern->slots[i & (SLOTS - 1)];
		if (slot->value == NULL)
			break;
		if (slot->low == low && slot->high == high && slot->size == size &&
			(len <= 2 * sizeof(uint64) || memcmp(slot->value, p, size) == 0))
		{
			*copy = PointerGetDatum(slot->value);
			return true;
		}
	}
	intern->missed++;
	if (!intern_new(intern, slot, p, size, low, high))
		return false;
	*copy = PointerGetDatum(slot->value);
	return true;
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
