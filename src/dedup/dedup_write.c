/*-------------------------------------------------------------------------
 *
 * dedup_write.c
 *	  Insert, update, delete: heapam's, with a look at full pages afterwards,
 *	  and at symbols before heapam compares or logs what it cannot read.
 *
 * heapam reads columns of a row that it updates or deletes in the page: to
 * know which indexed columns change, and to log the replica identity.  Between
 * our look at the row and heapam's the page stays as it is, since we keep a
 * pin: who deduplicates a page has the only one.
 *
 * src/dedup/dedup_write.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "access/htup_details.h"
#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "utils/datum.h"

/* heapam fills a few pages with so many rows, of which some may get room again. */
#define ROWS_AT_A_TIME 64

static void
dedup_tuple_insert(Relation rel, TupleTableSlot *slot, CommandId cid,
				   int options,
				   struct BulkInsertStateData *bistate)
{
	/* there is room in earlier pages, also of a new table */
	strata_dedup_heap->tuple_insert(rel, slot, cid,
									options & ~TABLE_INSERT_SKIP_FSM, bistate);
	strata_dedup_row_went_to(rel, &slot->tts_tid);
}

static void
dedup_tuple_insert_speculative(Relation rel, TupleTableSlot *slot,
							   CommandId cid,
							   int options, struct BulkInsertStateData *bistate,
							   uint32 token)
{
	strata_dedup_heap->tuple_insert_speculative(rel, slot, cid, options,
												bistate, token);
	strata_dedup_row_went_to(rel, &slot->tts_tid);
}

/* As many as go into pages in memory; the others by heapam, some at a time. */
static void
dedup_multi_insert(Relation rel, TupleTableSlot **slots, int nslots,
				   CommandId cid,
				   int options, struct BulkInsertStateData *bistate)
{
	bool		loaded = false;

	options &= ~TABLE_INSERT_SKIP_FSM;
	for (int from = 0, n; from < nslots; from += n)
	{
		n = strata_dedup_load_rows(rel, slots + from, nslots - from, cid,
								   options, bistate, loaded);
		loaded = n > 0;
		if (loaded)
			continue;
		n = Min(ROWS_AT_A_TIME, nslots - from);
		strata_dedup_heap->multi_insert(rel, slots + from, n, cid, options,
										bistate);
		for (int i = from; i < from + n; i++)
			strata_dedup_row_went_to(rel, &slots[i]->tts_tid);
	}
}

static void
dedup_finish_bulk_insert(Relation rel, int options)
{
	(void) options;
	strata_dedup_load_end(rel);
}

/* Columns of a tuple that are symbols, as members of sets. */
static void
add_symbol_column(void *arg, int colno)
{
	Bitmapset **columns = arg;

	*columns = bms_add_member(*columns, colno + 1 -
							  FirstLowInvalidHeapAttributeNumber);
}

/*
 * Pin the page of a row, and fill *row if its tuple has symbols; else its
 * t_data is NULL.
 */
static Buffer
pin_row(Relation rel, ItemPointer tid, HeapTupleData *row)
{
	Buffer		buffer = ReadBuffer(rel, ItemPointerGetBlockNumber(tid));
	Page		page = BufferGetPage(buffer);
	OffsetNumber offnum = ItemPointerGetOffsetNumber(tid);

	row->t_self = *tid;
	row->t_tableOid = RelationGetRelid(rel);
	row->t_data = NULL;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (offnum <= PageGetMaxOffsetNumber(page))
	{
		ItemId		id = PageGetItemId(page, offnum);

		if (ItemIdIsNormal(id) &&
			strata_page_is_flagged((HeapTupleHeader) PageGetItem(page, id)))
		{
			row->t_data = (HeapTupleHeader) PageGetItem(page, id);
			row->t_len = ItemIdGetLength(id);
		}
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return buffer;
}

static Bitmapset *
symbol_columns(const HeapTupleData *row)
{
	Bitmapset  *columns = NULL;
	const char *problem = strata_page_symbol_columns(row->t_data, row->t_len,
													 add_symbol_column, &columns);

	if (problem != NULL)
		strata_dedup_damaged(row->t_tableOid, &row->t_self, problem);
	return columns;
}

/*
 * heapam is going to log the replica identity out of the page: it must not
 * find symbols there.  Pages made under today's identity have none.
 */
static void
check_identity(Relation rel, const HeapTupleData *row)
{
	bool		lost = rel->rd_rel->relreplident == REPLICA_IDENTITY_FULL;

	if (!lost)
	{
		Bitmapset  *identity =
		RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_IDENTITY_KEY);
		Bitmapset  *symbols = symbol_columns(row);

		lost = bms_overlap(identity, symbols);
		bms_free(identity);
		bms_free(symbols);
	}
	/* dedup:DD3 */
	if (lost)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot log the replica identity of a row of table \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("The page of the row was deduplicated before the table had this replica identity."),
				 errhint("VACUUM FULL %s;",
						 RelationGetRelationName(rel))));
}

/* Are a stored value and a new one equal, as heapam would find them? */
static bool
dedup_is_same(Datum old, Datum new, Form_pg_attribute att)
{
	struct varlena *a;
	struct varlena *b;

	if (att->attlen != -1)
		return datumIsEqual(old, new, att->attbyval, att->attlen);
	a = (struct varlena *) DatumGetPointer(old);
	b = (struct varlena *) DatumGetPointer(new);
	if (VARATT_IS_EXTERNAL(a) || VARATT_IS_COMPRESSED(a) ||
		VARATT_IS_EXTERNAL(b) || VARATT_IS_COMPRESSED(b))
		return datumIsEqual(old, new, false, -1);
	/* the new one gets a short header only when the tuple is formed */
	return VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(a)) == 0;
}

