/*-------------------------------------------------------------------------
 *
 * scan_source.c
 *	  Batch rows of the companion: by sequential scan or by one of its indexes.
 *
 * An index of the companion has the layout among its columns, and knows the
 * values of one layout only.  Batches of other layouts, left from earlier
 * settings, are read through the two ranges around it, from an index that
 * leads with the layout: nothing is lost when settings change.
 *
 * All reading is done with the query's snapshot.  The tuples come out as they
 * are; pruning, and everything else, is the caller's.
 *
 * Over 600 lines: ranges, their keys and the order in which they are read are
 * one state.
 *
 * src/scan/scan_source.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "pg/pg.h"
#include "scan/scan_source_private.h"
#include "store/store.h"

#include "access/genam.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "access/skey.h"
#include "access/tableam.h"
#include "catalog/pg_collation_d.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* layout, segment values, min, max; NOT NULL; bounds by span */
#define MAX_KEYS (INDEX_MAX_KEYS + 1)

/*
 * Entries of an index to walk over rather than to look for the next segment
 * from its root.
 */
#define SKIP_BY_WALKING 64

/* An index scan, which ranges use in turn, and the keys of the present one. */
typedef struct RangeScan
{
	IndexScanDesc desc;
	int			desc_nkeys;		/* it was made for */
	int			nkeys;
	ScanKeyData keys[MAX_KEYS];
} RangeScan;

/* Which segments of the layout are left to read, if some are skipped. */
typedef enum SegmentKey
{
	SEGMENT_ANY,
	SEGMENT_BEHIND,				/* those that come after a value */
	SEGMENT_NOT_NULL,
	SEGMENT_NULL
} SegmentKey;

struct StrataSource
{
	MemoryContext mcxt;			/* scans are made here */
	const StrataFilter *filter; /* of the last rescan */
	StrataStore *store;
	Snapshot	snapshot;
	StrataAccess access;
	StrataLayout *layout;		/* NULL for SEQ */
	Datum		layout_datum;
	Relation	index;			/* NULL for SEQ */
	StrataSpans *spans;			/* bounds may come from the widest batch; or
								 * NULL */
	Relation	others;			/* leads with the layout; NULL when there are
								 * no other layouts */
	bool		single;			/* there are none */
	StrataIndexSource *by_index;	/* INDEX: all is done there */
	StrataPages *pages;			/* SEQ: this, or seqscan */
	TableScanDesc seqscan;
	ParallelTableScanDesc pscan;
	StrataRange range;			/* being read */
	bool		in_range;		/* false: nothing (more) to read in it */
	bool		at_start;		/* nothing was read of it yet */
	bool		ordered;		/* the layout's range is in order of its
								 * bounds */
	bool		known_empty[STRATA_RANGE_COUNT];	/* of ranges without keys
													 * but the layout */
	bool		best_first;		/* the layout's range: the best bound first,
								 * segment by segment if access is */
	bool		skipping;		/* ... and the segment of this entry is to be
								 * left out: */
	IndexTuple	skipped;		/* a copy, or NULL */
	bool		can_jump;		/* those that come after a segment can be
								 * looked for */
	SegmentKey	segment_key;	/* what is left */
	Datum		behind;			/* the value in the scan's key, a copy */
	ScanKeyData behind_proto;	/* that key without the value */
	bool	   *proven;			/* per qual of filter: a key of this range
								 * says the same */
	bool		keys_wanted;	/* strata_source_peek() will be called */
	bool		peeked;			/* the next entry's TID stands in the scan,
								 * its row is not read */
	ScanDirection direction;
	IndexScanDesc current;		/* of the range being read */
	RangeScan	scan;			/* of index: the layout's ranges */
	RangeScan	around;			/* of others */
};

static inline bool
reads_by_segment(const StrataSource *source)
{
	return source->access == STRATA_ACCESS_SEGMENT ||
		source->access == STRATA_ACCESS_SEGMENT_MAX;
}

static inline bool
is_max_access(const StrataSource *source)
{
	return source->access == STRATA_ACCESS_MAX ||
		source->access == STRATA_ACCESS_SEGMENT_MAX;
}

