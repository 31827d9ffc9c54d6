/*-------------------------------------------------------------------------
 *
 * hypertable_private.h
 *	  What the files of src/hypertable share among themselves.
 *
 * src/hypertable/hypertable_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_HYPERTABLE_PRIVATE_H
#define STRATA_HYPERTABLE_PRIVATE_H

#include "base/base.h"
#include "hypertable/hypertable.h"
#include "pg/pg.h"

#include "access/attmap.h"
#include "commands/copy.h"
#include "lib/stringinfo.h"
#include "nodes/extensible.h"
#include "partitioning/partdesc.h"
#include "utils/partcache.h"

/* Names of the options of a hypertable and of a chunk, without prefix. */
#define STRATA_OPTION_INTERVAL "chunk_interval"
#define STRATA_OPTION_NOW "integer_now_func"
#define STRATA_OPTION_CHUNK_OPTIONS "chunk_options"
#define STRATA_OPTION_CREATED "created"
#define STRATA_OPTION_DIMENSIONS "dimensions"
#define STRATA_OPTION_DIVIDED "divided"
#define STRATA_OPTION_TABLESPACES "tablespaces"

static inline bool
strata_range_holds(const StrataChunkRange *range, int64 time)
{
	return (range->no_lo || time >= range->lo) &&
		(range->no_hi || time < range->hi);
}

/* The range of the chunk that a time falls into, by arithmetic alone. */
extern void strata_time_chunk_range(Oid key_type, int64 interval, int64 time,
									StrataChunkRange *range);

/* The how-many-eth chunk it is that begins there, of such a length. */
extern int64 strata_time_chunk_number(Oid key_type, int64 interval, int64 lo);

/*
 * The bound of a partition as time, whatever UUID somebody has made a bound.
 */
extern int64 strata_time_from_bound(Oid key_type, Datum value);

/* A bound as it stands in FOR VALUES: a quoted literal. */
extern char *strata_time_literal(Oid key_type, int64 time);

/* A time as part of a chunk's name. */
extern char *strata_time_label(Oid key_type, int64 time, int64 interval);

/*
 * Index of the partition for a key value in desc, or -1 and the gap that the
 * value is in.  found: the partition's range; gap: the hole's.
 */
extern int	strata_partition_find(PartitionKey key, PartitionDesc desc,
								  Oid key_type, Datum value,
								  StrataChunkRange *range);

/*
 * A chunk that is not a partition yet.  The hypertable may still be a plain
 * table.
 */
extern Oid	strata_chunk_make_table(Relation parent,
									const StrataHypertable *ht,
									const StrataChunkRange *range,
									Oid tablespace);
extern void strata_chunk_attach(Oid chunk, const StrataHypertable *ht,
								const StrataChunkRange *range);

/*
 * ereport when a chunk could not be made in the table's schema.  CREATE TABLE
 * would say the same, and not what to do about it.
 */
extern void strata_chunk_check_schema(Relation parent);

/* The tablespace of a chunk to be made, InvalidOid: the database's. */
extern Oid	strata_chunk_tablespace(const StrataHypertable *ht,
									const StrataChunkRange *range);

/*
 * Until the GUC nest level ends: indexes that have no tablespace of their own
 * go into the chunk's, where that was attached.
 */
extern void strata_chunk_indexes_into(const StrataHypertable *ht,
									  Oid tablespace);

/* ALTER TABLE SET TABLESPACE: those attached before count no more. */
extern void strata_hypertable_forget_tablespaces(Oid relid);

/*
 * The tables at the other end of foreign keys from and to a hypertable, whose
 * writers ATTACH PARTITION shuts out: OIDs in order, the hypertable's own
 * among them when a key leads from it to itself.
 */
extern List *strata_foreign_key_tables(Relation rel);

/*
 * Take the locks that making the chunk for a time needs, waiting for each with
 * none of the others in hand.  ereports 40001 when writers of a table at the
 * other end of a foreign key wait for us, or do not end within patience (ms;
 * 0: they are waited for as long as lock_timeout says).
 */
extern void strata_chunk_lock_to_make(Oid hypertable, int64 time,
									  int patience);

/*
 * ereport where rows of other chunks that come into a chunk could break a
 * foreign key of its own, or rows that leave it one that refers to it alone.
 */
extern void strata_chunk_refuse_own_key(Oid hypertable, Relation chunk);
extern void strata_chunk_refuse_reference(Relation chunk);

/*
 * Work as the owner of a hypertable, as far as it is known who that is; false:
 * the table is gone.  Background workers do so before they look at it, since
 * opening it runs code of his: relcache evaluates what is constant in a
 * partition key.  Until strata_owner_leave().
 */
extern bool strata_hypertable_owner_enter(Oid relid,
										  StrataOwnerContext *saved);

/*
 * Have a background worker make the chunk of a time, and a number after it;
 * does not wait.
 */
extern void strata_chunk_ask_ahead(Oid hypertable, int64 time, int ahead);

