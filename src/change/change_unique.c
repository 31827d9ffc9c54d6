/*-------------------------------------------------------------------------
 *
 * change_unique.c
 *	  Unique keys over compressed rows, which have no index entries.
 *
 * A row about to enter the row store is compared with the batches that may
 * hold its key.  A hit is the violation, or it is moved into the row store, so
 * that ON CONFLICT, or a deferred check, finds it in the unique index.
 *
 * Over 600 lines: the kinds of look-up share the key and what it equals.
 *
 * src/change/change_unique.c
 *-------------------------------------------------------------------------
 */
#include "change/change_place_private.h"

#include "access/genam.h"
#include "access/nbtree.h"
#include "access/sysattr.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_collation_d.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/typcache.h"

/* So many rows of a batch are compared one by one. */
#define FEW_ROWS 2

/* A unique index being checked. */
typedef struct UniqueKey
{
	Relation	index;
	IndexInfo  *info;			/* NULL: plain, and of all rows */
	int			nkeys;
	bool		plain;			/* only columns, no expressions */
	bool		nulls_equal;	/* NULLS NOT DISTINCT */
	ExprState  *predicate;		/* of a partial index */
	Datum		values[INDEX_MAX_KEYS]; /* of the new row */
	bool		isnull[INDEX_MAX_KEYS];
} UniqueKey;

/*-------------------------------------------------------------------------
 * Keys
 *-------------------------------------------------------------------------
 */

/* Can the key equal any other?  One with a null may not. */
static bool
can_equal(const UniqueKey *key)
{
	for (int i = 0; i < key->nkeys; i++)
		if (key->isnull[i] && !key->nulls_equal)
			return false;
	return true;
}

/*
 * What the index says of its keys.  *estate is made when expressions, or a
 * predicate, are to be evaluated.
 */
static void
describe_key(UniqueKey *key, Relation index, EState **estate)
{
	key->index = index;
	key->info = NULL;
	key->nkeys = index->rd_index->indnkeyatts;
	key->plain = heap_attisnull(index->rd_indextuple,
								Anum_pg_index_indexprs, NULL);
	key->nulls_equal = index->rd_index->indnullsnotdistinct;
	key->predicate = NULL;
	if (key->plain && heap_attisnull(index->rd_indextuple,
									 Anum_pg_index_indpred, NULL))
		return;
	if (*estate == NULL)
		*estate = CreateExecutorState();
	key->info = BuildIndexInfo(index);
	if (key->info->ii_Predicate != NIL)
		key->predicate = ExecPrepareQual(key->info->ii_Predicate, *estate);
}

/*
 * Evaluate the new row's key for the unique index; false: not to check.
 */
static bool
init_key(UniqueKey *key, Relation index, TupleTableSlot *slot,
		 EState **estate)
{
	describe_key(key, index, estate);
	if (key->info == NULL)
	{
		for (int i = 0; i < key->nkeys; i++)
			key->values[i] = slot_getattr(slot,
										  index->rd_index->indkey.values[i],
										  &key->isnull[i]);
		return can_equal(key);
	}
	GetPerTupleExprContext(*estate)->ecxt_scantuple = slot;
	if (key->predicate != NULL &&
		!ExecQual(key->predicate, GetPerTupleExprContext(*estate)))
		return false;
	FormIndexDatum(key->info, slot, *estate, key->values, key->isnull);
	for (int i = 0; i < key->nkeys; i++)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(index), i);

		/* rows of batches are evaluated in the same memory */
		if (!key->plain && !key->isnull[i])
			key->values[i] = datumCopy(key->values[i], att->attbyval,
									   att->attlen);
	}
	return can_equal(key);
}

