/*-------------------------------------------------------------------------
 *
 * change_range.c
 *	  Range of each by-value column over all batches of a table, and which of
 *	  them its unique keys are made of, cached.
 *
 * Most inserts never look at a batch: new rows are usually beyond what the
 * batches hold.  The cache may be too wide, never too narrow: batches are
 * added only under ExclusiveLock on R, with a relcache invalidation.
 *
 * src/change/change_range.c
 *-------------------------------------------------------------------------
 */
#include "change/change_private.h"

#include "access/genam.h"
#include "access/table.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

/*
 * Columns of a unique key whose ranges tell that a value is not in any batch.
 */
typedef struct KeyColumns
{
	int			n;
	AttrNumber	attnos[INDEX_MAX_KEYS];
	TypeCacheEntry *types[INDEX_MAX_KEYS];	/* base types */
} KeyColumns;

typedef struct RangeCache
{
	Oid			relid;			/* hash key */
	Oid			companion;
	int			natts;
	bool		valid;
	uint64		invalidations;
	StrataColumnRange *ranges;	/* by attno - 1; kept until they are replaced:
								 * users look up types */
	int			nkeys;			/* unique keys; -1: the ranges say nothing of
								 * one of them */
	KeyColumns *keys;
} RangeCache;

static HTAB *range_caches = NULL;

static void
forget_cache(RangeCache *cache)
{
	cache->valid = false;
	cache->invalidations++;
}

static void
invalidate_cache(Datum arg, Oid relid)
{
	RangeCache *cache;
	HASH_SEQ_STATUS status;

	if (range_caches == NULL)
		return;
	if (OidIsValid(relid))
	{
		cache = hash_search(range_caches, &relid, HASH_FIND, NULL);
		if (cache != NULL)
			forget_cache(cache);
		return;
	}
	hash_seq_init(&status, range_caches);
	while ((cache = hash_seq_search(&status)) != NULL)
		forget_cache(cache);
}

/* See change_private.h. */
void
strata_ranges_forget(void)
{
	invalidate_cache((Datum) 0, InvalidOid);
}

/* See change_private.h. */
int
strata_compare_default(Oid typid, Datum a, Datum b)
{
	TypeCacheEntry *type;

	/* keys are searched among all batches by these: without a call */
	switch (typid)
	{
		case INT8OID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return (DatumGetInt64(a) > DatumGetInt64(b)) -
				(DatumGetInt64(a) < DatumGetInt64(b));
		case INT4OID:
		case DATEOID:
			return (DatumGetInt32(a) > DatumGetInt32(b)) -
				(DatumGetInt32(a) < DatumGetInt32(b));
		default:
			break;
	}
	type = lookup_type_cache(typid, TYPECACHE_CMP_PROC_FINFO);
	return DatumGetInt32(FunctionCall2(&type->cmp_proc_finfo, a, b));
}

/* Widen r by what a batch says of column attno. */
static void
merge_range(StrataBatchReader *reader, AttrNumber attno, StrataColumnRange *r)
{
	const StrataColumnSummary *s = strata_batch_reader_summary(reader, attno);
	Oid			typid = reader->columns[attno - 1].type.typid;

	if (s == NULL ||
		(!s->has_range && !s->has_nan && s->nnulls != reader->nrows))
	{
		r->known = false;
		return;
	}
	r->has_nan |= s->has_nan;
	if (!s->has_range)
		return;
	if (!r->has || strata_compare_default(typid, s->min, r->min) < 0)
		r->min = s->min;
	if (!r->has || strata_compare_default(typid, s->max, r->max) > 0)
		r->max = s->max;
	r->has = true;
}

/*
 * The least and greatest value of each column that has them by value, over all
 * batches; not known where a batch does not tell.
 */
static StrataColumnRange *
build_ranges(StrataStore *store)
{
	int			natts = store->schema->natts;
	StrataColumnRange *ranges = palloc0(sizeof(StrataColumnRange) * natts);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(store->batches, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	StrataBatchReader *reader = strata_batch_reader_create(store->rel,
														   store->schema);

	for (int i = 0; i < natts; i++)
		ranges[i].known =
			TupleDescAttr(store->schema->rel_desc, i)->attbyval &&
			strata_attribute_is_kept(TupleDescAttr(store->schema->rel_desc,
												   i));
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (!strata_batch_reader_load(reader, slot))
			continue;
		for (int i = 0; i < natts; i++)
			if (ranges[i].known)
				merge_range(reader, i + 1, &ranges[i]);
	}
	strata_batch_reader_free(reader);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	return ranges;
}

/* See change_private.h. */
bool
strata_key_has_default_order(Relation index, int i, Oid typid)
{
	TypeCacheEntry *type = lookup_type_cache(typid, TYPECACHE_BTREE_OPFAMILY);

	return index->rd_opfamily[i] == type->btree_opf;
}