/*
 * Access falls back to SEQ where the companion has no such index (any more).
 * Memory: the current context.
 */
StrataSource *
strata_source_create(StrataStore *store, Snapshot snapshot,
					 StrataAccess access, const char *layout, bool by_span,
					 const List *indexes)
{
	StrataSource *source = palloc(sizeof(StrataSource));
	Oid			index = InvalidOid;
	Oid			others = InvalidOid;

	/* the keys, which are most of it, are filled in before they are read */
	memset(source, 0, offsetof(StrataSource, scan.keys));
	source->around.desc = NULL;
	source->mcxt = CurrentMemoryContext;
	source->store = store;
	source->snapshot = snapshot;
	if (access == STRATA_ACCESS_INDEX)
	{
		/* batches of all layouts, in one range */
		source->access = access;
		source->by_index = strata_index_source_create(store, snapshot,
													  indexes);
		source->known_empty[STRATA_RANGE_BEFORE] =
			source->known_empty[STRATA_RANGE_AFTER] = true;
		return source;
	}
	if (access != STRATA_ACCESS_SEQ)
	{
		source->layout = strata_layout_parse(layout, store->schema->natts);
		source->layout_datum = CStringGetTextDatum(layout);
		source->access = access;
		index = reads_by_segment(source) ?
			strata_store_segment_index(store, source->layout,
									   is_max_access(source)) :
			strata_store_order_index(store, source->layout,
									 is_max_access(source));
	}
	if (OidIsValid(index))
	{
		source->single = strata_store_has_only_layout(store, layout);
		if (!source->single)
			others = strata_store_layout_index(store, source->layout);
	}
	if (OidIsValid(index) && (source->single || OidIsValid(others)))
	{
		source->index = index_open(index, AccessShareLock);
		if (OidIsValid(others))
			source->others = index_open(others, AccessShareLock);
		if (by_span)
			source->spans = strata_spans_create(store, snapshot,
												source->layout);
	}
	else
		source->access = STRATA_ACCESS_SEQ;
	source->known_empty[STRATA_RANGE_BEFORE] =
		source->known_empty[STRATA_RANGE_AFTER] = source->single;
	return source;
}

StrataAccess
strata_source_access(const StrataSource *source)
{
	return source->access;
}

/* Share the sequential scan with other processes; before the first row. */
void
strata_source_set_parallel(StrataSource *source, ParallelTableScanDesc pscan)
{
	Assert(source->access == STRATA_ACCESS_SEQ &&
		   source->seqscan == NULL && source->pages == NULL);	/* scan:R1 */
	source->pscan = pscan;
}

/* See scan_source_private.h. */
void
strata_source_narrow(StrataSource *source, const StrataIndexRanges *ranges)
{
	if (source->by_index != NULL)
		strata_index_source_narrow(source->by_index, ranges);
}

/*
 * See scan_source_private.h.  With several segmentby columns there is no
 * jumping.
 */
void
strata_source_set_best_first(StrataSource *source)
{
	const StrataBatchSchema *schema = source->store->schema;
	AttrNumber	column;

	if (source->access == STRATA_ACCESS_SEQ)
		return;
	Assert(source->by_index == NULL);	/* scan:R13 */
	column = source->layout->order[0].attno;
	/* the order of a type that the column had before is another one */
	if (!strata_batch_schema_same_type(schema, column,
									   is_max_access(source) ?
									   schema->max_att[column] :
									   schema->min_att[column]))
		return;
	source->best_first = true;
	source->keys_wanted = reads_by_segment(source);
	source->can_jump = reads_by_segment(source) &&
		source->layout->nsegment == 1 &&
		strata_init_first_key(&source->behind_proto,
							  source->index,
							  is_max_access(source) ?
							  BTLessStrategyNumber :
							  BTGreaterStrategyNumber);
}

/* Leave out the segments that are done. */
static void
rest_key(StrataSource *source, RangeScan *scan)
{
	ScanKey		key = &scan->keys[scan->nkeys];

	if (source->segment_key == SEGMENT_ANY)
		return;
	scan->nkeys++;
	if (source->segment_key == SEGMENT_BEHIND)
	{
		*key = source->behind_proto;
		key->sk_argument = source->behind;
	}
	else
		ScanKeyEntryInitialize(key,
							   SK_ISNULL |
							   (source->segment_key == SEGMENT_NULL ?
								SK_SEARCHNULL :
								SK_SEARCHNOTNULL),
							   1, InvalidStrategy, InvalidOid, InvalidOid,
							   InvalidOid, (Datum) 0);
}

