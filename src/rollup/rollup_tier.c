/*-------------------------------------------------------------------------
 *
 * rollup_tier.c
 *	  Several widths of one view: its tiers, which come and go with it.
 *
 * The view that has the option strata.archives is the finest tier.  Each
 * other one is a continuous aggregate of its own: the same definition with
 * another width, made of the same rows, with an archive of its own.  So each
 * is right by itself, and may outlive the finer ones.  One that is added when
 * rows are gone takes what is kept of them from the next finer one.
 *
 * That a view is a tier of another is an internal dependency on that: DROP of
 * the finest drops all of them.
 *
 * Over 600 lines: which tiers there are, which may be, and how one is made.
 *
 * src/rollup/rollup_tier.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_join_private.h"
#include "rollup/rollup_private.h"

#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "parser/scansup.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

/* A chunk of an archive has at least so many buckets, if it may. */
#define CHUNK_BUCKETS 100

/* Of what is kept for so long, a chunk is at most one part of these. */
#define CHUNKS_KEPT 4

/*-------------------------------------------------------------------------
 * Which there are
 *-------------------------------------------------------------------------
 */

/*
 * Views of rollups that an internal dependency ties to this one: those that
 * depend on it, or else those that it depends on.
 */
static List *
tied_views(Oid view, bool dependers)
{
	Relation	rel = table_open(DependRelationId, AccessShareLock);
	List	   *views = NIL;
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key[0], dependers ? Anum_pg_depend_refclassid :
				Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(RelationRelationId));
	ScanKeyInit(&key[1], dependers ? Anum_pg_depend_refobjid :
				Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(view));
	scan = systable_beginscan(rel, dependers ? DependReferenceIndexId :
							  DependDependerIndexId, true, NULL, 2, key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);
		Oid			other = dependers ? form->objid : form->refobjid;

		if (form->deptype == DEPENDENCY_INTERNAL &&
			form->classid == RelationRelationId &&
			form->refclassid == RelationRelationId && other != view &&
			strata_rollup_row(other) != NULL)
			views = lappend_oid(views, other);
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return views;
}

/* See rollup.h. */
List *
strata_rollup_tier_views(Oid view)
{
	return tied_views(view, true);
}

/* See rollup.h. */
Oid
strata_rollup_finest(Oid view)
{
	List	   *finest = tied_views(view, false);

	return finest != NIL ? llast_oid(finest) : InvalidOid;
}

/* See rollup_private.h. */
void
strata_rollup_add_tier(Oid view, Oid finest)
{
	ObjectAddress depender;
	ObjectAddress referenced;

	ObjectAddressSet(depender, RelationRelationId, view);
	ObjectAddressSet(referenced, RelationRelationId, finest);
	recordDependencyOn(&depender, &referenced, DEPENDENCY_INTERNAL);
}

/* The call that makes buckets, with another width. */
static Expr *
with_width(const StrataRollup *rollup, Datum width)
{
	FuncExpr   *call = copyObject(castNode(FuncExpr,
										   ((StrataRollupColumn *) linitial(rollup->columns))->expr));
	Oid			type = exprType(linitial(call->args));

	switch (type)
	{
		case INT2OID:
			if (DatumGetInt64(width) <= PG_INT16_MAX)
				width = Int16GetDatum((int16) DatumGetInt64(width));
			else
				type = InvalidOid;
			break;
		case INT4OID:
			if (DatumGetInt64(width) <= PG_INT32_MAX)
				width = Int32GetDatum((int32) DatumGetInt64(width));
			else
				type = InvalidOid;
			break;
		case INT8OID:
		case INTERVALOID:
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("option \"%s\" needs buckets made by time_bucket()",
							strata_option_typed("archives"))));
	}
	if (type == InvalidOid)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("width " INT64_FORMAT " is out of range of the time's type",
						DatumGetInt64(width))));
	linitial(call->args) = makeConst(type, -1, InvalidOid,
									 get_typlen(type), width, false,
									 get_typbyval(type));
	return (Expr *) call;
}

static void
tier_bucket(const StrataRollup *rollup, Datum width,
			StrataRollupBucket *bucket)
{
	Expr	   *time;

	if (!strata_rollup_bucket_init(bucket,
								   (Node *) with_width(rollup, width), &time))
		elog(ERROR, "a rollup without buckets");
}

static bool
same_width(const StrataRollupBucket *a, const StrataRollupBucket *b)
{
	return strata_rollup_rule(a)->months == strata_rollup_rule(b)->months &&
		strata_rollup_rule(a)->width == strata_rollup_rule(b)->width;
}

/*
 * Do widths nest, as far as they are looked at: over four hundred years, or,
 * of a zone's clock, over two?
 */
