/*-------------------------------------------------------------------------
 *
 * chunk_divide.c
 *	  A chunk of all times up to some moment becomes chunks of the interval,
 *	  beside its readers and writers.
 *
 * Each part's rows are copied into a table of their own, straight into
 * batches, while the chunk stays what it is.  A row trigger notes the times of
 * what changes meanwhile; rows of these times are copied again.  When all
 * parts are there, and little is left to copy again, one short transaction
 * that shuts everybody out does the rest, drops the chunk, and has new chunks
 * take over the files of the copies.  A copy is never read by anybody else,
 * and counts for nothing until then; so a call that ended early is gone on
 * with, or begun anew where the hypertable has changed (docs/adr/041).
 *
 * Times are what identifies rows: all rows of a time are copied again, or
 * none, so neither a key nor the order of changes matters.
 *
 * Over 600 lines: noting, copying and taking over share what a part is.
 *
 * src/hypertable/chunk_divide.c
 *-------------------------------------------------------------------------
 */
#include "catalog/catalog.h"
#include "compress/compress.h"
#include "hypertable/hypertable_private.h"
#include "pg/pg.h"
#include "store/store.h"
#include "store/store_companion.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/dependency.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "commands/tablecmds.h"
#include "commands/tablespace.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_func.h"
#include "parser/parse_utilcmd.h"
#include "pgstat.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "base/compat.h"

#define NOTE_TRIGGER "strata_divide_note"

/* Times are copied again so many at a time: texts have to be parsed. */
#define TIMES_AT_ONCE 1000

/* So many times at most while everybody waits. */
#define MANY_TIMES 5000

PG_FUNCTION_INFO_V1(strata_divide_note);

/*-------------------------------------------------------------------------
 * Noting changes
 *-------------------------------------------------------------------------
 */

/* divide_note(column number): the time of a row before, and of one after. */
Datum
strata_divide_note(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;
	HeapTuple	rows[2];
	AttrNumber	attno;
	Relation	rel;
	Oid			type;

	if (!CALLED_AS_TRIGGER(fcinfo) ||
		!TRIGGER_FIRED_FOR_ROW(trigger->tg_event) ||
		trigger->tg_trigger->tgnargs != 1)
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager",
						"divide_note")));
	rel = trigger->tg_relation;
	attno = pg_strtoint16(trigger->tg_trigger->tgargs[0]);
	if (attno <= 0 || attno > RelationGetNumberOfAttributes(rel))
		elog(ERROR, "no column %d", attno);
	type = getBaseType(TupleDescAttr(RelationGetDescr(rel),
									 attno - 1)->atttypid);
	if (!strata_time_type_is_known(type))
		elog(ERROR, "column %d is no time", attno);
	rows[0] = trigger->tg_trigtuple;
	rows[1] = trigger->tg_newtuple;
	for (int i = 0; i < 2; i++)
	{
		bool		isnull;
		Datum		value;

		if (rows[i] == NULL)
			continue;
		value = heap_getattr(rows[i], attno, RelationGetDescr(rel), &isnull);
		if (!isnull)
			strata_divide_mark(RelationGetRelid(rel),
							   strata_time_from_datum(type, value));
	}
	return PointerGetDatum(NULL);
}

/*
 * An internal trigger: dumps do not have it, and nobody drops or disables it
 * by mistake.  It fires for what is replicated as well.
 */
static void
make_trigger(Oid chunk, AttrNumber attno)
{
	CreateTrigStmt *stmt = makeNode(CreateTrigStmt);
	Oid			noargs[1] = {InvalidOid};
	Oid			function;

	stmt->trigname = NOTE_TRIGGER;
	stmt->funcname = list_make2(makeString(pstrdup(STRATA_INTERNAL_SCHEMA)),
								makeString(pstrdup("divide_note")));
	function = LookupFuncName(stmt->funcname, 0, noargs, false);
	stmt->args = list_make1(makeString(psprintf("%d", attno)));
	stmt->row = true;
	stmt->timing = TRIGGER_TYPE_AFTER;
	stmt->events = TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE |
		TRIGGER_TYPE_DELETE;
	(void) CreateTriggerFiringOn(stmt, NULL, chunk, InvalidOid, InvalidOid,
								 InvalidOid, function, InvalidOid, NULL, true,
								 false, TRIGGER_FIRES_ALWAYS);
	CommandCounterIncrement();
}

