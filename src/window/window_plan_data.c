/*-------------------------------------------------------------------------
 *
 * window_plan_data.c
 *	  Path to plan, and what either carries: the only file that knows how it
 *	  lies in custom_private.
 *
 * custom_scan_tlist has the columns that the child returns, then the window
 * functions, which makes PostgreSQL turn these into columns of our scan tuple
 * wherever the target mentions them.  Defaults of lag() stand in custom_exprs
 * and are evaluated on that tuple.
 *
 * src/window/window_plan_data.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "window/window.h"
#include "window/window_private.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

/* What is where in a path's private list. */
enum
{
	PATH_INPUTS,				/* expressions that the child returns */
	PATH_FUNCS,
	PATH_KEYS,
	PATH_EQOPS,
	PATH_COLLATIONS,
	PATH_QUALS,					/* none at first */
	PATH_NORDER,				/* IntList of one */
	PATH_RUN
};

/* And in a plan's. */
enum
{
	PLAN_NUMBERS,				/* IntList: of the child's columns, of keys of
								 * ORDER BY; then of each call: kind, column,
								 * offset, fallback */
	PLAN_FUNCTIONS,				/* OidList */
	PLAN_KEYS,
	PLAN_EQOPS,
	PLAN_COLLATIONS,
	PLAN_QUALS
};

/* See window_private.h. */
void
strata_window_path_set_data(CustomPath *path, List *inputs, List *funcs,
							List *keys, List *eqops, List *collations,
							int norder, List *run)
{
	path->custom_private = list_make5(inputs, funcs, keys, eqops, collations);
	path->custom_private = lappend(path->custom_private, NIL);
	path->custom_private = lappend(path->custom_private,
								   list_make1_int(norder));
	path->custom_private = lappend(path->custom_private, run);
}

/* See window_private.h. */
CustomPath *
strata_window_path_filter(CustomPath *path, List *quals)
{
	CustomPath *copy = makeNode(CustomPath);

	Assert(path->methods == &strata_window_path_methods);	/* window:WF6 */
	*copy = *path;
	copy->custom_private = list_copy(path->custom_private);
	lfirst(list_nth_cell(copy->custom_private, PATH_QUALS)) = quals;
	return copy;
}

/* The number of the column that the expression is; -1: none. */
static int
input_of(Node *expr, List *inputs)
{
	ListCell   *lc;

	foreach(lc, inputs)
	{
		if (equal(lfirst(lc), expr))
			return foreach_current_index(lc);
	}
	return -1;
}

/* Of how many rows to a side are values of the argument kept? */
static int
max_lag(const WindowFunc * func)
{
	return get_typlen(exprType(linitial(func->args))) > 0 ?
		STRATA_WINDOW_MAX_LAG : STRATA_WINDOW_MAX_LONG_LAG;
}

/*
 * What the function becomes; false: something else.  Arguments are columns:
 * PostgreSQL would evaluate others for other rows.
 */
static bool
describe_call(const WindowFunc * func, const WindowClause * clause,
			  List *inputs, WindowCall *call)
{
	const Const *offset;

	memset(call, 0, sizeof(*call));
	call->winfnoid = func->winfnoid;
	call->column = call->fallback = -1;
	if (func->aggfilter != NULL || clause->startOffset != NULL ||
		clause->endOffset != NULL)
		return false;
	switch (func->winfnoid)
	{
		case F_ROW_NUMBER:
			call->kind = WINDOW_ROW_NUMBER;
			return true;
		case F_RANK_:
			call->kind = WINDOW_RANK;
			return true;
		case F_DENSE_RANK_:
			call->kind = WINDOW_DENSE_RANK;
			return true;
		case F_FIRST_VALUE:
			call->kind = WINDOW_FIRST_VALUE;
			if ((clause->frameOptions & FRAMEOPTION_START_UNBOUNDED_PRECEDING)
				== 0 || (clause->frameOptions & FRAMEOPTION_EXCLUSION) != 0)
				return false;
			break;
		case F_LAG_ANYELEMENT:
		case F_LEAD_ANYELEMENT:
			call->kind = func->winfnoid == F_LAG_ANYELEMENT ? WINDOW_LAG :
				WINDOW_LEAD;
			call->offset = 1;
			break;
		case F_LAG_ANYELEMENT_INT4:
		case F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
		case F_LEAD_ANYELEMENT_INT4:
		case F_LEAD_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE:
			call->kind = func->winfnoid == F_LAG_ANYELEMENT_INT4 ||
				func->winfnoid == F_LAG_ANYCOMPATIBLE_INT4_ANYCOMPATIBLE ?
				WINDOW_LAG : WINDOW_LEAD;
			offset = lsecond(func->args);
			if (!IsA(offset, Const) || offset->constisnull ||
				DatumGetInt32(offset->constvalue) < 1 ||
				DatumGetInt32(offset->constvalue) > max_lag(func))
				return false;
			call->offset = DatumGetInt32(offset->constvalue);
			if (list_length(func->args) == 3 &&
				!IsA(lthird(func->args), Const) &&
				input_of(lthird(func->args), inputs) < 0)
				return false;
			break;
		default:
			return false;
	}
	if (!IsA(linitial(func->args), Var))
		return false;
	call->column = input_of(linitial(func->args), inputs);
	return call->column >= 0;
}

