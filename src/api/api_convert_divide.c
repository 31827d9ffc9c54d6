/*-------------------------------------------------------------------------
 *
 * api_convert_divide.c
 *	  convert(): the first chunk, which was the table, becomes chunks of the
 *	  interval, in steps (hypertable/chunk_divide.c).
 *
 * Each step is a transaction: the chunk's changes are noted from now on; the
 * rows of one interval are copied; what has changed is copied again, until
 * that is little; and the change itself, which alone shuts anybody out.  Where
 * it stands is in the catalog, so a call that ended early is gone on with.
 *
 * src/api/api_convert_divide.c
 *-------------------------------------------------------------------------
 */
#include "api/api_convert_private.h"
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "job/job.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

/* So few times are copied again under the lock, or soon before it. */
#define FEW_TIMES 200

/* Copying again gains on the writers, or never will. */
#define MAX_ROUNDS 30

/* Of a step: the chunk is ours; NULL: it is none any more. */
static StrataHypertable *
enter_step(StrataConvert *convert, Oid chunk)
{
	strata_convert_lock(convert, chunk, NoLock);
	Assert(strata_table_ownercheck(chunk, convert->user));	/* api:P1 */
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("convert() divides a chunk in READ COMMITTED transactions only"),
				 errhint("SET default_transaction_isolation = 'read committed';")));
	if (!strata_divide_lock(chunk))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("another session divides chunk \"%s\"",
						get_rel_name(chunk))));
	if (!get_rel_relispartition(chunk) || !strata_divide_is(chunk))
		return NULL;
	return strata_hypertable_get(get_partition_parent(chunk, true));
}

/* Where a call before has got to, and what will be in the way. */
static void
look_at_divided(Oid chunk, void *arg)
{
	StrataConvert *convert = arg;
	StrataHypertable *ht = enter_step(convert, chunk);

	char	   *own;

	convert->any = ht != NULL;
	if (ht == NULL)
		return;
	convert->division = strata_divide_begun(ht, chunk);
	/* what is refused in the end is said in the beginning */
	own = strata_chunk_own_objects(ht->relid, chunk);
	if (own != NULL)
		ereport(WARNING,
				(errmsg("chunk \"%s\" has objects of its own, and is not replaced as long as they are there",
						get_rel_name(chunk)),
				 errdetail_internal("%s", own),
				 errhint("Drop them while it is copied, or make them on \"%s\".",
						 get_rel_name(ht->relid))));
}

static void
begin_noting(Oid chunk, void *arg)
{
	StrataConvert *convert = arg;
	StrataHypertable *ht = enter_step(convert, chunk);

	if (ht == NULL)
		return;
	LockRelationOid(chunk, ShareRowExclusiveLock);
	convert->locked_at = GetCurrentTimestamp();
	/* somebody may just have done so */
	convert->division = strata_divide_begun(ht, chunk);
	if (convert->division == 0)
		convert->division = strata_divide_begin(ht, chunk);
}

/* One more interval, and what that was. */
static void
copy_interval(Oid chunk, void *arg)
{
	StrataConvert *convert = arg;
	StrataHypertable *ht = enter_step(convert, chunk);

	convert->any = ht != NULL;
	if (ht == NULL)
		return;
	strata_divide_check(ht, chunk, convert->division);
	convert->any = strata_divide_copy_next(ht, chunk, &convert->from,
										   &convert->rows);
	if (convert->any)
		ereport(NOTICE,
				(errmsg("%llu rows of an interval of \"%s\" are copied",
						(unsigned long long) convert->rows,
						get_rel_name(chunk))));
}

static void
copy_changes(Oid chunk, void *arg)
{
	StrataConvert *convert = arg;
	StrataHypertable *ht = enter_step(convert, chunk);

	convert->count = 0;
	if (ht == NULL)
		return;
	strata_divide_check(ht, chunk, convert->division);
	convert->count = strata_divide_follow(ht, chunk, false);
}

