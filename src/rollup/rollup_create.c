/*-------------------------------------------------------------------------
 *
 * rollup_create.c
 *	  A continuous aggregate comes into being: its view, its archive, and what
 *	  is remembered of them.
 *
 * The view is an ordinary one, whose text is the definition: it is right with
 * or without an archive, and without the library.  Its options are stored with
 * it, so that a dump has them, and the statement that restores the view makes
 * the rollup again.
 *
 * The archive is a hypertable beside the view.  The view depends on it: the
 * archive cannot be dropped alone, and a dump has it first.
 *
 * Over 600 lines: what comes, changes and goes has the same options.
 *
 * src/rollup/rollup_create.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "pg/pg.h"
#include "rollup/rollup_private.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/view.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/* More groups than these are not segmented by. */
#define MAX_SEGMENT_COLUMNS 8

/*-------------------------------------------------------------------------
 * Options
 *-------------------------------------------------------------------------
 */
typedef struct RollupOptions
{
	bool		materialized_only;
	bool		group_indexes;
	const char *chunk_interval;
	const char *segmentby;
	const char *orderby;
	const char *archive;		/* its name, in a dump */
	const char *kept;			/* ranges, in a dump */
	const char *archives;		/* text of tiers */
	const char *tier_of;		/* name of the finest tier */
	List	   *stored;			/* DefElems that stay with the view */
} RollupOptions;

static const char *const known_options[] = {"archive", "archives",
	"chunk_interval", "columnstore", "continuous", "create_group_indexes",
	"finalized", "invalidate_using", STRATA_ROLLUP_OPTION_KEPT,
	STRATA_ROLLUP_OPTION_LOST, "materialized_only", "orderby", "segmentby",
	STRATA_ROLLUP_OPTION_TIER_OF,
NULL};

/* See rollup.h. */
bool
strata_rollup_is_asked_for(List *options)
{
	ListCell   *lc;

	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "continuous") == 0)
			return strata_option_bool(def);
	}
	return false;
}

static void
check_option(const DefElem *def)
{
	for (int i = 0; known_options[i] != NULL; i++)
		if (strcmp(def->defname, known_options[i]) == 0)
			return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized parameter \"%s\"",
					strata_option_typed(def->defname)),
			 errhint("Valid options of continuous aggregates are strata.archives, strata.chunk_interval, strata.create_group_indexes, strata.materialized_only, strata.orderby and strata.segmentby.")));
}

/* What the options say; ereports on one that is none. */
static void
read_options(List *options, RollupOptions *read)
{
	StrataRanges lost;
	ListCell   *lc;

	memset(read, 0, sizeof(*read));
	read->group_indexes = true;
	foreach(lc, options)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		check_option(def);
		if (strcmp(def->defname, "materialized_only") == 0)
			read->materialized_only = strata_option_bool(def);
		else if (strcmp(def->defname, "create_group_indexes") == 0)
			read->group_indexes = strata_option_bool(def);
		else if (strcmp(def->defname, "chunk_interval") == 0)
			read->chunk_interval = defGetString(def);
		else if (strcmp(def->defname, "segmentby") == 0)
			read->segmentby = defGetString(def);
		else if (strcmp(def->defname, "orderby") == 0)
			read->orderby = defGetString(def);
		else if (strcmp(def->defname, "archive") == 0)
			read->archive = defGetString(def);
		else if (strcmp(def->defname, STRATA_ROLLUP_OPTION_KEPT) == 0)
			read->kept = defGetString(def);
		else if (strcmp(def->defname, STRATA_ROLLUP_OPTION_LOST) == 0)
			strata_rollup_read_ranges(STRATA_ROLLUP_OPTION_LOST,
									  defGetString(def), &lost);
		else if (strcmp(def->defname, "archives") == 0)
			read->archives = defGetString(def);
		else if (strcmp(def->defname, STRATA_ROLLUP_OPTION_TIER_OF) == 0)
			read->tier_of = defGetString(def);
	}
}

/*-------------------------------------------------------------------------
 * The archive
 *-------------------------------------------------------------------------
 */

/* The column list of CREATE TABLE. */
static char *
archive_columns(const StrataRollup *rollup)
{
	StringInfoData s;
	ListCell   *lc;

	initStringInfo(&s);
	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (s.len > 0)
			appendStringInfoString(&s, ", ");
		appendStringInfo(&s, "%s %s", quote_identifier(column->name),
						 format_type_extended(column->type, column->typmod,
											  FORMAT_TYPE_TYPEMOD_GIVEN |
											  FORMAT_TYPE_FORCE_QUALIFY));
		if (OidIsValid(column->collation) &&
			column->collation != get_typcollation(column->type))
			appendStringInfo(&s, " COLLATE %s",
							 generate_collation_name(column->collation));
		if (column->kind == STRATA_ROLLUP_BUCKET)
			appendStringInfoString(&s, " NOT NULL");
	}
	return s.data;
}

