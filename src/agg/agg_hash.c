/*-------------------------------------------------------------------------
 *
 * agg_hash.c
 *	  Groups by their keys, in memory.
 *
 * Groups stand in chunks, in the order they came.  What leads to them are
 * slots by hash value.  Where the one key is an integer and groups are many of
 * those that there could be between the least and the greatest, an array by
 * the key's distance from the least is smaller, and one look leads to the
 * group.  It is made when slots would have to grow, and given up for them when
 * a key comes that is too far away.
 *
 * What does not fit into memory is agg_beyond.c's.
 *
 * Over 600 lines: keys are hashed, compared and looked up in one place, so
 * that compilers see all of it.
 *
 * src/agg/agg_hash.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_table_private.h"

#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"

#define INITIAL_SLOTS 256
#define INITIAL_CHUNKS 32
/* Groups are allocated together, in what aset.c hands out without waste. */
#define CHUNK_SIZE 8192
/* Chunks begin with a line of the processor's cache. */
#define LINE_SIZE 64
/* Of eight slots seven may be taken. */
#define SLOTS_FOR(ngroups) ((uint64) (ngroups) + (ngroups) / 7)
#define NULL_HASH 0x9e3779b9
/* Groups that fill so much of the memory stay in it. */
#define KEPT_EIGHTHS 5
/* At least so many may come behind so many of them. */
#define LEAST_LATE(nkept) ((nkept) / 8 + 128)
/*
 * A small limit is a few blocks of memory, and writing groups to disk costs
 * more than the one that did not fit: strata.agg_least_groups fit into any
 * limit, unless they take more bytes than this.
 */
#define LEAST_BYTES (512 * 1024)
/* The same of groups that are still to be combined into those of other sets. */
#define LEAST_FINEST 128
#define LEAST_FINEST_BYTES (128 * 1024)
/* An array by the key has so many entries for each group, at most. */
#define DIRECT_PER_GROUP 4

/* Slots for so many groups, free. */
static void
make_slots(AggTable *table, uint64 ngroups)
{
	table->nslots = INITIAL_SLOTS;
	while (SLOTS_FOR(ngroups) > table->nslots)
		table->nslots *= 2;
	table->slots = MemoryContextAllocExtended(table->mcxt,
											  sizeof(AggSlot) *
											  table->nslots,
											  MCXT_ALLOC_HUGE |
											  MCXT_ALLOC_ZERO);
}

/* See agg_table_private.h. */
void
strata_agg_table_start(AggTable *table)
{
	make_slots(table, 0);
	table->direct = NULL;
	table->ndirect = 0;
	table->null_place = 0;
	table->may_direct = strata_enable_key_codes && table->agg->sets == NULL &&
		table->agg->nkeys == 1 && table->by_image &&
		table->agg->keys[0].typbyval;
	table->ngroups = 0;
	table->nchunks = 0;
	table->space = INITIAL_CHUNKS;
	table->chunks = MemoryContextAlloc(table->mcxt,
									   sizeof(char *) * table->space);
	memset(table->last_keys, 0, sizeof(Datum) * table->agg->nkeys);
	table->last = NULL;
	table->ordered = NULL;
	table->nordered = 0;
	table->nkept = 0;
	table->late_mcxt = NULL;
	table->agg->has_sums = false;
}

/*
 * Is there nothing to a group that its cells and keys do not hold?  Sums of
 * numerics may outgrow them (has_sums).
 */
static bool
has_plain_cells(StrataAggState *agg)
{
	for (int i = 0; i < agg->ncalls; i++)
	{
		const AggCall *call = &agg->calls[i];

		if (call->hold != NULL ||
			(call->generic != NULL &&
			 !strata_agg_generic_adds_numerics(call->generic)) ||
			call->kernel->result == AGG_RESULT_BEST ||
			(call->kernel->result == AGG_RESULT_PICK && !call->resultbyval))
			return false;
	}
	return agg->sets == NULL;
}

static bool
holds_rows(StrataAggState *agg)
{
	for (int i = 0; i < agg->ncalls; i++)
		if (agg->calls[i].hold != NULL)
			return true;
	return false;
}

