/*-------------------------------------------------------------------------
 *
 * store_sample.c
 *	  Summaries of some batches, for the planner: how much do quals on a column
 *	  prune?
 *
 * Statistics of a table tell what share of its rows passes, not how these rows
 * lie: whether a twentieth of all rows is in every batch or in a twentieth of
 * them.  A few batches' least and greatest values do.
 *
 * src/store/store_sample.c
 *-------------------------------------------------------------------------
 */
#include "store/store_private.h"

#include <math.h>

#include "access/tableam.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Summaries of columns kept; of so many companions. */
#define SAMPLE_SUMMARIES 4096
#define SAMPLES 16

/* Those of the companions planned last; relid 0: free. */
static StrataStoreSample samples[SAMPLES];
static int	next_sample = 0;

/* Take the first batch of the page into the sample. */
static void
sample_batch(StrataStore *store, TableScanDesc scan, BlockNumber block,
			 TupleTableSlot *slot, StrataBatchReader *reader,
			 StrataStoreSample *sample)
{
	StrataColumnSummary *summaries;

	summaries = sample->summaries + (Size) sample->nbatches * sample->natts;
	table_rescan(scan, NULL);
	heap_setscanlimits(scan, block, 1);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		if (!strata_batch_reader_load(reader, slot))
			continue;			/* a row entry */
		for (int i = 0; i < sample->natts; i++)
		{
			const StrataColumnSummary *summary;

			summary = strata_batch_reader_summary(reader,
												  (AttrNumber) (i + 1));
			if (summary != NULL)
				summaries[i] = *summary;
			else
				summaries[i].attno = 0;
		}
		sample->nrows[sample->nbatches++] = reader->nrows;
		return;
	}
}

/* Look at pages spread evenly over the companion. */
static void
fill(StrataStore *store, StrataStoreSample *sample, BlockNumber pages)
{
	int			wanted = Min(STRATA_SAMPLE_BATCHES,
							 Max(SAMPLE_SUMMARIES / Max(sample->natts, 1), 1));
	Snapshot	snapshot = RegisterSnapshot(strata_latest_snapshot());
	TableScanDesc scan = table_beginscan_strat(store->batches, snapshot, 0,
											   NULL, true, false);
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	StrataBatchReader *reader = strata_batch_reader_create(store->rel,
														   store->schema);

	sample->nbatches = 0;
	sample->summaries = MemoryContextAlloc(CacheMemoryContext,
										   sizeof(StrataColumnSummary) *
										   wanted * Max(sample->natts, 1));
	for (int i = 0; i < wanted; i++)
		sample_batch(store, scan, (BlockNumber) ((double) pages * i / wanted),
					 slot, reader, sample);
	strata_batch_reader_free(reader);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
}

/* See store.h. */
const StrataStoreSample *
strata_store_sample(StrataStore *store)
{
	Oid			relid = RelationGetRelid(store->batches);
	BlockNumber pages = RelationGetNumberOfBlocks(store->batches);
	StrataStoreSample *sample = NULL;

	for (int i = 0; i < SAMPLES; i++)
		if (samples[i].relid == relid)
			sample = &samples[i];
	if (sample != NULL && sample->natts == store->schema->natts &&
		fabs((double) pages - sample->pages) <= 0.1 * sample->pages)
		return sample;
	if (sample == NULL)
	{
		sample = &samples[next_sample];
		next_sample = (next_sample + 1) % SAMPLES;
	}
	if (sample->summaries != NULL)
		pfree(sample->summaries);
	memset(sample, 0, sizeof(*sample));
	sample->natts = store->schema->natts;
	fill(store, sample, pages);
	/* it is there when nothing was raised */
	sample->pages = pages;
	sample->relid = relid;
	return sample;
}
