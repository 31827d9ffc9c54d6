/*-------------------------------------------------------------------------
 *
 * rollup_write.c
 *	  Have the archive say what the rows say: of a range of whole buckets.
 *
 * Where the archive has no rows they are inserted as they come; of many
 * buckets at once straight into batches, as most will not change.  Else what
 * is there is compared with what should be, byte by byte, and only rows that
 * differ are deleted and inserted: a late row changes one row of the archive.
 * What is there has to fit into memory for that; a range of which it does not
 * is halved.
 *
 * Over 600 lines: the comparison and its two ways out.
 *
 * src/rollup/rollup_write.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_busy_private.h"
#include "rollup/rollup_private.h"

#include "base/base.h"
#include "hypertable/hypertable.h"
#include "load/load.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "tcop/dest.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"

/* What a row of the archive takes in memory, beside its columns. */
#define ROW_OVERHEAD 100

/* Columns of the query of what is there, before those of the archive. */
#define NLEADING 2

#define FRESH_ROWS "strata_fresh_rows"

/* As many buckets, from which on a group's rows are worth a batch. */
#define MANY_BUCKETS 32

/* A row that is there. */
typedef struct ArchiveRow
{
	struct ArchiveRow *next;	/* of the same hash */
	Oid			chunk;
	ItemPointerData tid;
	bool		stays;
	MinimalTuple tuple;			/* the archive's columns */
} ArchiveRow;

typedef struct ArchiveRows
{
	uint32		hash;			/* key */
	ArchiveRow *rows;
} ArchiveRows;

/* The comparison of a range. */
typedef struct RowComparison
{
	DestReceiver dest;			/* first: of the query that runs */
	MemoryContext mcxt;			/* for rows */
	TupleDesc	desc;			/* of the archive's columns */
	TupleTableSlot *slot;		/* of the row that is compared with */
	HTAB	   *there;
	Tuplestorestate *fresh;
	int64		nfresh;
} RowComparison;

/*-------------------------------------------------------------------------
 * Texts
 *-------------------------------------------------------------------------
 */

/* See rollup_private.h. */
char *
strata_rollup_partials_text(const StrataRollup *rollup, StrataRange range)
{
	Query	   *query = strata_rollup_partials(rollup);
	StrataRanges ranges = {0};

	strata_ranges_add(&ranges, range);
	strata_rollup_add_qual(query, strata_rollup_time_in(rollup, &ranges));
	return pg_get_querydef(query, false);
}

/* See rollup_private.h. */
void
strata_rollup_append_quals(StringInfo sql, const char *column, Oid type,
						   StrataRange range)
{
	Oid			output;
	bool		is_varlena;
	const char *op = "WHERE";

	getTypeOutputInfo(type, &output, &is_varlena);
	for (int i = 0; i < 2; i++)
	{
		int64		time = i == 0 ? range.lo : range.hi;
		bool		open = time == PG_INT64_MIN || time == PG_INT64_MAX;

		/* infinities are in no bucket; integers have none */
		if (open && strata_time_type_is_integer(type))
			continue;
		appendStringInfo(sql, " %s %s %s%s %s::%s", op, column,
						 i == 0 ? ">" : "<", i == 0 && !open ? "=" : "",
						 quote_literal_cstr(OidOutputFunctionCall(output,
																  strata_time_to_datum(type, time))),
						 format_type_be_qualified(type));
		op = "AND";
	}
}

/* See rollup_private.h. */
const char *
strata_rollup_bucket_name(const StrataRollup *rollup)
{
	ListCell   *lc;

	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (column->kind == STRATA_ROLLUP_BUCKET)
			return pstrdup(quote_identifier(column->name));
	}
	elog(ERROR, "a rollup without buckets");
	return NULL;
}

/* See rollup_private.h. */
char *
strata_rollup_column_list(const StrataRollup *rollup)
{
	StringInfoData list;
	ListCell   *lc;

	initStringInfo(&list);
	foreach(lc, rollup->columns)
		appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "",
						 quote_identifier(((StrataRollupColumn *) lfirst(lc))->name));
	return list.data;
}

