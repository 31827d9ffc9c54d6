/*-------------------------------------------------------------------------
 *
 * api_verify.c
 *	  verify(): every batch of a table checked, problems as rows; gc().
 *
 * src/api/api_verify.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "index/index.h"
#include "rollup/rollup.h"
#include "store/store_companion.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/itup.h"
#include "access/relation.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_depend.h"
#include "catalog/pg_extension.h"
#include "commands/event_trigger.h"
#include "commands/extension.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(strata_verify);
PG_FUNCTION_INFO_V1(strata_gc);
PG_FUNCTION_INFO_V1(strata_on_sql_drop);

/* Where problems of the current batch go. */
typedef struct VerifyOutput
{
	ReturnSetInfo *rsinfo;
	Relation	rel;
	bool		say_where;		/* rel is one of several */
	int64		nproblems;
	int64		first_row;
} VerifyOutput;

/* A row of verify(): a problem of a column, or (attno 0) of the batch. */
static void
report_problem(void *arg, AttrNumber attno, const char *problem)
{
	VerifyOutput *out = arg;
	Datum		values[3];
	bool		nulls[3] = {0};

	out->nproblems++;
	values[0] = Int64GetDatum(out->first_row);
	nulls[1] = attno == 0;
	if (attno != 0)
		values[1] =
			NameGetDatum(&TupleDescAttr(RelationGetDescr(out->rel),
										attno - 1)->attname);
	values[2] =
		CStringGetTextDatum(out->say_where ?
							psprintf("%s: %s",
									 RelationGetRelationName(out->rel),
									 problem) :
							problem);
	tuplestore_putvalues(out->rsinfo->setResult, out->rsinfo->setDesc, values,
						 nulls);
}

/* An entry of rows deleted together, and whether others are about them. */
typedef struct VerifyTogether
{
	const StrataEntry *entry;
	bool		others;
} VerifyTogether;

static void
note_other(Relation batches, const StrataEntry *entry, void *arg)
{
	VerifyTogether *together = arg;
	ItemPointerData self = entry->self;
	ItemPointerData asked = together->entry->self;

	if (!ItemPointerEquals(&self, &asked))
		for (int i = 0; i < entry->span && !together->others; i++)
			together->others =
				strata_entry_is_about(entry, entry->row + i) &&
				strata_entry_is_about(together->entry, entry->row + i);
}

/*
 * A row entry must be sound, and its rows in some batch, one for all.  No row
 * has two: of entries of one row the index sees to that.
 */
static void
verify_entry(StrataStore *store, TupleTableSlot *slot, VerifyOutput *out)
{
	TupleTableSlot *batch = table_slot_create(store->batches, NULL);
	StrataEntry entry;
	VerifyTogether together = {&entry};
	int64		first;

	strata_entry_parse(store->batches, slot, &entry);
	out->first_row = entry.row;
	if (!strata_batches_find(store->batches, entry.row, GetActiveSnapshot(),
							 batch))
		report_problem(out, 0, "an entry is about a row that no batch has");
	else if (entry.together)
	{
		first = DatumGetInt64(batch->tts_values[STRATA_BATCH_ATT_FIRST_ROW -
												1]);
		if (entry.row + entry.span > first +
			DatumGetInt32(batch->tts_values[STRATA_BATCH_ATT_NROWS - 1]))
			report_problem(out, 0,
						   "an entry is about rows beyond its batch");
		strata_entries_visit(store->batches, GetActiveSnapshot(), first,
							 entry.row, entry.row + entry.span - 1, note_other,
							 &together);
		if (together.others)
			report_problem(out, 0, "a row of the batch has two entries");
	}
	ExecDropSingleTupleTableSlot(batch);
}

/* What verify_batch() does, as one argument. */
typedef struct VerifyPiece
{
	StrataStore *store;
	TupleTableSlot *slot;
	VerifyOutput *out;
} VerifyPiece;

static void
verify_piece(void *arg)
{
	VerifyPiece *piece = arg;
	TupleTableSlot *slot = piece->slot;

	if (DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]) < 0)
		verify_entry(piece->store, slot, piece->out);
	else
		strata_batch_verify(piece->out->rel, piece->store->schema, slot,
							report_problem, piece->out);
}

/* Check one batch or row entry; what it raises for damage becomes a row. */
static void
verify_batch(StrataStore *store, TupleTableSlot *slot, VerifyOutput *out)
{
	VerifyPiece piece = {store, slot, out};
	char	   *damage = strata_error_damage_of(verify_piece, &piece);

	if (damage != NULL)
		report_problem(out, 0, damage);
}