/*
 * The columns of the unique keys that ranges tell of, in the current context;
 * -1 keys when there is one with none.  Indexes that are not ready count: they
 * may be by the time they are asked about.
 */
static int
find_keys(Relation rel, const StrataColumnRange *ranges, KeyColumns **keys)
{
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;
	int			nkeys = 0;

	*keys = palloc(sizeof(KeyColumns) * Max(list_length(indexes), 1));
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		KeyColumns *key = &(*keys)[nkeys >= 0 ? nkeys : 0];

		key->n = 0;
		for (int i = 0;
			 index->rd_index->indisunique && i < index->rd_index->indnkeyatts;
			 i++)
		{
			AttrNumber	attno = index->rd_index->indkey.values[i];
			Oid			typid;

			if (attno <= 0 || !ranges[attno - 1].known ||
				ranges[attno - 1].has_nan)
				continue;
			typid =
				getBaseType(TupleDescAttr(RelationGetDescr(rel),
										  attno - 1)->atttypid);
			if (!strata_key_has_default_order(index, i, typid))
				continue;
			key->attnos[key->n] = attno;
			key->types[key->n++] = lookup_type_cache(typid,
													 TYPECACHE_CMP_PROC_FINFO);
		}
		if (index->rd_index->indisunique && nkeys >= 0)
			nkeys = key->n > 0 ? nkeys + 1 : -1;
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return nkeys;
}

/* Fill in the cache of rel. */
static void
build_range_cache(RangeCache *cache, Relation rel, Oid companion)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata ranges",
											   ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataStore *store = strata_store_open(rel, AccessShareLock);
	StrataColumnRange *ranges = build_ranges(store);
	int			natts = store->schema->natts;
	Size		size = sizeof(StrataColumnRange) * natts;
	KeyColumns *keys;
	uint64		before = cache->invalidations;
	int			nkeys = find_keys(rel, ranges, &keys);
	Size		keys_size = sizeof(KeyColumns) * Max(nkeys, 1);

	strata_store_close(store, AccessShareLock);
	cache->valid = false;
	if (cache->ranges != NULL)
	{
		pfree(cache->ranges);
		pfree(cache->keys);
		cache->ranges = NULL;
	}
	cache->keys = memcpy(MemoryContextAlloc(CacheMemoryContext, keys_size),
						 keys, keys_size);
	cache->ranges = memcpy(MemoryContextAlloc(CacheMemoryContext, size),
						   ranges, size);
	cache->nkeys = nkeys;
	cache->companion = companion;
	cache->natts = natts;
	/* an index that came while we looked is not missed by the next row */
	cache->valid = before == cache->invalidations;
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
}

/*
 * The ranges of a table's columns, made anew when its companion changed.
 * Lives until the next invalidation.
 */
static const RangeCache *
get_range_cache(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	Oid			companion = strata_companion_oid(rel);
	RangeCache *cache;
	bool		found;

	if (range_caches == NULL)
	{
		HASHCTL		ctl = {0};

		ctl.keysize = sizeof(Oid);
		ctl.entrysize = sizeof(RangeCache);
		ctl.hcxt = CacheMemoryContext;
		range_caches = hash_create("strata key ranges", 16, &ctl,
								   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		strata_relcache_callback_add(invalidate_cache);
	}
	cache = hash_search(range_caches, &relid, HASH_ENTER, &found);
	if (!found)
		memset(&cache->companion, 0,
			   sizeof(RangeCache) - offsetof(RangeCache, companion));
	if (!cache->valid || cache->companion != companion ||
		cache->natts != RelationGetDescr(rel)->natts)
		build_range_cache(cache, rel, companion);
	return cache;
}

/* See change_private.h. */
const StrataColumnRange *
strata_store_ranges(Relation rel)
{
	return get_range_cache(rel)->ranges;
}

/* See change_private.h. */
bool
strata_range_excludes(const StrataColumnRange *range, TypeCacheEntry *type,
					  Datum value)
{
	/* most rows that come are the latest */
	return !range->has ||
		DatumGetInt32(FunctionCall2(&type->cmp_proc_finfo, value,
									range->max)) > 0 ||
		DatumGetInt32(FunctionCall2(&type->cmp_proc_finfo, value,
									range->min)) < 0;
}

/* See change.h. */
bool
strata_store_keys_are_new(Relation rel, TupleTableSlot *slot)
{
	const RangeCache *cache = get_range_cache(rel);

	for (int k = 0; k < cache->nkeys; k++)
	{
		const KeyColumns *key = &cache->keys[k];
		bool		outside = false;

		for (int i = 0; i < key->n && !outside; i++)
		{
			bool		isnull;
			Datum		value = slot_getattr(slot, key->attnos[i], &isnull);

			outside = !isnull &&
				strata_range_excludes(&cache->ranges[key->attnos[i] - 1],
									  key->types[i], value);
		}
		if (!outside)
			return false;
	}
	return cache->nkeys >= 0;
}
