/*-------------------------------------------------------------------------
 *
 * scan_rowstore.c
 *	  The rows of the row store: a heap scan of our own, or a child plan that
 *	  goes through an index of R.
 *
 * The child's projection is taken off, so it hands up its raw tuple, ctid and
 * all, in its own slot.  It has all of the quals and evaluates them itself.
 *
 * For ordered output a child comes in order; a heap scan is sorted here, with
 * the row's TID kept beside its columns (a Sort node would lose it).  Where it
 * is not sorted, rows are filtered as columns (scan_rows.c), unless that could
 * raise an error of a row that nobody asks for.
 *
 * src/scan/scan_rowstore.c
 *-------------------------------------------------------------------------
 */
#include "expr/expr.h"
#include "scan/filter_subplan_private.h"
#include "scan/scan_join_private.h"
#include "scan/scan_private.h"
#include "store/store.h"

#include "access/tableam.h"
#include "catalog/pg_type_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/typcache.h"

/* Of fewer pages rows are not worth being made columns of. */
#define VECTORS_MIN_PAGES 8

/* Start the child plan; a heap scan starts at its first row. */
void
strata_rowstore_begin(StrataScanState *scan, EState *estate, int eflags)
{
	CustomScan *cscan = (CustomScan *) scan->css.ss.ps.plan;

	scan->backward_asked = (eflags & EXEC_FLAG_BACKWARD) != 0;
	if (!scan->info.has_child)
		return;
	scan->child = ExecInitNode(linitial(cscan->custom_plans), estate, eflags);
	scan->child->ps_ProjInfo = NULL;
	scan->css.custom_ps = list_make1(scan->child);
}

/* See scan_private.h. */
void
strata_rowstore_end(StrataScanState *scan)
{
	if (scan->heap_sort != NULL)
		tuplesort_end(scan->heap_sort);
	scan->heap_sort = NULL;
	scan->heap_sorted = false;
	if (scan->sort_slot != NULL)
	{
		ExecDropSingleTupleTableSlot(scan->sort_slot);
		ExecDropSingleTupleTableSlot(scan->sort_input);
	}
	scan->sort_slot = NULL;
	strata_row_index_end(scan);
	if (scan->child != NULL)
		ExecEndNode(scan->child);
	if (scan->heap_scan != NULL)
		table_endscan(scan->heap_scan);
	scan->heap_scan = NULL;
	if (scan->row_reader != NULL)
		strata_row_reader_end(scan->row_reader);
	scan->row_reader = NULL;
}

/* See scan_private.h. */
void
strata_rowstore_rescan(StrataScanState *scan)
{
	scan->heap_done = false;
	strata_row_index_end(scan);
	if (scan->heap_sort != NULL)
		tuplesort_end(scan->heap_sort);
	scan->heap_sort = NULL;
	scan->heap_sorted = false;
	scan->child_began = false;
	scan->row_at = scan->row_vector.nselected = 0;
	/* each value of a parameter may want one row only */
	if (!bms_is_empty(scan->css.ss.ps.plan->extParam))
	{
		scan->rows_tried = true;
		scan->rows_by_vectors = false;
	}
	if (scan->child != NULL)
	{
		if (scan->css.ss.ps.chgParam != NULL)
			UpdateChangedParamSet(scan->child, scan->css.ss.ps.chgParam);
		if (scan->child->chgParam == NULL)
			ExecReScan(scan->child);
	}
	if (scan->heap_scan != NULL)
		table_rescan(scan->heap_scan, NULL);
	if (scan->row_reader != NULL)
		strata_row_reader_rescan(scan->row_reader);
}

/* A scan of the row store only: the batches are read by us. */
static void
begin_heap_scan(StrataScanState *scan)
{
	Relation	rel = scan->css.ss.ss_currentRelation;

	if (strata_rowstore_only_hook == NULL)
		elog(ERROR, "table access method strata is not initialized");
	scan->heap_scan = scan->heap_pscan != NULL ?
		table_beginscan_parallel(rel, scan->heap_pscan) :
		table_beginscan(rel, scan->css.ss.ps.state->es_snapshot, 0, NULL);
	Assert(scan->heap_scan->rs_snapshot->snapshot_type ==
		   SNAPSHOT_MVCC);		/* scan:R2 */
	scan->heap_pages = strata_rowstore_only_hook(scan->heap_scan);
	strata_scan_check_outgrown(rel, scan->info.heap_pages, scan->heap_pages);
}

