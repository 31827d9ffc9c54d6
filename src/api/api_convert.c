/*-------------------------------------------------------------------------
 *
 * api_convert.c
 *	  The way in: convert(), a table becomes a compressed hypertable beside its
 *	  readers and writers.
 *
 * In steps, each a transaction of its own: the table is told that it is a
 * hypertable; each heap partition is told that it uses strata, which is a
 * change of the catalog and moves no row (am/am_ddl.c); each partition whose
 * time is over is compressed, as compress_chunk() does.  The first two take
 * ACCESS EXCLUSIVE for the moment of that change, and give up and try again
 * when it is not to be had at once.  What is done is read from the catalog, so
 * a call that ended early is gone on with by the next.
 *
 * A table of heap becomes the first chunk of itself, with its file where it is
 * (hypertable/hypertable_heir.c); that its time is not null is found out
 * before, beside readers and writers.  Then that chunk is divided
 * (api_convert_divide.c).
 *
 * Over 600 lines: one procedure, step by step.
 *
 * src/api/api_convert.c
 *-------------------------------------------------------------------------
 */
#include "api/api_convert_private.h"
#include "api/api_private.h"
#include "catalog/catalog.h"
#include "compress/compress.h"
#include "hypertable/hypertable.h"
#include "job/job.h"
#include "store/store.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/tablecmds.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include <math.h>

/* Until the time is over of a chunk that ends at the next second (ms). */
#define AFTER_BOUND 1100

/* Encoding, and all else that compression does, by the time of the sample. */
#define COMPRESS_TIME_FACTOR 2

PG_FUNCTION_INFO_V1(strata_convert);

/*
 * See api_convert_private.h.  Ownership first, then the lock; ereports when
 * that takes too long.  NoLock: the caller locks.
 */
void
strata_convert_lock(const StrataConvert *convert, Oid relid, LOCKMODE lockmode)
{
	if (!strata_table_ownercheck(relid, convert->user))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
	(void) set_config_option("lock_timeout",
							 psprintf("%d", convert->lock_timeout),
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	if (lockmode != NoLock)
		LockRelationOid(relid, lockmode);
	Assert(strata_table_ownercheck(relid, convert->user));	/* api:P1 */
}

/*
 * See api_convert_private.h.  One step, and its COMMIT; again when a lock was
 * not to be had.  false: it failed.
 */
bool
strata_convert_step(StrataRun *run, Oid relid, StrataRunWork work,
					StrataConvert *convert)
{
	for (int tries = 1;; tries++)
	{
		StrataRun	before = *run;
		bool		again;

		convert->locked_at = 0;
		strata_run_table(run, relid, work, convert);
		again = run->failed > before.failed && !run->atomic &&
			run->code == ERRCODE_LOCK_NOT_AVAILABLE && tries < LOCK_TRIES;
		strata_run_pause(run, again ? LOCK_PAUSE : convert->pause,
						 convert->locked_at == 0 ? NULL : &convert->longest,
						 convert->locked_at);
		if (!again)
			return run->failed == before.failed;
		*run = before;
		ereport(NOTICE,
				(errmsg("table \"%s\" was not to be locked within %d ms, trying again",
						get_rel_name(relid), convert->lock_timeout)));
	}
}

/* The column that a partitioned table goes by. */
static char *
key_column(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	PartitionKey key = RelationGetPartitionKey(rel);
	char	   *column;

	if (key->partnatts != 1 || key->partattrs[0] == 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot create a hypertable from partitioned table \"%s\"",
						RelationGetRelationName(rel)),
				 errdetail("Its partition key is not a range of one column alone.")));
	column = get_attname(relid, key->partattrs[0], false);
	table_close(rel, NoLock);
	return column;
}

/* New chunks are as long as the latest partition was, unless told otherwise. */
static void
follow_partitions(Oid relid)
{
	StrataHypertable *ht = strata_hypertable_get(relid);
	ListCell   *lc;
	int64		length = 0;

	foreach(lc, strata_chunk_list(ht))
	{
		StrataChunk *chunk = lfirst(lc);

		if (!chunk->range.no_lo && !chunk->range.no_hi)
			length = strata_time_interval_between(ht->key_type,
												  chunk->range.lo,
												  chunk->range.hi);
	}
	if (length != 0)
		strata_settings_store(relid,
							  list_make1(makeDefElem(pstrdup("chunk_interval"),
													 (Node *) makeString(strata_time_interval_to_text(ht->key_type,
																									  length)),
													 -1)),
							  false);
}

