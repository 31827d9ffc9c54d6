/*-------------------------------------------------------------------------
 *
 * api_rollup.c
 *	  Archives where continuous aggregates are named, and the other way round.
 *
 * src/api/api_rollup.c
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "rollup/rollup.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(strata_hypertable_meant_sql);
PG_FUNCTION_INFO_V1(strata_relation_named);
PG_FUNCTION_INFO_V1(strata_retention_held);
PG_FUNCTION_INFO_V1(strata_time_text);
PG_FUNCTION_INFO_V1(strata_archive_tiers);

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

/*
 * retention_held(hypertable, archives) -> why its chunks cannot be dropped, or
 * NULL; archives: those of the rows that its tiers are made of, if they are to
 * be
 */
Datum
strata_retention_held(PG_FUNCTION_ARGS)
{
	Oid			hypertable = PG_GETARG_OID(0);
	Oid			view;
	const char *why;

	if (PG_GETARG_BOOL(1))
	{
		StrataRollupRow *row;
		List	   *tiers;

		view = strata_rollup_of_archive(hypertable);
		row = OidIsValid(view) ? strata_rollup_row(view) : NULL;
		tiers = row != NULL ? strata_rollup_tiers(view) : NIL;
		if (tiers == NIL || ((StrataTier *) linitial(tiers))->width != NULL)
			PG_RETURN_NULL();
		hypertable = row->source;
	}
	why = strata_rollup_keeps_not(hypertable, &view);
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

/* archive_tiers(view) -> level, tier, width, keep */
Datum
strata_archive_tiers(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Oid			view = PG_GETARG_OID(0);
	StrataRollupRow *row = strata_rollup_row(view);
	List	   *tiers = row != NULL ? strata_rollup_tiers(view) : NIL;
	int			level = 0;
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	foreach(lc, tiers)
	{
		StrataTier *tier = lfirst(lc);
		Datum		values[4] = {0};
		bool		nulls[4] = {false};

		if (tier->width != NULL)
			level++;
		values[0] = Int32GetDatum(level);
		values[1] = ObjectIdGetDatum(tier->width == NULL ? row->source :
									 tier->view);
		nulls[1] = !OidIsValid(DatumGetObjectId(values[1]));
		nulls[2] = tier->width == NULL;
		if (!nulls[2])
			values[2] = CStringGetTextDatum(tier->width);
		nulls[3] = tier->keep == NULL;
		if (!nulls[3])
			values[3] = CStringGetTextDatum(tier->keep);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values,
							 nulls);
	}
	return (Datum) 0;
}
