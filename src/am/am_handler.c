/*-------------------------------------------------------------------------
 *
 * am_handler.c
 *	  The TableAmRoutine: heapam's, with our callbacks over it.
 *
 * src/am/am_handler.c
 *-------------------------------------------------------------------------
 */
#include "am/am.h"
#include "am/am_private.h"
#include "store/store.h"

#include "catalog/pg_am.h"
#include "fmgr.h"
#include "utils/inval.h"

const TableAmRoutine *strata_heap_am;
static TableAmRoutine routine;

PG_FUNCTION_INFO_V1(strata_handler);

Datum
strata_handler(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&routine);
}

/*
 * TOAST tables are plain heap (heapam would answer: the table's own method).
 */
static Oid
relation_toast_am(Relation rel)
{
	return HEAP_TABLE_AM_OID;
}

/* See am.h. */
void
strata_am_init(void)
{
	strata_heap_am = GetHeapamTableAmRoutine();
	routine = *strata_heap_am;
	routine.relation_toast_am = relation_toast_am;
	strata_am_scan_init(&routine);
	strata_am_fetch_init(&routine);
	strata_am_modify_init(&routine);
	strata_am_index_init(&routine);
	strata_am_ddl_init(&routine);
	strata_am_analyze_init(&routine);
	strata_am_uncover_init(&routine);
	strata_am_sample_init(&routine);
	strata_am_routine = &routine;
	strata_disguise_init();
}
