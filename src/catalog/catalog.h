/*-------------------------------------------------------------------------
 *
 * catalog.h
 *	  A table's strata settings: where they are kept and what they mean.
 *
 * Settings live in pg_class.reloptions as "strata.<name>=<value>", so a dump
 * carries them, psql shows them, and they roll back, move and die with their
 * table (docs/adr/001).  A partition without settings of its own uses those of
 * its nearest ancestor that has some (segmentby and orderby together, each
 * codec option by itself).
 *
 * PostgreSQL has a header of this name, which from 17 on its utils/rel.h
 * includes and finds this one: hence that one comes along, and nothing here
 * may need utils/rel.h.
 *
 * src/catalog/catalog.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_CATALOG_H
#define STRATA_CATALOG_H

#include "postgres.h"

#include_next "catalog/catalog.h"

#include "codec/codec.h"
#include "nodes/parsenodes.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"
#include "utils/timestamp.h"

/* One column of strata.segmentby or strata.orderby, resolved. */
typedef struct StrataSettingKey
{
	AttrNumber	attno;
	bool		desc;
	bool		nulls_first;
} StrataSettingKey;

typedef struct StrataSettings
{
	bool		has_segmentby;	/* said, even if empty */
	bool		has_orderby;
	int			nsegmentby;
	StrataSettingKey *segmentby;
	int			norderby;
	StrataSettingKey *orderby;
	StrataLevel codec_level;
	StrataCodecId *codecs;		/* wanted, indexed by attno - 1; NULL: none
								 * named */
} StrataSettings;

/*
 * Settings in force for rel, own or inherited.  Columns that no longer exist
 * are left out.  Current context.
 */
extern StrataSettings *strata_settings_get(Relation rel);

/* Do indexes of rel lead to batches, too (strata.batch_index)? */
extern bool strata_settings_batch_index(Relation rel);

/* Does rel want its loads to go straight into batches (strata.direct_load)? */
extern bool strata_settings_direct_load(Relation rel);

/* Does rel, or its hypertable, say that no load of any kind is to do so? */
extern bool strata_settings_refuse_direct_load(Relation rel);

/*
 * Is rel's own option strata.compressed set?  compress_chunk sets it, and
 * decompress_chunk takes it away, so that a dump tells which tables had
 * batches.  To note what is noted already does nothing; the caller has the
 * lock of compression.
 */
extern bool strata_settings_compressed(Relation rel);
extern void strata_settings_note_compressed(Relation rel, bool compressed);

/*
 * The same with other texts for segmentby and orderby (NULL: as stored),
 * checked.
 */
extern StrataSettings *strata_settings_with(Relation rel,
											const char *segmentby,
											const char *orderby);

/* Value of one stored option of relid ("segmentby"), or NULL; own only. */
extern char *strata_settings_get_text(Oid relid, const char *name);

/*
 * Check options (DefElems without the namespace, names like "segmentby") for
 * rel: ereport on unknown names, columns, duplicates, types without order.
 * rel may be a partitioned table.
 */
extern void strata_settings_check(Relation rel, List *options);

/* ereport where ALTER TABLE sets or resets what is only written by us. */
extern void strata_settings_refuse_internal(List *options, bool reset);

/* Does the text of a segmentby name the column?  ereports where it is none. */
extern bool strata_settings_list_names(const char *segmentby,
									   const char *column);

/*
 * Set or (reset) remove options in relid's pg_class row.  The caller holds a
 * lock that conflicts with itself and did the check.  Ends with a command
 * counter increment.
 */
extern void strata_settings_store(Oid relid, List *options, bool reset);

/* Store an option of PostgreSQL's. */
extern void strata_settings_store_foreign(Oid relid, DefElem *option);

/*
 * Take all strata.* entries out of relid's row, and return them as DefElems.
 */
extern List *strata_settings_remove_all(Oid relid);

/* Make these (names without prefix) relid's only options, of whatever kind. */
extern void strata_settings_replace_all(Oid relid, List *options);

/*
 * After RENAME COLUMN / DROP COLUMN: keep the stored texts in step (new NULL:
 * drop).
 */
extern void strata_settings_column_changed(Oid relid, const char *old,
										   const char *new_name);

/* After ALTER COLUMN TYPE: the column leaves options that do not suit it. */
extern void strata_settings_column_retyped(Relation rel, const char *name);

/* A dimension beside time, which makes no partitions: by hash, or by range. */
typedef struct StrataDimension
{
	char	   *column;
	int			partitions;		/* hash */
	char	   *interval;		/* range: digits, or an interval; else NULL */
} StrataDimension;

