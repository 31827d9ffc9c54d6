/*-------------------------------------------------------------------------
 *
 * chunk_load.c
 *	  COPY FROM into a hypertable, many rows at a time.
 *
 * ModifyTable inserts row by row; COPY into a plain table collects rows and
 * inserts them together, which costs less WAL and less locking of pages.  This
 * does the same with the executor that chunk_copy.c has set up: rows come from
 * the node below ModifyTable, so their chunks are there, and are collected for
 * one chunk at a time.  Where a trigger or a volatile function could look at
 * rows that are still collected, ModifyTable goes its own way.
 *
 * src/hypertable/chunk_load.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"

#include "access/heapam.h"
#include "access/tupconvert.h"
#include "commands/copyfrom_internal.h"
#include "commands/trigger.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

/* As COPY has it. */
#define MAX_ROWS 1000
#define MAX_BYTES 65535
#define MAX_BUFFERS 32

/* Rows collected for one chunk. */
typedef struct LoadBuffer
{
	ResultRelInfo *target;
	int			nrows;
	Size		nbytes;
	BulkInsertState bulk;
	TupleTableSlot *slots[MAX_ROWS];	/* made when first needed */
	uint64		lines[MAX_ROWS];
} LoadBuffer;

typedef struct Load
{
	CopyFromState copy;
	EState	   *estate;
	List	   *buffers;		/* of LoadBuffer *, all empty but the current one */
	LoadBuffer *current;
} Load;

/* See hypertable_private.h. */
bool
strata_load_can_collect(ModifyTableState *mt, CopyFromState copy, List *where)
{
	TriggerDesc *triggers = mt->rootResultRelInfo->ri_TrigDesc;

	if (!strata_enable_multi_insert || mt->mt_partition_tuple_routing == NULL || copy->volatile_defexprs ||
		contain_volatile_functions((Node *) where))
		return false;
	return triggers == NULL ||
		!(triggers->trig_insert_before_row || triggers->trig_insert_instead_row || triggers->trig_insert_new_table);
}

/* Index entries and triggers of a row that has been inserted. */
static void
after_insert(Load *load, ResultRelInfo *target, TupleTableSlot *slot)
{
	List	   *recheck = NIL;

	if (target->ri_NumIndices > 0)
		recheck = strata_insert_index_tuples(target, slot, load->estate);
	if (target->ri_TrigDesc != NULL && target->ri_TrigDesc->trig_insert_after_row)
		ExecARInsertTriggers(load->estate, target, slot, recheck, NULL);
	list_free(recheck);
}

/* Insert what has been collected. */
static void
flush(Load *load)
{
	LoadBuffer *buffer = load->current;
	uint64		line = load->copy->cur_lineno;
	bool		line_valid = load->copy->line_buf_valid;
	MemoryContext old;

	if (buffer == NULL || buffer->nrows == 0)
		return;
	/* an error from here on is about a line that is no longer the current one */
	load->copy->line_buf_valid = false;
	load->copy->cur_lineno = buffer->lines[0];
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(load->estate));
	table_multi_insert(buffer->target->ri_RelationDesc, buffer->slots, buffer->nrows,
					   load->estate->es_output_cid, 0, buffer->bulk);
	MemoryContextSwitchTo(old);
	for (int i = 0; i < buffer->nrows; i++)
	{
		load->copy->cur_lineno = buffer->lines[i];
		after_insert(load, buffer->target, buffer->slots[i]);
		ExecClearTuple(buffer->slots[i]);
	}
	load->estate->es_processed += buffer->nrows;
	buffer->nrows = 0;
	buffer->nbytes = 0;
	load->copy->cur_lineno = line;
	load->copy->line_buf_valid = line_valid;
}