/* Memory: the current context; groups in mcxt. */
AggTable *
strata_agg_table_create(StrataAggState *agg, MemoryContext mcxt)
{
	AggTable   *table = palloc0(sizeof(AggTable));

	Assert(agg->nkeys <= 8 *
		   sizeof(((AggGroup *) NULL)->nulls)); /* agg:G3 */
	Assert(agg->sets == NULL || agg->nkeys <= AGG_SET_SHIFT);	/* agg:G23 */
	table->agg = agg;
	table->mcxt = mcxt;
	table->limit = get_hash_memory_limit();
	table->least = strata_agg_least_groups;
	table->least_bytes = LEAST_BYTES;
	/* groups of other sets come on top; at worst as many of each */
	if (agg->sets != NULL)
	{
		int			nsets = strata_agg_sets_count(agg->sets) + 1;

		table->limit /= nsets;
		table->least = Min(table->least,
						   Max(table->least / nsets, LEAST_FINEST));
		table->least_bytes = Max(LEAST_BYTES / nsets, LEAST_FINEST_BYTES);
	}
	table->by_image = true;
	for (int k = 0; k < agg->nkeys; k++)
		table->by_image &= agg->keys[k].by_image;
	table->group_size = MAXALIGN(sizeof(AggGroup) +
								 sizeof(Datum) * agg->nkeys +
								 agg->cells_size);
	table->chunk_groups = (uint32) Max((CHUNK_SIZE - LINE_SIZE) /
									   table->group_size, 1);
	Assert(table->chunk_groups <= 1 << AGG_CHUNK_BITS); /* agg:G8 */
	table->last_keys = palloc0(sizeof(Datum) * agg->nkeys);
	table->by_sort = !strata_enable_spill_files || holds_rows(agg);
	table->may_keep = !table->by_sort && has_plain_cells(agg);
	table->keeps = table->may_keep;
	strata_agg_table_start(table);
	return table;
}

/* datum_image_hash() of a value that is plain, but of few bytes in a hurry. */
static inline uint32
hash_plain(const struct varlena *plain)
{
	Size		len = VARSIZE_ANY_EXHDR(plain);
	uint64		low;
	uint64		high;

	if (len > 2 * sizeof(uint64))
		return datum_image_hash(PointerGetDatum(plain), false, -1);
	strata_load_words(VARDATA_ANY(plain), len, &low, &high);
	return strata_hash_word(low + strata_hash_word(high + len));
}

/* The same bytes must have the same hash, however they are kept. */
static inline uint32
hash_image(Datum value, int16 typlen)
{
	struct varlena *plain;
	uint32		hash;

	if (typlen != -1)
		return datum_image_hash(value, false, typlen);
	if (strata_varlena_is_plain(DatumGetPointer(value)))
		return hash_plain((struct varlena *) DatumGetPointer(value));
	plain = PG_DETOAST_DATUM_PACKED(value);
	hash = hash_plain(plain);
	pfree(plain);
	return hash;
}

static inline uint32
hash_datum(AggKey *key)
{
	if (!key->by_image)
		return DatumGetUInt32(FunctionCall1Coll(&key->hash, key->collation,
												key->current));
	if (key->typbyval)
		return strata_hash_word((uint64) key->current);
	return hash_image(key->current, key->typlen);
}

/* See agg_table_private.h. */
uint32
strata_agg_hash_keys(StrataAggState *agg)
{
	uint32		hash = agg->set;

	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];

		hash = hash_combine(hash, key->isnull ? NULL_HASH : hash_datum(key));
	}
	return hash;
}

/* Is the key of a group, which is not null, the current one? */
static inline bool
same_key(AggKey *key, Datum value)
{
	if (!key->by_image)
		return DatumGetBool(FunctionCall2Coll(&key->eq, key->collation, value,
											  key->current));
	return key->typbyval ? value == key->current :
		agg_same_image(value, key->current, key->typlen);
}

