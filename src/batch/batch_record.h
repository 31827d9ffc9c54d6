/*-------------------------------------------------------------------------
 *
 * batch_record.h
 *	  Records: rows that wait for a batch, in a form that columns are read from
 *	  quickly.
 *
 * src/batch/batch_record.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_BATCH_RECORD_H
#define STRATA_BATCH_RECORD_H

#include "postgres.h"

#include "batch/batch.h"

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

#endif							/* STRATA_BATCH_RECORD_H */
