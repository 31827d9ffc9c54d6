/*-------------------------------------------------------------------------
 *
 * pg.h
 *	  What depends on PostgreSQL behaving as it does not promise; see
 *	  README.md.
 *
 * src/pg/pg.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_PG_H
#define STRATA_PG_H

#include "postgres.h"

#include "base/compat.h"

#include "access/amapi.h"
#include "access/htup.h"
#include "access/rewriteheap.h"
#include "access/skey.h"
#include "access/tableam.h"
#include "commands/copy.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/parsenodes.h"
#include "nodes/plannodes.h"
#include "storage/buf.h"
#include "utils/rel.h"

/*
 * pg_disguise.c.  While code that insists on another routine works on rel, rel
 * shows that one; a relcache callback keeps it up through rebuilds.  Always in
 * PG_TRY/PG_FINALLY, innermost first.  change: show another routine.  init:
 * once, when the library is loaded.
 */
typedef struct StrataDisguise
{
	Relation	rel;
	Oid			relid;
	const TableAmRoutine *own;
	const TableAmRoutine *shown;
	struct StrataDisguise *next;
} StrataDisguise;

extern void strata_disguise_push(StrataDisguise *disguise, Relation rel,
								 const TableAmRoutine *shown);
extern void strata_disguise_pop(StrataDisguise *disguise);
extern void strata_disguise_change(StrataDisguise *disguise,
								   const TableAmRoutine *shown);
extern void strata_disguise_init(void);

/*
 * pg_btree_key.c.  Is there a limit to the length of the open index's keys?
 * Only of those that are long may it raise its error, of a row of rel at tid.
 */
#define STRATA_LONG_KEY_BYTES 2000

extern bool strata_btree_limits(Relation index);

/* Bytes that its columns of fixed length take, without alignment. */
extern Size strata_btree_fixed_bytes(Relation index);
extern bool strata_btree_key_is_long(Relation index, const Datum *values,
									 const bool *isnull);
extern void strata_btree_check_key(Relation index, Relation rel,
								   const Datum *values, const bool *isnull,
								   ItemPointer tid);

/*
 * pg_index_routine.c.  Have look-ups in an open btree index go to rescan and
 * gettuple, until its relcache entry is rebuilt.  own_*: what they were, for
 * these to call; left alone when it has them already.
 */
extern void strata_index_replace_look_up(Relation index,
										 amrescan_function rescan,
										 amgettuple_function gettuple,
										 amrescan_function *own_rescan,
										 amgettuple_function *own_gettuple);

/*
 * pg_relcache.c.  partition_key_show: let an open table's partition key, which
 * is one expression, be the column; until restore, which who runs the
 * statement calls when it has run or failed, and before anything is planned or
 * another statement is run.  relation_hide_use: let an open table look as if
 * nobody used it, its entry never being thrown away; in PG_TRY/PG_FINALLY.
 */
typedef struct StrataRelationUse
{
	int			refcnt;
	SubTransactionId created;
} StrataRelationUse;

extern void strata_partition_key_show(Relation rel, AttrNumber attno);
extern void strata_partition_key_restore(void);
extern StrataRelationUse strata_relation_hide_use(Relation rel);
extern void strata_relation_restore_use(Relation rel, StrataRelationUse use);

/*
 * pg_partition_desc.c.  Let an open partitioned table have its list of
 * partitions, if it has none and there is nothing unusual about it; what
 * RelationGetPartitionDesc() returns afterwards is the same with and without.
 */
extern void strata_partition_desc_make(Relation rel);

