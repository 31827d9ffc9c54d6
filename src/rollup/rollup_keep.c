/*-------------------------------------------------------------------------
 *
 * rollup_keep.c
 *	  Rows go by retention; what was made of them stays in the archives.
 *
 * Buckets of a chunk that is about to be dropped become kept: their rows in
 * the archive are made of rows that are gone, and of no others.  Where the
 * chunk has all rows of a bucket these are the archive's rows as a refresh
 * would leave them.  A bucket that reaches into the next chunk has what the
 * chunk's rows make; one that is kept already, what is there and what the
 * chunk's late rows make, combined.
 *
 * A kept bucket is never covered, nor refreshed: rows that there still are,
 * or that come late, are aggregated when the view is read (rollup_past.c).
 *
 * Over 600 lines: keeping, and what a new tier takes over, combine partials in
 * the same way.
 *
 * src/rollup/rollup_keep.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"
#include "rollup/rollup_reach_private.h"

#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"

/*-------------------------------------------------------------------------
 * What is kept
 *-------------------------------------------------------------------------
 */

static void
collect_kept(int64 lo, int64 hi, void *arg)
{
	strata_ranges_add(arg, strata_range(lo, hi));
}

/* See rollup_private.h. */
void
strata_rollup_kept(Oid view, Snapshot snapshot, StrataRanges *kept)
{
	memset(kept, 0, sizeof(*kept));
	strata_cover_kept_visit(view, snapshot, collect_kept, kept);
}

/* See rollup_private.h. */
char *
strata_rollup_ranges_text(const StrataRanges *ranges)
{
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < ranges->n; i++)
		appendStringInfo(&text, "%s" INT64_FORMAT ".." INT64_FORMAT,
						 i > 0 ? " " : "", ranges->r[i].lo, ranges->r[i].hi);
	return text.data;
}

/* See rollup_private.h. */
void
strata_rollup_read_ranges(const char *option, const char *text,
						  StrataRanges *ranges)
{
	char	   *copy = pstrdup(text);
	char	   *rest = NULL;

	memset(ranges, 0, sizeof(*ranges));
	for (char *word = strtok_r(copy, " ", &rest); word != NULL;
		 word = strtok_r(NULL, " ", &rest))
	{
		char	   *end;
		int64		lo;
		int64		hi;

		errno = 0;
		lo = strtoll(word, &end, 10);
		hi = end > word && strncmp(end, "..", 2) == 0 ?
			strtoll(end + 2, &end, 10) : lo;
		if (errno != 0 || *end != '\0' || lo >= hi)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid value of option \"%s\": \"%s\"",
							option, text)));
		strata_ranges_add(ranges, strata_range(lo, hi));
	}
}

/* See rollup_private.h. */
void
strata_rollup_restore_kept(Oid view, const char *text)
{
	StrataRanges kept;

	strata_rollup_read_ranges(STRATA_ROLLUP_OPTION_KEPT, text, &kept);
	for (int i = 0; i < kept.n; i++)
		strata_cover_kept_add(view, kept.r[i].lo, kept.r[i].hi);
}

/* See rollup_private.h. */
void
strata_rollup_lost(Oid view, StrataRanges *lost)
{
	const char *text = strata_settings_get_text(view,
												STRATA_ROLLUP_OPTION_LOST);

	strata_rollup_read_ranges(STRATA_ROLLUP_OPTION_LOST, text == NULL ? "" : text, lost);
}

/* Store ranges as an option of the view. */
static void
put_option(Oid view, const char *name, const StrataRanges *ranges)
{
	DefElem    *option;

	option = makeDefElem(pstrdup(name),
						 (Node *) makeString(strata_rollup_ranges_text(ranges)),
						 -1);
	LockRelationOid(view, ShareUpdateExclusiveLock);
	strata_settings_store(view, list_make1(option), false);
}

/* Write down what is kept from now on. */
static void
put_kept(Oid view, const StrataRanges *kept)
{
	strata_cover_kept_forget(view);
	for (int i = 0; i < kept->n; i++)
		strata_cover_kept_add(view, kept->r[i].lo, kept->r[i].hi);
	put_option(view, STRATA_ROLLUP_OPTION_KEPT, kept);
}

/*-------------------------------------------------------------------------
 * What can be kept
 *-------------------------------------------------------------------------
 */

