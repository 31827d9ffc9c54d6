/*-------------------------------------------------------------------------
 *
 * api_compress.c
 *	  compress_chunk, compress_all, decompress_chunk and what stands around
 *	  them.
 *
 * Arguments, permissions, locks; the work is store/'s, done as the table's
 * owner in a security-restricted context, because index expressions run.
 *
 * src/api/api_compress.c
 *-------------------------------------------------------------------------
 */
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "compress/compress.h"
#include "job/job.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/tablecmds.h"
#include "foreign/foreign.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(strata_compress_all);
PG_FUNCTION_INFO_V1(strata_compress_chunk);
PG_FUNCTION_INFO_V1(strata_decompress_chunk);

/* See api_private.h. */
void
strata_api_refuse_foreign(Oid relid)
{
	ForeignTable *table = GetForeignTable(relid);

	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("the rows of foreign table \"%s\" are on server \"%s\"",
					get_rel_name(relid),
					GetForeignServer(table->serverid)->servername),
			 errhint("Call the function there, for the table it stands for.")));
}

/* See api_private.h. */
Relation
strata_api_open(Oid relid, LOCKMODE lockmode)
{
	Relation	rel;
	char		relkind = get_rel_relkind(relid);
	char	   *name = get_rel_name(relid);

	if (relkind == '\0' || name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	/* api:P1, before the lock: nobody may block a table that is not his */
	if (!strata_table_ownercheck(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(relkind),
					   get_rel_name(relid));
	rel = try_relation_open(relid, lockmode);
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" does not exist", name)));
	strata_table_refuse_distributed(relid);
	if (relkind == RELKIND_FOREIGN_TABLE)
		strata_api_refuse_foreign(relid);
	if (!strata_relation_is_strata(rel))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" does not use the access method strata",
						RelationGetRelationName(rel)),
				 RELKIND_HAS_TABLE_AM(relkind) ?
				 errhint("ALTER %s %s SET ACCESS METHOD strata;",
						 relkind == RELKIND_MATVIEW ? "MATERIALIZED VIEW" :
						 "TABLE",
						 quote_identifier(RelationGetRelationName(rel))) :
				 0));
	return rel;
}

/* See api_private.h. */
void
strata_api_compress_again(Oid relid)
{
	Relation	rel = strata_api_open(relid, ExclusiveLock);

	if (strata_store_can_compress(rel, NULL) &&
		!strata_table_is_too_small(rel))
		(void) strata_table_compress(rel, false, false);
	table_close(rel, NoLock);
}

/* See api_private.h. */
List *
strata_api_leaves(Oid relid, List **others)
{
	List	   *leaves = NIL;
	ListCell   *lc;

	if (get_rel_relkind(relid) != RELKIND_PARTITIONED_TABLE)
		return list_make1_oid(relid);
	if (!strata_table_ownercheck(relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, get_rel_name(relid));
	strata_table_refuse_distributed(relid);
	foreach(lc, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		Oid			leaf = lfirst_oid(lc);
		Relation	rel;

		if (get_rel_relkind(leaf) == RELKIND_PARTITIONED_TABLE)
			continue;
		rel = relation_open(leaf, NoLock);
		if (strata_relation_is_strata(rel))
			leaves = lappend_oid(leaves, leaf);
		else if (others != NULL)
			*others = lappend_oid(*others, leaf);
		relation_close(rel, NoLock);
	}
	return leaves;
}

/*
 * Partitions that are heaps are not passed over in silence; where there are no
 * others, nothing would be done.
 */
static void
mind_heaps(Oid relid, const List *leaves, const List *others)
{
	int			heaps = 0;
	const char *first = NULL;
	ListCell   *lc;

	foreach(lc, others)
	{
		if (!strata_table_is_heap(lfirst_oid(lc)))
			continue;
		heaps++;
		if (first == NULL)
			first = get_rel_name(lfirst_oid(lc));
	}
	if (heaps > 0)
		ereport(leaves == NIL ? ERROR : WARNING,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg_plural("%d partition of \"%s\" is a heap, which is not compressed",
							   "%d partitions of \"%s\" are heaps, which are not compressed",
							   heaps, heaps, get_rel_name(relid)),
				 errdetail("The first is \"%s\".", first),
				 errhint("CALL strata.convert('%s');",
						 strata_sql_name(relid))));
}

/*
 * compress_chunk(uncompressed_chunk regclass, if_not_compressed bool,
 *				  recompress bool) -> regclass
 */
Datum
strata_compress_chunk(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	bool		if_not_compressed = PG_GETARG_BOOL(1);
	bool		recompress = PG_GETARG_BOOL(2);
	bool		partitioned;
	List	   *leaves;
	List	   *others = NIL;
	ListCell   *lc;

	partitioned = get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE;
	PreventCommandIfReadOnly("compress_chunk()");
	PreventCommandIfParallelMode("compress_chunk()");
	leaves = strata_api_leaves(relid, &others);
	mind_heaps(relid, leaves, others);
	foreach(lc, leaves)
	{
		Relation	rel = strata_api_open(lfirst_oid(lc), ExclusiveLock);

		strata_table_compress_chunk(rel, if_not_compressed || partitioned,
									recompress);
		table_close(rel, NoLock);
	}
	PG_RETURN_OID(relid);
}

