/*-------------------------------------------------------------------------
 *
 * api_stat.c
 *	  What was counted of tables, for views; and to begin anew.
 *
 * Everybody may see the counters, as those of PostgreSQL; who owns a table may
 * set them to zero.
 *
 * src/api/api_stat.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "job/job.h"
#include "stat/stat.h"

#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_stat_counters);
PG_FUNCTION_INFO_V1(strata_reset_stat_tables);

static void
require_preloaded(void)
{
	if (strata_stat_preloaded())
		return;
	if (strata_job_preloaded())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("tables are not counted: strata.max_stat_tables is 0"),
				 errhint("ALTER SYSTEM RESET strata.max_stat_tables; then restart the server.")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("tables are not counted: strata is not in shared_preload_libraries"),
			 errhint("%s", strata_job_preload_hint())));
}

static Datum
time_or_null(TimestampTz time, bool *isnull)
{
	*isnull = time == 0;
	return TimestampTzGetDatum(time);
}

/* stat_counters() -> (relid, a column for each counter, times) */
Datum
strata_stat_counters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	StrataStatTable *tables;
	int			n;

	require_preloaded();
	InitMaterializedSRF(fcinfo, 0);
	tables = strata_stat_read(&n);
	for (int i = 0; i < n; i++)
	{
		Datum		values[STRATA_STATS + 4];
		bool		nulls[STRATA_STATS + 4] = {0};
		int			k = 0;

		values[k++] = ObjectIdGetDatum(tables[i].relid);
		for (int c = 0; c < STRATA_STATS; c++)
			values[k++] = Int64GetDatum(tables[i].counts[c]);
		values[k] = time_or_null(tables[i].last_scan, &nulls[k]);
		k++;
		values[k] = time_or_null(tables[i].last_compression, &nulls[k]);
		k++;
		values[k] = time_or_null(tables[i].since, &nulls[k]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	pfree(tables);
	return (Datum) 0;
}

/*
 * reset_stat_tables(regclass DEFAULT NULL): counters of a table, or of all
 * partitions of a partitioned one, to zero; NULL: of all tables that the
 * caller owns.
 */
Datum
strata_reset_stat_tables(PG_FUNCTION_ARGS)
{
	require_preloaded();
	if (PG_ARGISNULL(0))
	{
		int			n;
		StrataStatTable *tables = strata_stat_read(&n);

		for (int i = 0; i < n; i++)
			if (get_rel_relkind(tables[i].relid) != '\0' &&
				strata_table_ownercheck(tables[i].relid, GetUserId()))
				strata_stat_reset(tables[i].relid);
		pfree(tables);
	}
	else
	{
		Oid			relid = PG_GETARG_OID(0);
		ListCell   *lc;

		if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
			relation_close(strata_api_open(relid, AccessShareLock), NoLock);
		foreach(lc, strata_api_leaves(relid, NULL))
			strata_stat_reset(lfirst_oid(lc));
	}
	PG_RETURN_VOID();
}