/*
 * Its triggers that note changes: OIDs.  *fires: is it one, which notes all
 * changes?  A superuser can have switched it off and on, which leaves one that
 * does not fire for what is replicated.
 */
static List *
note_triggers(Oid chunk, bool *fires)
{
	Relation	rel = table_open(chunk, AccessShareLock);
	List	   *oids = NIL;

	*fires = true;
	for (int i = 0; rel->trigdesc != NULL && i < rel->trigdesc->numtriggers;
		 i++)
	{
		Trigger    *trigger = &rel->trigdesc->triggers[i];

		if (trigger->tgisinternal &&
			strncmp(trigger->tgname, NOTE_TRIGGER, strlen(NOTE_TRIGGER)) == 0)
		{
			oids = lappend_oid(oids, trigger->tgoid);
			*fires &= trigger->tgenabled == TRIGGER_FIRES_ALWAYS;
		}
	}
	*fires &= list_length(oids) == 1;
	table_close(rel, NoLock);
	return oids;
}

static void
drop_trigger(Oid chunk)
{
	ListCell   *lc;
	bool		fires;

	LockRelationOid(chunk, AccessExclusiveLock);
	foreach(lc, note_triggers(chunk, &fires))
	{
		ObjectAddress object;

		ObjectAddressSet(object, TriggerRelationId, lfirst_oid(lc));
		performDeletion(&object, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
	}
	CommandCounterIncrement();
}

/*-------------------------------------------------------------------------
 * What is there
 *-------------------------------------------------------------------------
 */

static Oid
file_of(Oid relid)
{
	StrataStorageRow storage;

	strata_storage_read(relid, &storage);
	return storage.filenode;
}

/* A table of ours goes, which is a member of the extension. */
static void
drop_part(Oid part)
{
	ObjectAddress object;

	if (get_rel_relkind(part) != RELKIND_RELATION)
		return;
	LockRelationOid(part, AccessExclusiveLock);
	deleteDependencyRecordsForClass(RelationRelationId, part,
									ExtensionRelationId, DEPENDENCY_EXTENSION);
	CommandCounterIncrement();
	ObjectAddressSet(object, RelationRelationId, part);
	performDeletion(&object, DROP_RESTRICT, PERFORM_DELETION_INTERNAL);
}

static void
drop_parts(Oid chunk)
{
	StrataDivideRow self;
	ListCell   *lc;
	List	   *parts = strata_divide_rows(chunk, &self);

	/* first, so that the drop of a part finds nothing */
	strata_divide_remove(chunk);
	foreach(lc, parts)
		drop_part(((StrataDivideRow *) lfirst(lc))->part);
}

/* See hypertable.h. */
void
strata_divide_register(Oid chunk)
{
	StrataDivideRow self = {.source = chunk};

	strata_divide_add(&self);
}

/* See hypertable.h. */
bool
strata_divide_is(Oid chunk)
{
	StrataDivideRow self;

	(void) strata_divide_rows(chunk, &self);
	return OidIsValid(self.source);
}

/* See hypertable.h. */
void
strata_divide_dropped(Oid chunk)
{
	if (strata_divide_is(chunk))
		drop_parts(chunk);
}

/* See hypertable.h. */
void
strata_divide_give_up(Oid chunk)
{
	if (!strata_divide_is(chunk))
		return;
	drop_parts(chunk);
	drop_trigger(chunk);
}

/* Has the role a copy of the chunk? */
static bool
owns_part(Oid role, Oid chunk)
{
	StrataDivideRow self;
	ListCell   *lc;

	foreach(lc, strata_divide_rows(chunk, &self))
	{
		Oid			part = ((StrataDivideRow *) lfirst(lc))->part;

		if (get_rel_relkind(part) == RELKIND_RELATION &&
			strata_relation_owner(part) == role)
			return true;
	}
	return false;
}

/*
 * See hypertable.h.  A chunk that has changed hands since it was copied stays,
 * and is to be divided still.
 */
void
strata_divide_drop_owned(Oid role)
{
	ListCell   *lc;

	foreach(lc, strata_divide_sources())
	{
		Oid			chunk = lfirst_oid(lc);

		if (get_rel_relkind(chunk) != RELKIND_RELATION ||
			!owns_part(role, chunk))
			continue;
		if (strata_relation_owner(chunk) == role)
			drop_parts(chunk);
		else
		{
			strata_divide_give_up(chunk);
			strata_divide_register(chunk);
		}
		Assert(!owns_part(role, chunk));	/* hypertable:Y14 */
	}
}

/* See hypertable.h. */
bool
strata_divide_has_begun(Oid chunk)
{
	StrataDivideRow self;

	(void) strata_divide_rows(chunk, &self);
	return OidIsValid(self.file);
}

/* Are the chunk and its hypertable what they were when this began? */
static bool
is_unchanged(Relation parent, const StrataDivideRow *self)
{
	bool		fires;

	if (!OidIsValid(self->file))
		return false;
	(void) note_triggers(self->source, &fires);
	return fires && self->file == file_of(self->source) &&
		self->fingerprint == (int64) strata_hypertable_fingerprint(parent);
}

/* See hypertable.h. */
int64
strata_divide_begun(const StrataHypertable *ht, Oid chunk)
{
	Relation	parent = table_open(ht->relid, AccessShareLock);
	StrataDivideRow self;
	int64		division = 0;

	(void) strata_divide_rows(chunk, &self);
	if (OidIsValid(self.source) && is_unchanged(parent, &self))
		division = self.division;
	table_close(parent, NoLock);
	return division;
}

/* See hypertable.h.  Locks nothing that is waited for later. */
void
strata_divide_check_same(Oid chunk, int64 division)
{
	StrataDivideRow self;

	(void) strata_divide_rows(chunk, &self);
	if (!OidIsValid(self.file) || self.division != division)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("another session has begun to divide chunk \"%s\" anew, or given it up",
						get_rel_name(chunk)),
				 errhint("Call convert() again when that has ended.")));
}

