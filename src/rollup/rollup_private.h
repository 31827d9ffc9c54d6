/*-------------------------------------------------------------------------
 *
 * rollup_private.h
 *	  What the files of src/rollup share among themselves.
 *
 * src/rollup/rollup_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_ROLLUP_PRIVATE_H
#define STRATA_ROLLUP_PRIVATE_H

#include "base/base.h"
#include "rollup/rollup.h"

#include "lib/stringinfo.h"
#include "nodes/primnodes.h"

/*
 * rollup_partial.c.  One more column of the archive, unless it has one of this
 * expression; its name begins with `name`.
 */
extern StrataRollupColumn *strata_rollup_add_column(List **columns,
													StrataRollupKind kind,
													Expr *expr, Oid combine,
													const char *name);

/*
 * The columns that the aggregate is kept in; name: of the only one, or NULL to
 * go by the function.
 */
extern void strata_rollup_add_partials(StrataRollup *rollup,
									   const Aggref *aggref, const char *name);

/* Has the archive what the aggregate's value is made of? */
extern bool strata_rollup_knows(const StrataRollup *rollup,
								const Aggref *aggref);

/* The text of a call that combines a column's values of several rows. */
extern char *strata_rollup_combine_text(const StrataRollup *rollup,
										const StrataRollupColumn *column);

/* Is it one of PostgreSQL's own min() and max()? */
extern bool strata_aggregate_is_extremum(Oid aggregate);

/*
 * rollup_cover.c.  Take what is marked as the snapshot sees it out of the
 * cover of all rollups of the source, and the marks away; how many there were.
 * The caller has the lock, and took the snapshot after it.
 */
extern int	strata_rollup_fold(Oid source, Snapshot snapshot);

/* Write down what is covered instead of what was. */
extern void strata_rollup_put_cover(Oid view, const StrataRanges *before,
									const StrataRanges *after);

/* Take buckets with partitions out whose changes nobody hears of. */
extern void strata_rollup_drop_unseen(const StrataRollup *rollup,
									  StrataRanges *ranges);

/* Take buckets out of which the rollup below is not clean. */
extern void strata_rollup_trust_below(const StrataRollup *rollup, Oid below,
									  Snapshot snapshot,
									  StrataRanges *ranges);

/*
 * rollup_wait.c.  From the commit on, times of the source from lo to hi (both
 * inclusive) are tracked, if they are not; *published: they were not.  false:
 * a lock was not to be had by the deadline.
 */
extern bool strata_rollup_publish(Oid source, int64 lo, int64 hi,
								  TimestampTz deadline, bool *published);

/*
 * Wait until the deadline for those who write to chunks of the range and may
 * not know what is tracked, and put those times of it that are tracked, and
 * that nobody writes to unheard, to *settled.  In no snapshot, without locks;
 * or with a deadline that is over.
 */
extern void strata_rollup_settle(Oid source, StrataRange range,
								 TimestampTz deadline, StrataRanges *settled);

/*
 * rollup_write.c.  Have the archive's rows of a range of whole buckets be what
 * the snapshot has; only rows that differ are written.
 */
typedef struct StrataRollupCounts
{
	int64		inserted;
	int64		deleted;
} StrataRollupCounts;

extern void strata_rollup_write(const StrataRollup *rollup, StrataRange range,
								Snapshot snapshot, StrataRollupCounts *counts);

/* The same of what a query (text) says of the range; it has to fit in memory. */
extern void strata_rollup_write_wanted(const StrataRollup *rollup,
									   StrataRange range, const char *wanted,
									   Snapshot snapshot,
									   StrataRollupCounts *counts);

/*
 * Texts: the query for what the archive should have of the range; " WHERE
 * column >= .. AND column < ..", where what has no end are finite values; the
 * archive's columns in its order, and that of buckets, quoted.
 */
extern char *strata_rollup_partials_text(const StrataRollup *rollup,
										 StrataRange range);
extern void strata_rollup_append_quals(StringInfo sql, const char *column,
									   Oid type, StrataRange range);
extern char *strata_rollup_column_list(const StrataRollup *rollup);
extern const char *strata_rollup_bucket_name(const StrataRollup *rollup);

/*
 * rollup_query.c.  A query of the archive's rows of these ranges (NULL: all),
 * which selects nothing yet: columns are those of entry STRATA_ARCHIVE_VARNO.
 */
#define STRATA_ARCHIVE_VARNO 1
extern Query *strata_rollup_archive_query(const StrataRollup *rollup,
										  const StrataRanges *ranges);

/* A column of that entry, counted from 1: the bucket. */
extern Var *strata_rollup_archive_var(const StrataRollup *rollup,
									  AttrNumber attno);

/*
 * Have such a query select what the definition does, out of one row for each
 * group or (combine) aggregated from several.
 */
extern void strata_rollup_select_finals(Query *query,
										const StrataRollup *rollup,
										bool combine);

/* That an expression of this type is in the ranges. */
extern Node *strata_rollup_in_ranges(Expr *expr, Oid type,
									 const StrataRanges *ranges);

/* That the time of the definition's source is in the ranges, or is not. */
extern Node *strata_rollup_time_in(const StrataRollup *rollup,
								   const StrataRanges *ranges);
extern Node *strata_rollup_time_not_in(const StrataRollup *rollup,
									   const StrataRanges *ranges);

/* One more subquery of the query's, without the columns that nobody sees. */
extern RangeTblRef *strata_rollup_add_subquery(Query *all, char *name,
											   Query *half);

/* Have the query select only what is so, too. */
extern void strata_rollup_add_qual(Query *query, Node *qual);