/* See rollup.h. */
const char *
strata_rollup_keeps_not(Oid source, Oid *view)
{
	List	   *views = strata_rollups_of_source(source);
	ListCell   *lc;

	if (views == NIL)
		return NULL;
	*view = linitial_oid(views);
	if (OidIsValid(strata_rollup_of_archive(source)))
		return _("it is an archive itself");
	foreach(lc, views)
	{
		StrataRollup *rollup = strata_rollup_open(lfirst_oid(lc), true);
		ListCell   *column;

		if (rollup == NULL)
			continue;
		*view = rollup->view;
		if (!strata_rollup_is_fit(rollup, false))
			return psprintf(_("the table of \"%s\" has row security by now, or functions are not immutable any more"),
							get_rel_name(rollup->view));
		foreach(column, rollup->columns)
		{
			StrataRollupColumn *partial = lfirst(column);

			if (partial->kind == STRATA_ROLLUP_PARTIAL &&
				!OidIsValid(partial->combine))
				return psprintf(_("\"%s\" has an aggregate that cannot be combined: %s"),
								get_rel_name(rollup->view),
								get_func_name(castNode(Aggref,
													   partial->expr)->aggfnoid));
		}
	}
	return NULL;
}

/*-------------------------------------------------------------------------
 * Keeping
 *-------------------------------------------------------------------------
 */

/*
 * Columns of an archive after the first, partials combined; others also to the
 * groups.
 */
static void
append_combined(StringInfo sql, const StrataRollup *rollup, StringInfo groups)
{
	ListCell   *lc;

	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);
		const char *name = pstrdup(quote_identifier(column->name));

		if (column->kind == STRATA_ROLLUP_BUCKET)
			continue;
		if (column->kind != STRATA_ROLLUP_PARTIAL)
		{
			appendStringInfo(sql, ", %s", name);
			if (groups != NULL)
				appendStringInfo(groups, ", %s", name);
			continue;
		}
		appendStringInfo(sql, ", CAST(%s AS %s)",
						 strata_rollup_combine_text(rollup, column),
						 format_type_extended(column->type, column->typmod,
											  FORMAT_TYPE_TYPEMOD_GIVEN |
											  FORMAT_TYPE_FORCE_QUALIFY));
	}
}

/*
 * The query for what the archive should have of a range of buckets: what it
 * has there of kept ones, and what rows of some times make, combined.
 */
static char *
combined_text(const StrataRollup *rollup, StrataRange range,
			  const StrataRanges *kept, StrataRange rows)
{
	StringInfoData sql;
	StringInfoData groups;
	char	   *columns = strata_rollup_column_list(rollup);

	initStringInfo(&sql);
	initStringInfo(&groups);
	appendStringInfo(&sql, "SELECT %s", strata_rollup_bucket_name(rollup));
	appendStringInfoString(&groups, strata_rollup_bucket_name(rollup));
	append_combined(&sql, rollup, &groups);
	appendStringInfoString(&sql, " FROM (");
	for (int i = 0; i < kept->n; i++)
	{
		StrataRange part = strata_range(Max(kept->r[i].lo, range.lo),
										Min(kept->r[i].hi, range.hi));

		if (part.lo >= part.hi)
			continue;
		appendStringInfo(&sql, "SELECT %s FROM %s", columns,
						 strata_sql_name(rollup->archive));
		strata_rollup_append_quals(&sql, strata_rollup_bucket_name(rollup),
								   rollup->bucket.type, part);
		appendStringInfoString(&sql, " UNION ALL ");
	}
	appendStringInfo(&sql, "(%s)) strata_parts(%s) GROUP BY %s",
					 strata_rollup_partials_text(rollup, rows), columns,
					 groups.data);
	return sql.data;
}

/* Have the archive know what the chunk's rows make; all of it is locked. */
static void
write_kept(const StrataRollup *rollup, StrataRange chunk,
		   const StrataRanges *kept, const StrataRanges *whole,
		   const StrataRanges *others, Snapshot snapshot)
{
	StrataRollupCounts counts = {0};
	StrataRanges dirty;
	StrataRanges clean;

	strata_rollup_clean(rollup, snapshot, &clean);
	strata_ranges_copy(&dirty, whole);
	strata_ranges_remove(&dirty, &clean);
	for (int i = 0; i < dirty.n; i++)
		strata_rollup_write(rollup, dirty.r[i], snapshot, &counts);
	for (int i = 0; i < others->n; i++)
	{
		StrataRange range = others->r[i];
		StrataRange rows = strata_range(Max(range.lo, chunk.lo),
										Min(range.hi, chunk.hi));

		strata_rollup_write_wanted(rollup, range,
								   combined_text(rollup, range, kept, rows),
								   snapshot, &counts);
	}
}