/* See hypertable.h. */
void
strata_divide_check(const StrataHypertable *ht, Oid chunk, int64 division)
{
	strata_divide_check_same(chunk, division);
	if (strata_divide_begun(ht, chunk) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" was changed while its first chunk was divided",
						get_rel_name(ht->relid)),
				 errhint("Call convert() again.")));
}

/* See hypertable.h. */
int64
strata_divide_begin(const StrataHypertable *ht, Oid chunk)
{
	Relation	parent = table_open(ht->relid, AccessShareLock);
	StrataDivideRow self = {.source = chunk};
	char	   *column = get_attname(ht->relid, ht->attno, false);
	List	   *triggers;
	bool		fires;

	Assert(!ht->has_function);	/* hypertable:Y14 */
	drop_parts(chunk);
	triggers = note_triggers(chunk, &fires);
	if (!fires)
	{
		if (triggers != NIL)
			drop_trigger(chunk);
		make_trigger(chunk, get_attnum(chunk, column));
	}
	self.file = file_of(chunk);
	self.lo = self.hi = PG_INT64_MIN;
	self.fingerprint = strata_hypertable_fingerprint(parent);
	self.division = U64FromFullTransactionId(GetTopFullTransactionId());
	strata_divide_add(&self);
	table_close(parent, NoLock);
	return self.division;
}

/*-------------------------------------------------------------------------
 * Copying
 *-------------------------------------------------------------------------
 */

/* Names of the columns that have values in the table. */
static char *
column_list(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (strata_attribute_is_kept(att))
			appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "",
							 quote_identifier(NameStr(att->attname)));
	}
	table_close(rel, NoLock);
	return text.data;
}

