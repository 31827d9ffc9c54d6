/*-------------------------------------------------------------------------
 *
 * ship_export.c
 *	  A table's rows as units, by one snapshot.
 *
 * Of a batch all of whose rows are wanted, encoded columns are copied as they
 * are: their checksums are looked at, their values are not.  Columns that the
 * batch has once (segmentby, a value for rows from before the column), and
 * those that travel as text, are encoded for the unit.  A batch that has lost
 * rows, or that lies across a bound, is decoded, and its rows are encoded
 * anew, as rows of the row store are.
 *
 * Over 600 lines: one walk through a table's halves.
 *
 * src/ship/ship_export.c
 *-------------------------------------------------------------------------
 */
#include "ship/ship_private.h"

#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "store/store.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/float.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* A unit of rows that are encoded for it is full with so many, or so much. */
#define UNIT_ROWS 10000
#define UNIT_BYTES (4 * 1024 * 1024)

/* A column that is exported. */
typedef struct ExportColumn
{
	StrataUnitColumn head;
	StrataColumnType type;		/* of its values in the table */
	StrataColumnType sent;		/* as they travel */
	FmgrInfo	output;			/* form TEXT */
	AttrNumber	attno;			/* in the present leaf */
} ExportColumn;

/* A table with rows, and which of its times are wanted. */
typedef struct ExportLeaf
{
	Oid			relid;
	StrataChunkRange range;		/* where has_range */
	bool		has_range;
} ExportLeaf;

typedef enum ExportPhase
{
	PHASE_NEXT_LEAF,
	PHASE_BATCHES,
	PHASE_ROWS,
	PHASE_END,
	PHASE_OVER
} ExportPhase;

struct StrataExport
{
	MemoryContext mcxt;			/* owns everything here */
	MemoryContext batch_mcxt;	/* of the present batch's rows */
	Oid			relid;
	Snapshot	snapshot;
	StrataUnit	unit;			/* the next one's head */
	ExportColumn *columns;
	int64		nrows;			/* so far */
	List	   *leaves;			/* of ExportLeaf * */
	int			next_leaf;
	ExportPhase phase;
	/* time */
	Oid			time_type;		/* InvalidOid: there is none */
	char	   *time_column;
	/* the present leaf */
	Relation	rel;
	AttrNumber	time_attno;
	bool		whole;			/* all its times are wanted */
	StrataStore *store;
	TableScanDesc scan;			/* of batches, or of rows */
	TupleTableSlot *slot;
	StrataBatchReader *reader;
	StrataEntries *entries;
	int			row;			/* of a batch that is taken apart: the next */
	bool		scanned;		/* the scan has given its last row */
	/* rows of the unit that is made of rows */
	Datum	  **values;			/* by column */
	bool	  **isnull;
};

/*-------------------------------------------------------------------------
 * Beginning
 *-------------------------------------------------------------------------
 */

/* May the user read the column?  The table's name is given for the error. */
static void
check_readable(Oid relid, AttrNumber attno)
{
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck(relid, attno, GetUserId(),
							  ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
}

/* ereport unless rel has rows that the user may read all of. */
static void
check_exportable(Relation rel)
{
	char		relkind = rel->rd_rel->relkind;

	if (relkind == RELKIND_FOREIGN_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("the rows of foreign table \"%s\" are on another server",
						RelationGetRelationName(rel)),
				 errhint("Export them there.")));
	if (relkind != RELKIND_RELATION && relkind != RELKIND_MATVIEW &&
		relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table", RelationGetRelationName(rel))));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot read temporary tables of other sessions")));
	if (check_enable_rls(RelationGetRelid(rel), InvalidOid, false) ==
		RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("rows of table \"%s\" are not exported in batches under row security",
						RelationGetRelationName(rel)),
				 errhint("COPY (SELECT ...) gives the rows that you may see.")));
}

static bool
is_exported(Form_pg_attribute att, List *names)
{
	ListCell   *lc;

	if (att->attisdropped)
		return false;
	foreach(lc, names)
	{
		if (strcmp(lfirst(lc), NameStr(att->attname)) == 0)
			return true;
	}
	/* generated columns are made again */
	return names == NIL && att->attgenerated == '\0';
}