/* The same as the rollup's owner, by nothing but rows. */
static void
write_as_owner(const StrataRollup *rollup, StrataRange chunk,
			   const StrataRanges *kept, const StrataRanges *whole,
			   const StrataRanges *others, Snapshot snapshot)
{
	StrataOwnerContext saved;

	strata_rollup_work_as_owner(rollup->view, &saved);
	strata_rollup_is_refreshing = true;
	PG_TRY();
	{
		write_kept(rollup, chunk, kept, whole, others, snapshot);
	}
	PG_FINALLY();
	{
		strata_rollup_is_refreshing = false;
	}
	PG_END_TRY();
	strata_owner_leave(&saved);
}

static void
refuse_to_keep(Oid source, const char *why, Oid view)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("cannot drop chunks of \"%s\", which has continuous aggregates",
					get_rel_name(source)),
			 errdetail("What is aggregated would go with the rows: %s.", why),
			 errhint("DROP MATERIALIZED VIEW %s;", strata_sql_name(view))));
}

static bool
has_ends(StrataRange range)
{
	return range.lo != PG_INT64_MIN && range.hi != PG_INT64_MAX;
}

/* Keep what a chunk's rows make in one rollup. */
static void
keep_chunk(Oid view, StrataRange chunk)
{
	StrataRollup *rollup = strata_rollup_open(view, false);
	Snapshot	snapshot;
	StrataRanges covered;
	StrataRanges after;
	StrataRanges kept;
	StrataRanges whole = {0};
	StrataRanges others = {0};
	StrataRange buckets;

	buckets = strata_rollup_bucket_outward(&rollup->bucket, chunk.lo,
										   chunk.hi - 1);
	Assert(has_ends(buckets));	/* rollup:Z2 */
	strata_rollup_lock_archive(rollup, buckets);
	snapshot = RegisterSnapshot(GetLatestSnapshot());
	PushActiveSnapshot(snapshot);
	strata_rollup_kept(view, snapshot, &kept);
	strata_ranges_add(&others, buckets);
	strata_ranges_add(&whole, strata_rollup_bucket_inward(&rollup->bucket,
														  chunk.lo, chunk.hi));
	strata_ranges_remove(&whole, &kept);
	strata_ranges_remove(&others, &whole);
	write_as_owner(rollup, chunk, &kept, &whole, &others, snapshot);
	PopActiveSnapshot();
	UnregisterSnapshot(snapshot);
	CommandCounterIncrement();
	/* others: cut by this chunk and by the next, or kept already */
	strata_ranges_keep(&others, &kept);
	if (others.n > 0)
		strata_rollup_row_lose(view, false);
	strata_rollup_covered(rollup, NULL, &covered);
	strata_ranges_copy(&after, &covered);
	strata_ranges_subtract(&after, buckets);
	Assert(!strata_ranges_contain(&after, buckets));	/* rollup:Z7 */
	strata_rollup_put_cover(view, &covered, &after);
	strata_ranges_add(&kept, buckets);
	Assert(strata_ranges_contain(&kept, buckets));	/* rollup:Z7 */
	put_kept(view, &kept);
	CommandCounterIncrement();
}

/* Does it have rows?  Whoever drops it has it locked. */
static bool
has_rows(Oid chunk)
{
	Relation	rel = table_open(chunk, NoLock);
	bool		found = true;

	if (RELKIND_HAS_TABLE_AM(rel->rd_rel->relkind))
	{
		Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
		TableScanDesc scan = table_beginscan(rel, snapshot, 0, NULL);
		TupleTableSlot *slot = table_slot_create(rel, NULL);

		found = table_scan_getnextslot(scan, ForwardScanDirection, slot);
		ExecDropSingleTupleTableSlot(slot);
		table_endscan(scan);
		UnregisterSnapshot(snapshot);
	}
	table_close(rel, NoLock);
	return found;
}