/*
 * Row ranges of batches, promoted ones too, must not overlap, and the index
 * must lead to all nbatches of them, and know how many rows each has.
 */
static void
verify_numbering(StrataStore *store, int64 nbatches, VerifyOutput *out)
{
	Relation	index = index_open(strata_row_index_of(store->batches),
								   AccessShareLock);
	IndexScanDesc scan = strata_index_beginscan(store->batches, index,
												GetActiveSnapshot(), 0, 0);
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	int64		next = 0;

	scan->xs_want_itup = true;
	index_rescan(scan, NULL, 0, NULL, 0);
	while (strata_index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		int			nrows;

		slot_getallattrs(slot);
		out->first_row =
			DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]);
		/* row entries come first */
		if (out->first_row < 0)
			continue;
		if (out->first_row < next)
			report_problem(out, 0,
						   "row numbers overlap with the batch before");
		nbatches--;
		nrows = DatumGetInt32(slot->tts_values[STRATA_BATCH_ATT_NROWS - 1]);
		next = out->first_row + nrows;
		if (DatumGetInt32(index_getattr(scan->xs_itup, 2,
										RelationGetDescr(index), &isnull)) !=
			nrows)
			report_problem(out, 0, "the index has another number of rows");
	}
	out->first_row = next;
	if (nbatches != 0)
		report_problem(out, 0,
					   "the index on first_row does not lead to all batches");
	index_endscan(scan);
	index_close(index, AccessShareLock);
	ExecDropSingleTupleTableSlot(slot);
}

/* A row of verify(): a value of a batch that its batch index lacks. */
static void
report_index_problem(void *arg, int64 first_row, AttrNumber attno,
					 const char *problem)
{
	VerifyOutput *out = arg;

	out->first_row = first_row;
	/* of an index on an expression no column is to be named */
	report_problem(out, (AttrNumber) Max(attno, 0), problem);
}

/*
 * Report the problems of all batches of a table, and of its companion as a
 * whole.
 */
static void
verify_table(Oid relid, VerifyOutput *out)
{
	Relation	rel = strata_api_open(relid, AccessShareLock);
	StrataStore *store = strata_store_open(rel, AccessShareLock);

	Assert(CheckRelationLockedByMe(rel, AccessShareLock,
								   true));	/* api:P1 */
	out->rel = rel;
	out->nproblems = 0;
	if (store != NULL)
	{
		TableScanDesc scan = table_beginscan(store->batches,
											 GetActiveSnapshot(), 0, NULL);
		TupleTableSlot *slot = table_slot_create(store->batches, NULL);
		MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
												   "strata verify",
												   ALLOCSET_DEFAULT_SIZES);
		int64		nbatches = 0;

		while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
		{
			MemoryContext old = MemoryContextSwitchTo(mcxt);

			CHECK_FOR_INTERRUPTS();
			slot_getallattrs(slot);
			out->first_row =
				DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW -
											   1]);
			nbatches += out->first_row >= 0;
			verify_batch(store, slot, out);
			MemoryContextSwitchTo(old);
			MemoryContextReset(mcxt);
		}
		MemoryContextDelete(mcxt);
		ExecDropSingleTupleTableSlot(slot);
		table_endscan(scan);
		verify_numbering(store, nbatches, out);
		/* of damaged batches it is not known what ought to be there */
		if (out->nproblems == 0)
			strata_index_verify(store, GetActiveSnapshot(),
								report_index_problem, out);
		strata_store_close(store, AccessShareLock);
	}
	table_close(rel, AccessShareLock);
}

/* A row of verify(): what differs in an archive. */
static void
report_archive_problem(void *arg, const char *column, const char *problem)
{
	VerifyOutput *out = arg;
	Datum		values[3] = {0};
	bool		nulls[3] = {true, column == NULL, false};
	NameData	name;

	if (column != NULL)
	{
		namestrcpy(&name, column);
		values[1] = NameGetDatum(&name);
	}
	values[2] = CStringGetTextDatum(problem);
	tuplestore_putvalues(out->rsinfo->setResult, out->rsinfo->setDesc, values,
						 nulls);
}

/* There is nothing of ours in it, so nothing to say but that. */
static void
skip_other(Oid relid)
{
	ereport(NOTICE,
			(errmsg("\"%s\" does not use the access method strata, and was not looked at",
					get_rel_name(relid))));
}

/*
 * Is it one of our tables, or anything but a table of another access method?
 */
