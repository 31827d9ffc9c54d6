/*-------------------------------------------------------------------------
 *
 * load_rows.c
 *	  COPY FROM and INSERT ... SELECT, many rows at a time.
 *
 * ModifyTable inserts row by row; COPY into a plain table collects rows and
 * inserts them together, which costs less WAL and less locking of pages.  This
 * does the same with the executor that was set up for the statement: rows come
 * from the node below ModifyTable, so their chunks are there, and are
 * collected for one table at a time; who has said what rows are to be does not
 * mind their order, and has them collected for several.  Where a trigger or a
 * volatile function could look at rows that are still collected, ModifyTable
 * goes its own way.
 *
 * A table that wants it (strata.direct_load), or was compressed when it was
 * dumped and has no rows yet, gets its rows as batches, once as many came in a
 * row as are collected; store/ may refuse, and single rows too.
 *
 * Over 600 lines: all ways share the buffers and the order of rows.
 *
 * src/load/load_rows.c
 *-------------------------------------------------------------------------
 */
#include "load/load_private.h"
#include "catalog/catalog.h"
#include "compress/compress.h"

#include "access/heapam.h"
#include "access/tupconvert.h"
#include "commands/copyfrom_internal.h"
#include "commands/trigger.h"
#include "executor/execPartition.h"
#include "executor/executor.h"
#include "executor/nodeModifyTable.h"
#include "foreign/fdwapi.h"
#include "miscadmin.h"
#include "utils/memutils.h"

/* As COPY has it. */
#define MAX_ROWS 1000
#define MAX_BYTES 65535
#define MAX_BUFFERS 32

/* For rows that are to become batches: more, they need not be small. */
#define MAX_DIRECT_BYTES (1024 * 1024)

/*
 * Partitions whose batches are built at a time; each has its part of the
 * memory.
 */
#define MAX_DIRECT 4

/* Rows of a segment that is not tiny. */
#define TINY_ROWS 32

/* One that had no row for so many rows makes room for another. */
#define IDLE_ROWS 10000

/* Rows for one table. */
typedef struct LoadBuffer
{
	ResultRelInfo *target;
	bool		wants_direct;
	bool		restores;		/* what was compressed when it was dumped */
	int			least;			/* rows of a segment, or it is left to the row
								 * store; 0: a good part of a batch */
	bool		one_by_one;		/* its rows are not collected */
	StrataDirectLoad *direct;	/* rows become batches; NULL: they are
								 * collected */
	int64		last;			/* the last of them, of all rows */
	TupleTableSlot *converted;	/* a row in the form of the table */
	int			nrows;
	Size		nbytes;
	BulkInsertState bulk;
	TupleDesc	desc;			/* of slots; not counted, they are many */
	TupleTableSlot *slots[MAX_ROWS];	/* made when first needed */
	uint64		lines[MAX_ROWS];
} LoadBuffer;

typedef struct Load
{
	CopyFromState copy;			/* NULL: INSERT ... SELECT */
	EState	   *estate;
	bool		partitioned;
	bool		wants_direct;	/* the root does; else some chunk may */
	int64		nrows;			/* so far */
	int64		nbatched;		/* of these, into batches */
	int			ndirect;		/* buffers with direct */
	bool		scatters;		/* not only the current buffer has rows that
								 * are collected */
	List	   *buffers;		/* of LoadBuffer * */
	LoadBuffer *current;
} Load;

StrataLoadForm strata_load_form = STRATA_LOAD_AS_SET;

/* See load_private.h. */
bool
strata_load_wants_batches(Relation rel)
{
	if (strata_load_form == STRATA_LOAD_AS_SET)
		return strata_settings_direct_load(rel);
	return !strata_settings_refuse_direct_load(rel);
}

/* See load_private.h. */
bool
strata_load_triggers_allow(const TriggerDesc *triggers)
{
	return triggers == NULL || !(triggers->trig_insert_before_row ||
								 triggers->trig_insert_instead_row ||
								 triggers->trig_insert_new_table);
}

