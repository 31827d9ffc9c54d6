/*-------------------------------------------------------------------------
 *
 * window_filter.c
 *	  Conditions of a query on a subquery's window functions go down to these.
 *
 * PostgreSQL has the node above, which reads the subquery, evaluate them for
 * each of its rows, and it still does for those that come to it.  The window
 * may leave out rows for which they are not true (window_output.c), as nobody
 * stands between the two.
 *
 * src/window/window_filter.c
 *-------------------------------------------------------------------------
 */
#include "window/window.h"

#include "base/base.h"
#include "expr/expr.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "window/window_private.h"

/* A condition being moved to the window. */
typedef struct FilterMove
{
	Index		relid;			/* the subquery's */
	int			ncolumns;
	bool		unfit;
} FilterMove;

/* Columns of the subquery become those of the node's result. */
static Node *
move_columns(Node *node, void *context)
{
	FilterMove *move = context;

	if (node == NULL)
		return NULL;
	switch (nodeTag(node))
	{
		case T_Var:
			{
				Var		   *var = copyObject((Var *) node);

				move->unfit |= var->varno != move->relid ||
					var->varlevelsup != 0 || var->varattno <= 0 ||
					var->varattno > move->ncolumns;
				var->varno = INDEX_VAR;
				return (Node *) var;
			}
		case T_Param:
			/* others may change while the node runs */
			move->unfit |= ((Param *) node)->paramkind != PARAM_EXTERN;
			break;
		case T_SubPlan:
		case T_AlternativeSubPlan:
		case T_PlaceHolderVar:
		case T_CurrentOfExpr:
			move->unfit = true;
			return node;
		default:
			break;
	}
	return expression_tree_mutator(node, move_columns, context);
}

/*
 * Those of the relation's conditions that the window may try; NIL where others
 * could have something to say of a row that it leaves out.
 */
static List *
find_quals(const RelOptInfo *rel, int ncolumns)
{
	List	   *quals = NIL;
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		const RestrictInfo *restriction = lfirst_node(RestrictInfo, lc);
		FilterMove	move = {.relid = rel->relid,.ncolumns = ncolumns};
		Node	   *qual;

		if (contain_volatile_functions((Node *) restriction->clause) ||
			restriction->security_level != rel->baserestrict_min_security)
			return NIL;
		if (restriction->pseudoconstant)
			continue;
		qual = move_columns((Node *) restriction->clause, &move);
		if (!move.unfit)
			quals = lappend(quals, qual);
		else if (strata_expr_may_raise_error((Node *) restriction->clause))
			return NIL;
	}
	fix_opfuncids((Node *) quals);
	return quals;
}

/* See window.h. */
void
strata_window_set_rel_pathlist(RelOptInfo *rel, const RangeTblEntry *rte)
{
	ListCell   *lc;

	if (!strata_enable_window_filter || rte->rtekind != RTE_SUBQUERY ||
		rel->baserestrictinfo == NIL)
		return;
	foreach(lc, rel->pathlist)
	{
		SubqueryScanPath *path = lfirst(lc);
		CustomPath *window;
		List	   *quals;

		if (!IsA(path, SubqueryScanPath) || path->path.param_info != NULL)
			continue;
		window = (CustomPath *) path->subpath;
		if (!IsA(window, CustomPath) ||
			window->methods != &strata_window_path_methods)
			continue;
		quals = find_quals(rel, list_length(window->path.pathtarget->exprs));
		if (quals == NIL)
			return;
		path->subpath =
			(Path *) strata_window_path_filter(window, quals);
	}
}
