/*-------------------------------------------------------------------------
 *
 * dictionary_range.c
 *	  The distinct values of a vector whose integers are known and close to
 *	  each other.
 *
 * Hides how entries and codes are found without hashing and sorting: there is
 * a place for each possible integer.  Decimal numbers have integers too
 * (decimal.c), in the same order as they are.
 *
 * src/codec/dictionary_range.c
 *-------------------------------------------------------------------------
 */
#include "codec/bitstream.h"
#include "codec/dictionary.h"

STRATA_CLONES
static void
find_integer_range(const int64_t *integers, uint32_t n, int64_t *min,
				   int64_t *max)
{
	int64_t		least = integers[0];
	int64_t		most = integers[0];

	for (uint32_t i = 1; i < n; i++)
	{
		least = integers[i] < least ? integers[i] : least;
		most = integers[i] > most ? integers[i] : most;
	}
	*min = least;
	*max = most;
}

/*
 * Add to `places` those of the n integers whose place in the table is empty,
 * and fill these. Returns how many there are then.
 */
static uint32_t
add_places(int64_t min, const int64_t *integers, uint32_t n, uint16_t *table,
		   uint32_t *places, uint32_t nplaces)
{
	for (uint32_t i = 0; i < n; i++)
	{
		uint32_t	place;

		place = (uint32_t) ((uint64_t) integers[i] - (uint64_t) min);
		places[nplaces] = place;
		nplaces += table[place] == 0;
		table[place] = 1;
	}
	return nplaces;
}

/* Store an integer of `width` bytes. */
STRATA_INLINE void
put_integer(unsigned width, void *entries, uint32_t at, uint64_t value)
{
	switch (width)
	{
		case 1:
			((uint8_t *) entries)[at] = (uint8_t) value;
			break;
		case 2:
			((uint16_t *) entries)[at] = (uint16_t) value;
			break;
		case 4:
			((uint32_t *) entries)[at] = (uint32_t) value;
			break;
		default:
			((uint64_t *) entries)[at] = value;
	}
}

/*
 * Put the codes of all places into the table, and their integers, ascending,
 * into the entries.
 */
static void
number_places(int64_t min, uint64_t distance, const uint32_t *places,
			  uint32_t nplaces, uint16_t *table, unsigned width, void *entries)
{
	uint64_t	bits[STRATA_DICTIONARY_RANGE / 64];
	uint32_t	nwords = (uint32_t) (distance / 64) + 1;
	uint32_t	code = 0;

	memset(bits, 0, nwords * sizeof(uint64_t));
	for (uint32_t i = 0; i < nplaces; i++)
		bits[places[i] / 64] |= UINT64_C(1) << places[i] % 64;
	for (uint32_t w = 0; w < nwords; w++)
		for (uint64_t left = bits[w]; left != 0; left &= left - 1)
		{
			uint32_t	place = w * 64 + (uint32_t) __builtin_ctzll(left);

			table[place] = (uint16_t) code;
			put_integer(width, entries, code++, (uint64_t) min + place);
		}
}

/* The entries of floats: each is what has its code. */
static void
put_floats(const StrataVector *v, const int64_t *codes, void *entries)
{
	if (v->width == 8)
		for (uint32_t i = 0; i < v->n; i++)
			((uint64_t *) entries)[codes[i]] =
				((const uint64_t *) v->fixed)[i];
	else
		for (uint32_t i = 0; i < v->n; i++)
			((uint32_t *) entries)[codes[i]] =
				((const uint32_t *) v->fixed)[i];
}

/*
 * Entries (ascending) and codes of v by its integers.  There is room for
 * STRATA_DICTIONARY_RANGE numbers in the table, for one more place than v has
 * values.  FOUND; TOO_MANY entries, as strata_dictionary_too_many says; or
 * TOO_WIDE: to be had another way.
 */
StrataDictionaryRange
strata_dictionary_by_range(const StrataVector *v, const int64_t *integers,
						   uint32_t limit, uint32_t nslots, uint16_t *table,
						   uint32_t *places, int64_t *codes, void *entries,
						   uint32_t *nentries)
{
	uint32_t	nplaces = 0;
	uint64_t	distance;
	int64_t		min;
	int64_t		max;

	find_integer_range(integers, v->n, &min, &max);
	distance = (uint64_t) max - (uint64_t) min;
	if (distance >= STRATA_DICTIONARY_RANGE)
		return STRATA_DICTIONARY_TOO_WIDE;
	if (distance < 4 * (uint64_t) v->n)
		memset(table, 0, (distance + 1) * sizeof(uint16_t));
	else
		for (uint32_t i = 0; i < v->n; i++)
			table[(uint64_t) integers[i] - (uint64_t) min] = 0;
	for (uint32_t from = 0; from < v->n; from += STRATA_DICTIONARY_SAMPLE)
	{
		uint32_t	left = v->n - from;
		bool		is_new;

		is_new = table[(uint64_t) integers[from] - (uint64_t) min] == 0;

		/*
		 * whether a dictionary is given up must not depend on how its entries
		 * are looked for
		 */
		if (is_new && (v->kind == STRATA_KIND_FLOAT || distance >= nslots) &&
			strata_dictionary_too_many(nplaces + 1, from, limit))
			return STRATA_DICTIONARY_TOO_MANY;
		nplaces = add_places(min, integers + from,
							 left < STRATA_DICTIONARY_SAMPLE ?
							 left :
							 STRATA_DICTIONARY_SAMPLE,
							 table, places, nplaces);
		if (nplaces > limit)
			return STRATA_DICTIONARY_TOO_MANY;
	}
	*nentries = nplaces;
	number_places(min, distance, places, nplaces, table, v->width, entries);
	for (uint32_t i = 0; i < v->n; i++)
		codes[i] = table[(uint64_t) integers[i] - (uint64_t) min];
	if (v->kind == STRATA_KIND_FLOAT)
		put_floats(v, codes, entries);
	return STRATA_DICTIONARY_FOUND;
}