/* Fail rather than leave rows out that policies hide from the owner. */
static int
see_all_rows(void)
{
	int			level = NewGUCNestLevel();

	(void) set_config_option("row_security", "off", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

static uint64
execute(const char *sql)
{
	int			level = see_all_rows();
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	uint64		rows = strata_sql_execute_at(sql, snapshot, NULL);

	UnregisterSnapshot(snapshot);
	AtEOXact_GUC(true, level);
	return rows;
}

static char *
time_name(const StrataHypertable *ht)
{
	return unconstify(char *,
					  quote_identifier(get_attname(ht->relid, ht->attno,
												   false)));
}

/* See hypertable.h. */
bool
strata_divide_earliest(const StrataHypertable *ht, Oid chunk, int64 from,
					   int64 *earliest)
{
	int			level = see_all_rows();
	char	   *column = time_name(ht);
	char	   *sql;
	bool		found;

	sql = psprintf("SELECT %s FROM ONLY %s%s ORDER BY %s LIMIT 1",
				   column, strata_sql_name(chunk),
				   from == PG_INT64_MIN ? "" :
				   psprintf(" WHERE %s >= %s", column,
							strata_time_literal(ht->key_type, from)),
				   column);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (strata_sql_execute(sql, 0, NULL, NULL, NULL, false) != SPI_OK_SELECT)
		elog(ERROR, "could not run: %s", sql);
	found = SPI_processed > 0;
	if (found)
	{
		bool		isnull;
		Datum		value = SPI_getbinval(SPI_tuptable->vals[0],
										  SPI_tuptable->tupdesc, 1, &isnull);

		*earliest = strata_time_from_datum(ht->key_type, value);
	}
	SPI_finish();
	AtEOXact_GUC(true, level);
	return found;
}

/* See hypertable.h. */
bool
strata_divide_is_part_name(const char *name)
{
	unsigned int chunk;
	int			number;

	return sscanf(name, "divide_%u_%d", &chunk, &number) == 2;
}

/* A table for a part's rows, as their chunk will be, but for constraints. */
static Oid
make_part(Relation parent, Oid chunk, int number)
{
	Oid			schema = RelationGetNamespace(parent);
	char	   *name = psprintf("divide_%u_%d", chunk, number);
	Oid			tablespace = get_rel_tablespace(chunk);
	Oid			internal = get_namespace_oid(STRATA_INTERNAL_SCHEMA, false);
	StringInfoData sql;
	ObjectAddress extension;
	ObjectAddress object;
	ObjectAddresses *moved = new_object_addresses();
	Relation	rel;
	Oid			relid;

	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "CREATE %sTABLE %s (LIKE %s INCLUDING STORAGE INCLUDING COMPRESSION)"
					 " USING strata WITH (strata.direct_load = true)",
					 parent->rd_rel->relpersistence ==
					 RELPERSISTENCE_UNLOGGED ? "UNLOGGED " : "",
					 quote_qualified_identifier(get_namespace_name(schema),
												name),
					 strata_sql_name(RelationGetRelid(parent)));
	if (OidIsValid(tablespace))
		appendStringInfo(&sql, " TABLESPACE %s",
						 quote_identifier(get_tablespace_name(tablespace)));
	strata_sql_run_subcommand(sql.data);
	relid = get_relname_relid(name, schema);
	strata_chunk_keep_settings(RelationGetRelid(parent), relid);
	strata_relacl_clear(relid);
	/* nobody but its owner reads it, whatever default privileges say */
	strata_sql_run_subcommand(psprintf("ALTER TABLE %s ENABLE ROW LEVEL SECURITY",
									   strata_sql_name(relid)));
	/* a publication of all tables asks for one where rows are deleted */
	strata_sql_run_subcommand(psprintf("ALTER TABLE %s REPLICA IDENTITY FULL",
									   strata_sql_name(relid)));
	CommandCounterIncrement();
	rel = table_open(relid, AccessExclusiveLock);
	AlterTableNamespaceInternal(rel, schema, internal, moved);
	table_close(rel, NoLock);
	free_object_addresses(moved);
	CommandCounterIncrement();
	/* no dump has it, and nothing is decoded of it */
	ObjectAddressSet(object, RelationRelationId, relid);
	ObjectAddressSet(extension, ExtensionRelationId,
					 get_extension_oid(STRATA_EXTENSION, false));
	recordDependencyOn(&object, &extension, DEPENDENCY_EXTENSION);
	strata_companion_silence(relid);
	CommandCounterIncrement();
	return relid;
}

/* The hypertable's indexes, of rows that are not in batches. */
static void
make_indexes(Relation parent, Oid part)
{
	Relation	rel = table_open(part, AccessExclusiveLock);
	AttrMap    *map = strata_attrmap_by_name(RelationGetDescr(rel),
											 RelationGetDescr(parent));
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(parent))
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		Oid			constraint;
		IndexStmt  *stmt = generateClonedIndexStmt(NULL, index, map,
												   &constraint);

		stmt->isconstraint = stmt->primary = false;
		stmt->deferrable = stmt->initdeferred = false;
		stmt->idxname = NULL;
		stmt->idxcomment = NULL;
		stmt->indexOid = InvalidOid;
		index_close(index, NoLock);
		(void) strata_define_index(part, stmt, false);
		CommandCounterIncrement();
	}
	table_close(rel, NoLock);
}

