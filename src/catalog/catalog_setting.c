/*-------------------------------------------------------------------------
 *
 * catalog_setting.c
 *	  strata.* options in pg_class.reloptions: check, store, read.
 *
 * PostgreSQL ignores options it does not know when it reads reloptions, and
 * refuses them when a statement sets any: the utility hook therefore takes
 * ours out of statements (and, for the time of a SET or RESET, out of the
 * catalog row) and stores them by the functions here.
 *
 * Column lists are parsed by PostgreSQL's own grammar, as an ORDER BY clause.
 *
 * Over 600 lines: checking, storing and reading share what an option's text
 * is.
 *
 * src/catalog/catalog_setting.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog_private.h"
#include "pg/pg.h"

#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/indexing.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "utils/varlena.h"
#include "base/compat.h"
#include "storage/lmgr.h"

#define PREFIX "strata."

/* Options that are lists of columns. */
static const char *const option_names[] = {"orderby", "segmentby"};

/*
 * All that may be set on a table; values of the others are hypertable/'s to
 * check.
 */
static const char *const known_names[] = {"batch_index", "chunk_interval",
	"chunk_options", "codec_level",
	"codecs", "columnstore",
	"compressed", "created", "dimensions",
	"direct_load", "divided", "gone", "integer_now_func",
	"orderby", "read_archives", "segmentby",
"tablespaces"};

/*
 * What is written when a table is compressed, a chunk made, rows dropped or
 * moved.  Dumps bring it along; nobody alters it.
 */
static const struct
{
	const char *name;
	bool		can_reset;
}			internal_options[] = {
	{"compressed", true}, {"created", true}, {"divided", false},
	{"gone", true}
};

#define OPTION_LIST_HINT \
	"Valid options are strata.batch_index, strata.codec_level, strata.codecs, strata.direct_load, strata.orderby and strata.segmentby, and for hypertables strata.chunk_interval, strata.integer_now_func and strata.read_archives."

static bool
is_column_list(const char *name)
{
	for (int i = 0; i < (int) lengthof(option_names); i++)
		if (strcmp(name, option_names[i]) == 0)
			return true;
	return false;
}

/* See catalog.h. */
bool
strata_settings_is_option(DefElem *def, const char **name)
{
	if (def->defnamespace != NULL)
	{
		if (strcmp(def->defnamespace, "strata") != 0)
			return strata_settings_is_compat_option(def, name);
		*name = def->defname;
		return true;
	}
	if (strncmp(def->defname, PREFIX, strlen(PREFIX)) != 0)
		return false;
	*name = def->defname + strlen(PREFIX);
	return true;
}

/*
 * Parse "a, b DESC" into a list of SortBy nodes over plain column names, or
 * return false with nothing raised where the text is something else.
 */
static bool
parse_sort_list(const char *text, List **sorts)
{
	char	   *query = psprintf("SELECT 1 ORDER BY %s", text);
	List	   *parsed;
	RawStmt    *raw;
	SelectStmt *select;
	ListCell   *lc;

	parsed = raw_parser(query, RAW_PARSE_DEFAULT);
	if (list_length(parsed) != 1)
		return false;
	raw = linitial_node(RawStmt, parsed);
	if (!IsA(raw->stmt, SelectStmt))
		return false;
	select = (SelectStmt *) raw->stmt;
	if (select->op != SETOP_NONE || select->limitCount != NULL ||
		select->limitOffset != NULL || select->lockingClause != NIL ||
		select->sortClause == NIL)
		return false;
	foreach(lc, select->sortClause)
	{
		SortBy	   *sort = lfirst_node(SortBy, lc);

		if (!IsA(sort->node, ColumnRef) || sort->useOp != NIL ||
			list_length(((ColumnRef *) sort->node)->fields) != 1 ||
			!IsA(linitial(((ColumnRef *) sort->node)->fields), String))
			return false;
	}
	*sorts = select->sortClause;
	return true;
}