/*
 * Next row of the heap scan that passes the quals, in table_slot; or NULL.
 * Goes in the executor's direction, as a child plan does by itself.
 */
static TupleTableSlot *
next_heap_row(StrataScanState *scan)
{
	ExprContext *econtext = scan->css.ss.ps.ps_ExprContext;
	ExprState  *qual;

	if (scan->heap_scan == NULL)
		begin_heap_scan(scan);
	if (scan->heap_pages == 0)
		return NULL;
	qual = strata_scan_qual(scan);
	while (table_scan_getnextslot(scan->heap_scan,
								  scan->css.ss.ps.state->es_direction,
								  scan->table_slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (scan->joins != NIL &&
			strata_join_leaves_out(scan, scan->table_slot))
			continue;
		econtext->ecxt_scantuple = scan->table_slot;
		if (qual == NULL || strata_qual_passes(scan->filter, qual, econtext))
			return scan->table_slot;
		InstrCountFiltered1(&scan->css, 1);
		ResetExprContext(econtext);
	}
	return NULL;
}

/* So many columns that no qual reads are taken of each row, with theirs. */
#define FEW_MORE_COLUMNS 2

/* To fetch a row costs what it costs to take so many values of others. */
#define FETCHED_VALUES 40

/*
 * May quals be tried on rows that nobody may ask for?  And is there a row to
 * be left out?  For columns are more work then than the rows.
 */
static bool
filters_freely(StrataScanState *scan)
{
	StrataFilter *filter = scan->filter;

	for (int i = 0; i < filter->nown; i++)
	{
		const StrataQual *qual = &filter->quals[i];
		const StrataExpr *expr;

		if (qual->way == STRATA_QUAL_VECTOR)
			continue;
		expr = strata_qual_together(filter, qual);
		/* an error may be of a row that nobody asks for */
		if (strata_expr_may_fail(expr))
			return false;
	}
	return filter->nown > 0;
}

/* Are rows to be filtered as columns, many at a time? */
static bool
goes_by_vectors(StrataScanState *scan)
{
	const StrataFilter *filter = scan->filter;
	Bitmapset  *known = NULL;

	if (scan->backward_asked || scan->needs_heap_tuple ||
		RelationGetNumberOfBlocks(scan->css.ss.ss_currentRelation) <
		VECTORS_MIN_PAGES ||
		!strata_row_reader_can_read(scan) || !filters_freely(scan))
		return false;
	for (int i = 0; i < filter->nown; i++)
		known = bms_add_members(known, filter->quals[i].attnos);
	scan->row_more = 0;
	for (int i = 0; i < scan->ntargets; i++)
		scan->row_more += !bms_is_member(scan->targets[i], known);
	bms_free(known);
	scan->row_whole = scan->row_more <= FEW_MORE_COLUMNS;
	return true;
}

/*
 * The next row of a vector that passes the quals; or NULL.  Its columns are in
 * the vector, or it is fetched, where few rows pass.
 */
static TupleTableSlot *
next_vector_row(StrataScanState *scan)
{
	StrataRowVector *vector = &scan->row_vector;
	TupleTableSlot *slot = scan->row_slot;
	int			row;

	if (scan->row_at == vector->nselected)
	{
		if (!scan->row_whole &&
			vector->nselected * FETCHED_VALUES >
			vector->nrows * scan->row_more)
		{
			scan->row_whole = true;
			strata_row_reader_want(scan->row_reader, scan->targets,
								   scan->ntargets);
		}
		scan->row_at = 0;
		if (!strata_row_reader_next(scan, scan->targets,
									scan->row_whole ? scan->ntargets : 0,
									true, vector))
		{
			vector->nselected = 0;
			return NULL;
		}
	}
	row = vector->rows != NULL ? vector->rows[scan->row_at] : scan->row_at;
	scan->row_at++;
	if (!scan->row_whole)
		return strata_scan_fetch_row(&scan->css.ss.ps,
									 (ItemPointer) &vector->tids[row]);
	if (TTS_SHOULDFREE(slot))
		ExecClearTuple(slot);
	for (int i = 0; i < scan->ntargets; i++)
	{
		int			att = scan->targets[i] - 1;

		slot->tts_values[att] =
			strata_column_get(&vector->columns[att], row,
							  &slot->tts_isnull[att]);
	}
	slot->tts_flags &= ~TTS_FLAG_EMPTY;
	slot->tts_nvalid = (AttrNumber) slot->tts_tupleDescriptor->natts;
	slot->tts_tid = vector->tids[row];
	slot->tts_tableOid = RelationGetRelid(scan->css.ss.ss_currentRelation);
	return slot;
}

/* The next row that passes the quals, one way or the other; or NULL. */
static TupleTableSlot *
next_unsorted_row(StrataScanState *scan)
{
	if (!scan->rows_tried)
		scan->rows_by_vectors = goes_by_vectors(scan);
	scan->rows_tried = true;
	return scan->rows_by_vectors ? next_vector_row(scan) : next_heap_row(scan);
}

/* R's columns and a last one for the row's TID. */
static TupleDesc
make_sort_desc(TupleDesc desc)
{
	TupleDesc	result = CreateTemplateTupleDesc(desc->natts + 1);

	for (int i = 1; i <= desc->natts; i++)
		TupleDescCopyEntry(result, (AttrNumber) i, desc, (AttrNumber) i);
	TupleDescInitEntry(result, (AttrNumber) (desc->natts + 1), "strata_tid",
					   TIDOID, -1, 0);
	return result;
}

/* Begin to sort the rows of the row store by the merge keys. */
static void
begin_sort(StrataScanState *scan)
{
	TupleDesc	desc = RelationGetDescr(scan->css.ss.ss_currentRelation);
	int			nkeys = scan->info.nkeys;
	AttrNumber *attnos = palloc(sizeof(AttrNumber) * nkeys);
	Oid		   *operators = palloc(sizeof(Oid) * nkeys);
	Oid		   *collations = palloc(sizeof(Oid) * nkeys);
	bool	   *nulls_first = palloc(sizeof(bool) * nkeys);

	if (scan->sort_slot == NULL)
	{
		scan->sort_desc = make_sort_desc(desc);
		scan->sort_slot = MakeSingleTupleTableSlot(scan->sort_desc,
												   &TTSOpsMinimalTuple);
		scan->sort_input = MakeSingleTupleTableSlot(scan->sort_desc,
													&TTSOpsVirtual);
	}
	for (int i = 0; i < nkeys; i++)
	{
		const StrataOrderKey *key = &scan->info.keys[i];
		Form_pg_attribute att = TupleDescAttr(desc, key->attno - 1);
		TypeCacheEntry *typcache = lookup_type_cache(att->atttypid,
													 TYPECACHE_LT_OPR |
													 TYPECACHE_GT_OPR);

		attnos[i] = key->attno;
		operators[i] = key->desc ? typcache->gt_opr : typcache->lt_opr;
		collations[i] = att->attcollation;
		nulls_first[i] = key->nulls_first;
	}
	scan->heap_sort = tuplesort_begin_heap(scan->sort_desc, nkeys, attnos,
										   operators, collations, nulls_first,
										   work_mem, NULL, TUPLESORT_NONE);
	/* the sort has copied them, and there is one for each rescan */
	pfree(attnos);
	pfree(operators);
	pfree(collations);
	pfree(nulls_first);
}

/* The columns of a sorted row: what is returned, and keys. */
static AttrNumber *
sorted_columns(StrataScanState *scan, int *n)
{
	AttrNumber *attnos = palloc(sizeof(AttrNumber) *
								(scan->ntargets + scan->info.nkeys));

	*n = 0;
	for (int i = 0; i < scan->ntargets; i++)
		attnos[(*n)++] = scan->targets[i];
	for (int i = 0; i < scan->info.nkeys; i++)
		attnos[(*n)++] = scan->info.keys[i].attno;
	return attnos;
}

/* Where a row's columns and its TID go on their way into the sort. */
static TupleTableSlot *
sort_place(StrataScanState *scan, ItemPointer tid)
{
	TupleTableSlot *out;
	int			natts;

	if (scan->heap_sort == NULL)
	{
		begin_sort(scan);
		ExecStoreAllNullTuple(scan->sort_input);
	}
	out = scan->sort_input;
	natts = out->tts_tupleDescriptor->natts;
	out->tts_values[natts - 1] = PointerGetDatum(tid);
	out->tts_isnull[natts - 1] = false;
	return out;
}

/* Rows go into the sort as they come of the heap. */
static void
sort_heap_one_by_one(StrataScanState *scan, const AttrNumber *attnos, int n)
{
	TupleTableSlot *in;

	while ((in = next_heap_row(scan)) != NULL)
	{
		TupleTableSlot *out = sort_place(scan, &in->tts_tid);

		slot_getallattrs(in);
		for (int i = 0; i < n; i++)
		{
			int			att = attnos[i] - 1;

			out->tts_values[att] = in->tts_values[att];
			out->tts_isnull[att] = in->tts_isnull[att];
		}
		tuplesort_puttupleslot(scan->heap_sort, out);
		ResetExprContext(scan->css.ss.ps.ps_ExprContext);
	}
}

/* The same many at a time, as columns. */
static void
sort_vectors(StrataScanState *scan, const AttrNumber *attnos, int n)
{
	StrataRowVector vector;

	while (strata_row_reader_next(scan, attnos, n, true, &vector))
	{
		CHECK_FOR_INTERRUPTS();
		for (int k = 0; k < vector.nselected; k++)
		{
			int			row = vector.rows != NULL ? vector.rows[k] : k;
			ItemPointerData tid = vector.tids[row];
			TupleTableSlot *out = sort_place(scan, &tid);

			for (int i = 0; i < n; i++)
			{
				int			att = attnos[i] - 1;

				out->tts_values[att] =
					strata_column_get(&vector.columns[att], row,
									  &out->tts_isnull[att]);
			}
			tuplesort_puttupleslot(scan->heap_sort, out);
		}
		ResetExprContext(scan->css.ss.ps.ps_ExprContext);
	}
}

/*
 * Read all of the row store into a sort; only the columns that are needed.
 * All rows are read, so quals may be tried on many together, errors and all.
 */
static void
sort_heap_rows(StrataScanState *scan)
{
	MemoryContext old = MemoryContextSwitchTo(scan->mcxt);
	int			n;
	AttrNumber *attnos = sorted_columns(scan, &n);

	if (RelationGetNumberOfBlocks(scan->css.ss.ss_currentRelation) >=
		VECTORS_MIN_PAGES && strata_row_reader_can_read(scan))
		sort_vectors(scan, attnos, n);
	else
		sort_heap_one_by_one(scan, attnos, n);
	pfree(attnos);
	scan->heap_sorted = true;
	if (scan->heap_sort != NULL)
		tuplesort_performsort(scan->heap_sort);
	MemoryContextSwitchTo(old);
}

/*
 * See scan_private.h.  A sorted row comes in sort_slot, with one column more.
 */
TupleTableSlot *
strata_rowstore_next(StrataScanState *scan)
{
	TupleTableSlot *slot;

	if (scan->heap_done)
		return NULL;
	if (scan->child != NULL)
	{
		scan->child_began = true;
		slot = ExecProcNode(scan->child);
		if (TupIsNull(slot))
			slot = NULL;
	}
	else if (scan->info.nkeys > 0)
	{
		if (!scan->heap_sorted)
			sort_heap_rows(scan);
		slot = scan->heap_sort != NULL &&
			tuplesort_gettupleslot(scan->heap_sort, true, false,
								   scan->sort_slot, NULL) ?
			scan->sort_slot :
			NULL;
	}
	else
		slot = next_unsorted_row(scan);
	if (slot == NULL)
		scan->heap_done =
			ScanDirectionIsForward(scan->css.ss.ps.state->es_direction);
	else
		scan->counters.heap_rows++;
	return slot;
}

/*
 * Return a row of strata_rowstore_next(), projected.  For a sorted row the
 * scan slot becomes one of R's descriptor again.
 */
TupleTableSlot *
strata_rowstore_emit(StrataScanState *scan, TupleTableSlot *slot)
{
	PlanState  *ps = &scan->css.ss.ps;

	if (slot == scan->sort_slot)
	{
		TupleTableSlot *row = scan->row_slot;
		int			natts = row->tts_tupleDescriptor->natts;

		slot_getallattrs(slot);
		ExecClearTuple(row);
		memcpy(row->tts_values, slot->tts_values, sizeof(Datum) * natts);
		memcpy(row->tts_isnull, slot->tts_isnull, sizeof(bool) * natts);
		ExecStoreVirtualTuple(row);
		row->tts_tid = *(ItemPointer) DatumGetPointer(slot->tts_values[natts]);
		row->tts_tableOid = RelationGetRelid(scan->css.ss.ss_currentRelation);
		slot = row;
	}
	Assert(ItemPointerIsValid(&slot->tts_tid) &&
		   OidIsValid(slot->tts_tableOid)); /* scan:R9 */
	scan->css.ss.ss_ScanTupleSlot = slot;
	if (ps->ps_ProjInfo == NULL)
		return slot;
	ps->ps_ExprContext->ecxt_scantuple = slot;
	return ExecProject(ps->ps_ProjInfo);
}
