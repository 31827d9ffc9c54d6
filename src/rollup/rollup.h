/*-------------------------------------------------------------------------
 *
 * rollup.h
 *	  Aggregates by buckets of time that are kept ready, and answer what the
 *	  rows themselves would.
 *
 * src/rollup/rollup.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_ROLLUP_H
#define STRATA_ROLLUP_H

#include "postgres.h"

#include "time/time.h"

#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"
#include "storage/lockdefs.h"
#include "utils/snapshot.h"

/*-------------------------------------------------------------------------
 * Sets of times, rollup_range.c
 *-------------------------------------------------------------------------
 */
typedef struct StrataRange
{
	int64		lo;				/* inclusive */
	int64		hi;				/* exclusive */
} StrataRange;

static inline StrataRange
strata_range(int64 lo, int64 hi)
{
	StrataRange range = {lo, hi};

	return range;
}

/* Sorted, disjoint, not adjacent.  Zeroes are the empty set. */
typedef struct StrataRanges
{
	int			n;
	int			space;
	StrataRange *r;
} StrataRanges;

extern void strata_ranges_add(StrataRanges *ranges, StrataRange range);
extern void strata_ranges_subtract(StrataRanges *ranges, StrataRange range);

/* Keep what is in the range; take others away; keep what is in others, too. */
extern void strata_ranges_clip(StrataRanges *ranges, StrataRange range);
extern void strata_ranges_remove(StrataRanges *ranges,
								 const StrataRanges *others);
extern void strata_ranges_keep(StrataRanges *ranges,
							   const StrataRanges *others);
extern void strata_ranges_copy(StrataRanges *ranges, const StrataRanges *from);
extern bool strata_ranges_contain(const StrataRanges *ranges,
								  StrataRange range);

/*-------------------------------------------------------------------------
 * Buckets, rollup_bucket.c
 *-------------------------------------------------------------------------
 */
typedef struct StrataRollupBucket
{
	Oid			type;			/* of the bucket */
	bool		zoned;			/* by a zone's wall clock: `zone`; else ... */
	StrataBucket rule;
	StrataZoneBucket zone;
} StrataRollupBucket;

/* Its widths and origin, of the zone's clock if it has one. */
static inline const StrataBucket *
strata_rollup_rule(const StrataRollupBucket *bucket)
{
	return bucket->zoned ? &bucket->zone.rule : &bucket->rule;
}

/*
 * The buckets of a call: time_bucket() with constants, or date_trunc() of a
 * timestamp; *time is what is bucketed.  false: it is something else.
 * ereports on a width that makes no buckets.
 */
extern bool strata_rollup_bucket_init(StrataRollupBucket *bucket, Node *call,
									  Expr **time);

/* Start of the bucket of a time, and of the next; false: there is none. */
extern bool strata_rollup_bucket_start(StrataRollupBucket *bucket, int64 time,
									   int64 *start);
extern bool strata_rollup_bucket_next(StrataRollupBucket *bucket, int64 time,
									  int64 *start);

/*
 * Whole buckets that hold all times from lo to hi, both inclusive; at the ends
 * of the type as far as int64 goes.
 */
extern StrataRange strata_rollup_bucket_outward(StrataRollupBucket *bucket,
												int64 lo, int64 hi);

/*
 * Whole buckets of the times from lo to before hi; lo = hi: none.  What is at,
 * or beyond, an end of the type has no end then: an extreme of int64.
 */
extern StrataRange strata_rollup_bucket_inward(StrataRollupBucket *bucket,
											   int64 lo, int64 hi);

/* About how long they are. */
extern int64 strata_rollup_bucket_width(const StrataRollupBucket *bucket);

/*
 * Does a bucket of `narrow` start wherever one of `wide` does, in the ranges?
 * As far as is seen with little work.
 */
extern bool strata_rollup_bucket_nests(StrataRollupBucket *wide,
									   StrataRollupBucket *narrow,
									   const StrataRanges *ranges);