/* Is the new row's key outside of what all batches together hold? */
static bool
outside_ranges(UniqueKey *key, const StrataColumnRange *ranges, TupleDesc desc)
{
	if (!key->plain)
		return false;
	for (int i = 0; i < key->nkeys; i++)
	{
		AttrNumber	attno = key->index->rd_index->indkey.values[i];
		const StrataColumnRange *r = &ranges[attno - 1];
		Form_pg_attribute att = TupleDescAttr(desc, attno - 1);
		Oid			typid = getBaseType(att->atttypid);

		if (key->isnull[i] || !r->known || r->has_nan ||
			!strata_key_has_default_order(key->index, i, typid))
			continue;
		if (strata_range_excludes(r,
								  lookup_type_cache(typid,
													TYPECACHE_CMP_PROC_FINFO),
								  key->values[i]))
			return true;
	}
	return false;
}

static bool
keys_equal(UniqueKey *key, int i, Datum value, bool isnull)
{
	if (isnull || key->isnull[i])
		return isnull && key->isnull[i] && key->nulls_equal;
	/* as the index itself compares */
	return DatumGetInt32(FunctionCall2Coll(index_getprocinfo(key->index,
															 i + 1,
															 BTORDER_PROC),
										   key->index->rd_indcollation[i],
										   value, key->values[i])) == 0;
}

/* Can the loaded batch hold the key?  Looks at metadata only. */
static bool
batch_may_hold(UniqueKey *key, StrataBatchReader *reader)
{
	for (int i = 0; key->plain && i < key->nkeys; i++)
	{
		AttrNumber	attno = key->index->rd_index->indkey.values[i];
		StrataColumn *col;
		const StrataColumnSummary *s;

		if (strata_layout_segment_index(reader->layout, attno) >= 0)
		{
			col = strata_batch_reader_column(reader, attno);
			if (!keys_equal(key, i, col->value, col->value_isnull))
				return false;
			continue;
		}
		s = strata_batch_reader_summary(reader, attno);
		if (s == NULL || key->isnull[i] || !s->has_range || s->has_nan ||
			!strata_key_has_default_order(key->index, i,
										  reader->columns[attno - 1]
										  .type.typid))
			continue;
		if (strata_compare_default(reader->columns[attno - 1].type.typid,
								   key->values[i], s->min) < 0 ||
			strata_compare_default(reader->columns[attno - 1].type.typid,
								   key->values[i], s->max) > 0)
			return false;
	}
	return true;
}

/* Is the key of a row of a batch, from its columns, the new row's? */
static bool
columns_equal(UniqueKey *key, const StrataBatchRow *row)
{
	for (int i = 0; i < key->nkeys; i++)
	{
		bool		isnull;
		Datum		value;

		value = strata_batch_row_value(row,
									   key->index->rd_index->indkey.values[i],
									   &isnull);
		if (!keys_equal(key, i, value, isnull))
			return false;
	}
	return true;
}

/*
 * The same where more than its columns decide: is it in the index at all, and
 * with this key?
 */
static bool
row_equal(UniqueKey *key, Relation rel, const StrataBatchRow *row,
		  EState *estate, TupleTableSlot *row_slot)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	ResetPerTupleExprContext(estate);
	strata_batch_row_store(rel, row, row_slot);
	GetPerTupleExprContext(estate)->ecxt_scantuple = row_slot;
	if (key->predicate != NULL &&
		!ExecQual(key->predicate, GetPerTupleExprContext(estate)))
		return false;
	FormIndexDatum(key->info, row_slot, estate, values, isnull);
	for (int i = 0; i < key->nkeys; i++)
		if (!keys_equal(key, i, values[i], isnull[i]))
			return false;
	return true;
}

/* Does a row of a batch have the new row's key? */
static bool
row_has_key(UniqueKey *key, Relation rel, const StrataBatchRow *row,
			EState *estate, TupleTableSlot *row_slot)
{
	if (key->plain && !columns_equal(key, row))
		return false;
	return key->info == NULL ||
		row_equal(key, rel, row, estate, row_slot);
}

/* Position of attno among the key's columns, or -1. */
static int
key_position(UniqueKey *key, AttrNumber attno)
{
	for (int i = 0; i < key->nkeys; i++)
		if (key->index->rd_index->indkey.values[i] == attno)
			return i;
	return -1;
}

/*
 * Is the batch in the order of the key's column at this position, as its type
 * sorts today?
 */
