/*-------------------------------------------------------------------------
 *
 * hypertable_convert.c
 *	  Turns a plain table into a partitioned one where it stands.
 *
 * The catalog rows of the table and its indexes change their kind: pg_class
 * 'r' becomes 'p' and 'i' becomes 'I', the files go, and a row in
 * pg_partitioned_table says what the key is.  Everything that refers to the
 * table by OID (constraints, triggers, policies, views, privileges, comments,
 * sequences, publications) has the form that it has on a partitioned table
 * already, and stays.  PostgreSQL did the same to make views of tables until
 * version 15.
 *
 * Over 600 lines: one change of the catalog, step by step.
 *
 * src/hypertable/hypertable_convert.c
 *-------------------------------------------------------------------------
 */
#include "hypertable/hypertable_private.h"
#include "catalog/catalog.h"
#include "pg/pg.h"
#include "store/store_companion.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/multixact.h"
#include "access/reloptions.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/index.h"
#include "catalog/partition.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "catalog/storage.h"
#include "commands/cluster.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "commands/trigger.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "parser/parse_func.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"
#include "base/compat.h"

/*-------------------------------------------------------------------------
 * What cannot be
 *-------------------------------------------------------------------------
 */

/* Does an index on the table make rows unique in a way that chunks cannot? */
static void
check_index(Relation rel, Relation index, AttrNumber attno, const char *column,
			bool has_function)
{
	Form_pg_index form = index->rd_index;
	const char *what = form->indisprimary ? "primary key" : "unique index";

	if (form->indisexclusion)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot create a hypertable with exclusion constraint \"%s\"",
						RelationGetRelationName(index)),
				 errdetail("An exclusion constraint cannot hold over more than one chunk."),
				 errhint("ALTER TABLE %s DROP CONSTRAINT %s;",
						 quote_identifier(RelationGetRelationName(rel)),
						 quote_identifier(RelationGetRelationName(index)))));
	if (!form->indisunique)
		return;
	for (int i = 0; i < form->indnkeyatts; i++)
		if (form->indkey.values[i] == attno)
		{
			if (has_function &&
				!strata_equal_is_identical(TupleDescAttr(RelationGetDescr(rel),
														 attno - 1)->atttypid,
										   index->rd_indcollation[i]))
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot create a hypertable by a function of column \"%s\", which is in %s \"%s\"",
								column, what, RelationGetRelationName(index)),
						 errdetail("Values of the column may be equal and not the same, so equal rows could be in two chunks.")));
			return;
		}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TABLE_DEFINITION),
			 errmsg("cannot create a hypertable whose %s \"%s\" does not include the column \"%s\"",
					what, RelationGetRelationName(index), column),
			 errdetail("Rows are kept apart by \"%s\", so uniqueness without it cannot be enforced.",
					   column),
			 errhint("Make \"%s\" part of \"%s\", or drop it.", column,
					 RelationGetRelationName(index))));
}

/* Refuse row triggers that a partitioned table cannot have. */
static void
check_triggers(Relation rel)
{
	TriggerDesc *triggers = rel->trigdesc;

	for (int i = 0; triggers != NULL && i < triggers->numtriggers; i++)
	{
		Trigger    *trigger = &triggers->triggers[i];

		if (TRIGGER_FOR_ROW(trigger->tgtype) &&
			(trigger->tgoldtable != NULL || trigger->tgnewtable != NULL))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot create a hypertable with row trigger \"%s\", which has a transition table",
							trigger->tgname),
					 errhint("Make it a statement trigger, or drop it.")));
	}
}

/*
 * Refuse constraints that are the table's own and not its children's: a
 * partitioned table has all its rows in children, and takes none that are.
 */
static void
check_inherited(Relation rel)
{
	Relation	constraints = table_open(ConstraintRelationId,
										 AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(RelationGetRelid(rel)));
	scan = systable_beginscan(constraints, ConstraintRelidTypidNameIndexId,
							  true, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(tuple);

		/* of keys it says nothing; NOT NULL is a constraint from 18 on */
		if (form->connoinherit && (form->contype == CONSTRAINT_CHECK ||
								   form->contype == 'n'))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot create a hypertable with constraint \"%s\", which is NO INHERIT",
							NameStr(form->conname)),
					 errdetail("It would hold for no chunk, and a dump of it could not be restored."),
					 errhint("ALTER TABLE %s DROP CONSTRAINT %s; and add it again without NO INHERIT.",
							 strata_sql_name(RelationGetRelid(rel)),
							 quote_identifier(NameStr(form->conname)))));
	}
	systable_endscan(scan);
	table_close(constraints, AccessShareLock);
}

