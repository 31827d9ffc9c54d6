/*-------------------------------------------------------------------------
 *
 * api_chunk_change.c
 *	  Reordering, moving, merging, splitting, attaching and detaching chunks.
 *
 * src/api/api_chunk_change.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"
#include "rollup/rollup.h"
#include "store/store.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/tablecmds.h"
#include "common/int.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(strata_reorder_chunk);
PG_FUNCTION_INFO_V1(strata_move_chunk);
PG_FUNCTION_INFO_V1(strata_merge_chunks);
PG_FUNCTION_INFO_V1(strata_merge_two_chunks);
PG_FUNCTION_INFO_V1(strata_split_chunk);
PG_FUNCTION_INFO_V1(strata_attach_chunk);
PG_FUNCTION_INFO_V1(strata_detach_chunk);

/* Between the epochs of Unix and PostgreSQL. */
#define UNIX_EPOCH_USECS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/*-------------------------------------------------------------------------
 * Arguments, permissions, locks
 *-------------------------------------------------------------------------
 */

static void
begin_change(FunctionCallInfo fcinfo, const char *command,
			 const char *argument)
{
	PreventCommandIfReadOnly(command);
	PreventCommandIfParallelMode(command);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" cannot be null", argument)));
}

/* The hypertable of a chunk; ereports when it is none, or not the user's. */
static StrataHypertable *
hypertable_of(Oid chunk)
{
	StrataHypertable *ht = NULL;

	(void) strata_owned_relation_name(chunk);
	if (get_rel_relkind(chunk) == RELKIND_FOREIGN_TABLE)
		strata_api_refuse_foreign(chunk);
	if (get_rel_relkind(chunk) == RELKIND_RELATION &&
		get_rel_relispartition(chunk))
		ht = strata_hypertable_get(get_partition_parent(chunk, true));
	if (ht == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a chunk", get_rel_name(chunk)),
				 errhint("SELECT show_chunks('hypertable'); lists those of a hypertable.")));
	return strata_hypertable_open(ht->relid);
}

static void
check_not_in_use(Oid relid, const char *command)
{
	Relation	rel = table_open(relid, NoLock);

	CheckTableNotInUse(rel, command);
	table_close(rel, NoLock);
}

/*
 * Shut everybody out of the hypertable and these of its chunks; returns them
 * (StrataChunk *) in order of time.
 */
static List *
lock_changed_chunks(const StrataHypertable *ht, const List *relids,
					const char *command)
{
	List	   *chunks = NIL;
	ListCell   *lc;

	Assert(strata_table_ownercheck(ht->relid, GetUserId()));	/* api:P1 */
	strata_rollup_lock_view_of(ht->relid);
	strata_chunk_lock(ht->relid, AccessExclusiveLock);
	check_not_in_use(ht->relid, command);
	foreach(lc, strata_chunk_list(ht))
	{
		StrataChunk *chunk = lfirst(lc);

		if (!list_member_oid(relids, chunk->relid))
			continue;
		LockRelationOid(chunk->relid, AccessExclusiveLock);
		check_not_in_use(chunk->relid, command);
		chunks = lappend(chunks, chunk);
	}
	if (list_length(chunks) != list_length(relids))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a chunk of hypertable \"%s\" was dropped or detached by another transaction",
						get_rel_name(ht->relid))));
	return chunks;
}

/* Run a statement as the owner of a table. */
static void
run_as_owner(Oid relid, const char *sql)
{
	StrataOwnerContext saved;

	strata_owner_enter(strata_relation_owner(relid), &saved);
	Assert(InSecurityRestrictedOperation());	/* api:P2 */
	strata_sql_run(sql);
	strata_owner_leave(&saved);
}

/*-------------------------------------------------------------------------
 * reorder_chunk, move_chunk
 *-------------------------------------------------------------------------
 */

/*
 * The chunk's index that is meant: its own, its part of the hypertable's, or
 * the one used last.
 */
static Oid
choose_index(Oid chunk, bool given, Oid index)
{
	Oid			result = InvalidOid;

	if (given)
		result = strata_chunk_index(chunk, index);
	else
	{
		Relation	rel = table_open(chunk, AccessShareLock);
		ListCell   *lc;

		foreach(lc, RelationGetIndexList(rel))
		{
			if (get_index_isclustered(lfirst_oid(lc)))
				result = lfirst_oid(lc);
		}
		table_close(rel, AccessShareLock);
		if (!OidIsValid(result))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("there is no previously clustered index for chunk \"%s\"",
							get_rel_name(chunk)),
					 errhint("Name an index of the hypertable: SELECT reorder_chunk('%s', 'index');",
							 get_rel_name(chunk))));
	}
	if (!OidIsValid(result))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an index of chunk \"%s\" or of its hypertable",
						get_rel_name(index) != NULL ? get_rel_name(index) : "",
						get_rel_name(chunk))));
	return result;
}

