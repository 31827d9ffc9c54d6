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

/*
 * Batch rows are cut down, by moving columns out of line, until one fits a
 * page, or two (docs/adr/013).
 */
typedef enum StrataBatchCut
{
	STRATA_BATCH_CUT_PAGE,
	STRATA_BATCH_CUT_HALF
} StrataBatchCut;

#define STRATA_BATCH_CUTS 2
#define STRATA_BATCH_CUT_BYTES(cut) MaximumBytesPerTuple((cut) + 1)

/* How they are before anything is known of them. */
#define STRATA_BATCH_CUT_FIRST(level) \
	((level) == STRATA_LEVEL_ARCHIVE ? STRATA_BATCH_CUT_HALF : \
	 STRATA_BATCH_CUT_PAGE)

/* Fixed columns of every companion table, 1-based. */
#define STRATA_BATCH_ATT_FIRST_ROW 1	/* int8: row number of the first row;
										 * a row entry (store.h): -(row number
										 * + 1) */
#define STRATA_BATCH_ATT_NROWS 2	/* int4: rows; 0: a row entry */
#define STRATA_BATCH_ATT_LAYOUT 3	/* text COLLATE "C": StrataLayout's text */
/* bytea: per column counts, min, max; CRC */
#define STRATA_BATCH_ATT_SUMMARY 4
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

#endif							/* STRATA_BATCH_H */
