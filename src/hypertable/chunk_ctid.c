/*-------------------------------------------------------------------------
 *
 * chunk_ctid.c
 *	  An UPDATE or DELETE by ctid alone that meets rows of several chunks.
 *
 * A ctid is a place in one chunk.  postgres_fdw, and others who remember rows
 * by ctid, write "UPDATE t SET ... WHERE ctid = $1" also when t is partitioned,
 * and PostgreSQL then changes the row in that place of every partition.  Who
 * names one ctid means one row, so of a hypertable no second one is changed.
 *
 * src/hypertable/chunk_ctid.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/chunk_route.h"
#include "hypertable/hypertable.h"

#include "access/sysattr.h"
#include "catalog/pg_operator_d.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

/* ctid = something, among implicitly ANDed conditions? */
static bool
has_ctid_equality(List *quals)
{
	ListCell   *lc;

	foreach(lc, quals)
	{
		OpExpr	   *op = lfirst(lc);
		ListCell   *arg;

		if (!IsA(op, OpExpr) || op->opno != TIDEqualOperator)
			continue;
		foreach(arg, op->args)
		{
			if (IsA(lfirst(arg), Var) &&
				lfirst_node(Var, arg)->varattno ==
				SelfItemPointerAttributeNumber)
				return true;
		}
	}
	return false;
}

/*
 * Do all scans in the plan below a ModifyTable look for one ctid?  A join has
 * its ctids from another table, and may mean many rows.
 */
static bool
reads_one_ctid(Plan *plan)
{
	ListCell   *lc;

	if (plan == NULL)
		return false;
	if (IsA(plan, TidScan) && has_ctid_equality(((TidScan *) plan)->tidquals))
		return true;
	if (has_ctid_equality(plan->qual))
		return outerPlan(plan) == NULL;
	if (IsA(plan, Append))
	{
		foreach(lc, ((Append *) plan)->appendplans)
		{
			if (!reads_one_ctid(lfirst(lc)))
				return false;
		}
		return true;
	}
	if (IsA(plan, Result) || IsA(plan, CustomScan))
		return reads_one_ctid(outerPlan(plan));
	return false;
}

/* See chunk_route.h. */
void
strata_route_check_ctid(const QueryDesc *query_desc)
{
	PlannedStmt *stmt = query_desc->plannedstmt;
	ModifyTable *modify = (ModifyTable *) stmt->planTree;
	Oid			root;

	if ((query_desc->operation != CMD_UPDATE &&
		 query_desc->operation != CMD_DELETE) ||
		query_desc->estate->es_processed < 2 || !IsA(modify, ModifyTable) ||
		modify->rootRelation == 0 || !reads_one_ctid(outerPlan(modify)))
		return;
	root = rt_fetch(modify->rootRelation, stmt->rtable)->relid;
	if (!strata_hypertable_is(root))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CARDINALITY_VIOLATION),
			 errmsg("rows in several chunks of hypertable \"%s\" have the ctid that is looked for",
					get_rel_name(root)),
			 errdetail("A ctid is a row's place in its chunk, so it does not say which row of the hypertable is meant."),
			 errhint("Compare tableoid, too. Through postgres_fdw, write the statement so that EXPLAIN VERBOSE shows \"Foreign Update\" or \"Foreign Delete\", or use foreign tables of the chunks.")));
}
