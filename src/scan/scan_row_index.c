/*-------------------------------------------------------------------------
 *
 * scan_row_index.c
 *	  Few rows of the row store, by an index of the table.
 *
 * For who knows, when batches have been read, that only some rows of the row
 * store can matter: those on one side of a value, or the row with the greatest
 * (least) value for each value of a key.  An index of the table is an index of
 * its row store.  Which one, and whether it is worth it, is decided when the
 * query runs: the plan does not know how many rows came late.
 *
 * src/scan/scan_row_index.c
 *-------------------------------------------------------------------------
 */
#include "scan/filter_subplan_private.h"
#include "scan/scan_private.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "access/stratnum.h"
#include "access/transam.h"
#include "access/xact.h"
#include "base/compat.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_index.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

/*
 * A row by an index costs as much as so many rows in their order; there are
 * some hundred on a page.
 */
#define ROWS_PER_PAGE 8
#define FREE_ROWS 64

/*
 * The first row of a group by an index, as so many rows in their order, which
 * are read by vectors or one by one.
 */
#define VECTOR_ROWS_PER_GROUP 128
#define ROWS_PER_GROUP 32

/* Conditions of a scan by a bound: its own, and those of the query. */
#define MAX_BOUND_KEYS 8

/* Where the values of a key are looked for. */
typedef enum KeyStage
{
	KEY_VALUES,					/* those that are not null */
	KEY_NULLS,
	KEY_DONE
} KeyStage;

struct StrataRowIndex
{
	Relation	index;
	IndexScanDesc desc;
	ScanDirection direction;
	int64		budget;			/* rows it may look at */
	bool		grouped;
	/* grouped */
	AttrNumber	key;			/* column of the table; 0: one group */
	KeyStage	stage;
	StrategyNumber beyond;		/* values behind the present one */
	Datum		present;
	bool		has_present;
	MemoryContext mcxt;			/* of present, and of the bound */
};

/*-------------------------------------------------------------------------
 * The index
 *-------------------------------------------------------------------------
 */

/* Is the index's column i (from 0) that of the table, in its usual order? */
static bool
is_plain_column(Relation rel, Relation index, int i, AttrNumber attno)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	TypeCacheEntry *typcache =
	lookup_type_cache(att->atttypid, TYPECACHE_BTREE_OPFAMILY);

	return i < IndexRelationGetNumberOfKeyAttributes(index) &&
		index->rd_index->indkey.values[i] == attno &&
		index->rd_opfamily[i] == typcache->btree_opf &&
		index->rd_indcollation[i] == att->attcollation;
}

/* See scan_private.h. */
bool
strata_row_index_is_usable(Relation index)
{
	const FormData_pg_index *form = index->rd_index;

	return form->indisvalid && form->indisready && form->indislive &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL) &&
		(!form->indcheckxmin ||
		 TransactionIdPrecedes(HeapTupleHeaderGetXmin(index->rd_indextuple
													  ->t_data),
							   TransactionXmin));
}

/*
 * Open an index that begins with these columns, the second 0 if there need be
 * one only; NULL: there is none.
 */
static Relation
open_index_on(Relation rel, AttrNumber first, AttrNumber second)
{
	List	   *indexes = RelationGetIndexList(rel);
	Relation	found = NULL;
	ListCell   *lc;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_rel->relam == BTREE_AM_OID &&
			strata_row_index_is_usable(index) &&
			is_plain_column(rel, index, 0, first) &&
			(second == 0 || is_plain_column(rel, index, 1, second)))
		{
			found = index;
			break;
		}
		index_close(index, NoLock);
	}
	list_free(indexes);
	return found;
}

/*
 * Can rows of the row store be read so, none of which has been read yet?  In
 * place of a child's, too: the scan has all of its quals.
 */
static bool
can_use_index(const StrataScanState *scan)
{
	Assert(scan->info.nkeys == 0);	/* scan:R11 */
	return enable_indexscan && !scan->child_began &&
		!scan->css.ss.ps.plan->parallel_aware &&
		scan->heap_pscan == NULL && scan->heap_scan == NULL &&
		scan->row_index == NULL && !scan->heap_done;
}

