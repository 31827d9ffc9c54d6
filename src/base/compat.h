/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  PostgreSQL 15-18 in one tree: the only place for PG_VERSION_NUM.
 *
 * Each shim names the upstream change and the version at which it can go.
 * Over 600 lines: four versions' differences are one list, and nowhere else.
 *
 * src/base/compat.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_COMPAT_H
#define STRATA_COMPAT_H

#include "postgres.h"

#include "access/heapam.h"
#include "access/heapam_xlog.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_namespace_d.h"
#include "catalog/pg_proc_d.h"
#include "catalog/pg_tablespace_d.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/lockdefs.h"
#include "utils/rel.h"

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 190000
#error "pg_strata supports PostgreSQL 15 to 18"
#endif

/*
 * 15.3 tells a BRIN tuple of no rows from one of nulls (and 16, 3581cbdcd6b);
 * delete when 15 goes.
 */
#if PG_VERSION_NUM < 150003
#define strata_brin_has_rows(tuple) ((void) (tuple))
#else
#define strata_brin_has_rows(tuple) ((tuple)->bt_empty_range = false)
#endif

/*
 * 16 remembers which partition was found last (3592e0ff98b); delete when 15
 * goes.  Call for a list of partitions that is made, its other fields zeroed.
 */
#if PG_VERSION_NUM < 160000
#define strata_partition_desc_finish(desc) ((void) (desc))
#else
#define strata_partition_desc_finish(desc) \
	((desc)->last_found_datum_index = -1, (desc)->last_found_part_index = -1, \
	 (desc)->last_found_count = 0)
#endif

/*
 * 18 has functions that do not return say so first (28e7a994c72 and what came
 * after it); delete when 17 goes.
 */
#ifndef pg_noreturn
#define pg_noreturn pg_attribute_noreturn()
#endif

/*
 * 16 renamed RelFileNode to RelFileLocator (b0a55e43299); delete when 15 goes.
 */
#if PG_VERSION_NUM < 160000
#include "utils/relfilenodemap.h"
typedef RelFileNode StrataLocator;
#define STRATA_REL_LOCATOR(rel) ((rel)->rd_node)
#define STRATA_REUSE_LOCATOR(record) ((record).node)
#define STRATA_REUSE_HORIZON(record) ((record).latestRemovedFullXid)
#define STRATA_LOCATOR_NUMBER(l) ((l).relNode)
#define STRATA_LOCATOR_SPACE(l) ((l).spcNode)
#define STRATA_SET_NEW_STORAGE relation_set_new_filenode
#define strata_relid_by_storage RelidByRelfilenode
#define strata_relation_set_new_storage RelationSetNewRelfilenode
#define strata_new_file_subid(rel) ((rel)->rd_firstRelfilenodeSubid)
#else
#include "utils/relfilenumbermap.h"
typedef RelFileLocator StrataLocator;
#define STRATA_REL_LOCATOR(rel) ((rel)->rd_locator)
#define STRATA_REUSE_LOCATOR(record) ((record).locator)
#define STRATA_REUSE_HORIZON(record) ((record).snapshotConflictHorizon)
#define STRATA_LOCATOR_NUMBER(l) ((l).relNumber)
#define STRATA_LOCATOR_SPACE(l) ((l).spcOid)
#define STRATA_SET_NEW_STORAGE relation_set_new_filelocator
#define strata_relid_by_storage RelidByRelfilenumber
#define strata_relation_set_new_storage RelationSetNewRelfilenumber
#define strata_new_file_subid(rel) ((rel)->rd_firstRelfilelocatorSubid)
#endif

/*
 * 17 tells three kinds of MERGE actions apart (0294df2f1f8) and keeps them by
 * kind; before it were two lists.  It has what ends a WindowAgg early in the
 * path; delete when 16 goes.
 */
#if PG_VERSION_NUM < 170000
#define strata_merge_not_matched_actions(target) \
	((target)->ri_notMatchedMergeAction)
#define strata_window_run_condition(path) ((path)->winclause->runCondition)
#else
#define strata_window_run_condition(path) ((path)->runCondition)
#define strata_merge_not_matched_actions(target) \
	((target)->ri_MergeActions[MERGE_WHEN_NOT_MATCHED_BY_TARGET])
#endif

/*
 * 16 added TU_UpdateIndexes to tuple_update (19d8e2308bc), before it was a
 * bool; delete when 15 goes.
 */
#if PG_VERSION_NUM < 160000
typedef bool StrataUpdateIndexes;
#define STRATA_UPDATE_ALL_INDEXES true
#else
typedef TU_UpdateIndexes StrataUpdateIndexes;
#define STRATA_UPDATE_ALL_INDEXES TU_All
#endif

/*
 * The same change gave heap_update an argument; delete when 15 goes.  Waits
 * for nobody: the caller has locked the tuple.
 */
static inline TM_Result
strata_heap_update(Relation rel, ItemPointer tid, HeapTuple tuple,
				   CommandId cid)
{
	TM_FailureData tmfd;
	LockTupleMode mode;
#if PG_VERSION_NUM < 160000
	return heap_update(rel, tid, tuple, cid, InvalidSnapshot, true, &tmfd,
					   &mode);
#else
	TU_UpdateIndexes update_indexes;

	return heap_update(rel, tid, tuple, cid, InvalidSnapshot, true, &tmfd,
					   &mode, &update_indexes);
#endif
}

