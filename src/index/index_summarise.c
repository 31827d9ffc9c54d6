/*-------------------------------------------------------------------------
 *
 * index_summarise.c
 *	  Summaries of batches by the operator classes of a BRIN or GiST index:
 *	  made, merged, asked, verified.
 *
 * A run of summaries has one for each batch with a row number in [from, to);
 * a batch that has none there is not seen by whoever sees the run (index:I6).
 * All of a run is read by whoever asks: a page has those of 20 to 200 batches.
 *
 * src/index/index_summarise.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"

#include "access/table.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Rows of a run that planning looks at, and summaries of each. */
#define SAMPLE_ROWS 8
#define SAMPLE_SUMMARIES 32

/* Add a column of a batch without rows of the index: one that has none. */
static bool
summarise_nothing(StrataClass *class, int column)
{
	return strata_class_add(class, column, InvalidOid, (Datum) 0, true);
}

/*
 * Add the values of a column of the index; false: one of them has no place in
 * a summary.
 */
static bool
summarise_column(StrataClass *class, int column, Oid type,
				 StrataIndexValues *values)
{
	Datum		value;
	bool		isnull;

	strata_index_values_start(values, column);
	while (strata_index_values_next(values, &value, &isnull))
		if (!strata_class_add(class, column, type, value, isnull))
			return false;
	return true;
}

/* The base type of a column of the index, or of the expression that it is. */
static Oid
base_type_of(Relation rel, Relation index, int column)
{
	AttrNumber	attno = index->rd_index->indkey.values[column];
	List	   *expressions;
	int			n = 0;

	if (attno > 0)
		return getBaseType(TupleDescAttr(RelationGetDescr(rel),
										 attno - 1)->atttypid);
	for (int i = 0; i < column; i++)
		n += index->rd_index->indkey.values[i] == 0;
	expressions = RelationGetIndexExpressions(index);
	return getBaseType(exprType(list_nth(expressions, n)));
}

/* What summaries of batches are made by. */
typedef struct Summariser
{
	Relation	index;
	StrataIndexValues *values;
	StrataClass *class;
	Oid			types[INDEX_MAX_KEYS];
} Summariser;

static void
summariser_begin(Summariser *by, Relation rel, Oid index)
{
	by->index = index_open(index, AccessShareLock);
	by->values = strata_index_values_open(rel, by->index);
	by->class = strata_class_open(by->index);
	for (int i = 0; i < by->index->rd_index->indnkeyatts; i++)
		by->types[i] = base_type_of(rel, by->index, i);
}

static void
summariser_end(Summariser *by)
{
	strata_class_close(by->class);
	strata_index_values_close(by->values);
	index_close(by->index, NoLock);
}

/* The summary of the reader's batch; NULL: it can have none. */
static const void *
summarise_batch(Summariser *by, StrataBatchReader *reader, Size *size)
{
	bool		some = strata_index_values_load(by->values, reader);

	*size = 0;
	strata_class_start(by->class);
	for (int i = 0; i < by->index->rd_index->indnkeyatts; i++)
	{
		if (!(some ? summarise_column(by->class, i, by->types[i], by->values) :
			  summarise_nothing(by->class, i)))
			return NULL;
	}
	return strata_class_finish(by->class, size);
}

/* See index_class_private.h. */
void
strata_index_summarise(StrataStore *store, Relation relation,
					   StrataIndexRun *run)
{
	Summariser	by;
	StrataBatchReader *reader = strata_batch_reader_create(store->rel,
														   store->schema);
	StrataSummaryWriter *writer = strata_summary_writer_begin(relation, run);
	StrataIndexBatches batches;
	int64		first_row;

	Assert(run->from < run->to);	/* index:I1 */
	summariser_begin(&by, store->rel, run->function);
	reader->toast = store->toast;
	strata_index_batches_begin(&batches, store, run->from, NULL);
	while (strata_index_batches_next(&batches, &first_row) &&
		   first_row < run->to)
	{
		const void *summary;
		Size		size;

		if (!strata_batch_reader_load(reader, batches.slot))
			continue;
		summary = summarise_batch(&by, reader, &size);
		strata_summary_writer_add(writer, first_row, summary, size);
	}
	strata_index_batches_end(&batches);
	strata_summary_writer_end(writer, run);
	strata_batch_reader_free(reader);
	summariser_end(&by);
}

