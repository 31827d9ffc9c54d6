/*-------------------------------------------------------------------------
 *
 * batch_reader.h
 *	  One batch row -> columns, and what is known of them without decoding.
 *
 * src/batch/batch_reader.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BATCH_READER_H
#define STRATA_BATCH_READER_H

#include "postgres.h"

#include "batch/batch.h"
#include "pg/pg_toast.h"
#include "utils/rel.h"

/*
 * What is known of one column of one batch without decoding it.  Three-valued:
 * min and max are of the non-null, non-NaN values and only there when
 * has_range.  The sum is of all values that are not null: of integers the
 * exact one, of floats what adding them as float8 in the order of the rows
 * gives; only there when has_sum, and then finite.
 */
typedef struct StrataColumnSummary
{
	AttrNumber	attno;
	int32		nnulls;
	bool		has_nan;
	bool		has_range;
	bool		has_sum;
	Datum		min;			/* by-value types only */
	Datum		max;
	union
	{
		int64		i;			/* of integers */
		float8		f;			/* of float4 and float8 */
	}			sum;
} StrataColumnSummary;

/*
 * A decoded column of the current batch: rows [from, from + n), which are all
 * of the batch's unless it was asked for by strata_batch_reader_rows.  The
 * arrays begin with row `from`.  Exactly one of the shapes:
 *	constant		value/isnull_const stand for every row (segmentby, missing)
 *	fixed			by-value types: packed native array, typlen bytes a row
 *	datums			by-reference types: one Datum a row (undefined where null)
 *	codes + dict	by-reference types: row i is dict[codes[i]]
 * isnull is NULL when no row is null.  Everything lives until the next
 * strata_batch_reader_load().
 *
 * Values by reference are made of strings, bytes that follow each other, of
 * all rows or of the dictionary; they may be there alone
 * (strata_batch_reader_strings).
 */
typedef struct StrataColumn
{
	AttrNumber	attno;
	StrataColumnType type;
	bool		decoded;		/* false: not asked for yet */
	int			from;
	int			n;
	bool		constant;
	Datum		value;
	bool		value_isnull;
	bool	   *isnull;
	void	   *fixed;
	Datum	   *datums;
	const uint32 *codes;
	Datum	   *dict;
	int			ndict;
	StrataBytes strings;		/* offsets NULL: there are none */
	struct StrataBatchReader *reader;	/* whose it is; NULL: nobody's */
	const uint16 *numbers;		/* private to batch_number.c: of the strings */
	const uint8 *encoded;		/* private: detoasted and checked; NULL: not
								 * yet */
	Size		encoded_len;
	int			nnulls;			/* private: of the whole column */
	StrataCodecId codec;		/* private: of encoded */
} StrataColumn;

/* Where reading of a summary stands; private. */
typedef struct StrataSummaryReader
{
	const uint8 *p;
	const uint8 *end;
	int			left;			/* entries not read yet */
} StrataSummaryReader;

/* Strings that have numbers; private to batch_number.c. */
typedef struct StrataNumbers StrataNumbers;

/* A value that columns share; private to batch_pack.c. */
typedef struct StrataBatchHolder
{
	AttrNumber	attno;
	struct varlena *value;
} StrataBatchHolder;

/*
 * Which columns of the last row were null, and a checksum of that; private to
 * batch_seal.c.
 */
typedef struct StrataSealMemo
{
	int			natts;			/* of the row; 0: there was none */
	int			nbytes;
	uint32		crc;
	uint8		bits[(MaxHeapAttributeNumber + 7) / 8];
} StrataSealMemo;

