/*-------------------------------------------------------------------------
 *
 * compress_rows.c
 *	  Row store -> batches: read, delete, gather, write, in one transaction.
 *
 * The caller's ExclusiveLock keeps out writers and row lockers (a row that
 * somebody locks must not move under him) but no reader.  Rows are deleted
 * from the heap as they are read and the batches carry our xid, so every
 * snapshot sees each row exactly once, before, during and after.
 *
 * Recompression first does the same, and with batches of former layouts; then
 * compress_merge.c looks at what lies side by side.  When the encoding was
 * changed (level, codecs, rows per batch), or there is no index on the
 * segments (32 columns and more), all batches are made anew.
 *
 * Memory: maintenance_work_mem (compress_gather.c) and one batch.
 *
 * src/compress/compress_rows.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"
#include "index/index.h"
#include "pg/pg.h"
#include "stat/stat.h"

#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

/* Where sorted rows come from and batches go to. */
typedef struct CompressState
{
	Relation	rel;
	StrataStore *store;
	const StrataLayout *layout;
	StrataGather *gather;
	StrataBatchWriter *writer;
	Snapshot	snapshot;
	CommandId	cid;
	bool		silenced;		/* R's deletes are hidden from logical
								 * decoding */
	StrataRowCheck *check;
	Tuplestorestate *misfits;	/* rows of batches that fit into none any
								 * more; NULL: none so far */
	int64		nread;
	int64		nskipped;
} CompressState;

/*
 * Hand a row on.  A value in R's TOAST is fetched now: the delete that follows
 * frees it, and a gathered row must not point there.
 */
static void
take_row(CompressState *state, TupleTableSlot *slot)
{
	TupleTableSlot *own = strata_row_fetch_external(state->check, slot);

	state->nread++;
	strata_gather_add(state->gather, own);
	if (own != slot)
		ExecClearTuple(own);
}

/* Hand a batch's row on, or keep it for the row store. */
static void
take_batch_row(CompressState *state, TupleTableSlot *slot)
{
	if (strata_row_fits(state->check, slot))
	{
		take_row(state, slot);
		return;
	}
	if (state->misfits == NULL)
		state->misfits = tuplestore_begin_heap(false, false, work_mem);
	tuplestore_puttupleslot(state->misfits, slot);
	state->nskipped++;
}

/*
 * The misfits become rows of the row store.  Their batches are deleted by now:
 * a unique index would find the rows there.
 */
static void
put_misfits(CompressState *state)
{
	StrataRowWriter *writer;
	TupleTableSlot *slot;

	if (state->misfits == NULL)
		return;
	writer = strata_row_writer_begin(state->rel);
	slot = MakeSingleTupleTableSlot(RelationGetDescr(state->rel),
									&TTSOpsMinimalTuple);
	while (tuplestore_gettupleslot(state->misfits, true, false, slot))
	{
		ExecCopySlot(writer->slot, slot);
		strata_row_writer_put(writer);
		strata_row_writer_index(writer);
	}
	ExecDropSingleTupleTableSlot(slot);
	strata_row_writer_end(writer);
	tuplestore_end(state->misfits);
	state->misfits = NULL;
}

/* Read the row store; what can be compressed is deleted and taken. */
static void
take_row_store(CompressState *state)
{
	TableScanDesc scan = table_beginscan(state->rel, state->snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(state->rel, NULL);
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata compress row",
											   ALLOCSET_DEFAULT_SIZES);

	Assert(CheckRelationLockedByMe(state->rel, ExclusiveLock,
								   true));	/* compress:K2 */
	strata_rowstore_only_hook(scan);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		ItemPointerData tid = slot->tts_tid;
		MemoryContext old = MemoryContextSwitchTo(mcxt);

		if ((state->nread & 1023) == 0)
		{
			CHECK_FOR_INTERRUPTS();
			strata_progress_rows(state->nread, state->writer->nrows);
		}
		slot_getallattrs(slot);
		Assert(!strata_tid_is_compressed(&tid));	/* compress:K2 */
		if (!strata_row_fits(state->check, slot))
			state->nskipped++;
		else
		{
			/* before the delete, which takes external values away */
			take_row(state, slot);

			/*
			 * nobody to wait for but our own row locks, which do not block us
			 */
			if (!strata_tuple_delete_as_moved(state->rel, &tid, state->cid,
											  true))
				ereport(
						ERROR,
						(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
						 errmsg(
								"could not compress table \"%s\": a row changed concurrently",
								RelationGetRelationName(state->rel))));
		}
		MemoryContextSwitchTo(old);
		MemoryContextReset(mcxt);
	}
	MemoryContextDelete(mcxt);
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
}