/* CLUSTER as the owner; rows in batches keep their order, and that is said. */
static void
reorder(Oid chunk, Oid index, bool verbose)
{
	Relation	rel;
	bool		batches;

	run_as_owner(chunk,
				 psprintf("CLUSTER%s %s USING %s", verbose ? " VERBOSE" : "",
						  strata_sql_name(chunk),
						  quote_identifier(get_rel_name(index))));
	rel = table_open(chunk, NoLock);
	batches = strata_relation_is_strata(rel) &&
		strata_store_has_batches(rel, GetActiveSnapshot());
	table_close(rel, NoLock);
	if (batches)
		ereport(NOTICE,
				(errmsg("compressed rows of chunk \"%s\" keep the order of their batches",
						get_rel_name(chunk)),
				 errhint("strata.segmentby and strata.orderby say what that is.")));
}

/* reorder_chunk(chunk, index, verbose) */
Datum
strata_reorder_chunk(PG_FUNCTION_ARGS)
{
	Oid			chunk;

	begin_change(fcinfo, "reorder_chunk()", "chunk");
	chunk = PG_GETARG_OID(0);
	(void) hypertable_of(chunk);
	reorder(chunk,
			choose_index(chunk, !PG_ARGISNULL(1),
						 PG_ARGISNULL(1) ? InvalidOid : PG_GETARG_OID(1)),
			!PG_ARGISNULL(2) && PG_GETARG_BOOL(2));
	PG_RETURN_VOID();
}

/*
 * move_chunk(chunk, destination_tablespace, index_destination_tablespace,
 *			  reorder_index, verbose)
 */
Datum
strata_move_chunk(PG_FUNCTION_ARGS)
{
	bool		verbose = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
	Oid			index = InvalidOid;
	Relation	rel;
	List	   *indexes;
	Oid			chunk;
	ListCell   *lc;

	begin_change(fcinfo, "move_chunk()", "chunk");
	chunk = PG_GETARG_OID(0);
	(void) hypertable_of(chunk);
	if (PG_ARGISNULL(1))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("argument \"%s\" cannot be null",
							   "destination_tablespace")));
	if (!PG_ARGISNULL(3))
		index = choose_index(chunk, true, PG_GETARG_OID(3));
	/* at once, so that nobody comes between */
	Assert(strata_table_ownercheck(chunk, GetUserId()));	/* api:P1 */
	rel = table_open(chunk, AccessExclusiveLock);
	indexes = RelationGetIndexList(rel);
	table_close(rel, NoLock);
	ereport(verbose ? INFO : DEBUG1,
			(errmsg("moving chunk \"%s\" to tablespace \"%s\"",
					get_rel_name(chunk), NameStr(*PG_GETARG_NAME(1)))));
	run_as_owner(chunk,
				 psprintf("ALTER TABLE %s SET TABLESPACE %s",
						  strata_sql_name(chunk),
						  quote_identifier(NameStr(*PG_GETARG_NAME(1)))));
	if (!PG_ARGISNULL(2))
		foreach(lc, indexes)
			run_as_owner(chunk, psprintf("ALTER INDEX %s SET TABLESPACE %s",
										 strata_sql_name(lfirst_oid(lc)),
										 quote_identifier(NameStr(*PG_GETARG_NAME(2)))));
	if (OidIsValid(index))
		reorder(chunk, index, verbose);
	PG_RETURN_VOID();
}

/*-------------------------------------------------------------------------
 * merge_chunks, split_chunk
 *-------------------------------------------------------------------------
 */

/*
 * merge_chunks(): all chunks are of one hypertable, each named once, and side
 * by side; checked here.
 */
static void
merge(List *relids)
{
	StrataHypertable *ht = NULL;
	StrataOwnerContext saved;
	List	   *chunks;
	bool		compressed;
	Oid			merged;
	ListCell   *lc;

	if (list_length(relids) < 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("must specify at least two chunks to merge")));
	foreach(lc, relids)
	{
		StrataHypertable *other = hypertable_of(lfirst_oid(lc));

		if (ht != NULL && ht->relid != other->relid)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("cannot merge chunks of different hypertables"),
					 errdetail("Chunk \"%s\" is of hypertable \"%s\", chunk \"%s\" of hypertable \"%s\".",
							   get_rel_name(linitial_oid(relids)),
							   get_rel_name(ht->relid),
							   get_rel_name(lfirst_oid(lc)),
							   get_rel_name(other->relid))));
		ht = other;
		for (int i = 0; i < foreach_current_index(lc); i++)
			if (list_nth_oid(relids, i) == lfirst_oid(lc))
				ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
								errmsg("chunk \"%s\" is named twice",
									   get_rel_name(lfirst_oid(lc)))));
	}
	chunks = lock_changed_chunks(ht, relids, "merge_chunks");
	strata_owner_enter(strata_relation_owner(ht->relid), &saved);
	Assert(InSecurityRestrictedOperation());	/* api:P2 */
	merged = strata_chunk_merge(ht, chunks, &compressed);
	strata_owner_leave(&saved);
	if (compressed)
		strata_api_compress_again(merged);
}