/*-------------------------------------------------------------------------
 * What a rollup is
 *-------------------------------------------------------------------------
 */
typedef enum StrataRollupKind
{
	STRATA_ROLLUP_BUCKET,
	STRATA_ROLLUP_GROUP,
	STRATA_ROLLUP_PARTIAL
} StrataRollupKind;

/* A column of the archive; the k-th is its attribute k + 1. */
typedef struct StrataRollupColumn
{
	StrataRollupKind kind;
	Expr	   *expr;			/* over the definition's range table: the call
								 * that makes buckets, the grouping
								 * expression, or the Aggref whose value is
								 * stored */
	Oid			combine;		/* PARTIAL: aggregate function that makes one
								 * partial of many; InvalidOid: there is none */
	AttrNumber	by;				/* its second argument is this column of the
								 * archive; or InvalidAttrNumber */
	char	   *name;
	Oid			type;
	int32		typmod;
	Oid			collation;
} StrataRollupColumn;

typedef struct StrataRollup
{
	Oid			view;
	Oid			source;			/* the hypertable whose changes are tracked */
	Oid			archive;
	bool		materialized_only;
	int64		losses;			/* see StrataRollupRow */
	Query	   *definition;		/* the view's query, a copy of its own */
	Query	   *query;			/* what of it is kept: the same, or, if it
								 * joins, an aggregation of the source alone */
	bool		joined;
	Index		varno;			/* of the source in both range tables */
	AttrNumber	time;			/* its time column, and the type of it */
	Oid			time_type;
	StrataRollupBucket bucket;
	List	   *columns;		/* StrataRollupColumn */
} StrataRollup;

/*
 * rollup_define.c.  What a definition makes, all but view and archive: of the
 * analyzed SELECT of a view, which is copied.  ereports (0A000) when it cannot
 * be kept.  source: of a rollup that is there; InvalidOid: it is a new one,
 * and must be fit, too.
 */
extern StrataRollup *strata_rollup_analyze(const Query *query,
										   Oid source);

/*
 * Can it be kept as its tables and functions are now?  They may change when it
 * is there.  false, or ereport (0A000).
 */
extern bool strata_rollup_is_fit(const StrataRollup *rollup, bool raise);

/*
 * SELECT of all columns of the archive, in its order, from the source: of all
 * groups, also of those that HAVING leaves out.
 */
extern Query *strata_rollup_partials(const StrataRollup *rollup);

/*
 * rollup_partial.c.  An expression of the definition's select list or HAVING
 * out of the archive's columns, as the range table entry varno.  combined: of
 * several rows, whose partials are combined.
 */
extern Expr *strata_rollup_final(const StrataRollup *rollup, const Expr *expr,
								 Index varno, bool combined);

/* Can the expression be had of several rows of the archive? */
extern bool strata_rollup_combines(const StrataRollup *rollup,
								   const Expr *expr);

/*-------------------------------------------------------------------------
 * Coming and going, rollup_create.c
 *-------------------------------------------------------------------------
 */

/* Check options (without prefix) of a table that its aggregates write. */
extern void strata_rollup_check_options(const List *options);

/* Do options (without prefix) ask for a continuous aggregate? */
extern bool strata_rollup_is_asked_for(List *options);

/*
 * CREATE MATERIALIZED VIEW with these options: an ordinary view with an
 * archive, empty yet.  InvalidOid: IF NOT EXISTS found one.
 */
extern Oid	strata_rollup_create(const CreateTableAsStmt *stmt,
								 List *options);

/* Have a view that is there be one; the user owns it. */
extern void strata_rollup_attach(Oid view, List *given);

/* The same of what an old cluster has brought: what depends on what. */
extern void strata_rollup_attach_again(Oid view);

/* ALTER MATERIALIZED VIEW SET; and options as a dump is to have them. */
extern void strata_rollup_alter(Oid view, List *set);
extern void strata_rollup_store_options(Oid view, List *given, Oid archive);