/* How a column travels. */
static void
init_export_column(ExportColumn *column, Form_pg_attribute att)
{
	int32		typmod;
	Oid			type = strata_ship_base_type(att, &typmod);
	Oid			output;
	bool		varlena;

	strlcpy(column->head.name, NameStr(att->attname), NAMEDATALEN);
	strata_column_type_init(&column->type, att);
	column->sent = column->type;
	if (strata_ship_travels_as_value(type))
	{
		column->head.form = STRATA_FORM_VALUE;
		column->head.type = type;
		column->head.typmod = typmod;
		return;
	}
	column->head.form = STRATA_FORM_TEXT;
	column->head.type_name = format_type_extended(type, typmod,
												  FORMAT_TYPE_TYPEMOD_GIVEN |
												  FORMAT_TYPE_FORCE_QUALIFY);
	getTypeOutputInfo(type, &output, &varlena);
	fmgr_info(output, &column->output);
	column->sent.kind = STRATA_KIND_BYTES;
	column->sent.width = 0;
	column->sent.typid = TEXTOID;
	column->sent.typlen = -1;
	column->sent.typbyval = false;
}

/* The columns; those that are named have to be there. */
static void
init_export_columns(StrataExport *export, Relation rel, List *names)
{
	TupleDesc	desc = RelationGetDescr(rel);
	ListCell   *lc;

	export->columns = palloc0(sizeof(ExportColumn) * Max(desc->natts, 1));
	foreach(lc, names)
	{
		AttrNumber	attno = get_attnum(export->relid, lfirst(lc));

		if (attno <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist",
							(char *) lfirst(lc), RelationGetRelationName(rel))));
		if (TupleDescAttr(desc, attno - 1)->attgenerated != '\0')
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
					 errmsg("column \"%s\" is a generated column",
							(char *) lfirst(lc)),
					 errdetail("Generated columns are made again where the rows are imported.")));
	}
	for (int i = 0; i < desc->natts; i++)
	{
		if (!is_exported(TupleDescAttr(desc, i), names))
			continue;
		check_readable(export->relid, i + 1);
		init_export_column(&export->columns[export->unit.ncolumns++],
						   TupleDescAttr(desc, i));
	}
	if (export->unit.ncolumns == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" has no columns to export",
						RelationGetRelationName(rel))));
	export->unit.columns = palloc0(sizeof(StrataUnitColumn) *
								   export->unit.ncolumns);
	export->values = palloc0(sizeof(Datum *) * export->unit.ncolumns);
	export->isnull = palloc0(sizeof(bool *) * export->unit.ncolumns);
	for (int i = 0; i < export->unit.ncolumns; i++)
	{
		export->unit.columns[i] = export->columns[i].head;
		export->values[i] = palloc(sizeof(Datum) * STRATA_CODEC_MAX_ROWS);
		export->isnull[i] = palloc(sizeof(bool) * STRATA_CODEC_MAX_ROWS);
	}
}

/* By which column bounds are, where there is one. */
static void
init_time(StrataExport *export, Relation rel, const StrataHypertable *ht)
{
	AttrNumber	attno = 0;

	if (ht != NULL && !ht->has_function)
	{
		attno = ht->attno;
		export->time_type = ht->key_type;
	}
	else if (ht == NULL && strata_relation_is_strata(rel))
	{
		StrataLayout *layout = strata_store_current_layout(rel);

		attno = layout->norder > 0 ? layout->order[0].attno : 0;
		if (attno > 0)
			export->time_type =
				getBaseType(TupleDescAttr(RelationGetDescr(rel),
										  attno - 1)->atttypid);
	}
	if (attno == 0 || !strata_time_type_is_known(export->time_type))
	{
		export->time_type = InvalidOid;
		return;
	}
	export->time_column =
		pstrdup(NameStr(TupleDescAttr(RelationGetDescr(rel),
									  attno - 1)->attname));
}

/* A bound given as text, as its type's input has it. */
static int64
read_export_bound(StrataExport *export, const char *text)
{
	Oid			type = export->time_type == UUIDOID ? TIMESTAMPTZOID :
	export->time_type;
	Oid			input;
	Oid			io_param;

	if (!OidIsValid(export->time_type))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no time by which a part of it could be exported",
						get_rel_name(export->relid)),
				 errdetail("That is the time column of a hypertable, or the first orderby column of a strata table."),
				 errhint("Export single partitions, or the whole table.")));
	getTypeInputInfo(type, &input, &io_param);
	return strata_time_from_datum(type,
								  OidInputFunctionCall(input, (char *) text,
													   io_param, -1));
}

