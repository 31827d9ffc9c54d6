/*-------------------------------------------------------------------------
 *
 * scan_batch_index.c
 *	  Batches found by an index of the table: when that pays, and which.
 *
 * An index of R leads to rows of the row store.  Beside the companion stands a
 * relation that leads from the hashes of a column's values to the batches that
 * may have them (index/).  It is asked for by "column = value" and "column =
 * ANY (array)"; what it leads to is filtered like all batches.
 *
 * src/scan/scan_batch_index.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "index/index.h"
#include "scan/scan_plan_private.h"
#include "scan/scan_source_private.h"
#include "store/store_companion.h"

#include <math.h>

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/tableam.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* Multiples of cpu_tuple_cost: to open it, to decode a row of a run. */
#define COST_OPEN 4.0
#define COST_ROW 5.0

/* Elements of an array that is not known. */
#define UNKNOWN_ELEMENTS 10

/*-------------------------------------------------------------------------
 * Planning
 *-------------------------------------------------------------------------
 */

/* What is known of a column's batch index; index InvalidOid: there is none. */
typedef struct ColumnIndex
{
	AttrNumber	attno;
	Oid			index;
	StrataIndexShape shape;
	double		uncovered;		/* share of the batches */
} ColumnIndex;

/* The share of row numbers that nothing speaks for. */
static double
uncovered_share(StrataStore *store, Snapshot snapshot, int64 covered)
{
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	double		share = 0;

	if (strata_store_find_last_batch(store, snapshot, slot))
	{
		bool		isnull;
		double		last;

		last = (double) DatumGetInt64(slot_getattr(slot,
												   STRATA_BATCH_ATT_FIRST_ROW,
												   &isnull)) + 1;
		share = Max(last - (double) covered, 0) / last;
	}
	ExecDropSingleTupleTableSlot(slot);
	return share;
}

/* Remembered, as it is asked for by each candidate. */
static const ColumnIndex *
column_index(StrataRelInfo *info, AttrNumber attno)
{
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() :
	GetTransactionSnapshot();
	ColumnIndex *known;
	ListCell   *lc;

	foreach(lc, info->batch_indexes)
	{
		known = lfirst(lc);
		if (known->attno == attno)
			return known;
	}
	known = palloc0(sizeof(ColumnIndex));
	known->attno = attno;
	known->index = strata_index_of_column(info->store->rel, attno);
	if (OidIsValid(known->index) &&
		strata_index_shape(info->store, snapshot, attno, &known->shape))
		known->uncovered = uncovered_share(info->store, snapshot,
										   known->shape.covered);
	else
		known->index = InvalidOid;
	info->batch_indexes = lappend(info->batch_indexes, known);
	return known;
}

/* See scan_plan_private.h. */
bool
strata_scan_has_batch_index(StrataRelInfo *info, AttrNumber attno)
{
	return strata_enable_batch_index && attno > 0 &&
		OidIsValid(column_index(info, attno)->index);
}

/* Can the clause be looked up?  Its column's index, or NULL. */
static const ColumnIndex *
clause_index(StrataRelInfo *info, RestrictInfo *rinfo,
			 const StrataColumnOp *op)
{
	const ColumnIndex *found;
	Oid			column;
	Oid			value;

	if (op == NULL || op->strategy != BTEqualStrategyNumber ||
		!OidIsValid(op->op.opno) ||
		!restriction_is_securely_promotable(rinfo, info->rel) ||
		!strata_scan_has_batch_index(info, op->attno))
		return NULL;
	found = column_index(info, op->attno);
	return strata_index_can_look_up(op->op.opno, op->collation, &column,
									&value) &&
		column == found->shape.function ? found : NULL;
}

static double
count_sought(const StrataColumnOp *op)
{
	const Node *value = (const Node *) op->value;

	if (!op->is_array)
		return 1;
	if (IsA(value, Const) && !((const Const *) value)->constisnull)
	{
		ArrayType  *array =
		DatumGetArrayTypeP(((const Const *) value)->constvalue);

		return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	}
	if (IsA(value, ArrayExpr))
		return list_length(((const ArrayExpr *) value)->elements);
	return UNKNOWN_ELEMENTS;
}

/* See scan_plan_private.h. */
void
strata_scan_batch_index(StrataRelInfo *info, List *clauses, bool repeated,
						StrataIndexChoice *choice)
{
	ListCell   *lc;

	memset(choice, 0, sizeof(*choice));
	if (!strata_enable_batch_index || info->size.batches < 2)
		return;
	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		const StrataColumnOp *op = rinfo->pseudoconstant ? NULL :
		strata_scan_clause_op(info, rinfo);
		const ColumnIndex *found = clause_index(info, rinfo, op);
		double		rows;
		double		share;

		if (found == NULL)
			continue;
		rows = info->size.rows *
			clause_selectivity(info->root, (Node *) rinfo,
							   (int) info->rel->relid, JOIN_INNER, NULL);
		/* batches that random rows are in; values of joins are as constants */
		share = 1 - exp(-Max(rows, 1) / info->size.batches);
		share = Min(share + found->uncovered, 1);
		if (OidIsValid(choice->index) && choice->share <= share)
			continue;
		choice->index = found->index;
		choice->attno = found->attno;
		choice->share = share;
		/* a row of each run; the b-tree above has a page for hundreds */
		choice->cost = count_sought(op) * found->shape.nruns *
			(info->random_page_cost + info->seq_page_cost +
			 50 * cpu_operator_cost + COST_ROW * cpu_tuple_cost);
		/* it stays open from one value of a join to the next */
		if (!repeated)
			choice->cost += info->random_page_cost +
				COST_OPEN * cpu_tuple_cost;
	}
}

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

