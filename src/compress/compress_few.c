/*-------------------------------------------------------------------------
 *
 * compress_few.c
 *	  Sorted rows on their way to the batch writer; segments with few rows go
 *	  elsewhere.
 *
 * A batch of some ten rows costs more than it is worth.  So the rows of a
 * segment are held back until there are enough of them, and handed to the
 * caller when the segment ends before.  But where a segment has got a batch
 * already, its rest becomes one too: that costs little beside the first, while
 * rows of many segments in a row store without indexes are read by every
 * query.
 *
 * src/compress/compress_few.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"
#include "compress/compress_segment_private.h"

#include "executor/executor.h"
#include "utils/datum.h"
#include "utils/memutils.h"

struct StrataFewRows
{
	MemoryContext mcxt;			/* values and rows of the segment */
	StrataBatchWriter *writer;
	const StrataLayout *layout;
	StrataSegments *segments;
	int			limit;
	StrataRowPut put;
	void	   *arg;
	TupleTableSlot *slot;
	bool		begun;			/* there is a segment */
	bool		enough;			/* its rows are no longer held back */
	Datum	   *values;			/* layout->nsegment */
	bool	   *isnull;
	int			nrows;
	MinimalTuple *rows;
};

static Form_pg_attribute
few_attribute(const StrataFewRows *few, int i)
{
	return TupleDescAttr(few->slot->tts_tupleDescriptor,
						 few->layout->segment[i] - 1);
}

/* See compress_private.h. */
StrataFewRows *
strata_few_begin(StrataBatchWriter *writer, const StrataLayout *layout,
				 StrataSegments *segments, int limit, StrataRowPut put,
				 void *arg)
{
	StrataFewRows *few = palloc0(sizeof(StrataFewRows));

	few->mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata few rows",
									  ALLOCSET_DEFAULT_SIZES);
	few->writer = writer;
	few->layout = layout;
	few->segments = segments;
	few->limit = limit;
	few->put = put;
	few->arg = arg;
	few->slot = MakeSingleTupleTableSlot(RelationGetDescr(writer->store->rel),
										 &TTSOpsMinimalTuple);
	return few;
}

static bool
few_same_segment(const StrataFewRows *few, TupleTableSlot *slot)
{
	for (int i = 0; i < few->layout->nsegment; i++)
	{
		Form_pg_attribute att = few_attribute(few, i);
		int			a = att->attnum - 1;

		if (slot->tts_isnull[a] != few->isnull[i] ||
			(!few->isnull[i] &&
			 !datum_image_eq(slot->tts_values[a], few->values[i],
							 att->attbyval, att->attlen)))
			return false;
	}
	return true;
}

/* Hand on what was held back. */
static void
release(StrataFewRows *few, bool to_writer)
{
	for (int row = 0; row < few->nrows; row++)
	{
		ExecStoreMinimalTuple(few->rows[row], few->slot, false);
		slot_getallattrs(few->slot);
		if (to_writer)
			strata_batch_writer_add(few->writer, few->slot->tts_values,
									few->slot->tts_isnull);
		else
			few->put(few->slot, few->arg);
	}
	ExecClearTuple(few->slot);
	few->nrows = 0;
}

/* The slot's row is the first of its segment. */
static void
begin_segment(StrataFewRows *few, TupleTableSlot *slot)
{
	int			nsegment = few->layout->nsegment;
	MemoryContext old;

	MemoryContextReset(few->mcxt);
	old = MemoryContextSwitchTo(few->mcxt);
	few->values = palloc(sizeof(Datum) * Max(nsegment, 1));
	few->isnull = palloc(sizeof(bool) * Max(nsegment, 1));
	for (int i = 0; i < nsegment; i++)
	{
		Form_pg_attribute att = few_attribute(few, i);

		few->isnull[i] = slot->tts_isnull[att->attnum - 1];
		if (!few->isnull[i])
			few->values[i] = datumCopy(slot->tts_values[att->attnum - 1],
									   att->attbyval, att->attlen);
	}
	few->rows = palloc(sizeof(MinimalTuple) * few->limit);
	few->begun = true;
	few->enough = strata_segment_was_written(few->segments, slot);
	MemoryContextSwitchTo(old);
}

/* See compress_private.h. */
void
strata_few_add(StrataFewRows *few, TupleTableSlot *slot)
{
	MemoryContext old;

	if (!few->begun || !few_same_segment(few, slot))
	{
		release(few, false);
		begin_segment(few, slot);
	}
	if (few->enough)
	{
		strata_batch_writer_add(few->writer, slot->tts_values,
								slot->tts_isnull);
		return;
	}
	old = MemoryContextSwitchTo(few->mcxt);
	few->rows[few->nrows++] = ExecCopySlotMinimalTuple(slot);
	MemoryContextSwitchTo(old);
	if (few->nrows == few->limit)
	{
		few->enough = true;
		release(few, true);
	}
}

/* See compress_private.h. */
void
strata_few_end(StrataFewRows *few)
{
	release(few, false);
	ExecDropSingleTupleTableSlot(few->slot);
	MemoryContextDelete(few->mcxt);
	pfree(few);
}
