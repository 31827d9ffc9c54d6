/*-------------------------------------------------------------------------
 *
 * store_companion.c
 *	  The companion table: its name, how it is found, its moves and its end.
 *
 * The companion of a storage is _strata.batch_<tablespace>_<relfilenumber>
 * (for a temporary table: the same name in pg_temp).  It is found by name from
 * the storage that R has at the moment, so whatever swaps R's storage
 * (TRUNCATE, rewrites, VACUUM FULL) carries or discards it transactionally:
 * no companion for the present storage means no compressed rows.
 *
 * A name proves nothing: anybody may make a table in pg_temp.  So what is
 * found must have the dependency that we made, and an owner who could not
 * forge it (store_proof.c).  A permanent companion is an extension member:
 * dumps skip it, binary upgrade carries it.  A temporary one depends on its
 * table. All belong to the extension's owner.  Logical decoding is kept quiet
 * about them (store_silence.c).
 *
 * Over 600 lines: all that is found by the name belongs together.
 *
 * src/store/store_companion.c
 *-------------------------------------------------------------------------
 */
#include "store/store_companion.h"
#include "store/store_index.h"
#include "store/store_private.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* What rd_amcache of a strata table holds; one chunk, freed by relcache. */
typedef struct StrataRelCache
{
	StrataLocator locator;		/* storage this is about */
	Oid			companion;		/* or InvalidOid */
	bool		tracked_known;
	StrataTracked tracked;		/* no hypertable: nothing */
	bool		unique_known;
	bool		unique_any;		/* a unique index has an expression or
								 * predicate */
	int			natts;
	bool		unique[FLEXIBLE_ARRAY_MEMBER];	/* by attno - 1: key of a
												 * unique index */
} StrataRelCache;

const TableAmRoutine *strata_am_routine = NULL;
BlockNumber (*strata_rowstore_only_hook) (TableScanDesc scan) = NULL;

/* See store.h. */
bool
strata_relation_is_strata(Relation rel)
{
	return strata_am_routine != NULL && rel->rd_tableam == strata_am_routine;
}

/* See store_companion.h. */
void
strata_companion_name(char *buf, const StrataLocator *locator)
{
	Oid			spc = STRATA_LOCATOR_SPACE(*locator);

	snprintf(buf, NAMEDATALEN, "batch_%u_%u",
			 spc == MyDatabaseTableSpace ? InvalidOid : spc,
			 STRATA_LOCATOR_NUMBER(*locator));
}

/* See store_private.h. */
Oid
strata_companion_namespace(char persistence)
{
	if (persistence == RELPERSISTENCE_TEMP)
		return LookupExplicitNamespace("pg_temp", true);
	return get_namespace_oid(STRATA_INTERNAL_SCHEMA, true);
}

/* A table that has the name of this storage's companion, be it one or not. */
static Oid
lookup_name(const char *name, char persistence)
{
	/* another session's temporary table: its rows are not ours to read */
	Oid			nsp = strata_companion_namespace(persistence);

	return OidIsValid(nsp) ? get_relname_relid(name, nsp) : InvalidOid;
}

/* See store_private.h. */
Oid
strata_companion_lookup(Relation rel)
{
	StrataLocator locator = STRATA_REL_LOCATOR(rel);
	char		name[NAMEDATALEN];
	Oid			table;

	strata_companion_name(name, &locator);
	table = lookup_name(name, rel->rd_rel->relpersistence);
	return strata_companion_prove(rel, name, table,
								  strata_owner_of_table(table), NULL);
}

/*
 * Keep the companion's OID (or that there is none) in the table's relcache
 * entry, and return it.
 */
static Oid
remember_companion(Relation rel, Oid companion)
{
	/* the look-up may have rebuilt the entry: look at the pointer only now */
	StrataRelCache *cache = (StrataRelCache *) rel->rd_amcache;

	if (cache == NULL)
	{
		int			natts = RelationGetNumberOfAttributes(rel);

		cache = MemoryContextAllocZero(CacheMemoryContext,
									   offsetof(StrataRelCache, unique) +
									   sizeof(bool) * natts);
		cache->natts = natts;
	}
	cache->locator = STRATA_REL_LOCATOR(rel);
	cache->companion = companion;
	rel->rd_amcache = cache;
	return companion;
}

