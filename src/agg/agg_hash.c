/*-------------------------------------------------------------------------
 *
 * agg_hash.c
 *	  Groups by their keys, in memory and beyond it.
 *
 * When the groups outgrow work_mem * hash_mem_multiplier, they are written to
 * files by hash value (agg_spill.c), as partial results, and the table starts
 * empty again.  At the end the files are read, one after the other, and what
 * is of the same group is combined.  Where groups are nothing but their cells,
 * those that came first stay in memory until the end, and only those that came
 * behind them are written: of keys that come again and again most rows are of
 * the first.
 *
 * Groups that hold rows go to a sort by hash value instead.  It brings partial
 * results of the same group next to each other, so that the group is alone in
 * memory when they are combined.
 *
 * Over 600 lines: the same few functions find, make and spill groups.
 *
 * src/agg/agg_hash.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_private.h"
#include "agg/agg_spill_private.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/tuplesort.h"

#define INITIAL_SLOTS 256
/* Groups are allocated together, in what aset.c hands out without waste. */
#define CHUNK_SIZE 8192
/* Of four slots three may be taken. */
#define SLOTS_FOR(ngroups) ((ngroups) + (ngroups) / 3)
#define NULL_HASH 0x9e3779b9
/* Groups that fill so much of the memory stay in it. */
#define KEPT_EIGHTHS 5
/* At least so many may come behind so many of them. */
#define LEAST_LATE(nkept) ((nkept) / 8 + 128)
/* Groups read from disk after which memory of their keys is given back. */
#define GROUPS_PER_RESET 256

/* What is looked at before a group is. */
typedef struct AggSlot
{
	uint32		hash;
	uint32		number;			/* of the group, from 1; 0: free */
} AggSlot;

struct AggTable
{
	StrataAggState *agg;
	MemoryContext mcxt;			/* of groups, and their states; reset by
								 * spilling */
	Size		limit;			/* bytes */
	Size		group_size;		/* with its keys and cells */
	/* in memory; all of it in mcxt */
	uint32		nslots;			/* a power of two */
	AggSlot    *slots;
	uint32		ngroups;
	uint32		space;			/* entries of groups */
	AggGroup  **groups;			/* in the order they came */
	char	   *chunk;			/* room for more groups */
	int			chunk_left;
	AggGroup   *last;			/* found last */
	bool		by_image;		/* of all keys */
	/* what stays until the end */
	bool		may_keep;		/* groups are nothing but their cells */
	bool		keeps;			/* and none that could is on disk */
	uint32		nkept;			/* the first groups; 0: none has to yet */
	uint32		kept_slots;		/* nslots when they are alone */
	MemoryContext late_mcxt;	/* below mcxt: groups behind them */
	/* on disk */
	bool		collected;		/* all rows are in */
	int			spills;
	AggSpill   *files;
	bool		by_sort;		/* or: */
	Tuplesortstate *sort;
	TupleDesc	sort_desc;		/* hash, group, number of the spill */
	TupleTableSlot *sort_slot;
	bool		pending;		/* sort_slot has a tuple that is not used yet */
	List	   *merged;			/* groups of one hash value, being handed out */
	/* reading */
	uint32		next;
	Size		peak;
};

