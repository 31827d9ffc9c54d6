/*-------------------------------------------------------------------------
 *
 * load_plan.c
 *	  INSERT ... SELECT into a table with strata.direct_load.
 *
 * Planning puts a node under ModifyTable that passes rows through; it
 * remembers what the query says against a load of many rows at a time, and
 * tells EXPLAIN. When nothing does, executor start has ModifyTable execute
 * load_rows.c's function instead of its own.  What only the moment can tell
 * (locks, the number of rows) is decided there.
 *
 * src/load/load_plan.c
 *-------------------------------------------------------------------------
 */
#include "load/load_private.h"
#include "hypertable/chunk_route.h"
#include "pg/pg.h"
#include "catalog/catalog.h"
#include "compress/compress.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "commands/explain.h"
#ifdef STRATA_EXPLAIN_IS_SPLIT
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

typedef struct LoadState
{
	CustomScanState css;
	const char *obstacle;		/* of the query; NULL: none */
	Relation	rel;			/* NULL: not bound */
	bool		ran;
	int64		nbatched;
} LoadState;

static Node *create_load_state(CustomScan *scan);

static const CustomScanMethods load_methods = {
	.CustomName = "StrataLoad",
	.CreateCustomScanState = create_load_state
};

/*-------------------------------------------------------------------------
 * Planning
 *-------------------------------------------------------------------------
 */

/* See load.h. */
bool
strata_load_is_wanted(Relation rel)
{
	if (!strata_enable_direct_load)
		return false;
	return (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
			strata_relation_is_strata(rel)) &&
		strata_load_wants_batches(rel);
}

/* Is a partition a foreign table, or partitioned itself? */
static bool
has_foreign_partition(Relation rel)
{
	PartitionDesc desc;

	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		return false;
	desc = RelationGetPartitionDesc(rel, true);
	for (int i = 0; i < desc->nparts; i++)
		if (get_rel_relkind(desc->oids[i]) != RELKIND_RELATION)
			return true;
	return false;
}

/* What in the query or the table forbids to collect rows; NULL: nothing. */
static const char *
query_obstacle(Query *query, Relation rel)
{
	if (query->returningList != NIL)
		return "RETURNING";
	if (query->onConflict != NULL)
		return "ON CONFLICT";
	if (query->hasModifyingCTE)
		return "data-modifying WITH";
	if (query->withCheckOptions != NIL)
		return "check option or row security";
	if (!strata_load_triggers_allow(rel->trigdesc) ||
		(rel->trigdesc != NULL && rel->trigdesc->trig_insert_after_row))
		return "trigger";
	if (has_foreign_partition(rel))
		return "partition that is not a table";
	/* it might look at rows that this statement has inserted */
	if (strata_load_has_volatile((Node *) query, NULL) ||
		strata_load_check_is_volatile(rel))
		return "volatile function";
	return NULL;
}

/* See load.h. */
const char *
strata_load_query_obstacle(Query *query, bool *wanted)
{
	const char *obstacle = NULL;
	Relation	rel;

	*wanted = false;
	if (!strata_enable_direct_load || query->commandType != CMD_INSERT ||
		query->jointree->fromlist == NIL)
		return NULL;
	rel = table_open(rt_fetch(query->resultRelation, query->rtable)->relid,
					 NoLock);
	if (strata_load_is_wanted(rel))
	{
		*wanted = true;
		obstacle = query_obstacle(query, rel);
	}
	table_close(rel, NoLock);
	return obstacle;
}

/*
 * The node's plan data is the obstacle alone, NULL or not: a list of one
 * string, "" for NULL.
 */
static void
write_obstacle(CustomScan *scan, const char *obstacle)
{
	scan->custom_private =
		list_make1(makeString(pstrdup(obstacle != NULL ? obstacle : "")));
}