static bool
is_sorted_by(UniqueKey *key, StrataBatchReader *reader, int position)
{
	const StrataBatchSchema *schema = reader->schema;
	AttrNumber	attno;

	if (position < 0 || reader->layout->norder == 0)
		return false;
	attno = key->index->rd_index->indkey.values[position];
	/* a comparison of texts would go by the column's collation, and the key's */
	return reader->layout->order[0].attno == attno &&
		!key->isnull[position] &&
		!OidIsValid(key->index->rd_indcollation[position]) &&
		schema->min_att[attno] != 0 &&
		strata_batch_schema_same_type(schema, attno, schema->min_att[attno]) &&
		strata_key_has_default_order(key->index, position,
									 reader->columns[attno - 1].type.typid);
}

/*
 * The rows [*from, *to) of a batch that may have the key, by the order of the
 * column that the batch lies in; all of them where the key does not have it.
 */
static void
narrow_by_order(UniqueKey *key, StrataBatchReader *reader, int *from, int *to)
{
	int			position = key->plain && reader->layout->norder > 0 ?
	key_position(key, reader->layout->order[0].attno) : -1;
	StrataColumn *col;
	bool		isnull;

	*from = 0;
	*to = reader->nrows;
	if (!is_sorted_by(key, reader, position))
		return;
	col = strata_batch_reader_column(reader, reader->layout->order[0].attno);
	/* the column is null in all rows, or in none: see StrataLayout */
	(void) strata_column_get(col, 0, &isnull);
	if (isnull)
		return;
	*from = strata_column_find_in_order(reader, col, key->values[position],
										false);
	*to = strata_column_find_in_order(reader, col, key->values[position],
									  true);
}

/*
 * Row number of a live row of the batch with an equal key, other than except,
 * or -1.  Whether a row is live may be known after a wait only.  tid: of the
 * batch, or NULL.  first: the column of the key that tells most rows apart, by
 * its position; -1: none.  *met: some row has the key, live or not.
 */
static int64
find_in_batch(UniqueKey *key, Relation rel, Relation batches,
			  StrataBatchReader *reader, const ItemPointerData *tid,
			  int first, int64 except, EState *estate,
			  TupleTableSlot *row_slot, bool *met)
{
	StrataBatchRow row = {.reader = reader,.first_row = reader->first_row};
	int			from;
	int			to;
	StrataColumn *col = NULL;
	bool		by_bytes = false;

	narrow_by_order(key, reader, &from, &to);
	if (first >= 0 && key->plain && to - from > FEW_ROWS)
		col = strata_batch_reader_column(reader,
										 key->index->rd_index
										 ->indkey.values[first]);
	if (col != NULL && !key->isnull[first])
		by_bytes = strata_equal_has_same_bytes(key->index, first);
	for (int i = from; i < to; i++)
	{
		if (by_bytes &&
			(i = strata_column_find_bytes(col, i, to, key->values[first],
										  col->type.typlen)) == to)
			break;
		if (col != NULL)
		{
			bool		isnull;
			Datum		value = strata_column_get(col, i, &isnull);

			if (!keys_equal(key, first, value, isnull))
				continue;
		}
		row.row = row.first_row + i;
		if (!row_has_key(key, rel, &row, estate, row_slot))
			continue;
		*met = true;
		if (row.row != except &&
			strata_store_row_is_live(rel, batches, row.first_row, row.row,
									 tid))
			return row.row;
	}
	return -1;
}

/*-------------------------------------------------------------------------
 * Candidates: batches that may hold the key
 *-------------------------------------------------------------------------
 */

/*
 * With the key's columns covering the layout's segmentby columns: the segment
 * of the key, by index, then what has another layout.  Else all batches.
 */
typedef enum CandidateStep
{
	STEP_SEGMENT,
	STEP_LOWER_LAYOUTS,
	STEP_HIGHER_LAYOUTS,
	STEP_END
} CandidateStep;