/* What batches are ordered by, so that they come in that order. */
static char *
load_order(const StrataHypertable *ht)
{
	char	   *segmentby = strata_settings_get_text(ht->relid, "segmentby");
	char	   *orderby = strata_settings_get_text(ht->relid, "orderby");
	StringInfoData text;

	initStringInfo(&text);
	if (segmentby != NULL && segmentby[0] != '\0')
		appendStringInfo(&text, "%s, ", segmentby);
	if (orderby != NULL && orderby[0] != '\0')
		appendStringInfoString(&text, orderby);
	else
		appendStringInfo(&text, "%s DESC", time_name(ht));
	return text.data;
}

/* Rows that did not become batches at once. */
static void
compress_rest(Oid part)
{
	Relation	rel = table_open(part, ExclusiveLock);
	StrataCompressResult result;

	if (RelationGetNumberOfBlocks(rel) > 0)
		strata_store_compress(rel, false, &result);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

/* Cut the range that arithmetic gives where parts stand, and the chunk ends. */
static void
part_range(const StrataHypertable *ht, const StrataChunkRange *whole,
		   const List *parts, int64 time, StrataChunkRange *range)
{
	ListCell   *lc;

	strata_time_chunk_range(ht->key_type, ht->interval, time, range);
	if (range->no_lo || (!whole->no_lo && whole->lo > range->lo))
	{
		range->no_lo = whole->no_lo;
		range->lo = whole->no_lo ? PG_INT64_MIN : whole->lo;
	}
	if (range->no_hi || (!whole->no_hi && whole->hi < range->hi))
	{
		range->no_hi = whole->no_hi;
		range->hi = whole->no_hi ? PG_INT64_MAX : whole->hi;
	}
	foreach(lc, parts)
	{
		const StrataDivideRow *part = lfirst(lc);

		if (part->hi <= time && (range->no_lo || part->hi > range->lo))
		{
			range->no_lo = false;
			range->lo = part->hi;
		}
		if (part->lo > time && part->lo < range->hi)
			range->hi = part->lo;
	}
	Assert(strata_range_holds(range, time));	/* hypertable:Y14 */
}

static StrataDivideRow *
find_divided_part(const List *parts, int64 time)
{
	ListCell   *lc;

	foreach(lc, parts)
	{
		StrataDivideRow *part = lfirst(lc);

		if (part->lo <= time && time < part->hi)
			return part;
	}
	return NULL;
}

/* The chunk's own range. */
static void
whole_range(Oid chunk, StrataChunkRange *range)
{
	Oid			key_type;

	if (!strata_chunk_range(chunk, &key_type, range) || range->no_hi)
		elog(ERROR, "chunk %u has no end", chunk);
}

/* The interval of a time into a table of its own; how many rows. */
static uint64
copy_part(const StrataHypertable *ht, Oid chunk, int64 time)
{
	Relation	parent = table_open(ht->relid, AccessShareLock);
	StrataDivideRow self;
	List	   *parts = strata_divide_rows(chunk, &self);
	StrataDivideRow row = self;
	StrataChunkRange whole;
	StrataChunkRange range;
	char	   *columns;
	char	   *column = time_name(ht);
	StringInfoData sql;
	uint64		rows;

	whole_range(chunk, &whole);
	part_range(ht, &whole, parts, time, &range);
	row.part = make_part(parent, chunk, list_length(parts) + 1);
	row.lo = range.no_lo ? PG_INT64_MIN : range.lo;
	row.hi = range.hi;
	columns = column_list(row.part);
	initStringInfo(&sql);
	appendStringInfo(&sql,
					 "INSERT INTO %s (%s) SELECT %s FROM ONLY %s WHERE %s < %s",
					 strata_sql_name(row.part), columns, columns,
					 strata_sql_name(chunk), column,
					 strata_time_literal(ht->key_type, range.hi));
	if (!range.no_lo)
		appendStringInfo(&sql, " AND %s >= %s", column,
						 strata_time_literal(ht->key_type, range.lo));
	appendStringInfo(&sql, " ORDER BY %s", load_order(ht));
	rows = execute(sql.data);
	compress_rest(row.part);
	make_indexes(parent, row.part);
	strata_sql_run(psprintf("ANALYZE %s", strata_sql_name(row.part)));
	strata_divide_add(&row);
	table_close(parent, NoLock);
	return rows;
}

/* See hypertable.h. */
bool
strata_divide_copy_next(const StrataHypertable *ht, Oid chunk, int64 *from,
						uint64 *rows)
{
	for (;;)
	{
		StrataDivideRow self;
		List	   *parts = strata_divide_rows(chunk, &self);
		StrataDivideRow *part;
		int64		time;

		CHECK_FOR_INTERRUPTS();
		if (!strata_divide_earliest(ht, chunk, *from, &time))
		{
			strata_divide_set_copied(chunk);
			return false;
		}
		part = find_divided_part(parts, time);
		if (part == NULL)
		{
			*rows = copy_part(ht, chunk, time);
			*from = time;
			return true;
		}
		*from = part->hi;
	}
}

/* Rows of times from[0 .. n) of a part are what the chunk has now. */
static void
copy_again(const StrataHypertable *ht, const StrataDivideRow *part,
		   const int64 *times, int n)
{
	char	   *column = time_name(ht);
	char	   *columns = column_list(part->part);
	StringInfoData list;

	initStringInfo(&list);
	for (int i = 0; i < n; i++)
		appendStringInfo(&list, "%s%s", i > 0 ? ", " : "",
						 strata_time_literal(ht->key_type, times[i]));
	(void) execute(psprintf("DELETE FROM %s WHERE %s IN (%s)",
							strata_sql_name(part->part), column, list.data));
	CommandCounterIncrement();
	(void) execute(psprintf("INSERT INTO %s (%s) SELECT %s FROM ONLY %s WHERE %s IN (%s)",
							strata_sql_name(part->part), columns, columns,
							strata_sql_name(part->source), column,
							list.data));
	CommandCounterIncrement();
	pfree(list.data);
}

/* See hypertable.h. */
int
strata_divide_follow(const StrataHypertable *ht, Oid chunk, bool locked)
{
	StrataDivideRow self;
	int			n;
	int64	   *times = strata_divide_take(chunk, &n);
	List	   *parts = strata_divide_rows(chunk, &self);

	if (locked && n > MANY_TIMES)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("too much of chunk \"%s\" has changed",
						get_rel_name(chunk))));
	for (int i = 0; i < n;)
	{
		StrataDivideRow *part = find_divided_part(parts, times[i]);
		int			first = i;

		CHECK_FOR_INTERRUPTS();
		if (part == NULL && locked)
			ereport(ERROR,
					(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
					 errmsg("rows came into a part of chunk \"%s\" that had none",
							get_rel_name(chunk))));
		if (part == NULL)
		{
			/* with all its other times */
			(void) copy_part(ht, chunk, times[i]);
			parts = strata_divide_rows(chunk, &self);
			part = find_divided_part(parts, times[i]);
			Assert(part != NULL);	/* hypertable:Y14 */
			while (i < n && times[i] < part->hi)
				i++;
			continue;
		}
		while (i < n && times[i] < part->hi && i - first < TIMES_AT_ONCE)
			i++;
		copy_again(ht, part, times + first, i - first);
	}
	return n;
}