/* ereport when rel cannot become a partitioned table. */
static void
check_table(Relation rel, AttrNumber attno, const char *column,
			bool has_function)
{
	const char *name = RelationGetRelationName(rel);
	ListCell   *lc;

	if (rel->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table", name)));
	if (rel->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot create a hypertable from temporary table \"%s\"",
						name),
				 errhint("Make it a table, or an unlogged one.")));
	if (rel->rd_rel->relispartition)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot create a hypertable from partition \"%s\"",
						name),
				 errhint("Create it from the partitioned table.")));
	if (find_inheritance_children(RelationGetRelid(rel), NoLock) != NIL ||
		has_superclass(RelationGetRelid(rel)))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot create a hypertable from table \"%s\", which is part of an inheritance tree",
						name)));
	if (RelationGetRelid(rel) < FirstNormalObjectId)
		ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
						errmsg("permission denied: \"%s\" is a system catalog",
							   name)));
	if (TupleDescAttr(RelationGetDescr(rel), attno - 1)->attgenerated)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("cannot use generated column \"%s\" as a hypertable's time",
						column)));
	check_triggers(rel);
	check_inherited(rel);
	strata_whole_row_refuse(rel);
	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		check_index(rel, index, attno, column, has_function);
		index_close(index, NoLock);
	}
}

static bool
is_empty(Relation rel)
{
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = table_beginscan(rel, snapshot, 0, NULL);
	TupleTableSlot *slot = table_slot_create(rel, NULL);
	bool		empty = !table_scan_getnextslot(scan, ForwardScanDirection,
												slot);

	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	return empty;
}

/*-------------------------------------------------------------------------
 * The catalog
 *-------------------------------------------------------------------------
 */

/* See hypertable_private.h. */
void
strata_toast_drop(Oid toast)
{
	ObjectAddress object;

	/* it hangs on the table, which is not to go with it */
	deleteDependencyRecordsFor(RelationRelationId, toast, false);
	CommandCounterIncrement();
	ObjectAddressSet(object, RelationRelationId, toast);
	performDeletion(&object, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
}

static List *
options_of(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	List	   *options = NIL;
	bool		isnull;
	Datum		datum;

	if (!HeapTupleIsValid(tuple))
		return NIL;
	datum = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_reloptions, &isnull);
	if (!isnull)
		options = untransformRelOptions(datum);
	ReleaseSysCache(tuple);
	return options;
}

/*
 * Storage options become one for chunks to be made with, since a partitioned
 * table takes none; ours stay.
 */
static void
convert_options(Relation rel)
{
	Oid			relid = RelationGetRelid(rel);
	StringInfoData text;
	List	   *ours;

	initStringInfo(&text);
	strata_storage_options_append(&text, options_of(relid), "");
	if (OidIsValid(rel->rd_rel->reltoastrelid))
		strata_storage_options_append(&text,
									  options_of(rel->rd_rel->reltoastrelid),
									  "toast.");
	if (text.len == 0)
		return;
	ours = strata_settings_remove_all(relid);
	ours = lappend(ours, makeDefElem(pstrdup(STRATA_OPTION_CHUNK_OPTIONS),
									 (Node *) makeString(text.data), -1));
	strata_settings_replace_all(relid, ours);
}

/* keep: its file is another's already, or will be. */
static void
convert_index(Oid relid, bool keep)
{
	Relation	index = index_open(relid, AccessExclusiveLock);

	if (!keep)
		RelationDropStorage(index);
	index_close(index, NoLock);
	RemoveStatistics(relid, 0);
	strata_relkind_make_partitioned(relid);
}

/* The row in pg_partitioned_table, with what depends on what. */
static void
store_key(Oid relid, AttrNumber attno, Node *expression)
{
	Relation	rel = table_open(relid, NoLock);
	Oid			type = expression != NULL ?
	exprType(expression) :
	TupleDescAttr(RelationGetDescr(rel), attno - 1)->atttypid;
	AttrNumber	key = expression != NULL ? 0 : attno;
	Oid			opclass = GetDefaultOpClass(type, BTREE_AM_OID);
	Oid			collation = InvalidOid;

	StorePartitionKey(rel, PARTITION_STRATEGY_RANGE, 1, &key,
					  expression != NULL ? list_make1(expression) : NIL,
					  &opclass, &collation);
	table_close(rel, NoLock);
}