/* Add those of a run whose batches are there. */
static void
copy_summaries(StrataStore *store, Relation relation,
			   const StrataIndexRun *run, StrataSummaryWriter *writer)
{
	StrataSummaryCursor *cursor = strata_summary_cursor_begin(relation,
															  SnapshotSelf,
															  run);
	MemoryContext work = AllocSetContextCreate(CurrentMemoryContext,
											   "strata summaries copied",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old;
	StrataIndexBatches batches;
	StrataSummaryRow *row;
	int64		first_row = 0;
	bool		there;

	strata_index_batches_begin(&batches, store, run->from, NULL);
	there = strata_index_batches_next(&batches, &first_row);
	for (;;)
	{
		MemoryContextReset(work);
		old = MemoryContextSwitchTo(work);
		row = strata_summary_cursor_next(cursor);
		MemoryContextSwitchTo(old);
		if (row == NULL)
			break;
		for (int i = 0; i < row->n; i++)
		{
			while (there && first_row < row->first_rows[i])
				there = strata_index_batches_next(&batches, &first_row);
			if (there && first_row == row->first_rows[i])
				strata_summary_writer_add(writer, first_row, row->summaries[i],
										  row->sizes[i]);
		}
	}
	strata_index_batches_end(&batches);
	strata_summary_cursor_end(cursor);
	MemoryContextDelete(work);
}

/* See index_class_private.h. */
void
strata_index_merge_summaries(StrataStore *store, Relation relation,
							 const StrataIndexRun *older,
							 const StrataIndexRun *newer,
							 StrataIndexRun *result)
{
	StrataSummaryWriter *writer;

	Assert(older->to == newer->from &&
		   older->function == newer->function); /* index:I2 */
	result->from = older->from;
	result->to = newer->to;
	writer = strata_summary_writer_begin(relation, result);
	copy_summaries(store, relation, older, writer);
	copy_summaries(store, relation, newer, writer);
	strata_summary_writer_end(writer, result);
}

/*-------------------------------------------------------------------------
 * Questions
 *-------------------------------------------------------------------------
 */

struct StrataSummaryProbe
{
	MemoryContext mcxt;			/* everything here */
	MemoryContext work;
	Relation	relation;		/* NULL: there is none */
	Relation	index;			/* the caller's */
	Snapshot	snapshot;
	List	   *runs;
	int64		covered;
	StrataClass *class;
	bool		asked;			/* before: then it is worth it that */
	bool		kept;			/* all rows are in `rows` */
	bool		too_many;		/* ... which does not work out */
	List	   *rows;			/* StrataSummaryRow */
	/* of one question */
	StrataIndexRanges *found;
	int			size;
	bool		included;		/* the last batch was */
	StrataIndexNearest *nearest;	/* not NULL: distances are asked for ... */
	ScanKey		key;			/* ... by it */
};

/* See index_class_private.h. */
StrataSummaryProbe *
strata_summary_probe_begin(Relation batches, Snapshot snapshot, Relation index)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata batch index probe",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataSummaryProbe *probe = palloc0(sizeof(StrataSummaryProbe));
	Oid			oid = strata_index_relation_oid(batches);
	StrataIndexTarget target;

	probe->mcxt = mcxt;
	probe->work = AllocSetContextCreate(mcxt, "strata batch index question",
										ALLOCSET_DEFAULT_SIZES);
	probe->index = index;
	probe->snapshot = snapshot;
	if (OidIsValid(oid) &&
		strata_index_class_target(RelationGetRelid(index), &target))
	{
		probe->relation = table_open(oid, AccessShareLock);
		probe->runs = strata_index_known_chain(probe->relation, snapshot,
											   &target, &probe->covered);
		probe->class = strata_class_open(index);
	}
	MemoryContextSwitchTo(old);
	return probe;
}

static void
add_batches(StrataSummaryProbe *probe, int64 from, int64 to)
{
	StrataIndexRanges *found = probe->found;

	if (found->n == probe->size)
	{
		probe->size *= 2;
		found->ranges = repalloc_huge(found->ranges,
									  sizeof(StrataIndexRange) * probe->size);
	}
	found->ranges[found->n].from = from;
	found->ranges[found->n++].to = to;
}

