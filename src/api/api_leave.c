/*-------------------------------------------------------------------------
 *
 * api_leave.c
 *	  The way out: to_heap(), and what DROP EXTENSION says.
 *
 * src/api/api_leave.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "job/job.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/event_trigger.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_to_heap);
PG_FUNCTION_INFO_V1(strata_on_drop_extension);

/* A run of to_heap(): who called, for which table. */
typedef struct Leaving
{
	Oid			user;
	Oid			root;
} Leaving;

static bool
is_strata_still(Oid relid)
{
	Relation	rel = try_relation_open(relid, NoLock);
	bool		result;

	if (rel == NULL)
		return false;
	result = strata_relation_is_strata(rel);
	relation_close(rel, NoLock);
	return result;
}

/* One table or materialized view becomes a heap; its options go. */
static void
leave_table(Oid relid, void *arg)
{
	Leaving    *leaving = arg;

	if (!strata_table_ownercheck(relid, leaving->user))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
	LockRelationOid(relid, AccessExclusiveLock);
	Assert(strata_table_ownercheck(relid, leaving->user));	/* api:P1 */
	if (!is_strata_still(relid))
		return;
	strata_sql_run(psprintf("ALTER %s %s SET ACCESS METHOD heap",
							get_rel_relkind(relid) == RELKIND_MATVIEW ?
							"MATERIALIZED VIEW" : "TABLE",
							strata_sql_name(relid)));
	(void) strata_settings_remove_all(relid);
}

/*
 * The partitioned table itself: what was made meanwhile is done as well, under
 * a lock that no chunk is made beside.
 */
static void
leave_root(Oid relid, void *arg)
{
	ListCell   *lc;

	LockRelationOid(relid, ShareUpdateExclusiveLock);
	foreach(lc, strata_api_leaves(relid, NULL))
		leave_table(lfirst_oid(lc), arg);
	foreach(lc, find_all_inheritors(relid, ShareUpdateExclusiveLock, NULL))
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_PARTITIONED_TABLE)
			strata_hypertable_release(lfirst_oid(lc));
		else
			(void) strata_settings_remove_all(lfirst_oid(lc));
	}
}

/* Our functions in the partition key are needed for as long as it is there. */
static void
check_partition_key(Oid relid)
{
	StrataHypertable *ht = strata_hypertable_get(relid);

	if (ht != NULL && ht->has_function)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("hypertable \"%s\" cannot do without the extension",
						get_rel_name(relid)),
				 errdetail("Its partition key is computed by a function."),
				 errhint("CREATE TABLE ... (LIKE %s); INSERT INTO ... SELECT * FROM %s;",
						 strata_sql_name(relid), strata_sql_name(relid))));
}

/*
 * to_heap(relation regclass): a table, materialized view, partitioned table or
 * hypertable does without the extension; each chunk in a transaction of its
 * own where the caller is in none.
 */
Datum
strata_to_heap(PG_FUNCTION_ARGS)
{
	Leaving		leaving = {.user = GetUserId()};
	StrataRun	run;
	List	   *tables;
	ListCell   *lc;
	bool		partitioned;

	strata_api_require_argument(fcinfo, 0, "relation");
	leaving.root = PG_GETARG_OID(0);
	PreventCommandIfReadOnly("to_heap()");
	PreventCommandIfParallelMode("to_heap()");
	partitioned = get_rel_relkind(leaving.root) == RELKIND_PARTITIONED_TABLE;
	strata_run_begin(&run, fcinfo, false);
	if (!partitioned)
		relation_close(strata_api_open(leaving.root, AccessShareLock),
					   AccessShareLock);
	tables = strata_api_leaves(leaving.root, NULL);
	if (partitioned && tables == NIL && !strata_hypertable_is(leaving.root))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("no partition of \"%s\" uses the access method strata",
						get_rel_name(leaving.root))));
	if (partitioned)
		check_partition_key(leaving.root);
	foreach(lc, tables)
		strata_run_table(&run, lfirst_oid(lc), leave_table, &leaving);
	if (partitioned && run.failed == 0)
		strata_run_table(&run, leaving.root, leave_root, &leaving);
	strata_run_end(&run, "turned into heaps");
	if (partitioned)
		ereport(NOTICE,
				(errmsg("\"%s\" is a partitioned table like others now",
						get_rel_name(leaving.root)),
				 errdetail("Partitions for new rows are not made by themselves any more.")));
	PG_RETURN_VOID();
}

/* Does the statement name us? */
static bool
drops_us(const DropStmt *stmt)
{
	ListCell   *lc;

	foreach(lc, stmt->objects)
	{
		if (strcmp(strVal(lfirst(lc)), STRATA_EXTENSION) == 0)
			return true;
	}
	return false;
}

/*
 * Event trigger at the begin of DROP EXTENSION: tables are not to go with the
 * extension, unless somebody said so; and how they are kept is said.
 */
Datum
strata_on_drop_extension(PG_FUNCTION_ARGS)
{
	EventTriggerData *data;
	DropStmt   *stmt;
	List	   *tables;
	Oid			parent;

	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by event trigger manager",
						"on_drop_extension")));
	data = (EventTriggerData *) fcinfo->context;
	stmt = (DropStmt *) data->parsetree;
	if (!IsA(stmt, DropStmt) || !drops_us(stmt) ||
		(stmt->behavior == DROP_CASCADE && strata_allow_drop_cascade))
		PG_RETURN_NULL();
	tables = strata_api_tables(false);
	if (tables == NIL)
		PG_RETURN_NULL();
	parent = strata_partition_root(linitial_oid(tables));
	ereport(ERROR,
			(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			 errmsg("cannot drop extension \"%s\" because tables use it",
					STRATA_EXTENSION),
			 errdetail_plural("%d table, of \"%s\", would be dropped with its rows.",
							  "%d tables, among them of \"%s\", would be dropped with their rows.",
							  list_length(tables), list_length(tables),
							  get_rel_name(parent)),
			 errhint("CALL strata.to_heap('%s'); makes an ordinary table of it. To lose the tables: SET strata.allow_drop_cascade = on; DROP EXTENSION %s CASCADE;",
					 strata_sql_name(parent), STRATA_EXTENSION)));
}