/* merge_chunks(chunks regclass[]) */
Datum
strata_merge_chunks(PG_FUNCTION_ARGS)
{
	List	   *relids = NIL;
	Datum	   *elements;
	bool	   *nulls;
	int			n;

	begin_change(fcinfo, "merge_chunks()", "chunks");
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), REGCLASSOID, sizeof(Oid), true,
					  TYPALIGN_INT, &elements, &nulls, &n);
	for (int i = 0; i < n; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("a chunk to merge cannot be null")));
		relids = lappend_oid(relids, DatumGetObjectId(elements[i]));
	}
	merge(relids);
	PG_RETURN_VOID();
}

/* merge_chunks(chunk1, chunk2, concurrently) */
Datum
strata_merge_two_chunks(PG_FUNCTION_ARGS)
{
	begin_change(fcinfo, "merge_chunks()", "chunk1");
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("argument \"%s\" cannot be null", "chunk2")));
	if (!PG_ARGISNULL(2) && PG_GETARG_BOOL(2))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("chunks cannot be merged concurrently"),
				 errhint("Leave out \"concurrently\"; readers and writers of the hypertable then wait for the merge.")));
	merge(list_make2_oid(PG_GETARG_OID(0), PG_GETARG_OID(1)));
	PG_RETURN_VOID();
}

/* Where to split: as told, or in the middle. */
static int64
split_point(FunctionCallInfo fcinfo, const StrataHypertable *ht,
			const StrataChunk *chunk)
{
	const StrataChunkRange *range = &chunk->range;
	int64		at;

	if (PG_ARGISNULL(1) && (range->no_lo || range->no_hi))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("chunk \"%s\" has no end on one side, and so no middle",
						get_rel_name(chunk->relid)),
				 errhint("Give split_at.")));
	at = PG_ARGISNULL(1) ?
		range->lo +
		(int64) (((uint64) range->hi - (uint64) range->lo) / 2) :
		strata_hypertable_point(ht,
								get_fn_expr_argtype(fcinfo->flinfo, 1),
								PG_GETARG_DATUM(1), "split_at", true);
	if ((!range->no_lo && at <= range->lo) ||
		(!range->no_hi && at >= range->hi) || at == PG_INT64_MIN ||
		at == PG_INT64_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot split chunk \"%s\" there",
						get_rel_name(chunk->relid)),
				 errdetail("A split point lies within the chunk's range, and is not its beginning.")));
	return at;
}

/* split_chunk(chunk, split_at "any") */
Datum
strata_split_chunk(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	StrataChunk *chunk;
	StrataOwnerContext saved;
	int64		at;
	bool		compressed;
	Oid			second;

	begin_change(fcinfo, "split_chunk()", "chunk");
	ht = hypertable_of(PG_GETARG_OID(0));
	chunk = linitial(lock_changed_chunks(ht, list_make1_oid(PG_GETARG_OID(0)),
										 "split_chunk"));
	at = split_point(fcinfo, ht, chunk);
	strata_owner_enter(strata_relation_owner(ht->relid), &saved);
	second = strata_chunk_split(ht, chunk, at, &compressed);
	strata_owner_leave(&saved);
	if (compressed)
	{
		strata_api_compress_again(chunk->relid);
		strata_api_compress_again(second);
	}
	PG_RETURN_VOID();
}

/*-------------------------------------------------------------------------
 * attach_chunk, detach_chunk
 *-------------------------------------------------------------------------
 */

static void
refuse_slices(const StrataHypertable *ht, const char *what)
{
	char	   *column = get_attname(ht->relid, ht->attno, false);
	bool		integer = strata_time_type_is_integer(ht->key_type);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid slices for hypertable \"%s\": %s",
					get_rel_name(ht->relid), what),
			 errhint("Give the range of its time column, like '{\"%s\": [%s]}'.",
					 column,
					 integer ? "0, 1000" : "\"2026-01-01\", \"2026-01-08\"")));
}

/*
 * A bound: a text of the key's type, or a number (microseconds since 1970 for
 * timestamps and dates).
 */