/* See store.h. */
Oid
strata_companion_oid(Relation rel)
{
	StrataRelCache *cache = (StrataRelCache *) rel->rd_amcache;
	StrataLocator locator = STRATA_REL_LOCATOR(rel);

	if (rel->rd_rel->relkind != RELKIND_RELATION &&
		rel->rd_rel->relkind != RELKIND_MATVIEW)
		return InvalidOid;
	if (cache != NULL &&
		memcmp(&cache->locator, &locator, sizeof(locator)) == 0)
		return cache->companion;
	if (!IsTransactionState())
		return InvalidOid;
	return remember_companion(rel, strata_companion_lookup(rel));
}

/* See store.h. */
bool
strata_store_tracked(Relation rel, StrataTracked *tracked)
{
	StrataRelCache *cache;

	if (!rel->rd_rel->relispartition)
		return false;
	(void) strata_companion_oid(rel);
	cache = (StrataRelCache *) rel->rd_amcache;
	if (cache != NULL && cache->tracked_known)
		*tracked = cache->tracked;
	else
	{
		strata_tracked_find(rel, tracked);
		/* the look-up may have heard news: then what was found is not kept */
		if (cache != NULL && rel->rd_amcache == cache)
		{
			cache->tracked = *tracked;
			cache->tracked_known = true;
		}
	}
	return OidIsValid(tracked->hypertable);
}

/*
 * See store.h.  Asked for each row that is changed, so it is remembered; a new
 * index makes relcache forget it.
 */
Bitmapset *
strata_store_unique_columns(Relation rel, bool *any)
{
	StrataRelCache *cache;
	Bitmapset  *attrs = NULL;

	(void) strata_companion_oid(rel);
	cache = (StrataRelCache *) rel->rd_amcache;
	if (cache != NULL && cache->unique_known)
	{
		*any = cache->unique_any;
		for (int i = 0; i < cache->natts; i++)
			if (cache->unique[i])
				attrs = bms_add_member(attrs, i + 1);
		return attrs;
	}
	attrs = strata_unique_columns_find(rel, any);

	/*
	 * if the look-up has rebuilt the entry, what was found may be old already
	 */
	if (cache != NULL && rel->rd_amcache == cache)
	{
		for (int i = 0; i < cache->natts; i++)
			cache->unique[i] = bms_is_member(i + 1, attrs);
		cache->unique_any = *any;
		cache->unique_known = true;
	}
	return attrs;
}

/* CREATE or DROP ACCESS METHOD somewhere: look its oid up again. */
static void
forget_am(Datum arg, int cache_id, uint32 hash)
{
	*(Oid *) DatumGetPointer(arg) = InvalidOid;
}

/* See store.h. */
Snapshot
strata_latest_snapshot(void)
{
	if (!IsInParallelMode())
		return GetLatestSnapshot();
	InvalidateCatalogSnapshot();
	return GetCatalogSnapshot(RelationRelationId);
}

/* The companion by a scan of pg_class that trusts no cache. */
static Oid
lookup_uncached(Relation rel)
{
	StrataLocator locator = STRATA_REL_LOCATOR(rel);
	Oid			nsp = strata_companion_namespace(rel->rd_rel->relpersistence);
	Relation	pg_class;
	Snapshot	snapshot;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	char		name[NAMEDATALEN];
	Oid			companion = InvalidOid;
	Oid			owner = InvalidOid;

	if (!OidIsValid(nsp))
		return InvalidOid;
	strata_companion_name(name, &locator);
	pg_class = table_open(RelationRelationId, AccessShareLock);
	snapshot = RegisterSnapshot(strata_latest_snapshot());
	ScanKeyInit(&key[0], Anum_pg_class_relname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum(name));
	ScanKeyInit(&key[1], Anum_pg_class_relnamespace, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(nsp));
	scan = systable_beginscan(pg_class, ClassNameNspIndexId, true, snapshot, 2,
							  key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		companion = ((Form_pg_class) GETSTRUCT(tuple))->oid;
		owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	}
	systable_endscan(scan);
	companion = strata_companion_prove(rel, name, companion, owner, snapshot);
	UnregisterSnapshot(snapshot);
	table_close(pg_class, AccessShareLock);
	return companion;
}