static const char *
read_obstacle(const CustomScan *scan)
{
	const char *obstacle = strVal(linitial(scan->custom_private));

	return obstacle[0] != '\0' ? obstacle : NULL;
}

/* See load.h. */
void
strata_load_plan(PlannedStmt *stmt, const char *obstacle)
{
	ModifyTable *modify = (ModifyTable *) stmt->planTree;
	CustomScan *scan;

	if (!IsA(modify, ModifyTable) || modify->operation != CMD_INSERT)
		return;
	scan = strata_make_pass_through(outerPlan(modify), &load_methods);
	write_obstacle(scan, obstacle);
	outerPlan(modify) = (Plan *) scan;
}

/*-------------------------------------------------------------------------
 * Execution
 *-------------------------------------------------------------------------
 */

/* The node under ModifyTable or under the one that makes chunks, or NULL. */
static LoadState *
find_load(PlanState *child)
{
	while (child != NULL && IsA(child, CustomScanState))
	{
		CustomScan *scan = (CustomScan *) child->plan;

		if (scan->methods == &load_methods)
			return (LoadState *) child;
		if (!strata_route_is_node(scan))
			return NULL;
		child = outerPlanState(child);
	}
	return NULL;
}

/* In ModifyTable's place. */
static TupleTableSlot *
exec_load_rows(PlanState *ps)
{
	ModifyTableState *mt = (ModifyTableState *) ps;
	LoadState  *state = find_load(outerPlanState(mt));

	if (!state->ran)
	{
		state->ran = true;
		state->nbatched = strata_load_rows(mt, NULL);
	}
	return NULL;
}

/* See load.h. */
void
strata_load_bind(QueryDesc *query_desc)
{
	ModifyTableState *mt = (ModifyTableState *) query_desc->planstate;
	LoadState  *state;

	if (query_desc->operation != CMD_INSERT || !IsA(mt, ModifyTableState))
		return;
	state = find_load(outerPlanState(mt));
	if (state == NULL || !strata_enable_direct_load)
		return;
	state->rel = mt->rootResultRelInfo->ri_RelationDesc;
	if (state->obstacle == NULL &&
		strata_modify_table_row_fits(mt))
		strata_modify_table_run_by(mt, exec_load_rows);
}

static void
begin_load(CustomScanState *css, EState *estate, int eflags)
{
	((LoadState *) css)->obstacle =
		read_obstacle((CustomScan *) css->ss.ps.plan);
	strata_custom_begin_child(css, estate, eflags);
}

static TupleTableSlot *
exec_load(CustomScanState *css)
{
	return ExecProcNode(outerPlanState(css));
}

static void
explain_load(CustomScanState *css, List *ancestors, ExplainState *es)
{
	LoadState  *state = (LoadState *) css;
	const char *obstacle = state->obstacle;

	if (obstacle == NULL && state->rel == NULL)
		obstacle = "strata.enable_direct_load is off";
	if (obstacle == NULL && state->rel->rd_rel->relkind == RELKIND_RELATION)
		obstacle = strata_direct_load_obstacle(state->rel);
	ExplainPropertyText("Direct Load",
						obstacle == NULL ? "yes" :
						psprintf("no (%s)", obstacle),
						es);
	if (es->analyze && state->ran)
		ExplainPropertyInteger("Rows into Batches", NULL, state->nbatched, es);
}

static const CustomExecMethods load_exec_methods = {
	.CustomName = "StrataLoad",
	.BeginCustomScan = begin_load,
	.ExecCustomScan = exec_load,
	.EndCustomScan = strata_custom_end_child,
	.ReScanCustomScan = strata_custom_rescan_child,
	.ExplainCustomScan = explain_load
};

static Node *
create_load_state(CustomScan *scan)
{
	return strata_custom_state(sizeof(LoadState), &load_exec_methods);
}

/* See load.h. */
void
strata_load_init(void)
{
	strata_copy_init();
	RegisterCustomScanMethods(&load_methods);
}