static inline bool
same_keys(StrataAggState *agg, const AggGroup *group)
{
	if (agg->sets != NULL && agg_group_set(group) != agg->set)
		return false;
	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];
		bool		isnull = (group->nulls >> k) & 1;

		if (isnull != key->isnull)
			return false;
		if (isnull)
			continue;
		if (!same_key(key, agg_group_keys(group)[k]))
			return false;
	}
	return true;
}

/* See agg_table_private.h. */
bool
strata_agg_same_keys(StrataAggState *agg, const AggGroup *group)
{
	return same_keys(agg, group);
}

/*-------------------------------------------------------------------------
 * The way to groups
 *-------------------------------------------------------------------------
 */

static void
enter_slot(AggTable *table, uint32 hash, uint32 place)
{
	uint32		i = hash & (table->nslots - 1);

	while (table->slots[i].place != 0)
		i = (i + 1) & (table->nslots - 1);
	table->slots[i].hash = hash;
	table->slots[i].place = place;
}

static void
drop_ways(AggTable *table)
{
	if (table->slots != NULL)
		pfree(table->slots);
	if (table->direct != NULL)
		pfree(table->direct);
	table->slots = NULL;
	table->nslots = 0;
	table->direct = NULL;
	table->ndirect = 0;
	table->null_place = 0;
}

/* Slots, with room for so many groups, in the place of what there is. */
static void
take_slots(AggTable *table, uint64 ngroups)
{
	drop_ways(table);
	make_slots(table, ngroups);
	for (uint32 i = 0; i < table->ngroups; i++)
	{
		uint32		place = agg_place_of(table, i);

		enter_slot(table, agg_group_at(table, place)->hash, place);
	}
}

/* Least and greatest key of all groups; false: there is none but null. */
static bool
bounds_of_keys(const AggTable *table, int64 *min, int64 *max)
{
	*min = PG_INT64_MAX;
	*max = PG_INT64_MIN;
	for (uint32 i = 0; i < table->ngroups; i++)
	{
		const AggGroup *group = agg_group_at(table, agg_place_of(table, i));
		int64		key = (int64) agg_group_keys(group)[0];

		if (group->nulls != 0)
			continue;
		*min = Min(*min, key);
		*max = Max(*max, key);
	}
	return *min <= *max;
}

static void
enter_direct(AggTable *table, const AggGroup *group, uint32 place)
{
	uint64		at = (uint64) agg_group_keys(group)[0] - (uint64) table->base;

	if (group->nulls != 0)
	{
		table->null_place = place;
		return;
	}
	Assert(at < table->ndirect);	/* agg:G3 */
	table->direct[at] = place;
}

/*
 * Have an array by the key, if that does not take too much room for the groups
 * that are there; false: it does.  There is room for as many keys again as
 * lie beyond their bounds, half of it on each side.
 */
static bool
take_direct(AggTable *table)
{
	int64		min;
	int64		max;
	uint64		range;

	if (!table->may_direct || !bounds_of_keys(table, &min, &max))
		return false;
	range = (uint64) max - (uint64) min;
	if (range >= (uint64) table->ngroups * DIRECT_PER_GROUP / 2 ||
		min < PG_INT64_MIN / 2 || max > PG_INT64_MAX / 2)
		return false;
	drop_ways(table);
	table->base = min - (int64) (range / 4);
	table->ndirect = range + range / 2 + 2;
	table->direct = MemoryContextAllocExtended(table->mcxt, sizeof(uint32) *
											   table->ndirect,
											   MCXT_ALLOC_HUGE |
											   MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < table->ngroups; i++)
	{
		uint32		place = agg_place_of(table, i);

		enter_direct(table, agg_group_at(table, place), place);
	}
	return true;
}

/* The place of a key's value in the array; 0: it is not there. */
static inline uint32
direct_place(const AggTable *table, Datum value, bool isnull)
{
	uint64		at = (uint64) value - (uint64) table->base;

	if (isnull)
		return table->null_place;
	return at < table->ndirect ? table->direct[at] : 0;
}

