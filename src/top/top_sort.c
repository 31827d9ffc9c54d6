/*-------------------------------------------------------------------------
 *
 * top_sort.c
 *	  All rows in an order: records of bytes, sorted by integers.
 *
 * A record has a row's columns as they are, side by side, all records being of
 * one size.  What orders them is a word made of their keys: of each its rank
 * above the least one, in as many bits as the greatest takes.  Words are
 * sorted by their digits; only where they do not say all, records are
 * compared.  Texts and the like are kept once and have numbers, which are
 * ranked by their type's function.
 *
 * Records that have no room in memory go to a file, as runs that are in order,
 * and these are merged.
 *
 * src/top/top_sort.c
 *-------------------------------------------------------------------------
 */
#include "top/top_sort_private.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"

/* At most so many bits of a word are a digit. */
#define DIGIT_BITS 11
/* Fewer elements are not sorted by digits. */
#define FEW 64

/*-------------------------------------------------------------------------
 * Beginning and end
 *-------------------------------------------------------------------------
 */

/* Where columns stand in a record, the wide ones first; returns its end. */
static int
lay_out_fields(StrataSort *sort)
{
	int			at = 0;

	for (int width = 8; width > 0; width /= 2)
	{
		for (int i = 0; i < sort->nfields; i++)
		{
			if (sort->fields[i].width != width)
				continue;
			sort->fields[i].offset = at;
			at += width;
		}
	}
	return at;
}

/* See top_sort_private.h.  Memory: a child of the current context. */
StrataSort *
strata_sort_create(StrataTopState *top)
{
	TupleDesc	desc = top->css.ss.ss_ScanTupleSlot->tts_tupleDescriptor;
	MemoryContext mcxt = AllocSetContextCreate(CurrentMemoryContext,
											   "StrataSort",
											   ALLOCSET_DEFAULT_SIZES);
	StrataSort *sort = MemoryContextAllocZero(mcxt, sizeof(StrataSort));
	MemoryContext old = MemoryContextSwitchTo(mcxt);

	sort->mcxt = mcxt;
	sort->vector_mcxt = AllocSetContextCreate(mcxt, "StrataSort vector",
											  ALLOCSET_DEFAULT_SIZES);
	sort->nkeys = top->nkeys;
	sort->keys = top->keys;
	sort->nfields = desc->natts;
	sort->fields = palloc0(sizeof(SortField) * sort->nfields);
	sort->key_fields = palloc(sizeof(int) * sort->nkeys);
	for (int i = 0; i < sort->nfields; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		SortField  *field = &sort->fields[i];

		field->typlen = att->attlen;
		field->typbyval = att->attbyval;
		field->width = att->attbyval ? att->attlen : sizeof(Datum);
	}
	for (int k = sort->nkeys - 1; k >= 0; k--)
	{
		SortField  *field = &sort->fields[top->keys[k].plan.input - 1];

		sort->key_fields[k] = top->keys[k].plan.input - 1;
		field->key = &top->keys[k];
		field->numbered = field->key->kind == TOP_ANY;
		if (field->numbered)
			field->width = sizeof(uint32);
	}
	sort->nulls_at = lay_out_fields(sort);
	sort->record_size = TYPEALIGN(sizeof(uint64), sort->nulls_at +
								  (sort->nfields + 7) / 8);
	sort->budget = (int64) work_mem * 1024;
	sort->max_runs = (int) Min(Max(sort->budget / RUN_BYTES / 2, 6), 1000);
	sort->ranges = palloc0(sizeof(SortKeyRange) * sort->nkeys);
	for (int k = 0; k < sort->nkeys; k++)
		sort->ranges[k].min = PG_UINT64_MAX;
	MemoryContextSwitchTo(old);
	return sort;
}

/* See top_sort_private.h. */
void
strata_sort_free(StrataSort *sort)
{
	if (sort->file != NULL)
		BufFileClose(sort->file);
	MemoryContextDelete(sort->mcxt);
}

/*-------------------------------------------------------------------------
 * Ranks and words
 *-------------------------------------------------------------------------
 */

/* Ranks of signed integers, which are flipped where the order is. */
#define RANK_LOOP(type) \
	for (int i = 0; i < n; i++) \
		ranks[i] = ((uint64) (int64) *(const type *) (p + i * size) ^ flip) ^ \
			(UINT64CONST(1) << 63)

