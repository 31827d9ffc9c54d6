/*-------------------------------------------------------------------------
 *
 * batch_part.h
 *	  Parts of a column's values, read without the rest.
 *
 * src/batch/batch_part.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BATCH_PART_H
#define STRATA_BATCH_PART_H

#include "postgres.h"

#include "batch/batch_reader.h"

/* What is wanted of each value. */
typedef enum StrataPartKind
{
	STRATA_PART_NULLS,			/* no more than whether it is null; of any
								 * type */
	STRATA_PART_OCTETS,			/* its bytes, int4: octet_length() */
	STRATA_PART_CHARS,			/* its characters, int4: length() of a text */
	STRATA_PART_START,			/* its first bytes and characters */
	STRATA_PART_UNTIL,			/* its bytes until keys have been found, each
								 * behind the one before; empty: not all are */
	STRATA_PART_MEMBER,			/* of a jsonb: what it has at a path of keys */
	STRATA_PART_MEMBER_TEXT		/* the same as text */
} StrataPartKind;

typedef struct StrataPart
{
	StrataPartKind kind;
	AttrNumber	attno;			/* as whoever made it numbers columns */
	int			nbytes;			/* START: at least so many bytes, ... */
	int			nchars;			/* ... and characters, if the value has them */
	int			nkeys;			/* MEMBER: of the path; UNTIL: none is empty */
	StrataKey  *keys;
} StrataPart;

/*
 * The part of column attno's values for these rows of the current batch (NULL:
 * n rows from first on); its arrays begin with row 0, and hold those rows.
 * NULL: the column is not kept so that parts can be read; read its values.
 * (Of MEMBER: nor where one of these is an object or array.)  Lives as long as
 * the batch.  Damage raises ERRCODE_DATA_CORRUPTED.
 */
extern StrataColumn *strata_batch_reader_part(StrataBatchReader *reader,
											  AttrNumber attno,
											  const StrataPart *part,
											  const uint16 *rows, int first,
											  int n);

/* Are two parts the same, whatever column they are of? */
extern bool strata_part_equals(const StrataPart *a, const StrataPart *b);

#endif							/* STRATA_BATCH_PART_H */
