/*-------------------------------------------------------------------------
 *
 * agg_bytes.c
 *	  A group's partial result as bytes, and back: for spilling, and on its way
 *	  from a parallel worker.
 *
 * The bytes are for processes of one server, and for no longer than a query.
 * A varlena: null bits of the keys, the keys that are not null, the cells.
 *
 * src/agg/agg_bytes.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_hold_private.h"
#include "agg/agg_join_private.h"

#include "lib/stringinfo.h"
#include "utils/datum.h"

/* Append the cells. */
static void
write_cells(StrataAggState *agg, AggCell *cells, StringInfo out)
{
	for (int i = 0; i < agg->ncalls; i++)
	{
		AggCall    *call = &agg->calls[i];
		AggCell    *cell = agg_cell(cells, call);

		if (call->hold != NULL)
		{
			if (call->holder == i)
				strata_agg_hold_write(call->hold, cell, out);
		}
		else if (call->generic != NULL)
			strata_agg_generic_write(call->generic, cell, out);
		else if (call->kernel->result == AGG_RESULT_BEST)
			strata_agg_best_write(agg->best, cell, out);
		else if (call->kernel->result == AGG_RESULT_PICK &&
				 !call->resultbyval)
			strata_agg_pick_write(call, cell, out);
		else
			appendBinaryStringInfo(out, (const char *) cell, call->size);
	}
}

/* See agg_group_private.h. */
void
strata_agg_cells_write(StrataAggState *agg, AggCell *cells,
					   StringInfo out)
{
	resetStringInfo(out);
	appendStringInfoSpaces(out, VARHDRSZ);
	write_cells(agg, cells, out);
	SET_VARSIZE(out->data, out->len);
}

/* See agg_group_private.h. */
void
strata_agg_group_write(StrataAggState *agg, const AggGroup *group,
					   StringInfo out)
{
	const uint32 nulls = group != NULL ? group->nulls : 0;

	resetStringInfo(out);
	appendStringInfoSpaces(out, VARHDRSZ);
	appendBinaryStringInfo(out, (const char *) &nulls, sizeof(uint32));
	for (int k = 0; k < agg->nkeys; k++)
	{
		const AggKey *key = &agg->keys[k];
		const Datum *value = &agg_group_keys(group)[k];
		Size		size;

		if ((nulls >> k) & 1)
			continue;
		if (key->typbyval)
		{
			appendBinaryStringInfo(out, (const char *) value,
								   sizeof(Datum));
			continue;
		}
		size = datumGetSize(*value, false, key->typlen);
		appendBinaryStringInfo(out, (const char *) &size, sizeof(Size));
		appendBinaryStringInfo(out, DatumGetPointer(*value),
							   (int) size);
	}
	write_cells(agg, group != NULL ? agg_group_cells(group, agg->nkeys) :
				agg->cells, out);
	SET_VARSIZE(out->data, out->len);
}

/* See agg_group_private.h. */
const char *
strata_agg_group_read_keys(StrataAggState *agg, const char *in)
{
	uint32		nulls;

	memcpy(&nulls, in, sizeof(uint32));
	in += sizeof(uint32);
	if (agg->sets != NULL)
		agg->set = nulls >> AGG_SET_SHIFT;
	for (int k = 0; k < agg->nkeys; k++)
	{
		AggKey	   *key = &agg->keys[k];
		Size		size;
		char	   *copy;

		key->isnull = (nulls >> k) & 1;
		if (key->isnull)
			continue;
		if (key->typbyval)
		{
			memcpy(&key->current, in, sizeof(Datum));
			in += sizeof(Datum);
			continue;
		}
		memcpy(&size, in, sizeof(Size));
		in += sizeof(Size);
		/* aligned */
		copy = palloc(size);
		memcpy(copy, in, size);
		key->current = PointerGetDatum(copy);
		in += size;
	}
	return in;
}

/* Combine the state of one aggregate with its cell; returns what is behind. */
static const char *
combine_call(StrataAggState *agg, int i, AggCell *cells, const char *in)
{
	AggCall    *call = &agg->calls[i];
	bool		pick = call->kernel->result == AGG_RESULT_PICK;
	AggCell    *into = agg_cell(cells, call);
	AggCell		cell = {0};

	if (call->hold != NULL)
		return call->holder != i ? in :
			strata_agg_hold_combine(call->hold, into, in);
	if (call->kernel->result == AGG_RESULT_BEST)
		return strata_agg_best_combine(agg->best, into, in);
	if (call->generic != NULL)
		in = strata_agg_generic_read(call->generic, in, &cell);
	else if (pick && !call->resultbyval)
		in = strata_agg_pick_read(call, in, &cell);
	else
	{
		memcpy(&cell, in, call->size);
		in += call->size;
	}
	if (call->generic != NULL)
		strata_agg_generic_combine(call->generic, into, &cell);
	else if (pick)
		strata_agg_pick_combine(agg, call, into, &cell);
	else
		call->kernel->combine(into, &cell);
	return in;
}

/* See agg_group_private.h. */
void
strata_agg_group_combine(StrataAggState *agg, AggCell *cells, const char *in,
						 const char *end)
{
	for (int i = 0; i < agg->ncalls; i++)
		in = combine_call(agg, i, cells, in);
	Assert(in == end);			/* agg:G13: the same keys and calls wrote it */
}

/* See agg_private.h. */
void
strata_agg_joined_combine(StrataAggState *agg, AggCell *cells, const char *in,
						  const char *end)
{
	for (int i = 0; i < agg->ncalls; i++)
		if (agg->calls[i].distinct == NULL)
			in = combine_call(agg, i, cells, in);
	Assert(in == end);			/* agg:G13: the same keys and calls wrote it */
}
