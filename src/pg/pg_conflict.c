/*-------------------------------------------------------------------------
 *
 * pg_conflict.c
 *	  Standbys hear that rows which old snapshots see have gone.
 *
 * VACUUM logs which transactions' dead rows it removes, and a standby ends the
 * queries whose snapshots see them.  VACUUM FULL and CLUSTER do not: a
 * snapshot of a standby that has not locked the table yet finds the copy,
 * where such rows are missing, and its query's answer is wrong.  No record
 * says so by itself, but that of a btree page which is used again says nothing
 * else: it changes no page.
 *
 * src/pg/pg_conflict.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "base/compat.h"

#include "access/nbtxlog.h"
#include "access/transam.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "utils/rel.h"

/* The transaction ID with the epoch that it has now. */
static FullTransactionId
full_xid(TransactionId xid)
{
	FullTransactionId next = ReadNextFullTransactionId();
	uint32		epoch = EpochFromFullTransactionId(next);

	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return FullTransactionIdFromEpochAndXid(epoch, xid);
}

/* See pg.h. */
void
strata_log_removed_rows(Relation rel, TransactionId horizon)
{
	xl_btree_reuse_page record = {0};

	if (!RelationNeedsWAL(rel) || !XLogStandbyInfoActive() ||
		!TransactionIdIsNormal(horizon) || horizon == FirstNormalTransactionId)
		return;
	TransactionIdRetreat(horizon);
	record.block = InvalidBlockNumber;
	STRATA_REUSE_LOCATOR(record) = STRATA_REL_LOCATOR(rel);
	STRATA_REUSE_HORIZON(record) = full_xid(horizon);
	XLogBeginInsert();
	XLogRegisterData((char *) &record, SizeOfBtreeReusePage);
	(void) XLogInsert(RM_BTREE_ID, XLOG_BTREE_REUSE_PAGE);
}
