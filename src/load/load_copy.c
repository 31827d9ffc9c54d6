/*-------------------------------------------------------------------------
 *
 * load_copy.c
 *	  COPY FROM into a hypertable, or into a table that takes direct loads.
 *
 * COPY routes rows by itself and has no place for us, so it becomes an INSERT
 * whose source reads rows with NextCopyFrom(): chunks are made as for any
 * INSERT, and triggers, constraints and the error context are PostgreSQL's.
 * What COPY checks before it begins is checked here as DoCopy() does it.
 *
 * src/load/load_copy.c
 *-------------------------------------------------------------------------
 */
#include "load/load_private.h"
#include "catalog/catalog.h"
#include "hypertable/chunk_route.h"
#include "compress/compress.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_authid.h"
#include "commands/copyfrom_internal.h"
#include "commands/defrem.h"
#include "commands/progress.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "parser/analyze.h"
#include "parser/parse_coerce.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "rewrite/rewriteHandler.h"
#include "tcop/cmdtag.h"
#include "utils/acl.h"
#include "utils/backend_progress.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

/* What a COPY hands to its node, which takes it when it is set up. */
typedef struct RowSource
{
	CopyFromState copy;
	Relation	rel;
	List	   *where;			/* implicitly ANDed */
} RowSource;

static RowSource *next_source = NULL;

typedef struct CopyScanState
{
	CustomScanState css;
	RowSource  *source;
	ExprState  *where;
	uint64		nexcluded;		/* rows that did not pass it */
	TupleTableSlot *slot;
} CopyScanState;

static Node *create_copy_state(CustomScan *scan);

static const CustomScanMethods copy_methods = {
	.CustomName = "StrataCopySource",
	.CreateCustomScanState = create_copy_state
};

/*-------------------------------------------------------------------------
 * The node
 *-------------------------------------------------------------------------
 */

static void
begin_copy(CustomScanState *css, EState *estate, int eflags)
{
	CopyScanState *state = (CopyScanState *) css;

	state->source = next_source;
	next_source = NULL;
	state->slot = ExecInitExtraTupleSlot(estate,
										 RelationGetDescr(state->source->rel),
										 &TTSOpsVirtual);
	state->where = ExecInitQual(state->source->where, &css->ss.ps);
}

/*
 * ON_ERROR ignore: did the row that was read have a value that is none of its
 * type?
 */
static bool
skip_failed(CopyFromState copy)
{
#if STRATA_COPY_CAN_IGNORE
	if (copy->opts.on_error != COPY_ON_ERROR_IGNORE ||
		!copy->escontext->error_occurred)
		return false;
	copy->escontext->error_occurred = false;
	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_SKIPPED,
								 copy->num_errors);
	if (strata_copy_reject_limit(copy) > 0 &&
		copy->num_errors > strata_copy_reject_limit(copy))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("skipped more than REJECT_LIMIT (%lld) rows due to data type incompatibility",
						(long long) strata_copy_reject_limit(copy))));
	return true;
#else
	return false;
#endif
}

/* At the end: say how many were skipped. */
static void
tell_failed(CopyFromState copy)
{
#if STRATA_COPY_CAN_IGNORE
	if (copy->opts.on_error != COPY_ON_ERROR_STOP && copy->num_errors > 0 &&
		copy->opts.log_verbosity >= COPY_LOG_VERBOSITY_DEFAULT)
		ereport(NOTICE,
				errmsg_plural("%llu row was skipped due to data type incompatibility",
							  "%llu rows were skipped due to data type incompatibility",
							  (unsigned long long) copy->num_errors,
							  (unsigned long long) copy->num_errors));
#endif
}

/*
 * ExecCustomScan: the next row of the input that passes WHERE.  Who asks has
 * inserted those before it, which is the progress of the COPY.
 */
static TupleTableSlot *
exec_copy(CustomScanState *css)
{
	CopyScanState *state = (CopyScanState *) css;
	ExprContext *context = css->ss.ps.ps_ExprContext;

	pgstat_progress_update_param(PROGRESS_COPY_TUPLES_PROCESSED,
								 css->ss.ps.state->es_processed);
	for (;;)
	{
		MemoryContext old;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(context);
		ExecClearTuple(state->slot);
		old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
		found = NextCopyFrom(state->source->copy, context,
							 state->slot->tts_values, state->slot->tts_isnull);
		MemoryContextSwitchTo(old);
		if (!found)
			return NULL;
		if (skip_failed(state->source->copy))
			continue;
		ExecStoreVirtualTuple(state->slot);
		if (state->where == NULL)
			return state->slot;
		state->slot->tts_tableOid = RelationGetRelid(state->source->rel);
		context->ecxt_scantuple = state->slot;
		if (ExecQual(state->where, context))
			return state->slot;
		pgstat_progress_update_param(PROGRESS_COPY_TUPLES_EXCLUDED,
									 ++state->nexcluded);
	}
}