/* A name that no relation of the schema has. */
static char *
archive_name(Oid schema, const char *view)
{
	for (int i = 0;; i++)
	{
		char	   *name = i == 0 ? makeObjectName(view, NULL, "archive") :
		makeObjectName(view, NULL, psprintf("archive%d", i));

		if (!OidIsValid(get_relname_relid(name, schema)))
			return name;
	}
}

/*
 * Is the table what the rollup's archive would be?  Its columns may have been
 * renamed, or those of the view.
 */
static bool
is_archive(Oid relid, const StrataRollup *rollup)
{
	Relation	rel = table_open(relid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	bool		same = strata_hypertable_is(relid) &&
	desc->natts == list_length(rollup->columns) &&
	strata_table_ownercheck(relid, GetUserId()) &&
	strata_rollup_row_of_archive(relid) == NULL;
	int			i = 0;
	ListCell   *lc;

	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);
		Form_pg_attribute att;

		if (!same)
			break;
		att = TupleDescAttr(desc, i++);
		same = !att->attisdropped && att->atttypid == column->type &&
			att->attcollation == column->collation;
	}
	table_close(rel, AccessShareLock);
	return same;
}

/* How its batches are arranged, and the indexes that go by groups. */
static void
arrange_archive(Oid archive, const StrataRollup *rollup,
				const RollupOptions *options)
{
	char	   *bucket =
	pstrdup(quote_identifier(((StrataRollupColumn *)
							  linitial(rollup->columns))->name));
	char	   *table = strata_sql_name(archive);
	StringInfoData groups;
	int			ngroups = 0;
	ListCell   *lc;

	initStringInfo(&groups);
	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (column->kind != STRATA_ROLLUP_GROUP)
			continue;
		if (ngroups++ < MAX_SEGMENT_COLUMNS)
			appendStringInfo(&groups, "%s%s", groups.len > 0 ? ", " : "",
							 quote_identifier(column->name));
		if (options->group_indexes)
			strata_sql_run_subcommand(psprintf("CREATE INDEX ON %s (%s, %s DESC)",
											   table,
											   quote_identifier(column->name),
											   bucket));
	}
	strata_sql_run_subcommand(psprintf("ALTER TABLE %s SET (strata.segmentby = %s, strata.orderby = %s)",
									   table,
									   quote_literal_cstr(options->segmentby != NULL ?
														  options->segmentby :
														  groups.data),
									   quote_literal_cstr(options->orderby != NULL ?
														  options->orderby :
														  bucket)));
}

/* Make it; the user becomes its owner. */
static Oid
create_archive(const StrataRollup *rollup, Oid view,
			   const RollupOptions *options)
{
	Oid			schema = get_rel_namespace(view);
	StrataHypertable *source = strata_hypertable_require(rollup->source);
	StrataHypertableRequest request = {.default_indexes = true};
	char	   *name = archive_name(schema, get_rel_name(view));
	Oid			archive;

	strata_sql_run_subcommand(psprintf("CREATE TABLE %s.%s (%s) USING strata",
									   quote_identifier(get_namespace_name(schema)),
									   quote_identifier(name),
									   archive_columns(rollup)));
	archive = get_relname_relid(name, schema);
	/* default privileges would lead past those of the view */
	strata_relacl_clear(archive);
	request.column = ((StrataRollupColumn *) linitial(rollup->columns))->name;
	if (options->chunk_interval != NULL)
		request.interval_text = options->chunk_interval;
	else if (options->archives != NULL)
		request.interval_text = strata_rollup_finest_chunks(rollup,
															options->archives);
	else
		request.interval_text =
			strata_time_interval_to_text(source->key_type,
										 strata_time_interval_times(source->key_type,
																	source->interval,
																	STRATA_ARCHIVE_CHUNKS));
	LockRelationOid(archive, AccessExclusiveLock);
	strata_hypertable_create(archive, &request);
	CommandCounterIncrement();
	arrange_archive(archive, rollup, options);
	return archive;
}

/*-------------------------------------------------------------------------
 * The view
 *-------------------------------------------------------------------------
 */

static List *
without_option(const List *options, const char *name)
{
	List	   *others = NIL;
	ListCell   *lc;

	foreach(lc, options)
	{
		if (strcmp(lfirst_node(DefElem, lc)->defname, name) != 0)
			others = lappend(others, lfirst(lc));
	}
	return others;
}

/* Nobody drops an archive under its view. */
static void
depend_on_archive(Oid view, Oid archive)
{
	ObjectAddress depender;
	ObjectAddress referenced;

	ObjectAddressSet(depender, RelationRelationId, view);
	ObjectAddressSet(referenced, RelationRelationId, archive);
	recordDependencyOn(&depender, &referenced, DEPENDENCY_NORMAL);
}

