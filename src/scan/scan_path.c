/*-------------------------------------------------------------------------
 *
 * scan_path.c
 *	  When a StrataScan is offered, and in which forms.
 *
 * An index of R knows the row store only, so once a table has compressed rows
 * no path through an index may stay as it is.  Each becomes the child of one
 * StrataScan; sequential scans are replaced by a StrataScan without a child,
 * which reads the row store itself.  TID paths stay: the access method answers
 * TIDs of both halves.
 *
 * Over 600 lines: every form of path, heap's and ours, is one decision.
 *
 * src/scan/scan_path.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"
#include "store/store.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_am_d.h"
#include "catalog/pg_class_d.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "scan/scan.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
#include "utils/typcache.h"

/* Ordered output may keep this many times work_mem of batches open. */
#define ORDERED_MEMORY_FACTOR 8

/*
 * From so many batches of a segment on, finding its widest costs less than it
 * spares.
 */
#define BATCHES_BY_SPAN 32

/*-------------------------------------------------------------------------
 * What there is to read
 *-------------------------------------------------------------------------
 */

/* Distinct segments of the layout, from statistics; at most the batches. */
static double
estimate_segments(StrataRelInfo *info)
{
	double		result = 1;

	for (int i = 0; i < info->layout->nsegment; i++)
	{
		AttrNumber	attno = info->layout->segment[i];
		Form_pg_attribute att = TupleDescAttr(info->desc, attno - 1);
		Var		   *var = makeVar(info->rel->relid, attno, att->atttypid,
								  att->atttypmod, att->attcollation, 0);
		VariableStatData vardata;
		bool		isdefault;

		examine_variable(info->root, (Node *) var, 0, &vardata);
		result *= Max(get_variable_numdistinct(&vardata, &isdefault), 1.0);
		ReleaseVariableStats(vardata);
	}
	return Max(Min(result, info->size.batches), 1.0);
}

/* Columns that rows are returned with, by what giving one on costs. */
static void
count_returned(StrataRelInfo *info, const Bitmapset *attrs)
{
	bool		whole = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber,
									  attrs);

	for (AttrNumber attno = 1; attno <= info->desc->natts; attno++)
	{
		Form_pg_attribute att = TupleDescAttr(info->desc, attno - 1);

		if (att->attisdropped ||
			(!whole && !bms_is_member(attno -
									  FirstLowInvalidHeapAttributeNumber,
									  attrs)))
			continue;
		if (att->attlen > 0 ||
			strata_layout_segment_index(info->layout, attno) >= 0)
			info->nvalues++;
		else
			info->nvarlenas++;
	}
}

/* Columns of the relation that the query reads. */
static void
count_columns(StrataRelInfo *info)
{
	RelOptInfo *rel = info->rel;
	Bitmapset  *attrs = NULL;
	ListCell   *lc;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &attrs);
	count_returned(info, attrs);
	foreach(lc, rel->baserestrictinfo)
		pull_varattnos((Node *) lfirst_node(RestrictInfo, lc)->clause,
					   rel->relid, &attrs);
	info->ncolumns = bms_num_members(attrs);
	if (bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attrs))
		info->ncolumns = info->desc->natts;
}

/*
 * What there is to know of a relation before paths are made: sizes, layout,
 * indexes.
 */
static void
init_info(StrataRelInfo *info, PlannerInfo *root, RelOptInfo *rel,
		  Relation relation, StrataStore *store)
{
	memset(info, 0, sizeof(*info));
	info->root = root;
	info->rel = rel;
	info->desc = RelationGetDescr(relation);
	info->store = store;
	info->layout = strata_store_present_layout(store);

	/*
	 * rel->pages and rel->tuples are the access method's sums, made of the
	 * same
	 */
	if (!strata_store_last_size(RelationGetRelid(store->batches), &info->size))
		strata_store_estimate_size(store->batches, &info->size);
	info->heap_pages = Max(rel->pages - info->size.main_pages -
						   info->size.toast_pages,
						   0);
	get_tablespace_page_costs(rel->reltablespace, &info->random_page_cost,
							  &info->seq_page_cost);
	info->heap_tuples = info->heap_pages > 0 ?
		Max(rel->tuples - info->size.rows, 0) :
		0;
	info->nsegments = estimate_segments(info);
	count_columns(info);
	info->has_segment_index = info->layout->nsegment > 0 &&
		OidIsValid(strata_store_segment_index(store, info->layout, false));
	info->has_segment_max_index = info->layout->nsegment > 0 &&
		OidIsValid(strata_store_segment_index(store, info->layout, true));
	info->has_min_index =
		OidIsValid(strata_store_order_index(store, info->layout, false));
	info->has_max_index =
		OidIsValid(strata_store_order_index(store, info->layout, true));
	info->has_span_index = OidIsValid(strata_store_span_index(store,
															  info->layout));
	info->by_span = info->has_span_index &&
		info->size.batches / Max(info->nsegments, 1) >= BATCHES_BY_SPAN;
}