/*
 * pg_symbol_page.c.  replace: have the page be this image, which changes no
 * row and no line pointer, and log it; the caller has a cleanup lock.
 *
 * index_columns_show: let heap_update() not compare the columns `unread`, and
 * take those for changed that are in `changed`, which are of them, too
 * (members count from FirstLowInvalidHeapAttributeNumber); until restore,
 * always in PG_TRY/PG_FINALLY.  The sets are loaded:
 * RelationGetIndexAttrBitmap() was asked before, and nothing since.
 *
 * rewrite_page: the page that a rewrite of one heap into another has begun and
 * not written yet, to be changed by the caller, and its block; NULL: none.
 *
 * tuple_to_load: a slot's row as xid's command cid inserts it; NULL: one that
 * heap_insert() would toast.  page_append: a new last page of the table, empty
 * and locked.  page_load: the page in memory, whose last nrows rows are new
 * (tuples to load), is written into the buffer and logged; the caller has a
 * cleanup lock, which is released, as the pin is.  The rows are to be shown in
 * their slots by the caller.
 */
typedef struct StrataIndexColumns
{
	Relation	rel;
	Bitmapset  *own[STRATA_INDEX_COLUMN_SETS];
	Bitmapset  *shown[STRATA_INDEX_COLUMN_SETS];
} StrataIndexColumns;

extern void strata_page_replace(Relation rel, Buffer buffer,
								const char *image);
extern void strata_index_columns_show(StrataIndexColumns *columns,
									  Relation rel, const Bitmapset *unread,
									  const Bitmapset *changed);
extern void strata_index_columns_restore(StrataIndexColumns *columns);
extern char *strata_rewrite_page(RewriteState state, Relation from,
								 Relation to, BlockNumber *block);
extern HeapTuple strata_tuple_to_load(Relation rel, TupleTableSlot *slot,
									  TransactionId xid, CommandId cid,
									  bool *should_free);
extern Buffer strata_page_append(Relation rel,
								 struct BulkInsertStateData *bistate);
extern void strata_page_load(Relation rel, Buffer buffer, char *page,
							 int nrows);

/*
 * A slot of a type of ours that is laid out as TTSOpsBufferHeapTuple's shows
 * other functions: heapam only fills slots that show that one.
 */
static inline void
strata_slot_show(TupleTableSlot *slot, const TupleTableSlotOps *ops)
{
	*(const TupleTableSlotOps **) &slot->tts_ops = ops;
}

/*
 * pg_class_row.c.  Each is visible to the next command, but for
 * relkind_make_partitioned.
 *
 * relrewrite: while it is valid, what happens to the table is not logically
 * decoded.  InvalidOid: it is again.  reloptions: those of a pg_class tuple as
 * DefElems whose names have their prefix; write: replace all of them.
 * make_partitioned: of a table or an index, whose storage goes.  relam: the
 * storage stays, the caller holds AccessExclusiveLock.
 */
extern void strata_relrewrite_set(Oid relid, Oid value);
extern List *strata_reloptions_read(HeapTuple tuple);
extern void strata_reloptions_write(Oid relid, List *options);

/*
 * A table as its rows in catalogs have it, for who asks it for its name, its
 * file, its options or (columns) its columns; NULL: there is none, or not all
 * of it.  Nothing is opened or locked, so it may be gone by now.
 */
extern Relation strata_relation_glance(Oid relid, bool columns);
extern void strata_relkind_make_partitioned(Oid relid);
extern void strata_relam_set(Oid relid, Oid am);
extern void strata_relpersistence_set(Oid relid, char persistence);
extern void strata_relpartbound_set(Oid relid, PartitionBoundSpec *bound);
extern void strata_relacl_set(Oid relid, Datum acl);

/*
 * A table that was just made is its owner's alone, whatever default privileges
 * gave away.
 */
extern void strata_relacl_clear(Oid relid);

/* reltuples, updates in place of the same command included. */
extern double strata_reltuples_now(Oid relid);

/*
 * pg_class_row.c, too.  The file of a table or index, with its TOAST table and
 * what pg_class says of it.  give: a relation whose rows look the same has it
 * from now on, and its own file goes with the commit; both are locked
 * (AccessExclusiveLock), and nobody may write to it in this transaction any
 * more: it would pass for a file that the transaction has made.
 * copy_checkxmin: an index that older snapshots must not use is one that they
 * must not use in its new place.
 */
