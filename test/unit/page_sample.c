/*-------------------------------------------------------------------------
 *
 * page_sample.c
 *	  Heap pages made without a server; see page_sample.h.
 *
 * test/unit/page_sample.c
 *-------------------------------------------------------------------------
 */
#include "page_sample.h"

#include <limits.h>

#include "page/page_private.h"

const char *const page_sample_shapes[PAGE_SAMPLE_SHAPES] = {
	"4t8tb", "tuidcn8", "tttttttttttt", "d4tit48dtb"
};

/* What Assert() of the server's headers calls, with what arguments ever. */
extern void page_sample_assert(const char *condition) __asm__("ExceptionalCondition");

void
page_sample_assert(const char *condition)
{
	fprintf(stderr, "not so: %s\n", condition);
	abort();
}

/* See page_sample.h. */
TupleDesc
page_sample_desc(const char *columns)
{
	static const struct
	{
		char		letter;
		int16		len;
		bool		byval;
		char		align;
	}			types[] = {
		{'4', 4, true, 'i'}, {'8', 8, true, 'd'}, {'b', 1, true, 'c'}, {'t', -1, false, 'i'}, {'d', -1, false, 'd'},
		{'n', 64, false, 'c'}, {'u', 16, false, 'c'}, {'i', 16, false, 'd'}, {'c', -2, false, 'c'}
	};
	int			natts = (int) strlen(columns);

	/* versions keep one or two structs for a column */
	TupleDesc	desc = calloc(1, sizeof(*desc) + (size_t) natts * 2 * sizeof(FormData_pg_attribute));

	desc->natts = natts;
	for (int i = 0; i < natts; i++)
		for (size_t t = 0; t < lengthof(types); t++)
			if (types[t].letter == columns[i])
			{
				Form_pg_attribute att = TupleDescAttr(desc, i);

				att->attlen = types[t].len;
				att->attbyval = types[t].byval;
				att->attalign = types[t].align;
			}
	return desc;
}

/* See page_sample.h. */
void
page_sample_init(PageSample *page)
{
	PageHeader	header = (PageHeader) page->bytes;

	memset(page, 0, sizeof(*page));
	header->pd_lower = SizeOfPageHeaderData;
	header->pd_upper = header->pd_special = BLCKSZ;
	header->pd_pagesize_version = BLCKSZ | PG_PAGE_LAYOUT_VERSION;
}

/* See page_sample.h. */
OffsetNumber
page_sample_add(PageSample *page, TupleDesc desc, const PageCell *cells, int natts)
{
	PageHeader	header = (PageHeader) page->bytes;
	OffsetNumber offnum = PageGetMaxOffsetNumber(page->bytes) + 1;
	static char buffer[2 * BLCKSZ] __attribute__((aligned(8)));
	HeapTupleHeader tuple = (HeapTupleHeader) buffer;
	bool		hasnull = false;
	uint32		off = 0;
	char	   *data;

	memset(buffer, 0, sizeof(buffer));
	for (int i = 0; i < natts; i++)
		hasnull |= cells[i].bytes == NULL;
	tuple->t_hoff = page_header_size(natts, hasnull);
	tuple->t_infomask = HEAP_XMAX_INVALID | HEAP_HASVARWIDTH | (hasnull ? HEAP_HASNULL : 0);
	tuple->t_infomask2 = natts;
	HeapTupleHeaderSetXmin(tuple, 700 + offnum);
	data = buffer + tuple->t_hoff;
	for (int i = 0; i < natts; i++)
	{
		if (cells[i].bytes == NULL)
			continue;
		if (hasnull)
			tuple->t_bits[i >> 3] |= 1 << (i & 7);
		off = page_value_place(off, TupleDescAttr(desc, i), cells[i].bytes);
		if (tuple->t_hoff + off + cells[i].len > BLCKSZ)
			return 0;
		memcpy(data + off, cells[i].bytes, cells[i].len);
		off += cells[i].len;
	}
	off += tuple->t_hoff;
	if (header->pd_lower + sizeof(ItemIdData) + MAXALIGN(off) > header->pd_upper)
		return 0;
	header->pd_lower += sizeof(ItemIdData);
	header->pd_upper -= MAXALIGN(off);
	memcpy(page->bytes + header->pd_upper, buffer, off);
	ItemIdSetNormal(PageGetItemId(page->bytes, offnum), header->pd_upper, off);
	return offnum;
}

/* See page_sample.h. */
PageCell
page_sample_text(const char *text)
{
	size_t		len = strlen(text);
	bool		is_short = len + VARHDRSZ_SHORT <= VARATT_SHORT_MAX;
	size_t		size = len + (is_short ? VARHDRSZ_SHORT : VARHDRSZ);
	char	   *bytes = malloc(size);

	if (is_short)
		SET_VARSIZE_SHORT(bytes, size);
	else
		SET_VARSIZE(bytes, size);
	memcpy(bytes + size - len, text, len);
	return (PageCell)
	{
		bytes, (uint16) size
	};
}