/*-------------------------------------------------------------------------
 * Making paths
 *-------------------------------------------------------------------------
 */

/*
 * Can the scan go backward?  Without order, and when the child can: PostgreSQL
 * asks only us.
 */
static bool
supports_backward(const StrataCandidate *candidate)
{
	Oid			relam;

	if (candidate->nkeys > 0 || candidate->workers > 0)
		return false;
	if (candidate->child == NULL)
		return true;
	if (!IsA(candidate->child, IndexPath))
		return false;
	relam = ((IndexPath *) candidate->child)->indexinfo->relam;
	return relam == BTREE_AM_OID || relam == HASH_AM_OID;
}

/* The path of a candidate whose cost is known. */
static CustomPath *
make_path(StrataRelInfo *info, StrataCandidate *candidate,
		  List *pathkeys)
{
	RelOptInfo *rel = info->rel;
	CustomPath *path = makeNode(CustomPath);
	StrataScanInfo *scan = palloc0(sizeof(StrataScanInfo));

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.param_info = candidate->param_info;
	path->path.parallel_safe = rel->consider_parallel;
	path->path.parallel_aware = candidate->workers > 0;
	path->path.parallel_workers = candidate->workers;
	path->path.rows = candidate->rows;
	path->path.startup_cost = candidate->startup;
	path->path.total_cost = candidate->total;
	path->path.pathkeys = pathkeys;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	if (supports_backward(candidate))
		path->flags |= CUSTOMPATH_SUPPORT_BACKWARD_SCAN;
	path->methods = &strata_path_methods;
	if (candidate->child != NULL)
	{
		path->custom_paths = list_make1(candidate->child);
		strata_path_copy_disabled(&path->path, candidate->child);
	}
	else if (!enable_seqscan && info->heap_pages > 0)
		strata_path_disable(&path->path);
	scan->access = candidate->access;
	scan->by_span = info->by_span;
	scan->indexes = candidate->indexes;
	scan->layout = info->layout->text;
	scan->nkeys = candidate->nkeys;
	scan->keys = (StrataOrderKey *) candidate->keys;
	scan->incremental = candidate->incremental;
	scan->has_child = candidate->child != NULL;
	scan->heap_pages = (BlockNumber) info->heap_pages;
	scan->vector_cost = candidate->vector_cost;
	scan->segment_saving = candidate->segment_saving;
	memcpy(scan->end, candidate->end, sizeof(scan->end));
	if (info->layout->norder > 0)
		scan->order = info->layout->order[0].attno;
	for (int i = 0; i < info->layout->nsegment; i++)
		scan->cut_by = bms_add_member(scan->cut_by, info->layout->segment[i]);
	scan->nread = candidate->nread;
	if (candidate->workers == 0 && candidate->nkeys == 0 &&
		candidate->param_info == NULL)
		scan->joined = strata_scan_joined_indexes(info);
	if (scan->segment_saving > 0 || candidate->workers > 0)
	{
		scan->segment = scan->cut_by;
		scan->has_segment_index[false] = info->has_segment_index;
		scan->has_segment_index[true] = info->has_segment_max_index;
	}
	strata_scan_path_set_info(path, scan);
	return path;
}

/* Unordered, with or without a child. */
static void
add_plain_path(StrataRelInfo *info, Path *child, ParamPathInfo *param_info)
{
	StrataCandidate candidate = {0};

	candidate.param_info = param_info;
	candidate.child = child;
	strata_scan_cost(info, &candidate);
	add_path(info->rel, (Path *) make_path(info, &candidate, NIL));
}

