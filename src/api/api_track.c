/*-------------------------------------------------------------------------
 *
 * api_track.c
 *	  What is tracked of a hypertable, for SQL: functions in _strata that
 *	  tests, and whoever maintains rollups by SQL, call.  For its owner.
 *
 * src/api/api_track.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "track/track.h"

#include "catalog/pg_inherits.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(strata_track_sql);
PG_FUNCTION_INFO_V1(strata_track_no_more);
PG_FUNCTION_INFO_V1(strata_track_wait);
PG_FUNCTION_INFO_V1(strata_track_pending_sql);
PG_FUNCTION_INFO_V1(strata_track_marks);

/* The hypertable, if it is the user's; ereports otherwise. */
static Oid
own_hypertable(Oid relid)
{
	(void) strata_hypertable_open(relid);
	Assert(strata_table_ownercheck(relid, GetUserId()));	/* api:P1 */
	return relid;
}

Datum
strata_track_sql(PG_FUNCTION_ARGS)
{
	Oid			relid = own_hypertable(PG_GETARG_OID(0));
	int64		lo = PG_GETARG_INT64(1);
	int64		hi = PG_GETARG_INT64(2);

	if (lo > hi)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("range of times is empty")));
	/* no chunk is attached meanwhile by somebody who does not know of it */
	LockRelationOid(relid, ShareUpdateExclusiveLock);
	list_free(strata_track_publish(relid, lo, hi));
	PG_RETURN_VOID();
}

Datum
strata_track_no_more(PG_FUNCTION_ARGS)
{
	strata_track_source_forget(own_hypertable(PG_GETARG_OID(0)));
	PG_RETURN_VOID();
}

Datum
strata_track_wait(PG_FUNCTION_ARGS)
{
	Oid			relid = own_hypertable(PG_GETARG_OID(0));
	ListCell   *lc;

	foreach(lc, find_inheritance_children(relid, NoLock))
	{
		LOCKTAG		tag;

		SET_LOCKTAG_RELATION(tag, MyDatabaseId, lfirst_oid(lc));
		WaitForLockers(tag, ShareLock, false);
	}
	PG_RETURN_VOID();
}

static void
put_range(int64 lo, int64 hi, void *arg)
{
	ReturnSetInfo *result = arg;
	Datum		values[2] = {Int64GetDatum(lo), Int64GetDatum(hi)};
	bool		isnull[2] = {false, false};

	tuplestore_putvalues(result->setResult, result->setDesc, values, isnull);
}

Datum
strata_track_pending_sql(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	strata_track_pending(own_hypertable(PG_GETARG_OID(0)), put_range,
						 fcinfo->resultinfo);
	PG_RETURN_VOID();
}

Datum
strata_track_marks(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	strata_track_marks_visit(own_hypertable(PG_GETARG_OID(0)),
							 GetActiveSnapshot(), put_range,
							 fcinfo->resultinfo);
	PG_RETURN_VOID();
}
