/*-------------------------------------------------------------------------
 *
 * page_choose.c
 *	  Which values of a page become symbols.
 *
 * All values of all tuples are collected, by their bytes: one value may occur
 * in several columns.  Those that the rule takes are symbols, unless they
 * help no tuple: tuples are MAXALIGNed, and one that would not be smaller
 * stays plain.  What is left over is asked again, with the numbers of tuples
 * that are left.
 *
 * src/page/page_choose.c
 *-------------------------------------------------------------------------
 */
#include "page/page_private.h"
#include "base/words.h"

/* See page.h. */
bool
strata_page_rule_says(StrataPageRule rule, int m, int n)
{
	switch (rule)
	{
		case STRATA_PAGE_SEED:
			/* two bytes in each row, four for the item in the table */
			return (m - 1) * (n - 2) > 6;
		case STRATA_PAGE_EXACT:
			/* one byte in each row, two for where it starts */
			return m * (n - 1) > n + 2;
		case STRATA_PAGE_ANY:
			return m >= 2;
		case STRATA_PAGE_ALL:
			return true;
	}
	return false;
}

/* Are tuples to have symbols even if they are not smaller then? */
static bool
for_developers(StrataPageRule rule)
{
	return rule == STRATA_PAGE_ANY || rule == STRATA_PAGE_ALL;
}