/*
 * A path through an index as a child: our scan needs whole tuples, so an
 * index-only scan becomes an index scan.  NULL for what cannot be a child.
 */
static Path *
child_path(Path *path)
{
	if (IsA(path, BitmapHeapPath))
		return path;
	if (IsA(path, IndexPath))
	{
		IndexPath  *copy;

		if (path->pathtype != T_IndexOnlyScan)
			return path;
		copy = makeNode(IndexPath);
		*copy = *(IndexPath *) path;
		copy->path.pathtype = T_IndexScan;
		return &copy->path;
	}
	return NULL;
}

/*
 * Does the path read less than the whole row store?  (Else it is only for
 * order.)
 */
static bool
is_selective(Path *path)
{
	IndexPath  *index_path = (IndexPath *) path;
	ListCell   *lc;

	if (!IsA(path, IndexPath) || index_path->indexinfo->indpred != NIL)
		return true;
	foreach(lc, index_path->indexclauses)
	{
		RestrictInfo *rinfo = lfirst_node(IndexClause, lc)->rinfo;

		/* others are implied by the partition's bounds */
		if (list_member_ptr(path->parent->baserestrictinfo, rinfo) ||
			rinfo->parent_ec != NULL || path->param_info != NULL)
			return true;
	}
	return false;
}

/*-------------------------------------------------------------------------
 * Ordered paths
 *-------------------------------------------------------------------------
 */

/*
 * The column of the layout that a pathkey sorts by, in the column's own order.
 */
static bool
match_pathkey(const StrataRelInfo *info, PathKey *pathkey, StrataOrderKey *key)
{
	const StrataLayout *layout = info->layout;

	for (int i = 0; i < layout->nsegment + layout->norder; i++)
	{
		AttrNumber	attno = i < layout->nsegment ? layout->segment[i] :
		layout->order[i - layout->nsegment].attno;
		Form_pg_attribute att = TupleDescAttr(info->desc, attno - 1);
		TypeCacheEntry *typcache;
		Var		   *var;

		if (att->attisdropped)
			continue;
		typcache = lookup_type_cache(att->atttypid, TYPECACHE_BTREE_OPFAMILY);
		if (pathkey->pk_opfamily != typcache->btree_opf ||
			pathkey->pk_eclass->ec_collation != att->attcollation)
			continue;
		var = makeVar(info->rel->relid, attno, att->atttypid, att->atttypmod,
					  att->attcollation, 0);
		if (find_ec_member_matching_expr(pathkey->pk_eclass, (Expr *) var,
										 info->rel->relids) == NULL)
			continue;
		key->attno = attno;
		key->desc = strata_pathkey_is_desc(pathkey);
		key->nulls_first = pathkey->pk_nulls_first;
		return true;
	}
	return false;
}

/*
 * The longest prefix of pathkeys in which batches of the layout are sorted,
 * forward or backward: segmentby columns anywhere (they are constant in a
 * batch), the others a prefix of orderby.  Batches whose nulls stand at the
 * other end are sorted when they are read.
 */
static int
match_pathkeys(const StrataRelInfo *info, List *pathkeys, StrataOrderKey *keys)
{
	const StrataLayout *layout = info->layout;
	int			nkeys = 0;
	int			norder = 0;
	bool		backward = false;
	ListCell   *lc;

	foreach(lc, pathkeys)
	{
		StrataOrderKey *key = &keys[nkeys];

		if (nkeys >= layout->nsegment + layout->norder ||
			!match_pathkey(info, lfirst_node(PathKey, lc), key))
			break;
		if (strata_layout_segment_index(layout, key->attno) < 0)
		{
			if (norder >= layout->norder ||
				key->attno != layout->order[norder].attno)
				break;
			if (norder == 0)
				backward = key->desc != layout->order[0].desc;
			else if ((key->desc != layout->order[norder].desc) != backward)
				break;
			norder++;
		}
		nkeys++;
	}
	return nkeys;
}

/*
 * Is each segmentby column equal to one value?  Then the index on segments
 * gives the batches in the order of their bounds.
 */