/*
 * The view of an archive was dropped; the end of the statement drops what was
 * so noted.
 */
extern void strata_rollup_note_dropped(Oid archive);
extern void strata_rollup_drop_archives(DropBehavior behavior);

/*
 * rollup_catalog.c.  The rollup of a view; NULL if there is none, and that is
 * allowed.
 */
extern StrataRollup *strata_rollup_open(Oid view, bool missing_ok);

/*
 * Lock a view, behind the hypertable that it comes from; the same of the view
 * that a table is the archive of, if that is one.  Whoever locks the archive
 * against readers, or is going to change what the view says of it, does this
 * first.
 */
extern void strata_rollup_lock_view(Oid view, LOCKMODE mode);
extern void strata_rollup_lock_view_of(Oid archive);

/* The archive's column that is just what a column of the view shows, or NULL. */
extern char *strata_rollup_shown_column(Oid view, AttrNumber attno);

/* Is the view one, by its stored options? */
extern bool strata_rollup_is(Oid view);

/* Views (OIDs) of a hypertable; the view of an archive, or InvalidOid. */
extern List *strata_rollups_of_source(Oid hypertable);
extern Oid	strata_rollup_of_archive(Oid archive);

/*-------------------------------------------------------------------------
 * Tiers, rollup_tier.c
 *-------------------------------------------------------------------------
 */
typedef struct StrataTier
{
	char	   *width;			/* as written; NULL: the rows themselves */
	char	   *keep;			/* how long it is kept; NULL: for ever */
	char	   *name;			/* that its view is to have, or NULL */
	Datum		value;			/* the width: Interval, or int64 */
	int64		length;			/* about, in microseconds or units */
	int64		keep_length;
	Oid			view;			/* InvalidOid: there is none */
} StrataTier;

/* What the view's option strata.archives says, finer first; NIL: nothing. */
extern List *strata_rollup_tiers(Oid view);

/* Views (OIDs) of all tiers but the finest; the finest of one of these. */
extern List *strata_rollup_tier_views(Oid view);
extern Oid	strata_rollup_finest(Oid view);

/*
 * Have the tiers that the text says, no others; and have them belong to who
 * the finest belongs to, in its schema, by its name.
 */
extern void strata_rollup_set_tiers(Oid view, const char *text);
extern void strata_rollup_tiers_follow(Oid view);

/*
 * rollup_keep.c.  Is all that the finer archive alone knows of a chunk kept in
 * a wider one, too?
 */
extern bool strata_rollup_is_kept_above(Oid chunk, Oid finer, Oid wider);

/*
 * A chunk of an archive goes, from lo to hi, both inclusive, with its rows:
 * none is covered any more, what was kept there is nowhere, and older
 * snapshots do not find it.  None of an archive: nothing.
 */
extern void strata_rollup_lose(Oid archive, int64 lo, int64 hi);

/* Rows of an archive were written anew, so that older snapshots miss them. */
extern void strata_rollup_rewritten(Oid relid);

/*-------------------------------------------------------------------------
 * What may be used of it, and bringing it up to date
 *-------------------------------------------------------------------------
 */

/* Times of which the archive was complete when it was written. */
extern void strata_rollup_covered(const StrataRollup *rollup,
								  Snapshot snapshot, StrataRanges *covered);

/*
 * Times of which the archive's rows are what the source's rows of this very
 * snapshot say: whole buckets.
 */
extern void strata_rollup_clean(const StrataRollup *rollup, Snapshot snapshot,
								StrataRanges *clean);

/*
 * A chunk of an archive goes, from lo to hi, both inclusive: its buckets are
 * covered no more.  None of an archive: nothing.
 */
extern void strata_rollup_uncover(Oid archive, int64 lo, int64 hi);

/*
 * Somebody is about to write to the table: if it is an archive, or a chunk of
 * one, and it is not a refresh that does, nothing of that is clean any more.
 */