static inline void
strata_simple_heap_update(Relation rel, ItemPointer tid, HeapTuple tuple)
{
#if PG_VERSION_NUM < 160000
	simple_heap_update(rel, tid, tuple);
#else
	TU_UpdateIndexes update_indexes;

	simple_heap_update(rel, tid, tuple, &update_indexes);
#endif
}

/*
 * Have a heap scan's current page be this one.  17 took the function for it
 * apart (44086b09753); delete the first branch when 16 goes.
 */
static inline void
strata_heap_read_page(TableScanDesc sscan, BlockNumber block)
{
#if PG_VERSION_NUM < 170000
	heapgetpage(sscan, block);
#else
	HeapScanDesc scan = (HeapScanDesc) sscan;

	if (BufferIsValid(scan->rs_cbuf))
		ReleaseBuffer(scan->rs_cbuf);
	scan->rs_cblock = block;
	scan->rs_cbuf = ReadBufferExtended(sscan->rs_rd, MAIN_FORKNUM, block,
									   RBM_NORMAL, scan->rs_strategy);
	if (sscan->rs_flags & SO_ALLOW_PAGEMODE)
		heap_prepare_pagescan(sscan);
#endif
}

/*
 * 17 dropped old_snapshot_threshold (f691f5b80a8); delete when 16 goes.
 */
static inline void
strata_test_old_snapshot(Snapshot snapshot, Relation rel, Page page)
{
#if PG_VERSION_NUM < 170000
	TestForOldSnapshot(snapshot, rel, page);
#endif
}

/*
 * 16 counts updates that go to another page (ae4fdde1352); delete when 15
 * goes. For users that include pgstat.h.
 */
#if PG_VERSION_NUM < 160000
#define strata_pgstat_count_update(rel) pgstat_count_heap_update(rel, false)
#else
#define strata_pgstat_count_update(rel) \
	pgstat_count_heap_update(rel, false, false)
#endif

/*
 * Freeze a tuple this transaction has inserted, in a buffer it has locked
 * exclusively; for pg/pg_page.c.  16 gave heapam a function for it
 * (9e5405993c1), 17 logs it as pruning (f83d709760d); delete the branches when
 * 15 and 16 go.  No snapshot is in the way, as all are to see the tuple: 15
 * would have a standby cancel those that are as old as the xid in the record,
 * which therefore is one that is older than any.
 */
static inline void
strata_heap_freeze(Relation rel, Buffer buffer, Page page,
				   OffsetNumber offset)
{
	HeapTupleHeader header = (HeapTupleHeader)
	PageGetItem(page, PageGetItemId(page, offset));
#if PG_VERSION_NUM < 160000
	xl_heap_freeze_tuple freeze = {0};
	TransactionId oldest =
	XidFromFullTransactionId(ReadNextFullTransactionId()) +
	((TransactionId) 1 << 31) + ((TransactionId) 1 << 20);
#else
	HeapTupleFreeze freeze = {0};
#endif

	freeze.xmax = HeapTupleHeaderGetRawXmax(header);
	freeze.t_infomask = header->t_infomask | HEAP_XMIN_FROZEN;
	freeze.t_infomask2 = header->t_infomask2;
	freeze.offset = offset;
#if PG_VERSION_NUM >= 160000 && PG_VERSION_NUM < 170000
	heap_freeze_execute_prepared(rel, buffer, InvalidTransactionId, &freeze,
								 1);
#else
	START_CRIT_SECTION();
#if PG_VERSION_NUM < 160000
	heap_execute_freeze_tuple(header, &freeze);
#else
	heap_freeze_prepared_tuples(buffer, &freeze, 1);
#endif
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(rel))
	{
#if PG_VERSION_NUM < 160000
		PageSetLSN(page,
				   log_heap_freeze(rel, buffer,
								   TransactionIdIsNormal(oldest) ?
								   oldest :
								   FirstNormalTransactionId + 1,
								   &freeze, 1));
#else
		log_heap_prune_and_freeze(rel, buffer, InvalidTransactionId, false,
								  PRUNE_VACUUM_SCAN, &freeze, 1, NULL, 0, NULL,
								  0, NULL, 0);
#endif
	}
	END_CRIT_SECTION();
#endif
}

/*
 * 17 renamed IsAutoVacuumWorkerProcess() (3c5b068, 2024); delete when 16 goes.
 * For users that include miscadmin.h and postmaster/autovacuum.h.
 */
#if PG_VERSION_NUM < 170000
#define strata_is_autovacuum_worker() IsAutoVacuumWorkerProcess()
#else
#define strata_is_autovacuum_worker() AmAutoVacuumWorkerProcess()
#endif

/*
 * 18 has cluster_rel given an open relation (cc811f92bac); delete when 17
 * goes. For users that include access/table.h and commands/cluster.h.
 */
#if PG_VERSION_NUM < 180000
#define strata_cluster_rel(relid) \
	do { \
		ClusterParams cluster_params = {0}; \
		cluster_rel(relid, InvalidOid, &cluster_params); \
	} while (0)
#else
#define strata_cluster_rel(relid) \
	do \
	{ \
		ClusterParams cluster_params = {0}; \
		cluster_rel(table_open(relid, AccessExclusiveLock), InvalidOid, \
					&cluster_params); \
	} while (0)
