/*-------------------------------------------------------------------------
 *
 * catalog_call.c
 *	  Texts of options that PostgreSQL's own grammar reads as a select list.
 *
 * 'temperature gorilla, note zstd' is one of columns with labels, and
 * 'hash(device, 4), range(ts, ''7 days'')' one of calls.
 *
 * src/catalog/catalog_call.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog_private.h"

#include "nodes/parsenodes.h"
#include "parser/parser.h"

/* The targets of "SELECT text", or NIL where it is something else. */
static List *
parse_targets(const char *text)
{
	List	   *parsed = raw_parser(psprintf("SELECT %s", text), RAW_PARSE_DEFAULT);
	SelectStmt *select;

	if (list_length(parsed) != 1 ||
		!IsA(linitial_node(RawStmt, parsed)->stmt, SelectStmt))
		return NIL;
	select = (SelectStmt *) linitial_node(RawStmt, parsed)->stmt;
	if (select->op != SETOP_NONE || select->distinctClause != NIL ||
		select->intoClause != NULL || select->fromClause != NIL ||
		select->whereClause != NULL || select->groupClause != NIL ||
		select->havingClause != NULL || select->windowClause != NIL ||
		select->sortClause != NIL || select->limitCount != NULL ||
		select->limitOffset != NULL || select->lockingClause != NIL ||
		select->withClause != NULL)
		return NIL;
	return select->targetList;
}

/* See catalog_private.h. */
List *
strata_option_parse_targets(const char *text)
{
	List	   *targets = NIL;
	MemoryContext mcxt = CurrentMemoryContext;

	PG_TRY();
	{
		targets = parse_targets(text);
	}
	PG_CATCH();
	{
		/* only syntax errors can come out of the raw parser */
		MemoryContextSwitchTo(mcxt);
		FlushErrorState();
		targets = NIL;
	}
	PG_END_TRY();
	return targets;
}

/* A name that stands alone, or NULL. */
static char *
plain_name(List *fields)
{
	return list_length(fields) == 1 && IsA(linitial(fields), String) ?
		strVal(linitial(fields)) :
		NULL;
}

/* One argument: a column, or a constant as its text. */
static bool
read_argument(Node *arg, StrataOptionCall *call)
{
	if (IsA(arg, ColumnRef))
	{
		char	   *column = plain_name(((ColumnRef *) arg)->fields);

		call->columns = lappend(call->columns, column);
		return column != NULL && call->constant == NULL;
	}
	if (!IsA(arg, A_Const) || call->constant != NULL ||
		((A_Const *) arg)->isnull)
		return false;
	if (IsA(&((A_Const *) arg)->val, Integer))
		call->constant = psprintf("%d", intVal(&((A_Const *) arg)->val));
	else if (IsA(&((A_Const *) arg)->val, String))
		call->constant = strVal(&((A_Const *) arg)->val);
	return call->constant != NULL;
}

/* See catalog_private.h. */
List *
strata_option_parse_calls(const char *text)
{
	List	   *calls = NIL;
	ListCell   *lc;

	foreach(lc, strata_option_parse_targets(text))
	{
		ResTarget  *target = lfirst_node(ResTarget, lc);
		FuncCall   *parsed = (FuncCall *) target->val;
		StrataOptionCall *call = palloc0(sizeof(StrataOptionCall));
		ListCell   *lc2;

		if (target->name != NULL || !IsA(parsed, FuncCall) ||
			parsed->agg_order != NIL || parsed->agg_filter != NULL ||
			parsed->over != NULL || parsed->agg_star || parsed->agg_distinct ||
			parsed->func_variadic ||
			(call->name = plain_name(parsed->funcname)) == NULL)
			return NIL;
		foreach(lc2, parsed->args)
		{
			if (!read_argument(lfirst(lc2), call))
				return NIL;
		}
		if (call->columns == NIL)
			return NIL;
		calls = lappend(calls, call);
	}
	return calls;
}
