/*-------------------------------------------------------------------------
 *
 * catalog_compat.c
 *	  TimescaleDB's names of our options in CREATE and ALTER TABLE.
 *
 * src/catalog/catalog_compat.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog.h"

#include "commands/extension.h"
#include "nodes/parsenodes.h"

/*
 * TimescaleDB's names of our options, one line each.  They count only where
 * the extension strata_timescale_compat is installed.
 */
static const char *const compat_names[][2] = {
	{"compress", "columnstore"},
	{"columnstore", "columnstore"},
	{"enable_columnstore", "columnstore"},
	{"compress_segmentby", "segmentby"},
	{"segmentby", "segmentby"},
	{"segment_by", "segmentby"},
	{"compress_orderby", "orderby"},
	{"orderby", "orderby"},
	{"order_by", "orderby"},
	{"chunk_interval", "chunk_interval"},
	{"hypertable", "hypertable"},
	{"partition_column", "partition_column"},
	{"create_default_indexes", "create_default_indexes"}
};

/* Said of a view that others would keep up to date. */
static void
refuse_continuous(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("continuous aggregates are not supported"),
			 errhint("CREATE MATERIALIZED VIEW without these options, and add_job() a procedure that runs REFRESH MATERIALIZED VIEW.")));
}

/* See catalog.h. */
bool
strata_settings_is_compat_option(DefElem *def, const char **name)
{
	if (strcmp(def->defnamespace, "timescaledb") != 0 && strcmp(def->defnamespace, "tsdb") != 0)
		return false;
	if (!OidIsValid(get_extension_oid("strata_timescale_compat", true)))
		return false;
	if (strcmp(def->defname, "continuous") == 0 || strcmp(def->defname, "materialized_only") == 0)
		refuse_continuous();
	/* an unknown one is refused under its own name */
	*name = def->defname;
	for (int i = 0; i < (int) lengthof(compat_names); i++)
		if (strcmp(def->defname, compat_names[i][0]) == 0)
			*name = compat_names[i][1];
	return true;
}