static bool
widths_nest(StrataRollupBucket *wide, StrataRollupBucket *narrow)
{
	StrataRanges ranges = {0};
	const StrataBucket *w = strata_rollup_rule(wide);
	const StrataBucket *n = strata_rollup_rule(narrow);
	int64		year = w->unit * 365;

	if (!wide->zoned && !narrow->zoned && w->months == 0 && n->months == 0)
		year = 1;
	strata_ranges_add(&ranges,
					  strata_range(year, year * (wide->zoned ? 3 : 400) + 1));
	return strata_rollup_bucket_nests(wide, narrow, &ranges);
}

/* Which view has buckets of the width; InvalidOid: none of these. */
static Oid
view_of_width(const List *views, const StrataRollupBucket *bucket)
{
	ListCell   *lc;

	foreach(lc, views)
	{
		StrataRollup *rollup = strata_rollup_open(lfirst_oid(lc), true);

		if (rollup != NULL && same_width(&rollup->bucket, bucket))
			return rollup->view;
	}
	return InvalidOid;
}

/* See rollup.h. */
List *
strata_rollup_tiers(Oid view)
{
	const char *text = strata_settings_get_text(view, "archives");
	StrataRollup *rollup = text != NULL ? strata_rollup_open(view, true) :
	NULL;
	List	   *tiers;
	List	   *views;
	ListCell   *lc;

	if (rollup == NULL)
		return NIL;
	tiers = strata_rollup_read_tiers(text, rollup->time_type);
	views = lcons_oid(view, strata_rollup_tier_views(view));
	foreach(lc, tiers)
	{
		StrataTier *tier = lfirst(lc);
		StrataRollupBucket bucket;

		if (tier->width == NULL)
			continue;
		tier_bucket(rollup, tier->value, &bucket);
		tier->view = view_of_width(views, &bucket);
	}
	return tiers;
}

/*-------------------------------------------------------------------------
 * What can be
 *-------------------------------------------------------------------------
 */

/* The first is as wide as the query's, each other one made of the one before. */
static void
check_widths(const StrataRollup *rollup, const List *tiers)
{
	StrataRollupBucket narrow = rollup->bucket;
	bool		first = true;
	ListCell   *lc;

	foreach(lc, tiers)
	{
		StrataTier *tier = lfirst(lc);
		StrataRollupBucket wide;

		if (tier->width == NULL)
			continue;
		tier_bucket(rollup, tier->value, &wide);
		if (first && !same_width(&wide, &narrow))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the first tier of option \"%s\" is not as wide as the query's buckets",
							strata_option_typed("archives")),
					 errdetail("It is \"%s\".", tier->width)));
		if (!first && !widths_nest(&wide, &narrow))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("tier \"%s\" of option \"%s\" does not consist of buckets of the tier before",
							tier->width, strata_option_typed("archives")),
					 errhint("Use a multiple of the width before.")));
		first = false;
		narrow = wide;
	}
}

/* What rows make has to be kept when they go. */
static void
check_aggregates(const StrataRollup *rollup, const List *tiers)
{
	ListCell   *lc;

	if (((StrataTier *) linitial(tiers))->width != NULL)
		return;
	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);

		if (column->kind == STRATA_ROLLUP_PARTIAL &&
			!OidIsValid(column->combine))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("rows cannot be dropped under an aggregate that cannot be combined: %s",
							get_func_name(castNode(Aggref,
												   column->expr)->aggfnoid)),
					 errhint("Leave \"raw for\" out, or the aggregate.")));
	}
}

/* May the view have tiers, these ones?  Rows go if they are its owner's. */
static void
check_tiers(const StrataRollup *rollup, const List *tiers)
{
	Oid			finest = strata_rollup_finest(rollup->view);

	if (OidIsValid(finest))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" is a tier of another continuous aggregate",
						get_rel_name(rollup->view)),
				 errhint("ALTER MATERIALIZED VIEW %s SET (strata.archives = '...');",
						 strata_sql_name(finest))));
	if (OidIsValid(strata_rollup_of_archive(rollup->source)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("option \"%s\" needs a view of a hypertable",
						strata_option_typed("archives")),
				 errdetail("\"%s\" is made of another continuous aggregate.",
						   get_rel_name(rollup->view))));
	if (((StrataTier *) linitial(tiers))->width == NULL)
		(void) strata_owned_relation_name(rollup->source);
	check_widths(rollup, tiers);
	check_aggregates(rollup, tiers);
}

/*-------------------------------------------------------------------------
 * Making one
 *-------------------------------------------------------------------------
 */
typedef struct WidthContext
{
	Expr	   *old;
	Expr	   *wide;
} WidthContext;

static Node *
width_mutator(Node *node, void *context)
{
	WidthContext *cx = context;

	if (node == NULL)
		return NULL;
	if (equal(node, cx->old))
		return copyObject((Node *) cx->wide);
	return expression_tree_mutator(node, width_mutator, context);
}

