/*-------------------------------------------------------------------------
 *
 * compress_estimate.c
 *	  What a table would take compressed, by a layout: read, sort, encode,
 *	  count, and write nothing.
 *
 * Small tables are read whole.  Of large ones a few windows of neighbouring
 * pages are read: rows that arrived together, of all segments, so that what is
 * next to each other in a batch is so in the sample.  Of many rows only some
 * batches are encoded, evenly spread.
 *
 * src/compress/compress_estimate.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"

#include "access/tableam.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "lib/hyperloglog.h"
#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/bufmgr.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Tables of more pages are sampled, by so many windows of so many pages. */
#define WHOLE_PAGES 32768
#define WINDOWS 4
#define WINDOW_PAGES 4096

/* Rows read at most, and rows encoded at most. */
#define ROWS_READ_MAX 2000000
#define ROWS_ENCODED 400000

typedef struct EstimateState
{
	Relation	rel;
	const StrataLayout *layout;
	StrataRowSort *sort;
	int64		nread;
	bool		complete;		/* all rows of the table were read */
	double		share;			/* of the table's pages that were looked at */
} EstimateState;

/* Read a scan to its end, or until there are enough rows; false then. */
static bool
read_scan(EstimateState *state, TableScanDesc scan, TupleTableSlot *slot,
		  bool ranges)
{
	while (ranges ? table_scan_getnextslot_tidrange(scan, ForwardScanDirection,
													slot) :
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		if ((++state->nread & 1023) == 0)
			CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		strata_row_sort_put(state->sort, slot);
		if (state->nread >= ROWS_READ_MAX)
			return false;
	}
	return true;
}

/* Put the sample into the sort. */
static void
read_sample(EstimateState *state, Snapshot snapshot)
{
	BlockNumber pages = RelationGetNumberOfBlocks(state->rel);
	TupleTableSlot *slot = table_slot_create(state->rel, NULL);
	TableScanDesc scan;

	if (pages <= WHOLE_PAGES)
	{
		scan = table_beginscan(state->rel, snapshot, 0, NULL);
		state->complete = read_scan(state, scan, slot, false);
		state->share = 1;
		table_endscan(scan);
	}
	else
	{
		for (int w = 0; w < WINDOWS; w++)
		{
			BlockNumber start = (BlockNumber) ((double) (pages -
														 WINDOW_PAGES) *
											   w / (WINDOWS - 1));
			ItemPointerData first;
			ItemPointerData last;

			ItemPointerSet(&first, start, FirstOffsetNumber);
			ItemPointerSet(&last, start + WINDOW_PAGES - 1, MaxOffsetNumber);
			scan = table_beginscan_tidrange(state->rel, snapshot, &first,
											&last);
			(void) read_scan(state, scan, slot, true);
			table_endscan(scan);
		}
		state->share = (double) WINDOWS * WINDOW_PAGES / pages;
	}
	ExecDropSingleTupleTableSlot(slot);
}

/* Rows of the table, by the sample and by what PostgreSQL knows. */
static double
total_rows(const EstimateState *state)
{
	if (state->complete)
		return (double) state->nread;
	if (state->share < 1)
		return state->nread / state->share;
	return Max((double) state->nread, (double) state->rel->rd_rel->reltuples);
}

/*
 * Encode the sorted rows, batch by batch; where they are many, as many batches
 * as have ROWS_ENCODED, evenly of full ones and of what is left of segments.
 */
static void
encode_sample(EstimateState *state, StrataBatchBuilder *builder,
			  StrataRowGoal *goal, StrataBatchMeasure *measure)
{
	double		share = Min(1, (double) ROWS_ENCODED / Max(state->nread, 1));
	int64		npassed[2] = {0, 0};	/* rows so far, of batches that are
										 * full and others */
	int64		nencoded[2] = {0, 0};	/* of these */
	bool		segment_had_full = false;
	bool		full;
	int			nrows;
	TupleTableSlot *row;

	strata_batch_builder_set_limit(builder, goal->base);
	while ((row = strata_row_sort_next(state->sort)) != NULL)
	{
		if (strata_batch_builder_add(builder, row->tts_values,
									 row->tts_isnull))
			continue;
		nrows = strata_batch_builder_nrows(builder);
		full = nrows >= goal->base;

		/*
		 * the rest of a segment that goes on outside of the sample says
		 * nothing
		 */
		if (nencoded[full] <= share * npassed[full] &&
			(state->complete || full || !segment_had_full))
		{
			strata_batch_builder_measure(builder, measure);
			nencoded[full] += nrows;
			/* as those who write batches do */
			strata_goal_learn(goal, nrows, measure->row_bytes,
							  measure->places.cut[measure->cut].main.page_free);
			strata_batch_builder_set_limit(builder, strata_goal_rows(goal));
		}
		else
			strata_batch_builder_discard(builder);
		npassed[full] += nrows;
		segment_had_full = full;
		if (!strata_batch_builder_add(builder, row->tts_values,
									  row->tts_isnull))
			elog(ERROR, "an empty batch refused a row");
		CHECK_FOR_INTERRUPTS();
	}
	if (strata_batch_builder_nrows(builder) > 0 &&
		nencoded[false] <= share * npassed[false])
		strata_batch_builder_measure(builder, measure);
}