/*-------------------------------------------------------------------------
 * A table of heap: what it needs before it can be the first chunk
 *-------------------------------------------------------------------------
 */

#define NOT_NULL_CHECK STRATA_NOT_NULL_CHECK

/* Is the check there?  *valid: is it known of all rows? */
static bool
find_not_null_check(Oid relid, bool *valid)
{
	Oid			check = get_relation_constraint_oid(relid, NOT_NULL_CHECK,
													true);
	HeapTuple	tuple;

	*valid = false;
	if (!OidIsValid(check))
		return false;
	tuple = SearchSysCache1(CONSTROID, ObjectIdGetDatum(check));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for constraint %u", check);
	*valid = ((Form_pg_constraint) GETSTRUCT(tuple))->convalidated;
	ReleaseSysCache(tuple);
	return true;
}

/* What is missing is said before anything is locked for long. */
static void
look_at_plain(Oid relid, void *arg)
{
	StrataConvert *convert = arg;
	bool		valid;

	strata_convert_lock(convert, relid, AccessShareLock);
	if (get_rel_relkind(relid) != RELKIND_RELATION)
		return;
	convert->needs_check =
		!strata_hypertable_check_in_place(relid, convert->column);
	if (convert->interval != NULL)
		(void) strata_time_interval_from_text(getBaseType(get_atttype(relid,
																	  get_attnum(relid,
																				 convert->column))),
											  convert->interval);
	convert->has_check = find_not_null_check(relid, &valid);
	convert->check_valid = valid;
}

/* No more nulls come in. */
static void
add_not_null_check(Oid relid, void *arg)
{
	StrataConvert *convert = arg;

	strata_convert_lock(convert, relid, AccessExclusiveLock);
	convert->locked_at = GetCurrentTimestamp();
	strata_sql_run(psprintf("ALTER TABLE %s ADD CONSTRAINT " NOT_NULL_CHECK
							" CHECK (%s IS NOT NULL) NOT VALID",
							strata_sql_name(relid),
							quote_identifier(convert->column)));
}

/* Reads the table, under a lock that neither readers nor writers notice. */
static void
validate_not_null_check(Oid relid, void *arg)
{
	strata_convert_lock(arg, relid, ShareUpdateExclusiveLock);
	strata_sql_run(psprintf("ALTER TABLE %s VALIDATE CONSTRAINT "
							NOT_NULL_CHECK,
							strata_sql_name(relid)));
}

/* The column says what the check has said, without another look at the rows. */
static void
exchange_not_null_check(Oid relid, const char *column)
{
	bool		valid;

	if (!find_not_null_check(relid, &valid))
		return;
	strata_sql_run(psprintf("ALTER TABLE %s ALTER COLUMN %s SET NOT NULL",
							strata_sql_name(relid),
							quote_identifier(column)));
	strata_sql_run(psprintf("ALTER TABLE %s DROP CONSTRAINT " NOT_NULL_CHECK,
							strata_sql_name(relid)));
}

/* A time as the session writes it. */
static char *
time_text(const StrataHypertable *ht, int64 time)
{
	Oid			output;
	bool		varlena;

	getTypeOutputInfo(ht->key_type, &output, &varlena);
	return OidOutputFunctionCall(output,
								 strata_time_to_datum(ht->key_type, time));
}

/* The table becomes a hypertable, its file that of the first chunk. */
static void
take_plain(Oid relid, void *arg)
{
	StrataConvert *convert = arg;
	StrataHypertableRequest request = {.column = convert->column,
		.interval_text = convert->interval,
	.in_place = true};
	StrataHypertable *ht;
	StrataChunk *chunk;

	strata_convert_lock(convert, relid, NoLock);
	/* with the tables at the other end of foreign keys */
	strata_chunk_lock(relid, AccessExclusiveLock);
	convert->locked_at = GetCurrentTimestamp();
	if (get_rel_relkind(relid) != RELKIND_RELATION)
		return;
	exchange_not_null_check(relid, convert->column);
	strata_hypertable_create(relid, &request);
	CommandCounterIncrement();
	ht = strata_hypertable_get(relid);
	chunk = linitial(strata_chunk_list(ht));
	convert->first = chunk->relid;
	/* UUIDs of one time are many, and no list of times finds them */
	if (ht->key_type != UUIDOID)
		strata_divide_register(chunk->relid);
	ereport(NOTICE,
			(errmsg("the rows of \"%s\" are its first chunk, \"%s\", of all times before %s",
					get_rel_name(relid), get_rel_name(chunk->relid),
					time_text(ht, chunk->range.hi)),
			 ht->key_type != UUIDOID ? 0 :
			 errhint("It is not divided, since its time is a UUID; CALL split_chunk('%s', timestamptz '...'); cuts it in two.",
					 strata_sql_name(chunk->relid))));
}

