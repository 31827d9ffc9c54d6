/*-------------------------------------------------------------------------
 *
 * pg_plan_note.c
 *	  A list that a finished plan carries, through caches and copies.
 *
 * PlannedStmt has no place for an extension's own.  The list hangs on a node
 * at the end of the list of subplans, which nothing refers to: PostgreSQL
 * copies it with the plan, sets it up as an empty plan node and never runs it.
 *
 * src/pg/pg_plan_note.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "nodes/extensible.h"

static Node *create_note_state(CustomScan *scan);

static const CustomScanMethods note_methods = {
	.CustomName = "StrataPlanNote",
	.CreateCustomScanState = create_note_state
};

static void
begin_note(CustomScanState *state, EState *estate, int eflags)
{
}

static TupleTableSlot *
exec_note(CustomScanState *state)
{
	return NULL;
}

static void
end_note(CustomScanState *state)
{
}

static const CustomExecMethods note_exec_methods = {
	.CustomName = "StrataPlanNote",
	.BeginCustomScan = begin_note,
	.ExecCustomScan = exec_note,
	.EndCustomScan = end_note,
	.ReScanCustomScan = end_note
};

static Node *
create_note_state(CustomScan *scan)
{
	CustomScanState *state = makeNode(CustomScanState);

	state->methods = &note_exec_methods;
	return (Node *) state;
}

/* See pg.h. */
void
strata_plan_note_attach(PlannedStmt *stmt, List *note)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->methods = &note_methods;
	scan->custom_private = note;
	stmt->subplans = lappend(stmt->subplans, scan);
}

/* See pg.h. */
List *
strata_plan_note_find(PlannedStmt *stmt)
{
	CustomScan *scan;

	if (stmt->subplans == NIL)
		return NIL;
	scan = llast(stmt->subplans);
	return scan != NULL && IsA(scan, CustomScan) &&
		scan->methods == &note_methods ?
		scan->custom_private :
		NIL;
}

/* See pg.h. */
void
strata_plan_note_init(void)
{
	RegisterCustomScanMethods(&note_methods);
}