/* See compress.h. */
void
strata_store_estimate(Relation rel, const StrataLayout *layout,
					  StrataLevel level, const StrataCodecId *codecs,
					  bool candidates, StrataEstimate *estimate)
{
	EstimateState state = {.rel = rel,.layout = layout};
	TupleDesc	nothing = CreateTemplateTupleDesc(0);
	StrataBatchSchema *schema;
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	StrataBatchBuilder *builder;
	StrataRowGoal goal;
	StrataBatchCut cut;
	instr_time	start;
	instr_time	read;
	instr_time	sorted;
	instr_time	encoded;

	schema = strata_batch_schema_create(RelationGetDescr(rel), nothing,
										InvalidOid, NULL);
	cut = strata_store_init_goal(&goal, rel, InvalidOid, level);
	builder = strata_batch_builder_create(rel, schema, layout, codecs, level,
										  goal.most);
	memset(estimate, 0, sizeof(*estimate));
	estimate->measure.columns = palloc0(sizeof(StrataColumnMeasure) *
										Max(RelationGetDescr(rel)->natts, 1));
	estimate->measure.candidates = candidates;
	estimate->measure.cut = cut;
	state.sort = strata_row_sort_begin(RelationGetDescr(rel), layout,
									   maintenance_work_mem);
	PushActiveSnapshot(snapshot);
	INSTR_TIME_SET_CURRENT(start);
	read_sample(&state, snapshot);
	INSTR_TIME_SET_CURRENT(read);
	strata_row_sort_perform(state.sort);
	INSTR_TIME_SET_CURRENT(sorted);
	encode_sample(&state, builder, &goal, &estimate->measure);
	INSTR_TIME_SET_CURRENT(encoded);
	strata_row_sort_end(state.sort);
	strata_batch_builder_free(builder);
	PopActiveSnapshot();
	UnregisterSnapshot(snapshot);

	estimate->rows = total_rows(&state);
	estimate->scale = estimate->measure.rows_encoded > 0 ?
		estimate->rows / estimate->measure.rows_encoded :
		0;
	estimate->rows_per_batch = estimate->measure.nbatches > 0 ?
		estimate->measure.rows_encoded / estimate->measure.nbatches : 0;
	estimate->disk_bytes = strata_measure_disk_bytes(&estimate->measure,
													 estimate->scale);
	/* compression gathers rows by segment, and seldom sorts */
	INSTR_TIME_SUBTRACT(encoded, sorted);
	INSTR_TIME_SUBTRACT(read, start);
	estimate->seconds = INSTR_TIME_GET_DOUBLE(encoded) * estimate->scale +
		INSTR_TIME_GET_DOUBLE(read) / Max(state.nread, 1) * estimate->rows;
}

/*
 * Hash of a column's value for counting; false if it is null, or out of line:
 * nothing to segment by.
 */
static bool
value_hash(TupleTableSlot *slot, Form_pg_attribute att, uint32 *hash)
{
	int			i = att->attnum - 1;

	if (slot->tts_isnull[i] || att->attisdropped ||
		(att->attlen == -1 &&
		 VARATT_IS_EXTERNAL(DatumGetPointer(slot->tts_values[i]))))
		return false;
	*hash = hash_bytes_uint32(datum_image_hash(slot->tts_values[i],
											   att->attbyval, att->attlen));
	return true;
}

/*
 * Distinct values of n columns, or pairs of columns (the second is 0 where
 * there is none).
 */
static double *
count_distinct(Relation rel, AttrNumber (*attnos)[2], int n, double *rows)
{
	TupleDesc	desc = RelationGetDescr(rel);
	hyperLogLogState *counts = palloc(sizeof(hyperLogLogState) * Max(n, 1));
	double	   *distinct = palloc0(sizeof(double) * Max(n, 1));
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata count",
											   ALLOCSET_DEFAULT_SIZES);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(rel, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(rel, NULL);

	*rows = 0;
	for (int i = 0; i < n; i++)
		initHyperLogLog(&counts[i], 12);
	while (*rows < ROWS_ENCODED &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		MemoryContext old = MemoryContextSwitchTo(mcxt);

		CHECK_FOR_INTERRUPTS();
		slot_getallattrs(slot);
		for (int i = 0; i < n; i++)
		{
			uint32		hash = 0;
			uint32		second = 0;
			bool		any = value_hash(slot,
										 TupleDescAttr(desc, attnos[i][0] - 1),
										 &hash);

			/* in a pair null is a value: it makes segments too */
			if (attnos[i][1] != 0)
			{
				any = true;
				(void) value_hash(slot, TupleDescAttr(desc, attnos[i][1] - 1),
								  &second);
				hash = hash_combine(hash, second);
			}
			if (any)
				addHyperLogLog(&counts[i], hash);
		}
		*rows += 1;
		MemoryContextSwitchTo(old);
		MemoryContextReset(mcxt);
	}
	for (int i = 0; i < n; i++)
		distinct[i] = estimateHyperLogLog(&counts[i]);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	MemoryContextDelete(mcxt);
	return distinct;
}

/* See compress.h. */
double *
strata_store_count_distinct(Relation rel, double *rows)
{
	int			natts = RelationGetDescr(rel)->natts;
	AttrNumber	(*attnos)[2] = palloc0(sizeof(AttrNumber[2]) * Max(natts, 1));

	for (int i = 0; i < natts; i++)
		attnos[i][0] = (AttrNumber) (i + 1);
	return count_distinct(rel, attnos, natts, rows);
}

/* See compress.h. */
double *
strata_store_count_pairs(Relation rel, AttrNumber (*pairs)[2], int npairs,
						 double *rows)
{
	return count_distinct(rel, pairs, npairs, rows);
}