static void
layout_key(StrataSource *source, RangeScan *scan, int attno,
		   StrategyNumber strategy, RegProcedure proc)
{
	ScanKeyEntryInitialize(&scan->keys[scan->nkeys++], 0, (AttrNumber) attno,
						   strategy, InvalidOid, C_COLLATION_OID, proc,
						   source->layout_datum);
}

/* Where the layout stands in the index that is read. */
static inline int
layout_position(const StrataSource *source)
{
	return reads_by_segment(source) ? source->layout->nsegment + 1 : 1;
}

/*
 * Does index column attno compare as the leaf's bounds do, and is there room
 * for a key on it?
 */
static bool
can_have_key(const StrataSource *source, const RangeScan *scan,
			 const FilterNode *leaf, int attno)
{
	Relation	index = source->index;
	Oid			collation = index->rd_indcollation[attno - 1];

	return scan->nkeys < MAX_KEYS - 1 &&
		leaf->opfamily == index->rd_opfamily[attno - 1] &&
		leaf->lefttype == index->rd_opcintype[attno - 1] &&
		(!OidIsValid(collation) || leaf->collation == collation);
}

/*
 * Append a key on index column attno made of a leaf and its value, low or
 * high; strategy may differ from the leaf's (min_ <= value follows from column
 * = value). False when the index compares otherwise than the leaf does.
 */
static bool
leaf_key(StrataSource *source, RangeScan *scan, const FilterNode *leaf,
		 int attno, StrategyNumber strategy, Datum value)
{
	Oid			opcintype = source->index->rd_opcintype[attno - 1];
	Oid			collation = source->index->rd_indcollation[attno - 1];
	Oid			opcode = leaf->same;

	Assert(leaf->order != STRATA_ORDER_NONE);	/* scan:R6 */
	if (!can_have_key(source, scan, leaf, attno))
		return false;
	if (strategy != leaf->strategy)
	{
		Assert(strategy == BTLessEqualStrategyNumber ||
			   strategy == BTGreaterEqualStrategyNumber);	/* scan:R6 */
		opcode = strategy == BTLessEqualStrategyNumber ? leaf->at_most :
			leaf->at_least;
	}
	if (!OidIsValid(opcode))
		return false;
	ScanKeyEntryInitialize(&scan->keys[scan->nkeys++],
						   leaf->op == FILTER_IN ? SK_SEARCHARRAY : 0, attno,
						   strategy,
						   leaf->boundtype == opcintype ? InvalidOid :
						   leaf->boundtype,
						   collation, opcode, value);
	return true;
}

static bool
is_lower_bound(int strategy)
{
	return strategy == BTGreaterStrategyNumber ||
		strategy == BTGreaterEqualStrategyNumber ||
		strategy == BTEqualStrategyNumber;
}

static bool
is_upper_bound(int strategy)
{
	return strategy == BTLessStrategyNumber ||
		strategy == BTLessEqualStrategyNumber ||
		strategy == BTEqualStrategyNumber;
}

/*
 * The comparison of the first orderby column that qual number i is, if it may
 * be a key; or NULL.
 */
static const FilterNode *
order_comparison(const StrataSource *source, const StrataFilter *filter, int i)
{
	const FilterNode *leaf = filter->quals[i].tree;

	return filter->quals[i].promotable && leaf->op == FILTER_COMPARE &&
		OidIsValid(leaf->opno) &&
		leaf->attno == source->layout->order[0].attno ?
		leaf :
		NULL;
}

/*
 * Quals on the first orderby column bound the min (column <= v: min <= v) or
 * the max (column >= v: max >= v), which index column attno holds.
 */
