/*-------------------------------------------------------------------------
 *
 * scan_batch_class.c
 *	  Batches found by what operator classes of an index say of each: when that
 *	  pays.
 *
 * How much of the table a condition leaves is not to be known from statistics:
 * it depends on how the rows lie.  So where the value is known, some summaries
 * are asked.
 *
 * src/scan/scan_batch_class.c
 *-------------------------------------------------------------------------
 */
#include "base/base.h"
#include "index/index.h"
#include "scan/scan_plan_private.h"
#include "scan/scan_source_private.h"

#include <math.h>

#include "access/genam.h"
#include "access/htup_details.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* Asking a summary; in multiples of cpu_tuple_cost. */
#define COST_SUMMARY 2.0

/*
 * Batches that a condition leaves whose value is not known: who made the index
 * believes that it helps.
 */
#define UNKNOWN_SHARE 0.1

/* Most values of a list that are asked for one by one. */
#define LIST_VALUES 100

/* Most of them that are looked up when planning. */
#define ASKED_VALUES 16

/* Keys of a condition that is not known. */
#define UNKNOWN_KEYS 4

/* An index of R that has summaries of batches, or keys of them. */
typedef struct ClassIndex
{
	Oid			index;
	StrataIndexKind kind;
	bool		of_values;		/* equality alone is asked for */
	bool		partial;		/* the query implies its predicate */
	StrataIndexShape shape;
} ClassIndex;

static Snapshot
planning_snapshot(void)
{
	return ActiveSnapshotSet() ? GetActiveSnapshot() :
		GetTransactionSnapshot();
}

/*
 * Has the index a predicate?  False: it has, and PostgreSQL did not find that
 * the query implies it.
 */
static bool
know_predicate(const StrataRelInfo *info, Relation index, bool *partial)
{
	ListCell   *lc;

	*partial = !heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred,
							   NULL);
	if (!*partial)
		return true;
	foreach(lc, info->rel->indexlist)
	{
		const IndexOptInfo *known = lfirst_node(IndexOptInfo, lc);

		if (known->indexoid == RelationGetRelid(index))
			return known->predOK;
	}
	return false;
}

/* Those that there are; remembered, as they are asked for often. */
static List *
class_indexes(StrataRelInfo *info)
{
	List	   *indexes;
	ListCell   *lc;

	if (info->class_indexes_known)
		return info->class_indexes;
	info->class_indexes_known = true;
	if (!strata_enable_batch_index || info->size.batches < 2)
		return NIL;
	indexes = RelationGetIndexList(info->store->rel);
	foreach(lc, indexes)
	{
		Oid			oid = lfirst_oid(lc);
		Relation	index;
		ClassIndex *found;
		StrataIndexKind kind = strata_index_kind(oid);

		if (kind != STRATA_INDEX_SUMMARIES && kind != STRATA_INDEX_KEYS)
			continue;
		index = index_open(oid, AccessShareLock);
		found = palloc0(sizeof(ClassIndex));
		found->index = oid;
		found->kind = kind;
		found->of_values = kind == STRATA_INDEX_KEYS &&
			strata_index_is_of_values(index);
		if (know_predicate(info, index, &found->partial) &&
			strata_index_probe_shape(info->store, planning_snapshot(), index,
									 &found->shape))
			info->class_indexes = lappend(info->class_indexes, found);
		index_close(index, NoLock);
	}
	list_free(indexes);
	return info->class_indexes;
}

/* See scan_plan_private.h. */
bool
strata_scan_class_serves(StrataRelInfo *info, RestrictInfo *rinfo)
{
	ListCell   *lc;
	bool		serves = false;

	foreach(lc, class_indexes(info))
	{
		const ClassIndex *known = lfirst(lc);
		Relation	index = index_open(known->index, AccessShareLock);
		StrataIndexMatch match;

		serves = serves ||
			strata_index_match(index, info->rel->relid, rinfo->clause,
							   &match) ||
			strata_scan_support(info->root, info->rel, index,
								rinfo->clause) != NIL;
		index_close(index, NoLock);
	}
	return serves;
}

/*
 * Of a condition whose value is known when planning: the share of batches that
 * are left; else less than 0.  *sought is raised by the keys looked up.
 */
