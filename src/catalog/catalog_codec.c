/*-------------------------------------------------------------------------
 *
 * catalog_codec.c
 *	  The options strata.codec_level and strata.codecs: parse, check, resolve.
 *
 * strata.codecs is a list of columns, each with the name of a codec:
 * 'temperature gorilla, "Note" zstd'.  It is parsed by PostgreSQL's own
 * grammar, as the select list it looks like: a column with a label.
 *
 * src/catalog/catalog_codec.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog_private.h"

#include "catalog/partition.h"
#include "catalog/pg_type.h"
#include "nodes/parsenodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

static const struct
{
	const char *name;
	StrataLevel level;
}			levels[] = {
	{"hot", STRATA_LEVEL_HOT},
	{"balanced", STRATA_LEVEL_BALANCED},
	{"archive", STRATA_LEVEL_ARCHIVE}
};

/* See catalog.h. */
const char *
strata_level_name(StrataLevel level)
{
	for (int i = 0; i < (int) lengthof(levels); i++)
		if (levels[i].level == level)
			return levels[i].name;
	return "unknown";
}

/* The level of a text, or false. */
static bool
parse_level(const char *text, StrataLevel *level)
{
	for (int i = 0; i < (int) lengthof(levels); i++)
		if (pg_strcasecmp(text, levels[i].name) == 0)
		{
			*level = levels[i].level;
			return true;
		}
	return false;
}

/* The level of a text, or ereport; empty, as in a RESET: the default. */
static StrataLevel
level_of(const char *text)
{
	StrataLevel level = STRATA_LEVEL_BALANCED;

	if (text[0] != '\0' && !parse_level(text, &level))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"strata.codec_level\": \"%s\"",
						text),
				 errhint("Valid values are hot, balanced and archive.")));
	return level;
}

/* The targets of an option's text, each a column with a name; or ereport. */
static List *
parse_codecs(const char *text)
{
	List	   *targets;
	bool		good;
	ListCell   *lc;

	if (text[strspn(text, " \t\r\n")] == '\0')
		return NIL;
	targets = strata_option_parse_targets(text);
	good = targets != NIL;
	foreach(lc, targets)
	{
		ResTarget  *target = lfirst_node(ResTarget, lc);

		good = good && target->name != NULL && target->indirection == NIL &&
			IsA(target->val, ColumnRef) &&
			list_length(((ColumnRef *) target->val)->fields) == 1 &&
			IsA(linitial(((ColumnRef *) target->val)->fields), String);
	}
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"strata.codecs\": \"%s\"",
						text),
				 errhint("Give a list of columns, each with a codec, such as 'temperature gorilla, note zstd'.")));
	return targets;
}

static const char *
target_column(ResTarget *target)
{
	return strVal(linitial(((ColumnRef *) target->val)->fields));
}

/* Can the codec be asked for, for values of this type? */
static bool
codec_fits(StrataCodecId codec, Form_pg_attribute att)
{
	Oid			type = getBaseType(att->atttypid);
	StrataKind	kind = STRATA_KIND_BYTES;

	if (att->attbyval)
		kind = type == FLOAT4OID || type == FLOAT8OID ? STRATA_KIND_FLOAT :
			STRATA_KIND_INT;
	if ((codec == STRATA_CODEC_NUMERIC && type != NUMERICOID) ||
		(codec == STRATA_CODEC_JSONB && type != JSONBOID))
		return false;
	return codec != STRATA_CODEC_CONSTANT &&
		strata_codec_supports(codec, kind,
							  att->attbyval ? (uint8) att->attlen : 0);
}

/* Names of the codecs that fit a column. */
static char *
fitting_codecs(Form_pg_attribute att)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int id = STRATA_CODEC_AUTO; id < STRATA_CODEC_COUNT; id++)
		if (codec_fits((StrataCodecId) id, att) &&
			strata_codec_available((StrataCodecId) id))
			appendStringInfo(&buf, "%s%s", buf.len > 0 ? ", " : "",
							 strata_codec_name((StrataCodecId) id));
	return buf.data;
}

/* See catalog_private.h. */
Form_pg_attribute
strata_option_find_column(TupleDesc desc, const char *name)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && strcmp(NameStr(att->attname), name) == 0)
			return att;
	}
	return NULL;
}

/* See catalog_private.h. */
void
strata_option_refuse_virtual(Form_pg_attribute att, const char *option)
{
	if (!strata_attribute_is_kept(att))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot use virtual generated column \"%s\" in option \"%s\"",
						NameStr(att->attname), strata_option_typed(option)),
				 errdetail("Rows have no values of it: it is computed when it is read.")));
}

/* See catalog_private.h. */
Form_pg_attribute
strata_option_take_column(Relation rel, const char *option, const char *column,
						  Bitmapset **seen)
{
	Form_pg_attribute att = strata_option_find_column(RelationGetDescr(rel),
													  column);

	if (att == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, RelationGetRelationName(rel)),
				 errhint("Option \"%s\" takes columns of the table itself.",
						 strata_option_typed(option))));
	strata_option_refuse_virtual(att, option);
	if (bms_is_member(att->attnum, *seen))
		ereport(ERROR, (errcode(ERRCODE_DUPLICATE_COLUMN),
						errmsg("column \"%s\" appears more than once in %s",
							   column, strata_option_typed(option))));
	*seen = bms_add_member(*seen, att->attnum);
	return att;
}