static void
bound_keys(StrataSource *source, RangeScan *scan, const StrataFilter *filter,
		   int attno, bool is_max)
{
	AttrNumber	column = source->layout->order[0].attno;
	AttrNumber	catt;

	catt = is_max ? source->store->schema->max_att[column] :
		source->store->schema->min_att[column];
	if (!strata_batch_schema_same_type(source->store->schema, column, catt))
		return;
	for (int i = 0; i < filter->nquals; i++)
	{
		const FilterNode *leaf = order_comparison(source, filter, i);

		if (leaf == NULL)
			continue;
		if (is_max && is_lower_bound(leaf->strategy))
			(void) leaf_key(source, scan, leaf, attno,
							leaf->strategy == BTGreaterStrategyNumber ?
							BTGreaterStrategyNumber :
							BTGreaterEqualStrategyNumber,
							leaf->low);
		else if (!is_max && is_upper_bound(leaf->strategy))
			(void) leaf_key(source, scan, leaf, attno,
							leaf->strategy == BTLessStrategyNumber ?
							BTLessStrategyNumber :
							BTLessEqualStrategyNumber,
							leaf->high);
	}
}

/*
 * A batch that begins at v or before ends at v plus the widest span or before,
 * and one that ends at v or after begins at v minus that or after: so quals
 * that bound the other end of a batch bound the leading column of the index
 * too, if not as closely.  Without it all batches to one side would be looked
 * at.
 */
static void
span_keys(StrataSource *source, RangeScan *scan, const StrataFilter *filter,
		  int nkeys, bool is_max)
{
	int			attno = layout_position(source) + 1;
	int16		span = -1;

	for (int i = 0; i < filter->nquals; i++)
	{
		const FilterNode *leaf = order_comparison(source, filter, i);
		Datum		bound;

		if (leaf == NULL ||
			!(is_max ? is_upper_bound(leaf->strategy) :
			  is_lower_bound(leaf->strategy)) ||
			leaf->boundtype != leaf->lefttype ||
			!can_have_key(source, scan, leaf, attno))
			continue;
		if (span < 0 &&
			!strata_spans_widest(source->spans, scan->keys, nkeys, &span))
			return;
		if (strata_span_move(leaf->lefttype, is_max ? leaf->high : leaf->low,
							 span, is_max, &bound))
			ScanKeyEntryInitialize(&scan->keys[scan->nkeys++], 0, attno,
								   is_max ? BTLessEqualStrategyNumber :
								   BTGreaterEqualStrategyNumber,
								   InvalidOid, InvalidOid,
								   is_max ? leaf->at_most : leaf->at_least,
								   bound);
	}
}

/* A key that a null, or an empty list, makes impossible: no row matches. */
static bool
no_row_matches(const StrataFilter *filter)
{
	for (int i = 0; i < filter->nquals; i++)
		if (filter->quals[i].promotable && filter->quals[i].tree->never)
			return true;
	return false;
}

/*
 * Keys on the layout's segmentby columns, as many as lead the index.  True
 * when there is one for each of them; *single: and each names a single value.
 */
static bool
segment_keys(StrataSource *source, RangeScan *scan, const StrataFilter *filter,
			 bool *single)
{
	const StrataLayout *layout = source->layout;

	*single = true;
	for (int i = 0; i < layout->nsegment; i++)
	{
		int			qual = strata_filter_find_equality(filter,
													   layout->segment[i], 0);
		AttrNumber	catt = source->store->schema->seg_att[layout->segment[i]];

		if (qual < 0 || catt == 0 ||
			!strata_batch_schema_same_type(source->store->schema,
										   layout->segment[i], catt) ||
			filter->quals[qual].tree->order != STRATA_ORDER_TOTAL ||
			!leaf_key(source, scan, filter->quals[qual].tree, i + 1,
					  BTEqualStrategyNumber, filter->quals[qual].tree->value))
			return *single = false;
		Assert(filter->quals[qual].promotable); /* scan:R4 */
		source->proven[qual] = true;
		if (filter->quals[qual].tree->op != FILTER_COMPARE)
			*single = false;
	}
	return true;
}

/* NULL bounds only, or anything but. */
static void
null_key(StrataSource *source, RangeScan *scan, bool isnull)
{
	int			attno = layout_position(source) + 1;

	ScanKeyEntryInitialize(&scan->keys[scan->nkeys++],
						   SK_ISNULL |
						   (isnull ? SK_SEARCHNULL : SK_SEARCHNOTNULL),
						   attno, InvalidStrategy, InvalidOid, InvalidOid,
						   InvalidOid, (Datum) 0);
}

