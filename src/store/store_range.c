/*-------------------------------------------------------------------------
 *
 * store_range.c
 *	  Range of each by-value column over all batches of a table, cached.
 *
 * Most inserts never look at a batch: new rows are usually beyond what the
 * batches hold.  The cache may be too wide, never too narrow: batches are
 * added only under ExclusiveLock on R, with a relcache invalidation.
 *
 * src/store/store_range.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include "access/table.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

typedef struct RangeCache
{
	Oid			relid;			/* hash key */
	Oid			companion;
	int			natts;
	StrataColumnRange *ranges;		/* by attno - 1; NULL: nothing cached */
} RangeCache;

static HTAB *range_caches = NULL;

static void
forget_cache(RangeCache *cache)
{
	if (cache->ranges != NULL)
		pfree(cache->ranges);
	cache->ranges = NULL;
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

/* See store_private.h. */
void
strata_ranges_forget(void)
{
	invalidate_cache((Datum) 0, InvalidOid);
}

/* See store_private.h. */
int
strata_compare_default(Oid typid, Datum a, Datum b)
{
	TypeCacheEntry *type = lookup_type_cache(typid, TYPECACHE_CMP_PROC_FINFO);

	return DatumGetInt32(FunctionCall2(&type->cmp_proc_finfo, a, b));
}

/* Widen r by what a batch says of column attno. */
static void
merge_range(StrataBatchReader *reader, AttrNumber attno, StrataColumnRange *r)
{
	const StrataColumnSummary *s = strata_batch_reader_summary(reader, attno);
	Oid			typid = reader->columns[attno - 1].type.typid;

	if (s == NULL || (!s->has_range && !s->has_nan && s->nnulls != reader->nrows))
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

static StrataColumnRange *
build_ranges(StrataStore *store)
{
	int			natts = store->schema->natts;
	StrataColumnRange *ranges = palloc0(sizeof(StrataColumnRange) * natts);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(store->batches, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	StrataBatchReader *reader = strata_batch_reader_create(store->rel, store->schema);

	for (int i = 0; i < natts; i++)
		ranges[i].known = TupleDescAttr(store->schema->rel_desc, i)->attbyval &&
			!TupleDescAttr(store->schema->rel_desc, i)->attisdropped;
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

/* See store_private.h. */
const StrataColumnRange *
strata_store_ranges(Relation rel)
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
		CacheRegisterRelcacheCallback(invalidate_cache, (Datum) 0);
	}
	cache = hash_search(range_caches, &relid, HASH_ENTER, &found);
	if (!found)
		cache->ranges = NULL;
	if (cache->ranges == NULL || cache->companion != companion ||
		cache->natts != RelationGetDescr(rel)->natts)
	{
		StrataStore *store = strata_store_open(rel, AccessShareLock);
		StrataColumnRange *ranges = build_ranges(store);
		int			natts = store->schema->natts;
		Size		size = sizeof(StrataColumnRange) * natts;

		strata_store_close(store, AccessShareLock);
		cache = hash_search(range_caches, &relid, HASH_ENTER, &found);
		if (found)
			forget_cache(cache);
		cache->ranges = memcpy(MemoryContextAlloc(CacheMemoryContext, size), ranges, size);
		cache->companion = companion;
		cache->natts = natts;
		pfree(ranges);
	}
	return cache->ranges;
}