#endif

/*
 * 17 gave reindex_index and reindex_relation the statement they are part of
 * (2fcc7ee7af6); delete when 16 goes.
 */
#if PG_VERSION_NUM < 170000
#define strata_reindex_index(index, persistence, params) \
	reindex_index(index, true, persistence, params)
#define strata_reindex_relation(relid, params) \
	reindex_relation(relid, 0, params)
#else
#define strata_reindex_index(index, persistence, params) \
	reindex_index(NULL, index, true, persistence, params)
#define strata_reindex_relation(relid, params) \
	reindex_relation(NULL, relid, 0, params)
#endif

/*
 * 16 has input functions report errors softly (858e776c84f), and lets a map of
 * attributes lack some (ad86d159b6a); delete when 15 goes.  For users that
 * include utils/regproc.h, and access/attmap.h.
 */
#if PG_VERSION_NUM < 160000
#define strata_qualified_name_list(name) stringToQualifiedNameList(name)
#define strata_attrmap_by_name(in, out) build_attrmap_by_name(in, out)
#else
#define strata_qualified_name_list(name) stringToQualifiedNameList(name, NULL)
#define strata_attrmap_by_name(in, out) build_attrmap_by_name(in, out, false)
#endif

/*
 * 18 has the executor hand a bitmap scan its iterator once, in a union with a
 * TID range's bounds, and no longer ask for it block by block (2b73a8cd33b,
 * c3953226a07); delete when 17 goes.
 */
#if PG_VERSION_NUM < 180000
#define STRATA_BITMAP_BY_BLOCK 1
#define STRATA_RS_MINTID rs_mintid
#define STRATA_RS_MAXTID rs_maxtid
#else
#define STRATA_BITMAP_BY_BLOCK 0
#define STRATA_RS_MINTID st.tidrange.rs_mintid
#define STRATA_RS_MAXTID st.tidrange.rs_maxtid
#endif

/*
 * 18 asks whether a deferrable primary key will do (b52adbad4673); delete when
 * 17 goes.  For users that include utils/relcache.h.
 */
#if PG_VERSION_NUM < 180000
#define strata_primary_key_index(rel) RelationGetPrimaryKeyIndex(rel)
#else
#define strata_primary_key_index(rel) RelationGetPrimaryKeyIndex(rel, false)
#endif

/*
 * 18 can leave room before a minimal tuple (8cd190e13a2); delete when 17 goes.
 * For users that include access/htup_details.h.
 */
#if PG_VERSION_NUM < 180000
#define strata_form_minimal_tuple(desc, values, isnull) \
	heap_form_minimal_tuple(desc, values, isnull)
#define STRATA_EXTRA_PARAMETER
#define STRATA_EXTRA_ARGUMENT
#else
#define strata_form_minimal_tuple(desc, values, isnull) \
	heap_form_minimal_tuple(desc, values, isnull, 0)
#define STRATA_EXTRA_PARAMETER , Size extra
#define STRATA_EXTRA_ARGUMENT , extra
#endif

/*
 * 18 has transformRelOptions() promise to leave its list of namespaces alone
 * (5c5afa2e7fb); delete when 17 goes.
 */
#if PG_VERSION_NUM < 180000
typedef char *StrataOptionNamespace;
#else
typedef const char *const StrataOptionNamespace;
#endif

/*
 * 18 has ANALYZE's delays follow settings of their own (e5b0b0ce150); delete
 * when 17 goes.  For users that include commands/vacuum.h.
 */
#if PG_VERSION_NUM < 180000
#define strata_vacuum_delay_point(is_analyze) vacuum_delay_point()
#else
#define strata_vacuum_delay_point(is_analyze) vacuum_delay_point(is_analyze)
#endif

/*
 * 17 can leave out rows that COPY cannot read (9e2d8701194, b725b7eec43), 18 a
 * limited number of them (4ac2a9beceb), which their reader has to see to.
 * 16 says otherwise who may COPY from where (de4d456b406).  Delete when 16, 17
 * and 15 go.  For users that include commands/copyfrom_internal.h.
 */
#define STRATA_COPY_CAN_IGNORE (PG_VERSION_NUM >= 170000)
#if PG_VERSION_NUM < 180000
#define strata_copy_reject_limit(copy) INT64CONST(0)
#else
#define strata_copy_reject_limit(copy) ((copy)->opts.reject_limit)
#endif
#if PG_VERSION_NUM < 160000
#define strata_err_copy_denied(what, role) \
	errmsg("must be superuser or have privileges of the " role \
		   " role to COPY " what)
#else
#define strata_err_copy_denied(what, role) \
	errmsg("permission denied to COPY " what), \
		errdetail("Only roles with privileges of the \"" role \
				  "\" role may COPY " what ".")
#endif

/*
 * 17 has the row types of an extension's tables be members of it
 * (e5bc9454e52); delete when 16 goes.
 */
#define STRATA_ROW_TYPES_ARE_MEMBERS (PG_VERSION_NUM >= 170000)

/*
 * 18 has lock failures logged on demand (6d376c3b0d1); delete when 17 goes.
 */
#if PG_VERSION_NUM < 180000
#define strata_conditional_xact_wait(xid) ConditionalXactLockTableWait(xid)
#else
#define strata_conditional_xact_wait(xid) \
	ConditionalXactLockTableWait(xid, false)