/* See api_private.h. */
List *
strata_api_tables(bool own)
{
	Relation	pg_class = table_open(RelationRelationId, AccessShareLock);
	SysScanDesc scan = systable_beginscan(pg_class, InvalidOid, false, NULL, 0,
										  NULL);
	HeapTuple	tuple;
	List	   *tables = NIL;

	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		Form_pg_class form = (Form_pg_class) GETSTRUCT(tuple);

		if ((form->relkind == RELKIND_RELATION ||
			 form->relkind == RELKIND_MATVIEW) &&
			strata_is_strata_am(form->relam) &&
			(!own || (!isOtherTempNamespace(form->relnamespace) &&
					  strata_table_ownercheck(form->oid, GetUserId()))))
			tables = lappend_oid(tables, form->oid);
	}
	systable_endscan(scan);
	table_close(pg_class, AccessShareLock);
	list_sort(tables, list_oid_cmp);
	return tables;
}

/* A run of compress_all(). */
typedef struct CompressAll
{
	Oid			user;			/* who called */
	int			ntables;
	int			seen;
	int64		bytes;			/* of all tables, of those seen */
	int64		bytes_seen;
	TimestampTz start;
	bool		done;			/* something, of this table */
} CompressAll;

/* One table, if it can be done; it may be gone, or another's, meanwhile. */
static void
compress_if_possible(Oid relid, void *arg)
{
	CompressAll *all = arg;
	Relation	rel;

	all->done = false;
	if (!strata_table_ownercheck(relid, all->user))
		return;
	rel = try_relation_open(relid, ExclusiveLock);
	if (rel == NULL)
		return;
	if (!strata_relation_is_strata(rel) || strata_table_is_too_small(rel))
		;
	else if (strata_store_can_compress(rel, NULL))
	{
		Assert(strata_table_ownercheck(relid, all->user));	/* api:P1 */
		CheckTableNotInUse(rel, "compress_all");
		all->done = strata_table_compress(rel, false, true);
	}
	else
		ereport(WARNING, (errmsg("table \"%s\" is left uncompressed",
								 RelationGetRelationName(rel)),
						  errhint("SELECT compress_chunk('%s'); says why.",
								  RelationGetRelationName(rel))));
	table_close(rel, NoLock);
}

static int64
table_bytes(Oid relid)
{
	LOCAL_FCINFO(fcinfo, 1);
	Datum		size;

	/* NULL of a table that is gone */
	InitFunctionCallInfoData(*fcinfo, NULL, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = ObjectIdGetDatum(relid);
	fcinfo->args[0].isnull = false;
	size = pg_table_size(fcinfo);
	return fcinfo->isnull ? 0 : DatumGetInt64(size);
}

/* How far it is, and when it may be done, by bytes. */
static void
report_progress(const CompressAll *all)
{
	TimestampTz now = GetCurrentTimestamp();
	double		share = all->bytes == 0 ? 1 :
	(double) all->bytes_seen / all->bytes;

	if (all->seen < all->ntables && all->done && strata_report_compression &&
		share > 0)
		ereport(NOTICE,
				(errmsg("%d of %d tables, %.0f %% of their bytes, are done",
						all->seen, all->ntables, 100 * share),
				 errdetail("The rest may be done at %s.",
						   timestamptz_to_str(now + (now - all->start) *
											  (1 / share - 1)))));
}

/*
 * compress_all(relation regclass): each table of the user, or each chunk of
 * one, in a transaction of its own where the caller is in none.
 */
Datum
strata_compress_all(PG_FUNCTION_ARGS)
{
	CompressAll all = {.user = GetUserId()};
	StrataRun	run;
	List	   *tables;
	List	   *others = NIL;
	ListCell   *lc;

	PreventCommandIfReadOnly("compress_all()");
	PreventCommandIfParallelMode("compress_all()");
	strata_run_begin(&run, fcinfo, false);
	tables = PG_ARGISNULL(0) ? strata_api_tables(true) :
		strata_api_leaves(PG_GETARG_OID(0), &others);
	if (!PG_ARGISNULL(0))
		mind_heaps(PG_GETARG_OID(0), tables, others);
	if (!PG_ARGISNULL(0) && list_length(tables) == 1)
		relation_close(strata_api_open(linitial_oid(tables), AccessShareLock),
					   AccessShareLock);
	all.ntables = list_length(tables);
	all.start = GetCurrentTimestamp();
	foreach(lc, tables)
		all.bytes += table_bytes(lfirst_oid(lc));
	foreach(lc, tables)
	{
		int64		bytes = table_bytes(lfirst_oid(lc));

		strata_run_table(&run, lfirst_oid(lc), compress_if_possible, &all);
		all.seen++;
		all.bytes_seen = Min(all.bytes_seen + bytes, all.bytes);
		report_progress(&all);
	}
	Assert(all.user == GetUserId() && all.seen == all.ntables); /* api:P1 */
	strata_run_end(&run, "compressed");
	PG_RETURN_VOID();
}

/*
 * decompress_chunk(uncompressed_chunk regclass, if_compressed bool) ->
 * regclass
 */
Datum
strata_decompress_chunk(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	bool		if_compressed = PG_GETARG_BOOL(1);
	bool		partitioned;
	int64		total = 0;
	ListCell   *lc;

	partitioned = get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE;
	PreventCommandIfReadOnly("decompress_chunk()");
	PreventCommandIfParallelMode("decompress_chunk()");
	foreach(lc, strata_api_leaves(relid, NULL))
	{
		Relation	rel = strata_api_open(lfirst_oid(lc), ExclusiveLock);
		int64		nrows = strata_table_decompress(rel);

		if (nrows == 0 && !partitioned)
			ereport(if_compressed ? NOTICE : ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("table \"%s\" is not compressed",
							RelationGetRelationName(rel))));
		total += nrows;
		table_close(rel, NoLock);
	}
	if (total == 0 && !partitioned)
		PG_RETURN_NULL();
	PG_RETURN_OID(relid);
}