/*
 * Can all views keep what a chunk's rows make?  Not where times, or buckets,
 * have no end: such a chunk stays, which *stays says, unless it has no rows.
 */
static bool
can_keep(const List *views, Oid chunk, StrataRange *times, bool *stays)
{
	int64		lo = PG_INT64_MIN;
	int64		hi = PG_INT64_MAX;
	bool		good;
	ListCell   *lc;

	good = strata_chunk_times(chunk, &lo, &hi) &&
		lo != PG_INT64_MIN && hi != PG_INT64_MAX;
	foreach(lc, views)
	{
		StrataRollup *rollup;

		if (!good)
			break;
		rollup = strata_rollup_open(lfirst_oid(lc), false);
		good = has_ends(strata_rollup_bucket_outward(&rollup->bucket, lo, hi));
	}
	*times = good ? strata_range(lo, hi + 1) : strata_range(0, 0);
	*stays = !good && has_rows(chunk);
	return good;
}

static void
say_it_stays(Oid source, Oid chunk)
{
	char	   *name = strata_sql_name(chunk);

	ereport(WARNING,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("chunk %s is not dropped", name),
			 errdetail("\"%s\" has continuous aggregates, which cannot keep what is made of its rows: their times, or buckets of these, have no end.",
					   get_rel_name(source)),
			 errhint("DELETE its rows, or DROP TABLE %s; continuous aggregates go without them then.",
					 name)));
}

/* Queries of the table that ask for these times can be told. */
static void
note_gone(Oid source, const List *chunks)
{
	ListCell   *lc;

	foreach(lc, chunks)
	{
		int64		lo = PG_INT64_MIN;
		int64		hi = PG_INT64_MAX;

		/* one that is empty, and has no end, may be followed by others */
		if ((!strata_chunk_times(lfirst_oid(lc), &lo, &hi) ||
			 lo == PG_INT64_MIN || hi == PG_INT64_MAX) &&
			!has_rows(lfirst_oid(lc)))
			continue;
		strata_rollup_note_gone(source,
								strata_range(lo, hi == PG_INT64_MAX ? hi :
											 hi + 1));
	}
}

/*
 * Lock the views of a table, which is locked itself, and return them: without
 * those that somebody has dropped meanwhile.
 */
static List *
lock_views(Oid source)
{
	ListCell   *lc;

	foreach(lc, strata_rollups_of_source(source))
		LockRelationOid(lfirst_oid(lc), ShareUpdateExclusiveLock);
	return strata_rollups_of_source(source);
}

/* Lock what of archives may be written to, before whose turn it is is asked. */
static void
lock_archives(const List *views, const List *chunks)
{
	int64		from = PG_INT64_MAX;
	int64		to = PG_INT64_MIN;
	ListCell   *lc;

	foreach(lc, chunks)
	{
		int64		lo = PG_INT64_MIN;
		int64		hi = PG_INT64_MAX;

		(void) strata_chunk_times(lfirst_oid(lc), &lo, &hi);
		from = Min(from, lo);
		to = Max(to, hi);
	}
	foreach(lc, views)
	{
		StrataRollup *rollup = strata_rollup_open(lfirst_oid(lc), false);

		strata_rollup_lock_archive(rollup,
								   strata_rollup_bucket_outward(&rollup->bucket,
																from, to));
	}
}

/* See rollup.h. */
List *
strata_rollup_keep(Oid source, List *chunks, bool preloaded)
{
	List	   *views = lock_views(source);
	List	   *dropped = NIL;
	List	   *kept = NIL;
	const char *why;
	Oid			culprit = InvalidOid;
	ListCell   *lc;

	if (views == NIL)
	{
		if (strata_rollup_reads_archives(source))
			note_gone(source, chunks);
		return chunks;
	}
	why = strata_rollup_keeps_not(source, &culprit);
	if (why != NULL)
		refuse_to_keep(source, why, culprit);
	if (!preloaded)
		refuse_to_keep(source, _("strata is not in shared_preload_libraries, so that other sessions would not look into archives"),
					   linitial_oid(views));
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot drop chunks of \"%s\" in a transaction with isolation level REPEATABLE READ or SERIALIZABLE",
						get_rel_name(source)),
				 errdetail("It has continuous aggregates, which keep what is aggregated.")));
	lock_archives(views, chunks);
	(void) strata_rollup_lock(source, true);
	strata_rollup_next_generation(source);
	CommandCounterIncrement();
	foreach(lc, chunks)
	{
		StrataRange times;
		bool		stays;
		ListCell   *view;

		if (can_keep(views, lfirst_oid(lc), &times, &stays))
		{
			foreach(view, views)
				keep_chunk(lfirst_oid(view), times);
			kept = lappend_oid(kept, lfirst_oid(lc));
		}
		if (stays)
			say_it_stays(source, lfirst_oid(lc));
		else
			dropped = lappend_oid(dropped, lfirst_oid(lc));
	}
	note_gone(source, kept);
	return dropped;
}