#endif

/*
 * 16 added total_parts to DefineIndex (27f5c712b2c) and onlySummarizing to
 * ExecInsertIndexTuples (19d8e2308bc); delete when 15 goes.  checked: are the
 * user's rights, and that the table is not in use, looked into?
 */
#if PG_VERSION_NUM < 160000
#define strata_define_index(relid, stmt, checked) \
	DefineIndex(relid, stmt, InvalidOid, InvalidOid, InvalidOid, \
				false, checked, checked, false, true)
#define strata_insert_index_tuples(rri, slot, estate) \
	ExecInsertIndexTuples(rri, slot, estate, false, false, NULL, NIL)
#else
#define strata_define_index(relid, stmt, checked) \
	DefineIndex(relid, stmt, InvalidOid, InvalidOid, InvalidOid, -1, \
				false, checked, checked, false, true)
#define strata_insert_index_tuples(rri, slot, estate) \
	ExecInsertIndexTuples(rri, slot, estate, false, false, NULL, NIL, false)
#endif

/*
 * 17 hands options of operator classes and statistics targets to
 * index_create(); delete when 16 goes.  For users that include
 * catalog/index.h.
 */
#if PG_VERSION_NUM < 170000
#define strata_index_create(heap, name, info, columns, am, space, collations, \
							classes, class_options, options, reloptions, \
							flags) \
	((info)->ii_OpclassOptions = (class_options), \
	 index_create(heap, name, InvalidOid, InvalidOid, InvalidOid, InvalidOid, \
				  info, columns, am, space, collations, classes, options, \
				  reloptions, flags, 0, false, false, NULL))
#else
#define strata_index_create(heap, name, info, columns, am, space, collations, \
							classes, class_options, options, reloptions, \
							flags) \
	index_create(heap, name, InvalidOid, InvalidOid, InvalidOid, InvalidOid, \
				 info, columns, am, space, collations, classes, \
				 class_options, options, NULL, reloptions, flags, 0, false, \
				 false, NULL)
#endif

/*
 * 16 computes the map from root to child when it is asked for (fb958b5da86);
 * delete when 15 goes.  For users that include executor/executor.h.
 */
#if PG_VERSION_NUM < 160000
#define strata_root_to_child_map(rri, estate) ((rri)->ri_RootToPartitionMap)
#else
#define strata_root_to_child_map(rri, estate) \
	ExecGetRootToChildMap(rri, estate)
#endif

/*
 * 16 replaced the per-object owner checks by object_ownercheck (afbfc02983f)
 * and the privilege checks by object_aclcheck (c727f511bd7); delete when 15
 * goes.
 */
#if PG_VERSION_NUM < 160000
#define strata_table_ownercheck(relid, roleid) \
	pg_class_ownercheck(relid, roleid)
#define strata_function_aclcheck(oid, roleid, mode) \
	pg_proc_aclcheck(oid, roleid, mode)
#define strata_schema_create_allowed(oid, roleid) \
	(pg_namespace_aclcheck(oid, roleid, ACL_CREATE) == ACLCHECK_OK)
#define strata_tablespace_create_allowed(oid, roleid) \
	(pg_tablespace_aclcheck(oid, roleid, ACL_CREATE) == ACLCHECK_OK)
#else
#define strata_schema_create_allowed(oid, roleid) \
	(object_aclcheck(NamespaceRelationId, oid, roleid, ACL_CREATE) == \
	 ACLCHECK_OK)
#define strata_tablespace_create_allowed(oid, roleid) \
	(object_aclcheck(TableSpaceRelationId, oid, roleid, ACL_CREATE) == \
	 ACLCHECK_OK)
#define strata_function_aclcheck(oid, roleid, mode) \
	object_aclcheck(ProcedureRelationId, oid, roleid, mode)
#define strata_table_ownercheck(relid, roleid) \
	object_ownercheck(RelationRelationId, relid, roleid)
#endif

/*
 * 16 moved permissions out of range table entries (a61b1f74823); delete when
 * 15 goes.  For users that include executor/executor.h and the parser's.
 */
#if PG_VERSION_NUM < 160000
#define strata_check_insert_columns(pstate, nsitem, columns) \
	((nsitem)->p_rte->requiredPerms = \
		 ACL_INSERT | ((nsitem)->p_rte->selectedCols ? ACL_SELECT : 0), \
	 (nsitem)->p_rte->insertedCols = (columns), \
	 (void) ExecCheckRTPerms(list_make1((nsitem)->p_rte), true))
#define strata_plan_drop_permissions(stmt) \
	do { \
		ListCell *_lc; \
		foreach(_lc, (stmt)->rtable) \
			lfirst_node(RangeTblEntry, _lc)->requiredPerms = 0; \
	} while (0)
#define STRATA_CHECK_PERMS_ARGS List *range_table, bool ereport_on_violation
#define STRATA_CHECK_PERMS_PASS range_table, ereport_on_violation
#define STRATA_CHECK_PERMS_LIST range_table
typedef RangeTblEntry StrataPermissions;
#else
#define strata_check_insert_columns(pstate, nsitem, columns) \
	((nsitem)->p_perminfo->requiredPerms = \
		 ACL_INSERT | ((nsitem)->p_perminfo->selectedCols ? ACL_SELECT : 0), \
	 (nsitem)->p_perminfo->insertedCols = (columns), \
	 (void) ExecCheckPermissions((pstate)->p_rtable, \
								 list_make1((nsitem)->p_perminfo), true))