static void
start_empty(AggTable *table)
{
	MemoryContext old = MemoryContextSwitchTo(table->mcxt);

	table->nslots = INITIAL_SLOTS;
	table->slots = palloc0(sizeof(AggSlot) * table->nslots);
	table->ngroups = 0;
	table->space = INITIAL_SLOTS;
	table->groups = palloc(sizeof(AggGroup *) * table->space);
	table->chunk_left = 0;
	table->last = NULL;
	table->nkept = 0;
	table->late_mcxt = NULL;
	table->agg->has_sums = false;
	MemoryContextSwitchTo(old);
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
	/* groups of other sets come on top; at worst as many of each */
	if (agg->sets != NULL)
		table->limit /= strata_agg_sets_count(agg->sets) + 1;
	table->by_image = true;
	for (int k = 0; k < agg->nkeys; k++)
		table->by_image &= agg->keys[k].by_image;
	table->group_size = MAXALIGN(sizeof(AggGroup) +
								 sizeof(Datum) * agg->nkeys +
								 sizeof(AggCell) * agg->ncalls);
	table->by_sort = !strata_enable_spill_files || holds_rows(agg);
	table->may_keep = !table->by_sort && has_plain_cells(agg);
	table->keeps = table->may_keep;
	start_empty(table);
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

/* Memory of functions of keys: the current context. */
static uint32
hash_keys(StrataAggState *agg)
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

static void
place(AggTable *table, AggSlot slot)
{
	uint32		i = slot.hash & (table->nslots - 1);

	while (table->slots[i].number != 0)
		i = (i + 1) & (table->nslots - 1);
	table->slots[i] = slot;
}

static void
grow(AggTable *table)
{
	AggSlot    *old = table->slots;
	uint32		nold = table->nslots;

	table->nslots *= 2;
	table->slots = MemoryContextAllocExtended(table->mcxt,
											  sizeof(AggSlot) *
											  table->nslots,
											  MCXT_ALLOC_HUGE |
											  MCXT_ALLOC_ZERO);
	for (uint32 i = 0; i < nold; i++)
		if (old[i].number != 0)
			place(table, old[i]);
	pfree(old);
}

/*
 * Have the groups stay that are in memory now, if it is time to: there must be
 * room for some more, in slots as well.
 */
static void
keep_groups(AggTable *table)
{
	if (!table->keeps || table->nkept > 0 || table->ngroups == 0 ||
		table->agg->has_sums ||
		MemoryContextMemAllocated(table->mcxt, true) <
		table->limit / 8 * KEPT_EIGHTHS)
		return;
	table->nkept = table->ngroups;
	if (SLOTS_FOR((uint64) table->ngroups / 4 * 5) > table->nslots)
		grow(table);
	table->kept_slots = table->nslots;
	table->late_mcxt = AllocSetContextCreate(table->mcxt,
											 "StrataAgg later groups",
											 ALLOCSET_DEFAULT_SIZES);
}

/* Where groups that come now, and their keys, live. */
static inline MemoryContext
place_of_groups(const AggTable *table)
{
	return table->nkept > 0 ? table->late_mcxt : table->mcxt;
}

/* Room for one group, its keys and cells. */
static AggGroup *
allocate_group(AggTable *table)
{
	AggGroup   *group;

	if (table->chunk_left == 0)
	{
		keep_groups(table);
		table->chunk_left = (int) Max(CHUNK_SIZE / table->group_size, 1);
		table->chunk = MemoryContextAlloc(place_of_groups(table),
										  table->group_size *
										  table->chunk_left);
	}
	group = (AggGroup *) table->chunk;
	table->chunk += table->group_size;
	table->chunk_left--;
	return group;
}

/*
 * A new group of the keys' current values, which are copied, with empty cells;
 * it is the table's.
 */
static AggGroup *
add_group(AggTable *table, uint32 hash)
{
	StrataAggState *agg = table->agg;
	AggGroup   *group = allocate_group(table);
	AggSlot		slot = {hash, 0};
	MemoryContext old = MemoryContextSwitchTo(place_of_groups(table));

	group->hash = hash;
	group->nulls = agg->set << AGG_SET_SHIFT;
	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];

		agg_group_keys(group)[k] = (Datum) 0;
		if (key->isnull)
			group->nulls |= (uint32) 1 << k;
		else
			agg_group_keys(group)[k] = datumCopy(key->current, key->typbyval,
												 key->typlen);
	}
	strata_agg_init_cells(agg, agg_group_cells(group, agg->nkeys));
	MemoryContextSwitchTo(old);
	if (table->ngroups == table->space)
	{
		table->space *= 2;
		table->groups = repalloc_huge(table->groups,
									  sizeof(AggGroup *) * table->space);
	}
	table->groups[table->ngroups++] = group;
	if (SLOTS_FOR((uint64) table->ngroups) > table->nslots)
		grow(table);
	slot.number = table->ngroups;
	place(table, slot);
	return group;
}

