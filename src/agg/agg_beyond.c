/*-------------------------------------------------------------------------
 *
 * agg_beyond.c
 *	  Groups beyond memory: on their way to disk, and back.
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
 * src/agg/agg_beyond.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_table_private.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type_d.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"

/* Groups read from disk after which memory of their keys is given back. */
#define GROUPS_PER_RESET 256

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
		const AggGroup *group = strata_agg_table_group(table, i);

		CHECK_FOR_INTERRUPTS();
		if (!agg_is_wanted(table, group))
			continue;
		strata_agg_group_write(table->agg, group, buf);
		ExecClearTuple(slot);
		slot->tts_values[0] = Int32GetDatum((int32) group->hash);
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
		const AggGroup *group = strata_agg_table_group(table, i);

		CHECK_FOR_INTERRUPTS();
		if (!agg_is_wanted(table, group))
			continue;
		strata_agg_group_write(table->agg, group, buf);
		strata_agg_spill_put(table->files, group->hash, buf->data,
							 VARSIZE(buf->data));
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
		agg_complete_sets(table);
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
	{
		MemoryContextReset(table->late_mcxt);
		strata_agg_table_forget_late(table);
	}
	else
	{
		/* any of them may come again */
		table->keeps = false;
		MemoryContextReset(table->mcxt);
		strata_agg_table_start(table);
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
	Assert(hash == strata_agg_hash_keys(agg));	/* agg:G8 */
	group = strata_agg_table_find_hashed(table, hash);
	if (group == NULL)
		group = strata_agg_table_add(table, hash);
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
	strata_agg_table_start(table);
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
	Assert(hash == strata_agg_hash_keys(agg));	/* agg:G8 */
	foreach(lc, table->merged)
	{
		if (strata_agg_same_keys(agg, lfirst(lc)))
			group = lfirst(lc);
	}
	if (group == NULL)
	{
		group = strata_agg_table_add(table, hash);
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
	strata_agg_table_start(table);
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
 * At the end
 *-------------------------------------------------------------------------
 */

/* See agg_table_private.h. */
void
strata_agg_table_settle(AggTable *table)
{
	if (table->ngroups > table->nkept)
		strata_agg_table_spill(table);
	table->collected = true;
	Assert(table->ngroups == table->nkept); /* agg:G8 */
	if (table->sort != NULL)
		tuplesort_performsort(table->sort);
	table->pending = false;
}

/* See agg_table_private.h. */
bool
strata_agg_table_read_back(AggTable *table)
{
	return table->sort != NULL ? merge_next_hash(table) :
		read_next_file(table);
}

/* See agg_table_private.h. */
void
strata_agg_table_drop_spilled(AggTable *table)
{
	if (table->sort != NULL)
		tuplesort_end(table->sort);
	table->sort = NULL;
	if (table->files != NULL)
		strata_agg_spill_end(table->files);
	table->files = NULL;
}