/*-------------------------------------------------------------------------
 * Receiving rows
 *-------------------------------------------------------------------------
 */

/* Hash of the slot's values from column `first` on, by their bytes. */
static uint32
hash_values(const TupleTableSlot *slot, int first, TupleDesc desc)
{
	uint32		hash = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		uint32		h = 0;

		if (!slot->tts_isnull[first + i])
			h = datum_image_hash(slot->tts_values[first + i], att->attbyval,
								 att->attlen);
		hash = hash_combine(hash, h);
	}
	return hash;
}

/* A row of the archive: (tableoid, ctid, columns ...) */
static bool
take_row_there(TupleTableSlot *slot, DestReceiver *self)
{
	RowComparison *comparison = (RowComparison *) self;
	MemoryContext old = MemoryContextSwitchTo(comparison->mcxt);
	ArchiveRow *row = palloc(sizeof(ArchiveRow));
	ArchiveRows *bundle;
	uint32		hash;
	bool		found;

	slot_getallattrs(slot);
	hash = hash_values(slot, NLEADING, comparison->desc);
	row->chunk = DatumGetObjectId(slot->tts_values[0]);
	row->tid = *(ItemPointer) DatumGetPointer(slot->tts_values[1]);
	row->stays = false;
	row->tuple = strata_form_minimal_tuple(comparison->desc,
										   slot->tts_values + NLEADING,
										   slot->tts_isnull + NLEADING);
	bundle = hash_search(comparison->there, &hash, HASH_ENTER, &found);
	row->next = found ? bundle->rows : NULL;
	bundle->rows = row;
	MemoryContextSwitchTo(old);
	return true;
}

/* Is the row that is there the one in the slot? */
static bool
is_same(RowComparison *comparison, const ArchiveRow *row,
		const TupleTableSlot *slot)
{
	TupleDesc	desc = comparison->desc;
	TupleTableSlot *there = comparison->slot;

	ExecStoreMinimalTuple(row->tuple, there, false);
	slot_getallattrs(there);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (there->tts_isnull[i] != slot->tts_isnull[i] ||
			(!slot->tts_isnull[i] &&
			 !datum_image_eq(there->tts_values[i], slot->tts_values[i],
							 att->attbyval, att->attlen)))
			return false;
	}
	return true;
}

/* A row as it should be. */
static bool
take_row_wanted(TupleTableSlot *slot, DestReceiver *self)
{
	RowComparison *comparison = (RowComparison *) self;
	ArchiveRows *bundle;
	uint32		hash;

	slot_getallattrs(slot);
	hash = hash_values(slot, 0, comparison->desc);
	bundle = hash_search(comparison->there, &hash, HASH_FIND, NULL);
	for (ArchiveRow *row = bundle != NULL ? bundle->rows : NULL; row != NULL;
		 row = row->next)
	{
		if (!row->stays && is_same(comparison, row, slot))
		{
			row->stays = true;
			return true;
		}
	}
	tuplestore_putvalues(comparison->fresh, comparison->desc,
						 slot->tts_values, slot->tts_isnull);
	comparison->nfresh++;
	return true;
}

static void
receive_start(DestReceiver *self, int operation, TupleDesc desc)
{
}

static void
receive_end(DestReceiver *self)
{
}

static void
run_into(DestReceiver *dest,
		 bool (*take) (TupleTableSlot *slot, DestReceiver *self),
		 const char *sql, Snapshot snapshot)
{
	dest->receiveSlot = take;
	dest->rStartup = receive_start;
	dest->rShutdown = receive_end;
	dest->rDestroy = receive_end;
	dest->mydest = DestNone;
	(void) strata_sql_execute_at(sql, snapshot, dest);
}

/* The one value of a query: a number, or a time. */
typedef struct OneNumber
{
	DestReceiver dest;			/* first */
	Oid			type;
	int64		value;
	bool		isnull;
} OneNumber;

static bool
take_number(TupleTableSlot *slot, DestReceiver *self)
{
	OneNumber  *number = (OneNumber *) self;
	Datum		value = slot_getattr(slot, 1, &number->isnull);

	if (!number->isnull)
		number->value = strata_time_from_datum(number->type, value);
	return true;
}

