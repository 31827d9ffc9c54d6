/*-------------------------------------------------------------------------
 *
 * scan_sweep.c
 *	  DELETE of whole batches, by the scan below it.
 *
 * Where metadata says that all rows of a batch pass all quals, and nobody
 * wants to see them go (no row triggers, RETURNING, transition tables,
 * referencing keys, decoding), the batch is deleted as one row of the
 * companion and its rows are never returned to the ModifyTable node.  They
 * count as deleted.
 *
 * Allowed per execution, when the executor has started: plans do not change,
 * and triggers are known by then.
 *
 * src/scan/scan_sweep.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"
#include "change/change.h"

#include "access/table.h"
#include "access/xact.h"
#include "executor/executor.h"
#include "scan/scan.h"
#include "storage/lmgr.h"

/* The table's place in the ModifyTable node, if it is one of its targets. */
static ResultRelInfo *
find_target(ModifyTableState *mt, Relation rel)
{
	for (int i = 0; i < mt->mt_nrels; i++)
		if (RelationGetRelid(mt->resultRelInfo[i].ri_RelationDesc) ==
			RelationGetRelid(rel))
			return &mt->resultRelInfo[i];
	return NULL;
}

/* Does nobody ask what rows the statement deletes from the table? */
static bool
nobody_looks(ModifyTableState *mt, ResultRelInfo *target)
{
	ModifyTable *plan = (ModifyTable *) mt->ps.plan;
	TriggerDesc *triggers = target->ri_TrigDesc;

	if (mt->operation != CMD_DELETE || plan->returningLists != NIL ||
		plan->rowMarks != NIL || mt->mt_transition_capture != NULL)
		return false;
	/* the keys of other tables that refer to this one are row triggers, too */
	return triggers == NULL || (!triggers->trig_delete_before_row &&
								!triggers->trig_delete_after_row &&
								!triggers->trig_delete_instead_row &&
								!triggers->trig_delete_old_table);
}

static void
allow(ModifyTableState *mt, PlanState *child)
{
	StrataScanState *scan = strata_scan_state(child);
	ResultRelInfo *target;

	if (scan == NULL || scan->info.nkeys > 0)
		return;
	target = find_target(mt, scan->css.ss.ss_currentRelation);
	if (target != NULL && nobody_looks(mt, target))
		scan->sweeper = mt;
}

/* See scan.h. */
void
strata_scan_allow_sweep(PlanState *node)
{
	ModifyTableState *mt = (ModifyTableState *) node;
	PlanState  *child;

	if (node == NULL || !IsA(node, ModifyTableState) ||
		mt->operation != CMD_DELETE)
		return;
	child = outerPlanState(node);
	if (IsA(child, AppendState))
	{
		AppendState *append = (AppendState *) child;

		for (int i = 0; i < append->as_nplans; i++)
			allow(mt, append->appendplans[i]);
	}
	else
		allow(mt, child);
}

/* See scan_private.h. */
bool
strata_sweep_batch(StrataScanState *scan, StrataOpenBatch *batch)
{
	EState	   *estate = scan->css.ss.ps.state;
	Relation	rel = scan->css.ss.ss_currentRelation;
	int			nrows = batch->reader->nrows;

	/* a referential action's second snapshot is not asked here */
	if (!strata_enable_batch_delete ||
		estate->es_crosscheck_snapshot != InvalidSnapshot ||
		!strata_store_can_sweep(rel))
		return false;
	for (int i = 0; i < scan->filter->nquals; i++)
		if (batch->verdicts[i] != STRATA_ALL)
			return false;
	Assert(scan->sweeper->operation == CMD_DELETE &&
		   scan->info.nkeys == 0);	/* scan:R1 */
	strata_entries_apply(scan->entries, batch->reader);
	if (!scan->sweep_locked)
		LockRelationOid(RelationGetRelid(scan->store->batches),
						RowExclusiveLock);
	scan->sweep_locked = true;
	if (!strata_store_sweep_batch(rel, scan->store->batches,
								  &batch->batch_slot->tts_tid,
								  batch->reader->first_row, nrows,
								  batch->reader->ngone, estate->es_output_cid))
		return false;
	scan->nswept++;
	if (scan->sweeper->canSetTag)
		estate->es_processed += nrows - batch->reader->ngone;
	return true;
}
