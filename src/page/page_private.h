/*-------------------------------------------------------------------------
 *
 * page_private.h
 *	  What page_read.c, page_choose.c and page_write.c share.
 *
 * src/page/page_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_PAGE_PRIVATE_H
#define STRATA_PAGE_PRIVATE_H

#include "page/page.h"

#include "access/tupmacs.h"

#define PAGE_BUCKETS 1024

/* As many values as a page can hold: each takes a byte of its tuple. */
#define PAGE_MAX_ENTRIES STRATA_PAGE_WIDE
#define PAGE_MAX_ITEMS (STRATA_PAGE_WIDE / sizeof(ItemIdData))

/* A value of a tuple that is not null; where it stands is counted from the page. */
typedef struct PageEntry
{
	uint16		at;
	uint16		len;
	uint16		colno;			/* from 0 */
	int16		value;			/* of PageChoice, -1: stays in its tuple */
} PageEntry;

/* Bytes that stand in several tuples, perhaps. */
typedef struct PageValue
{
	uint16		at;
	uint16		len;
	uint16		count;
	uint16		alignment;		/* the greatest that one of its columns wants */
	int16		symbol;			/* -1: none */
	int16		next;			/* in its bucket, -1: the last */
	int32		gain;
} PageValue;

/* A tuple: its entries are entry[first] to entry[first + nentries - 1]. */
typedef struct PageItem
{
	uint16		first;
	uint16		nentries;
	uint16		natts;
	uint16		plain;			/* bytes without symbols; 0: not known */
	uint16		size;			/* bytes with its symbols, and how many */
	uint16		nsymbols;		/* these are */
} PageItem;

struct StrataPageWork
{
	/* first, as what is allocated is MAXALIGNed */
	char		result[BLCKSZ];
	const char *page;
	uint32		size;			/* of page */
	TupleDesc	desc;
	const bool *plain;
	StrataPageRule rule;
	int			nentries;
	int			nvalues;
	int			nsymbols;
	int16		bucket[PAGE_BUCKETS];
	int16		known[STRATA_PAGE_MAX_SYMBOLS]; /* old symbol -> value, or -1 */
	int16		last[MaxTupleAttributeNumber];	/* column -> value of the
												 * tuple before, or -1 */
	PageItem	item[PAGE_MAX_ITEMS];	/* by offset number - 1 */
	PageEntry	entry[PAGE_MAX_ENTRIES];
	PageValue	value[PAGE_MAX_ENTRIES];
	uint16		symbol[PAGE_MAX_ENTRIES];	/* symbol -> value */
	StrataPageValue columns[MaxTupleAttributeNumber];
};

/* What alignment a value wants where a Datum points to it. */
static inline int
page_value_alignment(Form_pg_attribute att, const char *bytes)
{
	if (att->attbyval || (att->attlen == -1 && VARATT_IS_1B(bytes)))
		return 1;
	return att_align_nominal(1, att->attalign);
}

/* Where a value goes in a data area that is filled up to off. */
static inline uint32
page_value_place(uint32 off, Form_pg_attribute att, const char *bytes)
{
	if (att->attlen == -1 && VARATT_IS_1B(bytes))
		return off;
	return att_align_nominal(off, att->attalign);
}

/* The tuple of an item; the item is sound. */
static inline HeapTupleHeader
page_item_tuple(const char *page, OffsetNumber offnum)
{
	return (HeapTupleHeader) PageGetItem((Page) page,
										 PageGetItemId((Page) page, offnum));
}

static inline int
page_header_size(int natts, bool bitmap)
{
	return MAXALIGN(SizeofHeapTupleHeader + (bitmap ? BITMAPLEN(natts) : 0));
}

/* page_choose.c: fill work's items, entries and values, and choose symbols. */
extern const char *strata_page_collect(StrataPageWork *work);
extern void strata_page_choose(StrataPageWork *work);

#endif							/* STRATA_PAGE_PRIVATE_H */