/*
 * See store.h.  A transaction becomes visible to snapshots, then sends its
 * invalidations, then releases its locks.  So if nobody holds compression's
 * lock, whatever is visible has been announced, and the caches can be trusted
 * once the announcements are read.  A standby has no such lock to look at.
 */
Oid
strata_companion_oid_now(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);

	if (OidIsValid(strata_companion_oid(rel)))
		return strata_companion_oid(rel);
	if (RELATION_IS_LOCAL(rel) ||
		rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		return InvalidOid;
	if (RecoveryInProgress() ||
		!ConditionalLockRelationOid(relid, RowExclusiveLock))
	{
		Oid			companion = lookup_uncached(rel);

		if (!OidIsValid(companion))
			return InvalidOid;
		/* its announcement may still be on the way: do not wait for it */
		InvalidateCatalogSnapshot();
		return remember_companion(rel, companion);
	}
	UnlockRelationOid(relid, RowExclusiveLock);
	AcceptInvalidationMessages();
	return strata_companion_oid(rel);
}

/* See store.h. */
bool
strata_is_strata_am(Oid am)
{
	static Oid	strata_am = InvalidOid;
	static bool registered = false;

	if (!OidIsValid(am) || am == HEAP_TABLE_AM_OID)
		return false;
	if (!registered)
	{
		CacheRegisterSyscacheCallback(AMOID, forget_am,
									  PointerGetDatum(&strata_am));
		registered = true;
	}
	if (!OidIsValid(strata_am))
		strata_am = get_table_am_oid(STRATA_EXTENSION, true);
	return am == strata_am;
}

/*-------------------------------------------------------------------------
 * Indexes
 *-------------------------------------------------------------------------
 */

/* Number of keys; 0 when one of them has no column. */
static int
all_there(const AttrNumber *keys, int n)
{
	for (int i = 0; i < n; i++)
		if (keys[i] == 0)
			return 0;
	return n;
}

/* See store_private.h. */
int
strata_companion_segment_keys(const StrataBatchSchema *schema,
							  const StrataLayout *layout, bool by_max,
							  AttrNumber *keys)
{
	int			n = 0;

	if ((by_max && layout->norder == 0) ||
		1 + layout->nsegment + (layout->norder > 0 ? 2 : 0) > INDEX_MAX_KEYS)
		return 0;

	/*
	 * the layout, which seldom tells anything, is not what a page of keys is
	 * compared by first
	 */
	for (int i = 0; i < layout->nsegment; i++)
		keys[n++] = schema->seg_att[layout->segment[i]];
	keys[n++] = STRATA_BATCH_ATT_LAYOUT;
	if (layout->norder > 0)
	{
		AttrNumber	min = schema->min_att[layout->order[0].attno];
		AttrNumber	max = schema->max_att[layout->order[0].attno];

		keys[n++] = by_max ? max : min;
		keys[n++] = by_max ? min : max;
	}
	return all_there(keys, n);
}

/* See store_private.h. */
int
strata_companion_span_keys(const StrataBatchSchema *schema,
						   const StrataLayout *layout, bool by_max,
						   AttrNumber *keys)
{
	int			n = 0;

	if (layout->norder == 0 || layout->nsegment + 2 > INDEX_MAX_KEYS)
		return 0;
	for (int i = 0; i < layout->nsegment; i++)
		keys[n++] = schema->seg_att[layout->segment[i]];
	keys[n++] = STRATA_BATCH_ATT_LAYOUT;
	keys[n++] = schema->span_att[layout->order[0].attno];
	return all_there(keys, n);
}

