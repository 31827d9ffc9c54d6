/*-------------------------------------------------------------------------
 *
 * store_companion.h
 *	  The companion as a relation: made, moved, grown, vacuumed.
 *
 * src/store/store_companion.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_STORE_COMPANION_H
#define STRATA_STORE_COMPANION_H

#include "store/store.h"

/* Option of a companion: the layout of all its batches; store_cache.c. */
#define STRATA_OPTION_LAYOUT "layout"

/*
 * And what they are encoded by: level, a slash, rows a batch has at least,
 * and what else compress_rows.c adds.
 */
#define STRATA_OPTION_ENCODING "encoding"

/* Drop the companion of storage that is going, if it has one. */
extern void strata_companion_drop_of(const StrataLocator *locator,
									 char persistence);
extern void strata_companion_name(char *buf, const StrataLocator
								  *locator);	/* NAMEDATALEN */

/* R's storage moves to another file: its companion goes along. */
extern void strata_companion_rekey(Oid companion, const StrataLocator *to);
extern void strata_companion_drop(Oid companion);

/*
 * Let the companion's columns whose type or collation can be dropped depend
 * automatically on table relid, if that is valid.  PostgreSQL lists all that a
 * command drops before it drops anything.  So these columns stand before the
 * table, whose drop takes the companion along, and need no CASCADE when both
 * table and type are dropped. May be called again.  The caller holds a lock
 * that keeps companion and table.
 */
extern void strata_companion_bind(Oid companion, Oid relid);

/*
 * A column of the table is about to be dropped: an error (2BP01) if the table
 * is a companion with batches, and R's column, which is of another type or
 * collation by now, would lose its values.
 */
extern void strata_companion_column_dropped(Oid relid, AttrNumber attno);

/*
 * Who owns the extension, and with it all companions.  DDL on these is done as
 * he (strata_role_enter).
 */
extern Oid	strata_extension_owner(void);

/* Index of the companion on (first_row), unique, with nrows beside it. */
extern Oid	strata_row_index_of(Relation batches);

/*
 * The least and the greatest key of that index, whoever sees what it leads to,
 * or less, resp. greater; PG_INT64_MAX: there is none, or it is not known.
 */
extern int64 strata_companion_least_key(Relation batches, Relation index);
extern int64 strata_companion_greatest_key(Relation batches, Relation index);

/*
 * Hide a companion, or all, from logical decoding.  pg_upgrade does not carry
 * that over, and VACUUM FULL forgets it for TOAST tables.
 */
extern void strata_companion_silence(Oid companion);
extern void strata_companions_silence(void);

/*
 * VACUUM of rel goes on with its companion, and that one's TOAST unless left
 * out.  What somebody else is vacuuming is skipped.
 */
struct VacuumParams;
extern void strata_companion_vacuum(Relation rel, struct VacuumParams *params,
									BufferAccessStrategy strategy);

/*
 * Does the row store end with as many free pages as VACUUM would take away, if
 * it got the lock for it?
 */
extern bool strata_store_may_be_truncated(Relation rel);

/*
 * Is a third of the companion free, by its last VACUUM, and the rest soon
 * copied?
 */
extern bool strata_companion_is_bloated(Oid companion);

/*
 * Is the row store, by its last VACUUM, a few rows among free pages that
 * VACUUM cannot take away?
 */
extern bool strata_row_store_is_bloated(Relation rel);

/*
 * Copy the companion into new files without free space; takes
 * AccessExclusiveLock.
 */
extern void strata_companion_rewrite(Oid companion);

/*
 * Create the companion of rel, or bring it up to the layout: add the columns
 * that are missing, and indexes, of a small one those it needs.  The caller
 * holds ExclusiveLock or more on rel.  Returns its oid; the change is visible
 * to this command.  *layout may come back as the one the companion was made
 * for, when readers do not let it change.
 */
extern Oid	strata_companion_prepare(Relation rel, StrataLayout **layout);

/*
 * Make the indexes that batches of the layout lack now that they take
 * strata.index_pages, if nobody else writes batches: then the next who does
 * sees to it.  For who has ended to write.
 */
extern void strata_companion_complete(Relation rel,
									  const StrataLayout *layout);

/* Give the companion of rel col_ columns for all columns of rel. */
extern void strata_companion_add_columns(Relation rel);

/*
 * AccessExclusiveLock on a companion without queueing for it: readers that
 * come later must not wait behind us.  False when there is no moment for
 * seconds.
 */
extern bool strata_companion_lock_politely(Oid companion);

/* Are batches few enough to be looked at all (strata.index_pages)? */
extern bool strata_companion_is_small(Oid companion);

/* Are all columns of the layout still there? */
extern bool strata_layout_is_usable(TupleDesc desc,
									const StrataLayout *layout);

/*
 * May batches of the layout be written into the companion as it is: columns,
 * types and indexes are there?
 */
extern bool strata_companion_is_ready(StrataStore *store,
									  const StrataLayout *layout);

/* Columns whose companion copy has another type or collation now. */
extern bool strata_companion_is_outdated(StrataStore *store,
										 const StrataLayout *layout);

#endif							/* STRATA_STORE_COMPANION_H */