struct StrataIndexSource
{
	MemoryContext mcxt;
	StrataStore *store;
	Snapshot	snapshot;
	AttrNumber	attno;
	StrataIndexLookup *lookup;	/* NULL: not asked yet */
	int			qual;			/* that is looked up; -1: none chosen yet */
	Oid			column;			/* how it hashes the column, */
	FmgrInfo	value;			/* ... and what that is compared with */
	Relation	key;			/* the companion's index on first_row */
	IndexScanDesc scan;
	StrataIndexRange *ranges;
	int			nranges;
	int			at;				/* the range being read; -1, nranges: before,
								 * behind all */
};

/* See scan_source_private.h. */
StrataIndexSource *
strata_index_source_create(StrataStore *store, Snapshot snapshot,
						   AttrNumber attno)
{
	StrataIndexSource *source = palloc0(sizeof(StrataIndexSource));

	source->mcxt = CurrentMemoryContext;
	source->store = store;
	source->snapshot = snapshot;
	source->attno = attno;
	source->qual = -1;
	source->key = index_open(strata_row_index_of(store->batches),
							 AccessShareLock);
	source->scan = strata_index_beginscan(store->batches, source->key,
										  snapshot, 2, 0);
	return source;
}

/* The qual to look up by; NULL: all batches must be read. */
static const FilterNode *
find_qual(StrataIndexSource *source, const StrataFilter *filter)
{
	int			i = -1;
	Oid			value;

	if (source->qual >= 0)
		return filter->quals[source->qual].tree;
	while ((i = strata_filter_find_equality(filter, source->attno,
											i + 1)) >= 0)
	{
		const FilterNode *leaf = filter->quals[i].tree;

		if (!strata_index_can_look_up(leaf->opno, leaf->collation,
									  &source->column, &value))
			continue;
		Assert(filter->quals[i].promotable);	/* scan:R4 */
		source->qual = i;
		fmgr_info_cxt(value, &source->value, source->mcxt);
		return leaf;
	}
	return NULL;
}

/* Hashes of what the column is compared with; returns how many. */
static int
hash_sought(StrataIndexSource *source, const FilterNode *leaf,
			uint32 **hashes)
{
	int			n = leaf->op == FILTER_IN ? leaf->nvalues : 1;

	if (leaf->never)
		n = 0;

	*hashes = palloc_array(uint32, Max(n, 1));
	for (int i = 0; i < n; i++)
		(*hashes)[i] =
			DatumGetUInt32(FunctionCall1Coll(&source->value, leaf->collation,
											 leaf->op == FILTER_IN ?
											 leaf->values[i] : leaf->value));
	return n;
}

/* See scan_source_private.h. */
void
strata_index_source_start(StrataIndexSource *source,
						  const StrataFilter *filter, ScanDirection direction)
{
	const FilterNode *leaf = find_qual(source, filter);
	MemoryContext old = MemoryContextSwitchTo(source->mcxt);

	if (source->ranges != NULL)
		pfree(source->ranges);
	source->ranges = NULL;
	if (leaf == NULL)
	{
		source->ranges = palloc0_array(StrataIndexRange, 1);
		source->ranges[0].to = STRATA_BATCH_MAX_ROW_NUMBER + 1;
		source->nranges = 1;
	}
	else
	{
		uint32	   *hashes;
		int			n = hash_sought(source, leaf, &hashes);

		if (source->lookup == NULL)
			source->lookup = strata_index_lookup_begin(source->store->batches,
													   source->snapshot,
													   source->attno,
													   source->column);
		source->nranges = strata_index_lookup_find(source->lookup, hashes, n,
												   &source->ranges);
		pfree(hashes);
	}
	source->at = ScanDirectionIsBackward(direction) ? source->nranges : -1;
	MemoryContextSwitchTo(old);
}

/* See scan_source_private.h. */
bool
strata_index_source_next(StrataIndexSource *source, ScanDirection direction,
						 TupleTableSlot *slot)
{
	int			step = ScanDirectionIsBackward(direction) ? -1 : 1;

	for (;;)
	{
		ScanKeyData keys[2];

		if (source->at >= 0 && source->at < source->nranges &&
			index_getnext_slot(source->scan, direction, slot))
			return true;
		if (source->at == (step > 0 ? source->nranges : -1))
			return false;
		source->at += step;
		if (source->at < 0 || source->at >= source->nranges)
			return false;
		CHECK_FOR_INTERRUPTS();
		ScanKeyInit(&keys[0], 1, BTGreaterEqualStrategyNumber, F_INT8GE,
					Int64GetDatum(source->ranges[source->at].from));
		ScanKeyInit(&keys[1], 1, BTLessStrategyNumber, F_INT8LT,
					Int64GetDatum(source->ranges[source->at].to));
		index_rescan(source->scan, keys, 2, NULL, 0);
	}
}

/* See scan_source_private.h. */
void
strata_index_source_end(StrataIndexSource *source)
{
	if (source->lookup != NULL)
		strata_index_lookup_end(source->lookup);
	index_endscan(source->scan);
	index_close(source->key, NoLock);
}
