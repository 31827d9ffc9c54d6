/*-------------------------------------------------------------------------
 *
 * index_keys.c
 *	  Hashes of the keys that a GIN index of the table has for a batch.
 *
 * The operator classes take keys from values (extractValue): words of a text,
 * elements of an array, paths of a document.  An entry of a run is a key's
 * hash, with its column and kind, so that a run has all columns of the index;
 * a batch has each key once, however many of its rows have it.
 *
 * Values of the batch are taken one by one; a batch of more keys than
 * STRATA_INDEX_KEYS_MAX has one entry that says so, and is always read.
 *
 * src/index/index_keys.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"
#include "pg/pg.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Slots of the set of hashes at first; a power of two. */
#define SLOTS_MIN 1024

/* What is no key; kept, as hashes of runs are. */
#define HASH_NULL_KEY ((uint32) 0x9747b28c)
#define HASH_NO_KEY ((uint32) 0x1b873593)

/* Columns' hashes differ; the first column's are those of its keys. */
#define HASH_OF_COLUMN(column) ((uint32) (column) * (uint32) 0x9e3779b9)

struct StrataBatchKeys
{
	MemoryContext mcxt;			/* hashes */
	MemoryContext work;			/* keys of a value */
	Relation	index;
	StrataGin  *gin;
	FmgrInfo	functions[INDEX_MAX_KEYS];	/* by column */
	/* of a batch: each hash once, and where it is in hashes, from 1 */
	int			n;
	uint32	   *hashes;
	uint32	   *slots;
	uint32		nslots;
	bool		any;			/* there are too many */
};

/* See index_class_private.h. */
StrataBatchKeys *
strata_index_keys_open(Relation index)
{
	StrataBatchKeys *keys = palloc0(sizeof(StrataBatchKeys));

	keys->mcxt = CurrentMemoryContext;
	keys->index = index;
	keys->gin = strata_gin_open(index);
	keys->work = AllocSetContextCreate(CurrentMemoryContext,
									   "strata keys of a value",
									   ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		Oid			function =
		strata_index_type_hash(strata_gin_key_type(keys->gin, i),
							   index->rd_indcollation[i]);

		Assert(OidIsValid(function));	/* index:I5 */
		fmgr_info(function, &keys->functions[i]);
	}
	return keys;
}

/* See index_class_private.h. */
void
strata_index_keys_close(StrataBatchKeys *keys)
{
	strata_gin_close(keys->gin);
	MemoryContextDelete(keys->work);
	if (keys->slots != NULL)
	{
		pfree(keys->slots);
		pfree(keys->hashes);
	}
	pfree(keys);
}

/* See index_class_private.h. */
StrataGin *
strata_index_keys_gin(StrataBatchKeys *keys)
{
	return keys->gin;
}

/* See index_class_private.h. */
uint32
strata_index_key_hash(StrataBatchKeys *keys, int column, Datum key,
					  bool isnull)
{
	uint32		hash = isnull ? HASH_NULL_KEY :
	DatumGetUInt32(FunctionCall1Coll(&keys->functions[column],
									 strata_gin_collation(keys->gin, column),
									 key));

	return hash ^ HASH_OF_COLUMN(column);
}

/* See index_class_private.h. */
uint32
strata_index_key_hash_empty(int column)
{
	return HASH_NO_KEY ^ HASH_OF_COLUMN(column);
}

/* The slot that has the hash, or that it is to be put in. */
static uint32 *
key_slot(StrataBatchKeys *keys, uint32 hash)
{
	/* hashes of small integers are no better than these in their last bits */
	uint32		at = (hash ^ (hash >> 15)) * (uint32) 0x85ebca6b;

	for (at ^= at >> 13;; at++)
	{
		uint32	   *slot = &keys->slots[at & (keys->nslots - 1)];

		if (*slot == 0 || keys->hashes[*slot - 1] == hash)
			return slot;
	}
}

/* Room for twice as many hashes; or for the first. */
static void
grow_keys(StrataBatchKeys *keys)
{
	if (keys->slots == NULL)
	{
		keys->nslots = SLOTS_MIN;
		keys->slots = MemoryContextAllocZero(keys->mcxt, sizeof(uint32) *
											 keys->nslots);
		keys->hashes = MemoryContextAlloc(keys->mcxt, sizeof(uint32) *
										  keys->nslots / 2);
		return;
	}
	keys->nslots *= 2;
	keys->slots = repalloc(keys->slots, sizeof(uint32) * keys->nslots);
	keys->hashes = repalloc(keys->hashes, sizeof(uint32) * keys->nslots / 2);
	memset(keys->slots, 0, sizeof(uint32) * keys->nslots);
	for (int i = 0; i < keys->n; i++)
		*key_slot(keys, keys->hashes[i]) = (uint32) i + 1;
}

static void
add_key_hash(StrataBatchKeys *keys, uint32 hash)
{
	uint32	   *slot;

	if (keys->slots == NULL || (uint32) keys->n == keys->nslots / 2)
		grow_keys(keys);
	slot = key_slot(keys, hash);
	if (*slot != 0)
		return;
	if (keys->n == STRATA_INDEX_KEYS_MAX)
	{
		keys->any = true;
		return;
	}
	keys->hashes[keys->n++] = hash;
	*slot = (uint32) keys->n;
}

/* Add the keys of a value of a column. */
static void
add_value_keys(StrataBatchKeys *keys, int column, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(keys->work);
	Datum	   *found;
	bool	   *isnull;
	int			n = strata_gin_keys(keys->gin, column, value, &found, &isnull);

	if (n == 0)
		add_key_hash(keys, strata_index_key_hash_empty(column));
	for (int i = 0; i < n && !keys->any; i++)
		add_key_hash(keys, strata_index_key_hash(keys, column, found[i],
												 isnull != NULL && isnull[i]));
	MemoryContextSwitchTo(old);
	MemoryContextReset(keys->work);
}

/* Add the keys of a column of the reader's batch; nulls have none. */
static void
add_column_keys(StrataBatchKeys *keys, int column, StrataBatchReader *reader)
{
	AttrNumber	attno = keys->index->rd_index->indkey.values[column];
	const StrataColumn *col = strata_batch_reader_column(reader, attno);
	bool		by_code = !col->constant && col->codes != NULL;
	int			n = by_code ? col->ndict : col->constant ? 1 : reader->nrows;

	for (int i = 0; i < n && !keys->any; i++)
	{
		bool		isnull = false;
		Datum		value = by_code ? col->dict[i] :
		strata_column_get(col, i, &isnull);

		CHECK_FOR_INTERRUPTS();
		if (!isnull)
			add_value_keys(keys, column, value);
	}
}

/* See index_class_private.h. */
int
strata_index_keys_of_batch(StrataBatchKeys *keys, StrataBatchReader *reader,
						   const uint32 **hashes)
{
	static const uint32 any_key = STRATA_INDEX_KEY_ANY;

	keys->n = 0;
	keys->any = false;
	if (keys->slots != NULL)
		memset(keys->slots, 0, sizeof(uint32) * keys->nslots);
	for (int i = 0; i < keys->index->rd_index->indnkeyatts; i++)
		add_column_keys(keys, i, reader);
	Assert(keys->n <= STRATA_INDEX_KEYS_MAX);	/* index:I7 */
	*hashes = keys->any ? &any_key : keys->hashes;
	return keys->any ? 1 : keys->n;
}