static double
known_share(StrataRelInfo *info, const ClassIndex *known,
			StrataIndexProbe *probe, const StrataIndexMatch *match,
			double *sought)
{
	Node	   *value = estimate_expression_value(info->root,
												  (Node *) match->value);
	Datum	   *values;
	int			n;
	int			asked;
	double		left = 1;
	double		of_asked = 0;
	const Const *constant = (const Const *) value;

	if (!IsA(value, Const))
		return -1;
	if (constant->constisnull)
		return 0;
	values = strata_index_match_values(match, constant->constvalue, &n);
	if (n > LIST_VALUES && !known->of_values)
		return 1;
	/* of many some, which stand for the others */
	asked = Min(n, ASKED_VALUES);
	for (int i = 0; i < asked; i++)
	{
		ScanKeyData key;

		strata_index_match_key(match, values[(int64) i * n / asked], &key);
		left *= 1 - strata_index_probe_share(probe, &info->size, &key, 1,
											 &of_asked);
	}
	if (asked == 0)
		return 0;
	*sought += of_asked * n / asked;
	return 1 - pow(left, (double) n / asked);
}

/*
 * The same of a value that is not known; of single values statistics say how
 * many rows have one.
 */
static double
unknown_share(StrataRelInfo *info, const ClassIndex *known,
			  RestrictInfo *rinfo, double *sought)
{
	double		rows;

	*sought += UNKNOWN_KEYS;
	if (!known->of_values)
		return UNKNOWN_SHARE;
	rows = info->size.rows *
		clause_selectivity(info->root, (Node *) rinfo,
						   (int) info->rel->relid, JOIN_INNER, NULL);
	return 1 - exp(-Max(rows, 1) / info->size.batches);
}

/* Asking an index for so many conditions, and hashes of keys in them. */
static Cost
asking_cost(const StrataRelInfo *info, const ClassIndex *known, int nmatches,
			double sought, bool repeated)
{
	Cost		cost;

	if (known->kind == STRATA_INDEX_KEYS)
		return strata_scan_look_up_cost(&known->shape, sought,
										info->random_page_cost,
										info->seq_page_cost);
	cost = known->shape.entries * nmatches * COST_SUMMARY * cpu_tuple_cost;
	/* rows of runs stay in memory from one value of a join to the next */
	if (!repeated || known->shape.nrows * BLCKSZ > work_mem * 1024.0)
		cost += known->shape.nruns * info->random_page_cost +
			known->shape.nrows * info->seq_page_cost;
	return cost;
}

/* The way to batches that an index offers for the clauses, or NULL. */
static StrataIndexOption *
index_option(StrataRelInfo *info, const ClassIndex *known, Relation index,
			 List *clauses, bool repeated)
{
	StrataIndexProbe *probe = NULL;
	StrataIndexOption *option;
	double		share = 1;
	double		sought = 0;
	int			nmatches = 0;
	ListCell   *lc;
	ListCell   *lc2;

	foreach(lc, clauses)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *conditions;

		if (rinfo->pseudoconstant ||
			!restriction_is_securely_promotable(rinfo, info->rel))
			continue;
		conditions = list_concat(strata_scan_support(info->root, info->rel,
													 index, rinfo->clause),
								 list_make1(rinfo->clause));
		foreach(lc2, conditions)
		{
			StrataIndexMatch match;
			double		one;

			if (!strata_index_match(index, info->rel->relid, lfirst(lc2),
									&match))
				continue;
			if (probe == NULL)
				probe = strata_index_probe_begin(info->store->batches,
												 planning_snapshot(), index);
			one = known_share(info, known, probe, &match, &sought);
			if (one < 0)
				one = unknown_share(info, known, rinfo, &sought);
			/* conditions on one column mostly leave the same batches */
			share = Min(share, one);
			nmatches++;
		}
	}
	if (probe == NULL && known->partial && known->kind == STRATA_INDEX_KEYS)
	{
		probe = strata_index_probe_begin(info->store->batches,
										 planning_snapshot(), index);
		share = strata_index_probe_share(probe, &info->size, NULL, 0, &sought);
	}
	if (probe == NULL)
		return NULL;
	strata_index_probe_end(probe);
	option = palloc0(sizeof(StrataIndexOption));
	option->share = share;
	option->cost = asking_cost(info, known, nmatches, sought, repeated);
	option->uses = list_make2_oid(known->index, InvalidOid);
	return option;
}

/* See scan_plan_private.h. */
List *
strata_scan_batch_class(StrataRelInfo *info, List *clauses, bool repeated)
{
	List	   *options = NIL;
	ListCell   *lc;

	foreach(lc, class_indexes(info))
	{
		const ClassIndex *known = lfirst(lc);
		Relation	index = index_open(known->index, AccessShareLock);
		StrataIndexOption *option = index_option(info, known, index, clauses,
												 repeated);

		if (option != NULL)
			options = lappend(options, option);
		index_close(index, NoLock);
	}
	return options;
}
