/*-------------------------------------------------------------------------
 *
 * store_companion_create.c
 *	  Birth and growth of the companion table.
 *
 * Made through PostgreSQL's own C functions, not by statements, as the owner
 * of the extension: no privileges of the caller, no event triggers of users.
 *
 * Over 600 lines: a companion and its indexes are made as one.
 *
 * src/store/store_companion_create.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "store/store_companion.h"
#include "store/store_private.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "catalog/toasting.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/tablecmds.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/* See store_companion.h. */
Oid
strata_extension_owner(void)
{
	Oid			extension = get_extension_oid(STRATA_EXTENSION, false);
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			owner = InvalidOid;

	ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(extension));
	scan = systable_beginscan(rel, ExtensionOidIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		owner = ((Form_pg_extension) GETSTRUCT(tuple))->extowner;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return owner;
}

static Oid
compressed_type(void)
{
	Oid			nsp = get_namespace_oid(STRATA_SCHEMA, false);
	Oid			type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
									   CStringGetDatum("compressed"),
									   ObjectIdGetDatum(nsp));

	if (!OidIsValid(type))
		ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT),
						errmsg("type \"%s.compressed\" does not exist",
							   STRATA_SCHEMA),
						errhint("CREATE EXTENSION strata;")));
	return type;
}

/* How long to wait for the companion's readers before it is changed. */
#define POLITE_WAIT_MS 3000

/* A column the companion should have. */
typedef struct ColumnSpec
{
	char		name[NAMEDATALEN];
	Oid			type;
	int32		typmod;
	Oid			collation;
} ColumnSpec;

/*
 * A domain's column is of the base type: defaults and constraints of a domain
 * are code of its owner, which ALTER TABLE of the companion would run as ours.
 */
static void
set_spec(ColumnSpec *spec, const char *prefix, AttrNumber attno,
		 Form_pg_attribute att, Oid type)
{
	snprintf(spec->name, NAMEDATALEN, "%s_%d", prefix, attno);
	spec->typmod = att != NULL ? att->atttypmod : -1;
	spec->type = att != NULL ?
		getBaseTypeAndTypmod(att->atttypid, &spec->typmod) :
		type;
	spec->collation = att != NULL ? att->attcollation : InvalidOid;
}

/*
 * All variable columns the layout asks for, and some col_ columns for columns
 * that R will get: adding one to a companion in use would have to wait for its
 * readers.
 */
static int
wanted_columns(Relation rel, const StrataLayout *layout, ColumnSpec **specs)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Oid			compressed = compressed_type();
	int			n = 0;

	*specs = palloc(sizeof(ColumnSpec) *
					(desc->natts * 3 + STRATA_SPARE_COLUMNS + 2));
	for (int i = 0; i < layout->nsegment; i++)
		set_spec(&(*specs)[n++], "seg", layout->segment[i],
				 TupleDescAttr(desc, layout->segment[i] - 1), InvalidOid);
	for (int i = 0; i < layout->norder; i++)
	{
		AttrNumber	attno = layout->order[i].attno;

		set_spec(&(*specs)[n++], "min", attno, TupleDescAttr(desc, attno - 1),
				 InvalidOid);
		set_spec(&(*specs)[n++], "max", attno, TupleDescAttr(desc, attno - 1),
				 InvalidOid);
	}
	if (layout->norder > 0 &&
		strata_span_is_known(getBaseType(TupleDescAttr(desc,
													   layout->order[0].attno -
													   1)->atttypid)))
		set_spec(&(*specs)[n++], "span", layout->order[0].attno, NULL,
				 INT2OID);
	for (int i = 0; i < desc->natts; i++)
		if (strata_attribute_is_kept(TupleDescAttr(desc, i)))
			set_spec(&(*specs)[n++], "col", i + 1, NULL, compressed);
	for (int i = 0; i < STRATA_SPARE_COLUMNS &&
		 n + STRATA_BATCH_FIXED_ATTS < MaxHeapAttributeNumber / 2;
		 i++)
		set_spec(&(*specs)[n++], "col", desc->natts + i + 1, NULL, compressed);
	return n;
}

