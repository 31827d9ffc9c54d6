/*-------------------------------------------------------------------------
 *
 * agg_input.c
 *	  Rows of the child plan, many at a time.
 *
 * A StrataScan gives its batches as they are.  Rows, be they of its row store
 * or of any other plan, are collected into columns.  An Append that would read
 * its children one after the other is read by us instead, so that batches of
 * its children come as batches; run-time pruning is asked as Append does.  So
 * are the sides of a hash join, where it can be done (agg_join_vector.c).
 *
 * Over 600 lines: every kind of source comes through one function.
 *
 * src/agg/agg_input.c
 *-------------------------------------------------------------------------
 */
#include "agg/agg_match_private.h"
#include "agg/agg_private.h"

#include "executor/executor.h"
#include "executor/execPartition.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* A plan that rows come from. */
typedef struct Source
{
	PlanState  *node;
	bool		vectors;		/* a StrataScan */
	bool		best_first;		/* that lists the best first, be it of each
								 * segment */
	bool		begun;
	bool		rows_begun;
	bool		row_vectors_known;
	bool		row_vectors;	/* its row store is read by vectors, too */
	bool		by_index;		/* ... or by an index, as far as it matters */
	bool		rows_done;
	AttrNumber *attnos;			/* column of a row for each input */
	AttrNumber	max_attno;
} Source;

/* A batch to be read. */
typedef struct ListedBatch
{
	AggBatchRank rank;
	ItemPointerData tid;
} ListedBatch;

struct AggInput
{
	PlanState  *child;
	AppendState *append;		/* child, when we read its children */
	AggJoin    *join;			/* child, when we join in its place; or NULL */
	bool		joins;			/* ... in this scan */
	int			ninputs;
	int			nsources;
	Source	   *sources;
	int			current;		/* source being read */
	StrataAggState *chooser;	/* may pass over batches; or NULL */
	StrataAggState *counter;	/* wants no more than the number of rows; or
								 * NULL */
	bool		listed;			/* the current source's batches are in list, a
								 * heap: */
	AggBatchRank rank;			/* best_first: listed is whether a batch was
								 * read, and this its rank */
	int			nlisted;
	int			list_size;
	ListedBatch *list;
	bool		reverse;		/* the last one first */
	bool		started;
	Bitmapset  *valid;			/* sources that are not pruned */
	AggVector	vector;
	StrataColumn *columns;		/* made of rows */
	StrataColumn *views;
	const uint16 **numbers;
	bool	  **nulls;			/* their null flags */
	MemoryContext row_mcxt;		/* values of those rows; reset for each vector */
};

/* May we read the Append's children in its place? */
static bool
is_simple_append(PlanState *child)
{
	AppendState *append = (AppendState *) child;

	return IsA(child, AppendState) && child->qual == NULL &&
		child->ps_ProjInfo == NULL && append->as_nasyncplans == 0 &&
		!child->plan->parallel_aware && append->as_nplans > 0;
}

/*
 * A plan that rows come from: whether it gives vectors, and which columns of
 * its rows are the inputs.
 */
static void
init_source(AggInput *input, Source *source, PlanState *node)
{
	source->node = node;
	source->vectors = strata_scan_state_gives_vectors(node);
	source->attnos = palloc(sizeof(AttrNumber) * Max(input->ninputs, 1));
	for (int i = 0; i < input->ninputs && source->vectors; i++)
	{
		source->attnos[i] = strata_scan_result_attno(node, i + 1);
		source->vectors = source->attnos[i] > 0;
	}
	if (source->vectors)
		strata_scan_expect_vectors(node);
	source->best_first = source->vectors &&
		strata_scan_state_is_best_first(node);
	for (int i = 0; i < input->ninputs; i++)
	{
		if (!source->vectors)
			source->attnos[i] = (AttrNumber) (i + 1);
		source->max_attno = Max(source->max_attno, source->attnos[i]);
	}
}