/* How near are the batches of a row? */
static void
measure_row(StrataSummaryProbe *probe, const StrataSummaryRow *row)
{
	StrataIndexNearest *nearest = probe->nearest;

	if (nearest->n + row->n > probe->size)
	{
		probe->size = Max(probe->size * 2, nearest->n + row->n);
		nearest->batches = repalloc_huge(nearest->batches,
										 sizeof(StrataIndexNear) *
										 probe->size);
	}
	for (int i = 0; i < row->n; i++)
	{
		StrataIndexNear *near = &nearest->batches[nearest->n++];

		near->first_row = row->first_rows[i];
		near->distance = row->summaries[i] == NULL ?
			-get_float8_infinity() :
			strata_class_distance(probe->class, row->summaries[i], probe->key);
	}
}

/* Take the batches of a row that may have what is asked for. */
static void
ask_row(StrataSummaryProbe *probe, const StrataSummaryRow *row)
{
	if (probe->nearest != NULL)
	{
		measure_row(probe, row);
		return;
	}
	for (int i = 0; i < row->n; i++)
	{
		bool		may = row->summaries[i] == NULL ||
		strata_class_may_hold(probe->class, row->summaries[i]);

		/* batches that follow one another are one range */
		if (may && probe->included)
			probe->found->ranges[probe->found->n - 1].to =
				row->first_rows[i] + 1;
		else if (may)
			add_batches(probe, row->first_rows[i], row->first_rows[i] + 1);
		probe->included = may;
	}
}

/* Read all rows, ask each, and keep them while there is memory for it. */
static void
ask_runs(StrataSummaryProbe *probe)
{
	Size		nbytes = 0;
	ListCell   *lc;

	probe->kept = probe->asked && !probe->too_many;
	probe->asked = true;
	foreach(lc, probe->runs)
	{
		StrataSummaryCursor *cursor =
		strata_summary_cursor_begin(probe->relation, probe->snapshot,
									lfirst(lc));
		StrataSummaryRow *row;
		MemoryContext old;

		for (;;)
		{
			MemoryContextReset(probe->work);
			old = MemoryContextSwitchTo(probe->kept ? probe->mcxt :
										probe->work);
			row = strata_summary_cursor_next(cursor);
			if (row != NULL && probe->kept)
				probe->rows = lappend(probe->rows, row);
			MemoryContextSwitchTo(old);
			if (row == NULL)
				break;
			ask_row(probe, row);
			nbytes += row->nbytes;
			if (nbytes > (Size) work_mem * 1024 && probe->kept)
			{
				probe->kept = false;
				probe->too_many = true;
			}
		}
		strata_summary_cursor_end(cursor);
	}
}

/* Ask all rows, which are kept, or read. */
static void
ask_rows(StrataSummaryProbe *probe)
{
	ListCell   *lc;

	if (!probe->kept)
	{
		ask_runs(probe);
		return;
	}
	foreach(lc, probe->rows)
	{
		CHECK_FOR_INTERRUPTS();
		ask_row(probe, lfirst(lc));
	}
}

/* See index_class_private.h. */
StrataIndexNearest *
strata_summary_probe_nearest(StrataSummaryProbe *probe, ScanKey key)
{
	StrataIndexNearest *nearest = palloc0(sizeof(StrataIndexNearest));

	probe->size = 64;
	nearest->batches = palloc_array(StrataIndexNear, probe->size);
	nearest->covered = probe->covered;
	probe->nearest = nearest;
	probe->key = key;
	if (probe->runs != NIL)
		ask_rows(probe);
	probe->nearest = NULL;
	return nearest;
}

/* See index_class_private.h. */
StrataIndexRanges *
strata_summary_probe_find(StrataSummaryProbe *probe, ScanKey keys, int nkeys)
{
	StrataIndexRanges *found = palloc(sizeof(StrataIndexRanges));

	found->n = 0;
	probe->size = 64;
	found->ranges = palloc_array(StrataIndexRange, probe->size);
	probe->found = found;
	probe->included = false;
	if (probe->runs != NIL)
		strata_class_ask(probe->class, keys, nkeys);
	ask_rows(probe);
	add_batches(probe, probe->covered, STRATA_BATCH_MAX_ROW_NUMBER + 1);
	Assert(found->n == 1 ||
		   found->ranges[found->n - 2].to <= probe->covered);	/* index:I2 */
	return found;
}

