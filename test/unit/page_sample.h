/*-------------------------------------------------------------------------
 *
 * page_sample.h
 *	  Heap pages and tables' columns, made without a server; and what must hold
 *	  of a page and what deduplication makes of it.
 *
 * test/unit/page_sample.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_PAGE_SAMPLE_H
#define STRATA_PAGE_SAMPLE_H

#include "page/page.h"

/* the server's own are not here */
#undef snprintf
#undef fprintf

typedef union PageSample
{
	char		bytes[BLCKSZ];
	double		aligned;
} PageSample;

/* A column of a row to be put into a page. */
typedef struct PageCell
{
	const void *bytes;			/* as in a data area; NULL: null */
	uint16		len;
} PageCell;

#define PAGE_SAMPLE_SHAPES 4

/*
 * Columns by a text, a character each: 4 int4, 8 int8, t text, n name of 64
 * bytes, u uuid, i interval, d a varlena aligned as double, c cstring, b bool.
 * Freed by free().
 */
extern TupleDesc page_sample_desc(const char *columns);

/* A number of them, for fuzzing. */
extern const char *const page_sample_shapes[PAGE_SAMPLE_SHAPES];

extern void page_sample_init(PageSample *page);

/* Add a row of natts columns; its offset number, 0: it does not fit. */
extern OffsetNumber page_sample_add(PageSample *page, TupleDesc desc, const PageCell *cells, int natts);

/* A text in the form that tables keep: short header if it may have one; freed by free(). */
extern PageCell page_sample_text(const char *text);

/* Add a row of texts, the last argument NULL; "" is null. */
extern OffsetNumber page_sample_add_texts(PageSample *page, TupleDesc desc,...);

/*
 * Deduplicate, and check all there is to check: same rows, same headers, the
 * gain, twice the same, plain tuples as they were.  The result is in *out.
 * Returns what is wrong, or NULL.
 */
extern const char *page_sample_deduplicate(const PageSample *page, TupleDesc desc, const bool *plain, StrataPageRule rule,
										   int min_gain, StrataPageOutcome *outcome, PageSample *out);

/* The same for a wide page, which is condensed. */
extern const char *page_sample_condense(const char *wide, TupleDesc desc, StrataPageRule rule,
										int min_gain, StrataPageOutcome *outcome, PageSample *out);

#endif							/* STRATA_PAGE_SAMPLE_H */
