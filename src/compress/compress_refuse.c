/*-------------------------------------------------------------------------
 *
 * compress_refuse.c
 *	  Rows that an index of the table might refuse.
 *
 * A row that is loaded straight into a batch comes into no index.  Where an
 * index would have raised an error, of an expression or because its key is too
 * long, so must the load: such a row could never leave its batch again.
 * Expressions are evaluated here; rows with long keys go to the row store,
 * whose indexes decide.
 *
 * src/compress/compress_refuse.c
 *-------------------------------------------------------------------------
 */
#include "compress/compress_private.h"
#include "pg/pg.h"

#include "access/genam.h"
#include "catalog/index.h"
#include "executor/executor.h"

/* An index that might. */
typedef struct PickyIndex
{
	Relation	index;
	IndexInfo  *info;
	ExprState  *predicate;
	bool		limits;			/* the length of its keys */
} PickyIndex;

struct StrataPickyIndexes
{
	EState	   *estate;
	List	   *indexes;		/* of PickyIndex * */
};

/* See compress_private.h. */
StrataPickyIndexes *
strata_picky_indexes_open(Relation rel)
{
	StrataPickyIndexes *picky = palloc0(sizeof(StrataPickyIndexes));
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), RowExclusiveLock);
		IndexInfo  *info = BuildIndexInfo(index);
		PickyIndex *one;
		bool		limits = strata_btree_limits(index);

		if (!info->ii_ReadyForInserts ||
			(info->ii_Expressions == NIL && info->ii_Predicate == NIL &&
			 !limits))
		{
			index_close(index, RowExclusiveLock);
			continue;
		}
		if (picky->estate == NULL)
			picky->estate = CreateExecutorState();
		one = palloc0(sizeof(PickyIndex));
		one->index = index;
		one->info = info;
		one->predicate = ExecPrepareQual(info->ii_Predicate, picky->estate);
		one->limits = limits;
		picky->indexes = lappend(picky->indexes, one);
	}
	return picky;
}

/* See compress_private.h. */
void
strata_picky_indexes_close(StrataPickyIndexes *picky)
{
	ListCell   *lc;

	foreach(lc, picky->indexes)
		index_close(((PickyIndex *) lfirst(lc))->index, NoLock);
	if (picky->estate != NULL)
		FreeExecutorState(picky->estate);
	pfree(picky);
}

/* See compress_private.h. */
bool
strata_picky_indexes_take(StrataPickyIndexes *picky, TupleTableSlot *slot)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];
	ListCell   *lc;

	foreach(lc, picky->indexes)
	{
		PickyIndex *one = lfirst(lc);

		Assert(!one->info->ii_Unique);	/* compress:K3 */
		ResetPerTupleExprContext(picky->estate);
		GetPerTupleExprContext(picky->estate)->ecxt_scantuple = slot;
		if (!ExecQual(one->predicate, GetPerTupleExprContext(picky->estate)))
			continue;
		FormIndexDatum(one->info, slot, picky->estate, values, isnull);
		if (one->limits &&
			strata_btree_key_is_long(one->index, values, isnull))
			return false;
	}
	return true;
}