/* Have the newest group, which stands there, be found. */
static void
enter_newest(AggTable *table, const AggGroup *group, uint32 place)
{
	if (table->direct != NULL)
	{
		if (group->nulls != 0 ||
			(uint64) agg_group_keys(group)[0] - (uint64) table->base <
			table->ndirect)
		{
			enter_direct(table, group, place);
			return;
		}
		/* it is among the groups, whatever is made of them now */
		if (!take_direct(table))
		{
			table->may_direct = false;
			take_slots(table, table->ngroups);
		}
		return;
	}
	if (SLOTS_FOR(table->ngroups) <= table->nslots)
		enter_slot(table, group->hash, place);
	else if (!take_direct(table))
		take_slots(table, table->ngroups);
}

/*-------------------------------------------------------------------------
 * Making groups
 *-------------------------------------------------------------------------
 */

/*
 * Have the groups stay that are in memory now, if it is time to: there must be
 * room for some more, in slots as well.
 */
static void
keep_groups(AggTable *table)
{
	if (!table->keeps || table->nkept > 0 || table->ngroups == 0 ||
		table->agg->has_sums || table->ngroups < table->least / 2 ||
		MemoryContextMemAllocated(table->mcxt, true) <
		table->limit / 8 * KEPT_EIGHTHS)
		return;
	table->nkept = table->ngroups;
	if (table->direct == NULL &&
		SLOTS_FOR((uint64) table->ngroups / 4 * 5) > table->nslots)
		take_slots(table, (uint64) table->ngroups / 4 * 5);
	memset(table->last_keys, 0, sizeof(Datum) * table->agg->nkeys);
	table->late_mcxt = AllocSetContextCreate(table->mcxt,
											 "StrataAgg later groups", 0,
											 ALLOCSET_DEFAULT_INITSIZE,
											 AGG_GROUP_BLOCK);
}

/* Where groups that come now, and their keys, live. */
static inline MemoryContext
place_of_groups(const AggTable *table)
{
	return table->nkept > 0 ? table->late_mcxt : table->mcxt;
}

/* Room for the next groups. */
static void
add_chunk(AggTable *table)
{
	Size		size = Max(CHUNK_SIZE, table->group_size + LINE_SIZE);

	keep_groups(table);
	if (table->nchunks == table->space)
	{
		table->space *= 2;
		table->chunks = repalloc_huge(table->chunks,
									  sizeof(char *) * table->space);
	}
	table->chunks[table->nchunks++] = (char *)
		TYPEALIGN(LINE_SIZE, MemoryContextAlloc(place_of_groups(table),
												size));
}

/* A copy of a key by reference; that of the group before, if it is the same. */
static Datum
copy_key(AggTable *table, int k)
{
	const AggKey *key = &table->agg->keys[k];
	Datum	   *last = &table->last_keys[k];

	if (*last == 0 || !agg_same_image(*last, key->current, key->typlen))
		*last = datumCopy(key->current, false, key->typlen);
	return *last;
}

/* See agg_table_private.h. */
AggGroup *
strata_agg_table_add(AggTable *table, uint32 hash)
{
	StrataAggState *agg = table->agg;
	MemoryContext old;
	AggGroup   *group;
	uint32		place;

	if (table->ngroups % table->chunk_groups == 0)
		add_chunk(table);
	place = agg_place_of(table, table->ngroups++);
	group = agg_group_at(table, place);
	old = MemoryContextSwitchTo(place_of_groups(table));
	group->hash = hash;
	group->nulls = agg->set << AGG_SET_SHIFT;
	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];

		agg_group_keys(group)[k] = (Datum) 0;
		if (key->isnull)
			group->nulls |= (uint32) 1 << k;
		else
			agg_group_keys(group)[k] = key->typbyval ? key->current :
				copy_key(table, k);
	}
	strata_agg_init_cells(agg, agg_group_cells(group, agg->nkeys));
	MemoryContextSwitchTo(old);
	enter_newest(table, group, place);
	return group;
}