/*
 * Table and indexes lose their files and change their kind.  keep: the files
 * are for the first chunk.
 */
static void
make_partitioned(Oid relid, AttrNumber attno, Node *expression, bool keep)
{
	Relation	rel = table_open(relid, AccessExclusiveLock);
	Oid			toast = rel->rd_rel->reltoastrelid;
	List	   *indexes = RelationGetIndexList(rel);
	Oid			companion;
	ListCell   *lc;

	companion = strata_relation_is_strata(rel) ?
		strata_companion_oid_now(rel) : InvalidOid;
	mark_index_clustered(rel, InvalidOid, true);
	if (!keep)
		RelationDropStorage(rel);
	table_close(rel, NoLock);
	foreach(lc, indexes)
		convert_index(lfirst_oid(lc), keep);
	RemoveStatistics(relid, 0);
	deleteDependencyRecordsForClass(RelationRelationId, relid,
									AccessMethodRelationId, DEPENDENCY_NORMAL);
	strata_relkind_make_partitioned(relid);
	CommandCounterIncrement();
	Assert(get_rel_relkind(relid) ==
		   RELKIND_PARTITIONED_TABLE);	/* hypertable:Y6 */
	if (OidIsValid(companion))
		strata_companion_drop(companion);
	if (OidIsValid(toast) && !keep)
		strata_toast_drop(toast);
	store_key(relid, attno, expression);
	CommandCounterIncrement();
}

/*-------------------------------------------------------------------------
 * Creating a hypertable
 *-------------------------------------------------------------------------
 */

/*
 * The key as an expression: function(column), or NULL for the column itself.
 */
static Node *
key_expression(Relation rel, AttrNumber attno, Oid function)
{
	Form_pg_attribute att = TupleDescAttr(RelationGetDescr(rel), attno - 1);
	Oid		   *argtypes;
	int			nargs;
	Oid			result;
	Node	   *arg;

	if (!OidIsValid(function))
		return NULL;
	result = get_func_signature(function, &argtypes, &nargs);
	arg = (Node *) makeVar(1, attno, att->atttypid, att->atttypmod,
						   att->attcollation, 0);
	if (nargs == 1 && !IsPolymorphicType(argtypes[0]))
		arg = coerce_to_target_type(NULL, arg, att->atttypid, argtypes[0], -1,
									COERCION_IMPLICIT, COERCE_IMPLICIT_CAST,
									-1);
	if (nargs != 1 || arg == NULL || get_func_retset(function) ||
		func_volatile(function) != PROVOLATILE_IMMUTABLE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_FUNCTION_DEFINITION),
				 errmsg("invalid partitioning function %s",
						format_procedure(function)),
				 errhint("A partitioning function is IMMUTABLE and takes one argument of the column's type.")));
	return (Node *) makeFuncExpr(function, result, list_make1(arg), InvalidOid,
								 att->attcollation, COERCE_EXPLICIT_CALL);
}

/* The type whose values are the time, which must be one of the known. */
static Oid
check_key_type(Relation rel, AttrNumber attno, Node *expression)
{
	Oid			type = expression != NULL ? exprType(expression) :
	TupleDescAttr(RelationGetDescr(rel), attno - 1)->atttypid;
	Oid			base = getBaseType(type);

	if (!strata_time_type_is_known(base))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("invalid type %s for a hypertable's time",
						format_type_be(type)),
				 errhint("Use an integer, timestamp, date or uuid (version 7) column, or give a time_partitioning_func that returns one.")));
	return base;
}

/*
 * The chunk length that a request names, or the setting
 * default_chunk_time_interval, or the default of the type.
 */