static bool
is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

/*
 * The list an option's text holds, or ereport.  Syntax errors of the grammar
 * itself are turned into ours.
 */
static List *
parse_option(const char *name, const char *text)
{
	List	   *sorts = NIL;
	bool		good = false;
	MemoryContext mcxt = CurrentMemoryContext;

	if (is_blank(text))
		return NIL;
	PG_TRY();
	{
		good = parse_sort_list(text, &sorts);
	}
	PG_CATCH();
	{
		/* only syntax errors can come out of the raw parser */
		MemoryContextSwitchTo(mcxt);
		FlushErrorState();
	}
	PG_END_TRY();
	if (good && strcmp(name, "segmentby") == 0)
	{
		ListCell   *lc;

		foreach(lc, sorts)
		{
			SortBy	   *sort = lfirst_node(SortBy, lc);

			if (sort->sortby_dir != SORTBY_DEFAULT ||
				sort->sortby_nulls != SORTBY_NULLS_DEFAULT)
				good = false;
		}
	}
	if (!good)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"%s\": \"%s\"",
						strata_option_typed(name), text),
				 strcmp(name, "segmentby") == 0 ?
				 errhint("Give a list of column names, such as 'device, site'.") :
				 errhint("Give a list of column names, each with optional ASC or DESC and NULLS FIRST or NULLS LAST, such as 'ts DESC NULLS LAST'.")));
	return sorts;
}

static const char *
sort_column_name(SortBy *sort)
{
	return strVal(linitial(((ColumnRef *) sort->node)->fields));
}

/* See catalog.h. */
bool
strata_settings_list_names(const char *segmentby, const char *column)
{
	ListCell   *lc;

	foreach(lc, parse_option("segmentby", segmentby))
	{
		if (strcmp(sort_column_name(lfirst_node(SortBy, lc)), column) == 0)
			return true;
	}
	return false;
}

static void
fill_key(StrataSettingKey *key, SortBy *sort, AttrNumber attno)
{
	key->attno = attno;
	key->desc = sort->sortby_dir == SORTBY_DESC;
	if (sort->sortby_nulls == SORTBY_NULLS_DEFAULT)
		key->nulls_first = key->desc;
	else
		key->nulls_first = sort->sortby_nulls == SORTBY_NULLS_FIRST;
}

/* Resolve a parsed list against rel, leaving out columns that are gone. */
static int
resolve_keys(TupleDesc desc, List *sorts, StrataSettingKey **keys)
{
	int			n = 0;
	ListCell   *lc;

	*keys = palloc0(sizeof(StrataSettingKey) * Max(list_length(sorts), 1));
	foreach(lc, sorts)
	{
		SortBy	   *sort = lfirst_node(SortBy, lc);

		for (int i = 0; i < desc->natts; i++)
		{
			Form_pg_attribute att = TupleDescAttr(desc, i);

			if (!att->attisdropped &&
				strcmp(NameStr(att->attname), sort_column_name(sort)) == 0)
			{
				fill_key(&(*keys)[n++], sort, att->attnum);
				break;
			}
		}
	}
	Assert(n <= list_length(sorts));	/* catalog:T1 */
	return n;
}

#ifdef USE_ASSERT_CHECKING
/* Is no column in both lists, or in one of them twice? */
static bool
keys_are_distinct(const StrataSettings *settings)
{
	Bitmapset  *used = NULL;

	for (int i = 0; i < settings->nsegmentby; i++)
		used = bms_add_member(used, settings->segmentby[i].attno);
	for (int i = 0; i < settings->norderby; i++)
		used = bms_add_member(used, settings->orderby[i].attno);
	return bms_num_members(used) == settings->nsegmentby + settings->norderby;
}
#endif

/* Can values of the type be segments and orders? */
static bool
has_order(Oid typid)
{
	TypeCacheEntry *type = lookup_type_cache(typid, TYPECACHE_LT_OPR |
											 TYPECACHE_BTREE_OPFAMILY);

	return OidIsValid(type->lt_opr) && OidIsValid(type->btree_opf);
}

