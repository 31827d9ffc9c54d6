/*-------------------------------------------------------------------------
 *
 * expr_memo.c
 *	  What an expression of one column is for values that came before.
 *
 * An expression that reads one column is evaluated once for each entry of a
 * batch's dictionary.  The dictionaries of batches share most entries,
 * and their results are found again here, by the bytes of the value.  How much
 * is kept is bounded, and values that do not come again are noticed.  Where
 * entries have numbers (batch_number.c), results are kept by these, too.
 *
 * src/expr/expr_memo.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr.h"

#include "base/base.h"
#include "base/words.h"

#include "common/hashfn.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "port/pg_bitutils.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* Values and results of more bytes are not kept. */
#define MAX_BYTES 512
/* Nor more values, nor more bytes of them and of results. */
#define MAX_VALUES 16384
#define MAX_MEMORY (1024 * 1024)
#define FIRST_SLOTS 256
#define FIRST_NUMBERED 64

/*
 * After so many look-ups it is seen whether enough values came again: those of
 * a large dictionary are all new at first.
 */
static const int trial_size[] = {
	[STRATA_MEMO_ENTRIES] = 16384,
	[STRATA_MEMO_ROWS] = 2048
};

typedef struct MemoTrial
{
	int			tried;
	int			missed;			/* of them */
	bool		off;
} MemoTrial;

typedef struct NumberedResult
{
	bool		known;
	bool		isnull;
	uint64		result;
} NumberedResult;

struct StrataMemo
{
	MemoryContext owner;
	MemoryContext mcxt;			/* NULL: nothing was looked up yet */
	int16		typlen;			/* of the values */
	uint32		nslots;			/* a power of two */
	uint32		nvalues;
	Size		used;			/* bytes of values and results */
	StrataMemoEntry *slots;
	MemoTrial	trials[lengthof(trial_size)];
	StrataMemo *results;		/* that were copied; NULL: none yet */
	uint64		numbering;		/* of numbered */
	uint32		nnumbered;		/* so many of numbered are set */
	NumberedResult *numbered;	/* by number; NULL: none yet */
};

/* Does something that is set while a plan runs change it? */
static bool
has_run_time_param(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param))
		return ((Param *) node)->paramkind != PARAM_EXTERN;
	return expression_tree_walker(node, has_run_time_param, context);
}

static StrataMemo *
new_memo(MemoryContext owner, int16 typlen)
{
	StrataMemo *memo = MemoryContextAllocZero(owner, sizeof(StrataMemo));

	memo->owner = owner;
	memo->typlen = typlen;
	return memo;
}

/* See expr.h. */
StrataMemo *
strata_memo_create(Node *expr, bool typbyval, int16 typlen)
{
	if (!strata_enable_value_memo || typbyval || typlen == 0 || typlen < -1 ||
		contain_mutable_functions(expr) || contain_subplans(expr) ||
		has_run_time_param(expr, NULL))
		return NULL;
	return new_memo(CurrentMemoryContext, typlen);
}

/* The bytes that say what a value is; false: it is not kept. */
static inline bool
bytes_of_value(const StrataMemo *memo, Datum value, const char **bytes,
			   uint32 *len)
{
	const char *p = DatumGetPointer(value);

	*bytes = p;
	*len = memo->typlen;
	if (memo->typlen == -1)
	{
		if (VARATT_IS_EXTERNAL(p) || VARATT_IS_COMPRESSED(p))
			return false;
		*bytes = VARDATA_ANY(p);
		*len = VARSIZE_ANY_EXHDR(p);
	}
	return *len <= MAX_BYTES;
}

static void
put_in_slots(StrataMemo *memo, StrataMemoEntry *slots, uint32 nslots)
{
	for (uint32 i = 0; i < memo->nslots; i++)
	{
		uint32		slot = memo->slots[i].hash & (nslots - 1);

		if (!memo->slots[i].used)
			continue;
		while (slots[slot].used)
			slot = (slot + 1) & (nslots - 1);
		slots[slot] = memo->slots[i];
	}
}

/* Room for one more value. */
static void
make_slot(StrataMemo *memo)
{
	uint32		nslots = memo->nslots == 0 ? FIRST_SLOTS : memo->nslots * 2;
	StrataMemoEntry *slots;

	if (memo->mcxt == NULL)
		memo->mcxt = AllocSetContextCreate(memo->owner, "strata memo",
										   ALLOCSET_DEFAULT_SIZES);
	if (memo->nvalues < memo->nslots / 2)
		return;
	slots = MemoryContextAllocZero(memo->mcxt,
								   nslots * sizeof(StrataMemoEntry));
	put_in_slots(memo, slots, nslots);
	if (memo->slots != NULL)
		pfree(memo->slots);
	memo->slots = slots;
	memo->nslots = nslots;
}

/* False: the look-ups of this kind are given up. */
static inline bool
count_lookup(MemoTrial *trial, int size)
{
	if (trial->off)
		return false;
	if (unlikely(trial->tried >= size))
	{
		trial->off = trial->missed > size / 4 * 3;
		trial->tried = trial->missed = 0;
	}
	trial->tried++;
	return !trial->off;
}

