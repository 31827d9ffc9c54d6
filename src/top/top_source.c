/*-------------------------------------------------------------------------
 *
 * top_source.c
 *	  Batches and rows of one plan go into the sort, as far as they may matter.
 *
 * Of a StrataScan batches come first, those with the best bounds before the
 * others, so that most batches and nearly all rows of the row store are worse
 * than what is there by then.  Of a vector only keys are looked at, until it
 * is known which of its rows are among the best.
 *
 * Over 600 lines: rows, bounds and distances decide together what is read.
 *
 * src/top/top_source.c
 *-------------------------------------------------------------------------
 */
#include "top/top_private.h"

#include <math.h>

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/memutils.h"

/* So many rows are tried together at first, by quals that are tried late. */
#define FIRST_ROWS 64

/* The column of a table that the node's result column is; 0: not known. */
static AttrNumber
table_column(PlanState *node, int resno)
{
	if (!IsA(node, SeqScanState) && !IsA(node, IndexScanState) &&
		!IsA(node, BitmapHeapScanState) && !strata_scan_state_is_ours(node))
		return 0;
	return strata_scan_result_attno(node, resno);
}

/* Which columns of the source keys are made of. */
static void
init_looked(StrataTopState *top, TopSource *source)
{
	const TopExprs *exprs = top->exprs;
	Bitmapset  *inputs = NULL;
	int			input = -1;

	source->key_attnos = palloc0(sizeof(AttrNumber) * top->nkeys);
	for (int k = 0; k < top->nkeys; k++)
	{
		if (strata_top_key_expr(top, k) != NULL)
			continue;
		input = strata_top_key_input(top, k) - 1;
		source->key_attnos[k] = source->attnos[input];
		inputs = bms_add_member(inputs, input);
	}
	for (int i = 0; exprs != NULL && i < exprs->ninputs; i++)
		inputs = bms_add_member(inputs, exprs->inputs[i]);
	source->looked = palloc(sizeof(AttrNumber) * Max(bms_num_members(inputs),
													 1));
	for (input = -1; (input = bms_next_member(inputs, input)) >= 0;)
		source->looked[source->nlooked++] = source->attnos[input];
	bms_free(inputs);
}

/*
 * A plan that rows come from: whether it gives vectors, and which columns of
 * its rows are the inputs.
 */
void
strata_top_source_init(StrataTopState *top, TopSource *source,
					   PlanState *node)
{
	source->node = node;
	source->vectors = strata_scan_state_gives_vectors(node);
	source->by_distance = top->distance != NULL && IsA(node, IndexScanState) &&
		((IndexScan *) node->plan)->indexorderby != NIL;
	source->attnos = palloc(sizeof(AttrNumber) * top->ninputs);
	for (int i = 0; i < top->ninputs && source->vectors; i++)
	{
		source->attnos[i] = strata_scan_result_attno(node, i + 1);
		source->vectors = source->attnos[i] > 0;
	}
	if (source->vectors)
		strata_scan_expect_vectors(node);
	/* where keys may be errors, those of rows that pass are */
	source->late_quals = source->vectors && !top->all &&
		!strata_top_is_checked(top) && strata_scan_has_late_quals(node);
	for (int i = 0; i < top->ninputs; i++)
	{
		if (!source->vectors)
			source->attnos[i] = (AttrNumber) (i + 1);
		source->max_attno = Max(source->max_attno, source->attnos[i]);
	}
	init_looked(top, source);
	source->bound_attno = top->distance != NULL ||
		strata_top_key_expr(top, 0) != NULL ? 0 :
		table_column(node, top->keys[0].plan.input);
}

/* See top_private.h. */
void
strata_top_source_end(TopSource *source)
{
	if (source->nearest != NULL)
		strata_scan_nearest_end(source->nearest);
	source->nearest = NULL;
	source->nearest_known = false;
}

/*-------------------------------------------------------------------------
 * Rows
 *-------------------------------------------------------------------------
 */

/*
 * Is a row with the keys in top->values among the best, as far as known?  Then
 * it is put there, unless it is as good as the worst and comes beside them.
 */
static bool
is_among_best(StrataTopState *top)
{
	int			c = !strata_top_heap_is_full(&top->heap) ? -1 :
	strata_top_heap_compare(&top->heap, top->values);

	if (c < 0)
		strata_top_heap_add(&top->heap, top->values);
	return c < 0 || (c == 0 && top->ties);
}