/* See store_private.h. */
int
strata_companion_order_keys(const StrataBatchSchema *schema,
							const StrataLayout *layout, bool by_max,
							AttrNumber *keys)
{
	if (layout->norder == 0)
		return 0;
	keys[0] = STRATA_BATCH_ATT_LAYOUT;
	keys[1] = by_max ? schema->max_att[layout->order[0].attno] :
		schema->min_att[layout->order[0].attno];
	return all_there(keys, 2);
}

/* See store_private.h. */
int
strata_companion_layout_keys(const StrataBatchSchema *schema,
							 const StrataLayout *layout, bool by_max,
							 AttrNumber *keys)
{
	if (layout->norder > 0)
		return strata_companion_order_keys(schema, layout, true, keys);
	keys[0] = STRATA_BATCH_ATT_LAYOUT;
	return 1;
}

static Oid
find_index(StrataStore *store, StrataIndexKeys keys_of,
		   const StrataLayout *layout, bool by_max)
{
	AttrNumber	keys[INDEX_MAX_KEYS];
	int			n = keys_of(store->schema, layout, by_max, keys);

	return n > 0 ? strata_companion_find_index(store->batches, keys, n) :
		InvalidOid;
}

/* See store.h. */
Oid
strata_store_segment_index(StrataStore *store, const StrataLayout *layout,
						   bool by_max)
{
	return find_index(store, strata_companion_segment_keys, layout, by_max);
}

/* See store.h. */
Oid
strata_store_order_index(StrataStore *store, const StrataLayout *layout,
						 bool by_max)
{
	if (layout->nsegment == 0 && layout->norder > 0 && !by_max)
		return strata_store_segment_index(store, layout, false);
	return find_index(store, strata_companion_order_keys, layout, by_max);
}

/* See store.h. */
Oid
strata_store_span_index(StrataStore *store, const StrataLayout *layout)
{
	return find_index(store, strata_companion_span_keys, layout, false);
}

/* See store.h. */
Oid
strata_store_layout_index(StrataStore *store, const StrataLayout *layout)
{
	return find_index(store, strata_companion_layout_keys, layout, true);
}

/*-------------------------------------------------------------------------
 * Opening
 *-------------------------------------------------------------------------
 */

/* See store.h. */
StrataStore *
strata_store_open(Relation rel, LOCKMODE lockmode)
{
	return strata_store_open_as(rel, RelationGetDescr(rel), lockmode);
}

/* See store.h. */
StrataStore *
strata_store_open_as(Relation rel, TupleDesc desc, LOCKMODE lockmode)
{
	Oid			companion = strata_companion_oid(rel);
	StrataStore *store;

	if (!OidIsValid(companion))
		return NULL;
	Assert(CheckRelationLockedByMe(rel, AccessShareLock,
								   true));	/* store:S9 */
	store = palloc0(sizeof(StrataStore));
	store->rel = rel;
	store->lockmode = lockmode;
	store->batches = table_open(companion, lockmode);
	store->schema = strata_companion_schema(desc, store->batches);
	if (OidIsValid(store->batches->rd_rel->reltoastrelid))
		store->toast =
			strata_toast_fetcher_create(store->batches->rd_rel->reltoastrelid);
	return store;
}

/* See store.h. */
void
strata_store_close(StrataStore *store, LOCKMODE lockmode)
{
	if (store->toast != NULL)
		strata_toast_fetcher_free(store->toast);
	table_close(store->batches, lockmode);
	pfree(store);
}

/* See store_companion.h. */
bool
strata_companion_is_outdated(StrataStore *store, const StrataLayout *layout)
{
	for (int i = 0; i < layout->nsegment; i++)
	{
		AttrNumber	catt = store->schema->seg_att[layout->segment[i]];

		if (catt != 0 &&
			!strata_batch_schema_same_type(store->schema, layout->segment[i],
										   catt))
			return true;
	}
	for (int i = 0; i < layout->norder; i++)
	{
		AttrNumber	catt = store->schema->min_att[layout->order[i].attno];

		if (catt != 0 &&
			!strata_batch_schema_same_type(store->schema,
										   layout->order[i].attno, catt))
			return true;
	}
	return false;
}