#define strata_plan_drop_permissions(stmt) \
	do { \
		ListCell *_lc; \
		foreach(_lc, (stmt)->permInfos) \
			lfirst_node(RTEPermissionInfo, _lc)->requiredPerms = 0; \
	} while (0)
#define STRATA_CHECK_PERMS_ARGS \
	List *range_table, List *permissions, bool ereport_on_violation
#define STRATA_CHECK_PERMS_PASS range_table, permissions, ereport_on_violation
#define STRATA_CHECK_PERMS_LIST permissions
typedef RTEPermissionInfo StrataPermissions;
#endif

/*
 * 18 took execute_once from ExecutorRun and its hook (3eea7a0c97e); delete
 * when 17 goes.
 */
#if PG_VERSION_NUM < 180000
#define strata_executor_run_rows(query_desc, count) \
	ExecutorRun(query_desc, ForwardScanDirection, count, true)
#define STRATA_EXECUTE_ONCE_PARAMETER , bool execute_once
#define STRATA_EXECUTE_ONCE , execute_once
#else
#define strata_executor_run_rows(query_desc, count) \
	ExecutorRun(query_desc, ForwardScanDirection, count)
#define STRATA_EXECUTE_ONCE_PARAMETER
#define STRATA_EXECUTE_ONCE
#endif
#define strata_executor_run(query_desc) strata_executor_run_rows(query_desc, 0)

/*
 * 18 marks keys of grouping sets as nulled by the grouping (247dea89f76);
 * delete when 17 goes.  For users that include optimizer/tlist.h and
 * rewrite/rewriteManip.h.  The key's expression, as it is below.
 */
#if PG_VERSION_NUM < 180000
#define strata_clause_below_grouping(root, clause) \
	get_sortgroupclause_expr(clause, (root)->processed_tlist)
#else
#define strata_clause_below_grouping(root, clause) \
	((root)->group_rtindex == 0 || (root)->parse->groupingSets == NIL ? \
	 get_sortgroupclause_expr(clause, (root)->processed_tlist) : \
	 remove_nulling_relids(get_sortgroupclause_expr(clause, \
													(root)->processed_tlist), \
						   bms_make_singleton((root)->group_rtindex), NULL))
#endif

/*
 * 18 added the instrumentation argument to index_beginscan (0fbceae841c);
 * delete when 17 goes.
 */
#if PG_VERSION_NUM < 180000
#define strata_index_beginscan(heap, index, snapshot, nkeys, norderbys) \
	index_beginscan(heap, index, snapshot, nkeys, norderbys)
#else
#define strata_index_beginscan(heap, index, snapshot, nkeys, norderbys) \
	index_beginscan(heap, index, snapshot, NULL, nkeys, norderbys)
#endif

/*
 * 18 decides at each rescan whether the pin on an index's page outlives its
 * reading; earlier it is enough to release it then (e6eed40e444); delete when
 * 17 goes.  For users that include access/nbtree.h.
 */
#if PG_VERSION_NUM < 180000
#define strata_btree_drop_pins(so) ((void) 0)
#else
#define strata_btree_drop_pins(so) ((so)->dropPin = true)
#endif

/*
 * 18 made it a function that returns one of static storage (b52adbad467);
 * delete when 17 goes.  For users that include access/toast_internals.h.
 */
#if PG_VERSION_NUM < 180000
#define strata_init_toast_snapshot(snapshot) init_toast_snapshot(snapshot)
#else
#define strata_init_toast_snapshot(snapshot) \
	(*(snapshot) = *get_toast_snapshot())
#endif

/*
 * 17 took old snapshots out of nbtree (f691f5b80a8); delete when 16 goes.  For
 * users that include access/nbtree.h.
 */
#if PG_VERSION_NUM < 170000
#define strata_bt_get_end(index, last) _bt_get_endpoint(index, 0, last, NULL)
#else
#define strata_bt_get_end(index, last) _bt_get_endpoint(index, 0, last)
#endif

/*
 * Minor releases of November 2024 (a07e03fd8fa) lock a row of pg_class before
 * they update it, so that no in-place update, of VACUUM for one, is lost; keep
 * when 17 goes, as 18 has it from its start.  For users that include
 * storage/lmgr.h and utils/syscache.h.  unlock takes the TID the copy had.
 */
#ifdef InplaceUpdateTupleLock
#define strata_class_tuple_lock_copy(relid) \
	SearchSysCacheLockedCopy1(RELOID, ObjectIdGetDatum(relid))
#define strata_class_tuple_unlock(pg_class, tid) \
	UnlockTuple(pg_class, tid, InplaceUpdateTupleLock)
#else
#define strata_class_tuple_lock_copy(relid) \
	SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(relid))
#define strata_class_tuple_unlock(pg_class, tid) ((void) (tid))
#endif

/*
 * 18 counts disabled nodes instead of adding disable_cost (e2225346793), and
 * names the order of a pathkey and of an operator by CompareType
 * (8123e91f5ae); delete when 17 goes.  For users that include optimizer/cost.h
 * and access/stratnum.h.
 */