/* See catalog_private.h. */
void
strata_option_codecs_check(Relation rel, const char *level, const char *text,
						   Bitmapset *segmentby)
{
	Bitmapset  *seen = NULL;
	ListCell   *lc;

	if (level != NULL)
		(void) level_of(level);
	if (text == NULL)
		return;

	foreach(lc, parse_codecs(text))
	{
		ResTarget  *target = lfirst_node(ResTarget, lc);
		const char *column = target_column(target);
		Form_pg_attribute att = strata_option_take_column(rel, "codecs",
														  column, &seen);
		StrataCodecId codec = strata_codec_by_name(target->name);

		if (codec == STRATA_CODEC_AUTO && strcmp(target->name, "auto") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("codec \"%s\" does not exist", target->name),
					 errhint("Codecs for column \"%s\" are: %s.", column,
							 fitting_codecs(att))));
		if (codec == STRATA_CODEC_CONSTANT)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("codec \"constant\" cannot be asked for"),
					 errdetail("It is used by itself wherever all values of a batch are the same."),
					 errhint("Codecs for column \"%s\" are: %s.", column,
							 fitting_codecs(att))));
		if (!codec_fits(codec, att))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("codec \"%s\" does not hold type %s of column \"%s\"",
							target->name, format_type_be(att->atttypid),
							column),
					 errhint("Codecs for column \"%s\" are: %s.", column,
							 fitting_codecs(att))));
		if (!strata_codec_available(codec))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("codec \"%s\" was not built into this library",
							target->name),
					 errhint("Codecs for column \"%s\" are: %s.", column,
							 fitting_codecs(att))));
		if (bms_is_member(att->attnum, segmentby))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("column \"%s\" is in strata.segmentby and cannot be in strata.codecs",
							column),
					 errdetail("A segmentby column is kept once for each batch, not encoded.")));
	}
}

/* See catalog_private.h. */
bool
strata_option_codecs_fit(const char *text, Form_pg_attribute att)
{
	ListCell   *lc;

	foreach(lc, parse_codecs(text))
	{
		ResTarget  *target = lfirst_node(ResTarget, lc);

		if (strcmp(target_column(target), NameStr(att->attname)) == 0)
			return codec_fits(strata_codec_by_name(target->name), att);
	}
	return true;
}

/*
 * What a checked text means now, indexed by attno - 1; AUTO for all it does
 * not name.
 */
static StrataCodecId *
resolve_codecs(TupleDesc desc, const char *text)
{
	StrataCodecId *codecs = palloc0(sizeof(StrataCodecId) *
									Max(desc->natts, 1));
	ListCell   *lc;

	foreach(lc, parse_codecs(text))
	{
		ResTarget  *target = lfirst_node(ResTarget, lc);
		Form_pg_attribute att;
		StrataCodecId codec = strata_codec_by_name(target->name);

		att = strata_option_find_column(desc, target_column(target));

		/*
		 * the column or its type may have changed since, and so may the
		 * library
		 */
		if (att != NULL && codec_fits(codec, att) &&
			strata_codec_available(codec))
			codecs[att->attnum - 1] = codec;
	}
	return codecs;
}

/* See catalog_private.h. */
char *
strata_option_inherited_text(Relation rel, const char *name)
{
	char	   *text = strata_settings_get_text(RelationGetRelid(rel), name);
	ListCell   *lc;

	if (text != NULL || !rel->rd_rel->relispartition)
		return text;
	foreach(lc, get_partition_ancestors(RelationGetRelid(rel)))
	{
		text = strata_settings_get_text(lfirst_oid(lc), name);
		if (text != NULL)
			return text;
	}
	return NULL;
}

/* See catalog_private.h. */
void
strata_option_codecs_get(Relation rel, StrataSettings *settings)
{
	char	   *level = strata_option_inherited_text(rel, "codec_level");
	char	   *codecs = strata_option_inherited_text(rel, "codecs");

	if (level != NULL)
		settings->codec_level = level_of(level);
	if (codecs != NULL)
		settings->codecs = resolve_codecs(RelationGetDescr(rel), codecs);
}

/* See catalog_private.h. */
char *
strata_option_codecs_rewrite(const char *text, const char *old,
							 const char *new_name)
{
	StringInfoData buf;
	bool		changed = false;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, parse_codecs(text))
	{
		ResTarget  *target = lfirst_node(ResTarget, lc);
		const char *column = target_column(target);

		if (strcmp(column, old) == 0)
		{
			changed = true;
			if (new_name == NULL)
				continue;
			column = new_name;
		}
		appendStringInfo(&buf, "%s%s %s", buf.len > 0 ? ", " : "",
						 quote_identifier(column),
						 quote_identifier(target->name));
	}
	return changed ? buf.data : NULL;
}
