/*-------------------------------------------------------------------------
 *
 * chunk_rewrite.c
 *	  Merges chunks into one, and splits one in two.
 *
 * The rows that stay or come together are written into fresh storage of the
 * earliest chunk, as ALTER TABLE's rewriting forms do it: the chunk keeps its
 * OID, indexes, privileges and all that refers to it, and its batches become
 * rows.  Rows are written frozen, so that a transaction with an older snapshot
 * sees them afterwards as it would have seen them before; rows that were
 * committed since that snapshot it sees too.  No trigger fires and nothing is
 * logically decoded: the hypertable's rows have not changed.
 *
 * The range of the chunk that stays is changed in the catalog, not by DETACH
 * and ATTACH, which would refuse while foreign keys refer to its rows.
 *
 * src/hypertable/chunk_rewrite.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"
#include "pg/pg.h"
#include "store/store.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/hio.h"
#include "access/multixact.h"
#include "access/table.h"
#include "access/tupconvert.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "commands/cluster.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "base/compat.h"

/* As they are, for everybody, and unheard by logical decoding. */
#define WRITE_OPTIONS \
	(TABLE_INSERT_SKIP_FSM | TABLE_INSERT_FROZEN | TABLE_INSERT_NO_LOGICAL)

/* See hypertable.h. */
bool		strata_chunk_is_merging = false;

/*-------------------------------------------------------------------------
 * Rows into fresh storage
 *-------------------------------------------------------------------------
 */

/* A table that rows are written into. */
typedef struct Writer
{
	Relation	rel;			/* has the storage */
	TupleTableSlot *slot;		/* virtual, of rel's columns */
	BulkInsertState bulk;
	CommandId	cid;
} Writer;

static void
writer_open(Writer *writer, Oid relid)
{
	writer->rel = table_open(relid, AccessExclusiveLock);
	writer->slot = MakeSingleTupleTableSlot(RelationGetDescr(writer->rel),
											&TTSOpsVirtual);
	writer->bulk = GetBulkInsertState();
	writer->cid = GetCurrentCommandId(true);
}

static void
writer_close(Writer *writer)
{
	ExecDropSingleTupleTableSlot(writer->slot);
	FreeBulkInsertState(writer->bulk);
	table_finish_bulk_insert(writer->rel, WRITE_OPTIONS);
	table_close(writer->rel, NoLock);
}

/*
 * Fill the writer's slot from a row of another table.  map is NULL when both
 * have the same columns: still each value is fetched, because one that
 * PostgreSQL adds on reading (an added column's default) is not in the tuple,
 * and dropped columns become null.
 */
static void
convert_row(Writer *writer, TupleConversionMap *map, TupleTableSlot *row)
{
	TupleDesc	desc = RelationGetDescr(writer->rel);
	TupleTableSlot *slot = writer->slot;

	if (map != NULL)
	{
		(void) execute_attr_map_slot(map->attrMap, row, slot);
		return;
	}
	slot_getallattrs(row);
	ExecClearTuple(slot);
	for (int i = 0; i < desc->natts; i++)
	{
		bool		dropped = TupleDescAttr(desc, i)->attisdropped;

		slot->tts_isnull[i] = dropped || row->tts_isnull[i];
		slot->tts_values[i] = dropped ? (Datum) 0 : row->tts_values[i];
	}
	ExecStoreVirtualTuple(slot);
}

static void
writer_put(Writer *writer)
{
	table_tuple_insert(writer->rel, writer->slot, writer->cid, WRITE_OPTIONS,
					   writer->bulk);
}

/*
 * Copy all rows of a chunk.  checks: a table whose CHECK and NOT NULL
 * constraints they must keep, or NULL.
 */
static void
copy_rows(Relation source, Writer *writer, Relation checks)
{
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *result = makeNode(ResultRelInfo);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(source, snapshot, 0, NULL);
	TupleTableSlot *row = table_slot_create(source, NULL);
	TupleConversionMap *map;

	map = checks == NULL ? NULL :
		convert_tuples_by_name(RelationGetDescr(source),
							   RelationGetDescr(checks));
	if (checks != NULL)
		InitResultRelInfo(result, checks, 0, NULL, 0);
	while (table_scan_getnextslot(scan, ForwardScanDirection, row))
	{
		CHECK_FOR_INTERRUPTS();
		convert_row(writer, map, row);
		if (checks != NULL && RelationGetDescr(checks)->constr != NULL)
			ExecConstraints(result, writer->slot, estate);
		writer_put(writer);
		ResetPerTupleExprContext(estate);
	}
	ExecDropSingleTupleTableSlot(row);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	FreeExecutorState(estate);
}

