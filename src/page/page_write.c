/*-------------------------------------------------------------------------
 *
 * page_write.c
 *	  The page with a table of symbols, put together from what page_choose.c
 *	  has found.
 *
 * src/page/page_write.c
 *-------------------------------------------------------------------------
 */
#include "page/page_private.h"

/* See page.h. */
Size
strata_page_work_size(void)
{
	return sizeof(StrataPageWork);
}

/* See page.h. */
char *
strata_page_work_result(StrataPageWork *work)
{
	return work->result;
}

/*
 * Write the table of symbols to the end of the result, or only say how many
 * bytes it takes (to NULL).
 */
static uint32
write_table(const StrataPageWork *work, char *to)
{
	StrataPageTable *table = (StrataPageTable *) to;
	uint32		off = STRATA_PAGE_TABLE_HEAD(work->nsymbols);

	if (work->nsymbols == 0)
		return 0;
	for (int s = 0; s < work->nsymbols; s++)
	{
		const PageValue *value = &work->value[work->symbol[s]];

		off = TYPEALIGN(value->alignment, off);
		if (to != NULL)
		{
			table->start[s] = off;
			memcpy(to + off, work->page + value->at, value->len);
		}
		off += value->len;
	}
	if (to != NULL)
	{
		table->magic = STRATA_PAGE_MAGIC;
		table->nsymbols = work->nsymbols;
		table->start[work->nsymbols] = off;
	}
	return MAXALIGN(off);
}

/*
 * Write a tuple with its symbols; the bytes it goes to are zero.  Returns its
 * length.
 */
static uint32
write_tuple(const StrataPageWork *work, const PageItem *item, int nsymbols,
			const HeapTupleHeaderData *tuple, char *to)
{
	HeapTupleHeader out = (HeapTupleHeader) to;
	bool		bitmap = nsymbols > 0 || item->nentries < item->natts;
	const PageEntry *entry = &work->entry[item->first];
	uint32		off = 0;
	char	   *data;
	uint8	   *symbols;
	bits8	   *is_symbol;

	memcpy(out, tuple, SizeofHeapTupleHeader);
	out->t_infomask2 &= ~STRATA_PAGE_FLAG;
	out->t_infomask &= ~HEAP_HASNULL;
	out->t_hoff = page_header_size(item->natts, bitmap);
	if (bitmap)
		out->t_infomask |= HEAP_HASNULL;
	if (nsymbols > 0)
		out->t_infomask2 |= STRATA_PAGE_FLAG;
	data = to + out->t_hoff;
	for (int i = 0; i < item->nentries; i++, entry++)
	{
		if (entry->value >= 0 && work->value[entry->value].symbol >= 0)
			continue;
		if (bitmap)
			out->t_bits[entry->colno >> 3] |= 1 << (entry->colno & 7);
		off = page_value_place(off, TupleDescAttr(work->desc, entry->colno),
							   work->page + entry->at);
		memcpy(data + off, work->page + entry->at, entry->len);
		off += entry->len;
	}
	if (nsymbols == 0)
		return out->t_hoff + off;
	symbols = (uint8 *) data + off;
	is_symbol = symbols + nsymbols;
	entry = &work->entry[item->first];
	for (int i = 0; i < item->nentries; i++, entry++)
	{
		int			symbol = entry->value < 0 ? -1 :
		work->value[entry->value].symbol;

		if (symbol < 0)
			continue;
		*symbols++ = symbol;
		is_symbol[entry->colno >> 3] |= 1 << (entry->colno & 7);
	}
	Assert(symbols == is_symbol);	/* page:PS1 */
	return out->t_hoff + off + nsymbols + BITMAPLEN(item->natts);
}

/* Write all tuples, from the table downwards; false: they do not fit. */
static bool
write_tuples(StrataPageWork *work)
{
	PageHeader	header = (PageHeader) work->result;
	int			nitems = PageGetMaxOffsetNumber((Page) work->page);
	uint32		upper = header->pd_special;

	for (int i = 0; i < nitems; i++)
	{
		const PageItem *item = &work->item[i];
		ItemId		from = PageGetItemId((Page) work->page, i + 1);
		ItemId		to = PageGetItemId((Page) work->result, i + 1);
		HeapTupleHeader tuple;
		int			nsymbols = item->nsymbols;
		uint32		len = item->size;

		if (!ItemIdIsNormal(from))
			continue;
		tuple = page_item_tuple(work->page, i + 1);
		if (nsymbols == 0 && !strata_page_is_flagged(tuple))
			len = ItemIdGetLength(from);
		if (upper < header->pd_lower + MAXALIGN(len))
			return false;
		upper -= MAXALIGN(len);
		if (nsymbols == 0 && !strata_page_is_flagged(tuple))
			memcpy(work->result + upper, tuple, len);
		else
		{
			uint32		written = write_tuple(work, item, nsymbols, tuple,
											  work->result + upper);

			Assert(written == len); /* page:PS2 */
			(void) written;
		}
		ItemIdSetNormal(to, upper, len);
	}
	header->pd_upper = upper;
	return true;
}

