/*-------------------------------------------------------------------------
 *
 * hypertable.h
 *	  Hypertables: natively range-partitioned tables whose partitions, the
 *	  chunks, use strata and are made when a row needs them.
 *
 * A hypertable is a partitioned table with one range key that has the option
 * strata.chunk_interval; there is no catalog beside PostgreSQL's.
 *
 * src/hypertable/hypertable.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_HYPERTABLE_H
#define STRATA_HYPERTABLE_H

#include "postgres.h"

#include "nodes/params.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "tcop/cmdtag.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

/*
 * Times are int64 in the units of the key's type: microseconds since
 * PostgreSQL's epoch (timestamp, timestamptz, uuid), days (date), the number
 * itself (integers).
 */
typedef struct StrataHypertable
{
	Oid			relid;
	AttrNumber	attno;			/* of the time column; with a partitioning
								 * function: of its argument */
	bool		has_function;	/* the key is a function of the column */
	Oid			key_type;		/* base type of the key */
	int64		interval;		/* length of chunks to come; negative: that
								 * many calendar months */
} StrataHypertable;

/* What relid's options say, or NULL when it is not a hypertable. */
extern StrataHypertable *strata_hypertable_get(Oid relid);
extern bool strata_hypertable_is(Oid relid);

/* The relation's name; ereports when it is gone, or not the user's. */
extern char *strata_owned_relation_name(Oid relid);

/*
 * The archive where relid is a continuous aggregate, whose chunks and sizes
 * are meant; else relid.
 */
extern Oid	strata_hypertable_meant(Oid relid);

/*
 * The same as get; ereports when it is none.  For whoever has no lock that
 * keeps ALTER TABLE RESET away, though he knows that it was one.
 */
extern StrataHypertable *strata_hypertable_require(Oid relid);

/*
 * The same as get, of what is meant; ereports when that is none, or relid is
 * not the user's.
 */
extern StrataHypertable *strata_hypertable_open(Oid relid);

extern bool strata_time_type_is_integer(Oid type);

/*
 * Can it be a hypertable's time: an integer, a date, a timestamp, a UUID of
 * version 7?
 */
extern bool strata_time_type_is_known(Oid type);

/*
 * A key value as time, and back; infinities are INT64_MIN and INT64_MAX.
 * ereports on a UUID that is not of version 7; back is the least of a time.
 */
extern int64 strata_time_from_datum(Oid key_type, Datum value);
extern Datum strata_time_to_datum(Oid key_type, int64 time);

/*
 * A chunk length given as interval or number (text: as strata.chunk_interval).
 * Negative: an interval of nothing but months, which are calendar months.
 */
extern int64 strata_time_interval_from_datum(Oid key_type, Oid type,
											 Datum value);
extern int64 strata_time_interval_from_text(Oid key_type, const char *text);
extern char *strata_time_interval_to_text(Oid key_type, int64 interval);

/*
 * About how long that is; calendar months have 30 days.  And: the chunk length
 * that a range has, which is one of months where it is one of whole months.
 */
extern int64 strata_time_interval_length(Oid key_type, int64 interval);
extern int64 strata_time_interval_between(Oid key_type, int64 lo, int64 hi);

/* So many times a chunk interval, or that itself where no type has as many. */
extern int64 strata_time_interval_times(Oid key_type, int64 interval,
										int64 factor);

/*
 * An interval's length in microseconds, a month being 30 days where there are
 * days, too; ERRCODE_DATETIME_VALUE_OUT_OF_RANGE.
 */
extern int64 strata_time_interval_usecs(const Interval *interval);

/* The length where nobody gave one: that of TimescaleDB. */
extern int64 strata_time_interval_default(Oid key_type);

/* Warn of a length that is probably a number in other units than thought. */
extern void strata_time_interval_doubt(Oid key_type, int64 interval);

/* The present time of a hypertable: now(), or its integer_now function. */
extern int64 strata_hypertable_now(const StrataHypertable *ht);