/* As many rows as a child would give cost as much by any index. */
static StrataRowIndex *
create_row_index(StrataScanState *scan, Relation index, int nkeys,
				 bool backward)
{
	Relation	rel = scan->css.ss.ss_currentRelation;
	MemoryContext old = MemoryContextSwitchTo(scan->mcxt);
	StrataRowIndex *rows = palloc0(sizeof(StrataRowIndex));

	rows->index = index;
	rows->direction = backward ? BackwardScanDirection : ForwardScanDirection;
	rows->budget = FREE_ROWS +
		(int64) ROWS_PER_PAGE * RelationGetNumberOfBlocks(rel);
	if (scan->child != NULL)
		rows->budget = Min(rows->budget,
						   FREE_ROWS + (int64) scan->child->plan->plan_rows);
	rows->desc = strata_index_beginscan(rel, index,
										scan->css.ss.ps.state->es_snapshot,
										nkeys, 0);
	rows->mcxt = AllocSetContextCreate(scan->mcxt, "StrataScan key",
									   ALLOCSET_SMALL_SIZES);
	MemoryContextSwitchTo(old);
	return rows;
}

/* See scan_private.h. */
void
strata_row_index_end(StrataScanState *scan)
{
	StrataRowIndex *rows = scan->row_index;

	if (rows == NULL)
		return;
	ExecClearTuple(scan->table_slot);
	index_endscan(rows->desc);
	index_close(rows->index, NoLock);
	MemoryContextDelete(rows->mcxt);
	pfree(rows);
	scan->row_index = NULL;
}

/* "The index's first column <strategy> value". */
static void
set_condition(const StrataRowIndex *rows, StrategyNumber strategy, Datum value,
			  ScanKey key)
{
	Oid			type = rows->index->rd_opcintype[0];
	Oid			operator = get_opfamily_member(rows->index->rd_opfamily[0],
											   type, type, (int16) strategy);

	if (!OidIsValid(operator))
		elog(ERROR, "missing operator %d of type %u", strategy, type);
	ScanKeyEntryInitialize(key, 0, 1, strategy, InvalidOid,
						   rows->index->rd_indcollation[0],
						   get_opcode(operator), value);
}

/*
 * A copy of a value of that column, for a key of the scan: it lives until the
 * scan ends, or the context is reset.
 */
static Datum
copy_argument(const StrataRowIndex *rows, Form_pg_attribute att, Datum value)
{
	MemoryContext old = MemoryContextSwitchTo(rows->mcxt);

	if (att->attlen == -1)
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	value = datumCopy(value, att->attbyval, att->attlen);
	MemoryContextSwitchTo(old);
	return value;
}

/*-------------------------------------------------------------------------
 * Rows on one side of a value
 *-------------------------------------------------------------------------
 */

/*
 * What the query says of the index's first column: rows on the other side of
 * that, of which there may be many, are not looked at.  Returns how many keys
 * there are by now.
 */
static int
add_conditions(const StrataScanState *scan, Relation index, ScanKey keys,
			   int nkeys)
{
	Assert(scan->filter->prepared); /* scan:R20 */
	for (int i = 0; i < scan->filter->nown && strata_enable_pruning; i++)
	{
		const StrataQual *qual = &scan->filter->quals[i];
		const FilterNode *leaf = qual->tree;

		if (nkeys == MAX_BOUND_KEYS)
			break;
		if (qual->promotable && leaf->op == FILTER_COMPARE &&
			leaf->attno == index->rd_index->indkey.values[0] &&
			OidIsValid(leaf->opno) && OidIsValid(leaf->same) &&
			leaf->order == STRATA_ORDER_TOTAL && !leaf->never &&
			leaf->opfamily == index->rd_opfamily[0] &&
			leaf->lefttype == index->rd_opcintype[0] &&
			(!OidIsValid(index->rd_indcollation[0]) ||
			 leaf->collation == index->rd_indcollation[0]))
			ScanKeyEntryInitialize(&keys[nkeys++], 0, 1,
								   (StrategyNumber) leaf->strategy,
								   leaf->boundtype == leaf->lefttype ?
								   InvalidOid : leaf->boundtype,
								   index->rd_indcollation[0], leaf->same,
								   leaf->value);
	}
	return nkeys;
}