/*
 * UNION ALL of two queries, whose columns have the same types; and have that
 * be in the order of one of them, which has it no more.
 */
extern Query *strata_rollup_union(Query *kept, Query *raw);
extern void strata_rollup_take_order(Query *all, Query *half);

/* rollup_use.c.  The time is compared with what is the same for all rows. */
typedef struct StrataTimeBound
{
	int			strategy;		/* of btrees: time op value */
	Expr	   *value;			/* without columns; of the time's type, or one
								 * that is compared as one of it */
} StrataTimeBound;

/*
 * Times from lo to before hi are what the bounds leave, as they are now;
 * false: not known.
 */
extern bool strata_rollup_window(const List *bounds, Oid type,
								 ParamListInfo params, int64 *lo, int64 *hi);

/*
 * Leave few ranges, the longest; others are computed from rows.  None, if most
 * of the table is read for these.
 */
extern void strata_rollup_few_ranges(const StrataRollup *rollup,
									 StrataRanges *ranges);

/* Is it of a parameter, and no values of parameters are there yet? */
extern bool strata_rollup_awaits(const StrataTimeBound *bound,
								 ParamListInfo params);

/* Are the ranges, of which there are some, within the bounds as they are? */
extern bool strata_rollup_within(const StrataRanges *ranges,
								 const List *bounds, Oid type,
								 ParamListInfo params);

/* What such a use says; the result is the OID in it. */
extern Oid	strata_rollup_read_use(const List *use, StrataRanges *ranges,
								   List **bounds);

/* For the plan to carry, see strata_rollup_uses_hold(). */
extern List *strata_rollup_make_use(Oid view, const StrataRanges *ranges,
									const List *bounds);

/*
 * The rollup of a view, with a lock on its archive, if reading that is the
 * same for every user; else NULL.
 */
extern StrataRollup *strata_rollup_usable(Oid view);

/*
 * rollup_table.c.  If the query aggregates a table that a rollup aggregates,
 * too, have it read the archive; *rest is its subquery of the rows that are
 * left.  snapshot: NULL for only what no row says any more.  beyond: rows that
 * are gone are asked for, too, where the table says so.  The result are the
 * uses, or NIL.
 */
extern List *strata_rollup_answer_table(Query *query, ParamListInfo params,
										Snapshot snapshot, bool beyond,
										Query **rest);

/* SELECT of nothing yet from the rows of a query: columns of entry 1. */
extern Query *strata_rollup_select_from(Query *rows);

/*
 * rollup_keep.c.  Times of which the archive has what was made of rows that
 * are gone, and nothing else; as text, and back into the catalog.
 */
#define STRATA_ROLLUP_OPTION_KEPT "kept"
#define STRATA_ROLLUP_OPTION_LOST "lost"
extern void strata_rollup_kept(Oid view, Snapshot snapshot,
							   StrataRanges *kept);
extern char *strata_rollup_ranges_text(const StrataRanges *ranges);
extern void strata_rollup_read_ranges(const char *option, const char *text,
									  StrataRanges *ranges);
extern void strata_rollup_restore_kept(Oid view, const char *text);

/*
 * Of these, what the archive does not have all of: it has lost it again with
 * chunks of its own, or rows were gone before it was there.  Note the latter,
 * of a new view (but no tier).  And: have a new tier keep what a finer one
 * keeps, and note what that does not have.
 */
extern void strata_rollup_lost(Oid view, StrataRanges *lost);
extern void strata_rollup_lack_gone(Oid view, const StrataRollup *rollup);
extern void strata_rollup_keep_from(Oid view, Oid finer);

/*
 * rollup_text.c.  Tiers (StrataTier *) that a text says; ereports on what it
 * does not.
 */
extern List *strata_rollup_read_tiers(const char *text, Oid time_type);

/*
 * rollup_tier.c.  A view is a tier of another; how long chunks of the finest
 * archive are.
 */
#define STRATA_ROLLUP_OPTION_TIER_OF "tier_of"
extern void strata_rollup_add_tier(Oid view, Oid finest);
extern char *strata_rollup_finest_chunks(const StrataRollup *rollup,
										 const char *archives);

/*
 * rollup_create.c.  Chunks of an archive are so many times as long as the
 * source's.  A view of the query with names of columns (NIL: its own), and
 * what options say of it.
 */
#define STRATA_ARCHIVE_CHUNKS 10
extern Oid	strata_rollup_make_view(RangeVar *name, Query *query, List *names,
									List *options);

/*
 * rollup_past.c.  What the definition (as rewritten) would select of these
 * times with the rows that are gone; *rows is its subquery of those that are
 * there.  What the plan carries; does it hold in a snapshot?
 */
extern Query *strata_rollup_past(const StrataRollup *rollup,
								 const Query *definition,
								 const StrataRanges *kept, Query **rows);
extern List *strata_rollup_past_use(Oid view, const StrataRanges *kept,
									const StrataRanges *clean);
extern bool strata_rollup_past_holds(const List *use, Snapshot snapshot);

/* All columns of the archive, for a query of it. */
extern void strata_rollup_select_columns(Query *query,
										 const StrataRollup *rollup);

/* ereport (0A000): no continuous aggregate can have this. */
extern void strata_rollup_refuse(const char *what, const char *hint);

/*
 * rollup_refresh.c.  Work as the view's owner, with settings by which texts of
 * queries mean what they say; and lock what is written to in a range.
 */
extern void strata_rollup_work_as_owner(Oid view, StrataOwnerContext *saved);
extern void strata_rollup_lock_archive(const StrataRollup *rollup,
									   StrataRange range);

#endif							/* STRATA_ROLLUP_PRIVATE_H */