static bool
is_ours_to_verify(Oid relid)
{
	char		relkind = get_rel_relkind(relid);
	Relation	rel;
	bool		ours;

	/* who asks must own it in any case: left to strata_api_open() */
	if (relkind == '\0' || !strata_table_ownercheck(relid, GetUserId()))
		return true;
	rel = try_relation_open(relid, AccessShareLock);
	ours = rel == NULL || strata_relation_is_strata(rel);
	if (rel != NULL)
		relation_close(rel, AccessShareLock);
	return ours;
}

/*
 * verify(regclass) -> (batch, column_name, problem); no rows when sound.  Of a
 * partitioned table: all partitions, whose names the problems begin with.  Of
 * a continuous aggregate: those of its archive, which is compared with the
 * rows, too.
 */
Datum
strata_verify(PG_FUNCTION_ARGS)
{
	Oid			view = PG_GETARG_OID(0);
	StrataRollupRow *rollup = strata_rollup_row(view);
	Oid			relid = rollup != NULL ? rollup->archive : view;
	List	   *others = NIL;
	List	   *leaves = strata_api_leaves(relid, &others);
	VerifyOutput out = {.say_where = get_rel_relkind(relid) ==
	RELKIND_PARTITIONED_TABLE};
	ListCell   *lc;

	InitMaterializedSRF(fcinfo, 0);
	out.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	foreach(lc, leaves)
	{
		if (out.say_where || is_ours_to_verify(lfirst_oid(lc)))
			verify_table(lfirst_oid(lc), &out);
		else
			skip_other(lfirst_oid(lc));
	}
	foreach(lc, others)
		skip_other(lfirst_oid(lc));
	if (rollup != NULL)
	{
		(void) strata_owned_relation_name(view);
		strata_rollup_verify(view, GetActiveSnapshot(),
							 report_archive_problem, &out);
	}
	return (Datum) 0;
}

/* Is the relation a companion whose storage key belongs to no table? */
static bool
is_orphan(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Form_pg_class form;
	unsigned int spc;
	unsigned int number;
	bool		orphan;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	orphan = form->relkind == RELKIND_RELATION &&
		form->relnamespace ==
		get_namespace_oid(STRATA_INTERNAL_SCHEMA, true) &&
		sscanf(NameStr(form->relname), "batch_%u_%u", &spc, &number) ==
		2 &&
		!OidIsValid(strata_relid_by_storage(spc, number));
	ReleaseSysCache(tuple);
	return orphan;
}

/* Relations that are members of the extension. */
static List *
member_relations(void)
{
	Relation	pg_depend = table_open(DependRelationId, AccessShareLock);
	ScanKeyData key[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *members = NIL;

	ScanKeyInit(&key[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(ExtensionRelationId));
	ScanKeyInit(&key[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber,
				F_OIDEQ,
				ObjectIdGetDatum(get_extension_oid(STRATA_EXTENSION, true)));
	scan = systable_beginscan(pg_depend, DependReferenceIndexId, true, NULL, 2,
							  key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_depend form = (Form_pg_depend) GETSTRUCT(tuple);

		if (form->classid == RelationRelationId &&
			form->deptype == DEPENDENCY_EXTENSION)
			members = lappend_oid(members, form->objid);
	}
	systable_endscan(scan);
	table_close(pg_depend, AccessShareLock);
	return members;
}

/*
 * Drop companions whose table is gone.  Those in use wait for the next call.
 * What the first look says is old news by the time the lock is ours (a rewrite
 * may have renamed the companion), so look again under it: whoever moves a
 * companion locks it first.
 */
static int
drop_orphans(void)
{
	int			dropped = 0;
	ListCell   *lc;

	foreach(lc, member_relations())
	{
		Oid			companion = lfirst_oid(lc);

		if (!is_orphan(companion) ||
			!ConditionalLockRelationOid(companion, AccessExclusiveLock))
			continue;
		if (is_orphan(companion))
		{
			strata_companion_drop(companion);
			dropped++;
		}
		else
			UnlockRelationOid(companion, AccessExclusiveLock);
	}
	return dropped;
}

/*
 * gc() -> number of companions dropped: those that a session without the
 * library left behind.
 */
Datum
strata_gc(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("gc()");
	PG_RETURN_INT32(drop_orphans());
}

/* sql_drop event trigger: the same, when a table was dropped. */
Datum
strata_on_sql_drop(PG_FUNCTION_ARGS)
{
	if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"on_sql_drop\" was not called by event trigger manager")));
	/* DROP EXTENSION takes the schema away first */
	if (OidIsValid(get_namespace_oid(STRATA_INTERNAL_SCHEMA, true)))
	{
		(void) drop_orphans();
		if (strata_job_tables_exist())
			(void) strata_job_delete_orphans();
	}
	PG_RETURN_NULL();
}
