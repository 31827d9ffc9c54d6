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
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_hypertable_meant_sql);
PG_FUNCTION_INFO_V1(strata_relation_named);
PG_FUNCTION_INFO_V1(strata_retention_held);
PG_FUNCTION_INFO_V1(strata_time_text);

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

/* time_text(hypertable, at) -> the time as its type shows it; NULL: no end */
Datum
strata_time_text(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht = strata_hypertable_get(PG_GETARG_OID(0));
	int64		at = PG_GETARG_INT64(1);
	Oid			output;
	bool		is_varlena;
	char	   *text;

	if (ht == NULL || at == PG_INT64_MIN || at == PG_INT64_MAX)
		PG_RETURN_NULL();
	getTypeOutputInfo(ht->key_type, &output, &is_varlena);
	text = OidOutputFunctionCall(output,
								 strata_time_to_datum(ht->key_type, at));
	PG_RETURN_TEXT_P(cstring_to_text(text));
}
