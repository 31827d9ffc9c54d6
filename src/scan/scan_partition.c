/*-------------------------------------------------------------------------
 *
 * scan_partition.c
 *	  What the bounds of a partition say of its rows.
 *
 * src/scan/scan_partition.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_plan_private.h"
#include "scan/scan_private.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "common/int.h"
#include "optimizer/cost.h"
#include "partitioning/partbounds.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

/* Is the relation's parent partitioned by ranges of its column attno alone? */
static bool
parent_goes_by(Relation rel, AttrNumber attno)
{
	Relation	parent = table_open(get_partition_parent(RelationGetRelid(rel),
														 true),
									AccessShareLock);
	PartitionKey key = RelationGetPartitionKey(parent);
	bool		result = false;

	if (key != NULL && key->strategy == PARTITION_STRATEGY_RANGE &&
		key->partnatts == 1 && key->partattrs[0] > 0)
		result = strcmp(NameStr(TupleDescAttr(RelationGetDescr(parent),
											  key->partattrs[0] - 1)->attname),
						NameStr(TupleDescAttr(RelationGetDescr(rel),
											  attno - 1)->attname)) == 0;
	table_close(parent, NoLock);
	return result;
}

/*
 * The best value of the column that rows of the partition can have; false:
 * there is no such bound.  The bound above is not in the range.
 */
static bool
best_of_partition(Relation rel, bool last, int width, int64 *best)
{
	HeapTuple	tuple = SearchSysCache1(RELOID,
										ObjectIdGetDatum(RelationGetRelid(rel)));
	bool		isnull = true;
	Datum		stored = (Datum) 0;
	PartitionBoundSpec *spec;
	PartitionRangeDatum *bound;

	if (HeapTupleIsValid(tuple))
		stored = SysCacheGetAttr(RELOID, tuple, Anum_pg_class_relpartbound,
								 &isnull);
	spec = isnull ? NULL :
		castNode(PartitionBoundSpec,
				 stringToNode(TextDatumGetCString(stored)));
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (spec == NULL || spec->is_default ||
		spec->strategy != PARTITION_STRATEGY_RANGE)
		return false;
	bound = linitial_node(PartitionRangeDatum,
						  last ? spec->upperdatums : spec->lowerdatums);
	if (bound->kind != PARTITION_RANGE_DATUM_VALUE)
		return false;
	*best = strata_datum_integer(castNode(Const, bound->value)->constvalue,
								 width);
	return !last || !pg_sub_s64_overflow(*best, 1, best);
}

static bool
rows_bound(Relation rel, AttrNumber attno, bool last, int width, int64 *best)
{
	return rel->rd_rel->relispartition && parent_goes_by(rel, attno) &&
		best_of_partition(rel, last, width, best);
}

/*
 * See scan_vector.h.  A scan of ours remembers it: reading the catalog takes
 * longer than many a rescan.
 */
bool
strata_scan_partition_best(PlanState *node, AttrNumber attno, bool last,
						   int width, int64 *best)
{
	Relation	rel = ((ScanState *) node)->ss_currentRelation;
	StrataScanState *scan = strata_scan_state(node);

	if (scan == NULL)
		return rows_bound(rel, attno, last, width, best);
	if (scan->bound_attno != attno || scan->bound_last != last)
	{
		scan->bound_found = rows_bound(rel, attno, last, width, &scan->bound);
		scan->bound_attno = attno;
		scan->bound_last = last;
	}
	*best = scan->bound;
	return scan->bound_found;
}

/*-------------------------------------------------------------------------
 * Conditions that all rows of a partition pass
 *-------------------------------------------------------------------------
 */

/* What is asked about a partition while its paths are made. */
typedef struct Partition
{
	RelOptInfo *rel;
	RelOptInfo *parent;
	const		AppendRelInfo *place;	/* of rel in parent */
	int			above;			/* number of its upper bound; -1: not yet
								 * known */
} Partition;

/* Is the node the column by which the parent goes? */
static bool
is_partition_key(const Partition *partition, Node *node)
{
	Var		   *var = (Var *) node;
	Var		   *key = linitial(partition->parent->partexprs[0]);

	return IsA(node, Var) && IsA(key, Var) &&
		var->varno == partition->rel->relid && var->varlevelsup == 0 &&
		var->varattno > 0 &&
		var->varattno <= partition->place->num_child_cols &&
		partition->place->parent_colnos[var->varattno - 1] == key->varattno;
}