/*
 * Of n records their key, as an unsigned integer: of two the smaller comes
 * first.  Undefined where it is null.
 */
static void
rank_records(const StrataSort *sort, const char *records, int n, int k,
			 uint64 *ranks)
{
	const SortField *field = &sort->fields[sort->key_fields[k]];
	const TopKey *key = &sort->keys[k];
	const char *p = records + field->offset;
	Size		size = sort->record_size;
	uint64		flip = key->desc ? PG_UINT64_MAX : 0;

	if (field->numbered)
	{
		/* the comparator has the direction in it */
		for (int i = 0; i < n; i++)
		{
			uint32		number = *(const uint32 *) (p + i * size);

			ranks[i] = number < field->values.n ?
				field->values.ranks[number] : 0;
		}
		return;
	}
	if (key->kind == TOP_FLOAT)
	{
		for (int i = 0; i < n; i++)
		{
			TopValue	value;

			strata_top_value(key, strata_fixed_get(p + i * size, field->width,
												   0), false, &value);
			ranks[i] = (uint64) value.rank ^ (UINT64CONST(1) << 63);
		}
		return;
	}
	switch (field->width)
	{
		case sizeof(bool):
			RANK_LOOP(int8);
			break;
		case sizeof(int16):
			RANK_LOOP(int16);
			break;
		case sizeof(int32):
			RANK_LOOP(int32);
			break;
		default:
			Assert(field->width == sizeof(int64));	/* top:N9 */
			RANK_LOOP(int64);
			break;
	}
}

/* Widen what is known of a key by n records. */
void
strata_sort_measure_key(const StrataSort *sort, const char *records,
						int64 n, int k,
						SortKeyRange *range)
{
	int			field = sort->key_fields[k];
	uint64		ranks[RANK_ROWS];

	for (int64 from = 0; from < n; from += RANK_ROWS)
	{
		const char *some = records + from * sort->record_size;
		int			nsome = (int) Min(n - from, RANK_ROWS);

		rank_records(sort, some, nsome, k, ranks);
		for (int i = 0; i < nsome; i++)
		{
			if (strata_sort_is_null(sort, some + (Size) i * sort->record_size,
									field))
			{
				range->has_nulls = true;
				continue;
			}
			range->min = Min(range->min, ranks[i]);
			range->max = Max(range->max, ranks[i]);
		}
	}
}

/*
 * Divide a word among the keys; returns how many bits of it are used.
 * *truncated: it does not say all.
 */
int
strata_sort_divide_word(const StrataSort *sort, SortKeyRange *ranges,
						bool *truncated)
{
	int			left = 64;

	*truncated = false;
	for (int k = 0; k < sort->nkeys; k++)
	{
		SortKeyRange *range = &ranges[k];
		uint64		greatest = range->min > range->max ? 0 :
		range->max - range->min;
		int			bits;

		/* there must be room for nulls */
		range->shift = range->has_nulls && greatest == PG_UINT64_MAX;
		greatest >>= range->shift;
		range->offset = range->has_nulls && sort->keys[k].plan.nulls_first;
		range->null = range->offset > 0 ? 0 : greatest + 1;
		greatest += range->has_nulls;
		bits = greatest == 0 ? 0 : pg_leftmost_one_pos64(greatest) + 1;
		range->cut = Max(bits - left, 0);
		range->bits = bits - range->cut;
		*truncated |= range->shift + range->cut > 0;
		left = range->cut > 0 ? 0 : left - range->bits;
	}
	return 64 - left;
}

/* Make words of n records.  Memory is the caller's. */
void
strata_sort_make_words(const StrataSort *sort, const char *records, int n,
					   const SortKeyRange *ranges, uint64 *words)
{
	uint64		ranks[RANK_ROWS];

	Assert(n <= RANK_ROWS);		/* top:N8 */
	memset(words, 0, sizeof(uint64) * n);
	for (int k = 0; k < sort->nkeys; k++)
	{
		const SortKeyRange *range = &ranges[k];
		int			field = sort->key_fields[k];

		if (range->bits == 0)
			continue;
		rank_records(sort, records, n, k, ranks);
		for (int i = 0; i < n; i++)
			ranks[i] = ((ranks[i] - range->min) >> range->shift) +
				range->offset;
		for (int i = 0; i < n && range->has_nulls; i++)
			if (strata_sort_is_null(sort, records + i * sort->record_size,
									field))
				ranks[i] = range->null;
		if (range->bits == 64)
			for (int i = 0; i < n; i++)
				words[i] = ranks[i] >> range->cut;
		else
			for (int i = 0; i < n; i++)
				words[i] = words[i] << range->bits | ranks[i] >> range->cut;
	}
}

