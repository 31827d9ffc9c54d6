/*-------------------------------------------------------------------------
 *
 * job_compress.c
 *	  A table compressed, or taken back, as its owner: what compress_chunk()
 *	  and the policies have in common.
 *
 * Sizes of before are kept as options of the companion, and VACUUM follows.
 *
 * src/job/job_compress.c
 *-------------------------------------------------------------------------
 */
#include "job/job.h"

#include "am/am.h"
#include "base/base.h"
#include "store/store_companion.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "commands/tablecmds.h"
#include "nodes/makefuncs.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/syscache.h"

/*
 * Sizes of R before compression, kept as options of its companion with the
 * number of rows they are of.
 */
typedef struct BeforeSize
{
	int64		table;
	int64		index;
	int64		toast;
} BeforeSize;

static const char *const before_names[] = {"before_table", "before_index",
"before_toast", "before_rows"};

static int64
call_size_function(PGFunction function, Oid relid)
{
	return DatumGetInt64(DirectFunctionCall1(function,
											 ObjectIdGetDatum(relid)));
}

static void
measure(Relation rel, BeforeSize *size)
{
	Oid			relid = RelationGetRelid(rel);
	Oid			toast = rel->rd_rel->reltoastrelid;

	size->table = call_size_function(pg_table_size, relid);
	size->index = call_size_function(pg_indexes_size, relid);
	size->toast = OidIsValid(toast) ?
		call_size_function(pg_total_relation_size, toast) :
		0;
	size->table -= size->toast;
}

static int64
size_before_compression(Oid companion, const char *name)
{
	char	   *text = strata_settings_get_text(companion, name);

	return text != NULL ? strtoll(text, NULL, 10) : 0;
}

static DefElem *
size_option(const char *name, int64 value)
{
	return makeDefElem(pstrdup(name),
					   (Node *) makeString(psprintf(INT64_FORMAT, value)), -1);
}

/* Add the share of `before` that the rows had which left the row store. */
static void
remember_size(Oid companion, const BeforeSize *before,
			  const StrataCompressResult *result)
{
	double		share = (double) result->nmoved / Max(result->nmoved +
													  result->nskipped, 1);
	const int64 more[] = {(int64) (before->table * share),
		(int64) (before->index * share),
	(int64) (before->toast * share), result->nmoved};
	List	   *options = NIL;

	for (int i = 0; i < lengthof(before_names); i++)
		options =
			lappend(options,
					size_option(before_names[i],
								size_before_compression(companion,
														before_names[i]) +
								more[i]));
	strata_settings_store(companion, options, false);
}

/* See job.h. */
double
strata_table_size_as_rows(Relation rel, double rows)
{
	Oid			companion = strata_companion_oid(rel);
	double		bytes = 0;
	double		compressed;

	if (!OidIsValid(companion))
		return (double) call_size_function(pg_total_relation_size,
										   RelationGetRelid(rel));
	for (int i = 0; i < lengthof(before_names) - 1; i++)
		bytes += (double) size_before_compression(companion, before_names[i]);
	/* the last of the names is of a number of rows */
	compressed = (double) size_before_compression(companion, "before_rows");
	return compressed > 0 ? bytes / compressed * rows : 0;
}

static void
forget_size(Oid companion)
{
	List	   *options = NIL;

	for (int i = 0; i < lengthof(before_names); i++)
		options = lappend(options, size_option(before_names[i], 0));
	strata_settings_store(companion, options, true);
}

/*
 * Segments of a few rows compress badly, and the user can do something: said
 * once for a table, whatever the number of its chunks that a statement
 * compresses.
 */
static void
warn_small_segments(Relation rel, const StrataCompressResult *result)
{
	static Oid	warned_table = InvalidOid;
	static TimestampTz warned_at;
	StrataLayout *layout = strata_store_current_layout(rel);
	Oid			table = strata_partition_root(RelationGetRelid(rel));
	TimestampTz statement = GetCurrentStatementStartTimestamp();
	char	   *name;

	if (result->incremental || layout->nsegment == 0 ||
		result->nbatches < 10 || result->nrows / result->nbatches >= 100 ||
		strata_batch_rows < 100 ||
		(warned_table == table && warned_at == statement))
		return;
	warned_table = table;
	warned_at = statement;
	name = DatumGetCString(DirectFunctionCall1(regclassout,
											   ObjectIdGetDatum(table)));
	ereport(WARNING,
			(errmsg("segments of table \"%s\" have %lld rows on average",
					RelationGetRelationName(rel),
					(long long) (result->nrows / result->nbatches)),
			 errdetail("Batches this small compress badly."),
			 errhint("SELECT * FROM advise_compression(%s); shows better ones; then ALTER TABLE %s SET (strata.segmentby = '...'); SELECT compress_chunk(%s, recompress => true);",
					 quote_literal_cstr(name), name,
					 quote_literal_cstr(name))));
}