/*
 * A point in time given to a function as "any": a value of a time type or an
 * integer, or an interval (or, with integer time, nothing else) before now.
 * Between two days, with a time column of days, it is the one before, or, with
 * up, the one after: the first that is not before the point.
 */
extern int64 strata_hypertable_point(const StrataHypertable *ht, Oid type,
									 Datum value, const char *argument,
									 bool up);

/* What create_hypertable is asked for. */
typedef struct StrataHypertableRequest
{
	const char *column;
	Oid			function;		/* time_partitioning_func, or InvalidOid */
	bool		has_interval;
	Oid			interval_type;
	Datum		interval;
	const char *interval_text;	/* instead: as in strata.chunk_interval */
	bool		default_indexes;
	bool		migrate_data;
	bool		in_place;		/* a heap's rows stay, as the first chunk */
} StrataHypertableRequest;

/*
 * Turn a table into a hypertable, in place.  The caller holds
 * AccessExclusiveLock on it and has checked that the user owns it.
 */
extern void strata_hypertable_create(Oid relid,
									 const StrataHypertableRequest *request);

/* Says of the time that it is not null, until the column does. */
#define STRATA_NOT_NULL_CHECK "strata_convert_not_null"

/*
 * ereport when a heap table cannot become a hypertable in place, by what can
 * be seen under AccessShareLock, which the caller holds.  The result: is the
 * column known not to be null?
 */
extern bool strata_hypertable_check_in_place(Oid relid, const char *column);

/*
 * CREATE TABLE WITH (strata.hypertable, strata.partition_column, ...): makes a
 * hypertable of the table just made, if the options say so; those used up
 * are taken off the list.
 */
extern void strata_hypertable_create_with(Oid relid, List **options);

/*
 * A segmentby is about to be set that may name the time of a hypertable: then
 * the order by it that create_hypertable() gave, or would have, goes.
 */
extern void strata_hypertable_yield_order(Oid relid, const char *segmentby);

/*
 * Names (char *) of the tablespaces that new chunks are put into in turn; NIL:
 * the database's.  And set them; the caller holds ShareUpdateExclusiveLock.
 */
extern List *strata_hypertable_tablespaces(Oid relid);
extern void strata_hypertable_set_tablespaces(Oid relid, List *names);

/*
 * Check options that ALTER or (is_new) CREATE TABLE sets on a hypertable or
 * table.  A table may be made before the function that it names.  And those of
 * them that say something in this cluster, which a dump may not be of.
 */
extern void strata_hypertable_check_options(Relation rel, List *options,
											bool is_new);
extern List *strata_hypertable_own_options(List *options);

/* ereport where a function cannot tell the present time of a hypertable. */
extern void strata_hypertable_check_now(const StrataHypertable *ht,
										Oid function);

/* A function's name with its schema, quoted. */
extern char *strata_function_name(Oid function);

/*
 * ereport when the relation is a hypertable with an index or CHECK that refers
 * to a whole row.
 */
extern void strata_hypertable_refuse_whole_row(Oid relid);

/*
 * ALTER TABLE on a hypertable that PostgreSQL would carry out on it alone: is
 * it in the statement; do it to the chunks too, after the statement has run.
 * The schema likewise.
 */
extern bool strata_hypertable_alters_chunks(const AlterTableStmt *stmt);
extern void strata_hypertable_alter_chunks(Oid relid,
										   const AlterTableStmt *stmt);

/* The same for ALTER INDEX on an index of a hypertable. */
extern void strata_hypertable_alter_indexes(Oid index,
											const AlterTableStmt *stmt);

/* ereport when ALTER TABLE gave a hypertable another access method (17). */
extern void strata_hypertable_check_access_method(Relation rel);

/*
 * Commands that set and reset storage options, which the hypertable itself
 * cannot have.
 */
extern void strata_hypertable_set_storage(Oid relid,
										  const AlterTableStmt *stmt,
										  List *cmds);
extern void strata_hypertable_move_chunks(Oid relid, const char *old_schema,
										  const char *new_schema);

/*
 * Let the statement that is about to run make a unique key of a hypertable
 * with a partitioning function, until strata_partition_key_restore(); false:
 * nothing to allow.
 */