static bool
is_single_segment(StrataRelInfo *info, ParamPathInfo *param_info)
{
	List	   *clauses = info->rel->baserestrictinfo;

	if (!strata_enable_pruning || info->layout->nsegment == 0)
		return false;
	if (param_info != NULL)
		clauses = list_concat_copy(clauses, param_info->ppi_clauses);
	for (int i = 0; i < info->layout->nsegment; i++)
	{
		bool		found = false;
		ListCell   *lc;

		foreach(lc, clauses)
		{
			const StrataColumnOp *op;

			op = strata_scan_clause_op(info, lfirst_node(RestrictInfo, lc));
			if (op != NULL && op->attno == info->layout->segment[i] &&
				op->column_order && !op->is_array &&
				op->strategy == BTEqualStrategyNumber)
				found = true;
		}
		if (!found)
			return false;
	}
	return true;
}

/*
 * The index that gives batches in the order of the first key's bound; SEQ:
 * none.
 */
static StrataAccess
incremental_access(StrataRelInfo *info, const StrataCandidate *candidate)
{
	const StrataOrderKey *key = &candidate->keys[0];

	if (info->layout->norder == 0 ||
		key->attno != info->layout->order[0].attno)
		return STRATA_ACCESS_SEQ;
	if ((key->desc ? info->has_segment_max_index : info->has_segment_index) &&
		is_single_segment(info, candidate->param_info))
		return key->desc ? STRATA_ACCESS_SEGMENT_MAX : STRATA_ACCESS_SEGMENT;
	if (key->desc ? info->has_max_index : info->has_min_index)
		return key->desc ? STRATA_ACCESS_MAX : STRATA_ACCESS_MIN;
	return STRATA_ACCESS_SEQ;
}

/* The cheapest index path that has the order, as a child; or NULL. */
static Path *
ordered_child(const StrataRelInfo *info, List *old_paths, List *pathkeys)
{
	Path	   *best = NULL;
	ListCell   *lc;

	/* see filter_subplan.c: the child's copy of such a qual is not told */
	if (contain_subplans((Node *)
						 extract_actual_clauses(info->rel->baserestrictinfo,
												false)))
		return NULL;
	foreach(lc, old_paths)
	{
		Path	   *path = lfirst(lc);

		if (!IsA(path, IndexPath) ||
			((IndexPath *) path)->indexorderbys != NIL ||
			!bms_equal(PATH_REQ_OUTER(path), info->rel->lateral_relids) ||
			!pathkeys_contained_in(pathkeys, path->pathkeys))
			continue;
		if (best == NULL || path->total_cost < best->total_cost)
			best = path;
	}
	return best != NULL ? child_path(best) : NULL;
}

/* System columns other than ctid and tableoid do not survive our own sort. */
static bool
needs_heap_tuple(const StrataRelInfo *info)
{
	for (int attno = info->rel->min_attr; attno < 0; attno++)
		if (attno != SelfItemPointerAttributeNumber &&
			attno != TableOidAttributeNumber &&
			!bms_is_empty(info->rel->attr_needed[attno - info->rel->min_attr]))
			return true;
	return false;
}

/*
 * Add the paths of an ordered candidate: with all batches listed first, and by
 * an index in their order; none that takes too much memory.
 */
static void
add_ordered_candidate(StrataRelInfo *info, StrataCandidate *candidate,
					  List *pathkeys)
{
	StrataAccess access = incremental_access(info, candidate);
	double		limit = (double) ORDERED_MEMORY_FACTOR * work_mem * 1024.0;

	/* in the order of one segment it reads what listing would, or less */
	if (access != STRATA_ACCESS_SEGMENT && access != STRATA_ACCESS_SEGMENT_MAX)
	{
		candidate->incremental = false;
		strata_scan_cost(info, candidate);
		if (candidate->memory > limit)
			return;
		add_path(info->rel, (Path *) make_path(info, candidate, pathkeys));
	}
	if (access != STRATA_ACCESS_SEQ)
	{
		candidate->incremental = true;
		candidate->access = access;
		strata_scan_cost(info, candidate);
		if (candidate->memory <= limit)
			add_path(info->rel, (Path *) make_path(info, candidate, pathkeys));
	}
}

/*
 * Add paths in the order of the query's pathkeys, or of those in front, where
 * batches can be merged so.
 */