typedef struct Candidates
{
	StrataStore *store;
	Snapshot	snapshot;
	TupleTableSlot *slot;
	TableScanDesc all;			/* without index */
	Relation	index;
	Relation	others;			/* an index by layout, when there may be other
								 * layouts */
	IndexScanDesc scan;
	CandidateStep step;
	StrataLayout *layout;
	bool		single;			/* all batches have it */
	int			nkeys;			/* of the segment step: segments and layout */
	ScanKeyData keys[INDEX_MAX_KEYS];
} Candidates;

static void
init_index_key(Candidates *c, int column, StrategyNumber strategy, Datum value,
			   bool isnull)
{
	Oid			type = c->index->rd_opcintype[column];
	Oid			opr = get_opfamily_member(c->index->rd_opfamily[column], type,
										  type, strategy);

	ScanKeyEntryInitialize(&c->keys[column],
						   isnull ? SK_ISNULL | SK_SEARCHNULL : 0, column + 1,
						   strategy, InvalidOid,
						   c->index->rd_indcollation[column],
						   isnull ? InvalidOid : get_opcode(opr), value);
}

static void
init_layout_key(Candidates *c, int column, StrategyNumber strategy,
				RegProcedure proc)
{
	ScanKeyEntryInitialize(&c->keys[column], 0, column + 1, strategy,
						   InvalidOid, C_COLLATION_OID, proc,
						   CStringGetTextDatum(c->layout->text));
}

/* Can the segment index be used for the key?  Then its scan keys are set. */
static bool
init_segment_keys(Candidates *c, UniqueKey *key)
{
	for (int i = 0; i < c->layout->nsegment; i++)
	{
		AttrNumber	attno = c->layout->segment[i];
		int			position = key_position(key, attno);
		AttrNumber	catt = c->store->schema->seg_att[attno];

		/* both must mean the same by "equal" */
		if (position < 0 || catt == 0 ||
			!strata_batch_schema_same_type(c->store->schema, attno, catt) ||
			key->index->rd_opfamily[position] != c->index->rd_opfamily[i] ||
			key->index->rd_opcintype[position] != c->index->rd_opcintype[i] ||
			key->index->rd_indcollation[position] !=
			c->index->rd_indcollation[i])
			return false;
		init_index_key(c, i, BTEqualStrategyNumber, key->values[position],
					   key->isnull[position]);
	}
	c->nkeys = c->layout->nsegment;
	if (!c->single)
		init_layout_key(c, c->nkeys++, BTEqualStrategyNumber, F_TEXTEQ);
	return true;
}

/*
 * Begin to list batches that may hold a row with the key: by the segment's
 * index where it can, else all.
 */
static void
begin_candidates(Candidates *c, StrataStore *store, UniqueKey *key)
{
	Oid			index;
	Oid			others = InvalidOid;

	memset(c, 0, sizeof(*c));
	c->store = store;
	c->snapshot = RegisterSnapshot(GetLatestSnapshot());
	c->slot = table_slot_create(store->batches, NULL);
	c->layout = strata_store_present_layout(store);
	c->single = strata_store_has_only_layout(store, c->layout->text);
	index = key->plain && c->layout->nsegment > 0 ?
		strata_store_segment_index(store, c->layout, false) : InvalidOid;
	if (OidIsValid(index) && !c->single)
		others = strata_store_layout_index(store, c->layout);
	if (OidIsValid(index) && (c->single || OidIsValid(others)))
	{
		c->index = index_open(index, AccessShareLock);
		if (!init_segment_keys(c, key))
		{
			index_close(c->index, AccessShareLock);
			c->index = NULL;
		}
		else if (!c->single)
			c->others = index_open(others, AccessShareLock);
	}
	if (c->index == NULL)
		c->all = table_beginscan(store->batches, c->snapshot, 0, NULL);
}