extern bool strata_unique_key_allow(Oid relid);

/*
 * CREATE INDEX CONCURRENTLY on a hypertable, or, when the statement does not
 * say concurrent, the same with a transaction for each chunk.  Commits; the
 * caller has checked that this is allowed.  Scribbles on the statement.
 */
extern void strata_hypertable_create_index(IndexStmt *stmt, const char *query);

/* A chunk's range; no_lo, no_hi: unbounded. */
typedef struct StrataChunkRange
{
	int64		lo;				/* inclusive */
	int64		hi;				/* exclusive */
	bool		no_lo;
	bool		no_hi;
} StrataChunkRange;

typedef struct StrataChunk
{
	Oid			relid;
	StrataChunkRange range;
} StrataChunk;

/*
 * The chunks of a hypertable (StrataChunk *) in order of time.  Reads the
 * catalog, locks no chunk.
 */
extern List *strata_chunk_list(const StrataHypertable *ht);

/*
 * The range of a partition, by its pg_class row; false when it has none of
 * ours.
 */
extern bool strata_chunk_range(Oid chunk, Oid *key_type,
							   StrataChunkRange *range);

/* The same as times, both ends inclusive; for strata_track_chunk_range. */
extern bool strata_chunk_times(Oid chunk, int64 *lo, int64 *hi);

/* When the chunk was made; false when nobody wrote it down. */
extern bool strata_chunk_created(Oid chunk, TimestampTz *created);

/*
 * Make the chunk for a time in this process and transaction, unless it is
 * there; for callers that have the hypertable not open.  True: it was made.
 */
extern bool strata_chunk_create(Oid hypertable, int64 time);

/*
 * Lock a hypertable and, as attaching and detaching a partition does, the
 * tables at the other end of its foreign keys against writers.  Waits with
 * none of the locks in hand: a writer of the hypertable may be about to need a
 * chunk, and a writer of a table it refers to about to write to it.
 */
extern void strata_chunk_lock(Oid hypertable, LOCKMODE lockmode);

/*
 * The chunk's part of a hypertable's index, or an index of its own; else
 * InvalidOid.
 */
extern Oid	strata_chunk_index(Oid chunk, Oid index);

/*
 * Merge chunks (StrataChunk *, in order of time) into the first, and split one
 * at a time within its range; the result is the merged, and the new second,
 * chunk.  *compressed: there were batches; now all are rows.  The caller has
 * checked permissions, that nothing is in use, and holds AccessExclusiveLock
 * on the hypertable and the chunks.
 */
extern bool strata_chunk_is_merging;	/* what is dropped is kept elsewhere */
extern Oid	strata_chunk_merge(const StrataHypertable *ht, List *chunks,
							   bool *compressed);
extern Oid	strata_chunk_split(const StrataHypertable *ht,
							   const StrataChunk *chunk, int64 at,
							   bool *compressed);

/*
 * Drop chunks (OIDs), make one a table of its own, make a table a chunk.
 * Dropping and detaching fails while foreign keys refer to their rows.  The
 * caller has checked permissions and holds the locks.
 */
extern void strata_chunk_drop(const StrataHypertable *ht, const List *chunks);
extern void strata_chunk_detach(Oid hypertable, Oid chunk);
extern void strata_chunk_adopt(const StrataHypertable *ht, Oid table,
							   const StrataChunkRange *range);

/* The statement trigger that refuses INSERT in sessions without the library. */
#define STRATA_GUARD_TRIGGER "strata_guard"

/*
 * A hypertable, whose chunks are heaps already, is a partitioned table like
 * others from now on: policies, options and the guard trigger go.  The caller
 * holds ShareUpdateExclusiveLock.
 */
extern void strata_hypertable_release(Oid relid);

/* Do foreign keys refer to the hypertable?  The caller has it locked. */
extern bool strata_hypertable_is_referenced(Oid hypertable);

/* Owner of a table. */
extern Oid	strata_relation_owner(Oid relid);

