/*-------------------------------------------------------------------------
 *
 * scan_sweep.c
 *	  DELETE of batches and their rows, by the scan below it.
 *
 * Where metadata says that all rows of a batch pass all quals, and nobody
 * wants to see them go (no row triggers, RETURNING, transition tables,
 * referencing keys, decoding), the batch is deleted as one row of the
 * companion and its rows are never returned to the ModifyTable node.  They
 * count as deleted.  Where some of its rows pass, by vector quals alone, their
 * entries are written together, and only rows that somebody else has to do
 * with are returned.
 *
 * Where somebody wants to see them (RETURNING, triggers that fire afterwards,
 * as those of referencing keys, transition tables), entries are written
 * together as well, and all rows are returned; change/ tells the ModifyTable
 * node that they are deleted.  That takes a run to its end: who stops after
 * some rows has deleted these alone.
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
#include "catalog/pg_trigger.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "scan/scan.h"
#include "scan/scan_sweep_private.h"
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

/* Has a row trigger of DELETE a condition?  It is evaluated row by row. */
static bool
has_trigger_condition(const TriggerDesc *triggers)
{
	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		const Trigger *trigger = &triggers->triggers[i];

		if (trigger->tgqual != NULL && TRIGGER_FOR_ROW(trigger->tgtype) &&
			TRIGGER_FOR_DELETE(trigger->tgtype))
			return true;
	}
	return false;
}

/* See scan_sweep_private.h. */
bool
strata_sweep_all_are_deleted(const ResultRelInfo *target)
{
	const TriggerDesc *triggers = target->ri_TrigDesc;

	return (triggers == NULL || (!triggers->trig_delete_before_row &&
								 !triggers->trig_delete_instead_row)) &&
		!has_trigger_condition(triggers);
}

/* May rows be deleted early, as far as the statement goes, not its targets? */
static bool
statement_allows(ModifyTableState *mt)
{
	ModifyTable *plan = (ModifyTable *) mt->ps.plan;
	bool		ours = false;

	if (mt->operation != CMD_DELETE)
		return false;
	for (int i = 0; i < mt->mt_nrels && !ours; i++)
		ours = strata_relation_is_strata(mt->resultRelInfo[i].ri_RelationDesc);
	/* a function that is called for a row may look at others */
	return ours &&
		!contain_subplans((Node *) plan->returningLists) &&
		!contain_volatile_functions((Node *) plan->returningLists) &&
		!strata_sweep_is_noticed_once(mt);
}

/* Does somebody ask what rows the statement deletes from the table? */
static bool
somebody_looks(ModifyTableState *mt, ResultRelInfo *target)
{
	TriggerDesc *triggers = target->ri_TrigDesc;

	/* the keys of other tables that refer to this one are row triggers, too */
	return ((ModifyTable *) mt->ps.plan)->returningLists != NIL ||
		mt->mt_transition_capture != NULL ||
		(triggers != NULL && (triggers->trig_delete_after_row ||
							  triggers->trig_delete_old_table));
}

static void
allow(ModifyTableState *mt, PlanState *child, bool complete)
{
	StrataScanState *scan = strata_scan_state(child);
	ResultRelInfo *target;

	if (scan == NULL || scan->info.nkeys > 0)
		return;
	target = find_target(mt, scan->css.ss.ss_currentRelation);
	if (target == NULL || ((ModifyTable *) mt->ps.plan)->rowMarks != NIL ||
		!strata_sweep_all_are_deleted(target))
		return;
	scan->sweep_tells = somebody_looks(mt, target);
	if (complete || !scan->sweep_tells)
		scan->sweeper = mt;
}