/* Fill in the keys of the batches of the layout itself. */
static void
layout_range_keys(StrataSource *source, RangeScan *scan,
				  const StrataFilter *filter, StrataRange range, bool not_null)
{
	bool		is_max = is_max_access(source);
	bool		full;
	int			nsegment;
	bool		bounded = false;

	rest_key(source, scan);
	source->ordered = !reads_by_segment(source);
	full = source->ordered || source->best_first ||
		(strata_enable_pruning &&
		 segment_keys(source, scan, filter, &source->ordered));
	nsegment = scan->nkeys;
	/* the index wants its keys in the order of its columns */
	layout_key(source, scan, layout_position(source), BTEqualStrategyNumber,
			   F_TEXTEQ);
	if (range == STRATA_RANGE_LAYOUT_NULL)
		null_key(source, scan, true);
	else if (not_null)
		null_key(source, scan, false);
	if (strata_enable_pruning && full && range != STRATA_RANGE_LAYOUT_NULL &&
		source->layout->norder > 0)
	{
		int			nkeys = scan->nkeys;

		bound_keys(source, scan, filter, layout_position(source) + 1, is_max);
		if (source->spans != NULL && source->ordered &&
			(nsegment == source->layout->nsegment || source->best_first))
			span_keys(source, scan, filter, nsegment + 1, is_max);
		bounded = scan->nkeys > nkeys;
		if (reads_by_segment(source))
			bound_keys(source, scan, filter, layout_position(source) + 2,
					   !is_max);
	}

	/*
	 * what all batches have need not be compared, but where the scan begins
	 * by what is behind it
	 */
	if (source->single && reads_by_segment(source) && !bounded)
		memmove(&scan->keys[nsegment], &scan->keys[nsegment + 1],
				sizeof(ScanKeyData) * (--scan->nkeys - nsegment));
}

/*
 * A scan that shows its index's entries keeps their page pinned, and VACUUM
 * waits for that: between two FETCHes of a cursor, for hours, and
 * compress_chunk() for VACUUM.  Index-only scans need it, for which an entry
 * stands for its row; here rows are read, with the query's snapshot.  So the
 * pin goes when other scans' does.
 */
static inline void
release_page(IndexScanDesc desc)
{
	BTScanOpaque so = (BTScanOpaque) desc->opaque;

	if (!desc->xs_want_itup || !IsMVCCSnapshot(desc->xs_snapshot) ||
		!RelationNeedsWAL(desc->indexRelation))
		return;
	strata_btree_drop_pins(so);
	BTScanPosUnpinIfPinned(so->currPos);
}

/*
 * Begin or begin anew an index scan with its keys; it keeps the number of keys
 * it was made for.
 */
static void
start_range_scan(StrataSource *source, RangeScan *scan, Relation index)
{
	/* repeat the first to fill up */
	for (; scan->desc != NULL && scan->nkeys > 0 &&
		 scan->nkeys < scan->desc_nkeys;
		 scan->nkeys++)
		memmove(&scan->keys[1], &scan->keys[0],
				sizeof(ScanKeyData) * scan->nkeys);
	if (scan->desc != NULL && scan->nkeys != scan->desc_nkeys)
	{
		index_endscan(scan->desc);
		scan->desc = NULL;
	}
	if (scan->desc == NULL)
		scan->desc = strata_index_beginscan(source->store->batches, index,
											source->snapshot, scan->nkeys, 0);
	Assert(scan->nkeys <= MAX_KEYS);	/* scan:R6 */
	Assert(scan->desc->xs_snapshot == source->snapshot);	/* scan:R2 */
	scan->desc_nkeys = scan->nkeys;
	scan->desc->xs_want_itup = source->keys_wanted;
	index_rescan(scan->desc, scan->keys, scan->nkeys, NULL, 0);
	release_page(scan->desc);
	source->current = scan->desc;
}