/* A batch's row has the value, or least and greatest, of each in it. */
#define MAX_LAYOUT_COLUMNS 100

/* Check one list; *used collects attnos over both options. */
static void
check_list(Relation rel, const char *name, List *sorts, Bitmapset **used)
{
	ListCell   *lc;

	foreach(lc, sorts)
	{
		const char *column = sort_column_name(lfirst_node(SortBy, lc));
		AttrNumber	attno = get_attnum(RelationGetRelid(rel), column);
		Form_pg_attribute att;

		if (attno == InvalidAttrNumber)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist",
							column, RelationGetRelationName(rel)),
					 errhint("Option \"%s\" takes columns of the table itself.",
							 strata_option_typed(name))));
		if (attno < 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
					 errmsg("cannot use system column \"%s\" in option \"%s\"",
							column, strata_option_typed(name)),
					 errhint("Option \"%s\" takes columns of the table itself.",
							 strata_option_typed(name))));
		att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
		strata_option_refuse_virtual(att, name);
		if (bms_is_member(attno, *used))
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" appears more than once in %s and %s",
							column, strata_option_typed("segmentby"),
							strata_option_typed("orderby")),
					 errhint("Name each column once, in one of the two options.")));
		*used = bms_add_member(*used, attno);
		if (bms_num_members(*used) > MAX_LAYOUT_COLUMNS)
			ereport(ERROR,
					(errcode(ERRCODE_TOO_MANY_COLUMNS),
					 errmsg("%s and %s cannot have more than %d columns together",
							strata_option_typed("segmentby"),
							strata_option_typed("orderby"),
							MAX_LAYOUT_COLUMNS)));
		if (!has_order(att->atttypid))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_FUNCTION),
					 errmsg("could not identify an ordering operator for type %s of column \"%s\"",
							format_type_be(att->atttypid), column),
					 errhint("Columns in %s and %s need a type with a default btree operator class.",
							 strata_option_typed("segmentby"),
							 strata_option_typed("orderby"))));
	}
}

/* The text of an option in a list of DefElems, or NULL. */
static const char *
find_option(List *options, const char *wanted)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, wanted) == 0)
			return def->arg != NULL ? defGetString(def) : "";
	}
	return NULL;
}

/* See catalog.h. */
List *
strata_tablespaces_parse(const char *text)
{
	List	   *names = NIL;

	if (text != NULL && !is_blank(text) &&
		!SplitIdentifierString(pstrdup(text), ',', &names))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for option \"strata.tablespaces\": \"%s\"",
						text),
				 errhint("Give a list of names, such as 'disk1, disk2'.")));
	return names;
}

/* See catalog.h. */
bool
strata_option_bool(DefElem *def)
{
	char	   *text = def->arg != NULL ? defGetString(def) : "true";
	bool		value;

	if (!parse_bool(text, &value))
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						errmsg("invalid value for option \"%s\": \"%s\"",
							   strata_option_typed(def->defname), text),
						errhint("Give true or false.")));
	return value;
}

/* Is the option a switch? */
static bool
is_switch(const char *name)
{
	return strcmp(name, "batch_index") == 0 ||
		strcmp(name, "columnstore") == 0 ||
		strcmp(name, "compressed") == 0 ||
		strcmp(name, "direct_load") == 0 ||
		strcmp(name, "read_archives") == 0;
}

/* See catalog.h. */
char *
strata_option_index_statement(Relation rel, const char *column)
{
	return psprintf("CREATE INDEX ON %s (%s);",
					strata_sql_name(RelationGetRelid(rel)),
					quote_identifier(column));
}