static void
free_buffer(LoadBuffer *buffer)
{
	FreeBulkInsertState(buffer->bulk);
	for (int i = 0; i < MAX_ROWS && buffer->slots[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(buffer->slots[i]);
	pfree(buffer);
}

/* The buffer of a chunk becomes the current one. */
static void
choose_buffer(Load *load, ResultRelInfo *target)
{
	ListCell   *lc;

	flush(load);
	if (load->current != NULL)
		ReleaseBulkInsertStatePin(load->current->bulk);
	foreach(lc, load->buffers)
	{
		load->current = lfirst(lc);
		if (load->current->target == target)
			return;
	}
	/* all are empty here; the oldest goes */
	if (list_length(load->buffers) >= MAX_BUFFERS)
	{
		free_buffer(linitial(load->buffers));
		load->buffers = list_delete_first(load->buffers);
	}
	load->current = palloc0(sizeof(LoadBuffer));
	load->current->target = target;
	load->current->bulk = GetBulkInsertState();
	load->buffers = lappend(load->buffers, load->current);
}

/* The row in the form of its chunk, in a slot of the buffer. */
static TupleTableSlot *
collect(Load *load, TupleTableSlot *row)
{
	LoadBuffer *buffer = load->current;
	Relation	rel = buffer->target->ri_RelationDesc;
	TupleConversionMap *map = strata_root_to_child_map(buffer->target, load->estate);
	TupleTableSlot *slot = buffer->slots[buffer->nrows];

	if (slot == NULL)
		slot = buffer->slots[buffer->nrows] = table_slot_create(rel, NULL);
	if (map != NULL)
		slot = execute_attr_map_slot(map->attrMap, row, slot);
	else
		slot = ExecCopySlot(slot, row);
	slot->tts_tableOid = RelationGetRelid(rel);
	return slot;
}

/* Generated columns and constraints of a row that is about to be inserted. */
static void
complete(Load *load, TupleTableSlot *slot)
{
	ResultRelInfo *target = load->current->target;
	TupleConstr *constr = target->ri_RelationDesc->rd_att->constr;

	if (constr != NULL && constr->has_generated_stored)
		ExecComputeStoredGenerated(target, load->estate, slot, CMD_INSERT);
	if (constr != NULL)
		ExecConstraints(target, slot, load->estate);
	ExecMaterializeSlot(slot);
}

/* A chunk with a trigger of its own that wants to see the row first. */
static void
insert_one(Load *load, TupleTableSlot *slot)
{
	ResultRelInfo *target = load->current->target;

	if (!ExecBRInsertTriggers(load->estate, target, slot))
		return;
	complete(load, slot);
	ExecPartitionCheck(target, slot, load->estate, true);
	table_tuple_insert(target->ri_RelationDesc, slot, load->estate->es_output_cid, 0, load->current->bulk);
	after_insert(load, target, slot);
	load->estate->es_processed++;
}

static void
load_row(Load *load, ResultRelInfo *target, TupleTableSlot *row)
{
	LoadBuffer *buffer;
	TupleTableSlot *slot;

	if (load->current == NULL || load->current->target != target)
		choose_buffer(load, target);
	buffer = load->current;
	slot = collect(load, row);
	if (target->ri_TrigDesc != NULL && target->ri_TrigDesc->trig_insert_before_row)
	{
		insert_one(load, slot);
		return;
	}
	complete(load, slot);
	buffer->lines[buffer->nrows++] = load->copy->cur_lineno;
	buffer->nbytes += load->copy->line_buf.len;
	if (buffer->nrows == MAX_ROWS || buffer->nbytes > MAX_BYTES)
		flush(load);
}

/* See hypertable_private.h. */
void
strata_load_run(QueryDesc *query_desc, CopyFromState copy)
{
	ModifyTableState *mt = (ModifyTableState *) query_desc->planstate;
	EState	   *estate = query_desc->estate;
	ResultRelInfo *root = mt->rootResultRelInfo;
	Load		load = {.copy = copy, .estate = estate};
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	ListCell   *lc;

	ExecBSInsertTriggers(estate, root);
	for (;;)
	{
		TupleTableSlot *row;

		ResetPerTupleExprContext(estate);
		row = ExecProcNode(outerPlanState(mt));
		if (TupIsNull(row))
			break;
		load_row(&load, ExecFindPartition(mt, root, mt->mt_partition_tuple_routing, row, estate), row);
	}
	flush(&load);
	foreach(lc, load.buffers)
		free_buffer(lfirst(lc));
	ExecASInsertTriggers(estate, root, mt->mt_transition_capture);
	MemoryContextSwitchTo(old);
}