/* See window.h. */
uint64		strata_window_nplanned = 0;

/* See window_private.h. */
bool
strata_window_can_call(const WindowFunc * func, const WindowClause * clause,
					   List *inputs)
{
	WindowCall	call;

	return describe_call(func, clause, inputs, &call);
}

/* See window_private.h. */
int64
strata_window_rows_ahead(const WindowFunc * func, const WindowClause * clause,
						 List *inputs)
{
	WindowCall	call;

	return describe_call(func, clause, inputs, &call) &&
		call.kind == WINDOW_LEAD ? call.offset : 0;
}

/* PlanCustomPath. */
static Plan *
plan_window_path(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
				 List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *cscan = makeNode(CustomScan);
	List	   *inputs = list_nth(path->custom_private, PATH_INPUTS);
	List	   *funcs = list_nth(path->custom_private, PATH_FUNCS);
	List	   *numbers =
	lcons_int(list_length(inputs),
			  list_copy(list_nth(path->custom_private, PATH_NORDER)));
	List	   *functions = NIL;
	ListCell   *lc;

	foreach(lc, funcs)
	{
		const		WindowFunc *func = lfirst_node(WindowFunc, lc);
		const		WindowClause *clause = NULL;
		WindowCall	call;
		ListCell   *lc2;

		foreach(lc2, root->parse->windowClause)
		{
			if (lfirst_node(WindowClause, lc2)->winref == func->winref)
				clause = lfirst(lc2);
		}
		if (clause == NULL || !describe_call(func, clause, inputs, &call))
			elog(ERROR, "StrataWindow does not know function %u",
				 func->winfnoid);
		if (call.offset > 0 && list_length(func->args) == 3)
		{
			call.fallback = list_length(cscan->custom_exprs);
			cscan->custom_exprs = lappend(cscan->custom_exprs,
										  copyObject(lthird(func->args)));
		}
		numbers = lappend_int(numbers, call.kind);
		numbers = lappend_int(numbers, call.column);
		numbers = lappend_int(numbers, call.offset);
		numbers = lappend_int(numbers, call.fallback);
		functions = lappend_oid(functions, call.winfnoid);
	}
	cscan->scan.plan.targetlist = tlist;
	cscan->scan.plan.qual = copyObject(list_nth(path->custom_private,
												PATH_RUN));
	cscan->scan.scanrelid = 0;
	cscan->flags = path->flags;
	cscan->custom_plans = custom_plans;
	cscan->custom_scan_tlist =
		strata_custom_tlist(list_concat_copy(inputs, funcs));
	cscan->custom_private = list_make5(numbers, functions,
									   list_nth(path->custom_private,
												PATH_KEYS),
									   list_nth(path->custom_private,
												PATH_EQOPS),
									   list_nth(path->custom_private,
												PATH_COLLATIONS));
	cscan->custom_private = lappend(cscan->custom_private,
									list_nth(path->custom_private,
											 PATH_QUALS));
	cscan->methods = &strata_window_scan_methods;
	strata_window_nplanned++;
	return &cscan->scan.plan;
}

const CustomPathMethods strata_window_path_methods = {
	.CustomName = "StrataWindow",
	.PlanCustomPath = plan_window_path,
};

/* See window_private.h.  Memory: the current context. */
void
strata_window_plan_read(const CustomScan *cscan, WindowPlan *plan)
{
	const List *numbers = list_nth(cscan->custom_private, PLAN_NUMBERS);
	const List *functions = list_nth(cscan->custom_private, PLAN_FUNCTIONS);
	const List *keys = list_nth(cscan->custom_private, PLAN_KEYS);
	const List *eqops = list_nth(cscan->custom_private, PLAN_EQOPS);
	const List *collations = list_nth(cscan->custom_private, PLAN_COLLATIONS);

	plan->ninputs = linitial_int(numbers);
	plan->ncalls = list_length(functions);
	plan->calls = palloc0(sizeof(WindowCall) * plan->ncalls);
	for (int i = 0; i < plan->ncalls; i++)
	{
		WindowCall *call = &plan->calls[i];

		call->kind = (WindowKind) list_nth_int(numbers, 2 + 4 * i);
		call->column = list_nth_int(numbers, 3 + 4 * i);
		call->offset = list_nth_int(numbers, 4 + 4 * i);
		call->fallback = list_nth_int(numbers, 5 + 4 * i);
		call->winfnoid = list_nth_oid(functions, i);
	}
	plan->quals = list_nth(cscan->custom_private, PLAN_QUALS);
	plan->norder = lsecond_int(numbers);
	plan->nkeys = list_length(keys) - plan->norder;
	plan->keys = palloc(sizeof(int) * Max(list_length(keys), 1));
	plan->eqops = palloc(sizeof(Oid) * Max(list_length(keys), 1));
	plan->collations = palloc(sizeof(Oid) * Max(list_length(keys), 1));
	for (int k = 0; k < list_length(keys); k++)
	{
		plan->keys[k] = list_nth_int(keys, k);
		plan->eqops[k] = list_nth_oid(eqops, k);
		plan->collations[k] = list_nth_oid(collations, k);
	}
}