/* A row's keys, of their columns. */
static void
load_keys(StrataTopState *top, int row)
{
	for (int k = 0; k < top->nkeys; k++)
	{
		bool		isnull;
		Datum		value = strata_column_get(top->key_columns[k], row,
											  &isnull);

		strata_top_key_value(top, k, value, isnull, &top->values[k]);
	}
}

/* Have the column of an input at hand, for rows of a vector. */
static void
load_column(StrataTopState *top, const TopRows *rows, int i, int from, int to)
{
	top->columns[i] = strata_top_column(rows, i, from, to);
}

/*
 * Write the numbers of a vector's rows that are among the best, as far as
 * known, to top->chosen; returns how many.
 */
static int
choose_rows(StrataTopState *top, const TopRows *rows)
{
	int			n;
	int			nfirst;			/* expressions computed before rows are chosen */
	int			kept = 0;

	if (top->nchosen_size < rows->n)
	{
		if (top->chosen != NULL)
			pfree(top->chosen);
		top->nchosen_size = Max(rows->n, STRATA_ROW_VECTOR_SIZE);
		top->chosen = MemoryContextAlloc(top->css.ss.ps.state->es_query_cxt,
										 sizeof(uint16) *
										 (top->nchosen_size + 1));
	}
	if (top->distance != NULL)
		MemoryContextReset(top->distance->work);
	nfirst = strata_top_is_checked(top) ? top->exprs->n :
		strata_top_key_expr(top, 0) != NULL ? 1 : 0;
	if (nfirst > 0)
		strata_top_exprs_compute(top, rows, NULL, rows->n, 0, nfirst);
	n = strata_top_choose(top, rows, top->chosen);
	if (rows->late != NULL)
		n = strata_scan_try_rows(rows->late, top->chosen, n);
	if (n == 0)
		return 0;
	if (top->exprs != NULL && nfirst < top->exprs->n)
		strata_top_exprs_compute(top, rows, top->chosen, n, nfirst,
								 top->exprs->n);
	for (int k = 0; k < top->nkeys; k++)
		top->key_columns[k] = strata_top_key_column(top, rows, k,
													top->chosen[0],
													top->chosen[n - 1]);
	for (int i = 0; i < n; i++)
	{
		load_keys(top, top->chosen[i]);
		if (!is_among_best(top))
			continue;
		top->chosen[kept++] = top->chosen[i];
	}
	/* better ones may have come behind them */
	n = kept;
	kept = 0;
	for (int i = 0; i < n; i++)
	{
		load_keys(top, top->chosen[i]);
		if (!strata_top_heap_is_full(&top->heap) ||
			strata_top_heap_compare(&top->heap, top->values) <= 0)
			top->chosen[kept++] = top->chosen[i];
	}
	return kept;
}

/* The columns of a row are in top->put; a distance comes behind them. */
static void
put_row(StrataTopState *top)
{
	TupleTableSlot *put = top->put;

	if (top->distance != NULL)
	{
		int			i = top->distance->input - 1;

		strata_top_distance_of(top, put->tts_values[i], put->tts_isnull[i],
							   &put->tts_values[top->ninputs],
							   &put->tts_isnull[top->ninputs]);
	}
	ExecStoreVirtualTuple(put);
	tuplesort_puttupleslot(top->sort, put);
}

/* Rows of a batch go into the sort, as far as they are among the best. */
static void
take_batch_rows(StrataTopState *top, const TopRows *rows)
{
	TupleTableSlot *put = top->put;
	int			n = choose_rows(top, rows);

	for (int i = 0; i < top->ninputs && n > 0; i++)
		load_column(top, rows, i, top->chosen[0], top->chosen[n - 1]);
	for (int row = 0; row < n; row++)
	{
		ExecClearTuple(put);
		for (int i = 0; i < top->ninputs; i++)
			put->tts_values[i] = strata_column_get(top->columns[i],
												   top->chosen[row],
												   &put->tts_isnull[i]);
		strata_top_exprs_load(top, top->chosen[row]);
		put_row(top);
	}
	top->ntaken += n;
}

/* See top_private.h. */
void
strata_top_load_inputs(StrataTopState *top, const TopSource *source,
					   TupleTableSlot *slot)
{
	TupleTableSlot *put = top->put;

	slot_getsomeattrs(slot, source->max_attno);
	ExecClearTuple(put);
	for (int i = 0; i < top->ninputs; i++)
	{
		put->tts_values[i] = slot->tts_values[source->attnos[i] - 1];
		put->tts_isnull[i] = slot->tts_isnull[source->attnos[i] - 1];
	}
}