/* Like the chunk, but empty; to be filled, and then given to finish_swap. */
static Oid
make_storage(Relation chunk, Oid access_method)
{
	return make_new_heap(RelationGetRelid(chunk), chunk->rd_rel->reltablespace,
						 access_method, chunk->rd_rel->relpersistence,
						 AccessExclusiveLock);
}

/* The chunk gets the filled storage, and its indexes are built anew. */
static void
swap_storage(Oid chunk, char persistence, Oid storage)
{
	CommandCounterIncrement();
	finish_heap_swap(chunk, storage, false, false, true, true, RecentXmin,
					 ReadNextMultiXactId(), persistence);
	CommandCounterIncrement();
}

/*-------------------------------------------------------------------------
 * The catalog
 *-------------------------------------------------------------------------
 */

/* An end of a range as it stands in a partition bound. */
static List *
bound_datums(Relation parent, bool unbounded, PartitionRangeDatumKind kind,
			 Oid key_type, int64 time)
{
	PartitionKey key = RelationGetPartitionKey(parent);
	PartitionRangeDatum *datum = makeNode(PartitionRangeDatum);

	datum->location = -1;
	datum->kind = unbounded ? kind : PARTITION_RANGE_DATUM_VALUE;
	if (!unbounded)
		datum->value = (Node *) makeConst(key->parttypid[0],
										  key->parttypmod[0],
										  key->parttypcoll[0],
										  key->parttyplen[0],
										  strata_time_to_datum(key_type, time),
										  false, key->parttypbyval[0]);
	return list_make1(datum);
}

/* Give a chunk another range, which must be free but for its own. */
static void
set_range(Oid hypertable, Oid chunk, Oid key_type,
		  const StrataChunkRange *range)
{
	Relation	parent = table_open(hypertable, NoLock);
	PartitionBoundSpec *spec = makeNode(PartitionBoundSpec);

	spec->strategy = PARTITION_STRATEGY_RANGE;
	spec->location = -1;
	spec->lowerdatums = bound_datums(parent, range->no_lo,
									 PARTITION_RANGE_DATUM_MINVALUE, key_type,
									 range->lo);
	spec->upperdatums = bound_datums(parent, range->no_hi,
									 PARTITION_RANGE_DATUM_MAXVALUE, key_type,
									 range->hi);
	strata_relpartbound_set(chunk, spec);
	CacheInvalidateRelcache(parent);
	table_close(parent, NoLock);
	CommandCounterIncrement();
}

/*
 * See hypertable_private.h.  The same privileges on one table as on another of
 * the same owner.
 */
void
strata_chunk_copy_privileges(Oid from, Oid to)
{
	HeapTuple	source = SearchSysCache1(RELOID, ObjectIdGetDatum(from));
	Form_pg_class form;
	bool		isnull;
	Datum		acl;

	if (!HeapTupleIsValid(source))
		elog(ERROR, "cache lookup failed for relation %u", from);
	form = (Form_pg_class) GETSTRUCT(source);
	acl = SysCacheGetAttr(RELOID, source, Anum_pg_class_relacl, &isnull);
	/* policies do not come along, and without them it would be too much */
	if (!isnull && !form->relrowsecurity)
	{
		Oid		   *members;
		int			nmembers = aclmembers(DatumGetAclP(acl), &members);

		strata_relacl_set(to, acl);
		updateAclDependencies(RelationRelationId, to, 0, form->relowner, 0,
							  NULL, nmembers, members);
	}
	ReleaseSysCache(source);
	CommandCounterIncrement();
}

/* Has the table rows in batches? */
static bool
has_batches(Relation rel)
{
	StrataStore *store;
	TupleTableSlot *slot;
	Snapshot	snapshot;
	bool		found;

	store = strata_relation_is_strata(rel) ?
		strata_store_open(rel, AccessShareLock) : NULL;
	if (store == NULL)
		return false;
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	slot = table_slot_create(store->batches, NULL);
	found = strata_store_find_last_batch(store, snapshot, slot);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	strata_store_close(store, NoLock);
	return found;
}

/*-------------------------------------------------------------------------
 * Merging
 *-------------------------------------------------------------------------
 */

