/*-------------------------------------------------------------------------
 *
 * am_ddl.c
 *	  Storage events: the companion follows R's storage.
 *
 * src/am/am_ddl.c
 *-------------------------------------------------------------------------
 */
#include "am/am.h"
#include "am/am_private.h"
#include "compress/compress.h"
#include "pg/pg.h"
#include "store/store_companion.h"
#include "store/store_index.h"

#include "access/multixact.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/visibilitymap.h"
#include "access/xact.h"
#include "catalog/heap.h"
#include "catalog/pg_am.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/tablespace.h"
#include "commands/vacuum.h"
#include "pgstat.h"
#include "postmaster/autovacuum.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "storage/smgr.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"

/*
 * TRUNCATE and the like: the rows of the old storage go, compressed ones too.
 */
static void
set_new_storage(Relation rel, const StrataLocator *locator, char persistence,
				TransactionId *freeze_xid, MultiXactId *min_multi)
{
	StrataLocator old = STRATA_REL_LOCATOR(rel);
	StrataTracked tracked;

	if (IsTransactionState() && strata_store_tracked(rel, &tracked))
		strata_track_whole(&tracked);
	if (STRATA_LOCATOR_NUMBER(old) != STRATA_LOCATOR_NUMBER(*locator) &&
		IsTransactionState())
		strata_companion_drop_of(&old, rel->rd_rel->relpersistence);
	strata_heap_am->STRATA_SET_NEW_STORAGE(rel, locator, persistence,
										   freeze_xid, min_multi);
}

/* TRUNCATE of a table made in this transaction, ON COMMIT DELETE ROWS. */
static void
relation_nontransactional_truncate(Relation rel)
{
	Oid			companion = strata_companion_oid(rel);
	StrataTracked tracked;

	if (strata_store_tracked(rel, &tracked))
		strata_track_whole(&tracked);
	strata_heap_am->relation_nontransactional_truncate(rel);
	if (OidIsValid(companion))
	{
		Relation	batches = table_open(companion, AccessExclusiveLock);
		Oid			index = strata_index_relation_oid(batches);

		heap_truncate_one_rel(batches);
		table_close(batches, NoLock);
		if (OidIsValid(index))
		{
			batches = table_open(index, AccessExclusiveLock);
			heap_truncate_one_rel(batches);
			table_close(batches, NoLock);
		}
	}
}

/*
 * Move a companion with its indexes, as its owner: that R's may use the
 * tablespace has been seen to.  Were they to stay, an insertion in the same
 * transaction would leave them, should it be rolled back, with TIDs beyond the
 * end of the old file.
 */
static void
set_tablespace(Oid companion, Oid tablespace)
{
	AlterTableCmd *cmd = makeNode(AlterTableCmd);
	Relation	batches = table_open(companion, AccessExclusiveLock);
	List	   *relids = lcons_oid(companion, RelationGetIndexList(batches));
	Oid			index = strata_index_relation_oid(batches);
	StrataOwnerContext saved;
	ListCell   *lc;

	table_close(batches, NoLock);
	if (OidIsValid(index))
	{
		batches = table_open(index, AccessExclusiveLock);
		relids = list_concat(relids, RelationGetIndexList(batches));
		relids = lappend_oid(relids, index);
		table_close(batches, NoLock);
	}
	strata_role_enter(strata_extension_owner(), &saved);
	cmd->subtype = AT_SetTableSpace;
	cmd->name = get_tablespace_name(tablespace);
	foreach(lc, relids)
		strata_alter_table(lfirst_oid(lc), list_make1(cmd));
	strata_owner_leave(&saved);
}

/* SET TABLESPACE: the companion moves along. */
static void
relation_copy_data(Relation rel, const StrataLocator *to)
{
	StrataLocator from = STRATA_REL_LOCATOR(rel);
	Oid			companion = strata_companion_oid(rel);

	strata_heap_am->relation_copy_data(rel, to);
	if (OidIsValid(companion))
	{
		if (STRATA_LOCATOR_SPACE(from) != STRATA_LOCATOR_SPACE(*to))
			set_tablespace(companion, STRATA_LOCATOR_SPACE(*to));
		strata_companion_rekey(companion, to);
	}
}

/* The first block whose rows' TIDs would look like those of compressed rows. */
#define BLOCKS_MAX ((BlockNumber) 1 << 31)

/* See am.h. */
void
strata_am_check_heap(Relation rel)
{
	Assert(rel->rd_rel->relam == HEAP_TABLE_AM_OID);	/* am:M2 */
	strata_store_can_compress(rel, "");
	if (RelationGetNumberOfBlocks(rel) >= BLOCKS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("table \"%s\" is too large for the access method strata",
						RelationGetRelationName(rel))));	/* am:M1 */
}