static int
compare_leaves(const ListCell *a, const ListCell *b)
{
	const ExportLeaf *one = lfirst(a);
	const ExportLeaf *other = lfirst(b);

	if (one->range.no_lo != other->range.no_lo)
		return one->range.no_lo ? -1 : 1;
	if (!one->range.no_lo && one->range.lo != other->range.lo)
		return one->range.lo < other->range.lo ? -1 : 1;
	return one->relid < other->relid ? -1 : 1;
}

static bool
is_outside(const StrataExport *export, const ExportLeaf *leaf)
{
	const StrataUnitOrigin *origin = &export->unit.origin;

	if (!leaf->has_range)
		return false;
	return (origin->has_low && !leaf->range.no_hi &&
			leaf->range.hi <= origin->low) ||
		(origin->has_high && !leaf->range.no_lo &&
		 leaf->range.lo >= origin->high);
}

/* The tables that have the rows, locked, in order of time. */
static void
init_leaves(StrataExport *export, bool by_time)
{
	ListCell   *lc;

	foreach(lc, find_all_inheritors(export->relid, AccessShareLock, NULL))
	{
		ExportLeaf *leaf = palloc0(sizeof(ExportLeaf));
		Oid			key_type;
		char		relkind = get_rel_relkind(lfirst_oid(lc));

		leaf->relid = lfirst_oid(lc);
		/* of a chunk of a chunk the range is of another column */
		leaf->has_range = by_time && leaf->relid != export->relid &&
			get_partition_parent(leaf->relid, true) == export->relid &&
			strata_chunk_range(leaf->relid, &key_type, &leaf->range);
		/* queries pass over temporary tables of other sessions, too */
		if (relkind == RELKIND_PARTITIONED_TABLE ||
			isOtherTempNamespace(get_rel_namespace(leaf->relid)) ||
			is_outside(export, leaf))
			continue;
		if (relkind == RELKIND_FOREIGN_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("the rows of foreign table \"%s\", a partition of \"%s\", are on another server",
							get_rel_name(leaf->relid),
							get_rel_name(export->relid)),
					 errhint("Export them there, and the other partitions by name, or with bounds that leave it out.")));
		export->leaves = lappend(export->leaves, leaf);
	}
	list_sort(export->leaves, compare_leaves);
}

/* Two numbers out of some bytes, added to those there are. */
static void
mix(uint64 id[2], const void *bytes, Size len)
{
	uint64		seed = id[0];

	id[0] = hash_bytes_extended(bytes, (int) len, seed ^ id[1]);
	id[1] = hash_bytes_extended(bytes, (int) len, id[1] + seed + 1);
}

/* The file that the table has at present, added. */
static void
mix_file(uint64 id[2], Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			file[2] = {relid, InvalidOid};

	if (HeapTupleIsValid(tuple))
	{
		file[1] = ((Form_pg_class) GETSTRUCT(tuple))->relfilenode;
		ReleaseSysCache(tuple);
	}
	mix(id, file, sizeof(file));
}

/*
 * What tells this export from others: two with the same name have the same
 * rows, in the same units.  So an export that was broken off goes on under
 * its name where its snapshot is still there (pg_export_snapshot).
 */
static void
name_export(StrataExport *export)
{
	StrataUnitOrigin *origin = &export->unit.origin;
	Snapshot	s = export->snapshot;
	uint64		id[2] = {0};
	uint64		place[3] = {
		GetSystemIdentifier(), MyDatabaseId, export->relid
	};
	TransactionId xid = GetCurrentTransactionIdIfAny();
	TimeLineID	timeline = 0;
	ListCell   *lc;

	mix(id, place, sizeof(place));
	origin->source = (int64) id[0];
	if (RecoveryInProgress())
		(void) GetXLogReplayRecPtr(&timeline);
	else
		timeline = GetWALInsertionTimeLine();
	mix(id, &timeline, sizeof(timeline));
	mix(id, &PgStartTime, sizeof(PgStartTime));
	mix(id, &s->xmin, sizeof(s->xmin));
	mix(id, &s->xmax, sizeof(s->xmax));
	mix(id, s->xip, sizeof(TransactionId) * s->xcnt);
	if (s->subxcnt > 0)
		mix(id, s->subxip, sizeof(TransactionId) * s->subxcnt);
	mix(id, &xid, sizeof(xid));
	if (TransactionIdIsValid(xid))
		mix(id, &s->curcid, sizeof(s->curcid));
	mix(id, &origin->low, sizeof(origin->low));
	mix(id, &origin->high, sizeof(origin->high));
	place[0] = (origin->has_low ? 1 : 0) | (origin->has_high ? 2 : 0);
	mix(id, place, sizeof(place[0]));
	for (int i = 0; i < export->unit.ncolumns; i++)
		mix(id, export->columns[i].head.name,
			strlen(export->columns[i].head.name));
	/* CLUSTER puts rows in another order, under the same snapshot */
	foreach(lc, export->leaves)
		mix_file(id, ((ExportLeaf *) lfirst(lc))->relid);
	memcpy(origin->export.data, id, UUID_LEN);
}