/* See load_private.h. */
bool
strata_load_can_collect(ModifyTableState *mt, CopyFromState copy, List *where)
{
	ResultRelInfo *root = mt->rootResultRelInfo;

	/* a plain table's COPY came here for batches */
	if ((mt->mt_partition_tuple_routing != NULL &&
		 !strata_enable_multi_insert) ||
		strata_load_has_volatile((Node *) where, NULL))
		return false;
	if (copy->volatile_defexprs &&
		strata_load_default_is_volatile(root->ri_RelationDesc))
		return false;
	return strata_load_triggers_allow(root->ri_TrigDesc);
}

/* Index entries and triggers of a row that has been inserted. */
static void
after_insert(Load *load, ResultRelInfo *target, TupleTableSlot *slot)
{
	List	   *recheck = NIL;

	if (target->ri_NumIndices > 0)
		recheck = strata_insert_index_tuples(target, slot, load->estate);
	if (target->ri_TrigDesc != NULL &&
		target->ri_TrigDesc->trig_insert_after_row)
		ExecARInsertTriggers(load->estate, target, slot, recheck, NULL);
	list_free(recheck);
}

/* Made when a row goes into the row store. */
static BulkInsertState
bulk_state(LoadBuffer *buffer)
{
	if (buffer->bulk == NULL)
		buffer->bulk = GetBulkInsertState();
	return buffer->bulk;
}

/* Insert what a buffer has collected. */
static void
flush(Load *load, LoadBuffer *buffer)
{
	CopyFromState copy = load->copy;
	uint64		line = copy != NULL ? copy->cur_lineno : 0;
	bool		line_valid = copy != NULL && copy->line_buf_valid;
	BulkInsertState bulk;
	MemoryContext old;

	if (buffer == NULL || buffer->nrows == 0)
		return;
	/* only of the current one rows may wait beside batches, unless in turns */
	Assert(buffer->direct == NULL || buffer == load->current ||
		   load->scatters);		/* load:L2 */
	Assert(buffer->target->ri_TrigDesc == NULL ||
		   !buffer->target->ri_TrigDesc->trig_insert_before_row);	/* load:L1 */
	bulk = bulk_state(buffer);

	/*
	 * an error from here on is about a line that is no longer the current one
	 */
	if (copy != NULL)
	{
		copy->line_buf_valid = false;
		copy->cur_lineno = buffer->lines[0];
	}
	old = MemoryContextSwitchTo(GetPerTupleMemoryContext(load->estate));
	table_multi_insert(buffer->target->ri_RelationDesc, buffer->slots,
					   buffer->nrows, load->estate->es_output_cid, 0, bulk);
	MemoryContextSwitchTo(old);
	for (int i = 0; i < buffer->nrows; i++)
	{
		if (copy != NULL)
			copy->cur_lineno = buffer->lines[i];
		after_insert(load, buffer->target, buffer->slots[i]);
		ExecClearTuple(buffer->slots[i]);
	}
	buffer->nrows = 0;
	buffer->nbytes = 0;
	if (copy != NULL)
	{
		copy->cur_lineno = line;
		copy->line_buf_valid = line_valid;
	}
}

/* The same of all. */
static void
flush_all(Load *load)
{
	ListCell   *lc;

	foreach(lc, load->buffers)
		flush(load, lfirst(lc));
}

/* A slot of the buffer for one more row. */
static TupleTableSlot *
next_slot(LoadBuffer *buffer)
{
	if (buffer->slots[buffer->nrows] == NULL)
		buffer->slots[buffer->nrows] =
			MakeSingleTupleTableSlot(buffer->desc,
									 table_slot_callbacks(buffer->target->ri_RelationDesc));
	return buffer->slots[buffer->nrows];
}

/* The row in next_slot has become one of the buffer's. */
static void
count_collected(Load *load, LoadBuffer *buffer)
{
	Assert(buffer->nrows < MAX_ROWS);	/* load:L2 */
	buffer->lines[buffer->nrows++] = load->copy != NULL ?
		load->copy->cur_lineno :
		0;
	if (load->copy != NULL)
		buffer->nbytes += load->copy->line_buf.len;
	else
	{
		TupleTableSlot *last = buffer->slots[buffer->nrows - 1];

		buffer->nbytes += ExecFetchSlotHeapTuple(last, false, NULL)->t_len;
	}
}