/* See am.h. */
void
strata_am_adopt_heap(Relation rel)
{
	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock,
								   false)); /* am:M2 */
	strata_am_check_heap(rel);
	strata_relam_set(RelationGetRelid(rel),
					 get_table_am_oid(STRATA_EXTENSION, false));
}

bool		strata_am_vacuum_batches = true;
bool		strata_am_keep_batches = false;

/*
 * heap's VACUUM has written how many rows it saw, which are those of the row
 * store, into pg_class and, the same number, into the statistics; what it did
 * not look at it took for as densely filled as the whole table.  Both halves
 * are meant.
 */
static void
count_both_halves(Relation rel)
{
	Snapshot	snapshot;
	BlockNumber visible;
	BlockNumber frozen;
	double		written;
	double		rows;

	if (!OidIsValid(strata_companion_oid(rel)))
		return;
	snapshot = RegisterSnapshot(strata_latest_snapshot());
	rows = strata_am_row_store_rows(rel) +
		strata_store_rows_in_batches(rel, snapshot);
	UnregisterSnapshot(snapshot);
	written = strata_reltuples_now(RelationGetRelid(rel));
	visibilitymap_count(rel, &visible, &frozen);
	strata_vac_update_relstats(rel, smgrnblocks(RelationGetSmgr(rel),
												MAIN_FORKNUM),
							   rows, visible, frozen);
	if (pgstat_should_count_relation(rel))
		rel->pgstat_info->STRATA_PGSTAT_COUNTS.STRATA_DELTA_LIVE +=
			(PgStat_Counter) (rows - Max(written, 0));
}

/* VACUUM: autovacuum finds the companion by itself. */
static void
relation_vacuum(Relation rel, struct VacuumParams *params,
				BufferAccessStrategy strategy)
{
	strata_am_forget_counts(rel);
	strata_heap_am->relation_vacuum(rel, params, strategy);
	if (strata_am_vacuum_batches && !strata_is_autovacuum_worker())
		strata_companion_vacuum(rel, params, strategy);
	/* by the companion's index alone, now that its pages are known to be */
	count_both_halves(rel);
}

/* VACUUM FULL, CLUSTER: both halves are rewritten, the batches as they are. */
static void
relation_copy_for_cluster(Relation old, Relation new, Relation index,
						  bool use_sort, TransactionId oldest_xmin,
						  TransactionId *xid_cutoff, MultiXactId *multi_cutoff,
						  double *num_tuples, double *tups_vacuumed,
						  double *tups_recently_dead)
{
	StrataDisguise old_disguise;
	StrataDisguise new_disguise;
	StrataLocator to = STRATA_REL_LOCATOR(new);
	volatile TransactionId horizon;
	Oid			companion;
	double		in_batches;

	strata_entries_forget_places(old);
	strata_store_fill_missing(old);
	companion = strata_companion_oid(old);
	in_batches = strata_am_rows_in_batches(old);

	/*
	 * We have taken snapshots since the caller looked, so what he would copy
	 * as recently dead may be pruned meanwhile, its TOAST values first.  From
	 * here on there are none.
	 */
	horizon = GetOldestNonRemovableTransactionId(old);
	if (TransactionIdPrecedes(horizon, oldest_xmin))
		horizon = oldest_xmin;
	strata_disguise_push(&old_disguise, old, strata_heap_am);
	strata_disguise_push(&new_disguise, new, strata_heap_am);
	PG_TRY();
	{
		strata_heap_am->relation_copy_for_cluster(old, new, index, use_sort,
												  horizon, xid_cutoff,
												  multi_cutoff, num_tuples,
												  tups_vacuumed,
												  tups_recently_dead);
		Assert(old->rd_tableam == strata_heap_am &&
			   new->rd_tableam == strata_heap_am);	/* am:M5 */
	}
	PG_FINALLY();
	{
		strata_disguise_pop(&new_disguise);
		strata_disguise_pop(&old_disguise);
	}
	PG_END_TRY();
	strata_log_removed_rows(old, horizon);
	/* becomes reltuples, which is of both halves */
	*num_tuples += in_batches;
	if (OidIsValid(companion))
		strata_companion_rekey(companion, &to);
	CacheInvalidateRelcache(old);

	/* last: what is above is between two looks at who sees which rows */
	if (OidIsValid(companion) && !strata_am_keep_batches)
		strata_companion_rewrite(companion);
}

void
strata_am_ddl_init(TableAmRoutine *am)
{
	am->STRATA_SET_NEW_STORAGE = set_new_storage;
	am->relation_nontransactional_truncate =
		relation_nontransactional_truncate;
	am->relation_vacuum = relation_vacuum;
	am->relation_copy_data = relation_copy_data;
	am->relation_copy_for_cluster = relation_copy_for_cluster;
}