/* See agg_table_private.h. */
void
strata_agg_table_forget_late(AggTable *table)
{
	Assert(table->nkept > 0 &&
		   table->nkept % table->chunk_groups == 0);	/* agg:G25 */
	table->nchunks = table->nkept / table->chunk_groups;
	memset(table->last_keys, 0, sizeof(Datum) * table->agg->nkeys);
	table->last = NULL;
	table->ngroups = table->nkept;
	if (table->direct == NULL)
	{
		take_slots(table, (uint64) table->nkept / 4 * 5);
		return;
	}
	memset(table->direct, 0, sizeof(uint32) * table->ndirect);
	table->null_place = 0;
	for (uint32 i = 0; i < table->ngroups; i++)
	{
		uint32		place = agg_place_of(table, i);

		enter_direct(table, agg_group_at(table, place), place);
	}
}

/*-------------------------------------------------------------------------
 * Finding groups
 *-------------------------------------------------------------------------
 */

/* See agg_table_private.h. */
AggGroup *
strata_agg_table_find_hashed(const AggTable *table, uint32 hash)
{
	const AggKey *key = &table->agg->keys[0];

	if (table->direct != NULL)
	{
		uint32		place = direct_place(table, key->current, key->isnull);

		return place == 0 ? NULL : agg_group_at(table, place);
	}
	for (uint32 i = hash & (table->nslots - 1); table->slots[i].place != 0;
		 i = (i + 1) & (table->nslots - 1))
	{
		AggGroup   *group;

		if (table->slots[i].hash != hash)
			continue;
		group = agg_group_at(table, table->slots[i].place);
		if (same_keys(table->agg, group))
			return group;
	}
	return NULL;
}

/*
 * The group of the keys' current values, or NULL.  Functions of types leave
 * nothing behind.
 */
static AggGroup *
find(AggTable *table, uint32 *hash_out)
{
	MemoryContext old = MemoryContextSwitchTo(table->agg->vector_mcxt);
	AggGroup   *group;

	*hash_out = strata_agg_hash_keys(table->agg);
	group = strata_agg_table_find_hashed(table, *hash_out);
	MemoryContextSwitchTo(old);
	return group;
}

/* See agg_group_private.h. */
AggGroup *
strata_agg_table_find(AggTable *table)
{
	StrataAggState *agg = table->agg;
	uint32		hash;
	AggGroup   *group;

	if (table->by_image && table->last != NULL && same_keys(agg, table->last))
		return table->last;
	group = find(table, &hash);
	if (group == NULL)
		group = strata_agg_table_add(table, hash);
	table->last = group;
	return group;
}

/* See agg_group_private.h. */
AggGroup *
strata_agg_table_lookup(AggTable *table)
{
	uint32		hash;

	return find(table, &hash);
}

/*-------------------------------------------------------------------------
 * Many at a time
 *-------------------------------------------------------------------------
 */

/* So many look-ups' memory is asked for before it is read. */
#define LOOKAHEAD 64

static inline void
set_current(AggKey *key, const AggKeyValues *values, int i)
{
	key->isnull = values->nulls != NULL && values->nulls[i];
	key->current = values->values[i];
}

/* hash_keys() of n combinations. */
static void
hash_many(StrataAggState *agg, const AggKeyValues *values, int from, int n,
		  uint32 *hashes)
{
	for (int i = 0; i < n; i++)
		hashes[i] = agg->set;
	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];
		const Datum *v = values[k].values;
		uint32		hash;

		if (v == NULL)
		{
			hash = key->isnull ? NULL_HASH : hash_datum(key);
			for (int i = 0; i < n; i++)
				hashes[i] = hash_combine(hashes[i], hash);
		}
		else if (key->by_image && key->typbyval && values[k].nulls == NULL)
			for (int i = 0; i < n; i++)
				hashes[i] = hash_combine(hashes[i],
										 strata_hash_word((uint64) v[from +
																	 i]));
		else
			for (int i = 0; i < n; i++)
			{
				set_current(key, &values[k], from + i);
				hash = key->isnull ? NULL_HASH : hash_datum(key);
				hashes[i] = hash_combine(hashes[i], hash);
			}
	}
}

