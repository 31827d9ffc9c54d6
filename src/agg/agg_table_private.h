/*-------------------------------------------------------------------------
 *
 * agg_table_private.h
 *	  The inside of a table of groups: agg_hash.c finds and makes them,
 *	  agg_beyond.c moves them out of memory and back.
 *
 * src/agg/agg_table_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_AGG_TABLE_PRIVATE_H
#define STRATA_AGG_TABLE_PRIVATE_H

#include "agg/agg_private.h"
#include "agg/agg_spill_private.h"

#include "utils/memutils.h"
#include "utils/tuplesort.h"

/* What is looked at before a group is. */
typedef struct AggSlot
{
	uint32		hash;
	uint32		place;			/* of the group; 0: free */
} AggSlot;

/*
 * A place is the number of a chunk and a number in it, plus one.  A chunk of
 * the smallest groups has not more of them.
 */
#define AGG_CHUNK_BITS 9
/* More chunks have no places; one vector takes less than the rest. */
#define AGG_MAX_CHUNKS ((1 << (32 - AGG_CHUNK_BITS)) - (1 << 18))

struct AggTable
{
	StrataAggState *agg;
	MemoryContext mcxt;			/* of groups, and their states; reset by
								 * spilling */
	Size		limit;			/* bytes */
	uint32		least;			/* so many groups fit into any limit, ... */
	Size		least_bytes;	/* ... unless they take more than this */
	Size		group_size;		/* with its keys and cells */
	/* in memory; all of it in mcxt */
	uint32		ngroups;
	uint32		chunk_groups;	/* so many are in a chunk */
	uint32		nchunks;
	uint32		space;			/* entries of chunks */
	char	  **chunks;			/* groups in the order they came */
	Datum	   *last_keys;		/* copies of keys by reference, made last; 0:
								 * none */
	AggGroup   *last;			/* found last */
	AggGroup  **ordered;		/* those to return, in another order; or NULL */
	uint32		nordered;
	bool		by_image;		/* of all keys */
	/* the way to them: by hash values, */
	uint32		nslots;			/* a power of two; 0: no such way */
	AggSlot    *slots;
	/* ... or by the one key, an integer: places of base, base + 1, ... */
	bool		may_direct;
	uint32	   *direct;			/* NULL: not so */
	int64		base;
	uint64		ndirect;		/* 0 when it is NULL */
	uint32		null_place;		/* 0: there is no group of it, or the same */
	/* what stays until the end */
	bool		may_keep;		/* groups are nothing but their cells */
	bool		keeps;			/* and none that could is on disk */
	uint32		nkept;			/* the first groups; 0: none has to yet */
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

static inline AggGroup *
agg_group_at(const AggTable *table, uint32 place)
{
	const uint32 chunk = (place - 1) >> AGG_CHUNK_BITS;
	const uint32 in_chunk = (place - 1) & ((1 << AGG_CHUNK_BITS) - 1);

	return (AggGroup *) (table->chunks[chunk] +
						 in_chunk * table->group_size);
}

/* Of a group by its number in the order they came, from 0. */
static inline uint32
agg_place_of(const AggTable *table, uint32 number)
{
	return (number / table->chunk_groups << AGG_CHUNK_BITS) +
		number % table->chunk_groups + 1;
}

/* Are groups on disk? */
static inline bool
agg_is_on_disk(const AggTable *table)
{
	return table->sort != NULL || table->files != NULL;
}

/* agg_hash.c: the table without groups, whose memory has been reset. */
extern void strata_agg_table_start(AggTable *table);

/* The same but for those that stay; late_mcxt has been reset. */
extern void strata_agg_table_forget_late(AggTable *table);

/* The hash value of the keys' current values.  Memory: the current context. */
extern uint32 strata_agg_hash_keys(StrataAggState *agg);

/* Are they the group's? */
extern bool strata_agg_same_keys(StrataAggState *agg, const AggGroup *group);

/* The group of the keys' current values, which have this hash, or NULL. */
extern AggGroup *strata_agg_table_find_hashed(const AggTable *table,
											  uint32 hash);

/*
 * A new group of the keys' current values, which are copied, with empty cells;
 * it is the table's.
 */
extern AggGroup *strata_agg_table_add(AggTable *table, uint32 hash);

/* agg_beyond.c: after the last row, groups that are on disk. */
extern void strata_agg_table_settle(AggTable *table);

/* The next of them into memory; false at the end. */
extern bool strata_agg_table_read_back(AggTable *table);

/* Let go of what is on disk. */
extern void strata_agg_table_drop_spilled(AggTable *table);

/* Is the group one of the result?  Others are of sets that nobody asked for. */
static inline bool
agg_is_wanted(const AggTable *table, const AggGroup *group)
{
	return table->agg->sets == NULL ||
		strata_agg_sets_wants(table->agg->sets, group);
}

/* All of it is in memory: make the groups of all grouping sets. */
static inline void
agg_complete_sets(AggTable *table)
{
	if (table->agg->sets == NULL)
		return;
	Assert(table == table->agg->table); /* agg:G23 */
	strata_agg_sets_expand(table->agg);
}

#endif							/* STRATA_AGG_TABLE_PRIVATE_H */