typedef struct StrataStorageRow
{
	Oid			relid;			/* whose it was */
	Oid			filenode;
	Oid			tablespace;
	Oid			toast;
	TransactionId frozen_xid;
	MultiXactId min_multi;
	int32		pages;
	float4		tuples;
	int32		all_visible;
} StrataStorageRow;

extern void strata_storage_read(Oid relid, StrataStorageRow *storage);
extern void strata_storage_give(Oid relid, const StrataStorageRow *storage);

/*
 * Two tables or two indexes have each other's files; but the TOAST table of
 * `from` is that of `to`, and nobody has that of `to`.  The caller holds
 * AccessExclusiveLock on both, writes to neither any more in his transaction,
 * and drops `from`.
 */
extern void strata_storage_exchange(Oid to, Oid from);
extern void strata_index_copy_checkxmin(Oid from, Oid to);

/*
 * pg_attribute_row.c.  show: dropped columns pass for columns (of type
 * integer), whose former rows (HeapTuple) are returned, until hide.
 * make_same: a new table with the same columns, dropped ones too, has rows of
 * the same layout from now on.  The tables are locked (AccessExclusiveLock).
 */
extern List *strata_dropped_columns_show(Oid relid);
extern void strata_dropped_columns_hide(Oid relid, const List *shown);
extern void strata_columns_make_same(Oid from, Oid to);

/*
 * pg_copy_input.c.  Have COPY FROM read a column by this function, of the same
 * signature.
 */
extern void strata_copy_replace_input(CopyFromState copy, AttrNumber attno,
									  PGFunction input);

/*
 * pg_modify_table.c.  Have a started ModifyTable be run by this function,
 * which returns NULL at the end.
 */
extern void strata_modify_table_run_by(ModifyTableState *mt,
									   ExecProcNodeMtd run);

/*
 * Does the row type that an INSERT was planned with still fit its table?  If
 * not, ModifyTable says so.
 */
extern bool strata_modify_table_row_fits(ModifyTableState *mt);

/*
 * Have RETURNING find xmin, xmax and the like of rows that are inserted into
 * partitions, or updated by ON CONFLICT.  Before the first row, in the query's
 * context.
 */
extern void strata_modify_table_keep_headers(ModifyTableState *mt);

/*
 * pg_plan_note.c.  A list of nodes that stays with a finished plan; find: NIL,
 * if it has none.  A plan has one at most.
 */
extern void strata_plan_note_attach(PlannedStmt *stmt, List *note);
extern List *strata_plan_note_find(PlannedStmt *stmt);
extern void strata_plan_note_init(void);

/*
 * pg_publication.c.  Have the query ask for publications' tables without our
 * own.  Changes the query.
 */
extern void strata_publication_replace(Query *query);

/*
 * pg_delete_moved.c.  Delete the row as if to another partition; false: it has
 * changed, or is locked and wait is false.
 */
extern bool strata_tuple_delete_as_moved(Relation rel,
										 const ItemPointerData *tid,
										 CommandId cid, bool wait);

/*
 * pg_page.c.  freeze: let all see a tuple that we have inserted, whatever
 * becomes of us.  room: free space of a page.  index_least: the least key, an
 * int8, of a btree index, of a tuple visible or not, from the first leaf page;
 * PG_INT64_MAX: there is none.  index_greatest: the greatest, from the last
 * leaf page; PG_INT64_MAX: that has none.  may_be_truncated: does a heap end
 * with as many free pages as VACUUM would take away, if it got the lock for
 * it?
 */
extern void strata_tuple_freeze(Relation rel, const ItemPointerData *tid);
extern Size strata_page_room(Relation rel, BlockNumber block);
extern int64 strata_index_least(Relation index);
extern int64 strata_index_greatest(Relation index);
extern bool strata_heap_may_be_truncated(Relation rel);

/*
 * pg_pages.c: rows of all pages of a companion or a row store, in either
 * direction.
 */
typedef struct StrataPages StrataPages;

/* Is it for us to read it, or for heapam? */
extern bool strata_pages_can_read(Relation rel, Snapshot snapshot);

