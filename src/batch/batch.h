/*-------------------------------------------------------------------------
 *
 * batch.h
 *	  Sorted rows <-> one batch row.  Memory only: nothing here opens a
 *	  relation, takes a lock or touches a buffer.  Values out of line are
 *	  fetched by pg/pg_toast.h, and what a batch lacks is asked of who made the
 *	  schema.
 *
 * A batch row is an ordinary tuple of the companion table.  Its fixed columns
 * are the STRATA_BATCH_ATT_* below; the others are found by name, with the
 * attribute number of the column of the user's table R in it:
 *
 *	seg_<attno>		value of a segmentby column, with R's type and collation
 *	min_<attno>,
 *	max_<attno>		least and greatest non-null value of an orderby column,
 *					by the column's default btree order; NULL when all are null
 *	col_<attno>		strata.compressed: every other column of R, encoded.
 *					SQL NULL: R had no such column when the batch was made
 *					(or it was dropped), so it reads as its missing value.
 *
 * Invariants: see README (B1 ...).
 *
 * Over 600 lines: a batch row, and all who fill and read it.
 *
 * src/batch/batch.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BATCH_H
#define STRATA_BATCH_H

#include "postgres.h"

#include "access/heaptoast.h"
#include "access/tupdesc.h"
#include "codec/codec.h"
#include "executor/tuptable.h"
#include "pg/pg_toast.h"
#include "utils/rel.h"
#include "utils/sortsupport.h"

/*
 * Batch rows are made this small by moving columns out of line: one to a page.
 */
#define STRATA_BATCH_ROW_TARGET(level) MaximumBytesPerTuple((level) == STRATA_LEVEL_ARCHIVE ? 2 : 1)

/* Fixed columns of every companion table, 1-based. */
#define STRATA_BATCH_ATT_FIRST_ROW 1	/* int8: row number of the first row;
										 * a row entry (store.h): -(row number
										 * + 1) */
#define STRATA_BATCH_ATT_NROWS 2	/* int4: rows; 0: a row entry */
#define STRATA_BATCH_ATT_LAYOUT 3	/* text COLLATE "C": StrataLayout's text */
#define STRATA_BATCH_ATT_SUMMARY 4	/* bytea: per column counts, min, max; CRC */
#define STRATA_BATCH_ATT_ENTRY 5	/* bytea: a row entry's bytes; NULL in
									 * batches */
#define STRATA_BATCH_FIXED_ATTS 5

/* Row numbers are 39 bits: they must fit a TID, see store.h. */
#define STRATA_BATCH_MAX_ROW_NUMBER ((((int64) 0x7fffffff) << 8) - 1)

/* One orderby key. */
typedef struct StrataOrderKey
{
	AttrNumber	attno;			/* of R */
	bool		desc;
	bool		nulls_first;
} StrataOrderKey;

/*
 * How a batch is arranged: which columns of R are segmentby, which orderby.
 * In no batch are there nulls beside values in the first orderby column, so
 * that its min_ and max_ tell where its rows stand in the order. Stored per
 * batch as canonical text ("2,5/1dl": segment by attributes 2 and 5, order by
 * 1 descending nulls last; 'a'|'d' then 'f'|'l'), so batches made under old
 * settings stay readable.
 */
typedef struct StrataLayout
{
	int			nsegment;
	AttrNumber *segment;
	int			norder;
	StrataOrderKey *order;
	char	   *text;
} StrataLayout;

extern char *strata_layout_format(const StrataLayout
								  *layout); /* text is not looked at */

/* Parse stored text; reports corruption (ereport) when it is malformed. */
extern StrataLayout *strata_layout_parse(const char *text, int natts);
extern int	strata_layout_segment_index(const StrataLayout *layout,
										AttrNumber attno);	/* or -1 */

/* Columns of R to come that a new companion has room for. */
#define STRATA_SPARE_COLUMNS 32

/*
 * What column attno of R, which the batch in batch_slot has not got, is in all
 * of the batch's rows.  Memory: the current context.
 */
typedef Datum (*StrataMissingValue) (TupleDesc rel_desc, AttrNumber attno,
									 TupleTableSlot *batch_slot, bool *isnull);

/*
 * Where the columns of R stand in the companion; arrays are indexed by R's
 * attno (1-based, entry 0 unused), 0 where the companion has no such column.
 */