/*
 * Without settings: ordered by the first column that holds a time,
 * unsegmented.
 */
static AttrNumber
default_order_column(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (strata_attribute_is_kept(att) &&
			(att->atttypid == TIMESTAMPTZOID ||
			 att->atttypid == TIMESTAMPOID || att->atttypid == DATEOID))
			return att->attnum;
	}
	return InvalidAttrNumber;
}

/* See store.h. */
StrataLayout *
strata_store_current_layout(Relation rel)
{
	return strata_store_layout_of(rel, strata_settings_get(rel));
}

/* See store.h. */
StrataLayout *
strata_store_layout_of(Relation rel, const StrataSettings *settings)
{
	StrataLayout *layout = palloc0(sizeof(StrataLayout));

	layout->segment = palloc(sizeof(AttrNumber) * (settings->nsegmentby + 1));
	layout->order = palloc0(sizeof(StrataOrderKey) * (settings->norderby + 1));
	for (int i = 0; i < settings->nsegmentby; i++)
		layout->segment[layout->nsegment++] = settings->segmentby[i].attno;
	for (int i = 0; i < settings->norderby; i++)
	{
		layout->order[layout->norder].attno = settings->orderby[i].attno;
		layout->order[layout->norder].desc = settings->orderby[i].desc;
		layout->order[layout->norder++].nulls_first =
			settings->orderby[i].nulls_first;
	}
	if (!settings->has_orderby)
	{
		AttrNumber	attno = default_order_column(RelationGetDescr(rel));

		if (attno != InvalidAttrNumber &&
			strata_layout_segment_index(layout, attno) < 0)
		{
			layout->order[0].attno = attno;
			layout->order[0].desc = true;
			layout->order[0].nulls_first = true;
			layout->norder = 1;
		}
	}
	layout->text = strata_layout_format(layout);
	return layout;
}

/*-------------------------------------------------------------------------
 * Moves and end
 *-------------------------------------------------------------------------
 */

/* See store_companion.h. */
void
strata_companion_rekey(Oid companion, const StrataLocator *to)
{
	char		name[NAMEDATALEN];

	Assert(strata_companion_is(companion)); /* store:S7 */
	strata_companion_name(name, to);
	RenameRelationInternal(companion, name, true, false);
	CommandCounterIncrement();
}

/* See store_companion.h. */
void
strata_companion_bind(Oid companion, Oid relid)
{
	Relation	pg_depend;
	Bitmapset  *wanted = NULL;
	Bitmapset  *bound = NULL;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	ObjectAddress column;
	ObjectAddress table;
	int			attnum = 0;

	if (!OidIsValid(relid))
		return;
	pg_depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyInit(&key[0], Anum_pg_depend_classid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(companion));
	scan = systable_beginscan(pg_depend, DependDependerIndexId, true, NULL, 2,
							  key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->deptype == DEPENDENCY_AUTO &&
			form->refclassid == RelationRelationId && form->refobjid == relid)
			bound = bms_add_member(bound, form->objsubid);
		else if (form->objsubid > 0 && form->deptype == DEPENDENCY_NORMAL &&
				 strncmp(get_attname(companion, form->objsubid, false), "col_",
						 4) != 0)
			wanted = bms_add_member(wanted, form->objsubid);
	}
	systable_endscan(scan);
	table_close(pg_depend, AccessShareLock);
	ObjectAddressSet(table, RelationRelationId, relid);
	while ((attnum = bms_next_member(wanted, attnum)) > 0)
	{
		ObjectAddressSubSet(column, RelationRelationId, companion, attnum);
		if (!bms_is_member(attnum, bound))
			recordDependencyOn(&column, &table, DEPENDENCY_AUTO);
	}
}