extern void strata_rollup_written(Oid relid);

/*
 * rollup_keep.c.  Chunks (OIDs) are about to be dropped, under
 * AccessExclusiveLock as their hypertable is: have the archives keep what is
 * made of their rows.  ereports if that cannot be.  preloaded: every session
 * has the library.  The result are those to drop: not, with a WARNING, those
 * with rows whose times have no end.
 */
extern List *strata_rollup_keep(Oid source, List *chunks, bool preloaded);

/* Why it cannot be, and for whom; NULL: it can. */
extern const char *strata_rollup_keeps_not(Oid source, Oid *view);

/* How a refresh gets from one transaction to the next. */
typedef enum StrataRefreshManner
{
	STRATA_REFRESH_IN_BLOCK,	/* it does not */
	STRATA_REFRESH_PROCEDURE,	/* as a procedure does */
	STRATA_REFRESH_COMMAND		/* as a utility command outside of a block */
} StrataRefreshManner;

typedef struct StrataRefresh
{
	Oid			view;
	int64		lo;				/* the window, as a range; the extremes of */
	int64		hi;				/* int64: no end */
	bool		force;			/* also what is up to date */
	bool		beyond_rows;	/* all of the window, also where there are no
								 * rows */
	bool		newest_first;
	int			buckets_per_batch;	/* 0: all; -1: as seems good */
	int			max_batches;	/* 0: no limit */
	StrataRefreshManner manner;
	bool		quiet;			/* no NOTICE */
	/* what came of it */
	int			batches;
	int64		inserted;		/* rows of the archive */
	int64		deleted;
	bool		complete;
} StrataRefresh;

/* The caller has seen to it that the user may do this. */
extern void strata_rollup_refresh(StrataRefresh *refresh);

/*
 * rollup_verify.c.  Compare what the snapshot has as clean of an archive with
 * the rows; column: of the archive, or NULL.
 */
typedef void (*StrataRollupReport) (void *arg, const char *column,
									const char *problem);
extern void strata_rollup_verify(Oid view, Snapshot snapshot,
								 StrataRollupReport report, void *arg);

/*-------------------------------------------------------------------------
 * Reading, rollup_read.c, rollup_use.c
 *-------------------------------------------------------------------------
 */

/*
 * Before planning: answer rollups' views in the query out of their archives,
 * as far as the active snapshot has them clean; in place.  The result is what
 * was so used, as nodes for the plan to carry; *own are queries of rollups, or
 * entries in them, that see to rows that are gone themselves.  Then: is all of
 * that clean in the snapshot that the plan is run with?
 */
extern List *strata_rollup_rewrite(Query *query, List **own);
extern bool strata_rollup_uses_hold(const List *uses, Snapshot snapshot,
									ParamListInfo params);

/*
 * rollup_explain.c.  Uses in words: lists of a label and a text.
 */
extern List *strata_rollup_describe_uses(const List *uses);

/*
 * rollup_past.c.  Has retention gone on since the snapshot was taken, so that
 * it misses rows that are kept now?  ereport if they are missed.
 */
extern bool strata_rollup_past_moved(const List *uses, Snapshot snapshot);
extern void strata_rollup_past_check(const List *uses, Snapshot snapshot);

/*
 * The same of queries that aggregate hypertables themselves.  Not while a
 * rollup is refreshed: what that writes comes from rows.
 */
extern List *strata_rollup_rewrite_tables(Query *query, ParamListInfo params,
										  const List *own);
extern bool strata_rollup_is_refreshing;

/*
 * rollup_gaps.c.  To be called from get_relation_info_hook: before a chunk
 * gets its hypertable's conditions, have those of many ranges of times be such
 * that it gets its own ranges alone.
 */
extern void strata_rollup_gather_gaps(PlannerInfo *root, RelOptInfo *rel);

#endif							/* STRATA_ROLLUP_H */