/* Begin the scan of the present step. */
static void
begin_step(Candidates *c)
{
	bool		segment = c->step == STEP_SEGMENT;
	int			nkeys = segment ? c->nkeys : 1;

	if (c->step == STEP_LOWER_LAYOUTS)
		init_layout_key(c, 0, BTLessStrategyNumber, F_TEXT_LT);
	else if (c->step == STEP_HIGHER_LAYOUTS)
		init_layout_key(c, 0, BTGreaterStrategyNumber, F_TEXT_GT);
	c->scan = strata_index_beginscan(c->store->batches,
									 segment ? c->index : c->others,
									 c->snapshot, nkeys, 0);
	index_rescan(c->scan, c->keys, nkeys, NULL, 0);
}

/* Next batch row into c->slot. */
static bool
next_candidate(Candidates *c)
{
	if (c->all != NULL)
		return table_scan_getnextslot(c->all, ForwardScanDirection, c->slot);
	for (; c->step < (c->single ? STEP_LOWER_LAYOUTS : STEP_END); c->step++)
	{
		if (c->scan == NULL)
			begin_step(c);
		if (strata_index_getnext_slot(c->scan, ForwardScanDirection, c->slot))
			return true;
		index_endscan(c->scan);
		c->scan = NULL;
	}
	return false;
}

static void
end_candidates(Candidates *c)
{
	if (c->all != NULL)
		table_endscan(c->all);
	if (c->scan != NULL)
		index_endscan(c->scan);
	if (c->index != NULL)
		index_close(c->index, AccessShareLock);
	if (c->others != NULL)
		index_close(c->others, AccessShareLock);
	ExecDropSingleTupleTableSlot(c->slot);
	UnregisterSnapshot(c->snapshot);
}

/* No row, but an answer that was not looked for. */
#define ROW_NOT_SOUGHT (-2)

/*
 * First live compressed row with the key, other than `except`, or -1: in all
 * batches that may have it.  few: not where neither a batch index nor the
 * segment says that these are few; ROW_NOT_SOUGHT then.
 */
static int64
find_row_anywhere(StrataStore *store, UniqueKey *key, int64 except,
				  EState *estate, TupleTableSlot *row_slot, bool few)
{
	Candidates	candidates;
	StrataBatchReader *reader = strata_batch_reader_create(store->rel,
														   store->schema);
	StrataKeyPlace place = {.position = -1};
	StrataIndexRange *ranges = NULL;
	StrataPlaceScan scan;
	int			nranges = 0;
	bool		met = false;
	int64		row = -1;

	begin_candidates(&candidates, store, key);
	if (strata_enable_batch_index)
		strata_key_place_choose(store, candidates.snapshot, key->index,
								&place);
	if (place.position >= 0 && !key->isnull[place.position])
		nranges = strata_key_place_find(&place, store->batches,
										candidates.snapshot,
										key->values[place.position], &ranges);
	if (ranges != NULL)
		strata_key_places_begin(&scan, store->batches, candidates.snapshot,
								ranges, nranges);
	else if (few && candidates.index == NULL)
		row = ROW_NOT_SOUGHT;
	else if (candidates.layout->norder > 0)
		place.position = key_position(key, candidates.layout->order[0].attno);
	while (row == -1 &&
		   (ranges != NULL ? strata_key_places_next(&scan, candidates.slot) :
			next_candidate(&candidates)))
	{
		CHECK_FOR_INTERRUPTS();
		if (!strata_batch_reader_load(reader, candidates.slot) ||
			!batch_may_hold(key, reader))
			continue;
		row = find_in_batch(key, store->rel, store->batches, reader, NULL,
							place.position, except, estate, row_slot, &met);
	}
	if (ranges != NULL)
		strata_key_places_end(&scan);
	strata_batch_reader_free(reader);
	end_candidates(&candidates);
	return row;
}

/*
 * Fingerprints of a batch's keys, put into the directory; NULL: the batch is
 * gone.  In the current context, sorted.
 */