/*
 * The page, of `size` bytes, with values chosen anew; STRATA_PAGE_TOO_LARGE:
 * they do not fit into BLCKSZ bytes.
 */
static StrataPageOutcome
page_rewrite(const char *page, uint32 size, TupleDesc desc, const bool *plain,
			 StrataPageRule rule, int min_gain, StrataPageWork *work)
{
	const PageHeaderData *old = (const PageHeaderData *) page;
	PageHeader	header = (PageHeader) work->result;
	uint32		table_size;

	if (PageIsNew((Page) page))
		return STRATA_PAGE_NO_GAIN;
	work->page = page;
	work->size = size;
	work->desc = desc;
	work->plain = plain;
	work->rule = rule;
	if (strata_page_collect(work) != NULL)
		return STRATA_PAGE_DAMAGED;
	strata_page_choose(work);
	if (work->nsymbols == 0 && old->pd_special == size)
		return STRATA_PAGE_NO_GAIN;
	table_size = write_table(work, NULL);
	if (old->pd_lower + table_size > BLCKSZ)
		return STRATA_PAGE_TOO_LARGE;
	memset(work->result, 0, BLCKSZ);
	memcpy(work->result, page, old->pd_lower);
	header->pd_pagesize_version = BLCKSZ | PG_PAGE_LAYOUT_VERSION;
	header->pd_special = BLCKSZ - table_size;
	write_table(work, work->result + header->pd_special);
	if (!write_tuples(work))
		return STRATA_PAGE_TOO_LARGE;
	if ((int) (header->pd_upper - header->pd_lower) + (int) (size - BLCKSZ) -
		(int) (old->pd_upper - old->pd_lower) < min_gain)
		return STRATA_PAGE_NO_GAIN;
	Assert(header->pd_upper <= header->pd_special); /* page:PS3 */
	return STRATA_PAGE_CHANGED;
}

/* See page.h. */
StrataPageOutcome
strata_page_deduplicate(const char *page, TupleDesc desc, const bool *plain,
						StrataPageRule rule, int min_gain,
						StrataPageWork *work)
{
	StrataPageOutcome outcome = page_rewrite(page, BLCKSZ, desc, plain, rule,
											 min_gain, work);

	return outcome == STRATA_PAGE_TOO_LARGE ? STRATA_PAGE_NO_GAIN : outcome;
}

/* See page.h. */
StrataPageOutcome
strata_page_condense(const char *wide, TupleDesc desc, const bool *plain,
					 StrataPageRule rule, int min_gain, StrataPageWork *work)
{
	return page_rewrite(wide, STRATA_PAGE_WIDE, desc, plain, rule, min_gain,
						work);
}

/* See page.h. */
void
strata_page_wide_init(char *wide)
{
	PageHeader	header = (PageHeader) wide;

	memset(wide, 0, SizeOfPageHeaderData);
	header->pd_lower = SizeOfPageHeaderData;
	header->pd_upper = header->pd_special = STRATA_PAGE_WIDE;
	header->pd_pagesize_version = STRATA_PAGE_WIDE | PG_PAGE_LAYOUT_VERSION;
}

/* See page.h. */
bool
strata_page_wide_add(char *wide, const HeapTupleHeaderData *tuple, uint32 len)
{
	PageHeader	header = (PageHeader) wide;
	int			n = PageGetMaxOffsetNumber(wide);

	if (n >= MaxHeapTuplesPerPage ||
		header->pd_lower + sizeof(ItemIdData) + MAXALIGN(len) >
		header->pd_upper)
		return false;
	header->pd_lower += sizeof(ItemIdData);
	header->pd_upper -= MAXALIGN(len);
	memcpy(wide + header->pd_upper, tuple, len);
	memset(wide + header->pd_upper + len, 0, MAXALIGN(len) - len);
	ItemIdSetNormal(PageGetItemId(wide, n + 1), header->pd_upper, len);
	return true;
}

/* See page.h. */
void
strata_page_wide_cut(char *wide, int n)
{
	PageHeader	header = (PageHeader) wide;

	Assert(n <= PageGetMaxOffsetNumber(wide));	/* page:PS5 */
	header->pd_lower = SizeOfPageHeaderData + n * sizeof(ItemIdData);
	header->pd_upper = n == 0 ? header->pd_special :
		ItemIdGetOffset(PageGetItemId(wide, n));
}