/* Columns that rows are collected in. */
static void
init_columns(AggInput *input)
{
	TupleDesc	desc = ExecGetResultType(input->child);

	input->columns = palloc0(sizeof(StrataColumn) * Max(input->ninputs, 1));
	input->nulls = palloc0(sizeof(bool *) * Max(input->ninputs, 1));
	input->numbers = palloc0(sizeof(uint16 *) * Max(input->ninputs, 1));
	input->views = palloc0(sizeof(StrataColumn) * Max(input->ninputs, 1));
	for (int i = 0; i < input->ninputs; i++)
	{
		StrataColumn *col = &input->columns[i];

		strata_column_type_init(&col->type, TupleDescAttr(desc, i));
		col->decoded = true;
		input->nulls[i] = palloc0(sizeof(bool) * STRATA_AGG_CHUNK_ROWS);
		if (col->type.typbyval)
			col->fixed = palloc0((Size) STRATA_AGG_CHUNK_ROWS *
								 col->type.width);
		else
			col->datums = palloc0(sizeof(Datum) * STRATA_AGG_CHUNK_ROWS);
	}
}

/* Memory: the current context. */
AggInput *
strata_agg_input_create(PlanState *child, int ninputs, PlanState *parent)
{
	AggInput   *input = palloc0(sizeof(AggInput));

	check_stack_depth();
	input->child = child;
	if (IsA(child, HashJoinState))
		input->join = strata_agg_join_create((HashJoinState *) child, parent);
	input->ninputs = ninputs;
	input->row_mcxt = AllocSetContextCreate(CurrentMemoryContext,
											"StrataAgg rows",
											ALLOCSET_DEFAULT_SIZES);
	input->nsources = 1;
	if (is_simple_append(child))
	{
		input->append = (AppendState *) child;
		input->nsources = input->append->as_nplans;
	}
	input->sources = palloc0(sizeof(Source) * input->nsources);
	for (int i = 0; i < input->nsources; i++)
		init_source(input, &input->sources[i],
					input->append != NULL ? input->append->appendplans[i] :
					child);
	init_columns(input);
	return input;
}

/* See agg_vector_private.h. */
bool
strata_agg_input_has_vectors(const AggInput *input)
{
	for (int i = 0; i < input->nsources; i++)
		if (input->sources[i].vectors)
			return true;
	return input->join != NULL;
}

/* See agg_vector_private.h. */
bool
strata_agg_input_is_join(const AggInput *input, const char **refusal)
{
	if (input->join == NULL)
		return false;
	*refusal = strata_agg_join_refusal(input->join);
	return true;
}

/* See agg_vector_private.h. */
void
strata_agg_input_choose(AggInput *input, StrataAggState *agg, bool reverse)
{
	Assert(agg->plan.stage == AGG_STAGE_WHOLE); /* agg:G13 */
	Assert(input->counter == NULL); /* agg:G17 */
	input->chooser = agg;
	input->reverse = reverse;
}

/* See agg_vector_private.h. */
void
strata_agg_input_count(AggInput *input, StrataAggState *agg)
{
	input->counter = agg;
}

/* The child itself is rescanned by the caller. */
void
strata_agg_input_rescan(AggInput *input)
{
	input->started = false;
}

/*
 * Begin with the first source, or the last in reverse, after run-time pruning.
 */
static void
start(AggInput *input)
{
	AppendState *append = input->append;

	input->started = true;
	input->current = input->reverse ? input->nsources - 1 : 0;
	input->listed = false;
	for (int i = 0; i < input->nsources; i++)
		input->sources[i].begun = input->sources[i].rows_begun =
			input->sources[i].by_index = input->sources[i].row_vectors_known =
			input->sources[i].rows_done = false;
	bms_free(input->valid);
	input->valid = NULL;
	input->joins = input->join != NULL && strata_agg_join_start(input->join);
	if (append == NULL)
		return;
	/* as ExecProcNode would */
	if (append->ps.chgParam != NULL)
		ExecReScan(&append->ps);
	if (append->as_prune_state != NULL &&
		append->as_prune_state->do_exec_prune)
		input->valid =
			bms_copy(strata_find_matching_subplans(append->as_prune_state));
	else
		input->valid = bms_add_range(NULL, 0, input->nsources - 1);
}