static StrataKeyPrint *
make_prints(Relation rel, Relation batches, UniqueKey *key,
			StrataKeyDirectory *directory, int line, int64 first_row,
			EState *estate, TupleTableSlot *row_slot)
{
	ItemPointerData tid;
	StrataBatchReader *reader = strata_cached_batch(rel, batches, first_row,
													&tid);
	StrataKeyPrint *prints;
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	if (reader == NULL)
		return NULL;
	prints = palloc(sizeof(StrataKeyPrint) * reader->nrows);
	for (int row = 0; row < reader->nrows; row++)
	{
		if (key->plain)
			for (int i = 0; i < key->nkeys; i++)
			{
				AttrNumber	attno = key->index->rd_index->indkey.values[i];

				values[i] =
					strata_column_get(strata_batch_reader_column(reader,
																 attno),
									  row, &isnull[i]);
			}
		else
		{
			ResetPerTupleExprContext(estate);
			strata_batch_store_row(rel, reader, row, row_slot);
			GetPerTupleExprContext(estate)->ecxt_scantuple = row_slot;
			FormIndexDatum(key->info, row_slot, estate, values, isnull);
		}
		prints[row].print = strata_key_print(directory, values, isnull);
		prints[row].row = row;
	}
	strata_key_batch_set_prints(directory, line, prints);
	return prints;
}

/*
 * The row of the batch at line with the key, as above; by fingerprints, or by
 * the key's column at position first.  told: the batch is one of few that have
 * its value.  *met: a row may have the key, live or not.
 */
static int64
find_in_line(Relation rel, Relation batches, UniqueKey *key,
			 StrataKeyDirectory *directory, int line, uint32 print,
			 int64 except, EState *estate, TupleTableSlot *row_slot,
			 int first_key, bool told, bool *met)
{
	int			nrows;
	int			first;
	int			last;
	StrataKeyPrint *prints;
	int64		first_row = strata_key_batch(directory, line, &nrows, &prints);

	/* expressions may load other batches in this one's place */
	if (prints == NULL && key->info == NULL)
	{
		bool		none = !strata_key_batch_wants_prints(directory);
		bool		scans = told &&
		strata_equal_has_same_bytes(key->index, first_key);
		bool		seldom = !told && first_key >= 0 &&
		strata_key_batch_is_asked_seldom(directory, line);
		StrataBatchReader *reader = NULL;
		ItemPointerData tid;

		none = none || scans;
		if (none || seldom)
			reader = strata_cached_batch(rel, batches, first_row, &tid);
		if (reader != NULL && (none || is_sorted_by(key, reader, first_key)))
			return find_in_batch(key, rel, batches, reader, &tid, first_key,
								 except, estate, row_slot, met);
		if (none)
		{
			*met = true;
			return -1;
		}
	}
	if (prints == NULL)
		prints = make_prints(rel, batches, key, directory, line, first_row,
							 estate, row_slot);
	if (prints == NULL)
	{
		*met = true;
		return -1;
	}
	first = strata_key_find_print(prints, nrows, print);
	for (last = first; last < nrows && prints[last].print == print;)
		last++;
	if (first == last)
		return -1;
	*met = true;
	/* index expressions may have others made, and these go */
	prints = memcpy(palloc(sizeof(StrataKeyPrint) * (last - first)),
					prints + first, sizeof(StrataKeyPrint) * (last - first));
	for (int i = 0; i < last - first; i++)
	{
		int64		row = first_row + prints[i].row;
		StrataBatchRow found;

		if (row == except)
			continue;
		if (!strata_batch_row_find(rel, batches, row, &found))
			return -1;
		if (row_has_key(key, rel, &found, estate, row_slot) &&
			strata_store_row_is_live(rel, batches, first_row, row,
									 &found.batch_tid))
			return row;
	}
	return -1;
}