static int64
chosen_interval(const StrataHypertableRequest *request, Oid key_type)
{
	const char *length;

	if (request->interval_text != NULL || request->has_interval)
	{
		int64		interval;

		interval = request->interval_text != NULL ?
			strata_time_interval_from_text(key_type, request->interval_text) :
			strata_time_interval_from_datum(key_type, request->interval_type,
											request->interval);
		strata_time_interval_doubt(key_type, interval);
		return interval;
	}
	length = strata_compat_setting("default_chunk_time_interval");
	if (length != NULL && pg_strcasecmp(length, "null") != 0 &&
		!strata_time_type_is_integer(key_type))
		return strata_time_interval_from_text(key_type, length);
	return strata_time_interval_default(key_type);
}

/* Returns rel, opened anew: from 18 on ALTER wants it for itself here. */
static Relation
set_not_null(Relation rel, AttrNumber attno, const char *column)
{
	AlterTableCmd *cmd = makeNode(AlterTableCmd);
	Oid			relid = RelationGetRelid(rel);

	if (strata_attribute_is_not_null(RelationGetDescr(rel), attno))
		return rel;
	ereport(NOTICE,
			(errmsg("adding not-null constraint to column \"%s\"", column),
			 errdetail("Time cannot be null.")));
	cmd->subtype = AT_SetNotNull;
	cmd->name = pstrdup(column);
	table_close(rel, NoLock);
	strata_alter_table(relid, list_make1(cmd));
	CommandCounterIncrement();
	return table_open(relid, NoLock);
}

/* (time DESC), unless some index begins with the column. */
static void
make_default_index(Oid relid, AttrNumber attno, const char *column)
{
	Relation	rel = table_open(relid, NoLock);
	IndexStmt  *stmt = makeNode(IndexStmt);
	IndexElem  *elem = makeNode(IndexElem);
	bool		there = false;
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(rel))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);

		there |= index->rd_index->indkey.values[0] == attno;
		index_close(index, NoLock);
	}
	table_close(rel, NoLock);
	if (there)
		return;
	elem->name = pstrdup(column);
	elem->ordering = SORTBY_DESC;
	stmt->relation = makeRangeVar(get_namespace_name(get_rel_namespace(relid)),
								  get_rel_name(relid), -1);
	stmt->accessMethod = pstrdup("btree");
	stmt->indexParams = list_make1(elem);
	strata_define_index(relid, stmt, false);
	CommandCounterIncrement();
}

/*
 * What makes it a hypertable.  Integer time, and a UUID, is also what batches
 * are ordered by, unless somebody said otherwise; of dates and timestamps
 * storage knows it.
 */
static void
store_options(Oid relid, AttrNumber attno, Oid key_type, int64 interval)
{
	char	   *length = strata_time_interval_to_text(key_type, interval);
	List	   *options;

	options = list_make1(makeDefElem(pstrdup(STRATA_OPTION_INTERVAL),
									 (Node *) makeString(length), -1));
	if ((strata_time_type_is_integer(key_type) || key_type == UUIDOID) &&
		get_atttype(relid, attno) == key_type &&
		strata_settings_get_text(relid, "orderby") == NULL &&
		strata_settings_get_text(relid, "segmentby") == NULL)
		options =
			lappend(options,
					makeDefElem(pstrdup("orderby"),
								(Node *) makeString(psprintf("%s DESC",
															 quote_identifier(get_attname(relid, attno,
																						  false)))),
								-1));
	strata_settings_store(relid, options, false);
	/* from here on it is chunks that have batches */
	if (strata_settings_get_text(relid, "compressed") != NULL)
		strata_settings_store(relid,
							  list_make1(makeDefElem(pstrdup("compressed"),
													 NULL, -1)),
							  true);
}

/* See hypertable.h. */
void
strata_hypertable_yield_order(Oid relid, const char *segmentby)
{
	StrataHypertable *ht = strata_hypertable_get(relid);
	char	   *orderby = strata_settings_get_text(relid, "orderby");
	const char *column;

	if (ht == NULL || orderby == NULL || ht->has_function)
		return;
	column = get_attname(relid, ht->attno, false);
	if (strcmp(orderby, psprintf("%s DESC", quote_identifier(column))) == 0 &&
		strata_settings_list_names(segmentby, column))
		strata_settings_store(relid,
							  list_make1(makeDefElem(pstrdup("orderby"), NULL,
													 -1)),
							  true);
}

/*
 * The statement trigger that refuses INSERT and COPY in a session without the
 * library, where nobody would make chunks.  Citus distributes no table that
 * has a trigger; without ours such an INSERT says that there is no partition.
 */
