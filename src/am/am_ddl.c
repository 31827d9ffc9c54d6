/*-------------------------------------------------------------------------
 *
 * am_ddl.c
 *	  Storage events: the companion follows R's storage.
 *
 * src/am/am_ddl.c
 *-------------------------------------------------------------------------
 */
#include "am/am_private.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/heap.h"
#include "commands/tablecmds.h"
#include "commands/tablespace.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"

/* TRUNCATE and the like: the rows of the old storage go, compressed ones too. */
static void
set_new_storage(Relation rel, const StrataLocator *locator, char persistence,
				TransactionId *freeze_xid, MultiXactId *min_multi)
{
	StrataLocator old = STRATA_REL_LOCATOR(rel);

	if (STRATA_LOCATOR_NUMBER(old) != STRATA_LOCATOR_NUMBER(*locator) && IsTransactionState())
	{
		Oid			companion = strata_companion_of_locator(&old, rel->rd_rel->relpersistence);

		if (OidIsValid(companion))
			strata_companion_drop(companion);
	}
	strata_heap_am->STRATA_SET_NEW_STORAGE(rel, locator, persistence, freeze_xid, min_multi);
}

/* TRUNCATE of a table made in this transaction, ON COMMIT DELETE ROWS. */
static void
relation_nontransactional_truncate(Relation rel)
{
	Oid			companion = strata_companion_oid(rel);

	strata_heap_am->relation_nontransactional_truncate(rel);
	if (OidIsValid(companion))
	{
		Relation	batches = table_open(companion, AccessExclusiveLock);

		heap_truncate_one_rel(batches);
		table_close(batches, NoLock);
	}
}

/* SET TABLESPACE: the companion moves along. */
static void
relation_copy_data(Relation rel, const StrataLocator *to)
{
	StrataLocator from = STRATA_REL_LOCATOR(rel);
	char		persistence = rel->rd_rel->relpersistence;
	Oid			companion = strata_companion_of_locator(&from, persistence);

	strata_heap_am->relation_copy_data(rel, to);
	if (OidIsValid(companion))
	{
		AlterTableCmd *cmd = makeNode(AlterTableCmd);

		cmd->subtype = AT_SetTableSpace;
		cmd->name = get_tablespace_name(STRATA_LOCATOR_SPACE(*to));
		if (STRATA_LOCATOR_SPACE(from) != STRATA_LOCATOR_SPACE(*to))
			AlterTableInternal(companion, list_make1(cmd), false);
		strata_companion_rekey(persistence, &from, to);
	}
}

/*
 * Forwarding entries name heap TIDs, which a rewrite changes.  Under the
 * rewrite's AccessExclusiveLock nobody holds a TID to translate.
 */
static void
drop_forwarding_entries(Relation rel)
{
	StrataStore *store = strata_store_open(rel, RowExclusiveLock);
	Snapshot	snapshot;
	TableScanDesc scan;
	TupleTableSlot *slot;

	if (store == NULL)
		return;
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	scan = table_beginscan(store->batches, snapshot, 0, NULL);
	slot = table_slot_create(store->batches, NULL);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;

		if (DatumGetInt32(slot_getattr(slot, STRATA_BATCH_ATT_NROWS, &isnull)) < 0)
			simple_heap_delete(store->batches, &slot->tts_tid);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	UnregisterSnapshot(snapshot);
	strata_store_close(store, NoLock);
}

/* VACUUM FULL, CLUSTER: the row store is rewritten, the batches stay. */
static void
relation_copy_for_cluster(Relation old, Relation new, Relation index, bool use_sort,
						  TransactionId oldest_xmin, TransactionId *xid_cutoff,
						  MultiXactId *multi_cutoff, double *num_tuples, double *tups_vacuumed,
						  double *tups_recently_dead)
{
	StrataDisguise old_disguise;
	StrataDisguise new_disguise;
	StrataLocator from = STRATA_REL_LOCATOR(old);
	StrataLocator to = STRATA_REL_LOCATOR(new);

	drop_forwarding_entries(old);
	strata_store_fill_missing(old);
	strata_disguise_push(&old_disguise, old);
	strata_disguise_push(&new_disguise, new);
	PG_TRY();
	{
		strata_heap_am->relation_copy_for_cluster(old, new, index, use_sort, oldest_xmin,
												  xid_cutoff, multi_cutoff, num_tuples,
												  tups_vacuumed, tups_recently_dead);
	}
	PG_FINALLY();
	{
		strata_disguise_pop(&new_disguise);
		strata_disguise_pop(&old_disguise);
	}
	PG_END_TRY();
	strata_companion_rekey(old->rd_rel->relpersistence, &from, &to);
	CacheInvalidateRelcache(old);
}

void
strata_am_ddl_init(TableAmRoutine *am)
{
	am->STRATA_SET_NEW_STORAGE = set_new_storage;
	am->relation_nontransactional_truncate = relation_nontransactional_truncate;
	am->relation_copy_data = relation_copy_data;
	am->relation_copy_for_cluster = relation_copy_for_cluster;
}