/*
 * Make the chunks that are missing from a time on to before another; returns
 * how many.  used: the hypertable, which the session has open; each chunk is
 * made in a transaction of its own then, as for a row.  NULL: in this process
 * and transaction.
 */
extern int	strata_chunk_create_range(const StrataHypertable *ht, int64 from,
									  int64 to, Relation used);

/*
 * Likewise the chunk of a time and a number of intervals after it, in this
 * transaction.
 */
extern int	strata_chunk_create_ahead(const StrataHypertable *ht, int64 time,
									  int ahead);

/*
 * Planner: from now on hear of changes of a hypertable; the present moment, to
 * be asked for before its chunks are looked up, which are made known as they
 * are.  Then: was it changed after that moment, as far as the session has
 * heard?
 */
extern uint64 strata_hypertable_watch(Oid relid);
extern bool strata_hypertable_changed_since(Oid relid, uint64 moment);

/*
 * Was its first chunk divided by a transaction that the snapshot does not see?
 * By what a plan has heard that strata_hypertable_watch() was asked for.
 */
extern bool strata_hypertable_divided_since(Oid relid, Snapshot snapshot);

/*
 * A chunk of all times up to some moment becomes chunks of the interval
 * (chunk_divide.c).  The caller has strata_divide_lock() and runs as the
 * owner.  register: it is to be divided.  begin: its changes are noted from
 * this transaction's commit on, under ShareRowExclusiveLock; which division
 * that is.  begun: the one whose changes are noted, and what it has copied is
 * good; 0: none.  check: ereports when that is not it; check_same: as far as
 * the catalog of divisions says.  copy_next: the rows of the first interval
 * from *from on that has no copy, their number into *rows; false: there is
 * none.  follow: what has changed since is copied again; the number of times.
 * locked: everybody waits, so it ereports 55P03 when these are many, or an
 * interval has no copy.  finish: the copies become chunks, under
 * AccessExclusiveLock on both, with nothing left to follow; the last thing of
 * the transaction; how many.  give_up: it is not to be divided any more;
 * has_begun: there is something to give up.  dropped: it is being dropped.
 * drop_owned: all of a role is about to be, its copies of chunks with it.
 */
extern void strata_divide_register(Oid chunk);
extern bool strata_divide_is(Oid chunk);
extern int64 strata_divide_begun(const StrataHypertable *ht, Oid chunk);
extern void strata_divide_check_same(Oid chunk, int64 division);
extern void strata_divide_check(const StrataHypertable *ht, Oid chunk,
								int64 division);
extern int64 strata_divide_begin(const StrataHypertable *ht, Oid chunk);
extern bool strata_divide_earliest(const StrataHypertable *ht, Oid chunk,
								   int64 from, int64 *earliest);
extern bool strata_divide_copy_next(const StrataHypertable *ht, Oid chunk,
									int64 *from, uint64 *rows);
extern int	strata_divide_follow(const StrataHypertable *ht, Oid chunk,
								 bool locked);
extern int	strata_divide_finish(const StrataHypertable *ht, Oid chunk,
								 int64 division);
extern bool strata_divide_has_begun(Oid chunk);
extern void strata_divide_give_up(Oid chunk);
extern void strata_divide_dropped(Oid chunk);
extern void strata_divide_drop_owned(Oid role);

/* Is a table of that name, in our schema, a copy of a part? */
extern bool strata_divide_is_part_name(const char *name);

/*
 * chunk_own.c: what a chunk that others take the place of has of its own.
 * objects: a line each, palloc'd; NULL: none.  refuse: ereports when there
 * are.  name: a warning that names them, and comments, options and the like.
 */
extern char *strata_chunk_own_objects(Oid hypertable, Oid chunk);
extern void strata_chunk_refuse_own(Oid hypertable, Oid chunk);
extern void strata_chunk_name_own(Oid hypertable, Oid chunk);

/*
 * Planner: let conditions with now(), and on dates and local times, prune
 * chunks.  Changes the query.
 */
extern void strata_now_add_quals(Query *query, ParamListInfo params);

extern void strata_hypertable_init(void);

#endif							/* STRATA_HYPERTABLE_H */