/*
 * The columns of a companion: fixed ones, then those of the specs; in the
 * current context.
 */
static TupleDesc
companion_descriptor(const ColumnSpec *specs, int n)
{
	TupleDesc	desc = CreateTemplateTupleDesc(STRATA_BATCH_FIXED_ATTS + n);

	TupleDescInitEntry(desc, STRATA_BATCH_ATT_FIRST_ROW, "first_row", INT8OID,
					   -1, 0);
	TupleDescInitEntry(desc, STRATA_BATCH_ATT_NROWS, "nrows", INT4OID, -1, 0);
	TupleDescInitEntry(desc, STRATA_BATCH_ATT_LAYOUT, "layout", TEXTOID, -1,
					   0);
	TupleDescInitEntryCollation(desc, STRATA_BATCH_ATT_LAYOUT,
								C_COLLATION_OID);
	TupleDescInitEntry(desc, STRATA_BATCH_ATT_SUMMARY, "summary", BYTEAOID, -1,
					   0);
	TupleDescInitEntry(desc, STRATA_BATCH_ATT_ENTRY, "entry", BYTEAOID, -1, 0);
	for (int i = 0; i < n; i++)
	{
		TupleDescInitEntry(desc, STRATA_BATCH_FIXED_ATTS + 1 + i,
						   specs[i].name, specs[i].type, specs[i].typmod, 0);
		TupleDescInitEntryCollation(desc, STRATA_BATCH_FIXED_ATTS + 1 + i,
									specs[i].collation);
	}
	for (int i = 0; i < STRATA_BATCH_ATT_LAYOUT; i++)
		TupleDescAttr(desc, i)->attnotnull = true;
	/* what is compressed already must not be compressed again */
	TupleDescAttr(desc, STRATA_BATCH_ATT_SUMMARY - 1)->attstorage =
		TYPSTORAGE_EXTERNAL;
	return desc;
}

/* See store_private.h. */
IndexElem *
strata_index_elem(const char *column)
{
	IndexElem  *elem = makeNode(IndexElem);

	elem->name = pstrdup(column);
	elem->ordering = SORTBY_DEFAULT;
	elem->nulls_ordering = SORTBY_NULLS_DEFAULT;
	return elem;
}

/* first_row >= 0: the row is a batch, not a row entry. */
static Node *
batches_only(void)
{
	Oid			opr = OpernameGetOprid(list_make2(makeString("pg_catalog"),
												  makeString(">=")),
									   INT8OID, INT8OID);

	return (Node *) make_opclause(opr, BOOLOID, false,
								  (Expr *) makeVar(1,
												   STRATA_BATCH_ATT_FIRST_ROW,
												   INT8OID, -1, InvalidOid, 0),
								  (Expr *) makeConst(INT8OID, -1, InvalidOid,
													 sizeof(int64),
													 Int64GetDatum(0), false,
													 FLOAT8PASSBYVAL),
								  InvalidOid, InvalidOid);
}

/*
 * The unique one is for entries too, and has the number of rows beside its
 * key.
 */
static void
create_index(Oid companion, List *columns, bool unique)
{
	IndexStmt  *stmt = makeNode(IndexStmt);
	ListCell   *lc;

	stmt->accessMethod = "btree";
	stmt->unique = unique;
	if (unique)
		stmt->indexIncludingParams = list_make1(strata_index_elem("nrows"));
	else
		stmt->whereClause = batches_only();
	foreach(lc, columns)
		stmt->indexParams = lappend(stmt->indexParams,
									strata_index_elem(lfirst(lc)));
	/* the relation is given by oid: the name only serves messages */
	stmt->relation = makeRangeVar(STRATA_INTERNAL_SCHEMA,
								  get_rel_name(companion), -1);
	(void) strata_define_index(companion, stmt, false);
	CommandCounterIncrement();
}