/* See scan.h. */
void
strata_scan_allow_sweep(PlanState *node, bool complete)
{
	ModifyTableState *mt = (ModifyTableState *) node;
	PlanState  *child;

	if (node == NULL || !IsA(node, ModifyTableState) || !statement_allows(mt))
		return;
	child = outerPlanState(node);
	if (IsA(child, AppendState))
	{
		AppendState *append = (AppendState *) child;

		for (int i = 0; i < append->as_nplans; i++)
			allow(mt, append->appendplans[i], complete);
	}
	else if (strata_scan_state(child) != NULL)
		allow(mt, child, complete);
	else if (complete)
		strata_sweep_gather(mt);
}

/* May rows be deleted below the ModifyTable node, with all it needs? */
static bool
begin_sweep(StrataScanState *scan)
{
	/* a referential action's second snapshot is not asked here */
	if (!strata_enable_batch_delete ||
		scan->css.ss.ps.state->es_crosscheck_snapshot != InvalidSnapshot ||
		!strata_store_can_sweep(scan->css.ss.ss_currentRelation))
		return false;
	Assert(scan->sweeper->operation == CMD_DELETE &&
		   scan->info.nkeys == 0);	/* scan:R1 */
	if (!scan->sweep_locked)
		LockRelationOid(RelationGetRelid(scan->store->batches),
						RowExclusiveLock);
	scan->sweep_locked = true;
	return true;
}

static void
count_deleted(StrataScanState *scan, int nrows)
{
	if (scan->sweeper->canSetTag)
		scan->css.ss.ps.state->es_processed += nrows;
}

/* See scan_private.h. */
bool
strata_sweep_batch(StrataScanState *scan, StrataOpenBatch *batch)
{
	int			nrows = batch->reader->nrows;

	for (int i = 0; i < scan->filter->nquals; i++)
		if (batch->verdicts[i] != STRATA_ALL)
			return false;
	if (scan->sweep_tells || !begin_sweep(scan))
		return false;
	strata_entries_apply(scan->entries, batch->reader);
	if (!strata_store_sweep_batch(scan->css.ss.ss_currentRelation,
								  scan->store->batches,
								  &batch->batch_slot->tts_tid,
								  batch->reader->first_row, nrows,
								  batch->reader->ngone,
								  scan->css.ss.ps.state->es_output_cid))
		return false;
	strata_store_track_rows(scan->css.ss.ss_currentRelation, batch->reader,
							NULL, nrows);
	scan->nswept++;
	count_deleted(scan, nrows - batch->reader->ngone);
	return true;
}

/* See scan_private.h. */
bool
strata_sweep_rows(StrataScanState *scan, StrataOpenBatch *batch)
{
	StrataVectorBatch *vector = &batch->vector;
	int			nrows = vector->nrows;
	int			nleft;
	uint16	   *rows;

	/* quals that are tried row by row, when a row is asked for */
	if (batch->nresiduals > 0 || !begin_sweep(scan))
		return true;
	rows = strata_batch_row_space(scan, batch, batch->reader->nrows);
	if (vector->rows == NULL)
		for (int i = 0; i < nrows; i++)
			rows[i] = (uint16) i;
	Assert(vector->rows == NULL || vector->rows == rows);	/* scan:R1 */
	strata_store_track_rows(scan->css.ss.ss_currentRelation, batch->reader,
							rows, nrows);
	if (scan->sweep_tells)
		rows = memcpy(palloc(sizeof(uint16) * nrows), rows,
					  sizeof(uint16) * nrows);
	nleft = strata_store_delete_rows(scan->css.ss.ss_currentRelation,
									 scan->store->batches,
									 &batch->batch_slot->tts_tid,
									 batch->reader->first_row, rows, nrows,
									 scan->css.ss.ps.state->es_output_cid,
									 scan->sweep_tells);
	Assert(nleft >= 0 && nleft <= nrows);	/* scan:R1 */
	scan->nswept_rows += nrows - nleft;
	if (scan->sweep_tells)
	{
		pfree(rows);
		return true;
	}
	vector->rows = rows;
	vector->nrows = nleft;
	count_deleted(scan, nrows - nleft);
	return nleft > 0;
}