/* Begin with a range of the index; false when no batch of it can matter. */
static bool
start_index_range(StrataSource *source, const StrataFilter *filter,
				  StrataRange range, bool not_null)
{
	bool		before = range == STRATA_RANGE_BEFORE;

	Assert(range == STRATA_RANGE_LAYOUT || range == STRATA_RANGE_LAYOUT_NULL ||
		   source->known_empty[range] ||
		   source->others != NULL); /* scan:R1 */
	if (source->known_empty[range])
		return false;
	if (range == STRATA_RANGE_LAYOUT || range == STRATA_RANGE_LAYOUT_NULL)
	{
		source->ordered = true;
		if (strata_enable_pruning && no_row_matches(filter))
			return false;
		source->scan.nkeys = 0;
		layout_range_keys(source, &source->scan, filter, range, not_null);
		start_range_scan(source, &source->scan, source->index);
		return true;
	}
	source->around.nkeys = 0;
	layout_key(source, &source->around, 1,
			   before ? BTLessStrategyNumber : BTGreaterStrategyNumber,
			   before ? F_TEXT_LT : F_TEXT_GT);
	start_range_scan(source, &source->around, source->others);
	return true;
}

static void
start_seq_scan(StrataSource *source)
{
	if (source->pages != NULL)
		strata_pages_rescan(source->pages);
	else if (source->seqscan != NULL)
		table_rescan(source->seqscan, NULL);
	else if (strata_pages_can_read(source->store->batches, source->snapshot))
		source->pages = strata_pages_create(source->store->batches,
											source->snapshot, source->pscan);
	else if (source->pscan != NULL)
		source->seqscan = table_beginscan_parallel(source->store->batches,
												   source->pscan);
	else
		source->seqscan = table_beginscan(source->store->batches,
										  source->snapshot, 0, NULL);
}

/* See scan_source_private.h. */
void
strata_source_start_range(StrataSource *source, const StrataFilter *filter,
						  StrataRange range, ScanDirection direction,
						  bool not_null)
{
	MemoryContext old = MemoryContextSwitchTo(source->mcxt);

	source->range = range;
	source->direction = direction;
	source->at_start = true;
	source->peeked = false;
	if (source->proven == NULL)
		source->proven = palloc(sizeof(bool) * Max(filter->nmax, 1));
	memset(source->proven, 0, sizeof(bool) * filter->nmax);
	if (source->by_index != NULL)
	{
		source->in_range = range == STRATA_RANGE_LAYOUT &&
			!(strata_enable_pruning && no_row_matches(filter));
		if (source->in_range)
			strata_index_source_start(source->by_index, filter, direction);
	}
	else if (source->access != STRATA_ACCESS_SEQ)
		source->in_range = start_index_range(source, filter, range, not_null);
	else
	{
		source->in_range = range == STRATA_RANGE_LAYOUT;
		if (source->in_range)
			start_seq_scan(source);
	}
	MemoryContextSwitchTo(old);
}

/* Read the segments that are left, from the first one on. */
static void
start_rest(StrataSource *source, SegmentKey key)
{
	source->segment_key = key;
	strata_source_start_range(source, source->filter, STRATA_RANGE_LAYOUT,
							  source->direction, false);
}

/*
 * Is the entry the index scan stands on one of the segment that is left out?
 */
static bool
is_in_skipped(const StrataSource *source)
{
	IndexScanDesc desc = source->current;

	for (int i = 0; i < source->layout->nsegment; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc->xs_itupdesc, i);
		bool		isnull;
		bool		skipped_isnull;
		Datum		value = index_getattr(desc->xs_itup, i + 1,
										  desc->xs_itupdesc, &isnull);
		Datum		skipped = index_getattr(source->skipped, i + 1,
											desc->xs_itupdesc,
											&skipped_isnull);

		if (isnull != skipped_isnull ||
			(!isnull &&
			 !datum_image_eq(value, skipped, att->attbyval, att->attlen)))
			return false;
	}
	return true;
}

/*
 * Go to behind the segment that is left out; false: it is the last one.  Nulls
 * are the last segment of the index: walked backward, the first.
 */