/* See scan_vector.h. */
bool
strata_scan_rows_by_bound(PlanState *node, AttrNumber attno, bool greatest,
						  bool inclusive, Datum bound)
{
	StrataScanState *scan = (StrataScanState *) node;
	Relation	rel = scan->css.ss.ss_currentRelation;
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	StrataRowIndex *rows;
	Relation	index;
	StrategyNumber strategy;
	ScanKeyData keys[MAX_BOUND_KEYS];
	int			nkeys;
	int64		n = 0;

	if (!can_use_index(scan) || RelationGetNumberOfBlocks(rel) == 0)
		return false;
	index = open_index_on(rel, attno, 0);
	if (index == NULL)
		return false;
	strategy = greatest ?
		(inclusive ? BTGreaterEqualStrategyNumber : BTGreaterStrategyNumber) :
		(inclusive ? BTLessEqualStrategyNumber : BTLessStrategyNumber);
	/* a table without batches has not needed it so far */
	if (!scan->filter->prepared)
		strata_filter_prepare(scan->filter, scan->run.econtext);
	nkeys = add_conditions(scan, index, keys, 1);
	Assert(nkeys <= MAX_BOUND_KEYS);	/* scan:R14 */
	rows = create_row_index(scan, index, nkeys, false);
	/* the caller's value changes while rows come */
	set_condition(rows, strategy, copy_argument(rows, att, bound), &keys[0]);
	scan->row_index = rows;
	/* entries are counted first, which is cheap */
	index_rescan(rows->desc, keys, nkeys, NULL, 0);
	while (n <= rows->budget &&
		   strata_index_getnext_tid(rows->desc, ForwardScanDirection) != NULL)
		n++;
	if (n > rows->budget)
	{
		strata_row_index_end(scan);
		return false;
	}
	index_rescan(rows->desc, keys, nkeys, NULL, 0);
	return true;
}

/*-------------------------------------------------------------------------
 * The best row for each value of a key
 *-------------------------------------------------------------------------
 */

/* Stand before the rows of the next value. */
static void
start_group(StrataRowIndex *rows)
{
	ScanKeyData key;

	if (rows->stage == KEY_NULLS)
		ScanKeyEntryInitialize(&key, SK_ISNULL | SK_SEARCHNULL, 1,
							   InvalidStrategy, InvalidOid, InvalidOid,
							   InvalidOid, (Datum) 0);
	else if (!rows->has_present)
		ScanKeyEntryInitialize(&key, SK_ISNULL | SK_SEARCHNOTNULL, 1,
							   InvalidStrategy, InvalidOid, InvalidOid,
							   InvalidOid, (Datum) 0);
	else
		set_condition(rows, rows->beyond, rows->present, &key);
	index_rescan(rows->desc, &key, 1, NULL, 0);
}

/* About how many rows the row store has room for. */
static double
row_store_rows(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	int			width = MAXALIGN(SizeofHeapTupleHeader) + sizeof(ItemIdData);

	for (int i = 0; i < desc->natts; i++)
		width += TupleDescAttr(desc, i)->attlen > 0 ?
			TupleDescAttr(desc, i)->attlen : 16;
	return (double) RelationGetNumberOfBlocks(rel) * BLCKSZ / width;
}