static void
end_copy(CustomScanState *css)
{
}

static const CustomExecMethods copy_exec_methods = {
	.CustomName = "StrataCopySource",
	.BeginCustomScan = begin_copy,
	.ExecCustomScan = exec_copy,
	.EndCustomScan = end_copy,
	.ReScanCustomScan = end_copy
};

static Node *
create_copy_state(CustomScan *scan)
{
	return strata_custom_state(sizeof(CopyScanState), &copy_exec_methods);
}

/*-------------------------------------------------------------------------
 * The statement
 *-------------------------------------------------------------------------
 */

/* May the user read files, or run programs, on the server? */
static void
check_source(const CopyStmt *stmt)
{
	if (stmt->filename == NULL)
		return;
	if (stmt->is_program &&
		!has_privs_of_role(GetUserId(), ROLE_PG_EXECUTE_SERVER_PROGRAM))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 strata_err_copy_denied("to or from an external program",
										"pg_execute_server_program"),
				 errhint("Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.")));
	if (!stmt->is_program &&
		!has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 strata_err_copy_denied("from a file", "pg_read_server_files"),
				 errhint("Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.")));
}

static bool
asks_for_freeze(const CopyStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "freeze") == 0 && defGetBoolean(def))
			return true;
	}
	return false;
}

/* Privileges on the columns, row security, read-only transactions. */
static void
check_target(ParseState *pstate, ParseNamespaceItem *nsitem,
			 const CopyStmt *stmt, Relation rel)
{
	Bitmapset  *columns = NULL;
	ListCell   *lc;

	foreach(lc, CopyGetAttnums(RelationGetDescr(rel), rel, stmt->attlist))
		columns = bms_add_member(columns,
								 lfirst_int(lc) -
								 FirstLowInvalidHeapAttributeNumber);
	strata_check_insert_columns(pstate, nsitem, columns);
	if (check_enable_rls(RelationGetRelid(rel), InvalidOid, false) ==
		RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("COPY FROM not supported with row-level security"),
				 errhint("Use INSERT statements instead.")));
	if (!rel->rd_islocaltemp)
		PreventCommandIfReadOnly("COPY FROM");
}

/* The filter runs before generated columns are computed. */
static void
refuse_generated(Node *where, Relation rel)
{
	Bitmapset  *columns = NULL;
	bool		whole_row;

	pull_varattnos(where, 1, &columns);
	whole_row = bms_is_member(InvalidAttrNumber -
							  FirstLowInvalidHeapAttributeNumber,
							  columns);
	for (int i = 0; i < RelationGetNumberOfAttributes(rel); i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), i);

		if (attribute->attgenerated &&
			(whole_row || bms_is_member(attribute->attnum -
										FirstLowInvalidHeapAttributeNumber,
										columns)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
					 errmsg("generated columns are not supported in COPY FROM WHERE conditions"),
					 errdetail("Column \"%s\" is a generated column.",
							   NameStr(attribute->attname))));
	}
}

/*
 * COPY ... WHERE, ready to be evaluated; the columns it reads go into nsitem.
 */
static List *
transform_where(ParseState *pstate, ParseNamespaceItem *nsitem,
				const CopyStmt *stmt, Relation rel)
{
	Node	   *where;

	if (stmt->whereClause == NULL)
		return NIL;
	addNSItemToQuery(pstate, nsitem, false, true, true);
	where = transformExpr(pstate, copyObject(stmt->whereClause),
						  EXPR_KIND_COPY_WHERE);
	where = coerce_to_boolean(pstate, where, "WHERE");
	assign_expr_collations(pstate, where);
	refuse_generated(where, rel);
	where = eval_const_expressions(NULL, where);
	where = (Node *) canonicalize_qual((Expr *) where, false);
	return make_ands_implicit((Expr *) where);
}

/* INSERT INTO rel, with our node as its source. */
static PlannedStmt *
make_plan(Relation rel, const char *text)
{
	InsertStmt *insert = makeNode(InsertStmt);
	RawStmt    *raw = makeNode(RawStmt);
	CustomScan *scan = makeNode(CustomScan);
	PlannedStmt *stmt;
	Plan	   *source;

	insert->relation =
		makeRangeVar(get_namespace_name(RelationGetNamespace(rel)),
					 pstrdup(RelationGetRelationName(rel)), -1);
	raw->stmt = (Node *) insert;
	/* not rewritten: COPY knows no rules */
	stmt = planner(parse_analyze_fixedparams(raw, text, NULL, 0, NULL), text,
				   0, NULL);
	strata_plan_drop_permissions(stmt);
	source = outerPlan(stmt->planTree);
	if (!IsA(stmt->planTree, ModifyTable) || source == NULL)
		elog(ERROR, "unexpected plan for COPY");
	scan->methods = &copy_methods;
	scan->scan.plan.targetlist = source->targetlist;
	scan->custom_scan_tlist = source->targetlist;
	if (IsA(source, CustomScan) && strata_route_is_node((CustomScan *) source))
		outerPlan(source) = (Plan *) scan;
	else
		outerPlan(stmt->planTree) = (Plan *) scan;
	return stmt;
}