static int
page_hash_value(const char *bytes, int len)
{
	uint64		hash = len;
	uint64		low;
	uint64		high;

	for (; len > 16; len -= 8, bytes += 8)
	{
		memcpy(&low, bytes, sizeof(low));
		hash = (hash ^ low) * UINT64CONST(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	strata_load_words(bytes, len, &low, &high);
	hash = (hash ^ low) * UINT64CONST(0x9e3779b97f4a7c15);
	return strata_hash_word(hash ^ (hash >> 29) ^ high) % PAGE_BUCKETS;
}

static bool
is_this_value(const StrataPageWork *work, int v, const StrataPageValue *column)
{
	const PageValue *value = &work->value[v];

	return value->len == column->len &&
		memcmp(work->page + value->at, column->bytes, column->len) == 0;
}

/* The number of the value with these bytes, which is made if it is new. */
static int
page_find_value(StrataPageWork *work, const StrataPageValue *column)
{
	int			bucket = page_hash_value(column->bytes, column->len);
	PageValue  *value;
	int			v;

	for (v = work->bucket[bucket]; v >= 0; v = work->value[v].next)
		if (is_this_value(work, v, column))
			return v;
	v = work->nvalues++;
	value = &work->value[v];
	value->at = column->bytes - work->page;
	value->len = column->len;
	value->count = 0;
	value->alignment = 1;
	value->symbol = -1;
	value->next = work->bucket[bucket];
	work->bucket[bucket] = v;
	return v;
}

/* The same, of a column, which may be a symbol of the page as it is. */
static int
page_find_column(StrataPageWork *work, int colno,
				 const StrataPageValue *column)
{
	int16	   *known;

	if (column->symbol < 0)
	{
		int16	   *last = &work->last[colno];

		if (*last < 0 || !is_this_value(work, *last, column))
			*last = page_find_value(work, column);
		return *last;
	}
	known = &work->known[column->symbol];
	/* as long as in another column, unless it is damaged */
	if (*known < 0 || work->value[*known].len != column->len)
		*known = page_find_value(work, column);
	return *known;
}

/*
 * May a column be a symbol?  heapam's TOAST code looks for pointers in the
 * tuple.
 */
static bool
may_be_symbol(const StrataPageWork *work, int colno,
			  const StrataPageValue *column)
{
	Form_pg_attribute att = TupleDescAttr(work->desc, colno);

	if (column->len < 2 || (work->plain != NULL && work->plain[colno]))
		return false;
	return att->attlen != -1 || !VARATT_IS_EXTERNAL(column->bytes);
}

/*
 * Would the tuple be what it is if it were put together again?  One that would
 * not, having bytes that nobody reads, stays as it is.
 */
static bool
is_usual(const StrataPageWork *work, const HeapTupleHeaderData *tuple,
		 uint32 len)
{
	int			natts = HeapTupleHeaderGetNatts(tuple);
	bool		hasnull = false;

	if (strata_page_is_flagged(tuple))
		return true;
	for (int i = 0; i < natts && !hasnull; i++)
		hasnull = work->columns[i].bytes == NULL;
	return hasnull == ((tuple->t_infomask & HEAP_HASNULL) != 0) &&
		tuple->t_hoff == page_header_size(natts, hasnull) &&
		strata_page_plain_size(tuple, work->desc, work->columns) == len;
}

/* Add a tuple's values. */
static const char *
collect_item(StrataPageWork *work, PageItem *item,
			 const HeapTupleHeaderData *tuple, uint32 len)
{
	const char *problem = strata_page_values(work->page, tuple, len,
											 work->desc, work->columns);
	bool		usual;

	if (problem != NULL)
		return problem;
	usual = is_usual(work, tuple, len);
	item->first = work->nentries;
	item->natts = HeapTupleHeaderGetNatts(tuple);
	if (usual && !strata_page_is_flagged(tuple))
		item->plain = len;
	for (int i = 0; i < item->natts; i++)
	{
		const StrataPageValue *column = &work->columns[i];
		PageEntry  *entry;
		PageValue  *value;

		if (column->bytes == NULL)
			continue;
		/* each took a byte of the tuple, and tuples do not overlap */
		Assert(work->nentries < PAGE_MAX_ENTRIES);	/* page:PS4 */
		entry = &work->entry[work->nentries++];
		entry->at = column->bytes - work->page;
		entry->len = column->len;
		entry->colno = i;
		entry->value = -1;
		if (!usual || !may_be_symbol(work, i, column))
			continue;
		entry->value = page_find_column(work, i, column);
		value = &work->value[entry->value];
		value->count++;
		value->alignment =
			Max(value->alignment,
				page_value_alignment(TupleDescAttr(work->desc, i),
									 column->bytes));
	}
	item->nentries = work->nentries - item->first;
	return NULL;
}

/* See page_private.h. */
const char *
strata_page_collect(StrataPageWork *work)
{
	const PageHeaderData *header = (const PageHeaderData *) work->page;
	const StrataPageTable *table;
	const char *problem;
	int			nitems;
	uint32		used = 0;

	/* a wide page has none */
	if (work->size == BLCKSZ &&
		(problem = strata_page_table(work->page, &table)) != NULL)
		return problem;
	if (header->pd_lower < SizeOfPageHeaderData ||
		header->pd_lower > header->pd_upper ||
		header->pd_upper > header->pd_special ||
		header->pd_special > work->size ||
		PageGetPageSize((Page) work->page) != work->size)
		return "page header is wrong";
	work->nentries = work->nvalues = work->nsymbols = 0;
	memset(work->bucket, -1, sizeof(work->bucket));
	memset(work->known, -1, sizeof(work->known));
	memset(work->last, -1, sizeof(int16) * work->desc->natts);
	nitems = PageGetMaxOffsetNumber((Page) work->page);
	for (int i = 0; i < nitems; i++)
	{
		ItemId		id = PageGetItemId((Page) work->page, i + 1);
		uint32		len = ItemIdGetLength(id);

		memset(&work->item[i], 0, sizeof(PageItem));
		if (!ItemIdIsNormal(id))
		{
			if (ItemIdHasStorage(id))
				return "line pointer is wrong";
			continue;
		}
		used += MAXALIGN(len);
		if (ItemIdGetOffset(id) < header->pd_upper ||
			ItemIdGetOffset(id) != MAXALIGN(ItemIdGetOffset(id)) ||
			ItemIdGetOffset(id) + len > header->pd_special ||
			len < SizeofHeapTupleHeader || used > work->size)
			return "line pointer is wrong";
		problem = collect_item(work, &work->item[i],
							   page_item_tuple(work->page, i + 1), len);
		if (problem != NULL)
			return problem;
	}
	return NULL;
}

/*
 * Bytes of a tuple, without symbols or with those there are; nsymbols: how
 * many of them it has.
 */
static uint32
item_size(const StrataPageWork *work, const PageItem *item,
		  bool with_symbols, int *nsymbols)
{
	const PageEntry *entry = &work->entry[item->first];
	uint32		off = 0;
	int			n = 0;

	for (int i = 0; i < item->nentries; i++, entry++)
	{
		if (with_symbols && entry->value >= 0 &&
			work->value[entry->value].symbol >= 0)
			n++;
		else
		{
			Form_pg_attribute att = TupleDescAttr(work->desc, entry->colno);

			off = page_value_place(off, att, work->page + entry->at) +
				entry->len;
		}
	}
	if (n > 0)
		off += n + BITMAPLEN(item->natts);
	*nsymbols = n;
	return page_header_size(item->natts, n > 0 ||
							item->nentries < item->natts) + off;
}

/* The greater gain first, and what was found first. */
static int
compare_gain(const PageValue *values, uint16 a, uint16 b)
{
	if (values[a].gain != values[b].gain)
		return values[a].gain > values[b].gain ? -1 : 1;
	return a < b ? -1 : a > b ? 1 : 0;
}

/* Sift the root of a heap whose root is the value that comes last. */
static void
sift_last(const PageValue *values, uint16 *heap, int n, int at)
{
	for (;;)
	{
		int			child = 2 * at + 1;
		uint16		moved;

		if (child >= n)
			return;
		if (child + 1 < n &&
			compare_gain(values, heap[child + 1], heap[child]) > 0)
			child++;
		if (compare_gain(values, heap[child], heap[at]) <= 0)
			return;
		moved = heap[at];
		heap[at] = heap[child];
		heap[child] = moved;
		at = child;
	}
}

/* Of n values in `from` that the rule takes, keep as many as there is room for. */
static int
keep_best(const PageValue *values, uint16 *from, int n)
{
	const int	room = STRATA_PAGE_MAX_SYMBOLS;

	if (n <= room)
		return n;
	for (int at = room / 2 - 1; at >= 0; at--)
		sift_last(values, from, room, at);
	for (int i = room; i < n; i++)
		if (compare_gain(values, from[i], from[0]) < 0)
		{
			from[0] = from[i];
			sift_last(values, from, room, 0);
		}
	return room;
}

/* The values that the rule takes, by their counts. */
static void
choose_by_rule(StrataPageWork *work)
{
	int			n = 0;

	for (int v = 0; v < work->nvalues; v++)
	{
		PageValue  *value = &work->value[v];

		value->symbol = -1;
		if (!strata_page_rule_says(work->rule, value->count, value->len))
			continue;
		value->gain = value->count * (value->len - 1) - (value->len + 2);
		work->symbol[n++] = v;
	}
	work->nsymbols = keep_best(work->value, work->symbol, n);
	for (int s = 0; s < work->nsymbols; s++)
		work->value[work->symbol[s]].symbol = s;
}

/*
 * Have tuples that symbols make no smaller stay without, and count anew who
 * uses what.  Returns whether there was one.
 */
static bool
drop_useless(StrataPageWork *work)
{
	int			nitems = PageGetMaxOffsetNumber((Page) work->page);
	bool		dropped = false;

	for (int v = 0; v < work->nvalues; v++)
		work->value[v].count = 0;
	for (int i = 0; i < nitems; i++)
	{
		PageItem   *item = &work->item[i];
		PageEntry  *entry = &work->entry[item->first];
		int			nsymbols;
		int			none;
		uint32		plain;
		bool		useless = false;

		item->size = item_size(work, item, true, &nsymbols);
		item->nsymbols = nsymbols;
		if (nsymbols > 0 && !for_developers(work->rule))
		{
			plain = item->plain > 0 ? item->plain :
				item_size(work, item, false, &none);
			useless = MAXALIGN(item->size) >= MAXALIGN(plain);
		}
		dropped |= useless;
		for (int e = 0; e < item->nentries; e++, entry++)
		{
			if (useless)
				entry->value = -1;
			else if (entry->value >= 0)
				work->value[entry->value].count++;
		}
	}
	return dropped;
}

/* Number the symbols that are used, those that are to be aligned first. */
static void
number_symbols(StrataPageWork *work)
{
	int			n = 0;

	for (int v = 0; v < work->nvalues; v++)
		if (work->value[v].count == 0)
			work->value[v].symbol = -1;
	for (int alignment = MAXIMUM_ALIGNOF; alignment > 0; alignment /= 2)
		for (int v = 0; v < work->nvalues; v++)
			if (work->value[v].symbol >= 0 &&
				work->value[v].alignment == alignment)
				work->symbol[n++] = v;
	Assert(n <= STRATA_PAGE_MAX_SYMBOLS);	/* page:PS4 */
	work->nsymbols = n;
	for (int s = 0; s < n; s++)
		work->value[work->symbol[s]].symbol = s;
}

/*
 * See page_private.h.  Each round but the last takes symbols from a tuple, so
 * there is a last one; the page it leads to leads to itself.
 */
void
strata_page_choose(StrataPageWork *work)
{
	do
		choose_by_rule(work);
	while (drop_useless(work));
	number_symbols(work);
}