/* Those of a table (StrataDimension *), in order; and store them. */
extern List *strata_dimensions_get(Oid relid);
extern void strata_dimensions_store(Oid relid, List *dimensions);

/*
 * Names (char *) in the option strata.tablespaces; NIL: it is not there, or
 * empty.
 */
extern List *strata_tablespaces_parse(const char *text);

/* "hot", "balanced", "archive". */
extern const char *strata_level_name(StrataLevel level);

/*
 * Is the DefElem one of ours ("strata".x or "strata.x")?  *name: without
 * prefix.
 */
extern bool strata_settings_is_option(DefElem *def, const char **name);

/*
 * The same for the namespaces timescaledb and tsdb, where they count at all;
 * of one that means nothing here *name is NULL, and the second says so to the
 * user.
 */
extern bool strata_settings_is_compat_option(DefElem *def, const char **name);
extern void strata_compat_tell_ignored(DefElem *def);

/*
 * What the user typed for an option (its name without prefix), for messages:
 * options, of which defnamespace is that, or NULL for "strata.<name>", are
 * remembered until the next call, with NIL at the end.
 */
extern void strata_option_remember_typed(List *options);
extern const char *strata_option_typed(const char *name);

/*
 * Take TimescaleDB's sparse_index out of options; attnos of the columns that
 * it wants a filter of.
 */
extern Bitmapset *strata_compat_take_sparse_index(Relation rel,
												  List **options);

/* Of an index of the column, for a hint. */
extern char *strata_option_index_statement(Relation rel, const char *column);

/* The value of an option that is a switch; ereports when it is none. */
extern bool strata_option_bool(DefElem *def);

/*
 * The value of the setting timescaledb.<name>, or NULL where it does not
 * count. Is a setting, by its whole name, one of those?  *ours: without
 * prefix.
 */
extern const char *strata_compat_setting(const char *name);
extern bool strata_compat_knows_setting(const char *name, const char **ours);

/*-------------------------------------------------------------------------
 * Jobs: the tables _strata.job, _strata.job_stat and _strata.job_history
 *-------------------------------------------------------------------------
 */

/*
 * catalog_distributed.c: is Citus in this database?  Has it distributed the
 * table, which is empty here then?  Is the table a shard of such a one?  The
 * last raises an error for the empty one.
 */
extern bool strata_database_may_distribute(void);
extern bool strata_table_is_distributed(Oid relid);
extern bool strata_table_is_shard(Oid relid);
extern void strata_table_refuse_distributed(Oid relid);

/* Ids below this are jobs of the extension itself. */
#define STRATA_JOB_FIRST_USER_ID 1000

/* A row of _strata.job with its row of _strata.job_stat. */
typedef struct StrataJob
{
	int32		id;
	char	   *name;			/* without the id */
	Interval	schedule_interval;
	Interval	max_runtime;	/* zero: no limit */
	int32		max_retries;	/* -1: no limit */
	Interval	retry_period;
	char	   *proc_schema;
	char	   *proc_name;
	Oid			owner;			/* a policy's: who owns the table now */
	Oid			named_owner;	/* who owned it when the policy was made, or
								 * its check set: as him the check is called */
	bool		scheduled;
	bool		fixed_schedule;
	bool		has_initial_start;
	TimestampTz initial_start;
	char	   *timezone;		/* or NULL */
	Oid			hypertable;		/* or InvalidOid */
	bool		has_config;
	Datum		config;			/* jsonb */
	char	   *check_schema;	/* or NULL */
	char	   *check_name;

	/* from job_stat; a job that was restored has no row there yet */
	bool		has_stat;
	TimestampTz next_start;
	bool		has_last_finish;
	TimestampTz last_start;
	TimestampTz last_finish;
	int32		consecutive_failures;
	int32		running_pid;	/* or 0 */
} StrataJob;

/* What a failed run leaves behind; all may be NULL but message. */
typedef struct StrataJobError
{
	int			sqlerrcode;
	char	   *message;
	char	   *detail;
	char	   *hint;
	char	   *context;
	bool		crash;			/* the worker is gone, nobody raised an error */
} StrataJobError;

/* Which jobs strata_job_list() gives. */
typedef enum StrataJobFilter
{
	STRATA_JOB_DUE,				/* to be started now: roles share the workers,
								 * who was served longest ago is first; of
								 * each the longest due first */
	STRATA_JOB_RUNNING,			/* marked as running */
	STRATA_JOB_WITHOUT_STAT		/* restored from a dump */
} StrataJobFilter;

/* Is the extension here, with the tables of jobs? */
extern bool strata_job_tables_exist(void);