/* Their row stores' pages are given back later, as after compression. */
static void
reclaim_space(const StrataHypertable *ht)
{
	ListCell   *lc;

	foreach(lc, strata_chunk_list(ht))
	{
		Relation	rel = table_open(((StrataChunk *) lfirst(lc))->relid,
									 AccessShareLock);

		if (strata_relation_is_strata(rel) &&
			CheckRelationLockedByMe(rel, AccessExclusiveLock, false) &&
			RelationGetNumberOfBlocks(rel) > 0)
			strata_space_reclaim_later(rel, false);
		table_close(rel, NoLock);
	}
}

/* Everybody else is shut out from here to the end of this transaction. */
static void
change_over(Oid chunk, void *arg)
{
	StrataConvert *convert = arg;
	StrataHypertable *ht = enter_step(convert, chunk);

	convert->any = false;
	if (ht == NULL)
		return;
	strata_divide_check_same(chunk, convert->division);
	/* before anybody waits for us, and again behind the lock */
	strata_chunk_refuse_own(ht->relid, chunk);
	(void) strata_divide_follow(ht, chunk, false);
	strata_chunk_lock(ht->relid, AccessExclusiveLock);
	convert->locked_at = GetCurrentTimestamp();
	LockRelationOid(chunk, AccessExclusiveLock);
	/* dropped or detached by whoever had it before */
	convert->any = get_rel_relispartition(chunk) &&
		get_partition_parent(chunk, true) == ht->relid;
	if (!convert->any)
		return;
	strata_divide_check(ht, chunk, convert->division);
	(void) strata_divide_follow(ht, chunk, true);
	convert->count = strata_divide_finish(ht, chunk, convert->division);
	reclaim_space(ht);
}

/* See api_convert_private.h. */
void
strata_convert_leave_whole(Oid chunk, void *arg)
{
	StrataConvert *convert = arg;

	if (enter_step(convert, chunk) == NULL)
		return;
	LockRelationOid(chunk, AccessExclusiveLock);
	convert->locked_at = GetCurrentTimestamp();
	strata_divide_give_up(chunk);
	/* until somebody asks for it again */
	strata_divide_register(chunk);
	ereport(NOTICE,
			(errmsg("chunk \"%s\" is left as it is, and what was copied of it is gone",
					get_rel_name(chunk))));
}

/* See api_convert_private.h. */
bool
strata_convert_divide(StrataRun *run, StrataConvert *convert, Oid chunk)
{
	char	   *name = get_rel_name(chunk);

	convert->from = PG_INT64_MIN;
	if (!strata_convert_step(run, chunk, look_at_divided, convert))
		return false;
	if (!convert->any)
		return true;
	if (convert->division == 0)
	{
		ereport(NOTICE,
				(errmsg("chunk \"%s\" is locked (SHARE ROW EXCLUSIVE) to have its changes noted",
						name)));
		if (!strata_convert_step(run, chunk, begin_noting, convert))
			return false;
	}
	do
	{
		if (!strata_convert_step(run, chunk, copy_interval, convert))
			return false;
	} while (convert->any);
	for (int round = 0; round < MAX_ROUNDS; round++)
	{
		if (!strata_convert_step(run, chunk, copy_changes, convert))
			return false;
		if (convert->count <= FEW_TIMES)
			break;
	}
	ereport(NOTICE,
			(errmsg("table \"%s\" is locked (ACCESS EXCLUSIVE) for chunks to take the place of \"%s\"",
					get_rel_name(convert->root), name)));
	if (!strata_convert_step(run, chunk, change_over, convert))
		return false;
	if (convert->any)
		ereport(NOTICE,
				(errmsg("chunk \"%s\" has become %d chunks", name,
						convert->count),
				 errdetail("The longest lock was held for %.1f ms.",
						   (double) convert->longest / 1000)));
	return true;
}