/* Take the rows of batches that have another layout, and delete them. */
static void
take_other_layouts(CompressState *state)
{
	StrataStore *store = state->store;
	TableScanDesc scan = table_beginscan(store->batches, state->snapshot, 0,
										 NULL);
	TupleTableSlot *batch_slot = table_slot_create(store->batches, NULL);
	TupleTableSlot *slot;
	StrataBatchReader *reader = strata_batch_reader_create(state->rel,
														   store->schema);
	StrataEntries *entries = strata_entries_create(store->batches,
												   state->snapshot);

	slot = MakeSingleTupleTableSlot(RelationGetDescr(state->rel),
									&TTSOpsVirtual);
	Assert(CheckRelationLockedByMe(state->rel, ExclusiveLock,
								   true));	/* compress:K2 */
	strata_store_check_entries(store, state->snapshot);
	while (table_scan_getnextslot(scan, ForwardScanDirection, batch_slot))
	{
		CHECK_FOR_INTERRUPTS();
		if (!strata_batch_reader_load(reader, batch_slot) ||
			strcmp(reader->layout->text, state->layout->text) == 0)
			continue;
		strata_entries_apply(entries, reader);
		for (int row = 0; row < reader->nrows; row++)
		{
			if (strata_batch_row_is_gone(reader, row))
				continue;
			strata_batch_store_row(state->rel, reader, row, slot);
			take_batch_row(state, slot);
		}
		strata_store_delete_batch_with_entries(store, &batch_slot->tts_tid,
											   reader->first_row,
											   reader->nrows, state->snapshot,
											   state->cid);
	}
	strata_entries_free(entries);
	strata_batch_reader_free(reader);
	ExecDropSingleTupleTableSlot(slot);
	ExecDropSingleTupleTableSlot(batch_slot);
	table_endscan(scan);
}

/* Take the rows of all batches there are, and delete the batches. */
static void
take_batches(CompressState *state)
{
	StrataRowScan *scan = strata_row_scan_begin(state->rel,
												RelationGetDescr(state->rel),
												state->snapshot);
	TupleTableSlot *slot;

	slot = MakeSingleTupleTableSlot(RelationGetDescr(state->rel),
									&TTSOpsVirtual);
	while (strata_row_scan_next(scan, ForwardScanDirection, slot))
	{
		if ((state->nread & 1023) == 0)
			strata_progress_rows(state->nread, state->writer->nrows);
		take_batch_row(state, slot);
	}
	strata_row_scan_end(scan);
	ExecDropSingleTupleTableSlot(slot);

	strata_store_delete_batches(state->store, state->snapshot, state->cid);
	strata_index_clear(state->store);
}

/*
 * What batches are encoded by, beside their layout: a change is a reason to
 * make all anew.
 */
static char *
encoding_text(StrataBatchWriter *writer, Relation rel)
{
	StrataSettings *settings = strata_settings_get(rel);
	StringInfoData s;

	initStringInfo(&s);
	appendStringInfo(&s, "%s/%d", strata_level_name(settings->codec_level),
					 writer->batch_rows);
	for (int i = 0;
		 settings->codecs != NULL && i < RelationGetDescr(rel)->natts; i++)
		if (settings->codecs[i] != STRATA_CODEC_AUTO)
			appendStringInfo(&s, "/%d:%s", i + 1,
							 strata_codec_name(settings->codecs[i]));
	return s.data;
}

/* New batches are all made by `encoding` now. */
static void
remember_encoding(StrataStore *store, char *encoding)
{
	DefElem    *option = makeDefElem(pstrdup(STRATA_OPTION_ENCODING),
									 (Node *) makeString(encoding), -1);

	strata_settings_store(RelationGetRelid(store->batches), list_make1(option),
						  false);
}

/* Pass two of a recompression: new batches, and those there were, together. */
static void
merge_batches(CompressState *state)
{
	CommandCounterIncrement();
	PushCopiedSnapshot(state->snapshot);
	UpdateActiveSnapshotCommandId();
	strata_store_merge_batches(state->store, state->layout,
							   GetActiveSnapshot(), state->writer);
	PopActiveSnapshot();
}

/*
 * Is there nothing in the companion that any snapshot, also of a standby, may
 * see?
 */
static bool
is_vacuumed(Relation batches)
{
	TableScanDesc scan = table_beginscan(batches, SnapshotAny, 0, NULL);
	TupleTableSlot *slot = table_slot_create(batches, NULL);
	bool		result = !table_scan_getnextslot(scan, ForwardScanDirection,
												 slot);

	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	return result;
}

/*
 * A column of the layout changed its order without a rewrite: its collation,
 * or its type, as from int4 to oid.  The companion's copies no longer fit, so
 * all batches are taken back.  Older snapshots go on reading them: the
 * companion makes way for one with the new columns when VACUUM has found that
 * nobody can any more. False: that is still to come, and nothing can be
 * compressed until then.
 */
