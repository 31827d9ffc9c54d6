/*-------------------------------------------------------------------------
 *
 * load_volatile.c
 *	  Volatile functions that cannot look at tables.
 *
 * Rows are collected while others are still being computed.  A function that
 * is volatile sees what its own statement has inserted, so with any of those
 * in a query rows go one by one.  PostgreSQL exempts nextval(); here is the
 * list of others that say "volatile" for another reason: each call has a new
 * result.  They are functions in C of PostgreSQL, or ours, that open no
 * relation but a sequence, and call no function of a user's:
 *
 *	random(), random_normal()	state of the session's generator
 *	array_sample, array_shuffle	the same; elements are copied, not compared
 *	gen_random_uuid(), uuidv4(), uuidv7(), generate_uuidv7(), to_uuidv7()
 *			the system's source of random bytes, and its clock
 *	clock_timestamp(), timeofday()	the clock
 *	nextval()	the sequence; one call a row, in the order of the rows, as ever
 *	currval(), lastval()	what nextval() left in the session
 *
 * Rows are computed one after the other in either way, so each call happens
 * as often as before, and in the same order.
 *
 * src/load/load_volatile.c
 *-------------------------------------------------------------------------
 */
#include "load/load_private.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/dependency.h"
#include "catalog/pg_language.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "nodes/nodeFuncs.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* All functions of these names in pg_catalog that come with the server. */
static const char *const of_postgres[] = {
	"array_sample",
	"array_shuffle",
	"clock_timestamp",
	"currval",
	"gen_random_uuid",
	"lastval",
	"nextval",
	"random",
	"random_normal",
	"timeofday",
	"uuidv4",
	"uuidv7"
};

static const char *const of_extension[] = {
	"generate_uuidv7",
	"to_uuidv7"
};

static bool
is_named(const char *name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Is the function, which is volatile, on the list above? */
static bool
is_listed(Oid funcid)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(funcid));
	Form_pg_proc proc;
	bool		listed;

	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	if (funcid < FirstNormalObjectId)
		/* a superuser may have put something else in its place */
		listed = proc->prolang == INTERNALlanguageId &&
			proc->pronamespace == PG_CATALOG_NAMESPACE &&
			is_named(NameStr(proc->proname), of_postgres,
					 lengthof(of_postgres));
	else
		listed = proc->prolang == ClanguageId &&
			is_named(NameStr(proc->proname), of_extension,
					 lengthof(of_extension)) &&
			getExtensionOfObject(ProcedureRelationId, funcid) ==
			get_extension_oid(STRATA_EXTENSION, true);
	ReleaseSysCache(tuple);
	return listed;
}

static bool
function_looks_at_tables(Oid funcid, void *context)
{
	return func_volatile(funcid) == PROVOLATILE_VOLATILE &&
		!is_listed(funcid);
}

/* An aggregate does where one of its functions does. */
static bool
looks_at_tables(Oid funcid, void *context)
{
	return strata_check_function(funcid, function_looks_at_tables, context);
}

/* The same of the constraints of a domain and those below it. */
static bool
domain_has_volatile(Oid domain, void *context)
{
	/* the reference goes with the memory that it is in */
	MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext,
												  "strata domain",
												  ALLOCSET_SMALL_SIZES);
	DomainConstraintRef *constraints =
	MemoryContextAlloc(scratch, sizeof(DomainConstraintRef));
	bool		found = false;
	ListCell   *lc;

	InitDomainConstraintRef(domain, constraints, scratch, false);
	foreach(lc, constraints->constraints)
	{
		DomainConstraintState *constraint = lfirst(lc);

		found |= strata_load_has_volatile((Node *) constraint->check_expr,
										  context);
	}
	MemoryContextDelete(scratch);
	return found;
}

/* See load_private.h. */
bool
strata_load_has_volatile(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, CoerceToDomain) &&
		domain_has_volatile(castNode(CoerceToDomain, node)->resulttype,
							context))
		return true;
	if (check_functions_in_node(node, looks_at_tables, context))
		return true;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, strata_load_has_volatile,
								 context, 0);
	return expression_tree_walker(node, strata_load_has_volatile, context);
}

/* See load_private.h. */
bool
strata_load_default_is_volatile(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (AttrNumber attno = 1; attno <= desc->natts; attno++)
		if (!TupleDescAttr(desc, attno - 1)->attisdropped &&
			strata_load_has_volatile(build_column_default(rel, attno), NULL))
			return true;
	return false;
}

/* See load_private.h. */
bool
strata_load_check_is_volatile(Relation rel)
{
	const TupleConstr *constr = RelationGetDescr(rel)->constr;

	for (int i = 0; constr != NULL && i < constr->num_check; i++)
		if (strata_load_has_volatile(stringToNode(constr->check[i].ccbin),
									 NULL))
			return true;
	return false;
}
