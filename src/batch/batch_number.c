/*-------------------------------------------------------------------------
 *
 * batch_number.c
 *	  Numbers of a column's strings that are the same in all batches.
 *
 * The dictionaries of batches share most entries, each in an order of its own.
 * Here the entries of all of them are numbered, so that what an expression
 * makes of an entry can be kept in an array (expr_memo.c), whatever batch it
 * came with first.  Long strings have no number, nor have those that come when
 * there is no room; and where few come again, none has.  Nor has the first
 * batch of a reader, since it may be the only one of its chunk; what is kept
 * grows with what has come.
 *
 * src/batch/batch_number.c
 *-------------------------------------------------------------------------
 */
#include "batch/batch_private.h"

#include "base/base.h"
#include "base/words.h"

#include "utils/memutils.h"

#define MAX_BYTES 128
/* A power of two, as is STRATA_MAX_STRINGS. */
#define FIRST_STRINGS 64
#define SLOTS_PER_STRING 4
/* After so many it is seen whether enough of them came again. */
#define TRIAL (4 * STRATA_MAX_STRINGS)

#define HASH_FACTOR UINT64CONST(0x9e3779b97f4a7c15)

typedef struct NumberedString
{
	uint64		low;			/* its words */
	uint64		high;
	const char *bytes;			/* of more than they hold */
	uint32		len;
} NumberedString;

struct StrataNumbers
{
	uint64		numbering;
	int64		first_row;		/* of the first batch */
	bool		off;			/* few came again */
	int			tried;
	int			missed;
	int			nstrings;
	uint32		nslots;
	uint16	   *slots;			/* numbers, from 1; 0: free */
	int			size;			/* of strings */
	NumberedString *strings;
};

/* The slots' number of a hash is made of its first bits. */
static inline uint32
hash_string(const NumberedString *s)
{
	uint64		hash = (s->low ^ (s->high << 23 | s->high >> 41) ^
						strata_middle_word(s->bytes, s->len)) * HASH_FACTOR +
	s->len;

	return (uint32) ((hash ^ hash >> 32) * HASH_FACTOR >> 40);
}

/* Room for so many strings; those that are there get slots. */
static void
set_size(StrataNumbers *numbers, MemoryContext mcxt, int size)
{
	numbers->strings = numbers->strings == NULL ?
		MemoryContextAlloc(mcxt, sizeof(NumberedString) * size) :
		repalloc(numbers->strings, sizeof(NumberedString) * size);
	numbers->size = size;
	if (numbers->slots != NULL)
		pfree(numbers->slots);
	numbers->nslots = size * SLOTS_PER_STRING;
	numbers->slots = MemoryContextAllocZero(mcxt,
											sizeof(uint16) * numbers->nslots);
	for (int i = 0; i < numbers->nstrings; i++)
	{
		uint32		slot = hash_string(&numbers->strings[i]);

		for (slot &= numbers->nslots - 1; numbers->slots[slot] != 0;)
			slot = (slot + 1) & (numbers->nslots - 1);
		numbers->slots[slot] = (uint16) (i + 1);
	}
}

static StrataNumbers *
create_numbers(const StrataBatchReader *reader, MemoryContext mcxt)
{
	static uint64 last = 0;
	StrataNumbers *numbers = MemoryContextAllocZero(mcxt,
													sizeof(StrataNumbers));

	numbers->numbering = ++last;
	numbers->first_row = reader->first_row;
	return numbers;
}

/* Number a new string, which belongs into the slot. */
static uint16
number_new(StrataNumbers *numbers, MemoryContext mcxt, uint32 slot,
		   NumberedString string)
{
	char	   *copy;

	numbers->missed++;
	if (numbers->nstrings >= STRATA_MAX_STRINGS)
		return STRATA_NO_STRING;
	Assert(string.len <= MAX_BYTES);	/* batch:B16 */
	if (string.len > 2 * sizeof(uint64))
	{
		copy = MemoryContextAlloc(mcxt, string.len);
		memcpy(copy, string.bytes, string.len);
		string.bytes = copy;
	}
	numbers->strings[numbers->nstrings++] = string;
	numbers->slots[slot] = (uint16) numbers->nstrings;
	if (numbers->nstrings == numbers->size &&
		numbers->size < STRATA_MAX_STRINGS)
		set_size(numbers, mcxt, numbers->size * 2);
	return (uint16) (numbers->nstrings - 1);
}

/* The number of a string, which it gets if it is new. */
static inline uint16
number_of(StrataNumbers *numbers, MemoryContext mcxt, NumberedString string)
{
	uint32		slot;

	if (string.len > MAX_BYTES)
	{
		numbers->missed++;
		return STRATA_NO_STRING;
	}
	strata_load_words(string.bytes, string.len, &string.low, &string.high);
	for (slot = hash_string(&string);; slot++)
	{
		const NumberedString *s;

		slot &= numbers->nslots - 1;
		if (numbers->slots[slot] == 0)
			return number_new(numbers, mcxt, slot, string);
		s = &numbers->strings[numbers->slots[slot] - 1];
		if (s->low == string.low && s->high == string.high &&
			s->len == string.len &&
			(string.len <= 2 * sizeof(uint64) ||
			 memcmp(s->bytes, string.bytes, string.len) == 0))
			return numbers->slots[slot] - 1;
	}
}

/* Do enough of them come again? */
static bool
are_worth_it(StrataNumbers *numbers)
{
	if (numbers->tried >= TRIAL)
	{
		numbers->off = numbers->missed > TRIAL / 4 * 3;
		numbers->tried = numbers->missed = 0;
	}
	return !numbers->off;
}

/* See batch_reader.h. */
const uint16 *
strata_column_numbers(const StrataColumn *col, uint64 *numbering)
{
	StrataBatchReader *lead;
	StrataColumn *own;
	const StrataBytes *strings = &col->strings;
	StrataNumbers *numbers;
	uint16	   *result;

	if (col->reader == NULL || col->codes == NULL ||
		strings->offsets == NULL || !strata_enable_value_memo)
		return NULL;
	/* col may be a copy of the reader's */
	own = &col->reader->columns[col->attno - 1];
	if (own->strings.offsets != strings->offsets)
		return NULL;
	lead = col->reader->lead;
	if (lead->numbers == NULL)
		lead->numbers = MemoryContextAllocZero(lead->mcxt,
											   sizeof(StrataNumbers *) *
											   lead->schema->natts);
	numbers = lead->numbers[col->attno - 1];
	if (numbers == NULL)
		lead->numbers[col->attno - 1] = numbers =
			create_numbers(col->reader, lead->mcxt);
	if (numbers->strings == NULL)
	{
		if (col->reader->first_row == numbers->first_row)
			return NULL;
		set_size(numbers, lead->mcxt, FIRST_STRINGS);
	}
	*numbering = numbers->numbering;
	if (own->numbers != NULL || !are_worth_it(numbers))
		return own->numbers;
	result = MemoryContextAlloc(col->reader->batch_mcxt,
								sizeof(uint16) * Max(strings->nentries, 1));
	numbers->tried += strings->nentries;
	for (uint32 i = 0; i < strings->nentries; i++)
	{
		uint32		at = strings->offsets[i];
		NumberedString string = {
			.bytes = (const char *) strings->payload + at,
			.len = strings->offsets[i + 1] - at
		};

		result[i] = number_of(numbers, lead->mcxt, string);
	}
	own->numbers = result;
	return result;
}