/*-------------------------------------------------------------------------
 * Batches
 *-------------------------------------------------------------------------
 */

/* Which rows the store gives back, and where they go. */
typedef struct GivenBack
{
	Load	   *load;
	LoadBuffer *buffer;
} GivenBack;

/* StrataRowPut: a row that is not worth a batch. */
static void
put_back(TupleTableSlot *slot, void *arg)
{
	GivenBack  *given = (GivenBack *) arg;
	LoadBuffer *buffer = given->buffer;
	TupleTableSlot *own;
	MemoryContext old;

	/* slots of the buffer outlive the load of batches */
	old = MemoryContextSwitchTo(given->load->estate->es_query_cxt);
	own = next_slot(buffer);
	ExecCopySlot(own, slot);
	own->tts_tableOid = RelationGetRelid(buffer->target->ri_RelationDesc);
	count_collected(given->load, buffer);
	Assert(given->load->nbatched > 0);	/* load:L1 */
	given->load->nbatched--;
	if (buffer->nrows == MAX_ROWS)
		flush(given->load, buffer);
	MemoryContextSwitchTo(old);
}

/* Batches of what came so far; segments that are few go the other way. */
static void
end_direct(Load *load, LoadBuffer *buffer)
{
	GivenBack	given = {load, buffer};
	CopyFromState copy = load->copy;
	bool		line_valid = copy != NULL && copy->line_buf_valid;
	StrataDirectLoad *direct = buffer->direct;

	if (direct == NULL)
		return;
	/* about many lines, the present one is none of them */
	if (copy != NULL)
		copy->line_buf_valid = false;
	buffer->direct = NULL;
	load->ndirect--;
	strata_direct_load_end(direct, put_back, &given);
	flush(load, buffer);
	if (copy != NULL)
		copy->line_buf_valid = line_valid;
}

/*
 * May the table's rows become batches, as far as triggers and the table say?
 */
static bool
takes_direct(Load *load, ResultRelInfo *target, bool restores)
{
	TriggerDesc *triggers = target->ri_TrigDesc;

	if (target->ri_FdwRoutine != NULL ||
		!(load->wants_direct || restores) ||
		(triggers != NULL && (triggers->trig_insert_before_row ||
							  triggers->trig_insert_after_row ||
							  triggers->trig_insert_instead_row)))
		return false;
	return strata_direct_load_obstacle(target->ri_RelationDesc) == NULL &&
		(restores || strata_load_wants_batches(target->ri_RelationDesc));
}

/* Is there room for one more, if need be by ending one that is idle? */
static bool
make_room(Load *load)
{
	LoadBuffer *idle = NULL;
	ListCell   *lc;

	if (load->ndirect < MAX_DIRECT)
		return true;
	foreach(lc, load->buffers)
	{
		LoadBuffer *buffer = lfirst(lc);

		if (buffer->direct != NULL &&
			(idle == NULL || buffer->last < idle->last))
			idle = buffer;
	}
	if (idle->last + IDLE_ROWS > load->nrows)
		return false;
	end_direct(load, idle);
	return true;
}

/* The slot's row into a batch; false: it has to go into the row store. */
static bool
add_direct(Load *load, LoadBuffer *buffer, TupleTableSlot *slot)
{
	slot_getallattrs(slot);
	if (!strata_direct_load_add(buffer->direct, slot))
		return false;
	buffer->last = load->nrows;
	load->nbatched++;
	return true;
}

/*
 * As many rows have been collected as can be: make batches of them from now
 * on?
 */