/*-------------------------------------------------------------------------
 * The change
 *-------------------------------------------------------------------------
 */

/* The part's index that is the same as the chunk's. */
static Oid
find_same_index(Oid index, List *candidates, const AttrMap *map)
{
	Relation	wanted = index_open(index, AccessExclusiveLock);
	Oid			result = InvalidOid;
	ListCell   *lc;

	foreach(lc, candidates)
	{
		Relation	other = index_open(lfirst_oid(lc), AccessExclusiveLock);

		if (!OidIsValid(result) &&
			wanted->rd_rel->relam == other->rd_rel->relam &&
			strata_index_is_same(wanted, other, map))
			result = lfirst_oid(lc);
		index_close(other, NoLock);
	}
	index_close(wanted, NoLock);
	if (!OidIsValid(result))
		elog(ERROR, "index %u has no copy", index);
	return result;
}

/* A new chunk takes over what the part has, and the part goes. */
static void
take_over(Oid chunk, Oid part)
{
	Relation	to = table_open(chunk, AccessExclusiveLock);
	Relation	from = table_open(part, AccessExclusiveLock);
	Oid			companion = strata_companion_oid_now(from);
	AttrMap    *map = strata_attrmap_by_name(RelationGetDescr(from),
											 RelationGetDescr(to));
	List	   *candidates = list_copy(RelationGetIndexList(from));
	ListCell   *lc;

	foreach(lc, RelationGetIndexList(to))
	{
		Oid			index = find_same_index(lfirst_oid(lc), candidates, map);

		candidates = list_delete_oid(candidates, index);
		strata_storage_exchange(lfirst_oid(lc), index);
	}
	CopyStatistics(part, chunk);
	pgstat_copy_relation_stats(to, from);
	table_close(from, NoLock);
	table_close(to, NoLock);
	strata_heir_exchange(chunk, part);
	if (OidIsValid(companion))
	{
		deleteDependencyRecordsForSpecific(RelationRelationId, companion,
										   DEPENDENCY_AUTO, RelationRelationId,
										   part);
		strata_companion_bind(companion, chunk);
		CommandCounterIncrement();
	}
	drop_part(part);
	CommandCounterIncrement();
}

