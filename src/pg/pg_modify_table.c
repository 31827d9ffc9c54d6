/*-------------------------------------------------------------------------
 *
 * pg_modify_table.c
 *	  An INSERT whose rows are taken in by a function of ours.
 *
 * ExecutorRun asks the top node of a plan for rows through its ExecProcNode,
 * and takes NULL for the end.  Whoever stands in ModifyTable's place does all
 * that it does: its own state is set up, and taken down, by PostgreSQL.
 *
 * src/pg/pg_modify_table.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"

#include "executor/executor.h"

/* See pg.h. */
void
strata_modify_table_run_by(ModifyTableState *mt, ExecProcNodeMtd run)
{
	ExecSetExecProcNode(&mt->ps, run);
}
