/*-------------------------------------------------------------------------
 *
 * index_probe.c
 *	  Questions to an index of the table by its operator classes, of whatever
 *	  kind it is.
 *
 * src/index/index_probe.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"

#include "utils/rel.h"

/* Most values of a list that operator classes are asked for. */
#define LIST_VALUES 100

/* One of them. */
struct StrataIndexProbe
{
	StrataSummaryProbe *summaries;
	StrataKeyProbe *keys;
};

/* See index.h. */
bool
strata_index_probe_shape(StrataStore *store, Snapshot snapshot,
						 Relation index, StrataIndexShape *shape)
{
	StrataIndexTarget target;

	return strata_index_class_target(RelationGetRelid(index), &target) &&
		strata_index_target_shape(store, snapshot, &target, shape);
}

/* See index.h. */
StrataIndexProbe *
strata_index_probe_begin(Relation batches, Snapshot snapshot, Relation index)
{
	StrataIndexProbe *probe = palloc0(sizeof(StrataIndexProbe));

	if (strata_index_kind(RelationGetRelid(index)) == STRATA_INDEX_KEYS)
		probe->keys = strata_key_probe_begin(batches, snapshot, index);
	else
		probe->summaries = strata_summary_probe_begin(batches, snapshot,
													  index);
	return probe;
}

/* See index.h. */
StrataIndexRanges *
strata_index_probe_find(StrataIndexProbe *probe, ScanKey keys, int nkeys)
{
	return probe->keys != NULL ?
		strata_key_probe_find(probe->keys, keys, nkeys, NULL) :
		strata_summary_probe_find(probe->summaries, keys, nkeys);
}

/* See index.h. */
StrataIndexRanges *
strata_index_probe_find_any(StrataIndexProbe *probe, ScanKey keys, int n)
{
	StrataIndexRanges *result = NULL;

	if (probe->keys != NULL && strata_key_probe_lists(probe->keys))
		return strata_key_probe_find_any(probe->keys, keys, n);
	if (n > LIST_VALUES)
		return NULL;
	for (int i = 0; i < n; i++)
	{
		StrataIndexRanges *one = strata_index_probe_find(probe, &keys[i], 1);

		result = result == NULL ? one : strata_ranges_union(result, one);
	}
	return result != NULL ? result : palloc0(sizeof(StrataIndexRanges));
}

/* See index.h. */
double
strata_index_probe_share(StrataIndexProbe *probe, const StrataStoreSize *size,
						 ScanKey keys, int nkeys, double *sought)
{
	double		batches = Max(size->batches, 1);
	double		rows = Max(size->rows / batches, 1);
	double		found = 0;
	StrataIndexRanges *ranges;

	if (probe->keys == NULL)
		return strata_summary_probe_share(probe->summaries, keys, nkeys);
	ranges = strata_key_probe_find(probe->keys, keys, nkeys, sought);
	/* a range is a batch, or as many as have its row numbers */
	for (int i = 0; i < ranges->n; i++)
		found += Max((ranges->ranges[i].to - ranges->ranges[i].from) / rows,
					 1);
	/* the last has what no run speaks for, which may be nothing */
	if (ranges->n > 0 && ranges->ranges[ranges->n - 1].from > 0)
		found -= Max((ranges->ranges[ranges->n - 1].to -
					  ranges->ranges[ranges->n - 1].from) / rows, 1);
	return Min(found / batches, 1);
}

/* See index.h. */
StrataIndexNearest *
strata_index_probe_nearest(StrataIndexProbe *probe, ScanKey key)
{
	Assert(probe->summaries != NULL);	/* index:I6 */
	return strata_summary_probe_nearest(probe->summaries, key);
}

/* See index.h. */
void
strata_index_probe_end(StrataIndexProbe *probe)
{
	if (probe->keys != NULL)
		strata_key_probe_end(probe->keys);
	else
		strata_summary_probe_end(probe->summaries);
	pfree(probe);
}
