/*-------------------------------------------------------------------------
 *
 * base.h
 *	  Everything process wide: settings (GUCs), error helpers, versions.
 *
 * The only header of src/base that other folders include besides compat.h.
 *
 * src/base/base.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BASE_H
#define STRATA_BASE_H

#include "base/compat.h"
#include "catalog/pg_type_d.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"

/* Names of the schemas and of the extension. */
#define STRATA_EXTENSION "strata"
#define STRATA_SCHEMA "strata"
#define STRATA_INTERNAL_SCHEMA "_strata"

/* Bounds of the GUCs; the check ranges in guc.c are exactly these. */
#define STRATA_BATCH_ROWS_DEFAULT 1000
#define STRATA_BATCH_ROWS_MIN 10
#define STRATA_BATCH_ROWS_MAX 32767
#define STRATA_AGG_LEAST_GROUPS_DEFAULT 1024
#define STRATA_CHUNKS_AHEAD_DEFAULT 2
#define STRATA_CHUNKS_AHEAD_MAX 100
#define STRATA_DEDUP_MIN_GAIN_DEFAULT 1200
#define STRATA_INDEX_PAGES_DEFAULT 8
#define STRATA_INDEX_PAGES_MAX 1000000
#define STRATA_MAX_JOB_WORKERS_DEFAULT 4
#define STRATA_MAX_JOB_WORKERS_MAX 64
#define STRATA_MAX_STAT_TABLES_DEFAULT 10000
#define STRATA_MAX_STAT_TABLES_MAX 1000000

/* GUCs, in the order of guc.c's table. */
extern int	strata_agg_least_groups;
extern bool strata_background_vacuum;
extern int	strata_batch_rows;
extern int	strata_chunks_ahead;
extern int	strata_dedup_min_gain;
extern int	strata_dedup_rule;	/* a StrataPageRule */
extern bool strata_enable_any_agg;
extern bool strata_enable_archive_rewrite;
extern bool strata_enable_batch_delete;
extern bool strata_enable_batch_index;
extern bool strata_enable_chunks_in_turn;
extern bool strata_enable_deduplication;
extern bool strata_enable_direct_load;
extern bool strata_enable_distinct_agg;
extern bool strata_enable_early_stop;
extern bool strata_enable_fast_output;
extern bool strata_enable_first_rows;
extern bool strata_enable_group_lookahead;
extern bool strata_enable_grouping_sets;
extern bool strata_enable_join_aggregation;
extern bool strata_enable_join_pruning;
extern bool strata_enable_join_vectors;
extern bool strata_enable_key_codes;
extern bool strata_enable_multi_insert;
extern bool strata_enable_ordered_scan;
extern bool strata_enable_page_scan;
extern bool strata_enable_parallel_scan;
extern bool strata_enable_pruning;
extern bool strata_enable_row_cache;
extern bool strata_enable_row_grouping;
extern bool strata_enable_scan;
extern bool strata_enable_spill_files;
extern bool strata_enable_summary_agg;
extern bool strata_enable_time_pruning;
extern bool strata_enable_top_n;
extern bool strata_enable_value_memo;
extern bool strata_enable_value_parts;
extern bool strata_enable_vector_agg;
extern bool strata_enable_vector_expressions;
extern bool strata_enable_vector_filter;
extern bool strata_enable_vector_sort;
extern bool strata_enable_window_filter;
extern bool strata_enable_window_limit;
extern bool strata_enable_windows;
extern int	strata_index_pages;
extern int	strata_max_job_workers;
extern int	strata_max_stat_tables;
extern bool strata_allow_drop_cascade;
extern bool strata_report_compression;
extern bool strata_torture;

extern void strata_base_init(void);

/* memory.c: called once by _PG_init. */
extern void strata_memory_init(void);

/*
 * Bytes of values of a type that are integers in an order of integers (dates
 * and times are); 0: no such type.
 */
static inline int
strata_integer_width(Oid typid)
{
	switch (typid)
	{
		case INT2OID:
			return sizeof(int16);
		case INT4OID:
		case DATEOID:
			return sizeof(int32);
		case INT8OID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return sizeof(int64);
		default:
			return 0;
	}
}

/* A datum of so many bytes (2, 4 or 8) as an integer. */
static inline int64
strata_datum_integer(Datum value, int width)
{
	return width == sizeof(int16) ? DatumGetInt16(value) :
		width == sizeof(int32) ? DatumGetInt32(value) : DatumGetInt64(value);
}

