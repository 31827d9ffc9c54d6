/*-------------------------------------------------------------------------
 *
 * top_sort_private.h
 *	  All rows in an order: records of bytes, sorted by integers.
 *
 * src/top/top_sort_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_TOP_SORT_PRIVATE_H
#define STRATA_TOP_SORT_PRIVATE_H

#include "top/top_private.h"

#include "storage/buffile.h"

/* Different values of a column by reference, or of a key that is compared by
 * a function: each has a number. */
typedef struct SortValues
{
	uint32		n;
	uint32		size;			/* of the arrays by number */
	Datum	   *values;
	uint32	   *hashes;
	uint32	   *ranks;			/* of a key; those of equal values are equal */
	uint32		nranked;		/* so many have one */
	uint32		nslots;			/* a power of two */
	uint32	   *slots;			/* numbers, from 1; 0: free */
} SortValues;

/* A column of a record. */
typedef struct SortField
{
	int			offset;
	int			width;			/* bytes; of a value by reference its
								 * pointer's */
	int16		typlen;
	bool		typbyval;
	TopKey	   *key;			/* the first that it is; or NULL */
	bool		numbered;		/* the record has the number of a value */
	SortValues	values;
} SortField;

/* How keys become bits: what is said of one, and of them all. */
typedef struct SortKeyRange
{
	uint64		min;			/* of ranks; min > max: there are none */
	uint64		max;
	bool		has_nulls;
	uint64		offset;			/* of ranks above min: a null comes first */
	uint64		null;			/* what stands for a null */
	int			shift;			/* bits of ranks that are left out before, */
	int			cut;			/* and behind that */
	int			bits;			/* of the word; 0: none */
} SortKeyRange;

/* The beginning of a record's keys, and where the record is. */
typedef struct SortElement
{
	uint64		word;
	uint32		row;
} SortElement;

/* Records in order, in the file. */
typedef struct SortRun
{
	int			fileno;			/* of those that have not been read yet */
	off_t		offset;
	int64		nleft;
	char	   *records;		/* those that were read last, */
	uint64	   *words;
	int			n;
	int			at;				/* and which of them is next */
} SortRun;

typedef struct StrataSort
{
	MemoryContext mcxt;			/* all of it */
	MemoryContext vector_mcxt;	/* reset for each vector */
	int			nfields;
	SortField  *fields;
	int			nkeys;
	TopKey	   *keys;
	int		   *key_fields;		/* which field each is */
	int			nulls_at;		/* offset of a bit for each field */
	int			record_size;
	int64		budget;			/* bytes */
	int64		value_bytes;	/* of them, values by reference */
	/* records that are not in a run */
	char	   *records;
	int64		n;
	int64		size;
	char	   *room;			/* where values by reference are copied to */
	Size		room_left;
	SortElement *elements;		/* in order, once all is there; or NULL */
	int64		next;
	/* runs */
	SortKeyRange *ranges;		/* of each key, over all records */
	bool		truncated;		/* words do not say all */
	BufFile    *file;
	SortRun    *runs;
	int			nruns;
	int			max_runs;
	int		   *heap;			/* of runs, the next one in front */
	int			nheap;
	bool		advance;		/* the front's record was returned */
	char	   *copies;			/* of RANK_ROWS records of theirs, or NULL */
} StrataSort;

/*
 * top_sort.c.  Its callers put records: reserve says for how many of so many
 * (at least one) there is room behind those that are there, and makes some.
 * finish: all are there.  next: the record that comes next; NULL at the end.
 * read_back: in place of finish, all records in no order, to be asked for
 * until NULL; they do not live on.
 */
extern StrataSort *strata_sort_create(StrataTopState *top);
extern void strata_sort_free(StrataSort *sort);
extern int64 strata_sort_reserve(StrataSort *sort, int64 n);
extern void strata_sort_finish(StrataSort *sort);
extern const char *strata_sort_next(StrataSort *sort);
extern const char *strata_sort_read_back(StrataSort *sort);
extern void strata_sort_load(const StrataSort *sort, const char *record,
							 Datum *values, bool *isnull);

/* top_exec.c: the column of rows that a result column is; 0: none. */
extern AttrNumber strata_sort_row_column(PlanState *node, AttrNumber resno);

/* Are there more values by reference, or runs, than there may be? */
extern bool strata_sort_is_too_large(const StrataSort *sort);

/* So many records are given words at a time. */
#define RANK_ROWS 256
/* So many bytes of a run are read at a time. */
#define RUN_BYTES (8 * 1024)

/* Is field i of the record null? */
static inline bool
strata_sort_is_null(const StrataSort *sort, const char *record, int i)
{
	return ((uint8) record[sort->nulls_at + i / 8] >> (i % 8)) & 1;
}

static inline const char *
strata_sort_record(const StrataSort *sort, const SortElement *element)
{
	return sort->records + (Size) element->row * sort->record_size;
}

/*
 * Widen what is known of key k by n records; divide a word among the keys
 * (returns how many bits of it are used; *truncated: it does not say all);
 * make words of at most RANK_ROWS records; compare two by all their keys; the
 * elements of all that are in memory, in order, palloc'd.
 */
extern void strata_sort_measure_key(const StrataSort *sort,
									const char *records, int64 n, int k,
									SortKeyRange *range);
extern int	strata_sort_divide_word(const StrataSort *sort,
									SortKeyRange *ranges, bool *truncated);
extern void strata_sort_make_words(const StrataSort *sort,
								   const char *records, int n,
								   const SortKeyRange *ranges,
								   uint64 *words);
extern int	strata_sort_compare_records(const StrataSort *sort, const char *a,
										const char *b);
extern SortElement *strata_sort_in_memory(StrataSort *sort);

/*
 * top_sort_run.c.  The records in memory become a run; the next ones of a run
 * are read (false: there are none); all are written, and the next record of
 * them all, NULL at the end.
 */
extern void strata_sort_write_run(StrataSort *sort);
extern bool strata_sort_read_run(StrataSort *sort, SortRun *run);
extern void strata_sort_open_runs(StrataSort *sort);
extern const char *strata_sort_next_of_runs(StrataSort *sort);

/*
 * top_sort_value.c.  The value's number, of which a copy is made if it is new;
 * that copy; ranks of all values of keys that are there.
 */
extern uint32 strata_sort_number(StrataSort *sort, SortField *field,
								 Datum value);
extern Datum strata_sort_copy(StrataSort *sort, const SortField *field,
							  Datum value);
extern void strata_sort_rank_values(StrataSort *sort);

/* top_exec.c: read all rows, and bring them into order. */
extern void strata_sort_all(StrataTopState *top);

/* top_sort_input.c: all rows of a source. */
extern void strata_sort_source_read(StrataTopState *top, TopSource *source);

#endif							/* STRATA_TOP_SORT_PRIVATE_H */
