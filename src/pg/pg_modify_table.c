/*-------------------------------------------------------------------------
 *
 * pg_modify_table.c
 *	  An INSERT whose rows are taken in by a function of ours, or have system
 *	  columns.
 *
 * ExecutorRun asks the top node of a plan for rows through its ExecProcNode,
 * and takes NULL for the end.  Whoever stands in ModifyTable's place does all
 * that it does: its own state is set up, and taken down, by PostgreSQL.
 *
 * Rows for a partitioned table are kept in virtual slots, which have no system
 * columns; partitions of the same row type use them, too, and PostgreSQL says
 * that RETURNING xmax cannot be had.  In slots of heap tuples, as those of a
 * table are, heapam leaves the tuple it has made.
 *
 * src/pg/pg_modify_table.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

/* See pg.h. */
void
strata_modify_table_run_by(ModifyTableState *mt, ExecProcNodeMtd run)
{
	ExecSetExecProcNode(&mt->ps, run);
}

/* See pg.h. */
bool
strata_modify_table_row_fits(ModifyTableState *mt)
{
	TupleDesc	desc =
	RelationGetDescr(mt->rootResultRelInfo->ri_RelationDesc);
	int			n = 0;
	ListCell   *lc;

	foreach(lc, outerPlan(mt->ps.plan)->targetlist)
	{
		TargetEntry *te = lfirst_node(TargetEntry, lc);

		if (te->resjunk)
			continue;
		if (n >= desc->natts ||
			(!TupleDescAttr(desc, n)->attisdropped &&
			 exprType((Node *) te->expr) != TupleDescAttr(desc, n)->atttypid))
			return false;
		n++;
	}
	return n == desc->natts;
}

/*
 * Does RETURNING name a system column that is in the tuple's header?  The
 * place of a row and its table are in every slot.
 */
static bool
returns_header(const ModifyTable *plan)
{
	Bitmapset  *columns = NULL;

	if (plan->returningLists == NIL)
		return false;
	pull_varattnos(linitial(plan->returningLists),
				   linitial_int(plan->resultRelations), &columns);
	for (AttrNumber attno = FirstLowInvalidHeapAttributeNumber + 1; attno < 0;
		 attno++)
		if (attno != SelfItemPointerAttributeNumber &&
			attno != TableOidAttributeNumber &&
			bms_is_member(attno - FirstLowInvalidHeapAttributeNumber, columns))
			return true;
	return false;
}

/* See pg.h. */
void
strata_modify_table_keep_headers(ModifyTableState *mt)
{
	ResultRelInfo *root = mt->rootResultRelInfo;
	TupleDesc	desc = RelationGetDescr(root->ri_RelationDesc);
	OnConflictSetState *conflict = root->ri_onConflict;

	/* the projection that leaves out junk columns is PostgreSQL's to make */
	if (!returns_header((ModifyTable *) mt->ps.plan) ||
		root->ri_projectNewInfoValid ||
		list_length(outerPlan(mt->ps.plan)->targetlist) != desc->natts ||
		!strata_modify_table_row_fits(mt))
		return;
	root->ri_newTupleSlot = ExecInitExtraTupleSlot(mt->ps.state, desc,
												   &TTSOpsHeapTuple);
	root->ri_projectNewInfoValid = true;
	if (conflict == NULL || conflict->oc_ProjInfo == NULL)
		return;
	conflict->oc_ProjSlot = ExecInitExtraTupleSlot(mt->ps.state, desc,
												   &TTSOpsHeapTuple);
	conflict->oc_ProjInfo->pi_state.resultslot = conflict->oc_ProjSlot;
}
