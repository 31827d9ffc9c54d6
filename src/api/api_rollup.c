/*-------------------------------------------------------------------------
 *
 * api_rollup.c
 *	  Archives where continuous aggregates are named, and the other way round.
 *
 * src/api/api_rollup.c
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "hypertable/hypertable.h"
#include "rollup/rollup.h"

#include "fmgr.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(strata_hypertable_meant_sql);
PG_FUNCTION_INFO_V1(strata_relation_named);
PG_FUNCTION_INFO_V1(strata_retention_held);

/* hypertable_meant(relation) -> the archive of a view; else the same */
Datum
strata_hypertable_meant_sql(PG_FUNCTION_ARGS)
{
	PG_RETURN_OID(strata_hypertable_meant(PG_GETARG_OID(0)));
}

/* relation_named(relation) -> the view of an archive; else the same */
Datum
strata_relation_named(PG_FUNCTION_ARGS)
{
	Oid			view = strata_rollup_of_archive(PG_GETARG_OID(0));

	PG_RETURN_OID(OidIsValid(view) ? view : PG_GETARG_OID(0));
}

/* retention_held(hypertable) -> why its chunks cannot be dropped, or NULL */
Datum
strata_retention_held(PG_FUNCTION_ARGS)
{
	Oid			view;
	const char *why = strata_rollup_keeps_not(PG_GETARG_OID(0), &view);

	if (why == NULL)
		PG_RETURN_NULL();
	PG_RETURN_TEXT_P(cstring_to_text(why));
}