/*
 * Is there the index of the layout's keys, or can there be none?  Else the
 * names of its columns.
 */
static bool
has_index(Relation rel, Oid companion, const StrataLayout *layout,
		  StrataIndexKeys keys_of, bool by_max, List **columns)
{
	Relation	batches = table_open(companion, AccessShareLock);
	AttrNumber	keys[INDEX_MAX_KEYS];
	int			n = keys_of(strata_companion_schema(RelationGetDescr(rel),
													batches), layout, by_max,
							keys);
	bool		found;

	*columns = NIL;
	found = n == 0 ||
		OidIsValid(strata_companion_find_index(batches, keys, n));
	for (int i = 0; i < n; i++)
		*columns =
			lappend(*columns,
					pstrdup(NameStr(TupleDescAttr(RelationGetDescr(batches),
												  keys[i] - 1)
									->attname)));
	table_close(batches, AccessShareLock);
	return found;
}

/* Make the index of the layout's keys, unless there is one. */
static void
ensure_index(Relation rel, Oid companion, const StrataLayout *layout,
			 StrataIndexKeys keys_of, bool by_max)
{
	List	   *columns;

	if (!has_index(rel, companion, layout, keys_of, by_max, &columns))
		create_index(companion, columns, false);
}

/* Say of a new companion that its batches will all have this layout. */
static void
remember_layout(Oid companion, const StrataLayout *layout)
{
	DefElem    *option;

	option = makeDefElem(pstrdup(STRATA_OPTION_LAYOUT),
						 (Node *) makeString(pstrdup(layout->text)), -1);
	strata_settings_store(companion, list_make1(option), false);
}

static bool
is_admitted(Oid companion, const StrataLayout *layout)
{
	char	   *only = strata_settings_get_text(companion,
												STRATA_OPTION_LAYOUT);

	return only == NULL || strcmp(only, layout->text) == 0;
}

/*
 * A batch of this layout will be written: if others have been told that all
 * have another, take that back.  False, with nothing done, when readers leave
 * no moment for it.
 */
static bool
admit_layout(Oid companion, const StrataLayout *layout)
{
	if (is_admitted(companion, layout))
		return true;
	if (!strata_companion_lock_politely(companion))
		return false;
	strata_settings_store(companion,
						  list_make1(makeDefElem(pstrdup(STRATA_OPTION_LAYOUT),
												 NULL, -1)),
						  true);
	return true;
}

/*
 * Row security without a policy: statistics of the companion, which have
 * segments and minima in clear, are not shown to who may read everything
 * (pg_stats), nor does the planner hand them to operators of his.
 */
static void
hide_rows(Oid companion)
{
	AlterTableCmd *cmd = makeNode(AlterTableCmd);

	cmd->subtype = AT_EnableRowSecurity;
	strata_alter_table(companion, list_make1(cmd));
	CommandCounterIncrement();
}

/*
 * Make the companion's heap with what belongs to it, owned by the owner of the
 * extension and dependent on the table.
 */
