/*-------------------------------------------------------------------------
 *
 * dedup_slot.c
 *	  Slots whose tuple may have symbols: TTSOpsBufferHeapTuple's in all but
 *	  how columns come out of such a tuple.
 *
 * Columns point into the page, which the slot keeps pinned, those that are
 * symbols into its table; only those that are asked for are looked at.  Who
 * wants a heap tuple gets one without symbols: the slot owns it, and lets the
 * pin go, as a materialized slot does.
 *
 * src/dedup/dedup_slot.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "access/htup_details.h"

TupleTableSlotOps strata_dedup_slot_ops;

/* Damage is not worked around. */
void
strata_dedup_damaged(Oid relid, const ItemPointerData *tid,
					 const char *problem)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("page %u of table %u is damaged",
					ItemPointerGetBlockNumberNoCheck(tid), relid),
			 errdetail("Line pointer %u: %s.",
					   ItemPointerGetOffsetNumberNoCheck(tid), problem)));
}

/* See dedup_private.h. */
HeapTuple
strata_dedup_plain_copy(HeapTuple tuple, Buffer buffer, TupleDesc desc)
{
	static StrataPageValue values[MaxTupleAttributeNumber];
	const char *problem = strata_page_values(BufferGetPage(buffer),
											 tuple->t_data, tuple->t_len, desc,
											 values);
	HeapTuple	copy;
	Size		size;

	if (problem != NULL)
		strata_dedup_damaged(tuple->t_tableOid, &tuple->t_self, problem);
	size = strata_page_plain_size(tuple->t_data, desc, values);
	copy = palloc(HEAPTUPLESIZE + size);
	*copy = *tuple;
	copy->t_len = size;
	copy->t_data = (HeapTupleHeader) ((char *) copy + HEAPTUPLESIZE);
	strata_page_plain_write(tuple->t_data, desc, values,
							(char *) copy->t_data);
	return copy;
}

/* Have the slot own its tuple without symbols. */
void
strata_dedup_materialize(TupleTableSlot *slot)
{
	BufferHeapTupleTableSlot *b = (BufferHeapTupleTableSlot *) slot;
	MemoryContext old = MemoryContextSwitchTo(slot->tts_mcxt);
	Buffer		buffer = b->buffer;

	Assert(BufferIsValid(buffer));	/* dedup:DD4 */
	b->base.tuple = strata_dedup_plain_copy(b->base.tuple, buffer,
											slot->tts_tupleDescriptor);
	MemoryContextSwitchTo(old);
	/* what was there may point into the page */
	b->base.off = 0;
	slot->tts_nvalid = 0;
	b->buffer = InvalidBuffer;
	slot->tts_flags |= TTS_FLAG_SHOULDFREE;
	ReleaseBuffer(buffer);
}

/* The first natts columns, as far as the tuple has them. */
static void
getsomeattrs(TupleTableSlot *slot, int natts)
{
	HeapTuple	tuple = strata_dedup_slot_tuple(slot);
	BufferHeapTupleTableSlot *b = (BufferHeapTupleTableSlot *) slot;
	const char *problem;

	if (tuple == NULL)
	{
		TTSOpsBufferHeapTuple.getsomeattrs(slot, natts);
		return;
	}
	Assert(BufferIsValid(b->buffer));	/* dedup:DD4 */
	natts = Min(natts, HeapTupleHeaderGetNatts(tuple->t_data));
	if (slot->tts_nvalid == 0)
		b->base.off = 0;
	problem = strata_page_deform(BufferGetPage(b->buffer), tuple->t_data,
								 tuple->t_len, slot->tts_tupleDescriptor,
								 slot->tts_nvalid, natts, &b->base.off,
								 slot->tts_values, slot->tts_isnull);
	if (problem != NULL)
		strata_dedup_damaged(slot->tts_tableOid, &tuple->t_self, problem);
	slot->tts_nvalid = natts;
}

static void
materialize(TupleTableSlot *slot)
{
	if (strata_dedup_slot_tuple(slot) != NULL)
		strata_dedup_materialize(slot);
	else
		TTSOpsBufferHeapTuple.materialize(slot);
}

static HeapTuple
get_heap_tuple(TupleTableSlot *slot)
{
	if (strata_dedup_slot_tuple(slot) != NULL)
		strata_dedup_materialize(slot);
	return TTSOpsBufferHeapTuple.get_heap_tuple(slot);
}

static HeapTuple
copy_heap_tuple(TupleTableSlot *slot)
{
	HeapTuple	tuple = strata_dedup_slot_tuple(slot);

	if (tuple == NULL)
		return TTSOpsBufferHeapTuple.copy_heap_tuple(slot);
	return strata_dedup_plain_copy(tuple,
								   ((BufferHeapTupleTableSlot *) slot)->buffer,
								   slot->tts_tupleDescriptor);
}

static MinimalTuple
copy_minimal_tuple(TupleTableSlot *slot STRATA_EXTRA_PARAMETER)
{
	if (strata_dedup_slot_tuple(slot) == NULL)
		return TTSOpsBufferHeapTuple.copy_minimal_tuple(slot
														STRATA_EXTRA_ARGUMENT);
	slot_getallattrs(slot);
	return heap_form_minimal_tuple(slot->tts_tupleDescriptor,
								   slot->tts_values,
								   slot->tts_isnull STRATA_EXTRA_ARGUMENT);
}

/* A copy of a tuple that its slot owns would not know where it came from. */
static void
copyslot(TupleTableSlot *to, TupleTableSlot *from)
{
	TTSOpsBufferHeapTuple.copyslot(to, from);
	to->tts_tid = from->tts_tid;
}

/* See dedup_private.h. */
void
strata_dedup_slot_init(void)
{
	strata_dedup_slot_ops = TTSOpsBufferHeapTuple;
	strata_dedup_slot_ops.getsomeattrs = getsomeattrs;
	strata_dedup_slot_ops.materialize = materialize;
	strata_dedup_slot_ops.get_heap_tuple = get_heap_tuple;
	strata_dedup_slot_ops.copyslot = copyslot;
	strata_dedup_slot_ops.copy_heap_tuple = copy_heap_tuple;
	strata_dedup_slot_ops.copy_minimal_tuple = copy_minimal_tuple;
}