/* It is a tier of the view that a dump names, if that is one like it. */
static void
attach_to_finest(Oid view, const StrataRollup *rollup, const char *name)
{
	Oid			finest = get_relname_relid(name, get_rel_namespace(view));
	StrataRollupRow *row = OidIsValid(finest) ? strata_rollup_row(finest) :
	NULL;

	if (row != NULL && row->source == rollup->source &&
		strata_table_ownercheck(finest, GetUserId()))
		strata_rollup_add_tier(view, finest);
}

/* See rollup.h. */
void
strata_rollup_attach(Oid view, List *given)
{
	Oid			schema = get_rel_namespace(view);
	RollupOptions options;
	StrataRollup *rollup;
	StrataRollupRow row = {.view = view};
	Oid			archive = InvalidOid;
	Relation	rel;

	read_options(given, &options);
	rel = table_open(view, AccessExclusiveLock);
	rollup = strata_rollup_analyze(get_view_query(rel), InvalidOid);
	(void) strata_owned_relation_name(rt_fetch(rollup->varno,
											   rollup->query->rtable)->relid);
	if (options.archive != NULL)
		archive = get_relname_relid(options.archive, schema);
	if (!OidIsValid(archive) || !is_archive(archive, rollup))
	{
		archive = create_archive(rollup, view, &options);
		options.kept = NULL;
		given = without_option(given, STRATA_ROLLUP_OPTION_KEPT);
		given = without_option(given, STRATA_ROLLUP_OPTION_LOST);
	}
	row.source = rollup->source;
	row.archive = archive;
	row.materialized_only = options.materialized_only;
	strata_rollup_row_add(&row);
	if (options.kept != NULL)
		strata_rollup_restore_kept(view, options.kept);
	depend_on_archive(view, archive);
	if (options.tier_of != NULL)
		attach_to_finest(view, rollup, options.tier_of);
	strata_rollup_store_options(view, given, archive);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	/* a new tier is going to take over what a finer one keeps */
	if (options.tier_of == NULL || options.archive != NULL)
		strata_rollup_lack_gone(view, rollup);
	Assert(strata_rollup_open(view, true) != NULL); /* rollup:Z5 */
}

/* See rollup.h. */
void
strata_rollup_attach_again(Oid view)
{
	Oid			schema = get_rel_namespace(view);
	const char *archive = strata_settings_get_text(view, "archive");
	const char *finest = strata_settings_get_text(view,
												  STRATA_ROLLUP_OPTION_TIER_OF);
	Oid			relid;

	relid = archive != NULL ? get_relname_relid(archive, schema) : InvalidOid;
	if (OidIsValid(relid))
		depend_on_archive(view, relid);
	relid = finest != NULL ? get_relname_relid(finest, schema) : InvalidOid;
	if (OidIsValid(relid))
		strata_rollup_add_tier(view, relid);
}

/* See rollup.h. */
void
strata_rollup_store_options(Oid view, List *given, Oid archive)
{
	List	   *options = NIL;
	ListCell   *lc;

	foreach(lc, given)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "archive") != 0)
			options = lappend(options,
							  makeDefElem(pstrdup(def->defname),
										  (Node *) makeString(def->arg == NULL ?
															  pstrdup("true") :
															  defGetString(def)),
										  -1));
	}
	options = lappend(options,
					  makeDefElem(pstrdup("archive"),
								  (Node *) makeString(get_rel_name(archive)),
								  -1));
	strata_settings_store(view, options, false);
}

/* Columns of the view, with the names that were asked for. */
static List *
view_columns(Query *query, List *names)
{
	List	   *columns = NIL;
	ListCell   *name = list_head(names);
	ListCell   *lc;

	foreach(lc, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);
		ColumnDef  *column;

		if (entry->resjunk)
			continue;
		if (name != NULL)
		{
			entry->resname = pstrdup(strVal(lfirst(name)));
			name = lnext(names, name);
		}
		column = makeColumnDef(entry->resname, exprType((Node *) entry->expr),
							   exprTypmod((Node *) entry->expr),
							   exprCollation((Node *) entry->expr));
		columns = lappend(columns, column);
	}
	if (name != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("too many column names were specified")));
	return columns;
}

/* See rollup_private.h. */
Oid
strata_rollup_make_view(RangeVar *name, Query *query, List *names,
						List *options)
{
	CreateStmt *create = makeNode(CreateStmt);
	ObjectAddress view;

	create->relation = name;
	create->tableElts = view_columns(query, names);
	create->oncommit = ONCOMMIT_NOOP;
	/* before anything is made */
	(void) strata_rollup_analyze(query, InvalidOid);
	view = DefineRelation(create, RELKIND_VIEW, InvalidOid, NULL, NULL);
	CommandCounterIncrement();
	StoreViewQuery(view.objectId, query, false);
	CommandCounterIncrement();
	strata_rollup_attach(view.objectId, options);
	return view.objectId;
}