/* See index_class_private.h. */
double
strata_summary_probe_share(StrataSummaryProbe *probe, ScanKey keys, int nkeys)
{
	double		asked = 0;
	double		passing = 0;
	ListCell   *lc;

	if (probe->runs == NIL)
		return 1;
	strata_class_ask(probe->class, keys, nkeys);
	foreach(lc, probe->runs)
	{
		const StrataIndexRun *run = lfirst(lc);
		StrataSummaryCursor *cursor =
		strata_summary_cursor_begin(probe->relation, probe->snapshot, run);
		double		weight = 0;
		double		share = 0;

		for (int i = 0; i < SAMPLE_ROWS; i++)
		{
			MemoryContext old;
			StrataSummaryRow *row;
			int			step;

			strata_summary_cursor_seek(cursor, run->from +
									   (run->to - run->from) / SAMPLE_ROWS *
									   i);
			MemoryContextReset(probe->work);
			old = MemoryContextSwitchTo(probe->work);
			row = strata_summary_cursor_next(cursor);
			MemoryContextSwitchTo(old);
			step = row == NULL ? 1 : Max(row->n / SAMPLE_SUMMARIES, 1);
			for (int j = 0; row != NULL && j < row->n; j += step)
			{
				weight++;
				share += row->summaries[j] == NULL ||
					strata_class_may_hold(probe->class, row->summaries[j]);
			}
		}
		strata_summary_cursor_end(cursor);
		asked += (double) run->entries;
		passing += run->entries * (share + 0.5) / (weight + 0.5);
	}
	return asked > 0 ? Min(passing / asked, 1) : 1;
}

/* See index_class_private.h. */
void
strata_summary_probe_end(StrataSummaryProbe *probe)
{
	if (probe->relation != NULL)
	{
		strata_class_close(probe->class);
		table_close(probe->relation, NoLock);
	}
	MemoryContextDelete(probe->mcxt);
}

/*-------------------------------------------------------------------------
 * Verification
 *-------------------------------------------------------------------------
 */

/* What is wrong with the summary of the reader's batch; NULL: nothing. */
static const char *
check_summary(Summariser *by, StrataBatchReader *reader, const void *summary,
			  Size size)
{
	const void *anew;
	Size		anew_size;

	if (summary == NULL)
		return NULL;
	anew = summarise_batch(by, reader, &anew_size);
	if (anew != NULL &&
		((anew_size == size && memcmp(anew, summary, size) == 0) ||
		 strata_class_covers(by->class, summary, anew)))
		return NULL;
	return "the batch index's summary is not that of the batch";
}

/* See index_class_private.h. */
void
strata_index_verify_summaries(StrataStore *store, Relation relation,
							  Snapshot snapshot,
							  const StrataIndexTarget *target,
							  StrataIndexReport report, void *arg)
{
	Summariser	by;
	StrataBatchReader *reader = strata_batch_reader_create(store->rel,
														   store->schema);
	ListCell   *lc;
	int64		covered;

	summariser_begin(&by, store->rel, target->function);
	reader->toast = store->toast;
	foreach(lc, strata_index_chain(strata_index_runs(relation, snapshot,
													 target), &covered))
	{
		const StrataIndexRun *run = lfirst(lc);
		StrataSummaryCursor *cursor = strata_summary_cursor_begin(relation,
																  snapshot,
																  run);
		StrataIndexBatches batches;
		StrataSummaryRow *row = strata_summary_cursor_next(cursor);
		int64		first_row;
		int			i = 0;

		strata_index_batches_begin(&batches, store, run->from, snapshot);
		while (strata_index_batches_next(&batches, &first_row) &&
			   first_row < run->to)
		{
			const char *problem;

			if (!strata_batch_reader_load(reader, batches.slot))
				continue;
			while (row != NULL &&
				   (i == row->n || row->first_rows[i] < first_row))
			{
				if (i < row->n)
					i++;
				else
				{
					row = strata_summary_cursor_next(cursor);
					i = 0;
				}
			}
			problem = row == NULL || row->first_rows[i] != first_row ?
				"the batch index has no summary of the batch" :
				check_summary(&by, reader, row->summaries[i],
							  row->sizes[i]);
			if (problem != NULL)
				report(arg, first_row, target->attno, problem);
		}
		strata_index_batches_end(&batches);
		strata_summary_cursor_end(cursor);
	}
	strata_batch_reader_free(reader);
	summariser_end(&by);
}
