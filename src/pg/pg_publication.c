/*-------------------------------------------------------------------------
 *
 * pg_publication.c
 *	  Publications FOR ALL TABLES do not list companions, nor other tables of
 *	  the extension.
 *
 * Nothing of a companion is ever decoded (store/store_silence.c), but a
 * subscriber asks the publisher for its tables and would want the companions
 * too.  PostgreSQL has no way to leave a table out of FOR ALL TABLES; so where
 * a query calls pg_get_publication_tables(), as the view pg_publication_tables
 * does, it is given a function that calls it and passes the companions over.
 *
 * src/pg/pg_publication.c
 *-------------------------------------------------------------------------
 */
#include "pg/pg.h"
#include "base/base.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "fmgr.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_publication_tables);

/* Our function in this database, or InvalidOid. */
static Oid
our_function(void)
{
	/* looked at for nullary functions only, but not to be NULL for others */
	Oid			unused = InvalidOid;

	if (!OidIsValid(get_namespace_oid(STRATA_INTERNAL_SCHEMA, true)))
		return InvalidOid;
	return LookupFuncName(list_make2(makeString(STRATA_INTERNAL_SCHEMA),
									 makeString("publication_tables")),
						  -1, &unused, true);
}

/* Wherever it is called: 16's subscribers call it in a target list. */
static bool
replace_calls(Node *node, void *context)
{
	Oid			ours;

	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, replace_calls, context, 0);
	if (IsA(node, FuncExpr) &&
		((FuncExpr *) node)->funcid == F_PG_GET_PUBLICATION_TABLES &&
		OidIsValid(ours = our_function()))
		((FuncExpr *) node)->funcid = ours;
	return expression_tree_walker(node, replace_calls, context);
}

/* See pg.h. */
void
strata_publication_replace(Query *query)
{
	if (query->commandType != CMD_UTILITY)
		(void) replace_calls((Node *) query, NULL);
}

/*
 * Companions, and tables like that of the jobs, which are each database's own.
 */
static bool
is_internal(Oid relid)
{
	return get_rel_namespace(relid) ==
		get_namespace_oid(STRATA_INTERNAL_SCHEMA, true);
}

/*
 * _strata.publication_tables(...): pg_get_publication_tables(...) without our
 * own tables.
 */
Datum
strata_publication_tables(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	/*
	 * one row per call, its state in fn_extra: all of that is the other one's
	 */
	for (;;)
	{
		Datum		row = pg_get_publication_tables(fcinfo);
		Datum		relid;
		bool		isnull;

		if (rsinfo->isDone == ExprEndResult)
			return row;
		relid = GetAttributeByName(DatumGetHeapTupleHeader(row), "relid",
								   &isnull);
		if (isnull || !is_internal(DatumGetObjectId(relid)))
			return row;
	}
}
