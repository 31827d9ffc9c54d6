/*-------------------------------------------------------------------------
 *
 * page.h
 *	  Heap pages whose repeated values stand once, in a table of symbols in
 *	  the page's special space; see README.md, and docs/format.md.
 *
 * Nothing here allocates, locks or raises errors: it needs PostgreSQL's
 * headers and no server.
 *
 * src/page/page.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_PAGE_H
#define STRATA_PAGE_H

#include "postgres.h"

#include "access/htup_details.h"
#include "access/tupdesc.h"
#include "storage/bufpage.h"

/* Says in t_infomask2 that some columns of a tuple are symbols. */
#define STRATA_PAGE_FLAG 0x0800

/* The first two bytes of a table of symbols; the lower one is the version. */
#define STRATA_PAGE_MAGIC 0x5D01

#define STRATA_PAGE_MAX_SYMBOLS 256

/* A table of symbols: what stands at pd_special. */
typedef struct StrataPageTable
{
	uint16		magic;
	uint16		nsymbols;
	/* from the beginning of the table, nsymbols + 1 of them */
	uint16		start[FLEXIBLE_ARRAY_MEMBER];
} StrataPageTable;

#define STRATA_PAGE_TABLE_HEAD(nsymbols) \
	(offsetof(StrataPageTable, start) + sizeof(uint16) * ((nsymbols) + 1))

static inline bool
strata_page_is_flagged(const HeapTupleHeaderData *tuple)
{
	return (tuple->t_infomask2 & STRATA_PAGE_FLAG) != 0;
}

/* A column of a tuple: bytes as in a data area, within the page. */
typedef struct StrataPageValue
{
	const char *bytes;			/* NULL: null */
	uint16		len;
	int16		symbol;			/* -1: stands in the tuple itself */
} StrataPageValue;

/*
 * page_read.c.  Functions that return a text return NULL when all is well, and
 * otherwise what is wrong with the bytes, a string constant.
 *
 * table: *table is NULL for a page without symbols.  values: the columns of a
 * tuple of len bytes on the page, flagged or not, natts of the tuple of them;
 * len is at least SizeofHeapTupleHeader.  A value of a type that is passed by
 * reference is aligned as the type wants it, unless it is a varlena with a
 * short header.
 *
 * plain_size: of the tuple without symbols.  plain_write: that tuple, into
 * plain_size bytes, MAXALIGNed; its header is that of the tuple but for what
 * says where the columns are.
 */
extern const char *strata_page_table(const char *page,
									 const StrataPageTable **table);
extern const char *strata_page_values(const char *page,
									  const HeapTupleHeaderData *tuple,
									  uint32 len, TupleDesc desc,
									  StrataPageValue *values);
extern Size strata_page_plain_size(const HeapTupleHeaderData *tuple,
								   TupleDesc desc,
								   const StrataPageValue *values);
extern void strata_page_plain_write(const HeapTupleHeaderData *tuple,
									TupleDesc desc,
									const StrataPageValue *values, char *to);

/*
 * The columns `from` to natts - 1 of a flagged tuple, where they stand.
 * *offset: 0 for from = 0, and afterwards what the last call has left there.
 * natts is not more than the tuple has.
 */
extern const char *strata_page_deform(const char *page,
									  const HeapTupleHeaderData *tuple,
									  uint32 len, TupleDesc desc, int from,
									  int natts, uint32 *offset,
									  Datum *values, bool *isnull);

/*
 * Calls visit for each column that is a symbol, from 0 on, of a flagged tuple.
 */
extern const char *strata_page_symbol_columns(const HeapTupleHeaderData *tuple,
											  uint32 len,
											  void (*visit) (void *arg,
															 int colno),
											  void *arg);

/* Does no tuple use the page's table of symbols, which there is? */
extern bool strata_page_table_is_unused(const char *page);

/* Which values are worth a symbol. */
typedef enum StrataPageRule
{
	STRATA_PAGE_SEED,			/* (m - 1)(n - 2) > 6 */
	STRATA_PAGE_EXACT,			/* where the table's bytes are gained back */
	/* for developers, worth it or not */
	STRATA_PAGE_ANY,			/* what occurs twice */
	STRATA_PAGE_ALL				/* every value */
} StrataPageRule;

/* Is a value of n bytes that occurs m times worth a symbol? */
extern bool strata_page_rule_says(StrataPageRule rule, int m, int n);

typedef enum StrataPageOutcome
{
	STRATA_PAGE_NO_GAIN,
	STRATA_PAGE_CHANGED,
	STRATA_PAGE_DAMAGED,
	STRATA_PAGE_TOO_LARGE		/* what is condensed does not fit */
} StrataPageOutcome;

/* Memory to work in, and the new page, MAXALIGNed. */
typedef struct StrataPageWork StrataPageWork;
extern Size strata_page_work_size(void);
extern char *strata_page_work_result(StrataPageWork *work);

/*
 * page_write.c.  The page with values chosen anew: line pointers keep their
 * numbers, headers what they say, rows what they are; other tuples are where
 * they fit.  It is the work's result if at least min_gain bytes more are free
 * in it than in the page.  Columns of which plain is true stay in tuples,
 * NULL: none; so do TOAST pointers.
 *
 * The caller has the page for himself.
 */
extern StrataPageOutcome strata_page_deduplicate(const char *page,
												 TupleDesc desc,
												 const bool *plain,
												 StrataPageRule rule,
												 int min_gain,
												 StrataPageWork *work);

/*
 * A wide page: plain rows in memory, more of them than a page has room for,
 * from offset number 1 on.  init: STRATA_PAGE_WIDE MAXALIGNed bytes.  add: a
 * tuple as PageAddItem() takes it; false: there is no room.  cut: only the
 * first n rows stay.
 *
 * condense: as deduplicate, from a wide page to one of BLCKSZ bytes.
 */
#define STRATA_PAGE_WIDE Min(2 * BLCKSZ, 32768)

extern void strata_page_wide_init(char *wide);
extern bool strata_page_wide_add(char *wide, const HeapTupleHeaderData *tuple,
								 uint32 len);
extern void strata_page_wide_cut(char *wide, int n);
extern StrataPageOutcome strata_page_condense(const char *wide,
											  TupleDesc desc,
											  const bool *plain,
											  StrataPageRule rule,
											  int min_gain,
											  StrataPageWork *work);

#endif							/* STRATA_PAGE_H */
