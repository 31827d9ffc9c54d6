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
 * src/rollup/rollup_keep.c
 *-------------------------------------------------------------------------
 */
#include "rollup/rollup_private.h"

#include "base/base.h"
#include "catalog/catalog.h"
#include "hypertable/hypertable.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
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
strata_rollup_restore_kept(Oid view, const char *text)
{
	StrataRanges kept = {0};
	char	   *copy = pstrdup(text);
	char	   *rest = NULL;

	for (char *word = strtok_r(copy, " ", &rest); word != NULL;
		 word = strtok_r(NULL, " ", &rest))
	{
		char	   *end;
		int64		lo = strtoll(word, &end, 10);
		int64		hi = strncmp(end, "..", 2) == 0 ?
		strtoll(end + 2, &end, 10) : lo;

		if (*end != '\0' || lo >= hi)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid value of option \"kept\": \"%s\"",
							text)));
		strata_ranges_add(&kept, strata_range(lo, hi));
	}
	for (int i = 0; i < kept.n; i++)
		strata_cover_kept_add(view, kept.r[i].lo, kept.r[i].hi);
}

/* Write down what is kept from now on. */
static void
put_kept(Oid view, const StrataRanges *kept)
{
	DefElem    *option;

	option = makeDefElem(pstrdup(STRATA_ROLLUP_OPTION_KEPT),
						 (Node *) makeString(strata_rollup_ranges_text(kept)), -1);
	strata_cover_kept_forget(view);
	for (int i = 0; i < kept->n; i++)
		strata_cover_kept_add(view, kept->r[i].lo, kept->r[i].hi);
	LockRelationOid(view, ShareUpdateExclusiveLock);
	strata_settings_store(view, list_make1(option), false);
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
		if (!strata_rollup_can_sort(rollup->query))
			return psprintf(_("\"%s\" is ordered by what it does not show"),
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
	ListCell   *lc;

	initStringInfo(&sql);
	initStringInfo(&groups);
	foreach(lc, rollup->columns)
	{
		StrataRollupColumn *column = lfirst(lc);
		const char *name = quote_identifier(column->name);

		appendStringInfoString(&sql, sql.len == 0 ? "SELECT " : ", ");
		if (column->kind != STRATA_ROLLUP_PARTIAL)
		{
			appendStringInfoString(&sql, name);
			appendStringInfo(&groups, "%s%s", groups.len > 0 ? ", " : "", name);
		}
		else
			appendStringInfo(&sql, "CAST(%s.%s(%s) AS %s)",
							 quote_identifier(get_namespace_name(get_func_namespace(column->combine))),
							 quote_identifier(get_func_name(column->combine)),
							 name,
							 format_type_extended(column->type, column->typmod,
												  FORMAT_TYPE_TYPEMOD_GIVEN |
												  FORMAT_TYPE_FORCE_QUALIFY));
	}
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
	if (buckets.lo == PG_INT64_MIN || buckets.hi == PG_INT64_MAX)
		refuse_to_keep(rollup->source, _("a bucket has no end"), view);
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

/* See rollup.h. */
void
strata_rollup_keep(Oid source, const List *chunks, bool preloaded)
{
	List	   *views = strata_rollups_of_source(source);
	const char *why;
	Oid			culprit = InvalidOid;
	ListCell   *lc;

	if (views == NIL)
		return;
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
	(void) strata_rollup_lock(source, true);
	strata_rollup_next_generation(source);
	CommandCounterIncrement();
	foreach(lc, chunks)
	{
		int64		lo;
		int64		hi;
		ListCell   *view;

		if (!strata_chunk_times(lfirst_oid(lc), &lo, &hi) ||
			lo == PG_INT64_MIN || hi == PG_INT64_MAX)
			refuse_to_keep(source, _("a chunk has no bounds"),
						   linitial_oid(views));
		foreach(view, views)
			keep_chunk(lfirst_oid(view), strata_range(lo, hi + 1));
	}
}
