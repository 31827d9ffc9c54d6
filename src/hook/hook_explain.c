/*-------------------------------------------------------------------------
 *
 * hook_explain.c
 *	  EXPLAIN says which archives answer, how many buckets of them, and what is
 *	  computed from rows.
 *
 * It is said below the plan.  What is said is what the plan carries when it
 * comes to be run, or would be: ExecutorStart tells of each statement that
 * begins, and EXPLAIN's own is known by its text.
 *
 * src/hook/hook_explain.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "base/compat.h"
#include "hook/hook_private.h"
#include "pg/pg.h"
#include "rollup/rollup.h"

#include "commands/defrem.h"
#include "commands/explain.h"
#ifdef STRATA_EXPLAIN_IS_SPLIT
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/instrument.h"
#include "nodes/parsenodes.h"
#include "tcop/tcopprot.h"
#include "utils/memutils.h"

static ExplainOneQuery_hook_type previous_explain = NULL;

/* What is being explained: its text, and the lines for it; NULL: nothing. */
static const char *explained_text = NULL;
static MemoryContext explained_mcxt = NULL;
static List *explained_lines = NIL;

/* See hook_private.h. */
void
strata_explain_note_start(const QueryDesc *query_desc)
{
	List	   *note;
	MemoryContext old;

	if (explained_text == NULL || query_desc->sourceText != explained_text)
		return;
	note = strata_plan_note_find(query_desc->plannedstmt);
	if (note == NIL)
		return;
	old = MemoryContextSwitchTo(explained_mcxt);
	explained_lines = strata_rollup_describe_uses(list_nth(note, 5));
	MemoryContextSwitchTo(old);
}

/* What there is to say, below the plan. */
static void
show_lines(ExplainState *es, const List *lines)
{
	ListCell   *lc;

	if (lines == NIL)
		return;
	ExplainOpenGroup("Archives", NULL, true, es);
	foreach(lc, lines)
	{
		List	   *line = lfirst(lc);

		ExplainPropertyText(strVal(linitial(line)), strVal(lsecond(line)), es);
	}
	ExplainCloseGroup("Archives", NULL, true, es);
}

#ifndef strata_explain_one_query
/* What PostgreSQL does where nobody is in the hook. */
static void
strata_explain_one_query(Query *query, int cursor_options, IntoClause *into,
						 ExplainState *es, const char *text,
						 ParamListInfo params, QueryEnvironment *env)
{
	PlannedStmt *plan;
	instr_time	start;
	instr_time	duration;
	BufferUsage before = pgBufferUsage;
	BufferUsage used;

	INSTR_TIME_SET_CURRENT(start);
	plan = pg_plan_query(query, text, cursor_options, params);
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	memset(&used, 0, sizeof(used));
	BufferUsageAccumDiff(&used, &pgBufferUsage, &before);
	ExplainOnePlan(plan, into, es, text, params, env, &duration,
				   es->buffers ? &used : NULL);
}
#endif

/* Our ExplainOneQuery_hook. */
static void
explain_query(Query *query, int cursor_options, IntoClause *into,
			  ExplainState *es, const char *text, ParamListInfo params,
			  QueryEnvironment *env)
{
	const char *outer_text = explained_text;
	MemoryContext outer_mcxt = explained_mcxt;
	List	   *outer_lines = explained_lines;
	List	   *lines = NIL;

	explained_text = text;
	explained_mcxt = CurrentMemoryContext;
	explained_lines = NIL;
	PG_TRY();
	{
		if (previous_explain != NULL)
			previous_explain(query, cursor_options, into, es, text, params,
							 env);
		else
			strata_explain_one_query(query, cursor_options, into, es, text,
									 params, env);
		lines = explained_lines;
	}
	PG_FINALLY();
	{
		explained_text = outer_text;
		explained_mcxt = outer_mcxt;
		explained_lines = outer_lines;
	}
	PG_END_TRY();
	show_lines(es, lines);
}

/* See hook_private.h. */
void
strata_explain_hook_init(void)
{
	Assert(ExplainOneQuery_hook != explain_query);	/* hook:H1 */
	previous_explain = ExplainOneQuery_hook;
	ExplainOneQuery_hook = explain_query;
}

/* See hook_private.h. */
CreateTableAsStmt *
strata_hook_explained_create(Node *stmt)
{
	ExplainStmt *explain = castNode(ExplainStmt, stmt);
	Query	   *query = (Query *) explain->query;
	CreateTableAsStmt *create;
	List	   *options;
	bool		analyze = false;
	ListCell   *lc;

	foreach(lc, explain->options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "analyze") == 0)
			analyze = defGetBoolean(def);
	}
	if (!analyze || !IsA(query, Query) || query->utilityStmt == NULL ||
		!IsA(query->utilityStmt, CreateTableAsStmt))
		return NULL;
	create = (CreateTableAsStmt *) query->utilityStmt;
	if (!strata_hook_has_options(create->into->options))
		return NULL;
	options = list_copy(create->into->options);
	if (create->objtype == OBJECT_MATVIEW &&
		strata_rollup_is_asked_for(strata_hook_take_options(&options)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("EXPLAIN ANALYZE cannot create a continuous aggregate"),
				 errhint("EXPLAIN ANALYZE the query that defines it.")));
	return create;
}