static int64
read_bound(const StrataHypertable *ht, const JsonbValue *value)
{
	int64		number;

	if (value != NULL && value->type == jbvString)
	{
		Oid			input;
		Oid			param;

		getTypeInputInfo(ht->key_type, &input, &param);
		return strata_time_from_datum(ht->key_type,
									  OidInputFunctionCall(input,
														   pnstrdup(value->val
																	.string
																	.val,
																	value->val
																	.string
																	.len),
														   param, -1));
	}
	if (value == NULL || value->type != jbvNumeric)
		refuse_slices(ht, "a bound is a text or a number");
	number = DatumGetInt64(DirectFunctionCall1(numeric_int8,
											   NumericGetDatum(value->val
															   .numeric)));
	if (!DatumGetBool(DirectFunctionCall2(numeric_eq,
										  NumericGetDatum(int64_to_numeric(number)),
										  NumericGetDatum(value->val.numeric))))
		refuse_slices(ht, "a bound is not a whole number");
	if (strata_time_type_is_integer(ht->key_type) || number == PG_INT64_MIN ||
		number == PG_INT64_MAX)
		return number;
	if (pg_sub_s64_overflow(number, UNIX_EPOCH_USECS, &number))
		refuse_slices(ht, "a bound is out of range");
	if (ht->key_type != DATEOID)
		return number;
	if (number % USECS_PER_DAY != 0)
		refuse_slices(ht, "a bound is not the beginning of a day");
	return number / USECS_PER_DAY;
}

/*
 * The range of '{"column": [from, to]}', in internal times; raises an error
 * for anything else.
 */
static void
read_slices(const StrataHypertable *ht, Jsonb *slices, StrataChunkRange *range)
{
	char	   *column = get_attname(ht->relid, ht->attno, false);
	JsonbValue	buffer;
	JsonbValue *slice = NULL;

	if (JsonContainerIsObject(&slices->root))
		slice = getKeyJsonValueFromContainer(&slices->root, column,
											 (int) strlen(column), &buffer);
	if (slice == NULL || JsonContainerSize(&slices->root) != 1)
		refuse_slices(ht, "its only dimension is its time");
	if (slice->type != jbvBinary ||
		!JsonContainerIsArray(slice->val.binary.data) ||
		JsonContainerSize(slice->val.binary.data) != 2)
		refuse_slices(ht, "a slice has a beginning and an end");
	range->lo =
		read_bound(ht,
				   getIthJsonbValueFromContainer(slice->val.binary.data, 0));
	range->hi =
		read_bound(ht,
				   getIthJsonbValueFromContainer(slice->val.binary.data, 1));
	range->no_lo = range->lo == PG_INT64_MIN;
	range->no_hi = range->hi == PG_INT64_MAX;
	if (range->lo >= range->hi)
		refuse_slices(ht, "it ends before it begins");
}

/* ereport unless a table of the user's that may become a chunk. */
static void
check_attachable(Oid relid)
{
	(void) strata_owned_relation_name(relid);
	if (get_rel_relkind(relid) != RELKIND_RELATION)
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
						errmsg("cannot attach \"%s\", which is not a table",
							   get_rel_name(relid))));
	if (get_rel_relispartition(relid))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot attach \"%s\", which is already a chunk or partition",
						get_rel_name(relid)),
				 errhint("CALL detach_chunk('%s');", strata_sql_name(relid))));
}

/* attach_chunk(hypertable, chunk, slices jsonb) */
Datum
strata_attach_chunk(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;
	StrataChunkRange range;
	Relation	rel;
	Oid			table;

	begin_change(fcinfo, "attach_chunk()", "hypertable");
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
						errmsg("argument \"%s\" cannot be null",
							   PG_ARGISNULL(1) ? "chunk" : "slices")));
	ht = strata_hypertable_open(PG_GETARG_OID(0));
	table = PG_GETARG_OID(1);
	check_attachable(table);
	read_slices(ht, PG_GETARG_JSONB_P(2), &range);
	strata_chunk_lock(ht->relid, ShareUpdateExclusiveLock);
	rel = table_open(table, AccessExclusiveLock);
	check_attachable(table);
	if (!strata_relation_is_strata(rel))
		ereport(NOTICE,
				(errmsg("chunk \"%s\" cannot be compressed, because it does not use the access method strata",
						RelationGetRelationName(rel)),
				 errhint("ALTER TABLE %s SET ACCESS METHOD strata;",
						 strata_sql_name(table))));
	table_close(rel, NoLock);
	strata_chunk_adopt(ht, table, &range);
	PG_RETURN_VOID();
}

/* detach_chunk(chunk) */
Datum
strata_detach_chunk(PG_FUNCTION_ARGS)
{
	StrataHypertable *ht;

	begin_change(fcinfo, "detach_chunk()", "chunk");
	ht = hypertable_of(PG_GETARG_OID(0));
	(void) lock_changed_chunks(ht, list_make1_oid(PG_GETARG_OID(0)), "detach_chunk");
	strata_chunk_detach(ht->relid, PG_GETARG_OID(0));
	PG_RETURN_VOID();
}