/* By all that their keys say; for records whose words are equal. */
int
strata_sort_compare_records(const StrataSort *sort, const char *a,
							const char *b)
{
	for (int k = 0; k < sort->nkeys; k++)
	{
		int			field = sort->key_fields[k];
		bool		a_null = strata_sort_is_null(sort, a, field);
		bool		b_null = strata_sort_is_null(sort, b, field);
		uint64		a_rank;
		uint64		b_rank;

		if (a_null && b_null)
			continue;
		if (a_null || b_null)
			return a_null == sort->keys[k].plan.nulls_first ? -1 : 1;
		rank_records(sort, a, 1, k, &a_rank);
		rank_records(sort, b, 1, k, &b_rank);
		if (a_rank != b_rank)
			return a_rank < b_rank ? -1 : 1;
	}
	return 0;
}

/*-------------------------------------------------------------------------
 * Sorting what is in memory
 *-------------------------------------------------------------------------
 */

/* qsort; groups of equal words may be all there is. */
static int
compare_elements(const void *left, const void *right, void *arg)
{
	const SortElement *a = left;
	const SortElement *b = right;

	CHECK_FOR_INTERRUPTS();
	if (a->word != b->word)
		return a->word < b->word ? -1 : 1;
	return strata_sort_compare_records(arg, strata_sort_record(arg, a),
									   strata_sort_record(arg, b));
}

/*
 * Sort n elements by words of so many bits, least digits first; returns where
 * they are, which is one of the two arrays.
 */
