/*-------------------------------------------------------------------------
 *
 * api_verify.c
 *	  verify(): every batch of a table checked, problems as rows; gc().
 *
 * src/api/api_verify.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/event_trigger.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relfilenodemap.h"
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
	int64		first_row;
} VerifyOutput;

static void
report_problem(void *arg, AttrNumber attno, const char *problem)
{
	VerifyOutput *out = arg;
	Datum		values[3];
	bool		nulls[3] = {0};

	values[0] = Int64GetDatum(out->first_row);
	nulls[1] = attno == 0;
	if (attno != 0)
		values[1] = NameGetDatum(&TupleDescAttr(RelationGetDescr(out->rel), attno - 1)->attname);
	values[2] = CStringGetTextDatum(problem);
	tuplestore_putvalues(out->rsinfo->setResult, out->rsinfo->setDesc, values, nulls);
}

/* Check one batch; what it raises for damage becomes a row. */
static void
verify_batch(StrataStore *store, TupleTableSlot *slot, VerifyOutput *out)
{
	MemoryContext mcxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	PG_TRY();
	{
		strata_batch_verify(out->rel, store->schema, slot, report_problem, out);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(mcxt);
		CurrentResourceOwner = owner;
		error = CopyErrorData();
		if (error->sqlerrcode != ERRCODE_DATA_CORRUPTED &&
			error->sqlerrcode != ERRCODE_INTERNAL_ERROR)
			PG_RE_THROW();
		FlushErrorState();
		report_problem(out, 0, error->detail != NULL ? error->detail : error->message);
	}
	PG_END_TRY();
}

/* Row ranges of batches, promoted ones too, must not overlap. */
static void
verify_numbering(StrataStore *store, VerifyOutput *out)
{
	Relation	index = index_open(strata_store_row_index(store), AccessShareLock);
	IndexScanDesc scan = index_beginscan(store->batches, index, GetActiveSnapshot(), 0, 0);
	TupleTableSlot *slot = table_slot_create(store->batches, NULL);
	int64		next = 0;

	index_rescan(scan, NULL, 0, NULL, 0);
	while (index_getnext_slot(scan, ForwardScanDirection, slot))
	{
		slot_getallattrs(slot);
		out->first_row = DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]);
		if (out->first_row < next)
			report_problem(out, 0, "row numbers overlap with the batch before");
		next = out->first_row + abs(DatumGetInt32(slot->tts_values[STRATA_BATCH_ATT_NROWS - 1]));
	}
	index_endscan(scan);
	index_close(index, AccessShareLock);
	ExecDropSingleTupleTableSlot(slot);
}

/* verify(regclass) -> (batch, column_name, problem); no rows when sound. */
Datum
strata_verify(PG_FUNCTION_ARGS)
{
	Relation	rel = strata_api_open(PG_GETARG_OID(0), AccessShareLock);
	StrataStore *store;
	VerifyOutput out;

	InitMaterializedSRF(fcinfo, 0);
	out.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	out.rel = rel;
	store = strata_store_open(rel, AccessShareLock);
	if (store != NULL)
	{
		TableScanDesc scan = table_beginscan(store->batches, GetActiveSnapshot(), 0, NULL);
		TupleTableSlot *slot = table_slot_create(store->batches, NULL);
		MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext, "strata verify",
												   ALLOCSET_DEFAULT_SIZES);

		while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
		{
			MemoryContext old = MemoryContextSwitchTo(mcxt);

			CHECK_FOR_INTERRUPTS();
			slot_getallattrs(slot);
			out.first_row = DatumGetInt64(slot->tts_values[STRATA_BATCH_ATT_FIRST_ROW - 1]);
			verify_batch(store, slot, &out);
			MemoryContextSwitchTo(old);
			MemoryContextReset(mcxt);
		}
		MemoryContextDelete(mcxt);
		ExecDropSingleTupleTableSlot(slot);
		table_endscan(scan);
		verify_numbering(store, &out);
		strata_store_close(store, AccessShareLock);
	}
	table_close(rel, AccessShareLock);
	return (Datum) 0;
}

/* Companions whose storage belongs to no table any more. */
static List *
find_orphans(void)
{
	Oid			nsp = get_namespace_oid(STRATA_INTERNAL_SCHEMA, false);
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	List	   *orphans = NIL;

	ScanKeyInit(&key, Anum_pg_class_relnamespace, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(nsp));
	scan = systable_beginscan(pg_class, InvalidOid, false, NULL, 1, &key);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);
		unsigned int spc;
		unsigned int number;

		if (form->relkind == RELKIND_RELATION &&
			sscanf(NameStr(form->relname), "batch_%u_%u", &spc, &number) == 2 &&
			!OidIsValid(RelidByRelfilenode(spc, number)))
			orphans = lappend_oid(orphans, form->oid);
	}
	systable_endscan(scan);
	table_close(pg_class, AccessShareLock);
	return orphans;
}

/* Drop them; those in use, or new to an open transaction, wait for the next call. */
static int
drop_orphans(void)
{
	int			dropped = 0;
	ListCell   *lc;

	foreach(lc, find_orphans())
	{
		if (!ConditionalLockRelationOid(lfirst_oid(lc), AccessExclusiveLock))
			continue;
		strata_companion_drop(lfirst_oid(lc));
		dropped++;
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
		(void) drop_orphans();
	PG_RETURN_NULL();
}
