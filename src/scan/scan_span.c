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
#include "scan/scan_private.h"

#include "access/genam.h"
#include "access/itup.h"
#include "access/skey.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

struct StrataSpans
{
	StrataStore *store;
	Snapshot	snapshot;
	const StrataLayout *layout;
	Relation	index;			/* opened when it is asked for; or NULL */
};

/* Memory: the current context. */
StrataSpans *
strata_spans_create(StrataStore *store, Snapshot snapshot, const StrataLayout *layout)
{
	StrataSpans *spans = palloc(sizeof(StrataSpans));

	spans->store = store;
	spans->snapshot = snapshot;
	spans->layout = layout;
	spans->index = NULL;
	return spans;
}

/* See scan_private.h. */
bool
strata_init_first_key(ScanKey key, Relation index, StrategyNumber strategy)
{
	Oid			operator = get_opfamily_member(index->rd_opfamily[0], index->rd_opcintype[0],
											   index->rd_opcintype[0], strategy);

	if (OidIsValid(operator))
		ScanKeyEntryInitialize(key, 0, 1, strategy, InvalidOid, index->rd_indcollation[0],
							   get_opcode(operator), (Datum) 0);
	return OidIsValid(operator);
}

/*
 * The last span of the entries that have the keys, which is the widest: a null, which
 * says that one is not known, comes behind all.  False: there is no such entry.
 */
static bool
last_span(const StrataSpans *spans, IndexScanDesc desc, ScanKey keys, int nkeys, Datum *span, bool *isnull)
{
	index_rescan(desc, keys, nkeys, NULL, 0);
	if (index_getnext_tid(desc, BackwardScanDirection) == NULL)
		return false;
	*span = index_getattr(desc->xs_itup, spans->layout->nsegment + 2, desc->xs_itupdesc, isnull);
	return true;
}

/* Of all segments by one column: from the last to the first, nulls, which stand behind, first. */
static bool
widest_of_all(const StrataSpans *spans, IndexScanDesc desc, ScanKey layout, ScanKey before, int16 *span)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(spans->index), 0);
	ScanKeyData keys[2];
	Datum		segment = (Datum) 0;
	Datum		value;
	bool		isnull = false;

	ScanKeyEntryInitialize(&keys[0], SK_ISNULL | SK_SEARCHNULL, 1, InvalidStrategy, InvalidOid,
						   InvalidOid, InvalidOid, (Datum) 0);
	keys[1] = *layout;
	keys[1].sk_attno = 2;
	*span = 0;
	if (last_span(spans, desc, keys, 2, &value, &isnull))
		*span = DatumGetInt16(value);
	keys[0].sk_flags = SK_ISNULL | SK_SEARCHNOTNULL;
	while (!isnull && last_span(spans, desc, keys, 2, &value, &isnull))
	{
		bool		is_first = keys[0].sk_flags != 0;
		Datum		old = segment;
		bool		none;

		CHECK_FOR_INTERRUPTS();
		*span = Max(*span, DatumGetInt16(value));
		/* a copy: the scan gives the next entry the same place */
		segment = datumCopy(index_getattr(desc->xs_itup, 1, desc->xs_itupdesc, &none),
							att->attbyval, att->attlen);
		if (!is_first && !att->attbyval)
			pfree(DatumGetPointer(old));
		keys[0] = *before;
		keys[0].sk_argument = segment;
	}
	return !isnull;
}

/* See scan_private.h. */
bool
strata_spans_widest(StrataSpans *spans, ScanKey keys, int nkeys, int16 *span)
{
	bool		all = nkeys <= spans->layout->nsegment;
	IndexScanDesc desc;
	ScanKeyData before;
	Datum		value = (Datum) 0;
	bool		isnull = true;

	if (spans->index == NULL)
	{
		Oid			index = strata_store_span_index(spans->store, spans->layout);

		if (!OidIsValid(index))
			return false;
		spans->index = index_open(index, AccessShareLock);
	}
	if (all && (spans->layout->nsegment != 1 ||
				!strata_init_first_key(&before, spans->index, BTLessStrategyNumber)))
		return false;
	desc = strata_index_beginscan(spans->store->batches, spans->index, spans->snapshot, all ? 2 : nkeys, 0);
	desc->xs_want_itup = true;
	if (all)
		isnull = !widest_of_all(spans, desc, &keys[0], &before, span);
	else
	{
		(void) last_span(spans, desc, keys, nkeys, &value, &isnull);
		*span = DatumGetInt16(value);
	}
	index_endscan(desc);
	return !isnull;
}

void
strata_spans_end(StrataSpans *spans)
{
	if (spans->index != NULL)
		index_close(spans->index, NoLock);
	pfree(spans);
}
