/*-------------------------------------------------------------------------
 *
 * store_cache.c
 *	  What every query asks of a companion, remembered in its relcache entry.
 *
 * That it is a companion of ours, which column stands for which of R's, which
 * indexes there are, and whether all batches have one layout.  Heap does not
 * use rd_amcache, and a companion is a heap table of ours; relcache drops it
 * with everything else it knows when the companion changes.  So pointers into
 * it do not outlive the next look-up in any catalog: callers copy.
 *
 * The option "layout" of a companion says that all its batches, those that old
 * snapshots see included, have that layout.  It is set when the companion is
 * made, and taken away for good before a batch of another layout is written,
 * under ACCESS EXCLUSIVE, on the companion or on R when a column of the layout
 * is dropped: nobody who has read it is still there then.
 *
 * src/store/store_cache.c
 *-------------------------------------------------------------------------
 */
#include "store/store_companion.h"
#include "store/store_private.h"

#include "access/genam.h"
#include "nodes/makefuncs.h"
#include "utils/memutils.h"

typedef struct CachedIndex
{
	Oid			oid;
	bool		unique;
	bool		has_nrows;		/* beside its keys */
	int			nkeys;
	AttrNumber	keys[INDEX_MAX_KEYS];
} CachedIndex;

/* One chunk: the struct, columns, layout's text, in that order. */
typedef struct CompanionCache
{
	int			natts;			/* columns of R that columns may stand for */
	AttrNumber *columns;		/* STRATA_COLUMN_MAPS maps of natts + 1 */
	char	   *layout;			/* or NULL */
	int			nindexes;
	CachedIndex indexes[FLEXIBLE_ARRAY_MEMBER];
} CompanionCache;

static void
describe_index(CachedIndex *cached, Oid oid)
{
	Relation	index = index_open(oid, AccessShareLock);

	cached->oid = oid;
	cached->unique = index->rd_index->indisunique;
	cached->has_nrows =
		index->rd_index->indnatts == index->rd_index->indnkeyatts + 1 &&
		index->rd_index->indkey.values[index->rd_index->indnkeyatts] ==
		STRATA_BATCH_ATT_NROWS;
	/* one that is not valid matches nothing */
	cached->nkeys = index->rd_index->indisvalid ?
		index->rd_index->indnkeyatts :
		0;
	memcpy(cached->keys, index->rd_index->indkey.values,
		   sizeof(AttrNumber) * cached->nkeys);
	index_close(index, AccessShareLock);
}

/*
 * What is to know of a companion: its columns by the table's, and its indexes.
 * One chunk in CacheMemoryContext.
 */
static CompanionCache *
build_cache(Relation batches)
{
	TupleDesc	desc = RelationGetDescr(batches);
	int			natts = strata_batch_columns_max(desc);
	Size		columns_size;
	char	   *layout = strata_settings_get_text(RelationGetRelid(batches),
												  STRATA_OPTION_LAYOUT);
	List	   *indexes = RelationGetIndexList(batches);
	int			nindexes = list_length(indexes);
	CachedIndex *described = palloc(sizeof(CachedIndex) * Max(nindexes, 1));
	Size		head = MAXALIGN(offsetof(CompanionCache, indexes) +
								sizeof(CachedIndex) * nindexes);
	CompanionCache *cache;

	columns_size = MAXALIGN(sizeof(AttrNumber) * STRATA_COLUMN_MAPS *
							(natts + 1));
	Assert(batches->rd_tableam == GetHeapamTableAmRoutine());	/* store:S7 */
	strata_companion_check(batches);
	for (int i = 0; i < nindexes; i++)
		describe_index(&described[i], list_nth_oid(indexes, i));
	cache = MemoryContextAllocZero(CacheMemoryContext,
								   head + columns_size +
								   (layout != NULL ? strlen(layout) + 1 :
									0));
	cache->natts = natts;
	cache->columns = (AttrNumber *) ((char *) cache + head);
	strata_batch_columns_map(desc, natts, cache->columns);
	if (layout != NULL)
		cache->layout = strcpy((char *) cache + head + columns_size, layout);
	cache->nindexes = nindexes;
	memcpy(cache->indexes, described, sizeof(CachedIndex) * nindexes);
	pfree(described);
	list_free(indexes);
	/* looking all that up may have filled it, or dropped what was there */
	if (batches->rd_amcache != NULL)
		pfree(batches->rd_amcache);
	batches->rd_amcache = cache;
	return cache;
}