/* Such a row, its expressions, too, goes into the sort. */
static void
put_slot(StrataTopState *top, const TopSource *source, TupleTableSlot *slot)
{
	strata_top_load_inputs(top, source, slot);
	put_row(top);
	top->ntaken++;
}

/* The same for rows of a row store, which are fetched. */
static void
take_stored_rows(StrataTopState *top, const TopSource *source,
				 const TopRows *rows)
{
	int			n = choose_rows(top, rows);

	for (int i = 0; i < n; i++)
	{
		ItemPointerData tid = rows->tids[top->chosen[i]];

		strata_top_exprs_load(top, top->chosen[i]);
		put_slot(top, source, strata_scan_fetch_row(source->node, &tid));
	}
}

/* One row of whatever plan; false: it is not among the best. */
static bool
take_slot(StrataTopState *top, const TopSource *source, TupleTableSlot *slot)
{
	slot_getsomeattrs(slot, source->max_attno);
	if (top->distance != NULL)
		MemoryContextReset(top->distance->work);
	strata_top_load_inputs(top, source, slot);
	strata_top_exprs_of_row(top);
	for (int k = 0; k < top->nkeys; k++)
	{
		int			att = (strata_top_key_expr(top, k) != NULL ?
						   top->keys[k].plan.input :
						   strata_top_key_input(top, k)) - 1;

		strata_top_key_value(top, k, top->put->tts_values[att],
							 top->put->tts_isnull[att], &top->values[k]);
	}
	if (!is_among_best(top))
		return false;
	Assert(!strata_top_heap_is_full(&top->heap) ||
		   strata_top_heap_compare(&top->heap, top->values) <= 0);	/* top:N3 */
	put_slot(top, source, slot);
	return true;
}

/* Is the row whose keys were computed last worse than all of the best? */
static bool
is_farther(StrataTopState *top)
{
	return strata_top_heap_is_full(&top->heap) &&
		strata_top_compare(&top->keys[0], &top->values[0],
						   &top->heap.values[0]) > 0;
}

/*
 * Read a row store by an index that gives distances, if enough rows are there
 * to say where to stop; false: not so.
 */
static bool
read_rows_by_distance(StrataTopState *top, TopSource *source)
{
	TupleTableSlot *slot;
	bool		in_order;
	double		limit = strata_top_distance_limit(top);

	if (source->nearest == NULL || (isinf(limit) && limit > 0) ||
		!strata_scan_nearest_rows(source->nearest))
		return false;
	while ((slot = strata_scan_nearest_next_row(source->nearest, limit,
												&in_order)) != NULL)
	{
		if (!take_slot(top, source, slot) && in_order && is_farther(top))
			break;
		limit = strata_top_distance_limit(top);
	}
	return true;
}

/*
 * Read a row store by an index on the first key, if only few of its rows can
 * be better than what is there; false: it has none, or there are many.
 */
static bool
read_rows_by_bound(StrataTopState *top, TopSource *source)
{
	const TopKey *key = &top->keys[0];
	const TopValue *worst = top->heap.values;
	AttrNumber	attno = source->key_attnos[0];
	TupleTableSlot *slot;
	bool		gave_up;

	if (!strata_top_heap_is_full(&top->heap) || worst->isnull ||
		!key->default_order || attno == 0 || strata_top_is_checked(top) ||
		(key->plan.nulls_first &&
		 !strata_scan_is_not_null(source->node, attno)) ||
		!strata_scan_rows_by_bound(source->node, attno, key->desc,
								   strata_top_takes_equal(top), worst->value))
		return false;
	while ((slot = strata_scan_next_indexed_row(source->node,
												&gave_up)) != NULL)
		take_slot(top, source, slot);
	Assert(!gave_up);			/* top:N1 */
	return true;
}