#if PG_VERSION_NUM < 180000
typedef int16 StrataSortOrder;
#define STRATA_SORT_DESC BTGreaterStrategyNumber
#define strata_path_copy_disabled(path, child) ((void) 0)
#define strata_cost_sort(path, root, keys, cost, rows, width, limit) \
	cost_sort(path, root, keys, cost, rows, width, 0, work_mem, limit)
#define strata_path_disable(path) \
	((path)->startup_cost += disable_cost, (path)->total_cost += disable_cost)
#define strata_pathkey_is_desc(pathkey) \
	((pathkey)->pk_strategy == STRATA_SORT_DESC)
#else
typedef CompareType StrataSortOrder;
#define STRATA_SORT_DESC COMPARE_GT
#define strata_path_copy_disabled(path, child) \
	((path)->disabled_nodes = (child)->disabled_nodes)
#define strata_cost_sort(path, root, keys, cost, rows, width, limit) \
	cost_sort(path, root, keys, 0, cost, rows, width, 0, work_mem, limit)
#define strata_path_disable(path) ((path)->disabled_nodes++)
#define strata_pathkey_is_desc(pathkey) \
	((pathkey)->pk_cmptype == STRATA_SORT_DESC)
#endif

/*
 * 18 has not-null constraints that are not validated (a379061a22a), in which
 * case attnotnull says nothing; delete when 17 goes.
 */
#if PG_VERSION_NUM < 180000
#define strata_attribute_is_not_null(desc, attno) \
	(TupleDescAttr(desc, (attno) - 1)->attnotnull)
#else
#define strata_attribute_is_not_null(desc, attno) \
	(TupleDescCompactAttr(desc, (attno) -1)->attnullability == \
	 ATTNULLABLE_VALID)
#endif

/*
 * 17 has ANALYZE read blocks through a read stream (041b96802ef); delete when
 * 16 goes.
 */
#define STRATA_ANALYZE_BY_BLOCK (PG_VERSION_NUM < 170000)

/*
 * 18 split commands/explain.h: ExplainProperty*() and ExplainState have
 * headers of their own (c65bc2e1d14 and those before it); delete when 17 goes.
 */
#if PG_VERSION_NUM >= 180000
#define STRATA_EXPLAIN_IS_SPLIT
#endif

/*
 * 18 does not count the entry of grouping expressions when it decides whether
 * columns need their table's name (247dea89f76); delete when 17 goes.
 */
#if PG_VERSION_NUM < 180000
#define strata_explain_uses_prefix(es) \
	(list_length((es)->rtable) > 1 || (es)->verbose)
#else
#define strata_explain_uses_prefix(es) ((es)->rtable_size > 1 || (es)->verbose)
#endif

/*
 * 17 has infinite intervals (519fc1bd9e9); delete when 16 goes.  For users
 * that include utils/timestamp.h.
 */
#if PG_VERSION_NUM < 170000
#define STRATA_INTERVAL_IS_INFINITE(interval) false
#else
#define STRATA_INTERVAL_IS_INFINITE(interval) INTERVAL_NOT_FINITE(interval)
#endif

/*
 * 18 has ExecFindMatchingSubPlans() tell range table indexes, too
 * (525392d5727); delete when 17 goes.  For users that include
 * executor/execPartition.h.
 */
#if PG_VERSION_NUM < 180000
#define strata_find_matching_subplans(state) \
	ExecFindMatchingSubPlans(state, false)
#else
#define strata_find_matching_subplans(state) \
	ExecFindMatchingSubPlans(state, false, NULL)
#endif

/*
 * 16 has adjust_appendrel_attrs_multilevel() take relations, not their relids
 * (2f17b57017e); delete when 15 goes.  For users that include
 * optimizer/appendinfo.h.
 */
#if PG_VERSION_NUM < 160000
#define strata_adjust_appendrel_attrs_multilevel(root, node, child, parent) \
	adjust_appendrel_attrs_multilevel(root, node, (child)->relids, \
									  (parent)->relids)
#else
#define strata_adjust_appendrel_attrs_multilevel(root, node, child, parent) \
	adjust_appendrel_attrs_multilevel(root, node, child, parent)
#endif

/*
 * 16 replaced the per-object owner checks by object_ownercheck (afbfc02983f);
 * delete when 15 goes.  For users that include catalog/pg_database.h.
 */
#if PG_VERSION_NUM < 160000
#define strata_database_ownercheck(dbid, roleid) \
	pg_database_ownercheck(dbid, roleid)
#else
#define strata_database_ownercheck(dbid, roleid) \
	object_ownercheck(DatabaseRelationId, dbid, roleid)
#endif

/*
 * 17 lets background workers connect as roles that cannot log in
 * (e85662df44f); delete when 16 goes.  For users that include
 * postmaster/bgworker.h.
 */
#if PG_VERSION_NUM < 170000
#define STRATA_BGWORKER_ANY_ROLE 0
#define STRATA_JOB_OWNER_MUST_LOGIN true
#else
#define STRATA_BGWORKER_ANY_ROLE BGWORKER_BYPASS_ROLELOGINCHECK
#define STRATA_JOB_OWNER_MUST_LOGIN false
#endif