static SortElement *
sort_by_digits(SortElement *from, SortElement *to, int64 n, int bits)
{
	int			npasses = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
	int			width = npasses == 0 ? 0 : (bits + npasses - 1) / npasses;
	int			nvalues = 1 << width;
	uint32	   *counts = palloc(sizeof(uint32) * nvalues);

	for (int pass = 0; pass < npasses; pass++)
	{
		int			shift = pass * width;
		uint64		mask = nvalues - 1;
		uint32		sum = 0;
		SortElement *swap;

		CHECK_FOR_INTERRUPTS();
		memset(counts, 0, sizeof(uint32) * nvalues);
		for (int64 i = 0; i < n; i++)
			counts[(from[i].word >> shift) & mask]++;
		if (counts[(from[0].word >> shift) & mask] == n)
			continue;
		for (int i = 0; i < nvalues; i++)
		{
			uint32		count = counts[i];

			counts[i] = sum;
			sum += count;
		}
		for (int64 i = 0; i < n; i++)
			to[counts[(from[i].word >> shift) & mask]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	pfree(counts);
	return from;
}

/* Words do not say all: sort those that are equal by records. */
static void
sort_equal_words(StrataSort *sort, SortElement *elements, int64 n)
{
	int64		from = 0;

	for (int64 i = 1; i <= n; i++)
	{
		if (i < n && elements[i].word == elements[from].word)
			continue;
		CHECK_FOR_INTERRUPTS();
		if (i - from > 1)
			qsort_arg(&elements[from], i - from, sizeof(SortElement),
					  compare_elements, sort);
		from = i;
	}
}

/* Records' elements in order.  Memory: the sort's, to be freed. */
SortElement *
strata_sort_in_memory(StrataSort *sort)
{
	int64		n = sort->n;
	SortKeyRange *ranges = palloc0(sizeof(SortKeyRange) * sort->nkeys);
	SortElement *elements;
	SortElement *other;
	SortElement *result;
	bool		truncated;
	bool		sorted = true;
	uint64		last = 0;
	int			bits;

	strata_sort_rank_values(sort);
	for (int k = 0; k < sort->nkeys; k++)
	{
		ranges[k].min = PG_UINT64_MAX;
		strata_sort_measure_key(sort, sort->records, n, k, &ranges[k]);
	}
	bits = strata_sort_divide_word(sort, ranges, &truncated);
	elements = MemoryContextAllocHuge(sort->mcxt, sizeof(SortElement) *
									  Max(n, 1));
	for (int64 from = 0; from < n; from += RANK_ROWS)
	{
		uint64		words[RANK_ROWS];
		int			nsome = (int) Min(n - from, RANK_ROWS);

		strata_sort_make_words(sort,
							   sort->records + from * sort->record_size,
							   nsome, ranges, words);
		for (int i = 0; i < nsome; i++)
		{
			elements[from + i].word = words[i];
			elements[from + i].row = (uint32) (from + i);
			sorted &= words[i] >= last;
			last = words[i];
		}
	}
	pfree(ranges);
	result = elements;
	if (!sorted && n < FEW)
		qsort_arg(elements, n, sizeof(SortElement), compare_elements, sort);
	else if (!sorted)
	{
		other = MemoryContextAllocHuge(sort->mcxt, sizeof(SortElement) * n);
		result = sort_by_digits(elements, other, n, bits);
		pfree(result == elements ? other : elements);
	}
	if (truncated)
		sort_equal_words(sort, result, n);
	return result;
}

/*-------------------------------------------------------------------------
 * In and out
 *-------------------------------------------------------------------------
 */

/* See top_sort_private.h. */
int64
strata_sort_reserve(StrataSort *sort, int64 n)
{
	/* beside a record stand two elements of it while they are sorted */
	int64		limit = (sort->budget - sort->value_bytes) /
	(int64) (sort->record_size + 2 * sizeof(SortElement));

	limit = Min(Max(limit, 256), PG_INT32_MAX);
	if (sort->n >= limit)
		strata_sort_write_run(sort);
	if (sort->n == sort->size)
	{
		sort->size = Min(Max(sort->size * 2, 1024), limit);
		sort->size = Max(sort->size, sort->n + 1);
		if (sort->records == NULL)
			sort->records = MemoryContextAllocHuge(sort->mcxt, sort->size *
												   sort->record_size);
		else
			sort->records = repalloc_huge(sort->records, sort->size *
										  sort->record_size);
	}
	return Min(n, Min(sort->size, limit) - sort->n);
}

/* See top_sort_private.h. */
bool
strata_sort_is_too_large(const StrataSort *sort)
{
	return sort->value_bytes > sort->budget / 2 ||
		sort->nruns >= sort->max_runs;
}

/* See top_sort_private.h. */
void
strata_sort_finish(StrataSort *sort)
{
	if (sort->nruns == 0)
	{
		sort->elements = strata_sort_in_memory(sort);
		return;
	}
	if (sort->n > 0)
		strata_sort_write_run(sort);
	pfree(sort->records);
	sort->records = NULL;
	strata_sort_open_runs(sort);
}

/* See top_sort_private.h. */
const char *
strata_sort_next(StrataSort *sort)
{
	if (sort->nruns > 0)
		return strata_sort_next_of_runs(sort);
	Assert(sort->elements != NULL || sort->n == 0); /* top:N8 */
	return sort->next < sort->n ?
		strata_sort_record(sort, &sort->elements[sort->next++]) : NULL;
}

/* See top_sort_private.h. */
const char *
strata_sort_read_back(StrataSort *sort)
{
	if (sort->next < sort->n)
		return sort->records + sort->next++ * sort->record_size;
	while (sort->nheap < sort->nruns)
	{
		SortRun    *run = &sort->runs[sort->nheap];

		if (run->at < run->n || strata_sort_read_run(sort, run))
			return run->records + (Size) run->at++ * sort->record_size;
		sort->nheap++;
	}
	return NULL;
}

/* See top_sort_private.h.  Values by reference live as long as the sort. */
void
strata_sort_load(const StrataSort *sort, const char *record, Datum *values,
				 bool *isnull)
{
	for (int i = 0; i < sort->nfields; i++)
	{
		const SortField *field = &sort->fields[i];
		const char *p = record + field->offset;

		isnull[i] = strata_sort_is_null(sort, record, i);
		if (isnull[i])
			values[i] = (Datum) 0;
		else if (field->numbered)
			values[i] = field->values.values[*(const uint32 *) p];
		else
			values[i] = strata_fixed_get(p, field->width, 0);
	}
}