/* See ship.h. */
StrataExport *
strata_export_begin(Oid relid, const char *low, const char *high,
					List *columns)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata export",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataExport *export = palloc0(sizeof(StrataExport));
	StrataUnitOrigin *origin = &export->unit.origin;
	StrataHypertable *ht;
	Relation	rel;

	export->mcxt = mcxt;
	export->batch_mcxt = AllocSetContextCreate(mcxt, "strata export rows",
											   ALLOCSET_DEFAULT_SIZES);
	export->relid = relid;
	rel = table_open(relid, AccessShareLock);
	check_exportable(rel);
	strata_table_refuse_distributed(relid);
	init_export_columns(export, rel, columns);
	ht = strata_hypertable_get(relid);
	init_time(export, rel, ht);
	origin->has_low = low != NULL;
	origin->has_high = high != NULL;
	if (low != NULL)
		origin->low = read_export_bound(export, low);
	if (high != NULL)
		origin->high = read_export_bound(export, high);
	if (low != NULL && high != NULL && origin->low >= origin->high)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"low\" must be before \"high\"")));
	init_leaves(export, ht != NULL);

	/*
	 * taken behind the locks, so that no rewrite of a table has come between
	 */
	Assert(CheckRelationLockedByMe(rel, AccessShareLock, true));	/* ship:SH4 */
	table_close(rel, NoLock);
	export->snapshot = RegisterSnapshot(IsolationUsesXactSnapshot() ?
										GetActiveSnapshot() :
										strata_latest_snapshot());
	name_export(export);
	export->phase = PHASE_NEXT_LEAF;
	MemoryContextSwitchTo(old);
	return export;
}

/*-------------------------------------------------------------------------
 * Leaves
 *-------------------------------------------------------------------------
 */

static AttrNumber
attno_in_leaf(Relation rel, const char *name)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped &&
			strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0)
			return i + 1;
	elog(ERROR, "partition \"%s\" has no column \"%s\"",
		 RelationGetRelationName(rel), name);
}

/*
 * From the first block on, whatever other scans there are: who goes on with an
 * export finds its units as they were (ship:SH4).
 */
static TableScanDesc
begin_export_scan(StrataExport *export, Relation rel)
{
	return table_beginscan_strat(rel, export->snapshot, 0, NULL, true, false);
}

static void
begin_export_rows(StrataExport *export)
{
	export->scan = begin_export_scan(export, export->rel);
	if (strata_relation_is_strata(export->rel))
		(void) strata_rowstore_only_hook(export->scan);
	export->slot = table_slot_create(export->rel, NULL);
	export->scanned = false;
	export->phase = PHASE_ROWS;
}

/* Open the next leaf, and begin with its batches, if it has any. */
static void
begin_leaf(StrataExport *export)
{
	const StrataUnitOrigin *origin = &export->unit.origin;
	ExportLeaf *leaf;

	if (export->next_leaf == list_length(export->leaves))
	{
		export->phase = PHASE_END;
		return;
	}
	leaf = list_nth(export->leaves, export->next_leaf++);
	export->rel = table_open(leaf->relid, NoLock);
	for (int i = 0; i < export->unit.ncolumns; i++)
		export->columns[i].attno = attno_in_leaf(export->rel,
												 export->columns[i].head.name);
	export->whole = !(origin->has_low || origin->has_high);
	if (!export->whole)
	{
		export->time_attno = attno_in_leaf(export->rel, export->time_column);
		export->whole = leaf->has_range &&
			(!origin->has_low || (!leaf->range.no_lo &&
								  leaf->range.lo >= origin->low)) &&
			(!origin->has_high || (!leaf->range.no_hi &&
								   leaf->range.hi <= origin->high));
	}
	export->store = strata_relation_is_strata(export->rel) ?
		strata_store_open(export->rel, AccessShareLock) : NULL;
	if (export->store == NULL)
	{
		begin_export_rows(export);
		return;
	}
	export->scan = begin_export_scan(export, export->store->batches);
	export->slot = table_slot_create(export->store->batches, NULL);
	export->reader = strata_batch_reader_create(export->rel,
												export->store->schema);
	export->entries = strata_entries_create(export->store->batches,
											export->snapshot);
	export->row = 0;
	export->phase = PHASE_BATCHES;
}