/* All rows of a plan that gives no vectors, or of a row store. */
static void
read_rows_of(StrataTopState *top, TopSource *source)
{
	StrataRowVector vector;
	TupleTableSlot *slot;

	if (source->vectors && (top->distance != NULL ?
							read_rows_by_distance(top, source) :
							read_rows_by_bound(top, source)))
		return;
	/* without a heap every row would be fetched */
	if (source->vectors && top->heap.size > 0 &&
		strata_scan_gives_row_vectors(source->node))
	{
		while (strata_scan_next_row_vector(source->node, source->looked,
										   source->nlooked, true, &vector))
		{
			TopRows		rows = {NULL, vector.columns, vector.tids,
			source->attnos, vector.nselected, vector.rows, 0};

			CHECK_FOR_INTERRUPTS();
			take_stored_rows(top, source, &rows);
		}
		return;
	}
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		slot = source->vectors ? strata_scan_next_heap_row(source->node) :
			ExecProcNode(source->node);
		if (TupIsNull(slot))
			return;
		/* by distance, those behind are not nearer */
		if (!take_slot(top, source, slot) && source->by_distance &&
			is_farther(top))
			return;
	}
}

/*-------------------------------------------------------------------------
 * Batches
 *-------------------------------------------------------------------------
 */

/* What no row of the batch is better than, in key k; false: not known. */
static bool
best_of_batch(StrataTopState *top, const TopSource *source,
			  StrataBatchReader *reader, int k, TopValue *best)
{
	const TopKey *key = &top->keys[k];
	StrataBatchBounds bounds;

	if (k == 0 && top->distance != NULL)
		return source->nearest != NULL &&
			strata_top_distance_bound(top,
									  strata_scan_nearest_distance(source->nearest,
																   reader),
									  best);
	if (!key->default_order || source->key_attnos[k] == 0)
		return false;
	strata_scan_batch_bounds(reader, source->key_attnos[k], &bounds);
	if (key->plan.nulls_first ? bounds.nnulls != 0 :
		bounds.nnulls == reader->nrows)
		strata_top_value(key, (Datum) 0, true, best);
	else if (key->desc ? bounds.has_max : bounds.has_min)
		strata_top_value(key, key->desc ? bounds.max : bounds.min, false,
						 best);
	else
		return false;
	return true;
}

/* By-reference bounds belong to the batch. */
static void
rank_batch(StrataTopState *top, const TopSource *source,
		   StrataBatchReader *reader, TopListed *listed,
		   const ItemPointerData *tid)
{
	listed->tid = *tid;
	listed->nread = 0;
	for (int k = 0; k < 2; k++)
		listed->known[k] = k < top->nkeys &&
			best_of_batch(top, source, reader, k, &listed->best[k]);
}

/* Can a row of the batch be among the best?  *none: nor of any worse one. */
static bool
batch_matters(StrataTopState *top, TopListed *listed, bool *none)
{
	const TopValue *worst = top->heap.values;
	int			c;

	*none = false;
	if (!strata_top_heap_is_full(&top->heap) || !listed->known[0] ||
		strata_top_is_checked(top))
		return true;			/* top:N11 */
	Assert(top->keys[0].default_order); /* top:N2: else there is no bound */
	c = strata_top_compare(&top->keys[0], &listed->best[0], &worst[0]);
	*none = c > 0;
	if (c != 0)
		return c < 0;
	if (top->nkeys == 1)
		return top->ties;
	if (!listed->known[1])
		return true;
	c = strata_top_compare(&top->keys[1], &listed->best[1], &worst[1]);
	return c < 0 || (c == 0 && (top->nkeys > 2 || top->ties));
}

/* qsort: the best last. */
static int
compare_listed(const void *left, const void *right, void *arg)
{
	StrataTopState *top = arg;
	const TopListed *a = left;
	const TopListed *b = right;

	for (int k = 0; k < 2 && a->known[k] && b->known[k]; k++)
	{
		int			c = strata_top_compare(&top->keys[k], &b->best[k],
										   &a->best[k]);

		if (c != 0)
			return c;
	}
	return ItemPointerCompare((ItemPointer) &b->tid, (ItemPointer) &a->tid);
}

/*
 * Rows of the batch on which late quals are to be tried: the best first, some
 * at a time, as long as they matter and are better than all of the next batch.
 * True: those behind them may matter once that was read.
 */