/* The table that strata_companion_bind made the column depend on. */
static Oid
table_of_column(Oid companion, AttrNumber attno)
{
	Relation	pg_depend = table_open(DependRelationId, AccessShareLock);
	Oid			result = InvalidOid;
	ScanKeyData key[3];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], Anum_pg_depend_classid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(companion));
	ScanKeyInit(&key[2], Anum_pg_depend_objsubid, BTEqualStrategyNumber,
				F_INT4EQ, Int32GetDatum(attno));
	scan = systable_beginscan(pg_depend, DependDependerIndexId, true, NULL, 3,
							  key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->deptype == DEPENDENCY_AUTO &&
			form->refclassid == RelationRelationId && form->refobjsubid == 0)
			result = form->refobjid;
	}
	systable_endscan(scan);
	table_close(pg_depend, AccessShareLock);
	return result;
}

/*
 * Is column attno of R there, of another type or collation than the
 * companion's column catt?
 */
static bool
is_column_of_former_type(Oid companion, AttrNumber catt, Oid relid,
						 AttrNumber attno)
{
	HeapTuple	mine = SearchSysCache2(ATTNUM, ObjectIdGetDatum(companion),
									   Int16GetDatum(catt));
	HeapTuple	theirs = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid),
										 Int16GetDatum(attno));
	bool		result = false;

	if (HeapTupleIsValid(mine) && HeapTupleIsValid(theirs))
	{
		Form_pg_attribute a = (Form_pg_attribute) GETSTRUCT(mine);
		Form_pg_attribute b = (Form_pg_attribute) GETSTRUCT(theirs);

		result = !b->attisdropped &&
			(a->atttypid != getBaseType(b->atttypid) ||
			 a->attcollation != b->attcollation);
	}
	if (HeapTupleIsValid(mine))
		ReleaseSysCache(mine);
	if (HeapTupleIsValid(theirs))
		ReleaseSysCache(theirs);
	return result;
}

/*
 * See store_companion.h.  PostgreSQL drops what depends on a type together
 * with it: a column of R of that type, and those of the companion.  After
 * ALTER TYPE it is the companion's alone.
 */
void
strata_companion_column_dropped(Oid relid, AttrNumber attno)
{
	char	   *name;
	char	   *full;
	int			number;
	Oid			table;
	Relation	batches;
	BlockNumber nblocks;

	if (!strata_companion_is(relid))
		return;
	name = get_attname(relid, attno, true);
	table = table_of_column(relid, attno);
	if (name == NULL || !OidIsValid(table) ||
		sscanf(name, "%*[a-z]_%d", &number) != 1 ||
		!is_column_of_former_type(relid, attno, table, (AttrNumber) number))
		return;
	batches = table_open(relid, NoLock);
	nblocks = RelationGetNumberOfBlocks(batches);
	table_close(batches, NoLock);
	full = strata_sql_name(table);
	if (nblocks > 0)
		ereport(ERROR,
				(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
				 errmsg("cannot drop what batches of table \"%s\" still use",
						get_rel_name(table)),
				 errdetail("Values of column \"%s\" are kept as they were before its type or collation was altered.",
						   get_attname(table, (AttrNumber) number, false)),
				 errhint("SELECT compress_chunk(%s, recompress => true); VACUUM %s;",
						 quote_literal_cstr(full), full)));
}

static void
drop_table(Oid table)
{
	ObjectAddress address;

	ObjectAddressSet(address, RelationRelationId, table);
	performDeletion(&address, DROP_CASCADE,
					PERFORM_DELETION_INTERNAL | PERFORM_DELETION_QUIETLY |
					PERFORM_DELETION_SKIP_EXTENSIONS);
}

/* See store_companion.h. */
void
strata_companion_drop(Oid companion)
{
	Relation	batches = table_open(companion, AccessExclusiveLock);
	Oid			index = strata_index_relation_oid(batches);

	Assert(strata_companion_is(companion)); /* store:S7 */
	table_close(batches, NoLock);
	if (OidIsValid(index))
		drop_table(index);
	drop_table(companion);
}

/* See store_companion.h. */
void
strata_companion_drop_of(const StrataLocator *locator, char persistence)
{
	char		name[NAMEDATALEN];
	Oid			table;

	strata_companion_name(name, locator);
	table = lookup_name(name, persistence);
	if (OidIsValid(table) && strata_companion_is(table))
		strata_companion_drop(table);
}
