/*-------------------------------------------------------------------------
 *
 * scan_span.c
 *	  How wide the widest batch is, from the index on spans (docs/adr/014).
 *
 * Batches that the snapshot does not see may be among those that are asked,
 * which does no harm.
 *
 * src/scan/scan_span.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "scan/scan_source_private.h"
#include "store/store.h"

#include "access/genam.h"
#include "access/itup.h"
#include "access/skey.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

/*
 * Entries of a segment to walk over rather than to look for the next segment
 * from the root.
 */
#define MAX_WALK 256

struct StrataSpans
{
	StrataStore *store;
	Snapshot	snapshot;
	const StrataLayout *layout;
	Relation	index;			/* opened when it is asked for; or NULL */
};

/* Memory: the current context. */
StrataSpans *
strata_spans_create(StrataStore *store, Snapshot snapshot,
					const StrataLayout *layout)
{
	StrataSpans *spans = palloc(sizeof(StrataSpans));

	spans->store = store;
	spans->snapshot = snapshot;
	spans->layout = layout;
	spans->index = NULL;
	return spans;
}

/* See scan_source_private.h. */
bool
strata_init_first_key(ScanKey key, Relation index, StrategyNumber strategy)
{
	Oid			operator = get_opfamily_member(index->rd_opfamily[0],
											   index->rd_opcintype[0],
											   index->rd_opcintype[0],
											   strategy);

	if (OidIsValid(operator))
		ScanKeyEntryInitialize(key, 0, 1, strategy, InvalidOid,
							   index->rd_indcollation[0], get_opcode(operator),
							   (Datum) 0);
	return OidIsValid(operator);
}

/*
 * The span of the entry the scan stands on; -1 for a null, which only a
 * damaged companion has (batch:B4) and which comes behind all.
 */
static int16
entry_span(const StrataSpans *spans, IndexScanDesc desc)
{
	bool		isnull;
	Datum		value = index_getattr(desc->xs_itup,
									  spans->layout->nsegment + 2,
									  desc->xs_itupdesc, &isnull);

	return isnull ? -1 : DatumGetInt16(value);
}

/* The last span of the entries that have the keys, which is the widest. */
static bool
last_span(const StrataSpans *spans, IndexScanDesc desc, ScanKey keys,
		  int nkeys, int16 *span)
{
	index_rescan(desc, keys, nkeys, NULL, 0);
	*span = -1;
	if (strata_index_getnext_tid(desc, BackwardScanDirection) != NULL)
		*span = entry_span(spans, desc);
	return *span >= 0;
}

/*
 * Of all segments by one column: the last entry of each, from the last segment
 * to the first.  Nulls, which stand behind, come first.  The scan reads a page
 * at a time, so that it is walked over, but where a segment has many entries.
 */
static bool
walk_all(const StrataSpans *spans, IndexScanDesc desc, ScanKey layout,
		 ScanKey before, int16 *span)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(spans->index), 0);
	ScanKeyData keys[2];
	Datum		segment = (Datum) 0;
	bool		has_segment = false;
	int			walked = 0;

	ScanKeyEntryInitialize(&keys[0], SK_ISNULL | SK_SEARCHNULL, 1,
						   InvalidStrategy, InvalidOid, InvalidOid, InvalidOid,
						   (Datum) 0);
	keys[1] = *layout;
	keys[1].sk_attno = 2;
	index_rescan(desc, keys, 2, NULL, 0);
	*span = 0;
	if (strata_index_getnext_tid(desc, BackwardScanDirection) != NULL)
		*span = entry_span(spans, desc);
	keys[0].sk_flags = SK_ISNULL | SK_SEARCHNOTNULL;
	index_rescan(desc, keys, 2, NULL, 0);
	while (*span >= 0 &&
		   strata_index_getnext_tid(desc, BackwardScanDirection) != NULL)
	{
		bool		isnull;
		int16		its;
		Datum		value = index_getattr(desc->xs_itup, 1, desc->xs_itupdesc,
										  &isnull);

		if (has_segment &&
			datum_image_eq(value, segment, att->attbyval, att->attlen))
		{
			if (++walked % MAX_WALK == 0)
			{
				keys[0] = *before;
				keys[0].sk_argument = segment;
				index_rescan(desc, keys, 2, NULL, 0);
			}
			continue;
		}
		CHECK_FOR_INTERRUPTS();

		/*
		 * a copy: the scan gives the next entry the same place; kept, as it
		 * may be in a key of the scan
		 */
		segment = datumCopy(value, att->attbyval, att->attlen);
		has_segment = true;
		walked = 0;
		its = entry_span(spans, desc);
		*span = its < 0 ? its : Max(*span, its);
	}
	Assert(*span <= 64);		/* batch:B4 */
	return *span >= 0;
}

/* Begin a scan that shows its index's entries. */
static IndexScanDesc
begin(const StrataSpans *spans, int nkeys)
{
	IndexScanDesc desc = strata_index_beginscan(spans->store->batches,
												spans->index, spans->snapshot,
												nkeys, 0);

	desc->xs_want_itup = true;
	return desc;
}

/*
 * The widest batch of all segments, from the last entry of each; false when a
 * batch does not tell.
 */
static bool
widest_of_all(const StrataSpans *spans, ScanKey layout, int16 *span)
{
	ScanKeyData before;
	MemoryContext mcxt;
	MemoryContext old;
	IndexScanDesc desc;
	bool		known;

	if (spans->layout->nsegment != 1 ||
		!strata_init_first_key(&before, spans->index, BTLessStrategyNumber))
		return false;
	mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata segments",
								 ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(mcxt);
	desc = begin(spans, 2);
	known = walk_all(spans, desc, layout, &before, span);
	index_endscan(desc);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(mcxt);
	return known;
}

/* See scan_source_private.h. */
bool
strata_spans_widest(StrataSpans *spans, ScanKey keys, int nkeys, int16 *span)
{
	IndexScanDesc desc;
	bool		known;

	if (spans->index == NULL)
	{
		Oid			index = strata_store_span_index(spans->store,
													spans->layout);

		if (!OidIsValid(index))
			return false;
		spans->index = index_open(index, AccessShareLock);
	}
	Assert(nkeys >= 1 && nkeys <= spans->layout->nsegment + 1); /* scan:R6 */
	if (nkeys <= spans->layout->nsegment)
		return widest_of_all(spans, &keys[0], span);
	desc = begin(spans, nkeys);
	known = last_span(spans, desc, keys, nkeys, span);
	index_endscan(desc);
	return known;
}

void
strata_spans_end(StrataSpans *spans)
{
	if (spans->index != NULL)
		index_close(spans->index, NoLock);
	pfree(spans);
}