static bool
take_late_rows(StrataTopState *top, const TopRows *rows, TopListed *listed,
			   const TopListed *next)
{
	int			n = Max(FIRST_ROWS, listed->nread);
	bool		none;

	if (!strata_top_rows_are_sorted(top, rows))
	{
		take_batch_rows(top, rows);
		return false;
	}
	for (;; n *= 2)
	{
		TopRows		some;

		n = Min(n, rows->n - listed->nread);
		some = strata_top_next_rows(top, rows, listed->nread, n);
		take_batch_rows(top, &some);
		listed->nread += n;
		if (listed->nread == rows->n)
			return false;
		strata_top_next_value(top, rows, listed->nread, &listed->best[0]);
		listed->known[0] = true;
		listed->known[1] = false;
		if (!batch_matters(top, listed, &none))
			return false;
		if (next != NULL && compare_listed(listed, next, top) < 0)
			return true;
	}
}

/*
 * Read the batch that the scan stands at, of which listed says what is known.
 * True: its rows that are no better than the next batch are left.
 */
static bool
read_current_batch(StrataTopState *top, TopSource *source, TopListed *listed,
				   const TopListed *next)
{
	bool		again = listed->nread > 0;
	bool		late = false;
	StrataVectorBatch *batch = source->late_quals ?
	strata_scan_read_early(source->node, again, &late) :
	strata_scan_read_batch(source->node);
	TopRows		rows = {0};

	top->nread += !again;
	if (batch == NULL)
		return false;
	Assert(!batch->reverse && strata_vector_is_sound(batch));	/* top:N1 */
	rows.reader = batch->reader;
	rows.attnos = source->attnos;
	rows.n = batch->nrows;
	rows.rows = batch->rows;
	rows.direction = source->key_attnos[0] == 0 ? 0 :
		strata_batch_reader_direction(batch->reader, source->key_attnos[0]);
	if (late)
	{
		rows.late = source->node;
		return take_late_rows(top, &rows, listed, next);
	}
	take_batch_rows(top, &rows);
	return false;
}

/* Bounds by reference become the list's own. */
static void
keep_bounds(StrataTopState *top, TopListed *listed)
{
	for (int k = 0; k < 2; k++)
	{
		const TopKey *key = &top->keys[k];

		if (listed->known[k] && !listed->best[k].isnull &&
			key->kind == TOP_ANY)
			listed->best[k].value = datumCopy(listed->best[k].value,
											  key->typbyval, key->typlen);
	}
}

/* Add the batch to the list, which is not sorted then. */
static void
append_listed(StrataTopState *top, TopList *list, TopListed *listed)
{
	MemoryContext old = MemoryContextSwitchTo(top->list_mcxt);

	if (listed->nread == 0)
		keep_bounds(top, listed);
	if (list->batches == NULL)
	{
		list->size = 64;
		list->batches = palloc(sizeof(TopListed) * list->size);
	}
	if (list->n == list->size)
	{
		list->size *= 2;
		list->batches = repalloc_huge(list->batches,
									  sizeof(TopListed) * list->size);
	}
	list->batches[list->n++] = *listed;
	MemoryContextSwitchTo(old);
}

/* Put the batch where it belongs in a sorted list: near its end, mostly. */
static void
insert_listed(StrataTopState *top, TopList *list, TopListed *listed)
{
	TopListed	own = *listed;
	int			i = list->n;

	append_listed(top, list, &own);
	for (; i > 0 && compare_listed(&list->batches[i - 1], &own, top) > 0; i--)
		list->batches[i] = list->batches[i - 1];
	list->batches[i] = own;
}

/*
 * Read what may matter of a sorted list, the best first, as long as it is
 * better than the limit; NULL: all of it.
 */
static void
read_sorted(StrataTopState *top, TopSource *source, TopList *list,
			const TopListed *limit)
{
	while (list->n > 0)
	{
		TopListed	listed = list->batches[list->n - 1];
		const TopListed *next = limit;
		bool		none;

		if (limit != NULL && compare_listed(limit, &listed, top) > 0)
			break;
		CHECK_FOR_INTERRUPTS();
		list->n--;
		if (!batch_matters(top, &listed, &none))
		{
			top->npassed += listed.nread == 0;
			continue;
		}
		if (list->n > 0 && (limit == NULL ||
							compare_listed(limit, &list->batches[list->n - 1],
										   top) < 0))
			next = &list->batches[list->n - 1];
		(void) strata_scan_go_to_batch(source->node, &listed.tid);
		if (read_current_batch(top, source, &listed, next))
			insert_listed(top, list, &listed);
	}
}

/* Read what may matter of the list, the best first; it is empty then. */
static void
read_list(StrataTopState *top, TopSource *source, TopList *list)
{
	if (list->n > 1)
		qsort_arg(list->batches, list->n, sizeof(TopListed), compare_listed,
				  top);
	read_sorted(top, source, list, NULL);
	MemoryContextReset(top->list_mcxt);
	*list = (TopList)
	{
		0
	};
}

