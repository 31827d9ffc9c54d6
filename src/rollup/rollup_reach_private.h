/*-------------------------------------------------------------------------
 *
 * rollup_reach_private.h
 *	  Queries that ask for rows which are gone: rollup_reach.c.
 *
 * src/rollup/rollup_reach_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_ROLLUP_REACH_PRIVATE_H
#define STRATA_ROLLUP_REACH_PRIVATE_H

#include "rollup/rollup_private.h"

/*
 * Does the table have archives answer where its rows are
 * gone?  Which times are that, and one more of these; and those that bounds
 * (as far as they are known) ask for.
 */
extern bool strata_rollup_reads_archives(Oid table);
extern void strata_rollup_gone(Oid table, StrataRanges *gone);
extern void strata_rollup_note_gone(Oid table, StrataRange range);
extern void strata_rollup_needed(Oid table, const List *bounds, Oid type,
								 ParamListInfo params, StrataRanges *needed);

/*
 * Does a comparison of times of both types take the latter for one of the
 * former?  Then bounds are not exact.
 */
extern bool strata_rollup_is_finer(Oid type, Oid than);

/* A comparison of a column with what is the same for all rows, or NULL. */
extern StrataTimeBound *strata_rollup_match_bound(Node *qual, Index varno,
												  AttrNumber attno, Oid type);

/*
 * A plan reads these kept ranges of a table's archive, all that the bounds ask
 * for of what is gone.  Does that hold?
 */
extern List *strata_rollup_reach_use(Oid table, const StrataRanges *kept,
									 const List *bounds);
extern bool strata_rollup_reach_holds(const List *use, ParamListInfo params);

/*
 * rollup_ends.c.  If the query aggregates nothing but the newest and oldest
 * times of the table, have it fail where rows that are gone (needed) may have
 * been these; then the rows answer it.
 */
extern bool strata_rollup_guard_ends(Query *query, Index varno, Oid table,
									 AttrNumber attno, Oid type,
									 const StrataRanges *needed);

/* ereport (55000): rows of the table are gone, and no archive says it. */
extern void strata_rollup_refuse_reach(Oid table);

/*
 * ereport if an aggregate query asks for rows that are gone, but for queries,
 * and entries of such, that know what they do; else what the plan has to
 * carry.
 */
extern List *strata_rollup_check_reach(Query *query, ParamListInfo params,
									   const List *exempt);

#endif							/* STRATA_ROLLUP_REACH_PRIVATE_H */