static void
add_ordered_paths(StrataRelInfo *info, List *old_paths,
				  ParamPathInfo *param_info)
{
	StrataOrderKey *keys = palloc(sizeof(StrataOrderKey) *
								  (info->layout->nsegment +
								   info->layout->norder + 1));
	List	   *pathkeys;
	StrataCandidate candidate = {0};

	if (!strata_enable_ordered_scan || info->root->query_pathkeys == NIL)
		return;
	candidate.nkeys = match_pathkeys(info, info->root->query_pathkeys, keys);
	if (candidate.nkeys == 0)
		return;
	candidate.keys = keys;
	candidate.param_info = param_info;
	pathkeys = list_truncate(list_copy(info->root->query_pathkeys),
							 candidate.nkeys);
	candidate.child = ordered_child(info, old_paths, pathkeys);
	if (candidate.child != NULL)
		add_ordered_candidate(info, &candidate, pathkeys);
	candidate.child = NULL;
	if (!needs_heap_tuple(info))
		add_ordered_candidate(info, &candidate, pathkeys);
}

/*-------------------------------------------------------------------------
 * Parameterised paths: joins on what finds or prunes batches
 *-------------------------------------------------------------------------
 */

static bool
is_lookup_column(const StrataRelInfo *info, AttrNumber attno)
{
	return strata_layout_segment_index(info->layout, attno) >= 0 ||
		(info->layout->norder > 0 && info->layout->order[0].attno == attno);
}

/* Is the clause a comparison by which batches of a column are found? */
static bool
looks_up_column(StrataRelInfo *info, RestrictInfo *rinfo)
{
	const StrataColumnOp *op = strata_scan_clause_op(info, rinfo);

	return op != NULL && op->column_order && op->attno > 0 &&
		(is_lookup_column(info, op->attno) ||
		 strata_scan_has_batch_index(info, op->attno));
}

/* Remember the parameterisation that makes a join clause usable here. */
static List *
add_param_info(StrataRelInfo *info, RestrictInfo *rinfo, List *param_infos)
{
	RelOptInfo *rel = info->rel;
	Relids		outer;

	if (!join_clause_is_movable_to(rinfo, rel) ||
		!(looks_up_column(info, rinfo) ||
		  strata_scan_class_serves(info, rinfo)))
		return param_infos;
	outer = bms_union(rinfo->clause_relids, rel->lateral_relids);
	outer = bms_del_member(outer, rel->relid);
	if (bms_is_empty(outer))
		return param_infos;
	return list_append_unique_ptr(param_infos,
								  get_baserel_parampathinfo(info->root, rel,
															outer));
}

/* The column that equivalence classes are asked about. */
typedef struct ColumnMember
{
	AttrNumber	attno;
	Oid			opfamily;
} ColumnMember;

static bool
member_is_column(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec,
				 EquivalenceMember *em, void *arg)
{
	ColumnMember *wanted = arg;
	Expr	   *expr = em->em_expr;

	while (expr != NULL && IsA(expr, RelabelType))
		expr = ((RelabelType *) expr)->arg;
	return expr != NULL && IsA(expr, Var) &&
		((Var *) expr)->varno == rel->relid &&
		((Var *) expr)->varattno == wanted->attno &&
		list_member_oid(ec->ec_opfamilies, wanted->opfamily);
}

/*
 * Add the parameterizations by which joins may give values of a column through
 * an equivalence class.
 */