/* Reads one batch at a time; opaque but for these fields. */
typedef struct StrataBatchReader
{
	MemoryContext mcxt;			/* owns everything here */
	MemoryContext batch_mcxt;	/* reset by load */
	const StrataBatchSchema *schema;
	Relation	rel;			/* R, for error messages; may be NULL */
	StrataToastFetcher *toast;	/* the owner's; NULL: do without */
	/* current batch */
	int64		first_row;
	int			nrows;			/* 0: none loaded, or a row entry */
	int			ngone;			/* rows that are not in the batch any more, as
								 * store/ says; 0 after a load */
	const uint16 *gone;			/* their positions, ascending */
	const StrataLayout *layout;
	TupleTableSlot *batch_slot; /* the caller's slot holding the batch row */
	StrataColumn *columns;		/* indexed by attno - 1 */
	int64		ndecoded;		/* columns decoded since creation, for EXPLAIN */
	bool		touched;		/* private: there are columns to forget */
	List	   *parted;			/* private to batch_part.c: columns of which
								 * parts were read */
	bytea	   *summary;		/* private: of the current batch, detoasted */
	StrataSealMemo seal_memo;	/* private */
	StrataBatchHolder *holders; /* private: fetched so far; NULL: none */
	int			nholders;
	StrataSummaryReader summary_reader; /* private: entries are read as far as
										 * needed */
	StrataColumnSummary *summaries; /* private: natts of them, nsummaries read */
	int			nsummaries;		/* -1: not begun */
	StrataLayout *layout_cache; /* private */
	int			nloaded;		/* private: batches since creation */
	struct StrataBatchReader *lead; /* private: whose the following are; often
									 * itself */
	void	   *scratch;		/* private: of decoders */
	Size		scratch_size;
	int			nalone;			/* private: rows asked for alone, one after
								 * the other, */
	int			alone;			/* ... and the last of them */
	StrataNumbers **numbers;	/* private: of columns; NULL: of none yet */
	bool	   *no_nulls;		/* private: null flags that are all false */
	int			no_nulls_size;
} StrataBatchReader;

/* rel is R; schema must outlive the reader. */
extern StrataBatchReader *strata_batch_reader_create(Relation rel,
													 const StrataBatchSchema
													 *schema);

/*
 * Another reader of the same table, for who has many batches open: what does
 * not belong to a batch is lead's.  It goes when lead is freed.
 */
extern StrataBatchReader *strata_batch_reader_create_beside(StrataBatchReader
															*lead);

/*
 * Take the batch row in batch_slot (a slot of the companion's descriptor; must
 * stay valid until the next load).  The row is checked against its checksum;
 * no encoded column is looked at.  Returns false for a row entry, which is no
 * batch, and which is not checked.
 * Damage raises ERRCODE_DATA_CORRUPTED.
 */
extern bool strata_batch_reader_load(StrataBatchReader *reader,
									 TupleTableSlot *batch_slot);

/*
 * Does the batch row have values of R's column attno in a column of its own?
 */
static inline bool
strata_batch_reader_is_stored(StrataBatchReader *reader, AttrNumber attno)
{
	AttrNumber	catt = reader->schema->col_att[attno];
	TupleTableSlot *slot = reader->batch_slot;

	if (catt == 0)
		return false;
	/* the tuple's flags tell, without a look at what stands in front of it */
	if (catt > slot->tts_nvalid &&
		(TTS_IS_BUFFERTUPLE(slot) || TTS_IS_HEAPTUPLE(slot)))
		return !heap_attisnull(((HeapTupleTableSlot *) slot)->tuple, catt,
							   slot->tts_tupleDescriptor);
	return !slot_attisnull(slot, catt);
}

/* Decode column attno of the current batch (once); never NULL. */
extern StrataColumn *strata_batch_reader_column(StrataBatchReader *reader,
												AttrNumber attno);

/*
 * The same, but only rows [from, from + n) need be there: blocks of others are
 * not decoded.  Values of rows that were there before stay valid in memory,
 * yet only a call of strata_batch_reader_column brings all rows together.
 */
extern StrataColumn *strata_batch_reader_rows(StrataBatchReader *reader,
											  AttrNumber attno, int from,
											  int n);

/*
 * The same for who wants that one row, of several columns: of the first few
 * rows of a batch no others are decoded.
 */
extern StrataColumn *strata_batch_reader_row(StrataBatchReader *reader,
											 AttrNumber attno, int row);

/*
 * Those rows of a column of floats that is not decoded yet as integers of
 * *width (2 or 4) bytes, if its values are such, none of them null or -0; NULL
 * where that is not so, or not known at once.  They live as long as the batch.
 */
extern const void *strata_batch_reader_integers(StrataBatchReader *reader,
												AttrNumber attno, int from,
												int n, int *width);

/*
 * Those rows of a column of numerics that is not decoded yet as integers /
 * 10^*scale, with how many decimals each is shown, if they are kept so;
 * likewise.  *isnull NULL: none is null.
 */
extern const int64 *strata_batch_reader_scaled(StrataBatchReader *reader,
											   AttrNumber attno, int from,
											   int n, const uint8 **displays,
											   unsigned *scale,
											   const bool **isnull);

/*
 * A column of a by-reference type without its values: the bytes that each is
 * made of, of all rows (those of nulls are none), or of the dictionary, with
 * codes (0 of nulls); and isnull.  NULL where it is kept in another way, or
 * all rows are null: ask for the column.
 */
extern const StrataColumn *strata_batch_reader_strings(StrataBatchReader
													   *reader,
													   AttrNumber attno);