/*
 * In a worker: of sessions that wait for each other it is this one that fails,
 * and soon.
 */
extern void strata_chunk_worker_yield(void);

/*
 * Make a chunk for a hypertable that this session uses right now: in a worker,
 * or in this process when the hypertable is this transaction's own.  patience:
 * as above.
 */
extern void strata_chunk_create_on_demand(Relation parent, int64 time,
										  int patience);

/* Move the rows of a plain table into chunk tables; returns StrataChunk *s. */
extern List *strata_hypertable_move_rows(Relation rel,
										 const StrataHypertable *ht,
										 Node *key_expression);

/*
 * The first chunk of a heap table whose rows stay where they are.  check:
 * ereports when there cannot be one; any lock will do.  make: with the table
 * still a table, AccessExclusiveLock on it, and the time not null; afterwards
 * heir->chunk is to be attached.  take: with the table a hypertable that has
 * no files any more and the chunk attached, the chunk has them; the last thing
 * of the transaction.
 */
typedef struct StrataHeir
{
	StrataChunk chunk;
	StrataStorageRow storage;	/* the table's */
	List	   *indexes;		/* StrataStorageRow *, its indexes' */
} StrataHeir;

extern void strata_heir_check(Relation rel, AttrNumber attno);
extern StrataHeir *strata_heir_make(Relation rel, const StrataHypertable *ht);
extern void strata_heir_take(const StrataHeir *heir, Oid hypertable);

/*
 * A new chunk without rows and a table of the same columns have each other's
 * files, the chunk the TOAST table of both.
 */
extern void strata_heir_exchange(Oid chunk, Oid part);

/*
 * chunk_rewrite.c: privileges of one chunk for another, unless it has row
 * security; a chunk that is about to go has no rows any more, which foreign
 * keys would find.  chunk_leave.c: the settings of the hypertable become the
 * table's own.
 */
extern void strata_chunk_copy_privileges(Oid from, Oid to);
extern void strata_chunk_empty(Oid chunk);
extern void strata_chunk_keep_settings(Oid hypertable, Oid chunk);

/*
 * Who reads the hypertable with a snapshot that does not see this transaction
 * would miss rows, from its commit on.
 */
extern void strata_hypertable_note_divided(Oid relid);

/* The transaction that the option's text names; 0: it is no such text. */
extern uint64 strata_divided_parse(const char *text);

/* A TOAST table goes, and not the table that it hangs on. */
extern void strata_toast_drop(Oid toast);

/* Hash over everything of the hypertable that a chunk is made from. */
extern uint32 strata_hypertable_fingerprint(Relation rel);

/*
 * ALTER commands, as text, that give an attached chunk what the hypertable has
 * and CREATE TABLE LIKE leaves out.
 */
extern List *strata_chunk_follow_commands(Oid hypertable, Oid chunk);

/*
 * ereport when an index or CHECK of rel refers to a whole row: no chunk can
 * have it.
 */
extern void strata_whole_row_refuse(Relation rel);

/*
 * Storage options: of a text as in strata.chunk_options, checked; and as such
 * a text, without those that are ours, with a prefix before each name.
 */
extern List *strata_storage_options_parse(const char *text);
extern void strata_storage_options_append(StringInfo text, List *options,
										  const char *prefix);

/*
 * Does the partition key go by a function of one column, so that a unique key
 * may have the column instead?
 */
extern bool strata_unique_key_column(Relation rel, const StrataHypertable *ht);

/*
 * Enter the hypertable's own part of an index, invalid, and return it; or,
 * when one exists that an earlier statement has not finished, ereport unless
 * this statement defines the same.  The caller holds ShareUpdateExclusiveLock
 * on the hypertable and has checked that the user owns it.
 */
extern Oid	strata_index_define(Relation parent, const StrataHypertable *ht,
								const IndexStmt *stmt, const char *query,
								Oid existing);

/*
 * Have two indexes the same definition?  map is from columns of a's table to
 * those of b's.
 */
extern bool strata_index_is_same(Relation a, Relation b, const AttrMap *map);

extern void strata_ahead_init(void);
extern void strata_route_init(void);
extern void strata_watch_init(void);
extern void strata_turns_init(void);

/* Have relcache read the partitions of rel until it has them as they are. */
extern void strata_partitions_settle(Relation rel);

/*
 * now_qual.c: is the Var the time column of a hypertable, seen through
 * subqueries and joins? What is added of it is implied wherever it stands; how
 * far down it goes is PostgreSQL's to decide.
 */
extern bool strata_is_time_column(Var *var, Query *query);

/*
 * The least value, as one of the column's type, that an expression of now()
 * can have from here on; false when it is something else.
 */
extern bool strata_now_least_value(Node *node, Oid column_type, Datum *value);

/*
 * local_qual.c: what a condition on a date or a local time of a hypertable's
 * time implies for the column, ANDed.
 */
extern List *strata_local_implied(Node *qual, Query *query,
								  ParamListInfo params);

#endif							/* STRATA_HYPERTABLE_PRIVATE_H */