/* See page_sample.h. */
OffsetNumber
page_sample_add_texts(PageSample *page, TupleDesc desc,...)
{
	PageCell	cells[64] = {{NULL, 0}};
	int			natts = 0;
	va_list		args;
	const char *text;
	OffsetNumber offnum;

	va_start(args, desc);
	while ((text = va_arg(args, const char *)) != NULL)
	{
		if (*text != '\0')
			cells[natts] = page_sample_text(text);
		natts++;
	}
	va_end(args);
	offnum = page_sample_add(page, desc, cells, natts);
	for (int i = 0; i < natts; i++)
		free((void *) cells[i].bytes);
	return offnum;
}

static bool
is_same_values(const StrataPageValue *a, const StrataPageValue *b, int natts)
{
	for (int i = 0; i < natts; i++)
		if ((a[i].bytes == NULL) != (b[i].bytes == NULL) || a[i].len != b[i].len ||
			(a[i].bytes != NULL && memcmp(a[i].bytes, b[i].bytes, a[i].len) != 0))
			return false;
	return true;
}

/* Is the tuple, put together without symbols, one with the same values? */
static const char *
check_plain(const PageSample *page, const HeapTupleHeaderData *tuple, TupleDesc desc, const StrataPageValue *values)
{
	static StrataPageValue again[MaxTupleAttributeNumber];
	Size		size = strata_page_plain_size(tuple, desc, values);
	char	   *plain = malloc(size);
	const char *problem;

	strata_page_plain_write(tuple, desc, values, plain);
	problem = strata_page_values(page->bytes, (HeapTupleHeader) plain, (uint32) size, desc, again);
	if (problem == NULL && strata_page_is_flagged((HeapTupleHeader) plain))
		problem = "plain tuple is flagged";
	if (problem == NULL && !is_same_values(values, again, HeapTupleHeaderGetNatts(tuple)))
		problem = "plain tuple has other values";
	free(plain);
	return problem;
}

/* A column as a slot has it, and as it stands in the page: the same? */
static bool
is_same_datum(Form_pg_attribute att, Datum datum, bool isnull, const StrataPageValue *value)
{
	if (isnull || value->bytes == NULL)
		return isnull && value->bytes == NULL;
	if (!att->attbyval)
		return DatumGetPointer(datum) == value->bytes;
	return memcmp(&datum, value->bytes, att->attlen) == 0;
}

/*
 * Take a flagged tuple apart in two steps, as a slot does, and compare with
 * values, unless the page is damaged (NULL): then nothing outside it is read.
 */
static const char *
check_deform(const PageSample *page, const HeapTupleHeaderData *tuple, uint32 len, TupleDesc desc, const StrataPageValue *values)
{
	int			natts = Min(HeapTupleHeaderGetNatts(tuple), desc->natts);
	static Datum datums[MaxTupleAttributeNumber];
	static bool isnull[MaxTupleAttributeNumber];
	uint32		offset = 0;
	const char *problem = strata_page_deform(page->bytes, tuple, len, desc, 0, natts / 2, &offset, datums, isnull);

	if (problem == NULL)
		problem = strata_page_deform(page->bytes, tuple, len, desc, natts / 2, natts, &offset, datums, isnull);
	if (values == NULL)
		return NULL;
	for (int i = 0; problem == NULL && i < natts; i++)
		if (!is_same_datum(TupleDescAttr(desc, i), datums[i], isnull[i], &values[i]))
			problem = "tuple taken apart has other values";
	return problem;
}

/* Take all flagged tuples of a page apart, of which nothing is known. */
static const char *
deform_any(const PageSample *page, TupleDesc desc)
{
	static StrataPageValue values[MaxTupleAttributeNumber];
	const PageHeaderData *header = (const PageHeaderData *) page->bytes;
	int			n = header->pd_lower <= BLCKSZ ? PageGetMaxOffsetNumber((Page) page->bytes) : 0;

	for (int i = 1; i <= n; i++)
	{
		ItemId		id = PageGetItemId((Page) page->bytes, i);
		uint32		at = ItemIdGetOffset(id);
		uint32		len = ItemIdGetLength(id);
		HeapTupleHeader tuple = (HeapTupleHeader) (page->bytes + at);
		const char *problem;
		bool		sound;

		if (!ItemIdIsNormal(id) || at % 8 != 0 || at + len > BLCKSZ || len < SizeofHeapTupleHeader ||
			!strata_page_is_flagged(tuple))
			continue;
		sound = strata_page_values(page->bytes, tuple, len, desc, values) == NULL;
		problem = check_deform(page, tuple, len, desc, sound ? values : NULL);
		if (problem != NULL)
			return problem;
	}
	return NULL;
}