static Oid
create_companion(Relation rel, const ColumnSpec *specs, int n)
{
	char		name[NAMEDATALEN];
	StrataLocator locator = STRATA_REL_LOCATOR(rel);
	StrataLevel level = strata_settings_get(rel)->codec_level;
	Datum		options = transformRelOptions((Datum) 0,
											  list_make1(strata_cut_option(STRATA_BATCH_CUT_FIRST(level))),
											  NULL, NULL, false, false);
	char		persistence = rel->rd_rel->relpersistence;
	bool		temp = persistence == RELPERSISTENCE_TEMP;
	Oid			nsp = strata_companion_namespace(persistence);
	Oid			oid;
	ObjectAddress self;
	ObjectAddress referenced;

	if (STRATA_BATCH_FIXED_ATTS + n > MaxHeapAttributeNumber)
		ereport(
				ERROR,
				(errcode(ERRCODE_TOO_MANY_COLUMNS),
				 errmsg("cannot compress table \"%s\": it has too many columns",
						RelationGetRelationName(rel)),
				 errdetail("A compressed table can have at most %d columns.",
						   MaxHeapAttributeNumber - STRATA_BATCH_FIXED_ATTS)));
	if (!OidIsValid(nsp))
		ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("schema \"%s\" does not exist",
							   STRATA_INTERNAL_SCHEMA),
						errhint("CREATE EXTENSION strata;")));
	strata_companion_name(name, &locator);
	if (OidIsValid(get_relname_relid(name, nsp)))
		ereport(
				ERROR,
				(errcode(ERRCODE_DUPLICATE_TABLE),
				 errmsg(
						"cannot compress table \"%s\": another table has the name of its companion",
						RelationGetRelationName(rel)),
				 errhint("ALTER TABLE %s.%s RENAME TO something_else;",
						 get_namespace_name_or_temp(nsp), name)));
	oid = heap_create_with_catalog(name, nsp, rel->rd_rel->reltablespace,
								   InvalidOid, InvalidOid, InvalidOid,
								   GetUserId(), HEAP_TABLE_AM_OID,
								   companion_descriptor(specs, n), NIL,
								   RELKIND_RELATION, persistence, false, false,
								   ONCOMMIT_NOOP, options, false, true, true,
								   InvalidOid, NULL);
	CommandCounterIncrement();
	NewRelationCreateToastTable(oid, (Datum) 0);
	CommandCounterIncrement();
	strata_companion_silence(oid);

	ObjectAddressSet(self, RelationRelationId, oid);
	if (temp)
	{
		ObjectAddressSet(referenced, RelationRelationId,
						 RelationGetRelid(rel));
		recordDependencyOn(&self, &referenced, DEPENDENCY_AUTO);
	}
	else
	{
		ObjectAddressSet(referenced, ExtensionRelationId,
						 get_extension_oid(STRATA_EXTENSION, false));
		recordDependencyOn(&self, &referenced, DEPENDENCY_EXTENSION);
		if (STRATA_ROW_TYPES_ARE_MEMBERS)
		{
			ObjectAddressSet(self, TypeRelationId, get_rel_type_id(oid));
			recordDependencyOn(&self, &referenced, DEPENDENCY_EXTENSION);
			ObjectAddressSet(self, TypeRelationId,
							 get_array_type(self.objectId));
			recordDependencyOn(&self, &referenced, DEPENDENCY_EXTENSION);
		}
	}
	CommandCounterIncrement();
	create_index(oid, list_make1("first_row"), true);
	hide_rows(oid);
	/* plans made without batches must notice */
	CacheInvalidateRelcache(rel);
	CommandCounterIncrement();
	return oid;
}

/* See store_companion.h. */
bool
strata_companion_lock_politely(Oid companion)
{
	for (int waited = 0;; waited += 10)
	{
		if (ConditionalLockRelationOid(companion, AccessExclusiveLock))
			return true;
		if (waited >= POLITE_WAIT_MS)
			return false;
		CHECK_FOR_INTERRUPTS();
		pg_usleep(10 * 1000L);
	}
}

/*
 * Add the columns the companion lacks (ADD COLUMN on R, new settings).  False,
 * with nothing done, when its readers leave no moment for it.
 */
static bool
add_missing_columns(Relation rel, Oid companion, const ColumnSpec *specs,
					int n)
{
	List	   *cmds = NIL;
	bool		needed = false;

	for (int i = 0; i < n; i++)
	{
		AlterTableCmd *cmd;

		if (get_attnum(companion, specs[i].name) != InvalidAttrNumber)
			continue;
		/* spare columns alone are no reason to lock */
		needed |= strncmp(specs[i].name, "col_", 4) != 0 ||
			atoi(specs[i].name + 4) <= RelationGetDescr(rel)->natts;
		cmd = makeNode(AlterTableCmd);
		cmd->subtype = AT_AddColumn;
		cmd->def = (Node *) makeColumnDef(specs[i].name, specs[i].type,
										  specs[i].typmod, specs[i].collation);
		cmds = lappend(cmds, cmd);
	}
	if (!needed)
		return true;
	if (!strata_companion_lock_politely(companion))
		return false;
	strata_alter_table(companion, cmds);
	CommandCounterIncrement();
	return true;
}

