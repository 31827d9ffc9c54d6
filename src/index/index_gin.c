/*-------------------------------------------------------------------------
 *
 * index_gin.c
 *	  Questions to an index of the table whose keys are kept: which batches may
 *	  have rows of it?
 *
 * A condition of GIN becomes keys (extractQuery), each is looked up, and of
 * batches that have the same of them the operator class is asked
 * (triConsistent): could a row fulfil it that may have any of these, and none
 * of the others?  A b-tree or hash index is asked for values that are equal.
 * What is found is filtered as ever.
 *
 * src/index/index_gin.c
 *-------------------------------------------------------------------------
 */
#include "index/index_class_private.h"
#include "pg/pg.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Most keys of a condition that are looked up. */
#define SOUGHT_MAX 1024

/* Behind all batches. */
#define NUMBERS_END (STRATA_BATCH_MAX_ROW_NUMBER + 1)

struct StrataKeyProbe
{
	MemoryContext mcxt;			/* everything here */
	MemoryContext work;			/* of a question */
	StrataBatchKeys *keys;		/* NULL: the index does not lead to batches */
	StrataIndexLookup *lookup;
	Relation	index;			/* the caller's */
	bool		partial;
	StrataIndexRanges *any;		/* batches that may have any key; NULL: not
								 * looked up yet */
	FmgrInfo	value;			/* hashes a value ... */
	Oid			value_type;		/* ... of this type; InvalidOid: not known yet */
	double		sought;			/* hashes, so far */
};

/* See index_class_private.h. */
StrataKeyProbe *
strata_key_probe_begin(Relation batches, Snapshot snapshot, Relation index)
{
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "strata batch index keys",
											   ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(mcxt);
	StrataKeyProbe *probe = palloc0(sizeof(StrataKeyProbe));
	StrataIndexTarget target;

	probe->mcxt = mcxt;
	probe->work = AllocSetContextCreate(mcxt, "strata batch index question",
										ALLOCSET_DEFAULT_SIZES);
	if (strata_index_class_target(RelationGetRelid(index), &target))
	{
		probe->index = index;
		probe->partial = !heap_attisnull(index->rd_indextuple,
										 Anum_pg_index_indpred, NULL);
		probe->keys = strata_index_keys_open(index);
		probe->lookup = strata_index_lookup_open(batches, snapshot, &target);
	}
	MemoryContextSwitchTo(old);
	return probe;
}

/* See index_class_private.h. */
void
strata_key_probe_end(StrataKeyProbe *probe)
{
	if (probe->lookup != NULL)
		strata_index_lookup_end(probe->lookup);
	MemoryContextDelete(probe->mcxt);
}

static StrataIndexRanges *
empty_ranges(int size)
{
	StrataIndexRanges *ranges = palloc0(sizeof(StrataIndexRanges));

	ranges->ranges = palloc0_array(StrataIndexRange, Max(size, 1));
	return ranges;
}

static StrataIndexRanges *
all_batches(void)
{
	StrataIndexRanges *ranges = empty_ranges(1);

	ranges->n = 1;
	ranges->ranges[0].to = NUMBERS_END;
	return ranges;
}

static StrataIndexRanges *
look_up_key(StrataKeyProbe *probe, uint32 hash)
{
	probe->sought++;
	return strata_index_lookup_find(probe->lookup, &hash, 1);
}

/* Where one of the ranges is at a row number, and where that ends. */
static bool
is_in(const StrataIndexRanges *ranges, int *at, int64 number, int64 *end)
{
	bool		in;

	while (*at < ranges->n && ranges->ranges[*at].to <= number)
		(*at)++;
	if (*at == ranges->n)
		return false;
	in = ranges->ranges[*at].from <= number;
	*end = Min(*end, in ? ranges->ranges[*at].to : ranges->ranges[*at].from);
	return in;
}

/*
 * Where rows may fulfil the condition, by where its keys are; behind them,
 * where it asks for them, the values without keys.
 */
static StrataIndexRanges *
weigh_keys(StrataGinQuestion *question, StrataIndexRanges **places)
{
	int			n = question->n + (question->with_empty ? 1 : 0);
	int		   *at = palloc0_array(int, Max(n, 1));
	int			size = 1;
	StrataIndexRanges *result;
	int64		next;

	for (int i = 0; i < n; i++)
		size += 2 * places[i]->n;
	result = empty_ranges(size);
	for (int64 number = 0; number < NUMBERS_END; number = next)
	{
		bool		some = false;

		CHECK_FOR_INTERRUPTS();
		next = NUMBERS_END;
		for (int i = 0; i < n; i++)
		{
			bool		in = is_in(places[i], &at[i], number, &next);

			if (i < question->n)
				question->present[i] = in;
			some = some || in;
		}
		if (!some || !strata_gin_may_hold(question))
			continue;
		if (result->n > 0 && result->ranges[result->n - 1].to == number)
			result->ranges[result->n - 1].to = next;
		else
		{
			Assert(result->n < size);	/* index:I7 */
			result->ranges[result->n].from = number;
			result->ranges[result->n++].to = next;
		}
	}
	return result;
}

