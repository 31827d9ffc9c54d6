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

/* No value that a writer writes takes more bytes. */
#define STRATA_WIRE_MAX_FIXED 64

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

/* Whether what the client is sent of a varlena is its bytes. */
typedef enum StrataWireBytes
{
	STRATA_WIRE_NO_BYTES,
	STRATA_WIRE_TEXT,			/* in the client's encoding */
	STRATA_WIRE_BYTES			/* as they are */
} StrataWireBytes;

typedef struct StrataWireColumn StrataWireColumn;

/*
 * Write the value, return its length; -1: that is for the type's own
 * function.
 */
typedef int (*StrataWireWriter) (StrataWireColumn *column, Datum value,
								 char *to);

struct StrataWireColumn
{
	Oid			type;
	bool		is_binary;
	StrataWireBytes bytes;		/* if there is no writer */
	StrataWireWriter writer;	/* or NULL */
	StrataWireDay day;			/* of timestamps as text */
	FmgrInfo	function;		/* the type's own output or send function,
								 * once it was needed */
};

/*
 * Set the writer, or bytes, of a column of the type, as text and in binary;
 * the type is no domain.  Neither is set where values are for the type's own
 * function.
 */
extern void strata_wire_text_init(StrataWireColumn *column, Oid type);
extern void strata_wire_binary_init(StrataWireColumn *column, Oid type);

#endif							/* STRATA_WIRE_PRIVATE_H */
