/*-------------------------------------------------------------------------
 *
 * batch_private.h
 *	  What the files of src/batch share among themselves.
 *
 * Summary bytes (column 4 of a batch row, bytea, little-endian):
 *
 *	OFFSET	SIZE	MEANING
 *	0		1		format version: 1
 *	1		4		CRC-32C of the batch row (batch_seal.c says of what)
 *	5		var		number of entries
 *	then per entry, ascending attno:
 *			var		attno
 *			1		flags: 1 has_range, 2 has_nan, 4 has_sum
 *			var		null count
 *	  if has_range, twice (min, max):
 *			1		length L, 0-8
 *			L		the value: INT zigzag little-endian, FLOAT the IEEE bits
 *					byte-reversed; trailing zero bytes left out
 *	  if has_sum, in the same way: the sum; of FLOAT columns as a float8
 *	(var = LEB128)
 *
 * src/batch/batch_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BATCH_PRIVATE_H
#define STRATA_BATCH_PRIVATE_H

#include "base/base.h"
#include "batch/batch.h"
#include "batch/batch_measure.h"
#include "batch/batch_reader.h"

#define STRATA_SUMMARY_VERSION 1
#define STRATA_SUMMARY_ENTRIES 5	/* where the entries begin */
#define STRATA_SUMMARY_HAS_RANGE 0x01
#define STRATA_SUMMARY_HAS_NAN 0x02
#define STRATA_SUMMARY_HAS_SUM 0x04

/*
 * Fill s for n non-null packed values of the column; typid decides the order
 * (signed, unsigned, float).
 */
extern void strata_summary_compute(StrataColumnSummary *s,
								   const StrataColumnType *type,
								   const void *fixed, int n);

/* Serialise; the CRC field is left zero and set by strata_seal_row. */
extern bytea *strata_summary_form(const StrataColumnSummary *s,
								  const StrataColumnType *types, int n);

/*
 * Read entry after entry, r->left of them, in the order of their attnos; false
 * when malformed.  What stands behind the last is noticed with it.
 */
extern bool strata_summary_open(StrataSummaryReader *r,
								const StrataBatchSchema *schema,
								const bytea *data);
extern bool strata_summary_next(StrataSummaryReader *r,
								const StrataBatchSchema *schema,
								StrataColumnSummary *s);

/*
 * batch_seal.c: set the checksum of a formed batch row in its summary, the
 * last thing done to it.
 */
extern void strata_seal_row(const StrataBatchSchema *schema,
							const Datum *values, const bool *isnull,
							bytea *summary);

/*
 * What is wrong with the batch row in the slot, of which schema->nfixed
 * columns are there, or NULL; summary is its summary, detoasted. memo: zeroed
 * before the first row of the schema.
 */
extern const char *strata_seal_check_row(const StrataBatchSchema *schema,
										 TupleTableSlot *slot,
										 const bytea *summary,
										 StrataSealMemo *memo);

/* The seal of a column of the batch that begins with first_row. */
extern uint32 strata_seal_of_column(const StrataBatchSchema *schema,
									int64 first_row, AttrNumber attno);

/*
 * batch_pack.c: the encoded bytes of a stored column, also where it shares a
 * value with others; NULL: damaged.  In the current context, the batch's.
 */
extern const uint8 *strata_batch_fetch_encoded(StrataBatchReader *reader,
											   AttrNumber attno, Size *len);

/*
 * Put the seals on the columns of a formed batch row; with the same first_row
 * again: take them off.
 */
extern void strata_seal_columns(const StrataBatchSchema *schema, Datum *values,
								const bool *isnull);

/*
 * The same as far as they are asked for; *len of them are there, want at least
 * or all.
 */
extern const uint8 *strata_batch_fetch_start(StrataBatchReader *reader,
											 AttrNumber attno, Size want,
											 Size *len);

/*
 * The same, bytes [from, from + len) of a value of the column's own; *fetched,
 * if set, is to be freed.  NULL: there are not so many.
 */
extern const uint8 *strata_batch_fetch_slice(StrataBatchReader *reader,
											 AttrNumber attno, Size from,
											 Size len, uint8 **fetched);

/*
 * batch_reader.c: check the bytes of col's column (of codec LARGE: its head)
 * against its seal and the batch; fetch and check all of them, once; and say
 * that they are damaged.
 */
extern void strata_batch_check_column(StrataBatchReader *reader,
									  StrataColumn *col, const uint8 *buf,
									  Size len);
extern void strata_batch_fetch_column(StrataBatchReader *reader,
									  StrataColumn *col);
extern void strata_batch_column_corrupt(StrataBatchReader *reader,
										AttrNumber attno, const char *what);

/*
 * batch_measure.c: add a batch row whose encoded columns take these bytes and
 * all else `plain`.
 */
extern void strata_measure_add_row(StrataBatchMeasure *m, Size plain,
								   const Size *columns, int ncolumns);

/* Bytes of an index entry with such a key. */
extern Size strata_measure_index_entry(Size key_bytes);

/*
 * batch_sound.c: is every value of a decoded column of n rows made as the
 * functions of its type rely on?  Types whose insides are not known pass.
 */
extern bool strata_column_is_sound(const StrataColumn *col, int n);

#endif							/* STRATA_BATCH_PRIVATE_H */
