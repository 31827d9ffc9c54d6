/*-------------------------------------------------------------------------
 *
 * scan_partition.c
 *	  What the bounds of a partition say of its rows.
 *
 * src/scan/scan_partition.c
 *-------------------------------------------------------------------------
 */
#include "scan/scan_private.h"

#include "access/table.h"
#include "catalog/partition.h"
#include "catalog/pg_class.h"
#include "common/int.h"
#include "utils/builtins.h"
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