static void
make_guard(Oid relid)
{
	if (strata_database_may_distribute())
		return;
	strata_sql_run(psprintf("CREATE OR REPLACE TRIGGER " STRATA_GUARD_TRIGGER
							" BEFORE INSERT ON %s FOR EACH STATEMENT"
							" EXECUTE FUNCTION " STRATA_INTERNAL_SCHEMA
							".insert_guard()",
							strata_sql_name(relid)));
}

/* A table that is partitioned already has only to be told. */
static void
adopt(Relation rel, AttrNumber attno, const StrataHypertableRequest *request)
{
	PartitionKey key = RelationGetPartitionKey(rel);
	Oid			relid = RelationGetRelid(rel);
	Oid			type;

	if (key->strategy != PARTITION_STRATEGY_RANGE || key->partnatts != 1 ||
		key->partattrs[0] != attno)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot create a hypertable from partitioned table \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("Its partition key is not a range of the column \"%s\" alone.",
						   request->column)));
	if (OidIsValid(get_default_partition_oid(relid)))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot create a hypertable from partitioned table \"%s\", which has a default partition",
						RelationGetRelationName(rel)),
				 errhint("Detach the default partition, and insert its rows again.")));
	type = check_key_type(rel, attno, NULL);
	table_close(rel, NoLock);
	store_options(relid, attno, type, chosen_interval(request, type));
	make_guard(relid);
}

/* See hypertable.h. */
bool
strata_hypertable_check_in_place(Oid relid, const char *column)
{
	Relation	rel = table_open(relid, NoLock);
	AttrNumber	attno = get_attnum(relid, column);
	bool		not_null;

	if (attno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, RelationGetRelationName(rel))));
	check_table(rel, attno, column, false);
	(void) check_key_type(rel, attno, NULL);
	strata_heir_check(rel, attno);
	not_null = strata_attribute_is_not_null(RelationGetDescr(rel), attno);
	table_close(rel, NoLock);
	return not_null;
}

/* See hypertable.h. */
void
strata_hypertable_create(Oid relid, const StrataHypertableRequest *request)
{
	Relation	rel = table_open(relid, NoLock);
	StrataHypertable ht = {.relid = relid};
	List	   *chunks = NIL;
	StrataHeir *heir = NULL;
	StrataOwnerContext saved;
	Node	   *expression;
	ListCell   *lc;

	ht.attno = get_attnum(relid, request->column);
	if (ht.attno <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						request->column, RelationGetRelationName(rel))));
	CheckTableNotInUse(rel, "create_hypertable");
	strata_owner_enter(rel->rd_rel->relowner, &saved);
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
	{
		adopt(rel, ht.attno, request);
		strata_owner_leave(&saved);
		return;
	}
	check_table(rel, ht.attno, request->column, OidIsValid(request->function));
	expression = key_expression(rel, ht.attno, request->function);
	ht.has_function = expression != NULL;
	ht.key_type = check_key_type(rel, ht.attno, expression);
	ht.interval = chosen_interval(request, ht.key_type);
	if (!request->migrate_data && !request->in_place && !is_empty(rel))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" is not empty", RelationGetRelationName(rel)),
				 errhint("Give migrate_data => true to have its rows moved into chunks.")));
	rel = set_not_null(rel, ht.attno, request->column);
	convert_options(rel);
	if (request->migrate_data)
		chunks = strata_hypertable_move_rows(rel, &ht, expression);
	if (request->in_place)
	{
		heir = strata_heir_make(rel, &ht);
		chunks = list_make1(&heir->chunk);
	}
	table_close(rel, NoLock);
	make_partitioned(relid, ht.attno, expression, heir != NULL);
	store_options(relid, ht.attno, ht.key_type, ht.interval);
	make_guard(relid);
	if (request->default_indexes && !ht.has_function)
		make_default_index(relid, ht.attno, request->column);
	foreach(lc, chunks)
	{
		StrataChunk *chunk = lfirst(lc);

		strata_chunk_attach(chunk->relid, &ht, &chunk->range);
	}
	CommandCounterIncrement();
	/* an older snapshot does not see the rows where they have gone */
	if (request->migrate_data)
		strata_hypertable_note_divided(relid);
	if (heir != NULL)
		strata_heir_take(heir, relid);
	strata_owner_leave(&saved);
}