static void
query_number(OneNumber *number, const char *sql, Snapshot snapshot)
{
	number->isnull = true;
	run_into(&number->dest, take_number, sql, snapshot);
}

/*-------------------------------------------------------------------------
 * Writing
 *-------------------------------------------------------------------------
 */

/* Delete the rows of a chunk that do not stay. */
static void
delete_places(Oid chunk, ArrayBuildState *tids, Snapshot snapshot)
{
	Oid			output;
	bool		is_varlena;
	Datum		array = makeArrayResult(tids, CurrentMemoryContext);

	getTypeOutputInfo(TIDARRAYOID, &output, &is_varlena);
	(void) strata_sql_execute_at(psprintf("DELETE FROM %s WHERE ctid = ANY (%s::pg_catalog.tid[])",
										  strata_sql_name(chunk),
										  quote_literal_cstr(OidOutputFunctionCall(output,
																				   array))),
								 snapshot, NULL);
}

static int
compare_places(const ListCell *a, const ListCell *b)
{
	const ArchiveRow *one = lfirst(a);
	const ArchiveRow *other = lfirst(b);

	if (one->chunk != other->chunk)
		return one->chunk < other->chunk ? -1 : 1;
	return ItemPointerCompare(unconstify(ItemPointerData *, &one->tid),
							  unconstify(ItemPointerData *, &other->tid));
}

/* What was there and should not be. */
static int64
delete_others(RowComparison *comparison, Snapshot snapshot)
{
	HASH_SEQ_STATUS seq;
	ArchiveRows *bundle;
	List	   *rows = NIL;
	ListCell   *lc;
	ArrayBuildState *tids = NULL;
	Oid			chunk = InvalidOid;

	hash_seq_init(&seq, comparison->there);
	while ((bundle = hash_seq_search(&seq)) != NULL)
		for (ArchiveRow *row = bundle->rows; row != NULL; row = row->next)
			if (!row->stays)
				rows = lappend(rows, row);
	list_sort(rows, compare_places);
	foreach(lc, rows)
	{
		ArchiveRow *row = lfirst(lc);

		if (tids != NULL && row->chunk != chunk)
		{
			delete_places(chunk, tids, snapshot);
			tids = NULL;
		}
		chunk = row->chunk;
		tids = accumArrayResult(tids, PointerGetDatum(&row->tid), false,
								TIDOID, CurrentMemoryContext);
	}
	if (tids != NULL)
		delete_places(chunk, tids, snapshot);
	return list_length(rows);
}

/* The columns of the archive that the rollup has, as a row. */
static TupleDesc
row_desc(const StrataRollup *rollup)
{
	TupleDesc	desc = CreateTemplateTupleDesc(list_length(rollup->columns));
	ListCell   *lc;

	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);
		AttrNumber	attno = foreach_current_index(lc) + 1;

		TupleDescInitEntry(desc, attno, column->name, column->type,
						   column->typmod, 0);
		TupleDescInitEntryCollation(desc, attno, column->collation);
	}
	return desc;
}

/* Has the range as many buckets as a batch is worth? */
static bool
has_many_buckets(const StrataRollup *rollup, StrataRange range)
{
	StrataRollupBucket bucket = rollup->bucket;
	int64		time = range.lo;
	int			n = 0;

	while (n < MANY_BUCKETS && time < range.hi &&
		   strata_rollup_bucket_next(&bucket, time, &time))
		n++;
	return n == MANY_BUCKETS;
}

/*
 * Insert rows of a range: what a query says, or (fresh) those of
 * FRESH_ROWS, which it names.
 */
static uint64
insert_rows(const StrataRollup *rollup, StrataRange range, const char *sql,
			RowComparison *fresh, Snapshot snapshot)
{
	StrataLoadForm form = strata_load_form;
	uint64		rows;

	PG_TRY();
	{
		strata_load_form = has_many_buckets(rollup, range) ?
			STRATA_LOAD_SEGMENTS : STRATA_LOAD_ROWS;
		rows = fresh == NULL ? strata_sql_execute_at(sql, snapshot, NULL) :
			strata_sql_insert_rows(sql, FRESH_ROWS, fresh->desc, fresh->fresh,
								   snapshot);
	}
	PG_FINALLY();
	{
		strata_load_form = form;
	}
	PG_END_TRY();
	return rows;
}