static bool
replace_outdated(Relation rel, const StrataLayout *layout)
{
	StrataStore *store = strata_store_open(rel, ExclusiveLock);
	bool		outdated;
	bool		vacuumed;
	Oid			companion;

	if (store == NULL)
		return true;
	outdated = strata_companion_is_outdated(store, layout);
	vacuumed = outdated && is_vacuumed(store->batches);
	companion = RelationGetRelid(store->batches);
	strata_store_close(store, NoLock);
	if (!outdated)
		return true;
	if (vacuumed && strata_companion_lock_politely(companion))
	{
		strata_companion_drop(companion);
		CacheInvalidateRelcache(rel);
		CommandCounterIncrement();
		return true;
	}
	if (!vacuumed)
		strata_store_decompress(rel);
	ereport(
			NOTICE,
			(errmsg("table \"%s\" is compressed later",
					RelationGetRelationName(rel)),
			 errdetail(
					   "A column of strata.segmentby or strata.orderby is in another order now, and older transactions may still read its former batches."),
			 errhint(
					 "VACUUM %s; then SELECT compress_chunk('%s'); when these have ended.",
					 RelationGetRelationName(rel),
					 RelationGetRelationName(rel))));
	return false;
}

/*
 * Tell strata.progress how many rows will be passed: all are read and written,
 * and a merge looks at those of all batches.
 */
static void
expect_rows(const CompressState *state, bool recompress, bool incremental)
{
	double		late = strata_store_estimate_row_store(state->rel,
													   state->snapshot);
	double		here = recompress ?
	strata_store_rows_in_batches(state->rel, state->snapshot) : 0;

	strata_progress_expect(incremental ? 3 * late + here : 2 * (late + here));
}

/* See compress.h. */
void
strata_store_compress(Relation rel, bool recompress,
					  StrataCompressResult *result)
{
	CompressState state = {0};
	StrataLayout *layout = strata_store_current_layout(rel);
	char	   *encoding;
	char	   *encoded;
	bool		first;

	memset(result, 0, sizeof(*result));
	if (!replace_outdated(rel, layout))
	{
		result->waiting = true;
		return;
	}
	first = !OidIsValid(strata_companion_oid(rel));
	(void) strata_companion_prepare(rel, &layout);
	/* from here on: CREATE INDEX would end it */
	strata_progress_start(rel);

	Assert(CheckRelationLockedByMe(rel, ExclusiveLock,
								   true));	/* compress:K2 */
	state.silenced = strata_silence_begin(rel);

	/*
	 * all that was committed before we got the lock, unless our isolation
	 * level forbids
	 */
	state.snapshot = RegisterSnapshot(IsolationUsesXactSnapshot() ?
									  GetTransactionSnapshot() :
									  GetLatestSnapshot());
	PushActiveSnapshot(state.snapshot);
	state.rel = rel;
	state.layout = layout;
	state.cid = GetCurrentCommandId(true);
	state.store = strata_store_open(rel, RowExclusiveLock);
	state.check = strata_row_check_create(rel, layout);
	state.writer = strata_batch_writer_begin(state.store, layout, false);
	state.gather = strata_gather_begin(state.writer, layout,
									   maintenance_work_mem);

	/* row-level SIREAD locks would be left behind on rows that move */
	TransferPredicateLocksToHeapRelation(rel);
	TransferPredicateLocksToHeapRelation(state.store->batches);
	encoding = encoding_text(state.writer, rel);
	encoded = strata_settings_get_text(RelationGetRelid(state.store->batches),
									   "encoding");
	result->incremental = recompress && encoded != NULL &&
		strcmp(encoded, encoding) == 0 &&
		OidIsValid(strata_store_segment_index(state.store, layout, false));
	expect_rows(&state, recompress, result->incremental);
	strata_progress_phase(STRATA_PHASE_READING);
	take_row_store(&state);
	result->nmoved = state.nread;
	if (result->incremental)
		take_other_layouts(&state);
	else if (recompress)
		take_batches(&state);
	put_misfits(&state);
	strata_gather_end(state.gather);
	strata_batch_writer_flush(state.writer);
	if (result->incremental)
		merge_batches(&state);
	/* nothing was lost on the way: merging counts rows again */
	Assert(result->incremental ||
		   state.writer->nrows == state.nread); /* compress:K4 */
	strata_batch_writer_end(state.writer);
	if (encoded == NULL ? recompress || first :
		recompress && !result->incremental)
		remember_encoding(state.store, encoding);

	result->nrows = state.writer->nrows;
	result->nbatches = state.writer->nbatches;
	result->nskipped = state.nskipped;
	strata_stat_compressed(RelationGetRelid(rel), result->nrows,
						   result->nbatches, true);
	strata_row_check_free(state.check);
	strata_index_update(state.store);
	strata_store_close(state.store, NoLock);
	strata_companion_complete(rel, layout);
	PopActiveSnapshot();
	UnregisterSnapshot(state.snapshot);
	if (state.silenced)
		strata_silence_end(rel);
	if (result->nbatches > 0)
		strata_settings_note_compressed(rel, true);
	result->incremental |= !first && !recompress;
	/* cached key ranges and row counts of other sessions are stale now */
	CacheInvalidateRelcache(rel);
	CommandCounterIncrement();
	strata_progress_end();
}