typedef struct StrataBatchSchema
{
	TupleDesc	rel_desc;		/* of R; not owned */
	TupleDesc	batch_desc;		/* of the companion; not owned */
	int			natts;			/* rel_desc->natts */
	AttrNumber *seg_att;
	AttrNumber *min_att;
	AttrNumber *max_att;
	AttrNumber *span_att;
	AttrNumber *col_att;
	Oid			companion;		/* the batches' own; under their checksums */
	Oid			toastid;		/* where values out of line may be, and
								 * nowhere else */
	StrataMissingValue missing; /* the owner's; NULL: batches are made, not
								 * read */
	AttrNumber	nfixed;			/* companion columns up to the last that is no
								 * col_ */
	struct StrataColumnType *types; /* by attno - 1 */
	int			nplain;
	AttrNumber *plain;			/* columns of the companion that are neither
								 * fixed nor col_ */
} StrataBatchSchema;

extern StrataBatchSchema *strata_batch_schema_create(TupleDesc rel_desc,
													 TupleDesc batch_desc,
													 Oid toastid,
													 StrataMissingValue
													 missing);

/*
 * The same in two steps, of which the first can be remembered: the maps
 * seg_att, min_att, max_att, span_att and col_att, each of natts + 1, one
 * after the other.
 */
#define STRATA_COLUMN_MAPS 5
extern int	strata_batch_columns_max(TupleDesc
									 batch_desc);	/* greatest attno named */
extern void strata_batch_columns_map(TupleDesc batch_desc, int natts,
									 AttrNumber *maps);
extern StrataBatchSchema *strata_batch_schema_create_mapped(TupleDesc rel_desc,
															TupleDesc
															batch_desc,
															Oid toastid,
															StrataMissingValue
															missing,
															int natts,
															const AttrNumber
															*maps);

/*
 * Does companion column catt keep R's attno with its present type and
 * collation, or a type of the same order?
 */
extern bool strata_batch_schema_same_type(const StrataBatchSchema *schema,
										  AttrNumber attno, AttrNumber catt);

/*
 * Is the base type an integer in an order of integers (date, timestamp, ...)?
 */
extern bool strata_span_is_known(Oid typid);

/*
 * The least e with max - min <= 2^e (0 .. 64); false when the type has no
 * spans.
 */
extern bool strata_span_of(Oid typid, Datum min, Datum max, int16 *span);

/* value + 2^span (up), or minus; false where the type has no such value. */
extern bool strata_span_move(Oid typid, Datum value, int16 span, bool up,
							 Datum *result);

/* How values of one column of R are handed to the codecs. */
typedef struct StrataColumnType
{
	StrataKind	kind;			/* INT or FLOAT: by value; BYTES: all else */
	uint8		width;			/* 1, 2, 4, 8; 0 for BYTES */
	int16		typlen;
	bool		typbyval;
	char		typalign;
	char		typstorage;
	char		typcompression;
	Oid			typid;			/* base type of domains */
} StrataColumnType;

extern void strata_column_type_init(StrataColumnType *type,
									Form_pg_attribute att);

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
	bool		has_filter;		/* see strata_batch_reader_filter */
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
	const uint8 *encoded;		/* private: detoasted and checked; NULL: not
								 * yet */
	Size		encoded_len;
	int			nnulls;			/* private: of the whole column */
	StrataCodecId codec;		/* private: of encoded */
	Oid			sealed_as;		/* private: the type that batches lately had
								 * it as */
	List	   *types;			/* private: those it may have been of; NIL:
								 * not asked yet */
} StrataColumn;

/* Where reading of a summary stands; private. */
typedef struct StrataSummaryReader
{
	const uint8 *p;
	const uint8 *end;
	int			left;			/* entries not read yet */
} StrataSummaryReader;

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
	void	   *scratch;		/* private: of decoders */
	Size		scratch_size;
	bool	   *no_nulls;		/* private: null flags that are all false */
	int			no_nulls_size;
} StrataBatchReader;

/* rel is R; schema must outlive the reader. */
extern StrataBatchReader *strata_batch_reader_create(Relation rel,
													 const StrataBatchSchema
													 *schema);

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

	return catt != 0 && !slot_attisnull(reader->batch_slot, catt);
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
 * Those rows of a column of floats that is not decoded yet as integers of
 * *width (2 or 4) bytes, if its values are such, none of them null or -0; NULL
 * where that is not so, or not known at once.  They live as long as the batch.
 */
extern const void *strata_batch_reader_integers(StrataBatchReader *reader,
												AttrNumber attno, int from,
												int n, int *width);

/*
 * Those rows of a column of numerics that is not decoded yet as integers /
 * 10^*scale, with how many decimals each is shown, if they are kept so and
 * none is null; likewise.
 */
extern const int64 *strata_batch_reader_scaled(StrataBatchReader *reader,
											   AttrNumber attno, int from,
											   int n, const uint8 **displays,
											   unsigned *scale);

/*
 * The entries (dict, ndict) of a column that is not decoded yet and is kept as
 * a dictionary, without the codes of its rows; NULL where that is not so, or
 * not known at once.
 */
