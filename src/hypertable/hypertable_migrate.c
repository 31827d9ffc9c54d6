/*-------------------------------------------------------------------------
 *
 * hypertable_migrate.c
 *	  Moves the rows of a table that becomes a hypertable into chunks.
 *
 * One pass over the table; each row goes as it is, generated columns and all,
 * into the table of its chunk.  No trigger fires and no constraint is checked:
 * the rows have not changed.  ATTACH builds the indexes afterwards.
 *
 * src/hypertable/hypertable_migrate.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"

#include "access/heapam.h"
#include "access/hio.h"
#include "access/table.h"
#include "access/tupconvert.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/hsearch.h"
#include "utils/snapmgr.h"

/*
 * The rows have only changed their place: logical decoding has had them
 * before.
 */
#define MOVE_OPTIONS (TABLE_INSERT_SKIP_FSM | TABLE_INSERT_NO_LOGICAL)

/* A chunk being filled. */
typedef struct Target
{
	int64		lo;				/* key of the hash: where its range begins */
	StrataChunk chunk;
	Relation	rel;
	TupleConversionMap *map;	/* NULL: same columns */
	TupleTableSlot *slot;
} Target;

typedef struct Move
{
	Relation	source;
	const StrataHypertable *ht;
	ExprState  *key;			/* NULL: the column itself */
	EState	   *estate;
	HTAB	   *targets;
	Target	   *last;
	BulkInsertState bulk;		/* pins a page of the last target */
} Move;

/* A row's key as time; ereports when it is null. */
static int64
row_time(Move *move, TupleTableSlot *slot)
{
	bool		isnull;
	Datum		value;

	if (move->key == NULL)
		value = slot_getattr(slot, move->ht->attno, &isnull);
	else
	{
		ExprContext *context = GetPerTupleExprContext(move->estate);

		context->ecxt_scantuple = slot;
		value = ExecEvalExprSwitchContext(move->key, context, &isnull);
	}
	if (isnull)
		ereport(ERROR, (errcode(ERRCODE_NOT_NULL_VIOLATION),
						errmsg("time of a row of table \"%s\" is null",
							   RelationGetRelationName(move->source))));
	return strata_time_from_datum(move->ht->key_type, value);
}

static void
fill_target(Move *move, Target *target, const StrataChunkRange *range)
{
	target->chunk.range = *range;
	target->chunk.relid =
		strata_chunk_make_table(move->source, move->ht, range,
								move->source->rd_rel->reltablespace);
	CommandCounterIncrement();
	target->rel = table_open(target->chunk.relid, AccessExclusiveLock);
	target->map = convert_tuples_by_name(RelationGetDescr(move->source),
										 RelationGetDescr(target->rel));
	target->slot = table_slot_create(target->rel, NULL);
}

static Target *
find_chunk_target(Move *move, int64 time)
{
	StrataChunkRange range;
	bool		found;

	if (move->last != NULL &&
		strata_range_holds(&move->last->chunk.range, time))
		return move->last;
	ReleaseBulkInsertStatePin(move->bulk);
	strata_time_chunk_range(move->ht->key_type, move->ht->interval, time,
							&range);
	Assert(strata_range_holds(&range, time));	/* hypertable:Y2 */
	move->last = hash_search(move->targets, &range.lo, HASH_ENTER, &found);
	if (!found)
		fill_target(move, move->last, &range);
	return move->last;
}

static void
move_row(Move *move, TupleTableSlot *slot, CommandId cid)
{
	Target	   *target = find_chunk_target(move, row_time(move, slot));

	if (target->map != NULL)
		slot = execute_attr_map_slot(target->map->attrMap, slot, target->slot);
	else
		slot = ExecCopySlot(target->slot, slot);
	table_tuple_insert(target->rel, slot, cid, MOVE_OPTIONS, move->bulk);
	ResetPerTupleExprContext(move->estate);
}

/* Close all; the result is the list of StrataChunk *. */
static List *
finish_move(Move *move)
{
	List	   *chunks = NIL;
	HASH_SEQ_STATUS status;
	Target	   *target;

	FreeBulkInsertState(move->bulk);
	hash_seq_init(&status, move->targets);
	while ((target = hash_seq_search(&status)) != NULL)
	{
		ExecDropSingleTupleTableSlot(target->slot);
		table_finish_bulk_insert(target->rel, MOVE_OPTIONS);
		table_close(target->rel, NoLock);
		chunks = lappend(chunks, &target->chunk);
	}
	FreeExecutorState(move->estate);
	CommandCounterIncrement();
	return chunks;
}

/* See hypertable_private.h. */
List *
strata_hypertable_move_rows(Relation rel, const StrataHypertable *ht,
							Node *key_expression)
{
	Move		move =
	{.source = rel,.ht = ht,.estate = CreateExecutorState()};
	CommandId	cid = GetCurrentCommandId(true);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(rel, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	HASHCTL		ctl = {.keysize = sizeof(int64),
		.entrysize = sizeof(Target),
	.hcxt = CurrentMemoryContext};

	move.targets = hash_create("chunks to fill", 64, &ctl,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	move.bulk = GetBulkInsertState();
	if (key_expression != NULL)
		move.key = ExecPrepareExpr((Expr *) key_expression, move.estate);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		move_row(&move, slot, cid);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	return finish_move(&move);
}