/* See hypertable.h. */
int
strata_divide_finish(const StrataHypertable *ht, Oid chunk, int64 division)
{
	Relation	parent = table_open(ht->relid, NoLock);
	Relation	rel = table_open(chunk, NoLock);
	StrataDivideRow self;
	List	   *parts = strata_divide_rows(chunk, &self);
	List	   *chunks = NIL;
	ListCell   *lc;
	ListCell   *lc2;

	Assert(CheckRelationLockedByMe(parent, AccessExclusiveLock,
								   false)); /* hypertable:Y14 */
	Assert(CheckRelationLockedByMe(rel, AccessExclusiveLock,
								   false)); /* hypertable:Y14 */
	strata_divide_check(ht, chunk, division);
	strata_chunk_refuse_own(ht->relid, chunk);
	strata_chunk_name_own(ht->relid, chunk);
	/* what follows drops the only other copy of the rows */
	if (self.hi != PG_INT64_MAX)
		elog(ERROR, "chunk %u is not copied to its end", chunk);
	foreach(lc, parts)
	{
		StrataDivideRow *part = lfirst(lc);
		StrataChunk *made = palloc(sizeof(StrataChunk));

		if (part->division != division)
			elog(ERROR, "part %u is of another division", part->part);
		made->range.lo = part->lo;
		made->range.hi = part->hi;
		made->range.no_lo = part->lo == PG_INT64_MIN;
		made->range.no_hi = false;
		made->relid = strata_chunk_make_table(parent, ht, &made->range,
											  rel->rd_rel->reltablespace);
		CommandCounterIncrement();
		strata_chunk_copy_privileges(chunk, made->relid);
		chunks = lappend(chunks, made);
	}
	table_close(rel, NoLock);
	table_close(parent, NoLock);
	strata_divide_remove(chunk);
	if (strata_hypertable_is_referenced(ht->relid))
		strata_chunk_empty(chunk);
	strata_chunk_drop(ht, list_make1_oid(chunk));
	CommandCounterIncrement();
	foreach(lc, chunks)
	{
		StrataChunk *made = lfirst(lc);

		strata_chunk_attach(made->relid, ht, &made->range);
		CommandCounterIncrement();
	}
	strata_hypertable_note_divided(ht->relid);
	/* the last thing of the transaction: from here on files are others' */
	forboth(lc, chunks, lc2, parts)
		take_over(((StrataChunk *) lfirst(lc))->relid,
				  ((StrataDivideRow *) lfirst(lc2))->part);
	return list_length(chunks);
}