/*
 * shared: the pages are shared with others that read by it, forward only;
 * NULL: all of them.  Memory: the current context.
 */
extern StrataPages *strata_pages_create(Relation rel, Snapshot snapshot,
										ParallelTableScanDesc shared);
extern void strata_pages_rescan(StrataPages *pages);

/*
 * False at the end; then the next call begins anew, from the end in its
 * direction.
 */
extern bool strata_pages_next(StrataPages *pages, ScanDirection direction,
							  TupleTableSlot *slot);

/*
 * Forward only: up to max rows of the page that comes next, and their TIDs; 0
 * at the end.  They stay pinned until the next call.  tuples and tids may be
 * NULL.
 */
extern int	strata_pages_next_tuples(StrataPages *pages,
									 HeapTupleHeader *tuples,
									 ItemPointerData *tids, int max);
extern void strata_pages_end(StrataPages *pages);

/*
 * FOR KEY SHARE and changes that keep the key, pg_key_share.c.
 *
 * Whoever has updated the tuple in the slot, of class TTSOpsBufferHeapTuple;
 * *next: to where.  The transaction may have failed.
 */
extern TransactionId strata_tuple_updater(TupleTableSlot *slot,
										  ItemPointer next);

/*
 * Lock FOR KEY SHARE, in the name of lockers, the version of a row that maker
 * has put at tid, and those it has made of it; nothing, when it is not in
 * progress any more.  Returns a transaction to wait for first, if any.
 */
extern TransactionId strata_versions_lock(Relation rel, TransactionId maker,
										  const ItemPointerData *tid,
										  const TransactionId *lockers,
										  int nlockers);

/* Give the version that we have put at tid those who have locked the entry. */
extern void strata_lockers_hand_on(Relation rel, HeapTuple entry,
								   const ItemPointerData *tid);

/*
 * pg_agg_state.c.  What functions of the aggregate believe to be called by:
 * fcinfo->context.  States live in memory; NULL: in memory of its own, which
 * reset gives back, once it has called what functions asked to be called
 * then.  Lives in the current context.
 */
extern AggState *strata_agg_state_create(const Aggref *aggref,
										 MemoryContext memory);
extern MemoryContext strata_agg_state_memory(const AggState *state);
extern void strata_agg_state_reset(AggState *state);

/*
 * pg_hash_join.c.  Have the join read its inner side first, whole; it has not
 * begun.
 */
extern void strata_hash_join_build_first(HashJoinState *join);

/*
 * Have it read its inner side now; it has not begun, and may go on from there.
 * Not for joins that processes share.
 */
extern void strata_hash_join_build(HashJoinState *join);

/* Where the rows of a join's inner side are. */
typedef enum StrataHashSide
{
	STRATA_HASH_NOT_YET,		/* they have not been read */
	STRATA_HASH_PARTLY,			/* some are in files, or are shared */
	STRATA_HASH_WHOLE			/* all in memory: *ntuples of them */
} StrataHashSide;

extern StrataHashSide strata_hash_join_side(HashJoinState *join,
											double *ntuples);

/* Each of them, where they are all in memory; in no order. */
extern void strata_hash_join_each(HashJoinState *join,
								  void (*take) (MinimalTuple tuple, void *arg),
								  void *arg);

/*
 * pg_view.c.  The view that an entry of a rewritten query's range table was,
 * or InvalidOid.
 */
struct RangeTblEntry;
extern Oid	strata_rte_view(const struct RangeTblEntry *rte);

/*
 * pg_brin.c.  Summaries of rows as the operator classes of an open BRIN index
 * make them; columns are counted from 0.  A summary is of the memory that the
 * next one is made in.  In the current context.
 */
typedef struct StrataBrin StrataBrin;
extern StrataBrin *strata_brin_open(Relation index);
extern void strata_brin_close(StrataBrin *brin);
extern void strata_brin_start(StrataBrin *brin);
extern void strata_brin_add(StrataBrin *brin, int column, Datum value,
							bool isnull);
extern const void *strata_brin_finish(StrataBrin *brin, Size *size);