/* All steps of a heap table; false: one failed. */
static bool
convert_plain(StrataRun *run, StrataConvert *convert)
{
	if (run->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("convert() of a table that is not partitioned cannot run inside a transaction block"),
				 errhint("Call it on its own; dry_run says what it would do.")));
	if (!strata_convert_step(run, convert->root, look_at_plain, convert))
		return false;
	ereport(NOTICE,
			(errmsg("table \"%s\" is locked (ACCESS EXCLUSIVE) for changes of the catalog",
					get_rel_name(convert->root)),
			 errdetail("Each lock is waited for for %d ms and asked for up to %d times.",
					   convert->lock_timeout, LOCK_TRIES)));
	if (convert->needs_check && !convert->has_check &&
		!strata_convert_step(run, convert->root, add_not_null_check, convert))
		return false;
	if (convert->needs_check && !convert->check_valid &&
		!strata_convert_step(run, convert->root, validate_not_null_check,
							 convert))
		return false;
	if (!strata_convert_step(run, convert->root, take_plain, convert))
		return false;
	/* its time ends within a second */
	strata_run_pause(run, AFTER_BOUND, NULL, 0);
	return true;
}

/* The table becomes a hypertable, if it is none, with options as given. */
static void
register_root(Oid relid, void *arg)
{
	StrataConvert *convert = arg;
	StrataHypertableRequest request = {.column = convert->column,
		.interval_text = convert->interval,
	.default_indexes = true};

	if (strata_hypertable_is(relid) && convert->column != NULL &&
		strcmp(convert->column, key_column(relid)) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is not the time column of hypertable \"%s\"",
						convert->column, get_rel_name(relid))));
	/* no lock is worth waiting for when there is nothing to do */
	if (strata_hypertable_is(relid) && convert->segmentby == NULL &&
		convert->orderby == NULL)
		return;
	strata_convert_lock(convert, relid, AccessExclusiveLock);
	convert->locked_at = GetCurrentTimestamp();
	if (!strata_hypertable_is(relid))
	{
		if (request.column == NULL)
			request.column = key_column(relid);
		strata_hypertable_create(relid, &request);
		CommandCounterIncrement();
		if (convert->interval == NULL)
			follow_partitions(relid);
	}
	if (convert->segmentby != NULL)
		strata_sql_run(psprintf("ALTER TABLE %s SET (strata.segmentby = %s)",
								strata_sql_name(relid),
								quote_literal_cstr(convert->segmentby)));
	if (convert->orderby != NULL)
		strata_sql_run(psprintf("ALTER TABLE %s SET (strata.orderby = %s)",
								strata_sql_name(relid),
								quote_literal_cstr(convert->orderby)));
}

/*
 * Is a chunk's time over?  Of integer time nobody may have said what it is:
 * then that of all chunks but the last is.
 */
static bool
is_ended(const StrataHypertable *ht, const StrataChunk *chunk, bool last)
{
	if (strata_time_type_is_integer(ht->key_type) &&
		strata_settings_get_text(ht->relid, "integer_now_func") == NULL)
		return !last;
	return !chunk->range.no_hi && chunk->range.hi <= strata_hypertable_now(ht);
}

/* What there is to do, oldest first.  It works in the transaction of the run. */
static void
find_work(Oid relid, void *arg)
{
	StrataConvert *convert = arg;
	StrataHypertable *ht = strata_hypertable_get(relid);
	List	   *chunks = ht != NULL ? strata_chunk_list(ht) : NIL;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, chunks)
	{
		StrataChunk *chunk = lfirst(lc);
		bool		ended = is_ended(ht, chunk, lnext(chunks, lc) == NULL);

		/* of integers its bound is behind the last row: what follows is new */
		if (chunk->relid == convert->first &&
			strata_time_type_is_integer(ht->key_type))
			ended = true;

		foreach(lc2, find_all_inheritors(chunk->relid, NoLock, NULL))
		{
			Oid			leaf = lfirst_oid(lc2);

			if (get_rel_relkind(leaf) != RELKIND_RELATION)
				continue;
			if (strata_table_is_heap(leaf))
				convert->heaps = lappend_oid(convert->heaps, leaf);
			if (convert->compress ? strata_divide_is(leaf) :
				strata_divide_has_begun(leaf))
				convert->divided = lappend_oid(convert->divided, leaf);
			else if (ended && convert->compress)
				convert->ended = lappend_oid(convert->ended, leaf);
		}
	}
}