/*-------------------------------------------------------------------------
 * From tier to tier
 *-------------------------------------------------------------------------
 */

/* See rollup.h. */
void
strata_rollup_lose(Oid archive, int64 lo, int64 hi)
{
	Oid			view = strata_rollup_of_archive(archive);
	StrataRollup *rollup = OidIsValid(view) ? strata_rollup_open(view, true) :
	NULL;
	StrataRanges kept;
	StrataRanges lost;

	if (rollup == NULL)
		return;
	strata_rollup_uncover(archive, lo, hi);
	strata_rollup_row_lose(view, true);
	strata_rollup_kept(view, NULL, &kept);
	strata_ranges_clip(&kept,
					   strata_rollup_bucket_outward(&rollup->bucket, lo, hi));
	if (kept.n == 0)
		return;
	strata_rollup_lost(view, &lost);
	for (int i = 0; i < kept.n; i++)
		strata_ranges_add(&lost, kept.r[i]);
	Assert(lost.n > 0);			/* rollup:Z8 */
	put_option(view, STRATA_ROLLUP_OPTION_LOST, &lost);
}

/* See rollup.h. */
bool
strata_rollup_is_kept_above(Oid chunk, Oid finer, Oid wider)
{
	StrataRanges here;
	StrataRanges above;
	int64		lo;
	int64		hi;

	if (!strata_chunk_times(chunk, &lo, &hi) || hi == PG_INT64_MAX)
		return false;
	strata_rollup_kept(finer, NULL, &here);
	strata_rollup_kept(wider, NULL, &above);
	strata_ranges_clip(&here, strata_range(lo, hi + 1));
	strata_ranges_remove(&here, &above);
	return here.n == 0;
}

/* The call that makes buckets, of those of a finer archive. */
static char *
bucket_text(const StrataRollup *rollup,
			const StrataRollup *finer)
{
	FuncExpr   *call = copyObject(castNode(FuncExpr,
										   ((StrataRollupColumn *) linitial(rollup->columns))->expr));
	StrataRollupColumn *column = linitial(finer->columns);

	if (column->type != finer->time_type)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("a tier of UUIDs cannot be added when rows are gone")));
	lsecond(call->args) = makeVar(1, 1, column->type, column->typmod,
								  column->collation, 0);
	return deparse_expression((Node *) call,
							  deparse_context_for(get_rel_name(finer->archive),
												  finer->archive),
							  false, false);
}

/* What a wider archive has of what a finer one keeps: an INSERT. */
static char *
widened_text(const StrataRollup *rollup, const StrataRollup *finer,
			 const StrataRanges *kept)
{
	StringInfoData sql;
	ListCell   *lc;

	initStringInfo(&sql);
	appendStringInfo(&sql, "INSERT INTO %s (%s) SELECT %s",
					 strata_sql_name(rollup->archive),
					 strata_rollup_column_list(rollup),
					 bucket_text(rollup, finer));
	append_combined(&sql, finer, NULL);
	appendStringInfoString(&sql, " FROM (");
	for (int i = 0; i < kept->n; i++)
	{
		appendStringInfo(&sql, "%sSELECT * FROM %s",
						 i > 0 ? " UNION ALL " : "",
						 strata_sql_name(finer->archive));
		strata_rollup_append_quals(&sql, strata_rollup_bucket_name(finer),
								   finer->bucket.type, kept->r[i]);
	}
	appendStringInfoString(&sql, ") strata_parts GROUP BY 1");
	foreach(lc, finer->columns)
	{
		if (((StrataRollupColumn *) lfirst(lc))->kind == STRATA_ROLLUP_GROUP)
			appendStringInfo(&sql, ", %d", foreach_current_index(lc) + 1);
	}
	return sql.data;
}