/* ereport when the chunks, in order of time, are not neighbours. */
static void
check_adjacent(const List *chunks)
{
	for (int i = 1; i < list_length(chunks); i++)
	{
		const StrataChunk *before = list_nth(chunks, i - 1);
		const StrataChunk *after = list_nth(chunks, i);

		if (before->range.no_hi || after->range.no_lo ||
			before->range.hi != after->range.lo)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot merge chunks \"%s\" and \"%s\", which are not adjacent",
							get_rel_name(before->relid),
							get_rel_name(after->relid)),
					 errhint("Merge the chunks between them too, or have a chunk made where there is none.")));
	}
}

/*
 * strata where one of the chunks has it, since there may be batches; else the
 * first one's.
 */
static Oid
choose_access_method(const List *chunks)
{
	Oid			result = InvalidOid;
	ListCell   *lc;

	foreach(lc, chunks)
	{
		Relation	rel = table_open(((StrataChunk *) lfirst(lc))->relid,
									 NoLock);

		if (!OidIsValid(result) || strata_relation_is_strata(rel))
			result = rel->rd_rel->relam;
		table_close(rel, NoLock);
	}
	return result;
}

/*
 * See hypertable_private.h.  Take the rows away from a chunk that is about to
 * go: foreign keys would find them there.
 */
void
strata_chunk_empty(Oid chunk)
{
	Relation	rel = table_open(chunk, NoLock);
	ReindexParams params = {0};

	strata_relation_set_new_storage(rel, rel->rd_rel->relpersistence);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	strata_reindex_relation(chunk, &params);
	CommandCounterIncrement();
}

/* Drop chunks whose rows another one has. */
static void
drop_merged(const StrataHypertable *ht, const List *chunks)
{
	strata_chunk_is_merging = true;
	PG_TRY();
	{
		strata_chunk_drop(ht, chunks);
	}
	PG_FINALLY();
	{
		strata_chunk_is_merging = false;
	}
	PG_END_TRY();
}

/* See hypertable.h. */
Oid
strata_chunk_merge(const StrataHypertable *ht, List *chunks, bool *compressed)
{
	StrataChunk *first = linitial(chunks);
	StrataChunk *last = llast(chunks);
	StrataChunkRange range = {first->range.lo, last->range.hi,
	first->range.no_lo, last->range.no_hi};
	List	   *others = NIL;
	Relation	target;
	Oid			storage;
	char		persistence;
	Writer		writer;
	ListCell   *lc;

	Assert(list_length(chunks) >= 2);	/* hypertable:Y8 */
	check_adjacent(chunks);
	*compressed = false;
	for_each_from(lc, chunks, 1)
		strata_chunk_name_own(ht->relid, ((StrataChunk *) lfirst(lc))->relid);
	target = table_open(first->relid, NoLock);
	strata_chunk_refuse_own_key(ht->relid, target);
	persistence = target->rd_rel->relpersistence;
	storage = make_storage(target, choose_access_method(chunks));
	writer_open(&writer, storage);
	foreach(lc, chunks)
	{
		StrataChunk *chunk = lfirst(lc);
		Relation	rel = table_open(chunk->relid, NoLock);

		*compressed |= has_batches(rel);
		TransferPredicateLocksToHeapRelation(rel);
		copy_rows(rel, &writer, chunk == first ? NULL : target);
		table_close(rel, NoLock);
		if (chunk != first)
			others = lappend_oid(others, chunk->relid);
	}
	writer_close(&writer);
	table_close(target, NoLock);
	if (strata_hypertable_is_referenced(ht->relid))
		foreach(lc, others)
			strata_chunk_empty(lfirst_oid(lc));
	drop_merged(ht, others);
	CommandCounterIncrement();

	/*
	 * with the others gone, so that unique indexes are built over a range
	 * that is free
	 */
	set_range(ht->relid, first->relid, ht->key_type, &range);
	swap_storage(first->relid, persistence, storage);
	strata_hypertable_note_divided(ht->relid);
	return first->relid;
}

/*-------------------------------------------------------------------------
 * Splitting
 *-------------------------------------------------------------------------
 */

/* What tells a row's time. */
typedef struct Clock
{
	const StrataHypertable *ht;
	TupleConversionMap *map;	/* to the hypertable's columns; NULL: the same */
	TupleTableSlot *slot;		/* of the hypertable */
	ExprState  *key;			/* NULL: a column */
	AttrNumber	attno;
	EState	   *estate;
} Clock;