extern const StrataColumn *strata_batch_reader_entries(StrataBatchReader
													   *reader,
													   AttrNumber attno);

/*
 * The bytes of column attno of the current batch, which has it (is_stored), as
 * they are in its batch row: not checked.  They live as long as the batch.
 */
extern const uint8 *strata_batch_reader_encoded(StrataBatchReader *reader,
												AttrNumber attno, Size *len);

/*
 * The filter of column attno of the current batch with its head (bloom.c),
 * checked; NULL: it has none.  Lives as long as the batch; values are not
 * fetched.
 */
extern const uint8 *strata_batch_reader_filter(StrataBatchReader *reader,
											   AttrNumber attno, Size *size);

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

/*-------------------------------------------------------------------------
 * Building
 *-------------------------------------------------------------------------
 */
typedef struct StrataBatchBuilder StrataBatchBuilder;

/*
 * codecs is NULL or an array indexed by attno - 1 of wanted codecs (AUTO: the
 * library chooses, by level).  layout and schema must outlive the builder.
 */
extern StrataBatchBuilder *strata_batch_builder_create(Relation rel,
													   const StrataBatchSchema
													   *schema,
													   const StrataLayout
													   *layout,
													   const StrataCodecId
													   *codecs,
													   StrataLevel level,
													   int max_rows);

/*
 * Put filters in front of these columns (indexed by attno - 1; NULL: none);
 * the array must outlive the builder.
 */
extern void strata_batch_builder_want_filters(StrataBatchBuilder *builder,
											  const bool *wanted);

/*
 * Can values of the type be found by a filter?  Those whose = compares bytes,
 * in collations that do.
 */
extern bool strata_batch_filters_type(Oid typid);

/*
 * Offer the next row (values as slot_getallattrs gives them; may be toasted).
 * Returns false, taking nothing, when the row must start a new batch: another
 * segment, the limit of rows reached, or that of bytes.
 */
extern bool strata_batch_builder_add(StrataBatchBuilder *builder,
									 const Datum *values, const bool *isnull);

/*
 * Begin new batches after so many rows, instead of max_rows, which are more.
 */
extern void strata_batch_builder_set_limit(StrataBatchBuilder *builder,
										   int nrows);
extern int	strata_batch_builder_nrows(const StrataBatchBuilder *builder);

/*
 * Records: rows that wait for a batch, in a form that columns are read from
 * quickly (batch_record.c).
 */
typedef struct StrataRecordColumn
{
	AttrNumber	attno;
	int			offset;
	uint8		width;			/* in the record */
	bool		typbyval;
	int16		typlen;
} StrataRecordColumn;

typedef struct StrataRecordForm
{
	int			natts;
	int			size;			/* bytes of a record, aligned */
	bool		has_chunk;		/* there are by-reference columns */
	int			nulls_offset;
	int			nwords;			/* of null bits */
	int			ncolumns;		/* all but dropped and segmentby ones */
	StrataRecordColumn *columns;
	StrataRecordColumn **by_attno;	/* NULL: not in records */
} StrataRecordForm;

static inline bool
strata_record_is_null(const StrataRecordForm *form, const char *record,
					  int column)
{
	return (((const uint64 *) (record + form->nulls_offset))[column / 64] >>
			(column % 64)) &
		1;
}

/* The bytes of a by-reference value. */
static inline char *
strata_record_bytes(const char *record, const StrataRecordColumn *c)
{
	return *(char *const *) record + *(const uint32 *) (record + c->offset);
}

extern StrataRecordForm *strata_record_form_create(TupleDesc desc,
												   const StrataLayout *layout);

/*
 * Make form->size bytes, aligned, a record.  By-reference values are copied as
 * they are into one chunk in the current context, which is returned (NULL:
 * there are none).  Nothing in it is expanded.
 */
extern char *strata_record_fill(const StrataRecordForm *form, char *record,
								const Datum *values, const bool *isnull);

/* A value; it points into the record's chunk. */
extern Datum strata_record_get(const StrataRecordForm *form,
							   const char *record, AttrNumber attno,
							   bool *isnull);

/*
 * All values, into arrays of form->natts; those of other columns are left
 * alone.
 */
extern void strata_record_deform(const StrataRecordForm *form,
								 const char *record, Datum *values,
								 bool *isnull);

/*
 * Give the record a copy of its chunk, in the current context; the old one is
 * not freed.
 */
extern void strata_record_move_chunk(const StrataRecordForm *form,
									 char *record);
static inline char *
strata_record_chunk(const StrataRecordForm *form, const char *record)
{
	return form->has_chunk ? *(char *const *) record : NULL;
}

/*
 * Offer n records of one segment, whose values are given, in the layout's
 * order, to a builder that is empty.  Returns how many it took, at least one.
 */