/* Do the two begin with the same value, which belongs to nobody? */
static bool
is_tie(StrataTopState *top, const TopListed *a, const TopListed *b)
{
	return top->keys[0].kind != TOP_ANY && a->known[0] && b->known[0] &&
		strata_top_compare(&top->keys[0], &a->best[0], &b->best[0]) == 0;
}

/*
 * The best first, as the scan lists them, by the first key.  Of many that
 * begin with the same value, as those of sensors do that are read at the same
 * time, the best by the second key come first: then there is no need to read
 * all of them.
 */
static void
read_best_first(StrataTopState *top, TopSource *source)
{
	StrataBatchReader *reader;
	ItemPointerData tid;
	TopListed	last = {0};
	TopList		ties = {0};

	while ((reader = strata_scan_list_batch(source->node, &tid)) != NULL)
	{
		TopListed	listed;
		bool		none;
		bool		tie;

		rank_batch(top, source, reader, &listed, &tid);
		tie = listed.known[1] && is_tie(top, &last, &listed);
		last = listed;
		if (!batch_matters(top, &listed, &none))
		{
			top->npassed++;
			if (none)
				strata_scan_skip_rest(source->node);
			continue;
		}
		if (source->late_quals && listed.known[0])
		{
			/* rows that are better than all of it are tried before */
			read_sorted(top, source, &ties, &listed);
			insert_listed(top, &ties, &listed);
			continue;
		}
		if (tie)
		{
			append_listed(top, &ties, &listed);
			continue;
		}
		if (ties.n > 0)
		{
			/* the scan goes to these, and comes back */
			append_listed(top, &ties, &listed);
			read_list(top, source, &ties);
		}
		else
			(void) read_current_batch(top, source, &listed, NULL);
	}
	read_list(top, source, &ties);
}

/*
 * The batches of which bounds are known, in a list; the others are read at
 * once.
 */
static void
list_by_bounds(StrataTopState *top, TopSource *source, TopList *list)
{
	StrataBatchReader *reader;
	ItemPointerData tid;

	while ((reader = strata_scan_list_batch(source->node, &tid)) != NULL)
	{
		TopListed	listed;
		bool		none;

		rank_batch(top, source, reader, &listed, &tid);
		if (!listed.known[0])
		{
			(void) read_current_batch(top, source, &listed, NULL);
			continue;
		}
		if (batch_matters(top, &listed, &none))
			append_listed(top, list, &listed);
		else
			top->npassed++;
	}
}

/* Read what may matter, the best first. */
static void
read_listed(StrataTopState *top, TopSource *source)
{
	TopList		list = {0};

	list_by_bounds(top, source, &list);
	read_list(top, source, &list);
}

/* The nearest first, as long as they matter. */
static void
read_nearest(StrataTopState *top, TopSource *source)
{
	double		distance;

	for (;;)
	{
		double		limit = strata_top_distance_limit(top);
		TopListed	listed = {0};

		if (strata_scan_nearest_next(source->nearest, limit,
									 &distance) == NULL)
			break;
		(void) read_current_batch(top, source, &listed, NULL);
	}
}

/* Ask for distances from the value, where there is an index for them. */
static void
ask_nearest(StrataTopState *top, TopSource *source)
{
	const StrataTopDistance *distance = top->distance;

	if (!source->nearest_known)
		source->nearest =
			strata_scan_nearest_begin(source->node, source->key_attnos[0],
									  distance->opno, distance->collation);
	source->nearest_known = true;
	if (source->nearest != NULL && !distance->isnull)
	{
		if (source->node->chgParam != NULL)
			ExecReScan(source->node);
		strata_scan_nearest_ask(source->nearest, distance->value);
	}
	else
		strata_top_source_end(source);
}

/* See top_private.h. */
void
strata_top_source_read(StrataTopState *top, TopSource *source)
{
	if (source->vectors && top->distance != NULL)
		ask_nearest(top, source);
	if (source->nearest != NULL && strata_scan_nearest_leads(source->nearest))
		read_nearest(top, source);
	else if (source->vectors && strata_scan_state_is_best_first(source->node))
		read_best_first(top, source);
	else if (source->vectors)
		read_listed(top, source);
	read_rows_of(top, source);
}