/* End the scan of one half. */
static void
end_export_scan(StrataExport *export)
{
	if (export->scan != NULL)
	{
		table_endscan(export->scan);
		ExecDropSingleTupleTableSlot(export->slot);
	}
	export->scan = NULL;
	if (export->store != NULL)
	{
		strata_entries_free(export->entries);
		strata_batch_reader_free(export->reader);
		strata_store_close(export->store, NoLock);
		export->store = NULL;
	}
}

static void
end_leaf(StrataExport *export)
{
	end_export_scan(export);
	if (export->rel != NULL)
		table_close(export->rel, NoLock);
	export->rel = NULL;
	export->phase = PHASE_NEXT_LEAF;
}

/*-------------------------------------------------------------------------
 * Units
 *-------------------------------------------------------------------------
 */

/* Is a row of this time wanted? */
static bool
time_is_exported(const StrataExport *export, Datum value, bool isnull)
{
	const StrataUnitOrigin *origin = &export->unit.origin;
	int64		time;

	if (isnull)
		return false;
	time = strata_time_from_datum(export->time_type, value);
	return (!origin->has_low || time >= origin->low) &&
		(!origin->has_high || time < origin->high);
}

/* Is all of the batch wanted, or (*none) nothing, by its least and last time? */
static bool
batch_is_wanted(StrataExport *export, bool *none)
{
	const StrataUnitOrigin *origin = &export->unit.origin;
	StrataBatchReader *reader = export->reader;
	bool		min_null;
	bool		max_null;
	Datum		min;
	Datum		max;
	int64		from;
	int64		to;

	*none = false;
	if (export->whole)
		return true;
	min = strata_batch_reader_min(reader, export->time_attno, &min_null);
	max = strata_batch_reader_max(reader, export->time_attno, &max_null);
	if (min_null || max_null)
		return false;
	from = strata_time_from_datum(export->time_type, min);
	to = strata_time_from_datum(export->time_type, max);
	*none = (origin->has_low && to < origin->low) ||
		(origin->has_high && from >= origin->high);
	/* NULLs would not be wanted */
	return (!origin->has_low || from >= origin->low) &&
		(!origin->has_high || to < origin->high) &&
		reader->layout->norder > 0 &&
		reader->layout->order[0].attno == export->time_attno;
}

/* The text that is sent for a value. */
static Datum
text_of(ExportColumn *column, Datum value)
{
	return CStringGetTextDatum(OutputFunctionCall(&column->output, value));
}

/* A column of the unit, of values that are in export->values or constant. */
static void
put_values(StrataExport *export, StringInfo buf, int i, int nrows)
{
	strata_ship_encode(buf, &export->columns[i].sent, export->values[i],
					   export->isnull[i], nrows);
}

/* All rows of a column of the batch; a constant is made text only once. */
static void
put_decoded_column(StrataExport *export, StringInfo buf, int i)
{
	ExportColumn *column = &export->columns[i];
	StrataColumn *col = strata_batch_reader_column(export->reader,
												   column->attno);
	int			nrows = export->reader->nrows;

	for (int row = 0; row < nrows; row++)
	{
		Datum		value = strata_column_get(col, row,
											  &export->isnull[i][row]);

		if (column->head.form == STRATA_FORM_TEXT && !export->isnull[i][row])
			value = col->constant && row > 0 ? export->values[i][0] :
				text_of(column, value);
		export->values[i][row] = value;
	}
	put_values(export, buf, i, nrows);
}