/* The number of the partition's bound above; all rows are below it. */
static int
bound_above(Partition *partition)
{
	const RelOptInfo *parent = partition->parent;
	PartitionBoundInfo bounds = parent->boundinfo;

	for (int i = 0; partition->above < 0 && i <= bounds->ndatums; i++)
	{
		int			part = bounds->indexes[i];

		if (part >= 0 && part < parent->nparts &&
			parent->part_rels[part] == partition->rel)
			partition->above = i;
	}
	return partition->above;
}

/* Do all rows of the partition compare so with a value of the key's type? */
static bool
rows_compare(Partition *partition, int strategy, Datum value)
{
	PartitionScheme scheme = partition->parent->part_scheme;
	PartitionBoundInfo bounds = partition->parent->boundinfo;
	bool		lower = strategy == BTGreaterStrategyNumber ||
	strategy == BTGreaterEqualStrategyNumber;
	int			bound = bound_above(partition) - (lower ? 1 : 0);
	int			c;

	if (partition->above < 0 || bound < 0 || bound >= bounds->ndatums ||
		bounds->kind[bound][0] != PARTITION_RANGE_DATUM_VALUE)
		return false;
	c = DatumGetInt32(FunctionCall2Coll(&scheme->partsupfunc[0],
										scheme->partcollation[0],
										bounds->datums[bound][0], value));
	switch (strategy)
	{
		case BTGreaterStrategyNumber:
			return c > 0;
		case BTGreaterEqualStrategyNumber:
			return c >= 0;
		case BTLessStrategyNumber:
		case BTLessEqualStrategyNumber:
			return c <= 0;		/* the bound above is not in the range */
		default:
			return false;
	}
}

/* Do all rows of the partition pass the condition, by its bounds alone? */
static bool
is_implied(Partition *partition, Node *clause)
{
	PartitionScheme scheme = partition->parent->part_scheme;
	OpExpr	   *op = (OpExpr *) clause;
	bool		swapped;
	Const	   *value;
	Oid			opno;

	if (IsA(clause, NullTest))
	{
		NullTest   *test = (NullTest *) clause;

		/* none is null but in a default partition */
		return test->nulltesttype == IS_NOT_NULL && !test->argisrow &&
			is_partition_key(partition, (Node *) test->arg) &&
			bound_above(partition) >= 0;
	}
	if (!IsA(clause, OpExpr) || list_length(op->args) != 2)
		return false;
	swapped = IsA(linitial(op->args), Const);
	value = swapped ? linitial(op->args) : lsecond(op->args);
	if (!IsA(value, Const) || value->constisnull ||
		value->consttype != scheme->partopcintype[0] ||
		!is_partition_key(partition, swapped ? lsecond(op->args) :
						  linitial(op->args)) ||
		op->inputcollid != scheme->partcollation[0])
		return false;
	opno = swapped ? get_commutator(op->opno) : op->opno;
	return OidIsValid(opno) &&
		rows_compare(partition,
					 get_op_opfamily_strategy(opno, scheme->partopfamily[0]),
					 value->constvalue);
}

/* See scan_plan_private.h. */
void
strata_scan_drop_implied(PlannerInfo *root, RelOptInfo *rel)
{
	Partition	partition = {.rel = rel,.above = -1};
	List	   *kept = NIL;
	ListCell   *lc;

	if (!strata_enable_pruning || rel->baserestrictinfo == NIL ||
		root->append_rel_array == NULL ||
		(partition.place = root->append_rel_array[rel->relid]) == NULL)
		return;
	partition.parent = root->simple_rel_array[partition.place->parent_relid];
	if (partition.parent == NULL || partition.parent->part_scheme == NULL ||
		partition.parent->boundinfo == NULL ||
		partition.parent->part_rels == NULL ||
		partition.parent->part_scheme->strategy != PARTITION_STRATEGY_RANGE ||
		partition.parent->part_scheme->partnatts != 1)
		return;
	foreach(lc, rel->baserestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!is_implied(&partition, (Node *) rinfo->clause))
			kept = lappend(kept, rinfo);
	}
	if (list_length(kept) == list_length(rel->baserestrictinfo))
		return;
	Assert(partition.above >= 0);	/* scan:R17 */
	rel->baserestrictinfo = kept;
	set_baserel_size_estimates(root, rel);
}