/* An option that is not there; what filters of columns did an index does. */
static void
refuse_unknown(Relation rel, DefElem *def)
{
	StringInfoData indexes;
	List	   *columns = NIL;
	ListCell   *lc;

	initStringInfo(&indexes);
	if (strcmp(def->defname, "bloom") == 0 && def->arg != NULL)
		(void) SplitIdentifierString(pstrdup(defGetString(def)), ',',
									 &columns);
	foreach(lc, columns)
		appendStringInfo(&indexes, "%s%s", indexes.len > 0 ? " " : "",
						 strata_option_index_statement(rel, lfirst(lc)));
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized parameter \"%s\"",
					strata_option_typed(def->defname)),
			 columns != NIL ?
			 errdetail("An index leads to the batches that have a value.") : 0,
			 columns != NIL ? errhint("%s", indexes.data) :
			 errhint(OPTION_LIST_HINT)));
}

/* See catalog.h. */
void
strata_settings_check(Relation rel, List *options)
{
	Bitmapset  *used = NULL;
	Bitmapset  *segmentby = NULL;
	const char *codecs;
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		bool		known = false;
		ListCell   *lc2;

		for (int i = 0; i < (int) lengthof(known_names); i++)
			known |= strcmp(def->defname, known_names[i]) == 0;
		if (!known)
			refuse_unknown(rel, def);
		/* RESET gives an empty value */
		if (is_switch(def->defname) &&
			(def->arg == NULL || defGetString(def)[0] != '\0'))
			(void) strata_option_bool(def);
		for_each_cell(lc2, options, lnext(options, lc))
		{
			if (strcmp(lfirst_node(DefElem, lc2)->defname, def->defname) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
						 errmsg("parameter \"%s\" specified more than once",
								strata_option_typed(def->defname))));
		}
	}
	for (int i = lengthof(option_names) - 1; i >= 0; i--)
	{
		const char *text = find_option(options, option_names[i]);

		if (text == NULL)
			text = strata_settings_get_text(RelationGetRelid(rel),
											option_names[i]);
		if (text != NULL)
			check_list(rel, option_names[i],
					   parse_option(option_names[i], text), &used);
		if (i > 0)
			segmentby = bms_copy(used);
	}

	/*
	 * a text stored before is only looked at when it may clash with segmentby
	 */
	codecs = find_option(options, "codecs");
	if (codecs == NULL && find_option(options, "segmentby") != NULL)
		codecs = strata_settings_get_text(RelationGetRelid(rel), "codecs");
	strata_option_dimensions_check(rel, find_option(options, "dimensions"));
	(void) strata_tablespaces_parse(find_option(options, "tablespaces"));
	strata_option_codecs_check(rel, find_option(options, "codec_level"),
							   codecs, segmentby);
}

/* See catalog.h. */
void
strata_settings_refuse_internal(List *options, bool reset)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		for (int i = 0; i < (int) lengthof(internal_options); i++)
		{
			if (strcmp(def->defname, internal_options[i].name) != 0 ||
				(reset && internal_options[i].can_reset))
				continue;
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("option \"%s\" cannot be changed",
							strata_option_typed(def->defname)),
					 errdetail("It says what has been done to the table, and dumps bring it along.")));
		}
	}
}

/* See catalog.h. */
char *
strata_settings_get_text(Oid relid, const char *wanted)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	char	   *result = NULL;
	ListCell   *lc;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	foreach(lc, strata_reloptions_read(tuple))
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const char *name;

		if (strata_settings_is_option(def, &name) && strcmp(name, wanted) == 0)
			result = def->arg != NULL ? pstrdup(strVal(def->arg)) :
				pstrdup("");
	}
	ReleaseSysCache(tuple);
	return result;
}

/* Split stored options into ours (names without prefix) and the others. */
static void
split_stored(Oid relid, List **ours, List **others)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	ListCell   *lc;

	*ours = *others = NIL;
	if (!HeapTupleIsValid(tuple))
		return;
	foreach(lc, strata_reloptions_read(tuple))
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		const char *name;

		if (strata_settings_is_option(def, &name))
			*ours = lappend(*ours, makeDefElem(pstrdup(name), def->arg, -1));
		else
			*others = lappend(*others, def);
	}
	ReleaseSysCache(tuple);
}