/*
 * 16 moved permissions out of range table entries (a61b1f74823), 18 gave the
 * grouping expressions an entry of their own (247dea89f76); delete when 15 and
 * 17 go.  For a query whose range table was moved away; to have groups stand
 * where they are used; for users that include optimizer/optimizer.h.
 */
#if PG_VERSION_NUM < 160000
#define strata_query_clear_permissions(query) ((void) 0)
#elif PG_VERSION_NUM < 180000
#define strata_query_clear_permissions(query) ((query)->rteperminfos = NIL)
#else
#define strata_query_clear_permissions(query) \
	((query)->rteperminfos = NIL, (query)->hasGroupRTE = false)
#endif
#if PG_VERSION_NUM < 180000
#define strata_rte_is_group(rte) ((void) (rte), false)
#define strata_rte_group_exprs(rte) ((void) (rte), NIL)
#define strata_query_flatten_groups(query) ((void) 0)
#define strata_query_forget_groups(query) ((void) 0)
#else
/* The groups of the query are no more what they were. */
static inline void
strata_query_forget_groups(Query *query)
{
	ListCell   *lc;

	query->hasGroupRTE = false;
	foreach(lc, query->rtable)
	{
		RangeTblEntry *rte = lfirst_node(RangeTblEntry, lc);

		if (rte->rtekind == RTE_GROUP)
		{
			rte->rtekind = RTE_RESULT;
			rte->groupexprs = NIL;
		}
	}
}

#define strata_rte_is_group(rte) ((rte)->rtekind == RTE_GROUP)
#define strata_rte_group_exprs(rte) ((rte)->groupexprs)
#define strata_query_flatten_groups(query) \
	do \
	{ \
		if ((query)->hasGroupRTE) \
		{ \
			(query)->targetList = (List *) \
				flatten_group_exprs(NULL, query, \
									(Node *) (query)->targetList); \
			(query)->havingQual = flatten_group_exprs(NULL, query, \
													  (query)->havingQual); \
		} \
	} while (0)
#endif

/*
 * 16 remembers in the entry of a subquery which view it was (47bb9db7599); in
 * 15 the entry for OLD in there does, see pg/pg_view.c.  And: have what a
 * parse state has found be read by the query in the name of somebody else;
 * have a query read what is an entry of another, with its permissions; have
 * columns of joins be those of their tables; for users that include
 * parser/parse_node.h, parsetree.h, optimizer/optimizer.h.  Until 15 goes.
 */
#if PG_VERSION_NUM < 160000
#define strata_flatten_join_aliases flatten_join_alias_vars
#define strata_rte_that_was_view(rte) \
	((rte)->subquery->rtable == NIL ? NULL : \
	 linitial_node(RangeTblEntry, (rte)->subquery->rtable))
#define strata_query_read_as(query, pstate, nsitem, role) \
	((query)->rtable = (pstate)->p_rtable, \
	 (nsitem)->p_rte->checkAsUser = (role))
#define strata_query_copy_entry(query, from, varno) \
	((query)->rtable = list_make1(copyObject(rt_fetch(varno, (from)->rtable))))
#else
#define strata_flatten_join_aliases(query, node) \
	flatten_join_alias_vars(NULL, query, node)
#define strata_rte_that_was_view(rte) (rte)
#define strata_query_read_as(query, pstate, nsitem, role) \
	((query)->rtable = (pstate)->p_rtable, \
	 (query)->rteperminfos = (pstate)->p_rteperminfos, \
	 (nsitem)->p_perminfo->checkAsUser = (role))
#define strata_query_copy_entry(query, from, varno) \
	do { \
		RangeTblEntry *_rte = copyObject(rt_fetch(varno, (from)->rtable)); \
		(query)->rtable = list_make1(_rte); \
		if (_rte->perminfoindex > 0) \
		{ \
			(query)->rteperminfos = \
				list_make1(copyObject(list_nth((from)->rteperminfos, \
											   _rte->perminfoindex - 1))); \
			_rte->perminfoindex = 1; \
		} \
	} while (0)
#endif

/*
 * 16 decodes the name of a time zone in one place (d73d4cfdaa4), and says
 * TZNAME_*; for 15 the same: *tz of a zone, *tz of an abbreviation that has
 * meant different things, or *offset (seconds east) of a fixed one.  In 15 an
 * unknown zone is NULL, from 16 on an error.  Delete when 15 goes.  For users
 * that include utils/datetime.h, utils/timestamp.h and parser/scansup.h.
 */
#if PG_VERSION_NUM < 160000
#define TZNAME_FIXED_OFFSET 0
#define TZNAME_DYNTZ 1
#define TZNAME_ZONE 2
#define strata_decode_zone(name, offset, tz) \
	strata_decode_zone_15(DecodeTimezoneAbbrev(0, \
											   downcase_truncate_identifier( \
												   name, (int) strlen(name), \
												   false), \
											   offset, tz), \
						  DYNTZ, UNKNOWN_FIELD, pg_tzset(name), tz)
static inline int
strata_decode_zone_15(int type, int dynamic, int unknown, pg_tz *zone,
					  pg_tz **tz)
{
	if (type != unknown)
		return type == dynamic ? TZNAME_DYNTZ : TZNAME_FIXED_OFFSET;
	*tz = zone;
	return TZNAME_ZONE;
}
#else
#define strata_decode_zone(name, offset, tz) \
	DecodeTimezoneName(name, offset, tz)