static void
clock_open(Clock *clock, const StrataHypertable *ht, Relation parent,
		   Relation chunk)
{
	PartitionKey key = RelationGetPartitionKey(parent);

	clock->ht = ht;
	clock->map = convert_tuples_by_name(RelationGetDescr(chunk),
										RelationGetDescr(parent));
	clock->slot = MakeSingleTupleTableSlot(RelationGetDescr(parent),
										   &TTSOpsVirtual);
	clock->estate = CreateExecutorState();
	clock->attno = key->partattrs[0];
	clock->key = clock->attno == 0 ?
		ExecPrepareExpr(linitial(key->partexprs), clock->estate) :
		NULL;
}

static int64
clock_read(Clock *clock, TupleTableSlot *row)
{
	ExprContext *context = GetPerTupleExprContext(clock->estate);
	bool		isnull;
	Datum		value;

	if (clock->map != NULL)
		row = execute_attr_map_slot(clock->map->attrMap, row, clock->slot);
	ResetExprContext(context);
	context->ecxt_scantuple = row;
	value = clock->key == NULL ? slot_getattr(row, clock->attno, &isnull) :
		ExecEvalExprSwitchContext(clock->key, context, &isnull);
	if (isnull)
		elog(ERROR, "time of a row of a chunk is null");
	return strata_time_from_datum(clock->ht->key_type, value);
}

static void
clock_close(Clock *clock)
{
	ExecDropSingleTupleTableSlot(clock->slot);
	FreeExecutorState(clock->estate);
}

/* The rows of a chunk into two tables. */
static void
divide_rows(Relation chunk, Clock *clock, int64 at, Writer *early,
			Writer *late)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(chunk, snapshot, 0, NULL);
	TupleTableSlot *row = table_slot_create(chunk, NULL);
	TupleConversionMap *map;

	map = convert_tuples_by_name(RelationGetDescr(chunk),
								 RelationGetDescr(late->rel));
	while (table_scan_getnextslot(scan, ForwardScanDirection, row))
	{
		bool		is_late = clock_read(clock, row) >= at;
		Writer	   *writer = is_late ? late : early;

		CHECK_FOR_INTERRUPTS();
		convert_row(writer, is_late ? map : NULL, row);
		writer_put(writer);
	}
	ExecDropSingleTupleTableSlot(row);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
}

/* See hypertable.h. */
Oid
strata_chunk_split(const StrataHypertable *ht, const StrataChunk *chunk,
				   int64 at, bool *compressed)
{
	Relation	parent = table_open(ht->relid, NoLock);
	Relation	rel = table_open(chunk->relid, NoLock);
	StrataChunkRange low = chunk->range;
	StrataChunkRange high = chunk->range;
	char		persistence = rel->rd_rel->relpersistence;
	Oid			storage;
	Oid			second;
	Writer		early;
	Writer		late;
	Clock		clock;

	Assert(CheckRelationLockedByMe(parent, AccessExclusiveLock,
								   false)); /* hypertable:Y8 */
	Assert(strata_range_holds(&chunk->range, at) &&
		   (low.no_lo || low.lo < at)); /* hypertable:Y8 */
	strata_chunk_refuse_reference(rel);
	strata_chunk_name_own(ht->relid, chunk->relid);
	low.hi = high.lo = at;
	low.no_hi = high.no_lo = false;
	*compressed = has_batches(rel);
	second = strata_chunk_make_table(parent, ht, &high,
									 rel->rd_rel->reltablespace);
	storage = make_storage(rel, rel->rd_rel->relam);
	CommandCounterIncrement();
	writer_open(&early, storage);
	writer_open(&late, second);
	clock_open(&clock, ht, parent, rel);
	TransferPredicateLocksToHeapRelation(rel);
	divide_rows(rel, &clock, at, &early, &late);
	clock_close(&clock);
	writer_close(&early);
	writer_close(&late);
	table_close(rel, NoLock);
	table_close(parent, NoLock);
	swap_storage(chunk->relid, persistence, storage);
	set_range(ht->relid, chunk->relid, ht->key_type, &low);
	strata_chunk_copy_privileges(chunk->relid, second);
	strata_chunk_attach(second, ht, &high);
	CommandCounterIncrement();
	strata_hypertable_note_divided(ht->relid);
	return second;
}