/* A column of the whole batch: as it is, where it can be. */
static void
put_batch_column(StrataExport *export, StringInfo buf, int i)
{
	ExportColumn *column = &export->columns[i];
	StrataBatchReader *reader = export->reader;
	uint8	   *bytes;
	Size		len;

	if (column->head.form == STRATA_FORM_TEXT ||
		strata_layout_segment_index(reader->layout, column->attno) >= 0 ||
		!strata_batch_reader_is_stored(reader, column->attno))
	{
		put_decoded_column(export, buf, i);
		return;
	}
	bytes = strata_batch_reader_copy_column(reader, column->attno, &len);
	pq_sendint32(buf, (uint32) len);
	appendBinaryStringInfo(buf, (const char *) bytes, (int) len);
	pfree(bytes);
}

/* Begin the next unit, of nrows rows. */
static void
begin_unit(StrataExport *export, StringInfo buf, StrataUnitKind kind,
		   int nrows)
{
	Assert((kind == STRATA_UNIT_END) == (nrows == 0));	/* ship:SH1 */
	export->unit.kind = kind;
	export->unit.nrows = nrows;
	export->unit.seq++;
	export->nrows += nrows;
	strata_unit_begin(buf, &export->unit);
}

/* A unit of the whole batch. */
static bytea *
make_batch_unit(StrataExport *export)
{
	StringInfoData buf;

	begin_unit(export, &buf, STRATA_UNIT_BATCH, export->reader->nrows);
	for (int i = 0; i < export->unit.ncolumns; i++)
		put_batch_column(export, &buf, i);
	return strata_unit_finish(&buf);
}

/* Bytes of a value that is kept until the unit is made. */
static Size
kept_size(const StrataColumnType *type, Datum value)
{
	return type->typbyval ? sizeof(Datum) :
		datumGetSize(value, false, type->typlen);
}

/*
 * A row's values behind those of the unit, as they travel, from a reader's
 * columns or a slot; returns what they take.
 */
static Size
keep_export_value(StrataExport *export, int i, int at, Datum value,
				  bool isnull)
{
	ExportColumn *column = &export->columns[i];

	export->isnull[i][at] = isnull;
	export->values[i][at] = (Datum) 0;
	if (isnull)
		return 0;
	if (column->head.form == STRATA_FORM_TEXT)
		value = text_of(column, value);
	else if (!column->type.typbyval)
		value = column->type.typlen == -1 ?
			PointerGetDatum(PG_DETOAST_DATUM_COPY(value)) :
			datumCopy(value, false, column->type.typlen);
	export->values[i][at] = value;
	return kept_size(&column->sent, value);
}

/* A unit of the rows that were kept. */
static bytea *
make_rows_unit(StrataExport *export, StrataUnitKind kind, int nrows)
{
	StringInfoData buf;

	begin_unit(export, &buf, kind, nrows);
	for (int i = 0; i < export->unit.ncolumns; i++)
		put_values(export, &buf, i, nrows);
	return strata_unit_finish(&buf);
}

/*
 * A unit of the wanted rows of the present batch from export->row on; NULL:
 * there are none.
 */
static bytea *
make_part_unit(StrataExport *export)
{
	StrataBatchReader *reader = export->reader;
	StrataColumn **columns = palloc(sizeof(StrataColumn *) *
									export->unit.ncolumns);
	StrataColumn *time = export->whole ? NULL :
	strata_batch_reader_column(reader, export->time_attno);
	Size		nbytes = 0;
	int			n = 0;

	for (int i = 0; i < export->unit.ncolumns; i++)
		columns[i] = strata_batch_reader_column(reader,
												export->columns[i].attno);
	for (; export->row < reader->nrows && nbytes < UNIT_BYTES; export->row++)
	{
		bool		isnull;
		Datum		value;

		if (strata_batch_row_is_gone(reader, export->row))
			continue;
		if (time != NULL)
		{
			value = strata_column_get(time, export->row, &isnull);
			if (!time_is_exported(export, value, isnull))
				continue;
		}
		for (int i = 0; i < export->unit.ncolumns; i++)
		{
			value = strata_column_get(columns[i], export->row, &isnull);
			nbytes += keep_export_value(export, i, n, value, isnull);
		}
		n++;
	}
	if (export->row == reader->nrows)
		export->row = 0;
	return n > 0 ? make_rows_unit(export, STRATA_UNIT_BATCH, n) : NULL;
}