/* See rollup_private.h. */
void
strata_rollup_write_wanted(const StrataRollup *rollup, StrataRange range,
						   const char *wanted, Snapshot snapshot,
						   StrataRollupCounts *counts)
{
	RowComparison comparison = {0};
	HASHCTL		ctl = {0};
	char	   *columns = strata_rollup_column_list(rollup);
	StringInfoData sql;

	comparison.mcxt = CurrentMemoryContext;
	comparison.desc = row_desc(rollup);
	comparison.slot = MakeSingleTupleTableSlot(comparison.desc,
											   &TTSOpsMinimalTuple);
	comparison.fresh = tuplestore_begin_heap(false, false, work_mem);
	ctl.keysize = sizeof(uint32);
	ctl.entrysize = sizeof(ArchiveRows);
	ctl.hcxt = CurrentMemoryContext;
	comparison.there = hash_create("strata archive rows", 1024, &ctl,
								   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT tableoid, ctid, %s FROM %s", columns,
					 strata_sql_name(rollup->archive));
	strata_rollup_append_quals(&sql, strata_rollup_bucket_name(rollup),
							   rollup->bucket.type, range);
	run_into(&comparison.dest, take_row_there, sql.data, snapshot);
	run_into(&comparison.dest, take_row_wanted, wanted, snapshot);
	counts->deleted += delete_others(&comparison, snapshot);
	if (comparison.nfresh > 0)
		(void) insert_rows(rollup, range,
						   psprintf("INSERT INTO %s (%s) SELECT %s FROM " FRESH_ROWS,
									strata_sql_name(rollup->archive), columns,
									columns),
						   &comparison, snapshot);
	counts->inserted += comparison.nfresh;
	tuplestore_end(comparison.fresh);
	ExecDropSingleTupleTableSlot(comparison.slot);
}

/* How many rows of the range can be compared in memory. */
static int64
rows_in_memory(const StrataRollup *rollup)
{
	int			width = ROW_OVERHEAD;
	ListCell   *lc;

	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		width += get_typavgwidth(column->type, column->typmod) + 8;
	}
	return Max(1000, maintenance_work_mem * INT64CONST(1024) / width);
}

/* See rollup_private.h. */
void
strata_rollup_write(const StrataRollup *rollup, StrataRange range,
					Snapshot snapshot, StrataRollupCounts *counts)
{
	StrataRollupBucket bucket = rollup->bucket;
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "strata rollup rows",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scratch);
	OneNumber	count = {.type = INT8OID};
	StringInfoData sql;
	int64		middle;

	Assert(range.lo < range.hi);	/* rollup:Z2 */
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT count(*) FROM %s",
					 strata_sql_name(rollup->archive));
	strata_rollup_append_quals(&sql, strata_rollup_bucket_name(rollup),
							   rollup->bucket.type, range);
	query_number(&count, sql.data, snapshot);
	if (count.value == 0)
		counts->inserted +=
			insert_rows(rollup, range,
						psprintf("INSERT INTO %s (%s) %s",
								 strata_sql_name(rollup->archive),
								 strata_rollup_column_list(rollup),
								 strata_rollup_partials_text(rollup, range)),
						NULL, snapshot);
	else if (count.value > rows_in_memory(rollup) &&
			 strata_rollup_bucket_start(&bucket,
										range.lo + (int64) (((uint64) range.hi - (uint64) range.lo) / 2),
										&middle) &&
			 middle > range.lo && middle < range.hi)
	{
		strata_rollup_write(rollup, strata_range(range.lo, middle), snapshot,
							counts);
		strata_rollup_write(rollup, strata_range(middle, range.hi), snapshot,
							counts);
	}
	else
		strata_rollup_write_wanted(rollup, range,
								   strata_rollup_partials_text(rollup, range),
								   snapshot, counts);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
}