static bool
jump_over_skipped(StrataSource *source)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(source->index), 0);
	Datum		old = source->behind;
	bool		had_old;
	bool		isnull;
	Datum		value = index_getattr(source->skipped, 1,
									  RelationGetDescr(source->index),
									  &isnull);
	MemoryContext context;

	had_old = source->segment_key == SEGMENT_BEHIND && !att->attbyval;
	source->skipping = false;
	if (isnull && !is_max_access(source))
		return source->in_range = false;
	if (isnull)
		start_rest(source, SEGMENT_NOT_NULL);
	else
	{
		context = MemoryContextSwitchTo(source->mcxt);
		source->behind = datumCopy(value, att->attbyval, att->attlen);
		MemoryContextSwitchTo(context);
		start_rest(source, SEGMENT_BEHIND);
		/* the scan's keys pointed to it until now */
		if (had_old)
			pfree(DatumGetPointer(old));
	}
	return source->in_range;
}

/*
 * The next batch row of the layout's range, the best first.  A segment that is
 * skipped is walked over first, by the index's entries: most often the page
 * has the next segment.
 */
static bool
next_best(StrataSource *source, TupleTableSlot *slot)
{
	ScanDirection direction;
	int			walked = 0;

	direction = is_max_access(source) ? BackwardScanDirection :
		ForwardScanDirection;
	while (strata_index_getnext_tid(source->current, direction) != NULL)
	{
		if (source->skipping && is_in_skipped(source))
		{
			if (++walked > SKIP_BY_WALKING && source->can_jump &&
				!jump_over_skipped(source))
				return false;
			if (walked % 1024 == 0)
				CHECK_FOR_INTERRUPTS();
			continue;
		}
		source->skipping = false;
		if (index_fetch_heap(source->current, slot))
			return true;
	}
	return false;
}

/* See scan_source_private.h. */
bool
strata_source_next_in_range(StrataSource *source, TupleTableSlot *slot)
{
	bool		found;

	if (!source->in_range)
		return false;
	if (source->by_index != NULL)
		found = strata_index_source_next(source->by_index, source->direction,
										 slot);
	else if (source->pages != NULL)
		found = strata_pages_next(source->pages, source->direction, slot);
	else if (source->access == STRATA_ACCESS_SEQ)
		found = table_scan_getnextslot(source->seqscan, source->direction,
									   slot);
	else
	{
		Assert(!source->peeked);	/* scan:R1 */
		if (source->best_first && source->range == STRATA_RANGE_LAYOUT)
			found = next_best(source, slot);
		else
			found = strata_index_getnext_slot(source->current,
											  source->direction, slot);
		/* nothing but the snapshot can change that, and it stays */
		if (!found && source->at_start &&
			(source->range == STRATA_RANGE_BEFORE ||
			 source->range == STRATA_RANGE_AFTER))
			source->known_empty[source->range] = true;
	}
	source->at_start = false;
	if (!found)
		source->in_range = false;
	return found;
}

/* See scan_source_private.h. */
void
strata_source_want_keys(StrataSource *source, bool wanted)
{
	source->keys_wanted = wanted;
}

/* See scan_source_private.h. */
bool
strata_source_peek(StrataSource *source, Datum *bound, bool *isnull)
{
	IndexScanDesc desc = source->current;
	int			attno = layout_position(source) + 1;

	Assert(source->access != STRATA_ACCESS_SEQ && source->keys_wanted &&
		   !source->peeked);	/* scan:R1 */
	if (!source->in_range)
		return false;
	source->at_start = false;
	if (strata_index_getnext_tid(desc, source->direction) == NULL)
		return source->in_range = false;
	release_page(desc);
	source->peeked = true;
	*bound = index_getattr(desc->xs_itup, attno, desc->xs_itupdesc, isnull);
	return true;
}

/* See scan_source_private.h. */
bool
strata_source_next_peeked(StrataSource *source, TupleTableSlot *slot)
{
	Assert(source->peeked);		/* scan:R1 */
	source->peeked = false;
	return index_fetch_heap(source->current, slot);
}

/* See scan_source_private.h. */
const StrataLayout *
strata_source_layout(const StrataSource *source)
{
	return source->layout;
}

/* See scan_source_private.h. */
const bool *
strata_source_proven(const StrataSource *source)
{
	return source->proven;
}