extern int	strata_batch_builder_add_records(StrataBatchBuilder *builder,
											 const StrataRecordForm *form,
											 const Datum *values,
											 const bool *isnull,
											 char *const *records, int n);

/*
 * Encode what was added into values/isnull of the companion's descriptor
 * (natts entries each; memory lives until the next add) and empty the builder.
 */
extern void strata_batch_builder_finish(StrataBatchBuilder *builder,
										int64 first_row, Datum *values,
										bool *isnull);
extern void strata_batch_builder_free(StrataBatchBuilder *builder);

/*
 * The companion's tuple of a finished batch.  Tables with hundreds of columns:
 * some then share a value, so that the tuple fits into a page (batch_pack.c).
 */
extern HeapTuple strata_batch_form_tuple(const StrataBatchSchema *schema,
										 Datum *values, bool *isnull);

/* Give what finish returned another first_row. */
extern void strata_batch_set_first_row(const StrataBatchSchema *schema,
									   int64 first_row, Datum *values,
									   const bool *isnull);

/*-------------------------------------------------------------------------
 * How many rows the next batch should have, so that batches fill pages
 * (batch_goal.c, docs/adr/013).
 *-------------------------------------------------------------------------
 */
typedef struct StrataRowGoal
{
	int			base;			/* what was asked for: never fewer */
	int			most;			/* never more */
	Size		largest;		/* batch rows that are longer go out of line */
	/* learned */
	bool		known;
	double		rows;			/* of batches lately, on average, and their
								 * bytes */
	double		bytes;
	double		head;			/* of these bytes, what does not grow with
								 * rows */
	double		per_row;		/* the others, for each */
	double		deviation;		/* of batches from what was expected, on
								 * average, as a share */
	Size		room;			/* on the page that the last batch went to */
} StrataRowGoal;

extern void strata_goal_init(StrataRowGoal *goal, int base, Size largest);

/*
 * A batch row of nrows has nbytes, nothing out of line; it left that much room
 * on its page.
 */
extern void strata_goal_learn(StrataRowGoal *goal, int nrows, Size nbytes,
							  Size room);
extern int	strata_goal_rows(const StrataRowGoal *goal);

/*-------------------------------------------------------------------------
 * Measuring: what batches would take, for advice.
 *-------------------------------------------------------------------------
 */
typedef struct StrataColumnMeasure
{
	double		raw;			/* bytes of the values that are not null */
	double		bytes;			/* encoded */
	int64		batches;
	int64		used[STRATA_CODEC_COUNT];	/* batches by codec */

	/*
	 * if candidates were asked for: bytes if each codec were wanted, and
	 * batches it held
	 */
	bool		tried[STRATA_CODEC_COUNT];
	double		candidate[STRATA_CODEC_COUNT];
	int64		held[STRATA_CODEC_COUNT];
} StrataColumnMeasure;

/*
 * Pages that rows are placed on; gaps are where PostgreSQL's free space map
 * would find them.
 */
#define STRATA_MEASURE_GAPS 256
typedef struct StrataPagesMeasure
{
	double		pages;
	Size		page_free;		/* of the last one used */
	uint32		gaps[STRATA_MEASURE_GAPS];	/* pages with free space of 32
											 * bytes times the index, at least */
} StrataPagesMeasure;

typedef struct StrataBatchMeasure
{
	bool		candidates;		/* encode with every codec too */
	StrataColumnMeasure *columns;	/* indexed by attno - 1 */
	double		nbatches;
	double		rows_encoded;
	StrataPagesMeasure main;
	StrataPagesMeasure toast;
	Size		row_bytes;		/* of the last batch row, nothing out of line */
	double		toast_chunks;
	int			nindexes;
	double		index_bytes;
} StrataBatchMeasure;

/*
 * Encode what was added, add its sizes to m and empty the builder; its schema
 * may be without a companion.
 */
extern void strata_batch_builder_measure(StrataBatchBuilder *builder,
										 StrataBatchMeasure *m);

/* Empty the builder. */
extern void strata_batch_builder_discard(StrataBatchBuilder *builder);

/* Bytes on disk, `scale` times what was measured, with indexes and maps. */
extern double strata_measure_disk_bytes(const StrataBatchMeasure *m,
										double scale);

/*-------------------------------------------------------------------------
 * Checking: batch_verify.c re-derives everything a batch says of itself.
 *-------------------------------------------------------------------------
 */
typedef void (*StrataVerifyReport) (void *arg, AttrNumber attno,
									const char *problem);
extern void strata_batch_verify(Relation rel, const StrataBatchSchema *schema,
								TupleTableSlot *batch_slot,
								StrataVerifyReport report, void *arg);

#endif							/* STRATA_BATCH_H */
