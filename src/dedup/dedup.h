/*-------------------------------------------------------------------------
 *
 * dedup.h
 *	  The access method strata_dedup; see README.md.
 *
 * src/dedup/dedup.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_DEDUP_H
#define STRATA_DEDUP_H

#include "postgres.h"

#include "utils/rel.h"

#define STRATA_DEDUP_AM "strata_dedup"

extern void strata_dedup_init(void);
extern bool strata_is_dedup(Relation rel);

/*
 * dedup_inspect.c.  Do pages have symbols for columns of the replica identity,
 * so that heapam could not log it?  Reads all pages until it finds one.
 */
extern bool strata_dedup_identity_is_lost(Relation rel);

/*
 * dedup_inspect.c.  What all pages of a table hold.  Bytes are those of tuples
 * with their line pointers, and of tables of symbols; free space does not
 * count.
 */
typedef struct StrataDedupSummary
{
	int64		pages;
	int64		pages_with_symbols;
	int64		rows;			/* versions, dead ones that are there too */
	int64		rows_with_symbols;
	int64		symbols;
	int64		symbol_bytes;	/* of tables of symbols */
	int64		bytes;			/* of all */
	int64		plain_bytes;	/* of the same without symbols */
} StrataDedupSummary;

extern void strata_dedup_summarize(Relation rel, StrataDedupSummary *summary);

/* A symbol of a page. */
typedef struct StrataDedupSymbol
{
	int			number;
	int			uses;
	int			len;
	const char *bytes;			/* aligned as the column's type wants it */
	int			colno;			/* the first one that uses it, -1: none */
	Bitmapset  *columns;		/* all of them, numbers from 0 */
} StrataDedupSymbol;

/* Of one page, palloc'd; *n: how many.  NULL: the page has none. */
extern StrataDedupSymbol *strata_dedup_symbols(Relation rel, BlockNumber block,
											   int *n);

/*
 * dedup_estimate.c.  What the rows of a heap would take as VACUUM FULL writes
 * them, with symbols and without, from a sample; nothing is written.
 */
typedef struct StrataDedupEstimate
{
	double		sampled;		/* part of the pages that was read */
	double		bytes;			/* of the file now */
	double		plain_bytes;	/* of the file after VACUUM FULL as heap */
	double		dedup_bytes;	/* of the file as strata_dedup */
} StrataDedupEstimate;

extern void strata_dedup_estimate(Relation rel, StrataDedupEstimate *estimate);

#endif							/* STRATA_DEDUP_H */