static void
begin_direct(Load *load, LoadBuffer *buffer)
{
	int			nkept = 0;

	if (!buffer->wants_direct || strata_load_form == STRATA_LOAD_ROWS ||
		!make_room(load))
		return;
	buffer->direct = strata_direct_load_begin(buffer->target->ri_RelationDesc,
											  load->estate->es_output_cid,
											  load->partitioned ?
											  maintenance_work_mem /
											  MAX_DIRECT :
											  maintenance_work_mem,
											  buffer->least);
	if (buffer->direct == NULL)
	{
		/* not asked again in this statement */
		buffer->wants_direct = false;
		return;
	}
	load->ndirect++;
	for (int i = 0; i < buffer->nrows; i++)
	{
		TupleTableSlot *slot = buffer->slots[i];

		if (add_direct(load, buffer, slot))
			ExecClearTuple(slot);
		else
		{
			buffer->slots[i] = buffer->slots[nkept];
			buffer->lines[nkept] = buffer->lines[i];
			buffer->slots[nkept++] = slot;
		}
	}
	buffer->nrows = nkept;
	buffer->nbytes = 0;
}

/*-------------------------------------------------------------------------
 * Rows
 *-------------------------------------------------------------------------
 */

static void
free_buffer(LoadBuffer *buffer)
{
	Assert(buffer->nrows == 0 && buffer->direct == NULL);	/* load:L2 */
	if (buffer->bulk != NULL)
		FreeBulkInsertState(buffer->bulk);
	table_finish_bulk_insert(buffer->target->ri_RelationDesc, 0);
	for (int i = 0; i < MAX_ROWS && buffer->slots[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(buffer->slots[i]);
	ExecDropSingleTupleTableSlot(buffer->converted);
	FreeTupleDesc(buffer->desc);
	pfree(buffer);
}

/*
 * What looks at tables is going to see all rows so far; from now on none
 * become batches.
 */
static void
end_all_direct(Load *load)
{
	ListCell   *lc;

	foreach(lc, load->buffers)
	{
		LoadBuffer *buffer = lfirst(lc);

		end_direct(load, buffer);
		buffer->wants_direct = false;
	}
	load->wants_direct = false;
	Assert(load->ndirect == 0); /* load:L2 */
}

/* A buffer for a table, and what its rows are to be. */
static LoadBuffer *
create_buffer(Load *load, ResultRelInfo *target)
{
	LoadBuffer *buffer = palloc0(sizeof(LoadBuffer));

	/* ModifyTable opens those of a plain table when the first row comes */
	if (target->ri_RelationDesc->rd_rel->relhasindex &&
		target->ri_IndexRelationDescs == NULL)
		ExecOpenIndices(target, false);
	buffer->target = target;
	buffer->desc =
		CreateTupleDescCopyConstr(RelationGetDescr(target->ri_RelationDesc));
	buffer->restores = load->copy != NULL && strata_enable_direct_load &&
		strata_relation_is_strata(target->ri_RelationDesc) &&
		strata_direct_load_restores(target->ri_RelationDesc);
	/* what was in batches stays in them, also segments of few rows */
	if (buffer->restores || strata_load_form == STRATA_LOAD_BATCHES)
		buffer->least = 1;
	else if (strata_load_form == STRATA_LOAD_SEGMENTS)
		buffer->least = TINY_ROWS;
	/* a constraint of a chunk's own; COPY is PostgreSQL's, which asks none */
	buffer->one_by_one = load->copy == NULL &&
		strata_load_check_is_volatile(target->ri_RelationDesc);
	buffer->wants_direct = takes_direct(load, target, buffer->restores);
	buffer->converted =
		MakeSingleTupleTableSlot(RelationGetDescr(target->ri_RelationDesc),
								 &TTSOpsVirtual);
	return buffer;
}

/* The buffer of a table becomes the current one. */
static void
choose_buffer(Load *load, ResultRelInfo *target)
{
	ListCell   *lc;

	/* who looks at rows sees all that came before */
	if (target->ri_TrigDesc != NULL || target->ri_FdwRoutine != NULL)
	{
		flush_all(load);
		load->scatters = false;
	}
	if (!load->scatters)
		flush(load, load->current);
	if (load->current != NULL && load->current->bulk != NULL)
		ReleaseBulkInsertStatePin(load->current->bulk);
	foreach(lc, load->buffers)
	{
		load->current = lfirst(lc);
		if (load->current->target == target)
			return;
	}
	/* the oldest goes */
	if (list_length(load->buffers) >= MAX_BUFFERS)
	{
		flush(load, linitial(load->buffers));
		end_direct(load, linitial(load->buffers));
		free_buffer(linitial(load->buffers));
		load->buffers = list_delete_first(load->buffers);
	}
	load->current = create_buffer(load, target);
	load->buffers = lappend(load->buffers, load->current);
}

/* The row in the form of its table, in `slot`. */
static TupleTableSlot *
convert(Load *load, TupleTableSlot *row, TupleTableSlot *slot)
{
	ResultRelInfo *target = load->current->target;
	TupleConversionMap *map;

	map = target->ri_RootResultRelInfo != NULL ?
		strata_root_to_child_map(target, load->estate) : NULL;
	if (map != NULL)
		slot = execute_attr_map_slot(map->attrMap, row, slot);
	else
		slot = ExecCopySlot(slot, row);
	slot->tts_tableOid = RelationGetRelid(target->ri_RelationDesc);
	return slot;
}

/* Generated columns and constraints of a row that is about to be inserted. */
static void
complete(Load *load, TupleTableSlot *slot)
{
	ResultRelInfo *target = load->current->target;
	Relation	rel = target->ri_RelationDesc;
	TupleConstr *constr = rel->rd_att->constr;

	if (constr != NULL && constr->has_generated_stored)
		ExecComputeStoredGenerated(target, load->estate, slot, CMD_INSERT);
	if (constr != NULL)
		ExecConstraints(target, slot, load->estate);
	/* who was routed here belongs here */
	if (rel->rd_rel->relispartition && target->ri_RootResultRelInfo == NULL)
		ExecPartitionCheck(target, slot, load->estate, true);
}

/*
 * The row goes to the server of a foreign partition, which checks constraints
 * by itself, and may leave it out.
 */
static void
insert_foreign(Load *load, TupleTableSlot *slot)
{
	ResultRelInfo *target = load->current->target;
	TupleConstr *constr = target->ri_RelationDesc->rd_att->constr;

	if (constr != NULL && constr->has_generated_stored)
		ExecComputeStoredGenerated(target, load->estate, slot, CMD_INSERT);
	slot = target->ri_FdwRoutine->ExecForeignInsert(load->estate, target, slot,
													NULL);
	if (slot == NULL)
		return;
	slot->tts_tableOid = RelationGetRelid(target->ri_RelationDesc);
	after_insert(load, target, slot);
	load->nrows++;
}

/*
 * A row that is not collected: a trigger of its chunk wants to see it first, a
 * constraint may look at those before it, or the chunk is a foreign table.
 */
static void
insert_one(Load *load, TupleTableSlot *slot)
{
	ResultRelInfo *target = load->current->target;

	if (target->ri_TrigDesc != NULL &&
		target->ri_TrigDesc->trig_insert_before_row &&
		!ExecBRInsertTriggers(load->estate, target, slot))
		return;
	if (target->ri_FdwRoutine != NULL)
	{
		insert_foreign(load, slot);
		return;
	}
	complete(load, slot);
	ExecMaterializeSlot(slot);
	ExecPartitionCheck(target, slot, load->estate, true);
	table_tuple_insert(target->ri_RelationDesc, slot,
					   load->estate->es_output_cid, 0,
					   bulk_state(load->current));
	after_insert(load, target, slot);
	load->nrows++;
}

/* Can the row be looked at as it is, without a copy? */
static bool
is_as_it_is(Load *load, ResultRelInfo *target)
{
	TupleConstr *constr = target->ri_RelationDesc->rd_att->constr;

	return (target->ri_RootResultRelInfo == NULL ||
			strata_root_to_child_map(target, load->estate) == NULL) &&
		(constr == NULL || !constr->has_generated_stored);
}

/* A row for a table whose rows become batches. */
static void
load_direct(Load *load, TupleTableSlot *row)
{
	LoadBuffer *buffer = load->current;
	TupleTableSlot *slot = row;

	if (is_as_it_is(load, buffer->target))
		slot->tts_tableOid = RelationGetRelid(buffer->target->ri_RelationDesc);
	else
		slot = convert(load, row, buffer->converted);
	complete(load, slot);
	load->nrows++;
	if (add_direct(load, buffer, slot))
		return;
	ExecMaterializeSlot(ExecCopySlot(next_slot(buffer), slot));
	buffer->slots[buffer->nrows]->tts_tableOid =
		RelationGetRelid(buffer->target->ri_RelationDesc);
	count_collected(load, buffer);
	/* these are giants */
	flush(load, buffer);
}

/*
 * Put a row into the buffer of its target; BEFORE triggers may change it, or
 * leave it out.
 */
static void
load_buffered_row(Load *load, ResultRelInfo *target, TupleTableSlot *row)
{
	LoadBuffer *buffer;
	TupleTableSlot *slot;

	if (load->current == NULL || load->current->target != target)
		choose_buffer(load, target);
	buffer = load->current;
	if (buffer->direct != NULL)
	{
		load_direct(load, row);
		return;
	}
	slot = convert(load, row, next_slot(buffer));
	if (target->ri_FdwRoutine != NULL || buffer->one_by_one ||
		(target->ri_TrigDesc != NULL &&
		 target->ri_TrigDesc->trig_insert_before_row))
	{
		if (load->ndirect > 0)
			end_all_direct(load);
		flush_all(load);
		load->scatters = false;
		insert_one(load, slot);
		return;
	}
	complete(load, slot);
	ExecMaterializeSlot(slot);
	load->nrows++;
	count_collected(load, buffer);
	/* rows are also many when they are large */
	if (buffer->nrows == MAX_ROWS || buffer->nbytes > MAX_DIRECT_BYTES)
		begin_direct(load, buffer);
	/* for batches it takes all the rows there is room for */
	if (buffer->nrows == MAX_ROWS ||
		buffer->nbytes > (buffer->wants_direct ? MAX_DIRECT_BYTES : MAX_BYTES))
		flush(load, buffer);
}

/* See load_private.h. */
int64
strata_load_rows(ModifyTableState *mt, CopyFromState copy)
{
	EState	   *estate = mt->ps.state;
	ResultRelInfo *root = mt->rootResultRelInfo;
	Load		load =
	{.copy = copy,.estate = estate};
	MemoryContext old = MemoryContextSwitchTo(estate->es_query_cxt);
	JunkFilter *junk = NULL;
	ListCell   *lc;

	load.partitioned = mt->mt_partition_tuple_routing != NULL;
	load.scatters = strata_load_form != STRATA_LOAD_AS_SET;
	load.wants_direct = strata_enable_direct_load &&
		strata_load_wants_batches(root->ri_RelationDesc);
	foreach(lc, outerPlan(mt->ps.plan)->targetlist)
	{
		if (lfirst_node(TargetEntry, lc)->resjunk && junk == NULL)
			junk = ExecInitJunkFilter(outerPlan(mt->ps.plan)->targetlist,
									  NULL);
	}
	ExecBSInsertTriggers(estate, root);
	for (;;)
	{
		TupleTableSlot *row;

		CHECK_FOR_INTERRUPTS();
		ResetPerTupleExprContext(estate);
		row = ExecProcNode(outerPlanState(mt));
		if (TupIsNull(row))
			break;
		if (junk != NULL)
			row = ExecFilterJunk(junk, row);
		/* the routing may have been renewed by the node below */
		load_buffered_row(&load,
						  load.partitioned ?
						  ExecFindPartition(mt, root,
											mt->mt_partition_tuple_routing, row,
											estate) :
						  root,
						  row);
		/* what COPY tells of its progress */
		if (mt->canSetTag)
			estate->es_processed = load.nrows;
	}
	flush_all(&load);
	foreach(lc, load.buffers)
	{
		end_direct(&load, lfirst(lc));
		free_buffer(lfirst(lc));
	}
	ExecASInsertTriggers(estate, root, mt->mt_transition_capture);
	MemoryContextSwitchTo(old);
	return load.nbatched;
}