/* Column number i takes row number n's value. */
static inline void
put_value(AggInput *input, int i, int n, Datum value, bool isnull)
{
	StrataColumn *col = &input->columns[i];

	input->nulls[i][n] = isnull;
	if (isnull)
	{
		col->isnull = input->nulls[i];
		return;
	}
	if (col->fixed == NULL)
	{
		col->datums[n] = datumCopy(value, false, col->type.typlen);
		return;
	}
	strata_fixed_put(col->fixed, col->type.width, n, value);
}

/* Collect rows of a source; NULL when there are no more. */
static AggVector *
collect_rows(AggInput *input, Source *source)
{
	int			n = 0;
	MemoryContext old;
	bool		gave_up = false;

	MemoryContextReset(input->row_mcxt);
	for (int i = 0; i < input->ninputs; i++)
		input->columns[i].isnull = NULL;
	while (n < STRATA_AGG_CHUNK_ROWS)
	{
		TupleTableSlot *slot;

		if (source->by_index)
			slot = strata_scan_next_indexed_row(source->node, &gave_up);
		else if (source->vectors)
			slot = strata_scan_next_heap_row(source->node);
		else
			slot = ExecProcNode(source->node);
		if (TupIsNull(slot))
		{
			/* rows that were picked from may be met again */
			source->rows_done = !gave_up;
			source->by_index = false;
			break;
		}
		slot_getsomeattrs(slot, source->max_attno);
		old = MemoryContextSwitchTo(input->row_mcxt);
		for (int i = 0; i < input->ninputs; i++)
		{
			int			att = source->attnos[i] - 1;

			put_value(input, i, n, slot->tts_values[att],
					  slot->tts_isnull[att]);
		}
		MemoryContextSwitchTo(old);
		n++;
	}
	if (n == 0)
		return NULL;
	memset(&input->vector, 0, sizeof(AggVector));
	input->vector.nrows = input->vector.nselected = n;
	input->vector.columns = input->columns;
	return &input->vector;
}

/* The same, where StrataScan has made columns of them. */
static AggVector *
next_row_vector(AggInput *input, Source *source)
{
	StrataRowVector rows;
	AggVector  *vector = &input->vector;

	if (!strata_scan_next_row_vector(source->node, source->attnos,
									 input->ninputs, false, &rows))
	{
		source->rows_done = true;
		return NULL;
	}
	memset(vector, 0, sizeof(AggVector));
	vector->nrows = rows.nrows;
	vector->nselected = rows.nselected;
	vector->rows = rows.rows;
	for (int i = 0; i < input->ninputs; i++)
	{
		input->views[i] = rows.columns[source->attnos[i] - 1];
		input->numbers[i] = rows.numbers[source->attnos[i] - 1];
	}
	vector->columns = input->views;
	vector->numbers = input->numbers;
	vector->numbering = rows.numbering;
	return vector;
}

/* Rows of a row store or of any other plan; NULL when there are no more. */
static AggVector *
next_rows(AggInput *input, Source *source)
{
	AggVector  *result;

	if (!source->rows_begun)
		source->by_index = source->vectors && input->chooser != NULL &&
			strata_agg_stop_by_index(input->chooser, source->node,
									 source->attnos);
	source->rows_begun = true;
	if (source->by_index)
	{
		result = collect_rows(input, source);
		if (result != NULL || source->rows_done)
			return result;
	}
	if (!source->row_vectors_known)
		source->row_vectors = source->vectors &&
			strata_scan_gives_row_vectors(source->node);
	source->row_vectors_known = true;
	return source->row_vectors ? next_row_vector(input, source) :
		collect_rows(input, source);
}

/* Let the batch at i sink below those of higher rank. */
static void
sink(ListedBatch *list, int n, int i)
{
	ListedBatch moved = list[i];

	for (;;)
	{
		int			child = 2 * i + 1;

		if (child >= n)
			break;
		if (child + 1 < n && list[child + 1].rank.rank > list[child].rank.rank)
			child++;
		if (list[child].rank.rank <= moved.rank.rank)
			break;
		list[i] = list[child];
		i = child;
	}
	list[i] = moved;
}

