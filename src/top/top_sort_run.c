/*-------------------------------------------------------------------------
 *
 * top_sort_run.c
 *	  Records that have no room in memory: runs in a file, and merging them.
 *
 * Words of different runs are made anew when they are read, from what is known
 * of all records by then.
 *
 * src/top/top_sort_run.c
 *-------------------------------------------------------------------------
 */
#include "top/top_sort_private.h"

#include "miscadmin.h"

/* So many records of a run are read at a time. */
static int
records_at_a_time(const StrataSort *sort)
{
	return Max(RUN_BYTES / sort->record_size, 1);
}

/* The records go to the file, in order. */
void
strata_sort_write_run(StrataSort *sort)
{
	SortElement *elements = strata_sort_in_memory(sort);
	int			room = records_at_a_time(sort);
	char	   *buffer = palloc((Size) room * sort->record_size);
	SortRun    *run;
	int			n = 0;

	if (sort->file == NULL)
	{
		sort->file = BufFileCreateTemp(false);
		sort->runs = MemoryContextAllocZero(sort->mcxt, sizeof(SortRun) *
											(sort->max_runs + 1));
	}
	for (int k = 0; k < sort->nkeys; k++)
		if (!sort->fields[sort->key_fields[k]].numbered)
			strata_sort_measure_key(sort, sort->records, sort->n, k,
									&sort->ranges[k]);
		else
			sort->ranges[k].has_nulls = true;
	Assert(sort->nruns <= sort->max_runs);	/* top:N8 */
	run = &sort->runs[sort->nruns++];
	BufFileTell(sort->file, &run->fileno, &run->offset);
	run->nleft = sort->n;
	for (int64 i = 0; i < sort->n; i++)
	{
		memcpy(buffer + (Size) n * sort->record_size,
			   strata_sort_record(sort, &elements[i]), sort->record_size);
		if (++n < room && i < sort->n - 1)
			continue;
		CHECK_FOR_INTERRUPTS();
		BufFileWrite(sort->file, buffer, (Size) n * sort->record_size);
		n = 0;
	}
	pfree(buffer);
	pfree(elements);
	sort->n = 0;
}

/* Read the next records of a run; false: there are none. */
bool
strata_sort_read_run(StrataSort *sort, SortRun *run)
{
	int			room = records_at_a_time(sort);
	Size		size;

	run->at = 0;
	run->n = (int) Min(run->nleft, room);
	if (run->n == 0)
		return false;
	if (run->records == NULL)
	{
		run->records = MemoryContextAlloc(sort->mcxt, (Size) room *
										  sort->record_size);
		run->words = MemoryContextAlloc(sort->mcxt, sizeof(uint64) * room);
	}
	size = (Size) run->n * sort->record_size;
	if (BufFileSeek(sort->file, run->fileno, run->offset, SEEK_SET) != 0 ||
		BufFileRead(sort->file, run->records, size) != size)
		ereport(ERROR, (errcode_for_file_access(),
						errmsg("could not read from a temporary file")));
	BufFileTell(sort->file, &run->fileno, &run->offset);
	run->nleft -= run->n;
	return true;
}

/* Their words too, by which runs are merged. */
static bool
read_run_words(StrataSort *sort, SortRun *run)
{
	if (!strata_sort_read_run(sort, run))
		return false;
	for (int from = 0; from < run->n; from += RANK_ROWS)
		strata_sort_make_words(sort,
							   run->records + (Size) from * sort->record_size,
							   Min(run->n - from, RANK_ROWS), sort->ranges,
							   run->words + from);
	return true;
}

static inline const char *
run_record(const StrataSort *sort, const SortRun *run)
{
	return run->records + (Size) run->at * sort->record_size;
}

/* Does the next record of the one come before that of the other? */
static bool
run_is_before(StrataSort *sort, int a, int b)
{
	const SortRun *left = &sort->runs[a];
	const SortRun *right = &sort->runs[b];

	if (left->words[left->at] != right->words[right->at] || !sort->truncated)
		return left->words[left->at] < right->words[right->at];
	return strata_sort_compare_records(sort, run_record(sort, left),
									   run_record(sort, right)) < 0;
}

/* Let the run at that place sink to its own. */
static void
sink_run(StrataSort *sort, int at)
{
	int			run = sort->heap[at];

	for (;;)
	{
		int			child = 2 * at + 1;

		if (child + 1 < sort->nheap &&
			run_is_before(sort, sort->heap[child + 1], sort->heap[child]))
			child++;
		if (child >= sort->nheap ||
			!run_is_before(sort, sort->heap[child], run))
			break;
		sort->heap[at] = sort->heap[child];
		at = child;
	}
	sort->heap[at] = run;
}

/* All runs are written: begin to merge them. */
void
strata_sort_open_runs(StrataSort *sort)
{
	strata_sort_rank_values(sort);
	for (int k = 0; k < sort->nkeys; k++)
	{
		const SortField *field = &sort->fields[sort->key_fields[k]];

		if (!field->numbered)
			continue;
		sort->ranges[k].min = 0;
		sort->ranges[k].max = field->values.n;
	}
	(void) strata_sort_divide_word(sort, sort->ranges, &sort->truncated);
	sort->heap = MemoryContextAlloc(sort->mcxt, sizeof(int) * sort->nruns);
	for (int i = 0; i < sort->nruns; i++)
		if (read_run_words(sort, &sort->runs[i]))
			sort->heap[sort->nheap++] = i;
	for (int i = sort->nheap / 2 - 1; i >= 0; i--)
		sink_run(sort, i);
}

/* The next record of all runs; NULL: the end. */
const char *
strata_sort_next_of_runs(StrataSort *sort)
{
	SortRun    *run;

	if (sort->advance)
	{
		run = &sort->runs[sort->heap[0]];
		if (++run->at == run->n && !read_run_words(sort, run))
			sort->heap[0] = sort->heap[--sort->nheap];
		if (sort->nheap > 1)
			sink_run(sort, 0);
	}
	sort->advance = sort->nheap > 0;
	if (!sort->advance)
		return NULL;
	return run_record(sort, &sort->runs[sort->heap[0]]);
}