/* The way back, also of one byte. */
static inline Datum
strata_integer_datum(int64 v, int width)
{
	switch (width)
	{
		case sizeof(int8):
			return Int8GetDatum((int8) v);
		case sizeof(int16):
			return Int16GetDatum((int16) v);
		case sizeof(int32):
			return Int32GetDatum((int32) v);
		default:
			return Int64GetDatum(v);
	}
}

/*
 * A by-value Datum as it comes out of a tuple.  Functions leave other bits in
 * what is wider than the type: those that return uint32 for int4, and oids.
 * Whoever compares Datums as words wants them all alike.
 */
static inline Datum
strata_datum_of_tuple(Datum value, int typlen)
{
	Assert(typlen > 0 && typlen <= (int) sizeof(Datum));	/* base:A8 */
	switch (typlen)
	{
		case sizeof(char):
			return CharGetDatum(DatumGetChar(value));
		case sizeof(int16):
			return Int16GetDatum(DatumGetInt16(value));
		case sizeof(int32):
			return Int32GetDatum(DatumGetInt32(value));
		default:
			return value;
	}
}

/*
 * Hear of changed relations, as from CacheRegisterRelcacheCallback, which is
 * for base/ alone: PostgreSQL has room for few.
 */
typedef void (*StrataRelcacheCallback) (Datum arg, Oid relid);
extern void strata_relcache_callback_add(StrataRelcacheCallback callback);

/*
 * The uppermost ancestor of a partition, table or index; of others, and of a
 * partition that is being detached, itself.
 */
extern Oid	strata_partition_root(Oid relid);

/*
 * Call visit for a query and for each one inside it, outer ones first, until
 * it says true; that is then the result.
 */
typedef bool (*StrataQueryVisit) (struct Query *query, void *context);
extern bool strata_query_visit_all(struct Query *query, StrataQueryVisit visit,
								   void *context);

/*
 * Does check say true of the function, or of one of those that an aggregate,
 * which it may be, is made of?
 */
extern bool strata_check_function(Oid funcid, check_function_callback check,
								  void *context);

/* Is it a function in SQL whose query the planner may put in its place? */
extern bool strata_rte_may_be_inlined(struct RangeTblEntry *rte);

/*
 * What all background workers of ours have in common: from our library, with a
 * database, on a standby after its promotion, never started again.  The caller
 * adds function, name, type and argument.
 */
struct BackgroundWorker;
extern void strata_worker_describe(struct BackgroundWorker *worker);

/*
 * For a background worker, once it is connected and in no transaction:
 * settings of the database that are for the sessions of users do not hold
 * here.
 */
extern void strata_worker_pin_settings(void);

/*
 * For the current transaction of a background worker that has the settings of
 * a role: no wait of it, nor it itself, has a limit.
 */
extern void strata_worker_limit_nothing(void);

/*
 * Alter a table as a part of what is being done: cmds are AlterTableCmds.
 * Event triggers hear nothing of it.
 */
extern void strata_alter_table(Oid relid, List *cmds);

/*
 * Are values that are equal, in btree indexes on the type, the same bytes, so
 * that functions of them are equal?
 */
extern bool strata_equal_is_identical(Oid type, Oid collation);

/*
 * Do values of the two types that have the same bytes compare alike?  Those of
 * text and varchar, but not of oid and int4.
 */
extern bool strata_types_compare_alike(Oid a, Oid b);

struct SortSupportData;

/*
 * Make ready to compare values of a type as its default order has it; what
 * that needs is allocated in mcxt.
 */
extern void strata_sort_init(struct SortSupportData *sort, Oid type,
							 Oid collation, bool desc, bool nulls_first,
							 MemoryContext mcxt);

/*
 * index_getnext_slot and index_getnext_tid, in the scan's memory context:
 * btree keeps there what it remembers from one call to the next.
 */
extern bool strata_index_getnext_slot(struct IndexScanDescData *scan,
									  ScanDirection direction,
									  TupleTableSlot *slot);
extern ItemPointer strata_index_getnext_tid(struct IndexScanDescData *scan,
											ScanDirection direction);

/*
 * Work with the rights of another role, until strata_owner_leave (or the end
 * of the (sub)transaction, on an error).  For maintenance of a table as its
 * owner: with search_path pinned unless the session is that owner's; functions
 * in indexes and constraints have to bear it from PostgreSQL 17 on anyway.
 * role_enter leaves search_path as it is, for functions that the role wrote to
 * be called by name.
 */
typedef struct StrataOwnerContext
{
	Oid			user;
	int			security;
	int			guc_level;
} StrataOwnerContext;