/*
 * The same for background processes: takes a lock that keeps DROP EXTENSION
 * waiting until the transaction ends.  It drops our tables in an order of its
 * own, so meeting it half-way would be a deadlock, and its user the victim.
 */
extern bool strata_job_tables_lock(void);

/* NULL when there is no such job.  Current context. */
extern StrataJob *strata_job_get(int32 id);
extern List *strata_job_list(StrataJobFilter filter);

/* A policy's job on a table, by the name of its procedure; 0 if none. */
extern int32 strata_job_find_policy(const char *proc_name, Oid hypertable);

/* All of them (StrataJob *). */
extern List *strata_job_list_policies(const char *proc_name, Oid hypertable);

/* Those that name the role as their owner, policies too (StrataJob *). */
extern List *strata_job_list_of_role(Oid role);

/*
 * Lock the row of a job, or of those that name the role as their owner, until
 * the transaction ends.  What was read before may be old by then.
 */
extern void strata_job_lock(int32 id);
extern void strata_job_lock_of_role(Oid role);

/*
 * Insert (id is filled in), change all columns of (who does has the row
 * locked since before it was read), delete a job with its statistics.
 */
extern void strata_job_insert(StrataJob *job);
extern void strata_job_update(const StrataJob *job);
extern void strata_job_delete(int32 id);

/* Delete the jobs of a table that is being dropped. */
extern void strata_job_delete_of(Oid relid);

/* Delete the jobs of tables that are gone; how many. */
extern int	strata_job_delete_orphans(void);

/* Set next_start (makes the row of job_stat when there is none). */
extern void strata_job_set_next_start(int32 id, TimestampTz next_start);

/*
 * Jobs that a restore brought: mark one, which has its row of job_stat; is
 * there any; have those without a fixed schedule, and all policies, start at
 * soon if not earlier, and take the marks away.
 */
extern void strata_job_set_restored(int32 id);
extern bool strata_job_any_restored(void);
extern void strata_job_start_restored(TimestampTz soon);

/* The table of jobs. */
extern Oid	strata_job_relation(void);

/* Mark as running by this process if it is due and not running; else false. */
extern bool strata_job_claim(int32 id);

/*
 * Record the end of the run that process pid began at job->last_start; error
 * is NULL when it succeeded.  False when the row says nothing of that run.
 */
extern bool strata_job_finish(const StrataJob *job, TimestampTz finish,
							  TimestampTz next_start, int32 pid,
							  const StrataJobError *error);

/*
 * When the next job that is not running is to start, or space is to be given
 * back; DT_NOEND when neither is.
 */
extern TimestampTz strata_job_earliest(void);

/*
 * The queue of tables whose freed space is to be given back; catalog_space.c.
 * An entry: the relation, whether batches went, and how often it was tried.
 */
typedef struct StrataSpaceEntry
{
	Oid			relid;
	bool		batches;
	int32		tries;
	int64		last;			/* the newest id that was taken */
} StrataSpaceEntry;

/* Add a table, when this transaction commits: its rows, or batches, went. */
extern void strata_space_queue_add(Oid relid, bool batches);

/*
 * horizon, a full transaction ID, is the oldest one that some snapshot may not
 * see as over: what later ones removed stays for the time being.
 *
 * hold: postpone what is due but stays.  take: the table that is due the
 * longest, of what can go; false if there is none.
 */
extern void strata_space_queue_hold(uint64 horizon);
extern bool strata_space_queue_take(uint64 horizon, StrataSpaceEntry *entry);

/*
 * It is done (waits_for NULL), or is tried again: "snapshot", "lock", or the
 * message of an error.
 */
extern void strata_space_queue_finish(const StrataSpaceEntry *entry,
									  const char *waits_for);

/* When the next one is due; DT_NOEND: none is left. */
extern TimestampTz strata_space_queue_earliest(void);

#define STRATA_SPACE_QUEUE "space_queue"

/* The queue itself, in which the horizon is that of every table. */
extern Oid	strata_space_queue_relation(void);

/*-------------------------------------------------------------------------
 * Rollups: _strata.rollup_source and _strata.rollup_mark, catalog_track.c
 *-------------------------------------------------------------------------
 */

/*
 * Times of the hypertable that are tracked, from lo to hi, by the newest
 * snapshot; false: none.
 */
extern bool strata_track_source_get(Oid hypertable, int64 *lo, int64 *hi);

/* Track these, too; track no more, and forget what was marked. */
extern void strata_track_source_extend(Oid hypertable, int64 lo, int64 hi);
extern void strata_track_source_forget(Oid hypertable);