/*
 * The layout of all batches, or of the newest: what the companion has columns
 * for.
 */
static StrataLayout *
newest_layout(Relation rel)
{
	StrataStore *store = strata_store_open(rel, AccessShareLock);
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	const char *only = strata_store_only_layout(store);
	char	   *spelled = pstrdup(only != NULL ? only : "/");
	StrataLayout *layout;

	if (only == NULL && strata_store_find_last_batch(store, snapshot, slot))
	{
		bool		isnull;

		spelled = TextDatumGetCString(slot_getattr(slot,
												   STRATA_BATCH_ATT_LAYOUT,
												   &isnull));
	}
	layout = strata_layout_parse(spelled, RelationGetDescr(rel)->natts);
	if (!strata_layout_is_usable(RelationGetDescr(rel), layout))
		layout = strata_layout_parse("/", RelationGetDescr(rel)->natts);
	UnregisterSnapshot(snapshot);
	ExecDropSingleTupleTableSlot(slot);
	strata_store_close(store, NoLock);
	return layout;
}

/*
 * The companion in use cannot be given the columns of new settings: compress
 * by the settings it was made for.  Without room for a column of R's, give up.
 */
static StrataLayout *
fall_back(Relation rel, Oid companion)
{
	for (int i = 0; i < RelationGetDescr(rel)->natts; i++)
	{
		char		name[NAMEDATALEN];

		snprintf(name, NAMEDATALEN, "col_%d", i + 1);
		if (strata_attribute_is_kept(TupleDescAttr(RelationGetDescr(rel),
												   i)) &&
			get_attnum(companion, name) == InvalidAttrNumber)
			ereport(
					ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg(
							"could not add a column to the batches of table \"%s\" while they are being read",
							RelationGetRelationName(rel)),
					 errhint(
							 "Try again when the transactions that read the table have ended.")));
	}
	ereport(
			NOTICE,
			(errmsg("table \"%s\" is compressed by its former settings",
					RelationGetRelationName(rel)),
			 errdetail(
					   "Transactions that read its batches leave no moment to prepare them for the new ones."),
			 errhint("SELECT compress_chunk('%s', recompress => true); later.",
					 RelationGetRelationName(rel))));
	return newest_layout(rel);
}

/* See store_companion.h. */
void
strata_companion_add_columns(Relation rel)
{
	StrataLayout *layout = strata_layout_parse("/",
											   RelationGetDescr(rel)->natts);
	ColumnSpec *specs;
	int			n = wanted_columns(rel, layout, &specs);
	Oid			companion = strata_companion_oid(rel);
	StrataOwnerContext saved;

	strata_role_enter(strata_extension_owner(), &saved);
	if (!add_missing_columns(rel, companion, specs, n))
		(void) fall_back(rel, companion);
	strata_owner_leave(&saved);
}

/* See store_companion.h. */
bool
strata_companion_is_ready(StrataStore *store, const StrataLayout *layout)
{
	const StrataBatchSchema *schema = store->schema;

	if (!is_admitted(RelationGetRelid(store->batches), layout) ||
		strata_companion_is_outdated(store, layout) ||
		!OidIsValid(strata_store_segment_index(store, layout, false)))
		return false;
	for (AttrNumber attno = 1; attno <= schema->natts; attno++)
		if (strata_attribute_is_kept(TupleDescAttr(schema->rel_desc,
												   attno - 1)) &&
			schema->col_att[attno] == 0)
			return false;
	for (int i = 0; i < layout->nsegment; i++)
		if (schema->seg_att[layout->segment[i]] == 0)
			return false;
	for (int i = 0; i < layout->norder; i++)
		if (schema->min_att[layout->order[i].attno] == 0 ||
			schema->max_att[layout->order[i].attno] == 0)
			return false;
	return OidIsValid(strata_store_layout_index(store, layout)) &&
		(layout->norder == 0 || layout->nsegment == 0 ||
		 OidIsValid(strata_store_segment_index(store, layout, true)));
}