/*
 * Run the plan of the INSERT that a COPY is; errors tell the line.  Returns
 * the number of rows.
 */
static uint64
run_plan(PlannedStmt *stmt, const char *text, RowSource *source)
{
	ErrorContextCallback callback;
	QueryDesc  *query_desc;
	uint64		processed;

	callback.callback = CopyFromErrorCallback;
	callback.arg = source->copy;
	callback.previous = error_context_stack;
	error_context_stack = &callback;
	PushCopiedSnapshot(GetActiveSnapshot());
	UpdateActiveSnapshotCommandId();
	query_desc = CreateQueryDesc(stmt, text, GetActiveSnapshot(),
								 InvalidSnapshot, None_Receiver, NULL, NULL,
								 0);
	next_source = source;
	ExecutorStart(query_desc, 0);
	if (IsA(query_desc->planstate, ModifyTableState) &&
		strata_load_can_collect((ModifyTableState *) query_desc->planstate,
								source->copy, source->where))
		(void) strata_load_rows((ModifyTableState *) query_desc->planstate,
								source->copy);
	else
		strata_executor_run(query_desc);
	processed = query_desc->estate->es_processed;
	/* as in COPY, what fires at the end is not about a line */
	error_context_stack = callback.previous;
	tell_failed(source->copy);
	ExecutorFinish(query_desc);
	ExecutorEnd(query_desc);
	FreeQueryDesc(query_desc);
	PopActiveSnapshot();
	return processed;
}

/* Is rel a plain table whose rows should and can become batches? */
static bool
takes_direct_load(Relation rel)
{
	return rel->rd_rel->relkind == RELKIND_RELATION &&
		(strata_load_is_wanted(rel) ||
		 (strata_relation_is_strata(rel) &&
		  strata_direct_load_restores(rel))) &&
		strata_load_triggers_allow(rel->trigdesc) &&
		(rel->trigdesc == NULL || !rel->trigdesc->trig_insert_after_row) &&
		strata_direct_load_obstacle(rel) == NULL;
}

/* See load.h. */
bool
strata_copy_from(const CopyStmt *stmt, const char *text, uint64 *processed)
{
	RowSource	source = {0};
	ParseState *pstate;
	ParseNamespaceItem *nsitem;
	Relation	rel;
	Oid			relid;
	bool		hypertable;

	if (!stmt->is_from || stmt->relation == NULL)
		return false;
	relid = RangeVarGetRelid(stmt->relation, NoLock, true);
	if (!OidIsValid(relid))
		return false;
	hypertable = strata_hypertable_is(relid);
	if (!hypertable && (!strata_enable_direct_load ||
						get_rel_relkind(relid) != RELKIND_RELATION))
		return false;
	/* its rows go to shards, by Citus */
	if (strata_table_is_distributed(relid))
		return false;
	check_source(stmt);
	rel = table_openrv(stmt->relation, RowExclusiveLock);
	if (!hypertable && (!takes_direct_load(rel) || asks_for_freeze(stmt)))
	{
		table_close(rel, NoLock);
		return false;
	}
	pstate = make_parsestate(NULL);
	pstate->p_sourcetext = text;
	nsitem = addRangeTableEntryForRelation(pstate, rel, RowExclusiveLock, NULL,
										   false, false);
	if (hypertable && asks_for_freeze(stmt))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot perform COPY FREEZE on a partitioned table")));
	source.rel = rel;
	/* before the privileges are checked: it says which columns are read */
	source.where = transform_where(pstate, nsitem, stmt, rel);
	check_target(pstate, nsitem, stmt, rel);
	source.copy = BeginCopyFrom(pstate, rel, NULL, stmt->filename,
								stmt->is_program, NULL, stmt->attlist,
								stmt->options);
	if (strata_enable_multi_insert)
		strata_copy_speed_input(source.copy);
	*processed = run_plan(make_plan(rel, text), text, &source);
	EndCopyFrom(source.copy);
	free_parsestate(pstate);
	table_close(rel, NoLock);
	return true;
}

/* See load_private.h. */
void
strata_copy_init(void)
{
	RegisterCustomScanMethods(&copy_methods);
}
