/*-------------------------------------------------------------------------
 *
 * catalog_compat.c
 *	  TimescaleDB's names of our options and settings, in CREATE and ALTER
 *	  TABLE and in SET.
 *
 * They count only where the extension strata_timescale_compat is installed.
 * No setting of the name timescaledb.* is defined here: a server may have
 * databases of both kinds.  To PostgreSQL they are placeholders, which we
 * read.
 *
 * src/catalog/catalog_compat.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog_private.h"

#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

#define SETTING_PREFIX "timescaledb."

/*
 * TimescaleDB's names of our options; without one of ours: why it does
 * nothing.
 */
static const struct
{
	const char *theirs;
	const char *ours;
	const char *why;
}			compat_names[] =
{{"compress", "columnstore", NULL},
{"columnstore", "columnstore", NULL},
{"enable_columnstore", "columnstore", NULL},
{"compress_segmentby", "segmentby", NULL},
{"segmentby", "segmentby", NULL},
{"segment_by", "segmentby", NULL},
{"compress_orderby", "orderby", NULL},
{"orderby", "orderby", NULL},
{"order_by", "orderby", NULL},
{"compress_index", "sparse_index", NULL},
{"sparse_index", "sparse_index", NULL},
{"chunk_interval", "chunk_interval", NULL},
{"hypertable", "hypertable", NULL},
{"partition_column", "partition_column", NULL},
{"create_default_indexes", "create_default_indexes", NULL},
{"associated_schema", NULL,
"Chunks are in the schema of their hypertable."},
{"associated_schema_name", NULL,
"Chunks are in the schema of their hypertable."},
{"associated_table_prefix", NULL,
"Chunks are named after their hypertable and the begin of their range."},
{"compress_chunk_time_interval", NULL,
"Compressing does not merge chunks; CALL merge_chunks() does."},
{"compress_chunk_interval", NULL,
"Compressing does not merge chunks; CALL merge_chunks() does."}};

/* Options of the statement whose options are being checked. */
static List *typed_options = NIL;

static bool
is_installed(void)
{
	return OidIsValid(get_extension_oid("strata_timescale_compat", true));
}

/* See catalog.h. */
bool
strata_settings_is_compat_option(DefElem *def, const char **name)
{
	if (strcmp(def->defnamespace, "timescaledb") != 0 &&
		strcmp(def->defnamespace, "tsdb") != 0)
		return false;
	if (!is_installed())
		return false;
	/* an unknown one is refused under its own name */
	*name = def->defname;
	for (int i = 0; i < (int) lengthof(compat_names); i++)
		if (strcmp(def->defname, compat_names[i].theirs) == 0)
			*name = compat_names[i].ours;
	return true;
}

/* See catalog.h. */
void
strata_compat_tell_ignored(DefElem *def)
{
	for (int i = 0; i < (int) lengthof(compat_names); i++)
		if (strcmp(def->defname, compat_names[i].theirs) == 0)
			ereport(NOTICE, (errmsg("option \"%s.%s\" has no effect",
									def->defnamespace, def->defname),
							 errdetail("%s", compat_names[i].why)));
}

/* See catalog.h. */
void
strata_option_remember_typed(List *options)
{
	typed_options = options;
}

/* See catalog.h. */
const char *
strata_option_typed(const char *name)
{
	ListCell   *lc;

	foreach(lc, typed_options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, name) == 0 && def->defnamespace != NULL)
			return def->defnamespace;
	}
	return psprintf("strata.%s", name);
}

/*-------------------------------------------------------------------------
 * Sparse indexes
 *-------------------------------------------------------------------------
 */

/* The columns that filters are asked of in 'bloom(a), minmax(b), bloom(c, d)'. */
static Bitmapset *
bloom_columns(Relation rel, const char *text)
{
	Bitmapset  *columns = NULL;
	List	   *calls = strata_option_parse_calls(text);
	bool		good = calls != NIL || text[strspn(text, " \t\r\n")] == '\0';
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, calls)
	{
		StrataOptionCall *call = lfirst(lc);
		bool		bloom = strcmp(call->name, "bloom") == 0;

		good = good && call->constant == NULL &&
			(bloom || (strcmp(call->name, "minmax") == 0 &&
					   list_length(call->columns) == 1));
		foreach(lc2, call->columns)
		{
			Bitmapset  *one = NULL;
			Form_pg_attribute att = strata_option_take_column(rel,
															  "sparse_index",
															  lfirst(lc2),
															  &one);

			/* minima and maxima of all columns are kept anyhow */
			if (bloom)
				columns = bms_add_member(columns, att->attnum);
		}
	}
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						strata_option_typed("sparse_index"), text),
				 errhint("Give a list such as 'bloom(trace_id), minmax(value)'.")));
	return columns;
}

/* See catalog.h. */
Bitmapset *
strata_compat_take_sparse_index(Relation rel, List **options)
{
	Bitmapset  *columns = NULL;
	ListCell   *lc;

	foreach(lc, *options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (def->defnamespace == NULL ||
			strcmp(def->defname, "sparse_index") != 0)
			continue;
		if (def->arg == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option \"%s\" needs a value", def->defnamespace),
					 errhint("Give a list such as 'bloom(trace_id), minmax(value)'.")));
		columns = bms_add_members(columns,
								  bloom_columns(rel, defGetString(def)));
		*options = foreach_delete_current(*options, lc);
	}
	return columns;
}

/*-------------------------------------------------------------------------
 * Settings
 *-------------------------------------------------------------------------
 */

/* See catalog.h. */
const char *
strata_compat_setting(const char *name)
{
	const char *value = GetConfigOption(psprintf(SETTING_PREFIX "%s", name),
										true, false);

	return value != NULL && value[0] != '\0' && is_installed() ? value : NULL;
}

static bool
is_on(const char *name)
{
	const char *value = strata_compat_setting(name);
	bool		on;

	return value != NULL && parse_bool(value, &on) && on;
}

/* See catalog_private.h. */
bool
strata_compat_direct_load(Relation rel)
{
	Oid			table = RelationGetRelid(rel);

	if (!is_on("enable_direct_compress_copy") &&
		!is_on("enable_direct_compress_insert"))
		return false;
	if (rel->rd_rel->relispartition)
		table = get_partition_parent(table, true);
	return OidIsValid(table) &&
		strata_settings_get_text(table, "chunk_interval") != NULL;
}

/* See catalog.h. */
bool
strata_compat_knows_setting(const char *name, const char **ours)
{
	*ours = NULL;
	if (strncmp(name, SETTING_PREFIX, strlen(SETTING_PREFIX)) != 0 ||
		!is_installed())
		return false;
	*ours = name + strlen(SETTING_PREFIX);
	return true;
}