/* What came of it, in rows and bytes. */
static void
report(Relation rel, const StrataCompressResult *result)
{
	Oid			companion = strata_companion_oid(rel);
	int64		before = 0;
	int64		after = call_size_function(pg_total_relation_size, companion);
	char	   *kept = result->nskipped == 0 ? "" :
	psprintf(_(" %lld rows stay in the row store."),
			 (long long) result->nskipped);
	char	   *size_before;
	char	   *size_after;

	/* the last of the names is of a number of rows */
	for (int i = 0; i < lengthof(before_names) - 1; i++)
		before += size_before_compression(companion, before_names[i]);
	size_before = TextDatumGetCString(DirectFunctionCall1(pg_size_pretty,
														  Int64GetDatum(before)));
	size_after = TextDatumGetCString(DirectFunctionCall1(pg_size_pretty,
														 Int64GetDatum(after)));
	ereport(NOTICE,
			(errmsg("%lld rows of table \"%s\" compressed into %lld batches",
					(long long) result->nrows, RelationGetRelationName(rel),
					(long long) result->nbatches),
			 errdetail("Compressed rows took %s, and take %s now.%s",
					   size_before, size_after, kept),
			 strata_background_vacuum &&
			 rel->rd_rel->relpersistence != RELPERSISTENCE_TEMP ? 0 :
			 errhint("VACUUM %s; REINDEX TABLE %s; gives back their space.",
					 strata_sql_name(RelationGetRelid(rel)),
					 strata_sql_name(RelationGetRelid(rel)))));
}

/* See job.h. */
bool
strata_table_is_heap(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	bool		result;

	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_class) GETSTRUCT(tuple))->relkind == RELKIND_RELATION &&
		((Form_pg_class) GETSTRUCT(tuple))->relam == HEAP_TABLE_AM_OID;
	ReleaseSysCache(tuple);
	return result;
}

/* See job.h. */
bool
strata_table_adopt_heap(Oid relid)
{
	Relation	rel = try_table_open(relid, AccessExclusiveLock);
	bool		is_heap = rel != NULL && strata_table_is_heap(relid);

	if (is_heap)
	{
		CheckTableNotInUse(rel, "convert");
		strata_am_adopt_heap(rel);
	}
	if (rel != NULL)
		table_close(rel, NoLock);
	return is_heap;
}

/* Has the table values that are not in its rows? */
static bool
has_toasted(Relation rel)
{
	Relation	toast;
	bool		result;

	if (!OidIsValid(rel->rd_rel->reltoastrelid))
		return false;
	toast = table_open(rel->rd_rel->reltoastrelid, AccessShareLock);
	result = RelationGetNumberOfBlocks(toast) > 0;
	table_close(toast, AccessShareLock);
	return result;
}

/* See job.h. */
bool
strata_table_is_too_small(Relation rel)
{
	return !OidIsValid(strata_companion_oid(rel)) &&
		RelationGetNumberOfBlocks(rel) <= 1 && !has_toasted(rel);
}

/* As strata_table_compress; *result: what was done. */
static bool
compress_and_say(Relation rel, bool recompress, bool say,
				 StrataCompressResult *result)
{
	BeforeSize	before;
	StrataOwnerContext saved;

	measure(rel, &before);
	strata_owner_enter(rel->rd_rel->relowner, &saved);
	Assert(GetUserId() == rel->rd_rel->relowner &&
		   InSecurityRestrictedOperation());	/* job:J2 */
	strata_store_compress(rel, recompress, result);
	strata_owner_leave(&saved);
	if (result->nmoved > 0)
		remember_size(strata_companion_oid(rel), &before, result);
	if (result->nrows > 0 || result->waiting)
		strata_space_reclaim_later(rel, recompress || result->waiting);
	warn_small_segments(rel, result);
	if (say && strata_report_compression && result->nrows > 0)
		report(rel, result);
	return result->nrows > 0 || result->waiting;
}

/* See job.h. */
bool
strata_table_compress(Relation rel, bool recompress, bool say)
{
	StrataCompressResult result;

	return compress_and_say(rel, recompress, say, &result);
}

/* See job.h. */
void
strata_table_compress_chunk(Relation rel, bool if_not_compressed,
							bool recompress)
{
	StrataCompressResult result;

	CheckTableNotInUse(rel, "compress_chunk");
	strata_store_can_compress(rel, "");
	if (strata_table_is_too_small(rel) && !strata_torture)
	{
		ereport(NOTICE,
				(errmsg("table \"%s\" has too few rows to be worth compressing",
						RelationGetRelationName(rel))));
		return;
	}
	if (compress_and_say(rel, recompress, true, &result))
		return;
	if (result.nskipped > 0)
		ereport(NOTICE,
				(errmsg("%lld rows of table \"%s\" stay in the row store",
						(long long) result.nskipped,
						RelationGetRelationName(rel)),
				 errdetail("They have values of over 64 MB, or keys that are too long, and nothing else is there to compress.")));
	else if (!recompress)
		ereport(if_not_compressed ? NOTICE : ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("table \"%s\" is already compressed",
						RelationGetRelationName(rel))));
}

/* See job.h. */
int64
strata_table_decompress(Relation rel)
{
	StrataOwnerContext saved;
	int64		nrows;

	CheckTableNotInUse(rel, "decompress_chunk");
	strata_owner_enter(rel->rd_rel->relowner, &saved);
	Assert(GetUserId() == rel->rd_rel->relowner &&
		   InSecurityRestrictedOperation());	/* job:J2 */
	nrows = strata_store_decompress(rel);
	strata_owner_leave(&saved);
	if (nrows > 0)
	{
		forget_size(strata_companion_oid(rel));
		strata_space_reclaim_later(rel, true);
	}
	return nrows;
}
