/*-------------------------------------------------------------------------
 *
 * dedup_estimate.c
 *	  What a heap's rows would take with symbols: rows of a sample of
 *	  neighbouring pages are put into pages in memory, as VACUUM FULL does it.
 *
 * src/dedup/dedup_estimate.c
 *-------------------------------------------------------------------------
 */
#include "dedup/dedup_private.h"

#include "access/htup_details.h"
#include "miscadmin.h"

/* Tables of more pages are sampled: so many windows of so many pages. */
#define WHOLE_PAGES 2048
#define WINDOWS 64
#define WINDOW_PAGES 32

typedef struct Packing
{
	Relation	rel;
	bool	   *plain;
	Size		reserve;		/* that fillfactor leaves free */
	PGAlignedBlock page;		/* being filled */
	bool		is_begun;
	double		pages;			/* that are full */
	double		plain_bytes;	/* of tuples without symbols */
} Packing;

static void
begin_page(Packing *packing)
{
	PageInit(packing->page.data, BLCKSZ, 0);
	packing->is_begun = true;
}

/* The part of the page being filled that is used. */
static double
used_part(const Packing *packing)
{
	if (!packing->is_begun)
		return 0;
	return 1 - (double) PageGetHeapFreeSpace((Page) packing->page.data) /
		(BLCKSZ - SizeOfPageHeaderData);
}

static bool
has_room(Packing *packing, Size len)
{
	return PageGetHeapFreeSpace(packing->page.data) >=
		MAXALIGN(len) + packing->reserve;
}

/* Put a tuple without symbols into the page being filled, or into a new one. */
static void
pack_tuple(Packing *packing, const char *tuple, Size len)
{
	StrataPageWork *work = strata_dedup_work();

	packing->plain_bytes += MAXALIGN(len) + sizeof(ItemIdData);
	if (!packing->is_begun)
		begin_page(packing);
	if (!has_room(packing, len))
	{
		if (strata_page_deduplicate(packing->page.data,
									RelationGetDescr(packing->rel),
									packing->plain, strata_dedup_rule_now(),
									STRATA_DEDUP_ANOTHER_ROUND,
									work) == STRATA_PAGE_CHANGED)
			memcpy(packing->page.data, strata_page_work_result(work), BLCKSZ);
		if (!has_room(packing, len))
		{
			packing->pages += 1;
			begin_page(packing);
		}
	}
	(void) PageAddItem(packing->page.data, (Item) tuple, len,
					   InvalidOffsetNumber, false, true);
}

/* Put the rows of a page into the packing. */
static void
pack_page(Packing *packing, BlockNumber block, BufferAccessStrategy strategy)
{
	static StrataPageValue values[MaxTupleAttributeNumber];
	TupleDesc	desc = RelationGetDescr(packing->rel);
	PGAlignedBlock copy;
	PGAlignedBlock tuple_copy;

	strata_dedup_copy_page(packing->rel, block, strategy, copy.data);
	if (PageIsNew(copy.data))
		return;
	for (OffsetNumber i = FirstOffsetNumber;
		 i <= PageGetMaxOffsetNumber(copy.data); i++)
	{
		uint32		len;
		HeapTupleHeader tuple = strata_dedup_copied_tuple(packing->rel, block,
														  copy.data, i, &len,
														  values);

		if (tuple == NULL)
			continue;
		if (strata_page_is_flagged(tuple))
		{
			len = strata_page_plain_size(tuple, desc, values);
			/* it was a row of a page once */
			if (len > BLCKSZ)
				continue;
			strata_page_plain_write(tuple, desc, values, tuple_copy.data);
			tuple = (HeapTupleHeader) tuple_copy.data;
		}
		pack_tuple(packing, (char *) tuple, len);
	}
}

/* See dedup.h. */
void
strata_dedup_estimate(Relation rel, StrataDedupEstimate *estimate)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	BlockNumber nblocks = RelationGetNumberOfBlocks(rel);
	Packing    *packing = palloc0(sizeof(Packing));
	BlockNumber windows = nblocks > WHOLE_PAGES ? WINDOWS : 1;
	BlockNumber length = nblocks > WHOLE_PAGES ? WINDOW_PAGES : nblocks;
	bool		may = strata_dedup_plain_columns(rel, &packing->plain);
	double		plain_pages;
	double		scale;

	packing->rel = rel;
	packing->reserve =
		RelationGetTargetPageFreeSpace(rel, HEAP_DEFAULT_FILLFACTOR);
	for (BlockNumber w = 0; w < windows; w++)
	{
		BlockNumber first = (BlockNumber)
		((uint64) w * (nblocks - length) / Max(windows - 1, 1));

		for (BlockNumber i = 0; i < length; i++)
		{
			CHECK_FOR_INTERRUPTS();
			pack_page(packing, first + i, strategy);
		}
	}
	FreeAccessStrategy(strategy);
	scale = nblocks == 0 ? 1 : (double) nblocks / ((double) windows * length);
	plain_pages = packing->plain_bytes /
		(BLCKSZ - SizeOfPageHeaderData - packing->reserve);
	estimate->sampled = 1 / scale;
	estimate->bytes = (double) nblocks * BLCKSZ;
	estimate->plain_bytes = plain_pages * scale * BLCKSZ;
	estimate->dedup_bytes = may ?
		Min((packing->pages + used_part(packing)) * scale * BLCKSZ,
			estimate->plain_bytes) : estimate->plain_bytes;
}
