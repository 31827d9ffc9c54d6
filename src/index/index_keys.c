/*-------------------------------------------------------------------------
 *
 * index_keys.c
 *	  Hashes of the keys that an index of the table has for a batch.
 *
 * GIN's operator classes take keys from values (extractValue): words of a
 * text, elements of an array, paths of a document.  An entry of a run is a
 * key's hash, with its column and kind, so that a run has all columns of the
 * index; a batch has each key once, however many of its rows have it.
 *
 * Of a b-tree or hash index on an expression, or of some rows, the values of
 * the first column are the keys.  Where the index has a predicate, one more
 * key says that the batch has a row of it.
 *
 * Values of the batch are taken one by one; a batch of more keys than
 * STRATA_INDEX_KEYS_MAX has one entry that says so, and is always read.
 *
 * src/index/index_keys.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"
#include "pg/pg.h"

#include "catalog/pg_am_d.h"
#include "fmgr.h"
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
	StrataGin  *gin;			/* NULL: values are the keys */
	int			n_columns;		/* whose values have keys */
	bool		partial;
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
	keys->n_columns = 1;
	if (index->rd_rel->relam == GIN_AM_OID)
	{
		keys->gin = strata_gin_open(index);
		keys->n_columns = index->rd_index->indnkeyatts;
	}
	keys->partial = !heap_attisnull(index->rd_indextuple,
									Anum_pg_index_indpred, NULL);
	keys->work = AllocSetContextCreate(CurrentMemoryContext,
									   "strata keys of a value",
									   ALLOCSET_DEFAULT_SIZES);
	for (int i = 0; i < keys->n_columns; i++)
	{
		Oid			type = keys->gin == NULL ?
		strata_index_first_type(index->rd_indextuple) :
		TupleDescAttr(RelationGetDescr(index), i)->atttypid;
		Oid			function = strata_index_type_hash(type,
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
	if (keys->gin != NULL)
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
									 keys->gin == NULL ?
									 keys->index->rd_indcollation[column] :
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

/* Add the keys of a column of the batch; nulls have none. */
static void
add_column_keys(StrataBatchKeys *keys, int column, StrataIndexValues *values)
{
	Datum		value;
	bool		isnull;

	strata_index_values_start(values, column);
	while (!keys->any && strata_index_values_next(values, &value, &isnull))
	{
		if (isnull)
			continue;
		if (keys->gin == NULL)
			add_key_hash(keys, strata_index_key_hash(keys, column, value,
													 false));
		else
			add_value_keys(keys, column, value);
	}
}

/* See index_class_private.h. */
int
strata_index_keys_of_batch(StrataBatchKeys *keys, StrataIndexValues *values,
						   StrataBatchReader *reader, const uint32 **hashes)
{
	static const uint32 any_key = STRATA_INDEX_KEY_ANY;

	keys->n = 0;
	keys->any = false;
	*hashes = NULL;
	if (!strata_index_values_load(values, reader))
		return 0;
	if (keys->slots != NULL)
		memset(keys->slots, 0, sizeof(uint32) * keys->nslots);
	if (keys->partial)
		add_key_hash(keys, STRATA_INDEX_KEY_SOME);
	for (int i = 0; i < keys->n_columns; i++)
		add_column_keys(keys, i, values);
	Assert(keys->n <= STRATA_INDEX_KEYS_MAX);	/* index:I7 */
	*hashes = keys->any ? &any_key : keys->hashes;
	return keys->any ? 1 : keys->n;
}
