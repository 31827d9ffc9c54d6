/*-------------------------------------------------------------------------
 *
 * custom_node.c
 *	  What our plan nodes do alike.
 *
 * src/base/custom_node.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"

#include "commands/explain.h"
#ifdef STRATA_EXPLAIN_IS_SPLIT
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif
#include "executor/executor.h"
#include "nodes/makefuncs.h"

/* See base.h. */
Node *
strata_custom_state(Size size, const CustomExecMethods *methods)
{
	CustomScanState *state = palloc0(size);

	NodeSetTag(state, T_CustomScanState);
	state->methods = methods;
	return (Node *) state;
}

/* See base.h. */
List *
strata_custom_tlist(const List *exprs)
{
	List	   *tlist = NIL;
	ListCell   *lc;

	foreach(lc, exprs)
		tlist = lappend(tlist,
						makeTargetEntry(copyObject(lfirst(lc)),
										(AttrNumber) (list_length(tlist) + 1),
										NULL, false));
	return tlist;
}

/* See base.h. */
void
strata_custom_begin_child(CustomScanState *css, EState *estate, int eflags)
{
	Assert(outerPlanState(css) == NULL);	/* base:A5 */
	outerPlanState(css) = ExecInitNode(outerPlan(css->ss.ps.plan), estate,
									   eflags);
}

/* See base.h. */
void
strata_custom_end_child(CustomScanState *css)
{
	ExecEndNode(outerPlanState(css));
}

/* See base.h. */
void
strata_custom_rescan_child(CustomScanState *css)
{
	ExecReScan(outerPlanState(css));
}

/* See base.h. */
bool
strata_explain_is_brief(const ExplainState *es)
{
	return es->format == EXPLAIN_FORMAT_TEXT && !es->verbose;
}

/* See base.h. */
void
strata_explain_count(const char *label, int64 n, ExplainState *es)
{
	if (n != 0 || !strata_explain_is_brief(es))
		ExplainPropertyInteger(label, NULL, n, es);
}