/* The group of the keys' current values, which have this hash, or NULL. */
static inline AggGroup *
find_by_hash(AggTable *table, uint32 hash)
{
	for (uint32 i = hash & (table->nslots - 1); table->slots[i].number != 0;
		 i = (i + 1) & (table->nslots - 1))
	{
		AggGroup   *group;

		if (table->slots[i].hash != hash)
			continue;
		group = table->groups[table->slots[i].number - 1];
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

	*hash_out = hash_keys(table->agg);
	group = find_by_hash(table, *hash_out);
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
		group = add_group(table, hash);
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
	uint32		numbers[LOOKAHEAD];
	uint32		mask = table->nslots - 1;

	Assert(n <= LOOKAHEAD);		/* agg:G3 */
	for (int i = 0; i < n; i++)
		__builtin_prefetch(&table->slots[hashes[i] & mask]);
	for (int i = 0; i < n; i++)
	{
		uint32		slot = hashes[i] & mask;

		while (table->slots[slot].number != 0 &&
			   table->slots[slot].hash != hashes[i])
			slot = (slot + 1) & mask;
		numbers[i] = table->slots[slot].number;
		if (numbers[i] != 0)
			__builtin_prefetch(&table->groups[numbers[i] - 1]);
	}
	for (int i = 0; i < n; i++)
	{
		guesses[i] = numbers[i] == 0 ? NULL : table->groups[numbers[i] - 1];
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

/* See agg_group_private.h. */
void
strata_agg_table_find_many(AggTable *table, const AggKeyValues *keys, int n,
						   AggGroup **groups)
{
	StrataAggState *agg = table->agg;

	for (int from = 0; from < n; from += LOOKAHEAD)
	{
		int			m = Min(LOOKAHEAD, n - from);
		uint32		hashes[LOOKAHEAD];

		hash_many(agg, keys, from, m, hashes);
		guess_many(table, hashes, m, groups + from);
		for (int i = 0; i < m; i++)
		{
			AggGroup  **group = &groups[from + i];

			for (int k = 0; k < agg->nkeys; k++)
				if (keys[k].values != NULL)
					set_current(&agg->keys[k], &keys[k], from + i);
			if (*group != NULL && same_keys(agg, *group))
				continue;
			/* one of those before it may have made it */
			*group = find_by_hash(table, hashes[i]);
			if (*group == NULL)
				*group = add_group(table, hashes[i]);
		}
	}
}

/* Are groups on disk? */
static inline bool
is_on_disk(const AggTable *table)
{
	return table->sort != NULL || table->files != NULL;
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
		MemoryContextMemAllocated(table->mcxt, true) > table->limit;
}

/*-------------------------------------------------------------------------
 * Spilling
 *-------------------------------------------------------------------------
 */

/* Begin a sort, by hash, of groups as bytes. */
static void
begin_spill_sort(AggTable *table)
{
	AttrNumber	attnos[] = {1, 3};
	Oid			operators[] = {Int4LessOperator, Int4LessOperator};
	Oid			collations[] = {InvalidOid, InvalidOid};
	bool		nulls_first[] = {false, false};

	if (table->sort_desc == NULL)
	{
		table->sort_desc = CreateTemplateTupleDesc(3);
		TupleDescInitEntry(table->sort_desc, 1, "hash", INT4OID, -1, 0);
		TupleDescInitEntry(table->sort_desc, 2, "group", BYTEAOID, -1, 0);
		/* what came first is combined first */
		TupleDescInitEntry(table->sort_desc, 3, "spill", INT4OID, -1, 0);
		table->sort_slot = MakeSingleTupleTableSlot(table->sort_desc,
													&TTSOpsMinimalTuple);
	}
	table->sort = tuplesort_begin_heap(table->sort_desc, 2, attnos,
									   operators, collations, nulls_first,
									   work_mem, NULL, TUPLESORT_NONE);
}

/*
 * No more rows or groups come into memory: make the groups of all grouping
 * sets, and drop those that are not wanted.
 */
static void
complete_sets(AggTable *table)
{
	const AggSets *sets = table->agg->sets;
	uint32		n = 0;

	if (sets == NULL)
		return;
	Assert(table == table->agg->table); /* agg:G23 */
	strata_agg_sets_expand(table->agg);
	for (uint32 i = 0; i < table->ngroups; i++)
		if (strata_agg_sets_wants(sets, table->groups[i]))
			table->groups[n++] = table->groups[i];
	table->ngroups = n;
}

/* Write all groups to the sort. */
static void
spill_to_sort(AggTable *table, StringInfo buf)
{
	TupleTableSlot *slot;

	if (table->sort == NULL)
		begin_spill_sort(table);
	slot = MakeSingleTupleTableSlot(table->sort_desc, &TTSOpsVirtual);
	for (uint32 i = 0; i < table->ngroups; i++)
	{
		CHECK_FOR_INTERRUPTS();
		strata_agg_group_write(table->agg, table->groups[i], buf);
		ExecClearTuple(slot);
		slot->tts_values[0] = Int32GetDatum((int32) table->groups[i]->hash);
		slot->tts_values[1] = PointerGetDatum(buf->data);
		slot->tts_values[2] = Int32GetDatum(table->spills);
		slot->tts_isnull[0] = slot->tts_isnull[1] = false;
		slot->tts_isnull[2] = false;
		ExecStoreVirtualTuple(slot);
		tuplesort_puttupleslot(table->sort, slot);
	}
	ExecDropSingleTupleTableSlot(slot);
}

/* Write groups that need not stay to files. */
static void
spill_to_files(AggTable *table, StringInfo buf)
{
	if (table->files == NULL)
	{
		MemoryContext old;

		old = MemoryContextSwitchTo(GetMemoryChunkContext(table));
		table->files = strata_agg_spill_create(table->limit);
		MemoryContextSwitchTo(old);
	}
	for (uint32 i = table->nkept; i < table->ngroups; i++)
	{
		CHECK_FOR_INTERRUPTS();
		strata_agg_group_write(table->agg, table->groups[i], buf);
		strata_agg_spill_put(table->files, table->groups[i]->hash, buf->data,
							 VARSIZE(buf->data));
	}
}

/* Forget all groups but those that stay. */
static void
forget_late_groups(AggTable *table)
{
	AggSlot    *slots;

	Assert(table->nkept > 0);	/* agg:G25 */
	MemoryContextReset(table->late_mcxt);
	table->chunk_left = 0;
	table->last = NULL;
	table->ngroups = table->nkept;
	if (table->nslots == table->kept_slots)
		memset(table->slots, 0, sizeof(AggSlot) * table->nslots);
	else
	{
		slots = MemoryContextAllocExtended(table->mcxt, sizeof(AggSlot) *
										   table->kept_slots,
										   MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
		pfree(table->slots);
		table->slots = slots;
		table->nslots = table->kept_slots;
	}
	for (uint32 i = 0; i < table->ngroups; i++)
	{
		AggSlot		slot = {table->groups[i]->hash, i + 1};

		place(table, slot);
	}
}

/* See agg_group_private.h. */
void
strata_agg_table_spill(AggTable *table)
{
	StringInfoData buf;

	Assert(table->mcxt == table->agg->group_mcxt);	/* agg:G8 */
	/* what comes back from disk has been completed */
	if (!table->collected)
		complete_sets(table);
	table->peak = Max(table->peak,
					  MemoryContextMemAllocated(table->mcxt, true));
	table->spills++;
	/* memory of sums that belong to no group would not be given back */
	if (table->agg->has_sums)
		table->nkept = 0;
	initStringInfo(&buf);
	if (table->by_sort)
		spill_to_sort(table, &buf);
	else
		spill_to_files(table, &buf);
	pfree(buf.data);
	if (table->nkept > 0)
		forget_late_groups(table);
	else
	{
		/* any of them may come again */
		table->keeps = false;
		MemoryContextReset(table->mcxt);
		start_empty(table);
	}
}

/*-------------------------------------------------------------------------
 * Back from files
 *-------------------------------------------------------------------------
 */

/* Combine a partial result with its group, or make it the group. */
static void
take_partial(AggTable *table, uint32 hash, const char *bytes)
{
	StrataAggState *agg = table->agg;
	const char *in;
	AggGroup   *group;

	in = strata_agg_group_read_keys(agg, VARDATA(bytes));
	Assert(hash == hash_keys(agg)); /* agg:G8 */
	group = find_by_hash(table, hash);
	if (group == NULL)
		group = add_group(table, hash);
	strata_agg_group_combine(agg, agg_group_cells(group, agg->nkeys), in,
							 bytes + VARSIZE(bytes));
	agg->set = 0;
}

/* Read the groups of the next file into memory; false: there is none. */
static bool
read_next_file(AggTable *table)
{
	StrataAggState *agg = table->agg;
	MemoryContext old = MemoryContextSwitchTo(agg->vector_mcxt);
	const char *bytes;
	uint32		hash;
	Size		len;
	int64		n = 0;
	int			spills = table->spills;

	MemoryContextReset(table->mcxt);
	start_empty(table);
	table->keeps = table->may_keep;
	if (!strata_agg_spill_open_next(table->files))
	{
		MemoryContextSwitchTo(old);
		return false;
	}
	while ((bytes = strata_agg_spill_get(table->files, &hash, &len)) != NULL)
	{
		if (n++ % GROUPS_PER_RESET == 0)
		{
			CHECK_FOR_INTERRUPTS();
			MemoryContextReset(agg->vector_mcxt);
		}
		Assert(len == VARSIZE(bytes));	/* agg:G25 */
		take_partial(table, hash, bytes);
		/* one group cannot be divided */
		if (table->ngroups > 1 && strata_agg_table_is_full(table))
			strata_agg_table_spill(table);
	}
	/* groups of which some is on disk are complete there */
	if (table->spills > spills && table->ngroups > table->nkept)
		strata_agg_table_spill(table);
	MemoryContextSwitchTo(old);
	return true;
}

/*-------------------------------------------------------------------------
 * Back from a sort
 *-------------------------------------------------------------------------
 */

/* Combine the partial result in the slot with those of the same keys. */
static void
merge_tuple(AggTable *table)
{
	StrataAggState *agg = table->agg;
	bool		isnull;
	uint32		hash = (uint32) DatumGetInt32(slot_getattr(table->sort_slot, 1,
														   &isnull));
	bytea	   *data;
	const char *in;
	AggGroup   *group = NULL;
	ListCell   *lc;
	MemoryContext old;

	MemoryContextReset(agg->vector_mcxt);
	old = MemoryContextSwitchTo(agg->vector_mcxt);
	data = DatumGetByteaPP(slot_getattr(table->sort_slot, 2, &isnull));
	in = strata_agg_group_read_keys(agg, VARDATA_ANY(data));
	Assert(hash == hash_keys(agg)); /* agg:G8 */
	foreach(lc, table->merged)
	{
		if (same_keys(agg, lfirst(lc)))
			group = lfirst(lc);
	}
	if (group == NULL)
	{
		group = add_group(table, hash);
		MemoryContextSwitchTo(table->mcxt);
		table->merged = lappend(table->merged, group);
		MemoryContextSwitchTo(agg->vector_mcxt);
	}
	strata_agg_group_combine(agg, agg_group_cells(group, agg->nkeys), in,
							 (char *) data + VARSIZE_ANY(data));
	agg->set = 0;
	MemoryContextSwitchTo(old);
}

/* Read all partial results of the next hash value; false at the end. */
static bool
merge_next_hash(AggTable *table)
{
	int32		hash;
	bool		isnull;

	MemoryContextReset(table->mcxt);
	start_empty(table);
	table->merged = NIL;
	if (!table->pending && !tuplesort_gettupleslot(table->sort, true, false,
												   table->sort_slot, NULL))
		return false;
	hash = DatumGetInt32(slot_getattr(table->sort_slot, 1, &isnull));
	do
	{
		CHECK_FOR_INTERRUPTS();
		merge_tuple(table);
		table->pending = tuplesort_gettupleslot(table->sort, true, false,
												table->sort_slot, NULL);
	} while (table->pending && DatumGetInt32(slot_getattr(table->sort_slot, 1,
														  &isnull)) == hash);
	return true;
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
	if (!is_on_disk(table))
		complete_sets(table);
	table->peak = Max(table->peak,
					  MemoryContextMemAllocated(table->mcxt, true));
	if (!is_on_disk(table))
		return;
	if (table->ngroups > table->nkept)
		strata_agg_table_spill(table);
	table->collected = true;
	Assert(table->ngroups == table->nkept); /* agg:G8 */
	if (table->sort != NULL)
		tuplesort_performsort(table->sort);
	table->pending = false;
}

/* See agg_group_private.h. */
AggGroup *
strata_agg_table_next(AggTable *table)
{
	while (table->next >= table->ngroups && is_on_disk(table))
	{
		if (!(table->sort != NULL ? merge_next_hash(table) :
			  read_next_file(table)))
		{
			table->ngroups = 0;
			return NULL;
		}
		table->next = 0;
	}
	return table->next < table->ngroups ? table->groups[table->next++] : NULL;
}

/* See agg_group_private.h. */
AggGroup **
strata_agg_table_in_memory(const AggTable *table, uint32 *ngroups)
{
	if (ngroups != NULL)
		*ngroups = table->ngroups;
	return table->groups;
}

/* See agg_group_private.h. */
AggGroup **
strata_agg_table_groups(AggTable *table, uint32 *ngroups)
{
	*ngroups = table->ngroups;
	return is_on_disk(table) ? NULL : table->groups;
}

/* Let go of what is on disk. */
static void
drop_spilled(AggTable *table)
{
	if (table->sort != NULL)
		tuplesort_end(table->sort);
	table->sort = NULL;
	if (table->files != NULL)
		strata_agg_spill_end(table->files);
	table->files = NULL;
}

void
strata_agg_table_reset(AggTable *table)
{
	drop_spilled(table);
	table->collected = false;
	table->keeps = table->may_keep;
	table->pending = false;
	table->merged = NIL;
	table->next = 0;
	MemoryContextReset(table->mcxt);
	start_empty(table);
}

void
strata_agg_table_end(AggTable *table)
{
	drop_spilled(table);
	if (table->sort_slot != NULL)
		ExecDropSingleTupleTableSlot(table->sort_slot);
	table->sort_slot = NULL;
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