/* See expr.h. */
StrataMemoEntry *
strata_memo_find(StrataMemo *memo, StrataMemoUse use, Datum value)
{
	MemoTrial  *trial = &memo->trials[use];
	StrataMemoEntry *entry;
	const char *bytes;
	uint64		low;
	uint64		high;
	uint32		len;
	uint32		hash;
	uint32		slot;

	if (!count_lookup(trial, trial_size[use]))
		return NULL;
	if (!bytes_of_value(memo, value, &bytes, &len))
	{
		trial->missed++;
		return NULL;
	}
	make_slot(memo);
	strata_load_words(bytes, len, &low, &high);
	hash = len <= 2 * sizeof(uint64) ?
		strata_hash_word(low * 31 + high + len) :
		hash_bytes((const unsigned char *) bytes, (int) len);
	for (slot = hash & (memo->nslots - 1); memo->slots[slot].used;
		 slot = (slot + 1) & (memo->nslots - 1))
	{
		entry = &memo->slots[slot];
		if (entry->hash == hash && entry->len == len && entry->low == low &&
			entry->high == high &&
			(len <= 2 * sizeof(uint64) ||
			 memcmp(entry->bytes, bytes, len) == 0))
			return entry;
	}
	trial->missed++;
	if (memo->nvalues >= MAX_VALUES || memo->used + len > MAX_MEMORY)
		return NULL;
	entry = &memo->slots[slot];
	Assert(!entry->known);		/* expr:E5 */
	if (len > 2 * sizeof(uint64))
	{
		entry->bytes = MemoryContextAlloc(memo->mcxt, len);
		memcpy(entry->bytes, bytes, len);
		memo->used += len;
	}
	entry->used = true;
	entry->hash = hash;
	entry->len = len;
	entry->low = low;
	entry->high = high;
	memo->nvalues++;
	return entry;
}

/* See expr.h. */
void
strata_memo_put(StrataMemo *memo, StrataMemoEntry *entry, uint64 result,
				bool isnull)
{
	Assert(entry->used && !entry->known);	/* expr:E5 */
	entry->result = result;
	entry->isnull = isnull;
	entry->known = true;
}

/* See expr.h.  Of results of the same bytes there is one copy, mostly. */
Datum
strata_memo_put_copy(StrataMemo *memo, StrataMemoEntry *entry, Datum result,
					 int16 typlen)
{
	Size		size = datumGetSize(result, false, typlen);
	StrataMemoEntry *same;
	MemoryContext old;

	if (size > MAX_BYTES || memo->used + size > MAX_MEMORY)
		return result;
	if (memo->results == NULL)
		memo->results = new_memo(memo->owner, typlen);
	same = strata_memo_find(memo->results, STRATA_MEMO_ENTRIES, result);
	if (same != NULL && same->known)
		result = (Datum) same->result;
	else
	{
		old = MemoryContextSwitchTo(memo->mcxt);
		result = datumCopy(result, false, typlen);
		MemoryContextSwitchTo(old);
		memo->used += size;
		if (same != NULL)
			strata_memo_put(memo->results, same, result, false);
	}
	strata_memo_put(memo, entry, result, false);
	return result;
}

/* See expr.h. */
bool
strata_memo_find_number(const StrataMemo *memo, uint64 numbering,
						uint16 number, uint64 *result, bool *isnull)
{
	const NumberedResult *known;

	if (memo->numbering != numbering || number >= memo->nnumbered)
		return false;
	known = &memo->numbered[number];
	*result = known->result;
	*isnull = known->isnull;
	return known->known;
}

/* Have a place for the result of a number; STRATA_NO_STRING is above them. */
static void
make_numbered(StrataMemo *memo, uint64 numbering, uint16 number)
{
	uint32		size = pg_nextpower2_32(Max(number + 1, FIRST_NUMBERED));
	NumberedResult *numbered = memo->numbered;

	if (memo->numbering != numbering && numbered != NULL)
		memset(numbered, 0, sizeof(NumberedResult) * memo->nnumbered);
	memo->numbering = numbering;
	if (number < memo->nnumbered)
		return;
	Assert(size <= STRATA_MAX_STRINGS); /* batch:B16 */
	memo->numbered = MemoryContextAllocZero(memo->mcxt,
											sizeof(NumberedResult) * size);
	if (numbered != NULL)
	{
		memcpy(memo->numbered, numbered,
			   sizeof(NumberedResult) * memo->nnumbered);
		pfree(numbered);
	}
	memo->nnumbered = size;
}

/* See expr.h. */
void
strata_memo_put_number(StrataMemo *memo, uint64 numbering, uint16 number,
					   Datum value)
{
	StrataMemoEntry *entry;

	if (number == STRATA_NO_STRING)
		return;
	entry = strata_memo_find(memo, STRATA_MEMO_ENTRIES, value);
	if (entry == NULL || !entry->known)
		return;
	make_numbered(memo, numbering, number);
	memo->numbered[number] = (NumberedResult)
	{
		true, entry->isnull, entry->result
	};
}
