/*-------------------------------------------------------------------------
 *
 * job_call.c
 *	  Finds and calls what a job runs: a procedure or function (int, jsonb).
 *
 * The routine is looked up by schema, name and exactly these argument types
 * each time, so no search_path matters and a routine that was dropped and made
 * again is found.  The call checks the current user's right to execute it, and
 * needs none on its schema.
 *
 * src/job/job_call.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "job/job.h"

#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "tcop/dest.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static Oid
find_routine(const char *schema, const char *name, int nargs, const Oid *types)
{
	Oid			namespace = get_namespace_oid(schema, true);
	oidvector  *args = buildoidvector(types, nargs);

	if (!OidIsValid(namespace))
		return InvalidOid;
	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
						   CStringGetDatum(name), PointerGetDatum(args),
						   ObjectIdGetDatum(namespace));
}

static Oid
find_procedure(const StrataJob *job)
{
	Oid			types[2] = {INT4OID, JSONBOID};

	return find_routine(job->proc_schema, job->proc_name, 2, types);
}

/* See job.h. */
bool
strata_job_is_system(const StrataJob *job)
{
	Oid			procid;

	if (job->id >= STRATA_JOB_FIRST_USER_ID && !OidIsValid(job->hypertable))
		return false;
	procid = find_procedure(job);
	return OidIsValid(procid) &&
		getExtensionOfObject(ProcedureRelationId, procid) ==
		get_extension_oid(STRATA_EXTENSION, true);
}

/* See job.h. */
Oid
strata_job_procedure(const StrataJob *job)
{
	Oid			procid = find_procedure(job);

	if (!OidIsValid(procid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function or procedure %s.%s(job_id integer, config jsonb) does not exist",
						quote_identifier(job->proc_schema),
						quote_identifier(job->proc_name))));
	return procid;
}

static Expr *
job_constant(Oid type, int16 len, Datum value, bool isnull, bool byval)
{
	return (Expr *) makeConst(type, -1, InvalidOid, len, value, isnull, byval);
}

/* proc(id, config) as an expression. */
static FuncExpr *
call_expression(const StrataJob *job, Oid procid)
{
	List	   *args = list_make2(job_constant(INT4OID, sizeof(int32),
											   Int32GetDatum(job->id), false,
											   true),
								  job_constant(JSONBOID, -1, job->config,
											   !job->has_config, false));

	return makeFuncExpr(procid, get_func_rettype(procid), args, InvalidOid,
						InvalidOid, COERCE_EXPLICIT_CALL);
}

/* Evaluate a call of a function; a set's rows are thrown away. */
static void
evaluate(FuncExpr *call)
{
	EState	   *estate;
	ExprState  *state;
	bool		isnull;
	AclResult	acl = strata_function_aclcheck(call->funcid, GetUserId(),
											   ACL_EXECUTE);

	if (acl != ACLCHECK_OK)
		aclcheck_error(acl, OBJECT_FUNCTION, get_func_name(call->funcid));
	if (get_func_retset(call->funcid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("a job cannot call the set-returning function \"%s\"",
						get_func_name(call->funcid))));
	estate = CreateExecutorState();
	state = ExecPrepareExpr((Expr *) call, estate);
	(void) ExecEvalExprSwitchContext(state, GetPerTupleExprContext(estate),
									 &isnull);
	FreeExecutorState(estate);
}

/* See job.h. */
void
strata_job_call(const StrataJob *job, bool atomic)
{
	Oid			procid = strata_job_procedure(job);
	FuncExpr   *expression = call_expression(job, procid);

	switch (get_func_prokind(procid))
	{
		case PROKIND_PROCEDURE:
			{
				CallStmt   *call = makeNode(CallStmt);

				call->funcexpr = expression;
				call->outargs = NIL;
				ExecuteCallStmt(call, NULL, atomic,
								CreateDestReceiver(DestNone));
				break;
			}
		case PROKIND_FUNCTION:
			evaluate(expression);
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("\"%s\" is neither a function nor a procedure",
							job->proc_name)));
	}
}

/* See job.h. */
void
strata_job_check_config(const StrataJob *job)
{
	Oid			types[1] = {JSONBOID};
	Oid			procid;
	List	   *args;
	FuncExpr   *call;

	if (job->check_name == NULL)
		return;
	procid = find_routine(job->check_schema, job->check_name, 1, types);
	if (!OidIsValid(procid) || get_func_prokind(procid) != PROKIND_FUNCTION)
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_FUNCTION),
						errmsg("function %s.%s(config jsonb) does not exist",
							   quote_identifier(job->check_schema),
							   quote_identifier(job->check_name))));
	args = list_make1(job_constant(JSONBOID, -1, job->config, !job->has_config,
								   false));
	call = makeFuncExpr(procid, get_func_rettype(procid), args, InvalidOid,
						InvalidOid, COERCE_EXPLICIT_CALL);
	if (job->named_owner == GetUserId())
		evaluate(call);
	else
	{
		StrataOwnerContext saved;

		if (!SearchSysCacheExists1(AUTHOID,
								   ObjectIdGetDatum(job->named_owner)))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("the role that set the check of job %d does not exist",
							job->id),
					 errhint("Set the check again: SELECT alter_job(%d, check_config => '%s');",
							 job->id,
							 quote_qualified_identifier(job->check_schema,
														job->check_name))));
		strata_role_enter(job->named_owner, &saved);
		evaluate(call);
		strata_owner_leave(&saved);
	}
}
