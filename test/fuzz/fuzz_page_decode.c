/*-------------------------------------------------------------------------
 *
 * fuzz_page_decode.c
 *	  Fuzz target: pages of any bytes.
 *
 * The first bytes say how and which columns, the next two how many of the
 * others the page begins with; the rest it ends with.
 *
 * test/fuzz/fuzz_page_decode.c
 *-------------------------------------------------------------------------
 */
#include "fuzz_page.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static PageSample page;
	TupleDesc	desc;
	size_t		head;

	if (len < 4 || len > BLCKSZ)
		return 0;
	desc = page_sample_desc(page_sample_shapes[data[1] % PAGE_SAMPLE_SHAPES]);
	head = (size_t) (data[2] | data[3] << 8) % (len - 3);
	memset(&page, 0, sizeof(page));
	memcpy(page.bytes, data + 4, head);
	memcpy(page.bytes + BLCKSZ - (len - 4 - head), data + 4 + head, len - 4 - head);
	((PageHeader) page.bytes)->pd_pagesize_version = BLCKSZ | PG_PAGE_LAYOUT_VERSION;
	fuzz_page(&page, desc, data[0]);
	free(desc);
	return 0;
}