/* See scan_source_private.h. */
bool
strata_source_is_ordered(const StrataSource *source)
{
	return source->access != STRATA_ACCESS_SEQ && source->ordered;
}

/* See scan_source_private.h. */
void
strata_source_rescan(StrataSource *source, const StrataFilter *filter)
{
	source->filter = filter;
	source->segment_key = SEGMENT_ANY;
	source->skipping = false;
	strata_source_start_range(source, filter, STRATA_RANGE_LAYOUT,
							  ForwardScanDirection, false);
}

/* See scan_source_private.h. */
void
strata_source_skip_rest(StrataSource *source)
{
	MemoryContext old;

	if (!source->best_first || source->range != STRATA_RANGE_LAYOUT ||
		!source->in_range)
		return;
	if (!reads_by_segment(source))
	{
		source->in_range = false;
		return;
	}
	Assert(source->keys_wanted);	/* scan:R13 */
	old = MemoryContextSwitchTo(source->mcxt);
	if (source->skipped != NULL)
		pfree(source->skipped);
	source->skipped = CopyIndexTuple(source->current->xs_itup);
	source->skipping = true;
	MemoryContextSwitchTo(old);
}

/*
 * The segment of nulls, where looking for those behind a value has passed it
 * by.
 */
static bool
start_nulls(StrataSource *source)
{
	if (source->range != STRATA_RANGE_LAYOUT ||
		source->segment_key != SEGMENT_BEHIND || is_max_access(source))
		return false;
	start_rest(source, SEGMENT_NULL);
	return true;
}

/*
 * See scan_source_private.h.  A sequential scan is not started over: it may
 * begin anywhere in the companion, and must go back the way it came.
 */
void
strata_source_turn(StrataSource *source, ScanDirection direction)
{
	if (source->access == STRATA_ACCESS_SEQ)
		source->in_range = true;
	else
		strata_source_start_range(source, source->filter,
								  ScanDirectionIsForward(direction) ?
								  STRATA_RANGE_LAYOUT : STRATA_RANGE_AFTER,
								  direction, false);
}

/* The range after this one in the direction; false when there is none. */
static bool
start_following_range(StrataSource *source, ScanDirection direction)
{
	static const StrataRange order[] = {STRATA_RANGE_LAYOUT,
		STRATA_RANGE_BEFORE,
	STRATA_RANGE_AFTER};
	int			i = 0;

	if (source->access == STRATA_ACCESS_SEQ)
		return false;
	Assert(source->range !=
		   STRATA_RANGE_LAYOUT_NULL);	/* scan:R13: it has no place in this
										 * order */
	while (order[i] != source->range)
		i++;
	i += ScanDirectionIsForward(direction) ? 1 : -1;
	if (i < 0 || i >= (int) lengthof(order))
		return false;
	strata_source_start_range(source, source->filter, order[i], direction,
							  false);
	return true;
}

/* See scan_source_private.h. */
bool
strata_source_next(StrataSource *source, ScanDirection direction,
				   TupleTableSlot *slot)
{
	source->direction = direction;
	do
	{
		if (strata_source_next_in_range(source, slot))
			return true;
	} while (start_nulls(source) || start_following_range(source, direction));
	return false;
}

/* See scan_source_private.h. */
bool
strata_source_fetch(StrataSource *source, ItemPointer tid,
					TupleTableSlot *slot)
{
	return table_tuple_fetch_row_version(source->store->batches, tid,
										 source->snapshot, slot);
}

/* See scan_source_private.h. */
void
strata_source_end(StrataSource *source)
{
	if (source->scan.desc != NULL)
		index_endscan(source->scan.desc);
	if (source->around.desc != NULL)
		index_endscan(source->around.desc);
	if (source->by_index != NULL)
		strata_index_source_end(source->by_index);
	if (source->index != NULL)
		index_close(source->index, NoLock);
	if (source->spans != NULL)
		strata_spans_end(source->spans);
	if (source->others != NULL)
		index_close(source->others, NoLock);
	if (source->pages != NULL)
		strata_pages_end(source->pages);
	if (source->seqscan != NULL)
		table_endscan(source->seqscan);
	pfree(source);
}