/*
 * Have the source's batches that may matter in a heap, of the highest rank
 * first.
 */
static void
list_batches(AggInput *input, Source *source)
{
	StrataBatchReader *reader;
	ItemPointerData tid;
	AggBatchRank rank;

	input->nlisted = 0;
	input->listed = true;
	while ((reader = strata_scan_list_batch(source->node, &tid)) != NULL)
	{
		if (!strata_agg_stop_rank(input->chooser, reader, source->attnos,
								  &rank))
		{
			input->chooser->counters.skipped++;
			continue;
		}
		if (input->nlisted == input->list_size)
		{
			input->list_size = Max(2 * input->list_size, 64);
			input->list = input->list == NULL ?
				MemoryContextAlloc(input->chooser->css.ss.ps
								   .state->es_query_cxt,
								   sizeof(ListedBatch) *
								   input->list_size) :
				repalloc_huge(input->list, sizeof(ListedBatch) *
							  input->list_size);
		}
		input->list[input->nlisted].rank = rank;
		input->list[input->nlisted++].tid = tid;
	}
	for (int i = input->nlisted / 2 - 1; i >= 0; i--)
		sink(input->list, input->nlisted, i);
}

/* The next batch of the source that may still matter. */
static StrataVectorBatch *
next_listed(AggInput *input, Source *source)
{
	StrataAggState *agg = input->chooser;

	if (!input->listed)
		list_batches(input, source);
	while (input->nlisted > 0)
	{
		ListedBatch listed = input->list[0];
		StrataVectorBatch *batch;

		CHECK_FOR_INTERRUPTS();
		input->list[0] = input->list[--input->nlisted];
		if (input->nlisted > 1)
			sink(input->list, input->nlisted, 0);
		Assert(input->nlisted == 0 ||
			   input->list[0].rank.rank <= listed.rank.rank);	/* agg:G11 */
		if (!strata_agg_stop_wants(agg, &listed.rank))
		{
			agg->counters.skipped++;
			if (!strata_agg_stop_is_by_rank(&agg->stop))
				continue;
			/* all others are no better */
			agg->counters.skipped += input->nlisted;
			input->nlisted = 0;
			return NULL;
		}
		(void) strata_scan_go_to_batch(source->node, &listed.tid);
		batch = strata_scan_read_batch(source->node);
		if (batch != NULL)
			return batch;
	}
	return NULL;
}

/*
 * The next batch of a source that lists the best first, of each segment or at
 * all.
 */
static StrataVectorBatch *
next_best_first(AggInput *input, Source *source)
{
	StrataAggState *agg = input->chooser;
	AggBatchRank rank;
	StrataBatchReader *reader;
	StrataVectorBatch *batch;
	ItemPointerData tid;

	/* mostly a segment has all it wants from the batch that was just read */
	if (input->listed && !strata_agg_stop_wants(agg, &input->rank))
		strata_scan_skip_rest(source->node);
	input->listed = false;
	while ((reader = strata_scan_list_batch(source->node, &tid)) != NULL)
	{
		if (!strata_agg_stop_rank(agg, reader, source->attnos, &rank))
		{
			agg->counters.skipped++;
			strata_scan_skip_rest(source->node);
			continue;
		}
		batch = strata_scan_read_batch(source->node);
		if (batch == NULL)
			continue;
		input->rank = rank;
		input->listed = true;
		return batch;
	}
	return NULL;
}

static StrataVectorBatch *
next_batch(AggInput *input, Source *source)
{
	if (input->chooser == NULL)
		return strata_scan_next_vector(source->node);
	if (source->best_first)
		return next_best_first(input, source);
	return next_listed(input, source);
}

/*
 * Take in all batches of the source by their number of rows, if that is known
 * without them.
 */
static bool
count_batches(AggInput *input, Source *source)
{
	StrataRowCount count;

	if (input->counter == NULL ||
		!strata_scan_count_rows(source->node, &count))
		return false;
	strata_agg_take_count(input->counter, &count);
	return true;
}

/*
 * The next vector of a source, rows of the row store before batches; NULL when
 * there are no more.  Lives until the next call.
 */