/* Batches of which it is not known which keys they have, and others. */
static StrataIndexRanges *
with_any(StrataKeyProbe *probe, const StrataIndexRanges *ranges)
{
	if (probe->any == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(probe->mcxt);

		probe->any = look_up_key(probe, STRATA_INDEX_KEY_ANY);
		MemoryContextSwitchTo(old);
	}
	return strata_ranges_union(ranges, probe->any);
}

/* Find the function that hashes what the index's values are compared with. */
static bool
know_value(StrataKeyProbe *probe, ScanKey sought)
{
	Relation	index = probe->index;
	Oid			opno;
	Oid			column;
	Oid			value;

	if (probe->value_type == sought->sk_subtype)
		return true;
	opno = get_opfamily_member(index->rd_opfamily[0], index->rd_opcintype[0],
							   sought->sk_subtype,
							   (int16) sought->sk_strategy);
	if (!OidIsValid(opno) || !strata_index_can_ask(index, 1, opno) ||
		!strata_index_can_look_up(opno, index->rd_indcollation[0], &column,
								  &value))
		return false;
	fmgr_info_cxt(value, &probe->value, probe->mcxt);
	probe->value_type = sought->sk_subtype;
	return true;
}

/* Where a b-tree or hash index has one of the values; NULL: anywhere. */
static StrataIndexRanges *
value_ranges(StrataKeyProbe *probe, ScanKey keys, int n)
{
	uint32	   *hashes = palloc_array(uint32, Max(n, 1));

	for (int i = 0; i < n; i++)
	{
		if (!know_value(probe, &keys[i]))
			return NULL;
		hashes[i] =
			DatumGetUInt32(FunctionCall1Coll(&probe->value,
											 probe->index->rd_indcollation[0],
											 keys[i].sk_argument));
	}
	probe->sought += n;
	return with_any(probe, strata_index_lookup_find(probe->lookup, hashes, n));
}

/* Where rows may fulfil one condition. */
static StrataIndexRanges *
question_ranges(StrataKeyProbe *probe, ScanKey sought)
{
	StrataGin  *gin = strata_index_keys_gin(probe->keys);
	int			column = sought->sk_attno - 1;
	StrataGinQuestion *question;
	StrataIndexRanges **places;

	if (gin == NULL)
	{
		StrataIndexRanges *ranges = value_ranges(probe, sought, 1);

		return ranges != NULL ? ranges : all_batches();
	}
	question = strata_gin_ask(gin, sought);
	if (question->all || question->n > SOUGHT_MAX)
		return all_batches();
	/* batches that nothing is known of are among these */
	if (question->none)
		return strata_index_lookup_find(probe->lookup, NULL, 0);
	places = palloc_array(StrataIndexRanges *, question->n + 1);
	for (int i = 0; i < question->n; i++)
		places[i] = question->partial[i] ? all_batches() :
			look_up_key(probe, strata_index_key_hash(probe->keys, column,
													 question->keys[i],
													 question->isnull[i]));
	if (question->with_empty)
		places[question->n] =
			look_up_key(probe, strata_index_key_hash_empty(column));
	return with_any(probe, weigh_keys(question, places));
}

/* Give ranges to the caller, and forget the rest. */
static StrataIndexRanges *
hand_out(StrataKeyProbe *probe, const StrataIndexRanges *found)
{
	StrataIndexRanges *result = empty_ranges(found->n);

	result->n = found->n;
	memcpy(result->ranges, found->ranges,
		   sizeof(StrataIndexRange) * found->n);
	MemoryContextReset(probe->work);
	Assert(result->n > 0 &&
		   result->ranges[result->n - 1].to == NUMBERS_END);	/* index:I2 */
	return result;
}

/* See index_class_private.h. */
StrataIndexRanges *
strata_key_probe_find(StrataKeyProbe *probe, ScanKey keys, int nkeys,
					  double *sought)
{
	MemoryContext old = MemoryContextSwitchTo(probe->work);
	StrataIndexRanges *found = all_batches();

	probe->sought = 0;
	if (probe->keys != NULL && nkeys == 0 && probe->partial)
		found = with_any(probe, look_up_key(probe, STRATA_INDEX_KEY_SOME));
	for (int i = 0; i < nkeys && probe->keys != NULL; i++)
		found = strata_ranges_common(found,
									 question_ranges(probe, &keys[i]));
	MemoryContextSwitchTo(old);
	if (sought != NULL)
		*sought += probe->sought;
	return hand_out(probe, found);
}

/* See index_class_private.h. */
bool
strata_key_probe_lists(StrataKeyProbe *probe)
{
	return probe->keys != NULL && strata_index_keys_gin(probe->keys) == NULL;
}

/* See index_class_private.h. */
StrataIndexRanges *
strata_key_probe_find_any(StrataKeyProbe *probe, ScanKey keys, int n)
{
	MemoryContext old = MemoryContextSwitchTo(probe->work);
	StrataIndexRanges *found = value_ranges(probe, keys, n);

	MemoryContextSwitchTo(old);
	return hand_out(probe, found != NULL ? found : all_batches());
}