/* A heap uses strata from now on. */
static void
adopt_leaf(Oid relid, void *arg)
{
	StrataConvert *convert = arg;

	strata_convert_lock(convert, relid, AccessExclusiveLock);
	convert->locked_at = GetCurrentTimestamp();
	(void) strata_table_adopt_heap(relid);
}

static void
compress_leaf(Oid relid, void *arg)
{
	Relation	rel;

	strata_convert_lock(arg, relid, ExclusiveLock);
	rel = try_table_open(relid, NoLock);
	if (rel == NULL)
		return;
	if (strata_relation_is_strata(rel) && !strata_table_is_too_small(rel) &&
		RelationGetNumberOfBlocks(rel) > 0)
	{
		CheckTableNotInUse(rel, "convert");
		Assert(CheckRelationLockedByMe(rel, ExclusiveLock, true));	/* api:P1 */
		(void) strata_table_compress(rel, false, true);
	}
	table_close(rel, NoLock);
}

/* A table's or partition's share of what convert() would do. */
typedef struct Forecast
{
	int			tables;
	int			heaps;
	double		rows;
	double		before;
	double		after;
	double		seconds;
} Forecast;

/* A partition's share of the forecast. */
static void
forecast_leaf(Oid relid, const StrataConvert *convert, Forecast *forecast)
{
	Relation	rel = try_table_open(relid, AccessShareLock);
	StrataSettings *settings;
	StrataLayout *layout;
	StrataEstimate estimate;

	if (rel == NULL)
		return;
	forecast->tables++;
	forecast->heaps += strata_table_is_heap(relid);
	if (RelationGetNumberOfBlocks(rel) > 0)
	{
		settings = strata_settings_get(rel);
		layout = strata_store_layout_of(rel,
										strata_settings_with(rel,
															 convert->segmentby,
															 convert->orderby));
		strata_store_estimate(rel, layout, settings->codec_level,
							  settings->codecs, false, &estimate);
		forecast->rows += estimate.rows;
		forecast->before += strata_table_size_as_rows(rel, estimate.rows);
		forecast->after += estimate.disk_bytes;
		forecast->seconds += estimate.seconds * COMPRESS_TIME_FACTOR;
	}
	table_close(rel, AccessShareLock);
}

static char *
size_text(double bytes)
{
	return TextDatumGetCString(DirectFunctionCall1(pg_size_pretty,
												   Int64GetDatum((int64) bytes)));
}

/* Is the time that was named a UUID?  Such a first chunk is not divided. */
static bool
is_uuid_time(Oid relid, const StrataConvert *convert)
{
	AttrNumber	attno = convert->column != NULL ?
	get_attnum(relid, convert->column) : InvalidAttrNumber;

	return attno != InvalidAttrNumber &&
		getBaseType(get_atttype(relid, attno)) == UUIDOID;
}

/* dry_run: from a sample of each partition; nothing is changed. */
static void
forecast_all(Oid relid, void *arg)
{
	const StrataConvert *convert = arg;
	Forecast	forecast = {0};
	ListCell   *lc;

	foreach(lc, find_all_inheritors(relid, AccessShareLock, NULL))
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_RELATION)
			forecast_leaf(lfirst_oid(lc), convert, &forecast);
	}
	ereport(NOTICE,
			(convert->plain ?
			 errmsg(is_uuid_time(relid, convert) ?
					"nothing is changed: the rows of \"%s\" would become its first chunk, where they are, and stay one chunk, since their time is a UUID" :
					"nothing is changed: the rows of \"%s\" would become its first chunk, where they are, and that would become chunks of the interval",
					get_rel_name(relid)) :
			 errmsg("nothing is changed: %d of %d partitions of \"%s\" are heaps and would be converted",
					forecast.heaps, forecast.tables, get_rel_name(relid)),
			 errdetail("About %.0f rows take %s, and would take %s compressed; that would take %.0f s.",
					   forecast.rows, size_text(forecast.before),
					   size_text(forecast.after), ceil(forecast.seconds))));
}

static char *
text_argument(FunctionCallInfo fcinfo, int number)
{
	return PG_ARGISNULL(number) ? NULL :
		text_to_cstring(PG_GETARG_TEXT_PP(number));
}