/* First or last time that a column of a relation has; false: none. */
static bool
column_end(const char *end, Oid relid, const char *column, Oid type,
		   StrataRange window, Snapshot snapshot, int64 *time)
{
	OneNumber	number = {.type = type};
	StringInfoData sql;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT pg_catalog.%s(%s) FROM %s", end, column,
					 strata_sql_name(relid));
	strata_rollup_append_quals(&sql, column, type, window);
	query_number(&number, sql.data, snapshot);
	*time = number.value;
	return !number.isnull;
}

/*
 * First and after the last time that a column of a relation has: a query each,
 * which stops at the first chunk with rows, even where others are made ahead.
 */
static StrataRange
column_extent(Oid relid, const char *column, Oid type, StrataRange window,
			  Snapshot snapshot)
{
	int64		lo;
	int64		hi;

	if (!column_end("min", relid, column, type, window, snapshot, &lo) ||
		!column_end("max", relid, column, type, window, snapshot, &hi))
		return strata_range(PG_INT64_MAX, PG_INT64_MIN);
	return strata_range(lo, hi + 1);
}

/* See rollup_private.h. */
StrataRange
strata_rollup_extent(const StrataRollup *rollup, StrataRange window,
					 Snapshot snapshot)
{
	StrataRollupBucket bucket = rollup->bucket;
	Oid			below = strata_rollup_of_archive(rollup->source);
	RangeTblEntry *rte = rt_fetch(rollup->varno, rollup->query->rtable);
	const char *time = get_attname(rte->relid, rollup->time, false);
	StrataRange kept;
	StrataRange rows;

	kept = column_extent(rollup->archive, strata_rollup_bucket_name(rollup),
						 bucket.type, window, snapshot);
	if (OidIsValid(below))
		rows = strata_rollup_extent(strata_rollup_open(below, false), window,
									snapshot);
	else
		rows = column_extent(rte->relid, pstrdup(quote_identifier(time)),
							 rollup->time_type, window, snapshot);
	rows = strata_range(Min(rows.lo, kept.lo), Max(rows.hi, kept.hi));
	if (rows.lo >= rows.hi)
		return rows;
	kept = strata_rollup_bucket_outward(&bucket, rows.lo, rows.hi - 1);
	/* buckets that begin or end outside of the type are not kept */
	if (kept.lo == PG_INT64_MIN &&
		!strata_rollup_bucket_next(&bucket, rows.lo, &kept.lo))
		return strata_range(0, 0);
	if (kept.hi == PG_INT64_MAX &&
		!strata_rollup_bucket_start(&bucket, rows.hi - 1, &kept.hi))
		return strata_range(0, 0);
	return kept;
}

/* See rollup_private.h. */
void
strata_rollup_occupied(const StrataRollup *rollup, bool archived,
					   StrataRange range, int64 length, Snapshot snapshot,
					   StrataRanges *occupied)
{
	StrataRollupBucket bucket = rollup->bucket;
	Oid			relid = archived ? rollup->archive : rollup->source;
	bool		is_bucket = archived ||
	OidIsValid(strata_rollup_of_archive(relid));
	const char *column = get_attname(relid, is_bucket ? 1 : rollup->time,
									 false);
	StrataRange rows;
	int64		middle;

	CHECK_FOR_INTERRUPTS();
	rows = column_extent(relid, pstrdup(quote_identifier(column)),
						 archived ? bucket.type : rollup->time_type, range,
						 snapshot);
	if (rows.lo >= rows.hi)
		return;
	if ((uint64) rows.hi - (uint64) rows.lo <= (uint64) length)
	{
		strata_ranges_add(occupied,
						  strata_rollup_bucket_outward(&bucket, rows.lo,
													   rows.hi - 1));
		return;
	}
	middle = rows.lo + (int64) (((uint64) rows.hi - (uint64) rows.lo) / 2);
	strata_rollup_occupied(rollup, archived, strata_range(rows.lo, middle),
						   length, snapshot, occupied);
	strata_rollup_occupied(rollup, archived, strata_range(middle, rows.hi),
						   length, snapshot, occupied);
}