/*
 * The indexes that a small companion does without (docs/adr/029).  Without
 * segments the first index is as good as the one that would lead with min_.
 */
static void
ensure_other_indexes(Relation rel, Oid companion, const StrataLayout *layout)
{
	ensure_index(rel, companion, layout, strata_companion_span_keys, false);
	if (layout->nsegment > 0)
		ensure_index(rel, companion, layout, strata_companion_order_keys,
					 false);
}

static bool
has_other_indexes(Relation rel, Oid companion, const StrataLayout *layout)
{
	List	   *columns;

	return has_index(rel, companion, layout, strata_companion_span_keys, false,
					 &columns) &&
		(layout->nsegment == 0 ||
		 has_index(rel, companion, layout, strata_companion_order_keys, false,
				   &columns));
}

/*
 * Can indexes be made now?  Not while somebody may write batches: one who has
 * opened the indexes that there are would leave out those that come later.
 */
static bool
nobody_writes(Oid companion)
{
	Relation	batches;
	bool		alone;

	if (!ConditionalLockRelationOid(companion, ShareLock))
		return false;
	batches = table_open(companion, NoLock);
	alone = batches->rd_refcnt == 1;	/* this session's others */
	table_close(batches, NoLock);
	return alone;
}

/* See store_companion.h. */
void
strata_companion_complete(Relation rel, const StrataLayout *layout)
{
	Oid			companion = strata_companion_oid(rel);
	StrataOwnerContext saved;

	if (strata_companion_is_small(companion) ||
		has_other_indexes(rel, companion, layout) || !nobody_writes(companion))
		return;
	strata_role_enter(strata_extension_owner(), &saved);
	ensure_other_indexes(rel, companion, layout);
	strata_owner_leave(&saved);
}

/* See store_companion.h. */
Oid
strata_companion_prepare(Relation rel, StrataLayout **layout)
{
	ColumnSpec *specs;
	int			n = wanted_columns(rel, *layout, &specs);
	Oid			companion = strata_companion_oid(rel);
	StrataOwnerContext saved;

	Assert(CheckRelationLockedByMe(rel, ExclusiveLock, true));	/* store:S3 */
	strata_role_enter(strata_extension_owner(), &saved);
	if (!OidIsValid(companion))
	{
		companion = create_companion(rel, specs, n);
		/* found again by the name of R's storage alone */
		Assert(strata_companion_oid(rel) == companion); /* store:S1 */
		remember_layout(companion, *layout);
	}
	else if (!admit_layout(companion, *layout) ||
			 !add_missing_columns(rel, companion, specs, n))
	{
		*layout = fall_back(rel, companion);
		if (!is_admitted(companion, *layout))
			ereport(
					ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg(
							"could not arrange batches of table \"%s\" anew while they are being read",
							RelationGetRelationName(rel)),
					 errhint(
							 "Try again when the transactions that read the table have ended.")));
	}
	/* a temporary one depends on its table as a whole */
	if (rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP)
		strata_companion_bind(companion, RelationGetRelid(rel));
	ensure_index(rel, companion, *layout, strata_companion_segment_keys,
				 false);
	ensure_index(rel, companion, *layout, strata_companion_layout_keys, true);
	if ((*layout)->nsegment > 0)
		ensure_index(rel, companion, *layout, strata_companion_segment_keys,
					 true);
	if (!strata_companion_is_small(companion))
		ensure_other_indexes(rel, companion, *layout);
	Assert(is_admitted(companion, *layout));	/* store:S6 */
	strata_owner_leave(&saved);
	return companion;
}
