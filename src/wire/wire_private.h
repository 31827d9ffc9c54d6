/*-------------------------------------------------------------------------
 *
 * wire_private.h
 *	  What the files of src/wire share: a column being written.
 *
 * src/wire/wire_private.h
 *-------------------------------------------------------------------------
 */
#ifndef STRATA_WIRE_PRIVATE_H
#define STRATA_WIRE_PRIVATE_H

#include "wire/wire.h"

#include "fmgr.h"
#include "pgtime.h"

/* No value that is not a text takes more bytes. */
#define STRATA_WIRE_MAX_TEXT 64

/* The days whose times a column has, in turn. */
typedef struct StrataWireDay
{
	int64		from;			/* values of the day, as they are stored:
								 * [from, to) */
	int64		to;
	const pg_tz *zone;			/* in which it is a day; or NULL */
	char		before[16];		/* the date and a space, */
	int			nbefore;
	char		after[16];		/* what follows the time: zone, era */
	int			nafter;
} StrataWireDay;

typedef struct StrataWireColumn StrataWireColumn;

/*
 * Write the value, return its length; -1: that is for the type's output
 * function.
 */
typedef int (*StrataWireWriter) (StrataWireColumn *column, Datum value,
								 char *to);

struct StrataWireColumn
{
	Oid			type;
	bool		is_text;		/* a varlena whose text is its bytes */
	StrataWireWriter writer;	/* or NULL */
	StrataWireDay day;			/* of timestamps */
	FmgrInfo	output;			/* the type's own function, once it was needed */
};

/* Find out how values of the type are written. */
extern void strata_wire_column_init(StrataWireColumn *column, Oid type);

#endif							/* STRATA_WIRE_PRIVATE_H */