/* The view's query, as it was before it was a view's, with another width. */
static Query *
tier_query(const StrataRollup *rollup, Datum width)
{
	Relation	rel = table_open(rollup->view, AccessShareLock);
	Query	   *query = copyObject(get_view_query(rel));
	FromExpr   *joined = copyObject(query->jointree);
	WidthContext cx;

	table_close(rel, NoLock);
	cx.old = ((StrataRollupColumn *) linitial(rollup->columns))->expr;
	cx.wide = with_width(rollup, width);
	query = query_tree_mutator(query, width_mutator, &cx, 0);
	if (rollup->joined && (!equal(query->jointree, joined) ||
						   strata_rollup_has_key(rollup, cx.wide)))
		strata_rollup_refuse("strata.archives where tables are joined by the bucket",
							 "Make a view for each width.");
	/* up to 15 a rule has entries of its own, the view twice */
	if (list_length(query->rtable) > 2 &&
		rt_fetch(1, query->rtable)->relid == rollup->view)
	{
		query->rtable = list_delete_first_n(query->rtable, 2);
		OffsetVarNodes((Node *) query, -2, 0);
	}
	return query;
}

/* How long the chunks of its archive are; as text. */
static char *
tier_chunks(const StrataRollup *rollup, const StrataTier *tier,
			const StrataRollupBucket *bucket)
{
	StrataHypertable *source = strata_hypertable_require(rollup->source);
	int64		unit = strata_rollup_rule(bucket)->unit == 0 ? 1 :
	USECS_PER_DAY / strata_rollup_rule(bucket)->unit;
	int64		width = Max(1, tier->length / unit);
	int64		keep = tier->keep_length / unit;
	int64		length = strata_time_interval_length(source->key_type,
													 source->interval);

	length = strata_time_interval_times(source->key_type, length,
										STRATA_ARCHIVE_CHUNKS);
	length = Max(length, strata_time_interval_times(source->key_type, width,
													CHUNK_BUCKETS));
	if (tier->keep != NULL)
		length = Max(Min(length, keep / CHUNKS_KEPT), width);
	return strata_time_interval_to_text(source->key_type, length);
}

/* See rollup_private.h. */
char *
strata_rollup_finest_chunks(const StrataRollup *rollup, const char *archives)
{
	List	   *tiers = strata_rollup_read_tiers(archives, rollup->time_type);
	StrataTier *tier = linitial(tiers);

	return tier_chunks(rollup, tier->width != NULL ? tier : lsecond(tiers),
					   &rollup->bucket);
}

static void
add_option(List **options, const char *name, const char *value)
{
	if (value != NULL)
		*options = lappend(*options,
						   makeDefElem(pstrdup(name),
									   (Node *) makeString(pstrdup(value)),
									   -1));
}

static List *
tier_options(const StrataRollup *rollup, const StrataTier *tier,
			 const StrataRollupBucket *bucket)
{
	static const char *const inherited[] = {"create_group_indexes",
		"materialized_only", "orderby", "segmentby"
	};
	List	   *options = NIL;

	add_option(&options, "continuous", "true");
	for (int i = 0; i < lengthof(inherited); i++)
		add_option(&options, inherited[i],
				   strata_settings_get_text(rollup->view, inherited[i]));
	add_option(&options, "chunk_interval",
			   tier_chunks(rollup, tier, bucket));
	add_option(&options, STRATA_ROLLUP_OPTION_TIER_OF,
			   get_rel_name(rollup->view));
	return options;
}

/* "cpu_1_hour" of "1 hour". */
static char *
tier_name(const StrataRollup *rollup, const StrataTier *tier)
{
	char	   *width = downcase_identifier(tier->width, strlen(tier->width),
											false, false);

	if (tier->name != NULL)
		return tier->name;
	for (char *c = width; *c != '\0'; c++)
		if (!isalnum((unsigned char) *c))
			*c = '_';
	return makeObjectName(get_rel_name(rollup->view), NULL, width);
}

/* Names of the view's columns. */
static List *
column_names(const StrataRollup *rollup)
{
	List	   *names = NIL;
	ListCell   *lc;

	foreach(lc, rollup->definition->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, lc);

		if (!entry->resjunk)
			names = lappend(names,
							makeString(get_attname(rollup->view, entry->resno,
												   false)));
	}
	return names;
}

/* Make a tier, which the view's owner owns. */
static Oid
make_tier(const StrataRollup *rollup, const StrataTier *tier)
{
	RangeVar   *name;
	Oid			owner = strata_relation_owner(rollup->view);
	StrataRollupBucket bucket;
	Oid			view;

	name = makeRangeVar(get_namespace_name(get_rel_namespace(rollup->view)),
						tier_name(rollup, tier), -1);
	tier_bucket(rollup, tier->value, &bucket);
	view = strata_rollup_make_view(name, tier_query(rollup, tier->value),
								   column_names(rollup),
								   tier_options(rollup, tier, &bucket));
	if (owner != GetUserId())
		strata_sql_run_subcommand(psprintf("ALTER VIEW %s OWNER TO %s",
										   strata_sql_name(view),
										   quote_identifier(GetUserNameFromId(owner, false))));
	return view;
}