/* Buckets of a rollup that have some of the ranges in them. */
static void
widen_ranges(const StrataRollup *rollup, const StrataRanges *from,
			 StrataRanges *to)
{
	StrataRollupBucket bucket = rollup->bucket;

	memset(to, 0, sizeof(*to));
	for (int i = 0; i < from->n; i++)
		strata_ranges_add(to, strata_rollup_bucket_outward(&bucket,
														   from->r[i].lo,
														   from->r[i].hi - 1));
}

/* Write what the new one keeps, as its owner. */
static void
write_widened(const StrataRollup *rollup, const StrataRollup *finer,
			  const StrataRanges *kept)
{
	StrataOwnerContext saved;
	Snapshot	snapshot;

	snapshot = RegisterSnapshot(GetLatestSnapshot());
	PushActiveSnapshot(snapshot);
	strata_rollup_work_as_owner(rollup->view, &saved);
	strata_rollup_is_refreshing = true;
	PG_TRY();
	{
		(void) strata_sql_execute_at(widened_text(rollup, finer, kept),
									 snapshot, NULL);
	}
	PG_FINALLY();
	{
		strata_rollup_is_refreshing = false;
	}
	PG_END_TRY();
	strata_owner_leave(&saved);
	PopActiveSnapshot();
	UnregisterSnapshot(snapshot);
	CommandCounterIncrement();
}

/*
 * What the view's archive does not have of rows that were gone before it was
 * there is as lost as what it loses later: of all that is gone, but what is
 * known.
 */
static void
note_unknown(Oid view, const StrataRollup *rollup, const StrataRanges *known)
{
	StrataRanges unknown;
	StrataRanges wide;
	StrataRanges lost;

	strata_rollup_gone(rollup->source, &unknown);
	strata_ranges_remove(&unknown, known);
	if (unknown.n == 0)
		return;
	widen_ranges(rollup, &unknown, &wide);
	strata_rollup_lost(view, &lost);
	for (int i = 0; i < wide.n; i++)
		strata_ranges_add(&lost, wide.r[i]);
	Assert(lost.n > 0);			/* rollup:Z8 */
	put_option(view, STRATA_ROLLUP_OPTION_LOST, &lost);
}

/* See rollup_private.h. */
void
strata_rollup_lack_gone(Oid view, const StrataRollup *rollup)
{
	StrataRanges kept;

	/* whoever drops rows knows of the view, or we know what is gone */
	LockRelationOid(rollup->source, AccessShareLock);
	strata_rollup_kept(view, NULL, &kept);
	note_unknown(view, rollup, &kept);
}

/* See rollup_private.h. */
void
strata_rollup_keep_from(Oid view, Oid finer)
{
	StrataRollup *rollup = strata_rollup_open(view, false);
	StrataRollup *below = strata_rollup_open(finer, false);
	StrataRollupBucket bucket = rollup->bucket;
	StrataRollupBucket narrow = below->bucket;
	StrataRanges kept;
	StrataRanges wide;
	StrataRanges lost;

	LockRelationOid(below->archive, AccessShareLock);
	/* nobody drops rows meanwhile */
	(void) strata_rollup_lock(rollup->source, true);
	strata_rollup_kept(finer, NULL, &kept);
	if (kept.n == 0)
	{
		note_unknown(view, rollup, &kept);
		return;
	}
	widen_ranges(rollup, &kept, &wide);
	if (!strata_rollup_bucket_nests(&bucket, &narrow, &wide))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" cannot be made of what \"%s\" keeps of rows that are gone",
						get_rel_name(view), get_rel_name(finer)),
				 errdetail("Their buckets do not begin together.")));
	strata_rollup_lock_archive(rollup, strata_range(PG_INT64_MIN,
													PG_INT64_MAX));
	Assert(list_length(rollup->columns) ==
		   list_length(below->columns));	/* rollup:Z5 */
	write_widened(rollup, below, &kept);
	put_kept(view, &wide);
	strata_rollup_lost(finer, &lost);
	widen_ranges(rollup, &lost, &wide);
	if (lost.n > 0)
		put_option(view, STRATA_ROLLUP_OPTION_LOST, &wide);
	CommandCounterIncrement();
	note_unknown(view, rollup, &kept);
	CommandCounterIncrement();
}