/* The next unit out of batches; NULL: there are no more. */
static bytea *
next_batch_unit(StrataExport *export)
{
	StrataBatchReader *reader = export->reader;
	bytea	   *unit = NULL;
	bool		none;

	while (unit == NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (export->row > 0)
		{
			unit = make_part_unit(export);
			continue;
		}
		if (!table_scan_getnextslot(export->scan, ForwardScanDirection,
									export->slot))
			return NULL;
		if (!strata_batch_reader_load(reader, export->slot))
			continue;
		strata_entries_apply(export->entries, reader);
		if (reader->ngone == reader->nrows)
			continue;
		if (batch_is_wanted(export, &none) && reader->ngone == 0)
			unit = make_batch_unit(export);
		else if (!none)
			unit = make_part_unit(export);
	}
	return unit;
}

/* The next unit out of the row store; NULL: there are no more rows. */
static bytea *
next_rows_unit(StrataExport *export)
{
	Size		nbytes = 0;
	int			n = 0;

	while (n < UNIT_ROWS && nbytes < UNIT_BYTES && !export->scanned)
	{
		TupleTableSlot *slot = export->slot;

		CHECK_FOR_INTERRUPTS();
		if (!table_scan_getnextslot(export->scan, ForwardScanDirection, slot))
		{
			/* asked once more, it would begin again */
			export->scanned = true;
			break;
		}
		slot_getallattrs(slot);
		if (!export->whole &&
			!time_is_exported(export, slot->tts_values[export->time_attno - 1],
							  slot->tts_isnull[export->time_attno - 1]))
			continue;
		for (int i = 0; i < export->unit.ncolumns; i++)
		{
			AttrNumber	attno = export->columns[i].attno;

			nbytes += keep_export_value(export, i, n,
										slot->tts_values[attno - 1],
										slot->tts_isnull[attno - 1]);
		}
		n++;
	}
	return n > 0 ? make_rows_unit(export, STRATA_UNIT_ROWS, n) : NULL;
}

static bytea *
make_end_unit(StrataExport *export)
{
	StringInfoData buf;

	Assert(export->next_leaf ==
		   list_length(export->leaves));	/* ship:SH4 */
	export->unit.total_rows = export->nrows;
	begin_unit(export, &buf, STRATA_UNIT_END, 0);
	export->phase = PHASE_OVER;
	return strata_unit_finish(&buf);
}

/* The next unit, in the context of the present batch's rows, or NULL. */
static bytea *
export_step(StrataExport *export)
{
	bytea	   *unit = NULL;

	while (unit == NULL && export->phase != PHASE_OVER)
	{
		MemoryContextReset(export->batch_mcxt);
		switch (export->phase)
		{
			case PHASE_NEXT_LEAF:
				MemoryContextSwitchTo(export->mcxt);
				begin_leaf(export);
				MemoryContextSwitchTo(export->batch_mcxt);
				break;
			case PHASE_BATCHES:
				unit = next_batch_unit(export);
				if (unit == NULL)
				{
					end_export_scan(export);
					MemoryContextSwitchTo(export->mcxt);
					begin_export_rows(export);
					MemoryContextSwitchTo(export->batch_mcxt);
				}
				break;
			case PHASE_ROWS:
				unit = next_rows_unit(export);
				if (unit == NULL)
					end_leaf(export);
				break;
			case PHASE_END:
				unit = make_end_unit(export);
				break;
			case PHASE_OVER:
				break;
		}
	}
	return unit;
}

/* See ship.h. */
bytea *
strata_export_next(StrataExport *export, StrataUnit *unit)
{
	MemoryContext caller = MemoryContextSwitchTo(export->batch_mcxt);
	int			level = NewGUCNestLevel();
	bytea	   *bytes;
	bytea	   *result = NULL;

	strata_ship_pin_texts();
	bytes = export_step(export);
	AtEOXact_GUC(false, level);
	MemoryContextSwitchTo(caller);
	if (bytes != NULL)
	{
		result = palloc(VARSIZE(bytes));
		memcpy(result, bytes, VARSIZE(bytes));
		*unit = export->unit;
		unit->columns = NULL;
	}
	MemoryContextReset(export->batch_mcxt);
	return result;
}

/* See ship.h. */
void
strata_export_end(StrataExport *export)
{
	end_leaf(export);
	UnregisterSnapshot(export->snapshot);
	MemoryContextDelete(export->mcxt);
}