static const CompanionCache *
get_cache(Relation batches)
{
	return batches->rd_amcache != NULL ? batches->rd_amcache :
		build_cache(batches);
}

/* See store_private.h. */
StrataBatchSchema *
strata_companion_schema(TupleDesc desc, Relation batches)
{
	const CompanionCache *cache = get_cache(batches);

	return strata_batch_schema_create_mapped(desc, RelationGetDescr(batches),
											 batches->rd_rel->reltoastrelid,
											 strata_missing_value,
											 cache->natts, cache->columns);
}

/* See store_private.h. */
Oid
strata_companion_find_index(Relation batches, const AttrNumber *keys,
							int nkeys)
{
	const CompanionCache *cache = get_cache(batches);

	for (int i = 0; i < cache->nindexes; i++)
		if (cache->indexes[i].nkeys == nkeys &&
			memcmp(cache->indexes[i].keys, keys, sizeof(AttrNumber) * nkeys) ==
			0)
			return cache->indexes[i].oid;
	return InvalidOid;
}

/* It is the only unique index; asked for with every row changed. */
static const CachedIndex *
row_index(Relation batches)
{
	const CompanionCache *cache = get_cache(batches);

	for (int i = 0; i < cache->nindexes; i++)
		if (cache->indexes[i].unique && cache->indexes[i].has_nrows &&
			cache->indexes[i].nkeys > 0 &&
			cache->indexes[i].keys[0] == STRATA_BATCH_ATT_FIRST_ROW)
			return &cache->indexes[i];
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("companion table \"%s\" has no index on first_row",
					RelationGetRelationName(batches))));
	return NULL;				/* not reached */
}

/* See store_companion.h. */
Oid
strata_row_index_of(Relation batches)
{
	return row_index(batches)->oid;
}

/* See store.h. */
const char *
strata_store_only_layout(StrataStore *store)
{
	return get_cache(store->batches)->layout;
}

/* See store.h. */
bool
strata_store_has_only_layout(StrataStore *store, const char *layout)
{
	const char *only = strata_store_only_layout(store);

	return only != NULL && strcmp(only, layout) == 0;
}

/* See store_companion.h. */
bool
strata_layout_is_usable(TupleDesc desc, const StrataLayout *layout)
{
	bool		usable = true;

	for (int i = 0; i < layout->nsegment; i++)
		usable &= !TupleDescAttr(desc, layout->segment[i] - 1)->attisdropped;
	for (int i = 0; i < layout->norder; i++)
		usable &=
			!TupleDescAttr(desc, layout->order[i].attno - 1)->attisdropped;
	return usable;
}

/* See store.h. */
StrataLayout *
strata_store_present_layout(StrataStore *store)
{
	const char *text = strata_store_only_layout(store);
	TupleDesc	desc = store->schema->rel_desc;
	StrataLayout *layout;

	if (text == NULL)
		return strata_store_current_layout(store->rel);
	layout = strata_layout_parse(text, desc->natts);
	return strata_layout_is_usable(desc, layout) ?
		layout :
		strata_store_current_layout(store->rel);
}

/* See store_private.h. */
Bitmapset *
strata_unique_columns_find(Relation rel, bool *any)
{
	Bitmapset  *attrs = NULL;
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *lc;

	*any = false;
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisunique)
		{
			*any |= !heap_attisnull(index->rd_indextuple,
									Anum_pg_index_indexprs, NULL) ||
				!heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred,
								NULL);
			for (int i = 0; i < index->rd_index->indnkeyatts; i++)
				if (index->rd_index->indkey.values[i] > 0)
					attrs = bms_add_member(attrs,
										   index->rd_index->indkey.values[i]);
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	return attrs;
}
