/*-------------------------------------------------------------------------
 *
 * fuzz_page_roundtrip.c
 *	  Fuzz target: pages of rows, and the same with some bytes changed.
 *
 * Two bytes say how and which columns; each value is a byte that says which of
 * a few it is, or that it is null.
 *
 * test/fuzz/fuzz_page_roundtrip.c
 *-------------------------------------------------------------------------
 */
#include "fuzz_page.h"

/* A value of a column out of 64, written to `to`. */
static PageCell
some_value(Form_pg_attribute att, uint8_t which, char *to)
{
	uint16		len = (uint16) (5 + (which & 7) * (which & 8 ? 20 : 3));

	if (which & 64)
		return (PageCell)
	{
		NULL, 0
	};
	memset(to, which & 63, 256);
	if (att->attlen > 0)
		len = (uint16) att->attlen;
	else if (att->attlen == -2)
	{
		memset(to, 'a' + (which & 15), len);
		to[len - 1] = '\0';
	}
	else if (which & 16 && len <= VARATT_SHORT_MAX)
		SET_VARSIZE_SHORT(to, len);
	else
		SET_VARSIZE(to, len);
	return (PageCell)
	{
		to, len
	};
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static PageSample page;
	static char values[16][256] __attribute__((aligned(8)));
	TupleDesc	desc;
	size_t		at = 2;

	if (len < 2)
		return 0;
	desc = page_sample_desc(page_sample_shapes[data[1] % PAGE_SAMPLE_SHAPES]);
	page_sample_init(&page);
	while (at + (size_t) desc->natts <= len)
	{
		PageCell	cells[16];

		for (int c = 0; c < desc->natts; c++)
			cells[c] = some_value(TupleDescAttr(desc, c), data[at++], values[c]);
		if (!page_sample_add(&page, desc, cells, data[at - 1] & 128 ? desc->natts - 1 : desc->natts))
			break;
	}
	fuzz_page(&page, desc, data[0]);
	/* what is left over says which bytes change to what */
	for (; at + 3 <= len; at += 3)
		page.bytes[(data[at] | data[at + 1] << 8) % BLCKSZ] = (char) data[at + 2];
	((PageHeader) page.bytes)->pd_pagesize_version = BLCKSZ | PG_PAGE_LAYOUT_VERSION;
	fuzz_page(&page, desc, data[0]);
	free(desc);
	return 0;
}