/* See scan_vector.h. */
bool
strata_scan_rows_by_group(PlanState *node, AttrNumber key, AttrNumber by,
						  bool last, uint32 nvalues)
{
	StrataScanState *scan = (StrataScanState *) node;
	Relation	rel = scan->css.ss.ss_currentRelation;
	StrataRowIndex *rows;
	Relation	index;
	bool		backward;

	/* a row without a value would be the first of its group */
	if (!can_use_index(scan) || scan->child != NULL ||
		RelationGetNumberOfBlocks(rel) == 0 ||
		!strata_attribute_is_not_null(RelationGetDescr(rel), by))
		return false;
	if ((double) nvalues *
		(strata_scan_gives_row_vectors(node) ? VECTOR_ROWS_PER_GROUP :
		 ROWS_PER_GROUP) > row_store_rows(rel))
		return false;
	index = open_index_on(rel, key, by);
	if (index == NULL)
		return false;
	backward = ((index->rd_indoption[1] & INDOPTION_DESC) != 0) != last;
	rows = create_row_index(scan, index, 1, backward);
	rows->grouped = true;
	rows->key = key;
	rows->beyond =
		((index->rd_indoption[0] & INDOPTION_DESC) != 0) != backward ?
		BTLessStrategyNumber : BTGreaterStrategyNumber;
	scan->row_index = rows;
	start_group(rows);
	return true;
}

/* The value of the row that is returned becomes the present one. */
static void
keep_value(StrataRowIndex *rows, TupleTableSlot *slot)
{
	Form_pg_attribute att = TupleDescAttr(slot->tts_tupleDescriptor,
										  rows->key - 1);
	bool		isnull;
	Datum		value = slot_getattr(slot, rows->key, &isnull);

	Assert(isnull == (rows->stage == KEY_NULLS));	/* scan:R14 */
	if (isnull)
	{
		rows->stage = KEY_DONE;
		return;
	}
	if (!att->attbyval)
		MemoryContextReset(rows->mcxt);
	rows->present = copy_argument(rows, att, value);
	rows->has_present = true;
}

/*-------------------------------------------------------------------------
 * Rows
 *-------------------------------------------------------------------------
 */

/*
 * The next row that passes the quals, wherever it is; NULL: none is left, or
 * too many have been looked at.  Entries of rows that are gone count, too.
 */
static TupleTableSlot *
next_passing(StrataScanState *scan)
{
	StrataRowIndex *rows = scan->row_index;
	ExprContext *econtext = scan->css.ss.ps.ps_ExprContext;
	ExprState  *qual = strata_scan_qual(scan);

	while ((!rows->grouped || rows->budget >= 0) &&
		   strata_index_getnext_tid(rows->desc, rows->direction) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		rows->budget--;
		if (!index_fetch_heap(rows->desc, scan->table_slot))
			continue;
		econtext->ecxt_scantuple = scan->table_slot;
		if (qual == NULL || strata_qual_passes(scan->filter, qual, econtext))
			return scan->table_slot;
		InstrCountFiltered1(&scan->css, 1);
		ResetExprContext(econtext);
	}
	return NULL;
}

/* The best row of the next group; NULL at the end. */
static TupleTableSlot *
next_of_group(StrataScanState *scan)
{
	StrataRowIndex *rows = scan->row_index;
	TupleTableSlot *slot;

	while (rows->stage != KEY_DONE && rows->budget >= 0)
	{
		slot = next_passing(scan);
		if (slot != NULL)
		{
			keep_value(rows, slot);
			return slot;
		}
		rows->stage = rows->stage == KEY_VALUES ? KEY_NULLS : KEY_DONE;
		if (rows->stage == KEY_NULLS)
			start_group(rows);
	}
	return NULL;
}

/* See scan_vector.h. */
TupleTableSlot *
strata_scan_next_indexed_row(PlanState *node, bool *gave_up)
{
	StrataScanState *scan = (StrataScanState *) node;
	StrataRowIndex *rows = scan->row_index;
	TupleTableSlot *slot;

	*gave_up = false;
	strata_scan_share_subplans(scan);
	if (node->instrument)
		InstrStartNode(node->instrument);
	ResetExprContext(node->ps_ExprContext);
	if (rows->grouped && rows->has_present && rows->stage == KEY_VALUES)
		start_group(rows);
	slot = rows->grouped ? next_of_group(scan) : next_passing(scan);
	if (slot != NULL)
		scan->counters.heap_rows++;
	else
	{
		*gave_up = rows->grouped && rows->budget < 0;
		scan->heap_done = !*gave_up;
		scan->nindexed += !*gave_up;
		strata_row_index_end(scan);
	}
	if (node->instrument)
		InstrStopNode(node->instrument, slot != NULL ? 1.0 : 0.0);
	return slot;
}