/*
 * batch_number.c.  Numbers below STRATA_MAX_STRINGS of the entries of a
 * column's dictionary: the same number, in the same numbering, is the same
 * bytes, in whatever batch.  Some entries have none.  NULL: no entry has one.
 */
#define STRATA_MAX_STRINGS 4096
#define STRATA_NO_STRING PG_UINT16_MAX

extern const uint16 *strata_column_numbers(const StrataColumn *col,
										   uint64 *numbering);

/* Is a column of a by-reference type kept as a dictionary? */
extern bool strata_batch_reader_has_dictionary(StrataBatchReader *reader,
											   AttrNumber attno);

/*
 * The bytes of column attno of the current batch, which has it (is_stored), as
 * they are in its batch row: not checked.  They live as long as the batch.
 */
extern const uint8 *strata_batch_reader_encoded(StrataBatchReader *reader,
												AttrNumber attno, Size *len);

/*
 * A copy of them in the current context, checked, and without the seal that
 * ties them to their batch: the column as docs/format.md describes columns.
 */
extern uint8 *strata_batch_reader_copy_column(StrataBatchReader *reader,
											  AttrNumber attno, Size *len);

/* Value of one row of a decoded column. */
static inline Datum strata_column_get(const StrataColumn *col, int row,
									  bool *isnull);

/* What the summary knows of attno; NULL when nothing. */
extern const StrataColumnSummary *strata_batch_reader_summary(StrataBatchReader
															  *reader,
															  AttrNumber
															  attno);

/*
 * min_/max_ columns of an orderby column; *isnull when all null or not kept.
 */
extern Datum strata_batch_reader_min(StrataBatchReader *reader,
									 AttrNumber attno, bool *isnull);
extern Datum strata_batch_reader_max(StrataBatchReader *reader,
									 AttrNumber attno, bool *isnull);
extern Datum strata_batch_reader_span(StrataBatchReader *reader,
									  AttrNumber attno, bool *isnull);

/*
 * In which direction the current batch's rows go by the column, which is its
 * first orderby column: 1: values do not fall, -1: they do not rise, in the
 * column's usual order; all are null, or none is.  0: that is not known.
 */
extern int	strata_batch_reader_direction(const StrataBatchReader *reader,
										  AttrNumber attno);

extern void strata_batch_reader_free(StrataBatchReader *reader);

static inline Datum
strata_fixed_get(const void *fixed, int width, int row)
{
	switch (width)
	{
		case 1:
			return Int8GetDatum(((const int8 *) fixed)[row]);
		case 2:
			return Int16GetDatum(((const int16 *) fixed)[row]);
		case 4:
			return Int32GetDatum(((const int32 *) fixed)[row]);
		default:
			return Int64GetDatum(((const int64 *) fixed)[row]);
	}
}

static inline void
strata_fixed_put(void *fixed, int width, int row, Datum value)
{
	switch (width)
	{
		case 1:
			((int8 *) fixed)[row] = (int8) DatumGetChar(value);
			break;
		case 2:
			((int16 *) fixed)[row] = DatumGetInt16(value);
			break;
		case 4:
			((int32 *) fixed)[row] = DatumGetInt32(value);
			break;
		default:
			((int64 *) fixed)[row] = DatumGetInt64(value);
			break;
	}
}

/*
 * The value of row `row` of the batch; it points into the column where it is
 * by reference.
 */
static inline Datum
strata_column_get(const StrataColumn *col, int row, bool *isnull)
{
	if (col->constant)
	{
		*isnull = col->value_isnull;
		return col->value;
	}
	row -= col->from;
	*isnull = col->isnull != NULL && col->isnull[row];
	if (*isnull)
		return (Datum) 0;
	if (col->fixed != NULL)
		return strata_fixed_get(col->fixed, col->type.width, row);
	if (col->codes != NULL)
		return col->dict[col->codes[row]];
	return col->datums[row];
}

/*
 * batch_sound.c: is a value of a varlena type, with a long header, made as the
 * functions of its type rely on, as far as is known here?
 */
extern bool strata_value_is_sound(Oid typid, Datum value);

/* batch_verify.c: re-derives everything a batch says of itself. */
typedef void (*StrataVerifyReport) (void *arg, AttrNumber attno,
									const char *problem);
extern void strata_batch_verify(Relation rel, const StrataBatchSchema *schema,
								TupleTableSlot *batch_slot,
								StrataVerifyReport report, void *arg);

#endif							/* STRATA_BATCH_READER_H */
