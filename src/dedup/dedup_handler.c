/*-------------------------------------------------------------------------
 *
 * dedup_handler.c
 *	  The TableAmRoutine of strata_dedup: heapam's, with our callbacks over it.
 *
 * src/dedup/dedup_handler.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "catalog/pg_am.h"
#include "fmgr.h"

const TableAmRoutine *strata_dedup_heap;
TableAmRoutine strata_dedup_routine;

PG_FUNCTION_INFO_V1(strata_dedup_handler);

Datum
strata_dedup_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&strata_dedup_routine);
}

/* See dedup.h. */
bool
strata_is_dedup(Relation rel)
{
	return rel->rd_tableam == &strata_dedup_routine;
}

/* TOAST tables are plain heap: heapam would answer, the table's own method. */
static Oid
dedup_relation_toast_am(Relation rel)
{
	return HEAP_TABLE_AM_OID;
}

/* See dedup.h. */
void
strata_dedup_init(void)
{
	strata_dedup_heap = GetHeapamTableAmRoutine();
	strata_dedup_routine = *strata_dedup_heap;
	strata_dedup_routine.relation_toast_am = dedup_relation_toast_am;
	strata_dedup_slot_init();
	strata_dedup_read_init(&strata_dedup_routine);
	strata_dedup_write_init(&strata_dedup_routine);
	strata_dedup_index_init(&strata_dedup_routine);
	strata_dedup_rewrite_init(&strata_dedup_routine);
	strata_dedup_vacuum_init(&strata_dedup_routine);
}