#endif

/*
 * 17 tells by the backend's type (393b5599e5); delete when 16 goes.
 */
#if PG_VERSION_NUM < 170000
#define strata_in_background_worker() (IsBackgroundWorker)
#else
#define strata_in_background_worker() AmBackgroundWorkerProcess()
#endif

/*
 * 18 counts pages that are all frozen (99f8f3fbbc8); delete when 17 goes.  For
 * users that include commands/vacuum.h.
 */
#if PG_VERSION_NUM < 180000
#define strata_vac_update_relstats(rel, pages, rows, visible, frozen) \
	vac_update_relstats(rel, pages, rows, visible, true, \
						InvalidTransactionId, InvalidMultiXactId, NULL, NULL, \
						false)
#else
#define strata_vac_update_relstats(rel, pages, rows, visible, frozen) \
	vac_update_relstats(rel, pages, rows, visible, frozen, true, \
						InvalidTransactionId, InvalidMultiXactId, NULL, NULL, \
						false)
#endif

/*
 * 16 renamed the counts of a relation that wait to be reported; delete when 15
 * goes.  For users that include pgstat.h.
 */
#if PG_VERSION_NUM < 160000
#define STRATA_PGSTAT_COUNTS t_counts
#define STRATA_DELTA_LIVE t_delta_live_tuples
#define STRATA_DELTA_DEAD t_delta_dead_tuples
#else
#define STRATA_PGSTAT_COUNTS counts
#define STRATA_DELTA_LIVE delta_live_tuples
#define STRATA_DELTA_DEAD delta_dead_tuples
#endif

/*
 * 18 refuses SET LOGGED and SET UNLOGGED of partitioned tables (e2bab2d7920);
 * before it, that changed nothing.  Delete when 17 goes.
 */
#define STRATA_PARTITIONED_PERSISTENCE_ALTERS (PG_VERSION_NUM < 180000)

/*
 * Sets of columns that heap_update() asks the relcache for, and all indexed
 * ones (19d8e2308bc); a sort's next datum.  Delete when 15 goes.
 */
#if PG_VERSION_NUM < 160000
#define STRATA_INDEX_COLUMN_SETS 2
#define strata_index_column_sets(rel, sets) \
	((sets)[0] = &(rel)->rd_indexattr, (sets)[1] = &(rel)->rd_keyattr)
#define strata_index_columns(rel) \
	RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_ALL)
#define strata_tuplesort_getdatum(sort, value, isnull) \
	tuplesort_getdatum(sort, true, value, isnull, NULL)
#else
#define STRATA_INDEX_COLUMN_SETS 3
#define strata_index_column_sets(rel, sets) \
	((sets)[0] = &(rel)->rd_hotblockingattr, \
	 (sets)[1] = &(rel)->rd_keyattr, (sets)[2] = &(rel)->rd_summarizedattr)
#define strata_index_columns(rel) \
	bms_join(RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_HOT_BLOCKING), \
			 RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_SUMMARIZED))
#define strata_tuplesort_getdatum(sort, value, isnull) \
	tuplesort_getdatum(sort, true, false, value, isnull, NULL)
#endif

/*
 * A record of pruning that prunes nothing (f83d709760d), and the beginning of
 * RewriteStateData (8af25652489).  Delete the first branch when 16 goes.
 */
typedef struct StrataRewriteHead
{
	Relation	rs_old_rel;
	Relation	rs_new_rel;
#if PG_VERSION_NUM < 170000
#define STRATA_PRUNE_RECORD {0}
#define STRATA_PRUNE_RECORD_TYPE XLOG_HEAP2_PRUNE
	char	   *rs_buffer;
	BlockNumber rs_blockno;
	bool		rs_buffer_valid;
#define strata_rewrite_buffer(h) ((h)->rs_buffer_valid ? (h)->rs_buffer : NULL)
#else
#define STRATA_PRUNE_RECORD {.flags = XLHP_CLEANUP_LOCK}
#define STRATA_PRUNE_RECORD_TYPE XLOG_HEAP2_PRUNE_ON_ACCESS
	void	   *rs_bulkstate;
	char	   *rs_buffer;
	BlockNumber rs_blockno;
#define strata_rewrite_buffer(h) ((h)->rs_buffer)
#endif
} StrataRewriteHead;

/*
 * 17 has a name for what EXPLAIN does where nobody is in its hook
 * (16 and older: hook_explain.c does it); delete when 16 goes.
 */
#if PG_VERSION_NUM >= 170000
#define strata_explain_one_query standard_ExplainOneQuery
#endif

/*
 * 18 gives row comparisons a type of their own, whose values are those of the
 * btree strategies, and has what a hash join's table is made with in the state
 * of its inner side (adf97c156); delete when 17 goes.
 */
#if PG_VERSION_NUM < 180000
#define strata_row_compare_strategy(expr) ((int) (expr)->rctype)
#define strata_hash_table_create(j, h, nulls) \
	ExecHashTableCreate(h, (j)->hj_HashOperators, (j)->hj_Collations, nulls)
#else
#define strata_row_compare_strategy(expr) ((int) (expr)->cmptype)
#define strata_hash_table_create(j, h, nulls) ExecHashTableCreate(h)
#endif

#endif							/* STRATA_COMPAT_H */