#ifdef USE_ASSERT_CHECKING
/* Are any of our options in the row? */
static bool
has_ours(Oid relid)
{
	List	   *ours;
	List	   *others;

	split_stored(relid, &ours, &others);
	return ours != NIL;
}
#endif

/* Our options with their prefix, behind the others. */
static void
write_merged(Oid relid, List *ours, List *others)
{
	List	   *all = list_copy(others);
	ListCell   *lc;

	foreach(lc, ours)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		/* or it would be stored by a name that is not looked for */
		Assert(strncmp(def->defname, PREFIX, strlen(PREFIX)) !=
			   0);				/* catalog:T1 */
		all = lappend(all, makeDefElem(psprintf(PREFIX "%s", def->defname),
									   def->arg, -1));
	}
	strata_reloptions_write(relid, all);
}

/* See catalog.h. */
void
strata_settings_store(Oid relid, List *options, bool reset)
{
	List	   *ours;
	List	   *others;
	List	   *merged = NIL;
	ListCell   *lc;

	split_stored(relid, &ours, &others);
	foreach(lc, ours)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (find_option(options, def->defname) == NULL)
			merged = lappend(merged, def);
	}
	if (!reset)
	{
		foreach(lc, options)
		{
			DefElem    *def = lfirst_node(DefElem, lc);
			char	   *text = def->arg != NULL ? defGetString(def) : pstrdup("");

			if (is_switch(def->defname))
				text = pstrdup(strata_option_bool(def) ? "true" : "false");
			Assert(!is_column_list(def->defname) || is_blank(text) ||
				   parse_option(def->defname,
								text) != NIL);	/* catalog:T1 */
			merged = lappend(merged,
							 makeDefElem(def->defname,
										 (Node *) makeString(text), -1));
		}
	}
	write_merged(relid, merged, others);
}

/* See catalog.h. */
void
strata_settings_store_foreign(Oid relid, DefElem *option)
{
	List	   *ours;
	List	   *others;
	ListCell   *lc;

	split_stored(relid, &ours, &others);
	foreach(lc, others)
	{
		if (strcmp(lfirst_node(DefElem, lc)->defname, option->defname) == 0)
			others = foreach_delete_current(others, lc);
	}
	write_merged(relid, ours, lappend(others, option));
}

/* See catalog.h. */
List *
strata_settings_remove_all(Oid relid)
{
	List	   *ours;
	List	   *others;

	split_stored(relid, &ours, &others);
	if (ours != NIL)
		strata_reloptions_write(relid, others);
	Assert(!has_ours(relid));	/* catalog:T3 */
	return ours;
}

/* See catalog.h. */
void
strata_settings_replace_all(Oid relid, List *options)
{
	Assert(!has_ours(relid));	/* catalog:T3 */
	write_merged(relid, options, NIL);
}

/* Text of a list again, with one column renamed or left out. */
static char *
rewrite_list(List *sorts, const char *old, const char *new_name)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, sorts)
	{
		SortBy	   *sort = lfirst_node(SortBy, lc);
		const char *column = sort_column_name(sort);

		if (strcmp(column, old) == 0)
		{
			if (new_name == NULL)
				continue;
			column = new_name;
		}
		appendStringInfo(&buf, "%s%s", buf.len > 0 ? ", " : "",
						 quote_identifier(column));
		if (sort->sortby_dir == SORTBY_ASC)
			appendStringInfoString(&buf, " ASC");
		else if (sort->sortby_dir == SORTBY_DESC)
			appendStringInfoString(&buf, " DESC");
		if (sort->sortby_nulls == SORTBY_NULLS_FIRST)
			appendStringInfoString(&buf, " NULLS FIRST");
		else if (sort->sortby_nulls == SORTBY_NULLS_LAST)
			appendStringInfoString(&buf, " NULLS LAST");
	}
	return buf.data;
}