static List *
eclass_param_infos(StrataRelInfo *info, AttrNumber attno, List *param_infos)
{
	Form_pg_attribute att = TupleDescAttr(info->desc, attno - 1);
	ColumnMember wanted = {attno, InvalidOid};
	Relids		referencers = info->rel->lateral_referencers;
	ListCell   *lc;

	if (att->attisdropped)
		return param_infos;
	wanted.opfamily =
		lookup_type_cache(att->atttypid, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	foreach(lc,
			generate_implied_equalities_for_column(info->root, info->rel,
												   member_is_column, &wanted,
												   referencers))
		param_infos = add_param_info(info, lfirst_node(RestrictInfo, lc),
									 param_infos);
	return param_infos;
}

/*
 * Add paths that other relations of a join give values of segmentby or orderby
 * columns to.
 */
static void
add_parameterized_paths(StrataRelInfo *info)
{
	List	   *param_infos = NIL;
	ListCell   *lc;

	if (!strata_enable_pruning)
		return;
	foreach(lc, info->rel->joininfo)
		param_infos = add_param_info(info, lfirst_node(RestrictInfo, lc),
									 param_infos);
	if (info->rel->has_eclass_joins)
	{
		for (int i = 0; i < info->layout->nsegment; i++)
			param_infos = eclass_param_infos(info, info->layout->segment[i],
											 param_infos);
		if (info->layout->norder > 0)
			param_infos = eclass_param_infos(info,
											 info->layout->order[0].attno,
											 param_infos);
		for (AttrNumber attno = 1; attno <= info->desc->natts; attno++)
			if (!is_lookup_column(info, attno) &&
				strata_scan_has_batch_index(info, attno))
				param_infos = eclass_param_infos(info, attno, param_infos);
	}
	foreach(lc, param_infos)
		add_plain_path(info, NULL, lfirst(lc));
}

/*-------------------------------------------------------------------------
 * Parallel paths
 *-------------------------------------------------------------------------
 */

/* Workers for the work there is: as for a heap that held all rows. */
static int
count_workers(const StrataRelInfo *info)
{
	double		width = info->rel->reltarget->width +
	MAXALIGN(SizeofHeapTupleHeader);
	double		pages = info->heap_pages + info->size.rows * width / BLCKSZ;

	return compute_parallel_worker(info->rel, pages, -1,
								   max_parallel_workers_per_gather);
}

/* A partial path over a child, for as many workers as that has. */
static void
add_partial_path_over(StrataRelInfo *info, Path *child)
{
	StrataCandidate candidate = {0};

	candidate.child = child;
	candidate.workers = child->parallel_workers;
	strata_scan_cost(info, &candidate);
	add_partial_path(info->rel, (Path *) make_path(info, &candidate, NIL));
}

/*
 * A partial path over all of the row store for so many workers; whoever wants
 * fewer finds the paths for these behind it.
 */
static void
add_shared_path(StrataRelInfo *info, int workers)
{
	Path	   *fewer = NULL;

	for (int i = 1; i <= workers; i++)
	{
		StrataCandidate candidate = {0};
		CustomPath *path;

		candidate.workers = i;
		if (info->store != NULL)
			strata_scan_cost(info, &candidate);
		else
			strata_scan_cost_rowstore(info, &candidate);
		/* pages are shared, not what an index finds */
		Assert(candidate.access == STRATA_ACCESS_SEQ);	/* scan:R1 */
		path = make_path(info, &candidate, NIL);
		strata_scan_path_info(path)->fewer = fewer;
		fewer = &path->path;
	}
	if (fewer != NULL)
		add_partial_path(info->rel, fewer);
}

/*
 * Add partial paths: over the heap's partial paths that are selective, and
 * over the whole row store.
 */
static void
add_partial_paths(StrataRelInfo *info, List *old_partial)
{
	ListCell   *lc;

	if (!strata_enable_parallel_scan || !info->rel->consider_parallel ||
		!bms_is_empty(info->rel->lateral_relids))
		return;
	foreach(lc, old_partial)
	{
		Path	   *child = child_path(lfirst(lc));

		if (child != NULL && is_selective(child))
			add_partial_path_over(info, child);
	}
	add_shared_path(info, count_workers(info));
}

/*-------------------------------------------------------------------------
 * The hook
 *-------------------------------------------------------------------------
 */

/*
 * StrataScan is off: a sequential scan by the access method sees both halves.
 */
static void
keep_plain_paths(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *old_paths = rel->pathlist;
	List	   *old_partial = rel->partial_pathlist;
	ListCell   *lc;

	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	foreach(lc, old_paths)
	{
		if (IsA(lfirst(lc), TidPath))
			add_path(rel, lfirst(lc));
	}
	add_path(rel, create_seqscan_path(root, rel, rel->lateral_relids, 0));
	foreach(lc, old_partial)
	{
		if (((Path *) lfirst(lc))->pathtype == T_SeqScan)
			add_partial_path(rel, lfirst(lc));
	}
}

/*
 * Put paths over both halves in place of those over the row store alone
 * (scan:R3).
 */
static void
replace_paths(StrataRelInfo *info)
{
	RelOptInfo *rel = info->rel;
	List	   *old_paths = rel->pathlist;
	List	   *old_partial = rel->partial_pathlist;
	ParamPathInfo *param_info = get_baserel_parampathinfo(info->root, rel,
														  rel->lateral_relids);
	ListCell   *lc;

	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	add_plain_path(info, NULL, param_info);
	foreach(lc, old_paths)
	{
		Path	   *path = lfirst(lc);
		Path	   *child;

		if (IsA(path, TidPath))
			add_path(rel, path);
		else if ((child = child_path(path)) != NULL && is_selective(child))
			add_plain_path(info, child, child->param_info);
	}
	add_ordered_paths(info, old_paths, param_info);
	add_parameterized_paths(info);
	add_partial_paths(info, old_partial);
}

/* A table of fewer pages is left to PostgreSQL while it has no batches. */
#define MIN_COLUMN_PAGES 32

/* Does the query have use for columns in place of rows? */
static bool
wants_columns(const Query *parse)
{
	return strata_enable_scan && strata_enable_page_scan &&
		parse->commandType == CMD_SELECT &&
		parse->rowMarks == NIL &&
		(parse->hasAggs || parse->groupClause != NIL ||
		 parse->distinctClause != NIL ||
		 (parse->sortClause != NIL && parse->limitCount != NULL));
}

/*
 * In place of the partial path that reads all rows, one that can give columns.
 */
static void
replace_partial_path(StrataRelInfo *info)
{
	RelOptInfo *rel = info->rel;
	int			workers = 0;
	ListCell   *lc;

	if (!strata_enable_parallel_scan)
		return;
	foreach(lc, rel->partial_pathlist)
	{
		Path	   *path = lfirst(lc);

		if (path->pathtype != T_SeqScan)
			continue;
		workers = path->parallel_workers;
		rel->partial_pathlist = foreach_delete_current(rel->partial_pathlist,
													   lc);
	}
	add_shared_path(info, workers);
}

/*
 * Of a table without batches, as a hypertable's newest chunk mostly is:
 * PostgreSQL's paths stay, and one is added that can give columns.
 */
static void
add_row_store_path(PlannerInfo *root, RelOptInfo *rel, Relation relation)
{
	StrataRelInfo info = {0};
	StrataCandidate candidate = {0};

	if (!wants_columns(root->parse) || rel->pages < MIN_COLUMN_PAGES ||
		!bms_is_empty(rel->lateral_relids))
		return;
	info.root = root;
	info.rel = rel;
	info.desc = RelationGetDescr(relation);
	info.layout = strata_store_current_layout(relation);
	info.heap_pages = rel->pages;
	info.heap_tuples = rel->tuples;
	get_tablespace_page_costs(rel->reltablespace, &info.random_page_cost,
							  &info.seq_page_cost);
	strata_scan_cost_rowstore(&info, &candidate);
	add_path(rel, (Path *) make_path(&info, &candidate, NIL));
	replace_partial_path(&info);
}

/*
 * WHERE CURRENT OF works by TID only; from 18 on nothing but a TID path is
 * there.
 */
static bool
has_current_of(RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->baserestrictinfo)
	{
		if (IsA(lfirst_node(RestrictInfo, lc)->clause, CurrentOfExpr))
			return true;
	}
	return false;
}

/* See scan.h. */
void
strata_scan_set_rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti,
							 RangeTblEntry *rte)
{
	Relation	relation;

	if (rte->inh)
		strata_scan_charge_appends(root, rel);
	if (rte->rtekind != RTE_RELATION || rte->inh || rte->tablesample != NULL ||
		(rte->relkind != RELKIND_RELATION &&
		 rte->relkind != RELKIND_MATVIEW) ||
		IS_DUMMY_REL(rel) || has_current_of(rel))
		return;
	relation = table_open(rte->relid, NoLock);
	if (strata_relation_is_strata(relation))
	{
		if (!OidIsValid(strata_companion_oid(relation)))
			add_row_store_path(root, rel, relation);
		else if (!strata_enable_scan)
			keep_plain_paths(root, rel);
		else
		{
			StrataStore *store = strata_store_open(relation, AccessShareLock);
			StrataRelInfo info;

			if (store != NULL)
			{
				strata_scan_drop_implied(root, rel);
				init_info(&info, root, rel, relation, store);
				replace_paths(&info);
				strata_store_close(store, NoLock);
			}
		}
	}
	table_close(relation, NoLock);
}