static AggVector *
next_of_source(AggInput *input, Source *source)
{
	AggVector  *result = NULL;
	StrataVectorBatch *batch;

	/* what is best is sooner known of batches; few rows can then matter */
	bool		rows_last = source->vectors && input->chooser != NULL;

	if (!rows_last && !source->rows_done &&
		(result = next_rows(input, source)) != NULL)
		return result;
	if (!source->vectors || count_batches(input, source))
		return NULL;
	batch = next_batch(input, source);
	if (batch == NULL)
		return rows_last && !source->rows_done ?
			next_rows(input, source) : NULL;
	Assert(!batch->reverse);	/* agg:G2 */
	Assert(strata_vector_is_sound(batch));	/* agg:G1 */
	result = &input->vector;
	result->nrows = batch->reader->nrows;
	result->nselected = batch->nrows;
	result->rows = batch->rows;
	result->first = 0;
	if (batch->rows != NULL &&
		batch->rows[batch->nrows - 1] - batch->rows[0] == batch->nrows - 1)
	{
		/* side by side, as a range of time leaves them */
		result->first = batch->rows[0];
		result->rows = NULL;
	}
	result->batch = batch;
	result->attnos = source->attnos;
	result->whole = strata_vector_is_whole(batch);
	result->columns = NULL;
	result->numbers = NULL;
	result->views = input->views;
	Assert(result->first + result->nselected <= result->nrows ||
		   result->rows != NULL);	/* agg:G1 */
	return result;
}

/* Is it to be read, or to be read on? */
static bool
may_matter(AggInput *input, int i)
{
	Source	   *source = &input->sources[i];

	if (input->append == NULL)
		return true;
	if (!bms_is_member(i, input->valid))
		return false;
	if (input->chooser == NULL || !source->vectors || source->begun)
		return true;
	source->begun = true;
	return strata_agg_stop_wants_partition(input->chooser, source->node,
										   source->attnos);
}

/* See agg_vector_private.h. */
AggVector *
strata_agg_input_next(AggInput *input)
{
	CHECK_FOR_INTERRUPTS();
	if (!input->started)
		start(input);
	if (input->joins)
		return strata_agg_join_next(input->join);
	while (input->current >= 0 && input->current < input->nsources)
	{
		AggVector  *vector = NULL;
		Instrumentation *instrument;

		instrument = input->append != NULL ? input->append->ps.instrument :
			NULL;
		if (may_matter(input, input->current))
		{
			if (instrument != NULL)
				InstrStartNode(instrument);
			vector = next_of_source(input, &input->sources[input->current]);
			if (instrument != NULL)
				InstrStopNode(instrument,
							  vector != NULL ? vector->nselected : 0);
		}
		if (vector != NULL)
			return vector;
		input->current += input->reverse ? -1 : 1;
		input->listed = false;
	}
	return NULL;
}

/*
 * See agg_vector_private.h.  Of a batch, only the rows between the first and
 * the last selected one are decoded.  The view's arrays begin where row 0
 * would be.
 */
StrataColumn *
strata_agg_input_column(AggVector *vector, int i)
{
	int			from;
	int			to;
	StrataColumn *col;
	StrataColumn *view;

	if (!strata_agg_vector_has(vector, i))
		return &vector->columns[i];
	from = agg_vector_row(vector, 0);
	to = agg_vector_row(vector, vector->nselected - 1) + 1;
	col = strata_batch_reader_rows(vector->batch->reader, vector->attnos[i],
								   from, to - from);
	Assert(col->constant ||
		   (col->from <= from && col->from + col->n >= to));	/* agg:G1 */
	view = &vector->views[i];
	*view = *col;
	view->from = 0;
	if (col->from == 0 || col->constant)
		return view;
	if (col->isnull != NULL)
		view->isnull = col->isnull - col->from;
	if (col->fixed != NULL)
		view->fixed = (char *) col->fixed - (Size) col->from * col->type.width;
	if (col->datums != NULL)
		view->datums = col->datums - col->from;
	if (col->codes != NULL)
		view->codes = col->codes - col->from;
	return view;
}