/*-------------------------------------------------------------------------
 * Changes
 *-------------------------------------------------------------------------
 */
static void
drop_tier(Oid view, Oid finest)
{
	ObjectAddress object;

	ObjectAddressSet(object, RelationRelationId, view);
	(void) deleteDependencyRecordsForSpecific(RelationRelationId, view,
											  DEPENDENCY_INTERNAL,
											  RelationRelationId, finest);
	CommandCounterIncrement();
	LockRelationOid(view, AccessExclusiveLock);
	performDeletion(&object, DROP_RESTRICT, 0);
	strata_rollup_drop_archives(DROP_RESTRICT);
}

/*
 * Lock tiers that stay, and those that go, with their archives, before new
 * ones are made: that waits for refreshes (strata_rollup_lock()), which have
 * these in hand.
 */
static void
lock_tiers(const List *tiers, const List *others)
{
	ListCell   *lc;

	foreach(lc, tiers)
	{
		Oid			view = ((StrataTier *) lfirst(lc))->view;

		if (OidIsValid(view))
			LockRelationOid(strata_rollup_open(view, false)->archive,
							AccessShareLock);
	}
	foreach(lc, others)
	{
		LockRelationOid(lfirst_oid(lc), AccessExclusiveLock);
		LockRelationOid(strata_rollup_open(lfirst_oid(lc), false)->archive,
						AccessExclusiveLock);
	}
}

/* See rollup.h. */
void
strata_rollup_set_tiers(Oid view, const char *text)
{
	StrataRollup *rollup = strata_rollup_open(view, false);
	List	   *tiers = strata_rollup_read_tiers(text, rollup->time_type);
	List	   *views = lcons_oid(view, strata_rollup_tier_views(view));
	List	   *others = list_delete_oid(list_copy(views), view);
	Oid			finer = view;
	ListCell   *lc;

	/* whoever drops rows knows of the new tier, or we know what is kept */
	LockRelationOid(rollup->source, AccessShareLock);
	check_tiers(rollup, tiers);
	Assert(list_length(views) == list_length(others) + 1);	/* rollup:Z5 */
	foreach(lc, tiers)
	{
		StrataTier *tier = lfirst(lc);
		StrataRollupBucket bucket;

		if (tier->width == NULL)
			continue;
		tier_bucket(rollup, tier->value, &bucket);
		tier->view = view_of_width(views, &bucket);
		others = list_delete_oid(others, tier->view);
	}
	lock_tiers(tiers, others);
	foreach(lc, tiers)
	{
		StrataTier *tier = lfirst(lc);

		if (tier->width == NULL)
			continue;
		if (!OidIsValid(tier->view))
		{
			tier->view = make_tier(rollup, tier);
			strata_rollup_keep_from(tier->view, finer);
		}
		else if (tier->name != NULL &&
				 strcmp(tier->name, get_rel_name(tier->view)) != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("tier \"%s\" is there already, as \"%s\"",
							tier->width, get_rel_name(tier->view)),
					 errhint("ALTER MATERIALIZED VIEW %s RENAME TO %s;",
							 strata_sql_name(tier->view),
							 quote_identifier(tier->name))));
		finer = tier->view;
	}
	foreach(lc, others)
		drop_tier(lfirst_oid(lc), view);
}

/* See rollup.h. */
void
strata_rollup_tiers_follow(Oid view)
{
	Oid			owner = strata_relation_owner(view);
	Oid			schema = get_rel_namespace(view);
	ListCell   *lc;

	foreach(lc, strata_rollup_tier_views(view))
	{
		Oid			tier = lfirst_oid(lc);
		DefElem    *option;

		if (strata_relation_owner(tier) != owner)
			strata_sql_run_subcommand(psprintf("ALTER VIEW %s OWNER TO %s",
											   strata_sql_name(tier),
											   quote_identifier(GetUserNameFromId(owner, false))));
		if (get_rel_namespace(tier) != schema)
			strata_sql_run_subcommand(psprintf("ALTER VIEW %s SET SCHEMA %s",
											   strata_sql_name(tier),
											   quote_identifier(get_namespace_name(schema))));
		option = makeDefElem(STRATA_ROLLUP_OPTION_TIER_OF,
							 (Node *) makeString(get_rel_name(view)), -1);
		LockRelationOid(tier, ShareUpdateExclusiveLock);
		strata_settings_store(tier, list_make1(option), false);
	}
}