/* Of the columns that are symbols, those that the new row changes. */
static Bitmapset *
changed_columns(Relation rel, HeapTuple row, Buffer buffer,
				TupleTableSlot *slot, const Bitmapset *symbols)
{
	TupleDesc	desc = RelationGetDescr(rel);
	HeapTuple	plain = strata_dedup_plain_copy(row, buffer, desc);
	Bitmapset  *changed = NULL;
	int			member = -1;

	while ((member = bms_next_member(symbols, member)) >= 0)
	{
		int			attno = member + FirstLowInvalidHeapAttributeNumber;
		bool		old_null;
		bool		new_null;
		Datum		old = heap_getattr(plain, attno, desc, &old_null);
		Datum		new = slot_getattr(slot, attno, &new_null);

		Assert(!old_null);		/* page:PS1 */
		if (new_null ||
			!dedup_is_same(old, new, TupleDescAttr(desc, attno - 1)))
			changed = bms_add_member(changed, member);
	}
	heap_freetuple(plain);
	return changed;
}

typedef struct UpdateCall
{
	ItemPointer otid;
	TupleTableSlot *slot;
	CommandId	cid;
	Snapshot	snapshot;
	Snapshot	crosscheck;
	bool		wait;
	TM_FailureData *tmfd;
	LockTupleMode *lockmode;
	StrataUpdateIndexes *update_indexes;
} UpdateCall;

static TM_Result
heap_am_update(Relation rel, const UpdateCall *call)
{
	return strata_dedup_heap->tuple_update(rel, call->otid, call->slot,
										   call->cid, call->snapshot,
										   call->crosscheck, call->wait,
										   call->tmfd, call->lockmode,
										   call->update_indexes);
}

/*
 * Update a row of which some columns that heapam is going to compare are
 * symbols, and look NULL to it.
 */
static TM_Result
update_symbols(Relation rel, const UpdateCall *call, HeapTuple row,
			   Buffer buffer, const Bitmapset *symbols)
{
	Bitmapset  *volatile changed = changed_columns(rel, row, buffer,
												   call->slot, symbols);
	StrataIndexColumns columns;
	volatile TM_Result result = TM_Ok;

	Assert(BufferIsValid(buffer));	/* dedup:DD1 */
	Assert(bms_is_subset(changed, symbols));	/* dedup:DD7 */
	/* loads what is shown; nothing after it may throw it away */
	bms_free(strata_index_columns(rel));
	strata_index_columns_show(&columns, rel, symbols, changed);
	/* the relcache's sets must be right again in any case */
	PG_TRY();
	{
		result = heap_am_update(rel, call);
	}
	PG_FINALLY();
	{
		strata_index_columns_restore(&columns);
	}
	PG_END_TRY();
	bms_free(changed);
	return result;
}

/* *lockmode and *update_indexes are as heapam would find them without symbols. */
static TM_Result
dedup_tuple_update(Relation rel, ItemPointer otid, TupleTableSlot *slot,
				   CommandId cid, Snapshot snapshot, Snapshot crosscheck,
				   bool wait,
				   TM_FailureData *tmfd, LockTupleMode *lockmode,
				   StrataUpdateIndexes *update_indexes)
{
	UpdateCall	call = {otid, slot, cid, snapshot, crosscheck, wait, tmfd,
	lockmode, update_indexes};
	HeapTupleData row;
	Buffer		buffer = pin_row(rel, otid, &row);
	Bitmapset  *symbols = NULL;
	TM_Result	result;

	if (row.t_data != NULL)
	{
		Bitmapset  *indexed = strata_index_columns(rel);

		if (RelationIsLogicallyLogged(rel))
			check_identity(rel, &row);
		symbols = symbol_columns(&row);
		if (!bms_overlap(indexed, symbols))
		{
			bms_free(symbols);
			symbols = NULL;		/* heapam looks at none of them */
		}
		bms_free(indexed);
	}
	if (symbols == NULL)
		result = heap_am_update(rel, &call);
	else
		result = update_symbols(rel, &call, &row, buffer, symbols);
	ReleaseBuffer(buffer);
	bms_free(symbols);

	/*
	 * A page that updated rows fill is left to VACUUM: by then old versions
	 * are gone, where now an image would be logged every few rows.
	 */
	if (result == TM_Ok && unlikely(strata_torture))
		strata_dedup_row_went_to(rel, &slot->tts_tid);
	return result;
}

/* Only logical decoding wants to know columns of what is deleted. */
static TM_Result
dedup_tuple_delete(Relation rel, ItemPointer tid, CommandId cid,
				   Snapshot snapshot,
				   Snapshot crosscheck, bool wait, TM_FailureData *tmfd,
				   bool changing_part)
{
	HeapTupleData row;
	Buffer		buffer = InvalidBuffer;
	TM_Result	result;

	if (RelationIsLogicallyLogged(rel))
	{
		buffer = pin_row(rel, tid, &row);
		if (row.t_data != NULL)
			check_identity(rel, &row);
	}
	result = strata_dedup_heap->tuple_delete(rel, tid, cid, snapshot,
											 crosscheck, wait, tmfd,
											 changing_part);
	if (BufferIsValid(buffer))
		ReleaseBuffer(buffer);
	return result;
}

void
strata_dedup_write_init(TableAmRoutine *am)
{
	am->tuple_insert = dedup_tuple_insert;
	am->tuple_insert_speculative = dedup_tuple_insert_speculative;
	am->multi_insert = dedup_multi_insert;
	am->finish_bulk_insert = dedup_finish_bulk_insert;
	am->tuple_update = dedup_tuple_update;
	am->tuple_delete = dedup_tuple_delete;
}