/* The marks that the snapshot sees; both ends inclusive. */
typedef void (*StrataMarkVisitor) (int64 lo, int64 hi, void *arg);
extern void strata_track_marks_visit(Oid hypertable, Snapshot snapshot,
									 StrataMarkVisitor visit, void *arg);

/*
 * The same, and delete them; only for who has the rollups of the hypertable
 * to himself.
 */
extern void strata_track_marks_take(Oid hypertable, Snapshot snapshot,
									StrataMarkVisitor visit, void *arg);

/* Rows of these times have changed.  Also while a transaction commits. */
extern void strata_track_mark(Oid hypertable, int64 lo, int64 hi);

/*
 * catalog_divide.c: chunks that are being divided.  A row is about a part, a
 * table that has a copy of the source's rows of times from lo to before hi; or
 * (part InvalidOid) about the source as such: which file it had, and its
 * hypertable's fingerprint, when its changes began to be noted (file
 * InvalidOid: they are not yet).  Then lo and hi are PG_INT64_MIN, and hi
 * PG_INT64_MAX once all intervals are copied.  division: the transaction that
 * began it, so that who has begun it can tell it from a later one.
 */
typedef struct StrataDivideRow
{
	Oid			source;
	Oid			part;
	int64		lo;
	int64		hi;
	Oid			file;
	int64		fingerprint;
	int64		division;
} StrataDivideRow;

/*
 * Who divides the chunk has it to himself until the end of his transaction;
 * false: somebody else has.
 */
extern bool strata_divide_lock(Oid source);
extern void strata_divide_add(const StrataDivideRow *row);

/* All intervals of the source are copied. */
extern void strata_divide_set_copied(Oid source);

/*
 * Parts (StrataDivideRow *) in order of time.  *self: the row of the source;
 * its source is InvalidOid when there is none.
 */
extern List *strata_divide_rows(Oid source, StrataDivideRow *self);
extern void strata_divide_remove(Oid source);

/* All chunks that are, or were to be, divided: OIDs. */
extern List *strata_divide_sources(void);

/* A row of that time has changed. */
extern void strata_divide_mark(Oid source, int64 time);

/* The times noted by now, in order, each once; they are not any more. */
extern int64 *strata_divide_take(Oid source, int *n);

/* catalog_rollup.c: rows of _strata.rollup, palloc'd; NULL, NIL: none. */
typedef struct StrataRollupRow
{
	Oid			view;
	Oid			source;
	Oid			archive;
	bool		materialized_only;
	int64		losses;			/* how often rows of the archive have gone ... */
	int64		drops;			/* and rows of kept times, that older
								 * snapshots should find */
} StrataRollupRow;

extern void strata_rollup_row_add(const StrataRollupRow *row);
extern void strata_rollup_row_set_materialized_only(Oid view, bool only);

/* Rows go that older snapshots should find; archived: of the archive. */
extern void strata_rollup_row_lose(Oid view, bool archived);
extern StrataRollupRow *strata_rollup_row(Oid view);
extern StrataRollupRow *strata_rollup_row_at(Oid view, Snapshot snapshot);
extern StrataRollupRow *strata_rollup_row_of_archive(Oid archive);
extern List *strata_rollup_rows_of_source(Oid source);

/* Is it the archive of a rollup?  Cheap where it is none. */
extern bool strata_rollup_is_archive(Oid relid);

/*
 * The lock of a source's rollups, until the end of the transaction: one
 * refresh at a time, and nobody tracks no more meanwhile.  false: not to be
 * had without waiting.
 */
extern bool strata_rollup_lock(Oid source, bool wait);

/* A view is one like others from now on; nobody tracks for it. */
extern void strata_rollup_forget(Oid view);

/*
 * catalog_cover.c: times from lo to before hi of which a view's archive is
 * complete, but for marks.  visit: as the snapshot sees them, in order.
 */
extern void strata_cover_visit(Oid view, Snapshot snapshot,
							   StrataMarkVisitor visit, void *arg);
extern void strata_cover_add(Oid view, int64 lo, int64 hi);
extern void strata_cover_remove(Oid view, int64 lo);
extern void strata_cover_forget(Oid view);

/*
 * The same, of which the archive alone has what was made of rows that
 * retention dropped.
 */
extern void strata_cover_kept_visit(Oid view, Snapshot snapshot,
									StrataMarkVisitor visit, void *arg);
extern void strata_cover_kept_add(Oid view, int64 lo, int64 hi);
extern void strata_cover_kept_forget(Oid view);

/*
 * Whoever refreshes a rollup of the source says so: another with an older
 * snapshot, who would do it, too, gets 40001.
 */
extern void strata_rollup_next_generation(Oid source);

#endif							/* STRATA_CATALOG_H */