/* The same by the directory. */
static int64
find_row_in(StrataKeyDirectory *directory, Relation rel, Relation batches,
			UniqueKey *key, int64 except, EState *estate,
			TupleTableSlot *row_slot)
{
	uint32		print = strata_key_print(directory, key->values, key->isnull);
	StrataKeySearch search;
	StrataKeyPlace place;
	StrataIndexRange *ranges = NULL;
	int			nranges = 0;
	int64		after = -1;
	int64		row = -1;
	bool		met = false;
	int			line;

	strata_key_search_begin(&search, directory, key->values, key->isnull);
	Assert(CheckRelationLockedByMe(rel, RowExclusiveLock, true));	/* change:X1 */
	/* who has looked for a conflict looks again when he inserts */
	if (strata_key_is_absent(&search))
		return -1;
	if (strata_key_search_asks(&search, key->isnull, &place))
		nranges = strata_key_search_places(&search, batches,
										   key->values[place.position],
										   &ranges);
	while (row < 0 &&
		   (line = ranges == NULL ? strata_key_search_next(&search) :
			strata_key_next_in_places(directory, ranges, nranges,
									  &after)) >= 0)
	{
		CHECK_FOR_INTERRUPTS();
		row = find_in_line(rel, batches, key, directory, line, print, except,
						   estate, row_slot,
						   ranges != NULL ? place.position :
						   strata_key_search_position(&search),
						   ranges != NULL, &met);
	}
	if (ranges != NULL)
		pfree(ranges);
	if (!met)
		strata_key_note_absent(&search);
	return row;
}

/* First live compressed row with the key, other than `except`, or -1. */
static int64
find_row(Relation rel, UniqueKey *key, int64 except, EState *estate)
{
	Relation	batches = table_open(strata_companion_oid(rel),
									 RowExclusiveLock);
	StrataKeyDirectory *directory;
	TupleTableSlot *row_slot = NULL;
	int64		row = -1;

	if (key->info != NULL)
		row_slot = MakeSingleTupleTableSlot(RelationGetDescr(rel),
											&TTSOpsVirtual);
	directory = strata_key_directory_get(batches, key->index);
	if (directory == NULL)
	{
		StrataStore *store = strata_store_open(rel, RowExclusiveLock);
		bool		few = !strata_key_directory_pays(batches, key->index);

		row = few ? find_row_anywhere(store, key, except, estate, row_slot,
									  true) : ROW_NOT_SOUGHT;
		if (row == ROW_NOT_SOUGHT)
			directory = strata_key_directory_open(store, key->index);
		if (row == ROW_NOT_SOUGHT && directory == NULL)
			row = find_row_anywhere(store, key, except, estate, row_slot,
									false);
		strata_store_close(store, NoLock);
	}
	if (directory != NULL)
		row = find_row_in(directory, rel, batches, key, except, estate,
						  row_slot);
	if (row_slot != NULL)
		ExecDropSingleTupleTableSlot(row_slot);
	table_close(batches, NoLock);
	return row;
}

/* What the index would say. */
static void
raise_violation(Relation rel, UniqueKey *key)
{
	char	   *description = BuildIndexValueDescription(key->index,
														 key->values,
														 key->isnull);

	ereport(ERROR,
			(errcode(ERRCODE_UNIQUE_VIOLATION),
			 errmsg("duplicate key value violates unique constraint \"%s\"",
					RelationGetRelationName(key->index)),
			 description != NULL ?
			 errdetail("Key %s already exists.", description) :
			 0,
			 errtableconstraint(rel, RelationGetRelationName(key->index))));
}

/* True when a row had to be moved. */
static bool
check_key(Relation rel, UniqueKey *key, int64 except, bool raise,
		  EState *estate)
{
	int64		row = find_row(rel, key, except, estate);

	if (row < 0)
		return false;
	if (raise && key->index->rd_index->indimmediate)
		raise_violation(rel, key);
	else
	{
		ItemPointerData tid;
		TM_FailureData tmfd;

		/* whatever the result: that row is not in its batch any more */
		(void) strata_store_move_row(rel, row, LockWaitBlock,
									 GetCurrentCommandId(true), &tid, &tmfd);
	}
	return true;
}