/*
 * What is asked of summaries from now on: operators of the classes, which all
 * must be true, with values that are not null; kept by the caller.  Then: may
 * a row of this summary, which is aligned, fulfil them?
 */
extern void strata_brin_ask(StrataBrin *brin, ScanKey keys, int nkeys);
extern bool strata_brin_may_hold(StrataBrin *brin, const void *summary);

/* Does nothing change where the summary is united with a part of it? */
extern bool strata_brin_covers(StrataBrin *brin, const void *summary,
							   const void *part);

/*
 * pg_gist.c.  The same of an open GiST index: one key for each of its columns,
 * in which all of the rows' are.  And how near to a value the nearest of the
 * rows is at least, by an ordering operator of a class that has distances;
 * infinity: all are null.
 */
typedef struct StrataGist StrataGist;
extern StrataGist *strata_gist_open(Relation index);
extern void strata_gist_close(StrataGist *gist);
extern void strata_gist_start(StrataGist *gist);
extern void strata_gist_add(StrataGist *gist, int column, Datum value,
							bool isnull);
extern const void *strata_gist_finish(StrataGist *gist, Size *size);
extern void strata_gist_ask(StrataGist *gist, ScanKey keys, int nkeys);
extern bool strata_gist_may_hold(StrataGist *gist, const void *summary);
extern bool strata_gist_covers(StrataGist *gist, const void *summary,
							   const void *part);
extern double strata_gist_distance(StrataGist *gist, const void *summary,
								   ScanKey key);

/*
 * pg_gin.c.  Keys as the operator classes of an open GIN index take them from
 * values and conditions; columns are counted from 0.  In the current context.
 */
typedef struct StrataGin StrataGin;
typedef struct StrataGinAsked StrataGinAsked;
extern StrataGin *strata_gin_open(Relation index);
extern void strata_gin_close(StrataGin *gin);

/* Of keys; the collation that support functions are called with. */
extern Oid	strata_gin_collation(StrataGin *gin, int column);

/*
 * Keys of a value that is not null, some of them perhaps more than once, and
 * which of them are null (NULL: none); returns how many.
 */
extern int	strata_gin_keys(StrataGin *gin, int column, Datum value,
							Datum **keys, bool **isnull);

/* What a condition asks for. */
typedef struct StrataGinQuestion
{
	bool		all;			/* keys do not help: all rows */
	bool		none;			/* no row fulfils it */
	bool		with_empty;		/* a row without keys may; else it has one */
	int			n;
	Datum	   *keys;
	bool	   *isnull;
	bool	   *partial;		/* one of many keys that begin so, or the like */
	bool	   *present;		/* the caller's, for the question below */
	StrataGinAsked *asked;		/* private */
} StrataGinQuestion;

/* An operator of the classes, and a value that is not null; kept. */
extern StrataGinQuestion *strata_gin_ask(StrataGin *gin, ScanKey sought);

/*
 * May rows fulfil it that have none of the keys which are not `present`?  Not
 * where `all` or `none`.
 */
extern bool strata_gin_may_hold(StrataGinQuestion *question);

/*
 * pg_conflict.c: rows of rel that transactions before horizon deleted have
 * gone without a record that says so: snapshots of standbys that see them are
 * ended when this is replayed.
 */
extern void strata_log_removed_rows(Relation rel, TransactionId horizon);

/*
 * pg_subplan.c.  may_share: is a hashed subplan run once, whoever asks?  take:
 * the table that another who asks the same subplan has made; false: none yet.
 * of: the SubPlanStates of an expression; memory: the current context.
 */
extern List *strata_subplans_of(ExprState *state);
extern bool strata_subplan_may_share(const SubPlanState *state);
extern bool strata_subplan_take(SubPlanState *state,
								const SubPlanState *other);

/*
 * pg_interrupt.c: is it a cancellation, or a timeout of a statement, as
 * PostgreSQL raises it?  To be asked before FlushErrorState().
 */
extern bool strata_error_is_interrupt(const ErrorData *edata);

#endif							/* STRATA_PG_H */