/*
 * For each hash the first group that has it, or NULL: most likely the one.
 * Step by step for all of them, so that their memory is waited for together.
 */
static void
guess_many(AggTable *table, const uint32 *hashes, int n, AggGroup **guesses)
{
	uint32		places[LOOKAHEAD];
	uint32		mask = table->nslots - 1;

	Assert(n <= LOOKAHEAD);		/* agg:G3 */
	for (int i = 0; i < n; i++)
		__builtin_prefetch(&table->slots[hashes[i] & mask]);
	for (int i = 0; i < n; i++)
	{
		uint32		slot = hashes[i] & mask;

		while (table->slots[slot].place != 0 &&
			   table->slots[slot].hash != hashes[i])
			slot = (slot + 1) & mask;
		places[i] = table->slots[slot].place;
	}
	for (int i = 0; i < n; i++)
	{
		guesses[i] = places[i] == 0 ? NULL : agg_group_at(table, places[i]);
		if (guesses[i] == NULL)
			continue;
		__builtin_prefetch(guesses[i]);
		__builtin_prefetch((char *) guesses[i] + table->group_size - 1);
	}
	for (int k = 0; k < table->agg->nkeys; k++)
	{
		if (table->agg->keys[k].typbyval)
			continue;
		for (int i = 0; i < n; i++)
		{
			const Datum *v;

			if (guesses[i] == NULL)
				continue;
			v = agg_group_keys(guesses[i]);
			__builtin_prefetch(DatumGetPointer(v[k]));
		}
	}
}

/* Make the values current, of which not all are the same. */
static inline void
set_current_keys(StrataAggState *agg, const AggKeyValues *keys, int i)
{
	for (int k = 0; k < agg->nkeys; k++)
		if (keys[k].values != NULL)
			set_current(&agg->keys[k], &keys[k], i);
}

/* Look up [from, from + n) by hash values. */
static void
find_by_hash(AggTable *table, const AggKeyValues *keys, int from, int n,
			 AggGroup **groups)
{
	StrataAggState *agg = table->agg;
	uint32		hashes[LOOKAHEAD];

	hash_many(agg, keys, from, n, hashes);
	guess_many(table, hashes, n, groups + from);
	for (int i = 0; i < n; i++)
	{
		AggGroup  **group = &groups[from + i];

		set_current_keys(agg, keys, from + i);
		if (*group != NULL && same_keys(agg, *group))
			continue;
		/* one of those before it may have made it */
		*group = strata_agg_table_find_hashed(table, hashes[i]);
		if (*group == NULL)
			*group = strata_agg_table_add(table, hashes[i]);
	}
}

/* The same by the one key. */
static void
find_by_key(AggTable *table, const AggKeyValues *values, int from, int n,
			AggGroup **groups)
{
	AggKey	   *key = &table->agg->keys[0];

	for (int i = from; i < from + n; i++)
	{
		uint32		place;

		if (values->values != NULL)
			set_current(key, values, i);
		place = direct_place(table, key->current, key->isnull);
		if (place != 0)
		{
			groups[i] = agg_group_at(table, place);
			__builtin_prefetch(groups[i]);
			__builtin_prefetch((char *) groups[i] + table->group_size - 1);
			continue;
		}
		groups[i] = strata_agg_table_find(table);
	}
}

/* See agg_group_private.h. */
void
strata_agg_table_find_many(AggTable *table, const AggKeyValues *keys, int n,
						   AggGroup **groups)
{
	for (int from = 0; from < n; from += LOOKAHEAD)
	{
		int			m = Min(LOOKAHEAD, n - from);

		if (table->direct != NULL)
			find_by_key(table, keys, from, m, groups);
		else
			find_by_hash(table, keys, from, m, groups);
	}
}

/* Do the groups take more than that part of their memory? */
static bool
outgrows(const AggTable *table, int part)
{
	Size		taken = MemoryContextMemAllocated(table->mcxt, true);

	/* what is read back is of all sets */
	uint32		least = table->collected ? strata_agg_least_groups :
	table->least;
	Size		bytes = table->collected ? LEAST_BYTES : table->least_bytes;

	return taken > table->limit / part &&
		(table->ngroups > least / part || taken > bytes / part);
}