/* See change.h. */
void
strata_store_check_unique(Relation rel, TupleTableSlot *slot, int64 except,
						  StrataDuplicate duplicate)
{
	List	   *indexes;
	ListCell   *lc;
	EState	   *estate = NULL;

	if (!rel->rd_rel->relhasindex || !OidIsValid(strata_companion_oid(rel)))
		return;
	indexes = RelationGetIndexList(rel);
	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		if (index->rd_index->indisunique && index->rd_index->indisready)
		{
			UniqueKey	key;

			/* ranges are asked for each time: a move may invalidate them */
			if (init_key(&key, index, slot, &estate) &&
				!outside_ranges(&key, strata_store_ranges(rel),
								RelationGetDescr(rel)))
				(void) check_key(rel, &key, except,
								 duplicate == STRATA_DUPLICATE_RAISE, estate);
		}
		index_close(index, AccessShareLock);
	}
	if (estate != NULL)
		FreeExecutorState(estate);
	list_free(indexes);
}

/* A key given by its values; false: no row of any batch has it. */
static bool
given_key(UniqueKey *key, Relation rel, Relation index, const Datum *values,
		  const bool *isnull, EState **estate)
{
	if (!OidIsValid(strata_companion_oid(rel)))
		return false;
	describe_key(key, index, estate);
	memcpy(key->values, values, sizeof(Datum) * key->nkeys);
	memcpy(key->isnull, isnull, sizeof(bool) * key->nkeys);
	return can_equal(key) && !outside_ranges(key, strata_store_ranges(rel),
											 RelationGetDescr(rel));
}

/* See change.h. */
void
strata_store_uncover(Relation rel, Relation index, const Datum *values,
					 const bool *isnull)
{
	EState	   *estate = NULL;
	UniqueKey	key;
	bool		found = given_key(&key, rel, index, values, isnull, &estate);

	while (found)
		found = check_key(rel, &key, -1, false, estate) &&
			!index->rd_index->indisunique;
	if (estate != NULL)
		FreeExecutorState(estate);
}

/* See change.h. */
int64
strata_store_find_key(Relation rel, Relation index, const Datum *values,
					  const bool *isnull)
{
	EState	   *estate = NULL;
	UniqueKey	key;
	int64		row = -1;

	if (given_key(&key, rel, index, values, isnull, &estate))
		row = find_row(rel, &key, -1, estate);
	if (estate != NULL)
		FreeExecutorState(estate);
	return row;
}

/*-------------------------------------------------------------------------
 * Does an update change a key?
 *-------------------------------------------------------------------------
 */

/* Does slot's row differ from the row of a batch in one of these columns? */
static bool
columns_differ(Relation rel, Bitmapset *attrs, const StrataBatchRow *row,
			   TupleTableSlot *slot)
{
	bool		differ = false;
	int			attno = -1;

	while (!differ && (attno = bms_next_member(attrs, attno)) >= 0)
	{
		Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel),
											  attno - 1);
		bool		old_null;
		bool		new_null;
		Datum		new_value = slot_getattr(slot, attno, &new_null);
		Datum		old_value = strata_batch_row_value(row, attno, &old_null);

		differ = old_null != new_null ||
			(!old_null && !datum_image_eq(old_value, new_value,
										  att->attbyval, att->attlen));
	}
	return differ;
}

/* See change_private.h. */
bool
strata_unique_key_changes(Relation rel, const StrataBatchRow *row,
						  TupleTableSlot *slot)
{
	bool		changes;
	Bitmapset  *attrs = strata_store_unique_columns(rel, &changes);

	changes = changes || columns_differ(rel, attrs, row, slot);
	bms_free(attrs);
	return changes;
}

/* See change_private.h. */
bool
strata_reference_key_changes(Relation rel, const StrataBatchRow *row,
							 TupleTableSlot *slot)
{
	Bitmapset  *offset = RelationGetIndexAttrBitmap(rel,
													INDEX_ATTR_BITMAP_KEY);
	Bitmapset  *attrs = NULL;
	int			member = -1;
	bool		changes;

	while ((member = bms_next_member(offset, member)) >= 0)
		if (member + FirstLowInvalidHeapAttributeNumber > 0)
			attrs = bms_add_member(attrs,
								   member +
								   FirstLowInvalidHeapAttributeNumber);
	changes = columns_differ(rel, attrs, row, slot);
	bms_free(attrs);
	bms_free(offset);
	return changes;
}