/* See rollup.h. */
Oid
strata_rollup_create(const CreateTableAsStmt *stmt, List *options)
{
	Query	   *query = copyObject(castNode(Query, stmt->query));
	Oid			schema = RangeVarGetCreationNamespace(stmt->into->rel);
	RollupOptions read;
	Oid			view;

	if (OidIsValid(get_relname_relid(stmt->into->rel->relname, schema)) &&
		stmt->if_not_exists)
	{
		ereport(NOTICE,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg("relation \"%s\" already exists, skipping",
						stmt->into->rel->relname)));
		return InvalidOid;
	}
	if (stmt->into->options != NIL || stmt->into->tableSpaceName != NULL ||
		stmt->into->accessMethod != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("storage options of a continuous aggregate are those of its archive"),
				 errhint("ALTER TABLE of the archive, which strata.rollups names.")));
	read_options(options, &read);
	if (read.kept != NULL || read.tier_of != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("options of continuous aggregates that dumps have are none of CREATE MATERIALIZED VIEW")));
	view = strata_rollup_make_view(copyObject(stmt->into->rel), query,
								   stmt->into->colNames, options);
	if (read.archives != NULL)
		strata_rollup_set_tiers(view, read.archives);
	return view;
}

/*-------------------------------------------------------------------------
 * Changes
 *-------------------------------------------------------------------------
 */

/* See rollup.h. */
void
strata_rollup_alter(Oid view, List *set)
{
	StrataRollupRow *row;
	RollupOptions options;
	ListCell   *lc;

	(void) strata_owned_relation_name(view);
	strata_rollup_lock_view(view, ShareUpdateExclusiveLock);
	row = strata_rollup_row(view);
	if (row == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("continuous aggregate was dropped while it was altered")));
	read_options(set, &options);
	foreach(lc, set)
	{
		DefElem    *def = lfirst_node(DefElem, lc);

		if (strcmp(def->defname, "materialized_only") == 0)
			strata_rollup_row_set_materialized_only(view,
													options.materialized_only);
		else if (strcmp(def->defname, "segmentby") == 0 ||
				 strcmp(def->defname, "orderby") == 0 ||
				 strcmp(def->defname, "chunk_interval") == 0)
			strata_sql_run_subcommand(psprintf("ALTER TABLE %s SET (strata.%s = %s)",
											   strata_sql_name(row->archive),
											   def->defname,
											   quote_literal_cstr(defGetString(def))));
		else if (strcmp(def->defname, "archives") == 0)
			strata_rollup_set_tiers(view, options.archives);
		else if (strcmp(def->defname, "create_group_indexes") == 0 ||
				 strcmp(def->defname, "archive") == 0 ||
				 strcmp(def->defname, STRATA_ROLLUP_OPTION_KEPT) == 0 ||
				 strcmp(def->defname, STRATA_ROLLUP_OPTION_LOST) == 0 ||
				 strcmp(def->defname, STRATA_ROLLUP_OPTION_TIER_OF) == 0 ||
				 (strcmp(def->defname, "continuous") == 0 &&
				  !strata_option_bool(def)))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("option \"%s\" of a continuous aggregate cannot be changed",
							strata_option_typed(def->defname))));
	}
	strata_rollup_store_options(view, set, row->archive);
}

/*
 * Archives whose views were dropped; a transaction that failed may leave some
 * here that have their view again.
 */
static List *dropped_archives = NIL;

/* See rollup.h. */
void
strata_rollup_note_dropped(Oid archive)
{
	MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

	dropped_archives = lappend_oid(dropped_archives, archive);
	MemoryContextSwitchTo(old);
}

/* See rollup.h. */
void
strata_rollup_drop_archives(DropBehavior behavior)
{
	List	   *archives = dropped_archives;
	ListCell   *lc;

	if (archives == NIL)
		return;
	dropped_archives = NIL;
	CommandCounterIncrement();
	foreach(lc, archives)
	{
		ObjectAddress archive;

		ObjectAddressSet(archive, RelationRelationId, lfirst_oid(lc));
		if (strata_rollup_row_of_archive(archive.objectId) != NULL ||
			get_rel_relkind(archive.objectId) != RELKIND_PARTITIONED_TABLE)
			continue;
		LockRelationOid(archive.objectId, AccessExclusiveLock);
		performDeletion(&archive, behavior, PERFORM_DELETION_INTERNAL);
	}
	list_free(archives);
}