/* Options, other than column lists, that name columns. */
static const struct
{
	const char *option;
	char	   *(*rewrite) (const char *text, const char *old,
							const char *new_name);
}			rewriters[] = {
	{"codecs", strata_option_codecs_rewrite},
	{"dimensions", strata_option_dimensions_rewrite}
};

/* Does what the option says of the column suit its type? */
static bool
suits_type(const char *option, const char *text, Form_pg_attribute att)
{
	if (is_column_list(option))
		return has_order(att->atttypid);
	if (strcmp(option, "codecs") == 0)
		return strata_option_codecs_fit(text, att);
	return true;
}

/*
 * A column is renamed or (new_name NULL) left out: in all options, or where
 * att is given, which is the column, in those that do not suit its type.
 */
static void
change_column(Oid relid, const char *old, const char *new_name,
			  Form_pg_attribute att)
{
	List	   *ours;
	List	   *others;
	bool		changed = false;
	ListCell   *lc;

	split_stored(relid, &ours, &others);
	foreach(lc, ours)
	{
		DefElem    *def = lfirst_node(DefElem, lc);
		char	   *text = def->arg != NULL ? defGetString(def) : pstrdup("");
		char	   *rewritten;

		if (att != NULL && suits_type(def->defname, text, att))
			continue;
		for (int i = 0; i < (int) lengthof(rewriters); i++)
		{
			if (strcmp(def->defname, rewriters[i].option) != 0)
				continue;
			rewritten = rewriters[i].rewrite(text, old, new_name);
			if (rewritten != NULL)
			{
				def->arg = (Node *) makeString(rewritten);
				changed = true;
			}
		}
		if (!is_column_list(def->defname))
			continue;
		rewritten = rewrite_list(parse_option(def->defname, text), old,
								 new_name);
		if (strcmp(text, rewritten) != 0)
		{
			List	   *sorts = parse_option(def->defname, text);
			ListCell   *lc2;

			/* spelling alone is no reason to touch the catalog */
			foreach(lc2, sorts)
			{
				if (strcmp(sort_column_name(lfirst_node(SortBy, lc2)), old) ==
					0)
				{
					def->arg = (Node *) makeString(rewritten);
					changed = true;
					break;
				}
			}
		}
	}
	if (changed)
		write_merged(relid, ours, others);
	if (changed && att != NULL)
		ereport(NOTICE,
				(errmsg("column \"%s\" of relation \"%s\" has left options that type %s does not suit",
						old, get_rel_name(relid),
						format_type_be(att->atttypid))));
}

/* See catalog.h. */
void
strata_settings_column_changed(Oid relid, const char *old,
							   const char *new_name)
{
	change_column(relid, old, new_name, NULL);
}

/* See catalog.h. */
void
strata_settings_column_retyped(Relation rel, const char *name)
{
	Form_pg_attribute att = strata_option_find_column(RelationGetDescr(rel),
													  name);

	if (att != NULL)
		change_column(RelationGetRelid(rel), name, NULL, att);
}

/* The nearest of relid and its ancestors that has strata options. */
static Oid
settings_owner(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	ListCell   *lc;

	if (!rel->rd_rel->relispartition)
		return relid;
	for (int i = 0; i < (int) lengthof(option_names); i++)
		if (strata_settings_get_text(relid, option_names[i]) != NULL)
			return relid;
	foreach(lc, get_partition_ancestors(relid))
	{
		for (int i = 0; i < (int) lengthof(option_names); i++)
			if (strata_settings_get_text(lfirst_oid(lc), option_names[i]) !=
				NULL)
				return lfirst_oid(lc);
	}
	return relid;
}