/* An interval as milliseconds. */
static int
milliseconds(FunctionCallInfo fcinfo, int number, const char *name, int least)
{
	Interval   *interval;

	strata_api_require_argument(fcinfo, number, name);
	interval = PG_GETARG_INTERVAL_P(number);
	if (interval->month != 0 || interval->day != 0 ||
		interval->time < least * INT64CONST(1000) ||
		interval->time > USECS_PER_DAY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" must be between %d ms and 24 hours", name,
						least)));
	return (int) (interval->time / 1000);
}

/* ereport when the relation cannot be converted by this user. */
static void
check_root(const StrataConvert *convert)
{
	char	   *name = strata_owned_relation_name(convert->root);

	if ((get_rel_relkind(convert->root) == RELKIND_PARTITIONED_TABLE ||
		 strata_table_is_heap(convert->root)) &&
		!get_rel_relispartition(convert->root))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" is not a partitioned table, and no table of heap", name),
			 get_rel_relispartition(convert->root) ?
			 errhint("Convert the table that it is a partition of.") :
			 errhint("SELECT create_hypertable('%s', 'time column', migrate_data => true); moves the rows of a table into chunks.",
					 strata_sql_name(convert->root))));
}

/* The steps; what fails for one partition leaves the others their turn. */
static void
convert_all(StrataRun *run, StrataConvert *convert)
{
	ListCell   *lc;

	if (convert->plain && !convert_plain(run, convert))
		return;
	if (!convert->plain)
		ereport(NOTICE,
				(errmsg("table \"%s\" and each heap partition are locked (ACCESS EXCLUSIVE) for a change of the catalog",
						get_rel_name(convert->root)),
				 errdetail("Each lock is waited for for %d ms and asked for up to %d times.",
						   convert->lock_timeout, LOCK_TRIES)));
	if (!strata_convert_step(run, convert->root, register_root, convert))
		return;
	strata_run_table(run, convert->root, find_work, convert);
	run->done = 0;
	foreach(lc, convert->heaps)
		(void) strata_convert_step(run, lfirst_oid(lc), adopt_leaf, convert);
	ereport(NOTICE,
			convert->plain ?
			(errmsg("table \"%s\" is a hypertable now",
					get_rel_name(convert->root)),
			 errdetail("The longest lock was held for %.1f ms.",
					   (double) convert->longest / 1000)) :
			(errmsg("%d of %d heap partitions of \"%s\" use strata now",
					run->done, list_length(convert->heaps),
					get_rel_name(convert->root)),
			 errdetail("The longest lock was held for %.1f ms.",
					   (double) convert->longest / 1000)));
	foreach(lc, convert->ended)
		(void) strata_convert_step(run, lfirst_oid(lc), compress_leaf,
								   convert);
	foreach(lc, convert->divided)
	{
		if (convert->compress)
			(void) strata_convert_divide(run, convert, lfirst_oid(lc));
		else
			(void) strata_convert_step(run, lfirst_oid(lc),
									   strata_convert_leave_whole, convert);
	}
}

/*
 * convert(relation, time_column, chunk_time_interval, segmentby, orderby,
 *		compress, lock_timeout, pause, dry_run)
 */
Datum
strata_convert(PG_FUNCTION_ARGS)
{
	StrataConvert convert = {.user = GetUserId()};
	StrataRun	run;

	strata_api_require_argument(fcinfo, 0, "relation");
	PreventCommandIfReadOnly("convert()");
	PreventCommandIfParallelMode("convert()");
	convert.root = PG_GETARG_OID(0);
	check_root(&convert);
	strata_run_begin(&run, fcinfo, false);
	convert.column = PG_ARGISNULL(1) ? NULL :
		pstrdup(NameStr(*PG_GETARG_NAME(1)));
	convert.interval = text_argument(fcinfo, 2);
	convert.segmentby = text_argument(fcinfo, 3);
	convert.orderby = text_argument(fcinfo, 4);
	convert.compress = PG_ARGISNULL(5) || PG_GETARG_BOOL(5);
	convert.lock_timeout = milliseconds(fcinfo, 6, "lock_timeout", 1);
	convert.pause = milliseconds(fcinfo, 7, "pause", 0);
	convert.dry_run = !PG_ARGISNULL(8) && PG_GETARG_BOOL(8);
	convert.plain = get_rel_relkind(convert.root) == RELKIND_RELATION;
	if (convert.plain && convert.column == NULL && !convert.dry_run)
		strata_api_require_argument(fcinfo, 1, "time_column");
	if (convert.dry_run)
		strata_run_table(&run, convert.root, forecast_all, &convert);
	else
		convert_all(&run, &convert);
	strata_run_end(&run, "converted");
	PG_RETURN_VOID();
}