extern void strata_owner_enter(Oid owner, StrataOwnerContext *saved);
extern void strata_role_enter(Oid role, StrataOwnerContext *saved);
extern void strata_owner_leave(StrataOwnerContext *saved);

/*
 * Who begins something, and where his names are looked up, noted in the
 * current context; and a part of it done later as he would have done it then,
 * whoever the user is by now, until strata_owner_leave().
 */
typedef struct StrataStarter
{
	Oid			user;
	int			security;
	char	   *search_path;
} StrataStarter;

extern void strata_starter_note(StrataStarter *starter);
extern void strata_starter_enter(const StrataStarter *starter,
								 StrataOwnerContext *saved);

/*
 * search_path = pg_catalog, pg_temp, until the GUC nest level ends that the
 * caller has opened.
 */
extern void strata_search_path_pin(void);

/*
 * Run a text of ours: a query with search_path pinned, as
 * SPI_execute_with_args does, within an SPI connection of the caller; or a
 * command without result, of qualified names and no operators, in its own
 * connection and with search_path as it is.  That must succeed, and its effect
 * is then visible.
 */
extern int	strata_sql_execute(const char *sql, int nargs, Oid *types,
							   Datum *values, const char *nulls,
							   bool read_only);
extern void strata_sql_run(const char *sql);

/*
 * The same with a connection of their own and by a snapshot that the caller
 * has registered: a query, whose rows go to dest; a statement that writes
 * (dest NULL); and an INSERT ... SELECT from a relation called name, whose
 * rows are in a tuplestore.  How many rows that were.
 */
struct _DestReceiver;
extern uint64 strata_sql_execute_at(const char *sql, Snapshot snapshot,
									struct _DestReceiver *dest);
extern uint64 strata_sql_insert_rows(const char *sql, const char *name,
									 TupleDesc desc,
									 struct Tuplestorestate *rows,
									 Snapshot snapshot);

/*
 * "schema.name" of a relation that exists, quoted as SQL texts and hints need
 * it; palloc'd.
 */
extern char *strata_sql_name(Oid relid);

/*
 * Run a utility command as a part of what is being done: it is no command of
 * anybody's, and event triggers, which could forbid it, have no say in it.
 */
extern void strata_sql_run_subcommand(const char *sql);

/*
 * Plan nodes: a new state, a struct of this size that begins with a
 * CustomScanState; the columns of a scan tuple, copies of the expressions; and
 * methods of those that start, end and read again the one child they have.
 */
extern Node *strata_custom_state(Size size, const CustomExecMethods *methods);
extern List *strata_custom_tlist(const List *exprs);
extern void strata_custom_begin_child(CustomScanState *css, EState *estate,
									  int eflags);
extern void strata_custom_end_child(CustomScanState *css);
extern void strata_custom_rescan_child(CustomScanState *css);

/* EXPLAIN: is it for people, who want no more than there is to say? */
struct ExplainState;
extern bool strata_explain_is_brief(const struct ExplainState *es);

/* A number, left out when it is zero and EXPLAIN is for people. */
extern void strata_explain_count(const char *label, int64 n,
								 struct ExplainState *es);

/*
 * Does a value of variable length lie in memory as it is?  VARATT_IS_SHORT()
 * holds of TOAST pointers, too.
 */
static inline bool
strata_varlena_is_plain(const void *value)
{
	return VARATT_IS_4B_U(value) ||
		(VARATT_IS_1B(value) && !VARATT_IS_1B_E(value));
}

/*
 * Do rows have values of the column?  Not of one that was dropped, and not of
 * one that is computed when it is read (18: VIRTUAL), for whose Vars the
 * planner has put the expression before anybody plans a scan.  A7.
 */
static inline bool
strata_attribute_is_kept(const FormData_pg_attribute *att)
{
	return !att->attisdropped && att->attgenerated != 'v';
}

/*
 * Report damaged bytes: ERRCODE_DATA_CORRUPTED with the place in errdetail.
 * `what` is a codec_result_text or our own words; column may be NULL.
 */

/*
 * Run what may meet damage in a subtransaction: pins, locks and reads that
 * were under way are given back when it fails.  The damage as a text, or NULL;
 * other errors are raised.  What it allocates is the caller's.
 */
extern char *strata_error_damage_of(void (*work) (void *arg), void *arg);

pg_noreturn extern void strata_error_corrupt(Relation rel, int64 first_row,
											 const char *column,
											 const char *what);

#endif							/* STRATA_BASE_H */