/* See agg_group_private.h. */
bool
strata_agg_table_is_full(AggTable *table)
{
	/* what was read from disk has to be divided further */
	if (table->files != NULL && !strata_agg_spill_divides(table->files))
		return false;
	if (table->nkept > 0 &&
		table->ngroups < table->nkept + LEAST_LATE(table->nkept))
		return false;
	return table->ngroups > 0 &&
		(outgrows(table, 1) || table->nchunks > AGG_MAX_CHUNKS);
}

/* See agg_group_private.h. */
bool
strata_agg_table_is_half_full(const AggTable *table)
{
	return outgrows(table, 2);
}

/*-------------------------------------------------------------------------
 * Reading
 *-------------------------------------------------------------------------
 */

/* See agg_group_private.h. */
void
strata_agg_table_finish(AggTable *table)
{
	table->next = 0;
	if (!agg_is_on_disk(table))
		agg_complete_sets(table);
	table->peak = Max(table->peak,
					  MemoryContextMemAllocated(table->mcxt, true));
	if (agg_is_on_disk(table))
		strata_agg_table_settle(table);
}

/* The next of those in memory; NULL: there is none. */
static inline AggGroup *
next_in_memory(AggTable *table)
{
	if (table->ordered != NULL)
		return table->next < table->nordered ?
			table->ordered[table->next++] : NULL;
	while (table->next < table->ngroups)
	{
		AggGroup   *group = strata_agg_table_group(table, table->next++);

		if (agg_is_wanted(table, group))
			return group;
	}
	return NULL;
}

/* See agg_group_private.h. */
AggGroup *
strata_agg_table_next(AggTable *table)
{
	AggGroup   *group;

	while ((group = next_in_memory(table)) == NULL && agg_is_on_disk(table))
	{
		if (!strata_agg_table_read_back(table))
		{
			table->ngroups = 0;
			return NULL;
		}
		table->next = 0;
	}
	return group;
}

/* See agg_group_private.h. */
uint32
strata_agg_table_ngroups(const AggTable *table)
{
	return table->ngroups;
}

/* See agg_group_private.h. */
AggGroup *
strata_agg_table_group(const AggTable *table, uint32 number)
{
	Assert(number < table->ngroups);	/* agg:G3 */
	return agg_group_at(table, agg_place_of(table, number));
}

/* See agg_group_private.h. */
AggGroup **
strata_agg_table_groups(AggTable *table, uint32 *ngroups)
{
	*ngroups = 0;
	if (agg_is_on_disk(table))
		return NULL;
	/* nothing is looked up any more */
	drop_ways(table);
	table->ordered = MemoryContextAllocHuge(table->mcxt, sizeof(AggGroup *) *
											Max(table->ngroups, 1));
	for (uint32 i = 0; i < table->ngroups; i++)
	{
		AggGroup   *group = strata_agg_table_group(table, i);

		if (agg_is_wanted(table, group))
			table->ordered[table->nordered++] = group;
	}
	*ngroups = table->nordered;
	return table->ordered;
}

void
strata_agg_table_reset(AggTable *table)
{
	table->peak = Max(table->peak,
					  MemoryContextMemAllocated(table->mcxt, true));
	strata_agg_table_drop_spilled(table);
	table->collected = false;
	table->keeps = table->may_keep;
	table->pending = false;
	table->merged = NIL;
	table->next = 0;
	MemoryContextReset(table->mcxt);
	strata_agg_table_start(table);
}

void
strata_agg_table_end(AggTable *table)
{
	strata_agg_table_drop_spilled(table);
	if (table->sort_slot != NULL)
		ExecDropSingleTupleTableSlot(table->sort_slot);
	pfree(table->last_keys);
	pfree(table);
}

Size
strata_agg_table_memory(const AggTable *table)
{
	return table->peak;
}

int
strata_agg_table_spills(const AggTable *table)
{
	return table->spills;
}