/* Have the pages the same rows at the same places? */
static const char *
compare_pages(const PageSample *a, const PageSample *b, TupleDesc desc)
{
	static StrataPageValue va[MaxTupleAttributeNumber];
	static StrataPageValue vb[MaxTupleAttributeNumber];
	int			n = PageGetMaxOffsetNumber((Page) a->bytes);

	if (PageGetMaxOffsetNumber((Page) b->bytes) != n)
		return "other number of line pointers";
	for (int i = 1; i <= n; i++)
	{
		ItemId		ia = PageGetItemId((Page) a->bytes, i);
		ItemId		ib = PageGetItemId((Page) b->bytes, i);
		HeapTupleHeader ta;
		HeapTupleHeader tb;
		const char *problem;

		if (!ItemIdIsNormal(ia))
		{
			if (memcmp(ia, ib, sizeof(*ia)) != 0)
				return "line pointer without tuple has changed";
			continue;
		}
		if (!ItemIdIsNormal(ib))
			return "tuple has gone";
		ta = (HeapTupleHeader) PageGetItem((Page) a->bytes, ia);
		tb = (HeapTupleHeader) PageGetItem((Page) b->bytes, ib);
		if (memcmp(ta, tb, offsetof(HeapTupleHeaderData, t_infomask2)) != 0 ||
			((ta->t_infomask2 ^ tb->t_infomask2) & ~STRATA_PAGE_FLAG) != 0 ||
			((ta->t_infomask ^ tb->t_infomask) & ~HEAP_HASNULL) != 0)
			return "header of a tuple has changed";
		if ((problem = strata_page_values(a->bytes, ta, ItemIdGetLength(ia), desc, va)) != NULL ||
			(problem = strata_page_values(b->bytes, tb, ItemIdGetLength(ib), desc, vb)) != NULL ||
			(problem = check_plain(a, ta, desc, va)) != NULL ||
			(problem = check_plain(b, tb, desc, vb)) != NULL)
			return problem;
		if (!is_same_values(va, vb, HeapTupleHeaderGetNatts(ta)))
			return "values have changed";
	}
	return NULL;
}

static int
free_bytes(const PageSample *page)
{
	const PageHeaderData *header = (const PageHeaderData *) page->bytes;

	return header->pd_upper - header->pd_lower;
}

/* See page_sample.h. */
const char *
page_sample_deduplicate(const PageSample *page, TupleDesc desc, const bool *plain, StrataPageRule rule,
						int min_gain, StrataPageOutcome *outcome, PageSample *out)
{
	static StrataPageWork *work = NULL;
	static PageSample copy;
	const char *problem;

	if (work == NULL)
		work = malloc(strata_page_work_size());
	copy = *page;
	if ((problem = deform_any(page, desc)) != NULL)
		return problem;
	*outcome = strata_page_deduplicate(page->bytes, desc, plain, rule, min_gain, work);
	if (memcmp(&copy, page, sizeof(copy)) != 0)
		return "page has been written to";
	if (*outcome != STRATA_PAGE_CHANGED)
		return NULL;
	memcpy(out, strata_page_work_result(work), BLCKSZ);
	if (free_bytes(out) - free_bytes(page) < min_gain)
		return "gain is too small";
	if ((problem = compare_pages(page, out, desc)) != NULL ||
		(problem = deform_any(out, desc)) != NULL)
		return problem;
	if (strata_page_deduplicate(out->bytes, desc, plain, rule, 1, work) != STRATA_PAGE_NO_GAIN)
		return "second time has a gain";
	if (strata_page_deduplicate(out->bytes, desc, plain, rule, INT_MIN, work) == STRATA_PAGE_CHANGED &&
		memcmp(out, strata_page_work_result(work), BLCKSZ) != 0)
		return "second time has another page";
	return NULL;
}

/* See page_sample.h. */
const char *
page_sample_condense(const char *wide, TupleDesc desc, StrataPageRule rule,
					 int min_gain, StrataPageOutcome *outcome, PageSample *out)
{
	static StrataPageWork *work = NULL;
	const PageHeaderData *header = (const PageHeaderData *) wide;
	int			used = STRATA_PAGE_WIDE - (header->pd_upper - header->pd_lower);
	const char *problem;

	if (work == NULL)
		work = malloc(strata_page_work_size());
	*outcome = strata_page_condense(wide, desc, NULL, rule, min_gain, work);
	if (*outcome != STRATA_PAGE_CHANGED)
		return NULL;
	memcpy(out, strata_page_work_result(work), BLCKSZ);
	if (used - (BLCKSZ - free_bytes(out)) < min_gain)
		return "gain is too small";
	if ((problem = compare_pages((const PageSample *) wide, out, desc)) != NULL)
		return problem;
	return deform_any(out, desc);
}