/* What is a segment is no order: the latter's keys that are one go. */
static void
drop_order_of_segments(StrataSettings *settings)
{
	Bitmapset  *used = NULL;
	int			n = 0;

	for (int i = 0; i < settings->nsegmentby; i++)
		used = bms_add_member(used, settings->segmentby[i].attno);
	for (int i = 0; i < settings->norderby; i++)
		if (!bms_is_member(settings->orderby[i].attno, used))
			settings->orderby[n++] = settings->orderby[i];
	settings->norderby = n;
	bms_free(used);
}

/* See catalog.h. */
StrataSettings *
strata_settings_get(Relation rel)
{
	StrataSettings *settings = palloc0(sizeof(StrataSettings));
	Oid			owner = settings_owner(rel);
	char	   *segmentby = strata_settings_get_text(owner, "segmentby");
	char	   *orderby = strata_settings_get_text(owner, "orderby");

	strata_option_codecs_get(rel, settings);
	settings->has_segmentby = segmentby != NULL;
	settings->has_orderby = orderby != NULL;
	if (segmentby != NULL)
		settings->nsegmentby = resolve_keys(RelationGetDescr(rel),
											parse_option("segmentby",
														 segmentby),
											&settings->segmentby);
	if (orderby != NULL)
		settings->norderby = resolve_keys(RelationGetDescr(rel),
										  parse_option("orderby", orderby),
										  &settings->orderby);
	drop_order_of_segments(settings);
	Assert(keys_are_distinct(settings));	/* catalog:T2 */
	return settings;
}

/* See catalog.h. */
bool
strata_settings_batch_index(Relation rel)
{
	char	   *text = strata_option_inherited_text(rel, "batch_index");

	return text == NULL || strcmp(text, "true") == 0;
}

/* See catalog.h. */
bool
strata_settings_direct_load(Relation rel)
{
	char	   *text = strata_option_inherited_text(rel, "direct_load");

	return text != NULL ? strcmp(text, "true") == 0 :
		strata_compat_direct_load(rel);
}

/* See catalog.h. */
bool
strata_settings_refuse_direct_load(Relation rel)
{
	char	   *text = strata_option_inherited_text(rel, "direct_load");

	return text != NULL && strcmp(text, "true") != 0;
}

/* See catalog.h. */
bool
strata_settings_compressed(Relation rel)
{
	char	   *text = strata_settings_get_text(RelationGetRelid(rel),
												"compressed");

	return text != NULL && strcmp(text, "true") == 0;
}

/* See catalog.h. */
void
strata_settings_note_compressed(Relation rel, bool compressed)
{
	DefElem    *option;

	if (strata_settings_compressed(rel) == compressed)
		return;
	option = makeDefElem(pstrdup("compressed"),
						 (Node *) makeString(pstrdup("true")), -1);
	strata_settings_store(RelationGetRelid(rel), list_make1(option),
						  !compressed);
	Assert(strata_settings_compressed(rel) == compressed);	/* catalog:T1 */
}

/* See catalog.h. */
StrataSettings *
strata_settings_with(Relation rel, const char *segmentby, const char *orderby)
{
	StrataSettings *settings = strata_settings_get(rel);
	Bitmapset  *used = NULL;

	if (segmentby != NULL)
	{
		List	   *sorts = parse_option("segmentby", segmentby);

		check_list(rel, "segmentby", sorts, &used);
		settings->has_segmentby = true;
		settings->nsegmentby = resolve_keys(RelationGetDescr(rel), sorts,
											&settings->segmentby);
	}
	else
		for (int i = 0; i < settings->nsegmentby; i++)
			used = bms_add_member(used, settings->segmentby[i].attno);
	if (orderby != NULL)
	{
		List	   *sorts = parse_option("orderby", orderby);

		check_list(rel, "orderby", sorts, &used);
		settings->has_orderby = true;
		settings->norderby = resolve_keys(RelationGetDescr(rel), sorts,
										  &settings->orderby);
	}
	else
		drop_order_of_segments(settings);
	Assert(keys_are_distinct(settings));	/* catalog:T2 */
	return settings;
}
